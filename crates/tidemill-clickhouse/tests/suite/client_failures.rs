//! The client against servers that break, go away, or mean harm.

use std::{
    env,
    net::SocketAddr,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt64Array, cast::AsArray, types::UInt8Type};
use tidemill_clickhouse::{
    Block, BlockEncoder, Compression, Error, Revision, ServerException,
    client::{CancelHandle, Client, Options},
    frame::{FrameEncoder, FrameHeader},
    packet::server::{BlockKind, Progress, ServerHello, ServerPacket},
    wire::put_varint,
};
use tidemill_testkit::ClickHouse;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
};

fn options(server: SocketAddr) -> Options {
    crate::impatient::options(server, Duration::from_secs(2), Duration::from_millis(400))
}

/// What a server says behind its hello, over and over if asked to, and then nothing more.
struct Script {
    answer: Vec<u8>,
    repeats: bool,
    /// The time between two bytes.
    pause: Option<Duration>,
    closes: bool,
    /// Reads nothing more.
    is_deaf: bool,
    /// How many queries came.
    asked: AtomicUsize,
}

impl Script {
    fn once(answer: Vec<u8>) -> Self {
        Self {
            answer,
            repeats: false,
            pause: None,
            closes: false,
            is_deaf: false,
            asked: AtomicUsize::new(0),
        }
    }
}

/// A server that says hello, waits for a query, and follows the script.
async fn scripted(script: impl Into<Arc<Script>>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let script = script.into();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(follow(socket, Arc::clone(&script)));
        }
    });
    address
}

async fn follow(mut socket: TcpStream, script: Arc<Script>) {
    let mut received = [0; 4096];
    let _ = socket.read(&mut received).await;
    let mut hello = Vec::new();
    ServerPacket::Hello(Box::default()).encode(Revision::NEWEST, false, &mut hello);
    let _ = socket.write_all(&hello).await;
    // The addendum, perhaps with the query in one piece.
    let mut all = Vec::new();
    while !all.windows(3).any(|text| text == b"ASK") {
        match socket.read(&mut received).await {
            Ok(count @ 1..) => all.extend_from_slice(&received[..count]),
            _ => return,
        }
    }
    script.asked.fetch_add(1, Ordering::Relaxed);
    loop {
        match script.pause {
            Some(pause) => {
                for byte in &script.answer {
                    if socket.write_all(&[*byte]).await.is_err() {
                        return;
                    }
                    tokio::time::sleep(pause).await;
                }
            }
            None => {
                if socket.write_all(&script.answer).await.is_err() {
                    return;
                }
            }
        }
        if !script.repeats {
            break;
        }
    }
    if script.is_deaf {
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
    if !script.closes {
        while matches!(socket.read(&mut received).await, Ok(1..)) {}
    }
}

fn packet(packet: &ServerPacket) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet.encode(Revision::NEWEST, false, &mut bytes);
    bytes
}

fn data() -> Vec<u8> {
    packet(&ServerPacket::Block {
        kind: BlockKind::Data,
        table: String::new(),
    })
}

async fn fails(script: Script, deadline: Option<Duration>) -> Error {
    let client = Client::with_options(options(scripted(script).await))
        .await
        .expect("a hello");
    let mut request = client.query("ASK");
    if let Some(deadline) = deadline {
        request = request.deadline(deadline);
    }
    let begin = Instant::now();
    let error = request.execute().await.expect_err("no sound answer");
    assert!(
        begin.elapsed() < Duration::from_secs(3),
        "{error:?} after {:?}",
        begin.elapsed()
    );
    error
}

