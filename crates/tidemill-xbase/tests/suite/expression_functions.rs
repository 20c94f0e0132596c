//! Every function of expressions: by the examples of its page, and for odd arguments.

use std::collections::BTreeSet;
use std::path::Path;

use tidemill_xbase::expression::{Environment, Program, Record, Value, function_names};
use tidemill_xbase::{CodePage, Result};

/// 2024-01-31 13:05:09.
const CLOCK: i64 = 1_706_706_309_000;

#[test]
fn the_page_lists_the_functions_that_there_are() {
    let listed: BTreeSet<String> = examples().into_iter().map(|e| e.name).collect();
    let known: BTreeSet<String> = function_names().map(str::to_owned).collect();
    assert_eq!(listed, known);
}

#[test]
fn every_example_of_the_page_gives_its_result() {
    for example in examples() {
        assert_eq!(evaluate(&example.text), evaluate(&example.result), "{}", example.text);
    }
}

#[test]
fn functions_answer_odd_arguments_as_harbour_does() {
    for (text, expected) in [
        ("SUBSTR('abc', 9)", "''"),
        ("SUBSTR('abc', 0, 2)", "'ab'"),
        ("SUBSTR('abc', -9, 2)", "'ab'"),
        ("SUBSTR('abc', 2, -1)", "''"),
        ("SUBS('abc', 2)", "'bc'"),
        ("LEFT('abc', -1) + RIGHT('abc', -1)", "''"),
        ("LEFT('abc', 1e)", "error"),
        ("STR(123456, 3)", "'***'"),
        ("STR(0.5, 3, 2)", "'***'"),
        ("STR(1.5)", "'         1.5'"),
        ("STR(12345678901)", "'         12345678901'"),
        ("STR(10/4)", "'         2.50'"),
        ("STR(1.5*1.25)", "'         1.875'"),
        ("STR(YEAR({^2024-01-31}))", "' 2024'"),
        ("STR(-0.001, 5, 1)", "'  0.0'"),
        ("STRZERO(-1.5, 6, 1)", "'-001.5'"),
        ("STRZERO(1234, 3)", "'***'"),
        ("VAL('abc')", "0"),
        ("VAL('1.2.3')", "1.2"),
        ("AT('', 'abc')", "0"),
        ("'' $ 'abc'", ".F."),
        ("'b' $ 'abc'", ".T."),
        ("RAT('', 'abc')", "0"),
        ("AT('b', 'abcb', 2)", "4"),
        ("AT('b', 'abcb', 3)", "0"),
        ("BINTOC(1, 1)", "CHR(129)"),
        ("BINTOC(-1)", "CHR(127) + CHR(255) + CHR(255) + CHR(255)"),
        ("BINTOC(-129, 1)", "CHR(0)"),
        ("CHR(321)", "'A'"),
        ("ASC('')", "0"),
        ("ASC(CHR(200))", "200"),
        ("ASC(DESCEND(CHR(200)))", "56"),
        ("DESCEND(5)", "-5"),
        ("DESCEND(.T.)", ".F."),
        ("DESCEND({})", "5231808"),
        ("EMPTY(0.0)", ".T."),
        ("EMPTY(CHR(9) + ' ')", ".T."),
        ("EMPTY({})", ".T."),
        ("EMPTY(.NULL.)", ".F."),
        ("DTOS({})", "'        '"),
        ("DTOC({})", "'  /  /  '"),
        ("CTOD('02/30/2024')", "{}"),
        ("CTOD('^2024-01-31')", "{^2024-01-31}"),
        ("CTOD('')", "{}"),
        ("CTOT('13:05')", "TTOT"),
        ("STOD('20240230')", "{}"),
        ("{^2024-01-31} + 1", "{^2024-02-01}"),
        ("1 + {^2024-01-31}", "{^2024-02-01}"),
        ("{^2024-03-01} - {^2024-02-01}", "29"),
        ("{^2024-01-31 12:00} - {^2024-01-31}", "0.5"),
        ("{^2024-01-31} + 0.5 = {^2024-01-31}", ".T."),
        ("{^2024-01-31 12:00} + 0.5", "{^2024-02-01 00:00:00.000}"),
        ("{} < {^0001-01-01}", ".T."),
        ("YEAR({}) + MONTH({}) + DAY({}) + DOW({})", "0"),
        ("CDOW({}) + CMONTH({})", "''"),
        ("'a  ' - 'b'", "'ab  '"),
        ("1 / 0", "0"),
        ("7 % 0", "0"),
        ("-7 % 3", "-1"),
        ("MOD(5, 0)", "5"),
        ("MOD(7, -3)", "-2"),
        ("2 ^ 3 ^ 2", "64"),
        ("-2 ^ 2", "4"),
        ("ROUND(2.675, 2)", "2.68"),
        ("ROUND(-2.5, 0)", "-3"),
        ("INT(-0.5)", "0"),
        ("PADL('abc', 2)", "'ab'"),
        ("PADC('abc', 6)", "' abc  '"),
        ("PADR(1.50, 6)", "'1.50  '"),
        ("PADL({^2024-01-31}, 10)", "'  01/31/24'"),
        ("STRTRAN('aaa', 'a', 'b', 1, 2)", "'bba'"),
        ("STRTRAN('aaa', '', 'b')", "'aaa'"),
        ("STRTRAN('aaa', 'a')", "''"),
        ("STUFF('abc', 9, 1, 'd')", "'abcd'"),
        ("STUFF('abc', 1, -1, 'd')", "'d'"),
        ("SOUNDEX('')", "'0000'"),
        ("SOUNDEX('Pfister')", "'P236'"),
        ("SPACE(-1)", "''"),
        ("MAX('a', 'b')", "'b'"),
        ("MAX({^2024-01-31}, {^2023-01-31})", "{^2024-01-31}"),
        ("MIN(-1, 1)", "-1"),
        ("SQRT(-1)", "0"),
        ("INLIST(3, 1, 2)", ".F."),
        ("INLIST('a ', 'a')", ".T."),
        ("BETWEEN('b', 'a', 'c')", ".T."),
        ("BETWEEN({^2024-01-31}, {}, {})", ".F."),
        ("TRANSFORM(1234567.891, '9,999,999.99')", "'1,234,567.89'"),
        ("TRANSFORM(12, '9,999')", "'   12'"),
        ("TRANSFORM(-1234, '99,999')", "'-1,234'"),
        ("TRANSFORM(12345, '999')", "'***'"),
        ("TRANSFORM(0, '@Z 999')", "'   '"),
        ("TRANSFORM(5, '@L 9999')", "'0005'"),
        ("TRANSFORM(5, '$999.99')", "'$  5.00'"),
        ("TRANSFORM(5, '****')", "'***5'"),
        ("TRANSFORM(-5, '@X 999')", "'  5 DB'"),
        ("TRANSFORM(5, '@C 999')", "'  5 CR'"),
        ("TRANSFORM(1234.5, '@E 9,999.99')", "'1.234,50'"),
        ("TRANSFORM('abcd', '@!')", "'ABCD'"),
        ("TRANSFORM('1234567', '@R 999-9999')", "'123-4567'"),
        ("TRANSFORM('abc', 'X-X')", "'a-c'"),
        ("TRANSFORM(.T., 'Y')", "'Y'"),
        ("TRANSFORM(.T.)", "'.T.'"),
        ("TRANSFORM({^2024-01-31}, '@E')", "'31/01/24'"),
        ("TRANSFORM('abc', '@S2')", "'ab'"),
        ("TRANSFORM(5, '@B 999')", "'5  '"),
        ("TTOC({^2024-01-31 13:05:09})", "'01/31/24 13:05:09'"),
    ] {
        match expected {
            "error" => assert!(Program::compile(text, &[], &environment()).is_err(), "{text}"),
            "TTOT" => assert_eq!(evaluate(text), Value::Timestamp((13 * 60 + 5) * 60_000)),
            _ => assert_eq!(evaluate(text), evaluate(expected), "{text}"),
        }
    }
}

/// Record 7 of a table without fields.
struct Seventh;

impl Record for Seventh {
    fn value(&self, field: usize) -> Result<Value<'_>> {
        panic!("field {field} of none");
    }

    fn record_no(&self) -> u32 {
        7
    }

    fn is_deleted(&self) -> bool {
        false
    }
}

struct Example {
    name: String,
    text: String,
    result: String,
}

/// The lines of the page's table of functions.
fn examples() -> Vec<Example> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats/xbase-expressions.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, functions) = page.split_once("\n## Functions\n").unwrap();
    let lines = functions.lines().filter(|l| l.starts_with("| ")).skip(1);
    let example = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        Example {
            name: cells[1].split('(').next().unwrap().to_owned(),
            text: cells[2].trim_matches('`').to_owned(),
            result: cells[3].trim_matches('`').to_owned(),
        }
    };
    lines.map(example).collect()
}

fn environment() -> Environment {
    Environment::new(CodePage::Cp437).now(CLOCK).epoch(1950)
}

fn evaluate(text: &str) -> Value<'static> {
    let program = Program::compile(text, &[], &environment()).unwrap();
    program.evaluate_record(&Seventh).unwrap().into_owned()
}
