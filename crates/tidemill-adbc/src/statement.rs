//! Statements: a query with parameter values, or rows to ingest.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use adbc_core::error::Result;
use adbc_core::options::{OptionStatement, OptionValue};
use adbc_core::{CancelHandle, Optionable, PartitionedResult, Statement};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{Schema, SchemaRef};
use tidemill_ads::sql::Value;
use tidemill_sql::{Answer, Ingest, IngestOptions, Session, cast_batch, for_programs, from_programs, is_query};
use tidemill_xbase::Dialect;
use tokio::runtime::Runtime;

use crate::cancel::{Canceller, Work};
use crate::database::{ATTACH, codepage, flag, text};
use crate::error::{self, for_session, invalid, invalid_state, not_implemented, of_session, read_only};
use crate::process_bound::ProcessBound;
use crate::rows::{self, Rows, of_batch};
use crate::{outcome, parameters};

/// A statement of a connection.
pub struct TidemillStatement {
    session: Arc<ProcessBound<Session>>,
    runtime: Arc<ProcessBound<Runtime>>,
    /// Whether the connection is read-only.
    is_read_only: Arc<AtomicBool>,
    /// The statement's own, and that of its connection.
    cancellers: [Canceller; 2],
    sql: Option<String>,
    bound: Option<Bound>,
    target: Option<String>,
    target_schema: Option<String>,
    ingest: IngestOptions,
    binds_by_name: bool,
}

/// The option that matches parameters by name.
const BIND_BY_NAME: &str = "adbc.statement.bind_by_name";

/// The prefix of our own options of ingestion.
const INGEST: &str = "tidemill.ingest.";

fn set_ingest_option(ingest: &mut IngestOptions, key: &str, value: String) -> Result<()> {
    match key.strip_prefix(INGEST).unwrap_or_default() {
        "lossy" => ingest.lossy = flag(key, &value)?,
        "codepage" => ingest.codepage = Some(codepage(key, &value)?),
        "dialect" => {
            let dialects = [
                ("dbase3", Dialect::Dbase3),
                ("dbase4", Dialect::Dbase4),
                ("foxpro", Dialect::FoxPro2),
                ("vfp", Dialect::VisualFoxPro),
            ];
            let known = dialects.into_iter().find(|(name, _)| *name == value);
            let (_, dialect) =
                known.ok_or_else(|| invalid(format!("{key} is dbase3, dbase4, foxpro or vfp, not {value:?}")))?;
            ingest.file.dialect = dialect;
        }
        "engine" => ingest.table.engine = value,
        "order_by" => ingest.table.order_by = value,
        "primary_key" => ingest.table.primary_key = (!value.is_empty()).then_some(value),
        _ => return Err(not_implemented(format!("a statement has no option {key}"))),
    }
    Ok(())
}

/// What was bound.
enum Bound {
    Batch(RecordBatch),
    /// It can be read once.
    Stream(Box<dyn RecordBatchReader + Send>),
}

impl Bound {
    fn take(bound: &mut Option<Self>) -> Option<Box<dyn RecordBatchReader + Send>> {
        match bound.take()? {
            Self::Batch(batch) => {
                *bound = Some(Self::Batch(batch.clone()));
                Some(of_batch(batch))
            }
            Self::Stream(stream) => Some(stream),
        }
    }
}

impl TidemillStatement {
    pub(crate) fn new(
        session: Arc<ProcessBound<Session>>,
        runtime: Arc<ProcessBound<Runtime>>,
        is_read_only: Arc<AtomicBool>,
        connection: Canceller,
    ) -> Self {
        Self {
            session,
            runtime,
            is_read_only,
            cancellers: [Canceller::new(), connection],
            sql: None,
            bound: None,
            target: None,
            target_schema: None,
            ingest: IngestOptions::default(),
            binds_by_name: false,
        }
    }

    fn work(&self) -> Work {
        let [own, connection] = &self.cancellers;
        Work::begin(&self.runtime, [own, connection])
    }

    fn sql(&self) -> Result<&str> {
        self.sql
            .as_deref()
            .ok_or_else(|| invalid_state("the statement has no query yet"))
    }

    /// The values of each run: a single run without values if none are bound.
    fn runs(&mut self, sql: &str) -> Result<impl Iterator<Item = Result<Vec<Value>>> + Send + use<>> {
        let (names, by_name) = (parameters::names(sql)?, self.binds_by_name);
        let Some(bound) = Bound::take(&mut self.bound) else {
            return Ok(Either::One(std::iter::once(Ok(Vec::new()))));
        };
        let rows = bound.flat_map(move |batch| {
            let rows = batch.map_err(|error| invalid(error.to_string()));
            match rows.and_then(|batch| parameters::rows(&batch, &names, by_name)) {
                Ok(rows) => rows.into_iter().map(Ok).collect::<Vec<_>>(),
                Err(error) => vec![Err(error)],
            }
        });
        Ok(Either::Many(rows))
    }

