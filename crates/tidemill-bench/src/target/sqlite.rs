//! SQLite in this process: `sqlite:FILE[?journal_mode=wal|delete&busy_timeout=TIME]`.
//!
//! SQLite's calls block, so each connection has a thread of its own, which gets its requests by a channel. A request that takes too long is
//! interrupted, and its connection continues with the next.

mod connection;
mod failure;

use std::cell::RefCell;
use std::fmt;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rune::runtime::{Bytes, Object};
use rune::{Value, alloc};
use rusqlite::types::Value as SqlValue;
use tokio::sync::Semaphore;

use super::{About, Answer, BatchKind, Parameters, Session, StatementOptions, Target, Wanted};
use crate::args::{ConnectionArgs, parse_duration_or_seconds};
use crate::context::{Failure, FailureKind};
use crate::error::{Error, Result};
use crate::script::Uuid;
use connection::{Bound, Connection, Found, Task};

/// A file.
#[derive(Debug, Clone)]
pub struct Sqlite {
    path: PathBuf,
    /// Default: what the file has.
    journal_mode: Option<&'static str>,
    /// How long SQLite itself waits for another's lock. Default: it does not.
    busy_timeout: Duration,
    creates: bool,
    connections: usize,
    timeout: Duration,
}

/// Connections to the file, each with its thread.
pub struct SqliteSession {
    target: Sqlite,
    free: Semaphore,
    idle: RefCell<Vec<Connection>>,
    statements: RefCell<Vec<Rc<Statement>>>,
}

struct Statement {
    text: Arc<str>,
    names: Vec<String>,
    timeout: Duration,
}

impl Target for Sqlite {
    type Session = SqliteSession;

    const NAME: &'static str = "sqlite";

    fn open(options: &ConnectionArgs) -> Result<Option<Self>> {
        let [address] = options.addresses.as_slice() else {
            return Ok(None);
        };
        let Some(place) = address.strip_prefix("sqlite:") else {
            return Ok(None);
        };
        let wrong = |what: String| Error::Misuse(format!("sqlite: {what}"));
        let (path, query) = place.split_once('?').unwrap_or((place, ""));
        if path.is_empty() || path == ":memory:" {
            return Err(wrong("expected a file, as in sqlite:test.db".to_owned()));
        }
        let mut target = Self {
            path: PathBuf::from(path),
            journal_mode: None,
            busy_timeout: Duration::ZERO,
            creates: options.creates,
            connections: options.connections.get(),
            timeout: options.request_timeout,
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=').unwrap_or((pair, "")) {
                ("journal_mode", "wal") => target.journal_mode = Some("wal"),
                ("journal_mode", "delete") => target.journal_mode = Some("delete"),
                ("journal_mode", other) => {
                    return Err(wrong(format!("journal_mode: expected wal or delete, found {other}")));
                }
                ("busy_timeout", time) => {
                    target.busy_timeout =
                        parse_duration_or_seconds(time).map_err(|e| wrong(format!("busy_timeout: {e}")))?;
                }
                (other, _) => {
                    return Err(wrong(format!("expected journal_mode or busy_timeout, found {other}")));
                }
            }
        }
        Ok(Some(target))
    }

    async fn connect(&self) -> Result<SqliteSession> {
        let session = SqliteSession {
            target: self.clone(),
            free: Semaphore::new(self.connections),
            idle: RefCell::default(),
            statements: RefCell::default(),
        };
        let connection = session.connection().await.map_err(|failure| Error::Connect {
            address: self.path.display().to_string(),
            what: failure.message,
        })?;
        session.idle.borrow_mut().push(connection);
        Ok(session)
    }
}

impl SqliteSession {
    fn statement(&self, number: usize) -> Result<Rc<Statement>, Failure> {
        let statement = self.statements.borrow().get(number).cloned();
        statement.ok_or_else(|| Failure::new(FailureKind::Misuse, format!("there is no statement {number}")))
    }

    async fn connection(&self) -> Result<Connection, Failure> {
        let idle = self.idle.borrow_mut().pop();
        match idle {
            Some(connection) => Ok(connection),
            None => Connection::open(&self.target).await,
        }
    }

    async fn within(&self, timeout: Duration, task: Task) -> Result<Found, Failure> {
        let until = tokio::time::Instant::now() + timeout;
        let late = || Failure::new(FailureKind::Timeout, format!("no answer within {timeout:?}"));
        let Ok(permit) = tokio::time::timeout_at(until, self.free.acquire()).await else {
            return Err(late());
        };
        let connection = self.connection().await?;
        let mut answer = connection.send(task);
        let found = match tokio::time::timeout_at(until, &mut answer).await {
            Ok(found) => found,
            // The next request waits until the interrupted one has ended. Only a statement that runs is interrupted, so it is tried again.
            Err(_) => loop {
                connection.interrupt();
                match tokio::time::timeout(BETWEEN_INTERRUPTS, &mut answer).await {
                    Err(_) => {}
                    Ok(Ok(Err(failure))) if failure.kind != FailureKind::Timeout => break Ok(Err(failure)),
                    Ok(_) => break Ok(Err(late())),
                }
            },
        };
        drop(permit);
        match found {
            Ok(found) => {
                self.idle.borrow_mut().push(connection);
                found
            }
            Err(_) => Err(Failure::new(
                FailureKind::Connection,
                "the thread of the connection has ended",
            )),
        }
    }

