//! `/copies`: copies of tables and query results into the served folders and databases. They run in the background.
//!
//! | request | answer |
//! |---|---|
//! | `POST /copies` | starts a copy |
//! | `GET /copies` | the copies of this user, the newest first |
//! | `DELETE /copies/ID` | stops a running copy; removes one that has ended from the list |
//!
//! A user with write rights can copy into each schema that the user may name: into a file of a folder, or a table of a database. A copy is
//! logged like a statement, is subject to its user's statement time, and must end within the grace time when the server stops.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::{Extension, Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tidemill_sql::{Copied, CopyOptions, Location, Place, Progress, Session, Verify, is_query};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::guard::Sender;
use super::{Problem, json_answer};
use crate::failure::Failure;
use crate::server::Shared;
use crate::statement::Statement;
use crate::users::random;

/// How many copies run at once.
const MOST_RUNNING: u32 = 8;
/// How many ended copies stay in the list.
const MOST_ENDED: usize = 100;
/// An unknown number of rows.
const UNKNOWN: u64 = u64::MAX;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    source: Source,
    target: Target,
    #[serde(default)]
    overwrite: bool,
    /// Whether values may lose precision in their new types.
    #[serde(default)]
    lossy: bool,
    /// Default: full, if the format has types.
    verify: Option<Comparison>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Source {
    Table(String),
    Sql(String),
}

