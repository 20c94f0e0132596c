//! The part of a source that a reader looks at: a slice of the memory itself, or a buffer that moves along.
//!
//! After a jump the buffer is filled with little, and with more from refill to refill: a search reads headers, a scan reads
//! windows.
//!
//! The size of a source is taken once; a file that grows meanwhile ends where it ended.

use std::io;

use crate::source::Source;

/// The largest number of bytes that [`Window::get`] is asked for: what lies between two block headers.
pub(crate) const MAX_PIECE: usize = 64 << 10;
const FULL: usize = 128 << 10;
const AFTER_JUMP: usize = 4 << 10;

pub(crate) struct Window<S> {
    source: S,
    /// `None` until the end of a stream was seen.
    size: Option<u64>,
    is_stream: bool,
    buffer: Vec<u8>,
    /// Where in the source the buffer begins, and how much of it is filled.
    begin: u64,
    length: usize,
    next_refill: usize,
}

impl<S: Source> Window<S> {
    pub(crate) fn new(source: S) -> io::Result<Self> {
        let size = match source.bytes() {
            Some(bytes) => Some(bytes.len() as u64),
            None if source.is_stream() => None,
            None => Some(source.size()?),
        };
        Ok(Self {
            source,
            size,
            is_stream: size.is_none(),
            buffer: Vec::new(),
            begin: 0,
            length: 0,
            next_refill: AFTER_JUMP,
        })
    }

    pub(crate) fn source(&self) -> &S {
        &self.source
    }

    /// Returns the size of the source, `None` for a stream whose end was not seen.
    pub(crate) fn size(&self) -> Option<u64> {
        self.size
    }

    /// Ends the source at `end`, if that is inside of it.
    pub(crate) fn truncate(&mut self, end: u64) {
        self.size = self.size.map(|size| size.min(end));
    }

    /// Returns whether the source can be read only once.
    pub(crate) fn is_stream(&self) -> bool {
        self.is_stream
    }

    /// Returns `length` bytes from `pos` on, fewer only where the source ends.
    #[inline]
    pub(crate) fn get(&mut self, pos: u64, length: usize) -> io::Result<&[u8]> {
        debug_assert!(length <= MAX_PIECE);
        if self.source.bytes().is_none() && self.filled(pos, length).len() < length {
            self.refill(pos, length)?;
        }
        Ok(self.peek(pos, length))
    }

    /// Returns as many of `length` bytes from `pos` on as are at hand, without reading.
    #[inline]
    pub(crate) fn peek(&self, pos: u64, length: usize) -> &[u8] {
        match self.source.bytes() {
            Some(bytes) => part(bytes, 0, pos, length),
            None => self.filled(pos, length),
        }
    }

    /// Fills `out` from `pos` on and returns how far that came. Large pieces are not buffered.
    pub(crate) fn read(&mut self, pos: u64, out: &mut [u8]) -> io::Result<usize> {
        let buffered = self.peek(pos, out.len());
        let mut filled = buffered.len();
        out[..filled].copy_from_slice(buffered);
        while filled < out.len() && self.source.bytes().is_none() {
            let at = pos + filled as u64;
            let left = &mut out[filled..];
            if left.len() >= FULL / 4 && self.size.map_or(at == self.end(), |size| at < size) {
                let read = self.source.read_at(at, left)?.min(left.len());
                self.begin = at + read as u64;
                self.length = 0;
                self.next_refill = FULL;
                if read == 0 {
                    self.size.get_or_insert(at);
                    break;
                }
                filled += read;
            } else {
                let length = left.len().min(MAX_PIECE);
                let piece = self.get(at, length)?;
                if piece.is_empty() {
                    break;
                }
                left[..piece.len()].copy_from_slice(piece);
                filled += piece.len();
            }
        }
        Ok(filled)
    }

    /// Returns `pos`, or the end of the source if that is before `pos`. A stream is read as far as that.
    pub(crate) fn reach(&mut self, pos: u64) -> io::Result<u64> {
        while self.size.is_none() && self.end() < pos {
            self.begin = self.end();
            self.length = 0;
            self.fill(FULL)?;
        }
        Ok(self.size.map_or(pos, |size| size.min(pos)))
    }

    fn filled(&self, pos: u64, length: usize) -> &[u8] {
        part(&self.buffer[..self.length], self.begin, pos, length)
    }

    fn end(&self) -> u64 {
        self.begin + self.length as u64
    }

