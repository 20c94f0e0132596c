//! Riegeli/records files of typed rows; a file of other records is a table of one binary column, `record`.

use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::stats::Precision;
use tidemill_riegeli::ReaderOptions;
use tidemill_riegeli::rows::{RowBatches, RowFile, RowFilter, RowScan};

use crate::engine::{Batches, Engine, EngineTable, Request};
use crate::session::{DamageLog, SessionOptions};
use crate::{Error, Result};

pub(super) fn open(path: &Path, options: &SessionOptions, damage: &DamageLog) -> Result<Arc<dyn TableProvider>> {
    let file = RowFile::open(path, &ReaderOptions::default().recover(options.recovers()))?;
    // Recovery leaves out what is damaged, so only a scan knows how much is left.
    let rows = match options.recovers() {
        true => Precision::Absent,
        false => Precision::Exact(usize::try_from(file.row_count()?).unwrap_or(usize::MAX)),
    };
    let path = path.display().to_string();
    Ok(Arc::new(EngineTable::new(RiegeliEngine {
        file: Arc::new(file),
        path,
        rows,
        damage: damage.clone(),
    })))
}

struct RiegeliEngine {
    file: Arc<RowFile>,
    path: String,
    rows: Precision<usize>,
    damage: DamageLog,
}

impl Engine for RiegeliEngine {
    fn scan_name(&self) -> &'static str {
        "RiegeliScan"
    }

    fn file(&self) -> String {
        self.path.clone()
    }

    fn schema(&self) -> SchemaRef {
        self.file.schema()
    }

    fn row_count(&self) -> Precision<usize> {
        self.rows
    }

    fn divisible(&self) -> bool {
        false
    }

    fn scan(&self, request: Request) -> Result<Batches> {
        let scan = RowScan {
            projection: Some(request.projection),
            batch_rows: request.batch_rows,
            limit: request.limit,
            row_filter: request
                .filter
                .map(|filter| RowFilter::new(filter.columns, filter.predicate)),
        };
        let batches = self.file.scan(scan)?;
        Ok(Box::new(Reading {
            batches,
            path: self.path.clone(),
            damage: self.damage.clone(),
        }))
    }
}

/// A scan that tells what it left out when it ends, wherever that is.
struct Reading {
    batches: RowBatches,
    path: String,
    damage: DamageLog,
}

impl Iterator for Reading {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Result<RecordBatch>> {
        Some(self.batches.next()?.map_err(Error::from))
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.damage.add(&self.path, self.batches.skipped());
    }
}
