//! A client after its login: its session, its settings, and how its statements run.

use std::borrow::Cow;
use std::collections::HashMap;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use pgwire::api::results::Tag;
use pgwire::error::PgWireError;
use pgwire::messages::response::TransactionStatus;
use tidemill_sql::{Session, is_query, stoppable};
use tokio::sync::{OnceCell, watch};
use tokio::time::Instant;

use super::catalog::Catalog;
use super::column_names::ColumnNames;
use super::command::{Command, Prepared, Sql};
use super::copy::{CopyStatement, Out};
use super::prepared_by_name::PreparedByName;
use super::rows::{Rows, Source};
use super::running::gone;
use super::settings::{READS_ONLY, Settings};
use super::{failure, functions, lists, parameters};
use crate::failure::Failure;
use crate::server::Shared;
use crate::statement::Canceller;
use crate::users::Rights;

/// A client and its session.
pub(crate) struct Client {
    pub(crate) session: Session,
    shared: Arc<Shared>,
    pub(crate) user: String,
    rights: Rights,
    settings: Arc<Mutex<Settings>>,
    /// The settings before the transaction, for a rollback.
    before: Mutex<Option<Settings>>,
    catalog: OnceCell<Catalog>,
    /// Statements prepared by PREPARE.
    prepared: Mutex<PreparedByName>,
    cursors: tokio::sync::Mutex<HashMap<String, Cursor>>,
    canceller: Canceller,
}

/// An open cursor.
struct Cursor {
    rows: Rows,
    /// Whether it stays open after COMMIT.
    holds: bool,
    /// Whether it was declared in the current transaction, and is closed by its rollback.
    is_pending: bool,
}

/// The outcome of a statement.
pub(crate) enum Outcome {
    Rows(Rows),
    Done(Tag),
    /// Settings were changed. The client is notified of these.
    Set(Vec<(&'static str, String)>, Tag),
    Begun(Tag),
    Ended(Tag),
    /// Prepared statements are deallocated: this one, or all.
    Forget(Option<String>, Tag),
    CopyOut(Box<Out>),
    CopyIn(CopyStatement),
}

/// What can stop a statement: a cancel request, the statement timeout, a disconnect.
pub(crate) struct Interrupts {
    watch: watch::Receiver<u64>,
    deadline: Option<Instant>,
}

impl Interrupts {
    /// Waits until the statement has to stop, and returns why.
    async fn wait(&mut self, line: &TcpStream) -> PgWireError {
        let deadline = async {
            match self.deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            Ok(()) = self.watch.changed() => Failure::cancelled().into(),
            () = deadline => failure::error("57014", "canceling statement due to statement timeout"),
            () = gone(line) => PgWireError::IoError(std::io::ErrorKind::ConnectionReset.into()),
        }
    }

    /// Waits for work that can be dropped at any point.
    ///
    /// # Errors
    ///
    /// The error of the work, or why the statement was stopped.
    pub(crate) async fn within<T>(
        &mut self,
        line: &TcpStream,
        work: impl Future<Output = Result<T, PgWireError>>,
    ) -> Result<T, PgWireError> {
        tokio::select! {
            biased;
            done = work => done,
            why = self.wait(line) => Err(why),
        }
    }

    /// Waits for a change. A change that has to stop rolls itself back.
    ///
    /// # Errors
    ///
    /// As [`Interrupts::within`].
    async fn change<T>(
        &mut self,
        line: &TcpStream,
        work: impl Future<Output = Result<T, PgWireError>>,
    ) -> Result<T, PgWireError> {
        let is_stopped = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&is_stopped);
        let mut work = std::pin::pin!(stoppable(move || asked.load(Ordering::Relaxed), work));
        tokio::select! {
            biased;
            done = &mut work => done,
            why = self.wait(line) => {
                is_stopped.store(true, Ordering::Relaxed);
                // It may have finished before it was stopped.
                work.await.map_err(|_| why)
            }
        }
    }
}

impl Client {
    pub(crate) fn new(
        shared: &Arc<Shared>,
        user: String,
        rights: Rights,
        settings: Settings,
        canceller: Canceller,
    ) -> Self {
        Self {
            session: shared.stores.session(&rights),
            shared: Arc::clone(shared),
            user,
            rights,
            settings: Arc::new(Mutex::new(settings)),
            before: Mutex::default(),
            catalog: OnceCell::new(),
            prepared: Mutex::default(),
            cursors: tokio::sync::Mutex::default(),
            canceller,
        }
    }

