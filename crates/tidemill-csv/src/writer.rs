//! Batches written as CSV.

use std::io::{self, Write};

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Schema, TimeUnit};

use crate::error::{Error, Result};
use crate::options::CsvOptions;
use crate::packing::Packed;
use crate::{Encoding, Packing};

/// How a file is to be written.
#[derive(Debug, Clone, Copy)]
pub struct WriteDialect {
    packing: Packing,
    encoding: Encoding,
    delimiter: u8,
    quote: u8,
    has_header: bool,
    decimal: u8,
}

impl WriteDialect {
    /// As the options say, and else with this delimiter, in UTF-8, with a header.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] for files without quotes, which cannot hold every text.
    pub fn new(options: &CsvOptions, packing: Packing, usual: u8) -> Result<Self> {
        Ok(Self {
            packing,
            encoding: options.encoding.unwrap_or(Encoding::UTF8),
            delimiter: options.delimiter.unwrap_or(usual),
            quote: options.quote.unwrap_or(Some(b'"')).ok_or_else(|| Error::Option {
                what: "quote=none: writing without quotes".to_owned(),
                hint: "texts with a delimiter in them could not be read again; leave it out".to_owned(),
            })?,
            has_header: options.header.unwrap_or(true),
            decimal: options.decimal.unwrap_or(b'.'),
        })
    }
}

/// Writes batches of one schema. NULL is an empty value, an empty text stands in quotes, and times have as many digits of a second as their
/// unit, at least three.
pub struct CsvWriter<W: Write> {
    out: Packed<W>,
    dialect: WriteDialect,
    /// Text of rows, and the same as it is stored.
    text: String,
    stored: Vec<u8>,
    value: String,
}

impl<W: Write> CsvWriter<W> {
    /// Writes the header.
    ///
    /// # Errors
    ///
    /// [`Error::Unwritable`] for columns of lists and structs, and a name that the encoding has no letters for; [`Error::Io`].
    pub fn new(schema: &Schema, dialect: WriteDialect, out: W) -> Result<Self> {
        if let Some(field) = schema.fields().iter().find(|field| field.data_type().is_nested()) {
            return Err(Error::Unwritable {
                what: format!("column {}: {} in CSV", field.name(), field.data_type()),
                hint: "write JSON, Parquet or Arrow".to_owned(),
            });
        }
        let mut writer = Self {
            out: dialect.packing.packed(out)?,
            dialect,
            text: String::new(),
            stored: dialect.encoding.written_mark().to_vec(),
            value: String::new(),
        };
        if dialect.has_header {
            for (column, field) in schema.fields().iter().enumerate() {
                writer.begin_value(column);
                writer.push(field.name(), true);
            }
            writer.text.push('\n');
        }
        writer.put()?;
        Ok(writer)
    }

