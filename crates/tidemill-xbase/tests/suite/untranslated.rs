//! Fields of Visual FoxPro that are exempt from code page translation (NOCPTRANS): text where they hold text, else bytes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_schema::DataType;
use tempfile::TempDir;
use tidemill_xbase::{
    Alteration, CivilDate, CodePage, CreateOptions, Dialect, EditOptions, FieldSpec, OpenOptions, Scan, Table,
    TableEditor, TableWriter, Value,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 27,
};

#[test]
fn a_column_is_one_of_text_where_all_its_values_are() {
    let umlauts: &[&[u8]] = &[b"M\xFCller", b"Gr\xF6\xDFe", b"B\xE4r", b"plain"];
    let rows: [(&[&[u8]], bool); 13] = [
        (&[b"abc", b"", b"two words\tand\r\na line"], true),
        (umlauts, true),
        (&[b"abc", b"\x01\x02"], false),
        (&[b"abc\x7F"], false),
        // Ciphers and numbers.
        (&[b"\x9B\xE1\xD3", b"\xF0\x88\xC2\xBB"], false),
        (&[&[0x80, 0, 0, 1]], false),
        (&[b"M\xFCller"], true),
        (&[b"\xE1"], false),
        // Chinese in GBK, and a Western text.
        (&[b"\xD6\xD0\xB9\xFA", b"\xD1\xA7\xD0\xA3"], false),
        (&["Île de Ré".chars().map(|c| c as u8).collect::<Vec<_>>().leak()], true),
        // UTF-8, of which the table's page makes something else.
        (&["Größe".as_bytes(), "Müller".as_bytes()], false),
        (&[b"", b""], false),
        (&[], false),
    ];
    for (values, is_text) in rows {
        let (_folder, path) = table(values);
        let table = read(&path, &OpenOptions::new());
        let what = format!(
            "{:?}",
            values
                .iter()
                .map(|value| value.escape_ascii().to_string())
                .collect::<Vec<_>>()
        );
        for field in 1..4 {
            let expected = if is_text { DataType::Utf8 } else { DataType::Binary };
            assert_eq!(table.fields()[field].data_type(), expected, "{what}");
            assert!(table.fields()[field].binary);
        }
        let notes = table
            .notes()
            .iter()
            .filter(|note| note.what.contains("NOCPTRANS"))
            .count();
        assert_eq!(notes, if is_text { 3 } else { 0 }, "{what}");
        // Nothing is lost: what is read again in the code page, or as it is, is what was written.
        for (field, found) in columns(&table) {
            for (value, found) in values.iter().zip(found) {
                let kept = if field == 1 {
                    found.strip_suffix(&b" "[..]).map_or(&*found, trim)
                } else {
                    &found
                };
                assert_eq!(
                    kept.escape_ascii().to_string(),
                    value.escape_ascii().to_string(),
                    "{what}"
                );
            }
        }
        let plain = read(&path, &OpenOptions::new().look_at_text(false));
        assert!((1..4).all(|field| plain.fields()[field].data_type() == DataType::Binary));
        assert_eq!(plain.notes(), []);
    }
}

#[test]
fn the_last_of_many_values_decides_too() {
    let mut values: Vec<&[u8]> = vec![b"text"; 20_000];
    values.push(b"\x00\x01");
    let (_folder, path) = table(&values[..20_000]);
    assert_eq!(read(&path, &OpenOptions::new()).fields()[1].data_type(), DataType::Utf8);
    let (_folder, path) = table(&values);
    let found = read(&path, &OpenOptions::new());
    assert!((1..4).all(|field| found.fields()[field].data_type() == DataType::Binary));
}

#[test]
fn memos_of_a_long_file_are_bytes() {
    let long = vec![b'x'; 600_000];
    for (count, expected) in [(3, DataType::Utf8), (8, DataType::Binary)] {
        let (_folder, path) = table(&[]);
        let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
        for _ in 0..count {
            editor.append_values(&[(3, Value::Bytes(&long))]).unwrap();
        }
        drop(editor);
        assert_eq!(read(&path, &OpenOptions::new()).fields()[3].data_type(), expected);
    }
}

#[test]
fn both_text_and_bytes_are_written() {
    let (_folder, path) = table(&[b"old"]);
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    assert_eq!(editor.fields()[1].data_type(), DataType::Utf8);
    let text = |text| (1..4).map(|field| (field, Value::Text(text))).collect::<Vec<_>>();
    editor.append_values(&text("Stra\u{DF}e")).unwrap();
    assert!(editor.append_values(&text("\u{4E00}")).is_err(), "cp1252 lacks it");
    drop(editor);
    let table = read(&path, &OpenOptions::new());
    for (field, found) in columns(&table) {
        assert_eq!(found[1], b"Stra\xDFe", "{field}");
    }
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    let bytes: Vec<_> = (1..4).map(|field| (field, Value::Bytes(b"\x00\x01\xFF"))).collect();
    editor.append_values(&bytes).unwrap();
    drop(editor);
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    assert!((1..4).all(|field| editor.fields()[field].data_type() == DataType::Binary));
    // They take text all the same.
    editor.append_values(&text("more")).unwrap();
    drop(editor);
    for (field, found) in columns(&read(&path, &OpenOptions::new())) {
        assert_eq!(trim(&found[2]), b"\x00\x01\xFF", "{field}");
        assert_eq!(trim(&found[3]), b"more", "{field}");
    }
}

