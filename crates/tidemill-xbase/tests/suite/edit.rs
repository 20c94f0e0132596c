//! Tables changed in place: what is written is read back, and nothing else changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use arrow_array::RecordBatch;
use arrow_cast::display::array_value_to_string;
use proptest::collection::vec;
use proptest::prelude::*;
use tempfile::TempDir;
use tidemill_xbase::{
    CivilDate, CodePage, CreateOptions, Deleted, Dialect, EditOptions, Error, Field, FieldKind, FieldSpec, MemoDialect,
    OpenMode, OpenOptions, Scan, Table, TableEditor, TableWriter, Value,
};

const TODAY: CivilDate = CivilDate {
    year: 2031,
    month: 12,
    day: 24,
};

#[test]
fn every_field_of_every_golden_takes_a_value_and_the_other_records_keep_their_bytes() {
    let mut written = 0;
    for name in goldens() {
        let copy = Copy::of(&name);
        let before = std::fs::read(&copy.path).unwrap();
        let mut table = copy.edit();
        let (header_len, stride) = (table.header().header_len as usize, table.header().record_len as usize);
        let fields = table.fields().to_vec();
        let values: Vec<(usize, Value<'_>, &str)> = fields
            .iter()
            .enumerate()
            .filter_map(|(index, field)| sample(field).map(|(value, shown)| (index, value, shown)))
            .collect();
        let given: Vec<_> = values.iter().map(|(index, value, _)| (*index, *value)).collect();
        table.replace(2, &given).unwrap();
        let appended = table.append_values(&given).unwrap();
        table.sync().unwrap();
        drop(table);

        let rows = copy.rows();
        for (index, _, shown) in &values {
            for record in [2, appended] {
                let found = array_value_to_string(rows.column(*index), record as usize - 1).unwrap();
                assert_eq!(
                    found, *shown,
                    "{name}: field {} of record {record}",
                    fields[*index].name
                );
            }
            written += 1;
        }
        let after = std::fs::read(&copy.path).unwrap();
        let record = |bytes: &[u8], n: usize| bytes[header_len + (n - 1) * stride..][..stride].to_vec();
        for n in (1..appended as usize).filter(|n| *n != 2) {
            assert_eq!(record(&before, n), record(&after, n), "{name}: record {n}");
        }
        assert_eq!(record(&before, 2)[0], record(&after, 2)[0]);
        assert_eq!(after.len(), header_len + appended as usize * stride + 1);
        assert_eq!(after.last(), Some(&0x1A));
        assert_eq!(after[1..8], [131, 12, 24, after[4], after[5], after[6], after[7]]);
        assert_eq!(after[8..18], before[8..18], "{name}");
        assert_eq!(after[28..30], before[28..30], "{name}: production index and language");
        assert!(copy.table().verify().unwrap().damage.is_empty(), "{name}");
    }
    assert!(written > 120, "{written}");
}

#[test]
fn memos_of_every_dialect_grow_shrink_and_vanish() {
    let mut dialects = Vec::new();
    for name in goldens() {
        let copy = Copy::of(&name);
        let table = copy.table();
        let Some(memo) = table.memo() else { continue };
        let field = table.fields().iter().position(|f| f.kind == FieldKind::Memo);
        let (Some(field), path, dialect) = (field, memo.path().to_owned(), memo.dialect()) else {
            continue;
        };
        dialects.push(dialect);
        let before = copy.rows();
        let mut editor = copy.edit();
        let (long, short) = ("x".repeat(3000), "y".repeat(100));
        for text in [&long, &short, &long, &"z".repeat(5000), ""] {
            let len = std::fs::metadata(&path).unwrap().len();
            editor.replace(3, &[(field, Value::Text(text))]).unwrap();
            editor.flush().unwrap();
            let rows = copy.rows();
            assert_eq!(array_value_to_string(rows.column(field), 2).unwrap(), *text, "{name}");
            for other in (0..before.num_rows()).filter(|row| *row != 2) {
                let shown = |rows: &RecordBatch| array_value_to_string(rows.column(field), other).unwrap();
                assert_eq!(shown(&before), shown(&rows), "{name}: record {}", other + 1);
            }
            if text.len() == 100 || text.is_empty() {
                let grown = std::fs::metadata(&path).unwrap().len() - len;
                assert_eq!(grown, 0, "{name}: a shorter memo takes the place of the old one");
            }
        }
    }
    for dialect in [
        MemoDialect::Dbt3,
        MemoDialect::Fpt,
        MemoDialect::FptSix,
        MemoDialect::FptFlex,
        MemoDialect::Smt,
    ] {
        assert!(dialects.contains(&dialect), "{dialect}");
    }
}

#[test]
fn packing_keeps_what_is_not_deleted_and_every_memo() {
    for name in goldens() {
        let copy = Copy::of(&name);
        let before: Vec<_> = shown(&copy.rows_with(Deleted::Skip));
        let memo_before = copy.table().memo().map(|m| m.file_len());
        let mut table = copy.edit();
        assert_eq!(table.pack().unwrap() as usize, before.len(), "{name}");
        table.append().unwrap();
        drop(table);
        let table = copy.table();
        assert!(table.verify().unwrap().damage.is_empty(), "{name}");
        assert_eq!(table.deleted_count().unwrap(), 0);
        let after = shown(&copy.rows());
        assert_eq!(after[..before.len()], before, "{name}");
        if let (Some(before), Some(memo)) = (memo_before, table.memo()) {
            assert!(memo.file_len() <= before, "{name}: {} after {before}", memo.file_len());
        }
        let left: Vec<_> = std::fs::read_dir(copy.path.parent().unwrap()).unwrap().collect();
        assert!(left.len() <= 2, "{name}: {left:?}");
    }
}

#[test]
fn zapping_leaves_a_sound_table_that_takes_records_again() {
    for name in goldens() {
        let copy = Copy::of(&name);
        let mut table = copy.edit();
        table.zap().unwrap();
        assert_eq!(table.record_count(), 0);
        let header_len = u64::from(table.header().header_len);
        assert_eq!(std::fs::metadata(&copy.path).unwrap().len(), header_len + 1);
        let memo = table.fields().iter().position(|f| f.kind == FieldKind::Memo);
        let values: Vec<_> = memo
            .map(|field| (field, Value::Text("first again")))
            .into_iter()
            .collect();
        table.append_values(&values).unwrap();
        drop(table);
        let rows = copy.rows();
        assert_eq!(rows.num_rows(), 1, "{name}");
        if let Some(field) = memo {
            assert_eq!(
                array_value_to_string(rows.column(field), 0).unwrap(),
                "first again",
                "{name}"
            );
        }
        assert!(copy.table().verify().unwrap().damage.is_empty(), "{name}");
    }
}

#[test]
fn the_rows_of_every_golden_appended_as_a_batch_come_back() {
    for name in goldens() {
        let copy = Copy::of(&name);
        let before = copy.rows();
        let fields = copy.table().fields().to_vec();
        let counts = |field: &Field| field.autoincrement.is_some() || field.letter == '^';
        let columns = fields.iter().zip(before.columns()).map(|(field, column)| {
            // Counters count on, and fields of any type are only read.
            if counts(field) || field.kind == FieldKind::Variant {
                arrow_array::new_null_array(column.data_type(), column.len())
            } else {
                Arc::clone(column)
            }
        });
        let given = RecordBatch::try_new(before.schema(), columns.collect()).unwrap();
        let mut table = copy.edit();
        let rows = u32::try_from(given.num_rows()).unwrap();
        assert_eq!(table.append_batch(&given).unwrap(), rows + 1..2 * rows + 1, "{name}");
        assert_eq!(
            table.append_batch(&given.slice(0, 0)).unwrap(),
            2 * rows + 1..2 * rows + 1
        );
        drop(table);
        let after = copy.rows();
        assert_eq!(after.slice(0, rows as usize), before, "{name}");
        for (index, field) in fields.iter().enumerate() {
            let found = after.column(index).slice(rows as usize, rows as usize);
            if field.kind == FieldKind::Variant {
                assert!((0..found.len()).all(|row| array_value_to_string(&found, row).unwrap().is_empty()));
            } else if !counts(field) {
                assert_eq!(&found, given.column(index), "{name}: {}", field.name);
            } else if let Some(counter) = field.autoincrement {
                assert_eq!(
                    array_value_to_string(&found, 0).unwrap(),
                    counter.next.to_string(),
                    "{name}"
                );
            }
        }
        assert!(copy.table().verify().unwrap().damage.is_empty(), "{name}");
    }
}

#[test]
fn a_reader_notices_every_change_of_table_and_memos() {
    let copy = Copy::of("memo_fpt32");
    let rest = || std::thread::sleep(std::time::Duration::from_millis(60));
    let note = copy
        .table()
        .fields()
        .iter()
        .position(|f| f.kind == FieldKind::Memo)
        .unwrap();
    let changes: [&dyn Fn(&mut TableEditor); 4] = [
        &|table| assert!(table.append().is_ok()),
        &|table| table.delete(2).unwrap(),
        &|table| table.replace(3, &[(note, Value::Text("another"))]).unwrap(),
        &|table| assert!(table.pack().is_ok()),
    ];
    for change in changes {
        rest();
        let table = copy.table();
        assert!(table.is_current().unwrap());
        rest();
        assert!(table.is_current().unwrap());
        change(&mut copy.edit());
        assert!(!table.is_current().unwrap());
    }
    let table = copy.table();
    std::fs::remove_file(&copy.path).unwrap();
    assert!(matches!(table.is_current(), Err(Error::Io { .. })));
    assert!(
        Table::from_bytes(
            std::fs::read(corpus().join("ord_cdx.dbf")).unwrap(),
            None,
            &OpenOptions::new()
        )
        .unwrap()
        .is_current()
        .unwrap()
    );
}

#[test]
fn counters_count_on_and_cannot_be_written() {
    let copy = Copy::of("types_vfp");
    let mut table = copy.edit();
    let counted = table.fields().iter().position(|f| f.autoincrement.is_some()).unwrap();
    let first = table.fields()[counted].autoincrement.unwrap();
    let appended = [table.append().unwrap(), table.append().unwrap()];
    let refused = table.replace(1, &[(counted, Value::Integer(1))]).unwrap_err();
    assert!(matches!(refused, Error::Value(_)), "{refused}");
    drop(table);
    let rows = copy.rows();
    for (record, value) in appended.iter().zip([first.next, first.next + first.step]) {
        let found = array_value_to_string(rows.column(counted), *record as usize - 1).unwrap();
        assert_eq!(found, value.to_string());
    }
    let next = copy.table().fields()[counted].autoincrement.unwrap().next;
    assert_eq!(next, first.next + 2 * first.step);
}

/// As Harbour makes them (`src/rdd/dbf1.c`): type I with a flag and version 31 in Visual FoxPro, type + elsewhere.
#[test]
fn counters_of_new_tables_begin_at_1() {
    let folder = TempDir::new().unwrap();
    for (format, version, letter) in [(Dialect::VisualFoxPro, 0x31, 'I'), (Dialect::FoxPro2, 0x03, '+')] {
        let path = folder.path().join(format!("{version}.dbf"));
        let mut create = CreateOptions::new(TODAY);
        create.format = format;
        let fields = [FieldSpec::new("ID", 'I', 4, 0).autoincrement(true)];
        TableWriter::create(&path, &fields, &create).unwrap().finish().unwrap();
        let mut table = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
        assert_eq!(table.fields()[0].letter, letter);
        let mut record = [0; 5];
        for number in 1..=3 {
            table.append_record(&mut record).unwrap();
            assert_eq!(record[1..], [number, 0, 0, 0], "{format:?}");
        }
        assert_eq!(std::fs::read(&path).unwrap()[0], version);
        let wide = [FieldSpec::new("ID", 'I', 8, 0).autoincrement(true)];
        assert!(matches!(
            TableWriter::create(&path, &wide, &create),
            Err(Error::Misuse(_))
        ));
    }
}

#[test]
fn fields_with_the_time_of_the_last_change_follow_every_write_and_cannot_be_written() {
    static NOW: AtomicI64 = AtomicI64::new(0);
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t.dbf");
    let fields = [FieldSpec::new("NAME", 'C', 5, 0), FieldSpec::new("CHANGED", '=', 8, 0)];
    TableWriter::create(&path, &fields, &CreateOptions::new(TODAY))
        .unwrap()
        .finish()
        .unwrap();
    let options = EditOptions::new(TODAY).clock(|| NOW.load(Ordering::Relaxed));
    let mut table = TableEditor::open(&path, &options).unwrap();
    assert_eq!(
        (table.fields()[1].letter, table.fields()[1].kind),
        ('=', FieldKind::Timestamp)
    );
    let at = |second: i64| NOW.store(1_000_000_000_000 + 1000 * second, Ordering::Relaxed);
    at(1);
    table.append_values(&[(0, Value::Text("one"))]).unwrap();
    at(2);
    table.append().unwrap();
    let batch = table.table().unwrap();
    let null = [
        Arc::new(arrow_array::StringArray::from(vec!["batch"])) as _,
        arrow_array::new_null_array(&batch.fields()[1].data_type(), 1),
    ];
    at(3);
    table
        .append_batch(&RecordBatch::try_new(batch.schema(), null.to_vec()).unwrap())
        .unwrap();
    at(4);
    table.replace(1, &[(0, Value::Text("again"))]).unwrap();
    at(5);
    table.delete(2).unwrap();
    let refused = table.replace(1, &[(1, Value::Timestamp(0))]).unwrap_err();
    assert!(matches!(refused, Error::Value(_)), "{refused}");
    drop(table);
    let rows = shown(&all(
        &Arc::new(Table::open(&path, &OpenOptions::new()).unwrap()),
        Deleted::Include,
    ));
    let changed: Vec<_> = rows.iter().map(|row| row[1].as_str()).collect();
    assert_eq!(
        changed,
        ["2001-09-09T01:46:44", "2001-09-09T01:46:45", "2001-09-09T01:46:43"]
    );
    // Julian day 2452162, then milliseconds.
    let bytes = std::fs::read(&path).unwrap();
    let (header, stride) = (usize::from(u16::from_le_bytes([bytes[8], bytes[9]])), 14);
    assert_eq!(bytes[header + 6..][..4], 2_452_162u32.to_le_bytes());
    assert_eq!(bytes[header + stride + 10..][..4], 6_405_000u32.to_le_bytes());
}

#[test]
fn what_does_not_fit_is_refused_with_field_width_and_value_and_nothing_is_written() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t.dbf");
    let fields = [
        FieldSpec::new("NAME", 'C', 5, 0),
        FieldSpec::new("AMT", 'N', 6, 2),
        FieldSpec::new("SMALL", 'I', 1, 0),
        FieldSpec::new("NOTE", 'M', 10, 0),
    ];
    TableWriter::create(&path, &fields, &CreateOptions::new(TODAY))
        .unwrap()
        .finish()
        .unwrap();
    let mut table = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    table.append().unwrap();
    table.flush().unwrap();
    let before = std::fs::read(&path).unwrap();
    let memo = std::fs::read(path.with_extension("fpt")).unwrap();
    let decimal = |unscaled, scale| Value::Decimal { unscaled, scale };
    for (field, value, message) in [
        (
            0,
            Value::Text("sixsix"),
            r#"field NAME: expected at most 5 bytes, found "sixsix""#,
        ),
        (
            0,
            Value::Text("日本"),
            r#"field NAME: expected characters of cp1252, which has no '日', found "日本""#,
        ),
        (0, Value::Integer(1), "field NAME: expected text, found 1"),
        (
            1,
            Value::Integer(10_000),
            "field AMT: expected at most 6 characters, found 10000",
        ),
        (
            1,
            decimal(1005, 3),
            "field AMT: expected a number with at most 2 decimals that fits, found",
        ),
        (
            1,
            Value::Double(f64::NAN),
            "field AMT: expected a finite number, found NaN",
        ),
        (
            1,
            Value::Double(-99_999.0),
            "field AMT: expected at most 6 characters, found -99999",
        ),
        (
            2,
            Value::Integer(128),
            "field SMALL: expected an integer of 1 bytes, found 128",
        ),
        (2, Value::Null, "field SMALL: expected a value"),
    ] {
        let given = [(3, Value::Text("never written")), (field, value)];
        for error in [
            table.replace(1, &given).unwrap_err(),
            table.append_values(&given).unwrap_err(),
        ] {
            assert!(matches!(error, Error::Value(_)), "{error}");
            assert!(error.to_string().contains(message), "{error}");
        }
    }
    assert!(matches!(table.replace(2, &[]), Err(Error::Misuse(_))));
    assert!(matches!(table.replace(0, &[]), Err(Error::Misuse(_))));
    assert!(matches!(table.replace(1, &[(4, Value::Null)]), Err(Error::Misuse(_))));
    table.flush().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(std::fs::read(path.with_extension("fpt")).unwrap(), memo);
    table
        .replace(1, &[(1, decimal(-1200, 3)), (2, Value::Integer(-128))])
        .unwrap();
    table.replace(1, &[(0, Value::Text("fünf "))]).unwrap();
}

