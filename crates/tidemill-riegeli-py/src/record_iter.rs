//! Iterating over the records of a reader.

use pyo3::{PyTraverseError, PyVisit, prelude::*};

use crate::record_reader::{RecordReader, parse};

/// What read_records() and its kin return.
#[pyclass(module = "tidemill_riegeli", frozen)]
pub(crate) struct RecordIter {
    reader: Py<RecordReader>,
    message_type: Option<Py<PyAny>>,
    with_keys: bool,
}

impl RecordIter {
    pub(crate) fn new(reader: Py<RecordReader>, message_type: Option<Py<PyAny>>, with_keys: bool) -> Self {
        Self {
            reader,
            message_type,
            with_keys,
        }
    }
}

#[pymethods]
impl RecordIter {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let reader = self.reader.get();
        let Some(record) = reader.read_record(py)? else {
            return Ok(None);
        };
        let position = match self.with_keys {
            true => Some(reader.last_pos()?),
            false => None,
        };
        let item = match &self.message_type {
            Some(message_type) => parse(message_type.bind(py), &record)?,
            None => record.into_any(),
        };
        match position {
            Some(position) => Ok(Some((position, item).into_pyobject(py)?.into_any())),
            None => Ok(Some(item)),
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.reader)?;
        visit.call(&self.message_type)
    }
}
