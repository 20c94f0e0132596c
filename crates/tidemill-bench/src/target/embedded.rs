//! xBase tables in this process: `xbase:DIR` and `mem:`.
//!
//! Statements are ADS SQL over one table. Each worker has a connection of its own to the same folder, and they lock records as programs
//! do that share tables. `mem:` is a folder in memory, where the system has one, that ends with the run.

use std::cell::RefCell;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use rune::Value;
use rune::runtime::Bytes;
use tempfile::TempDir;
use tidemill_ads::sql::{
    Answer as Answered, Error as SqlError, Kind, Prepared, StatementOptions as SqlOptions, Value as SqlValue,
};
use tidemill_ads::{Connection, Durability, ErrorCode, Settings, SoleUse};

use super::{
    About, Answer, BatchKind, Begun, Parameters, Session, StatementOptions, Target, Wanted, arrow_rows, with_causes,
};
use crate::args::ConnectionArgs;
use crate::context::{Failure, FailureKind};
use crate::error::{Error, Result};
use crate::script::Uuid;

/// A folder of tables.
#[derive(Debug)]
pub struct Embedded {
    folder: PathBuf,
    /// The folder of `mem:`, which is deleted with it.
    memory: Option<TempDir>,
    /// Nobody else looks for the folder of `mem:`.
    sole_use: Option<SoleUse>,
    durability: Durability,
    lock_timeout: std::time::Duration,
}

/// A connection to the folder.
pub struct EmbeddedSession {
    connection: RefCell<Connection>,
    statements: RefCell<Vec<Statement>>,
    settings: Settings,
    options: SqlOptions,
}

struct Statement {
    prepared: Arc<Prepared>,
    /// The names of its parameters, spelled as its text spells them.
    names: Vec<String>,
}

impl Target for Embedded {
    type Session = EmbeddedSession;

    const NAME: &'static str = "xbase";

    fn open(options: &ConnectionArgs) -> Result<Option<Self>> {
        let [address] = options.addresses.as_slice() else {
            return Ok(None);
        };
        let memory = match address.strip_prefix("xbase:") {
            Some(_) => None,
            None if address == "mem:" => Some(memory_folder()?),
            None => return Ok(None),
        };
        let (folder, durability) = match (&memory, address.strip_prefix("xbase:")) {
            (Some(memory), _) => (memory.path().to_owned(), Durability::None),
            (None, Some(place)) => parse(place)?,
            (None, None) => return Ok(None),
        };
        if !folder.is_dir() {
            let what = "it is no folder".to_owned();
            let address = address.clone();
            return Err(Error::Connect { address, what });
        }
        Ok(Some(Self {
            folder,
            sole_use: memory.is_some().then(SoleUse::default),
            memory,
            durability,
            lock_timeout: options.request_timeout,
        }))
    }

    async fn connect(&self) -> Result<EmbeddedSession> {
        let mut connection = Connection::open(&self.folder).map_err(|e| Error::Connect {
            address: self.folder.display().to_string(),
            what: e.to_string(),
        })?;
        connection.set_sole_use(self.sole_use.clone());
        Ok(EmbeddedSession {
            connection: RefCell::new(connection),
            statements: RefCell::default(),
            settings: Settings {
                lock_timeout: self.lock_timeout,
                // A record that is marked as deleted is gone, as a script expects.
                show_deleted: false,
                ..Settings::default()
            },
            options: SqlOptions {
                durability: self.durability,
                ..SqlOptions::default()
            },
        })
    }

    fn is_ephemeral(&self) -> bool {
        self.memory.is_some()
    }
}

/// The folder, and what comes after a question mark: `durability=commit`, `group` or `none`.
fn parse(place: &str) -> Result<(PathBuf, Durability)> {
    let (folder, option) = place.split_once('?').unwrap_or((place, "durability=commit"));
    let durability = match option {
        "durability=commit" => Durability::Commit,
        "durability=group" => Durability::Group(100),
        "durability=none" => Durability::None,
        other => {
            return Err(Error::Misuse(format!(
                "xbase:{place}: expected durability=commit, group or none, found {other}"
            )));
        }
    };
    Ok((PathBuf::from(folder), durability))
}

fn memory_folder() -> Result<TempDir> {
    let memory = Path::new("/dev/shm");
    let parent = if memory.is_dir() {
        memory.to_owned()
    } else {
        std::env::temp_dir()
    };
    let mut names = tempfile::Builder::new();
    names.prefix("tidemill-bench-");
    names
        .tempdir_in(&parent)
        .map_err(Error::io("make a folder in", &parent))
}

impl EmbeddedSession {
    fn run(&self, prepared: &Prepared, parameters: &[SqlValue], wanted: Wanted) -> Result<Answer, Failure> {
        let mut connection = self.connection.borrow_mut();
        let mut tables = connection.tables(&self.settings, &self.options);
        let answered = prepared.run_static(&mut tables, parameters).map_err(|e| failure(&e))?;
        let mut answer = Answer::default();
        match answered {
            Answered::Rows(rows) => {
                answer.rows = rows.count() as u64;
                if wanted == Wanted::Rows {
                    for batch in &rows.batches {
                        // Names of fields are in capitals; those of scripts are not.
                        arrow_rows::append(batch, str::to_ascii_lowercase, &mut answer.values)?;
                    }
                }
            }
            Answered::Changed(count) => answer.rows = count,
            _ => {}
        }
        Ok(answer)
    }

    fn prepared(&self, text: &str) -> Result<Arc<Prepared>, Failure> {
        let mut connection = self.connection.borrow_mut();
        connection
            .prepare(text, &self.settings, &self.options)
            .map_err(|e| match e {
                tidemill_ads::Error::Statement(e) => failure(&e),
                other => Failure::new(FailureKind::Refused, other.to_string()),
            })
    }

