//! Index files and orders of a dictionary's tables, tables with other names and in other folders, and files that are made anew.

use super::*;

/// The properties of an index file or an order, as `ace.h` numbers them.
const INDEX_FILE_NAME: u16 = 400;
const INDEX_EXPRESSION: u16 = 401;
const INDEX_CONDITION: u16 = 402;
const INDEX_OPTIONS: u16 = 403;
const INDEX_KEY_LENGTH: u16 = 404;
const INDEX_KEY_TYPE: u16 = 405;
const INDEX_FILE_PAGE: u16 = 901;
const INDEX_FILE_RELATIVE_PATH: u16 = 902;

impl House {
    /// With an index file `extra.adi` of `people` that the dictionary does not know, beside the one that opens by itself.
    fn with_extra_index() -> Self {
        let house = Self::with_tables();
        let mut other = Connection::open_dictionary(house.file(), false, &house.settings).unwrap();
        let options = TableOptions::default().exclusive();
        let area = other.open_table("staff", &options, &house.settings).unwrap();
        let index = house.folder.path().join("extra.adi");
        let order = tidemill_ads::IndexOptions::default();
        let area = other.area(area).unwrap();
        for (name, expression, condition) in [("BORN", "born", None), ("PAID", "pay", Some("pay > 0"))] {
            area.create_index(Some(&index), name, expression, condition, &order, &house.settings)
                .unwrap();
        }
        house
    }

    fn orders(&mut self, table: &str) -> Vec<String> {
        let id = self.open(table);
        let area = self.connection.area(id).unwrap();
        let orders = area.orders().collect::<Vec<_>>().into_iter();
        let names = orders.map(|order| area.order_tag(order).unwrap().name).collect();
        self.connection.close_table(id).unwrap();
        names
    }

    fn has_file(&self, name: &str) -> bool {
        self.folder.path().join(name).is_file()
    }

    fn code(&mut self, sql: &str) -> ErrorCode {
        let error = self.execute(sql).unwrap_err();
        let said = error.to_string();
        for code in [
            ErrorCode::InvalidObjectName,
            ErrorCode::DdRequestNotCompleted,
            ErrorCode::IndexAlreadyOpen,
            ErrorCode::InvalidPath,
            ErrorCode::InvalidObjectType,
            ErrorCode::InvalidOption,
            ErrorCode::InvalidPropertyId,
            ErrorCode::PermissionDenied,
            ErrorCode::FileInUse,
        ] {
            if error.code() == code || said.contains(&format!("NativeError = {}", code.number())) {
                return code;
            }
        }
        panic!("{sql}: {error:?}")
    }
}

#[test]
fn index_files_are_taken_in_and_let_go() {
    let mut house = House::with_extra_index();
    assert_eq!(house.orders("staff"), ["ID", "TOWN"]);
    house
        .execute("EXECUTE PROCEDURE sp_AddIndexFileToDatabase( 'staff', 'extra', 'by day' )")
        .unwrap();
    assert_eq!(house.orders("staff"), ["ID", "TOWN", "BORN", "PAID"]);
    assert_eq!(house.names(ObjectKind::IndexFile, "staff"), ["people.adi", "extra.adi"]);
    assert_eq!(house.names(ObjectKind::Index, "staff"), ["ID", "TOWN", "BORN", "PAID"]);
    let elsewhere = tempfile::tempdir().unwrap();
    let outside = elsewhere.path().join("extra.adi");
    std::fs::copy(house.folder.path().join("extra.adi"), &outside).unwrap();
    let outside = format!("sp_AddIndexFileToDatabase( 'staff', '{}', NULL )", outside.display());
    for (sql, code) in [
        (
            "sp_AddIndexFileToDatabase( 'staff', 'extra.adi', NULL )",
            ErrorCode::IndexAlreadyOpen,
        ),
        (
            "sp_AddIndexFileToDatabase( 'nobody', 'extra.adi', NULL )",
            ErrorCode::InvalidObjectName,
        ),
        (&outside, ErrorCode::InvalidPath),
        (
            "sp_RemoveIndexFile( 'staff', 'none.adi', FALSE )",
            ErrorCode::InvalidObjectName,
        ),
        // It would open all the same.
        (
            "sp_RemoveIndexFile( 'staff', 'people.adi', FALSE )",
            ErrorCode::DdRequestNotCompleted,
        ),
    ] {
        assert_eq!(house.code(&format!("EXECUTE PROCEDURE {sql}")), code, "{sql}");
    }
    house
        .execute("EXECUTE PROCEDURE sp_RemoveIndexFile( 'staff', 'EXTRA.adi', FALSE )")
        .unwrap();
    assert_eq!(house.orders("staff"), ["ID", "TOWN"]);
    assert_eq!(house.names(ObjectKind::Index, "staff"), ["ID", "TOWN"]);
    assert!(house.has_file("extra.adi"));
    house
        .connection
        .add_index_file("staff", "extra.adi", "", &house.settings)
        .unwrap();
    house
        .execute("EXECUTE PROCEDURE sp_RemoveIndexFile( 'staff', 'extra.adi', TRUE )")
        .unwrap();
    assert!(!house.has_file("extra.adi"));
    house
        .execute("EXECUTE PROCEDURE sp_RemoveIndexFile( 'staff', 'people.adi', TRUE )")
        .unwrap();
    assert!(!house.has_file("people.adi"));
    assert_eq!(house.orders("staff"), [""; 0]);
    assert_eq!(house.names(ObjectKind::Index, "staff"), [""; 0]);
}

