//! A Cassandra that stores nothing: what a client costs, and what it does when the server fails.

use std::{
    collections::HashSet,
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use crate::error::ServerError;

/// An endpoint before a real Cassandra. It relays every frame but EXECUTE of the statements that were prepared with a certain text in
/// them: those it answers itself, with VOID unless told otherwise, for some 0.1 µs each.
///
/// Frames are those of version 4 of the protocol, neither compressed nor encrypted.
#[derive(Debug)]
pub struct NoStorage {
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// What a [`NoStorage`] says to the statements that it answers itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reply {
    /// RESULT of the kind VOID.
    #[default]
    Void,
    /// Nothing, ever.
    Silence,
    /// ERROR with this code and no more than a message: section 9 of the protocol has the codes.
    Error(i32),
}

#[derive(Debug)]
struct Shared {
    upstream: SocketAddr,
    text: Vec<u8>,
    reply: Mutex<Reply>,
    is_down: AtomicBool,
    is_over: AtomicBool,
    answered: AtomicU64,
    /// Of these, how many came over connections that name no driver.
    answered_past_driver: AtomicU64,
    /// The ids of the statements that are answered here.
    statements: Mutex<HashSet<Vec<u8>>>,
    /// Both ends of all connections.
    sockets: Mutex<Vec<TcpStream>>,
}

/// A connection of a client, as seen by the two threads that serve it.
struct Client {
    shared: Arc<Shared>,
    /// Where answers go: those of the server and those of this endpoint.
    socket: Mutex<TcpStream>,
    /// Whether its STARTUP named a driver.
    is_driver: AtomicBool,
    /// Streams on which a PREPARE is under way that is one of ours.
    preparing: Mutex<HashSet<[u8; 2]>>,
}

impl NoStorage {
    /// Listens on a free port. Statements whose text has `text` in it are answered here, all else by the Cassandra at `upstream`.
    ///
    /// # Errors
    ///
    /// [`ServerError::Io`] when there is no port.
    pub fn start(upstream: SocketAddr, text: &str) -> Result<Self, ServerError> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(ServerError::io("listening"))?;
        let address = listener.local_addr().map_err(ServerError::io("listening"))?;
        let shared = Arc::new(Shared {
            upstream,
            text: text.as_bytes().to_vec(),
            reply: Mutex::default(),
            is_down: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            answered: AtomicU64::new(0),
            answered_past_driver: AtomicU64::new(0),
            statements: Mutex::default(),
            sockets: Mutex::default(),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for socket in listener.incoming() {
                if accepting.is_over.load(Ordering::Relaxed) {
                    return;
                }
                // A client that is gone before it is served, or comes while this is down, sees its connection closed.
                if let Ok(socket) = socket
                    && !accepting.is_down.load(Ordering::Relaxed)
                {
                    let _ = serve(&accepting, socket);
                }
            }
        });
        Ok(Self { address, shared })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many requests it has answered itself, or kept silent to.
    #[must_use]
    pub fn answered(&self) -> u64 {
        self.shared.answered.load(Ordering::Relaxed)
    }

    /// How many of [`NoStorage::answered`] came over connections whose STARTUP names no driver (`DRIVER_NAME`), as those of load
    /// tests past the driver are.
    #[must_use]
    pub fn answered_past_driver(&self) -> u64 {
        self.shared.answered_past_driver.load(Ordering::Relaxed)
    }

    /// What it says from now on.
    pub fn reply(&self, reply: Reply) {
        *lock(&self.shared.reply) = reply;
    }

    /// Breaks all connections, and every new one until [`NoStorage::come_back`].
    pub fn go_down(&self) {
        self.shared.is_down.store(true, Ordering::Relaxed);
        self.shared.break_all();
    }

    /// Serves new connections again.
    pub fn come_back(&self) {
        self.shared.is_down.store(false, Ordering::Relaxed);
    }
}

impl Drop for NoStorage {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts.
        drop(TcpStream::connect(self.address));
        self.shared.break_all();
    }
}

