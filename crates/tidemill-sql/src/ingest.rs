//! Rows that a program has in memory, put into a table by its name.

use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use datafusion::common::DataFusionError;
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;

use crate::copy::{self, CopyOptions};
use crate::engine::BATCHES_IN_FLIGHT;
use crate::format::Format;
use crate::location::{Location, Place};
use crate::session::{Answer, Session};
use crate::sink::{Filling, IfThere, TableOptions, TableSink};
use crate::{Error, Result, names};

/// What becomes of a table that is there, or is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ingest {
    /// It is made, and must not be there.
    Create,
    /// Rows are added to it, and it must be there.
    Append,
    /// It is made anew.
    Replace,
    /// Rows are added to it; where it is not there, it is made.
    CreateAppend,
}

impl Session {
    /// Puts rows into a table and returns their number. The iterator is read on another thread, a few batches ahead.
    ///
    /// A table that is made is a table of the server that the name leads to, or a file, whose extension tells the format; without
    /// one it is a DBF. Rows are added to xBase tables, in the transaction under way, and to tables of servers.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`], [`Error::NotFound`], [`Error::Unsupported`] for rows that would be added to another file; as
    /// [`Session::append`] and [`Session::copy`].
    pub async fn ingest(
        &self,
        table: &str,
        mode: Ingest,
        schema: SchemaRef,
        batches: impl Iterator<Item = Result<RecordBatch>> + Send + 'static,
    ) -> Result<u64> {
        let adds = matches!(mode, Ingest::Append | Ingest::CreateAppend);
        let location = match names::is_object(table) && mode != Ingest::Append {
            // Whether it is there is seen when it is put there.
            true => Location::destination(table)?,
            false => match self.locate(table).await {
                Ok(location) => location,
                Err(Error::NotFound { .. }) if mode != Ingest::Append => self.new_table(table)?,
                Err(error) => return Err(error),
            },
        };
        let is_there = matches!(&location.place, Place::File(path) if path.exists());
        match (&location.place, location.format) {
            (Place::Server(url), _) => {
                let making = TableOptions {
                    create: mode != Ingest::Append,
                    ..self.options.making.clone()
                };
                let there = match mode {
                    Ingest::Create => IfThere::Refuse,
                    Ingest::Replace => IfThere::Replace,
                    Ingest::Append | Ingest::CreateAppend => IfThere::Add,
                };
                let columns: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
                let filling = Filling {
                    columns: &columns,
                    making: &making,
                    there,
                    job: None,
                };
                let sink = TableSink::begin(url, &self.clients, &schema, &filling).await?;
                copy::insert(Answer::read(schema, batches), sink, |_, _| Ok(())).await
            }
            (Place::File(path), Format::Xbase) if is_there && adds => {
                let path = path.to_string_lossy().into_owned();
                self.append(&path, batches).await
            }
            (Place::File(_), _) if is_there && adds => Err(Error::Unsupported {
                what: format!("{location}: adding rows to a file that is not of xBase"),
                hint: "replace it, or write another file".to_owned(),
            }),
            _ => {
                let options = CopyOptions {
                    overwrite: mode == Ingest::Replace,
                    ..CopyOptions::default()
                };
                let rows = Answer::read(schema, batches);
                let copied = self
                    .plan(rows, None, false, &location, &options)
                    .await?
                    .run(|_| {})
                    .await?;
                Ok(copied.rows)
            }
        }
    }

    /// Where a table of this name would be made.
    fn new_table(&self, name: &str) -> Result<Location> {
        let path = self.names().translate(name)?;
        let path = match Format::from_name(&path) {
            Some(_) => path,
            None => Path::new(&format!("{}.dbf", path.display())).to_path_buf(),
        };
        Location::new_file(&self.names().folder().unwrap_or(Path::new("")).join(path))
    }
}

impl Answer {
    /// Rows of an iterator that may block, read a few batches ahead.
    fn read(schema: SchemaRef, batches: impl Iterator<Item = Result<RecordBatch>> + Send + 'static) -> Self {
        let mut stream = RecordBatchReceiverStreamBuilder::new(schema, BATCHES_IN_FLIGHT);
        let sender = stream.tx();
        stream.spawn_blocking(move || {
            for batch in batches {
                let batch = batch.map_err(|error| DataFusionError::External(Box::new(error)));
                if sender.blocking_send(batch).is_err() {
                    break;
                }
            }
            Ok(())
        });
        Self::streamed(stream.build())
    }
}