    /// Writes the rows of a batch.
    ///
    /// # Errors
    ///
    /// [`Error::Unwritable`] for a letter that the encoding has not; [`Error::Arrow`] for a value without a text; [`Error::Io`].
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = batch.columns().iter();
        let columns = columns
            .map(|column| Cells::of(column.as_ref()))
            .collect::<Result<Vec<_>>>()?;
        for row in 0..batch.num_rows() {
            for (column, cells) in columns.iter().enumerate() {
                self.begin_value(column);
                match cells {
                    cells if cells.is_null(row) => {}
                    Cells::Text(array) => self.push(array.as_string::<i32>().value(row), true),
                    Cells::Formatted { formatter, kind, .. } => {
                        let mut value = std::mem::take(&mut self.value);
                        value.clear();
                        formatter.value(row).write(&mut value).map_err(|error| {
                            io::Error::new(io::ErrorKind::InvalidData, format!("a value without a text ({error})"))
                        })?;
                        if *kind == Shape::Number && self.dialect.decimal != b'.' {
                            value = value.replace('.', char::from(self.dialect.decimal).encode_utf8(&mut [0; 4]));
                        }
                        self.push(&value, *kind == Shape::Text);
                        self.value = value;
                    }
                }
            }
            self.text.push('\n');
            if self.text.len() >= CHUNK {
                self.put()?;
            }
        }
        self.put()
    }

    /// Writes what is left, and gives the writer back.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn finish(mut self) -> Result<W> {
        self.put()?;
        Ok(self.out.finish()?)
    }

    fn begin_value(&mut self, column: usize) {
        if column > 0 {
            self.text.push(char::from(self.dialect.delimiter));
        }
    }

    /// Appends a value, in quotes where it needs them: an empty text does, for without them it would be NULL.
    fn push(&mut self, value: &str, is_text: bool) {
        let WriteDialect { delimiter, quote, .. } = self.dialect;
        let is_special = |byte: &u8| *byte == delimiter || *byte == quote || matches!(byte, b'\n' | b'\r');
        // At the beginning of a file it would be its mark.
        let has_mark = value.starts_with('\u{FEFF}');
        // Alone, or before an empty value, it would be the line that tells Excel the delimiter.
        let is_sep = value.len() <= "sep=;".len() && value.starts_with("sep=");
        let is_quoted = value.is_empty() && is_text || has_mark || is_sep || value.as_bytes().iter().any(is_special);
        if !is_quoted {
            self.text.push_str(value);
            return;
        }
        let quote = char::from(quote);
        self.text.push(quote);
        for (part, text) in value.split(quote).enumerate() {
            if part > 0 {
                self.text.push(quote);
                self.text.push(quote);
            }
            self.text.push_str(text);
        }
        self.text.push(quote);
    }

    /// Hands on the rows that are ready.
    fn put(&mut self) -> Result<()> {
        if self.dialect.encoding == Encoding::UTF8 {
            self.out.write_all(&self.stored)?;
            self.out.write_all(self.text.as_bytes())?;
        } else {
            let encoded = self.dialect.encoding.encode(&self.text, &mut self.stored);
            encoded.map_err(|letter| Error::Unwritable {
                what: format!("the letter {letter:?} in {}", self.dialect.encoding),
                hint: "name an encoding that has it: encoding=utf-8".to_owned(),
            })?;
            self.out.write_all(&self.stored)?;
        }
        self.stored.clear();
        self.text.clear();
        Ok(())
    }
}

/// The values of a column.
enum Cells<'a> {
    Text(&'a dyn Array),
    Formatted {
        array: &'a dyn Array,
        formatter: ArrayFormatter<'a>,
        kind: Shape,
    },
}

#[derive(PartialEq, Eq)]
enum Shape {
    Number,
    Text,
    Other,
}

impl<'a> Cells<'a> {
    fn of(array: &'a dyn Array) -> Result<Self> {
        let unit = match array.data_type() {
            DataType::Timestamp(unit, _) | DataType::Time32(unit) | DataType::Time64(unit) => *unit,
            _ => TimeUnit::Millisecond,
        };
        let [moment, zoned, time] = match unit {
            TimeUnit::Second | TimeUnit::Millisecond => {
                ["%Y-%m-%dT%H:%M:%S%.3f", "%Y-%m-%dT%H:%M:%S%.3f%:z", "%H:%M:%S%.3f"]
            }
            TimeUnit::Microsecond => ["%Y-%m-%dT%H:%M:%S%.6f", "%Y-%m-%dT%H:%M:%S%.6f%:z", "%H:%M:%S%.6f"],
            TimeUnit::Nanosecond => ["%Y-%m-%dT%H:%M:%S%.9f", "%Y-%m-%dT%H:%M:%S%.9f%:z", "%H:%M:%S%.9f"],
        };
        let options = FormatOptions::default()
            .with_timestamp_format(Some(moment))
            .with_timestamp_tz_format(Some(zoned))
            .with_time_format(Some(time));
        let kind = match array.data_type() {
            DataType::Utf8 => return Ok(Self::Text(array)),
            DataType::Float16 | DataType::Float32 | DataType::Float64 => Shape::Number,
            DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) | DataType::Decimal256(..) => {
                Shape::Number
            }
            DataType::Dictionary(..) | DataType::LargeUtf8 | DataType::Utf8View => Shape::Text,
            kind if kind.is_binary() => Shape::Text,
            _ => Shape::Other,
        };
        Ok(Self::Formatted {
            array,
            formatter: ArrayFormatter::try_new(array, &options)?,
            kind,
        })
    }

    fn is_null(&self, row: usize) -> bool {
        match self {
            Self::Text(array) | Self::Formatted { array, .. } => array.is_null(row),
        }
    }
}

/// Text that is handed on at once.
const CHUNK: usize = 128 << 10;
