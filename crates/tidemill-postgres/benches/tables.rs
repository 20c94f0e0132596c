//! What reading and filling a table of a real PostgreSQL costs, beside psql's COPY on the same rows: seconds on the wall, rows a second, and
//! processor time of this process a row. Rows are (bigint, integer, text of 12 letters, double precision, numeric(12,2), date, timestamptz).
//! `cargo bench -p tidemill-postgres --bench tables -- [ROWS]`; the server takes most of the machine, so ratios in one run are what counts.
#![expect(clippy::unwrap_used, reason = "a panic is how a benchmark fails")]

use std::time::Instant;

use arrow_array::RecordBatch;
use tidemill_postgres::{Client, Fill, NewTable, Options, Read};
use tidemill_testkit::Postgres;

const QUERY: &str = "SELECT n, (n % 1000)::int AS i, 'name' || lpad(n::text, 8, '0') AS t, n / 4.0::float8 AS d, (n / 100.0)::numeric(12,2) AS m,
    date '2000-01-01' + (n % 10000)::int AS day, timestamptz '2000-01-01 00:00Z' + n * interval '1 second' AS at";

#[tokio::main]
async fn main() {
    let Some(server) = Postgres::need() else { return };
    let rows: u64 = std::env::args()
        .filter_map(|argument| argument.parse().ok())
        .next()
        .unwrap_or(1_000_000);
    let (options, _) = Options::parse(&server.url()).unwrap();
    let client = Client::connect(options).await.unwrap();
    server
        .psql(&format!(
            "CREATE UNLOGGED TABLE t AS {QUERY} FROM generate_series(1, {rows}::bigint) n"
        ))
        .unwrap();
    server.psql("VACUUM ANALYZE t").unwrap();
    for _ in 0..2 {
        measured("psql: COPY TO STDOUT, text", rows, async {
            psql(&server, "\\copy t to /dev/null")
        })
        .await;
        measured("psql: COPY TO STDOUT, binary", rows, async {
            psql(&server, "\\copy t to /dev/null (format binary)")
        })
        .await;
        measured("read as Arrow", rows, async { assert_eq!(read(&client).await, rows) }).await;
    }
    let file = server.socket_folder().join("rows").display().to_string();
    psql(&server, &format!("\\copy t to {file} (format binary)"));
    let batches = batches(&client).await;
    for _ in 0..2 {
        psql(&server, "CREATE TABLE filled (LIKE t)");
        measured("psql: COPY FROM STDIN, binary", rows, async {
            psql(&server, &format!("\\copy filled from {file} (format binary)"))
        })
        .await;
        psql(&server, "DROP TABLE filled");
        measured("fill from Arrow", rows, async {
            assert_eq!(fill(&client, &batches, rows).await, rows)
        })
        .await;
        psql(&server, "DROP TABLE filled");
    }
}

fn psql(server: &Postgres, command: &str) {
    server.psql(command).unwrap();
}

async fn read(client: &Client) -> u64 {
    let mut read = Read::begin(client, "t", "SELECT * FROM t", None).await.unwrap();
    let mut rows = 0;
    while let Some(batch) = read.next().await.unwrap() {
        rows += batch.num_rows() as u64;
    }
    rows
}

/// The first million rows.
async fn batches(client: &Client) -> Vec<RecordBatch> {
    let mut read = Read::begin(client, "t", "SELECT * FROM t LIMIT 1000000", None)
        .await
        .unwrap();
    let mut batches = Vec::new();
    while let Some(batch) = read.next().await.unwrap() {
        batches.push(batch);
    }
    batches
}

async fn fill(client: &Client, batches: &[RecordBatch], rows: u64) -> u64 {
    let new = NewTable::of_schema(&batches[0].schema()).unwrap();
    let mut fill = Fill::create(client, None, "filled", &new).await.unwrap();
    for batch in batches.iter().cycle() {
        let missing = usize::try_from(rows - fill.rows()).unwrap();
        if missing == 0 {
            break;
        }
        fill.write(&batch.slice(0, missing.min(batch.num_rows())))
            .await
            .unwrap();
    }
    fill.finish().await.unwrap()
}

async fn measured(what: &str, rows: u64, work: impl Future<Output = ()>) {
    let (begun, before) = (Instant::now(), processor_seconds());
    work.await;
    let (seconds, used) = (begun.elapsed().as_secs_f64(), processor_seconds() - before);
    let (per_second, per_row) = (rows as f64 / seconds, used * 1e9 / rows as f64);
    println!("{what:34} {seconds:7.2} s {per_second:12.0} rows/s {per_row:6.0} ns of this process a row");
}

/// Of this process: fields 14 and 15 of `/proc/self/stat`, in hundredths of a second.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields = stat.rsplit_once(')').unwrap().1.split_whitespace().skip(11).take(2);
    fields.map(|ticks| ticks.parse::<f64>().unwrap() / 100.0).sum()
}
