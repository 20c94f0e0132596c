//! Data dictionaries of our own: made, changed, and read again by others.

mod altering;
mod indexes;
mod links;
mod metadata;
mod packages;
mod procedures;
mod relations;
mod replication;
mod rules;
mod switching;
mod triggers;
mod users;
mod view_triggers;
mod views;

use std::path::PathBuf;

use tempfile::TempDir;
use tidemill_ads::sql::StatementOptions;
use tidemill_ads::{
    AreaId, Connection, DatabaseProperty, Error, ErrorCode, Executed, FieldProperty, NewRelation, NewTable, ObjectKind,
    PropertyValue, RelationRule, Settings, TableOptions, TableProperty, TableType, Validation,
};
use tidemill_xbase::{CodePage, OpenOptions, Scan, Table};

/// A folder with free tables and a dictionary of some of them.
struct House {
    folder: TempDir,
    connection: Connection,
    settings: Settings,
    options: StatementOptions,
}

/// The rows of a cursor, as texts. It is closed.
pub(crate) fn rows_of(connection: &mut Connection, id: AreaId, settings: &Settings) -> Vec<String> {
    let mut rows = Vec::new();
    connection.go_top(id, None, settings).unwrap();
    while !connection.area(id).unwrap().is_eof() {
        let area = connection.area(id).unwrap();
        let columns = 0..area.column_count();
        let values = columns.map(|column| {
            let field = area.column(column).unwrap();
            let text = area.text(field, settings).unwrap();
            String::from_utf8_lossy(&text).trim().to_owned()
        });
        rows.push(values.collect::<Vec<_>>().join("|"));
        connection.skip(id, None, 1, settings).unwrap();
    }
    connection.close_table(id).unwrap();
    rows
}

impl House {
    /// `people` (with two orders) and `towns`, and an empty dictionary.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings::default();
        let mut options = StatementOptions::default();
        options.table.table_type = TableType::Adt;
        let mut free = Connection::open(folder.path()).unwrap();
        for sql in [
            "CREATE TABLE people ( id AutoInc, [Last Name] CIChar(20), born Date, town Char(4), pay Money, note Memo )",
            "CREATE UNIQUE INDEX id ON people ( id )",
            "CREATE INDEX town ON people ( town )",
            "CREATE TABLE towns ( code Char(4), name Char(20) )",
            "CREATE UNIQUE INDEX code ON towns ( code )",
        ] {
            free.execute(sql, &[], &settings, &options).unwrap();
        }
        free.end_transactions().unwrap();
        let file = folder.path().join("house.add");
        let connection = Connection::create_dictionary(&file, "A house", &settings).unwrap();
        Self {
            folder,
            connection,
            settings,
            options,
        }
    }

    fn with_tables() -> Self {
        let mut house = Self::new();
        house.add("Staff", "people").unwrap();
        house.add("", "towns.adt").unwrap();
        house
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("house.add")
    }

    fn add(&mut self, name: &str, path: &str) -> Result<(), Error> {
        let table = NewTable {
            name,
            path,
            table_type: TableType::Adt,
            comment: "a table",
            ..NewTable::default()
        };
        self.connection.add_dictionary_table(&table, &self.settings)
    }

    fn execute(&mut self, sql: &str) -> Result<Executed, Error> {
        self.connection.execute(sql, &[], &self.settings, &self.options)
    }

    fn set_table(&mut self, table: &str, property: TableProperty, value: &str) -> Result<(), Error> {
        let rule = (property, Validation::None);
        self.connection
            .set_table_property(table, rule, &text(value), &self.settings)
    }

    fn set_field(&mut self, field: (&str, &str), property: FieldProperty, value: &PropertyValue) -> Result<(), Error> {
        let rule = (property, Validation::None);
        self.connection.set_field_property(field, rule, value, &self.settings)
    }

    fn open(&mut self, name: &str) -> AreaId {
        let options = TableOptions::default();
        self.connection.open_table(name, &options, &self.settings).unwrap()
    }

    /// The rows that a query answers, as texts.
    fn rows(&mut self, sql: &str) -> Vec<String> {
        let Executed::Cursor(id) = self.execute(sql).unwrap() else {
            panic!("{sql}: no rows")
        };
        rows_of(&mut self.connection, id, &self.settings)
    }

    /// A connection of somebody else.
    fn another(&self) -> Connection {
        Connection::open_dictionary(self.file(), false, &self.settings).unwrap()
    }

    fn names(&mut self, kind: ObjectKind, parent: &str) -> Vec<String> {
        self.another().dictionary_objects(kind, parent).unwrap()
    }
}

