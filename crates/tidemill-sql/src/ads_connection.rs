//! The ADS SQL connection of a session, and its transactions.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema};
use datafusion::common::DataFusionError;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use tidemill_ads::sql::{Analytical, StatementOptions, Statements, TableName, Tables as _};
use tidemill_ads::{Connection, Paths, Settings};
use tidemill_xbase::{FieldSpec, Table};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use crate::answer::Answer;
use crate::engine::BATCHES_IN_FLIGHT;
use crate::opaque::Opaque;
use crate::options::SessionOptions;
use crate::session::Session;
use crate::stop::Stop;
use crate::{Error, Result};

/// How long to wait for a record that is locked by others.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// The most cached look-ups.
const MOST_LOOK_UPS: usize = 200;

/// The ADS SQL connection of a session, opened for its first statement over xBase tables. It owns the transactions, temporary tables, views
/// and cursors of the session's statements.
#[derive(Clone, Debug, Default)]
pub(crate) struct AdsConnection(Opaque<Mutex<State>>);

#[derive(Debug, Default)]
pub(crate) struct State {
    connection: Option<Connection>,
    /// Whether a change begins a transaction that lasts until COMMIT or ROLLBACK.
    is_manual: bool,
    /// Whether the connection passes joins to the analytical engine itself.
    has_analytical: bool,
    /// Prepared statements, bound without the analytical engine and with it.
    prepared: [Statements; 2],
    /// Cached look-ups that an index has answered, by their text.
    look_ups: HashMap<String, Arc<LookUp>>,
}

/// A look-up in one xBase table.
#[derive(Debug)]
pub(crate) struct LookUp {
    /// The table's name and its file.
    pub(crate) table: (String, PathBuf),
    pub(crate) settings: Settings,
    pub(crate) statements: StatementOptions,
    /// The types that the query declares for its columns.
    pub(crate) types: Option<Vec<Option<DataType>>>,
}

impl State {
    /// The connection to the folder of these options.
    ///
    /// # Errors
    ///
    /// [`Error::Ads`] if the folder does not exist.
    pub(crate) fn connection(&mut self, options: &SessionOptions) -> Result<&mut Connection> {
        match &mut self.connection {
            Some(connection) => Ok(connection),
            none => Ok(none.insert(open(options)?)),
        }
    }

    /// The connection, and its prepared statements.
    ///
    /// # Errors
    ///
    /// As [`State::connection`].
    pub(crate) fn parts(
        &mut self,
        options: &SessionOptions,
        analytical: Option<Arc<dyn Analytical>>,
    ) -> Result<(&mut Connection, &Statements)> {
        let has_analytical = analytical.is_some();
        let is_other = self.has_analytical != has_analytical;
        self.has_analytical = has_analytical;
        let is_new = self.connection.is_none();
        let [without, with] = &self.prepared;
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(open(options)?),
        };
        if is_other || is_new {
            connection.set_analytical(analytical);
        }
        Ok((connection, if has_analytical { with } else { without }))
    }

    /// Outside a transaction, closes the files that changes have opened, and removes the log.
    ///
    /// # Errors
    ///
    /// [`Error::Ads`] if the log cannot be removed.
    pub(crate) fn rest(&mut self) -> Result<()> {
        match &mut self.connection {
            Some(connection) if !connection.is_in_transaction() => Ok(connection.end_transactions()?),
            _ => Ok(()),
        }
    }

    /// Whether a change begins a transaction that lasts until COMMIT or ROLLBACK.
    pub(crate) fn is_manual(&self) -> bool {
        self.is_manual
    }

    /// Caches a look-up.
    pub(crate) fn insert_look_up(&mut self, sql: &str, look_up: LookUp) {
        if self.look_ups.len() >= MOST_LOOK_UPS {
            self.look_ups.clear();
        }
        self.look_ups.insert(sql.to_owned(), Arc::new(look_up));
    }

    pub(crate) fn look_up(&self, sql: &str) -> Option<Arc<LookUp>> {
        self.look_ups.get(sql).cloned()
    }

    /// Drops the prepared statements, after a change of the tables' structure.
    pub(crate) fn forget_statements(&self) {
        self.prepared.iter().for_each(Statements::clear);
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // Uncommitted changes are rolled back; an error cannot be reported any more.
        if let Some(connection) = &mut self.connection {
            let _ = connection.end_transactions();
        }
    }
}

impl AdsConnection {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection, unless another statement holds it.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, State>> {
        match self.0.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Whether a transaction is open.
    pub(crate) fn is_in_transaction(&self) -> bool {
        let state = self.lock();
        state.connection.as_ref().is_some_and(Connection::is_in_transaction)
    }

