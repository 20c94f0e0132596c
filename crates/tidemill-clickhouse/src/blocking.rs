//! The client for programs without tokio.
//!
//! It is [`crate::client`] with a runtime of its own, one thread that takes care of connections between calls. Each call waits
//! in the thread that makes it.
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
//! An insert with an interval is sent by that thread while the caller does something else.
//!
//! It cannot be used in asynchronous code: a thread of a runtime may not wait for another.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use serde::{Serialize, de::DeserializeOwned};
use tokio::runtime::{Builder, Runtime};

use crate::{
    Error, Result,
    client::{self, CancelHandle, InsertRequest, InsertSummary, Options, QuerySummary, Request, RowsRequest},
};

/// A client of one or several equal servers. Clones share its connections.
#[derive(Clone, Debug)]
pub struct Client {
    client: client::Client,
    runtime: Arc<Runtime>,
}

impl Client {
    /// [`client::Client::connect`].
    ///
    /// # Errors
    ///
    /// Those of [`client::Client::connect`], and [`Error::Io`] when no thread can be made.
    pub fn connect(url: &str) -> Result<Self> {
        Self::with_options(url.parse()?)
    }

    /// [`client::Client::with_options`].
    ///
    /// # Errors
    ///
    /// Those of [`client::Client::with_options`], and [`Error::Io`] when no thread can be made.
    pub fn with_options(options: Options) -> Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("clickhouse")
            .enable_all()
            .build()
            .map_err(Error::io("start a thread"))?;
        let client = runtime.block_on(client::Client::with_options(options))?;
        Ok(Self {
            client,
            runtime: Arc::new(runtime),
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
        let stream = self.runtime.block_on(request.stream())?;
        Ok(QueryStream {
            header: stream.schema(),
            summary: QuerySummary::default(),
            handle: stream.cancel_handle(),
            stream: Some(stream),
            runtime: Arc::clone(&self.runtime),
        })
    }

    /// Prepares a query whose rows are `T`s, as [`client::Client::query_as`].
    pub fn query_as<T: DeserializeOwned>(&self, sql: impl Into<String>) -> RowQuery<T> {
        RowQuery {
            request: self.client.query_as(sql),
            runtime: Arc::clone(&self.runtime),
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
            runtime: Arc::clone(&self.runtime),
        }
    }

    /// Runs a statement to its end.
    ///
    /// # Errors
    ///
    /// Those of [`Request::execute`].
    pub fn execute(&self, sql: impl Into<String>) -> Result<QuerySummary> {
        self.runtime.block_on(self.client.execute(sql))
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
        let insert = self.runtime.block_on(request.begin())?;
        Ok(Insert {
            insert,
            runtime: Arc::clone(&self.runtime),
        })
    }

    /// Asks whether a server answers.
    ///
    /// # Errors
    ///
    /// Those of [`client::Client::ping`].
    pub fn ping(&self) -> Result<()> {
        self.runtime.block_on(self.client.ping())
    }
}

/// The answer to a query: an iterator over its rows, which ends behind an error.
///
/// Dropping it before the end cancels the query.
#[derive(Debug)]
pub struct QueryStream {
    /// Taken out at the end, or when this is dropped.
    stream: Option<client::QueryStream>,
    header: Option<SchemaRef>,
    summary: QuerySummary,
    handle: CancelHandle,
    runtime: Arc<Runtime>,
}

impl QueryStream {
    /// The columns of the answer. `None` for a statement that answers no rows.
    #[must_use]
    pub fn schema(&self) -> Option<SchemaRef> {
        self.header.clone()
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
        let next = self.runtime.block_on(stream.next()).transpose();
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
        // Within the runtime what was cancelled is read to its end, and its connection used again.
        let _within = self.runtime.enter();
        drop(self.stream.take());
    }
}

/// An insert that runs.
#[derive(Debug)]
pub struct Insert {
    insert: client::Insert,
    runtime: Arc<Runtime>,
}

impl Insert {
    /// The columns that are expected.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        self.insert.schema()
    }

    /// [`client::Insert::write`].
    ///
    /// # Errors
    ///
    /// Those of [`client::Insert::write`].
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.runtime.block_on(self.insert.write(batch))
    }

    /// [`client::Insert::finish`].
    ///
    /// # Errors
    ///
    /// Those of [`client::Insert::finish`].
    pub fn finish(self) -> Result<InsertSummary> {
        self.runtime.block_on(self.insert.finish())
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
    runtime: Arc<Runtime>,
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
            cursor: Some(self.runtime.block_on(self.request.fetch())?),
            runtime: self.runtime,
        })
    }

    /// [`RowsRequest::fetch_one`].
    ///
    /// # Errors
    ///
    /// Those of [`RowsRequest::fetch_one`].
    pub fn fetch_one(self) -> Result<T> {
        self.runtime.block_on(self.request.fetch_one())
    }

    /// [`RowsRequest::fetch_optional`].
    ///
    /// # Errors
    ///
    /// Those of [`RowsRequest::fetch_optional`].
    pub fn fetch_optional(self) -> Result<Option<T>> {
        self.runtime.block_on(self.request.fetch_optional())
    }

    /// [`RowsRequest::fetch_all`].
    ///
    /// # Errors
    ///
    /// Those of [`RowsRequest::fetch_all`].
    pub fn fetch_all(self) -> Result<Vec<T>> {
        self.runtime.block_on(self.request.fetch_all())
    }
}

/// The rows of an answer, one after another. Dropping it before the end cancels the query.
#[derive(Debug)]
pub struct RowCursor<T> {
    /// There until it is dropped.
    cursor: Option<client::RowCursor<T>>,
    runtime: Arc<Runtime>,
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
            None => self.runtime.block_on(cursor.next()).transpose(),
        }
    }
}

impl<T> Drop for RowCursor<T> {
    fn drop(&mut self) {
        let _within = self.runtime.enter();
        drop(self.cursor.take());
    }
}

/// An insert of `T`s.
#[derive(Debug)]
#[must_use = "rows are inserted by `write` and `finish`"]
pub struct RowInsert<T: ?Sized> {
    insert: client::RowInsert<T>,
    runtime: Arc<Runtime>,
}

impl<T: ?Sized + Serialize> RowInsert<T> {
    /// [`client::RowInsert::write`].
    ///
    /// # Errors
    ///
    /// Those of [`client::RowInsert::write`].
    pub fn write(&mut self, row: &T) -> Result<()> {
        self.runtime.block_on(self.insert.write(row))
    }

    /// [`client::RowInsert::flush`].
    ///
    /// # Errors
    ///
    /// Those of [`client::RowInsert::flush`].
    pub fn flush(&mut self) -> Result<()> {
        self.runtime.block_on(self.insert.flush())
    }

    /// [`client::RowInsert::finish`].
    ///
    /// # Errors
    ///
    /// Those of [`client::RowInsert::finish`].
    pub fn finish(self) -> Result<InsertSummary> {
        self.runtime.block_on(self.insert.finish())
    }
}
