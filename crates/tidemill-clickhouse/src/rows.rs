//! Rows as Rust values, by serde: from the columns of a block ([`BlockRows`]), and to them ([`RowsBuilder`]).
//!
//! A block is taken apart into its columns once; a row is then a number, and a value of it is read from the column's buffer.
//! Nothing is converted on the way but to what the Rust type asks for.
//!
//! ```
//! use serde::Deserialize;
//! use tidemill_clickhouse::{BlockDecoder, Revision, rows::BlockRows, source::SliceSource};
//!
//! #[derive(Debug, Deserialize, PartialEq)]
//! struct Row<'a> {
//!     n: u8,
//!     name: &'a str,
//! }
//!
//! let bytes = b"\x02\x01\x01n\x05UInt8\x07\x04name\x06String\x04tide";
//! let block = BlockDecoder::default().decode_blocking(&mut SliceSource::new(bytes), Revision::FILE)?;
//! let rows = BlockRows::new(&block)?;
//! assert_eq!(rows.row::<Row<'_>>(0)?, Row { n: 7, name: "tide" });
//! assert_eq!(rows.row::<(u64, String)>(0)?, (7, "tide".to_owned()));
//! # Ok::<(), tidemill_clickhouse::Error>(())
//! ```
//!
//! # What a row may be
//!
//! - A struct, or a map with text for keys: columns are matched by their names. Columns that the struct does not name are
//!   left; a field without a column is an error, unless serde has something for it (an `Option`, `#[serde(default)]`).
//! - A tuple or a sequence, when there are several columns: they are matched by their positions, and a tuple has as many
//!   elements. A tuple of one element is a row of one column.
//! - Anything else, when there is one column: its value.
//!
//! # What a value may be
//!
//! | ClickHouse | Rust |
//! |---|---|
//! | `Int8` … `UInt128` | every integer and float type, when the value is in its range |
//! | `Int128`, `UInt128`, `Int256`, `UInt256` | also text of its digits; 256 bits also integers, when the value is in their range |
//! | `Float32`, `Float64`, `BFloat16` | `f32`, `f64` |
//! | `Bool` | `bool`, integers (0 and 1); and `UInt8` of 0 and 1 as `bool` |
//! | `Decimal` | text (`12.50`, with all digits of the scale); `f64`, the nearest; integers: units of the last digit, 1250 |
//! | `String`, `FixedString` | text when it is UTF-8; bytes, and sequences of `u8`. Zeros at the end of a `FixedString` are kept |
//! | `Date`, `Date32` | text `2024-12-31`; integers: days since 1970-01-01 |
//! | `DateTime`, `DateTime64` | text `2024-12-31T23:59:59.125Z`, always UTC; integers: seconds, or ticks of the type's precision |
//! | `Time`, `Time64` | text `-23:59:59.125`; integers: seconds, or ticks of the type's precision |
//! | `Interval…` | integers: a count of the unit |
//! | `Enum8`, `Enum16` | text and unit variants: the name; integers: the number |
//! | `UUID`, `IPv6` | text; 16 bytes in the order of the text |
//! | `IPv4` | text; 4 bytes; `u32` |
//! | `Nullable` | `Option`, `None` for `NULL` |
//! | `Array`, `Nested`, shapes, `QBit` | sequences, and tuples of the same length |
//! | `Tuple`, `Point` | tuples; structs and maps, by the names of the elements (`1`, `2`, … where they have none) |
//! | `Map` | maps; sequences of pairs |
//! | `LowCardinality`, `SimpleAggregateFunction` | as the inner type |
//! | `Variant`, `Dynamic`, `Geometry` | what the row's type may be; `None` for `NULL`; an enum whose variants are named as the types (`#[serde(rename = "Array(String)")]`) |
//! | `JSON` | text, or a struct or map of paths (`a.b`), as the server sends it; paths that are `NULL` are left out |
//! | `AggregateFunction` | bytes |
//!
//! A type that takes whatever comes (`deserialize_any`: untagged enums, `serde_json::Value`) gets the first of these forms;
//! integers of 128 bits are numbers to it, and those of 256 bits text.
//!
//! # What is written
//!
//! The same forms are taken for writing, and what a column cannot hold exactly is refused ([`Error::Row`]): an integer out of
//! its range, a fraction with more digits than the scale or the precision, a `NULL` where the type has none. Only floats are
//! rounded, to the digits of their column. Then:
//!
//! - Text of an instant says its offset from UTC: `2024-12-31T23:59:59Z`, `2025-01-01 01:59:59+02:00`.
//! - Shorter values of a `FixedString` are filled with zeros.
//! - A `Variant` takes a value as the type that is the same as the Rust type (`u8` as `UInt8`, text as `String`), or else as
//!   the first of its types that has a place for it. A `Dynamic` takes the same types, without nesting. Both take variants of
//!   an enum that are named as the types.
//! - `JSON` takes text as it is, and structs, maps and variants of enums with values, of which serde_json makes the text.
//!
//! Time zones are not known here: text of an instant is read as UTC, whatever the column's zone. Objects of `JSON` that are
//! read are not nested again.