    /// Checks that a table of a server may be changed now, since the connection's transactions do not include it. With autocommit off it
    /// may, and the change remains after a rollback.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if an earlier statement began a transaction.
    pub(crate) fn change_at_once(&self, table: &str) -> Result<()> {
        let state = self.lock();
        let has_begun = state.connection.as_ref().is_some_and(Connection::is_in_transaction);
        match has_begun && !state.is_manual {
            true => Err(Error::Unsupported {
                what: format!(
                    "{table}: changing a table of a server within a transaction, which could not take it back,"
                ),
                hint: "COMMIT first, or send the whole transaction to the server with tidemill sql --server".to_owned(),
            }),
            false => Ok(()),
        }
    }

    /// Whether a name is that of a temporary table or a view of the connection.
    pub(crate) fn has(&self, name: &str) -> bool {
        let is_view = |connection: &Connection| connection.has_view(name);
        name.starts_with('#') || self.lock().connection.as_ref().is_some_and(is_view)
    }

    /// The field names of a temporary table.
    ///
    /// # Errors
    ///
    /// [`Error::Ads`] if it does not exist.
    pub(crate) fn fields_of(&self, table: &str, options: &SessionOptions) -> Result<Vec<String>> {
        let (settings, statements) = settings(options, &[])?;
        let mut state = self.lock();
        let mut tables = state.connection(options)?.tables(&settings, &statements);
        let snapshot = tables.snapshot(&TableName::new(table))?;
        Ok(snapshot
            .table()
            .fields()
            .iter()
            .map(|field| field.name.clone())
            .collect())
    }

    /// Creates an xBase table for rows of these columns.
    ///
    /// # Errors
    ///
    /// [`Error::Ads`] if it exists; [`Error::Xbase`] for a type that xBase lacks.
    pub(crate) fn create(&self, table: &TableName, columns: &Schema, options: &SessionOptions) -> Result<()> {
        let keeps_names = table.to_string().starts_with('#') || options.makes_standard_tables();
        let fields = match keeps_names {
            true => FieldSpec::from_schema_with_long_names(columns)?,
            false => FieldSpec::from_schema(columns)?,
        };
        let (settings, statements) = settings(options, &[])?;
        let mut state = self.lock();
        let mut tables = state.connection(options)?.tables(&settings, &statements);
        tables.create_table(table, &fields)?;
        state.forget_statements();
        Ok(())
    }

    /// Removes a table that was just created.
    ///
    /// # Errors
    ///
    /// [`Error::Ads`] if another program has it open.
    pub(crate) fn drop_table(&self, table: &TableName, options: &SessionOptions) -> Result<()> {
        let (settings, statements) = settings(options, &[])?;
        let mut state = self.lock();
        state
            .connection(options)?
            .tables(&settings, &statements)
            .drop_table(table, false)?;
        Ok(())
    }

    /// An xBase table as the open transaction sees it; `None` if it does not exist.
    pub(crate) fn table(&self, file: &Path, options: &SessionOptions) -> Result<Option<Arc<Table>>> {
        let mut state = self.lock();
        let Some(connection) = state
            .connection
            .as_mut()
            .filter(|connection| connection.is_in_transaction())
        else {
            return Ok(None);
        };
        let (settings, statements) = settings(options, &[])?;
        let file = std::path::absolute(file).map_err(Error::io(file, "find"))?;
        let mut tables = connection.tables(&settings, &statements);
        let snapshot = tables.snapshot(&TableName::new(file.to_string_lossy()))?;
        Ok(Some(Arc::clone(snapshot.table())))
    }
}

/// A connection to the folder of these options.
fn open(options: &SessionOptions) -> Result<Connection> {
    let folder = options
        .names
        .folder()
        .map_or_else(|| PathBuf::from("."), Path::to_owned);
    Ok(Connection::open(folder)?)
}

/// The settings of ADS SQL for these options; the names of `files` precede all others.
pub(crate) fn settings(options: &SessionOptions, files: &[(String, PathBuf)]) -> Result<(Settings, StatementOptions)> {
    let mut paths = Paths::with_drives(&options.names.drives())?;
    let files = files.iter().map(|(name, file)| (name.as_str(), Ok(file.clone())));
    for (name, file) in files.chain(options.names.attached_tables()) {
        match file {
            Ok(file) => paths.attach(name, std::path::absolute(&file).map_err(Error::io(&file, "find"))?),
            Err(why) => paths.refuse(name, why),
        }
    }
    if let Some(folders) = options.names.confined_to()? {
        paths.confine(folders)?;
    }
    let settings = Settings {
        show_deleted: options.shows_deleted(),
        lock_timeout: LOCK_TIMEOUT,
        paths,
        ..Settings::default()
    };
    let mut statements = StatementOptions {
        blanks: options.blanks(),
        standard_tables: options.makes_standard_tables(),
        // A session that shows deleted records may restore them.
        reuses_deleted: !options.shows_deleted(),
        ..StatementOptions::default()
    };
    statements.table.codepage = options.codepage_set();
    statements.table.looks_at_text = true;
    Ok((settings, statements))
}

impl Session {
    /// Whether each statement that changes an xBase table is a transaction of its own, unless BEGIN TRANSACTION has begun one. Otherwise
    /// the first change begins a transaction, which lasts until [`Session::commit`] or [`Session::rollback`]; later statements of this
    /// session see its changes, other sessions do not. Turning autocommit on commits. Default: true.
    ///
    /// Tables of other stores and new files are written at once in both cases.
    ///
    /// # Errors
    ///
    /// [`Error::Ads`] if the folder does not exist, or changes cannot be written.
    pub fn set_autocommit(&self, autocommit: bool) -> BoxFuture<'_, Result<()>> {
        self.change_autocommit(autocommit).boxed()
    }

