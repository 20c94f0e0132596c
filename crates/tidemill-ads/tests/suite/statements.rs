//! Statements of a connection beside its work areas.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;
use tidemill_ads::sql::{StatementOptions, Value, Watch};
use tidemill_ads::{
    AreaId, Connection, Error, ErrorCode, Executed, FieldType, OptimizationLevel, Settings, TableOptions, TableType,
};

struct Shop {
    folder: TempDir,
    connection: Connection,
    settings: Settings,
    options: StatementOptions,
}

impl Shop {
    /// Forty records of (ID, NAME, NOTE) with an order by name and one by number.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let connection = Connection::open(folder.path()).unwrap();
        let mut shop = Self {
            folder,
            connection,
            settings: Settings::default(),
            options: StatementOptions::default(),
        };
        shop.run("CREATE TABLE t ( id Integer, name Char(8), note Memo )");
        shop.run("CREATE INDEX name ON t ( name )");
        shop.run("CREATE INDEX id ON t ( id )");
        for id in 1..=40 {
            let values = [Value::Integer(id), Value::Text(format!("n{}", id % 10))];
            shop.run_with("INSERT INTO t ( id, name ) VALUES ( :id, :name )", &values);
        }
        shop
    }

    fn run(&mut self, text: &str) -> Executed {
        self.run_with(text, &[])
    }

    fn run_with(&mut self, text: &str, values: &[Value]) -> Executed {
        self.connection
            .execute(text, values, &self.settings, &self.options)
            .unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    /// The table, beside others.
    fn open(&mut self) -> AreaId {
        let options = TableOptions::default();
        self.connection.open_table("t", &options, &self.settings).unwrap()
    }

    fn refused(&mut self, text: &str) -> Error {
        self.connection
            .execute(text, &[], &self.settings, &self.options)
            .unwrap_err()
    }

    fn cursor(&mut self, text: &str) -> AreaId {
        match self.run(text) {
            Executed::Cursor(area) => area,
            other => panic!("{text}: {other:?}"),
        }
    }

    /// The texts of a column, in the order of the cursor.
    fn column(&mut self, area: AreaId, column: &str) -> Vec<String> {
        let mut texts = Vec::new();
        self.connection.go_top(area, None, &self.settings).unwrap();
        while !self.connection.area(area).unwrap().is_eof() {
            let known = self.connection.area(area).unwrap();
            let field = known.column_named(column).unwrap();
            let text = known.text(field, &self.settings).unwrap();
            texts.push(std::str::from_utf8(&text).unwrap().trim().to_owned());
            self.connection.skip(area, None, 1, &self.settings).unwrap();
        }
        texts
    }

    fn answer(&mut self, text: &str, column: &str) -> Vec<String> {
        let area = self.cursor(text);
        let column = self.column(area, column);
        self.connection.close_table(area).unwrap();
        column
    }
}

#[test]
fn a_live_cursor_shows_its_columns_in_its_order_and_is_written_through() {
    let mut shop = Shop::new();
    let area = shop.cursor("SELECT name AS label, id FROM t WHERE id BETWEEN 11 AND 14 ORDER BY name DESC");
    let known = shop.connection.area(area).unwrap();
    assert!(known.is_cursor() && !known.is_in_memory());
    assert_eq!(known.column_count(), 2);
    assert_eq!(
        (known.column_name(0).unwrap(), known.column_name(1).unwrap()),
        ("label", "ID")
    );
    assert_eq!(known.column_name(2).unwrap_err().code(), ErrorCode::InvalidFieldNumber);
    assert_eq!(
        known.column_named("note").unwrap_err().code(),
        ErrorCode::InvalidFieldName
    );
    assert_eq!(known.aof(), None);
    assert_eq!(shop.column(area, "LABEL"), ["n4", "n3", "n2", "n1"]);

    // A program's filter is one more condition, and goes without the statement's.
    let settings = shop.settings.clone();
    let known = shop.connection.area(area).unwrap();
    known.set_aof("NAME > 'n2'", &settings).unwrap();
    assert_eq!(known.aof(), Some("NAME > 'n2'"));
    assert_eq!(shop.column(area, "id"), ["14", "13"]);
    shop.connection.area(area).unwrap().clear_aof(&settings).unwrap();
    assert_eq!(shop.column(area, "id"), ["14", "13", "12", "11"]);

    shop.connection.go_top(area, None, &settings).unwrap();
    let known = shop.connection.area(area).unwrap();
    let id = known.column_named("id").unwrap();
    known.set_number(id, 100.0).unwrap();
    known.write_record().unwrap();
    assert_eq!(shop.column(area, "id"), ["13", "12", "11"]);
    assert_eq!(shop.answer("SELECT name FROM t WHERE id = 100", "name"), ["n4"]);
    shop.run("UPDATE t SET id = 12 WHERE id = 100");
    shop.run("INSERT INTO t ( id, name ) VALUES ( 13, 'n9' )");
    assert_eq!(shop.column(area, "label").first().unwrap(), "n9");
}

