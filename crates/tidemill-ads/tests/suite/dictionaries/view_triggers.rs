//! Triggers of a dictionary's views: what a view that is rows of its own makes of changes.

use super::triggers::{journal, refused, run, shop};
use super::*;

/// A view of the goods, and triggers that change the goods in its place.
fn priced() -> House {
    let mut house = shop();
    run(
        &mut house,
        &[
            "INSERT INTO goods ( name, price, note ) VALUES ( 'apple', 3, 'red' ), ( 'pear', 5, NULL )",
            "CREATE VIEW prices AS SELECT id, name AS [what is sold], price * 100 AS cents, note FROM goods",
            "CREATE TRIGGER added ON prices INSTEAD OF INSERT BEGIN INSERT INTO goods ( name, price, note ) VALUES ( __new.[what is sold], __new.cents / 100, IFNULL( __new.note, 'none' ) ); END",
            "CREATE TRIGGER changed ON prices INSTEAD OF UPDATE BEGIN UPDATE goods SET name = __new.[what is sold], price = __new.cents / 100, note = __new.note WHERE id = __old.id; INSERT INTO journal ( what ) VALUES ( TRIM( __old.[what is sold] ) + ' to ' + __new.[what is sold] ); END",
            "CREATE TRIGGER gone ON prices INSTEAD OF DELETE BEGIN IF __old.cents > 1000 THEN INSERT INTO __error VALUES ( 9, 'Too dear to lose' ); END; DELETE FROM goods WHERE id = __old.id; END",
        ],
    );
    house
}

fn goods(house: &mut House) -> Vec<String> {
    house.rows("SELECT name, price, note FROM goods ORDER BY id")
}

#[test]
fn statements_change_a_view_by_its_triggers() {
    let mut house = priced();
    run(
        &mut house,
        &["INSERT INTO prices ( [what is sold], cents ) VALUES ( 'fig', 700 )"],
    );
    assert_eq!(goods(&mut house), ["apple|3|red", "pear|5|", "fig|7|none"]);
    for (sql, count) in [
        ("UPDATE prices SET cents = cents + 100 WHERE cents >= 500", 2),
        ("UPDATE prices SET note = 'sweet' WHERE [what is sold] = 'fig'", 1),
        ("DELETE FROM prices WHERE [what is sold] = 'pear'", 1),
        (
            "INSERT INTO prices SELECT 1, TRIM( name ) + '2', 100, NULL FROM goods WHERE name = 'fig'",
            1,
        ),
        ("UPDATE prices SET cents = 1 WHERE cents = 123", 0),
        (
            "MERGE prices ON [what is sold] = 'nut' WHEN MATCHED THEN UPDATE SET cents = 0 WHEN NOT MATCHED THEN INSERT ( [what is sold], cents ) VALUES ( 'nut', 900 )",
            1,
        ),
    ] {
        assert_eq!(house.execute(sql).unwrap(), Executed::Changed(count), "{sql}");
    }
    assert_eq!(
        goods(&mut house),
        ["apple|3|red", "fig|8|sweet", "fig2|1|none", "nut|9|none"]
    );
    assert_eq!(journal(&mut house), ["pear to pear", "fig to fig", "fig to fig"]);
    // What the same text shows is looked at each time.
    for _ in 0..2 {
        run(&mut house, &["UPDATE prices SET cents = cents * 2 WHERE cents = 300"]);
        run(&mut house, &["UPDATE goods SET price = 3 WHERE name = 'apple'"]);
    }
    assert_eq!(journal(&mut house), ["apple to apple"; 2]);
}

#[test]
fn a_trigger_of_a_view_refuses_a_change_and_nothing_of_the_statement_stays() {
    let mut house = priced();
    run(
        &mut house,
        &["INSERT INTO goods ( name, price ) VALUES ( 'saffron', 90 )"],
    );
    let error = refused(&mut house, "DELETE FROM prices");
    assert!(
        error.contains("NativeError = 5177")
            && error.contains("trigger gone of view prices (INSTEAD OF DELETE): 9: Too"),
        "{error}"
    );
    assert_eq!(goods(&mut house), ["apple|3|red", "pear|5|", "saffron|90|"]);
    run(&mut house, &["BEGIN TRANSACTION", "UPDATE prices SET cents = 100"]);
    assert_eq!(goods(&mut house), ["apple|1|red", "pear|1|", "saffron|1|"]);
    refused(&mut house, "UPDATE prices SET cents = [what is sold]");
    run(&mut house, &["ROLLBACK WORK"]);
    assert_eq!(goods(&mut house), ["apple|3|red", "pear|5|", "saffron|90|"]);
    assert_eq!(journal(&mut house), [""; 0]);
}