    fn settings(&self) -> std::sync::MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn prepared(&self) -> std::sync::MutexGuard<'_, PreparedByName> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The catalogue, refreshed.
    async fn catalog(&self) -> Result<&Catalog, PgWireError> {
        let schemas = || self.shared.stores.schemas(&self.rights);
        let catalog = self
            .catalog
            .get_or_try_init(|| async { Catalog::new(&schemas(), &self.user, &self.settings).await })
            .await;
        let catalog = catalog.map_err(failure::of_catalog)?;
        catalog
            .refresh(&self.session)
            .await
            .map_err(|error| failure::of_session(&error, ""))?;
        Ok(catalog)
    }

    /// The interrupts of a statement that starts now.
    pub(crate) fn interrupts(&self) -> Interrupts {
        let told = self.settings().statement_time();
        let time = [told, self.rights.statement_time].into_iter().flatten().min();
        Interrupts {
            watch: self.canceller.watch(),
            deadline: time.and_then(|time: Duration| Instant::now().checked_add(time)),
        }
    }

    /// Parses a statement, and determines the types of its parameters.
    pub(crate) async fn prepare(
        &self,
        text: &str,
        told: &[Option<pgwire::api::Type>],
    ) -> Result<Prepared, PgWireError> {
        let mut text = Cow::Borrowed(text);
        let mut command = super::command::parse(&text)?;
        if let Command::Execute { name, values } = &command {
            text = self.prepared().with_values(name, values)?.into();
            command = super::command::parse(&text)?;
        }
        let told = Prepared::types_told(&command, told);
        let types = match &command {
            Command::Catalog(statement) => self.catalog().await?.types(statement, told).await?,
            _ if told.is_empty() => Vec::new(),
            _ => parameters::types(&self.session, &text, told).await,
        };
        Ok(Prepared::new(&text, command, types))
    }

