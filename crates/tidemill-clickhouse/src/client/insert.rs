//! Inserts: batches in, blocks out.
//!
//! What waits to be sent is shared with a task that looks at the clock, when there is an interval: it sends while the writer
//! does something else. What it fails at is told by the next call.

use std::{
    future::{Future, IntoFuture},
    pin::Pin,
    sync::{Arc, Weak},
    time::Duration,
};

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use serde::Serialize;
use tokio::{
    sync::Mutex,
    task::AbortHandle,
    time::{Instant, sleep_until},
};
use tracing::{Instrument, Span};

use super::{
    Client, QuerySummary, Request, RowInsert, bind,
    cancel::CancelHandle,
    clocks::{self, Deadline},
    pool::Pooled,
    session,
    trace::{insert_span, record_error, record_server},
};
use crate::{
    Block, BlockEncoder, BlockError, Compression, DataType, Error, Result,
    packet::{
        client::{Query, SettingValue},
        server::{BlockKind, ServerPacket},
    },
    rows::RowsBuilder,
    sql_text,
};

/// An insert that is prepared. Awaiting it begins it.
#[derive(Clone, Debug)]
#[must_use = "an insert begins when it is awaited"]
pub struct InsertRequest {
    client: Client,
    table: String,
    columns: Vec<String>,
    /// The statement, where it is not made of the table and the columns.
    text: Option<String>,
    query: Query,
    compression: Compression,
    encoder: BlockEncoder,
    rows: usize,
    bytes: usize,
    interval: Option<Duration>,
    roles: Vec<String>,
    deadline: Option<Duration>,
    handle: Option<CancelHandle>,
}

impl InsertRequest {
    pub(super) fn new(client: Client, table: String) -> Self {
        let deadline = client.options().deadline;
        Self {
            compression: client.options().compression,
            query: client.new_query(String::new()),
            client,
            table,
            columns: Vec::new(),
            text: None,
            encoder: BlockEncoder::default(),
            rows: DEFAULT_ROWS,
            bytes: DEFAULT_BYTES,
            interval: None,
            roles: Vec::new(),
            deadline,
            handle: None,
        }
    }

    /// An insert by the statement of `request`, which is `text` without its rows.
    pub(super) fn of_text(request: &Request, text: String, deadline: Option<Duration>) -> Self {
        Self {
            text: Some(text),
            query: (*request.query).clone(),
            compression: request.compression,
            roles: request.roles.clone(),
            deadline,
            handle: request.handle.clone(),
            ..Self::new(request.client.clone(), String::new())
        }
    }

