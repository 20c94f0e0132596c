//! `libace.so`: the functions of the Advantage Client Engine, for programs that were written for it.
//!
//! Each function converts its arguments, calls `tidemill-ads` and maps the answer to a number; `include/ace.h` declares them,
//! and `docs/ace/functions.md` in the project lists them with their state.
//!
//! # Safety
//!
//! What a C program passes cannot be checked in full. Of every function here holds: a pointer is null or points at what the
//! header says, a text ends with a NUL unless its length is given, and a buffer has the length that is given with it; no other
//! thread uses them until the function returns. Null where something must be, handles that are closed or were never given,
//! and numbers that make no sense are errors. No panic leaves a function.
//!
//! # Threads
//!
//! Functions may be called from several threads. Calls on one connection and its tables wait for each other; the last error is
//! each thread's own.
//!
//! # What this crate does not do
//!
//! It holds no logic of tables: where to look for a record or how to write one is decided below it.

#![allow(
    unsafe_code,
    reason = "functions that C finds by their names, and the pointers that it gives them"
)]
#![allow(non_snake_case, reason = "the names are those of the Advantage Client Engine")]

mod analytical;
mod bookmark;
mod call;
mod callback;
mod connect_string;
mod connection;
pub mod constants;
mod conversion;
mod dictionary;
mod encryption;
mod field;
mod filter;
mod find;
mod full_text;
mod handle;
mod index;
mod last_error;
mod lock;
mod management;
mod memo;
mod movement;
mod openads;
mod pointers;
mod process_exit;
mod record;
mod relation;
mod servers;
mod settings;
mod statement;
mod table;
mod transaction;
pub mod unavailable;
mod unicode;
mod unpublished;
pub mod versions;

pub use bookmark::*;
pub use callback::*;
pub use connection::*;
pub use conversion::*;
pub use dictionary::*;
pub use encryption::*;
pub use field::*;
pub use filter::*;
pub use find::*;
pub use full_text::*;
pub use handle::Handle;
pub use index::*;
pub use last_error::*;
pub use lock::*;
pub use management::*;
pub use memo::*;
pub use movement::*;
pub use openads::*;
pub use pointers::{Bytes, Field, Name, Out, WideName};
pub use record::*;
pub use relation::*;
pub use servers::*;
pub use settings::*;
pub use statement::*;
pub use table::*;
pub use transaction::*;
pub use unicode::*;
pub use unpublished::*;
