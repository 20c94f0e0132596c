//! The real servers start, answer and end.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use tidemill_testkit::{Cassandra, ClickHouse, MariaDb, NoStorage, Postgres, Reply};

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
fn postgres_answers() {
    let Some(mut server) = Postgres::need() else { return };
    assert_eq!(
        server.psql("SELECT 1 + 1, current_user").expect("an answer"),
        "2|ferrywoman\n"
    );
    assert!(server.psql("SELECT no_such_column").is_err());
    server.psql("CREATE TABLE kept (n int)").expect("a table");
    server.restart().expect("it comes up again");
    assert_eq!(server.psql("SELECT count(*) FROM kept").expect("an answer"), "0\n");
    let address = server.address();
    drop(server);
    assert!(TcpStream::connect(address).is_err(), "the server ends with its value");
}

#[test]
fn mariadb_answers() {
    let Some(mut server) = MariaDb::need() else { return };
    assert_eq!(
        server.query("SELECT 1 + 1, user()").expect("an answer"),
        "2\tferrywoman@localhost\n"
    );
    assert!(server.query("SELECT no_such_column").is_err());
    server
        .query("CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)")
        .expect("a table");
    server.restart().expect("it comes up again");
    assert_eq!(server.query("SELECT n FROM kept").expect("an answer"), "7\n");
    let address = server.address();
    drop(server);
    assert!(TcpStream::connect(address).is_err(), "the server ends with its value");
}

#[test]
fn cassandra_answers() {
    let Some(node) = Cassandra::need() else { return };
    let supported = node.supported().expect("a SUPPORTED frame");
    let has = |word: &[u8]| supported.windows(word.len()).any(|window| window == word);
    assert!(has(b"CQL_VERSION") && has(b"COMPRESSION"), "{supported:02x?}");
    no_storage_answers_only_what_is_its(&node);
}

fn no_storage_answers_only_what_is_its(node: &Cassandra) {
    let endpoint = NoStorage::start(node.native(), "cluster_name").expect("an endpoint");
    let mut client = Client::new(endpoint.address());
    let (ready, _) = client.ask(0x01, b"\0\x01\0\x0bCQL_VERSION\0\x053.0.0");
    assert_eq!(ready, 0x02);
    let [ours, theirs] = ["cluster_name", "release_version"].map(|column| {
        let text = format!("SELECT {column} FROM system.local");
        let length = u32::try_from(text.len()).expect("a short text").to_be_bytes();
        let (opcode, body) = client.ask(0x09, &[&length, text.as_bytes()].concat());
        assert_eq!((opcode, &body[..4]), (0x08, [0, 0, 0, 4].as_slice()));
        // The id, consistency ONE, no flags.
        let id = &body[4..6 + usize::from(u16::from_be_bytes([body[4], body[5]]))];
        [id, &[0, 1, 0]].concat()
    });
    assert_eq!(client.ask(0x0a, &ours), (0x08, vec![0, 0, 0, 1]));
    let (opcode, rows) = client.ask(0x0a, &theirs);
    assert_eq!((opcode, &rows[..4]), (0x08, [0, 0, 0, 2].as_slice()));
    endpoint.reply(Reply::Error(0x1001));
    let (opcode, error) = client.ask(0x0a, &ours);
    assert_eq!((opcode, &error[..4]), (0x00, [0, 0, 0x10, 0x01].as_slice()));
    assert_eq!(endpoint.answered(), 2);
    endpoint.go_down();
    assert_eq!(client.0.read(&mut [0; 9]).unwrap_or(0), 0);
    endpoint.come_back();
    assert_eq!(Client::new(endpoint.address()).ask(0x05, b"").0, 0x06);
}

/// A connection that asks one thing at a time.
struct Client(TcpStream);

impl Client {
    fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("a connection");
        let limit = Some(Duration::from_secs(10));
        stream.set_read_timeout(limit).expect("a timeout");
        Self(stream)
    }

    /// Sends a frame and gives opcode and body of its answer.
    fn ask(&mut self, opcode: u8, body: &[u8]) -> (u8, Vec<u8>) {
        let length = u32::try_from(body.len()).expect("a short body").to_be_bytes();
        let frame = [&[0x04, 0, 0, 7, opcode], length.as_slice(), body].concat();
        self.0.write_all(&frame).expect("a request");
        let mut header = [0; 9];
        self.0.read_exact(&mut header).expect("a header");
        let [0x84, 0, 0, 7, opcode, length @ ..] = header else {
            panic!("{header:02x?}");
        };
        let mut body = vec![0; u32::from_be_bytes(length) as usize];
        self.0.read_exact(&mut body).expect("a body");
        (opcode, body)
    }
}
