//! Cassandra and what speaks its protocol: `host[:port]` or `cql://host[:port]`.
//!
//! A session of the `scylla` driver for each worker, on the worker's own thread: a request and its answer never change threads. The driver
//! reads what nodes say through the relay of `tidemill-cql`, which is on the thread too. Prepared statements bypass both
//! (`fast.rs`), unless speculative execution is asked for.

mod bind;
mod duration;
mod fast;
mod resent;
mod rows;

use std::cell::{OnceCell, RefCell};
use std::fmt;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Context;
use std::time::{Duration, Instant};

use rune::Value;
use scylla::client::PoolSize;
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session as Driver;
use scylla::client::session_builder::SessionBuilder;
use scylla::errors::{BadQuery, DbError, ExecutionError, PrepareError, RequestAttemptError};
use scylla::frame::types::{Consistency, SerialConsistency};
use scylla::observability::history::HistoryListener;
use scylla::policies::load_balancing::DefaultPolicy;
use scylla::policies::retry::{DefaultRetryPolicy, FallthroughRetryPolicy, RetryPolicy};
use scylla::policies::speculative_execution::SimpleSpeculativeExecutionPolicy;
use scylla::response::PagingState;
use scylla::statement::batch::{Batch, BatchType};
use scylla::statement::prepared::PreparedStatement;
use scylla::statement::unprepared::Statement;
use tidemill_cql::connection::{ConnectionsOptions, Execute, ExecuteDefaults, Handshake, Login};
use tidemill_cql::relay::Relay;
use tidemill_cql::{TlsOptions, tls, with_causes};
use tokio::time::timeout;

use super::{About, Answer, BatchKind, Begun, Ended, Parameters, Rest, Session, StatementOptions, Target, Wanted};
use crate::args::{Compression, ConnectionArgs};
use crate::context::{Failure, FailureKind};
use crate::error::{Error, Result};
use fast::{Answered, Answering, FastLane, write_values};
use resent::Resent;

/// A cluster.
pub struct Cql {
    /// Without nodes, which a relay stands for.
    builder: SessionBuilder,
    nodes: Vec<String>,
    handshake: Handshake,
    connect_timeout: Duration,
    addresses: String,
    page_size: i32,
    defaults: ExecuteDefaults,
    /// What requests without the driver are made with, where the options allow them.
    fast: Option<ConnectionsOptions>,
    sends_again: bool,
}

/// A session with a cluster.
pub struct CqlSession {
    driver: Driver,
    connect_timeout: Duration,
    page_size: i32,
    statements: RefCell<Vec<Rc<Prepared>>>,
    defaults: ExecuteDefaults,
    fast_options: Option<ConnectionsOptions>,
    /// The connections that bypass the driver, once the session is polled.
    fast: OnceCell<FastLane>,
    resent: Arc<Resent>,
    sends_again: bool,
}

struct Prepared {
    statement: PreparedStatement,
    execute: Execute,
    /// The same where the rows are wanted.
    execute_with_rows: Execute,
}

impl Target for Cql {
    type Session = CqlSession;

    const NAME: &'static str = "cql";

