//! What went wrong last in a thread, and the texts of numbers.

use std::cell::RefCell;
use std::error::Error as _;
use std::sync::LazyLock;

use tidemill_ads::{Error, ErrorCode};

use crate::call::{call_anywhere, refuse};
use crate::constants::{AE_SUCCESS, error_text};
use crate::pointers::{Bytes, Out};

thread_local! {
    static LAST: RefCell<(u32, String)> = const { RefCell::new((AE_SUCCESS, String::new())) };
}

/// Remembers an error for [`AdsGetLastError`], and returns its number.
#[cold]
pub(crate) fn set(error: Error) -> u32 {
    let code = error.code().number();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    if *TELLS {
        eprintln!("libace: error {code}: {text}");
    }
    let text = match error {
        // It begins with the number itself.
        Error::Statement(_) => text,
        _ => format!("Error {code}:  {text}"),
    };
    LAST.with_borrow_mut(|last| *last = (code, text));
    code
}

/// Makes this what [`AdsGetLastError`] tells.
pub(crate) fn put(code: u32, text: String) {
    LAST.with_borrow_mut(|last| *last = (code, text));
}

/// Whether every error is written to the standard error stream: for who looks what a program does with the library.
static TELLS: LazyLock<bool> = LazyLock::new(|| std::env::var_os("TIDEMILL_ACE_ERRORS").is_some());

/// Gives number and text of the last error of this thread.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetLastError(code: Out<u32>, text: Bytes, len: Out<u16>) -> u32 {
    call_anywhere(|| {
        let (last, what) = LAST.with_borrow(Clone::clone);
        code.set(last)?;
        if text.is_null() || len.is_null() {
            return Ok(());
        }
        text.put_cut(what.as_bytes(), len)
    })
}

/// Forgets the last error of this thread.
#[unsafe(no_mangle)]
pub extern "C" fn AdsClearLastError() -> u32 {
    LAST.with_borrow_mut(|last| *last = (AE_SUCCESS, String::new()));
    AE_SUCCESS
}

/// Gives the text of an error's number.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetErrorString(code: u32, text: Bytes, len: Out<u16>) -> u32 {
    call_anywhere(|| match error_text(code) {
        Some(what) => text.put_cut(format!("Error {code}:  {what}").as_bytes(), len),
        None => refuse(ErrorCode::NoErrorMessage, format!("there is no text for error {code}")),
    })
}

/// Writes a title and the last error of this thread to the standard error stream.
#[unsafe(no_mangle)]
pub extern "C" fn AdsShowError(title: crate::pointers::Name) -> u32 {
    call_anywhere(|| {
        let title = title.text()?.unwrap_or_default();
        let (_, what) = LAST.with_borrow(Clone::clone);
        eprintln!("{title}: {what}");
        Ok(())
    })
}
