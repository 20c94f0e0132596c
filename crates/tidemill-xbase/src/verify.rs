//! Verification: every record, every value, every memo, and no stop at the first fault.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::adt::{self, AdtHeader, FreeList};
use crate::damage::{Damage, DamageLog};
use crate::error::{Error, Result};
use crate::header::Dialect;
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
        if let Some(header) = &self.header().adt {
            self.verify_free_list(header, &log)?;
        }
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

    /// The list of free records leads to every deleted one.
    fn verify_free_list(&self, header: &AdtHeader, log: &DamageLog) -> Result<()> {
        let damage = |begin: u64, len: u64, why: String| Damage {
            begin,
            end: begin + len,
            records: None,
            why,
        };
        match FreeList::of(self, header) {
            Ok(list) => {
                let (listed, deleted) = (list.records.len(), self.deleted_count()?);
                if listed != deleted as usize {
                    let why = format!(
                        "list of free records: expected {deleted} records, as many as are deleted, found {listed}"
                    );
                    log.add(damage(adt::FIRST_FREE_AT, 4, why));
                }
            }
            Err(Error::Corrupt(fault)) => {
                let why = format!("{}: expected {}, found {}", fault.what, fault.expected, fault.found);
                log.add(damage(fault.offset, 4, why));
            }
            Err(e) => return Err(e),
        }
        Ok(())
    }

    /// A deletion flag is a blank or a star; that of an ADT has bits. The deleted records of an ADT are in a list.
    fn verify_flags(&self, log: &DamageLog) -> Result<()> {
        let (expected, is_flag): (&str, fn(u8) -> bool) = match self.header().dialect {
            Dialect::Adt => ("00, 04, 01, 05 or 07", adt::is_flag),
            _ => ("a blank or a star", |flag| matches!(flag, b' ' | b'*')),
        };
        let per_window = self.window_records(8192);
        let (mut next, mut window) = (0, Vec::new());
        while next < self.record_count() {
            let count = per_window.min(self.record_count() - next);
            let bytes = self.read_records(next, count, &mut window)?;
            let flags = bytes.chunks_exact(self.stride()).filter_map(<[u8]>::first);
            for (record, &flag) in (next..next + count).zip(flags) {
                if !is_flag(flag) {
                    let begin = self.record_offset(record);
                    let why = format!("deletion flag: expected {expected}, found {flag:02x}");
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
