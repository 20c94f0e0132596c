//! Numbers as text that say more than their field declares: exponents, and more decimals.
//!
//! ESRI's programs write `-1.23456789012e-005` into F(19,11), and others exponents into N. Such a column is one of doubles, which is
//! decided by looking: at every record for `F`, which is rare, and at the first ones for `N`. To look at all of these would make a table
//! slower to open the longer it is, and to look at the last ones would give the column another type when records are appended. A number
//! behind the first records that has more decimals than an `N` declares is rounded to these, with a note.

use std::ops::RangeInclusive;

use crate::digits::{Number, Shape, parse_text, trim, without_blank_decimals};
use crate::error::Result;
use crate::field::{Field, FieldKind};
use crate::header::Header;
use crate::source::Source;

/// How many records are looked at for fields of type N, which hold what they declare in almost every table.
const LOOKED_AT: u32 = 128;
/// About how many bytes are read at once.
const WINDOW: usize = 1 << 20;

/// The places of the fields of type N and F whose texts only a double keeps.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn find_doubles(source: &Source, header: &Header, fields: &[Field]) -> Result<Vec<usize>> {
    let stride = header.record_len.max(1) as usize;
    let room = source.len().saturating_sub(u64::from(header.header_len)) / stride as u64;
    let count = header.record_count.min(u32::try_from(room).unwrap_or(u32::MAX));
    let per_window = u32::try_from(WINDOW / stride).unwrap_or(u32::MAX).max(1);
    let mut found = Vec::new();
    for (kind, records) in [(FieldKind::Float, count), (FieldKind::Numeric, count.min(LOOKED_AT))] {
        let is_kind = |(_, field): &(usize, &Field)| field.kind == kind && field.width > 0;
        let mut wanted: Vec<_> = fields.iter().enumerate().filter(is_kind).collect();
        let (mut next, mut window) = (0, Vec::new());
        while next < records && !wanted.is_empty() {
            let some = per_window.min(records - next);
            let at = u64::from(header.header_len) + u64::from(next) * stride as u64;
            let bytes = source.read("records", at, some as usize * stride, &mut window)?;
            wanted.retain(|(place, field)| {
                let is_one = has_double(field, bytes, stride);
                found.extend(is_one.then_some(*place));
                !is_one
            });
            next += some;
        }
    }
    Ok(found)
}

fn has_double(field: &Field, records: &[u8], stride: usize) -> bool {
    let shape = Shape::<u64>::new(field.width, field.decimals);
    let is_usual = |text: &[u8]| {
        let mut word = [b' '; 8];
        let from = word.len().saturating_sub(text.len());
        word.iter_mut().skip(from).zip(text).for_each(|(to, byte)| *to = *byte);
        shape.is_some_and(|shape| !matches!(shape.parse(word), Number::Other))
    };
    let mut texts = records
        .chunks_exact(stride)
        .filter_map(|record| record.get(field.offset..field.offset + field.width));
    let held = field.numbers();
    texts.any(|text| !is_usual(text) && is_double(text, field.decimals, &held))
}

/// Whether a text is a number that the declared decimals do not hold, or as a power of ten one that the column does not.
fn is_double(text: &[u8], decimals: u8, held: &RangeInclusive<i128>) -> bool {
    let is_held = match parse_text(text, decimals, false) {
        Ok(number) => number.is_none_or(|number| held.contains(&number)),
        Err(_) => false,
    };
    !is_held && double(text).is_ok_and(|number| number.is_some())
}

/// The number of a text, `None` where it is blank.
///
/// # Errors
/// What the text would have to be.
pub(crate) fn double(text: &[u8]) -> Result<Option<f64>, &'static str> {
    const EXPECTED: &str = "a number";
    let text = without_blank_decimals(trim(text));
    if text.iter().all(|byte| *byte == b'*') || text == b"." {
        return Ok(None);
    }
    // A decimal comma is a point.
    let text: String = match text.iter().filter(|byte| matches!(byte, b',' | b'.')).count() {
        0 | 1 => text
            .iter()
            .map(|byte| char::from(if *byte == b',' { b'.' } else { *byte }))
            .collect(),
        _ => return Err(EXPECTED),
    };
    let is_number = |byte: u8| matches!(byte, b'0'..=b'9' | b'.' | b'+' | b'-' | b'e' | b'E');
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    match text.bytes().all(is_number) {
        true => number.map(Some).ok_or(EXPECTED),
        false => Err(EXPECTED),
    }
}

/// Writes a double to the end of a cell with all its digits: with the field's decimals where these hold it, else with as many as it
/// has, or a power of ten. `false` when no such text fits; the cell then holds anything.
pub(crate) fn put_double(value: f64, decimals: u8, cell: &mut [u8]) -> bool {
    let decimals = usize::from(decimals);
    let keeps = |text: &String| text.len() <= cell.len() && text.parse::<f64>().is_ok_and(|again| again == value);
    let texts = [format!("{value:.decimals$}"), format!("{value}"), format!("{value:E}")];
    let Some(text) = texts.into_iter().find(keeps) else {
        return false;
    };
    let blanks = cell.len() - text.len();
    if let Some((front, own)) = cell.split_at_mut_checked(blanks) {
        front.fill(b' ');
        own.copy_from_slice(text.as_bytes());
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_told_from_what_the_field_holds() {
        for (text, decimals, expected) in [
            ("-1.23456789012e-005", 11, true),
            ("1.3945052E+02", 3, true),
            ("   1.5E+03", 2, false),
            ("   1.2345", 2, true),
            ("   1,2345", 2, true),
            ("   1.20", 1, false),
            ("1E+300", 0, true),
            // Visual FoxPro writes what its field is too narrow for as a power of ten.
            (" 1.012E+9", 3, true),
            ("   1.2E+5", 3, false),
            ("abc", 2, false),
            ("inf", 2, false),
            ("nan", 2, false),
            ("12.5.1", 1, false),
            ("*****", 1, false),
            ("", 1, false),
        ] {
            let held = -999_999_999_999..=999_999_999_999;
            assert_eq!(is_double(text.as_bytes(), decimals, &held), expected, "{text:?}");
        }
    }

    #[test]
    fn a_double_keeps_its_digits_where_they_fit() {
        for (value, decimals, width, expected) in [
            (1.5, 2, 8, Some("    1.50")),
            (0.1 + 0.2, 2, 20, Some(" 0.30000000000000004")),
            (-1.234_567_890_12e-5, 11, 19, Some("-0.0000123456789012")),
            (-1.234_567_890_12e-5, 11, 18, Some("-1.23456789012E-5 ")),
            (1e300, 0, 8, Some("   1E300")),
            (1.0 / 3.0, 2, 8, None),
        ] {
            let mut cell = vec![0; width];
            let text = put_double(value, decimals, &mut cell).then(|| String::from_utf8(cell).unwrap());
            assert_eq!(text.as_deref().map(str::trim), expected.map(str::trim), "{value}");
        }
    }
}
