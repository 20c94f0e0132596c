//! Tidemill's client.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use tidemill_clickhouse::client::{Client, Request};

use super::{Compression, INSERT_BLOCKS, Outcome, SELECT, TABLE, Work, rows};

/// What the client runs on.
#[derive(Clone, Copy, Debug)]
pub enum Runtime {
    /// The thread that calls it.
    OneThread,
    /// Threads of tokio, as a service has them.
    Threads,
    /// None that the program knows of: the blocking facade.
    Blocking,
}

pub(super) fn run(runtime: Runtime, address: &str, work: Work) -> Outcome {
    let address = address.to_owned();
    match runtime {
        Runtime::OneThread => super::tokio_run(client(address, work)),
        Runtime::Threads => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            let task = async move { client(address, work).await.map_err(|error| error.to_string()) };
            Ok(runtime.block_on(runtime.spawn(task))??)
        }
        Runtime::Blocking => blocking(&address, work),
    }
}

fn blocking(address: &str, work: Work) -> Outcome {
    let Work::Small(small, count) = work else {
        return Err(format!("it does not do {work}").into());
    };
    let client = tidemill_clickhouse::blocking::Client::connect(&format!("clickhouse://{address}?compression=none"))?;
    let (sql, mut rows) = (small.sql(), 0);
    for _ in 0..count {
        for batch in client.query(&sql)? {
            rows += batch?.num_rows() as u64;
        }
    }
    Ok(rows)
}

async fn client(address: String, work: Work) -> Outcome {
    let compression = match work {
        Work::Small(..) => Compression::None,
        Work::Select(compression) | Work::Insert(compression) => compression,
    };
    let client = Client::connect(&format!("clickhouse://{address}?compression={compression}")).await?;
    match work {
        Work::Small(small, count) => {
            let (sql, mut rows) = (small.sql(), 0);
            for _ in 0..count {
                rows += read(client.query(&sql)).await?;
            }
            Ok(rows)
        }
        Work::Select(Compression::Zstd) => {
            read(client.query(SELECT).setting("network_compression_method", "zstd")).await
        }
        Work::Select(_) => read(client.query(SELECT)).await,
        Work::Insert(_) => {
            let batch = batch()?;
            let mut insert = client.insert(TABLE).await?;
            for _ in 0..INSERT_BLOCKS {
                insert.write(&batch).await?;
            }
            Ok(insert.finish().await?.rows)
        }
    }
}

async fn read(request: Request) -> Outcome {
    let mut rows = 0;
    let mut answer = request.await?;
    while let Some(batch) = answer.next().await? {
        rows += batch.num_rows() as u64;
    }
    Ok(rows)
}

pub(super) fn batch() -> Result<RecordBatch, Box<dyn std::error::Error>> {
    let (ids, texts): (Vec<u64>, Vec<String>) = rows().unzip();
    Ok(RecordBatch::try_from_iter([
        ("id", Arc::new(UInt64Array::from(ids)) as ArrayRef),
        ("s", Arc::new(StringArray::from(texts))),
    ])?)
}
