//! An ADI: alone, and over a table whose fields its expressions name by number.

#![no_main]

mod index;

use libfuzzer_sys::fuzz_target;
use tidemill_xbase::index::{Index, IndexDialect, IndexOptions};
use tidemill_xbase::{CodePage, KeySettings, OpenOptions, Table, TableIndex};

const TABLE: &[u8] = include_bytes!("../../corpus/adt/orders.adt");

fuzz_target!(|input: &[u8]| {
    index::run(input, IndexDialect::Adi);
    let Some((file, _)) = input.split_last_chunk::<16>() else {
        return;
    };
    let index = Index::from_bytes(file.to_vec(), IndexDialect::Adi, &IndexOptions::new());
    let options = OpenOptions::new().codepage(CodePage::Cp1252);
    if let (Ok(index), Ok(table)) = (index, Table::from_bytes(TABLE.to_vec(), None, &options))
        && let Ok(index) = TableIndex::of(index, &table, &KeySettings::new(CodePage::Cp1252))
    {
        let _ = index.verify(&table);
    }
});
