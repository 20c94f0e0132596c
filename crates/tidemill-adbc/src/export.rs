//! The functions by which driver managers load the driver.
//!
//! The driver is the one that `adbc_ffi` makes of the traits, with three additions: rows that are fetched have the errors of ADBC
//! (`AdbcErrorFromArrayStream`), a change that is executed as a query says how many rows it changed, and managers of ADBC 1.0 get the
//! part of the driver that they know.
//!
//! Source: `arrow-adbc/adbc.h` of apache/arrow-adbc, ADBC 1.1.0.

#![expect(unsafe_code, reason = "is called by driver managers")]

use std::ffi::{c_char, c_int, c_void};
use std::mem::offset_of;
use std::ptr;
use std::sync::LazyLock;

use adbc_core::constants::{
    ADBC_ERROR_VENDOR_CODE_PRIVATE_DATA, ADBC_STATUS_OK, ADBC_VERSION_1_0_0, ADBC_VERSION_1_1_0,
};
use adbc_core::error::{AdbcStatusCode, Status};
use adbc_ffi::{FFI_AdbcDriver, FFI_AdbcError, FFI_AdbcStatement, FFIDriver, export_error};
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;

use crate::driver::TidemillDriver;
use crate::error::not_implemented;
use crate::outcome;

/// The driver as `adbc_ffi` makes it. It has no state, and is never released.
static EXPORTED: LazyLock<FFI_AdbcDriver> = LazyLock::new(TidemillDriver::ffi_driver);

/// The part of the driver that ADBC 1.0 has: `ADBC_DRIVER_1_0_0_SIZE`.
const SIZE_OF_1_0: usize = offset_of!(FFI_AdbcDriver, ErrorGetDetailCount);

/// Fills in the driver for a manager of ADBC 1.0 or 1.1.
///
/// # Safety
///
/// `driver` is null or leads to an `AdbcDriver` of the version, `error` is null or leads to an `AdbcError`.
#[unsafe(no_mangle)]
#[expect(unreachable_pub, reason = "is found by its name")]
pub unsafe extern "C" fn AdbcTidemillInit(
    version: c_int,
    driver: *mut c_void,
    error: *mut FFI_AdbcError,
) -> AdbcStatusCode {
    let refused = match version {
        _ if driver.is_null() => Some(crate::error::invalid("AdbcTidemillInit was given no driver to fill in")),
        ADBC_VERSION_1_0_0 | ADBC_VERSION_1_1_0 => None,
        other => Some(not_implemented(format!(
            "version {other} of ADBC: this driver knows {ADBC_VERSION_1_0_0} and {ADBC_VERSION_1_1_0}"
        ))),
    };
    if let Some(refused) = refused {
        let status = refused.status.into();
        // SAFETY: the caller says what `error` leads to.
        unsafe { export_error(error, refused) };
        return status;
    }
    let mut exported = TidemillDriver::ffi_driver();
    exported.StatementExecuteQuery = Some(execute_query);
    exported.ErrorFromArrayStream = Some(error_from_stream);
    let size = match version {
        ADBC_VERSION_1_0_0 => SIZE_OF_1_0,
        _ => size_of::<FFI_AdbcDriver>(),
    };
    // SAFETY: the caller's driver has this size in this version; what is copied goes over to it and is not dropped here.
    unsafe { ptr::copy_nonoverlapping((&raw const exported).cast::<u8>(), driver.cast::<u8>(), size) };
    std::mem::forget(exported);
    ADBC_STATUS_OK
}

/// [`AdbcTidemillInit`] under the name that every manager looks for.
///
/// # Safety
///
/// As [`AdbcTidemillInit`].
#[unsafe(no_mangle)]
#[expect(unreachable_pub, reason = "is found by its name")]
pub unsafe extern "C" fn AdbcDriverInit(
    version: c_int,
    driver: *mut c_void,
    error: *mut FFI_AdbcError,
) -> AdbcStatusCode {
    // SAFETY: the arguments are handed on as they came.
    unsafe { AdbcTidemillInit(version, driver, error) }
}

/// `AdbcStatementExecuteQuery`, with the number of rows that were changed, and with rows whose errors can be asked for.
unsafe extern "C" fn execute_query(
    statement: *mut FFI_AdbcStatement,
    out: *mut FFI_ArrowArrayStream,
    rows_affected: *mut i64,
    error: *mut FFI_AdbcError,
) -> AdbcStatusCode {
    let Some(execute) = EXPORTED.StatementExecuteQuery else {
        return Status::NotImplemented.into();
    };
    drop(outcome::take());
    // SAFETY: the arguments are handed on as they came.
    let status = unsafe { execute(statement, out, rows_affected, error) };
    let told = outcome::take();
    if status != ADBC_STATUS_OK || out.is_null() {
        return status;
    }
    if let (Some(rows), false) = (told.rows_affected, rows_affected.is_null()) {
        // SAFETY: the caller says that a number may be written there.
        unsafe { ptr::write_unaligned(rows_affected, rows) };
    }
    // SAFETY: the call has just made a stream there.
    let rows = unsafe { ptr::read_unaligned(out) };
    // SAFETY: what was there has been taken over by `rows`.
    unsafe { ptr::write_unaligned(out, Fetched::stream(rows)) };
    status
}

/// A stream of rows that remembers the error of its last call.
struct Fetched {
    rows: FFI_ArrowArrayStream,
    error: Option<(FFI_AdbcError, AdbcStatusCode)>,
}

