//! What the readers of columns read from: a source with a position, and a bound on memory.

use std::{future::poll_fn, pin::pin, sync::Arc, task::Poll};

use arrow_buffer::{Buffer, MutableBuffer};

use crate::{BlockError, Error, Result, arrow_type::StringType, revision::Revision, source::BlockSource, wire::Varint};

/// Bounds on what a block may ask for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// Rows of a block. Default: 2^31 - 1, the most that an Arrow list can have.
    pub rows: u64,
    /// Columns of a block. Default: 2^16.
    pub columns: u64,
    /// Bytes of memory for the columns of a block. Default: 2^30.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rows: i32::MAX as u64,
            columns: 1 << 16,
            memory: 1 << 30,
        }
    }
}

/// The source of one block.
pub(crate) struct Input<'a> {
    source: &'a mut dyn BlockSource,
    /// Bytes of the block that were consumed.
    offset: u64,
    /// Bytes of memory that may still be set aside.
    memory_left: u64,
    limits: Limits,
    pub(crate) revision: Revision,
    /// The values are those of a dictionary, whose strings are after their lengths at any revision.
    pub(crate) in_dictionary: bool,
    pub(crate) strings: StringType,
    /// The time zone that instants without one of their own are in. `None`: UTC.
    pub(crate) session_zone: Option<Arc<str>>,
    /// How many types are around the one whose prefix is read.
    pub(crate) depth: usize,
}

impl<'a> Input<'a> {
    pub(crate) fn new(
        source: &'a mut dyn BlockSource,
        revision: Revision,
        strings: StringType,
        limits: Limits,
    ) -> Self {
        Self {
            source,
            offset: 0,
            memory_left: limits.memory,
            limits,
            revision,
            in_dictionary: false,
            strings,
            session_zone: None,
            depth: 0,
        }
    }

    /// Whether the values of strings come after their offsets.
    pub(crate) fn string_offsets(&self) -> bool {
        self.revision >= Revision::STRING_OFFSETS && !self.in_dictionary
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// An error at this place.
    pub(crate) fn error(&self, what: &'static str, expected: impl Into<String>, found: impl Into<String>) -> Error {
        Error::Block(Box::new(BlockError {
            column: String::new(),
            row: None,
            what,
            offset: self.offset,
            expected: expected.into(),
            found: found.into(),
        }))
    }

    /// The error for data that end here.
    pub(crate) fn truncated(&self, what: &'static str) -> Error {
        Error::Truncated {
            what,
            offset: self.offset,
        }
    }

    /// Takes `bytes` from the bound on memory.
    pub(crate) fn charge(&mut self, bytes: u64) -> Result<()> {
        match self.memory_left.checked_sub(bytes) {
            Some(left) => {
                self.memory_left = left;
                Ok(())
            }
            None => Err(Error::Limit {
                what: "memory of a block",
                limit: self.limits.memory,
                found: (self.limits.memory - self.memory_left).saturating_add(bytes),
            }),
        }
    }

    /// Whether no byte is left.
    pub(crate) async fn at_end(&mut self) -> Result<bool> {
        Ok(self.source.buffered().is_empty() && self.fill().await? == 0)
    }

    /// What was received and not consumed; at least one byte.
    pub(crate) async fn some(&mut self, what: &'static str) -> Result<&[u8]> {
        if self.source.buffered().is_empty() && self.fill().await? == 0 {
            return Err(self.truncated(what));
        }
        Ok(self.source.buffered())
    }

    pub(crate) fn consume(&mut self, count: usize) {
        self.source.consume(count);
        self.offset += count as u64;
    }

    /// Consumes `bytes` if they are what comes next and were all received.
    pub(crate) fn skip(&mut self, bytes: &[u8]) -> bool {
        let is_next = self.source.buffered().starts_with(bytes);
        if is_next {
            self.consume(bytes.len());
        }
        is_next
    }

    pub(crate) async fn u8(&mut self, what: &'static str) -> Result<u8> {
        let byte = self.some(what).await?.first().copied().unwrap_or_default();
        self.consume(1);
        Ok(byte)
    }

    pub(crate) async fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N]> {
        if let Some(bytes) = self.source.buffered().first_chunk::<N>() {
            let bytes = *bytes;
            self.consume(N);
            return Ok(bytes);
        }
        let mut bytes = [0; N];
        for byte in &mut bytes {
            *byte = self.u8(what).await?;
        }
        Ok(bytes)
    }

    pub(crate) async fn u64(&mut self, what: &'static str) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array(what).await?))
    }

    /// A number in groups of seven bits, the lowest first; at most ten bytes.
    pub(crate) async fn varint(&mut self, what: &'static str) -> Result<u64> {
        // Most are a byte, and there.
        if let Some(byte) = self.source.buffered().first().copied().filter(|byte| *byte < 0x80) {
            self.consume(1);
            return Ok(byte.into());
        }
        let mut number = Varint::default();
        while number.has_room() {
            if let Some(number) = number.push(self.u8(what).await?) {
                return Ok(number);
            }
        }
        Err(self.error(what, "a number of 64 bits", "more bits"))
    }

