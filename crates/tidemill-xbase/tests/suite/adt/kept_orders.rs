//! Orders of an ADI whose keys are not made: words of full-text search, and numbers of Numeric fields. They keep no table from being
//! opened, and nothing is changed that would leave one stale.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidemill_xbase::index::{Direction, OrderSpec};
use tidemill_xbase::{
    AdtType, CodePage, EditOptions, Error, FieldSpec, KeySettings, OpenMode, OpenOptions, Table, TableEditor,
    TableWriter, Value, build_index,
};

use super::create::{TODAY, options};

const ID: usize = 0;
const NAME: usize = 1;
const PRICE: usize = 2;
const COUNT: usize = 3;
const NOTE: usize = 4;

/// A table of three records whose index has, besides ID and NAME, an order of the Numeric field and one of the words of the memo. Both
/// are made as others are, and then given another expression, as no program of ours makes them.
fn table(folder: &Path) -> PathBuf {
    let path = folder.join("t.adt");
    let fields = [
        FieldSpec::of_adt("Id", AdtType::Integer, 0, 0),
        FieldSpec::of_adt("Name", AdtType::Character, 12, 0),
        FieldSpec::of_adt("Price", AdtType::Numeric, 8, 2),
        FieldSpec::of_adt("Count", AdtType::Integer, 0, 0),
        FieldSpec::of_adt("Note", AdtType::Memo, 0, 0),
    ];
    TableWriter::create(&path, &fields, &options())
        .unwrap()
        .finish()
        .unwrap();
    let mut editor = TableEditor::open(&path, &edit_options(OpenMode::Exclusive)).unwrap();
    for (id, name) in [(3, "c"), (1, "a"), (2, "b")] {
        let values = [
            (ID, Value::Integer(id)),
            (NAME, Value::Text(name)),
            (PRICE, Value::Integer(id)),
            (COUNT, Value::Integer(id)),
            (NOTE, Value::Text("some words")),
        ];
        editor.append_values(&values).unwrap();
    }
    drop(editor);
    let index = folder.join("t.adi");
    let orders = [
        OrderSpec::new("ID", "Id"),
        OrderSpec::new("NAME", "Name"),
        OrderSpec::new("PRICE", "Count"),
        OrderSpec::new("WORDS", "UPPER(Name)"),
    ];
    let opened = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
    build_index(&index, &opened, &orders, &settings()).unwrap();
    let mut bytes = std::fs::read(&index).unwrap();
    for (made, other, option) in [(&b"F4\0"[..], b"F3\0", 0), (b"UPPER(F2)\0", b"F5\0", 0x10)] {
        let mut pools = (0..bytes.len()).step_by(512);
        let pool = pools.find(|at| bytes[*at..].starts_with(made)).unwrap();
        bytes[pool..pool + other.len()].copy_from_slice(other);
        // The options of a tag are in its header, before its expressions.
        bytes[pool - 512 + 14] |= option;
    }
    std::fs::write(&index, bytes).unwrap();
    path
}

fn settings() -> KeySettings {
    KeySettings::new(CodePage::Cp1252)
}

fn edit_options(mode: OpenMode) -> EditOptions {
    EditOptions::new(TODAY).keys(settings()).mode(mode)
}

/// Whether a change was refused because of the order of this name.
fn is_refused<T>(changed: Result<T, Error>, order: &str) -> bool {
    match changed {
        Ok(_) => false,
        Err(e) => {
            let told = format!(
                "{e} {}",
                std::error::Error::source(&e).map_or(String::new(), ToString::to_string)
            );
            assert!(told.contains("full-text search"), "{told}");
            told.contains(order)
        }
    }
}

#[test]
fn an_order_whose_keys_are_not_made_keeps_the_table_open_and_what_would_leave_it_stale_is_refused() {
    for mode in [OpenMode::Exclusive, OpenMode::Shared] {
        let folder = tempfile::tempdir().unwrap();
        let path = table(folder.path());
        let index = std::fs::read(folder.path().join("t.adi")).unwrap();
        let mut editor = TableEditor::open(&path, &edit_options(mode)).unwrap();
        let names: Vec<String> = editor.orders().map(|tag| tag.name.clone()).collect();
        assert_eq!(names, ["ID", "NAME", "PRICE", "WORDS"]);
        // What is in the file is walked.
        let order = editor.order("PRICE").unwrap();
        let walked = order
            .order()
            .walk(Direction::Forward)
            .map(|entry| entry.unwrap().recno());
        assert_eq!(walked.collect::<Vec<u32>>(), [2, 3, 1]);
        assert!(!order.order().is_known());

        for record in 1..=3 {
            if mode == OpenMode::Shared {
                editor.lock_record(record).unwrap();
            }
        }
        let before = std::fs::read(&path).unwrap();
        assert!(is_refused(editor.append(), "PRICE"));
        assert!(is_refused(editor.append_values(&[(ID, Value::Integer(9))]), "PRICE"));
        assert!(is_refused(editor.replace(1, &[(PRICE, Value::Integer(7))]), "PRICE"));
        assert!(is_refused(
            editor.replace(1, &[(NOTE, Value::Text("other words"))]),
            "WORDS"
        ));
        assert!(is_refused(
            editor.replace(1, &[(NOTE, Value::Text("same words"))]),
            "WORDS"
        ));
        assert!(is_refused(editor.replace(1, &[(NOTE, Value::Null)]), "WORDS"));
        assert!(is_refused(editor.delete(1), "PRICE"));
        if mode == OpenMode::Exclusive {
            assert!(is_refused(editor.pack(), "PRICE"));
            assert!(is_refused(editor.zap(), "PRICE"));
        }
        editor.flush().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert_eq!(std::fs::read(folder.path().join("t.adi")).unwrap(), index);

        // Other fields are changed, and other orders follow.
        editor.replace(1, &[(COUNT, Value::Integer(5))]).unwrap();
        editor
            .replace(2, &[(ID, Value::Integer(8)), (NAME, Value::Text("z"))])
            .unwrap();
        let order = editor.order("ID").unwrap();
        let walked = order
            .order()
            .walk(Direction::Forward)
            .map(|entry| entry.unwrap().recno());
        assert_eq!(walked.collect::<Vec<u32>>(), [3, 1, 2]);

        // Without them everything is.
        editor.unlock_all().unwrap();
        editor.drop_order("PRICE").unwrap();
        editor.drop_order("WORDS").unwrap();
        assert_eq!(editor.append_values(&[(ID, Value::Integer(9))]).unwrap(), 4);
    }
}
