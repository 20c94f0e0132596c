//! Text in UTF-16, little-endian, as the fields NChar and NMemo of an ADT and those of Harbour have it.

use crate::codepage::CodePage;

/// What stands for a character that a code page lacks: the control character SUBSTITUTE, which no text has.
const UNKNOWN: u8 = 0x1A;

/// Text without the blanks and NULs at its end, in UTF-8, behind `out`.
///
/// # Errors
/// What the bytes would have to be; `out` is then as before.
pub(crate) fn decode(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), &'static str> {
    let (units, rest) = bytes.as_chunks::<2>();
    let end = units
        .iter()
        .rposition(|unit| !matches!(unit, [b' ' | 0, 0]))
        .map_or(0, |last| last + 1);
    let text = bytes.get(..2 * end).unwrap_or_default();
    match rest {
        [] => decode_whole(text, out),
        _ => Err("text in UTF-16, of an even number of bytes"),
    }
}

/// Text with all of its blanks, in UTF-8, behind `out`.
///
/// # Errors
/// As [`decode`].
pub(crate) fn decode_whole(text: &[u8], out: &mut Vec<u8>) -> Result<(), &'static str> {
    let before = out.len();
    let units = text.as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit));
    for character in char::decode_utf16(units) {
        let Ok(character) = character else {
            out.truncate(before);
            return Err("text in UTF-16");
        };
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Ok(())
}

/// The text of a field of a varying length. Harbour takes a length that the field cannot have for 0.
pub(crate) fn varying(cell: &[u8]) -> &[u8] {
    let parts = cell.split_last_chunk::<2>();
    let text = parts.and_then(|(text, len)| text.get(..2 * usize::from(u16::from_le_bytes(*len))));
    text.unwrap_or_default()
}

/// Puts a text into a field of a varying length, behind which its length stands.
pub(crate) fn put_varying(text: &[u8], cell: &mut [u8]) {
    cell.fill(0);
    if let Some((place, len)) = cell.split_last_chunk_mut::<2>()
        && let (Some(place), Ok(units)) = (place.get_mut(..text.len()), u16::try_from(text.len() / 2))
    {
        place.copy_from_slice(text);
        *len = units.to_le_bytes();
    }
}

/// Text of a field's whole width in a code page, as expressions see it: filled up with blanks, and with [`UNKNOWN`] for each
/// character that the page lacks.
///
/// # Errors
/// What the bytes would have to be.
pub(crate) fn to_page(cell: &[u8], codepage: CodePage) -> Result<Vec<u8>, &'static str> {
    let mut encoded = varying_to_page(cell, codepage)?;
    encoded.resize(encoded.len().max(cell.len() / 2), b' ');
    Ok(encoded)
}

/// As [`to_page`], of a text of a varying length, which is not filled up.
///
/// # Errors
/// As [`to_page`].
pub(crate) fn varying_to_page(text: &[u8], codepage: CodePage) -> Result<Vec<u8>, &'static str> {
    let mut decoded = Vec::new();
    decode(text, &mut decoded)?;
    let text = String::from_utf8(decoded).map_err(|_| "text in UTF-16")?;
    let mut encoded = Vec::with_capacity(text.len());
    for character in text.chars() {
        if codepage
            .encode(character.encode_utf8(&mut [0; 4]), &mut encoded)
            .is_err()
        {
            encoded.push(UNKNOWN);
        }
    }
    Ok(encoded)
}

/// Text in UTF-16 behind `out`.
pub(crate) fn encode(text: &str, out: &mut Vec<u8>) {
    out.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_utf16_comes_back_without_its_padding() {
        for text in ["", "abc", "größe", "Ж", "🌊 x"] {
            let mut bytes = Vec::new();
            encode(text, &mut bytes);
            bytes.extend(b" \0 \0\0\0");
            let mut found = Vec::new();
            decode(&bytes, &mut found).unwrap();
            assert_eq!(found, text.as_bytes());
        }
        assert!(decode(b"\x00\xD8a\0", &mut Vec::new()).is_err());
        assert!(decode(b"a\0b", &mut Vec::new()).is_err());
        assert_eq!(to_page(b"\xE9\0b\0 \0", CodePage::Cp1252).unwrap(), b"\xE9b ");
        assert_eq!(to_page(b"a\0\x16\x04", CodePage::Cp1252).unwrap(), b"a\x1A");
        assert!(to_page(b"\x00\xDC", CodePage::Cp1252).is_err());
    }
}
