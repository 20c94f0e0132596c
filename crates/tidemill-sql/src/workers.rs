//! Distributed statements: each worker reads a part of the files, groups or joins it, and sends the result.
//!
//! The library `datafusion-distributed` divides the plan into stages, and sends these to [`Worker`]s, which read the files at the same
//! paths or URLs as the planner. A scan is sent as the name of its table and the number of its part ([`scan`]); a worker opens the table
//! again, refuses what it may not read, and compares its files with those that were planned.
//!
//! If a worker does not answer, or fails before the first rows, the statement starts again with the others.

mod channels;
mod scan;
mod served;
mod table;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arrow_array::RecordBatch;
use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::common::{DataFusionError, Result as EngineResult};
use datafusion::execution::{FunctionRegistry as _, SendableRecordBatchStream, SessionState, SessionStateBuilder};
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion_distributed::{
    ChannelResolver as _, DistributedExt as _, GetWorkerInfoRequest, SessionStateBuilderExt as _, WorkerResolver,
};
use futures::future::join_all;
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use url::Url;

use self::channels::Channels;
use self::scan::{ScanCodec, desired_tasks, part_of_task};
pub use self::served::{Worker, WorkerTls};
pub(crate) use self::table::{can_travel, travelling};
use crate::{Error, Result};

/// The version that all workers of a statement must have: other versions may interpret plans differently.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How long a worker may take to answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// The workers of a session.
#[derive(Clone)]
pub struct Workers {
    urls: Vec<Url>,
    channels: Channels,
}

impl Workers {
    /// Workers by `host:port`, or by `https://host:port` if they use TLS.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for other addresses, and for an empty list.
    pub fn new<S: AsRef<str>>(addresses: &[S]) -> Result<Self> {
        let urls = addresses.iter().map(|address| url_of(address.as_ref()));
        let urls: Vec<Url> = urls.collect::<Result<_>>()?;
        match urls.is_empty() {
            true => Err(not_an_address("")),
            false => Ok(Self {
                urls,
                channels: Channels::default(),
            }),
        }
    }

    /// The token that workers require. Default: none.
    #[must_use]
    pub fn token(mut self, token: String) -> Self {
        self.channels = self.channels.with_token(token);
        self
    }

    /// The certificates, in PEM, of the workers' authorities. Default: those of the system.
    #[must_use]
    pub fn ca(mut self, pem: Vec<u8>) -> Self {
        self.channels = self.channels.with_ca(pem);
        self
    }

    /// The client's certificate and key, in PEM, for workers that require them. Default: none.
    #[must_use]
    pub fn identity(mut self, certificate: Vec<u8>, key: Vec<u8>) -> Self {
        self.channels = self.channels.with_identity(certificate, key);
        self
    }
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers")
            .field("urls", &self.urls)
            .finish_non_exhaustive()
    }
}

fn url_of(address: &str) -> Result<Url> {
    let text = match address.contains("://") {
        true => address.to_owned(),
        false => format!("http://{address}"),
    };
    let url = Url::parse(&text).map_err(|_| not_an_address(address))?;
    let is_plain = matches!(url.path(), "" | "/") && url.query().is_none() && url.username().is_empty();
    match is_plain
        && matches!(url.scheme(), "http" | "https")
        && url.has_host()
        && url.port_or_known_default().is_some()
    {
        true => Ok(url),
        false => Err(not_an_address(address)),
    }
}

fn not_an_address(address: &str) -> Error {
    Error::Unsupported {
        what: format!("\"{address}\" as the address of a worker"),
        hint: "write host:port, or https://host:port for a worker with a certificate".to_owned(),
    }
}

/// The workers of one statement: those that answer.
#[derive(Clone)]
pub(crate) struct Team {
    urls: Arc<Mutex<Vec<Url>>>,
    channels: Channels,
}

impl Team {
    /// Asks all workers whether they are available. Also returns why others are left out.
    ///
    /// # Errors
    ///
    /// If none is available.
    pub(crate) async fn gathered(workers: &Workers) -> Result<(Self, Vec<String>)> {
        let team = Self {
            urls: Arc::new(Mutex::new(workers.urls.clone())),
            channels: workers.channels.clone(),
        };
        let absent = team.without_absent().await?;
        Ok((team, absent))
    }

