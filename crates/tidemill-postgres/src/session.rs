//! Statements of the user's own.

use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::BytesMut;
use futures::StreamExt;
use tokio_postgres::types::{Format, FromSql, IsNull, ToSql, Type as WireType};
use tokio_postgres::{Row, RowStream, Statement};

use crate::client::{Client, Lease};
use crate::data_type::Type;
use crate::decode::Decoder;
use crate::error::{Error, Result};
use crate::read::{BatchLimits, schema_of, types};
use crate::sql_text::quoted;
use crate::statements::{self, keyword};

/// A connection of one's own, on which statements run one after another: what one of them sets, a transaction too, holds for the next.
/// It is closed when the session and what it answered are dropped.
#[derive(Clone)]
pub struct Session {
    client: Client,
    lease: Arc<Lease>,
}

/// What a statement gives.
#[derive(Debug)]
pub enum Answer {
    /// Rows.
    Rows(Rows),
    /// How many rows it changed; `None` of a statement that changes none, such as CREATE TABLE.
    Changed(Option<u64>),
}

/// The rows of a statement, as they come. When it is dropped before the last row, the statement is told to stop, which ends a
/// transaction that it is in.
pub struct Rows {
    session: Session,
    /// Until the last row has come.
    stream: Option<Pin<Box<RowStream>>>,
    schema: SchemaRef,
    decoder: Decoder,
    limits: BatchLimits,
    place: String,
}

impl Client {
    /// A session of its own.
    ///
    /// # Errors
    ///
    /// [`Error::Connect`] when the server lets nobody in.
    pub async fn session(&self) -> Result<Session> {
        Ok(Session {
            client: self.clone(),
            lease: Arc::new(self.lease().await?),
        })
    }

    /// Runs a statement that gives no rows, in a transaction of its own, and tells how many rows it changed: 0 where it changes none.
    ///
    /// # Errors
    ///
    /// [`Error::Server`] when the server refuses it.
    pub async fn execute(&self, statement: &str) -> Result<u64> {
        let lease = self.lease().await?;
        let changed = self
            .within(&shortened(statement), lease.driver().execute(statement, &[]))
            .await?;
        lease.done();
        Ok(changed)
    }
}

impl Session {
    /// Runs statements with `;` between, each when the one before has ended, and gives what the last one gives. Rows of those before
    /// are left out. As in psql, each is a transaction of its own, unless there is a BEGIN.
    ///
    /// # Errors
    ///
    /// [`Error::Server`] of the first statement that fails: those behind it do not run. [`Error::Unsupported`] for COPY from and to the client.
    pub async fn run(&self, text: &str) -> Result<Answer> {
        let mut statements = statements::split(text);
        let last = statements.pop().unwrap_or_default();
        for statement in statements {
            match self.run_one(statement, &[]).await? {
                Answer::Changed(_) => {}
                Answer::Rows(mut rows) => while rows.next().await?.is_some() {},
            }
        }
        self.run_one(last, &[]).await
    }

    /// Runs one statement with the values of `$1`, `$2` and so on as texts, which the server reads as values of the parameters' types. A
    /// `None` is NULL.
    ///
    /// # Errors
    ///
    /// Those of [`Session::run`]; [`Error::Unsupported`] for another number of values than the statement has parameters.
    pub async fn run_with(&self, statement: &str, parameters: &[Option<&str>]) -> Result<Answer> {
        self.run_one(statement, parameters).await
    }

    async fn run_one(&self, text: &str, parameters: &[Option<&str>]) -> Result<Answer> {
        let place = shortened(text);
        let driver = self.lease.driver();
        let keyword = keyword(text);
        if keyword == "copy" && statements::has_word(text, &["stdin", "stdout"]) {
            return Err(Error::Unsupported {
                what: format!("{place}: COPY from and to the client"),
                hint: "tidemill copy fills and reads tables".to_owned(),
            });
        }
        let statement = self.client.within(&place, driver.prepare(text)).await?;
        if statement.params().len() != parameters.len() {
            let (needed, found) = (statement.params().len(), parameters.len());
            return Err(Error::Unsupported {
                what: format!("{place}: {found} values for {needed} parameters"),
                hint: "give one value for each of $1, $2 and so on".to_owned(),
            });
        }
        if statement.columns().is_empty() && !["select", "values", "table"].contains(&keyword.as_str()) {
            let values = parameters.iter().copied().map(Parameter);
            let changed = self
                .client
                .within(&place, driver.execute_raw(&statement, values))
                .await?;
            let counts = ["insert", "update", "delete", "merge", "with", "copy", "move"];
            return Ok(Answer::Changed(counts.contains(&keyword.as_str()).then_some(changed)));
        }
        let statement = self.with_texts(statement, text, &keyword).await?;
        let (schema, types) = (schema_of(&statement), types(&statement));
        let unrepresentable = self.client.options().unrepresentable;
        let decoder = Decoder::new(Arc::clone(&schema), &types, place.clone(), unrepresentable)?;
        let values = parameters.iter().copied().map(Parameter);
        let stream = self.client.within(&place, driver.query_raw(&statement, values)).await?;
        Ok(Answer::Rows(Rows {
            session: self.clone(),
            stream: Some(Box::pin(stream)),
            schema,
            decoder,
            limits: BatchLimits::default(),
            place,
        }))
    }

