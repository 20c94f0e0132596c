//! After damage: the next record is where a length has its checksum and as many bytes after it have theirs.
//!
//! Each byte is hashed a few times at most, whatever the lengths say: the checksum of a long part of the window comes from those
//! of what is before its beginning and before its end.

use std::io::{self, Read};

use super::{CHECKSUM_SIZE, HEAD_SIZE, TfRecordReader, checked, is_sound_head, masked};
use crate::{Result, SkippedRegion, error::Damage};

/// What a reader that skips damage keeps.
#[derive(Default)]
pub(super) struct Recovery {
    window: Window,
    /// Where the damage begins that is being passed, and what it is.
    passing: Option<(u64, String)>,
    skipped: Vec<SkippedRegion>,
}

impl Recovery {
    pub(super) fn skipped(&self) -> &[SkippedRegion] {
        &self.skipped
    }
}

/// What is at the position of the reader.
enum Found {
    /// A record of so many bytes.
    Record(usize),
    Damage(Damage),
    End,
}

impl<R: Read> TfRecordReader<R> {
    /// As [`Self::read_record`], passing what is damaged before the next sound record.
    pub(super) fn read_recovering(&mut self) -> Result<Option<&[u8]>> {
        let Some(mut recovery) = self.recovery.take() else {
            return Ok(None);
        };
        let found = self.next_sound(&mut recovery);
        let recovery = self.recovery.insert(recovery);
        Ok(found?.map(|record| recovery.window.get(record)))
    }

    /// Moves past the next sound record and returns where it is in the window.
    fn next_sound(&mut self, recovery: &mut Recovery) -> Result<Option<(usize, usize)>> {
        loop {
            if recovery.passing.is_some() {
                self.pass(&mut recovery.window).map_err(|error| self.io(error))?;
            }
            if let Some((begin, why)) = recovery.passing.take() {
                let end = self.pos;
                recovery.skipped.push(SkippedRegion { begin, end, why });
            }
            match self.find(&mut recovery.window).map_err(|error| self.io(error))? {
                Found::End => return Ok(None),
                Found::Damage(damage) => recovery.passing = Some((self.pos, damage.to_string())),
                Found::Record(length) => {
                    let begin = recovery.window.begin + HEAD_SIZE;
                    self.advance(&mut recovery.window, HEAD_SIZE + length + CHECKSUM_SIZE);
                    return Ok(Some((begin, begin + length)));
                }
            }
        }
    }

    /// Looks at what is at the position.
    fn find(&mut self, window: &mut Window) -> io::Result<Found> {
        let left = window.fill(&mut self.source, HEAD_SIZE)?;
        let Some(head) = left.first_chunk() else {
            return Ok(match left {
                [] => Found::End,
                _ => Found::Damage(Damage::Invalid {
                    what: "length: the file ends in it",
                }),
            });
        };
        let length = match self.length(head) {
            Ok(length) => length,
            Err(damage) => return Ok(Found::Damage(damage)),
        };
        let Some(record) = self.framed(window, length, 0)? else {
            let size = self.size.unwrap_or_else(|| self.pos + window.left().len() as u64);
            return Ok(Found::Damage(Damage::Mismatch {
                what: "the number of bytes of it",
                expected: length,
                found: size.saturating_sub(self.pos + HEAD_SIZE as u64).min(length),
            }));
        };
        let bytes = window.left().get(HEAD_SIZE..HEAD_SIZE + record).unwrap_or_default();
        Ok(match checked("checksum of the record", bytes, window.stored(record)) {
            Ok(()) => Found::Record(record),
            Err(damage) => Found::Damage(damage),
        })
    }

