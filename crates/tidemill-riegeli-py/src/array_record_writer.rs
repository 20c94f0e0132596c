//! Writing ArrayRecord files.
//!
//! Source of names and behaviours: google/array_record, `python/array_record_module.cc`.

use pyo3::{PyTraverseError, PyVisit, exceptions::PyValueError, prelude::*};
use tidemill_riegeli::array_record::ArrayRecordWriterOptions;

use crate::{file_writer::FileWriter, output::Output, record_writer::bytes_of};

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
pub(crate) struct ArrayRecordWriter(FileWriter<Writer>);

#[pymethods]
impl ArrayRecordWriter {
    #[new]
    #[pyo3(signature = (path, options="", *, file_writer_buffer_size=None))]
    fn new(path: &Bound<'_, PyAny>, options: &str, file_writer_buffer_size: Option<u64>) -> PyResult<Self> {
        let _ = file_writer_buffer_size;
        let options = options.parse::<ArrayRecordWriterOptions>();
        let options = options.map_err(|error| PyValueError::new_err(error.to_string()))?;
        FileWriter::open(path, |output| Writer::new(output, options)).map(Self)
    }

    /// Returns whether the writer is open.
    fn ok(&self) -> bool {
        self.0.is_open()
    }

    /// Returns whether the writer is open.
    fn is_open(&self) -> bool {
        self.0.is_open()
    }

    /// Writes a record: bytes, a bytearray or a memoryview.
    fn write(&self, py: Python<'_>, record: &Bound<'_, PyAny>) -> PyResult<()> {
        let record = bytes_of(record)?;
        self.0.with(py, |writer| writer.write_record(&record).map(drop))
    }

    /// Writes the index and ends the file.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.0.close(py, Writer::close)
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
            false => self.0.abandon(py)?,
        }
        Ok(false)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.0.describe(py, "ArrayRecordWriter")
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.0.traverse(&visit)
    }

    fn __clear__(&self) {
        self.0.clear();
    }
}
