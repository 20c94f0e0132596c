//! Types that a format does not support.

use arrow_schema::{DataType, Schema};

use crate::format::Format;
use crate::{Error, Result};

/// Refuses a column for which the format's writer would panic, or fail after the first rows. Other unsupported types are refused by the
/// writer itself.
///
/// # Errors
///
/// [`Error::Unsupported`] with the first such column.
pub(crate) fn refuse_unwritable(schema: &Schema, format: Format) -> Result<()> {
    let mut fields = schema.fields().iter();
    match fields.find_map(|field| Some((field, missing_in(format, field.data_type())?))) {
        None => Ok(()),
        Some((field, what)) => Err(Error::Unsupported {
            what: format!("column {}: {what} in {format}", field.name()),
            hint: "leave it out or cast it in a SELECT, or write arrow or native".to_owned(),
        }),
    }
}

/// The unsupported type within a type, if there is one (`arrow_to_parquet_type` of parquet 59; the encoders of arrow-json and arrow-csv
/// 59).
fn missing_in(format: Format, data_type: &DataType) -> Option<String> {
    let within = |data_type| missing_in(format, data_type);
    let is_missing = match format {
        Format::Parquet => matches!(
            data_type,
            DataType::Union(..)
                | DataType::ListView(_)
                | DataType::LargeListView(_)
                | DataType::Interval(_)
                | DataType::RunEndEncoded(..)
        ),
        Format::Csv(_) | Format::JsonLines => matches!(data_type, DataType::Union(..)),
        _ => false,
    };
    if is_missing {
        return Some(format!("a value of type {data_type}"));
    }
    match data_type {
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::FixedSizeList(field, _)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::Map(field, _) => within(field.data_type()),
        DataType::Struct(fields) => fields.iter().find_map(|field| within(field.data_type())),
        DataType::Dictionary(_, values) => within(values),
        DataType::RunEndEncoded(_, values) => within(values.data_type()),
        _ => None,
    }
}
