//! Procedures and functions that a dictionary keeps as scripts.

use super::*;

fn run(house: &mut House, statements: &[&str]) {
    for sql in statements {
        house.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

fn refused(house: &mut House, sql: &str) -> String {
    house.execute(sql).expect_err(sql).to_string()
}

fn town() -> House {
    let mut house = House::with_tables();
    run(
        &mut house,
        &["INSERT INTO towns VALUES ( 'PRG', 'Prague' ), ( 'BRN', 'Brno' ), ( 'OST', 'Ostrava' )"],
    );
    house
}

#[test]
fn a_procedure_takes_parameters_and_gives_rows() {
    let mut house = town();
    run(
        &mut house,
        &[
            "CREATE PROCEDURE found ( letter CHAR(1), most INTEGER, code CHAR(4) OUTPUT, what VARCHAR(30) OUTPUT, n INTEGER OUTPUT )
             BEGIN
               DECLARE towns CURSOR AS SELECT code, name FROM towns WHERE name >= _letter ORDER BY name;
               DECLARE n Integer;
               n = 0;
               OPEN towns;
               WHILE FETCH towns DO
                 IF n < _most THEN INSERT INTO __output VALUES ( towns.code, TRIM( towns.name ) + '!', n ); END;
                 n = n + 1;
               END WHILE;
               CLOSE towns;
             END",
            "CREATE PROCEDURE build ( code CHAR(4), name CHAR(20) ) BEGIN INSERT INTO towns SELECT * FROM __input; END;",
            "EXECUTE PROCEDURE build( 'ZLN', 'Zlin' )",
        ],
    );
    assert_eq!(
        house.rows("EXECUTE PROCEDURE found( 'O', 2 )"),
        ["OST|Ostrava!|0", "PRG|Prague!|1"]
    );
    let rows = house.rows("SELECT what FROM ( EXECUTE PROCEDURE FOUND( 'A', 9 ) ) f WHERE n > 1 ORDER BY what DESC");
    assert_eq!(rows, ["Zlin!", "Prague!"]);
    let rows = house
        .rows("SELECT Proc_Input, Proc_Output, Proc_Invoke_Option FROM system.storedprocedures WHERE name = 'found'");
    assert_eq!(
        rows,
        ["letter,CHAR,1;most,INTEGER;|code,CHAR,4;what,CHAR,30;n,INTEGER;|4"]
    );
    assert_eq!(house.names(ObjectKind::Procedure, ""), ["found", "build"]);

    run(
        &mut house,
        &[
            "ALTER PROCEDURE build ( code CHAR(4) ) BEGIN UPDATE towns SET name = 'built' WHERE code = _code; END",
            "EXECUTE PROCEDURE build( 'BRN' )",
            "DROP PROCEDURE found",
        ],
    );
    assert_eq!(house.rows("SELECT code FROM towns WHERE name = 'built'"), ["BRN"]);
    for (sql, why) in [
        ("EXECUTE PROCEDURE build( )", "build takes 1 arguments, and 0 are given"),
        ("EXECUTE PROCEDURE found( 'A', 1 )", "Procedure not found: found"),
        (
            "SELECT * FROM ( EXECUTE PROCEDURE build( 'A' ) ) b",
            "build gives no rows",
        ),
        ("DROP PROCEDURE found", "has no found"),
        (
            "CREATE PROCEDURE build ( ) BEGIN RAISE; END",
            "has a StoredProc build already",
        ),
        (
            "CREATE PROCEDURE p ( a NOTHING ) BEGIN RAISE; END",
            "there is no such type",
        ),
        (
            "CREATE PROCEDURE p ( CURSOR VARYING OUTPUT ) BEGIN RAISE; END",
            "in the place of CURSOR VARYING",
        ),
        ("CREATE PROCEDURE p ( a INTEGER ) BEGIN SELEC; END", "a statement"),
    ] {
        let error = refused(&mut house, sql);
        assert!(error.contains(why), "{sql}: {error}");
    }
}

#[test]
fn a_procedure_runs_in_the_transaction_that_there_is() {
    let mut house = town();
    run(
        &mut house,
        &[
            "CREATE PROCEDURE burn ( ) BEGIN DELETE FROM towns; END",
            "CREATE PROCEDURE all_or_none ( fails LOGICAL ) BEGIN
               BEGIN TRANSACTION;
               TRY
                 EXECUTE PROCEDURE burn( );
                 IF _fails THEN RAISE no_fire( 12, 'wet' ); END;
                 COMMIT WORK;
               CATCH no_fire
                 ROLLBACK WORK;
               END;
             END",
            "CREATE PROCEDURE native ( ) FUNCTION Burn IN LIBRARY [fire.aep]",
            "BEGIN TRANSACTION",
            "EXECUTE PROCEDURE burn( )",
        ],
    );
    assert_eq!(house.rows("SELECT COUNT(*) FROM towns"), ["0"]);
    run(&mut house, &["ROLLBACK WORK", "EXECUTE PROCEDURE all_or_none( TRUE )"]);
    assert_eq!(house.rows("SELECT COUNT(*) FROM towns"), ["3"]);
    let error = refused(&mut house, "EXECUTE PROCEDURE native( )");
    assert!(
        error.contains("NativeError = 5154") && error.contains("the function Burn of fire.aep"),
        "{error}"
    );
    run(&mut house, &["EXECUTE PROCEDURE all_or_none( FALSE )"]);
    assert_eq!(house.rows("SELECT COUNT(*) FROM towns"), ["0"]);
}

#[test]
fn a_function_is_called_by_expressions() {
    let mut house = town();
    run(
        &mut house,
        &[
            "CREATE FUNCTION full ( code CHAR(4), name VARCHAR(30) ) RETURNS VARCHAR(40) DESCRIPTION 'both'
             BEGIN RETURN TRIM( code ) + ': ' + TRIM( name ); END",
            "CREATE FUNCTION others ( own CHAR(4) ) RETURNS INTEGER
             BEGIN DECLARE n Integer; n = ( SELECT COUNT(*) FROM towns WHERE code <> own ); RETURN n; END",
            "CREATE FUNCTION factorial ( n INTEGER ) RETURNS INTEGER
             BEGIN IF n < 2 THEN RETURN 1; END; RETURN n * factorial( n - 1 ); END",
            "CREATE FUNCTION nothing ( ) RETURNS DATE BEGIN IF 1 = 2 THEN RETURN CURDATE(); END; END",
        ],
    );
    let rows = house.rows("SELECT FULL( code, name ) AS both, others( code ) FROM towns WHERE full( code, name ) LIKE 'B%' OR code = 'PRG' ORDER BY both");
    assert_eq!(rows, ["BRN: Brno|2", "PRG: Prague|2"]);
    assert_eq!(
        house.rows("SELECT factorial( 5 ), nothing( ) FROM system.iota"),
        ["120|"]
    );
    let rows =
        house.rows("SELECT name, [Return Type], [Input Parameters], Comment FROM system.functions WHERE name = 'full'");
    assert_eq!(rows, ["full|VARCHAR(40)|code CHAR(4), name VARCHAR(30)|both"]);
    run(
        &mut house,
        &["UPDATE towns SET name = full( code, name ) WHERE others( code ) = 2 AND code = 'OST'"],
    );
    assert_eq!(
        house.rows("SELECT name FROM towns WHERE code = 'OST'"),
        ["OST: Ostrava"]
    );

    // It sees what the program's transaction has changed, and its own definition as it is now.
    run(
        &mut house,
        &["BEGIN TRANSACTION", "DELETE FROM towns WHERE code = 'OST'"],
    );
    assert_eq!(house.rows("SELECT others( '' ) FROM system.iota"), ["2"]);
    run(&mut house, &["ROLLBACK WORK"]);
    assert_eq!(house.rows("SELECT others( '' ) FROM system.iota"), ["3"]);
    run(
        &mut house,
        &["ALTER FUNCTION others ( a CHAR(4), b INTEGER ) RETURNS INTEGER BEGIN RETURN b; END"],
    );
    assert_eq!(house.rows("SELECT others( 'A', 7 ) FROM system.iota"), ["7"]);
    for (sql, why) in [
        (
            "SELECT factorial( 100 ) FROM system.iota",
            "call one another more than 32 deep",
        ),
        (
            "SELECT factorial( ) FROM system.iota",
            "factorial() takes 1 arguments, and 0 are given",
        ),
        (
            "CREATE FUNCTION full ( ) RETURNS DATE BEGIN RAISE; END",
            "has a Function full already",
        ),
        (
            "CREATE FUNCTION f ( a NOTHING ) RETURNS DATE BEGIN RAISE; END",
            "no variables of the type NOTHING",
        ),
        (
            "CREATE FUNCTION pack.f ( ) RETURNS DATE BEGIN RAISE; END",
            "has no pack there",
        ),
        ("DROP FUNCTION f", "has no f"),
    ] {
        let error = refused(&mut house, sql);
        assert!(error.contains(why), "{sql}: {error}");
    }
    run(&mut house, &["DROP FUNCTION full"]);
    let error = refused(&mut house, "SELECT full( 'a', 'b' ) FROM system.iota");
    assert!(error.contains("Scalar function not found"), "{error}");
}

#[test]
fn triggers_call_procedures_and_functions() {
    let mut house = town();
    run(
        &mut house,
        &[
            "CREATE FUNCTION loud ( name CHAR(20) ) RETURNS CHAR(20) BEGIN RETURN UPPER( name ); END",
            "CREATE PROCEDURE hire ( name CHAR(20) ) BEGIN INSERT INTO Staff ( [Last Name] ) VALUES ( loud( _name ) ); END",
            "CREATE TRIGGER mayor ON towns AFTER INSERT BEGIN EXECUTE PROCEDURE hire( __new.name ); END",
            "INSERT INTO towns VALUES ( 'ZLN', 'Zlin' )",
        ],
    );
    assert_eq!(house.rows("SELECT [Last Name] FROM Staff"), ["ZLIN"]);
}

#[test]
fn properties_of_procedures_are_asked_and_set() {
    let mut house = town();
    run(
        &mut house,
        &["CREATE PROCEDURE p ( a INTEGER, b INTEGER OUTPUT ) BEGIN INSERT INTO __output VALUES ( _a ); END"],
    );
    let mut get = |number| {
        house
            .connection
            .object_property(ObjectKind::Procedure, ("", "P"), number)
    };
    assert_eq!(get(800).unwrap(), text("a,INTEGER;"));
    assert_eq!(get(805).unwrap(), text("INSERT INTO __output VALUES ( _a );"));
    assert_eq!(get(804).unwrap(), PropertyValue::Long(4));
    assert_eq!(get(802).unwrap_err().code(), ErrorCode::PropertyNotSet);
    run(
        &mut house,
        &[
            "EXECUTE PROCEDURE sp_ModifyProcedureProperty( 'p', 'PROC_SCRIPT', 'INSERT INTO __output VALUES ( _a + 1 )' )",
        ],
    );
    assert_eq!(house.rows("EXECUTE PROCEDURE p( 4 )"), ["5"]);
    let error = refused(
        &mut house,
        "EXECUTE PROCEDURE sp_ModifyProcedureProperty( 'p', 'PROC_INPUT', 'a' )",
    );
    assert!(error.contains("a field has a name and a type"), "{error}");
}
