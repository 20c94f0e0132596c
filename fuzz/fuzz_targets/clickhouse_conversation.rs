//! What a server of ClickHouse says to a client, as bytes: the packets and blocks are the same however the network cuts them.
//!
//! The first byte tells what the client asks for once it was greeted, and again whenever it may; the second how long the pieces
//! are. All others are the server's, its hello first, which chooses the revision.

#![no_main]

use std::task::{Context, Poll};

use libfuzzer_sys::fuzz_target;
use tidemill_clickhouse::{
    Block, BlockDecoder, Compression, Error, Result, Revision,
    connection::ClientConnection,
    frame::{FrameDecoder, FrameHeader},
    packet::{
        TableName,
        chunked::Dechunker,
        client::{ClientHello, Query},
        server::{BlockKind, ServerPacket},
    },
    source::{BlockSource, BlockingSource},
};

fuzz_target!(|input: &[u8]| {
    let [plan, piece, bytes @ ..] = input else { return };
    let (whole, whole_end) = listen(*plan, bytes, bytes.len());
    // At most a few hundred pieces: what is not complete is read again with each.
    let (cut, cut_end) = listen(*plan, bytes, usize::from(*piece).max(bytes.len() / 256));
    if let (Err(Error::Limit { .. }), _) | (_, Err(Error::Limit { .. })) = (&whole_end, &cut_end) {
        // How much memory is asked for before the bytes are seen to be missing depends on the pieces.
        assert!(whole.iter().zip(&cut).all(|(whole, cut)| whole == cut));
    } else {
        assert_eq!(whole, cut);
        assert_eq!(whole_end.is_ok(), cut_end.is_ok(), "{whole_end:?} {cut_end:?}");
    }
});

#[derive(Debug, PartialEq)]
enum Heard {
    Packet(ServerPacket),
    Block(Block),
}

/// Everything that is understood of `bytes`, which come in pieces of a length, and how it ends.
fn listen(plan: u8, bytes: &[u8], piece: usize) -> (Vec<Heard>, Result<()>) {
    let mut heard = Vec::new();
    let end = Client::new(plan, bytes, piece.max(1)).and_then(|mut client| client.listen(&mut heard));
    (heard, end)
}

struct Client<'a> {
    plan: u8,
    protocol: ClientConnection,
    wire: Wire<'a>,
}

/// What the server sends, of which only a part has arrived.
struct Wire<'a> {
    on_the_way: &'a [u8],
    piece: usize,
    chunks: Option<Dechunker>,
    arrived: Vec<u8>,
    /// How much of that was read.
    read: usize,
}

impl<'a> Client<'a> {
    fn new(plan: u8, bytes: &'a [u8], piece: usize) -> Result<Self> {
        let hello = ClientHello {
            revision: if plan & 0x80 == 0 {
                Revision::NEWEST
            } else {
                Revision(54_448)
            },
            ..ClientHello::default()
        };
        Ok(Self {
            plan,
            protocol: ClientConnection::new(hello, "")?,
            wire: Wire {
                on_the_way: bytes,
                piece,
                chunks: None,
                arrived: Vec::new(),
                read: 0,
            },
        })
    }

    fn listen(&mut self, heard: &mut Vec<Heard>) -> Result<()> {
        loop {
            if self.protocol.is_idle() {
                self.ask()?;
            }
            match self.protocol.receive(self.wire.buffered())? {
                Some((packet, length)) => {
                    self.wire.consume(length);
                    let kind = match packet {
                        ServerPacket::Block { kind, .. } => Some(kind),
                        _ => None,
                    };
                    let is_hello = matches!(packet, ServerPacket::Hello(_));
                    heard.push(Heard::Packet(packet));
                    if is_hello && self.protocol.receives_chunks() {
                        self.wire.begin_chunks();
                    }
                    if let Some(kind) = kind {
                        heard.push(Heard::Block(self.block(kind)?));
                    }
                }
                None if self.wire.arrive() => {}
                None => return Ok(()),
            }
        }
    }

