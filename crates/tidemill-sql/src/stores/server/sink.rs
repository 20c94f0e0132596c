//! How a table of a server is created and filled.

use arrow_array::RecordBatch;

use super::ForeignKey;
use crate::Result;

/// How a missing table of a server is created.
#[derive(Clone, Debug)]
pub struct TableOptions {
    /// Whether the table is created. Default: no, it must exist, and rows are added to it.
    pub create: bool,
    /// The engine of a ClickHouse table, as behind ENGINE. Default: `MergeTree`.
    pub engine: String,
    /// The sorting key of a ClickHouse table, as after ORDER BY, for the engines of the MergeTree family. Its columns are not nullable.
    /// Default: `tuple()`, which leaves rows in the order of insertion.
    pub order_by: String,
    /// The primary key, as after PRIMARY KEY: `id`, or for a Cassandra table `(city, year), at`. Default: none, which is an error for a new
    /// table of Cassandra.
    pub primary_key: Option<String>,
    /// The indexes of a MySQL, PostgreSQL or SQLite table. Default: none.
    pub indexes: Vec<TableIndex>,
    /// The foreign keys. SQLite creates them with the table; for MySQL and PostgreSQL
    /// [`Session::make_foreign_key`](crate::Session::make_foreign_key) creates them when all tables are filled. Default: none.
    pub foreign_keys: Vec<ForeignKey>,
}

/// An index that a new table gets after its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableIndex {
    /// Its columns, in order.
    pub columns: Vec<String>,
    /// Whether rows must have different values in these columns.
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

/// What to do if the table already exists.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum IfThere {
    /// Fail, and leave it unchanged.
    Refuse,
    /// Replace it.
    Replace,
    /// Add rows to it; without column names, columns are matched by position.
    Add,
    /// Add rows to it. A new table is filled under its final name, so that another copy can resume.
    GoOn,
    /// Replace rows with the same primary key, and add the others.
    Update,
}

impl IfThere {
    /// Whether the rows of an existing table stay.
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

    /// Whether rows without column names are matched by position.
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
    /// The columns of the rows; without any, all columns of the table.
    pub(crate) columns: &'a [String],
    pub(crate) making: &'a TableOptions,
    pub(crate) there: IfThere,
    /// The prefix of the names of its inserts, so that another run of the same copy can end them.
    pub(crate) job: Option<&'a str>,
    /// How many rows of the source were copied before: errors count rows on from them.
    pub(crate) rows_before: u64,
}

/// Takes the rows for a table of a server.
#[async_trait::async_trait]
pub(crate) trait TableSink: Send {
    /// The expected columns, in order.
    fn columns(&self) -> Vec<String>;

    /// Sends the rows of one batch.
    async fn write(&mut self, batch: &RecordBatch) -> Result<()>;

    /// Waits until the server has stored all rows, and counts those of a new table. Returns their number.
    async fn finish(self: Box<Self>) -> Result<u64>;

    /// Removes a new table.
    async fn give_up(self: Box<Self>);
}
