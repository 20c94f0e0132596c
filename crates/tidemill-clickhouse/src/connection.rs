//! One connection as a machine of states: what to send and what was received, without a socket.
//!
//! [`ClientConnection`] puts the bytes to send into a buffer ([`ClientConnection::outgoing`]) and reads packets from the bytes
//! that were received ([`ClientConnection::receive`]). The owner of the socket moves the bytes, and decodes the block that follows a
//! packet which has one. A packet that is not valid at this point of the conversation closes the connection: the beginning of the next
//! packet is never guessed.
//!
//! ```text
//! handshake ─hello─▶ idle ─query─▶ busy ─end of stream, exception─▶ idle
//!                     └────ping──▶ pinging ─pong─▶ idle             any ─something else─▶ closed
//! ```
//!
//! Time, sockets, TLS and pools are not known here.

use std::{borrow::Cow, mem};

use crate::{
    Calendar, Compression, Error, Result, Revision,
    frame::{FrameDecoder, FrameEncoder, FrameHeader},
    packet::{
        TableName,
        chunked::{self, Chunking},
        client::{Addendum, ClientHello, ClientPacket, Query, Setting},
        server::{ServerHello, ServerPacket, TableColumns},
    },
    wire::Reader,
};

/// The client's side of a connection.
#[derive(Debug)]
pub struct ClientConnection {
    state: State,
    is_doubtful: bool,
    /// The older one of the client's and the server's revisions.
    revision: Revision,
    server: ServerHello,
    quota_key: String,
    chunking: Directions<Chunking>,
    is_chunked: Directions<bool>,
    compression: Compression,
    frames: Option<FrameEncoder>,
    outgoing: Vec<u8>,
    /// A block before it is compressed.
    block: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Directions<T> {
    send: T,
    receive: T,
}

/// Where the conversation is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Handshake,
    Idle,
    Pinging,
    AskingForTables,
    /// A query runs. While data are being sent, an exception leaves it open where the server continues reading. So does one
    /// that comes first: the server may not have read the end of the external tables.
    Busy {
        is_sending: bool,
        has_answered: bool,
    },
    Closed(&'static str),
}

impl ClientConnection {
    /// Begins a conversation with `hello`. Chunks are agreed on with the server if it asks for them.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] when the user, password or database has a control character, which servers refuse.
    pub fn new(hello: ClientHello, quota_key: impl Into<String>) -> Result<Self> {
        for (option, text) in [
            ("user", &hello.user),
            ("password", &hello.password),
            ("database", &hello.database),
        ] {
            if text.chars().any(|character| character.is_ascii_control()) {
                return Err(Error::Option {
                    option: option.to_owned(),
                    expected: "no control characters".to_owned(),
                });
            }
        }
        let revision = hello.revision;
        let mut connection = Self {
            state: State::Handshake,
            is_doubtful: false,
            revision,
            server: ServerHello::default(),
            quota_key: quota_key.into(),
            chunking: Directions::default(),
            is_chunked: Directions::default(),
            compression: Compression::None,
            frames: None,
            outgoing: Vec::new(),
            block: Vec::new(),
        };
        connection.send(&ClientPacket::Hello(hello))?;
        Ok(connection)
    }

    /// What the server said of itself.
    #[must_use]
    pub fn server(&self) -> &ServerHello {
        &self.server
    }

    /// The dates that the server shows as they are, by its version.
    #[must_use]
    pub fn calendar(&self) -> Calendar {
        Calendar::of_version(self.server.version_major, self.server.version_minor)
    }

    /// The revision that both sides speak.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Whether what is received is in chunks, so that a [`chunked::Dechunker`] goes in front of [`Self::receive`].
    #[must_use]
    pub fn receives_chunks(&self) -> bool {
        self.is_chunked.receive
    }

    /// Whether blocks of the query that runs are in frames.
    #[must_use]
    pub fn is_compressed(&self) -> bool {
        self.compression.has_frames()
    }

    /// Whether a query or ping may begin.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.state == State::Idle
    }

