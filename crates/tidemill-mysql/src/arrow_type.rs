//! MySQL's types as Arrow's, and the other way round. The table of both is in `docs/mysql.md`.
//!
//! What Arrow's type does not say is kept in the metadata of the field ([`MYSQL_TYPE`]): that a text is a `varchar(20)` or an `enum`. JSON
//! has Arrow's own extension type, `arrow.json`.

use std::collections::HashMap;

use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{DataType, Field, TimeUnit};

use crate::data_type::{Integer, Size, Type};
use crate::error::{Error, Result};

/// The key of a field's metadata that holds the column's type, such as `varchar(20)`, where Arrow's type says less.
pub const MYSQL_TYPE: &str = "mysql.type";

/// The field of a column of a type.
#[must_use]
pub fn field(name: &str, typ: &Type, is_nullable: bool) -> Field {
    let mut metadata = HashMap::new();
    if *typ == Type::Json {
        metadata.insert(EXTENSION_TYPE_NAME_KEY.to_owned(), "arrow.json".to_owned());
        metadata.insert(EXTENSION_TYPE_METADATA_KEY.to_owned(), String::new());
    }
    let field = Field::new(name, data_type(typ), is_nullable).with_metadata(metadata);
    // Of results the members are not known.
    let is_known = !matches!(typ, Type::Enum(members) | Type::Set(members) if members.is_empty());
    if !is_known || column_type(&field).is_ok_and(|made| made == *typ) {
        return field;
    }
    let mut metadata = field.metadata().clone();
    metadata.insert(MYSQL_TYPE.to_owned(), typ.to_string());
    field.with_metadata(metadata)
}

/// The Arrow type whose arrays hold the values of a type.
#[must_use]
pub fn data_type(typ: &Type) -> DataType {
    match typ {
        Type::Integer(Integer::Tiny, false) => DataType::Int8,
        Type::Integer(Integer::Small, false) | Type::Year => DataType::Int16,
        Type::Integer(Integer::Medium | Integer::Int, false) => DataType::Int32,
        Type::Integer(Integer::Big, false) => DataType::Int64,
        Type::Integer(Integer::Tiny, true) => DataType::UInt8,
        Type::Integer(Integer::Small, true) => DataType::UInt16,
        Type::Integer(Integer::Medium | Integer::Int, true) => DataType::UInt32,
        Type::Integer(Integer::Big, true) => DataType::UInt64,
        Type::Decimal(precision, scale) => {
            let scale = i8::try_from(*scale).unwrap_or(i8::MAX);
            match precision {
                ..=38 => DataType::Decimal128(*precision, scale),
                _ => DataType::Decimal256(*precision, scale),
            }
        }
        Type::Float => DataType::Float32,
        Type::Double => DataType::Float64,
        Type::Bit(1) => DataType::Boolean,
        Type::Bit(_) => DataType::UInt64,
        Type::Date => DataType::Date32,
        Type::Time(_) => DataType::Duration(TimeUnit::Microsecond),
        Type::DateTime(_) => DataType::Timestamp(TimeUnit::Microsecond, None),
        Type::Timestamp(_) => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        Type::Binary(_) | Type::VarBinary(_) | Type::Blob(_) | Type::Geometry(_) => DataType::Binary,
        Type::Char(_)
        | Type::VarChar(_)
        | Type::Text(_)
        | Type::Enum(_)
        | Type::Set(_)
        | Type::Json
        | Type::Other(_) => DataType::Utf8,
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
/// [`Error::Unsupported`] for lists, structs, maps, unions and intervals, and for decimals with more than 65 digits or 30 behind the point.
///
/// ```
/// use tidemill_mysql::arrow_schema::{DataType, Field};
/// use tidemill_mysql::arrow_type::column_type;
///
/// assert_eq!(column_type(&Field::new("price", DataType::Decimal128(10, 2), true))?.to_string(), "decimal(10,2)");
/// # Ok::<(), tidemill_mysql::Error>(())
/// ```
pub fn column_type(field: &Field) -> Result<Type> {
    let told = field.metadata().get(MYSQL_TYPE).map(|told| Type::named(told));
    // A name that is not known may be anything.
    let told = told.filter(|told| !matches!(told, Type::Other(name) if !TEXT_TYPES.contains(&name.as_str())));
    if let Some(told) = told.filter(|told| is_like(&data_type(told), field.data_type())) {
        return Ok(told);
    }
    match field.data_type() {
        DataType::Dictionary(_, values) => scalar(field, values),
        DataType::RunEndEncoded(_, values) => column_type(&values.as_ref().clone().with_name(field.name())),
        data_type => scalar(field, data_type),
    }
}

fn scalar(field: &Field, data_type: &DataType) -> Result<Type> {
    Ok(match data_type {
        DataType::Boolean => Type::Bit(1),
        DataType::Int8 => Type::Integer(Integer::Tiny, false),
        DataType::Int16 => Type::Integer(Integer::Small, false),
        DataType::Int32 => Type::Integer(Integer::Int, false),
        DataType::Int64 => Type::Integer(Integer::Big, false),
        DataType::UInt8 => Type::Integer(Integer::Tiny, true),
        DataType::UInt16 => Type::Integer(Integer::Small, true),
        DataType::UInt32 => Type::Integer(Integer::Int, true),
        DataType::UInt64 => Type::Integer(Integer::Big, true),
        DataType::Float16 | DataType::Float32 => Type::Float,
        DataType::Float64 => Type::Double,
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => decimal(field, *precision, *scale)?,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View if is_json(field) => Type::Json,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => Type::Text(Size::Long),
        DataType::FixedSizeBinary(length @ 0..=255) => Type::Binary(length.unsigned_abs()),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            Type::Blob(Size::Long)
        }
        DataType::Date32 | DataType::Date64 => Type::Date,
        DataType::Time32(unit) | DataType::Time64(unit) | DataType::Duration(unit) => Type::Time(fraction(*unit)),
        DataType::Timestamp(unit, None) => Type::DateTime(fraction(*unit)),
        DataType::Timestamp(unit, Some(_)) => Type::Timestamp(fraction(*unit)),
        _ => return Err(unsupported(field)),
    })
}

/// A scale below 0 becomes 0, with as many digits more.
fn decimal(field: &Field, precision: u8, scale: i8) -> Result<Type> {
    let digits = match scale {
        ..0 => precision.saturating_add(scale.unsigned_abs()),
        _ => precision.max(scale.unsigned_abs()),
    };
    let scale = scale.max(0).unsigned_abs();
    match digits <= Type::MOST_DIGITS && scale <= Type::LARGEST_SCALE {
        true => Ok(Type::Decimal(digits, scale)),
        false => Err(unsupported(field)),
    }
}

/// How many digits stand behind the second.
fn fraction(unit: TimeUnit) -> u8 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond | TimeUnit::Nanosecond => 6,
    }
}

