//! Orders whose keys can be NULL, as Visual FoxPro keeps them: a byte in front of each key, and option 02.
//!
//! The layout is that of the indexes of X#'s Northwind, which Visual FoxPro wrote; the bytes here are laid out by hand.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use tidemill_xbase::index::{Direction, End, Finding, KeyType, KeyValue, OrderSpec};
use tidemill_xbase::{
    CivilDate, CreateOptions, Dialect, EditOptions, FieldSpec, KeySettings, OpenOptions, Table, TableEditor,
    TableIndex, TableWriter, Value, build_index,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 26,
};
const MIDNIGHT: i64 = 946_684_800_000;

#[test]
fn keys_that_can_be_null_are_read_changed_and_made_again_as_they_were() {
    for (letter, width, key_len, values, keys) in cases() {
        let folder = TempDir::new().unwrap();
        let path = table(folder.path(), letter, width, &values);
        let cdx = path.with_extension("cdx");
        std::fs::write(&cdx, index(key_len, &keys)).unwrap();
        check(&path, letter, &values);

        let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
        editor.append_values(&[(0, Value::Null)]).unwrap();
        editor.append_values(&[(0, values[0])]).unwrap();
        editor.replace(1, &[(0, Value::Null)]).unwrap();
        drop(editor);
        let changed = [Value::Null, values[1], values[2], Value::Null, values[0]];
        check(&path, letter, &changed);

        let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
        editor
            .reindex(&cdx, &KeySettings::new(tidemill_xbase::CodePage::Cp1252))
            .unwrap();
        drop(editor);
        check(&path, letter, &changed);
    }
}

#[test]
fn an_order_that_does_not_compile_keeps_no_other_from_being_checked() {
    let folder = TempDir::new().unwrap();
    let values = [Value::Text("bb"), Value::Text("aa"), Value::Text("cc")];
    let path = table(folder.path(), 'C', 4, &values);
    let cdx = path.with_extension("cdx");
    let opened = Table::open(&path, &OpenOptions::new()).unwrap();
    let settings = KeySettings::new(opened.codepage());
    let orders = [OrderSpec::new("BAD", "V+V"), OrderSpec::new("GOOD", "V")];
    build_index(&cdx, &opened, &orders, &settings).unwrap();
    // The expression names a field that is not there, and pages of nobody are behind the file.
    let mut bytes = std::fs::read(&cdx).unwrap();
    let at = bytes.windows(4).position(|window| window == b"V+V\0").unwrap();
    bytes[at + 2] = b'W';
    bytes.extend([0; 1024]);
    std::fs::write(&cdx, bytes).unwrap();
    let index = TableIndex::open(&cdx, &opened, &settings).unwrap();
    assert_eq!(index.orders().len(), 2);
    let findings = index.verify(&opened).unwrap();
    let unknown: Vec<_> = findings.iter().filter(|finding| finding.is_unknown()).collect();
    assert!(
        unknown.len() == 1 && unknown[0].to_string().contains("BAD: keys cannot be made (column 3"),
        "{findings:?}"
    );
    let (index, unknown) = TableIndex::open_known(&cdx, &opened, &settings).unwrap();
    let unknown: Vec<_> = unknown.iter().map(ToString::to_string).collect();
    assert!(
        matches!(&unknown[..], [only] if only.ends_with("index tag BAD")),
        "{unknown:?}"
    );
    assert_eq!(index.orders().len(), 1);
    let findings = index.verify(&opened).unwrap();
    assert!(
        findings.iter().all(Finding::is_note) && findings.len() == 1,
        "{findings:?}"
    );
    // The keys of the other order are compared.
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY).production_index(false)).unwrap();
    editor.replace(1, &[(0, Value::Text("zz"))]).unwrap();
    drop(editor);
    let changed = Table::open(&path, &OpenOptions::new()).unwrap();
    let (index, _) = TableIndex::open_known(&cdx, &changed, &settings).unwrap();
    let damage: Vec<_> = index
        .verify(&changed)
        .unwrap()
        .into_iter()
        .filter(|finding| !finding.is_note())
        .collect();
    assert_eq!(damage.len(), 1, "{damage:?}");
    assert_eq!(damage[0].tag.as_deref(), Some("GOOD"));
}

