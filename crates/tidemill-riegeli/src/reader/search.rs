//! Searching a file whose records are in an order.
//!
//! Source of the rules: google/riegeli, `riegeli/records/record_reader.cc`, `SearchImpl`: chunks are bisected by file
//! position and judged by their first record that can be judged, then the records of the last chunk before the wanted
//! position are bisected. Three things are done otherwise, without a difference in the answer: chunks are decompressed as far
//! as records are asked for; a chunk before the wanted position whose last record is at hand is asked about that one too,
//! which ends the search when it is behind, and where it is decoded first, it is asked about first; and chunks without records are passed by their header.

use std::{cmp::Ordering, ops::Range};

use super::{
    RecordReader,
    binary_search::{Found, Judgement, Positions, binary_search},
};
use crate::{
    Error, RecordPosition, Result, Source,
    block_header::{BLOCK_SIZE, block_begin},
    chunk_decoder::ChunkDecoder,
};

impl<S: Source> RecordReader<S> {
    /// Goes to a wanted record, or to where it would be, and returns which.
    ///
    /// `test` compares a record with the wanted one: `Less` when the record is before it, `Equal` when it is one, `Greater`
    /// when it is behind, and `None` when that cannot be told, as for a record without a key. All records before must precede
    /// all equal ones, and those all behind. About log2(number of chunks) chunks are read. The answer is
    ///
    /// - `Equal`: the reader is at some equal record;
    /// - `Greater`: there is none, and the reader is at the first record behind;
    /// - `Less`: all records are before, and the reader is at the end of the file;
    /// - `None`: no record could be judged, and the reader is at the end of the file. The same when recovery from damage was
    ///   not wanted to continue.
    ///
    /// To find the first of several equal records, `test` may say `Greater` for `Equal`.
    ///
    /// ```
    /// use std::cmp::Ordering;
    ///
    /// use tidemill_riegeli::{RecordReader, RecordWriter, WriterOptions};
    ///
    /// let mut writer = RecordWriter::new(Vec::new(), WriterOptions::new().chunk_size(100))?;
    /// for key in (0..1_000).step_by(2) {
    ///     writer.write_record(format!("{key:04}").as_bytes())?;
    /// }
    /// let mut reader = RecordReader::from_bytes(writer.close()?)?;
    /// let found = reader.search(|record| Ok(Some(record.cmp(b"0501"))))?;
    /// assert_eq!(found, Some(Ordering::Greater));
    /// assert_eq!(reader.read_record()?, Some(&b"0502"[..]));
    /// # Ok::<(), tidemill_riegeli::Error>(())
    /// ```
    ///
    /// # Errors
    /// The error of `test`, which ends the search; as [`read_record`](Self::read_record); [`Error::Io`] for a stream.
    pub fn search(&mut self, mut test: impl FnMut(&[u8]) -> Result<Option<Ordering>>) -> Result<Option<Ordering>> {
        self.search_with_positions(|_, record| test(record))
    }

