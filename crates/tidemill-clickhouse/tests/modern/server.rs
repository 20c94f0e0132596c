//! A server of one table, at the newest revision: enough for ClickHouse's own client to insert and select.
//!
//! Packets, frames, chunks and blocks are those of the library. What is here is the order that `Server/TCPHandler.cpp` of
//! ClickHouse keeps. A thread serves a connection; what goes wrong there is kept and fails the test.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{Arc, Mutex, MutexGuard},
    thread,
};

use arrow_array::{RecordBatch, cast::AsArray};
use arrow_schema::Schema;
use tidemill_clickhouse::{
    Block, BlockDecoder, BlockEncoder, BlockInfo, Compression, DataType, Error, Result, Revision, ServerException,
    arrow_type::{self, StringType},
    frame::{FrameDecoder, FrameEncoder, FrameHeader},
    packet::{
        chunked::{Chunking, Dechunker, agree, put_chunked},
        client::{Addendum, ClientPacket, Query, SettingValue},
        server::{BlockKind, ProfileInfo, Progress, ServerHello, ServerPacket, TableColumns, TableStatus},
    },
    source::{BlockSource, SliceSource},
    wire::Reader,
};

/// What the server has and does, and what it was asked.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// The answer to `DESC TABLE`.
    pub(crate) description: Option<Block>,
    /// The rows: what was inserted is behind what was there.
    pub(crate) blocks: Vec<Block>,
    /// Rows behind them, as the bytes of blocks, written in ways that the encoder has not.
    pub(crate) encoded: Vec<Vec<u8>>,
    /// How they are written.
    pub(crate) encoder: BlockEncoder,
    /// The bytes of the blocks that were inserted.
    pub(crate) inserted: Vec<Vec<u8>>,
    /// Totals and extremes of a query.
    pub(crate) totals: Option<Block>,
    pub(crate) extremes: Option<Block>,
    /// Lines of the log and counters, sent with every answer.
    pub(crate) logs: Option<Block>,
    pub(crate) profile_events: Option<Block>,
    /// What queries for rows, and inserts, fail with: behind the first block.
    pub(crate) exception: Option<ServerException>,
    /// The tables that came with queries.
    pub(crate) external: Vec<(String, Block)>,
    /// Each query that came.
    pub(crate) queries: Vec<Query>,
    /// The user of each connection.
    pub(crate) users: Vec<String>,
    /// The time zone that sessions are told before the columns of an answer.
    pub(crate) time_zone: Option<String>,
    /// The time zone that sessions are told behind each block of rows.
    pub(crate) later_time_zone: Option<String>,
    /// How far it is behind as a replica, and whether it is read-only.
    pub(crate) replica: Option<(u64, bool)>,
    /// What the last connection agreed on: the revision, and whether there are chunks to the server and to the client.
    pub(crate) agreed: Option<(Revision, bool, bool)>,
    /// The version that it says it has. Default: 26.9.
    pub(crate) version: Option<(u64, u64)>,
    /// What went wrong with connections.
    pub(crate) failures: Vec<String>,
}

impl Table {
    /// A block without rows, of the columns that `DESC TABLE` answers.
    pub(crate) fn header(&self) -> Result<Block> {
        let Some(description) = &self.description else {
            return Err(wrong("the table that a query names", "one that exists"));
        };
        let texts = |name: &str| {
            let column = description.batch.column_by_name(name).expect("a column of DESC TABLE");
            let texts = column.as_string::<i32>().iter().flatten();
            texts.map(str::to_owned).collect::<Vec<_>>()
        };
        let types = texts("type")
            .iter()
            .map(|text| text.parse())
            .collect::<Result<Vec<DataType>>>()?;
        let fields = texts("name").into_iter().zip(&types);
        let fields = fields.map(|(name, data_type)| arrow_type::field(name, data_type, StringType::Binary));
        Ok(Block {
            batch: RecordBatch::new_empty(Arc::new(Schema::new(fields.collect::<Vec<_>>()))),
            types,
            info: BlockInfo::default(),
        })
    }
}

/// A server that listens. Its threads end with the clients.
pub(crate) struct Server {
    table: Arc<Mutex<Table>>,
    port: u16,
}

