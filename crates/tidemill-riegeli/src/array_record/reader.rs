//! Reading ArrayRecord files.
//!
//! Source: google/array_record, `cpp/array_record_reader.cc`. The index is kept in memory: 16 bytes a chunk.

use std::{ops::Range, path::Path, sync::Arc};

use super::footer::Index;
use crate::{
    BytesSource, ChunkReader, Error, FileName, FileSource, ReaderOptions, RecordPosition, RecordReader,
    RecordsMetadata, Result, Source,
    chunk_decoder::ChunkDecoder,
    chunk_reader::open_file,
    error::{ArrayRecordProblem, Damage},
    record_values::RecordSlices,
};

/// Reads records by their numbers, lending each as a slice of the decoded chunk.
///
/// Going to a record reads its chunk and nothing else. The chunk that was decoded last is kept: its other records take no
/// reading. Readers for several threads are made by [`share`](Self::share), which does not read the index again.
pub struct ArrayRecordReader<S> {
    chunks: ChunkReader<S>,
    options: ReaderOptions,
    index: Arc<Index>,
    decoder: ChunkDecoder,
    /// The number of the chunk that is decoded.
    decoded: Option<usize>,
    /// The number of the record that is read next.
    next: u64,
}

impl ArrayRecordReader<FileSource> {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// [`Error::ArrayRecord`] when it has no sound index; [`Error::Corrupt`] when that is in a damaged chunk;
    /// [`Error::Limit`]; [`Error::Io`].
    pub fn open(path: impl AsRef<Path>, options: &ReaderOptions) -> Result<Self> {
        let name = FileName::new(path.as_ref());
        let file = open_file(path.as_ref(), &name)?;
        Self::named(FileSource::new(file), name, options)
    }
}

impl<B: AsRef<[u8]>> ArrayRecordReader<BytesSource<B>> {
    /// Reads a file that is in memory, with default options.
    ///
    /// # Errors
    /// As [`ArrayRecordReader::open`].
    pub fn from_bytes(bytes: B) -> Result<Self> {
        Self::new(BytesSource(bytes), &ReaderOptions::new())
    }
}

impl<S: Source> ArrayRecordReader<S> {
    /// Reads `source`, which must have random access. Of the options, the limit and the field projection matter.
    ///
    /// # Errors
    /// As [`ArrayRecordReader::open`]; [`Error::Io`] for a stream.
    pub fn new(source: S, options: &ReaderOptions) -> Result<Self> {
        Self::named(source, FileName::default(), options)
    }

