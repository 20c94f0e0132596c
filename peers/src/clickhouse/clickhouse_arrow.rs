//! [clickhouse-arrow](https://crates.io/crates/clickhouse-arrow), whose batches are Arrow's of another version.
//!
//! Version 0.2.1 sends in chunks to servers before revision 54470, which have not agreed to any, whatever it is told: they close
//! the connection. A question then reads the end of it again and again, and an insert ends well without a row. Neither is a figure.

use std::sync::Arc;

use clickhouse_arrow::{
    ArrowClient, Client, CompressionMethod,
    arrow::arrow::array::{ArrayRef, RecordBatch, StringArray, UInt64Array},
};
use futures::StreamExt;

use super::{Compression, INSERT_BLOCKS, Outcome, SELECT, TABLE, Work, rows};

pub(super) async fn run(address: &str, work: Work) -> Outcome {
    let compression = match work {
        Work::Small(..) | Work::Select(Compression::None) | Work::Insert(Compression::None) => CompressionMethod::None,
        Work::Select(Compression::Lz4) | Work::Insert(Compression::Lz4) => CompressionMethod::LZ4,
        other => return Err(format!("it does not do {other}").into()),
    };
    let client: ArrowClient = Client::<clickhouse_arrow::ArrowFormat>::builder()
        .with_endpoint(address)
        .with_username("default")
        .with_compression(compression)
        .build()
        .await?;
    match work {
        Work::Small(small, count) => {
            let (sql, mut rows) = (small.sql(), 0);
            for _ in 0..count {
                rows += read(&client, &sql).await?;
            }
            Ok(rows)
        }
        Work::Select(_) => read(&client, SELECT).await,
        Work::Insert(_) => {
            let (ids, texts): (Vec<u64>, Vec<String>) = rows().unzip();
            let batch = RecordBatch::try_from_iter([
                ("id", Arc::new(UInt64Array::from(ids)) as ArrayRef),
                ("s", Arc::new(StringArray::from(texts))),
            ])?;
            let batches = (0..INSERT_BLOCKS).map(|_| batch.clone()).collect();
            let query = format!("INSERT INTO {TABLE} VALUES");
            let mut answers = Box::pin(client.insert_many(query, batches, None).await?);
            while let Some(answer) = answers.next().await {
                answer?;
            }
            Ok(work.rows())
        }
    }
}

async fn read(client: &ArrowClient, sql: &str) -> Outcome {
    let mut rows = 0;
    let mut batches = client.query(sql, None).await?;
    while let Some(batch) = batches.next().await {
        rows += batch?.num_rows() as u64;
    }
    Ok(rows)
}
