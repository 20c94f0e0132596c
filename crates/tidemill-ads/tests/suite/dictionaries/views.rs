//! Views that a dictionary keeps.

use super::*;

fn peopled() -> House {
    let mut house = House::with_tables();
    for sql in [
        "INSERT INTO Staff ( [Last Name], town, pay ) VALUES ( 'Novak', 'PRG', 900 ), ( 'Moss', 'BRN', 500 ), ( 'Adams', 'PRG', 700 )",
        "CREATE VIEW rich AS SELECT id, [Last Name], pay\n  FROM Staff /* all of them */ WHERE pay > 600",
        "CREATE VIEW richest AS SELECT * FROM rich WHERE pay > 800",
    ] {
        house.execute(sql).unwrap();
    }
    house
}

#[test]
fn a_view_is_read_by_who_asks_it() {
    let mut house = peopled();
    assert_eq!(
        house.rows("SELECT [Last Name] FROM rich ORDER BY pay"),
        ["Adams", "Novak"]
    );
    assert_eq!(house.rows("SELECT [Last Name] FROM Richest"), ["Novak"]);
    assert_eq!(
        house.rows("SELECT name, View_Stmt FROM system.views"),
        [
            "rich|SELECT id, [Last Name], pay\n  FROM Staff /* all of them */ WHERE pay > 600",
            "richest|SELECT * FROM rich WHERE pay > 800"
        ]
    );
    assert_eq!(house.names(ObjectKind::View, ""), ["rich", "richest"]);
    assert_eq!(
        house.names(ObjectKind::ViewOrTable, ""),
        ["Staff", "rich", "richest", "towns"]
    );

    let mut other = house.another();
    let area = other
        .open_table("rich", &TableOptions::default(), &house.settings)
        .unwrap();
    assert_eq!(other.area(area).unwrap().column_count(), 3);
    house.execute("DROP VIEW rich").unwrap();
    let error = house.execute("SELECT * FROM richest").unwrap_err().to_string();
    assert!(error.contains("Table name: rich"), "{error}");
    let error = house.execute("DROP VIEW rich").unwrap_err().to_string();
    assert!(error.contains("View not found: rich"), "{error}");
    house.execute("DROP VIEW IF EXISTS rich").unwrap();
}

#[test]
fn a_view_of_one_table_is_a_cursor_over_it() {
    let mut house = peopled();
    house
        .execute("CREATE VIEW praguers AS SELECT id, [Last Name] FROM Staff WHERE town = 'PRG'")
        .unwrap();
    let area = house
        .connection
        .open_table("praguers", &TableOptions::default(), &house.settings)
        .unwrap();
    let settings = house.settings.clone();
    house.connection.go_top(area, None, &settings).unwrap();
    let shown = house.connection.area(area).unwrap();
    let name = shown.column(1).unwrap();
    shown.set_text(name, b"Newman", &settings).unwrap();
    shown.write_record().unwrap();
    house.connection.close_table(area).unwrap();
    assert_eq!(house.rows("SELECT [Last Name] FROM Staff WHERE id = 1"), ["Newman"]);
}

#[test]
fn others_see_a_view_that_is_made_changed_and_removed() {
    let mut house = House::with_tables();
    house
        .execute("INSERT INTO towns VALUES ( 'PRG', 'Prague' ), ( 'BRN', 'Brno' )")
        .unwrap();
    let mut other = house.another();
    let (settings, options) = (house.settings.clone(), house.options.clone());
    let count = |connection: &mut Connection| match connection.execute("SELECT * FROM few", &[], &settings, &options) {
        Ok(Executed::Cursor(area)) => {
            let count = connection.area(area).unwrap().record_count().unwrap();
            connection.close_table(area).unwrap();
            Ok(count)
        }
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.to_string()),
    };
    assert!(count(&mut other).unwrap_err().contains("few"));
    house
        .connection
        .add_view(
            "few",
            "a few",
            "SELECT name FROM towns WHERE code = 'BRN'",
            &house.settings,
        )
        .unwrap();
    assert_eq!(count(&mut other), Ok(1));
    house.execute("EXECUTE PROCEDURE sp_ModifyViewProperty( 'few', 'VIEW_STMT', 'SELECT name FROM towns WHERE code > ''A''' )").unwrap();
    assert_eq!(count(&mut other), Ok(2));
    house.connection.remove_view("few", &house.settings).unwrap();
    assert!(count(&mut other).unwrap_err().contains("few"));
}

