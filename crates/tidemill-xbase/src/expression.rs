//! The xBase expression language: keys of indexes, conditions, filters.
//!
//! A text is parsed once ([`parse`]), bound to the fields of a table and compiled ([`Program::compile`]), and then
//! evaluated in one of two forms that agree: over the Arrow columns of a batch ([`Program::evaluate`]), or over one
//! record ([`Program::evaluate_record`]) for index maintenance.
//!
//! ```
//! use std::sync::Arc;
//! use arrow_array::cast::AsArray;
//! use tidemill_xbase::expression::{Environment, Program};
//! use tidemill_xbase::{OpenOptions, Scan, Table};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let orders = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/xbase/ord_cdx.dbf");
//! let table = Arc::new(Table::open(orders, &OpenOptions::new())?);
//! let filter = Program::compile("NUM > 0 .AND. NAME < 'M'", table.fields(), &Environment::new(table.codepage()))?;
//! let mut selected = 0;
//! for batch in table.scan(Scan::new())? {
//!     selected += filter.evaluate(&batch?)?.as_boolean().true_count();
//! }
//! assert_eq!(selected, 36);
//! # Ok(())
//! # }
//! ```
//!
//! # Values
//!
//! Types are character (fields C, M, V, Q and the binary kinds), number (N F I B Y + …), logical (L), date (D) and
//! timestamp (T @). Characters are bytes of the table's code page, and positions and lengths count bytes; a field has its
//! full width, whether its column has lost the trailing blanks or not. A number is an IEEE double, as in Clipper and
//! Harbour: exact up to 15 digits, so a column of cents compared with a literal gives what exact decimals give.
//!
//! Blanks are values, not absence: a blank number is 0, a blank logical false, a blank date the empty date, which comes
//! before every day. Only a NULL of a field that can be NULL (Visual FoxPro) is `.NULL.`: it makes null every operation
//! and function that meets it, but for `.AND.` and `.OR.` where the other side decides, `IIF`, `ISNULL`, `NVL` and
//! `EMPTY`. (Where such a field is blank rather than NULL, [`Blank::Zero`](crate::Blank) tells them apart.)
//!
//! Texts compare by bytes or in the order of [`Environment::weights`]. `=` and its kin (not `==`) follow SET EXACT: off,
//! they compare up to the end of the right text; on, the shorter one is filled up with blanks. Division by zero is 0,
//! which is what Clipper's and Harbour's own error handlers make of it.
//!
//! The functions are listed in `docs/formats/xbase-expressions.md`.
//!
//! # What this does not do
//!
//! No macros, code blocks, arrays, assignments or variables (`M->`), no fields of other tables, no user functions.

mod batch;
mod coercion;
mod column;
mod environment;
mod format;
mod functions;
mod kernels;
mod letters;
mod lexer;
mod operators;
mod parser;
mod program;
mod record;
mod syntax;
mod value;

pub(crate) use functions::substring_of;
pub(crate) use operators::{find, relates, texts_relate};
pub(crate) use program::{Node, NodeKind};
pub(crate) use record::{blank, scaled, type_of};
pub(crate) use value::{DAY_MS, unix_days};

pub use environment::{DateOrder, Environment};
pub use functions::function_names;
pub use letters::Letters;
pub use parser::{MAX_DEPTH, MAX_NESTING, MAX_TEXT, parse};
pub use program::Program;
pub use record::{Record, RecordBytes};
pub use syntax::{BinaryOperator, Literal, Syntax, SyntaxKind, UnaryOperator};
pub use value::{Type, Value};
