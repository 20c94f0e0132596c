//! Every record of every table that Harbour wrote equals what Harbour reads from it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float64Type, Int32Type, Int64Type, Time32MillisecondType, TimestampMillisecondType,
    UInt32Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use md5::{Digest, Md5};
use serde_json::Value;
use tidemill_xbase::{Access, Blank, CodePage, Deleted, Field, OpenOptions, Scan, Table};

const TABLES: [&str; 26] = [
    "types_cdx",
    "types_vfp",
    "memo_dbt",
    "memo_fpt32",
    "memo_fpt512",
    "memo_fptsix",
    "memo_fptflex",
    "memo_smt",
    "ord_cdx",
    "ord_nsx",
    "ord_ntx",
    "upd_cdx",
    "cp437",
    "cp437n",
    "cp850de",
    "cp850den",
    "cp850es",
    "cp850esn",
    "cp1252de",
    "cp1252den",
    "cp1252es",
    "cp1252esn",
    "cp866",
    "cp866n",
    "cp1251",
    "cp1251n",
];

#[test]
fn every_record_equals_what_harbour_reads() {
    for name in TABLES {
        // Latin 1 keeps every byte apart from the others, so text compares as bytes.
        let options = OpenOptions::new()
            .codepage(CodePage::Iso8859_1)
            .keep_trailing_blanks(true);
        let table = Arc::new(Table::open(corpus(&format!("{name}.dbf")), &options).unwrap());
        check(name, &table, Scan::new());
        check(name, &table, Scan::new().batch_rows(7));
        let mapped = Table::open(corpus(&format!("{name}.dbf")), &options.access(Access::Mapped)).unwrap();
        check(name, &Arc::new(mapped), Scan::new());
    }
}

#[test]
fn blank_zero_is_what_harbour_shows() {
    for name in ["types_cdx", "ord_cdx"] {
        let options = OpenOptions::new()
            .codepage(CodePage::Iso8859_1)
            .keep_trailing_blanks(true)
            .blank(Blank::Zero);
        let table = Arc::new(Table::open(corpus(&format!("{name}.dbf")), &options).unwrap());
        check(name, &table, Scan::new());
        for batch in table.scan(Scan::new()).unwrap() {
            for (field, column) in table.fields().iter().zip(batch.unwrap().columns()) {
                if "NFL".contains(field.letter) {
                    assert_eq!(column.null_count(), 0, "{name} {}", field.name);
                }
            }
        }
    }
}

#[test]
fn the_code_pages_of_the_goldens_decode_to_their_alphabets() {
    for (name, page, letters) in [
        ("cp850de", "cp850", "äöüßÄÖÜ"),
        ("cp850es", "cp850", "ñÑáéí"),
        ("cp1252de", "cp1252", "äöüßÄÖÜ€"),
        ("cp866", "cp866", "АБВабвё"),
        ("cp1251", "cp1251", "АБВабвёЁ"),
        ("cp437", "cp437", "äöüß░▒▓"),
    ] {
        let options = OpenOptions::new().codepage(page.parse().unwrap());
        let table = Arc::new(Table::open(corpus(&format!("{name}.dbf")), &options).unwrap());
        let batches: Vec<_> = table.scan(Scan::new()).unwrap().map(Result::unwrap).collect();
        let text: String = batches
            .iter()
            .flat_map(|b| b.column(1).as_string::<i32>().iter().flatten())
            .collect();
        for letter in letters.chars() {
            assert!(text.contains(letter), "{name}: {letter}");
        }
        assert!(
            !text.contains(char::REPLACEMENT_CHARACTER) || page.starts_with("cp125"),
            "{name}"
        );
    }
}

