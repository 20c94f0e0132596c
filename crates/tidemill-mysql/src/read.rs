//! Reading the rows of a query.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::arrow_type;
use crate::client::{Client, Lease};
use crate::column_definition::ColumnDefinition;
use crate::connection::{Answer, Connection, Done, Sent};
use crate::decode::Decoder;
use crate::error::{Error, Fault, Result};

/// The rows of a query, as they come. When it is dropped before the last row, the server is told to stop.
///
/// In tables of InnoDB one query has one snapshot: what others write meanwhile is not in its rows.
pub struct Read {
    client: Client,
    /// Until the last row has come.
    lease: Option<Lease>,
    /// Whether nobody else is to have the connection, since a statement may have set something on it.
    is_closed: bool,
    rows: Rows,
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
    /// Has the server run a query, and waits for the first answer.
    ///
    /// The query is a SELECT, or whatever else a prepared statement gives rows for. Its columns have the types of [`arrow_type::field`].
    /// With a schema they must be those of the schema: the fields' names are not compared, and values where the schema has no NULL are
    /// checked. `place` is what errors call the rows: a table's URL, or the statement.
    ///
    /// # Errors
    ///
    /// [`Error::Server`] when the server refuses the query; [`Error::Unsupported`] for columns of other types than the schema's, and for a
    /// statement that gives no rows.
    pub async fn begin(client: &Client, place: &str, query: &str, schema: Option<&SchemaRef>) -> Result<Self> {
        let doing = format!("{place}: reading");
        let mut lease = client.lease().await?;
        let connection = lease.connection()?;
        let columns = client.within(&doing, run(connection, query)).await?;
        let columns = columns.ok_or_else(|| Error::Unsupported {
            what: format!("{place}: reading the rows of a statement that gives none"),
            hint: "run it in a session".to_owned(),
        })?;
        Self::of_columns(client, lease, place, &columns, schema)
    }

    /// The rows that come over a connection.
    pub(crate) fn of_columns(
        client: &Client,
        lease: Lease,
        place: &str,
        columns: &[ColumnDefinition],
        schema: Option<&SchemaRef>,
    ) -> Result<Self> {
        Ok(Self {
            rows: Rows::new(client, place, columns, schema)?,
            client: client.clone(),
            lease: Some(lease),
            is_closed: false,
        })
    }

    /// The connection is closed behind the last row.
    pub(crate) fn closing(self) -> Self {
        Self {
            is_closed: true,
            ..self
        }
    }

    /// With other limits of batches.
    #[must_use]
    pub fn with_limits(mut self, limits: BatchLimits) -> Self {
        self.rows.limits = limits;
        self
    }

    /// The columns of the batches.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.rows.schema
    }

    /// The next rows; `None` when there are no more. No batch is empty.
    ///
    /// # Errors
    ///
    /// [`Error::Value`] for a value that Arrow's type does not have, or whose bytes are not those of its type; [`Error::Corrupt`] for rows
    /// that are none; [`Error::Server`], [`Error::Broken`] and [`Error::Timeout`]. The server is then told to stop, and there are no
    /// more rows.
    pub async fn next(&mut self) -> Result<Option<RecordBatch>> {
        let Some(mut lease) = self.lease.take() else {
            return Ok(None);
        };
        let (batch, end) = self.rows.next(&self.client, lease.connection()?).await?;
        match end {
            Some(_) if self.is_closed => lease.close(),
            Some(_) => lease.done(),
            None => self.lease = Some(lease),
        }
        Ok(batch)
    }
}

impl std::fmt::Debug for Read {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Read")
            .field("place", &self.rows.place)
            .finish_non_exhaustive()
    }
}

/// Runs a query as a prepared statement, and gives the columns of its rows.
async fn run(connection: &mut Connection, query: &str) -> Result<Option<Vec<ColumnDefinition>>, Fault> {
    let statement = connection.prepare(query).await?;
    match connection.run(&statement).await? {
        Answer::Columns(columns) => Ok(Some(columns)),
        Answer::Done(_) | Answer::File => Ok(None),
    }
}

/// The rows that come over a connection.
pub(crate) struct Rows {
    pub(crate) schema: SchemaRef,
    decoder: Decoder,
    pub(crate) place: String,
    pub(crate) limits: BatchLimits,
}

