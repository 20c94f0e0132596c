//! Compressed tables of DATASUS.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use tidemill_xbase::{CivilDate, CodePage, EditOptions, Error, OpenOptions, Scan, Table, TableEditor};

fn golden(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/xbase/imploded")).join(name)
}

fn cities(table: &Arc<Table>) -> Vec<String> {
    let batches: Vec<RecordBatch> = table.scan(Scan::new()).unwrap().map(Result::unwrap).collect();
    let column = batches.iter().flat_map(|batch| batch.column(0).as_string::<i32>());
    column.map(|text| text.unwrap_or_default().to_owned()).collect()
}

const CITIES: [&str; 6] = ["Bonn", "Berlin", "Köln", "São Paulo", "Rio de Janeiro", "Bonn"];

#[test]
fn a_compressed_table_is_read() {
    for name in ["cities.dbc", "coded.dbc"] {
        let table = Arc::new(Table::open(golden(name), &OpenOptions::new()).unwrap());
        assert!(table.is_compressed());
        assert_eq!(table.codepage(), CodePage::Cp1252);
        assert_eq!(cities(&table), CITIES);
        assert_eq!(table.verify().unwrap().damage, []);
        let notes = table.notes();
        assert!(
            notes
                .iter()
                .any(|note| note.what.contains("compressed table of DATASUS")),
            "{notes:?}"
        );
        let bytes = fs::read(golden(name)).unwrap();
        let in_memory = Arc::new(Table::from_bytes(bytes, None, &OpenOptions::new()).unwrap());
        assert_eq!(cities(&in_memory), CITIES);
    }
}

#[test]
fn a_compressed_table_is_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cities.dbc");
    fs::copy(golden("cities.dbc"), &path).unwrap();
    let today = CivilDate {
        year: 2026,
        month: 11,
        day: 26,
    };
    let error = TableEditor::open(&path, &EditOptions::new(today)).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains("compressed"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), fs::read(golden("cities.dbc")).unwrap());
}

#[test]
fn a_compressed_table_that_is_cut_or_changed_is_an_error() {
    let whole = fs::read(golden("coded.dbc")).unwrap();
    let begin = 97;
    for cut in begin..whole.len() {
        assert!(
            Table::from_bytes(whole[..cut].to_vec(), None, &OpenOptions::new()).is_err(),
            "{cut}"
        );
    }
    for at in begin..whole.len() {
        for bit in 0..8 {
            let mut bent = whole.clone();
            bent[at] ^= 1 << bit;
            // The bits behind the end say nothing.
            match Table::from_bytes(bent, None, &OpenOptions::new()) {
                Ok(table) => assert_eq!(cities(&Arc::new(table)), CITIES, "{at} {bit}"),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
    // A header that promises more than memory has is believed by nobody.
    let mut huge = whole;
    huge[4..8].fill(0xFF);
    huge[10..12].fill(0xFF);
    let error = Table::from_bytes(huge, None, &OpenOptions::new()).unwrap_err();
    assert!(error.to_string().contains("at most"), "{error}");
}
