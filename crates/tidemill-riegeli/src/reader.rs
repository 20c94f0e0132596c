//! Reading records.

use std::{fs::File, path::Path};

use prost::Message;

use crate::{
    Chunk, ChunkHeader, ChunkReader, ChunkType, Error, RecordPosition, RecordsMetadata, Result, SkippedRegion,
    chunk_decoder::{ChunkDecoder, check_no_records},
    codec::CompressionType,
    error::FileName,
    field_projection::FieldProjection,
    simple_chunk::RecordSlices,
    source::{BytesSource, FileSource, Source},
    transposed_chunk,
};

/// Options of a [`RecordReader`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderOptions {
    recover: bool,
    max_chunk_size: u64,
    field_projection: FieldProjection,
}

impl Default for ReaderOptions {
    fn default() -> Self {
        Self {
            recover: false,
            max_chunk_size: 1 << 30,
            field_projection: FieldProjection::all(),
        }
    }
}

impl ReaderOptions {
    /// Returns the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Goes on behind damage and keeps a list of what was left out, instead of returning an error. Default: false.
    #[must_use]
    pub fn recover(mut self, recover: bool) -> Self {
        self.recover = recover;
        self
    }

    /// Bounds the memory for the data of one chunk, compressed and again decompressed. Default: 1 GiB.
    #[must_use]
    pub fn max_chunk_size(mut self, bytes: u64) -> Self {
        self.max_chunk_size = bytes;
        self
    }

    /// Keeps only these fields of the records of transposed chunks. Default: [`FieldProjection::all`].
    #[must_use]
    pub fn field_projection(mut self, projection: FieldProjection) -> Self {
        self.field_projection = projection;
        self
    }
}

/// Reads the records of a file in order, lending each as a slice of the decoded chunk.
///
/// With [`ReaderOptions::recover`] damage is passed and listed in [`skipped`](Self::skipped); without, it is an error that
/// every further call repeats. A file that ends inside a chunk ends with its last complete chunk, and
/// [`close`](Self::close) tells of the rest.
pub struct RecordReader<S> {
    chunks: ChunkReader<S>,
    options: ReaderOptions,
    decoder: ChunkDecoder,
    /// The chunk that `decoder` holds, and the one that positions are about.
    chunk_begin: u64,
    index: usize,
    skipped: Vec<SkippedRegion>,
    metadata: Option<Option<Vec<u8>>>,
}

impl RecordReader<FileSource> {
    /// Opens the file at `path`. Memory is bounded by its largest chunk.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn open(path: impl AsRef<Path>, options: &ReaderOptions) -> Result<Self> {
        let path = path.as_ref();
        let name = FileName::new(path);
        let file = File::open(path).map_err(|source| Error::Io {
            file: name.clone(),
            action: "open the file",
            source,
        })?;
        Self::named(FileSource::new(file), name, options)
    }
}

impl<B: AsRef<[u8]>> RecordReader<BytesSource<B>> {
    /// Reads a file that is in memory: a slice, a vector, shared or mapped bytes.
    ///
    /// # Errors
    /// None; the result allows for `?` in a chain.
    pub fn from_bytes(bytes: B) -> Result<Self> {
        Self::new(BytesSource(bytes), &ReaderOptions::default())
    }
}

impl<S: Source> RecordReader<S> {
    /// Reads `source` from its beginning.
    ///
    /// # Errors
    /// [`Error::Io`] when the source does not tell its size.
    pub fn new(source: S, options: &ReaderOptions) -> Result<Self> {
        Self::named(source, FileName::default(), options)
    }

