//! The functions through which driver managers load the driver.
//!
//! The driver is the one that `adbc_ffi` builds from the traits, with three additions: fetched rows report ADBC errors
//! (`AdbcErrorFromArrayStream`), a change that is executed as a query reports the number of changed rows, and managers of ADBC 1.0 receive
//! only the functions of that version.
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

/// The driver as `adbc_ffi` builds it. It has no state, and is never released.
static EXPORTED: LazyLock<FFI_AdbcDriver> = LazyLock::new(TidemillDriver::ffi_driver);

/// The size of the driver in ADBC 1.0: `ADBC_DRIVER_1_0_0_SIZE`.
const SIZE_OF_1_0: usize = offset_of!(FFI_AdbcDriver, ErrorGetDetailCount);

/// Fills in the driver for a manager of ADBC 1.0 or 1.1.
///
/// # Safety
///
/// `driver` is null or points to an `AdbcDriver` of the version, `error` is null or points to an `AdbcError`.
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
        // SAFETY: the caller guarantees what `error` points to.
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
    // SAFETY: the caller's driver has this size in this version; the copy owns the data, and the original is not dropped.
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
    // SAFETY: the arguments are passed on unchanged.
    unsafe { AdbcTidemillInit(version, driver, error) }
}

/// `AdbcStatementExecuteQuery`, with the number of changed rows, and with rows that report ADBC errors.
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
    // SAFETY: the arguments are passed on unchanged.
    let status = unsafe { execute(statement, out, rows_affected, error) };
    let told = outcome::take();
    if status != ADBC_STATUS_OK || out.is_null() {
        return status;
    }
    if let (Some(rows), false) = (told.rows_affected, rows_affected.is_null()) {
        // SAFETY: the caller guarantees that a number may be written there.
        unsafe { ptr::write_unaligned(rows_affected, rows) };
    }
    // SAFETY: the call has just written a stream there.
    let rows = unsafe { ptr::read_unaligned(out) };
    // SAFETY: `rows` owns the stream that was there.
    unsafe { ptr::write_unaligned(out, Fetched::stream(rows)) };
    status
}

/// A stream of rows that stores the error of its last call.
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
    /// `stream` was made by [`Fetched::stream`], is not released, and is used by one thread.
    unsafe fn of<'s>(stream: *mut FFI_ArrowArrayStream) -> &'s mut Self {
        // SAFETY: the stream's data is the box that it was made with until it is released.
        unsafe { &mut *(*stream).private_data.cast::<Self>() }
    }

    /// Stores the error of a failed call, and returns its errno.
    fn keep(&mut self, code: c_int) -> c_int {
        let Some(error) = outcome::take().error else {
            self.error = None;
            return code;
        };
        let status = error.status;
        // The conversion fails only for a text with a zero byte, which `error.rs` never produces.
        self.error = FFI_AdbcError::try_from(error).ok().map(|mut error| {
            error.vendor_code = ADBC_ERROR_VENDOR_CODE_PRIVATE_DATA;
            (error, status.into())
        });
        errno(status)
    }
}

unsafe extern "C" fn get_schema(stream: *mut FFI_ArrowArrayStream, out: *mut FFI_ArrowSchema) -> c_int {
    // SAFETY: only streams of `Fetched::stream` have this function.
    let fetched = unsafe { Fetched::of(stream) };
    match fetched.rows.get_schema {
        // SAFETY: `rows` is a stream that is not released.
        Some(get_schema) => unsafe { get_schema(&raw mut fetched.rows, out) },
        None => libc::EINVAL,
    }
}

unsafe extern "C" fn get_next(stream: *mut FFI_ArrowArrayStream, out: *mut FFI_ArrowArray) -> c_int {
    // SAFETY: only streams of `Fetched::stream` have this function.
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
    // SAFETY: only streams of `Fetched::stream` have this function.
    let fetched = unsafe { Fetched::of(stream) };
    match (&fetched.error, fetched.rows.get_last_error) {
        (Some((error, _)), _) => error.message,
        // SAFETY: `rows` is a stream that is not released.
        (None, Some(get_last_error)) => unsafe { get_last_error(&raw mut fetched.rows) },
        (None, None) => ptr::null(),
    }
}

unsafe extern "C" fn release(stream: *mut FFI_ArrowArrayStream) {
    // SAFETY: only streams of `Fetched::stream` have this function, and it is called once.
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

/// `AdbcErrorFromArrayStream`: the error of the batch that failed, or null. The stream owns it.
unsafe extern "C" fn error_from_stream(
    stream: *mut FFI_ArrowArrayStream,
    status: *mut AdbcStatusCode,
) -> *const FFI_AdbcError {
    // SAFETY: the caller guarantees that the pointer is null or points to a stream.
    let is_ours = unsafe { stream.as_ref() }.is_some_and(|stream| {
        stream
            .release
            .is_some_and(|found| ptr::fn_addr_eq(found, release as unsafe extern "C" fn(_)))
    });
    if !is_ours {
        return ptr::null();
    }
    // SAFETY: only streams of `Fetched::stream` have that function.
    match unsafe { &Fetched::of(stream).error } {
        Some((error, code)) => {
            if !status.is_null() {
                // SAFETY: the caller guarantees that a status may be written there.
                unsafe { ptr::write_unaligned(status, *code) };
            }
            ptr::from_ref(error)
        }
        None => ptr::null(),
    }
}

/// The errno of a status, as the managers of arrow-adbc interpret it (`AdbcStatusCodeToErrno` in `c/driver/common/utils.c`).
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