#[test]
fn records_of_a_view_are_changed_by_its_triggers() {
    let mut house = priced();
    let settings = house.settings.clone();
    let id = house.open("prices");
    let (name, cents) = (1, 2);
    let area = house.connection.area(id).unwrap();
    assert_eq!(area.column_name(name).unwrap(), "what is sold");
    area.append_record().unwrap();
    area.set_text(name, b"fig", &settings).unwrap();
    area.set_number(cents, 700.0).unwrap();
    area.write_record().unwrap();
    house.connection.go_to(id, 2, &settings).unwrap();
    let area = house.connection.area(id).unwrap();
    area.set_text(name, b"plum", &settings).unwrap();
    area.write_record().unwrap();
    // The cursor shows what was written through it.
    area.refresh_record().unwrap();
    assert_eq!(area.text(name, &settings).unwrap().trim_ascii(), b"plum");
    house.connection.go_to(id, 1, &settings).unwrap();
    let area = house.connection.area(id).unwrap();
    area.set_deleted(true).unwrap();
    area.write_record().unwrap();
    assert_eq!(area.set_deleted(false).unwrap_err().code(), ErrorCode::NotImplemented);
    assert_eq!(goods(&mut house), ["plum|5|", "fig|7|none"]);
    assert_eq!(journal(&mut house), ["pear to plum"]);

    // In a transaction, and after it.
    house.connection.begin_transaction(&settings).unwrap();
    house.connection.go_to(id, 2, &settings).unwrap();
    let area = house.connection.area(id).unwrap();
    area.set_number(cents, 5000.0).unwrap();
    area.write_record().unwrap();
    assert_eq!(goods(&mut house), ["plum|50|", "fig|7|none"]);
    house.connection.rollback_transaction().unwrap();
    assert_eq!(goods(&mut house), ["plum|5|", "fig|7|none"]);
    house.connection.go_to(id, 2, &settings).unwrap();
    let area = house.connection.area(id).unwrap();
    area.set_number(cents, 9000.0).unwrap();
    area.write_record().unwrap();
    let error = area.set_deleted(true).unwrap_err();
    assert_eq!(error.code(), ErrorCode::TriggerFailed, "{error}");
    house.connection.close_table(id).unwrap();
    assert_eq!(goods(&mut house), ["plum|90|", "fig|7|none"]);

    // Who opens it to read does not change it.
    let options = TableOptions::default().read_only();
    let id = house.connection.open_table("prices", &options, &settings).unwrap();
    let error = house.connection.area(id).unwrap().append_record().unwrap_err();
    assert_eq!(error.code(), ErrorCode::TableReadOnly);
}

#[test]
fn what_cannot_be_a_trigger_of_a_view_is_refused() {
    let mut house = priced();
    run(
        &mut house,
        &[
            "CREATE VIEW cheap AS SELECT id, name FROM goods WHERE price < 4",
            "CREATE VIEW names AS SELECT {static} name FROM goods",
        ],
    );
    for (sql, code, why) in [
        (
            "CREATE TRIGGER t ON names BEFORE INSERT BEGIN DELETE FROM journal; END",
            5181,
            "view names has INSTEAD OF triggers alone, and t is BEFORE",
        ),
        (
            "CREATE TRIGGER t ON names AFTER UPDATE BEGIN DELETE FROM journal; END",
            5181,
            "t is AFTER",
        ),
        (
            "CREATE TRIGGER t ON names CONFLICT ON UPDATE BEGIN DELETE FROM journal; END",
            5181,
            "t is CONFLICT ON",
        ),
        (
            "CREATE TRIGGER t ON prices INSTEAD OF INSERT BEGIN DELETE FROM journal; END",
            5181,
            "view prices has a trigger INSTEAD OF INSERT",
        ),
        (
            "CREATE TRIGGER t ON cheap INSTEAD OF UPDATE BEGIN DELETE FROM journal; END",
            7133,
            "view cheap is a cursor over the table",
        ),
        (
            "CREATE TRIGGER t ON goods ON CONFLICT INSERT BEGIN DELETE FROM journal; END",
            5181,
            "UPDATE or DELETE, and not INSERT",
        ),
        (
            "CREATE TRIGGER t ON goods CONFLICT INSERT BEGIN DELETE FROM journal; END",
            5181,
            "UPDATE or DELETE, and not INSERT",
        ),
        ("UPDATE names SET name = 'x'", 2208, "names is a view"),
    ] {
        let error = refused(&mut house, sql);
        assert!(
            error.contains(&format!("NativeError = {code}")) && error.contains(why),
            "{sql}: {error}"
        );
    }
    run(
        &mut house,
        &["CREATE TRIGGER once ON names INSTEAD OF UPDATE BEGIN UPDATE names SET name = 'x'; END"],
    );
    for (sql, why) in [
        (
            "DELETE FROM names",
            "view names has triggers, and none INSTEAD OF DELETE",
        ),
        ("INSERT INTO names VALUES ( 'x' )", "none INSTEAD OF INSERT"),
        (
            "UPDATE names SET name = 'y'",
            "the trigger once of view names does not fire within itself",
        ),
    ] {
        let error = refused(&mut house, sql);
        assert!(error.contains("7135") && error.contains(why), "{sql}: {error}");
    }
    let id = house.open("names");
    let area = house.connection.area(id).unwrap();
    area.append_record().unwrap();
    assert_eq!(area.write_record().unwrap_err().code(), ErrorCode::NoTriggerForEvent);
    area.cancel_update().unwrap();
    house.connection.close_table(id).unwrap();
    assert_eq!(goods(&mut house), ["apple|3|red", "pear|5|"]);

    // A view that is another now is open to read.
    let statement = text("SELECT name FROM goods");
    let settings = house.settings.clone();
    let view = (ObjectKind::View, ("", "names"));
    house
        .connection
        .set_object_property(view.0, view.1, 700, &statement, &settings)
        .unwrap();
    let id = house.open("names");
    let area = house.connection.area(id).unwrap();
    let error = area.append_record().unwrap_err();
    assert!(error.to_string().contains("view names is a cursor"), "{error}");
}

