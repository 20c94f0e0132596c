//! Tables of a real Cassandra node: every type there and back, keys, pages, conditions, and what goes wrong.
use std::sync::Arc;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, Date32Array, Decimal128Array, DictionaryArray, FixedSizeBinaryArray, Float64Array, Int32Array,
    Int64Array, LargeStringArray, ListArray, RecordBatch, StringArray, StructArray, TimestampMicrosecondArray,
    TimestampMillisecondArray, UInt8Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use tidemill_cql::arrow_type::{CQL_TYPE, column_type};
use tidemill_cql::{Client, Insert, Options, Role, Rows, Scan, Table};
use tidemill_testkit::Cassandra;

async fn connect(node: &Cassandra, query: &str) -> Client {
    let url = format!("cql://{}/?{query}", node.native());
    let (options, _) = Options::parse(&url).unwrap();
    Client::connect(options).await.unwrap()
}

/// A node with a keyspace `ks`, and a client of it.
async fn node() -> Option<(Cassandra, Client)> {
    let node = Cassandra::need()?;
    let client = connect(&node, "").await;
    let keyspace = "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";
    client.execute(keyspace).await.unwrap();
    Some((node, client))
}

async fn run(client: &Client, statements: &[&str]) {
    for cql in statements {
        client
            .execute(cql)
            .await
            .unwrap_or_else(|error| panic!("{cql}: {error}"));
    }
}

async fn table(client: &Client, name: &str) -> Arc<Table> {
    Arc::new(client.table("ks", name).await.unwrap())
}

async fn rows(table: &Arc<Table>) -> RecordBatch {
    let columns: Vec<usize> = (0..table.columns().len()).collect();
    read(Scan::new(Arc::clone(table), &columns, Rows::All).unwrap()).await
}

async fn read(scan: Scan) -> RecordBatch {
    let mut all = Vec::new();
    let mut batches = scan.batches();
    while let Some(batch) = batches.next().await.unwrap() {
        all.push(batch);
    }
    arrow_select::concat::concat_batches(&scan.schema(), &all).unwrap()
}

/// The rows as the node itself writes them, in order.
async fn as_json(driver: &Session, name: &str) -> Vec<String> {
    let text = format!("SELECT JSON * FROM ks.{name}");
    let answer = driver
        .query_unpaged(text, ())
        .await
        .unwrap()
        .into_rows_result()
        .unwrap();
    let mut json: Vec<String> = answer.rows::<(String,)>().unwrap().map(|row| row.unwrap().0).collect();
    json.sort();
    json
}

async fn copy(from: &Arc<Table>, to: &Arc<Table>) {
    let all = rows(from).await;
    let names = to.columns().iter().map(|column| column.name.clone());
    let order: Vec<usize> = names.map(|name| all.schema().index_of(&name).unwrap()).collect();
    let columns: Vec<usize> = (0..order.len()).collect();
    let mut insert = Insert::begin(Arc::clone(to), &columns).await.unwrap();
    let order: Vec<usize> = insert.columns().iter().map(|column| order[*column]).collect();
    insert.write(&all.project(&order).unwrap()).await.unwrap();
}

