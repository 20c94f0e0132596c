//! TFRecord files: tables of one binary column, `record`.

use std::io::BufReader;
use std::sync::Arc;

use arrow_array::builder::{ArrayBuilder, BinaryBuilder};
use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::stats::Precision;
use tidemill_riegeli::ReaderOptions;
use tidemill_riegeli::tfrecord::TfRecordReader;
use tidemill_riegeli::{SharedSource, SourceReader};

use crate::Result;
use crate::damage::DamageLog;
use crate::engine::{Batches, Engine, EngineTable, Request};
use crate::location::Location;
use crate::stores::Reading;

pub(super) async fn open(
    location: &Location,
    reading: &ReaderOptions,
    damage: &DamageLog,
) -> Result<Arc<dyn TableProvider>> {
    let mut engines = Vec::new();
    for (part, source) in location.sources().await? {
        let Some(source) = source else { continue };
        engines.push(TfRecordEngine {
            source,
            path: part.to_string(),
            reading: reading.clone(),
            damage: damage.clone(),
        });
    }
    Ok(Arc::new(EngineTable::new(location.to_string(), engines)?))
}

struct TfRecordEngine {
    source: SharedSource,
    path: String,
    reading: ReaderOptions,
    damage: DamageLog,
}

impl Engine for TfRecordEngine {
    fn scan_name(&self) -> &'static str {
        "TfRecordScan"
    }

    fn file(&self) -> String {
        self.path.clone()
    }

    fn schema(&self) -> SchemaRef {
        Arc::new(Schema::new(vec![Field::new("record", DataType::Binary, false)]))
    }

    fn row_count(&self) -> Precision<usize> {
        Precision::Absent
    }

    fn divisible(&self) -> bool {
        false
    }

    fn scan(&self, request: Request) -> Result<Batches> {
        let reader = TfRecordReader::from_source(SharedSource::clone(&self.source), &self.path)?;
        let batches = Rows {
            reader: reader
                .recover(self.reading.recovers())
                .max_expansion(self.reading.expansion()),
            schema: self.schema(),
            left: request.limit.unwrap_or(usize::MAX),
            done: false,
            request,
        };
        let (path, damage) = (self.path.clone(), self.damage.clone());
        let say_damage = move |rows: &Rows| damage.add(&path, rows.reader.skipped());
        Ok(Box::new(Reading { batches, say_damage }))
    }
}

struct Rows {
    reader: TfRecordReader<BufReader<SourceReader<SharedSource>>>,
    schema: SchemaRef,
    request: Request,
    left: usize,
    done: bool,
}

impl Rows {
    fn batch(&mut self) -> Result<RecordBatch> {
        // So that a batch of long records stays small.
        const BYTES: usize = 8 << 20;
        let mut records = BinaryBuilder::new();
        while records.len() < self.request.batch_rows && records.values_slice().len() < BYTES {
            match self.reader.read_record()? {
                Some(record) => records.append_value(record),
                None => {
                    self.done = true;
                    break;
                }
            }
        }
        let mut batch = RecordBatch::try_new(Arc::clone(&self.schema), vec![Arc::new(records.finish())])?;
        if let Some(filter) = &mut self.request.filter {
            let chosen = (filter.predicate)(&batch.project(&filter.columns)?)?;
            batch = arrow_select::filter::filter_record_batch(&batch, &chosen)?;
        }
        batch = batch.slice(0, batch.num_rows().min(self.left));
        self.left -= batch.num_rows();
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let columns = self
            .request
            .projection
            .iter()
            .map(|&column| Arc::clone(batch.column(column)));
        let schema = Arc::new(self.schema.project(&self.request.projection)?);
        Ok(RecordBatch::try_new_with_options(schema, columns.collect(), &options)?)
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done || self.left == 0 {
            return None;
        }
        let batch = self.batch();
        self.done |= batch.is_err();
        Some(batch)
    }
}