/// SAP's help, "How Indexes are Used by ORDER BY Clauses": an index whose expression is that of ORDER BY sorts a live cursor.
#[test]
fn orders_of_an_adt_sort_a_live_cursor() {
    let mut shop = Shop::new();
    shop.options.table.table_type = TableType::Adt;
    shop.run("CREATE TABLE staff ( name CIChar(8), town Char(4), pay Money, since Date, at Time, id AutoInc )");
    for values in [
        "'moss', 'Oslo', 7.5, '2024-02-29', '12:30:00'",
        "'Adams', 'Brno', -2, '1999-12-31', '01:00:00'",
        "'ZOLA', 'Brno', NULL, NULL, NULL",
        "NULL, NULL, 100, '2001-01-01', '00:00:00'",
        "'baker', 'oslo', 3, '2024-03-01', '23:59:59'",
    ] {
        shop.run(&format!(
            "INSERT INTO staff ( name, town, pay, since, at ) VALUES ( {values} )"
        ));
    }
    for index in ["name", "pay", "since", "at", "town, name"] {
        let name = index.split(',').next_back().unwrap().trim();
        shop.run(&format!("CREATE INDEX by{}_{name} ON staff ( {index} )", index.len()));
    }
    for (order, is_live) in [
        ("pay", true),
        ("PAY DESC", true),
        ("since DESC", true),
        ("at", true),
        ("name", true),
        ("town, name", true),
        ("town DESC, name DESC", true),
        ("town, name DESC", false),
        ("name, town", false),
        ("town", false),
        ("id", false),
    ] {
        let area = shop.cursor(&format!("SELECT id, name FROM staff ORDER BY {order}"));
        assert_eq!(!shop.connection.area(area).unwrap().is_in_memory(), is_live, "{order}");
        let ids = shop.column(area, "id");
        shop.connection.close_table(area).unwrap();
        let rows = format!("SELECT {{static}} id FROM staff ORDER BY {order}");
        assert_eq!(ids, shop.answer(&rows, "id"), "{order}");
    }
    // The keys of a CICharacter have no capitals.
    let ids = shop.answer("SELECT id FROM staff ORDER BY name", "id");
    assert_eq!(ids, ["4", "2", "5", "1", "3"]);
}

