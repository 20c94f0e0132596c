//! Where the header of a tag has the options of an index of words: in bytes that neither Advantage nor FoxPro uses, as far as files at hand
//! show, and behind the expressions. docs/formats/adt.md has the layout.

use std::ops::Range;

use crate::codepage::CodePage;
use crate::error::Result;
use crate::full_text::FullTextOptions;

use super::cdx::{COLLATION_AT, HEADER_LEN, TEXTS};
use super::order_spec::OrderSpec;
use super::page::{Fault, put as put_bytes};
use super::tag::HeaderText;

/// Where they begin, behind what Visual FoxPro counts in a header.
const WORDS_AT: usize = 32;

/// The bytes of a header that are theirs, the texts of its expressions taking so many bytes.
fn places(texts: usize) -> [Range<usize>; 2] {
    let begin = TEXTS.saturating_add(texts).min(HEADER_LEN);
    [WORDS_AT..COLLATION_AT, begin..HEADER_LEN]
}

/// The options of an index of words, whose expressions take so many bytes; `None` where no program of ours has made it.
pub(super) fn read(header: &[u8], texts: usize, text: HeaderText) -> Result<Option<FullTextOptions>, Fault> {
    let bytes = places(texts)
        .map(|place| header.get(place).unwrap_or_default())
        .concat();
    FullTextOptions::decode(&bytes, text.0).map_err(|fault| {
        Fault::new(
            WORDS_AT + fault.at,
            "options of full-text search",
            fault.expected,
            fault.found,
        )
    })
}

/// Puts the options of an index of words where a header has them, behind `texts` bytes of expressions.
///
/// # Errors
/// [`Error::Misuse`](crate::Error::Misuse) for options that have no room, and a character that the code page lacks.
pub(super) fn put(order: &OrderSpec, codepage: CodePage, texts: usize, header: &mut [u8]) -> Result<()> {
    let Some(options) = &order.full_text else {
        return Ok(());
    };
    let bytes = match options.encode(codepage) {
        Ok(bytes) => bytes,
        Err(c) => return Err(order.refuse(&format!("{codepage} has no {c:?}"))),
    };
    let mut rest = bytes.as_slice();
    for place in places(texts) {
        let (own, behind) = rest.split_at(place.len().min(rest.len()));
        put_bytes(header, place.start, own);
        rest = behind;
    }
    match rest.len() {
        0 => Ok(()),
        more => Err(order.refuse(&format!(
            "its delimiters, noise words and other characters take {} bytes, {more} more than its header has room for",
            bytes.len()
        ))),
    }
}
