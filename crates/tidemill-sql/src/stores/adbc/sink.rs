//! A table that a driver fills by its bulk ingestion, in one transaction where the driver has them.

use std::sync::Arc;

use adbc_core::options::{IngestMode, OptionConnection, OptionStatement, OptionValue};
use adbc_core::{Connection, Optionable, Statement};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::driver::Table;
use super::error_at;
use crate::stores::server::fitting::{column_of, fitted, unfit};
use crate::stores::server::{Filling, IfThere, TableSink};
use crate::{Error, Result};

pub(super) struct AdbcSink {
    table: Table,
    /// The columns of the rows, in order.
    expected: SchemaRef,
    rows: u64,
    batches: mpsc::Sender<Result<RecordBatch, ArrowError>>,
    filling: JoinHandle<Result<()>>,
}

impl AdbcSink {
    pub(super) async fn begin(table: Table, schema: &SchemaRef, filling: &Filling<'_>) -> Result<Self> {
        let (schema, create, there) = (Arc::clone(schema), filling.making.create, filling.there);
        let columns = filling.columns.to_vec();
        let (name, mode, expected) = table
            .wait(move |table| {
                let found = match table.found() {
                    Ok(found) => Some(found),
                    Err(Error::NotFound { .. }) if create => None,
                    Err(error) => return Err(error),
                };
                let adds = matches!(there, IfThere::Add | IfThere::GoOn);
                Ok(match found {
                    Some(found) if !create || adds => {
                        let known = table.connect()?.get_table_schema(None, None, &found);
                        let known = Arc::new(known.map_err(error_at(table.place()))?);
                        let expected = expected(table, &schema, &known, &columns, there)?;
                        (found, IngestMode::Append, expected)
                    }
                    Some(_) if there != IfThere::Replace => {
                        return Err(Error::Exists {
                            place: table.place().to_owned(),
                        });
                    }
                    Some(found) => (found, IngestMode::Replace, schema),
                    None => (table.name().to_owned(), IngestMode::Create, schema),
                })
            })
            .await?;
        const BATCHES_IN_FLIGHT: usize = 2;
        let (batches, incoming) = mpsc::channel(BATCHES_IN_FLIGHT);
        let incoming = Incoming {
            schema: Arc::clone(&expected),
            batches: incoming,
        };
        let filling = tokio::task::spawn_blocking({
            let table = table.clone();
            move || ingest(&table, &name, mode, incoming)
        });
        Ok(Self {
            table,
            expected,
            rows: 0,
            batches,
            filling,
        })
    }

    /// What the driver says of the rows.
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

/// The columns that rows are for, as the table has them.
fn expected(
    table: &Table,
    schema: &SchemaRef,
    known: &SchemaRef,
    columns: &[String],
    there: IfThere,
) -> Result<SchemaRef> {
    let names: Vec<&String> = match (columns.is_empty(), there) {
        (false, _) => columns.iter().collect(),
        (true, IfThere::Add) => known.fields().iter().map(|field| field.name()).collect(),
        (true, _) => schema.fields().iter().map(|field| field.name()).collect(),
    };
    let places = names
        .into_iter()
        .map(|name| column_of(known, name).ok_or_else(|| unfit(table.place(), name, "the table has no such column")));
    let places = places.collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(known.project(&places)?))
}

/// Gives the driver all rows, and makes them visible when they are all there.
fn ingest(table: &Table, name: &str, mode: IngestMode, rows: Incoming) -> Result<()> {
    let failed = || error_at(table.place());
    let mut connection = table.connect()?;
    // A driver without transactions makes each statement visible at once.
    let off = OptionValue::String("false".to_owned());
    let has_transactions = connection.set_option(OptionConnection::AutoCommit, off).is_ok();
    let done = (|| {
        let mut statement = connection.new_statement()?;
        let text = |text: &str| OptionValue::String(text.to_owned());
        statement.set_option(OptionStatement::IngestMode, OptionValue::from(mode))?;
        statement.set_option(OptionStatement::TargetTable, text(name))?;
        statement.bind_stream(Box::new(rows))?;
        statement.execute_update()
    })();
    match done {
        Ok(_) if has_transactions => connection.commit().map_err(failed()),
        Ok(_) => Ok(()),
        Err(error) => {
            if has_transactions {
                // What went wrong before is what is told.
                let _ = connection.rollback();
            }
            Err(failed()(error))
        }
    }
}

/// Rows for a driver, as they come.
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
        // The values decide whether there are NULLs; the stream has one schema.
        let fitted = fitted.with_schema(Arc::clone(&self.expected))?;
        self.rows += batch.num_rows() as u64;
        if self.batches.send(Ok(fitted)).await.is_ok() {
            return Ok(());
        }
        // The driver takes no more: its error is the one that counts.
        let ended = std::mem::replace(&mut self.filling, tokio::spawn(std::future::ready(Ok(()))));
        Self::ended(ended).await?;
        Err(unfit(self.table.place(), "", "the driver took no more rows"))
    }

    async fn finish(self: Box<Self>) -> Result<u64> {
        let Self {
            rows, batches, filling, ..
        } = *self;
        drop(batches);
        Self::ended(filling).await.map(|()| rows)
    }

    async fn give_up(self: Box<Self>) {
        let Self { batches, filling, .. } = *self;
        let stopped = ArrowError::ExternalError("the copy was given up".into());
        let _ = batches.send(Err(stopped)).await;
        drop(batches);
        // What went wrong before is what is told.
        let _ = Self::ended(filling).await;
    }
}
