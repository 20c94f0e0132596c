//! A workbook of one sheet.

use std::io::Write;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Schema, TimeUnit};
use rust_xlsxwriter::{Format, Workbook};

use crate::error::{Error, Result};
use crate::{MAX_COLUMNS, MAX_ROWS, MAX_TEXT};

/// Makes a workbook of one sheet, the names of the columns in its first row, which stays in view. The sheet is written to a temporary file as
/// it grows.
pub struct SheetWriter {
    workbook: Workbook,
    row: u32,
    date: Format,
    moment: Format,
    time: Format,
}

/// How the cells of a column are written.
#[derive(Clone, Copy)]
enum Shape {
    Number,
    Boolean,
    /// Days since 1970 in a unit of so many a day.
    Moment {
        per_day: f64,
        is_date: bool,
    },
    /// A time of the day, in a unit of so many a day.
    Time {
        per_day: f64,
    },
    Text,
}

/// 1970-01-01 as Excel counts days.
const EPOCH: f64 = 25_569.0;
/// The last day that Excel has, 9999-12-31, and the first one that is the same in all its calendars, 1900-03-01.
const DAYS: std::ops::Range<f64> = 61.0..2_958_466.0;
/// Digits that a floating-point number keeps.
const DIGITS: usize = 15;

impl SheetWriter {
    /// Begins a workbook with the names of these columns.
    ///
    /// # Errors
    ///
    /// [`Error::Unwritable`] for lists, structs and bytes, and more than 16,384 columns.
    pub fn new(schema: &Schema) -> Result<Self> {
        if schema.fields().len() > MAX_COLUMNS as usize {
            return Err(Error::Unwritable {
                what: format!("{} columns, where a sheet has {MAX_COLUMNS}", schema.fields().len()),
                hint: "copy some of them with a SELECT",
            });
        }
        let is_unwritable = |data_type: &DataType| data_type.is_nested() || data_type.is_binary();
        if let Some(field) = schema.fields().iter().find(|field| is_unwritable(field.data_type())) {
            return Err(Error::Unwritable {
                what: format!("column {}: {} in a sheet", field.name(), field.data_type()),
                hint: "leave it out with a SELECT, or write Parquet or JSON",
            });
        }
        let mut workbook = Workbook::new();
        let bold = Format::new().set_bold();
        let sheet = workbook.add_worksheet_with_constant_memory()?;
        sheet.set_freeze_panes(1, 0)?;
        for (column, field) in (0_u16..).zip(schema.fields()) {
            sheet.write_string_with_format(0, column, field.name(), &bold)?;
        }
        Ok(Self {
            workbook,
            row: 1,
            date: Format::new().set_num_format("yyyy-mm-dd"),
            moment: Format::new().set_num_format("yyyy-mm-dd hh:mm:ss.000"),
            time: Format::new().set_num_format("hh:mm:ss.000"),
        })
    }

