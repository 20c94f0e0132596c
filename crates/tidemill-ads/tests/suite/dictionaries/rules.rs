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
