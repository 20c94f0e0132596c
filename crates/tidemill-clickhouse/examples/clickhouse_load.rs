//! Reads or writes many rows, and tells the time, the processor time and the memory that it took.
//!
//! `clickhouse_load URL select SQL` reads an answer to its end; `clickhouse_load URL insert TABLE ROWS` inserts rows of
//! (id UInt64, s String of 8 to 20 bytes); `clickhouse_load URL small COUNT` asks for 1000 rows of three columns so many times.

use std::{env, error::Error, fs, sync::Arc, time::Instant};

use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use tidemill_clickhouse::client::Client;

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [url, rest @ ..] = arguments.as_slice() else {
        return Err("usage: clickhouse_load URL select SQL | insert TABLE ROWS | small COUNT".into());
    };
    let client = Client::connect(url).await?;
    let (begin, used) = (Instant::now(), processor_seconds()?);
    let rows = match rest {
        ["select", sql] => {
            let mut rows = 0;
            let mut answer = client.query(*sql).await?;
            while let Some(batch) = answer.next().await? {
                rows += batch.num_rows();
            }
            rows
        }
        ["insert", table, rows] => {
            let rows: u64 = rows.parse()?;
            let mut insert = client.insert(*table).await?;
            let mut next = 0;
            while next < rows {
                let end = rows.min(next + 65_536);
                insert.write(&batch(next, end)?).await?;
                next = end;
            }
            usize::try_from(insert.finish().await?.rows)?
        }
        ["small", count] => {
            let count: usize = count.parse()?;
            let mut rows = 0;
            for _ in 0..count {
                let sql = "SELECT number, number + 1, number + 2 FROM system.numbers LIMIT 1000";
                rows += client
                    .query(sql)
                    .collect()
                    .await?
                    .iter()
                    .map(RecordBatch::num_rows)
                    .sum::<usize>();
            }
            rows
        }
        _ => return Err("expected select, insert or small".into()),
    };
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{rows} rows, {seconds:.3} s, {:.3} s of the processor, {}",
        processor_seconds()? - used,
        peak_memory()?
    );
    Ok(())
}

fn batch(begin: u64, end: u64) -> Result<RecordBatch, Box<dyn Error>> {
    let texts = (begin..end).map(|id| {
        let length = 8 + usize::try_from(id % 13).unwrap_or_default();
        format!("{id:0length$}")
    });
    Ok(RecordBatch::try_from_iter([
        ("id", Arc::new(UInt64Array::from_iter_values(begin..end)) as ArrayRef),
        ("s", Arc::new(StringArray::from_iter_values(texts))),
    ])?)
}

/// User and system time of this process, in seconds. Source: proc(5), fields 14 and 15 of `stat`, in hundredths.
fn processor_seconds() -> Result<f64, Box<dyn Error>> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or("no processor time")?;
    let ticks: f64 = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<f64>().ok())
        .sum();
    Ok(ticks / 100.0)
}

fn peak_memory() -> Result<String, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .ok_or("no memory")?;
    Ok(line.split_whitespace().collect::<Vec<_>>().join(" "))
}
