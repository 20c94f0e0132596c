//! A worker: it reads what it is allowed to, runs the stages that it receives, and sends their rows to the requester.

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::common::{DataFusionError, Result as EngineResult};
use datafusion::config::ConfigOptions;
use datafusion::execution::SessionState;
use datafusion::physical_optimizer::PhysicalOptimizerRule as _;
use datafusion_distributed::{
    DistributedExt as _, Worker as Service, WorkerPlanRewriteEvent, WorkerPlanRewriteEventResponse, WorkerQueryContext,
};
use futures::Stream;
use subtle::ConstantTimeEq as _;
use tokio::net::TcpListener;
use tonic::codegen::InterceptedService;
use tonic::transport::{Certificate, Identity, Server, ServerTlsConfig};
use tonic::{Request, Status};
use url::Url;

use super::VERSION;
use super::channels::{Channels, choose_tls};
use super::scan::{ScanCodec, Travelling, TravellingPlace};
use super::table::{FORMATS, of_location};
use crate::checked_arithmetic::CheckedArithmetic;
use crate::location::{Location, Place};
use crate::options::SessionOptions;
use crate::{Error, Result, Session, names};

/// The TLS settings of a worker.
#[derive(Clone, Debug)]
pub struct WorkerTls {
    /// Its certificates, in PEM.
    pub certificate: Vec<u8>,
    /// Its key, in PEM.
    pub key: Vec<u8>,
    /// The certificates, in PEM, of the clients' authorities. Default: clients need no certificate.
    pub client_ca: Option<Vec<u8>>,
}

/// Runs stages of statements of remote sessions, over the files of some folders and the objects below some URLs.
#[derive(Debug)]
pub struct Worker {
    reader: Reader,
    token: Option<String>,
    tls: Option<WorkerTls>,
    channels: Channels,
}

impl Worker {
    /// A worker that reads only files in these folders and objects whose URLs have these prefixes.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] for a folder that does not exist.
    pub fn new<S: AsRef<str>>(allowed: &[S], options: SessionOptions) -> Result<Self> {
        let (mut folders, mut prefixes) = (Vec::new(), Vec::new());
        for place in allowed {
            let place = place.as_ref();
            if names::is_object(place) {
                let url = names::object_url(place)?;
                prefixes.push(url.url().as_str().trim_end_matches('/').to_owned());
            } else {
                folders.push(std::fs::canonicalize(place).map_err(Error::io(place, "open"))?);
            }
        }
        let session = Session::new(options);
        Ok(Self {
            reader: Reader {
                folders,
                prefixes,
                session,
            },
            token: None,
            tls: None,
            channels: Channels::default(),
        })
    }

    /// The token that clients must send. It is also sent to other workers. Default: none.
    #[must_use]
    pub fn token(mut self, token: String) -> Self {
        self.channels = self.channels.with_token(token.clone());
        self.token = Some(token);
        self
    }

    /// The TLS settings. Default: connections are not encrypted.
    #[must_use]
    pub fn tls(mut self, tls: WorkerTls) -> Self {
        self.channels = self.channels.with_identity(tls.certificate.clone(), tls.key.clone());
        self.tls = Some(tls);
        self
    }

    /// The certificates, in PEM, of other workers' authorities. Default: those of the system.
    #[must_use]
    pub fn ca(mut self, pem: Vec<u8>) -> Self {
        self.channels = self.channels.with_ca(pem);
        self
    }

    /// Checks whether the worker may listen on an address.
    ///
    /// # Errors
    ///
    /// [`Error::Denied`] for an address that the network reaches, if the worker requires neither a token nor a certificate.
    pub fn check(&self, address: SocketAddr) -> Result<()> {
        let asks = self.token.is_some() || self.tls.as_ref().is_some_and(|tls| tls.client_ca.is_some());
        match address.ip().is_loopback() || asks {
            true => Ok(()),
            false => Err(Error::Denied {
                what: format!("{address}: a worker that everyone on the network may use"),
                hint: "give it --token-file or --tls-client-ca, or an address of 127.0.0.1".to_owned(),
            }),
        }
    }