    /// Names the columns to insert; the others get their defaults. Default: all columns of the table.
    pub fn columns<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.columns = columns.into_iter().map(Into::into).collect();
        self
    }

    /// Gives the insert a name. Default: a random one.
    pub fn query_id(mut self, id: impl Into<String>) -> Self {
        self.query.id = id.into();
        self
    }

    /// Sets a setting for this insert, over that of the client.
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<SettingValue>) -> Self {
        self.query.set(name, value);
        self
    }

    /// Lets the server collect small inserts of many clients before it stores them (`async_insert`).
    ///
    /// With `wait`, [`Insert::finish`] returns when the rows are stored; without, as soon as the server has them in memory,
    /// and what goes wrong later is not told. Servers take blocks of this protocol into the collection since 23.10 (pull
    /// request 54730 of ClickHouse); those before it that speak revision 54429 store the rows at once, as ever, and older ones
    /// answer with [`Error::Server`] (115). Default: what the user's profile says.
    pub fn async_insert(self, wait: bool) -> Self {
        self.setting("async_insert", true)
            .setting("wait_for_async_insert", wait)
    }

    /// Names the data of this insert: blocks of an insert of the same name into the same table, in the same order, are not
    /// stored twice (`insert_deduplication_token`). So an insert that failed can be done again.
    ///
    /// It works for tables that keep a window of names: replicated ones, and others with
    /// `non_replicated_deduplication_window`. Blocks are told apart by their number, so both inserts must be cut into the same
    /// blocks. Servers know it since 22.2 (pull request 32304 of ClickHouse), with [`InsertRequest::async_insert`] since 23.7
    /// (52136); those that do not answer with [`Error::Server`] (115).
    pub fn deduplication_token(mut self, token: impl Into<String>) -> Self {
        // A server that ignored it would store rows twice.
        self.query.require("insert_deduplication_token", token.into());
        self
    }

    /// Runs the insert in this time zone, as [`Request::session_time_zone`](super::Request::session_time_zone). Default: the
    /// server's, and UTC in [`Insert::schema`].
    pub fn session_time_zone(mut self, zone: impl Into<String>) -> Self {
        self.query.require(session::TIME_ZONE, zone.into());
        self
    }

    /// Runs the insert with these roles of the user and no others, as [`Request::roles`](super::Request::roles). Default: the
    /// user's default roles.
    pub fn roles<S: Into<String>>(mut self, roles: impl IntoIterator<Item = S>) -> Self {
        self.roles = roles.into_iter().map(Into::into).collect();
        self
    }

    /// [`InsertRequest::roles`] of one role.
    pub fn role(self, role: impl Into<String>) -> Self {
        self.roles([role])
    }

    /// Runs the insert as another user, over a connection of its own that is closed after the insert.
    ///
    /// # Errors
    ///
    /// Those of [`Client::as_user`].
    pub fn user(mut self, user: impl Into<String>, password: impl Into<String>) -> Result<Self> {
        self.client = self.client.as_user(user, password)?;
        Ok(self)
    }

    /// Chooses how blocks of this insert travel.
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Chooses how columns are written where the server understands several ways. Default: as their types are. Which dates
    /// may be written is always what the server's version says.
    pub fn encoder(mut self, encoder: BlockEncoder) -> Self {
        self.encoder = encoder;
        self
    }

    /// Sends a block when so many rows are there; larger batches are sent in pieces of so many. Default: 65,536.
    pub fn rows_per_block(mut self, rows: usize) -> Self {
        self.rows = rows.max(1);
        self
    }

    /// Sends a block when the batches that wait take so much memory. Default: 8 MiB.
    pub fn bytes_per_block(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// Sends what waits no later than so long after the first of it was written, even when nothing more is written.
    /// Default: never.
    ///
    /// A task of the tokio runtime that the insert began in keeps the time. When rows that were sent can be seen is the
    /// server's choice: it puts blocks together until `min_insert_block_size_rows` or `min_insert_block_size_bytes`, which
    /// [`InsertRequest::setting`] can set, and the rest when the insert is finished.
    pub fn interval(mut self, interval: Duration) -> Self {
        self.interval = Some(interval);
        self
    }

    /// Gives the insert up when it has not ended after `limit`, which begins with waiting for a connection. It then fails with
    /// [`Error::Timeout`]; what becomes of the rows that were sent is as for an [`Insert`] that is dropped, and those that
    /// the server has been told the end of may all be stored. Default: that of the client's options.
    pub fn deadline(mut self, limit: Duration) -> Self {
        self.deadline = Some(limit);
        self
    }

    /// Lets `handle` give the insert up, as [`InsertRequest::deadline`] does, with [`Error::Cancelled`]. Default: only that of
    /// [`Insert::cancel_handle`].
    pub fn cancelled_by(mut self, handle: &CancelHandle) -> Self {
        self.handle = Some(handle.clone());
        self
    }

    /// Makes an insert of rows of it: structs, tuples or single values, as in [`rows`](crate::rows).
    pub fn rows<T: ?Sized + Serialize>(self) -> RowInsert<T> {
        RowInsert::new(self)
    }

    /// Whether the columns were named.
    pub(super) fn has_columns(&self) -> bool {
        !self.columns.is_empty()
    }

    /// Begins the insert: the server tells the columns that it expects.
    ///
    /// # Errors
    ///
    /// Those of connecting, and [`Error::Server`] when there is no such table.
    pub async fn begin(mut self) -> Result<Insert> {
        let columns: Vec<_> = self.columns.iter().map(|column| sql_text::name(column)).collect();
        let columns = if columns.is_empty() {
            String::new()
        } else {
            format!(" ({})", columns.join(", "))
        };
        self.query.text = match self.text.take() {
            Some(text) => text,
            None => format!("INSERT INTO {}{columns} VALUES", self.table),
        };
        self.query.is_compressed = self.compression.has_frames();
        let options = self.client.options();
        let span = insert_span(&self.query, &self.table, options);
        if let Some(source) = &options.trace_source {
            source.tell(&mut self.query, &span);
        }
        let deadline = Deadline::in_time(self.deadline);
        // No data were sent: a connection that turns out to be closed may be replaced.
        let begun = match self.begin_once(&span, deadline).instrument(span.clone()).await {
            Err(Error::Closed { .. } | Error::Io { .. }) => {
                self.client.forget_idle();
                self.begin_once(&span, deadline).instrument(span.clone()).await
            }
            other => other,
        };
        if let Err(error) = &begun {
            record_error(&span, error);
        }
        begun
    }

    async fn begin_once(&self, span: &Span, deadline: Option<Deadline>) -> Result<Insert> {
        let mut connection = self.client.pooled_until(&self.roles, deadline).await?;
        record_server(span, || connection.server_address());
        let handle = self.handle.clone().unwrap_or_default();
        connection.watch(handle.clone(), deadline);
        connection.set_strings(self.client.options().strings);
        connection.set_session_zone(session::time_zone(&self.query.settings));
        let query = bind::for_revision(&self.query, connection.protocol.revision())?;
        connection.protocol.query(&query, self.compression)?;
        connection.protocol.end_data()?;
        connection.flush().await?;
        let mut summary = InsertSummary {
            query: QuerySummary {
                query_id: self.query.id.clone(),
                ..QuerySummary::default()
            },
            ..InsertSummary::default()
        };
        let sample = loop {
            match connection.receive().await? {
                ServerPacket::Block { kind, .. } => {
                    let block = connection.block(kind).await?;
                    if connection.cancelled().is_some() {
                        continue;
                    }
                    if kind == BlockKind::Data {
                        break block;
                    }
                    summary.query.take(kind, block);
                }
                ServerPacket::Exception(exception) => connection.ended(Some(exception))?,
                ServerPacket::EndOfStream => {
                    connection.ended(None)?;
                    return Err(Error::Protocol {
                        what: "the answer to an insert",
                        offset: 0,
                        expected: "a block that shows the columns",
                        found: "the end of the stream".to_owned(),
                    });
                }
                other => {
                    if let ServerPacket::TimezoneUpdate(zone) = &other {
                        connection.set_session_zone(Some(zone));
                    }
                    summary.query.hear(&other);
                }
            }
        };
        let running = Running {
            encoder: BlockEncoder {
                calendar: connection.protocol.calendar(),
                ..self.encoder
            },
            connection,
            sample,
            rows: self.rows,
            bytes: self.bytes,
            interval: self.interval,
            waiting: Vec::new(),
            waiting_rows: 0,
            waiting_bytes: 0,
            builder: None,
            first_waits_since: None,
            failed: None,
            summary,
            span: span.clone(),
        };
        Ok(Insert::new(running, handle))
    }
}

