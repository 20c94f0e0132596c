//! Writing ArrayRecord files.
//!
//! Source of names and behaviours: google/array_record, `python/array_record_module.cc`.

use std::path::PathBuf;

use pyo3::{PyTraverseError, PyVisit, exceptions::PyValueError, prelude::*};
use tidemill_riegeli::array_record::ArrayRecordWriterOptions;

use crate::{
    destination::Destination,
    error::raise_at,
    fork::Birthplace,
    handle::Handle,
    output::{ObjectOutput, Output},
    record_writer::bytes_of,
};

type Writer = tidemill_riegeli::array_record::ArrayRecordWriter<Output>;

/// Writes an ArrayRecord file, in which each record is found by its number.
///
/// path: the path of a file to create or empty, or a binary file object with write(), which is not closed.
/// options: as for the original, such as 'group_size:1,zstd:3'.
/// file_writer_buffer_size: has no effect.
///
/// Only close() makes a file that can be read: the index is at its end. A writer that is left by an exception, in a with statement,
/// writes none.
#[pyclass(module = "tidemill_riegeli", frozen, subclass, weakref)]
pub(crate) struct ArrayRecordWriter {
    handle: Handle<Writer>,
    object: Option<ObjectOutput>,
    path: Option<PathBuf>,
    birthplace: Birthplace,
}

#[pymethods]
impl ArrayRecordWriter {
    #[new]
    #[pyo3(signature = (path, options="", *, file_writer_buffer_size=None))]
    fn new(
        py: Python<'_>,
        path: &Bound<'_, PyAny>,
        options: &str,
        file_writer_buffer_size: Option<u64>,
    ) -> PyResult<Self> {
        let _ = file_writer_buffer_size;
        let options = options.parse::<ArrayRecordWriterOptions>();
        let options = options.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let Destination { output, object, path } = Destination::open(path)?;
        let writer = py.detach(|| Writer::new(output, options));
        Ok(Self {
            handle: Handle::new(writer.map_err(|error| raise_at(py, path.as_deref(), error))?, "writer"),
            object,
            path,
            birthplace: Birthplace::here(),
        })
    }

    /// Returns whether the writer is open.
    fn ok(&self) -> bool {
        self.handle.is_open()
    }

    /// Returns whether the writer is open.
    fn is_open(&self) -> bool {
        self.handle.is_open()
    }

    /// Writes a record: bytes, a bytearray or a memoryview.
    fn write(&self, py: Python<'_>, record: &Bound<'_, PyAny>) -> PyResult<()> {
        let record = bytes_of(record)?;
        self.birthplace.check()?;
        self.handle.take(|writer| {
            let written = py.detach(|| writer.write_record(&record));
            written
                .map(drop)
                .map_err(|error| raise_at(py, self.path.as_deref(), error))
        })
    }

    /// Writes the index and ends the file.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.birthplace.check()?;
        let Some(writer) = self.handle.close()? else {
            return Ok(());
        };
        let closed = py.detach(|| writer.close().map(drop));
        closed.map_err(|error| raise_at(py, self.path.as_deref(), error))
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        exc_type: &Bound<'_, PyAny>,
        _exc_value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        match exc_type.is_none() {
            true => self.close(py)?,
            // A file without an index is known as one that is not whole.
            false => {
                let writer = self.handle.close()?;
                py.detach(|| drop(writer));
            }
        }
        Ok(false)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Destination::describe(py, "ArrayRecordWriter", self.object.as_ref(), self.path.as_deref())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match &self.object {
            Some(object) => object.traverse(&visit),
            None => Ok(()),
        }
    }

    fn __clear__(&self) {
        if let Some(object) = &self.object {
            object.clear();
        }
    }
}

impl Drop for ArrayRecordWriter {
    /// In a child process, what waits in buffers is the parent's to write, and threads that encode are the parent's to join.
    fn drop(&mut self) {
        if !self.birthplace.is_here() {
            std::mem::forget(self.handle.close());
        }
    }
}
