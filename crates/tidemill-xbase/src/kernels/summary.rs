//! Count, sum, least and greatest of a numeric field.
//!
//! Digits in their usual form are not read but added place by place, up to 28 of them before a place is full, and compared as
//! words. Records in another form are read one by one.

use super::Block;
use super::number::NumberCell;
use crate::digits::{Plain, Shape};

/// What was seen of a numeric field: whole numbers, scaled by its decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) count: u64,
    pub(crate) sum: i128,
    /// Above `max` when there is none.
    pub(crate) min: i128,
    pub(crate) max: i128,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            count: 0,
            sum: 0,
            min: i128::MAX,
            max: i128::MIN,
        }
    }
}

impl Tally {
    #[inline]
    pub(crate) fn add(&mut self, number: i128) {
        self.count += 1;
        // Four thousand million numbers of 38 digits would be needed to come to the end.
        self.sum = self.sum.saturating_add(number);
        self.min = self.min.min(number);
        self.max = self.max.max(number);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

/// Which records of a block are added up, by their place in the block and their bytes.
pub(crate) trait Selects {
    /// Whether the byte of the deletion flag says, when it is a blank, that a record is selected.
    const BY_FLAG: bool;

    fn selects(&self, at: usize, record: &[u8]) -> bool;
}

/// Those without the deletion flag.
pub(crate) struct Undeleted;

impl Selects for Undeleted {
    const BY_FLAG: bool = true;

    #[inline(always)]
    fn selects(&self, _at: usize, record: &[u8]) -> bool {
        record.first() != Some(&b'*')
    }
}

impl<F: Fn(usize, &[u8]) -> bool> Selects for F {
    const BY_FLAG: bool = false;

    #[inline(always)]
    fn selects(&self, at: usize, record: &[u8]) -> bool {
        self(at, record)
    }
}

/// Adds up a field of the selected records. Blanks are 0 or, without `blank_counts`, not there. `Err` is the place of a record
/// whose bytes are no number.
pub(crate) fn summarise<S: Selects>(
    cell: &NumberCell,
    block: &Block<'_>,
    blank_counts: bool,
    selected: &S,
) -> Result<Tally, usize> {
    let mut tally = Tally::default();
    let one_by_one = |records: &[u8], first: usize, tally: &mut Tally| -> Result<(), usize> {
        for (at, record) in (first..).zip(records.chunks_exact(block.stride)) {
            if selected.selects(at, record) {
                match cell.exact(record).map_err(|()| at)? {
                    Some(number) => tally.add(number),
                    None if blank_counts => tally.add(0),
                    None => {}
                }
            }
        }
        Ok(())
    };
    let Some((shape, at, shift)) = cell.short() else {
        one_by_one(block.bytes, 0, &mut tally)?;
        return Ok(tally);
    };
    let mut plain = PlainTally::default();
    for (span, records) in block.bytes.chunks(SPAN * block.stride).enumerate() {
        let first = span * SPAN;
        let reader = SpanReader {
            shape: &shape,
            stride: block.stride,
            at,
            shift,
        };
        // Most often no record of a span is deleted, and few are beyond those before.
        let all = match plain.min {
            Some(min) if S::BY_FLAG => reader.read_all(records, [min, plain.max]),
            _ => None,
        };
        let span = all.unwrap_or_else(|| reader.read_some(records, |i, record| selected.selects(first + i, record)));
        if shape.is_plain(span.excess, span.bytes) && !shape.ends_blank(span.bytes) {
            plain.add(&span);
        } else {
            one_by_one(records, first, &mut tally)?;
        }
    }
    tally.merge(&plain.finish(&shape));
    Ok(tally)
}

/// So many digits up to 9 have a sum that fits a byte.
const SPAN: usize = 28;

/// What was seen of some records.
struct Span {
    count: u64,
    /// The sums of the places.
    places: u64,
    min: u64,
    max: u64,
    excess: u64,
    bytes: u64,
}

struct SpanReader<'s> {
    shape: &'s Shape<u64>,
    stride: usize,
    at: usize,
    shift: u32,
}

impl SpanReader<'_> {
    /// What there is of all records; `None` when the deletion flag of one is no blank. The bounds are those of records before.
    #[inline(always)]
    fn read_all(&self, records: &[u8], bounds: [u64; 2]) -> Option<Span> {
        match self.shift {
            0 => self.all(records, 0, bounds),
            shift => self.all(records, shift, bounds),
        }
    }

