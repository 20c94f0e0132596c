//! The change in progress, whose outcome is reported if a signal or a limit ends the command.

use std::sync::{Mutex, PoisonError};

/// What to report about an interrupted change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// Whether a change that is stopped rolls itself back.
    pub(crate) is_undone: bool,
    /// What to do if the outcome is unknown, or part of the change remains.
    pub(crate) advice: &'static str,
}

static UNDER_WAY: Mutex<Option<Change>> = Mutex::new(None);

/// Marks a change as in progress until it is dropped.
pub(crate) struct Changing(());

impl Changing {
    pub(crate) fn begin(change: Change) -> Self {
        set(Some(change));
        Self(())
    }
}

impl Drop for Changing {
    fn drop(&mut self) {
        set(None);
    }
}

/// The change in progress, if any.
pub(crate) fn under_way() -> Option<Change> {
    *UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

fn set(change: Option<Change>) {
    *UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner) = change;
}
