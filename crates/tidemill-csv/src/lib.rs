//! CSV files as they are found: read and written as Arrow.
//!
//! Nothing in a CSV file says how it is to be read. [`Look::at`] finds it out from the first bytes: what compresses the file, its
//! encoding, the delimiter, whether the first line has the names of the columns, and the type of each column. [`CsvOptions`] overrules
//! any of it. [`CsvReader`] then gives Arrow batches, and [`CsvWriter`] writes them.
//!
//! ```
//! use tidemill_csv::{CsvOptions, CsvReader, Look};
//!
//! let file = "Größe;Preis\n38;12,50\n40;\n";
//! let look = Look::at(file.as_bytes(), &CsvOptions::default(), b',')?;
//! assert_eq!(look.dialect.to_string(), "delimiter ;, decimal comma, header, utf-8");
//! let names: Vec<_> = look.columns.fields().iter().map(|field| field.name()).collect();
//! assert_eq!(names, ["Größe", "Preis"]);
//!
//! let mut reader = CsvReader::new(file.as_bytes(), &look, &[1], 1024)?;
//! let batch = reader.next().expect("a batch")?;
//! assert_eq!(batch.num_rows(), 2);
//! assert_eq!(batch.column(0).null_count(), 1);
//! # Ok::<(), tidemill_csv::Error>(())
//! ```
//!
//! Values:
//!
//! - An empty value is NULL; an empty value in quotes is an empty text. The writer does the same.
//! - Whole numbers are `Int64`, and `Decimal128(38, 0)` where they have more digits. With leading zeros they are text: a postal code
//!   keeps them.
//! - Numbers with a point or an exponent are `Float64`. Where one without an exponent has digits that a double does not give back, all are
//!   `Decimal128(38, s)`, or text if 38 digits do not suffice or if others have an exponent. A number too large for a double is text. A
//!   decimal comma is known where the comma is not the delimiter.
//! - `true` and `false` are `Boolean`, `2026-11-27` is `Date32`, `2026-11-27 10:00:00` a timestamp of milliseconds, or finer
//!   where its fraction is, one with a zone is in UTC. Nanoseconds have room for 1677 to 2262: with other years they are text. Everything else is text.
//!
//! Types are those of the first [`LOOKED_AT`] records. A later value that does not fit is an error with its line; the option
//! `types=text` reads every column as text.
//!
//! Source of the quoting rules: RFC 4180; a quote within a value that does not begin with one is a letter, as spreadsheets write it.

mod dialect;
mod digits;
mod encoding;
mod error;
mod misfit;
mod options;
mod packing;
mod reader;
mod records;
mod sniff;
mod types;
mod writer;

pub use dialect::{Dialect, Look};
pub use encoding::Encoding;
pub use error::{Error, Fault, Result};
pub use options::CsvOptions;
pub use packing::{Packed, Packing};
pub use reader::{CsvReader, divides};
pub use sniff::LOOKED_AT;
pub use writer::{CsvWriter, WriteDialect};
