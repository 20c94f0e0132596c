//! Tables of header bytes and field types that no program at hand writes, laid out by hand from the published formats.
//!
//! Sources: dBASE II after the HelpPC reference ("dBASE - File Header Structure (dBASE II)"); dBASE III to 5 and FoxPro
//! after "Table File Structure (.dbc, .dbf, .frx, …)" of the Visual FoxPro documentation; dBASE 7 after "Data File
//! Header Structure for the dBASE Version 7 Table File" (dbase.com); Clipper's long character fields after Harbour's
//! documentation of `DBCREATE()`.

use std::sync::Arc;

use arrow_array::RecordBatch;
use tidemill_xbase::{CodePage, Deleted, Dialect, Error, MemoDialect, OpenOptions, Scan, Table};

#[test]
fn every_published_header_byte_is_read() {
    for (version, dialect) in [
        (0x03, Dialect::Dbase3),
        (0x05, Dialect::Dbase5),
        (0x30, Dialect::VisualFoxPro),
        (0x31, Dialect::VisualFoxPro),
        (0x32, Dialect::VisualFoxPro),
        (0x43, Dialect::Dbase4),
        (0x63, Dialect::Dbase4),
        (0x7B, Dialect::Dbase4),
        (0x83, Dialect::Dbase3),
        (0x8B, Dialect::Dbase4),
        (0x8E, Dialect::Dbase4),
        (0xCB, Dialect::Dbase4),
        (0xE5, Dialect::Six),
        (0xF5, Dialect::FoxPro2),
        (0xFB, Dialect::Dbase3),
    ] {
        let bytes = dbase3(version, &[(b'C', 3, 0), (b'N', 5, 1)], &[b" abc  1.5", b"*xyz -2.0"]);
        let table = Arc::new(Table::from_bytes(bytes, None, &OpenOptions::new()).unwrap());
        assert_eq!((table.header().version, table.header().dialect), (version, dialect));
        check(&table, &["abc|1.5|1|false", "xyz|-2.0|2|true"]);
    }
    let unknown = Table::from_bytes(vec![0x99; 100], None, &OpenOptions::new()).unwrap_err();
    assert!(
        unknown.to_string().contains("version byte at byte 0") && unknown.to_string().contains("found 99"),
        "{unknown}"
    );
}

#[test]
fn dbase_2_has_a_header_of_521_bytes() {
    let mut bytes = vec![0x02, 2, 0, 11, 21, 83, 9, 0];
    for (name, letter, width, decimals) in [(b"NAME", b'C', 4, 0), (b"AMT\0", b'N', 3, 1), (b"OK\0\0", b'L', 1, 0)] {
        let mut descriptor = [0u8; 16];
        descriptor[..4].copy_from_slice(name);
        (descriptor[11], descriptor[12], descriptor[15]) = (letter, width, decimals);
        bytes.extend(descriptor);
    }
    bytes.push(0x0D);
    bytes.resize(521, 0);
    bytes.extend(b" Anna1.5T*Bob 2.0F");
    let table = Arc::new(Table::from_bytes(bytes, None, &OpenOptions::new()).unwrap());
    assert_eq!(table.header().dialect, Dialect::Dbase2);
    assert_eq!(table.header().last_update.unwrap().year, 1983);
    check(&table, &["Anna|1.5|true|1|false", "Bob|2.0|false|2|true"]);
}

