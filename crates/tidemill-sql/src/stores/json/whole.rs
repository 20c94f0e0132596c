//! Reads whole numbers of JSON exactly: arrow-json reads `2.7` into a column of whole numbers as 2.

use std::str::FromStr;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Decimal128Type, Int64Type};
use arrow_array::{Array, ArrayRef, ListArray, PrimitiveArray, RecordBatch, RecordBatchOptions, StructArray};
use arrow_json::ReaderBuilder;
use arrow_json::reader::Decoder;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};

/// Decodes records with arrow-json's decoder.
pub(super) struct Records {
    decoder: Decoder,
    schema: SchemaRef,
    has_whole: bool,
}

impl Records {
    /// A strict decoder refuses unknown keys.
    pub(super) fn new(schema: &SchemaRef, batch_rows: usize, is_strict: bool) -> Result<Self, ArrowError> {
        let as_text = Schema::new(with_text(schema.fields()));
        let has_whole = as_text.fields() != schema.fields();
        let decoder = ReaderBuilder::new(Arc::new(as_text))
            .with_batch_size(batch_rows)
            .with_strict_mode(is_strict);
        Ok(Self {
            // A column of numbers and strings is a text column.
            decoder: decoder.with_coerce_primitive(true).build_decoder()?,
            schema: Arc::clone(schema),
            has_whole,
        })
    }

    pub(super) fn decode(&mut self, text: &[u8]) -> Result<usize, ArrowError> {
        self.decoder.decode(text)
    }

    pub(super) fn has_partial_record(&self) -> bool {
        self.decoder.has_partial_record()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.decoder.is_empty()
    }

    pub(super) fn flush(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let Some(batch) = self.decoder.flush()? else {
            return Ok(None);
        };
        if !self.has_whole {
            return Ok(Some(batch));
        }
        let fields = self.schema.fields().iter();
        let columns = fields
            .zip(batch.columns())
            .map(|(field, column)| with_whole(column, field));
        let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let columns = columns.collect::<Result<_, _>>()?;
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &rows).map(Some)
    }
}

/// The fields with text instead of whole numbers.
fn with_text(fields: &Fields) -> Fields {
    fields.iter().map(field_with_text).collect()
}

fn field_with_text(field: &FieldRef) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Int64 | DataType::Decimal128(..) => DataType::Utf8,
        DataType::Struct(fields) => DataType::Struct(with_text(fields)),
        DataType::List(element) => DataType::List(field_with_text(element)),
        _ => return Arc::clone(field),
    };
    Arc::new(Field::clone(field).with_data_type(data_type))
}

/// Parses the text of a column of whole numbers.
fn with_whole(column: &ArrayRef, field: &FieldRef) -> Result<ArrayRef, ArrowError> {
    Ok(match field.data_type() {
        DataType::Int64 => Arc::new(numbers::<Int64Type>(column, field)?),
        DataType::Decimal128(..) => Arc::new(numbers::<Decimal128Type>(column, field)?),
        DataType::Struct(fields) => {
            let column = column.as_struct();
            let members = fields.iter().zip(column.columns());
            let members = members.map(|(field, member)| with_whole(member, field));
            let members = members.collect::<Result<_, _>>()?;
            let nulls = column.nulls().cloned();
            Arc::new(StructArray::try_new_with_length(
                fields.clone(),
                members,
                nulls,
                column.len(),
            )?)
        }
        DataType::List(element) => {
            let column = column.as_list::<i32>();
            let elements = with_whole(column.values(), element)?;
            let (offsets, nulls) = (column.offsets().clone(), column.nulls().cloned());
            Arc::new(ListArray::try_new(Arc::clone(element), offsets, elements, nulls)?)
        }
        _ => Arc::clone(column),
    })
}

fn numbers<T: ArrowPrimitiveType<Native: FromStr + TryFrom<i64>>>(
    column: &ArrayRef,
    field: &Field,
) -> Result<PrimitiveArray<T>, ArrowError> {
    let texts = column.as_string::<i32>();
    let mut numbers = Vec::with_capacity(texts.len());
    for text in texts {
        let Some(text) = text else {
            numbers.push(T::Native::default());
            continue;
        };
        let number = text.parse().ok().or_else(|| whole(text)?.try_into().ok());
        let number = number.ok_or_else(|| {
            let (name, data_type) = (field.name(), field.data_type());
            ArrowError::JsonError(format!(
                "whilst decoding field '{name}': failed to parse {text} as {data_type}"
            ))
        })?;
        numbers.push(number);
    }
    let numbers = PrimitiveArray::<T>::new(numbers.into(), texts.nulls().cloned());
    Ok(numbers.with_data_type(field.data_type().clone()))
}

/// A whole number in another notation, such as `2.0` or `1e3`.
fn whole(text: &str) -> Option<i64> {
    /// From here on not every whole number is exact as floating-point.
    const INEXACT: f64 = 9_007_199_254_740_992.0;
    let value: f64 = text.trim().parse().ok()?;
    let is_whole = value.fract() == 0.0 && value.abs() < INEXACT;
    #[expect(clippy::cast_possible_truncation, reason = "a whole number of less than 53 bits")]
    is_whole.then_some(value as i64)
}
