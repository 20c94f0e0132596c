//! Triggers of a dictionary's tables: what fires them, what they see, and what they can refuse.

use super::*;

/// `goods` and `journal`, in a dictionary.
pub(super) fn shop() -> House {
    let mut house = House::new();
    let mut free = Connection::open(house.folder.path()).unwrap();
    for sql in [
        "CREATE TABLE goods ( id AutoInc, name Char(20), price Integer, note Memo, sold Date )",
        "CREATE UNIQUE INDEX id ON goods ( id )",
        "CREATE UNIQUE INDEX name ON goods ( name )",
        "CREATE TABLE journal ( n AutoInc, what Char(60) )",
    ] {
        free.execute(sql, &[], &house.settings, &house.options).unwrap();
    }
    free.end_transactions().unwrap();
    house.add("", "goods").unwrap();
    house.add("", "journal").unwrap();
    house
}

pub(super) fn run(house: &mut House, statements: &[&str]) {
    for sql in statements {
        house.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

pub(super) fn refused(house: &mut House, sql: &str) -> String {
    house.execute(sql).expect_err(sql).to_string()
}

pub(super) fn journal(house: &mut House) -> Vec<String> {
    let rows = house.rows("SELECT what FROM journal ORDER BY n");
    house.execute("DELETE FROM journal").unwrap();
    rows
}

/// A trigger that writes what happens into the journal.
pub(super) fn noting(name: &str, moment: &str, event: &str, what: &str) -> String {
    format!("CREATE TRIGGER {name} ON goods {moment} {event} BEGIN INSERT INTO journal ( what ) VALUES ( {what} ); END")
}

/// Triggers of all events, before and after.
pub(super) fn noted() -> House {
    let mut house = shop();
    for (event, row) in [
        ("INSERT", "__new.name"),
        ("UPDATE", "TRIM( __old.name ) + ' to ' + __new.name"),
        ("DELETE", "__old.name"),
    ] {
        for moment in ["BEFORE", "AFTER"] {
            let what = format!("'{moment} {event} ' + {row}");
            run(
                &mut house,
                &[&noting(&format!("{moment}_{event}"), moment, event, &what)],
            );
        }
    }
    house
}

#[test]
fn statements_fire_triggers_record_by_record() {
    let mut house = noted();
    run(&mut house, &["INSERT INTO goods ( name, price ) VALUES ( 'apple', 3 )"]);
    assert_eq!(journal(&mut house), ["BEFORE INSERT apple", "AFTER INSERT apple"]);
    run(
        &mut house,
        &["INSERT INTO goods ( name, price ) VALUES ( 'pear', 5 ), ( 'melon', 9 )"],
    );
    let expected = [
        "BEFORE INSERT pear",
        "AFTER INSERT pear",
        "BEFORE INSERT melon",
        "AFTER INSERT melon",
    ];
    assert_eq!(journal(&mut house), expected);
    run(&mut house, &["UPDATE goods SET name = 'p' + name WHERE price > 4"]);
    let expected = [
        "BEFORE UPDATE pear to ppear",
        "AFTER UPDATE pear to ppear",
        "BEFORE UPDATE melon to pmelon",
        "AFTER UPDATE melon to pmelon",
    ];
    assert_eq!(journal(&mut house), expected);
    run(&mut house, &["DELETE FROM goods WHERE id = 2"]);
    assert_eq!(journal(&mut house), ["BEFORE DELETE ppear", "AFTER DELETE ppear"]);
    run(
        &mut house,
        &[
            "MERGE goods ON name = 'apple' WHEN MATCHED THEN UPDATE SET name = 'fig' WHEN NOT MATCHED THEN INSERT ( name ) VALUES ( 'nut' )",
        ],
    );
    assert_eq!(
        journal(&mut house),
        ["BEFORE UPDATE apple to fig", "AFTER UPDATE apple to fig"]
    );
    run(
        &mut house,
        &[
            "MERGE goods ON name = 'apple' WHEN MATCHED THEN UPDATE SET name = 'fig' WHEN NOT MATCHED THEN INSERT ( name ) VALUES ( 'nut' )",
        ],
    );
    assert_eq!(journal(&mut house), ["BEFORE INSERT nut", "AFTER INSERT nut"]);
    assert_eq!(
        house.rows("SELECT name FROM goods ORDER BY id"),
        ["fig", "pmelon", "nut"]
    );
}

#[test]
fn record_functions_fire_triggers_when_a_record_is_written() {
    let mut house = noted();
    let id = house.open("goods");
    let settings = house.settings.clone();
    let area = house.connection.area(id).unwrap();
    let name = 1;
    area.append_record().unwrap();
    area.set_text(name, b"apple", &settings).unwrap();
    area.write_record().unwrap();
    // One that is given up was never there.
    area.append_record().unwrap();
    area.set_text(name, b"none", &settings).unwrap();
    area.cancel_update().unwrap();
    house.connection.go_to(id, 1, &settings).unwrap();
    let area = house.connection.area(id).unwrap();
    area.set_text(name, b"pear", &settings).unwrap();
    area.write_record().unwrap();
    area.set_deleted(true).unwrap();
    area.write_record().unwrap();
    let expected = [
        "BEFORE INSERT apple",
        "AFTER INSERT apple",
        "BEFORE UPDATE apple to pear",
        "AFTER UPDATE apple to pear",
        "BEFORE DELETE pear",
        "AFTER DELETE pear",
    ];
    assert_eq!(journal(&mut house), expected);
}

#[test]
fn a_trigger_refuses_a_change_and_nothing_of_it_stays() {
    let mut house = shop();
    run(
        &mut house,
        &[
            "CREATE TRIGGER noted ON goods BEFORE INSERT BEGIN INSERT INTO journal ( what ) VALUES ( 'noted' ); END PRIORITY 1",
            "CREATE TRIGGER cheap ON goods BEFORE INSERT BEGIN IF __new.price > 10 THEN INSERT INTO __error VALUES ( 1001, 'Too dear' ); END; END PRIORITY 2",
            "CREATE TRIGGER raised ON goods AFTER UPDATE BEGIN IF __new.price < __old.price THEN INSERT INTO journal ( what ) VALUES ( 'x' ); RAISE no_sale( 7, 'Prices never fall' ); END IF; END",
            "INSERT INTO goods ( name, price ) VALUES ( 'apple', 3 )",
        ],
    );
    let error = refused(
        &mut house,
        "INSERT INTO goods ( name, price ) VALUES ( 'fig', 4 ), ( 'melon', 11 )",
    );
    assert!(error.contains("NativeError = 5177"), "{error}");
    assert!(
        error.contains("trigger cheap of table goods (BEFORE INSERT): 1001: Too dear"),
        "{error}"
    );
    let error = refused(&mut house, "UPDATE goods SET price = 2");
    assert!(
        error.contains("trigger raised of table goods (AFTER UPDATE)") && error.contains("Prices never fall"),
        "{error}"
    );
    assert_eq!(house.rows("SELECT name, price FROM goods"), ["apple|3"]);
    assert_eq!(journal(&mut house), ["noted"]);

    // What a program has changed waits, and is written once it fits.
    let id = house.open("goods");
    let settings = house.settings.clone();
    let area = house.connection.area(id).unwrap();
    area.set_integer(2, 1).unwrap();
    let error = area.write_record().unwrap_err();
    assert_eq!(error.code(), ErrorCode::TriggerFailed, "{error}");
    assert!(area.has_changes());
    area.set_integer(2, 5).unwrap();
    area.write_record().unwrap();
    area.append_record().unwrap();
    area.set_text(1, b"melon", &settings).unwrap();
    area.set_integer(2, 12).unwrap();
    assert_eq!(area.write_record().unwrap_err().code(), ErrorCode::TriggerFailed);
    area.set_integer(2, 10).unwrap();
    area.write_record().unwrap();
    house.connection.close_table(id).unwrap();
    assert_eq!(house.rows("SELECT name, price FROM goods"), ["apple|5", "melon|10"]);
    assert_eq!(journal(&mut house), ["noted"]);
}

#[test]
fn a_trigger_changes_the_record_that_fired_it_and_does_not_fire_itself() {
    let mut house = shop();
    run(
        &mut house,
        &[
            "CREATE TRIGGER stamp ON goods AFTER UPDATE BEGIN UPDATE goods SET note = 'changed ' + TRIM( __old.name ), price = price + 1 WHERE id = __new.id; END",
            "CREATE TRIGGER fresh ON goods INSTEAD OF INSERT BEGIN UPDATE __new SET note = 'new', price = price * 2; INSERT INTO goods SELECT * FROM __new; END",
            "INSERT INTO goods ( name, price ) VALUES ( 'apple', 3 )",
            "UPDATE goods SET name = 'pear'",
        ],
    );
    assert_eq!(
        house.rows("SELECT id, name, price, note FROM goods"),
        ["1|pear|7|changed apple"]
    );
    let id = house.open("goods");
    let settings = house.settings.clone();
    let area = house.connection.area(id).unwrap();
    area.append_record().unwrap();
    area.set_text(1, b"fig", &settings).unwrap();
    area.set_integer(2, 4).unwrap();
    area.put_memo(3, Some(b"a long story".to_vec())).unwrap();
    area.write_record().unwrap();
    house.connection.go_to(id, 1, &settings).unwrap();
    let area = house.connection.area(id).unwrap();
    area.set_text(1, b"plum", &settings).unwrap();
    area.write_record().unwrap();
    area.refresh_record().unwrap();
    assert_eq!(area.text(2, &settings).unwrap().trim_ascii(), b"8");
    house.connection.close_table(id).unwrap();
    let rows = house.rows("SELECT name, price, note FROM goods ORDER BY name");
    assert_eq!(rows, ["fig|8|new", "plum|8|changed pear"]);
}

#[test]
fn triggers_fire_in_the_order_of_their_priorities_and_fire_others() {
    let mut house = shop();
    run(
        &mut house,
        &[
            "CREATE TRIGGER second ON goods AFTER DELETE BEGIN INSERT INTO journal ( what ) VALUES ( '2' ); END PRIORITY 2",
            "CREATE TRIGGER first ON goods AFTER DELETE BEGIN INSERT INTO journal ( what ) SELECT TRIM( name ) + IFNULL( note, '' ) FROM __old; END PRIORITY 1",
            "CREATE TRIGGER echo ON journal AFTER INSERT BEGIN INSERT INTO journal ( what ) VALUES ( 'echo of ' + __new.what ); END",
            "INSERT INTO goods ( name, note ) VALUES ( 'fig', ' is sweet' )",
            "DELETE FROM goods",
        ],
    );
    assert_eq!(
        journal(&mut house),
        ["fig is sweet", "echo of fig is sweet", "2", "echo of 2"]
    );
    run(
        &mut house,
        &[
            "ALTER TRIGGER second ON goods AFTER DELETE BEGIN INSERT INTO journal ( what ) VALUES ( '0' ); END PRIORITY 0",
            "DROP TRIGGER journal.echo",
        ],
    );
    run(
        &mut house,
        &["INSERT INTO goods ( name ) VALUES ( 'nut' )", "DELETE FROM goods"],
    );
    assert_eq!(journal(&mut house), ["0", "nut"]);
}

#[test]
fn triggers_that_never_end_are_stopped() {
    let mut house = shop();
    run(
        &mut house,
        &["CREATE TRIGGER again ON journal BEFORE INSERT BEGIN INSERT INTO journal ( what ) VALUES ( 'again' ); END"],
    );
    let error = refused(&mut house, "INSERT INTO journal ( what ) VALUES ( 'once' )");
    assert!(error.contains("more than 64 deep"), "{error}");
    assert_eq!(house.rows("SELECT COUNT(*) FROM journal"), ["0"]);
}

#[test]
fn what_triggers_do_belongs_to_the_transaction_around_them() {
    let mut house = noted();
    run(
        &mut house,
        &["BEGIN TRANSACTION", "INSERT INTO goods ( name ) VALUES ( 'apple' )"],
    );
    assert_eq!(
        house.rows("SELECT what FROM journal ORDER BY n"),
        ["BEFORE INSERT apple", "AFTER INSERT apple"]
    );
    run(&mut house, &["ROLLBACK WORK"]);
    assert_eq!(house.rows("SELECT what FROM journal ORDER BY n"), [""; 0]);

    run(&mut house, &[&noting("bad", "AFTER", "INSERT", "1 / 0 + NO_SUCH()")]);
    run(
        &mut house,
        &["BEGIN TRANSACTION", "INSERT INTO journal ( what ) VALUES ( 'kept' )"],
    );
    refused(&mut house, "INSERT INTO goods ( name ) VALUES ( 'apple' )");
    run(&mut house, &["COMMIT WORK"]);
    assert_eq!(journal(&mut house), ["kept"]);
    assert_eq!(house.rows("SELECT name FROM goods"), [""; 0]);

    run(
        &mut house,
        &[
            "DROP TRIGGER goods.bad",
            "CREATE TRIGGER own ON goods AFTER INSERT BEGIN BEGIN TRANSACTION; END",
        ],
    );
    let error = refused(&mut house, "INSERT INTO goods ( name ) VALUES ( 'apple' )");
    assert!(error.contains("it begins and ends none"), "{error}");

    // Others see all of it or nothing.
    run(
        &mut house,
        &[
            "DROP TRIGGER goods.own",
            "INSERT INTO goods ( name ) VALUES ( 'apple' )",
        ],
    );
    let mut other = house.another();
    let area = other
        .open_table("journal", &TableOptions::default(), &house.settings)
        .unwrap();
    assert_eq!(other.area(area).unwrap().record_count().unwrap(), 2);
}

#[test]
fn a_trigger_in_a_library_is_refused_by_name_where_it_would_fire() {
    let mut house = shop();
    run(
        &mut house,
        &[
            "CREATE TRIGGER native ON goods AFTER DELETE FUNCTION Gone IN LIBRARY [shop.dll] PRIORITY 7",
            "INSERT INTO goods ( name ) VALUES ( 'apple' )",
            "UPDATE goods SET price = 4",
        ],
    );
    let error = refused(&mut house, "DELETE FROM goods");
    assert!(
        error.contains("trigger native of table goods (AFTER DELETE)"),
        "{error}"
    );
    assert!(error.contains("the function Gone of shop.dll"), "{error}");
    let id = house.open("goods");
    let area = house.connection.area(id).unwrap();
    area.set_deleted(true).unwrap();
    assert_eq!(area.write_record().unwrap_err().code(), ErrorCode::TriggerFailed);
    area.cancel_update().unwrap();
    house.connection.close_table(id).unwrap();
    assert_eq!(house.rows("SELECT name, price FROM goods"), ["apple|4"]);
}

#[test]
fn triggers_that_cannot_be_are_refused() {
    let mut house = shop();
    run(
        &mut house,
        &[
            &noting("a", "BEFORE", "INSERT", "'a'"),
            &noting("b", "INSTEAD OF", "UPDATE", "'b'"),
        ],
    );
    for (sql, why) in [
        (noting("A", "AFTER", "DELETE", "'c'"), "has a Trigger a already"),
        (
            noting("c", "INSTEAD OF", "INSERT", "'c'"),
            "has a trigger BEFORE INSERT and can have none INSTEAD OF INSERT",
        ),
        (
            noting("c", "INSTEAD OF", "UPDATE", "'c'"),
            "has a trigger INSTEAD OF UPDATE and can have none",
        ),
        (noting("c", "BEFORE", "UPDATE", "'c'"), "can have none BEFORE UPDATE"),
        (
            noting("c", "DURING", "UPDATE", "'c'"),
            "BEFORE, INSTEAD OF, AFTER or CONFLICT ON, found DURING",
        ),
        (
            "CREATE TRIGGER c ON goods AFTER INSERT BEGIN SELEC 1; END".to_owned(),
            "a statement",
        ),
        (
            "CREATE TRIGGER c ON goods AFTER INSERT BEGIN INSERT INTO journal ( what ) VALUES ( :a ); END".to_owned(),
            "parameter",
        ),
        (
            "CREATE TRIGGER c ON nothing AFTER INSERT BEGIN RAISE; END".to_owned(),
            "nothing",
        ),
        (
            "CREATE TRIGGER c ON DATABASE AFTER CONNECT BEGIN RAISE; END".to_owned(),
            "give the trigger a table",
        ),
        (
            "ALTER TRIGGER c ON goods AFTER INSERT BEGIN RAISE; END".to_owned(),
            "has no c",
        ),
        ("DROP TRIGGER goods.c".to_owned(), "has no c"),
    ] {
        let error = refused(&mut house, &sql);
        assert!(error.contains(why), "{sql}: {error}");
    }
    // What no AFTER trigger is fired beside, and what replaces a change, is none of it.
    run(
        &mut house,
        &[
            &noting("after", "AFTER", "UPDATE", "'after'"),
            "INSERT INTO goods ( name ) VALUES ( 'apple' )",
            "UPDATE goods SET name = 'x'",
        ],
    );
    assert_eq!(journal(&mut house), ["a", "b"]);
    assert_eq!(house.rows("SELECT name FROM goods"), ["apple"]);
}

#[test]
fn triggers_are_kept_where_advantage_keeps_them() {
    let mut house = shop();
    run(
        &mut house,
        &[
            &noting("first", "INSTEAD OF", "INSERT", "'a'"),
            "CREATE TRIGGER last ON goods AFTER DELETE BEGIN DELETE FROM journal; -- all\n END NO MEMOS PRIORITY 3",
            "CREATE TRIGGER clash ON goods CONFLICT ON UPDATE BEGIN DELETE FROM journal; END NO VALUES NO TRANSACTION",
        ],
    );
    assert_eq!(house.names(ObjectKind::Trigger, "GOODS"), ["first", "last", "clash"]);
    assert_eq!(
        house.names(ObjectKind::QualifiedTrigger, ""),
        ["goods::first", "goods::last", "goods::clash"]
    );
    let rows = house.rows("SELECT Name, Trig_TableName, Trig_Event_Type, Trig_Trigger_Type, Trig_Container_Type, Trig_Container, Trig_Priority, Trig_Options FROM system.triggers");
    assert_eq!(
        rows,
        [
            "first|goods|1|2|3|INSERT INTO journal ( what ) VALUES ( 'a' );|1|3",
            "last|goods|3|4|3|DELETE FROM journal;|3|1",
            "clash|goods|2|8|3|DELETE FROM journal;|1|4"
        ]
    );
    let objects = objects(&house.file());
    let trigger = objects
        .iter()
        .find(|(kind, name, _)| kind == "Trigger" && name == "last")
        .unwrap();
    let mut expected = Vec::new();
    for value in [
        &3u32.to_le_bytes()[..],
        &4u32.to_le_bytes(),
        &3u32.to_le_bytes(),
        b"DELETE FROM journal;\0",
    ] {
        expected.extend(u16::try_from(value.len()).unwrap().to_le_bytes());
        expected.extend(value);
    }
    expected.extend([0xFF, 0xFF, 4, 0, 3, 0, 0, 0, 4, 0, 1, 0, 0, 0]);
    assert!(trigger.2.starts_with(&expected), "{:02x?}", trigger.2);
    let table = objects
        .iter()
        .find(|(kind, name, _)| kind == "Table" && name == "goods")
        .unwrap();
    // INSTEAD OF INSERT, AFTER DELETE, ON CONFLICT UPDATE; and the options of each event.
    let kinds = [4, 0, 0x02, 0x03, 0, 0, 4, 0, 0x43, 0x01, 0, 0];
    assert!(
        table.2.windows(kinds.len()).any(|bytes| bytes == kinds),
        "{:02x?}",
        table.2
    );

    let set = |house: &mut House, number, value| {
        house.connection.set_object_property(
            ObjectKind::Trigger,
            ("", "goods::last"),
            number,
            &value,
            &house.settings,
        )
    };
    set(&mut house, 1406, PropertyValue::Long(9)).unwrap();
    set(&mut house, 1404, text("INSERT INTO journal ( what ) VALUES ( 'gone' )")).unwrap();
    assert_eq!(
        set(&mut house, 1404, text("SELEC")).unwrap_err().code(),
        ErrorCode::Statement
    );
    assert_eq!(
        set(&mut house, 1401, PropertyValue::Long(1)).unwrap_err().code(),
        ErrorCode::InvalidPropertyId
    );
    run(
        &mut house,
        &[
            "DROP TRIGGER goods.first",
            "INSERT INTO goods ( name ) VALUES ( 'fig' )",
            "DELETE FROM goods",
        ],
    );
    assert_eq!(journal(&mut house), ["gone"]);
}

#[test]
fn a_connection_can_switch_its_own_triggers_off() {
    let mut house = noted();
    run(
        &mut house,
        &[
            "EXECUTE PROCEDURE sp_DisableTriggers( NULL, NULL, FALSE, 0 )",
            "INSERT INTO goods ( name ) VALUES ( 'apple' )",
        ],
    );
    assert_eq!(journal(&mut house), [""; 0]);
    let mut other = house.another();
    let options = house.options.clone();
    other
        .execute("UPDATE goods SET name = 'pear'", &[], &house.settings, &options)
        .unwrap();
    drop(other);
    assert_eq!(
        journal(&mut house),
        ["BEFORE UPDATE apple to pear", "AFTER UPDATE apple to pear"]
    );
    run(
        &mut house,
        &[
            "EXECUTE PROCEDURE sp_EnableTriggers( NULL, NULL, FALSE, 0 )",
            "DELETE FROM goods",
        ],
    );
    assert_eq!(journal(&mut house), ["BEFORE DELETE pear", "AFTER DELETE pear"]);
}

#[test]
fn no_change_passes_a_trigger_by_another_way() {
    let mut house = shop();
    let mut free = Connection::open(house.folder.path()).unwrap();
    let (settings, options) = (house.settings.clone(), house.options.clone());
    free.execute("CREATE TABLE sales ( goods Char(20) )", &[], &settings, &options)
        .unwrap();
    free.execute("CREATE INDEX goods ON sales ( goods )", &[], &settings, &options)
        .unwrap();
    free.end_transactions().unwrap();
    house.add("", "sales").unwrap();
    run(
        &mut house,
        &[
            "INSERT INTO goods ( name ) VALUES ( 'apple' )",
            "INSERT INTO sales VALUES ( 'apple' )",
        ],
    );
    house.set_table("goods", TableProperty::PrimaryKey, "name").unwrap();
    let relation = NewRelation {
        name: "sold",
        parent: "goods",
        parent_order: "",
        child: "sales",
        child_order: "goods",
        on_update: RelationRule::Cascade,
        on_delete: RelationRule::Cascade,
        no_parent: "",
        no_cascade: "",
    };
    house.connection.create_relation(&relation, &settings).unwrap();
    run(
        &mut house,
        &["CREATE TRIGGER gone ON sales AFTER DELETE BEGIN INSERT INTO journal ( what ) VALUES ( 'gone' ); END"],
    );
    let error = refused(&mut house, "DELETE FROM goods");
    assert!(
        error.contains("relation sold, which carries changes on to a table whose triggers would have to fire"),
        "{error}"
    );
    run(&mut house, &["DELETE FROM sales"]);
    assert_eq!(journal(&mut house), ["gone"]);
    run(
        &mut house,
        &[
            "DROP TRIGGER sales.gone",
            "INSERT INTO sales VALUES ( 'apple' )",
            "DELETE FROM goods",
        ],
    );
    assert_eq!(house.rows("SELECT goods FROM sales"), [""; 0]);
}

#[test]
fn tables_of_other_formats_fire_triggers_too() {
    for (table_type, create) in [
        (
            TableType::Cdx,
            "CREATE TABLE old ( code Char(4), n Numeric(6,2), day Date, note Memo )",
        ),
        (
            TableType::Vfp,
            "CREATE TABLE old ( code Char(4) NULL, n Integer, day Date NULL, note Memo NULL )",
        ),
    ] {
        let mut house = shop();
        let mut free = Connection::open(house.folder.path()).unwrap();
        let mut options = house.options.clone();
        options.table.table_type = table_type;
        free.execute(create, &[], &house.settings, &options).unwrap();
        free.execute("CREATE INDEX code ON old ( code )", &[], &house.settings, &options)
            .unwrap();
        free.end_transactions().unwrap();
        let table = NewTable {
            path: "old",
            table_type,
            ..NewTable::default()
        };
        house.connection.add_dictionary_table(&table, &house.settings).unwrap();
        run(
            &mut house,
            &[
                "CREATE TRIGGER a ON old AFTER UPDATE BEGIN INSERT INTO journal ( what ) VALUES ( __old.code + __new.code + __new.note ); END",
                "CREATE TRIGGER b ON old INSTEAD OF INSERT BEGIN UPDATE __new SET n = n + 1; INSERT INTO old SELECT * FROM __new; END",
                "CREATE TRIGGER c ON old BEFORE DELETE BEGIN INSERT INTO journal ( what ) VALUES ( 'gone ' + __old.code ); END",
                "INSERT INTO old ( code, n, note ) VALUES ( 'a', 1, 'a note' )",
                "UPDATE old SET code = 'b' WHERE code = 'a'",
            ],
        );
        assert_eq!(journal(&mut house), ["aba note"], "{table_type:?}");
        let id = house
            .connection
            .open_table(
                "old",
                &TableOptions {
                    table_type,
                    ..TableOptions::default()
                },
                &house.settings,
            )
            .unwrap();
        let settings = house.settings.clone();
        let area = house.connection.area(id).unwrap();
        area.append_record().unwrap();
        area.set_text(0, b"c", &settings).unwrap();
        area.set_number(1, 7.0).unwrap();
        area.write_record().unwrap();
        house.connection.go_top(id, None, &settings).unwrap();
        let area = house.connection.area(id).unwrap();
        area.put_memo(3, Some(b"other".to_vec())).unwrap();
        area.write_record().unwrap();
        area.set_deleted(true).unwrap();
        house.connection.close_table(id).unwrap();
        assert_eq!(journal(&mut house), ["bbother", "gone b"], "{table_type:?}");
        assert_eq!(
            house
                .rows("SELECT code, n FROM old WHERE NOT DELETED() AND code = 'c'")
                .len(),
            1,
            "{table_type:?}"
        );
    }
}

#[test]
fn a_table_that_is_open_fires_in_statements_and_in_transactions() {
    let mut house = noted();
    run(&mut house, &["INSERT INTO goods ( name ) VALUES ( 'apple' )"]);
    journal(&mut house);
    run(
        &mut house,
        &[
            "CREATE TRIGGER stamp ON goods AFTER UPDATE BEGIN UPDATE goods SET note = 'by ' + __old.name WHERE id = __new.id; END",
        ],
    );
    let id = house.open("goods");
    let settings = house.settings.clone();
    let shown = |house: &mut House| {
        let area = house.connection.area(id).unwrap();
        area.refresh_record().unwrap();
        let name = area.text(1, &settings).unwrap().trim_ascii().to_vec();
        (String::from_utf8(name).unwrap(), area.memo(3).unwrap())
    };
    run(&mut house, &["UPDATE goods SET name = 'pear'"]);
    assert_eq!(shown(&mut house), ("pear".to_owned(), b"by apple".to_vec()));
    // The trigger's own change fires the others.
    let fired = [
        "BEFORE UPDATE apple to pear",
        "AFTER UPDATE apple to pear",
        "BEFORE UPDATE pear to pear",
        "AFTER UPDATE pear to pear",
    ];
    assert_eq!(journal(&mut house), fired);

    house.connection.begin_transaction(&settings).unwrap();
    let area = house.connection.area(id).unwrap();
    area.set_text(1, b"plum", &settings).unwrap();
    area.write_record().unwrap();
    assert_eq!(shown(&mut house), ("plum".to_owned(), b"by pear".to_vec()));
    assert_eq!(house.rows("SELECT COUNT(*) FROM journal"), ["4"]);
    run(
        &mut house,
        &["CREATE TRIGGER never ON goods AFTER UPDATE BEGIN RAISE no( 1, 'never' ); END"],
    );
    let area = house.connection.area(id).unwrap();
    area.set_text(1, b"fig", &settings).unwrap();
    assert_eq!(area.write_record().unwrap_err().code(), ErrorCode::TriggerFailed);
    area.cancel_update().unwrap();
    assert_eq!(shown(&mut house), ("plum".to_owned(), b"by pear".to_vec()));
    assert_eq!(house.rows("SELECT COUNT(*) FROM journal"), ["4"]);
    house.connection.rollback_transaction().unwrap();
    assert_eq!(shown(&mut house), ("pear".to_owned(), b"by apple".to_vec()));
    house.connection.close_table(id).unwrap();
    assert_eq!(house.rows("SELECT name, note FROM goods"), ["pear|by apple"]);
    assert_eq!(journal(&mut house), [""; 0]);
}

#[test]
fn rows_that_come_as_a_batch_do_not_pass_a_trigger() {
    let mut house = noted();
    let names: arrow_array::ArrayRef = std::sync::Arc::new(arrow_array::StringArray::from(vec!["fig"]));
    let batch = arrow_array::RecordBatch::try_from_iter([("name", names)]).unwrap();
    let mut tables = house.connection.tables(&house.settings, &house.options);
    let error = tables
        .append(&tidemill_ads::sql::TableName::new("goods"), &batch)
        .unwrap_err();
    assert_eq!(error.native_code(), 5177, "{error}");
    let error = error.to_string();
    assert!(
        error.contains("trigger BEFORE_INSERT: a change made in this way does not fire it"),
        "{error}"
    );
    assert_eq!(house.rows("SELECT COUNT(*) FROM goods"), ["0"]);
}

/// Type, name and `Property` of the objects of a dictionary.
fn objects(file: &std::path::Path) -> Vec<(String, String, Vec<u8>)> {
    use arrow_array::Array as _;
    use arrow_array::cast::AsArray as _;
    let table = std::sync::Arc::new(Table::open(file, &OpenOptions::new().codepage(CodePage::Cp1252)).unwrap());
    let mut objects = Vec::new();
    for batch in table.scan(Scan::new()).unwrap() {
        let batch = batch.unwrap();
        for row in 0..batch.num_rows() {
            let text = |column: usize| batch.column(column).as_string::<i32>().value(row).trim_end().to_owned();
            let property = batch.column(4);
            let property = if property.is_null(row) {
                Vec::new()
            } else {
                property.as_binary::<i32>().value(row).to_vec()
            };
            objects.push((text(2), text(3), property));
        }
    }
    objects
}
