//! A server and its connections.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::timeout;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::connection::{Connection, Route};
use crate::error::{Error, Result};
use crate::options::Options;
use crate::tls;

/// A server. Its clones share their connections: each read and each fill has one to itself, which is kept for the next.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    route: Arc<Route>,
    /// Connections that nobody uses, at most [`IDLE`].
    idle: Mutex<Vec<Connection>>,
}

impl Client {
    /// Connects to a server.
    ///
    /// # Errors
    ///
    /// [`Error::Connect`] when it cannot be reached or does not let the user in; [`Error::Tls`] for files that are not certificates or keys.
    pub async fn connect(options: Options) -> Result<Self> {
        let tls = options.tls.as_ref().map(tls::config).transpose()?;
        let client = Self(Arc::new(Inner {
            route: Arc::new(Route { options, tls }),
            idle: Mutex::new(Vec::new()),
        }));
        client.lease().await?.done();
        Ok(client)
    }

    /// The settings that it was made with.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.0.route.options
    }

    /// A connection that nobody else uses.
    pub(crate) async fn lease(&self) -> Result<Lease> {
        Ok(Lease {
            client: self.clone(),
            connection: self.connection().await?,
            is_done: false,
        })
    }

    async fn connection(&self) -> Result<Connection> {
        loop {
            let idle = self.0.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            match idle {
                Some(connection) if connection.client.is_closed() => {}
                Some(connection) => return Ok(connection),
                None => return Connection::open(&self.0.route).await,
            }
        }
    }

    fn give_back(&self, connection: Connection) {
        let mut idle = self.0.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE && !connection.client.is_closed() {
            idle.push(connection);
        }
    }

    /// The rows of a query of this crate's own.
    pub(crate) async fn rows(&self, doing: &str, query: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>> {
        let lease = self.lease().await?;
        let rows = self.within(doing, lease.driver().query(query, parameters)).await?;
        lease.done();
        Ok(rows)
    }

    /// What comes of a request, unless the server is silent for too long.
    pub(crate) async fn within<T>(
        &self,
        doing: &str,
        request: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T> {
        let Some(limit) = self.options().timeout else {
            return request.await.map_err(|error| Error::of(doing, &error));
        };
        match timeout(limit, request).await {
            Ok(answer) => answer.map_err(|error| Error::of(doing, &error)),
            Err(_) => Err(Error::Timeout {
                doing: doing.to_owned(),
                seconds: limit.as_secs_f64(),
            }),
        }
    }
}

/// The use of a connection. Dropping it early cancels the running statement, rolls back the transaction and closes the connection.
pub(crate) struct Lease {
    client: Client,
    connection: Connection,
    is_done: bool,
}

impl Lease {
    pub(crate) fn driver(&self) -> &tokio_postgres::Client {
        &self.connection.client
    }

    /// Has the server stop what runs, and keeps the connection.
    pub(crate) fn cancel(&self) {
        self.connection.cancel(&self.client.0.route);
    }

    /// Keeps the connection, on which nothing runs any more, outside of any transaction.
    pub(crate) fn done(mut self) {
        self.is_done = true;
        self.client.give_back(self.connection.clone());
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if !self.is_done {
            self.connection.abandon(&self.client.0.route);
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("options", self.options())
            .finish_non_exhaustive()
    }
}

/// As many reads at a time as one statement has tables, mostly.
const IDLE: usize = 4;
