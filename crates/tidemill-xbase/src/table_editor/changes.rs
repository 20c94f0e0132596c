//! Which records an editor changed, for whoever keeps something that was made of them: a filter, decoded columns.
//!
//! Nobody is called back. An editor counts its changes and remembers the last ones; who keeps something asks from time to time
//! what has changed since it last asked, and is told either some records or that it has to look at all of them. So a change
//! costs a few nanoseconds however many ask.
//!
//! # What this module does not do
//!
//! It knows nothing of what other programs, or other editors of this one, write into records that are there already. Records
//! that they append are told once this editor has noticed them (see [`TableEditor::refresh`]).

use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

use super::TableEditor;

/// A moment in what an editor changes, from [`TableEditor::change_number`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeNumber {
    editor: u64,
    serial: u64,
    taken_back: u64,
}

/// What was changed since a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changes {
    /// Any record, and perhaps how many there are and what fields they have.
    All,
    /// At most these records, numbered from 1: in ascending order, none of them twice and no two ranges side by side. Those
    /// behind the last one that there was are new. Empty when nothing was changed.
    Records(Vec<RangeInclusive<u32>>),
}

impl TableEditor {
    /// The moment after the last change.
    pub fn change_number(&self) -> ChangeNumber {
        ChangeNumber {
            // First, so that what another thread takes back meanwhile is told the next time.
            taken_back: self.file.taken_back(),
            editor: self.history.editor,
            serial: self.history.serial,
        }
    }

    /// What was changed since a moment, which becomes the moment after the last change: records that were appended, replaced,
    /// deleted or recalled here, and those that others appended as far as this editor has noticed them.
    ///
    /// It is [`Changes::All`] after [`pack`](TableEditor::pack), [`zap`](TableEditor::zap) and
    /// [`alter`](TableEditor::alter), when a transaction that changed the table was rolled back, if only to a savepoint, when
    /// appending failed half way, after more than 1,024 changes (a batch is one), and for a moment of another editor.
    ///
    /// ```
    /// use tidemill_xbase::{Changes, CivilDate, CreateOptions, EditOptions, FieldSpec, TableEditor, TableWriter};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("orders.dbf");
    /// # let today = CivilDate { year: 2026, month: 11, day: 21 };
    /// # TableWriter::create(&path, &[FieldSpec::new("NAME", 'C', 20, 0)], &CreateOptions::new(today))?.finish()?;
    /// let mut table = TableEditor::open(&path, &EditOptions::new(today))?;
    /// let mut seen = table.change_number();
    /// table.append()?;
    /// table.append()?;
    /// table.delete(1)?;
    /// assert_eq!(table.changes_since(&mut seen), Changes::Records(vec![1..=2]));
    /// assert_eq!(table.changes_since(&mut seen), Changes::Records(vec![]));
    /// table.pack()?;
    /// assert_eq!(table.changes_since(&mut seen), Changes::All);
    /// # Ok(())
    /// # }
    /// ```
    pub fn changes_since(&self, moment: &mut ChangeNumber) -> Changes {
        let now = self.change_number();
        let since = std::mem::replace(moment, now);
        if since == now {
            return Changes::Records(Vec::new());
        }
        if (since.editor, since.taken_back) != (now.editor, now.taken_back) {
            return Changes::All;
        }
        self.history.since(since.serial)
    }
}

/// The last changes of an editor.
#[derive(Debug)]
pub(super) struct History {
    /// Tells editors apart.
    editor: u64,
    /// How many changes there were.
    serial: u64,
    /// The records of the last changes, the newest last.
    records: VecDeque<RangeInclusive<u32>>,
}

impl Default for History {
    fn default() -> Self {
        static EDITORS: AtomicU64 = AtomicU64::new(0);
        Self {
            editor: EDITORS.fetch_add(1, Ordering::Relaxed),
            serial: 0,
            records: VecDeque::new(),
        }
    }
}

impl History {
    /// Takes note that records may have changed.
    pub(super) fn note(&mut self, records: RangeInclusive<u32>) {
        if records.is_empty() {
            return;
        }
        if self.records.len() == REMEMBERED {
            self.records.pop_front();
        }
        self.records.push_back(records);
        self.serial += 1;
    }

    /// Takes note that anything may have changed.
    pub(super) fn note_all(&mut self) {
        self.records.clear();
        self.serial += 1;
    }

    /// How many changes there were.
    pub(super) fn serial(&self) -> u64 {
        self.serial
    }

    fn since(&self, serial: u64) -> Changes {
        let missed = usize::try_from(self.serial.saturating_sub(serial)).unwrap_or(usize::MAX);
        let Some(known) = self.records.len().checked_sub(missed) else {
            return Changes::All;
        };
        let mut changed: Vec<_> = self.records.range(known..).cloned().collect();
        changed.sort_unstable_by_key(|records| *records.start());
        let mut merged: Vec<RangeInclusive<u32>> = Vec::with_capacity(changed.len());
        for records in changed {
            match merged.last_mut() {
                Some(last) if *records.start() <= last.end().saturating_add(1) => {
                    *last = *last.start()..=*last.end().max(records.end());
                }
                _ => merged.push(records),
            }
        }
        Changes::Records(merged)
    }
}

/// How many changes are remembered. Whoever missed more looks at all records, which for a table of a million takes about
/// as long as looking at so many one by one.
const REMEMBERED: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_told_once_each_in_ascending_ranges() {
        for (noted, expected) in [
            (vec![], vec![]),
            (vec![5..=5, 3..=3, 5..=5], vec![3..=3, 5..=5]),
            (vec![5..=5, 3..=4, 6..=6], vec![3..=6]),
            (vec![1..=9, 2..=3, 4..=4, 11..=11], vec![1..=9, 11..=11]),
            (vec![u32::MAX..=u32::MAX, 7..=u32::MAX], vec![7..=u32::MAX]),
            (vec![RangeInclusive::new(8, 7)], vec![]),
        ] {
            let mut history = History::default();
            for records in noted {
                history.note(records);
            }
            assert_eq!(history.since(0), Changes::Records(expected));
        }
    }

    #[test]
    fn who_missed_more_changes_than_are_remembered_is_told_so() {
        let mut history = History::default();
        for record in 1..=3000 {
            history.note(record..=record);
        }
        let oldest = 3000 - REMEMBERED as u64;
        let last = u32::try_from(oldest).unwrap() + 1;
        assert_eq!(history.since(oldest), Changes::Records(vec![last..=3000]));
        assert_eq!(history.since(oldest - 1), Changes::All);
        history.note_all();
        history.note(4..=4);
        assert_eq!(history.since(2999), Changes::All);
        assert_eq!(history.since(3000), Changes::All);
        assert_eq!(history.since(3001), Changes::Records(vec![4..=4]));
        assert_eq!(history.since(3002), Changes::Records(vec![]));
    }
}
