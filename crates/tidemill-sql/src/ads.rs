//! Runs statements in `tidemill-ads`: queries over xBase tables, changes of their records or structure, and scripts.
//!
//! All statements of a session share a connection (`ads_connection.rs`), with its transaction and temporary tables.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use datafusion::common::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::{RecordBatchReceiverStreamBuilder, RecordBatchStreamAdapter};
use futures::StreamExt;
use tidemill_ads::sql::{
    Analytical, AnalyticalQuery, ConnectionTables, Error as SqlError, Kind, Prepared, RowStream, Rows,
    StatementOptions, Streamed, Tables as _, Value, Watch,
};
use tidemill_ads::{ErrorCode, Settings};
use tokio::runtime::Handle;

use crate::ads_connection::{AdsConnection, LookUp, State, blocking, settings};
use crate::answer::Answer;
use crate::engine::BATCHES_IN_FLIGHT;
use crate::error::is_of_damaged_index;
use crate::location::Place;
use crate::options::SessionOptions;
use crate::session::Session;
use crate::stop::Stop;
use crate::{Error, Result};

/// The kind of a statement, as far as its execution depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// A query, whose joins the session passes to the planner.
    Query,
    /// A query over a table that exists only in the connection, which passes joins to the planner itself.
    OwnQuery,
    /// It changes records, and takes part in transactions.
    Change,
    /// It creates or changes tables, or controls transactions.
    Definition,
}

impl TextKind {
    /// Whether it only reads.
    fn is_query(self) -> bool {
        matches!(self, Self::Query | Self::OwnQuery)
    }
}

/// A text to run.
#[derive(Clone, Copy)]
pub(crate) struct Text<'t> {
    pub(crate) sql: &'t str,
    /// The values of its parameters.
    pub(crate) values: &'t [Value],
    /// What it is.
    pub(crate) kind: TextKind,
    /// The types that it declares for its columns; a cached look-up has them too.
    pub(crate) types: Option<&'t [Option<DataType>]>,
}

/// Runs a text. `files` are names of tables that precede all others. The answer of a change is one row with the number of changed rows.
///
/// # Errors
///
/// [`Error::Ads`]: errors of the parser or of the tables.
pub(crate) async fn run(
    text: &Text<'_>,
    options: &SessionOptions,
    files: Vec<(String, PathBuf)>,
    connection: &AdsConnection,
) -> Result<Answer> {
    let (sql, values, kind) = (text.sql.to_owned(), text.values.to_vec(), text.kind);
    let types = text.types.map(<[_]>::to_vec);
    let (options, connection) = (options.clone(), connection.clone());
    let stop = Stop::default();
    let watch = stop.watch();
    let given = blocking(move || {
        let text = Text {
            sql: &sql,
            values: &values,
            kind,
            types: types.as_deref(),
        };
        let mut state = connection.lock();
        let given = Lane::new(&options, &files, watch).and_then(|mut lane| {
            if kind == TextKind::Query {
                lane.statements.most_sorted = options.most_sorted_by_ads();
            }
            let streamed = lane.stream(&text, &mut state)?;
            let is_look_up = matches!(&streamed, Streamed::Rows(rows) if rows.is_look_up());
            if let (TextKind::Query, true, [table]) = (kind, is_look_up, files.as_slice()) {
                lane.statements.watch = Watch::default();
                let look_up = LookUp {
                    table: table.clone(),
                    settings: lane.settings,
                    statements: lane.statements,
                    types: text.types.map(<[_]>::to_vec),
                };
                state.insert_look_up(text.sql, look_up);
            }
            Ok(streamed)
        });
        let rested = if kind.is_query() { Ok(()) } else { state.rest() };
        // The first error is returned.
        given.and_then(|given| rested.map(|()| given))
    });
    answer(given.await?, stop)
}

/// Answers a look-up that was run before in the same file; `None` for all else, which [`run`] answers. It runs on the calling thread:
/// waking another takes longer.
pub(crate) fn looked_up(session: &Session, sql: &str, values: &[Value], options: &SessionOptions) -> Option<Answer> {
    if !std::ptr::eq(options, &raw const session.options) {
        return None;
    }
    let mut state = session.connection.try_lock()?;
    let look_up = state.look_up(sql)?;
    let (name, file) = &look_up.table;
    match session.known_names.get(name)?.place {
        Place::File(found) if found == *file => {}
        _ => return None,
    }
    let (connection, known) = state.parts(options, None).ok()?;
    let mut tables = connection.tables(&look_up.settings, &look_up.statements);
    let prepared = known.prepare(sql, &mut tables).ok()?;
    // The general path reports errors.
    let rows = prepared.look_up(&mut tables, values).ok()??;
    let schema = rows.batches.first()?.schema();
    let answer = in_memory(schema, rows.batches);
    Some(match &look_up.types {
        Some(types) => answer.in_types(types),
        None => answer,
    })
}

