//! The library's own client against the same server: what it asks for, and what it hears, at every revision.

use std::{sync::Arc, time::Duration};

use arrow_array::{
    ArrayRef, Date32Array, RecordBatch, StringArray, UInt64Array,
    cast::AsArray,
    types::{Int64Type, UInt64Type},
};
use tidemill_clickhouse::{
    Block, BlockDecoder, BlockEncoder, Compression, Error, NativeReader, Revision, ServerException,
    arrow_type::StringType,
    client::{Client, Options},
    packet::{
        TableName,
        chunked::Chunking,
        client::{Query, Setting, SettingValue, TraceContext},
        server::TableStatus,
    },
    sql_text,
};
use tidemill_testkit::{Chdb, corpus_bytes};

use crate::server::{Server, Table};

fn options(server: &Server) -> Options {
    let mut options = Options::new(&format!("127.0.0.1:{}", server.port())).expect("options");
    (options.user, options.password) = ("miller".to_owned(), "water".to_owned());
    options.pool_size = 1;
    options.read_timeout = Duration::from_secs(5);
    options
}

pub(crate) async fn connect(server: &Server) -> Client {
    Client::with_options(options(server)).await.expect("a connection")
}

fn newest() -> Server {
    Server::start(Revision::NEWEST, Chunking::NotChunkedOptional)
}

fn numbers(values: impl IntoIterator<Item = u64>) -> RecordBatch {
    let column: ArrayRef = Arc::new(UInt64Array::from_iter_values(values));
    RecordBatch::try_from_iter([("n", column)]).expect("a batch")
}

/// What `DESC TABLE` answers of a table with the columns of `block`.
pub(crate) fn description(block: &Block) -> Block {
    let names = block.batch.schema();
    let names = names.fields().iter().map(|field| field.name().clone());
    let types = block.types.iter().map(ToString::to_string);
    let columns = [
        ("name", Arc::new(StringArray::from_iter_values(names)) as ArrayRef),
        ("type", Arc::new(StringArray::from_iter_values(types))),
    ];
    Block::new(RecordBatch::try_from_iter(columns).expect("a batch")).expect("a block")
}

/// Gives the server a table with the columns of `block`, and its rows.
fn fill(server: &Server, block: Block) {
    let mut table = server.table();
    *table = Table {
        description: Some(description(&block)),
        agreed: table.agreed,
        users: table.users.clone(),
        blocks: vec![block],
        ..Table::default()
    };
}

/// A block of one text.
fn text(name: &str, value: &str) -> Block {
    let column: ArrayRef = Arc::new(StringArray::from(vec![value]));
    Block::new(RecordBatch::try_from_iter([(name, column)]).expect("a batch")).expect("a block")
}

fn numbers_table(server: &Server) {
    fill(server, Block::new(numbers([1, 2, 3])).expect("a block"));
}

fn texts(server: &Server) -> Vec<String> {
    server.table().queries.iter().map(|query| query.text.clone()).collect()
}

fn last_query(server: &Server) -> Query {
    server.table().queries.last().expect("a query").clone()
}

fn setting<'a>(query: &'a Query, name: &str) -> Option<&'a Setting> {
    query.settings.iter().find(|setting| setting.name == name)
}

#[tokio::test]
async fn roles_are_set_when_a_query_wants_others_than_the_one_before() {
    let server = newest();
    numbers_table(&server);
    let client = connect(&server).await;
    for roles in [&["a"][..], &["a"], &["b", "c"], &[]] {
        client
            .query("SELECT n")
            .roles(roles.iter().copied())
            .execute()
            .await
            .expect("an answer");
    }
    client
        .insert("t")
        .role("d")
        .await
        .expect("an insert")
        .finish()
        .await
        .expect("an end");
    client.query("SELECT n").role("d").execute().await.expect("an answer");
    let expected = [
        "SET ROLE `a`",
        "SELECT n",
        "SELECT n",
        "SET ROLE `b`, `c`",
        "SELECT n",
        "SET ROLE DEFAULT",
        "SELECT n",
        "SET ROLE `d`",
        "INSERT INTO t VALUES",
        "SELECT n",
    ];
    assert_eq!(texts(&server), expected);
    assert_eq!(server.table().users, ["miller"], "one connection");
}