    async fn change_autocommit(&self, autocommit: bool) -> Result<()> {
        if autocommit && !self.autocommit() {
            self.commit().await?;
        }
        let (connection, options) = (self.connection.clone(), self.options.clone());
        blocking(move || {
            let mut state = connection.lock();
            if !autocommit {
                state.connection(&options)?;
            }
            state.is_manual = !autocommit;
            Ok(())
        })
        .await
    }

    /// Whether each statement is a transaction of its own, unless one was begun explicitly.
    pub fn autocommit(&self) -> bool {
        !self.connection.lock().is_manual
    }

    /// Commits the open transaction. Without one, does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Ads`] if the changes cannot be written; the transaction is then rolled back.
    pub fn commit(&self) -> BoxFuture<'_, Result<()>> {
        self.end(Connection::commit_transaction).boxed()
    }

    /// Rolls the open transaction back. Without one, does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Ads`] if the tables cannot be read again.
    pub fn rollback(&self) -> BoxFuture<'_, Result<()>> {
        self.end(Connection::rollback_transaction).boxed()
    }

    async fn end(&self, how: fn(&mut Connection) -> tidemill_ads::Result<()>) -> Result<()> {
        let connection = self.connection.clone();
        blocking(move || {
            let mut state = connection.lock();
            let Some(connection) = &mut state.connection else {
                return Ok(());
            };
            // Transactions may be nested.
            while connection.is_in_transaction() {
                how(connection)?;
            }
            state.rest()
        })
        .await
    }

    /// Appends rows to an xBase table, all of them or none, and returns their number. Columns are assigned to fields by name; other fields
    /// are blank. The iterator is read on another thread.
    ///
    /// # Errors
    ///
    /// [`Error::Ads`] for a table that does not exist, a column without a field, and a value that does not fit.
    pub fn append<'a>(
        &'a self,
        table: &'a str,
        batches: impl Iterator<Item = Result<RecordBatch>> + Send + 'static,
    ) -> BoxFuture<'a, Result<u64>> {
        self.append_batches(table, Box::new(batches)).boxed()
    }

    async fn append_batches(
        &self,
        table: &str,
        batches: Box<dyn Iterator<Item = Result<RecordBatch>> + Send>,
    ) -> Result<u64> {
        let (connection, options, table) = (self.connection.clone(), self.options.clone(), TableName::new(table));
        let stop = Stop::default();
        let watch = stop.watch();
        blocking(move || {
            let mut state = connection.lock();
            let begins = state.is_manual;
            let connection = state.connection(&options)?;
            let (settings, statements) = settings(&options, &[])?;
            let mut tables = connection.tables(&settings, &statements);
            if begins && !tables.in_transaction() {
                tables.begin()?;
            }
            tables.begin_statement()?;
            let appended = batches
                .map(|batch| {
                    watch.check()?;
                    Ok(tables.append(&table, &batch?)?)
                })
                .sum::<Result<u64>>();
            let ended = tables.end_statement(appended.is_ok());
            let rested = state.rest();
            // The first error is returned.
            let appended = appended?;
            ended?;
            rested.map(|()| appended)
        })
        .await
    }
}

impl Session {
    /// [`Session::append`] with the rows of an answer.
    pub(crate) async fn append_answer(&self, table: &str, mut answer: Answer) -> Result<u64> {
        let (sender, mut receiver) = mpsc::channel(BATCHES_IN_FLIGHT);
        let batches = std::iter::from_fn(move || receiver.blocking_recv());
        let read = async move {
            loop {
                let batch = answer.next().await.transpose();
                let Some(batch) = batch else { break };
                let is_last = batch.is_err();
                if sender.send(batch).await.is_err() || is_last {
                    break;
                }
            }
        };
        futures::join!(self.append(table, batches), read).0
    }
}

/// The name of a file in statements of the connection, independent of the connection's folder.
pub(crate) fn name_of_file(file: &Path) -> Result<String> {
    let whole = std::path::absolute(file).map_err(Error::io(file, "find"))?;
    Ok(whole.to_string_lossy().into_owned())
}

/// Runs work that may block on a blocking thread.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let done = spawn_blocking(work).await;
    done.map_err(|error| DataFusionError::External(error.into()))?
}
