//! Where a record is.
//!
//! Source: google/riegeli, `python/riegeli/records/record_position.cc`.

use pyo3::{
    exceptions::PyOverflowError,
    prelude::*,
    pybacked::PyBackedBytes,
    types::{PyBytes, PyType},
};

use crate::error::raise;

/// The position of a record: the beginning of its chunk and its number in the chunk. Positions order as the records do.
#[pyclass(module = "tidemill_riegeli", eq, ord, frozen, hash, from_py_object)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RecordPosition(pub(crate) tidemill_riegeli::RecordPosition);

#[pymethods]
impl RecordPosition {
    #[new]
    fn new(chunk_begin: u64, record_index: u64) -> PyResult<Self> {
        match chunk_begin.checked_add(record_index) {
            Some(_) => Ok(Self(tidemill_riegeli::RecordPosition::new(chunk_begin, record_index))),
            None => Err(PyOverflowError::new_err(format!(
                "RecordPosition overflow: {chunk_begin}/{record_index}"
            ))),
        }
    }

    /// File position of the chunk.
    #[getter]
    fn chunk_begin(&self) -> u64 {
        self.0.chunk_begin
    }

    /// Number of the record in the chunk, from 0.
    #[getter]
    fn record_index(&self) -> u64 {
        self.0.record_index
    }

    /// The number between 0 and the size of the file that stands for the record.
    #[getter]
    fn numeric(&self) -> u64 {
        self.0.numeric()
    }

    /// Returns the position that `CHUNK/RECORD` stands for.
    #[classmethod]
    fn from_str(class: &Bound<'_, PyType>, serialized: &str) -> PyResult<Self> {
        let position = serialized.parse::<tidemill_riegeli::RecordPosition>();
        position.map(Self).map_err(|error| raise(class.py(), error))
    }

    /// Returns the position as 2 to 18 bytes, which order as the positions do.
    #[expect(clippy::wrong_self_convention, reason = "a Python object is shared, not moved")]
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    /// Returns the position that the bytes stand for.
    #[classmethod]
    fn from_bytes(class: &Bound<'_, PyType>, serialized: PyBackedBytes) -> PyResult<Self> {
        let position = tidemill_riegeli::RecordPosition::from_bytes(&serialized);
        position.map(Self).map_err(|error| raise(class.py(), error))
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("RecordPosition({}, {})", self.0.chunk_begin, self.0.record_index)
    }

    fn __getnewargs__(&self) -> (u64, u64) {
        (self.0.chunk_begin, self.0.record_index)
    }
}
