//! Bitmap filters: they say of each record what the condition says of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use proptest::prelude::*;
use tidemill_xbase::aof::{Filter, FilterOrders};
use tidemill_xbase::expression::{Environment, Letters, Program, RecordBytes};
use tidemill_xbase::{CodePage, ColumnCache, Columns, Deleted, Field, FieldKind, OpenOptions, Scan, Sharing, Table};

use crate::tables::{Random, RandomTable};

fn open(source: &RandomTable) -> Arc<Table> {
    let options = OpenOptions::new().codepage(CodePage::Cp437);
    Arc::new(Table::from_bytes(source.bytes.clone(), None, &options).unwrap())
}

fn environment(random: &mut Random) -> Environment {
    let page = CodePage::Cp437;
    let mut weights: [u8; 256] = std::array::from_fn(|i| u8::try_from(i).unwrap());
    // ä stands behind a.
    weights[0x84] = b'b';
    let weights = (random.below(4) == 0).then(|| Arc::new(weights));
    let letters = *random.pick(&[false, true]);
    Environment::new(page)
        .exact(random.below(2) == 0)
        .letters(if letters { Letters::of(page) } else { Letters::ascii() })
        .weights(weights)
}

#[test]
fn tables_of_harbour_are_filtered_as_their_records_say() {
    let (mut files, mut leaves, mut memos) = (0, 0, 0);
    for entry in std::fs::read_dir(corpus()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "dbf") {
            continue;
        }
        let Ok(table) = Table::open(&path, &OpenOptions::new()) else {
            continue;
        };
        if table.record_count() > 10_000 {
            continue;
        }
        let table = Arc::new(table);
        let environment = Environment::new(table.codepage());
        files += 1;
        for field in table.fields() {
            for leaf in conditions(field) {
                let program = Program::compile(&leaf, table.fields(), &environment).unwrap();
                let filter = Filter::new(&leaf, &table, &environment).unwrap();
                let bitmap = filter.bitmap(&table).unwrap();
                let expected: Vec<bool> = match field.kind.uses_memo() {
                    false => rows(&path, &table, &program),
                    true => batches(&table, &program),
                };
                let found: Vec<bool> = (1..=table.record_count()).map(|recno| bitmap.contains(recno)).collect();
                assert_eq!(found, expected, "{}: {leaf}", path.display());
                leaves += 1;
                memos += u32::from(field.kind.uses_memo());
            }
        }
    }
    assert!(
        files > 20 && leaves > 300 && memos > 10,
        "{files} files, {leaves} leaves, {memos} of memos"
    );
}

/// Conditions on a field, of each kind of comparison.
fn conditions(field: &Field) -> Vec<String> {
    const DAYS: &[&str] = &[
        "@ > {^2000-01-01}",
        "@ = {}",
        "@ <= {^2024-02-29 12:00:00}",
        "YEAR(@) = 2024",
    ];
    const TEXTS: &[&str] = &["@ < 'M'", "UPPER(@) = 'A'", "'a' $ @", "LEN(TRIM(@)) > 3", "@ = ' '"];
    const NUMBERS: &[&str] = &["@ > 1", "@ = 0", "12.5 <> @", "@ >= 0 .AND. @ <= 100", "INT(@ / 2) = 1"];
    let templates = match field.kind {
        FieldKind::System | FieldKind::Variant => &[][..],
        FieldKind::Logical => &["@", "@ <> .T."],
        FieldKind::Date | FieldKind::DateBinary | FieldKind::DatePacked => DAYS,
        FieldKind::Time | FieldKind::Timestamp => &DAYS[..3],
        FieldKind::Character | FieldKind::CharacterBinary | FieldKind::Memo | FieldKind::MemoBinary => TEXTS,
        FieldKind::Varchar | FieldKind::Varbinary => TEXTS,
        _ => NUMBERS,
    };
    templates.iter().map(|text| text.replace('@', &field.name)).collect()
}

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/xbase")
}

fn rows(path: &Path, table: &Table, program: &Program) -> Vec<bool> {
    let bytes = std::fs::read(path).unwrap();
    let records = bytes[table.header().header_len as usize..].chunks_exact(table.header().record_len as usize);
    let records = (1..=table.record_count()).zip(records);
    records
        .map(|(recno, bytes)| program.matches(&RecordBytes::new(table, recno, bytes)).unwrap())
        .collect()
}

