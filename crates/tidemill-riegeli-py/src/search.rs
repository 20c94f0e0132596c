//! Searching, with a test that is written in Python.

use std::{cmp::Ordering, io};

use pyo3::{prelude::*, types::PyBytes};
use tidemill_riegeli::{Error, FileName};

use crate::{
    error::raise,
    record_reader::{RecordReader, Slot},
};

/// Searches `this` for what `test` says; while a record is judged, reading from `this` gives that record.
pub(crate) fn search<T>(this: &Bound<'_, RecordReader>, test: T) -> PyResult<Option<i8>>
where
    T: for<'py> Fn(Python<'py>, &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyAny>> + Send + Sync,
{
    let py = this.py();
    let reader = this.get();
    let mut taken = reader.take_out(Slot::Searching(None))?;
    let judge = |record: &[u8]| {
        Python::attach(|py| {
            let record = PyBytes::new(py, record);
            *reader.slot() = Slot::Searching(Some(record.clone().unbind()));
            let answer = test(py, &record).and_then(|answer| ordering(&answer));
            *reader.slot() = Slot::Searching(None);
            answer
        })
        // What was raised goes through the library as what it is, and comes out again in `raise`.
        .map_err(|error| Error::Io {
            file: FileName::default(),
            action: "judge a record",
            source: io::Error::from(error),
        })
    };
    let found = py.detach(|| taken.search(judge));
    reader.put_back(taken);
    reader.check_recovery()?;
    let found = found.map_err(|error| raise(py, error))?;
    Ok(found.map(|ordering| ordering as i8))
}

/// Reads the answer of a test: a number by its sign, and None or what is no number of either sign.
fn ordering(answer: &Bound<'_, PyAny>) -> PyResult<Option<Ordering>> {
    Ok(if answer.is_none() {
        None
    } else if answer.lt(0)? {
        Some(Ordering::Less)
    } else if answer.gt(0)? {
        Some(Ordering::Greater)
    } else {
        answer.eq(0)?.then_some(Ordering::Equal)
    })
}
