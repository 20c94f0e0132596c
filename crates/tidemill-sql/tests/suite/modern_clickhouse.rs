//! A server of today: ClickHouse itself in a Python process (chdb), behind the native protocol.
//!
//! Packets and frames are those of the library; each query goes to chdb, and what it answers in FORMAT Native comes back block by block. Queries
//! alone are served: inserts are for [`ModernClickHouse::run`].

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use tidemill_clickhouse::arrow_type::{self, StringType};
use tidemill_clickhouse::frame::{FrameDecoder, FrameEncoder, FrameHeader};
use tidemill_clickhouse::packet::chunked::Chunking;
use tidemill_clickhouse::packet::client::{ClientPacket, Query, SettingValue};
use tidemill_clickhouse::packet::server::{BlockKind, ServerHello, ServerPacket};
use tidemill_clickhouse::source::{BlockSource, SliceSource};
use tidemill_clickhouse::wire::Reader;
use tidemill_clickhouse::{
    Block, BlockDecoder, BlockEncoder, BlockInfo, Compression, DataType, Error, NativeReader, Result, Revision,
    ServerException,
};
use tidemill_testkit::Chdb;

/// Before the addendum and the serializations that a block names.
const REVISION: Revision = Revision::INCREMENTAL_PROFILE_EVENTS;

pub(crate) struct ModernClickHouse {
    chdb: Arc<Mutex<Chdb>>,
    address: SocketAddr,
}

