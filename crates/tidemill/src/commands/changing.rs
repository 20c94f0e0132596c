//! The change that a command is making, whose outcome is told when a signal or a limit ends the command.

use std::sync::{Mutex, PoisonError};

/// What to say when it is not known how the change ended.
static ADVICE: Mutex<Option<&'static str>> = Mutex::new(None);

/// A change that lasts until this is dropped.
pub(crate) struct Changing(());

impl Changing {
    /// `advice` is what to do when its outcome is not known.
    pub(crate) fn begin(advice: &'static str) -> Self {
        set(Some(advice));
        Self(())
    }
}

impl Drop for Changing {
    fn drop(&mut self) {
        set(None);
    }
}

/// The advice of the change that is being made, if there is one.
pub(crate) fn under_way() -> Option<&'static str> {
    *ADVICE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn set(advice: Option<&'static str>) {
    *ADVICE.lock().unwrap_or_else(PoisonError::into_inner) = advice;
}
