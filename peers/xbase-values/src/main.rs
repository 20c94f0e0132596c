//! Writes a table as lines of JSON for `compare.py`: what it is, then a list of values for each record that is not deleted.
//!
//! Values: null, true, false, text; `{"n": "1.50"}` a number, `{"d": days}` a day and `{"t": ms}` a moment since 1970-01-01, `{"b": "00ff"}`
//! bytes.

use std::{io::Write, path::Path, sync::Arc};

use arrow_array::{Array, ArrayRef, cast::AsArray, types};
use arrow_schema::{DataType, TimeUnit};
use serde_json::{Value, json};
use tidemill_xbase::{Deleted, OpenOptions, Scan, Table};

fn main() {
    if let Err(error) = run() {
        eprintln!("{error}");
        std::process::exit(2);
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: xbase-values TABLE")?;
    let options = OpenOptions::new().null_for_bad_values(true).long_names(false);
    let table = Arc::new(Table::open(Path::new(&path), &options)?);
    // Memos whose file is not there are left out, as other readers do.
    let is_there =
        |at: &usize| table.memo().is_some() || table.fields().get(*at).is_none_or(|field| !field.kind.uses_memo());
    let columns: Vec<usize> = (0..table.fields().len()).filter(is_there).collect();
    let fields = columns.iter().filter_map(|at| table.fields().get(*at)).map(|field| {
        json!({"name": field.short_name, "type": field.letter.to_string(), "width": field.width, "decimals": field.decimals, "binary": field.binary})
    });
    let fields: Vec<Value> = fields.collect();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    writeln!(
        out,
        "{}",
        json!({"codepage": table.codepage().name(), "fields": fields})
    )?;
    for batch in table.scan(Scan::new().deleted(Deleted::Skip).projection(columns))? {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            let values = batch.columns().iter().map(|column| value(column, row));
            writeln!(out, "{}", Value::Array(values.collect()))?;
        }
    }
    for note in table.notes() {
        eprintln!("{path}: note: {note}");
    }
    Ok(())
}

fn value(column: &ArrayRef, row: usize) -> Value {
    if column.is_null(row) {
        return Value::Null;
    }
    let number = |text: String| json!({"n": text});
    match column.data_type() {
        DataType::Utf8 => json!(column.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => json!(column.as_string::<i64>().value(row)),
        DataType::Binary => json!({"b": hex(column.as_binary::<i32>().value(row))}),
        DataType::Boolean => json!(column.as_boolean().value(row)),
        DataType::Int32 => number(column.as_primitive::<types::Int32Type>().value(row).to_string()),
        DataType::Int64 => number(column.as_primitive::<types::Int64Type>().value(row).to_string()),
        DataType::Float64 => number(format!("{:?}", column.as_primitive::<types::Float64Type>().value(row))),
        DataType::Decimal128(..) => number(column.as_primitive::<types::Decimal128Type>().value_as_string(row)),
        DataType::Date32 => json!({"d": column.as_primitive::<types::Date32Type>().value(row)}),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            json!({"t": column.as_primitive::<types::TimestampMillisecondType>().value(row)})
        }
        other => json!({"other": other.to_string()}),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
