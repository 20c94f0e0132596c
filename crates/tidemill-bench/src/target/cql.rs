//! Cassandra and what speaks its protocol: `host[:port]` or `cql://host[:port]`.
//!
//! A session of the `scylla` driver for each worker, on the worker's own thread: a request and its answer never change threads.

mod bind;
mod duration;
mod rows;
mod tls;
mod varint;

use std::cell::RefCell;
use std::fmt;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rune::Value;
use scylla::client::PoolSize;
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session as Driver;
use scylla::client::session_builder::SessionBuilder;
use scylla::errors::{BadQuery, DbError, ExecutionError, PrepareError, RequestAttemptError};
use scylla::frame::types::{Consistency, SerialConsistency};
use scylla::policies::load_balancing::DefaultPolicy;
use scylla::policies::speculative_execution::SimpleSpeculativeExecutionPolicy;
use scylla::response::PagingState;
use scylla::statement::batch::{Batch, BatchType};
use scylla::statement::prepared::PreparedStatement;
use scylla::statement::unprepared::Statement;

use super::{About, Answer, BatchKind, Session, StatementOptions, Target, Wanted};
use crate::args::{Compression, ConnectionArgs};
use crate::context::{Failure, FailureKind};
use crate::error::{Error, Result};

/// A cluster.
pub struct Cql {
    builder: SessionBuilder,
    addresses: String,
    page_size: i32,
}

/// A session with a cluster.
pub struct CqlSession {
    driver: Driver,
    page_size: i32,
    statements: RefCell<Vec<Rc<PreparedStatement>>>,
}

impl Target for Cql {
    type Session = CqlSession;

    const NAME: &'static str = "cql";

    fn open(options: &ConnectionArgs) -> Result<Option<Self>> {
        let nodes: Vec<&str> = options
            .addresses
            .iter()
            .map(|address| address.strip_prefix("cql://").unwrap_or(address).trim_end_matches('/'))
            .collect();
        if let Some(foreign) = nodes.iter().find(|node| node.is_empty() || node.contains('/')) {
            return Err(Error::Misuse(format!(
                "expected host[:port], cql://host[:port], clickhouse://host, xbase:DIR or mem:, found {foreign:?}"
            )));
        }
        let misuse = Error::Misuse;
        let mut balancing = DefaultPolicy::builder().token_aware(true);
        if let Some(centre) = &options.datacenter {
            balancing = match &options.rack {
                Some(rack) => balancing.prefer_datacenter_and_rack(centre.clone(), rack.clone()),
                None => balancing.prefer_datacenter(centre.clone()),
            }
            .permit_dc_failover(true);
        }
        let speculative = options.speculate_after.map(|retry_interval| {
            let policy = SimpleSpeculativeExecutionPolicy {
                max_retry_count: 1,
                retry_interval,
            };
            Arc::new(policy) as Arc<_>
        });
        let profile = ExecutionProfile::builder()
            .consistency(consistency(&options.consistency).map_err(misuse)?)
            .serial_consistency(Some(serial_consistency(&options.serial_consistency).map_err(misuse)?))
            .load_balancing_policy(balancing.build())
            .speculative_execution_policy(speculative)
            .request_timeout(Some(options.request_timeout))
            .build();
        let mut builder = SessionBuilder::new()
            .known_nodes(nodes)
            .pool_size(PoolSize::PerShard(options.connections))
            .connection_timeout(options.request_timeout.max(Duration::from_secs(5)))
            .fetch_schema_metadata(false)
            .compression(options.compression.map(|compression| match compression {
                Compression::Lz4 => scylla::frame::Compression::Lz4,
                Compression::Snappy => scylla::frame::Compression::Snappy,
            }))
            .default_execution_profile_handle(profile.into_handle());
        if !options.user.is_empty() {
            builder = builder.user(&options.user, &options.password);
        }
        if let Some(tls) = tls::config(options)? {
            builder = builder.tls_context(Some(tls));
        }
        let page_size = i32::try_from(options.page_size.get())
            .map_err(|_| misuse(format!("a page of {} rows is too long", options.page_size)))?;
        Ok(Some(Self {
            builder,
            addresses: options.addresses.join(" "),
            page_size,
        }))
    }

