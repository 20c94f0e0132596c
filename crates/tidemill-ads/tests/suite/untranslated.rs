//! Text that statements put into fields of Visual FoxPro that are exempt from code page translation (NOCPTRANS).

use std::sync::Arc;

use arrow_array::cast::AsArray;
use tidemill_ads::sql::{Prepared, StatementOptions, Streamed};
use tidemill_ads::{Connection, Settings};
use tidemill_xbase::{CivilDate, CodePage, CreateOptions, Dialect, FieldSpec, OpenOptions, Scan, Table, TableWriter};

#[test]
fn text_is_put_in_the_code_page_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.dbf");
    let day = CivilDate {
        year: 2026,
        month: 11,
        day: 27,
    };
    let options = CreateOptions {
        format: Dialect::VisualFoxPro,
        codepage: CodePage::Cp1252,
        ..CreateOptions::new(day)
    };
    let flagged = |name: &str, letter, width| FieldSpec::new(name, letter, width, 0).binary(true);
    let fields = [
        flagged("CODE", 'C', 8),
        flagged("VARIES", 'V', 8),
        flagged("NOTE", 'M', 4),
    ];
    TableWriter::create(&path, &fields, &options).unwrap().finish().unwrap();
    for looks in [false, true] {
        let mut connection = Connection::open(folder.path()).unwrap();
        let mut statements = StatementOptions::default();
        statements.table.looks_at_text = looks;
        for sql in [
            "INSERT INTO t ( code, varies, note ) VALUES ( 'Stra\u{DF}e', 'M\u{FC}ller', 'B\u{E4}r' )",
            "UPDATE t SET code = 'Gr\u{F6}\u{DF}e   ' WHERE note IS NOT NULL",
        ] {
            let settings = Settings::default();
            let mut tables = connection.tables(&settings, &statements);
            let prepared = Arc::new(Prepared::new(sql, &mut tables).unwrap());
            match prepared.stream(&mut tables, &[]) {
                Ok(Streamed::Rows(_)) => panic!("{sql}"),
                Ok(_) => {}
                Err(error) => panic!("{sql}: {error}"),
            }
        }
    }
    let table = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
    let batch = table.scan(Scan::new()).unwrap().next().unwrap().unwrap();
    for row in 0..2 {
        let texts = batch
            .columns()
            .iter()
            .map(|column| column.as_string::<i32>().value(row));
        assert_eq!(
            texts.collect::<Vec<_>>(),
            ["Gr\u{F6}\u{DF}e", "M\u{FC}ller", "B\u{E4}r"]
        );
    }
}
