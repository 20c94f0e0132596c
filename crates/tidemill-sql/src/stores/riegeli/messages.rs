//! Messages of a described type: a column for each field, decoded without putting the messages together. In transposed chunks
//! only the buckets of the columns that are asked for are decompressed.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;
use datafusion::common::stats::Precision;
use tidemill_riegeli::columns::ColumnReader;
use tidemill_riegeli::{Field, FieldProjection, MessageSchema, ReaderOptions, RecordReader, SharedSource};

use crate::Result;
use crate::damage::DamageLog;
use crate::engine::{Batches, Engine, Filter, Request};
use crate::stores::Reading;

pub(super) struct MessageEngine {
    pub(super) source: SharedSource,
    pub(super) path: String,
    pub(super) options: ReaderOptions,
    pub(super) schema: MessageSchema,
    pub(super) rows: Precision<usize>,
    pub(super) damage: DamageLog,
}

impl Engine for MessageEngine {
    fn scan_name(&self) -> &'static str {
        "RiegeliScan"
    }

    fn file(&self) -> String {
        self.path.clone()
    }

    fn schema(&self) -> SchemaRef {
        self.schema.arrow_schema()
    }

    fn row_count(&self) -> Precision<usize> {
        self.rows
    }

    fn divisible(&self) -> bool {
        false
    }

    fn scan(&self, request: Request) -> Result<Batches> {
        let mut wanted: BTreeSet<usize> = request.projection.iter().copied().collect();
        wanted.extend(request.filter.iter().flat_map(|filter| &filter.columns));
        let mut projection = FieldProjection::new();
        for &column in &wanted {
            if let Some(field) = self.schema.fields().get(column) {
                projection = projection.add_field(Field::from([field.number]));
            }
        }
        let position = |column: &usize| wanted.iter().position(|known| known == column);
        let reader = RecordReader::from_source(SharedSource::clone(&self.source), &self.path, &self.options)?;
        let rows = Rows {
            batches: ColumnReader::new(reader, &self.schema.project(&projection)),
            projection: request.projection.iter().filter_map(position).collect(),
            filter: request.filter.map(|filter| Filter {
                columns: filter.columns.iter().filter_map(position).collect(),
                ..filter
            }),
            left: request.limit.unwrap_or(usize::MAX),
            batch_rows: request.batch_rows.max(1),
            chunk: None,
        };
        let (path, damage) = (self.path.clone(), self.damage.clone());
        let say_damage = move |rows: &Rows| damage.add(&path, rows.batches.skipped());
        Ok(Box::new(Reading {
            batches: rows,
            say_damage,
        }))
    }
}

/// The rows of the chunks, as many at a time as are wanted.
struct Rows {
    batches: ColumnReader<SharedSource>,
    /// By columns of the batches, as `filter` is.
    projection: Vec<usize>,
    filter: Option<Filter>,
    left: usize,
    batch_rows: usize,
    /// What is left of the current chunk.
    chunk: Option<RecordBatch>,
}

impl Rows {
    fn chosen(&mut self, chunk: RecordBatch) -> Result<RecordBatch> {
        let rows = match &mut self.filter {
            Some(filter) => {
                let chosen = (filter.predicate)(&chunk.project(&filter.columns)?)?;
                filter_record_batch(&chunk, &chosen)?
            }
            None => chunk,
        };
        let schema = Arc::new(rows.schema().project(&self.projection)?);
        let columns = self.projection.iter().map(|&column| Arc::clone(rows.column(column)));
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        Ok(RecordBatch::try_new_with_options(schema, columns.collect(), &options)?)
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.left > 0 {
            if let Some(chunk) = self.chunk.take() {
                let length = chunk.num_rows().min(self.batch_rows).min(self.left);
                if length < chunk.num_rows() {
                    self.chunk = Some(chunk.slice(length, chunk.num_rows() - length));
                }
                self.left -= length;
                return Some(Ok(chunk.slice(0, length)));
            }
            let chosen = match self.batches.next()? {
                Ok(chunk) => self.chosen(chunk),
                Err(error) => Err(error.into()),
            };
            match chosen {
                Ok(rows) if rows.num_rows() > 0 => self.chunk = Some(rows),
                Ok(_) => {}
                Err(error) => {
                    self.left = 0;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}
