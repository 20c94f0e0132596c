//! Counts, sums, groups and top lists of a table.
//!
//! The first touch works on the records' bytes, chunk by chunk; what is asked for without a set of records of one's own is
//! kept, so that asking again costs a look at the file.
//!
//! ```
//! use std::sync::Arc;
//! use tidemill_xbase::aggregate::Selected;
//! use tidemill_xbase::{ColumnCache, Columns, OpenOptions, Sharing, Table};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let orders = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/xbase/ord_cdx.dbf");
//! let table = Arc::new(Table::open(orders, &OpenOptions::new())?);
//! let columns = Columns::new(&table, &ColumnCache::new(64 << 20), Sharing::Shared)?;
//! assert_eq!(columns.count(Selected::Undeleted)?, u64::from(600 - table.deleted_count()?));
//! let id = table.fields().iter().position(|field| field.name == "ID").unwrap();
//! assert_eq!(columns.summary(id, Selected::All)?.average(), Some(300.5));
//! # Ok(())
//! # }
//! ```
//!
//! Blank numbers are not counted, or are 0 where the table was opened with [`Blank::Zero`]; a NULL never counts. Sums are
//! exact: whole numbers, scaled by the field's decimals. While recovering, what cannot be read does not count.
//!
//! # What this does not do
//!
//! It evaluates no conditions (a [`Filter`](crate::aof::Filter) does) and knows no names of fields.

mod groups;
mod top;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float64Type, Int32Type, Int64Type};
use arrow_schema::DataType;

use crate::bitmap::Bitmap;
use crate::column_cache::{Held, Voucher, What};
use crate::columns::Columns;
use crate::error::{BadValue, Error, Result};
use crate::expression::{Record, RecordBytes, scaled};
use crate::field::{Field, FieldKind};
use crate::header::Deletion;
use crate::kernels::Block;
use crate::kernels::number::NumberCell;
use crate::kernels::summary::{Tally, Undeleted, summarise};
use crate::null_test::NullTest;
use crate::table::Blank;

pub(crate) use groups::Counted;

/// Which records an aggregate is of.
#[derive(Debug, Clone, Copy)]
pub enum Selected<'a> {
    /// All, deleted ones too.
    All,
    /// Those without the deletion flag.
    Undeleted,
    /// Those of a set, deleted or not.
    Of(&'a Bitmap),
}

/// A number as fields hold it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Quantity {
    /// A whole number of units of the last decimal.
    Decimal {
        /// The units.
        unscaled: i128,
        /// The digits behind the point.
        scale: u8,
    },
    /// A double.
    Double(f64),
}

impl Quantity {
    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Decimal { unscaled, scale } => scaled(unscaled, scale),
            Self::Double(number) => number,
        }
    }
}

/// A numeric field, added up.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// How many values there are.
    pub count: u64,
    /// Their sum; 0 of none.
    pub sum: Quantity,
    /// The least; `None` of none.
    pub min: Option<Quantity>,
    /// The greatest; `None` of none.
    pub max: Option<Quantity>,
}

impl Summary {
    /// The mean; `None` of none.
    #[expect(clippy::cast_precision_loss, reason = "there are fewer records than 2^53")]
    pub fn average(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum.to_f64() / self.count as f64)
    }
}

/// The records that have one text.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Group {
    /// The text in the table's code page, without blanks and NULs at its end; `None` for NULL.
    pub text: Option<Vec<u8>>,
    /// How many records there are.
    pub count: u64,
    /// The numeric field that was asked for, added up.
    pub summary: Option<Summary>,
}

/// Which end of an order is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Top {
    /// The least.
    Least,
    /// The greatest.
    Greatest,
}