#[test]
fn orders_tell_their_properties() {
    let mut house = House::with_extra_index();
    let settings = house.settings.clone();
    house
        .connection
        .add_index_file("staff", "extra.adi", "by day", &settings)
        .unwrap();
    let mut other = house.another();
    for (order, property, expected) in [
        ("paid", INDEX_FILE_NAME, Some(text("extra.adi"))),
        ("paid", INDEX_EXPRESSION, Some(text("pay"))),
        ("paid", INDEX_CONDITION, Some(text("pay > 0"))),
        ("born", INDEX_CONDITION, None),
        ("id", INDEX_OPTIONS, Some(PropertyValue::Long(3))),
        ("town", INDEX_OPTIONS, Some(PropertyValue::Long(2))),
        ("town", INDEX_KEY_LENGTH, Some(PropertyValue::Short(4))),
        ("town", INDEX_KEY_TYPE, Some(PropertyValue::Short(4))),
        ("id", INDEX_KEY_TYPE, Some(PropertyValue::Short(2))),
        ("born", INDEX_KEY_TYPE, Some(PropertyValue::Short(3))),
        ("born", 1, None),
    ] {
        match (other.index_property("STAFF", order, property, &settings), expected) {
            (Ok(found), Some(expected)) => assert_eq!(found, expected, "{order} {property}"),
            (found, None) => assert_eq!(
                found.unwrap_err().code(),
                ErrorCode::PropertyNotSet,
                "{order} {property}"
            ),
            (Err(error), _) => panic!("{order} {property}: {error}"),
        }
    }
    let file = |other: &mut Connection, property| other.index_file_property("staff", "extra.adi", property).unwrap();
    assert_eq!(file(&mut other, 1), text("by day"));
    assert_eq!(file(&mut other, INDEX_FILE_PAGE), PropertyValue::Long(512));
    assert_eq!(file(&mut other, INDEX_FILE_RELATIVE_PATH), text(".\\extra.adi"));
    house
        .execute("EXECUTE PROCEDURE sp_ModifyIndexProperty( 'staff', 'born', 'COMMENT', 'the old ones first' )")
        .unwrap();
    assert_eq!(
        other.index_property("staff", "born", 1, &settings).unwrap(),
        text("the old ones first")
    );
    for (order, property, code) in [
        ("none", 1, ErrorCode::InvalidObjectName),
        ("born", INDEX_EXPRESSION, ErrorCode::InvalidPropertyId),
    ] {
        let set = house
            .connection
            .set_index_property("staff", order, property, &text("x"), &settings);
        assert_eq!(set.unwrap_err().code(), code, "{order}");
    }
}

