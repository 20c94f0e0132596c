//! Tables as single programs write them, laid out by hand.

use std::fs;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use tempfile::TempDir;
use tidemill_xbase::{CivilDate, EditOptions, OpenOptions, Scan, Table, TableEditor, Value};

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
