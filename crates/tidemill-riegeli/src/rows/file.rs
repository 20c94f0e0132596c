//! Files of rows: their schema, their number of rows, and scans.

use std::{
    path::Path,
    sync::{Arc, OnceLock},
};

use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field as Column, Schema, SchemaRef};

use super::{decode::RowDecoder, descriptor, mapping::field_number};
use crate::{
    Error, Field, FieldProjection, FileName, FileSource, ReaderOptions, RecordPosition, RecordReader, Result, RowError,
    SharedSource, SkippedRegion, error::RowProblem, record_values::RecordSlices,
};

/// A file whose records are rows. Scans share it and read at positions, each for itself.
pub struct RowFile {
    source: SharedSource,
    name: FileName,
    options: ReaderOptions,
    schema: SchemaRef,
    raw: bool,
    row_count: OnceLock<u64>,
}

impl RowFile {
    /// Opens the file and reads its schema.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] unless recovering; [`Error::Metadata`] when the stored schema does not decode;
    /// [`Error::ColumnType`] when it has a column without a mapping.
    pub fn open(path: impl AsRef<Path>, options: &ReaderOptions) -> Result<Self> {
        let path = path.as_ref();
        let name = FileName::new(path);
        let file = std::fs::File::open(path).map_err(|source| Error::Io {
            file: name.clone(),
            action: "open the file",
            source,
        })?;
        Self::named(Arc::new(FileSource::new(file)), name, options)
    }

    /// Reads rows from any source, which errors call `name`.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn from_source(source: SharedSource, name: &str, options: &ReaderOptions) -> Result<Self> {
        Self::named(source, FileName::new(Path::new(name)), options)
    }

    /// Reads records as they are from any source, which errors call `name`: whatever the metadata say, a row is a record, in one column
    /// `record`.
    pub fn of_records(source: SharedSource, name: &str, options: &ReaderOptions) -> Self {
        Self::with_schema(source, FileName::new(Path::new(name)), options, None)
    }

    fn named(source: SharedSource, name: FileName, options: &ReaderOptions) -> Result<Self> {
        let mut reader = RecordReader::named(source.clone(), name.clone(), options)?;
        let schema = descriptor::arrow_schema(&reader.records_metadata()?, &name)?;
        Ok(Self::with_schema(source, name, options, schema))
    }

    fn with_schema(source: SharedSource, name: FileName, options: &ReaderOptions, schema: Option<SchemaRef>) -> Self {
        Self {
            source,
            name,
            options: options.clone(),
            raw: schema.is_none(),
            schema: schema
                .unwrap_or_else(|| Arc::new(Schema::new(vec![Column::new("record", DataType::Binary, false)]))),
            row_count: OnceLock::new(),
        }
    }

    /// Returns the schema of the rows: the Arrow schema in the metadata, or one column `record` of type Binary.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Returns the number of rows by the chunk headers; chunk data are not read, so rows lost to damage in them count.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] unless recovering.
    pub fn row_count(&self) -> Result<u64> {
        if let Some(&count) = self.row_count.get() {
            return Ok(count);
        }
        let count = self.reader(&[])?.count_records()?;
        Ok(*self.row_count.get_or_init(|| count))
    }

    /// Reads rows in batches. Of transposed chunks only the columns that the scan needs are decompressed. A field
    /// projection of the options that the file was opened with counts for files without a schema.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Arrow`] for columns that are not there.
    pub fn scan(self: &Arc<Self>, scan: RowScan) -> Result<RowBatches> {
        let RowScan {
            projection,
            batch_rows,
            limit,
            row_filter,
        } = scan;
        let projection = projection.unwrap_or_else(|| (0..self.schema.fields().len()).collect());
        let filter = match row_filter {
            Some(filter) => Some((self.decoder(&filter.columns)?, filter)),
            None => None,
        };
        let wanted = projection
            .iter()
            .chain(filter.iter().flat_map(|(_, filter)| &filter.columns));
        Ok(RowBatches {
            reader: self.reader(wanted)?,
            decoder: self.decoder(&projection)?,
            filter,
            batch_rows: batch_rows.max(1),
            left: limit.unwrap_or(usize::MAX),
            state: State::Reading,
        })
    }

    /// Reads the fields of some columns, without the others where chunks are transposed.
    fn reader<'a>(&self, columns: impl IntoIterator<Item = &'a usize>) -> Result<RecordReader<SharedSource>> {
        let mut options = self.options.clone();
        if !self.raw {
            let mut fields = FieldProjection::new();
            for &column in columns {
                fields = fields.add_field(Field::new([field_number(column)])?);
            }
            options = options.field_projection(fields);
        }
        RecordReader::named(self.source.clone(), self.name.clone(), &options)
    }

    fn decoder(&self, projection: &[usize]) -> Result<RowDecoder> {
        if self.raw {
            RowDecoder::raw(&self.schema, projection)
        } else {
            RowDecoder::new(&self.schema, projection)
        }
    }
}

/// What to read of a file.
pub struct RowScan {
    /// The columns, in the order of the batches. Default: all.
    pub projection: Option<Vec<usize>>,
    /// The largest number of rows in a batch. Default: 8192.
    pub batch_rows: usize,
    /// The largest number of rows in all, after the filter. Default: no limit.
    pub limit: Option<usize>,
    /// Which rows. Default: all.
    pub row_filter: Option<RowFilter>,
}

impl Default for RowScan {
    fn default() -> Self {
        Self {
            projection: None,
            batch_rows: 8_192,
            limit: None,
            row_filter: None,
        }
    }
}

