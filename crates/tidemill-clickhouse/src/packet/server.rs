//! Packets of a server.

mod server_hello;

pub use self::server_hello::ServerHello;
use self::server_hello::{decode_hello, encode_hello};
use super::{MAX_LIST, MAX_NAME, MAX_TEXT, chunked::Chunking};
use crate::{
    Error, Result, Revision, ServerException,
    wire::{Reader, put_string, put_varint},
};

/// A packet that a server sends.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ServerPacket {
    /// The answer to the client's hello.
    Hello(Box<ServerHello>),
    /// A block follows.
    Block {
        /// What the block is.
        kind: BlockKind,
        /// The table that it belongs to, most often empty.
        table: String,
    },
    /// The query failed, or the handshake.
    Exception(Box<ServerException>),
    /// How far the query is, since the last packet of this kind.
    Progress(Progress),
    /// The answer to a ping.
    Pong,
    /// The query ended.
    EndOfStream,
    /// What the query did.
    ProfileInfo(ProfileInfo),
    /// The answer to a question about tables.
    TablesStatus(Vec<TableStatus>),
    /// The columns of a table to insert into, for the values of those that are left out.
    TableColumns(TableColumns),
    /// Parts that were read: of servers to one another, and obsolete.
    PartUuids(Vec<[u8; 16]>),
    /// A question for the next file to read: of servers to one another.
    ReadTaskRequest,
    /// The time zone of the session changed.
    TimezoneUpdate(String),
    /// Bytes to sign, for logging in by an SSH key.
    SshChallenge(Vec<u8>),
}

/// What a block is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum BlockKind {
    /// Rows of the result. The first has none and shows the columns.
    Data,
    /// A row of totals, for `WITH TOTALS`.
    Totals,
    /// A row of minima and a row of maxima, for the setting `extremes`.
    Extremes,
    /// Lines of the server's log, for the setting `send_logs_level`.
    Log,
    /// Counters of what the query did.
    ProfileEvents,
    /// Rows that show what the result may become.
    Preview,
}

impl BlockKind {
    /// Whether a block of this kind is in frames when the query asked for compression.
    #[must_use]
    pub fn is_compressed(self, revision: Revision) -> bool {
        match self {
            Self::Data | Self::Totals | Self::Extremes | Self::Preview => true,
            Self::Log | Self::ProfileEvents => revision >= Revision::COMPRESSED_LOGS,
        }
    }
}

/// How far a query is, as differences to what was said before.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Progress {
    /// Rows read.
    pub rows: u64,
    /// Bytes read, uncompressed.
    pub bytes: u64,
    /// Rows to read that became known.
    pub total_rows: u64,
    /// Bytes to read that became known.
    pub total_bytes: u64,
    /// Rows written.
    pub written_rows: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Nanoseconds that passed on the server.
    pub elapsed_ns: u64,
}

impl Progress {
    /// Adds a later packet.
    pub fn add(&mut self, later: &Self) {
        let sums = [
            (&mut self.rows, later.rows),
            (&mut self.bytes, later.bytes),
            (&mut self.total_rows, later.total_rows),
            (&mut self.total_bytes, later.total_bytes),
            (&mut self.written_rows, later.written_rows),
            (&mut self.written_bytes, later.written_bytes),
            (&mut self.elapsed_ns, later.elapsed_ns),
        ];
        for (sum, more) in sums {
            *sum = sum.saturating_add(more);
        }
    }
}

/// What a query did.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ProfileInfo {
    /// Rows of the result.
    pub rows: u64,
    /// Blocks of the result.
    pub blocks: u64,
    /// Bytes of the result, uncompressed.
    pub bytes: u64,
    /// Whether a `LIMIT` cut it.
    pub applied_limit: bool,
    /// How many rows it would have without the `LIMIT`.
    pub rows_before_limit: u64,
    /// Whether that number is known.
    pub calculated_rows_before_limit: bool,
    /// Whether rows were aggregated.
    pub applied_aggregation: bool,
    /// How many rows there were before.
    pub rows_before_aggregation: u64,
}

/// The status of a table.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TableStatus {
    /// Which table.
    pub name: super::TableName,
    /// Where it is replicated: its delay in seconds, and whether it is read-only.
    pub replica: Option<(u64, bool)>,
}

/// The columns of a table, as ClickHouse writes them for its own client.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TableColumns {
    /// The table, most often empty.
    pub table: String,
    /// Lines of text.
    pub columns: String,
}

