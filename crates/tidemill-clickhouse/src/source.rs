//! Where blocks come from: bytes in memory, a reader, or a connection that has to wait for more.
//!
//! A block has no length in front of it, so its decoder asks for bytes as it goes. [`BlockSource`] answers at once or says
//! that it has to wait, in the way of [`Future`]s: the decoder is one and keeps its place, so nothing is decoded
//! twice and no runtime is needed. Sources that never wait ([`BlockingSource`]) are decoded without one.
//!
//! Numbers of a column go from the source into the memory that Arrow keeps: by [`BlockSource::poll_read`] from a socket, by
//! [`BlockSource::share`] without a copy from bytes in memory. Nothing is decompressed here.

use std::{
    io::{self, Read},
    task::{Context, Poll, ready},
};

use arrow_buffer::Buffer;

use crate::{Error, Result};

/// Bytes of blocks.
pub trait BlockSource: Send {
    /// Returns the bytes that were received and not consumed. May be empty.
    fn buffered(&self) -> &[u8];

    /// Waits until [`BlockSource::buffered`] is not empty, and returns its length: 0 at the end of the data.
    ///
    /// # Errors
    ///
    /// Those of reading.
    fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<Result<usize>>;

    /// Takes `count` bytes from the beginning of [`BlockSource::buffered`], which are as many or more.
    fn consume(&mut self, count: usize);

    /// Reads into `out`, which is not empty, and returns how many bytes: 0 at the end of the data.
    ///
    /// For sources that can fill memory of others directly. It is called when nothing is buffered and `out` is large.
    ///
    /// # Errors
    ///
    /// Those of reading.
    fn poll_read(&mut self, context: &mut Context<'_>, out: &mut [u8]) -> Poll<Result<usize>> {
        poll_copy(self, context, out)
    }

    /// Takes the next `length` bytes as memory that Arrow may keep, if they are all there and begin at a multiple of
    /// `alignment`. Default: `None`, which makes the caller copy.
    fn share(&mut self, length: usize, alignment: usize) -> Option<Buffer> {
        let _ = (length, alignment);
        None
    }

    /// Returns how many bytes are left until the end of the data, if that is known. A length beyond it is an error before
    /// memory is set aside for it. Default: `None`.
    fn remaining(&self) -> Option<u64> {
        None
    }
}

/// Copies what was received, or what is received now.
pub(crate) fn poll_copy<S: BlockSource + ?Sized>(
    source: &mut S,
    context: &mut Context<'_>,
    out: &mut [u8],
) -> Poll<Result<usize>> {
    let available = ready!(source.poll_fill(context))?;
    let count = available.min(out.len());
    if let (Some(out), Some(bytes)) = (out.get_mut(..count), source.buffered().get(..count)) {
        out.copy_from_slice(bytes);
    }
    source.consume(count);
    Poll::Ready(Ok(count))
}

/// A source that never waits: [`BlockSource::poll_fill`] and [`BlockSource::poll_read`] are always ready.
pub trait BlockingSource: BlockSource {}

/// Bytes in memory that someone else owns.
#[derive(Clone, Copy, Debug)]
pub struct SliceSource<'a>(&'a [u8]);

impl<'a> SliceSource<'a> {
    /// Reads `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }
}

impl BlockSource for SliceSource<'_> {
    fn buffered(&self) -> &[u8] {
        self.0
    }

    fn poll_fill(&mut self, _: &mut Context<'_>) -> Poll<Result<usize>> {
        Poll::Ready(Ok(self.0.len()))
    }

    fn consume(&mut self, count: usize) {
        self.0 = self.0.get(count..).unwrap_or_default();
    }

    fn remaining(&self) -> Option<u64> {
        Some(self.0.len() as u64)
    }
}

impl BlockingSource for SliceSource<'_> {}

/// Memory that Arrow arrays may share: columns of numbers that lie at a multiple of their width are not copied, and keep all
/// of the memory alive.
#[derive(Clone, Debug)]
pub struct BufferSource {
    buffer: Buffer,
    at: usize,
}

impl BufferSource {
    /// Reads `buffer`, which may be made from a `Vec` or `bytes::Bytes` without a copy.
    pub fn new(buffer: impl Into<Buffer>) -> Self {
        Self {
            buffer: buffer.into(),
            at: 0,
        }
    }
}

impl BlockSource for BufferSource {
    fn buffered(&self) -> &[u8] {
        self.buffer.as_slice().get(self.at..).unwrap_or_default()
    }

    fn poll_fill(&mut self, _: &mut Context<'_>) -> Poll<Result<usize>> {
        Poll::Ready(Ok(self.buffered().len()))
    }

    fn consume(&mut self, count: usize) {
        self.at = self.buffer.len().min(self.at + count);
    }

    fn share(&mut self, length: usize, alignment: usize) -> Option<Buffer> {
        let bytes = self.buffered().get(..length)?;
        if bytes.as_ptr().align_offset(alignment) != 0 {
            return None;
        }
        let shared = self.buffer.slice_with_length(self.at, length);
        self.at += length;
        Some(shared)
    }

    fn remaining(&self) -> Option<u64> {
        Some(self.buffered().len() as u64)
    }
}

impl BlockingSource for BufferSource {}

/// A blocking reader, such as a file, with a buffer in front of it.
#[derive(Debug)]
pub struct ReadSource<R> {
    reader: R,
    buffer: Box<[u8]>,
    /// The part of the buffer that was read and not consumed.
    begin: usize,
    end: usize,
}

impl<R: Read> ReadSource<R> {
    /// Reads `reader`, which need not be buffered.
    pub fn new(reader: R) -> Self {
        Self {
            reader,
            buffer: vec![0; READ_BUFFER].into(),
            begin: 0,
            end: 0,
        }
    }
}

impl<R: Read + Send> BlockSource for ReadSource<R> {
    fn buffered(&self) -> &[u8] {
        self.buffer.get(self.begin..self.end).unwrap_or_default()
    }

    fn poll_fill(&mut self, _: &mut Context<'_>) -> Poll<Result<usize>> {
        if self.begin == self.end {
            match read(&mut self.reader, &mut self.buffer) {
                Ok(count) => (self.begin, self.end) = (0, count),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(self.end - self.begin))
    }

    fn consume(&mut self, count: usize) {
        self.begin = self.end.min(self.begin + count);
    }

    fn poll_read(&mut self, _: &mut Context<'_>, out: &mut [u8]) -> Poll<Result<usize>> {
        Poll::Ready(read(&mut self.reader, out))
    }
}

impl<R: Read + Send> BlockingSource for ReadSource<R> {}

fn read(reader: &mut impl Read, out: &mut [u8]) -> Result<usize> {
    loop {
        match reader.read(out) {
            Ok(count) => return Ok(count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => {
                return Err(Error::Io {
                    action: "read blocks",
                    source,
                });
            }
        }
    }
}

const READ_BUFFER: usize = 1 << 16;