    /// Runs a statement with its parameter values, until its first rows.
    pub(crate) async fn run(
        &self,
        prepared: &Prepared,
        values: &RecordBatch,
        status: TransactionStatus,
        interrupts: &mut Interrupts,
        line: &TcpStream,
    ) -> Result<Outcome, PgWireError> {
        let goes_on = matches!(
            &prepared.command,
            Command::Commit | Command::Rollback | Command::Savepoint { tag: "ROLLBACK", .. }
        );
        if status == TransactionStatus::Error && !goes_on {
            return Err(failure::error(
                "25P02",
                "current transaction is aborted, commands ignored until end of transaction block",
            ));
        }
        let of_session = |error: tidemill_sql::Error| failure::of_session(&error, &prepared.text);
        Ok(match &prepared.command {
            Command::Begin { reads_only } => {
                if status == TransactionStatus::Idle {
                    self.session.set_autocommit(false).await.map_err(of_session)?;
                    *self.before.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.settings().clone());
                }
                let mut settings = self.settings();
                // The mode is fixed now; a later change of the default does not affect this transaction.
                let reads_only = match (*reads_only, status) {
                    (None, TransactionStatus::Idle) => Some(settings.reads_only()),
                    (said, _) => said,
                };
                if let Some(reads_only) = reads_only {
                    settings.set_local(READS_ONLY, if reads_only { "on" } else { "off" })?;
                }
                Outcome::Begun(Tag::new("BEGIN"))
            }
            Command::Commit if status == TransactionStatus::Error => {
                self.end(false).await.map_err(of_session)?;
                Outcome::Ended(Tag::new("ROLLBACK"))
            }
            Command::Commit => {
                self.end(true).await.map_err(of_session)?;
                Outcome::Ended(Tag::new("COMMIT"))
            }
            Command::Rollback => {
                self.end(false).await.map_err(of_session)?;
                Outcome::Ended(Tag::new("ROLLBACK"))
            }
            Command::Savepoint { sql, tag } => {
                if status == TransactionStatus::Idle {
                    return Err(failure::error(
                        "25P01",
                        format!("{tag} can only be used in transaction blocks"),
                    ));
                }
                self.session.query(sql).await.map_err(of_session)?;
                match *tag {
                    // The transaction continues.
                    "ROLLBACK" => Outcome::Begun(Tag::new(tag)),
                    tag => Outcome::Done(Tag::new(tag)),
                }
            }
            Command::Set { name, value, is_local } => {
                let is_local = *is_local || name.eq_ignore_ascii_case(READS_ONLY);
                let told = match value {
                    // Outside a transaction, SET LOCAL has no effect.
                    Some(_) if is_local && status == TransactionStatus::Idle => None,
                    Some(value) if is_local => {
                        self.settings().set_local(name, value)?;
                        None
                    }
                    Some(value) => self.settings().set(name, value)?,
                    None => self.settings().reset(name),
                };
                Outcome::Set(told.into_iter().collect(), Tag::new("SET"))
            }
            Command::Reset(name) => {
                let told = match name {
                    Some(name) => self.settings().reset(name).into_iter().collect(),
                    None => self.settings().reset_all(),
                };
                Outcome::Set(told, Tag::new("RESET"))
            }
            Command::Show(name) => {
                let value = self.settings().get(name).map(str::to_owned);
                let unknown = || failure::error("42704", format!("unrecognized configuration parameter {name:?}"));
                let value = value.ok_or_else(unknown)?;
                Outcome::Rows(texts(&[(name.as_str(), vec![value])], "SHOW")?)
            }
            Command::ShowAll => {
                let (names, values): (Vec<String>, Vec<String>) = self
                    .settings()
                    .all()
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .unzip();
                Outcome::Rows(texts(&[("name", names), ("setting", values)], "SHOW")?)
            }
            Command::Discard => {
                let _ = self.settings().reset_all();
                self.cursors.lock().await.clear();
                self.prepared().forget(None);
                Outcome::Forget(None, Tag::new("DISCARD ALL"))
            }
            Command::Prepare(prepare) => {
                self.prepared().add(prepare)?;
                Outcome::Done(Tag::new("PREPARE"))
            }
            // `prepare` replaces EXECUTE by its statement, unless that is an EXECUTE too.
            Command::Execute { name, .. } => {
                return Err(failure::error(
                    "42601",
                    format!("EXECUTE {name}: it cannot be prepared"),
                ));
            }
            Command::Deallocate(name) => {
                self.prepared().forget(name.as_deref());
                let tag = if name.is_some() { "DEALLOCATE" } else { "DEALLOCATE ALL" };
                Outcome::Forget(name.clone(), Tag::new(tag))
            }
            Command::Nothing(tag) => Outcome::Done(Tag::new(tag)),
            Command::Declare { name, holds, query } => {
                let in_transaction = status != TransactionStatus::Idle;
                if !holds && !in_transaction {
                    return Err(failure::error(
                        "25P01",
                        "DECLARE CURSOR can only be used in transaction blocks",
                    ));
                }
                let no_query = || failure::error("42601", "DECLARE CURSOR wants a query that changes nothing");
                // Checked before it runs.
                if !query.reads().map_err(of_session)? {
                    return Err(no_query());
                }
                let Outcome::Rows(mut rows) = self.sql(query, &prepared.text, values, interrupts, line).await? else {
                    return Err(no_query());
                };
                rows.name_columns(ColumnNames::of(&query.text).as_ref());
                let cursor = Cursor {
                    rows,
                    holds: *holds,
                    is_pending: in_transaction,
                };
                self.cursors.lock().await.insert(name.to_lowercase(), cursor);
                Outcome::Done(Tag::new("DECLARE CURSOR"))
            }
            Command::Fetch { name, rows, shows } => self.fetch(name, *rows, *shows, interrupts, line).await?,
            Command::CloseCursor(name) => {
                let mut cursors = self.cursors.lock().await;
                let tag = match name {
                    None => {
                        cursors.clear();
                        "CLOSE CURSOR ALL"
                    }
                    Some(name) => {
                        cursors.remove(&name.to_lowercase()).ok_or_else(|| no_cursor(name))?;
                        "CLOSE CURSOR"
                    }
                };
                Outcome::Done(Tag::new(tag))
            }
            Command::Copy(copy) => match copy.query() {
                Some(query) => {
                    let no_query = || failure::error("42601", "COPY … TO STDOUT wants a query that changes nothing");
                    // Checked before it runs.
                    if !query.reads().map_err(of_session)? {
                        return Err(no_query());
                    }
                    match self.sql(&query, &prepared.text, values, interrupts, line).await? {
                        Outcome::Rows(mut rows) => {
                            rows.name_columns(ColumnNames::of(&query.text).as_ref());
                            Outcome::CopyOut(Box::new(Out::new(rows, copy.options.clone())?))
                        }
                        _ => return Err(no_query()),
                    }
                }
                None => {
                    self.check_writes("COPY")?;
                    Outcome::CopyIn(CopyStatement::clone(copy))
                }
            },
            Command::Catalog(statement) => {
                let catalog = self.catalog().await?;
                let stream = interrupts.within(line, catalog.query(statement, values)).await;
                if status == TransactionStatus::Idle {
                    // Outside a transaction, the local settings of `set_config` apply to this statement only.
                    self.settings().end_transaction();
                }
                let mut rows = Rows::new(Source::Catalog(stream?), "SELECT", None);
                rows.name_columns(prepared.names());
                Outcome::Rows(rows)
            }
            Command::Sql(sql) => {
                let mut outcome = self.sql(sql, &prepared.text, values, interrupts, line).await?;
                if let Outcome::Rows(rows) = &mut outcome {
                    rows.name_columns(prepared.names());
                }
                outcome
            }
        })
    }

