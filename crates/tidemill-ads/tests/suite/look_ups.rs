//! Look-ups by an order: they answer as the general lane does, and where nobody else changes tables nobody looks at files.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

use tidemill_ads::sql::{Answer, Rows, StatementOptions, Value};
use tidemill_ads::{Connection, Durability, Settings, SoleUse, TableOptions};

struct Shop {
    connection: Connection,
    settings: Settings,
    options: StatementOptions,
}

impl Shop {
    fn new(connection: Connection) -> Self {
        Self {
            connection,
            settings: Settings {
                show_deleted: false,
                ..Settings::default()
            },
            options: StatementOptions {
                durability: Durability::None,
                ..StatementOptions::default()
            },
        }
    }

    fn run(&mut self, text: &str, values: &[Value]) -> Answer {
        let prepared = self.connection.prepare(text, &self.settings, &self.options).unwrap();
        let mut tables = self.connection.tables(&self.settings, &self.options);
        prepared
            .run_static(&mut tables, values)
            .unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn rows(&mut self, text: &str, values: &[Value]) -> Rows {
        match self.run(text, values) {
            Answer::Rows(rows) => rows,
            other => panic!("{text}: {other:?}"),
        }
    }

    fn names(&mut self, id: i64) -> Vec<String> {
        let rows = self.rows("SELECT name FROM t WHERE id = ?", &[Value::Integer(id)]);
        Self::texts(&rows)
    }

    /// As [`Shop::names`], by a look-up alone.
    fn names_looked_up(&mut self, id: i64) -> Vec<String> {
        let text = "SELECT name FROM t WHERE id = ?";
        let prepared = self.connection.prepare(text, &self.settings, &self.options).unwrap();
        let mut tables = self.connection.tables(&self.settings, &self.options);
        let rows = prepared.look_up(&mut tables, &[Value::Integer(id)]).unwrap();
        Self::texts(&rows.expect("an order finds it"))
    }

    fn texts(rows: &Rows) -> Vec<String> {
        let batches = rows.batches.iter();
        batches
            .flat_map(|batch| {
                let names = batch.column(0).as_any().downcast_ref::<arrow_array::StringArray>();
                names.unwrap().iter().map(|name| name.unwrap_or("NULL").to_owned())
            })
            .collect()
    }
}

#[test]
fn a_look_up_answers_as_the_general_lane_does() {
    let folder = tempfile::tempdir().unwrap();
    let mut shop = Shop::new(Connection::open(folder.path()).unwrap());
    let columns = "id Integer, tag Char(6), num Numeric(9,2), code Numeric(6,0), price Double, paid Money, \
        is_new Logical, made Date, moment Timestamp, note Memo";
    shop.run(&format!("CREATE TABLE t ( {columns} )"), &[]);
    for index in ["id", "tag", "num", "code", "price", "made"] {
        shop.run(&format!("CREATE INDEX {index} ON t ( {index} )"), &[]);
    }
    shop.run("CREATE INDEX few ON t ( is_new )", &[]);
    for row in 0_i64..300 {
        // From 200 on one of each: 100 have the same, more than are read one by one.
        let id = if row < 200 { row / 2 } else { 1000 };
        let values = [
            Value::Integer(id),
            Value::Text(format!("t{}", id % 7)),
            Value::Double(f64::from(i32::try_from(id).unwrap()) / 4.0),
            Value::Integer(id % 13),
            Value::Double(0.5),
            Value::Logical(row % 3 == 0),
        ];
        let insert = "INSERT INTO t (id, tag, num, code, price, is_new) VALUES (?, ?, ?, ?, ?, ?)";
        shop.run(insert, &values);
        if row % 5 == 0 {
            // The others stay blank.
            let update = "UPDATE t SET made = ?, moment = ?, paid = 2.5, note = 'said' WHERE id = ?";
            shop.run(
                update,
                &[
                    Value::Date(19_000),
                    Value::Timestamp(1_700_000_000_000),
                    Value::Integer(id),
                ],
            );
        }
    }
    shop.run("DELETE FROM t WHERE id = 3 OR code = 5", &[]);
    let lists = [
        "id, tag, num, code, price, paid, is_new, made, moment",
        "tag",
        "made, id",
        "note, id",
        "id + 1 AS more",
        "*",
    ];
    let integers = [-1, 0, 1, 3, 5, 99, 1000, i64::MAX, 1 << 40].map(Value::Integer);
    let texts = ["t1", "t1    ", "t", "", "T1", "t1     x", "tä"].map(|text| Value::Text(text.to_owned()));
    let numbers = [
        Value::Null,
        Value::Double(0.25),
        Value::Double(2.0),
        Value::Double(12.75),
        Value::Double(-0.0),
        Value::Decimal { unscaled: 25, scale: 2 },
        Value::Decimal {
            unscaled: 500,
            scale: 2,
        },
        Value::Decimal {
            unscaled: 1275,
            scale: 2,
        },
        Value::Decimal { unscaled: 50, scale: 1 },
        // Between two keys of whole numbers.
        Value::Decimal { unscaled: 45, scale: 1 },
        Value::Decimal {
            unscaled: 10_i128.pow(20),
            scale: 18,
        },
    ];
    let mut asked = 0;
    for shows_deleted in [false, true] {
        shop.settings.show_deleted = shows_deleted;
        for list in lists {
            let fields = ["id", "num", "code", "price", "tag"];
            for (field, value) in fields.iter().flat_map(|field| {
                let of_kind: Vec<&Value> = match *field {
                    "tag" => texts.iter().chain([&Value::Null]).collect(),
                    _ => integers.iter().chain(&numbers).collect(),
                };
                of_kind.into_iter().map(move |value| (field, value.clone()))
            }) {
                let general = format!("SELECT {list} FROM t WHERE {field} = ? AND id > -5");
                let expected = shop.rows(&general, std::slice::from_ref(&value));
                for condition in [format!("{field} = ?"), format!("? = {field}")] {
                    let text = format!("SELECT {list} FROM t WHERE {condition}");
                    let found = shop.rows(&text, std::slice::from_ref(&value));
                    assert_eq!(found.columns, expected.columns, "{text} {value:?}");
                    assert_eq!(found.batches, expected.batches, "{text} {value:?}");
                    asked += found.count();
                }
            }
        }
    }
    assert!(asked > 1000, "{asked} rows");
}

#[test]
fn connections_that_are_alone_see_what_each_of_them_changes() {
    let folder = tempfile::tempdir().unwrap();
    let sole_use = SoleUse::default();
    let open = || {
        let mut connection = Connection::open(folder.path()).unwrap();
        connection.set_sole_use(Some(sole_use.clone()));
        Shop::new(connection)
    };
    let (mut one, mut two) = (open(), open());
    one.run("CREATE TABLE t ( id Integer, name Char(8) )", &[]);
    one.run("CREATE INDEX id ON t ( id )", &[]);
    let expect = |one: &mut Shop, two: &mut Shop, id, expected: &[&str]| {
        assert_eq!((one.names(id), two.names(id)), (to_owned(expected), to_owned(expected)));
    };
    expect(&mut one, &mut two, 7, &[]);
    for name in ["a", "b"] {
        two.run(
            "INSERT INTO t ( id, name ) VALUES ( 7, ? )",
            &[Value::Text(name.to_owned())],
        );
    }
    expect(&mut one, &mut two, 7, &["a", "b"]);
    one.run("UPDATE t SET name = 'c' WHERE name = 'a'", &[]);
    expect(&mut one, &mut two, 7, &["c", "b"]);
    two.run("DELETE FROM t WHERE name = 'b'", &[]);
    expect(&mut one, &mut two, 7, &["c"]);

    // What a transaction does shows when it is committed.
    one.run("BEGIN TRANSACTION", &[]);
    one.run("UPDATE t SET name = 'd' WHERE id = 7", &[]);
    assert_eq!((one.names(7), two.names(7)), (to_owned(&["d"]), to_owned(&["c"])));
    one.run("COMMIT WORK", &[]);
    expect(&mut one, &mut two, 7, &["d"]);
    one.run("BEGIN TRANSACTION", &[]);
    one.run("UPDATE t SET name = 'e' WHERE id = 7", &[]);
    one.run("ROLLBACK WORK", &[]);
    expect(&mut one, &mut two, 7, &["d"]);
}

#[test]
fn connections_that_are_alone_do_not_look_at_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = Connection::open(folder.path()).unwrap();
    connection.set_sole_use(Some(SoleUse::default()));
    let mut shop = Shop::new(connection);
    shop.run("CREATE TABLE t ( id Integer, name Char(8) )", &[]);
    shop.run("CREATE INDEX id ON t ( id )", &[]);
    shop.run("INSERT INTO t ( id, name ) VALUES ( 7, 'there' )", &[]);
    assert_eq!(shop.names(7), ["there"]);
    // Nobody may do that to such tables; whoever looked would notice.
    let (path, elsewhere) = (folder.path().join("t.dbf"), folder.path().join("gone"));
    std::fs::rename(&path, &elsewhere).unwrap();
    assert_eq!(shop.names(7), ["there"]);
    std::fs::rename(&elsewhere, &path).unwrap();