impl Source {
    /// The name of the table, or the statement.
    fn text(&self) -> &str {
        match self {
            Self::Table(text) | Self::Sql(text) => text,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Target {
    schema: String,
    name: String,
    /// The extension of a file in a folder.
    format: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Comparison {
    Count,
    Full,
}

/// The copies of a server.
#[derive(Debug)]
pub(crate) struct Copies {
    /// The newest is last.
    list: Mutex<Vec<Arc<Copy>>>,
    running: Arc<Semaphore>,
}

impl Default for Copies {
    fn default() -> Self {
        Self {
            list: Mutex::default(),
            running: Arc::new(Semaphore::new(MOST_RUNNING as usize)),
        }
    }
}

impl Copies {
    /// Waits until no copy is running.
    pub(crate) async fn ended(&self) {
        let _ = self.running.acquire_many(MOST_RUNNING).await;
    }

    fn list(&self) -> MutexGuard<'_, Vec<Arc<Copy>>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of<'l>(list: &'l [Arc<Copy>], user: &'l str) -> impl DoubleEndedIterator<Item = &'l Arc<Copy>> {
        list.iter().filter(move |copy| copy.user == user)
    }

    fn add(&self, copy: &Arc<Copy>) {
        let mut list = self.list();
        list.push(Arc::clone(copy));
        let ended = list.iter().filter(|copy| copy.end().is_some()).count();
        let mut surplus = ended.saturating_sub(MOST_ENDED);
        list.retain(|copy| match surplus > 0 && copy.end().is_some() {
            true => {
                surplus -= 1;
                false
            }
            false => true,
        });
    }
}

/// A copy; its task updates the state.
#[derive(Debug)]
struct Copy {
    id: String,
    user: String,
    source: String,
    target: String,
    begun: Instant,
    rows: AtomicU64,
    expected: AtomicU64,
    /// Whether its user stopped it.
    is_stopped: AtomicBool,
    end: Mutex<Option<End>>,
}

#[derive(Debug)]
struct End {
    time: Duration,
    how: Result<Copied, Failure>,
}

impl Copy {
    fn end(&self) -> MutexGuard<'_, Option<End>> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn progress(&self, now: Progress) {
        self.rows.store(now.rows, Ordering::Relaxed);
        if let Some(expected) = now.expected_rows {
            self.expected.store(expected, Ordering::Relaxed);
        }
    }

    fn json(&self) -> Value {
        let known = |rows: u64| (rows != UNKNOWN).then_some(rows);
        let end = self.end();
        let how = end.as_ref().map(|end| &end.how);
        let copied = how.and_then(|how| how.as_ref().ok());
        let failure = how.and_then(|how| how.as_ref().err());
        let state = match (how, self.is_stopped.load(Ordering::Relaxed)) {
            (None, _) => "running",
            (Some(Ok(_)), _) => "done",
            (Some(Err(_)), true) => "stopped",
            (Some(Err(_)), false) => "failed",
        };
        let time = end.as_ref().map_or_else(|| self.begun.elapsed(), |end| end.time);
        json!({
            "id": self.id,
            "source": self.source,
            "target": self.target,
            "state": state,
            "rows": copied.map_or_else(|| self.rows.load(Ordering::Relaxed), |copied| copied.rows),
            "expected": known(self.expected.load(Ordering::Relaxed)),
            "bytes": copied.map(|copied| copied.bytes).filter(|bytes| *bytes > 0),
            "seconds": time.as_secs_f64(),
            "compared_columns": copied.and_then(|copied| copied.compared_columns),
            "error": failure.filter(|_| state == "failed").map(|failure| json!({
                "sqlstate": failure.state,
                "message": failure.message,
                "hint": failure.hint,
            })),
        })
    }
}

/// What a task needs to make a copy.
struct Task {
    session: Session,
    source: Source,
    destination: Location,
    overwrites: bool,
    options: CopyOptions,
    statement: Statement,
    copy: Arc<Copy>,
    _permit: OwnedSemaphorePermit,
}

impl Task {
    /// Makes the copy. `planned` receives errors that occur before the first row.
    async fn run(mut self, planned: oneshot::Sender<Result<(), Failure>>) {
        let (copy, text) = (&self.copy, self.source.text());
        let (session, destination, options) = (&self.session, &self.destination, &self.options);
        let mut source = None;
        let planning = async {
            if matches!(destination.place, Place::Server(_)) && !self.overwrites {
                refuse_existing(session, destination, &copy.target).await?;
            }
            let plan = async {
                match &self.source {
                    Source::Table(name) => {
                        let located = session.locate(name).await?;
                        session.plan_copy(source.insert(located), destination, options).await
                    }
                    Source::Sql(sql) => session.plan_copy_query(sql, destination, options).await,
                }
            };
            plan.await.map_err(|error| Failure::of(&error, text))
        };
        let plan = match self.statement.within(planning).await {
            Ok(plan) => plan,
            Err(failure) => {
                let failure = self.statement.failed(failure);
                // The client may have disconnected.
                let _ = planned.send(Err(failure));
                return;
            }
        };
        if planned.send(Ok(())).is_err() {
            return;
        }
        // Dropping a stopped copy removes its draft.
        let how = self.statement.read(plan.run(|now| copy.progress(now))).await;
        if let Ok(copied) = &how {
            self.statement.changed(Some(copied.rows));
        }
        let how = self.statement.end(how);
        let time = copy.begun.elapsed();
        *copy.end() = Some(End { time, how });
    }
}

/// # Errors
///
/// SQLSTATE 42P07 if the database already has the table.
async fn refuse_existing(session: &Session, table: &Location, name: &str) -> Result<(), Failure> {
    match session.schema(table).await {
        Ok(_) => {
            let failure = Failure::new("42P07", format!("{name} already exists"));
            Err(failure.with_hint("overwrite it, or give the copy another name"))
        }
        Err(_) => Ok(()),
    }
}

pub(super) async fn begin(
    State(shared): State<Arc<Shared>>,
    Extension(sender): Extension<Sender>,
    body: Bytes,
) -> Result<Response, Problem> {
    let asked: Asked = serde_json::from_slice(&body).map_err(|error| {
        let what = format!("the request is not a copy, {{\"source\": …, \"target\": …}}: {error}");
        Problem::new(StatusCode::BAD_REQUEST, "22023", what)
    })?;
    if !sender.rights.may_write {
        return Err(Failure::only_reads().into());
    }
    if let Source::Sql(sql) = &asked.source
        && !is_query(sql).map_err(|error| Failure::of(&error, sql))?
    {
        return Err(Failure::new("42601", "only the rows of a query can be copied").into());
    }
    let Target { schema, name, format } = &asked.target;
    let destination = shared
        .stores
        .destination(&sender.rights, schema, name, format.as_deref())?;
    let is_server = matches!(destination.place, Place::Server(_));
    let Ok(permit) = Arc::clone(&shared.copies.running).try_acquire_owned() else {
        let failure = Failure::new("53300", format!("{MOST_RUNNING} copies are running already"));
        return Err(failure.with_hint("wait until one has ended, or stop one").into());
    };
    let mut options = CopyOptions {
        overwrite: asked.overwrite,
        lossy: asked.lossy,
        verify: match asked.verify {
            Some(Comparison::Count) => Verify::Counts,
            None if !is_server && !destination.format.has_types() => Verify::Counts,
            Some(Comparison::Full) | None => Verify::Full,
        },
        ..CopyOptions::default()
    };
    options.table.create = is_server;
    let copy = Arc::new(Copy {
        id: random::<16>().iter().map(|byte| format!("{byte:02x}")).collect(),
        user: sender.user.clone(),
        source: asked.source.text().to_owned(),
        target: format!("{schema}.{name}"),
        begun: Instant::now(),
        rows: AtomicU64::new(0),
        expected: AtomicU64::new(UNKNOWN),
        is_stopped: AtomicBool::new(false),
        end: Mutex::new(None),
    });
    let text = format!("COPY ({}) TO {}", copy.source, copy.target);
    let by = (sender.user.as_str(), &sender.rights);
    let task = Task {
        session: shared.stores.session(&sender.rights),
        source: asked.source,
        destination,
        overwrites: asked.overwrite,
        options,
        statement: Statement::begin(&shared, "http", by, text, Some(copy.id.as_bytes())),
        copy: Arc::clone(&copy),
        _permit: permit,
    };
    let (planned, is_planned) = oneshot::channel();
    tokio::spawn(task.run(planned));
    is_planned
        .await
        .unwrap_or_else(|_| Err(Failure::new("XX000", "the copy ended before it began")))?;
    shared.copies.add(&copy);
    Ok((StatusCode::ACCEPTED, json_answer(&copy.json())).into_response())
}

pub(super) async fn list(State(shared): State<Arc<Shared>>, Extension(sender): Extension<Sender>) -> Response {
    let list = shared.copies.list();
    let copies: Vec<Value> = Copies::of(&list, &sender.user).rev().map(|copy| copy.json()).collect();
    json_answer(&json!({ "copies": copies }))
}

pub(super) async fn end(
    State(shared): State<Arc<Shared>>,
    Extension(sender): Extension<Sender>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let mut list = shared.copies.list();
    let Some(copy) = Copies::of(&list, &sender.user)
        .find(|copy| copy.id == id)
        .map(Arc::clone)
    else {
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            "42704",
            "there is no copy of this name",
        ));
    };
    if copy.end().is_some() {
        list.retain(|other| other.id != id);
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    copy.is_stopped.store(true, Ordering::Relaxed);
    shared.cancels.cancel(&sender.user, id.as_bytes());
    Ok(json_answer(&copy.json()))
}