    /// Reads `source`, as [`Self::new`] does; errors call it `name`. For the number of records, and where each is, the postscript and the
    /// footer are read and nothing else.
    ///
    /// ```
    /// use tidemill_riegeli::{
    ///     BytesSource, ReaderOptions,
    ///     array_record::{ArrayRecordReader, ArrayRecordWriter},
    /// };
    ///
    /// let mut writer = ArrayRecordWriter::new(Vec::new(), "group_size:10".parse()?)?;
    /// for number in 0..25 {
    ///     writer.write_record(&[number])?;
    /// }
    /// let source = BytesSource(writer.close()?);
    /// let reader = ArrayRecordReader::from_source(source, "numbers.array_record", &ReaderOptions::new())?;
    /// assert_eq!(reader.len(), 25);
    /// // The fourth record of the third chunk.
    /// let position = reader.position(23).expect("a record");
    /// assert_eq!(Some(position.chunk_begin), reader.chunk(2).map(|(begin, _)| begin));
    /// assert_eq!(position.record_index, 3);
    /// # Ok::<(), tidemill_riegeli::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn from_source(source: S, name: &str, options: &ReaderOptions) -> Result<Self> {
        Self::named(source, FileName::new(Path::new(name)), options)
    }

    fn named(source: S, file: FileName, options: &ReaderOptions) -> Result<Self> {
        let mut chunks = ChunkReader::named(source, file, options.max_chunk_size)?;
        if !chunks.supports_random_access() {
            return Err(Error::Io {
                file: chunks.file().clone(),
                action: "find the index of a stream",
                source: std::io::ErrorKind::Unsupported.into(),
            });
        }
        let index = Index::read(&mut chunks, options).map_err(|error| {
            // Another file may say more about itself than that it has no index.
            match (&error, chunks.seek(0).and_then(|()| chunks.peek_header())) {
                (Error::ArrayRecord { .. }, Err(foreign @ Error::Corrupt(_))) if foreign.is_foreign_file() => foreign,
                _ => error,
            }
        })?;
        let index = Arc::new(index);
        Ok(Self::with_index(chunks, index, options))
    }

    fn with_index(chunks: ChunkReader<S>, index: Arc<Index>, options: &ReaderOptions) -> Self {
        let mut decoder = ChunkDecoder::default();
        decoder.set_projection(&options.field_projection);
        Self {
            chunks,
            options: options.clone(),
            index,
            decoder,
            decoded: None,
            next: 0,
        }
    }

    /// Returns another reader of the same file, which begins at the first record.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn share(&self) -> Result<Self>
    where
        S: Clone,
    {
        let source = self.chunks.source().clone();
        let chunks = ChunkReader::named(source, self.chunks.file().clone(), self.options.max_chunk_size)?;
        Ok(Self::with_index(chunks, Arc::clone(&self.index), &self.options))
    }

    /// Returns the number of records.
    pub fn len(&self) -> u64 {
        self.index.num_records()
    }

    /// Returns whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of chunks of records.
    pub fn num_chunks(&self) -> usize {
        self.index.chunk_offsets.len()
    }

    /// Returns where the chunk of this number begins in the file, and the numbers of its records; `None` after the last.
    pub fn chunk(&self, number: usize) -> Option<(u64, Range<u64>)> {
        let begin = *self.index.chunk_offsets.get(number)?;
        Some((begin, self.index.begin(number)?..*self.index.ends.get(number)?))
    }

    /// Returns where the record of this number is in the file, for a [`RecordReader`]; `None` after the last.
    pub fn position(&self, number: u64) -> Option<RecordPosition> {
        let (chunk, index) = self.index.find(number)?;
        Some(RecordPosition::new(*self.index.chunk_offsets.get(chunk)?, index))
    }

    /// Returns how many records a chunk has, `None` when chunks differ in that, apart from the last one.
    pub fn group_size(&self) -> Option<u64> {
        self.index.group_size
    }

    /// Returns where the footer begins: the end of the records.
    pub fn footer_offset(&self) -> u64 {
        self.index.footer_offset
    }

    /// Returns the options that the file was written with, if its writer noted them.
    pub fn writer_options(&self) -> Option<&str> {
        self.index.writer_options.as_deref()
    }

    /// Returns the metadata of the file, empty if there are none.
    ///
    /// # Errors
    /// As [`RecordReader::records_metadata`].
    pub fn records_metadata(&self) -> Result<RecordsMetadata> {
        let file = self.chunks.file().clone();
        RecordReader::named(self.chunks.source(), file, &self.options)?.records_metadata()
    }

    /// Returns the record of this number, borrowed until the next call; `None` after the last one. The next record to be read in
    /// order is the one after it.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when its chunk is damaged; [`Error::ArrayRecord`] when the chunk is not the one of the index;
    /// [`Error::Limit`]; [`Error::Io`].
    #[inline]
    pub fn get(&mut self, number: u64) -> Result<Option<&[u8]>> {
        let Some((chunk, index)) = self.index.find(number) else {
            return Ok(None);
        };
        if self.decoded != Some(chunk) {
            self.decode(chunk)?;
        }
        self.next = number + 1;
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        Ok(self.records().try_get(index))
    }

    /// Returns the next record, borrowed until the next call; `None` at the end.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn read_record(&mut self) -> Result<Option<&[u8]>> {
        self.get(self.next)
    }

    /// Makes the record of this number the next one. Nothing is read yet.
    pub fn seek(&mut self, number: u64) {
        self.next = number;
    }

    /// Returns the number of the next record.
    pub fn record_index(&self) -> u64 {
        self.next
    }

    /// Calls `visit` with each record of a range and its number, until it fails. Records after the last one are left out.
    ///
    /// # Errors
    /// That of `visit`; as [`get`](Self::get).
    pub fn read_range<E: From<Error>>(
        &mut self,
        range: Range<u64>,
        mut visit: impl FnMut(u64, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        for number in range.start..range.end.min(self.len()) {
            if let Some(record) = self.get(number)? {
                visit(number, record)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn records(&self) -> RecordSlices<'_> {
        self.decoder.records(self.chunks.data())
    }

    #[cold]
    fn decode(&mut self, number: usize) -> Result<()> {
        self.decoded = None;
        let file = self.chunks.file().clone();
        let problem = |problem| Error::ArrayRecord {
            file: file.clone(),
            problem,
        };
        let Some((begin, records)) = self.chunk(number) else {
            return Err(problem(ArrayRecordProblem::Footer { record: number }));
        };
        self.chunks.seek(begin)?;
        let size = self.chunks.size();
        let Some(chunk) = self.chunks.next_chunk()? else {
            let damage = Damage::Invalid {
                what: "chunk: the file ends in it",
            };
            return Err(damage.at(&file, begin, begin));
        };
        let limit = self.options.decoded_limit(size, chunk.data.len());
        let decoded = self.decoder.decode(&chunk.header, chunk.data, limit);
        decoded.map_err(|damage| damage.at(&file, chunk.begin, chunk.end))?;
        let expected = records.end - records.start;
        if self.decoder.num_records() != expected {
            return Err(problem(ArrayRecordProblem::Count {
                what: "records of a chunk",
                expected,
                found: self.decoder.num_records(),
            }));
        }
        self.decoded = Some(number);
        Ok(())
    }
}
