//! Inserts of typed rows.

use std::marker::PhantomData;

use serde::Serialize;

use super::{Insert, InsertRequest, InsertSummary};
use crate::{Result, rows::field_names};

/// An insert of `T`s.
///
/// The first row begins it: the fields of a struct or a map are the columns that are inserted, and the others get their
/// defaults; a tuple or a single value is for all columns of the table, or for those of [`InsertRequest::columns`]. Rows are
/// collected in columns of the server's types and sent as [`InsertRequest::rows_per_block`],
/// [`InsertRequest::bytes_per_block`] and [`InsertRequest::interval`] say.
///
/// ```no_run
/// # async fn example() -> tidemill_clickhouse::Result<()> {
/// use std::time::Duration;
///
/// use serde::Serialize;
/// use tidemill_clickhouse::client::Client;
///
/// #[derive(Serialize)]
/// struct Tide<'a> {
///     place: &'a str,
///     height: Option<f32>,
/// }
///
/// let client = Client::connect("clickhouse://localhost:9000/default").await?;
/// let mut tides = client.insert("tides").interval(Duration::from_secs(1)).rows();
/// tides.write(&Tide { place: "Husum", height: Some(1.4) }).await?;
/// tides.write(&Tide { place: "Dagebüll", height: None }).await?;
/// assert_eq!(tides.finish().await?.rows, 2);
/// # Ok(())
/// # }
/// ```
///
/// Dropping it before [`RowInsert::finish`] closes its connection, as for [`Insert`].
#[must_use = "rows are inserted by `write` and `finish`"]
pub struct RowInsert<T: ?Sized> {
    request: InsertRequest,
    insert: Option<Insert>,
    rows: PhantomData<fn(&T)>,
}

impl<T: ?Sized + Serialize> RowInsert<T> {
    pub(super) fn new(request: InsertRequest) -> Self {
        Self {
            request,
            insert: None,
            rows: PhantomData,
        }
    }

    /// Takes a row.
    ///
    /// # Errors
    ///
    /// [`Error::Row`](crate::Error::Row) when a value does not fit its column, or fields and columns are not the same: then
    /// nothing of the row is taken, and the insert can continue. Those of [`InsertRequest::begin`] for the first row, and those
    /// of [`Insert::write`] when rows are sent.
    pub async fn write(&mut self, row: &T) -> Result<()> {
        match &mut self.insert {
            Some(insert) => insert.write_row(row).await,
            None => {
                let mut request = self.request.clone();
                if !request.has_columns() {
                    request = request.columns(field_names(row));
                }
                let mut insert = request.begin().await?;
                insert.take_rows()?;
                self.insert.insert(insert).write_row(row).await
            }
        }
    }

    /// Sends the rows that wait.
    ///
    /// # Errors
    ///
    /// Those of [`Insert::write`].
    pub async fn flush(&mut self) -> Result<()> {
        match &mut self.insert {
            Some(insert) => insert.flush().await,
            None => Ok(()),
        }
    }

    /// Sends the rows that wait and the end, and waits until the server has stored all. Without rows nothing is sent.
    ///
    /// # Errors
    ///
    /// Those of [`Insert::finish`].
    pub async fn finish(self) -> Result<InsertSummary> {
        match self.insert {
            Some(insert) => insert.finish().await,
            None => Ok(InsertSummary::default()),
        }
    }
}

impl<T: ?Sized> std::fmt::Debug for RowInsert<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowInsert")
            .field("request", &self.request)
            .field("insert", &self.insert)
            .finish_non_exhaustive()
    }
}