#[test]
fn dbase_7_has_long_names_and_sortable_numbers() {
    let fields = [
        ("A name of up to 31 characters", b'C', 5),
        ("Whole", b'I', 4),
        ("Counter", b'+', 4),
        ("Real", b'O', 8),
    ];
    let mut bytes = vec![0x04, 126, 11, 21];
    bytes.extend(2u32.to_le_bytes());
    bytes.extend(u16::try_from(68 + 48 * fields.len() + 1).unwrap().to_le_bytes());
    bytes.extend(22u16.to_le_bytes());
    bytes.resize(68, 0);
    for (name, letter, width) in fields {
        let mut descriptor = [0u8; 48];
        descriptor[..name.len()].copy_from_slice(name.as_bytes());
        (descriptor[32], descriptor[33]) = (letter, width);
        descriptor[40] = 3;
        bytes.extend(descriptor);
    }
    bytes.push(0x0D);
    // Positive integers have the top bit set; negative doubles have every bit turned around.
    bytes.extend(b" Anna \x80\x00\x00\x07\x80\x00\x00\x01\xBF\xF8\x00\x00\x00\x00\x00\x00");
    bytes.extend(b" Bob  \x7F\xFF\xFF\xFE\x80\x00\x00\x02");
    bytes.extend((!(-2.5f64).to_bits()).to_be_bytes());
    let table = Arc::new(Table::from_bytes(bytes, None, &OpenOptions::new()).unwrap());
    assert_eq!(table.fields()[0].name, "A name of up to 31 characters");
    assert_eq!(table.fields()[2].autoincrement.unwrap().next, 3);
    check(&table, &["Anna|7|1|1.5|1|false", "Bob|-2|2|-2.5|2|false"]);
}

#[test]
fn clipper_keeps_long_character_fields_in_the_decimals_byte() {
    let mut record = vec![b' '];
    record.extend([b'x'; 300]);
    let mut bytes = dbase3(0x03, &[(b'C', 44, 1)], &[&record]);
    let table = Arc::new(Table::from_bytes(bytes.clone(), None, &OpenOptions::new()).unwrap());
    assert_eq!(table.fields()[0].width, 300);
    check(&table, &[&format!("{}|1|false", "x".repeat(300))]);
    // Where the record length says otherwise, the byte is garbage of an old program.
    bytes = dbase3(0x03, &[(b'C', 44, 1)], &[&record[..45]]);
    let table = Table::from_bytes(bytes, None, &OpenOptions::new()).unwrap();
    assert_eq!(table.fields()[0].width, 44);
}

#[test]
fn memos_of_dbase_4_carry_their_length() {
    let mut memo = vec![0u8; 512 * 2];
    memo[..4].copy_from_slice(&2u32.to_le_bytes());
    memo[20..22].copy_from_slice(&512u16.to_le_bytes());
    memo[512..528].copy_from_slice(b"\xFF\xFF\x08\x00\x10\x00\x00\x00mem\x1a o!!");
    let bytes = dbase3(0x8B, &[(b'M', 10, 0)], &[b"          1", b"           "]);
    let table = Arc::new(Table::from_bytes(bytes, Some(memo), &OpenOptions::new()).unwrap());
    assert_eq!(table.memo().unwrap().dialect(), MemoDialect::Dbt4);
    check(&table, &["mem\u{1a} o!!|1|false", "|2|false"]);
}

#[test]
fn the_bytes_of_a_dbt_tell_its_kind() {
    let dbt4 = |text: &[u8]| {
        let mut block = b"\xFF\xFF\x08\x00".to_vec();
        block.extend(u32::try_from(text.len() + 8).unwrap().to_le_bytes());
        block.extend(text);
        block
    };
    let file = |head: &[u8], blocks: &[Vec<u8>]| {
        let mut memo = head.to_vec();
        for block in blocks {
            memo.resize(memo.len().next_multiple_of(512), 0);
            memo.extend(block);
        }
        memo.resize(memo.len().next_multiple_of(512), 0);
        memo
    };
    let next = b"\x03\0\0\0";
    // Block 8 of an FPT with blocks of 64 bytes is at 512.
    let fpt = file(b"\0\0\0\x10\0\0\0\x40", &[b"\0\0\0\x01\0\0\0\x03fox".to_vec()]);
    for (version, memo, block, dialect, expected) in [
        (
            0x83,
            file(next, &[dbt4(b"four"), dbt4(b"more")]),
            2,
            MemoDialect::Dbt4,
            "more",
        ),
        (
            0x8B,
            file(next, &[b"three\x1A".to_vec(), b"more\x1A".to_vec()]),
            2,
            MemoDialect::Dbt3,
            "more",
        ),
        // The last text has lost its end.
        (
            0x83,
            file(next, &[b"one\x1A".to_vec(), b"last".to_vec()]),
            2,
            MemoDialect::Dbt3,
            "last",
        ),
        (0x83, fpt, 8, MemoDialect::Fpt, "fox"),
    ] {
        let record = format!(" {block:>10}");
        let bytes = dbase3(version, &[(b'M', 10, 0)], &[record.as_bytes()]);
        let table = Arc::new(Table::from_bytes(bytes, Some(memo), &OpenOptions::new()).unwrap());
        assert_eq!(table.memo().unwrap().dialect(), dialect);
        check(&table, &[&format!("{expected}|1|false")]);
    }
}

