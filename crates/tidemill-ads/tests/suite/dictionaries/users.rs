//! Users, groups and rights of a dictionary of our own.

use super::*;
use tidemill_ads::Rights;

fn run(connection: &mut Connection, house: &House, sql: &str) -> Result<Executed, Error> {
    connection.execute(sql, &[], &house.settings, &house.options)
}

/// `Staff` and `towns` with rows; ann belongs to the clerks, and rights are checked.
fn guarded() -> House {
    let mut house = House::with_tables();
    for sql in [
        "INSERT INTO Staff ( [Last Name], town ) VALUES ( 'Novak', 'PRG' )",
        "INSERT INTO towns VALUES ( 'PRG', 'Prague' ), ( 'BRN', 'Brno' )",
        "CREATE VIEW names AS SELECT code, name FROM towns",
        "CREATE PROCEDURE build ( code CHAR(4) ) BEGIN INSERT INTO towns VALUES ( _code, 'new' ); END",
        "CREATE FUNCTION towns_of ( letter CHAR(1) ) RETURNS INTEGER BEGIN RETURN ( SELECT COUNT(*) FROM towns WHERE code LIKE letter + '%' ); END",
        "EXECUTE PROCEDURE sp_CreateGroup( 'clerks', 'Who writes' )",
        "EXECUTE PROCEDURE sp_CreateUser( 'ann', 'secret', 'A clerk' )",
        "EXECUTE PROCEDURE sp_CreateUser( 'bob', NULL, NULL )",
        "EXECUTE PROCEDURE sp_AddUserToGroup( 'ann', 'clerks' )",
        "EXECUTE PROCEDURE sp_ModifyDatabase( 'ADMIN_PASSWORD', 'boss' )",
        "EXECUTE PROCEDURE sp_ModifyDatabase( 'VERIFY_ACCESS_RIGHTS', 'TRUE' )",
    ] {
        house.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    house
}

fn login(house: &House, user: &str, password: &str) -> Result<Connection, Error> {
    Connection::open_dictionary_as(house.file(), (user, password), false, &house.settings)
}

/// The code of what the user may not do; 0 where he may.
fn code(connection: &mut Connection, house: &House, sql: &str) -> i64 {
    match run(connection, house, sql) {
        Ok(Executed::Cursor(area)) => {
            connection.close_table(area).unwrap();
            0
        }
        Ok(_) => 0,
        Err(Error::Statement(error)) => error.native_code(),
        Err(error) => error.code().number().into(),
    }
}

const READ: i64 = 7079;
const WRITE: i64 = 7080;
const OTHER: i64 = 7087;
const DENIED: i64 = 5054;

#[test]
fn a_user_is_let_in_with_his_password() {
    let mut house = guarded();
    for (user, password, is_let_in) in [
        ("ann", "secret", true),
        ("ANN", "secret", true),
        ("ann", "Secret", false),
        ("ann", "", false),
        ("bob", "", true),
        ("bob", "x", false),
        ("carl", "", false),
        ("ADSSYS", "boss", true),
        ("adssys", "", false),
        ("", "", true),
    ] {
        let let_in = login(&house, user, password);
        assert_eq!(let_in.is_ok(), is_let_in, "{user} {password}");
        match let_in {
            Ok(connection) => assert!(connection.user_name().eq_ignore_ascii_case(user), "{user}"),
            Err(error) => assert_eq!(error.code(), ErrorCode::NotAuthenticated, "{error}"),
        }
    }
    for sql in [
        "EXECUTE PROCEDURE sp_ModifyUserProperty( 'ann', 'USER_PASSWORD', 'other' )",
        "EXECUTE PROCEDURE sp_ModifyDatabase( 'LOG_IN_REQUIRED', 'TRUE' )",
        "EXECUTE PROCEDURE sp_DropUser( 'bob' )",
    ] {
        house.execute(sql).unwrap();
    }
    assert!(login(&house, "ann", "secret").is_err() && login(&house, "ann", "other").is_ok());
    assert!(login(&house, "", "").is_err() && login(&house, "bob", "").is_err());
    // No password stands in the files.
    for file in ["house.add", "house.am"] {
        let bytes = std::fs::read(house.folder.path().join(file)).unwrap();
        for password in [&b"secret"[..], b"other", b"boss"] {
            assert!(!bytes.windows(password.len()).any(|part| part == password), "{file}");
        }
    }
}

#[test]
fn statements_need_the_rights_that_were_granted() {
    let mut house = guarded();
    let mut ann = login(&house, "ann", "secret").unwrap();
    let all = [
        ("SELECT * FROM towns", READ),
        ("SELECT * FROM towns.adt", READ),
        ("SELECT * FROM names", READ),
        ("INSERT INTO towns VALUES ( 'OST', 'Ostrava' )", WRITE),
        ("UPDATE towns SET name = 'x' WHERE code = 'OST'", WRITE),
        ("DELETE FROM towns WHERE code = 'OST'", WRITE),
        (
            "MERGE towns ON code = 'OST' WHEN NOT MATCHED THEN INSERT ( code ) VALUES ( 'OST' )",
            WRITE,
        ),
        ("INSERT INTO towns SELECT * FROM towns WHERE code = 'NO'", READ),
        ("EXECUTE PROCEDURE build( 'ZLN' )", OTHER),
        ("ALTER TABLE towns ADD x Integer", DENIED),
        ("CREATE INDEX name ON towns ( name )", DENIED),
        ("DROP TABLE towns", DENIED),
        ("CREATE TABLE others ( x Integer )", DENIED),
        ("CREATE VIEW v AS SELECT * FROM names", DENIED),
        ("GRANT ALL ON towns TO ann", DENIED),
        ("EXECUTE PROCEDURE sp_ZapTable( 'towns' )", DENIED),
        ("EXECUTE PROCEDURE sp_CreateUser( 'eve', NULL, NULL )", DENIED),
        (
            "EXECUTE PROCEDURE sp_ModifyDatabase( 'VERIFY_ACCESS_RIGHTS', 'FALSE' )",
            DENIED,
        ),
    ];
    for (sql, refused) in all {
        assert_ne!(code(&mut ann, &house, sql), 0, "{sql}");
        if !sql.starts_with("CREATE VIEW") {
            assert_eq!(code(&mut ann, &house, sql), refused, "{sql}");
        }
    }
    let error = run(&mut ann, &house, "SELECT towns_of( 'P' ) FROM system.iota")
        .unwrap_err()
        .to_string();
    assert!(error.contains("no EXECUTE permission"), "{error}");

    // A view, a procedure and a function are used without rights to what they use.
    for sql in [
        "GRANT SELECT ON names TO clerks",
        "GRANT EXECUTE ON build TO ann",
        "GRANT EXECUTE ON towns_of TO [DB:Public]",
    ] {
        house.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    for sql in [
        "SELECT * FROM names WHERE code = 'PRG'",
        "EXECUTE PROCEDURE build( 'ZLN' )",
        "SELECT towns_of( 'P' ), USER() FROM system.iota",
    ] {
        assert_eq!(code(&mut ann, &house, sql), 0, "{sql}");
    }
    let area = ann
        .open_table("names", &TableOptions::default(), &house.settings)
        .unwrap();
    let shown = ann.area(area).unwrap();
    assert_eq!(shown.record_count().unwrap(), 3);
    assert_eq!(shown.append_record().unwrap_err().code(), ErrorCode::NoWriteRights);
    ann.close_table(area).unwrap();
    assert_eq!(code(&mut ann, &house, "SELECT * FROM towns"), READ);

    for (grant, allowed, refused) in [
        ("GRANT INSERT ON towns TO clerks", 3, 0),
        ("GRANT SELECT ON towns TO clerks", 0, 4),
        ("GRANT UPDATE, DELETE ON towns TO ann", 4, 9),
    ] {
        house.execute(grant).unwrap();
        assert_eq!(code(&mut ann, &house, all[allowed].0), 0, "{grant}: {}", all[allowed].0);
        assert_ne!(code(&mut ann, &house, all[refused].0), 0, "{grant}: {}", all[refused].0);
    }
    assert_eq!(code(&mut ann, &house, all[5].0), 0);
    for (sql, _) in &all[..8] {
        assert_eq!(code(&mut ann, &house, sql), 0, "{sql}");
    }
    house.execute("REVOKE INHERIT ON towns FROM ann").unwrap();
    assert_eq!(code(&mut ann, &house, "SELECT * FROM towns"), READ);
    let mut bob = login(&house, "bob", "").unwrap();
    assert_eq!(code(&mut bob, &house, "SELECT * FROM names"), READ);
    house
        .execute("EXECUTE PROCEDURE sp_AddUserToGroup( 'bob', 'DB:Admin' )")
        .unwrap();
    let mut bob = login(&house, "bob", "").unwrap();
    assert_eq!(code(&mut bob, &house, "DROP VIEW names"), 0);
}

#[test]
fn record_functions_need_the_rights_that_were_granted() {
    let mut house = guarded();
    let settings = house.settings.clone();
    let options = TableOptions::default();
    let mut ann = login(&house, "ann", "secret").unwrap();
    for name in ["towns", "towns.adt", "Staff"] {
        let error = ann.open_table(name, &options, &settings).unwrap_err();
        assert_eq!(error.code(), ErrorCode::NoReadPermission, "{error}");
    }
    house.execute("GRANT SELECT ON towns TO ann").unwrap();
    drop(ann);
    let mut ann = login(&house, "ann", "secret").unwrap();
    let id = ann.open_table("towns", &options, &settings).unwrap();
    let area = ann.area(id).unwrap();
    assert_eq!(
        area.set_text(1, b"x", &settings).unwrap_err().code(),
        ErrorCode::TableReadOnly
    );
    ann.close_table(id).unwrap();

    house.execute("GRANT INSERT ON towns TO ann").unwrap();
    let mut ann = login(&house, "ann", "secret").unwrap();
    let id = ann.open_table("towns", &options, &settings).unwrap();
    let area = ann.area(id).unwrap();
    assert_eq!(
        area.set_text(1, b"x", &settings).unwrap_err().code(),
        ErrorCode::NoWriteRights
    );
    assert_eq!(area.set_deleted(true).unwrap_err().code(), ErrorCode::NoWriteRights);
    area.append_record().unwrap();
    area.set_text(0, b"OST", &settings).unwrap();
    area.write_record().unwrap();
    assert_eq!(
        area.set_text(1, b"x", &settings).unwrap_err().code(),
        ErrorCode::NoWriteRights
    );
    assert_eq!(area.reindex(&settings).unwrap_err().code(), ErrorCode::NoWriteRights);
    ann.close_table(id).unwrap();
    assert_eq!(house.rows("SELECT COUNT(*) FROM towns"), ["3"]);
}

#[test]
fn triggers_do_what_the_user_may_not() {
    let mut house = guarded();
    for sql in [
        "CREATE FUNCTION who ( ) RETURNS CHAR(20) BEGIN RETURN USER(); END",
        "CREATE TRIGGER hired ON Staff AFTER INSERT BEGIN UPDATE towns SET name = 'busy by ' + who() WHERE code = __new.town; END",
        "GRANT INSERT ON Staff TO ann",
    ] {
        house.execute(sql).unwrap();
    }
    let mut ann = login(&house, "ann", "secret").unwrap();
    assert_eq!(
        code(
            &mut ann,
            &house,
            "INSERT INTO Staff ( [Last Name], town ) VALUES ( 'Moss', 'BRN' )"
        ),
        0
    );
    drop(ann);
    assert_eq!(house.rows("SELECT name FROM towns WHERE code = 'BRN'"), ["busy by ann"]);
}

#[test]
fn system_tables_tell_of_users_groups_and_rights() {
    let mut house = guarded();
    house.execute("GRANT SELECT, INSERT ON towns TO clerks").unwrap();
    house.execute("GRANT UPDATE ON towns TO ann").unwrap();
    assert_eq!(
        house.rows("SELECT Name, Comment FROM system.users"),
        ["ann|A clerk", "bob|"]
    );
    assert_eq!(
        house.rows("SELECT Name FROM system.usergroups ORDER BY Name"),
        ["clerks", "DB:Admin", "DB:Public"]
    );
    assert_eq!(house.rows("SELECT * FROM system.usergroupmembers"), ["ann|clerks"]);
    let rights = "[Select], [Update], [Insert], [Delete], [Execute], [Inherit]";
    let of = |table: &str, grantee: &str| {
        format!("SELECT {rights} FROM system.{table} WHERE Name = 'towns' AND Grantee = '{grantee}'")
    };
    assert_eq!(house.rows(&of("permissions", "ann")), ["0|1|0|0||1"]);
    assert_eq!(house.rows(&of("permissions", "clerks")), ["1|0|1|0||0"]);
    assert_eq!(house.rows(&of("effectivepermissions", "ann")), ["1|1|1|0||1"]);
    let rights = house
        .connection
        .rights_of("ann", (ObjectKind::Table, "towns"), true)
        .unwrap();
    assert!(rights.has(Rights::READ) && !rights.has(Rights::DELETE), "{rights:?}");
    assert_eq!(house.connection.groups_of("ann").unwrap(), ["clerks"]);
    house.execute("EXECUTE PROCEDURE sp_DropGroup( 'clerks' )").unwrap();
    assert_eq!(house.connection.groups_of("ann").unwrap(), [""; 0]);
    assert_eq!(house.rows(&of("effectivepermissions", "ann")), ["0|1|0|0||1"]);
}

#[test]
fn users_and_rights_that_cannot_be_are_refused() {
    let mut house = guarded();
    for (sql, refused) in [
        ("EXECUTE PROCEDURE sp_CreateUser( 'Ann', NULL, NULL )", 5132),
        ("EXECUTE PROCEDURE sp_CreateUser( 'adssys', NULL, NULL )", 5132),
        ("EXECUTE PROCEDURE sp_CreateGroup( 'bob', NULL )", 5132),
        ("EXECUTE PROCEDURE sp_AddUserToGroup( 'ann', 'clerks' )", 5157),
        ("EXECUTE PROCEDURE sp_RemoveUserFromGroup( 'bob', 'clerks' )", 5156),
        ("EXECUTE PROCEDURE sp_AddUserToGroup( 'bob', 'nobody' )", 5132),
        ("EXECUTE PROCEDURE sp_DropGroup( 'DB:Admin' )", 5130),
        ("GRANT SELECT ON nothing TO ann", 5132),
        ("GRANT SELECT ON towns TO nobody", 5132),
        ("GRANT EXECUTE ON towns TO ann", 5158),
        ("GRANT INHERIT ON towns TO clerks", 5158),
        ("GRANT SELECT( name ) ON towns TO ann", 2208),
        ("GRANT ALTER ON towns TO ann", 2208),
        ("GRANT SELECT ON towns TO ann WITH GRANT", 2208),
    ] {
        let error = house.execute(sql).expect_err(sql);
        let Error::Statement(error) = error else {
            panic!("{sql}: {error}")
        };
        assert_eq!(error.native_code(), refused, "{sql}: {error}");
    }
}

#[test]
fn what_advantage_has_encrypted_grants_nothing() {
    let house = guarded();
    // A user whose password is not a hash of ours.
    let file = house.file();
    let mut bytes = std::fs::read(&file).unwrap();
    let hash = b"$argon2id$";
    let at = bytes.windows(hash.len()).rposition(|part| part == hash).unwrap();
    bytes[at] = 0x98;
    std::fs::write(&file, &bytes).unwrap();
    let error = login(&house, "ann", "secret").unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotImplemented, "{error}");
    assert!(
        error
            .to_string()
            .contains("rights that are encrypted cannot be checked"),
        "{error}"
    );
}

#[test]
fn who_is_logged_in_changes_the_own_password() {
    let house = guarded();
    let mut ann = login(&house, "ann", "secret").unwrap();
    let change = |connection: &mut Connection, old: &str, new: &str| {
        let sql = format!("EXECUTE PROCEDURE sp_ChangeCurrentUserPassword( '{old}', '{new}' )");
        code(connection, &house, &sql)
    };
    assert_eq!(change(&mut ann, "guessed", "new"), 5097);
    assert_eq!(change(&mut ann, "", "new"), 5097);
    assert_eq!(change(&mut ann, "secret", "new"), 0);
    assert!(login(&house, "ann", "secret").is_err());
    assert!(login(&house, "ann", "new").is_ok());
    let mut boss = login(&house, "ADSSYS", "boss").unwrap();
    assert_eq!(change(&mut boss, "boss", "chief"), 0);
    assert!(login(&house, "ADSSYS", "chief").is_ok());
}

/// "For security reasons, on dictionary-bound connections sp_SignalEvent can only be called by a trigger or a stored procedure."
#[test]
fn events_of_a_dictionary_are_signalled_by_procedures_and_triggers() {
    let mut house = House::with_tables();
    let mut other = house.another();
    let run =
        |other: &mut Connection, house: &House, sql: &str| other.execute(sql, &[], &house.settings, &house.options);
    run(&mut other, &house, "EXECUTE PROCEDURE sp_CreateEvent( 'Built', 2 )").unwrap();
    let signal = "EXECUTE PROCEDURE sp_SignalEvent( 'Built', FALSE, 0, 'by hand' )";
    let refused = run(&mut other, &house, signal).err().unwrap().to_string();
    assert!(refused.contains("triggers and stored procedures"), "{refused}");
    for sql in [
        "CREATE PROCEDURE build ( code CHAR(4) ) BEGIN EXECUTE PROCEDURE sp_SignalEvent( 'built', FALSE, 0, _code ); END",
        "CREATE TRIGGER audit ON towns AFTER INSERT BEGIN EXECUTE PROCEDURE sp_SignalEvent( 'Built', FALSE, 0, 'a town' ); END",
        "EXECUTE PROCEDURE build( 'OSL' )",
        "INSERT INTO towns VALUES ( 'PRG', 'Prague' )",
    ] {
        house.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let check = "EXECUTE PROCEDURE sp_WaitForEvent( 'Built', 0, 0, 0 )";
    let Executed::Cursor(area) = run(&mut other, &house, check).unwrap() else {
        panic!("rows");
    };
    let rows = rows_of(&mut other, area, &house.settings);
    assert_eq!(rows, ["Built|1|OSL", "Built|2|a town"]);
}
