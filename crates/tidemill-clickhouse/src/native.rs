//! Files of `FORMAT Native`: a sequence of blocks and nothing else.
//!
//! They are what `INTO OUTFILE 'rows.native'` of `clickhouse-client` writes and `FROM INFILE` reads; any server can read
//! them. Each block has all columns with their names and types.
//!
//! Source: `Processors/Formats/Impl/NativeFormat.cpp` of ClickHouse.
//!
//! Compressed files are the business of the caller's reader.

use std::io::{Read, Write};

use arrow_array::RecordBatch;

use crate::{
    Block, BlockDecoder, BlockEncoder, Calendar, DataType, Error, Result, Revision,
    block::KnownColumns,
    column::run,
    source::{BlockingSource, ReadSource},
};

/// Reads the blocks of a file.
///
/// An iterator over blocks; it ends with the file, or after the first error.
#[derive(Debug)]
pub struct NativeReader<S> {
    source: S,
    decoder: BlockDecoder,
    known: KnownColumns,
    ended: bool,
}

impl<R: Read + Send> NativeReader<ReadSource<R>> {
    /// Reads from `reader`, which need not be buffered.
    pub fn new(reader: R) -> Self {
        Self::from_source(ReadSource::new(reader))
    }
}

impl<S: BlockingSource> NativeReader<S> {
    /// Reads from `source`, such as [`BufferSource`](crate::source::BufferSource) for a file in memory.
    pub fn from_source(source: S) -> Self {
        Self {
            source,
            decoder: BlockDecoder::default(),
            known: KnownColumns::default(),
            ended: false,
        }
    }

    /// Decodes as `decoder` does.
    #[must_use]
    pub fn with_decoder(mut self, decoder: BlockDecoder) -> Self {
        self.decoder = decoder;
        self
    }
}

impl<S: BlockingSource> Iterator for NativeReader<S> {
    type Item = Result<Block>;

    fn next(&mut self) -> Option<Result<Block>> {
        if self.ended {
            return None;
        }
        let next = self
            .decoder
            .decode_next_with(&mut self.source, Revision::FILE, &mut self.known);
        let next = run(next).transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

/// Writes blocks to a file.
#[derive(Debug)]
pub struct NativeWriter<W> {
    writer: W,
    encoder: BlockEncoder,
    bytes: Vec<u8>,
    /// Rows that were written.
    rows: u64,
}

impl<W: Write> NativeWriter<W> {
    /// Writes to `writer`, one call for each block.
    ///
    /// A file does not say for which version it is, and may be read by any. So dates and instants are refused that not every
    /// server since 22.8 shows as they are, [`Calendar::UNTIL_2299`]; [`NativeWriter::with_encoder`] takes others.
    pub fn new(writer: W) -> Self {
        Self {
            writer,
            encoder: BlockEncoder {
                calendar: Calendar::UNTIL_2299,
                ..BlockEncoder::default()
            },
            bytes: Vec::new(),
            rows: 0,
        }
    }

    /// Encodes as `encoder` does: with its [`calendar`](BlockEncoder::calendar). The other choices are nothing that files have.
    #[must_use]
    pub fn with_encoder(mut self, encoder: BlockEncoder) -> Self {
        self.encoder = encoder;
        self
    }

    /// Writes a block.
    ///
    /// # Errors
    ///
    /// Those of [`BlockEncoder::encode`], after which nothing of the block is written, and [`Error::Io`].
    pub fn write(&mut self, block: &Block) -> Result<()> {
        self.bytes.clear();
        let encoded = self.encoder.encode(block, Revision::FILE, &mut self.bytes);
        encoded.map_err(|error| error.behind_rows(self.rows))?;
        self.flush_block(block.rows())
    }

    /// Writes a block of the columns of `batch` as `types`, one for each.
    ///
    /// # Errors
    ///
    /// Those of [`BlockEncoder::encode_batch`], after which nothing of the block is written, and [`Error::Io`].
    pub fn write_batch(&mut self, batch: &RecordBatch, types: &[DataType]) -> Result<()> {
        self.bytes.clear();
        let encoded = self.encoder.encode_batch(batch, types, Revision::FILE, &mut self.bytes);
        encoded.map_err(|error| error.behind_rows(self.rows))?;
        self.flush_block(batch.num_rows())
    }

    /// Returns the writer, which has all blocks.
    pub fn into_inner(self) -> W {
        self.writer
    }

    fn flush_block(&mut self, rows: usize) -> Result<()> {
        self.rows += rows as u64;
        self.writer.write_all(&self.bytes).map_err(|source| Error::Io {
            action: "write blocks",
            source,
        })
    }
}
