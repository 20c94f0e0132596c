//! Queries and the streams of their answers.

use std::{
    collections::VecDeque,
    future::{Future, IntoFuture},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use futures::{Stream, stream};
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;
use tracing::{Instrument, Span};

use super::{
    Client, bind,
    cancel::CancelHandle,
    clocks::{Cancelled, Deadline},
    parameter,
    pool::Pooled,
    rows::RowsRequest,
    session,
    trace::{query_span, record_error, record_server},
    transport::Transport,
};
use crate::{
    Block, BlockEncoder, Compression, Error, Result,
    arrow_type::StringType,
    insert_text::InsertText,
    packet::{
        client::{Query, SettingValue, TraceContext},
        server::{BlockKind, ProfileInfo, Progress, ServerPacket},
    },
    sql_text::SqlValue,
};

/// A query that is prepared. Awaiting it is [`Request::stream`].
#[derive(Clone, Debug)]
#[must_use = "a query is sent when it is awaited"]
pub struct Request {
    pub(super) client: Client,
    /// Apart, for a request is moved now and then.
    pub(super) query: Box<Query>,
    pub(super) compression: Compression,
    pub(super) deadline: Option<Duration>,
    pub(super) handle: Option<CancelHandle>,
    external: Vec<(String, Block)>,
    pub(super) roles: Vec<String>,
    strings: StringType,
    collect_limit: u64,
    /// Literals for each `?` of the text.
    bound: Vec<String>,
}

impl Request {
    pub(super) fn new(client: Client, sql: String) -> Self {
        let options = client.options();
        Self {
            compression: options.compression,
            strings: options.strings,
            query: Box::new(client.new_query(sql)),
            deadline: options.deadline,
            collect_limit: options.collect_limit,
            client,
            handle: None,
            external: Vec::new(),
            roles: Vec::new(),
            bound: Vec::new(),
        }
    }

    /// Gives the query a name. Default: a random one.
    pub fn query_id(mut self, id: impl Into<String>) -> Self {
        self.query.id = id.into();
        self
    }

    /// Sets a setting for this query, over that of the client.
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<SettingValue>) -> Self {
        self.query.set(name, value);
        self
    }

    /// Runs the query in this time zone: `DateTime` and `DateTime64` without one of their own are in it, where the server reads
    /// and writes them as text, and in the Arrow types of the answer. The same instants are counted either way.
    ///
    /// It is the setting `session_timezone`, which may be among [`Options::settings`](super::Options::settings) or in a URL as
    /// well. Servers know it since 23.6; those that do not answer with [`Error::Server`] (115). Default: the server's, and UTC
    /// in Arrow.
    pub fn session_time_zone(mut self, zone: impl Into<String>) -> Self {
        self.query.require(session::TIME_ZONE, zone.into());
        self
    }

    /// Puts a value in the place of the next `?` of the text, as a literal: see [`SqlValue`]. A `?` in quotes or a comment is none,
    /// and `??` is a question mark. As soon as a value is bound, there must be as many as there are places: else the query is not
    /// sent, and fails with [`Error::Option`].
    ///
    /// ```no_run
    /// # async fn example(client: tidemill_clickhouse::client::Client) -> tidemill_clickhouse::Result<()> {
    /// use tidemill_clickhouse::sql_text::Identifier;
    ///
    /// let sql = "SELECT count() FROM ? WHERE place = ? AND id IN ?";
    /// let request = client.query(sql).bind(Identifier("tides")).bind("Föhr's").bind([3, 5]);
    /// let count: u64 = request.rows().fetch_one().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn bind(mut self, value: impl SqlValue) -> Self {
        let mut literal = String::new();
        value.write_sql(&mut literal);
        self.bound.push(literal);
        self
    }

    /// Gives the value for `{name:Type}` in the query, as text of the type. The server puts it in place; for servers before 22.8,
    /// which have no parameters, it is put into the text as `CAST('…' AS Type)`.
    ///
    /// Text is taken as it is, whatever is in it: backslashes, tabs, `\N`. Strings inside of arrays, tuples and maps are in
    /// quotes, as in SQL: [`sql_text::string`](crate::sql_text::string) makes them.
    pub fn parameter(self, name: impl Into<String>, value: impl ToString) -> Self {
        let name = name.into();
        let field = parameter::field(&self.query.text, &name, &value.to_string());
        self.escaped_parameter(name, field)
    }

    /// [`Request::parameter`] whose value is NULL, for a `Nullable` type.
    pub fn null_parameter(self, name: impl Into<String>) -> Self {
        self.escaped_parameter(name, parameter::NULL)
    }

    /// [`Request::parameter`] of a value that is already what a field of TSV has: escaped where its type reads escapes, and
    /// `\N` for NULL.
    pub fn escaped_parameter(mut self, name: impl Into<String>, field: impl Into<String>) -> Self {
        self.query.parameters.push((name.into(), field.into()));
        self
    }

    /// Runs the query with these roles of the user and no others. Default: the user's default roles.
    ///
    /// The connection is told by `SET ROLE` in front of the query, unless its last query had the same roles. Servers without
    /// roles, such as 18.16, answer with [`Error::Server`].
    pub fn roles<S: Into<String>>(mut self, roles: impl IntoIterator<Item = S>) -> Self {
        self.roles = roles.into_iter().map(Into::into).collect();
        self
    }

    /// [`Request::roles`] of one role.
    pub fn role(self, role: impl Into<String>) -> Self {
        self.roles([role])
    }

    /// Runs the query as another user, over a connection of its own that is closed after the query. For many queries keep
    /// the client of [`Client::as_user`].
    ///
    /// # Errors
    ///
    /// Those of [`Client::as_user`].
    pub fn user(mut self, user: impl Into<String>, password: impl Into<String>) -> Result<Self> {
        self.client = self.client.as_user(user, password)?;
        Ok(self)
    }

    /// Sends a table along, which the query knows by `name`.
    pub fn external_table(mut self, name: impl Into<String>, block: Block) -> Self {
        self.external.push((name.into(), block));
        self
    }

    /// Cancels the query when it has not ended after `limit`, which begins with waiting for a connection. It then fails with
    /// [`Error::Timeout`], half a second later at most, or after as long again where that is more and the server takes it to stop.
    /// Default: that of the client's options; without one a query whose server continues to send progress has all the time that it
    /// takes.
    pub fn deadline(mut self, limit: Duration) -> Self {
        self.deadline = Some(limit);
        self
    }

    /// Lets [`Request::collect`] and [`RowsRequest::fetch_all`] hold no more memory for rows than so many bytes. Default: that of
    /// the client's options.
    pub fn collect_limit(mut self, bytes: u64) -> Self {
        self.collect_limit = bytes;
        self
    }

    /// Lets `handle` stop the query, also while it waits for its answer. Default: only that of [`QueryStream::cancel_handle`].
    pub fn cancelled_by(mut self, handle: &CancelHandle) -> Self {
        self.handle = Some(handle.clone());
        self
    }

    /// Chooses how blocks of this query travel.
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Chooses what strings of the answer become. Default: that of the client's options. [`StringType::ByContent`] makes
    /// [`Request::stream`] wait for the first rows, which decide it for all of the answer.
    pub fn strings(mut self, strings: StringType) -> Self {
        self.strings = strings;
        self
    }

    /// Makes the query a part of a trace.
    pub fn trace(mut self, trace: TraceContext) -> Self {
        Arc::make_mut(&mut self.query.info).trace = Some(trace);
        self
    }

    /// Sends the query. Its answer comes by the stream; what is wrong with the query is said there too.
    ///
    /// A query that begins with `SELECT`, `SHOW`, `DESCRIBE` or `EXISTS`, or with `WITH` and has no word `INSERT`, is sent once
    /// more, over a new connection, when a connection from the pool turns out to be closed before any answer.
    ///
    /// # Errors
    ///
    /// Those of connecting, [`Error::Option`] for a place without a value, and [`Error::Block`] for external tables that cannot be
    /// encoded. For an `INSERT` with its rows in its text, those of [`Request::execute`].
    pub async fn stream(self) -> Result<QueryStream> {
        let request = self.with_bound()?;
        if let Some(text) = InsertText::parse(&request.query.text)? {
            // Its state is large, and would be a part of that of every query.
            return Box::pin(request.insert_text(text)).await.map(QueryStream::ended);
        }
        let mut stream = QueryStream::send(request).await?;
        stream.header().await?;
        Ok(stream)
    }

    /// Runs the query to its end. Rows that it answers are read and left.
    ///
    /// An `INSERT` may have its rows in its text, as for `clickhouse-client`: `INSERT INTO t VALUES (1, 'a'), (2, now())`, or
    /// `INSERT INTO t FORMAT CSV` and lines after it. A server does not read rows there: they are parsed here and sent as
    /// blocks, all of them or none. The formats are `Values`, `CSV` and `TabSeparated` (alone, `WithNames` and
    /// `WithNamesAndTypes`, whose columns are matched by name where the statement names none) and `JSONEachRow`, whose objects
    /// must all have the same names. Values are as strict as those of [`rows`](crate::rows): nothing is rounded, cut or
    /// wrapped, a `NULL` needs a type that has it, and an empty field of `CSV` is text or `NULL`. Text of an instant without an
    /// offset is in the column's time zone, or else in that of the session or the server. What is no literal in `VALUES` is asked
    /// of the server by a `SELECT` in front of the insert. `DEFAULT` is not read: columns that are not named get their
    /// defaults.
    ///
    /// # Errors
    ///
    /// [`Error::InsertText`] and [`Error::Row`] for rows in the text that cannot be read or do not fit; nothing is stored then.
    /// [`Error::Unsupported`] for other formats, and for an `INSERT` without rows. Those of [`Request::stream`] and
    /// [`QueryStream::next`].
    pub async fn execute(self) -> Result<QuerySummary> {
        let request = self.with_bound()?;
        if let Some(text) = InsertText::parse(&request.query.text)? {
            return Box::pin(request.insert_text(text)).await;
        }
        let mut stream = QueryStream::send(request).await?;
        while stream.next().await?.is_some() {}
        Ok(stream.into_summary())
    }

    /// Runs the query and collects all of its rows.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] beyond [`Request::collect_limit`], and those of [`Request::stream`] and [`QueryStream::next`].
    pub async fn collect(self) -> Result<Vec<RecordBatch>> {
        let mut collected = Collected::new(&self);
        let mut stream = self.stream().await?;
        let mut batches = Vec::new();
        while let Some(batch) = stream.next().await? {
            collected.add(&batch)?;
            batches.push(batch);
        }
        Ok(batches)
    }

    /// Makes a query of typed rows of this one: structs, tuples or single values, as in [`rows`](crate::rows).
    ///
    /// Strings may be any bytes then.
    pub fn rows<T: DeserializeOwned>(self) -> RowsRequest<T> {
        RowsRequest::new(self)
    }

    /// The request with what was bound in its text.
    fn with_bound(mut self) -> Result<Self> {
        if !self.bound.is_empty() {
            self.query.text = bind::positional(&self.query.text, &std::mem::take(&mut self.bound))?;
        }
        Ok(self)
    }

    /// Whether the query changes nothing, as far as its words tell.
    fn may_run_twice(&self) -> bool {
        let mut words = (self.query.text.trim_start())
            .split(|character: char| !(character.is_ascii_alphanumeric() || character == '_'));
        let is = |word: &str, one: &&str| word.eq_ignore_ascii_case(one);
        match words.next() {
            // What follows the common table expressions may be an INSERT.
            Some(word) if is(word, &"with") => !words.any(|word| is(word, &"insert")),
            Some(word) => ["select", "show", "describe", "desc", "exists"]
                .iter()
                .any(|one| is(word, one)),
            None => false,
        }
    }
}

