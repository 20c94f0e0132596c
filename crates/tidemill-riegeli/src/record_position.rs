//! Where a record is: the beginning of its chunk and its number in the chunk.
//!
//! Source: google/riegeli, `riegeli/records/record_position.h`: the text form is `chunk_begin/record_index`, and the sum of
//! both numbers orders records like a file position.

use std::{fmt, str::FromStr};

use crate::Error;

/// The position of a record, or of the place where the next one will be. Positions order as the records do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordPosition {
    /// File position of the chunk.
    pub chunk_begin: u64,
    /// Number of the record in the chunk, from 0.
    pub record_index: u64,
}

impl RecordPosition {
    /// Returns the position of record `record_index` of the chunk at `chunk_begin`.
    pub fn new(chunk_begin: u64, record_index: u64) -> Self {
        Self {
            chunk_begin,
            record_index,
        }
    }

    /// Returns the number resembling a file position that stands for the record: unique in the file, and inside its chunk.
    pub fn numeric(self) -> u64 {
        self.chunk_begin.saturating_add(self.record_index)
    }
}

impl fmt::Display for RecordPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.chunk_begin, self.record_index)
    }
}

impl FromStr for RecordPosition {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        text.split_once('/')
            .and_then(|(chunk, index)| Some(Self::new(chunk.parse().ok()?, index.parse().ok()?)))
            .ok_or_else(|| Error::Position { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_as_text() {
        let pos = RecordPosition::new(1_352, 299);
        assert_eq!(pos.to_string(), "1352/299");
        assert_eq!("1352/299".parse::<RecordPosition>().expect("a position"), pos);
        assert_eq!(pos.numeric(), 1_651);
        for wrong in ["", "1352", "1352/", "/1", "-1/0", "1/2/3"] {
            assert!(wrong.parse::<RecordPosition>().is_err(), "{wrong:?}");
        }
    }
}
