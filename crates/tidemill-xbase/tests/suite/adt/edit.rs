//! Changes of ADT tables in place, against a naive table; their indexes follow.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value as Json, json};
use tidemill_xbase::index::OrderSpec;
use tidemill_xbase::{
    AdtType, CodePage, Deleted, EditOptions, Error, FieldSpec, KeySettings, LogOptions, OpenMode, OpenOptions, Scan,
    SingleRecords, Table, TableEditor, TableIndex, TableWriter, TransactionLog, Value, build_index,
};

use super::create::{TODAY, options};
use super::shown;
use crate::tables::Random;

const NAME: usize = 1;
const COUNT: usize = 2;
const NOTE: usize = 3;

fn table(folder: &Path) -> PathBuf {
    let path = folder.join("t.adt");
    let fields = [
        FieldSpec::of_adt("Id", AdtType::AutoIncrement, 0, 0),
        FieldSpec::of_adt("Full Name", AdtType::CiCharacter, 12, 0),
        FieldSpec::of_adt("Count", AdtType::Integer, 0, 0),
        FieldSpec::of_adt("Note", AdtType::Memo, 0, 0),
        FieldSpec::of_adt("Version", AdtType::RowVersion, 0, 0),
        FieldSpec::of_adt("Changed", AdtType::ModTime, 0, 0),
    ];
    TableWriter::create(&path, &fields, &options())
        .unwrap()
        .finish()
        .unwrap();
    let table = open(&path);
    let orders = [
        OrderSpec::new("ID", "Id").candidate(true),
        OrderSpec::new("NAME", "Full Name;Count"),
        OrderSpec::new("COUNT", "Count").descending(true),
        OrderSpec::new("MANY", "Count").condition("Count > 5"),
        OrderSpec::new("VERSION", "Version"),
    ];
    build_index(folder.join("t.adi"), &table, &orders, &settings()).unwrap();
    path
}

fn settings() -> KeySettings {
    KeySettings::new(CodePage::Cp1252)
}

fn edit_options() -> EditOptions {
    EditOptions::new(TODAY).clock(|| 1_795_700_000_123).keys(settings())
}

fn open(path: &Path) -> Arc<Table> {
    Arc::new(Table::open(path, &OpenOptions::new().codepage(CodePage::Cp1252)).unwrap())
}

/// The live records by their numbers: Id, name, count, note.
fn rows(path: &Path) -> BTreeMap<u32, Vec<Json>> {
    let table = open(path);
    let mut rows = BTreeMap::new();
    for batch in table.scan(Scan::new().system_columns(true)).unwrap() {
        let batch = batch.unwrap();
        for row in 0..batch.num_rows() {
            use arrow_array::cast::AsArray;
            let record = batch
                .column(6)
                .as_primitive::<arrow_array::types::UInt32Type>()
                .value(row);
            rows.insert(record, (0..4).map(|column| shown(batch.column(column), row)).collect());
        }
    }
    rows
}

/// Whether table, memos, list of free records and index are sound.
fn check(path: &Path) {
    let table = open(path);
    assert_eq!(table.verify().unwrap().damage, []);
    let index = TableIndex::production(&table, &settings()).unwrap().unwrap();
    assert_eq!(index.verify(&table).unwrap(), []);
}

fn json(value: Option<&str>) -> Json {
    value.map_or(Json::Null, |text| json!(text))
}

#[test]
fn a_unique_order_is_one_that_allows_each_key_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = table(folder.path());
    let mut editor = TableEditor::open(&path, &edit_options().mode(OpenMode::Exclusive)).unwrap();
    for count in [1, 1] {
        editor.append_values(&[(COUNT, Value::Integer(count))]).unwrap();
    }
    let refused = |made: Result<(), Error>| {
        let error = made.unwrap_err();
        let cause = std::error::Error::source(&error).map_or(String::new(), ToString::to_string);
        assert!(format!("{error} {cause}").contains("each key once"), "{error} {cause}");
    };
    let once = [OrderSpec::new("ONCE", "Count").unique(true)];
    refused(editor.create_order(&once[0]));
    editor.flush().unwrap();
    refused(build_index(
        folder.path().join("other.adi"),
        &open(&path),
        &once,
        &settings(),
    ));
    editor.replace(2, &[(COUNT, Value::Integer(2))]).unwrap();
    editor.create_order(&once[0]).unwrap();
    refused(editor.replace(2, &[(COUNT, Value::Integer(1))]));
    editor.pack().unwrap();
    drop(editor);
    check(&path);
}