#[tokio::test]
async fn a_query_of_another_user_has_a_connection_of_its_own() {
    let server = newest();
    numbers_table(&server);
    let client = connect(&server).await;
    let request = client.query("SELECT n").user("smith", "fire").expect("a user");
    assert_eq!(request.collect().await.expect("an answer").len(), 1);
    client.query("SELECT n").execute().await.expect("an answer");
    assert_eq!(server.table().users, ["miller", "smith"]);

    let smith = client.as_user("smith", "fire").expect("a user");
    for _ in 0..2 {
        smith.query("SELECT n").execute().await.expect("an answer");
    }
    assert_eq!(server.table().users, ["miller", "smith", "smith"]);
    assert!(!format!("{smith:?}").contains("fire"));

    let insert = client.insert("t").user("smith", "fire").expect("a user");
    let mut insert = insert.await.expect("an insert");
    insert.write(&numbers([4])).await.expect("a batch that fits");
    assert_eq!(insert.finish().await.expect("an end").rows, 1);
    assert_eq!(server.table().users.len(), 4);
}

#[tokio::test]
async fn inserts_say_that_they_may_wait_and_what_their_data_is_called() {
    let server = newest();
    numbers_table(&server);
    let client = connect(&server).await;
    let insert = client.insert("t").async_insert(false).deduplication_token("load 7");
    insert.await.expect("an insert").finish().await.expect("an end");
    let query = last_query(&server);
    let value = |name: &str| setting(&query, name).map(|setting| (setting.value.clone(), setting.is_important));
    let text = |text: &str| SettingValue::Text(text.to_owned());
    assert_eq!(value("async_insert"), Some((text("1"), false)));
    assert_eq!(value("wait_for_async_insert"), Some((text("0"), false)));
    assert_eq!(value("insert_deduplication_token"), Some((text("load 7"), true)));
}

/// The rows that ClickHouse wrote for each type, as its answers of `FORMAT Native` have them.
#[tokio::test]
async fn an_insert_is_sparse_when_its_encoder_says_so() {
    let server = newest();
    numbers_table(&server);
    let client = connect(&server).await;
    let rows = numbers((0..1000).map(|row| u64::from(row == 700)));
    let encoder = BlockEncoder {
        sparse_from: Some(0.9),
        ..BlockEncoder::default()
    };
    for (encoder, bytes) in [(BlockEncoder::default(), 8000..8100), (encoder, 8..100)] {
        let mut insert = client.insert("tides").encoder(encoder).await.expect("an insert");
        insert.write(&rows).await.expect("rows are written");
        insert.finish().await.expect("rows are stored");
        let table = server.table();
        let inserted = table.inserted.last().expect("a block").len();
        assert!(bytes.contains(&inserted), "{inserted} bytes");
        let stored = table.blocks.last().expect("a block");
        assert_eq!(stored.batch.column(0), rows.column(0));
    }
}

