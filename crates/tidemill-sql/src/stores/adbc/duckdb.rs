//! The types of DuckDB for the columns of a new table ("Data Types", duckdb.org/docs/stable/sql/data_types/overview).

use arrow_schema::{DataType, IntervalUnit, Schema, TimeUnit};

use crate::{Error, Result};

/// The statement that makes a table of this name.
pub(super) fn ddl(table: &str, schema: &Schema) -> Result<String> {
    let columns = schema.fields().iter().map(|field| {
        let data_type = data_type(field.data_type()).ok_or_else(|| Error::Unsupported {
            what: format!("{table}: column {}: {} in DuckDB", field.name(), field.data_type()),
            hint: "cast it to text with a SELECT, or leave it out".to_owned(),
        })?;
        let not_null = if field.is_nullable() { "" } else { " NOT NULL" };
        Ok(format!("{} {data_type}{not_null}", name(field.name())))
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    Ok(crate::ddl::statement(&name(table), columns.into_iter()))
}

fn name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn data_type(arrow: &DataType) -> Option<String> {
    /// Digits of the widest decimal.
    const MAX_PRECISION: u8 = 38;
    use DataType as A;
    let named = match arrow {
        A::Boolean => "BOOLEAN",
        A::Int8 => "TINYINT",
        A::Int16 => "SMALLINT",
        A::Int32 => "INTEGER",
        A::Int64 => "BIGINT",
        A::UInt8 => "UTINYINT",
        A::UInt16 => "USMALLINT",
        A::UInt32 => "UINTEGER",
        A::UInt64 => "UBIGINT",
        A::Float16 | A::Float32 => "FLOAT",
        A::Float64 => "DOUBLE",
        A::Null | A::Utf8 | A::LargeUtf8 | A::Utf8View => "VARCHAR",
        A::Binary | A::LargeBinary | A::BinaryView | A::FixedSizeBinary(_) => "BLOB",
        A::Date32 => "DATE",
        A::Time32(_) | A::Time64(_) => "TIME",
        A::Date64 => "TIMESTAMP_MS",
        A::Timestamp(_, Some(_)) => "TIMESTAMP WITH TIME ZONE",
        A::Timestamp(TimeUnit::Second, None) => "TIMESTAMP_S",
        A::Timestamp(TimeUnit::Millisecond, None) => "TIMESTAMP_MS",
        A::Timestamp(TimeUnit::Microsecond, None) => "TIMESTAMP",
        A::Timestamp(TimeUnit::Nanosecond, None) => "TIMESTAMP_NS",
        A::Interval(IntervalUnit::YearMonth | IntervalUnit::DayTime | IntervalUnit::MonthDayNano) | A::Duration(_) => {
            "INTERVAL"
        }
        A::Decimal32(precision, scale)
        | A::Decimal64(precision, scale)
        | A::Decimal128(precision, scale)
        | A::Decimal256(precision, scale)
            if *precision <= MAX_PRECISION && *scale >= 0 =>
        {
            return Some(format!("DECIMAL({precision}, {scale})"));
        }
        A::Dictionary(_, values) => return data_type(values),
        A::List(item) | A::LargeList(item) | A::ListView(item) => {
            return Some(format!("{}[]", data_type(item.data_type())?));
        }
        A::FixedSizeList(item, length) => return Some(format!("{}[{length}]", data_type(item.data_type())?)),
        A::Struct(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|field| Some(format!("{} {}", name(field.name()), data_type(field.data_type())?)));
            return Some(format!("STRUCT({})", fields.collect::<Option<Vec<_>>>()?.join(", ")));
        }
        A::Map(entries, _) => {
            let A::Struct(fields) = entries.data_type() else {
                return None;
            };
            let types = fields.iter().map(|field| data_type(field.data_type()));
            return Some(format!("MAP({})", types.collect::<Option<Vec<_>>>()?.join(", ")));
        }
        _ => return None,
    };
    Some(named.to_owned())
}
