//! The hexdumps of the format page are what the page says they are.

use std::sync::Arc;

use serde_json::json;
use tidemill_xbase::{CodePage, Deleted, OpenOptions, Scan, Table};

use super::shown;
use crate::docs::hexdump;

#[test]
fn the_table_and_its_memos_are_decoded_from_their_page() {
    let (adt, adm) = (
        hexdump("adt.md", "```hexdump adt\n"),
        hexdump("adt.md", "```hexdump adm\n"),
    );
    let options = OpenOptions::new().codepage(CodePage::Cp1252);
    let table = Arc::new(Table::from_bytes(adt, Some(adm), &options).unwrap());
    assert_eq!(table.verify().unwrap().damage, []);
    let rows = |deleted| {
        let batch = table
            .scan(Scan::new().deleted(deleted))
            .unwrap()
            .next()
            .unwrap()
            .unwrap();
        let rows = 0..batch.num_rows();
        let row = |row| {
            batch
                .columns()
                .iter()
                .map(|column| shown(column, row))
                .collect::<Vec<_>>()
        };
        rows.map(row).collect::<Vec<_>>()
    };
    let first = vec![json!(1), json!("Müller"), json!(7), json!("paid in März")];
    let third = vec![json!(3), json!(null), json!(null), json!(null)];
    assert_eq!(rows(Deleted::Skip), [first, third]);
    assert_eq!(rows(Deleted::Only)[0][1], json!("gone"));
    assert_eq!(table.header().adt.as_ref().unwrap().first_free, 2);
}
