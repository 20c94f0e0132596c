//! Packages: functions with name spaces of their own.

use super::triggers::{refused, run};
use super::*;

/// Two packages and none, each with a function of one name.
fn packed() -> House {
    let mut house = House::with_tables();
    run(
        &mut house,
        &[
            "CREATE PACKAGE Local DESCRIPTION 'As it is here'",
            "CREATE PACKAGE [far off]",
            "CREATE FUNCTION shown( n Integer ) RETURNS Char(10) BEGIN RETURN 'plain' ; END",
            "CREATE FUNCTION Local.shown( n Integer ) RETURNS Char(10) DESCRIPTION 'ours' BEGIN RETURN 'local' ; END",
            "CREATE FUNCTION [far off].shown( n Integer ) RETURNS Char(10) BEGIN RETURN 'far' ; END",
        ],
    );
    house
}

const ALL: &str =
    "SELECT TRIM( shown( 1 ) ) + TRIM( LOCAL.Shown( 1 ) ) + TRIM( [far off].shown( 1 ) ) AS x FROM system.iota";

#[test]
fn packages_are_name_spaces_of_functions() {
    let mut house = packed();
    assert_eq!(house.rows(ALL), ["plainlocalfar"]);
    assert_eq!(house.names(ObjectKind::Package, ""), ["Local", "far off"]);
    assert_eq!(house.names(ObjectKind::Function, ""), ["shown"]);
    assert_eq!(house.names(ObjectKind::Function, "LOCAL"), ["shown"]);
    assert_eq!(
        house.rows("SELECT Name, Comment FROM system.packages ORDER BY Name"),
        ["far off|", "Local|As it is here"]
    );
    assert_eq!(
        house.rows("SELECT Name, Package, Comment FROM system.functions ORDER BY Package"),
        ["shown||", "shown|far off|", "shown|Local|ours"]
    );
    run(
        &mut house,
        &["ALTER FUNCTION Local.shown( n Integer ) RETURNS Char(10) BEGIN RETURN 'here' ; END"],
    );
    assert_eq!(house.rows(ALL), ["plainherefar"]);
    run(
        &mut house,
        &[
            "EXECUTE PROCEDURE sp_RenameDDObject( ':Local::shown', 'told', 18, 0 )",
            "EXECUTE PROCEDURE sp_RenameDDObject( 'far off', 'away', 19, 0 )",
        ],
    );
    assert_eq!(
        house.rows(
            "SELECT TRIM( shown( 1 ) ) + TRIM( Local.told( 1 ) ) + TRIM( away.shown( 1 ) ) AS x FROM system.iota"
        ),
        ["plainherefar"]
    );
    run(&mut house, &["DROP FUNCTION shown", "DROP PACKAGE away"]);
    for gone in ["shown( 1 )", "away.shown( 1 )", "Local.shown( 1 )"] {
        let error = refused(&mut house, &format!("SELECT {gone} FROM system.iota"));
        assert!(error.contains("function not found"), "{gone}: {error}");
    }
    assert_eq!(
        house.rows("SELECT TRIM( Local.told( 1 ) ) AS x FROM system.iota"),
        ["here"]
    );
    run(&mut house, &["DROP FUNCTION Local.told", "DROP PACKAGE Local"]);
    assert_eq!(house.rows("SELECT Name FROM system.functions"), [""; 0]);
}

#[test]
fn what_cannot_be_in_a_package_is_refused() {
    let mut house = packed();
    for (sql, said) in [
        ("CREATE PACKAGE local", "already"),
        ("CREATE PACKAGE [a.b]", "no points"),
        ("DROP PACKAGE none", "no none there"),
        (
            "CREATE FUNCTION none.f( ) RETURNS Integer BEGIN RETURN 1 ; END",
            "no none there",
        ),
        (
            "CREATE FUNCTION local.SHOWN( ) RETURNS Integer BEGIN RETURN 1 ; END",
            "already",
        ),
        (
            "CREATE FUNCTION a.b.f( ) RETURNS Integer BEGIN RETURN 1 ; END",
            "name of a package before it",
        ),
        (
            "ALTER FUNCTION Local.other( ) RETURNS Integer BEGIN RETURN 1 ; END",
            "no other there",
        ),
        ("DROP FUNCTION Local.other", "no other there"),
        (
            "EXECUTE PROCEDURE sp_RenameDDObject( 'Local', 'a.b', 19, 0 )",
            "no points",
        ),
        (
            "EXECUTE PROCEDURE sp_RenameDDObject( 'Local', 'FAR OFF', 19, 0 )",
            "already",
        ),
    ] {
        let error = refused(&mut house, sql);
        assert!(error.contains(said), "{sql}: {error}");
    }
    assert_eq!(house.rows(ALL), ["plainlocalfar"]);
}

#[test]
fn rights_are_those_to_the_package() {
    let mut house = packed();
    let settings = house.settings.clone();
    house.connection.create_user(("ann", "a"), "", "", &settings).unwrap();
    run(
        &mut house,
        &[
            "EXECUTE PROCEDURE sp_ModifyDatabase( 'VERIFY_ACCESS_RIGHTS', 'TRUE' )",
            "GRANT EXECUTE ON Local TO ann",
        ],
    );
    let mut ann = Connection::open_dictionary_as(house.file(), ("ann", "a"), false, &settings).unwrap();
    let mut call = |function: &str| {
        let sql = format!("SELECT {function} FROM system.iota");
        ann.execute(&sql, &[], &settings, &house.options).map(drop)
    };
    call("Local.shown( 1 )").unwrap();
    for refused in ["shown( 1 )", "[far off].shown( 1 )"] {
        let error = call(refused).unwrap_err().to_string();
        assert!(error.contains("EXECUTE"), "{refused}: {error}");
    }
    let made = ann.create_package("mine", "", &settings);
    assert_eq!(made.unwrap_err().code(), ErrorCode::PermissionDenied);
}
