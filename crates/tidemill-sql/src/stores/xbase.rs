//! xBase tables.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::stats::Precision;
use tidemill_xbase::{Deleted, RowFilter, Scan, Table};

use super::Reading;
use crate::Result;
use crate::damage::DamageLog;
use crate::engine::{Batches, Engine, EngineTable, Request};
use crate::location::Location;
use crate::options::SessionOptions;

pub(super) fn open(
    location: &Location,
    options: &SessionOptions,
    damage: &DamageLog,
) -> Result<Arc<dyn TableProvider>> {
    let mut engines = Vec::new();
    for part in location.parts() {
        engines.push(XbaseEngine {
            table: Arc::new(Table::open(part.file()?, options.xbase_options())?),
            deleted: options.deleted_records(),
            damage: damage.clone(),
        });
    }
    Ok(Arc::new(EngineTable::new(location.to_string(), engines)?))
}

struct XbaseEngine {
    table: Arc<Table>,
    deleted: Deleted,
    damage: DamageLog,
}

impl Engine for XbaseEngine {
    fn scan_name(&self) -> &'static str {
        "XbaseScan"
    }

    fn file(&self) -> String {
        self.table.path().display().to_string()
    }

    fn schema(&self) -> SchemaRef {
        self.table.schema()
    }

    /// The header's count stands for the rows only where deleted records are rows too: the header doesn't count them.
    fn row_count(&self) -> Precision<usize> {
        let records = usize::try_from(self.table.record_count()).unwrap_or(usize::MAX);
        match self.deleted {
            Deleted::Include => Precision::Exact(records),
            _ => Precision::Inexact(records),
        }
    }

    fn divisible(&self) -> bool {
        true
    }

    fn scan(&self, request: Request) -> Result<Batches> {
        let (part, parts) = request.part;
        let records = u64::from(self.table.record_count());
        let start_of = |part: usize| u32::try_from(records * part as u64 / parts as u64).unwrap_or(u32::MAX);
        let mut scan = Scan::default()
            .projection(request.projection)
            .deleted(self.deleted)
            .records(start_of(part)..start_of(part + 1))
            .batch_rows(request.batch_rows);
        if let Some(limit) = request.limit {
            scan = scan.limit(limit);
        }
        if let Some(filter) = request.filter {
            scan = scan.row_filter(RowFilter::new(filter.columns, filter.predicate));
        }
        let batches = self.table.scan(scan)?;
        let (table, damage) = (Arc::clone(&self.table), self.damage.clone());
        let say_damage = move |_: &_| damage.add(&table.path().display().to_string(), table.damage());
        Ok(Box::new(Reading { batches, say_damage }))
    }
}