#[test]
fn rows_are_a_table_in_memory_with_the_names_and_types_of_their_columns() {
    let mut shop = Shop::new();
    let long = "x".repeat(300);
    let area = shop.cursor(&format!(
        "SELECT name, COUNT(*) AS how_many_there_are, SUM(id) AS total, MAX(id) / 4 AS quarter, '{long}' AS filler, \
         CONVERT('2026-11-22', SQL_DATE) AS day, SUM(id) * 100000000 AS much FROM t GROUP BY name ORDER BY name"
    ));
    let known = shop.connection.area(area).unwrap();
    assert!(known.is_cursor() && known.is_in_memory());
    assert_eq!(known.column_name(1).unwrap(), "how_many_there_are");
    let types: Vec<_> = (0..7)
        .map(|column| known.field_type(known.column(column).unwrap()).unwrap())
        .collect();
    let expected = [
        FieldType::String,
        FieldType::Integer,
        FieldType::Integer,
        FieldType::Double,
        FieldType::Memo,
        FieldType::Date,
        FieldType::LongLong,
    ];
    assert_eq!(types, expected);
    assert_eq!(shop.column(area, "How_Many_There_Are"), ["4"; 10]);
    assert_eq!(shop.column(area, "total").first().unwrap(), "100");
    assert_eq!(shop.column(area, "much").first().unwrap(), "10000000000");
    assert_eq!(shop.column(area, "quarter").last().unwrap(), "9.75");
    assert!(shop.column(area, "filler").iter().all(|text| *text == long));
    assert_eq!(shop.column(area, "day").first().unwrap(), "11/22/2026");
    let settings = shop.settings.clone();
    shop.connection
        .area(area)
        .unwrap()
        .set_aof("NAME = 'n3' .AND. HOW_MANY_THERE_ARE = 4", &settings)
        .unwrap();
    assert_eq!(shop.column(area, "name"), ["n3"]);
    shop.connection.go_top(area, None, &settings).unwrap();
    let known = shop.connection.area(area).unwrap();
    let refused = known.set_number(known.column_named("total").unwrap(), 1.0).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::TableReadOnly);

    let area = shop.cursor("SELECT SUM(id) AS total, MAX(name) AS last FROM t WHERE id > 1000");
    let known = shop.connection.area(area).unwrap();
    assert!(known.is_null(0).unwrap() && known.is_empty(1).unwrap());
    assert_eq!(shop.answer("SELECT id FROM t WHERE id > 1000", "id"), [""; 0]);
    // Two columns may have one name.
    let area = shop.cursor("SELECT {static} id, name AS id FROM t");
    assert_eq!(shop.connection.area(area).unwrap().column_name(1).unwrap(), "id");
    assert_eq!(shop.column(area, "id").len(), 40);
}

#[test]
fn statements_and_work_areas_see_each_other_in_a_transaction() {
    let mut shop = Shop::new();
    let settings = shop.settings.clone();
    let area = shop.open();
    shop.run("BEGIN TRANSACTION");
    shop.connection.append(area, &settings).unwrap();
    shop.connection.area(area).unwrap().set_number(0, 41.0).unwrap();
    shop.connection.area(area).unwrap().write_record().unwrap();
    assert_eq!(shop.answer("SELECT COUNT(*) AS n FROM t", "n"), ["41"]);
    shop.run("SAVEPOINT here");
    assert_eq!(shop.run("DELETE FROM t WHERE id > 40"), Executed::Changed(1));
    assert_eq!(shop.run("INSERT INTO t ( id ) VALUES ( 42 )"), Executed::Changed(1));
    assert_eq!(shop.connection.area(area).unwrap().record_count().unwrap(), 42);
    // A statement that fails leaves what the transaction did before.
    let failed = shop.refused("INSERT INTO t ( id, name ) VALUES ( 50, 'fits' ), ( 51, 'much too long' )");
    assert_eq!(failed.code(), ErrorCode::Statement);
    assert_eq!(shop.answer("SELECT MAX(id) AS n FROM t", "n"), ["42"]);
    shop.run("ROLLBACK TO SAVEPOINT here");
    assert_eq!(shop.answer("SELECT MAX(id) AS n FROM t", "n"), ["41"]);
    shop.run("ROLLBACK TRANSACTION");
    assert_eq!(shop.answer("SELECT COUNT(*) AS n FROM t", "n"), ["40"]);
    assert_eq!(shop.connection.area(area).unwrap().record_count().unwrap(), 40);

    // A cursor goes on with what a statement of the transaction has locked.
    shop.connection.close_table(area).unwrap();
    shop.run("BEGIN TRANSACTION");
    shop.run("INSERT INTO t ( id, name ) VALUES ( 43, 'n0' )");
    let cursor = shop.cursor("SELECT id FROM t WHERE name = 'n0'");
    assert_eq!(shop.column(cursor, "id"), ["10", "20", "30", "40", "43"]);
    shop.connection.append(cursor, &settings).unwrap();
    shop.run("ROLLBACK TRANSACTION");
    assert_eq!(shop.column(cursor, "id"), ["10", "20", "30", "40"]);
    let error = shop.refused("COMMIT WORK");
    let Error::Statement(error) = error else {
        panic!("{error}")
    };
    assert_eq!(error.native_code(), 2220);
}

