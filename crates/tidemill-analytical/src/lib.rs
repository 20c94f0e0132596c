//! The C interface between a library that holds xBase tables and one that has an engine for joins: `libace.so` lends the tables of a
//! query, and `libtidemill_adbc.so` answers it.
//!
//! The two are built apart: the first is small and starts in a millisecond, and loads the second when a program first asks for a
//! join. Tables and answers go over as Arrow C streams; a scan says which columns, which condition and how many rows. [`VERSION`]
//! is told with each query, and another one is refused.
//!
//! - The host has an [`Engine`], which is an [`Analytical`](tidemill_ads::sql::Analytical) for its connections.
//! - The engine exports one function that hands its arguments to [`answer`].
//!
//! # What this crate does not do
//!
//! It plans nothing and reads no table. It is not an interface for others: what it is made of changes with its version.

mod abi;
mod entry;
mod fault;
mod library;
mod tables;

pub use abi::{Fault, Host, Text, VERSION};
pub use entry::answer;
pub use fault::Heard;
pub use library::{Engine, LoadError};
