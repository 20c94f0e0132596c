//! Tables of dBASE 7: moments as doubles, code pages by the name of the language driver.
//!
//! The bytes of the moments are those that dBASE itself writes: 42ccafc111700000 in a file of 2000-01-01, 42ccb20e0340df00 for
//! 2000-08-16 17:21:41.310.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_cast::display::array_value_to_string;
use tidemill_xbase::expression::{Environment, Program};
use tidemill_xbase::{
    CivilDate, CodePage, EditOptions, FieldKind, OpenMode, OpenOptions, Scan, Table, TableEditor, Value,
    production_path,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 26,
};

const MOMENTS: [(&str, i64, u64); 5] = [
    ("2000-01-01T00:00:00", 946_684_800_000, 0x42cc_afc1_1170_0000),
    ("2000-08-16T17:21:41.310", 966_446_501_310, 0x42cc_b20e_0340_df00),
    ("1970-01-01T00:00:00", 0, 0x42cc_418b_a99a_0000),
    ("0001-01-01T00:00:00", -62_135_596_800_000, 0x4194_9970_0000_0000),
    ("9999-12-31T23:59:59.999", 253_402_300_799_999, 0x42f1_efae_9730_fff0),
];

#[test]
fn moments_are_doubles_of_milliseconds() {
    let records: Vec<_> = MOMENTS
        .iter()
        .map(|(_, _, bits)| bits.to_be_bytes())
        .chain([[0; 8], [b' '; 8]])
        .collect();
    let bytes = table("", &[("WHEN", b'@', 8)], &records);
    let table = Arc::new(Table::from_bytes(bytes, None, &OpenOptions::new()).unwrap());
    assert_eq!(table.fields()[0].kind, FieldKind::TimestampDbase7);
    let mut expected: Vec<_> = MOMENTS.iter().map(|(text, ..)| *text).collect();
    expected.extend(["", ""]);
    assert_eq!(column(&batch(&table), 0), expected);
    let program = Program::compile("YEAR(WHEN)", table.fields(), &Environment::new(table.codepage())).unwrap();
    let years = program.evaluate(&batch(&table)).unwrap();
    assert_eq!(array_value_to_string(&years, 1).unwrap(), "2000.0");
    for bad in [1f64, -1e12, 86_399_999.0, 1e300, f64::NAN, f64::INFINITY] {
        let bytes = self::table("", &[("WHEN", b'@', 8)], &[bad.to_be_bytes()]);
        let table = Arc::new(Table::from_bytes(bytes, None, &OpenOptions::new()).unwrap());
        let refused = table
            .scan(Scan::new())
            .unwrap()
            .next()
            .unwrap()
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains("record 1, field WHEN: expected milliseconds from the year 1 to 9999"),
            "{refused}"
        );
    }
}

#[test]
fn moments_are_written_as_dbase_writes_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.dbf");
    std::fs::write(&path, table("", &[("WHEN", b'@', 8)], &[[0; 8]])).unwrap();
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    for (record, (text, ms, bits)) in (2..).zip(MOMENTS) {
        editor.append_values(&[(0, Value::Timestamp(ms))]).unwrap();
        assert_eq!(editor.record_bytes(record).unwrap()[1..], bits.to_be_bytes(), "{text}");
    }
    for ms in [-62_135_596_800_001, 253_402_300_800_000, i64::MAX, i64::MIN] {
        let refused = editor.replace(1, &[(0, Value::Timestamp(ms))]).unwrap_err().to_string();
        assert!(
            refused.contains("field WHEN: expected a year from 1 to 9999"),
            "{refused}"
        );
    }
    editor.replace(2, &[(0, Value::Null)]).unwrap();
    assert_eq!(editor.record_bytes(2).unwrap()[1..], [0; 8]);
}

