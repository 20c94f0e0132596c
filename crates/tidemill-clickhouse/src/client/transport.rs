//! A socket and the conversation over it.
//!
//! Bytes go from the socket into a buffer, or past it: large columns are read straight into their own memory, and frames are
//! decompressed from the buffer into the block's. While a read waits, three clocks run (silence, the query's deadline, the
//! patience with a cancelled query), and cancelling wakes it.
//!
//! What the packets mean is [`ClientConnection`]'s business, and the query's.

use std::{
    future::poll_fn,
    io::ErrorKind,
    mem::MaybeUninit,
    net::SocketAddr,
    pin::Pin,
    task::{Context, Poll, ready},
};

use socket2::SockRef;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Instant, timeout},
};
use tokio_rustls::client::TlsStream;

use super::{
    Options,
    cancel::CancelHandle,
    clocks::{Cancelled, Clocks, Deadline},
};
use crate::{
    Block, BlockDecoder, Error, Result, ServerException,
    arrow_type::StringType,
    block::KnownColumns,
    connection::ClientConnection,
    frame::{FrameDecoder, FrameHeader},
    packet::{
        TableName,
        chunked::Dechunker,
        server::{BlockKind, ServerPacket, TableStatus},
    },
    source::{BlockSource, poll_copy},
    wire::Reader,
};

/// A connection to a server.
pub(crate) struct Transport {
    socket: Socket,
    pub(crate) protocol: ClientConnection,
    pub(crate) decoder: BlockDecoder,
    known: KnownColumns,
    /// What was received and not consumed.
    incoming: Window,
    /// Where chunks are taken off, once they were agreed on.
    chunks: Option<(Dechunker, Vec<u8>)>,
    /// How many bytes of the protocol's outgoing were sent.
    sent: usize,
    /// How many bytes came, since the connection began; of TLS those inside.
    pub(crate) received: u64,
    frames: Frames,
    clocks: Clocks,
    /// Set while a block is read: if nobody waits for its end, nobody knows where the next packet begins.
    is_in_block: bool,
    pub(crate) last_used: Instant,
    /// The roles that the session was told to have. None: those that its user has by default.
    pub(crate) roles: Vec<String>,
}

enum Socket {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// A buffer of which a part is used.
#[derive(Default)]
struct Window {
    bytes: Vec<u8>,
    begin: usize,
    end: usize,
}

/// Frames that are decompressed.
#[derive(Default)]
struct Frames {
    decoder: FrameDecoder,
    data: Window,
    /// Where the next frame begins, in the block's stream of frames.
    offset: u64,
    /// How many frames without data came one after another.
    empty: u32,
}

impl Frames {
    /// Takes note of how much data a frame had. A server has no reason to send frames without any, and could do so without an end.
    fn note_size(&mut self, size: usize) -> Result<()> {
        self.empty = if size == 0 { self.empty + 1 } else { 0 };
        if self.empty > MOST_EMPTY {
            return Err(Error::Limit {
                what: "the number of consecutive frames without data",
                limit: MOST_EMPTY.into(),
                found: self.empty.into(),
            });
        }
        Ok(())
    }
}

impl Transport {
    pub(crate) fn plain(socket: TcpStream, protocol: ClientConnection, options: &Options) -> Self {
        Self::new(Socket::Plain(socket), protocol, options)
    }

    pub(crate) fn tls(socket: TlsStream<TcpStream>, protocol: ClientConnection, options: &Options) -> Self {
        Self::new(Socket::Tls(Box::new(socket)), protocol, options)
    }

    fn new(socket: Socket, protocol: ClientConnection, options: &Options) -> Self {
        Self {
            socket,
            protocol,
            decoder: BlockDecoder {
                strings: options.strings,
                limits: options.limits,
            },
            known: KnownColumns::default(),
            incoming: Window::default(),
            chunks: None,
            sent: 0,
            received: 0,
            frames: Frames::default(),
            clocks: Clocks::new(options),
            is_in_block: false,
            last_used: Instant::now(),
            roles: Vec::new(),
        }
    }

