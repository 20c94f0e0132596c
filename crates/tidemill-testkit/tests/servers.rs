//! The real servers start, answer and end.

use tidemill_testkit::{Cassandra, ClickHouse};

#[test]
fn clickhouse_answers() {
    let Some(server) = ClickHouse::need() else { return };
    assert_eq!(server.query("SELECT 1 + 1").expect("an answer"), "2\n");
    assert!(server.query("SELECT no_such_column").is_err());
    let native = server.native();
    drop(server);
    assert!(
        std::net::TcpStream::connect(native).is_err(),
        "the server ends with its value"
    );
}

#[test]
fn cassandra_answers() {
    let Some(node) = Cassandra::need() else { return };
    let supported = node.supported().expect("a SUPPORTED frame");
    let has = |word: &[u8]| supported.windows(word.len()).any(|window| window == word);
    assert!(has(b"CQL_VERSION") && has(b"COMPRESSION"), "{supported:02x?}");
}
