//! `tidemill serve`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use tidemill_server::{Server, ServerOptions, TlsFiles, Users};
use tidemill_sql::SessionOptions;
use tidemill_xbase::{CodePage, PendingLog, pending_logs, recover_folders};

use crate::args::{BlankArg, bytes, name_and_place, seconds};
use crate::commands::recover::redone;
use crate::terminal::{say, tell};
use crate::{Outcome, Stopped};

/// Serve folders and databases to programs: over PostgreSQL's protocol, Arrow Flight SQL and HTTP, and on a web page.
///
/// The tables of the first folder are named by their names alone; each further folder is a schema of its name, and so is each
/// --attach. Clients can name these tables only: no path, no URL. Without --users, only this machine can connect.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// The folders to serve. Default: the current folder, if nothing is attached.
    #[arg(value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Also serve this folder, file or database under a name: shop=clickhouse://host/shop.
    #[arg(long, value_name = "NAME=URL", value_parser = name_and_place)]
    attach: Vec<(String, String)>,
    /// Also let statements name files below this folder by their whole paths. Default: no paths.
    #[arg(long, value_name = "DIR")]
    allow_paths: Vec<PathBuf>,
    /// The address for PostgreSQL's protocol, or `off`.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:5433", value_parser = address)]
    postgres: Address,
    /// The address for Arrow Flight SQL, or `off`.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8815", value_parser = address)]
    flight: Address,
    /// The address for HTTP and the page, or `off`.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080", value_parser = address)]
    http: Address,
    /// Only let users in who are listed in this file, which `tidemill user add` writes.
    #[arg(long, value_name = "FILE")]
    users: Option<PathBuf>,
    /// Encrypt connections with this certificate, in PEM format.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate, in PEM format.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Only let clients in that show a certificate signed by one of these authorities, in PEM format.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_client_ca: Option<PathBuf>,
    /// Memory for the sorts, groups and joins of one connection, for example 512M. Default: no limit.
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    memory: Option<usize>,
    /// The most connections at the same time, for each protocol.
    #[arg(long, value_name = "N", default_value_t = 500)]
    connections: usize,
    /// After Ctrl-C or TERM: how long running statements may take to finish.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    grace: Duration,
    /// Log the text of statements that take at least this long.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    slow: Option<Duration>,
    /// Show the reports of load tests in this folder on the page: the files that `tidemill bench run` writes, named .json.
    #[cfg(feature = "bench")]
    #[arg(long, value_name = "DIR")]
    reports: Option<PathBuf>,
    /// Do not log statements to standard error.
    #[arg(short, long)]
    quiet: bool,
    /// Override the code page stored in xBase tables (cp437, cp850, cp1252, koi8-r, ...).
    #[arg(long, value_name = "NAME")]
    codepage: Option<CodePage>,
    /// Read blank numbers, logicals and dates of xBase tables as NULL (`null`), or as 0, false and an empty date (`zero`).
    /// Default: null.
    #[arg(long, value_enum)]
    blank: Option<BlankArg>,
}

/// Where to listen, if anywhere.
#[derive(Clone, Copy, Debug)]
struct Address(Option<SocketAddr>);

fn address(text: &str) -> Result<Address, String> {
    match text {
        "off" => Ok(Address(None)),
        _ => match text.parse() {
            Ok(address) => Ok(Address(Some(address))),
            Err(_) => Err("expected an IP address and a port, such as 127.0.0.1:5433, or off".to_owned()),
        },
    }
}

#[cfg(feature = "bench")]
fn page(report: &std::path::Path) -> Result<String, String> {
    tidemill_bench::report::html(report, None).map_err(|error| tidemill_sql::with_causes(&error))
}

/// Applies what dead programs had committed in these folders, so that clients can read the tables. Reports what it did, and what it cannot
/// do.
fn recover(folders: &[PathBuf]) {
    let is_waiting = |log: &PendingLog| !log.in_use && log.refused.is_none();
    let mut logs = folders
        .iter()
        .flat_map(|folder| pending_logs(folder).unwrap_or_default());
    if !logs.any(|log| is_waiting(&log)) {
        return;
    }
    match recover_folders(folders) {
        Ok(logs) => logs.iter().for_each(|log| tell!("{}", redone(log))),
        Err(error) => tell!("{error}; its tables cannot be read until tidemill recover has applied the log"),
    }
}

pub(crate) async fn run(args: ServeArgs, mut stopped: Stopped) -> anyhow::Result<Outcome> {
    if !args.quiet {
        tracing_subscriber::fmt()
            .with_writer(std::io::stderr)
            .with_target(false)
            .init();
    }
    let mut folders = args.folders;
    if folders.is_empty() && args.attach.is_empty() {
        folders.push(PathBuf::from("."));
    }
    recover(&folders);
    let mut session = SessionOptions::default();
    if let Some(memory) = args.memory {
        session = session.memory(memory);
    }
    if let Some(codepage) = args.codepage {
        session = session.codepage(codepage);
    }
    if let Some(blank) = args.blank {
        session = session.blank(blank.into());
    }
    let users = args.users.as_deref().map(Users::read).transpose()?;
    let has_users = users.is_some();
    let tls = args.tls_cert.zip(args.tls_key).map(|(certificate, key)| TlsFiles {
        certificate,
        key,
        client_authorities: args.tls_client_ca,
    });
    let is_encrypted = tls.is_some();
    let server = Server::bind(ServerOptions {
        folders,
        attached: args.attach,
        allowed_paths: args.allow_paths,
        session,
        postgres: args.postgres.0,
        flight: args.flight.0,
        http: args.http.0,
        users,
        tls,
        connections: args.connections.max(1),
        grace: args.grace,
        slow: args.slow,
        #[cfg(feature = "bench")]
        reports: args.reports.map(|folder| tidemill_server::Reports { folder, page }),
        #[cfg(not(feature = "bench"))]
        reports: None,
    });
    let server = server.await.context("cannot serve")?;
    if let Some(address) = server.postgres() {
        let user = if has_users { " user=NAME" } else { "" };
        say!(
            "PostgreSQL  psql \"host={} port={} dbname=tidemill{user}\"",
            address.ip(),
            address.port()
        )?;
    }
    if let Some(address) = server.flight() {
        let scheme = if is_encrypted { "grpc+tls" } else { "grpc" };
        say!("Flight SQL  {scheme}://{address}")?;
    }
    if let Some(address) = server.http() {
        let scheme = if is_encrypted { "https" } else { "http" };
        say!("Page        {scheme}://{address}/")?;
    }
    say!("Press Ctrl-C to stop.")?;
    server
        .run(async move {
            // An error means that the sender is gone, which also ends the wait.
            let _ = stopped.wait_for(|stops| *stops).await;
        })
        .await?;
    Ok(Outcome::Done)
}
