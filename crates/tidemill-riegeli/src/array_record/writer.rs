//! Writing ArrayRecord files.
//!
//! Source: google/array_record, `cpp/array_record_writer.cc` and `cpp/sequenced_chunk_writer.cc`.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
};

use prost::Message;

use super::{
    ArrayRecordWriterOptions,
    footer::{
        ArrayRecordFooter, ArrayRecordMetadata, MAGIC, POSTSCRIPT_COPIES, RiegeliFooterMetadata, RiegeliPostscript,
        VERSION,
    },
};
use crate::{
    Compression, Error, FileName, Result,
    block_header::BLOCK_SIZE,
    chunk_encoder::Encoder,
    chunk_header::{ChunkHeader, ChunkType},
    chunk_reader::create_file,
    chunk_writer::ChunkWriter,
    encoding_pool::{ChunkInWork, EncodingPool},
    error::Damage,
    ordered_pool::NoThread,
    transposed_chunk,
};

/// Bytes that are collected before a file gets them.
const FILE_BUFFER: usize = 256 << 10;

/// Writes records to an ArrayRecord file.
///
/// Only [`close`](Self::close) makes a file that can be read: the index is at its end. After an error every further call
/// fails.
pub struct ArrayRecordWriter<W> {
    chunks: ChunkWriter<W>,
    file: FileName,
    options: ArrayRecordWriterOptions,
    /// The records of the open chunk, which the threads encode if there are any.
    open: ChunkInWork,
    encoder: Encoder,
    pool: Option<EncodingPool>,
    footers: Vec<ArrayRecordFooter>,
    num_records: u64,
    /// What the first failure was, when there was one.
    failed: Option<(io::ErrorKind, String)>,
}

impl ArrayRecordWriter<BufWriter<File>> {
    /// Creates the file, or empties it.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn create(path: impl AsRef<Path>, options: ArrayRecordWriterOptions) -> Result<Self> {
        let file = FileName::new(path.as_ref());
        let dest = create_file(path.as_ref(), &file)?;
        Self::start(BufWriter::with_capacity(FILE_BUFFER, dest), file, options)
    }
}

