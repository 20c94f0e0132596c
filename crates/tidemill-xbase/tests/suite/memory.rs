//! Tables in memory: as those in files are, without files.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use tidemill_xbase::index::OrderSpec;
use tidemill_xbase::{
    Alteration, CivilDate, CreateOptions, Dialect, EditOptions, Error, FieldSpec, OpenMode, Place, TableCursor,
    TableEditor, Value,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 22,
};

fn table() -> TableEditor {
    let mut create = CreateOptions::new(TODAY);
    create.format = Dialect::VisualFoxPro;
    let fields = [
        FieldSpec::new("ID", 'I', 4, 0),
        FieldSpec::new("NAME", 'C', 8, 0).nullable(true),
        FieldSpec::new("NOTE", 'M', 4, 0),
    ];
    TableEditor::in_memory("an answer", &fields, &create, &EditOptions::new(TODAY)).unwrap()
}

#[test]
fn records_and_memos_are_appended_changed_read_and_walked() {
    let mut table = table();
    assert!(table.is_in_memory());
    let long = "m".repeat(70_000);
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("ID", Arc::new(Int32Array::from(vec![1, 2, 3])) as ArrayRef, true),
        (
            "NAME",
            Arc::new(StringArray::from(vec![Some("a"), None, Some("c")])) as ArrayRef,
            true,
        ),
        (
            "NOTE",
            Arc::new(StringArray::from(vec![Some(&*long), None, Some("")])) as ArrayRef,
            true,
        ),
    ]);
    assert_eq!(table.append_batch(&batch.unwrap()).unwrap(), 1..4);
    table
        .replace(3, &[(1, Value::Text("changed")), (2, Value::Text("short"))])
        .unwrap();
    table.delete(2).unwrap();
    table.lock_record(1).unwrap();
    table.unlock_all().unwrap();
    let seen = Arc::new(table.table().unwrap());
    let mut cursor = TableCursor::new(&seen);
    cursor.go_first().unwrap();
    let mut places = Vec::new();
    while let Place::Record(record) = cursor.place() {
        places.push(record);
        cursor.skip(1).unwrap();
    }
    assert_eq!(places, [1, 2, 3]);
    let mut bytes = vec![0; seen.header().record_len as usize];
    table.read_record(1, &mut bytes).unwrap();
    assert!(table.memo_bytes(1, &bytes, 2).unwrap() == long.as_bytes());
    table.read_record(3, &mut bytes).unwrap();
    assert_eq!(bytes.get(..13).unwrap(), b" \x03\0\0\0changed ");
    assert_eq!(table.memo_bytes(3, &bytes, 2).unwrap(), b"short");
    assert!(table.is_deleted(2).unwrap());
    table.zap().unwrap();
    assert_eq!(table.table().unwrap().record_count(), 0);
}

#[test]
fn what_needs_files_is_refused_and_leaves_none() {
    let mut table = table();
    table.append_values(&[(0, Value::Integer(1))]).unwrap();
    let order = OrderSpec::new("ID", "ID");
    let refused = [
        table.create_order(&order),
        table.open_index("an answer.cdx"),
        table.pack().map(drop),
        table.alter(&Alteration::of(table.fields())),
        table.reindex(
            "an answer.cdx",
            &tidemill_xbase::KeySettings::new(tidemill_xbase::CodePage::Cp1252),
        ),
    ];
    for refused in refused {
        let Err(Error::Misuse(why)) = refused else {
            panic!("it was done")
        };
        assert!(why.contains("the table is in memory"), "{why}");
    }
    for extension in ["", "cdx", "fpt", "dbf"] {
        assert!(!std::path::Path::new("an answer").with_extension(extension).exists());
    }
    let bad = [FieldSpec::new("TOO_LONG_A_NAME", 'C', 1, 0)];
    let create = CreateOptions::new(TODAY);
    let options = EditOptions::new(TODAY).mode(OpenMode::Shared);
    assert!(matches!(
        TableEditor::in_memory("t", &bad, &create, &options),
        Err(Error::Misuse(_))
    ));
}
