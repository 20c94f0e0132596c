//! Connections that are used again.

use std::{
    env, fs,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use deadpool::managed::{Metrics, RecycleError, RecycleResult};
use socket2::{SockRef, TcpKeepalive};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream, lookup_host},
    time::{sleep, timeout},
};
use tokio_rustls::TlsConnector;
use tracing::Instrument;

use super::{Options, options::Endpoint, query_id::QueryIds, trace::connect_span, transport::Transport};
use crate::{
    Error, Result,
    connection::ClientConnection,
    packet::client::{ClientHello, ClientInfo, Interface},
};

pub(crate) type Pool = deadpool::managed::Pool<Manager>;
pub(crate) type Pooled = deadpool::managed::Object<Manager>;

/// Makes connections, and tells which may be used again.
pub(crate) struct Manager {
    pub(crate) options: Options,
    pub(crate) query_ids: QueryIds,
    /// Who asks, as every query says.
    pub(crate) info: Arc<ClientInfo>,
    tls: Option<TlsConnector>,
    /// Which endpoint the next connection tries first.
    next: AtomicUsize,
    /// Whether all queries have one connection, and whether it was made.
    session: Option<AtomicBool>,
}

impl Manager {
    pub(crate) fn new(options: Options) -> Result<Self> {
        let tls = options.tls.as_ref().map(|tls| tls.connector()).transpose()?;
        Ok(Self {
            info: Arc::new(client_info(&options)),
            options,
            query_ids: QueryIds::new(),
            tls,
            next: AtomicUsize::new(0),
            session: None,
        })
    }

    /// Makes connections to the same servers, encrypted in the same way, by the options of the same client for another user.
    pub(crate) fn with_options(&self, options: Options) -> Self {
        Self {
            info: self.info.clone(),
            options,
            query_ids: QueryIds::new(),
            tls: self.tls.clone(),
            next: AtomicUsize::new(0),
            session: None,
        }
    }

    /// Makes one connection only, which no other takes the place of.
    pub(crate) fn of_session(self) -> Self {
        Self {
            session: Some(AtomicBool::new(false)),
            ..self
        }
    }

    /// Tries each endpoint in turn, and all of them again after a while. What a server itself refuses is final.
    async fn connect(&self) -> Result<Transport> {
        let endpoints = &self.options.endpoints;
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        let mut last = Error::Option {
            option: "endpoints".to_owned(),
            expected: "at least one".to_owned(),
        };
        for round in 0..self.options.connect_rounds.max(1) {
            if round > 0 {
                sleep(PAUSE.saturating_mul(round)).await;
            }
            for at in 0..endpoints.len() {
                let Some(endpoint) = endpoints.get(first.wrapping_add(at) % endpoints.len()) else {
                    continue;
                };
                let limit = self.options.connect_timeout;
                let span = connect_span(endpoint, &self.options);
                let connected = timeout(limit, self.connect_to(endpoint)).instrument(span).await;
                match connected.unwrap_or(Err(Error::Timeout {
                    action: "connect to the server",
                    limit,
                })) {
                    Ok(transport) => return Ok(transport),
                    Err(error @ (Error::Server(_) | Error::Option { .. } | Error::Unsupported { .. })) => {
                        return Err(error);
                    }
                    Err(error) => {
                        tracing::debug!(%endpoint, %error, "cannot connect");
                        last = error;
                    }
                }
            }
        }
        Err(last)
    }

    async fn connect_to(&self, endpoint: &Endpoint) -> Result<Transport> {
        let options = &self.options;
        let hello = ClientHello {
            name: options.client_name.clone(),
            database: options.database.clone(),
            user: options.user.clone(),
            password: options.password.clone(),
            ..ClientHello::default()
        };
        let protocol = ClientConnection::new(hello, &options.quota_key)?;
        let socket = open(&endpoint.host, options.port(endpoint), options.keep_alive).await?;
        let mut transport = match (&self.tls, &options.tls) {
            (Some(connector), Some(tls)) => {
                let name = tls.server_name(&endpoint.host)?;
                let socket = connector.connect(name, socket).await;
                Transport::tls(
                    socket.map_err(Error::io("agree on TLS with the server"))?,
                    protocol,
                    options,
                )
            }
            _ => Transport::plain(socket, protocol, options),
        };
        let handshake = {
            let mut handshake = Box::pin(transport.handshake());
            tokio::select! {
                done = &mut handshake => done,
                // An HTTP server waits for the end of a request that never comes.
                () = sleep(SILENCE) => match answers_http(&endpoint.host, options.port(endpoint)).await {
                    true => Err(of_http(endpoint, options)),
                    false => handshake.await,
                },
            }
        };
        match handshake {
            Ok(()) => Ok(transport),
            // `H`, with which an answer of HTTP begins.
            Err(Error::Protocol {
                what: "the kind of a packet",
                found,
                ..
            }) if found == "72" => Err(of_http(endpoint, options)),
            Err(error) => Err(error),
        }
    }
}

