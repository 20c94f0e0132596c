//! Relations of a dictionary: what changes of one table do to another.

use super::*;

impl House {
    /// Towns that people live in, and the boss that each person has.
    pub(super) fn with_relations(on_update: RelationRule, on_delete: RelationRule) -> Self {
        let mut house = Self::with_tables();
        house.set_table("towns", TableProperty::PrimaryKey, "code").unwrap();
        for sql in [
            "INSERT INTO towns VALUES ( 'A', 'Aachen' ), ( 'B', 'Brno' ), ( 'Z', 'Zell' )",
            "INSERT INTO staff ( [last name], town ) VALUES ( 'Novak', 'A' ), ( 'Moss', 'A' ), ( 'Hill', 'B' ), ( 'Rich', NULL )",
        ] {
            house.execute(sql).unwrap();
        }
        house.relate("lives in", on_update, on_delete).unwrap();
        house
    }

    pub(super) fn relate(&mut self, name: &str, on_update: RelationRule, on_delete: RelationRule) -> Result<(), Error> {
        let relation = NewRelation {
            name,
            parent: "towns",
            parent_order: "",
            child: "staff",
            child_order: "TOWN",
            on_update,
            on_delete,
            no_parent: "No such town",
            no_cascade: "",
        };
        self.connection.create_relation(&relation, &self.settings)
    }

    /// Who lives where.
    pub(super) fn where_they_live(&mut self) -> String {
        self.rows("SELECT TRIM([last name]) + ':' + IFNULL(town, '-') AS x FROM staff ORDER BY id")
            .join(" ")
    }
}

#[test]
fn statements_keep_relations() {
    use RelationRule::{Cascade, Restrict, SetDefault, SetNull};
    let before = "Novak:A Moss:A Hill:B Rich:-";
    for (on_update, on_delete, updated, deleted) in [
        (Cascade, Cascade, "Novak:C Moss:C Hill:B Rich:-", "Hill:B Rich:-"),
        (Restrict, Restrict, "", ""),
        (
            SetNull,
            SetNull,
            "Novak:- Moss:- Hill:B Rich:-",
            "Novak:- Moss:- Hill:B Rich:-",
        ),
        (
            SetDefault,
            SetDefault,
            "Novak:Z Moss:Z Hill:B Rich:-",
            "Novak:Z Moss:Z Hill:B Rich:-",
        ),
        (Cascade, Restrict, "Novak:C Moss:C Hill:B Rich:-", ""),
    ] {
        for (sql, expected) in [
            ("UPDATE towns SET code = 'C' WHERE code = 'A'", updated),
            ("DELETE FROM towns WHERE code = 'A'", deleted),
        ] {
            let mut house = House::with_relations(on_update, on_delete);
            house
                .set_field(("staff", "town"), FieldProperty::DefaultValue, &text("'Z'"))
                .unwrap();
            match expected {
                "" => {
                    let error = house.execute(sql).unwrap_err().to_string();
                    assert!(
                        error.contains("NativeError = 5141") && error.contains("lives in"),
                        "{error}"
                    );
                    assert_eq!(house.where_they_live(), before, "{sql}");
                    assert_eq!(house.rows("SELECT COUNT(*) AS n FROM towns WHERE code = 'A'"), ["1"]);
                }
                expected => {
                    house.execute(sql).unwrap();
                    assert_eq!(house.where_they_live(), expected, "{on_update:?} {on_delete:?} {sql}");
                }
            }
            // What others refer to nobody refers to, and names that stay are no change.
            house
                .execute("UPDATE towns SET name = 'Berlin' WHERE code = 'B'")
                .unwrap();
            house.execute("INSERT INTO towns VALUES ( 'N', 'new' )").unwrap();
            house.execute("DELETE FROM towns WHERE code = 'N'").unwrap();
            for sql in [
                "INSERT INTO staff ( [last name], town ) VALUES ( 'Lost', 'X' )",
                "INSERT INTO staff ( [last name], town ) SELECT 'Lost', 'X' FROM system.iota",
                "UPDATE staff SET town = 'X' WHERE [last name] = 'Hill'",
            ] {
                let error = house.execute(sql).unwrap_err().to_string();
                assert!(
                    error.contains("NativeError = 5139") && error.contains("No such town"),
                    "{sql}: {error}"
                );
            }
            house
                .execute("UPDATE staff SET town = NULL WHERE [last name] = 'Hill'")
                .unwrap();
        }
    }
}