#[test]
fn memos_of_fox_pro_have_blocks_of_any_size() {
    // Single bytes (1), what SET BLOCKSIZE TO 0 leaves in Visual FoxPro (0), odd sizes.
    for (size, version) in [(1u16, 0xF5), (0, 0x30), (33, 0xF5), (1024, 0xF5)] {
        let unit = usize::from(size.max(1));
        let block = 520usize.div_ceil(unit);
        let mut memo = vec![0u8; block * unit];
        memo[6..8].copy_from_slice(&size.to_be_bytes());
        memo.extend(b"\x00\x00\x00\x01\x00\x00\x00\x05hello");
        let (width, pointer) = match version {
            0x30 => (4, u32::try_from(block).unwrap().to_le_bytes().to_vec()),
            _ => (10, format!("{block:>10}").into_bytes()),
        };
        let mut record = vec![b' '];
        record.extend(pointer);
        let bytes = dbase3(version, &[(b'M', width, 0)], &[&record]);
        let table = Arc::new(Table::from_bytes(bytes, Some(memo), &OpenOptions::new()).unwrap());
        assert_eq!(table.memo().unwrap().block_size() as usize, unit);
        check(&table, &["hello|1|false"]);
    }
}

#[test]
fn values_in_every_form_that_programs_leave() {
    let fields = [(b'N', 6, 2), (b'F', 8, 2), (b'L', 1, 0), (b'D', 8, 0), (b'N', 20, 0)];
    let records: Vec<&[u8]> = vec![
        b"  12.50 1.5E+03T2024022912345678901234567890",
        b" 999999        ?                             ",
        b" ******\0\0\0\0\0\0\0\0y00000000\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
        b" 5     -1.5    n19991231-1234567890123456789 ",
    ];
    let records: Vec<Vec<u8>> = records
        .iter()
        .map(|r| {
            let mut r = r.to_vec();
            r.resize(44, b' ');
            r
        })
        .collect();
    let records: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
    let table = Arc::new(Table::from_bytes(dbase3(0x03, &fields, &records), None, &OpenOptions::new()).unwrap());
    check(
        &table,
        &[
            "12.50|1500.00|true|2024-02-29|12345678901234567890|1|false",
            "999999.00|||||2|false",
            "||true|||3|false",
            "5.00|-1.50|false|1999-12-31|-1234567890123456789|4|false",
        ],
    );
}

#[test]
fn nul_padded_text_and_code_pages() {
    let mut bytes = dbase3(0x03, &[(b'C', 6, 0), (b'C', 12, 0)], &[b" M\x81ll\0\0Stra\xE1e      "]);
    bytes[29] = 0x02;
    let table = Arc::new(Table::from_bytes(bytes.clone(), None, &OpenOptions::new()).unwrap());
    assert_eq!(table.codepage(), CodePage::Cp850);
    check(&table, &["Müll|Straße|1|false"]);
    let options = OpenOptions::new()
        .codepage(CodePage::Iso8859_1)
        .keep_trailing_blanks(true);
    let table = Arc::new(Table::from_bytes(bytes, None, &options).unwrap());
    check(&table, &["M\u{81}ll\0\0|Stra\u{e1}e      |1|false"]);
}

