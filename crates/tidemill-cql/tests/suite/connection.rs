//! Requests past the driver, against a real Cassandra 5.0 and before an endpoint that fails on demand.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::task::Poll;
use std::time::{Duration, Instant};

use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::errors::DbError;
use scylla::frame::types::{Consistency, SerialConsistency};
use scylla::policies::load_balancing::DefaultPolicy;
use scylla::statement::unprepared::Statement;
use tidemill_cql::connection::{
    Compression, Connections, ConnectionsOptions, Execute, ExecuteDefaults, Fault, Handshake, Outcome, Reply, Sent,
};
use tidemill_testkit::{Cassandra, NoStorage, Reply as Told};
use tokio::time::timeout;

const INSERT: &str = "INSERT INTO fast.numbers (a, b) VALUES (?, ?)";

/// One test, since a node takes a while to start.
#[test]
fn a_real_cassandra() {
    let Some(node) = Cassandra::need() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        inserts_and_pages(node.native()).await;
        compressed(node.native()).await;
        errors_of_the_server(node.native()).await;
        a_server_that_fails(node.native()).await;
    });
}

/// A driver's session and connections past it.
struct Client {
    driver: Session,
    connections: Connections<u32>,
}

impl Client {
    async fn new(address: SocketAddr) -> Self {
        Self::with(address, Handshake::default()).await
    }

    async fn with(address: SocketAddr, handshake: Handshake) -> Self {
        let driver = SessionBuilder::new()
            .known_node_addr(address)
            .fetch_schema_metadata(false)
            .build()
            .await
            .unwrap();
        let options = ConnectionsOptions {
            per_node: 2,
            connect_timeout: Duration::from_secs(5),
            policy: DefaultPolicy::builder().build(),
            handshake,
            relay: None,
        };
        let cluster = driver.get_cluster_state();
        assert!(Connections::<u32>::serves(&cluster));
        let connections = Connections::new(cluster, options).await;
        Self { driver, connections }
    }

    async fn prepare(&self, text: &str, change: impl FnOnce(&mut Statement)) -> Execute {
        let mut statement = Statement::new(text);
        change(&mut statement);
        let defaults = ExecuteDefaults {
            consistency: Consistency::One,
            serial_consistency: Some(SerialConsistency::LocalSerial),
            timeout: Duration::from_secs(10),
        };
        Execute::new(&self.driver.prepare(statement).await.unwrap(), defaults)
    }

    /// Sends with 32-bit values.
    fn send(&mut self, execute: &Execute, tag: u32, values: &[i32]) -> Sent {
        assert_eq!(execute.columns().len(), values.len());
        let write = |buffer: &mut Vec<u8>| {
            for value in values {
                buffer.extend(4_i32.to_be_bytes());
                buffer.extend(value.to_be_bytes());
            }
            Ok::<_, String>(())
        };
        self.connections.send(execute, tag, Instant::now(), write).unwrap()
    }