    // A work area can change its table without a statement, so that from now on everybody looks.
    let options = TableOptions::default();
    shop.connection.open_table("t", &options, &shop.settings).unwrap();
    assert_eq!(shop.names(7), ["there"]);
    std::fs::rename(&path, &elsewhere).unwrap();
    let text = "SELECT name FROM t WHERE id = ?";
    let prepared = shop.connection.prepare(text, &shop.settings, &shop.options).unwrap();
    let mut tables = shop.connection.tables(&shop.settings, &shop.options);
    assert!(prepared.run_static(&mut tables, &[Value::Integer(7)]).is_err());
}

#[test]
fn look_ups_see_all_of_a_commit_or_nothing_of_it() {
    const RECORDS: i64 = 300;
    let folder = tempfile::tempdir().unwrap();
    let open = || Shop::new(Connection::open(folder.path()).unwrap());
    let mut writer = open();
    writer.run("CREATE TABLE t ( id Integer, name Char(20), pad Char(80) )", &[]);
    writer.run("CREATE INDEX id ON t ( id )", &[]);
    for id in 0..RECORDS {
        let values = [Value::Integer(id), Value::Text(format!("n{id} 0"))];
        writer.run("INSERT INTO t ( id, name ) VALUES ( ?, ? )", &values);
    }
    let (stop, committed) = (AtomicBool::new(false), AtomicI64::new(0));
    let read = || {
        let mut shop = open();
        let mut reads = 0_i64;
        while !stop.load(Ordering::Relaxed) {
            let (id, before) = (reads * 7 % RECORDS, committed.load(Ordering::SeqCst));
            let names = shop.names_looked_up(id);
            let parts = names.first().and_then(|name| name.strip_prefix('n')?.split_once(' '));
            let found: Option<(i64, i64)> =
                parts.and_then(|(id, commit)| Some((id.parse().ok()?, commit.parse().ok()?)));
            // What was committed before the look-up began shows.
            if names.len() != 1 || found.is_none_or(|(of, commit)| of != id || commit < before) {
                return Err(format!("{id} after {before} commits: {names:?}"));
            }
            reads += 1;
        }
        Ok(reads)
    };
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2).map(|_| scope.spawn(read)).collect();
        let (begun, mut commits) = (Instant::now(), 0_i64);
        while begun.elapsed() < Duration::from_secs(3) && !readers.iter().any(|reader| reader.is_finished()) {
            // Every record gets the number and the name of another one.
            writer.run("BEGIN TRANSACTION", &[]);
            writer.run(&format!("UPDATE t SET id = id - {RECORDS} WHERE id < 100"), &[]);
            writer.run("UPDATE t SET id = id - 100", &[]);
            writer.run(&format!("UPDATE t SET id = id + 2 * {RECORDS} WHERE id < 0"), &[]);
            commits += 1;
            let name = format!("'n' + TRIM(CONVERT(id, SQL_CHAR)) + ' {commits}'");
            writer.run(&format!("UPDATE t SET name = {name}"), &[]);
            writer.run("COMMIT WORK", &[]);
            committed.store(commits, Ordering::SeqCst);
            // So long that the table is at rest for the most part.
            std::thread::sleep(Duration::from_millis(60));
        }
        stop.store(true, Ordering::Relaxed);
        for reader in readers {
            let reads = reader.join().unwrap();
            assert!(
                reads.as_ref().is_ok_and(|reads| *reads > 0),
                "{commits} commits: {reads:?}"
            );
        }
    });
}

