//! Messages of a described type: a column for each field, decoded without assembling the messages. In transposed chunks, only the buckets
//! of the required columns are decompressed.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;
use datafusion::common::stats::Precision;
use tidemill_riegeli::columns::ColumnReader;
use tidemill_riegeli::{MessageSchema, RecordReader, SharedSource};

use crate::Result;
use crate::damage::DamageLog;
use crate::engine::{Batches, Engine, Filter, Request};
use crate::stores::records::RecordFile;
use crate::stores::{Reading, without_first};

pub(super) struct MessageEngine {
    pub(super) file: RecordFile,
    pub(super) schema: MessageSchema,
    pub(super) damage: DamageLog,
}

impl Engine for MessageEngine {
    fn scan_name(&self) -> &'static str {
        "RiegeliScan"
    }

    fn file(&self) -> String {
        self.file.path.clone()
    }

    fn schema(&self) -> SchemaRef {
        self.schema.arrow_schema()
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

    fn reads_members(&self) -> bool {
        true
    }

    fn skips(&self) -> bool {
        self.file.index.is_some()
    }

    fn scan(&self, request: Request) -> Result<Batches> {
        let members = request.members.iter();
        let schema = members.fold(self.schema.clone(), |schema, (column, paths)| {
            schema.with_members(*column, paths)
        });
        let (options, before) = self.file.reading_from(request.offset);
        let reader = RecordReader::from_source(SharedSource::clone(&self.file.source), &self.file.path, &options)?;
        let limit = request.limit.map_or(usize::MAX, |limit| limit.saturating_add(before));
        let mut columns = request.projection;
        let behind = columns.len();
        columns.extend(request.filter.iter().flat_map(|filter| &filter.columns));
        let batches = ColumnReader::of_columns(reader, &schema, &columns)?.with_batch_rows(request.batch_rows);
        let batches = Rows {
            batches: match request.filter {
                None => batches.with_limit(limit),
                Some(_) => batches,
            },
            filter: request.filter.map(|filter| Filter {
                columns: (behind..columns.len()).collect(),
                ..filter
            }),
            left: limit,
        };
        let (path, damage) = (self.file.path.clone(), self.damage.clone());
        let say_damage = move |rows: &Rows| damage.add(&path, rows.batches.skipped());
        Ok(without_first(before, Box::new(Reading { batches, say_damage })))
    }
}

/// The requested rows of the file.
struct Rows {
    /// With the columns of the filter after the requested ones.
    batches: ColumnReader<SharedSource>,
    filter: Option<Filter>,
    left: usize,
}

impl Rows {
    fn chosen(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        let Some(filter) = &mut self.filter else {
            return Ok(batch);
        };
        let chosen = (filter.predicate)(&batch.project(&filter.columns)?)?;
        let columns: Vec<usize> = (0..batch.num_columns() - filter.columns.len()).collect();
        let rows = filter_record_batch(&batch, &chosen)?.project(&columns)?;
        let rows = rows.slice(0, rows.num_rows().min(self.left));
        self.left -= rows.num_rows();
        Ok(rows)
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.left > 0 {
            let chosen = match self.batches.next()? {
                Ok(batch) => self.chosen(batch),
                Err(error) => Err(error.into()),
            };
            match chosen {
                Ok(rows) if rows.num_rows() == 0 => {}
                Ok(rows) => return Some(Ok(rows)),
                Err(error) => {
                    self.left = 0;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}
