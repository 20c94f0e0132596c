//! The few shapes that packets are made of: bytes, variable-length numbers, and strings with a length in front.
//!
//! [`Reader`] reads them from bytes that were received so far. When they end too early the error is [`Error::Truncated`], and
//! whoever owns the connection tries again with more; nothing else is remembered. Writing is functions over a `Vec`.
//!
//! Source: `IO/VarInt.h` and `IO/ReadHelpers.h` of ClickHouse. Columns have a reader of their own, which waits for its source.

use crate::{Error, Result};

/// Bytes of a packet that were received so far.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
    offset: usize,
}

impl<'a> Reader<'a> {
    /// Reads from the beginning of `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, offset: 0 }
    }

    /// How many bytes were read.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The bytes that were not read.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Reads `count` bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`], as all functions here.
    pub fn bytes(&mut self, count: usize, what: &'static str) -> Result<&'a [u8]> {
        let Some((bytes, rest)) = self.rest.split_at_checked(count) else {
            return Err(Error::Truncated {
                what,
                offset: self.offset as u64,
            });
        };
        self.rest = rest;
        self.offset += count;
        Ok(bytes)
    }

    /// Reads an array.
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`].
    pub fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N]> {
        let bytes = self.bytes(N, what)?;
        Ok(bytes.first_chunk().copied().unwrap_or([0; N]))
    }

    /// Reads a byte.
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`].
    pub fn u8(&mut self, what: &'static str) -> Result<u8> {
        let [byte] = self.array(what)?;
        Ok(byte)
    }

    /// Reads a byte that is 0 or 1.
    ///
    /// # Errors
    ///
    /// [`Error::Protocol`] for another one.
    pub fn bool(&mut self, what: &'static str) -> Result<bool> {
        match self.u8(what)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.error(what, "0 or 1", other.to_string())),
        }
    }

    /// Reads a number of 1 to 10 bytes, of which each has seven bits, the lowest first.
    ///
    /// # Errors
    ///
    /// [`Error::Protocol`] for a number of more than 64 bits.
    pub fn varint(&mut self, what: &'static str) -> Result<u64> {
        // Most are a byte.
        if let [byte @ ..0x80, rest @ ..] = self.rest {
            (self.rest, self.offset) = (rest, self.offset + 1);
            return Ok(u64::from(*byte));
        }
        let mut number = Varint::default();
        while number.has_room() {
            if let Some(number) = number.push(self.u8(what)?) {
                return Ok(number);
            }
        }
        Err(self.error(what, "a number of 64 bits", "more bits".to_owned()))
    }

    /// Reads the number of things that follow, at most `limit`.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`].
    pub fn count(&mut self, what: &'static str, limit: usize) -> Result<usize> {
        let found = self.varint(what)?;
        match usize::try_from(found) {
            Ok(count) if count <= limit => Ok(count),
            _ => Err(Error::Limit {
                what,
                limit: limit as u64,
                found,
            }),
        }
    }

    /// Reads a string of at most `limit` bytes. What is not UTF-8 in it is replaced.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`].
    pub fn string(&mut self, what: &'static str, limit: usize) -> Result<String> {
        let length = self.count(what, limit)?;
        Ok(String::from_utf8_lossy(self.bytes(length, what)?).into_owned())
    }

    pub(crate) fn error(&self, what: &'static str, expected: &'static str, found: String) -> Error {
        Error::Protocol {
            what,
            offset: self.offset as u64,
            expected,
            found,
        }
    }
}

/// A number of at most 64 bits whose bytes arrive one after another: seven bits in each, the lowest first, and the highest bit
/// set where more follow. All readers of numbers are as strict as this.
///
/// Source: `IO/VarInt.h` of ClickHouse.
#[derive(Debug, Default)]
pub(crate) struct Varint {
    value: u64,
    shift: u32,
    is_too_long: bool,
}

impl Varint {
    /// Whether another byte may follow. Once it is false, the number has more than 64 bits.
    pub(crate) fn has_room(&self) -> bool {
        !self.is_too_long && self.shift < u64::BITS
    }

    /// Takes a byte. Returns the number if this was its last byte.
    pub(crate) fn push(&mut self, byte: u8) -> Option<u64> {
        let bits = u64::from(byte & 0x7f);
        let shifted = bits << self.shift;
        if shifted >> self.shift != bits {
            self.is_too_long = true;
            return None;
        }
        self.value |= shifted;
        self.shift += 7;
        (byte < 0x80).then_some(self.value)
    }
}

/// Writes a number as [`Reader::varint`] reads it.
pub fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    bytes.push(value.to_le_bytes()[0]);
}

/// Writes a string as [`Reader::string`] reads it.
pub fn put_string(bytes: &mut Vec<u8>, string: impl AsRef<[u8]>) {
    let string = string.as_ref();
    put_varint(bytes, string.len() as u64);
    bytes.extend_from_slice(string);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_and_strings_come_back(number: u64, string in ".{0,300}") {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, number);
            put_string(&mut bytes, &string);
            let mut reader = Reader::new(&bytes);
            prop_assert_eq!(reader.varint("number").unwrap(), number);
            prop_assert_eq!(reader.string("string", 1200).unwrap(), string);
            prop_assert!(reader.rest().is_empty());
            for end in 0..bytes.len() {
                let mut reader = Reader::new(&bytes[..end]);
                let read = reader.varint("number").and_then(|_| reader.string("string", 1200));
                let truncated = matches!(read, Err(Error::Truncated { .. }));
                prop_assert!(truncated);
            }
        }
    }

    #[test]
    fn numbers_of_more_than_64_bits_are_refused() {
        let mut most = vec![0xff; 9];
        most.push(1);
        assert_eq!(Reader::new(&most).varint("number").unwrap(), u64::MAX);
        most[9] = 2;
        assert!(matches!(
            Reader::new(&most).varint("number"),
            Err(Error::Protocol { .. })
        ));
        most[9] = 0x81;
        assert!(matches!(
            Reader::new(&most).varint("number"),
            Err(Error::Protocol { .. })
        ));
    }

    #[test]
    fn long_strings_are_refused_before_they_arrive() {
        let mut bytes = Vec::new();
        put_varint(&mut bytes, 1 << 40);
        let read = Reader::new(&bytes).string("string", 4096);
        assert!(matches!(read, Err(Error::Limit { limit: 4096, .. })));
    }
}
