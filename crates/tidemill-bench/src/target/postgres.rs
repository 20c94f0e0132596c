//! PostgreSQL: `postgres://[user[:password]@]host[:port][/database]`, and what else `tidemill-postgres` takes as a URL.
//!
//! Parameters are `$1`, or `?` and `:name`, which become `$1` here. Values are sent as the types of the prepared statement have them. A
//! connection runs one statement at a time, so each worker has a pool of them; each prepares a statement when it first runs it.

mod bind;
mod marks;

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use rune::Value;
use tidemill_postgres::{Client, Dedicated, Error as ServerError, Options, Parameter, Prepared, TlsOptions};
use tokio::sync::Semaphore;

use super::{About, Answer, BatchKind, Parameters, Session, StatementOptions, Target, Wanted, arrow_rows, with_causes};
use crate::args::ConnectionArgs;
use crate::context::{Failure, FailureKind};
use crate::error::{Error, Result};
use marks::Marked;

/// A server.
#[derive(Debug)]
pub struct Postgres {
    options: Options,
    connections: usize,
    timeout: Duration,
}

/// A pool of connections.
pub struct PostgresSession {
    client: Client,
    about: About,
    timeout: Duration,
    free: Semaphore,
    idle: RefCell<Vec<Connection>>,
    statements: RefCell<Vec<Rc<Statement>>>,
}

struct Statement {
    marked: Marked,
    timeout: Duration,
}

struct Connection {
    dedicated: Dedicated,
    /// By the number of the statement.
    prepared: RefCell<Vec<Option<Rc<Known>>>>,
}

/// A statement that a connection has prepared.
struct Known {
    prepared: Prepared,
    /// Of its parameters.
    names: Vec<String>,
}

impl Target for Postgres {
    type Session = PostgresSession;

    const NAME: &'static str = "postgres";

    fn open(options: &ConnectionArgs) -> Result<Option<Self>> {
        let is_ours = |url: &&String| url.starts_with("postgres://") || url.starts_with("postgresql://");
        let Some(url) = options.addresses.iter().find(is_ours) else {
            return Ok(None);
        };
        let misuse = |what: String| Err(Error::Misuse(what));
        if options.addresses.len() > 1 {
            return misuse("PostgreSQL is one address: postgres://host/database".to_owned());
        }
        let (mut parsed, path) = Options::parse(url).map_err(|e| Error::Misuse(e.to_string()))?;
        if path.table.is_some() {
            return misuse("expected postgres://host/database, found a table behind the database".to_owned());
        }
        if options.compression.is_some() {
            return misuse("PostgreSQL does not compress connections; leave out --compression".to_owned());
        }
        if !options.user.is_empty() {
            parsed.user = Some(options.user.clone());
            parsed.password = Some(options.password.clone()).filter(|password| !password.is_empty());
        }
        if options.is_encrypted() {
            let mut tls = parsed.tls.take().unwrap_or_else(TlsOptions::new);
            tls.is_optional = false;
            if options.ssl_ca.is_some() {
                tls.authorities.clone_from(&options.ssl_ca);
            }
            match (&options.ssl_cert, &options.ssl_key) {
                (Some(certificate), Some(key)) => tls.identity = Some((certificate.clone(), key.clone())),
                (None, None) => {}
                _ => return misuse("--ssl-cert and --ssl-key go together".to_owned()),
            }
            parsed.tls = Some(tls);
        }
        "tidemill-bench".clone_into(&mut parsed.application_name);
        if let Some(limit) = options.connect_timeout {
            parsed.connect_timeout = limit;
        }
        // One connection is the default for a protocol that runs many requests on it; this one does not.
        let connections = match options.connections.get() {
            1 => DEFAULT_CONNECTIONS,
            more => more,
        };
        Ok(Some(Self {
            options: parsed,
            connections,
            timeout: options.request_timeout,
        }))
    }

    async fn connect(&self) -> Result<PostgresSession> {
        let refused = |what: String| Error::Connect {
            address: format!("{}:{}", self.options.host, self.options.port),
            what,
        };
        let client = Client::connect(self.options.clone()).await;
        let mut session = PostgresSession {
            client: client.map_err(|e| match e {
                ServerError::Connect { what, .. } => refused(what),
                other => refused(with_causes(&other)),
            })?,
            about: About::default(),
            timeout: self.timeout,
            free: Semaphore::new(self.connections),
            idle: RefCell::default(),
            statements: RefCell::default(),
        };
        let version = session.execute("SHOW server_version", Wanted::Rows).await;
        let version = version.map_err(|failure| refused(failure.to_string()))?;
        session.about = About {
            name: "PostgreSQL".to_owned(),
            version: first_text(&version).unwrap_or_default(),
        };
        Ok(session)
    }
}

