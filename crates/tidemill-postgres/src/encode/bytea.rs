//! Bytes, and the texts that stand for them.

use arrow_array::Array;

use super::cell::{Cell, bytes, shown, texts};
use crate::error::Misfit;

/// Bytes as they are. A text that begins with `\x` has them as hexadecimal digits, which is how servers show them; any other stands for
/// the bytes of its UTF-8.
pub(super) fn bytea(array: &dyn Array) -> Option<Cell<'_>> {
    if let Some(bytes) = bytes(array) {
        return Some(Box::new(move |row, out| {
            out.extend_from_slice(bytes(row));
            Ok(())
        }));
    }
    let texts = texts(array)?;
    Some(Box::new(move |row, out| {
        let text = texts(row);
        match text.strip_prefix("\\x") {
            Some(digits) => {
                let wrong = || {
                    Misfit::new(
                        "bytes as pairs of hexadecimal digits behind \\x, such as \\x00ff",
                        shown(text),
                    )
                };
                push_hex(digits, out).ok_or_else(wrong)
            }
            None => {
                out.extend_from_slice(text.as_bytes());
                Ok(())
            }
        }
    }))
}

/// Appends the bytes of pairs of hexadecimal digits, as `hex_decode` in PostgreSQL's `encode.c` reads them; `None` for other texts.
pub(crate) fn push_hex(digits: &str, out: &mut Vec<u8>) -> Option<()> {
    let mut digits = digits.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let value = |digit: u8| {
        char::from(digit)
            .to_digit(16)
            .and_then(|value| u8::try_from(value).ok())
    };
    while let Some(high) = digits.next() {
        out.push(value(high)? << 4 | value(digits.next()?)?);
    }
    Some(())
}
