//! The time zone of a session: what the client asks for, and what becomes of columns without one of their own.

use arrow_array::{RecordBatch, cast::AsArray, types::TimestampSecondType};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType as ArrowType, SchemaRef};
use tidemill_clickhouse::{
    Block, BlockDecoder, BlockEncoder, Revision,
    arrow_type::{self, StringType},
    client::Client,
    packet::{chunked::Chunking, client::SettingValue},
    source::SliceSource,
};
use tidemill_testkit::Chdb;

use crate::{
    SETTINGS,
    client::description,
    server::{Server, Table},
};

/// A server with a table that has the rows which ClickHouse answers in this time zone.
fn server(chdb: &mut Chdb, query: &str, zone: &str) -> (Server, Block) {
    let answer = chdb.query(
        &format!("{query} SETTINGS {SETTINGS}, session_timezone='{zone}'"),
        "Native",
    );
    let answer = answer.expect("an answer");
    let decoder = BlockDecoder {
        strings: StringType::Utf8,
        ..BlockDecoder::default()
    };
    let block = decoder.decode_blocking(&mut SliceSource::new(&answer), Revision::FILE);
    let block = block.expect("a block");
    let server = Server::start(Revision::NEWEST, Chunking::NotChunkedOptional);
    *server.table() = Table {
        description: Some(description(&block)),
        blocks: vec![block.clone()],
        ..Table::default()
    };
    (server, block)
}

async fn connect(server: &Server, options: &str) -> Client {
    let url = format!("clickhouse://miller:water@127.0.0.1:{}/?{options}", server.port());
    Client::connect(&url).await.expect("a connection")
}

/// The time zones in a schema, in order, also those of items.
fn zones(schema: &SchemaRef) -> Vec<String> {
    fn of(data_type: &ArrowType, zones: &mut Vec<String>) {
        match data_type {
            ArrowType::Timestamp(_, zone) => zones.push(zone.as_deref().unwrap_or("none").to_owned()),
            ArrowType::List(item) | ArrowType::Map(item, _) => of(item.data_type(), zones),
            ArrowType::Struct(fields) => fields.iter().for_each(|field| of(field.data_type(), zones)),
            ArrowType::Dictionary(_, values) => of(values, zones),
            ArrowType::Union(fields, _) => fields.iter().for_each(|(_, field)| of(field.data_type(), zones)),
            _ => {}
        }
    }
    let mut zones = Vec::new();
    schema
        .fields()
        .iter()
        .for_each(|field| of(field.data_type(), &mut zones));
    zones
}

fn shown(batch: &RecordBatch) -> Vec<String> {
    let options = FormatOptions::default().with_null("NULL");
    let columns = batch.columns().iter().map(|column| {
        let formatter = ArrayFormatter::try_new(column, &options).expect("a formatter");
        formatter.value(0).to_string()
    });
    columns.collect()
}

const TIMES: &str = "SELECT toDateTime('2026-11-24 12:00:00') AS a, toDateTime64('2026-11-24 12:00:00.5', 1) AS b, \
                     toDateTime64('2026-11-24 12:00:00', 3, 'Europe/Berlin') AS c, [a, a] AS d, map('k', toNullable(b)) AS e, \
                     CAST(a, 'LowCardinality(Nullable(DateTime))') AS f, CAST((1, a), 'Tuple(n UInt8, t DateTime)') AS g, \
                     CAST(a, 'Variant(DateTime, String)') AS h, a::Dynamic AS i";

/// What ClickHouse makes of a text in a time zone is the same text again.
#[tokio::test]
async fn instants_are_in_the_time_zone_of_the_session() {
    let Some(mut chdb) = Chdb::need() else { return };
    for (asked, offset) in [("Asia/Tokyo", "+09:00"), ("America/St_Johns", "-03:30")] {
        let (server, block) = server(&mut chdb, TIMES, asked);
        let client = connect(&server, &format!("session_timezone={asked}")).await;
        let mut stream = client.query("SELECT *").await.expect("an answer");
        let header = stream.schema().expect("columns");
        let batch = stream.next().await.expect("rows").expect("rows");
        // The kinds of a Dynamic show in rows only.
        let mut expected = vec![asked; 9];
        expected[2] = "Europe/Berlin";
        assert_eq!(zones(&batch.schema()), expected);
        assert_eq!(zones(&header), expected[..8]);
        let noon = format!("2026-11-24T12:00:00{offset}");
        let half = format!("2026-11-24T12:00:00.500{offset}");
        assert_eq!(
            shown(&batch),
            [
                noon.clone(),
                half.clone(),
                "2026-11-24T12:00:00+01:00".to_owned(),
                format!("[{noon}, {noon}]"),
                format!("{{k: {half}}}"),
                noon.clone(),
                format!("{{n: 1, t: {noon}}}"),
                format!("{{DateTime={noon}}}"),
                format!("{{DateTime={noon}}}"),
            ]
        );
        // The types are still those of the server.
        for (field, data_type) in batch.schema().fields().iter().zip(&block.types) {
            assert_eq!(arrow_type::data_type(field).expect("a type"), *data_type);
        }
        assert!(stream.next().await.expect("the end").is_none());
        let table = server.table();
        let setting = &table.queries[0].settings[0];
        assert_eq!(setting.name, "session_timezone");
        assert_eq!(setting.value, SettingValue::Text(asked.to_owned()));
        assert!(setting.is_important);
    }
}