impl Server {
    /// Listens as a server of `revision` that wants chunks as `chunking` says.
    pub(crate) fn start(revision: Revision, chunking: Chunking) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let table = Arc::new(Mutex::new(Table::default()));
        let shared = Arc::clone(&table);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let table = Arc::clone(&shared);
                thread::spawn(move || {
                    let served = stream.map_err(io("accept a connection")).and_then(|stream| {
                        let mut connection = Connection::greet(stream, &table, revision, chunking)?;
                        connection.serve(&table)
                    });
                    match served {
                        Ok(()) | Err(Error::Closed { .. }) => {}
                        Err(error) => lock(&table).failures.push(error.to_string()),
                    }
                });
            }
        });
        Self { table, port }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The table, when nothing went wrong.
    pub(crate) fn table(&self) -> MutexGuard<'_, Table> {
        let table = lock(&self.table);
        assert!(table.failures.is_empty(), "{:?}", table.failures);
        table
    }

    /// What went wrong.
    pub(crate) fn failures(&self) -> Vec<String> {
        lock(&self.table).failures.clone()
    }
}

fn lock(table: &Mutex<Table>) -> MutexGuard<'_, Table> {
    table.lock().expect("no thread has panicked")
}

struct Connection {
    stream: TcpStream,
    /// What was received and not read, without chunks.
    received: Vec<u8>,
    dechunker: Option<Dechunker>,
    sends_chunks: bool,
    revision: Revision,
    encoder: BlockEncoder,
    frames: FrameDecoder,
}

impl Connection {
    /// Hello, hello, addendum.
    fn greet(stream: TcpStream, table: &Mutex<Table>, revision: Revision, chunking: Chunking) -> Result<Self> {
        stream.set_nodelay(true).map_err(io("set an option"))?;
        let mut connection = Self {
            stream,
            received: Vec::new(),
            dechunker: None,
            sends_chunks: false,
            revision,
            encoder: BlockEncoder::default(),
            frames: FrameDecoder::default(),
        };
        let ClientPacket::Hello(client) = connection.read(|reader| ClientPacket::decode(reader, revision))? else {
            return Err(wrong("the first packet", "a hello"));
        };
        if !USERS.contains(&(client.user.as_str(), client.password.as_str())) {
            return Err(wrong("who connects", "a user that the tests name"));
        }
        lock(table).users.push(client.user);
        let (version_major, version_minor) = lock(table).version.unwrap_or((26, 9));
        let hello = ServerHello {
            name: "Tidemill".to_owned(),
            version_major,
            version_minor,
            version_patch: 2,
            revision,
            parallel_replicas_version: 8,
            time_zone: "UTC".to_owned(),
            display_name: "mill".to_owned(),
            send_chunked: chunking,
            receive_chunked: chunking,
            password_rules: vec![(".{4}".to_owned(), "be at least 4 characters long".to_owned())],
            nonce: 0x0123_4567_89ab_cdef,
            settings: vec![("max_threads".to_owned(), 0, "2".to_owned())],
            query_plan_version: 1,
            cluster_function_version: 1,
        };
        connection.send(&ServerPacket::Hello(Box::new(hello)), None)?;
        connection.revision = revision.min(client.revision);
        let agreed = connection.revision;
        let addendum = connection.read(|reader| Addendum::decode(reader, agreed))?;
        let has_chunks = agreed >= Revision::CHUNKED_PACKETS;
        let receives = has_chunks && agree(chunking, addendum.send_chunked)?;
        connection.sends_chunks = has_chunks && agree(chunking, addendum.receive_chunked)?;
        if receives {
            let mut dechunker = Dechunker::default();
            // What came with the addendum is in chunks already.
            let behind = std::mem::take(&mut connection.received);
            dechunker.take_off(&behind, &mut connection.received);
            connection.dechunker = Some(dechunker);
        }
        lock(table).agreed = Some((connection.revision, receives, connection.sends_chunks));
        Ok(connection)
    }

    /// Answers packets until the client goes.
    fn serve(&mut self, table: &Mutex<Table>) -> Result<()> {
        loop {
            match self.packet()? {
                ClientPacket::Ping => self.send(&ServerPacket::Pong, None)?,
                // A query that has ended cannot be cancelled.
                ClientPacket::Cancel | ClientPacket::KeepAlive => {}
                ClientPacket::TablesStatusRequest(names) => {
                    let replica = lock(table).replica;
                    let status = |name| TableStatus { name, replica };
                    self.send(
                        &ServerPacket::TablesStatus(names.into_iter().map(status).collect()),
                        None,
                    )?;
                }
                ClientPacket::Query(query) => {
                    self.encoder = lock(table).encoder;
                    let external = self.external_tables(&query)?;
                    lock(table).external.extend(external);
                    lock(table).queries.push((*query).clone());
                    self.answer(&query, table)?;
                }
                _ => return Err(wrong("a packet between queries", "a query, a ping or a question")),
            }
        }
    }

