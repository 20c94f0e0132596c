//! A table of a server, whichever it is, that rows go to.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::cassandra::CassandraSink;
use super::clickhouse::ClickHouseSink;
use crate::Result;
use crate::server_url::{ServerKind, ServerUrl};
use crate::stores::Clients;
use crate::stores::clickhouse::ServerTable;

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
    /// The primary key of a Cassandra table, as behind PRIMARY KEY: `id`, or `(city, year), at`. Default: none, and making one is an
    /// error.
    pub primary_key: Option<String>,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self {
            create: false,
            engine: "MergeTree".to_owned(),
            order_by: "tuple()".to_owned(),
            primary_key: None,
        }
    }
}

impl TableOptions {
    /// Whether the engine of a ClickHouse table keeps its rows in an order.
    pub(crate) fn is_ordered(&self) -> bool {
        self.engine.contains("MergeTree")
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
}

/// How a table of a server is filled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filling<'a> {
    /// The columns that rows are for; without any, all columns of the table.
    pub(crate) columns: &'a [String],
    pub(crate) making: &'a TableOptions,
    pub(crate) there: IfThere,
    /// What the names of its inserts begin with, so that another run of the same copy can end them.
    pub(crate) job: Option<&'a str>,
}

/// Takes the rows for a table of a server.
pub(crate) enum TableSink {
    ClickHouse(Box<ClickHouseSink>),
    Cassandra(Box<CassandraSink>),
}

impl TableSink {
    /// Ends the inserts of another run of this job, whose program is gone, and waits until they are: what they have stored stays.
    pub(crate) async fn end_predecessors(url: &ServerUrl, clients: &Clients, job: &str) -> Result<()> {
        match url.kind() {
            ServerKind::ClickHouse => {
                ServerTable::connect(url, &clients.clickhouse)
                    .await?
                    .end_queries(job)
                    .await
            }
            // Going on with a table is for ClickHouse alone.
            ServerKind::Cassandra => Ok(()),
        }
    }

    /// Begins to fill the table at `url`.
    pub(crate) async fn begin(
        url: &ServerUrl,
        clients: &Clients,
        schema: &SchemaRef,
        filling: &Filling<'_>,
    ) -> Result<Self> {
        let &Filling {
            columns,
            making: options,
            there,
            ..
        } = filling;
        Ok(match url.kind() {
            ServerKind::ClickHouse => {
                let sink = ClickHouseSink::begin(url, &clients.clickhouse, schema, filling).await?;
                Self::ClickHouse(Box::new(sink))
            }
            ServerKind::Cassandra => {
                let sink = CassandraSink::begin(url, &clients.cassandra, schema, columns, options, there).await?;
                Self::Cassandra(Box::new(sink))
            }
        })
    }

    /// The columns that are expected, in order.
    pub(crate) fn columns(&self) -> Vec<String> {
        match self {
            Self::ClickHouse(sink) => sink.columns(),
            Self::Cassandra(sink) => sink.columns(),
        }
    }

    pub(crate) async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Self::ClickHouse(sink) => sink.write(batch).await,
            Self::Cassandra(sink) => sink.write(batch).await,
        }
    }

    /// Waits until the server has all rows, and counts those of a table that was made. Returns their number.
    pub(crate) async fn finish(self) -> Result<u64> {
        match self {
            Self::ClickHouse(sink) => sink.finish().await,
            Self::Cassandra(sink) => sink.finish().await,
        }
    }

    /// Leaves nothing of a table that was made.
    pub(crate) async fn give_up(self) {
        match self {
            Self::ClickHouse(sink) => sink.give_up().await,
            Self::Cassandra(sink) => sink.give_up().await,
        }
    }
}
