//! PostgreSQL's types as Arrow's, and the other way round. The table of both is in `docs/postgres.md`.
//!
//! What Arrow's type does not say is kept in the metadata of the field ([`POSTGRES_TYPE`]): that a text is an `inet` or a `varchar(20)`.
//! UUIDs and JSON have Arrow's own extension types, `arrow.uuid` and `arrow.json`.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{DataType, Field, IntervalUnit, TimeUnit};

use crate::data_type::Type;
use crate::error::{Error, Result};

/// The key of a field's metadata that holds the column's type, such as `varchar(20)`, where Arrow's type says less.
pub const POSTGRES_TYPE: &str = "postgres.type";

/// The field of a column of a type.
#[must_use]
pub fn field(name: &str, typ: &Type, is_nullable: bool) -> Field {
    let mut metadata = HashMap::new();
    if says_less(typ) {
        metadata.insert(POSTGRES_TYPE.to_owned(), typ.to_string());
    }
    let extension = match typ {
        Type::Uuid => Some("arrow.uuid"),
        Type::Json | Type::Jsonb => Some("arrow.json"),
        _ => None,
    };
    if let Some(extension) = extension {
        metadata.insert(EXTENSION_TYPE_NAME_KEY.to_owned(), extension.to_owned());
        metadata.insert(EXTENSION_TYPE_METADATA_KEY.to_owned(), String::new());
    }
    Field::new(name, data_type(typ), is_nullable).with_metadata(metadata)
}

/// The Arrow type whose arrays hold the values of a type.
#[must_use]
pub fn data_type(typ: &Type) -> DataType {
    match typ {
        Type::Bool => DataType::Boolean,
        Type::Int2 => DataType::Int16,
        Type::Int4 => DataType::Int32,
        Type::Int8 => DataType::Int64,
        Type::Oid => DataType::UInt32,
        Type::Float4 => DataType::Float32,
        Type::Float8 => DataType::Float64,
        Type::Numeric(Some((precision, scale))) => decimal(*precision, *scale),
        Type::Bytea => DataType::Binary,
        Type::Date => DataType::Date32,
        Type::Time => DataType::Time64(TimeUnit::Microsecond),
        Type::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        Type::TimestampTz => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        Type::Interval => DataType::Interval(IntervalUnit::MonthDayNano),
        Type::Uuid => DataType::FixedSizeBinary(16),
        Type::Array(element) if typ.is_known() => {
            DataType::List(Arc::new(field(Field::LIST_FIELD_DEFAULT_NAME, element, true)))
        }
        _ => DataType::Utf8,
    }
}

/// Without a fixed scale, or with more digits than Arrow has, it is text.
fn decimal(precision: u16, scale: i16) -> DataType {
    let digits = match scale {
        // The digits left of the point that are always zero.
        ..0 => precision.saturating_add(scale.unsigned_abs()),
        scale => precision.max(scale.unsigned_abs()),
    };
    match (u8::try_from(digits), i8::try_from(scale.max(0))) {
        (Ok(digits @ 1..=38), Ok(scale)) => DataType::Decimal128(digits, scale),
        (Ok(digits @ 39..=76), Ok(scale)) => DataType::Decimal256(digits, scale),
        _ => DataType::Utf8,
    }
}

/// Whether a new column made for the Arrow type would have another type.
fn says_less(typ: &Type) -> bool {
    match typ {
        Type::Array(element) => !typ.is_known() || says_less(element),
        Type::Text | Type::Void | Type::Enum(_) | Type::Uuid => false,
        Type::Jsonb => false,
        typ => match data_type(typ) {
            DataType::Utf8 | DataType::UInt32 => true,
            DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => {
                *typ != Type::Numeric(Some((u16::from(precision), i16::from(scale))))
            }
            _ => false,
        },
    }
}

/// The type of a new column for the values of a field: the type that the field's metadata names, where its values are of that type still,
/// else one that holds every value.
///
/// Timestamps and times of nanoseconds become ones of microseconds, and values with more are refused when they are written.
/// A [`TimeZone`](DataType::Timestamp) is not kept, only the instant.
///
/// # Errors
///
/// [`Error::Unsupported`] for structs, maps, unions and lists of lists.
///
/// ```
/// use tidemill_postgres::arrow_schema::{DataType, Field};
/// use tidemill_postgres::arrow_type::column_type;
///
/// assert_eq!(column_type(&Field::new("price", DataType::Decimal128(10, 2), true))?.to_string(), "numeric(10,2)");
/// # Ok::<(), tidemill_postgres::Error>(())
/// ```
pub fn column_type(field: &Field) -> Result<Type> {
    let told = field.metadata().get(POSTGRES_TYPE).and_then(|told| Type::named(told));
    if let Some(told) = told.filter(|told| is_like(&data_type(told), field.data_type())) {
        return Ok(told);
    }
    Ok(match field.data_type() {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::ListView(item)
        | DataType::LargeListView(item) => match column_type(item)? {
            Type::Array(_) => return Err(unsupported(field)),
            element => Type::Array(Box::new(element)),
        },
        DataType::Dictionary(_, values) => scalar(field, values)?,
        DataType::RunEndEncoded(_, values) => column_type(&values.as_ref().clone().with_name(field.name()))?,
        data_type => scalar(field, data_type)?,
    })
}

