//! A file as Arrow, through the Arrow C stream interface and the PyCapsule protocol that pyarrow, polars, DuckDB and others
//! take (Apache Arrow, "The Arrow PyCapsule Interface").

use std::{ffi::CStr, sync::Arc};

use arrow_array::{RecordBatch, RecordBatchReader, ffi_stream::FFI_ArrowArrayStream};
use arrow_schema::{ArrowError, SchemaRef, ffi::FFI_ArrowSchema};
use pyo3::{exceptions::PyKeyError, prelude::*, types::PyCapsule};
use tidemill_riegeli::{
    ReaderOptions,
    rows::{RowBatches, RowFile, RowScan},
};

use crate::{error::raise, input::Input, recovery::Recovery};

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";

/// The rows of a file as Arrow record batches: what RecordReader.read_arrow() returns. Each consumer reads the file anew.
#[pyclass(module = "tidemill_riegeli", frozen)]
pub(crate) struct RecordBatches {
    file: Arc<RowFile>,
    recovery: Option<Arc<Recovery>>,
    schema: SchemaRef,
    projection: Option<Vec<usize>>,
    limit: Option<usize>,
    batch_size: usize,
}

impl RecordBatches {
    pub(crate) fn open(
        py: Python<'_>,
        input: &Input,
        options: &ReaderOptions,
        recovery: Option<Arc<Recovery>>,
        columns: Option<Vec<String>>,
        limit: Option<usize>,
        batch_size: usize,
    ) -> PyResult<Self> {
        let file = py.detach(|| RowFile::from_source(Arc::clone(&input.source), &input.name, options));
        let file = Arc::new(file.map_err(|error| raise(py, error))?);
        let all = file.schema();
        let projection = columns.map(|columns| indices(&all, &columns)).transpose()?;
        let schema = match &projection {
            Some(projection) => Arc::new(all.project(projection).map_err(|error| raise(py, error.into()))?),
            None => all,
        };
        Ok(Self {
            file,
            recovery,
            schema,
            projection,
            limit,
            batch_size,
        })
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
        let scan = RowScan {
            projection: self.projection.clone(),
            batch_rows: self.batch_size,
            limit: self.limit,
            row_filter: None,
        };
        let batches = py.detach(|| self.file.scan(scan)).map_err(|error| raise(py, error))?;
        let batches = Batches {
            batches,
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

/// The batches of a scan, with what the recovery function raised as an error of the stream.
struct Batches {
    batches: RowBatches,
    recovery: Option<Arc<Recovery>>,
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batches.next();
        if let Some(error) = self.recovery.as_ref().and_then(|recovery| recovery.take_raised()) {
            return Some(Err(ArrowError::ExternalError(Box::new(error))));
        }
        batch.map(|batch| batch.map_err(|error| ArrowError::ExternalError(Box::new(error))))
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        self.batches.schema()
    }
}

fn indices(schema: &SchemaRef, columns: &[String]) -> PyResult<Vec<usize>> {
    let index = |column: &String| {
        let found = schema.fields().find(column).map(|(index, _)| index);
        found.ok_or_else(|| PyKeyError::new_err(column.clone()))
    };
    columns.iter().map(index).collect()
}
