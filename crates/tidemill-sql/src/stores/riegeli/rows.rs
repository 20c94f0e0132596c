//! Typed rows, whose Arrow schema is stored in the file; records of any other kind are rows of one binary column, `record`.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use datafusion::common::stats::Precision;
use tidemill_riegeli::rows::{RowBatches, RowFile, RowFilter, RowScan};

use crate::Result;
use crate::damage::DamageLog;
use crate::engine::{Batches, Engine, Request};
use crate::stores::Reading;

pub(super) struct RowEngine {
    pub(super) file: Arc<RowFile>,
    pub(super) path: String,
    pub(super) rows: Precision<usize>,
    pub(super) damage: DamageLog,
}

impl Engine for RowEngine {
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
