//! Records of any format as rows: as bytes, in one column `record`; as messages of a described type; or as `tensorflow.Example` and
//! `tensorflow.SequenceExample`, with a column for each feature.
//!
//! Riegeli files of messages and of typed rows have their own readers (`riegeli.rs`), which decode only the required parts of a chunk.

use std::fmt::Display;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use datafusion::common::stats::Precision;
use tidemill_riegeli::columns::MessageColumns;
use tidemill_riegeli::tensorflow_example::{ExampleDecoder, ExampleKind, ExampleSampler, ExampleSchema};
use tidemill_riegeli::{MessageSchema, ReaderOptions, RecordIndex, SharedSource};

use super::{Reading, without_first};
use crate::Result;
use crate::damage::DamageLog;
use crate::engine::{Batches, Engine, Filter, Request};
use crate::format::Format;
use crate::records::RecordsReader;

/// The kind of records.
#[derive(Clone)]
pub(super) enum RecordKind {
    Bytes,
    Message(MessageSchema),
    Example(ExampleSchema),
}

/// A record file.
#[derive(Clone)]
pub(super) struct RecordFile {
    pub(super) source: SharedSource,
    pub(super) path: String,
    /// Whether it is a local file.
    pub(super) is_local: bool,
    pub(super) format: Format,
    pub(super) reading: ReaderOptions,
    /// Only chunks at these offsets are read.
    pub(super) positions: Option<Range<u64>>,
    /// The positions of the records, unless only a scan can find them: for TFRecord, and during recovery, which skips damaged parts.
    pub(super) index: Option<Arc<RecordIndex>>,
    /// The mean length of the first records, for files without such an index.
    pub(super) first_length: Option<u64>,
}

pub(super) struct RecordEngine {
    pub(super) file: RecordFile,
    pub(super) kind: RecordKind,
    pub(super) damage: DamageLog,
}

impl RecordFile {
    fn open(&self) -> Result<RecordsReader> {
        self.open_with(&self.reading)
    }

    fn open_with(&self, reading: &ReaderOptions) -> Result<RecordsReader> {
        RecordsReader::open(SharedSource::clone(&self.source), &self.path, self.format, reading)
    }

    /// The number of rows of an unfiltered scan, if the records were counted.
    pub(super) fn rows(&self) -> Precision<usize> {
        self.index.as_ref().map_or(Precision::Absent, |index| {
            Precision::Exact(usize::try_from(index.len()).unwrap_or(usize::MAX))
        })
    }

    /// The approximate length of a record; `None` if unknown.
    pub(super) fn mean_length(&self) -> Option<u64> {
        let indexed = self.index.as_ref().and_then(|index| index.mean_length());
        indexed.or(self.first_length)
    }

    /// The mean length of the first records.
    ///
    /// # Errors
    ///
    /// [`Error::Riegeli`](crate::Error::Riegeli).
    pub(super) fn measure(&self) -> Result<u64> {
        const LOOKED_AT: u64 = 1 << 20;
        let mut reader = self.open()?;
        let (mut bytes, mut records) = (0, 0);
        while bytes < LOOKED_AT
            && let Some(record) = reader.read_record()?
        {
            bytes += record.len() as u64;
            records += 1;
        }
        Ok(bytes / records.max(1))
    }

    /// The options to read from the chunk of a row on, and how many rows of the chunk precede that row.
    pub(super) fn reading_from(&self, row: usize) -> (ReaderOptions, usize) {
        let number = u64::try_from(row).unwrap_or(u64::MAX);
        let position = self.index.as_ref().and_then(|index| index.position(number));
        match position.filter(|_| row > 0) {
            Some(position) => {
                let end = self.positions.as_ref().map_or(u64::MAX, |positions| positions.end);
                let before = usize::try_from(position.record_index).unwrap_or(usize::MAX);
                (self.reading.clone().chunks(position.chunk_begin..end), before)
            }
            // Without an index, for the first row, and beyond the last, the file is read from its beginning.
            None => (self.reading.clone(), row),
        }
    }
}

