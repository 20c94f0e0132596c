//! Columns of messages from wherever they are, such as a TFRecord file.

use std::{collections::BTreeSet, fmt, sync::Arc};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::fill::{ChunkProblem, Columns, Problem};
use crate::{
    Error, MessageSchema, Result,
    error::{MessageError, RowProblem},
};

/// Makes record batches of messages of a described type that are given to it, with some of the columns of the type.
///
/// ```
/// use arrow_array::{cast::AsArray, types::Int64Type};
/// use tidemill_riegeli::{MessageSchema, columns::MessageColumns, tensorflow_example::ExampleKind};
///
/// let example = ExampleKind::Example.record_type();
/// let schema = MessageSchema::new(&example.descriptors, "tensorflow.Int64List")?;
/// let mut columns = MessageColumns::new(&schema, &[0])?;
/// // {"value": [7, 8]} and {}
/// let batch = columns.batch(&[&b"\n\x02\x07\x08"[..], b""], |record| format!("record {record}"))?;
/// let values = batch.column(0).as_list::<i32>();
/// assert_eq!(values.value(0).as_primitive::<Int64Type>().values(), &[7, 8]);
/// assert_eq!(values.value_length(1), 0);
/// # Ok::<(), tidemill_riegeli::Error>(())
/// ```
pub struct MessageColumns {
    columns: Columns,
    schema: SchemaRef,
    /// Which of the columns that are decoded come one after the other.
    order: Vec<usize>,
}

impl MessageColumns {
    /// Decodes columns of `schema`, by their numbers and in this order.
    ///
    /// # Errors
    /// [`Error::Arrow`] for columns that are not there.
    pub fn new(schema: &MessageSchema, columns: &[usize]) -> Result<Self> {
        let projected = schema.arrow_schema().project(columns).map_err(Error::from)?;
        let wanted: BTreeSet<usize> = columns.iter().copied().collect();
        let place = |column: &usize| wanted.iter().position(|known| known == column);
        let mut decoded = schema.clone();
        decoded.keep(|column| wanted.contains(&column));
        Ok(Self {
            columns: Columns::new(&decoded),
            schema: Arc::new(projected),
            order: columns.iter().filter_map(place).collect(),
        })
    }

    /// Returns the schema of the batches.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns these messages as rows. `place` tells what errors call the message of a number.
    ///
    /// # Errors
    /// [`Error::Message`] for what is no such message, or has text that is not UTF-8; [`Error::Arrow`] when a column exceeds
    /// what its type can hold.
    pub fn batch<R: AsRef<[u8]>, P: fmt::Display>(
        &mut self,
        messages: &[R],
        place: impl Fn(usize) -> P,
    ) -> Result<RecordBatch> {
        for check_texts in [false, true] {
            self.columns.begin_chunk(check_texts);
            // Rows are counted from the last.
            for (row, message) in messages.iter().rev().enumerate() {
                let put = self.columns.put_record(row, message.as_ref());
                put.map_err(|problem| self.error(problem, &place(messages.len().saturating_sub(row + 1))))?;
            }
            match self.columns.end_chunk(messages.len()) {
                Ok(()) => return Ok(self.columns.finish()?.project(&self.order)?),
                // Texts are checked all together. Where that fails a second pass finds the message.
                Err(ChunkProblem::Text) => {}
                Err(ChunkProblem::Rows) => break,
            }
        }
        // No second pass ends so.
        Err(self.error((None, RowProblem::Utf8), &place(0)))
    }

    fn error(&self, (field, problem): Problem, place: &impl fmt::Display) -> Error {
        Error::Message(Box::new(MessageError {
            place: place.to_string(),
            column: field.map(|field| self.columns.plan.path(field)),
            problem,
        }))
    }
}