    /// Serves until `ending` completes. Statements in flight then fail.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if certificates are unusable or the listener fails; as [`Worker::check`].
    pub async fn serve(self, listener: TcpListener, ending: impl Future<Output = ()>) -> Result<()> {
        let address = listener.local_addr().map_err(Error::io("worker", "listen"))?;
        self.check(address)?;
        let failed = |error: tonic::transport::Error| {
            let error = std::io::Error::other(tidemill_trust::with_causes(&error).to_string());
            Error::io(address.to_string(), "serve")(error)
        };
        let mut server = Server::builder();
        if let Some(tls) = self.tls {
            choose_tls();
            let mut config = ServerTlsConfig::new().identity(Identity::from_pem(tls.certificate, tls.key));
            if let Some(ca) = tls.client_ca {
                config = config.client_ca_root(Certificate::from_pem(ca));
            }
            server = server.tls_config(config).map_err(failed)?;
        }
        let (reader, channels) = (Arc::new(self.reader), self.channels);
        let service = Service::from_session_builder(move |context: WorkerQueryContext| {
            let state = state(context, &reader, &channels);
            async move { state }
        });
        let service = service.with_version(VERSION).into_worker_server();
        let token = self.token.map(|token| format!("Bearer {token}"));
        let checked = move |request: Request<()>| match &token {
            Some(token) if !is_authorized(&request, token) => Err(Status::unauthenticated(
                "the worker asks for a token, and this is not it",
            )),
            _ => Ok(request),
        };
        let connections = Connections(listener);
        let service = InterceptedService::new(service, checked);
        let ended = server
            .add_service(service)
            .serve_with_incoming_shutdown(connections, ending);
        ended.await.map_err(failed)
    }
}

/// Accepts connections, with TCP_NODELAY.
struct Connections(TcpListener);

impl Stream for Connections {
    type Item = std::io::Result<tokio::net::TcpStream>;

    fn poll_next(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_accept(context).map(|accepted| {
            Some(
                accepted
                    .inspect(|(stream, _)| {
                        // An error only costs speed.
                        let _ = stream.set_nodelay(true);
                    })
                    .map(|(stream, _)| stream),
            )
        })
    }
}

fn is_authorized(request: &Request<()>, token: &str) -> bool {
    let given = request.metadata().get("authorization");
    given.is_some_and(|given| bool::from(given.as_bytes().ct_eq(token.as_bytes())))
}

fn state(context: WorkerQueryContext, reader: &Arc<Reader>, channels: &Channels) -> EngineResult<SessionState> {
    let own = reader.session.state();
    let mut builder = context.builder;
    // The library's settings for the statement stay; functions and memory are those of this worker.
    let functions = own.scalar_functions().values().cloned().collect();
    let aggregates = own.aggregate_functions().values().cloned().collect();
    builder = builder
        .with_scalar_functions(functions)
        .with_aggregate_functions(aggregates)
        .with_runtime_env(Arc::clone(own.runtime_env()));
    let config = builder.config().get_or_insert_default();
    // Each worker reads its own parts of a scan: with work stealing, the partitions run here would read all files.
    config.options_mut().execution.enable_file_stream_work_stealing = false;
    let state = builder
        .with_distributed_channel_resolver(channels.clone())
        .with_distributed_user_codec(ScanCodec::of_worker(Arc::clone(reader)))
        .with_distributed_worker_plan_rewrite_handler(checked);
    Ok(state.build())
}

/// The plan nodes that a worker runs, which only process rows. Others may read or write files.
const ROW_NODES: [&str; 29] = [
    "WorkerScan",
    "AggregateExec",
    "BoundedWindowAggExec",
    "BroadcastExec",
    "ChildrenIsolatorUnionExec",
    "CoalesceBatchesExec",
    "CoalescePartitionsExec",
    "CooperativeExec",
    "CrossJoinExec",
    "EmptyExec",
    "FilterExec",
    "GlobalLimitExec",
    "HashJoinExec",
    "InterleaveExec",
    "LocalLimitExec",
    "NestedLoopJoinExec",
    "NetworkBroadcastExec",
    "NetworkCoalesceExec",
    "NetworkShuffleExec",
    "PartialSortExec",
    "PlaceholderRowExec",
    "ProjectionExec",
    "RepartitionExec",
    "SortExec",
    "SortMergeJoinExec",
    "SortPreservingMergeExec",
    "UnionExec",
    "UnnestExec",
    "WindowAggExec",
];

