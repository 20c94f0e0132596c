//! Packets of ClickHouse's native protocol, of both sides and at several revisions: what is decoded is the same again when it
//! is encoded and decoded.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tidemill_clickhouse::{
    Revision,
    packet::{
        client::{Addendum, ClientPacket},
        server::ServerPacket,
    },
    wire::Reader,
};

fuzz_target!(|input: &[u8]| {
    for revision in [54032, 54412, 54448, 54470, 54481, 54492].map(Revision) {
        server(input, revision);
        client(input, revision);
    }
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