#[test]
fn a_cpg_file_beats_the_language_byte_and_an_option_beats_both() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.dbf");
    let mut bytes = dbase3(0x03, &[(b'C', 2, 0)], &[b" \xC4 "]);
    bytes[29] = 0x02;
    std::fs::write(&path, bytes).unwrap();
    for (cpg, expected) in [
        (None, CodePage::Cp850),
        (Some("UTF-8\r\n"), CodePage::Utf8),
        (Some("1251"), CodePage::Cp1251),
        (Some("OEM 866"), CodePage::Cp866),
        (Some("ANSI 1250"), CodePage::Cp1250),
    ] {
        if let Some(cpg) = cpg {
            std::fs::write(folder.path().join("t.cpg"), cpg).unwrap();
        }
        assert_eq!(
            Table::open(&path, &OpenOptions::new()).unwrap().codepage(),
            expected,
            "{cpg:?}"
        );
        let options = OpenOptions::new().codepage(CodePage::Koi8R);
        assert_eq!(Table::open(&path, &options).unwrap().codepage(), CodePage::Koi8R);
    }
    std::fs::write(folder.path().join("t.cpg"), "klingon").unwrap();
    let strict = OpenOptions::new().strict(true);
    let error = Table::open(&path, &strict).unwrap_err().to_string();
    assert!(error.contains("t.cpg") && error.contains("klingon"), "{error}");
    let table = Table::open(&path, &OpenOptions::new()).unwrap();
    assert_eq!(table.codepage(), CodePage::Cp850);
    let note = table.notes()[0].to_string();
    assert!(
        note.ends_with("t.cpg: no code page is called \"klingon\"; it is passed over"),
        "{note}"
    );
}

#[test]
fn fields_of_the_same_name_are_told_apart() {
    let mut bytes = dbase3(0x03, &[(b'C', 1, 0); 5], &[b" abcde"]);
    for (field, name) in [*b"ID\0", *b"id\0", *b"\0\0\0", *b"ID\0", *b"X\0\0"].iter().enumerate() {
        bytes[32 + 32 * field..][..3].copy_from_slice(name);
    }
    let table = Table::from_bytes(bytes, None, &OpenOptions::new()).unwrap();
    let names: Vec<&str> = table.fields().iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["ID", "id_2", "FIELD3", "ID_3", "X"]);
}

#[test]
fn encrypted_tables_are_refused() {
    let mut bytes = dbase3(0x8B, &[(b'C', 2, 0)], &[b" ab"]);
    bytes[15] = 1;
    assert!(matches!(
        Table::from_bytes(bytes, None, &OpenOptions::new()),
        Err(Error::Unsupported { .. })
    ));
}

/// A table of 32-byte descriptors; fields are letter, width, decimals and are called A, B, ….
fn dbase3(version: u8, fields: &[(u8, u8, u8)], records: &[&[u8]]) -> Vec<u8> {
    let backlink = if (0x30..=0x32).contains(&version) { 263 } else { 0 };
    let length = 32 + 32 * fields.len() + 1 + backlink;
    let mut out = vec![version, 126, 11, 21];
    out.extend(u32::try_from(records.len()).unwrap().to_le_bytes());
    out.extend(u16::try_from(length).unwrap().to_le_bytes());
    out.extend(u16::try_from(records[0].len()).unwrap().to_le_bytes());
    out.resize(32, 0);
    for (name, (letter, width, decimals)) in (b'A'..).zip(fields) {
        let mut descriptor = [0u8; 32];
        (descriptor[0], descriptor[11], descriptor[16], descriptor[17]) = (name, *letter, *width, *decimals);
        out.extend(descriptor);
    }
    out.push(0x0D);
    out.resize(length, 0);
    records.iter().for_each(|record| out.extend(*record));
    out.push(0x1A);
    out
}

/// Compares all rows with `value|value|…|record number|deleted`, an empty text for null.
fn check(table: &Arc<Table>, expected: &[&str]) {
    let scan = Scan::new().deleted(Deleted::Include).system_columns(true);
    let batches: Vec<RecordBatch> = table.scan(scan).unwrap().map(Result::unwrap).collect();
    let mut rows = Vec::new();
    for batch in &batches {
        for row in 0..batch.num_rows() {
            let values = batch
                .columns()
                .iter()
                .map(|c| arrow_cast::display::array_value_to_string(c, row).unwrap());
            rows.push(values.collect::<Vec<_>>().join("|"));
        }
    }
    assert_eq!(rows, expected);
}
