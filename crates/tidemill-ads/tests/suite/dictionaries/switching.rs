//! Triggers and relations that are switched off and on, for whom and for how long.

use tidemill_ads::{TriggerEvent, TriggerScope};

use super::triggers::{journal, noted, refused, run};
use super::*;

/// What somebody else's changes note, one of each kind.
fn noted_by_another(house: &mut House) -> Vec<String> {
    let mut other = house.another();
    for sql in [
        "INSERT INTO goods ( name ) VALUES ( 'apple' )",
        "UPDATE goods SET name = 'pear'",
        "DELETE FROM goods",
    ] {
        other.execute(sql, &[], &house.settings, &house.options).unwrap();
    }
    drop(other);
    let rows = journal(house).into_iter();
    rows.map(|row| row.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
        .collect()
}

const ALL: [&str; 6] = [
    "BEFORE INSERT",
    "AFTER INSERT",
    "BEFORE UPDATE",
    "AFTER UPDATE",
    "BEFORE DELETE",
    "AFTER DELETE",
];

#[test]
fn triggers_are_switched_off_for_everybody() {
    let mut house = noted();
    for (object, off) in [
        ("NULL, NULL, TRUE", &ALL[..]),
        ("'goods', NULL, FALSE", &ALL),
        ("'AFTER_update', 'GOODS', FALSE", &ALL[3..4]),
        ("'journal', NULL, FALSE", &[]),
    ] {
        run(
            &mut house,
            &[&format!("EXECUTE PROCEDURE sp_DisableTriggers( {object}, 0 )")],
        );
        let left: Vec<&str> = ALL.into_iter().filter(|known| !off.contains(known)).collect();
        assert_eq!(noted_by_another(&mut house), left, "{object}");
        // The connection's own are no others.
        run(
            &mut house,
            &["INSERT INTO goods ( name ) VALUES ( 'plum' )", "DELETE FROM goods"],
        );
        assert_eq!(journal(&mut house).is_empty(), off == ALL, "{object}");
        run(
            &mut house,
            &[&format!("EXECUTE PROCEDURE sp_EnableTriggers( {object}, 0 )")],
        );
        assert_eq!(noted_by_another(&mut house), ALL, "{object}");
    }
}

#[test]
fn what_is_around_a_trigger_is_switched_first() {
    let mut house = noted();
    let settings = house.settings.clone();
    let table = TriggerScope::Table("goods");
    let one = TriggerScope::Trigger {
        table: "goods",
        name: "after_insert",
    };
    for (around, within) in [
        (TriggerScope::Database, table),
        (TriggerScope::Database, one),
        (table, one),
    ] {
        house.connection.switch_triggers(around, false, &settings).unwrap();
        for (is_on, code) in [
            (false, ErrorCode::UnableToDisableTriggers),
            (true, ErrorCode::UnableToEnableTriggers),
        ] {
            let error = house.connection.switch_triggers(within, is_on, &settings).unwrap_err();
            assert_eq!(error.code(), code, "{around:?} {within:?}");
        }
        house.connection.switch_triggers(around, true, &settings).unwrap();
        house.connection.switch_triggers(within, false, &settings).unwrap();
        house.connection.switch_triggers(within, true, &settings).unwrap();
    }
    for (object, parent) in [("none", ""), ("none", "goods"), ("after_insert", "none"), ("", "goods")] {
        let scope = TriggerScope::of(object, parent, false);
        let error = scope.and_then(|scope| house.connection.switch_triggers(scope, false, &settings));
        assert_eq!(
            error.unwrap_err().code(),
            ErrorCode::InvalidObjectName,
            "{object} {parent}"
        );
    }
    let error = refused(
        &mut house,
        "EXECUTE PROCEDURE sp_DisableTriggers( NULL, NULL, FALSE, 1 )",
    );
    assert!(error.contains("no option 1"), "{error}");
    run(
        &mut house,
        &[
            "CREATE TRIGGER sly ON journal BEFORE INSERT BEGIN EXECUTE PROCEDURE sp_DisableTriggers( NULL, NULL, FALSE, 0 ); END",
        ],
    );
    let error = refused(&mut house, "INSERT INTO journal ( what ) VALUES ( 'x' )");
    assert!(error.contains("switch no triggers"), "{error}");
}

#[test]
fn switches_are_properties_that_tell_where_they_stand() {
    let mut house = noted();
    let settings = house.settings.clone();
    let number = match house
        .connection
        .table_property("goods", TableProperty::ObjectId)
        .unwrap()
    {
        PropertyValue::Long(number) => number,
        other => panic!("{other:?}"),
    };
    let is_on = |house: &mut House| {
        let events = [TriggerEvent::Insert, TriggerEvent::Update];
        events.map(|event| house.connection.are_triggers_on(number, event).unwrap())
    };
    assert_eq!(is_on(&mut house), [true; 2]);
    let off = PropertyValue::Short(1);
    let database = DatabaseProperty::TriggersDisabled;
    house
        .connection
        .set_database_property(database, &off, &settings)
        .unwrap();
    assert_eq!(house.another().database_property(database).unwrap(), off);
    assert_eq!(is_on(&mut house), [false; 2]);
    run(
        &mut house,
        &["EXECUTE PROCEDURE sp_ModifyDatabase( 'TRIGGERS_DISABLED', 'FALSE' )"],
    );
    assert_eq!(
        house.another().database_property(database).unwrap(),
        PropertyValue::Short(0)
    );
    run(
        &mut house,
        &["EXECUTE PROCEDURE sp_ModifyTableProperty( 'goods', 'TRIGGERS_DISABLED', 'TRUE', NULL, NULL )"],
    );
    let table = TableProperty::TriggersDisabled;
    assert_eq!(house.another().table_property("goods", table).unwrap(), off);
    assert_eq!(is_on(&mut house), [false; 2]);
    run(
        &mut house,
        &["EXECUTE PROCEDURE sp_EnableTriggers( 'goods', NULL, FALSE, 0 )"],
    );
    for name in ["goods::before_insert", "goods::after_insert"] {
        house
            .connection
            .set_object_property(ObjectKind::Trigger, ("", name), 5, &off, &settings)
            .unwrap();
        let found = house.another().object_property(ObjectKind::Trigger, ("", name), 5);
        assert_eq!(found.unwrap(), off);
    }
    assert_eq!(is_on(&mut house), [false, true]);
    house
        .connection
        .switch_triggers(TriggerScope::Connection, false, &settings)
        .unwrap();
    assert_eq!(is_on(&mut house), [false; 2]);
    let none = house.connection.are_triggers_on(9999, TriggerEvent::Insert);
    assert_eq!(none.unwrap_err().code(), ErrorCode::InvalidObjectName);
}

#[test]
fn who_may_not_change_the_dictionary_switches_his_own_on_alone() {
    let mut house = noted();
    run(
        &mut house,
        &[
            "EXECUTE PROCEDURE sp_CreateUser( 'mary', 'm', NULL )",
            "EXECUTE PROCEDURE sp_ModifyDatabase( 'VERIFY_ACCESS_RIGHTS', 'TRUE' )",
        ],
    );
    let settings = house.settings.clone();
    let mut mary = Connection::open_dictionary_as(house.file(), ("mary", "m"), false, &settings).unwrap();
    for scope in [
        TriggerScope::Connection,
        TriggerScope::Database,
        TriggerScope::Table("goods"),
    ] {
        let error = mary.switch_triggers(scope, false, &settings).unwrap_err();
        assert_eq!(error.code(), ErrorCode::PermissionDenied, "{scope:?}");
    }
    mary.switch_triggers(TriggerScope::Connection, true, &settings).unwrap();
}

#[test]
fn what_triggers_have_open_is_closed_and_opened_again() {
    let mut house = noted();
    run(&mut house, &["INSERT INTO goods ( name ) VALUES ( 'apple' )"]);
    assert_eq!(journal(&mut house).len(), 2);
    house.connection.close_trigger_statements(0).unwrap();
    run(&mut house, &["DELETE FROM goods"]);
    assert_eq!(journal(&mut house).len(), 2);
    let none = house.connection.close_trigger_statements(9999);
    assert_eq!(none.unwrap_err().code(), ErrorCode::InvalidObjectName);
}

#[test]
fn relations_are_switched_off_for_a_connection() {
    let (cascade, restrict) = (RelationRule::Cascade, RelationRule::Restrict);
    let mut house = House::with_relations(cascade, restrict);
    let settings = house.settings.clone();
    let orphan = "INSERT INTO staff ( [last name], town ) VALUES ( 'Lost', 'Q' )";
    let broken = |house: &mut House| refused(house, orphan).contains("5139");
    assert!(broken(&mut house));
    house.connection.verify_relations(false, &settings).unwrap();
    let area = house.open("towns");
    house.connection.keep_relations(false, &settings).unwrap();
    run(&mut house, &[orphan]);
    // Through a table that was open before, neither carried on nor restricted.
    house.connection.go_top(area, None, &settings).unwrap();
    let towns = house.connection.area(area).unwrap();
    towns.set_text(0, b"C", &settings).unwrap();
    towns.write_record().unwrap();
    house.connection.close_table(area).unwrap();
    run(&mut house, &["DELETE FROM towns WHERE code = 'B'"]);
    assert_eq!(house.where_they_live(), "Novak:A Moss:A Hill:B Rich:- Lost:Q");
    // Others are not concerned.
    let mut other = house.another();
    let error = other.execute(orphan, &[], &settings, &house.options).unwrap_err();
    assert!(error.to_string().contains("5139"), "{error}");
    drop(other);
    house.connection.keep_relations(true, &settings).unwrap();
    assert!(broken(&mut house));
    for alone in [false, true] {
        let error = house.connection.verify_relations(alone, &settings).unwrap_err();
        assert_eq!(error.code(), ErrorCode::RiFailed);
        assert!(error.to_string().contains("lives in"), "{error}");
    }
    let area = house.open("staff");
    let error = house.connection.verify_relations(true, &settings).unwrap_err();
    assert_eq!(error.code(), ErrorCode::FileInUse);
    house.connection.close_table(area).unwrap();
    run(
        &mut house,
        &[
            "UPDATE staff SET town = 'C' WHERE town = 'A'",
            "DELETE FROM staff WHERE town <> 'C'",
        ],
    );
    house.connection.verify_relations(true, &settings).unwrap();
}

#[test]
fn changes_are_carried_on_to_a_table_whose_triggers_are_off() {
    let mut house = House::with_relations(RelationRule::Cascade, RelationRule::Cascade);
    run(
        &mut house,
        &["CREATE TRIGGER late ON staff AFTER UPDATE BEGIN DELETE FROM towns; END"],
    );
    let change = "UPDATE towns SET code = 'C' WHERE code = 'A'";
    assert!(refused(&mut house, change).contains("lives in"));
    run(
        &mut house,
        &[
            "EXECUTE PROCEDURE sp_DisableTriggers( 'staff', NULL, FALSE, 0 )",
            change,
        ],
    );
    assert_eq!(house.where_they_live(), "Novak:C Moss:C Hill:B Rich:-");
}

#[test]
fn relations_that_cannot_be_kept_let_nothing_pass_once_they_are_on() {
    let mut house = House::with_relations(RelationRule::Cascade, RelationRule::Cascade);
    let settings = house.settings.clone();
    run(
        &mut house,
        &["CREATE TRIGGER late ON staff AFTER UPDATE BEGIN DELETE FROM towns; END"],
    );
    house.connection.keep_relations(false, &settings).unwrap();
    let area = house.open("towns");
    let write = |house: &mut House, code: &[u8]| {
        house.connection.go_top(area, None, &settings)?;
        let towns = house.connection.area(area)?;
        towns.set_text(0, code, &settings)?;
        towns.write_record()
    };
    write(&mut house, b"C").unwrap();
    let error = house.connection.keep_relations(true, &settings).unwrap_err();
    assert_eq!(error.code(), ErrorCode::TableReadOnly);
    let error = write(&mut house, b"D").unwrap_err();
    assert!(error.to_string().contains("lives in"), "{error}");
    let _ = house.connection.area(area).unwrap().cancel_update();
}
