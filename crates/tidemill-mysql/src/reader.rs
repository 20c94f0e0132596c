//! The numbers and texts of packets (MySQL's manual of the protocol, "Protocol Basics: Data Types").
//!
//! Nothing is taken that is not there: every function returns `None` at the end.

/// What is left of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// So many bytes.
    pub(crate) fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// An integer with its length in front: 1, 3, 4 or 9 bytes. `0xfb` and `0xff` begin none.
    pub(crate) fn length_encoded(&mut self) -> Option<u64> {
        match self.u8()? {
            small @ ..=0xfa => Some(u64::from(small)),
            0xfc => self.u16().map(u64::from),
            0xfd => self
                .array()
                .map(|[a, b, c]: [u8; 3]| u32::from_le_bytes([a, b, c, 0]).into()),
            0xfe => self.array().map(u64::from_le_bytes),
            _ => None,
        }
    }

    /// Bytes behind their length.
    pub(crate) fn length_encoded_bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.length_encoded()?;
        self.bytes(usize::try_from(length).ok()?)
    }

    /// Bytes up to a NUL, which is taken too.
    pub(crate) fn until_nul(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        let taken = self.bytes(end)?;
        self.bytes(1)?;
        Some(taken)
    }

    /// All that is left.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.0
    }
}

/// Appends an integer with its length in front.
pub(crate) fn push_length_encoded(length: usize, out: &mut Vec<u8>) {
    let bytes = (length as u64).to_le_bytes();
    let (prefix, width) = match length {
        ..=0xfa => (None, 1),
        0xfb..=0xffff => (Some(0xfc), 2),
        0x1_0000..=0xff_ffff => (Some(0xfd), 3),
        _ => (Some(0xfe), 8),
    };
    out.extend(prefix);
    out.extend_from_slice(bytes.get(..width).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_as_they_are_written() {
        for length in [0, 250, 251, 65_535, 65_536, 0xff_ffff, 0x100_0000, usize::MAX] {
            let mut out = Vec::new();
            push_length_encoded(length, &mut out);
            let mut reader = Reader::new(&out);
            assert_eq!(reader.length_encoded(), Some(length as u64));
            assert!(reader.rest().is_empty());
            for end in 0..out.len() {
                assert_eq!(Reader::new(&out[..end]).length_encoded(), None, "{length}, {end}");
            }
        }
        assert_eq!(Reader::new(&[0xfb]).length_encoded(), None);
        assert_eq!(Reader::new(&[0xff, 0, 0, 0, 0, 0, 0, 0, 0]).length_encoded(), None);
    }

    #[test]
    fn a_length_beyond_the_end_takes_nothing() {
        assert_eq!(Reader::new(&[3, b'a', b'b']).length_encoded_bytes(), None);
        assert_eq!(Reader::new(&[0xfe; 9]).length_encoded_bytes(), None);
        assert_eq!(Reader::new(b"ab").until_nul(), None);
        assert_eq!(Reader::new(b"ab\0c").until_nul(), Some(b"ab".as_slice()));
    }
}