/// The memory of rows that are collected.
#[derive(Clone, Copy)]
pub(super) struct Collected {
    bytes: u64,
    limit: u64,
}

impl Collected {
    pub(super) fn new(request: &Request) -> Self {
        Self {
            bytes: 0,
            limit: request.collect_limit,
        }
    }

    /// Adds that of a batch, which is still there, or of what was made of it.
    pub(super) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        self.bytes = self.bytes.saturating_add(batch.get_array_memory_size() as u64);
        if self.bytes <= self.limit {
            return Ok(());
        }
        Err(Error::Limit {
            what: "the memory of the collected rows (read them one after another, or raise `collect_limit`)",
            limit: self.limit,
            found: self.bytes,
        })
    }
}

impl IntoFuture for Request {
    type Output = Result<QueryStream>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.stream())
    }
}

/// What is known of a query when it has ended.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct QuerySummary {
    /// The query's name.
    pub query_id: String,
    /// What was read and written.
    pub progress: Progress,
    /// Bytes that came of the answer: as they travel, compressed blocks as such; with TLS those inside.
    pub received_bytes: u64,
    /// What it did, if the server told.
    pub profile: Option<ProfileInfo>,
    /// The row of totals, for `WITH TOTALS`.
    pub totals: Option<RecordBatch>,
    /// The rows of minima and maxima, for the setting `extremes`.
    pub extremes: Option<RecordBatch>,
    /// Lines of the server's log, for the setting `send_logs_level`. Only the last 64 blocks are kept, and fewer
    /// where they take more than 8 MiB.
    pub logs: VecDeque<RecordBatch>,
    /// Counters of what the query did. Only the last 64 blocks are kept, and fewer where they take more than 8 MiB.
    pub profile_events: VecDeque<RecordBatch>,
    /// The time zone of the session, if the server told it. When it did so before the columns, instants without one of their
    /// own are in it.
    pub time_zone: Option<String>,
}

