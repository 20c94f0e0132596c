//! ClickHouse's own client of today, in chdb, against a server that speaks by this library.
//!
//! `remote('127.0.0.1:PORT', …)` is that client. What it sends is decoded, and what is encoded it reads, at the newest revision
//! and at older ones that it still serves.

mod server;

use std::sync::MutexGuard;

use tidemill_clickhouse::{
    Block, BlockDecoder, BlockEncoder, Revision, arrow_type::StringType, packet::chunked::Chunking, source::SliceSource,
};
use tidemill_testkit::{Chdb, corpus_bytes};

use crate::server::{Server, Table};

const SETTINGS: &str = "allow_experimental_variant_type=1, allow_experimental_dynamic_type=1, allow_experimental_json_type=1, \
                        allow_experimental_qbit_type=1, enable_time_time64_type=1, allow_suspicious_low_cardinality_types=1, \
                        allow_suspicious_variant_types=1, allow_experimental_nullable_tuple_type=1";

/// How client and server talk.
#[derive(Clone, Copy, Debug)]
struct Wire {
    /// What the server announces.
    revision: Revision,
    /// What the server wants, and what the client does.
    chunking: [Chunking; 2],
    /// How the client compresses. `None`: without frames.
    method: Option<&'static str>,
}

const NEWEST: Wire = Wire {
    revision: Revision::NEWEST,
    chunking: [Chunking::NotChunkedOptional, Chunking::NotChunked],
    method: Some("ZSTD"),
};

/// A query of the corpus.
struct Question {
    name: String,
    query: String,
    /// Settings of `FORMAT Native`, which have no part in what connections carry.
    settings: String,
}

fn questions() -> Vec<Question> {
    let queries = String::from_utf8(corpus_bytes("clickhouse/native/queries.tsv")).expect("text");
    let question = |line: &str| {
        let mut parts = line.split('\t').map(str::to_owned);
        let mut part = || parts.next().unwrap_or_default();
        Question {
            name: part(),
            query: part(),
            settings: part(),
        }
    };
    queries.lines().map(question).collect()
}

/// ClickHouse, and the server that it talks to.
struct Client {
    chdb: Chdb,
    server: Server,
    wire: Wire,
}

impl Client {
    fn need(wire: Wire) -> Option<Self> {
        let [servers, clients] = wire.chunking;
        let server = Server::start(wire.revision, servers);
        let configuration = format!(
            "<clickhouse><remote_servers><mill><shard><replica>\
             <host>127.0.0.1</host><port>{}</port><user>miller</user><password>water</password>\
             <compression>{}</compression><proto_caps><send>{2}</send><recv>{2}</recv></proto_caps>\
             </replica></shard></mill></remote_servers></clickhouse>",
            server.port(),
            wire.method.is_some(),
            clients.as_str(),
        );
        let chdb = Chdb::need_with(&configuration)?;
        Some(Self { chdb, server, wire })
    }

    /// The server's table, for `INSERT INTO FUNCTION` and for `SELECT`.
    fn table(&self) -> String {
        if self.wire.chunking == NEWEST.chunking && self.wire.method.is_some() {
            let port = self.server.port();
            format!("remote('127.0.0.1:{port}', 'sea', 'tides', 'miller', 'water')")
        } else {
            // Only clusters can be told whether to compress and to send in chunks.
            "cluster('mill', 'sea', 'tides')".to_owned()
        }
    }