#[test]
fn orders_are_dropped_unless_something_needs_them() {
    let mut house = House::with_tables();
    let settings = house.settings.clone();
    house.set_table("towns", TableProperty::PrimaryKey, "code").unwrap();
    let relation = NewRelation {
        name: "lives in",
        parent: "towns",
        parent_order: "",
        child: "staff",
        child_order: "TOWN",
        on_update: RelationRule::Cascade,
        on_delete: RelationRule::Restrict,
        no_parent: "",
        no_cascade: "",
    };
    house.connection.create_relation(&relation, &settings).unwrap();
    for (table, order) in [("towns", "code"), ("staff", "town")] {
        let dropped = house.connection.delete_dictionary_index(table, order, &settings);
        assert_eq!(dropped.unwrap_err().code(), ErrorCode::DdRequestNotCompleted, "{order}");
    }
    let file = house
        .connection
        .remove_index_file("towns", "towns.adi", true, &settings);
    assert_eq!(file.unwrap_err().code(), ErrorCode::DdRequestNotCompleted);
    let id = house.open("staff");
    let held = house.connection.delete_dictionary_index("staff", "id", &settings);
    assert_eq!(held.unwrap_err().code(), ErrorCode::FileInUse);
    house.connection.close_table(id).unwrap();
    house
        .connection
        .delete_dictionary_index("staff", "id", &settings)
        .unwrap();
    assert_eq!(house.orders("staff"), ["TOWN"]);
    assert_eq!(house.names(ObjectKind::Index, "staff"), ["TOWN"]);
    house.connection.drop_relation("lives in", &settings).unwrap();
    house
        .connection
        .delete_dictionary_index("staff", "town", &settings)
        .unwrap();
    assert!(!house.has_file("people.adi"));
    assert_eq!(house.names(ObjectKind::IndexFile, "staff"), [""; 0]);
    let gone = house.connection.delete_dictionary_index("staff", "town", &settings);
    assert_eq!(gone.unwrap_err().code(), ErrorCode::InvalidObjectName);
}

#[test]
fn objects_get_other_names() {
    let mut house = House::with_extra_index();
    house
        .connection
        .add_index_file("staff", "extra.adi", "", &house.settings)
        .unwrap();
    house
        .execute("INSERT INTO staff ( [last name], note ) VALUES ( 'Novak', 'long' )")
        .unwrap();
    house.execute("CREATE VIEW everybody AS SELECT * FROM towns").unwrap();
    house
        .execute("CREATE TRIGGER audit ON staff AFTER INSERT BEGIN INSERT INTO towns ( code ) VALUES ( 'X' ); END")
        .unwrap();
    house
        .execute("EXECUTE PROCEDURE sp_RenameDDObject( 'staff', 'crew', 1, 0 )")
        .unwrap();
    assert_eq!(house.names(ObjectKind::Table, ""), ["crew", "towns"]);
    assert_eq!(house.names(ObjectKind::IndexFile, "crew"), ["crew.adi", "extra.adi"]);
    for (file, is_there) in [
        ("people.adt", false),
        ("people.adm", false),
        ("people.adi", false),
        ("crew.adt", true),
        ("crew.adm", true),
        ("crew.adi", true),
        ("extra.adi", true),
    ] {
        assert_eq!(house.has_file(file), is_there, "{file}");
    }
    assert_eq!(house.orders("crew"), ["ID", "TOWN", "BORN", "PAID"]);
    assert_eq!(
        house.rows("SELECT TRIM([last name]) + note AS x FROM crew"),
        ["Novaklong"]
    );
    house
        .execute("EXECUTE PROCEDURE sp_RenameDDObject( 'crew', 'people/all', 1, 1 )")
        .unwrap();
    assert!(house.has_file("crew.adt"));
    for (sql, code) in [
        ("'towns', 'everybody', 1, 1", ErrorCode::InvalidObjectName),
        ("'towns', 'a/b', 1, 0", ErrorCode::InvalidObjectName),
        ("'none', 'b', 1, 0", ErrorCode::InvalidObjectName),
        ("'towns', 'crew', 1, 0", ErrorCode::DdRequestNotCompleted),
        ("'towns', 'b', 1, 2", ErrorCode::InvalidOption),
        ("'towns', 'b', 4, 0", ErrorCode::InvalidObjectType),
        ("'towns', 'b', 77, 0", ErrorCode::InvalidObjectType),
    ] {
        let found = house.code(&format!("EXECUTE PROCEDURE sp_RenameDDObject( {sql} )"));
        assert_eq!(found, code, "{sql}");
    }
    house
        .execute("EXECUTE PROCEDURE sp_RenameDDObject( 'everybody', 'all towns', 6, 0 )")
        .unwrap();
    house
        .execute("EXECUTE PROCEDURE sp_RenameDDObject( 'people/all::audit', 'people/all::note', 14, 0 )")
        .unwrap();
    assert_eq!(house.names(ObjectKind::View, ""), ["all towns"]);
    assert_eq!(house.names(ObjectKind::QualifiedTrigger, ""), ["people/all::note"]);
    house
        .execute("INSERT INTO [people/all] ( [last name] ) VALUES ( 'Moss' )")
        .unwrap();
    assert_eq!(house.rows("SELECT code FROM [all towns]"), ["X"]);
}