/// The answer to a query, block by block.
///
/// Dropping it before the end cancels the query.
pub struct QueryStream {
    /// Given back when the query has ended.
    connection: Option<Pooled>,
    handle: CancelHandle,
    header: Option<Block>,
    /// A block that was read while the header was looked for.
    first: Option<Block>,
    /// Apart, as the query of a request.
    summary: Box<QuerySummary>,
    /// Whether the statement may be one whose rows the server waits for.
    is_insert: bool,
    /// Whether only the first rows say what the columns are.
    waits_for_content: bool,
    /// Until the query has ended.
    span: Span,
    /// Rows that the stream gave.
    rows: u64,
    /// What the connection had received before the query.
    received_before: u64,
}

impl QueryStream {
    /// The answer to a statement that has none.
    fn ended(summary: QuerySummary) -> Self {
        Self {
            connection: None,
            handle: CancelHandle::default(),
            header: None,
            first: None,
            summary: Box::new(summary),
            is_insert: false,
            waits_for_content: false,
            span: Span::none(),
            rows: 0,
            received_before: 0,
        }
    }

    async fn send(mut request: Request) -> Result<Self> {
        let options = request.client.options();
        // As it is sent, so that it need not be copied for that.
        request.query.is_compressed = request.compression.has_frames();
        let span = query_span(&request.query, options);
        if let Some(source) = &options.trace_source {
            source.tell(&mut request.query, &span);
        }
        let sent = Self::send_in(&request, &span).instrument(span.clone()).await;
        if let Err(error) = &sent {
            record_error(&span, error);
        }
        sent
    }

