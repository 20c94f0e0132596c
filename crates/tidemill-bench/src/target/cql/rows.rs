//! Rows of a cluster as objects of a script.
//!
//! The forms are those of Latte's fork. Numbers, texts, truth values and lists are what they are, a `varint` beyond 64 bits is a text. A blob is
//! bytes; UUIDs, `inet` and `decimal` are texts; a date is
//! days since 1970 plus 2^31, a time nanoseconds since midnight, a timestamp milliseconds since 1970, as they are bound; a duration is an
//! object of `months`, `days` and `nanoseconds`; a map is a list of pairs; a UDT is an object. A `varint` or `decimal` of more than 65,536 bytes
//! of digits is those bytes.

use rune::runtime::{Bytes, Object};
use rune::{Value, alloc};
use scylla::frame::response::result::ColumnSpec;
use scylla::response::query_result::QueryResult;
use scylla::value::{CqlValue, Row};
use tidemill_cql::connection::Page;
use tidemill_cql::decimal::{unscaled_to_text, varint_to_text};
use tidemill_cql::with_causes;

use super::super::{Answer, Wanted};
use crate::context::{Failure, FailureKind};

pub(super) fn append(result: QueryResult, wanted: Wanted, answer: &mut Answer) -> Result<(), Failure> {
    let broken = |e: &dyn std::error::Error| Failure::new(FailureKind::Refused, with_causes(e));
    let rows = result.into_rows_result().map_err(|e| broken(&e))?;
    answer.rows += rows.rows_num() as u64;
    if wanted == Wanted::Count {
        return Ok(());
    }
    let specs = rows.column_specs();
    for row in rows.rows::<Row>().map_err(|e| broken(&e))? {
        push(specs.as_slice(), row.map_err(|e| broken(&e))?, answer)?;
    }
    Ok(())
}

/// The same of a page that bypassed the driver.
pub(super) fn append_page(page: Page, answer: &mut Answer) -> Result<(), Failure> {
    let broken = |what| Failure::new(FailureKind::Refused, what);
    let rows = page.into_rows().map_err(broken)?;
    answer.rows += rows.count() as u64;
    for row in rows.rows() {
        push(rows.columns(), row.map_err(broken)?, answer)?;
    }
    Ok(())
}

fn push(specs: &[ColumnSpec<'_>], row: Row, answer: &mut Answer) -> Result<(), Failure> {
    let object = object(specs.iter().map(ColumnSpec::name).zip(row.columns)).map_err(Failure::memory)?;
    answer.values.try_push(object).map_err(Failure::memory)
}

fn object<'a>(fields: impl Iterator<Item = (&'a str, Option<CqlValue>)>) -> alloc::Result<Value> {
    let mut object = Object::new();
    for (name, value) in fields {
        object.insert(alloc::String::try_from(name)?, optional(value)?)?;
    }
    Value::new(object)
}

fn optional(value: Option<CqlValue>) -> alloc::Result<Value> {
    match value {
        Some(value) => script_value(value),
        None => Value::new(None::<Value>),
    }
}

fn list(values: impl Iterator<Item = alloc::Result<Value>>) -> alloc::Result<Value> {
    let mut list = alloc::Vec::new();
    for value in values {
        list.try_push(value?)?;
    }
    Value::vec(list)
}

fn tuple(values: impl Iterator<Item = alloc::Result<Value>>) -> alloc::Result<Value> {
    let mut tuple = alloc::Vec::new();
    for value in values {
        tuple.try_push(value?)?;
    }
    Value::tuple(tuple)
}

fn text(text: impl AsRef<str>) -> alloc::Result<Value> {
    Value::new(alloc::String::try_from(text.as_ref())?)
}

fn bytes(bytes: &[u8]) -> alloc::Result<Value> {
    Value::new(Bytes::from_vec(alloc::Vec::try_from(bytes)?))
}

fn script_value(value: CqlValue) -> alloc::Result<Value> {
    Ok(match value {
        CqlValue::Ascii(v) | CqlValue::Text(v) => text(v)?,
        CqlValue::Boolean(v) => Value::from(v),
        CqlValue::Blob(v) => bytes(&v)?,
        CqlValue::Counter(v) => Value::from(v.0),
        CqlValue::Decimal(v) => {
            let (digits, exponent) = v.as_signed_be_bytes_slice_and_exponent();
            match unscaled_to_text(digits, exponent) {
                Some(number) => text(number)?,
                None => bytes(digits)?,
            }
        }
        CqlValue::Date(v) => Value::from(i64::from(v.0)),
        CqlValue::Double(v) => Value::from(v),
        CqlValue::Duration(v) => {
            let mut object = Object::new();
            let fields = [
                ("months", i64::from(v.months)),
                ("days", i64::from(v.days)),
                ("nanoseconds", v.nanoseconds),
            ];
            for (name, number) in fields {
                object.insert(alloc::String::try_from(name)?, Value::from(number))?;
            }
            Value::new(object)?
        }
        CqlValue::Float(v) => Value::from(f64::from(v)),
        CqlValue::Int(v) => Value::from(i64::from(v)),
        CqlValue::BigInt(v) => Value::from(v),
        CqlValue::Timestamp(v) => Value::from(v.0),
        CqlValue::Inet(v) => text(v.to_string())?,
        CqlValue::List(v) | CqlValue::Set(v) | CqlValue::Vector(v) => list(v.into_iter().map(script_value))?,
        CqlValue::Map(v) => list(
            v.into_iter()
                .map(|(key, value)| tuple([script_value(key), script_value(value)].into_iter())),
        )?,
        CqlValue::UserDefinedType { fields, .. } => {
            let mut object = Object::new();
            for (name, value) in fields {
                object.insert(alloc::String::try_from(name)?, optional(value)?)?;
            }
            Value::new(object)?
        }
        CqlValue::SmallInt(v) => Value::from(i64::from(v)),
        CqlValue::TinyInt(v) => Value::from(i64::from(v)),
        CqlValue::Time(v) => Value::from(v.0),
        CqlValue::Timeuuid(v) => text(v.to_string())?,
        CqlValue::Uuid(v) => text(v.to_string())?,
        CqlValue::Varint(v) => {
            let digits = v.as_signed_bytes_be_slice();
            match varint_to_text(digits) {
                Some(number) => number
                    .parse::<i64>()
                    .map_or_else(|_| text(number), |small| Ok(Value::from(small)))?,
                None => bytes(digits)?,
            }
        }
        CqlValue::Tuple(v) => tuple(v.into_iter().map(optional))?,
        // What a type that has no empty value may hold all the same.
        CqlValue::Empty => Value::new(None::<Value>)?,
        _ => Value::from(()),
    })
}
