//! Batches from the chunks of a file.

use std::{collections::BTreeSet, sync::Arc};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::{
    fill::{ChunkProblem, Columns, Problem},
    transposed::{ColumnSink, Stop},
};
use crate::{
    Chunk, ChunkType, Error, MessageSchema, RecordPosition, RecordReader, Result, RowError, SkippedRegion,
    chunk_decoder::{ChunkDecoder, check_memory},
    error::Damage,
    source::Source,
    transposed_chunk::TransposedDecoder,
};

/// Bytes of records that a batch takes before it is closed, however few rows that are.
const BATCH_BYTES: u64 = 64 << 20;

/// Reads a file of messages as record batches, in the order of the file. As an iterator it ends after an error.
pub struct ColumnReader<S> {
    reader: RecordReader<S>,
    decoder: Decoder,
    schema: SchemaRef,
    /// Which of the columns that are read come one after the other, `None` for all as they are.
    order: Option<Vec<usize>>,
    batch_rows: usize,
    /// How many rows are still wanted.
    left: usize,
    /// Bytes of the records that are in the columns.
    bytes: u64,
    /// Rows that were too many for a batch.
    rest: Option<RecordBatch>,
    /// What comes after the rows that were read before it.
    end: Option<Result<()>>,
}

impl<S: Source> ColumnReader<S> {
    /// Reads from the first chunk after the position of `reader`, whose field projection is not used: the columns are those
    /// of `schema`.
    pub fn new(reader: RecordReader<S>, schema: &MessageSchema) -> Self {
        Self {
            reader,
            decoder: Decoder {
                columns: Columns::new(schema),
                transposed: TransposedDecoder::default(),
                others: ChunkDecoder::default(),
            },
            schema: schema.arrow_schema(),
            order: None,
            batch_rows: 8_192,
            left: usize::MAX,
            bytes: 0,
            rest: None,
            end: None,
        }
    }

    /// As [`Self::new`], with some of the columns of `schema`, by their numbers and in this order; others are not decoded.
    ///
    /// # Errors
    /// [`Error::Arrow`] for columns that are not there.
    pub fn of_columns(reader: RecordReader<S>, schema: &MessageSchema, columns: &[usize]) -> Result<Self> {
        let projected = schema.arrow_schema().project(columns).map_err(Error::from)?;
        let wanted: BTreeSet<usize> = columns.iter().copied().collect();
        let place = |column: &usize| wanted.iter().position(|known| known == column);
        let order: Vec<usize> = columns.iter().filter_map(place).collect();
        let mut decoded = schema.clone();
        decoded.keep(|column| wanted.contains(&column));
        Ok(Self {
            schema: Arc::new(projected),
            order: Some(order),
            ..Self::new(reader, &decoded)
        })
    }

    /// Ends after this many rows, without reading chunks after them. Default: no limit.
    #[must_use]
    pub fn with_limit(mut self, rows: usize) -> Self {
        self.left = rows;
        self
    }

    /// Sets the largest number of rows in a batch, at least 1. Default: 8192.
    #[must_use]
    pub fn with_batch_rows(mut self, rows: usize) -> Self {
        self.batch_rows = rows.max(1);
        self
    }

    /// Returns the schema of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the regions that recovery left out so far; complete after the last batch.
    pub fn skipped(&self) -> &[SkippedRegion] {
        self.reader.skipped()
    }