    /// Whether the last query failed before the server answered anything else. It may not have read the end of the external tables
    /// then, and takes that for a packet that does not belong there: some versions do, such as 18.16, and close the connection.
    /// A ping tells.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        self.is_doubtful
    }

    /// Whether nothing more can be said.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed(_))
    }

    /// The bytes to send next. The caller takes from the front what was sent, or clears all.
    pub fn outgoing(&mut self) -> &mut Vec<u8> {
        &mut self.outgoing
    }

    /// Ends the conversation. `why` is what later calls say.
    pub fn close(&mut self, why: &'static str) {
        if !self.is_closed() {
            self.state = State::Closed(why);
        }
    }

    /// Asks whether the server is there.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`] when the connection is closed or busy.
    pub fn ping(&mut self) -> Result<()> {
        self.need_idle()?;
        self.state = State::Pinging;
        self.send(&ClientPacket::Ping)
    }

    /// Asks for the status of tables.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`] when the connection is closed or busy, [`Error::Unsupported`] for servers before 54226.
    pub fn ask_for_tables(&mut self, tables: Vec<TableName>) -> Result<()> {
        self.need_idle()?;
        if self.revision < Revision::TABLES_STATUS {
            return Err(Error::Unsupported {
                what: format!("the status of tables at revision {}", self.revision),
                hint: "servers know it since revision 54226",
            });
        }
        self.state = State::AskingForTables;
        self.send(&ClientPacket::TablesStatusRequest(tables))
    }

    /// Begins a query. External tables follow by [`Self::put_block`], then [`Self::end_data`] in any case.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`] when the connection is closed or busy, [`Error::Unsupported`] for parameters that the server does
    /// not know; the connection then stays idle.
    pub fn query(&mut self, query: &Query, compression: Compression) -> Result<()> {
        self.need_idle()?;
        if compression != self.compression {
            self.frames = if compression.has_frames() {
                Some(FrameEncoder::new(compression)?)
            } else {
                None
            };
            self.compression = compression;
        }
        let asked = asking_for_compression(query, compression);
        let begin = self.outgoing.len();
        let encoded = asked.encode_packet(self.revision, &mut self.outgoing);
        self.finish_packet(begin, encoded)?;
        self.state = State::Busy {
            is_sending: true,
            has_answered: false,
        };
        Ok(())
    }

    /// Sends a block that `write` encodes, for an external table or, without a name, for an `INSERT`.
    ///
    /// # Errors
    ///
    /// Those of `write`, after which nothing of the block is sent, and [`Error::Closed`] when no query runs.
    pub fn put_block(&mut self, table: &str, write: impl FnOnce(Revision, &mut Vec<u8>) -> Result<()>) -> Result<()> {
        self.need_busy()?;
        self.set_sending(true);
        self.put_data(table, write)
    }

    /// Sends the end of external tables, or of the data of an `INSERT`.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`] when no query runs.
    pub fn end_data(&mut self) -> Result<()> {
        self.need_busy()?;
        self.put_data("", |revision, bytes| {
            empty_block(revision, bytes);
            Ok(())
        })?;
        self.set_sending(false);
        Ok(())
    }

    /// Whether data of a query are being sent, and their end was not.
    pub fn is_sending(&self) -> bool {
        matches!(self.state, State::Busy { is_sending: true, .. })
    }

    /// Asks the server to stop. It answers with the end of the stream, or an exception, after what is on its way.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`] when no query runs.
    pub fn cancel(&mut self) -> Result<()> {
        self.need_busy()?;
        self.send(&ClientPacket::Cancel)
    }

    /// Reads a packet from the front of `bytes`: the packet, and how many bytes it took. `None` when it is not complete.
    ///
    /// Behind a [`ServerPacket::Block`] follows the block, in frames if [`Self::is_compressed`] and
    /// [`is_compressed`](crate::packet::server::BlockKind::is_compressed) of its kind.
    ///
    /// # Errors
    ///
    /// Those of [`ServerPacket::decode`], [`Error::Protocol`] for a packet that does not belong here, and
    /// [`Error::Limit`] for one that does not end. The connection is closed then. Exceptions of the server are packets, not
    /// errors; one in the handshake, or while data are being sent, closes the connection too, and one in front of all else makes
    /// it [doubtful](Self::is_doubtful).
    pub fn receive(&mut self, bytes: &[u8]) -> Result<Option<(ServerPacket, usize)>> {
        if let State::Closed(why) = self.state {
            return Err(Error::Closed { why });
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let received = self.receive_open(bytes);
        if received.is_err() {
            self.close("a packet of the server could not be read");
        }
        received
    }

    fn receive_open(&mut self, bytes: &[u8]) -> Result<Option<(ServerPacket, usize)>> {
        let compressed_columns = self.is_compressed() && self.revision >= Revision::COMPRESSED_LOGS;
        let mut reader = Reader::new(bytes);
        let decoded =
            ServerPacket::decode(&mut reader, self.revision, compressed_columns).and_then(|packet| match packet {
                ServerPacket::TableColumns(_) if compressed_columns => {
                    decode_framed_columns(&mut reader).map(ServerPacket::TableColumns)
                }
                other => Ok(other),
            });
        let packet = match decoded {
            Ok(packet) => packet,
            Err(Error::Truncated { .. }) if bytes.len() <= MAX_PACKET => return Ok(None),
            Err(Error::Truncated { what, .. }) => {
                return Err(Error::Limit {
                    what,
                    limit: MAX_PACKET as u64,
                    found: bytes.len() as u64,
                });
            }
            Err(error) => return Err(error),
        };
        self.state = match (&packet, self.state) {
            (ServerPacket::Hello(hello), State::Handshake) => {
                self.greet((**hello).clone())?;
                State::Idle
            }
            (ServerPacket::Exception(_), State::Handshake) => State::Closed("the server refused to talk"),
            (ServerPacket::Exception(_), State::Busy { is_sending: true, .. }) => {
                State::Closed("the server refused the data while they were being sent")
            }
            (ServerPacket::Exception(_), State::Busy { has_answered, .. }) => {
                self.is_doubtful = !has_answered;
                State::Idle
            }
            (ServerPacket::Pong, State::Pinging) => {
                self.is_doubtful = false;
                State::Idle
            }
            (ServerPacket::Exception(_), State::AskingForTables)
            | (ServerPacket::EndOfStream, State::Busy { .. })
            | (ServerPacket::TablesStatus(_), State::AskingForTables) => State::Idle,
            // Progress of the last query may come late, as ClickHouse's own client knows.
            (ServerPacket::Progress(_), state @ State::Pinging) => state,
            (
                ServerPacket::Block { .. }
                | ServerPacket::Progress(_)
                | ServerPacket::ProfileInfo(_)
                | ServerPacket::TableColumns(_)
                | ServerPacket::PartUuids(_)
                | ServerPacket::TimezoneUpdate(_),
                State::Busy { is_sending, .. },
            ) => State::Busy {
                is_sending,
                has_answered: true,
            },
            (_, state) => {
                return Err(Error::Protocol {
                    what: "a packet of the server",
                    offset: 0,
                    expected: match state {
                        State::Handshake => "its hello",
                        State::Pinging => "its pong",
                        State::AskingForTables => "the status of tables",
                        _ => "one that answers a query",
                    },
                    found: name(&packet).to_owned(),
                });
            }
        };
        Ok(Some((packet, reader.offset())))
    }

    fn greet(&mut self, hello: ServerHello) -> Result<()> {
        if hello.revision < Revision::OLDEST {
            return Err(Error::Unsupported {
                what: format!("a server of revision {}", hello.revision),
                hint: "revision 54032 is the oldest that is understood",
            });
        }
        self.revision = self.revision.min(hello.revision);
        if self.revision >= Revision::CHUNKED_PACKETS {
            // What the server sends we receive.
            self.is_chunked.receive = chunked::agree(hello.send_chunked, self.chunking.receive)?;
            self.is_chunked.send = chunked::agree(hello.receive_chunked, self.chunking.send)?;
        }
        let word = |is_chunked| match is_chunked {
            true => Chunking::Chunked,
            false => Chunking::NotChunked,
        };
        let addendum = Addendum {
            quota_key: mem::take(&mut self.quota_key),
            send_chunked: word(self.is_chunked.send),
            receive_chunked: word(self.is_chunked.receive),
            parallel_replicas_version: PARALLEL_REPLICAS_VERSION,
        };
        addendum.encode(self.revision, &mut self.outgoing);
        self.server = hello;
        Ok(())
    }

    fn send(&mut self, packet: &ClientPacket) -> Result<()> {
        let begin = self.outgoing.len();
        let encoded = packet.encode(self.revision, &mut self.outgoing);
        self.finish_packet(begin, encoded)
    }

    fn put_data(&mut self, table: &str, write: impl FnOnce(Revision, &mut Vec<u8>) -> Result<()>) -> Result<()> {
        let begin = self.outgoing.len();
        let encoded = self.encode_data(table, write);
        self.finish_packet(begin, encoded)
    }

    fn encode_data(&mut self, table: &str, write: impl FnOnce(Revision, &mut Vec<u8>) -> Result<()>) -> Result<()> {
        let header = ClientPacket::Data {
            table: table.to_owned(),
        };
        header.encode(self.revision, &mut self.outgoing)?;
        match &mut self.frames {
            Some(frames) => {
                self.block.clear();
                write(self.revision, &mut self.block)?;
                frames.encode(&self.block, &mut self.outgoing)
            }
            None => write(self.revision, &mut self.outgoing),
        }
    }

    /// Puts the packet from `begin` into chunks, or takes it back when it could not be encoded.
    fn finish_packet(&mut self, begin: usize, encoded: Result<()>) -> Result<()> {
        if encoded.is_err() {
            self.outgoing.truncate(begin);
        } else if self.is_chunked.send {
            let packet = self.outgoing.split_off(begin);
            chunked::put_chunked(&mut self.outgoing, &packet);
        }
        encoded
    }

    fn set_sending(&mut self, sending: bool) {
        if let State::Busy { is_sending, .. } = &mut self.state {
            *is_sending = sending;
        }
    }

    fn need_idle(&self) -> Result<()> {
        match self.state {
            State::Idle => Ok(()),
            State::Closed(why) => Err(Error::Closed { why }),
            _ => Err(Error::Closed {
                why: "it is busy with something else",
            }),
        }
    }

    fn need_busy(&self) -> Result<()> {
        match self.state {
            State::Busy { .. } => Ok(()),
            State::Closed(why) => Err(Error::Closed { why }),
            _ => Err(Error::Closed {
                why: "no query runs on it",
            }),
        }
    }
}

