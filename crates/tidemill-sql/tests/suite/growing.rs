//! Tables that grow, followed into tables of real servers, and into files that rows are added to.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_schema::DataType;
use tidemill_riegeli::{ReaderOptions, RecordReader, RecordWriter, WriterOptions};
use tidemill_sql::{CopyOptions, Error, Follower, Location, Session, SessionOptions, TableOptions};
use tidemill_testkit::{Cassandra, ClickHouse, MariaDb, Postgres};
use tidemill_xbase::{CivilDate, Deleted, EditOptions, OpenMode, TableEditor, Value};

use crate::destination;

async fn run(session: &Session, sql: &str) {
    let answer = session.query(sql).await;
    let answer = answer.unwrap_or_else(|error| panic!("{sql}: {error}"));
    answer.collect().await.unwrap_or_else(|error| panic!("{sql}: {error}"));
}

fn making() -> CopyOptions {
    CopyOptions {
        table: TableOptions {
            create: true,
            primary_key: Some("id".to_owned()),
            ..TableOptions::default()
        },
        ..CopyOptions::default()
    }
}

/// The rows of each step until nothing more comes.
async fn rows(follower: &mut Follower<'_>) -> Vec<u64> {
    let mut all = Vec::new();
    while let Some(rows) = follower.step().await.expect("a step") {
        all.push(rows);
    }
    all
}

#[tokio::test]
async fn a_table_is_followed_from_where_the_last_one_stopped() {
    let Some(server) = ClickHouse::need() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let database = format!("clickhouse://default@{}/default", server.native());
    let begin = || Session::new(SessionOptions::default().dir(folder.path()).attach("db", &database));
    let session = begin();
    let there = session.locate("db.calls").await.expect("a table of the database");
    run(&session, "CREATE TABLE calls (id Integer, name Char(10))").await;
    run(&session, "INSERT INTO calls VALUES (1, 'Ada'), (2, 'Bob'), (3, 'Cleo')").await;
    let calls = session.locate("calls").await.expect("a table");
    let told = |sql: &str| server.query(sql).expect("an answer").trim().to_owned();

    let mut follower = session.follow(&calls, &there, &making()).await.expect("followed");
    assert_eq!((follower.position(), rows(&mut follower).await), (0, vec![3]));
    assert_eq!(follower.columns().len(), 2);
    run(&session, "INSERT INTO calls VALUES (4, 'Dan')").await;
    run(&session, "INSERT INTO calls VALUES (5, 'Eve')").await;
    run(&session, "DELETE FROM calls WHERE id = 5").await;
    assert_eq!(rows(&mut follower).await, [1]);
    assert_eq!(
        told("SELECT groupArray(ID) FROM (SELECT ID FROM calls ORDER BY ID)"),
        "[1,2,3,4]"
    );
    assert_eq!(told("SHOW TABLES"), "calls\ntidemill_positions");
    drop(follower);

    // A record that somebody has appended and is filling waits, with what stands behind it.
    let path = folder.path().join("calls.dbf");
    let shared = EditOptions::new(CivilDate::today()).mode(OpenMode::Shared);
    let mut clerk = TableEditor::open(&path, &shared).expect("opened");
    let record = clerk.append().expect("appended");
    run(&session, "INSERT INTO calls VALUES (7, 'Gus')").await;
    let again = begin();
    let mut follower = again.follow(&calls, &there, &making()).await.expect("followed");
    assert_eq!((follower.position(), rows(&mut follower).await), (5, Vec::new()));
    clerk
        .replace(record, &[(0, Value::Integer(6)), (1, Value::Text("Fay"))])
        .expect("filled");
    clerk.unlock_all().expect("unlocked");
    assert_eq!(rows(&mut follower).await, [2]);
    assert_eq!(
        told("SELECT groupArray(NAME) FROM (SELECT NAME FROM calls WHERE ID > 4 ORDER BY ID)"),
        "['Fay','Gus']"
    );
    drop(clerk);

    let mut clerk = TableEditor::open(&path, &EditOptions::new(CivilDate::today())).expect("opened");
    clerk.pack().expect("packed");
    drop(clerk);
    let shorter = follower.step().await.expect_err("another table");
    assert!(
        matches!(
            shorter,
            Error::Shrunk {
                copied: 7,
                found: 6,
                ..
            }
        ),
        "{shorter}"
    );
}

