//! What the writers of ArrayRecord and TFRecord files have in common: where they write, and who may.

use std::path::PathBuf;

use pyo3::{PyTraverseError, PyVisit, prelude::*};
use tidemill_riegeli::Error;

use crate::{
    destination::Destination,
    error::raise_at,
    fork::Birthplace,
    handle::Handle,
    output::{ObjectOutput, Output},
};

/// A writer over a path or a file object, in the process that opened it.
pub(crate) struct FileWriter<W> {
    handle: Handle<W>,
    object: Option<ObjectOutput>,
    path: Option<PathBuf>,
    birthplace: Birthplace,
}

impl<W: Send> FileWriter<W> {
    /// Opens a destination and makes a writer over it.
    pub(crate) fn open(
        dest: &Bound<'_, PyAny>,
        make: impl FnOnce(Output) -> Result<W, Error> + Send,
    ) -> PyResult<Self> {
        let py = dest.py();
        let Destination { output, object, path } = Destination::open(dest)?;
        let writer = py.detach(|| make(output));
        Ok(Self {
            handle: Handle::new(writer.map_err(|error| raise_at(py, path.as_deref(), error))?, "writer"),
            object,
            path,
            birthplace: Birthplace::here(),
        })
    }

    pub(crate) fn is_open(&self) -> bool {
        self.handle.is_open()
    }

    /// Calls `work` with the writer while the interpreter is released.
    pub(crate) fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut W) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        self.birthplace.check()?;
        self.handle.take(|writer| {
            let worked = py.detach(|| work(writer));
            worked.map_err(|error| raise_at(py, self.path.as_deref(), error))
        })
    }

    /// Ends the file, unless that was done before.
    pub(crate) fn close<R: Send>(
        &self,
        py: Python<'_>,
        end: impl FnOnce(W) -> Result<R, Error> + Send,
    ) -> PyResult<()> {
        self.birthplace.check()?;
        let Some(writer) = self.handle.close()? else {
            return Ok(());
        };
        let closed = py.detach(|| end(*writer).map(drop));
        closed.map_err(|error| raise_at(py, self.path.as_deref(), error))
    }

    /// Lets the file go as it is.
    pub(crate) fn abandon(&self, py: Python<'_>) -> PyResult<()> {
        let writer = self.handle.close()?;
        py.detach(|| drop(writer));
        Ok(())
    }

    /// The representation of a writer of this class.
    pub(crate) fn describe(&self, py: Python<'_>, class: &str) -> PyResult<String> {
        Destination::describe(py, class, self.object.as_ref(), self.path.as_deref())
    }

    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.object.as_ref().map_or(Ok(()), |object| object.traverse(visit))
    }

    pub(crate) fn clear(&self) {
        if let Some(object) = &self.object {
            object.clear();
        }
    }
}

impl<W> Drop for FileWriter<W> {
    /// In a child process, what waits in buffers is the parent's to write, and threads that encode are the parent's to join.
    fn drop(&mut self) {
        if !self.birthplace.is_here() {
            std::mem::forget(self.handle.close());
        }
    }
}
