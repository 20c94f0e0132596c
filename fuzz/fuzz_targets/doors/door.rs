//! `tidemill serve` in this process, over a folder with two tables, and connections to it whose bytes a fuzzer chooses.
//!
//! What holds for every door:
//!
//! - No task of the server panics: a panic of any thread ends the process, as `libfuzzer_sys` has it, except in [`DECODERS`].
//! - A connection ends within [`LONGEST_END`] once its client has nothing more to say, whatever is under way.
//! - Nothing is written outside of the folder.
//! - A client that keeps to the protocol is answered, whatever others have sent before.

mod folder;

use std::future::pending;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::panic;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tidemill_server::{Server, ServerOptions};
use tidemill_sql::SessionOptions;
use tokio::runtime::{Builder, Runtime};

use folder::Folder;

/// A server, which runs as long as the process.
pub(crate) struct Served {
    /// Where the door listens that is tried.
    address: SocketAddr,
    folder: Folder,
    inputs: AtomicU64,
}

/// Lets the server catch the panics of [`DECODERS`].
fn pass_over_known_panics() {
    let ends_the_process = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let is_of_decoder = |file: &str| DECODERS.iter().any(|part| file.contains(part));
        if !panic.location().is_some_and(|place| is_of_decoder(place.file())) {
            ends_the_process(panic);
        }
    }));
}

impl Served {
    /// The server of this process.
    pub(crate) fn behind(door: fn(&Server) -> Option<SocketAddr>) -> &'static Self {
        static SERVED: OnceLock<Served> = OnceLock::new();
        SERVED.get_or_init(|| {
            pass_over_known_panics();
            Self::begin(door)
        })
    }

    fn begin(door: fn(&Server) -> Option<SocketAddr>) -> Self {
        let folder = Folder::new();
        let any_port = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        let options = ServerOptions {
            folders: vec![folder.path().to_owned()],
            // One thread, so that a statement does the same each time.
            session: SessionOptions::default().memory(MEMORY).threads(1),
            postgres: any_port,
            flight: any_port,
            http: any_port,
            ..ServerOptions::default()
        };
        let runtime = Builder::new_multi_thread()
            .enable_all()
            .worker_threads(2)
            .thread_stack_size(STACK)
            .build()
            .expect("threads");
        let server = runtime.block_on(Server::bind(options)).expect("a server");
        let address = door(&server).expect("it listens");
        thread::spawn(move || run(runtime, server));
        Self {
            address,
            folder,
            inputs: AtomicU64::new(0),
        }
    }

    /// A new connection.
    pub(crate) fn connect(&self) -> Line {
        let begun = Instant::now();
        let stream = loop {
            match TcpStream::connect(self.address) {
                Ok(stream) => break stream,
                // The ports of connections that have ended are free again after a second.
                Err(error) if error.kind() == ErrorKind::AddrNotAvailable && begun.elapsed() < LONGEST_END => {
                    thread::sleep(Duration::from_millis(20));
                }
                Err(error) => panic!("nobody is let in: {error}"),
            }
        };
        stream.set_nodelay(true).expect("a socket");
        stream.set_write_timeout(Some(LONGEST_END)).expect("a time above 0");
        Line {
            stream,
            heard: Vec::new(),
        }
    }

    /// Puts the folder right behind an input; before that, `end_work` ends what may still write to it. From time to time it looks whether
    /// a client that keeps to the protocol is answered.
    pub(crate) fn settle(&self, end_work: impl FnOnce(), is_answered: impl Fn(Line) -> bool) {
        if !self.folder.is_clean() {
            end_work();
            self.folder.remake();
        }
        if !self
            .inputs
            .fetch_add(1, Ordering::Relaxed)
            .is_multiple_of(BETWEEN_CHECKS)
        {
            return;
        }
        let begun = Instant::now();
        // What was changed within a tick of the clock was not seen.
        self.folder.remake();
        while !is_answered(self.connect()) {
            assert!(
                begun.elapsed() < LONGEST_END,
                "a client that keeps to the protocol is not answered"
            );
            // A statement that nobody waits for may have the tables yet.
            thread::sleep(Duration::from_millis(50));
            self.folder.remake();
        }
    }
}

fn run(runtime: Runtime, server: Server) {
    let ended = runtime.block_on(server.run(pending()));
    panic!("the server has ended: {ended:?}");
}

/// A connection.
pub(crate) struct Line {
    stream: TcpStream,
    /// What the server has said so far.
    pub(crate) heard: Vec<u8>,
}

