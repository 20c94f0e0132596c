//! Types that are written: those of literals, and those that CAST and CONVERT name.

use sqlparser::ast;

use crate::sql::error::{Error, Kind, Result};
use crate::sql::value::{Type, Value, parse_date, parse_time, parse_timestamp};

/// `DATE '…'`, `{d '…'}` and their like.
pub(super) fn typed_literal(data_type: &ast::DataType, text: &str) -> Result<Value> {
    let value = match data_type {
        ast::DataType::Date => parse_date(text).map(Value::Date),
        ast::DataType::Time(..) => parse_time(text).map(Value::Time),
        ast::DataType::Timestamp(..) | ast::DataType::Datetime(..) => parse_timestamp(text).map(Value::Timestamp),
        other => {
            return Err(Error::new(
                Kind::Unsupported,
                format!("ADS SQL has no literals of the type {other}"),
            ));
        }
    };
    value.ok_or_else(|| Error::new(Kind::Value, format!("Invalid literal: {data_type} '{text}'")))
}

/// The type that CAST and CONVERT name, and the length of its texts.
pub(super) fn cast_type(text: &str) -> Result<(Type, u32)> {
    let (name, rest) = text.split_once('(').unwrap_or((text, ""));
    let mut numbers = rest
        .trim_end_matches(')')
        .split(',')
        .map(|number| number.trim().parse::<u32>().ok());
    let (length, decimals) = (numbers.next().flatten(), numbers.next().flatten());
    let name = name.trim().to_ascii_uppercase();
    let type_of = match name.strip_prefix("SQL_").unwrap_or(&name) {
        "CHAR" | "VARCHAR" | "WCHAR" | "WVARCHAR" | "CICHAR" | "NCHAR" | "NVARCHAR" | "STRING" | "CHARACTER" => {
            Type::Text(0)
        }
        "LONGVARCHAR" | "WLONGVARCHAR" | "MEMO" => Type::Memo,
        "BINARY" | "VARBINARY" | "LONGVARBINARY" | "RAW" | "BLOB" => Type::Bytes,
        "BIT" | "LOGICAL" | "BOOLEAN" => Type::Logical,
        "INTEGER" | "INT" | "SMALLINT" | "SHORT" | "BIGINT" | "LONGINT" | "TINYINT" | "AUTOINC" => Type::Integer,
        "DOUBLE" | "FLOAT" | "REAL" | "CURDOUBLE" => Type::Double,
        "NUMERIC" | "DECIMAL" => match decimals {
            Some(decimals) => Type::Decimal(u8::try_from(decimals.min(30)).unwrap_or(30)),
            None if length.is_some() => Type::Integer,
            None => Type::Double,
        },
        "MONEY" => Type::Decimal(4),
        "DATE" => Type::Date,
        "TIME" => Type::Time,
        "TIMESTAMP" | "DATETIME" => Type::Timestamp,
        other => return Err(Error::new(Kind::Type, format!("No type to convert to: {other}"))),
    };
    Ok((type_of, length.unwrap_or(0)))
}
