//! Converts batches to another schema.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::SchemaRef;

use crate::Result;

/// A batch converted to the types, names and metadata of another schema with the same number of columns.
///
/// # Errors
///
/// [`Error::Engine`](crate::Error::Engine) for a value that does not fit the other type.
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::{ArrayRef, Int32Array, RecordBatch};
/// use arrow_schema::{DataType, Field, Schema};
/// use tidemill_sql::cast_batch;
///
/// let batch = RecordBatch::try_from_iter([("n", Arc::new(Int32Array::from(vec![1])) as ArrayRef)]).unwrap();
/// let wide = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, true)]));
/// assert_eq!(cast_batch(&batch, &wide)?.schema(), wide);
/// # Ok::<(), tidemill_sql::Error>(())
/// ```
pub fn cast_batch(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    if batch.schema_ref() == schema {
        return Ok(batch.clone());
    }
    let strict = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    let columns = batch.columns().iter().zip(schema.fields());
    let columns = columns.map(|(column, field)| match column.data_type() == field.data_type() {
        true => Ok(Arc::clone(column)),
        false => cast_with_options(column, field.data_type(), &strict),
    });
    let columns = columns.collect::<std::result::Result<Vec<_>, _>>()?;
    let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &rows)?)
}
