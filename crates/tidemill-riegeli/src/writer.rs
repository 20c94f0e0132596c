//! Writing records.
//!
//! Records are collected by a chunk encoder and written when a chunk is full. With parallelism they are collected as they
//! are, and a pool of threads has the encoders.
//!
//! Behaviours follow google/riegeli, `riegeli/records/record_writer.{h,cc}`, except for the end of files that are appended
//! to: see [`RecordWriter::append`].

mod append;
mod open;
mod position;

use std::{
    fs::{File, OpenOptions},
    io::{self, BufWriter, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

pub use self::position::FutureRecordPosition;
use self::{
    append::{End, find_end},
    open::{Open, Threads},
    position::ChunkBegin,
};
use crate::{
    ChunkReader, Durable, Error, FileSource, FlushType, ReaderOptions, RecordPosition, Result, WriterOptions,
    block_header::BLOCK_SIZE,
    chunk_header::{ChunkType, MAX_NUM_RECORDS},
    chunk_reader::create_file,
    chunk_writer::ChunkWriter,
    encoding_pool::ChunkInWork,
    error::{Damage, FileName},
    ordered_pool::NoThread,
    transposed_chunk,
};

/// What a record counts in a chunk on top of its bytes: decoders keep a 64-bit position for each.
const RECORD_OVERHEAD: u64 = 8;
/// Bytes that are collected before a file gets them.
const FILE_BUFFER: usize = 256 << 10;

/// Writes records to a file.
///
/// A chunk is written when it reaches the wanted size, by [`flush`](Self::flush) and by [`close`](Self::close). Dropping a
/// writer leaves out the records of chunks that were not written yet. After an error every further call fails, since what was
/// written of a chunk cannot be taken back.
///
/// A writer begins with the encoder of the last one that its thread closed, if that made chunks of the same kind and has at most 8 MiB.
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
    options: WriterOptions,
    /// What collects the records of the open chunk.
    open: Open,
    /// Where the open chunk will begin.
    open_chunk: ChunkBegin,
    /// What [`RecordWriter::write_record_with`] appends to.
    record: Vec<u8>,
    chunk_size: u64,
    /// 0 in an empty chunk, and after an error.
    chunk_size_so_far: u64,
    /// The number of the last record in its chunk, and its chunk when that is not open any more.
    last_index: Option<u64>,
    last_chunk: Option<ChunkBegin>,
    sync: Option<fn(&mut W) -> io::Result<()>>,
    /// A directory that must be made durable with the file.
    directory: Option<PathBuf>,
    /// What the first failure was, when there was one.
    failed: Option<(io::ErrorKind, String)>,
}

impl RecordWriter<BufWriter<File>> {
    /// Creates the file, or empties it.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn create(path: impl AsRef<Path>, options: WriterOptions) -> Result<Self> {
        let path = path.as_ref();
        let file = FileName::new(path);
        let dest = create_file(path, &file)?;
        let mut writer = Self::start(BufWriter::with_capacity(FILE_BUFFER, dest), 0, file, options)?;
        writer.sync = Some(Durable::sync);
        writer.directory = parent_directory(path);
        Ok(writer)
    }

    /// Opens the file to write after what it holds, or creates it. Metadata are written to an empty file only.
    ///
    /// The end of the file is looked at first. A chunk that the file ends inside of is cut off: it was never read back, and no
    /// [`flush`](Self::flush) had returned since it was begun, so nothing is lost that was acknowledged. When the end of the
    /// file cannot be understood, nothing is cut off (but from a file of zeros, as a crash may leave a new one), and writing goes
    /// on at the next multiple of 64 KiB, so that a reader that recovers finds what is appended.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the file does not begin as a Riegeli/records file does; [`Error::Io`].
    pub fn append(path: impl AsRef<Path>, mut options: WriterOptions) -> Result<Self> {
        let path = path.as_ref();
        let file = FileName::new(path);
        let io = |source| Error::Io {
            file: file.clone(),
            action: "open the file for appending",
            source,
        };
        let mut open = OpenOptions::new();
        let mut dest = open
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(io)?;
        let source = FileSource::new(dest.try_clone().map_err(io)?);
        let limit = ReaderOptions::new().max_chunk_size;
        match find_end(&mut ChunkReader::named(source, file.clone(), limit)?)? {
            End::Whole => {}
            End::Torn(end) => dest.set_len(end).map_err(io)?,
            End::Damaged => options.initial_padding = BLOCK_SIZE,
        }
        let pos = dest.seek(SeekFrom::End(0)).map_err(io)?;
        let mut writer = Self::start(BufWriter::with_capacity(FILE_BUFFER, dest), pos, file.clone(), options)?;
        writer.sync = Some(Durable::sync);
        writer.directory = parent_directory(path).filter(|_| pos == 0);
        Ok(writer)
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

    /// Writes to `dest`, whose next byte is at `pos` of a file. What is before is not looked at.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn new_at(dest: W, pos: u64, options: WriterOptions) -> Result<Self> {
        Self::start(dest, pos, FileName::default(), options)
    }

    /// Writes to `dest`, whose next byte is at `pos` of a file, and can flush from the machine.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn new_durable(dest: W, pos: u64, options: WriterOptions) -> Result<Self>
    where
        W: Durable,
    {
        let mut writer = Self::start(dest, pos, FileName::default(), options)?;
        writer.sync = Some(Durable::sync);
        Ok(writer)
    }

    fn start(dest: W, pos: u64, file: FileName, options: WriterOptions) -> Result<Self> {
        let chunks = ChunkWriter::at(dest, pos).map_err(|source| write_error(&file, source))?;
        let chunk_size = options.effective_chunk_size().min(MAX_NUM_RECORDS * RECORD_OVERHEAD);
        let mut writer = Self {
            open_chunk: ChunkBegin::Known(chunks.pos()),
            chunks,
            file,
            open: Open::new(&options),
            record: Vec::new(),
            chunk_size,
            chunk_size_so_far: 0,
            last_index: None,
            last_chunk: None,
            sync: None,
            directory: None,
            failed: None,
            options,
        };
        if pos == 0 {
            writer.write_chunk(ChunkType::FileSignature, &[], 0)?;
            if let Some(metadata) = writer.options.metadata.take() {
                let data = transposed_chunk::encode_record(&metadata, writer.options.compression)
                    .map_err(|damage| writer.encoding_error(damage))?;
                writer.write_chunk(ChunkType::FileMetadata, &data, metadata.len() as u64)?;
            }
        } else {
            writer.pad(writer.options.initial_padding)?;
        }
        writer.open_chunk = ChunkBegin::Known(writer.chunks.pos());
        Ok(writer)
    }

    /// Writes a record.
    ///
    /// # Errors
    /// [`Error::Io`] when a chunk is full and cannot be written; with parallelism also for a chunk before.
    #[inline]
    pub fn write_record(&mut self, record: &[u8]) -> Result<()> {
        let size = chunk_size_with(self.chunk_size_so_far, record.len());
        if self.chunk_size_so_far == 0 || self.is_full(size) {
            return self.write_first_or_last_record(record);
        }
        self.last_index = Some(self.open.num_records());
        self.open.add_record(record);
        self.chunk_size_so_far = size;
        Ok(())
    }

    /// Writes a record that may be the first of its chunk, or the last.
    #[inline(never)]
    fn write_first_or_last_record(&mut self, record: &[u8]) -> Result<()> {
        self.make_room(record.len())?;
        if self.chunk_size_so_far == 0 && self.is_full(chunk_size_with(0, record.len())) && self.write_alone(record)? {
            return Ok(());
        }
        self.open.add_record(record);
        self.count_record(record.len())
    }

    /// Writes a record that consists of `parts`. Each is copied straight into the chunk; only for transposed chunks they are joined
    /// first.
    ///
    /// # Errors
    /// As [`Self::write_record`].
    pub fn write_record_parts(&mut self, parts: &[&[u8]]) -> Result<()> {
        let size = parts.iter().map(|part| part.len()).sum();
        self.make_room(size)?;
        self.open.add_record_parts(parts);
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

    /// Returns the position of the record that was written last, `None` before the first one. With parallelism it may not be
    /// known yet, which is `None` as well: see [`future_last_pos`](Self::future_last_pos).
    pub fn last_pos(&self) -> Option<RecordPosition> {
        let chunk = self.last_chunk.as_ref().unwrap_or(&self.open_chunk);
        Some(RecordPosition::new(chunk.get()?, self.last_index?))
    }

    /// Returns the position of the record that was written last, which may become known later; `None` before the first one.
    pub fn future_last_pos(&self) -> Option<FutureRecordPosition> {
        Some(FutureRecordPosition {
            chunk_begin: self.last_chunk.as_ref().unwrap_or(&self.open_chunk).clone(),
            record_index: self.last_index?,
        })
    }

    /// Returns where the next record will be, as long as it fits the open chunk. With parallelism that may not be known yet,
    /// which is `None`: see [`future_pos`](Self::future_pos).
    pub fn pos(&self) -> Option<RecordPosition> {
        Some(RecordPosition::new(self.open_chunk.get()?, self.open.num_records()))
    }

    /// Returns where the next record will be, as long as it fits the open chunk, which may become known later.
    pub fn future_pos(&self) -> FutureRecordPosition {
        FutureRecordPosition {
            chunk_begin: self.open_chunk.clone(),
            record_index: self.open.num_records(),
        }
    }

    /// Waits for the chunks in work and writes them, without ending the open one. Then [`pos`](Self::pos) and
    /// [`last_pos`](Self::last_pos) are known.
    ///
    /// # Errors
    /// As [`Self::write_record`].
    pub fn write_chunks_in_work(&mut self) -> Result<()> {
        self.check()?;
        if let Some(threads) = self.open.elsewhere() {
            let submitted = threads.pool.submit();
            submitted.map_err(|NoThread| self.no_thread())?;
            self.write_finished(true)?;
        }
        Ok(())
    }

    /// Returns the size of the file without the chunks that were not written yet: those in work, and the open one.
    pub fn estimated_size(&self) -> u64 {
        self.chunks.pos()
    }

    /// Returns what is written to. Bytes may be missing that belong to chunks that were not written yet.
    pub fn dest(&self) -> &W {
        self.chunks.dest()
    }

    /// Ends the open chunk, writes what is in work and the final padding, and gets everything as far as `flush_type` says.
    /// Often done, it makes files larger.
    ///
    /// A file that [`create`](RecordWriter::create) made gets its directory entry with the first flush from the machine.
    ///
    /// # Errors
    /// [`Error::Io`]; of kind `Unsupported`, and before anything is written, for [`FlushType::FromMachine`] when the
    /// destination is not known to be [`Durable`].
    pub fn flush(&mut self, flush_type: FlushType) -> Result<()> {
        self.check()?;
        if flush_type == FlushType::FromMachine && self.sync.is_none() {
            return Err(Error::Io {
                file: self.file.clone(),
                action: "flush from the machine what is not a file",
                source: io::ErrorKind::Unsupported.into(),
            });
        }
        self.finish_chunks()?;
        let flushed = match (flush_type, self.sync) {
            (FlushType::FromObject, _) => Ok(()),
            (FlushType::FromMachine, Some(sync)) => sync(self.chunks.dest_mut()).and_then(|()| self.sync_directory()),
            (FlushType::FromProcess | FlushType::FromMachine, _) => self.chunks.flush(),
        };
        flushed.map_err(|source| self.fail(source))
    }

    /// Ends the open chunk, writes what is in work and the final padding, flushes from the process, and returns what was
    /// written to.
    ///
    /// # Errors
    /// [`Error::Io`], also for what failed before.
    pub fn close(mut self) -> Result<W> {
        self.flush(FlushType::FromProcess)?;
        self.open.encoder.into_spare();
        Ok(self.chunks.into_dest())
    }

    fn finish_chunks(&mut self) -> Result<()> {
        if self.open.num_records() > 0 {
            self.close_chunk()?;
        }
        self.write_chunks_in_work()?;
        self.pad(self.options.final_padding)?;
        self.open_chunk = ChunkBegin::Known(self.chunks.pos());
        Ok(())
    }

    /// Ends the open chunk if a record of `size` bytes does not fit it.
    #[inline]
    fn make_room(&mut self, size: usize) -> Result<()> {
        self.check()?;
        if self.chunk_size_so_far > 0 && chunk_size_with(self.chunk_size_so_far, size) > self.chunk_size {
            self.close_chunk()?;
        }
        self.last_index = Some(self.open.num_records());
        self.last_chunk = None;
        Ok(())
    }

    /// Counts a record that was added, and ends the chunk if no other one can fit it.
    #[inline]
    fn count_record(&mut self, size: usize) -> Result<()> {
        self.chunk_size_so_far = chunk_size_with(self.chunk_size_so_far, size);
        if self.is_full(self.chunk_size_so_far) {
            self.close_chunk()?;
        }
        Ok(())
    }

    /// Returns whether no other record fits a chunk of `size`, not even an empty one.
    #[inline]
    fn is_full(&self, size: u64) -> bool {
        chunk_size_with(size, 0) > self.chunk_size
    }

    /// Writes a chunk that consists of one record, without copying the record first. Returns whether that is possible, which it
    /// is where records are stored as they are.
    fn write_alone(&mut self, record: &[u8]) -> Result<bool> {
        if self.open.elsewhere().is_some() {
            return Ok(false);
        }
        let Some(chunk) = self.open.encoder.encode_alone(record) else {
            return Ok(false);
        };
        let written = self.chunks.write_encoded_chunk(&chunk);
        written.map_err(|source| self.fail(source))?;
        let next = ChunkBegin::Known(self.chunks.pos());
        self.last_chunk = Some(std::mem::replace(&mut self.open_chunk, next));
        Ok(true)
    }

    /// Writes the open chunk, or gives it to the encoding threads, and opens another one.
    fn close_chunk(&mut self) -> Result<()> {
        let begin = self.open_chunk.clone();
        if self.last_index.is_some() && self.last_chunk.is_none() {
            self.last_chunk = Some(begin.clone());
        }
        self.chunk_size_so_far = 0;
        match self.open.elsewhere() {
            None => self.write_open_chunk()?,
            Some(threads) => {
                threads.in_work.push_back(begin);
                let pushed = threads.pool.push(&mut threads.chunk);
                pushed.map_err(|NoThread| self.no_thread())?;
                self.write_finished(false)?;
                if self.open.elsewhere().is_some_and(|threads| !threads.pay) {
                    self.write_chunks_in_work()?;
                    self.open.set_elsewhere(false);
                }
            }
        }
        self.open_chunk = match self.open.has_chunks_in_work() {
            true => ChunkBegin::later(),
            false => ChunkBegin::Known(self.chunks.pos()),
        };
        Ok(())
    }

    fn write_open_chunk(&mut self) -> Result<()> {
        let encoder = &mut self.open.encoder;
        let encoded = encoder.encode();
        let written = encoded.map(|()| self.chunks.write_encoded_chunk(&encoder.encoded()));
        let pays_threads = encoder.pays_threads();
        encoder.clear();
        self.open.set_elsewhere(pays_threads);
        written
            .map_err(|damage| self.encoding_error(damage))?
            .map_err(|source| self.fail(source))
    }

    /// Writes the chunks that the threads have encoded, as long as they come in order; `all` waits for all of them.
    fn write_finished(&mut self, all: bool) -> Result<()> {
        while let Some(threads) = self.open.elsewhere() {
            let Threads { pool, in_work, pay, .. } = threads;
            let batch = match pool.finished(all) {
                Ok(Some(batch)) => batch,
                Ok(None) => break,
                Err(NoThread) => return Err(self.no_thread()),
            };
            *pay = batch.iter().any(ChunkInWork::paid);
            for chunk in batch {
                if let Some(begin) = in_work.pop_front() {
                    begin.set(self.chunks.pos());
                }
                let written = match chunk.encoded() {
                    Ok(Some((header, parts))) => self.chunks.write_hashed_chunk(header, &parts),
                    Ok(None) => Ok(()),
                    Err(damage) => return Err(self.encoding_error(damage)),
                };
                if let Err(source) = written {
                    return Err(self.fail(source));
                }
                pool.recycle(chunk);
            }
            if in_work.is_empty() {
                self.open_chunk.set(self.chunks.pos());
            }
        }
        Ok(())
    }

    fn write_chunk(&mut self, chunk_type: ChunkType, data: &[u8], decoded_data_size: u64) -> Result<()> {
        let written = self.chunks.write_parts(chunk_type, &[data], 0, decoded_data_size);
        written.map_err(|source| self.fail(source))
    }

    fn pad(&mut self, padding: u64) -> Result<()> {
        let written = self.chunks.write_padding(padding);
        written.map_err(|source| self.fail(source))
    }

    /// Makes the directory entry of a new file durable.
    fn sync_directory(&mut self) -> io::Result<()> {
        if let Some(directory) = &self.directory {
            #[cfg(unix)]
            File::open(directory)?.sync_all()?;
            #[cfg(not(unix))]
            let _not_needed = directory;
            self.directory = None;
        }
        Ok(())
    }

    /// Fails when something failed before.
    #[inline]
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
        self.chunk_size_so_far = 0;
        write_error(&self.file, source)
    }

    #[cold]
    fn no_thread(&mut self) -> Error {
        self.fail(io::Error::other("an encoding thread ended or did not start"))
    }

    #[cold]
    fn encoding_error(&mut self, damage: Damage) -> Error {
        self.failed = Some((io::ErrorKind::Other, damage.to_string()));
        self.chunk_size_so_far = 0;
        damage.at(&self.file, self.chunks.pos(), self.chunks.pos())
    }
}

/// Returns what a chunk of `size` counts when a record is added.
#[inline]
fn chunk_size_with(size: u64, record: usize) -> u64 {
    size.saturating_add(record as u64).saturating_add(RECORD_OVERHEAD)
}

/// Returns the directory that has the file.
fn parent_directory(path: &Path) -> Option<PathBuf> {
    path.parent().map(|parent| match parent.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => parent.to_owned(),
    })
}

fn write_error(file: &FileName, source: io::Error) -> Error {
    Error::Io {
        file: file.clone(),
        action: "write the file",
        source,
    }
}
