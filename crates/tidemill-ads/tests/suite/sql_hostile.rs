//! Statements that nobody meant: every beginning of a good one, and words in any order.

use proptest::prelude::*;
use tidemill_ads::sql::{Prepared, StatementOptions, Value, parse};
use tidemill_ads::{Connection, Settings};

const GOOD: &[&str] = &[
    "SELECT {static} TOP 5 START AT 2 a.ID, COUNT(*) AS n FROM [t.dbf] a WHERE a.C LIKE 'x%' {escape '!'} GROUP BY 1 HAVING n > 1 ORDER BY 2 DESC",
    "INSERT INTO t ( ID, C ) VALUES ( 1, 'it''s' ), ( :id, DEFAULT )",
    "UPDATE t SET N = CASE WHEN ID BETWEEN 1 AND 3 THEN IIF( C = '', 1, 2 ) ELSE N * -1 END WHERE NOT ( D IS NULL OR ID IN ( 1, 2 ) )",
    "DECLARE c CURSOR AS SELECT * FROM t; OPEN c; WHILE FETCH c DO TRY RAISE a( 1, 'x' ); CATCH ALL LEAVE; FINALLY CLOSE c; END TRY; END WHILE;",
    "MERGE INTO t USING t s ON ( t.ID = s.ID ) WHEN MATCHED THEN UPDATE SET C = s.C WHEN NOT MATCHED THEN INSERT ( ID ) VALUES ( s.ID )",
    "CREATE TABLE u ( a Char(3) NULL, b Numeric(8,2), CONSTRAINT k PRIMARY KEY ( a DESC ) ); ALTER TABLE u ADD c Date POSITION 1 DROP b; CREATE UNIQUE INDEX i ON u ( a, b )",
    "SELECT {d '2024-01-31'}, {fn UCASE( C )}, ::conn.TransactionCount, 1.5e3, X'4142' FROM 'dir/t.dbf' // comment\n WHERE N << 2 = 8 & 12",
];

#[test]
fn every_beginning_of_a_statement_is_read_or_refused() {
    for text in GOOD {
        parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        for (end, _) in text.char_indices() {
            let _ = parse(&text[..end]);
        }
    }
}

#[test]
fn the_seeds_of_the_fuzz_target_are_statements() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/ads/sql");
    let files: Vec<_> = std::fs::read_dir(folder).expect("the seeds").flatten().collect();
    assert!(!files.is_empty());
    for file in files {
        let text = std::fs::read_to_string(file.path()).expect("a seed");
        parse(&text).unwrap_or_else(|e| panic!("{}: {e}", file.path().display()));
    }
}

#[test]
fn deep_nesting_is_an_error_and_not_the_end() {
    for text in [
        format!("SELECT {}1{}", "(".repeat(5000), ")".repeat(5000)),
        format!("SELECT {}1", "-".repeat(5001)),
        format!("SELECT 1{}", " + 1".repeat(20_000)),
        format!("SELECT 1{}", " + 1".repeat(950)),
        format!("SELECT 1 WHERE 1 = 1{}", " OR 1 = 2".repeat(480)),
        format!("SELECT 1{}", " UNION SELECT 1".repeat(45)),
        format!("SELECT {}TRUE", "NOT ".repeat(5000)),
        "IF 1 = 1 THEN ".repeat(5000),
        "EXPLAIN ".repeat(5000),
        format!("SELECT {}1", "CASE WHEN TRUE THEN ".repeat(2000)),
        format!("SELECT {}1", "CAST( ".repeat(2000)),
        format!("SELECT {}1", "NOT ( ".repeat(2000)),
        format!("SELECT {}1", "CASE WHEN TRUE THEN ".repeat(8)),
        format!("SELECT {}1", "x( ".repeat(2000)),
        "SELECT 'open".to_owned(),
        " ".repeat(2 << 20),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut connection = Connection::open(folder.path()).expect("a connection");
        let (settings, options) = (Settings::default(), StatementOptions::default());
        let mut tables = connection.tables(&settings, &options);
        let beginning: String = text.chars().take(40).collect();
        if let Ok(prepared) = Prepared::new(&text, &mut tables) {
            let answer = prepared.run(&mut tables, &[]);
            assert!(answer.is_ok(), "{beginning}: {answer:?}");
        }
    }
    // What programs write is no nesting.
    let folder = tempfile::tempdir().expect("a folder");
    let mut connection = Connection::open(folder.path()).expect("a connection");
    let (settings, options) = (Settings::default(), StatementOptions::default());
    let mut tables = connection.tables(&settings, &options);
    for text in [
        format!("SELECT 1 WHERE 1 = 1{}", " OR 1 = 2".repeat(480)),
        format!("SELECT 1 WHERE 1 IN ( 0{} )", ", 1".repeat(20_000)),
        format!("SELECT 1{}", " + 1".repeat(95)),
        format!("SELECT {}1{}", "(".repeat(25), ")".repeat(25)),
        format!("SELECT 1{}", " UNION SELECT 1".repeat(45)),
    ] {
        Prepared::new(&text, &mut tables)
            .expect("a statement")
            .run(&mut tables, &[])
            .expect("an answer");
    }
}

/// Words that statements over the table are made of.
fn word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "SELECT",
        "FROM",
        "WHERE",
        "t",
        "ID",
        "C",
        "N",
        "D",
        "L",
        "*",
        ",",
        "(",
        ")",
        "=",
        "<",
        ">=",
        "+",
        "-",
        "/",
        "||",
        "1",
        "'a'",
        "0.5",
        "NULL",
        "AND",
        "OR",
        "NOT",
        "IN",
        "LIKE",
        "BETWEEN",
        "IS",
        "GROUP",
        "BY",
        "ORDER",
        "HAVING",
        "COUNT(*)",
        "SUM(N)",
        "MAX(C)",
        "DISTINCT",
        "TOP",
        "LIMIT",
        "CASE",
        "WHEN",
        "THEN",
        "END",
        "AS",
        "x",
        "?",
        ":p",
        "UPPER(C)",
        "LEN(",
        "YEAR(D)",
        "{d '2024-01-31'}",
        "UNION",
        "ALL",
        "LEFT(C,",
        "MOD(N,",
        "TRUE",
        "DELETED()",
        "RECNO()",
        ".",
        ";",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_words_are_answered_or_refused(words in prop::collection::vec(word(), 1..14), value in any::<i64>()) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut connection = Connection::open(folder.path()).expect("a connection");
let (settings, options) = (Settings::default(), StatementOptions::default());
let mut tables = connection.tables(&settings, &options);
        for sql in [
            "CREATE TABLE t ( ID Integer, C Char(4), N Numeric(8,2), D Date, L Logical )",
            "INSERT INTO t VALUES ( 1, 'a', 0.5, '2024-01-31', TRUE ), ( 2, '', -3, DEFAULT, FALSE )",
        ] {
            Prepared::new(sql, &mut tables).expect(sql).run(&mut tables, &[]).expect(sql);
        }
        let text = format!("SELECT {}", words.join(" "));
        for text in [text.clone(), format!("SELECT {} FROM t", words.join(" ")), format!("SELECT * FROM t WHERE {}", words.join(" "))] {
            if let Ok(prepared) = Prepared::new(&text, &mut tables) {
                let values = vec![Value::Integer(value); prepared.parameters().len()];
                let _ = prepared.run_static(&mut tables, &values);
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
        let _ = parse(&text);
    }
}
