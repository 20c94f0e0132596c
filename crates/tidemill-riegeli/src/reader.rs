//! Reading records.
//!
//! A reader decodes one chunk at a time and returns its records as borrowed slices. Where it goes by positions is in `seek` and
//! `search`; what the file says about itself is in `metadata` and `chunk_list`.
//!
//! The behaviours are those of google/riegeli, `riegeli/records/record_reader.h`, except that what is damaged is an error,
//! and seeking elsewhere leaves it behind.

mod binary_search;
mod chunk_list;
mod footer;
mod metadata;
mod read_ahead;
mod search;
mod seek;

use std::{ops::Range, path::Path};

pub use self::chunk_list::ChunkSummary;
use self::read_ahead::{AheadChunk, ReadAhead};
use crate::{
    Chunk, ChunkReader, Error, ReaderOptions, RecordPosition, Result, SkippedRegion,
    array_record::{Ending, LostPostscript, find_ending},
    chunk_decoder::SparedDecoder,
    chunk_reader::open_file,
    error::{Damage, FileName},
    field_projection::FieldProjection,
    reader_options::Recovery,
    record_values::RecordSlices,
    source::{BytesSource, FileSource, Source, StreamSource},
};

/// Reads the records of a file in order, or from any position on, lending each as a slice of the decoded chunk.
///
/// With [`ReaderOptions::recover`] damage is passed and listed in [`skipped`](Self::skipped); without, it is an error that
/// every further call repeats until [`recover`](Self::recover) passes it. A file that ends inside a chunk ends with its last
/// complete chunk, and [`close`](Self::close) tells of the rest.
///
/// A reader begins with the decoder of the last one that its thread dropped, unless that had damage or chunks of more than 2 MiB: small
/// files, one after another, are read in the same memory.
pub struct RecordReader<S> {
    chunks: ChunkReader<S>,
    options: ReaderOptions,
    decoder: SparedDecoder,
    /// The chunk that `decoder` holds, and the one that positions are about.
    chunk_begin: u64,
    index: usize,
    last_record_is_valid: bool,
    /// What is wrong with the chunk at `chunk_begin`, whose hashes are sound.
    undecodable: Option<Damage>,
    skipped: Vec<SkippedRegion>,
    /// The metadata and where their chunk is, once they were read.
    metadata: Option<Option<(Vec<u8>, Range<u64>)>>,
    ahead: Option<Box<ReadAhead>>,
    /// The current chunk, when it was read ahead. Its decoder is `decoder`.
    from_ahead: Option<Box<AheadChunk>>,
    /// Whether a chunk was read to its end and the reader has not moved since.
    in_order: bool,
    /// Where the records end for this reader, if it does not take the index of an ArrayRecord file for some.
    ending: Ending,
    /// Whether chunks that are an index by what is in them are passed over.
    passes_index: bool,
}

impl RecordReader<FileSource> {
    /// Opens the file at `path`. Memory is bounded by its largest chunk.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn open(path: impl AsRef<Path>, options: &ReaderOptions) -> Result<Self> {
        let name = FileName::new(path.as_ref());
        let file = open_file(path.as_ref(), &name)?;
        Self::named(FileSource::new(file), name, options)
    }
}

impl<B: AsRef<[u8]>> RecordReader<BytesSource<B>> {
    /// Reads a file that is in memory: a slice, a vector, shared or mapped bytes. Records of uncompressed chunks are lent out
    /// of it where no block header interrupts their chunk.
    ///
    /// # Errors
    /// None; the result allows for `?` in a chain.
    pub fn from_bytes(bytes: B) -> Result<Self> {
        Self::new(BytesSource(bytes), &ReaderOptions::default())
    }
}

