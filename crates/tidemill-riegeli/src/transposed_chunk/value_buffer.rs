//! Buffers that grow from their end to their beginning: decoding runs backwards, so the value of the last record comes first.

/// Values of a field, the one that was added last in front.
#[derive(Default)]
pub(super) struct ValueBuffer {
    /// The values are behind `start`; what is in front of them is room.
    bytes: Vec<u8>,
    start: usize,
}

/// Short values are copied by so many bytes at once, whatever their length.
const SHORT: usize = 16;

impl ValueBuffer {
    pub(super) fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// Returns how many bytes it has room for.
    pub(super) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Drops the values and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.start = self.bytes.len();
    }

    /// Adds a value: the last `length` of the `bytes`.
    #[inline]
    pub(super) fn prepend_end_of(&mut self, bytes: &[u8], length: usize) {
        if self.start < length.max(SHORT) {
            self.make_room(length.max(SHORT));
        }
        let start = self.start - length;
        match bytes.last_chunk::<SHORT>() {
            // What is in front of the value is room again.
            Some(chunk) if length <= SHORT => self.bytes[self.start - SHORT..self.start].copy_from_slice(chunk),
            _ => self.bytes[start..self.start].copy_from_slice(&bytes[bytes.len() - length..]),
        }
        self.start = start;
    }

    /// Adds a value: the low `length` bytes of a little-endian word, 1 to 8.
    #[inline]
    pub(super) fn prepend_word(&mut self, word: u64, length: u32) {
        if self.start < 8 {
            self.make_room(8);
        }
        // What is in front of the value is room again.
        let shifted = word << (64 - 8 * length);
        self.bytes[self.start - 8..self.start].copy_from_slice(&shifted.to_le_bytes());
        self.start -= length as usize;
    }

    #[cold]
    fn make_room(&mut self, wanted: usize) {
        let length = self.len();
        let room = wanted.max(self.bytes.len()).max(64);
        let mut bytes = vec![0; room + length];
        bytes[room..].copy_from_slice(self.as_slice());
        self.bytes = bytes;
        self.start = room;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_last_one_first() {
        let text: Vec<u8> = (0..200).collect();
        let mut buffer = ValueBuffer::default();
        for _ in 0..2 {
            let mut expected = Vec::new();
            for length in (0..100).chain([8, 16, 17, 1]) {
                buffer.prepend_end_of(&text[..length + 3], length);
                expected.splice(0..0, text[3..length + 3].iter().copied());
                assert_eq!(buffer.as_slice(), expected);
                let size = length as u32 % 8 + 1;
                buffer.prepend_word(0x0807_0605_0403_0201, size);
                expected.splice(0..0, 1..=size as u8);
                assert_eq!(buffer.as_slice(), expected);
                assert_eq!(buffer.len(), expected.len());
            }
            buffer.clear();
            assert_eq!(buffer.len(), 0);
        }
    }
}