    async fn send_in(request: &Request, span: &Span) -> Result<Self> {
        let may_run_twice = request.may_run_twice();
        let until = Deadline::in_time(request.deadline);
        let mut stream = Self::send_once(request, span, until).await?;
        if may_run_twice && let Some(connection) = &mut stream.connection {
            match connection.wait_for_answer().await {
                Err(Error::Closed { .. } | Error::Io { .. }) => {
                    tracing::debug!("sent again: the connection was closed");
                    stream.connection = None;
                    request.client.forget_idle();
                    stream = Box::pin(Self::send_once(request, span, until)).await?;
                }
                other => other?,
            }
        }
        Ok(stream)
    }

    async fn send_once(request: &Request, span: &Span, deadline: Option<Deadline>) -> Result<Self> {
        let mut connection = request.client.pooled_until(&request.roles, deadline).await?;
        record_server(span, || connection.server_address());
        let handle = request.handle.clone().unwrap_or_default();
        let received_before = connection.received;
        connection.watch(handle.clone(), deadline);
        connection.set_strings(request.strings);
        connection.set_session_zone(session::time_zone(&request.query.settings));
        let query = bind::for_revision(&request.query, connection.protocol.revision())?;
        connection.protocol.query(&query, request.compression)?;
        let encoder = BlockEncoder {
            calendar: connection.protocol.calendar(),
            ..BlockEncoder::default()
        };
        for (name, block) in &request.external {
            let put = connection
                .protocol
                .put_block(name, |revision, bytes| encoder.encode(block, revision, bytes));
            if let Err(error) = put {
                connection.protocol.close("an external table could not be sent");
                return Err(error);
            }
        }
        connection.protocol.end_data()?;
        // Errors of sending show when the answer is read: the server may have said why.
        let sent = connection.flush().await;
        if let Err(error) = sent
            && !request.may_run_twice()
        {
            return Err(error);
        }
        Ok(Self {
            connection: Some(connection),
            handle,
            header: None,
            first: None,
            summary: Box::new(QuerySummary {
                query_id: request.query.id.clone(),
                ..QuerySummary::default()
            }),
            is_insert: is_insert(&request.query.text),
            waits_for_content: request.strings == StringType::ByContent,
            span: span.clone(),
            rows: 0,
            received_before,
        })
    }