/// The text in the column `server_version` of the first row.
fn first_text(answer: &Answer) -> Option<String> {
    let row = answer.values.first()?.borrow_ref::<rune::runtime::Object>().ok()?;
    let text = row.get("server_version")?.borrow_string_ref().ok()?.to_owned();
    Some(text)
}

impl PostgresSession {
    fn statement(&self, number: usize) -> Result<Rc<Statement>, Failure> {
        let statement = self.statements.borrow().get(number).cloned();
        statement.ok_or_else(|| Failure::new(FailureKind::Misuse, format!("there is no statement {number}")))
    }

    async fn connection(&self) -> Result<Connection, Failure> {
        loop {
            let idle = self.idle.borrow_mut().pop();
            match idle {
                Some(connection) if connection.dedicated.is_closed() => {}
                Some(connection) => return Ok(connection),
                None => {
                    return Ok(Connection {
                        dedicated: self.client.dedicated().await.map_err(|e| failure(&e))?,
                        prepared: RefCell::default(),
                    });
                }
            }
        }
    }

    /// Does work on a connection of the pool, no longer than `timeout`. If the time is over or the connection breaks, it cancels the
    /// work on the server and closes the connection. The next request opens another.
    async fn within<T>(
        &self,
        timeout: Duration,
        work: impl AsyncFnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        // Boxed, since whatever waits for it, for any store, would have room for it.
        let work = Box::pin(async {
            let Ok(_permit) = self.free.acquire().await else {
                return Err(Failure::new(FailureKind::Connection, "the pool is closed"));
            };
            let connection = self.connection().await?;
            let done = work(&connection).await;
            let is_broken = |failure: &Failure| matches!(failure.kind, FailureKind::Connection | FailureKind::Timeout);
            if !done.as_ref().is_err_and(is_broken) && !connection.dedicated.is_closed() {
                self.idle.borrow_mut().push(connection);
            }
            done
        });
        match tokio::time::timeout(timeout, work).await {
            Ok(done) => done,
            Err(_) => Err(Failure::new(
                FailureKind::Timeout,
                format!("no answer within {timeout:?}"),
            )),
        }
    }

    async fn run_prepared(
        &self,
        connection: &Connection,
        number: usize,
        parameters: Parameters<'_>,
        wanted: Wanted,
    ) -> Result<Answer, Failure> {
        let statement = self.statement(number)?;
        let known = connection.prepared.borrow().get(number).cloned().flatten();
        let known = match known {
            Some(known) => known,
            None => connection.prepare(number, &statement.marked).await?,
        };
        let Known { prepared, names } = &*known;
        let mut values: Vec<Parameter> = Vec::with_capacity(names.len());
        parameters.for_each(names.iter(), |at, value| {
            let typ = &prepared.parameters()[at];
            values.push(bind::parameter(value, typ, at, &names[at])?);
            Ok(())
        })?;
        run(&connection.dedicated, prepared, &values, wanted).await
    }
}

impl Connection {
    async fn prepare(&self, number: usize, marked: &Marked) -> Result<Rc<Known>, Failure> {
        let prepared = self.dedicated.prepare(&marked.text).await.map_err(|e| failure(&e))?;
        let known = Rc::new(Known {
            names: marked.names_of(prepared.parameters().len()),
            prepared,
        });
        let mut all = self.prepared.borrow_mut();
        if all.len() <= number {
            all.resize(number + 1, None);
        }
        all[number] = Some(Rc::clone(&known));
        Ok(known)
    }
}

async fn run(
    connection: &Dedicated,
    prepared: &Prepared,
    values: &[Parameter],
    wanted: Wanted,
) -> Result<Answer, Failure> {
    let outcome = connection.run(prepared, values, wanted == Wanted::Rows).await;
    let outcome = outcome.map_err(|e| failure(&e))?;
    let mut answer = Answer {
        rows: outcome.rows,
        ..Answer::default()
    };
    if let Some(batch) = &outcome.batch {
        arrow_rows::append(batch, str::to_owned, &mut answer.values)?;
    }
    Ok(answer)
}

