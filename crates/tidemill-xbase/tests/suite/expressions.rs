//! The expression language: settings, types, errors, and the agreement of the column form with the row form.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, TimestampMillisecondType};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Decimal128Array, RecordBatch, StringArray, TimestampMillisecondArray,
    UInt32Array,
};
use arrow_schema::DataType;
use proptest::prelude::*;
use tidemill_xbase::expression::{
    DateOrder, Environment, Letters, MAX_DEPTH, MAX_NESTING, Program, Record, Type, Value, function_names, parse,
};
use tidemill_xbase::{CodePage, OpenOptions, Result, Table};

#[test]
fn set_exact_decides_how_far_texts_are_compared() {
    // The columns: the text, and the result with SET EXACT off and on.
    for (text, off, on) in [
        ("'ABC' = 'AB'", true, false),
        ("'AB' = 'ABC'", false, false),
        ("'ABC' = ''", true, false),
        ("'' = 'ABC'", false, false),
        ("'' = ''", true, true),
        ("'AB  ' = 'AB'", true, true),
        ("'AB' = 'AB  '", false, true),
        ("'AB' == 'AB '", false, false),
        ("'AB' == 'AB'", true, true),
        ("'ABC' > 'AB'", false, true),
        ("'ABC' <= 'AB'", true, false),
        ("'ABC' <> 'AB'", false, true),
        ("'ABC' # 'ABD'", true, true),
        ("'AB' < 'ABC'", true, true),
    ] {
        for (exact, expected) in [(false, off), (true, on)] {
            let environment = environment().exact(exact);
            let program = Program::compile(text, &[], &environment).unwrap();
            assert_eq!(program.blank(), &Value::Logical(expected), "{text} {exact}");
        }
    }
}

#[test]
fn a_collation_orders_texts_and_its_letters_have_capitals() {
    // ä sorts between a and b.
    let mut weights: [u8; 256] = std::array::from_fn(|i| u8::try_from(i).unwrap());
    let place = weights[usize::from(b'b')];
    for weight in &mut weights {
        *weight = if *weight >= place && *weight < 0x84 {
            *weight + 1
        } else {
            *weight
        };
    }
    weights[0x84] = place;
    let environment = environment()
        .letters(Letters::national(CodePage::Cp437, "äöü"))
        .weights(Some(Arc::new(weights)));
    for (text, expected) in [
        ("'ä' < 'b'", Value::Logical(true)),
        ("'ä' > 'az'", Value::Logical(true)),
        ("MAX('äx', 'b')", Value::text(b"b".as_slice())),
        ("COLLATE('ä') < 'c'", Value::Logical(true)),
        ("UPPER('äb')", Value::text(b"\x8eB".as_slice())),
        ("LOWER('ÄB')", Value::text(b"\x84b".as_slice())),
        ("ISALPHA('ä')", Value::Logical(true)),
    ] {
        let program = Program::compile(text, &[], &environment).unwrap();
        assert_eq!(program.blank(), &expected, "{text}");
    }
    let bytes = Program::compile("'ä' < 'b'", &[], &Environment::new(CodePage::Cp437)).unwrap();
    assert_eq!(bytes.blank(), &Value::Logical(false));
    let all = Letters::of(CodePage::Cp1252);
    assert_eq!(all.upper()[0xE9], 0xC9);
    assert!(all.is_letter(0xDF) && !all.is_lower(0xDF));
}

#[test]
fn null_makes_null_but_where_it_does_not_matter() {
    for (text, expected) in [
        ("1 + .NULL.", Value::Null),
        ("'a' = .NULL.", Value::Null),
        ("UPPER(.NULL.)", Value::Null),
        (".F. .AND. .NULL.", Value::Logical(false)),
        (".NULL. .AND. .F.", Value::Logical(false)),
        (".T. .OR. .NULL.", Value::Logical(true)),
        (".NULL. .OR. .F.", Value::Null),
        (".NOT. .NULL.", Value::Null),
        ("IIF(.NULL., 1, 2)", Value::Number(2.0)),
        ("IIF(.T., .NULL., 2)", Value::Null),
        ("NVL(.NULL., 'x')", Value::text(b"x".as_slice())),
        ("ISNULL(1)", Value::Logical(false)),
    ] {
        assert_eq!(constant(text), expected, "{text}");
    }
}

