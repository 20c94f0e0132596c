//! A stream whose messages have at most the bytes that PostgreSQL gives one.
//!
//! The driver gathers a message before it looks at it. What a server claims is therefore checked as it comes: the type and the length of
//! each message (PostgreSQL's manual, "Message Formats"), before the driver waits for the rest.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

pub(crate) struct Bounded<S> {
    stream: S,
    messages: Messages,
}

impl<S> Bounded<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self {
            stream,
            messages: Messages::default(),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Bounded<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(cx, buffer))?;
        let read = buffer.filled().get(before..).unwrap_or_default();
        Poll::Ready(this.messages.pass(read))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Bounded<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

/// Where in the server's messages the bytes are.
#[derive(Debug, Default)]
struct Messages {
    header: [u8; HEADER],
    /// How many bytes of the header are there.
    gathered: usize,
    /// How many bytes of the message's body are still to come.
    body: usize,
}

impl Messages {
    fn pass(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        loop {
            let skipped = self.body.min(bytes.len());
            self.body -= skipped;
            bytes = bytes.get(skipped..).unwrap_or_default();
            let [first, rest @ ..] = bytes else { return Ok(()) };
            if let Some(place) = self.header.get_mut(self.gathered) {
                *place = *first;
            }
            self.gathered += 1;
            bytes = rest;
            if self.gathered == HEADER {
                self.gathered = 0;
                self.body = body(self.header)?;
            }
        }
    }
}

/// The bytes that follow a header. Its length counts itself.
fn body([kind, length @ ..]: [u8; HEADER]) -> io::Result<usize> {
    let length = i32::from_be_bytes(length);
    let body = usize::try_from(length).ok().and_then(|length| length.checked_sub(4));
    body.filter(|body| *body <= LARGEST).ok_or_else(|| {
        let what = format!(
            "expected a message of 4 bytes to 1 GiB, found one of type 0x{kind:02x} and {length} bytes; is this a PostgreSQL server?"
        );
        io::Error::new(io::ErrorKind::InvalidData, what)
    })
}

/// The type of a message and its length.
const HEADER: usize = 5;
/// What the server itself allocates for a message at most (`MaxAllocSize` in its `memutils.h`).
const LARGEST: usize = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_pass_however_they_are_cut() {
        let stream = [b"Z\0\0\0\x05I".as_slice(), b"1\0\0\0\x04", b"d\0\0\0\x0812\0\0"].concat();
        for size in 1..stream.len() {
            let mut messages = Messages::default();
            for piece in stream.chunks(size) {
                messages.pass(piece).expect("messages");
            }
            assert_eq!((messages.gathered, messages.body), (0, 0));
        }
    }

    #[test]
    fn a_length_that_no_message_has_is_refused() {
        for length in [[0xff; 4], [0, 0, 0, 3], [0x7f, 0xff, 0xff, 0xff], *b"HTTP"] {
            let mut messages = Messages::default();
            let header = [b"D", length.as_slice()].concat();
            assert!(messages.pass(&header).is_err(), "{length:?}");
        }
    }
}