/// Runs a text as [`run`] does; each statement of a script has an answer.
///
/// # Errors
///
/// As [`run`]. Changes of the statements before the error remain.
pub(crate) async fn run_all(
    sql: &str,
    kind: TextKind,
    options: &SessionOptions,
    files: Vec<(String, PathBuf)>,
    connection: &AdsConnection,
) -> Result<Vec<Answer>> {
    let (sql, options, connection) = (sql.to_owned(), options.clone(), connection.clone());
    let stop = Stop::default();
    let watch = stop.watch();
    let given = blocking(move || {
        let text = Text {
            sql: &sql,
            values: &[],
            kind,
            types: None,
        };
        let mut answers = Vec::new();
        let mut state = connection.lock();
        let run = Lane::new(&options, &files, watch).and_then(|lane| {
            lane.run(&text, &mut state, |prepared, tables| {
                prepared.stream_each(tables, &[], |streamed| {
                    answers.push(streamed);
                    ControlFlow::Continue(())
                })
            })
        });
        let rested = state.rest();
        // The first error is returned.
        run?;
        rested.map(|()| answers)
    });
    // The work is stopped when all answers are dropped.
    let stop = Arc::new(stop);
    let given = given.await?.into_iter();
    given.map(|streamed| answer(streamed, Arc::clone(&stop))).collect()
}

fn answer(streamed: Streamed, stop: impl Send + Sync + 'static) -> Result<Answer> {
    match streamed {
        Streamed::Rows(rows) => {
            let schema = Arc::clone(rows.schema());
            Ok(match rows.into_memory() {
                Ok(batches) => in_memory(schema, batches),
                Err(rows) => Answer::streamed(rows_of(*rows, stop)),
            })
        }
        Streamed::Changed(count) => Answer::counted(Some(count)),
        _ => Answer::counted(None),
    }
}

fn in_memory(schema: SchemaRef, batches: Vec<RecordBatch>) -> Answer {
    let batches = futures::stream::iter(batches.into_iter().map(Ok));
    Answer::streamed(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
}

/// Lists of values, each for one run of a statement.
pub(crate) type Runs = Box<dyn Iterator<Item = Result<Vec<Value>>> + Send>;

/// Runs a text once for each list of values. Unless a transaction is open, all runs are one transaction. Returns the number of changed
/// rows.
///
/// # Errors
///
/// As [`run`]; errors of the iterator.
pub(crate) async fn run_each(
    sql: &str,
    kind: TextKind,
    runs: Runs,
    options: &SessionOptions,
    files: Vec<(String, PathBuf)>,
    connection: &AdsConnection,
) -> Result<Option<u64>> {
    let sql = sql.to_owned();
    let (options, connection) = (options.clone(), connection.clone());
    let stop = Stop::default();
    let watch = stop.watch();
    blocking(move || {
        let lane = Lane::new(&options, &files, watch)?;
        let mut state = connection.lock();
        let opened = state.connection(&options)?;
        let as_a_whole = kind == TextKind::Change && !opened.is_in_transaction();
        if as_a_whole {
            opened.tables(&lane.settings, &lane.statements).begin()?;
        }
        let mut changed = None;
        let done = runs.into_iter().try_for_each(|values| {
            let text = Text {
                sql: &sql,
                values: &values?,
                kind,
                types: None,
            };
            if let Streamed::Changed(rows) = lane.stream(&text, &mut state)? {
                changed = Some(changed.unwrap_or(0) + rows);
            }
            Ok(())
        });
        if as_a_whole && (done.is_err() || !state.is_manual()) {
            let opened = state.connection(&options)?;
            let ended = match &done {
                Ok(()) => opened.commit_transaction(),
                Err(_) => opened.rollback_transaction(),
            };
            let rested = state.rest();
            // The first error is returned.
            done?;
            ended?;
            return rested.map(|()| changed);
        }
        done.map(|()| changed)
    })
    .await
}

/// The common state of all runs of a text.
struct Lane<'o> {
    options: &'o SessionOptions,
    settings: Settings,
    statements: StatementOptions,
}

