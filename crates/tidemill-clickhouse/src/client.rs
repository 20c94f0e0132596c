//! A client for tokio.
//!
//! [`Client`] holds a pool of connections to one or several equal servers. A query takes one of them, and gives it back when
//! its answer was read to the end; a connection on which something was left in the middle is closed, never used again.
//!
//! ```no_run
//! # async fn example() -> tidemill_clickhouse::Result<()> {
//! use tidemill_clickhouse::client::Client;
//!
//! let client = Client::connect("clickhouse://localhost:9000/default").await?;
//! client.execute("CREATE TABLE tides (at DateTime, height Float32) ENGINE = Memory").await?;
//!
//! let mut answer = client.query("SELECT number FROM system.numbers LIMIT 100000").await?;
//! while let Some(batch) = answer.next().await? {
//!     println!("{} rows of {} read", batch.num_rows(), answer.progress().rows);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Rows as structs, tuples or single values are [`Client::query_as`] and [`Client::insert_rows`]; [`rows`](crate::rows) has
//! the table of types.
//!
//! What a connection remembers is kept apart: a query with [roles](Request::roles) has those and no others, and a query of
//! [another user](Client::as_user) has another connection. Statements that need what the ones before left (temporary tables,
//! `SET`) go into a [session](Client::session). The options may be those of `clickhouse-client`
//! ([`client_config`]), and `tracing` is told what happens ([`trace`]).
//!
//! Instants without a time zone of their own are in that of the session, if one is asked for
//! ([`Request::session_time_zone`], `session_timezone=` in a URL): only its name in the Arrow types differs. It holds for one
//! query, as every setting, and all batches of an answer have the same.
//!
//! Memory: a query that is read batch by batch holds one block at a time, an insert one block and what it collects.
//!
//! There is no routing of queries by content, and no pipelining: a connection answers one query at a time, as the protocol has
//! it.

mod bind;
mod cancel;
pub mod client_config;
mod clocks;
mod insert;
mod insert_rows;
mod insert_text;
mod options;
mod parameter;
mod pool;
mod predecessor;
mod query;
mod query_id;
mod rows;
mod session;
mod table_read;
mod tls;
pub mod trace;
mod transport;

use std::{fmt, sync::Arc, time::Duration};

use deadpool::{
    Runtime,
    managed::{PoolError, TimeoutType, Timeouts},
};
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::timeout_at;

pub use self::{
    cancel::CancelHandle,
    insert::{Insert, InsertRequest, InsertSummary},
    insert_rows::RowInsert,
    options::{Endpoint, Options},
    query::{QueryStream, QuerySummary, Request},
    rows::{RowCursor, RowsRequest},
    table_read::{PartedBy, TableParts, TableRead, TableStream},
    tls::{ClientPem, TlsOptions},
    trace::TraceSource,
};
use self::{
    clocks::Deadline,
    pool::{Manager, Pool, Pooled},
};
use crate::{
    Error, Result,
    packet::{
        TableName,
        client::{Query, Stage},
        server::{ServerHello, TableStatus},
    },
    sql_text,
};

/// A client of one or several equal servers. Clones share its connections.
#[derive(Clone)]
pub struct Client(Arc<Pool>);

impl Client {
    /// Connects to the servers of a URL, which is described at [`Options`].
    ///
    /// # Errors
    ///
    /// [`Error::Option`] when the URL is none, and those of [`Client::with_options`].
    pub async fn connect(url: &str) -> Result<Self> {
        Self::with_options(url.parse()?).await
    }

    /// Connects to the servers of `options`: one connection is made at once, to see that it works.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Timeout`] of the last server when none can be reached, [`Error::Server`] when one refuses
    /// the user, [`Error::Option`] for certificates that cannot be used.
    pub async fn with_options(options: Options) -> Result<Self> {
        let client = Self::with_manager(Manager::new(options)?)?;
        drop(client.pooled().await?);
        Ok(client)
    }