    fn bound(&self, number: usize, parameters: &Value) -> Result<Bound, Failure> {
        let statement = self.statement(number)?;
        let mut values = Vec::with_capacity(statement.names.len());
        Parameters::Value(parameters).for_each(statement.names.iter(), |at, value| {
            values.push(match value {
                Some(value) => bind(value, at, &statement.names[at])?,
                None => SqlValue::Null,
            });
            Ok(())
        })?;
        Ok(Bound {
            text: Arc::clone(&statement.text),
            values,
        })
    }

    async fn run(&self, timeout: Duration, bound: Bound, wanted: Wanted) -> Result<Answer, Failure> {
        let wants_rows = wanted == Wanted::Rows;
        let found = Box::pin(self.within(timeout, Task::Run { bound, wants_rows })).await?;
        let mut answer = Answer {
            rows: found.rows,
            ..Answer::default()
        };
        for row in found.values {
            let mut object = Object::with_capacity(row.len()).map_err(Failure::memory)?;
            for (name, value) in found.names.iter().zip(row) {
                let name = alloc::String::try_from(name.as_str()).map_err(Failure::memory)?;
                object.insert(name, unbound(value)?).map_err(Failure::memory)?;
            }
            let object = Value::new(object).map_err(Failure::memory)?;
            answer.values.try_push(object).map_err(Failure::memory)?;
        }
        Ok(answer)
    }
}

impl Session for SqliteSession {
    async fn prepare(&self, text: &str, options: &StatementOptions) -> Result<usize, Failure> {
        if options.consistency.is_some() || options.serial_consistency.is_some() || options.page_size.is_some() {
            let why = "a statement of SQLite has no consistency and no pages";
            return Err(Failure::new(FailureKind::Unsupported, why));
        }
        let timeout = options.timeout.unwrap_or(self.target.timeout);
        let found = Box::pin(self.within(timeout, Task::Prepare(text.to_owned()))).await?;
        let mut statements = self.statements.borrow_mut();
        statements.push(Rc::new(Statement {
            text: text.into(),
            names: found.names,
            timeout,
        }));
        Ok(statements.len() - 1)
    }

    async fn execute(&self, text: &str, rows: Wanted) -> Result<Answer, Failure> {
        let bound = Bound {
            text: text.into(),
            values: Vec::new(),
        };
        self.run(self.target.timeout, bound, rows).await
    }

    async fn execute_prepared(&self, statement: usize, parameters: &Value, rows: Wanted) -> Result<Answer, Failure> {
        let timeout = self.statement(statement)?.timeout;
        self.run(timeout, self.bound(statement, parameters)?, rows).await
    }

    async fn batch(&self, kind: BatchKind, statements: &[(usize, Value)]) -> Result<Answer, Failure> {
        if kind == BatchKind::Counter {
            return Err(Failure::new(FailureKind::Unsupported, "SQLite has no counters"));
        }
        let [(first, _), ..] = statements else {
            return Ok(Answer::default());
        };
        let timeout = self.statement(*first)?.timeout;
        let all = statements
            .iter()
            .map(|(number, parameters)| self.bound(*number, parameters));
        let task = Task::Batch {
            all: all.collect::<Result<Vec<_>, _>>()?,
            is_transaction: kind == BatchKind::Logged,
        };
        let found = Box::pin(self.within(timeout, task)).await?;
        Ok(Answer {
            rows: found.rows,
            ..Answer::default()
        })
    }

    async fn about(&self) -> Result<About, Failure> {
        Ok(About {
            name: "SQLite".to_owned(),
            version: rusqlite::version().to_owned(),
        })
    }
}

fn bind(value: &Value, at: usize, name: &str) -> Result<SqlValue, Failure> {
    if let Ok(integer) = value.as_integer::<i64>() {
        return Ok(SqlValue::Integer(integer));
    }
    if let Ok(float) = value.as_float() {
        return Ok(SqlValue::Real(float));
    }
    if let Ok(text) = value.borrow_string_ref() {
        return Ok(SqlValue::Text(text.to_owned()));
    }
    if let Ok(truth) = value.as_bool() {
        return Ok(SqlValue::Integer(i64::from(truth)));
    }
    if let Ok(bytes) = value.borrow_ref::<Bytes>() {
        return Ok(SqlValue::Blob(bytes.to_vec()));
    }
    if let Ok(uuid) = value.borrow_ref::<Uuid>() {
        return Ok(SqlValue::Text(uuid.0.to_string()));
    }
    if let Ok(option) = value.borrow_ref::<Option<Value>>() {
        return (*option)
            .as_ref()
            .map_or(Ok(SqlValue::Null), |value| bind(value, at, name));
    }
    let expected = "an integer, a float, a text, bytes, a truth value or None";
    let name = if name == "?" {
        String::new()
    } else {
        format!(" ({name})")
    };
    let why = format!(
        "parameter {}{name}: expected {expected}, found {}",
        at + 1,
        value.type_info()
    );
    Err(Failure::new(FailureKind::Parameters, why))
}

fn unbound(value: SqlValue) -> Result<Value, Failure> {
    match value {
        SqlValue::Null => Value::new(None::<Value>),
        SqlValue::Integer(number) => Ok(Value::from(number)),
        SqlValue::Real(number) => Ok(Value::from(number)),
        SqlValue::Text(text) => alloc::String::try_from(text).and_then(Value::new),
        SqlValue::Blob(blob) => alloc::Vec::try_from(blob).and_then(|bytes| Value::new(Bytes::from_vec(bytes))),
    }
    .map_err(Failure::memory)
}

const BETWEEN_INTERRUPTS: Duration = Duration::from_millis(20);

impl fmt::Debug for SqliteSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteSession").finish_non_exhaustive()
    }
}