#[test]
fn a_record_beside_others_is_changed_only_under_its_lock() {
    let copy = Copy::of("ord_cdx");
    let shared = EditOptions::new(TODAY)
        .mode(OpenMode::Shared)
        .lock_timeout(std::time::Duration::ZERO);
    let mut one = TableEditor::open(&copy.path, &shared).unwrap();
    let mut two = TableEditor::open(&copy.path, &shared).unwrap();
    assert!(matches!(
        TableEditor::open(
            &copy.path,
            &EditOptions::new(TODAY).lock_timeout(std::time::Duration::ZERO)
        ),
        Err(Error::Locked(_))
    ));
    assert!(matches!(one.delete(5), Err(Error::Misuse(_))));
    one.lock_record(5).unwrap();
    one.delete(5).unwrap();
    assert!(two.is_deleted(5).unwrap());
    assert!(matches!(two.lock_record(5), Err(Error::Locked(_))));
    assert!(matches!(two.lock_file(), Err(Error::Locked(_))));
    two.lock_record(6).unwrap();

    let appended = one.append().unwrap();
    assert_eq!(two.append().unwrap(), appended + 1);
    assert_eq!(one.refresh().unwrap(), appended + 1);
    assert!(matches!(one.recall(appended + 1), Err(Error::Misuse(_))));
    two.recall(appended + 1).unwrap();
    assert!(matches!(one.pack(), Err(Error::Misuse(_))));
    assert!(matches!(one.zap(), Err(Error::Misuse(_))));

    two.unlock_all().unwrap();
    one.lock_file().unwrap();
    one.recall(5).unwrap();
    assert!(matches!(two.lock_record(1), Err(Error::Locked(_))));
    drop(one);
    two.lock_record(1).unwrap();
    assert_eq!(copy.table().record_count(), appended + 1);

    let mut reader = TableEditor::open(&copy.path, &shared.clone().mode(OpenMode::ReadOnly)).unwrap();
    assert!(matches!(reader.append(), Err(Error::Misuse(_))));
    reader.lock_record(2).unwrap();
    assert!(matches!(two.lock_record(2), Err(Error::Locked(_))));
}