/// The 70,000 rows have no record-by-record dump; their three orders depend on every key of every record.
#[test]
fn the_orders_of_the_big_table_follow_from_its_values() {
    let table = Arc::new(Table::open(corpus("big_cdx.dbf"), &OpenOptions::new()).unwrap());
    assert_eq!(table.record_count(), 70_000);
    let mut rows: Vec<(i64, String, i128, u32)> = Vec::new();
    for batch in table
        .scan(Scan::new().deleted(Deleted::Include).system_columns(true))
        .unwrap()
    {
        let batch = batch.unwrap();
        let (id, code) = (
            batch.column(0).as_primitive::<Int64Type>(),
            batch.column(1).as_string::<i32>(),
        );
        let (amount, recno) = (
            batch.column(2).as_primitive::<Decimal128Type>(),
            batch.column(3).as_primitive::<UInt32Type>(),
        );
        for i in 0..batch.num_rows() {
            rows.push((id.value(i), code.value(i).to_owned(), amount.value(i), recno.value(i)));
        }
    }
    let expectation = json("big_cdx");
    for order in expectation["orders"].as_array().unwrap() {
        let mut sorted: Vec<&(i64, String, i128, u32)> = rows.iter().collect();
        match (order["expr"].as_str().unwrap(), order["descend"].as_bool().unwrap()) {
            ("ID", false) => sorted.sort_by_key(|r| (r.0, r.3)),
            ("CODE", false) => sorted.sort_by(|a, b| (&a.1, a.3).cmp(&(&b.1, b.3))),
            ("AMT", true) => sorted.sort_by_key(|r| std::cmp::Reverse((r.2, r.3))),
            other => panic!("an order that the test does not know: {other:?}"),
        }
        let list: String = sorted.iter().map(|r| format!("{},", r.3)).collect();
        let tag = &order["tag"];
        assert_eq!(
            order["recnos_md5_of_comma_terminated_list"],
            hex(&Md5::digest(list)),
            "{tag}"
        );
    }
}

#[test]
fn the_goldens_are_without_fault() {
    for name in TABLES {
        let table = Arc::new(Table::open(corpus(&format!("{name}.dbf")), &OpenOptions::new()).unwrap());
        let verification = table.verify().unwrap();
        assert_eq!(
            (verification.good_records, verification.damage),
            (table.record_count(), vec![]),
            "{name}"
        );
    }
}

#[test]
fn deleted_records_are_counted_and_picked() {
    for name in ["ord_cdx", "types_cdx", "upd_cdx"] {
        let deleted = count_deleted(name);
        assert!(deleted > 0, "{name}");
        let table = Arc::new(Table::open(corpus(&format!("{name}.dbf")), &OpenOptions::new()).unwrap());
        assert_eq!(table.deleted_count().unwrap(), deleted);
        let count = |pick| -> usize {
            let scan = Scan::new().projection(vec![]).deleted(pick);
            table.scan(scan).unwrap().map(|b| b.unwrap().num_rows()).sum()
        };
        let all = table.record_count() as usize;
        assert_eq!(
            (count(Deleted::Include), count(Deleted::Only)),
            (all, deleted as usize),
            "{name}"
        );
        assert_eq!(count(Deleted::Skip), all - deleted as usize, "{name}");
    }
}

fn count_deleted(name: &str) -> u32 {
    let records = json(name);
    let count = records["records"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|r| r["del"] == true)
        .count();
    u32::try_from(count).unwrap()
}

fn check(name: &str, table: &Arc<Table>, scan: Scan) {
    let expectation = json(name);
    let records = expectation["records"].as_array().unwrap();
    let names: Vec<&str> = expectation["struct"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f[0].as_str().unwrap())
        .collect();
    assert_eq!(
        table.fields().iter().map(|f| f.name.as_str()).collect::<Vec<_>>(),
        names,
        "{name}"
    );
    let mut next = 0;
    for batch in table.scan(scan.deleted(Deleted::Include).system_columns(true)).unwrap() {
        let batch: RecordBatch = batch.unwrap();
        for row in 0..batch.num_rows() {
            let expected = &records[next];
            let place = |what: &str| format!("{name} record {} {what}", next + 1);
            let system = names.len();
            assert_eq!(
                batch.column(system).as_primitive::<UInt32Type>().value(row),
                expected["r"],
                "{}",
                place("_recno")
            );
            assert_eq!(
                batch.column(system + 1).as_boolean().value(row),
                expected["del"],
                "{}",
                place("_deleted")
            );
            for (i, field) in table.fields().iter().enumerate() {
                check_value(batch.column(i), row, field, &expected["v"][i], &place(&field.name));
            }
            next += 1;
        }
    }
    assert_eq!(next, records.len(), "{name}");
}

