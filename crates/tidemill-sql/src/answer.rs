//! The answer of a statement: rows that are read on demand, or the number of rows that it changed.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Schema, SchemaRef};
use datafusion::common::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::memory::MemoryStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;

use crate::cast::cast_batch;
use crate::scope::Renamed;
use crate::sink::distinct_names;
use crate::{Error, Result, blanks};

/// The rows of a statement, batch by batch.
pub struct Answer {
    stream: SendableRecordBatchStream,
    changed: Option<Changed>,
}

/// The outcome of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    /// How many rows it changed; `None` for a statement that changes no rows, such as CREATE TABLE.
    pub rows: Option<u64>,
}

impl Answer {
    /// The answer of a change, with the number of changed rows if the statement changes rows.
    pub(crate) fn counted(changed: Option<u64>) -> Result<Self> {
        let rows: UInt64Array = changed.into_iter().map(Some).collect();
        let batch = RecordBatch::try_from_iter([("rows", Arc::new(rows) as ArrayRef)])?;
        let schema = batch.schema();
        Ok(Self {
            stream: Box::pin(MemoryStream::try_new(vec![batch], schema, None)?),
            changed: Some(Changed { rows: changed }),
        })
    }

    /// Converts the columns to the types of ADS SQL.
    pub(crate) fn settled(stream: SendableRecordBatchStream) -> Self {
        let schema = blanks::settled_schema(&stream.schema());
        let batches = stream.map({
            let schema = Arc::clone(&schema);
            move |batch| Ok(blanks::settled(&batch?, &schema)?)
        });
        Self::streamed(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }

    /// The same rows in the types of ADS SQL.
    pub(crate) fn with_types_of_ads(self) -> Self {
        Self::settled(self.stream)
    }

    pub(crate) fn streamed(stream: SendableRecordBatchStream) -> Self {
        Self { stream, changed: None }
    }

    /// The same rows with unique column names: the second `id` becomes `id_2`.
    pub(crate) fn with_distinct_names(self) -> Result<Self> {
        match distinct_names(&self.schema()) {
            Some(names) => self.named(&names),
            None => Ok(self),
        }
    }

    /// The same rows with these column names, in order.
    pub(crate) fn named(self, names: &[String]) -> Result<Self> {
        let schema = self.schema();
        if schema.fields().len() != names.len() {
            return Err(Error::Parse {
                message: format!("rows of {} columns for {} columns", schema.fields().len(), names.len()),
            });
        }
        let fields = schema.fields().iter().zip(names);
        let fields = fields.map(|(field, name)| field.as_ref().clone().with_name(name));
        Ok(self.under(Arc::new(Schema::new(fields.collect::<Vec<_>>()))))
    }

    /// Some columns of the rows, by their places.
    pub(crate) fn projected(self, places: &[usize]) -> Result<Self> {
        let schema = Arc::new(self.schema().project(places)?);
        let places = places.to_vec();
        let batches = self.stream.map(move |batch| Ok(batch?.project(&places)?));
        Ok(Self::streamed(Box::pin(RecordBatchStreamAdapter::new(schema, batches))))
    }

    /// The same rows under another schema of the same types.
    pub(crate) fn under(self, schema: SchemaRef) -> Self {
        let batches = self.stream.map({
            let schema = Arc::clone(&schema);
            move |batch| Ok(RecordBatch::try_new(Arc::clone(&schema), batch?.columns().to_vec())?)
        });
        Self::streamed(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }

    /// The same rows with some columns renamed.
    pub(crate) fn renamed(self, renamed: &[Renamed]) -> Result<Self> {
        let schema = self.schema();
        let names = schema.fields().iter().map(|field| {
            let other = renamed.iter().find(|(planned, _)| planned == field.name());
            other.map_or(field.name(), |(_, given)| given).clone()
        });
        self.named(&names.collect::<Vec<_>>())
    }

    /// The same rows with some columns converted, by position. A value that does not fit its new type is an error.
    pub(crate) fn in_types(self, types: &[Option<DataType>]) -> Self {
        let schema = self.schema();
        let fields = schema.fields().iter().enumerate();
        let fields = fields.map(|(place, field)| match types.get(place) {
            Some(Some(data_type)) => field.as_ref().clone().with_data_type(data_type.clone()),
            _ => field.as_ref().clone(),
        });
        let typed = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let batches = self.stream.map({
            let typed = Arc::clone(&typed);
            move |batch| cast_batch(&batch?, &typed).map_err(|error| DataFusionError::External(Box::new(error)))
        });
        Self::streamed(Box::pin(RecordBatchStreamAdapter::new(typed, batches)))
    }

    /// `first`, followed by these rows, which have the same columns.
    pub(crate) fn behind(self, first: RecordBatch) -> Self {
        let schema = self.schema();
        let batches = futures::stream::once(std::future::ready(Ok(first))).chain(self.stream);
        Self::streamed(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }

    /// The outcome of a change; its batches are then one row with the number. `None` for a statement that returns rows.
    pub fn changed(&self) -> Option<Changed> {
        self.changed
    }

    /// Reads all rows into memory.
    ///
    /// # Errors
    ///
    /// As [`Answer::next`].
    pub(crate) async fn in_memory(self) -> Result<Self> {
        let schema = self.schema();
        let batches = self.collect().await?;
        Ok(Self::streamed(Box::pin(MemoryStream::try_new(batches, schema, None)?)))
    }

    /// The columns of the answer, in the spelling of their tables or aliases.
    pub fn schema(&self) -> SchemaRef {
        self.stream.schema()
    }

    /// The next batch, or `None` at the end. A batch may be empty.
    ///
    /// # Errors
    ///
    /// Errors of reading and evaluating; after an error, the answer has ended.
    pub async fn next(&mut self) -> Result<Option<RecordBatch>> {
        Ok(self.stream.next().await.transpose()?)
    }

    /// All batches, for answers that fit into memory.
    ///
    /// # Errors
    ///
    /// As [`Answer::next`].
    pub async fn collect(mut self) -> Result<Vec<RecordBatch>> {
        let mut batches = Vec::new();
        while let Some(batch) = self.next().await? {
            batches.push(batch);
        }
        Ok(batches)
    }
}