fn is_json(field: &Field) -> bool {
    field.extension_type_name() == Some("arrow.json")
}

/// Whether values of one type are those of the other, in another layout at most.
fn is_like(one: &DataType, other: &DataType) -> bool {
    let texts = |data_type: &DataType| matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let bytes = |data_type: &DataType| {
        matches!(
            data_type,
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView
        )
    };
    match (one, other) {
        (one, DataType::Dictionary(_, values)) => is_like(one, values),
        (one, other) => one == other || (texts(one) && texts(other)) || (bytes(one) && bytes(other)),
    }
}

fn unsupported(field: &Field) -> Error {
    Error::Unsupported {
        what: format!("column {}: a column of MySQL for {}", field.name(), field.data_type()),
        hint: "leave the column out, or make it text or columns of its own".to_owned(),
    }
}

/// Types whose values are read and written as texts.
const TEXT_TYPES: [&str; 3] = ["uuid", "inet4", "inet6"];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use super::*;

    #[test]
    fn types_come_back_through_arrow() {
        for name in [
            "tinyint",
            "smallint unsigned",
            "mediumint",
            "mediumint unsigned",
            "int",
            "bigint unsigned",
            "decimal(10,2)",
            "decimal(65,30)",
            "float",
            "double",
            "bit(1)",
            "bit(17)",
            "year",
            "date",
            "time(6)",
            "time",
            "datetime",
            "datetime(3)",
            "timestamp(6)",
            "char(3)",
            "varchar(20)",
            "tinytext",
            "longtext",
            "binary(16)",
            "varbinary(9)",
            "mediumblob",
            "longblob",
            "enum('a','it''s')",
            "set('x','y')",
            "json",
            "point",
            "uuid",
            "inet6",
        ] {
            let field = field("c", &Type::named(name), true);
            assert_eq!(column_type(&field).unwrap().to_string(), name, "{field:?}");
        }
    }

    #[test]
    fn a_type_that_is_told_gives_way_to_values_of_another() {
        let told = |data_type, told: &str| {
            let metadata = HashMap::from([(MYSQL_TYPE.to_owned(), told.to_owned())]);
            let typ = column_type(&Field::new("c", data_type, true).with_metadata(metadata));
            typ.unwrap().to_string()
        };
        assert_eq!(told(DataType::Int32, "inet6"), "int");
        assert_eq!(told(DataType::Utf8View, "inet6"), "inet6");
        assert_eq!(told(DataType::Utf8, "text); DROP TABLE t; --"), "longtext");
        assert_eq!(told(DataType::Utf8, "enum('a'); DROP TABLE t; --"), "enum('a')");
        assert_eq!(told(DataType::Utf8, "colour); DROP TABLE t; --"), "longtext");
    }

    #[test]
    fn what_has_no_column_is_named() {
        for data_type in [
            DataType::Decimal256(76, 0),
            DataType::Decimal128(38, 31),
            DataType::new_list(DataType::Utf8, true),
            DataType::Interval(arrow_schema::IntervalUnit::MonthDayNano),
        ] {
            let error = column_type(&Field::new("deep", data_type, true))
                .unwrap_err()
                .to_string();
            assert!(error.contains("deep"), "{error}");
        }
    }
}
