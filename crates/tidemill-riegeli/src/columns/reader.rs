//! Batches from the chunks of a file.

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};

use super::{
    fill::{Columns, Problem},
    transposed::{ColumnSink, Stop},
};
use crate::{
    Chunk, ChunkType, Error, MessageSchema, RecordPosition, RecordReader, Result, RowError, SkippedRegion,
    chunk_decoder::ChunkDecoder, error::Damage, source::Source, transposed_chunk::TransposedDecoder,
};

/// Reads a file of messages as record batches: one for each chunk that has records, in the order of the file.
///
/// The rows of a batch are the records of its chunk in their order. As an iterator it ends after an error.
pub struct ColumnReader<S> {
    reader: RecordReader<S>,
    decoder: Decoder,
    done: bool,
}

impl<S: Source> ColumnReader<S> {
    /// Reads from the first chunk behind the position of `reader`, whose field projection is not used: the columns are those
    /// of `schema`.
    pub fn new(reader: RecordReader<S>, schema: &MessageSchema) -> Self {
        Self {
            reader,
            decoder: Decoder {
                columns: Columns::new(schema),
                transposed: TransposedDecoder::default(),
                others: ChunkDecoder::default(),
            },
            done: false,
        }
    }

    /// Returns the schema of the batches.
    pub fn schema(&self) -> &SchemaRef {
        self.decoder.columns.schema()
    }

    /// Returns the regions that recovery left out so far; complete after the last batch.
    pub fn skipped(&self) -> &[SkippedRegion] {
        self.reader.skipped()
    }

    /// Returns the next batch, `None` at the end.
    ///
    /// # Errors
    /// [`Error::Corrupt`] unless recovering; [`Error::Row`] for a record that is not a message, or has text that is not UTF-8;
    /// [`Error::Arrow`] when a column exceeds what its type can hold; [`Error::Unsupported`]; [`Error::Limit`]; [`Error::Io`].
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let decoder = &mut self.decoder;
            let mut begin = 0;
            let decoded = self.reader.next_chunk_by(|chunk, limit| {
                begin = chunk.begin;
                decoder.decode(chunk, limit)
            })?;
            match decoded {
                None => {
                    self.reader.check_end()?;
                    return Ok(None);
                }
                Some(Decoded::Nothing) => {}
                Some(Decoded::Batch(batch)) => return Ok(Some(batch)),
                Some(Decoded::Row(record, (field, problem))) => {
                    return Err(Error::Row(Box::new(RowError {
                        file: self.reader.file().clone(),
                        position: RecordPosition::new(begin, record),
                        column: field.map(|field| self.decoder.columns.plan.path(field)),
                        problem,
                    })));
                }
                Some(Decoded::Arrow(error)) => return Err(error.into()),
            }
        }
    }
}

impl<S: Source> Iterator for ColumnReader<S> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let batch = self.next_batch().transpose();
        self.done = !matches!(batch, Some(Ok(_)));
        batch
    }
}

struct Decoder {
    columns: Columns,
    transposed: TransposedDecoder,
    /// For chunks that are not transposed.
    others: ChunkDecoder,
}

/// What a chunk gave.
enum Decoded {
    /// It has no records.
    Nothing,
    Batch(RecordBatch),
    /// The record that is not a row, and why.
    Row(u64, Problem),
    Arrow(ArrowError),
}

impl Decoder {
    fn decode(&mut self, chunk: Chunk<'_>, limit: usize) -> Result<Decoded, Damage> {
        let decoded = self.decode_checking(&chunk, limit, false)?;
        // Texts are checked by the column. Where one is not UTF-8 a second pass finds its record.
        match decoded {
            Decoded::Arrow(_) => match self.decode_checking(&chunk, limit, true)? {
                Decoded::Row(record, problem) => Ok(Decoded::Row(record, problem)),
                _ => Ok(decoded),
            },
            _ => Ok(decoded),
        }
    }

    fn decode_checking(&mut self, chunk: &Chunk<'_>, limit: usize, check_texts: bool) -> Result<Decoded, Damage> {
        let header = &chunk.header;
        self.columns.clear(check_texts);
        let last = header.num_records.saturating_sub(1);
        let problem = |row: usize, problem| Decoded::Row(last.saturating_sub(row as u64), problem);
        let rows = if header.chunk_type == ChunkType::Transposed {
            let rows = self.columns.check_rows(header.num_records, limit)?;
            let mut sink = ColumnSink::new(&mut self.columns);
            let (num_records, size) = (header.num_records, header.decoded_data_size);
            let flow = self
                .transposed
                .decode_fields(chunk.data, num_records, size, &mut sink, limit)?;
            match sink.stopped() {
                Some(Stop::Row(row, cause)) => return Ok(problem(row, cause)),
                Some(Stop::States(what)) => return Err(Damage::Invalid { what }),
                None if flow.is_break() => return Err(Damage::Invalid { what: "states" }),
                None => rows,
            }
        } else {
            self.others.decode(header, chunk.data, limit)?;
            if header.num_records > self.others.num_records() {
                return Err(Damage::UnknownChunkType {
                    chunk_type: header.chunk_type,
                    num_records: header.num_records,
                });
            }
            let rows = self.columns.check_rows(header.num_records, limit)?;
            let records = self.others.records(chunk.data);
            for (row, record) in (0..records.len()).rev().enumerate() {
                if let Err(cause) = self.columns.put_record(row, records.get(record)) {
                    return Ok(problem(row, cause));
                }
            }
            rows
        };
        if rows == 0 {
            return Ok(Decoded::Nothing);
        }
        match self.columns.finish(rows) {
            Ok(Some(batch)) => Ok(Decoded::Batch(batch)),
            Ok(None) => Err(Damage::Invalid {
                what: "records: fields before the first",
            }),
            Err(error) => Ok(Decoded::Arrow(error)),
        }
    }
}
