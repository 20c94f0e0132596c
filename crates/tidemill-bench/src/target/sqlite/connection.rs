//! A connection and its thread.

use std::sync::{Arc, mpsc};
use std::thread;

use rusqlite::types::Value;
use rusqlite::{InterruptHandle, OpenFlags, params_from_iter};
use tokio::sync::oneshot;

use super::Sqlite;
use super::failure::failure;
use crate::context::{Failure, FailureKind};

/// The near end of a connection. The thread ends when it is dropped.
pub(super) struct Connection {
    requests: mpsc::Sender<Request>,
    interrupt: InterruptHandle,
}

type Reply = oneshot::Sender<Result<Found, Failure>>;

struct Request {
    task: Task,
    reply: Reply,
}

/// What a connection is asked.
pub(super) enum Task {
    /// The names of a statement's parameters.
    Prepare(String),
    /// A statement.
    Run {
        /// With its values.
        bound: Bound,
        /// Whether rows are wanted, and not only their number.
        wants_rows: bool,
    },
    /// Statements one after another, all or none where it is a transaction.
    Batch {
        /// With their values.
        all: Vec<Bound>,
        /// Whether it is all or none.
        is_transaction: bool,
    },
}

/// A statement and the values of its parameters.
pub(super) struct Bound {
    pub(super) text: Arc<str>,
    pub(super) values: Vec<Value>,
}

/// What came of a task.
#[derive(Default)]
pub(super) struct Found {
    /// How many rows came or were changed.
    pub(super) rows: u64,
    /// The names of columns, or of parameters.
    pub(super) names: Vec<String>,
    pub(super) values: Vec<Vec<Value>>,
}

impl Connection {
    pub(super) async fn open(target: &Sqlite) -> Result<Self, Failure> {
        let (requests, asked) = mpsc::channel();
        let (opened, handle) = oneshot::channel();
        let target = target.clone();
        let thread = thread::Builder::new().name("sqlite".to_owned());
        let spawned = thread.spawn(move || match open(&target) {
            Ok(connection) => {
                if opened.send(Ok(connection.get_interrupt_handle())).is_ok() {
                    serve(&connection, &asked);
                }
            }
            Err(failure) => drop(opened.send(Err(failure))),
        });
        let ended = |why: String| Failure::new(FailureKind::Connection, why);
        spawned.map_err(|e| ended(format!("cannot start a thread: {e}")))?;
        let interrupt = handle
            .await
            .map_err(|_| ended("the thread of the connection has ended".to_owned()))??;
        Ok(Self { requests, interrupt })
    }

    /// The answer comes later; without a thread it is an error.
    pub(super) fn send(&self, task: Task) -> oneshot::Receiver<Result<Found, Failure>> {
        let (reply, answer) = oneshot::channel();
        // Without the thread the reply is dropped, which the answer says.
        let _ = self.requests.send(Request { task, reply });
        answer
    }

    pub(super) fn interrupt(&self) {
        self.interrupt.interrupt();
    }
}

fn open(target: &Sqlite) -> Result<rusqlite::Connection, Failure> {
    if !target.creates && !target.path.is_file() {
        let why = "there is no such file; `tidemill-bench schema` makes it";
        return Err(Failure::new(FailureKind::Refused, why));
    }
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if target.creates {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    let opened = rusqlite::Connection::open_with_flags(&target.path, flags).and_then(|connection| {
        // Threads that open a file together are briefly in one another's way.
        connection.busy_timeout(target.timeout)?;
        connection.set_prepared_statement_cache_capacity(PREPARED);
        if let Some(mode) = target.journal_mode {
            connection.pragma_update(None, "journal_mode", mode)?;
        }
        // It reads the file, which may be none of SQLite's.
        connection.query_row("PRAGMA schema_version", [], |_| Ok(()))?;
        connection.busy_timeout(target.busy_timeout)?;
        Ok(connection)
    });
    opened.map_err(|e| failure(&e))
}

fn serve(connection: &rusqlite::Connection, asked: &mpsc::Receiver<Request>) {
    for Request { task, reply } in asked {
        let found = match task {
            Task::Prepare(text) => prepare(connection, &text),
            Task::Run { bound, wants_rows } => run(connection, bound, wants_rows),
            Task::Batch { all, is_transaction } => batch(connection, all, is_transaction),
        };
        // Nobody may want it any more.
        let _ = reply.send(found.map_err(|e| failure(&e)));
    }
}

fn prepare(connection: &rusqlite::Connection, text: &str) -> rusqlite::Result<Found> {
    let statement = connection.prepare_cached(text)?;
    // Of a `?` there is no name. `:name` is known to scripts as `name`.
    let name = |at| match statement.parameter_name(at) {
        Some(name) => name.trim_start_matches([':', '@', '$']).to_owned(),
        None => "?".to_owned(),
    };
    Ok(Found {
        names: (1..=statement.parameter_count()).map(name).collect(),
        ..Found::default()
    })
}

fn run(connection: &rusqlite::Connection, bound: Bound, wants_rows: bool) -> rusqlite::Result<Found> {
    let mut statement = connection.prepare_cached(&bound.text)?;
    let mut found = Found::default();
    let columns = statement.column_count();
    if wants_rows {
        found.names = statement.column_names().map(str::to_owned).collect();
    }
    let is_reading = statement.readonly();
    let before = connection.total_changes();
    let mut rows = statement.query(params_from_iter(bound.values))?;
    while let Some(row) = rows.next()? {
        found.rows += 1;
        if wants_rows {
            let values = (0..columns).map(|at| row.get::<_, Value>(at));
            found.values.push(values.collect::<rusqlite::Result<_>>()?);
        }
    }
    drop(rows);
    if columns == 0 && !is_reading {
        found.rows = connection.total_changes().saturating_sub(before);
    }
    Ok(found)
}

/// The lock is taken at the start: two transactions that read first would wait for one another.
fn batch(connection: &rusqlite::Connection, all: Vec<Bound>, is_transaction: bool) -> rusqlite::Result<Found> {
    if is_transaction {
        connection.execute_batch("BEGIN IMMEDIATE")?;
    }
    let each = || {
        let mut rows = 0;
        for bound in all {
            rows += run(connection, bound, false)?.rows;
        }
        if is_transaction {
            connection.execute_batch("COMMIT")?;
        }
        Ok(rows)
    };
    match each() {
        Ok(rows) => Ok(Found {
            rows,
            ..Found::default()
        }),
        Err(error) => {
            // Some errors have ended the transaction already.
            if is_transaction && !connection.is_autocommit() {
                connection.execute_batch("ROLLBACK")?;
            }
            Err(error)
        }
    }
}

/// How many statements a connection keeps.
const PREPARED: usize = 256;