fn of_http(endpoint: &Endpoint, options: &Options) -> Error {
    Error::Option {
        option: format!("{}:{}", endpoint.host, options.port(endpoint)),
        expected: "a port of the native protocol, which is 9000, or 9440 with TLS, unless the server says otherwise; this one \
                   answers by HTTP"
            .to_owned(),
    }
}

/// Whether a port speaks HTTP, without encryption.
async fn answers_http(host: &str, port: u16) -> bool {
    let ask = async {
        let mut socket = open(host, port, Duration::ZERO).await.ok()?;
        socket.write_all(b"GET /ping HTTP/1.0\r\n\r\n").await.ok()?;
        let mut beginning = [0; 5];
        socket.read_exact(&mut beginning).await.ok()?;
        Some(beginning == *b"HTTP/")
    };
    timeout(SILENCE, ask).await.ok().flatten().unwrap_or_default()
}

/// How long a server says nothing before it is asked whether it speaks HTTP.
const SILENCE: Duration = Duration::from_secs(1);

/// Connects to the first address of `host` that answers.
async fn open(host: &str, port: u16, keep_alive: Duration) -> Result<TcpStream> {
    let addresses = lookup_host((host, port)).await.map_err(Error::io("find the server"))?;
    let mut last = Error::Closed {
        why: "the server's name has no address",
    };
    for address in addresses {
        let opened = async {
            let socket = if address.is_ipv4() {
                TcpSocket::new_v4()
            } else {
                TcpSocket::new_v6()
            }?;
            if !keep_alive.is_zero() {
                // Systems count in seconds, and refuse none of them.
                let keep_alive = TcpKeepalive::new().with_time(keep_alive.max(Duration::from_secs(1)));
                SockRef::from(&socket).set_tcp_keepalive(&keep_alive)?;
            }
            let socket = socket.connect(address).await?;
            socket.set_nodelay(true)?;
            Ok(socket)
        };
        match opened.await {
            Ok(socket) => return Ok(socket),
            Err(error) => last = Error::io("connect to the server")(error),
        }
    }
    Err(last)
}

impl deadpool::managed::Manager for Manager {
    /// In a box: it is large, and moves through the states of queries.
    type Type = Box<Transport>;
    type Error = Error;

    async fn create(&self) -> Result<Box<Transport>> {
        if let Some(is_made) = &self.session
            && is_made.swap(true, Ordering::Relaxed)
        {
            return Err(Error::Closed {
                why: "the session's connection was lost, and its temporary tables and settings with it; begin a new session",
            });
        }
        // Its state is large, and would be a part of that of every query.
        Box::pin(self.connect()).await.map(Box::new)
    }

    async fn recycle(&self, transport: &mut Box<Transport>, _: &Metrics) -> RecycleResult<Error> {
        if !transport.is_idle() {
            return Err(RecycleError::message("in the middle of something, or closed"));
        }
        let idle = transport.last_used.elapsed();
        if idle > self.options.idle_timeout || transport.has_secrets_to_read() || transport.protocol.is_doubtful() {
            let limit = self.options.connect_timeout;
            match Box::pin(timeout(limit, transport.ping())).await {
                Ok(Ok(())) => {}
                _ => return Err(RecycleError::message("does not answer")),
            }
        }
        Ok(())
    }
}

/// What `system.processes` and the log of queries show of who asked: the system's user and host are what the environment says,
/// as `clickhouse-client` tells them.
fn client_info(options: &Options) -> ClientInfo {
    let of_environment = |names: [&str; 2]| {
        names
            .into_iter()
            .find_map(|name| env::var(name).ok())
            .unwrap_or_default()
    };
    let host = fs::read_to_string("/proc/sys/kernel/hostname");
    let hello = ClientHello::default();
    ClientInfo {
        interface: Interface::Tcp {
            os_user: of_environment(["USER", "USERNAME"]),
            host: host.map_or_else(
                |_| of_environment(["HOSTNAME", "COMPUTERNAME"]),
                |host| host.trim_end().to_owned(),
            ),
            name: options.client_name.clone(),
            version_major: hello.version_major,
            version_minor: hello.version_minor,
            revision: hello.revision,
        },
        quota_key: options.quota_key.clone(),
        ..ClientInfo::default()
    }
}

const PAUSE: Duration = Duration::from_millis(100);