#[test]
fn random_changes_are_those_of_a_naive_table() {
    for (seed, mode) in [
        (1, OpenMode::Exclusive),
        (2, OpenMode::Exclusive),
        (3, OpenMode::Shared),
    ] {
        let mut random = Random::new(seed);
        let folder = tempfile::tempdir().unwrap();
        let path = table(folder.path());
        let mut editor = TableEditor::open(&path, &edit_options().mode(mode)).unwrap();
        let mut model: BTreeMap<u32, Vec<Json>> = BTreeMap::new();
        // The last one that was deleted is the first one that is used again.
        let (mut free, mut next_id, mut end) = (Vec::new(), 1, 0);
        let names = ["Åse", "åse", "Smith", "smith", "", "de la Cruz"];
        for step in 0..120 {
            let name = (random.below(6) > 0).then(|| *random.pick(&names));
            let count = (random.below(5) > 0).then(|| random.below(12) as i64);
            let long = "note ".repeat(usize::try_from(random.below(60)).unwrap());
            let note = (random.below(3) > 0)
                .then_some(long.as_str())
                .filter(|note| !note.is_empty());
            let values = [
                (NAME, name.map_or(Value::Null, Value::Text)),
                (COUNT, count.map_or(Value::Null, Value::Integer)),
                (NOTE, note.map_or(Value::Null, Value::Text)),
            ];
            let row = |id: u32| {
                vec![
                    json!(id),
                    json(name),
                    count.map_or(Json::Null, |count| json!(count)),
                    json(note),
                ]
            };
            let live: Vec<u32> = model.keys().copied().collect();
            match random.below(4) {
                0 | 1 => {
                    let expected = free.pop().unwrap_or_else(|| {
                        end += 1;
                        end
                    });
                    let record = editor.append_values(&values).unwrap();
                    assert_eq!(record, expected, "seed {seed}, step {step}");
                    assert_eq!(editor.take_counted(), Some(next_id));
                    model.insert(record, row(next_id));
                    next_id += 1;
                    editor.unlock_all().unwrap();
                }
                2 if !live.is_empty() => {
                    let record = *random.pick(&live);
                    editor.lock_record(record).unwrap();
                    editor.replace(record, &values).unwrap();
                    editor.unlock_all().unwrap();
                    let id = u32::try_from(model[&record][0].as_u64().unwrap()).unwrap();
                    model.insert(record, row(id));
                }
                3 if !live.is_empty() => {
                    let record = *random.pick(&live);
                    editor.lock_record(record).unwrap();
                    editor.delete(record).unwrap();
                    // Once more changes nothing.
                    editor.delete(record).unwrap();
                    assert!(editor.is_deleted(record).unwrap());
                    assert!(matches!(editor.recall(record), Err(Error::Misuse(_))));
                    editor.unlock_all().unwrap();
                    model.remove(&record);
                    free.push(record);
                }
                _ => {}
            }
            if step % 40 == 39 {
                editor.flush().unwrap();
                assert_eq!(rows(&path), model, "seed {seed}, step {step}");
                check(&path);
            }
        }
        drop(editor);
        assert_eq!(rows(&path), model, "seed {seed}");
        check(&path);
        let table = open(&path);
        let header = table.header().adt.as_ref().unwrap();
        assert_eq!(
            (header.first_free, header.free_count),
            (free.last().copied().unwrap_or(0), free.len() as u32)
        );
        assert_eq!(header.next_autoincrement, next_id);
        // Packed, the records have new numbers, and nothing is free.
        let mut editor = TableEditor::open(&path, &edit_options()).unwrap();
        assert_eq!(editor.pack().unwrap() as usize, model.len());
        drop(editor);
        let packed: Vec<_> = rows(&path).into_values().collect();
        assert_eq!(packed, model.into_values().collect::<Vec<_>>());
        check(&path);
        let header = open(&path).header().adt.clone().unwrap();
        assert_eq!((header.first_free, header.free_count), (0, 0));
        let mut editor = TableEditor::open(&path, &edit_options()).unwrap();
        editor.reindex(path.with_extension("adi"), &settings()).unwrap();
        editor.zap().unwrap();
        drop(editor);
        assert!(rows(&path).is_empty());
        check(&path);
        assert_eq!(open(&path).header().adt.as_ref().unwrap().row_version, 0);
    }
}

#[test]
fn counters_and_times_are_the_tables_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = table(folder.path());
    let mut editor = TableEditor::open(&path, &edit_options()).unwrap();
    for name in ["a", "b"] {
        editor.append_values(&[(NAME, Value::Text(name))]).unwrap();
    }
    editor.replace(1, &[(COUNT, Value::Integer(7))]).unwrap();
    for field in [0, 4, 5] {
        assert!(matches!(
            editor.replace(1, &[(field, Value::Integer(9))]),
            Err(Error::Value(_))
        ));
    }
    match editor.replace(1, &[(COUNT, Value::Integer(i32::MIN.into()))]) {
        Err(Error::Value(bad)) => assert!(bad.expected.contains("NULL"), "{}", bad.expected),
        other => panic!("{other:?}"),
    }
    editor.flush().unwrap();
    let table = open(&path);
    let columns = SingleRecords::new(&table)
        .columns(&[1, 2], &[0, 4, 5], Deleted::Skip)
        .unwrap();
    let row = |row| columns.iter().map(|column| shown(column, row)).collect::<Vec<_>>();
    let moment = json!(["2026-11-26", 54_800_123]);
    assert_eq!(row(0)[..2], [json!(1), json!(3)]);
    assert_eq!(row(1)[..2], [json!(2), json!(2)]);
    assert_eq!(row(0)[2][1], row(1)[2][1]);
    assert_ne!(row(0)[2], Json::Null, "{moment}");
}