    /// Gives the server the table that `query` makes, without its rows.
    fn create(&mut self, query: &str) -> MutexGuard<'_, Table> {
        let description = self.ask(&format!("DESCRIBE TABLE ({query} SETTINGS {SETTINGS})"), "");
        let mut table = self.server.table();
        *table = Table {
            description: Some(decode(&description, StringType::Utf8)),
            agreed: table.agreed,
            ..Table::default()
        };
        table
    }

    /// The answer in `FORMAT Native`.
    fn ask(&mut self, query: &str, settings: &str) -> Vec<u8> {
        self.try_to_ask(query, settings)
            .unwrap_or_else(|error| panic!("{query} by {:?}: {error}; {:?}", self.wire, self.server.failures()))
    }

    fn try_to_ask(&mut self, query: &str, settings: &str) -> Result<Vec<u8>, String> {
        let comma = if settings.is_empty() { "" } else { ", " };
        let method = self.wire.method.unwrap_or("ZSTD");
        let query = format!("{query} SETTINGS {SETTINGS}, network_compression_method='{method}'{comma}{settings}");
        self.chdb.query(&query, "Native").map_err(|error| error.to_string())
    }

    fn insert(&mut self, query: &str) {
        self.ask(&format!("INSERT INTO FUNCTION {} {query}", self.table()), "");
    }

    fn select(&mut self, settings: &str) -> Vec<u8> {
        self.ask(&format!("SELECT * FROM {}", self.table()), settings)
    }
}

fn decode(bytes: &[u8], strings: StringType) -> Block {
    let decoder = BlockDecoder {
        strings,
        ..BlockDecoder::default()
    };
    let block = decoder.decode_blocking(&mut SliceSource::new(bytes), Revision::FILE);
    block.expect("a block")
}

/// The bytes of a file of these blocks.
fn file(blocks: &[Block]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for block in blocks {
        let encoded = BlockEncoder::default().encode(block, Revision::FILE, &mut bytes);
        encoded.expect("a block");
    }
    bytes
}

fn assert_same(found: &[u8], expected: &[u8], what: &str) {
    let (found, expected) = (found.escape_ascii().to_string(), expected.escape_ascii().to_string());
    assert!(found == expected, "{what}\n   found: {found}\nexpected: {expected}");
}

/// Inserts into the server what the queries of the corpus answer, and selects it again.
fn exchange_every_type(wire: Wire) {
    let Some(mut client) = Client::need(wire) else { return };
    for Question { name, query, settings } in questions() {
        let what = format!("{name} by {wire:?}");
        drop(client.create(&query));
        client.insert(&query);
        let received = file(&client.server.table().blocks);
        assert_same(&received, &client.ask(&query, ""), &what);
        let selected = client.select(&settings);
        let is_compressed: Vec<bool> = client
            .server
            .table()
            .queries
            .iter()
            .map(|query| query.is_compressed)
            .collect();
        assert!(
            is_compressed.len() > 2 && is_compressed.iter().all(|is| *is == wire.method.is_some()),
            "{what}"
        );
        assert_same(&selected, &client.ask(&query, &settings), &what);
    }
    let has_chunks = wire.chunking.iter().all(|side| *side != Chunking::NotChunked);
    assert_eq!(
        client.server.table().agreed,
        Some((wire.revision, has_chunks, has_chunks))
    );
}

#[test]
fn every_type_is_inserted_and_selected() {
    exchange_every_type(NEWEST);
}

#[test]
fn every_type_is_exchanged_by_every_compression() {
    for method in [None, Some("NONE"), Some("LZ4"), Some("LZ4HC")] {
        exchange_every_type(Wire { method, ..NEWEST });
    }
}

#[test]
fn every_type_is_exchanged_at_older_revisions() {
    for revision in [54448, 54453, 54454, 54472, 54473, 54480, 54491].map(Revision) {
        exchange_every_type(Wire { revision, ..NEWEST });
    }
}

#[test]
fn every_type_is_exchanged_in_chunks() {
    for (chunking, method) in [
        ([Chunking::Chunked, Chunking::ChunkedOptional], Some("LZ4")),
        ([Chunking::NotChunkedOptional, Chunking::Chunked], None),
        ([Chunking::Chunked, Chunking::Chunked], Some("ZSTD")),
    ] {
        exchange_every_type(Wire {
            chunking,
            method,
            ..NEWEST
        });
    }
}