/// Adds the records of one file to another.
fn append(from: &Path, to: &Path) {
    let mut reader = RecordReader::open(from, &ReaderOptions::default()).expect("opened");
    let mut writer = RecordWriter::append(to, WriterOptions::default()).expect("opened");
    while let Some(record) = reader.read_record().expect("a record") {
        writer.write_record(record).expect("written");
    }
    writer.close().expect("closed");
}

#[tokio::test]
async fn records_are_followed_by_whole_chunks() {
    let Some(server) = ClickHouse::need() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let database = format!("clickhouse://default@{}/default", server.native());
    let session = Session::new(SessionOptions::default().dir(folder.path()).attach("db", database));
    let there = session.locate("db.steps").await.expect("a table of the database");
    let copy = |sql: &'static str, name: &str| {
        let (session, to) = (&session, destination(&folder.path().join(name)));
        async move {
            session
                .copy_query(sql, &to, &CopyOptions::default(), |_| {})
                .await
                .expect("copied");
        }
    };
    copy("SELECT 1 AS id, 'a' AS name", "steps.riegeli").await;
    copy("SELECT 2 AS id, 'b' AS name", "more.riegeli").await;
    let (steps, more) = (folder.path().join("steps.riegeli"), folder.path().join("more.riegeli"));
    let source = Location::existing(&steps).expect("a table");
    let mut follower = session.follow(&source, &there, &making()).await.expect("followed");
    assert_eq!(rows(&mut follower).await, [1]);
    append(&more, &steps);
    let whole = std::fs::read(&steps).expect("read");
    assert_eq!(rows(&mut follower).await, [1]);

    // A chunk that is not yet whole waits.
    append(&more, &steps);
    let longer = std::fs::read(&steps).expect("read");
    std::fs::write(&steps, &longer[..longer.len() - 3]).expect("written");
    let mut follower = session.follow(&source, &there, &making()).await.expect("followed");
    assert_eq!(follower.position(), whole.len() as u64);
    assert_eq!(rows(&mut follower).await, Vec::<u64>::new());
    std::fs::write(&steps, &longer).expect("written");
    assert_eq!(rows(&mut follower).await, [1]);
    let ids = server.query("SELECT groupArray(id) FROM (SELECT id FROM steps ORDER BY id)");
    assert_eq!(ids.expect("an answer").trim(), "[1,2,2]");
    std::fs::write(&steps, &whole).expect("written");
    let shorter = follower.step().await.expect_err("another file");
    assert!(matches!(shorter, Error::Shrunk { .. }), "{shorter}");
}