    fn open(options: &ConnectionArgs) -> Result<Option<Self>> {
        let misuse = Error::Misuse;
        let (nodes, login) = nodes(options)?;
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
        let defaults = ExecuteDefaults {
            consistency: consistency(&options.consistency).map_err(misuse)?,
            serial_consistency: Some(serial_consistency(&options.serial_consistency).map_err(misuse)?),
            timeout: options.request_timeout,
        };
        let policy = balancing.build();
        let tls = tls_options(options)?
            .map(|tls| tls::config(&tls).map_err(|error| misuse(with_causes(&error))))
            .transpose()?;
        let handshake = Handshake {
            login: login.clone(),
            tls,
            compression: options.compression.map(|compression| match compression {
                Compression::Lz4 => scylla::frame::Compression::Lz4,
                Compression::Snappy => scylla::frame::Compression::Snappy,
            }),
        };
        let profile = ExecutionProfile::builder()
            .consistency(defaults.consistency)
            .serial_consistency(defaults.serial_consistency)
            .load_balancing_policy(Arc::clone(&policy))
            .speculative_execution_policy(speculative)
            .request_timeout(Some(options.request_timeout))
            .retry_policy(match options.retries {
                // Nothing is sent again, by the driver neither.
                0 => Arc::new(FallthroughRetryPolicy::new()),
                _ => Arc::new(DefaultRetryPolicy::new()) as Arc<dyn RetryPolicy>,
            })
            .build();
        let connect_timeout = options.connect_timeout();
        let mut builder = SessionBuilder::new()
            .pool_size(PoolSize::PerShard(options.connections))
            .connection_timeout(connect_timeout)
            .hostname_resolution_timeout(Some(connect_timeout))
            // Of the driver's own questions, which it asks later too.
            .metadata_request_clientside_timeout(connect_timeout)
            // How a keyspace is replicated is asked for, so that requests find a node with their rows; tables and types are not.
            .fetch_full_schema_metadata(false)
            .default_execution_profile_handle(profile.into_handle());
        if let Some(Login { user, password }) = login {
            builder = builder.user(user, password);
        }
        let fast = options.speculate_after.is_none().then(|| ConnectionsOptions {
            per_node: options.connections.get(),
            connect_timeout,
            policy,
            handshake: handshake.clone(),
            relay: None,
        });
        let page_size = i32::try_from(options.page_size.get())
            .map_err(|_| misuse(format!("a page of {} rows is too long", options.page_size)))?;
        Ok(Some(Self {
            builder,
            nodes,
            handshake,
            connect_timeout,
            addresses: options.shown_addresses(),
            sends_again: options.retries > 0,
            page_size,
            defaults,
            fast,
        }))
    }

    async fn connect(&self) -> Result<CqlSession> {
        let connect = |what| Error::Connect {
            address: self.addresses.clone(),
            what,
        };
        let Handshake { tls, compression, .. } = self.handshake.clone();
        let relay = Arc::new(Relay::new(tls, self.connect_timeout, compression));
        let builder = relay.before(self.builder.clone(), &self.nodes);
        let builder = builder.map_err(|error| connect(error.to_string()))?;
        // The driver tries one node after another, and asks the first that answers of the others.
        let tries = u32::try_from(self.nodes.len() + 1).unwrap_or(u32::MAX);
        let limit = self.connect_timeout.saturating_mul(tries);
        let built = timeout(limit, builder.build()).await.map_err(|_| {
            let limit = limit.as_secs_f64();
            connect(format!(
                "no node answered within {limit} s (--connect-timeout for each node, and once more)"
            ))
        })?;
        let driver = built.map_err(|error| connect(with_causes(&error)))?;
        let fast_options = self.fast.clone().map(|fast| ConnectionsOptions {
            relay: Some(relay),
            ..fast
        });
        Ok(CqlSession {
            driver,
            connect_timeout: self.connect_timeout,
            page_size: self.page_size,
            statements: RefCell::default(),
            defaults: self.defaults,
            fast_options,
            resent: Arc::default(),
            sends_again: self.sends_again,
            fast: OnceCell::new(),
        })
    }
}

impl CqlSession {
    fn statement(&self, number: usize) -> Result<Rc<Prepared>, Failure> {
        let statements = self.statements.borrow();
        let statement = statements.get(number).cloned();
        statement.ok_or_else(|| Failure::new(FailureKind::Misuse, format!("there is no statement {number}")))
    }

    /// The observer of the driver's attempts.
    fn listener(&self) -> Arc<dyn HistoryListener> {
        Arc::<Resent>::clone(&self.resent)
    }