#[test]
fn several_records_are_locked_together_or_not_at_all() {
    let copy = Copy::of("ord_cdx");
    let open = || {
        let options = EditOptions::new(TODAY)
            .mode(OpenMode::Shared)
            .lock_timeout(std::time::Duration::ZERO);
        TableEditor::open(&copy.path, &options).unwrap()
    };
    let (mut one, mut two) = (open(), open());
    one.lock_record(4).unwrap();
    two.lock_record(3).unwrap();
    assert!(matches!(two.lock_records([9, 4, 2, 2, 3]), Err(Error::Locked(_))));
    one.lock_records([2, 9]).unwrap();
    assert!(matches!(one.lock_record(3), Err(Error::Locked(_))));
    one.unlock_all().unwrap();
    two.lock_records([9, 4, 2]).unwrap();
    assert!(matches!(one.lock_record(4), Err(Error::Locked(_))));
}

#[test]
fn a_table_that_another_program_shortened_gives_an_error() {
    let copy = Copy::of("ord_cdx");
    let mut table = TableEditor::open(&copy.path, &EditOptions::new(TODAY).mode(OpenMode::Shared)).unwrap();
    let file = std::fs::File::options().write(true).open(&copy.path).unwrap();
    file.set_len(u64::from(table.header().header_len) + 1).unwrap();
    assert!(matches!(table.record_bytes(600), Err(Error::Corrupt(_))));
    assert!(matches!(table.refresh(), Err(Error::Corrupt(_))));
}