    /// Says hello and hears the server's.
    pub(crate) async fn handshake(&mut self) -> Result<()> {
        self.flush().await?;
        match self.receive().await? {
            ServerPacket::Exception(exception) => Err(Error::Server(exception)),
            _ => {
                if self.protocol.receives_chunks() {
                    let (mut dechunker, mut inside) = (Dechunker::default(), Vec::new());
                    dechunker.take_off(self.incoming.unread(), &mut inside);
                    self.incoming.clear();
                    self.incoming.append(&inside);
                    self.chunks = Some((dechunker, vec![0; BUFFER]));
                }
                self.flush().await
            }
        }
    }

    /// Asks whether the server is there. It takes no longer than silence may, whatever else the server says.
    pub(crate) async fn ping(&mut self) -> Result<()> {
        self.clocks.forget_query();
        self.protocol.ping()?;
        self.in_time("answer a ping", async |connection| {
            connection.flush().await?;
            while connection.receive().await? != ServerPacket::Pong {}
            Ok(())
        })
        .await
    }

    /// Asks for the status of tables, for as long as [`Transport::ping`].
    pub(crate) async fn tables_status(&mut self, tables: Vec<TableName>) -> Result<Vec<TableStatus>> {
        self.clocks.forget_query();
        self.protocol.ask_for_tables(tables)?;
        self.in_time("tell the status of tables", async |connection| {
            connection.flush().await?;
            loop {
                match connection.receive().await? {
                    ServerPacket::TablesStatus(tables) => return Ok(tables),
                    ServerPacket::Exception(exception) => return Err(Error::Server(exception)),
                    _ => {}
                }
            }
        })
        .await
    }

    /// Gives `work` as long as silence may be. If it takes longer, its answer may still come, and the connection is of no more
    /// use.
    pub(crate) async fn in_time<T>(
        &mut self,
        action: &'static str,
        work: impl AsyncFnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let limit = self.clocks.read_timeout();
        match timeout(limit, work(self)).await {
            Ok(answer) => answer,
            Err(_) => {
                self.protocol.close("an answer did not come in time");
                Err(Error::Timeout { action, limit })
            }
        }
    }

    /// Begins an answer whose strings are to be these.
    pub(crate) fn set_strings(&mut self, strings: StringType) {
        self.decoder.strings = strings;
        self.known.forget_content();
    }

    /// Puts instants of the blocks to come that have no time zone of their own into this one. None, or an empty name: UTC.
    pub(crate) fn set_session_zone(&mut self, zone: Option<&str>) {
        self.known.set_session_zone(zone.filter(|zone| !zone.is_empty()));
    }

    /// Begins to watch for what ends a query early: its handle, and its deadline.
    pub(crate) fn watch(&mut self, handle: CancelHandle, deadline: Option<Deadline>) {
        self.clocks.watch(handle, deadline);
    }

    /// Whether the query was cancelled, so that what still comes is for nobody.
    pub(crate) fn cancelled(&self) -> Option<Cancelled> {
        self.clocks.cancelled()
    }

    /// What becomes of a query that the server has ended, by an exception or well: why it was cancelled comes first.
    pub(crate) fn ended(&self, exception: Option<Box<ServerException>>) -> Result<()> {
        match (self.cancelled(), exception) {
            (Some(why), _) => Err(why.error()),
            (None, Some(exception)) => Err(Error::Server(exception)),
            (None, None) => Ok(()),
        }
    }

    /// Whether the query is to end, be it cancelled already or not.
    pub(crate) fn is_to_end(&self) -> Option<Cancelled> {
        self.cancelled().or_else(|| self.clocks.due())
    }

    /// Cancels the query that runs.
    pub(crate) fn cancel(&mut self, why: Cancelled) -> Result<()> {
        if self.cancelled().is_none() {
            // In the middle of an INSERT's data a server takes it for their end.
            if !self.protocol.is_sending() {
                self.protocol.cancel()?;
            }
            self.clocks.begin_to_cancel(why);
        }
        Ok(())
    }

