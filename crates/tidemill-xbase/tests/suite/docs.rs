//! The hexdumps of the format pages are what the pages say they are.

use std::path::Path;
use std::sync::Arc;

use arrow_cast::display::array_value_to_string;
use tidemill_xbase::index::{Collation, Direction, Index, IndexDialect, IndexOptions, KeyType};
use tidemill_xbase::{
    CivilDate, CodePage, CreateOptions, Deleted, Dialect, Durability, EditOptions, FieldSpec, LogContents, LogOptions,
    MemoDialect, OpenOptions, Scan, Table, TableEditor, TableWriter, TransactionLog, Value,
};

const FIRST: &str = "Müller|12.5|2026-11-21|true|paid in März\r\n";
const SECOND: &str = "Smith||||";

#[test]
fn the_table_and_its_memo_files_are_decoded_from_their_pages() {
    let table = hexdump("dbf.md", "```hexdump\n");
    // The first record begins at 193; its memo pointer stands behind the flag and fields of 8, 5, 8 and 1 bytes.
    for (dump, version, pointer, dialect) in [
        ("```hexdump fpt\n", 0xF5, b"         8".as_slice(), MemoDialect::Fpt),
        ("```hexdump dbt3\n", 0x83, b"         1", MemoDialect::Dbt3),
        ("```hexdump dbt4\n", 0x8B, b"         1", MemoDialect::Dbt4),
        (
            "```hexdump smt\n",
            0xE5,
            b"\x01\x00\x0e\x00\x00\x00\x10\x00\x00\x00",
            MemoDialect::Smt,
        ),
    ] {
        let mut table = table.clone();
        table[0] = version;
        table[216..226].copy_from_slice(pointer);
        let memo = hexdump("xbase-memo.md", dump);
        let options = OpenOptions::new().codepage(CodePage::Cp850);
        let table = Arc::new(Table::from_bytes(table, Some(memo), &options).unwrap());
        assert_eq!(table.memo().unwrap().dialect(), dialect);
        let columns = vec![0, 1, 2, 3, 4];
        let scan = Scan::new().projection(columns).deleted(Deleted::Include);
        let batch = table.scan(scan).unwrap().next().unwrap().unwrap();
        let row = |row| -> Vec<String> {
            batch
                .columns()
                .iter()
                .map(|c| array_value_to_string(c, row).unwrap())
                .collect()
        };
        assert_eq!(row(0).join("|"), FIRST, "{dump}");
        assert_eq!(row(1).join("|"), SECOND, "{dump}");
        assert_eq!(table.deleted_count().unwrap(), 1);
    }
}

#[test]
fn a_table_with_long_names_is_what_its_page_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frame.dbf");
    let day = CivilDate {
        year: 2026,
        month: 11,
        day: 26,
    };
    let mut options = CreateOptions::new(day);
    (options.format, options.long_names) = (Dialect::VisualFoxPro, true);
    let fields = [("customerName", 'C', 8), ("customerNumber", 'N', 5)];
    let fields = fields.map(|(name, letter, width)| FieldSpec::new(name, letter, width, 0).nullable(true));
    TableWriter::create(&path, &fields, &options).unwrap().finish().unwrap();
    for (extension, dump) in [("dbf", "```hexdump dbf\n"), ("dct", "```hexdump dct\n")] {
        let bytes = std::fs::read(path.with_extension(extension)).unwrap();
        let mut expected = hexdump("xbase-container.md", dump);
        // Zeros at the end are left out of the page.
        expected.resize(expected.len().max(bytes.len()), 0);
        assert_eq!(bytes, expected, "{extension}");
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/xbase/containers");
    for extension in ["dbf", "dbc", "dct", "dcx"] {
        let made = std::fs::read(path.with_extension(extension)).unwrap();
        let kept = std::fs::read(golden.join("frame").with_extension(extension)).unwrap();
        assert_eq!(made, kept, "{extension}");
    }
    let table = Table::open(&path, &OpenOptions::new()).unwrap();
    let names: Vec<_> = table.fields().iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["customerName", "customerNumber"]);
}