#[tokio::test]
async fn a_hostile_server_ends_in_a_clear_error() {
    // Silence.
    let error = fails(Script::once(Vec::new()), None).await;
    assert!(
        matches!(
            error,
            Error::Timeout {
                action: "read from the server",
                ..
            }
        ),
        "{error:?}"
    );

    // Silence where there is a deadline: the server does not stop either.
    let error = fails(Script::once(Vec::new()), Some(Duration::from_millis(100))).await;
    assert!(matches!(error, Error::Timeout { .. }), "{error:?}");

    // A packet, and a block, that come a byte at a time and do not end: no silence is as long as the limit.
    let mut block = data();
    let numbers: ArrayRef = Arc::new(UInt64Array::from(vec![7; 1000]));
    let numbers = Block::new(RecordBatch::try_from_iter([("n", numbers)]).unwrap()).unwrap();
    BlockEncoder::default()
        .encode(&numbers, Revision::NEWEST, &mut block)
        .unwrap();
    let exception = packet(&ServerPacket::Exception(Box::new(ServerException {
        code: 1,
        name: "DB::Exception".to_owned(),
        message: "ebb ".repeat(1000),
        stack_trace: String::new(),
        nested: None,
    })));
    for answer in [block, exception] {
        let script = Script {
            pause: Some(Duration::from_millis(90)),
            ..Script::once(answer)
        };
        let error = fails(script, None).await;
        assert!(
            matches!(
                error,
                Error::Timeout {
                    action: "read from the server",
                    ..
                }
            ),
            "{error:?}"
        );
    }

    // Endless progress, and a byte of it at a time: only a deadline ends them.
    let progress = packet(&ServerPacket::Progress(Progress::default()));
    for pause in [None, Some(Duration::from_millis(20))] {
        let script = Script {
            repeats: true,
            pause,
            ..Script::once(progress.clone())
        };
        let error = fails(script, Some(Duration::from_millis(300))).await;
        assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
    }

    // The end of the connection instead of the end of the stream, between packets and in one.
    for answer in [progress.clone(), Vec::new(), data()] {
        let script = Script {
            closes: true,
            ..Script::once(answer)
        };
        let error = fails(script, None).await;
        assert!(
            matches!(error, Error::Closed { .. } | Error::Truncated { .. } | Error::Io { .. }),
            "{error:?}"
        );
    }

    // Packets that there are not, or not here.
    for answer in [vec![0x7f], vec![0xff; 11], packet(&ServerPacket::Pong)] {
        let error = fails(Script::once(answer), None).await;
        assert!(matches!(error, Error::Protocol { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn only_what_changes_nothing_is_asked_twice() {
    for (sql, times) in [
        ("SELECT ASK", 2),
        (" with x AS (SELECT 1) SELECT ASK", 2),
        ("WITH x AS (SELECT 1) INSERT INTO ASK SELECT * FROM x", 1),
        ("with x as (select 1) insert into ASK select * from x", 1),
        ("INSERT INTO ASK SELECT 1", 1),
        ("SELECTASK", 1),
        ("ALTER TABLE ASK DELETE WHERE 1", 1),
    ] {
        let script = Arc::new(Script {
            closes: true,
            ..Script::once(Vec::new())
        });
        let client = Client::with_options(options(scripted(Arc::clone(&script)).await))
            .await
            .unwrap();
        let error = client.query(sql).execute().await.expect_err("it closes");
        assert!(
            matches!(error, Error::Closed { .. } | Error::Io { .. }),
            "{sql}: {error:?}"
        );
        assert_eq!(script.asked.load(Ordering::Relaxed), times, "{sql}");
    }
}

/// What a server answers to an insert: its columns, which are one text.
fn sample() -> Vec<u8> {
    let sample: ArrayRef = Arc::new(StringArray::from(Vec::<&str>::new()));
    let sample = Block::new(RecordBatch::try_from_iter([("text", sample)]).unwrap()).unwrap();
    let mut answer = data();
    BlockEncoder::default()
        .encode(&sample, Revision::NEWEST, &mut answer)
        .unwrap();
    answer
}

fn texts(length: usize) -> RecordBatch {
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(length)]));
    RecordBatch::try_from_iter([("text", text)]).unwrap()
}

#[tokio::test]
async fn an_insert_ends_at_its_deadline_and_by_its_handle() {
    let progress = packet(&ServerPacket::Progress(Progress::default()));
    // Nothing behind the columns, so that the end is waited for; nothing that is sent is read; progress without an end.
    for (is_deaf, endless) in [(false, false), (true, false), (false, true)] {
        for by_handle in [false, true] {
            let what = format!("deaf: {is_deaf}, endless: {endless}, by its handle: {by_handle}");
            let mut answer = sample();
            if endless {
                // A byte a millisecond, the finest that the runtime waits.
                for _ in 0..5_000 {
                    answer.extend_from_slice(&progress);
                }
            }
            let script = Script {
                is_deaf,
                pause: endless.then_some(Duration::from_micros(10)),
                ..Script::once(answer)
            };
            let mut options = options(scripted(script).await);
            options.compression = Compression::None;
            (options.read_timeout, options.write_timeout) = (Duration::from_secs(30), Duration::from_secs(30));
            let client = Client::with_options(options).await.unwrap();
            let handle = CancelHandle::new();
            let mut request = client.insert("ASK").rows_per_block(1).cancelled_by(&handle);
            if !by_handle {
                request = request.deadline(Duration::from_millis(500));
            }
            let begin = Instant::now();
            let mut insert = request.await.unwrap();
            if by_handle {
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(500)).await;
                    handle.cancel();
                });
            }
            let batch = texts(if is_deaf { 4 << 20 } else { 1 });
            let mut written = Ok(());
            for _ in 0..20 {
                written = insert.write(&batch).await;
                if written.is_err() {
                    break;
                }
            }
            let error = match written {
                Ok(()) => insert
                    .finish()
                    .await
                    .map(|summary| summary.rows)
                    .expect_err("no end came"),
                Err(error) => error,
            };
            let elapsed = begin.elapsed();
            assert!(
                (450..3_000).contains(&elapsed.as_millis()),
                "{what}: {error:?} after {elapsed:?}"
            );
            match &error {
                Error::Cancelled => assert!(by_handle, "{what}"),
                Error::Timeout {
                    action: "the query",
                    limit,
                } => assert!(!by_handle && *limit == Duration::from_millis(500), "{what}: {error:?}"),
                _ => panic!("{what}: {error:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_server_that_takes_nothing_is_left_in_time() {
    let script = Script {
        is_deaf: true,
        ..Script::once(sample())
    };
    let mut options = options(scripted(script).await);
    options.compression = Compression::None;
    options.write_timeout = Duration::from_millis(300);
    let client = Client::with_options(options).await.unwrap();
    let mut insert = client.insert("ASK").rows_per_block(1).await.unwrap();
    let batch = texts(4 << 20);
    let begin = Instant::now();
    let mut written = Ok(());
    // More than the system keeps for a socket.
    for _ in 0..20 {
        written = insert.write(&batch).await;
        if written.is_err() {
            break;
        }
    }
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    let action = "write to the server";
    assert!(
        matches!(&written, Err(Error::Timeout { action: found, .. }) if *found == action),
        "{written:?}"
    );
}

#[tokio::test]
async fn hostile_blocks_end_in_a_clear_error() {
    let compressed = |block: &[u8]| {
        let mut bytes = data();
        FrameEncoder::new(Compression::Lz4)
            .unwrap()
            .encode(block, &mut bytes)
            .unwrap();
        bytes
    };
    let info = [1, 0, 2, 255, 255, 255, 255, 3, 0, 0];

    // A frame that was changed, and one that claims gigabytes.
    let mut changed = compressed(&[&info[..], &[0, 0]].concat());
    if let Some(last) = changed.last_mut() {
        *last ^= 1;
    }
    let error = fails(Script::once(changed), None).await;
    assert!(matches!(error, Error::Checksum { .. }), "{error:?}");
    let mut huge = data();
    huge.extend([0; 16]);
    huge.push(0x90);
    huge.extend(u32::MAX.to_le_bytes());
    huge.extend(u32::MAX.to_le_bytes());
    assert_eq!(huge.len() - data().len(), FrameHeader::SIZE);
    let error = fails(Script::once(huge), None).await;
    assert!(matches!(error, Error::Limit { .. }), "{error:?}");

    // More rows than memory, in a frame that is sound.
    let mut block = info.to_vec();
    put_varint(&mut block, 1);
    put_varint(&mut block, (1 << 31) - 1);
    block.extend(b"\x01n\x06UInt64\x00");
    let error = fails(Script::once(compressed(&block)), None).await;
    assert!(matches!(error, Error::Limit { .. }), "{error:?}");

    // Types in one another without an end.
    let mut block = info.to_vec();
    put_varint(&mut block, 1);
    put_varint(&mut block, 1);
    block.extend(b"\x01n");
    put_varint(&mut block, 60_000);
    block.extend(b"Array(".repeat(10_000));
    let error = fails(Script::once(compressed(&block)), None).await;
    assert!(matches!(error, Error::Type { .. }), "{error:?}");

    // A block that begins and does not go on.
    let error = fails(Script::once(compressed(&info[..4])), None).await;
    assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
}

#[tokio::test]
async fn servers_that_do_not_shake_hands_are_left_in_time() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut silent = options(listener.local_addr().unwrap());
    silent.connect_timeout = Duration::from_millis(200);
    let refused = Client::with_options(silent).await.unwrap_err();
    assert!(matches!(refused, Error::Timeout { .. }), "{refused:?}");

    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let refused = Client::with_options(options(free)).await.unwrap_err();
    assert!(
        matches!(
            refused,
            Error::Io {
                action: "connect to the server",
                ..
            }
        ),
        "{refused:?}"
    );
}

/// The hello of a server that is not one: what connecting to it fails with.
async fn greeted(hello: Vec<u8>, pause: Option<Duration>) -> Error {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let _ = socket.read(&mut [0; 1000]).await;
        for byte in hello {
            if socket.write_all(&[byte]).await.is_err() {
                return;
            }
            if let Some(pause) = pause {
                tokio::time::sleep(pause).await;
            }
        }
        while matches!(socket.read(&mut [0; 1000]).await, Ok(1..)) {}
    });
    let mut options = options(address);
    options.connect_timeout = Duration::from_millis(600);
    let begin = Instant::now();
    let error = Client::with_options(options).await.unwrap_err();
    assert!(begin.elapsed() < Duration::from_secs(3), "{error:?}");
    error
}

