//! What clients ask of a dictionary: its keys, relations and procedures.

use super::*;
use tidemill_ads::FieldType;

#[test]
fn the_primary_key_is_that_of_the_dictionary() {
    let mut house = House::with_relations(RelationRule::Cascade, RelationRule::Restrict);
    let sql = "SELECT TABLE_CAT = DATABASE() AS c, TABLE_SCHEM, TABLE_NAME, COLUMN_NAME, KEY_SEQ, PK_NAME
        FROM (EXECUTE PROCEDURE sp_GetPrimaryKeys( NULL, NULL, NULL )) k";
    assert_eq!(house.rows(sql), ["T||towns|code|1|CODE"]);
    assert_eq!(
        house.rows("EXECUTE PROCEDURE sp_GetPrimaryKeys( NULL, NULL, 'Staff' )"),
        [""; 0]
    );
    let sql =
        "SELECT COLUMN_NAME FROM (EXECUTE PROCEDURE sp_GetBestRowIdentifier( NULL, NULL, 'TOWNS', NULL, FALSE )) b";
    assert_eq!(house.rows(sql), ["code"]);
    let sql = "SELECT name, Table_Primary_Key FROM system.tables ORDER BY 1";
    assert_eq!(house.rows(sql), ["Staff|", "towns|CODE"]);
}

#[test]
fn relations_are_foreign_keys() {
    use RelationRule::{Cascade, Restrict, SetDefault, SetNull};
    for (on_update, on_delete, imported, of_data) in
        [(Cascade, Restrict, "0|3", "1|0"), (SetNull, SetDefault, "2|4", "2|3")]
    {
        let mut house = House::with_relations(on_update, on_delete);
        let columns = "PKTABLE_NAME, PKCOLUMN_NAME, FKTABLE_NAME, FKCOLUMN_NAME, KEY_SEQ, UPDATE_RULE, DELETE_RULE, FK_NAME, PK_NAME";
        let sql = format!(
            "SELECT {columns}, DEFERRABILITY FROM (EXECUTE PROCEDURE sp_GetImportedKeys( DATABASE(), NULL, 'staff' )) k"
        );
        assert_eq!(
            house.rows(&sql),
            [format!("towns|code|Staff|town|1|{imported}|TOWN|CODE|7")]
        );
        let mut columns_of = |arguments: &str| {
            house.rows(&format!(
                "SELECT {columns}, NAME, FKTABLE_CAT = DATABASE() AS c
                 FROM (EXECUTE PROCEDURE sp_GetForeignKeyColumns( {arguments} )) k"
            ))
        };
        let expected = format!("towns|code|Staff|town|0|{of_data}|TOWN|CODE|lives in|T");
        for arguments in ["NULL, NULL, NULL, NULL", "NULL, NULL, 'S%', 'LIVES IN'"] {
            assert_eq!(columns_of(arguments), [expected.as_str()], "{arguments}");
        }
        for arguments in ["NULL, NULL, 'towns', NULL", "NULL, NULL, NULL, 'dies in'"] {
            assert_eq!(columns_of(arguments), [""; 0], "{arguments}");
        }
    }
}

