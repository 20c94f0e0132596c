//! What `tidemill-ads` answers: statements over xBase tables alone, changes of their records or structure, and scripts.
//!
//! Each text has a connection of its own, in which its transactions end; but where a session keeps one, a change begins a transaction
//! that goes on.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use datafusion::common::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::{RecordBatchReceiverStreamBuilder, RecordBatchStreamAdapter};
use futures::StreamExt;
use tidemill_ads::ErrorCode;
use tidemill_ads::sql::{
    Analytical, AnalyticalQuery, Error as SqlError, Kind, Prepared, RowStream, Rows, Streamed, Tables as _, Value,
    Watch,
};
use tokio::runtime::Handle;

use crate::engine::BATCHES_IN_FLIGHT;
use crate::options::SessionOptions;
use crate::session::{Answer, Session};
use crate::stop::Stop;
use crate::transaction::{Kept, blocking, settings};
use crate::{Error, Result};

/// What a text is, as far as its way depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// A query, whose joins the session itself hands to the engine.
    Query,
    /// It changes records, and belongs into a transaction that spans statements.
    Change,
    /// It makes or changes tables, or transactions.
    Other,
}

/// A text to run.
pub(crate) struct Text<'t> {
    pub(crate) sql: &'t str,
    /// The values of its parameters.
    pub(crate) values: &'t [Value],
    /// What it is.
    pub(crate) kind: TextKind,
}

/// Runs a text, whose tables have these names and files before all others. Of changes the answer is one row with their number.
///
/// # Errors
///
/// [`Error::Ads`]: what the parser or the tables say.
pub(crate) async fn run(
    text: &Text<'_>,
    options: &SessionOptions,
    files: Vec<(String, PathBuf)>,
    kept: &Kept,
) -> Result<Answer> {
    let (sql, values, kind) = (text.sql.to_owned(), text.values.to_vec(), text.kind);
    let (options, kept) = (options.clone(), kept.clone());
    let stop = Stop::default();
    let watch = stop.watch();
    let given = blocking(move || {
        let text = Text {
            sql: &sql,
            values: &values,
            kind,
        };
        stream(&text, &options, &files, &kept, watch)
    });
    match given.await? {
        Streamed::Rows(rows) => Ok(Answer::streamed(rows_of(rows, stop))),
        Streamed::Changed(count) => Answer::counted(Some(count)),
        _ => Answer::counted(None),
    }
}

fn stream(
    text: &Text<'_>,
    options: &SessionOptions,
    files: &[(String, PathBuf)],
    kept: &Kept,
    watch: Watch,
) -> Result<Streamed> {
    let (settings, mut statements) = settings(options, files)?;
    statements.watch = watch;
    let goes_on = kept.is_on() && text.kind == TextKind::Change;
    kept.with(options, |connection| {
        let engine =
            (text.kind != TextKind::Query).then(|| -> Arc<dyn Analytical> { Arc::new(Engine(Handle::current())) });
        connection.set_analytical(engine);
        let mut tables = connection.tables(&settings, &statements);
        let prepared = Arc::new(Prepared::new(text.sql, &mut tables)?);
        if goes_on && !tables.in_transaction() {
            tables.begin()?;
        }
        Ok(prepared.stream(&mut tables, text.values)?)
    })
}

/// Rows that are read on a thread of their own while they are taken, which is stopped when they are dropped.
fn rows_of(rows: RowStream, stop: Stop) -> SendableRecordBatchStream {
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
    let rows = stream.build();
    let schema = rows.schema();
    let held = rows.inspect(move |_| {
        let _: &Stop = &stop;
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, held))
}

/// The engine for queries within other statements: what they read goes into a table, a variable or a cursor of ADS SQL.
#[derive(Debug)]
struct Engine(Handle);

/// What these queries are planned in. They read lent tables alone, and a MERGE may ask the same again for each row.
static WITHIN: LazyLock<Session> = LazyLock::new(|| Session::new(SessionOptions::default()));

impl Analytical for Engine {
    fn run(&self, query: Arc<AnalyticalQuery>) -> Result<Rows, SqlError> {
        let text = query.text().to_owned();
        let rows = async {
            let answer = WITHIN.query_lent(&text, query).await?;
            let schema = answer.schema();
            Ok::<_, Error>(Rows::of_batches(&schema, answer.collect().await?))
        };
        Ok(self.0.block_on(rows)?)
    }
}

impl From<Error> for SqlError {
    /// In the terms of ADS SQL, with the place that it has.
    fn from(error: Error) -> Self {
        match error {
            Error::Ads(error) => (*error).into(),
            Error::Parse { message } => Self::new(Kind::Syntax, message),
            Error::Unsupported { .. } => Self::new(Kind::Unsupported, error.to_string()),
            Error::NotFound { .. } => Self::new(Kind::NoTable, error.to_string()),
            other => Self::new(Kind::Engine, other.to_string()),
        }
    }
}

/// What is wrong with an index that a statement would have used. The records can be read without it.
pub(crate) fn fault_of_index(error: &Error) -> Option<String> {
    let Error::Ads(error) = error else { return None };
    match &**error {
        tidemill_ads::Error::Statement(error) => {
            [ErrorCode::CorruptIndex, ErrorCode::DamagedIndex, ErrorCode::DamagedNtx]
                .iter()
                .any(|code| error.native_code() == i64::from(code.number()))
                .then(|| error.message().to_owned())
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
