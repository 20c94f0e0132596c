//! Rows that the caller fetches in batches.

use std::sync::Arc;

use adbc_core::error::{Error, Result};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use tidemill_sql::{Answer, cast_batch, for_programs};

use crate::cancel::Work;
use crate::error::of_session;
use crate::outcome;

/// The rows of a statement, or of all its runs in order. A batch is read when the caller asks for it. All batches have the same schema.
pub(crate) struct Rows<N> {
    work: Work,
    schema: SchemaRef,
    current: Option<Answer>,
    /// Starts the next run.
    next: N,
}

impl<N: FnMut(&mut Work) -> Result<Option<Answer>>> Rows<N> {
    /// Rows whose schema is that of the first run.
    pub(crate) fn new(mut work: Work, mut next: N) -> Result<Self> {
        let current = next(&mut work)?;
        let schema = current.as_ref().map(Answer::schema);
        let schema = schema.map_or_else(|| Arc::new(Schema::empty()), |schema| for_programs(&schema));
        Ok(Self {
            work,
            schema,
            current,
            next,
        })
    }

    /// Rows converted to a given schema.
    pub(crate) fn of_schema(work: Work, schema: SchemaRef, next: N) -> Result<Self> {
        let mut rows = Self::new(work, next)?;
        rows.schema = for_programs(&schema);
        Ok(rows)
    }

    fn advance(&mut self) -> Result<Option<RecordBatch>> {
        while let Some(answer) = &mut self.current {
            if let Some(batch) = self.work.run(answer.next())? {
                return cast_batch(&batch, &self.schema).map(Some).map_err(of_session);
            }
            self.current = (self.next)(&mut self.work)?;
        }
        Ok(None)
    }
}

impl<N: FnMut(&mut Work) -> Result<Option<Answer>>> Iterator for Rows<N> {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.advance().transpose()?;
        if batch.is_err() {
            // An error ends the stream.
            self.current = None;
        }
        Some(batch.map_err(external))
    }
}

impl<N: FnMut(&mut Work) -> Result<Option<Answer>>> RecordBatchReader for Rows<N> {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// The rows of a batch in memory.
pub(crate) fn of_batch(batch: RecordBatch) -> Box<dyn RecordBatchReader + Send> {
    let schema = batch.schema();
    Box::new(arrow_array::RecordBatchIterator::new([Ok(batch)], schema))
}

/// No rows and no columns: the result of a change.
pub(crate) fn none() -> Box<dyn RecordBatchReader + Send> {
    Box::new(arrow_array::RecordBatchIterator::new([], Arc::new(Schema::empty())))
}

/// An error of the Arrow stream; its status and details are stored in [`outcome`].
fn external(error: Error) -> ArrowError {
    outcome::set_error(error.clone());
    ArrowError::ExternalError(Box::new(error))
}
