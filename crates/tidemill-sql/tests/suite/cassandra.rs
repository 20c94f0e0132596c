//! Tables of a real Cassandra node, 5.0.9: read, filled, made.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use tidemill_sql::{CopyOptions, Error, Location, ServerUrl, Session, SessionOptions, TableOptions};
use tidemill_testkit::Cassandra;

use crate::destination;

/// The rows of an answer as CSV, without a header, in the order of their text where `sorted`.
async fn answer(session: &Session, sql: &str, sorted: bool) -> String {
    let answer = session
        .query(sql)
        .await
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
    let mut out = Vec::new();
    {
        let mut writer = arrow_csv::WriterBuilder::new().with_header(false).build(&mut out);
        for batch in answer.collect().await.unwrap_or_else(|error| panic!("{sql}: {error}")) {
            writer.write(&batch).expect("written");
        }
    }
    let text = String::from_utf8(out).expect("UTF-8");
    let mut lines: Vec<&str> = text.lines().collect();
    if sorted {
        lines.sort_unstable();
    }
    lines.join("\n")
}

async fn number(session: &Session, sql: &str) -> i64 {
    let answer = session.query(sql).await.expect(sql).collect().await.expect(sql);
    let column = answer[0].column(0);
    match column.as_primitive_opt::<UInt64Type>() {
        Some(numbers) => numbers.value(0).try_into().expect("small"),
        None => column.as_primitive::<Int64Type>().value(0),
    }
}