/// The columns of examples, from the first records of the files; `None` if there are no records.
///
/// # Errors
///
/// [`Error::Riegeli`](crate::Error::Riegeli) for records that are not examples.
pub(super) fn sample(kind: ExampleKind, files: &[RecordFile]) -> Result<Option<ExampleSchema>> {
    let mut sampler = ExampleSampler::new(kind);
    let each = (SAMPLE / files.len().max(1)).max(LEAST_OF_A_FILE);
    for file in files {
        let mut reader = file.open()?;
        let mut number = 0_usize;
        let mut bytes = 0;
        while number < each
            && bytes < SAMPLE_BYTES
            && let Some(record) = reader.read_record()?
        {
            sampler.add(record, format_args!("{}: record {number}", file.path))?;
            bytes += record.len();
            number += 1;
        }
    }
    Ok(match sampler.is_empty() {
        true => None,
        false => Some(sampler.finish()),
    })
}

/// The columns of examples, if the first records of the files are all examples; `None` otherwise.
pub(super) fn sample_unasked(files: &[RecordFile]) -> Option<ExampleSchema> {
    [ExampleKind::Example, ExampleKind::SequenceExample]
        .into_iter()
        .find_map(|kind| {
            // Reading errors are reported when the records are read as bytes.
            let found = sample(kind, files).ok().flatten()?;
            (!found.arrow_schema().fields().is_empty()).then_some(found)
        })
}

/// How many records of all files are sampled; of each file at least a few, and at most this many bytes.
const SAMPLE: usize = 1_000;
const LEAST_OF_A_FILE: usize = 10;
const SAMPLE_BYTES: usize = 16 << 20;

impl Engine for RecordEngine {
    fn scan_name(&self) -> &'static str {
        match self.file.format {
            Format::TfRecord => "TfRecordScan",
            _ => "RiegeliScan",
        }
    }

    fn file(&self) -> String {
        self.file.path.clone()
    }

    fn schema(&self) -> SchemaRef {
        match &self.kind {
            RecordKind::Bytes => Arc::new(Schema::new(vec![Field::new("record", DataType::Binary, false)])),
            RecordKind::Message(schema) => schema.arrow_schema(),
            RecordKind::Example(schema) => schema.arrow_schema(),
        }
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
        let (reading, before) = self.file.reading_from(request.offset);
        let wanted = request.projection.len();
        let mut columns = request.projection;
        columns.extend(request.filter.iter().flat_map(|filter| &filter.columns));
        let rows = Rows {
            decoder: Decoder::new(&self.kind, &columns)?,
            reader: self.file.open_with(&reading)?,
            path: self.file.path.clone(),
            number: 0,
            filter: request.filter.map(|filter| Filter {
                columns: (wanted..columns.len()).collect(),
                ..filter
            }),
            wanted,
            batch_rows: request.batch_rows,
            left: request.limit.map_or(usize::MAX, |limit| limit.saturating_add(before)),
            is_done: false,
        };
        let (path, damage) = (self.file.path.clone(), self.damage.clone());
        let say_damage = move |rows: &Rows| damage.add(&path, rows.reader.skipped());
        let batches = Box::new(Reading {
            batches: rows,
            say_damage,
        });
        Ok(without_first(before, batches))
    }
}

/// Decodes records to columns.
enum Decoder {
    /// Only counts them.
    Count(SchemaRef, usize),
    /// The bytes of each record.
    Bytes(BinaryBuilder, SchemaRef),
    Message {
        columns: MessageColumns,
        /// The records since the last batch, concatenated, and where each ends.
        bytes: Vec<u8>,
        ends: Vec<usize>,
    },
    Example(Box<ExampleDecoder>),
}

impl Decoder {
    fn new(kind: &RecordKind, columns: &[usize]) -> Result<Self> {
        Ok(match kind {
            _ if columns.is_empty() => Self::Count(Arc::new(Schema::empty()), 0),
            RecordKind::Bytes => {
                let field = Field::new("record", DataType::Binary, false);
                let schema = Schema::new(vec![field; columns.len()]);
                Self::Bytes(BinaryBuilder::new(), Arc::new(schema))
            }
            RecordKind::Message(schema) => Self::Message {
                columns: MessageColumns::new(schema, columns)?,
                bytes: Vec::new(),
                ends: Vec::new(),
            },
            RecordKind::Example(schema) => Self::Example(Box::new(ExampleDecoder::with_projection(schema, columns)?)),
        })
    }

