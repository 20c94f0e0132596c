//! Reading ArrayRecord files by the numbers of their records.
//!
//! Source of names and behaviours: google/array_record, `python/array_record_module.cc`. There, parts of a file are read ahead by
//! threads; here a call reads what it returns. What is damaged is a `RiegeliError` here, a `RuntimeError` there.

use pyo3::{
    PyTraverseError, PyVisit,
    exceptions::{PyIndexError, PyTypeError, PyValueError},
    prelude::*,
    types::{PyBytes, PyList, PyTuple},
};
use tidemill_riegeli::{Error, ReaderOptions, SharedSource};

use crate::{error::raise, handle::Handle, input::Input};

type Reader = tidemill_riegeli::array_record::ArrayRecordReader<SharedSource>;

/// Reads records of an ArrayRecord file, in order or by their numbers.
///
/// path: a path, bytes with the contents of a file, or a binary file object with read() and seek().
/// options: text of the options readahead_buffer_size, max_parallelism and index_storage_option, as 'max_parallelism:0'. They are
///   checked, and have no effect: nothing is read ahead.
/// file_reader_buffer_size: has no effect.
#[pyclass(module = "tidemill_riegeli", frozen, subclass, weakref)]
pub(crate) struct ArrayRecordReader {
    handle: Handle<Reader>,
    input: Input,
}

#[pymethods]
impl ArrayRecordReader {
    #[new]
    #[pyo3(signature = (path, options="", *, file_reader_buffer_size=None))]
    fn new(
        py: Python<'_>,
        path: &Bound<'_, PyAny>,
        options: &str,
        file_reader_buffer_size: Option<u64>,
    ) -> PyResult<Self> {
        check_options(options)?;
        let _ = file_reader_buffer_size;
        let input = Input::open(path, false)?;
        let opened = py.detach(|| Reader::from_source(input.source.clone(), &input.name, &ReaderOptions::new()));
        Ok(Self {
            handle: Handle::new(opened.map_err(|error| raise(py, error))?, "reader"),
            input,
        })
    }

    /// Returns whether the reader is open.
    fn ok(&self) -> bool {
        self.handle.is_open()
    }

    /// Returns whether the reader is open.
    fn is_open(&self) -> bool {
        self.handle.is_open()
    }

    /// Lets the file go.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let reader = self.handle.close()?;
        py.detach(|| drop(reader));
        Ok(())
    }

    /// Returns the number of records.
    fn num_records(&self) -> PyResult<u64> {
        self.handle.with(|reader| reader.len())
    }

    /// Returns the number of the record that read() returns next.
    fn record_index(&self) -> PyResult<u64> {
        self.handle.with(|reader| reader.record_index())
    }

    /// Returns the options that the file was written with, '' for a file that does not say.
    fn writer_options_string(&self) -> PyResult<String> {
        self.handle
            .with(|reader| reader.writer_options().unwrap_or_default().to_owned())
    }

    /// Makes the record of this number the next one; the end of the file where there are fewer.
    fn seek(&self, record_index: u64) -> PyResult<()> {
        self.handle.with(|reader| reader.seek(record_index.min(reader.len())))
    }

    /// Reads the next record, or some.
    ///
    /// read() returns the next record, and raises IndexError at the end. read([3, 1]) returns the records of these numbers, in this
    /// order. read(3, 7) returns the records 3 to 6; negative numbers count from the end.
    #[pyo3(signature = (*args))]
    fn read<'py>(&self, py: Python<'py>, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        let (first, second) = (args.get_item(0).ok(), args.get_item(1).ok());
        match (first, second, args.len()) {
            (None, ..) => self.read_next(py).map(Bound::into_any),
            (Some(indices), None, 1) => {
                let indices = indices.try_iter()?.map(|index| index?.extract());
                let indices = indices.collect::<PyResult<Vec<u64>>>()?;
                let count = self.num_records()?;
                if let Some(index) = indices.iter().find(|&&index| index >= count) {
                    return Err(PyIndexError::new_err(format!(
                        "record {index} is out of range: there are {count} records"
                    )));
                }
                self.read_many(py, indices.into_iter()).map(Bound::into_any)
            }
            (Some(begin), Some(end), 2) => {
                let (begin, end): (i64, i64) = (begin.extract()?, end.extract()?);
                let count = self.num_records()?;
                let from_end = |number: i64| match u64::try_from(number) {
                    Ok(number) => Some(number).filter(|&number| number <= count),
                    Err(_) => count.checked_sub(number.unsigned_abs()),
                };
                match (from_end(begin), from_end(end)) {
                    (Some(first), Some(last)) if first < last => self.read_many(py, first..last).map(Bound::into_any),
                    _ => Err(PyIndexError::new_err(format!(
                        "records {begin} to {end} are out of range: there are {count} records"
                    ))),
                }
            }
            _ => Err(PyTypeError::new_err(
                "read() takes nothing, a list of numbers, or the first number and the one after the last",
            )),
        }
    }

    /// Reads all records, wherever the reader is.
    fn read_all<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let count = self.num_records()?;
        self.read_many(py, 0..count)
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        _exc_type: &Bound<'_, PyAny>,
        _exc_value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        self.close(py)?;
        Ok(false)
    }

    fn __repr__(&self) -> String {
        format!("<ArrayRecordReader path={:?}>", self.input.name)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match &self.input.object {
            Some(object) => object.traverse(&visit),
            None => Ok(()),
        }
    }

    fn __clear__(&self) {
        if let Some(object) = &self.input.object {
            object.clear();
        }
    }
}

