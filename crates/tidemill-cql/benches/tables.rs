//! What filling, reading and counting a table of a real Cassandra node costs: rows a second on the wall, and processor time of this
//! process a row. Rows are (bigint, bigint, text of 12 letters, double, timestamp), in partitions of one row and of a hundred.
//! `cargo bench -p tidemill-cql --bench tables`; the node takes most of the machine, so ratios in one run are what counts.
#![expect(clippy::unwrap_used, reason = "a panic is how a benchmark fails")]

use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray};
use tidemill_cql::{Client, Insert, Options, Rows, Scan, Table};
use tidemill_testkit::Cassandra;

const ROWS: i64 = 400_000;
const BATCH: i64 = 8_192;

#[tokio::main]
async fn main() {
    let Some(node) = Cassandra::need() else { return };
    let connect = async |query: &str| {
        let (options, _) = Options::parse(&format!("cql://{}/?{query}", node.native())).unwrap();
        Client::connect(options).await.unwrap()
    };
    let client = connect("").await;
    client
        .execute("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
        .await
        .unwrap();
    for (name, width) in [("warmup", 1), ("narrow", 1), ("wide", 100)] {
        client
            .execute(&format!(
                "CREATE TABLE ks.{name} (part bigint, id bigint, name text, price double, at timestamp, \
                 PRIMARY KEY (part, id))"
            ))
            .await
            .unwrap();
        let table = Arc::new(client.table("ks", name).await.unwrap());
        measured(&format!("insert, {width} in a partition"), fill(&table, width)).await;
    }
    for query in ["in_flight=1", "in_flight=4", "in_flight=8", "in_flight=16"] {
        let client = connect(query).await;
        for name in ["narrow", "wide"] {
            let table = Arc::new(client.table("ks", name).await.unwrap());
            let all = Scan::new(Arc::clone(&table), &[0, 1, 2, 3, 4], Rows::All).unwrap();
            measured(&format!("scan {name}, {query}"), read(&all)).await;
            let one = Scan::new(Arc::clone(&table), &[1], Rows::All).unwrap();
            measured(&format!("one column of {name}, {query}"), read(&one)).await;
            measured(&format!("count {name}, {query}"), async { one.count().await.unwrap() }).await;
        }
    }
}

async fn fill(table: &Arc<Table>, width: i64) -> u64 {
    let mut insert = Insert::begin(Arc::clone(table), &[0, 1, 2, 3, 4])
        .await
        .unwrap()
        .into_new_table(true);
    for start in (0..ROWS).step_by(BATCH as usize) {
        let ids = start..(start + BATCH).min(ROWS);
        // In the order of the table: the key, then the others by their names.
        let columns: [(&str, ArrayRef); 5] = [
            (
                "part",
                Arc::new(ids.clone().map(|id| id / width).collect::<Int64Array>()),
            ),
            ("id", Arc::new(ids.clone().collect::<Int64Array>())),
            (
                "at",
                Arc::new(ids.clone().map(Some).collect::<TimestampMillisecondArray>()),
            ),
            (
                "name",
                Arc::new(
                    ids.clone()
                        .map(|id| Some(format!("name{id:08}")))
                        .collect::<StringArray>(),
                ),
            ),
            (
                "price",
                Arc::new(ids.map(|id| id as f64 / 4.0).collect::<Float64Array>()),
            ),
        ];
        insert
            .write(&RecordBatch::try_from_iter(columns).unwrap())
            .await
            .unwrap();
    }
    insert.rows()
}

async fn read(scan: &Scan) -> u64 {
    let mut batches = scan.batches();
    let mut rows = 0;
    while let Some(batch) = batches.next().await.unwrap() {
        rows += batch.num_rows() as u64;
    }
    rows
}

async fn measured(what: &str, work: impl Future<Output = u64>) {
    let (started, before) = (Instant::now(), processor_seconds());
    let rows = work.await as f64;
    let (wall, processor) = (started.elapsed().as_secs_f64(), processor_seconds() - before);
    println!(
        "{what:40} {:9.0} rows/s {:7.2} µs of processor time a row",
        rows / wall,
        processor * 1e6 / rows
    );
}

/// Processor time of this process: fields 14 and 15 of `/proc/self/stat`, in hundredths of a second.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields = stat.rsplit_once(')').unwrap().1.split_whitespace().skip(11).take(2);
    fields.map(|ticks| ticks.parse::<f64>().unwrap() / 100.0).sum()
}
