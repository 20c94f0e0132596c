//! Clients that do not keep to the protocol, stop in the middle, or go away.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::http::ask;
use super::{Served, check};

/// A startup message of the protocol's version 3.0 for the user ann.
fn startup() -> Vec<u8> {
    let body = b"\0\x03\0\0user\0ann\0database\0tidemill\0\0";
    let mut message = u32::try_from(body.len() + 4).expect("short").to_be_bytes().to_vec();
    message.extend_from_slice(body);
    message
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut message = vec![kind];
    message.extend_from_slice(&u32::try_from(body.len() + 4).expect("short").to_be_bytes());
    message.extend_from_slice(body);
    message
}

fn connect(served: &Served) -> TcpStream {
    let stream = TcpStream::connect(served.postgres.expect("it listens")).expect("connected");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("set");
    stream
}

/// Reads until the server is ready for a query.
fn ready(stream: &mut TcpStream) {
    loop {
        let mut head = [0; 5];
        stream.read_exact(&mut head).expect("a message");
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize - 4;
        let mut body = vec![0; length];
        stream.read_exact(&mut body).expect("a body");
        if head[0] == b'Z' {
            return;
        }
    }
}

/// How many bytes of memory the server has in use.
fn memory(served: &Served) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", served.child.id())).expect("read");
    let line = status.lines().find(|line| line.starts_with("VmRSS")).expect("a line");
    let kilobytes: u64 = line
        .split_whitespace()
        .nth(1)
        .and_then(|number| number.parse().ok())
        .expect("a number");
    kilobytes * 1024
}

#[test]
fn nobody_is_held_up_by_clients_that_stop_or_send_nonsense() {
    let served = Served::begin();
    let mut kept = Vec::new();
    let begun = startup();
    // Half of every message there is before a login, and lengths that no message has.
    let mut starts: Vec<Vec<u8>> = (0..begun.len()).map(|end| begun[..end].to_vec()).collect();
    starts.push(b"\x7f\xff\xff\xff\0\x03\0\0".to_vec());
    starts.push(b"\xff\xff\xff\xff".to_vec());
    starts.push(b"\0\0\0\0".to_vec());
    starts.push(b"GET / HTTP/1.1\r\n\r\n".to_vec());
    // TLS, which is not spoken here.
    starts.push(b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03".to_vec());
    // A query before the login.
    starts.push([&b"\0\0\0\x08\x04\xd2\x16\x2f"[..], &message(b'Q', b"SELECT 1\0")].concat());
    for bytes in starts {
        let mut stream = connect(&served);
        // It may have been closed already.
        let _ = stream.write_all(&bytes);
        kept.push(stream);
    }
    for bytes in [
        message(b'Q', b"no end"),
        message(b'P', b"s\0SELECT $1\0\xff\xff"),
        message(b'B', b"\0nothing\0\0\0\0\0\0\0"),
        message(b'D', b"Xs\0"),
        message(b'E', b"none\0\0\0\0\0"),
        message(b'd', b"rows of nothing"),
        message(b'c', b""),
        message(b'?', b"what"),
        b"Q\x7f\xff\xff\xff".to_vec(),
        b"Q\0\0\0\0".to_vec(),
        b"Q\0\0\0\x03".to_vec(),
    ] {
        let mut stream = connect(&served);
        stream.write_all(&begun).expect("sent");
        ready(&mut stream);
        let _ = stream.write_all(&bytes);
        kept.push(stream);
    }
    // An answer of a gigabyte that nobody reads.
    let before = memory(&served);
    for _ in 0..8 {
        let mut stream = connect(&served);
        stream.write_all(&begun).expect("sent");
        ready(&mut stream);
        let query = message(b'Q', b"SELECT a.n, b.n FROM numbers a, numbers b, numbers c\0");
        stream.write_all(&query).expect("sent");
        kept.push(stream);
    }
    std::thread::sleep(Duration::from_secs(2));
    let after = memory(&served);
    assert!(
        after.saturating_sub(before) < 512 << 20,
        "{before} bytes before, {after} after"
    );
    check(&served, "SELECT COUNT(*) FROM orders", "3");
    assert_eq!(ask(&served, "GET", "/healthz", &[], "").text(), "ok");
    drop(kept);
}

#[test]
fn a_length_that_leads_out_of_its_message_is_an_error() {
    let served = Served::begin();
    let mut stream = connect(&served);
    stream.write_all(&startup()).expect("sent");
    ready(&mut stream);
    // One parameter of 1.6 GB.
    let bind = message(b'B', b"\0s\0\0\0\0\x01\x61\x79\x73\x20\0\0");
    stream.write_all(&bind).expect("sent");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer, and its end");
    let text = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with(b"E") && text.contains("08P01"), "{text}");
    check(&served, "SELECT COUNT(*) FROM orders", "3");
}