fn shown(column: &ArrayRef) -> Vec<String> {
    let text = |row| match column.is_null(row) {
        true => "NULL".to_owned(),
        false => arrow_cast::display::array_value_to_string(column, row).unwrap(),
    };
    (0..column.len()).map(text).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_are_read_and_filled() {
    let Some((node, client)) = node().await else { return };
    let driver = SessionBuilder::new()
        .known_node_addr(node.native())
        .build()
        .await
        .unwrap();
    types_are_as_the_page_says(&client).await;
    every_type_comes_and_goes(&client, &driver).await;
    types_that_grew_and_empty_values_are_read(&client).await;
    counters_are_added(&client, &driver).await;
    new_tables_remember_their_rows(&client).await;
    values_that_do_not_fit_are_named(&client).await;
    pages_and_parts_are_whole(&node, &client).await;
    virtual_tables_are_read(&client, &driver).await;
    what_is_missing_is_named(&node, &client).await;
}

/// What a node tells of itself.
async fn virtual_tables_are_read(client: &Client, driver: &Session) {
    assert!(
        client
            .tables("system_views")
            .await
            .unwrap()
            .contains(&"settings".to_owned())
    );
    let settings = Arc::new(client.table("System_Views", "settings").await.unwrap());
    assert_eq!(settings.place(), "system_views.settings");
    assert_eq!(settings.partition_key(), [0]);
    let scan = Scan::new(Arc::clone(&settings), &[0, 1], Rows::All).unwrap();
    let (mut batches, mut rows) = (scan.batches(), 0);
    while let Some(batch) = batches.next().await.unwrap() {
        rows += batch.num_rows() as u64;
    }
    let counted = driver
        .query_unpaged("SELECT count(*) FROM system_views.settings", ())
        .await
        .unwrap();
    let (counted,) = counted.into_rows_result().unwrap().first_row::<(i64,)>().unwrap();
    assert!(rows > 100, "{rows}");
    assert_eq!((rows as i64, scan.count().await.unwrap()), (counted, rows));
    let one = Scan::new(settings, &[1], Rows::Where(vec!["name = 'cluster_name'".to_owned()])).unwrap();
    let batch = one.batches().next().await.unwrap().unwrap();
    assert_eq!(
        (batch.num_rows(), batch.column(0).as_string::<i32>().value(0)),
        (1, "tidemill")
    );
}

/// `docs/cql.md` against a node on which each type is declared.
async fn types_are_as_the_page_says(client: &Client) {
    let page = include_str!("../../../../docs/cql.md");
    let mut types = 0;
    for line in page.split("## Types").nth(1).unwrap().lines() {
        let cells: Vec<&str> = line.split(" | ").collect();
        let cell = |at: usize| {
            cells
                .get(at)
                .and_then(|cell| cell.trim_start_matches("| ").strip_prefix('`')?.split_once('`'))
        };
        let (Some((cql, _)), Some((arrow, _))) = (cell(0), cell(1)) else {
            continue;
        };
        types += 1;
        let key = if cql == "counter" {
            "id int PRIMARY KEY"
        } else {
            "id int PRIMARY KEY, other int"
        };
        run(client, &[&format!("CREATE TABLE ks.page{types} ({key}, x {cql})")]).await;
        let declared = table(client, &format!("page{types}")).await;
        let schema = declared.schema();
        let field = schema.field_with_name("x").unwrap();
        let found = field.data_type().to_string();
        assert!(
            found == arrow || found.starts_with(&format!("{arrow}(")),
            "{cql}: {found}"
        );
        let expected = if cql == "counter" { "bigint" } else { cql };
        assert_eq!(column_type(field).unwrap(), expected);
        // The schema spells tuples as frozen, which they always are.
        let spelled = field.metadata()[CQL_TYPE].replace("frozen<tuple<int, text>>", "tuple<int, text>");
        assert_eq!(spelled, cql);
    }
    assert_eq!(types, 25);
}

async fn every_type_comes_and_goes(client: &Client, driver: &Session) {
    run(
        client,
        &[
            "CREATE TYPE ks.point (x int, \"Y\" int, label text)",
            "CREATE TABLE ks.types (id int PRIMARY KEY, a ascii, b bigint, bl blob, bo boolean, d date, de decimal, \
             du duration, f float, g double, i4 inet, si smallint, t text, ti time, ts timestamp, tu timeuuid, \
             ty tinyint, u uuid, v varint, l list<int>, s set<text>, m map<text, int>, fl frozen<list<int>>, \
             n map<int, frozen<set<timeuuid>>>, tp tuple<int, text, frozen<list<int>>>, p point, \
             fp frozen<point>, lp list<frozen<point>>, ve vector<float, 3>, vt vector<text, 2>, \
             vv vector<frozen<vector<int, 2>>, 2>)",
            "CREATE TABLE ks.again (id int PRIMARY KEY, a ascii, b bigint, bl blob, bo boolean, d date, de decimal, \
             du duration, f float, g double, i4 inet, si smallint, t text, ti time, ts timestamp, tu timeuuid, \
             ty tinyint, u uuid, v varint, l list<int>, s set<text>, m map<text, int>, fl frozen<list<int>>, \
             n map<int, frozen<set<timeuuid>>>, tp tuple<int, text, frozen<list<int>>>, p point, \
             fp frozen<point>, lp list<frozen<point>>, ve vector<float, 3>, vt vector<text, 2>, \
             vv vector<frozen<vector<int, 2>>, 2>)",
            "INSERT INTO ks.types (id, a, b, bl, bo, d, de, du, f, g, i4, si, t, ti, ts, tu, ty, u, v, l, s, m, fl, n, \
             tp, p, fp, lp, ve, vt, vv) VALUES (1, 'ascii', -9223372036854775808, 0x00ff, true, '2024-02-29', \
             -12.50, 1mo2d3h4ns, 1.5, -2.25, '192.168.0.1', -32768, 'grün', '23:59:59.999999999', \
             '2024-02-29T12:34:56.789Z', 50554d6e-29bb-11e5-b345-feff819cdc9f, -128, \
             123e4567-e89b-12d3-a456-426614174000, 340282366920938463463374607431768211456, [1, -2, 1], {'b', 'a'}, \
             {'k': 1, 'j': 2}, [], {7: {50554d6e-29bb-11e5-b345-feff819cdc9f}, 8: {}}, (1, null, []), \
             {x: 1, \"Y\": null, label: 'home'}, {x: 2, \"Y\": 3, label: ''}, [{x: 4}, {label: 'end'}], \
             [1, 2.5, -3], ['one', ''], [[1, 2], [3, 4]])",
            "INSERT INTO ks.types (id) VALUES (2)",
            "INSERT INTO ks.types (id, b, bl, d, de, f, g, i4, t, ti, ts, v, fl, l) VALUES (3, 9223372036854775807, 0x, \
             0, 1E-200, NaN, -Infinity, '::ffff:1', '', '00:00:00', -62135596800000, -129, \
             [2147483647], [])",
            "INSERT INTO ks.types (id, d, de, f, g, i4, ts, v, du) VALUES (4, 4294967295, 7E+5, 3.4028235e38, \
             4.9e-324, '2001:db8::1', 253402300799999, 0, -2147483647mo)",
        ],
    )
    .await;
    let types = table(client, "types").await;
    let schema = types.schema();
    for (column, data_type, told) in [
        ("a", DataType::Utf8, "ascii"),
        ("de", DataType::Utf8, "decimal"),
        ("d", DataType::Date32, "date"),
        ("ti", DataType::Time64(TimeUnit::Nanosecond), "time"),
        ("u", DataType::Utf8, "uuid"),
        (
            "fl",
            types.schema().field_with_name("l").unwrap().data_type().clone(),
            "frozen<list<int>>",
        ),
        (
            "fp",
            types.schema().field_with_name("p").unwrap().data_type().clone(),
            "frozen<point>",
        ),
    ] {
        let field = schema.field_with_name(column).unwrap();
        assert_eq!(
            (field.data_type(), field.metadata()[CQL_TYPE].as_str()),
            (&data_type, told),
            "{column}"
        );
    }
    let batch = rows(&types).await;
    let ids = batch
        .column_by_name("id")
        .unwrap()
        .as_primitive::<Int32Type>()
        .values()
        .to_vec();
    let value = |column: &str, id: i32| {
        let row = ids.iter().position(|known| *known == id).unwrap();
        shown(batch.column_by_name(column).unwrap())[row].clone()
    };
    for (column, id, expected) in [
        ("b", 1, "-9223372036854775808"),
        ("bl", 1, "00ff"),
        ("bl", 3, ""),
        ("bo", 1, "true"),
        ("d", 1, "2024-02-29"),
        ("de", 1, "-12.50"),
        ("de", 4, "7E+5"),
        ("du", 1, "1 mons 2 days 3 hours 0.000000004 secs"),
        ("f", 3, "NaN"),
        ("g", 3, "-inf"),
        ("g", 4, "5e-324"),
        ("i4", 1, "192.168.0.1"),
        ("i4", 3, "::ffff:1"),
        ("i4", 4, "2001:db8::1"),
        ("si", 1, "-32768"),
        ("t", 1, "grün"),
        ("t", 3, ""),
        ("ti", 1, "23:59:59.999999999"),
        ("ts", 1, "2024-02-29T12:34:56.789Z"),
        ("tu", 1, "50554d6e-29bb-11e5-b345-feff819cdc9f"),
        ("v", 1, "340282366920938463463374607431768211456"),
        ("v", 3, "-129"),
        ("l", 1, "[1, -2, 1]"),
        ("l", 2, "NULL"),
        // An empty collection that is not frozen is NULL.
        ("l", 3, "NULL"),
        ("s", 1, "[a, b]"),
        ("m", 1, "{j: 2, k: 1}"),
        ("fl", 1, "[]"),
        ("fl", 2, "NULL"),
        ("n", 1, "{7: [50554d6e-29bb-11e5-b345-feff819cdc9f], 8: []}"),
        ("tp", 1, "{1: 1, 2: , 3: []}"),
        ("p", 1, "{x: 1, Y: , label: home}"),
        ("lp", 1, "[{x: 4, Y: , label: }, {x: , Y: , label: end}]"),
        ("ve", 1, "[1.0, 2.5, -3.0]"),
        ("vt", 1, "[one, ]"),
        ("vv", 1, "[[1, 2], [3, 4]]"),
    ] {
        assert_eq!(value(column, id), expected, "{column} of {id}");
    }
    let days = batch.column_by_name("d").unwrap();
    let days = days.as_any().downcast_ref::<Date32Array>().unwrap();
    let of = |id: i32| days.value(ids.iter().position(|known| *known == id).unwrap());
    assert_eq!((of(3), of(4)), (i32::MIN, i32::MAX));

    // What our inserts wrote is for the node what its own statements wrote.
    let again = table(client, "again").await;
    copy(&types, &again).await;
    assert_eq!(as_json(driver, "again").await, as_json(driver, "types").await);
    assert_eq!(rows(&again).await, batch);

    // NULL takes the place of what is there.
    let mut insert = Insert::begin(Arc::clone(&again), &[0, 2]).await.unwrap();
    let nothing: ArrayRef = Arc::new(Int64Array::from(vec![None]));
    let fields = vec![
        Field::new("id", DataType::Int32, true),
        Field::new("b", DataType::Int64, true),
    ];
    let one = vec![Arc::new(Int32Array::from(vec![1])) as ArrayRef, nothing];
    insert
        .write(&RecordBatch::try_new(Arc::new(Schema::new(fields)), one).unwrap())
        .await
        .unwrap();
    let json = as_json(driver, "again").await;
    assert!(
        json[0].contains("\"b\": null") && json[0].contains("\"bo\": true"),
        "{}",
        json[0]
    );
}

async fn types_that_grew_and_empty_values_are_read(client: &Client) {
    run(
        client,
        &[
            "CREATE TABLE ks.grown (id int PRIMARY KEY, p point, e int)",
            "INSERT INTO ks.grown (id, p, e) VALUES (1, {x: 1, \"Y\": 2, label: 'l'}, blobAsInt(0x))",
            "ALTER TYPE ks.point ADD z int",
        ],
    )
    .await;
    let batch = rows(&table(client, "grown").await).await;
    assert_eq!(
        shown(batch.column_by_name("p").unwrap()),
        ["{x: 1, Y: 2, label: l, z: }"]
    );
    assert_eq!(shown(batch.column_by_name("e").unwrap()), ["NULL"]);
}

async fn counters_are_added(client: &Client, driver: &Session) {
    run(
        client,
        &[
            "CREATE TABLE ks.hits (page text, day date, hits counter, \"Misses\" counter, PRIMARY KEY (page, day))",
            "CREATE TABLE ks.hits2 (page text, day date, hits counter, \"Misses\" counter, PRIMARY KEY (page, day))",
            "UPDATE ks.hits SET hits = hits + 7, \"Misses\" = \"Misses\" - 2 WHERE page = 'a' AND day = '2024-01-01'",
            "UPDATE ks.hits SET hits = hits + 1, \"Misses\" = \"Misses\" + 0 WHERE page = 'a' AND day = '2024-01-02'",
        ],
    )
    .await;
    let (hits, again) = (table(client, "hits").await, table(client, "hits2").await);
    copy(&hits, &again).await;
    assert_eq!(as_json(driver, "hits2").await, as_json(driver, "hits").await);
    copy(&hits, &again).await;
    let batch = rows(&again).await;
    assert_eq!(
        batch
            .column_by_name("hits")
            .unwrap()
            .as_primitive::<Int64Type>()
            .values()
            .to_vec(),
        [14, 2]
    );
}

/// Rows of types that Cassandra has not, in an order that it would change, with names that it would.
fn foreign_rows() -> RecordBatch {
    let prices = Decimal128Array::from(vec![Some(1250), None, Some(-1)])
        .with_precision_and_scale(9, 2)
        .unwrap();
    let times = TimestampMillisecondArray::from(vec![Some(0), Some(-1), None]);
    let micros = TimestampMicrosecondArray::from(vec![Some(1_000), None, Some(-2_000)]);
    let dictionary: DictionaryArray<Int32Type> = vec![Some("x"), None, Some("")].into_iter().collect();
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![]), None, Some(vec![Some(1)])]);
    let pair = StructArray::from(vec![
        (
            Arc::new(Field::new("Left", DataType::Int32, true)),
            Arc::new(Int32Array::from(vec![Some(1), None, Some(3)])) as ArrayRef,
        ),
        (
            Arc::new(Field::new("right", DataType::Float64, true)),
            Arc::new(Float64Array::from(vec![0.5, 1.5, 2.5])) as ArrayRef,
        ),
    ]);
    let uuids = FixedSizeBinaryArray::try_from_iter((0..3_u8).map(|n| [n; 16])).unwrap();
    let columns: Vec<(Field, ArrayRef)> = vec![
        (Field::new("PRICE", DataType::Decimal128(9, 2), true), Arc::new(prices)),
        (
            Field::new("Id", DataType::UInt64, true),
            Arc::new(UInt64Array::from(vec![u64::MAX, 0, 5])),
        ),
        (
            Field::new("at", DataType::Timestamp(TimeUnit::Millisecond, None), true),
            Arc::new(times),
        ),
        (
            Field::new("fine", DataType::Timestamp(TimeUnit::Microsecond, None), true),
            Arc::new(micros),
        ),
        (
            Field::new("a b\"c", DataType::UInt8, true),
            Arc::new(UInt8Array::from(vec![Some(255), None, Some(0)])),
        ),
        (
            Field::new("large", DataType::LargeUtf8, true),
            Arc::new(LargeStringArray::from(vec![Some("l'été"), Some(""), None])),
        ),
        (
            Field::new("kind", dictionary.data_type().clone(), true),
            Arc::new(dictionary),
        ),
        (Field::new("list", list.data_type().clone(), true), Arc::new(list)),
        (Field::new("pair", pair.data_type().clone(), true), Arc::new(pair)),
        (
            Field::new("bytes", DataType::FixedSizeBinary(16), true),
            Arc::new(uuids),
        ),
    ];
    let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