    /// Reads all pages from one on, after what there is of the answer. `page` asks for one.
    async fn pages(
        &self,
        wanted: Wanted,
        mut state: PagingState,
        mut answer: Answer,
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
        let begin = Instant::now();
        let mut last_row = begin;
        loop {
            let (result, next) = page(state).await.map_err(failure)?;
            let before = answer.rows;
            if result.is_rows() {
                rows::append(result, wanted, &mut answer)?;
            }
            match next.into_paging_control_flow() {
                ControlFlow::Break(()) => return Ok(answer),
                ControlFlow::Continue(next) => state = next,
            }
            // A page may be empty where rows were deleted, but a node may have no end of them.
            if answer.rows > before {
                last_row = Instant::now();
            } else if last_row.elapsed() > self.defaults.timeout {
                let limit = self.defaults.timeout.as_secs_f64();
                let what = format!("no row in the pages of {limit} s (--request-timeout)");
                return Err(Failure::new(FailureKind::Timeout, what));
            }
            let limit = self.defaults.timeout.saturating_mul(MOST_TIMEOUTS);
            if begin.elapsed() > limit {
                let limit = limit.as_secs_f64();
                let what = format!("pages for more than {limit} s ({MOST_TIMEOUTS} times --request-timeout)");
                return Err(Failure::new(FailureKind::Timeout, what));
            }
        }
    }

    async fn by_driver(
        &self,
        statement: usize,
        parameters: &Value,
        rows: Wanted,
        start: PagingState,
        answer: Answer,
    ) -> Result<Answer, Failure> {
        let prepared = self.statement(statement)?;
        let page = async |state| {
            let parameters = bind::Row(Parameters::Value(parameters));
            self.driver
                .execute_single_page(&prepared.statement, parameters, state)
                .await
        };
        self.pages(rows, start, answer, page).await
    }