/// The query that asks the server to compress as we do, unless the caller has said what it shall do. LZ4 is what servers do by
/// themselves, or ZSTD since 26; not asking lets users query who may not change settings.
fn asking_for_compression(query: &Query, compression: Compression) -> Cow<'_, Query> {
    let mut asking = Cow::Borrowed(query);
    if query.is_compressed != compression.has_frames() {
        asking.to_mut().is_compressed = compression.has_frames();
    }
    let (method, level) = match compression {
        // In small letters: old servers know no others, and new ones know both.
        Compression::Lz4Hc(_) => ("lz4hc", None),
        Compression::Zstd(level) => ("zstd", Some(u64::from(level))),
        Compression::None | Compression::Checksum | Compression::Lz4 => return asking,
    };
    if query.settings.iter().any(|setting| setting.name == METHOD) {
        return asking;
    }
    let settings = &mut asking.to_mut().settings;
    settings.push(Setting::new(METHOD, method));
    if let Some(level) = level {
        settings.push(Setting::new("network_zstd_compression_level", level));
    }
    asking
}

/// A block without columns and rows: the end of data.
fn empty_block(revision: Revision, bytes: &mut Vec<u8>) {
    // Information about the block: no overflows, no bucket.
    bytes.extend([1, 0, 2, 0xff, 0xff, 0xff, 0xff]);
    if revision >= Revision::OUT_OF_ORDER_BUCKETS {
        bytes.extend([3, 0]);
    }
    bytes.extend([0, 0, 0]);
}