    fn ask(&mut self) -> Result<()> {
        self.protocol.outgoing().clear();
        let compression = match self.plan & 7 {
            0 => return self.protocol.ping(),
            1 if self.protocol.revision() >= Revision::TABLES_STATUS => {
                let table = TableName {
                    database: String::new(),
                    table: String::new(),
                };
                return self.protocol.ask_for_tables(vec![table]);
            }
            2 => Compression::Checksum,
            3 => Compression::Lz4,
            4 => Compression::Zstd(1),
            _ => Compression::None,
        };
        self.protocol.query(&Query::default(), compression)?;
        // An insert that goes on sending, or a query.
        if self.plan & 8 == 0 {
            self.protocol.end_data()
        } else {
            Ok(())
        }
    }

    fn block(&mut self, kind: BlockKind) -> Result<Block> {
        let revision = self.protocol.revision();
        let mut decoder = BlockDecoder::default();
        decoder.limits.memory = 1 << 22;
        let block = if self.protocol.is_compressed() && kind.is_compressed(revision) {
            let mut frames = Frames {
                wire: &mut self.wire,
                decoder: FrameDecoder::default(),
                data: Vec::new(),
                read: 0,
                offset: 0,
            };
            let block = decoder.decode_blocking(&mut frames, revision)?;
            assert!(frames.data.len() <= FrameHeader::MAX_FRAME);
            block
        } else {
            decoder.decode_blocking(&mut self.wire, revision)?
        };
        for column in block.batch.columns() {
            column.to_data().validate_full().expect("a sound array");
        }
        Ok(block)
    }
}

impl Wire<'_> {
    /// Takes the next piece: whether there was one.
    fn arrive(&mut self) -> bool {
        let (piece, rest) = self.on_the_way.split_at(self.piece.min(self.on_the_way.len()));
        self.on_the_way = rest;
        match &mut self.chunks {
            Some(chunks) => chunks.take_off(piece, &mut self.arrived),
            None => self.arrived.extend(piece),
        }
        !piece.is_empty()
    }

    /// From here on, what arrives is in chunks. What arrived already is too.
    fn begin_chunks(&mut self) {
        let chunks = self.chunks.insert(Dechunker::default());
        let arrived = self.arrived.split_off(self.read);
        chunks.take_off(&arrived, &mut self.arrived);
    }
}

impl BlockSource for Wire<'_> {
    fn buffered(&self) -> &[u8] {
        &self.arrived[self.read..]
    }

    fn poll_fill(&mut self, _: &mut Context<'_>) -> Poll<Result<usize>> {
        while self.buffered().is_empty() && self.arrive() {}
        Poll::Ready(Ok(self.buffered().len()))
    }

    fn consume(&mut self, count: usize) {
        self.read += count;
        assert!(self.read <= self.arrived.len());
    }
}

impl BlockingSource for Wire<'_> {}

/// A block in frames.
struct Frames<'a, 'b> {
    wire: &'a mut Wire<'b>,
    decoder: FrameDecoder,
    data: Vec<u8>,
    /// How much of that was read.
    read: usize,
    offset: u64,
}

impl Frames<'_, '_> {
    /// Decompresses the next frame: whether there was one.
    fn next(&mut self) -> Result<bool> {
        let header = loop {
            let arrived = self.wire.buffered();
            if let Some(header) = arrived.first_chunk() {
                let header = FrameHeader::decode(header, self.offset)?;
                if arrived.len() >= FrameHeader::SIZE + header.compressed() {
                    break header;
                }
            }
            if !self.wire.arrive() {
                return match self.wire.buffered().is_empty() {
                    true => Ok(false),
                    false => Err(Error::Truncated {
                        what: "a frame",
                        offset: self.offset,
                    }),
                };
            }
        };
        (self.data, self.read) = (vec![0; header.decompressed()], 0);
        self.decoder
            .decode(&header, self.wire.buffered(), &mut self.data, self.offset)?;
        self.wire.consume(FrameHeader::SIZE + header.compressed());
        self.offset += (FrameHeader::SIZE + header.compressed()) as u64;
        Ok(true)
    }
}

impl BlockSource for Frames<'_, '_> {
    fn buffered(&self) -> &[u8] {
        &self.data[self.read..]
    }

    fn poll_fill(&mut self, _: &mut Context<'_>) -> Poll<Result<usize>> {
        while self.buffered().is_empty() {
            match self.next() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(self.buffered().len()))
    }

    fn consume(&mut self, count: usize) {
        self.read += count;
        assert!(self.read <= self.data.len());
    }
}

impl BlockingSource for Frames<'_, '_> {}
