//! What servers can say in answer to a query or an insert that costs memory or time: each ends in an error within a stated time and memory.
//!
//! The tests are one: they look at the memory of the process.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "suite/impatient/mod.rs"]
mod impatient;

use std::{
    fs,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use futures::future::join_all;
use tidemill_clickhouse::{
    Compression, Error, Revision,
    client::Client,
    frame::{FrameEncoder, city_hash_128},
    packet::server::{BlockKind, Progress, ServerPacket, TableColumns},
    wire::put_varint,
};
use tidemill_testkit::{Chance, soak_time};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// What a server says behind the query, and what it says for ever behind that.
#[derive(Clone, Default)]
struct Answer {
    first: Vec<u8>,
    again: Vec<u8>,
}

async fn server(answer: Answer) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(serve(socket, answer.clone()));
        }
    });
    address
}

async fn serve(mut socket: TcpStream, answer: Answer) -> std::io::Result<()> {
    let mut buffer = [0; 4096];
    let _ = socket.read(&mut buffer).await?;
    socket.write_all(&packet(&ServerPacket::Hello(Box::default()))).await?;
    let mut received = Vec::new();
    while !received.windows(3).any(|text| text == b"ASK") {
        match socket.read(&mut buffer).await? {
            0 => return Ok(()),
            count => received.extend_from_slice(&buffer[..count]),
        }
    }
    socket.write_all(&answer.first).await?;
    while !answer.again.is_empty() {
        socket.write_all(&answer.again).await?;
        // Not for as fast as the machine can: the tests share it.
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    while socket.read(&mut buffer).await? > 0 {}
    Ok(())
}

fn packet(packet: &ServerPacket) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet.encode(Revision::NEWEST, false, &mut bytes);
    bytes
}

fn block(kind: BlockKind) -> Vec<u8> {
    let table = String::new();
    packet(&ServerPacket::Block { kind, table })
}

/// A frame of so many bytes of this data.
fn frame(compression: Compression, data: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    FrameEncoder::new(compression)
        .unwrap()
        .encode(data, &mut bytes)
        .unwrap();
    bytes
}

/// A header that claims: no checksum is looked at before all has come.
fn claim(compressed: u32, decompressed: u32) -> Vec<u8> {
    [
        &[0; 16][..],
        &[0x82],
        &compressed.to_le_bytes(),
        &decompressed.to_le_bytes(),
    ]
    .concat()
}

/// A block of one column of this type, and what is behind its head.
fn column(rows: u64, data_type: &str, values: &[u8]) -> Vec<u8> {
    let mut bytes = vec![1, 0, 2, 255, 255, 255, 255, 3, 0, 0];
    put_varint(&mut bytes, 1);
    put_varint(&mut bytes, rows);
    for text in ["n", data_type] {
        put_varint(&mut bytes, text.len() as u64);
        bytes.extend_from_slice(text.as_bytes());
    }
    bytes.push(0);
    bytes.extend_from_slice(values);
    bytes
}

/// A data block in one frame, by LZ4.
fn framed(data: &[u8]) -> Vec<u8> {
    [block(BlockKind::Data), frame(Compression::Lz4, data)].concat()
}

/// In kibibytes: what is in use.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// What servers say, with a part of the error that it causes where a query is answered so.
fn kinds() -> Vec<(&'static str, Answer, &'static str)> {
    let zeros = vec![0; 1 << 20];
    let bomb = |compression| -> Vec<u8> {
        let head = frame(compression, &column(1 << 30, "UInt8", &[]));
        let more = frame(compression, &zeros).repeat(64);
        [block(BlockKind::Data), head, more].concat()
    };
    let strings = {
        // Each is a byte long, and an offset of four bytes in Arrow.
        let head = frame(Compression::Lz4, &column(1 << 24, "String", &[]));
        [block(BlockKind::Data), head, frame(Compression::Lz4, &zeros).repeat(16)].concat()
    };
    let wide = {
        let mut head = vec![1, 0, 2, 255, 255, 255, 255, 3, 0, 0];
        put_varint(&mut head, 65_536);
        put_varint(&mut head, 0);
        let mut name = Vec::new();
        put_varint(&mut name, 1 << 20);
        name.extend(vec![b'x'; 1 << 20]);
        name.extend(b"\x05UInt8\x00");
        let again = frame(Compression::Lz4, &name).repeat(16);
        ([block(BlockKind::Data), frame(Compression::Lz4, &head)].concat(), again)
    };
    let progress = packet(&ServerPacket::Progress(Progress::default()));
    let once = |first: Vec<u8>| Answer {
        first,
        again: Vec::new(),
    };
    let ever = |first: Vec<u8>, again: Vec<u8>| Answer { first, again };
    let table_columns = packet(&ServerPacket::TableColumns(TableColumns {
        table: "t".repeat(1000),
        columns: "c UInt8".repeat(1000),
    }));
    // All but the number of the packet is in a frame.
    let table_columns = [&table_columns[..1], &frame(Compression::Lz4, &table_columns[1..])].concat();
    let empty = column(0, "UInt8", &[]);
    vec![
        ("a bomb of LZ4", once(bomb(Compression::Lz4)), "memory of a block"),
        ("a bomb of ZSTD", once(bomb(Compression::Zstd(3))), "memory of a block"),
        ("many short strings", once(strings), "memory of a block"),
        (
            "names of columns without an end",
            ever(wide.0, wide.1),
            "memory of a block",
        ),
        (
            "a frame of 64 MiB that does not come",
            once([block(BlockKind::Data), claim(60 << 20, 60 << 20)].concat()),
            "took longer than",
        ),
        (
            "frames without data",
            ever(block(BlockKind::Data), frame_without_data().repeat(100)),
            "frames without data",
        ),
        (
            "blocks without rows",
            ever(framed(&empty), framed(&empty).repeat(50)),
            "the query took longer",
        ),
        (
            "logs without rows",
            ever(
                framed(&empty),
                [block(BlockKind::Log), frame(Compression::Lz4, &empty)].concat(),
            ),
            "took longer",
        ),
        (
            "totals without an end",
            ever(
                framed(&empty),
                [block(BlockKind::Totals), frame(Compression::Lz4, &empty)].concat(),
            ),
            "took longer",
        ),
        (
            "columns of another table each time",
            ever(vec![], table_columns),
            "took longer",
        ),
        (
            "time zones without an end",
            ever(
                vec![],
                packet(&ServerPacket::TimezoneUpdate("Europe/../../etc/passwd".repeat(9))),
            ),
            "took longer",
        ),
        (
            "a list of 2^62 lists",
            once(framed(&column(1, "Array(Array(UInt8))", &(1_u64 << 62).to_le_bytes()))),
            "more than the limit",
        ),
        (
            "a dictionary of 2^40 words",
            once(framed(&column(
                1,
                "LowCardinality(String)",
                &[1_u64, 0x600, 1 << 40].map(u64::to_le_bytes).concat(),
            ))),
            "dictionary",
        ),
        (
            "a type of 2^30 letters",
            once(framed(
                &[
                    &[1, 0, 2, 255, 255, 255, 255, 3, 0, 0, 1, 1, 1, b'n'][..],
                    &[0x80, 0x80, 0x80, 0x80, 4],
                ]
                .concat(),
            )),
            "more than the limit",
        ),
        (
            "a tuple of tuples",
            once(framed(&column(1, &"Tuple(".repeat(9_000), &[]))),
            "nest too deeply",
        ),
        (
            "progress, then nothing",
            once(progress.repeat(1000)),
            "took longer than",
        ),
    ]
}