impl IntoFuture for InsertRequest {
    type Output = Result<Insert>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.begin())
    }
}

/// An insert that runs.
///
/// It takes batches until [`Insert::finish`]. Dropping it before that closes its connection: what the server made of the
/// blocks until then is the server's choice.
pub struct Insert {
    running: Arc<Mutex<Running>>,
    schema: SchemaRef,
    types: Vec<DataType>,
    query_id: String,
    handle: CancelHandle,
    /// The task that looks at the clock.
    clock: Option<AbortHandle>,
}

/// What an insert has done.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct InsertSummary {
    /// What is known of every query.
    pub query: QuerySummary,
    /// Rows that were sent.
    pub rows: u64,
    /// Blocks that were sent.
    pub blocks: u64,
}

impl Insert {
    fn new(running: Running, handle: CancelHandle) -> Self {
        let interval = running.interval;
        let schema = running.sample.batch.schema();
        let types = running.sample.types.clone();
        let query_id = running.summary.query.query_id.clone();
        let running = Arc::new(Mutex::new(running));
        let clock = interval.map(|interval| tokio::spawn(keep_time(Arc::downgrade(&running), interval)).abort_handle());
        Self {
            running,
            schema,
            types,
            query_id,
            handle,
            clock,
        }
    }

    /// The columns that are expected.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The types of ClickHouse of those columns.
    #[must_use]
    pub fn types(&self) -> &[DataType] {
        &self.types
    }