impl<R: std::io::Read> RecordReader<StreamSource<R>> {
    /// Reads a file that comes as a stream, such as standard input. Its records can be read once, in order; what needs random
    /// access fails with [`Error::Io`].
    ///
    /// # Errors
    /// None; the result allows for `?` in a chain.
    pub fn from_stream(stream: R, options: &ReaderOptions) -> Result<Self> {
        Self::new(StreamSource::new(stream), options)
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
        let mut chunks = ChunkReader::named(source, file, options.max_chunk_size)?;
        let mut ending = Ending::File;
        if options.stop_at_footer && chunks.supports_random_access() {
            ending = find_ending(&mut chunks, options)?;
            if let Some(end) = ending.footer() {
                chunks.truncate(end);
            }
        }
        if chunks.supports_random_access() {
            chunks.truncate(options.chunks.end);
            chunks.jump(options.chunks.start);
        }
        let size = chunks.size();
        let is_stream = !chunks.supports_random_access();
        Ok(Self {
            chunks,
            options: options.clone(),
            decoder: SparedDecoder::new(&options.field_projection),
            chunk_begin: 0,
            index: 0,
            last_record_is_valid: false,
            undecodable: None,
            skipped: Vec::new(),
            metadata: None,
            ahead: ReadAhead::new(options, size),
            from_ahead: None,
            in_order: false,
            passes_index: options.stop_at_footer && (is_stream || matches!(ending, Ending::Unknown(_))),
            ending,
        })
    }

    /// Returns whether what comes next looks like Riegeli/records: `false` at the end of the file. Reading checks the same;
    /// this does it before the first record is asked for. Damage is not recovered from.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Io`].
    pub fn check_file_format(&mut self) -> Result<bool> {
        if (self.index as u64) < self.decoder.num_records() {
            return Ok(true);
        }
        match &self.undecodable {
            Some(_) => Err(self.undecodable_error()),
            None if self.is_ahead() => Ok(true),
            None => self.chunks.check_file_format(),
        }
    }

    /// Returns the next record, lent until the next call; `None` at the end.
    ///
    /// # Errors
    /// [`Error::Corrupt`] unless recovering; [`Error::Unsupported`] for codecs and chunk types that are not known;
    /// [`Error::Limit`]; [`Error::Io`].
    #[inline]
    pub fn read_record(&mut self) -> Result<Option<&[u8]>> {
        if !self.decoder.is_available(self.index as u64) && !self.next_records()? {
            return Ok(None);
        }
        let index = self.index;
        self.index += 1;
        self.last_record_is_valid = true;
        Ok(Some(self.records().get(index)))
    }

    /// Returns whether there is another record, which [`read_record`](Self::read_record) returns then; false at the end of the file.
    ///
    /// # Errors
    /// As [`read_record`](Self::read_record).
    pub fn has_record(&mut self) -> Result<bool> {
        Ok(self.decoder.is_available(self.index as u64) || self.next_records()?)
    }

