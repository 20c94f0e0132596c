//! Connections for load tests: prepared statements with as little work for each as there can be.
//!
//! A thread has its own [`Connections`]. [`Connections::send`] writes an EXECUTE into the buffer of the connection that it goes to;
//! [`Connections::poll`] writes what has gathered, all at once, and reads all answers that have come. Who asked is told by a tag: there is
//! no task, channel or future for a request. What goes where, which nodes there are, preparing, and all that has to be asked otherwise is
//! left to the `scylla` driver.
//!
//! Not here: passwords, encryption, compression, nodes with shards. [`Connections::serves`] says whether a cluster can be had.

mod cluster;
mod execute;
mod handshake;
mod reply;
mod streams;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};
use tokio::net::TcpStream;

pub use cluster::{Connections, ConnectionsOptions, Sent};
pub use execute::{Execute, ExecuteDefaults};
pub use reply::{Fault, Reply};

use streams::{Recipient, Streams, Waiting};

/// What came of a request.
pub type Outcome = Result<Reply, Box<Fault>>;

/// One connection to a node.
#[derive(Debug)]
struct Connection<T> {
    stream: TcpStream,
    streams: Streams<T>,
    /// Requests that are not yet written, from `written` on.
    requests: Vec<u8>,
    written: usize,
    /// Where answers are read to, and how far it is filled.
    answers: Vec<u8>,
    filled: usize,
}

impl<T: Copy> Connection<T> {
    fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            streams: Streams::new(),
            requests: Vec::new(),
            written: 0,
            answers: vec![0; READ],
            filled: 0,
        }
    }

    /// Puts a request into the buffer. A stream must be free.
    #[inline]
    fn send<E>(
        &mut self,
        execute: &Execute,
        tag: T,
        now: Instant,
        values: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let waiting = Waiting {
            tag,
            deadline: now + execute.timeout(),
            limit: execute.timeout(),
        };
        let stream = self.streams.take(waiting);
        let written = execute.write(stream, &mut self.requests, values);
        if written.is_err() {
            self.streams.give_back(stream);
        }
        written
    }

    /// Writes and reads as much as there is. An error is the end of the connection.
    fn poll(&mut self, context: &mut Context<'_>, outcomes: &mut Vec<(T, Outcome)>) -> io::Result<()> {
        if let Poll::Ready(Err(error)) = self.poll_write(context) {
            return Err(error);
        }
        match self.poll_read(context, outcomes) {
            Poll::Ready(Err(error)) => Err(error),
            Poll::Ready(Ok(())) | Poll::Pending => Ok(()),
        }
    }

    fn poll_write(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(rest @ [_, ..]) = self.requests.get(self.written..) {
            let written = ready!(Pin::new(&mut self.stream).poll_write(context, rest))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.written += written;
        }
        self.requests.clear();
        self.written = 0;
        Poll::Ready(Ok(()))
    }

    /// Reads until nothing is left, or once: a buffer that is not filled is all that there was.
    fn poll_read(&mut self, context: &mut Context<'_>, outcomes: &mut Vec<(T, Outcome)>) -> Poll<io::Result<()>> {
        loop {
            let mut room = ReadBuf::new(&mut self.answers[self.filled..]);
            ready!(Pin::new(&mut self.stream).poll_read(context, &mut room))?;
            let read = room.filled().len();
            if read == 0 {
                return Poll::Ready(Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "the server closed the connection",
                )));
            }
            self.filled += read;
            self.take_frames(outcomes)?;
        }
    }

    /// Takes the whole frames out of the buffer.
    fn take_frames(&mut self, outcomes: &mut Vec<(T, Outcome)>) -> io::Result<()> {
        let mut rest = &self.answers[..self.filled];
        let mut wanted = 0;
        while let Some((&[version, flags, high, low, opcode, ref length @ ..], behind)) =
            rest.split_first_chunk::<HEADER>()
        {
            if version != VERSION {
                return Err(invalid(format!(
                    "expected version {VERSION:#04x}, found {version:#04x}"
                )));
            }
            let length = u32::from_be_bytes(*length) as usize;
            if length > LONGEST {
                return Err(invalid(format!("an answer has {length} bytes, more than {LONGEST}")));
            }
            let Some((body, behind)) = behind.split_at_checked(length) else {
                wanted = HEADER + length;
                break;
            };
            let id = i16::from_be_bytes([high, low]);
            match self.streams.give_back(id) {
                Recipient::Tag(tag) => outcomes.push((tag, reply::parse(flags, opcode, body))),
                Recipient::Nobody => {}
                Recipient::Unknown => {
                    return Err(invalid(format!("an answer on stream {id}, where nothing was asked")));
                }
            }
            rest = behind;
        }
        let left = rest.len();
        self.answers.copy_within(self.filled - left..self.filled, 0);
        self.filled = left;
        // A long answer is taken in as it comes, so that a length alone takes no memory.
        if wanted > self.answers.len() && self.filled == self.answers.len() {
            let doubled = (2 * self.answers.len()).min(wanted);
            self.answers.resize(doubled, 0);
        }
        Ok(())
    }

    /// Gives up what takes too long. An error is the end of the connection: too many answers are missing.
    fn sweep(&mut self, now: Instant, mut late: impl FnMut(T, Duration)) -> io::Result<()> {
        self.streams.sweep(now, |waiting| late(waiting.tag, waiting.limit));
        let orphans = self.streams.orphans();
        if orphans > MOST_ORPHANS {
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("{orphans} requests were not answered"),
            ));
        }
        Ok(())
    }
}

fn invalid(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Version, flags, stream, opcode, length: section 2 of the protocol.
const HEADER: usize = 9;
/// An answer of version 4.
const VERSION: u8 = 0x84;
/// What is read at once.
const READ: usize = 1 << 16;
/// Section 2 of the protocol: 256 MB.
const LONGEST: usize = 256 << 20;
/// As in the driver.
const MOST_ORPHANS: usize = 1024;