#[test]
fn files_of_tables_move() {
    let mut house = House::with_extra_index();
    house
        .connection
        .add_index_file("staff", "extra.adi", "", &house.settings)
        .unwrap();
    std::fs::create_dir(house.folder.path().join("there")).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let outside = elsewhere.path().display().to_string();
    for (arguments, code) in [
        (
            format!("1, 'staff', '{outside}', NULL, NULL, 0"),
            ErrorCode::InvalidPath,
        ),
        (
            "1, 'staff', 'nowhere', NULL, NULL, 0".to_owned(),
            ErrorCode::InvalidPath,
        ),
        (
            "1, 'staff', 'there', 'none.adi', NULL, 0".to_owned(),
            ErrorCode::InvalidObjectName,
        ),
        (
            "3, 'people.adi', 'there', NULL, 'staff', 0".to_owned(),
            ErrorCode::DdRequestNotCompleted,
        ),
        (
            "6, 'staff', 'there', NULL, NULL, 0".to_owned(),
            ErrorCode::InvalidObjectType,
        ),
        (
            "1, 'staff', 'there', NULL, NULL, 1".to_owned(),
            ErrorCode::InvalidOption,
        ),
    ] {
        let found = house.code(&format!("EXECUTE PROCEDURE sp_MoveDDObjectFile( {arguments} )"));
        assert_eq!(found, code, "{arguments}");
    }
    house
        .execute("EXECUTE PROCEDURE sp_MoveDDObjectFile( 3, 'extra.adi', 'there', NULL, 'staff', 0 )")
        .unwrap();
    assert!(house.has_file("there/extra.adi") && !house.has_file("extra.adi"));
    assert_eq!(house.orders("staff").len(), 4);
    house
        .execute("EXECUTE PROCEDURE sp_MoveDDObjectFile( 1, 'staff', 'there', NULL, NULL, 0 )")
        .unwrap();
    for file in ["people.adt", "people.adm", "people.adi"] {
        assert!(
            !house.has_file(file) && house.has_file(&format!("there/{file}")),
            "{file}"
        );
    }
    assert_eq!(house.orders("staff").len(), 4);
    house
        .execute("INSERT INTO staff ( [last name] ) VALUES ( 'Novak' )")
        .unwrap();
    assert_eq!(
        house
            .connection
            .table_property("staff", TableProperty::RelativePath)
            .unwrap(),
        text(".\\there\\people.adt")
    );
}

