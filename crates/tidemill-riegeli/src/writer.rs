//! Writing records.

use std::{
    fs::{File, OpenOptions},
    io::{BufWriter, Seek, SeekFrom, Write},
    path::Path,
};

use crate::{
    Error, RecordPosition, Result, WriterOptions,
    chunk_encoder::ChunkEncoder,
    chunk_header::{ChunkType, MAX_NUM_RECORDS},
    chunk_writer::ChunkWriter,
    error::{Damage, FileName},
    transposed_chunk,
};

/// What a record counts in a chunk on top of its bytes: decoders keep a 64-bit position for each.
const RECORD_OVERHEAD: u64 = 8;

/// Writes records to a file in simple chunks.
///
/// A chunk is written when it reaches the wanted size, by [`flush`](Self::flush) and by [`close`](Self::close). Dropping a
/// writer leaves the records of the open chunk out.
///
/// ```
/// use tidemill_riegeli::{RecordReader, RecordWriter, WriterOptions};
///
/// let mut writer = RecordWriter::new(Vec::new(), "zstd:3".parse::<WriterOptions>()?)?;
/// writer.write_record(b"first")?;
/// writer.write_record(b"second")?;
/// let file = writer.close()?;
///
/// let mut reader = RecordReader::from_bytes(&file)?;
/// assert_eq!(reader.read_record()?, Some(&b"first"[..]));
/// assert_eq!(reader.read_record()?, Some(&b"second"[..]));
/// assert_eq!(reader.read_record()?, None);
/// # Ok::<(), tidemill_riegeli::Error>(())
/// ```
pub struct RecordWriter<W> {
    chunks: ChunkWriter<W>,
    file: FileName,
    encoder: ChunkEncoder,
    /// What [`RecordWriter::write_record_with`] appends to.
    record: Vec<u8>,
    chunk_size: u64,
    chunk_size_so_far: u64,
    final_padding: u64,
    last_pos: Option<RecordPosition>,
}

impl RecordWriter<BufWriter<File>> {
    /// Creates the file, or empties it.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn create(path: impl AsRef<Path>, options: WriterOptions) -> Result<Self> {
        let path = path.as_ref();
        let file = FileName::new(path);
        let dest = File::create(path).map_err(|source| Error::Io {
            file: file.clone(),
            action: "create the file",
            source,
        })?;
        Self::start(BufWriter::with_capacity(256 << 10, dest), 0, file, options)
    }

    /// Opens the file to write behind what it holds, or creates it. What it holds is not looked at: a file that was cut
    /// off inside a chunk must be repaired first. Metadata are written to an empty file only.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn append(path: impl AsRef<Path>, options: WriterOptions) -> Result<Self> {
        let path = path.as_ref();
        let file = FileName::new(path);
        let io = |source| Error::Io {
            file: file.clone(),
            action: "open the file for appending",
            source,
        };
        let mut dest = OpenOptions::new().create(true).append(true).open(path).map_err(io)?;
        let pos = dest.seek(SeekFrom::End(0)).map_err(io)?;
        Self::start(BufWriter::with_capacity(256 << 10, dest), pos, file.clone(), options)
    }
}

