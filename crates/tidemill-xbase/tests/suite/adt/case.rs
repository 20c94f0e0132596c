//! Conditions on CICharacter fields ignore case, with an index and without one.

use std::path::Path;
use std::sync::Arc;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use tidemill_xbase::aof::{Filter, FilterOrders, OptimizationLevel};
use tidemill_xbase::expression::{Environment, Program, RecordBytes};
use tidemill_xbase::index::OrderSpec;
use tidemill_xbase::{
    AdtType, CodePage, Deleted, EditOptions, FieldSpec, KeySettings, OpenMode, OpenOptions, Scan, Table, TableEditor,
    TableIndex, TableWriter, Value, build_index,
};

use super::create::{TODAY, options};
use crate::tables::Random;

const WIDTH: usize = 6;
const OPERATORS: [&str; 7] = ["=", "==", "<>", "<", "<=", ">", ">="];

type Row = [Option<String>; 2];

fn settings() -> KeySettings {
    KeySettings::new(CodePage::Cp1252)
}

/// A table of random names, one field that ignores case and one that does not, with orders of both.
fn table(folder: &Path, random: &mut Random, orders: &[OrderSpec]) -> (Arc<Table>, Vec<Row>) {
    let path = folder.join("t.adt");
    let fields = [
        FieldSpec::of_adt("Any", AdtType::CiCharacter, WIDTH as u16, 0),
        FieldSpec::of_adt("Exact", AdtType::Character, WIDTH as u16, 0),
    ];
    TableWriter::create(&path, &fields, &options())
        .unwrap()
        .finish()
        .unwrap();
    let edit = EditOptions::new(TODAY).keys(settings()).mode(OpenMode::Exclusive);
    let mut editor = TableEditor::open(&path, &edit).unwrap();
    let mut rows = Vec::new();
    for _ in 0..120 {
        let row: Row = [(); 2].map(|()| (random.below(12) > 0).then(|| name(random)));
        let values: Vec<(usize, Value<'_>)> = row
            .iter()
            .enumerate()
            .map(|(field, text)| (field, text.as_deref().map_or(Value::Null, Value::Text)))
            .collect();
        editor.append_values(&values).unwrap();
        rows.push(row);
    }
    drop(editor);
    let table = Arc::new(Table::open(&path, &OpenOptions::new().codepage(CodePage::Cp1252)).unwrap());
    build_index(folder.join("t.adi"), &table, orders, &settings()).unwrap();
    (table, rows)
}

fn name(random: &mut Random) -> String {
    let letters = ['a', 'A', 'b', 'B', 'ä', 'Ä', '_', ' ', 'ß'];
    let text: String = (0..=random.below(3)).map(|_| *random.pick(&letters)).collect();
    text.trim_end().to_owned()
}

/// Bytes in the code page, in which every letter here is one.
fn bytes(text: &str) -> Vec<u8> {
    text.chars()
        .map(|letter| u8::try_from(u32::from(letter)).unwrap())
        .collect()
}

/// A leaf as a text, and what it is for a row: true, false or NULL.
struct Leaf {
    text: String,
    ignores_case: bool,
    field: usize,
    operator: &'static str,
    constant: String,
}

impl Leaf {
    fn new(random: &mut Random) -> Self {
        let field = usize::try_from(random.below(2)).unwrap();
        let (name, constant) = (["Any", "Exact"][field], name(random));
        let mut operator = *random.pick(&OPERATORS);
        let mut ignores_case = field == 0;
        let text = match random.below(8) {
            0 => {
                operator = "$";
                format!("'{constant}' $ {name}")
            }
            1 => {
                ignores_case = !ignores_case;
                let language = if ignores_case {
                    "ads_default_ci"
                } else {
                    "ads_default_cs"
                };
                format!("COLLATE({name}, '{language}') {operator} '{constant}'")
            }
            2 if !constant.is_empty() => {
                operator = "$";
                format!("AT('{constant}', {name}) > 0")
            }
            3 => format!("LEFT({name}, {WIDTH}) {operator} '{constant}'"),
            _ => format!("{name} {operator} '{constant}'"),
        };
        Self {
            text,
            ignores_case,
            field,
            operator,
            constant,
        }
    }

    fn holds(&self, row: &Row) -> Option<bool> {
        let folded = |text: &str| {
            if self.ignores_case {
                text.to_lowercase()
            } else {
                text.to_owned()
            }
        };
        let value = bytes(&folded(&format!("{:<WIDTH$}", row[self.field].as_ref()?)));
        let constant = bytes(&folded(&self.constant));
        // Without SET EXACT the constant's length is compared.
        let begin = &value[..value.len().min(constant.len())];
        Some(match self.operator {
            "=" => begin == constant,
            "==" => value == constant,
            "<>" => begin != constant,
            "<" => begin < &constant[..],
            "<=" => begin <= &constant[..],
            ">" => begin > &constant[..],
            ">=" => begin >= &constant[..],
            _ => !constant.is_empty() && value.windows(constant.len()).any(|part| part == constant),
        })
    }
}

#[test]
fn conditions_ignore_case_by_orders_by_records_and_by_columns() {
    for seed in 1..=12 {
        let mut random = Random::new(seed);
        let folder = tempfile::tempdir().unwrap();
        let orders = [
            OrderSpec::new("ANY", "Any"),
            OrderSpec::new("EXACT", "Exact"),
            OrderSpec::new("BOTH", "Any;Exact"),
        ];
        let (table, rows) = table(folder.path(), &mut random, &orders);
        let index = TableIndex::production(&table, &settings()).unwrap().unwrap();
        let orders = FilterOrders::new(&table, index.orders()).unwrap();
        let environment = Environment::with_all_letters(CodePage::Cp1252);
        let stored = std::fs::read(table.path()).unwrap();
        let (header, record) = (400 + 200 * 2, 5 + 2 * WIDTH);
        for _ in 0..60 {
            let (left, right) = (Leaf::new(&mut random), Leaf::new(&mut random));
            let (joint, is_not) = (random.below(2), random.below(3) == 0);
            let text = format!(
                "{}({} {} {})",
                if is_not { ".NOT. " } else { "" },
                left.text,
                [".AND.", ".OR."][usize::try_from(joint).unwrap()],
                right.text
            );
            let holds = |row: &Row| {
                let both = match (joint, left.holds(row), right.holds(row)) {
                    (0, Some(false), _) | (0, _, Some(false)) => Some(false),
                    (0, Some(true), Some(true)) => Some(true),
                    (1, Some(true), _) | (1, _, Some(true)) => Some(true),
                    (1, Some(false), Some(false)) => Some(false),
                    _ => None,
                };
                both.map(|holds| holds != is_not) == Some(true)
            };
            let expected: Vec<u32> = (1..)
                .zip(&rows)
                .filter(|(_, row)| holds(row))
                .map(|(number, _)| number)
                .collect();
            let filter = Filter::new(&text, &table, &environment).unwrap();
            let by_orders: Vec<u32> = filter.bitmap_by(&table, &orders).unwrap().iter().collect();
            let by_kernels: Vec<u32> = filter.bitmap(&table).unwrap().iter().collect();
            assert_eq!(by_orders, expected, "seed {seed}: {text}, by orders");
            assert_eq!(by_kernels, expected, "seed {seed}: {text}, by kernels");
            let program = Program::compile(&text, table.fields(), &environment).unwrap();
            let by_records: Vec<u32> = (1..=120_u32)
                .filter(|number| {
                    let at = header + record * (*number as usize - 1);
                    let bytes = RecordBytes::new(&table, *number, &stored[at..at + record]);
                    program.matches(&bytes).unwrap()
                })
                .collect();
            assert_eq!(by_records, expected, "seed {seed}: {text}, by records");
            let mut by_columns = Vec::new();
            for batch in table.scan(Scan::new().deleted(Deleted::Include)).unwrap() {
                let found = program.evaluate(&batch.unwrap()).unwrap();
                let found = found.as_boolean();
                by_columns.extend((0..found.len()).map(|row| found.is_valid(row) && found.value(row)));
            }
            let by_columns: Vec<u32> = (1..)
                .zip(by_columns)
                .filter(|(_, holds)| *holds)
                .map(|(number, _)| number)
                .collect();
            assert_eq!(by_columns, expected, "seed {seed}: {text}, by columns");
        }
    }
}

#[test]
fn orders_of_fields_that_ignore_case_answer_conditions() {
    let folder = tempfile::tempdir().unwrap();
    let orders = [OrderSpec::new("ANY", "Any"), OrderSpec::new("CAPITALS", "UPPER(Exact)")];
    let (table, _) = table(folder.path(), &mut Random::new(7), &orders);
    let index = TableIndex::production(&table, &settings()).unwrap().unwrap();
    let orders = FilterOrders::new(&table, index.orders()).unwrap();
    let environment = Environment::with_all_letters(CodePage::Cp1252);
    for (condition, level) in [
        ("Any = 'AB'", OptimizationLevel::Full),
        ("Any < 'Ä' .AND. .NOT. Any >= 'b'", OptimizationLevel::Full),
        ("UPPER(Any) = 'ab'", OptimizationLevel::Full),
        ("COLLATE(Any, 'ads_default_cs') = 'AB'", OptimizationLevel::None),
        ("Exact = 'AB'", OptimizationLevel::None),
        ("UPPER(Exact) = 'AB'", OptimizationLevel::Full),
    ] {
        let filter = Filter::new(condition, &table, &environment).unwrap();
        assert_eq!(filter.level(&table, &orders), level, "{condition}");
    }
}

#[test]
fn fields_that_differ_are_compared_only_where_the_expression_says_how() {
    let folder = tempfile::tempdir().unwrap();
    let (table, _) = table(folder.path(), &mut Random::new(3), &[OrderSpec::new("ANY", "Any")]);
    let environment = Environment::new(CodePage::Cp1252);
    let compiled = |text: &str| Program::compile(text, table.fields(), &environment).map(|_| ());
    for text in [
        "Any = COLLATE(Exact, 'ads_default_ci')",
        "COLLATE(Any, 'ADS_DEFAULT_CS') = Exact",
        "Any = STR(RECNO())",
        "Any + Exact = 'x'",
        "COLLATE(Exact) = 'x'",
    ] {
        compiled(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
    for (text, found) in [
        ("Any = Exact", "ignores case"),
        ("Exact $ Any", "ignores case"),
        ("INLIST(Any, 'x', Exact)", "ignores case"),
        (
            "COLLATE(Any, 'ads_default_ci') = COLLATE(Exact, 'ads_default_cs')",
            "ignores case",
        ),
        ("COLLATE(Any, 'german') = 'x'", "german"),
        ("COLLATE(Any, Exact) = 'x'", "COLLATE"),
        ("COLLATE(1, 'ads_default_ci') = 1", "a text"),
    ] {
        let error = compiled(text).expect_err(text).to_string();
        assert!(error.contains(found), "{text}: {error}");
    }
}

#[test]
fn a_text_that_is_sought_is_folded_as_the_parts_of_keys_are() {
    let folder = tempfile::tempdir().unwrap();
    let orders = [
        OrderSpec::new("MIXED", "Exact;Any"),
        OrderSpec::new("TURNED", "Any;Exact"),
    ];
    let (table, _) = table(folder.path(), &mut Random::new(5), &orders);
    let index = TableIndex::production(&table, &settings()).unwrap().unwrap();
    for (order, text, expected) in [
        ("MIXED", "Ab    Cd", "Ab    cd"),
        ("MIXED", "AB", "AB"),
        ("TURNED", "Ab    Cd", "ab    Cd"),
        ("TURNED", "Ab    Cd    and more", "ab    Cd    and more"),
    ] {
        let keys = index.order(order).unwrap().keys();
        assert_eq!(&*keys.folded(text.as_bytes()), expected.as_bytes(), "{order}: {text}");
    }
}