fn text(text: &str) -> PropertyValue {
    PropertyValue::Text(text.to_owned())
}

#[test]
fn a_dictionary_has_the_layout_that_is_known() {
    let mut house = House::with_tables();
    house.set_table("staff", TableProperty::PrimaryKey, "id").unwrap();
    house
        .set_field(("STAFF", "Born"), FieldProperty::CanBeNull, &PropertyValue::Short(0))
        .unwrap();

    let bytes = std::fs::read(house.file()).unwrap();
    assert_eq!(&bytes[..20], b"ADS Data Dictionary\0");
    assert_eq!(bytes[32..40], [0x98, 0x08, 0, 0, 0x0C, 0x02, 0, 0]);
    assert_eq!(bytes[88..90], [0x13, 0]);
    for (name, magic) in [
        ("house.am", &[0_u8; 2][..]),
        ("house.ai", &[2, 0, 0, 0, 0, 0, 0, 0][..]),
    ] {
        let bytes = std::fs::read(house.folder.path().join(name)).unwrap();
        assert!(bytes.starts_with(magic), "{name}: {:02x?}", &bytes[..16]);
    }
    let table = std::sync::Arc::new(Table::open(house.file(), &OpenOptions::new().codepage(CodePage::Cp1252)).unwrap());
    let mut objects = Vec::new();
    for batch in table.scan(Scan::new()).unwrap() {
        let batch = batch.unwrap();
        let shown = |column: usize, row| arrow_cast::display::array_value_to_string(batch.column(column), row).unwrap();
        for row in 0..batch.num_rows() {
            let list = shown(4, row);
            let list = list.trim_end_matches("ff").to_owned();
            let object = [0, 1, 2, 3, 6].map(|column| shown(column, row));
            objects.push(format!("{} {list}", object.join("|")));
        }
    }
    for expected in [
        "1|0|Database|Database|4 ",
        "2|1|Table|Staff|10 0d002e5c70656f706c652e61647400",
        "3|2|Field|id|1 ",
        "4|2|Field|Last Name|2 ",
        "5|2|Field|born|3 ffff0000",
        "9|2|Index|people.adi|6 0d002e5c70656f706c652e61646900",
        "10|2|Key|ID|9 0300696400ffff0400030000000200080002000400ffffffffffffffffffff010000",
    ] {
        let found = objects.iter().any(|object| object.starts_with(expected));
        assert!(found, "{expected}: {objects:#?}");
    }
    // Type, width and decimals of a field behind five values, of which one may be none.
    let field = objects.iter().find(|object| object.contains("Last Name")).unwrap();
    assert!(
        field.ends_with("ffffffffffffffffffff0600140014000000040000000000"),
        "{field}"
    );
    // The table says whose it is.
    let header = std::fs::read(house.folder.path().join("people.adt")).unwrap();
    assert_eq!(&header[92..105], b".\\house.add\0\0");
    assert_eq!((header[20], header[88] & 0x10, header[352]), (2, 0x10, 2));
}

