//! The client for programs without tokio.
//!
//! It is [`crate::client`] with a runtime of its own. Each call runs in the thread that makes it.
//!
//! ```no_run
//! use tidemill_clickhouse::blocking::Client;
//!
//! let client = Client::connect("clickhouse://localhost:9000/default")?;
//! for batch in client.query("SELECT number FROM system.numbers LIMIT 100000")? {
//!     println!("{} rows", batch?.num_rows());
//! }
//! # Ok::<(), tidemill_clickhouse::Error>(())
//! ```
//!
//! An insert with an interval is sent by a thread of its own while the caller does something else, and so is a query that was
//! dropped early read to its end.
//!
//! It cannot be used in asynchronous code: a thread of a runtime may not wait for another.

mod calls;

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use serde::{Serialize, de::DeserializeOwned};

use self::calls::Calls;
use crate::{
    DataType, Result,
    client::{self, CancelHandle, InsertRequest, InsertSummary, Options, QuerySummary, Request, RowsRequest},
    packet::{
        TableName,
        server::{ServerHello, TableStatus},
    },
};

/// A client of one or several equal servers. Clones share its connections.
#[derive(Clone, Debug)]
pub struct Client {
    client: client::Client,
    calls: Arc<Calls>,
}

impl Client {
    /// [`client::Client::connect`].
    ///
    /// # Errors
    ///
    /// Those of [`client::Client::connect`], and [`Error::Io`](crate::Error::Io) when the system has no way to watch sockets.
    pub fn connect(url: &str) -> Result<Self> {
        Self::with_options(url.parse()?)
    }

    /// [`client::Client::with_options`].
    ///
    /// # Errors
    ///
    /// Those of [`client::Client::with_options`], and [`Error::Io`](crate::Error::Io) when the system has no way to watch sockets.
    pub fn with_options(options: Options) -> Result<Self> {
        let calls = Calls::new()?;
        Ok(Self {
            client: calls.wait(client::Client::with_options(options))?,
            calls,
        })
    }

    /// Sends a query. The result is an iterator over its rows.
    ///
    /// # Errors
    ///
    /// Those of [`Request::stream`].
    pub fn query(&self, sql: impl Into<String>) -> Result<QueryStream> {
        self.query_with(sql, |request| request)
    }

    /// Sends a query that `prepare` gives settings, parameters, a deadline and the like.
    ///
    /// # Errors
    ///
    /// Those of [`Request::stream`].
    pub fn query_with(&self, sql: impl Into<String>, prepare: impl FnOnce(Request) -> Request) -> Result<QueryStream> {
        let request = prepare(self.client.query(sql));
        let stream = self.calls.wait(request.stream())?;
        Ok(QueryStream {
            header: stream.schema(),
            summary: QuerySummary::default(),
            handle: stream.cancel_handle(),
            stream: Some(stream),
            calls: Arc::clone(&self.calls),
        })
    }

    /// Prepares a query whose rows are `T`s, as [`client::Client::query_as`].
    pub fn query_as<T: DeserializeOwned>(&self, sql: impl Into<String>) -> RowQuery<T> {
        RowQuery {
            request: self.client.query_as(sql),
            calls: Arc::clone(&self.calls),
        }
    }

    /// Prepares an insert of rows into `table`, as [`client::Client::insert_rows`].
    pub fn insert_rows<T: ?Sized + Serialize>(&self, table: impl Into<String>) -> RowInsert<T> {
        self.insert_rows_with(table, |request| request)
    }

    /// Prepares an insert of rows that `prepare` gives columns, settings and the like.
    pub fn insert_rows_with<T: ?Sized + Serialize>(
        &self,
        table: impl Into<String>,
        prepare: impl FnOnce(InsertRequest) -> InsertRequest,
    ) -> RowInsert<T> {
        RowInsert {
            insert: prepare(self.client.insert(table)).rows(),
            calls: Arc::clone(&self.calls),
        }
    }

    /// Runs a statement to its end.
    ///
    /// # Errors
    ///
    /// Those of [`Request::execute`].
    pub fn execute(&self, sql: impl Into<String>) -> Result<QuerySummary> {
        self.calls.wait(self.client.execute(sql))
    }

    /// Begins an insert into `table`, which is written as in SQL.
    ///
    /// # Errors
    ///
    /// Those of [`InsertRequest::begin`].
    pub fn insert(&self, table: impl Into<String>) -> Result<Insert> {
        self.insert_with(table, |request| request)
    }

