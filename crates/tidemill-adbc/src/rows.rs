//! Rows that a program takes batch by batch.

use std::sync::Arc;

use adbc_core::error::{Error, Result};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use tidemill_sql::Answer;

use crate::cancel::Work;

/// The rows of a statement, or of several runs of it one behind another. They are read as they are taken.
pub(crate) struct Rows<N> {
    work: Work,
    schema: SchemaRef,
    current: Option<Answer>,
    /// The answer of the next run.
    next: N,
}

impl<N: FnMut(&mut Work) -> Result<Option<Answer>>> Rows<N> {
    pub(crate) fn new(mut work: Work, mut next: N) -> Result<Self> {
        let current = next(&mut work)?;
        Ok(Self {
            schema: current
                .as_ref()
                .map_or_else(|| Arc::new(arrow_schema::Schema::empty()), Answer::schema),
            work,
            current,
            next,
        })
    }

    fn advance(&mut self) -> Result<Option<RecordBatch>> {
        while let Some(answer) = &mut self.current {
            if let Some(batch) = self.work.run(answer.next())? {
                return Ok(Some(batch));
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
            // Nothing comes behind an error.
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

/// A batch that is there already.
pub(crate) fn of_batch(batch: RecordBatch) -> Box<dyn RecordBatchReader + Send> {
    let schema = batch.schema();
    Box::new(arrow_array::RecordBatchIterator::new([Ok(batch)], schema))
}

fn external(error: Error) -> ArrowError {
    ArrowError::ExternalError(Box::new(error))
}