    fn with_manager(manager: Manager) -> Result<Self> {
        let (size, wait) = (manager.options.pool_size, manager.options.pool_timeout);
        let pool = Pool::builder(manager).max_size(size);
        let pool = pool.runtime(Runtime::Tokio1).wait_timeout(Some(wait)).build();
        let pool = pool.map_err(|error| Error::Option {
            option: "pool_size".to_owned(),
            expected: error.to_string(),
        })?;
        Ok(Self(Arc::new(pool)))
    }

    /// Makes a client of the same servers for another user. It has connections of its own, as many as this one may have; the
    /// first is made when it is needed.
    ///
    /// The protocol names the user once, when a connection begins: there is no query of another user over the same
    /// connection.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] for a size of the pool that cannot be.
    pub fn as_user(&self, user: impl Into<String>, password: impl Into<String>) -> Result<Self> {
        let mut options = self.options().clone();
        (options.user, options.password) = (user.into(), password.into());
        Self::with_manager(self.0.manager().with_options(options))
    }

    /// Begins a session: a client whose statements all have one connection. What a connection remembers on the server lives
    /// until the last clone is dropped: temporary tables, `SET`, `SET ROLE`, `USE`.
    ///
    /// Statements go one after another: one that is sent while another runs waits for its end, for
    /// [`Options::pool_timeout`](Options::pool_timeout) at most. A connection that is lost is never replaced silently: the
    /// statements after it fail with [`Error::Closed`]. Old servers (18.16) close a connection themselves when they cannot parse
    /// a statement; other errors leave it.
    ///
    /// ```no_run
    /// # async fn example(client: tidemill_clickhouse::client::Client) -> tidemill_clickhouse::Result<()> {
    /// let session = client.session().await?;
    /// session.execute("CREATE TEMPORARY TABLE wanted (id UInt64)").await?;
    /// session.execute("INSERT INTO wanted VALUES (3), (5)").await?;
    /// let heights: Vec<f32> = session
    ///     .query_as("SELECT height FROM tides WHERE id IN (SELECT id FROM wanted)")
    ///     .fetch_all()
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Client::with_options`].
    pub async fn session(&self) -> Result<Self> {
        let mut options = self.options().clone();
        options.pool_size = 1;
        let client = Self::with_manager(self.0.manager().with_options(options).of_session())?;
        drop(client.pooled().await?);
        Ok(client)
    }

    /// What the client was told.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.0.manager().options
    }

    /// Prepares a query. Awaiting it sends it, and gives the stream of its answer.
    pub fn query(&self, sql: impl Into<String>) -> Request {
        Request::new(self.clone(), sql.into())
    }

    /// Prepares a query whose rows are `T`s: structs, tuples or single values, as in [`rows`](crate::rows).
    pub fn query_as<T: DeserializeOwned>(&self, sql: impl Into<String>) -> RowsRequest<T> {
        self.query(sql).rows()
    }

    /// Runs a statement to its end. Rows that it answers are read and left; those that an `INSERT` has in its text are sent, as
    /// [`Request::execute`] says.
    ///
    /// # Errors
    ///
    /// Those of [`Request::execute`].
    pub async fn execute(&self, sql: impl Into<String>) -> Result<QuerySummary> {
        self.query(sql).execute().await
    }

    /// Prepares an insert into `table`, which is written as in SQL. Awaiting it begins it.
    pub fn insert(&self, table: impl Into<String>) -> InsertRequest {
        InsertRequest::new(self.clone(), table.into())
    }

    /// Prepares an insert of rows into `table`, which is written as in SQL: structs, tuples or single values, as in
    /// [`rows`](crate::rows). The first row begins it.
    pub fn insert_rows<T: ?Sized + Serialize>(&self, table: impl Into<String>) -> RowInsert<T> {
        self.insert(table).rows()
    }

    /// Asks whether a server answers, for no longer than [`Options::read_timeout`], whatever else it says.
    ///
    /// # Errors
    ///
    /// Those of connecting, and [`Error::Io`], [`Error::Closed`] or [`Error::Timeout`] of a connection that breaks.
    pub async fn ping(&self) -> Result<()> {
        self.pooled().await?.ping().await
    }

    /// Asks a server which of these tables it has, and how far those that are replicated are behind. The answer has one status
    /// for each that is there, in any order; a database without a name is the connection's. It takes no longer than
    /// [`Options::read_timeout`].
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for servers before revision 54226, [`Error::Server`] when the server refuses the question, and
    /// those of [`Client::ping`].
    pub async fn tables_status(&self, tables: impl IntoIterator<Item = TableName>) -> Result<Vec<TableStatus>> {
        let tables = tables.into_iter().collect();
        self.pooled().await?.tables_status(tables).await
    }

    /// Who the server of one of the connections is.
    ///
    /// # Errors
    ///
    /// Those of connecting.
    pub async fn server(&self) -> Result<ServerHello> {
        Ok(self.pooled().await?.protocol.server().clone())
    }

    /// Stops the query with this name on the server, whoever runs it, and waits until it has stopped.
    ///
    /// # Errors
    ///
    /// Those of [`Request::execute`].
    pub async fn kill_query(&self, query_id: &str) -> Result<()> {
        let sql = format!("KILL QUERY WHERE query_id = {} SYNC", sql_text::string(query_id));
        self.execute(sql).await.map(drop)
    }

    /// A query by the client's options, with a name of its own.
    fn new_query(&self, text: String) -> Query {
        let manager = self.0.manager();
        Query {
            id: manager.query_ids.next(),
            text,
            settings: manager.options.settings.clone(),
            info: manager.info.clone(),
            external_roles: Vec::new(),
            secret_hash: String::new(),
            stage: Stage::Complete,
            is_compressed: false,
            parameters: Vec::new(),
        }
    }

    /// A connection on which a query has `roles`, and no others. None: those that the user has by default.
    async fn pooled_with(&self, roles: &[String]) -> Result<Pooled> {
        let mut is_first = true;
        loop {
            let mut connection = self.pooled().await?;
            match session::take_roles(&mut connection, roles).await {
                // Nothing of the caller's was sent: a connection that turns out to be closed may be replaced.
                Err(Error::Closed { .. } | Error::Io { .. }) if is_first => {
                    is_first = false;
                    drop(connection);
                    self.forget_idle();
                }
                taken => return taken.map(|()| connection),
            }
        }
    }

    /// [`Client::pooled_with`] that does not take longer than until `deadline`.
    async fn pooled_until(&self, roles: &[String], deadline: Option<Deadline>) -> Result<Pooled> {
        let connection = self.pooled_with(roles);
        match deadline {
            // Its state is large, and would be a part of that of every query.
            Some(deadline) => timeout_at(deadline.until, Box::pin(connection))
                .await
                .unwrap_or_else(|_| Err(deadline.error())),
            None => connection.await,
        }
    }

    /// Closes the connections that nobody uses: where one of them turned out to be closed, the others are not better.
    fn forget_idle(&self) {
        self.0.retain(|_, _| false);
    }

    /// A connection that nobody uses, or a new one when there are fewer than allowed. Waits otherwise, for a while.
    async fn pooled(&self) -> Result<Pooled> {
        let at_once = Timeouts {
            wait: Some(Duration::ZERO),
            ..Timeouts::default()
        };
        let connection = match self.0.timeout_get(&at_once).await {
            // Only then a clock is set. Waiting is apart, for its state would be a part of that of every query.
            Err(PoolError::Timeout(TimeoutType::Wait)) => Box::pin(self.0.get()).await,
            taken => taken,
        };
        connection.map_err(|error| match error {
            PoolError::Backend(error) => error,
            PoolError::Timeout(_) => Error::Timeout {
                action: "wait for a free connection",
                limit: self.options().pool_timeout,
            },
            _ => Error::Closed {
                why: "the client was closed",
            },
        })
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Client").field(self.options()).finish()
    }
}