    /// The insert's name.
    #[must_use]
    pub fn query_id(&self) -> &str {
        &self.query_id
    }

    /// Something that gives the insert up from elsewhere.
    #[must_use]
    pub fn cancel_handle(&self) -> CancelHandle {
        self.handle.clone()
    }

    /// Takes a batch. Its columns are matched by their names, whatever their order.
    ///
    /// # Errors
    ///
    /// [`Error::Block`] for a column that is missing, too many, or of a type that does not fit: then nothing of the batch
    /// is taken, and the insert can continue. [`Error::Block`] for a value that does not fit (`NULL`, out of range),
    /// [`Error::Server`] when the server refused what was sent before, [`Error::Cancelled`] and [`Error::Timeout`] when it was
    /// given up, and those of writing: then the insert has failed. What the clock failed at is told here.
    pub async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.running.lock().await.write(batch).await
    }

    /// Sends what waits.
    ///
    /// # Errors
    ///
    /// Those of [`Insert::write`].
    pub async fn flush(&mut self) -> Result<()> {
        self.running.lock().await.flush().await
    }

    /// Sends what waits and the end, and waits until the server has stored all.
    ///
    /// # Errors
    ///
    /// [`Error::Server`] when the server refused the data, and those of [`Insert::write`].
    pub async fn finish(self) -> Result<InsertSummary> {
        self.running.lock().await.finish().await
    }

    /// The time zone of instants that have none of their own, as the server reads them.
    pub(super) async fn time_zone(&self) -> String {
        let running = self.running.lock().await;
        let time_zone = running.summary.query.time_zone.clone();
        time_zone.unwrap_or_else(|| running.connection.protocol.server().time_zone.clone())
    }

    /// Ends the insert without any rows.
    pub(super) async fn give_up(self) -> Result<InsertSummary> {
        self.finish().await
    }

    /// Prepares to take rows, for the columns that the server expects.
    pub(super) fn take_rows(&mut self) -> Result<()> {
        let names = self.schema.fields().iter().map(|field| field.name().clone());
        let builder = RowsBuilder::new(names.zip(self.types.iter().cloned()))?;
        match Arc::get_mut(&mut self.running) {
            Some(running) => running.get_mut().builder = Some(builder),
            // The clock has a part in it, and looks at it in its own time only.
            None => match self.running.try_lock() {
                Ok(mut running) => running.builder = Some(builder),
                Err(_) => {
                    return Err(Error::Closed {
                        why: "the insert is in use",
                    });
                }
            },
        }
        Ok(())
    }

    /// Takes a row. It is sent with others.
    pub(super) async fn write_row<T: ?Sized + Serialize>(&mut self, row: &T) -> Result<()> {
        // Nobody else has it when nobody looks at the clock.
        if let Some(running) = Arc::get_mut(&mut self.running) {
            let running = running.get_mut();
            if running.push(row)? {
                running.flush().await?;
            }
            return Ok(());
        }
        let is_full = self.running.lock().await.push(row)?;
        if is_full {
            self.flush().await?;
        }
        Ok(())
    }
}

impl Drop for Insert {
    fn drop(&mut self) {
        if let Some(clock) = &self.clock {
            clock.abort();
        }
    }
}

/// Sends what has waited for the interval, until the insert is gone or has failed.
async fn keep_time(running: Weak<Mutex<Running>>, interval: Duration) {
    let interval = interval.min(clocks::LONGEST);
    let mut next = Instant::now() + interval;
    loop {
        sleep_until(next).await;
        let Some(running) = running.upgrade() else { return };
        let mut running = running.lock().await;
        let now = Instant::now();
        next = running.first_waits_since.unwrap_or(now) + interval;
        if next > now {
            continue;
        }
        next = now + interval;
        if let Err(error) = running.flush().await {
            running.failed = Some(Failed::Untold(error));
            return;
        }
    }
}

