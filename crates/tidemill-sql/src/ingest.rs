//! Writes rows that a program has in memory into a table.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::display::array_value_to_string;
use arrow_schema::{DataType, Schema, SchemaRef, TimeUnit};
use datafusion::common::DataFusionError;
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use tidemill_xbase::{CodePage, Dialect};

use crate::ads_connection::{blocking, name_of_file};
use crate::answer::Answer;
use crate::cast::cast_batch;
use crate::copy::{self, CopyOptions, Loss};
use crate::engine::BATCHES_IN_FLIGHT;
use crate::format::Format;
use crate::location::{Location, Place};
use crate::names::{self, Attached};
use crate::session::Session;
use crate::sink::FileOptions;
use crate::stores::server::{Filling, IfThere, TableOptions};
use crate::{Error, Result};

/// What to do if the table exists, and if it does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ingest {
    /// Create the table; it must not exist.
    Create,
    /// Append to the table; it must exist.
    Append,
    /// Replace the table.
    Replace,
    /// Append to the table; create it if it does not exist.
    CreateAppend,
}

/// The options of an ingestion.
#[derive(Clone, Debug)]
pub struct IngestOptions {
    /// Default: create the table, which must not exist.
    pub mode: Ingest,
    /// Whether values may lose something in their new type. Default: no, the first such value is an error.
    pub lossy: bool,
    /// How a file is written, for the options of its format. The default suits data frames: xBase tables are of Visual FoxPro, whose fields
    /// can be NULL and keep the exact names of the columns.
    pub file: FileOptions,
    /// The code page of a new xBase table. Default: that of the session; else cp1252 if it has all characters of the first batch, otherwise
    /// UTF-8.
    pub codepage: Option<CodePage>,
    /// How a table of a server is created.
    pub table: TableOptions,
}

impl Default for IngestOptions {
    fn default() -> Self {
        Self {
            mode: Ingest::Create,
            lossy: false,
            file: FileOptions {
                dialect: Dialect::VisualFoxPro,
                keeps_names: true,
                ..FileOptions::default()
            },
            codepage: None,
            table: TableOptions::default(),
        }
    }
}

impl From<Ingest> for IngestOptions {
    fn from(mode: Ingest) -> Self {
        Self {
            mode,
            ..Self::default()
        }
    }
}

/// Batches of another program.
type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

impl Session {
    /// Writes rows into a table, and returns their number. The iterator is read on another thread, a few batches ahead.
    ///
    /// A new table is a table of the server that the name refers to, or a file whose extension selects the format; without an extension it
    /// is a DBF. Rows can be appended to xBase tables, within the open transaction, and to tables of servers.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`], [`Error::NotFound`], [`Error::Denied`] for a path if names are confined, [`Error::Unsupported`] for appending to
    /// other files, [`Error::Lossy`] for a value that would lose something; as [`Session::append`] and [`Session::copy`].
    pub fn ingest<'a>(
        &'a self,
        table: &'a str,
        options: impl Into<IngestOptions>,
        schema: SchemaRef,
        batches: impl Iterator<Item = Result<RecordBatch>> + Send + 'static,
    ) -> BoxFuture<'a, Result<u64>> {
        self.take_in(table, options.into(), schema, Box::new(batches)).boxed()
    }

    async fn take_in(&self, table: &str, options: IngestOptions, schema: SchemaRef, batches: Batches) -> Result<u64> {
        self.names().check_plain(table)?;
        let mode = options.mode;
        let (schema, batches) = in_plain_types(&schema, batches);
        let adds = matches!(mode, Ingest::Append | Ingest::CreateAppend);
        let location = match names::is_object(table) && mode != Ingest::Append {
            // Whether it exists is checked when it is written.
            true => Location::destination(table)?,
            false => match self.locate(table).await {
                Ok(location) => location,
                Err(Error::NotFound { .. }) if mode != Ingest::Append => self.new_table(table)?,
                Err(error) => return Err(error),
            },
        };
        let is_there = matches!(&location.place, Place::File(path) if path.exists());
        match (&location.place, location.format) {
            (Place::Server(url), _) => {
                let making = TableOptions {
                    create: mode != Ingest::Append,
                    ..options.table.clone()
                };
                let there = match mode {
                    Ingest::Create => IfThere::Refuse,
                    Ingest::Replace => IfThere::Replace,
                    Ingest::Append | Ingest::CreateAppend => IfThere::Add,
                };
                let columns: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
                let filling = Filling {
                    columns: &columns,
                    making: &making,
                    there,
                    job: None,
                    rows_before: 0,
                };
                self.connection.change_at_once(&url.to_string())?;
                let sink = self.servers.of(url)?.fill(url, &schema, &filling).await?;
                copy::insert(Answer::read(schema, batches), sink, |_, _| Ok(())).await
            }
            (Place::File(path), Format::Xbase) if is_there && adds => {
                let path = name_of_file(path)?;
                let checked = ValueCheck::of(&schema, &location, options.lossy)?.over(batches);
                self.append(&path, checked).await
            }
            (Place::File(_), _) if is_there && adds => Err(Error::Unsupported {
                what: format!("{location}: adding rows to a file that is not of xBase"),
                hint: "replace it, or write another file".to_owned(),
            }),
            _ => {
                let checked = ValueCheck::of(&schema, &location, options.lossy)?.over(batches);
                let mut copy = CopyOptions {
                    overwrite: mode == Ingest::Replace,
                    file: options.file,
                    // The values were checked before.
                    lossy: true,
                    ..CopyOptions::default()
                };
                let (mut schema, mut batches): (SchemaRef, Batches) = (schema, Box::new(checked));
                if location.format == Format::Xbase {
                    let (first, rest) = blocking(move || Ok((batches.next().transpose()?, batches))).await?;
                    let codepage = options.codepage.or(self.options.codepage_set());
                    copy.file.codepage = codepage.unwrap_or_else(|| codepage_of(first.as_ref()));
                    let is_vfp = copy.file.dialect == Dialect::VisualFoxPro && !is_adt(&location);
                    schema = with_widths(&schema, first.as_ref(), is_vfp);
                    batches = Box::new(first.map(Ok).into_iter().chain(rest));
                }
                let rows = Answer::read(schema, batches);
                let copied = self
                    .plan(rows, None, false, None, &location, &copy)
                    .await?
                    .run(|_| {})
                    .await?;
                Ok(copied.rows)
            }
        }
    }

    /// The place of a new table with this name.
    pub(crate) fn new_table(&self, name: &str) -> Result<Location> {
        let (folder, name) = match self.names().within_attached(name)? {
            Some((Attached::Folder(folder), table)) => (folder, table),
            _ => (self.names().folder_of_new_tables()?.to_owned(), name),
        };
        self.names().check_plain(name)?;
        if name.starts_with('#') {
            return Err(Error::Unsupported {
                what: format!("{name}: rows of a program in a temporary table"),
                hint: format!("CREATE TABLE {name} (…) and INSERT with parameters, or name a table that stays"),
            });
        }
        let path = self.names().translate(name)?;
        let path = match Format::from_name(&path) {
            Some(_) => path,
            None if is_compressed(&path) => path,
            None => PathBuf::from(format!("{}.dbf", path.display())),
        };
        Location::new_file(&folder.join(path))
    }
}