#[test]
fn a_view_is_one_select_and_has_a_name_of_its_own() {
    let mut house = peopled();
    let mut refused = |name: &str, text: &str| {
        let error = house.connection.add_view(name, "", text, &house.settings).unwrap_err();
        (error.code(), error.to_string())
    };
    for (name, text, code, why) in [
        (
            "rich",
            "SELECT * FROM towns",
            ErrorCode::DdRequestNotCompleted,
            "View rich already",
        ),
        (
            "STAFF",
            "SELECT * FROM towns",
            ErrorCode::DdRequestNotCompleted,
            "Table Staff already",
        ),
        ("", "SELECT * FROM towns", ErrorCode::InvalidObjectName, "has a name"),
        ("a", "", ErrorCode::Statement, "one SELECT"),
        ("a", "DELETE FROM towns", ErrorCode::Statement, "is a SELECT"),
        (
            "a",
            "SELECT 1 FROM towns; SELECT 2 FROM towns",
            ErrorCode::Statement,
            "one SELECT",
        ),
        (
            "a",
            "SELECT * FROM towns WHERE code = :code",
            ErrorCode::Statement,
            "no parameters",
        ),
        (
            "a",
            "SELECT * FROM towns ORDER BY code",
            ErrorCode::Statement,
            "no ORDER BY",
        ),
        ("a", "SELECT * INTO b FROM towns", ErrorCode::Statement, "no INTO"),
    ] {
        let (found, text_of_error) = refused(name, text);
        assert_eq!(found, code, "{text}: {text_of_error}");
        assert!(text_of_error.contains(why), "{text}: {text_of_error}");
    }
    let error = house.add("rich", "towns.adt").unwrap_err();
    assert_eq!(error.code(), ErrorCode::DdRequestNotCompleted, "{error}");
    let error = house.execute("UPDATE rich SET pay = 1").unwrap_err().to_string();
    assert!(error.contains("rich is a view"), "{error}");
}

#[test]
fn views_that_ask_one_another_in_a_circle_are_refused() {
    let mut house = peopled();
    let statement = text("SELECT id, [Last Name], pay FROM richest");
    house
        .connection
        .set_object_property(ObjectKind::View, ("", "rich"), 700, &statement, &house.settings)
        .unwrap();
    let error = house.execute("SELECT * FROM rich").unwrap_err().to_string();
    assert!(
        error.contains("The view rich asks itself, by way of rich, richest"),
        "{error}"
    );
    // Nothing of it is left.
    house.execute("DROP VIEW richest").unwrap();
    house
        .execute("CREATE VIEW richest AS SELECT id, [Last Name], pay FROM Staff")
        .unwrap();
    assert_eq!(house.rows("SELECT id FROM rich WHERE id = 2"), ["2"]);
}

#[test]
fn the_properties_of_a_view_are_asked_and_set_by_number() {
    let mut house = peopled();
    let mut get = |number| {
        house
            .connection
            .object_property(ObjectKind::View, ("", "RICHEST"), number)
    };
    assert_eq!(get(700).unwrap(), text("SELECT * FROM rich WHERE pay > 800"));
    assert_eq!(
        get(704).unwrap(),
        PropertyValue::Wide("SELECT * FROM rich WHERE pay > 800".to_owned())
    );
    assert_eq!(get(701).unwrap(), PropertyValue::Short(34));
    assert_eq!(get(1).unwrap_err().code(), ErrorCode::PropertyNotSet);
    assert_eq!(get(800).unwrap_err().code(), ErrorCode::InvalidPropertyId);
    let mut set = |name, number, value: &str| {
        house
            .connection
            .set_object_property(ObjectKind::View, ("", name), number, &text(value), &house.settings)
    };
    set("richest", 1, "The richest").unwrap();
    assert_eq!(
        set("richest", 701, "3").unwrap_err().code(),
        ErrorCode::InvalidPropertyId
    );
    assert_eq!(set("nobody", 1, "3").unwrap_err().code(), ErrorCode::InvalidObjectName);
    assert_eq!(set("richest", 700, "nothing").unwrap_err().code(), ErrorCode::Statement);
    assert_eq!(
        house.rows("SELECT comment FROM system.views WHERE name = 'richest'"),
        ["The richest"]
    );
}