    async fn connect(&self) -> Result<CqlSession> {
        let driver = self.builder.build().await.map_err(|e| Error::Connect {
            address: self.addresses.clone(),
            what: with_causes(&e),
        })?;
        Ok(CqlSession {
            driver,
            page_size: self.page_size,
            statements: RefCell::default(),
        })
    }
}

impl CqlSession {
    fn statement(&self, number: usize) -> Result<Rc<PreparedStatement>, Failure> {
        let statements = self.statements.borrow();
        let statement = statements.get(number).cloned();
        statement.ok_or_else(|| Failure::new(FailureKind::Misuse, format!("there is no statement {number}")))
    }

    /// Reads all pages. `page` asks for one.
    async fn pages(
        &self,
        wanted: Wanted,
        page: impl AsyncFn(
            PagingState,
        ) -> Result<
            (
                scylla::response::query_result::QueryResult,
                scylla::response::PagingStateResponse,
            ),
            ExecutionError,
        >,
    ) -> Result<Answer, Failure> {
        let mut answer = Answer::default();
        let mut state = PagingState::start();
        loop {
            let (result, next) = page(state).await.map_err(failure)?;
            if result.is_rows() {
                rows::append(result, wanted, &mut answer)?;
            }
            match next.into_paging_control_flow() {
                ControlFlow::Break(()) => return Ok(answer),
                ControlFlow::Continue(next) => state = next,
            }
        }
    }
}

impl Session for CqlSession {
    async fn prepare(&self, text: &str, options: &StatementOptions) -> Result<usize, Failure> {
        let misuse = |why| Failure::new(FailureKind::Misuse, why);
        let page_size = options.page_size.unwrap_or(self.page_size);
        let mut statement = Statement::new(text).with_page_size(page_size);
        // Reading twice does no harm.
        let reads = text
            .trim_start()
            .get(..6)
            .is_some_and(|word| word.eq_ignore_ascii_case("select"));
        statement.set_is_idempotent(options.is_idempotent.unwrap_or(reads));
        if let Some(name) = &options.consistency {
            statement.set_consistency(consistency(name).map_err(misuse)?);
        }
        if let Some(name) = &options.serial_consistency {
            statement.set_serial_consistency(Some(serial_consistency(name).map_err(misuse)?));
        }
        if let Some(timeout) = options.timeout {
            statement.set_request_timeout(Some(timeout));
        }
        let prepared = self.driver.prepare(statement).await.map_err(prepare_failure)?;
        let mut statements = self.statements.borrow_mut();
        statements.push(Rc::new(prepared));
        Ok(statements.len() - 1)
    }

    async fn execute(&self, text: &str, rows: Wanted) -> Result<Answer, Failure> {
        let statement = Statement::new(text).with_page_size(self.page_size);
        let page = async |state| self.driver.query_single_page(statement.clone(), (), state).await;
        self.pages(rows, page).await
    }

    async fn execute_prepared(&self, statement: usize, parameters: &Value, rows: Wanted) -> Result<Answer, Failure> {
        let statement = self.statement(statement)?;
        let page = async |state| {
            let parameters = bind::Row(parameters);
            self.driver.execute_single_page(&statement, parameters, state).await
        };
        self.pages(rows, page).await
    }

    async fn batch(&self, kind: BatchKind, statements: &[(usize, Value)]) -> Result<Answer, Failure> {
        let mut batch = Batch::new(match kind {
            BatchKind::Logged => BatchType::Logged,
            BatchKind::Unlogged => BatchType::Unlogged,
            BatchKind::Counter => BatchType::Counter,
        });
        for (number, _) in statements {
            batch.append_statement(PreparedStatement::clone(&*self.statement(*number)?));
        }
        let parameters: Vec<bind::Row<'_>> = statements.iter().map(|(_, parameters)| bind::Row(parameters)).collect();
        self.driver.batch(&batch, parameters).await.map_err(failure)?;
        Ok(Answer {
            rows: statements.len() as u64,
            ..Answer::default()
        })
    }

