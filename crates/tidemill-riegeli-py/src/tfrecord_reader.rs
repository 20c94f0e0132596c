//! Reading TFRecord files.
//!
//! Source of the compression types: tensorflow/tensorflow, `tensorflow/python/lib/io/tf_record.py`.

use std::{io::BufReader, sync::Arc};

use pyo3::{PyTraverseError, PyVisit, exceptions::PyValueError, prelude::*, types::PyBytes};
use tidemill_riegeli::{
    SharedSource, SourceReader,
    tfrecord::{TfRecordCompression, TfRecordReader},
};

use crate::{error::raise, handle::Handle, input::Input, recovery::Recovery, skipped_region::SkippedRegion};

type Reader = TfRecordReader<BufReader<SourceReader<SharedSource>>>;

/// Reads the records of a TFRecord file, in order: an iterator of bytes.
///
/// src: a path, bytes with the contents of a file, or a binary file object with read().
/// compression_type: '', 'GZIP' or 'ZLIB'. None finds it by the first bytes.
/// recovery: called with a SkippedRegion for damage, which is passed when it returns; StopIteration ends reading. None makes damage a
///   DataLossError. Of a file that is compressed, nothing is read behind damage.
#[pyclass(module = "tidemill_riegeli", name = "TFRecordReader", frozen, subclass, weakref)]
pub(crate) struct PyTfRecordReader {
    handle: Handle<State>,
    recovery: Option<Arc<Recovery>>,
    input: Input,
}

struct State {
    reader: Reader,
    /// How many regions were told of.
    told: usize,
    /// The recovery function ended reading.
    ended: bool,
}

#[pymethods]
impl PyTfRecordReader {
    #[new]
    #[pyo3(signature = (src, *, compression_type=None, recovery=None))]
    fn new(
        py: Python<'_>,
        src: &Bound<'_, PyAny>,
        compression_type: Option<&str>,
        recovery: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let compression = compression_type.map(compression).transpose()?;
        let input = Input::open(src, false)?;
        if input.begin > 0 {
            return Err(PyValueError::new_err(
                "a TFRecord file is read from its beginning, but this file object is past it: seek(0) first",
            ));
        }
        let reader = Reader::from_source(input.source.clone(), &input.name).map_err(|error| raise(py, error))?;
        let mut reader = reader.recover(recovery.is_some());
        if let Some(compression) = compression {
            reader = reader.with_compression(compression);
        }
        let state = State {
            reader,
            told: 0,
            ended: false,
        };
        Ok(Self {
            handle: Handle::new(state, "reader"),
            recovery: recovery.map(Recovery::new),
            input,
        })
    }

    /// How the file is compressed: '', 'GZIP' or 'ZLIB'.
    #[getter]
    fn compression_type(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.handle.take(|state| {
            let compression = py.detach(|| state.reader.compression());
            Ok(match compression.map_err(|error| raise(py, error))? {
                TfRecordCompression::Gzip => "GZIP",
                TfRecordCompression::Zlib => "ZLIB",
                _ => "",
            })
        })
    }

    /// The byte at which the next record begins; in a compressed file, in what is compressed.
    #[getter]
    fn pos(&self) -> PyResult<u64> {
        self.handle.with(|state| state.reader.pos())
    }

    /// Reads the next record, None at the end of the file.
    fn read_record<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.handle.take(|state| {
            if state.ended {
                return Ok(None);
            }
            // The copy is made without the interpreter: a record is lent until the next call, and regions are asked for first.
            let record = py.detach(|| state.reader.read_record().map(|record| record.map(<[u8]>::to_vec)));
            let record = record.map_err(|error| raise(py, error))?;
            if let Some(recovery) = &self.recovery {
                let skipped = state.reader.skipped();
                let untold = skipped.get(state.told..).unwrap_or_default();
                state.told = skipped.len();
                for region in untold {
                    if !recovery.ask(py, SkippedRegion::from(region))? {
                        state.ended = true;
                        return Ok(None);
                    }
                }
            }
            Ok(record.map(|record| PyBytes::new(py, &record)))
        })
    }

    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.read_record(py)
    }

    /// Lets the file go.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let state = self.handle.close()?;
        py.detach(|| drop(state));
        Ok(())
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
        format!("<TFRecordReader src={:?}>", self.input.name)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Some(recovery) = &self.recovery {
            recovery.traverse(&visit)?;
        }
        match &self.input.object {
            Some(object) => object.traverse(&visit),
            None => Ok(()),
        }
    }

    fn __clear__(&self) {
        if let Some(recovery) = &self.recovery {
            recovery.clear();
        }
        if let Some(object) = &self.input.object {
            object.clear();
        }
    }
}

/// Returns the compression that TensorFlow calls so.
pub(crate) fn compression(compression_type: &str) -> PyResult<TfRecordCompression> {
    match compression_type {
        "" => Ok(TfRecordCompression::None),
        "GZIP" => Ok(TfRecordCompression::Gzip),
        "ZLIB" => Ok(TfRecordCompression::Zlib),
        other => Err(PyValueError::new_err(format!(
            "compression type {other:?}: expected '', 'GZIP' or 'ZLIB'"
        ))),
    }
}
