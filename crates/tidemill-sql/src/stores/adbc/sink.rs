//! Fills a table by the driver's bulk ingestion, in one transaction if the driver supports them.
//!
//! A new table is filled under another name, counted, and renamed when it is complete: not every driver rolls back a failed ingestion, and
//! some take a stream that ends with an error for complete.

use std::sync::{Arc, OnceLock};

use adbc_core::error::Status;
use adbc_core::options::{IngestMode, OptionConnection, OptionStatement, OptionValue};
use adbc_core::{Connection, Optionable, Statement};
use adbc_driver_manager::ManagedConnection;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{RecordBatch, RecordBatchReader, new_null_array};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, SchemaRef};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::driver::Table;
use super::error_at;
use crate::stores::server::fitting::{columns_for, fitted, unfit};
use crate::stores::server::{Filling, IfThere, TableSink};
use crate::{Error, Result};

pub(super) struct AdbcSink {
    table: Table,
    /// The columns of the rows, in order.
    expected: SchemaRef,
    /// The columns sent to the driver, if there are more.
    sent: SchemaRef,
    rows: u64,
    /// The total number of rows, once it is known.
    total: Arc<OnceLock<u64>>,
    batches: mpsc::Sender<Result<RecordBatch, ArrowError>>,
    filling: JoinHandle<Result<()>>,
}

impl AdbcSink {
    pub(super) async fn begin(table: Table, schema: &SchemaRef, filling: &Filling<'_>) -> Result<Self> {
        let (schema, create, there) = (Arc::clone(schema), filling.making.create, filling.there);
        let columns = filling.columns.to_vec();
        let (into, expected, sent) = table
            .wait(move |table| {
                let found = match table.found() {
                    Ok(found) => Some(found),
                    Err(Error::NotFound { .. }) if create => None,
                    Err(error) => return Err(error),
                };
                let adds = there.keeps_rows();
                Ok(match found {
                    Some(found) if !create || adds => {
                        let known = table.connect()?.get_table_schema(None, None, &found);
                        let known = Arc::new(known.map_err(error_at(table.place()))?);
                        let expected = columns_for(&known, &schema, (&columns, there), table.place())?;
                        let sent = match table.appends_by_place() {
                            true => known,
                            false => Arc::clone(&expected),
                        };
                        (Target::Table(found), expected, sent)
                    }
                    Some(_) if there != IfThere::Replace => {
                        return Err(Error::Exists {
                            place: table.place().to_owned(),
                        });
                    }
                    found => {
                        let replaces = found.is_some();
                        let name = found.unwrap_or_else(|| table.name().to_owned());
                        let draft = format!("{name}_{}", Uuid::new_v4().simple());
                        let into = Target::Draft { draft, name, replaces };
                        (into, Arc::clone(&schema), schema)
                    }
                })
            })
            .await?;
        const BATCHES_IN_FLIGHT: usize = 2;
        let (batches, incoming) = mpsc::channel(BATCHES_IN_FLIGHT);
        let incoming = Incoming {
            schema: Arc::clone(&sent),
            batches: incoming,
        };
        let total = Arc::new(OnceLock::new());
        let filling = tokio::task::spawn_blocking({
            let (table, total) = (table.clone(), Arc::clone(&total));
            move || ingest(&table, &into, incoming, &total)
        });
        Ok(Self {
            table,
            expected,
            sent,
            rows: 0,
            total,
            batches,
            filling,
        })
    }

    /// The result of the ingestion.
    async fn ended(filling: JoinHandle<Result<()>>) -> Result<()> {
        match filling.await {
            Ok(done) => done,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => Err(Error::Unsupported {
                    what: format!("a driver's ingestion: {error}"),
                    hint: "the program is ending".to_owned(),
                }),
            },
        }
    }
}

/// The target of an ingestion.
enum Target {
    /// An existing table.
    Table(String),
    /// A draft, which is then renamed, and may replace an existing table.
    Draft {
        draft: String,
        name: String,
        replaces: bool,
    },
}

