//! Statements that change xBase tables or their structure, scripts, and the forms of SELECT that only ADS has: `tidemill-ads` runs them
//! in the folder of the session.
//!
//! What this does not do: names that were given with `--attach` are not known there, and each text has a connection of its own, so a
//! transaction begins and ends in one text.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use tidemill_ads::sql::{Answer as Given, StatementOptions, parse};
use tidemill_ads::{Connection, Paths, Settings};

use crate::options::SessionOptions;
use crate::session::Answer;
use crate::{Error, Result};

/// How long a record that others have locked is waited for.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// Whether a text is a statement or a script of ADS SQL.
pub(crate) fn knows(sql: &str) -> bool {
    parse(sql).is_ok()
}

/// Runs a text. Of changes the answer is one row with their number.
///
/// # Errors
///
/// [`Error::Ads`]: what the parser or the tables say.
pub(crate) fn run(sql: &str, options: &SessionOptions) -> Result<Answer> {
    let folder = options
        .names
        .folder()
        .map_or_else(|| PathBuf::from("."), Path::to_owned);
    let settings = Settings {
        show_deleted: options.shows_deleted(),
        lock_timeout: LOCK_TIMEOUT,
        paths: Paths::with_drives(&options.names.drives())?,
        ..Settings::default()
    };
    let statements = StatementOptions::default();
    let mut connection = Connection::open(folder)?;
    let mut tables = connection.tables(&settings, &statements);
    let prepared = tidemill_ads::sql::Prepared::new(sql, &mut tables)?;
    let given = prepared.run_static(&mut tables, &[])?;
    connection.end_transactions()?;
    match given {
        Given::Rows(rows) => {
            let columns = rows.columns.iter();
            let none = columns.map(|column| Field::new(&column.name, DataType::Null, true));
            match rows.batches.first() {
                Some(first) => Answer::of_all(first.schema(), rows.batches.clone()),
                None => Answer::of_all(Arc::new(Schema::new(none.collect::<Vec<_>>())), Vec::new()),
            }
        }
        Given::Changed(count) => counted(vec![count]),
        _ => counted(Vec::new()),
    }
}

fn counted(rows: Vec<u64>) -> Result<Answer> {
    let rows = Arc::new(UInt64Array::from(rows)) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("rows", rows)])?;
    Answer::of_all(batch.schema(), vec![batch])
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