/// Values of parameters arrive as they are: what is sent is what ClickHouse takes in quotes, and reads behind them.
#[tokio::test]
async fn parameters_arrive_as_they_are() {
    let Some(mut chdb) = Chdb::need() else { return };
    let server = newest();
    let client = connect(&server).await;
    let text = |value: &str| format!("{value:?}");
    for (data_type, value, expected) in [
        ("String", r"C:\temp\new", text(r"C:\temp\new")),
        ("String", "a\tb\nc\rd\0e", "\"a\\tb\\nc\\rd\\u0000e\"".to_owned()),
        ("String", r"\N", text(r"\N")),
        ("Nullable(String)", r"\N", text(r"\N")),
        ("String", r#"it's "quoted" \"#, text(r#"it's "quoted" \"#)),
        ("LowCardinality(String)", r"\\", text(r"\\")),
        (
            "Array(String)",
            r"['it\'s', 'C:\\temp']",
            r#"["it's","C:\\temp"]"#.to_owned(),
        ),
        ("Map(String, String)", r"{'a':'\\b'}", r#"{"a":"\\b"}"#.to_owned()),
        ("Tuple(String, UInt8)", r"('\\b',1)", r#"["\\b",1]"#.to_owned()),
        ("Date", "2024-01-31", text("2024-01-31")),
    ] {
        numbers_table(&server);
        let sql = format!("SELECT {{p:{data_type}}} AS p");
        client
            .query(&sql)
            .parameter("p", value)
            .execute()
            .await
            .expect(data_type);
        let query = last_query(&server);
        let [(_, field)] = query.parameters.as_slice() else {
            panic!("{:?}", query.parameters)
        };
        // As the server does: out of the quotes, then the field.
        let set = format!("SET param_p = {}", sql_text::string(field));
        chdb.query(&set, "Null").expect(data_type);
        let answer = chdb.query(&sql, "JSONCompactEachRow").expect(data_type);
        assert_eq!(
            String::from_utf8_lossy(&answer),
            format!("[{expected}]\n"),
            "{data_type}: {field}"
        );
    }
    let sql = "SELECT {p:Nullable(String)}";
    client.query(sql).null_parameter("p").execute().await.expect("NULL");
    assert_eq!(last_query(&server).parameters, [("p".to_owned(), r"\N".to_owned())]);
}

/// What a server of 25.8 would show as 2299-12-31 is refused; one of today takes it. In tables that queries take along, too.
#[tokio::test]
async fn dates_are_checked_by_the_version_of_the_server() {
    let days: ArrayRef = Arc::new(Date32Array::from(vec![0, -43_829]));
    let dates = RecordBatch::try_from_iter([("born", days)]).expect("a batch");
    let block = Block::new(dates.clone()).expect("a block");
    for (version, is_taken) in [((25, 8), false), ((26, 9), true)] {
        let server = newest();
        fill(&server, block.clone());
        server.table().version = Some(version);
        let client = connect(&server).await;
        let query = client
            .query("SELECT 1")
            .external_table("people", block.clone())
            .collect()
            .await;
        let mut insert = client.insert("people").await.expect("an insert");
        insert.write(&dates).await.expect("the first row is sound");
        let stored = insert.finish().await;
        assert_eq!(
            (query.is_ok(), stored.is_ok()),
            (is_taken, is_taken),
            "{version:?}: {query:?}, {stored:?}"
        );
        for error in [query.err(), stored.err()].into_iter().flatten() {
            let text = error.to_string();
            assert!(text.starts_with("column `born`, row 1: a date"), "{text}");
            assert!(
                text.contains("1900-01-01 to 2299-12-31") && text.contains("1850-01-01"),
                "{text}"
            );
        }
    }
}

/// Rows wait until they take so much memory, whether they come as batches or one by one, and none is lost or sent twice.
#[tokio::test]
async fn an_insert_sends_what_waits_when_it_takes_so_many_bytes() {
    let server = newest();
    let client = connect(&server).await;
    let inserted = |server: &Server| -> (Vec<usize>, Vec<u64>) {
        let table = server.table();
        let blocks = &table.blocks[1..];
        let numbers = blocks.iter().flat_map(|block| {
            let numbers = block.batch.column(0).as_primitive::<UInt64Type>();
            numbers.values().to_vec()
        });
        (blocks.iter().map(Block::rows).collect(), numbers.collect())
    };
    let request = || client.insert("t").rows_per_block(usize::MAX).bytes_per_block(64 << 10);

    numbers_table(&server);
    let mut insert = request().await.expect("an insert");
    for batch in 0..20_u64 {
        let rows = numbers(2000 * batch..2000 * (batch + 1));
        insert.write(&rows).await.expect("rows are written");
    }
    let summary = insert.finish().await.expect("rows are stored");
    let (blocks, rows) = inserted(&server);
    // 16 kB a batch: the fifth is the first that goes beyond 64 KiB.
    assert_eq!(blocks, [10_000; 4]);
    assert_eq!(rows, (0..40_000).collect::<Vec<u64>>());
    assert_eq!((summary.rows, summary.blocks), (40_000, 4));

    numbers_table(&server);
    let mut insert = request().rows();
    for row in 0..40_000_u64 {
        insert.write(&row).await.expect("rows are written");
    }
    let summary = insert.finish().await.expect("rows are stored");
    let (blocks, rows) = inserted(&server);
    assert!((4..=6).contains(&blocks.len()), "{blocks:?}");
    assert!(blocks.iter().all(|rows| *rows <= 9_500), "{blocks:?}");
    assert_eq!(rows, (0..40_000).collect::<Vec<u64>>());
    assert_eq!((summary.rows, summary.blocks), (40_000, blocks.len() as u64));
}

fn answers() -> Vec<(String, Vec<Block>)> {
    let queries = String::from_utf8(corpus_bytes("clickhouse/native/queries.tsv")).expect("text");
    let names = queries.lines().filter_map(|line| line.split('\t').next());
    let blocks = |name: &str| {
        let bytes = corpus_bytes(format!("clickhouse/native/{name}.native"));
        let decoder = BlockDecoder {
            strings: StringType::Binary,
            ..BlockDecoder::default()
        };
        let reader = NativeReader::new(bytes.as_slice()).with_decoder(decoder);
        reader.collect::<Result<Vec<_>, _>>().expect("blocks")
    };
    names.map(|name| (name.to_owned(), blocks(name))).collect()
}

async fn exchange_every_type(revision: Revision, chunking: Chunking, compression: Compression) {
    let server = Server::start(revision, chunking);
    let mut options = options(&server);
    options.strings = StringType::Binary;
    options.compression = compression;
    let client = Client::with_options(options).await.expect("a connection");
    let how = format!("at {revision} by {compression}, {chunking:?}");
    let mut types = 0;
    for (name, blocks) in answers() {
        // Flattened columns are of files: older connections turn them into the usual form.
        if revision < Revision::NEWEST && name.ends_with("_flattened") {
            continue;
        }
        for block in blocks {
            types += 1;
            fill(&server, block.clone());
            let what = format!("{name} {how}");
            let mut stream = client.query("SELECT * FROM t").await.expect(&what);
            let selected = stream.next_block().await.expect(&what).expect(&what);
            assert_eq!(selected.types, block.types, "{what}");
            assert_eq!(selected.batch, block.batch, "{what}");
            assert!(stream.next().await.expect(&what).is_none(), "{what}");

            let mut insert = client.insert("t").await.expect(&what);
            assert_eq!(insert.types(), block.types, "{what}");
            insert.write(&selected.batch).await.expect(&what);
            insert.finish().await.expect(&what);
            let table = server.table();
            let [_, inserted] = table.blocks.as_slice() else {
                panic!("{what}: {} blocks", table.blocks.len());
            };
            assert_eq!(inserted.batch, block.batch, "{what}");
        }
    }
    assert!(types > 40, "{types} {how}");
    let chunks = chunking == Chunking::Chunked && revision >= Revision::CHUNKED_PACKETS;
    let agreed = server.table().agreed;
    assert_eq!(agreed, Some((revision.min(Revision::NEWEST), chunks, chunks)), "{how}");
}

#[tokio::test]
async fn every_type_is_selected_and_inserted_by_our_client() {
    for compression in [
        Compression::None,
        Compression::Checksum,
        Compression::Lz4,
        Compression::Zstd(1),
    ] {
        exchange_every_type(Revision::NEWEST, Chunking::NotChunkedOptional, compression).await;
        exchange_every_type(Revision::NEWEST, Chunking::Chunked, compression).await;
    }
    for revision in [54448, 54453, 54454, 54472, 54473, 54480, 54491].map(Revision) {
        exchange_every_type(revision, Chunking::Chunked, Compression::Lz4).await;
    }
}

/// Every revision that changes something, and the one before it.
const GATES: [Revision; 41] = [
    Revision::SERVER_TIME_ZONE,
    Revision::QUOTA_KEY_IN_CLIENT_INFO,
    Revision::TABLES_STATUS,
    Revision::DATE_TIME_ZONE,
    Revision::SERVER_DISPLAY_NAME,
    Revision::VERSION_PATCH,
    Revision::LOW_CARDINALITY,
    Revision::SERVER_LOGS,
    Revision::TABLE_COLUMNS,
    Revision::WRITE_INFO,
    Revision::SETTINGS_AS_STRINGS,
    Revision::INTERSERVER_SECRET,
    Revision::OPEN_TELEMETRY,
    Revision::DISTRIBUTED_DEPTH,
    Revision::INITIAL_QUERY_START_TIME,
    Revision::INCREMENTAL_PROFILE_EVENTS,
    Revision::PARALLEL_REPLICAS,
    Revision::CUSTOM_SERIALIZATION,
    Revision::PROFILE_EVENTS_IN_INSERT,
    Revision::ADDENDUM,
    Revision::PARAMETERS,
    Revision::QUERY_TIME_IN_PROGRESS,
    Revision::PASSWORD_RULES,
    Revision::INTERSERVER_SECRET_V2,
    Revision::TOTAL_BYTES_IN_PROGRESS,
    Revision::TIME_ZONE_UPDATES,
    Revision::TABLE_READ_ONLY,
    Revision::ROWS_BEFORE_AGGREGATION,
    Revision::CHUNKED_PACKETS,
    Revision::VERSIONED_PARALLEL_REPLICAS,
    Revision::EXTERNAL_ROLES,
    Revision::SERVER_SETTINGS,
    Revision::QUERY_AND_LINE_NUMBERS,
    Revision::JWT_IN_CLIENT_INFO,
    Revision::QUERY_PLANS,
    Revision::VERSIONED_CLUSTER_FUNCTIONS,
    Revision::OUT_OF_ORDER_BUCKETS,
    Revision::COMPRESSED_LOGS,
    Revision::CLIENT_AGENT,
    Revision::INTERNAL_QUERY,
    Revision::CURRENT_ROLES,
];

#[tokio::test]
async fn the_conversation_changes_with_the_server_s_revision() {
    let gates = GATES.iter().flat_map(|gate| [Revision(gate.0 - 1), *gate]);
    for revision in [Revision::OLDEST].into_iter().chain(gates).chain([Revision(60_000)]) {
        let spoken = revision.min(Revision::NEWEST);
        let server = Server::start(revision, Chunking::Chunked);
        numbers_table(&server);
        {
            let mut table = server.table();
            table.time_zone = Some("Asia/Tokyo".to_owned());
            table.logs = Some(text("text", "the tide turns"));
            table.profile_events = Some(text("name", "SelectedRows"));
        }
        let what = format!("at {revision}");
        let mut options = options(&server);
        options.quota_key = "quota".to_owned();
        let client = Client::with_options(options).await.expect(&what);
        client.ping().await.expect(&what);
        server.table().replica = Some((7, true));
        let tables = client.tables_status([TableName::new("sea", "tides")]).await;
        if spoken >= Revision::TABLES_STATUS {
            let status = TableStatus {
                name: TableName::new("sea", "tides"),
                replica: Some((7, spoken >= Revision::TABLE_READ_ONLY)),
            };
            assert_eq!(tables.expect(&what), [status], "{what}");
        } else {
            assert!(matches!(tables, Err(Error::Unsupported { .. })), "{what}: {tables:?}");
        }
        let hello = client.server().await.expect(&what);
        let since = |gate: Revision, there: &str| {
            if spoken >= gate {
                there.to_owned()
            } else {
                String::new()
            }
        };
        assert_eq!(hello.time_zone, since(Revision::SERVER_TIME_ZONE, "UTC"), "{what}");
        assert_eq!(
            hello.display_name,
            since(Revision::SERVER_DISPLAY_NAME, "mill"),
            "{what}"
        );
        assert_eq!(
            hello.settings.len(),
            usize::from(spoken >= Revision::SERVER_SETTINGS),
            "{what}"
        );
        assert_eq!(
            hello.password_rules.len(),
            usize::from(spoken >= Revision::PASSWORD_RULES),
            "{what}"
        );

        let trace = TraceContext {
            trace_id: 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff,
            span_id: 0x0123_4567_89ab_cdef,
            state: "tide=high".to_owned(),
            flags: 1,
        };
        let mut request = client.query("SELECT n FROM t").query_id("first").trace(trace.clone());
        if spoken >= Revision::SETTINGS_AS_STRINGS {
            request = request.setting("max_threads", 3_u64);
        }
        if spoken >= Revision::PARAMETERS {
            request = request.parameter("p", "it's");
        }
        let mut stream = request.await.expect(&what);
        let batch = stream.next().await.expect(&what).expect(&what);
        assert_eq!(
            batch.column(0).as_primitive::<UInt64Type>().values(),
            &[1, 2, 3],
            "{what}"
        );
        assert!(stream.next().await.expect(&what).is_none());
        let summary = stream.into_summary();
        assert_eq!(summary.progress.rows, 3, "{what}");
        assert_eq!(
            summary.progress.elapsed_ns > 0,
            spoken >= Revision::QUERY_TIME_IN_PROGRESS,
            "{what}"
        );
        assert_eq!(summary.profile.expect(&what).rows, 3);
        assert_eq!(
            summary.time_zone.unwrap_or_default(),
            since(Revision::TIME_ZONE_UPDATES, "Asia/Tokyo"),
            "{what}"
        );
        let count = |gate: Revision, there: usize| if spoken >= gate { there } else { 0 };
        assert_eq!(summary.logs.len(), count(Revision::SERVER_LOGS, 2), "{what}");
        let counters = count(Revision::INCREMENTAL_PROFILE_EVENTS, 2);
        assert_eq!(summary.profile_events.len(), counters, "{what}");

        let query = last_query(&server);
        assert_eq!(
            (query.id.as_str(), query.text.as_str()),
            ("first", "SELECT n FROM t"),
            "{what}"
        );
        assert_eq!(
            query.info.trace,
            Some(trace).filter(|_| spoken >= Revision::OPEN_TELEMETRY),
            "{what}"
        );
        assert_eq!(
            query.info.quota_key,
            since(Revision::QUOTA_KEY_IN_CLIENT_INFO, "quota"),
            "{what}"
        );
        assert_eq!(
            query.parameters.len(),
            usize::from(spoken >= Revision::PARAMETERS),
            "{what}"
        );
        assert_eq!(
            setting(&query, "max_threads").is_some(),
            spoken >= Revision::SETTINGS_AS_STRINGS,
            "{what}"
        );

        let mut insert = client.insert("t").await.expect(&what);
        insert.write(&numbers([4, 5])).await.expect(&what);
        let summary = insert.finish().await.expect(&what);
        let written = if spoken >= Revision::WRITE_INFO { 5 } else { 0 };
        assert_eq!(
            (summary.rows, summary.query.progress.written_rows),
            (2, written),
            "{what}"
        );
        let counters = count(Revision::PROFILE_EVENTS_IN_INSERT, 1);
        assert_eq!(summary.query.profile_events.len(), counters, "{what}");
        let rows: usize = server.table().blocks.iter().map(Block::rows).sum();
        assert_eq!(rows, 5, "{what}");
        assert!(server.failures().is_empty(), "{what}: {:?}", server.failures());
    }
}

#[tokio::test]
async fn logs_counters_totals_and_extremes_are_kept_beside_the_rows() {
    for (revision, compression) in [
        (Revision::NEWEST, Compression::Lz4),
        (Revision::NEWEST, Compression::None),
        (Revision(54480), Compression::Lz4),
    ] {
        let server = Server::start(revision, Chunking::Chunked);
        numbers_table(&server);
        {
            let mut table = server.table();
            table.logs = Some(text("text", "the tide turns"));
            table.profile_events = Some(text("name", "SelectedRows"));
            table.totals = Some(Block::new(numbers([6])).expect("a block"));
            table.extremes = Some(Block::new(numbers([1, 3])).expect("a block"));
        }
        let mut options = options(&server);
        options.compression = compression;
        let client = Client::with_options(options).await.expect("a connection");
        let summary = client.execute("SELECT n FROM t").await.expect("an answer");
        let n = |batch: &Option<RecordBatch>| {
            let batch = batch.as_ref().expect("a batch");
            batch.column(0).as_primitive::<UInt64Type>().values().to_vec()
        };
        assert_eq!((n(&summary.totals), n(&summary.extremes)), (vec![6], vec![1, 3]));
        assert_eq!(summary.logs.len(), 2);
        assert_eq!(summary.logs[0].column(0).as_string::<i32>().value(0), "the tide turns");
        assert_eq!(
            summary.profile_events[1].column(0).as_string::<i32>().value(0),
            "SelectedRows"
        );
        let summary = client
            .insert("t")
            .await
            .expect("an insert")
            .finish()
            .await
            .expect("an end");
        assert!(!summary.query.logs.is_empty() && !summary.query.profile_events.is_empty());
    }
}

#[tokio::test]
async fn exceptions_tell_what_caused_them_and_the_connection_goes_on() {
    let server = newest();
    numbers_table(&server);
    let client = connect(&server).await;
    let exception = |code, message: &str, nested| ServerException {
        code,
        name: "DB::Exception".to_owned(),
        message: message.to_owned(),
        stack_trace: "0. tide()\n1. moon()".to_owned(),
        nested,
    };
    let cause = exception(241, "the moon is new", None);
    let effect = exception(159, "the tide is out", Some(Box::new(cause)));
    server.table().exception = Some(effect.clone());

    let mut stream = client.query("SELECT n FROM t").await.expect("a header");
    assert!(stream.next().await.expect("rows").is_some());
    let error = stream.next().await.expect_err("an exception");
    assert!(matches!(&error, Error::Server(found) if **found == effect), "{error:?}");
    let source = std::error::Error::source(&error).expect("a cause");
    assert!(source.to_string().contains("the moon is new"), "{source}");

    // While data are sent: the error is what the server said, whenever it is heard.
    let mut insert = client.insert("t").rows_per_block(1).await.expect("an insert");
    let mut refused = Ok(());
    for n in 0..50 {
        refused = insert.write(&numbers([n])).await;
        if refused.is_err() {
            break;
        }
    }
    let refused = match refused {
        Err(error) => error,
        Ok(()) => insert.finish().await.expect_err("an exception"),
    };
    assert!(
        matches!(&refused, Error::Server(found) if found.code == 159),
        "{refused:?}"
    );

    server.table().exception = None;
    let rows = client.query("SELECT n FROM t").collect().await.expect("an answer");
    assert_eq!(rows[0].num_rows(), 3);
}

#[tokio::test]
async fn external_tables_are_decoded_by_the_server() {
    let server = newest();
    numbers_table(&server);
    let client = connect(&server).await;
    let wanted: ArrayRef = Arc::new(arrow_array::Int64Array::from(vec![-1, 7]));
    let block = Block::new(RecordBatch::try_from_iter([("id", wanted)]).expect("a batch")).expect("a block");
    for compression in [Compression::None, Compression::Zstd(1)] {
        let request = client.query("SELECT n FROM t").external_table("wanted", block.clone());
        request.compression(compression).execute().await.expect("an answer");
    }
    let table = server.table();
    assert_eq!(table.external.len(), 2);
    for (name, block) in &table.external {
        assert_eq!(name, "wanted");
        assert_eq!(block.batch.column(0).as_primitive::<Int64Type>().values(), &[-1, 7]);
    }
}

#[tokio::test]
async fn the_server_is_asked_to_compress_as_we_do() {
    let server = newest();
    numbers_table(&server);
    let client = connect(&server).await;
    let word = |text: &str| Some(SettingValue::Text(text.to_owned()));
    for (compression, method, level) in [
        (Compression::None, None, None),
        (Compression::Lz4, None, None),
        (Compression::Lz4Hc(4), word("lz4hc"), None),
        (Compression::Zstd(3), word("zstd"), word("3")),
    ] {
        let rows = client.query("SELECT n FROM t").compression(compression).collect().await;
        assert_eq!(rows.expect("an answer")[0].num_rows(), 3);
        let query = last_query(&server);
        let value = |name: &str| setting(&query, name).map(|setting| setting.value.clone());
        assert_eq!(value("network_compression_method"), method, "{compression}");
        assert_eq!(value("network_zstd_compression_level"), level, "{compression}");
    }
    let request = client
        .query("SELECT n FROM t")
        .setting("network_compression_method", "LZ4");
    request
        .compression(Compression::Zstd(1))
        .execute()
        .await
        .expect("an answer");
    let query = last_query(&server);
    assert_eq!(
        setting(&query, "network_compression_method").map(|setting| setting.value.clone()),
        word("LZ4")
    );
}
