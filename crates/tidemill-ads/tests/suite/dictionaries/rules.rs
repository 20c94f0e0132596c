//! Rules of a dictionary, broken in each way that a table is changed in.

use super::*;

impl House {
    /// A table with a rule of each kind.
    fn with_rules() -> Self {
        let mut house = Self::with_tables();
        let staff = |field| ("staff", field);
        for (field, property, value) in [
            ("last name", FieldProperty::CanBeNull, PropertyValue::Short(0)),
            ("last name", FieldProperty::Minimum, text("B")),
            ("last name", FieldProperty::Maximum, text("'Y '")),
            ("last name", FieldProperty::ValidationMessage, text("A name, please")),
            ("pay", FieldProperty::DefaultValue, text("12.50")),
            ("pay", FieldProperty::Minimum, text("0")),
            ("born", FieldProperty::DefaultValue, text("date()")),
            ("born", FieldProperty::Maximum, text("date()")),
            ("note", FieldProperty::DefaultValue, text("'new'")),
        ] {
            house.set_field(staff(field), property, &value).unwrap();
        }
        let condition = "pay < 1000 .OR. pay = NULL .OR. town <> NULL";
        house
            .set_table("staff", TableProperty::ValidationExpression, condition)
            .unwrap();
        house
            .set_table(
                "staff",
                TableProperty::ValidationMessage,
                "Who earns much lives somewhere",
            )
            .unwrap();
        house.set_table("staff", TableProperty::PrimaryKey, "id").unwrap();
        house
    }
}

/// Fields and their texts.
type Texts = &'static [(&'static str, &'static str)];

/// What breaks a rule of the table, as fields and their texts, the number of the error, and a part of its text.
const BROKEN: [(Texts, ErrorCode, &str); 8] = [
    (&[("pay", "1")], ErrorCode::ColumnCannotBeNull, "A name, please"),
    (
        &[("last name", "adams")],
        ErrorCode::MinConstraintViolation,
        "A name, please",
    ),
    (
        &[("last name", "Zoe")],
        ErrorCode::MaxConstraintViolation,
        "at most 'Y '",
    ),
    (
        &[("last name", "yz")],
        ErrorCode::MaxConstraintViolation,
        "field Last Name",
    ),
    (
        &[("last name", "Novak"), ("pay", "-1")],
        ErrorCode::MinConstraintViolation,
        "field pay",
    ),
    (
        &[("last name", "Novak"), ("born", "12/31/2999")],
        ErrorCode::MaxConstraintViolation,
        "field born",
    ),
    (
        &[("last name", "Novak"), ("pay", "1000")],
        ErrorCode::RecordConstraintViolation,
        "lives somewhere",
    ),
    (
        &[("last name", ""), ("pay", "1")],
        ErrorCode::ColumnCannotBeNull,
        "expected a value, found NULL",
    ),
];

#[test]
fn record_functions_keep_the_rules() {
    let mut house = House::with_rules();
    let settings = house.settings.clone();
    let id = house.open("staff");
    for (values, code, part) in BROKEN {
        let area = house.connection.area(id).unwrap();
        area.append_record().unwrap();
        for (field, value) in values {
            let field = area.field_named(field).unwrap();
            match value.is_empty() {
                true => area.set_null(field).unwrap(),
                false => area.set_text(field, value.as_bytes(), &settings).unwrap(),
            }
        }
        let error = area.write_record().unwrap_err();
        assert_eq!(error.code(), code, "{values:?}: {error}");
        assert!(error.to_string().contains(part), "{values:?}: {error}");
        area.cancel_update().unwrap();
    }
    let area = house.connection.area(id).unwrap();
    area.append_record().unwrap();
    let [name, pay, note, born] = ["last name", "pay", "note", "born"].map(|field| area.field_named(field).unwrap());
    let shown = |area: &mut tidemill_ads::WorkArea, field| {
        String::from_utf8(area.text(field, &settings).unwrap().into_owned())
            .unwrap()
            .trim()
            .to_owned()
    };
    assert_eq!(shown(area, pay), "12.5000");
    assert_eq!(shown(area, note), "new");
    assert_ne!(shown(area, born), "");
    // One that stays as it is breaks rules too.
    let error = area.write_record().unwrap_err();
    assert_eq!(error.code(), ErrorCode::ColumnCannotBeNull);
    area.set_text(name, b"y", &settings).unwrap();
    area.write_record().unwrap();
    area.set_number(pay, -3.0).unwrap();
    assert_eq!(
        area.write_record().unwrap_err().code(),
        ErrorCode::MinConstraintViolation
    );
    area.cancel_update().unwrap();
    assert_eq!(shown(area, pay), "12.5000");
    area.set_deleted(true).unwrap();
    area.write_record().unwrap();
    house.connection.close_all().unwrap();
    assert_eq!(house.rows("SELECT COUNT(*) AS n FROM staff"), ["0"]);
}

