//! The change that a command is making, whose outcome is reported when a signal or a limit ends the command.

use std::sync::{Mutex, PoisonError};

/// What is said of a change that was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// Whether a change that stops has taken back what it did.
    pub(crate) is_undone: bool,
    /// What to do when the outcome is not known, or not all of the change is undone.
    pub(crate) advice: &'static str,
}

static UNDER_WAY: Mutex<Option<Change>> = Mutex::new(None);

/// A change that lasts until this is dropped.
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

/// The change that is being made, if there is one.
pub(crate) fn under_way() -> Option<Change> {
    *UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

fn set(change: Option<Change>) {
    *UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner) = change;
}
