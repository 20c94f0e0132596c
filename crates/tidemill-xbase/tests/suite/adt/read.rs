//! Every value of every type is read as the script wrote it.

use std::sync::Arc;

use serde_json::Value;
use tidemill_xbase::aof::Filter;
use tidemill_xbase::expression::Environment;
use tidemill_xbase::{
    Access, AdtType, CodePage, Deleted, Dialect, Error, Header, MemoDialect, OpenOptions, Scan, SingleRecords, Table,
};

use super::{Golden, bytes, corpus, shown};

#[test]
fn every_value_of_every_type_is_read() {
    let golden = Golden::of("types");
    for access in [Access::Positional, Access::Mapped] {
        let table = Arc::new(
            Table::open(
                corpus("types.adt"),
                &OpenOptions::new().access(access).codepage(CodePage::Cp1252),
            )
            .unwrap(),
        );
        assert_eq!(table.header().dialect, Dialect::Adt);
        assert_eq!(table.memo().unwrap().dialect(), MemoDialect::Adm);
        for (field, described) in table.fields().iter().zip(&golden.fields) {
            let kind = field.adt_type.unwrap();
            assert_eq!(field.name, described[0].as_str().unwrap());
            assert_eq!(
                (kind.name(), field.width as u64),
                (described[1].as_str().unwrap(), described[2].as_u64().unwrap())
            );
            assert_eq!(AdtType::from_name(&kind.name().to_uppercase()), Some(kind));
        }
        for batch_rows in [3, 8192] {
            let scan = Scan::new()
                .deleted(Deleted::Include)
                .system_columns(true)
                .batch_rows(batch_rows);
            let mut records = 0;
            for batch in table.scan(scan).unwrap() {
                let batch = batch.unwrap();
                for row in 0..batch.num_rows() {
                    records += 1;
                    let own = &golden.rows[records - 1];
                    for ((column, value), described) in batch.columns().iter().zip(own).zip(&golden.fields) {
                        assert_eq!(shown(column, row), *value, "record {records}, {described}");
                    }
                    let is_deleted = golden.deleted.contains(&(records as u64));
                    let columns = batch.num_columns();
                    assert_eq!(shown(&batch.columns()[columns - 1], row), Value::Bool(is_deleted));
                }
            }
            assert_eq!(records, golden.rows.len());
        }
        assert_eq!(table.deleted_count().unwrap() as usize, golden.deleted.len());
        let verification = table.verify().unwrap();
        assert_eq!((verification.damage, verification.notes), (vec![], vec![]));
    }
}

#[test]
fn the_header_says_what_is_counted_and_what_is_free() {
    let table = Table::open(corpus("types.adt"), &OpenOptions::new()).unwrap();
    let header = table.header().adt.as_ref().unwrap();
    assert_eq!((header.next_autoincrement, header.row_version), (u32::MAX, 22));
    assert_eq!((header.first_free, header.free_count), (9, 3));
    assert!(!header.in_dictionary && !header.is_dictionary && header.dictionary.is_empty());
    let beginning = bytes("types.adt");
    for len in [40, 64, 512] {
        let found = Header::of_beginning(&beginning[..len]).unwrap();
        assert_eq!(
            (found.dialect, found.record_count, found.record_len),
            (Dialect::Adt, 12, table.header().record_len)
        );
    }
    assert_eq!(Header::of_beginning(&beginning[..39]), None);
}

#[test]
fn single_records_are_those_of_a_scan() {
    let table = Arc::new(Table::open(corpus("types.adt"), &OpenOptions::new()).unwrap());
    let golden = Golden::of("types");
    let fields: Vec<usize> = (0..table.fields().len())
        .filter(|field| !table.fields()[*field].kind.uses_memo())
        .collect();
    let mut single = SingleRecords::new(&table);
    let columns = single.columns(&[5, 6, 2], &fields, Deleted::Skip).unwrap();
    for (column, field) in columns.iter().zip(&fields) {
        assert_eq!(column.len(), 2);
        assert_eq!(shown(column, 0), golden.rows[4][*field]);
        assert_eq!(shown(column, 1), golden.rows[1][*field]);
    }
}