#[test]
fn files_that_are_gone_are_made_as_they_were() {
    let mut house = House::with_extra_index();
    let settings = house.settings.clone();
    house
        .connection
        .add_index_file("staff", "extra.adi", "", &settings)
        .unwrap();
    let there = house.connection.auto_create_table("staff", &settings);
    assert_eq!(there.unwrap_err().code(), ErrorCode::DdRequestNotCompleted);
    let there = house.connection.auto_create_index("staff", "extra.adi", &settings);
    assert_eq!(there.unwrap_err().code(), ErrorCode::IndexExists);
    let fields = |house: &House| {
        let table = Table::open(house.folder.path().join("people.adt"), &OpenOptions::new()).unwrap();
        let fields = table.fields().iter();
        let fields = fields.map(|field| (field.name.clone(), field.adt_type, field.width, field.decimals));
        (
            fields.collect::<Vec<_>>(),
            table.header().adt.clone().unwrap().dictionary,
        )
    };
    let before = fields(&house);
    std::fs::remove_file(house.folder.path().join("extra.adi")).unwrap();
    assert_eq!(house.orders("staff"), ["ID", "TOWN"]);
    house.connection.auto_create_index("staff", "PAID", &settings).unwrap();
    assert_eq!(house.orders("staff"), ["ID", "TOWN", "PAID"]);
    house
        .connection
        .auto_create_index("staff", "extra.adi", &settings)
        .unwrap();
    assert_eq!(house.orders("staff").len(), 4);
    for file in ["people.adt", "people.adm", "people.adi", "extra.adi"] {
        std::fs::remove_file(house.folder.path().join(file)).unwrap();
    }
    house.connection.close_all().unwrap();
    house.connection.auto_create_table("staff", &settings).unwrap();
    assert_eq!(fields(&house), before);
    assert_eq!(house.orders("staff").len(), 4);
    house
        .execute("INSERT INTO staff ( [last name], note ) VALUES ( 'Novak', 'x' )")
        .unwrap();
    assert_eq!(house.rows("SELECT id, note FROM staff"), ["1|x"]);
    let none = house.connection.auto_create_table("none", &settings);
    assert_eq!(none.unwrap_err().code(), ErrorCode::InvalidObjectName);
}

#[test]
fn orders_of_statements_are_objects() {
    let mut house = House::with_tables();
    house.execute("CREATE INDEX born ON staff ( born )").unwrap();
    assert_eq!(house.names(ObjectKind::Index, "staff"), ["ID", "TOWN", "BORN"]);
    assert_eq!(house.names(ObjectKind::IndexFile, "staff"), ["people.adi"]);
    house
        .execute("EXECUTE PROCEDURE sp_CreateIndex( 'staff', NULL, 'paid', 'pay', NULL, 0, 0 )")
        .unwrap();
    let settings = house.settings.clone();
    assert_eq!(
        house
            .another()
            .index_property("staff", "PAID", INDEX_EXPRESSION, &settings)
            .unwrap(),
        text("pay")
    );
    house.execute("DROP INDEX staff.born").unwrap();
    assert_eq!(house.names(ObjectKind::Index, "staff"), ["ID", "TOWN", "PAID"]);
    house.set_table("staff", TableProperty::PrimaryKey, "id").unwrap();
    assert_eq!(house.code("DROP INDEX staff.id"), ErrorCode::DdRequestNotCompleted);
    assert_eq!(house.orders("staff"), ["ID", "TOWN", "PAID"]);
    // A temporary table is none of the dictionary's.
    house.execute("SELECT * INTO #some FROM towns").unwrap();
    house.execute("CREATE INDEX name ON #some ( name )").unwrap();
}

#[test]
fn what_orders_are_is_told_to_who_may_know() {
    let mut house = House::with_tables();
    let settings = house.settings.clone();
    house.connection.create_user(("ann", "a"), "", "", &settings).unwrap();
    let verify = DatabaseProperty::VerifyAccessRights;
    house
        .connection
        .set_database_property(verify, &PropertyValue::Short(1), &settings)
        .unwrap();
    let mut ann = Connection::open_dictionary_as(house.file(), ("ann", "a"), false, &settings).unwrap();
    for property in [INDEX_EXPRESSION, INDEX_CONDITION, INDEX_OPTIONS] {
        let told = ann.index_property("staff", "id", property, &settings);
        assert_eq!(told.unwrap_err().code(), ErrorCode::PermissionDenied, "{property}");
    }
    ann.index_property("staff", "id", INDEX_KEY_LENGTH, &settings).unwrap();
    let page = |ann: &mut Connection| ann.index_file_property("staff", "people.adi", INDEX_FILE_PAGE);
    assert_eq!(page(&mut ann).unwrap_err().code(), ErrorCode::PermissionDenied);
    house
        .connection
        .set_rights(
            (ObjectKind::Table, "staff"),
            "ann",
            tidemill_ads::Rights::READ,
            true,
            &settings,
        )
        .unwrap();
    page(&mut ann).unwrap();
    for changed in [
        ann.add_index_file("staff", "x.adi", "", &settings),
        ann.remove_index_file("staff", "people.adi", true, &settings),
        ann.delete_dictionary_index("staff", "id", &settings),
        ann.set_index_property("staff", "id", 1, &text("x"), &settings),
        ann.auto_create_table("staff", &settings),
        ann.auto_create_index("staff", "id", &settings),
        ann.rename_object(ObjectKind::Table, "staff", "crew", false, &settings),
        ann.move_table_file("staff", ".", "", &settings),
        ann.move_index_file("staff", "people.adi", ".", &settings),
    ] {
        assert_eq!(changed.unwrap_err().code(), ErrorCode::PermissionDenied);
    }
}

