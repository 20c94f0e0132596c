//! How to read a file.

use std::{
    fmt,
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{FieldProjection, SkippedRegion};

/// Options of a [`RecordReader`](crate::RecordReader). Clones share the recovery function.
#[derive(Clone, Debug)]
pub struct ReaderOptions {
    pub(crate) recovery: Recovery,
    pub(crate) max_chunk_size: u64,
    pub(crate) max_expansion: u64,
    pub(crate) field_projection: FieldProjection,
    pub(crate) parallelism: usize,
    pub(crate) stop_at_footer: bool,
    pub(crate) chunks: Range<u64>,
}

impl Default for ReaderOptions {
    fn default() -> Self {
        Self {
            recovery: Recovery::Fail,
            max_chunk_size: 1 << 30,
            max_expansion: DEFAULT_MAX_EXPANSION,
            field_projection: FieldProjection::all(),
            parallelism: 0,
            stop_at_footer: false,
            chunks: 0..u64::MAX,
        }
    }
}

impl ReaderOptions {
    /// Returns the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Continues after damage and keeps a list of what was left out, instead of returning an error. Default: false.
    #[must_use]
    pub fn recover(mut self, recover: bool) -> Self {
        self.recovery = if recover { Recovery::GoOn } else { Recovery::Fail };
        self
    }

    /// Continues after damage when `decide` says so, which is called with each region that is left out. When it says no, the
    /// call ends as at the end of the file; the next call continues after the region. The regions are listed as well.
    ///
    /// ```
    /// use tidemill_riegeli::{BytesSource, ReaderOptions, RecordReader};
    ///
    /// let mut skipped_bytes = 0;
    /// let options = ReaderOptions::new().on_recovery(move |region| {
    ///     skipped_bytes += region.end - region.begin;
    ///     skipped_bytes < 1 << 20
    /// });
    /// let mut reader = RecordReader::new(BytesSource(b"not a Riegeli file ".repeat(5)), &options)?;
    /// assert_eq!(reader.read_record()?, None);
    /// assert_eq!(reader.skipped().len(), 1);
    /// # Ok::<(), tidemill_riegeli::Error>(())
    /// ```
    #[must_use]
    pub fn on_recovery(mut self, decide: impl FnMut(&SkippedRegion) -> bool + Send + 'static) -> Self {
        self.recovery = Recovery::Ask(Arc::new(Mutex::new(decide)));
        self
    }

    /// Decodes up to `batches` batches of chunks ahead, on threads of their own, when chunks are read one after another. A
    /// batch is a chunk, or as many as have 256 KiB of records together. Chunks of less than 64 KiB, and those that are not
    /// compressed, are not worth it. Default: 0.
    #[must_use]
    pub fn parallelism(mut self, batches: usize) -> Self {
        self.parallelism = batches;
        self
    }

    /// Ends at the footer of an [ArrayRecord](crate::array_record) file, as if the file ended there, instead of reading the
    /// index as records. Where a footer without a sound postscript is found by what is in it, reading ends there as well, and
    /// [`RecordReader::close`], which reading batches and counting do too, tells of the damage. A stream is read to its end:
    /// records are given but for those of chunks that are a footer or a postscript by what is in them. Other files are read to their
    /// end. Default: false.
    ///
    /// [`RecordReader::close`]: crate::RecordReader::close
    #[must_use]
    pub fn stop_at_footer(mut self, stop: bool) -> Self {
        self.stop_at_footer = stop;
        self
    }

    /// Reads only the chunks of this range of positions, as if the file had no others; its metadata are those of its beginning
    /// all the same. Both ends are where a chunk begins or the file ended once, as [`RecordReader::end_of_chunks`] tells them.
    /// Not for streams. Default: all.
    ///
    /// [`RecordReader::end_of_chunks`]: crate::RecordReader::end_of_chunks
    #[must_use]
    pub fn chunks(mut self, chunks: Range<u64>) -> Self {
        self.chunks = chunks;
        self
    }

    /// Bounds the memory for the data of one chunk, compressed and again decompressed, however large the file is; see also
    /// [`Self::max_expansion`]. Default: 1 GiB.
    #[must_use]
    pub fn max_chunk_size(mut self, bytes: u64) -> Self {
        self.max_chunk_size = bytes;
        self
    }

    /// Bounds how much more memory the records of a chunk may take than the file, or the stored data of the chunk where the size
    /// of the file is not known: their bytes, twice those of transposed chunks, and nine for each record. So a small file that says
    /// it is large is refused before anything is decoded. A sound file is refused only where one of its chunks is much larger than
    /// all of the file, compressed. [`Self::max_chunk_size`] bounds chunks of large files as well. Default: 96 MiB.
    #[must_use]
    pub fn max_expansion(mut self, bytes: u64) -> Self {
        self.max_expansion = bytes;
        self
    }

    /// Returns how much memory the decoded data of a chunk may take of which `stored` bytes are in a file of `size`.
    pub(crate) fn decoded_limit(&self, size: Option<u64>, stored: usize) -> usize {
        let limit = self.max_expansion.saturating_add(size.unwrap_or(stored as u64));
        usize::try_from(limit.min(self.max_chunk_size)).unwrap_or(usize::MAX)
    }

    /// Keeps only these fields of the records of transposed chunks. Default: [`FieldProjection::all`].
    #[must_use]
    pub fn field_projection(mut self, projection: FieldProjection) -> Self {
        self.field_projection = projection;
        self
    }

    /// Returns how much more memory the records of a chunk may take than the file.
    pub fn expansion(&self) -> u64 {
        self.max_expansion
    }

    /// Returns whether reading continues after damage, always or when a function says so.
    pub fn recovers(&self) -> bool {
        !self.recovery.is_fail()
    }

    /// Returns the fields that are kept.
    pub fn kept_fields(&self) -> &FieldProjection {
        &self.field_projection
    }
}

/// How much more memory what is compressed may take than it has bytes.
pub(crate) const DEFAULT_MAX_EXPANSION: u64 = 96 << 20;

/// What to do about damage.
#[derive(Clone)]
pub(crate) enum Recovery {
    Fail,
    GoOn,
    Ask(Arc<Mutex<Decide>>),
}

type Decide = dyn FnMut(&SkippedRegion) -> bool + Send;

impl Recovery {
    /// Returns whether to continue behind `region`.
    pub(crate) fn decide(&self, region: &SkippedRegion) -> bool {
        match self {
            Self::Fail => false,
            Self::GoOn => true,
            // A function that panicked once decides again.
            Self::Ask(decide) => decide.lock().unwrap_or_else(PoisonError::into_inner)(region),
        }
    }

    pub(crate) fn is_fail(&self) -> bool {
        matches!(self, Self::Fail)
    }
}

impl fmt::Debug for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fail => "Fail",
            Self::GoOn => "GoOn",
            Self::Ask(_) => "Ask(..)",
        })
    }
}
