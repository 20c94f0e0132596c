//! The hexdumps of docs/formats/clickhouse-protocol.md, decoded.

use std::{fs, path::Path};

use arrow_array::{cast::AsArray, types::UInt64Type};
use tidemill_clickhouse::{
    Block, BlockDecoder, Revision,
    frame::{FrameDecoder, FrameHeader},
    packet::{
        client::ClientPacket,
        server::{BlockKind, ServerPacket},
    },
    source::SliceSource,
    wire::Reader,
};

/// The bytes of each hexdump in the page.
fn hexdumps() -> Vec<Vec<u8>> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats/clickhouse-protocol.md");
    let page = fs::read_to_string(page).expect("the page");
    let dumps = page.split("```").skip(1).step_by(2);
    let bytes = |line: &str| -> Vec<u8> {
        let (_, line) = line.split_once("  ").expect("an offset");
        let (bytes, _) = line.split_once("|").expect("text");
        let bytes = bytes.split_whitespace();
        bytes
            .map(|byte| u8::from_str_radix(byte, 16).expect("a byte"))
            .collect()
    };
    dumps
        .map(|dump| dump.lines().filter(|line| !line.is_empty()).flat_map(bytes).collect())
        .collect()
}

fn packet(reader: &mut Reader<'_>) -> ServerPacket {
    ServerPacket::decode(reader, SERVER, false).expect("a packet")
}

/// The block in the next frame.
fn block(reader: &mut Reader<'_>) -> Block {
    let frame = reader.rest();
    let header = FrameHeader::decode(&reader.array("a header").expect("a header"), 0).expect("a header");
    reader.bytes(header.compressed(), "a frame").expect("a frame");
    let mut data = vec![0; header.decompressed()];
    FrameDecoder::default()
        .decode(&header, frame, &mut data, 0)
        .expect("its data");
    BlockDecoder::default()
        .decode_blocking(&mut SliceSource::new(&data), SERVER)
        .expect("a block")
}

const SERVER: Revision = Revision(54412);

#[test]
fn the_hexdumps_of_the_page_are_what_it_says() {
    let dumps = hexdumps();
    let [client, server, answer] = dumps.as_slice() else {
        panic!("{} hexdumps", dumps.len());
    };

    let hello = ClientPacket::decode(&mut Reader::new(client), Revision::NEWEST).expect("a hello");
    let ClientPacket::Hello(hello) = hello else {
        panic!("{hello:?}")
    };
    assert_eq!((hello.user.as_str(), hello.revision), ("default", Revision::NEWEST));

    let hello = ServerPacket::decode(&mut Reader::new(server), Revision::NEWEST, false).expect("a hello");
    let ServerPacket::Hello(hello) = hello else {
        panic!("{hello:?}")
    };
    assert_eq!(
        (hello.version_major, hello.version_minor, hello.version_patch),
        (18, 16, 1)
    );
    assert_eq!((hello.revision, hello.time_zone.as_str()), (SERVER, "Etc/UTC"));

    let reader = &mut Reader::new(answer);
    let data = ServerPacket::Block {
        kind: BlockKind::Data,
        table: String::new(),
    };
    assert_eq!(packet(reader), data);
    assert_eq!(block(reader).rows(), 0);
    assert_eq!(packet(reader), data);
    let row = block(reader);
    assert_eq!(row.batch.column(0).as_primitive::<UInt64Type>().values(), &[7]);
    assert_eq!(row.batch.column(1).as_string::<i32>().value(0), "tide");
    let ServerPacket::ProfileInfo(profile) = packet(reader) else {
        panic!("no profile")
    };
    assert_eq!((profile.rows, profile.blocks, profile.bytes), (1, 1, 0x25));
    let ServerPacket::Progress(progress) = packet(reader) else {
        panic!("no progress")
    };
    assert_eq!((progress.rows, progress.bytes), (1, 1));
    assert_eq!(packet(reader), data);
    assert_eq!(block(reader).types.len(), 0);
    assert_eq!(packet(reader), ServerPacket::EndOfStream);
    assert!(reader.rest().is_empty());
}
