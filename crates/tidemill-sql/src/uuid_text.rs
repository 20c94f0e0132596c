//! UUIDs as text, for text formats: in Arrow they are sixteen bytes (`arrow.uuid`, Arrow's canonical extension types).

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use uuid::Uuid;

/// The batch with each UUID column as text, such as `67e55044-10b1-426f-9247-bb680e5fe0c8`. UUIDs within lists and structs are unchanged.
///
/// # Errors
///
/// Errors of Arrow.
pub fn with_uuids_as_text(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let schema = batch.schema_ref();
    if !schema.fields().iter().any(|field| is_uuid(field)) {
        return Ok(batch.clone());
    }
    let mut fields = Vec::new();
    let mut columns: Vec<ArrayRef> = Vec::new();
    for (field, column) in schema.fields().iter().zip(batch.columns()) {
        if is_uuid(field) {
            let texts = column.as_fixed_size_binary().iter().map(|value| {
                let bytes = value.and_then(|value| value.try_into().ok());
                bytes.map(|bytes| Uuid::from_bytes(bytes).to_string())
            });
            columns.push(Arc::new(texts.collect::<StringArray>()));
            fields.push(Arc::new(Field::new(field.name(), DataType::Utf8, field.is_nullable())));
        } else {
            columns.push(Arc::clone(column));
            fields.push(Arc::clone(field));
        }
    }
    let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(schema), columns, &options)
}

/// Whether a column has UUIDs.
pub(crate) fn is_uuid(field: &Field) -> bool {
    *field.data_type() == DataType::FixedSizeBinary(16) && field.extension_type_name() == Some("arrow.uuid")
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use arrow_array::FixedSizeBinaryArray;

    use super::*;

    #[test]
    fn uuids_are_text_and_other_bytes_stay() {
        let bytes: Vec<u8> = (0..16).collect();
        let values = FixedSizeBinaryArray::try_from_sparse_iter_with_size([Some(bytes), None].into_iter(), 16);
        let values: ArrayRef = Arc::new(values.expect("an array"));
        let plain = Field::new("b", DataType::FixedSizeBinary(16), true);
        let named = HashMap::from([("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned())]);
        let schema = Schema::new(vec![plain.clone().with_name("u").with_metadata(named), plain]);
        let batch = RecordBatch::try_new(Arc::new(schema), vec![Arc::clone(&values), values]).expect("a batch");
        let shown = with_uuids_as_text(&batch).expect("a batch");
        let texts = shown.column(0).as_string::<i32>();
        assert_eq!(
            texts.iter().collect::<Vec<_>>(),
            [Some("00010203-0405-0607-0809-0a0b0c0d0e0f"), None]
        );
        assert_eq!(shown.column(1).data_type(), &DataType::FixedSizeBinary(16));
    }
}