    /// Goes to the next sound record, or to the end. What is damaged but lies between its own sound length and that of the
    /// next record, or the end, is passed as a whole: records inside a record are none of this file.
    fn pass(&mut self, window: &mut Window) -> io::Result<()> {
        loop {
            let left = window.fill(&mut self.source, HEAD_SIZE)?;
            let Some(last) = left.len().checked_sub(HEAD_SIZE) else {
                let left = left.len();
                self.advance(window, left);
                return Ok(());
            };
            let heads = left.windows(HEAD_SIZE).map(|head| self.length_if_sound(head));
            let Some((at, length)) = (0..).zip(heads).find_map(|(at, length)| Some((at, length?))) else {
                self.advance(window, last + 1);
                continue;
            };
            self.advance(window, at);
            let step = match self.framed(window, length, HEAD_SIZE)? {
                None => 1,
                Some(record) if window.is_sound(record) => return Ok(()),
                Some(record) => {
                    let end = HEAD_SIZE + record + CHECKSUM_SIZE;
                    let behind = window.left().get(end..).unwrap_or_default();
                    let is_record = behind.is_empty() || behind.first_chunk().is_some_and(is_sound_head);
                    if is_record { end } else { 1 }
                }
            };
            self.advance(window, step);
        }
    }

    /// Returns the length that a record begins with, if it is one. A length beyond the bound, which most bytes are, is not hashed.
    #[inline]
    fn length_if_sound(&self, head: &[u8]) -> Option<u64> {
        let length = head.first_chunk().map(|length| u64::from_le_bytes(*length))?;
        let is_sound = length <= self.max_record_size && head.first_chunk().is_some_and(is_sound_head);
        is_sound.then_some(length)
    }

    /// Brings a record of `length` bytes into the window, and as many bytes `behind` it as there are; `None` if the source ends
    /// before the record does.
    fn framed(&mut self, window: &mut Window, length: u64, behind: usize) -> io::Result<Option<usize>> {
        let Ok(record) = usize::try_from(length) else {
            return Ok(None);
        };
        let end = record.saturating_add(HEAD_SIZE + CHECKSUM_SIZE);
        if self.size.is_some_and(|size| size.saturating_sub(self.pos) < end as u64) {
            return Ok(None);
        }
        let left = window.fill(&mut self.source, end.saturating_add(behind))?;
        Ok((left.len() >= end).then_some(record))
    }

    fn advance(&mut self, window: &mut Window, bytes: usize) {
        window.begin += bytes;
        self.pos += bytes as u64;
    }
}

/// The bytes from the position of the reader on.
#[derive(Default)]
pub(super) struct Window {
    bytes: Vec<u8>,
    /// Where the position is, and where what was read ends.
    begin: usize,
    end: usize,
    /// Whether the source has ended.
    ended: bool,
    /// Checksums of what is before each multiple of [`BLOCK`], from some beginning that they have in common.
    sums: Vec<u32>,
    #[cfg(test)]
    hashed: usize,
}

impl Window {
    pub(super) fn get(&self, range: (usize, usize)) -> &[u8] {
        self.bytes.get(range.0..range.1).unwrap_or_default()
    }

    fn left(&self) -> &[u8] {
        self.get((self.begin, self.end))
    }

