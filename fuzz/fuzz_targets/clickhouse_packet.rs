//! Packets of ClickHouse's native protocol, of both sides and at several revisions: what is decoded is the same again when it
//! is encoded and decoded; and a client's connection that hears them ends or goes on, whatever they are.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tidemill_clickhouse::{
    BlockDecoder, Compression, Revision,
    connection::ClientConnection,
    packet::{
        client::{Addendum, ClientHello, ClientPacket, Query},
        server::ServerPacket,
    },
    source::{BlockSource, SliceSource},
    wire::Reader,
};

fuzz_target!(|input: &[u8]| {
    for revision in [54032, 54412, 54448, 54470, 54481, 54492].map(Revision) {
        server(input, revision);
        client(input, revision);
    }
    conversation(input);
});

fn server(input: &[u8], revision: Revision) {
    let mut reader = Reader::new(input);
    while let Ok(packet) = ServerPacket::decode(&mut reader, revision, false) {
        let mut bytes = Vec::new();
        packet.encode(revision, false, &mut bytes);
        let again = ServerPacket::decode(&mut Reader::new(&bytes), revision, false);
        assert_eq!(again.expect("what was encoded"), packet);
    }
}

fn client(input: &[u8], revision: Revision) {
    let _ = Addendum::decode(&mut Reader::new(input), revision);
    let mut reader = Reader::new(input);
    while let Ok(packet) = ClientPacket::decode(&mut reader, revision) {
        let mut bytes = Vec::new();
        packet.encode(revision, &mut bytes).expect("what was decoded");
        let again = ClientPacket::decode(&mut Reader::new(&bytes), revision);
        assert_eq!(again.expect("what was encoded"), packet);
    }
}

fn conversation(mut input: &[u8]) {
    let hello = ClientHello {
        name: "fuzz".to_owned(),
        version_major: 0,
        version_minor: 1,
        revision: Revision::NEWEST,
        database: String::new(),
        user: "default".to_owned(),
        password: String::new(),
    };
    let mut connection = ClientConnection::new(hello, "").expect("a sound hello");
    let mut decoder = BlockDecoder::default();
    decoder.limits.memory = 1 << 22;
    while let Ok(Some((packet, length))) = connection.receive(input) {
        input = input.get(length..).expect("no more than there is");
        if let ServerPacket::Block { .. } = packet {
            let mut source = SliceSource::new(input);
            if decoder.decode_blocking(&mut source, connection.revision()).is_err() {
                connection.close("a block could not be read");
                break;
            }
            let begin = input.len() - source.buffered().len();
            input = input.get(begin..).expect("no more than there is");
        }
        if connection.is_idle() {
            connection
                .query(Query::default(), Compression::None)
                .expect("an idle connection");
            connection.end_data().expect("a query that runs");
        }
        connection.outgoing().clear();
    }
}