#[test]
fn settings_change_how_dates_are_read_and_written() {
    let environment = environment()
        .date_format(DateOrder::DayMonthYear, b'.', true)
        .epoch(1980);
    for (text, expected) in [
        ("DTOC(CTOD('31.01.79'))", "31.01.2079"),
        ("DTOC(CTOD('31/01/80'))", "31.01.1980"),
    ] {
        let program = Program::compile(text, &[], &environment).unwrap();
        assert_eq!(program.blank(), &Value::text(expected.as_bytes()), "{text}");
    }
}

#[test]
fn faults_of_names_and_types_have_their_column() {
    let table = table();
    for (text, expected) in [
        ("NAME + 1", "column 8: expected a text, found a number"),
        ("UPPER(NUM)", "column 7: expected a text, found a number"),
        ("NAME = NUM", "column 8: expected a text, found a number"),
        ("1 .AND. LOG", "column 1: expected a logical, found a number"),
        ("!NUM", "column 2: expected a logical, found a number"),
        ("NAME * 2", "column 1: expected a number, found a text"),
        ("DAT + DAT", "column 7: expected a number, found a date"),
        ("IIF(LOG, 1, 'x')", "column 13: expected a number, found a text"),
        ("NOPE = 1", "column 1: expected the name of a field, found NOPE"),
        ("1 + NOPE()", "column 5: expected the name of a function, found NOPE()"),
        ("STR()", "column 1: expected 1 to 3 arguments of STR(), found 0"),
        ("UPPER(NAME, 1)", "column 1: expected 1 arguments of UPPER(), found 2"),
        (
            "INLIST(1)",
            "column 1: expected at least 2 arguments of INLIST(), found 1",
        ),
        ("M->NAME", "column 1: expected a field of the table, found M->NAME"),
        ("'ж' = NAME", "column 1: expected characters of cp437, found 'ж'"),
        (
            "REPLICATE('x', 70000)",
            "column 1: expected a text of at most 65535 bytes beyond its parts, found 70000 bytes",
        ),
        (
            "STR(1, 70000)",
            "column 1: expected a text of at most 65535 bytes beyond its parts, found 70000 bytes",
        ),
    ] {
        let fault = Program::compile(text, table.fields(), &environment()).unwrap_err();
        assert_eq!(fault.to_string(), expected, "{text}");
    }
    let aliased = environment().alias("orders");
    for (text, is_fine) in [("Orders->NAME", true), ("FIELD->NAME", true), ("OTHER->NAME", false)] {
        assert_eq!(
            Program::compile(text, table.fields(), &aliased).is_ok(),
            is_fine,
            "{text}"
        );
    }
}

#[test]
fn a_key_depends_on_its_record_alone_and_has_the_length_of_a_blank_one() {
    let table = table();
    for (text, type_of, len) in [
        ("NAME", Type::Character, 6),
        ("UPPER(NAME) + DTOS(DAT)", Type::Character, 14),
        ("STR(NUM) + LEFT(NAME, 2)", Type::Character, 10),
        ("IIF(LOG, 'yes', 'no')", Type::Character, 2),
        ("NUM", Type::Number, 8),
        ("DAT", Type::Date, 8),
        ("MOM", Type::Timestamp, 8),
        ("NUM > 1", Type::Logical, 1),
    ] {
        let program = Program::compile_key(text, table.fields(), &environment()).unwrap();
        assert_eq!((program.type_of(), program.key_len()), (type_of, len), "{text}");
    }
    for text in ["DATE() > DAT", "TIME()", "NOW()", "DTOS(TODAY())", ".NULL."] {
        assert!(
            Program::compile_key(text, table.fields(), &environment()).is_err(),
            "{text}"
        );
    }
    assert!(Program::compile_key("DATE(2024, 1, 31)", table.fields(), &environment()).is_ok());
}

#[test]
fn the_deepest_expression_is_evaluated_in_both_forms() {
    let table = table();
    let chain = format!("NUM{}", " + NUM".repeat(MAX_DEPTH - 1));
    let nested = format!(
        "{}NAME{}",
        "UPPER(".repeat(MAX_NESTING - 1),
        ")".repeat(MAX_NESTING - 1)
    );
    let rows = [Row {
        name: "a".to_owned(),
        cents: Some(100),
        ..Row::default()
    }];
    for (text, expected) in [
        (chain, Value::Number(200.0)),
        (nested, Value::text(b"A     ".as_slice())),
    ] {
        let program = Program::compile(&text, table.fields(), &environment()).unwrap();
        assert_eq!(program.evaluate_record(&rows[0]).unwrap(), expected);
        assert_eq!(cell(&program.evaluate_bytes(&batch(&rows, true)).unwrap(), 0), expected);
    }
}

