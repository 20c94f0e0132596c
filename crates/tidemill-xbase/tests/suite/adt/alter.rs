//! ADT tables of another structure: values, NULL, memos, the list of free records, counters and indexes go with them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value as Json, json};
use tidemill_xbase::index::{Direction, OrderSpec};
use tidemill_xbase::{
    AdtType, Alteration, CodePage, EditOptions, Error, FieldSpec, KeySettings, OpenMode, OpenOptions, Scan, Table,
    TableEditor, TableIndex, TableWriter, Value, build_index,
};

use super::create::{TODAY, options};
use super::shown;

/// Four records, of which the second is deleted and the third has nothing but its number.
fn table(folder: &Path) -> PathBuf {
    let path = folder.join("t.adt");
    let fields = [
        FieldSpec::of_adt("Id", AdtType::AutoIncrement, 0, 0),
        FieldSpec::of_adt("Full Name", AdtType::Character, 8, 0),
        FieldSpec::of_adt("Count", AdtType::Integer, 0, 0),
        FieldSpec::of_adt("Version", AdtType::RowVersion, 0, 0),
        FieldSpec::of_adt("Note", AdtType::Memo, 0, 0),
    ];
    TableWriter::create(&path, &fields, &options())
        .unwrap()
        .finish()
        .unwrap();
    let opened = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
    let orders = [
        OrderSpec::new("ID", "Id").candidate(true),
        OrderSpec::new("NAME", "Full Name;Count"),
        OrderSpec::new("UPPER", "UPPER(Full Name)").condition("Count <> NULL"),
    ];
    build_index(folder.join("t.adi"), &opened, &orders, &settings()).unwrap();
    let mut editor = open(&path);
    for (name, count) in [("one", Some(1)), ("two", Some(2)), ("", None), ("four", Some(-4))] {
        let mut values = Vec::new();
        if let Some(count) = count {
            values.extend([
                (1, Value::Text(name)),
                (2, Value::Integer(count)),
                (4, Value::Text("a note")),
            ]);
        }
        editor.append_values(&values).unwrap();
    }
    editor.delete(2).unwrap();
    path
}

fn settings() -> KeySettings {
    KeySettings::new(CodePage::Cp1252)
}

fn open(path: &Path) -> TableEditor {
    let options = EditOptions::new(TODAY).keys(settings()).mode(OpenMode::Exclusive);
    TableEditor::open(path, &options).unwrap()
}

fn rows(path: &Path) -> Vec<Vec<Json>> {
    let table = Arc::new(Table::open(path, &OpenOptions::new().codepage(CodePage::Cp1252)).unwrap());
    let batches = table.scan(Scan::new()).unwrap();
    let rows = batches.map(Result::unwrap).flat_map(|batch| {
        let row = |row| batch.columns().iter().map(|column| shown(column, row)).collect();
        (0..batch.num_rows()).map(row).collect::<Vec<Vec<Json>>>()
    });
    rows.collect()
}

/// The expressions of the orders, and whether each holds the keys of its records.
fn expressions(path: &Path) -> Vec<String> {
    let table = Arc::new(Table::open(path, &OpenOptions::new().codepage(CodePage::Cp1252)).unwrap());
    let index = TableIndex::production(&table, &settings()).unwrap().unwrap();
    assert_eq!(index.verify(&table).unwrap(), []);
    let tags = index.index().tags().iter();
    tags.map(|tag| format!("{} {}", tag.expression, tag.condition.as_deref().unwrap_or_default()))
        .collect()
}