/// Whether a name has the extension of a compression.
fn is_compressed(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    ["gz", "zst", "bz2", "xz", "zip"]
        .iter()
        .any(|known| extension.eq_ignore_ascii_case(known))
}

/// Columns without view types: data frames use them, and some writers do not support them within a dictionary.
fn in_plain_types(
    schema: &SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch>> + Send + 'static,
) -> (SchemaRef, impl Iterator<Item = Result<RecordBatch>> + Send + 'static) {
    fn plain(data_type: &DataType) -> Option<DataType> {
        match data_type {
            DataType::Utf8View => Some(DataType::Utf8),
            DataType::BinaryView => Some(DataType::Binary),
            DataType::Dictionary(_, values) => plain(values),
            _ => None,
        }
    }
    let fields = schema.fields().iter().map(|field| match plain(field.data_type()) {
        Some(data_type) => field.as_ref().clone().with_data_type(data_type),
        None => field.as_ref().clone(),
    });
    let plain = Arc::new(Schema::new_with_metadata(
        fields.collect::<Vec<_>>(),
        schema.metadata().clone(),
    ));
    let batches = batches.map({
        let plain = Arc::clone(&plain);
        move |batch| cast_batch(&batch?, &plain)
    });
    (plain, batches)
}

/// The code page that has all characters of the first batch and of its column names.
fn codepage_of(first: Option<&RecordBatch>) -> CodePage {
    let fits = |batch: &RecordBatch| {
        let schema = batch.schema_ref();
        let mut names = schema.fields().iter().map(|field| field.name());
        names.all(|name| is_cp1252(name)) && batch.columns().iter().all(fits_cp1252)
    };
    match first.is_none_or(fits) {
        true => CodePage::Cp1252,
        false => CodePage::Utf8,
    }
}

fn is_adt(location: &Location) -> bool {
    let file = location.file().ok();
    let extension = file.and_then(|file| file.extension());
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("adt"))
}

/// The columns of an xBase table, with fields that are read back as the same whole numbers. Those of 64 bits get 18 digits, which every
/// program supports, if the first batch fits. In Visual FoxPro, those of at most 32 bits get I of 4 bytes, and those of 64 bits that do not
/// fit get I of 8 bytes, as in Harbour.
fn with_widths(schema: &SchemaRef, first: Option<&RecordBatch>, is_vfp: bool) -> SchemaRef {
    const DIGITS: u32 = 18;
    let fits = |place: usize| {
        let Some(batch) = first else { return true };
        let column = batch.column(place).as_primitive::<Int64Type>();
        // A minus sign takes one digit's place.
        let range = -(10_i64.pow(DIGITS - 1) - 1)..10_i64.pow(DIGITS);
        column.iter().flatten().all(|value| range.contains(&value))
    };
    let fields = schema.fields().iter().enumerate().map(|(place, field)| {
        let is_new = !field.metadata().contains_key("xbase.type");
        let (letter, width) = match field.data_type() {
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::UInt8 | DataType::UInt16
                if is_new && is_vfp =>
            {
                ("I", 4)
            }
            DataType::Int64 if is_new && fits(place) => ("N", DIGITS),
            DataType::Int64 if is_new && is_vfp => ("I", 8),
            _ => return field.as_ref().clone(),
        };
        let shape = [
            ("type", letter.to_owned()),
            ("width", width.to_string()),
            ("decimals", "0".to_owned()),
        ];
        let mut metadata = field.metadata().clone();
        metadata.extend(shape.map(|(key, value)| (format!("xbase.{key}"), value)));
        field.as_ref().clone().with_metadata(metadata)
    });
    Arc::new(Schema::new_with_metadata(
        fields.collect::<Vec<_>>(),
        schema.metadata().clone(),
    ))
}