#[tokio::test]
async fn hostile_hellos_end_in_a_clear_error() {
    let hello = packet(&ServerPacket::Hello(Box::default()));
    // A byte at a time: no byte is late, and all of them together are.
    let error = greeted(hello, Some(Duration::from_millis(300))).await;
    assert!(matches!(error, Error::Timeout { .. }), "{error:?}");

    // A name without an end, and the hello of a web server.
    let mut long = vec![0];
    put_varint(&mut long, 1 << 40);
    for (hello, expected) in [
        (long, "the name of the server is 1099511627776"),
        (b"HTTP/1.0 400 Bad Request\r\n\r\n".to_vec(), "this one answers by HTTP"),
    ] {
        let error = greeted(hello, None).await;
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[tokio::test]
async fn hostile_packets_end_in_a_clear_error() {
    // Texts of an exception that are longer than anything.
    let mut long = vec![2, 1, 0, 0, 0];
    put_varint(&mut long, u64::MAX >> 1);
    let error = fails(Script::once(long), None).await;
    assert!(matches!(error, Error::Limit { .. }), "{error:?}");

    // Causes without an end.
    let mut endless = vec![2];
    endless.extend([1, 0, 0, 0, 0, 0, 0, 1].repeat(100_000));
    let error = fails(Script::once(endless), None).await;
    assert!(matches!(error, Error::Limit { .. }), "{error:?}");

    // More columns, and longer names, than a block can have.
    let info = [1, 0, 2, 255, 255, 255, 255, 3, 0, 0];
    for (numbers, expected) in [
        (&[1 << 40, 1][..], "the number of columns"),
        (&[1, 1 << 40], "the number of rows"),
        (&[1, 1, 1 << 40], "the name of a column"),
    ] {
        let mut block = info.to_vec();
        numbers.iter().for_each(|number| put_varint(&mut block, *number));
        let mut bytes = data();
        FrameEncoder::new(Compression::Lz4)
            .unwrap()
            .encode(&block, &mut bytes)
            .unwrap();
        let error = fails(Script::once(bytes), None).await;
        assert!(matches!(error, Error::Limit { .. }), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

/// Memory is that of a process: the test calls itself.
#[test]
fn a_server_that_logs_without_an_end_does_not_fill_the_memory() {
    const ITSELF: &str = "TIDEMILL_TEST_ENDLESS_LOGS";
    if env::var_os(ITSELF).is_none() {
        let mut itself = Command::new(env::current_exe().unwrap());
        itself.args([
            "--exact",
            "client_failures::a_server_that_logs_without_an_end_does_not_fill_the_memory",
        ]);
        let output = itself.env(ITSELF, "1").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        // A mebibyte of log in each block.
        let text: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(1 << 20)]));
        let block = Block::new(RecordBatch::try_from_iter([("text", text)]).unwrap()).unwrap();
        let mut inside = Vec::new();
        BlockEncoder::default()
            .encode(&block, Revision::NEWEST, &mut inside)
            .unwrap();
        let mut answer = packet(&ServerPacket::Block {
            kind: BlockKind::Log,
            table: String::new(),
        });
        FrameEncoder::new(Compression::Lz4)
            .unwrap()
            .encode(&inside, &mut answer)
            .unwrap();
        let script = Script {
            repeats: true,
            ..Script::once(answer)
        };
        let error = fails(script, Some(Duration::from_millis(1500))).await;
        assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
    });
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    let peak: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(peak < 120 << 10, "{peak} KiB");
}

#[tokio::test]
async fn an_old_hello_is_not_spoken_to() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let hello = ServerHello {
            revision: Revision(50_000),
            ..ServerHello::default()
        };
        let bytes = packet(&ServerPacket::Hello(Box::new(hello)));
        socket.write_all(&bytes).await.unwrap();
        let _ = socket.read(&mut [0; 100]).await;
    });
    let refused = Client::with_options(options(address)).await.unwrap_err();
    assert!(matches!(refused, Error::Unsupported { .. }), "{refused:?}");
}

