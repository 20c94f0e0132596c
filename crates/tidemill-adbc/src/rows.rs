//! Rows that a program takes batch by batch.

use std::sync::Arc;

use adbc_core::error::{Error, Result};
use arrow_array::{RecordBatch, RecordBatchOptions, RecordBatchReader};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use tidemill_sql::Answer;

use crate::cancel::Work;
use crate::error::invalid;
use crate::outcome;

/// The rows of a statement, or of several runs of it one behind another. They are read as they are taken, and have the types of one
/// schema.
pub(crate) struct Rows<N> {
    work: Work,
    schema: SchemaRef,
    current: Option<Answer>,
    /// The answer of the next run.
    next: N,
}

impl<N: FnMut(&mut Work) -> Result<Option<Answer>>> Rows<N> {
    /// Rows whose schema is that of the first run.
    pub(crate) fn new(mut work: Work, mut next: N) -> Result<Self> {
        let current = next(&mut work)?;
        let schema = current
            .as_ref()
            .map_or_else(|| Arc::new(Schema::empty()), Answer::schema);
        Ok(Self {
            work,
            schema,
            current,
            next,
        })
    }

    /// Rows in the types of a schema that is known.
    pub(crate) fn of_schema(work: Work, schema: SchemaRef, next: N) -> Result<Self> {
        let mut rows = Self::new(work, next)?;
        rows.schema = schema;
        Ok(rows)
    }

    fn advance(&mut self) -> Result<Option<RecordBatch>> {
        while let Some(answer) = &mut self.current {
            if let Some(batch) = self.work.run(answer.next())? {
                return in_types_of(&self.schema, batch).map(Some);
            }
            self.current = (self.next)(&mut self.work)?;
        }
        Ok(None)
    }
}

/// A batch in the types of a schema.
fn in_types_of(schema: &SchemaRef, batch: RecordBatch) -> Result<RecordBatch> {
    if batch.schema_ref() == schema {
        return Ok(batch);
    }
    let strict = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    let columns = batch.columns().iter().zip(schema.fields());
    let columns = columns.map(|(column, field)| cast_with_options(column, field.data_type(), &strict));
    let columns = columns
        .collect::<std::result::Result<Vec<_>, _>>()
        .map_err(|error| invalid(format!("a run gives values of another type than the first: {error}")))?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(
        Arc::clone(schema),
        columns,
        &options,
    )?)
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

/// No rows and no columns: what a statement gives that changes something.
pub(crate) fn none() -> Box<dyn RecordBatchReader + Send> {
    Box::new(arrow_array::RecordBatchIterator::new([], Arc::new(Schema::empty())))
}

/// An error of the Arrow stream, whose status and details are left beside it.
fn external(error: Error) -> ArrowError {
    outcome::set_error(error.clone());
    ArrowError::ExternalError(Box::new(error))
}