impl ArrayRecordReader {
    fn read_next<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.handle.take(|reader| {
            let count = reader.len();
            // Decodes the chunk, if it is not the current one; then the record is there.
            let next = reader.record_index();
            let loaded = py.detach(|| reader.get(next).map(drop));
            let record = loaded
                .and_then(|()| reader.get(next))
                .map_err(|error| raise(py, error))?;
            let record = record.map(|record| PyBytes::new(py, record));
            record.ok_or_else(|| PyIndexError::new_err(format!("there is no next record: there are {count} records")))
        })
    }

    /// Reads the records of these numbers, which are all there. The reader stays where it is.
    fn read_many<'py>(
        &self,
        py: Python<'py>,
        mut numbers: impl Iterator<Item = u64> + Send,
    ) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        self.handle.take(|reader| {
            let next = reader.record_index();
            let (mut bytes, mut ends) = (Vec::new(), Vec::new());
            loop {
                let read = py.detach(|| {
                    while bytes.len() < BYTES_AT_A_TIME
                        && let Some(number) = numbers.next()
                    {
                        bytes.extend_from_slice(reader.get(number)?.unwrap_or_default());
                        ends.push(bytes.len());
                    }
                    Ok::<(), Error>(())
                });
                reader.seek(next);
                read.map_err(|error| raise(py, error))?;
                let mut begin = 0;
                for &end in &ends {
                    list.append(PyBytes::new(py, bytes.get(begin..end).unwrap_or_default()))?;
                    begin = end;
                }
                if ends.is_empty() {
                    return Ok(());
                }
                bytes.clear();
                ends.clear();
            }
        })?;
        Ok(list)
    }
}

/// How much is read before Python gets it.
const BYTES_AT_A_TIME: usize = 1 << 20;

/// Refuses what is none of the original's options. Source: google/array_record, `cpp/array_record_reader.cc`.
fn check_options(options: &str) -> PyResult<()> {
    for option in options.split(',').map(str::trim).filter(|option| !option.is_empty()) {
        let (key, value) = option.split_once(':').unwrap_or((option, ""));
        let is_known = match (key.trim(), value.trim()) {
            ("max_parallelism" | "readahead_buffer_size", "auto") => true,
            ("max_parallelism", value) => value.parse::<u32>().is_ok(),
            ("readahead_buffer_size", value) => {
                let number = value
                    .strip_suffix(['B', 'k', 'K', 'M', 'G', 'T', 'P', 'E'])
                    .unwrap_or(value);
                number.parse::<f64>().is_ok_and(|number| number >= 0.0)
            }
            ("index_storage_option", value) => matches!(value, "" | "in_memory" | "offloaded"),
            _ => false,
        };
        if !is_known {
            return Err(PyValueError::new_err(format!(
                "option `{option}`: expected readahead_buffer_size:BYTES, max_parallelism:THREADS or \
                 index_storage_option:in_memory"
            )));
        }
    }
    Ok(())
}