impl ModernClickHouse {
    /// A server that listens until the process ends; `None` where chdb is not there, and need not be.
    pub(crate) fn need() -> Option<Self> {
        let chdb = Arc::new(Mutex::new(Chdb::need()?));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let (shared, headers) = (Arc::clone(&chdb), Headers::default());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (chdb, headers) = (Arc::clone(&shared), Arc::clone(&headers));
                thread::spawn(move || {
                    let mut connection = Connection {
                        stream,
                        received: Vec::new(),
                        headers,
                    };
                    match connection.serve(&chdb) {
                        Ok(()) | Err(Error::Closed { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                });
            }
        });
        Some(Self { chdb, address })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Runs a statement without rows.
    pub(crate) fn run(&self, sql: &str) {
        let mut chdb = self.chdb.lock().expect("no thread has panicked");
        chdb.query(sql, "Null").unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// The columns of an answer without rows, of which FORMAT Native says nothing.
fn header(chdb: &Mutex<Chdb>, sql: &str) -> Result<Block> {
    let mut chdb = chdb.lock().expect("no thread has panicked");
    let lines = chdb.query(sql, "TabSeparatedWithNamesAndTypes").expect("an answer");
    let lines = String::from_utf8(lines).expect("text");
    let mut lines = lines.lines().map(|line| line.split('\t'));
    let (names, types) = (lines.next().expect("names"), lines.next().expect("types"));
    let types = types
        .map(|name| name.replace("\\'", "'").parse())
        .collect::<Result<Vec<DataType>>>()?;
    let fields = names.zip(&types);
    let fields = fields.map(|(name, data_type)| arrow_type::field(name, data_type, StringType::Utf8));
    Ok(Block {
        batch: RecordBatch::new_empty(Arc::new(Schema::new(fields.collect::<Vec<_>>()))),
        types,
        info: BlockInfo::default(),
    })
}

struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
    /// The columns of answers without rows, by their queries: tables are asked for theirs again and again.
    headers: Headers,
}

type Headers = Arc<Mutex<HashMap<String, Block>>>;

impl Connection {
    fn serve(&mut self, chdb: &Mutex<Chdb>) -> Result<()> {
        self.packet()?;
        let hello = ServerHello {
            name: "ClickHouse".to_owned(),
            version_major: 26,
            version_minor: 9,
            version_patch: 0,
            revision: REVISION,
            parallel_replicas_version: 0,
            time_zone: "UTC".to_owned(),
            display_name: "chdb".to_owned(),
            send_chunked: Chunking::NotChunked,
            receive_chunked: Chunking::NotChunked,
            password_rules: Vec::new(),
            nonce: 0,
            settings: Vec::new(),
            query_plan_version: 0,
            cluster_function_version: 0,
        };
        self.send(&ServerPacket::Hello(Box::new(hello)), &[])?;
        loop {
            match self.packet()? {
                ClientPacket::Ping => self.send(&ServerPacket::Pong, &[])?,
                ClientPacket::Query(query) => {
                    // The empty block behind the tables that come with a query.
                    let ClientPacket::Data { .. } = self.packet()? else {
                        panic!("a packet behind a query other than data");
                    };
                    self.pass_block(query.is_compressed)?;
                    self.answer(&query, chdb)?;
                }
                _ => {}
            }
        }
    }

    fn answer(&mut self, query: &Query, chdb: &Mutex<Chdb>) -> Result<()> {
        let mut text = query.text.clone();
        let mut settings = Vec::new();
        for setting in &query.settings {
            if let SettingValue::Text(value) = &setting.value
                && setting.name.starts_with("output_format_native")
            {
                settings.push(format!("{} = {value}", setting.name));
            }
        }
        if !settings.is_empty() {
            text += &format!(" SETTINGS {}", settings.join(", "));
        }
        let known = self.headers.lock().expect("no thread has panicked").get(&text).cloned();
        if let Some(header) = known {
            self.block(query, &header)?;
            return self.end(query);
        }
        let answered = chdb.lock().expect("no thread has panicked").query(&text, "Native");
        let bytes = match answered {
            Ok(bytes) => bytes,
            Err(error) => {
                let exception = ServerException {
                    code: 1,
                    name: "DB::Exception".to_owned(),
                    message: error.to_string(),
                    stack_trace: String::new(),
                    nested: None,
                };
                return self.send(&ServerPacket::Exception(Box::new(exception)), &[]);
            }
        };
        let blocks = NativeReader::new(bytes.as_slice()).collect::<Result<Vec<_>>>()?;
        let header = match blocks.first() {
            Some(block) => Block {
                batch: block.batch.slice(0, 0),
                ..block.clone()
            },
            None => {
                let header = header(chdb, &text)?;
                // Tables do not change; what else is empty may.
                if text.ends_with(" LIMIT 0") {
                    let mut headers = self.headers.lock().expect("no thread has panicked");
                    headers.insert(text, header.clone());
                }
                header
            }
        };
        self.block(query, &header)?;
        for block in blocks.iter().filter(|block| block.rows() > 0) {
            self.block(query, block)?;
        }
        self.end(query)
    }

    fn end(&mut self, query: &Query) -> Result<()> {
        self.block(query, &Block::new(RecordBatch::new_empty(Arc::new(Schema::empty())))?)?;
        self.send(&ServerPacket::EndOfStream, &[])
    }

    fn block(&mut self, query: &Query, block: &Block) -> Result<()> {
        let mut bytes = Vec::new();
        BlockEncoder::default().encode(block, REVISION, &mut bytes)?;
        if query.is_compressed {
            let mut framed = Vec::new();
            FrameEncoder::new(Compression::Lz4)?.encode(&bytes, &mut framed)?;
            bytes = framed;
        }
        let packet = ServerPacket::Block {
            kind: BlockKind::Data,
            table: String::new(),
        };
        self.send(&packet, &bytes)
    }

    fn send(&mut self, packet: &ServerPacket, behind: &[u8]) -> Result<()> {
        let mut bytes = Vec::new();
        packet.encode(REVISION, false, &mut bytes);
        bytes.extend_from_slice(behind);
        let sent = self.stream.write_all(&bytes);
        sent.map_err(|source| Error::Io { action: "send", source })
    }

    fn packet(&mut self) -> Result<ClientPacket> {
        self.read(|reader| ClientPacket::decode(reader, REVISION))
    }

    /// Reads a block that nobody wants.
    fn pass_block(&mut self, is_compressed: bool) -> Result<()> {
        if is_compressed {
            let mut frames = FrameDecoder::default();
            let (header, frame) = self.read(|reader| {
                let mut ahead = reader.clone();
                let header = FrameHeader::decode(&ahead.array("a frame")?, 0)?;
                let frame = reader.bytes(FrameHeader::SIZE + header.compressed(), "a frame")?;
                Ok((header, frame.to_vec()))
            })?;
            let mut inside = vec![0; header.decompressed()];
            return frames.decode(&header, &frame, &mut inside, 0);
        }
        loop {
            let mut source = SliceSource::new(&self.received);
            match BlockDecoder::default().decode_blocking(&mut source, REVISION) {
                Err(Error::Truncated { .. }) => self.fill()?,
                Err(error) => return Err(error),
                Ok(_) => {
                    self.received = source.buffered().to_vec();
                    return Ok(());
                }
            }
        }
    }

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
        match self.stream.read(&mut bytes) {
            Ok(0) => Err(Error::Closed { why: "the client went" }),
            Ok(count) => {
                self.received.extend_from_slice(&bytes[..count]);
                Ok(())
            }
            Err(source) => Err(Error::Io {
                action: "receive",
                source,
            }),
        }
    }
}