    /// Writes the rows of a batch.
    ///
    /// # Errors
    ///
    /// [`Error::Unwritable`] for more rows than a sheet has, and a text of more than 32,767 letters; [`Error::Write`].
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let rows = u32::try_from(batch.num_rows()).unwrap_or(u32::MAX);
        if rows > MAX_ROWS - self.row {
            return Err(Error::Unwritable {
                what: format!("more than {} rows, which a sheet has", MAX_ROWS - 1),
                hint: "copy a part with a SELECT … LIMIT, or write CSV or Parquet",
            });
        }
        let options = FormatOptions::default();
        let columns = batch.columns().iter().map(|column| {
            let shape = Shape::of(column.data_type());
            let numbers = match shape {
                Shape::Text | Shape::Boolean => None,
                Shape::Moment { .. } | Shape::Time { .. } => {
                    let counts = match column.data_type() {
                        DataType::Date32 | DataType::Time32(_) => arrow_cast::cast(column, &DataType::Int32)?,
                        _ => arrow_cast::cast(column, &DataType::Int64)?,
                    };
                    Some(arrow_cast::cast(&counts, &DataType::Float64)?)
                }
                Shape::Number => Some(arrow_cast::cast(column, &DataType::Float64)?),
            };
            Ok((shape, numbers, ArrayFormatter::try_new(column, &options)?))
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let sheet = self.workbook.worksheet_from_index(0)?;
        for row in 0..batch.num_rows() {
            let mut has_cell = false;
            for ((number, (shape, numbers, text)), column) in (0_u16..).zip(&columns).zip(batch.columns()) {
                if column.is_null(row) {
                    continue;
                }
                let count = numbers
                    .as_ref()
                    .map(|numbers| numbers.as_primitive::<Float64Type>().value(row));
                match (*shape, count) {
                    (Shape::Boolean, _) => {
                        sheet.write_boolean(self.row, number, column.as_boolean().value(row))?;
                    }
                    (Shape::Moment { per_day, is_date }, Some(count)) if DAYS.contains(&(count / per_day + EPOCH)) => {
                        let format = if is_date { &self.date } else { &self.moment };
                        sheet.write_number_with_format(self.row, number, count / per_day + EPOCH, format)?;
                    }
                    (Shape::Time { per_day }, Some(count)) => {
                        sheet.write_number_with_format(self.row, number, count / per_day, &self.time)?;
                    }
                    (Shape::Number, Some(count)) if count.is_finite() && is_exact(column, text, row)? => {
                        sheet.write_number(self.row, number, count)?;
                    }
                    _ => {
                        let text = text.value(row).try_to_string()?;
                        if text.is_empty() {
                            continue;
                        }
                        if text.encode_utf16().count() > MAX_TEXT {
                            return Err(Error::Unwritable {
                                what: format!("row {}: a text of more than {MAX_TEXT} letters", self.row + 1),
                                hint: "shorten it with SUBSTRING, or write CSV or Parquet",
                            });
                        }
                        sheet.write_string(self.row, number, text)?;
                    }
                }
                has_cell = true;
            }
            if !has_cell {
                return Err(Error::Unwritable {
                    what: format!("row {} has no value, and a sheet keeps no such row", self.row),
                    hint: "leave it out with a SELECT … WHERE, or write CSV or Parquet",
                });
            }
            self.row += 1;
        }
        Ok(())
    }

    /// Writes the workbook, and gives the writer back.
    ///
    /// # Errors
    ///
    /// [`Error::Write`].
    pub fn finish<W: Write + Send>(mut self, mut out: W) -> Result<W> {
        // The library's writer has to seek.
        let file = self.workbook.save_to_buffer()?;
        out.write_all(&file)
            .and_then(|()| out.flush())
            .map_err(rust_xlsxwriter::XlsxError::IoError)?;
        Ok(out)
    }
}

impl Shape {
    fn of(data_type: &DataType) -> Self {
        let per_day = |unit: &TimeUnit| match unit {
            TimeUnit::Second => 86_400.0,
            TimeUnit::Millisecond => 86_400_000.0,
            TimeUnit::Microsecond => 86_400_000_000.0,
            TimeUnit::Nanosecond => 86_400_000_000_000.0,
        };
        match data_type {
            DataType::Boolean => Self::Boolean,
            DataType::Date32 => Self::Moment {
                per_day: 1.0,
                is_date: true,
            },
            DataType::Date64 => Self::Moment {
                per_day: 86_400_000.0,
                is_date: true,
            },
            DataType::Timestamp(unit, _) => Self::Moment {
                per_day: per_day(unit),
                is_date: false,
            },
            DataType::Time32(unit) | DataType::Time64(unit) => Self::Time { per_day: per_day(unit) },
            kind if kind.is_numeric() => Self::Number,
            _ => Self::Text,
        }
    }
}

/// Whether a number is the same in floating point: one with more digits is written as text.
fn is_exact(column: &dyn Array, text: &ArrayFormatter<'_>, row: usize) -> Result<bool> {
    if column.data_type().is_floating() {
        return Ok(true);
    }
    let digits = text.value(row).try_to_string()?;
    let digits = digits
        .bytes()
        .filter(u8::is_ascii_digit)
        .skip_while(|digit| *digit == b'0')
        .count();
    Ok(digits <= DIGITS)
}
