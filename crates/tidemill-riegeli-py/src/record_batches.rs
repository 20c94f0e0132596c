//! A file as Arrow, through the Arrow C stream interface and the PyCapsule protocol that pyarrow, polars, DuckDB and others
//! take (Apache Arrow, "The Arrow PyCapsule Interface").

use std::{ffi::CStr, sync::Arc};

use arrow_array::{RecordBatch, RecordBatchReader, ffi_stream::FFI_ArrowArrayStream};
use arrow_schema::{ArrowError, SchemaRef, ffi::FFI_ArrowSchema};
use prost::Message;
use pyo3::{
    exceptions::{PyKeyError, PyValueError},
    prelude::*,
    pybacked::PyBackedBytes,
    types::PyCapsule,
};
use tidemill_riegeli::{
    Error, MessageSchema, ReaderOptions, RecordReader, RecordType, RecordsMetadata, SharedSource,
    columns::ColumnReader,
    rows::{RowBatches, RowFile, RowScan},
};

use crate::{error::raise, input::Input, recovery::Recovery};

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";

/// The rows of a file as Arrow record batches: what RecordReader.read_arrow() returns. Each consumer reads the file anew.
#[pyclass(module = "tidemill_riegeli", frozen)]
pub(crate) struct RecordBatches {
    rows: Rows,
    recovery: Option<Arc<Recovery>>,
    schema: SchemaRef,
    selection: Selection,
}

/// What the records of a file are.
enum Rows {
    /// Rows of a stored Arrow schema, or records without a type.
    Typed(Arc<RowFile>),
    Messages(Box<MessageFile>),
}

/// A file of messages, whose fields are columns.
struct MessageFile {
    source: SharedSource,
    name: String,
    options: ReaderOptions,
    schema: MessageSchema,
}

/// Which rows and columns are read.
pub(crate) struct Selection {
    /// Names of columns, in their order; `None` for all.
    pub(crate) columns: Option<Vec<String>>,
    pub(crate) limit: Option<usize>,
    pub(crate) batch_size: usize,
}

/// What a caller says that the records are.
pub(crate) enum Given {
    /// Messages of this type, or what the file says.
    Type(GivenType),
    /// Bytes.
    Raw,
}

/// The type that a caller says the messages have.
pub(crate) struct GivenType {
    /// A serialized FileDescriptorSet; `None` for the descriptors of the file.
    pub(crate) descriptor: Option<PyBackedBytes>,
    /// The full name; `None` for the one in the metadata of the file.
    pub(crate) name: Option<String>,
}

impl RecordBatches {
    pub(crate) fn open(
        py: Python<'_>,
        input: &Input,
        options: &ReaderOptions,
        recovery: Option<Arc<Recovery>>,
        given: Given,
        selection: Selection,
    ) -> PyResult<Self> {
        let rows = match given {
            Given::Raw => Rows::Typed(Arc::new(RowFile::of_records(
                Arc::clone(&input.source),
                &input.name,
                options,
            ))),
            Given::Type(given) => Rows::open(py, input, options, given)?,
        };
        let all = rows.schema();
        let schema = match selection.indices(&all)? {
            Some(indices) => Arc::new(all.project(&indices).map_err(|error| raise(py, error.into()))?),
            None => all,
        };
        Ok(Self {
            rows,
            recovery,
            schema,
            selection,
        })
    }
}

/// Returns the message type of the records: the one that is given, or that of the file unless it has an Arrow schema, which says
/// more of its rows. `None` for rows and for records without a type.
fn record_type(metadata: &RecordsMetadata, given: GivenType) -> PyResult<Option<RecordType>> {
    let descriptors = match given.descriptor {
        Some(serialized) => Message::decode(&*serialized)
            .map_err(|error| PyValueError::new_err(format!("descriptor is not a FileDescriptorSet: {error}")))?,
        None if given.name.is_none() => {
            return Ok(metadata.record_type().filter(|_| metadata.arrow_schema.is_none()));
        }
        None => match metadata.record_type() {
            Some(of_file) => of_file.descriptors,
            None => {
                return Err(PyValueError::new_err(
                    "the file has no descriptors, and descriptor is None",
                ));
            }
        },
    };
    let of_file = || metadata.record_type_name.clone().filter(|name| !name.is_empty());
    let name = given.name.or_else(of_file);
    let name = name.ok_or_else(|| PyValueError::new_err("the file names no record type, and record_type is None"))?;
    Ok(Some(RecordType { name, descriptors }))
}