    /// Begins an insert that `prepare` gives columns, settings and the like.
    ///
    /// # Errors
    ///
    /// Those of [`InsertRequest::begin`].
    pub fn insert_with(
        &self,
        table: impl Into<String>,
        prepare: impl FnOnce(InsertRequest) -> InsertRequest,
    ) -> Result<Insert> {
        let request = prepare(self.client.insert(table));
        let insert = self.calls.wait(request.begin())?;
        Ok(Insert {
            insert,
            calls: Arc::clone(&self.calls),
        })
    }

    /// [`client::Client::as_user`]. Its calls run in the threads that make them, as those of this client do.
    ///
    /// # Errors
    ///
    /// Those of [`client::Client::as_user`].
    pub fn as_user(&self, user: impl Into<String>, password: impl Into<String>) -> Result<Self> {
        Ok(Self {
            client: self.client.as_user(user, password)?,
            calls: Arc::clone(&self.calls),
        })
    }

    /// [`client::Client::session`].
    ///
    /// # Errors
    ///
    /// Those of [`client::Client::session`].
    pub fn session(&self) -> Result<Self> {
        Ok(Self {
            client: self.calls.wait(self.client.session())?,
            calls: Arc::clone(&self.calls),
        })
    }

    /// [`client::Client::options`].
    #[must_use]
    pub fn options(&self) -> &Options {
        self.client.options()
    }

    /// Who the server of one of the connections is.
    ///
    /// # Errors
    ///
    /// Those of [`client::Client::server`].
    pub fn server(&self) -> Result<ServerHello> {
        self.calls.wait(self.client.server())
    }

    /// [`client::Client::kill_query`].
    ///
    /// # Errors
    ///
    /// Those of [`client::Client::kill_query`].
    pub fn kill_query(&self, query_id: &str) -> Result<()> {
        self.calls.wait(self.client.kill_query(query_id))
    }

    /// [`client::Client::tables_status`].
    ///
    /// # Errors
    ///
    /// Those of [`client::Client::tables_status`].
    pub fn tables_status(&self, tables: impl IntoIterator<Item = TableName>) -> Result<Vec<TableStatus>> {
        self.calls.wait(self.client.tables_status(tables))
    }

    /// Asks whether a server answers.
    ///
    /// # Errors
    ///
    /// Those of [`client::Client::ping`].
    pub fn ping(&self) -> Result<()> {
        self.calls.wait(self.client.ping())
    }
}

/// The answer to a query: an iterator over its rows, which ends after an error.
///
/// Dropping it before the end cancels the query.
#[derive(Debug)]
pub struct QueryStream {
    /// Taken out at the end, or when this is dropped.
    stream: Option<client::QueryStream>,
    header: Option<SchemaRef>,
    summary: QuerySummary,
    handle: CancelHandle,
    calls: Arc<Calls>,
}

impl QueryStream {
    /// The columns of the answer. `None` for a statement that answers no rows.
    #[must_use]
    pub fn schema(&self) -> Option<SchemaRef> {
        self.header.clone()
    }

    /// The query's name.
    #[must_use]
    pub fn query_id(&self) -> &str {
        &self.summary().query_id
    }

    /// What is known of the query so far.
    #[must_use]
    pub fn summary(&self) -> &QuerySummary {
        self.stream.as_ref().map_or(&self.summary, client::QueryStream::summary)
    }

    /// Something that stops the query from another thread.
    #[must_use]
    pub fn cancel_handle(&self) -> CancelHandle {
        self.handle.clone()
    }
}

impl Iterator for QueryStream {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let stream = self.stream.as_mut()?;
        let next = self.calls.wait(stream.next()).transpose();
        if !matches!(next, Some(Ok(_)))
            && let Some(stream) = self.stream.take()
        {
            self.summary = stream.into_summary();
        }
        next
    }
}

impl Drop for QueryStream {
    fn drop(&mut self) {
        // What was cancelled is read to its end, and its connection used again.
        self.calls.drop(self.stream.take());
    }
}

/// An insert that runs.
#[derive(Debug)]
pub struct Insert {
    insert: client::Insert,
    calls: Arc<Calls>,
}

impl Insert {
    /// The columns that are expected.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        self.insert.schema()
    }

    /// The types of ClickHouse of those columns.
    #[must_use]
    pub fn types(&self) -> &[DataType] {
        self.insert.types()
    }

    /// The insert's name.
    #[must_use]
    pub fn query_id(&self) -> &str {
        self.insert.query_id()
    }

    /// Something that gives the insert up from another thread.
    #[must_use]
    pub fn cancel_handle(&self) -> CancelHandle {
        self.insert.cancel_handle()
    }

    /// [`client::Insert::flush`].
    ///
    /// # Errors
    ///
    /// Those of [`client::Insert::flush`].
    pub fn flush(&mut self) -> Result<()> {
        self.calls.wait(self.insert.flush())
    }

    /// [`client::Insert::write`].
    ///
    /// # Errors
    ///
    /// Those of [`client::Insert::write`].
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.calls.wait(self.insert.write(batch))
    }

    /// [`client::Insert::finish`].
    ///
    /// # Errors
    ///
    /// Those of [`client::Insert::finish`].
    pub fn finish(self) -> Result<InsertSummary> {
        self.calls.wait(self.insert.finish())
    }
}