impl Columns {
    /// The number of records.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn count(&self, selected: Selected<'_>) -> Result<u64> {
        match selected {
            Selected::All => Ok(u64::from(self.table().record_count())),
            Selected::Of(set) => Ok(u64::from(set.count())),
            Selected::Undeleted => {
                let voucher = self.voucher()?;
                let mut count = 0;
                for (chunk, records) in self.chunks() {
                    let make = || {
                        let mut count = 0;
                        self.table().visit_blocks(records.clone(), |block| {
                            count += block.undeleted();
                            Ok(())
                        })?;
                        Ok(Held::Count(count))
                    };
                    if let Held::Count(undeleted) = self.held(What::Undeleted, chunk, &records, &voucher, make)? {
                        count += u64::from(undeleted);
                    }
                }
                Ok(count)
            }
        }
    }

    /// A numeric field, added up.
    ///
    /// # Errors
    /// As a scan, and [`Error::Misuse`] for a field that the table has not got or that is not numeric.
    pub fn summary(&self, field: usize, selected: Selected<'_>) -> Result<Summary> {
        let described = self.numeric(field)?;
        let voucher = self.voucher()?;
        if matches!(
            described.kind,
            FieldKind::Double | FieldKind::DoubleDbase7 | FieldKind::NumericDouble
        ) {
            return self.summary_of_doubles(field, selected, &voucher);
        }
        let mut tally = Tally::default();
        for (chunk, records) in self.chunks() {
            let make = || self.tally(field, described, chunk, &records, selected, &voucher);
            let with_deleted = match selected {
                Selected::Of(_) => {
                    tally.merge(&make()?);
                    continue;
                }
                Selected::All => true,
                Selected::Undeleted => false,
            };
            let what = What::Tally { field, with_deleted };
            if let Held::Tally(of_chunk) = self.held(what, chunk, &records, &voucher, || make().map(Held::Tally))? {
                tally.merge(&of_chunk);
            }
        }
        Ok(summary(&tally, decimals(described)))
    }

    fn numeric(&self, field: usize) -> Result<&Field> {
        let described = self.field(field)?;
        if described.kind.is_number() {
            return Ok(described);
        }
        Err(Error::Misuse(format!("field {} is not numeric", described.name)))
    }

    fn number_cell(&self, field: &Field) -> Option<NumberCell> {
        NumberCell::new(field, self.table())
    }

    fn blank_counts(&self) -> bool {
        self.table().options.blank == Blank::Zero
    }

    fn null_test(&self, field: &Field) -> Option<NullTest> {
        self.table().fields.null_test(field)
    }

    /// The numbers of one chunk, added up.
    fn tally(
        &self,
        index: usize,
        field: &Field,
        chunk: u32,
        records: &std::ops::Range<u32>,
        selected: Selected<'_>,
        voucher: &Voucher,
    ) -> Result<Tally> {
        let table = self.table();
        let Some(cell) = self.number_cell(field).filter(|_| !table.options.passes_over()) else {
            // While recovering, what cannot be read is null: the column knows.
            let array = self.chunk_column(index, chunk, records.clone(), voucher)?;
            return self.tally_of_array(&array, records.start, selected);
        };
        let (null, blank) = (self.null_test(field), self.blank_counts());
        let not_null = |record: &[u8]| null.is_none_or(|null| !null.is_null(record));
        let (mut tally, deletion) = (Tally::default(), table.deletion());
        table.visit_blocks(records.clone(), |block| {
            let of_block = match selected {
                Selected::All if null.is_none() => summarise(&cell, &block, blank, &|_: usize, _: &[u8]| true),
                Selected::Undeleted if null.is_none() && deletion == Deletion::DBF => {
                    summarise(&cell, &block, blank, &Undeleted)
                }
                Selected::All => summarise(&cell, &block, blank, &|_: usize, record: &[u8]| not_null(record)),
                Selected::Undeleted => {
                    let selects = |_: usize, record: &[u8]| !deletion.is_deleted(record) && not_null(record);
                    summarise(&cell, &block, blank, &selects)
                }
                Selected::Of(set) => {
                    let selects = |i: usize, record: &[u8]| is_member(set, &block, i) && not_null(record);
                    summarise(&cell, &block, blank, &selects)
                }
            };
            match of_block {
                Ok(of_block) => tally.merge(&of_block),
                Err(place) => {
                    let recno = block.first + 1 + u32::try_from(place).unwrap_or(u32::MAX);
                    let record = block.records().nth(place).unwrap_or_default();
                    return Err(self.unreadable(index, recno, record));
                }
            }
            Ok(())
        })?;
        Ok(tally)
    }

    fn tally_of_array(&self, array: &dyn Array, first: u32, selected: Selected<'_>) -> Result<Tally> {
        let set = self.selected_rows(first, array.len(), selected)?;
        let mut tally = Tally::default();
        let rows = (0..array.len()).filter(|row| array.is_valid(*row) && set.contains(first_recno(*row)));
        match array.data_type() {
            DataType::Int64 => rows.for_each(|row| tally.add(i128::from(array.as_primitive::<Int64Type>().value(row)))),
            DataType::Int32 => rows.for_each(|row| tally.add(i128::from(array.as_primitive::<Int32Type>().value(row)))),
            DataType::Decimal128(..) => {
                rows.for_each(|row| tally.add(array.as_primitive::<Decimal128Type>().value(row)))
            }
            other => return Err(Error::Misuse(format!("{other} is no type of whole numbers"))),
        }
        Ok(tally)
    }

    fn summary_of_doubles(&self, field: usize, selected: Selected<'_>, voucher: &Voucher) -> Result<Summary> {
        let (mut count, mut sum, mut min, mut max) = (0, 0.0, None::<f64>, None::<f64>);
        for (chunk, records) in self.chunks() {
            let array = self.chunk_column(field, chunk, records.clone(), voucher)?;
            let numbers = array.as_primitive::<Float64Type>();
            let set = self.selected_rows(records.start, array.len(), selected)?;
            for row in (0..array.len()).filter(|row| numbers.is_valid(*row) && set.contains(first_recno(*row))) {
                let number = numbers.value(row);
                count += 1;
                sum += number;
                min = Some(min.map_or(number, |min| min.min(number)));
                max = Some(max.map_or(number, |max| max.max(number)));
            }
        }
        Ok(Summary {
            count,
            sum: Quantity::Double(sum),
            min: min.map(Quantity::Double),
            max: max.map(Quantity::Double),
        })
    }

    /// The rows of a chunk that are selected, counted from 1.
    fn selected_rows(&self, first: u32, rows: usize, selected: Selected<'_>) -> Result<Bitmap> {
        let len = u32::try_from(rows).unwrap_or(u32::MAX);
        let from = first as usize / 64;
        match selected {
            Selected::All => Ok(Bitmap::full(len)),
            Selected::Of(set) => {
                let words = set.words().get(from..).unwrap_or_default();
                Ok(Bitmap::from_words(
                    words.iter().take(rows.div_ceil(64)).copied().collect(),
                    len,
                ))
            }
            Selected::Undeleted => {
                let mut words = Vec::with_capacity(rows.div_ceil(64));
                self.table().visit_blocks(first..first.saturating_add(len), |block| {
                    let begin = words.len();
                    words.resize(begin + (block.len as usize).div_ceil(64), 0);
                    if let Some(out) = words.get_mut(begin..) {
                        block.deleted(out);
                    }
                    Ok(())
                })?;
                let mut deleted = Bitmap::from_words(words, len);
                deleted.invert();
                Ok(deleted)
            }
        }
    }

    /// The error that a record's bytes deserve.
    fn unreadable(&self, field: usize, recno: u32, record: &[u8]) -> Error {
        match RecordBytes::new(self.table(), recno, record).value(field) {
            Err(error) => error,
            Ok(_) => match self.table().fields().get(field) {
                Some(field) => {
                    let cell = record.get(field.offset..field.offset + field.width);
                    Error::Value(Box::new(BadValue {
                        path: self.table().path().to_owned(),
                        record: recno,
                        field: field.name.clone(),
                        expected: format!("a value that {} holds", field.data_type()),
                        found: format!("{:?}", self.table().codepage().decode(cell.unwrap_or_default())),
                    }))
                }
                None => Error::Misuse(format!("there is no field with index {field}")),
            },
        }
    }
}

fn summary(tally: &Tally, scale: u8) -> Summary {
    let decimal = |unscaled| Quantity::Decimal { unscaled, scale };
    Summary {
        count: tally.count,
        sum: decimal(tally.sum),
        min: (tally.count > 0).then(|| decimal(tally.min)),
        max: (tally.count > 0).then(|| decimal(tally.max)),
    }
}

fn decimals(field: &Field) -> u8 {
    if field.kind == FieldKind::Currency {
        4
    } else {
        field.decimals
    }
}

/// Whether the record at a place of a block belongs to a set. Blocks begin at multiples of 64.
#[inline(always)]
fn is_member(set: &Bitmap, block: &Block<'_>, i: usize) -> bool {
    let at = block.first as usize + i;
    set.words().get(at / 64).is_some_and(|word| word >> (at % 64) & 1 != 0)
}

/// The number of a row among the rows of its chunk, counted from 1.
fn first_recno(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX).saturating_add(1)
}
