//! Damage as a value.
//!
//! Source: google/riegeli, `python/riegeli/records/skipped_region.py`.

use pyo3::{exceptions::PyValueError, prelude::*};

/// A part of a file that could not be read.
#[pyclass(module = "tidemill_riegeli", eq, frozen, hash)]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct SkippedRegion {
    /// File position of the first byte left out.
    #[pyo3(get)]
    pub(crate) begin: u64,
    /// File position of the first byte behind the region.
    #[pyo3(get)]
    pub(crate) end: u64,
    /// What was wrong.
    #[pyo3(get)]
    pub(crate) message: String,
}

#[pymethods]
impl SkippedRegion {
    #[new]
    fn new(begin: u64, end: u64, message: String) -> PyResult<Self> {
        match begin <= end {
            true => Ok(Self { begin, end, message }),
            false => Err(PyValueError::new_err(format!(
                "positions in the wrong order: {begin} > {end}"
            ))),
        }
    }

    /// Size of the region in bytes.
    #[getter]
    fn length(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }

    fn __str__(&self) -> String {
        format!("[{}, {}): {}", self.begin, self.end, self.message)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let message = self.message.as_str().into_pyobject(py)?.repr()?;
        Ok(format!("SkippedRegion({}, {}, {message})", self.begin, self.end))
    }

    fn __getnewargs__(&self) -> (u64, u64, &str) {
        (self.begin, self.end, &self.message)
    }
}

impl From<&tidemill_riegeli::SkippedRegion> for SkippedRegion {
    fn from(region: &tidemill_riegeli::SkippedRegion) -> Self {
        Self {
            begin: region.begin,
            end: region.end,
            message: region.why.clone(),
        }
    }
}
