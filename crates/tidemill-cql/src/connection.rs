//! Connections for load tests: prepared statements with as little work per request as possible.
//!
//! A thread has its own [`Connections`]. [`Connections::send`] writes an EXECUTE into the buffer of the connection that it goes to;
//! [`Connections::poll`] writes what has gathered, all at once, and reads all responses that have arrived. A tag
//! identifies the request: there is no task, channel or future for a request. Routing, the topology, preparing, and all other requests
//! are left to the `scylla` driver.
//!
//! Nodes with shards are not supported. [`Connections::serves`] says whether a cluster is.

mod answers;
mod class;
mod cluster;
mod columns;
mod compression;
mod execute;
mod handshake;
mod page;
mod reply;
mod stream;
mod streams;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};

pub use answers::read_answers;
pub use cluster::{Connections, ConnectionsOptions, Sent};
pub use execute::{Execute, ExecuteDefaults};
pub use handshake::{Handshake, Login};
pub use page::{Page, PageRows};
pub use reply::{Fault, Reply};
pub use scylla_cql::frame::Compression;

pub(crate) use answers::{LONGEST, VERSION, invalid};
pub(crate) use columns::check_result;
pub(crate) use compression::check as check_compressed;
pub(crate) use stream::Stream;

use answers::Answers;
use streams::{Streams, Waiting};

/// What came of a request.
pub type Outcome = Result<Reply, Box<Fault>>;

/// One connection to a node.
#[derive(Debug)]
struct Connection<T> {
    stream: Stream,
    streams: Streams<T>,
    /// Requests that are not yet written, from `written` on.
    requests: Vec<u8>,
    written: usize,
    compression: Option<Compression>,
    /// The body of a request, compressed.
    compressed: Vec<u8>,
    answers: Answers,
}

impl<T: Copy> Connection<T> {
    fn new(stream: Stream, compression: Option<Compression>) -> Self {
        Self {
            stream,
            streams: Streams::new(),
            requests: Vec::new(),
            written: 0,
            compression,
            compressed: Vec::new(),
            answers: Answers::new(compression),
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
            wants_rows: execute.wants_rows(),
            deadline: now + execute.timeout().min(LONGEST_TIMEOUT),
            limit: execute.timeout(),
        };
        let stream = self.streams.take(waiting);
        let start = self.requests.len();
        let written = execute.write(stream, &mut self.requests, values);
        if written.is_err() {
            self.streams.give_back(stream);
        } else if let Some(compression) = self.compression {
            compression::compress(&mut self.requests, start, compression, &mut self.compressed);
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
        // What is encrypted may not have left.
        Pin::new(&mut self.stream).poll_flush(context)
    }

    /// Reads until nothing is left, or once: a buffer that is not filled is all that there was.
    fn poll_read(&mut self, context: &mut Context<'_>, outcomes: &mut Vec<(T, Outcome)>) -> Poll<io::Result<()>> {
        loop {
            let mut room = ReadBuf::new(self.answers.room());
            ready!(Pin::new(&mut self.stream).poll_read(context, &mut room))?;
            let read = room.filled().len();
            if read == 0 {
                return Poll::Ready(Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "the server closed the connection",
                )));
            }
            self.answers.take(read, &mut self.streams, outcomes)?;
        }
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

/// Version, flags, stream, opcode, length: section 2 of the protocol.
pub(crate) const HEADER: usize = 9;
/// A hundred years: clocks count so far.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(36_500 * 86_400);
/// As in the driver.
const MOST_ORPHANS: usize = 1024;
