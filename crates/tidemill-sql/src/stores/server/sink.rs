//! How a table of a server is made and filled.

use arrow_array::RecordBatch;

use super::ForeignKey;
use crate::Result;

/// How a table of a server is made, where it is not there.
#[derive(Clone, Debug)]
pub struct TableOptions {
    /// Whether a table is made. Default: no, it must be there, and rows are added to it.
    pub create: bool,
    /// The engine of a ClickHouse table, as behind ENGINE. Default: `MergeTree`.
    pub engine: String,
    /// The order key of a ClickHouse table, as behind ORDER BY, for the engines of the MergeTree family. Its columns take no NULL.
    /// Default: `tuple()`, which leaves rows in the order in which they come.
    pub order_by: String,
    /// The primary key, as behind PRIMARY KEY: `id`, or of a Cassandra table `(city, year), at`. Default: none, and making a table of
    /// Cassandra is an error.
    pub primary_key: Option<String>,
    /// The indexes of a MySQL, PostgreSQL or SQLite table. Default: none.
    pub indexes: Vec<TableIndex>,
    /// The foreign keys. SQLite has them from the start; for MySQL and PostgreSQL
    /// [`Session::make_foreign_key`](crate::Session::make_foreign_key) makes them when all tables are filled. Default: none.
    pub foreign_keys: Vec<ForeignKey>,
}

/// An index that a new table gets when its rows are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableIndex {
    /// Its columns, in order.
    pub columns: Vec<String>,
    /// Whether no two rows may have the same values there.
    pub is_unique: bool,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self {
            create: false,
            engine: "MergeTree".to_owned(),
            order_by: "tuple()".to_owned(),
            primary_key: None,
            indexes: Vec::new(),
            foreign_keys: Vec::new(),
        }
    }
}

/// What becomes of a table that was to be made and is there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum IfThere {
    /// It stays as it is, and the sink is an error.
    Refuse,
    /// The new one takes its place.
    Replace,
    /// Rows are added to it; without names of columns, to its columns in their order.
    Add,
    /// Rows are added to it, and one that is made is filled under its own name, so that another copy can go on with it.
    GoOn,
    /// Rows take the place of those with the same primary key, and others are added.
    Update,
}

impl IfThere {
    /// Whether the rows of a table that is there stay.
    #[cfg(any(
        feature = "adbc",
        feature = "clickhouse",
        feature = "flight",
        feature = "mysql",
        feature = "postgres",
        feature = "sqlite"
    ))]
    pub(crate) fn keeps_rows(self) -> bool {
        matches!(self, Self::Add | Self::GoOn | Self::Update)
    }

    /// Whether rows without names of columns are for the columns of the table in their order.
    #[cfg(any(
        feature = "adbc",
        feature = "cassandra",
        feature = "flight",
        feature = "mysql",
        feature = "postgres",
        feature = "sqlite"
    ))]
    pub(crate) fn is_by_place(self) -> bool {
        matches!(self, Self::Add | Self::Update)
    }
}

/// How a table of a server is filled.
#[cfg_attr(
    not(feature = "clickhouse"),
    expect(dead_code, reason = "only ClickHouse asks for all of it")
)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filling<'a> {
    /// The columns that rows are for; without any, all columns of the table.
    pub(crate) columns: &'a [String],
    pub(crate) making: &'a TableOptions,
    pub(crate) there: IfThere,
    /// What the names of its inserts begin with, so that another run of the same copy can end them.
    pub(crate) job: Option<&'a str>,
    /// How many rows of the source are there already: errors count rows on from them.
    pub(crate) rows_before: u64,
}

/// Takes the rows for a table of a server.
#[async_trait::async_trait]
pub(crate) trait TableSink: Send {
    /// The columns that are expected, in order.
    fn columns(&self) -> Vec<String>;

    /// Sends the rows of one batch.
    async fn write(&mut self, batch: &RecordBatch) -> Result<()>;

    /// Waits until the server has all rows, and counts those of a table that was made. Returns their number.
    async fn finish(self: Box<Self>) -> Result<u64>;

    /// Leaves nothing of a table that was made.
    async fn give_up(self: Box<Self>);
}