    /// The columns of the answer. `None` for a statement that answers no rows.
    #[must_use]
    pub fn schema(&self) -> Option<SchemaRef> {
        self.header.as_ref().map(|block| block.batch.schema())
    }

    /// The block without rows that shows the columns and their types. `None` as for [`QueryStream::schema`].
    #[must_use]
    pub fn header_block(&self) -> Option<&Block> {
        self.header.as_ref()
    }

    /// The query's name.
    #[must_use]
    pub fn query_id(&self) -> &str {
        &self.summary.query_id
    }

    /// How far the query is.
    #[must_use]
    pub fn progress(&self) -> &Progress {
        &self.summary.progress
    }

    /// What is known of the query so far. Totals, extremes and the profile come at its end.
    #[must_use]
    pub fn summary(&self) -> &QuerySummary {
        &self.summary
    }

    /// Ends the use of the stream, cancelling the query if it runs.
    #[must_use]
    pub fn into_summary(mut self) -> QuerySummary {
        std::mem::take(&mut *self.summary)
    }

    /// Something that stops the query from elsewhere.
    #[must_use]
    pub fn cancel_handle(&self) -> CancelHandle {
        self.handle.clone()
    }

    /// Waits for the next rows. `None` when the query has ended as it should.
    ///
    /// When the future is dropped while it waits, and a block had begun to arrive, the query can only be cancelled.
    ///
    /// # Errors
    ///
    /// [`Error::Server`] when the query failed, [`Error::Cancelled`] and [`Error::Timeout`] when it was ended early, and
    /// those of reading: [`Error::Io`], [`Error::Closed`], [`Error::Truncated`], [`Error::Protocol`], [`Error::Block`],
    /// [`Error::Checksum`], [`Error::Limit`]. After those of reading the connection is closed. A stream never ends early
    /// without an error.
    pub async fn next(&mut self) -> Result<Option<RecordBatch>> {
        Ok(self.next_block().await?.map(|block| block.batch))
    }