    /// Runs a statement other than a single query: a script, or a change that runs once for each row of values. Of an xBase table, all runs
    /// take effect or none.
    fn change(&mut self, sql: &str) -> Result<Done> {
        self.refuse_read_only(sql)?;
        let work = self.work();
        if self.bound.is_none() {
            let answer = work.change(self.session.get()?.query(sql))?;
            return Ok(match answer.changed() {
                Some(changed) => Done::Changed(changed.rows),
                None => Done::Rows(Box::new(answer)),
            });
        }
        let watch = work.watch().clone();
        let runs = self.runs(sql)?;
        let runs = runs.map(move |values| watch.check().and(values).map_err(for_session));
        work.change(self.session.get()?.change_each(sql, runs))
            .map(Done::Changed)
    }

    /// Writes the bound rows into a table.
    fn ingest(&mut self, table: &str) -> Result<u64> {
        self.refuse_read_only(table)?;
        let Some(bound) = Bound::take(&mut self.bound) else {
            return Err(invalid_state(format!("there are no rows for {table}: bind them first")));
        };
        let work = self.work();
        let session = self.session.get()?;
        let (schema, watch) = (from_programs(&bound.schema()), work.watch().clone());
        let batches = bound.map({
            let schema = Arc::clone(&schema);
            move |batch| {
                watch.check().map_err(for_session)?;
                cast_batch(&batch?, &schema)
            }
        });
        let table = match &self.target_schema {
            Some(name) if !session.has_schema(name).map_err(of_session)? => {
                return Err(of_session(tidemill_sql::Error::NotFound {
                    name: name.clone(),
                    hint: format!("no database and no folder is attached by this name ({ATTACH}{name})"),
                }));
            }
            Some(schema) => format!("{schema}.{table}"),
            None => table.to_owned(),
        };
        let done = work.finish(session.ingest(&table, self.ingest.clone(), schema, batches));
        match self.ingest.mode {
            Ingest::CreateAppend => done.map_err(error::of_another_table),
            _ => done,
        }
    }

    /// # Errors
    ///
    /// [`Status::InvalidState`](adbc_core::error::Status::InvalidState) if the connection is read-only.
    fn refuse_read_only(&self, what: &str) -> Result<()> {
        match self.is_read_only.load(Ordering::Relaxed) {
            false => Ok(()),
            true => Err(read_only(what)),
        }
    }

    /// The schema of a query's runs, if the first row of values has a NULL. A NULL has no type, so that a stand-in value of its column's
    /// type replaces it.
    fn schema_of_runs(&mut self, sql: &str) -> Result<Option<SchemaRef>> {
        let Some(Bound::Batch(batch)) = &self.bound else {
            return Ok(None);
        };
        let Some(values) = parameters::without_nulls(batch, &parameters::names(sql)?, self.binds_by_name)? else {
            return Ok(None);
        };
        let session = Arc::clone(&self.session);
        let answer = self.work().run(session.get()?.query_with(sql, &values))?;
        Ok(Some(answer.schema()))
    }
}

/// The result of a statement other than a single query.
enum Done {
    /// The number of changed rows, if known.
    Changed(Option<u64>),
    /// The rows of a script.
    Rows(Box<Answer>),
}

/// One of two iterators.
enum Either<A, B> {
    One(A),
    Many(B),
}

impl<T, A: Iterator<Item = T>, B: Iterator<Item = T>> Iterator for Either<A, B> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        match self {
            Self::One(one) => one.next(),
            Self::Many(many) => many.next(),
        }
    }
}

impl Statement for TidemillStatement {
    fn bind(&mut self, batch: RecordBatch) -> Result<()> {
        self.bound = Some(Bound::Batch(batch));
        Ok(())
    }

    fn bind_stream(&mut self, reader: Box<dyn RecordBatchReader + Send>) -> Result<()> {
        self.bound = Some(Bound::Stream(reader));
        Ok(())
    }

    /// A change returns no rows and no columns; the number of changed rows is in the rows affected.
    fn execute(&mut self) -> Result<Box<dyn RecordBatchReader + Send>> {
        if let Some(table) = self.target.clone() {
            outcome::set_rows_affected(i64::try_from(self.ingest(&table)?).ok());
            return Ok(rows::none());
        }
        let sql = self.sql()?.to_owned();
        if !is_query(&sql).map_err(of_session)? {
            return match self.change(&sql)? {
                Done::Changed(rows) => {
                    outcome::set_rows_affected(rows.and_then(|rows| i64::try_from(rows).ok()));
                    Ok(rows::none())
                }
                Done::Rows(answer) => {
                    let mut only = Some(*answer);
                    Ok(Box::new(Rows::new(self.work(), move |_| Ok(only.take()))?))
                }
            };
        }
        let schema = self.schema_of_runs(&sql)?;
        let mut runs = self.runs(&sql)?;
        let session = Arc::clone(&self.session);
        let next = move |work: &mut Work| {
            let Some(values) = runs.next().transpose()? else {
                return Ok(None);
            };
            work.run(session.get()?.query_with(&sql, &values)).map(Some)
        };
        Ok(match schema {
            Some(schema) => Box::new(Rows::of_schema(self.work(), schema, next)?),
            None => Box::new(Rows::new(self.work(), next)?),
        })
    }