    fn append(&mut self, record: &[u8], place: impl Display) -> Result<()> {
        match self {
            Self::Count(_, count) => *count += 1,
            Self::Bytes(records, _) => records.append_value(record),
            Self::Message { bytes, ends, .. } => {
                bytes.extend_from_slice(record);
                ends.push(bytes.len());
            }
            Self::Example(decoder) => decoder.append(record, place)?,
        }
        Ok(())
    }

    fn is_full(&self, batch_rows: usize) -> bool {
        // Limits batches of long records.
        const BYTES: usize = 8 << 20;
        match self {
            Self::Count(_, count) => *count >= batch_rows,
            Self::Bytes(records, _) => {
                let rows = arrow_array::builder::ArrayBuilder::len(records);
                rows >= batch_rows || records.values_slice().len() >= BYTES
            }
            Self::Message { bytes, ends, .. } => ends.len() >= batch_rows || bytes.len() >= BYTES,
            Self::Example(decoder) => decoder.len() >= batch_rows || decoder.is_full(),
        }
    }

    /// The rows since the last batch; `place` describes a record by its number in the batch.
    fn finish(&mut self, place: &dyn Fn(usize) -> String) -> Result<RecordBatch> {
        Ok(match self {
            Self::Count(schema, count) => {
                let options = RecordBatchOptions::new().with_row_count(Some(std::mem::take(count)));
                RecordBatch::try_new_with_options(Arc::clone(schema), Vec::new(), &options)?
            }
            Self::Bytes(records, schema) => {
                let column = Arc::new(records.finish()) as _;
                let columns = vec![column; schema.fields().len()];
                RecordBatch::try_new(Arc::clone(schema), columns)?
            }
            Self::Message { columns, bytes, ends } => {
                let mut begin = 0;
                let records = ends.iter().map(|&end| {
                    let record = bytes.get(begin..end).unwrap_or_default();
                    begin = end;
                    record
                });
                let batch = columns.batch(&records.collect::<Vec<_>>(), place)?;
                bytes.clear();
                ends.clear();
                batch
            }
            Self::Example(decoder) => decoder.finish()?,
        })
    }
}

/// The requested rows of a file.
struct Rows {
    reader: RecordsReader,
    path: String,
    /// How many records were read.
    number: usize,
    decoder: Decoder,
    /// Over the columns after the requested ones.
    filter: Option<Filter>,
    wanted: usize,
    batch_rows: usize,
    left: usize,
    is_done: bool,
}

impl Rows {
    fn read(&mut self) -> Result<ControlFlow<(), ()>> {
        let (path, number) = (&self.path, self.number);
        let Some(record) = self.reader.read_record()? else {
            return Ok(ControlFlow::Break(()));
        };
        self.decoder.append(record, format_args!("{path}: record {number}"))?;
        self.number += 1;
        Ok(ControlFlow::Continue(()))
    }

    fn batch(&mut self) -> Result<RecordBatch> {
        let first = self.number;
        // Without a filter, only the requested rows are read.
        let most = match self.filter {
            Some(_) => usize::MAX,
            None => self.left,
        };
        while !self.decoder.is_full(self.batch_rows) && self.number - first < most {
            if self.read()?.is_break() {
                self.is_done = true;
                break;
            }
        }
        let path = &self.path;
        let mut batch = self.decoder.finish(&|row| format!("{path}: record {}", first + row))?;
        if let Some(filter) = &mut self.filter {
            let chosen = (filter.predicate)(&batch.project(&filter.columns)?)?;
            let columns: Vec<usize> = (0..self.wanted).collect();
            batch = filter_record_batch(&batch, &chosen)?.project(&columns)?;
        }
        batch = batch.slice(0, batch.num_rows().min(self.left));
        self.left -= batch.num_rows();
        Ok(batch)
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done || self.left == 0 {
            return None;
        }
        let batch = self.batch();
        self.is_done |= batch.is_err();
        Some(batch)
    }
}