    /// As [`search`](Self::search), with a test that gets the position of the record, too, and that of the place after it.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn search_with_positions(
        &mut self,
        mut test: impl FnMut(Range<RecordPosition>, &[u8]) -> Result<Option<Ordering>>,
    ) -> Result<Option<Ordering>> {
        let size = self.size().filter(|_| self.supports_random_access());
        let size = size.ok_or_else(|| Error::Io {
            file: self.file().clone(),
            action: "search a stream",
            source: std::io::ErrorKind::Unsupported.into(),
        })?;
        self.undecodable = None;
        self.discard_ahead()?;
        let mut chunks = Chunks {
            reader: self,
            test: &mut test,
            record_index: 0,
            inside: None,
            undecided: None,
            stopped: false,
        };
        let mut found = binary_search(&mut chunks, 0, size)?;
        let Chunks {
            mut record_index,
            inside,
            undecided,
            stopped,
            ..
        } = chunks;
        if stopped {
            return Ok(None);
        }
        if inside.is_some() {
            found.ordering = inside;
        } else if let Some((chunk_begin, range)) = undecided.filter(|_| found.ordering != Some(Ordering::Equal)) {
            self.seek(RecordPosition::new(chunk_begin, range.start))?;
            let record = self.search_chunk(range, &mut test)?;
            if matches!(record.ordering, Some(Ordering::Equal | Ordering::Greater)) {
                (found.ordering, found.pos, record_index) = (record.ordering, chunk_begin, record.pos);
            }
        }
        self.seek(RecordPosition::new(found.pos, record_index))?;
        Ok(found.ordering)
    }

    /// Searches records of the current chunk.
    fn search_chunk(&mut self, range: Range<u64>, test: Test<'_>) -> Result<Found> {
        binary_search(&mut Records { reader: self, test }, range.start, range.end)
    }

    /// Judges a record of the current chunk.
    fn judge(&mut self, index: u64, test: Test<'_>) -> Result<Option<Ordering>> {
        if !self.decoder.is_available(index)
            && let Err(error) = self.extend(index)
        {
            // Without recovery the search ends here; with it, the records of the chunk are not known.
            self.try_recovery(error)?;
        }
        self.set_index(index);
        let behind = match index.saturating_add(1) {
            next if next < self.decoder.num_records() => RecordPosition::new(self.chunk_begin, next),
            _ => RecordPosition::new(self.next_chunk_begin(), 0),
        };
        match self.records().try_get(self.index) {
            Some(record) => test(RecordPosition::new(self.chunk_begin, index)..behind, record),
            None => Ok(None),
        }
    }
}

type Test<'a> = &'a mut dyn FnMut(Range<RecordPosition>, &[u8]) -> Result<Option<Ordering>>;

/// The chunks of a file, as positions in it.
struct Chunks<'a, S> {
    reader: &'a mut RecordReader<S>,
    test: Test<'a>,
    /// The record of the last chunk that was not before the wanted position.
    record_index: u64,
    /// The answer, when it was found inside a chunk whose first record is before.
    inside: Option<Ordering>,
    /// The last chunk before, and those of its records that were not judged, when its last one could not be.
    undecided: Option<(u64, Range<u64>)>,
    /// Recovery was not wanted to continue.
    stopped: bool,
}

impl<S: Source> Positions for Chunks<'_, S> {
    fn middle(&mut self, low: u64, high: u64) -> Result<Option<u64>> {
        if low >= high || self.stopped {
            return Ok(None);
        }
        let reader = &mut *self.reader;
        reader.leave_chunk();
        let middle = low + (high - low) / 2;
        // In a long range of small chunks, the one that a block header points at is near enough, and known without a walk.
        let block = block_begin(middle);
        if high - low > 8 * BLOCK_SIZE
            && let Ok(()) = reader.chunks.seek_to_chunk_after(block)
            && let pos = reader.chunks.pos()
            && pos - block < BLOCK_SIZE / 8
        {
            reader.leave_chunk();
            return Ok(Some(pos));
        }
        if let Err(error) = reader.chunks.seek_to_chunk_before(middle) {
            if !reader.fail_seeking(error)? {
                self.stopped = true;
                return Ok(None);
            }
            if reader.chunks.pos() >= high {
                // What was left out reaches to the end of the range: look at its beginning.
                if let Err(error) = reader.chunks.seek(low)
                    && !reader.fail_seeking(error)?
                {
                    self.stopped = true;
                    return Ok(None);
                }
            }
        }
        reader.leave_chunk();
        Ok(Some(reader.chunks.pos().max(low)).filter(|&pos| pos < high))
    }

    fn test(&mut self, pos: u64) -> Result<Judgement> {
        let reader = &mut *self.reader;
        if let Err(error) = reader.chunks.seek(pos) {
            return self.skip(error, true);
        }
        reader.leave_chunk();
        let wanted = match reader.chunks.peek_header() {
            Ok(Some(header)) if header.num_records == 0 => {
                reader.chunks.skip_chunk()?;
                reader.leave_chunk();
                return Ok(self.unknown());
            }
            Ok(Some(header)) => ChunkDecoder::cheapest(&header),
            // Whatever is wrong comes up again.
            _ => 0,
        };
        match reader.read_chunk_until(wanted) {
            Ok(true) => self.judge_chunk(),
            // The file ends in this chunk.
            Ok(false) => {
                self.record_index = 0;
                Ok(judgement(Ordering::Greater, pos))
            }
            Err(error) => self.skip(error, false),
        }
    }
}