#[test]
fn filters_tell_null_from_empty_and_zero() {
    let table = Arc::new(Table::open(corpus("types.adt"), &OpenOptions::new()).unwrap());
    let live = [1, 2, 3, 4, 5, 7, 8, 10, 11];
    for (condition, records) in [
        ("Count = 0", vec![3]),
        ("Count < 0", vec![1, 5, 7, 8, 10, 11]),
        (".NOT. Count < 0", vec![3, 4]),
        ("Small >= 0 .AND. .NOT. DELETED()", vec![1, 3, 4, 7, 8, 10, 11]),
        ("EMPTY(City)", vec![3]),
        ("City = 'Odense'", vec![1, 7, 8, 10, 11]),
        ("Paid", vec![1, 4, 7, 8, 10, 11]),
        (".NOT. Paid", vec![3, 5]),
        ("Price < 0", vec![1, 5, 7, 8, 10, 11]),
        ("Id = 4294967295", vec![4]),
        ("Day = CTOD('01/01/1970')", vec![3]),
        ("Version > 13", vec![4, 5, 7, 8, 10, 11]),
        ("Wide = 'abcdef'", vec![4]),
        ("Big < 0", vec![4, 5]),
    ] {
        let environment = Environment::new(table.codepage());
        let filter = Filter::new(condition, &table, &environment).unwrap();
        let set = filter.bitmap(&table).unwrap();
        let found: Vec<u32> = live.into_iter().filter(|record| set.contains(*record)).collect();
        assert_eq!(found, records, "{condition}");
    }
}

#[test]
fn what_is_not_known_is_an_error_that_says_so() {
    let bytes = bytes("types.adt");
    let open = |bytes: &[u8], options: &OpenOptions| Table::from_bytes(bytes.to_vec(), None, options);
    // The types whose layout no file has shown, and a memo that is compressed.
    for (field, code, width, said) in [
        (4, 23, 12, "VarCharFox"),
        (5, 24, 10, "VarBinaryFox"),
        (20, 27, 12, "NVarChar"),
        (5, 8, 10, "VarChar"),
    ] {
        let mut bent = bytes.clone();
        let at = 400 + 200 * field;
        bent[at + 129..at + 131].copy_from_slice(&u16::to_le_bytes(code));
        bent[at + 135..at + 137].copy_from_slice(&u16::to_le_bytes(width));
        let error = open(&bent, &OpenOptions::new()).unwrap_err();
        assert!(
            matches!(error, Error::Unsupported { .. }) && error.to_string().contains(said),
            "{error}"
        );
        let table = open(&bent, &OpenOptions::new().recover(true)).unwrap();
        assert_eq!(table.fields().len(), 22);
        assert!(table.damage().iter().any(|damage| damage.why.contains(said)));
    }
    let mut bent = bytes.clone();
    bent[400 + 129] = 99;
    let error = open(&bent, &OpenOptions::new()).unwrap_err().to_string();
    assert!(
        error.contains("field Id") && error.contains("99") && error.contains("529"),
        "{error}"
    );
    // A table under a password, and one of a dictionary, which has a digest too.
    let mut bent = bytes.clone();
    bent[60] = 7;
    let error = open(&bent, &OpenOptions::new()).unwrap_err().to_string();
    assert!(error.contains("encrypted") && error.contains("Advantage"), "{error}");
    bent[88] |= 0x10;
    bent[92..99].copy_from_slice(b".\\a.add");
    let table = open(&bent, &OpenOptions::new()).unwrap();
    assert_eq!(table.header().adt.as_ref().unwrap().dictionary, ".\\a.add");
}