#[test]
fn a_statement_that_fails_alone_changes_nothing() {
    let mut shop = Shop::new();
    let settings = shop.settings.clone();
    let area = shop.open();
    let known = shop.connection.area(area).unwrap();
    known.set_text(1, b"waiting", &settings).unwrap();
    let failed = shop.refused("INSERT INTO t ( id, name ) VALUES ( 50, 'fits' ), ( 51, 'much too long' )");
    assert_eq!(failed.code(), ErrorCode::Statement);
    assert!(failed.to_string().contains("NativeError = 2213"), "{failed}");
    // What waited in the work area of the table was written before.
    let known = shop.connection.area(area).unwrap();
    assert!(!known.has_changes());
    assert_eq!(known.record_count().unwrap(), 40);
    assert_eq!(
        shop.answer("SELECT COUNT(*) AS n FROM t WHERE name = 'waiting'", "n"),
        ["1"]
    );
}

#[test]
fn tables_are_free_again_after_each_statement_and_refused_while_others_have_them() {
    let mut shop = Shop::new();
    shop.settings.cached_cursors = 0;
    let settings = shop.settings.clone();
    shop.run("UPDATE t SET name = 'new' WHERE id = 3");
    assert_eq!(shop.answer("SELECT {static} id FROM t WHERE name = 'new'", "id"), ["3"]);
    let mut other = Connection::open(shop.folder.path()).unwrap();
    let alone = TableOptions::default().exclusive();
    let area = other.open_table("t", &alone, &settings).unwrap();
    let Error::Statement(refused) = shop.refused("UPDATE t SET name = 'newer' WHERE id = 3") else {
        panic!("another error");
    };
    assert_eq!(refused.native_code(), i64::from(ErrorCode::FileInUse.number()));
    // Others may change the structure meanwhile: the statement is bound anew.
    other.close_table(area).unwrap();
    assert_eq!(shop.answer("SELECT * FROM t WHERE id = 4", "name"), ["n4"]);
    other
        .restructure_table(
            "t",
            ("WEIGHT,Numeric,6,1", "NOTE", "NAME,LABEL,Character,12"),
            &alone,
            &settings,
        )
        .unwrap_err();
    other
        .restructure_table("t", ("WEIGHT,Numeric,6,1", "NOTE", ""), &alone, &settings)
        .unwrap();
    let area = shop.cursor("SELECT * FROM t WHERE id = 4");
    let known = shop.connection.area(area).unwrap();
    assert_eq!(known.column_name(known.column_count() - 1).unwrap(), "WEIGHT");
    shop.connection.close_table(area).unwrap();
    shop.run("ALTER TABLE t DROP COLUMN weight");
    assert_eq!(shop.refused("SELECT weight FROM t").code(), ErrorCode::Statement);
    shop.run("DROP TABLE t");
    let Error::Statement(missing) = shop.refused("SELECT * FROM t") else {
        panic!()
    };
    assert_eq!(missing.native_code(), 7041);
}

#[test]
fn closed_cursors_are_kept_for_the_next_statement_and_given_up_where_they_stand_in_the_way() {
    let mut shop = Shop::new();
    let settings = shop.settings.clone();
    let area = shop.cursor("SELECT * FROM t WHERE id < 5 ORDER BY name DESC");
    let known = shop.connection.area(area).unwrap();
    let by_id = known.order_named("id").unwrap();
    known.set_aof("NAME = 'n1'", &settings).unwrap();
    known.set_filter("ID = 1", &settings).unwrap();
    known
        .set_scope(by_id, true, tidemill_ads::SeekKey::Number(3.0), &settings)
        .unwrap();
    known.lock_record(1).unwrap();
    known.set_text(1, b"kept", &settings).unwrap();
    shop.connection.close_table(area).unwrap();
    assert!(shop.connection.area(area).is_err());
    assert_eq!(shop.answer("SELECT id FROM t WHERE name = 'kept'", "id"), ["4"]);
    let area = shop.cursor("SELECT name, id FROM t WHERE id < 5");
    assert_eq!(shop.column(area, "id"), ["1", "2", "3", "4"]);
    shop.connection.close_table(area).unwrap();

    let mut other = Connection::open(shop.folder.path()).unwrap();
    let alone = TableOptions::default().exclusive();
    let refused = other.open_table("t", &alone, &settings).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::FileInUse);
    shop.connection.close_cached_cursors();
    let area = other.open_table("t", &alone, &settings).unwrap();
    other.close_table(area).unwrap();

    assert_eq!(shop.answer("SELECT id FROM t WHERE id = 9", "id"), ["9"]);
    let area = shop.connection.open_table("t", &alone, &settings).unwrap();
    shop.connection.close_table(area).unwrap();
    assert_eq!(shop.answer("SELECT id FROM t WHERE id = 9", "id"), ["9"]);
    shop.run("CREATE TABLE another ( id Integer )");
    let area = other.open_table("t", &alone, &settings).unwrap();
    other.close_table(area).unwrap();

    shop.settings.cached_cursors = 0;
    assert_eq!(shop.answer("SELECT id FROM t WHERE id = 9", "id"), ["9"]);
    other.open_table("t", &alone, &settings).unwrap();
}