#[test]
fn the_language_driver_names_the_code_page() {
    let open = |driver: &str, text: &[u8], options: OpenOptions| {
        let bytes = table(driver, &[("NAME", b'C', 8)], &[padded(text)]);
        let table = Arc::new(Table::from_bytes(bytes, None, &options).unwrap());
        assert_eq!(table.header().language_driver, driver);
        (table.codepage(), column(&batch(&table), 0).concat())
    };
    for (driver, text, expected) in [
        (
            "DB866RU0",
            &b"\x8c\xae\xe1\xaa\xa2\xa0"[..],
            (CodePage::Cp866, "Москва"),
        ),
        ("DBWINUS0", b"Z\xfcrich", (CodePage::Cp1252, "Zürich")),
        ("db850de0", b"Z\x81rich", (CodePage::Cp850, "Zürich")),
        ("ancyrr", b"\xcc\xee\xf1\xea\xe2\xe0", (CodePage::Cp1251, "Москва")),
        ("NOBODY", b"Z\x81rich", (CodePage::Cp437, "Zürich")),
    ] {
        let (codepage, text) = open(driver, text, OpenOptions::new());
        assert_eq!((codepage, text.as_str()), expected, "{driver}");
    }
    let option = OpenOptions::new().codepage(CodePage::Cp1251);
    assert_eq!(open("DB866RU0", b"\xcc", option), (CodePage::Cp1251, "М".to_owned()));
}

#[test]
fn a_table_with_an_mdx_that_cannot_be_read_is_read_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.dbf");
    let mut bytes = table("DBWINUS0", &[("NAME", b'C', 8)], &[padded(b"Anna")]);
    bytes[28] = 1;
    std::fs::write(&path, &bytes).unwrap();
    std::fs::write(folder.path().join("T.MDX"), b"orders").unwrap();
    let read = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
    assert_eq!(column(&batch(&read), 0), ["Anna"]);
    assert_eq!(production_path(&read).unwrap(), Some(folder.path().join("T.MDX")));
    for mode in [OpenMode::Exclusive, OpenMode::Shared] {
        let refused = TableEditor::open(&path, &EditOptions::new(TODAY).mode(mode))
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains("T.MDX, which would not follow changes (") && refused.contains("move that file away"),
            "{refused}"
        );
    }
    TableEditor::open(&path, &EditOptions::new(TODAY).mode(OpenMode::ReadOnly)).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    // A file that the header does not name, and one that is gone, are nobody's.
    std::fs::rename(folder.path().join("T.MDX"), folder.path().join("u.mdx")).unwrap();
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    editor.append_values(&[(0, Value::Text("Bob"))]).unwrap();
}

/// A table with these fields (name, type, width) and one cell a record.
fn table(driver: &str, fields: &[(&str, u8, u8)], records: &[[u8; 8]]) -> Vec<u8> {
    let header_len = u16::try_from(68 + 48 * fields.len() + 1).unwrap();
    let mut bytes = vec![0x04, 126, 11, 26];
    bytes.extend(u32::try_from(records.len()).unwrap().to_le_bytes());
    bytes.extend(header_len.to_le_bytes());
    bytes.extend(9u16.to_le_bytes());
    bytes.resize(32, 0);
    bytes.extend(driver.as_bytes());
    bytes.resize(68, 0);
    for (name, letter, width) in fields {
        let begin = bytes.len();
        bytes.extend(name.as_bytes());
        bytes.resize(begin + 32, 0);
        bytes.extend([*letter, *width]);
        bytes.resize(begin + 48, 0);
    }
    bytes.push(0x0D);
    for record in records {
        bytes.push(b' ');
        bytes.extend(record);
    }
    bytes.push(0x1A);
    bytes
}

fn padded(text: &[u8]) -> [u8; 8] {
    let mut cell = [b' '; 8];
    cell[..text.len()].copy_from_slice(text);
    cell
}

fn batch(table: &Arc<Table>) -> RecordBatch {
    table.scan(Scan::new()).unwrap().next().unwrap().unwrap()
}

fn column(batch: &RecordBatch, at: usize) -> Vec<String> {
    (0..batch.num_rows())
        .map(|row| array_value_to_string(batch.column(at), row).unwrap())
        .collect()
}
