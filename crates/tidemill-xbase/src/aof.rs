//! Bitmap filters: which records fulfil a condition, as one bit a record (ADS calls them AOF, FoxPro Rushmore).
//!
//! A [`Filter`] is an expression cut at its `.AND.`, `.OR.` and `.NOT.` into leaves. Each leaf becomes a [`Bitmap`](crate::Bitmap) of its
//! own and the operators work on words of 64 records: one pass over the table for all leaves, each by a kernel that reads
//! the record's bytes, or by the expression engine where no kernel knows it.
//!
//! ```
//! use std::sync::Arc;
//! use tidemill_xbase::aof::Filter;
//! use tidemill_xbase::expression::Environment;
//! use tidemill_xbase::{OpenOptions, Table};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let orders = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/xbase/ord_cdx.dbf");
//! let table = Arc::new(Table::open(orders, &OpenOptions::new())?);
//! let filter = Filter::new("NUM > 0 .AND. NAME < 'M'", &table, &Environment::new(table.codepage()))?;
//! let records = filter.bitmap(&table)?;
//! assert_eq!(records.count(), 38);
//! assert_eq!(records.next(100), Some(119));
//! # Ok(())
//! # }
//! ```
//!
//! Deleted records are records: `.AND. .NOT. DELETED()` leaves them out. For every record a bitmap says what
//! [`Program::matches`](crate::expression::Program::matches) says; a leaf whose field cannot be read in some record may
//! be an error even where another leaf decides that record. While recovering, what cannot be read is blank.
//!
//! # What this does not do
//!
//! It takes no lock and writes nothing.

mod evaluate;
mod filter;
mod kept;
mod leaf;
mod ordered;
mod ranges;
mod selection;
mod steps;
mod words;

pub use filter::Filter;
pub use ordered::OrderedRecords;
pub use ranges::FilterOrders;
pub use selection::{Aof, Customize};
pub use steps::OptimizationLevel;
