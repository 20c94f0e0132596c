//! Starts and stops the server.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tidemill_sql::SessionOptions;
use tidemill_trust::{printable, without_secrets};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::error::{Error, Result};
use crate::http::Reports;
use crate::statement::Cancels;
use crate::stores::Stores;
use crate::users::{Logins, Throttle, Users, Verifier};
use crate::{flight, http, postgres};

/// What a server listens to, and what it serves.
#[derive(Debug)]
pub struct ServerOptions {
    /// Folders of tables. Tables of the first are named without a schema; each other folder is a schema of its name.
    pub folders: Vec<PathBuf>,
    /// Names of schemas, with their folders or URLs of databases.
    pub attached: Vec<(String, String)>,
    /// Folders whose files may also be named by absolute paths. Default: none.
    pub allowed_paths: Vec<PathBuf>,
    /// The options of sessions.
    pub session: SessionOptions,
    /// The address for PostgreSQL's protocol.
    pub postgres: Option<SocketAddr>,
    /// The address for Arrow Flight SQL.
    pub flight: Option<SocketAddr>,
    /// The address for HTTP.
    pub http: Option<SocketAddr>,
    /// Who may log in. Default: everybody on this machine.
    pub users: Option<Users>,
    /// The certificate of the server. Default: none; connections are not encrypted.
    pub tls: Option<TlsFiles>,
    /// The most connections, of each protocol. Default: 500.
    pub connections: usize,
    /// How long running statements may continue when the server stops. Default: 10 s.
    pub grace: Duration,
    /// Statements that take longer are logged with their text. Default: none are.
    pub slow: Option<Duration>,
    /// The reports of load tests that the page shows. Default: none.
    pub reports: Option<Reports>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            folders: Vec::new(),
            attached: Vec::new(),
            allowed_paths: Vec::new(),
            session: SessionOptions::default(),
            postgres: None,
            flight: None,
            http: None,
            users: None,
            tls: None,
            connections: 500,
            grace: Duration::from_secs(10),
            slow: None,
            reports: None,
        }
    }
}

/// Files in the PEM format.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The server's certificate, and the chain to its authority.
    pub certificate: PathBuf,
    /// The certificate's private key.
    pub key: PathBuf,
    /// Authorities, one of which must have signed each client's certificate. Default: none; clients need no certificate.
    pub client_authorities: Option<PathBuf>,
}

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) stores: Stores,
    pub(crate) users: Option<Users>,
    pub(crate) throttle: Throttle,
    /// A random key, for the hashes of tokens and logins and for the verifiers of unknown names.
    pub(crate) secret: [u8; 32],
    /// The TLS configuration of all protocols.
    pub(crate) tls: Option<Arc<ServerConfig>>,
    /// Whether clients need a certificate.
    pub(crate) asks_for_certificates: bool,
    pub(crate) running: postgres::Running,
    pub(crate) slow: Option<Duration>,
    pub(crate) statements: http::Counters,
    /// Whether the server is stopping.
    pub(crate) stop: watch::Receiver<bool>,
    pub(crate) connections: usize,
    pub(crate) cancels: Cancels,
    pub(crate) copies: http::Copies,
    pub(crate) reports: Option<Reports>,
    /// Hashes of logins that were right: a browser sends its password with each request.
    pub(crate) logins: Logins,
    /// The tokens of Flight SQL.
    pub(crate) tokens: flight::Tokens,
}

impl Shared {
    /// Counts a statement that has ended, and logs it.
    pub(crate) fn log(
        &self,
        door: &'static str,
        user: &str,
        text: &str,
        begun: Instant,
        rows: u64,
        error: Option<String>,
    ) {
        let time = begun.elapsed();
        self.statements.count(time, error.is_some());
        let is_slow = self.slow.is_some_and(|slow| time >= slow);
        let shown = if is_slow { without_secrets(text) } else { "".into() };
        let statement: String = printable(&shown).chars().take(2000).collect();
        let error = error.unwrap_or_default();
        let (user, milliseconds) = (printable(user), time.as_secs_f64() * 1000.0);
        tracing::info!(door, %user, milliseconds, rows, %error, %statement, "statement");
    }

    /// The verifier of a user's password.
    pub(crate) fn verifier(&self, user: &str) -> Verifier {
        let known = self.users.as_ref().and_then(|users| users.find(user));
        match known {
            Some(user) => user.verifier.clone(),
            None => Verifier::of_nobody(user, &self.secret),
        }
    }
}

/// A server that listens.
pub struct Server {
    shared: Arc<Shared>,
    postgres: Option<TcpListener>,
    flight: Option<TcpListener>,
    http: Option<TcpListener>,
    stop: watch::Sender<bool>,
    grace: Duration,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("postgres", &self.postgres)
            .field("flight", &self.flight)
            .field("http", &self.http)
            .finish()
    }
}

