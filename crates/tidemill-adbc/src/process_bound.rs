//! Protects a forked process from its parent's threads and locked files.

use std::process;

use adbc_core::error::Result;

use crate::error::invalid_state;

/// A value that only the process that created it can use and drop. In a forked child, access is an error, and the value is never dropped:
/// that would wait for threads that do not exist, and roll back the parent's transaction.
#[derive(Debug)]
pub(crate) struct ProcessBound<T> {
    /// `Some` until it is dropped.
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