fn check_value(column: &ArrayRef, row: usize, field: &Field, expected: &Value, place: &str) {
    if let Some(date) = expected["d"].as_str() {
        let days = match column.data_type() {
            DataType::Date32 => column
                .is_valid(row)
                .then(|| civil(column.as_primitive::<Date32Type>().value(row), "")),
            _ => Some(column.as_string::<i32>().value(row).replace('-', "")),
        };
        assert_eq!(days.unwrap_or_else(|| " ".repeat(8)), date, "{place}");
        return;
    }
    if let Some(time) = expected["t"].as_str() {
        let text = match column.data_type() {
            _ if column.is_null(row) => "0".repeat(17),
            DataType::Time32(_) => format!(
                "00000000{}",
                clock(column.as_primitive::<Time32MillisecondType>().value(row).into())
            ),
            _ => {
                let ms = column.as_primitive::<TimestampMillisecondType>().value(row);
                let days = i32::try_from(ms.div_euclid(86_400_000)).unwrap();
                format!("{}{}", civil(days, ""), clock(ms.rem_euclid(86_400_000)))
            }
        };
        assert_eq!(text, time, "{place}");
        return;
    }
    match expected {
        Value::Bool(expected) => match column.data_type() {
            DataType::Boolean => assert_eq!(
                column.is_valid(row) && column.as_boolean().value(row),
                *expected,
                "{place}"
            ),
            _ => assert_eq!(column.as_string::<i32>().value(row), expected.to_string(), "{place}"),
        },
        Value::Number(expected) => {
            let value = number(column, row, field);
            let expected = expected.as_f64().unwrap();
            assert!(
                (value - expected).abs() <= expected.abs() * 1e-12,
                "{place}: {value} is not {expected}"
            );
        }
        _ => {
            let mut bytes = bytes(column, row);
            // Harbour shows a NULL as a blank of the field's width.
            if column.is_null(row) && "C".contains(field.letter) {
                bytes = vec![b' '; field.width];
            }
            match (expected, expected["hex"].as_str(), expected["md5"].as_str()) {
                (Value::String(expected), _, _) => {
                    assert_eq!(bytes, expected.as_bytes(), "{place}")
                }
                (_, Some(expected), _) => {
                    assert_eq!(hex(&bytes).to_uppercase(), expected, "{place}")
                }
                (_, _, Some(md5)) => {
                    let expected = (expected["len"].as_u64().unwrap(), md5);
                    assert_eq!(
                        (bytes.len() as u64, hex(&Md5::digest(&bytes)).as_str()),
                        expected,
                        "{place}"
                    );
                }
                _ => panic!("{place}: an expectation that the test does not know"),
            }
        }
    }
}

fn number(column: &ArrayRef, row: usize, field: &Field) -> f64 {
    if column.is_null(row) {
        return 0.0;
    }
    match column.data_type() {
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).into(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row) as f64,
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row),
        DataType::Decimal128(_, scale) => {
            assert_eq!(i32::from(*scale), i32::from(field.decimals));
            column.as_primitive::<Decimal128Type>().value(row) as f64 / 10f64.powi(i32::from(*scale))
        }
        DataType::Utf8 => column.as_string::<i32>().value(row).parse().unwrap(),
        other => panic!("{other} is no number"),
    }
}

fn bytes(column: &ArrayRef, row: usize) -> Vec<u8> {
    match column.data_type() {
        _ if column.is_null(row) => Vec::new(),
        DataType::Utf8 => {
            let mut bytes = Vec::new();
            CodePage::Iso8859_1
                .encode(column.as_string::<i32>().value(row), &mut bytes)
                .unwrap();
            bytes
        }
        _ => column.as_binary::<i32>().value(row).to_vec(),
    }
}

fn civil(days: i32, separator: &str) -> String {
    let text = arrow_array::temporal_conversions::date32_to_datetime(days)
        .unwrap()
        .to_string();
    text.get(..10).unwrap().replace('-', separator)
}

fn clock(ms: i64) -> String {
    format!(
        "{:02}{:02}{:02}{:03}",
        ms / 3_600_000,
        ms / 60_000 % 60,
        ms / 1000 % 60,
        ms % 1000
    )
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn json(name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(corpus(&format!("{name}.json"))).unwrap()).unwrap()
}

fn corpus(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../corpus/xbase")
        .join(file)
}
