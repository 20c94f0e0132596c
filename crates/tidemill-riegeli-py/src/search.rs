//! Searching, with a test that is written in Python.

use std::{cmp::Ordering, io, ops::Range};

use pyo3::{exceptions::PyStopIteration, prelude::*, types::PyBytes};
use tidemill_riegeli::{Error, FileName, RecordPosition};

use crate::record_reader::{RecordReader, Slot};

/// What a test is told of a record.
pub(crate) struct Candidate<'a, 'py> {
    pub(crate) record: &'a Bound<'py, PyBytes>,
    /// Its position, and that of the place behind it.
    pub(crate) positions: Range<RecordPosition>,
}

/// Searches `this` for what `test` says; while a record is judged, reading from `this` gives that record. The test may raise
/// StopIteration to end the search without an answer.
pub(crate) fn search<T>(this: &Bound<'_, RecordReader>, test: T) -> PyResult<Option<i8>>
where
    T: for<'a, 'py> Fn(Python<'py>, Candidate<'a, 'py>) -> PyResult<Bound<'py, PyAny>> + Send + Sync,
{
    let py = this.py();
    let reader = this.get();
    let mut taken = reader.take_out(Slot::Searching(None))?;
    let mut is_ended = false;
    let judge = |positions: Range<RecordPosition>, record: &[u8]| {
        Python::attach(|py| {
            let record = PyBytes::new(py, record);
            *reader.slot() = Slot::Searching(Some(record.clone().unbind()));
            let record = &record;
            let answer = test(py, Candidate { record, positions }).and_then(|answer| ordering(&answer));
            *reader.slot() = Slot::Searching(None);
            answer.inspect_err(|error| is_ended |= error.is_instance_of::<PyStopIteration>(py))
        })
        // What was raised goes through the library as what it is, and comes out again in `raise`.
        .map_err(|error| Error::Io {
            file: FileName::default(),
            action: "judge a record",
            source: io::Error::from(error),
        })
    };
    let found = py.detach(|| taken.search_with_positions(judge));
    reader.put_back(taken);
    reader.check_recovery()?;
    if is_ended {
        return Ok(None);
    }
    let found = found.map_err(|error| reader.fail(py, error))?;
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