#[test]
fn a_memo_file_cut_at_any_byte_is_refused_or_still_takes_values() {
    for name in ["memo_dbt", "memo_fpt32", "memo_fptsix", "memo_fptflex", "memo_smt"] {
        let copy = Copy::of(name);
        let path = copy.table().memo().unwrap().path().to_owned();
        let (table, memo) = (std::fs::read(&copy.path).unwrap(), std::fs::read(&path).unwrap());
        let fields = copy.table().fields().to_vec();
        let field = fields.iter().position(|f| f.kind == FieldKind::Memo).unwrap();
        let near: Vec<usize> = (0..600).chain((600..memo.len()).step_by(1997)).collect();
        for cut in near {
            std::fs::write(&path, &memo[..cut]).unwrap();
            let Ok(mut editor) = TableEditor::open(&copy.path, &EditOptions::new(TODAY)) else {
                continue;
            };
            for record in [2, 40] {
                let text = "t".repeat(300);
                if editor.replace(record, &[(field, Value::Text(&text))]).is_ok() {
                    let read = Arc::new(editor.table().unwrap());
                    let one = Scan::new().records(record - 1..record).deleted(Deleted::Include);
                    let batch = read.scan(one).unwrap().next().unwrap().unwrap();
                    assert_eq!(
                        array_value_to_string(batch.column(field), 0).unwrap(),
                        text,
                        "{name} cut at {cut}"
                    );
                }
            }
            // Packing brings its files to the disk, which takes its time.
            if cut % 101 == 0 {
                let _ = editor.pack();
            }
            drop(editor);
            std::fs::write(&copy.path, &table).unwrap();
        }
    }
}