impl TableColumns {
    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            table: reader.string("the name of a table", MAX_NAME)?,
            columns: reader.string("the columns of a table", MAX_TEXT)?,
        })
    }

    pub(crate) fn encode(&self, bytes: &mut Vec<u8>) {
        put_string(bytes, &self.table);
        put_string(bytes, &self.columns);
    }
}

impl ServerPacket {
    /// Reads a packet, up to its block if it has one. `revision` is the older of both sides'; for a hello, the client's.
    ///
    /// `compressed_columns` is whether the columns of a table are in a frame. Then they are not read, and the packet has
    /// empty [`TableColumns`].
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`] when the packet is not complete, [`Error::Protocol`] and [`Error::Limit`] when it is not sound,
    /// and [`Error::Unsupported`] for what servers say only to one another.
    pub fn decode(reader: &mut Reader<'_>, revision: Revision, compressed_columns: bool) -> Result<Self> {
        let number = reader.varint("the kind of a packet")?;
        Ok(match number {
            0 => Self::Hello(Box::new(decode_hello(reader, revision)?)),
            1 => decode_block(reader, BlockKind::Data)?,
            2 => Self::Exception(Box::new(decode_exception(reader)?)),
            3 => Self::Progress(decode_progress(reader, revision)?),
            4 => Self::Pong,
            5 => Self::EndOfStream,
            6 => Self::ProfileInfo(decode_profile_info(reader, revision)?),
            7 => decode_block(reader, BlockKind::Totals)?,
            8 => decode_block(reader, BlockKind::Extremes)?,
            9 => Self::TablesStatus(decode_tables_status(reader, revision)?),
            10 => decode_block(reader, BlockKind::Log)?,
            11 if compressed_columns => Self::TableColumns(TableColumns::default()),
            11 => Self::TableColumns(TableColumns::decode(reader)?),
            12 => {
                let count = reader.count("the number of parts", MAX_LIST)?;
                let parts = (0..count).map(|_| reader.array("a part"));
                Self::PartUuids(parts.collect::<Result<_>>()?)
            }
            13 => Self::ReadTaskRequest,
            14 => decode_block(reader, BlockKind::ProfileEvents)?,
            15 | 16 => {
                return Err(Error::Unsupported {
                    what: format!("packet {number} of a server"),
                    hint: "it is for parallel replicas; unset allow_experimental_parallel_reading_from_replicas",
                });
            }
            17 => Self::TimezoneUpdate(reader.string("a time zone", MAX_NAME)?),
            18 => {
                let length = reader.count("a challenge", MAX_NAME)?;
                Self::SshChallenge(reader.bytes(length, "a challenge")?.to_vec())
            }
            19 => decode_block(reader, BlockKind::Preview)?,
            other => return Err(reader.error("the kind of a packet", "0 to 19", other.to_string())),
        })
    }

    /// The first revision with packets of this kind: to older clients a server sends none.
    #[must_use]
    pub fn since(&self) -> Revision {
        match self {
            Self::TablesStatus(_) => Revision::TABLES_STATUS,
            Self::TableColumns(_) => Revision::TABLE_COLUMNS,
            Self::Block {
                kind: BlockKind::Log, ..
            } => Revision::SERVER_LOGS,
            Self::Block {
                kind: BlockKind::ProfileEvents,
                ..
            } => Revision::INCREMENTAL_PROFILE_EVENTS,
            Self::TimezoneUpdate(_) => Revision::TIME_ZONE_UPDATES,
            Self::SshChallenge(_) => Revision::SSH_AUTHENTICATION,
            _ => Revision::OLDEST,
        }
    }

    /// Writes a packet as [`ServerPacket::decode`] reads it. The block, or the frame with the columns of a table, is the
    /// caller's.
    pub fn encode(&self, revision: Revision, compressed_columns: bool, bytes: &mut Vec<u8>) {
        match self {
            Self::Hello(hello) => {
                bytes.push(0);
                encode_hello(hello, revision, bytes);
            }
            Self::Block { kind, table } => {
                bytes.push(match kind {
                    BlockKind::Data => 1,
                    BlockKind::Totals => 7,
                    BlockKind::Extremes => 8,
                    BlockKind::Log => 10,
                    BlockKind::ProfileEvents => 14,
                    BlockKind::Preview => 19,
                });
                put_string(bytes, table);
            }
            Self::Exception(exception) => {
                bytes.push(2);
                encode_exception(exception, bytes);
            }
            Self::Progress(progress) => {
                bytes.push(3);
                encode_progress(progress, revision, bytes);
            }
            Self::Pong => bytes.push(4),
            Self::EndOfStream => bytes.push(5),
            Self::ProfileInfo(info) => {
                bytes.push(6);
                encode_profile_info(info, revision, bytes);
            }
            Self::TablesStatus(tables) => {
                bytes.push(9);
                encode_tables_status(tables, revision, bytes);
            }
            Self::TableColumns(columns) => {
                bytes.push(11);
                if !compressed_columns {
                    columns.encode(bytes);
                }
            }
            Self::PartUuids(parts) => {
                bytes.push(12);
                put_varint(bytes, parts.len() as u64);
                bytes.extend(parts.iter().flatten());
            }
            Self::ReadTaskRequest => bytes.push(13),
            Self::TimezoneUpdate(zone) => {
                bytes.push(17);
                put_string(bytes, zone);
            }
            Self::SshChallenge(challenge) => {
                bytes.push(18);
                put_string(bytes, challenge);
            }
        }
    }
}

fn decode_block(reader: &mut Reader<'_>, kind: BlockKind) -> Result<ServerPacket> {
    let table = reader.string("the table of a block", MAX_NAME)?;
    Ok(ServerPacket::Block { kind, table })
}

pub(super) fn decode_chunking(reader: &mut Reader<'_>) -> Result<Chunking> {
    let word = reader.string("whether packets are in chunks", MAX_NAME)?;
    Chunking::of_word(&word).ok_or_else(|| {
        reader.error(
            "whether packets are in chunks",
            "chunked or notchunked, perhaps optional",
            format!("`{word}`"),
        )
    })
}

/// An exception, then a byte that tells whether the one that caused it follows.
fn decode_exception(reader: &mut Reader<'_>) -> Result<ServerException> {
    let mut chain: Vec<ServerException> = Vec::new();
    loop {
        chain.push(ServerException {
            code: i32::from_le_bytes(reader.array("the code of an exception")?),
            name: reader.string("the name of an exception", MAX_NAME)?,
            message: reader.string("the message of an exception", MAX_TEXT)?,
            stack_trace: reader.string("the stack trace of an exception", MAX_TEXT)?,
            nested: None,
        });
        if !reader.bool("whether an exception has a cause")? {
            break;
        }
        if chain.len() == MAX_CAUSES {
            return Err(Error::Limit {
                what: "the number of causes of an exception",
                limit: MAX_CAUSES as u64,
                found: MAX_CAUSES as u64 + 1,
            });
        }
    }
    let mut nested = None;
    while let Some(mut exception) = chain.pop() {
        exception.nested = nested;
        if chain.is_empty() {
            return Ok(exception);
        }
        nested = Some(Box::new(exception));
    }
    Err(reader.error("an exception", "one", "none".to_owned()))
}

fn encode_exception(exception: &ServerException, bytes: &mut Vec<u8>) {
    let mut next = Some(exception);
    while let Some(exception) = next {
        bytes.extend(exception.code.to_le_bytes());
        put_string(bytes, &exception.name);
        put_string(bytes, &exception.message);
        put_string(bytes, &exception.stack_trace);
        next = exception.nested.as_deref();
        bytes.push(u8::from(next.is_some()));
    }
}

fn decode_progress(reader: &mut Reader<'_>, revision: Revision) -> Result<Progress> {
    const WHAT: &str = "progress";
    let mut progress = Progress {
        rows: reader.varint(WHAT)?,
        bytes: reader.varint(WHAT)?,
        total_rows: reader.varint(WHAT)?,
        ..Progress::default()
    };
    if revision >= Revision::TOTAL_BYTES_IN_PROGRESS {
        progress.total_bytes = reader.varint(WHAT)?;
    }
    if revision >= Revision::WRITE_INFO {
        progress.written_rows = reader.varint(WHAT)?;
        progress.written_bytes = reader.varint(WHAT)?;
    }
    if revision >= Revision::QUERY_TIME_IN_PROGRESS {
        progress.elapsed_ns = reader.varint(WHAT)?;
    }
    Ok(progress)
}

fn encode_progress(progress: &Progress, revision: Revision, bytes: &mut Vec<u8>) {
    put_varint(bytes, progress.rows);
    put_varint(bytes, progress.bytes);
    put_varint(bytes, progress.total_rows);
    if revision >= Revision::TOTAL_BYTES_IN_PROGRESS {
        put_varint(bytes, progress.total_bytes);
    }
    if revision >= Revision::WRITE_INFO {
        put_varint(bytes, progress.written_rows);
        put_varint(bytes, progress.written_bytes);
    }
    if revision >= Revision::QUERY_TIME_IN_PROGRESS {
        put_varint(bytes, progress.elapsed_ns);
    }
}

fn decode_profile_info(reader: &mut Reader<'_>, revision: Revision) -> Result<ProfileInfo> {
    const WHAT: &str = "what a query did";
    let mut info = ProfileInfo {
        rows: reader.varint(WHAT)?,
        blocks: reader.varint(WHAT)?,
        bytes: reader.varint(WHAT)?,
        applied_limit: reader.bool(WHAT)?,
        rows_before_limit: reader.varint(WHAT)?,
        calculated_rows_before_limit: reader.bool(WHAT)?,
        ..ProfileInfo::default()
    };
    if revision >= Revision::ROWS_BEFORE_AGGREGATION {
        info.applied_aggregation = reader.bool(WHAT)?;
        info.rows_before_aggregation = reader.varint(WHAT)?;
    }
    Ok(info)
}

fn encode_profile_info(info: &ProfileInfo, revision: Revision, bytes: &mut Vec<u8>) {
    put_varint(bytes, info.rows);
    put_varint(bytes, info.blocks);
    put_varint(bytes, info.bytes);
    bytes.push(u8::from(info.applied_limit));
    put_varint(bytes, info.rows_before_limit);
    bytes.push(u8::from(info.calculated_rows_before_limit));
    if revision >= Revision::ROWS_BEFORE_AGGREGATION {
        bytes.push(u8::from(info.applied_aggregation));
        put_varint(bytes, info.rows_before_aggregation);
    }
}

fn decode_tables_status(reader: &mut Reader<'_>, revision: Revision) -> Result<Vec<TableStatus>> {
    const WHAT: &str = "the status of tables";
    let mut tables = Vec::new();
    for _ in 0..reader.count(WHAT, MAX_LIST)? {
        let name = super::TableName {
            database: reader.string(WHAT, MAX_NAME)?,
            table: reader.string(WHAT, MAX_NAME)?,
        };
        let replica = if reader.bool(WHAT)? {
            let delay = reader.varint(WHAT)?;
            let read_only = revision >= Revision::TABLE_READ_ONLY && reader.varint(WHAT)? != 0;
            Some((delay, read_only))
        } else {
            None
        };
        tables.push(TableStatus { name, replica });
    }
    Ok(tables)
}

fn encode_tables_status(tables: &[TableStatus], revision: Revision, bytes: &mut Vec<u8>) {
    put_varint(bytes, tables.len() as u64);
    for TableStatus { name, replica } in tables {
        put_string(bytes, &name.database);
        put_string(bytes, &name.table);
        bytes.push(u8::from(replica.is_some()));
        if let Some((delay, read_only)) = replica {
            put_varint(bytes, *delay);
            if revision >= Revision::TABLE_READ_ONLY {
                bytes.push(u8::from(*read_only));
            }
        }
    }
}

const MAX_CAUSES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::TableName;

    fn one_of_each() -> Vec<ServerPacket> {
        let exception = |code, nested| ServerException {
            code,
            name: "DB::Exception".to_owned(),
            message: "no".to_owned(),
            stack_trace: "0. here".to_owned(),
            nested,
        };
        let mut packets = vec![
            ServerPacket::Hello(Box::new(ServerHello {
                version_major: 26,
                display_name: "ebb".to_owned(),
                version_patch: 1,
                password_rules: vec![(".{8}".to_owned(), "longer".to_owned())],
                nonce: 77,
                settings: vec![("a".to_owned(), 1, "b".to_owned())],
                ..ServerHello::default()
            })),
            ServerPacket::Exception(Box::new(exception(60, Some(Box::new(exception(-1, None)))))),
            ServerPacket::Progress(Progress {
                rows: 1,
                bytes: 200,
                total_rows: 3,
                total_bytes: 4,
                written_rows: 5,
                written_bytes: 6,
                elapsed_ns: 7,
            }),
            ServerPacket::Pong,
            ServerPacket::EndOfStream,
            ServerPacket::ProfileInfo(ProfileInfo {
                rows: 300,
                blocks: 1,
                bytes: 2,
                applied_limit: true,
                rows_before_limit: 9,
                calculated_rows_before_limit: true,
                applied_aggregation: true,
                rows_before_aggregation: 5,
            }),
            ServerPacket::TablesStatus(vec![TableStatus {
                name: TableName {
                    database: "d".to_owned(),
                    table: "t".to_owned(),
                },
                replica: Some((3, true)),
            }]),
            ServerPacket::TableColumns(TableColumns {
                table: String::new(),
                columns: "columns format version: 1".to_owned(),
            }),
            ServerPacket::PartUuids(vec![[1; 16], [2; 16]]),
            ServerPacket::ReadTaskRequest,
            ServerPacket::TimezoneUpdate("Asia/Nowhere".to_owned()),
            ServerPacket::SshChallenge(vec![0xff, 0]),
        ];
        packets.extend(
            [
                BlockKind::Data,
                BlockKind::Totals,
                BlockKind::Extremes,
                BlockKind::Log,
                BlockKind::ProfileEvents,
                BlockKind::Preview,
            ]
            .map(|kind| ServerPacket::Block {
                kind,
                table: "t".to_owned(),
            }),
        );
        packets
    }

    #[test]
    fn every_packet_comes_back_and_no_part_of_it_does() {
        for packet in one_of_each() {
            let mut bytes = Vec::new();
            packet.encode(Revision::NEWEST, false, &mut bytes);
            let mut reader = Reader::new(&bytes);
            assert_eq!(
                ServerPacket::decode(&mut reader, Revision::NEWEST, false).unwrap(),
                packet
            );
            assert!(reader.rest().is_empty(), "{packet:?}");
            for end in 0..bytes.len() {
                let part = ServerPacket::decode(&mut Reader::new(&bytes[..end]), Revision::NEWEST, false);
                assert!(
                    matches!(part, Err(Error::Truncated { .. })),
                    "{packet:?} cut at {end}: {part:?}"
                );
            }
        }
    }

    #[test]
    fn packets_are_those_of_the_corpus() {
        let mut bytes = Vec::new();
        for packet in one_of_each() {
            packet.encode(Revision::NEWEST, false, &mut bytes);
        }
        let path = "clickhouse/packets/server-54492.bin";
        if std::env::var_os("TIDEMILL_BLESS").is_some() {
            std::fs::write(tidemill_testkit::corpus(path), &bytes).unwrap();
        }
        assert_eq!(
            bytes.escape_ascii().to_string(),
            tidemill_testkit::corpus_bytes(path).escape_ascii().to_string()
        );
    }

    #[test]
    fn every_packet_reads_to_its_end_at_every_revision() {
        for packet in one_of_each() {
            for revision in (Revision::OLDEST.0..=Revision::NEWEST.0).map(Revision) {
                let mut bytes = Vec::new();
                packet.encode(revision, false, &mut bytes);
                let mut reader = Reader::new(&bytes);
                let decoded = ServerPacket::decode(&mut reader, revision, false).unwrap();
                assert!(reader.rest().is_empty(), "{decoded:?} at {revision}");
            }
        }
    }

    #[test]
    fn changed_bytes_never_panic() {
        for packet in one_of_each() {
            let mut bytes = Vec::new();
            packet.encode(Revision::NEWEST, false, &mut bytes);
            for at in 0..bytes.len() {
                for bit in 0..8 {
                    let mut changed = bytes.clone();
                    changed[at] ^= 1 << bit;
                    // Whatever it is: what is read again from what it says is the same.
                    if let Ok(packet) = ServerPacket::decode(&mut Reader::new(&changed), Revision::NEWEST, false) {
                        let mut again = Vec::new();
                        packet.encode(Revision::NEWEST, false, &mut again);
                        let decoded = ServerPacket::decode(&mut Reader::new(&again), Revision::NEWEST, false);
                        assert_eq!(decoded.unwrap(), packet);
                    }
                }
            }
        }
    }

    #[test]
    fn the_hello_of_an_old_server_has_what_it_has() {
        // ClickHouse 18.16.1 to a client that announced revision 54032: name, 18, 16, 54412, and no more.
        let bytes = b"\x00\x0aClickHouse\x12\x10\x8c\xa9\x03";
        let mut reader = Reader::new(bytes);
        let ServerPacket::Hello(hello) = ServerPacket::decode(&mut reader, Revision::OLDEST, false).unwrap() else {
            panic!("no hello");
        };
        assert_eq!((hello.version_major, hello.version_minor), (18, 16));
        assert_eq!(hello.revision, Revision(54412));
        assert_eq!(hello.time_zone, "");
    }

    #[test]
    fn endless_causes_are_refused() {
        let mut bytes = vec![2];
        for _ in 0..1000 {
            bytes.extend([0, 0, 0, 0, 0, 0, 0, 1]);
        }
        let read = ServerPacket::decode(&mut Reader::new(&bytes), Revision::NEWEST, false);
        assert!(matches!(read, Err(Error::Limit { .. })), "{read:?}");
    }
}