impl<'o> Lane<'o> {
    fn new(options: &'o SessionOptions, files: &[(String, PathBuf)], watch: Watch) -> Result<Self> {
        let (settings, mut statements) = settings(options, files)?;
        statements.watch = watch;
        Ok(Self {
            options,
            settings,
            statements,
        })
    }

    fn stream(&self, text: &Text<'_>, state: &mut State) -> Result<Streamed> {
        self.run(text, state, |prepared, tables| prepared.stream(tables, text.values))
    }

    /// Runs a text that is bound to the tables of the connection. It is bound again if a table's structure has changed.
    fn run<T>(
        &self,
        text: &Text<'_>,
        state: &mut State,
        mut run: impl FnMut(&Arc<Prepared>, &mut ConnectionTables<'_>) -> Result<T, SqlError>,
    ) -> Result<T> {
        let begins = state.is_manual() && text.kind == TextKind::Change;
        let analytical =
            (text.kind != TextKind::Query).then(|| -> Arc<dyn Analytical> { Arc::new(Planner(Handle::current())) });
        let (connection, known) = state.parts(self.options, analytical)?;
        let mut tables = connection.tables(&self.settings, &self.statements);
        if begins && !tables.in_transaction() {
            tables.begin()?;
        }
        let bound = known.prepare(text.sql, &mut tables)?;
        let mut done = run(&bound, &mut tables);
        if matches!(&done, Err(error) if *error.kind() == Kind::StructureChanged) {
            known.clear();
            let bound = known.prepare(text.sql, &mut tables)?;
            done = run(&bound, &mut tables);
        }
        if text.kind == TextKind::Definition {
            state.forget_statements();
        }
        Ok(done?)
    }
}

/// Reads rows on a separate thread as they are consumed; dropping the stream stops the thread.
fn rows_of(rows: RowStream, stop: impl Send + Sync + 'static) -> SendableRecordBatchStream {
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
        let _ = &stop;
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, held))
}

/// Plans the queries within other statements, whose rows go into a table, a variable or a cursor of ADS SQL.
#[derive(Debug)]
struct Planner(Handle);

/// The session that plans these queries. They read only lent tables, and a MERGE may run the same query for each row.
static WITHIN: LazyLock<Session> = LazyLock::new(|| Session::new(SessionOptions::default()));

impl Analytical for Planner {
    fn run(&self, query: Arc<AnalyticalQuery>) -> Result<Rows, SqlError> {
        let text = query.text().to_owned();
        let rows = async {
            let answer = WITHIN.query_lent(&text, query).await?.with_types_of_ads();
            let schema = answer.schema();
            Ok::<_, Error>(Rows::of_batches(&schema, answer.collect().await?))
        };
        Ok(self.0.block_on(rows)?)
    }

    fn has_other_expressions(&self) -> bool {
        true
    }
}

impl From<Error> for SqlError {
    /// Converts to an error of ADS SQL, with its position.
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

/// The damage of an index that a statement would have used. The records can be read without it.
pub(crate) fn fault_of_index(error: &Error) -> Option<String> {
    let Error::Ads(error) = error else { return None };
    match &**error {
        tidemill_ads::Error::Statement(statement) => {
            let is_stale = statement.native_code() == i64::from(ErrorCode::CorruptIndex.number());
            (is_stale || is_of_damaged_index(error)).then(|| statement.message().to_owned())
        }
        _ => None,
    }
}

/// Why the direct lanes refuse a statement that another engine may answer; `None` for other errors.
pub(crate) fn left_to_others(error: &Error) -> Option<Kind> {
    let Error::Ads(error) = error else { return None };
    let tidemill_ads::Error::Statement(error) = &**error else {
        return None;
    };
    let kind = error.kind();
    matches!(
        kind,
        Kind::NeedsAnalytical | Kind::Large | Kind::Unsupported | Kind::NoExpression | Kind::NoFunction
    )
    .then(|| kind.clone())
}

/// The name of the unknown function in lower case, if that is the error.
pub(crate) fn absent_function(error: &Error) -> Option<String> {
    let Error::Ads(error) = error else { return None };
    let tidemill_ads::Error::Statement(error) = &**error else {
        return None;
    };
    let message = error.to_string();
    let (_, name) = message.split_once("Scalar function not found: ")?;
    let name = name.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
    Some(name.take(1).collect::<String>().to_lowercase())
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
