//! `docs/ads/sql-functions.md`: every function is listed, and every example gives what the page says.

use std::collections::BTreeSet;

use crate::sql_rows::{lines_of, with_the_clock};
use tidemill_ads::Connection;
use tidemill_ads::sql::{Answer, Prepared, function_names};
use tidemill_xbase::CodePage;

const PAGE: &str = include_str!("../../../../docs/ads/sql-functions.md");

/// Name, example and result of each line.
fn lines() -> Vec<(&'static str, &'static str, &'static str)> {
    let rows = PAGE
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| function"));
    rows.map(|line| {
        let mut cells = line.trim_matches('|').split(" | ").map(str::trim);
        let name = cells
            .next()
            .and_then(|call| call.split('(').next())
            .expect("a function");
        let mut code = || {
            cells
                .next()
                .and_then(|cell| cell.strip_prefix('`')?.strip_suffix('`'))
                .expect(line)
        };
        let example = code();
        (name, example, code())
    })
    .collect()
}

#[test]
fn the_page_lists_every_function() {
    let listed: BTreeSet<&str> = lines().into_iter().map(|(name, ..)| name).collect();
    let known: BTreeSet<&str> = function_names().collect();
    assert_eq!(listed, known);
}

#[test]
fn examples_give_what_the_page_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut connection = Connection::open(folder.path()).expect("a connection");
    let (settings, options) = with_the_clock();
    let mut tables = connection.tables(&settings, &options);
    let mut wrong = Vec::new();
    for (name, example, expected) in lines() {
        let sql = format!("SELECT {example} FROM system.iota");
        let answer = Prepared::new(&sql, &mut tables).and_then(|prepared| prepared.run(&mut tables, &[]));
        let found = match answer {
            Ok(Answer::Rows(rows)) => lines_of(&rows).join("\n"),
            other => format!("{other:?}"),
        };
        if found != expected {
            wrong.push(format!("{name}: {example} gives {found:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The same functions over a column of a table, whose values differ from row to row and have blanks.
#[test]
fn functions_of_columns_give_a_value_for_every_record() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut connection = Connection::open(folder.path()).expect("a connection");
    let (settings, options) = with_the_clock();
    let mut tables = connection.tables(&settings, &options);
    let mut run = |sql: &str| {
        let prepared = Prepared::new(sql, &mut tables).unwrap_or_else(|e| panic!("{sql}: {e}"));
        prepared
            .run_static(&mut tables, &[])
            .unwrap_or_else(|e| panic!("{sql}: {e}"))
    };
    run("CREATE TABLE t ( c Char(6), n Numeric(8,2), d Date )");
    run("INSERT INTO t VALUES ( 'Smith', 12.34, '2024-02-29' ), ( '', 0, DEFAULT ), ( 'a b', -7.5, '1999-12-31' )");
    for (expression, expected) in [
        ("LEN(c)", "6 6 6"),
        ("LENGTH(c)", "5 0 3"),
        ("LEFT(c, 2) + '.'", "Sm. . a ."),
        ("RIGHT(c, 2) + '.'", "h . . ."),
        ("SOUNDEX(c)", "S530 0000 A100"),
        ("STR(n, 6, 1)", "12.3 0.0 -7.5"),
        ("ROUND(n, 1)", "12.30 0.00 -7.50"),
        ("MOD(n, 5)", "2.34 0.00 -2.50"),
        ("YEAR(d)", "2024 0 1999"),
        ("DTOS(d)", "20240229 19991231"),
        ("DAYNAME(d)", "Thursday '' Friday"),
        ("d + 1", "2024-03-01 NULL 2000-01-01"),
        ("n * n", "152.2756 0.0000 56.2500"),
        ("REPLACE(c, ' ', '')", "Smith '' ab"),
    ] {
        let Answer::Rows(rows) = run(&format!("SELECT {expression} FROM t")) else {
            panic!("{expression} gives no rows");
        };
        let found: Vec<String> = lines_of(&rows)
            .iter()
            .flat_map(|line| {
                line.split(' ')
                    .filter(|word| !word.is_empty())
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            })
            .collect();
        let expected: Vec<&str> = expected.split(' ').filter(|word| !word.is_empty()).collect();
        assert_eq!(found, expected, "{expression}");
    }
}

/// Whatever the code page of a table: its letters are changed and counted, and none becomes another.
#[test]
fn letters_of_every_code_page_are_kept_and_have_their_capitals() {
    for (page, small, capital) in [
        (CodePage::Cp1252, "äßéÿœµ", "ÄßÉŸŒµ"),
        (CodePage::Cp850, "äßéñ", "ÄßÉÑ"),
        (CodePage::Cp866, "жук", "ЖУК"),
        (CodePage::Cp1251, "ђжук", "ЂЖУК"),
        (CodePage::Cp1253, "ωάβ", "ΩΆΒ"),
        (CodePage::Cp852, "łódź", "ŁÓDŹ"),
        (CodePage::Utf8, "жäω", "ЖÄΩ"),
        (CodePage::Cp932, "ｱあ", "ｱあ"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut connection = Connection::open(folder.path()).expect("a connection");
        let (settings, mut options) = with_the_clock();
        options.table.codepage = Some(page);
        let mut tables = connection.tables(&settings, &options);
        let mut run = |sql: &str| {
            let prepared = Prepared::new(sql, &mut tables).unwrap_or_else(|e| panic!("{page}: {sql}: {e}"));
            match prepared.run_static(&mut tables, &[]) {
                Ok(Answer::Rows(rows)) => lines_of(&rows).join("\n"),
                Ok(_) => String::new(),
                Err(error) => panic!("{page}: {sql}: {error}"),
            }
        };
        run("CREATE TABLE t ( c Char(20), k Integer )");
        run(&format!("INSERT INTO t VALUES ( '{small}', 1 ), ( 'x', 2 )"));
        let of_one = |expression: &str| format!("SELECT {expression} FROM t WHERE k = 1");
        let length = small.chars().count();
        for (expression, expected) in [
            ("UPPER(c)", capital.to_owned()),
            ("UCASE(TRIM(c)) + '.'", format!("{capital}.")),
            ("LOWER(UPPER(c))", small.to_owned()),
            ("PADL(TRIM(c), 8, '*')", format!("{}{small}", "*".repeat(8 - length))),
            ("PADC(TRIM(c), 8, '*')", {
                let before = (8 - length) / 2;
                format!("{}{small}{}", "*".repeat(before), "*".repeat(8 - length - before))
            }),
            ("PADR(TRIM(c), 2)", small.chars().take(2).collect()),
            (
                &format!("RAT('{}', TRIM(c))", small.chars().last().expect("a letter")),
                length.to_string(),
            ),
        ] {
            assert_eq!(run(&of_one(expression)), expected, "{page}: {expression}");
        }
        for indexed in [false, true] {
            if indexed {
                run("EXECUTE PROCEDURE sp_CreateIndex( 't', '', 'big', 'UPPER(c)', '', 2, 512 )");
            }
            for (condition, expected) in [
                (format!("UPPER(c) = '{capital}'"), "1"),
                ("UPPER(c) = 'X'".to_owned(), "2"),
                (format!("LOWER(c) = '{small}'"), "1"),
            ] {
                let sql = format!("SELECT k FROM t WHERE {condition}");
                assert_eq!(run(&sql), expected, "{page}: {condition}, {indexed}");
            }
        }
        run("UPDATE t SET c = UPPER(c)");
        assert_eq!(run(&of_one("c")), capital, "{page}");
        // Without a table too.
        assert_eq!(
            run(&format!("SELECT UPPER('{small}') FROM system.iota")),
            capital,
            "{page}"
        );
    }
}
