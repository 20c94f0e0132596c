//! Advantage's own tables: ADT, their memos and their indexes. The corpus is laid out by a script of our own.

mod alter;
mod case;
mod create;
mod damage;
mod edit;
mod kept_orders;
mod orders;
mod page;
mod read;

use std::path::PathBuf;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float64Type, Int32Type, Int64Type, Time32MillisecondType, TimestampMillisecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use serde_json::{Value, json};

pub(super) fn corpus(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/adt")).join(name)
}

pub(super) fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(corpus(name)).unwrap()
}

/// What the script says is in a table.
pub(super) struct Golden {
    /// Name, type, width and decimals.
    pub(super) fields: Vec<Value>,
    /// The numbers of the records in the list of free ones.
    pub(super) deleted: Vec<u64>,
    pub(super) rows: Vec<Vec<Value>>,
}

impl Golden {
    pub(super) fn of(name: &str) -> Self {
        let golden: Value = serde_json::from_slice(&bytes(&format!("{name}.json"))).unwrap();
        let rows = golden["rows"].as_array().unwrap().iter();
        Self {
            fields: golden["fields"].as_array().unwrap().clone(),
            deleted: golden["deleted"]
                .as_array()
                .unwrap()
                .iter()
                .map(|record| record.as_u64().unwrap())
                .collect(),
            rows: rows.map(|row| row.as_array().unwrap().clone()).collect(),
        }
    }
}

/// A value of a column as the script writes it.
pub(super) fn shown(column: &ArrayRef, row: usize) -> Value {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    if column.is_null(row) {
        return Value::Null;
    }
    match column.data_type() {
        DataType::Boolean => json!(column.as_boolean().value(row)),
        DataType::Utf8 => json!(column.as_string::<i32>().value(row)),
        DataType::Binary => json!(hex(column.as_binary::<i32>().value(row))),
        DataType::Int32 => json!(column.as_primitive::<Int32Type>().value(row)),
        DataType::Int64 => json!(column.as_primitive::<Int64Type>().value(row)),
        DataType::Float64 => json!(column.as_primitive::<Float64Type>().value(row)),
        DataType::Decimal128(_, scale) => {
            let value = column.as_primitive::<Decimal128Type>().value(row);
            let scale = usize::try_from(*scale).unwrap();
            let digits = format!("{:0>1$}", value.unsigned_abs(), scale + 1);
            let (whole, fraction) = digits.split_at(digits.len() - scale);
            json!(format!("{}{whole}.{fraction}", if value < 0 { "-" } else { "" }))
        }
        DataType::Date32 => json!(day(column.as_primitive::<Date32Type>().value(row))),
        DataType::Time32(TimeUnit::Millisecond) => json!(column.as_primitive::<Time32MillisecondType>().value(row)),
        DataType::Timestamp(TimeUnit::Millisecond, None) => {
            let ms = column.as_primitive::<TimestampMillisecondType>().value(row);
            let day_ms = 86_400_000;
            json!([
                day(i32::try_from(ms.div_euclid(day_ms)).unwrap()),
                ms.rem_euclid(day_ms)
            ])
        }
        other => panic!("no type of an ADT: {other}"),
    }
}

fn day(unix_days: i32) -> String {
    let (year, month, day) = tidemill_xbase::julian::civil_from_unix_days(unix_days);
    format!("{year:04}-{month:02}-{day:02}")
}
