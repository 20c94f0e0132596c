//! Keys and conditions of the golden orders: what Harbour computed for each record is what expressions give.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, TimestampMillisecondType};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_select::concat::concat_batches;
use serde_json::Value as Json;
use tidemill_xbase::expression::{Environment, Letters, Program, RecordBytes, Type, Value};
use tidemill_xbase::{Blank, CodePage, Deleted, OpenOptions, Scan, Table};

/// Tables of national alphabets, their code page, and the letters of the Harbour code page that was selected.
const PAGES: [(&str, &str, &str); 7] = [
    ("cp437", "cp437", ""),
    ("cp850de", "cp850", GERMAN),
    ("cp1252de", "cp1252", GERMAN),
    ("cp850es", "cp850", SPANISH),
    ("cp1252es", "cp1252", SPANISH),
    ("cp866", "cp866", RUSSIAN),
    ("cp1251", "cp1251", RUSSIAN),
];
const GERMAN: &str = "äöüß";
const SPANISH: &str = "áàäçéèëíìïñóòöúùü";
const RUSSIAN: &str = "абвгдежзийклмнопрстуфхцчшщъыьэюя";

#[test]
fn keys_and_conditions_are_those_that_harbour_computed() {
    let environment = Environment::new(CodePage::Cp437);
    for (name, count) in [
        ("ord_cdx", 22),
        ("ord_nsx", 22),
        ("ord_ntx", 22),
        ("upd_cdx", 6),
        ("types_vfp", 1),
    ] {
        for keep in [false, true] {
            let golden = Golden::open(name, CodePage::Cp437, keep);
            let orders = golden.orders();
            assert_eq!(orders.len(), count);
            for order in orders {
                golden.check(&order, &environment);
            }
        }
    }
}

#[test]
fn upper_is_that_of_the_harbour_code_page() {
    let expectations = json("cp.keys.json");
    for (name, page, letters) in PAGES {
        let page: CodePage = page.parse().unwrap();
        let letters = Letters::national(page, letters);
        let expected = expectations
            .as_array()
            .unwrap()
            .iter()
            .find(|e| e["table"] == name)
            .unwrap();
        let golden = Golden::open(name, page, false);
        let environment = Environment::new(page).letters(letters.clone());
        let program = Program::compile_key("UPPER(TXT)", golden.table.fields(), &environment).unwrap();
        let keys = program.evaluate_bytes(&golden.batch).unwrap();
        let upper = expected["upper"].as_array().unwrap();
        assert_eq!(upper.len(), keys.len());
        for (row, key) in upper.iter().enumerate() {
            let record = golden.record(row);
            let Value::Character(text) = program.evaluate_record(&record).unwrap() else {
                panic!("{name} {row}");
            };
            assert_eq!(key, &hex(&text), "{name} {row}");
            // A byte that Windows leaves undefined has no character, so the column does not have it either.
            let is_defined = !page.decode(&golden.records[row]).contains(char::REPLACEMENT_CHARACTER);
            if is_defined {
                assert_eq!(key, &hex(keys.as_binary::<i32>().value(row)), "{name} {row}");
            }
        }
        let map = expected["letters"].as_array().unwrap();
        assert_eq!(map.len(), 128);
        for entry in map {
            let number = |i: usize| u8::try_from(entry[i].as_u64().unwrap()).unwrap();
            let byte = number(0);
            let at = usize::from(byte);
            let found = (letters.upper()[at], letters.lower()[at], letters.is_letter(byte));
            assert_eq!(found, (number(1), number(2), number(3) == 1), "{name} {byte}");
        }
    }
}