async fn one(client: &Client) -> Result<u8, Error> {
    let batches = client.query("SELECT 1").collect().await?;
    Ok(batches[0].column(0).as_primitive::<UInt8Type>().value(0))
}

#[tokio::test]
async fn another_server_takes_over_from_one_that_was_killed() {
    let (Some(first), Some(second)) = (ClickHouse::need(), ClickHouse::need()) else {
        return;
    };
    let mut options = options(first.native());
    options.read_timeout = Duration::from_secs(10);
    options.endpoints.push(second.native().to_string().parse().unwrap());
    options.pool_size = 2;
    let client = Client::with_options(options).await.unwrap();
    // Both are connected to, in turn.
    let held = client.query("SELECT number FROM system.numbers").await.unwrap();
    assert_eq!(one(&client).await.unwrap(), 1);
    drop(held);

    let mut running = client.query("SELECT number FROM system.numbers").await.unwrap();
    let mut other = client.query("SELECT number FROM system.numbers").await.unwrap();
    drop(first);
    // The query of the server that was killed fails, and is not taken for one that ended; the other goes on.
    let mut failed = 0;
    for stream in [&mut running, &mut other] {
        let begin = Instant::now();
        loop {
            match stream.next().await {
                Ok(Some(_)) if begin.elapsed() > Duration::from_secs(2) => break,
                Ok(Some(_)) => {}
                Ok(None) => panic!("an endless query ended"),
                Err(_) => {
                    failed += 1;
                    break;
                }
            }
        }
    }
    assert_eq!(failed, 1);
    drop((running, other));
    for _ in 0..10 {
        assert_eq!(one(&client).await.unwrap(), 1);
    }
}