async fn new_tables_remember_their_rows(client: &Client) {
    let batch = foreign_rows();
    let made = client
        .create_table("ks", "Made", &batch.schema(), "(ID), \"A b\"\"C\"")
        .await;
    assert!(made.is_err(), "quotes in names of keys are not read");
    let made = Arc::new(
        client
            .create_table("KS", "Made", &batch.schema(), "ID, pair")
            .await
            .unwrap(),
    );
    assert_eq!(made.columns()[0].name, "price");
    assert_eq!((made.partition_key(), made.clustering_key()), (vec![1], vec![8]));
    let schema = made.schema();
    for (found, written) in schema.fields().iter().zip(batch.schema().fields()) {
        assert_eq!((found.name(), found.data_type()), (written.name(), written.data_type()));
    }
    let all: Vec<usize> = (0..batch.num_columns()).collect();
    let mut insert = Insert::begin(Arc::clone(&made), &all)
        .await
        .unwrap()
        .into_new_table(true);
    insert.write(&batch).await.unwrap();
    assert_eq!(insert.rows(), 3);
    let found = rows(&made).await;
    let sorted = |batch: &RecordBatch| {
        let mut rows: Vec<Vec<String>> = (0..batch.num_rows())
            .map(|row| {
                batch
                    .columns()
                    .iter()
                    .map(|column| shown(&column.slice(row, 1))[0].clone())
                    .collect()
            })
            .collect();
        rows.sort();
        rows
    };
    assert_eq!(sorted(&found), sorted(&batch));
    // In a table that is there no column is restored that was changed since.
    run(
        client,
        &[
            "ALTER TABLE ks.\"Made\" DROP price",
            "ALTER TABLE ks.\"Made\" ADD price2 int",
        ],
    )
    .await;
    let changed = table(client, "made").await;
    assert_eq!(changed.schema().field(0).name(), "Id");
    assert_eq!(changed.schema().fields().len(), 10);
    assert_eq!(rows(&changed).await.num_rows(), 3);
}