#[tokio::test]
async fn a_table_is_followed_into_cassandra() {
    let Some(node) = Cassandra::need() else { return };
    let (options, _) = tidemill_cql::Options::parse(&format!("cql://{}", node.native())).expect("a URL");
    let client = tidemill_cql::Client::connect(options).await.expect("a client");
    let made =
        client.execute("CREATE KEYSPACE books WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    made.await.expect("made");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let database = format!("cql://{}/books", node.native());
    let begin = || Session::new(SessionOptions::default().dir(folder.path()).attach("db", &database));
    let session = begin();
    run(&session, "CREATE TABLE calls (id Integer, name Char(10))").await;
    run(&session, "INSERT INTO calls VALUES (1, 'Ada'), (2, 'Bob')").await;
    let calls = session.locate("calls").await.expect("a table");
    let there = session.locate("db.calls").await.expect("a table of the keyspace");
    let mut follower = session.follow(&calls, &there, &making()).await.expect("followed");
    assert_eq!(rows(&mut follower).await, [2]);
    run(&session, "INSERT INTO calls VALUES (3, 'Cleo')").await;
    let session = begin();
    let mut follower = session.follow(&calls, &there, &making()).await.expect("followed");
    assert_eq!((follower.position(), rows(&mut follower).await), (2, vec![1]));
    let answer = session
        .query("SELECT COUNT(*) AS n FROM db.calls")
        .await
        .expect("an answer");
    let answer = answer.collect().await.expect("an answer");
    assert_eq!(
        format!("{:?}", answer[0].column(0).slice(0, 1)),
        "PrimitiveArray<Int64>\n[\n  3,\n]"
    );
}

/// Follows a table into an empty database, with steps and sessions that update the position.
async fn follow_into(database: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let begin = || Session::new(SessionOptions::default().dir(folder.path()).attach("db", database));
    let session = begin();
    run(&session, "CREATE TABLE calls (id Integer, name Char(10))").await;
    run(&session, "INSERT INTO calls VALUES (1, 'Ada'), (2, 'Bob')").await;
    let calls = session.locate("calls").await.expect("a table");
    let there = session.locate("db.calls").await.expect("a table of the database");
    for (id, (position, before)) in [(3, (0, vec![2])), (4, (2, vec![1])), (5, (3, vec![1]))] {
        let session = begin();
        let mut follower = session.follow(&calls, &there, &making()).await.expect("followed");
        assert_eq!(
            (follower.position(), rows(&mut follower).await),
            (position, before),
            "{database}"
        );
        run(&session, &format!("INSERT INTO calls VALUES ({id}, 'x')")).await;
    }
    assert_eq!(
        numbers(&session, "SELECT SUM(id) AS n FROM db.calls").await,
        [10],
        "{database}"
    );
    let kept = "SELECT COUNT(*) AS n FROM db.tidemill_positions";
    assert_eq!(numbers(&session, kept).await, [1], "{database}");
}

#[tokio::test]
async fn a_table_is_followed_into_sqlite() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    follow_into(&format!("sqlite:{}", folder.path().join("shop.db").display())).await;
}

#[tokio::test]
async fn a_table_is_followed_into_postgresql() {
    let Some(server) = Postgres::need() else { return };
    follow_into(&server.url()).await;
}

#[tokio::test]
async fn a_table_is_followed_into_mariadb() {
    let Some(server) = MariaDb::need() else { return };
    follow_into(&server.url()).await;
}

/// The first column of an answer.
async fn numbers(session: &Session, sql: &str) -> Vec<i64> {
    let answer = session.query(sql).await.expect("an answer");
    let batches = answer.collect().await.expect("an answer");
    let columns = batches
        .iter()
        .map(|batch| arrow_cast::cast(batch.column(0), &DataType::Int64).expect("numbers"));
    let columns: Vec<_> = columns.collect();
    let numbers = columns.iter().flat_map(|column| column.as_primitive::<Int64Type>());
    numbers.map(|number| number.expect("a number")).collect()
}