    #[cold]
    fn refill(&mut self, pos: u64, length: usize) -> io::Result<()> {
        if self.size.is_none() && pos > self.end() {
            self.reach(pos)?;
        }
        if self.size.is_some_and(|size| pos >= size) {
            return Ok(());
        }
        if self.is_stream && pos < self.begin {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                format!("a stream at byte {} cannot go back to byte {pos}", self.begin),
            ));
        }
        let kept = self.filled(pos, usize::MAX).len();
        if kept > 0 || pos == self.end() {
            // Both are at most the filled part of the buffer.
            self.buffer.copy_within(self.length - kept..self.length, 0);
            self.next_refill = (self.next_refill * 4).min(FULL);
        } else {
            self.next_refill = AFTER_JUMP;
        }
        self.begin = pos;
        self.length = kept;
        while self.length < length {
            if self.fill(self.next_refill.max(length))? == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Reads once into what is left of the first `wanted` bytes of the buffer. 0 is the end.
    fn fill(&mut self, wanted: usize) -> io::Result<usize> {
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted, 0);
        }
        let room = &mut self.buffer[self.length..wanted];
        let read = self
            .source
            .read_at(self.begin + self.length as u64, room)?
            .min(room.len());
        self.length += read;
        if read == 0 {
            let end = self.end();
            self.size.get_or_insert(end);
        }
        Ok(read)
    }
}

/// Returns up to `length` bytes from position `pos` on out of `bytes`, which begin at `begin`.
#[inline]
fn part(bytes: &[u8], begin: u64, pos: u64, length: usize) -> &[u8] {
    let bytes = pos
        .checked_sub(begin)
        .and_then(|offset| usize::try_from(offset).ok())
        .and_then(|offset| bytes.get(offset..))
        .unwrap_or_default();
    &bytes[..bytes.len().min(length)]
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::source::{BytesSource, StreamSource};

    /// Gives at most `step` bytes at a time and counts the calls.
    struct Steps<'a> {
        bytes: &'a [u8],
        step: usize,
        calls: Cell<usize>,
    }

    impl Source for Steps<'_> {
        fn size(&self) -> io::Result<u64> {
            Ok(self.bytes.len() as u64)
        }

        fn read_at(&self, pos: u64, buffer: &mut [u8]) -> io::Result<usize> {
            self.calls.set(self.calls.get() + 1);
            let step = self.step.min(buffer.len());
            BytesSource(self.bytes).read_at(pos, &mut buffer[..step])
        }
    }

    fn bytes() -> Vec<u8> {
        (0..400_000_u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect()
    }

    fn check(window: &mut Window<impl Source>, bytes: &[u8], pos: usize, length: usize) {
        let expected = &bytes[pos.min(bytes.len())..(pos + length).min(bytes.len())];
        assert_eq!(
            window.get(pos as u64, length).expect("reads"),
            expected,
            "{length} at {pos}"
        );
        let mut out = vec![0; length];
        let read = window.read(pos as u64, &mut out).expect("reads");
        assert!(out[..read] == *expected, "{length} at {pos}");
    }

    #[test]
    fn pieces_are_those_of_the_source_wherever_it_is_read() {
        let bytes = bytes();
        let pieces = [
            (0, 24),
            (24, 40),
            (64, 65_000),
            (300_000, 10),
            (300_005, 65_536),
            (5, 5),
            (399_990, 40),
            (400_000, 1),
            (500_000, 1),
        ];
        for step in [1_000, 5_000, usize::MAX] {
            let source = Steps {
                bytes: &bytes,
                step,
                calls: Cell::new(0),
            };
            let mut window = Window::new(source).expect("a size");
            for (pos, length) in pieces {
                check(&mut window, &bytes, pos, length);
            }
        }
        let mut window = Window::new(BytesSource(&bytes)).expect("a size");
        for (pos, length) in pieces {
            check(&mut window, &bytes, pos, length);
        }
        assert!(window.buffer.is_empty());
    }

    #[test]
    fn headers_are_looked_at_in_few_small_reads() {
        let bytes = bytes();
        let source = Steps {
            bytes: &bytes,
            step: usize::MAX,
            calls: Cell::new(0),
        };
        let mut window = Window::new(source).expect("a size");
        for pos in [200_000, 100_000, 300_000] {
            for offset in [0, 24, 64, 2_000] {
                check(&mut window, &bytes, pos + offset, 24);
            }
        }
        assert_eq!(window.source.calls.get(), 3);
        assert!(window.buffer.len() <= AFTER_JUMP);
    }

    #[test]
    fn streams_are_read_forwards_and_end_where_they_end() {
        let bytes = bytes();
        let mut window = Window::new(StreamSource::new(&bytes[..])).expect("a window");
        assert_eq!(window.get(0, 24).expect("reads"), &bytes[..24]);
        assert_eq!(window.get(250_000, 24).expect("reads"), &bytes[250_000..250_024]);
        let mut out = vec![0; 60_000];
        assert_eq!(window.read(250_024, &mut out).expect("reads"), 60_000);
        assert!(out == bytes[250_024..310_024]);
        assert_eq!(window.size(), None);
        assert!(window.get(0, 24).is_err());
        assert_eq!(window.reach(1 << 40).expect("reads"), 400_000);
        assert_eq!(window.size(), Some(400_000));
        assert_eq!(window.get(400_000, 1).expect("the end"), b"");
        assert_eq!(window.read(500_000, &mut out).expect("the end"), 0);
    }
}
