//! Tables that name no code page, and what their text tells.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use tidemill_xbase::{CivilDate, CodePage, EditOptions, OpenOptions, Scan, Table, TableEditor, Value};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 26,
};

/// A table of dBASE III or Visual FoxPro with one text of 20 bytes a record.
fn table(version: u8, language: u8, page: CodePage, texts: &[&str]) -> Vec<u8> {
    let header_len: u16 = if version == 0x30 {
        32 + 32 + 1 + 263
    } else {
        32 + 32 + 1
    };
    let mut bytes = vec![version, 126, 11, 26];
    bytes.extend(u32::try_from(texts.len()).unwrap().to_le_bytes());
    bytes.extend(header_len.to_le_bytes());
    bytes.extend(21_u16.to_le_bytes());
    bytes.resize(64, 0);
    bytes[29] = language;
    bytes[32..36].copy_from_slice(b"TEXT");
    bytes[43] = b'C';
    bytes[44] = 1;
    bytes[48] = 20;
    bytes.push(0x0D);
    bytes.resize(usize::from(header_len), 0);
    for text in texts {
        bytes.push(b' ');
        let begin = bytes.len();
        page.encode(text, &mut bytes).unwrap();
        bytes.resize(begin + 20, b' ');
    }
    bytes.push(0x1A);
    bytes
}

fn texts(table: &Arc<Table>) -> Vec<String> {
    let batches: Vec<RecordBatch> = table.scan(Scan::new()).unwrap().map(Result::unwrap).collect();
    let column = batches.iter().flat_map(|batch| batch.column(0).as_string::<i32>());
    column.map(|text| text.unwrap_or_default().to_owned()).collect()
}

fn written(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

const GERMAN: [&str; 3] = ["Müller", "Größe", "Ärzte"];
const RUSSIAN: [&str; 2] = ["Привет", "МОСКВА"];

#[test]
fn text_is_read_in_the_page_that_it_looks_like_and_a_note_says_it() {
    let folder = tempfile::tempdir().unwrap();
    for (version, page, words) in [
        (0x03, CodePage::Cp437, &GERMAN[..]),
        (0x03, CodePage::Cp1252, &GERMAN),
        (0x03, CodePage::Utf8, &GERMAN),
        (0x03, CodePage::Cp866, &RUSSIAN),
        (0x03, CodePage::Cp1251, &RUSSIAN),
        (0x30, CodePage::Cp850, &GERMAN),
        (0x30, CodePage::Cp1252, &GERMAN),
        (0x30, CodePage::Cp1251, &RUSSIAN),
    ] {
        let bytes = table(version, 0, page, words);
        let path = written(folder.path(), &format!("{page}_{version}.dbf"), &bytes);
        let open = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
        assert_eq!(texts(&open), words, "{page}");
        let notes = open.notes();
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].what.contains("no code page is named"), "{notes:?}");
        assert!(notes[0].what.contains("option codepage"), "{notes:?}");
        // The same answer by every way.
        let in_memory = Arc::new(Table::from_bytes(bytes, None, &OpenOptions::new()).unwrap());
        assert_eq!(
            (texts(&in_memory), in_memory.codepage()),
            (texts(&open), open.codepage())
        );
        let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
        editor.append_values(&[(0, Value::Text(words[0]))]).unwrap();
        let seen = Arc::new(editor.table().unwrap());
        assert_eq!(seen.codepage(), open.codepage());
        drop(editor);
        let again = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
        assert_eq!(again.codepage(), open.codepage());
        assert_eq!(texts(&again).last().unwrap(), words[0]);
    }
}

#[test]
fn where_a_page_is_named_nothing_is_guessed() {
    let folder = tempfile::tempdir().unwrap();
    let russian = |language| table(0x03, language, CodePage::Cp1251, &RUSSIAN);
    let named = written(folder.path(), "named.dbf", &russian(0x01));
    let table = Table::open(&named, &OpenOptions::new()).unwrap();
    assert_eq!((table.codepage(), table.notes()), (CodePage::Cp437, Vec::new()));

    let beside = written(folder.path(), "beside.dbf", &russian(0));
    fs::write(beside.with_extension("cpg"), "cp850").unwrap();
    let table = Table::open(&beside, &OpenOptions::new()).unwrap();
    assert_eq!((table.codepage(), table.notes()), (CodePage::Cp850, Vec::new()));

    let bare = written(folder.path(), "bare.dbf", &russian(0));
    for options in [
        OpenOptions::new().codepage(CodePage::Cp437),
        OpenOptions::new().look_at_text(false),
    ] {
        let table = Table::open(&bare, &options).unwrap();
        assert_eq!((table.codepage(), table.notes()), (CodePage::Cp437, Vec::new()));
    }
}

#[test]
fn ascii_tells_nothing_and_needs_no_note() {
    let bytes = table(0x03, 0, CodePage::Cp437, &["plain", "text"]);
    let table = Table::from_bytes(bytes, None, &OpenOptions::new()).unwrap();
    assert_eq!((table.codepage(), table.notes()), (CodePage::Cp437, Vec::new()));
}

#[test]
fn records_behind_the_sample_do_not_change_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let mut words = vec!["Müller"; 20_000];
    let path = written(folder.path(), "long.dbf", &table(0x03, 0, CodePage::Cp1252, &words));
    let first = Table::open(&path, &OpenOptions::new()).unwrap().codepage();
    words.resize(20_010, "Größe");
    let mut bytes = table(0x03, 0, CodePage::Cp1252, &words);
    let len = bytes.len();
    // Bytes of another page.
    bytes[len - 200..len - 1].fill(0x81);
    fs::write(&path, bytes).unwrap();
    let again = Table::open(&path, &OpenOptions::new()).unwrap().codepage();
    assert_eq!((first, again), (CodePage::Cp1252, CodePage::Cp1252));
}
