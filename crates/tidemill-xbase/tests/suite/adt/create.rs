//! New ADT tables, from specifications and from Arrow columns.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use tidemill_xbase::{
    AdtType, CivilDate, CodePage, CreateOptions, Deleted, Dialect, Error, FieldSpec, MemoDialect, OpenOptions, Scan,
    Table, TableWriter,
};

use super::{Golden, corpus, shown};

pub(super) const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 26,
};

pub(super) fn options() -> CreateOptions {
    let mut options = CreateOptions::new(TODAY);
    options.format = Dialect::Adt;
    options
}

fn batch(table: &Arc<Table>, deleted: Deleted) -> RecordBatch {
    let mut batches = table.scan(Scan::new().deleted(deleted)).unwrap();
    let batch = batches.next().unwrap().unwrap();
    assert!(batches.next().is_none());
    batch
}

#[test]
fn what_is_read_from_an_adt_is_written_to_another() {
    let golden = Golden::of("types");
    let source = Arc::new(Table::open(corpus("types.adt"), &OpenOptions::new().codepage(CodePage::Cp1252)).unwrap());
    let rows = batch(&source, Deleted::Include);
    let flags: BooleanArray = (1..=rows.num_rows() as u64)
        .map(|record| Some(golden.deleted.contains(&record)))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.adt");
    let fields = FieldSpec::from_schema_with_long_names(&rows.schema()).unwrap();
    let mut writer = TableWriter::create(&path, &fields, &options()).unwrap();
    writer.write(&rows, Some(&flags)).unwrap();
    assert_eq!(writer.finish().unwrap() as usize, golden.rows.len());
    let table = Arc::new(Table::open(&path, &OpenOptions::new().codepage(CodePage::Cp1252)).unwrap());
    assert_eq!(table.memo().unwrap().dialect(), MemoDialect::Adm);
    assert_eq!(table.memo().unwrap().path(), folder.path().join("new.adm"));
    for (field, old) in table.fields().iter().zip(source.fields()) {
        assert_eq!(
            (&field.name, field.adt_type, field.width),
            (&old.name, old.adt_type, old.width)
        );
    }
    let found = batch(&table, Deleted::Include);
    assert_eq!(found.schema(), rows.schema());
    for (at, field) in rows.schema().fields().iter().enumerate() {
        for row in 0..rows.num_rows() {
            let (found, expected) = (shown(found.column(at), row), shown(rows.column(at), row));
            assert_eq!(found, expected, "record {}, field {}", row + 1, field.name());
        }
    }
    assert_eq!(table.verify().unwrap().damage, []);
    let header = table.header().adt.as_ref().unwrap();
    assert_eq!((header.next_autoincrement, header.row_version), (u32::MAX, 22));
    // The last one that was deleted is the first one to be used again.
    assert_eq!((header.first_free, header.free_count), (12, 3));
    let kept = batch(&table, Deleted::Skip);
    assert_eq!(shown(kept.column(4), 0), "Ærø");
}

#[test]
fn columns_of_other_stores_become_fields_of_an_adt() {
    let schema = Arc::new(Schema::new(vec![
        Field::new("Customer Number", DataType::Int32, true),
        Field::new("note; or, more", DataType::Utf8, true),
        Field::new("big", DataType::Int64, true),
    ]));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![Some(1), None, Some(0)])),
        Arc::new(StringArray::from(vec![Some("one"), None, Some("")])),
        Arc::new(Int64Array::from(vec![Some(i64::MAX), Some(-1), None])),
    ];
    let rows = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.ADT");
    let mut fields = FieldSpec::from_schema_with_long_names(&schema).unwrap();
    let refused = TableWriter::create(&path, &fields, &options()).unwrap_err();
    assert!(refused.to_string().contains("without ; and ,"), "{refused}");
    "note".clone_into(&mut fields[1].name);
    let mut writer = TableWriter::create(&path, &fields, &options()).unwrap();
    writer.write(&rows, None).unwrap();
    writer.finish().unwrap();
    let table = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
    assert!(folder.path().join("t.ADM").is_file());
    let types: Vec<AdtType> = table.fields().iter().map(|field| field.adt_type.unwrap()).collect();
    assert_eq!(types, [AdtType::Numeric, AdtType::Memo, AdtType::Numeric]);
    let found = batch(&table, Deleted::Skip);
    let row = |row| {
        (0..3)
            .map(|column| shown(found.column(column), row))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        row(0),
        [
            serde_json::json!(1),
            serde_json::json!("one"),
            serde_json::json!("9223372036854775807.")
        ]
    );
    assert!(row(1)[..2].iter().all(serde_json::Value::is_null));
    assert_eq!(
        (row(2)[0].clone(), row(2)[2].clone()),
        (serde_json::json!(0), serde_json::Value::Null)
    );
}

