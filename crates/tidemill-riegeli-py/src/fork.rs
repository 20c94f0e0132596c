//! What happens to handles when the process forks.
//!
//! Readers go on in the child: they read at positions. A writer does not: both processes would write the records of the open
//! chunk, and threads that encode chunks are not there in the child. The package has the interpreter call [`forked`] in every
//! child, and a writer of an earlier generation refuses.

use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::{exceptions::PyRuntimeError, prelude::*};

/// How many forks lie between this process and the one that loaded the module.
static GENERATION: AtomicU64 = AtomicU64::new(0);

/// The process that a handle was made in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Birthplace(u64);

impl Birthplace {
    pub(crate) fn here() -> Self {
        Self(GENERATION.load(Ordering::Relaxed))
    }

    /// Returns whether this is the same process.
    pub(crate) fn is_here(self) -> bool {
        self == Self::here()
    }

    /// Raises `RuntimeError` in a child process.
    pub(crate) fn check(self) -> PyResult<()> {
        match self.is_here() {
            true => Ok(()),
            false => Err(PyRuntimeError::new_err(
                "the writer belongs to the process that this one was forked from",
            )),
        }
    }
}

/// Tells the module that this process is a fork of another.
#[pyfunction]
#[pyo3(name = "_forked")]
pub(crate) fn forked() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}
