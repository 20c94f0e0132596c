//! Results as JSON.
//!
//! Numbers that JavaScript would round, decimals, dates and bytes are strings, formatted as PostgreSQL writes them.

use std::time::Instant;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use serde::Serialize;
use tidemill_postgres::Type;
use tidemill_postgres::wire::{ValueFormat, WireRows};
use tidemill_sql::Answer;

use crate::failure::Failure;
use crate::postgres::{Rows, Source, failure};
use crate::statement::Statement;

/// The result of a statement.
#[derive(Debug)]
pub(super) struct Told {
    columns: Vec<Column>,
    /// The rows, as JSON.
    rows: String,
    changed: Option<u64>,
    /// Whether there are more rows.
    truncated: bool,
}

/// A column.
#[derive(Debug, Serialize)]
pub(super) struct Column {
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    arrow: String,
    nullable: bool,
}

impl Told {
    /// The result of a statement that changes something.
    pub(super) fn of_change(rows: Option<u64>) -> Self {
        Self {
            columns: Vec::new(),
            rows: String::new(),
            changed: rows,
            truncated: false,
        }
    }
}

/// The columns of a schema.
pub(super) fn columns(schema: &SchemaRef) -> Vec<Column> {
    let fields = schema.fields().iter().map(|field| Column {
        name: field.name().clone(),
        kind: kind(field.data_type()),
        arrow: field.data_type().to_string(),
        nullable: field.is_nullable(),
    });
    fields.collect()
}

/// The name of a type for users.
fn kind(data_type: &DataType) -> &'static str {
    use DataType as T;
    match data_type {
        T::Boolean => "boolean",
        data_type if data_type.is_integer() => "integer",
        data_type if data_type.is_floating() => "number",
        data_type if data_type.is_decimal() => "decimal",
        T::Utf8 | T::LargeUtf8 | T::Utf8View => "text",
        T::Date32 | T::Date64 => "date",
        T::Time32(_) | T::Time64(_) => "time",
        T::Timestamp(_, _) => "timestamp",
        T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => "binary",
        T::Dictionary(_, values) => kind(values),
        _ => "other",
    }
}

/// Reads the rows of a result, up to `limit`.
///
/// # Errors
///
/// An error of the scan.
pub(super) async fn read(answer: Answer, limit: usize, statement: &mut Statement) -> Result<Told, Failure> {
    let columns = columns(&answer.schema());
    let mut source = Rows::new(Source::Session(answer, statement.text.to_string()), "", None);
    let (mut rows, mut truncated, mut left) = (String::new(), false, limit);
    while let Some(batch) = statement.within(source.next_batch()).await? {
        statement.count(batch.num_rows() as u64)?;
        if batch.num_rows() > left {
            truncated = true;
            write(&batch.slice(0, left), &source, &mut rows)?;
            break;
        }
        left -= batch.num_rows();
        write(&batch, &source, &mut rows)?;
    }
    Ok(Told {
        columns,
        rows,
        changed: None,
        truncated,
    })
}

fn write(batch: &RecordBatch, source: &Rows, rows: &mut String) -> Result<(), Failure> {
    let types: Vec<(Type, ValueFormat)> = source
        .columns
        .iter()
        .map(|column| (column.typ.clone(), ValueFormat::Text))
        .collect();
    let writer = WireRows::new(batch, &types).map_err(|error| failure::of_value(&error))?;
    let mut text = Vec::new();
    for row in 0..batch.num_rows() {
        rows.push_str(if rows.is_empty() { "[" } else { ",[" });
        for (column, (typ, _)) in types.iter().enumerate() {
            if column > 0 {
                rows.push(',');
            }
            text.clear();
            match writer
                .write_text(row, column, &mut text)
                .map_err(|error| failure::of_value(&error))?
            {
                true => push(typ, &String::from_utf8_lossy(&text), rows),
                false => rows.push_str("null"),
            }
        }
        rows.push(']');
    }
    Ok(())
}

/// Appends a value, given as text, as JSON.
fn push(typ: &Type, text: &str, out: &mut String) {
    let is_plain = match typ {
        Type::Bool => return out.push_str(if text == "t" { "true" } else { "false" }),
        Type::Int2 | Type::Int4 | Type::Oid => true,
        // Only as long as JavaScript's numbers represent it exactly.
        Type::Int8 => text.parse::<i64>().is_ok_and(|number| number.unsigned_abs() <= 1 << 53),
        Type::Float4 | Type::Float8 => text.parse::<f64>().is_ok_and(f64::is_finite),
        Type::Json | Type::Jsonb => serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok(),
        _ => false,
    };
    match is_plain {
        true => out.push_str(text),
        false => out.push_str(&serde_json::Value::from(text).to_string()),
    }
}

/// The response with these results.
pub(super) fn json(answers: &[Told], begun: Instant) -> String {
    let time = begun.elapsed().as_secs_f64() * 1000.0;
    let answers = answers.iter().map(|told| {
        let Told {
            columns,
            rows,
            changed,
            truncated,
        } = told;
        let (columns, changed) = (serde_json::json!(columns), serde_json::json!(changed));
        format!(r#"{{"columns":{columns},"rows":[{rows}],"changed":{changed},"truncated":{truncated},"ms":{time}}}"#)
    });
    format!(r#"{{"answers":[{}]}}"#, answers.collect::<Vec<_>>().join(","))
}
