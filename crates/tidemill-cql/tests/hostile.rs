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

/// What a node says to each request, `{stream}` being the request's own, and what it says for ever behind it.
#[derive(Clone)]
struct Hostile {
    first: fn([u8; 2]) -> Vec<u8>,
    again: Vec<u8>,
    pause: Duration,
}

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
    let mut request = [0; 4096];
    if socket.read(&mut request).await? < 9 {
        return Ok(());
    }
    socket.write_all(&(hostile.first)([request[2], request[3]])).await?;
    loop {
        if hostile.again.is_empty() {
            // Until the client goes.
            if socket.read(&mut request).await? == 0 {
                return Ok(());
            }
        } else {
            socket.write_all(&hostile.again).await?;
            tokio::time::sleep(hostile.pause).await;
        }
    }
}

/// The header of an answer: version 4, the stream, an opcode, a length.
fn header([high, low]: [u8; 2], opcode: u8, length: u32) -> Vec<u8> {
    [&[0x84, 0, high, low, opcode][..], &length.to_be_bytes()].concat()
}

/// In kibibytes.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn nodes_that_lie_end_in_an_error_in_time_and_in_little_memory() {
    const SUPPORTED: u8 = 0x06;
    const LIMIT: Duration = Duration::from_millis(700);
    let slowly = Duration::from_millis(20);
    let at_once = Duration::ZERO;
    for (what, first, again, pause) in [
        (
            "a length of 4 GiB",
            (|id| header(id, SUPPORTED, u32::MAX)) as fn(_) -> _,
            vec![],
            at_once,
        ),
        ("bytes that drip", |id| header(id, SUPPORTED, 1 << 30), vec![0], slowly),
        (
            "empty answers without an end",
            |id| header(id, SUPPORTED, 0),
            header([0x7f, 0xff], SUPPORTED, 0),
            slowly,
        ),
        (
            "answers to nobody",
            |_| header([0x7f, 0xff], SUPPORTED, 2),
            vec![0, 0],
            slowly,
        ),
        (
            "a map of 65,535 options without any",
            |id| [header(id, SUPPORTED, 2), vec![0xff, 0xff]].concat(),
            vec![],
            at_once,
        ),
        ("another version", |_| vec![0x85; 64], vec![0x85; 64], slowly),
        ("a client's frame", |_| vec![0x04; 64], vec![], at_once),
        (
            "HTTP",
            |_| b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
            vec![],
            at_once,
        ),
        ("an error without a text", |id| header(id, 0, 0), vec![], at_once),
        ("nothing", |_| vec![], vec![], at_once),
    ] {
        let address = node(Hostile { first, again, pause }).await;
        let (mut options, _) = Options::parse(&format!("cql://ann:secret@{address}/shop")).unwrap();
        options.connect_timeout = LIMIT;
        options.timeout = LIMIT;
        let (begin, before) = (Instant::now(), memory());
        let error = Client::connect(options).await.expect_err(what);
        let (took, more) = (begin.elapsed(), memory().saturating_sub(before));
        assert!(took < Duration::from_secs(3), "{what}: {error} after {took:?}");
        assert!(more < 64 << 10, "{what}: {more} KiB more");
        assert!(!format!("{error} {error:?}").contains("secret"), "{what}: {error:?}");
    }
}