    /// [`QueryStream::next`] with the types of ClickHouse.
    ///
    /// # Errors
    ///
    /// Those of [`QueryStream::next`].
    pub async fn next_block(&mut self) -> Result<Option<Block>> {
        if let Some(block) = self.first.take() {
            return Ok(Some(block));
        }
        loop {
            match self.data().await? {
                Some(block) if block.rows() == 0 => self.set_header(block),
                other => return Ok(other),
            }
        }
    }

    /// Makes a [`Stream`] of what [`QueryStream::next`] gives. It ends after an error.
    pub fn into_stream(self) -> impl Stream<Item = Result<RecordBatch>> + Send {
        stream::try_unfold(self, |mut stream| async move {
            Ok(stream.next().await?.map(|batch| (batch, stream)))
        })
    }

    /// Hears what has come already, up to the next rows. An error is for nobody.
    pub(super) async fn end_if_received(&mut self) {
        while let Some(connection) = &mut self.connection
            && self.first.is_none()
            && connection.has_received()
        {
            if !matches!(self.data().await, Ok(Some(block)) if block.rows() == 0) {
                return;
            }
        }
    }

    /// Takes the columns of a block without rows. The last block of an answer has none: it is only its end.
    fn set_header(&mut self, block: Block) {
        if self.header.is_none() || block.batch.num_columns() > 0 {
            self.header = Some(block);
        }
    }

    /// Reads up to the block that shows the columns.
    async fn header(&mut self) -> Result<()> {
        let mut next = self.data().await?;
        while self.waits_for_content && next.as_ref().is_some_and(|block| block.rows() == 0) {
            next.into_iter().for_each(|block| self.set_header(block));
            next = self.data().await?;
        }
        match next {
            Some(block) if block.rows() == 0 => self.set_header(block),
            // A server that sends no header: the columns are those of the rows.
            Some(block) => {
                self.header = Some(Block {
                    batch: block.batch.slice(0, 0),
                    types: block.types.clone(),
                    info: block.info.clone(),
                });
                self.first = Some(block);
            }
            None => {}
        }
        Ok(())
    }

    /// The next block of data, with rows or without, and all that comes before it.
    async fn data(&mut self) -> Result<Option<Block>> {
        let data = self.receive().await;
        match &data {
            Ok(Some(block)) => self.rows += block.rows() as u64,
            Ok(None) => {
                self.span.record("db.response.returned_rows", self.rows);
                self.span = Span::none();
            }
            Err(error) => {
                record_error(&self.span, error);
                self.span = Span::none();
            }
        }
        data
    }

    async fn receive(&mut self) -> Result<Option<Block>> {
        loop {
            let Some(connection) = &mut self.connection else {
                return Ok(None);
            };
            let packet = connection.receive().await;
            self.summary.received_bytes = connection.received - self.received_before;
            match packet? {
                ServerPacket::Block { kind, .. } => {
                    let block = connection.block(kind).await?;
                    self.summary.received_bytes = connection.received - self.received_before;
                    if connection.cancelled().is_some() {
                        // For nobody: what still comes is read to its end.
                        continue;
                    }
                    if kind == BlockKind::Data {
                        // The columns of a table to insert into, behind which the server waits for rows.
                        if self.is_insert && block.rows() == 0 && block.batch.num_columns() > 0 {
                            return Err(self.give_no_rows().await);
                        }
                        return Ok(Some(block));
                    }
                    self.summary.take(kind, block);
                }
                ServerPacket::Exception(exception) => {
                    let ended = connection.ended(Some(exception));
                    self.connection = None;
                    return ended.map(|()| None);
                }
                ServerPacket::EndOfStream => {
                    let ended = connection.ended(None);
                    self.connection = None;
                    return ended.map(|()| None);
                }
                other => {
                    // All blocks have the columns of the first.
                    if self.header.is_none()
                        && let ServerPacket::TimezoneUpdate(zone) = &other
                    {
                        connection.set_session_zone(Some(zone));
                    }
                    self.summary.hear(&other);
                }
            }
        }
    }
}

