//! Tables of a dictionary whose fields change.

use super::*;

fn fields(house: &House, table: &str) -> Vec<String> {
    let mut connection = house.another();
    let names = connection.dictionary_objects(ObjectKind::Field, table).unwrap();
    let mut shown = Vec::new();
    for name in names {
        let mut number = |property| match connection.field_property(table, &name, property).unwrap() {
            PropertyValue::Short(number) => number,
            other => panic!("{name}: {other:?}"),
        };
        let numbers = [
            FieldProperty::Number,
            FieldProperty::Type,
            FieldProperty::Length,
            FieldProperty::CanBeNull,
        ];
        shown.push(format!("{name} {:?}", numbers.map(&mut number)));
    }
    shown
}

#[test]
fn the_dictionary_follows_the_fields() {
    let mut house = House::with_tables();
    house.set_table("staff", TableProperty::PrimaryKey, "id").unwrap();
    house
        .set_field(
            ("staff", "last name"),
            FieldProperty::CanBeNull,
            &PropertyValue::Short(0),
        )
        .unwrap();
    house
        .set_field(("staff", "pay"), FieldProperty::DefaultValue, &text("12.50"))
        .unwrap();
    house
        .execute("INSERT INTO staff ( [last name], town ) VALUES ( 'Adams', 'York' ), ( 'Novak', 'Bath' )")
        .unwrap();
    house
        .execute(
            "ALTER TABLE staff ADD COLUMN [first name] Char(12) DEFAULT '''Jo''' CONSTRAINT MAXIMUM '''Zz''' POSITION 2 \
             ADD rank ShortInt ALTER COLUMN town place CIChar(30) CONSTRAINT NOT NULL \
             ALTER COLUMN pay wage Money POSITION 1 DROP COLUMN note",
        )
        .unwrap();
    assert_eq!(
        fields(&house, "staff"),
        [
            "wage [1, 18, 8, 1]",
            "first name [2, 4, 12, 1]",
            "id [3, 15, 4, 1]",
            "Last Name [4, 20, 20, 0]",
            "born [5, 3, 4, 1]",
            "place [6, 20, 30, 0]",
            "rank [7, 12, 2, 1]",
        ]
    );
    let count = house
        .another()
        .table_property("staff", TableProperty::FieldCount)
        .unwrap();
    assert_eq!(count, PropertyValue::Short(7));
    // The key of the other order has become longer, and goes by another name.
    let property = |house: &House, number| {
        let settings = &house.settings;
        house
            .another()
            .index_property("staff", "TOWN", number, settings)
            .unwrap()
    };
    assert_eq!(property(&house, 401), text("place"));
    assert_eq!(property(&house, 404), PropertyValue::Short(30));
    house
        .execute("INSERT INTO staff ( [last name], place ) VALUES ( 'Zorn', 'Leeds' )")
        .unwrap();
    assert_eq!(
        house.rows("SELECT id, wage, [first name], [last name], place FROM staff ORDER BY place"),
        ["2|||Novak|Bath", "3|12.5000|Jo|Zorn|Leeds", "1|||Adams|York"]
            .map(|row| row.replace("2|||", "2|12.5000||").replace("1|||", "1|12.5000||"))
    );
    for (sql, number) in [
        ("INSERT INTO staff ( [last name] ) VALUES ( 'Nobody' )", 5147),
        ("INSERT INTO staff ( place ) VALUES ( 'Hull' )", 5147),
        (
            "INSERT INTO staff ( [last name], [first name], place ) VALUES ( 'A', 'zzz', 'Hull' )",
            5149,
        ),
    ] {
        let error = house.execute(sql).unwrap_err().to_string();
        assert!(error.contains(&format!("NativeError = {number}")), "{sql}: {error}");
    }
    // The table still says whose it is: a free connection does not change it.
    let mut free = Connection::open(house.folder.path()).unwrap();
    let changed = free.execute("DELETE FROM people", &[], &house.settings, &house.options);
    assert!(changed.unwrap_err().to_string().contains("house.add"));
}

#[test]
fn fields_that_others_need_stay() {
    let mut house = House::with_tables();
    for order in ["staff", "towns"] {
        let key = if order == "staff" { "id" } else { "code" };
        house.set_table(order, TableProperty::PrimaryKey, key).unwrap();
    }
    house
        .relate("lives", RelationRule::Cascade, RelationRule::Restrict)
        .unwrap();
    house
        .set_table(
            "staff",
            TableProperty::ValidationExpression,
            "pay < 1000 .OR. pay = NULL",
        )
        .unwrap();
    house
        .set_field(("staff", "born"), FieldProperty::DefaultValue, &text("date()"))
        .unwrap();
    house.execute("INSERT INTO towns VALUES ( 'York', 'York' )").unwrap();
    house
        .execute("INSERT INTO staff ( [last name], town ) VALUES ( 'Adams', 'York' )")
        .unwrap();
    let before = fields(&house, "staff");
    for (sql, number, part) in [
        ("ALTER TABLE staff DROP COLUMN town", 5152, "Relation lives"),
        ("ALTER TABLE staff ALTER town town Char(8)", 5152, "Relation lives"),
        ("ALTER TABLE towns ALTER code code Integer", 5152, "Relation lives"),
        ("ALTER TABLE staff ALTER pay wage Money", 5152, "condition"),
        ("ALTER TABLE staff DROP pay", 5152, "condition"),
        ("ALTER TABLE staff ALTER born born Char(10)", 5152, "default value"),
        ("ALTER TABLE staff ADD x Integer CONSTRAINT NOT NULL", 5135, "column x"),
        ("ALTER TABLE staff ADD x Integer DEFAULT '1 +'", 5160, ""),
        (
            "ALTER TABLE staff ALTER note note Memo CONSTRAINT NOT NULL ADD id Integer",
            5135,
            "",
        ),
    ] {
        let error = house.execute(sql).unwrap_err().to_string();
        assert!(error.contains(&format!("NativeError = {number}")), "{sql}: {error}");
        assert!(error.contains(part), "{sql}: {error}");
        assert_eq!(fields(&house, "staff"), before, "{sql}");
    }
    house.execute("ALTER TABLE staff ALTER pay pay CurDouble").unwrap();
    house.execute("ALTER TABLE towns ADD people Integer").unwrap();
    house.execute("UPDATE towns SET code = 'Hull'").unwrap();
    assert_eq!(house.rows("SELECT [last name], town FROM staff"), ["Adams|Hull"]);
}

#[test]
fn restructuring_moves_fields() {
    let mut house = House::with_tables();
    let lists = (
        "New Char,ch,30,(3);New Int,integer,(4);",
        "note; born",
        "pay,Wage,double,10,2; id,id,autoinc,(20) ",
    );
    let (settings, options) = (house.settings.clone(), TableOptions::default());
    house
        .connection
        .restructure_table("staff", lists, &options, &settings)
        .unwrap();
    let names: Vec<_> = fields(&house, "staff");
    let names: Vec<_> = names.iter().map(|name| name.split(" [").next().unwrap()).collect();
    assert_eq!(names, ["Last Name", "town", "New Char", "New Int", "Wage", "id"]);
}