impl Session for PostgresSession {
    async fn prepare(&self, text: &str, options: &StatementOptions) -> Result<usize, Failure> {
        if options.consistency.is_some() || options.serial_consistency.is_some() || options.page_size.is_some() {
            let why = "a statement of PostgreSQL has no consistency and no pages";
            return Err(Failure::new(FailureKind::Unsupported, why));
        }
        let marked = Marked::parse(text);
        let number = self.statements.borrow().len();
        // What is wrong with it shows now, and types are known to one connection already.
        let timeout = options.timeout.unwrap_or(self.timeout);
        self.within(timeout, async |connection: &Connection| {
            connection.prepare(number, &marked).await.map(drop)
        })
        .await?;
        self.statements
            .borrow_mut()
            .push(Rc::new(Statement { marked, timeout }));
        Ok(number)
    }

    async fn execute(&self, text: &str, rows: Wanted) -> Result<Answer, Failure> {
        self.within(self.timeout, async |connection: &Connection| {
            let prepared = connection.dedicated.prepare(text).await.map_err(|e| failure(&e))?;
            run(&connection.dedicated, &prepared, &[], rows).await
        })
        .await
    }

    async fn execute_prepared(&self, statement: usize, parameters: &Value, rows: Wanted) -> Result<Answer, Failure> {
        let timeout = self.statement(statement)?.timeout;
        self.within(timeout, async |connection: &Connection| {
            self.run_prepared(connection, statement, Parameters::Value(parameters), rows)
                .await
        })
        .await
    }

    /// A transaction, or each statement for itself on one connection.
    async fn batch(&self, kind: BatchKind, statements: &[(usize, Value)]) -> Result<Answer, Failure> {
        if kind == BatchKind::Counter {
            return Err(Failure::new(FailureKind::Unsupported, "PostgreSQL has no counters"));
        }
        let [(first, _), ..] = statements else {
            return Ok(Answer::default());
        };
        let timeout = self.statement(*first)?.timeout;
        let is_transaction = kind == BatchKind::Logged;
        self.within(timeout, async |connection: &Connection| {
            let command = async |text: &str| connection.dedicated.command(text).await.map_err(|e| failure(&e));
            if is_transaction {
                command("BEGIN").await?;
            }
            let mut answer = Answer::default();
            for (number, parameters) in statements {
                let run = self.run_prepared(connection, *number, Parameters::Value(parameters), Wanted::Count);
                match run.await {
                    Ok(done) => answer.rows += done.rows,
                    Err(failure) => {
                        // Of a broken connection there is nothing to take back.
                        if is_transaction && !connection.dedicated.is_closed() {
                            command("ROLLBACK").await?;
                        }
                        return Err(failure);
                    }
                }
            }
            if is_transaction {
                command("COMMIT").await?;
            }
            Ok(answer)
        })
        .await
    }

    async fn about(&self) -> Result<About, Failure> {
        Ok(self.about.clone())
    }
}

/// PostgreSQL's manual, appendix A: error codes.
fn failure(error: &ServerError) -> Failure {
    let kind = match (error.sqlstate(), error) {
        (Some(code), _) => kind_of(code),
        (None, ServerError::Timeout { .. }) => FailureKind::Timeout,
        (None, ServerError::Connect { .. } | ServerError::Broken { .. }) => FailureKind::Connection,
        (None, ServerError::Unsupported { .. }) => FailureKind::Unsupported,
        _ => FailureKind::Refused,
    };
    Failure::new(kind, with_causes(error))
}

fn kind_of(sqlstate: &str) -> FailureKind {
    match sqlstate {
        // query_canceled, as by statement_timeout.
        "57014" => FailureKind::Timeout,
        // serialization_failure, deadlock_detected, lock_not_available.
        "40001" | "40P01" | "55P03" => FailureKind::Locked,
        // admin_shutdown, crash_shutdown, cannot_connect_now.
        "57P01" | "57P02" | "57P03" => FailureKind::Connection,
        // A text that is no value of the parameter's type.
        "22P02" | "22P03" | "22007" | "22008" => FailureKind::Parameters,
        _ => match sqlstate.get(..2) {
            Some("08") => FailureKind::Connection,
            // Insufficient resources.
            Some("53") => FailureKind::Overloaded,
            // System errors, and internal ones.
            Some("58" | "XX") => FailureKind::Server,
            _ => FailureKind::Refused,
        },
    }
}

impl fmt::Debug for PostgresSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresSession").finish_non_exhaustive()
    }
}

/// As many as a thread has of ClickHouse.
const DEFAULT_CONNECTIONS: usize = 16;