#[test]
fn copies_and_alterations_keep_the_flag() {
    let values: &[&[u8]] = &[b"one", b"M\xFCller", b""];
    let (folder, path) = table(values);
    let table = read(&path, &OpenOptions::new());
    for (format, is_flagged) in [(Dialect::VisualFoxPro, true), (Dialect::FoxPro2, false)] {
        let copy = folder.path().join(format!("{format:?}.dbf"));
        let options = CreateOptions {
            format,
            codepage: CodePage::Cp1252,
            ..CreateOptions::new(TODAY)
        };
        let specs = FieldSpec::from_schema(&table.schema()).unwrap();
        let mut writer = TableWriter::create(&copy, &specs, &options).unwrap();
        for batch in table.scan(Scan::new()).unwrap() {
            writer.write(&batch.unwrap(), None).unwrap();
        }
        writer.finish().unwrap();
        let copied = read(&copy, &OpenOptions::new());
        let letters: String = copied.fields().iter().map(|field| field.letter).collect();
        assert_eq!(letters, if is_flagged { "ICVM" } else { "ICCM" });
        assert!(
            copied.fields()[1..].iter().all(|field| field.binary == is_flagged),
            "{format}"
        );
        assert_eq!(columns(&copied), columns(&table), "{format}");
    }
    drop(table);
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    let wider = FieldSpec::new("CODE", 'C', 30, 0).binary(true);
    let altered = Alteration::of(editor.fields())
        .change_field("CODE", wider)
        .unwrap()
        .add_field(FieldSpec::new("MORE", 'L', 1, 0));
    editor.alter(&altered).unwrap();
    drop(editor);
    let altered = read(&path, &OpenOptions::new());
    assert_eq!((altered.fields()[1].width, altered.fields().len()), (30, 5));
    for (_, found) in columns(&altered) {
        assert_eq!(found, values);
    }
    assert!(altered.fields()[1..4].iter().all(|field| field.binary));
}

#[test]
fn a_table_that_is_cut_anywhere_ends_in_an_error_or_without_a_value_too_much() {
    let (_folder, path) = table(&[b"one", b"M\xFCller", b"three"]);
    let (dbf, fpt) = (
        std::fs::read(&path).unwrap(),
        std::fs::read(path.with_extension("fpt")).unwrap(),
    );
    for len in 0..dbf.len() {
        let _ = Table::from_bytes(
            dbf[..len].to_vec(),
            Some(fpt.clone()),
            &OpenOptions::new().recover(true),
        );
        let _ = Table::from_bytes(dbf[..len].to_vec(), Some(fpt.clone()), &OpenOptions::new());
    }
    for len in 0..fpt.len() {
        let table = Table::from_bytes(dbf.clone(), Some(fpt[..len].to_vec()), &OpenOptions::new());
        if let Ok(table) = table {
            let table = Arc::new(table);
            let read: Vec<_> = table.scan(Scan::new()).unwrap().collect();
            assert!(read.iter().any(Result::is_err) || len + 64 > fpt.len(), "{len}");
        }
    }
    for at in 0..dbf.len() {
        let mut bent = dbf.clone();
        bent[at] ^= 0xFF;
        let _ = Table::from_bytes(bent, Some(fpt.clone()), &OpenOptions::new().recover(true));
    }
}

/// A table of Visual FoxPro in cp1252 whose fields of type C, V and M have the flag and these values.
fn table(values: &[&[u8]]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.dbf");
    let flagged = |name: &str, letter, width| FieldSpec::new(name, letter, width, 0).binary(true).nullable(true);
    let fields = [
        FieldSpec::new("ID", 'I', 4, 0),
        flagged("CODE", 'C', 24),
        flagged("VARIES", 'V', 24),
        flagged("NOTE", 'M', 4),
    ];
    let options = CreateOptions {
        format: Dialect::VisualFoxPro,
        codepage: CodePage::Cp1252,
        ..CreateOptions::new(TODAY)
    };
    TableWriter::create(&path, &fields, &options).unwrap().finish().unwrap();
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    for (id, value) in (1..).zip(values) {
        let all = (1..4).map(|field| (field, Value::Bytes(value)));
        let all: Vec<_> = std::iter::once((0, Value::Integer(id))).chain(all).collect();
        editor.append_values(&all).unwrap();
    }
    drop(editor);
    (folder, path)
}

fn read(path: &Path, options: &OpenOptions) -> Arc<Table> {
    Arc::new(Table::open(path, options).unwrap())
}

/// The values of the three fields, in cp1252 where they are text.
fn columns(table: &Arc<Table>) -> Vec<(usize, Vec<Vec<u8>>)> {
    let batches: Vec<RecordBatch> = table.scan(Scan::new()).unwrap().map(Result::unwrap).collect();
    let columns = (1..4).map(|field| {
        let values = batches.iter().flat_map(|batch| {
            (0..batch.num_rows()).map(move |row| match batch.column(field).data_type() {
                DataType::Utf8 => {
                    let mut bytes = Vec::new();
                    let text = batch.column(field).as_string::<i32>().value(row);
                    CodePage::Cp1252.encode(text, &mut bytes).unwrap();
                    bytes
                }
                _ => batch.column(field).as_binary::<i32>().value(row).to_vec(),
            })
        });
        (field, values.collect())
    });
    columns.collect()
}

fn trim(value: &[u8]) -> &[u8] {
    let end = value.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    &value[..end]
}
