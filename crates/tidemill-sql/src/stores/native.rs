//! Files of ClickHouse's FORMAT Native: blocks with the names and types of their columns.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::stats::Precision;
use tidemill_clickhouse::arrow_type::StringType;
use tidemill_clickhouse::source::ReadSource;
use tidemill_clickhouse::{Block, BlockDecoder, NativeReader};

use super::decimals::{wide, widened};
use crate::engine::{Batches, Chosen, Engine, EngineTable, Request};
use crate::location::Location;
use crate::{Error, Result};

/// The string type that the options after a file name select.
///
/// # Errors
///
/// [`Error::Unsupported`] for options other than `binary_strings`.
pub(crate) fn strings(place: &str, options: &str) -> Result<StringType> {
    match options {
        "binary_strings=true" | "binary_strings=1" => Ok(StringType::Binary),
        "binary_strings=false" | "binary_strings=0" => Ok(StringType::ByContent),
        _ => Err(Error::Unsupported {
            what: format!("{place}?{options}"),
            hint: "files of FORMAT Native have the option binary_strings=true".to_owned(),
        }),
    }
}

pub(super) async fn open(location: &Location, strings: StringType) -> Result<Arc<dyn TableProvider>> {
    let mut engines = Vec::new();
    for part in location.parts().await? {
        let path = part.file()?.to_path_buf();
        let first = blocks(&path, strings)?
            .next()
            .transpose()
            .map_err(Error::native(path.display()))?;
        let Some(Block { batch, .. }) = first else {
            return Err(Error::Unsupported {
                what: format!("{part}: a table without a block, and so without columns,"),
                hint: "write it with at least one block".to_owned(),
            });
        };
        engines.push(NativeEngine {
            schema: widened(&batch.schema()),
            path,
            strings,
        });
    }
    Ok(Arc::new(EngineTable::new(location.to_string(), engines)?))
}

fn blocks(path: &PathBuf, strings: StringType) -> Result<NativeReader<ReadSource<File>>> {
    let reader = NativeReader::new(File::open(path).map_err(Error::io(path, "open"))?);
    Ok(reader.with_decoder(BlockDecoder {
        strings,
        ..BlockDecoder::default()
    }))
}

struct NativeEngine {
    path: PathBuf,
    strings: StringType,
    schema: SchemaRef,
}

impl Engine for NativeEngine {
    fn scan_name(&self) -> &'static str {
        "NativeScan"
    }

    fn file(&self) -> String {
        self.path.display().to_string()
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn row_count(&self) -> Precision<usize> {
        Precision::Absent
    }

    fn divisible(&self) -> bool {
        false
    }

    fn scan(&self, request: Request) -> Result<Batches> {
        let chosen = Chosen::needed(request);
        let schema = self.schema.project(chosen.columns())?;
        // Strings of unused columns may be invalid text. Those within a Variant cannot be converted to text later.
        let strings = match schema.fields().iter().any(|field| has_union(field.data_type())) {
            true => self.strings,
            false => StringType::Binary,
        };
        Ok(Box::new(Rows {
            blocks: blocks(&self.path, strings)?,
            path: self.path.clone(),
            columns: self.schema.fields().len(),
            schema: Arc::new(schema),
            chosen,
            is_failed: false,
        }))
    }
}

struct Rows {
    blocks: NativeReader<ReadSource<File>>,
    path: PathBuf,
    /// The number of columns in a block.
    columns: usize,
    /// The required columns.
    schema: SchemaRef,
    chosen: Chosen,
    is_failed: bool,
}

impl Rows {
    /// The required columns of a block.
    fn rows_of(&mut self, block: Block) -> Result<RecordBatch> {
        let of_other_columns = || Error::Unsupported {
            what: format!("{}: a file whose blocks have different columns", self.path.display()),
            hint: "the columns of the first block are the table's".to_owned(),
        };
        if block.batch.num_columns() != self.columns {
            return Err(of_other_columns());
        }
        let batch = block.batch.project(self.chosen.columns())?;
        let names = batch.schema_ref().fields().iter().zip(self.schema.fields());
        if names.clone().any(|(found, expected)| found.name() != expected.name()) {
            return Err(of_other_columns());
        }
        let columns = batch.columns().iter().zip(self.schema.fields());
        let columns = columns.map(|(column, field)| match in_type(column, field.data_type()) {
            Some(typed) => typed.map_err(|_| Error::Unsupported {
                what: format!(
                    "{}: column {}: bytes that are no text, in a column that began as text,",
                    self.path.display(),
                    field.name()
                ),
                hint: format!("read the file as '{}?binary_strings=true'", self.path.display()),
            }),
            None => Err(of_other_columns()),
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &rows)?;
        self.chosen.of(batch)
    }
}

/// A column converted to the table's type: decimals are widened, and strings are text if those of the first block were. `None` for another
/// type.
fn in_type(column: &ArrayRef, expected: &DataType) -> Option<std::result::Result<ArrayRef, ArrowError>> {
    let found = column.data_type();
    if found == expected {
        return Some(Ok(Arc::clone(column)));
    }
    let strict = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    let is_same = wide(found).as_ref() == Some(expected) || with_texts(found) == with_texts(expected);
    is_same.then(|| cast_with_options(column, expected, &strict))
}

fn has_union(data_type: &DataType) -> bool {
    match data_type {
        DataType::Union(..) => true,
        DataType::List(item) | DataType::Map(item, _) => has_union(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| has_union(field.data_type())),
        _ => false,
    }
}

/// The type with text instead of bytes, at any depth.
fn with_texts(data_type: &DataType) -> DataType {
    let of = |field: &FieldRef| Arc::new(Field::clone(field).with_data_type(with_texts(field.data_type())));
    match data_type {
        DataType::Binary => DataType::Utf8,
        DataType::List(item) => DataType::List(of(item)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(of).collect()),
        DataType::Map(entries, sorted) => DataType::Map(of(entries), *sorted),
        DataType::Dictionary(key, value) => DataType::Dictionary(key.clone(), Box::new(with_texts(value))),
        other => other.clone(),
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_failed || self.chosen.is_full() {
            return None;
        }
        let batch = match self.blocks.next()? {
            Ok(block) => self.rows_of(block),
            Err(error) => Err(Error::native(self.path.display())(error)),
        };
        self.is_failed = batch.is_err();
        Some(batch)
    }
}