/// A change of the model test.
#[derive(Debug, Clone)]
enum Change {
    Append,
    Name(usize, String),
    Number(usize, Option<i32>),
    Note(usize, String),
    Delete(usize),
    Recall(usize),
    Pack,
    Zap,
    Reopen,
}

#[derive(Debug, Clone, PartialEq)]
struct Row {
    deleted: bool,
    name: String,
    number: Option<i32>,
    note: String,
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        6 => Just(Change::Append),
        4 => (any::<usize>(), "[a-zäöü]{0,8}").prop_map(|(row, name)| Change::Name(row, name)),
        4 => (any::<usize>(), any::<Option<i32>>()).prop_map(|(row, number)| Change::Number(row, number)),
        6 => (any::<usize>(), "[a-z]{0,700}").prop_map(|(row, note)| Change::Note(row, note)),
        3 => any::<usize>().prop_map(Change::Delete),
        2 => any::<usize>().prop_map(Change::Recall),
        2 => Just(Change::Pack),
        2 => Just(Change::Reopen),
        1 => Just(Change::Zap),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn damaged_tables_end_in_errors(name in 0usize..9, flips in vec((any::<bool>(), any::<prop::sample::Index>(), any::<u8>()), 1..12)) {
        let name = ["types_cdx", "types_vfp", "memo_dbt", "memo_fpt32", "memo_fpt512", "memo_fptsix", "memo_fptflex", "memo_smt", "ord_cdx"][name];
        let copy = Copy::of(name);
        let table = copy.table();
        let memo = table.memo().map(|m| m.path().to_owned());
        for (in_memo, at, byte) in flips {
            // Most of what steers is at the beginning.
            let path = memo.as_ref().filter(|_| in_memo).unwrap_or(&copy.path);
            let mut bytes = std::fs::read(path).unwrap();
            let near = at.index(bytes.len().min(3000));
            bytes[near] = byte;
            std::fs::write(path, bytes).unwrap();
        }
        let Ok(mut editor) = TableEditor::open(&copy.path, &EditOptions::new(TODAY)) else { return Ok(()) };
        let fields = editor.fields().to_vec();
        for (index, field) in fields.iter().enumerate() {
            if let Some((value, _)) = sample(field) {
                let _ = editor.replace(3, &[(index, value)]);
            }
        }
        let _ = editor.append();
        let _ = editor.delete(1);
        let _ = editor.pack();
        let _ = editor.zap();
    }

