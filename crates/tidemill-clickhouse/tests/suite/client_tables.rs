//! The status of tables, as ClickHouse 18.16.1 tells it.

use tidemill_clickhouse::{
    blocking,
    client::{Client, Options},
    packet::{TableName, server::TableStatus},
};
use tidemill_testkit::ClickHouse;

fn name((database, table): (&str, &str)) -> TableName {
    TableName::new(database, table)
}

/// The names of tables that are there, in order. None of them is replicated.
fn there(tables: Vec<TableStatus>) -> Vec<(String, String)> {
    let names = tables.into_iter().map(|status| {
        assert_eq!(status.replica, None, "{status:?}");
        (status.name.database, status.name.table)
    });
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> Vec<(String, String)> {
    pairs
        .map(|(database, table)| (database.to_owned(), table.to_owned()))
        .into()
}

#[tokio::test]
async fn a_server_tells_which_tables_it_has() {
    let Some(server) = ClickHouse::need() else { return };
    let mut options = Options::new(&server.native().to_string()).unwrap();
    options.pool_size = 1;
    let client = Client::with_options(options).await.unwrap();
    client
        .execute("CREATE TABLE tides (n UInt8) ENGINE = Memory")
        .await
        .unwrap();
    let asked = [
        ("system", "one"),
        ("default", "tides"),
        ("", "tides"),
        ("default", "no"),
        ("no", "one"),
    ];
    let found = client.tables_status(asked.map(name)).await.unwrap();
    assert_eq!(
        there(found),
        pairs([("", "tides"), ("default", "tides"), ("system", "one")])
    );
    // The connection goes on, and nothing is an answer too.
    assert_eq!(client.tables_status([name(("default", "no"))]).await.unwrap(), []);
    assert_eq!(client.tables_status([]).await.unwrap(), []);
    client.ping().await.unwrap();
    client.execute("DROP TABLE tides").await.unwrap();
    assert_eq!(client.tables_status([name(("default", "tides"))]).await.unwrap(), []);
}

#[test]
fn a_blocking_client_asks_for_tables() {
    let Some(server) = ClickHouse::need() else { return };
    let client = blocking::Client::connect(&format!("clickhouse://{}", server.native())).unwrap();
    let found = client
        .tables_status([("system", "one"), ("system", "two")].map(name))
        .unwrap();
    assert_eq!(there(found), pairs([("system", "one")]));
}