    /// What there is of the selected records.
    #[inline(always)]
    fn read_some(&self, records: &[u8], selects: impl Fn(usize, &[u8]) -> bool) -> Span {
        match self.shift {
            0 => self.some(records, 0, selects),
            shift => self.some(records, shift, selects),
        }
    }

    #[inline(always)]
    fn all(&self, records: &[u8], shift: u32, [mut min, mut max]: [u64; 2]) -> Option<Span> {
        let (mut places, mut excess, mut bytes, mut flags, mut count) = (0_u64, 0, 0, 0, 0);
        let mut rest = records;
        while let Some((record, behind)) = rest.split_at_checked(self.stride) {
            let plain = self.plain(record, shift);
            flags |= record.first().copied().unwrap_or_default() ^ b' ';
            places = places.wrapping_add(plain.digits);
            excess |= plain.excess;
            bytes |= plain.bytes;
            if plain.digits.wrapping_sub(min) > max.wrapping_sub(min) {
                (min, max) = (min.min(plain.digits), max.max(plain.digits));
            }
            (rest, count) = (behind, count + 1);
        }
        (flags == 0).then_some(Span {
            count,
            places,
            min,
            max,
            excess,
            bytes,
        })
    }

    #[inline(always)]
    fn some(&self, records: &[u8], shift: u32, selects: impl Fn(usize, &[u8]) -> bool) -> Span {
        let mut span = Span {
            count: 0,
            places: 0,
            min: u64::MAX,
            max: 0,
            excess: 0,
            bytes: 0,
        };
        let (mut rest, mut i) = (records, 0);
        while let Some((record, behind)) = rest.split_at_checked(self.stride) {
            let plain = self.plain(record, shift);
            let is_selected = u64::from(selects(i, record));
            // All bits, or none.
            let mask = is_selected.wrapping_neg();
            span.count += is_selected;
            span.places = span.places.wrapping_add(plain.digits & mask);
            span.min = span.min.min(plain.digits | !mask);
            span.max = span.max.max(plain.digits & mask);
            span.excess |= plain.excess;
            span.bytes |= plain.bytes;
            (rest, i) = (behind, i + 1);
        }
        span
    }

    #[inline(always)]
    fn plain(&self, record: &[u8], shift: u32) -> Plain<u64> {
        let word = record
            .get(self.at..)
            .and_then(|bytes| bytes.first_chunk())
            .copied()
            .unwrap_or_default();
        self.shape.plain((u64::from_le_bytes(word) << shift).to_le_bytes())
    }
}

/// The sums of many spans.
#[derive(Default)]
struct PlainTally {
    count: u64,
    /// The sums of the places.
    places: [u64; 8],
    min: Option<u64>,
    max: u64,
}

impl PlainTally {
    #[inline(always)]
    fn add(&mut self, span: &Span) {
        if span.count == 0 {
            return;
        }
        self.count += span.count;
        for (place, sum) in self.places.iter_mut().zip(span.places.to_le_bytes()) {
            *place += u64::from(sum);
        }
        self.min = Some(self.min.map_or(span.min, |min| min.min(span.min)));
        self.max = self.max.max(span.max);
    }

    fn finish(&self, shape: &Shape<u64>) -> Tally {
        let Some(min) = self.min else {
            return Tally::default();
        };
        let number = |digits: u64| shape.plain_value(|place| (digits >> (8 * place)) & 0xFF);
        Tally {
            count: self.count,
            sum: shape.plain_value(|place| self.places.get(place as usize).copied().unwrap_or_default()),
            min: number(min),
            max: number(self.max),
        }
    }
}
