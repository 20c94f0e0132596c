//! Reading the rows of a query.

use std::pin::Pin;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use bytes::Bytes;
use futures::{FutureExt, StreamExt};
use tokio_postgres::{CopyOutStream, Statement};

use crate::arrow_type;
use crate::client::{Client, Lease};
use crate::data_type::Type;
use crate::decode::{Decoder, reads_into};
use crate::error::{Error, Result};

/// The rows of a query, as they come. When it is dropped before the last row, the server is told to stop.
///
/// One query has one snapshot of the database: what others write meanwhile is not in its rows.
pub struct Read {
    client: Client,
    /// Until the last row has come.
    running: Option<Running>,
    schema: SchemaRef,
    decoder: Decoder,
    place: String,
    limits: BatchLimits,
    received_bytes: u64,
}

struct Running {
    lease: Lease,
    rows: Pin<Box<CopyOutStream>>,
}

/// When a batch is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchLimits {
    /// Rows, at least 1. Default: 8192.
    pub rows: usize,
    /// About how many bytes of memory: a batch ends with the row that reaches them. Default: 16 MiB.
    pub bytes: usize,
}

impl Default for BatchLimits {
    fn default() -> Self {
        Self {
            rows: 8192,
            bytes: 16 << 20,
        }
    }
}

impl Read {
    /// Has the server run a query, and waits for its first rows: the server sends nothing before it has some kilobytes, or all.
    ///
    /// The query is a SELECT, or VALUES, or a change with RETURNING: what `COPY (…) TO` takes. Its columns have the types of
    /// [`arrow_type::field`]. With a schema they must be those of the schema: the fields' names are not compared, and values where
    /// the schema has no NULL are checked. `place` is what errors call the rows: a table's URL, or the statement.
    ///
    /// # Errors
    ///
    /// [`Error::Server`] when the server refuses the query; [`Error::Unsupported`] for columns of other types than the schema's, and for those
    /// that this crate reads as text and the query does not cast to text.
    pub async fn begin(client: &Client, place: &str, query: &str, schema: Option<&SchemaRef>) -> Result<Self> {
        let doing = format!("{place}: reading");
        let lease = client.lease().await?;
        let statement = client.within(&doing, lease.driver().prepare(query)).await?;
        Self::begin_on(client, lease, place, query, &statement, schema).await
    }

    pub(crate) async fn begin_on(
        client: &Client,
        lease: Lease,
        place: &str,
        query: &str,
        statement: &Statement,
        schema: Option<&SchemaRef>,
    ) -> Result<Self> {
        let doing = format!("{place}: reading");
        let types = types(statement);
        let schema = match schema {
            Some(schema) => {
                check(place, schema, &types)?;
                Arc::clone(schema)
            }
            None => schema_of(statement),
        };
        let unrepresentable = client.options().unrepresentable;
        let decoder = Decoder::new(Arc::clone(&schema), &types, place.to_owned(), unrepresentable)?;
        // Behind a comment at the query's end there is a new line.
        let copy = format!("COPY ({query}\n) TO STDOUT (FORMAT binary)");
        let rows = client.within(&doing, lease.driver().copy_out(&copy)).await?;
        Ok(Self {
            client: client.clone(),
            running: Some(Running {
                lease,
                rows: Box::pin(rows),
            }),
            schema,
            decoder,
            place: place.to_owned(),
            limits: BatchLimits::default(),
            received_bytes: 0,
        })
    }

    /// With other limits of batches.
    #[must_use]
    pub fn with_limits(mut self, limits: BatchLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The columns of the batches.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// How many bytes of rows have come so far.
    #[must_use]
    pub fn received_bytes(&self) -> u64 {
        self.received_bytes
    }

    /// The next rows; `None` when there are no more. No batch is empty.
    ///
    /// # Errors
    ///
    /// [`Error::Value`] for a value that Arrow's type does not have, or whose bytes are not those of its type; [`Error::Corrupt`] for rows
    /// that are none; [`Error::Server`], [`Error::Broken`] and [`Error::Timeout`]. The server is then told to stop, and there are no
    /// more rows.
    pub async fn next(&mut self) -> Result<Option<RecordBatch>> {
        let batch = self.next_batch().await;
        if batch.is_err() {
            self.running = None;
        }
        batch
    }

    async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        while let Some(running) = &mut self.running {
            // Most rows are there already, and need no clock.
            let bytes = match running.rows.next().now_or_never() {
                Some(bytes) => bytes
                    .transpose()
                    .map_err(|error| Error::of(format!("{}: reading", self.place), &error))?,
                None => wait(&self.client, &self.place, &mut running.rows).await?,
            };
            match bytes {
                Some(bytes) => {
                    self.received_bytes += bytes.len() as u64;
                    self.decoder.feed(&bytes)?;
                }
                None => {
                    self.decoder.finish()?;
                    if let Some(running) = self.running.take() {
                        running.lease.done();
                    }
                }
            }
            let (rows, size) = self.decoder.pending();
            if rows >= self.limits.rows.max(1) || size >= self.limits.bytes {
                return self.decoder.batch().map(Some);
            }
        }
        match self.decoder.pending() {
            (0, _) => Ok(None),
            _ => self.decoder.batch().map(Some),
        }
    }
}

impl std::fmt::Debug for Read {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Read")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

async fn wait(client: &Client, place: &str, rows: &mut Pin<Box<CopyOutStream>>) -> Result<Option<Bytes>> {
    let next = async { rows.next().await.transpose() };
    client.within(&format!("{place}: reading"), next).await
}

/// The types of a statement's columns.
pub(crate) fn types(statement: &Statement) -> Vec<Type> {
    let columns = statement.columns().iter();
    columns
        .map(|column| Type::of_wire(column.type_(), column.type_modifier()))
        .collect()
}

/// The columns of a statement: any may be null.
pub(crate) fn schema_of(statement: &Statement) -> SchemaRef {
    let columns = statement.columns().iter().zip(types(statement));
    let fields = columns.map(|(column, typ)| arrow_type::field(column.name(), &typ, true));
    Arc::new(Schema::new(fields.collect::<Vec<Field>>()))
}

fn check(place: &str, schema: &SchemaRef, types: &[Type]) -> Result<()> {
    let wrong = |what: String| {
        Err(Error::Unsupported {
            what: format!("{place}: {what}"),
            hint: "the table was changed since it was looked at, or the query is for other columns".to_owned(),
        })
    };
    if schema.fields().len() != types.len() {
        return wrong(format!(
            "{} columns where {} were expected",
            types.len(),
            schema.fields().len()
        ));
    }
    for (field, typ) in schema.fields().iter().zip(types) {
        if !reads_into(typ, field.data_type()) {
            return wrong(format!(
                "column {}: reading {typ} as {}",
                field.name(),
                field.data_type()
            ));
        }
    }
    Ok(())
}