#[test]
fn a_batch_without_the_columns_is_refused() {
    let table = table();
    let rows = [Row::default()];
    let batch = batch(&rows, false);
    for (text, columns, expected) in [
        (
            "NUM = 1",
            vec![0],
            "the batch has no column NUM, which the expression uses",
        ),
        (
            "RECNO()",
            vec![0],
            "the batch has no column _recno, which the expression uses",
        ),
    ] {
        let program = Program::compile(text, table.fields(), &environment()).unwrap();
        let fault = program.evaluate(&batch.project(&columns).unwrap()).unwrap_err();
        assert_eq!(fault.to_string(), expected);
    }
    let columns = vec![("NAME", batch.column(1).clone())];
    let other = RecordBatch::try_from_iter(columns).unwrap();
    let program = Program::compile("NAME", table.fields(), &environment()).unwrap();
    let fault = program.evaluate(&other).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "column NAME is Decimal128(7, 2), which is not a text"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn columns_and_records_agree(
        text in expression(),
        rows in prop::collection::vec(row(), 0..5),
        exact: bool,
        trimmed: bool,
    ) {
        let table = table();
        let environment = environment().exact(exact);
        let tree = parse(&text).unwrap();
        prop_assert_eq!(&parse(&tree.to_string()).unwrap(), &tree, "{}", text);
        // Only a text that grows too long is refused.
        if let Ok(program) = Program::compile(&text, table.fields(), &environment)
            .map_err(|e| assert!(e.to_string().contains("65535"), "{text}: {e}"))
        {
            let batch = batch(&rows, trimmed);
            let column = program.evaluate_bytes(&batch);
            for (i, row) in rows.iter().enumerate() {
                let value = program.evaluate_record(row);
                match (&column, value) {
                    (Ok(column), Ok(value)) => {
                        let expected = shown(value);
                        prop_assert!(same(&cell(column, i), &expected), "{}: row {}: {:?} {:?}", text, i, cell(column, i), expected);
                    }
                    (Err(_), _) => {}
                    (Ok(_), Err(e)) => prop_assert!(false, "{text}: {e}"),
                }
            }
            // A slice gives the slice of the result.
            let from = rows.len() / 2;
            if let Ok(column) = &column {
                let part = program.evaluate_bytes(&batch.slice(from, rows.len() - from)).unwrap();
                for i in from..rows.len() {
                    let is_same = same(&cell(&part, i - from), &cell(column, i));
                    prop_assert!(is_same, "{}: {:?} {:?}", text, part, column);
                }
            }
            let texts = program.evaluate(&batch);
            prop_assert_eq!(texts.is_ok(), column.is_ok());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_refused_or_reads_back_and_evaluates(
        words in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..12),
        garbage in "\\PC{0,8}",
        row in row(),
    ) {
        for text in [words.join(""), words.join(" "), garbage.clone(), format!("{} {garbage}", words.join(" "))] {
            let Ok(tree) = parse(&text) else { continue };
            prop_assert_eq!(&parse(&tree.to_string()).unwrap(), &tree, "{}", text);
            if let Ok(program) = Program::from_syntax(&tree, table().fields(), &environment()) {
                let rows = [row.clone()];
                let _ = (program.evaluate_record(&rows[0]), program.evaluate(&batch(&rows, true)));
            }
        }
    }
}

/// What texts are made of.
const WORDS: [&str; 40] = [
    "(",
    ")",
    ",",
    "+",
    "-",
    "*",
    "**",
    "/",
    "%",
    "^",
    "=",
    "==",
    "<>",
    "#",
    "<",
    "<=",
    ">",
    "$",
    "!",
    ".NOT.",
    ".AND.",
    "or",
    ".T.",
    ".NULL.",
    "NAME",
    "NUM",
    "LOG",
    "DAT",
    "FIELD->",
    "A.",
    "1",
    "2.5",
    ".",
    "'a\"'",
    "[x]",
    "{}",
    "{^2024-01-31}",
    "{^2024-01-31 1:00 PM}",
    "UPPER(",
    "IIF(",
];

/// A record of the test's table.
#[derive(Debug, Clone, Default)]
struct Row {
    name: String,
    cents: Option<i64>,
    log: Option<bool>,
    day: Option<i32>,
    moment: Option<i64>,
    number: u32,
    deleted: bool,
}

impl Record for Row {
    fn value(&self, field: usize) -> Result<Value<'_>> {
        Ok(match field {
            0 => Value::text(format!("{:6}", self.name).into_bytes()),
            1 => Value::Number(self.cents.unwrap_or(0) as f64 / 100.0),
            2 => Value::Logical(self.log.unwrap_or(false)),
            3 => self.day.map_or(Value::Date(0), Value::from_unix_days),
            _ => self.moment.map_or(Value::Timestamp(0), Value::from_unix_ms),
        })
    }

    fn record_no(&self) -> u32 {
        self.number
    }

    fn is_deleted(&self) -> bool {
        self.deleted
    }
}

