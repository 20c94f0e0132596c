//! What goes over the interface.

use std::ffi::{c_int, c_void};

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;

/// The version of the interface. Whoever changes a structure or the meaning of a field counts it up.
pub const VERSION: u32 = 2;

/// The name of the function that an engine exports.
pub(crate) const ENTRY: &str = "TidemillAnalyticalQuery";

/// It is done.
pub(crate) const DONE: c_int = 0;
/// It is not, and the [`Fault`] says why.
pub(crate) const FAILED: c_int = 1;
/// The host has another version of the interface.
pub(crate) const OTHER_VERSION: c_int = 2;

/// Text in UTF-8 that is borrowed for a call; a null pointer is no text.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Text {
    pub(crate) data: *const u8,
    pub(crate) len: usize,
}

/// Why a call failed. Whoever asked releases it.
#[repr(C)]
#[derive(Debug)]
pub struct Fault {
    /// The error as `fault` writes it.
    pub(crate) told: *mut u8,
    pub(crate) len: usize,
    pub(crate) release: Option<unsafe extern "C" fn(*mut Fault)>,
}

/// What is read of a table.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Scan {
    pub(crate) table: Text,
    /// Places in the table's schema.
    pub(crate) columns: *const usize,
    pub(crate) column_count: usize,
    /// A condition in ADS SQL; null for none.
    pub(crate) filter: Text,
    /// How many rows at most; negative for all.
    pub(crate) limit: i64,
}

/// The tables of a query and its program. Functions may be called by several threads at a time, but for `is_cancelled`, which is
/// called by the thread that asked. The engine releases it.
#[repr(C)]
#[derive(Debug)]
pub struct Host {
    pub(crate) data: *mut c_void,
    pub(crate) schema: unsafe extern "C" fn(*mut c_void, Text, *mut FFI_ArrowSchema, *mut Fault) -> c_int,
    pub(crate) scan: unsafe extern "C" fn(*mut c_void, *const Scan, *mut FFI_ArrowArrayStream, *mut Fault) -> c_int,
    pub(crate) is_cancelled: unsafe extern "C" fn(*mut c_void) -> c_int,
    pub(crate) release: unsafe extern "C" fn(*mut c_void),
}

/// The function that an engine exports: version of the host, query, host, answer, fault. The answer is written where it is done, and
/// the fault where it failed.
pub(crate) type Entry = unsafe extern "C" fn(u32, Text, *mut Host, *mut FFI_ArrowArrayStream, *mut Fault) -> c_int;
