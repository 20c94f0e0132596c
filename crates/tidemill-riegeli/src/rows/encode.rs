//! Rows to records: a prepared encoder for each column appends its field straight to the chunk.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use arrow_array::{Array, RecordBatch};
use arrow_schema::{ArrowError, DataType, SchemaRef};

use super::{
    RowFile, descriptor,
    field_writer::FieldWriter,
    mapping::{Child, Mapping, field_number, stored_schema},
};
use crate::{ReaderOptions, RecordWriter, Result, WriterOptions};

/// Writes record batches as rows.
///
/// A writer that is dropped without [`finish`](Self::finish) leaves an incomplete file.
pub struct RowWriter<W> {
    writer: RecordWriter<W>,
    schema: SchemaRef,
    columns: Vec<Child>,
    rows: u64,
}

impl RowWriter<BufWriter<File>> {
    /// Creates the file, or empties it. The metadata of `options` are replaced by those of the rows.
    ///
    /// # Errors
    /// [`Error::ColumnType`](crate::Error::ColumnType) for a column without a mapping;
    /// [`Error::Io`](crate::Error::Io).
    pub fn create(path: impl AsRef<Path>, schema: SchemaRef, options: WriterOptions) -> Result<Self> {
        let options = options.metadata(&descriptor::metadata(&schema)?);
        Self::over(RecordWriter::create(path, options)?, schema)
    }

    /// Opens a file of rows to write after them, as [`RecordWriter::append`] does. Its metadata stay as they are.
    ///
    /// # Errors
    /// [`Error::Arrow`](crate::Error::Arrow) when its columns have other names or types than those of `schema`; as
    /// [`RowFile::open`] and [`RecordWriter::append`].
    pub fn append(path: impl AsRef<Path>, schema: SchemaRef, options: WriterOptions) -> Result<Self> {
        let path = path.as_ref();
        let known = RowFile::open(path, &ReaderOptions::new())?.schema();
        let stored = stored_schema(&schema);
        let fields = known.fields().iter().zip(stored.fields());
        let is_alike = known.fields().len() == stored.fields().len()
            && fields.into_iter().all(|(known, given)| {
                (known.name(), known.data_type(), known.is_nullable())
                    == (given.name(), given.data_type(), given.is_nullable())
            });
        if !is_alike {
            let (path, known, given) = (path.display(), known.fields(), stored.fields());
            let problem = format!("{path} has rows of {known:?}, not of {given:?}");
            return Err(ArrowError::SchemaError(problem).into());
        }
        Self::over(RecordWriter::append(path, options)?, schema)
    }
}

impl<W: Write> RowWriter<W> {
    /// Writes a file to `dest`. The metadata of `options` are replaced by those of the rows.
    ///
    /// # Errors
    /// As [`RowWriter::create`].
    pub fn new(dest: W, schema: SchemaRef, options: WriterOptions) -> Result<Self> {
        let options = options.metadata(&descriptor::metadata(&schema)?);
        Self::over(RecordWriter::new(dest, options)?, schema)
    }

    fn over(writer: RecordWriter<W>, schema: SchemaRef) -> Result<Self> {
        let columns = Mapping::of_schema(&schema)?;
        Ok(Self {
            writer,
            schema,
            columns,
            rows: 0,
        })
    }

    /// Writes the rows of a batch, whose columns must have the types of the schema, in its order. Names and metadata are not
    /// compared.
    ///
    /// # Errors
    /// [`Error::Arrow`](crate::Error::Arrow) for other columns, [`Error::Io`](crate::Error::Io). After an error the file is
    /// incomplete.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let types = |schema: &SchemaRef| -> Vec<DataType> {
            schema.fields().iter().map(|field| field.data_type().clone()).collect()
        };
        let (expected, found) = (types(&self.schema), types(batch.schema_ref()));
        if expected != found {
            return Err(ArrowError::SchemaError(format!(
                "a batch with columns of types {found:?}, expected {expected:?}"
            ))
            .into());
        }
        for (field, column) in self.schema.fields().iter().zip(batch.columns()) {
            if !field.is_nullable() && column.logical_null_count() > 0 {
                return Err(ArrowError::InvalidArgumentError(format!(
                    "null in column `{}`, which is not nullable",
                    field.name()
                ))
                .into());
            }
        }
        let columns: Vec<FieldWriter<'_>> = (0..)
            .zip(&self.columns)
            .zip(batch.columns())
            .map(|((index, column), array)| FieldWriter::new(field_number(index), &column.mapping, array))
            .collect();
        for row in 0..batch.num_rows() {
            self.writer.write_record_with(|out| {
                for column in &columns {
                    column.append(row, out);
                }
            })?;
        }
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// Completes the file and returns the number of rows.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn finish(self) -> Result<u64> {
        let rows = self.rows;
        self.into_dest()?;
        Ok(rows)
    }

    /// Completes the file and returns what was written to.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn into_dest(self) -> Result<W> {
        self.writer.close()
    }
}