fn row() -> impl Strategy<Value = Row> {
    (
        "[abAB .0-9]{0,6}",
        prop::option::of(-999_999..999_999i64),
        any::<Option<bool>>(),
        prop::option::of(0..40_000i32),
        prop::option::of(0..2_000_000_000_000i64),
        1..1000u32,
        any::<bool>(),
    )
        .prop_map(|(name, cents, log, day, moment, number, deleted)| Row {
            name,
            cents,
            log,
            day,
            moment,
            number,
            deleted,
        })
}

/// How a value of a type can be made; `?C` and its like stand for any expression of that type.
const FORMS: [(char, &[&str]); 5] = [
    (
        'C',
        &[
            "NAME",
            "NAME",
            "NAME",
            "'a'",
            "'AB '",
            "''",
            "'b.0 '",
            "?C + ?C",
            "?C - ?C",
            "ALLTRIM(?C)",
            "BINTOC(?N)",
            "BINTOC(?N, 2)",
            "CDOW(?D)",
            "CHR(?N)",
            "CHRTRAN(?C, 'ab', 'B')",
            "CMONTH(?T)",
            "COLLATE(?C)",
            "DESCEND(?C)",
            "DTOC(?D)",
            "DTOC(?T, 1)",
            "DTOS(?D)",
            "DTOS(?T)",
            "I2BIN(?N)",
            "IF(?L, ?C, ?C)",
            "IIF(?L, ?C, ?C)",
            "L2BIN(?N)",
            "LEFT(?C, ?N)",
            "LEFT(?C, 3)",
            "LOWER(?C)",
            "LTRIM(?C)",
            "MAX(?C, ?C)",
            "MIN(?C, ?C)",
            "NVL(?C, ?C)",
            "PAD(?D, 9)",
            "PADC(?C, 9, '*')",
            "PADL(?N, 8)",
            "PADR(?C, ?N)",
            "PROPER(?C)",
            "REPLICATE(?C, 2)",
            "REVERSE(?C)",
            "RIGHT(?C, ?N)",
            "RTRIM(?C)",
            "SOUNDEX(?C)",
            "SPACE(?N % 5)",
            "STR(?N)",
            "STR(?N, 8)",
            "STR(?N, 9, 2)",
            "STRTRAN(?C, 'a', ?C)",
            "STRZERO(?N, 7, 1)",
            "STUFF(?C, ?N, 1, ?C)",
            "SUBSTR(?C, ?N)",
            "SUBSTR(?C, 2, 3)",
            "SUBSTR(?C, -3, ?N)",
            "TIME()",
            "TRANSFORM(?N, '@( 9,999.99')",
            "TRANSFORM(?C, '@R !-!!')",
            "TRANSFORM(?L)",
            "TRIM(?C)",
            "TTOC(?T)",
            "UPPER(?C)",
        ],
    ),
    (
        'N',
        &[
            "NUM",
            "NUM",
            "0",
            "1",
            "-2.5",
            "3.75",
            "RECNO()",
            "?N + ?N",
            "?N - ?N",
            "?N * ?N",
            "?N / ?N",
            "?N % ?N",
            "?N ^ 2",
            "-(?N)",
            "?D - ?D",
            "?T - ?T",
            "ABS(?N)",
            "ASC(?C)",
            "AT(?C, ?C)",
            "AT(?C, ?C, 2)",
            "ATNUM(?C, ?C)",
            "BIN2I(?C)",
            "BIN2L(?C)",
            "CEILING(?N)",
            "DAY(?D)",
            "DESCEND(?D)",
            "DESCEND(?N)",
            "DOW(?D)",
            "EXP(?N)",
            "FIXED(?N)",
            "FLOAT(?N)",
            "FLOOR(?N)",
            "HOUR(?T)",
            "INT(?N)",
            "LEN(?C)",
            "LOG(?N)",
            "MAX(?N, ?N)",
            "MIN(?N, ?N)",
            "MINUTE(?T)",
            "MOD(?N, ?N)",
            "MONTH(?D)",
            "OCCURS(?C, ?C)",
            "RAT(?C, ?C)",
            "ROUND(?N, 1)",
            "ROUND(?N, ?N)",
            "SEC(?T)",
            "SIGN(?N)",
            "SQRT(?N)",
            "VAL(?C)",
            "YEAR(?D)",
        ],
    ),
    (
        'L',
        &[
            "LOG",
            "LOG",
            ".T.",
            ".F.",
            "DELETED()",
            "?L .AND. ?L",
            "?L .OR. ?L",
            ".NOT. ?L",
            "?C = ?C",
            "?C == ?C",
            "?C <> ?C",
            "?C < ?C",
            "?C <= ?C",
            "?C > ?C",
            "?C >= ?C",
            "?C $ ?C",
            "CONTAINS(?C, 'a* or b')",
            "?N = ?N",
            "?N # ?N",
            "?N < ?N",
            "?N >= 2",
            "?D = ?D",
            "?D < ?D",
            "?D > {^2001-02-03}",
            "?T <= ?T",
            "?T = ?D",
            "?L = ?L",
            "?N = .NULL.",
            "NAME = 'a'",
            "NAME = 'AB '",
            "NAME == 'ab    '",
            "NAME <> 'b'",
            "NAME < 'ab'",
            "NAME >= 'a       '",
            "BETWEEN(?N, 1, ?N)",
            "EMPTY(?C)",
            "EMPTY(?D)",
            "INLIST(?C, ?C, ?C)",
            "ISALPHA(?C)",
            "ISDIGIT(?C)",
            "ISLOWER(?C)",
            "ISNULL(?N)",
            "ISUPPER(?C)",
        ],
    ),
    (
        'D',
        &[
            "DAT",
            "DAT",
            "{}",
            "{^2001-02-03}",
            "?D + ?N",
            "?D - ?N",
            "CTOD(?C)",
            "CTOD(DTOC(?D))",
            "DATE()",
            "DATE(?N, 1, 2)",
            "MAX(?D, ?D)",
            "STOD(?C)",
            "STOD(DTOS(?D))",
            "TODAY()",
            "TSTOD(?T)",
            "TTOD(?T)",
        ],
    ),
    (
        'T',
        &[
            "MOM",
            "MOM",
            "{^2001-02-03 04:05:06}",
            "?T + ?N",
            "?T - 0.25",
            "CTOT(?C)",
            "CTOTS(TTOC(?T))",
            "DTOT(?D)",
            "NOW()",
            "STOTS(TTOC(?T, 1))",
        ],
    ),
];