#[tokio::test]
async fn tables_are_followed_into_files_of_one_folder() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // No code page of xBase has all of these letters.
    let (here, there) = (folder.path().join("hier ä 船"), folder.path().join("there"));
    std::fs::create_dir(&here).expect("made");
    std::fs::create_dir(&there).expect("made");
    let session = Session::new(SessionOptions::default().dir(&here));
    run(&session, "CREATE TABLE calls (id Integer, name Char(10))").await;
    run(&session, "INSERT INTO calls VALUES (1, 'Ada'), (2, 'Bob')").await;
    let calls = session.locate("calls").await.expect("a table");
    let target = destination(&there.join("both.dbf"));
    let options = CopyOptions::default();
    let mut follower = session.follow(&calls, &target, &options).await.expect("followed");
    assert_eq!((follower.position(), rows(&mut follower).await), (0, vec![2]));
    run(&session, "INSERT INTO calls VALUES (3, 'Cleo')").await;
    assert_eq!(rows(&mut follower).await, [1]);

    // Another one, whose names are longer than those of fields, and whose moments are finer.
    let (steps, more) = (here.join("steps.riegeli"), here.join("more.riegeli"));
    for file in [&steps, &more] {
        let sql = "SELECT 7 AS identification, to_timestamp_nanos(1) AS at";
        let copied = session.copy_query(sql, &destination(file), &options, |_| {}).await;
        copied.expect("copied");
    }
    let source = Location::existing(&steps).expect("a table");
    let events = destination(&there.join("events.dbf"));
    let mut careful = session.follow(&source, &events, &options).await.expect("followed");
    assert!(matches!(careful.step().await, Err(Error::Lossy { .. })));
    let lossy = CopyOptions {
        lossy: true,
        ..options.clone()
    };
    let mut other = session.follow(&source, &events, &lossy).await.expect("followed");
    assert_eq!((other.position(), rows(&mut other).await), (0, vec![1]));
    append(&more, &steps);
    let mut careful = session.follow(&source, &events, &options).await.expect("followed");
    assert!(matches!(careful.step().await, Err(Error::Lossy { .. })));
    assert_eq!(rows(&mut other).await, [1]);

    run(&session, "INSERT INTO calls VALUES (4, 'Dan')").await;
    let session = Session::new(SessionOptions::default().dir(&here));
    let mut follower = session.follow(&calls, &target, &options).await.expect("followed");
    assert_eq!((follower.position(), rows(&mut follower).await), (3, vec![1]));
    let result = Session::new(SessionOptions::default().dir(&there));
    assert_eq!(numbers(&result, "SELECT id FROM both ORDER BY id").await, [1, 2, 3, 4]);
    assert_eq!(numbers(&result, "SELECT identifica FROM events").await, [7, 7]);
    let position = "SELECT position FROM tidemill_positions WHERE target = 'both.dbf'";
    assert_eq!(numbers(&result, position).await, [4]);

    // A Riegeli file has a column for the marks of deleted records.
    let events = destination(&there.join("calls.riegeli"));
    let marked = Session::new(SessionOptions::default().dir(&here).deleted(Deleted::Include));
    let mut follower = marked.follow(&calls, &events, &options).await.expect("followed");
    assert_eq!(rows(&mut follower).await, [4]);
    run(&session, "INSERT INTO calls VALUES (5, 'Eve')").await;
    run(&session, "DELETE FROM calls WHERE id = 5").await;
    run(&session, "INSERT INTO calls VALUES (6, 'Fay')").await;
    assert_eq!(rows(&mut follower).await, [2]);
    let told = r#"SELECT id FROM "calls.riegeli" WHERE NOT "_deleted" ORDER BY id"#;
    assert_eq!(numbers(&result, told).await, [1, 2, 3, 4, 6]);
    let unmarked = session.follow(&calls, &events, &options).await.expect("followed");
    assert_eq!(unmarked.position(), 6);

    let refused = marked.follow(&calls, &target, &options).await;
    assert!(matches!(refused, Err(Error::Unsupported { .. })));
}

#[tokio::test]
async fn what_has_no_positions_is_not_followed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("a.csv"), "id\n1\n").expect("written");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    run(&session, "CREATE TABLE calls (id Integer)").await;
    let (csv, calls) = (session.locate("a").await, session.locate("calls").await);
    let (csv, calls) = (csv.expect("a table"), calls.expect("a table"));
    let file = destination(&folder.path().join("b.parquet"));
    // Into itself it would never end, by whatever path.
    let itself = destination(&folder.path().join(".").join("calls.dbf"));
    for (source, target) in [(&csv, &file), (&calls, &file), (&calls, &itself)] {
        let refused = session.follow(source, target, &making()).await;
        assert!(matches!(refused, Err(Error::Unsupported { .. })));
    }
}