#[test]
fn orders_that_others_make_and_drop_are_known_though_cursors_did_not_ask() {
    let mut shop = Shop::new();
    shop.settings.cached_cursors = 0;
    let mut other = Shop {
        folder: tempfile::tempdir().unwrap(),
        connection: Connection::open(shop.folder.path()).unwrap(),
        settings: Settings::default(),
        options: StatementOptions::default(),
    };
    for (change, is_live) in [
        ("", true),
        ("DROP INDEX t.name", false),
        ("CREATE INDEX name ON t ( name )", true),
        ("DROP INDEX t.name", false),
    ] {
        if !change.is_empty() {
            other.run(change);
            other.connection.close_all().unwrap();
        }
        // A cursor without an order, which asks none.
        assert_eq!(shop.answer("SELECT id FROM t WHERE id = 9", "id"), ["9"]);
        let area = shop.cursor("SELECT name FROM t ORDER BY name");
        let rows = shop.connection.area(area).unwrap();
        assert_eq!(!rows.is_in_memory(), is_live, "{change}");
        shop.connection.close_table(area).unwrap();
    }
}

#[test]
fn a_cursor_follows_a_candidate_index_that_has_every_record() {
    /// Whether the answer is live, with its condition looked up in the index, and its names.
    fn walked(shop: &mut Shop, column: &str) -> (bool, String) {
        let area = shop.cursor(&format!("SELECT id, name FROM keyed WHERE id > 0 ORDER BY {column}"));
        let known = shop.connection.area(area).unwrap();
        let is_live = !known.is_in_memory();
        assert!(!is_live || known.aof_level().unwrap() == OptimizationLevel::Full);
        let names = shop.column(area, "name").concat();
        shop.connection.close_table(area).unwrap();
        (is_live, names)
    }
    let mut shop = Shop::new();
    shop.run("CREATE TABLE keyed ( id Integer, name Char(4) )");
    shop.run("CREATE INDEX id ON keyed ( id ) CANDIDATE");
    shop.run("CREATE INDEX name ON keyed ( name ) CANDIDATE NOTDELETED");
    shop.run("INSERT INTO keyed VALUES ( 3, 'c' ), ( 1, 'a' ), ( 2, 'b' )");
    assert_eq!(walked(&mut shop, "id DESC"), (true, "cba".to_owned()));
    // It leaves records out, or may.
    assert_eq!(walked(&mut shop, "name"), (false, "abc".to_owned()));
    // A second record with a key has no entry.
    shop.connection.enforce_unique(false);
    shop.run("INSERT INTO keyed VALUES ( 2, 'd' )");
    assert_eq!(walked(&mut shop, "id"), (false, "abdc".to_owned()));
    assert_eq!(shop.answer("SELECT name FROM keyed WHERE id = 2", "name"), ["b", "d"]);
    shop.run("UPDATE keyed SET id = 4 WHERE name = 'd'");
    assert_eq!(walked(&mut shop, "id"), (true, "abcd".to_owned()));
    // A deleted record keeps its key, and is shown where deleted ones are.
    shop.run("DELETE FROM keyed WHERE id = 2");
    assert_eq!(walked(&mut shop, "id"), (true, "abcd".to_owned()));
    shop.settings.show_deleted = false;
    assert_eq!(walked(&mut shop, "id"), (true, "acd".to_owned()));
}

