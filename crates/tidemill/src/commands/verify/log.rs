//! Verifies the transactions of a log.

use std::fs;
use std::path::Path;

use tidemill_xbase::{Error, LogContents};

use super::{Damage, Findings, Unit};

/// An incomplete transaction is not damage: its commit was never acknowledged.
pub(super) fn verify(path: &Path) -> anyhow::Result<Findings> {
    let findings = |good: usize, damaged, note| Findings {
        file: path.display().to_string(),
        unit: Unit::Transactions,
        good: good as u64,
        damaged,
        outdated: Vec::new(),
        note,
        notes: Vec::new(),
        unknown: Vec::new(),
    };
    match LogContents::read(path) {
        Ok(log) => {
            let unfinished = (log.torn_bytes > 0).then(|| format!("and {} bytes of an unfinished one", log.torn_bytes));
            Ok(findings(log.transactions.len(), Vec::new(), unfinished))
        }
        Err(error @ Error::Io { .. }) => Err(error.into()),
        Err(error) => {
            let damage = Damage {
                begin: 0,
                end: fs::metadata(path).map_or(0, |metadata| metadata.len()),
                records: None,
                why: error.to_string(),
            };
            Ok(findings(0, vec![damage], None))
        }
    }
}
