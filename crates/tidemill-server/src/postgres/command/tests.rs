use super::*;

#[test]
fn a_text_is_split_at_its_semicolons() {
    for (text, parts) in [
        (
            "SELECT 1; SELECT ';' AS \"a;b\"; -- ; \n",
            vec!["SELECT 1", " SELECT ';' AS \"a;b\""],
        ),
        ("SELECT 'ä;'\n;\nSELECT $$;$$", vec!["SELECT 'ä;'\n", "\nSELECT $$;$$"]),
        (";;", vec![]),
        (
            "DECLARE @x INTEGER; SET @x = 1; SELECT @x FROM system.iota;",
            vec!["DECLARE @x INTEGER; SET @x = 1; SELECT @x FROM system.iota;"],
        ),
        (
            "DECLARE c CURSOR FOR SELECT 1; FETCH 1 FROM c",
            vec!["DECLARE c CURSOR FOR SELECT 1", " FETCH 1 FROM c"],
        ),
    ] {
        assert_eq!(split(text).expect(text), parts, "{text}");
    }
}

#[test]
fn statements_of_the_protocol_are_known() {
    for (text, expected) in [
        ("BEGIN", "Begin { reads_only: None }"),
        ("BEGIN READ WRITE", "Begin { reads_only: Some(false) }"),
        (
            "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
            "Set { name: \"default_transaction_read_only\", value: Some(\"on\"), is_local: false }",
        ),
        (
            "SET TRANSACTION READ WRITE",
            "Set { name: \"transaction_read_only\", value: Some(\"off\"), is_local: true }",
        ),
        (
            "START TRANSACTION ISOLATION LEVEL SERIALIZABLE READ ONLY",
            "Begin { reads_only: Some(true) }",
        ),
        ("end", "Commit"),
        ("ABORT", "Rollback"),
        (
            "ROLLBACK TO SAVEPOINT \"a b\"",
            "Savepoint { sql: \"ROLLBACK TO SAVEPOINT \\\"a b\\\"\", tag: \"ROLLBACK\" }",
        ),
        (
            "SET search_path TO shop, public",
            "Set { name: \"search_path\", value: Some(\"shop, public\"), is_local: false }",
        ),
        (
            "SET SESSION myapp.x = 'a b'",
            "Set { name: \"myapp.x\", value: Some(\"a b\"), is_local: false }",
        ),
        (
            "SET TIME ZONE 'UTC'",
            "Set { name: \"TimeZone\", value: Some(\"UTC\"), is_local: false }",
        ),
        ("SHOW TIME ZONE", "Show(\"TimeZone\")"),
        ("SHOW ALL", "ShowAll"),
        (
            "FETCH FORWARD 10 FROM c",
            "Fetch { name: \"c\", rows: Some(10), shows: true }",
        ),
        ("CLOSE ALL", "CloseCursor(None)"),
        ("DEALLOCATE PREPARE s1", "Deallocate(Some(\"s1\"))"),
    ] {
        assert_eq!(format!("{:?}", parse(text).expect(text)), expected, "{text}");
    }
    for text in [
        "SAVEPOINT",
        "FETCH LAST FROM c",
        "FETCH -1 FROM c",
        "MOVE BACKWARD 2 IN c",
        "DECLARE c SCROLL CURSOR FOR SELECT 1",
        "SET ROLE x",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
    assert!(matches!(parse("SHOW TABLES"), Ok(Command::Sql(_))));
    for text in [
        "DECLARE c NO SCROLL CURSOR FOR SELECT 1",
        "DECLARE c CURSOR WITHOUT HOLD FOR SELECT 1",
        "DECLARE \"SQL_CUR1\" CURSOR WITH HOLD FOR SELECT 1",
    ] {
        assert!(matches!(parse(text), Ok(Command::Declare { .. })), "{text}");
    }
    for (text, tag) in [
        ("TRUNCATE a.b", "TRUNCATE TABLE"),
        ("CREATE UNIQUE INDEX i ON t (a)", "CREATE INDEX"),
        ("DROP TABLE t", "DROP TABLE"),
    ] {
        let Ok(Command::Sql(sql)) = parse(text) else {
            panic!("{text}")
        };
        assert_eq!(sql.tag, tag, "{text}");
    }
    let parts = split_with_places("SELECT 'ä'; SELECT 2").expect("split");
    assert_eq!(parts, [(0, "SELECT 'ä'".to_owned()), (11, " SELECT 2".to_owned())]);
}

#[test]
fn parameters_and_casts_are_put_in_the_words_of_the_session() {
    for (text, expected, places) in [
        (
            "SELECT $2, '$1', $1 FROM t",
            "SELECT :PG2, '$1', :PG1 FROM t",
            vec![1, 0],
        ),
        (
            "SELECT $1::int4, E'a\\n'",
            "SELECT CAST(:PG1 AS INTEGER), 'a\n'",
            vec![0],
        ),
        ("SELECT n::text FROM t", "SELECT CAST(n AS VARCHAR) FROM t", vec![]),
        (
            "SELECT a FROM t WHERE b = ANY($1::int[])",
            "SELECT a FROM t WHERE b = ANY(:PG1)",
            vec![0],
        ),
        (
            "SELECT a FROM t WHERE b = $1 OR c = $1",
            "SELECT a FROM t WHERE b = :PG1 OR c = :PG1",
            vec![0],
        ),
        (
            "SELECT a ^ 2 ^ $1 FROM t",
            "SELECT POWER(POWER(a, 2), :PG1) FROM t",
            vec![0],
        ),
        ("SELECT a # 3 FROM t", "SELECT a ^ 3 FROM t", vec![]),
        (
            "SELECT * FROM unnest('{1,NULL}'::int[])",
            "SELECT * FROM UNNEST(ARRAY[CAST('1' AS INT), CAST(NULL AS INT)])",
            vec![],
        ),
    ] {
        let Ok(Command::Sql(sql)) = parse(text) else {
            panic!("{text}")
        };
        assert_eq!((sql.text.as_str(), &sql.places), (expected, &places), "{text}");
    }
}