/// The columns of a table, in frames of their own.
fn decode_framed_columns(reader: &mut Reader<'_>) -> Result<TableColumns> {
    const WHAT: &str = "the columns of a table";
    let mut decoder = FrameDecoder::default();
    let mut text = Vec::new();
    loop {
        let offset = reader.offset() as u64;
        let frame = reader.rest();
        let header = FrameHeader::decode(&reader.array(WHAT)?, offset)?;
        reader.bytes(header.compressed(), WHAT)?;
        let begin = text.len();
        if begin + header.decompressed() > MAX_PACKET {
            return Err(Error::Limit {
                what: WHAT,
                limit: MAX_PACKET as u64,
                found: (begin + header.decompressed()) as u64,
            });
        }
        text.resize(begin + header.decompressed(), 0);
        decoder.decode(&header, frame, text.get_mut(begin..).unwrap_or_default(), offset)?;
        let mut inside = Reader::new(&text);
        match TableColumns::decode(&mut inside) {
            // Not all of it was in this frame.
            Err(Error::Truncated { .. }) => {}
            Ok(columns) if inside.rest().is_empty() => return Ok(columns),
            Ok(_) => return Err(reader.error(WHAT, "the end of the frame", "more bytes".to_owned())),
            Err(error) => return Err(error),
        }
    }
}

