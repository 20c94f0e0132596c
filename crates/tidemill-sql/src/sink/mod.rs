//! The destinations of rows of an answer or a copy.
//!
//! A [`Sink`] takes batches of one schema and writes a file or a stream. Streams (standard output) have the formats of [`StreamFormat`];
//! files also have those that need a file ([`file_sink`]).

mod csv;
#[cfg(feature = "excel")]
mod excel;
mod json;
mod moments;
mod native;
mod parquet;
mod positions;
mod record_column;
mod sharded;
mod unwritable;

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_ipc::MetadataVersion;
use arrow_ipc::writer::IpcWriteOptions;
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use tidemill_clickhouse::dictionaries::{plain_batch, plain_schema};
use tidemill_csv::{CsvOptions, Packing};
use tidemill_riegeli::array_record::ArrayRecordWriterOptions;
use tidemill_riegeli::rows::RowWriter;
use tidemill_riegeli::{Compression, WriterOptions};
use tidemill_xbase::{
    CivilDate, CodePage, CreateOptions, DELETED_COLUMN, Dialect, FieldSpec, TableWriter, fits_header,
};

use self::csv::CsvSink;
pub(crate) use self::json::DENORMALS;
pub use self::moments::check_moments;
pub(crate) use self::positions::{Position, Positions};
pub(crate) use self::sharded::{ShardedSink, Shares};
pub(crate) use self::unwritable::refuse_unwritable;
use crate::cast::cast_batch;
use crate::format::{FileName, Format};
use crate::{Error, Result};

/// Unique column names: the second `id` becomes `id_2`. `None` if they are unique already.
pub(crate) fn distinct_names(schema: &Schema) -> Option<Vec<String>> {
    let fields = schema.fields();
    let given: HashSet<&str> = fields.iter().map(|field| field.name().as_str()).collect();
    if given.len() == fields.len() {
        return None;
    }
    let mut used: HashSet<String> = HashSet::new();
    let names = fields.iter().map(|field| {
        let mut name = field.name().clone();
        let mut number = 2;
        while used.contains(&name) || (number > 2 && given.contains(name.as_str())) {
            name = format!("{}_{number}", field.name());
            number += 1;
        }
        used.insert(name.clone());
        name
    });
    Some(names.collect())
}

/// Takes batches of one schema.
pub trait Sink: Send {
    /// Writes the rows of one batch. They may be buffered until [`Sink::finish`].
    ///
    /// # Errors
    ///
    /// Values that the format cannot represent, and errors of the operating system.
    fn write(&mut self, batch: &RecordBatch) -> Result<()>;

    /// Writes the rest, and the format's trailer. When this returns, a file is on disk.
    ///
    /// # Errors
    ///
    /// As [`Sink::write`].
    fn finish(self: Box<Self>) -> Result<()>;
}

/// The formats of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamFormat {
    /// Comma-separated values with a header line; NULL is empty.
    Csv,
    /// One JSON array of objects.
    Json,
    /// One JSON object per line.
    JsonLines,
    /// An Arrow IPC stream.
    Arrow,
    /// Parquet, compressed with zstd.
    Parquet,
}

/// How a file is written, for the options of its format.
#[derive(Clone, Debug)]
pub struct FileOptions {
    /// How a Riegeli file is written. Default: zstd, level 3.
    pub riegeli: WriterOptions,
    /// How an ArrayRecord file is written. Default: one record per chunk, zstd, level 3.
    pub array_record: ArrayRecordWriterOptions,
    /// The code page of an xBase table. Default: cp1252.
    pub codepage: CodePage,
    /// The dialect of an xBase table and its memo file. Default: FoxPro 2 with an FPT.
    pub dialect: Dialect,
    /// Whether the fields of a Visual FoxPro table keep the exact names of the columns: in the header if they fit, else in a database
    /// container next to the table, `x.dbc` with `x.dct` and `x.dcx`. Default: no, they get the first 10 bytes in upper case.
    pub keeps_names: bool,
    /// Whether a Native file may contain days before 1900 and after 2299, which ClickHouse before version 26.9 shows as other days.
    /// Default: no, they are an error.
    pub wide_dates: bool,
}

impl Default for FileOptions {
    fn default() -> Self {
        Self {
            riegeli: WriterOptions::default().compression(Compression::zstd(3)),
            array_record: ArrayRecordWriterOptions::default(),
            codepage: CodePage::Cp1252,
            dialect: Dialect::FoxPro2,
            keeps_names: false,
            wide_dates: false,
        }
    }
}