#[test]
fn the_forms_of_the_property_use_every_function() {
    let all: String = FORMS
        .iter()
        .flat_map(|(_, forms)| forms.iter().copied())
        .collect::<Vec<_>>()
        .join(" ");
    for name in function_names() {
        assert!(all.contains(&format!("{name}(")), "{name}");
    }
}

/// A well-typed expression; the choices are the bytes of the input, and where they end, fields and literals.
fn expression() -> impl Strategy<Value = String> {
    (
        prop::sample::select(vec!['C', 'N', 'L', 'D', 'T']),
        prop::collection::vec(any::<u8>(), 0..12),
    )
        .prop_map(|(type_of, choices)| {
            let mut choices = choices.into_iter();
            write(type_of, &mut choices, 0)
        })
}

fn write(type_of: char, choices: &mut impl Iterator<Item = u8>, depth: usize) -> String {
    let (_, forms) = FORMS.iter().find(|(t, _)| *t == type_of).unwrap();
    let choice = choices.next().filter(|_| depth < 6).map_or(0, usize::from);
    let mut parts = forms[choice % forms.len()].split('?');
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        let operand = write(part.chars().next().unwrap(), choices, depth + 1);
        text.push_str(&format!("({operand})"));
        text.push_str(&part[1..]);
    }
    text
}