    fn external_tables(&mut self, query: &Query) -> Result<Vec<(String, Block)>> {
        let mut tables = Vec::new();
        loop {
            match self.packet()? {
                ClientPacket::Data { table } => {
                    let (block, _) = self.block(query.is_compressed)?;
                    if table.is_empty() && block.batch.num_columns() == 0 {
                        return Ok(tables);
                    }
                    tables.push((table, block));
                }
                ClientPacket::Scalar { .. } => {
                    self.block(query.is_compressed)?;
                }
                _ => return Err(wrong("a packet behind a query", "external tables")),
            }
        }
    }

    fn answer(&mut self, query: &Query, table: &Mutex<Table>) -> Result<()> {
        let mut frames = FrameEncoder::new(compression(query))?;
        let mut frames = query.is_compressed.then_some(&mut frames);
        if query.text.starts_with("DESC") {
            let description = lock(table).description.clone();
            let description = description.ok_or_else(|| wrong("the table that a query names", "one that exists"))?;
            self.block_out(BlockKind::Data, &empty(&description), &mut frames)?;
            self.block_out(BlockKind::Data, &description, &mut frames)?;
            self.end(&[description], &mut frames)?;
        } else if query.text.starts_with("SET") {
            self.send(&ServerPacket::EndOfStream, None)?;
        } else if query.text.starts_with("INSERT") {
            self.insert(query, table, &mut frames)?;
        } else {
            self.select(query, table, &mut frames)?;
        }
        Ok(())
    }

    fn select(&mut self, query: &Query, table: &Mutex<Table>, frames: &mut Option<&mut FrameEncoder>) -> Result<()> {
        let (header, blocks, totals, extremes, exception) = {
            let table = lock(table);
            let header = match table.blocks.first() {
                Some(block) => empty(block),
                None => table.header()?,
            };
            let (totals, extremes) = (table.totals.clone(), table.extremes.clone());
            (header, table.blocks.clone(), totals, extremes, table.exception.clone())
        };
        if let Some(zone) = lock(table).time_zone.clone() {
            self.send(&ServerPacket::TimezoneUpdate(zone), None)?;
        }
        self.side_packets(query, table, frames)?;
        self.block_out(BlockKind::Data, &header, frames)?;
        for block in &blocks {
            self.block_out(BlockKind::Data, block, frames)?;
            if let Some(exception) = exception {
                return self.send(&ServerPacket::Exception(Box::new(exception)), None);
            }
            self.side_packets(query, table, frames)?;
            let zone = lock(table).later_time_zone.clone();
            let zone = zone.or_else(|| lock(table).time_zone.clone());
            // As `sendTimezone` has it.
            let zone = zone.unwrap_or_else(|| setting(query, "session_timezone").unwrap_or_default());
            self.send(&ServerPacket::TimezoneUpdate(zone), None)?;
        }
        let encoded = lock(table).encoded.clone();
        for bytes in encoded {
            self.encoded_block_out(BlockKind::Data, bytes, frames)?;
        }
        for (kind, block) in [(BlockKind::Totals, totals), (BlockKind::Extremes, extremes)] {
            if let Some(block) = block {
                self.block_out(kind, &block, frames)?;
            }
        }
        self.end(&blocks, frames)
    }

    fn insert(&mut self, query: &Query, table: &Mutex<Table>, frames: &mut Option<&mut FrameEncoder>) -> Result<()> {
        let sample = lock(table).header()?;
        self.table_columns(&sample, frames)?;
        self.block_out(BlockKind::Data, &sample, frames)?;
        let mut exception = lock(table).exception.clone();
        let mut failed = false;
        loop {
            let ClientPacket::Data { .. } = self.packet()? else {
                return Err(wrong("a packet of an insert", "data"));
            };
            let (block, bytes) = self.block(query.is_compressed)?;
            if block.batch.num_columns() == 0 {
                break;
            }
            if let Some(exception) = exception.take() {
                self.send(&ServerPacket::Exception(Box::new(exception)), None)?;
                failed = true;
            }
            // What was on its way when the insert failed is read and forgotten.
            if !failed {
                let mut table = lock(table);
                table.blocks.push(block);
                table.inserted.push(bytes);
            }
        }
        if failed {
            return Ok(());
        }
        self.side_packets(query, table, frames)?;
        let rows = lock(table).blocks.iter().map(|block| block.rows() as u64).sum();
        let written = Progress {
            written_rows: rows,
            written_bytes: 8 * rows,
            ..Progress::default()
        };
        self.send(&ServerPacket::Progress(written), None)?;
        self.send(&ServerPacket::EndOfStream, None)
    }