#[test]
fn a_cursor_that_was_kept_is_not_shown_for_a_file_that_took_its_place() {
    let mut shop = Shop::new();
    assert_eq!(shop.answer("SELECT id, name FROM t WHERE id = 9", "name"), ["n9"]);
    let mut other = Shop {
        folder: tempfile::tempdir().unwrap(),
        connection: Connection::open(shop.folder.path()).unwrap(),
        settings: Settings::default(),
        options: StatementOptions::default(),
    };
    other.run("CREATE TABLE u ( name Char(12), id Integer )");
    for id in 8..=9 {
        other.run(&format!("INSERT INTO u ( id, name ) VALUES ( {id}, 'another {id}' )"));
    }
    other.connection.close_all().unwrap();
    for (from, to) in [("u.dbf", "t.dbf"), ("t.cdx", "old.cdx"), ("t.fpt", "old.fpt")] {
        let file = |name: &str| shop.folder.path().join(name);
        std::fs::rename(file(from), file(to)).unwrap();
    }
    assert_eq!(
        shop.answer("SELECT id, name FROM t WHERE id = 9", "name"),
        ["another 9"]
    );
}

#[test]
fn a_statement_that_is_stopped_has_changed_nothing() {
    let mut shop = Shop::new();
    for allowed in [0, 1, 20, 39] {
        for text in [
            "UPDATE t SET name = 'x'",
            "DELETE FROM t",
            "INSERT INTO t ( id, name ) SELECT id + 100, name FROM t",
            "TRY UPDATE t SET name = 'x'; CATCH ALL UPDATE t SET name = 'y'; END TRY;",
        ] {
            let asked = AtomicU32::new(0);
            shop.options.watch = Watch::new(move || match asked.fetch_add(1, Ordering::Relaxed) {
                asked if asked < allowed => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            });
            assert_eq!(
                shop.refused(text).code(),
                ErrorCode::StatementStopped,
                "{text} after {allowed}"
            );
            shop.options.watch = Watch::default();
            let counts = "SELECT COUNT(*) AS n FROM t WHERE id <= 40 AND name >= 'n' AND name < 'o'";
            assert_eq!(shop.answer(counts, "n"), ["40"], "{text} after {allowed}");
            assert_eq!(
                shop.answer("SELECT COUNT(*) AS n FROM t", "n"),
                ["40"],
                "{text} after {allowed}"
            );
        }
    }
}

#[test]
fn a_cursor_that_constrains_takes_no_record_that_it_would_not_show() {
    let mut shop = Shop::new();
    shop.options.constrains = true;
    let few = shop.cursor("SELECT * FROM t WHERE id <= 3");
    let area = shop.connection.area(few).unwrap();
    area.set_integer(0, 4).unwrap();
    assert_eq!(
        area.write_record().unwrap_err().code(),
        ErrorCode::RecordConstraintViolation
    );
    area.set_integer(0, 2).unwrap();
    area.write_record().unwrap();
    shop.options.constrains = false;
    let few = shop.cursor("SELECT * FROM t WHERE id <= 3");
    let area = shop.connection.area(few).unwrap();
    area.set_integer(0, 4).unwrap();
    area.write_record().unwrap();
}

