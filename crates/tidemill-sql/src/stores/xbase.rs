//! xBase tables.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::stats::Precision;
use tidemill_xbase::{Deleted, RowFilter, Scan, Table};

use super::Reading;
use crate::Result;
use crate::blanks;
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
        let table = Arc::new(Table::open(part.file()?, options.xbase_options())?);
        engines.push(XbaseEngine {
            schema: match options.has_blanks() {
                true => blanks::marked(&table),
                false => table.schema(),
            },
            has_blanks: options.has_blanks(),
            table,
            deleted: options.deleted_records(),
            damage: damage.clone(),
        });
    }
    Ok(Arc::new(EngineTable::new(location.to_string(), engines)?))
}

struct XbaseEngine {
    table: Arc<Table>,
    schema: SchemaRef,
    /// Whether a blank date is a value.
    has_blanks: bool,
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
        Arc::clone(&self.schema)
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
        let projected = Arc::new(self.schema.project(&request.projection)?);
        let mut scan = Scan::default()
            .projection(request.projection)
            .deleted(self.deleted)
            .records(start_of(part)..start_of(part + 1))
            .batch_rows(request.batch_rows);
        if let Some(limit) = request.limit {
            scan = scan.limit(limit);
        }
        if let Some(filter) = request.filter {
            let (mut predicate, has_blanks) = (filter.predicate, self.has_blanks);
            let columns = Arc::new(self.schema.project(&filter.columns)?);
            scan = scan.row_filter(RowFilter::new(filter.columns, move |batch| match has_blanks {
                true => predicate(&blanks::filled(batch, &columns)?),
                false => predicate(batch),
            }));
        }
        let batches = self.table.scan(scan)?;
        let (table, damage) = (Arc::clone(&self.table), self.damage.clone());
        let say_damage = move |_: &_| damage.add(&table.path().display().to_string(), table.damage());
        let reading = Reading { batches, say_damage };
        Ok(match self.has_blanks {
            true => Box::new(reading.map(move |batch| Ok(blanks::filled(&batch?, &projected)?))),
            false => Box::new(reading),
        })
    }
}