#[test]
fn look_ups_see_files_that_took_the_places_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let make = |name: &str| {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        let mut shop = Shop::new(Connection::open(folder.path().join(name)).unwrap());
        shop.run("CREATE TABLE t ( id Integer, name Char(8) )", &[]);
        shop.run("CREATE INDEX id ON t ( id )", &[]);
        shop.run("INSERT INTO t VALUES ( 7, ? )", &[Value::Text(name.to_owned())]);
        shop
    };
    let mut shop = make("one");
    drop(make("two"));
    std::thread::sleep(Duration::from_millis(50));
    for _ in 0..3 {
        assert_eq!(shop.names_looked_up(7), ["one"]);
    }
    // The whole folder.
    let path = |name: &str| folder.path().join(name);
    std::fs::rename(path("one"), path("gone")).unwrap();
    std::fs::rename(path("two"), path("one")).unwrap();
    for _ in 0..3 {
        assert_eq!(shop.names_looked_up(7), ["two"]);
    }
    // The index alone, with another that finds nothing.
    let empty = path("empty");
    std::fs::create_dir(&empty).unwrap();
    let mut other = Shop::new(Connection::open(&empty).unwrap());
    other.run("CREATE TABLE t ( id Integer, name Char(8) )", &[]);
    other.run("CREATE INDEX id ON t ( id )", &[]);
    other.run("INSERT INTO t VALUES ( 8, 'x' )", &[]);
    drop(other);
    std::fs::rename(empty.join("t.cdx"), path("one").join("t.cdx")).unwrap();
    assert_eq!(shop.names_looked_up(7), [""; 0]);
}

fn to_owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}