mod builder;
mod column;
#[cfg(feature = "client")]
mod literal;
mod push;
mod row;
mod row_builder;
mod serialize;
pub(crate) mod text;
mod value;

use serde::Deserialize;

pub use self::row_builder::RowsBuilder;
use self::{column::Column, row::Row};
pub(crate) use self::{row::Plan, row_builder::field_names};
use crate::{Block, Error, Result, RowError};

/// The rows of a block.
pub struct BlockRows {
    columns: Vec<Column>,
    rows: usize,
    /// How many rows came before those of this block.
    before: u64,
}

impl BlockRows {
    /// Takes a block apart. It shares the block's buffers.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a column whose Arrow type is not that of its ClickHouse type in
    /// [`arrow_type`](crate::arrow_type), which only blocks made by hand have.
    pub fn new(block: &Block) -> Result<Self> {
        let fields = block.batch.schema_ref().fields().iter();
        let columns = fields.zip(&block.types).zip(block.batch.columns());
        Ok(Self {
            columns: columns
                .map(|((field, data_type), array)| Column::new(field.name(), data_type, array))
                .collect::<Result<_>>()?,
            rows: block.rows(),
            before: 0,
        })
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The row with this number as a `T`, which may borrow text and bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Row`] when the row is no `T`, and [`Error::RowNotFound`] when there are not so many rows.
    pub fn row<'de, T: Deserialize<'de>>(&'de self, row: usize) -> Result<T> {
        self.planned(row, &mut Plan::default())
    }

    /// All rows, one after another.
    pub fn iter<'de, T: Deserialize<'de>>(&'de self) -> impl Iterator<Item = Result<T>> + 'de {
        let mut plan = Plan::default();
        (0..self.rows).map(move |row| self.planned(row, &mut plan))
    }

    /// Counts rows from `before` where errors tell them.
    pub(crate) fn behind(mut self, before: u64) -> Self {
        self.before = before;
        self
    }

    pub(crate) fn planned<'de, T: Deserialize<'de>>(&'de self, row: usize, plan: &mut Plan) -> Result<T> {
        if row >= self.rows {
            return Err(Error::RowNotFound);
        }
        let mut result = T::deserialize(Row::new(&self.columns, row, plan));
        if result.is_err() && plan.forget() {
            result = T::deserialize(Row::new(&self.columns, row, plan));
        }
        result.map_err(|failure| failure.in_row::<T>(self.before + row as u64))
    }
}

impl std::fmt::Debug for BlockRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockRows")
            .field("columns", &self.columns.len())
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

/// Why serde cannot continue, before it is known in which row.
#[derive(Debug)]
pub(crate) struct Failure(Box<RowError>);

impl Failure {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self(Box::new(RowError {
            row: 0,
            column: String::new(),
            data_type: String::new(),
            rust_type: "",
            problem: problem.into(),
        }))
    }

    /// Says in which column, and what was wanted of it, unless that is known.
    pub(crate) fn at<T: ?Sized>(mut self, column: &str, data_type: &dyn std::fmt::Display) -> Self {
        if self.0.column.is_empty() {
            column.clone_into(&mut self.0.column);
            self.0.data_type = data_type.to_string();
            self.0.rust_type = name_of::<T>();
        }
        self
    }

    pub(crate) fn in_row<T: ?Sized>(mut self, row: u64) -> Error {
        self.0.row = row;
        if self.0.rust_type.is_empty() {
            self.0.rust_type = name_of::<T>();
        }
        Error::Row(self.0)
    }

    /// [`Failure::in_row`] of a value that has no type of Rust.
    pub(crate) fn in_row_of_text(mut self, row: u64) -> Error {
        (self.0.row, self.0.rust_type) = (row, "");
        Error::Row(self.0)
    }

    /// A column that there is not.
    pub(crate) fn no_column(column: &str) -> Self {
        let mut failure = Self::new("there is no such column");
        column.clone_into(&mut failure.0.column);
        failure
    }
}

/// The name of a type, without the references that serde passes along.
fn name_of<T: ?Sized>() -> &'static str {
    std::any::type_name::<T>().trim_start_matches('&')
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.problem)
    }
}

impl std::error::Error for Failure {}

impl serde::de::Error for Failure {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn missing_field(field: &'static str) -> Self {
        Self::no_column(field)
    }
}

impl serde::ser::Error for Failure {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }
}
