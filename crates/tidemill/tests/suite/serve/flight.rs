//! The door for Arrow Flight SQL.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rcgen::{CertificateParams, KeyPair};
use tidemill_testkit::GoModule;

use super::{Served, books};
use crate::run::Run;

/// The driver, and what it gives and takes.
const PACKAGES: [&str; 3] = [
    "adbc-driver-manager==1.13.0",
    "adbc-driver-flightsql==1.13.0",
    "pyarrow==21.0.0",
];

fn address(served: &Served) -> String {
    served.flight.expect("it listens").to_string()
}

#[test]
fn the_adbc_driver_asks_and_changes() {
    let served = Served::begin();
    let uri = format!("grpc://{}", address(&served));
    served.python(&PACKAGES, include_str!("flight_client.py"), &[&uri]);
    assert!(!served.path().join("evil.dbf").exists());
    let verified = served.folder().run(&["verify", "books/orders.dbf"]);
    assert!(verified.done().contains("no damage"));
    assert_eq!(served.end(), Some(0));
}

#[test]
fn users_have_tokens_over_tls() {
    let folder = books();
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
    let certificate = params.self_signed(&key).expect("a certificate");
    std::fs::write(folder.file("server.pem"), certificate.pem()).expect("written");
    std::fs::write(folder.file("server.key"), key.serialize_pem()).expect("written");
    for (name, password, rights) in [
        ("ann", "secret", &["--write"][..]),
        ("bob", "hidden", &["--schemas", "more"]),
        ("eve", "hidden", &["--schemas", "more", "--write"]),
    ] {
        super::add_user(&folder, name, password, rights);
    }
    let tls = ["--tls-cert", "server.pem", "--tls-key", "server.key"];
    let served = Served::with(folder, &[&["books", "more", "--users", "users"][..], &tls].concat());
    let port = served.flight.expect("it listens").port();
    let uri = format!("grpc+tls://localhost:{port}");
    served.python(&PACKAGES, include_str!("flight_users.py"), &[&uri, "server.pem"]);
    for place in [".", "books"] {
        assert!(!served.path().join(place).join("evil.dbf").exists(), "{place}");
    }
    // Another Tidemill asks as a user, too.
    let url = |user: &str| format!("flight://{user}@localhost:{port}/more/words?ca=server.pem");
    let words = served.folder().run(&["cat", &url("bob:hidden"), "--format", "csv"]);
    assert_eq!(words.done(), "w\nä\n");
    let said = served.folder().run(&["cat", &url("bob:wrong")]).failed();
    assert!(
        said.contains("a name and a password") && !said.contains("wrong@"),
        "{said}"
    );
}

#[test]
fn the_go_driver_asks_and_changes() {
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/serve/flight_go");
    let Some(module) = GoModule::need(&module) else { return };
    let served = Served::begin();
    let output = module.tests().env("TIDEMILL_FLIGHT", address(&served)).output();
    let run = Run::of(output.expect("go"));
    let printed = String::from_utf8_lossy(&run.stdout).into_owned();
    assert_eq!(run.code, Some(0), "{printed}{}", run.stderr);
}

#[test]
fn the_jdbc_driver_asks_and_changes() {
    let served = Served::begin();
    let url = format!("jdbc:arrow-flight-sql://{}?useEncryption=false", address(&served));
    // Arrow reads memory past Java's walls.
    let opens = ["--add-opens=java.base/java.nio=ALL-UNNAMED"];
    served.java("org.apache.arrow:flight-sql-jdbc-driver:18.3.0", &opens, &[&url]);
}

#[test]
fn nonsense_and_silence_hold_nobody_up() {
    let served = Served::begin();
    let http2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    let mut kept = Vec::new();
    for bytes in [
        &b""[..],
        b"\x16\x03\x01\xff\xff",
        b"GET / HTTP/1.1\r\n\r\n",
        &[&http2[..], &settings, b"\xff\xff\xff\0\0\0\0\0\x01"].concat(),
        &[&http2[..], &settings, &[0, 0, 200, 1, 4, 0, 0, 0, 1], &[0xff; 200]].concat(),
        &[0; 100_000],
    ] {
        let mut stream = TcpStream::connect(served.flight.expect("it listens")).expect("connected");
        // It may be closed before all is sent.
        let _ = stream.write_all(bytes);
        kept.push(stream);
    }
    for _ in 0..300 {
        kept.push(TcpStream::connect(served.flight.expect("it listens")).expect("connected"));
    }
    let begun = Instant::now();
    let uri = format!("grpc://{}", address(&served));
    let script = "import sys, adbc_driver_flightsql.dbapi as d\n\
                  with d.connect(sys.argv[1], autocommit=True) as c, c.cursor() as q:\n    \
                  q.execute('SELECT COUNT(*) FROM orders')\n    assert q.fetchone() == (3,)\n    \
                  deep = 'SELECT ' + '(' * 10000 + '1' + ')' * 10000\n    \
                  for wrong in [deep, 'SELECT ' + '1 + ' * 3_000_000 + '1']:\n        \
                  try:\n            q.execute(wrong)\n            raise SystemExit('taken')\n        \
                  except d.Error: pass\n    \
                  q.execute('SELECT COUNT(*) FROM orders')\n    assert q.fetchone() == (3,)\nprint('done')\n";
    served.python(&PACKAGES, script, &[&uri]);
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    for stream in &mut kept[1..3] {
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("set");
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.len() < 1000, "{}", String::from_utf8_lossy(&answer));
    }
    assert_eq!(served.end(), Some(0));
}

