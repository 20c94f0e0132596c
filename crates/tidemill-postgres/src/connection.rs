//! One connection to a server: its socket, TLS, and the task that drives it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_postgres::config::SslMode;
use tokio_postgres::{CancelToken, Config, NoTls};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::bounded::Bounded;
use crate::error::{Error, Result, ServerError, words};
use crate::options::Options;

/// How a server is reached.
pub(crate) struct Route {
    pub(crate) options: Options,
    pub(crate) tls: Option<Arc<ClientConfig>>,
}

/// A connection on which one request runs at a time. It is closed when the last of its clones is dropped.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) client: Arc<tokio_postgres::Client>,
    driver: AbortHandle,
}

impl Connection {
    pub(crate) async fn open(route: &Route) -> Result<Self> {
        let limit = route.options.connect_timeout;
        let opened = timeout(limit, Self::open_unbounded(route)).await;
        opened.unwrap_or_else(|_| Err(too_slow(&route.options, limit)))
    }

    async fn open_unbounded(route: &Route) -> Result<Self> {
        let options = &route.options;
        let stream = route.stream().await?;
        let mut config = Config::new();
        // What is encrypted is so already.
        config.ssl_mode(SslMode::Disable);
        config.application_name(&options.application_name);
        if let Some(user) = &options.user {
            config.user(user);
        }
        if let Some(password) = &options.password {
            config.password(password);
        }
        if let Some(database) = &options.database {
            config.dbname(database);
        }
        if let Some(session) = &options.session {
            config.options(session);
        }
        let connected = config.connect_raw(Bounded::new(stream), NoTls).await;
        let (client, connection) = connected.map_err(|error| refused(options, &error))?;
        let driver = tokio::spawn(async move {
            // Pending requests fail: no answer will come.
            let _ = connection.await;
        });
        Ok(Self {
            client: Arc::new(client),
            driver: driver.abort_handle(),
        })
    }

    /// Has the server stop what it does for this connection.
    pub(crate) fn cancel(&self, route: &Arc<Route>) {
        if let Ok(runtime) = Handle::try_current() {
            let (token, route) = (self.client.cancel_token(), Arc::clone(route));
            runtime.spawn(async move {
                // It is a wish: what has ended already is not stopped.
                let _ = timeout(route.options.connect_timeout, cancel(&route, &token)).await;
            });
        }
    }

    /// Has the server stop what it does for this connection, which is closed.
    pub(crate) fn abandon(&self, route: &Arc<Route>) {
        let Ok(runtime) = Handle::try_current() else {
            self.driver.abort();
            return;
        };
        let (token, route, driver) = (self.client.cancel_token(), Arc::clone(route), self.driver.clone());
        runtime.spawn(async move {
            let limit = route.options.connect_timeout;
            let _ = timeout(limit, cancel(&route, &token)).await;
            driver.abort();
        });
    }
}

async fn cancel(route: &Route, token: &CancelToken) -> Result<()> {
    let stream = route.stream().await?;
    let cancelled = token.cancel_query_raw(stream, NoTls).await;
    cancelled.map_err(|error| refused(&route.options, &error))
}

/// What a connection is made of.
trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Socket for S {}

impl Route {
    /// A new stream to the server, encrypted where it is to be.
    async fn stream(&self) -> Result<Box<dyn Socket>> {
        let Options { host, port, .. } = &self.options;
        let failed = |error: io::Error| unreachable(&self.options, error.to_string());
        if self.options.is_socket() {
            let path = format!("{host}/.s.PGSQL.{port}");
            return Ok(Box::new(UnixStream::connect(path).await.map_err(failed)?));
        }
        let mut stream = TcpStream::connect((host.as_str(), *port)).await.map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        let alive = TcpKeepalive::new().with_time(KEEPALIVE);
        SockRef::from(&stream).set_tcp_keepalive(&alive).map_err(failed)?;
        let Some((config, options)) = self.tls.as_ref().zip(self.options.tls.as_ref()) else {
            return Ok(Box::new(stream));
        };
        stream.write_all(&SSL_REQUEST).await.map_err(failed)?;
        // No more is read, lest something be taken for encrypted that is not.
        let mut answer = [0];
        stream.read_exact(&mut answer).await.map_err(failed)?;
        match answer {
            [b'S'] => {}
            [b'N'] if options.is_optional => return Ok(Box::new(stream)),
            [b'N'] => {
                let what = "the server does not encrypt connections; secure=false or sslmode=prefer asks it without";
                return Err(unreachable(&self.options, what));
            }
            [other] => {
                let what = format!(
                    "expected S or N on a request for TLS, found the byte 0x{other:02x}; is this a PostgreSQL server?"
                );
                return Err(unreachable(&self.options, what));
            }
        }
        let name = ServerName::try_from(host.clone()).map_err(|error| Error::Tls {
            what: format!("{host}: {error}"),
        })?;
        let encrypted = TlsConnector::from(Arc::clone(config)).connect(name, stream).await;
        encrypted
            .map(|stream| Box::new(stream) as Box<dyn Socket>)
            .map_err(|error| unreachable(&self.options, format!("TLS: {error}")))
    }
}

fn unreachable(options: &Options, what: impl Into<String>) -> Error {
    Error::Connect {
        host: options.address(),
        what: what.into(),
        server: None,
    }
}

fn refused(options: &Options, error: &tokio_postgres::Error) -> Error {
    let server = error.as_db_error().map(|error| Box::new(ServerError::new(error)));
    let what = match &server {
        Some(error) => error.to_string(),
        None => words(error),
    };
    Error::Connect {
        host: options.address(),
        what,
        server,
    }
}

fn too_slow(options: &Options, limit: Duration) -> Error {
    let seconds = limit.as_secs_f64();
    unreachable(
        options,
        format!("no answer within {seconds} s; the option connect_timeout allows more"),
    )
}

/// After how long a silence the system asks whether the server's machine is there.
const KEEPALIVE: Duration = Duration::from_secs(60);
/// PostgreSQL's manual, "Message Formats": SSLRequest.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];
