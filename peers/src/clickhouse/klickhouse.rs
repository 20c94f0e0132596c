//! [klickhouse](https://crates.io/crates/klickhouse), which compresses by LZ4 and has no way not to.

use futures::StreamExt;
use klickhouse::{Client, ClientOptions, Row};

use super::{Compression, INSERT_BLOCKS, Outcome, SELECT, TABLE, Work, rows};

#[derive(Row, Clone)]
struct Line {
    id: u64,
    s: String,
}

pub(super) async fn run(address: &str, work: Work) -> Outcome {
    let client = Client::connect(address, ClientOptions::default()).await?;
    match work {
        Work::Small(small, count) => {
            let (sql, mut rows) = (small.sql(), 0);
            for _ in 0..count {
                rows += read(&client, &sql).await?;
            }
            Ok(rows)
        }
        Work::Select(Compression::Lz4) => read(&client, SELECT).await,
        Work::Insert(Compression::Lz4) => {
            let lines: Vec<Line> = rows().map(|(id, s)| Line { id, s }).collect();
            let blocks = (0..INSERT_BLOCKS).map(move |_| lines.clone());
            let query = format!("INSERT INTO {TABLE} FORMAT Native");
            client
                .insert_native(query.as_str(), futures::stream::iter(blocks))
                .await?;
            Ok(work.rows())
        }
        other => Err(format!("it does not do {other}").into()),
    }
}

/// Blocks as they come, without making rows of them.
async fn read(client: &Client, sql: &str) -> Outcome {
    let mut rows = 0;
    let mut blocks = client.query_raw(sql, None).await?;
    while let Some(block) = blocks.next().await {
        rows += block?.rows;
    }
    Ok(rows)
}