/// The state of an insert.
struct Running {
    connection: Pooled,
    /// No rows, and the columns that the server expects.
    sample: Block,
    encoder: BlockEncoder,
    rows: usize,
    bytes: usize,
    interval: Option<Duration>,
    waiting: Vec<RecordBatch>,
    waiting_rows: usize,
    waiting_bytes: usize,
    /// Rows that wait, for an insert of rows.
    builder: Option<RowsBuilder>,
    first_waits_since: Option<Instant>,
    failed: Option<Failed>,
    summary: InsertSummary,
    span: Span,
}

/// What became of an insert that failed.
enum Failed {
    Untold(Error),
    Told,
}

impl Running {
    /// Refuses to continue after a failure, and tells that of the clock.
    fn check(&mut self) -> Result<()> {
        match self.failed.take() {
            None => Ok(()),
            Some(failed) => {
                self.failed = Some(Failed::Told);
                Err(match failed {
                    Failed::Untold(error) => error,
                    Failed::Told => Error::Closed {
                        why: "rows of the insert could not be sent before, or were not waited for",
                    },
                })
            }
        }
    }

    fn begin_to_wait(&mut self) {
        if self.interval.is_some() && self.first_waits_since.is_none() {
            self.first_waits_since = Some(Instant::now());
        }
    }

    /// Takes a row: whether there are enough to send them.
    fn push<T: ?Sized + Serialize>(&mut self, row: &T) -> Result<bool> {
        self.check()?;
        let Some(builder) = &mut self.builder else {
            return Err(Error::Closed {
                why: "the insert takes no rows",
            });
        };
        builder.push(row)?;
        let rows = builder.len();
        // To look at the size of every column at every row would take as long as the row.
        let is_large = rows.is_multiple_of(ROWS_PER_LOOK) && builder.size() >= self.bytes;
        self.begin_to_wait();
        Ok(rows >= self.rows || is_large)
    }

