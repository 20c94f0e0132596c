//! Typed rows of an answer.

use std::{
    future::{Future, IntoFuture},
    marker::PhantomData,
    pin::Pin,
};

use futures::{Stream, stream};
use serde::de::DeserializeOwned;

use super::{QueryStream, QuerySummary, Request, query::Collected};
use crate::{
    Block, Error, Result,
    arrow_type::StringType,
    rows::{BlockRows, Plan},
};

/// A query that is prepared, whose rows are `T`s. Awaiting it is [`RowsRequest::fetch`].
///
/// ```no_run
/// # async fn example() -> tidemill_clickhouse::Result<()> {
/// use serde::Deserialize;
/// use tidemill_clickhouse::client::Client;
///
/// #[derive(Deserialize)]
/// struct Tide {
///     place: String,
///     height: Option<f32>,
/// }
///
/// let client = Client::connect("clickhouse://localhost:9000/default").await?;
/// let mut tides = client.query_as::<Tide>("SELECT place, height FROM tides").await?;
/// while let Some(tide) = tides.next().await? {
///     println!("{}: {:?}", tide.place, tide.height);
/// }
/// let highest: f32 = client.query_as("SELECT max(height) FROM tides").fetch_one().await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a query is sent when it is awaited"]
pub struct RowsRequest<T> {
    request: Request,
    rows: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> RowsRequest<T> {
    pub(super) fn new(request: Request) -> Self {
        Self {
            // A string may be anything; whether it is text is asked where text is wanted.
            request: request.strings(StringType::Binary),
            rows: PhantomData,
        }
    }

    /// Changes the query: its settings, parameters, deadline and the like.
    pub fn with(mut self, change: impl FnOnce(Request) -> Request) -> Self {
        self.request = change(self.request);
        self
    }

    /// Sends the query. Its rows come by the cursor.
    ///
    /// # Errors
    ///
    /// Those of [`Request::stream`].
    pub async fn fetch(self) -> Result<RowCursor<T>> {
        Ok(RowCursor {
            collected: Collected::new(&self.request),
            stream: self.request.stream().await?,
            block: None,
            next: 0,
            before: 0,
            plan: Plan::default(),
            rows: PhantomData,
        })
    }

    /// The first row. What follows is cancelled.
    ///
    /// # Errors
    ///
    /// [`Error::RowNotFound`] when there is none, and those of [`RowsRequest::fetch`] and [`RowCursor::next`].
    pub async fn fetch_one(self) -> Result<T> {
        self.fetch_optional().await?.ok_or(Error::RowNotFound)
    }

    /// The first row, if there is one. What follows is cancelled.
    ///
    /// # Errors
    ///
    /// Those of [`RowsRequest::fetch`] and [`RowCursor::next`].
    pub async fn fetch_optional(self) -> Result<Option<T>> {
        let mut cursor = self.fetch().await?;
        let row = cursor.next().await?;
        if cursor.left_in_block() == 0 {
            // Most often the end is all that is left: the connection is at once free again.
            cursor.stream.end_if_received().await;
        }
        Ok(row)
    }

    /// All rows.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when their blocks took more memory than [`Request::collect_limit`], and those of [`RowsRequest::fetch`] and [`RowCursor::next`].
    pub async fn fetch_all(self) -> Result<Vec<T>> {
        self.fetch().await?.collect().await
    }
}

impl<T> Clone for RowsRequest<T> {
    fn clone(&self) -> Self {
        Self {
            request: self.request.clone(),
            rows: PhantomData,
        }
    }
}

impl<T> std::fmt::Debug for RowsRequest<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("RowsRequest").field(&self.request).finish()
    }
}

impl<T: DeserializeOwned + 'static> IntoFuture for RowsRequest<T> {
    type Output = Result<RowCursor<T>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.fetch())
    }
}

/// The rows of an answer, one after another. It holds one block.
///
/// Dropping it before the end cancels the query.
pub struct RowCursor<T> {
    stream: QueryStream,
    block: Option<BlockRows>,
    /// The next row of the block.
    next: usize,
    /// Rows of the blocks before.
    before: u64,
    plan: Plan,
    /// None yet, and how much may be.
    collected: Collected,
    rows: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> RowCursor<T> {
    /// Waits for the next row. `None` when the query has ended as it should.
    ///
    /// # Errors
    ///
    /// [`Error::Row`] for a row that is no `T`: the rows after it can still be read. Those of [`QueryStream::next`].
    pub async fn next(&mut self) -> Result<Option<T>> {
        loop {
            if let Some(row) = self.next_in_block() {
                return row.map(Some);
            }
            if self.next_block().await?.is_none() {
                return Ok(None);
            }
        }
    }

    /// Waits for all rows that are left.
    ///
    /// # Errors
    ///
    /// Those of [`RowCursor::next`].
    pub async fn collect(mut self) -> Result<Vec<T>> {
        let mut collected = self.collected;
        let mut rows = Vec::new();
        loop {
            if let Some(block) = &self.block {
                rows.reserve(block.len().saturating_sub(self.next));
                for row in self.next..block.len() {
                    rows.push(block.planned(row, &mut self.plan)?);
                }
                self.next = block.len();
            }
            let Some(block) = self.next_block().await? else {
                return Ok(rows);
            };
            collected.add(&block.batch)?;
        }
    }

    /// Makes a [`Stream`] of what [`RowCursor::next`] gives. It ends after an error.
    pub fn into_stream(self) -> impl Stream<Item = Result<T>> + Send
    where
        T: Send,
    {
        stream::try_unfold(self, |mut cursor| async move {
            Ok(cursor.next().await?.map(|row| (row, cursor)))
        })
    }

    /// The next row, if it has come.
    pub(crate) fn next_in_block(&mut self) -> Option<Result<T>> {
        let block = self.block.as_ref().filter(|block| self.next < block.len())?;
        let row = self.next;
        self.next += 1;
        Some(block.planned(row, &mut self.plan))
    }

    async fn next_block(&mut self) -> Result<Option<Block>> {
        self.before += self.block.take().map_or(0, |block| block.len() as u64);
        let Some(block) = self.stream.next_block().await? else {
            return Ok(None);
        };
        self.block = Some(BlockRows::new(&block)?.behind(self.before));
        self.next = 0;
        self.plan.begin_block();
        Ok(Some(block))
    }

    fn left_in_block(&self) -> usize {
        self.block.as_ref().map_or(0, |block| block.len() - self.next)
    }
}

impl<T> RowCursor<T> {
    /// The stream that the rows come from: the query's columns, progress, summary and handle.
    #[must_use]
    pub fn stream(&self) -> &QueryStream {
        &self.stream
    }

    /// Ends the use of the cursor, cancelling the query if it runs.
    #[must_use]
    pub fn into_summary(self) -> QuerySummary {
        self.stream.into_summary()
    }
}

impl<T> std::fmt::Debug for RowCursor<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowCursor")
            .field("stream", &self.stream)
            .field("block", &self.block)
            .finish_non_exhaustive()
    }
}
