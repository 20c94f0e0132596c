//! Typed rows, whose Arrow schema is stored in the file; records of any other kind are rows of one binary column, `record`.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use datafusion::common::stats::Precision;
use tidemill_riegeli::SharedSource;
use tidemill_riegeli::rows::{RowBatches, RowFile, RowFilter, RowScan};

use crate::Result;
use crate::damage::DamageLog;
use crate::engine::{Batches, Engine, Request};
use crate::stores::records::RecordFile;
use crate::stores::{Reading, without_first};

pub(super) struct RowEngine {
    pub(super) file: RecordFile,
    pub(super) read: Arc<RowFile>,
    pub(super) damage: DamageLog,
}

impl Engine for RowEngine {
    fn scan_name(&self) -> &'static str {
        "RiegeliScan"
    }

    fn file(&self) -> String {
        self.file.path.clone()
    }

    fn schema(&self) -> SchemaRef {
        self.read.schema()
    }

    fn row_count(&self) -> Precision<usize> {
        self.file.rows()
    }

    fn row_bytes(&self) -> Option<u64> {
        self.file.mean_length()
    }

    fn divisible(&self) -> bool {
        false
    }

    fn skips(&self) -> bool {
        self.file.index.is_some()
    }

    fn scan(&self, request: Request) -> Result<Batches> {
        let (options, before) = self.file.reading_from(request.offset);
        let read = match request.offset {
            0 => Arc::clone(&self.read),
            _ => {
                let source = SharedSource::clone(&self.file.source);
                Arc::new(RowFile::from_source(source, &self.file.path, &options)?)
            }
        };
        let scan = RowScan {
            projection: Some(request.projection),
            batch_rows: request.batch_rows,
            limit: request.limit.map(|limit| limit.saturating_add(before)),
            row_filter: request
                .filter
                .map(|filter| RowFilter::new(filter.columns, filter.predicate)),
        };
        let batches = read.scan(scan)?;
        let (path, damage) = (self.file.path.clone(), self.damage.clone());
        let say_damage = move |batches: &RowBatches| damage.add(&path, batches.skipped());
        Ok(without_first(before, Box::new(Reading { batches, say_damage })))
    }
}