#[test]
fn procedures_are_told_with_what_they_take_and_give() {
    let mut house = House::with_tables();
    for sql in [
        "CREATE PROCEDURE found ( letter CHAR(1), most NUMERIC(8,2), code CHAR(4) OUTPUT, n INTEGER OUTPUT )
         BEGIN INSERT INTO __output SELECT code, 1 FROM towns; END",
        "CREATE PROCEDURE burn ( ) BEGIN DELETE FROM towns; END",
    ] {
        house.execute(sql).unwrap();
    }
    let sql = "SELECT PROCEDURE_NAME, PROCEDURE_TYPE FROM (EXECUTE PROCEDURE sp_GetProcedures( NULL, NULL, NULL )) p";
    assert_eq!(house.rows(sql), ["burn|1", "found|2"]);
    let mut columns = |arguments: &str| {
        house.rows(&format!(
            "SELECT PROCEDURE_NAME, COLUMN_NAME, COLUMN_TYPE, DATA_TYPE, TYPE_NAME, PRECISION, LENGTH, SCALE, RADIX, NULLABLE
             FROM (EXECUTE PROCEDURE sp_getProcedureColumns( {arguments} )) p"
        ))
    };
    assert_eq!(
        columns("NULL, NULL, 'f%', NULL"),
        [
            "found|letter|1|1|CHAR|1|1|||1",
            "found|most|1|2|NUMERIC|8|8|2|10|1",
            "found|code|3|1|CHAR|4|4|||1",
            "found|n|3|4|INTEGER|4|4|0|10|1",
        ]
    );
    assert_eq!(columns("NULL, NULL, NULL, 'C%'"), ["found|code|3|1|CHAR|4|4|||1"]);
    assert_eq!(columns("NULL, NULL, 'burn', NULL"), [""; 0]);
}

/// `Advantage.Data.Provider` takes these out of their boxes as `short` and `bool`.
#[test]
fn small_numbers_are_short_integers() {
    let mut house = House::with_tables();
    for (sql, expected) in [
        (
            "EXECUTE PROCEDURE sp_GetForeignKeyColumns( NULL, NULL, NULL, NULL )",
            &[("KEY_SEQ", FieldType::ShortInteger), ("NAME", FieldType::String)][..],
        ),
        (
            "EXECUTE PROCEDURE sp_GetProcedureColumns( NULL, NULL, NULL, NULL )",
            &[("COLUMN_TYPE", FieldType::ShortInteger), ("LENGTH", FieldType::Integer)],
        ),
        (
            "EXECUTE PROCEDURE sp_GetIndexInfo( NULL, NULL, 'towns', FALSE, FALSE )",
            &[("TYPE", FieldType::ShortInteger), ("NON_UNIQUE", FieldType::Logical)],
        ),
    ] {
        let Executed::Cursor(id) = house.execute(sql).unwrap() else {
            panic!("{sql}: no rows")
        };
        let area = house.connection.area(id).unwrap();
        for (name, field_type) in expected {
            let column = area.column_named(name).unwrap();
            assert_eq!(area.field_type(column).unwrap(), *field_type, "{sql}: {name}");
        }
        house.connection.close_table(id).unwrap();
    }
}

#[test]
fn a_link_is_another_catalogue() {
    let mut house = House::with_relations(RelationRule::Cascade, RelationRule::Cascade);
    let path = house.file().display().to_string();
    let sql = format!("EXECUTE PROCEDURE sp_CreateLink( 'mirror', '{path}', TRUE, TRUE, FALSE, 'ADSSYS', '' )");
    house.execute(&sql).unwrap();
    assert_eq!(
        house.rows("EXECUTE PROCEDURE sp_GetPrimaryKeys( 'mirror', NULL, 'towns' )"),
        [""; 0]
    );
}

#[test]
fn the_dictionary_is_one_row() {
    let mut house = House::with_tables();
    let columns = "Comment, Log_In_Required, Verify_Access_Rights, Logins_Disabled, Default_Table_Path, Version_Major";
    let sql = format!("SELECT {columns} FROM system.dictionary");
    assert_eq!(house.rows(&sql), ["A house|F|F|F|.\\|"]);
    for (property, value) in [
        (DatabaseProperty::Comment, text("A big house")),
        (DatabaseProperty::LogInRequired, PropertyValue::Short(1)),
        (DatabaseProperty::VersionMajor, PropertyValue::Short(7)),
    ] {
        let settings = house.settings.clone();
        house
            .connection
            .set_database_property(property, &value, &settings)
            .unwrap();
    }
    assert_eq!(house.rows(&sql), ["A big house|T|F|F|.\\|7"]);
    assert_eq!(house.rows("SELECT COUNT(*) FROM system.dictionary"), ["1"]);
}