    /// Returns the records of the current chunk, and moves behind as many of them as `take` says it took from the given
    /// number on. `None` at the end of the file.
    pub(crate) fn take_records<T>(
        &mut self,
        take: impl FnOnce(RecordSlices<'_>, usize, u64) -> (T, usize),
    ) -> Result<Option<T>> {
        if !self.decoder.is_available(self.index as u64) && !self.next_records()? {
            return Ok(None);
        }
        let (taken, end) = take(self.records(), self.index, self.chunk_begin);
        self.index = end.max(self.index);
        self.last_record_is_valid = true;
        Ok(Some(taken))
    }

    /// Keeps only the fields of `projection` from the next record on. The current chunk is decoded again; the reader does not
    /// move.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the current chunk has damage in what the new projection needs, unless recovering, which leaves
    /// out the rest of the chunk; [`Error::Limit`].
    pub fn set_field_projection(&mut self, projection: FieldProjection) -> Result<()> {
        self.decoder.set_projection(&projection);
        if let Some(chunk) = &mut self.from_ahead {
            chunk.decoder.set_projection(&projection);
        }
        self.options.field_projection = projection;
        self.discard_ahead()?;
        if self.decoder.num_records() == 0 {
            return Ok(());
        }
        match self.decode_loaded(u64::MAX) {
            Ok(()) => Ok(()),
            Err(error) => self.try_recovery(error).map(|_| ()),
        }
    }

    /// Returns the position of the record that was read last, if [`last_record_is_valid`](Self::last_record_is_valid).
    pub fn last_pos(&self) -> RecordPosition {
        RecordPosition::new(self.chunk_begin, (self.index as u64).saturating_sub(1))
    }

    /// Returns whether a record was read and the reader has not moved since.
    pub fn last_record_is_valid(&self) -> bool {
        self.last_record_is_valid
    }

    /// Returns where the next record is, or the end of what was read.
    pub fn pos(&self) -> RecordPosition {
        if (self.index as u64) < self.decoder.num_records() || self.undecodable.is_some() {
            RecordPosition::new(self.chunk_begin, self.index as u64)
        } else {
            RecordPosition::new(self.next_chunk_begin(), 0)
        }
    }

    /// Returns how many records [`read_record`](Self::read_record) gives without reading the file: those of the decoded chunk
    /// that are left.
    pub fn records_at_hand(&self) -> u64 {
        self.decoder.num_records().saturating_sub(self.index as u64)
    }

    /// Returns the size of the file in bytes, `None` for a stream whose end was not reached yet.
    pub fn size(&self) -> Option<u64> {
        self.chunks.size()
    }

    /// Returns the regions that recovery left out so far.
    pub fn skipped(&self) -> &[SkippedRegion] {
        &self.skipped
    }

    /// Moves past the damage that the last call failed with, and returns the region left out, which is also listed in
    /// [`skipped`](Self::skipped). `None` when the last call did not fail, or failed for another reason. A chunk that this
    /// version or its limits cannot decode is passed as well.
    ///
    /// ```
    /// use tidemill_riegeli::{FlushType, RecordReader, RecordWriter, WriterOptions};
    ///
    /// let mut writer = RecordWriter::new(Vec::new(), "uncompressed".parse::<WriterOptions>()?)?;
    /// for record in ["first", "second"] {
    ///     writer.write_record(record.as_bytes())?;
    ///     writer.flush(FlushType::FromProcess)?;
    /// }
    /// let mut file = writer.close()?;
    /// file[110] ^= 1; // in the data of the first chunk of records
    ///
    /// let mut reader = RecordReader::from_bytes(file)?;
    /// assert!(reader.read_record().is_err());
    /// let region = reader.recover()?.expect("damage that can be passed");
    /// assert_eq!((region.begin, region.end), (64, 112));
    /// assert_eq!(reader.read_record()?, Some(&b"second"[..]));
    /// # Ok::<(), tidemill_riegeli::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn recover(&mut self) -> Result<Option<SkippedRegion>> {
        let region = match self.undecodable.take() {
            Some(damage) => {
                let begin = self.chunk_begin.saturating_add(self.index as u64);
                self.decoder.clear();
                self.index = 0;
                Some(SkippedRegion {
                    begin,
                    end: self.next_chunk_begin(),
                    why: damage.to_string(),
                })
            }
            None if self.is_ahead() => None,
            None => self.chunks.recover()?,
        };
        if let Some(region) = &region {
            self.skipped.push(region.clone());
        }
        Ok(region)
    }

