//! A fingerprint of the copied part of a followed file.
//!
//! A position is meaningless in another file, so that samples of the part before it are stored: offsets and checksums (CRC-32C). Records
//! may change after they were copied, which affects few samples. If most samples differ, or the last record has moved to the front, the
//! file was packed, sorted or recreated, and the part after the position is not what was added.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::str::FromStr;

use crate::format::Format;
use crate::{Error, Result};

/// Samples of a file before a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// Of the fields of an xBase table, or of the first bytes of a Riegeli file.
    head: u32,
    /// Numbers of records or blocks, counted from 0, and their checksums; the last sample is right before the position.
    samples: Vec<(u64, u32)>,
}

impl Seen {
    /// Takes the fingerprint of a file before a position.
    pub(super) fn of(path: &Path, format: Format, position: u64) -> Result<Self> {
        let mut file = Sampled::open(path, format).map_err(Error::io(path, "read"))?;
        let units = file.units(position);
        let samples = places(units).map(|place| Ok((place, file.checksum(place)?)));
        let samples = samples.collect::<io::Result<_>>().map_err(Error::io(path, "read"))?;
        let head = file.head;
        Ok(Self { head, samples })
    }

    /// Why the file is another one; `None` if it is the same.
    pub(super) fn differs_from(&self, path: &Path, format: Format) -> Result<Option<&'static str>> {
        let mut file = Sampled::open(path, format).map_err(Error::io(path, "read"))?;
        if file.head != self.head {
            return Ok(Some("its fields are others"));
        }
        let mut changed = 0;
        for (place, checksum) in &self.samples {
            let now = file.checksum(*place).map_err(Error::io(path, "read"))?;
            changed += usize::from(now != *checksum);
        }
        if changed * 2 > self.samples.len() {
            return Ok(Some("most of the records that were copied are others"));
        }
        let Some((last, checksum)) = self.samples.last().filter(|_| changed > 0) else {
            return Ok(None);
        };
        let mut moved = (last.saturating_sub(FURTHEST_MOVE)..*last).rev();
        let has_moved = file.checksum(*last).map_err(Error::io(path, "read"))? != *checksum
            && moved.any(|place| file.checksum(place).is_ok_and(|found| found == *checksum));
        Ok(has_moved.then_some("records that were copied have moved: it was packed"))
    }
}

/// The samples of a file of this many units: evenly distributed, including the first and the last.
fn places(units: u64) -> impl Iterator<Item = u64> {
    let count = units.min(SAMPLES);
    (0..count).map(move |sample| match count {
        1 => units - 1,
        _ => (units - 1) * sample / (count - 1),
    })
}

/// A file that is sampled.
struct Sampled {
    file: File,
    head: u32,
    /// The offset of the first unit, and the bytes of each.
    begin: u64,
    unit: u64,
    /// The part of a unit that may change: the deletion mark.
    skipped: usize,
}

impl Sampled {
    fn open(path: &Path, format: Format) -> io::Result<Self> {
        let mut file = File::open(path)?;
        if format != Format::Xbase {
            let mut head = Vec::new();
            (&mut file).take(64).read_to_end(&mut head)?;
            return Ok(Self {
                file,
                head: crc32c::crc32c(&head),
                begin: 0,
                unit: BLOCK,
                skipped: 0,
            });
        }
        // Version, date and number of records may change; the lengths and the fields may not (docs/formats/dbf.md).
        let mut fixed = [0; 32];
        file.read_exact(&mut fixed)?;
        let length = |at: usize| u64::from(u16::from_le_bytes([fixed[at], fixed[at + 1]]));
        let (begin, unit) = (length(8), length(10).max(1));
        let mut fields = Vec::new();
        (&mut file).take(begin.saturating_sub(32)).read_to_end(&mut fields)?;
        Ok(Self {
            file,
            head: crc32c::crc32c_append(crc32c::crc32c(&fixed[8..12]), &fields),
            begin,
            unit,
            skipped: 1,
        })
    }

    /// The number of complete units before a position.
    fn units(&self, position: u64) -> u64 {
        match self.skipped {
            0 => position / self.unit,
            _ => position,
        }
    }

    fn checksum(&mut self, place: u64) -> io::Result<u32> {
        let at = place.saturating_mul(self.unit).saturating_add(self.begin);
        self.file.seek(SeekFrom::Start(at))?;
        let mut bytes = Vec::new();
        (&mut self.file).take(self.unit).read_to_end(&mut bytes)?;
        Ok(crc32c::crc32c(bytes.get(self.skipped..).unwrap_or_default()))
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.head)?;
        for (place, checksum) in &self.samples {
            write!(f, " {place}:{checksum:08x}")?;
        }
        Ok(())
    }
}

impl FromStr for Seen {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let hexadecimal = |text| u32::from_str_radix(text, 16).map_err(|_| ());
        let mut parts = text.split_ascii_whitespace();
        let head = hexadecimal(parts.next().ok_or(())?)?;
        let samples = parts.map(|part| {
            let (place, checksum) = part.split_once(':').ok_or(())?;
            Ok((place.parse().map_err(|_| ())?, hexadecimal(checksum)?))
        });
        Ok(Self {
            head,
            samples: samples.collect::<Result<_, ()>>()?,
        })
    }
}

const SAMPLES: u64 = 16;
/// How far the last record may have moved to be found again, in records.
const FURTHEST_MOVE: u64 = 1 << 16;
/// The unit of a Riegeli file, in bytes.
const BLOCK: u64 = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    /// A table of numbers, each with one byte of mark and six of text.
    fn table(numbers: impl Iterator<Item = u32>) -> Vec<u8> {
        let records: Vec<u8> = numbers.flat_map(|number| format!(" {number:6}").into_bytes()).collect();
        let count = u32::try_from(records.len() / 7).expect("few");
        let mut bytes = vec![0x03, 126, 11, 25];
        bytes.extend(count.to_le_bytes());
        bytes.extend([65, 0, 7, 0]);
        bytes.resize(32, 0);
        bytes.extend(b"ID\0\0\0\0\0\0\0\0\0N\0\0\0\0\x06");
        bytes.resize(64, 0);
        bytes.push(b'\r');
        bytes.extend(records);
        bytes
    }

    #[test]
    fn a_table_that_was_packed_sorted_or_made_anew_is_told_from_one_that_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.dbf");
        let write = |bytes: &[u8]| std::fs::write(&path, bytes).expect("written");
        write(&table(0..1000));
        let seen = Seen::of(&path, Format::Xbase, 1000).expect("seen");
        assert_eq!(seen.to_string().parse(), Ok(seen.clone()));
        let differs = || seen.differs_from(&path, Format::Xbase).expect("compared");
        assert_eq!(differs(), None);
        write(&table(0..3000));
        assert_eq!(differs(), None, "grown");

        let mut edited = table(0..1500);
        let last = 65 + 999 * 7;
        edited[last + 1..last + 7].copy_from_slice(b"edited");
        edited[65] = b'*';
        write(&edited);
        assert_eq!(differs(), None, "changed and marked");

        for (numbers, what) in [
            ((500..1800).collect::<Vec<_>>(), "packed at the front"),
            ((0..990).chain(993..1800).collect(), "packed near the end"),
            ((0..1500).rev().collect(), "sorted"),
            ((5000..9000).collect(), "made anew"),
        ] {
            write(&table(numbers.into_iter()));
            assert!(differs().is_some(), "{what}");
        }
    }
}
