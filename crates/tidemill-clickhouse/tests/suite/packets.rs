//! The packets of the corpus, cut off at every byte: those that are complete are the same, and the next is not there.

use tidemill_clickhouse::{
    Block, BlockDecoder, Compression, Error, Result, Revision,
    connection::ClientConnection,
    frame::{FrameDecoder, FrameHeader},
    packet::{
        client::{ClientHello, ClientPacket, Query},
        server::ServerPacket,
    },
    source::SliceSource,
    wire::Reader,
};
use tidemill_testkit::corpus_bytes;

/// Reads one thing after another up to the end, or to what is wrong: the things, where each ends, and the error.
fn walk<T>(
    bytes: &[u8],
    mut next: impl FnMut(&mut Reader<'_>, &mut Vec<T>) -> Result<()>,
) -> (Vec<T>, Vec<usize>, Option<Error>) {
    let (mut things, mut ends) = (Vec::new(), vec![0]);
    let mut reader = Reader::new(bytes);
    while !reader.rest().is_empty() {
        let (before, begin) = (things.len(), reader.clone());
        if let Err(error) = next(&mut reader, &mut things) {
            things.truncate(before);
            assert!(begin.offset() == *ends.last().unwrap());
            return (things, ends, Some(error));
        }
        ends.push(reader.offset());
    }
    (things, ends, None)
}

/// Cuts `bytes` off everywhere.
fn check<T: PartialEq + std::fmt::Debug>(
    bytes: &[u8],
    next: impl Fn(&mut Reader<'_>, &mut Vec<T>) -> Result<()> + Copy,
    least: usize,
) {
    let (whole, ends, error) = walk(bytes, next);
    assert!(error.is_none(), "{error:?}");
    assert!(ends.len() > least, "{} packets", ends.len() - 1);
    for end in 0..bytes.len() {
        let (things, complete, error) = walk(&bytes[..end], next);
        let expected = ends.iter().filter(|known| **known <= end).count();
        assert_eq!(complete, ends[..expected], "cut off at byte {end}");
        assert_eq!(things, whole[..things.len()], "cut off at byte {end}");
        match error {
            None => assert!(ends.contains(&end), "cut off at byte {end}, and complete"),
            Some(error) => assert!(
                matches!(error, Error::Truncated { .. }),
                "cut off at byte {end}: {error:?}"
            ),
        }
    }
}

#[test]
fn packets_of_a_client() {
    let bytes = corpus_bytes("clickhouse/packets/client-54492.bin");
    let next = |reader: &mut Reader<'_>, packets: &mut Vec<ClientPacket>| {
        packets.push(ClientPacket::decode(reader, Revision::NEWEST)?);
        Ok(())
    };
    check(&bytes, next, 8);
}

#[test]
fn packets_of_a_server() {
    let bytes = corpus_bytes("clickhouse/packets/server-54492.bin");
    let next = |reader: &mut Reader<'_>, packets: &mut Vec<ServerPacket>| {
        packets.push(ServerPacket::decode(reader, Revision::NEWEST, false)?);
        Ok(())
    };
    check(&bytes, next, 15);
}

/// A packet, or the block behind one.
#[derive(Debug, PartialEq)]
enum Heard {
    Packet(ServerPacket),
    Block(Block),
}

/// ClickHouse 18.16.1: the hello, and the answer to a query in frames.
#[test]
fn packets_and_blocks_of_a_real_server() {
    const SERVER: Revision = Revision(54412);
    let bytes = corpus_bytes("clickhouse/packets/server-54412.bin");
    let next = |reader: &mut Reader<'_>, heard: &mut Vec<Heard>| {
        let packet = ServerPacket::decode(reader, SERVER, false)?;
        let has_block = matches!(packet, ServerPacket::Block { .. });
        heard.push(Heard::Packet(packet));
        if has_block {
            let frame = reader.rest();
            let header = FrameHeader::decode(&reader.array("the header of a frame")?, 0)?;
            reader.bytes(header.compressed(), "a frame")?;
            let mut data = vec![0; header.decompressed()];
            FrameDecoder::default().decode(&header, frame, &mut data, 0)?;
            heard.push(Heard::Block(
                BlockDecoder::default().decode_blocking(&mut SliceSource::new(&data), SERVER)?,
            ));
        }
        Ok(())
    };
    check(&bytes, next, 5);
}

/// A connection waits for the rest of a packet, and is not closed meanwhile.
#[test]
fn a_connection_waits_for_the_rest() {
    let bytes = corpus_bytes("clickhouse/packets/server-54412.bin");
    let mut connection = ClientConnection::new(ClientHello::default(), "").unwrap();
    let (hello, length) = receive_at_last(&mut connection, &bytes);
    assert!(matches!(hello, ServerPacket::Hello(_)), "{hello:?}");
    connection.query(&Query::default(), Compression::Lz4).unwrap();
    connection.end_data().unwrap();
    let (next, _) = receive_at_last(&mut connection, &bytes[length..]);
    assert!(!matches!(next, ServerPacket::Hello(_)), "{next:?}");
}

/// The first packet, which is there with its last byte.
fn receive_at_last(connection: &mut ClientConnection, bytes: &[u8]) -> (ServerPacket, usize) {
    for end in 0..=bytes.len() {
        if let Some((packet, length)) = connection.receive(&bytes[..end]).unwrap() {
            assert_eq!(length, end);
            return (packet, length);
        }
    }
    panic!("no packet in {} bytes", bytes.len());
}
