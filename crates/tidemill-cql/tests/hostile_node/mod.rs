//! Nodes that lie and never come to an end: for the tests of the client here, and of load tests in `tidemill-bench`.

#![allow(dead_code, reason = "each test program uses a part")]

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What a node says to each request, by its opcode and its stream, and what it says for ever behind the first.
#[derive(Clone)]
pub(crate) struct Hostile {
    /// What it does.
    pub(crate) what: &'static str,
    says: Says,
    again: Vec<u8>,
    pause: Duration,
    /// A part of the error that it causes.
    pub(crate) told: &'static str,
    /// Whether it begins to lie when a prepared statement is executed.
    is_good_at_first: bool,
}

type Says = fn(u8, [u8; 2]) -> Vec<u8>;

impl Hostile {
    /// The same node, which lets everybody in and prepares every statement, as one without parameters that answers a column. It tells
    /// nothing of the cluster.
    pub(crate) fn good_at_first(mut self) -> Self {
        self.is_good_at_first = true;
        self
    }

    /// A node whose answer to a statement that is executed is a row, and another, without an end.
    pub(crate) fn without_a_last_page() -> Self {
        let says: Says = |opcode, id| {
            let rows = [b"\0\0\0\x01x", TABLE, b"\0\x0d\0\0\0\x01\0\0\0\x01a"].concat();
            good_until_asked(opcode, id, || result(&[2, 3, 1], &rows))
        };
        Self {
            what: "rows without an end",
            says,
            again: Vec::new(),
            pause: Duration::ZERO,
            told: "",
            is_good_at_first: true,
        }
    }

    fn answer(&self, opcode: u8, id: [u8; 2]) -> Vec<u8> {
        match opcode {
            OPTIONS | STARTUP | REGISTER if self.is_good_at_first => good_until_asked(opcode, id, Vec::new),
            QUERY if self.is_good_at_first => [header(id, 0, 9), vec![0, 0, 0, 0, 0, 3], b"no.".to_vec()].concat(),
            PREPARE if self.is_good_at_first => {
                let parameters = [b"\0\x01x", &[0_i32, 0, 0, 1, 1].map(i32::to_be_bytes).concat()[..]].concat();
                let prepared = result(&[4], &[&parameters, TABLE, b"\0\x0d"].concat());
                good_until_asked(opcode, id, || prepared)
            }
            _ => (self.says)(opcode, id),
        }
    }

    /// Whether it goes on for ever when this is asked.
    fn is_endless(&self, opcode: u8) -> bool {
        !self.again.is_empty() && (!self.is_good_at_first || opcode == EXECUTE)
    }

    /// Starts the node, in the runtime of the caller. `change` makes something else of the bytes of each answer.
    pub(crate) async fn start(self, change: impl Fn(Vec<u8>) -> Vec<u8> + Clone + Send + 'static) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                // A client that goes ends it.
                tokio::spawn(serve(socket, self.clone(), change.clone()));
            }
        });
        address
    }
}

async fn serve(mut socket: TcpStream, hostile: Hostile, change: impl Fn(Vec<u8>) -> Vec<u8>) -> std::io::Result<()> {
    loop {
        let mut header = [0; 9];
        socket.read_exact(&mut header).await?;
        let [_, _, high, low, opcode, length @ ..] = header;
        let mut body = vec![0; u32::from_be_bytes(length) as usize];
        socket.read_exact(&mut body).await?;
        socket.write_all(&change(hostile.answer(opcode, [high, low]))).await?;
        while hostile.is_endless(opcode) {
            socket.write_all(&change(hostile.again.clone())).await?;
            tokio::time::sleep(hostile.pause).await;
        }
    }
}