/// Why nothing more is heard for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// It is enough.
    Enough,
    /// Nothing came for as long as there was patience.
    Silent,
    /// It is too much: [`MOST_HEARD`].
    Full,
    /// The server has closed the connection.
    Closed,
    /// So it has, while something was on the way to it: what it said last may be lost.
    Reset,
}

/// What a server has said to its end, or until it was given up.
pub(crate) struct Heard {
    pub(crate) bytes: Vec<u8>,
    /// The server has closed the connection by itself, and all is there.
    pub(crate) is_whole: bool,
}

impl Line {
    /// Says something in one piece, or cut into about two, five or sixteen at places that depend on the bytes.
    pub(crate) fn say(&mut self, bytes: &[u8], cuts: u8) {
        let longest = match cuts & 3 {
            0 | 1 => bytes.len(),
            2 => bytes.len() / 2,
            _ => bytes.len() / 8,
        };
        let mut random = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut rest = bytes;
        while !rest.is_empty() {
            let length = match cuts & 3 {
                0 => rest.len(),
                _ => {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let drawn = usize::try_from(random >> 33).expect("31 bits");
                    1 + drawn % longest.max(1)
                }
            };
            let (piece, behind) = rest.split_at(length.min(rest.len()));
            match self.stream.write_all(piece) {
                Ok(()) => {}
                Err(error) if is_timeout(error.kind()) => panic!("the door takes nothing for {LONGEST_END:?}"),
                // The server has heard enough.
                Err(_) => return,
            }
            rest = behind;
            if !rest.is_empty() {
                // So that the pieces come one by one.
                thread::sleep(Duration::from_micros(20));
            }
        }
    }

    /// Listens until it is enough, or nothing has come for a while.
    pub(crate) fn listen(&mut self, patience: Duration, is_enough: impl Fn(&[u8]) -> bool) -> Pause {
        self.stream.set_read_timeout(Some(patience)).expect("a time above 0");
        let mut piece = [0; 1 << 14];
        while self.heard.len() < MOST_HEARD {
            match self.stream.read(&mut piece) {
                Ok(0) => return Pause::Closed,
                Ok(length) => {
                    self.heard.extend_from_slice(&piece[..length]);
                    if is_enough(&self.heard) {
                        return Pause::Enough;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_timeout(error.kind()) => return Pause::Silent,
                Err(_) => return Pause::Reset,
            }
        }
        Pause::Full
    }

    /// Reads until the server closes the connection. After `patience` without a byte, the client closes its side, and the server must end.
    pub(crate) fn end(self, patience: Duration) -> Heard {
        self.end_after(patience, |_| false)
    }

    /// As [`Line::end`]. The client also closes its side as soon as `is_enough` holds.
    pub(crate) fn end_after(mut self, patience: Duration, is_enough: impl Fn(&[u8]) -> bool) -> Heard {
        let pause = match patience.is_zero() {
            true => Pause::Silent,
            false => self.listen(patience, is_enough),
        };
        if matches!(pause, Pause::Silent | Pause::Enough) {
            // It may have closed the connection by now.
            let _ = self.stream.shutdown(Shutdown::Write);
            let begun = Instant::now();
            let pause = self.listen(LONGEST_END, |_| begun.elapsed() > LONGEST_END);
            assert!(
                matches!(pause, Pause::Closed | Pause::Reset | Pause::Full),
                "the door hangs: {LONGEST_END:?} after its client has ended it has said {} bytes and has not closed",
                self.heard.len()
            );
        }
        Heard {
            bytes: self.heard,
            is_whole: pause == Pause::Closed,
        }
    }
}

fn is_timeout(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// Crates that panic on invalid messages. The server catches these panics where it decodes messages of Arrow and of pgwire.
const DECODERS: [&str; 4] = ["/arrow-ipc-", "/arrow-buffer-", "/arrow-data-", "/bytes-"];

/// How long a connection may take to end when its client has ended.
pub(crate) const LONGEST_END: Duration = Duration::from_secs(5);

/// How long a statement may take before its client goes away.
pub(crate) const PATIENCE: Duration = Duration::from_millis(500);

/// How many bytes of an answer are read. Those of a join have no other end.
const MOST_HEARD: usize = 4 << 20;

/// How many inputs there are between two looks at a client that keeps to the protocol.
const BETWEEN_CHECKS: u64 = 256;

/// What sorts, groups and joins of a connection may take.
const MEMORY: usize = 64 << 20;

/// `tidemill serve` has 16 MiB; instrumented, a function takes a multiple.
const STACK: usize = 64 << 20;