    /// The statement whose columns of types that have no form of bytes here are cast to text, where it is a query.
    async fn with_texts(&self, statement: Statement, text: &str, keyword: &str) -> Result<Statement> {
        let types = types(&statement);
        let is_query = ["select", "values", "table", "with"].contains(&keyword);
        if !is_query || types.iter().all(Type::is_known) {
            return Ok(statement);
        }
        // Names of columns may be there twice.
        let names: Vec<String> = (0..types.len()).map(|number| format!("c{number}")).collect();
        let columns = statement.columns().iter().zip(&types).zip(&names);
        let values = columns.map(|((column, typ), name)| {
            let cast = if typ.is_known() { "" } else { "::text" };
            format!("{name}{cast} AS {}", quoted(column.name()))
        });
        let values = values.collect::<Vec<_>>().join(", ");
        let text = format!("SELECT {values} FROM ({text}\n) AS t ({})", names.join(", "));
        match self
            .client
            .within(&shortened(&text), self.lease.driver().prepare(&text))
            .await
        {
            Ok(cast) => Ok(cast),
            // As of a change within the WITH; which column is not read is told.
            Err(Error::Server { .. }) => Ok(statement),
            Err(error) => Err(error),
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

impl Rows {
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

    /// The next rows; `None` when there are no more. No batch is empty.
    ///
    /// # Errors
    ///
    /// Those of [`Read::next`](crate::Read::next).
    pub async fn next(&mut self) -> Result<Option<RecordBatch>> {
        let batch = self.next_batch().await;
        if batch.is_err() {
            self.stop();
        }
        batch
    }

    async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        while let Some(stream) = &mut self.stream {
            let next = async { stream.next().await.transpose() };
            match self.session.client.within(&self.place, next).await? {
                Some(row) => {
                    self.decoder
                        .values((0..row.len()).map(|index| bytes(&row, index, &self.place)))?;
                }
                None => self.stream = None,
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

    fn stop(&mut self) {
        if self.stream.take().is_some() {
            self.session.lease.cancel();
        }
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

pub(crate) fn bytes<'a>(row: &'a Row, index: usize, place: &str) -> Result<Option<&'a [u8]>> {
    let value = row.try_get::<_, Option<Sent<'a>>>(index);
    value
        .map(|value| value.map(|Sent(bytes)| bytes))
        .map_err(|error| Error::of(place, &error))
}

/// A value of any type, as it was sent.
struct Sent<'a>(&'a [u8]);

impl<'a> FromSql<'a> for Sent<'a> {
    fn from_sql(_: &WireType, raw: &'a [u8]) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Self(raw))
    }

    fn accepts(_: &WireType) -> bool {
        true
    }
}

/// A value of any type, as its text.
#[derive(Debug)]
struct Parameter<'a>(Option<&'a str>);

impl ToSql for Parameter<'_> {
    fn to_sql(&self, _: &WireType, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        let Some(text) = self.0 else { return Ok(IsNull::Yes) };
        out.extend_from_slice(text.as_bytes());
        Ok(IsNull::No)
    }

    fn accepts(_: &WireType) -> bool {
        true
    }

    fn encode_format(&self, _: &WireType) -> Format {
        Format::Text
    }

    fn to_sql_checked(&self, typ: &WireType, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        self.to_sql(typ, out)
    }
}

/// The begin of a statement, as errors name it.
pub(crate) fn shortened(statement: &str) -> String {
    const LONGEST: usize = 60;
    let words = statement.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", words.get(..end).unwrap_or_default()),
        None => words,
    }
}
