//! Writing TFRecord files.
//!
//! Source of names and behaviours: tensorflow/tensorflow, `tensorflow/python/lib/io/tf_record.py`.

use std::path::PathBuf;

use pyo3::{PyTraverseError, PyVisit, prelude::*};
use tidemill_riegeli::tfrecord::{TfRecordCompression, TfRecordWriter};

use crate::{
    destination::Destination,
    error::raise_at,
    fork::Birthplace,
    handle::Handle,
    output::{ObjectOutput, Output},
    record_writer::bytes_of,
    tfrecord_reader::compression,
};

/// Writes a TFRecord file.
///
/// path: the path of a file to create or empty, or a binary file object with write(), which is not closed.
/// options: '', 'GZIP' or 'ZLIB', or an object with such a compression_type, as TensorFlow's TFRecordOptions. None and '' do not
///   compress.
#[pyclass(module = "tidemill_riegeli", name = "TFRecordWriter", frozen, subclass, weakref)]
pub(crate) struct PyTfRecordWriter {
    handle: Handle<TfRecordWriter<Output>>,
    object: Option<ObjectOutput>,
    path: Option<PathBuf>,
    birthplace: Birthplace,
}

#[pymethods]
impl PyTfRecordWriter {
    #[new]
    #[pyo3(signature = (path, options=None))]
    fn new(path: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let compression_type: Option<String> = match options {
            None => None,
            Some(options) if options.hasattr("compression_type")? => options.getattr("compression_type")?.extract()?,
            Some(options) => Some(options.extract()?),
        };
        let compression = match compression_type {
            None => TfRecordCompression::None,
            Some(compression_type) => compression(&compression_type)?,
        };
        let Destination { output, object, path } = Destination::open(path)?;
        Ok(Self {
            handle: Handle::new(TfRecordWriter::compressed(output, compression), "writer"),
            object,
            path,
            birthplace: Birthplace::here(),
        })
    }

    /// Writes a record: bytes, a bytearray or a memoryview.
    fn write(&self, py: Python<'_>, record: &Bound<'_, PyAny>) -> PyResult<()> {
        let record = bytes_of(record)?;
        self.birthplace.check()?;
        self.handle.take(|writer| {
            let written = py.detach(|| writer.write_record(&record));
            written.map_err(|error| raise_at(py, self.path.as_deref(), error))
        })
    }

    /// Takes what was written out of the process. Often done, it costs compression.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.birthplace.check()?;
        self.handle.take(|writer| {
            let flushed = py.detach(|| writer.flush());
            flushed.map_err(|error| raise_at(py, self.path.as_deref(), error))
        })
    }

    /// Ends the file.
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
        match self.close(py) {
            Err(error) if exc_type.is_none() => Err(error),
            _ => Ok(false),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Destination::describe(py, "TFRecordWriter", self.object.as_ref(), self.path.as_deref())
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

impl Drop for PyTfRecordWriter {
    /// In a child process, what waits in buffers is the parent's to write.
    fn drop(&mut self) {
        if !self.birthplace.is_here() {
            std::mem::forget(self.handle.close());
        }
    }
}
