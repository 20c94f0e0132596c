//! Riegeli/records files of typed rows; a file of other records is a table of one binary column, `record`.

use std::path::Path;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::stats::Precision;
use tidemill_riegeli::ReaderOptions;
use tidemill_riegeli::rows::{RowBatches, RowFile, RowFilter, RowScan};

use super::Reading;
use crate::Result;
use crate::damage::DamageLog;
use crate::engine::{Batches, Engine, EngineTable, Request};
use crate::options::SessionOptions;

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
        let (path, damage) = (self.path.clone(), self.damage.clone());
        let say_damage = move |batches: &RowBatches| damage.add(&path, batches.skipped());
        Ok(Box::new(Reading { batches, say_damage }))
    }
}