/// A node with the keyspace `books`, which is `db` to the session.
async fn start(folder: &Path) -> Option<(Cassandra, tidemill_cql::Client, Session)> {
    let node = Cassandra::need()?;
    let (options, _) = tidemill_cql::Options::parse(&format!("cql://{}", node.native())).expect("a URL");
    let client = tidemill_cql::Client::connect(options).await.expect("a client");
    run(
        &client,
        "CREATE KEYSPACE books WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    )
    .await;
    let session = session(&node, folder);
    Some((node, client, session))
}

fn session(node: &Cassandra, folder: &Path) -> Session {
    let database = format!("cql://reader:secret@{}/books", node.native());
    Session::new(SessionOptions::default().dir(folder).attach("db", database))
}

async fn run(client: &tidemill_cql::Client, cql: &str) {
    client
        .execute(cql)
        .await
        .unwrap_or_else(|error| panic!("{cql}: {error}"));
}

async fn table(session: &Session, name: &str) -> Location {
    session.locate(name).await.expect("a table of the keyspace")
}

fn making(primary_key: &str) -> CopyOptions {
    CopyOptions {
        table: TableOptions {
            create: true,
            primary_key: Some(primary_key.to_owned()),
            ..TableOptions::default()
        },
        ..CopyOptions::default()
    }
}

/// Conditions, and what of them EXPLAIN shows the node is asked; empty where all is done here.
const CONDITIONS: &[(&str, &str)] = &[
    ("part = 3 AND kind = 'a'", "part = 3 AND kind = 'a'"),
    ("kind = 'b' AND 2 = part AND n > 1", "part = 2 AND kind = 'b'"),
    ("part = 1", ""),
    ("kind = 'a'", ""),
    ("day = DATE '2024-01-03'", ""),
    ("part IN (1, 2, 2, 9) AND kind IN ('a', 'b')", "(6 times)"),
    ("(part = 1 OR part = 2) AND kind = 'a'", "(2 times)"),
    ("part = 1 AND part = 2 AND kind = 'a'", "EmptyRelation"),
    (
        "part IN (1, 2, 3) AND part > 1 AND part <= 2 AND kind = 'a'",
        "part = 2 AND kind = 'a'",
    ),
    (
        "part = 1 AND kind = 'a' AND day = DATE '2024-01-03'",
        "AND day = '2024-01-03'",
    ),
    (
        "part = 1 AND kind = 'a' AND day > DATE '2024-01-03'",
        "AND day > '2024-01-03'",
    ),
    (
        "part = 1 AND kind = 'a' AND day >= DATE '2024-01-03' AND day > DATE '2024-01-02' AND day < DATE '2024-01-20'",
        "AND day >= '2024-01-03' AND day < '2024-01-20'",
    ),
    (
        "part = 1 AND kind = 'a' AND day BETWEEN DATE '2024-01-03' AND DATE '2024-01-09' AND id = 'x1'",
        "AND day >= '2024-01-03' AND day <= '2024-01-09'",
    ),
    ("part = 1 AND kind = 'a' AND id > 'x1'", "part = 1 AND kind = 'a'"),
    (
        "part = 1 AND kind = 'a' AND day = DATE '2024-01-03' AND id >= 'x1'",
        "AND day = '2024-01-03' AND id >= 'x1'",
    ),
    ("part = 1 AND kind = 'a' AND n = 5", "part = 1 AND kind = 'a'"),
    ("part = 1 AND kind = 'a' AND n IS NULL", "part = 1 AND kind = 'a'"),
    ("part = 1 AND kind = 'it''s'", "kind = 'it''s'"),
    ("part = 1 AND kind = ''", "kind = ''"),
    ("part <> 1 AND kind = 'a'", ""),
    ("part = 1 OR kind = 'a'", ""),
    ("part + 1 = 2 AND kind = 'a'", ""),
    ("part NOT IN (1, 2) AND kind = 'a'", ""),
    ("part = 5000000000 AND kind = 'a'", ""),
];

/// Groups and first rows, and what of them EXPLAIN shows the node is asked; empty where all is done here.
const GROUPS: &[(&str, &str)] = &[
    (
        "SELECT DISTINCT kind, part FROM FACTS",
        "SELECT DISTINCT kind, part FROM",
    ),
    (
        "SELECT part, kind, COUNT(*) AS n, MIN(day) AS first, MAX(id) AS last, COUNT(n) AS known, SUM(n) AS total, MIN(n) AS least FROM FACTS GROUP BY part, kind",
        "sum(cast(n AS bigint))",
    ),
    (
        "SELECT part, day, kind, SUM(n) AS total FROM FACTS GROUP BY part, day, kind",
        "GROUP BY part, kind, day",
    ),
    (
        "SELECT MIN(day) AS first, MAX(n) AS most, SUM(n) AS total, COUNT(*) AS n FROM FACTS WHERE part = 1 AND kind = 'a'",
        "SELECT min(day), max(n), sum(cast(n AS bigint))",
    ),
    (
        "SELECT MIN(day) AS first, SUM(n) AS total, COUNT(*) AS n FROM FACTS WHERE part = 99 AND kind = 'a'",
        "SELECT min(day), sum(cast(n AS bigint))",
    ),
    (
        "SELECT day, COUNT(*) AS n FROM FACTS WHERE part = 1 AND kind = 'a' AND day > DATE '2024-01-05' GROUP BY day",
        "GROUP BY part, kind, day",
    ),
    (
        "SELECT day FROM FACTS WHERE part = 1 AND kind = 'a' ORDER BY day DESC LIMIT 4",
        "ORDER BY day DESC LIMIT 4",
    ),
    (
        "SELECT day FROM FACTS WHERE part IN (1, 2, 3) AND kind = 'b' ORDER BY day LIMIT 5",
        "ORDER BY day ASC LIMIT 5 (3 times)",
    ),
    ("SELECT part, COUNT(*) AS n FROM FACTS GROUP BY part", ""),
    ("SELECT kind, day, COUNT(*) AS n FROM FACTS GROUP BY kind, day", ""),
    ("SELECT part, kind, AVG(n) AS mean FROM FACTS GROUP BY part, kind", ""),
    (
        "SELECT part, kind, COUNT(DISTINCT n) AS n FROM FACTS GROUP BY part, kind",
        "",
    ),
    (
        "SELECT part, kind, id, COUNT(*) AS n FROM FACTS GROUP BY part, kind, id",
        "",
    ),
    (
        "SELECT day, COUNT(*) AS n FROM FACTS WHERE part IN (1, 2) AND kind = 'a' GROUP BY day",
        "",
    ),
    ("SELECT MIN(day) AS first FROM FACTS", ""),
    ("SELECT day FROM FACTS ORDER BY day DESC LIMIT 4", ""),
    (
        "SELECT id FROM FACTS WHERE part = 1 AND kind = 'a' ORDER BY id LIMIT 4",
        "",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn conditions_mean_the_same_on_the_node() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some((node, client, session)) = start(folder.path()).await else {
        return;
    };
    run(
        &client,
        "CREATE TABLE books.facts (part int, kind text, day date, id text, n int, PRIMARY KEY ((part, kind), day, id))",
    )
    .await;
    let rows = (0..300).map(|row| {
        let kind = ["a", "b", "it's"][row % 3];
        let n = if row % 7 == 0 {
            "NULL".to_owned()
        } else {
            (row % 11).to_string()
        };
        format!(
            "({}, '{}', DATE '2024-01-{:02}', 'x{}', {n})",
            row / 60,
            kind.replace('\'', "''"),
            row % 28 + 1,
            row % 5
        )
    });
    let rows = rows.collect::<Vec<_>>().join(", ");
    let inserted = format!("INSERT INTO db.facts SELECT * FROM (VALUES {rows})");
    assert_eq!(number(&session, &inserted).await, 300);
    let here = destination(&folder.path().join("here.parquet"));
    let copied = session
        .copy(
            &table(&session, "db.facts").await,
            &here,
            &CopyOptions::default(),
            |_| {},
        )
        .await;
    let count = copied.expect("copied").rows;
    assert!(count > 200, "{count}");
    for (condition, told) in CONDITIONS {
        for columns in ["*", "n", "COUNT(*)"] {
            let there = format!("SELECT {columns} FROM db.facts WHERE {condition}");
            let here = format!("SELECT {columns} FROM here WHERE {condition}");
            assert_eq!(
                answer(&session, &there, true).await,
                answer(&session, &here, true).await,
                "{there}"
            );
        }
        let plan = session
            .explain(&format!("SELECT * FROM db.facts WHERE {condition}"))
            .await
            .expect("a plan");
        match told.is_empty() {
            true => assert!(plan.contains("token(part, kind) > ?"), "{condition}: {plan}"),
            false => assert!(plan.contains(told) && !plan.contains("token("), "{condition}: {plan}"),
        }
        assert!(!plan.contains("secret"), "{plan}");
    }
    for (statement, told) in GROUPS {
        let there = statement.replace("FACTS", "db.facts");
        assert_eq!(
            answer(&session, &there, true).await,
            answer(&session, &statement.replace("FACTS", "here"), true).await,
            "{there}"
        );
        let plan = session.explain(&there).await.expect("a plan");
        let is_done = !plan.contains("AggregateExec");
        match told.is_empty() {
            true => assert!(!is_done || plan.contains("SortExec"), "{there}: {plan}"),
            false => assert!(plan.contains(told) && is_done, "{there}: {plan}"),
        }
    }
    // Columns and a limit go there too, and with them the rows are the table's first.
    let plan = session
        .explain("SELECT id FROM db.facts WHERE part = 1 AND kind = 'a' LIMIT 3")
        .await
        .expect("a plan");
    assert!(
        plan.contains("SELECT id FROM books.facts WHERE part = 1 AND kind = 'a' LIMIT 3"),
        "{plan}"
    );
    let all = answer(&session, "SELECT part, id FROM db.facts", false).await;
    let some = answer(&session, "SELECT part, id FROM db.facts LIMIT 17", false).await;
    assert_eq!(some.lines().count(), 17);
    assert!(all.starts_with(&some));

    run(
        &client,
        "CREATE TABLE books.things (id uuid PRIMARY KEY, name text, at timestamp, tags set<text>)",
    )
    .await;
    run(
        &client,
        "INSERT INTO books.things (id, name, at, tags) VALUES (123e4567-e89b-12d3-a456-426614174000, 'one', \
         '2024-02-29T12:34:56.789Z', {'b', 'a'})",
    )
    .await;
    let one = "SELECT name, at FROM db.things WHERE id = '123e4567-e89b-12d3-a456-426614174000'";
    assert_eq!(answer(&session, one, false).await, "one,2024-02-29T12:34:56.789Z");
    let plan = session.explain(one).await.expect("a plan");
    assert!(
        plan.contains("WHERE id = 123e4567-e89b-12d3-a456-426614174000"),
        "{plan}"
    );
    for id in ["123E4567-E89B-12D3-A456-426614174000", "nothing"] {
        let none = format!("SELECT name FROM db.things WHERE id = '{id}'");
        assert_eq!(answer(&session, &none, false).await, "");
    }
    // A join with a file.
    let joined = "SELECT COUNT(*) FROM db.facts f JOIN here h ON f.part = h.part AND f.kind = h.kind AND f.day = h.day AND f.id = h.id";
    assert_eq!(number(&session, joined).await, i64::try_from(count).expect("small"));
    // The rows of few keys are asked for one by one.
    let ids = "id,note\n123e4567-e89b-12d3-a456-426614174000,there\nnothing,not there\n";
    std::fs::write(folder.path().join("few.csv"), ids).expect("written");
    let joined = "SELECT f.note, t.name FROM few f LEFT JOIN db.things t ON f.id = t.id";
    assert_eq!(answer(&session, joined, true).await, "not there,\nthere,one");
    let plan = session.explain(joined).await.expect("a plan");
    assert!(plan.contains("KeyLookup: column=id"), "{plan}");
    // By a column that is no key the table is read.
    let joined = "SELECT f.note, t.id FROM few f JOIN db.things t ON f.note = t.name";
    assert_eq!(answer(&session, joined, true).await, "");
    let plan = session.explain(joined).await.expect("a plan");
    assert!(!plan.contains("KeyLookup"), "{plan}");
    let names = session
        .tables_of(&ServerUrl::new(&format!("cql://{}/books", node.native())).expect("a URL"))
        .await;
    let names: Vec<String> = names.expect("tables").iter().map(Location::table_name).collect();
    assert_eq!(names, ["facts", "things"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_come_back_as_they_went() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some((node, client, session)) = start(folder.path()).await else {
        return;
    };
    let rows = "SELECT 'Überseehafen' AS NAME, CAST(12.50 AS DECIMAL(9, 2)) AS PRICE, DATE '2001-02-03' AS DAY, true AS OPEN, 7 AS N, 1.25e0 AS W \
                UNION ALL SELECT NULL, NULL, NULL, NULL, 8, 0.5e0 UNION ALL SELECT '', CAST(-0.01 AS DECIMAL(9, 2)), DATE '2105-12-31', false, -1, -2.5e0 \
                ORDER BY N";
    for extension in ["dbf", "riegeli", "parquet", "csv", "arrow", "jsonl"] {
        let place = |name: &str| destination(&folder.path().join(format!("{name}_{extension}.{extension}")));
        let first = place("first");
        let made = session.copy_query(rows, &first, &CopyOptions::default(), |_| {}).await;
        made.expect("made");
        let there = table(&session, &format!("db.from_{extension}")).await;
        assert_eq!(there.format.to_string(), "cassandra");
        let copied = session.copy(&first, &there, &making("N"), |_| {}).await;
        assert_eq!(copied.unwrap_or_else(|error| panic!("{extension}: {error}")).rows, 3);
        let second = place("second");
        let copied = session.copy(&there, &second, &CopyOptions::default(), |_| {}).await;
        copied.unwrap_or_else(|error| panic!("{extension}: {error}"));
        let schema = async |location: &Location| session.schema(location).await.expect("a schema");
        let (before, after) = (schema(&first).await, schema(&second).await);
        for (before, after) in before.fields().iter().zip(after.fields()) {
            assert_eq!(
                (before.name(), before.data_type()),
                (after.name(), after.data_type()),
                "{extension}"
            );
            let xbase = |field: &arrow_schema::FieldRef| {
                let mut metadata: Vec<_> = field.metadata().clone().into_iter().collect();
                metadata.retain(|(key, _)| key.starts_with("xbase."));
                metadata.sort();
                metadata
            };
            assert_eq!(xbase(before), xbase(after), "{extension}");
        }
        let ask = |name: &str| format!("SELECT * FROM '{name}_{extension}.{extension}' ORDER BY N");
        assert_eq!(
            answer(&session, &ask("second"), false).await,
            answer(&session, &ask("first"), false).await,
            "{extension}"
        );
    }

    // A table that is there, one that can't be made, and one whose keys are not unique.
    let first = destination(&folder.path().join("first_dbf.dbf"));
    let error = async |to: &str, options: &CopyOptions| {
        let copied = session.copy(&first, &table(&session, to).await, options, |_| {}).await;
        copied.expect_err(to)
    };
    assert!(matches!(error("db.from_dbf", &making("N")).await, Error::Exists { .. }));
    let replacing = CopyOptions {
        overwrite: true,
        ..making("N")
    };
    assert!(error("db.from_dbf", &replacing).await.to_string().contains("DROP"));
    let mut keyless = making("N");
    keyless.table.primary_key = None;
    assert!(error("db.none", &keyless).await.to_string().contains("--primary-key"));
    assert!(
        error("db.none", &making("price2"))
            .await
            .to_string()
            .contains("no column price2")
    );
    assert!(
        error("db.none", &CopyOptions::default())
            .await
            .to_string()
            .contains("no such table")
    );
    // A key may not be NULL, which the node says, with the row's number.
    let null = error("db.none", &making("price")).await.to_string();
    assert!(null.contains("row 3"), "{null}");
    let (none, by_id) = (table(&session, "db.none").await, making("id"));
    let twice = session.copy_query(
        "SELECT 1 AS id, 'a' AS x UNION ALL SELECT 1, 'b' UNION ALL SELECT 2, 'c'",
        &none,
        &by_id,
        |_| {},
    );
    let twice = twice.await.expect_err("one row for a key").to_string();
    assert!(twice.contains("3 rows with 2 different primary keys"), "{twice}");
    let tables = client.tables("books").await.expect("tables");
    assert!(!tables.contains(&"none".to_owned()), "{tables:?}");

    // Rows are added by their columns' names, in any case, and of other types where nothing is lost.
    run(
        &client,
        "CREATE TABLE books.prices (n bigint PRIMARY KEY, price decimal, name text, w float, at timestamp)",
    )
    .await;
    let added = session
        .copy(
            &first,
            &table(&session, "db.prices").await,
            &CopyOptions::default(),
            |_| {},
        )
        .await;
    let added = added.expect_err("a column more").to_string();
    assert!(added.contains("DAY") && added.contains("no such column"), "{added}");
    let sql = "SELECT \"PRICE\", \"N\", \"NAME\", \"W\" FROM 'first_dbf.dbf'";
    let added = session
        .copy_query(
            sql,
            &table(&session, "DB.Prices").await,
            &CopyOptions::default(),
            |_| {},
        )
        .await;
    assert_eq!(added.expect("added").rows, 3);
    assert_eq!(
        answer(&session, "SELECT n, price, name, w FROM db.prices", true).await,
        "-1,-0.01,,-2.5\n7,12.50,Überseehafen,1.25\n8,,,0.5"
    );
    let fine = "INSERT INTO db.prices (n, w) SELECT 9, CAST(0.1 AS DOUBLE)";
    let error = session
        .query(fine)
        .await
        .map(drop)
        .expect_err("0.1 is no float")
        .to_string();
    assert!(error.contains("column w") && error.contains("row 1"), "{error}");
    assert_eq!(
        number(
            &session,
            "INSERT INTO db.prices (N, at) VALUES (9, TIMESTAMP '2024-01-01T00:00:00Z')"
        )
        .await,
        1
    );
    assert_eq!(number(&session, "SELECT COUNT(*) FROM db.prices").await, 4);
    assert_eq!(
        number(&session, "SELECT COUNT(*) FROM db.prices WHERE at IS NULL").await,
        3
    );

    // INSERT INTO makes a table when asked to.
    let options = SessionOptions::default().making(making("id").table);
    let maker = Session::new(options.attach("db", format!("cql://{}/books", node.native())));
    assert_eq!(number(&maker, "INSERT INTO db.made (id, x) SELECT 1, 'a'").await, 1);
    assert_eq!(number(&maker, "INSERT INTO db.made SELECT 2, 'b'").await, 1);
    assert_eq!(answer(&session, "SELECT id, x FROM db.made", true).await, "1,a\n2,b");

    for (url, named) in [
        (
            format!("cql://u:secret@{}/nowhere/t", node.native()),
            "no such keyspace",
        ),
        (
            format!("cql://u:secret@{}/books/nothing", node.native()),
            "no such table",
        ),
        (
            format!("cql://u:secret@{}/books/prices?page=1", node.native()),
            "page_size",
        ),
        (
            "cql://u:secret@127.0.0.1:1/books/t?timeout=3".to_owned(),
            "cannot connect",
        ),
    ] {
        let error = session
            .query(&format!("SELECT * FROM '{url}'"))
            .await
            .map(drop)
            .expect_err(&url)
            .to_string();
        assert!(error.contains(named) && !error.contains("secret"), "{error}");
    }
}