async fn values_that_do_not_fit_are_named(client: &Client) {
    run(
        client,
        &[
            "CREATE TABLE ks.narrow (id int, c int, u uuid, d decimal, v varint, ts timestamp, l list<int>, \
           ve vector<int, 2>, a ascii, du duration, PRIMARY KEY (id, c))",
        ],
    )
    .await;
    let narrow = table(client, "narrow").await;
    let place = |name: &str| narrow.columns().iter().position(|column| column.name == name).unwrap();
    let id = || Arc::new(Int32Array::from(vec![1, 2])) as ArrayRef;
    let texts = |text: &str| Arc::new(StringArray::from(vec![None, Some(text)])) as ArrayRef;
    let list = |items: Vec<Option<i32>>| {
        Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(vec![
            None,
            Some(items),
        ])) as ArrayRef
    };
    let wrong: Vec<(&str, ArrayRef, &str)> = vec![
        ("u", texts("550e8400"), "a UUID"),
        ("d", texts("1.2.3"), "a decimal"),
        ("v", texts("1.5"), "a whole number"),
        (
            "v",
            Arc::new(
                Decimal128Array::from(vec![None, Some(15)])
                    .with_precision_and_scale(9, 1)
                    .unwrap(),
            ),
            "1.5",
        ),
        (
            "ts",
            Arc::new(TimestampMicrosecondArray::from(vec![None, Some(1)])),
            "whole milliseconds",
        ),
        ("l", list(vec![Some(1), None]), "NULL"),
        ("ve", list(vec![Some(1)]), "2 elements"),
        ("a", texts("ä"), "ASCII"),
    ];
    for (column, array, named) in wrong {
        let fields = vec![
            Field::new("id", DataType::Int32, true),
            Field::new("c", DataType::Int32, true),
            Field::new("x", array.data_type().clone(), true),
        ];
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), vec![id(), id(), array]).unwrap();
        let columns = [place("id"), place("c"), place(column)];
        let mut insert = Insert::begin(Arc::clone(&narrow), &columns).await.unwrap();
        let error = insert.write(&batch).await.unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("ks.narrow: row 2, column {column}: ")),
            "{error}"
        );
        assert!(error.contains(named), "{error}");
    }
    // What the node refuses.
    let fields = vec![
        Field::new("id", DataType::Int32, true),
        Field::new("c", DataType::Int32, true),
    ];
    let none = Arc::new(Int32Array::from(vec![Some(1), None])) as ArrayRef;
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), vec![id(), none]).unwrap();
    let mut insert = Insert::begin(Arc::clone(&narrow), &[place("id"), place("c")])
        .await
        .unwrap();
    let error = insert.write(&batch).await.unwrap_err().to_string();
    assert!(error.contains("ks.narrow: inserting row 2: "), "{error}");
    let error = Insert::begin(Arc::clone(&narrow), &[place("id")])
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("rows without c"), "{error}");
}

