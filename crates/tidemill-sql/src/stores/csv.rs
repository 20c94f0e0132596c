//! CSV files. Options that are not set are detected for each file; the columns of multiple files are merged by name.

use std::collections::HashMap;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use arrow_array::{RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
use datafusion::catalog::TableProvider;
use datafusion::common::stats::Precision;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use tidemill_csv::{CsvOptions, CsvReader, Dialect, Look, Packing, divides};
use tidemill_riegeli::{SharedSource, Source};

use crate::ads_connection::blocking;
use crate::engine::{Batches, Chosen, Engine, EngineTable, Request, estimated_rows};
use crate::format::Format;
use crate::location::{Location, Place, SourceReader};
use crate::session::Session;
use crate::{Error, Result, shards};

/// Smaller files are read by a single thread.
const DIVIDED_FROM: u64 = 1 << 20;

/// Bytes per read from a source.
const CHUNK: usize = 1 << 20;

/// The delimiter for a file name, which may be a shard or compressed: `x.tsv-00000-of-00002`, `x.tsv.gz`.
pub(crate) fn usual_delimiter(path: &Path) -> u8 {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_ascii_lowercase();
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
    let (name, _) = shards::without_number(name);
    match Path::new(name).extension().is_some_and(|extension| extension == "tsv") {
        true => b'\t',
        false => b',',
    }
}

pub(super) async fn open(location: &Location, said: &CsvOptions) -> Result<Arc<dyn TableProvider>> {
    let files = looks(location, said).await?;
    let mut whole: Option<Schema> = None;
    for Looked { look, .. } in &files {
        // Columns without values get their type from other files.
        let columns = look.columns.fields().iter().zip(&look.has_values);
        let columns = columns.map(|(field, has_values)| match has_values {
            true => Arc::clone(field),
            false => Arc::new(Field::clone(field).with_data_type(DataType::Null)),
        });
        let columns = Schema::new(columns.collect::<Fields>());
        whole = Some(match whole {
            Some(whole) => merged(&whole, &columns),
            None => columns,
        });
    }
    let columns = whole
        .iter()
        .flat_map(|whole| whole.fields())
        .map(|field| match field.data_type() {
            DataType::Null => Arc::new(Field::clone(field).with_data_type(DataType::Utf8)),
            _ => Arc::clone(field),
        });
    let schema = Arc::new(Schema::new(columns.collect::<Fields>()));
    let engines = files.into_iter().map(|looked| CsvEngine::new(looked, &schema));
    Ok(Arc::new(EngineTable::new(location.to_string(), engines.collect())?))
}

impl Session {
    /// The detected dialect of a CSV file, or of the first of its shards; `None` for other formats.
    ///
    /// # Errors
    ///
    /// [`Error::Csv`], [`Error::Io`].
    pub fn csv_dialect<'a>(&'a self, location: &'a Location) -> BoxFuture<'a, Result<Option<Dialect>>> {
        async move {
            let Format::Csv(said) = location.format else {
                return Ok(None);
            };
            let first = looks(location, &said).await?.into_iter().next();
            Ok(first.map(|first| first.look.dialect))
        }
        .boxed()
    }
}

/// A file, and what its beginning shows.
struct Looked {
    file: Location,
    source: SharedSource,
    look: Look,
    /// The mean length of the first lines, if measured.
    line_length: Option<u64>,
}

/// The files of a table.
async fn looks(location: &Location, said: &CsvOptions) -> Result<Vec<Looked>> {
    let sources = location.sources().await?;
    let said = *said;
    // Reading blocks, which is not allowed on a thread of the runtime.
    blocking(move || {
        let files = sources.into_iter().filter_map(|(file, source)| Some((file, source?)));
        let looks = files.map(|(file, source)| {
            let beginning = BufReader::with_capacity(CHUNK, SourceReader::new(Arc::clone(&source)));
            let usual = usual_delimiter(Path::new(&file.to_string()));
            let look = Look::at(beginning, &said, usual).map_err(Error::csv(&file))?;
            // For an object, the beginning would be fetched again.
            let line_length = match file.place {
                Place::File(_) => Some(line_length(&source, look.dialect.packing)),
                _ => None,
            };
            let line_length = line_length.transpose().map_err(Error::io(file.to_string(), "read"))?;
            Ok(Looked {
                file,
                source,
                look,
                line_length,
            })
        });
        looks.collect()
    })
    .await
}

/// The mean length of a text's first lines.
fn line_length(source: &SharedSource, packing: Packing) -> io::Result<u64> {
    const LOOKED_AT: u64 = 1 << 20;
    let text = packing.unpacked(SourceReader::new(Arc::clone(source)))?;
    let mut beginning = Vec::new();
    text.take(LOOKED_AT).read_to_end(&mut beginning)?;
    let lines = beginning.iter().filter(|&&byte| byte == b'\n').count();
    Ok((beginning.len() / lines.max(1)) as u64)
}

fn merged(one: &Schema, other: &Schema) -> Schema {
    let places = places_of(other);
    let columns = one.fields().iter().map(|field| {
        let data_type = match places.get(field.name().as_str()) {
            Some(&place) => held_by_both(field.data_type(), other.field(place).data_type()),
            None => field.data_type().clone(),
        };
        Field::new(field.name(), data_type, true)
    });
    let known = places_of(one);
    let more = other
        .fields()
        .iter()
        .filter(|field| !known.contains_key(field.name().as_str()));
    Schema::new(
        columns
            .chain(more.map(|field| field.as_ref().clone()))
            .collect::<Fields>(),
    )
}

/// The positions of columns by name. A schema searches linearly, and a file may have 100,000 columns.
fn places_of(schema: &Schema) -> HashMap<&str, usize> {
    let names = schema.fields().iter().map(|field| field.name().as_str());
    names.zip(0..).collect()
}

fn held_by_both(one: &DataType, other: &DataType) -> DataType {
    use DataType as D;
    match (one, other) {
        _ if one == other => one.clone(),
        (D::Null, known) | (known, D::Null) => known.clone(),
        (D::Int64, D::Float64) | (D::Float64, D::Int64) => D::Float64,
        (D::Int64, long @ D::Decimal128(..)) | (long @ D::Decimal128(..), D::Int64) => long.clone(),
        (D::Decimal128(precision, scale), D::Decimal128(other, same)) => {
            D::Decimal128(*precision.max(other), *scale.max(same))
        }
        (D::Date32, moment @ D::Timestamp(_, None)) | (moment @ D::Timestamp(_, None), D::Date32) => moment.clone(),
        (D::Timestamp(unit, zone), D::Timestamp(other, same)) if zone == same => {
            let finest = [TimeUnit::Nanosecond, TimeUnit::Microsecond, TimeUnit::Millisecond];
            let finest = finest.into_iter().find(|finest| [unit, other].contains(&finest));
            D::Timestamp(finest.unwrap_or(TimeUnit::Second), zone.clone())
        }
        _ => D::Utf8,
    }
}

/// One file.
pub(super) struct CsvEngine {
    source: SharedSource,
    name: String,
    is_local: bool,
    /// With types that hold the values of all files.
    look: Look,
    /// The mean length of the first lines, if measured.
    line_length: Option<u64>,
    /// The columns of all files.
    schema: SchemaRef,
    /// The position of each in this file.
    places: Vec<Option<usize>>,
    divisible: OnceLock<bool>,
}

impl CsvEngine {
    fn new(looked: Looked, schema: &SchemaRef) -> Self {
        let Looked {
            file,
            source,
            look,
            line_length,
        } = looked;
        let of_all = places_of(schema);
        let own = look.columns.fields().iter();
        let types = own.map(|field| match of_all.get(field.name().as_str()) {
            Some(&place) => Arc::clone(&schema.fields()[place]),
            None => Arc::clone(field),
        });
        let columns = Arc::new(Schema::new(types.collect::<Fields>()));
        let own = places_of(&columns);
        let names = schema.fields().iter().map(|field| field.name().as_str());
        let places: Vec<_> = names.map(|name| own.get(name).copied()).collect();
        Self {
            source,
            name: file.to_string(),
            is_local: matches!(file.place, Place::File(_)),
            places,
            look: Look { columns, ..look },
            line_length,
            schema: Arc::clone(schema),
            divisible: OnceLock::new(),
        }
    }

    fn bytes_from(&self, at: u64) -> BufReader<SourceReader> {
        BufReader::with_capacity(CHUNK, SourceReader::from(Arc::clone(&self.source), at))
    }

    /// Whether the file is large, local, and has no line ends within quotes. The scan reports read errors.
    fn looks_divisible(&self) -> bool {
        let is_large = self.source.size().is_ok_and(|size| size >= DIVIDED_FROM);
        self.is_local && is_large && divides(self.bytes_from(0), &self.look.dialect).unwrap_or(false)
    }

    /// The range of a part of the data after the header.
    fn range(&self, (part, parts): (usize, usize)) -> Result<(u64, u64)> {
        let size = self.source.size().map_err(Error::io(&self.name, "read"))?;
        let begin = self.look.begin;
        let at = |part: usize| {
            let at = u128::from(size.saturating_sub(begin)) * part as u128 / parts.max(1) as u128;
            begin + u64::try_from(at).unwrap_or_default()
        };
        Ok((at(part), at(part + 1)))
    }
}

/// The number of lines that end before an offset.
fn lines_before(source: &SharedSource, end: u64) -> u64 {
    let bytes = BufReader::with_capacity(CHUNK, SourceReader::new(Arc::clone(source)));
    let (mut lines, mut before) = (0, b'\n');
    for byte in bytes.take(end).bytes().map_while(std::result::Result::ok) {
        lines += u64::from(byte == b'\n' || before == b'\r');
        before = byte;
    }
    lines
}

impl Engine for CsvEngine {
    fn scan_name(&self) -> &'static str {
        "CsvScan"
    }

    fn file(&self) -> String {
        self.name.clone()
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn row_count(&self) -> Precision<usize> {
        let (size, is_packed) = (self.source.size().ok(), self.look.dialect.packing != Packing::None);
        let known = size.zip(self.line_length);
        known.map_or(Precision::Absent, |(size, length)| {
            estimated_rows(size, is_packed, length)
        })
    }

    fn row_bytes(&self) -> Option<u64> {
        self.line_length
    }

    fn divisible(&self) -> bool {
        *self.divisible.get_or_init(|| self.looks_divisible())
    }

    fn scan(&self, request: Request) -> Result<Batches> {
        let (part, batch_rows) = (request.part, request.batch_rows);
        let chosen = Chosen::needed(request);
        let own: Vec<usize> = chosen
            .columns()
            .iter()
            .filter_map(|&column| self.places[column])
            .collect();
        let (begin, end) = self.range(part)?;
        let reader = match part {
            (0, parts) => {
                let reader = CsvReader::new(self.bytes_from(0), &self.look, &own, batch_rows);
                reader.map(|reader| if parts > 1 { reader.until(end) } else { reader })
            }
            _ => CsvReader::of_part(self.bytes_from(begin - 1), end - begin, &self.look, &own, batch_rows),
        };
        let reader = reader.map_err(Error::csv(&self.name))?;
        Ok(Box::new(Rows {
            reader,
            source: Arc::clone(&self.source),
            begin: begin.saturating_sub(1),
            name: self.name.clone(),
            needed: Arc::new(self.schema.project(chosen.columns())?),
            is_there: chosen
                .columns()
                .iter()
                .map(|&column| self.places[column].is_some())
                .collect(),
            chosen,
            is_failed: false,
        }))
    }
}

struct Rows {
    reader: CsvReader<'static>,
    source: SharedSource,
    /// The offset from which the reader counts lines.
    begin: u64,
    name: String,
    /// The required columns, and whether the file has them.
    needed: SchemaRef,
    is_there: Vec<bool>,
    chosen: Chosen,
    is_failed: bool,
}

impl Rows {
    /// Adds the required columns that the file lacks, as NULL.
    fn completed(&self, read: &RecordBatch) -> Result<RecordBatch> {
        let rows = read.num_rows();
        let mut own = read.columns().iter();
        let columns = self.is_there.iter().zip(self.needed.fields());
        let columns = columns.map(|(is_there, field)| match is_there.then(|| own.next()).flatten() {
            Some(column) => Arc::clone(column),
            None => new_null_array(field.data_type(), rows),
        });
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let needed = Arc::clone(&self.needed);
        Ok(RecordBatch::try_new_with_options(needed, columns.collect(), &options)?)
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_failed || self.chosen.is_full() {
            return None;
        }
        let batch = match self.reader.next()? {
            Ok(batch) => self.completed(&batch).and_then(|batch| self.chosen.of(batch)),
            Err(tidemill_csv::Error::Fault(mut fault)) => {
                fault.line += lines_before(&self.source, self.begin);
                Err(Error::csv(&self.name)(tidemill_csv::Error::Fault(fault)))
            }
            Err(error) => Err(Error::csv(&self.name)(error)),
        };
        self.is_failed = batch.is_err();
        Some(batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_tells_the_usual_delimiter() {
        for (name, expected) in [
            ("x.csv", b','),
            ("x.TSV", b'\t'),
            ("x.tsv.gz", b'\t'),
            ("x.tsv-00000-of-00002", b'\t'),
            ("x-00000-of-00002.tsv", b'\t'),
            ("tsv", b','),
        ] {
            assert_eq!(usual_delimiter(Path::new(name)), expected, "{name}");
        }
    }

    #[test]
    fn a_column_of_several_files_has_a_type_for_all() {
        let of = |kinds: [DataType; 2]| {
            let [a, b] = kinds;
            Schema::new(vec![Field::new("a", a, true), Field::new("b", b, true)])
        };
        let moment = |unit| DataType::Timestamp(unit, None);
        let found = merged(
            &of([DataType::Int64, DataType::Date32]),
            &of([DataType::Float64, moment(TimeUnit::Millisecond)]),
        );
        assert_eq!(found, of([DataType::Float64, moment(TimeUnit::Millisecond)]));
        assert_eq!(held_by_both(&DataType::Boolean, &DataType::Int64), DataType::Utf8);
        assert_eq!(held_by_both(&DataType::Null, &DataType::Int64), DataType::Int64);
        let finest = held_by_both(&moment(TimeUnit::Millisecond), &moment(TimeUnit::Nanosecond));
        assert_eq!(finest, moment(TimeUnit::Nanosecond));
    }
}