/// A type of field with its width, the length of its keys, values of three records, and the keys of these in order.
type Case = (char, u16, u16, [Value<'static>; 3], Vec<(Vec<u8>, u8)>);

fn cases() -> [Case; 4] {
    let key = |front: u8, value: &[u8]| [&[front], value].concat();
    [
        (
            'C',
            4,
            5,
            [Value::Text("bb"), Value::Null, Value::Text("aa")],
            vec![(key(0, &[0; 4]), 2), (key(0x80, b"aa  "), 3), (key(0x80, b"bb  "), 1)],
        ),
        (
            'N',
            5,
            9,
            [Value::Integer(2), Value::Null, Value::Integer(-1)],
            vec![
                (key(0, &[0; 8]), 2),
                (key(0x80, &(!(-1f64).to_bits()).to_be_bytes()), 3),
                (key(0x80, &(2f64.to_bits() | 1 << 63).to_be_bytes()), 1),
            ],
        ),
        (
            'I',
            4,
            5,
            [Value::Integer(2), Value::Null, Value::Integer(-1)],
            vec![
                (key(0, &[0; 4]), 2),
                (key(0x80, &[0x7F, 0xFF, 0xFF, 0xFF]), 3),
                (key(0x80, &[0x80, 0, 0, 2]), 1),
            ],
        ),
        (
            'T',
            8,
            9,
            [
                Value::Timestamp(MIDNIGHT + 43_200_000),
                Value::Null,
                Value::Timestamp(MIDNIGHT),
            ],
            vec![
                (key(0, &[0; 8]), 2),
                (key(0x80, &(2_451_545f64.to_bits() | 1 << 63).to_be_bytes()), 3),
                (key(0x80, &(2_451_545.5f64.to_bits() | 1 << 63).to_be_bytes()), 1),
            ],
        ),
    ]
}

/// The index is sound, has NULL in front, finds each value, and says of itself what it said.
fn check(path: &Path, letter: char, values: &[Value<'_>]) {
    let table = Arc::new(Table::open(path, &OpenOptions::new()).unwrap());
    let index = TableIndex::production(&table, &KeySettings::new(table.codepage()))
        .unwrap()
        .unwrap();
    assert_eq!(index.verify(&table).unwrap(), [], "{letter}");
    let order = index.order("V").unwrap().order();
    assert!(order.tag().is_nullable, "{letter}");
    let header = usize::try_from(tag_header(path)).unwrap();
    let bytes = std::fs::read(path.with_extension("cdx")).unwrap();
    assert_eq!(bytes[header + 14], 0x62, "{letter}");
    let entries: Vec<_> = order.walk(Direction::Forward).map(Result::unwrap).collect();
    assert_eq!(entries.len(), values.len());
    for entry in &entries {
        let is_null = values[entry.recno() as usize - 1] == Value::Null;
        assert_eq!(entry.key()[0], if is_null { 0 } else { 0x80 }, "{letter}");
        assert_eq!(order.value(entry.key()).is_none(), is_null, "{letter}");
    }
    for (recno, value) in (1..).zip(values) {
        let sought = match value {
            Value::Text(text) => KeyValue::Character(text.as_bytes()),
            Value::Integer(number) => KeyValue::Integer(*number),
            Value::Timestamp(ms) => KeyValue::Timestamp(Some(*ms)),
            _ => continue,
        };
        let mut cursor = order.cursor();
        assert!(
            cursor.seek(&order.key(&sought).unwrap(), End::First, false).unwrap(),
            "{letter}"
        );
        assert_eq!(cursor.recno(), Some(recno), "{letter}");
    }
    if order.key_type() == KeyType::Timestamp {
        // A day finds its moments, and no NULL.
        let day = order.key(&KeyValue::Date(Some(10_957))).unwrap();
        let mut cursor = order.cursor();
        assert!(cursor.seek(&day, End::First, false).unwrap());
        assert_eq!(cursor.recno(), Some(3));
    }
}

/// Where the header of the only tag is: the record number of the first entry of the directory.
fn tag_header(path: &Path) -> u32 {
    let bytes = std::fs::read(path.with_extension("cdx")).unwrap();
    let root = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    let mask = u32::from_le_bytes(bytes[root + 14..root + 18].try_into().unwrap());
    u32::from_le_bytes(bytes[root + 24..root + 28].try_into().unwrap()) & mask
}

fn table(folder: &Path, letter: char, width: u16, values: &[Value<'_>]) -> PathBuf {
    let path = folder.join("t.dbf");
    let mut options = CreateOptions::new(TODAY);
    options.format = Dialect::VisualFoxPro;
    let field = FieldSpec::new("V", letter, width, 0).nullable(true);
    TableWriter::create(&path, &[field], &options)
        .unwrap()
        .finish()
        .unwrap();
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    for value in values {
        editor.append_values(&[(0, *value)]).unwrap();
    }
    path
}

/// A CDX of one tag V with these keys and their records.
fn index(key_len: u16, keys: &[(Vec<u8>, u8)]) -> Vec<u8> {
    index_of("V", 0x62, key_len, keys)
}

/// A CDX of one tag V of this expression with these options, keys and their records.
pub(super) fn index_of(expression: &str, options: u8, key_len: u16, keys: &[(Vec<u8>, u8)]) -> Vec<u8> {
    const TAG: u32 = 1536;
    const LEAF: u32 = TAG + 1024;
    let mut file = header(1024, 10, 0xE0, "");
    file.extend(leaf(&[(b"V         ".to_vec(), TAG)]));
    file.extend(header(LEAF, key_len, options, expression));
    let entries: Vec<_> = keys
        .iter()
        .map(|(key, recno)| (key.clone(), u32::from(*recno)))
        .collect();
    file.extend(leaf(&entries));
    file
}

fn header(root: u32, key_len: u16, options: u8, expression: &str) -> Vec<u8> {
    let mut header = vec![0; 1024];
    header[..4].copy_from_slice(&root.to_le_bytes());
    header[12..14].copy_from_slice(&key_len.to_le_bytes());
    (header[14], header[15]) = (options, 1);
    let len = u16::try_from(expression.len() + 1).unwrap().to_le_bytes();
    header[504..506].copy_from_slice(&len);
    header[506..508].copy_from_slice(&1u16.to_le_bytes());
    header[510..512].copy_from_slice(&len);
    header[512..512 + expression.len()].copy_from_slice(expression.as_bytes());
    header
}

/// A leaf whose keys stand whole: 16 bits of the record, 8 of each of the counts.
fn leaf(entries: &[(Vec<u8>, u32)]) -> Vec<u8> {
    let mut page = vec![0; 512];
    page[0] = 3;
    page[2] = u8::try_from(entries.len()).unwrap();
    page[4..12].fill(0xFF);
    page[14..18].copy_from_slice(&0xFFFFu32.to_le_bytes());
    page[18..24].copy_from_slice(&[0xFF, 0xFF, 16, 8, 8, 4]);
    let mut end = 512;
    for (slot, (key, recno)) in entries.iter().enumerate() {
        page[24 + 4 * slot..28 + 4 * slot].copy_from_slice(&recno.to_le_bytes());
        page[end - key.len()..end].copy_from_slice(key);
        end -= key.len();
    }
    page[12..14].copy_from_slice(&u16::try_from(end - 24 - 4 * entries.len()).unwrap().to_le_bytes());
    page
}