#[test]
fn index_files_of_statements_open_with_their_table() {
    let mut house = House::with_tables();
    house
        .execute("CREATE INDEX born ON staff ( born ) IN FILE \"dates\"")
        .unwrap();
    assert_eq!(house.orders("staff"), ["ID", "TOWN", "BORN"]);
    house
        .execute("CREATE INDEX paid ON staff ( pay DESC, id ) IN FILE dates PAGESIZE 1024")
        .unwrap();
    house
        .execute("CREATE INDEX texts ON staff ( note ) CONTENT IN FILE 'words.adi' MIN WORD 2")
        .unwrap();
    house
        .execute("EXECUTE PROCEDURE sp_CreateIndex( 'staff', 'more', 'half', 'pay', 'pay > 0', 8, 512 )")
        .unwrap();
    house
        .execute("EXECUTE PROCEDURE sp_CreateIndex( 'staff', 'people.adi', 'own', 'pay', '', 0, 512 )")
        .unwrap();
    let files = ["people.adi", "dates.adi", "words.adi", "more.adi"];
    assert_eq!(house.names(ObjectKind::IndexFile, "staff"), files);
    assert!(files.iter().all(|file| house.has_file(file)));
    // The words are no order to walk by.
    assert_eq!(house.orders("staff"), ["ID", "TOWN", "OWN", "BORN", "PAID", "HALF"]);
    house
        .execute("INSERT INTO staff ( [last name], born, pay, note ) VALUES ( 'Novak', '2000-02-29', 5, 'some words' )")
        .unwrap();
    for condition in ["born = '2000-02-29'", "pay = 5", "CONTAINS( note, 'words' )"] {
        let sql = format!("SELECT [last name] FROM staff WHERE {condition}");
        assert_eq!(house.rows(&sql), ["Novak"], "{condition}");
    }
    // One of the same name takes the place of the other.
    house
        .execute("CREATE INDEX born ON staff ( born DESC ) IN FILE dates")
        .unwrap();
    assert_eq!(house.orders("staff").len(), 6);
    house.execute("DROP INDEX staff.paid").unwrap();
    assert!(!house.names(ObjectKind::Index, "staff").contains(&"PAID".to_owned()));
}

#[test]
fn index_files_that_nothing_would_open_are_refused() {
    let mut house = House::with_tables();
    house.execute("CREATE TABLE loose ( n INTEGER ) AS FREE TABLE").unwrap();
    for (sql, code) in [
        ("CREATE INDEX n ON loose ( n ) IN FILE more", 5042),
        ("CREATE INDEX born ON staff ( born ) IN FILE 'sub/more'", 5020),
        ("CREATE INDEX born ON staff ( nothing ) IN FILE more", 2121),
        ("CREATE INDEX born ON staff ( born ) IN more", 2115),
        ("CREATE INDEX born ON staff ( born, note ) CONTENT IN FILE more", 2208),
        (
            "EXECUTE PROCEDURE sp_CreateIndex( 'staff', '../more', 'half', 'pay', NULL, 0, 0 )",
            5020,
        ),
    ] {
        let error = house.execute(sql).expect_err(sql);
        let Error::Statement(error) = error else {
            panic!("{sql}: {error}")
        };
        assert_eq!(error.native_code(), code, "{sql}: {error}");
    }
    assert!(!house.has_file("more.adi"));
    assert_eq!(house.names(ObjectKind::IndexFile, "staff"), ["people.adi"]);
    // A procedure makes one of a free table, which a program opens itself.
    house
        .execute("EXECUTE PROCEDURE sp_CreateIndex( 'loose', 'more', 'n', 'n', NULL, 0, 0 )")
        .unwrap();
    let made = ["more.adi", "more.cdx"].iter().any(|file| house.has_file(file));
    assert!(made);
}