#[test]
fn a_change_and_what_follows_from_it_are_one() {
    let mut house = House::with_relations(RelationRule::Cascade, RelationRule::Cascade);
    // A rule of the child refuses what the parent asks of it.
    house
        .set_field(("staff", "town"), FieldProperty::Maximum, &text("'M'"))
        .unwrap();
    let before = "Novak:A Moss:A Hill:B Rich:-";
    let error = house
        .execute("UPDATE towns SET code = 'Q' WHERE code = 'A'")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("NativeError = 5142") && error.contains("lives in"),
        "{error}"
    );
    assert_eq!(house.where_they_live(), before);
    assert_eq!(house.rows("SELECT code FROM towns ORDER BY code"), ["A", "B", "Z"]);
    // A program's transaction takes back both, and goes on with the same tables.
    for sql in [
        "BEGIN TRANSACTION",
        "DELETE FROM towns WHERE code = 'A'",
        "INSERT INTO staff ( [last name], town ) VALUES ( 'Good', 'B' )",
        "UPDATE towns SET code = 'E' WHERE code = 'B'",
    ] {
        house.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    assert_eq!(house.where_they_live(), "Hill:E Rich:- Good:E");
    house.execute("ROLLBACK WORK").unwrap();
    assert_eq!(house.where_they_live(), before);
    // So do record functions, outside of transactions too.
    let settings = house.settings.clone();
    let towns = house.open("towns");
    house.connection.go_top(towns, None, &settings).unwrap();
    let area = house.connection.area(towns).unwrap();
    let code = area.field_named("code").unwrap();
    area.set_text(code, b"Q", &settings).unwrap();
    assert_eq!(area.write_record().unwrap_err().code(), ErrorCode::RiCascade);
    area.cancel_update().unwrap();
    area.set_text(code, b"D", &settings).unwrap();
    area.write_record().unwrap();
    let staff = house.open("staff");
    let area = house.connection.area(staff).unwrap();
    area.append_record().unwrap();
    let [name, town] = ["last name", "town"].map(|field| area.field_named(field).unwrap());
    area.set_text(name, b"New", &settings).unwrap();
    area.set_text(town, b"A", &settings).unwrap();
    let error = area.write_record().unwrap_err();
    assert_eq!(error.code(), ErrorCode::NoPrimaryKeyExists, "{error}");
    area.set_text(town, b"D", &settings).unwrap();
    area.write_record().unwrap();
    house.connection.begin_transaction(&settings).unwrap();
    house.connection.go_top(towns, None, &settings).unwrap();
    let area = house.connection.area(towns).unwrap();
    area.set_deleted(true).unwrap();
    area.write_record().unwrap();
    house.connection.rollback_transaction().unwrap();
    house.connection.close_all().unwrap();
    assert_eq!(house.where_they_live(), "Novak:D Moss:D Hill:B Rich:- New:D");
    let mut another = house.another();
    another
        .execute("DELETE FROM towns WHERE code = 'D'", &[], &settings, &house.options)
        .unwrap();
    assert_eq!(house.where_they_live(), "Hill:B Rich:-");
}

#[test]
fn a_table_refers_to_itself() {
    let mut house = House::new();
    let mut free = Connection::open(house.folder.path()).unwrap();
    for sql in [
        "CREATE TABLE parts ( id Integer, whole Integer )",
        "CREATE UNIQUE INDEX id ON parts ( id )",
        "CREATE INDEX whole ON parts ( whole )",
        "INSERT INTO parts VALUES ( 1, NULL ), ( 2, 1 ), ( 3, 2 ), ( 4, 2 ), ( 5, 5 ), ( 6, 3 )",
    ] {
        free.execute(sql, &[], &house.settings, &house.options).unwrap();
    }
    free.end_transactions().unwrap();
    drop(free);
    house.add("parts", "parts").unwrap();
    house.set_table("parts", TableProperty::PrimaryKey, "id").unwrap();
    let sql = "EXECUTE PROCEDURE sp_CreateReferentialIntegrity( 'part of', 'parts', 'parts', 'whole', 1, 1, NULL, NULL, NULL )";
    house.execute(sql).unwrap();
    let all = "SELECT id, whole FROM parts ORDER BY id";
    house.execute("INSERT INTO parts VALUES ( 7, 7 ), ( 8, 7 )").unwrap();
    house.execute("INSERT INTO parts VALUES ( 9, 10 )").unwrap_err();
    house.execute("UPDATE parts SET id = 20 WHERE id = 2").unwrap();
    assert_eq!(
        house.rows(all),
        ["1|", "3|20", "4|20", "5|5", "6|3", "7|7", "8|7", "20|1"]
    );
    house.execute("DELETE FROM parts WHERE id = 1").unwrap();
    assert_eq!(house.rows(all), ["5|5", "7|7", "8|7"]);
    house.execute("DELETE FROM parts WHERE id = 7").unwrap();
    assert_eq!(house.rows(all), ["5|5"]);
    house
        .execute("EXECUTE PROCEDURE sp_DropReferentialIntegrity( 'part of' )")
        .unwrap();
    house.execute("INSERT INTO parts VALUES ( 9, 10 )").unwrap();
}

