//! The records with the least or greatest numbers of a field: from what is kept of it, or else from the records' bytes.

use std::cmp::Ordering;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;

use super::{Selected, Top, first_recno, is_member};
use crate::columns::Columns;
use crate::digits::Shape;
use crate::error::Result;
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
        let Some(cell) = self.number_cell(described) else {
            return self.top_of_doubles(field, count, which, selected);
        };
        let (null, blank) = (self.null_test(described), self.blank_counts());
        let mut worst = Worst::new(&cell, which);
        let mut best = Best::new(count, which);
        let table = self.table();
        let deletion = table.deletion();
        table.visit_blocks(0..table.record_count(), |block| {
            for (i, record) in block.records().enumerate() {
                let taken = match selected {
                    Selected::All => true,
                    Selected::Undeleted => !deletion.is_deleted(record),
                    Selected::Of(set) => is_member(set, &block, i),
                };
                if !taken || worst.as_ref().is_some_and(|worst| worst.is_not_beaten_by(record)) {
                    continue;
                }
                if null.is_some_and(|null| null.is_null(record)) {
                    continue;
                }
                let recno = block.first + 1 + u32::try_from(i).unwrap_or(u32::MAX);
                let number = match cell.exact(record) {
                    Ok(Some(number)) => number,
                    Ok(None) if blank => 0,
                    Ok(None) => continue,
                    Err(()) if table.options.passes_over() => continue,
                    Err(()) => return Err(self.unreadable(field, recno, record)),
                };
                if best.offer(number, recno)
                    && let (Some(worst), Some(number)) = (&mut worst, best.worst())
                {
                    let number = i64::try_from(number).ok();
                    worst.digits = number.and_then(|number| worst.shape.plain_digits(number));
                }
            }
            Ok(())
        })?;
        Ok(best.records())
    }

    /// As [`Columns::top`], from the column: it knows which doubles are blank, and which cannot be read.
    fn top_of_doubles(&self, field: usize, count: usize, which: Top, selected: Selected<'_>) -> Result<Vec<u32>> {
        let voucher = self.voucher()?;
        let mut best = Best::new(count, which);
        for (chunk, records) in self.chunks() {
            let array = self.chunk_column(field, chunk, records.clone(), &voucher)?;
            let numbers = array.as_primitive::<Float64Type>();
            let set = self.selected_rows(records.start, array.len(), selected)?;
            for row in (0..array.len()).filter(|row| numbers.is_valid(*row) && set.contains(first_recno(*row))) {
                best.offer(Double(numbers.value(row)), records.start + first_recno(row));
            }
        }
        Ok(best.records())
    }

    /// As [`Columns::top`], from the words of the field; `None` where they do not tell.
    fn top_of_words(&self, field: usize, count: usize, which: Top, selected: Selected<'_>) -> Result<Option<Vec<u32>>> {
        let described = self.numeric(field)?;
        // Among words a blank is 0.
        let is_told =
            self.blank_counts() && self.null_test(described).is_none() && self.number_cell(described).is_some();
        let voucher = match is_told && count > 0 {
            true => self.words_voucher(Some(field))?,
            false => None,
        };
        let Some(voucher) = voucher else { return Ok(None) };
        let beats = match which {
            Top::Least => Words::any_below,
            Top::Greatest => Words::any_above,
        };
        let mut best = Best::new(count, which);
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
                let worst = best.worst();
                if taken == 0 || worst.is_some_and(|worst| !beats(&words, first..first + len, worst)) {
                    continue;
                }
                for place in (first..first + len).filter(|place| taken >> (place - first) & 1 != 0) {
                    if let Some(number) = words.number(place) {
                        best.offer(number, records.start + 1 + u32::try_from(place).unwrap_or(u32::MAX));
                    }
                }
            }
        }
        Ok(Some(best.records()))
    }
}

/// The best numbers so far with their records, best first; of equal ones the first that was offered.
struct Best<T> {
    count: usize,
    which: Top,
    list: Vec<(T, u32)>,
}

impl<T: Copy + PartialOrd> Best<T> {
    fn new(count: usize, which: Top) -> Self {
        let list = Vec::with_capacity(count.min(1024) + 1);
        Self { count, which, list }
    }

    /// Takes a number if it is among the best; returns whether it is.
    fn offer(&mut self, number: T, recno: u32) -> bool {
        let which = self.which;
        let is_better = |other: &T| match which {
            Top::Least => number < *other,
            Top::Greatest => number > *other,
        };
        if self.list.len() == self.count && !self.list.last().is_some_and(|(last, _)| is_better(last)) {
            return false;
        }
        let at = self.list.partition_point(|(other, _)| !is_better(other));
        self.list.insert(at, (number, recno));
        self.list.truncate(self.count);
        true
    }

    /// The last of them, once there are as many as are wanted: no number counts that is not better.
    fn worst(&self) -> Option<T> {
        let (worst, _) = self.list.last().filter(|_| self.list.len() == self.count)?;
        Some(*worst)
    }

    fn records(self) -> Vec<u32> {
        self.list.into_iter().map(|(_, recno)| recno).collect()
    }
}

/// A double in its total order.
#[derive(Debug, Clone, Copy)]
struct Double(f64);

impl PartialEq for Double {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Double {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.0.total_cmp(&other.0))
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