    /// Reads until there are `wanted` bytes, or the source ends, and returns them and those read along.
    fn fill(&mut self, source: &mut impl Read, wanted: usize) -> io::Result<&[u8]> {
        while self.end - self.begin < wanted && !self.ended {
            self.make_room();
            let room = self.bytes.get_mut(self.end..).unwrap_or_default();
            match source.read(room) {
                Ok(0) => self.ended = true,
                Ok(read) => self.end += read.min(room.len()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.left())
    }

    /// Makes room after what was read: by dropping what is before the position where that is more than what is after it.
    fn make_room(&mut self) {
        if self.bytes.len() > self.end {
            return;
        }
        if self.begin >= BLOCK && self.begin >= self.end - self.begin {
            let blocks = self.begin / BLOCK;
            let dropped = blocks * BLOCK;
            self.bytes.copy_within(dropped..self.end, 0);
            self.begin -= dropped;
            self.end -= dropped;
            self.sums.drain(..blocks.min(self.sums.len()));
        }
        let room = self.end.clamp(SMALLEST_READ, LARGEST_READ);
        if self.bytes.len() < self.end + room {
            self.bytes.resize(self.end + room, 0);
        }
    }

    /// Returns the checksum after the record at the position.
    fn stored(&self, record: usize) -> [u8; CHECKSUM_SIZE] {
        let behind = self.left().get(HEAD_SIZE + record..).unwrap_or_default();
        behind.first_chunk().copied().unwrap_or_default()
    }

    /// Returns whether the record at the position has its checksum.
    fn is_sound(&mut self, record: usize) -> bool {
        let begin = self.begin + HEAD_SIZE;
        masked(self.sum(begin, begin + record)).to_le_bytes() == self.stored(record)
    }

    /// Returns the checksum of a part of the window, in a time that does not depend on its length.
    fn sum(&mut self, begin: usize, end: usize) -> u32 {
        if end - begin <= 2 * BLOCK {
            return self.hash(0, begin, end);
        }
        let before = self.sum_before(begin);
        self.sum_before(end) ^ crc32c::crc32c_combine(before, 0, end - begin)
    }

    fn sum_before(&mut self, end: usize) -> u32 {
        let blocks = end / BLOCK;
        while self.sums.len() <= blocks {
            let next = match self.sums.last() {
                None => 0,
                Some(&sum) => {
                    let last = (self.sums.len() - 1) * BLOCK;
                    self.hash(sum, last, last + BLOCK)
                }
            };
            self.sums.push(next);
        }
        let sum = self.sums.get(blocks).copied().unwrap_or_default();
        self.hash(sum, blocks * BLOCK, end)
    }

    fn hash(&mut self, sum: u32, begin: usize, end: usize) -> u32 {
        #[cfg(test)]
        {
            self.hashed += end - begin;
        }
        crc32c::crc32c_append(sum, self.get((begin, end)))
    }
}

/// Bytes between two checksums that are kept: little beside a checksum's four, and soon hashed.
const BLOCK: usize = 4 << 10;

/// Bytes that are asked for at a time. A length that lies makes the window as long as what is there.
const SMALLEST_READ: usize = 64 << 10;
const LARGEST_READ: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::TfRecordWriter, *};
    use crate::{BytesSource, Error};

    /// A file of these records, and where each begins and the last ends.
    fn written(records: &[Vec<u8>]) -> (Vec<u8>, Vec<usize>) {
        let mut writer = TfRecordWriter::new(Vec::new());
        let mut begins = vec![0];
        for record in records {
            writer.write_record(record).expect("written");
            begins.push(begins[begins.len() - 1] + HEAD_SIZE + record.len() + CHECKSUM_SIZE);
        }
        (writer.close().expect("closed"), begins)
    }

    type Salvaged = (Vec<Vec<u8>>, Vec<(usize, usize)>);

    fn salvaged_by<R: Read>(reader: TfRecordReader<R>) -> Salvaged {
        let mut reader = reader.recover(true);
        let mut records = Vec::new();
        while let Some(record) = reader.read_record().expect("no damage that stops") {
            records.push(record.to_vec());
        }
        let position = |position| usize::try_from(position).expect("memory");
        let regions = reader
            .skipped()
            .iter()
            .map(|region| (position(region.begin), position(region.end)));
        (records, regions.collect())
    }

    /// What is salvaged, the same of a source of known size and of a stream in small pieces.
    #[track_caller]
    fn salvaged(file: &[u8]) -> Salvaged {
        let known = salvaged_by(TfRecordReader::from_source(BytesSource(file), "file").expect("memory"));
        assert_eq!(salvaged_by(TfRecordReader::new(Pieces(file))), known);
        known
    }