impl Fetched {
    fn stream(rows: FFI_ArrowArrayStream) -> FFI_ArrowArrayStream {
        let fetched = Box::new(Self { rows, error: None });
        FFI_ArrowArrayStream {
            get_schema: Some(get_schema),
            get_next: Some(get_next),
            get_last_error: Some(get_last_error),
            release: Some(release),
            private_data: Box::into_raw(fetched).cast(),
        }
    }

    /// # Safety
    ///
    /// `stream` is one that [`Fetched::stream`] made, is not released, and is in use by one thread.
    unsafe fn of<'s>(stream: *mut FFI_ArrowArrayStream) -> &'s mut Self {
        // SAFETY: the stream's data is the box that it was made with until it is released.
        unsafe { &mut *(*stream).private_data.cast::<Self>() }
    }

    /// Keeps why a call failed; returns the number of the system's errors that stands for it.
    fn keep(&mut self, code: c_int) -> c_int {
        let Some(error) = outcome::take().error else {
            self.error = None;
            return code;
        };
        let status = error.status;
        // Only a text with a zero byte in it is refused, and `error.rs` makes none.
        self.error = FFI_AdbcError::try_from(error).ok().map(|mut error| {
            error.vendor_code = ADBC_ERROR_VENDOR_CODE_PRIVATE_DATA;
            (error, status.into())
        });
        errno(status)
    }
}

unsafe extern "C" fn get_schema(stream: *mut FFI_ArrowArrayStream, out: *mut FFI_ArrowSchema) -> c_int {
    // SAFETY: it is one of ours, by its function.
    let fetched = unsafe { Fetched::of(stream) };
    match fetched.rows.get_schema {
        // SAFETY: `rows` is a stream that is not released.
        Some(get_schema) => unsafe { get_schema(&raw mut fetched.rows, out) },
        None => libc::EINVAL,
    }
}

unsafe extern "C" fn get_next(stream: *mut FFI_ArrowArrayStream, out: *mut FFI_ArrowArray) -> c_int {
    // SAFETY: it is one of ours, by its function.
    let fetched = unsafe { Fetched::of(stream) };
    let Some(get_next) = fetched.rows.get_next else {
        return libc::EINVAL;
    };
    drop(outcome::take());
    // SAFETY: `rows` is a stream that is not released.
    match unsafe { get_next(&raw mut fetched.rows, out) } {
        0 => 0,
        code => fetched.keep(code),
    }
}

unsafe extern "C" fn get_last_error(stream: *mut FFI_ArrowArrayStream) -> *const c_char {
    // SAFETY: it is one of ours, by its function.
    let fetched = unsafe { Fetched::of(stream) };
    match (&fetched.error, fetched.rows.get_last_error) {
        (Some((error, _)), _) => error.message,
        // SAFETY: `rows` is a stream that is not released.
        (None, Some(get_last_error)) => unsafe { get_last_error(&raw mut fetched.rows) },
        (None, None) => ptr::null(),
    }
}

unsafe extern "C" fn release(stream: *mut FFI_ArrowArrayStream) {
    // SAFETY: it is one of ours, by its function, and is released once.
    let stream = unsafe { &mut *stream };
    // SAFETY: the data is the box that the stream was made with.
    drop(unsafe { Box::from_raw(stream.private_data.cast::<Fetched>()) });
    stream.private_data = ptr::null_mut();
    (
        stream.get_schema,
        stream.get_next,
        stream.get_last_error,
        stream.release,
    ) = (None, None, None, None);
}

/// `AdbcErrorFromArrayStream`: the error of the last batch that did not come, or null. It is the stream's, as long as that lives.
unsafe extern "C" fn error_from_stream(
    stream: *mut FFI_ArrowArrayStream,
    status: *mut AdbcStatusCode,
) -> *const FFI_AdbcError {
    // SAFETY: the caller says that there is a stream, or none.
    let is_ours = unsafe { stream.as_ref() }.is_some_and(|stream| {
        stream
            .release
            .is_some_and(|found| ptr::fn_addr_eq(found, release as unsafe extern "C" fn(_)))
    });
    if !is_ours {
        return ptr::null();
    }
    // SAFETY: only streams that we made have that function.
    match unsafe { &Fetched::of(stream).error } {
        Some((error, code)) => {
            if !status.is_null() {
                // SAFETY: the caller says that a status may be written there.
                unsafe { ptr::write_unaligned(status, *code) };
            }
            ptr::from_ref(error)
        }
        None => ptr::null(),
    }
}

/// The number of the system's errors that stands for a status, as the managers of arrow-adbc read them
/// (`AdbcStatusCodeToErrno` in `c/driver/common/utils.c`).
fn errno(status: Status) -> c_int {
    match status {
        Status::Ok => 0,
        Status::NotImplemented => libc::ENOTSUP,
        Status::NotFound => libc::ENOENT,
        Status::AlreadyExists => libc::EEXIST,
        Status::InvalidArguments | Status::InvalidState => libc::EINVAL,
        Status::Cancelled => libc::ECANCELED,
        Status::Timeout => libc::ETIMEDOUT,
        Status::Unauthenticated | Status::Unauthorized => libc::EACCES,
        Status::Unknown | Status::InvalidData | Status::Integrity | Status::Internal | Status::IO => libc::EIO,
    }
}
