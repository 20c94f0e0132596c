//! Statements: a text with its values, or rows for a table.

use std::sync::Arc;

use adbc_core::error::Result;
use adbc_core::options::{OptionStatement, OptionValue};
use adbc_core::{CancelHandle, Optionable, PartitionedResult, Statement};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader, UInt64Array};
use arrow_schema::Schema;
use tidemill_ads::sql::Value;
use tidemill_sql::{Ingest, Session, is_query};
use tokio::runtime::Runtime;

use crate::cancel::{Canceller, Work};
use crate::database::{flag, text};
use crate::error::{self, invalid, invalid_state, not_implemented, of_session};
use crate::parameters;
use crate::rows::{Rows, of_batch};

/// A statement of a connection.
pub struct TidemillStatement {
    session: Arc<Session>,
    runtime: Arc<Runtime>,
    /// Its own, and its connection's.
    cancellers: [Canceller; 2],
    sql: Option<String>,
    bound: Option<Bound>,
    target: Option<String>,
    target_schema: Option<String>,
    mode: Ingest,
    binds_by_name: bool,
}

/// The option by which values go by the names of their columns.
const BIND_BY_NAME: &str = "adbc.statement.bind_by_name";

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
    pub(crate) fn new(session: Arc<Session>, runtime: Arc<Runtime>, connection: Canceller) -> Self {
        Self {
            session,
            runtime,
            cancellers: [Canceller::new(), connection],
            sql: None,
            bound: None,
            target: None,
            target_schema: None,
            mode: Ingest::Create,
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

    /// The values of each run: one without values where none are bound.
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

    /// Runs statements that change something, all of them or none of an xBase table's; returns how many rows they changed.
    fn change(&mut self) -> Result<Option<u64>> {
        let sql = self.sql()?.to_owned();
        let work = self.work();
        let has_values = self.bound.is_some();
        let runs = self.runs(&sql)?;
        let session = Arc::clone(&self.session);
        let was_on = session.autocommit();
        let as_one = has_values && was_on;
        if as_one {
            work.finish(session.set_autocommit(false))?;
        }
        let mut done = runs.map(|values| {
            work.watch().check()?;
            work.change(changed(&session, &sql, &values?))
        });
        let done = done.try_fold(None, |sum: Option<u64>, rows| {
            Ok(match (sum, rows?) {
                (sum, None) => sum,
                (sum, Some(rows)) => Some(sum.unwrap_or(0) + rows),
            })
        });
        if as_one {
            let taken_back = match &done {
                Ok(_) => Ok(()),
                Err(_) => work.finish(session.rollback()),
            };
            // Whatever happened, the connection is as it was.
            let committed = work.finish(session.set_autocommit(true));
            let done = done?;
            return taken_back.and(committed).map(|()| done);
        }
        done
    }

    /// Puts what is bound into a table.
    fn ingest(&mut self, table: &str) -> Result<u64> {
        let Some(bound) = Bound::take(&mut self.bound) else {
            return Err(invalid_state(format!("there are no rows for {table}: bind them first")));
        };
        let work = self.work();
        let (schema, watch) = (bound.schema(), work.watch().clone());
        let batches = bound.map(move |batch| match watch.check() {
            Ok(()) => Ok(batch?),
            Err(cancelled) => Err(arrow_schema::ArrowError::ExternalError(Box::new(cancelled)).into()),
        });
        let table = match &self.target_schema {
            Some(database) => format!("{database}.{table}"),
            None => table.to_owned(),
        };
        let done = work.finish(self.session.ingest(&table, self.mode, schema, batches));
        // Cancelled rows came as an error of the iterator.
        done.map_err(|error| work.watch().check().err().unwrap_or(error))
    }
}

/// How many rows a statement changed.
async fn changed(session: &Session, sql: &str, values: &[Value]) -> tidemill_sql::Result<Option<u64>> {
    let mut answer = session.query_with(sql, values).await?;
    let mut rows = None;
    while let Some(batch) = answer.next().await? {
        let counts = batch
            .columns()
            .first()
            .and_then(|column| column.as_any().downcast_ref::<UInt64Array>());
        for count in counts.into_iter().flatten().flatten() {
            rows = Some(rows.unwrap_or(0) + count);
        }
    }
    Ok(rows)
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

    /// A statement that changes rows gives one row with their number.
    fn execute(&mut self) -> Result<Box<dyn RecordBatchReader + Send>> {
        if let Some(table) = self.target.clone() {
            return counted(Some(self.ingest(&table)?));
        }
        let sql = self.sql()?.to_owned();
        if !is_query(&sql).map_err(of_session)? {
            return counted(self.change()?);
        }
        let mut runs = self.runs(&sql)?;
        let session = Arc::clone(&self.session);
        let rows = Rows::new(self.work(), move |work| {
            let Some(values) = runs.next().transpose()? else {
                return Ok(None);
            };
            work.run(session.query_with(&sql, &values)).map(Some)
        });
        Ok(Box::new(rows?))
    }

    fn execute_update(&mut self) -> Result<Option<i64>> {
        if let Some(table) = self.target.clone() {
            return Ok(i64::try_from(self.ingest(&table)?).ok());
        }
        if is_query(self.sql()?).map_err(of_session)? {
            for batch in self.execute()? {
                batch?;
            }
            return Ok(None);
        }
        Ok(self.change()?.and_then(|rows| i64::try_from(rows).ok()))
    }

    /// Parameters that have no values yet are NULL.
    fn execute_schema(&mut self) -> Result<Schema> {
        let sql = self.sql()?.to_owned();
        if !is_query(&sql).map_err(of_session)? {
            return Ok(Schema::empty());
        }
        let values = match self.bound {
            Some(Bound::Batch(_)) => self.runs(&sql)?.next().transpose()?,
            _ => None,
        };
        let values = match values {
            Some(values) => values,
            None => vec![Value::Null; parameters::names(&sql)?.len()],
        };
        let answer = self.work().run(self.session.query_with(&sql, &values))?;
        Ok(answer.schema().as_ref().clone())
    }

    fn execute_partitions(&mut self) -> Result<PartitionedResult> {
        Err(not_implemented("results are not cut into partitions"))
    }

    fn get_parameter_schema(&self) -> Result<Schema> {
        parameters::schema(self.sql()?)
    }

    /// Parses the query, so that a fault in its grammar shows now.
    fn prepare(&mut self) -> Result<()> {
        is_query(self.sql()?).map(drop).map_err(of_session)
    }

    /// What was bound before was for another query.
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

/// One row with a number of rows, or none where nobody counted.
fn counted(rows: Option<u64>) -> Result<Box<dyn RecordBatchReader + Send>> {
    let rows: UInt64Array = rows.into_iter().map(Some).collect();
    let batch = RecordBatch::try_from_iter([("rows", Arc::new(rows) as ArrayRef)])?;
    Ok(of_batch(batch))
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
                self.mode = match value.as_str() {
                    "adbc.ingest.mode.create" => Ingest::Create,
                    "adbc.ingest.mode.append" => Ingest::Append,
                    "adbc.ingest.mode.replace" => Ingest::Replace,
                    "adbc.ingest.mode.create_append" => Ingest::CreateAppend,
                    _ => return Err(invalid(format!("{value:?} is no mode of ingestion"))),
                };
            }
            OptionStatement::Other(key) if key == BIND_BY_NAME => self.binds_by_name = flag(&key, &value)?,
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
            OptionStatement::IngestMode => Ok(match self.mode {
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
