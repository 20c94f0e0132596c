//! Rows of a prepared statement into Arrow's buffers.
//!
//! | bytes | meaning |
//! |---|---|
//! | `0x00` | |
//! | bytes | a bit for each column that is NULL, behind two bits that mean nothing |
//! | bytes | the value of each column that is not: numbers in their width, times behind a length of one byte, all others behind a length |
//!
//! MySQL's manual of the protocol, "Binary Protocol Resultset".

mod values;

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;

use self::values::{Refusal, Values};
use crate::column_definition::{ColumnDefinition, wire};
use crate::error::{Error, Misfit, Result};
use crate::options::Unrepresentable;
use crate::reader::Reader;

/// Takes rows, and gives batches.
pub(crate) struct Decoder {
    schema: SchemaRef,
    columns: Vec<Column>,
    /// The table or the statement, as errors name it.
    place: String,
    unrepresentable: Unrepresentable,
    /// Rows and about how many bytes there are in the batch.
    rows: usize,
    bytes: usize,
    /// Rows of the batches before.
    before: u64,
}

struct Column {
    form: Form,
    values: Values,
    is_nullable: bool,
}

/// How long a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Fixed(usize),
    /// Behind a length.
    Measured,
    /// It is NULL in every row.
    Null,
}

impl Form {
    fn of(wire: u8) -> Self {
        match wire {
            wire::TINY => Self::Fixed(1),
            wire::SHORT | wire::YEAR => Self::Fixed(2),
            wire::LONG | wire::INT24 | wire::FLOAT => Self::Fixed(4),
            wire::LONGLONG | wire::DOUBLE => Self::Fixed(8),
            wire::NULL => Self::Null,
            // The one byte that is the length of a time is the begin of a longer length too.
            _ => Self::Measured,
        }
    }
}

impl Decoder {
    /// A decoder of rows with these columns.
    pub(crate) fn new(
        schema: SchemaRef,
        definitions: &[ColumnDefinition],
        place: String,
        unrepresentable: Unrepresentable,
    ) -> Result<Self> {
        let columns = schema.fields().iter().zip(definitions).map(|(field, definition)| {
            Ok(Column {
                form: Form::of(definition.wire),
                values: Values::new(field, &definition.typ())?,
                is_nullable: field.is_nullable(),
            })
        });
        Ok(Self {
            columns: columns.collect::<Result<_>>()?,
            schema,
            place,
            unrepresentable,
            rows: 0,
            bytes: 0,
            before: 0,
        })
    }

    /// Rows in the batch, and about how many bytes of memory they take.
    pub(crate) fn pending(&self) -> (usize, usize) {
        (self.rows, self.bytes)
    }

    /// Takes a row.
    pub(crate) fn row(&mut self, payload: &[u8]) -> Result<()> {
        let mut reader = Reader::new(payload);
        let bitmap = match reader.u8() {
            Some(0) => reader.bytes((self.columns.len() + 2).div_ceil(8)),
            _ => None,
        };
        let Some(bitmap) = bitmap else {
            return Err(self.corrupt("a row", format!("{} bytes", payload.len())));
        };
        for index in 0..self.columns.len() {
            let bit = index + 2;
            let is_null = bitmap.get(bit / 8).is_some_and(|byte| byte & (1 << (bit % 8)) != 0);
            self.value(index, is_null, &mut reader)?;
        }
        if !reader.rest().is_empty() {
            return Err(self.corrupt(
                "no more",
                format!("{} bytes behind the last value", reader.rest().len()),
            ));
        }
        self.rows += 1;
        Ok(())
    }

    fn value(&mut self, index: usize, is_null: bool, reader: &mut Reader<'_>) -> Result<()> {
        let Some(column) = self.columns.get_mut(index) else {
            return Ok(());
        };
        let value = match (is_null, column.form) {
            (true, _) | (_, Form::Null) => None,
            (false, Form::Fixed(length)) => Some(reader.bytes(length)),
            (false, Form::Measured) => Some(reader.length_encoded_bytes()),
        };
        let taken = match value {
            Some(Some(bytes)) => column.values.append(bytes),
            Some(None) => Err(Misfit::new("a value", "the end of the row").into()),
            None if column.is_nullable => {
                column.values.append_null();
                Ok(1)
            }
            None => Err(Misfit::new("a value", "NULL, which the column does not take").into()),
        };
        let misfit = match taken {
            Ok(size) => {
                self.bytes += size;
                return Ok(());
            }
            Err(Refusal::Unrepresentable(_)) if column.is_nullable && self.unrepresentable == Unrepresentable::Null => {
                column.values.append_null();
                self.bytes += 1;
                return Ok(());
            }
            Err(Refusal::Unrepresentable(misfit) | Refusal::Corrupt(misfit)) => misfit,
        };
        let name = self.schema.fields().get(index).map_or("", |field| field.name());
        Err(misfit.at(&self.place, self.row_number(), name))
    }

    /// The rows since the last batch.
    pub(crate) fn batch(&mut self) -> Result<RecordBatch> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        self.before += rows as u64;
        let columns = self.columns.iter_mut().map(|column| column.values.finish()).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(
            Arc::clone(&self.schema),
            columns,
            &options,
        )?)
    }

    fn row_number(&self) -> u64 {
        self.before + self.rows as u64 + 1
    }

    fn corrupt(&self, expected: &str, found: String) -> Error {
        Error::Corrupt {
            place: self.place.clone(),
            row: self.row_number(),
            expected: expected.to_owned(),
            found,
        }
    }
}

#[cfg(test)]
mod tests;