/// The columns of a scan over the rows.
fn batch(rows: &[Row], trimmed: bool) -> RecordBatch {
    let name = |row: &Row| {
        let name = format!("{:6}", row.name);
        if trimmed { name.trim_end().to_owned() } else { name }
    };
    let names: StringArray = rows.iter().map(|r| Some(name(r))).collect();
    let numbers: Decimal128Array = rows.iter().map(|r| r.cents.map(i128::from)).collect();
    let logs: BooleanArray = rows.iter().map(|r| r.log).collect();
    let days: Date32Array = rows.iter().map(|r| r.day).collect();
    let moments: TimestampMillisecondArray = rows.iter().map(|r| r.moment).collect();
    let recnos: UInt32Array = rows.iter().map(|r| Some(r.number)).collect();
    let deleted: BooleanArray = rows.iter().map(|r| Some(r.deleted)).collect();
    RecordBatch::try_from_iter([
        ("NAME", Arc::new(names) as ArrayRef),
        ("NUM", Arc::new(numbers.with_precision_and_scale(7, 2).unwrap())),
        ("LOG", Arc::new(logs)),
        ("DAT", Arc::new(days)),
        ("MOM", Arc::new(moments)),
        ("_recno", Arc::new(recnos)),
        ("_deleted", Arc::new(deleted)),
    ])
    .unwrap()
}

fn cell(column: &ArrayRef, row: usize) -> Value<'static> {
    match column.data_type() {
        DataType::Null => Value::Null,
        DataType::Date32 if column.is_null(row) => Value::Date(0),
        DataType::Timestamp(..) if column.is_null(row) => Value::Timestamp(0),
        _ if column.is_null(row) => Value::Null,
        DataType::Binary => Value::text(column.as_binary::<i32>().value(row).to_vec()),
        DataType::Float64 => Value::Number(column.as_primitive::<Float64Type>().value(row)),
        DataType::Boolean => Value::Logical(column.as_boolean().value(row)),
        DataType::Date32 => Value::from_unix_days(column.as_primitive::<Date32Type>().value(row)),
        DataType::Timestamp(..) => Value::from_unix_ms(column.as_primitive::<TimestampMillisecondType>().value(row)),
        other => panic!("{other}"),
    }
}

/// A value as a column can show it: a day outside the calendar is none, and so is .NULL. where days are.
fn shown(value: Value<'_>) -> Value<'_> {
    match value {
        Value::Date(day) if !(1_721_426..=5_373_484).contains(&day) => Value::Date(0),
        other => other,
    }
}

/// Equal, and NaN is itself; a null date cannot be told from an empty one.
fn same(left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => a == b || (a.is_nan() && b.is_nan()),
        (Value::Date(0) | Value::Timestamp(0), Value::Null) => true,
        _ => left == right,
    }
}

/// The value of an expression without fields.
fn constant(text: &str) -> Value<'static> {
    Program::compile(text, &[], &environment()).unwrap().blank().clone()
}

fn environment() -> Environment {
    Environment::new(CodePage::Cp437)
}

/// A table without records: NAME C(6), NUM N(8,2), LOG L, DAT D, MOM @.
fn table() -> Table {
    let fields: [(&[u8], u8, u8, u8); 5] = [
        (b"NAME", b'C', 6, 0),
        (b"NUM", b'N', 8, 2),
        (b"LOG", b'L', 1, 0),
        (b"DAT", b'D', 8, 0),
        (b"MOM", b'@', 8, 0),
    ];
    let mut bytes = vec![0xF5, 124, 1, 31, 0, 0, 0, 0, 193, 0, 32, 0];
    bytes.resize(32, 0);
    for (name, letter, width, decimals) in fields {
        let mut descriptor = [0; 32];
        descriptor[..name.len()].copy_from_slice(name);
        (descriptor[11], descriptor[16], descriptor[17]) = (letter, width, decimals);
        bytes.extend(descriptor);
    }
    bytes.push(0x0D);
    Table::from_bytes(bytes, None, &OpenOptions::new()).unwrap()
}
