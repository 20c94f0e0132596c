//! The client against servers that never come to an end.
//!
//! The tests are one: they look at the memory of the process.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test fails")]

#[path = "suite/impatient/mod.rs"]
mod impatient;

use std::{
    fs,
    net::SocketAddr,
    time::{Duration, Instant},
};

use tidemill_clickhouse::{
    Error, Revision,
    client::{CancelHandle, Client, Options},
    packet::server::{Progress, ServerHello, ServerPacket},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// What a server says for ever, behind what it says first, when `received` ends so.
#[derive(Clone)]
struct Endless {
    until: &'static [u8],
    first: Vec<u8>,
    again: Vec<u8>,
    /// The time between two of them.
    pause: Duration,
}

async fn server(hello: Vec<u8>, endless: Endless) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            // A client that goes ends it.
            tokio::spawn(serve(socket, hello.clone(), endless.clone()));
        }
    });
    address
}

async fn serve(mut socket: TcpStream, hello: Vec<u8>, endless: Endless) -> std::io::Result<()> {
    let mut buffer = [0; 4096];
    let _ = socket.read(&mut buffer).await?;
    socket.write_all(&hello).await?;
    let mut received = Vec::new();
    while !received
        .windows(endless.until.len().max(1))
        .any(|some| some == endless.until)
        && !endless.until.is_empty()
    {
        match socket.read(&mut buffer).await? {
            0 => return Ok(()),
            count => received.extend_from_slice(&buffer[..count]),
        }
    }
    socket.write_all(&endless.first).await?;
    loop {
        socket.write_all(&endless.again).await?;
        if !endless.pause.is_zero() {
            tokio::time::sleep(endless.pause).await;
        }
    }
}

fn packet(packet: &ServerPacket) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet.encode(Revision::NEWEST, false, &mut bytes);
    bytes
}

/// What is sent again and again: at once, and slowly.
fn progress(until: &'static [u8]) -> [Endless; 2] {
    let progress = packet(&ServerPacket::Progress(Progress {
        rows: 1,
        ..Progress::default()
    }));
    let endless = |again, pause| Endless {
        until,
        first: Vec::new(),
        again,
        pause: Duration::from_millis(pause),
    };
    [endless(progress.repeat(5000), 0), endless(progress, 20)]
}

fn options(server: SocketAddr) -> Options {
    impatient::options(server, Duration::from_millis(500), Duration::from_millis(400))
}

fn assert_in_time(begin: Instant, error: &Error, expected: &str) {
    let took = begin.elapsed();
    let is_timeout = matches!(error, Error::Timeout { action, .. } if *action == expected);
    assert!(is_timeout, "{error:?} instead of: {expected}");
    assert!(
        took > Duration::from_millis(300) && took < Duration::from_secs(2),
        "{error} after {took:?}"
    );
}

/// In kibibytes.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn calls_that_a_server_never_answers_end_in_time_and_in_little_memory() {
    let hello = packet(&ServerPacket::Hello(Box::default()));
    // The addendum ends with an 8, and a ping is a 4.
    for endless in progress(b"\x08\x04") {
        let client = Client::with_options(options(server(hello.clone(), endless).await))
            .await
            .unwrap();
        for _ in 0..2 {
            let begin = Instant::now();
            let error = client.ping().await.expect_err("no pong");
            assert_in_time(begin, &error, "answer a ping");
        }
    }
    for endless in progress(b"SET ROLE") {
        let client = Client::with_options(options(server(hello.clone(), endless).await))
            .await
            .unwrap();
        let begin = Instant::now();
        let error = client
            .query("SELECT 1")
            .role("r")
            .execute()
            .await
            .expect_err("no roles");
        assert_in_time(begin, &error, "set the roles of a session");
    }

    // A hello that never ends: a setting and another.
    let mut begun = packet(&ServerPacket::Hello(Box::new(ServerHello {
        settings: vec![("s".to_owned(), 0, "v".repeat(100))],
        ..ServerHello::default()
    })));
    // The end of the settings, and two versions.
    begun.truncate(begun.len() - 3);
    let setting = [b"\x01s\x00\x64".to_vec(), vec![b'v'; 100]].concat();
    for pause in [0, 20] {
        let endless = Endless {
            until: b"",
            first: Vec::new(),
            again: setting.repeat(if pause == 0 { 500 } else { 1 }),
            pause: Duration::from_millis(pause),
        };
        let begin = Instant::now();
        let error = Client::with_options(options(server(begun.clone(), endless).await))
            .await
            .expect_err("no hello");
        match error {
            Error::Limit {
                what: "the number of settings",
                ..
            } if pause == 0 => {}
            error => assert_in_time(begin, &error, "connect to the server"),
        }
        assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    }

    // A query may take as long as it takes, in little memory: its deadline or its handle end it.
    for endless in progress(b"ASK") {
        let client = Client::with_options(options(server(hello.clone(), endless).await))
            .await
            .unwrap();
        let begin = Instant::now();
        let error = client.query("ASK").deadline(Duration::from_millis(500)).execute().await;
        assert_in_time(begin, &error.expect_err("no end"), "the query");

        // One for all statements.
        let mut options = client.options().clone();
        options.deadline = Some(Duration::from_millis(500));
        let hurried = Client::with_options(options).await.unwrap();
        let begin = Instant::now();
        let error = hurried.execute("ASK").await.expect_err("no end");
        assert_in_time(begin, &error, "the query");
        let begin = Instant::now();
        let error = hurried.insert("ASK").await.expect_err("no columns");
        assert_in_time(begin, &error, "the query");

        let handle = CancelHandle::new();
        let query = tokio::spawn(client.query("ASK").cancelled_by(&handle).execute());
        tokio::time::sleep(Duration::from_millis(500)).await;
        let before = memory();
        // Twice as long as silence may be.
        tokio::time::sleep(Duration::from_millis(900)).await;
        assert!(!query.is_finished());
        let after = memory();
        assert!(after < before + 1024, "{before} KiB, and then {after}");
        handle.cancel();
        let error = query.await.unwrap().expect_err("it was cancelled");
        assert!(matches!(error, Error::Cancelled), "{error:?}");
    }
}