impl Shared {
    fn break_all(&self) {
        for socket in lock(&self.sockets).drain(..) {
            // It may be closed already.
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the two threads of a connection.
fn serve(shared: &Arc<Shared>, socket: TcpStream) -> io::Result<()> {
    let upstream = TcpStream::connect(shared.upstream)?;
    for socket in [&socket, &upstream] {
        socket.set_nodelay(true)?;
        lock(&shared.sockets).push(socket.try_clone()?);
    }
    let client = Arc::new(Client {
        shared: Arc::clone(shared),
        socket: Mutex::new(socket.try_clone()?),
        is_driver: AtomicBool::new(false),
        preparing: Mutex::default(),
    });
    let (back, server) = (Arc::clone(&client), upstream.try_clone()?);
    // Each of them ends when a connection does, and takes the other with it.
    thread::spawn(move || {
        let _ = frames(server, |frames| back.answers(frames));
        let _ = lock(&back.socket).shutdown(Shutdown::Both);
    });
    thread::spawn(move || {
        let _ = frames(socket, |frames| client.requests(frames, &upstream));
        let _ = upstream.shutdown(Shutdown::Both);
    });
    Ok(())
}

/// Reads frames until the connection ends, and gives `take` as many as came at once.
fn frames(mut socket: TcpStream, mut take: impl FnMut(&[&[u8]]) -> io::Result<()>) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 18];
    let mut filled = 0;
    loop {
        if filled == buffer.len() {
            buffer.resize(2 * filled, 0);
        }
        let read = socket.read(&mut buffer[filled..])?;
        if read == 0 {
            return Ok(());
        }
        filled += read;
        let mut whole = Vec::new();
        let mut rest = &buffer[..filled];
        while let Some(length) = rest.get(5..HEADER).and_then(|length| length.try_into().ok()) {
            let end = HEADER + u32::from_be_bytes(length) as usize;
            let Some((frame, behind)) = rest.split_at_checked(end) else {
                break;
            };
            whole.push(frame);
            rest = behind;
        }
        let left = rest.len();
        take(&whole)?;
        buffer.copy_within(filled - left..filled, 0);
        filled = left;
    }
}

impl Client {
    fn requests(&self, frames: &[&[u8]], mut upstream: &TcpStream) -> io::Result<()> {
        let reply = *lock(&self.shared.reply);
        let mut replies = Vec::new();
        let mut count = 0;
        {
            let statements = lock(&self.shared.statements);
            for frame in frames {
                let (stream, body) = ([frame[2], frame[3]], &frame[HEADER..]);
                match frame[4] {
                    EXECUTE if short_bytes(body).is_some_and(|id| statements.contains(id)) => {
                        count += 1;
                        answer(reply, stream, &mut replies);
                    }
                    opcode => {
                        if opcode == STARTUP && body.windows(DRIVER_NAME.len()).any(|part| part == DRIVER_NAME) {
                            self.is_driver.store(true, Ordering::Relaxed);
                        }
                        let text = &self.shared.text;
                        if opcode == PREPARE && body.windows(text.len()).any(|part| part == text) {
                            lock(&self.preparing).insert(stream);
                        }
                        upstream.write_all(frame)?;
                    }
                }
            }
        }
        self.shared.answered.fetch_add(count, Ordering::Relaxed);
        if !self.is_driver.load(Ordering::Relaxed) {
            self.shared.answered_past_driver.fetch_add(count, Ordering::Relaxed);
        }
        lock(&self.socket).write_all(&replies)
    }

    fn answers(&self, frames: &[&[u8]]) -> io::Result<()> {
        for frame in frames {
            let (stream, body) = ([frame[2], frame[3]], &frame[HEADER..]);
            if lock(&self.preparing).remove(&stream)
                && let Some(id) = body.strip_prefix(&PREPARED).and_then(short_bytes)
            {
                lock(&self.shared.statements).insert(id.to_vec());
            }
            lock(&self.socket).write_all(frame)?;
        }
        Ok(())
    }
}

fn short_bytes(body: &[u8]) -> Option<&[u8]> {
    let (length, rest) = body.split_first_chunk()?;
    rest.get(..usize::from(u16::from_be_bytes(*length)))
}

/// The frame of an answer: sections 2 (header), 4.2.5 (RESULT) and 4.2.1 (ERROR) of the protocol.
fn answer(reply: Reply, [high, low]: [u8; 2], replies: &mut Vec<u8>) {
    match reply {
        Reply::Silence => {}
        Reply::Void => replies.extend([0x84, 0, high, low, RESULT, 0, 0, 0, 4, 0, 0, 0, 1]),
        Reply::Error(code) => {
            const MESSAGE: &[u8; 6] = b"\x00\x04told";
            replies.extend([0x84, 0, high, low, ERROR, 0, 0, 0, 10]);
            replies.extend(code.to_be_bytes());
            replies.extend(MESSAGE);
        }
    }
}

const HEADER: usize = 9;
const ERROR: u8 = 0x00;
const STARTUP: u8 = 0x01;
const RESULT: u8 = 0x08;
const PREPARE: u8 = 0x09;
const EXECUTE: u8 = 0x0a;
/// The kind of a RESULT that says what was prepared.
const PREPARED: [u8; 4] = [0, 0, 0, 4];
/// The option of STARTUP that drivers name themselves by.
const DRIVER_NAME: &[u8] = b"DRIVER_NAME";
