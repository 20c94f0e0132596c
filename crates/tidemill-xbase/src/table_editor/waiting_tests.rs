//! Changes that wait in memory while the disk fails.

use std::path::PathBuf;
use std::sync::Arc;

use super::tests::{TODAY, faulty};
use super::{EditOptions, TableEditor};
use crate::error::{Error, Result};
use crate::table::{OpenOptions, Table};
use crate::value::Value;

const NEVER: std::ops::Range<u64> = u64::MAX..u64::MAX;

/// Changes every file in several places: behind its end, and inside.
fn change(editor: &mut TableEditor) -> Result<()> {
    let (long, short) = ("four".repeat(100), "2".repeat(20));
    editor.append_values(&[(0, Value::Text("four")), (1, Value::Text(&long))])?;
    editor.replace(2, &[(0, Value::Text("second")), (1, Value::Text(&short))])?;
    editor.delete(1)?;
    editor.append().map(drop)
}

/// The records and memos as they are seen.
fn seen(editor: &TableEditor) -> Vec<(Vec<u8>, Vec<u8>)> {
    let records = 1..=editor.record_count();
    let shown = records.map(|record| {
        let bytes = editor.record_bytes(record).unwrap();
        let memo = editor.memo_bytes(record, &bytes, 1).unwrap();
        (bytes, memo)
    });
    shown.collect()
}

fn contents(paths: &[PathBuf]) -> Vec<Vec<u8>> {
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// What is seen when nothing fails.
fn expected() -> Vec<(Vec<u8>, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    let (mut editor, _) = faulty(folder.path(), NEVER, true);
    change(&mut editor).unwrap();
    seen(&editor)
}

/// More than a flush of what [`change`] does.
const WRITES: u64 = 12;

#[test]
fn what_a_full_disk_refuses_waits_on_and_every_file_is_as_it_was() {
    let (expected, mut failures) = (expected(), 0);
    for fail_at in 0..WRITES {
        let folder = tempfile::tempdir().unwrap();
        let (mut editor, paths) = faulty(folder.path(), fail_at..fail_at + 1, true);
        let before = contents(&paths);
        change(&mut editor).unwrap();
        assert_eq!(contents(&paths), before);
        if let Err(e) = editor.flush() {
            failures += 1;
            assert!(matches!(e, Error::Io { .. }), "{e:?}");
            assert_eq!(contents(&paths)[0], before[0], "write {fail_at}");
            assert_eq!(seen(&editor), expected, "write {fail_at}");
            editor.flush().unwrap();
        }
        drop(editor);
        let again = TableEditor::open(&paths[0], &EditOptions::new(TODAY)).unwrap();
        assert_eq!(seen(&again), expected, "write {fail_at}");
        let table = Arc::new(Table::open(&paths[0], &OpenOptions::new()).unwrap());
        assert!(table.verify().unwrap().damage.is_empty());
    }
    assert!(failures >= 4, "{failures}");
}

#[test]
fn a_change_for_which_there_is_no_room_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (mut editor, paths) = faulty(folder.path(), 0..9, true);
    editor.options.waiting_bytes = 500;
    let before = std::fs::read(&paths[0]).unwrap();
    let mut refused = 0;
    for number in 0..40 {
        let (count, text) = (editor.record_count(), number.to_string());
        match editor.append_values(&[(0, Value::Text(&text))]) {
            Ok(record) => assert_eq!(record, count + 1),
            Err(e) => {
                refused += 1;
                assert!(matches!(e, Error::Io { .. }), "{e:?}");
                assert_eq!(editor.record_count(), count);
                assert!(matches!(editor.delete(1), Err(Error::Io { .. })) || editor.is_deleted(1).unwrap());
                assert!(std::fs::read(&paths[0]).unwrap().len() >= before.len());
            }
        }
    }
    assert!((1..9).contains(&refused), "{refused}");
    let count = editor.record_count();
    assert_eq!(count, 3 + 40 - refused);
    drop(editor);
    let table = Arc::new(Table::open(&paths[0], &OpenOptions::new()).unwrap());
    assert_eq!(table.record_count(), count);
    assert!(table.verify().unwrap().damage.is_empty());
}

#[test]
fn a_crash_while_it_is_written_leaves_a_sound_table() {
    let expected = expected();
    let mut counts = std::collections::BTreeSet::new();
    for crash_at in 0..WRITES {
        let folder = tempfile::tempdir().unwrap();
        let (mut editor, paths) = faulty(folder.path(), crash_at..u64::MAX, true);
        let third = editor.record_bytes(3).unwrap();
        change(&mut editor).unwrap();
        let _ = editor.flush();
        drop(editor);
        let again = TableEditor::open(&paths[0], &EditOptions::new(TODAY)).unwrap();
        counts.insert(again.record_count());
        // The header counts only records that are there as a whole, with their memos, and others stay as they were.
        assert_eq!(again.record_bytes(3).unwrap(), third, "write {crash_at}");
        if again.record_count() > 3 {
            assert_eq!(seen(&again)[3..], expected[3..], "write {crash_at}");
        }
    }
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), [3, 5]);
}