/// Answers of a folder's own tables, and of the same tables at a server.
#[test]
fn another_tidemill_is_a_store() {
    let served = Served::begin();
    let folder = served.folder();
    let attach = format!("there=flight://{}", address(&served));
    for statement in [
        "SELECT * FROM {}orders ORDER BY order_no",
        "SELECT order_no FROM {}orders WHERE total > 15 ORDER BY 1",
        "SELECT order_no FROM {}orders WHERE total > 15.25 ORDER BY 1",
        "SELECT order_no FROM {}orders WHERE total = 10.5",
        "SELECT order_no FROM {}orders WHERE total IN (10.5, 30) ORDER BY 1",
        "SELECT order_no FROM {}orders WHERE NOT (total BETWEEN 11 AND 25.5) ORDER BY 1",
        "SELECT order_no FROM {}orders WHERE day >= '2024-03-01' ORDER BY 1",
        "SELECT order_no FROM {}orders WHERE day IS NULL OR cust_no <> 2",
        "SELECT cust_no FROM {}customers WHERE name = 'Olav'",
        "SELECT cust_no FROM {}customers WHERE name IN ('Olav', 'Ann') ORDER BY 1",
        "SELECT cust_no FROM {}customers WHERE name <> 'Olav'",
        "SELECT cust_no FROM {}customers WHERE name LIKE 'O%'",
        "SELECT COUNT(*) AS n FROM {}numbers",
        "SELECT COUNT(*) AS n FROM {}numbers WHERE n >= 990",
        "SELECT n FROM {}numbers WHERE n > 5 ORDER BY n LIMIT 3 OFFSET 2",
        "SELECT day, COUNT(*) AS n, SUM(total) AS s, MIN(order_no) AS o FROM {}orders GROUP BY day ORDER BY day",
        "SELECT SUM(cust_no) AS s, AVG(cust_no) AS a, COUNT(DISTINCT cust_no) AS d FROM {}orders",
        "SELECT c.city, SUM(o.total) AS t FROM {}orders o JOIN {}customers c ON c.cust_no = o.cust_no GROUP BY c.city ORDER BY 1",
        "SELECT order_no FROM {}orders WHERE cust_no IN (SELECT cust_no FROM {}customers WHERE city = 'Oslo') ORDER BY 1",
    ] {
        let ask = |names: &str, args: &[&str]| {
            let statement = statement.replace("{}", names);
            let run = folder.run(&[&["sql", "--format", "csv", &statement][..], args].concat());
            (run.done(), statement)
        };
        let (here, _) = ask("", &["--dir", "books"]);
        let (there, statement) = ask("there.", &["--attach", &attach]);
        assert_eq!(here, there, "{statement}");
    }
    let explained = folder.run(&[
        "sql",
        "--explain",
        "--attach",
        &attach,
        "SELECT day, COUNT(*) FROM there.orders WHERE total >= 11 GROUP BY day",
    ]);
    let plan = explained.done();
    assert!(
        plan.contains("FlightScan") && plan.contains("GROUP BY \"DAY\"") && plan.contains(">= 11"),
        "{plan}"
    );

    // Copies, both ways.
    let (orders, new) = (
        format!("flight://{}/public/orders", address(&served)),
        format!("flight://{}/more/copied", address(&served)),
    );
    drop(folder.run(&["copy", &orders, "here.parquet"]).done());
    drop(
        folder
            .run(&["copy", "here.parquet", &new, "--create", "--verify", "full"])
            .done(),
    );
    let again = folder.run(&["copy", "here.parquet", &new, "--create"]).failed();
    assert!(again.contains("exists") || again.contains("there"), "{again}");
    drop(
        folder
            .run(&["copy", "here.parquet", &new, "--create", "--overwrite"])
            .done(),
    );
    let count = folder.run(&["sql", "--format", "csv", "SELECT COUNT(*) AS n FROM 'more/copied.dbf'"]);
    assert_eq!(count.done(), "n\n3\n");
    let inserted = "INSERT INTO there.orders (order_no, total) SELECT order_no + 100, total FROM 'here.parquet'";
    drop(folder.run(&["sql", "--attach", &attach, inserted]).done());
    let told = folder.run(&[
        "sql",
        "--server",
        &format!("flight://{}", address(&served)),
        "DELETE FROM orders WHERE order_no > 100",
    ]);
    drop(told.done());
    let count = folder.run(&["sql", "--format", "csv", "SELECT COUNT(*) AS n FROM 'books/orders.dbf'"]);
    assert_eq!(count.done(), "n\n3\n");

    for (url, says) in [
        (
            format!("flight://{}/public/ordes", address(&served)),
            "public has customers, numbers, orders",
        ),
        (
            format!("flight://{}/public/orders?wrong=1", address(&served)),
            "secure, ca, cert, key and timeout",
        ),
        ("flight://127.0.0.1:1/public/orders".to_owned(), "is the server there"),
    ] {
        let said = folder.run(&["cat", &url]).failed();
        assert!(said.contains(says), "{url}: {said}");
    }
}

#[test]
fn rows_of_a_client_that_is_killed_are_taken_back() {
    let served = Served::begin();
    let uri = format!("grpc://{}", address(&served));
    served.python(&PACKAGES, include_str!("flight_broken.py"), &[&uri]);
    assert!(!served.path().join("books/fresh.dbf").exists());
}