#[test]
fn fields_come_go_and_change_and_indexes_follow_their_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = table(folder.path());
    assert_eq!(expressions(&path), ["F1 ", "F2;F3 ", "UPPER(F2) F3 <> NULL"]);
    let mut editor = open(&path);
    // One that is called as the index calls another.
    let alteration = Alteration::of(editor.fields())
        .insert_field("Full Name", FieldSpec::of_adt("F3", AdtType::CiCharacter, 4, 0))
        .unwrap()
        .change_field("Count", FieldSpec::of_adt("Sum", AdtType::Money, 0, 0))
        .unwrap()
        .change_field("Note", FieldSpec::of_adt("Remark", AdtType::Memo, 0, 0))
        .unwrap()
        .add_field(FieldSpec::of_adt("A second note", AdtType::Memo, 0, 0))
        .add_field(FieldSpec::new("PLAIN", 'N', 6, 1));
    editor.alter(&alteration).unwrap();
    assert_eq!(editor.append_values(&[(2, Value::Text("five"))]).unwrap(), 2);
    editor.replace(2, &[(6, Value::Text("another"))]).unwrap();
    let walked = editor.order("NAME").unwrap();
    let walked = walked
        .order()
        .walk(Direction::Forward)
        .map(|entry| entry.unwrap().recno());
    assert_eq!(walked.collect::<Vec<u32>>(), [3, 2, 4, 1]);
    drop(editor);
    assert_eq!(expressions(&path), ["F1 ", "F3;F4 ", "UPPER(F3) F4 <> NULL"]);
    let table = Table::open(&path, &OpenOptions::new()).unwrap();
    let names: Vec<&str> = table.fields().iter().map(|field| field.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "Id",
            "F3",
            "Full Name",
            "Sum",
            "Version",
            "Remark",
            "A second note",
            "PLAIN"
        ]
    );
    let found = rows(&path);
    let versions = |row: &Vec<Json>| row[4].clone();
    assert_eq!(
        found,
        [
            json!([1, null, "one", "1.0000", versions(&found[0]), "a note", null, null]),
            json!([5, null, "five", null, versions(&found[1]), null, "another", null]),
            json!([3, null, null, null, versions(&found[2]), null, null, null]),
            json!([4, null, "four", "-4.0000", versions(&found[3]), "a note", null, null]),
        ]
        .map(|row| row.as_array().unwrap().clone())
    );
}

#[test]
fn what_an_index_reads_is_not_dropped_and_what_cannot_be_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = table(folder.path());
    let before = [
        std::fs::read(&path).unwrap(),
        std::fs::read(path.with_extension("adi")).unwrap(),
    ];
    let mut editor = open(&path);
    let of = |editor: &TableEditor| Alteration::of(editor.fields());
    let refused = [
        (
            of(&editor).drop_field("Count").unwrap(),
            "names field Count, which is dropped",
        ),
        (
            of(&editor).add_field(FieldSpec::of_adt("When", AdtType::ModTime, 0, 0)),
            "without records only",
        ),
        (
            of(&editor).add_field(FieldSpec::of_adt("full name", AdtType::Date, 0, 0)),
            "is there once",
        ),
        (
            of(&editor)
                .change_field("Full Name", FieldSpec::of_adt("Full Name", AdtType::Integer, 0, 0))
                .unwrap(),
            "a number",
        ),
        (
            of(&editor).add_field(FieldSpec::of_adt("V", AdtType::VarCharFox, 20, 0)),
            "not known where",
        ),
    ];
    for (alteration, why) in refused {
        let error = editor.alter(&alteration).unwrap_err();
        let cause = std::error::Error::source(&error).map_or(String::new(), ToString::to_string);
        assert!(format!("{error} {cause}").contains(why), "{error} {cause}");
    }
    drop(editor);
    assert_eq!(
        [
            std::fs::read(&path).unwrap(),
            std::fs::read(path.with_extension("adi")).unwrap()
        ],
        before
    );

    let mut editor = open(&path);
    editor.drop_order("NAME").unwrap();
    editor.drop_order("UPPER").unwrap();
    let alteration = of(&editor).drop_field("Count").unwrap().drop_field("Note").unwrap();
    editor.alter(&alteration).unwrap();
    drop(editor);
    assert!(!path.with_extension("adm").exists());
    assert_eq!(expressions(&path), ["F1 "]);
    assert_eq!(rows(&path).len(), 3);
    let mut editor = open(&path);
    assert!(matches!(
        editor.alter(
            &Alteration::of(editor.fields())
                .drop_field("Version")
                .unwrap()
                .drop_field("Id")
                .unwrap()
        ),
        Err(Error::Order { .. })
    ));
}
