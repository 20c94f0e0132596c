//! `tidemill worker`, and what `--workers` says of workers.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use tidemill_sql::{SessionOptions, Worker, WorkerTls, Workers};
use tokio::net::TcpListener;

use crate::args::bytes;
use crate::terminal::say;
use crate::{Outcome, Stopped};

/// Read, group, join and sort files for `tidemill sql --workers` on other machines.
///
/// The worker reads files in the named folders and objects below the named URLs, and nothing else. It must find them at the same paths
/// and URLs as the machine that sends the statement: on a shared file system or in an object store.
#[derive(Debug, clap::Args)]
pub(crate) struct WorkerArgs {
    /// The folders and URLs of objects to read: /data, s3://bucket/prefix.
    #[arg(value_name = "PLACE", required = true)]
    places: Vec<String>,
    /// The address to listen on. One that the network reaches needs --token-file or --tls-client-ca.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7300")]
    listen: SocketAddr,
    /// Only answer clients that send the token in this file.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Encrypt connections with this certificate, in PEM format.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate, in PEM format.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Only let clients in that show a certificate signed by one of these authorities, in PEM format.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_client_ca: Option<PathBuf>,
    /// Trust other workers whose certificates are signed by one of these authorities, in PEM format. Default: those of the system.
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Memory for sorting, grouping and joining, for example 4G. Default: no limit.
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    memory: Option<usize>,
}

/// Which workers answer a statement.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct WorkersArgs {
    /// Have these workers read, group, join and sort the files of the statement: host:port, or https://host:port. See `tidemill worker`.
    #[arg(long, value_name = "ADDRESS,...", value_delimiter = ',')]
    workers: Vec<String>,
    /// The file with the token that the workers ask for.
    #[arg(long, value_name = "FILE", requires = "workers")]
    workers_token_file: Option<PathBuf>,
    /// Trust workers whose certificates are signed by one of these authorities, in PEM format. Default: those of the system.
    #[arg(long, value_name = "FILE", requires = "workers")]
    workers_ca: Option<PathBuf>,
    /// The certificate to show to workers, in PEM format.
    #[arg(long, value_name = "FILE", requires = "workers_key")]
    workers_cert: Option<PathBuf>,
    /// The private key of that certificate, in PEM format.
    #[arg(long, value_name = "FILE", requires = "workers_cert")]
    workers_key: Option<PathBuf>,
}

impl WorkersArgs {
    /// These settings with the workers, if there are any.
    pub(crate) fn of_session(&self, options: SessionOptions) -> anyhow::Result<SessionOptions> {
        if self.workers.is_empty() {
            return Ok(options);
        }
        let mut workers = Workers::new(&self.workers)?;
        if let Some(file) = &self.workers_token_file {
            workers = workers.token(token(file)?);
        }
        if let Some(file) = &self.workers_ca {
            workers = workers.ca(read(file)?);
        }
        if let (Some(certificate), Some(key)) = (&self.workers_cert, &self.workers_key) {
            workers = workers.identity(read(certificate)?, read(key)?);
        }
        Ok(options.workers(workers))
    }
}

fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(file).with_context(|| format!("{}: cannot read", file.display()))
}

/// The first line of a file.
fn token(file: &Path) -> anyhow::Result<String> {
    let text = String::from_utf8(read(file)?).ok();
    let token = text
        .as_deref()
        .and_then(|text| text.lines().next())
        .unwrap_or_default()
        .trim();
    match token.len() >= 16 && token.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(token.to_owned()),
        false => bail!(
            "{}: expected a token of at least 16 letters and digits on the first line, as `openssl rand -hex 32` prints it",
            file.display()
        ),
    }
}

pub(crate) async fn run(args: WorkerArgs, mut stopped: Stopped) -> anyhow::Result<Outcome> {
    let mut options = SessionOptions::default();
    if let Some(memory) = args.memory {
        options = options.memory(memory);
    }
    let mut worker = Worker::new(&args.places, options)?;
    if let Some(file) = &args.token_file {
        worker = worker.token(token(file)?);
    }
    if let Some(file) = &args.ca {
        worker = worker.ca(read(file)?);
    }
    if let (Some(certificate), Some(key)) = (&args.tls_cert, &args.tls_key) {
        worker = worker.tls(WorkerTls {
            certificate: read(certificate)?,
            key: read(key)?,
            client_ca: args.tls_client_ca.as_deref().map(read).transpose()?,
        });
    }
    let listener = TcpListener::bind(args.listen).await;
    let listener = listener.with_context(|| format!("{}: cannot listen", args.listen))?;
    let address = listener.local_addr().context("cannot listen")?;
    worker.check(address)?;
    let scheme = if args.tls_cert.is_some() { "https://" } else { "" };
    say!("Worker      tidemill sql --workers {scheme}{address} …")?;
    say!("Press Ctrl-C to stop.")?;
    let serving = worker.serve(listener, async move {
        // An error means that the sender is gone, which also ends the wait.
        let _ = stopped.wait_for(|stops| *stops).await;
    });
    serving.await?;
    Ok(Outcome::Done)
}