impl QueryStream {
    /// Ends an insert whose rows were to come, without any, so that the connection continues: the error that says what to do.
    async fn give_no_rows(&mut self) -> Error {
        let Some(mut connection) = self.connection.take() else {
            return Error::Cancelled;
        };
        let ended = async {
            connection.protocol.end_data()?;
            connection.flush().await?;
            connection.drain().await?;
            connection.ended(None)
        };
        match ended.await {
            Ok(()) => Error::Unsupported {
                what: "an INSERT without rows".to_owned(),
                hint: "write them behind VALUES or FORMAT CSV, send them by `insert` (or copy a file into the table), or write \
                       INSERT … SELECT",
            },
            Err(error) => error,
        }
    }
}

/// Whether a statement begins with `INSERT`, behind spaces and comments.
fn is_insert(sql: &str) -> bool {
    let mut rest = sql;
    loop {
        rest = rest.trim_start();
        let comment = match rest.as_bytes() {
            [b'-', b'-', ..] | [b'#', ..] => rest.split_once('\n'),
            [b'/', b'*', ..] => rest.split_once("*/"),
            _ => break,
        };
        let Some((_, behind)) = comment else { return false };
        rest = behind;
    }
    rest.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("insert"))
}

impl QuerySummary {
    /// Takes note of a packet that has no block.
    pub(super) fn hear(&mut self, packet: &ServerPacket) {
        match packet {
            ServerPacket::Progress(progress) => self.progress.add(progress),
            ServerPacket::ProfileInfo(profile) => self.profile = Some(*profile),
            ServerPacket::TimezoneUpdate(zone) => self.time_zone = Some(zone.clone()),
            _ => {}
        }
    }

    /// Takes a block that is not data.
    pub(super) fn take(&mut self, kind: BlockKind, block: Block) {
        let queue = match kind {
            BlockKind::Totals if block.rows() > 0 => return self.totals = Some(block.batch),
            BlockKind::Extremes if block.rows() > 0 => return self.extremes = Some(block.batch),
            BlockKind::Log => &mut self.logs,
            BlockKind::ProfileEvents => &mut self.profile_events,
            _ => return,
        };
        if block.rows() > 0 {
            queue.push_back(block.batch);
            let size =
                |queue: &VecDeque<RecordBatch>| queue.iter().map(RecordBatch::get_array_memory_size).sum::<usize>();
            while queue.len() > MAX_KEPT || (queue.len() > 1 && size(queue) > MAX_KEPT_BYTES) {
                queue.pop_front();
            }
        }
    }
}

impl Drop for QueryStream {
    fn drop(&mut self) {
        // What is in the middle of a block cannot be drained: it is closed when it comes back to the pool.
        if let Some(mut connection) = self.connection.take()
            && connection.is_sound()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(async move {
                // Either it is idle then, or closed.
                let _ = stop(&mut connection).await;
            });
        }
    }
}

impl std::fmt::Debug for QueryStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QueryStream")
            .field("summary", &self.summary)
            .finish_non_exhaustive()
    }
}

async fn stop(connection: &mut Transport) -> Result<()> {
    connection.cancel(Cancelled::Drop)?;
    connection.drain().await
}

const MAX_KEPT: usize = 64;
const MAX_KEPT_BYTES: usize = 8 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_insert_is_one_behind_comments_too() {
        for (sql, expected) in [
            ("INSERT INTO t VALUES (1)", true),
            (" \n-- why\n/* a\n b */ # c\ninsert into t", true),
            ("SELECT 'INSERT'", false),
            ("-- INSERT INTO t", false),
            ("/* INSERT", false),
            ("ins", false),
            ("", false),
        ] {
            assert_eq!(is_insert(sql), expected, "{sql}");
        }
    }
}