/// A sink that writes to a stream. Fields are in the schema's order, and NULL is written (as `null` or empty). JSON has decimals as numbers
/// with their scale, dates as `YYYY-MM-DD`, timestamps as ISO 8601 with milliseconds and no zone, and bytes in base64.
///
/// # Errors
///
/// Values that the format cannot represent: CSV has no nested types.
pub fn stream_sink<'a>(
    format: StreamFormat,
    schema: &SchemaRef,
    out: Box<dyn Write + Send + 'a>,
) -> Result<Box<dyn Sink + 'a>> {
    let as_file = match format {
        StreamFormat::Csv => Format::Csv(CsvOptions::NONE),
        StreamFormat::Json | StreamFormat::JsonLines => Format::JsonLines,
        StreamFormat::Arrow => Format::Arrow,
        StreamFormat::Parquet => Format::Parquet,
    };
    refuse_unwritable(schema, as_file)?;
    Ok(match format {
        StreamFormat::Csv => Box::new(CsvSink::new(schema, "the answer", &CsvOptions::NONE, out)?),
        StreamFormat::Json => Box::new(json::JsonSink::array(out)),
        StreamFormat::JsonLines => Box::new(json::JsonSink::lines(out)),
        StreamFormat::Arrow => Box::new(ArrowSink::Stream(arrow_ipc::writer::StreamWriter::try_new(
            out, schema,
        )?)),
        StreamFormat::Parquet => parquet::sink(schema, out)?,
    })
}

/// A sink that creates the file at `path`, which must not exist.
pub(crate) fn file_sink(
    format: Format,
    path: &Path,
    schema: &SchemaRef,
    options: &FileOptions,
) -> Result<Box<dyn Sink>> {
    let create = || File::create_new(path).map_err(Error::io(path, "create"));
    let inner: Box<dyn Sink> = match format {
        Format::Xbase => {
            let mut create = CreateOptions::new(CivilDate::today());
            create.codepage = options.codepage;
            let is_adt = is_adt(path);
            create.format = if is_adt { Dialect::Adt } else { options.dialect };
            let (columns, mark) = without_mark(schema);
            let keeps_names = is_adt || options.keeps_names && options.dialect == Dialect::VisualFoxPro;
            let fields = match keeps_names {
                true => FieldSpec::from_schema_with_long_names(&columns)?,
                false => FieldSpec::from_schema(&columns)?,
            };
            create.long_names = !is_adt && keeps_names && !fields.iter().all(|field| fits_header(&field.name));
            let writer = TableWriter::create(path, &fields, &create)?;
            return Ok(Box::new(XbaseSink { writer, mark }));
        }
        Format::Riegeli => {
            create()?;
            Box::new(RiegeliSink(RowWriter::create(
                path,
                SchemaRef::clone(schema),
                options.riegeli.clone(),
            )?))
        }
        Format::TfRecord | Format::ArrayRecord => {
            create()?;
            return Ok(Box::new(record_column::RecordColumnSink::create(
                format, path, schema, options,
            )?));
        }
        Format::Server(_) => {
            return Err(Error::Unsupported {
                what: format!("{}: writing rows of a server's table to a file", path.display()),
                hint: "name the server's table by its URL".to_owned(),
            });
        }
        Format::Native(_) => {
            let out = BufWriter::new(create()?);
            Box::new(native::NativeSink::new(schema, out, path, options.wide_dates)?)
        }
        Format::Parquet => parquet::sink(schema, BufWriter::new(create()?))?,
        Format::Arrow => {
            let plain = plain_schema(schema);
            // The C++ library's alignment: with more padding, DataFusion does not find the schema of an object (datafusion-datasource-arrow
            // 55, `infer_stream_schema`).
            let layout = IpcWriteOptions::try_new(8, false, MetadataVersion::V5)?;
            let out = BufWriter::new(create()?);
            let writer = arrow_ipc::writer::FileWriter::try_new_with_options(out, &plain, layout)?;
            Box::new(ArrowSink::File(writer, plain))
        }
        #[cfg(feature = "excel")]
        Format::Excel(_) => Box::new(excel::ExcelSink::new(schema, path, create()?)?),
        #[cfg(not(feature = "excel"))]
        Format::Excel(_) => {
            return Err(Error::Unsupported {
                what: format!("{}: a workbook", path.display()),
                hint: "this build has no excel: build it with --features excel".to_owned(),
            });
        }
        Format::Csv(said) => Box::new(CsvSink::new(schema, path, &said, create()?)?),
        Format::JsonLines => {
            let packed = packing(path).packed(BufWriter::new(create()?));
            let packed = packed.map_err(Error::io(path, "write"))?;
            match is_json(path) {
                true => Box::new(json::JsonSink::array(packed)),
                false => Box::new(json::JsonSink::lines(packed)),
            }
        }
    };
    Ok(Box::new(Durable {
        inner,
        file: File::open(path).map_err(Error::io(path, "open"))?,
        path: path.to_path_buf(),
    }))
}