    /// Whether nothing was left in the middle.
    pub(crate) fn is_sound(&self) -> bool {
        !self.is_in_block && !self.protocol.is_closed()
    }

    /// Whether a query may begin. A connection on which something can be read is at its end, or out of step.
    pub(crate) fn is_idle(&self) -> bool {
        let is_silent = match (&self.socket, peek(self.tcp())) {
            (_, Err(error)) => error.kind() == ErrorKind::WouldBlock,
            // Tickets may wait to be read, or the end after them: a ping tells.
            (Socket::Tls(_), Ok(1..)) => true,
            _ => false,
        };
        is_silent && self.is_sound() && self.protocol.is_idle() && self.incoming.unread().is_empty()
    }

    /// Whether there is something to read that is not for a query, as TLS has it: only a ping tells what it means.
    pub(crate) fn has_secrets_to_read(&self) -> bool {
        match &self.socket {
            Socket::Plain(_) => false,
            Socket::Tls(_) => peek(self.tcp()).is_ok(),
        }
    }

    fn tcp(&self) -> &TcpStream {
        match &self.socket {
            Socket::Plain(socket) => socket,
            Socket::Tls(socket) => socket.get_ref().0,
        }
    }

    pub(crate) fn server_address(&self) -> Option<SocketAddr> {
        self.tcp().peer_addr().ok()
    }

    /// Receives a packet. A block after it is for [`Transport::block`].
    ///
    /// It may be dropped and called again: nothing is lost.
    pub(crate) async fn receive(&mut self) -> Result<ServerPacket> {
        if self.is_in_block {
            return Err(Error::Closed {
                why: "a block was not read to its end",
            });
        }
        if self.protocol.outgoing().len() > self.sent {
            self.flush().await?;
        }
        self.watch_without_waiting()?;
        loop {
            if let Some((packet, length)) = self.protocol.receive(self.incoming.unread())? {
                self.incoming.consume(length);
                self.clocks.rewind();
                if self.protocol.is_idle() {
                    self.last_used = Instant::now();
                }
                return Ok(packet);
            }
            let received = poll_fn(|context| self.poll_more(context)).await;
            match received {
                Ok(0) => {
                    self.protocol.close("the server closed it");
                    return Err(if self.incoming.unread().is_empty() {
                        Error::Closed {
                            why: "the server closed it before it had answered",
                        }
                    } else {
                        Error::Truncated {
                            what: "a packet of the server",
                            offset: self.incoming.unread().len() as u64,
                        }
                    });
                }
                Ok(_) => {}
                Err(error) => {
                    self.protocol.close("reading failed");
                    return Err(error);
                }
            }
        }
    }

    /// Waits until the server says something, or until it is known that it will not.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`] when it closed the connection without an answer, and those of reading.
    pub(crate) async fn wait_for_answer(&mut self) -> Result<()> {
        if !self.incoming.unread().is_empty() {
            return Ok(());
        }
        match poll_fn(|context| self.poll_more(context)).await {
            Ok(0) => {
                self.protocol.close("the server closed it");
                Err(Error::Closed {
                    why: "the server closed it before it had answered",
                })
            }
            Ok(_) => Ok(()),
            Err(error) => {
                self.protocol.close("reading failed");
                Err(error)
            }
        }
    }

    /// The exception that a server said before it closed the connection, after writing to it failed.
    pub(crate) async fn last_words(&mut self) -> Option<Box<ServerException>> {
        loop {
            let mut reader = Reader::new(self.incoming.unread());
            match ServerPacket::decode(&mut reader, self.protocol.revision(), false) {
                Ok(ServerPacket::Exception(exception)) => return Some(exception),
                Ok(ServerPacket::Progress(_)) => {
                    let length = reader.offset();
                    self.incoming.consume(length);
                }
                Err(Error::Truncated { .. }) => {
                    let received = poll_fn(|context| self.poll_more(context)).await;
                    if !matches!(received, Ok(1..)) {
                        return None;
                    }
                }
                _ => return None,
            }
        }
    }

