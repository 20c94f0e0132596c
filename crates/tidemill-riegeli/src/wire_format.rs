//! Protobuf's wire format: the fields of a message one after another.
//!
//! Source: the protobuf documentation, "Encoding". Groups are one field here, with all that is between their tags.

use std::ops::Range;

use crate::{
    error::RowProblem,
    varint::{read_varint32, read_varint64},
};

/// Groups nested deeper are refused, as protobuf parsers refuse them.
const MAX_DEPTH: usize = 100;

/// The value of a field, by its wire type. Ranges are of the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WireValue {
    Varint(u64),
    Fixed32(u32),
    Fixed64(u64),
    /// What follows the length.
    Bytes(Range<usize>),
    /// What is between the tags.
    Group(Range<usize>),
}

/// Reads the fields of a message.
pub(crate) struct FieldReader<'a> {
    message: &'a [u8],
    pos: usize,
}

impl<'a> FieldReader<'a> {
    pub(crate) fn new(message: &'a [u8]) -> Self {
        Self { message, pos: 0 }
    }

    /// Returns the number and the value of the next field, `None` at the end.
    #[inline]
    pub(crate) fn next_field(&mut self) -> Result<Option<(u32, WireValue)>, RowProblem> {
        let offset = self.pos;
        let left = self.message.get(offset..).unwrap_or_default();
        if left.is_empty() {
            return Ok(None);
        }
        let (tag, behind) = read_tag(left).ok_or(RowProblem::Tag { offset })?;
        let truncated = RowProblem::Truncated { offset };
        let (value, behind) = match tag & 7 {
            0 => {
                let (value, behind) = read_varint64(behind).ok_or(truncated)?;
                (WireValue::Varint(value), behind)
            }
            1 => {
                let (value, behind) = behind.split_first_chunk().ok_or(truncated)?;
                (WireValue::Fixed64(u64::from_le_bytes(*value)), behind)
            }
            5 => {
                let (value, behind) = behind.split_first_chunk().ok_or(truncated)?;
                (WireValue::Fixed32(u32::from_le_bytes(*value)), behind)
            }
            2 => {
                let (length, behind) = split_bytes(behind).ok_or(truncated)?;
                let end = self.message.len() - behind.len();
                (WireValue::Bytes(end - length..end), behind)
            }
            START_GROUP => {
                let start = self.message.len() - behind.len();
                let (length, behind) = split_group(tag >> 3, behind, offset)?;
                (WireValue::Group(start..start + length), behind)
            }
            _ => return Err(RowProblem::Tag { offset }),
        };
        self.pos = self.message.len() - behind.len();
        Ok(Some((tag >> 3, value)))
    }
}

/// The wire type of the tag in front of a group.
pub(crate) const START_GROUP: u32 = 3;
const END_GROUP: u32 = 4;

/// Reads a tag with a field number and a wire type that exist.
fn read_tag(bytes: &[u8]) -> Option<(u32, &[u8])> {
    read_varint32(bytes).filter(|(tag, _)| tag >> 3 > 0 && tag & 7 < 6)
}

/// Splits off bytes with their length before them. Returns the length, and what follows them.
fn split_bytes(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (length, behind) = read_varint64(bytes)?;
    let length = usize::try_from(length).ok()?;
    Some((length, behind.get(length..)?))
}

/// Returns what is after a value that is not a group.
fn skip_value(wire_type: u32, bytes: &[u8]) -> Option<&[u8]> {
    match wire_type {
        0 => read_varint64(bytes).map(|(_, behind)| behind),
        1 => bytes.get(8..),
        5 => bytes.get(4..),
        2 => split_bytes(bytes).map(|(_, behind)| behind),
        _ => None,
    }
}

/// Returns the length of the content of the group of field `number`, and what is after its end tag. `offset` is where the field
/// begins, for errors.
pub(crate) fn split_group(number: u32, bytes: &[u8], offset: usize) -> Result<(usize, &[u8]), RowProblem> {
    let truncated = RowProblem::Truncated { offset };
    let mut open = vec![number];
    let mut left = bytes;
    loop {
        let (tag, behind) = read_tag(left).ok_or(truncated)?;
        match tag & 7 {
            START_GROUP if open.len() == MAX_DEPTH => return Err(RowProblem::Depth { limit: MAX_DEPTH }),
            START_GROUP => {
                open.push(tag >> 3);
                left = behind;
            }
            END_GROUP => {
                if open.pop() != Some(tag >> 3) {
                    return Err(RowProblem::Tag { offset });
                }
                if open.is_empty() {
                    return Ok((bytes.len() - left.len(), behind));
                }
                left = behind;
            }
            wire_type => left = skip_value(wire_type, behind).ok_or(truncated)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(message: &[u8]) -> Result<Vec<(u32, WireValue)>, RowProblem> {
        let mut reader = FieldReader::new(message);
        let mut fields = Vec::new();
        while let Some(field) = reader.next_field()? {
            fields.push(field);
        }
        Ok(fields)
    }

    #[test]
    fn fields_of_every_wire_type() {
        let message = [
            &[0x08, 0x96, 0x01][..],
            &[0x11, 1, 0, 0, 0, 0, 0, 0, 0x80],
            &[0x1a, 2, b'h', b'i'],
            &[0x23, 0x2b, 0x08, 7, 0x2c, 0x24],
            &[0x35, 4, 3, 2, 1],
        ]
        .concat();
        let expected = vec![
            (1, WireValue::Varint(150)),
            (2, WireValue::Fixed64(1 << 63 | 1)),
            (3, WireValue::Bytes(14..16)),
            (4, WireValue::Group(17..21)),
            (6, WireValue::Fixed32(0x0102_0304)),
        ];
        assert_eq!(read(&message), Ok(expected));
        let ends = [0, 3, 12, 16, 22, 27];
        for cut in 0..message.len() {
            assert_eq!(read(&message[..cut]).is_ok(), ends.contains(&cut), "cut to {cut}");
        }
    }

    #[test]
    fn what_is_not_a_message_is_refused() {
        let check = |message: &[u8], expected: RowProblem| {
            assert_eq!(read(message), Err(expected), "{message:?}");
        };
        check(&[0x00, 1], RowProblem::Tag { offset: 0 });
        check(&[0x0e], RowProblem::Tag { offset: 0 });
        check(&[0x08, 1, 0x0c], RowProblem::Tag { offset: 2 });
        check(&[0x0b, 0x14], RowProblem::Tag { offset: 0 });
        check(&[0x0b, 0x08], RowProblem::Truncated { offset: 0 });
        check(&[0x0b; 300], RowProblem::Depth { limit: MAX_DEPTH });
    }
}