#[test]
fn the_index_files_are_decoded_from_their_page() {
    for (dump, dialect) in [
        ("```hexdump cdx\n", IndexDialect::Cdx),
        ("```hexdump ntx\n", IndexDialect::Ntx),
        ("```hexdump nsx\n", IndexDialect::Nsx),
        ("```hexdump mdx\n", IndexDialect::Mdx),
        ("```hexdump ndx\n", IndexDialect::Ndx),
        ("```hexdump idx\n", IndexDialect::Idx),
    ] {
        let index = Index::from_bytes(hexdump("xbase-index.md", dump), dialect, &IndexOptions::new()).unwrap();
        // A file of one order may not name it.
        let name = index.tags()[0].name.clone();
        let order = index.order(&name, KeyType::Character, &Collation::binary()).unwrap();
        assert_eq!((order.tag().expression.as_str(), order.tag().key_len), ("CITY", 8));
        let entries = order.walk(Direction::Forward).map(|entry| {
            let entry = entry.unwrap();
            format!("{} {}", entry.key().escape_ascii(), entry.recno())
        });
        assert_eq!(entries.collect::<Vec<_>>(), ["Berlin   2", "Bonn     1"], "{dump}");
        assert_eq!(index.verify(&[order], Some(2)).unwrap(), [], "{dump}");
    }
}

#[test]
fn the_log_of_the_page_is_what_a_transaction_writes_and_says_what_it_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.dbf");
    let today = CivilDate {
        year: 2026,
        month: 11,
        day: 21,
    };
    let mut options = CreateOptions::new(today);
    options.format = Dialect::Dbase3;
    let table = TableWriter::create(&path, &[FieldSpec::new("NAME", 'C', 5, 0)], &options);
    table.unwrap().finish().unwrap();
    let group = LogOptions::new().durability(Durability::Group(2));
    let log = TransactionLog::open(folder.path().join("t.tmlog"), &group).unwrap();
    let mut table = TableEditor::open(&path, &EditOptions::new(today).log(&log)).unwrap();
    table.append_values(&[(0, Value::Text("Smith"))]).unwrap();

    let dump = hexdump("tidemill-log.md", "```hexdump\n");
    let written = log.paths().remove(0);
    assert_eq!(std::fs::read(&written).unwrap(), dump);
    let corpus = |name| {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../corpus/xbase/logs")
            .join(name)
    };
    assert_eq!(std::fs::read(corpus("version2.tmlog")).unwrap(), dump);
    let contents = LogContents::read(&written).unwrap();
    assert_eq!(contents, LogContents::from_bytes(dump).unwrap());
    assert_eq!(
        contents,
        LogContents::read(corpus("version1.tmlog")).unwrap(),
        "what version 1 wrote is read"
    );
    assert_eq!((contents.used_bytes, contents.torn_bytes), (1138, 0));
    let [transaction] = contents.transactions.as_slice() else {
        panic!("one transaction")
    };
    let [change] = transaction.files.as_slice() else {
        panic!("one file")
    };
    assert_eq!((transaction.sequence, change.path.to_str()), (0, Some("t.dbf")));
    assert_eq!((change.shared, change.old_len, change.new_len), (false, 66, 72));
    assert_eq!(
        (change.ranges.as_slice(), change.locks.len()),
        ([1..8, 65..72].as_slice(), 0)
    );
}

/// The bytes of a dump: an offset, two blanks, hexadecimal pairs; what no line covers is zero.
pub(crate) fn hexdump(page: &str, start: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs/formats")
        .join(page);
    let text = std::fs::read_to_string(path).unwrap();
    let (_, dump) = text.split_once(start).unwrap();
    let (dump, _) = dump.split_once("```").unwrap();
    let mut bytes = Vec::new();
    for line in dump.lines() {
        let (offset, pairs) = line.split_once("  ").unwrap();
        bytes.resize(usize::from_str_radix(offset, 16).unwrap(), 0);
        bytes.extend(pairs.split(' ').map(|pair| u8::from_str_radix(pair, 16).unwrap()));
    }
    bytes
}