#[test]
fn relations_that_cannot_be_are_refused() {
    use RelationRule::{Cascade, Restrict};
    let mut house = House::with_tables();
    let relate = |house: &mut House, name| house.relate(name, Cascade, Restrict).map_err(|error| error.code());
    assert_eq!(relate(&mut house, "a"), Err(ErrorCode::RiFailed));
    house.set_table("towns", TableProperty::PrimaryKey, "code").unwrap();
    house.execute("INSERT INTO staff ( town ) VALUES ( 'X' )").unwrap();
    assert_eq!(relate(&mut house, "a"), Err(ErrorCode::RiFailed));
    house.execute("UPDATE staff SET town = NULL").unwrap();
    assert_eq!(relate(&mut house, "a"), Ok(()));
    assert_eq!(relate(&mut house, "A"), Err(ErrorCode::RiRuleExists));
    assert_eq!(house.names(ObjectKind::Relation, ""), ["a"]);
    let mut another = house.another();
    for (property, value) in [
        (501, text("towns")),
        (502, text("CODE")),
        (503, text("Staff")),
        (504, text("TOWN")),
        (505, PropertyValue::Short(1)),
        (506, PropertyValue::Short(2)),
        (507, text("No such town")),
    ] {
        assert_eq!(another.relation_property("a", property).unwrap(), value, "{property}");
    }
    assert_eq!(
        another.relation_property("a", 508).unwrap_err().code(),
        ErrorCode::PropertyNotSet
    );
    let parent = another.table_property("towns", TableProperty::IsParent).unwrap();
    assert_eq!(parent, PropertyValue::Short(1));
    let removed = house
        .connection
        .remove_dictionary_table("towns", false, &house.settings);
    assert_eq!(removed.unwrap_err().code(), ErrorCode::DdRequestNotCompleted);
    house.connection.drop_relation("a", &house.settings).unwrap();
    house.execute("INSERT INTO staff ( town ) VALUES ( 'X' )").unwrap();
    house
        .connection
        .remove_dictionary_table("towns", false, &house.settings)
        .unwrap();
}

#[test]
fn system_tables_tell_of_rules_and_relations() {
    let mut house = House::with_relations(RelationRule::Cascade, RelationRule::SetNull);
    house
        .set_field(("staff", "town"), FieldProperty::DefaultValue, &text("'A'"))
        .unwrap();
    house
        .set_field(("staff", "pay"), FieldProperty::Maximum, &text("99"))
        .unwrap();
    house
        .set_field(("staff", "pay"), FieldProperty::CanBeNull, &PropertyValue::Short(0))
        .unwrap();
    let relations = "SELECT name, RI_Primary_Table, RI_Primary_Index, RI_Foreign_Table, RI_Foreign_Index, RI_UpdateRule, \
                     RI_DeleteRule, RI_No_Pkey_Error FROM system.relations";
    assert_eq!(
        house.rows(relations),
        ["lives in|towns|CODE|Staff|TOWN|1|3|No such town"]
    );
    let columns = "SELECT name, Field_Max_Value, Field_Default_Value, Field_Can_Be_Null FROM system.columns \
                   WHERE parent = 'Staff' AND ( name = 'pay' OR name = 'town' )";
    assert_eq!(house.rows(columns), ["town||'A'|T", "pay|99||F"]);
    let mut free = Connection::open(house.folder.path()).unwrap();
    let count = free.execute(
        "SELECT name FROM system.relations",
        &[],
        &house.settings,
        &house.options,
    );
    assert!(matches!(count, Ok(Executed::Cursor(_))));
}