    fn end(&mut self, blocks: &[Block], frames: &mut Option<&mut FrameEncoder>) -> Result<()> {
        let rows = blocks.iter().map(|block| block.rows() as u64).sum();
        let info = ProfileInfo {
            rows,
            blocks: blocks.len() as u64,
            bytes: 8 * rows,
            ..ProfileInfo::default()
        };
        self.send(&ServerPacket::ProfileInfo(info), None)?;
        self.send(&ServerPacket::Progress(progress(rows)), None)?;
        let nothing = RecordBatch::new_empty(Arc::new(Schema::empty()));
        self.block_out(BlockKind::Data, &Block::new(nothing)?, frames)?;
        self.send(&ServerPacket::EndOfStream, None)
    }

    /// What a server sends beside the rows.
    fn side_packets(
        &mut self,
        query: &Query,
        table: &Mutex<Table>,
        frames: &mut Option<&mut FrameEncoder>,
    ) -> Result<()> {
        let (logs, events) = {
            let table = lock(table);
            (table.logs.clone(), table.profile_events.clone())
        };
        self.send(&ServerPacket::Progress(progress(0)), None)?;
        let of_an_insert = query.text.starts_with("INSERT");
        let events = events.filter(|_| !of_an_insert || self.revision >= Revision::PROFILE_EVENTS_IN_INSERT);
        for (kind, block) in [(BlockKind::ProfileEvents, events), (BlockKind::Log, logs)] {
            if let Some(block) = block {
                self.block_out(kind, &block, frames)?;
            }
        }
        Ok(())
    }

    fn table_columns(&mut self, sample: &Block, frames: &mut Option<&mut FrameEncoder>) -> Result<()> {
        let names = sample.batch.schema();
        let lines = names.fields().iter().zip(&sample.types);
        let lines = lines.map(|(field, data_type)| format!("`{}` {data_type}\n", field.name()));
        let columns = TableColumns {
            table: String::new(),
            columns: format!(
                "columns format version: 1\n{} columns:\n{}",
                sample.types.len(),
                lines.collect::<String>()
            ),
        };
        let mut inside = Vec::new();
        let is_compressed = frames.is_some() && self.revision >= Revision::COMPRESSED_LOGS;
        if is_compressed {
            tidemill_clickhouse::wire::put_string(&mut inside, &columns.table);
            tidemill_clickhouse::wire::put_string(&mut inside, &columns.columns);
        }
        let packet = ServerPacket::TableColumns(columns);
        if self.revision < packet.since() {
            return Ok(());
        }
        let mut bytes = Vec::new();
        packet.encode(self.revision, is_compressed, &mut bytes);
        if let Some(frames) = frames {
            frames.encode(&inside, &mut bytes)?;
        }
        self.write(&bytes)
    }

    fn block_out(&mut self, kind: BlockKind, block: &Block, frames: &mut Option<&mut FrameEncoder>) -> Result<()> {
        let mut inside = Vec::new();
        self.encoder.encode(block, self.revision, &mut inside)?;
        self.encoded_block_out(kind, inside, frames)
    }

    fn encoded_block_out(
        &mut self,
        kind: BlockKind,
        mut inside: Vec<u8>,
        frames: &mut Option<&mut FrameEncoder>,
    ) -> Result<()> {
        if let Some(frames) = frames
            && kind.is_compressed(self.revision)
        {
            let mut bytes = Vec::new();
            frames.encode(&inside, &mut bytes)?;
            inside = bytes;
        }
        let table = String::new();
        self.send(&ServerPacket::Block { kind, table }, Some(&inside))
    }

    /// Sends a packet, and the block behind it, to a client that knows it.
    fn send(&mut self, packet: &ServerPacket, block: Option<&[u8]>) -> Result<()> {
        if self.revision < packet.since() {
            return Ok(());
        }
        let mut bytes = Vec::new();
        packet.encode(self.revision, false, &mut bytes);
        bytes.extend_from_slice(block.unwrap_or_default());
        self.write(&bytes)
    }

    fn write(&mut self, packet: &[u8]) -> Result<()> {
        let mut chunks = Vec::new();
        let bytes = if self.sends_chunks {
            put_chunked(&mut chunks, packet);
            &chunks
        } else {
            packet
        };
        self.stream.write_all(bytes).map_err(io("send"))
    }