#[test]
fn every_kind_of_field_has_the_same_value_in_its_bytes_and_in_its_column() {
    let mut compared = 0;
    for name in ["types_cdx", "types_vfp"] {
        // Latin 1 keeps every byte apart from the others.
        let golden = Golden::open(name, CodePage::Iso8859_1, true);
        let environment = Environment::new(CodePage::Iso8859_1);
        let fields = golden.table.fields();
        for field in fields.iter().filter(|f| !f.kind.uses_memo()) {
            for form in ["?", "ISNULL(?)", "EMPTY(?)", "? = ?", "IIF(ISNULL(?), 'null', 'value')"] {
                let text = form.replace('?', &field.name);
                let program = Program::compile(&text, fields, &environment).unwrap();
                let column = program.evaluate_bytes(&golden.batch).unwrap();
                for row in 0..golden.records.len() {
                    let record = golden.record(row);
                    let value = program.evaluate_record(&record).unwrap();
                    let found = cell(&column, row);
                    // A null day cannot be told from none in a column of days.
                    let is_same = found == value || (value == Value::Null && found == Value::Date(0));
                    assert!(is_same, "{name} {text} record {}: {found:?} {value:?}", row + 1);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 5000, "{compared}");
}

#[test]
fn a_record_cut_anywhere_is_an_error_and_a_memo_is_not_in_it() {
    let golden = Golden::open("types_vfp", CodePage::Cp1252, true);
    let environment = Environment::new(CodePage::Cp1252);
    let bytes = &golden.records[4];
    for field in golden.table.fields() {
        let program = Program::compile(&field.name, golden.table.fields(), &environment).unwrap();
        let evaluate = |len: usize| {
            let record = RecordBytes::new(&golden.table, 5, &bytes[..len]);
            program.evaluate_record(&record).map(Value::into_owned)
        };
        assert_eq!(evaluate(bytes.len()).is_err(), field.kind.uses_memo(), "{}", field.name);
        for len in 0..field.offset + field.width {
            assert!(evaluate(len).is_err(), "{} {len}", field.name);
        }
    }
}

struct Golden {
    name: &'static str,
    table: Arc<Table>,
    batch: RecordBatch,
    records: Vec<Vec<u8>>,
}

impl Golden {
    fn open(name: &'static str, page: CodePage, keep_trailing_blanks: bool) -> Self {
        let options = OpenOptions::new()
            .codepage(page)
            .keep_trailing_blanks(keep_trailing_blanks)
            .blank(if keep_trailing_blanks { Blank::Zero } else { Blank::Null });
        let path = corpus(&format!("{name}.dbf"));
        let table = Arc::new(Table::open(&path, &options).unwrap());
        let scan = Scan::new().deleted(Deleted::Include).system_columns(true);
        let batches: Vec<RecordBatch> = table.scan(scan).unwrap().map(Result::unwrap).collect();
        let batch = concat_batches(&batches[0].schema(), &batches).unwrap();
        let header = table.header();
        let bytes = std::fs::read(path).unwrap();
        let records = bytes[usize::try_from(header.header_len).unwrap()..]
            .chunks_exact(usize::try_from(header.record_len).unwrap())
            .take(batch.num_rows())
            .map(<[u8]>::to_vec)
            .collect();
        Self {
            name,
            table,
            batch,
            records,
        }
    }

    fn orders(&self) -> Vec<Json> {
        let orders = json(&format!("{}.orders.json", self.name)).as_array().unwrap().clone();
        // The orders of the three RDDs have the same keys, which the corpus keeps once.
        let keyed = if self.name.starts_with("ord_") {
            "ord_cdx"
        } else {
            self.name
        };
        let keyed = json(&format!("{keyed}.orders.json"));
        let with_keys = |mut order: Json| {
            if order["keys"].is_null() {
                let same = keyed
                    .as_array()
                    .unwrap()
                    .iter()
                    .find(|o| o["tag"] == order["tag"])
                    .unwrap();
                assert_eq!(same["expr"], order["expr"]);
                order["keys"] = same["keys"].clone();
            }
            order
        };
        orders.into_iter().map(with_keys).collect()
    }

    fn record(&self, row: usize) -> RecordBytes<'_> {
        RecordBytes::new(&self.table, u32::try_from(row + 1).unwrap(), &self.records[row])
    }

    fn check(&self, order: &Json, environment: &Environment) {
        let (text, condition) = (order["expr"].as_str().unwrap(), order["for"].as_str().unwrap());
        let place = format!("{} {text} FOR {condition}", self.name);
        let program = Program::compile_key(text, self.table.fields(), environment).unwrap();
        let keys = program.evaluate_bytes(&self.batch).unwrap();
        assert_eq!(program.type_of().letter().to_string(), order["keytype"], "{place}");
        match (program.type_of(), self.name) {
            (Type::Number, "ord_ntx") => {
                let (width, decimals) = program.number_width();
                assert_eq!(order["keysize"], width, "{place}");
                assert_eq!(order["keydec"], decimals, "{place}");
            }
            _ => assert_eq!(order["keysize"], program.key_len(), "{place}"),
        }
        let recnos = order["recnos"].as_array().unwrap();
        for (recno, key) in recnos.iter().zip(order["keys"].as_array().unwrap()) {
            let row = usize::try_from(recno.as_u64().unwrap() - 1).unwrap();
            check_key(&keys, row, key, &format!("{place} record {recno}"));
            let record = self.record(row);
            let value = program.evaluate_record(&record).unwrap();
            assert_eq!(value, cell(&keys, row), "{place} record {recno}");
        }
        if !condition.is_empty() && order["unique"] == false {
            let filter = Program::compile_key(condition, self.table.fields(), environment).unwrap();
            let chosen = filter.evaluate(&self.batch).unwrap();
            let expected: HashSet<usize> = recnos
                .iter()
                .map(|r| usize::try_from(r.as_u64().unwrap() - 1).unwrap())
                .collect();
            for row in 0..self.records.len() {
                assert_eq!(
                    filter.matches(&self.record(row)).unwrap(),
                    expected.contains(&row),
                    "{place} row {row}"
                );
                assert_eq!(
                    chosen.as_boolean().value(row),
                    expected.contains(&row),
                    "{place} row {row}"
                );
            }
        }
    }
}

/// The value of a row as the row form gives it.
fn cell(column: &ArrayRef, row: usize) -> Value<'static> {
    use arrow_schema::DataType;
    match column.data_type() {
        DataType::Date32 if column.is_null(row) => Value::Date(0),
        DataType::Timestamp(..) if column.is_null(row) => Value::Timestamp(0),
        DataType::Timestamp(..) => Value::from_unix_ms(column.as_primitive::<TimestampMillisecondType>().value(row)),
        DataType::Date32 => Value::from_unix_days(column.as_primitive::<Date32Type>().value(row)),
        _ if column.is_null(row) => Value::Null,
        DataType::Binary => Value::text(column.as_binary::<i32>().value(row).to_vec()),
        DataType::Float64 => Value::Number(column.as_primitive::<Float64Type>().value(row)),
        DataType::Boolean => Value::Logical(column.as_boolean().value(row)),
        other => panic!("{other}"),
    }
}

fn check_key(column: &ArrayRef, row: usize, expected: &Json, place: &str) {
    match (cell(column, row), expected) {
        (Value::Character(text), Json::String(expected)) => assert_eq!(&*text, expected.as_bytes(), "{place}"),
        (Value::Character(text), Json::Object(_)) => {
            assert_eq!(expected["hex"], hex(&text), "{place}");
        }
        (Value::Number(n), Json::Number(expected)) => {
            assert_eq!(n, expected.as_f64().unwrap(), "{place}");
        }
        (Value::Logical(l), Json::Bool(expected)) => assert_eq!(l, *expected, "{place}"),
        (Value::Date(0), _) => assert_eq!(expected["d"], "        ", "{place}"),
        (Value::Date(_), _) => {
            let days = column.as_primitive::<Date32Type>().value_as_date(row).unwrap();
            assert_eq!(expected["d"], days.format("%Y%m%d").to_string(), "{place}");
        }
        (found, expected) => panic!("{place}: {found:?} for {expected}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02X}")).collect()
}

fn json(name: &str) -> Json {
    serde_json::from_slice(&std::fs::read(corpus(name)).unwrap()).unwrap()
}

fn corpus(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../corpus/xbase")
        .join(file)
}