    /// Runs a statement in the session.
    async fn sql(
        &self,
        sql: &Sql,
        text: &str,
        values: &RecordBatch,
        interrupts: &mut Interrupts,
        line: &TcpStream,
    ) -> Result<Outcome, PgWireError> {
        let of_session = |error: tidemill_sql::Error| failure::of_session(&error, text);
        let with_lists = lists::written_out(&sql.text, values)?;
        let (statement, places, values) = match &with_lists {
            Some(written) => (&written.text, &written.places, &written.values),
            None => (&sql.text, &sql.places, values),
        };
        let reads = match &with_lists {
            Some(written) => is_query(&written.text),
            None => sql.reads(),
        };
        let reads = reads.map_err(of_session)?;
        if !reads {
            self.check_writes(sql.tag.split(' ').next().unwrap_or_default())?;
        }
        let values = parameters::in_order(values, places)?;
        let work = async { self.session.query_with(statement, &values).await.map_err(of_session) };
        let answer = match reads {
            true => interrupts.within(line, work).await?,
            false => interrupts.change(line, work).await?,
        };
        if let Some(changed) = answer.changed() {
            let tag = Tag::new(&sql.tag);
            return Ok(Outcome::Done(match changed.rows {
                Some(rows) => tag.with_rows(usize::try_from(rows).unwrap_or(usize::MAX)),
                None => tag,
            }));
        }
        let source = Source::Session(answer, text.to_owned());
        Ok(Outcome::Rows(Rows::new(source, &sql.tag, self.rights.rows)))
    }

    /// # Errors
    ///
    /// SQLSTATE 42501 for a user with read-only rights, 25006 in a read-only transaction.
    pub(crate) fn check_writes(&self, what: &str) -> Result<(), PgWireError> {
        if !self.rights.may_write {
            return Err(failure::hinted(
                "42501",
                format!("permission denied: {what} by {:?}, who may only read", self.user),
                "have the administrator add `write` to the user's line in the file of users",
            ));
        }
        match self.settings().reads_only() {
            true => Err(failure::error(
                "25006",
                format!("cannot execute {what} in a read-only transaction"),
            )),
            false => Ok(()),
        }
    }

