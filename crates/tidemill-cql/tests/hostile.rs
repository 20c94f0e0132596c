//! Nodes that lie and never come to an end.
//!
//! The tests are one: they look at the memory of the process.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tidemill_cql::{Client, Options};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What a node says to each request, by its opcode and its stream, and what it says for ever behind the first.
#[derive(Clone)]
struct Hostile {
    says: Says,
    again: Vec<u8>,
    pause: Duration,
}

type Says = fn(u8, [u8; 2]) -> Vec<u8>;

async fn node(hostile: Hostile) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            // A client that goes ends it.
            tokio::spawn(serve(socket, hostile.clone()));
        }
    });
    address
}

async fn serve(mut socket: TcpStream, hostile: Hostile) -> std::io::Result<()> {
    loop {
        let mut header = [0; 9];
        socket.read_exact(&mut header).await?;
        let [_, _, high, low, opcode, length @ ..] = header;
        let mut body = vec![0; u32::from_be_bytes(length) as usize];
        socket.read_exact(&mut body).await?;
        socket.write_all(&(hostile.says)(opcode, [high, low])).await?;
        while !hostile.again.is_empty() {
            socket.write_all(&hostile.again).await?;
            tokio::time::sleep(hostile.pause).await;
        }
    }
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

/// In kibibytes: what is in use, or the most that was ever taken, whether it was used or not.
fn memory(which: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(which)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

const STARTUP: u8 = 0x01;
const READY: u8 = 0x02;
const OPTIONS: u8 = 0x05;
const SUPPORTED: u8 = 0x06;
const RESULT: u8 = 0x08;
const REGISTER: u8 = 0x0b;
const TABLE: &[u8] = b"\0\x02ks\0\x01t\0\x01a";

#[tokio::test]
async fn nodes_that_lie_end_in_an_error_in_time_and_in_little_memory() {
    const LIMIT: Duration = Duration::from_millis(400);
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
    for (what, says, again, pause, told) in cases {
        let address = node(Hostile { says, again, pause }).await;
        let (mut options, _) = Options::parse(&format!("cql://ann:secret@{address}/shop")).unwrap();
        options.connect_timeout = LIMIT;
        options.timeout = LIMIT;
        let (begin, before, taken) = (Instant::now(), memory("VmRSS:"), memory("VmPeak:"));
        // The driver bears it when nothing is told of the cluster, and asks for the rows all the same.
        let asked = async { Client::connect(options).await?.tables("shop").await };
        let error = asked.await.expect_err(what);
        let took = begin.elapsed();
        let more = memory("VmRSS:").saturating_sub(before);
        let reserved = memory("VmPeak:").saturating_sub(taken);
        assert!(took < 3 * LIMIT, "{what}: {error} after {took:?}");
        assert!(more < 64 << 10, "{what}: {more} KiB more");
        assert!(reserved < 256 << 10, "{what}: {reserved} KiB reserved");
        assert!(error.to_string().contains(told), "{what}: {error}");
        assert!(!format!("{error} {error:?}").contains("secret"), "{what}: {error:?}");
    }
}