    struct Pieces<'a>(&'a [u8]);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = buffer.len().min(7);
            self.0.read(&mut buffer[..length])
        }
    }

    fn records() -> Vec<Vec<u8>> {
        ["", "one", "", "a longer one, of some bytes", "four", "5"]
            .map(|text| text.as_bytes().to_vec())
            .to_vec()
    }

    #[test]
    fn a_damaged_byte_costs_its_record_alone() {
        let records = records();
        let (file, begins) = written(&records);
        for at in 0..file.len() {
            let hit = begins.iter().rposition(|&begin| begin <= at).expect("a record");
            let mut others = records.clone();
            others.remove(hit);
            for bit in 0..8 {
                let mut damaged = file.clone();
                damaged[at] ^= 1 << bit;
                let expected = (others.clone(), vec![(begins[hit], begins[hit + 1])]);
                assert_eq!(salvaged(&damaged), expected, "bit {bit} of byte {at}");
            }
        }
    }

    #[test]
    fn what_is_cut_out_or_put_in_costs_what_it_touches() {
        let records = records();
        let (file, begins) = written(&records);
        for at in 0..=file.len() {
            let whole = begins.iter().filter(|&&begin| begin <= at).count() - 1;
            let behind = begins.iter().filter(|&&begin| begin >= at).count();
            // Cut off here.
            let (found, regions) = salvaged(&file[..at]);
            assert_eq!(found, records[..whole], "cut off at {at}");
            let tail = (begins[whole] < at).then_some((begins[whole], at));
            assert_eq!(regions, Vec::from_iter(tail), "cut off at {at}");
            // Garbage here.
            let (found, regions) = salvaged(&[&file[..at], b"no record at all", &file[at..]].concat());
            let left = records.len() + 1 - behind.min(records.len() + 1);
            assert_eq!(found, [&records[..whole], &records[left..]].concat(), "garbage at {at}");
            assert_eq!(regions.len(), 1, "garbage at {at}");
            // A beginning that is missing.
            let (found, _) = salvaged(&file[at..]);
            assert_eq!(found, records[left..], "from {at} on");
        }
    }

    #[test]
    fn several_damaged_places_are_several_regions() {
        let records: Vec<Vec<u8>> = (0..100_u8).map(|number| vec![number; 3_000]).collect();
        let (mut file, begins) = written(&records);
        // Two records beside each other are one region, and the end is one too.
        for record in [3, 4, 50, 99] {
            file[begins[record] + 5] ^= 1;
            file[begins[record] + 1_000] ^= 1;
        }
        let (found, regions) = salvaged(&file);
        let sound = (0..100).filter(|record| ![3, 4, 50, 99].contains(record));
        assert!(found.iter().eq(sound.map(|record| &records[record])));
        let region = |first: usize, end: usize| (begins[first], begins[end]);
        assert_eq!(regions, [region(3, 5), region(50, 51), region(99, 100)]);
    }

    #[test]
    fn records_in_a_damaged_record_are_not_taken_for_others() {
        let (inner, _) = written(&records());
        let (mut file, begins) = written(&[b"before".to_vec(), inner.clone(), b"behind".to_vec()]);
        file[begins[2] - 1] ^= 1;
        let (found, regions) = salvaged(&file);
        assert_eq!(found, [b"before".to_vec(), b"behind".to_vec()]);
        assert_eq!(regions, [(begins[1], begins[2])]);
        // The same after another damaged record.
        file[0] ^= 1;
        let (found, regions) = salvaged(&file);
        assert_eq!((found, regions), (vec![b"behind".to_vec()], vec![(0, begins[2])]));
        // Without its length nothing tells that they are inside.
        let (mut file, _) = written(&[inner, b"behind".to_vec()]);
        file[0] ^= 1;
        assert_eq!(salvaged(&file).0.len(), records().len() + 1);
    }

    #[test]
    fn a_length_that_lies_takes_no_more_than_there_is() {
        let mut file = (1_u64 << 29).to_le_bytes().to_vec();
        file.extend(masked(crc32c::crc32c(&file)).to_le_bytes());
        let (sound, _) = written(&records());
        let whole = [&file[..], &sound].concat();
        assert_eq!(salvaged(&whole), (records(), vec![(0, HEAD_SIZE)]));
        let reader = TfRecordReader::new(&whole[..]).max_record_size(8);
        let (found, regions) = salvaged_by(reader);
        // The longest record is beyond the bound, as the first length is.
        assert_eq!((found.len(), regions.len()), (records().len() - 1, 2));
    }

    #[test]
    fn nested_lengths_are_hashed_once() {
        // Each claims all that is after it, so that hashing each record would take as many bytes squared.
        const LENGTHS: u64 = 2_000;
        const BEHIND: u64 = 4 << 20;
        let mut file = Vec::new();
        for number in (0..LENGTHS).rev() {
            let length = (number * HEAD_SIZE as u64 + BEHIND).to_le_bytes();
            file.extend(length);
            file.extend(masked(crc32c::crc32c(&length)).to_le_bytes());
        }
        file.resize(file.len() + BEHIND as usize, 7);
        file.extend([0; CHECKSUM_SIZE]);
        let begin = file.len();
        file.extend(written(&[b"sound".to_vec()]).0);
        // What is after them is not a record, so that none of them is passed as a whole.
        file.insert(begin, 0);
        let mut reader = TfRecordReader::new(&file[..]).recover(true);
        assert_eq!(reader.read_record().expect("recovers"), Some(&b"sound"[..]));
        assert_eq!(reader.skipped()[0].end, begin as u64 + 1);
        let hashed = reader.recovery.expect("recovering").window.hashed;
        assert!(hashed < file.len() + LENGTHS as usize * 2 * BLOCK, "{hashed} bytes");
    }

    #[test]
    fn a_sum_of_any_part_is_that_of_its_bytes() {
        let bytes: Vec<u8> = (0..200_000_u32)
            .map(|number| (number.wrapping_mul(number) >> 7) as u8)
            .collect();
        let mut window = Window::default();
        let mut source = &bytes[..];
        window.fill(&mut source, bytes.len()).expect("memory");
        for (begin, end) in [(0, 0), (5, 9), (1, 8_193), (0, 8_193), (4_096, 199_999), (77, 200_000)] {
            assert_eq!(
                window.sum(begin, end),
                crc32c::crc32c(&bytes[begin..end]),
                "{begin}..{end}"
            );
        }
    }

    /// Fails once, after so many bytes.
    struct Failing<'a>(&'a [u8], Option<usize>);

    impl Read for Failing<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = match &mut self.1 {
                Some(0) => {
                    self.1 = None;
                    return Err(io::ErrorKind::TimedOut.into());
                }
                Some(left) => {
                    let length = buffer.len().min(*left);
                    *left -= length;
                    length
                }
                None => buffer.len(),
            };
            self.0.read(&mut buffer[..length])
        }
    }

    #[test]
    fn a_source_that_fails_once_is_gone_on_with() {
        let records: Vec<Vec<u8>> = (0..40_u8).map(|number| vec![number; 100]).collect();
        let (mut file, begins) = written(&records);
        (begins[5]..begins[30]).for_each(|at| file[at] = 7);
        for at in (0..file.len()).step_by(13) {
            let mut reader = TfRecordReader::new(Failing(&file, Some(at))).recover(true);
            let (mut found, mut failures) = (Vec::new(), 0);
            loop {
                match reader.read_record() {
                    Ok(Some(record)) => found.push(record.to_vec()),
                    Ok(None) => break,
                    Err(error) => {
                        assert!(matches!(error, Error::Io { .. }), "{error}");
                        failures += 1;
                    }
                }
            }
            assert_eq!(failures, 1);
            assert!(found.iter().eq(records[..5].iter().chain(&records[30..])), "{at}");
            let [region] = reader.skipped() else {
                panic!("{:?}", reader.skipped())
            };
            assert_eq!((region.begin, region.end), (begins[5] as u64, begins[30] as u64));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn records_that_are_not_hit_are_found(
            records in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..9_000), 1..8),
            hits in prop::collection::vec((any::<prop::sample::Index>(), 1..=255_u8), 1..5),
        ) {
            let (mut file, begins) = written(&records);
            let mut expected: Vec<Option<&Vec<u8>>> = records.iter().map(Some).collect();
            for (at, mask) in hits {
                let at = at.index(file.len());
                file[at] ^= mask;
                expected[begins.iter().rposition(|&begin| begin <= at).expect("a record")] = None;
            }
            let (found, _) = salvaged(&file);
            // Two hits of a byte may undo each other.
            let mut found = found.iter();
            for record in expected.into_iter().flatten() {
                prop_assert!(found.any(|other| other == record));
            }
        }
    }
}