#[test]
fn joins_that_find_nothing_do_not_keep_others_waiting() {
    let served = Served::begin();
    let mut joining = Vec::new();
    for _ in 0..4 {
        let mut stream = connect(&served);
        stream.write_all(&startup()).expect("sent");
        ready(&mut stream);
        let long = b"SELECT COUNT(*) FROM numbers a, numbers b, numbers c, numbers d WHERE a.n + b.n + c.n + d.n < 0\0";
        stream.write_all(&message(b'Q', long)).expect("sent");
        joining.push(stream);
    }
    std::thread::sleep(Duration::from_secs(1));
    let begun = Instant::now();
    assert_eq!(ask(&served, "GET", "/healthz", &[], "").text(), "ok");
    check(&served, "SELECT COUNT(*) FROM orders", "3");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    drop(joining);
}

#[test]
fn a_scan_ends_when_its_client_has_gone() {
    let served = Served::begin();
    let count = || ask(&served, "GET", "/metrics", &[], "").text();
    let mut stream = connect(&served);
    stream.write_all(&startup()).expect("sent");
    ready(&mut stream);
    let long = b"SELECT COUNT(*) FROM numbers a, numbers b, numbers c, numbers d\0";
    stream.write_all(&message(b'Q', long)).expect("sent");
    std::thread::sleep(Duration::from_millis(500));
    assert!(count().contains("\ntidemill_postgres_connections 1\n"), "{}", count());
    drop(stream);
    let begun = Instant::now();
    while !count().contains("\ntidemill_postgres_connections 0\n") {
        assert!(begun.elapsed() < Duration::from_secs(5), "{}", count());
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

#[test]
fn rows_of_a_client_that_goes_away_in_mid_copy_are_taken_back() {
    let served = Served::begin();
    for end in [&message(b'f', b"no more\0")[..], b""] {
        let mut stream = connect(&served);
        stream.write_all(&startup()).expect("sent");
        ready(&mut stream);
        let copy = message(b'Q', b"COPY customers (cust_no, name) FROM STDIN\0");
        stream.write_all(&copy).expect("sent");
        let rows: String = (0..20_000).map(|row| format!("{row}\tname\n")).collect();
        stream.write_all(&message(b'd', rows.as_bytes())).expect("sent");
        stream.write_all(end).expect("sent");
        // Rows were taken, and nothing says that these were all.
        std::thread::sleep(Duration::from_millis(300));
    }
    std::thread::sleep(Duration::from_millis(500));
    check(&served, "SELECT COUNT(*) FROM customers", "2");
}

#[test]
fn long_and_deep_statements_are_refused_with_a_word() {
    let served = Served::begin();
    let deep = format!("SELECT {}1{}", "(".repeat(10_000), ")".repeat(10_000));
    let run = served.psql(&format!("{deep};\nSELECT 7;"));
    assert!(run.stderr.contains("ERROR") && run.stdout == b"7\n", "{}", run.stderr);
    // Trees that lean to one side, of the catalogue and of tables.
    for (table, column) in [("pg_class", "relname"), ("customers", "city")] {
        let question = |conditions: usize| {
            let conditions: Vec<String> = (0..conditions)
                .map(|number| format!("{column} = 'x{number}'"))
                .collect();
            served.psql(&format!(
                "SELECT COUNT(*) FROM {table} WHERE {};\nSELECT 8;",
                conditions.join(" OR ")
            ))
        };
        let run = question(20_000);
        assert!(
            run.stderr.contains("More than 5000 conditions") && run.stdout == b"8\n",
            "{}",
            run.stderr
        );
        let run = question(5_000);
        assert!(run.stdout == b"0\n8\n", "{table}: {}", run.stderr);
    }
    let long = format!("SELECT '{}'", "x".repeat(17 << 20));
    let answer = ask(&served, "POST", "/sql", &[], &long);
    assert_eq!(answer.status, 413, "{}", answer.text());
    let answer = ask(&served, "POST", "/sql", &[], &deep);
    assert_eq!(answer.status, 400, "{}", answer.text());
}

#[test]
fn a_server_that_ends_takes_back_what_nobody_has_committed() {
    let served = Served::begin();
    let mut stream = connect(&served);
    stream.write_all(&startup()).expect("sent");
    ready(&mut stream);
    stream.write_all(&message(b'Q', b"BEGIN\0")).expect("sent");
    ready(&mut stream);
    stream.write_all(&message(b'Q', b"DELETE FROM orders\0")).expect("sent");
    ready(&mut stream);
    let folder = served.path().join("books");
    let begun = Instant::now();
    let told = std::process::Command::new("kill")
        .arg(served.child.id().to_string())
        .status();
    assert!(told.expect("kill").success());
    // The client is told, and the connection ends.
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).expect("read");
    assert!(rest.windows(5).any(|five| five == b"57P01"), "{rest:?}");
    while std::fs::read_dir(format!("/proc/{}/fd", served.child.id())).is_ok_and(|mut open| open.next().is_some()) {
        assert!(begun.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(20));
    }
    let left = served
        .folder()
        .run(&["sql", "SELECT COUNT(*) AS n FROM 'books/orders.dbf'", "--format", "csv"]);
    assert_eq!(left.done(), "n\n3\n");
    let names: Vec<_> = std::fs::read_dir(folder)
        .expect("read")
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert!(
        !names.iter().any(|name| name.to_string_lossy().starts_with(".tidemill")),
        "{names:?}"
    );
}

/// What a server has acknowledged is there after it was killed, with at most the change that each client had under way.
#[test]
fn nothing_acknowledged_is_lost_when_the_server_is_killed() {
    const CLIENTS: usize = 4;
    let mut folder = super::books();
    let (mut expected, mut open) = (3, 0);
    for round in 1..=4 {
        let served = Served::with(folder, &["books", "more"]);
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let first = round * 100_000 + client * 10_000;
                let statements: String = (first..first + 5000)
                    .map(|number| format!("INSERT INTO orders (order_no, total) VALUES ({number}, 1);\n"))
                    .collect();
                let file = served.path().join(format!("client{client}.sql"));
                std::fs::write(&file, statements).expect("written");
                let mut psql = served.psql_of(&file);
                let piped = psql
                    .stdout(std::process::Stdio::piped())
                    .stderr(std::process::Stdio::null());
                (first, piped.spawn().expect("psql"))
            })
            .collect();
        // Until somebody was answered, and a while longer.
        let begun = Instant::now();
        let table = served.path().join("books/orders.dbf");
        let size = || std::fs::metadata(&table).expect("there").len();
        let before = size();
        while size() == before {
            assert!(begun.elapsed() < Duration::from_secs(60), "nobody is answered");
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(250 * round as u64));
        folder = served.kill();
        let mut acknowledged = Vec::new();
        for (first, client) in clients {
            let output = client.wait_with_output().expect("ended");
            let count = String::from_utf8_lossy(&output.stdout).matches("INSERT 0 1").count();
            acknowledged.push((first, count));
        }
        let total: usize = acknowledged.iter().map(|(_, count)| count).sum();
        assert!(total > 0, "nobody was answered");
        (expected, open) = (expected + total, open + CLIENTS);
        let served = Served::with(folder, &["books", "more"]);
        // Nobody has to write first.
        assert_eq!(
            served.psql("SELECT COUNT(*) FROM orders WHERE order_no = 1").done(),
            "1\n"
        );
        for (first, count) in acknowledged {
            let end = first + count;
            let found = served.psql(&format!(
                "UPDATE orders SET total = 2 WHERE order_no >= {first} AND order_no < {end};"
            ));
            assert_eq!(found.done(), format!("UPDATE {count}\n"), "round {round}");
        }
        let found: usize = served
            .psql("SELECT COUNT(*) FROM orders")
            .done()
            .trim()
            .parse()
            .expect("a number");
        assert!((expected..=expected + open).contains(&found), "{found} for {expected}");
        // What was under way may be there.
        (expected, open) = (found, 0);
        folder = served.kill();
    }
    let verified = folder.run(&["verify", "books/orders.dbf"]).done();
    assert!(verified.contains("no damage"), "{verified}");
}
