//! Writing TFRecord files.
//!
//! Source of names and behaviours: tensorflow/tensorflow, `tensorflow/python/lib/io/tf_record.py`.

use pyo3::{PyTraverseError, PyVisit, prelude::*};
use tidemill_riegeli::tfrecord::{TfRecordCompression, TfRecordWriter};

use crate::{file_writer::FileWriter, output::Output, record_writer::bytes_of, tfrecord_reader::compression};

/// Writes a TFRecord file.
///
/// path: the path of a file to create or empty, or a binary file object with write(), which is not closed.
/// options: '', 'GZIP' or 'ZLIB', or an object with such a compression_type, as TensorFlow's TFRecordOptions. None and '' do not
///   compress.
#[pyclass(module = "tidemill_riegeli", name = "TFRecordWriter", frozen, subclass, weakref)]
pub(crate) struct PyTfRecordWriter(FileWriter<TfRecordWriter<Output>>);

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
        FileWriter::open(path, |output| Ok(TfRecordWriter::compressed(output, compression))).map(Self)
    }

    /// Writes a record: bytes, a bytearray or a memoryview.
    fn write(&self, py: Python<'_>, record: &Bound<'_, PyAny>) -> PyResult<()> {
        let record = bytes_of(record)?;
        self.0.with(py, |writer| writer.write_record(&record))
    }

    /// Takes what was written out of the process. Often done, it costs compression.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.0.with(py, TfRecordWriter::flush)
    }

    /// Ends the file.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.0.close(py, TfRecordWriter::close)
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
        self.0.describe(py, "TFRecordWriter")
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.0.traverse(&visit)
    }

    fn __clear__(&self) {
        self.0.clear();
    }
}