/// How long a statement may take.
const DEADLINE: Duration = Duration::from_millis(150);

/// A client of a server that answers so, which takes 8 MiB for a block at most.
async fn client(answer: Answer) -> Result<Client, Error> {
    let mut options = impatient::options(server(answer).await, Duration::from_secs(5), Duration::from_millis(120));
    options.set("block_limit", &(8_u64 << 20).to_string())?;
    Client::with_options(options).await
}

/// What comes of a query, or of an insert of a row.
async fn ask(client: &Client, inserts: bool) -> Result<(), Error> {
    if !inserts {
        return client.query("ASK").deadline(DEADLINE).execute().await.map(drop);
    }
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    let batch = RecordBatch::try_from_iter([("n", text)]).unwrap();
    let mut insert = client.insert("ASK").deadline(DEADLINE).await?;
    insert.write(&batch).await?;
    insert.finish().await.map(drop)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_servers_say_ends_in_time_and_in_little_memory() {
    for (what, answer, expected) in kinds() {
        let client = client(answer).await.unwrap();
        for inserts in [false, true] {
            let (begin, before) = (Instant::now(), memory());
            let error = ask(&client, inserts).await.expect_err(what).to_string();
            let (took, more) = (begin.elapsed(), memory().saturating_sub(before));
            assert!(
                took < DEADLINE + Duration::from_millis(1500),
                "{what}: {error} after {took:?}"
            );
            assert!(more < 48 << 10, "{what}, inserts: {inserts}: {more} KiB more; {error}");
            assert!(inserts || error.contains(expected), "{what}: {error}");
        }
    }
    lies_by_chance().await;
}

/// The same, cut and changed by chance, some at a time, until the time is over.
async fn lies_by_chance() {
    const AT_ONCE: usize = 4;
    let mut chance = Chance::new("servers that lie");
    let kinds = kinds();
    let (start, before) = (Instant::now(), memory());
    let mut asked = 0;
    while start.elapsed() < soak_time(Duration::from_millis(500)) {
        let lies = (0..AT_ONCE).map(|_| {
            let (what, answer, _) = &kinds[chance.below(kinds.len())];
            let answer = Answer {
                first: chance.damaged(answer.first.clone()),
                again: chance.damaged(answer.again.clone()),
            };
            let inserts = chance.below(2) == 0;
            async move {
                let client = client(answer).await.unwrap();
                let begin = Instant::now();
                // What was cut or changed may be a good answer.
                let answer = ask(&client, inserts).await;
                (what, answer, begin.elapsed())
            }
        });
        for (what, answer, took) in join_all(lies).await {
            let limit = DEADLINE + Duration::from_millis(2500);
            assert!(took < limit, "{what}: {answer:?} after {took:?}");
        }
        asked += AT_ONCE;
        let more = memory().saturating_sub(before);
        assert!(more < 96 << 10, "{more} KiB more after {asked} servers");
    }
    println!("{asked} servers in {:?}", start.elapsed());
}

/// A sound frame of LZ4 that has nothing in it.
fn frame_without_data() -> Vec<u8> {
    // A token of no literals and no match is all of it.
    let mut rest = vec![0x82];
    rest.extend(10_u32.to_le_bytes());
    rest.extend(0_u32.to_le_bytes());
    rest.push(0);
    [&city_hash_128(&rest).to_le_bytes()[..], &rest].concat()
}