impl Rows {
    fn open(py: Python<'_>, input: &Input, options: &ReaderOptions, given: GivenType) -> PyResult<Self> {
        let metadata = py
            .detach(|| RecordReader::from_source(Arc::clone(&input.source), &input.name, options)?.records_metadata());
        let metadata = metadata.map_err(|error| raise(py, error))?;
        let rows = match record_type(&metadata, given)? {
            Some(record_type) => py
                .detach(|| MessageFile::new(input, options, &record_type))
                .map(|file| Self::Messages(Box::new(file))),
            None => py
                .detach(|| RowFile::from_source(Arc::clone(&input.source), &input.name, options))
                .map(|file| Self::Typed(Arc::new(file))),
        };
        rows.map_err(|error| raise(py, error))
    }

    /// Returns the schema of all columns.
    fn schema(&self) -> SchemaRef {
        match self {
            Self::Typed(file) => file.schema(),
            Self::Messages(file) => file.schema.arrow_schema(),
        }
    }

    fn scan(&self, projection: Option<Vec<usize>>, selection: &Selection) -> Result<Scan, Error> {
        match self {
            Self::Typed(file) => {
                let scan = RowScan {
                    projection,
                    batch_rows: selection.batch_size,
                    limit: selection.limit,
                    row_filter: None,
                };
                Ok(Scan::Typed(Box::new(file.scan(scan)?)))
            }
            Self::Messages(file) => Ok(Scan::Messages(Box::new(file.scan(projection.as_deref(), selection)?))),
        }
    }
}

impl MessageFile {
    fn new(input: &Input, options: &ReaderOptions, record_type: &RecordType) -> Result<Self, Error> {
        let schema = MessageSchema::new(&record_type.descriptors, &record_type.name)?;
        let kept = options.kept_fields();
        Ok(Self {
            source: Arc::clone(&input.source),
            name: input.name.clone(),
            schema: match kept.includes_all() {
                true => schema,
                false => schema.project(kept),
            },
            options: options.clone(),
        })
    }

    fn scan(&self, columns: Option<&[usize]>, selection: &Selection) -> Result<ColumnReader<SharedSource>, Error> {
        let reader = RecordReader::from_source(Arc::clone(&self.source), &self.name, &self.options)?;
        let batches = match columns {
            None => ColumnReader::new(reader, &self.schema),
            Some(columns) => ColumnReader::of_columns(reader, &self.schema, columns)?,
        };
        Ok(batches
            .with_batch_rows(selection.batch_size)
            .with_limit(selection.limit.unwrap_or(usize::MAX)))
    }
}

impl Selection {
    /// Returns the places of the columns in a schema.
    fn indices(&self, schema: &SchemaRef) -> PyResult<Option<Vec<usize>>> {
        let index = |column: &String| {
            let found = schema.fields().find(column).map(|(index, _)| index);
            found.ok_or_else(|| PyKeyError::new_err(column.clone()))
        };
        let columns = self.columns.as_ref();
        columns.map(|columns| columns.iter().map(index).collect()).transpose()
    }
}

#[pymethods]
impl RecordBatches {
    /// Returns the rows as an ArrowArrayStream. The columns have the types of the file, whatever schema is asked for.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The protocol lets a producer return its own types.
        let _ = requested_schema;
        let projection = self.selection.indices(&self.rows.schema())?;
        let scan = py.detach(|| self.rows.scan(projection, &self.selection));
        let batches = Batches {
            scan: scan.map_err(|error| raise(py, error))?,
            recovery: self.recovery.clone(),
        };
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), STREAM)
    }

    /// Returns the schema of the rows as an ArrowSchema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref()).map_err(|error| raise(py, error.into()))?;
        PyCapsule::new_with_value(py, schema, SCHEMA)
    }

    /// Names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.schema.fields().iter().map(|field| field.name().as_str()).collect()
    }

    fn __repr__(&self) -> String {
        let columns: Vec<String> = self
            .schema
            .fields()
            .iter()
            .map(|field| format!("{}: {}", field.name(), field.data_type()))
            .collect();
        format!("<RecordBatches {}>", columns.join(", "))
    }
}

/// The batches of a file.
enum Scan {
    Typed(Box<RowBatches>),
    Messages(Box<ColumnReader<SharedSource>>),
}

/// The batches of a scan, with what the recovery function raised as an error of the stream.
struct Batches {
    scan: Scan,
    recovery: Option<Arc<Recovery>>,
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = match &mut self.scan {
            Scan::Typed(batches) => batches.next(),
            Scan::Messages(batches) => batches.next(),
        };
        if let Some(error) = self.recovery.as_ref().and_then(|recovery| recovery.take_raised()) {
            return Some(Err(ArrowError::ExternalError(Box::new(error))));
        }
        batch.map(|batch| batch.map_err(|error| ArrowError::ExternalError(Box::new(error))))
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        match &self.scan {
            Scan::Typed(batches) => batches.schema(),
            Scan::Messages(batches) => Arc::clone(batches.schema()),
        }
    }
}
