//! Loops over the bytes of records as they stand in the table, without a value in between.
//!
//! Records have one width, so a field of many records is a strided slice: a kernel reads one or two machine words of each
//! record and gives one bit, or adds to a sum. A kernel knows the usual forms of a field; what it does not know it says, and
//! its caller asks the row form, which knows all of them and gives the error that a record deserves.
//!
//! These loops know no expressions, no indexes and no Arrow arrays.

pub(crate) mod block;
pub(crate) mod group;
pub(crate) mod number;
pub(crate) mod summary;
pub(crate) mod text;
pub(crate) mod words;

pub(crate) use block::{Block, Understood};