#[test]
fn statements_keep_the_rules() {
    let mut house = House::with_rules();
    for (values, code, part) in BROKEN {
        let names: Vec<String> = values.iter().map(|(field, _)| format!("[{field}]")).collect();
        let values = values.iter().map(|(field, value)| match *field {
            _ if value.is_empty() => "NULL".to_owned(),
            "pay" => (*value).to_owned(),
            "born" => "'2999-12-31'".to_owned(),
            _ => format!("'{value}'"),
        });
        let values = values.collect::<Vec<_>>().join(", ");
        let sql = format!("INSERT INTO staff ( {} ) VALUES ( {values} )", names.join(", "));
        let error = house.execute(&sql).unwrap_err().to_string();
        let native = format!("NativeError = {}", code.number());
        assert!(error.contains(&native) && error.contains(part), "{sql}: {error}");
    }
    for sql in [
        "INSERT INTO staff ( [last name] ) VALUES ( 'Novak' )",
        "INSERT INTO staff ( [last name], pay, note ) VALUES ( 'Moss', NULL, DEFAULT )",
        "INSERT INTO staff ( [last name], pay ) SELECT 'Hill', 5 FROM system.iota",
        "INSERT INTO staff ( [last name], pay, town ) VALUES ( 'Rich', 5000, 'Rome' )",
    ] {
        house.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let all = "SELECT [last name], pay, note FROM staff";
    let expected = [
        "Novak|12.5000|new",
        "Moss||new",
        "Hill|5.0000|new",
        "Rich|5000.0000|new",
    ];
    assert_eq!(house.rows(all), expected);
    let names: arrow_array::ArrayRef = std::sync::Arc::new(arrow_array::StringArray::from(vec!["Wood"]));
    let batch = arrow_array::RecordBatch::try_from_iter([("last name", names)]).unwrap();
    let mut tables = house.connection.tables(&house.settings, &house.options);
    tables
        .append(&tidemill_ads::sql::TableName::new("staff"), &batch)
        .unwrap();
    let expected = [&expected[..], &["Wood|12.5000|new"]].concat();
    assert_eq!(house.rows(all), expected);
    for sql in [
        "UPDATE staff SET town = NULL",
        "UPDATE staff SET pay = pay - 20",
        "UPDATE staff SET [last name] = NULL WHERE pay = 5",
        "MERGE staff ON ( pay = 5 ) WHEN MATCHED THEN UPDATE SET [last name] = 'Aa'",
        "INSERT INTO staff ( [last name] ) VALUES ( 'Good' ), ( 'Zz' )",
    ] {
        let error = house.execute(sql).unwrap_err().to_string();
        assert!(error.contains("NativeError = 51"), "{sql}: {error}");
        // The statement was made as a whole or not at all.
        assert_eq!(house.rows(all), expected, "{sql}");
    }
}

#[test]
fn rules_that_cannot_be_are_refused_and_records_are_looked_through() {
    let mut house = House::with_tables();
    house
        .execute("INSERT INTO staff ( [last name], pay ) VALUES ( 'Novak', 7 )")
        .unwrap();
    let invalid = ErrorCode::InvalidConstraint;
    for (field, property, value) in [
        ("pay", FieldProperty::Minimum, "much"),
        ("pay", FieldProperty::DefaultValue, "'12'"),
        ("born", FieldProperty::Maximum, "tomorrow"),
        ("born", FieldProperty::DefaultValue, "pay"),
    ] {
        let error = house.set_field(("staff", field), property, &text(value)).unwrap_err();
        assert_eq!(error.code(), invalid, "{field} {value}: {error}");
    }
    for condition in ["pay", "pay >", "nothing = 1", "note = 'x'"] {
        let error = house
            .set_table("staff", TableProperty::ValidationExpression, condition)
            .unwrap_err();
        assert_eq!(error.code(), invalid, "{condition}: {error}");
    }
    let strict = |property| (property, Validation::ReturnError);
    let settings = house.settings.clone();
    let set = |house: &mut House, value| {
        let minimum = strict(FieldProperty::Minimum);
        house
            .connection
            .set_field_property(("staff", "pay"), minimum, &text(value), &settings)
    };
    assert_eq!(
        set(&mut house, "8").unwrap_err().code(),
        ErrorCode::ConstraintValidation
    );
    // Nothing of what was refused is kept.
    house.execute("UPDATE staff SET pay = 6").unwrap();
    set(&mut house, "6").unwrap();
    house.execute("UPDATE staff SET pay = 5").unwrap_err();
}

#[test]
fn a_rule_holds_for_those_who_have_the_table_open() {
    let mut house = House::with_tables();
    house.execute("INSERT INTO staff ( pay ) VALUES ( 7 )").unwrap();
    let id = house.open("staff");
    house
        .set_field(("staff", "pay"), FieldProperty::Maximum, &text("10"))
        .unwrap();
    let area = house.connection.area(id).unwrap();
    let pay = area.field_named("pay").unwrap();
    area.set_number(pay, 11.0).unwrap();
    assert_eq!(
        area.write_record().unwrap_err().code(),
        ErrorCode::MaxConstraintViolation
    );
    area.cancel_update().unwrap();
    // Another connection learns it when it opens the table, and a free one changes none of it.
    let mut another = house.another();
    let refused = another.execute("UPDATE staff SET pay = 12", &[], &house.settings, &house.options);
    assert!(refused.unwrap_err().to_string().contains("NativeError = 5149"));
    let mut free = Connection::open(house.folder.path()).unwrap();
    let refused = free.execute("UPDATE people SET pay = 12", &[], &house.settings, &house.options);
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("NativeError = 5072") && refused.contains("house.add"),
        "{refused}"
    );
    let id = free
        .open_table("people.adt", &TableOptions::default(), &house.settings)
        .unwrap();
    let refused = free.area(id).unwrap().append_record().unwrap_err();
    assert_eq!(refused.code(), ErrorCode::TableReadOnly);
    assert!(refused.to_string().contains("house.add"), "{refused}");
    free.close_all().unwrap();
    std::fs::remove_file(house.file()).unwrap();
    free.execute("UPDATE people SET pay = 12", &[], &house.settings, &house.options)
        .unwrap();
}