impl<W: Write> ArrayRecordWriter<W> {
    /// Writes a file to `dest`, from its first byte. Small chunks gain from a buffered `dest`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn new(dest: W, options: ArrayRecordWriterOptions) -> Result<Self> {
        Self::start(dest, FileName::default(), options)
    }

    fn start(dest: W, file: FileName, options: ArrayRecordWriterOptions) -> Result<Self> {
        let chunks = ChunkWriter::at(dest, 0).map_err(|source| write_error(&file, source))?;
        let threads = options.max_parallelism.unwrap_or(1);
        // The hash of uncompressed records takes less than waking a thread up.
        let pays = threads > 1 && (options.transpose || options.compression != Compression::None);
        let pool = pays.then(|| {
            let options = options.clone();
            EncodingPool::new(usize::try_from(threads).unwrap_or(usize::MAX), move || {
                encoder(&options)
            })
        });
        let mut writer = Self {
            chunks,
            file,
            open: ChunkInWork::default(),
            encoder: encoder(&options),
            pool,
            footers: Vec::new(),
            num_records: 0,
            failed: None,
            options,
        };
        writer.write_chunk(ChunkType::FileSignature, &[], 0)?;
        if let Some(metadata) = writer.options.metadata.take() {
            let data = transposed_chunk::encode_record(&metadata, writer.options.compression)
                .map_err(|damage| writer.encoding_error(&damage))?;
            writer.write_chunk(ChunkType::FileMetadata, &data, metadata.len() as u64)?;
            if writer.options.pad_to_block_boundary {
                writer.pad()?;
            }
        }
        Ok(writer)
    }

    /// Writes a record, and returns its number.
    ///
    /// # Errors
    /// [`Error::Io`] when a chunk is full and cannot be written.
    pub fn write_record(&mut self, record: &[u8]) -> Result<u64> {
        self.check()?;
        let number = self.num_records;
        self.num_records += 1;
        let in_chunk = match &self.pool {
            None => {
                self.encoder.add_record(record);
                self.encoder.num_records()
            }
            Some(_) => {
                self.open.add_record_parts(&[record]);
                self.open.num_records()
            }
        };
        if in_chunk >= u64::from(self.options.group_size) {
            self.close_chunk()?;
        }
        Ok(number)
    }

    /// Returns the number of records that were written.
    pub fn num_records(&self) -> u64 {
        self.num_records
    }

    /// Writes the open chunk, the footer and the postscript, flushes, and returns what was written to.
    ///
    /// # Errors
    /// [`Error::Io`], also for what failed before.
    pub fn close(mut self) -> Result<W> {
        self.check()?;
        if self.encoder.num_records() > 0 || self.open.num_records() > 0 {
            self.close_chunk()?;
        }
        if let Some(pool) = &mut self.pool {
            pool.submit().map_err(|NoThread| self.no_thread())?;
            self.write_finished(true)?;
        }
        let footer_offset = self.chunks.pos();
        self.write_footer()?;
        self.pad()?;
        let postscript = RiegeliPostscript {
            footer_offset: Some(footer_offset),
            magic: Some(MAGIC),
        };
        let mut encoder = Encoder::simple(Compression::None);
        for _ in 0..POSTSCRIPT_COPIES {
            encoder.add_record(&postscript.encode_to_vec());
        }
        self.write_encoded(&mut encoder)?;
        self.pad()?;
        self.chunks.flush().map_err(|source| self.fail(source))?;
        self.encoder.into_spare();
        Ok(self.chunks.into_dest())
    }

    fn write_footer(&mut self) -> Result<()> {
        let metadata = RiegeliFooterMetadata {
            array_record_metadata: Some(ArrayRecordMetadata {
                version: Some(VERSION),
                num_chunks: Some(self.footers.len() as u64),
                num_records: Some(self.num_records),
                writer_options: Some(self.options.to_string()),
            }),
        };
        let mut encoder = Encoder::simple(self.options.compression);
        encoder.add_record(&metadata.encode_to_vec());
        for footer in &self.footers {
            encoder.add_record(&footer.encode_to_vec());
        }
        self.write_encoded(&mut encoder)
    }

    /// Writes the open chunk, or gives it to the encoding threads.
    fn close_chunk(&mut self) -> Result<()> {
        if let Some(pool) = &mut self.pool {
            pool.push(&mut self.open).map_err(|NoThread| self.no_thread())?;
            return self.write_finished(false);
        }
        let begin = self.chunks.pos();
        let (size, count) = (self.encoder.decoded_data_size(), self.encoder.num_records());
        let encoded = self.encoder.encode();
        encoded.map_err(|damage| self.encoding_error(&damage))?;
        let chunk = self.encoder.encoded();
        let written = self.chunks.write_parts(chunk.chunk_type, &chunk.parts, count, size);
        self.encoder.clear();
        written.map_err(|source| self.fail(source))?;
        self.note_chunk(begin, size, count)
    }

    /// Writes the chunks that the threads have encoded, as long as they come in order; `all` waits for all of them.
    fn write_finished(&mut self, all: bool) -> Result<()> {
        while let Some(pool) = &mut self.pool {
            let batch = pool.finished(all).map_err(|NoThread| self.no_thread())?;
            let Some(batch) = batch else { break };
            for chunk in batch {
                let begin = self.chunks.pos();
                let encoded = chunk.encoded().map_err(|damage| self.encoding_error(&damage))?;
                if let Some((header, parts)) = encoded {
                    let ChunkHeader {
                        num_records,
                        decoded_data_size,
                        ..
                    } = *header;
                    let written = self.chunks.write_hashed_chunk(header, &parts);
                    written.map_err(|source| self.fail(source))?;
                    self.note_chunk(begin, decoded_data_size, num_records)?;
                }
                if let Some(pool) = &mut self.pool {
                    pool.recycle(chunk);
                }
            }
        }
        Ok(())
    }

    fn note_chunk(&mut self, begin: u64, decoded_data_size: u64, num_records: u64) -> Result<()> {
        self.footers.push(ArrayRecordFooter {
            chunk_offset: Some(begin),
            decoded_data_size: Some(decoded_data_size),
            num_records: Some(num_records),
        });
        match self.options.pad_to_block_boundary {
            true => self.pad(),
            false => Ok(()),
        }
    }

    fn write_encoded(&mut self, encoder: &mut Encoder) -> Result<()> {
        encoder.encode().map_err(|damage| self.encoding_error(&damage))?;
        let chunk = encoder.encoded();
        let written = self.chunks.write_encoded_chunk(&chunk);
        written.map_err(|source| self.fail(source))
    }

    fn write_chunk(&mut self, chunk_type: ChunkType, data: &[u8], decoded_data_size: u64) -> Result<()> {
        let written = self.chunks.write_parts(chunk_type, &[data], 0, decoded_data_size);
        written.map_err(|source| self.fail(source))
    }

    fn pad(&mut self) -> Result<()> {
        let written = self.chunks.write_padding(BLOCK_SIZE);
        written.map_err(|source| self.fail(source))
    }

    /// Fails when something failed before.
    fn check(&self) -> Result<()> {
        match &self.failed {
            None => Ok(()),
            Some((kind, why)) => Err(write_error(
                &self.file,
                io::Error::new(*kind, format!("a call before this one failed: {why}")),
            )),
        }
    }

    #[cold]
    fn fail(&mut self, source: io::Error) -> Error {
        self.failed = Some((source.kind(), source.to_string()));
        write_error(&self.file, source)
    }

    #[cold]
    fn no_thread(&mut self) -> Error {
        self.fail(io::Error::other("an encoding thread ended or did not start"))
    }

    #[cold]
    fn encoding_error(&mut self, damage: &Damage) -> Error {
        self.failed = Some((io::ErrorKind::Other, damage.to_string()));
        damage.clone().at(&self.file, self.chunks.pos(), self.chunks.pos())
    }
}

fn encoder(options: &ArrayRecordWriterOptions) -> Encoder {
    match options.transpose {
        true => Encoder::transposed(options.compression, options.transpose_bucket_size),
        false => Encoder::simple(options.compression),
    }
}

fn write_error(file: &FileName, source: io::Error) -> Error {
    Error::Io {
        file: file.clone(),
        action: "write the file",
        source,
    }
}