    /// Ends a transaction.
    async fn end(&self, keeps: bool) -> tidemill_sql::Result<()> {
        self.cursors.lock().await.retain(|_, cursor| {
            let stays = cursor.holds && (keeps || !cursor.is_pending);
            cursor.is_pending = false;
            stays
        });
        let before = self.before.lock().unwrap_or_else(PoisonError::into_inner).take();
        match before {
            // Settings are rolled back too.
            Some(before) if !keeps => *self.settings() = before,
            _ => self.settings().end_transaction(),
        }
        let ended = match keeps {
            true => self.session.commit().await,
            false => self.session.rollback().await,
        };
        self.session.set_autocommit(true).await?;
        ended
    }

    /// Begins the implicit transaction of a text with more than one statement.
    pub(crate) async fn begin_text(&self) -> Result<(), PgWireError> {
        self.session
            .set_autocommit(false)
            .await
            .map_err(|error| failure::of_session(&error, ""))
    }

    /// Ends the implicit transaction.
    pub(crate) async fn end_text(&self, keeps: bool) -> Result<(), PgWireError> {
        self.end(keeps).await.map_err(|error| failure::of_session(&error, ""))
    }

    /// The columns of a query with side effects, such as waiting; `None` for other statements.
    ///
    /// # Errors
    ///
    /// What is wrong with the query.
    pub(crate) async fn columns_of_act(
        &self,
        prepared: &Prepared,
    ) -> Result<Option<Vec<super::rows::Sent>>, PgWireError> {
        match &prepared.command {
            Command::Catalog(statement) if functions::acts(statement) => {
                let columns = self.catalog().await?.columns(statement).await?;
                let mut columns = super::rows::sent(&columns);
                super::rows::name_columns(&mut columns, prepared.names());
                Ok(Some(columns))
            }
            _ => Ok(None),
        }
    }

    /// The columns of a cursor.
    pub(crate) async fn cursor(&self, name: &str) -> Option<Vec<super::rows::Sent>> {
        let cursors = self.cursors.lock().await;
        cursors
            .get(&name.to_lowercase())
            .map(|cursor| cursor.rows.columns.clone())
    }

    /// The next rows of a cursor.
    async fn fetch(
        &self,
        name: &str,
        wanted: Option<u64>,
        shows: bool,
        interrupts: &mut Interrupts,
        line: &TcpStream,
    ) -> Result<Outcome, PgWireError> {
        let mut cursors = self.cursors.lock().await;
        let cursor = cursors.get_mut(&name.to_lowercase()).ok_or_else(|| no_cursor(name))?;
        let cursor = &mut cursor.rows;
        let (mut batches, mut found) = (std::collections::VecDeque::new(), 0);
        while wanted.is_none_or(|wanted| found < wanted) {
            let Some(batch) = interrupts.within(line, cursor.next_batch()).await? else {
                break;
            };
            let left = wanted.map_or(u64::MAX, |wanted| wanted - found);
            let taken = usize::try_from(left).unwrap_or(usize::MAX).min(batch.num_rows());
            if taken < batch.num_rows() {
                cursor.put_back_batch(batch.slice(taken, batch.num_rows() - taken));
            }
            found += taken as u64;
            batches.push_back(batch.slice(0, taken));
        }
        let count = usize::try_from(found).unwrap_or(usize::MAX);
        Ok(match shows {
            true => Outcome::Rows(Rows::ready(batches, cursor.columns.clone(), "FETCH")),
            false => Outcome::Done(Tag::new("MOVE").with_rows(count)),
        })
    }

    /// Logs a statement that has ended.
    pub(crate) fn log(&self, text: &str, begun: std::time::Instant, rows: u64, error: Option<&PgWireError>) {
        self.shared
            .log("postgres", &self.user, text, begun, rows, error.map(failure::line));
    }
}

fn no_cursor(name: &str) -> PgWireError {
    failure::error("34000", format!("cursor {name:?} does not exist"))
}

/// Rows of text columns.
fn texts(columns: &[(&str, Vec<String>)], tag: &str) -> Result<Rows, PgWireError> {
    let fields = columns.iter().map(|(name, _)| Field::new(*name, DataType::Utf8, false));
    let arrays = columns
        .iter()
        .map(|(_, values)| Arc::new(StringArray::from(values.clone())) as ArrayRef);
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), arrays.collect());
    let batch = batch.map_err(|error| failure::error("XX000", error.to_string()))?;
    Ok(Rows::new(Source::of_batch(batch), tag, None))
}