/// Passes all rows to the driver, and makes them visible when they are complete.
fn ingest(table: &Table, into: &Target, rows: Incoming, total: &OnceLock<u64>) -> Result<()> {
    let failed = || error_at(table.place());
    let mut connection = table.connect()?;
    // Without transactions, each statement is visible at once.
    let off = OptionValue::String("false".to_owned());
    let has_transactions = connection.set_option(OptionConnection::AutoCommit, off).is_ok();
    let fill = || {
        let (target, mode) = match into {
            Target::Table(name) => (name, IngestMode::Append),
            Target::Draft { draft, .. } => (draft, IngestMode::Create),
        };
        let mut statement = connection.new_statement()?;
        statement.set_option(OptionStatement::IngestMode, OptionValue::from(mode))?;
        statement.set_option(OptionStatement::TargetTable, OptionValue::String(target.clone()))?;
        statement.bind_stream(Box::new(rows))?;
        statement.execute_update()?;
        let Some(total) = total.get() else {
            return Err(invalid("the rows ended before the last one"));
        };
        if let Target::Draft { draft, name, replaces } = into {
            let (draft, name) = (table.quoted(draft), table.quoted(name));
            let found = count(&mut connection, &draft)?;
            if found != *total {
                return Err(invalid(format!("{found} rows are there of {total}")));
            }
            let mut steps = Vec::new();
            if *replaces {
                steps.push(format!("DROP TABLE {name}"));
            }
            steps.push(format!("ALTER TABLE {draft} RENAME TO {name}"));
            for step in steps {
                let mut statement = connection.new_statement()?;
                statement.set_sql_query(step)?;
                statement.execute_update()?;
            }
        }
        match has_transactions {
            true => connection.commit(),
            false => Ok(()),
        }
    };
    let Err(error) = fill() else { return Ok(()) };
    // The first error is reported.
    if has_transactions {
        let _ = connection.rollback();
    }
    drop(connection);
    if let Target::Draft { draft, .. } = into {
        let _ = table.execute(&format!("DROP TABLE IF EXISTS {}", table.quoted(draft)));
    }
    Err(failed()(error))
}

fn invalid(message: impl Into<String>) -> adbc_core::error::Error {
    adbc_core::error::Error::with_message_and_status(message, Status::InvalidData)
}

/// The number of rows of a table, as a statement names it.
fn count(connection: &mut ManagedConnection, table: &str) -> adbc_core::error::Result<u64> {
    let mut statement = connection.new_statement()?;
    statement.set_sql_query(format!("SELECT COUNT(*) FROM {table}"))?;
    for batch in statement.execute()? {
        let batch = batch?;
        if batch.num_rows() > 0 {
            let count = cast(batch.column(0), &DataType::UInt64)?;
            return Ok(count.as_primitive::<UInt64Type>().value(0));
        }
    }
    Err(invalid(format!("no number of the rows of {table}")))
}

/// Rows for a driver, as they arrive.
struct Incoming {
    schema: SchemaRef,
    batches: mpsc::Receiver<Result<RecordBatch, ArrowError>>,
}

impl Iterator for Incoming {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batches.blocking_recv()
    }
}

impl RecordBatchReader for Incoming {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

#[async_trait::async_trait]
impl TableSink for AdbcSink {
    fn columns(&self) -> Vec<String> {
        self.expected
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    }

    async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let fitted = fitted(batch, &self.expected, self.table.place(), self.rows)?;
        let columns = self
            .sent
            .fields()
            .iter()
            .map(|field| match self.expected.index_of(field.name()) {
                Ok(place) => Arc::clone(fitted.column(place)),
                Err(_) => new_null_array(field.data_type(), fitted.num_rows()),
            });
        let fitted = RecordBatch::try_new(Arc::clone(&self.sent), columns.collect())?;
        self.rows += batch.num_rows() as u64;
        if self.batches.send(Ok(fitted)).await.is_ok() {
            return Ok(());
        }
        // The driver has stopped reading; its error is reported.
        let ended = std::mem::replace(&mut self.filling, tokio::spawn(std::future::ready(Ok(()))));
        Self::ended(ended).await?;
        Err(unfit(self.table.place(), "", "the driver took no more rows"))
    }

    async fn finish(self: Box<Self>) -> Result<u64> {
        let Self {
            rows,
            total,
            batches,
            filling,
            ..
        } = *self;
        total.get_or_init(|| rows);
        drop(batches);
        Self::ended(filling).await.map(|()| rows)
    }

    async fn give_up(self: Box<Self>) {
        let Self { batches, filling, .. } = *self;
        let stopped = ArrowError::ExternalError("the copy was given up".into());
        let _ = batches.send(Err(stopped)).await;
        drop(batches);
        // The first error is reported.
        let _ = Self::ended(filling).await;
    }
}
