//! Servers of ClickHouse: one that goes away in mid-copy, tables made as options say, encrypted connections. A node of Cassandra: a table
//! there and back.

#![cfg(target_os = "linux")]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rcgen::{CertificateParams, KeyPair};
use tidemill_testkit::{Cassandra, ClickHouse, ServerPem};

use crate::big_table;
use crate::run::{Folder, Run};

const RECORDS: u32 = 1_600_000;

/// A workload that makes a keyspace.
const BOOKS: &str = r#"
pub async fn schema(db) {
    db.execute("CREATE KEYSPACE books WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}").await?;
}
"#;

#[test]
fn a_copy_that_is_interrupted_leaves_nothing_in_clickhouse() {
    let Some(server) = ClickHouse::need() else { return };
    let tables = || server.query("SHOW TABLES").expect("tables");
    let before = tables();
    let folder = Folder::with(&[]);
    for signal in ["-INT", "-TERM"] {
        let mut copying = folder
            .command(&[
                "copy",
                "SELECT value AS n FROM generate_series(1, 100000000)",
                &format!("clickhouse://default@{}/default/numbers", server.native()),
                "--create",
            ])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("started");
        let begun = Instant::now();
        while tables() == before {
            assert!(begun.elapsed() < Duration::from_secs(30), "no table is made");
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(300));
        let told = Command::new("kill").args([signal, &copying.id().to_string()]).status();
        assert!(told.expect("kill").success());
        assert!(copying.wait().expect("ended").code() > Some(128));
        // The server first notices that nobody sends rows any more.
        let told = Instant::now();
        while tables() != before {
            assert!(told.elapsed() < Duration::from_secs(10), "{signal}: {}", tables());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_copy_into_a_table_says_what_to_do_when_it_is_interrupted() {
    let Some(server) = ClickHouse::need() else { return };
    server
        .query("CREATE TABLE filled (n Int64) ENGINE = Memory")
        .expect("a table");
    let count = || server.query("SELECT count() FROM filled").expect("a count");
    let folder = Folder::with(&[]);
    let child = folder
        .command(&[
            "copy",
            "SELECT value AS n FROM generate_series(1, 100000000)",
            &format!("clickhouse://default@{}/default/filled", server.native()),
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let begun = Instant::now();
    while count().trim() == "0" {
        assert!(begun.elapsed() < Duration::from_secs(30), "no row comes");
        std::thread::sleep(Duration::from_millis(20));
    }
    let told = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(told.expect("kill").success());
    let run = Run::of(child.wait_with_output().expect("ended"));
    assert_eq!(run.code, Some(143), "{}", run.stderr);
    let says = [
        "count the rows of the table",
        "nothing of it is left",
        "was done before",
    ];
    assert!(says.iter().any(|says| run.stderr.contains(says)), "{}", run.stderr);
}

#[test]
fn a_copy_goes_on_when_the_server_is_there_again() {
    let Some(mut server) = ClickHouse::need() else { return };
    let folder = Folder::with(&[]);
    big_table::write(&folder.file("BIG.DBF"), RECORDS);
    let target = format!("clickhouse://default@{}/default/big", server.native());
    let child = folder
        .command(&["copy", "BIG.DBF", &target, "--create", "--resume"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    // A part of the rows is there.
    let count = |server: &ClickHouse| -> u64 {
        let answer = server.query("SELECT count() FROM big");
        answer.ok().and_then(|count| count.trim().parse().ok()).unwrap_or(0)
    };
    for _ in 0..20_000 {
        if count(&server) > 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    server.restart().expect("restarted");
    let there = count(&server);
    assert!(
        0 < there && there < u64::from(RECORDS),
        "{there} rows before the server went away"
    );
    let run = Run::of(child.wait_with_output().expect("ended"));
    assert!(run.stderr.contains("waiting for the server"), "{}", run.stderr);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(count(&server), u64::from(RECORDS));
    let ids = server
        .query("SELECT uniqExact(ID), min(ID), max(ID) FROM big")
        .expect("an answer");
    assert_eq!(ids.trim(), format!("{RECORDS}\t0\t{}", RECORDS - 1));
}

#[test]
fn a_group_on_the_server_moves_its_answer_only() {
    let Some(server) = ClickHouse::need() else { return };
    let folder = Folder::with(&[]);
    server
        .query("CREATE TABLE grouped ENGINE = Memory AS SELECT number % 7 AS k, number AS v FROM numbers(1000000)")
        .expect("a table");
    let table = format!("clickhouse://default@{}/default/grouped", server.native());
    std::fs::write(folder.file("few.csv"), "id\n17\n999999\n1000001\n").expect("written");
    folder.run(&["copy", "few.csv", "few.dbf"]).done();
    for (sql, rows, bytes) in [
        (
            format!("SELECT k, SUM(v) AS s FROM '{table}' GROUP BY k"),
            "7",
            1..10_000,
        ),
        // Few keys are looked up, whichever table is named first.
        (
            format!("SELECT SUM(b.v) AS s FROM 'few.csv' a JOIN '{table}' b ON a.id = b.v"),
            "2",
            1..10_000,
        ),
        (
            format!("SELECT a.id, b.k FROM '{table}' b JOIN 'few.dbf' a ON a.id = b.v"),
            "2",
            1..10_000,
        ),
        // What is not pushed comes whole.
        (
            format!("SELECT MAX(LENGTH(CAST(v AS VARCHAR))) AS s FROM '{table}'"),
            "1,000,000",
            100_000..16_000_000,
        ),
    ] {
        let run = folder.run(&["sql", &sql, "--stats"]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let line = run.stderr.lines().find(|line| line.contains("ClickHouseScan:"));
        let words: Vec<&str> = line.expect("a scan").split_whitespace().collect();
        assert_eq!((words[0], words[2]), (rows, "ClickHouseScan:"), "{}", run.stderr);
        let received: u64 = words[1].replace(',', "").parse().expect("bytes");
        assert!(bytes.contains(&received), "{}", run.stderr);
    }
}

#[test]
fn a_table_is_made_as_the_options_say_and_copied_back_the_same() {
    let Some(server) = ClickHouse::need() else { return };
    let folder = Folder::with(&[]);
    big_table::write(&folder.file("BIG.DBF"), 20_000);
    for compression in ["none", "lz4", "zstd"] {
        let table = format!(
            "clickhouse://default@{}/default/big_{compression}?compression={compression}",
            server.native()
        );
        let making = ["--create", "--engine", "ReplacingMergeTree", "--order-by", "(BORN, ID)"];
        let copy = ["copy", "BIG.DBF", &table, "--verify", "full"];
        folder.run(&[&copy[..], &making].concat()).done();
        let made = server
            .query(&format!("SHOW CREATE TABLE big_{compression}"))
            .expect("a table");
        assert!(made.contains("ReplacingMergeTree"), "{made}");
        assert!(made.contains("ORDER BY (BORN, ID)"), "{made}");
        // A key takes no NULLs, so its columns are made without.
        assert!(
            made.contains("BORN Date") && made.contains("NOTE Nullable(String)"),
            "{made}"
        );
        let back = format!("{compression}.arrow");
        folder.run(&["copy", &table, &back, "--verify", "full"]).done();
        let all = |from: &str| {
            let sql = format!("SELECT * FROM '{from}' ORDER BY \"ID\"");
            folder.run(&["sql", &sql, "--format", "csv"]).done()
        };
        let rows = all(&back);
        assert_eq!(rows.lines().count(), 20_001);
        assert!(rows == all("BIG.DBF"), "by {compression} other rows come back");
    }
    // Nor does the version by which the engine tells rows of a key apart.
    let table = format!("clickhouse://default@{}/default/latest", server.native());
    let making = ["--create", "--engine", "ReplacingMergeTree(BORN)", "--order-by", "ID"];
    folder.run(&[&["copy", "BIG.DBF", &table][..], &making].concat()).done();
    assert_eq!(
        server.query("SELECT count() FROM latest").expect("an answer").trim(),
        "20000"
    );

    let table = format!("clickhouse://default@{}/default/blank", server.native());
    let blank = "SELECT CASE WHEN \"ID\" = 7 THEN NULL ELSE \"ID\" END AS id FROM 'BIG.DBF'";
    let refused = folder.run(&["copy", blank, &table, "--create", "--order-by", "id"]);
    let told = refused.stderr.clone();
    assert_eq!(refused.code, Some(2), "{told}");
    assert!(told.contains("column id: row 8: NULL"), "{told}");
    assert_eq!(server.query("EXISTS TABLE blank").expect("an answer").trim(), "0");
}

#[test]
fn encrypted_servers_are_asked_by_the_url() {
    let key = KeyPair::generate().expect("a key");
    let certificate = CertificateParams::new(vec!["localhost".to_owned()])
        .and_then(|certificate| certificate.self_signed(&key))
        .expect("a certificate")
        .pem();
    let pem = ServerPem {
        certificate: certificate.clone(),
        key: key.serialize_pem(),
        client_authority: None,
    };
    let Some(server) = ClickHouse::need_encrypted(&pem) else {
        return;
    };
    let port = server.secure().expect("TLS").port();
    let folder = Folder::with(&[]);
    std::fs::write(folder.file("server.pem"), certificate).expect("written");
    let (user, password) = ClickHouse::GUARDED;
    let asked = |query: &str| {
        let table = format!("clickhouse://localhost:{port}/system/one?user={user}&{query}");
        let sql = format!("SELECT dummy + 1 AS sum FROM '{table}'");
        folder.run(&["sql", &sql, "--format", "csv"])
    };
    let encoded = password.replace('/', "%2F").replace('?', "%3F");
    let trusted = format!("password={encoded}&ca_certificate=server.pem");
    assert_eq!(asked(&trusted).done(), "sum\n1\n");
    assert_eq!(asked(&format!("{trusted}&secure=1")).done(), "sum\n1\n");
    // Nobody whom the system trusts has signed it.
    let refused = asked(&format!("password={encoded}&secure=1&connect_timeout=5")).failed();
    assert!(refused.contains("TLS"), "{refused}");
    let denied = asked("password=of_another&ca_certificate=server.pem").failed();
    assert!(
        denied.contains("Wrong password") && !denied.contains("of_another"),
        "{denied}"
    );
}

#[test]
fn a_table_goes_to_cassandra_and_comes_back_the_same() {
    let Some(node) = Cassandra::need() else { return };
    let folder = Folder::with(&[]);
    big_table::write(&folder.file("BIG.DBF"), 20_000);
    std::fs::write(folder.file("books.rn"), BOOKS).expect("written");
    folder
        .run(&["bench", "schema", "books.rn", &node.native().to_string()])
        .done();
    let table = format!("cql://reader:secret@{}/books/big", node.native());
    let making = ["--create", "--primary-key", "ID, BORN", "--verify", "full"];
    let said = folder.run(&[&["copy", "BIG.DBF", &table][..], &making].concat());
    assert!(!said.stderr.contains("secret"), "{}", said.stderr);
    said.done();
    folder.run(&["copy", &table, "back.dbf", "--verify", "full"]).done();
    let all = |from: &str| {
        let sql = format!("SELECT * FROM '{from}' ORDER BY \"ID\"");
        folder.run(&["sql", &sql, "--format", "csv"]).done()
    };
    let rows = all("BIG.DBF");
    assert_eq!(rows.lines().count(), 20_001);
    assert!(rows == all("back.dbf"), "other rows come back");
    // A key is asked of the node, and so is a limit.
    let by_key = format!("SELECT \"NOTE\" FROM '{table}' WHERE \"ID\" = 777");
    let here = "SELECT \"NOTE\" FROM 'BIG.DBF' WHERE \"ID\" = 777";
    let answer = |sql: &str| folder.run(&["sql", sql, "--format", "csv"]).done();
    assert_eq!(answer(&by_key), answer(here));
    let plan = answer(&format!("EXPLAIN {by_key}"));
    assert!(
        plan.contains("query=SELECT note FROM books.big WHERE id = 777"),
        "{plan}"
    );
    assert!(!plan.contains("secret"), "{plan}");
    // A table that is there is left as it is.
    for refused in [&making[..], &[&making[..], &["--overwrite"]].concat()] {
        let refused = folder
            .run(&[&["copy", "BIG.DBF", &table][..], refused].concat())
            .failed();
        assert!(
            refused.contains("books/big") && !refused.contains("secret"),
            "{refused}"
        );
    }
    assert_eq!(answer(&format!("SELECT COUNT(*) AS n FROM '{table}'")), "n\n20000\n");
}

#[test]
fn a_copy_that_was_killed_is_gone_on_with_at_once() {
    let Some(server) = ClickHouse::need() else { return };
    let folder = Folder::with(&[]);
    big_table::write(&folder.file("BIG.DBF"), RECORDS);
    let target = format!("clickhouse://default@{}/default/raced", server.native());
    let copy = ["copy", "BIG.DBF", &target, "--create", "--resume"];
    for milliseconds in [100, 250, 400] {
        let mut child = folder
            .command(&copy)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("started");
        std::thread::sleep(Duration::from_millis(milliseconds));
        child.kill().expect("killed");
        child.wait().expect("ended");
        // What the server still had to store of it must not come behind the count.
        folder.run(&copy).done();
        let found = server
            .query("SELECT count(), uniqExact(ID) FROM raced")
            .expect("an answer");
        assert_eq!(found.trim(), format!("{RECORDS}\t{RECORDS}"), "after {milliseconds} ms");
        server.query("DROP TABLE raced").expect("dropped");
    }
}

/// Passes bytes on to a server, and ends both connections after so many from the client.
fn cut_after(server: std::net::SocketAddr, limit: usize) -> std::net::SocketAddr {
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};

    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let upstream = TcpStream::connect(server).expect("the server");
            let (mut back, mut answers) = (
                client.try_clone().expect("a stream"),
                upstream.try_clone().expect("a stream"),
            );
            std::thread::spawn(move || std::io::copy(&mut answers, &mut back));
            std::thread::spawn(move || {
                let (mut client, mut upstream, mut passed) = (client, upstream, 0);
                let mut buffer = [0; 1 << 14];
                while let Ok(length @ 1..) = client.read(&mut buffer) {
                    if upstream.write_all(&buffer[..length]).is_err() {
                        break;
                    }
                    passed += length;
                    if passed > limit {
                        break;
                    }
                }
                let _ = (client.shutdown(Shutdown::Both), upstream.shutdown(Shutdown::Both));
            });
        }
    });
    address
}

#[test]
fn a_server_that_ends_the_connection_in_mid_copy_is_an_error() {
    let Some(server) = ClickHouse::need() else { return };
    server
        .query("CREATE TABLE cut (ID Int64, NAME String, AMOUNT Float64, BORN Nullable(Date), NOTE String) ENGINE = Memory")
        .expect("made");
    let folder = Folder::with(&[]);
    big_table::write(&folder.file("BIG.DBF"), 200_000);
    let target = format!(
        "clickhouse://default@{}/default/cut?compression=none",
        cut_after(server.native(), 4 << 20)
    );
    let said = folder
        .run(&["copy", "SELECT ID, NAME, NOTE, AMOUNT, BORN FROM 'BIG.DBF'", &target])
        .failed();
    assert!(said.contains("cut") && said.len() > 30, "{said}");
}
