//! File metadata, with the names of the protobuf message.
//!
//! Source: google/riegeli, `riegeli/records/records_metadata.proto`. Fields that are not named here are not kept: who needs
//! them parses what `read_serialized_metadata` returns. File descriptors stay serialized, so that nothing of them is lost.

use prost::Message;
use pyo3::{
    prelude::*,
    pybacked::PyBackedBytes,
    types::{PyBytes, PyType},
};

use crate::error::metadata_error;

/// Information about a file, which helps to interpret its records. What is not set is None.
///
/// file_descriptor is a list of serialized FileDescriptorProto messages, dependencies first; it is set as a whole.
#[pyclass(module = "tidemill_riegeli", eq, get_all, set_all)]
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RecordsMetadata {
    /// What the file holds, for people.
    #[prost(string, optional, tag = "1")]
    file_comment: Option<String>,
    /// If records are messages of one type, its full name.
    #[prost(string, optional, tag = "2")]
    record_type_name: Option<String>,
    /// Descriptors of that type and what it depends on.
    #[prost(bytes = "vec", repeated, tag = "3")]
    file_descriptor: Vec<Vec<u8>>,
    /// The options that the file was written with.
    #[prost(string, optional, tag = "4")]
    record_writer_options: Option<String>,
    /// Number of records, as a hint.
    #[prost(int64, optional, tag = "5")]
    num_records: Option<i64>,
}

#[pymethods]
impl RecordsMetadata {
    #[new]
    #[pyo3(signature = (
        *, file_comment=None, record_type_name=None, file_descriptor=Vec::new(), record_writer_options=None,
        num_records=None,
    ))]
    fn new(
        file_comment: Option<String>,
        record_type_name: Option<String>,
        file_descriptor: Vec<Vec<u8>>,
        record_writer_options: Option<String>,
        num_records: Option<i64>,
    ) -> Self {
        Self {
            file_comment,
            record_type_name,
            file_descriptor,
            record_writer_options,
            num_records,
        }
    }

    /// Returns the metadata as a serialized RecordsMetadata message.
    #[pyo3(name = "SerializeToString")]
    fn serialize<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.encode_to_vec())
    }

    /// Returns the metadata that a serialized RecordsMetadata message holds.
    #[classmethod]
    #[pyo3(name = "FromString")]
    fn parse(class: &Bound<'_, PyType>, serialized: PyBackedBytes) -> PyResult<Self> {
        Self::of(class.py(), &serialized, "")
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let text =
            |text: &Option<String>| -> PyResult<String> { Ok(text.as_deref().into_pyobject(py)?.repr()?.to_string()) };
        let num_records = self.num_records.map_or("None".to_owned(), |number| number.to_string());
        Ok(format!(
            "RecordsMetadata(file_comment={}, record_type_name={}, record_writer_options={}, num_records={num_records})",
            text(&self.file_comment)?,
            text(&self.record_type_name)?,
            text(&self.record_writer_options)?,
        ))
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let serialized = this.borrow().serialize(this.py());
        Ok((this.get_type().getattr("FromString")?, (serialized,)))
    }
}

impl RecordsMetadata {
    /// Parses the metadata of the file that errors call `file`.
    pub(crate) fn of(py: Python<'_>, serialized: &[u8], file: &str) -> PyResult<Self> {
        Self::decode(serialized).map_err(|error| {
            let problem = format!("the metadata are not a RecordsMetadata message: {error}");
            metadata_error(py, file, &problem)
        })
    }
}
