//! Tables of a real server, made and filled.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::*;
use arrow_schema::{DataType, Field, Schema};
use tidemill_postgres::{Client, Error, Fill, IfThere, NewIndex, NewTable, Options, Read};
use tidemill_testkit::Postgres;

async fn client(server: &Postgres) -> Client {
    let (options, _) = Options::parse(&format!("{}?timeout=20", server.url())).unwrap();
    Client::connect(options).await.unwrap()
}

fn batch(begin: i32, rows: i32) -> RecordBatch {
    let numbers = Int32Array::from_iter_values(begin..begin + rows);
    let names = StringArray::from_iter((begin..begin + rows).map(|n| (n % 3 != 0).then(|| format!("n{n}"))));
    RecordBatch::try_from_iter_with_nullable([
        ("n", Arc::new(numbers) as ArrayRef, false),
        ("Name", Arc::new(names), true),
    ])
    .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn columns_count_by_themselves_behind_their_rows_and_have_comments() {
    let Some(server) = Postgres::need() else { return };
    let client = client(&server).await;
    let mut new = NewTable::of_schema(&batch(0, 1).schema()).unwrap();
    new.comment = Some("it's \\ a table".to_owned());
    new.columns[0].is_identity = true;
    new.columns[1].is_identity = true;
    new.columns[1].comment = Some("NAME".to_owned());
    for round in 0..2 {
        let mut fill = match round {
            0 => Fill::create(&client, None, "a \"b", &new).await.unwrap(),
            _ => Fill::replace(&client, None, "a \"b", &new).await.unwrap(),
        };
        fill.write(&batch(1, 41)).await.unwrap();
        fill.finish().await.unwrap();
        let added = "INSERT INTO \"a \"\"b\" (\"Name\") VALUES ('x'), ('y') RETURNING n";
        assert_eq!(server.psql(added).unwrap(), "42\n43\n");
        let comments = "SELECT obj_description('\"a \"\"b\"'::regclass), col_description('\"a \"\"b\"'::regclass, 2)";
        assert_eq!(server.psql(comments).unwrap(), "it's \\ a table|NAME\n");
    }
    // No rows: from 1 on.
    let fill = Fill::create(&client, None, "none", &new).await.unwrap();
    fill.finish().await.unwrap();
    let added = "INSERT INTO none (\"Name\") VALUES ('x') RETURNING n";
    assert_eq!(server.psql(added).unwrap(), "1\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_is_made_replaced_emptied_and_added_to() {
    let Some(server) = Postgres::need() else { return };
    let client = client(&server).await;
    let mut new = NewTable::of_schema(&batch(0, 1).schema()).unwrap();
    new.primary_key = vec!["n".to_owned()];
    new.indexes = vec![NewIndex {
        columns: vec!["Name".to_owned(), "n".to_owned()],
        is_unique: false,
    }];
    let mut fill = Fill::create(&client, None, "t", &new).await.unwrap();
    for begin in [0, 20_000] {
        fill.write(&batch(begin, 20_000)).await.unwrap();
    }
    assert_eq!(server.psql("SELECT to_regclass('t') IS NULL").unwrap(), "t\n");
    assert_eq!(fill.finish().await.unwrap(), 40_000);
    let indexes = "SELECT string_agg(indexname, ' ' ORDER BY indexname) FROM pg_indexes WHERE tablename = 't'";
    let count = "SELECT count(*), sum(n), count(\"Name\"), count(DISTINCT \"Name\") FROM t";
    assert_eq!(server.psql(count).unwrap(), "40000|799980000|26666|26666\n");
    assert_eq!(server.psql(indexes).unwrap(), "t_Name_n_idx t_pkey\n");
    let table = client.table(None, "t").await.unwrap();
    assert_eq!(table.primary_key, ["n"]);

    let error = Fill::create(&client, None, "t", &new).await.unwrap_err();
    assert!(matches!(error, Error::Exists { .. }), "{error}");

    let mut fill = Fill::begin(&client, &table, &["Name".to_owned(), "n".to_owned()], IfThere::Append)
        .await
        .unwrap();
    let added = batch(40_000, 10).project(&[1, 0]).unwrap();
    fill.write(&added).await.unwrap();
    assert_eq!(fill.finish().await.unwrap(), 10);
    assert_eq!(server.psql("SELECT count(*) FROM t").unwrap(), "40010\n");

    let mut fill = Fill::begin(&client, &table, &[], IfThere::Update).await.unwrap();
    let changed = StringArray::from(vec!["changed", "added"]);
    let numbers = Int32Array::from(vec![7, 40_010]);
    let changed = RecordBatch::try_from_iter([("n", Arc::new(numbers) as ArrayRef), ("Name", Arc::new(changed))]);
    fill.write(&changed.unwrap()).await.unwrap();
    assert_eq!(fill.finish().await.unwrap(), 2);
    let found = "SELECT count(*), max(\"Name\") FILTER (WHERE n = 7) FROM t";
    assert_eq!(server.psql(found).unwrap(), "40011|changed\n");
    server
        .psql("UPDATE t SET \"Name\" = 'n7' WHERE n = 7; DELETE FROM t WHERE n = 40010")
        .unwrap();

    // Of the second transaction nothing is left.
    let mut fill = Fill::begin(&client, &table, &[], IfThere::Append).await.unwrap();
    fill.write(&batch(50_000, 10)).await.unwrap();
    fill.write(&batch(5, 1)).await.unwrap();
    let error = fill.finish().await.unwrap_err();
    assert_eq!(
        (error.sqlstate(), error.server().unwrap().constraint.as_deref()),
        (Some("23505"), Some("t_pkey"))
    );
    assert_eq!(server.psql("SELECT count(*) FROM t").unwrap(), "40010\n");

    let mut fill = Fill::begin(&client, &table, &[], IfThere::Empty).await.unwrap();
    fill.write(&batch(0, 7)).await.unwrap();
    fill.finish().await.unwrap();
    assert_eq!(server.psql("SELECT count(*) FROM t").unwrap(), "7\n");

    let mut fill = Fill::replace(&client, Some("public"), "t", &new).await.unwrap();
    fill.write(&batch(0, 3)).await.unwrap();
    assert_eq!(server.psql("SELECT count(*) FROM t").unwrap(), "7\n");
    drop(fill);
    let mut fill = Fill::replace(&client, Some("public"), "t", &new).await.unwrap();
    fill.write(&batch(0, 4)).await.unwrap();
    fill.finish().await.unwrap();
    assert_eq!(server.psql("SELECT count(*) FROM t").unwrap(), "4\n");
    assert_eq!(server.psql(indexes).unwrap(), "t_Name_n_idx t_pkey\n");
    assert_eq!(
        server
            .psql("SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace")
            .unwrap(),
        "1\n"
    );
    // What depends on the old table keeps it.
    server.psql("CREATE VIEW v AS SELECT * FROM t").unwrap();
    let fill = Fill::replace(&client, None, "t", &new).await.unwrap();
    let error = fill.finish().await.unwrap_err();
    assert!(error.to_string().contains("view v depends on table t"), "{error}");
    assert_eq!(server.psql("SELECT count(*) FROM t").unwrap(), "4\n");
    assert_eq!(client.tables(None).await.unwrap(), ["t", "v"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn columns_of_every_kind_are_filled() {
    let Some(server) = Postgres::need() else { return };
    let client = client(&server).await;
    server
        .psql(
            "CREATE TYPE mood AS ENUM ('glad', 'sad'); CREATE DOMAIN price AS numeric(8,2);
             CREATE TABLE kinds (id bigint GENERATED ALWAYS AS IDENTITY, p price, m mood, ms mood[], host inet, span int4range, j jsonb, code char(4),
                twice bigint GENERATED ALWAYS AS (id * 2) STORED, tags text[]);
             CREATE TABLE plain (m mood, c varchar(3))",
        )
        .unwrap();
    let table = client.table(None, "kinds").await.unwrap();
    let moods = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)]), None]);
    let moods = arrow_cast::cast(&moods, &DataType::new_list(DataType::Utf8, true)).unwrap();
    let tags = arrow_cast::cast(&moods, &DataType::new_list(DataType::Utf8, true)).unwrap();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(vec![7, 8])),
        Arc::new(Float64Array::from(vec![Some(1.25), None])),
        Arc::new(StringArray::from(vec!["glad", "sad"])),
        new_null_array(&DataType::new_list(DataType::Utf8, true), 2),
        Arc::new(StringArray::from(vec![Some("10.0.0.1"), None])),
        Arc::new(StringArray::from(vec!["[1,5)", "empty"])),
        Arc::new(StringArray::from(vec!["{\"a\":1}", "[]"])),
        Arc::new(StringArray::from(vec!["ab", "abcd"])),
        tags,
    ];
    let mut fill = Fill::begin(&client, &table, &[], IfThere::Append).await.unwrap();
    let fields = fill
        .schema()
        .fields()
        .iter()
        .zip(&columns)
        .map(|(field, column)| Field::new(field.name(), column.data_type().clone(), true));
    let rows = RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), columns).unwrap();
    fill.write(&rows).await.unwrap();
    fill.finish().await.unwrap();
    assert_eq!(
        server
            .psql("SELECT id, p, m, ms, host, span, j, code, twice, tags FROM kinds ORDER BY id")
            .unwrap(),
        "7|1.25|glad||10.0.0.1|[1,5)|{\"a\": 1}|ab  |14|{1}\n8||sad|||empty|[]|abcd|16|\n"
    );
    // Read, and written again.
    let all: Vec<usize> = (0..table.columns.len())
        .filter(|index| !table.columns[*index].is_generated)
        .collect();
    let schema = Arc::new(table.schema().project(&all).unwrap());
    let mut read = Read::begin(&client, "kinds", &table.select(&all), Some(&schema))
        .await
        .unwrap();
    let rows = read.next().await.unwrap().unwrap();
    let again = NewTable::of_schema(&rows.schema()).unwrap();
    let mut fill = Fill::create(&client, None, "again", &again).await.unwrap();
    fill.write(&rows).await.unwrap();
    fill.finish().await.unwrap();
    let compared = "SELECT count(*) FROM kinds k JOIN again a USING (id) WHERE (k.p, k.m::text, k.host, k.span, k.j, k.code, k.tags)
         IS NOT DISTINCT FROM (a.p, a.m, a.host, a.span, a.j, a.code, a.tags)";
    assert_eq!(server.psql(compared).unwrap(), "2\n");

    let plain = client.table(None, "plain").await.unwrap();
    for (column, value, named) in [
        ("m", "happy", "happy"),
        ("c", "long", "too long"),
        ("c", "a\0", "NUL"),
        ("d", "", "there are m, c"),
    ] {
        let result = async {
            let mut fill = Fill::begin(&client, &plain, &[column.to_owned()], IfThere::Append).await?;
            let rows =
                RecordBatch::try_from_iter([(column, Arc::new(StringArray::from(vec![value])) as ArrayRef)]).unwrap();
            fill.write(&rows).await?;
            fill.finish().await
        };
        let error = result.await.unwrap_err().to_string();
        assert!(error.contains(named) && error.contains("plain"), "{error}");
    }
    assert_eq!(server.psql("SELECT count(*) FROM plain").unwrap(), "0\n");
    let empty = RecordBatch::try_new_with_options(
        Arc::new(Schema::empty()),
        vec![],
        &RecordBatchOptions::new().with_row_count(Some(3)),
    )
    .unwrap();
    let mut fill = Fill::create(&client, None, "none", &NewTable::default()).await.unwrap();
    fill.write(&empty).await.unwrap();
    assert_eq!(fill.finish().await.unwrap(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_of_a_table_keeps_the_length_of_bits() {
    let Some(server) = Postgres::need() else { return };
    let client = client(&server).await;
    server
        .psql(
            "CREATE DOMAIN flags AS bit(4);
             CREATE TABLE t (b bit(8), v varbit(10), w varbit, one bit, l bit(3)[], d flags, z timetz(0));
             INSERT INTO t VALUES (B'10110011', B'10101', B'1', B'1', '{101,010}', B'1001', '10:00:01+02');
             CREATE TABLE free AS SELECT B'1011' AS b",
        )
        .unwrap();
    for (name, types) in [
        (
            "t",
            "bit(8) bit varying(10) bit varying bit(1) bit(3)[] bit(4) time(0) with time zone",
        ),
        // The server knows no length of the column either.
        ("free", "bit varying"),
    ] {
        let table = client.table(None, name).await.unwrap();
        let all: Vec<usize> = (0..table.columns.len()).collect();
        let schema = table.schema();
        let mut read = Read::begin(&client, name, &table.select(&all), Some(&schema))
            .await
            .unwrap();
        let rows = read.next().await.unwrap().unwrap();
        let new = NewTable::of_schema(&rows.schema()).unwrap();
        let copy = format!("{name}_copy");
        let mut fill = Fill::create(&client, None, &copy, &new).await.unwrap();
        fill.write(&rows).await.unwrap();
        fill.finish().await.unwrap();
        let found = server.psql(&format!(
            "SELECT string_agg(format_type(atttypid, atttypmod), ' ' ORDER BY attnum) FROM pg_attribute
             WHERE attrelid = '{copy}'::regclass AND attnum > 0"
        ));
        assert_eq!(found.unwrap().trim_end(), types);
        assert_eq!(
            server.psql(&format!("SELECT * FROM {copy}")).unwrap(),
            server.psql(&format!("SELECT * FROM {name}")).unwrap()
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fill_that_is_cut_off_leaves_the_old_table() {
    let Some(mut server) = Postgres::need() else { return };
    let client = client(&server).await;
    server
        .psql("CREATE TABLE t (n int, \"Name\" text); INSERT INTO t VALUES (1, 'old')")
        .unwrap();
    let new = NewTable::of_schema(&batch(0, 1).schema()).unwrap();
    let table = client.table(None, "t").await.unwrap();
    for way in 0..3 {
        let begun = match way {
            0 => Fill::replace(&client, None, "t", &new).await,
            1 => Fill::begin(&client, &table, &[], IfThere::Empty).await,
            _ => Fill::begin(&client, &table, &[], IfThere::Append).await,
        };
        let mut fill = begun.unwrap();
        fill.write(&batch(0, 30_000)).await.unwrap();
        server.restart().unwrap();
        let result = async {
            fill.write(&batch(0, 30_000)).await?;
            fill.finish().await
        };
        let error = result.await.unwrap_err();
        assert!(matches!(error, Error::Broken { .. } | Error::Server { .. }), "{error}");
        assert_eq!(server.psql("SELECT * FROM t").unwrap(), "1|old\n", "{way}");
    }
    let tables = "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace";
    assert_eq!(server.psql(tables).unwrap(), "1\n");
}
