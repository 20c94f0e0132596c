//! Rows of record batches as objects of a script.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;
use rune::runtime::{Bytes, Object};
use rune::{Value, alloc};

use crate::context::Failure;

/// Appends the rows of `batch`, whose columns get the names that `name` gives them. Numbers, texts, truth values and bytes are what they are, NULL is `None`, a list is a list, and everything
/// else (dates, decimals, nested types) is its text.
pub(super) fn append(
    batch: &RecordBatch,
    name: impl Fn(&str) -> String,
    rows: &mut alloc::Vec<Value>,
) -> Result<(), Failure> {
    let schema = batch.schema();
    let names: Vec<String> = schema.fields().iter().map(|field| name(field.name())).collect();
    let options = FormatOptions::default();
    for row in 0..batch.num_rows() {
        let mut object = Object::with_capacity(batch.num_columns()).map_err(Failure::memory)?;
        for (name, column) in names.iter().zip(batch.columns()) {
            let value = value(column.as_ref(), row, &options)?;
            let name = alloc::String::try_from(name.as_str()).map_err(Failure::memory)?;
            object.insert(name, value).map_err(Failure::memory)?;
        }
        rows.try_push(Value::new(object).map_err(Failure::memory)?)
            .map_err(Failure::memory)?;
    }
    Ok(())
}

fn value(column: &dyn Array, row: usize, options: &FormatOptions<'_>) -> Result<Value, Failure> {
    if column.is_null(row) {
        return Value::new(None::<Value>).map_err(Failure::memory);
    }
    Ok(match column.data_type() {
        DataType::Boolean => Value::from(column.as_boolean().value(row)),
        DataType::Int8 => integer(column.as_primitive::<Int8Type>().value(row)),
        DataType::Int16 => integer(column.as_primitive::<Int16Type>().value(row)),
        DataType::Int32 => integer(column.as_primitive::<Int32Type>().value(row)),
        DataType::Int64 => integer(column.as_primitive::<Int64Type>().value(row)),
        DataType::UInt8 => integer(column.as_primitive::<UInt8Type>().value(row)),
        DataType::UInt16 => integer(column.as_primitive::<UInt16Type>().value(row)),
        DataType::UInt32 => integer(column.as_primitive::<UInt32Type>().value(row)),
        DataType::UInt64 => {
            let number = column.as_primitive::<UInt64Type>().value(row);
            i64::try_from(number).map_or_else(|_| Value::from(number), Value::from)
        }
        DataType::Float32 => Value::from(f64::from(column.as_primitive::<Float32Type>().value(row))),
        DataType::Float64 => Value::from(column.as_primitive::<Float64Type>().value(row)),
        DataType::Utf8 => text(column.as_string::<i32>().value(row))?,
        DataType::LargeUtf8 => text(column.as_string::<i64>().value(row))?,
        DataType::Binary => bytes(column.as_binary::<i32>().value(row))?,
        DataType::LargeBinary => bytes(column.as_binary::<i64>().value(row))?,
        DataType::FixedSizeBinary(_) => bytes(column.as_fixed_size_binary().value(row))?,
        DataType::List(_) => {
            let items = column.as_list::<i32>().value(row);
            let mut list = alloc::Vec::try_with_capacity(items.len()).map_err(Failure::memory)?;
            for item in 0..items.len() {
                list.try_push(value(items.as_ref(), item, options)?)
                    .map_err(Failure::memory)?;
            }
            Value::vec(list).map_err(Failure::memory)?
        }
        _ => match ArrayFormatter::try_new(column, options) {
            Ok(formatter) => text(&formatter.value(row).to_string())?,
            Err(e) => text(&e.to_string())?,
        },
    })
}

fn integer(number: impl Into<i64>) -> Value {
    Value::from(number.into())
}

fn text(text: &str) -> Result<Value, Failure> {
    let text = alloc::String::try_from(text).map_err(Failure::memory)?;
    Value::new(text).map_err(Failure::memory)
}

fn bytes(bytes: &[u8]) -> Result<Value, Failure> {
    let mut copy = alloc::Vec::try_with_capacity(bytes.len()).map_err(Failure::memory)?;
    copy.try_extend_from_slice(bytes).map_err(Failure::memory)?;
    Value::new(Bytes::from_vec(copy)).map_err(Failure::memory)
}