impl<S: Source> Chunks<'_, S> {
    /// Judges the current chunk by its records.
    fn judge_chunk(&mut self) -> Result<Judgement> {
        let begin = self.reader.chunk_begin;
        let num_records = self.reader.decoder.num_records();
        let last = num_records.saturating_sub(1);
        if !self.reader.decoder.is_available(0)
            && self.reader.decoder.is_available(last)
            && self.reader.judge(last, self.test)? == Some(Ordering::Less)
        {
            self.undecided = None;
            return Ok(judgement(Ordering::Less, self.reader.chunks.pos()));
        }
        for index in 0..num_records {
            match self.reader.judge(index, self.test)? {
                None => {}
                Some(Ordering::Less) => return self.judge_end(begin, index + 1..num_records),
                Some(ordering) => {
                    self.record_index = index;
                    return Ok(judgement(ordering, begin));
                }
            }
        }
        Ok(self.unknown())
    }

    /// Judges the current chunk, of whose records those of `range` and behind are not known to be before.
    fn judge_end(&mut self, begin: u64, range: Range<u64>) -> Result<Judgement> {
        let before = judgement(Ordering::Less, self.reader.chunks.pos());
        self.undecided = None;
        if range.is_empty() {
            return Ok(before);
        }
        let last = range.end - 1;
        if !self.reader.decoder.is_available(last) {
            // Its last record would take decoding all of it.
            self.undecided = Some((begin, range));
            return Ok(before);
        }
        match self.reader.judge(last, self.test)? {
            None => self.undecided = Some((begin, range.start..last)),
            Some(Ordering::Less) => {}
            Some(Ordering::Equal) => {
                self.record_index = last;
                return Ok(judgement(Ordering::Equal, begin));
            }
            Some(Ordering::Greater) => {
                let found = self.reader.search_chunk(range.start..last, self.test)?;
                // Where none of the others is behind, the end of their range is the last one, which is.
                self.inside = Some(match found.ordering {
                    Some(Ordering::Equal) => Ordering::Equal,
                    _ => Ordering::Greater,
                });
                self.record_index = found.pos;
                return Ok(judgement(Ordering::Equal, begin));
            }
        }
        Ok(before)
    }

    /// Passes damage, if that is wanted.
    fn skip(&mut self, error: Error, seeking: bool) -> Result<Judgement> {
        let recovered = match seeking {
            true => self.reader.fail_seeking(error)?,
            false => self.reader.try_recovery(error)?,
        };
        if !recovered {
            self.stopped = true;
        }
        Ok(self.unknown())
    }

    fn unknown(&self) -> Judgement {
        Judgement {
            ordering: None,
            next: self.reader.chunks.pos(),
        }
    }
}

/// The records of the current chunk, by their numbers.
struct Records<'a, S> {
    reader: &'a mut RecordReader<S>,
    test: Test<'a>,
}

impl<S: Source> Positions for Records<'_, S> {
    fn middle(&mut self, low: u64, high: u64) -> Result<Option<u64>> {
        Ok((low < high).then(|| low + (high - low) / 2))
    }

    fn test(&mut self, index: u64) -> Result<Judgement> {
        let ordering = self.reader.judge(index, self.test)?;
        let next = match ordering {
            Some(Ordering::Equal | Ordering::Greater) => index,
            _ => index + 1,
        };
        Ok(Judgement { ordering, next })
    }
}

fn judgement(ordering: Ordering, next: u64) -> Judgement {
    Judgement {
        ordering: Some(ordering),
        next,
    }
}
