//! Widens decimals of 32 and 64 bits to 128.
//!
//! DataFusion does not compute correctly with the small decimals of ClickHouse and Arrow: it adds a whole number to one as if both were
//! whole, and sums overflow at the column's own precision. In statements and copies every decimal has at least 128 bits.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};

/// The schema with small decimals widened, except within lists and structs.
pub(super) fn widened(schema: &SchemaRef) -> SchemaRef {
    if !schema.fields().iter().any(|field| wide(field.data_type()).is_some()) {
        return Arc::clone(schema);
    }
    let fields = schema.fields().iter().map(|field| match wide(field.data_type()) {
        Some(wide) => Arc::new(Field::clone(field).with_data_type(wide)),
        None => Arc::clone(field),
    });
    Arc::new(Schema::new_with_metadata(
        fields.collect::<Vec<_>>(),
        schema.metadata().clone(),
    ))
}

/// The batch converted to `schema`, which differs only in widened decimals.
#[cfg(any(feature = "adbc", feature = "cassandra", feature = "clickhouse"))]
pub(super) fn widen(batch: arrow_array::RecordBatch, schema: &SchemaRef) -> crate::Result<arrow_array::RecordBatch> {
    if batch.schema_ref() == schema {
        return Ok(batch);
    }
    let columns = batch.columns().iter().map(|column| match wide(column.data_type()) {
        Some(wide) => arrow_cast::cast(column, &wide),
        None => Ok(Arc::clone(column)),
    });
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(arrow_array::RecordBatch::try_new_with_options(
        Arc::clone(schema),
        columns.collect::<Result<_, _>>()?,
        &options,
    )?)
}

/// The widened type of a small decimal; `None` for others.
pub(super) fn wide(data_type: &DataType) -> Option<DataType> {
    match data_type {
        DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) => {
            Some(DataType::Decimal128(*precision, *scale))
        }
        _ => None,
    }
}