    /// Whether a packet may be there to receive, without waiting.
    pub(crate) fn has_received(&mut self) -> bool {
        let mut context = Context::from_waker(std::task::Waker::noop());
        !self.incoming.unread().is_empty() || self.poll_more(&mut context).is_ready()
    }

    /// Reads the block after a packet.
    ///
    /// When it fails or is dropped the connection is of no more use.
    pub(crate) async fn block(&mut self, kind: BlockKind) -> Result<Block> {
        let revision = self.protocol.revision();
        let decoder = self.decoder;
        self.is_in_block = true;
        let mut known = std::mem::take(&mut self.known);
        let block = if self.protocol.is_compressed() && kind.is_compressed(revision) {
            decoder.decode_with(&mut Framed(self), revision, &mut known).await
        } else {
            decoder.decode_with(&mut Plain(self), revision, &mut known).await
        };
        self.known = known;
        match block {
            Ok(block) => {
                self.is_in_block = false;
                self.clocks.rewind();
                Ok(block)
            }
            Err(error) => {
                self.protocol.close("a block could not be read");
                Err(error)
            }
        }
    }

    /// Sends all that the protocol has to say.
    pub(crate) async fn flush(&mut self) -> Result<()> {
        let sent = poll_fn(|context| self.poll_flush(context)).await;
        if sent.is_err() {
            self.protocol.close("writing failed");
        }
        sent
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        while let Some(unsent) = self
            .protocol
            .outgoing()
            .get(self.sent..)
            .filter(|unsent| !unsent.is_empty())
        {
            match self.socket.poll_write(context, unsent) {
                Poll::Ready(Ok(0)) => {
                    return Poll::Ready(Err(Error::Closed {
                        why: "the server takes no more bytes",
                    }));
                }
                Poll::Ready(Ok(count)) => {
                    self.sent += count;
                    self.clocks.rewind();
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(Error::io("write to the server")(error))),
                Poll::Pending => {
                    if self.clocks.is_handle_used(context) {
                        // In the middle of a packet the server cannot be told.
                        return Poll::Ready(Err(Cancelled::Handle.error()));
                    }
                    let error = ready!(self.clocks.poll_write_timeout(context));
                    return Poll::Ready(Err(match self.clocks.due() {
                        Some(why) if self.cancelled().is_none() => why.error(),
                        _ => error,
                    }));
                }
            }
        }
        self.protocol.outgoing().clear();
        self.sent = 0;
        self.socket
            .poll_flush(context)
            .map_err(Error::io("write to the server"))
    }

    /// Reads after what is buffered: how many bytes came, 0 at the end.
    fn poll_more(&mut self, context: &mut Context<'_>) -> Poll<Result<usize>> {
        if let Some((mut dechunker, mut raw)) = self.chunks.take() {
            let mut inside = Vec::new();
            let received = loop {
                match self.poll_socket(context, &mut raw) {
                    Poll::Ready(Ok(count)) if count > 0 => {
                        dechunker.take_off(raw.get(..count).unwrap_or_default(), &mut inside);
                        if !inside.is_empty() {
                            break Poll::Ready(Ok(inside.len()));
                        }
                    }
                    other => break other,
                }
            };
            self.incoming.append(&inside);
            self.chunks = Some((dechunker, raw));
            return received;
        }
        let mut incoming = std::mem::take(&mut self.incoming);
        let received = self.poll_socket(context, incoming.room(MIN_ROOM));
        if let Poll::Ready(Ok(count)) = received {
            incoming.end += count;
        }
        self.incoming = incoming;
        received
    }