/// Whether the name is that of an Advantage table, which has long field names.
pub(crate) fn is_adt(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("adt"))
}

/// The compression of a text file with this name.
fn packing(path: &Path) -> Packing {
    FileName::of(path).map_or(Packing::None, |name| name.compression.of_text())
}

/// Whether a name is `x.json`, perhaps with the extension of a compression, but not one of JSON lines.
fn is_json(path: &Path) -> bool {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_ascii_lowercase();
    [".json", ".json.gz", ".json.zst", ".json.zstd"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// A sink that syncs its file at the end.
struct Durable {
    inner: Box<dyn Sink>,
    file: File,
    path: std::path::PathBuf,
}

impl Sink for Durable {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.inner.write(batch)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.inner.finish()?;
        self.file.sync_all().map_err(Error::io(&self.path, "synchronise"))
    }
}

/// The columns of an xBase table without the deletion mark, and the position of that column if there is one.
pub(crate) fn without_mark(schema: &Schema) -> (Schema, Option<usize>) {
    let is_mark = |field: &Field| field.name() == DELETED_COLUMN && *field.data_type() == DataType::Boolean;
    let fields = schema.fields();
    let mark = fields.iter().position(|field| is_mark(field));
    let others = fields.iter().filter(|field| !is_mark(field)).cloned();
    (Schema::new(others.collect::<Fields>()), mark)
}

struct XbaseSink {
    writer: TableWriter,
    mark: Option<usize>,
}

impl Sink for XbaseSink {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let Some(mark) = self.mark else {
            return Ok(self.writer.write(batch, None)?);
        };
        let mut batch = batch.clone();
        let marks = batch.remove_column(mark);
        Ok(self.writer.write(&batch, Some(marks.as_boolean()))?)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.writer.finish()?;
        Ok(())
    }
}

struct RiegeliSink<W: Write>(RowWriter<W>);

impl<W: Write + Send> Sink for RiegeliSink<W> {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        Ok(self.0.write(batch)?)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.0.finish()?;
        Ok(())
    }
}

enum ArrowSink<W: Write> {
    Stream(arrow_ipc::writer::StreamWriter<W>),
    /// With its columns, without dictionaries: a file has one dictionary for all batches, but each block of a server has its own.
    File(arrow_ipc::writer::FileWriter<W>, SchemaRef),
}

impl<W: Write + Send> Sink for ArrowSink<W> {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Self::Stream(writer) => writer.write(batch)?,
            Self::File(writer, plain) => {
                let batch = plain_batch(batch).map_err(|error| ArrowError::ExternalError(Box::new(error)))?;
                writer.write(&cast_batch(&batch, plain)?)?;
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        match *self {
            Self::Stream(mut writer) => {
                writer.finish()?;
                writer
                    .get_mut()
                    .flush()
                    .map_err(|error| Error::from(arrow_schema::ArrowError::from(error)))
            }
            Self::File(mut writer, _) => {
                writer.finish()?;
                writer
                    .get_mut()
                    .flush()
                    .map_err(|error| Error::from(arrow_schema::ArrowError::from(error)))
            }
        }
    }
}

/// A pattern of chrono. Finer times are truncated to milliseconds; those of xBase have no fractions.
const TIMESTAMP_MILLISECONDS: &str = "%Y-%m-%dT%H:%M:%S%.3f";
const TIME_MILLISECONDS: &str = "%H:%M:%S%.3f";

#[cfg(test)]
mod tests {
    use arrow_array::types::Int32Type;
    use arrow_array::{ArrayRef, DictionaryArray};

    use std::sync::Arc;

    use super::*;

    #[test]
    fn batches_with_dictionaries_of_their_own_make_one_arrow_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.arrow");
        let batch = |words: [&str; 2]| {
            let words: DictionaryArray<Int32Type> = words.into_iter().collect();
            RecordBatch::try_from_iter([("word", Arc::new(words) as ArrayRef)]).expect("a batch")
        };
        let (first, second) = (batch(["a", "b"]), batch(["c", "d"]));
        let mut sink = file_sink(Format::Arrow, &path, &first.schema(), &FileOptions::default()).expect("a sink");
        sink.write(&first).expect("written");
        sink.write(&second).expect("written");
        sink.finish().expect("finished");
        let file = File::open(&path).expect("opened");
        let batches = arrow_ipc::reader::FileReader::try_new(file, None).expect("a file");
        let words: Vec<String> = batches
            .flat_map(|batch| {
                let column = arrow_cast::cast(batch.expect("a batch").column(0), &DataType::Utf8).expect("text");
                column
                    .as_string::<i32>()
                    .iter()
                    .flatten()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(words, ["a", "b", "c", "d"]);
    }
}