    fn execute_update(&mut self) -> Result<Option<i64>> {
        if let Some(table) = self.target.clone() {
            return Ok(i64::try_from(self.ingest(&table)?).ok());
        }
        let sql = self.sql()?.to_owned();
        if is_query(&sql).map_err(of_session)? {
            for batch in self.execute()? {
                batch?;
            }
            return Ok(None);
        }
        match self.change(&sql)? {
            Done::Changed(rows) => Ok(rows.and_then(|rows| i64::try_from(rows).ok())),
            Done::Rows(_) => Ok(None),
        }
    }

    /// Parameters without a value are NULL.
    fn execute_schema(&mut self) -> Result<Schema> {
        let sql = self.sql()?.to_owned();
        if !is_query(&sql).map_err(of_session)? {
            return Ok(Schema::empty());
        }
        if let Some(schema) = self.schema_of_runs(&sql)? {
            return Ok(for_programs(&schema).as_ref().clone());
        }
        let values = match self.bound {
            Some(Bound::Batch(_)) => self.runs(&sql)?.next().transpose()?,
            _ => None,
        };
        let values = match values {
            Some(values) => values,
            None => vec![Value::Null; parameters::names(&sql)?.len()],
        };
        let session = Arc::clone(&self.session);
        let answer = self.work().run(session.get()?.query_with(&sql, &values))?;
        Ok(for_programs(&answer.schema()).as_ref().clone())
    }

    fn execute_partitions(&mut self) -> Result<PartitionedResult> {
        Err(not_implemented("results are not cut into partitions"))
    }

    fn get_parameter_schema(&self) -> Result<Schema> {
        parameters::schema(self.sql()?)
    }

    /// Parses the query, to report a syntax error early.
    fn prepare(&mut self) -> Result<()> {
        is_query(self.sql()?).map(drop).map_err(of_session)
    }

    /// Drops the values bound for the previous query.
    fn set_sql_query(&mut self, query: impl AsRef<str>) -> Result<()> {
        self.sql = Some(query.as_ref().to_owned());
        (self.target, self.bound) = (None, None);
        Ok(())
    }

    fn set_substrait_plan(&mut self, _: impl AsRef<[u8]>) -> Result<()> {
        Err(not_implemented("plans of Substrait are not run; give SQL"))
    }

    fn get_cancel_handle(&self) -> Box<dyn CancelHandle> {
        let [own, _] = &self.cancellers;
        Box::new(own.clone())
    }
}

impl Optionable for TidemillStatement {
    type Option = OptionStatement;

    fn set_option(&mut self, key: OptionStatement, value: OptionValue) -> Result<()> {
        let value = text(key.as_ref(), value)?;
        match key {
            OptionStatement::TargetTable => {
                self.target = Some(value);
                self.sql = None;
            }
            OptionStatement::TargetDbSchema => self.target_schema = (!value.is_empty()).then_some(value),
            OptionStatement::IngestMode => {
                self.ingest.mode = match value.as_str() {
                    "adbc.ingest.mode.create" => Ingest::Create,
                    "adbc.ingest.mode.append" => Ingest::Append,
                    "adbc.ingest.mode.replace" => Ingest::Replace,
                    "adbc.ingest.mode.create_append" => Ingest::CreateAppend,
                    _ => return Err(invalid(format!("{value:?} is no mode of ingestion"))),
                };
            }
            OptionStatement::Other(key) if key == BIND_BY_NAME => self.binds_by_name = flag(&key, &value)?,
            OptionStatement::Other(key) if key.starts_with(INGEST) => {
                set_ingest_option(&mut self.ingest, &key, value)?;
            }
            OptionStatement::Temporary if value == "false" => {}
            OptionStatement::TargetCatalog if value.is_empty() => {}
            other => {
                return Err(not_implemented(format!(
                    "{} = {value:?}: no statement has that",
                    other.as_ref()
                )));
            }
        }
        Ok(())
    }

    fn get_option_string(&self, key: OptionStatement) -> Result<String> {
        match &key {
            OptionStatement::TargetTable => self.target.clone().ok_or_else(|| error::no_option(key.as_ref())),
            OptionStatement::TargetDbSchema => self.target_schema.clone().ok_or_else(|| error::no_option(key.as_ref())),
            OptionStatement::IngestMode => Ok(match self.ingest.mode {
                Ingest::Create => "adbc.ingest.mode.create",
                Ingest::Append => "adbc.ingest.mode.append",
                Ingest::Replace => "adbc.ingest.mode.replace",
                Ingest::CreateAppend => "adbc.ingest.mode.create_append",
            }
            .to_owned()),
            OptionStatement::Other(key) if key == BIND_BY_NAME => Ok(self.binds_by_name.to_string()),
            _ => Err(error::no_option(key.as_ref())),
        }
    }

    fn get_option_bytes(&self, key: OptionStatement) -> Result<Vec<u8>> {
        Err(error::no_option(key.as_ref()))
    }

    fn get_option_int(&self, key: OptionStatement) -> Result<i64> {
        Err(error::no_option(key.as_ref()))
    }

    fn get_option_double(&self, key: OptionStatement) -> Result<f64> {
        Err(error::no_option(key.as_ref()))
    }
}
