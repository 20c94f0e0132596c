//! Errors on their way over the interface: their kind, their place and their words.
//!
//! Streams of Arrow tell what went wrong by a text alone, which may stand within the text of another error. So an error is told as
//! a text by which it is found again.

#![expect(unsafe_code, reason = "reads and frees what another library allocated")]

use std::ptr;
use std::slice;

use arrow_array::ffi_stream::ArrowArrayStreamReader;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use tidemill_ads::sql::{Error, Kind, Location};

use crate::abi::{Fault, Text};

/// Kinds by their numbers.
const KINDS: [Kind; 17] = [
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
    Kind::StructureChanged,
];

/// Begins and ends an error within a text.
const MARK: char = '\u{1}';

/// An error as a text.
pub(crate) fn told(error: &Error) -> String {
    let kind = KINDS.iter().position(|kind| kind == error.kind()).unwrap_or(0);
    let (line, column) = error.line_and_column().unwrap_or((0, 0));
    format!(
        "{MARK}{kind} {line} {column} {}{MARK}",
        error.message().replace(MARK, " ")
    )
}

/// The error that stands in a text.
pub(crate) fn heard(text: &str) -> Option<Error> {
    let told = text.split(MARK).nth(1)?;
    let mut parts = told.splitn(4, ' ');
    let kind = KINDS.get(parts.next()?.parse::<usize>().ok()?)?;
    let (line, column) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(Error::new(kind.clone(), parts.next()?).at(Location { line, column }))
}

/// Rows on their way to the other side.
pub(crate) struct Told<R>(pub(crate) R);

impl<R: RecordBatchReader> Iterator for Told<R> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.0.next()?;
        Some(batch.map_err(|error| ArrowError::ExternalError(told(&Error::from(error)).into())))
    }
}

impl<R: RecordBatchReader> RecordBatchReader for Told<R> {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }
}

/// Rows that came from the other side.
pub struct Heard(pub(crate) ArrowArrayStreamReader);

impl Iterator for Heard {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.0.next()?;
        Some(batch.map_err(|error| match heard(&error.to_string()) {
            Some(own) => ArrowError::ExternalError(Box::new(own)),
            None => error,
        }))
    }
}

impl RecordBatchReader for Heard {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }
}

impl Fault {
    /// None yet.
    pub(crate) fn none() -> Self {
        Self {
            told: ptr::null_mut(),
            len: 0,
            release: None,
        }
    }

    pub(crate) fn of(error: &Error) -> Self {
        let told = told(error).into_bytes().into_boxed_slice();
        let len = told.len();
        Self {
            told: Box::into_raw(told).cast(),
            len,
            release: Some(release),
        }
    }

    /// The error that it is.
    pub(crate) fn into_error(mut self) -> Error {
        // SAFETY: whoever made the fault wrote the text and its length, and it is released below.
        let told = unsafe { bytes(self.told, self.len) };
        let told = String::from_utf8_lossy(told).into_owned();
        if let Some(release) = self.release.take() {
            // SAFETY: it is called once, for the fault that it came with.
            unsafe { release(&raw mut self) };
        }
        heard(&told).unwrap_or_else(|| Error::new(Kind::Engine, told))
    }
}

unsafe extern "C" fn release(fault: *mut Fault) {
    // SAFETY: the fault is one of `Fault::of`, whose text is a box of that many bytes.
    unsafe {
        let told = ptr::slice_from_raw_parts_mut((*fault).told, (*fault).len);
        drop(Box::from_raw(told));
        (*fault).told = ptr::null_mut();
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
            let error = Error::new(kind.clone(), "größer als 1").at(Location { line: 3, column: 14 });
            let error = Fault::of(&error).into_error();
            assert_eq!((error.kind(), error.message()), (&kind, "größer als 1"));
            assert_eq!(error.line_and_column(), Some((3, 14)));
        }
        let raised = Kind::Raised {
            class: "x".to_owned(),
            code: 1,
        };
        let raised = Fault::of(&Error::new(raised, "")).into_error();
        assert_eq!((raised.kind(), raised.line_and_column()), (&Kind::Engine, None));
        let within = format!("External error: {}!", told(&Error::new(Kind::Value, "1 2 3")));
        assert_eq!(
            heard(&within).map(|error| error.to_string()),
            Some(Error::new(Kind::Value, "1 2 3").to_string())
        );
        for text in ["", "\u{1}", "\u{1}99 1 1 x\u{1}", "\u{1}1 1\u{1}", "\u{1}a 1 1 x"] {
            assert!(heard(text).is_none(), "{text:?}");
        }
        assert_eq!(Fault::none().into_error().message(), "");
    }
}