    /// Reads the next chunk as it is stored, whatever its type; `None` at the end. Records of the current chunk that were not
    /// read are passed over.
    ///
    /// # Errors
    /// [`Error::Corrupt`] unless recovering; [`Error::Limit`]; [`Error::Io`].
    pub fn next_chunk(&mut self) -> Result<Option<Chunk<'_>>> {
        self.undecodable = None;
        self.discard_ahead()?;
        loop {
            self.leave_chunk();
            match self.chunks.next_chunk() {
                Ok(None) => return Ok(None),
                Ok(Some(_)) => break,
                Err(error) => {
                    if !self.try_recovery(error)? {
                        return Ok(None);
                    }
                }
            }
        }
        self.chunk_begin = self.chunks.pos();
        Ok(self.chunks.last_chunk())
    }

    /// Ends reading and returns the regions that recovery left out, with an incomplete chunk at the end of the file.
    ///
    /// # Errors
    /// Unless recovering, [`Error::Truncated`] when the end of the file was reached inside a chunk, and [`Error::Corrupt`] when the
    /// records end at the footer of an ArrayRecord file without a postscript ([`Damage::NoPostscript`]), by
    /// [`ReaderOptions::stop_at_footer`].
    pub fn close(mut self) -> Result<Vec<SkippedRegion>> {
        self.check_end()?;
        Ok(self.skipped)
    }

    /// Accounts for an incomplete chunk at the end of the file, and for a postscript that is missing there: as a region when
    /// recovering, else as an error.
    pub(crate) fn check_end(&mut self) -> Result<()> {
        let is_at_end = |lost: &LostPostscript| self.next_chunk_begin() >= lost.footer && self.records_at_hand() == 0;
        if let Some(lost) = self.lost_postscript().filter(is_at_end) {
            if self.options.recovery.is_fail() {
                return Err(lost.error(self.file()));
            }
            self.note_end(lost.region());
            return Ok(());
        }
        let Some(error) = self.chunks.truncation().filter(|_| !self.is_ahead()) else {
            return Ok(());
        };
        if self.options.recovery.is_fail() {
            return Err(error);
        }
        let found = match error {
            Error::Truncated { found, .. } => found,
            _ => 0,
        };
        let begin = self.chunks.pos();
        self.note_end(error.skipped_region(begin, begin.saturating_add(found)));
        Ok(())
    }

    /// Lists a region at the end of the file.
    fn note_end(&mut self, region: SkippedRegion) {
        if self.skipped.last() != Some(&region) {
            // There is nothing after the region to continue with.
            self.options.recovery.decide(&region);
            self.skipped.push(region);
        }
    }

    /// Decodes the next chunk, of whatever type, by `decode`, passing damage when recovering. The function gets the most bytes
    /// that a part may have. `None` at the end of the file, and where recovery is not wanted to continue.
    pub(crate) fn next_chunk_by<T>(
        &mut self,
        mut decode: impl FnMut(Chunk<'_>, usize) -> Result<T, Damage>,
    ) -> Result<Option<T>> {
        loop {
            match self.read_chunk_by(&mut decode) {
                Ok(decoded) => return Ok(decoded),
                Err(error) => {
                    if !self.try_recovery(error)? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    fn read_chunk_by<T>(
        &mut self,
        decode: &mut impl FnMut(Chunk<'_>, usize) -> Result<T, Damage>,
    ) -> Result<Option<T>> {
        if self.undecodable.is_some() {
            return Err(self.undecodable_error());
        }
        self.leave_chunk();
        let size = self.chunks.size();
        loop {
            if self.chunks.next_chunk()?.is_none() {
                return Ok(None);
            }
            if !self.is_index() {
                break;
            }
        }
        let Some(chunk) = self.chunks.last_chunk() else {
            return Ok(None);
        };
        let limit = self.options.decoded_limit(size, chunk.data.len());
        match decode(chunk, limit) {
            Ok(decoded) => Ok(Some(decoded)),
            Err(damage) => {
                self.undecodable = Some(damage);
                Err(self.undecodable_error())
            }
        }
    }

    /// Returns the name that errors give the file.
    pub(crate) fn file(&self) -> &FileName {
        self.chunks.file()
    }

    #[inline]
    fn records(&self) -> RecordSlices<'_> {
        let data = match &self.from_ahead {
            None => self.chunks.data(),
            Some(chunk) => &chunk.data,
        };
        self.decoder.records(data)
    }

    /// Decodes the next chunk that holds records, passing damage when recovering. False at the end of the file, and where
    /// recovery is not wanted to continue.
    #[cold]
    fn next_records(&mut self) -> Result<bool> {
        self.last_record_is_valid = false;
        self.in_order = self.index > 0;
        if (self.index as u64) < self.decoder.num_records() {
            // A seek wanted some records of the chunk only.
            match self.extend(u64::MAX) {
                Ok(()) => return Ok(true),
                Err(error) => {
                    if !self.try_recovery(error)? {
                        return Ok(false);
                    }
                }
            }
        }
        loop {
            match self.read_chunk() {
                Ok(true) if self.decoder.num_records() > 0 && !self.is_at_index() => return Ok(true),
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(error) => {
                    if !self.try_recovery(error)? {
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// Makes the record of number `index` of the current chunk available, or all of them when there is none.
    fn extend(&mut self, index: u64) -> Result<()> {
        let data = match &self.from_ahead {
            None => self.chunks.data(),
            Some(chunk) => &chunk.data,
        };
        let extended = self.decoder.extend(data, index);
        self.check_decoded(extended)
    }

    /// Decodes the next chunk, which may hold no records. False at the end of the file.
    fn read_chunk(&mut self) -> Result<bool> {
        self.read_chunk_until(u64::MAX)
    }

    /// As [`Self::read_chunk`], where other records than that of number `wanted` may be decoded later.
    fn read_chunk_until(&mut self, wanted: u64) -> Result<bool> {
        if self.undecodable.is_some() {
            return Err(self.undecodable_error());
        }
        self.leave_chunk();
        if self.read_ahead()? {
            return Ok(true);
        }
        if self.chunks.next_chunk()?.is_none() {
            return Ok(false);
        }
        self.decode_loaded(wanted)?;
        Ok(true)
    }

    /// Makes the next chunk the current one, if it was read ahead.
    fn read_ahead(&mut self) -> Result<bool> {
        let Some(ahead) = &mut self.ahead else {
            return Ok(false);
        };
        if !ahead.is_worth_it(&mut self.chunks) {
            return Ok(false);
        }
        if self.in_order {
            ahead.fill(&mut self.chunks, &self.options)?;
        }
        let Some(mut chunk) = ahead.take(&self.chunks)? else {
            return Ok(false);
        };
        self.chunk_begin = chunk.begin;
        std::mem::swap(&mut *self.decoder, &mut chunk.decoder);
        let decoded = std::mem::replace(&mut chunk.decoded, Ok(()));
        self.from_ahead = Some(Box::new(chunk));
        self.check_decoded(decoded)?;
        Ok(true)
    }

    /// Decodes the current chunk, after it was read or with other options.
    fn decode_loaded(&mut self, wanted: u64) -> Result<()> {
        let size = self.chunks.size();
        let limit = |data: &[u8]| self.options.decoded_limit(size, data.len());
        let decoded = match (&self.from_ahead, self.chunks.last_chunk()) {
            (Some(chunk), _) => {
                let limit = limit(&chunk.data);
                self.decoder.decode_until(&chunk.header, &chunk.data, limit, wanted)
            }
            (None, Some(chunk)) => self
                .decoder
                .decode_until(&chunk.header, chunk.data, limit(chunk.data), wanted),
            (None, None) => Ok(()),
        };
        self.check_decoded(decoded)
    }

    fn check_decoded(&mut self, decoded: Result<(), Damage>) -> Result<()> {
        decoded.map_err(|damage| {
            self.decoder.clear();
            self.undecodable = Some(damage);
            self.undecodable_error()
        })
    }

    fn is_ahead(&self) -> bool {
        self.ahead.as_ref().is_some_and(|ahead| ahead.next_begin().is_some())
    }

    /// Returns where the next chunk begins, for all that the caller knows.
    fn next_chunk_begin(&self) -> u64 {
        let ahead = self.ahead.as_ref().and_then(|ahead| ahead.next_begin());
        ahead.unwrap_or_else(|| self.chunks.pos())
    }

    /// Forgets what was read ahead, because the reader goes elsewhere or its options change.
    ///
    /// # Errors
    /// [`Error::Io`] for a stream, which cannot be read again.
    fn discard_ahead(&mut self) -> Result<()> {
        self.in_order = false;
        let Some(ahead) = &mut self.ahead else {
            return Ok(());
        };
        let begin = ahead.next_begin();
        if begin.is_some() && !self.chunks.supports_random_access() {
            return Err(Error::Io {
                file: self.chunks.file().clone(),
                action: "go elsewhere in a stream that is read ahead",
                source: std::io::ErrorKind::Unsupported.into(),
            });
        }
        ahead.clear();
        if let Some(begin) = begin {
            self.chunks.jump(begin);
        }
        Ok(())
    }

    /// Drops the records of the current chunk; what comes is about the next one.
    fn leave_chunk(&mut self) {
        self.decoder.clear();
        self.index = 0;
        self.chunk_begin = self.next_chunk_begin();
        self.last_record_is_valid = false;
        if let Some(mut chunk) = self.from_ahead.take()
            && let Some(ahead) = &mut self.ahead
        {
            std::mem::swap(&mut *self.decoder, &mut chunk.decoder);
            ahead.recycle(*chunk);
        }
    }

    /// Skips the damaged region that `error` reports, if recovery is enabled. Returns whether to continue reading.
    #[cold]
    fn try_recovery(&mut self, error: Error) -> Result<bool> {
        if self.options.recovery.is_fail() || !matches!(error, Error::Corrupt(_)) {
            return Err(error);
        }
        match self.recover()? {
            Some(region) => Ok(self.options.recovery.decide(&region)),
            None => Err(error),
        }
    }

    #[cold]
    fn undecodable_error(&self) -> Error {
        // Called where there is one.
        let damage = self.undecodable.clone().unwrap_or(Damage::Invalid { what: "chunk" });
        damage.at(self.chunks.file(), self.chunk_begin, self.next_chunk_begin())
    }
}

impl<S> RecordReader<S> {
    /// Decides again about damage: see [`ReaderOptions::on_recovery`].
    pub fn set_recovery(&mut self, decide: impl FnMut(&SkippedRegion) -> bool + Send + 'static) {
        self.options = self.options.clone().on_recovery(decide);
    }

    /// Makes damage an error from now on.
    pub fn clear_recovery(&mut self) {
        self.options.recovery = Recovery::Fail;
    }
}
