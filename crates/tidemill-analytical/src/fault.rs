//! Errors on their way over the interface: their kind and their words.

#![expect(unsafe_code, reason = "reads and frees what another library allocated")]

use std::ptr;
use std::slice;

use tidemill_ads::sql::{Error, Kind};

use crate::abi::{Fault, Text};

/// Kinds by their numbers.
const KINDS: [Kind; 16] = [
    Kind::Engine,
    Kind::Syntax,
    Kind::NoTable,
    Kind::Exists,
    Kind::NoColumn,
    Kind::Ambiguous,
    Kind::NoFunction,
    Kind::Type,
    Kind::Grouping,
    Kind::Value,
    Kind::Parameter,
    Kind::Unsupported,
    Kind::Transaction,
    Kind::Limit,
    Kind::NeedsAnalytical,
    Kind::Stopped,
];

impl Fault {
    /// None yet.
    pub(crate) fn none() -> Self {
        Self {
            kind: 0,
            message: ptr::null_mut(),
            len: 0,
            release: None,
        }
    }

    pub(crate) fn of(error: &Error) -> Self {
        let kind = KINDS.iter().position(|kind| kind == error.kind()).unwrap_or(0);
        let message = error.message().as_bytes().to_vec().into_boxed_slice();
        let len = message.len();
        Self {
            kind: u32::try_from(kind).unwrap_or(0),
            message: Box::into_raw(message).cast(),
            len,
            release: Some(release),
        }
    }

    /// The error that it is.
    pub(crate) fn into_error(mut self) -> Error {
        // SAFETY: whoever made the fault wrote the message and its length, and it is released below.
        let message = unsafe { bytes(self.message, self.len) };
        let message = String::from_utf8_lossy(message).into_owned();
        if let Some(release) = self.release.take() {
            // SAFETY: it is called once, for the fault that it came with.
            unsafe { release(&raw mut self) };
        }
        let kind = usize::try_from(self.kind).ok().and_then(|kind| KINDS.get(kind));
        Error::new(kind.cloned().unwrap_or(Kind::Engine), message)
    }
}

unsafe extern "C" fn release(fault: *mut Fault) {
    // SAFETY: the fault is one of `Fault::of`, whose message is a box of that many bytes.
    unsafe {
        let message = ptr::slice_from_raw_parts_mut((*fault).message, (*fault).len);
        drop(Box::from_raw(message));
        (*fault).message = ptr::null_mut();
    }
}

impl Text {
    pub(crate) fn of(text: &str) -> Self {
        Self {
            data: text.as_ptr(),
            len: text.len(),
        }
    }

    pub(crate) fn none() -> Self {
        Self {
            data: ptr::null(),
            len: 0,
        }
    }

    /// The text, for as long as the call lasts.
    ///
    /// # Errors
    /// [`Kind::Engine`] when it is not UTF-8.
    ///
    /// # Safety
    /// It is null, or points to so many bytes that live for `'t`.
    pub(crate) unsafe fn read<'t>(self) -> Result<Option<&'t str>, Error> {
        if self.data.is_null() {
            return Ok(None);
        }
        // SAFETY: as the caller promises.
        let bytes = unsafe { bytes(self.data, self.len) };
        let text = std::str::from_utf8(bytes);
        text.map(Some)
            .map_err(|error| Error::new(Kind::Engine, error.to_string()))
    }
}

/// # Safety
/// The pointer is null, or points to so many bytes that live for `'b`.
unsafe fn bytes<'b>(data: *const u8, len: usize) -> &'b [u8] {
    match data.is_null() {
        true => &[],
        // SAFETY: as the caller promises.
        false => unsafe { slice::from_raw_parts(data, len) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_keep_their_kind_and_their_words() {
        for kind in KINDS {
            let error = Fault::of(&Error::new(kind.clone(), "größer")).into_error();
            assert_eq!((error.kind(), error.message()), (&kind, "größer"));
        }
        let raised = Kind::Raised {
            class: "x".to_owned(),
            code: 1,
        };
        assert_eq!(*Fault::of(&Error::new(raised, "")).into_error().kind(), Kind::Engine);
        assert_eq!(Fault::none().into_error().message(), "");
    }
}
