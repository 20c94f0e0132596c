//! Tables as single programs write them, laid out by hand.

use std::fs;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use tempfile::TempDir;
use tidemill_xbase::index::OrderSpec;
use tidemill_xbase::{
    CivilDate, EditOptions, KeySettings, OpenOptions, Scan, Table, TableEditor, TableIndex, Value, build_index,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 29,
};

#[test]
fn text_in_utf16_of_harbour_is_read_and_changed() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("wide.dbf");
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    // 150 letters, of whose 300 bytes the upper byte stands where others have decimals; and a memo.
    let fields = [
        (*b"NAME\0\0\0\0\0\0\0", 0x1A, 300_u16),
        (*b"NOTE\0\0\0\0\0\0\0", 0x1C, 10),
    ];
    let name = utf16(&format!("{:150}", "Łódź"));
    let record = [&b" "[..], &name, b"         8"].concat();
    fs::write(&path, table(0xF5, &fields, &[record])).unwrap();
    let note = utf16("Ёлка");
    let mut memos = vec![0; 512];
    (memos[3], memos[7]) = (9, 64);
    memos.extend([0, 0, 0, 1]);
    memos.extend(u32::try_from(note.len()).unwrap().to_be_bytes());
    memos.extend(&note);
    memos.resize(576, 0);
    fs::write(folder.path().join("wide.fpt"), memos).unwrap();
    let texts = || {
        let batch = batch(&Arc::new(Table::open(&path, &OpenOptions::new()).unwrap()));
        [0, 1].map(|column| batch.column(column).as_string::<i32>().value(0).to_owned())
    };
    assert_eq!(texts(), ["Łódź", "Ёлка"]);

    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    editor
        .replace(1, &[(0, Value::Text("Жар")), (1, Value::Text("птица"))])
        .unwrap();
    drop(editor);
    assert_eq!(texts(), ["Жар", "птица"]);
    let length = fs::read(&path).unwrap().len();
    assert_eq!(length, 32 + 64 + 1 + 311 + 1);
}

#[test]
fn a_power_of_ten_that_the_field_is_too_narrow_for_is_a_number() {
    let fields = [(*b"WIDTH\0\0\0\0\0\0", b'N', 9 | 3 << 8)];
    let records = [*b"    0.000", *b" 1.012E+9", *b"58854.167"].map(|cell| [&b" "[..], &cell].concat());
    let bytes = table(0x03, &fields, &records);
    let table = Arc::new(Table::from_bytes(bytes, None, &OpenOptions::new()).unwrap());
    let batch = batch(&table);
    let numbers = batch.column(0).as_primitive::<Float64Type>();
    assert_eq!(numbers.values().to_vec(), [0.0, 1.012e9, 58854.167]);
}

#[test]
fn a_table_beside_an_empty_memo_file_has_its_other_fields() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("memos.dbf");
    let fields = [(*b"CODE\0\0\0\0\0\0\0", b'C', 2), (*b"NOTE\0\0\0\0\0\0\0", b'M', 10)];
    let records = [*b" aa          ", *b" bb         8"].map(|record| record.to_vec());
    fs::write(&path, table(0xF5, &fields, &records)).unwrap();
    fs::write(folder.path().join("memos.fpt"), b"").unwrap();
    let table = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
    let mut codes = table.scan(Scan::new().projection(vec![0])).unwrap();
    let codes = codes.next().unwrap().unwrap();
    assert_eq!(codes.column(0).as_string::<i32>().value(1), "bb");
    let refused = table.scan(Scan::new()).and_then(|mut all| all.next().unwrap());
    let why = refused.unwrap_err().to_string();
    assert!(why.contains("memos.fpt") && why.contains("empty"), "{why}");
}

fn batch(table: &Arc<Table>) -> RecordBatch {
    table.scan(Scan::new()).unwrap().next().unwrap().unwrap()
}