/// All that are known.
pub(crate) fn kinds() -> Vec<Hostile> {
    let slowly = Duration::from_millis(20);
    let at_once = Duration::ZERO;
    let cases: [(_, Says, _, _, _); 22] = [
        (
            "a length of 4 GiB",
            |_, id| header(id, SUPPORTED, u32::MAX),
            vec![],
            at_once,
            "claims 4294967295 bytes",
        ),
        (
            "a length of the protocol that is not sent",
            |_, id| header(id, SUPPORTED, 256 << 20),
            vec![],
            at_once,
            "",
        ),
        (
            "bytes that drip",
            |_, id| header(id, SUPPORTED, 200 << 20),
            vec![0],
            slowly,
            "",
        ),
        (
            "empty answers without an end",
            |_, id| header(id, SUPPORTED, 0),
            header([0x7f, 0xff], SUPPORTED, 0),
            slowly,
            "",
        ),
        (
            "answers to nobody",
            |_, _| header([0x7f, 0xff], SUPPORTED, 2),
            vec![0, 0],
            slowly,
            "",
        ),
        (
            "a map of 65,535 options without any",
            |_, id| [header(id, SUPPORTED, 2), vec![0xff, 0xff]].concat(),
            vec![],
            at_once,
            "",
        ),
        (
            "another version",
            |_, _| vec![0x85; 64],
            vec![0x85; 64],
            slowly,
            "found 0x85",
        ),
        ("a client's frame", |_, _| vec![0x04; 64], vec![], at_once, "found 0x04"),
        (
            "HTTP",
            |_, _| b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
            vec![],
            at_once,
            "is this the port of CQL?",
        ),
        ("an error without a text", |_, id| header(id, 0, 0), vec![], at_once, ""),
        ("nothing", |_, _| vec![], vec![], at_once, "no answer within"),
        (
            "4 GiB of rows",
            |opcode, id| match opcode {
                OPTIONS | STARTUP | REGISTER => good_until_asked(opcode, id, Vec::new),
                _ => header(id, RESULT, u32::MAX),
            },
            vec![],
            at_once,
            "claims 4294967295 bytes",
        ),
        (
            "rows of 2,147,483,647 columns",
            |opcode, id| good_until_asked(opcode, id, || result(&[2, 1, i32::MAX], TABLE)),
            vec![],
            at_once,
            "columns",
        ),
        (
            "rows of 60,000 columns that are not there",
            |opcode, id| good_until_asked(opcode, id, || result(&[2, 1, 60_000], TABLE)),
            vec![],
            at_once,
            "columns",
        ),
        (
            "2,147,483,647 rows",
            |opcode, id| good_until_asked(opcode, id, || result(&[2, 4, 3, i32::MAX], &[])),
            vec![],
            at_once,
            "",
        ),
        (
            "a list of lists of lists",
            |opcode, id| {
                let types = [TABLE, &b"\0\x20".repeat(1_000_000), b"\0\x09"].concat();
                good_until_asked(opcode, id, || result(&[2, 1, 1], &types))
            },
            vec![],
            at_once,
            "columns",
        ),
        (
            "a class of classes",
            |opcode, id| {
                let class = format!("{}Int32Type{}", "ListType(".repeat(6000), ")".repeat(6000));
                let length = u16::try_from(class.len()).unwrap().to_be_bytes();
                let types = [TABLE, &[0, 0], &length, class.as_bytes()].concat();
                good_until_asked(opcode, id, || result(&[2, 1, 1], &types))
            },
            vec![],
            at_once,
            "columns",
        ),
        (
            // The driver looks for its end for ever.
            "a class that does not end",
            |opcode, id| {
                let types = [TABLE, b"\0\0\0\x0cListType(A(B"].concat();
                good_until_asked(opcode, id, || result(&[2, 1, 1], &types))
            },
            vec![],
            at_once,
            "columns",
        ),
        (
            "a key of 2,147,483,647 columns",
            |opcode, id| {
                let head = [b"\0\x01x", &[1, 1, i32::MAX].map(i32::to_be_bytes).concat()[..]].concat();
                good_until_asked(opcode, id, || result(&[4], &head))
            },
            vec![],
            at_once,
            "",
        ),
        (
            "a value of 2 GiB",
            |opcode, id| {
                let rows = [TABLE, b"\0\x09\0\0\0\x01\x7f\xff\xff\xff"].concat();
                good_until_asked(opcode, id, || result(&[2, 1, 1], &rows))
            },
            vec![],
            at_once,
            "",
        ),
        (
            "pages without an end",
            |opcode, id| {
                let rows = [b"\0\0\0\x01x", TABLE, b"\0\x09\0\0\0\0"].concat();
                good_until_asked(opcode, id, || result(&[2, 3, 1], &rows))
            },
            vec![],
            at_once,
            "",
        ),
        (
            "events without an end",
            |opcode, id| good_until_asked(opcode, id, Vec::new),
            [header([0xff, 0xff], 0x0c, 2), vec![0xff, 0xff]].concat(),
            slowly,
            "",
        ),
    ];
    let kind = |(what, says, again, pause, told)| Hostile {
        what,
        says,
        again,
        pause,
        told,
        is_good_at_first: false,
    };
    cases.map(kind).into()
}

/// A node that is good until it is asked for rows, or to prepare.
fn good_until_asked(opcode: u8, id: [u8; 2], says: impl FnOnce() -> Vec<u8>) -> Vec<u8> {
    match opcode {
        OPTIONS => [header(id, SUPPORTED, 2), vec![0, 0]].concat(),
        STARTUP | REGISTER => header(id, READY, 0),
        _ => {
            let body = says();
            [header(id, RESULT, u32::try_from(body.len()).unwrap()), body].concat()
        }
    }
}

/// A RESULT that begins with these numbers.
fn result(numbers: &[i32], behind: &[u8]) -> Vec<u8> {
    let mut body: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
    body.extend_from_slice(behind);
    body
}

/// The header of an answer: version 4, the stream, an opcode, a length.
fn header([high, low]: [u8; 2], opcode: u8, length: u32) -> Vec<u8> {
    [&[0x84, 0, high, low, opcode][..], &length.to_be_bytes()].concat()
}

const STARTUP: u8 = 0x01;
const READY: u8 = 0x02;
const OPTIONS: u8 = 0x05;
const SUPPORTED: u8 = 0x06;
const RESULT: u8 = 0x08;
const QUERY: u8 = 0x07;
const PREPARE: u8 = 0x09;
const EXECUTE: u8 = 0x0a;
const REGISTER: u8 = 0x0b;
const TABLE: &[u8] = b"\0\x02ks\0\x01t\0\x01a";