#[test]
fn a_second_record_with_a_unique_key_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = table(folder.path());
    let mut editor = TableEditor::open(&path, &edit_options()).unwrap();
    editor.enforce_autoincrement(false);
    editor.append_values(&[(0, Value::Integer(7))]).unwrap();
    let refused = editor.append_values(&[(0, Value::Integer(7))]).unwrap_err();
    assert!(
        matches!(&refused, Error::Order { source, .. } if matches!(**source, Error::DuplicateKey { .. })),
        "{refused}"
    );
    assert_eq!(editor.record_count(), 1);
    // Another record may take the key of a deleted one.
    editor.delete(1).unwrap();
    assert_eq!(editor.append_values(&[(0, Value::Integer(7))]).unwrap(), 1);
    drop(editor);
    check(&path);
}

#[test]
fn a_transaction_takes_everything_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = table(folder.path());
    let log = TransactionLog::open(folder.path().join("t.tmlog"), &LogOptions::new()).unwrap();
    let mut editor = TableEditor::open(&path, &edit_options().log(&log)).unwrap();
    for name in ["a", "b", "c"] {
        editor
            .append_values(&[(NAME, Value::Text(name)), (NOTE, Value::Text("a note"))])
            .unwrap();
    }
    editor.delete(2).unwrap();
    editor.sync().unwrap();
    let before = rows(&path);
    let transaction = log.begin().unwrap();
    assert_eq!(editor.append_values(&[(NAME, Value::Text("d"))]).unwrap(), 2);
    editor.delete(1).unwrap();
    editor.delete(3).unwrap();
    assert_eq!(editor.append_values(&[(NAME, Value::Text("e"))]).unwrap(), 3);
    transaction.rollback().unwrap();
    assert_eq!(editor.append_values(&[(NAME, Value::Text("f"))]).unwrap(), 2);
    editor.delete(2).unwrap();
    drop(editor);
    drop(log);
    assert_eq!(rows(&path), before);
    check(&path);
}

#[test]
fn a_list_of_free_records_that_leads_astray_stops_an_append() {
    for (at, value, said) in [(40, 9_u32, "a record up to 1"), (40, 1, "which is not")] {
        let folder = tempfile::tempdir().unwrap();
        let path = table(folder.path());
        let mut editor = TableEditor::open(&path, &edit_options()).unwrap();
        editor.append_values(&[(NAME, Value::Text("a"))]).unwrap();
        drop(editor);
        let mut bent = std::fs::read(&path).unwrap();
        bent[at..at + 4].copy_from_slice(&value.to_le_bytes());
        std::fs::write(&path, &bent).unwrap();
        let mut editor = TableEditor::open(&path, &edit_options()).unwrap();
        let error = editor.append_values(&[(NAME, Value::Text("b"))]).unwrap_err();
        assert!(
            matches!(error, Error::Corrupt(_)) && error.to_string().contains(said),
            "{error}"
        );
        drop(editor);
        assert_eq!(std::fs::read(&path).unwrap().len(), bent.len());
    }
}

#[test]
fn a_record_that_another_program_has_appended_and_deleted_is_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = table(folder.path());
    let shared = edit_options().mode(OpenMode::Shared);
    let mut editor = TableEditor::open(&path, &shared).unwrap();
    let mut other = TableEditor::open(&path, &shared).unwrap();
    for name in ["a", "b", "c"] {
        other.append_values(&[(NAME, Value::Text(name))]).unwrap();
    }
    other.delete(3).unwrap();
    // Its locks go with it.
    drop(other);
    assert_eq!(editor.record_count(), 0, "it has not looked since");
    assert_eq!(editor.append_values(&[(NAME, Value::Text("d"))]).unwrap(), 3);
    drop(editor);
    assert_eq!(rows(&path).len(), 3);
    check(&path);
}

#[test]
fn a_copy_has_the_records_and_the_list() {
    let folder = tempfile::tempdir().unwrap();
    let path = table(folder.path());
    let mut editor = TableEditor::open(&path, &edit_options()).unwrap();
    for name in ["a", "b", "c"] {
        editor
            .append_values(&[(NAME, Value::Text(name)), (NOTE, Value::Text("a note"))])
            .unwrap();
    }
    editor.delete(2).unwrap();
    drop(editor);
    let (copy, empty) = (folder.path().join("copy.adt"), folder.path().join("empty.adt"));
    open(&path).copy_to(&copy).unwrap();
    open(&path).copy_structure(&empty).unwrap();
    assert_eq!(rows(&copy), rows(&path));
    assert_eq!(open(&copy).verify().unwrap().damage, []);
    assert!(rows(&empty).is_empty());
    assert_eq!(open(&empty).verify().unwrap().damage, []);
}