fn scalar(field: &Field, data_type: &DataType) -> Result<Type> {
    Ok(match data_type {
        DataType::Boolean => Type::Bool,
        DataType::Int8 | DataType::Int16 | DataType::UInt8 => Type::Int2,
        DataType::Int32 | DataType::UInt16 => Type::Int4,
        DataType::Int64 | DataType::UInt32 => Type::Int8,
        DataType::UInt64 => Type::Numeric(Some((20, 0))),
        DataType::Float16 | DataType::Float32 => Type::Float4,
        DataType::Float64 => Type::Float8,
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => Type::Numeric(Some(numeric(*precision, *scale))),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View if is_json(field) => Type::Jsonb,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => Type::Text,
        DataType::FixedSizeBinary(16) if field.extension_type_name() == Some("arrow.uuid") => Type::Uuid,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => Type::Bytea,
        DataType::Date32 | DataType::Date64 => Type::Date,
        DataType::Time32(_) | DataType::Time64(_) => Type::Time,
        DataType::Timestamp(_, None) => Type::Timestamp,
        DataType::Timestamp(_, Some(_)) => Type::TimestampTz,
        DataType::Interval(_) | DataType::Duration(_) => Type::Interval,
        _ => return Err(unsupported(field)),
    })
}

/// Servers before 15 take no scale below 0 or above the precision.
fn numeric(precision: u8, scale: i8) -> (u16, i16) {
    let (precision, scale) = (u16::from(precision), i16::from(scale));
    match scale {
        ..0 => (precision.saturating_add(scale.unsigned_abs()), 0),
        scale => (precision.max(scale.unsigned_abs()), scale),
    }
}

fn is_json(field: &Field) -> bool {
    field.extension_type_name() == Some("arrow.json")
}

/// Whether values of one type are those of the other, in another layout at most.
fn is_like(one: &DataType, other: &DataType) -> bool {
    let texts = |data_type: &DataType| matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    match (one, other) {
        (one, DataType::Dictionary(_, values)) => is_like(one, values),
        (DataType::List(one), DataType::List(other) | DataType::LargeList(other)) => {
            is_like(one.data_type(), other.data_type())
        }
        (one, other) => one == other || (texts(one) && texts(other)),
    }
}

fn unsupported(field: &Field) -> Error {
    Error::Unsupported {
        what: format!(
            "column {}: a column of PostgreSQL for {}",
            field.name(),
            field.data_type()
        ),
        hint: "leave the column out, or make it text or columns of its own".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use super::*;

    #[test]
    fn types_come_back_through_arrow() {
        for name in [
            "boolean",
            "smallint",
            "integer",
            "bigint",
            "oid",
            "real",
            "double precision",
            "numeric",
            "numeric(10,2)",
            "numeric(60,20)",
            "numeric(100,2)",
            "numeric(2,-3)",
            "numeric(2,5)",
            "text",
            "varchar(20)",
            "char(3)",
            "name",
            "xml",
            "json",
            "jsonb",
            "bytea",
            "date",
            "time",
            "timestamp",
            "timestamp with time zone",
            "interval",
            "uuid",
            "text[]",
            "varchar(3)[]",
            "uuid[]",
            "inet",
            "inet[]",
        ] {
            let field = field("c", &Type::named(name).unwrap(), true);
            assert_eq!(column_type(&field).unwrap().to_string(), name, "{field:?}");
        }
    }

    #[test]
    fn a_type_that_is_told_gives_way_to_values_of_another() {
        let told = |data_type, told: &str| {
            let metadata = HashMap::from([(POSTGRES_TYPE.to_owned(), told.to_owned())]);
            column_type(&Field::new("c", data_type, true).with_metadata(metadata))
                .unwrap()
                .to_string()
        };
        assert_eq!(told(DataType::Int32, "inet"), "integer");
        assert_eq!(told(DataType::Utf8View, "inet"), "inet");
        assert_eq!(told(DataType::Utf8, "shop.colour"), "text");
        assert_eq!(told(DataType::Utf8, "text); DROP TABLE t; --"), "text");
    }

    #[test]
    fn what_has_no_column_is_named() {
        let nested = Field::new_list("tags", Field::new_list_field(DataType::Utf8, true), true);
        let field = Field::new_list("deep", nested, true);
        let error = column_type(&field).unwrap_err().to_string();
        assert!(error.contains("deep"), "{error}");
    }
}