type Predicate = Box<dyn FnMut(&RecordBatch) -> Result<BooleanArray, ArrowError> + Send>;

/// Picks rows by some of their columns, which are decoded first; the others are decoded for picked rows only.
pub struct RowFilter {
    columns: Vec<usize>,
    predicate: Predicate,
}

impl RowFilter {
    /// Picks the rows for which `predicate` is true. It sees batches of `columns`, in this order, and returns a value for
    /// each row; null does not pick.
    pub fn new(columns: Vec<usize>, predicate: Predicate) -> Self {
        Self { columns, predicate }
    }
}

/// A batch ends when its records reach this many bytes, so that long records take no more memory than short ones.
const BATCH_BYTES: usize = 8 << 20;

/// The batches of a scan. After an error there are no more.
pub struct RowBatches {
    reader: RecordReader<SharedSource>,
    decoder: RowDecoder,
    filter: Option<(RowDecoder, RowFilter)>,
    batch_rows: usize,
    left: usize,
    state: State,
}

#[derive(PartialEq, Eq)]
enum State {
    Reading,
    Done,
}

impl RowBatches {
    /// Returns the schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.decoder.schema().clone()
    }

    /// Returns the regions left out so far; complete after the last batch.
    pub fn skipped(&self) -> &[SkippedRegion] {
        self.reader.skipped()
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        // Of the records of this batch.
        let mut bytes = 0;
        while self.left > 0 && self.decoder.rows() < self.batch_rows && bytes < BATCH_BYTES {
            let wanted = (self.batch_rows - self.decoder.rows()).min(match self.filter {
                None => self.left,
                Some(_) => usize::MAX,
            });
            let before = self.decoder.rows();
            let (decoder, filter, left) = (&mut self.decoder, &mut self.filter, self.left);
            let taken = self.reader.take_records(|records, start, chunk_begin| {
                let mut end = records.len().min(start.saturating_add(wanted));
                let result = match filter {
                    None => {
                        end = end_of_batch(records, start..end, BATCH_BYTES - bytes);
                        push(decoder, records, chunk_begin, start..end)
                    }
                    Some((filter_decoder, filter)) => pick(filter_decoder, filter, records, chunk_begin, start..end)
                        .and_then(|picked| push(decoder, records, chunk_begin, picked.take(left))),
                };
                (result, end)
            })?;
            match taken {
                None => {
                    self.reader.check_end()?;
                    self.state = State::Done;
                    break;
                }
                Some(result) => bytes += result.map_err(|error| self.annotate(error))?,
            }
            self.left -= self.decoder.rows() - before;
        }
        if self.left == 0 {
            self.state = State::Done;
        }
        if self.decoder.rows() == 0 {
            Ok(None)
        } else {
            self.decoder.finish().map(Some)
        }
    }

    fn annotate(&self, error: Error) -> Error {
        match error {
            Error::Row(mut row) => {
                row.file = self.reader.file().clone();
                Error::Row(row)
            }
            other => other,
        }
    }
}

impl Iterator for RowBatches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state == State::Done {
            return None;
        }
        let batch = self.next_batch().transpose();
        if !matches!(batch, Some(Ok(_))) {
            self.state = State::Done;
        }
        batch
    }
}

/// The end of the first rows that together have at least `most_bytes` bytes, or of all rows.
fn end_of_batch(records: RecordSlices<'_>, rows: std::ops::Range<usize>, most_bytes: usize) -> usize {
    let mut bytes = 0;
    for row in rows.clone() {
        bytes += records.get(row).len();
        if bytes >= most_bytes {
            return row + 1;
        }
    }
    rows.end
}

/// Returns how many bytes the records have.
fn push(
    decoder: &mut RowDecoder,
    records: RecordSlices<'_>,
    chunk_begin: u64,
    rows: impl Iterator<Item = usize>,
) -> Result<usize> {
    let mut bytes = 0;
    for row in rows {
        let record = records.get(row);
        bytes += record.len();
        decoder
            .push(record)
            .map_err(|(column, problem)| row_error(decoder, chunk_begin, row, column, problem))?;
    }
    Ok(bytes)
}

/// Returns the numbers of the rows that the filter picks.
fn pick(
    decoder: &mut RowDecoder,
    filter: &mut RowFilter,
    records: RecordSlices<'_>,
    chunk_begin: u64,
    rows: std::ops::Range<usize>,
) -> Result<impl Iterator<Item = usize> + use<>> {
    let start = rows.start;
    push(decoder, records, chunk_begin, rows)?;
    let batch = decoder.finish()?;
    let picked = (filter.predicate)(&batch)?;
    if picked.len() != batch.num_rows() {
        return Err(ArrowError::ComputeError(format!(
            "the row filter returned {} values for {} rows",
            picked.len(),
            batch.num_rows()
        ))
        .into());
    }
    Ok((0..picked.len())
        .filter(move |&row| picked.is_valid(row) && picked.value(row))
        .map(move |row| start + row))
}

#[cold]
fn row_error(decoder: &RowDecoder, chunk_begin: u64, row: usize, column: Option<usize>, problem: RowProblem) -> Error {
    Error::Row(Box::new(RowError {
        file: FileName::default(),
        position: RecordPosition::new(chunk_begin, row as u64),
        column: column.map(|column| decoder.schema().field(column).name().clone()),
        problem,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_shared_and_scans_are_sent_between_threads() {
        fn shared<T: Send + Sync + 'static>() {}
        fn sent<T: Send + 'static>() {}
        shared::<RowFile>();
        sent::<RowBatches>();
    }
}
