//! What `tidemill-ads` answers: statements over xBase tables alone, changes of their records or structure, and scripts.
//!
//! What this does not do: each text has a connection of its own, so a transaction begins and ends in one text.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use datafusion::common::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use tidemill_ads::sql::{Kind, Prepared, RowStream, StatementOptions, Streamed};
use tidemill_ads::{Connection, ErrorCode, Paths, Settings};
use tokio::task::spawn_blocking;

use crate::engine::BATCHES_IN_FLIGHT;
use crate::options::SessionOptions;
use crate::session::Answer;
use crate::{Error, Result};

/// How long a record that others have locked is waited for.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs a text, whose tables have these names and files before all others. Of changes the answer is one row with their number.
///
/// # Errors
///
/// [`Error::Ads`]: what the parser or the tables say.
pub(crate) async fn run(sql: &str, options: &SessionOptions, files: Vec<(String, PathBuf)>) -> Result<Answer> {
    let (sql, options) = (sql.to_owned(), options.clone());
    let given = spawn_blocking(move || stream(&sql, &options, &files));
    match given.await.map_err(|error| DataFusionError::External(error.into()))?? {
        Streamed::Rows(rows) => Ok(Answer::streamed(rows_of(rows))),
        Streamed::Changed(count) => Answer::counted(Some(count)),
        _ => Answer::counted(None),
    }
}

fn stream(sql: &str, options: &SessionOptions, files: &[(String, PathBuf)]) -> Result<Streamed> {
    let folder = options
        .names
        .folder()
        .map_or_else(|| PathBuf::from("."), Path::to_owned);
    let mut paths = Paths::with_drives(&options.names.drives())?;
    for (name, file) in files.iter().cloned().chain(options.names.attached_files()) {
        paths.attach(&name, std::path::absolute(&file).map_err(Error::io(&file, "find"))?);
    }
    let settings = Settings {
        show_deleted: options.shows_deleted(),
        lock_timeout: LOCK_TIMEOUT,
        paths,
        ..Settings::default()
    };
    let mut statements = StatementOptions::default();
    statements.table.codepage = options.codepage_set();
    let mut connection = Connection::open(folder)?;
    let mut tables = connection.tables(&settings, &statements);
    let prepared = Arc::new(Prepared::new(sql, &mut tables)?);
    let given = prepared.stream(&mut tables, &[])?;
    connection.end_transactions()?;
    Ok(given)
}

/// Rows that are read on a thread of their own while they are taken.
fn rows_of(rows: RowStream) -> SendableRecordBatchStream {
    let mut stream = RecordBatchReceiverStreamBuilder::new(Arc::clone(rows.schema()), BATCHES_IN_FLIGHT);
    let sender = stream.tx();
    stream.spawn_blocking(move || {
        for batch in rows {
            let batch = batch.map_err(|error| DataFusionError::External(Box::new(Error::from(error))));
            if sender.blocking_send(batch).is_err() {
                break;
            }
        }
        Ok(())
    });
    stream.build()
}

/// What is wrong with an index that a statement would have used. The records can be read without it.
pub(crate) fn fault_of_index(error: &Error) -> Option<String> {
    let Error::Ads(error) = error else { return None };
    match &**error {
        tidemill_ads::Error::Statement(error) if error.native_code() == i64::from(ErrorCode::CorruptIndex.number()) => {
            Some(error.message().to_owned())
        }
        _ => None,
    }
}

/// What another engine may know and the direct lanes do not.
pub(crate) fn left_to_others(error: &Error) -> Option<Kind> {
    let Error::Ads(error) = error else { return None };
    let tidemill_ads::Error::Statement(error) = &**error else {
        return None;
    };
    let kind = error.kind();
    matches!(kind, Kind::NeedsAnalytical | Kind::Unsupported | Kind::NoFunction).then(|| kind.clone())
}

impl From<tidemill_ads::Error> for Error {
    fn from(error: tidemill_ads::Error) -> Self {
        Self::Ads(Box::new(error))
    }
}

impl From<tidemill_ads::sql::Error> for Error {
    fn from(error: tidemill_ads::sql::Error) -> Self {
        Self::Ads(Box::new(error.into()))
    }
}