/// Where no value is written, it is in the same time zone as those that are.
#[tokio::test]
async fn instants_of_sparse_columns_are_in_it_too() {
    let Some(mut chdb) = Chdb::need() else { return };
    let query = "SELECT toDateTime(number % 2 * 86400) AS a FROM numbers(5)";
    let (server, block) = server(&mut chdb, query, "UTC");
    server.table().encoder = BlockEncoder {
        sparse_from: Some(0.0),
        ..BlockEncoder::default()
    };
    let client = connect(&server, "session_timezone=Asia/Tokyo").await;
    let batches = client.query("SELECT *").collect().await.expect("an answer");
    assert_eq!(zones(&batches[0].schema()), ["Asia/Tokyo"]);
    let seconds = |batch: &RecordBatch| batch.column(0).as_primitive::<TimestampSecondType>().values().clone();
    assert_eq!(seconds(&batches[0]), seconds(&block.batch));
}

#[tokio::test]
async fn a_query_has_its_own_time_zone() {
    let Some(mut chdb) = Chdb::need() else { return };
    let (server, block) = server(&mut chdb, "SELECT toDateTime(86400) AS a, [a] AS b", "UTC");
    let client = connect(&server, "pool_size=1").await;
    let first = |batches: Vec<RecordBatch>| batches.into_iter().next().expect("a batch");
    let plain = first(client.query("SELECT *").collect().await.expect("an answer"));
    assert_eq!(plain, block.batch);
    let request = client.query("SELECT *").session_time_zone("Asia/Tokyo");
    let tokyo = first(request.collect().await.expect("an answer"));
    assert_eq!(zones(&tokyo.schema()), ["Asia/Tokyo", "Asia/Tokyo"]);
    // As the setting that it is, too.
    let request = client.query("SELECT *").setting("session_timezone", "Asia/Seoul");
    let seoul = first(request.collect().await.expect("an answer"));
    assert_eq!(zones(&seoul.schema()), ["Asia/Seoul", "Asia/Seoul"]);
    // And the next query on the connection has none again.
    let again = first(client.query("SELECT *").collect().await.expect("an answer"));
    assert_eq!(again, block.batch);

    let mut insert = client
        .insert("t")
        .session_time_zone("Asia/Tokyo")
        .await
        .expect("an insert");
    assert_eq!(zones(&insert.schema()), ["Asia/Tokyo", "Asia/Tokyo"]);
    for batch in [&tokyo, &seoul, &plain] {
        insert.write(batch).await.expect("a batch that fits");
        insert.flush().await.expect("a block");
    }
    insert.finish().await.expect("an end");
    let blocks = server.table().blocks.clone();
    assert_eq!(blocks.len(), 4);
    for inserted in &blocks[1..] {
        assert_eq!(inserted.batch, block.batch);
    }
    let request = client.query("SELECT *").session_time_zone("Asia/Tokyo").rows();
    let rows: Vec<(u32, Vec<u32>)> = request.fetch_all().await.expect("rows");
    assert_eq!(rows[0], (86400, vec![86400]));
}

/// What a server says before the columns is so; what it says behind them comes too late for a stream of one schema.
#[tokio::test]
async fn the_server_has_the_last_word() {
    let Some(mut chdb) = Chdb::need() else { return };
    let (server, _) = server(&mut chdb, "SELECT toDateTime(86400) AS a", "UTC");
    {
        let mut table = server.table();
        table.time_zone = Some("Asia/Kolkata".to_owned());
        table.later_time_zone = Some("Asia/Seoul".to_owned());
    }
    let client = connect(&server, "session_timezone=Asia/Tokyo").await;
    let mut stream = client.query("SELECT *").await.expect("an answer");
    let schema = stream.schema().expect("columns");
    assert_eq!(zones(&schema), ["Asia/Kolkata"]);
    while let Some(batch) = stream.next().await.expect("rows") {
        assert_eq!(batch.schema(), schema);
    }
    assert_eq!(stream.summary().time_zone.as_deref(), Some("Asia/Seoul"));
    let insert = client.insert("t").await.expect("an insert");
    assert_eq!(
        zones(&insert.schema()),
        ["Asia/Tokyo"],
        "nothing was said before its columns"
    );
}