/// A table of these fields: name, type, and width with the decimals or its upper byte above it.
fn table(version: u8, fields: &[([u8; 11], u8, u16)], records: &[Vec<u8>]) -> Vec<u8> {
    let header_len = u16::try_from(32 + 32 * fields.len() + 1).unwrap();
    let record_len = u16::try_from(records[0].len()).unwrap();
    let mut bytes = vec![0; 32];
    bytes[..4].copy_from_slice(&[version, 126, 11, 29]);
    bytes[4..8].copy_from_slice(&u32::try_from(records.len()).unwrap().to_le_bytes());
    bytes[8..10].copy_from_slice(&header_len.to_le_bytes());
    bytes[10..12].copy_from_slice(&record_len.to_le_bytes());
    for (name, letter, width) in fields {
        let mut descriptor = [0; 32];
        descriptor[..11].copy_from_slice(name);
        descriptor[11] = *letter;
        descriptor[16..18].copy_from_slice(&width.to_le_bytes());
        bytes.extend(descriptor);
    }
    bytes.push(0x0D);
    bytes.extend(records.concat());
    bytes.push(0x1A);
    bytes
}

/// The type 1B: the last two bytes count the units of the text, and what they cannot count is 0.
#[test]
fn texts_in_utf16_of_a_varying_length_are_read_and_written() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("v.dbf");
    let mut bytes = vec![3, 126, 11, 29];
    bytes.extend(6_u32.to_le_bytes());
    bytes.extend([32 + 64 + 1, 0, 12, 0]);
    bytes.resize(32, 0);
    for (name, letter, width) in [(b'V', 0x1B, 10), (b'C', b'C', 1)] {
        let mut descriptor = [0; 32];
        (descriptor[0], descriptor[11], descriptor[16]) = (name, letter, width);
        bytes.extend(descriptor);
    }
    bytes.push(0x0D);
    let cells: [(&str, u16); 6] = [
        ("abcd", 4),
        ("Ж b ", 4),
        ("ab  ", 2),
        ("abcd", 0),
        ("abcd", 5),
        ("abcd", 0xFFFF),
    ];
    for (text, len) in cells {
        bytes.push(b' ');
        bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
        bytes.extend(len.to_le_bytes());
        bytes.push(b'x');
    }
    fs::write(&path, &bytes).unwrap();
    let texts = || {
        let table = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
        assert_eq!(table.verify().unwrap().damage, []);
        let batches: Vec<_> = table.scan(Scan::new()).unwrap().map(Result::unwrap).collect();
        let column = batches[0].column(0).clone();
        let texts = column.as_string::<i32>().iter();
        texts
            .map(|text| text.unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(texts(), ["abcd", "Ж b ", "ab", "", "", ""]);
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    editor.replace(1, &[(0, Value::Text("é"))]).unwrap();
    editor.append_values(&[(1, Value::Text("y"))]).unwrap();
    assert!(editor.replace(2, &[(0, Value::Text("abcde"))]).is_err());
    drop(editor);
    assert_eq!(texts(), ["é", "Ж b ", "ab", "", "", "", ""]);
    let written = fs::read(&path).unwrap();
    assert_eq!(written[97..109], [b' ', 0xE9, 0, 0, 0, 0, 0, 0, 0, 1, 0, b'x']);
    // As a key, and cut anywhere.
    let table = Table::open(&path, &OpenOptions::new()).unwrap();
    let settings = KeySettings::new(table.codepage());
    let cdx = path.with_extension("cdx");
    build_index(&cdx, &table, &[OrderSpec::new("V", "UPPER(V)+C")], &settings).unwrap();
    let index = TableIndex::open(&cdx, &table, &settings).unwrap();
    assert_eq!(index.verify(&table).unwrap(), []);
    assert_eq!(index.orders()[0].keys().key_len(), 5);
    for cut in 0..written.len() {
        let Ok(table) = Table::from_bytes(written[..cut].to_vec(), None, &OpenOptions::new()) else {
            continue;
        };
        let _ = Arc::new(table).scan(Scan::new()).map(|scan| scan.count());
    }
}
