//! New tables keep memos in every dialect that is read.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, RecordBatch, StringArray};
use arrow_cast::display::array_value_to_string;
use tempfile::TempDir;
use tidemill_xbase::{
    CivilDate, CreateOptions, Dialect, EditOptions, Error, FieldSpec, MemoDialect, OpenOptions, Scan, Table,
    TableEditor, TableWriter, Value,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 21,
};

type Row = (
    Dialect,
    MemoDialect,
    u8,
    &'static str,
    &'static str,
    &'static [(usize, usize)],
);

/// Format and memo dialect, the version byte, the memo file's extension, and which bytes of its header are those of the golden
/// that Harbour wrote.
const DIALECTS: [Row; 5] = [
    (Dialect::Dbase3, MemoDialect::Dbt3, 0x83, "dbt", "memo_dbt.dbt", &[]),
    (
        Dialect::FoxPro2,
        MemoDialect::Fpt,
        0xF5,
        "fpt",
        "memo_fpt512.fpt",
        &[(4, 6)],
    ),
    (
        Dialect::FoxPro2,
        MemoDialect::FptSix,
        0xF5,
        "fpt",
        "memo_fptsix.fpt",
        &[(4, 18)],
    ),
    (
        Dialect::FoxPro2,
        MemoDialect::FptFlex,
        0xF5,
        "fpt",
        "memo_fptflex.fpt",
        &[(4, 8), (512, 524), (536, 1024)],
    ),
    (Dialect::Six, MemoDialect::Smt, 0xE5, "smt", "memo_smt.smt", &[(4, 18)]),
];

#[test]
fn a_new_table_keeps_memos_in_every_dialect_and_takes_more_of_them() {
    for (format, memo, version, extension, golden, same) in DIALECTS {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("t.dbf");
        let mut options = CreateOptions::new(TODAY);
        (options.format, options.memo) = (format, Some(memo));
        let mut fields = vec![FieldSpec::new("NOTE", 'M', 10, 0)];
        if format != Dialect::Dbase3 {
            fields.push(FieldSpec::new("BYTES", 'M', 10, 0).binary(true));
        }
        let notes: Vec<String> = (0..40).map(|n| "ä memo ".repeat(n * n % 200)).collect();
        let bytes: Vec<Vec<u8>> = (0..40).map(|n| [0x1A, n, 0, 0xFF].repeat(usize::from(n))).collect();
        let mut columns: Vec<(&str, ArrayRef)> = vec![("NOTE", Arc::new(StringArray::from_iter_values(&notes)))];
        if fields.len() == 2 {
            columns.push(("BYTES", Arc::new(BinaryArray::from_iter_values(&bytes))));
        }
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut writer = TableWriter::create(&path, &fields, &options).unwrap();
        writer.write(&batch, None).unwrap();
        writer.finish().unwrap();

        assert_eq!(std::fs::read(&path).unwrap()[0], version, "{memo}");
        let header = std::fs::read(path.with_extension(extension)).unwrap();
        let harbour = std::fs::read(
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../../corpus/xbase")
                .join(golden),
        )
        .unwrap();
        for (from, to) in same {
            assert_eq!(
                header[*from..*to],
                harbour[*from..*to],
                "{memo}: header bytes from {from}"
            );
        }
        let check = |more: &[&str]| {
            let table = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
            assert_eq!(table.memo().unwrap().dialect(), memo);
            assert_eq!(table.verify().unwrap().damage, [], "{memo}");
            let mut rows = Vec::new();
            for read in table.scan(Scan::new()).unwrap().map(Result::unwrap) {
                for row in 0..read.num_rows() {
                    rows.push(array_value_to_string(read.column(0), row).unwrap());
                    if fields.len() == 2 && row < bytes.len() {
                        let expected: String = bytes[row].iter().map(|byte| format!("{byte:02x}")).collect();
                        assert_eq!(array_value_to_string(read.column(1), row).unwrap(), expected, "{memo}");
                    }
                }
            }
            let expected = notes.iter().map(String::as_str).chain(more.iter().copied());
            assert!(rows.iter().map(String::as_str).eq(expected), "{memo}");
        };
        check(&[]);
        let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
        let long = "long ".repeat(300);
        for note in ["one", &long] {
            editor.append_values(&[(0, Value::Text(note))]).unwrap();
        }
        drop(editor);
        check(&["one", &long]);
    }
}

#[test]
fn an_fpt_file_has_blocks_of_any_size() {
    let notes: Vec<String> = (0..30).map(|n| "memo ".repeat(n * n)).collect();
    let note = Arc::new(StringArray::from_iter_values(&notes)) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("NOTE", note)]).unwrap();
    let fields = [FieldSpec::new("NOTE", 'M', 10, 0)];
    for memo in [MemoDialect::Fpt, MemoDialect::FptSix, MemoDialect::FptFlex] {
        for size in [1, 33, 64, 512, 1000, 16384, u16::MAX] {
            let folder = TempDir::new().unwrap();
            let path = folder.path().join("t.dbf");
            let mut options = CreateOptions::new(TODAY);
            (options.memo, options.memo_block_size) = (Some(memo), Some(size));
            let mut writer = TableWriter::create(&path, &fields, &options).unwrap();
            writer.write(&batch, None).unwrap();
            writer.finish().unwrap();
            let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
            editor.append_values(&[(0, Value::Text("one more"))]).unwrap();
            drop(editor);

            let table = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
            assert_eq!(table.memo().unwrap().block_size(), u32::from(size));
            assert_eq!(table.memo().unwrap().dialect(), memo);
            assert_eq!(table.verify().unwrap().damage, [], "{memo} {size}");
            let mut rows = Vec::new();
            for read in table.scan(Scan::new()).unwrap().map(Result::unwrap) {
                rows.extend((0..read.num_rows()).map(|row| array_value_to_string(read.column(0), row).unwrap()));
            }
            let expected = notes.iter().map(String::as_str).chain(["one more"]);
            assert!(rows.iter().map(String::as_str).eq(expected), "{memo} {size}");
        }
    }
    let mut options = CreateOptions::new(TODAY);
    for (format, size) in [(Dialect::Dbase3, 64), (Dialect::Six, 64), (Dialect::FoxPro2, 0)] {
        let folder = TempDir::new().unwrap();
        (options.format, options.memo_block_size) = (format, Some(size));
        let refused = TableWriter::create(folder.path().join("t.dbf"), &fields, &options);
        assert!(matches!(refused, Err(Error::Misuse(_))), "{format}, {size}");
    }
}

#[test]
fn a_format_keeps_no_memos_in_the_way_of_another() {
    let folder = TempDir::new().unwrap();
    let mut options = CreateOptions::new(TODAY);
    for (format, memo) in [
        (Dialect::Dbase3, MemoDialect::Fpt),
        (Dialect::FoxPro2, MemoDialect::Smt),
        (Dialect::VisualFoxPro, MemoDialect::FptFlex),
    ] {
        (options.format, options.memo) = (format, Some(memo));
        let fields = [FieldSpec::new("NOTE", 'M', 10, 0)];
        let refused = TableWriter::create(folder.path().join("t.dbf"), &fields, &options);
        assert!(matches!(refused, Err(Error::Misuse(_))), "{format}, {memo}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
