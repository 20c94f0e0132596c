//! A connection of ADS SQL that a session keeps, so that a transaction spans its statements.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arrow_array::RecordBatch;
use datafusion::common::DataFusionError;
use tidemill_ads::sql::{StatementOptions, TableName, Tables as _};
use tidemill_ads::{Connection, Paths, Settings};
use tidemill_xbase::Table;
use tokio::task::spawn_blocking;

use crate::options::SessionOptions;
use crate::session::Session;
use crate::stop::Stop;
use crate::{Error, Result};

/// How long a record that others have locked is waited for.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// The connection that a session keeps while autocommit is off.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept(Arc<Mutex<Option<Connection>>>);

impl Kept {
    /// Does something with the connection that is kept, or with a new one, which ends its transactions.
    ///
    /// # Errors
    ///
    /// [`Error::Ads`] when there is no such folder; as `work`.
    pub(crate) fn with<T>(
        &self,
        options: &SessionOptions,
        work: impl FnOnce(&mut Connection) -> Result<T>,
    ) -> Result<T> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = &mut *kept {
            return work(connection);
        }
        drop(kept);
        let mut connection = open(options)?;
        let done = work(&mut connection)?;
        connection.end_transactions()?;
        Ok(done)
    }

    /// Whether a transaction spans statements.
    pub(crate) fn is_on(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// An xBase table with what the transaction under way has changed; `None` when there is none.
    pub(crate) fn table(&self, file: &Path, options: &SessionOptions) -> Result<Option<Arc<Table>>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(connection) = &mut *kept else { return Ok(None) };
        let (settings, statements) = settings(options, &[])?;
        let mut tables = connection.tables(&settings, &statements);
        if !tables.in_transaction() {
            return Ok(None);
        }
        let file = std::path::absolute(file).map_err(Error::io(file, "find"))?;
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

/// How statements of ADS SQL see tables under these options: those of `files` have these names before all others.
pub(crate) fn settings(options: &SessionOptions, files: &[(String, PathBuf)]) -> Result<(Settings, StatementOptions)> {
    let mut paths = Paths::with_drives(&options.names.drives())?;
    let files = files.iter().map(|(name, file)| (name.as_str(), Ok(file.clone())));
    for (name, file) in files.chain(options.names.attached_tables()) {
        match file {
            Ok(file) => paths.attach(name, std::path::absolute(&file).map_err(Error::io(&file, "find"))?),
            Err(why) => paths.refuse(name, why),
        }
    }
    let settings = Settings {
        show_deleted: options.shows_deleted(),
        lock_timeout: LOCK_TIMEOUT,
        paths,
        ..Settings::default()
    };
    let mut statements = StatementOptions::default();
    statements.table.codepage = options.codepage_set();
    Ok((settings, statements))
}

impl Session {
    /// Whether each statement that changes an xBase table is a transaction of its own. Otherwise the first of them begins one, which
    /// lasts until [`Session::commit`] or [`Session::rollback`]; other statements see what it has changed, other sessions do not.
    /// Turning autocommit on commits. Default: true.
    ///
    /// Tables of other stores, and new files, are written at once either way.
    ///
    /// # Errors
    ///
    /// [`Error::Ads`] when the folder is not there, or what was changed can't be written.
    pub async fn set_autocommit(&self, autocommit: bool) -> Result<()> {
        if autocommit {
            self.commit().await?;
        }
        let (kept, options) = (self.kept.clone(), self.options.clone());
        blocking(move || {
            let mut kept = kept.0.lock().unwrap_or_else(PoisonError::into_inner);
            match (autocommit, &*kept) {
                (true, _) => *kept = None,
                (false, None) => *kept = Some(open(&options)?),
                (false, Some(_)) => {}
            }
            Ok(())
        })
        .await
    }

    /// Whether each statement is a transaction of its own.
    pub fn autocommit(&self) -> bool {
        !self.kept.is_on()
    }

    /// Keeps what the transaction under way has done. Without one nothing happens.
    ///
    /// # Errors
    ///
    /// [`Error::Ads`] when what was changed can't be written: the transaction is taken back then.
    pub async fn commit(&self) -> Result<()> {
        self.end(Connection::commit_transaction).await
    }

    /// Takes back what the transaction under way has done. Without one nothing happens.
    ///
    /// # Errors
    ///
    /// [`Error::Ads`] when the tables can't be read again.
    pub async fn rollback(&self) -> Result<()> {
        self.end(Connection::rollback_transaction).await
    }

    async fn end(&self, how: fn(&mut Connection) -> tidemill_ads::Result<()>) -> Result<()> {
        let (kept, options) = (self.kept.clone(), self.options.clone());
        blocking(move || {
            let mut kept = kept.0.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(connection) = &mut *kept else { return Ok(()) };
            let (settings, statements) = settings(&options, &[])?;
            // A text may have begun others within it.
            while connection.tables(&settings, &statements).in_transaction() {
                how(connection)?;
            }
            Ok(())
        })
        .await
    }

    /// Appends rows to an xBase table, all of them or none, and returns their number. Columns go to fields of their names; other
    /// fields are blank. The iterator is read on another thread.
    ///
    /// # Errors
    ///
    /// [`Error::Ads`] for a table that is not there, a column without a field, and a value that does not fit.
    pub async fn append(
        &self,
        table: &str,
        batches: impl Iterator<Item = Result<RecordBatch>> + Send + 'static,
    ) -> Result<u64> {
        let (kept, options, table) = (self.kept.clone(), self.options.clone(), TableName::new(table));
        let stop = Stop::default();
        let watch = stop.watch();
        blocking(move || {
            let begins = kept.is_on();
            kept.with(&options, |connection| {
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
                // The first fault is what is told.
                let appended = appended?;
                ended?;
                Ok(appended)
            })
        })
        .await
    }
}

/// Work of a thread that may block.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let done = spawn_blocking(work).await;
    done.map_err(|error| DataFusionError::External(error.into()))?
}
