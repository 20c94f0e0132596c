//! ClickHouse's own client of today, in chdb, against a server that speaks by this library.
//!
//! `remote('127.0.0.1:PORT', …)` is that client. What it sends is decoded, and what is encoded it reads, at the newest revision
//! and at older ones that it still serves. [`client`] has the library's own client in its place.

#[path = "../suite/any_type/mod.rs"]
mod any_type;
mod client;
#[path = "../suite/generate/mod.rs"]
mod generate;
mod server;
mod spans;
mod time_zone;

use std::{
    fs,
    sync::{Arc, MutexGuard},
};

use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, RecordBatch, cast::AsArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_select::concat::concat_batches;
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};
use tidemill_clickhouse::{
    Block, BlockDecoder, BlockEncoder, DataType, NativeReader, Revision, ServerException,
    arrow_type::StringType,
    packet::{
        chunked::Chunking,
        client::{QueryKind, SettingValue, Stage},
    },
    source::SliceSource,
    wire::{put_string, put_varint},
};
use tidemill_testkit::{Chdb, corpus, corpus_bytes};

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

/// Forms that only files have, an answer without rows, and a long one.
const NOT_IN_CORPUS: [&str; 5] = [
    "dynamic_flattened",
    "json_flattened",
    "json_string",
    "no_rows",
    "two_columns_of_many_rows",
];