    async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.check()?;
        let batch = self.arranged(batch)?;
        self.probe(&batch)?;
        self.waiting_rows += batch.num_rows();
        self.waiting_bytes += batch.get_array_memory_size();
        self.waiting.push(batch);
        self.begin_to_wait();
        if self.waiting_rows >= self.rows || self.waiting_bytes >= self.bytes {
            self.flush().await?;
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<()> {
        self.check()?;
        self.first_waits_since = None;
        (self.waiting_rows, self.waiting_bytes) = (0, 0);
        let mut waiting = std::mem::take(&mut self.waiting);
        if let Some(builder) = &mut self.builder
            && !builder.is_empty()
        {
            waiting.push(builder.finish()?.batch);
        }
        let batch = match waiting.as_slice() {
            [] => return Ok(()),
            [batch] => batch.clone(),
            [first, ..] => concat_batches(&first.schema(), &waiting)?,
        };
        drop(waiting);
        // Until all is sent: rows of it are missing when sending fails, or nobody waits for its end.
        self.failed = Some(Failed::Told);
        let mut begin = 0;
        while begin < batch.num_rows() {
            let rows = self.rows.min(batch.num_rows() - begin);
            self.send(&batch.slice(begin, rows)).await?;
            begin += rows;
        }
        self.failed = None;
        Ok(())
    }

    async fn finish(&mut self) -> Result<InsertSummary> {
        self.flush().await?;
        self.heed()?;
        self.connection.protocol.end_data()?;
        if let Err(error) = self.connection.flush().await {
            return Err(self.refusal(error).await);
        }
        while !self.receive().await? {}
        self.span.record("rows", self.summary.rows);
        Ok(std::mem::take(&mut self.summary))
    }

    /// Gives the insert up when it is to end. While rows are being sent the server takes a cancellation for the end of them, so
    /// it is not told.
    fn heed(&mut self) -> Result<()> {
        match self.connection.is_to_end() {
            None => Ok(()),
            Some(why) => {
                self.connection.protocol.close("the insert was given up");
                Err(why.error())
            }
        }
    }

    async fn send(&mut self, batch: &RecordBatch) -> Result<()> {
        self.heed()?;
        let (encoder, types) = (self.encoder, &self.sample.types);
        let put = self.connection.protocol.put_block("", |revision, bytes| {
            encoder.encode_batch(batch, types, revision, bytes)
        });
        if let Err(error) = put {
            // Rows of it were taken before: without them the insert must not end well.
            self.connection
                .protocol
                .close("a batch of the insert could not be encoded");
            return Err(error.behind_rows(self.summary.rows));
        }
        if let Err(error) = self.connection.flush().await {
            return Err(self.refusal(error).await);
        }
        self.summary.rows += batch.num_rows() as u64;
        self.summary.blocks += 1;
        // The server may say something while it is sent to: it is heard before it cannot continue.
        while self.connection.has_received() {
            self.heed()?;
            if self.receive().await? {
                return Err(Error::Protocol {
                    what: "the answer to an insert",
                    offset: 0,
                    expected: "the end of the stream after the end of the data",
                    found: "the end of the stream".to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Hears a packet: whether it was the end.
    async fn receive(&mut self) -> Result<bool> {
        match self.connection.receive().await? {
            ServerPacket::Block { kind, .. } => {
                let block = self.connection.block(kind).await?;
                self.summary.query.take(kind, block);
            }
            ServerPacket::Exception(exception) => {
                let ended = self.connection.ended(Some(exception));
                if let Err(error) = &ended {
                    record_error(&self.span, error);
                }
                return ended.map(|()| true);
            }
            ServerPacket::EndOfStream => return self.connection.ended(None).map(|()| true),
            other => self.summary.query.hear(&other),
        }
        Ok(false)
    }

    /// The exception that made the server close the connection, if it said one; `error` otherwise.
    async fn refusal(&mut self, error: Error) -> Error {
        if self.connection.is_to_end().is_some() {
            return error;
        }
        match self.connection.last_words().await {
            Some(exception) => Error::Server(exception),
            None => error,
        }
    }

    /// The columns of `batch` in the server's order.
    fn arranged(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let expected = self.sample.batch.schema_ref();
        let found = batch.schema_ref();
        if let Some(more) = found
            .fields()
            .iter()
            .find(|field| expected.index_of(field.name()).is_err())
        {
            return Err(mismatch(more.name(), "one of the table's columns", "another one"));
        }
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(expected.fields().len());
        let mut fields = Vec::with_capacity(expected.fields().len());
        for field in expected.fields() {
            let Ok(at) = found.index_of(field.name()) else {
                return Err(mismatch(field.name(), "a column of the batch", "none"));
            };
            let column = batch.column(at);
            columns.push(Arc::clone(column));
            // Batches are put together whether or not each of them says that it has nulls.
            fields.push(Field::new(field.name(), column.data_type().clone(), true));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(
            Arc::new(Schema::new(fields)),
            columns,
            &options,
        )?)
    }

    /// Encodes a row, so that a type that does not fit shows before anything is taken, and concatenates with what waits.
    fn probe(&self, batch: &RecordBatch) -> Result<()> {
        if let Some(waiting) = self.waiting.first() {
            for (a, b) in waiting.schema_ref().fields().iter().zip(batch.schema_ref().fields()) {
                if a.data_type() != b.data_type() {
                    return Err(Error::Arrow(ArrowError::SchemaError(format!(
                        "column `{}` was {} in the batch before and is {}; flush between them",
                        a.name(),
                        a.data_type(),
                        b.data_type()
                    ))));
                }
            }
        }
        let revision = self.connection.protocol.revision();
        let row = batch.slice(0, batch.num_rows().min(1));
        let encoded = self
            .encoder
            .encode_batch(&row, &self.sample.types, revision, &mut Vec::new());
        encoded.map_err(|error| error.behind_rows(self.summary.rows + self.waiting_rows as u64))
    }
}

impl std::fmt::Debug for Insert {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Insert")
            .field("query_id", &self.query_id)
            .field("types", &self.types)
            .finish_non_exhaustive()
    }
}

fn mismatch(column: &str, expected: &str, found: &str) -> Error {
    Error::Block(Box::new(BlockError {
        column: column.to_owned(),
        row: None,
        what: "a batch to insert",
        offset: 0,
        expected: expected.to_owned(),
        found: found.to_owned(),
    }))
}

const DEFAULT_ROWS: usize = 1 << 16;
const DEFAULT_BYTES: usize = 8 << 20;
/// How many rows may come before the size of all is looked at.
const ROWS_PER_LOOK: usize = 16;
