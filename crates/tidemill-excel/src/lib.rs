//! Sheets of Excel workbooks as Arrow: read from `.xlsx`, `.xlsm` and `.xls`, written to `.xlsx`.
//!
//! A sheet is a grid of cells, each of its own type. [`Workbook::look`] reads a sheet once and finds out where its table begins, whether
//! its first row has names, and which type holds all cells of a column; [`Workbook::read`] then gives Arrow batches. [`SheetWriter`] makes
//! a workbook of one sheet.
//!
//! ```
//! use std::io::Cursor;
//! use std::sync::Arc;
//!
//! use arrow_array::{ArrayRef, Int64Array, RecordBatch};
//! use tidemill_excel::{SheetOptions, SheetWriter, Workbook};
//!
//! let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
//! let batch = RecordBatch::try_from_iter([("number", numbers)])?;
//! let mut writer = SheetWriter::new(&batch.schema())?;
//! writer.write(&batch)?;
//! let file = writer.finish(Vec::new())?;
//!
//! let mut workbook = Workbook::open(Cursor::new(file), 1 << 20)?;
//! let look = workbook.look(0, &SheetOptions::default())?;
//! let mut rows = 0;
//! workbook.read(0, &look, &[0], 1024, &mut |batch| {
//!     rows += batch.num_rows();
//!     std::ops::ControlFlow::Continue(())
//! })?;
//! assert_eq!(rows, 2);
//! # Ok::<(), tidemill_excel::Error>(())
//! ```
//!
//! Values:
//!
//! - Whole numbers are `Int64`, other numbers `Float64`: a sheet has floating-point numbers of 64 bits alone. [`SheetWriter`] writes numbers
//!   of more than 15 digits as text, so that none is changed.
//! - Cells with the format of a date are `Date32` where none of the column has a time of the day, else timestamps in milliseconds; times
//!   alone are `Time32`.
//! - A column of different types is text. Empty cells and errors such as `#N/A` are NULL. Rows without any value are left out.
//! - Formulas have the value that was computed last.
//!
//! Sources: ECMA-376 Part 1 section 18 (by `calamine` and `rust_xlsxwriter`); the limits of a sheet are those of Microsoft's "Excel
//! specifications and limits".

mod cells;
mod check;
mod error;
mod look;
mod read;
mod write;

pub use cells::Workbook;
pub use error::{Error, Result};
pub use look::{SheetLook, SheetOptions};
pub use write::SheetWriter;

/// Rows of a sheet, the one with the names among them.
pub const MAX_ROWS: u32 = 1_048_576;
/// Columns of a sheet.
pub const MAX_COLUMNS: u32 = 16_384;
/// Letters of a cell.
pub const MAX_TEXT: usize = 32_767;