#[tokio::test]
async fn a_server_that_comes_back_is_used_again() {
    let Some(server) = ClickHouse::need() else { return };
    // A port that stays while the server behind it is another one.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (target, behind) = tokio::sync::watch::channel(server.native());
    tokio::spawn(async move {
        while let Ok((mut near, _)) = listener.accept().await {
            let behind = *behind.borrow();
            tokio::spawn(async move {
                if let Ok(mut far) = TcpStream::connect(behind).await {
                    let _ = copy_bidirectional(&mut near, &mut far).await;
                }
            });
        }
    });
    let mut options = options(address);
    options.read_timeout = Duration::from_secs(10);
    let client = Client::with_options(options).await.unwrap();
    assert_eq!(one(&client).await.unwrap(), 1);
    drop(server);
    assert!(one(&client).await.is_err());
    let Some(server) = ClickHouse::need() else { return };
    target.send(server.native()).unwrap();
    assert_eq!(one(&client).await.unwrap(), 1);
}

/// The usual mistake: the port of HTTP, which a native client would wait at.
#[tokio::test]
async fn a_port_of_http_is_told_at_once() {
    let Some(server) = ClickHouse::need() else { return };
    let begun = Instant::now();
    let connected = Client::connect(&format!("clickhouse://{}", server.http())).await;
    let error = connected.map(drop).expect_err("no native port");
    let (error, waited) = (error.to_string(), begun.elapsed());
    assert!(
        error.contains(&server.http().to_string()) && error.contains("answers by HTTP"),
        "{error}"
    );
    assert!(waited < Duration::from_secs(4), "{waited:?}");
}
