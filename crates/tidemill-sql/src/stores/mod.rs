//! One module per store: from a [`Location`] to a table that the planner can scan.

#[cfg(feature = "adbc")]
mod adbc;
#[cfg(feature = "cassandra")]
mod cassandra;
#[cfg(feature = "clickhouse")]
mod clickhouse;
pub(crate) mod csv;
mod decimals;
#[cfg(feature = "excel")]
pub(crate) mod excel;
mod files;
#[cfg(feature = "flight")]
mod flight;
mod json;
pub(crate) mod key_lookup;
pub(crate) mod lent;
#[cfg(feature = "mysql")]
mod mysql;
pub(crate) mod native;
pub(crate) mod object;
#[cfg(feature = "postgres")]
mod postgres;
mod records;
mod riegeli;
pub(crate) mod server;
#[cfg(feature = "sqlite")]
mod sqlite;
pub(crate) mod standard_input;
mod xbase;

use std::sync::Arc;

use arrow_array::RecordBatch;
use datafusion::catalog::TableProvider;
use datafusion::execution::SessionState;
use tidemill_xbase::Table;

use self::server::Servers;
use crate::damage::DamageLog;
use crate::engine::{Batches, Engine, EngineTable};
use crate::format::Format;
use crate::location::{Location, Place};
use crate::options::SessionOptions;
use crate::{Error, Result};

/// Opens the table at `location`.
pub(crate) async fn open(
    location: &Location,
    options: &SessionOptions,
    damage: &DamageLog,
    servers: &Servers,
    state: &SessionState,
) -> Result<Arc<dyn TableProvider>> {
    let location = options.spooled(location).await?;
    if let Place::Server(table) = &location.place {
        return servers.of(table)?.open(table).await;
    }
    match location.format {
        Format::Xbase => xbase::open(location, options, damage).await,
        Format::Riegeli | Format::ArrayRecord | Format::TfRecord => riegeli::open(location, options, damage).await,
        Format::Native(strings) => native::open(location, strings).await,
        Format::Csv(options) => csv::open(location, &options).await,
        #[cfg(feature = "excel")]
        Format::Excel(sheet) => excel::open(location, &sheet, options).await,
        #[cfg(not(feature = "excel"))]
        Format::Excel(_) => Err(Error::Unsupported {
            what: format!("{location}: a workbook"),
            hint: "this build has no excel: build it with --features excel".to_owned(),
        }),
        Format::JsonLines => json::open(location, options).await,
        Format::Parquet | Format::Arrow => files::open(location, options, state).await,
        Format::Server(kind) => Err(Error::Unsupported {
            what: format!("{location}: a table of {kind} in a file"),
            hint: format!("name the table as {}", kind.example()),
        }),
    }
}

/// The rows per batch of a table, so that batches of long rows take no more memory than others; `None` if the length of rows is unknown.
pub(crate) fn batch_rows(table: &dyn TableProvider) -> Option<usize> {
    const BATCH_BYTES: u64 = 8 << 20;
    if let Some(files) = table.downcast_ref::<files::FileTable>() {
        return files.batch_rows();
    }
    let bytes = row_bytes::<Box<dyn Engine>>(table)
        .or_else(|| row_bytes::<xbase::XbaseEngine>(table))
        .or_else(|| row_bytes::<csv::CsvEngine>(table))
        .or_else(|| row_bytes::<json::JsonEngine>(table));
    #[cfg(feature = "excel")]
    let bytes = bytes.or_else(|| row_bytes::<excel::ExcelEngine>(table));
    let bytes = bytes?;
    usize::try_from(BATCH_BYTES / bytes.max(1)).ok()
}

fn row_bytes<E: Engine>(table: &dyn TableProvider) -> Option<u64> {
    table.downcast_ref::<EngineTable<E>>()?.row_bytes()
}

/// An xBase table that is already open.
pub(crate) fn of_table(
    location: &Location,
    table: Arc<Table>,
    options: &SessionOptions,
    damage: &DamageLog,
) -> Result<Arc<dyn TableProvider>> {
    xbase::of_tables(location, vec![table], options, damage)
}

/// A scan that reports skipped damage when it ends, early or not.
struct Reading<B, D: FnMut(&B)> {
    batches: B,
    say_damage: D,
}

impl<B, D, E> Iterator for Reading<B, D>
where
    B: Iterator<Item = Result<RecordBatch, E>>,
    D: FnMut(&B),
    Error: From<E>,
{
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Result<RecordBatch>> {
        Some(self.batches.next()?.map_err(Error::from))
    }
}

impl<B, D: FnMut(&B)> Drop for Reading<B, D> {
    fn drop(&mut self) {
        (self.say_damage)(&self.batches);
    }
}

/// Batches without the first rows.
struct Behind {
    batches: Batches,
    /// How many rows are still to skip.
    rows: usize,
}

/// The batches without their first `rows` rows.
fn without_first(rows: usize, batches: Batches) -> Batches {
    match rows {
        0 => batches,
        rows => Box::new(Behind { batches, rows }),
    }
}

impl Iterator for Behind {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Result<RecordBatch>> {
        loop {
            let batch = match self.batches.next()? {
                Ok(batch) => batch,
                Err(error) => return Some(Err(error)),
            };
            let rows = self.rows.min(batch.num_rows());
            self.rows -= rows;
            if rows < batch.num_rows() {
                return Some(Ok(batch.slice(rows, batch.num_rows() - rows)));
            }
        }
    }
}
