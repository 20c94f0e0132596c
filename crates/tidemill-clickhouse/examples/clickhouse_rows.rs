//! What a typed row costs: `clickhouse_rows read|borrow|write REPEATS` makes rows of (`UInt64`, `String` of 8 to 20
//! bytes) of a block of 65,536 rows, or such a block of rows, so many times. No server is needed; count the instructions.

use std::{env, error::Error, hint::black_box, time::Instant};

use serde::{Deserialize, Serialize};
use tidemill_clickhouse::rows::{BlockRows, RowsBuilder};

#[derive(Deserialize, Serialize)]
struct Row {
    id: u64,
    text: String,
}

#[derive(Deserialize)]
struct BorrowedRow<'a> {
    id: u64,
    text: &'a str,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [what, repeats] = arguments.as_slice() else {
        return Err("usage: clickhouse_rows read|borrow|write|none REPEATS".into());
    };
    let repeats: u32 = repeats.parse()?;
    let rows: Vec<Row> = (0..ROWS)
        .map(|id| Row {
            id,
            text: format!("{:0width$}", id, width = usize::try_from(8 + id % 13).unwrap_or(8)),
        })
        .collect();
    let columns = || -> Result<_, Box<dyn Error>> {
        Ok([
            ("id".to_owned(), "UInt64".parse()?),
            ("text".to_owned(), "String".parse()?),
        ])
    };
    let mut builder = RowsBuilder::new(columns()?)?;
    for row in &rows {
        builder.push(row)?;
    }
    let block = builder.finish()?;
    let begin = Instant::now();
    for _ in 0..repeats {
        match what.as_str() {
            "read" => {
                for row in BlockRows::new(&block)?.iter::<Row>() {
                    let row = row?;
                    black_box((row.id, row.text));
                }
            }
            "borrow" => {
                for row in BlockRows::new(&block)?.iter::<BorrowedRow<'_>>() {
                    let row = row?;
                    black_box((row.id, row.text));
                }
            }
            "write" => {
                for row in &rows {
                    builder.push(row)?;
                }
                black_box(builder.finish()?);
            }
            "none" => {}
            _ => return Err("expected read, borrow, write or none".into()),
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    let count = f64::from(repeats) * rows.len() as f64;
    println!(
        "{what}: {:.1} ns a row, {:.1} million rows/s",
        seconds * 1e9 / count,
        count / seconds / 1e6
    );
    Ok(())
}

const ROWS: u64 = 65_536;