    /// Waits for so many outcomes, by their tags.
    async fn outcomes(&mut self, count: usize) -> BTreeMap<u32, Outcome> {
        let mut outcomes = Vec::new();
        let mut ticks = tokio::time::interval(Duration::from_millis(5));
        let waiting = poll_fn(|context| {
            while ticks.poll_tick(context).is_ready() {
                let cluster = self.driver.get_cluster_state();
                self.connections.tick(Instant::now(), cluster, &mut outcomes);
            }
            self.connections.poll(context, &mut outcomes);
            if outcomes.len() < count {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        });
        timeout(Duration::from_secs(20), waiting).await.unwrap();
        assert_eq!(outcomes.len(), count);
        outcomes.into_iter().collect()
    }

    async fn one(&mut self, execute: &Execute, values: &[i32]) -> Outcome {
        assert_eq!(self.send(execute, 7, values), Sent::Sent);
        self.outcomes(1).await.remove(&7).unwrap()
    }

    /// Tries until there is a connection to send by.
    async fn one_by_and_by(&mut self, execute: &Execute, values: &[i32]) -> Outcome {
        let started = Instant::now();
        while self.send(execute, 7, values) == Sent::Elsewhere {
            assert!(started.elapsed() < Duration::from_secs(20), "no connection comes back");
            let _ = timeout(Duration::from_millis(20), self.outcomes(1)).await;
        }
        self.outcomes(1).await.remove(&7).unwrap()
    }
}

fn rows(outcome: Outcome) -> (u32, Option<Box<[u8]>>) {
    match outcome.unwrap() {
        Reply::Rows { count, paging_state } => (count, paging_state),
        Reply::Void | Reply::Page(_) => panic!("no rows"),
    }
}

async fn inserts_and_pages(address: SocketAddr) {
    let mut client = Client::new(address).await;
    for text in [
        "CREATE KEYSPACE fast WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE fast.numbers (a int, b int, PRIMARY KEY (a, b))",
    ] {
        client.driver.query_unpaged(text, ()).await.unwrap();
    }
    let insert = client.prepare(INSERT, |_| {}).await;
    for tag in 0..3000 {
        let number = i32::try_from(tag).unwrap();
        assert_eq!(client.send(&insert, tag, &[number % 3, number]), Sent::Sent);
    }
    let outcomes = client.outcomes(3000).await;
    assert!(outcomes.into_values().all(|outcome| outcome.unwrap() == Reply::Void));

    let text = "SELECT b FROM fast.numbers WHERE a = ?";
    let all = client.prepare(text, |statement| statement.set_page_size(10_000)).await;
    assert_eq!(rows(client.one(&all, &[1]).await), (1000, None));
    assert_eq!(rows(client.one(&all, &[5]).await), (0, None));
    let paged = client.prepare(text, |statement| statement.set_page_size(300)).await;
    let (count, state) = rows(client.one(&paged, &[2]).await);
    assert_eq!(count, 300);
    assert!(state.is_some_and(|state| !state.is_empty()));

    // A conditional statement has a row of an answer, whose columns nobody knows before.
    let conditional = "INSERT INTO fast.numbers (a, b) VALUES (?, ?) IF NOT EXISTS";
    let conditional = client.prepare(conditional, |_| {}).await;
    assert_eq!(rows(client.one(&conditional, &[9, 9]).await), (1, None));
    assert_eq!(rows(client.one(&conditional, &[9, 9]).await), (1, None));

    // What a closure refuses is not sent, and takes no stream.
    for _ in 0..70_000 {
        let refused = client.connections.send(&insert, 1, Instant::now(), |_| Err("no"));
        assert_eq!(refused, Err("no"));
    }
    assert_eq!(client.one(&insert, &[8, 8]).await.unwrap(), Reply::Void);

    // Two connections have twice as many streams, and then the driver is asked.
    let mut sent = 0;
    while client.send(&insert, sent, &[4, 4]) == Sent::Sent {
        sent += 1;
    }
    assert_eq!(sent, 2 << 15);
    client.outcomes(sent as usize).await;
}

/// Before an endpoint that would answer the requests itself, were they not compressed; the table has 3,000 rows by now, and a few more.
async fn compressed(address: SocketAddr) {
    let endpoint = NoStorage::start(address, INSERT).unwrap();
    for (key, compression) in [(77, Compression::Lz4), (78, Compression::Snappy)] {
        let handshake = Handshake {
            compression: Some(compression),
            ..Handshake::default()
        };
        let mut client = Client::with(endpoint.address(), handshake).await;
        let insert = client.prepare(INSERT, |_| {}).await;
        for tag in 0..100 {
            assert_eq!(client.send(&insert, tag, &[key, 1]), Sent::Sent);
        }
        let outcomes = client.outcomes(100).await;
        assert!(outcomes.into_values().all(|outcome| outcome.unwrap() == Reply::Void));
        assert_eq!(endpoint.answered(), 0);
        let text = "SELECT b FROM fast.numbers WHERE a = ?";
        let all = client.prepare(text, |statement| statement.set_page_size(10_000)).await;
        assert_eq!(rows(client.one(&all, &[1]).await), (1000, None));
        assert_eq!(rows(client.one(&all, &[key]).await), (1, None));
        let two = client
            .prepare(INSERT, |statement| statement.set_consistency(Consistency::Two))
            .await;
        let fault = client.one(&two, &[1, 1]).await.unwrap_err();
        assert!(
            matches!(*fault, Fault::Server(DbError::Unavailable { .. }, _)),
            "{fault}"
        );
    }
}

async fn errors_of_the_server(address: SocketAddr) {
    let mut client = Client::new(address).await;
    let two = client
        .prepare(INSERT, |statement| statement.set_consistency(Consistency::Two))
        .await;
    match *client.one(&two, &[1, 1]).await.unwrap_err() {
        Fault::Server(DbError::Unavailable { required, alive, .. }, _) => assert_eq!((required, alive), (2, 1)),
        other => panic!("{other}"),
    }
    client
        .driver
        .query_unpaged("DROP TABLE fast.numbers", ())
        .await
        .unwrap();
    let fault = client.one(&two, &[1, 1]).await.unwrap_err();
    assert!(
        matches!(&*fault, Fault::Server(DbError::Unprepared { .. }, _)),
        "{fault}"
    );
}

async fn a_server_that_fails(address: SocketAddr) {
    let endpoint = NoStorage::start(address, "fast.kept").unwrap();
    let mut client = Client::new(endpoint.address()).await;
    let table = "CREATE TABLE fast.kept (a int PRIMARY KEY)";
    client.driver.query_unpaged(table, ()).await.unwrap();
    let insert = client.prepare("INSERT INTO fast.kept (a) VALUES (?)", |_| {}).await;
    assert_eq!(client.one(&insert, &[1]).await.unwrap(), Reply::Void);

    endpoint.reply(Told::Error(0x1001));
    let fault = client.one(&insert, &[1]).await.unwrap_err();
    assert!(
        matches!(&*fault, Fault::Server(DbError::Overloaded, why) if why == "told"),
        "{fault}"
    );

    let defaults = ExecuteDefaults {
        consistency: Consistency::One,
        serial_consistency: None,
        timeout: Duration::from_millis(200),
    };
    let hasty = client.driver.prepare("INSERT INTO fast.kept (a) VALUES (?)").await;
    let hasty = Execute::new(&hasty.unwrap(), defaults);
    endpoint.reply(Told::Silence);
    let sent = Instant::now();
    let fault = client.one(&hasty, &[1]).await.unwrap_err();
    assert!(
        matches!(*fault, Fault::Timeout(limit) if limit.as_millis() == 200),
        "{fault}"
    );
    assert!((200..5000).contains(&sent.elapsed().as_millis()));

    // All who wait are told when the connections break. Then the driver is asked, until there is a connection again.
    for tag in 0..10 {
        client.send(&insert, tag, &[1]);
    }
    let _ = timeout(Duration::from_millis(50), client.outcomes(1)).await;
    endpoint.go_down();
    let outcomes = client.outcomes(10).await;
    let is_broken = |outcome: &Outcome| matches!(outcome, Err(fault) if matches!(**fault, Fault::Broken(_)));
    assert!(outcomes.values().all(is_broken), "{outcomes:?}");
    assert_eq!(client.send(&insert, 1, &[1]), Sent::Elsewhere);
    endpoint.reply(Told::Void);
    endpoint.come_back();
    assert_eq!(client.one_by_and_by(&insert, &[1]).await.unwrap(), Reply::Void);

    // A server that answers nothing for long is left.
    endpoint.reply(Told::Silence);
    for tag in 0..4000 {
        client.send(&hasty, tag, &[1]);
    }
    let outcomes = client.outcomes(4000).await;
    assert!(outcomes.values().all(Result::is_err));
    endpoint.reply(Told::Void);
    assert_eq!(client.one_by_and_by(&insert, &[1]).await.unwrap(), Reply::Void);
}