    fn packet(&mut self) -> Result<ClientPacket> {
        let revision = self.revision;
        self.read(|reader| ClientPacket::decode(reader, revision))
    }

    /// Reads a block and returns it with its bytes.
    fn block(&mut self, is_compressed: bool) -> Result<(Block, Vec<u8>)> {
        let decoder = BlockDecoder {
            strings: StringType::Binary,
            ..BlockDecoder::default()
        };
        let mut inside = Vec::new();
        loop {
            let mut source = SliceSource::new(if is_compressed { &inside } else { &self.received });
            match decoder.decode_blocking(&mut source, self.revision) {
                Err(Error::Truncated { .. }) if is_compressed => self.frame(&mut inside)?,
                Err(Error::Truncated { .. }) => self.fill()?,
                Err(error) => return Err(error),
                Ok(block) if is_compressed => {
                    let left = source.buffered().len();
                    if left != 0 {
                        return Err(wrong("the frames of a block", "nothing behind the block"));
                    }
                    return Ok((block, inside));
                }
                Ok(block) => {
                    let rest = source.buffered().to_vec();
                    let mut bytes = std::mem::replace(&mut self.received, rest);
                    bytes.truncate(bytes.len() - self.received.len());
                    return Ok((block, bytes));
                }
            }
        }
    }

    /// Reads a frame and appends what it holds.
    fn frame(&mut self, inside: &mut Vec<u8>) -> Result<()> {
        let (header, frame) = self.read(|reader| {
            let mut ahead = reader.clone();
            let header = FrameHeader::decode(&ahead.array("a frame")?, 0)?;
            let frame = reader.bytes(FrameHeader::SIZE + header.compressed(), "a frame")?;
            Ok((header, frame.to_vec()))
        })?;
        let begin = inside.len();
        inside.resize(begin + header.decompressed(), 0);
        self.frames.decode(&header, &frame, &mut inside[begin..], 0)
    }

    /// Decodes what was received, and receives more until that works.
    fn read<T>(&mut self, decode: impl Fn(&mut Reader<'_>) -> Result<T>) -> Result<T> {
        loop {
            let mut reader = Reader::new(&self.received);
            match decode(&mut reader) {
                Err(Error::Truncated { .. }) => self.fill()?,
                Err(error) => return Err(error),
                Ok(value) => {
                    self.received = reader.rest().to_vec();
                    return Ok(value);
                }
            }
        }
    }

    fn fill(&mut self) -> Result<()> {
        let mut bytes = vec![0; 1 << 16];
        let count = self.stream.read(&mut bytes).map_err(io("receive"))?;
        match &mut self.dechunker {
            _ if count == 0 && self.received.is_empty() => Err(Error::Closed { why: "the client went" }),
            _ if count == 0 => Err(wrong("the end of a connection", "the rest of a packet")),
            Some(dechunker) => {
                dechunker.take_off(&bytes[..count], &mut self.received);
                Ok(())
            }
            None => {
                self.received.extend_from_slice(&bytes[..count]);
                Ok(())
            }
        }
    }
}

/// Who may connect, and by which password.
const USERS: [(&str, &str); 2] = [("miller", "water"), ("smith", "fire")];

fn empty(block: &Block) -> Block {
    Block {
        batch: block.batch.slice(0, 0),
        ..block.clone()
    }
}

fn progress(rows: u64) -> Progress {
    Progress {
        rows,
        bytes: 8 * rows,
        total_rows: rows,
        elapsed_ns: 1_000_000,
        ..Progress::default()
    }
}

/// The text of a setting.
fn setting(query: &Query, name: &str) -> Option<String> {
    let setting = query.settings.iter().find(|setting| setting.name == name)?;
    match &setting.value {
        SettingValue::Text(text) => Some(text.clone()),
        SettingValue::Number(_) => None,
    }
}

/// As the client wants it, ClickHouse's default otherwise.
fn compression(query: &Query) -> Compression {
    match setting(query, "network_compression_method").as_deref() {
        Some("NONE") => Compression::Checksum,
        Some(text) => text.parse().expect("a method"),
        None => Compression::Zstd(1),
    }
}

fn wrong(what: &'static str, expected: &'static str) -> Error {
    Error::Protocol {
        what,
        offset: 0,
        expected,
        found: "something else".to_owned(),
    }
}

fn io(action: &'static str) -> impl FnOnce(std::io::Error) -> Error {
    move |source| Error::Io { action, source }
}