    /// Reads into `out`, which is not empty.
    fn poll_socket(&mut self, context: &mut Context<'_>, out: &mut [u8]) -> Poll<Result<usize>> {
        loop {
            match self.socket.poll_read(context, out) {
                Poll::Ready(Ok(count)) => {
                    self.clocks.hear(count);
                    self.received += count as u64;
                    if self.is_in_block {
                        // Which a server may draw out without an end, and without a pause.
                        self.watch_without_waiting()?;
                    }
                    return Poll::Ready(Ok(count));
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(Error::io("read from the server")(error))),
                Poll::Pending => {}
            }
            if self.clocks.is_handle_used(context) {
                self.cancel(Cancelled::Handle)?;
            }
            let is_cancelling = self.cancelled().is_some();
            if is_cancelling && self.protocol.outgoing().len() > self.sent {
                // Waits for the socket to take the packet; errors show when reading fails.
                if let Poll::Ready(Err(error)) = self.poll_flush(context) {
                    return Poll::Ready(Err(error));
                }
            }
            let error = ready!(self.clocks.poll_read_timeout(context));
            // Not silence but the deadline: the query is cancelled, and its end is waited for.
            match self.clocks.due() {
                Some(why) if !is_cancelling => self.cancel(why)?,
                _ => return Poll::Ready(Err(error)),
            }
        }
    }

    /// Cancels when it is time, for a connection that always has something to read.
    fn watch_without_waiting(&mut self) -> Result<()> {
        if let Some(why) = self.cancelled() {
            if self.clocks.is_patience_over() {
                self.protocol.close("the server did not stop a cancelled query");
                return Err(why.error());
            }
            return Ok(());
        }
        self.clocks.due().map_or(Ok(()), |why| self.cancel(why))
    }

    /// Waits for the end of a query that was cancelled.
    pub(crate) async fn drain(&mut self) -> Result<()> {
        while !self.protocol.is_idle() && !self.protocol.is_closed() {
            if let ServerPacket::Block { kind, .. } = self.receive().await? {
                self.block(kind).await?;
            }
        }
        Ok(())
    }
}

/// How many bytes, of one, wait to be read; none at the end of the connection. The system is asked: the runtime may not have
/// looked at its sockets for long.
fn peek(socket: &TcpStream) -> std::io::Result<usize> {
    SockRef::from(socket).peek(&mut [MaybeUninit::uninit()])
}

impl Socket {
    fn poll_read(&mut self, context: &mut Context<'_>, out: &mut [u8]) -> Poll<std::io::Result<usize>> {
        let mut out = ReadBuf::new(out);
        ready!(match self {
            Self::Plain(socket) => Pin::new(socket).poll_read(context, &mut out),
            Self::Tls(socket) => Pin::new(socket).poll_read(context, &mut out),
        })?;
        Poll::Ready(Ok(out.filled().len()))
    }

    fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        match self {
            Self::Plain(socket) => Pin::new(socket).poll_write(context, bytes),
            Self::Tls(socket) => Pin::new(socket).poll_write(context, bytes),
        }
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match self {
            Self::Plain(socket) => Pin::new(socket).poll_flush(context),
            Self::Tls(socket) => Pin::new(socket).poll_flush(context),
        }
    }
}

impl Window {
    fn unread(&self) -> &[u8] {
        self.bytes.get(self.begin..self.end).unwrap_or_default()
    }

    fn consume(&mut self, count: usize) {
        self.begin = self.end.min(self.begin + count);
        if self.begin == self.end {
            self.clear();
        }
    }

    fn clear(&mut self) {
        (self.begin, self.end) = (0, 0);
    }

    /// The unused part after the used one, of `least` bytes or more.
    fn room(&mut self, least: usize) -> &mut [u8] {
        if self.bytes.len() - self.end < least {
            self.bytes.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
            if self.bytes.len() - self.end < least {
                let length = (self.end + least).max(BUFFER).max(self.bytes.len() * 2);
                self.bytes.resize(length, 0);
            }
        }
        self.bytes.get_mut(self.end..).unwrap_or_default()
    }

    fn append(&mut self, more: &[u8]) {
        if let Some(room) = self.room(more.len()).get_mut(..more.len()) {
            room.copy_from_slice(more);
            self.end += more.len();
        }
    }
}

/// Blocks as they are.
struct Plain<'a>(&'a mut Transport);