    fn run_prepared(&self, statement: usize, parameters: Parameters<'_>, wanted: Wanted) -> Result<Answer, Failure> {
        let statements = self.statements.borrow();
        let statement = statements
            .get(statement)
            .ok_or_else(|| Failure::new(FailureKind::Misuse, format!("there is no statement {statement}")))?;
        let mut values = Vec::with_capacity(statement.names.len());
        parameters.for_each(statement.names.iter(), |at, value| {
            values.push(match value {
                Some(value) => bind(value, &statement.names[at])?,
                None => SqlValue::Null,
            });
            Ok(())
        })?;
        self.run(&statement.prepared, &values, wanted)
    }

    fn plain(&self, text: &str) -> Result<(), Failure> {
        let prepared = self.prepared(text)?;
        self.run(&prepared, &[], Wanted::Count).map(drop)
    }
}

impl Session for EmbeddedSession {
    async fn prepare(&self, text: &str, options: &StatementOptions) -> Result<usize, Failure> {
        if *options != StatementOptions::default() {
            let why = "statements over tables have no consistency, page size or timeout of their own";
            return Err(Failure::new(FailureKind::Unsupported, why));
        }
        let prepared = self.prepared(text)?;
        let names = spelled(text, prepared.parameters());
        let mut statements = self.statements.borrow_mut();
        statements.push(Statement { prepared, names });
        Ok(statements.len() - 1)
    }

    async fn execute(&self, text: &str, rows: Wanted) -> Result<Answer, Failure> {
        let prepared = self.prepared(text)?;
        self.run(&prepared, &[], rows)
    }

    async fn execute_prepared(&self, statement: usize, parameters: &Value, rows: Wanted) -> Result<Answer, Failure> {
        self.run_prepared(statement, Parameters::Value(parameters), rows)
    }

    fn begin(&self, statement: usize, parameters: Parameters<'_>, _cycle: u32, _now: Instant) -> Begun {
        let answer = self.run_prepared(statement, parameters, Wanted::Count);
        Begun::Ended(answer.map(|answer| answer.rows))
    }

    async fn batch(&self, kind: BatchKind, statements: &[(usize, Value)]) -> Result<Answer, Failure> {
        if kind == BatchKind::Counter {
            return Err(Failure::new(FailureKind::Unsupported, "tables have no counters"));
        }
        let mut answer = Answer::default();
        let mut all = || {
            for (statement, parameters) in statements {
                answer.rows += self
                    .run_prepared(*statement, Parameters::Value(parameters), Wanted::Count)?
                    .rows;
            }
            Ok(())
        };
        if kind == BatchKind::Unlogged {
            all()?;
            return Ok(answer);
        }
        // Nothing awaits in between, so no other cycle of this worker gets into the transaction.
        self.plain("BEGIN TRANSACTION")?;
        match all() {
            Ok(()) => self.plain("COMMIT WORK")?,
            Err(failure) => {
                self.plain("ROLLBACK WORK")?;
                return Err(failure);
            }
        }
        Ok(answer)
    }

    async fn about(&self) -> Result<About, Failure> {
        Ok(About {
            name: "xBase tables".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        })
    }
}

/// The parameters come in capitals; objects of scripts have the letters of the text.
fn spelled(text: &str, parameters: &[Option<String>]) -> Vec<String> {
    let capitals = text.to_ascii_uppercase();
    let spelling = |name: &String| {
        let at = capitals.find(&format!(":{name}"))? + 1;
        text.get(at..at + name.len()).map(str::to_owned)
    };
    parameters
        .iter()
        .map(|name| {
            name.as_ref()
                .map_or_else(|| "?".to_owned(), |name| spelling(name).unwrap_or_else(|| name.clone()))
        })
        .collect()
}

fn bind(value: &Value, name: &str) -> Result<SqlValue, Failure> {
    if let Ok(integer) = value.as_integer::<i64>() {
        return Ok(SqlValue::Integer(integer));
    }
    if let Ok(float) = value.as_float() {
        return Ok(SqlValue::Double(float));
    }
    if let Ok(text) = value.borrow_string_ref() {
        return Ok(SqlValue::Text(text.to_owned()));
    }
    if let Ok(logical) = value.as_bool() {
        return Ok(SqlValue::Logical(logical));
    }
    if let Ok(bytes) = value.borrow_ref::<Bytes>() {
        return Ok(SqlValue::Bytes(bytes.to_vec()));
    }
    if let Ok(uuid) = value.borrow_ref::<Uuid>() {
        return Ok(SqlValue::Text(uuid.0.to_string()));
    }
    if let Ok(option) = value.borrow_ref::<Option<Value>>() {
        return (*option).as_ref().map_or(Ok(SqlValue::Null), |value| bind(value, name));
    }
    let why = format!("parameter {name}: a table's field holds no {}", value.type_info());
    Err(Failure::new(FailureKind::Parameters, why))
}

fn failure(error: &SqlError) -> Failure {
    let kind = match error.kind() {
        _ if error.native_code() == i64::from(ErrorCode::LockFailed.number()) => FailureKind::Locked,
        Kind::Parameter | Kind::Value => FailureKind::Parameters,
        Kind::Unsupported | Kind::NeedsAnalytical => FailureKind::Unsupported,
        _ => FailureKind::Refused,
    };
    let message = match std::error::Error::source(error) {
        Some(cause) => format!("{}: {}", error.message(), with_causes(cause)),
        None => error.message().to_owned(),
    };
    Failure::new(kind, message)
}

impl fmt::Debug for EmbeddedSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbeddedSession").finish_non_exhaustive()
    }
}