impl Server {
    /// Checks the options, and listens.
    ///
    /// # Errors
    ///
    /// [`Error::Settings`] for an address that other machines reach without users or without a certificate, and for options that contradict
    /// each other; [`Error::Store`] for a store that does not exist; [`Error::Io`] for an address or a file that cannot be used.
    pub async fn bind(options: ServerOptions) -> Result<Self> {
        let users = options.users.filter(|users| !users.is_empty());
        for address in options.postgres.iter().chain(&options.flight).chain(&options.http) {
            check_address(*address, users.is_some(), options.tls.is_some())?;
        }
        let stores = Stores::new(
            options.session,
            &options.folders,
            &options.attached,
            &options.allowed_paths,
        )?;
        let (stop, stopped) = watch::channel(false);
        let shared = Shared {
            stores,
            users,
            throttle: Throttle::default(),
            secret: crate::users::random(),
            asks_for_certificates: options.tls.as_ref().is_some_and(|tls| tls.client_authorities.is_some()),
            tls: options.tls.as_ref().map(tls).transpose()?,
            running: postgres::Running::default(),
            slow: options.slow,
            statements: http::Counters::default(),
            stop: stopped,
            connections: options.connections,
            cancels: Cancels::default(),
            copies: http::Copies::default(),
            reports: options.reports,
            logins: Logins::default(),
            tokens: flight::Tokens::default(),
        };
        Ok(Self {
            shared: Arc::new(shared),
            postgres: listen(options.postgres).await?,
            flight: listen(options.flight).await?,
            http: listen(options.http).await?,
            stop,
            grace: options.grace,
        })
    }

    /// The address for PostgreSQL's protocol.
    #[must_use]
    pub fn postgres(&self) -> Option<SocketAddr> {
        self.postgres.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// The address for Arrow Flight SQL.
    #[must_use]
    pub fn flight(&self) -> Option<SocketAddr> {
        self.flight.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// The address for HTTP.
    #[must_use]
    pub fn http(&self) -> Option<SocketAddr> {
        self.http.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// Serves clients until `ended` completes. Then no new client is accepted, running statements have the grace time to end, and
    /// uncommitted transactions are rolled back.
    ///
    /// # Errors
    ///
    /// [`Error::Listener`] if a listener ends by itself, after the same grace time. A failure to accept a connection is retried.
    pub async fn run(self, ended: impl Future<Output = ()>) -> Result<()> {
        let Self {
            shared,
            postgres,
            flight,
            http,
            stop,
            grace,
        } = self;
        // Each connection of PostgreSQL's protocol holds a permit; when all permits are free, all connections have ended.
        let connections = u32::try_from(shared.connections).unwrap_or(u32::MAX);
        let open = Arc::new(Semaphore::new(shared.connections));
        let mut listeners = JoinSet::new();
        if let Some(listener) = postgres {
            listeners.spawn(postgres::listen(listener, Arc::clone(&shared), Arc::clone(&open)));
        }
        if let Some(listener) = flight {
            listeners.spawn(flight::listen(listener, Arc::clone(&shared)));
        }
        if let Some(listener) = http {
            listeners.spawn(http::listen(listener, Arc::clone(&shared)));
        }
        // A server that answers at some of its addresses only would go unnoticed.
        let done = tokio::select! {
            () = ended => Ok(()),
            Some(listener) = listeners.join_next() => Err(Error::Listener(listener.err())),
        };
        let _ = stop.send(true);
        let copies = Arc::clone(&shared);
        // What is still in flight after the grace time is dropped with the runtime.
        let _ = tokio::time::timeout(grace, async {
            let _ = open.acquire_many(connections).await;
            copies.copies.ended().await;
            while listeners.join_next().await.is_some() {}
        })
        .await;
        done
    }
}

async fn listen(address: Option<SocketAddr>) -> Result<Option<TcpListener>> {
    let Some(address) = address else { return Ok(None) };
    let listener = TcpListener::bind(address).await;
    listener.map(Some).map_err(|source| Error::Io {
        what: format!("{address}: cannot listen"),
        source,
    })
}

fn check_address(address: SocketAddr, has_users: bool, has_certificate: bool) -> Result<()> {
    let missing = match (has_users, has_certificate) {
        (true, true) => return Ok(()),
        _ if address.ip().is_loopback() => return Ok(()),
        (false, _) => "users (--users FILE, written by `tidemill user add`)",
        (true, false) => "a certificate (--tls-cert FILE --tls-key FILE)",
    };
    Err(Error::Settings {
        what: format!("{address} can be reached by other machines, and there are no {missing}"),
        hint: "give them, or listen to 127.0.0.1".to_owned(),
    })
}

fn tls(files: &TlsFiles) -> Result<Arc<ServerConfig>> {
    let wrong = |file: &PathBuf, what: String| Error::Settings {
        what: format!("{}: {what}", file.display()),
        hint: "give a certificate and its key in the PEM format".to_owned(),
    };
    let certificates = |file: &PathBuf| {
        CertificateDer::pem_file_iter(file)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| wrong(file, error.to_string()))
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let clients = match &files.client_authorities {
        None => WebPkiClientVerifier::no_client_auth(),
        Some(file) => {
            let mut authorities = RootCertStore::empty();
            for authority in certificates(file)? {
                authorities
                    .add(authority)
                    .map_err(|error| wrong(file, error.to_string()))?;
            }
            WebPkiClientVerifier::builder_with_provider(Arc::new(authorities), Arc::clone(&provider))
                .build()
                .map_err(|error| wrong(file, error.to_string()))?
        }
    };
    let chain = certificates(&files.certificate)?;
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| wrong(&files.key, error.to_string()))?;
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_client_cert_verifier(clients).with_single_cert(chain, key))
        .map_err(|error| wrong(&files.certificate, error.to_string()))?;
    Ok(Arc::new(config))
}