fn batches(table: &Arc<Table>, program: &Program) -> Vec<bool> {
    let scan = Scan::new().deleted(Deleted::Include).system_columns(true);
    let batches = table.scan(scan).unwrap();
    let mut matches = Vec::new();
    for batch in batches {
        let result = program.evaluate(&batch.unwrap()).unwrap();
        matches.extend(result.as_boolean().iter().map(|value| value == Some(true)));
    }
    matches
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_bitmap_says_of_every_record_what_the_condition_says(seed: u64) {
        let mut random = Random::new(seed);
        let random = &mut random;
        let source = RandomTable::new(random, 200, false);
        let table = open(&source);
        let columns = Columns::new(&table, &ColumnCache::new(1 << 20), Sharing::Shared).unwrap();
        for _ in 0..8 {
            let environment = environment(random);
            let text = source.condition(random, 3);
            let program = Program::compile(&text, table.fields(), &environment).unwrap();
            let filter = Filter::new(&text, &table, &environment).unwrap();
            let bitmap = filter.bitmap(&table).unwrap();
            prop_assert_eq!(bitmap.len(), source.rows);
            // From the file, and then from what is kept of it.
            for _ in 0..2 {
                let kept = filter.bitmap_in(&columns, &FilterOrders::none()).unwrap();
                prop_assert_eq!(&kept, &bitmap, "{}", &text);
            }
            for (recno, bytes) in source.records() {
                let expected = program.matches(&RecordBytes::new(&table, recno, bytes)).unwrap();
                prop_assert_eq!(bitmap.contains(recno), expected, "{} for record {}: {:x?}", &text, recno, bytes);
                prop_assert_eq!(filter.matches(&table, recno, bytes).unwrap(), expected);
            }
        }
    }

    #[test]
    fn what_cannot_be_read_is_blank_while_recovering(seed: u64) {
        let mut random = Random::new(seed);
        let random = &mut random;
        let source = RandomTable::new(random, 60, true);
        let options = OpenOptions::new().codepage(CodePage::Cp437);
        let table = Arc::new(Table::from_bytes(source.bytes.clone(), None, &options.clone().recover(true)).unwrap());
        let strict = open(&source);
        let environment = environment(random);
        let text = source.leaf(random);
        let program = Program::compile(&text, table.fields(), &environment).unwrap();
        let bitmap = Filter::new(&text, &table, &environment).unwrap().bitmap(&table).unwrap();
        for (recno, bytes) in source.records() {
            if let Ok(expected) = program.matches(&RecordBytes::new(&strict, recno, bytes)) {
                prop_assert_eq!(bitmap.contains(recno), expected, "{} for record {}", &text, recno);
            }
        }
    }

    #[test]
    fn a_leaf_is_an_error_when_its_field_cannot_be_read(seed: u64) {
        let mut random = Random::new(seed);
        let random = &mut random;
        let source = RandomTable::new(random, 60, true);
        let table = open(&source);
        let columns = Columns::new(&table, &ColumnCache::new(1 << 20), Sharing::Shared).unwrap();
        for _ in 0..8 {
            let environment = environment(random);
            let text = source.leaf(random);
            let program = Program::compile(&text, table.fields(), &environment).unwrap();
            let expected: Result<Vec<bool>, _> = source
                .records()
                .map(|(recno, bytes)| program.matches(&RecordBytes::new(&table, recno, bytes)))
                .collect();
            let filter = Filter::new(&text, &table, &environment).unwrap();
            let bitmap = filter.bitmap(&table);
            let kept = filter.bitmap_in(&columns, &FilterOrders::none());
            prop_assert_eq!(kept.map_err(|e| e.to_string()), bitmap.as_ref().map(Clone::clone).map_err(|e| e.to_string()));
            match (bitmap, expected) {
                (Ok(bitmap), Ok(expected)) => {
                    let found: Vec<bool> = (1..=source.rows).map(|recno| bitmap.contains(recno)).collect();
                    prop_assert_eq!(found, expected, "{}", &text);
                }
                (Err(found), Err(expected)) => prop_assert_eq!(found.to_string(), expected.to_string(), "{}", &text),
                (found, expected) => prop_assert!(false, "{}: {:?} {:?}", &text, found, expected),
            }
        }
    }
}