#[test]
fn what_an_adt_cannot_hold_is_refused_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let create = |name: &str, fields: &[FieldSpec], options: &CreateOptions| {
        TableWriter::create(folder.path().join(name), fields, options)
            .map(drop)
            .unwrap_err()
            .to_string()
    };
    let one = FieldSpec::of_adt("A", AdtType::Integer, 0, 0);
    for (name, fields, said) in [
        (
            "t.adt",
            vec![FieldSpec::of_adt("A", AdtType::VarCharFox, 10, 0)],
            "VarCharFox",
        ),
        (
            "t.adt",
            vec![FieldSpec::of_adt("A", AdtType::Numeric, 33, 0)],
            "column A: a number of 32 digits, 0 of them decimals, needs 33 characters, and an ADT number has at most 32; cast it",
        ),
        (
            "t.adt",
            vec![FieldSpec::of_adt("A", AdtType::NChar, 3, 0)],
            "two bytes for each",
        ),
        (
            "t.adt",
            vec![one.clone(), FieldSpec::of_adt("a", AdtType::Date, 0, 0)],
            "is there once",
        ),
        (
            "t.adt",
            vec![FieldSpec::of_adt("x".repeat(129), AdtType::Date, 0, 0)],
            "1 to 128 bytes",
        ),
        (
            "t.adt",
            vec![FieldSpec::of_adt("A", AdtType::Character, 65_530, 0)],
            "65530 bytes",
        ),
        ("t.adt", vec![], "1 to 2046 columns"),
    ] {
        let error = create(name, &fields, &options());
        assert!(error.contains(said), "{said}: {error}");
    }
    let error = create("t.adt", &[FieldSpec::new("A", 'L', 1, 0)], &CreateOptions::new(TODAY));
    assert!(error.contains("Advantage's own"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    // The value that would be NULL.
    let schema = Arc::new(Schema::new(vec![Field::new("A", DataType::Int32, true)]));
    let rows = RecordBatch::try_new(schema, vec![Arc::new(Int32Array::from(vec![1, i32::MIN]))]).unwrap();
    let mut writer = TableWriter::create(folder.path().join("t.adt"), &[one], &options()).unwrap();
    match writer.write(&rows, None).unwrap_err() {
        Error::Value(bad) => {
            assert_eq!((bad.record, bad.field.as_str()), (2, "A"));
            assert!(bad.expected.contains("NULL"), "{}", bad.expected);
        }
        other => panic!("{other}"),
    }
}

#[test]
fn records_of_65530_bytes_are_written_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.adt");
    let fields = [
        FieldSpec::of_adt("A", AdtType::Integer, 0, 0),
        FieldSpec::of_adt("Text", AdtType::Character, 65_521, 0),
    ];
    let schema = Arc::new(Schema::new(vec![
        Field::new("A", DataType::Int32, true),
        Field::new("Text", DataType::Utf8, true),
    ]));
    let text = "x".repeat(65_521);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![7, 8])),
        Arc::new(StringArray::from(vec![text.as_str(), "y"])),
    ];
    let rows = RecordBatch::try_new(schema, columns).unwrap();
    let mut writer = TableWriter::create(&path, &fields, &options()).unwrap();
    writer.write(&rows, None).unwrap();
    writer.finish().unwrap();
    let table = open(&path);
    assert_eq!(table.header().record_len, 65_530);
    let found = batch(&table, Deleted::Skip);
    assert_eq!(
        (shown(found.column(1), 0), shown(found.column(1), 1)),
        (text.into(), "y".into())
    );
}

fn open(path: &Path) -> Arc<Table> {
    Arc::new(Table::open(path, &OpenOptions::new()).unwrap())
}
