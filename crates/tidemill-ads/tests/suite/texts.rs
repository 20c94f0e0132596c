//! Texts that a program gives fields.

use tidemill_ads::{Connection, ErrorCode, Settings, TableOptions};
use tidemill_xbase::CodePage;

#[test]
fn a_text_that_is_too_long_is_cut_between_letters() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings::default();
    let mut connection = Connection::open(folder.path()).unwrap();
    for (codepage, text, kept) in [
        (CodePage::Cp932, "abc日本", "abc日"),
        (CodePage::Cp932, "abcd日本", "abcd "),
        (CodePage::Cp1252, "äöüßéè", "äöüßé"),
    ] {
        let options = TableOptions {
            codepage: Some(codepage),
            ..TableOptions::default()
        };
        let area = connection
            .create_table("cut", "NAME,Character,5", &options, &settings)
            .unwrap();
        let table = connection.area(area).unwrap();
        table.append_record().unwrap();
        let mut bytes = Vec::new();
        table.codepage().encode(text, &mut bytes).unwrap();
        let error = table.set_text_cut(0, &bytes, &settings).unwrap_err();
        assert_eq!(error.code(), ErrorCode::DataTruncated, "{error}");
        table.write_record().unwrap();
        let stored = table.text(0, &settings).unwrap().into_owned();
        assert_eq!(codepage.decode(&stored), kept);
        connection.close_table(area).unwrap();
    }
}
