//! Describes the pending changes of a transaction log.

use std::path::{Path, PathBuf};

use serde::Serialize;
use tidemill_xbase::LogContents;

use super::{lines, table};

#[derive(Serialize)]
pub(crate) struct LogDescription {
    file: String,
    format: &'static str,
    bytes: u64,
    unfinished_bytes: u64,
    transactions: u64,
    changes: Vec<ChangeDescription>,
    replacements: Vec<ReplacementDescription>,
}

/// A table that is replaced by a new one.
#[derive(Serialize)]
struct ReplacementDescription {
    /// The folder of the new files.
    draft: String,
    put: Vec<String>,
    removed: Vec<String>,
}

#[derive(Serialize)]
struct ChangeDescription {
    transaction: u64,
    file: String,
    bytes: u64,
    length_before: u64,
    length_after: u64,
}

pub(crate) fn describe(path: &Path) -> anyhow::Result<LogDescription> {
    let log = LogContents::read(path)?;
    let changes = log.transactions.iter().flat_map(|transaction| {
        transaction.files.iter().map(|change| ChangeDescription {
            transaction: transaction.sequence,
            file: change.path.display().to_string(),
            bytes: change.ranges.iter().map(|range| range.end - range.start).sum(),
            length_before: change.old_len,
            length_after: change.new_len,
        })
    });
    let shown = |files: &[PathBuf]| files.iter().map(|file| file.display().to_string()).collect();
    let replacements = log.replacements.iter().map(|replacement| ReplacementDescription {
        draft: replacement.draft.display().to_string(),
        put: shown(&replacement.put),
        removed: shown(&replacement.removed),
    });
    Ok(LogDescription {
        file: path.display().to_string(),
        format: "tmlog",
        bytes: log.used_bytes + log.torn_bytes,
        unfinished_bytes: log.torn_bytes,
        transactions: log.transactions.len() as u64,
        changes: changes.collect(),
        replacements: replacements.collect(),
    })
}

impl LogDescription {
    pub(crate) fn text(&self) -> String {
        let mut text = lines(&[
            ("file", self.file.clone()),
            ("format", "transaction log of xBase tables".to_owned()),
            ("size", format!("{} bytes", self.bytes)),
            (
                "transactions",
                match self.transactions {
                    0 => "none left to write to the tables".to_owned(),
                    some => format!("{some} to be written to the tables: tidemill recover does so"),
                },
            ),
        ]);
        if self.unfinished_bytes > 0 {
            let unfinished = format!("{} bytes, never committed", self.unfinished_bytes);
            text += &lines(&[("unfinished", unfinished)]);
        }
        if !self.changes.is_empty() {
            let rows = self.changes.iter().map(|change| {
                vec![
                    change.transaction.to_string(),
                    change.file.clone(),
                    change.bytes.to_string(),
                    change.length_before.to_string(),
                    change.length_after.to_string(),
                ]
            });
            text += &table(&["transaction", "file", "bytes", "length before", "after"], rows);
        }
        for replacement in &self.replacements {
            let mut told = format!("{} from {}", replacement.put.join(", "), replacement.draft);
            if !replacement.removed.is_empty() {
                told += &format!("; {} removed", replacement.removed.join(", "));
            }
            text += &lines(&[("new files", told)]);
        }
        text
    }
}