/// A query that is prepared, whose rows are `T`s.
///
/// ```no_run
/// use tidemill_clickhouse::blocking::Client;
///
/// let client = Client::connect("clickhouse://localhost:9000/default")?;
/// let count: u64 = client.query_as("SELECT count() FROM tides").fetch_one()?;
/// for row in client.query_as::<(String, Option<f32>)>("SELECT place, height FROM tides").fetch()? {
///     let (place, height) = row?;
///     println!("{place}: {height:?}");
/// }
/// # Ok::<(), tidemill_clickhouse::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a query is sent when it is fetched"]
pub struct RowQuery<T> {
    request: RowsRequest<T>,
    calls: Arc<Calls>,
}

impl<T: DeserializeOwned> RowQuery<T> {
    /// [`RowsRequest::with`].
    pub fn with(mut self, change: impl FnOnce(Request) -> Request) -> Self {
        self.request = self.request.with(change);
        self
    }

    /// [`RowsRequest::fetch`]: an iterator over the rows.
    ///
    /// # Errors
    ///
    /// Those of [`RowsRequest::fetch`].
    pub fn fetch(self) -> Result<RowCursor<T>> {
        Ok(RowCursor {
            cursor: Some(self.calls.wait(self.request.fetch())?),
            calls: self.calls,
        })
    }

    /// [`RowsRequest::fetch_one`].
    ///
    /// # Errors
    ///
    /// Those of [`RowsRequest::fetch_one`].
    pub fn fetch_one(self) -> Result<T> {
        self.calls.wait(self.request.fetch_one())
    }

    /// [`RowsRequest::fetch_optional`].
    ///
    /// # Errors
    ///
    /// Those of [`RowsRequest::fetch_optional`].
    pub fn fetch_optional(self) -> Result<Option<T>> {
        self.calls.wait(self.request.fetch_optional())
    }

    /// [`RowsRequest::fetch_all`].
    ///
    /// # Errors
    ///
    /// Those of [`RowsRequest::fetch_all`].
    pub fn fetch_all(self) -> Result<Vec<T>> {
        self.calls.wait(self.request.fetch_all())
    }
}

/// The rows of an answer, one after another. Dropping it before the end cancels the query.
#[derive(Debug)]
pub struct RowCursor<T> {
    /// There until it is dropped.
    cursor: Option<client::RowCursor<T>>,
    calls: Arc<Calls>,
}

impl<T> RowCursor<T> {
    /// The stream that the rows come from: the query's columns, progress, summary and handle.
    #[must_use]
    pub fn stream(&self) -> Option<&client::QueryStream> {
        self.cursor.as_ref().map(client::RowCursor::stream)
    }
}

impl<T: DeserializeOwned> Iterator for RowCursor<T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        let cursor = self.cursor.as_mut()?;
        match cursor.next_in_block() {
            // What is here already needs no runtime.
            Some(row) => Some(row),
            None => self.calls.wait(cursor.next()).transpose(),
        }
    }
}

impl<T> Drop for RowCursor<T> {
    fn drop(&mut self) {
        self.calls.drop(self.cursor.take());
    }
}

/// An insert of `T`s.
#[derive(Debug)]
#[must_use = "rows are inserted by `write` and `finish`"]
pub struct RowInsert<T: ?Sized> {
    insert: client::RowInsert<T>,
    calls: Arc<Calls>,
}

impl<T: ?Sized + Serialize> RowInsert<T> {
    /// [`client::RowInsert::write`].
    ///
    /// # Errors
    ///
    /// Those of [`client::RowInsert::write`].
    pub fn write(&mut self, row: &T) -> Result<()> {
        self.calls.wait(self.insert.write(row))
    }

    /// [`client::RowInsert::flush`].
    ///
    /// # Errors
    ///
    /// Those of [`client::RowInsert::flush`].
    pub fn flush(&mut self) -> Result<()> {
        self.calls.wait(self.insert.flush())
    }

    /// [`client::RowInsert::finish`].
    ///
    /// # Errors
    ///
    /// Those of [`client::RowInsert::finish`].
    pub fn finish(self) -> Result<InsertSummary> {
        self.calls.wait(self.insert.finish())
    }
}
