//! Iterating over the records of a reader.

use pyo3::{PyTraverseError, PyVisit, prelude::*};

use crate::record_reader::RecordReader;

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
        let item = match &self.message_type {
            Some(message_type) => reader.next_message(py, message_type.bind(py))?,
            None => reader.read_record(py)?.map(Bound::into_any),
        };
        match item {
            Some(item) if self.with_keys => Ok(Some((reader.last_pos()?, item).into_pyobject(py)?.into_any())),
            item => Ok(item),
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.reader)?;
        visit.call(&self.message_type)
    }
}