    /// Reads `source` from its beginning; errors call it `name`.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn from_source(source: S, name: &str, options: &ReaderOptions) -> Result<Self> {
        Self::named(source, FileName::new(Path::new(name)), options)
    }

    pub(crate) fn named(source: S, file: FileName, options: &ReaderOptions) -> Result<Self> {
        let mut decoder = ChunkDecoder::default();
        decoder.set_projection(&options.field_projection);
        Ok(Self {
            chunks: ChunkReader::new(source, file, options.max_chunk_size)?,
            options: options.clone(),
            decoder,
            chunk_begin: 0,
            index: 0,
            skipped: Vec::new(),
            metadata: None,
        })
    }

    /// Returns the next record, lent until the next call; `None` at the end.
    ///
    /// # Errors
    /// [`Error::Corrupt`] unless recovering; [`Error::Unsupported`] for codecs and chunk types that are not known; [`Error::Limit`]; [`Error::Io`].
    #[inline]
    pub fn read_record(&mut self) -> Result<Option<&[u8]>> {
        if self.index as u64 >= self.decoder.num_records() && !self.read_chunk()? {
            return Ok(None);
        }
        let index = self.index;
        self.index += 1;
        Ok(Some(self.records().get(index)))
    }

    /// Returns the records of the current chunk, and moves behind as many of them as `take` says it took from the given
    /// number on. `None` at the end of the file.
    pub(crate) fn take_records<T>(
        &mut self,
        take: impl FnOnce(RecordSlices<'_>, usize, u64) -> (T, usize),
    ) -> Result<Option<T>> {
        if self.index as u64 >= self.decoder.num_records() && !self.read_chunk()? {
            return Ok(None);
        }
        let (taken, end) = take(self.records(), self.index, self.chunk_begin);
        self.index = end.max(self.index);
        Ok(Some(taken))
    }

    /// Keeps only the fields of `projection` from the next record on. The current chunk is decoded again; the reader does not
    /// move.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the current chunk has damage in what the new projection needs, unless recovering, which leaves out
    /// the rest of the chunk; [`Error::Limit`].
    pub fn set_field_projection(&mut self, projection: FieldProjection) -> Result<()> {
        self.decoder.set_projection(&projection);
        self.options.field_projection = projection;
        if self.decoder.num_records() == 0 {
            return Ok(());
        }
        if !self.decode_loaded()? {
            self.index = 0;
        }
        Ok(())
    }

    /// Returns the position of the record that was read last.
    pub fn last_pos(&self) -> RecordPosition {
        RecordPosition::new(self.chunk_begin, (self.index as u64).saturating_sub(1))
    }

    /// Returns where the next record is, or the end of what was read.
    pub fn pos(&self) -> RecordPosition {
        if (self.index as u64) < self.decoder.num_records() {
            RecordPosition::new(self.chunk_begin, self.index as u64)
        } else {
            RecordPosition::new(self.chunks.pos(), 0)
        }
    }

    /// Returns the size of the file in bytes.
    pub fn size(&self) -> u64 {
        self.chunks.size()
    }

    /// Returns the regions that recovery left out so far.
    pub fn skipped(&self) -> &[SkippedRegion] {
        &self.skipped
    }

    /// Returns the serialized metadata: empty if the file has none, and `None` if it ends before there could be any. Does not
    /// move the reader.
    ///
    /// # Errors
    /// [`Error::Corrupt`] unless recovering, which gives empty metadata; [`Error::Limit`]; [`Error::Io`].
    pub fn metadata(&mut self) -> Result<Option<&[u8]>> {
        if self.metadata.is_none() {
            let mut chunks = ChunkReader::new(
                SourceRef(self.chunks.source()),
                self.chunks.file().clone(),
                self.options.max_chunk_size,
            )?;
            let metadata = match read_metadata(&mut chunks, self.options.max_chunk_size) {
                Err(Error::Corrupt(_)) if self.options.recover => Some(Vec::new()),
                result => result?,
            };
            self.metadata = Some(metadata);
        }
        Ok(self.metadata.as_ref().and_then(Option::as_deref))
    }

    /// Returns the metadata as a message, empty if there are none.
    ///
    /// # Errors
    /// As [`Self::metadata`]; [`Error::Metadata`] when they are not a `RecordsMetadata`.
    pub fn records_metadata(&mut self) -> Result<RecordsMetadata> {
        let metadata = RecordsMetadata::decode(self.metadata()?.unwrap_or_default());
        metadata.map_err(|error| Error::Metadata {
            file: self.chunks.file().clone(),
            problem: format!("not a RecordsMetadata message: {error}"),
        })
    }

    /// Counts the records of the file by its chunk headers, without reading chunk data. Does not move the reader.
    ///
    /// # Errors
    /// [`Error::Corrupt`] and [`Error::Truncated`] unless recovering; [`Error::Io`]. Damage in chunk data is not seen.
    pub fn count_records(&mut self) -> Result<u64> {
        let mut count = 0_u64;
        self.scan_headers(|_, header| {
            count = count.saturating_add(header.num_records);
            Ok(())
        })?
        .map_or(Ok(count), Err)
    }

    /// Describes the chunks of the file. Chunk data are not read but for the first byte. Does not move the reader.
    ///
    /// # Errors
    /// As [`Self::count_records`].
    pub fn list_chunks(&mut self) -> Result<Vec<ChunkSummary>> {
        let mut list = Vec::new();
        let source = SourceRef(self.chunks.source());
        // What can be described of a file that ends early is described.
        let _truncation = self.scan_headers(|begin, header| {
            let compression = compression_type(&source, begin, &header);
            list.push(ChunkSummary {
                begin,
                end: header.chunk_end(begin),
                chunk_type: header.chunk_type,
                compression,
                num_records: header.num_records,
                data_size: header.data_size,
                decoded_data_size: header.decoded_data_size,
            });
            Ok(())
        })?;
        Ok(list)
    }

    /// Reads the next chunk as it is stored, whatever its type; `None` at the end. Records of the current chunk that were not
    /// read are passed over.
    ///
    /// # Errors
    /// [`Error::Corrupt`] unless recovering; [`Error::Limit`]; [`Error::Io`].
    pub fn next_chunk(&mut self) -> Result<Option<Chunk<'_>>> {
        self.decoder.clear();
        self.index = 0;
        self.load_chunk()?;
        Ok(self.loaded())
    }

    /// Ends reading and returns the regions that recovery left out, with an incomplete chunk at the end of the file.
    ///
    /// # Errors
    /// [`Error::Truncated`] when the end of the file was reached inside a chunk, unless recovering.
    pub fn close(mut self) -> Result<Vec<SkippedRegion>> {
        self.check_end()?;
        Ok(self.skipped)
    }

    /// Accounts for an incomplete chunk at the end of the file: as a region when recovering, else as an error.
    pub(crate) fn check_end(&mut self) -> Result<()> {
        match self.chunks.truncation() {
            None => Ok(()),
            Some(error) if self.options.recover => {
                let region = error.skipped_region(self.chunks.pos(), self.chunks.size());
                if self.skipped.last() != Some(&region) {
                    self.skipped.push(region);
                }
                Ok(())
            }
            Some(error) => Err(error),
        }
    }

    /// Decodes the next chunk of records and returns how many it has, `None` at the end.
    pub(crate) fn verify_chunk(&mut self) -> Result<Option<u64>> {
        Ok(self.read_chunk()?.then(|| {
            self.index = self.records().len();
            self.decoder.num_records()
        }))
    }

    /// Returns the name that errors give the file.
    pub(crate) fn file(&self) -> &FileName {
        self.chunks.file()
    }

    fn records(&self) -> RecordSlices<'_> {
        self.decoder.records(self.chunks.data())
    }

    /// Decodes the next chunk that holds records. False at the end of the file.
    #[cold]
    fn read_chunk(&mut self) -> Result<bool> {
        loop {
            self.decoder.clear();
            self.index = 0;
            self.chunk_begin = self.chunks.pos();
            if !self.load_chunk()? {
                return Ok(false);
            }
            if let Some(chunk) = self.loaded() {
                self.chunk_begin = chunk.begin;
            }
            self.decode_loaded()?;
            if self.decoder.num_records() > 0 {
                return Ok(true);
            }
        }
    }

    /// Decodes the chunk that was loaded. False if it is left out as damaged.
    fn decode_loaded(&mut self) -> Result<bool> {
        let Some(chunk) = self.loaded() else {
            return Ok(false);
        };
        let (begin, end, header) = (chunk.begin, chunk.end, chunk.header);
        let limit = usize::try_from(self.options.max_chunk_size).unwrap_or(usize::MAX);
        if let Err(damage) = self.decoder.decode(&header, self.chunks.data(), limit) {
            let error = damage.at(self.chunks.file(), begin, end);
            if self.options.recover && matches!(error, Error::Corrupt(_)) {
                self.skipped.push(error.skipped_region(begin, end));
                return Ok(false);
            }
            self.chunks.seek(begin);
            return Err(error);
        }
        if header.num_records > 0 && self.decoder.num_records() == 0 {
            self.chunks.seek(begin);
            return Err(Error::Unsupported {
                file: self.chunks.file().clone(),
                what: format!("the {} chunk of {} records", header.chunk_type, header.num_records),
                offset: begin,
            });
        }
        Ok(true)
    }

    /// Reads the next chunk's data, passing damage when recovering. False at the end of the file.
    fn load_chunk(&mut self) -> Result<bool> {
        loop {
            match self.chunks.next_chunk() {
                Ok(chunk) => return Ok(chunk.is_some()),
                Err(error) if self.options.recover && matches!(error, Error::Corrupt(_)) => {
                    match self.chunks.recover(&error)? {
                        Some(region) => self.skipped.push(region),
                        None => return Err(error),
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn loaded(&self) -> Option<Chunk<'_>> {
        self.chunks.last_chunk()
    }

    /// Visits the chunk headers. Returns what is wrong with the end of the file, if anything is and unless recovering.
    fn scan_headers(&self, mut visit: impl FnMut(u64, ChunkHeader) -> Result<()>) -> Result<Option<Error>> {
        let mut chunks = ChunkReader::new(
            SourceRef(self.chunks.source()),
            self.chunks.file().clone(),
            self.options.max_chunk_size,
        )?;
        loop {
            let begin = chunks.pos();
            match chunks.skip_chunk() {
                Ok(Some(header)) => visit(begin, header)?,
                Ok(None) => return Ok(chunks.truncation().filter(|_| !self.options.recover)),
                Err(error) if self.options.recover && matches!(error, Error::Corrupt(_)) => {
                    if chunks.recover(&error)?.is_none() {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// A chunk, by its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkSummary {
    /// Where it begins.
    pub begin: u64,
    /// Where the next one begins.
    pub end: u64,
    /// What it holds.
    pub chunk_type: ChunkType,
    /// Its codec: the first byte of the data of simple, transposed and metadata chunks. `None` for other chunks, and for
    /// codecs that are not known.
    pub compression: Option<CompressionType>,
    /// Its number of records.
    pub num_records: u64,
    /// Bytes of data, block headers not counted.
    pub data_size: u64,
    /// Sum of the record sizes.
    pub decoded_data_size: u64,
}

/// Lends a source to a second reader.
struct SourceRef<'a, S>(&'a S);

impl<S: Source> Source for SourceRef<'_, S> {
    fn size(&self) -> std::io::Result<u64> {
        self.0.size()
    }

    fn read_at(&self, pos: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read_at(pos, buffer)
    }
}

fn read_metadata<S: Source>(chunks: &mut ChunkReader<S>, limit: u64) -> Result<Option<Vec<u8>>> {
    // The first chunk is a file signature, or reading it fails.
    if chunks.next_chunk()?.is_none() {
        return Ok(None);
    }
    match chunks.peek_header()? {
        None => return Ok(None),
        Some(header) if header.chunk_type != ChunkType::FileMetadata => {
            return Ok(Some(Vec::new()));
        }
        Some(_) => {}
    }
    let file = chunks.file().clone();
    let Some(chunk) = chunks.next_chunk()? else {
        return Ok(None);
    };
    check_no_records(&chunk.header)
        .and_then(|()| {
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            transposed_chunk::decode_record(chunk.data, chunk.header.decoded_data_size, limit)
        })
        .map(Some)
        .map_err(|damage| damage.at(&file, chunk.begin, chunk.end))
}

fn compression_type<S: Source>(source: &S, begin: u64, header: &ChunkHeader) -> Option<CompressionType> {
    let has_one = matches!(
        header.chunk_type,
        ChunkType::Simple | ChunkType::Transposed | ChunkType::FileMetadata
    );
    if !has_one || header.data_size == 0 {
        return None;
    }
    // The byte is the last one of a section that is one byte longer than the header.
    let behind = crate::block_header::add_with_overhead(begin, crate::chunk_header::CHUNK_HEADER_SIZE as u64 + 1);
    let mut byte = [0];
    match source.read_at(behind - 1, &mut byte) {
        Ok(1) => CompressionType::from_byte(byte[0]).ok(),
        _ => None,
    }
}
