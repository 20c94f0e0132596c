//! Rows that come as batches, and not as a statement.

use std::sync::Arc;

use arrow_array::types::{Decimal128Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{ArrayRef, PrimitiveArray, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::{DataType, Field as ArrowField, Schema};
use tidemill_xbase::{Dialect, Field};

use super::change::null::{can_be_null, null_refused};
use super::connection_tables::ConnectionTables;
use super::error::{Error, Kind, Result};
use super::statement::TableName;
use super::tables::Tables as _;
use crate::dictionary::Rights;

impl ConnectionTables<'_> {
    /// Appends the rows of a batch to a table and returns their number. Columns go to the fields of their names, in any case; other
    /// fields are as INSERT leaves them: their default value where a rule has one, else NULL where they can be, else blank, or 0 where
    /// their type has no blank.
    ///
    /// # Errors
    /// [`Kind::NoColumn`] for a column that is no field, [`Kind::Ambiguous`] for two that are the same one, [`Kind::Value`] for a value
    /// that does not fit, [`Kind::Engine`] with [`ErrorCode::NotNullable`](crate::ErrorCode::NotNullable) for NULL where a field can
    /// neither hold it nor a blank; as [`Tables::editor`](super::Tables::editor).
    pub fn append(&mut self, name: &TableName, batch: &RecordBatch) -> Result<u64> {
        self.may(name, Rights::INSERT)?;
        let table = self.editor(name)?;
        let mut arrays: Vec<Option<ArrayRef>> = vec![None; table.fields().len()];
        for (column, array) in batch.schema().fields().iter().zip(batch.columns()) {
            let place = Field::find(table.fields(), column.name());
            let Some(slot) = place.and_then(|place| arrays.get_mut(place)) else {
                let fields = table.fields().iter().map(|field| field.name.clone());
                return Err(Error::no_column(&format!("{} in {name}", column.name()), fields));
            };
            if slot.replace(Arc::clone(array)).is_some() {
                let why = format!("{name} has one field for two columns {}", column.name());
                return Err(Error::new(Kind::Ambiguous, why));
            }
        }
        let given = table.fields().iter().zip(&arrays);
        for (field, _) in given.filter(|(_, array)| array.as_ref().is_some_and(|array| array.null_count() > 0)) {
            if table.header().dialect == Dialect::VisualFoxPro && !can_be_null(field) && !field.has_blank() {
                return Err(null_refused(field, &name.to_string()));
            }
        }
        let rows = batch.num_rows();
        let mut defaulted = table.fields_with_default();
        defaulted.retain(|place| arrays.get(*place).is_some_and(Option::is_none));
        let columns = arrays.into_iter().zip(table.fields()).map(|(array, field)| {
            let array = array.unwrap_or_else(|| absent(field, rows));
            (ArrowField::new(&field.name, array.data_type().clone(), true), array)
        });
        let (fields, arrays): (Vec<ArrowField>, Vec<ArrayRef>) = columns.unzip();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)?;
        let appended = table.append_rows(&batch, &defaulted)?;
        self.changed(name);
        Ok(appended)
    }
}

/// The values of a field that no column is for.
fn absent(field: &Field, rows: usize) -> ArrayRef {
    let data_type = field.data_type();
    let has_no_blank = matches!(field.letter, 'I' | 'B' | 'Y' | '2' | '4');
    if field.nullable || field.autoincrement.is_some() || !has_no_blank {
        return new_null_array(&data_type, rows);
    }
    match &data_type {
        DataType::Int32 => Arc::new(PrimitiveArray::<Int32Type>::from_value(0, rows)),
        DataType::Int64 => Arc::new(PrimitiveArray::<Int64Type>::from_value(0, rows)),
        DataType::Float64 => Arc::new(PrimitiveArray::<Float64Type>::from_value(0.0, rows)),
        DataType::Decimal128(..) => {
            Arc::new(PrimitiveArray::<Decimal128Type>::from_value(0, rows).with_data_type(data_type))
        }
        _ => new_null_array(&data_type, rows),
    }
}
