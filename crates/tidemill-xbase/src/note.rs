//! What a file contradicts itself in without any doubt about its records: told, and no fault.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Something about a table that is not as its format has it, and that is read all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The first byte, as an offset in the table's file.
    pub begin: u64,
    /// The byte after the last.
    pub end: u64,
    /// The record, counted from 1; the first one where `count` is more than 1; `None` when the header is meant.
    pub record: Option<u32>,
    /// How often it was met.
    pub count: u64,
    /// What it is, for a person.
    pub what: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match (self.record, self.count) {
            (None, _) => Ok(()),
            (Some(record), 1) => write!(f, " (record {record})"),
            (Some(record), count) => write!(f, " ({count} records, the first is {record})"),
        }
    }
}

/// Notes of the records of a table, counted by what they are.
#[derive(Debug, Default)]
pub(crate) struct NoteLog {
    found: Mutex<BTreeMap<String, Note>>,
}

impl NoteLog {
    /// More kinds of notes than anybody reads.
    const LIMIT: usize = 1000;

    /// Counts a note of a record under what it is. A record that is read again is counted again.
    pub(crate) fn add(&self, what: &str, record: u32, begin: u64, end: u64) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(note) = found.get_mut(what) {
            note.count += 1;
            return;
        }
        if found.len() < Self::LIMIT {
            let note = Note {
                begin,
                end,
                record: Some(record),
                count: 1,
                what: what.to_owned(),
            };
            found.insert(what.to_owned(), note);
        }
    }

    pub(crate) fn list(&self) -> Vec<Note> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let mut notes: Vec<_> = found.values().cloned().collect();
        notes.sort_by_key(|note| note.begin);
        notes
    }
}
