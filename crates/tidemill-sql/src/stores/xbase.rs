//! xBase tables.

mod index;

use std::ops::Range;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::ScalarValue;
use datafusion::common::stats::Precision;
use datafusion::datasource::source::DataSource;
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use tidemill_ads::sql::columns_with_blanks;
use tidemill_xbase::{Bitmap, DELETED_COLUMN, Deleted, Memo, RowFilter, Scan, Table};

use self::index::ProductionIndex;
use super::Reading;
use crate::Result;
use crate::blanks;
use crate::damage::DamageLog;
use crate::engine::{Batches, Engine, EngineScan, EngineTable, Request};
use crate::location::Location;
use crate::options::SessionOptions;

pub(super) async fn open(
    location: &Location,
    options: &SessionOptions,
    damage: &DamageLog,
) -> Result<Arc<dyn TableProvider>> {
    let parts = location.parts().await?;
    let tables = parts
        .iter()
        .map(|part| Ok(Arc::new(Table::open(part.file()?, options.xbase_options())?)));
    of_tables(location, tables.collect::<Result<_>>()?, options, damage)
}

/// Tables that are already open, one after another.
pub(super) fn of_tables(
    location: &Location,
    tables: Vec<Arc<Table>>,
    options: &SessionOptions,
    damage: &DamageLog,
) -> Result<Arc<dyn TableProvider>> {
    let engines = tables.into_iter().map(|table| {
        let schema = match options.has_blanks() {
            true => Arc::new(columns_with_blanks(&table)),
            false => table.schema(),
        };
        XbaseEngine {
            schema: match options.marks_deleted() {
                true => with_marks(&schema),
                false => schema,
            },
            has_blanks: options.has_blanks(),
            recovers: options.recovers(),
            table,
            deleted: options.deleted_records(),
            positions: options.positions.clone(),
            damage: damage.clone(),
        }
    });
    Ok(Arc::new(EngineTable::new(location.to_string(), engines.collect())?))
}

/// The scan restricted to the records that an index finds for these values of a column; `None` for other scans, and without such an index.
pub(super) fn among(
    source: &Arc<dyn DataSource>,
    column: usize,
    values: &[ScalarValue],
) -> Option<Arc<dyn ExecutionPlan>> {
    source.downcast_ref::<EngineScan<XbaseEngine>>()?.among(column, values)
}

fn with_marks(schema: &Schema) -> SchemaRef {
    let mark = Field::new(DELETED_COLUMN, DataType::Boolean, false);
    let fields = schema.fields().iter().cloned().chain([Arc::new(mark)]);
    Arc::new(Schema::new_with_metadata(
        fields.collect::<Fields>(),
        schema.metadata().clone(),
    ))
}

pub(super) struct XbaseEngine {
    table: Arc<Table>,
    /// The table's fields, and the deletion marks if requested.
    schema: SchemaRef,
    /// Whether a blank date is a value.
    has_blanks: bool,
    recovers: bool,
    deleted: Deleted,
    /// Only these records are read.
    positions: Option<Range<u64>>,
    damage: DamageLog,
}

impl XbaseEngine {
    fn records(&self) -> Range<u64> {
        let count = u64::from(self.table.record_count());
        let wanted = self.positions.clone().unwrap_or(0..count);
        wanted.start.min(count)..wanted.end.min(count)
    }

    /// The index and the records that it leaves for these conditions, if they are few.
    fn narrowed(&self, conditions: &[Expr]) -> Option<(ProductionIndex, Bitmap)> {
        // During recovery, the index may be as damaged as the table.
        if conditions.is_empty() || self.recovers {
            return None;
        }
        let index = ProductionIndex::of(&self.table)?;
        let records = index.records(conditions)?;
        Some((index, records))
    }
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

    /// The header's count is exact only if deleted records are rows too: it does not count them separately.
    fn row_count(&self) -> Precision<usize> {
        let Range { start, end } = self.records();
        let records = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX);
        match self.deleted {
            Deleted::Include => Precision::Exact(records),
            _ => Precision::Inexact(records),
        }
    }

    /// The length of the record, and the mean length of its memos.
    fn row_bytes(&self) -> Option<u64> {
        let memos = self.table.memo().map_or(0, Memo::file_len);
        let records = u64::from(self.table.record_count()).max(1);
        Some(u64::from(self.table.header().record_len) + memos / records)
    }

    fn divisible(&self) -> bool {
        true
    }

    fn index(&self, conditions: &[Expr]) -> Option<String> {
        let (index, _) = self.narrowed(conditions)?;
        Some(index.path().file_name()?.to_string_lossy().into_owned())
    }

    fn scan(&self, request: Request) -> Result<Batches> {
        let (part, parts) = request.part;
        let Range { start, end } = self.records();
        let records = end.saturating_sub(start);
        let start_of = |part: usize| u32::try_from(start + records * part as u64 / parts as u64).unwrap_or(u32::MAX);
        let projected = Arc::new(self.schema.project(&request.projection)?);
        let mark = self.table.fields().len();
        let fields: Vec<usize> = request
            .projection
            .iter()
            .copied()
            .filter(|column| *column != mark)
            .collect();
        let place_of_mark = request.projection.iter().position(|column| *column == mark);
        let field_count = fields.len();
        let mut scan = Scan::default()
            .projection(fields)
            .system_columns(place_of_mark.is_some())
            .deleted(self.deleted)
            .records(start_of(part)..start_of(part + 1))
            .batch_rows(request.batch_rows);
        if let Some(limit) = request.limit {
            scan = scan.limit(limit);
        }
        if let Some((_, records)) = self.narrowed(&request.conditions) {
            scan = scan.within(Arc::new(records));
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
        let reading: Batches = match place_of_mark {
            // The record's number and its mark follow the fields.
            Some(place) => Box::new(reading.map(move |batch| {
                let mut columns: Vec<usize> = (0..field_count).collect();
                columns.insert(place, field_count + 1);
                Ok(batch?.project(&columns)?)
            })),
            None => Box::new(reading),
        };
        Ok(match self.has_blanks {
            true => Box::new(reading.map(move |batch| Ok(blanks::filled(&batch?, &projected)?))),
            false => reading,
        })
    }
}