/// Inserts into the server what the queries of the corpus answer, and selects it again.
fn exchange_every_type(wire: Wire) {
    let Some(mut client) = Client::need(wire) else { return };
    for Question { name, query, settings } in questions() {
        let what = format!("{name} by {wire:?}");
        drop(client.create(&query));
        client.insert(&query);
        let table = client.server.table();
        let received = file(&table.blocks);
        for (block, bytes) in table.blocks.iter().zip(&table.inserted) {
            let mut again = Vec::new();
            let encoded = BlockEncoder::default().encode(block, wire.revision, &mut again);
            encoded.expect("a block");
            assert_same(&again, bytes, &what);
        }
        // What is sent without another compression is what the corpus has.
        let sent = table.inserted.clone();
        drop(table);
        if wire.method == Some("NONE") && wire.revision == Revision::NEWEST && !NOT_IN_CORPUS.contains(&name.as_str()) {
            let [sent] = &sent[..] else {
                panic!("{what}: {} blocks", sent.len());
            };
            let path = format!("clickhouse/wire-54492/{name}.block");
            if std::env::var_os("TIDEMILL_BLESS").is_some() {
                fs::write(corpus("clickhouse").with_file_name(&path), sent).expect("the file of the block");
            }
            assert_same(sent, &corpus_bytes(path), &what);
        }
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
    // In either case of letters, as our own client relies on.
    for method in [None, Some("NONE"), Some("LZ4"), Some("LZ4HC"), Some("zstd")] {
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

/// Also what connections never carry: flattened `Dynamic`, `JSON` as text.
#[test]
fn answers_in_files_are_selected() {
    let Some(mut client) = Client::need(NEWEST) else { return };
    for Question { name, query, settings } in questions() {
        let answer = client.ask(&query, &settings);
        let mut table = client.create(&query);
        if !answer.is_empty() {
            let mut block = decode(&answer, StringType::Binary);
            // Files have no time zone in DateTime.
            block.types = table.header().expect("types").types;
            table.blocks.push(block);
        }
        drop(table);
        assert_same(&client.select(&settings), &answer, &name);
    }
}

#[test]
fn blocks_of_any_type_are_selected_and_inserted() {
    let Some(mut client) = Client::need(NEWEST) else { return };
    let mut runner = TestRunner::deterministic();
    for seed in 1..=80 {
        let text = any_type::any_type().new_tree(&mut runner).expect("a type").current();
        let types = [text.parse::<DataType>().expect("a type")];
        let mut block = decode(&generate::file(&types, 17, seed), StringType::Binary);
        block.types = types.into();
        let quoted = text.replace('\'', "\\'");
        let name = block.batch.schema().field(0).name().clone();
        let mut table = client.create(&format!("SELECT * FROM null('{name} {quoted}')"));
        table.blocks.push(block.clone());
        drop(table);
        let statement = format!("INSERT INTO FUNCTION {0} SELECT * FROM {0}", client.table());
        // Otherwise the server is asked to do it alone.
        client.ask(&statement, "parallel_distributed_insert_select=0");
        let table = client.server.table();
        let [_, inserted] = &table.blocks[..] else {
            panic!("{text}: {} blocks", table.blocks.len())
        };
        assert_eq!(inserted.types, block.types);
        assert_eq!(shown(inserted), shown(&block), "{text}");
    }
}

/// Values without regard to what is below `NULL`.
fn shown(block: &Block) -> String {
    let options = FormatOptions::default().with_null("NULL");
    let columns = block.batch.columns().iter().flat_map(|column| {
        let formatter = ArrayFormatter::try_new(column, &options).expect("a formatter");
        let rows = (0..column.len()).map(|row| format!("{}\n", formatter.value(row)));
        rows.collect::<Vec<_>>()
    });
    columns.collect()
}

/// States whose types have versions where both sides know of them; files are of version 0.
#[test]
fn states_of_several_versions_are_exchanged() {
    let Some(mut client) = Client::need(NEWEST) else { return };
    for (function, version) in [
        ("sumMapState([n], [toUInt8(n)])", Some(1)),
        ("sumMapIfState([n], [toUInt8(n)], n > 1)", Some(1)),
        ("sumMapForEachState([[n]], [[toUInt8(n)]])", Some(1)),
        ("sumMapArgMaxState([n], [toUInt8(n)], n)", Some(1)),
        ("sumMapResampleState(0, 10, 5)([n], [toUInt8(n)], n)", Some(1)),
        ("minMapState([n], [toDecimal32(n, 2)], [toNullable(n)])", Some(1)),
        ("maxMapState([n], [toString(n)])", Some(1)),
        ("sumMapOrNullState([n], [toUInt8(n)])", None),
        ("quantileDeterministicState(toUInt8(n), n)", Some(1)),
        ("quantilesDeterministicState(0.1, 0.9)(n, n)", Some(1)),
        ("quantileDeterministicIfState(n, n, n > 1)", Some(1)),
        ("uniqState(n)", None),
    ] {
        let query = format!(
            "SELECT intDiv(n, 10) AS g, {function} AS x FROM (SELECT number AS n FROM numbers(31)) \
             GROUP BY g ORDER BY g"
        );
        drop(client.create(&query));
        client.insert(&query);
        let table = client.server.table();
        let types: Vec<DataType> = table
            .blocks
            .iter()
            .flat_map(|block| block.types.get(1).cloned())
            .collect();
        drop(table);
        let [DataType::AggregateFunction(inserted)] = &types[..] else {
            panic!("{function}: {types:?}")
        };
        assert_eq!(inserted.version, version, "{function}");
        let path = client.chdb.folder().join("states.native");
        fs::write(&path, client.select("")).expect("a file");
        let results = |from: &str| format!("SELECT g, finalizeAggregation(x) FROM {from}");
        let read = client.ask(&results(&format!("file('{}', Native)", path.display())), "");
        assert_same(&read, &client.ask(&results(&format!("({query})")), ""), function);
    }
}

#[test]
fn many_rows_in_many_frames() {
    const QUERY: &str =
        "SELECT number AS n, repeat(toString(number), 9) AS t, range(number % 5) AS a FROM numbers(200000)";
    for wire in [
        NEWEST,
        Wire {
            chunking: [Chunking::Chunked; 2],
            method: None,
            ..NEWEST
        },
    ] {
        let Some(mut client) = Client::need(wire) else { return };
        drop(client.create(QUERY));
        let statement = format!("INSERT INTO FUNCTION {} {QUERY}", client.table());
        client.ask(
            &statement,
            "min_insert_block_size_rows=70000, min_insert_block_size_bytes=0",
        );
        let inserted = client.server.table().blocks.clone();
        assert!(inserted.len() > 1, "{inserted:?}");
        let all = |blocks: &[Block]| {
            let batches = blocks.iter().map(|block| &block.batch);
            concat_batches(&blocks[0].batch.schema(), batches).expect("a batch")
        };
        let selected = client.select("");
        let decoder = BlockDecoder {
            strings: StringType::Binary,
            ..BlockDecoder::default()
        };
        let selected = NativeReader::new(&*selected).with_decoder(decoder);
        let selected: Vec<Block> = selected.collect::<Result<_, _>>().expect("blocks");
        let numbers = all(&selected);
        assert_eq!(numbers, all(&inserted));
        assert_eq!(numbers.num_rows(), 200_000);
    }
}

/// ClickHouse of today shows the exception only: to it, what caused one is obsolete.
#[test]
fn exceptions_with_causes_are_shown() {
    let Some(mut client) = Client::need(NEWEST) else { return };
    const QUERY: &str = "SELECT number AS n FROM numbers(3)";
    for statement in ["SELECT * FROM TABLE", "INSERT INTO FUNCTION TABLE SELECT 1 AS n"] {
        drop(client.create(QUERY));
        client.insert(QUERY);
        let exception = |code, message: &str, nested| ServerException {
            code,
            name: "DB::Exception".to_owned(),
            message: message.to_owned(),
            stack_trace: "0. tide()\n1. moon()".to_owned(),
            nested,
        };
        let cause = exception(241, "DB::Exception: the moon is new", None);
        let effect = exception(159, "DB::Exception: the tide is out", Some(Box::new(cause)));
        client.server.table().exception = Some(effect);
        let statement = statement.replace("TABLE", &client.table());
        let error = client.try_to_ask(&statement, "").expect_err("an exception");
        for part in ["Code: 159", "the tide is out"] {
            assert!(error.contains(part), "{error}");
        }
        // The connection is still of use.
        client.server.table().exception = None;
        assert!(!client.select("").is_empty());
    }
}

#[test]
fn logs_and_counters_come_beside_rows() {
    for method in [NEWEST.method, None] {
        for revision in [54480, 54481, 54492].map(Revision) {
            let wire = Wire {
                revision,
                method,
                ..NEWEST
            };
            let Some(mut client) = Client::need(wire) else { return };
            let query = "SELECT number AS n FROM numbers(3)";
            let logs = client.ask(
                "SELECT toDateTime(1) AS event_time, 2::UInt32 AS event_time_microseconds, 'mill' AS host_name, 'q' AS query_id, \
                 3::UInt64 AS thread_id, 4::Int8 AS priority, 'gate' AS source, 'ebb' AS text",
                "",
            );
            let events = client.ask(
                "SELECT 'mill' AS host_name, toDateTime(1) AS current_time, 3::UInt64 AS thread_id, \
                 CAST(1, 'Enum8(\\'increment\\' = 1, \\'gauge\\' = 2)') AS type, 'SelectedRows' AS name, 7::Int64 AS value",
                "",
            );
            let mut table = client.create(query);
            table.logs = Some(decode(&logs, StringType::Utf8));
            table.profile_events = Some(decode(&events, StringType::Utf8));
            drop(table);
            client.insert(query);
            assert_same(&client.select(""), &client.ask(query, ""), "beside logs");
        }
    }
}

#[test]
fn totals_and_extremes() {
    let Some(mut client) = Client::need(NEWEST) else { return };
    let numbers = |client: &mut Client, query: &str| {
        let answer = client.ask(query, "");
        Some(decode(&answer, StringType::Binary))
    };
    let totals = numbers(&mut client, "SELECT 77::UInt64 AS n");
    let extremes = numbers(&mut client, "SELECT arrayJoin([70, 79])::UInt64 AS n");
    let rows = numbers(&mut client, "SELECT arrayJoin([75, 76])::UInt64 AS n");
    let mut table = client.create("SELECT 1::UInt64 AS n");
    table.blocks.extend(rows);
    (table.totals, table.extremes) = (totals, extremes);
    drop(table);
    let query = format!(
        "SELECT n FROM {} GROUP BY n WITH TOTALS SETTINGS extremes=1",
        client.table()
    );
    let answer = client.chdb.query(&query, "JSONCompact").expect("an answer");
    let answer = String::from_utf8(answer).expect("text");
    let answer: String = answer
        .split(|letter: char| letter.is_whitespace() || letter == '"')
        .collect();
    for part in ["data:[[75],[76]]", "totals:[77]", "extremes:{min:[70],max:[79]}"] {
        assert!(answer.contains(part), "{part} in {answer}");
    }
}

#[test]
fn queries_are_understood() {
    let Some(mut client) = Client::need(NEWEST) else { return };
    drop(client.create("SELECT 1::UInt64 AS n"));
    client.insert("SELECT 7::UInt64 AS n");
    let query = format!(
        "SELECT n FROM {} WHERE n GLOBAL IN (SELECT number + 40 AS m FROM numbers(2))",
        client.table()
    );
    client.ask(&query, "max_block_size=12345, skip_unavailable_shards=1");
    let table = client.server.table();
    let [(external, numbers)] = &table.external[..] else {
        panic!("{:?}", table.external)
    };
    assert_eq!(shown(numbers), "40\n41\n");
    let texts: Vec<&str> = table.queries.iter().map(|query| query.text.as_str()).collect();
    let select = format!(
        "SELECT `__table1`.`n` AS `n` FROM `sea`.`tides` AS `__table1` WHERE `__table1`.`n` GLOBAL IN (`{external}` AS `__table2`)"
    );
    let expected = [
        "DESC TABLE sea.tides",
        "INSERT INTO sea.tides (n) VALUES",
        "DESC TABLE sea.tides",
        &select,
    ];
    assert_eq!(texts, expected);
    let select = table.queries.last().expect("a query");
    assert_eq!(select.info.kind, QueryKind::Secondary);
    assert_eq!(select.info.initial_query_id.len(), 36, "{select:?}");
    assert_eq!(select.stage, Stage::Complete);
    let setting = |name: &str| {
        let found = select.settings.iter().find(|setting| setting.name == name);
        found.unwrap_or_else(|| panic!("no {name} in {select:?}"))
    };
    assert_eq!(setting("max_block_size").value, SettingValue::Text("12345".to_owned()));
    assert!(!setting("max_block_size").is_important);
    // One of those that a server must know.
    assert!(setting("allow_experimental_analyzer").is_important);
}

/// ClickHouse's client makes columns dense before it sends them, so only one direction can be seen: bytes that both read.
#[test]
fn kinds_of_columns_are_read_as_clickhouse_reads_them() {
    let Some(mut client) = Client::need(NEWEST) else { return };
    let u64s = |numbers: &[u64]| {
        numbers
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    // The last of the counts before values of a sparse column.
    let end = |defaults: u64| {
        let mut bytes = Vec::new();
        put_varint(&mut bytes, defaults | 1 << 62);
        bytes
    };
    const DEFAULT: u8 = 0;
    const SPARSE: u8 = 1;
    const REPLICATED: u8 = 4;
    const COMBINATION: u8 = 5;
    for (data_type, rows, parts) in [
        ("UInt64", 7, [vec![SPARSE, 2, 0], end(3), u64s(&[5, 6])]),
        ("UInt64", 3, [vec![SPARSE], end(3), vec![]]),
        (
            "String",
            3,
            [vec![SPARSE, 0, 1], end(0), [u64s(&[3, 4]), b"ebbx".to_vec()].concat()],
        ),
        ("FixedString(2)", 2, [vec![SPARSE, 1], end(0), b"ab".to_vec()]),
        ("Nullable(UInt64)", 4, [vec![SPARSE, 1, 1], end(0), u64s(&[0, 7])]),
        (
            "Nullable(String)",
            3,
            [vec![SPARSE, 1], end(1), [u64s(&[4]), b"flow".to_vec()].concat()],
        ),
        (
            "Tuple(UInt8, UInt8)",
            2,
            [vec![DEFAULT, DEFAULT, SPARSE, 1, 2, 1], end(0), vec![9]],
        ),
        (
            "String",
            4,
            [vec![REPLICATED, 4, 1, 1, 0, 0, 1, 2], u64s(&[1, 3]), b"abc".to_vec()],
        ),
        ("Int32", 2, [vec![REPLICATED, 2, 8], u64s(&[0, 0]), vec![1, 7, 0, 0, 0]]),
        (
            "Array(Int32)",
            2,
            [vec![REPLICATED, 2, 1, 0, 0, 1], u64s(&[1]), vec![7, 0, 0, 0]],
        ),
        (
            "Nullable(UInt8)",
            3,
            [vec![REPLICATED, 3, 1, 1, 0, 1, 2], vec![1, 0], vec![0, 5]],
        ),
        (
            "UInt8",
            3,
            [
                // Kinds of a combination have numbers of their own.
                vec![COMBINATION, 3, 0, 1, 3, 3, 1, 1, 0, 1, 2, 1],
                end(0),
                vec![9],
            ],
        ),
    ] {
        let mut bytes = vec![0, 1, rows];
        put_string(&mut bytes, "c");
        put_string(&mut bytes, data_type);
        bytes.push(1);
        bytes.extend(parts.concat());
        let decoded = BlockDecoder::default().decode_blocking(&mut SliceSource::new(&bytes), NEWEST.revision);
        let decoded = decoded.unwrap_or_else(|error| panic!("{data_type}: {error}"));
        client.create(&format!("SELECT * FROM null('c {data_type}')")).encoded = vec![bytes];
        let answer = client.select("");
        let answer = decode(&answer, StringType::Utf8);
        assert_eq!(shown(&answer), shown(&decoded), "{data_type}");
        assert_eq!(answer.rows(), usize::from(rows));
    }
}

/// Every column that can be is sparse, or a dictionary where it is one in Arrow.
const EVERY_FORM: BlockEncoder = BlockEncoder {
    sparse_from: Some(0.0),
    replicated: true,
    calendar: tidemill_clickhouse::Calendar::ANY,
};

/// Dictionaries of the columns: their rows, and behind them the same rows from the last to the first.
fn with_dictionaries(batch: &RecordBatch) -> RecordBatch {
    let rows = i32::try_from(batch.num_rows()).expect("few rows");
    let keys: Int32Array = (0..rows).chain((0..rows).rev()).collect();
    let columns = batch.columns().iter();
    let columns = columns.map(|column| Arc::new(DictionaryArray::new(keys.clone(), Arc::clone(column))) as ArrayRef);
    let names = batch.schema();
    let names = names.fields().iter().map(|field| field.name().clone());
    let columns = names.zip(columns).map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(columns).expect("a batch")
}

/// What the library's client inserts is read by ClickHouse's, to which the server hands the bytes on as they came.
#[tokio::test]
async fn inserts_of_every_form_are_read_by_clickhouse() {
    let Some(mut clickhouse) = Client::need(NEWEST) else {
        return;
    };
    let client = client::connect(&clickhouse.server).await;
    for Question { name, query, .. } in questions() {
        let answer = clickhouse.ask(&query, "");
        if answer.is_empty() {
            continue;
        }
        let mut block = decode(&answer, StringType::Binary);
        block.types = clickhouse.create(&query).header().expect("types").types;
        let has_dictionary = |column: &ArrayRef| column.as_any_dictionary_opt().is_some();
        let mut batches = vec![block.batch.clone()];
        if !block.batch.columns().iter().any(has_dictionary) {
            batches.push(with_dictionaries(&block.batch));
        }
        for batch in batches {
            drop(clickhouse.create(&query));
            let mut insert = client.insert("tides").encoder(EVERY_FORM).await.expect("an insert");
            insert
                .write(&batch)
                .await
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            insert.finish().await.unwrap_or_else(|error| panic!("{name}: {error}"));
            let mut table = clickhouse.server.table();
            table.blocks.clear();
            table.encoded = std::mem::take(&mut table.inserted);
            assert_eq!(table.encoded.len(), 1, "{name}");
            drop(table);
            block.batch = batch;
            let expected = decode(&file(&[block.clone()]), StringType::Binary);
            let selected = decode(&clickhouse.select(""), StringType::Binary);
            assert_eq!(shown(&selected), shown(&expected), "{name}");
        }
    }
}

#[test]
fn columns_of_every_form_are_selected() {
    let Some(mut client) = Client::need(NEWEST) else { return };
    let encoder = EVERY_FORM;
    let encoded = |encoder: BlockEncoder, block: &Block| {
        let mut bytes = Vec::new();
        encoder.encode(block, NEWEST.revision, &mut bytes).expect("a block");
        bytes
    };
    let (mut sparse, mut replicated) = (Vec::new(), Vec::new());
    for Question { name, query, .. } in questions() {
        let answer = client.ask(&query, "");
        if answer.is_empty() {
            continue;
        }
        let mut block = decode(&answer, StringType::Binary);
        let mut table = client.create(&query);
        block.types = table.header().expect("types").types;
        if encoded(encoder, &block) != encoded(BlockEncoder::default(), &block) {
            sparse.push(name.clone());
        }
        table.encoder = encoder;
        table.blocks.push(block.clone());
        drop(table);
        let selected = decode(&client.select(""), StringType::Binary);
        assert_eq!(shown(&selected), shown(&block), "{name}, sparse");

        let has_dictionary = |column: &ArrayRef| column.as_any_dictionary_opt().is_some();
        if block.batch.columns().iter().any(has_dictionary) {
            continue;
        }
        block.batch = with_dictionaries(&block.batch);
        if encoded(encoder, &block) != encoded(BlockEncoder::default(), &block) {
            replicated.push(name.clone());
        }
        let expected = decode(&file(&[block.clone()]), StringType::Binary);
        let mut table = client.create(&query);
        table.encoder = encoder;
        table.blocks.push(block);
        drop(table);
        let selected = decode(&client.select(""), StringType::Binary);
        assert_eq!(shown(&selected), shown(&expected), "{name}, replicated");
    }
    let mut names: Vec<_> = questions().into_iter().map(|question| question.name).collect();
    names.retain(|name| !replicated.contains(name));
    // Those that are dictionaries by their type, and one without rows.
    let expected = "enum low_cardinality low_cardinality_wide simple_aggregate_function no_rows";
    assert_eq!(names.join(" "), expected);
    let expected = "bfloat16 bool date date32 date_time date_time64 decimal fixed_string float int int_big interval ip nullable point \
                    simple_aggregate_function string string_bytes time tuple uint uuid two_columns_of_many_rows";
    assert_eq!(sparse.join(" "), expected);
}