#[test]
fn statements_make_and_change_rules() {
    let mut house = House::with_tables();
    let refused = |house: &mut House, sql: &str, part: &str| {
        let error = house
            .execute(sql)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(error.contains(part), "{sql}: {error}");
    };
    // What ADSSYS makes is a table of the dictionary unless something else is said.
    for sql in [
        "CREATE TABLE prices ( id Integer PRIMARY KEY, name Char(10) CONSTRAINT NOT NULL CONSTRAINT ERROR MESSAGE 'a name, please', \
         price Money DEFAULT '4.5' CONSTRAINT MINIMUM '2' CONSTRAINT MAXIMUM '169' CONSTRAINT NOT NULL, kind Integer NOT NULL, seen Date )",
        "INSERT INTO prices ( id, name, kind ) VALUES ( 1, 'nail', 1 )",
        "CREATE TABLE loose ( a Integer ) AS FREE TABLE",
        "CREATE TABLE #short ( a Integer )",
    ] {
        house.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    assert_eq!(house.names(ObjectKind::Table, ""), ["Staff", "prices", "towns"]);
    assert_eq!(house.rows("SELECT name, price FROM prices"), ["nail|4.5000"]);
    for (sql, part) in [
        ("INSERT INTO prices ( id, kind ) VALUES ( 2, 1 )", "a name, please"),
        ("INSERT INTO prices ( id, kind ) VALUES ( 2, 1 )", "NativeError = 5147"),
        ("INSERT INTO prices ( id, name ) VALUES ( 2, 'x' )", "field kind"),
        (
            "INSERT INTO prices ( id, name ) VALUES ( 2, 'x' )",
            "NativeError = 5147",
        ),
        (
            "INSERT INTO prices ( id, name, price, kind ) VALUES ( 2, 'x', NULL, 1 )",
            "field price",
        ),
        (
            "INSERT INTO prices ( id, name, price, kind ) VALUES ( 2, 'x', 1, 1 )",
            "NativeError = 5148",
        ),
        ("UPDATE prices SET price = 170", "NativeError = 5149"),
        ("UPDATE prices SET kind = NULL", "field kind"),
        (
            "MERGE prices ON ( id = 1 ) WHEN MATCHED THEN UPDATE SET name = NULL",
            "a name, please",
        ),
        (
            "MERGE prices ON ( id = 7 ) WHEN NOT MATCHED THEN INSERT ( id, name ) VALUES ( 7, 'x' )",
            "field kind",
        ),
        (
            "CREATE TABLE bad ( a Integer CONSTRAINT MINIMUM 'much' )",
            "NativeError = 5160",
        ),
        (
            "CREATE TABLE bad ( a Integer NOT NULL ) AS FREE TABLE",
            "NativeError = 2215",
        ),
        (
            "CREATE TABLE #bad ( a Integer CONSTRAINT NOT NULL )",
            "NativeError = 2215",
        ),
        (
            "ALTER TABLE loose ALTER COLUMN a a Integer CONSTRAINT NOT NULL",
            "NativeError = 2215",
        ),
        ("ALTER TABLE prices ALTER COLUMN nothing DROP NOT NULL", "nothing"),
        // Records are looked through, and of several rules none is kept.
        (
            "ALTER TABLE prices ALTER COLUMN name name Char(10) CONSTRAINT MINIMUM 'a' ALTER COLUMN seen seen Date CONSTRAINT NOT NULL",
            "seen",
        ),
    ] {
        refused(&mut house, sql, part);
    }
    assert!(!house.folder.path().join("bad.adt").exists());
    assert_eq!(house.names(ObjectKind::Table, ""), ["Staff", "prices", "towns"]);
    for sql in [
        "INSERT INTO prices ( id, name, kind ) VALUES ( 3, '!', 1 )",
        "ALTER TABLE prices ALTER COLUMN name name Char(20) CONSTRAINT NOT NULL",
        "DELETE FROM prices WHERE id = 3",
        "ALTER TABLE prices ALTER COLUMN price DROP DEFAULT ALTER price DROP MINIMUM ALTER price DROP MAXIMUM ALTER price DROP NOT NULL",
        "ALTER TABLE prices ALTER COLUMN name DROP ERROR MESSAGE",
        "INSERT INTO prices ( id, name, kind, price ) VALUES ( 4, 'bolt', 2, NULL ), ( 5, 'nut', 2, 1000 )",
        "UPDATE prices SET seen = {d '2024-02-29'}",
        "ALTER TABLE prices ALTER COLUMN seen seen Date DEFAULT 'date()' CONSTRAINT NOT NULL",
        "INSERT INTO prices ( id, name, kind ) VALUES ( 6, 'rod', 3 )",
        "ALTER TABLE prices DROP PRIMARY KEY",
    ] {
        house.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    refused(&mut house, "UPDATE prices SET seen = NULL", "NativeError = 5147");
    let key = house.connection.table_property("prices", TableProperty::PrimaryKey);
    assert!(key.is_err() || key.unwrap() == text(""));
    assert_eq!(
        house.rows("SELECT id, price, IIF( seen IS NULL, 'none', 'some' ) AS s FROM prices"),
        ["1|4.5000|some", "4||some", "5|1000.0000|some", "6||some"]
    );
}