    #[test]
    fn random_changes_give_the_rows_of_a_plain_list(format in 0usize..4, changes in vec(change(), 1..60)) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("t.dbf");
        let format = [Dialect::Dbase3, Dialect::Dbase4, Dialect::FoxPro2, Dialect::VisualFoxPro][format];
        let mut options = CreateOptions::new(TODAY);
        options.format = format;
        options.codepage = CodePage::Cp1252;
        let fields = [
            FieldSpec::new("NAME", 'C', 8, 0),
            FieldSpec::new("NUMBER", 'N', 11, 0).nullable(true),
            FieldSpec::new("NOTE", 'M', 10, 0),
        ];
        TableWriter::create(&path, &fields, &options).unwrap().finish().unwrap();
        let open = || TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
        let (mut table, mut model) = (Some(open()), Vec::<Row>::new());
        for change in changes {
            let editor = table.as_mut().unwrap();
            let pick = |row: usize| (!model.is_empty()).then(|| row % model.len());
            let (row, value) = match change {
                Change::Append => {
                    editor.append().unwrap();
                    model.push(Row { deleted: false, name: String::new(), number: None, note: String::new() });
                    continue;
                }
                Change::Pack => {
                    editor.pack().unwrap();
                    model.retain(|row| !row.deleted);
                    continue;
                }
                Change::Zap => {
                    editor.zap().unwrap();
                    model.clear();
                    continue;
                }
                Change::Reopen => {
                    drop(table.take());
                    table = Some(open());
                    continue;
                }
                Change::Name(row, ref name) => (row, Some((0, Value::Text(name)))),
                Change::Number(row, number) => (row, Some((1, number.map_or(Value::Null, |n| Value::Integer(n.into()))))),
                Change::Note(row, ref note) => (row, Some((2, Value::Text(note)))),
                Change::Delete(row) | Change::Recall(row) => (row, None),
            };
            let Some(row) = pick(row) else { continue };
            let record = u32::try_from(row).unwrap() + 1;
            if let Some(value) = value {
                editor.replace(record, &[value]).unwrap();
            }
            match change {
                Change::Name(_, name) => model[row].name = name,
                Change::Number(_, number) => model[row].number = number,
                Change::Note(_, note) => model[row].note = note,
                Change::Delete(_) => {
                    editor.delete(record).unwrap();
                    model[row].deleted = true;
                }
                Change::Recall(_) => {
                    editor.recall(record).unwrap();
                    model[row].deleted = false;
                }
                _ => {}
            }
        }
        drop(table);
        let read = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
        prop_assert!(read.verify().unwrap().damage.is_empty());
        prop_assert_eq!(read.deleted_count().unwrap() as usize, model.iter().filter(|r| r.deleted).count());
        let expected: Vec<Vec<String>> = model
            .iter()
            .map(|r| vec![r.name.clone(), r.number.map_or(String::new(), |n| n.to_string()), r.note.clone()])
            .collect();
        prop_assert_eq!(shown(&all(&read, Deleted::Include)), expected);
    }
}