fn fits_cp1252(column: &ArrayRef) -> bool {
    let column = match column.data_type() {
        DataType::Dictionary(..) | DataType::LargeUtf8 | DataType::Utf8View | DataType::Utf8 => {
            arrow_cast::cast(column, &DataType::Utf8)
        }
        _ => return true,
    };
    // A dictionary of other values than text is not text.
    let Ok(column) = column else { return true };
    column.as_string::<i32>().iter().flatten().all(is_cp1252)
}

fn is_cp1252(text: &str) -> bool {
    text.is_ascii() || CodePage::Cp1252.encode(text, &mut Vec::new()).is_ok()
}

/// Checks for values that would lose something in the table.
struct ValueCheck {
    place: String,
    /// The columns with timestamps that may be too fine, and their ticks per millisecond.
    columns: Vec<(usize, i64)>,
}

impl ValueCheck {
    /// # Errors
    ///
    /// [`Error::Lossy`] for columns whose type always loses something.
    fn of(schema: &Schema, location: &Location, lossy: bool) -> Result<Self> {
        let (mut columns, mut lost) = (Vec::new(), Vec::new());
        let losses = copy::losses(schema, location.format);
        for ((place, field), loss) in schema.fields().iter().enumerate().zip(losses) {
            // UTC counts as a zone: a data frame that is read back without it would differ.
            let is_zoned = matches!(field.data_type(), DataType::Timestamp(_, Some(_)));
            if is_zoned && location.format == Format::Xbase {
                lost.push(format!("{}: {}: {}", field.name(), field.data_type(), Loss::Zone));
            }
            let ticks = match field.data_type() {
                DataType::Timestamp(TimeUnit::Microsecond, _) | DataType::Time64(TimeUnit::Microsecond) => 1_000,
                DataType::Timestamp(TimeUnit::Nanosecond, _) | DataType::Time64(TimeUnit::Nanosecond) => 1_000_000,
                _ => continue,
            };
            if loss.is_some() {
                columns.push((place, ticks));
            }
        }
        match lossy {
            true => columns.clear(),
            false if lost.is_empty() => {}
            false => {
                return Err(Error::Lossy {
                    place: location.to_string(),
                    columns: lost,
                });
            }
        }
        Ok(Self {
            place: location.to_string(),
            columns,
        })
    }

    fn over(
        self,
        batches: impl Iterator<Item = Result<RecordBatch>> + Send + 'static,
    ) -> impl Iterator<Item = Result<RecordBatch>> + Send + 'static {
        let mut before = 0;
        batches.map(move |batch| {
            let batch = batch?;
            self.check(&batch, before)?;
            before += batch.num_rows();
            Ok(batch)
        })
    }

    /// # Errors
    ///
    /// [`Error::Lossy`] with the first value that would lose something.
    fn check(&self, batch: &RecordBatch, rows_before: usize) -> Result<()> {
        for (place, ticks) in &self.columns {
            let Some(column) = batch.columns().get(*place) else {
                continue;
            };
            let ticks_of_rows = arrow_cast::cast(column, &DataType::Int64)?;
            let mut values = ticks_of_rows.as_primitive::<Int64Type>().iter().enumerate();
            let lost = values.find(|(_, value)| value.is_some_and(|value| value % ticks != 0));
            if let Some((row, _)) = lost {
                let name = batch.schema_ref().field(*place).name().clone();
                let value = array_value_to_string(column, row)?;
                return Err(Error::Lossy {
                    place: self.place.clone(),
                    columns: vec![format!(
                        "{name}: row {}: {value}: {}",
                        rows_before + row + 1,
                        Loss::FinerThanMilliseconds
                    )],
                });
            }
        }
        Ok(())
    }
}

impl Answer {
    /// The rows of an iterator that may block, read a few batches ahead.
    fn read(schema: SchemaRef, batches: impl Iterator<Item = Result<RecordBatch>> + Send + 'static) -> Self {
        let mut stream = RecordBatchReceiverStreamBuilder::new(schema, BATCHES_IN_FLIGHT);
        let sender = stream.tx();
        stream.spawn_blocking(move || {
            for batch in batches {
                let batch = batch.map_err(|error| DataFusionError::External(Box::new(error)));
                if sender.blocking_send(batch).is_err() {
                    break;
                }
            }
            Ok(())
        });
        Self::streamed(stream.build())
    }
}
