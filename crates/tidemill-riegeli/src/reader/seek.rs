//! Moving a reader by positions.
//!
//! Source: google/riegeli, `riegeli/records/record_reader.cc`, `Seek` and `SeekBack`.

use super::RecordReader;
use crate::{Error, RecordPosition, Result, Source};

impl<S: Source> RecordReader<S> {
    /// Returns whether the reader can go to any position: not in a stream.
    pub fn supports_random_access(&self) -> bool {
        self.chunks.supports_random_access()
    }

    /// Goes to a position that [`pos`](Self::pos) or [`last_pos`](Self::last_pos) returned for the same file. Inside the
    /// current chunk that takes no time. False when recovery from damage there was not wanted to continue.
    ///
    /// # Errors
    /// [`Error::Corrupt`] unless recovering, which leaves the reader after the damage; also for positions past the end, or
    /// where no chunk can begin. [`Error::Io`], and as [`read_record`](Self::read_record).
    pub fn seek(&mut self, pos: RecordPosition) -> Result<bool> {
        self.last_record_is_valid = false;
        let current = self.leave_damage() && pos.chunk_begin == self.chunk_begin;
        if !current {
            self.discard_ahead()?;
            if let Err(error) = self.chunks.seek(pos.chunk_begin) {
                return self.fail_seeking(error);
            }
            self.leave_chunk();
        }
        // The beginning of a chunk needs no reading: there may be none at the end of the file.
        if pos.record_index > 0 && self.next_chunk_begin() <= self.chunk_begin {
            match self.read_chunk_until(pos.record_index) {
                Ok(_) => {}
                Err(error) => return self.try_recovery(error),
            }
        }
        self.set_index(pos.record_index);
        Ok(true)
    }

    /// Goes to the record that `pos` stands for: a number from 0 to the size of the file, such as
    /// [`RecordPosition::numeric`] returns. Between records it stands for the next one. False when recovery from damage on
    /// the way was not wanted to continue.
    ///
    /// # Errors
    /// As [`seek`](Self::seek).
    pub fn seek_numeric(&mut self, pos: u64) -> Result<bool> {
        self.last_record_is_valid = false;
        let current = self.leave_damage() && (self.chunk_begin..=self.next_chunk_begin()).contains(&pos);
        if !current {
            self.discard_ahead()?;
            self.decoder.clear();
            self.index = 0;
            if let Err(error) = self.chunks.seek_to_chunk_containing(pos) {
                return self.fail_seeking(error);
            }
            self.leave_chunk();
            if self.chunks.pos() >= pos {
                return Ok(true);
            }
            if let Err(error) = self.read_chunk_until(pos - self.chunk_begin) {
                let goes_on = self.try_recovery(error)?;
                self.chunk_begin = self.next_chunk_begin();
                return Ok(goes_on);
            }
        }
        self.set_index(pos - self.chunk_begin);
        Ok(true)
    }

    /// Goes back by one record. False at the beginning of the file, and when recovery from damage was not wanted to continue.
    ///
    /// # Errors
    /// As [`seek`](Self::seek).
    pub fn seek_back(&mut self) -> Result<bool> {
        self.last_record_is_valid = false;
        self.leave_damage();
        if self.index > 0 {
            self.index -= 1;
            return Ok(true);
        }
        self.discard_ahead()?;
        let mut before = self.chunk_begin;
        while before > 0 {
            self.decoder.clear();
            self.index = 0;
            if let Err(error) = self.chunks.seek_to_chunk_before(before - 1) {
                // Go on from the beginning of the damage.
                before = self.chunks.pos().min(before - 1);
                if !self.fail_seeking(error)? {
                    return Ok(false);
                }
                continue;
            }
            before = self.chunks.pos().min(before - 1);
            if let Err(error) = self.read_chunk() {
                if !self.try_recovery(error)? {
                    return Ok(false);
                }
                continue;
            }
            if self.decoder.num_records() > 0 {
                self.set_index(self.decoder.num_records() - 1);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Moves past the current chunk's last record, or to the record of this number before it.
    pub(super) fn set_index(&mut self, index: u64) {
        let index = index.min(self.decoder.num_records());
        // The number of records is that of a list in memory.
        self.index = usize::try_from(index).unwrap_or(usize::MAX);
    }

    /// Passes the damage that a seek met, if that is wanted.
    pub(super) fn fail_seeking(&mut self, error: Error) -> Result<bool> {
        self.leave_chunk();
        let recovered = self.try_recovery(error);
        self.chunk_begin = self.chunks.pos();
        recovered
    }

    /// Forgets that the current chunk could not be decoded, and returns whether it could.
    fn leave_damage(&mut self) -> bool {
        match self.undecodable.take() {
            Some(_) => {
                self.decoder.clear();
                self.index = 0;
                false
            }
            None => true,
        }
    }
}
