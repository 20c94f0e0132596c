//! Verification: every record, every value, every memo, and no stop at the first fault.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::damage::{Damage, DamageLog};
use crate::error::Result;
use crate::note::Note;
use crate::scan::{Batches, Deleted, Scan};
use crate::table::Table;

/// What [`Table::verify`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verification {
    /// The records that are without fault, deleted ones included.
    pub good_records: u32,
    /// Every fault, in file order.
    pub damage: Vec<Damage>,
    /// What is not as the format has it and leaves no doubt about a value: no damage.
    pub notes: Vec<Note>,
}

impl Table {
    /// Reads every field of every record, follows every memo pointer and lists what is wrong.
    ///
    /// To verify a table whose header is damaged, open it with [`OpenOptions::recover`](crate::OpenOptions::recover):
    /// the faults found by opening it are in the list too. A table without a fault gives an empty list.
    ///
    /// # Errors
    /// Only when the file cannot be read, not for what it holds.
    pub fn verify(self: &Arc<Self>) -> Result<Verification> {
        let log = Arc::new(DamageLog::default());
        self.damage.list().into_iter().for_each(|damage| log.add(damage));
        self.verify_flags(&log)?;
        for batch in Batches::new(
            Arc::clone(self),
            Scan::new().deleted(Deleted::Include),
            Arc::clone(&log),
            true,
        )? {
            batch?;
        }
        if let Some((memo, fault)) = self.memo().and_then(|memo| Some((memo, memo.free_list_fault()?))) {
            let why = format!(
                "{}: byte {}: expected {}, found {}",
                memo.path().display(),
                fault.offset,
                fault.expected,
                fault.found
            );
            log.add(Damage {
                begin: 0,
                end: 0,
                records: None,
                why,
            });
        }
        let damage = log.list();
        let ranges = damage.iter().filter_map(|d| d.records.clone());
        let bad: BTreeSet<u32> = ranges.flat_map(|r| r.start..r.end.min(self.record_count())).collect();
        let bad = u32::try_from(bad.len()).unwrap_or(u32::MAX);
        Ok(Verification {
            good_records: self.record_count().saturating_sub(bad),
            damage,
            notes: self.notes(),
        })
    }

    /// A deletion flag is a blank or a star.
    fn verify_flags(&self, log: &DamageLog) -> Result<()> {
        let per_window = self.window_records(8192);
        let (mut next, mut window) = (0, Vec::new());
        while next < self.record_count() {
            let count = per_window.min(self.record_count() - next);
            let bytes = self.read_records(next, count, &mut window)?;
            for (record, flag) in (next..next + count).zip(bytes.chunks_exact(self.stride()).filter_map(<[u8]>::first))
            {
                if !matches!(flag, b' ' | b'*') {
                    let begin = self.record_offset(record);
                    let why = format!("deletion flag: expected a blank or a star, found {flag:02x}");
                    log.add(Damage {
                        begin,
                        end: begin + 1,
                        records: Some(record..record + 1),
                        why,
                    });
                }
            }
            next += count;
        }
        Ok(())
    }
}
