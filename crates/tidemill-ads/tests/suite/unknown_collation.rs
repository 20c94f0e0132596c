//! Tables whose index is sorted by an alphabet that nobody knows, as programs open them.

use tidemill_ads::{Connection, ErrorCode, SeekKey, SeekKind, Settings, TableOptions};
use tidemill_xbase::index::{Collation, OrderSpec};
use tidemill_xbase::{CodePage, KeySettings, OpenOptions, Table, build_index};

#[test]
fn such_a_table_opens_and_is_walked_and_nothing_is_sought_in_its_orders() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings::default();
    let mut connection = Connection::open(folder.path()).unwrap();
    let options = TableOptions {
        codepage: Some(CodePage::Cp850),
        ..TableOptions::default()
    };
    let area = connection
        .create_table("words", "WORD,Character,8;NO,Numeric,4,0", &options, &settings)
        .unwrap();
    let words: [&[u8]; 6] = [b"cent", b"\x84hre", b"apfel", b"dorf", b"\x94re", b"bach"];
    for word in words {
        connection.append(area, &settings).unwrap();
        let known = connection.area(area).unwrap();
        known.set_text(0, word, &settings).unwrap();
        known.write_record().unwrap();
    }
    connection.close_table(area).unwrap();

    // ä behind c, ö behind b.
    let alphabet = ["ABÖCÄDEFGHIJKLMNOPQRSTUVWXYZ", "aböcädefghijklmnopqrstuvwxyz"];
    let collation = Collation::from_alphabet(CodePage::Cp850, alphabet[0], alphabet[1]);
    let path = folder.path().join("words.dbf");
    let table = Table::open(&path, &OpenOptions::new().codepage(CodePage::Cp850)).unwrap();
    let keys = KeySettings::new(CodePage::Cp850).collation(collation);
    let orders = [OrderSpec::new("WORD", "WORD")];
    build_index(path.with_extension("cdx"), &table, &orders, &keys).unwrap();

    let area = connection.open_table("words", &options, &settings).unwrap();
    let order = connection.area(area).unwrap().orders().next().unwrap();
    let mut records = Vec::new();
    connection.go_top(area, Some(order), &settings).unwrap();
    while !connection.area(area).unwrap().is_eof() {
        records.push(connection.area(area).unwrap().record_number().unwrap());
        connection.skip(area, Some(order), 1, &settings).unwrap();
    }
    assert_eq!(records, [3, 6, 5, 1, 2, 4]);
    let refused = connection
        .seek(area, order, SeekKey::Text(b"dorf"), SeekKind::Hard, &settings)
        .unwrap_err();
    assert_eq!(refused.code(), ErrorCode::UnsupportedCollation, "{refused}");
    // A field that no key is made of is changed, the other is not.
    connection.go_to(area, 1, &settings).unwrap();
    let known = connection.area(area).unwrap();
    known.set_number(1, 7.0).unwrap();
    known.write_record().unwrap();
    known.set_text(0, b"neu", &settings).unwrap();
    assert_eq!(
        known.write_record().unwrap_err().code(),
        ErrorCode::UnsupportedCollation
    );
}
