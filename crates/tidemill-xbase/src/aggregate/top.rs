//! The records with the least or greatest numbers of a field: from what is kept of it, or else from the records' bytes.

use super::{Selected, Top, is_deleted, is_member, is_null};
use crate::columns::Columns;
use crate::digits::Shape;
use crate::error::Result;
use crate::expression::{Record, RecordBytes};
use crate::kernels::number::NumberCell;
use crate::kernels::words::Words;

impl Columns {
    /// The records with the least or greatest numbers of a field, best first; of equal ones the first in the table. Records
    /// without a number are left out.
    ///
    /// # Errors
    /// As [`Columns::summary`].
    pub fn top(&self, field: usize, count: usize, which: Top, selected: Selected<'_>) -> Result<Vec<u32>> {
        if let Some(records) = self.top_of_words(field, count, which, selected)? {
            return Ok(records);
        }
        let described = self.numeric(field)?;
        let (cell, null, blank) = (
            self.number_cell(described),
            self.null_bit(described),
            self.blank_counts(),
        );
        let mut worst = cell.as_ref().and_then(|cell| Worst::new(cell, which));
        let mut best: Vec<(Ranked, u32)> = Vec::with_capacity(count.min(1024) + 1);
        let table = self.table();
        table.visit_blocks(0..table.record_count(), |block| {
            for (i, record) in block.records().enumerate() {
                let taken = match selected {
                    Selected::All => true,
                    Selected::Undeleted => !is_deleted(record),
                    Selected::Of(set) => is_member(set, &block, i),
                };
                if !taken || worst.as_ref().is_some_and(|worst| worst.is_not_beaten_by(record)) {
                    continue;
                }
                if null.is_some_and(|null| is_null(record, null)) {
                    continue;
                }
                let recno = block.first + 1 + u32::try_from(i).unwrap_or(u32::MAX);
                let number = match &cell {
                    Some(cell) => match cell.exact(record) {
                        Ok(Some(number)) => Ranked::Whole(number),
                        Ok(None) if blank => Ranked::Whole(0),
                        Ok(None) => continue,
                        Err(()) if table.options.recover => continue,
                        Err(()) => return Err(self.unreadable(field, recno, record)),
                    },
                    None => match RecordBytes::new(table, recno, record).value(field)? {
                        crate::expression::Value::Number(number) => Ranked::Double(number),
                        _ => continue,
                    },
                };
                let is_better = |other: &Ranked| match which {
                    Top::Least => number.before(other),
                    Top::Greatest => other.before(&number),
                };
                if best.len() == count && !best.last().is_some_and(|(last, _)| is_better(last)) {
                    continue;
                }
                let at = best.partition_point(|(other, _)| !is_better(other));
                best.insert(at, (number, recno));
                best.truncate(count);
                if let (Some(worst), true, Some((Ranked::Whole(number), _))) =
                    (&mut worst, best.len() == count, best.last())
                {
                    let number = i64::try_from(*number).ok();
                    worst.digits = number.and_then(|number| worst.shape.plain_digits(number));
                }
            }
            Ok(())
        })?;
        Ok(best.into_iter().map(|(_, recno)| recno).collect())
    }

    /// As [`Columns::top`], from the words of the field; `None` where they do not tell.
    fn top_of_words(&self, field: usize, count: usize, which: Top, selected: Selected<'_>) -> Result<Option<Vec<u32>>> {
        let described = self.numeric(field)?;
        // Among words a blank is 0.
        let is_told =
            self.blank_counts() && self.null_bit(described).is_none() && self.number_cell(described).is_some();
        let voucher = match is_told && count > 0 {
            true => self.words_voucher(Some(field))?,
            false => None,
        };
        let Some(voucher) = voucher else { return Ok(None) };
        let beats = match which {
            Top::Least => Words::any_below,
            Top::Greatest => Words::any_above,
        };
        let mut best: Vec<(i64, u32)> = Vec::with_capacity(count.min(1024) + 1);
        for (chunk, records) in self.chunks() {
            let Some(words) = self.words(field, chunk, &records, &voucher)? else {
                return Ok(None);
            };
            let deleted = match selected {
                Selected::Undeleted => Some(self.deleted(chunk, &records, &voucher)?),
                Selected::All | Selected::Of(_) => None,
            };
            // Chunks begin with a whole word of the set.
            let from = records.start as usize / 64;
            for (word, first) in (0..records.len()).step_by(64).enumerate() {
                let len = (records.len() - first).min(64);
                let taken = match (&selected, &deleted) {
                    (Selected::Of(set), _) => set.words().get(from + word).copied().unwrap_or(0),
                    (_, Some(deleted)) => !deleted.get(word).copied().unwrap_or(0),
                    _ => u64::MAX,
                };
                let worst = best.last().filter(|_| best.len() == count).map(|(worst, _)| *worst);
                if taken == 0 || worst.is_some_and(|worst| !beats(&words, first..first + len, worst)) {
                    continue;
                }
                for place in (first..first + len).filter(|place| taken >> (place - first) & 1 != 0) {
                    let Some(number) = words.number(place) else { continue };
                    let is_better = |other: i64| match which {
                        Top::Least => number < other,
                        Top::Greatest => number > other,
                    };
                    if best.len() == count && !best.last().is_some_and(|(last, _)| is_better(*last)) {
                        continue;
                    }
                    let at = best.partition_point(|(other, _)| !is_better(*other));
                    let recno = records.start + 1 + u32::try_from(place).unwrap_or(u32::MAX);
                    best.insert(at, (number, recno));
                    best.truncate(count);
                }
            }
        }
        Ok(Some(best.into_iter().map(|(_, recno)| recno).collect()))
    }
}

/// A number of a top list.
#[derive(Debug, Clone, Copy)]
enum Ranked {
    Whole(i128),
    Double(f64),
}

impl Ranked {
    fn before(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a < b,
            (Self::Double(a), Self::Double(b)) => a.total_cmp(b).is_lt(),
            _ => false,
        }
    }
}

/// The last number of a top list that is full, as digits, so that most records are not read.
struct Worst {
    shape: Shape<u64>,
    at: usize,
    shift: u32,
    which: Top,
    digits: Option<u64>,
}

impl Worst {
    fn new(cell: &NumberCell, which: Top) -> Option<Self> {
        let (shape, at, shift) = cell.short()?;
        Some(Self {
            shape,
            at,
            shift,
            which,
            digits: None,
        })
    }

    /// Whether a record certainly has no better number.
    #[inline(always)]
    fn is_not_beaten_by(&self, record: &[u8]) -> bool {
        let Some((worst, word)) = self
            .digits
            .zip(record.get(self.at..).and_then(|rest| rest.first_chunk()))
        else {
            return false;
        };
        let plain = self
            .shape
            .plain((u64::from_le_bytes(*word) << self.shift).to_le_bytes());
        let is_worse = match self.which {
            Top::Greatest => plain.digits <= worst,
            Top::Least => plain.digits >= worst,
        };
        is_worse & self.shape.is_plain(plain.excess, plain.bytes)
    }
}
