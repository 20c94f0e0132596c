//! The frame of every function: panics and errors become numbers.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tidemill_ads::{Error, ErrorCode, Result};

use crate::callback;
use crate::constants::AE_SUCCESS;
use crate::last_error;

/// Does the work of a function, and returns its number. What went wrong is what the thread is told of its last error.
///
/// A function of the program that is told how far long work is cannot call these: they would wait for that work.
pub(crate) fn call(work: impl FnOnce() -> Result<()>) -> u32 {
    call_anywhere(|| match callback::is_running() {
        true => busy(),
        false => work(),
    })
}

/// As [`call`], for functions that need no connection.
pub(crate) fn call_anywhere(work: impl FnOnce() -> Result<()>) -> u32 {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => AE_SUCCESS,
        Ok(Err(error)) => last_error::set(error),
        Err(_) => stopped(),
    }
}

#[cold]
#[inline(never)]
fn busy() -> Result<()> {
    refuse(
        ErrorCode::CommunicationBusy,
        "the library is at work for the function that this was called from",
    )
}

#[cold]
#[inline(never)]
fn stopped() -> u32 {
    let what = "a defect of the library: it stopped in the middle of the call";
    last_error::set(Error::new(ErrorCode::InternalError, what))
}

/// An error with its number.
#[cold]
pub(crate) fn refuse<T>(code: ErrorCode, what: impl Into<String>) -> Result<T> {
    Err(Error::new(code, what))
}