#[test]
fn many_records_are_locked_at_once_and_beside_the_locks_of_others_one_by_one() {
    let mut shop = Shop::new();
    let settings = shop.settings.clone();
    shop.run("CREATE TABLE many ( id Integer )");
    let rows: Vec<String> = (1..=2000).map(|id| format!("( {id} )")).collect();
    shop.run(&format!("INSERT INTO many ( id ) VALUES {}", rows.join(", ")));
    let mut other = Connection::open(shop.folder.path()).unwrap();
    let area = other.open_table("many", &TableOptions::default(), &settings).unwrap();
    let change = "UPDATE many SET id = id + 10000 WHERE id <= 1500";

    // To the end of a transaction others have no record of the table.
    shop.run("BEGIN TRANSACTION");
    assert_eq!(shop.run(change), Executed::Changed(1500));
    for record in [1, 2000] {
        let refused = other.area(area).unwrap().lock_record(record).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::LockFailed);
    }
    shop.run("ROLLBACK TRANSACTION");

    // A record that another one holds is not waited for where it is not changed.
    other.area(area).unwrap().lock_record(2000).unwrap();
    shop.run("BEGIN TRANSACTION");
    assert_eq!(shop.run(change), Executed::Changed(1500));
    let refused = other.area(area).unwrap().lock_record(1).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::LockFailed);
    other.area(area).unwrap().lock_record(1999).unwrap();
    shop.run("COMMIT WORK");
    assert_eq!(
        shop.answer("SELECT COUNT(*) AS n FROM many WHERE id > 10000", "n"),
        ["1500"]
    );

    // And one that is to be changed leaves all as it was.
    let failed = shop.refused("DELETE FROM many");
    assert!(failed.to_string().contains("record 1999"), "{failed}");
    assert_eq!(shop.answer("SELECT COUNT(*) AS n FROM many", "n"), ["2000"]);
    other.area(area).unwrap().unlock_table().unwrap();
    assert_eq!(shop.run("DELETE FROM many"), Executed::Changed(2000));
    other.area(area).unwrap().lock_record(1).unwrap();
}

#[test]
fn temporary_tables_are_one_connections_alone_and_go_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let (settings, options) = (Settings::default(), StatementOptions::default());
    let mut first = Connection::open(folder.path()).unwrap();
    let mut second = Connection::open(folder.path()).unwrap();
    let make = "CREATE TABLE #mine ( customer_name Char(10), a Integer )";
    for connection in [&mut first, &mut second] {
        connection.execute(make, &[], &settings, &options).unwrap();
    }
    let fill = "INSERT INTO #mine VALUES ( 'Ada', 1 ), ( 'Bob', 2 )";
    first.execute(fill, &[], &settings, &options).unwrap();
    let Executed::Cursor(cursor) = second.execute("SELECT * FROM #mine", &[], &settings, &options).unwrap() else {
        panic!("a cursor");
    };
    assert_eq!(second.area(cursor).unwrap().record_count().unwrap(), 0);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);

    // Navigation finds it by its name, and its fields by theirs.
    let area = first.open_table("#MINE", &TableOptions::default(), &settings).unwrap();
    let place = first.area(area).unwrap().column_named("Customer_Name").unwrap();
    first.go_bottom(area, None, &settings).unwrap();
    let known = first.area(area).unwrap();
    assert_eq!(known.text(place, &settings).unwrap(), &b"Bob       "[..]);
    assert_eq!(known.column_name(0).unwrap(), "customer_name");
    known.set_filter("CUSTOMER_NAME = 'Ada'", &settings).unwrap();
    first.go_top(area, None, &settings).unwrap();
    let path = first.area(area).unwrap().path().to_owned();
    assert!(path.is_file());
    let made = first
        .create_table(
            "#other",
            "a_long_field_name,Character,4;b,Integer",
            &TableOptions::default(),
            &settings,
        )
        .unwrap();
    assert_eq!(first.area(made).unwrap().column_name(0).unwrap(), "a_long_field_name");
    drop(first);
    assert!(!path.parent().unwrap().exists(), "{}", path.display());
}

/// Who has an engine asks it for the first, so that it is not blamed for the second, which nobody has.
#[test]
fn an_aggregate_that_only_the_engine_has_is_not_called_unknown() {
    let mut shop = Shop::new();
    for (sql, expected) in [
        ("SELECT STDDEV( id ) FROM t", "STDDEV needs the analytical engine"),
        (
            "SELECT STDDEV( id ), VARIANCE( id ) FROM t",
            "STDDEV needs the analytical engine",
        ),
        (
            "SELECT VARIANCE( id ), STDDEV( id ) FROM t",
            "Scalar function not found: VARIANCE",
        ),
        ("SELECT VARIANCE( id ) FROM t", "Scalar function not found: VARIANCE"),
    ] {
        let error = shop.refused(sql).to_string();
        assert!(error.contains(expected), "{sql}: {error}");
    }
}