    /// Sends a batch that bypasses the driver, if possible.
    fn begin_batch<'a>(
        &self,
        lane: &'a FastLane,
        kind: BatchType,
        statements: &[(usize, Value)],
    ) -> Result<Option<Answering<'a>>, Failure> {
        let prepared = statements.iter().map(|(number, _)| self.statement(*number));
        let prepared = prepared.collect::<Result<Vec<_>, _>>()?;
        let executes: Vec<&Execute> = prepared.iter().map(|prepared| &prepared.execute).collect();
        let Some(batch) = Execute::batch(kind, &executes, self.defaults) else {
            return Ok(None);
        };
        lane.ask(&batch, Instant::now(), |buffer| {
            for (execute, (_, parameters)) in executes.iter().zip(statements) {
                execute.write_in_batch(buffer);
                write_values(execute, Parameters::Value(parameters), buffer)?;
            }
            Ok(())
        })
    }

    /// Completes with the driver a request that bypassed it.
    async fn rest(&self, statement: usize, parameters: &Value, wanted: Wanted, rest: Rest) -> Result<Answer, Failure> {
        if rest.is_sent_again {
            self.resent.add();
        }
        let state = match rest.paging_state {
            Some(state) => PagingState::new_from_raw_bytes(state.as_ref()),
            None => PagingState::start(),
        };
        let answer = Answer {
            rows: rest.rows,
            ..Answer::default()
        };
        self.by_driver(statement, parameters, wanted, state, answer).await
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
        // The driver asks all nodes, and has no limit for that.
        let preparing = timeout(self.connect_timeout, self.driver.prepare(statement));
        let prepared = preparing.await.map_err(|_| {
            let limit = self.connect_timeout.as_secs_f64();
            let what = format!("the nodes did not prepare it within {limit} s (--connect-timeout)");
            Failure::new(FailureKind::Timeout, what)
        })?;
        let mut prepared = prepared.map_err(prepare_failure)?;
        prepared.set_history_listener(self.listener());
        let mut statements = self.statements.borrow_mut();
        let execute = Execute::new(&prepared, self.defaults);
        statements.push(Rc::new(Prepared {
            execute_with_rows: execute.with_rows(),
            execute,
            statement: prepared,
        }));
        Ok(statements.len() - 1)
    }

    async fn execute(&self, text: &str, rows: Wanted) -> Result<Answer, Failure> {
        let mut statement = Statement::new(text).with_page_size(self.page_size);
        statement.set_history_listener(self.listener());
        let page = async |state| self.driver.query_single_page(statement.clone(), (), state).await;
        // The driver's futures are large, and are moved with those that wait for them.
        Box::pin(self.pages(rows, PagingState::start(), Answer::default(), page)).await
    }

    async fn execute_prepared(&self, statement: usize, parameters: &Value, rows: Wanted) -> Result<Answer, Failure> {
        if let Some(lane) = self.fast.get() {
            let prepared = self.statement(statement)?;
            let execute = match rows {
                Wanted::Count => &prepared.execute,
                Wanted::Rows => &prepared.execute_with_rows,
            };
            let values = |buffer: &mut Vec<u8>| write_values(execute, Parameters::Value(parameters), buffer);
            if let Some(answering) = lane.ask(execute, Instant::now(), values)? {
                return match answering.await {
                    Answered::Ended(Ended::Over(rows)) => rows.map(|rows| Answer {
                        rows,
                        ..Answer::default()
                    }),
                    Answered::Ended(Ended::Unfinished(rest)) => {
                        Box::pin(self.rest(statement, parameters, rows, rest)).await
                    }
                    Answered::Page(mut page) => {
                        let state = page.paging_state.take();
                        let mut answer = Answer::default();
                        rows::append_page(*page, &mut answer)?;
                        match state {
                            None => Ok(answer),
                            Some(state) => {
                                let state = PagingState::new_from_raw_bytes(state.as_ref());
                                Box::pin(self.by_driver(statement, parameters, rows, state, answer)).await
                            }
                        }
                    }
                };
            }
        }
        let (start, answer) = (PagingState::start(), Answer::default());
        Box::pin(self.by_driver(statement, parameters, rows, start, answer)).await
    }

    async fn attend(&self) {
        let Some(options) = self.fast_options.clone() else {
            return;
        };
        if let Some(lane) = FastLane::open(self.driver.get_cluster_state(), options, self.sends_again).await {
            // Whoever polls a session does so once.
            let _ = self.fast.set(lane);
        }
    }

    #[inline]
    fn begin(&self, statement: usize, parameters: Parameters<'_>, cycle: u32, now: Instant) -> Begun {
        let Some(lane) = self.fast.get() else {
            return Begun::Not;
        };
        match self.statements.borrow().get(statement) {
            Some(prepared) => lane.begin(&prepared.execute, parameters, cycle, now),
            None => Begun::Not,
        }
    }

    fn poll(&self, context: &mut Context<'_>, ended: &mut Vec<(u32, Ended)>) {
        if let Some(lane) = self.fast.get() {
            lane.poll(context, || self.driver.get_cluster_state(), ended);
        }
    }

    async fn finish(&self, statement: usize, parameters: &Value, rest: Rest) -> Result<Answer, Failure> {
        self.rest(statement, parameters, Wanted::Count, rest).await
    }

    async fn batch(&self, kind: BatchKind, statements: &[(usize, Value)]) -> Result<Answer, Failure> {
        let kind = match kind {
            BatchKind::Logged => BatchType::Logged,
            BatchKind::Unlogged => BatchType::Unlogged,
            BatchKind::Counter => BatchType::Counter,
        };
        let written = Answer {
            rows: statements.len() as u64,
            ..Answer::default()
        };
        if let Some(lane) = self.fast.get()
            && let Some(answering) = self.begin_batch(lane, kind, statements)?
        {
            match answering.await {
                Answered::Ended(Ended::Over(ended)) => return ended.map(|_| written),
                Answered::Ended(Ended::Unfinished(rest)) if rest.is_sent_again => self.resent.add(),
                // The statements have to be prepared on the node first.
                Answered::Ended(Ended::Unfinished(_)) => {}
                Answered::Page(_) => return Ok(written),
            }
        }
        let mut batch = Batch::new(kind);
        batch.set_history_listener(self.listener());
        for (number, _) in statements {
            batch.append_statement(self.statement(*number)?.statement.clone());
        }
        let parameters = statements.iter().map(|(_, parameters)| Parameters::Value(parameters));
        let parameters: Vec<bind::Row<'_>> = parameters.map(bind::Row).collect();
        Box::pin(self.driver.batch(&batch, parameters)).await.map_err(failure)?;
        Ok(written)
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

    fn take_resent(&self) -> u32 {
        self.resent.take()
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

/// How many times as long as a page the pages of a request may take. A node may have no end of them.
const MOST_TIMEOUTS: u32 = 100;

/// The nodes that the addresses name, and who asks: those of the options, or of an address.
fn nodes(options: &ConnectionArgs) -> Result<(Vec<String>, Option<Login>)> {
    let expected = "expected host[:port], cql://[user:password@]host[:port], clickhouse://host, postgres://host/database, sqlite:FILE, \
                    xbase:DIR or mem:";
    let mut login = (!options.user.is_empty()).then(|| Login {
        user: options.user.clone(),
        password: options.password.clone(),
    });
    let mut nodes = Vec::new();
    for address in &options.addresses {
        let bare = address.strip_prefix("cql://").unwrap_or(address);
        // Errors of an address tell nothing of what is in front of its host.
        let foreign = |what: String| Error::Misuse(format!("{expected}; {what}"));
        if bare.contains("://") || bare.is_empty() {
            return Err(foreign("found another scheme, or nothing".to_owned()));
        }
        if ["mem", "sqlite", "xbase"].contains(&bare) {
            return Err(foreign(format!("found {bare} without its colon")));
        }
        let (found, path) =
            tidemill_cql::Options::parse(&format!("cql://{bare}")).map_err(|error| foreign(error.to_string()))?;
        if path.keyspace.is_some() || bare.contains('?') {
            return Err(foreign("found something after the host".to_owned()));
        }
        nodes.extend(found.hosts);
        if let (Some(user), None) = (found.user, &login) {
            login = Some(Login {
                user,
                password: found.password,
            });
        }
    }
    Ok((nodes, login))
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
        RequestAttemptError::DbError(error, _) => server_kind(error),
        _ => FailureKind::Refused,
    }
}

fn server_kind(error: &DbError) -> FailureKind {
    match error {
        DbError::ReadTimeout { .. } | DbError::WriteTimeout { .. } => FailureKind::Timeout,
        DbError::Overloaded | DbError::RateLimitReached { .. } => FailureKind::Overloaded,
        DbError::Unavailable { .. }
        | DbError::ReadFailure { .. }
        | DbError::WriteFailure { .. }
        | DbError::IsBootstrapping => FailureKind::Unavailable,
        // What is wrong with the statement, or with who asks.
        DbError::SyntaxError
        | DbError::Invalid
        | DbError::AlreadyExists { .. }
        | DbError::FunctionFailure { .. }
        | DbError::AuthenticationError
        | DbError::Unauthorized
        | DbError::ConfigError
        | DbError::Unprepared { .. } => FailureKind::Refused,
        // A server error, one of truncating, one of the protocol (busy), and all numbers that nobody knows: a cluster has them now
        // and then, and continues.
        _ => FailureKind::Server,
    }
}

/// How connections are encrypted, when they are.
fn tls_options(options: &ConnectionArgs) -> Result<Option<TlsOptions>> {
    if !options.is_encrypted() {
        return Ok(None);
    }
    let identity = match (&options.ssl_cert, &options.ssl_key) {
        (Some(certificate), Some(key)) => Some((certificate.clone(), key.clone())),
        (None, None) => None,
        _ => return Err(Error::Misuse("--ssl-cert and --ssl-key go together".to_owned())),
    };
    let mut tls = TlsOptions::default();
    tls.authorities = options.ssl_ca.clone();
    tls.identity = identity;
    tls.verify = options.ssl_peer_verification;
    Ok(Some(tls))
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