    /// Returns the next batch, `None` at the end. Rows of the chunks before an error come before it; after it there are none.
    ///
    /// # Errors
    /// [`Error::Corrupt`] unless recovering; [`Error::Row`] for a record that is not a message, or has text that is not UTF-8;
    /// [`Error::Arrow`] when a column exceeds what its type can hold; [`Error::Unsupported`]; [`Error::Limit`]; [`Error::Io`].
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let wanted = self.batch_rows.min(self.left);
        if wanted == 0 {
            return Ok(None);
        }
        let batch = match self.rest.take() {
            Some(rest) => rest,
            None => {
                while self.end.is_none() && self.decoder.columns.rows() < wanted && self.bytes < BATCH_BYTES {
                    self.end = self.read_chunk().transpose();
                }
                if self.decoder.columns.rows() == 0 {
                    return match self.end.replace(Ok(())) {
                        Some(Err(error)) => Err(error),
                        _ => Ok(None),
                    };
                }
                self.bytes = 0;
                let batch = self.decoder.columns.finish();
                if batch.is_err() {
                    self.end = Some(Ok(()));
                }
                batch?
            }
        };
        let rows = batch.num_rows().min(wanted);
        if rows < batch.num_rows() {
            self.rest = Some(batch.slice(rows, batch.num_rows() - rows));
        }
        self.left -= rows;
        let batch = batch.slice(0, rows);
        match &self.order {
            Some(order) => Ok(Some(batch.project(order)?)),
            None => Ok(Some(batch)),
        }
    }

    /// Puts the next chunk into the columns. Returns `Some` at the end of the file.
    fn read_chunk(&mut self) -> Result<Option<()>> {
        let decoder = &mut self.decoder;
        let (mut begin, mut size) = (0, 0);
        let decoded = self.reader.next_chunk_by(|chunk, limit| {
            (begin, size) = (chunk.begin, chunk.header.decoded_data_size);
            decoder.decode(chunk, limit)
        })?;
        match decoded {
            None => {
                self.reader.check_end()?;
                Ok(Some(()))
            }
            Some(Ok(())) => {
                self.bytes = self.bytes.saturating_add(size);
                Ok(None)
            }
            Some(Err((record, (field, problem)))) => Err(Error::Row(Box::new(RowError {
                file: self.reader.file().clone(),
                position: RecordPosition::new(begin, record),
                column: field.map(|field| self.decoder.columns.plan.path(field)),
                problem,
            }))),
        }
    }
}

impl<S: Source> Iterator for ColumnReader<S> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}

struct Decoder {
    columns: Columns,
    transposed: TransposedDecoder,
    /// For chunks that are not transposed.
    others: ChunkDecoder,
}

/// A record of a chunk that is not a row, and why.
type BadRecord = (u64, Problem);

impl Decoder {
    /// Puts the records of a chunk into the columns, all of them or none.
    fn decode(&mut self, chunk: Chunk<'_>, limit: usize) -> Result<Result<(), BadRecord>, Damage> {
        check_memory(&chunk.header, limit)?;
        for check_texts in [false, true] {
            let rows = match self.put_records(&chunk, limit, check_texts)? {
                Ok(rows) => rows,
                Err(bad) => return Ok(Err(bad)),
            };
            match self.columns.end_chunk(rows) {
                Ok(()) => return Ok(Ok(())),
                // Texts are checked all together. Where that fails a second pass finds the record.
                Err(ChunkProblem::Text) => {}
                Err(ChunkProblem::Rows) => {
                    return Err(Damage::Invalid {
                        what: "records: fields before the first",
                    });
                }
            }
        }
        Err(Damage::Invalid { what: "text" })
    }

    fn put_records(
        &mut self,
        chunk: &Chunk<'_>,
        limit: usize,
        check_texts: bool,
    ) -> Result<Result<usize, BadRecord>, Damage> {
        let header = &chunk.header;
        self.columns.begin_chunk(check_texts);
        let rows = self.columns.check_rows(header.num_records, limit)?;
        // Rows are counted from the last.
        let bad = |row: usize, problem| (header.num_records.saturating_sub(row as u64 + 1), problem);
        if header.chunk_type == ChunkType::Transposed {
            let mut sink = ColumnSink::new(&mut self.columns);
            let (num_records, size) = (header.num_records, header.decoded_data_size);
            let flow = self
                .transposed
                .decode_fields(chunk.data, num_records, size, &mut sink, limit)?;
            return match sink.stopped() {
                Some(Stop::Row(row, problem)) => Ok(Err(bad(row, problem))),
                Some(Stop::States(what)) => Err(Damage::Invalid { what }),
                None if flow.is_break() => Err(Damage::Invalid { what: "states" }),
                None => Ok(Ok(rows)),
            };
        }
        self.others.decode(header, chunk.data, limit)?;
        if header.num_records > self.others.num_records() {
            return Err(Damage::UnknownChunkType {
                chunk_type: header.chunk_type,
                num_records: header.num_records,
            });
        }
        let records = self.others.records(chunk.data);
        for (row, record) in (0..records.len()).rev().enumerate() {
            if let Err(problem) = self.columns.put_record(row, records.get(record)) {
                return Ok(Err(bad(row, problem)));
            }
        }
        Ok(Ok(rows))
    }
}
