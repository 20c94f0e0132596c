//! Damage that recovery skips, and other notes, collected over the scans of a session.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::{Arc, Mutex, PoisonError};

/// What the scans of a session skipped. Parallel scans of one table see the same damage, which is listed once.
#[derive(Clone, Debug, Default)]
pub(crate) struct DamageLog(Arc<Mutex<BTreeSet<String>>>);

impl DamageLog {
    pub(crate) fn add(&self, file: &str, damage: impl IntoIterator<Item: Display>) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.extend(damage.into_iter().map(|damage| format!("{file}: {damage}")));
    }

    pub(crate) fn add_line(&self, line: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(line);
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .cloned()
            .collect()
    }
}