    fn urls(&self) -> Vec<Url> {
        self.urls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Removes workers that do not answer, and returns why.
    async fn without_absent(&self) -> Result<Vec<String>> {
        let urls = self.urls();
        let answers = join_all(urls.iter().map(|url| self.fault_of(url))).await;
        let (mut present, mut absent) = (Vec::new(), Vec::new());
        for (url, fault) in urls.into_iter().zip(answers) {
            match fault {
                None => present.push(url),
                Some(fault) => absent.push(format!("worker {}: {fault}", shown(&url))),
            }
        }
        if present.is_empty() {
            return Err(Error::Unsupported {
                what: format!("{}: a statement without a worker", absent.join("; ")),
                hint: "start workers with tidemill worker, or leave --workers out".to_owned(),
            });
        }
        *self.urls.lock().unwrap_or_else(PoisonError::into_inner) = present;
        Ok(absent)
    }

    /// Why a worker cannot be used.
    async fn fault_of(&self, url: &Url) -> Option<String> {
        let asked = async {
            let mut client = self.channels.get_worker_client_for_url(url).await?;
            client.get_worker_info(GetWorkerInfoRequest {}).await
        };
        match tokio::time::timeout(ANSWER_LIMIT, asked).await {
            Ok(Ok(info)) if info.version == VERSION => None,
            Ok(Ok(info)) => Some(format!("it is of version {:?}, and this is {VERSION}", info.version)),
            Ok(Err(error)) => Some(told(&error)),
            Err(_) => Some(format!("no answer within {} s", ANSWER_LIMIT.as_secs())),
        }
    }

    /// The state of a session whose plans these workers run.
    pub(crate) fn state(&self, state: SessionState) -> EngineResult<SessionState> {
        let mut state = SessionStateBuilder::new_from_existing(state)
            .with_distributed_worker_resolver(self.clone())
            .with_distributed_channel_resolver(self.channels.clone())
            .with_distributed_user_codec(ScanCodec::default())
            .with_distributed_desired_task_count_handler(desired_tasks)
            .with_distributed_scale_up_leaf_node_handler(part_of_task)
            .with_distributed_planner();
        state.set_distributed_metrics_collection(false)?;
        Ok(state.build())
    }

    /// Runs a plan. If it fails before its first rows because workers are gone, it is planned again for the remaining ones.
    pub(crate) async fn run(self, plan: LogicalPlan, state: SessionState) -> EngineResult<SendableRecordBatchStream> {
        let physical = state.query_planner().create_physical_plan(&plan, &state).await?;
        let schema = physical.schema();
        let rows = async move { self.first_rows(physical, plan, state).await };
        let rows = stream::once(rows).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }

    async fn first_rows(
        self,
        mut physical: Arc<dyn ExecutionPlan>,
        plan: LogicalPlan,
        state: SessionState,
    ) -> EngineResult<impl futures::Stream<Item = EngineResult<RecordBatch>> + use<>> {
        loop {
            let mut rows = execute_stream(Arc::clone(&physical), state.task_ctx())?;
            let first = rows.next().await;
            if let Some(Err(error)) = &first {
                let absent = self
                    .without_absent()
                    .await
                    .map_err(|_| DataFusionError::Execution(error.strip_backtrace()))?;
                if !absent.is_empty() {
                    physical = state.query_planner().create_physical_plan(&plan, &state).await?;
                    continue;
                }
            }
            return Ok(stream::iter(first).chain(rows));
        }
    }
}

impl WorkerResolver for Team {
    fn get_urls(&self) -> EngineResult<Vec<Url>> {
        Ok(self.urls())
    }
}

/// The message of a worker's error, or of the failure to reach it.
fn told(error: &DataFusionError) -> String {
    let causes =
        |error| std::iter::successors(Some(error), |error: &&(dyn std::error::Error + 'static)| error.source());
    let Some(status) = causes(error).find_map(|error| error.downcast_ref::<tonic::Status>()) else {
        return error.strip_backtrace();
    };
    let cause = causes(status).last().map(ToString::to_string).unwrap_or_default();
    match status.message() {
        message if causes(status).count() > 1 => format!("{message}: {cause}"),
        message => message.to_owned(),
    }
}

/// A worker's address in the form that was given.
fn shown(url: &Url) -> &str {
    let text = url.as_str().trim_end_matches('/');
    text.strip_prefix("http://").unwrap_or(text)
}

/// Whether workers can run a plan. They know the functions of a session's registry, but not those created for one statement, no plan nodes
/// of this crate, and no scalar subqueries.
pub(crate) fn can_run(plan: &LogicalPlan, state: &SessionState) -> EngineResult<bool> {
    let mut is_known = true;
    plan.apply_with_subqueries(|node| {
        is_known &= !matches!(node, LogicalPlan::Extension(_));
        node.apply_expressions(|expr| {
            expr.apply(|part| {
                is_known &= match part {
                    Expr::ScalarFunction(call) => state.udf(call.name()).is_ok_and(|known| known == call.func),
                    Expr::AggregateFunction(call) => state.udaf(call.func.name()).is_ok_and(|known| known == call.func),
                    Expr::ScalarSubquery(_) | Expr::Exists(_) | Expr::InSubquery(_) => false,
                    _ => true,
                };
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_hosts_with_ports() {
        for (address, expected) in [
            ("10.0.0.1:7300", "http://10.0.0.1:7300/"),
            ("node-1:7300", "http://node-1:7300/"),
            ("[::1]:7300", "http://[::1]:7300/"),
            ("https://node-1:7300", "https://node-1:7300/"),
        ] {
            assert_eq!(url_of(address).unwrap().as_str(), expected);
        }
        for address in ["", "node 1:7300", "ftp://a:1", "http://a:1/path", "u:p@a:1", "a:1?x=y"] {
            assert!(url_of(address).is_err(), "{address}");
        }
        assert!(Workers::new::<&str>(&[]).is_err());
    }
}
