//! [clickhouse](https://crates.io/crates/clickhouse), the official crate, which speaks HTTP and reads and writes rows.

use clickhouse::{Client, Compression as Wire, Row, RowOwned, RowRead};
use serde::{Deserialize, Serialize};

use super::{Compression, INSERT_BLOCKS, Outcome, SELECT, TABLE, Work, rows};

#[derive(Row, Serialize, Deserialize)]
struct Line {
    id: u64,
    s: String,
}

#[derive(Row, Deserialize)]
struct TenNumbers {
    _numbers: [u64; 10],
}

pub(super) async fn run(address: &str, work: Work) -> Outcome {
    let compression = match work {
        Work::Small(..) | Work::Select(Compression::None) | Work::Insert(Compression::None) => Wire::None,
        Work::Select(Compression::Lz4) | Work::Insert(Compression::Lz4) => Wire::Lz4,
        other => return Err(format!("it does not do {other}").into()),
    };
    // The server is older than the format that is checked against the rows' types.
    let client = Client::default()
        .with_url(format!("http://{address}"))
        .with_compression(compression)
        .with_validation(false);
    match work {
        Work::Small(small, count) => {
            let (sql, mut rows) = (small.sql(), 0);
            for _ in 0..count {
                rows += match small.columns() {
                    1 => read::<u64>(&client, &sql).await?,
                    3 => read::<(u64, u64, u64)>(&client, &sql).await?,
                    _ => read::<TenNumbers>(&client, &sql).await?,
                };
            }
            Ok(rows)
        }
        Work::Select(_) => read::<u64>(&client, SELECT).await,
        Work::Insert(_) => {
            let lines: Vec<Line> = rows().map(|(id, s)| Line { id, s }).collect();
            let mut insert = client.insert::<Line>(TABLE).await?;
            for _ in 0..INSERT_BLOCKS {
                for line in &lines {
                    insert.write(line).await?;
                }
            }
            insert.end().await?;
            Ok(work.rows())
        }
    }
}

async fn read<T: RowOwned + RowRead>(client: &Client, sql: &str) -> Outcome {
    let mut rows = 0;
    let mut cursor = client.query(sql).fetch::<T>()?;
    while cursor.next().await?.is_some() {
        rows += 1;
    }
    Ok(rows)
}
