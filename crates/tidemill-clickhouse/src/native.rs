//! Files of `FORMAT Native`: blocks, one behind the other, without anything before, between or behind them.
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
    Block, BlockDecoder, BlockEncoder, DataType, Error, Result, Revision,
    block::KnownColumns,
    column::run,
    source::{BlockingSource, ReadSource},
};

/// Reads the blocks of a file.
///
/// An iterator over blocks; it ends with the file, or behind the first error.
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
}

impl<W: Write> NativeWriter<W> {
    /// Writes to `writer`, one call for each block.
    pub fn new(writer: W) -> Self {
        Self {
            writer,
            encoder: BlockEncoder::default(),
            bytes: Vec::new(),
        }
    }

    /// Writes a block.
    ///
    /// # Errors
    ///
    /// Those of [`BlockEncoder::encode`], after which nothing of the block is written, and [`Error::Io`].
    pub fn write(&mut self, block: &Block) -> Result<()> {
        self.bytes.clear();
        self.encoder.encode(block, Revision::FILE, &mut self.bytes)?;
        self.flush_block()
    }

    /// Writes a block of the columns of `batch` as `types`, one for each.
    ///
    /// # Errors
    ///
    /// Those of [`BlockEncoder::encode_batch`], after which nothing of the block is written, and [`Error::Io`].
    pub fn write_batch(&mut self, batch: &RecordBatch, types: &[DataType]) -> Result<()> {
        self.bytes.clear();
        self.encoder
            .encode_batch(batch, types, Revision::FILE, &mut self.bytes)?;
        self.flush_block()
    }

    /// Returns the writer, which has all blocks.
    pub fn into_inner(self) -> W {
        self.writer
    }

    fn flush_block(&mut self) -> Result<()> {
        self.writer.write_all(&self.bytes).map_err(|source| Error::Io {
            action: "write blocks",
            source,
        })
    }
}
