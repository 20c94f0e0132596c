//! A server and its connections.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::timeout;

use crate::connection::{Connection, Route};
use crate::error::{Error, Fault, Result};
use crate::options::Options;
use crate::read;
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

    /// Runs a statement that gives no rows, in a transaction of its own, and tells how many rows it changed: 0 where it changes none.
    ///
    /// # Errors
    ///
    /// [`Error::Server`] when the server refuses it.
    pub async fn execute(&self, statement: &str) -> Result<u64> {
        let mut lease = self.lease().await?;
        let changed = lease.execute("running a statement", statement).await?;
        // What it sets holds for nobody else.
        lease.close();
        Ok(changed)
    }

    pub(crate) fn route(&self) -> &Arc<Route> {
        &self.0.route
    }

    /// A connection that nobody else uses.
    pub(crate) async fn lease(&self) -> Result<Lease> {
        Ok(Lease {
            client: self.clone(),
            connection: Some(self.connection().await?),
        })
    }

    async fn connection(&self) -> Result<Connection> {
        loop {
            let idle = self.0.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            match idle {
                // A server ends connections that nobody uses for long.
                Some(mut connection) => {
                    if self.within("asking a connection", connection.ping()).await.is_ok() {
                        return Ok(connection);
                    }
                }
                None => return Connection::open(&self.0.route).await,
            }
        }
    }

    fn give_back(&self, connection: Connection) {
        let mut idle = self.0.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE {
            idle.push(connection);
        }
    }

    /// What comes of a request, unless the server is silent for too long.
    pub(crate) async fn within<T>(&self, doing: &str, request: impl Future<Output = Result<T, Fault>>) -> Result<T> {
        let answer = match self.options().timeout {
            None => request.await,
            Some(limit) => timeout(limit, request).await.map_err(|_| Error::Timeout {
                doing: doing.to_owned(),
                seconds: limit.as_secs_f64(),
            })?,
        };
        answer.map_err(|fault| Error::of(doing, fault))
    }
}

/// The use of a connection. Dropping it early has the server end what runs, roll back, and close the connection.
pub(crate) struct Lease {
    client: Client,
    /// Until it is given back.
    connection: Option<Connection>,
}

impl Lease {
    /// The connection.
    ///
    /// # Errors
    ///
    /// Never, while nothing is given back.
    pub(crate) fn connection(&mut self) -> Result<&mut Connection> {
        self.connection.as_mut().ok_or_else(|| Error::Broken {
            doing: "using a connection".to_owned(),
            what: "it was given back".to_owned(),
        })
    }

    /// Runs a statement that gives no rows.
    pub(crate) async fn execute(&mut self, doing: &str, statement: &str) -> Result<u64> {
        let client = self.client.clone();
        let connection = self.connection()?;
        let done = client.within(doing, connection.execute(statement)).await?;
        Ok(done.affected)
    }

    /// The rows of a query of this crate's own on this connection, as texts.
    pub(crate) async fn texts(
        &mut self,
        client: &Client,
        doing: &str,
        query: &str,
    ) -> Result<Vec<Vec<Option<String>>>> {
        let connection = self.connection()?;
        read::texts(client, connection, doing, query).await
    }

    /// Has the server end the connection and what it does, and then run a statement, without the runtime, which may be going.
    pub(crate) fn end_now(mut self, then: String) {
        if let Some(connection) = self.connection.take() {
            self.client.route().end_now(connection, then);
        }
    }

    /// Has the server end the connection and what it does, run a statement, and waits for both.
    pub(crate) async fn end(mut self, then: Option<String>) {
        if let Some(connection) = self.connection.take() {
            self.client.route().end(connection, then).await;
        }
    }

    /// Closes the connection, on which nothing runs any more: a transaction that is open is undone.
    pub(crate) fn close(mut self) {
        self.connection = None;
    }

    /// Keeps the connection, on which nothing runs any more, outside of any transaction.
    pub(crate) fn done(mut self) {
        if let Some(connection) = self.connection.take() {
            self.client.give_back(connection);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.client.route().abandon(connection);
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