#[test]
fn tables_come_and_go() {
    let mut house = House::with_tables();
    assert_eq!(house.names(ObjectKind::Table, ""), ["Staff", "towns"]);
    assert_eq!(
        house.names(ObjectKind::Field, "staff"),
        ["id", "Last Name", "born", "town", "pay", "note"]
    );
    assert_eq!(house.names(ObjectKind::IndexFile, "Staff"), ["people.adi"]);
    assert_eq!(house.names(ObjectKind::Index, "Staff"), ["ID", "TOWN"]);
    let mut another = house.another();
    let area = another
        .open_table("STAFF", &TableOptions::default(), &house.settings)
        .unwrap();
    assert_eq!(another.area(area).unwrap().orders().count(), 2);

    let outside = tempfile::tempdir().unwrap();
    std::fs::copy(house.folder.path().join("towns.adt"), outside.path().join("far.adt")).unwrap();
    for (name, path, code) in [
        ("Staff", "towns", ErrorCode::DdRequestNotCompleted),
        ("again", "people", ErrorCode::DdRequestNotCompleted),
        ("none", "nothing", ErrorCode::FileNotFound),
        ("out", "../x.adt", ErrorCode::FileNotFound),
        (
            "outside",
            outside.path().join("far.adt").to_str().unwrap(),
            ErrorCode::InvalidPath,
        ),
    ] {
        assert_eq!(house.add(name, path).unwrap_err().code(), code, "{name}");
    }
    // Somebody has it open.
    let remove = |house: &mut House, name: &str, deletes| {
        let removed = house.connection.remove_dictionary_table(name, deletes, &house.settings);
        removed.map_err(|error| error.code())
    };
    assert_eq!(remove(&mut house, "staff", false), Err(ErrorCode::FileInUse));
    another.close_all().unwrap();
    assert_eq!(remove(&mut house, "staff", false), Ok(()));
    assert_eq!(remove(&mut house, "towns", true), Ok(()));
    assert_eq!(remove(&mut house, "towns", true), Err(ErrorCode::InvalidObjectName));
    assert_eq!(house.names(ObjectKind::Table, ""), [""; 0]);
    let header = std::fs::read(house.folder.path().join("people.adt")).unwrap();
    assert_eq!((&header[92..96], header[88] & 0x10, header[352]), (&[0; 4][..], 0, 0));
    assert!(!house.folder.path().join("towns.adt").exists() && !house.folder.path().join("towns.adi").exists());
    house.add("people", "people").unwrap();
    assert_eq!(house.names(ObjectKind::Index, "people"), ["ID", "TOWN"]);
}

#[test]
fn properties_are_kept() {
    let mut house = House::with_tables();
    let long = "x".repeat(3000);
    for (property, value) in [
        (TableProperty::Comment, "Grüße"),
        (TableProperty::ValidationExpression, "pay >= 0"),
        (TableProperty::ValidationMessage, long.as_str()),
        (TableProperty::DefaultIndex, "TOWN"),
        (TableProperty::PrimaryKey, "ID"),
    ] {
        house.set_table("staff", property, value).unwrap();
        assert_eq!(house.another().table_property("Staff", property).unwrap(), text(value));
    }
    for (property, value) in [
        (FieldProperty::DefaultValue, text("'none'")),
        (FieldProperty::Minimum, text("A")),
        (FieldProperty::Maximum, text("Z")),
        (FieldProperty::ValidationMessage, text("a letter")),
        (FieldProperty::Comment, text("a code")),
        (FieldProperty::CanBeNull, PropertyValue::Short(0)),
    ] {
        let unset = house.another().field_property("towns", "code", property);
        match property {
            FieldProperty::CanBeNull => assert_eq!(unset.unwrap(), PropertyValue::Short(1)),
            _ => assert_eq!(unset.unwrap_err().code(), ErrorCode::PropertyNotSet, "{property:?}"),
        }
        house.set_field(("towns", "CODE"), property, &value).unwrap();
        assert_eq!(
            house.another().field_property("towns", "code", property).unwrap(),
            value
        );
    }
    house
        .set_field(("towns", "code"), FieldProperty::Minimum, &text(""))
        .unwrap();
    let gone = house.another().field_property("towns", "code", FieldProperty::Minimum);
    assert_eq!(gone.unwrap_err().code(), ErrorCode::PropertyNotSet);
    let columns = "Name, Table_Relative_Path, Table_Primary_Key, Table_Default_Index, Table_Validation_Expr, Comment = 'Grüße' AS said, Triggers_Disabled";
    assert_eq!(
        house.rows(&format!("SELECT {columns} FROM system.tables WHERE Name = 'Staff'")),
        ["Staff|.\\people.adt|ID|TOWN|pay >= 0|T|F"]
    );

    let mut another = house.another();
    for (property, value) in [
        (TableProperty::Type, PropertyValue::Short(3)),
        (TableProperty::FieldCount, PropertyValue::Short(6)),
        (TableProperty::RelativePath, text(".\\people.adt")),
        (TableProperty::IsParent, PropertyValue::Short(0)),
        (TableProperty::ObjectId, PropertyValue::Long(2)),
    ] {
        assert_eq!(
            another.table_property("staff", property).unwrap(),
            value,
            "{property:?}"
        );
    }
    for (property, value) in [
        (FieldProperty::Type, 20),
        (FieldProperty::Length, 20),
        (FieldProperty::Decimals, 0),
        (FieldProperty::Number, 2),
    ] {
        let found = another.field_property("staff", "last name", property).unwrap();
        assert_eq!(found, PropertyValue::Short(value), "{property:?}");
    }
    let about = another.database_property(DatabaseProperty::Comment).unwrap();
    assert_eq!(about, text("A house"));

    let primary = TableProperty::PrimaryKey;
    for (set, code) in [
        (house.set_table("staff", primary, "town"), ErrorCode::InvalidKeyOptions),
        (house.set_table("staff", primary, "none"), ErrorCode::InvalidObjectName),
        (house.set_table("nobody", primary, ""), ErrorCode::InvalidObjectName),
        (
            house.set_field(("staff", "x"), FieldProperty::Comment, &text("")),
            ErrorCode::InvalidObjectName,
        ),
        (
            house.set_field(("staff", "id"), FieldProperty::Type, &text("1")),
            ErrorCode::InvalidPropertyId,
        ),
    ] {
        assert_eq!(set.unwrap_err().code(), code);
    }
    let mut free = Connection::open(house.folder.path()).unwrap();
    let refused = free.table_property("staff", TableProperty::Comment).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidDictionaryHandle);
}