/// A golden in a folder of its own.
struct Copy {
    _folder: TempDir,
    path: PathBuf,
}

impl Copy {
    fn of(name: &str) -> Self {
        let folder = TempDir::new().unwrap();
        for extension in ["dbf", "dbt", "fpt", "smt"] {
            let from = corpus().join(format!("{name}.{extension}"));
            if from.is_file() {
                std::fs::copy(&from, folder.path().join(format!("{name}.{extension}"))).unwrap();
            }
        }
        let path = folder.path().join(format!("{name}.dbf"));
        Self { _folder: folder, path }
    }

    fn edit(&self) -> TableEditor {
        TableEditor::open(&self.path, &EditOptions::new(TODAY)).unwrap()
    }

    fn table(&self) -> Arc<Table> {
        Arc::new(Table::open(&self.path, &OpenOptions::new()).unwrap())
    }

    fn rows(&self) -> RecordBatch {
        self.rows_with(Deleted::Include)
    }

    fn rows_with(&self, deleted: Deleted) -> RecordBatch {
        all(&self.table(), deleted)
    }
}

/// A value for a field, and how it is shown once it is read.
fn sample(field: &Field) -> Option<(Value<'static>, &'static str)> {
    if field.autoincrement.is_some() || field.letter == '^' {
        return None;
    }
    let scale = match field.data_type() {
        arrow_schema::DataType::Decimal128(_, scale) => usize::try_from(scale).unwrap(),
        _ => 0,
    };
    // Seven with each number of decimals.
    let one = "7.0000000000".get(..if scale == 0 { 1 } else { 2 + scale })?;
    let (noon, today) = (12 * 3_600_000 + 34 * 60_000 + 56_789, 19_782);
    Some(match field.kind {
        FieldKind::Character | FieldKind::Varchar => (Value::Text("a"), "a"),
        FieldKind::Memo => (Value::Text("some text"), "some text"),
        FieldKind::CharacterBinary => return None,
        FieldKind::Varbinary => (Value::Bytes(&[0xAB]), "ab"),
        FieldKind::MemoBinary => (Value::Bytes(&[0xAB, 0, 1]), "ab0001"),
        FieldKind::Logical => (Value::Logical(true), "true"),
        FieldKind::Date | FieldKind::DateBinary | FieldKind::DatePacked => (Value::Date(today), "2024-02-29"),
        FieldKind::Time => (Value::Time(noon), "12:34:56.789"),
        FieldKind::Timestamp => {
            let ms = i64::from(today) * 86_400_000 + i64::from(noon);
            (Value::Timestamp(ms), "2024-02-29T12:34:56.789")
        }
        FieldKind::Double | FieldKind::DoubleDbase7 => (Value::Double(0.25), "0.25"),
        FieldKind::Numeric | FieldKind::Float | FieldKind::Currency | FieldKind::Integer => {
            // A field as narrow as its decimals has no room for a whole number.
            let room = !matches!(field.kind, FieldKind::Numeric | FieldKind::Float)
                || field.width > usize::from(field.decimals) + 1;
            let fits = field.kind != FieldKind::Integer || field.width > 1 || field.decimals == 0;
            return (room && fits).then_some((Value::Integer(7), one));
        }
        _ => return None,
    })
}

fn all(table: &Arc<Table>, deleted: Deleted) -> RecordBatch {
    let batches: Vec<_> = table
        .scan(Scan::new().deleted(deleted))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    arrow_select::concat::concat_batches(&table.schema(), &batches).unwrap()
}

fn shown(rows: &RecordBatch) -> Vec<Vec<String>> {
    let cell = |row, column| array_value_to_string(rows.column(column), row).unwrap();
    (0..rows.num_rows())
        .map(|row| (0..rows.num_columns()).map(|column| cell(row, column)).collect())
        .collect()
}

fn goldens() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(corpus())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "dbf") && !path.ends_with("big_cdx.dbf"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    assert!(names.len() >= 26, "{names:?}");
    names
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/xbase")
}
