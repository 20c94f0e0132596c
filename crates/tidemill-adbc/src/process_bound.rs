//! What a forked process must not use: threads that it does not have, and files whose locks are its parent's.

use std::process;

use adbc_core::error::Result;

use crate::error::invalid_state;

/// A value that only the process that made it can use and drop. A forked child gets an error where it asks for it, and leaves it where
/// it is: dropping it would wait for threads that are not there, and take back what the parent has not committed yet.
#[derive(Debug)]
pub(crate) struct ProcessBound<T> {
    /// There until it is dropped.
    value: Option<T>,
    process: u32,
}

impl<T> ProcessBound<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            value: Some(value),
            process: process::id(),
        }
    }

    /// # Errors
    ///
    /// [`Status::InvalidState`](adbc_core::error::Status::InvalidState) in another process.
    pub(crate) fn get(&self) -> Result<&T> {
        match &self.value {
            Some(value) if process::id() == self.process => Ok(value),
            _ => Err(invalid_state(format!(
                "the connection was opened by process {}, and this is process {}, forked from it: open a connection of its own",
                self.process,
                process::id()
            ))),
        }
    }
}

impl<T> Drop for ProcessBound<T> {
    fn drop(&mut self) {
        if process::id() != self.process {
            std::mem::forget(self.value.take());
        }
    }
}