    async fn about(&self) -> Result<About, Failure> {
        let result = self
            .driver
            .query_unpaged("SELECT cluster_name, release_version FROM system.local", ())
            .await
            .map_err(failure)?;
        let rows = result
            .into_rows_result()
            .map_err(|e| Failure::new(FailureKind::Refused, e.to_string()))?;
        let (name, version) = rows
            .first_row::<(String, String)>()
            .map_err(|e| Failure::new(FailureKind::Refused, e.to_string()))?;
        Ok(About { name, version })
    }

    fn data_centres(&self) -> Vec<String> {
        let state = self.driver.get_cluster_state();
        let mut names: Vec<String> = state
            .get_nodes_info()
            .iter()
            .filter_map(|node| node.datacenter.clone())
            .collect();
        names.sort();
        names.dedup();
        names
    }
}

fn consistency(name: &str) -> Result<Consistency, String> {
    Ok(match name.to_ascii_lowercase().as_str() {
        "any" => Consistency::Any,
        "one" | "1" => Consistency::One,
        "two" | "2" => Consistency::Two,
        "three" | "3" => Consistency::Three,
        "quorum" | "q" => Consistency::Quorum,
        "all" => Consistency::All,
        "local_one" | "localone" | "l1" => Consistency::LocalOne,
        "local_quorum" | "localquorum" | "lq" => Consistency::LocalQuorum,
        "each_quorum" | "eachquorum" | "eq" => Consistency::EachQuorum,
        "serial" | "s" => Consistency::Serial,
        "local_serial" | "localserial" | "ls" => Consistency::LocalSerial,
        _ => return Err(format!("there is no consistency {name:?}")),
    })
}

fn serial_consistency(name: &str) -> Result<SerialConsistency, String> {
    Ok(match name.to_ascii_lowercase().as_str() {
        "serial" | "s" => SerialConsistency::Serial,
        "local_serial" | "localserial" | "ls" => SerialConsistency::LocalSerial,
        _ => {
            return Err(format!(
                "a serial consistency is serial or local_serial, found {name:?}"
            ));
        }
    })
}

fn failure(error: ExecutionError) -> Failure {
    let kind = match &error {
        ExecutionError::RequestTimeout(_) => FailureKind::Timeout,
        ExecutionError::BadQuery(BadQuery::SerializationError(_)) => FailureKind::Parameters,
        ExecutionError::ConnectionPoolError(_) | ExecutionError::EmptyPlan => FailureKind::Connection,
        ExecutionError::PrepareError(error) => return prepare_failure(error.clone()),
        ExecutionError::LastAttemptError(attempt) => attempt_kind(attempt),
        _ => FailureKind::Refused,
    };
    Failure::new(kind, with_causes(&error))
}

fn prepare_failure(error: PrepareError) -> Failure {
    let kind = match &error {
        PrepareError::ConnectionPoolError(_) => FailureKind::Connection,
        PrepareError::AllAttemptsFailed { first_attempt } => attempt_kind(first_attempt),
        _ => FailureKind::Refused,
    };
    Failure::new(kind, with_causes(&error))
}

fn attempt_kind(attempt: &RequestAttemptError) -> FailureKind {
    match attempt {
        RequestAttemptError::BrokenConnectionError(_) => FailureKind::Connection,
        RequestAttemptError::UnableToAllocStreamId => FailureKind::Overloaded,
        RequestAttemptError::SerializationError(_) | RequestAttemptError::CqlRequestSerialization(_) => {
            FailureKind::Parameters
        }
        RequestAttemptError::DbError(error, _) => match error {
            DbError::ReadTimeout { .. } | DbError::WriteTimeout { .. } => FailureKind::Timeout,
            DbError::Overloaded | DbError::RateLimitReached { .. } => FailureKind::Overloaded,
            DbError::Unavailable { .. }
            | DbError::ReadFailure { .. }
            | DbError::WriteFailure { .. }
            | DbError::IsBootstrapping => FailureKind::Unavailable,
            _ => FailureKind::Refused,
        },
        _ => FailureKind::Refused,
    }
}

/// The error and what caused it, each said once.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}

impl fmt::Debug for Cql {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cql")
            .field("addresses", &self.addresses)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for CqlSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CqlSession").finish_non_exhaustive()
    }
}