/// A table of `count` rows: `id`, a partition of ten rows each, and `name`.
async fn fill(client: &Client, name: &str, count: i32) -> Arc<Table> {
    let create = format!("CREATE TABLE ks.{name} (part int, id int, name text, PRIMARY KEY (part, id))");
    client.execute(&create).await.unwrap();
    let filled = table(client, name).await;
    let fields = ["part", "id", "name"].map(|name| {
        let data_type = if name == "name" {
            DataType::Utf8
        } else {
            DataType::Int32
        };
        Field::new(name, data_type, true)
    });
    let columns: Vec<ArrayRef> = vec![
        Arc::new((0..count).map(|id| id / 10).collect::<Int32Array>()),
        Arc::new((0..count).collect::<Int32Array>()),
        Arc::new((0..count).map(|id| Some(format!("row {id}"))).collect::<StringArray>()),
    ];
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields.to_vec())), columns).unwrap();
    let mut insert = Insert::begin(Arc::clone(&filled), &[0, 1, 2]).await.unwrap();
    insert.write(&batch).await.unwrap();
    filled
}

async fn pages_and_parts_are_whole(node: &Cassandra, client: &Client) {
    const ROWS: i32 = 20_000;
    let whole = fill(client, "paged", ROWS).await;
    let ids = |batch: &RecordBatch| batch.column(0).as_primitive::<Int32Type>().values().to_vec();
    let scan = |table: &Arc<Table>| Scan::new(Arc::clone(table), &[1], Rows::All).unwrap();
    let in_order = ids(&read(scan(&whole)).await);
    let mut sorted = in_order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..ROWS).collect::<Vec<_>>());
    assert_eq!(scan(&whole).count().await.unwrap(), ROWS as u64);
    assert!(
        scan(&whole)
            .text()
            .contains("WHERE token(part) > ? AND token(part) <= ? (3"),
        "{}",
        scan(&whole).text()
    );

    // Rows come in the table's order, however they are paged and how many parts run at a time.
    for query in [
        "page_size=7&in_flight=3",
        "page_size=5001&in_flight=1",
        "page_size=100&in_flight=64",
    ] {
        let client = connect(node, query).await;
        let again = table(&client, "paged").await;
        assert_eq!(ids(&read(scan(&again)).await), in_order, "{query}");
        for limit in [0, 1, 99, 100, 101, 5_000, 12_345, 1 << 40] {
            let some = read(scan(&again).limit(Some(limit))).await;
            let expected = in_order.len().min(usize::try_from(limit).unwrap());
            assert_eq!(ids(&some), in_order[..expected], "{query}, {limit}");
        }
    }
    let conditions = ["part = 7 AND id >= 75", "part IN (1, 2)", "part = 1000000"];
    let some = Scan::new(
        Arc::clone(&whole),
        &[1],
        Rows::Where(conditions.map(str::to_owned).to_vec()),
    )
    .unwrap();
    let expected: Vec<i32> = (75..80).chain(10..30).collect();
    assert_eq!(ids(&read(some.clone()).await), expected);
    assert_eq!(some.count().await.unwrap(), 25);
    assert_eq!(
        Scan::new(whole, &[1], Rows::Where(vec![]))
            .unwrap()
            .count()
            .await
            .unwrap(),
        0
    );

    run(client, &["CREATE TABLE ks.nothing (id int PRIMARY KEY, \"Name\" text)"]).await;
    let nothing = table(client, "NOTHING").await;
    assert_eq!(rows(&nothing).await.num_rows(), 0);
    assert_eq!(nothing.columns()[1].role, Role::Regular);
}