fn name(packet: &ServerPacket) -> &'static str {
    match packet {
        ServerPacket::Hello(_) => "a hello",
        ServerPacket::Block { .. } => "a block",
        ServerPacket::Exception(_) => "an exception",
        ServerPacket::Progress(_) => "progress",
        ServerPacket::Pong => "a pong",
        ServerPacket::EndOfStream => "the end of a stream",
        ServerPacket::ProfileInfo(_) => "a profile",
        ServerPacket::TablesStatus(_) => "the status of tables",
        ServerPacket::TableColumns(_) => "the columns of a table",
        ServerPacket::PartUuids(_) => "parts",
        ServerPacket::ReadTaskRequest => "a question for a task",
        ServerPacket::TimezoneUpdate(_) => "a time zone",
        ServerPacket::SshChallenge(_) => "a challenge",
    }
}

const METHOD: &str = "network_compression_method";

/// A packet that is not complete after so many bytes is refused. Two long texts of an exception fit.
const MAX_PACKET: usize = 64 << 20;

/// `DBMS_PARALLEL_REPLICAS_PROTOCOL_VERSION` of ClickHouse at revision 54492. A client has no part in it and must send one.
const PARALLEL_REPLICAS_VERSION: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ServerException, packet::server::BlockKind, wire::put_varint};

    fn packet(packet: &ServerPacket, revision: Revision) -> Vec<u8> {
        let mut bytes = Vec::new();
        packet.encode(revision, false, &mut bytes);
        bytes
    }

    fn connected(server: ServerHello) -> ClientConnection {
        let mut connection = ClientConnection::new(ClientHello::default(), "key").unwrap();
        let bytes = packet(&ServerPacket::Hello(Box::new(server)), Revision::NEWEST);
        assert!(connection.receive(&bytes).unwrap().is_some());
        assert!(connection.is_idle());
        connection
    }

    fn exception() -> ServerPacket {
        ServerPacket::Exception(Box::new(ServerException {
            code: 62,
            name: "DB::Exception".to_owned(),
            message: "Syntax error".to_owned(),
            stack_trace: String::new(),
            nested: None,
        }))
    }

    #[test]
    fn both_speak_the_older_revision() {
        let old = ServerHello {
            revision: Revision(54412),
            ..ServerHello::default()
        };
        let mut connection = connected(old);
        assert_eq!(connection.revision(), Revision(54412));
        let mut client = ClientConnection::new(ClientHello::default(), "").unwrap();
        assert_eq!(connection.outgoing(), client.outgoing(), "no addendum behind the hello");

        let ancient = ServerHello {
            revision: Revision(54031),
            ..ServerHello::default()
        };
        let bytes = packet(&ServerPacket::Hello(Box::new(ancient)), Revision::NEWEST);
        assert!(matches!(client.receive(&bytes), Err(Error::Unsupported { .. })));
        assert!(client.is_closed());
    }

    #[test]
    fn packets_are_read_when_they_are_complete() {
        let mut connection = connected(ServerHello::default());
        connection.ping().unwrap();
        assert!(connection.receive(&[]).unwrap().is_none());
        assert_eq!(connection.receive(&[4, 9]).unwrap(), Some((ServerPacket::Pong, 1)));
        assert!(connection.is_idle());
    }

    #[test]
    fn what_does_not_belong_closes_the_connection() {
        let mut connection = connected(ServerHello::default());
        connection.ping().unwrap();
        assert!(matches!(connection.receive(&[5]), Err(Error::Protocol { .. })));
        assert!(matches!(connection.receive(&[4]), Err(Error::Closed { .. })));
        assert!(matches!(connection.ping(), Err(Error::Closed { .. })));
    }

    #[test]
    fn an_exception_ends_a_query_and_not_the_connection() {
        let mut connection = connected(ServerHello::default());
        connection.query(&Query::default(), Compression::Lz4).unwrap();
        connection.end_data().unwrap();
        assert!(matches!(connection.ping(), Err(Error::Closed { .. })));
        let progress = packet(&ServerPacket::Progress(Default::default()), Revision::NEWEST);
        assert!(connection.receive(&progress).unwrap().is_some());
        let bytes = packet(&exception(), Revision::NEWEST);
        assert_eq!(connection.receive(&bytes).unwrap(), Some((exception(), bytes.len())));
        assert!(connection.is_idle());
    }

    #[test]
    fn an_exception_in_the_middle_of_data_closes_the_connection() {
        let mut connection = connected(ServerHello::default());
        connection.query(&Query::default(), Compression::None).unwrap();
        connection.end_data().unwrap();
        connection.put_block("", |_, _| Ok(())).unwrap();
        let bytes = packet(&exception(), Revision::NEWEST);
        assert!(connection.receive(&bytes).unwrap().is_some());
        assert!(connection.is_closed());
    }

    #[test]
    fn an_exception_in_front_of_all_else_leaves_a_doubt_that_a_pong_takes_away() {
        let mut connection = connected(ServerHello::default());
        connection.query(&Query::default(), Compression::None).unwrap();
        connection.end_data().unwrap();
        let bytes = packet(&exception(), Revision::NEWEST);
        assert!(connection.receive(&bytes).unwrap().is_some());
        assert!(connection.is_idle() && connection.is_doubtful());
        connection.ping().unwrap();
        let pong = packet(&ServerPacket::Pong, Revision::NEWEST);
        assert!(connection.receive(&pong).unwrap().is_some());
        assert!(connection.is_idle() && !connection.is_doubtful());
    }

    #[test]
    fn a_block_that_cannot_be_encoded_leaves_nothing() {
        for compression in [Compression::None, Compression::Lz4] {
            let mut connection = connected(ServerHello::default());
            connection.query(&Query::default(), compression).unwrap();
            connection.outgoing().clear();
            let put = connection.put_block("t", |_, bytes| {
                bytes.push(1);
                Err(Error::Cancelled)
            });
            assert!(matches!(put, Err(Error::Cancelled)));
            assert!(connection.outgoing().is_empty());
        }
    }

    #[test]
    fn chunks_are_put_around_packets_when_the_server_insists() {
        let server = ServerHello {
            receive_chunked: Chunking::Chunked,
            send_chunked: Chunking::NotChunkedOptional,
            ..ServerHello::default()
        };
        let mut connection = connected(server);
        assert!(!connection.receives_chunks());
        connection.outgoing().clear();
        connection.ping().unwrap();
        assert_eq!(connection.outgoing(), &[1, 0, 0, 0, 4, 0, 0, 0, 0]);
    }

    #[test]
    fn columns_of_a_table_are_read_from_their_frames() {
        let columns = TableColumns {
            table: "t".to_owned(),
            columns: "columns format version: 1\n".repeat(3),
        };
        let mut text = Vec::new();
        columns.encode(&mut text);
        let mut bytes = vec![11];
        let mut frames = FrameEncoder::new(Compression::Lz4).unwrap();
        // In two frames, as a small buffer of the server would have it.
        frames.encode(&text[..5], &mut bytes).unwrap();
        frames.encode(&text[5..], &mut bytes).unwrap();

        let mut connection = connected(ServerHello::default());
        connection.query(&Query::default(), Compression::Zstd(1)).unwrap();
        for end in 0..bytes.len() {
            assert!(connection.receive(&bytes[..end]).unwrap().is_none(), "cut at {end}");
        }
        let received = connection.receive(&bytes).unwrap();
        assert_eq!(received, Some((ServerPacket::TableColumns(columns), bytes.len())));
    }

    #[test]
    fn an_endless_packet_is_refused() {
        let mut connection = connected(ServerHello::default());
        connection.query(&Query::default(), Compression::None).unwrap();
        let mut bytes = vec![1];
        put_varint(&mut bytes, u64::from(u32::MAX));
        assert!(matches!(connection.receive(&bytes), Err(Error::Limit { .. })));
    }

    #[test]
    fn control_characters_in_names_are_refused() {
        let hello = ClientHello {
            user: "a\nb".to_owned(),
            ..ClientHello::default()
        };
        assert!(matches!(ClientConnection::new(hello, ""), Err(Error::Option { .. })));
    }

    #[test]
    fn logs_are_compressed_since_their_revision() {
        assert!(BlockKind::Data.is_compressed(Revision::OLDEST));
        assert!(!BlockKind::Log.is_compressed(Revision(54480)));
        assert!(BlockKind::Log.is_compressed(Revision(54481)));
    }

    #[test]
    fn the_end_of_data_is_an_empty_block() {
        let mut connection = connected(ServerHello {
            revision: Revision(54412),
            ..ServerHello::default()
        });
        connection.query(&Query::default(), Compression::None).unwrap();
        connection.outgoing().clear();
        connection.end_data().unwrap();
        assert_eq!(
            connection.outgoing(),
            b"\x02\x00\x01\x00\x02\xff\xff\xff\xff\x00\x00\x00"
        );
    }
}