impl<W: Write> RecordWriter<W> {
    /// Writes a file to `dest`, from its first byte. Chunks are written in pieces of up to 64 KiB; small ones gain from a
    /// buffered `dest`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn new(dest: W, options: WriterOptions) -> Result<Self> {
        Self::start(dest, 0, FileName::default(), options)
    }

    /// Writes to `dest`, whose next byte is at `pos` of a file.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn new_at(dest: W, pos: u64, options: WriterOptions) -> Result<Self> {
        Self::start(dest, pos, FileName::default(), options)
    }

    fn start(dest: W, pos: u64, file: FileName, options: WriterOptions) -> Result<Self> {
        let chunks = ChunkWriter::new(dest, pos).map_err(|source| io_error(&file, source))?;
        let chunk_size = options.effective_chunk_size().min(MAX_NUM_RECORDS);
        let mut writer = Self {
            chunks,
            file,
            encoder: ChunkEncoder::new(&options),
            record: Vec::new(),
            chunk_size,
            chunk_size_so_far: 0,
            final_padding: options.final_padding,
            last_pos: None,
        };
        if pos == 0 {
            writer.write_chunk(ChunkType::FileSignature, &[], 0)?;
            if let Some(metadata) = &options.metadata {
                let data = transposed_chunk::encode_record(metadata, options.compression)
                    .map_err(|damage| writer.encoding_error(damage))?;
                writer.write_chunk(ChunkType::FileMetadata, &data, metadata.len() as u64)?;
            }
        } else {
            let padding = options.initial_padding;
            writer
                .chunks
                .write_padding(padding)
                .map_err(|source| io_error(&writer.file, source))?;
        }
        Ok(writer)
    }

    /// Writes a record.
    ///
    /// # Errors
    /// [`Error::Io`] when a chunk is full and cannot be written.
    pub fn write_record(&mut self, record: &[u8]) -> Result<()> {
        self.make_room(record.len())?;
        self.last_pos = Some(self.pos());
        self.encoder.add_record(record);
        self.count_record(record.len())
    }

    /// Writes a record that consists of `parts`, without joining them first.
    ///
    /// # Errors
    /// As [`Self::write_record`].
    pub fn write_record_parts(&mut self, parts: &[&[u8]]) -> Result<()> {
        let size = parts.iter().map(|part| part.len()).sum();
        self.make_room(size)?;
        self.last_pos = Some(self.pos());
        self.encoder.add_record_parts(parts);
        self.count_record(size)
    }

    /// Writes the record that `append` appends to an empty buffer, which is kept from record to record.
    ///
    /// # Errors
    /// As [`Self::write_record`].
    pub fn write_record_with(&mut self, append: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        let mut record = std::mem::take(&mut self.record);
        record.clear();
        append(&mut record);
        let result = self.write_record(&record);
        self.record = record;
        result
    }

    /// Returns the position of the record that was written last.
    pub fn last_pos(&self) -> Option<RecordPosition> {
        self.last_pos
    }

    /// Returns where the next record will be, as long as it fits the open chunk.
    pub fn pos(&self) -> RecordPosition {
        RecordPosition::new(self.chunks.pos(), self.encoder.num_records())
    }

    /// Returns what is written to. Bytes may be missing that belong to the open chunk.
    pub fn dest(&self) -> &W {
        self.chunks.dest()
    }

    /// Writes the open chunk and the final padding, and flushes what is written to.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn flush(&mut self) -> Result<()> {
        self.finish_chunks()?;
        self.chunks.flush().map_err(|source| io_error(&self.file, source))
    }

    /// Writes the open chunk and the final padding, flushes, and returns what was written to.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn close(mut self) -> Result<W> {
        self.flush()?;
        Ok(self.chunks.into_dest())
    }

    fn finish_chunks(&mut self) -> Result<()> {
        if self.encoder.num_records() > 0 {
            self.write_open_chunk()?;
        }
        self.chunks
            .write_padding(self.final_padding)
            .map_err(|source| io_error(&self.file, source))
    }

    /// Writes the open chunk if a record of `size` bytes does not fit it.
    fn make_room(&mut self, size: usize) -> Result<()> {
        let added = (size as u64).saturating_add(RECORD_OVERHEAD);
        if self.chunk_size_so_far > 0 && self.chunk_size_so_far.saturating_add(added) > self.chunk_size {
            self.write_open_chunk()?;
        }
        Ok(())
    }

    /// Counts a record that was added, and writes the chunk if no other one can fit it.
    fn count_record(&mut self, size: usize) -> Result<()> {
        self.chunk_size_so_far += size as u64 + RECORD_OVERHEAD;
        if self.chunk_size_so_far.saturating_add(RECORD_OVERHEAD) > self.chunk_size {
            self.write_open_chunk()?;
        }
        Ok(())
    }

    fn write_open_chunk(&mut self) -> Result<()> {
        let file = &self.file;
        let chunk_begin = self.chunks.pos();
        self.encoder
            .encode()
            .map_err(|damage| damage.at(file, chunk_begin, chunk_begin))?;
        let chunk = self.encoder.encoded();
        self.chunks
            .write_chunk(
                chunk.chunk_type,
                &chunk.parts,
                chunk.num_records,
                chunk.decoded_data_size,
            )
            .map_err(|source| io_error(file, source))?;
        self.encoder.clear();
        self.chunk_size_so_far = 0;
        Ok(())
    }

    fn write_chunk(&mut self, chunk_type: ChunkType, data: &[u8], decoded_data_size: u64) -> Result<()> {
        self.chunks
            .write_chunk(chunk_type, &[data], 0, decoded_data_size)
            .map_err(|source| io_error(&self.file, source))
    }

    fn encoding_error(&self, damage: Damage) -> Error {
        damage.at(&self.file, self.chunks.pos(), self.chunks.pos())
    }
}

fn io_error(file: &FileName, source: std::io::Error) -> Error {
    Error::Io {
        file: file.clone(),
        action: "write the file",
        source,
    }
}
