//! Where the fields of a message are: one pass that also finds out whether bytes are a message at all.
//!
//! Only messages that come back bit by bit are taken apart: shortest varints, field numbers from 1, closed groups. Anything
//! else is a string to the transposed chunk. Source: google/riegeli, `riegeli/chunk_encoding/transpose_encoder.cc`, where the
//! same check precedes a second pass that splits the fields; here the check keeps what it has found.
//!
//! What is inside a length-delimited field is not looked at.

use super::wire_type;

/// A field of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// Where its value begins in the record: after the tag, and after the length of a length-delimited field.
    pub(super) start: usize,
    /// Bytes of the value; 0 for the tags of groups.
    pub(super) length: u32,
    pub(super) tag: u32,
}

/// Finds the fields of messages, keeping the memory for it.
#[derive(Default)]
pub(super) struct FieldReader {
    groups: Vec<u32>,
}

impl FieldReader {
    /// Appends the fields of the message that `record[start..end]` is to `fields` and returns true, or returns false if it is
    /// none and leaves `fields` as they were.
    pub(super) fn read(&mut self, record: &[u8], start: usize, end: usize, fields: &mut Vec<Field>) -> bool {
        let before = fields.len();
        let is_message = self.read_fields(&record[..end], start, fields).is_some();
        if !is_message {
            fields.truncate(before);
        }
        is_message
    }

    fn read_fields(&mut self, bytes: &[u8], mut pos: usize, fields: &mut Vec<Field>) -> Option<()> {
        self.groups.clear();
        while pos < bytes.len() {
            let (tag, tag_length) = canonical_varint32(&bytes[pos..])?;
            let number = tag >> 3;
            if number == 0 {
                return None;
            }
            let mut start = pos + tag_length;
            let length = match tag & 7 {
                wire_type::VARINT => canonical_varint64_length(&bytes[start..])?,
                wire_type::FIXED32 => 4,
                wire_type::FIXED64 => 8,
                wire_type::LENGTH_DELIMITED => {
                    let (length, prefix) = canonical_varint32(&bytes[start..])?;
                    start += prefix;
                    length
                }
                wire_type::START_GROUP => {
                    self.groups.push(number);
                    0
                }
                wire_type::END_GROUP => {
                    if self.groups.pop() != Some(number) {
                        return None;
                    }
                    0
                }
                _ => return None,
            };
            let left = bytes.len() - start;
            if length as usize > left {
                return None;
            }
            fields.push(Field { start, length, tag });
            pos = start + length as usize;
        }
        self.groups.is_empty().then_some(())
    }
}

/// Returns the varint that `bytes` begin with and its length, if it has no shorter form and fits 32 bits.
#[inline]
fn canonical_varint32(bytes: &[u8]) -> Option<(u32, usize)> {
    let &first = bytes.first()?;
    if first < 0x80 {
        return Some((u32::from(first), 1));
    }
    let &second = bytes.get(1)?;
    let value = u32::from(first & 0x7f) | u32::from(second & 0x7f) << 7;
    if second < 0x80 {
        return (second != 0).then_some((value, 2));
    }
    long_varint32(bytes)
}

#[cold]
fn long_varint32(bytes: &[u8]) -> Option<(u32, usize)> {
    let mut value = 0;
    for (index, &byte) in bytes.iter().enumerate().take(5) {
        value |= u32::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            let fits = byte != 0 && (index < 4 || byte < 0x10);
            return fits.then_some((value, index + 1));
        }
    }
    None
}

/// Returns the length of the varint that `bytes` begin with, if it has no shorter form and fits 64 bits.
#[inline]
fn canonical_varint64_length(bytes: &[u8]) -> Option<u32> {
    if let Some(word) = bytes.first_chunk::<8>() {
        let word = u64::from_le_bytes(*word);
        let last_bytes = !word & 0x8080_8080_8080_8080;
        if last_bytes != 0 {
            let last = last_bytes.trailing_zeros() & !7;
            let canonical = last == 0 || (word >> last) & 0x7f != 0;
            return canonical.then_some(last / 8 + 1);
        }
    }
    for (length, &byte) in (1..=10).zip(bytes) {
        if byte < 0x80 {
            let canonical = byte != 0 || length == 1;
            return (canonical && (length < 10 || byte == 1)).then_some(length);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(bytes: &[u8]) -> Option<Vec<(u32, usize, u32)>> {
        let mut fields = Vec::new();
        let is_message = FieldReader::default().read(bytes, 0, bytes.len(), &mut fields);
        assert!(is_message || fields.is_empty());
        is_message.then(|| {
            fields
                .iter()
                .map(|field| (field.tag, field.start, field.length))
                .collect()
        })
    }

    #[test]
    fn fields_of_every_wire_type() {
        let bytes = b"\x08\x96\x01\x12\x02ab\x1d\0\0\0\0\x21\0\0\0\0\0\0\0\0\x2b\x2c";
        let expected = vec![(8, 1, 2), (18, 5, 2), (29, 8, 4), (33, 13, 8), (43, 22, 0), (44, 23, 0)];
        assert_eq!(fields(bytes), Some(expected));
        assert_eq!(fields(b""), Some(vec![]));
        // Field number 536,870,911, and the largest varint.
        let bytes = b"\xf8\xff\xff\xff\x0f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
        assert_eq!(fields(bytes), Some(vec![(0xffff_fff8, 5, 10)]));
    }

    #[test]
    fn what_does_not_come_back_bit_by_bit_is_no_message() {
        for bytes in [
            &b"\x00\x00"[..],
            b"\x08",
            b"\x08\x80",
            b"\x08\x80\x00",
            b"\x08\x80\x00\0\0\0\0\0\0",
            b"\x88\x00\x01",
            b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
            b"\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
            b"\xf8\xff\xff\xff\x1f\x01",
            b"\x12\x01",
            b"\x12\x81\x00a",
            b"\x1d\0\0\0",
            b"\x21\0\0\0\0\0\0\0",
            b"\x2b",
            b"\x2c",
            b"\x2b\x34",
            b"\x0e",
            b"\x0f",
        ] {
            assert_eq!(fields(bytes), None, "{bytes:02x?}");
        }
    }
}