impl Rows {
    pub(crate) fn new(
        client: &Client,
        place: &str,
        columns: &[ColumnDefinition],
        schema: Option<&SchemaRef>,
    ) -> Result<Self> {
        let schema = match schema {
            Some(schema) => {
                check(place, schema, columns)?;
                Arc::clone(schema)
            }
            None => schema_of(columns),
        };
        let unrepresentable = client.options().unrepresentable;
        Ok(Self {
            decoder: Decoder::new(Arc::clone(&schema), columns, place.to_owned(), unrepresentable)?,
            schema,
            place: place.to_owned(),
            limits: BatchLimits::default(),
        })
    }

    /// The next rows, and the end of them where they are the last.
    pub(crate) async fn next(
        &mut self,
        client: &Client,
        connection: &mut Connection,
    ) -> Result<(Option<RecordBatch>, Option<Done>)> {
        let doing = || format!("{}: reading", self.place);
        let end = loop {
            let (rows, size) = self.decoder.pending();
            if rows >= self.limits.rows.max(1) || size >= self.limits.bytes {
                break None;
            }
            // Most rows are there already, and need no clock.
            match connection.sent().map_err(|fault| Error::of(doing(), fault))? {
                Some(Sent::Row(payload)) => self.decoder.row(payload)?,
                Some(Sent::End(done)) => {
                    break Some(client.within(&doing(), connection.skip_further(done)).await?);
                }
                None => client.within(&doing(), connection.fill()).await?,
            }
        };
        match self.decoder.pending() {
            (0, _) => Ok((None, end)),
            _ => Ok((Some(self.decoder.batch()?), end)),
        }
    }
}

/// What no catalogue of tables has.
const MOST_TEXTS: usize = 64 << 20;

/// The rows of a query of this crate's own, as texts.
pub(crate) async fn texts(
    client: &Client,
    connection: &mut Connection,
    doing: &str,
    query: &str,
) -> Result<Vec<Vec<Option<String>>>> {
    let statement = client.within(doing, connection.prepare(query)).await?;
    let (mut texts, mut bytes) = (Vec::new(), 0_usize);
    if let Answer::Columns(columns) = client.within(doing, connection.run(&statement)).await? {
        let mut rows = Rows::new(client, doing, &columns, None)?;
        loop {
            let (batch, end) = rows.next(client, connection).await?;
            if let Some(batch) = batch {
                bytes = bytes.saturating_add(batch.get_array_memory_size());
                if bytes > MOST_TEXTS {
                    return Err(Error::Broken {
                        doing: doing.to_owned(),
                        what: "the server sent more than 64 MiB".to_owned(),
                    });
                }
                let columns = batch.columns().iter().map(|column| cast(column, &DataType::Utf8));
                let columns = columns.collect::<Result<Vec<_>, _>>()?;
                texts.extend((0..batch.num_rows()).map(|row| {
                    let cells = columns.iter().map(|column| {
                        let column = column.as_string::<i32>();
                        column.is_valid(row).then(|| column.value(row).to_owned())
                    });
                    cells.collect()
                }));
            }
            if end.is_some() {
                break;
            }
        }
    }
    client.within(doing, connection.close(&statement)).await?;
    Ok(texts)
}

/// The columns of a result: any may be null.
pub(crate) fn schema_of(columns: &[ColumnDefinition]) -> SchemaRef {
    let fields = columns
        .iter()
        .map(|column| arrow_type::field(&column.name, &column.typ(), true));
    Arc::new(Schema::new(fields.collect::<Vec<Field>>()))
}

fn check(place: &str, schema: &SchemaRef, columns: &[ColumnDefinition]) -> Result<()> {
    let wrong = |what: String| {
        Err(Error::Unsupported {
            what: format!("{place}: {what}"),
            hint: "the table was changed since it was looked at, or the query is for other columns".to_owned(),
        })
    };
    let (expected, found) = (schema.fields().len(), columns.len());
    if expected != found {
        return wrong(format!("{found} columns where {expected} were expected"));
    }
    for (field, column) in schema.fields().iter().zip(columns) {
        let typ = column.typ();
        if arrow_type::data_type(&typ) != *field.data_type() {
            return wrong(format!(
                "column {}: reading {typ} as {}",
                field.name(),
                field.data_type()
            ));
        }
    }
    Ok(())
}