    /// A count of things that take at least a byte each and memory of `size` bytes.
    pub(crate) async fn count(&mut self, what: &'static str, limit: u64) -> Result<usize> {
        let count = self.varint(what).await?;
        if count > limit {
            return Err(Error::Limit {
                what,
                limit,
                found: count,
            });
        }
        usize::try_from(count).map_err(|_| Error::Limit {
            what,
            limit,
            found: count,
        })
    }

    /// Text of at most `limit` bytes.
    pub(crate) async fn text(&mut self, what: &'static str, limit: u64) -> Result<String> {
        let length = self.count(what, limit).await?;
        // Most often it is there in whole.
        let bytes = match self.source.buffered().get(..length) {
            Some(bytes) => {
                let bytes = bytes.to_vec();
                self.consume(length);
                bytes
            }
            None => self.owned_bytes(length, what).await?.as_slice().to_vec(),
        };
        String::from_utf8(bytes).map_err(|_| self.error(what, "UTF-8", "other bytes"))
    }

    /// The next `length` bytes where that takes no waiting: shared memory that begins at a multiple of `alignment`, or, if they are
    /// few and were all received, memory of their own that begins at a multiple of 16.
    pub(crate) fn received(&mut self, length: usize, alignment: usize) -> Option<Result<Buffer>> {
        if let Some(shared) = self.source.share(length, alignment) {
            self.offset += length as u64;
            return Some(Ok(shared));
        }
        let bytes = self.source.buffered().get(..length).filter(|_| length <= MAX_FEW)?;
        let mut copy = memory(length);
        copy.extend_from_slice(bytes);
        if let Err(error) = self.charge(length as u64) {
            return Some(Err(error));
        }
        self.consume(length);
        Some(Ok(copy.into()))
    }

    /// The next `length` bytes in memory of their own, which begins at a multiple of 16, or shared memory that begins at a
    /// multiple of `alignment`.
    pub(crate) async fn bytes(&mut self, length: usize, alignment: usize, what: &'static str) -> Result<Buffer> {
        if let Some(bytes) = self.received(length, alignment) {
            return bytes;
        }
        self.owned_bytes(length, what).await.map(Buffer::from)
    }

    /// The next `length` bytes in memory of their own.
    pub(crate) async fn owned_bytes(&mut self, length: usize, what: &'static str) -> Result<MutableBuffer> {
        self.need(length, what)?;
        self.charge(length as u64)?;
        // Memory beyond this is set aside as the bytes arrive.
        let mut bytes = memory(length.min(MAX_UNSEEN));
        while bytes.len() < length {
            let missing = length - bytes.len();
            let buffered = self.source.buffered();
            if let Some(chunk) = buffered.get(..missing.min(buffered.len()))
                && !chunk.is_empty()
            {
                let count = chunk.len();
                bytes.extend_from_slice(chunk);
                self.consume(count);
            } else if missing >= MIN_DIRECT {
                let begin = bytes.len();
                // Zeroed in pieces that stay in the cache until the source overwrites them.
                bytes.resize(begin + missing.min(DIRECT), 0);
                let count = self
                    .read(bytes.as_slice_mut().get_mut(begin..).unwrap_or_default())
                    .await?;
                bytes.truncate(begin + count);
                if count == 0 {
                    return Err(self.truncated(what));
                }
            } else {
                self.some(what).await?;
            }
        }
        Ok(bytes)
    }

    /// Refuses when it is known that fewer bytes are left.
    pub(crate) fn need(&self, length: usize, what: &'static str) -> Result<()> {
        match self.source.remaining() {
            Some(remaining) if (length as u64) > remaining => Err(self.truncated(what)),
            _ => Ok(()),
        }
    }

    async fn fill(&mut self) -> Result<usize> {
        poll_fn(|context| self.source.poll_fill(context)).await
    }

    async fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let count = poll_fn(|context| self.source.poll_read(context, out)).await?;
        self.offset += count as u64;
        Ok(count)
    }
}

/// Memory for so many bytes, from a multiple of 16 on. Allocators take longer for one of a higher multiple than for a small copy, and
/// do not use a place again as it is.
fn memory(length: usize) -> MutableBuffer {
    MutableBuffer::from(Vec::<i128>::with_capacity(length.div_ceil(size_of::<i128>())))
}

/// Runs a decoder whose source is always ready.
pub(crate) fn run<T>(decoder: impl Future<Output = Result<T>>) -> Result<T> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match pin!(decoder).poll(&mut context) {
        Poll::Ready(result) => result,
        Poll::Pending => Err(Error::Closed {
            why: "a blocking source was not ready",
        }),
    }
}

const MAX_UNSEEN: usize = 8 << 20;
const MAX_FEW: usize = 1 << 14;
const MIN_DIRECT: usize = 1 << 12;
const DIRECT: usize = 1 << 18;