/// Refuses plans with other nodes, and enables checked arithmetic, which is not part of a sent plan.
fn checked(event: WorkerPlanRewriteEvent<'_>) -> EngineResult<WorkerPlanRewriteEventResponse> {
    // Some names have a mode in parentheses: `SortExec(TopK)`.
    let is_known = |name: &str| ROW_NODES.contains(&name.split('(').next().unwrap_or_default());
    event.plan.apply(|node| match is_known(node.name()) {
        true => Ok(TreeNodeRecursion::Continue),
        false => Err(DataFusionError::NotImplemented(format!("{} on a worker", node.name()))),
    })?;
    let plan = CheckedArithmetic.optimize(event.plan, &ConfigOptions::default())?;
    Ok(WorkerPlanRewriteEventResponse::new(plan))
}

/// Opens tables for scans of remote sessions.
pub(super) struct Reader {
    /// With links resolved.
    folders: Vec<PathBuf>,
    prefixes: Vec<String>,
    session: Session,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("folders", &self.folders)
            .finish_non_exhaustive()
    }
}

impl Reader {
    /// Opens the table of a scan, if it may be read and is unchanged since planning.
    ///
    /// # Errors
    ///
    /// [`Error::Denied`], [`Error::Replaced`], and errors of opening the table.
    pub(super) async fn open(
        &self,
        travelling: &Travelling,
        columns: &SchemaRef,
    ) -> EngineResult<(Arc<dyn TableProvider>, SessionState)> {
        let opened = self.opened(travelling, columns).await;
        opened.map_err(|error| DataFusionError::External(Box::new(error)))
    }

    async fn opened(
        &self,
        travelling: &Travelling,
        columns: &SchemaRef,
    ) -> Result<(Arc<dyn TableProvider>, SessionState)> {
        let location = self.location(travelling)?;
        let mut options = SessionOptions::default();
        if let Some(message) = &travelling.message {
            options = options.message(message);
        }
        if let Some(bytes) = travelling.max_expansion {
            options = options.max_expansion(bytes);
        }
        let found = of_location(&location, &options).await?;
        let differs = |why: String| Error::Replaced {
            place: location.to_string(),
            why,
        };
        if found.files != travelling.files {
            let mut pairs = travelling.files.iter().zip(&found.files);
            let why = match pairs.find(|(planned, here)| planned != here) {
                Some((planned, here)) => format!(
                    "{} has {} bytes here, and {} had {} where the statement was planned",
                    here.name, here.bytes, planned.name, planned.bytes
                ),
                None => format!(
                    "there are {} files here, and there were {} where the statement was planned",
                    found.files.len(),
                    travelling.files.len()
                ),
            };
            return Err(differs(why));
        }
        let state = self.session.state();
        let provider = self.session.opened(&location, &options, &state).await?;
        if provider.schema().fields() != columns.fields() {
            return Err(differs(
                "it has other columns here than where the statement was planned".to_owned(),
            ));
        }
        Ok((provider, state))
    }

    fn location(&self, travelling: &Travelling) -> Result<Location> {
        let mut known = FORMATS.iter();
        let format = known.find(|(name, _)| *name == travelling.format);
        let Some((_, format)) = format else {
            return Err(denied(&format!("a table of format {:?}", travelling.format)));
        };
        let place = match &travelling.place {
            TravellingPlace::File(path) => Place::File(self.file(path)?),
            TravellingPlace::Shards { pattern, files } => Place::Shards {
                pattern: pattern.clone(),
                files: files.iter().map(|file| self.file(file)).collect::<Result<_>>()?,
            },
            TravellingPlace::Object(url) => Place::Object(self.object(url)?),
            TravellingPlace::Objects(url) => Place::Objects(self.object(url)?),
        };
        Ok(Location { place, format: *format })
    }

    /// A file in one of the folders, after links are resolved.
    fn file(&self, path: &str) -> Result<PathBuf> {
        let real = std::fs::canonicalize(path).map_err(Error::io(path, "open"))?;
        let is_allowed = self.folders.iter().any(|folder| real.starts_with(folder));
        match is_allowed && real.is_file() {
            true => Ok(Path::new(path).to_path_buf()),
            false => Err(denied(path)),
        }
    }

    fn object(&self, text: &str) -> Result<crate::location::ObjectUrl> {
        let url: Url = text.parse().map_err(|_| denied(text))?;
        let is_allowed = self.prefixes.iter().any(|prefix| {
            let rest = url.as_str().strip_prefix(prefix.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        match is_allowed && names::is_object(text) {
            true => Ok(url.into()),
            false => Err(denied(text)),
        }
    }
}

fn denied(what: &str) -> Error {
    Error::Denied {
        what: format!("{}: reading it on this worker", tidemill_trust::without_secrets(what)),
        hint: "start the worker with the folder or the URL that it is in".to_owned(),
    }
}