async fn what_is_missing_is_named(node: &Cassandra, client: &Client) {
    for (keyspace, name, expected) in [
        ("nowhere", "paged", "nowhere: no such keyspace; the cluster has"),
        ("ks", "page", "ks.page: no such table; the keyspace has"),
    ] {
        let error = client.table(keyspace, name).await.unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    let (options, _) = Options::parse("cql://ann:secret@127.0.0.1:1/ks?timeout=5").unwrap();
    let error = Client::connect(options).await.unwrap_err().to_string();
    assert!(
        error.starts_with("cannot connect to 127.0.0.1:1: ") && !error.contains("secret"),
        "{error}"
    );

    // A column that was dropped in mid-scan is noticed.
    let client = connect(node, "page_size=10&in_flight=1").await;
    let gone = fill(&client, "altered", 2_000).await;
    let mut batches = Scan::new(Arc::clone(&gone), &[2, 1], Rows::All).unwrap().batches();
    assert!(batches.next().await.unwrap().is_some());
    run(&client, &["ALTER TABLE ks.altered DROP name"]).await;
    let end = loop {
        match batches.next().await {
            Ok(Some(_)) => {}
            end => break end,
        }
    };
    let error = end.unwrap_err().to_string();
    assert!(error.contains("ks.altered: reading: "), "{error}");
    assert!(batches.next().await.unwrap().is_none(), "nothing comes behind an error");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_stops_in_mid_scan_is_an_error() {
    let Some((node, _)) = node().await else { return };
    let client = connect(&node, "page_size=10&in_flight=2&timeout=10").await;
    let stopped = fill(&client, "stopped", 5_000).await;
    let scan = Scan::new(Arc::clone(&stopped), &[0, 1], Rows::All).unwrap();
    let mut batches = scan.batches();
    let first = batches.next().await.unwrap().unwrap();
    assert!(first.num_rows() <= 10);
    drop(node);
    let end = async {
        loop {
            match batches.next().await {
                Ok(Some(_)) => {}
                end => break end,
            }
        }
    };
    let end = tokio::time::timeout(Duration::from_secs(60), end).await.unwrap();
    let error = end.unwrap_err().to_string();
    assert!(error.starts_with("ks.stopped: reading: "), "{error}");
    let error = scan.count().await.unwrap_err().to_string();
    assert!(error.starts_with("ks.stopped: "), "{error}");
    let mut insert = Insert::begin(stopped, &[0, 1]).await;
    if let Ok(insert) = &mut insert {
        let fields = vec![
            Field::new("part", DataType::Int32, true),
            Field::new("id", DataType::Int32, true),
        ];
        let one = || Arc::new(Int32Array::from(vec![1])) as ArrayRef;
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), vec![one(), one()]).unwrap();
        assert!(insert.write(&batch).await.is_err());
    }
}