#[test]
fn statements_make_and_change_dictionaries() {
    let mut house = House::new();
    for sql in [
        "CREATE DATABASE [other] DESCRIPTION 'another one' ENCRYPT FALSE",
        "EXECUTE PROCEDURE sp_AddTableToDatabase( 'Staff', 'people.adt', 3, 1, NULL, 'who works here' )",
        "EXECUTE PROCEDURE sp_ModifyTableProperty( 'Staff', 'TABLE_PRIMARY_KEY', 'id', NULL, NULL )",
        "EXECUTE PROCEDURE sp_ModifyFieldProperty( 'Staff', 'born', 'FIELD_CAN_BE_NULL', 'FALSE', 'NO_VALIDATE', NULL )",
        "EXECUTE PROCEDURE sp_ModifyDatabase( 'COMMENT', 'the house' )",
        "EXECUTE PROCEDURE sp_ModifyFieldProperty( 'Staff', 'town', 'FIELD_MAX_VALUE', 'Z', 'APPEND_FAIL', 'staff_fail' )",
        "EXECUTE PROCEDURE sp_ModifyTableProperty( 'Staff', 'TABLE_VALIDATION_EXPR', 'pay < 9 .OR. pay = NULL', 'VALIDATE_WRITE_FAIL', NULL )",
        "INSERT INTO staff ( born, pay ) VALUES ( {d '1970-01-01'}, 5 )",
        "CREATE DATABASE guarded PASSWORD 'boss' DESCRIPTION 'with a password'",
    ] {
        house.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    assert!(house.folder.path().join("other.add").is_file());
    let guarded = house.folder.path().join("guarded.add");
    let login = |password| Connection::open_dictionary_as(&guarded, ("ADSSYS", password), false, &house.settings);
    assert!(login("boss").is_ok());
    assert_eq!(login("").unwrap_err().code(), ErrorCode::NotAuthenticated);
    let mut another = house.another();
    let key = another.table_property("staff", TableProperty::PrimaryKey).unwrap();
    let never = another
        .field_property("staff", "born", FieldProperty::CanBeNull)
        .unwrap();
    let about = another.database_property(DatabaseProperty::Comment).unwrap();
    assert_eq!(
        (key, never, about),
        (text("ID"), PropertyValue::Short(0), text("the house"))
    );
    for (sql, part) in [
        ("CREATE DATABASE other", "already exists"),
        (
            "EXECUTE PROCEDURE sp_ModifyFieldProperty( 'Staff', 'pay', 'FIELD_MIN_VALUE', '6', 'NO_SAVE', NULL )",
            "are not removed",
        ),
        (
            "EXECUTE PROCEDURE sp_ModifyFieldProperty( 'Staff', 'pay', 'FIELD_MIN_VALUE', '6', 'PERHAPS', NULL )",
            "PERHAPS",
        ),
        ("CREATE DATABASE safe ENCRYPT TRUE", "not encrypted"),
        ("CREATE DATABASE safe DDPASSWORD 'x'", "not encrypted"),
        (
            "EXECUTE PROCEDURE sp_AddTableToDatabase( 'x', 'people', 9, 1, NULL, NULL )",
            "no type of table",
        ),
        (
            "EXECUTE PROCEDURE sp_ModifyTableProperty( 'Staff', 'TABLE_ENCRYPTION', 'TRUE', NULL, NULL )",
            "not kept",
        ),
    ] {
        let error = house
            .execute(sql)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(error.contains(part), "{sql}: {error}");
    }
}

#[test]
fn a_statement_makes_a_table_in_the_dictionary() {
    let mut house = House::with_tables();
    for sql in [
        "CREATE TABLE streets ( name Char(20), no Integer PRIMARY KEY ) IN DATABASE",
        "CREATE TABLE parks ( name Char(20) ) AS FREE TABLE",
        "INSERT INTO streets VALUES ( 'Main', 1 )",
    ] {
        house.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    assert_eq!(house.names(ObjectKind::Table, ""), ["Staff", "streets", "towns"]);
    let key = house.connection.table_property("streets", TableProperty::PrimaryKey);
    assert_eq!(key.unwrap(), text("PRIMARYKEY"));
    // It is bound to the dictionary: others do not change it.
    let mut free = Connection::open(house.folder.path()).unwrap();
    let error = free.execute("DELETE FROM streets", &[], &house.settings, &house.options);
    assert_eq!(error.unwrap_err().code(), ErrorCode::Statement);
    house.execute("BEGIN TRANSACTION").unwrap();
    let error = house
        .execute("CREATE TABLE walls ( n Integer ) IN DATABASE")
        .unwrap_err()
        .to_string();
    assert!(error.contains("takes in no table in a transaction"), "{error}");
    house.execute("ROLLBACK WORK").unwrap();
    let error = house
        .execute("CREATE TABLE streets ( n Integer ) IN DATABASE")
        .unwrap_err()
        .to_string();
    assert!(error.contains("already exists"), "{error}");
    assert_eq!(house.rows("SELECT name FROM streets"), ["Main"]);
    let error = free
        .execute(
            "CREATE TABLE walls ( n Integer ) IN DATABASE",
            &[],
            &house.settings,
            &house.options,
        )
        .unwrap_err()
        .to_string();
    assert!(error.contains("walls IN DATABASE needs a data dictionary"), "{error}");
    assert!(!house.folder.path().join("walls.adt").exists());
}

#[test]
fn a_damaged_dictionary_is_told() {
    let house = House::with_tables();
    let whole = std::fs::read(house.file()).unwrap();
    let open = || Connection::open_dictionary(house.file(), true, &house.settings).map(drop);
    // The length of the first value of the third object.
    let at = 2200 + 524 + 223;
    assert_eq!(whole[at..at + 2], [13, 0]);
    for (bytes, expected) in [
        (vec![0xFE, 0xFF], "expected 65534 bytes for value 0, found 273"),
        (vec![0x00, 0x80], "expected 32768 bytes for value 0, found 273"),
    ] {
        let mut damaged = whole.clone();
        damaged[at..at + 2].copy_from_slice(&bytes);
        std::fs::write(house.file(), &damaged).unwrap();
        let error = open().unwrap_err().to_string();
        assert!(error.contains("house.add") && error.contains(expected), "{error}");
    }
    // A path that leads elsewhere opens nothing.
    let mut astray = whole.clone();
    astray[at..at + 15].copy_from_slice(b"\x0D\0../../e.adt\0\0");
    std::fs::write(house.file(), &astray).unwrap();
    let mut connection = Connection::open_dictionary(house.file(), true, &house.settings).unwrap();
    let refused = connection
        .open_table("staff", &TableOptions::default(), &house.settings)
        .unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidPath, "{refused}");
    for len in (0..whole.len()).step_by(97) {
        std::fs::write(house.file(), &whole[..len]).unwrap();
        let _ = open();
    }
    std::fs::write(house.file(), &whole).unwrap();
    open().unwrap();
}