#[test]
fn triggers_of_views_are_listed_switched_renamed_and_dropped() {
    let mut house = priced();
    assert_eq!(
        house.rows("SELECT name, Trig_TableName, Trig_Event_Type, Trig_Trigger_Type FROM system.triggers ORDER BY 3"),
        ["added|prices|1|2", "changed|prices|2|2", "gone|prices|3|2"]
    );
    assert_eq!(house.names(ObjectKind::Trigger, "prices"), ["added", "changed", "gone"]);
    assert_eq!(
        house.names(ObjectKind::QualifiedTrigger, ""),
        ["prices::added", "prices::changed", "prices::gone"]
    );
    run(
        &mut house,
        &["EXECUTE PROCEDURE sp_DisableTriggers( 'gone', 'prices', FALSE, 0 )"],
    );
    let error = refused(&mut house, "DELETE FROM prices");
    assert!(error.contains("none INSTEAD OF DELETE"), "{error}");
    run(
        &mut house,
        &["EXECUTE PROCEDURE sp_EnableTriggers( 'gone', 'prices', FALSE, 0 )"],
    );
    run(
        &mut house,
        &["EXECUTE PROCEDURE sp_DisableTriggers( NULL, NULL, FALSE, 0 )"],
    );
    let error = refused(&mut house, "DELETE FROM prices");
    assert!(error.contains("prices is a view"), "{error}");
    run(
        &mut house,
        &[
            "EXECUTE PROCEDURE sp_EnableTriggers( NULL, NULL, FALSE, 0 )",
            "DROP TRIGGER prices.changed",
            "ALTER TRIGGER gone ON prices INSTEAD OF DELETE BEGIN DELETE FROM goods WHERE id = __old.id; END",
            "DELETE FROM prices WHERE cents = 300",
        ],
    );
    assert_eq!(goods(&mut house), ["pear|5|"]);
    assert!(refused(&mut house, "UPDATE prices SET cents = 1").contains("7135"));
    // They go with their view.
    run(&mut house, &["DROP VIEW prices"]);
    assert_eq!(house.names(ObjectKind::Trigger, ""), [""; 0]);
}

#[test]
fn users_change_a_view_as_they_may() {
    let mut house = priced();
    run(
        &mut house,
        &[
            "EXECUTE PROCEDURE sp_CreateUser( 'ann', 'secret', 'A clerk' )",
            "GRANT INSERT ON prices TO ann",
            "EXECUTE PROCEDURE sp_ModifyDatabase( 'ADMIN_PASSWORD', 'boss' )",
            "EXECUTE PROCEDURE sp_ModifyDatabase( 'VERIFY_ACCESS_RIGHTS', 'TRUE' )",
        ],
    );
    let login = ("ann", "secret");
    let mut ann = Connection::open_dictionary_as(house.file(), login, false, &house.settings).unwrap();
    let mut execute = |sql: &str| ann.execute(sql, &[], &house.settings, &house.options);
    execute("INSERT INTO prices ( [what is sold], cents ) VALUES ( 'fig', 700 )").unwrap();
    for sql in [
        "UPDATE prices SET cents = 0",
        "DELETE FROM prices",
        "SELECT * FROM prices",
    ] {
        let error = execute(sql).unwrap_err().to_string();
        assert!(error.contains("NativeError = 70"), "{sql}: {error}");
    }
    assert_eq!(goods(&mut house), ["apple|3|red", "pear|5|", "fig|7|none"]);
}
