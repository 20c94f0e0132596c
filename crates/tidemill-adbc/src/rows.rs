//! Rows that a program takes batch by batch.

use std::collections::HashMap;
use std::sync::Arc;

use adbc_core::error::{Error, Result};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use tidemill_sql::{Answer, cast_batch};

use crate::cancel::Work;
use crate::error::of_session;
use crate::outcome;

/// The rows of a statement, or of all its runs in order. Each batch is read when the program asks for it. All batches have the same schema.
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
        let schema = current.as_ref().map(Answer::schema);
        let schema = schema.map_or_else(|| Arc::new(Schema::empty()), |schema| for_programs(&schema));
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

/// Where a column's type at a ClickHouse server is, for programs: they take an extension type that they do not know for another type.
const CLICKHOUSE_TYPE: &str = "clickhouse.type";
/// The extension type by which the engine knows it.
const CLICKHOUSE_EXTENSION: &str = "tidemill.clickhouse";

/// A schema in which no column is of an extension type that only this project knows.
pub(crate) fn for_programs(schema: &SchemaRef) -> SchemaRef {
    renamed(schema, |metadata| {
        if metadata.get(EXTENSION_TYPE_NAME_KEY).map(String::as_str) == Some(CLICKHOUSE_EXTENSION) {
            metadata.remove(EXTENSION_TYPE_NAME_KEY);
            if let Some(data_type) = metadata.remove(EXTENSION_TYPE_METADATA_KEY) {
                metadata.insert(CLICKHOUSE_TYPE.to_owned(), data_type);
            }
        }
    })
}

/// The schema that [`for_programs`] was given, of rows that come back.
pub(crate) fn from_programs(schema: &SchemaRef) -> SchemaRef {
    renamed(schema, |metadata| {
        if let Some(data_type) = metadata.remove(CLICKHOUSE_TYPE) {
            metadata.insert(EXTENSION_TYPE_NAME_KEY.to_owned(), CLICKHOUSE_EXTENSION.to_owned());
            metadata.insert(EXTENSION_TYPE_METADATA_KEY.to_owned(), data_type);
        }
    })
}

fn renamed(schema: &SchemaRef, change: impl Fn(&mut HashMap<String, String>)) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| {
        let mut metadata = field.metadata().clone();
        change(&mut metadata);
        field.as_ref().clone().with_metadata(metadata)
    });
    let fields: Vec<Field> = fields.collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
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