impl BlockSource for Plain<'_> {
    fn buffered(&self) -> &[u8] {
        self.0.incoming.unread()
    }

    fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<Result<usize>> {
        match self.0.incoming.unread().len() {
            0 => self.0.poll_more(context),
            available => Poll::Ready(Ok(available)),
        }
    }

    fn consume(&mut self, count: usize) {
        self.0.incoming.consume(count);
    }

    fn poll_read(&mut self, context: &mut Context<'_>, out: &mut [u8]) -> Poll<Result<usize>> {
        if self.0.chunks.is_none() {
            return self.0.poll_socket(context, out);
        }
        poll_copy(self, context, out)
    }
}

/// Blocks in frames.
struct Framed<'a>(&'a mut Transport);

impl Framed<'_> {
    /// Waits for a whole frame in the buffer. `None` at the end of the data.
    fn poll_frame(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<FrameHeader>>> {
        loop {
            let unread = self.0.incoming.unread();
            let missing = match unread.first_chunk() {
                None => FrameHeader::SIZE - unread.len(),
                Some(header) => {
                    let header = FrameHeader::decode(header, self.0.frames.offset)?;
                    let length = FrameHeader::SIZE + header.compressed();
                    match length.checked_sub(unread.len()) {
                        None | Some(0) => return Poll::Ready(Ok(Some(header))),
                        Some(missing) => missing,
                    }
                }
            };
            let is_between = unread.is_empty();
            // Room for the rest at once: the buffer does not grow by doubling. Of a long frame as much as has come, so that a length alone
            // takes no memory.
            let come = self.0.incoming.unread().len();
            self.0.incoming.room(missing.min(come.max(FRAME_ROOM)));
            match ready!(self.0.poll_more(context))? {
                0 if is_between => return Poll::Ready(Ok(None)),
                0 => {
                    return Poll::Ready(Err(Error::Truncated {
                        what: "a frame",
                        offset: self.0.frames.offset,
                    }));
                }
                _ => {}
            }
        }
    }

    fn decompress(&mut self, header: &FrameHeader, out: &mut [u8]) -> Result<()> {
        let Transport { incoming, frames, .. } = &mut *self.0;
        frames.decoder.decode(header, incoming.unread(), out, frames.offset)?;
        let length = FrameHeader::SIZE + header.compressed();
        incoming.consume(length);
        frames.offset += length as u64;
        Ok(())
    }
}

impl BlockSource for Framed<'_> {
    fn buffered(&self) -> &[u8] {
        self.0.frames.data.unread()
    }

    fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<Result<usize>> {
        while self.0.frames.data.unread().is_empty() {
            let Some(header) = ready!(self.poll_frame(context))? else {
                return Poll::Ready(Ok(0));
            };
            let mut data = std::mem::take(&mut self.0.frames.data);
            let room = data.room(header.decompressed());
            self.decompress(&header, room.get_mut(..header.decompressed()).unwrap_or_default())?;
            data.end += header.decompressed();
            self.0.frames.data = data;
            self.0.frames.note_size(header.decompressed())?;
        }
        Poll::Ready(Ok(self.0.frames.data.unread().len()))
    }

    fn consume(&mut self, count: usize) {
        self.0.frames.data.consume(count);
    }

    fn poll_read(&mut self, context: &mut Context<'_>, out: &mut [u8]) -> Poll<Result<usize>> {
        if self.0.frames.data.unread().is_empty() {
            let Some(header) = ready!(self.poll_frame(context))? else {
                return Poll::Ready(Ok(0));
            };
            // A frame that fits is decompressed to where it belongs. An empty one would look like the end.
            if let Some(out) = out.get_mut(..header.decompressed())
                && !out.is_empty()
            {
                self.decompress(&header, out)?;
                return Poll::Ready(Ok(out.len()));
            }
        }
        poll_copy(self, context, out)
    }
}

const BUFFER: usize = 1 << 16;
/// Frames of a server have a mebibyte of data.
const FRAME_ROOM: usize = 2 << 20;
const MOST_EMPTY: u32 = 64;
const MIN_ROOM: usize = 1 << 12;
