//! Broken ADT files: an error that names file, place, expected and found; while recovering, what can be read; never a panic.

use std::sync::Arc;

use tidemill_xbase::{Deleted, Error, OpenOptions, Scan, Table};

use super::bytes;
use crate::tables::Random;

fn open(adt: Vec<u8>, adm: Vec<u8>, options: &OpenOptions) -> Result<Arc<Table>, Error> {
    Table::from_bytes(adt, Some(adm), options).map(Arc::new)
}

fn rows(table: &Arc<Table>) -> Result<usize, Error> {
    let batches = table.scan(Scan::new().deleted(Deleted::Include))?;
    batches.map(|batch| batch.map(|batch| batch.num_rows())).sum()
}

#[test]
fn a_table_cut_at_every_byte_gives_an_error_or_fewer_rows() {
    let (adt, adm) = (bytes("types.adt"), bytes("types.adm"));
    let whole = open(adt.clone(), adm.clone(), &OpenOptions::new()).unwrap();
    let (header, stride) = (whole.header().header_len as usize, whole.header().record_len as usize);
    let step = 7;
    for cut in (0..adt.len()).filter(|cut| *cut <= 700 || cut % step == 0) {
        let cut_adt = adt[..cut].to_vec();
        let error = open(cut_adt.clone(), adm.clone(), &OpenOptions::new()).unwrap_err();
        assert!(matches!(error, Error::Corrupt(_)), "cut at {cut}: {error}");
        match open(cut_adt, adm.clone(), &OpenOptions::new().recover(true)) {
            Ok(table) => {
                assert!(
                    rows(&table).unwrap() <= cut.saturating_sub(header) / stride,
                    "cut at {cut}"
                );
                assert!(!table.damage().is_empty(), "cut at {cut}");
            }
            Err(error) => assert!(cut < 400, "cut at {cut}: {error}"),
        }
    }
}

#[test]
fn a_memo_file_cut_anywhere_gives_an_error_or_null() {
    let (adt, adm) = (bytes("types.adt"), bytes("types.adm"));
    for cut in (0..16).chain((16..adm.len()).step_by(61)) {
        let cut_adm = adm[..cut].to_vec();
        let strict = open(adt.clone(), cut_adm.clone(), &OpenOptions::new()).and_then(|table| rows(&table));
        assert!(strict.is_err(), "cut at {cut}");
        let table = open(adt.clone(), cut_adm, &OpenOptions::new().recover(true)).unwrap();
        assert_eq!(rows(&table).unwrap(), 12, "cut at {cut}");
    }
}

#[test]
fn bent_bytes_never_panic_and_never_give_more_rows() {
    let (adt, adm) = (bytes("types.adt"), bytes("types.adm"));
    let seed = 39;
    let mut random = Random::new(seed);
    for round in 0..400 {
        let (mut adt, mut adm) = (adt.clone(), adm.clone());
        for _ in 0..=random.below(4) {
            let file = if random.below(3) == 0 { &mut adm } else { &mut adt };
            let reach = if random.below(2) == 0 {
                64.min(file.len() as u64)
            } else {
                file.len() as u64
            };
            let at = usize::try_from(random.below(reach)).unwrap();
            file[at] = *random.pick(&[0, 1, 2, 4, 0x7F, 0x80, 0xFE, 0xFF]);
        }
        for options in [
            OpenOptions::new(),
            OpenOptions::new().recover(true),
            OpenOptions::new().null_for_bad_values(true),
            OpenOptions::new().strict(true),
        ] {
            let len = adt.len();
            if let Ok(table) = open(adt.clone(), adm.clone(), &options) {
                let stride = table.header().record_len as usize;
                let rows = rows(&table).unwrap_or_default();
                assert!(rows * stride <= len, "seed {seed}, round {round}");
                let _ = table.verify().unwrap();
            }
        }
    }
}

#[test]
fn a_list_of_free_records_that_leads_astray_is_damage() {
    let adt = bytes("types.adt");
    let table = open(adt.clone(), bytes("types.adm"), &OpenOptions::new()).unwrap();
    let (header, stride) = (table.header().header_len as usize, table.header().record_len as usize);
    let link = |record: usize| header + (record - 1) * stride + 1;
    for (at, value, said) in [
        (40, 13_u32, "expected a record up to 12, found 13"),
        (40, 1, "expected a deleted record, found record 1, which is not"),
        (40, 0, "expected 0, as many as the list has, found 3"),
        (48, 2, "expected 3, as many as the list has, found 2"),
        (link(9), 9, "expected a list with an end, found a circle"),
        (link(9), 12, "expected 2, as many as the list has, found 3"),
    ] {
        let mut bent = adt.clone();
        bent[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let table = open(bent, bytes("types.adm"), &OpenOptions::new()).unwrap();
        let damage = table.verify().unwrap().damage;
        assert!(
            damage.len() == 1 && damage[0].why.contains(said),
            "{at} {value}: {damage:?}"
        );
    }
    // A list that leaves a deleted record out, and a flag that is none.
    let mut bent = adt.clone();
    bent[40..44].copy_from_slice(&6_u32.to_le_bytes());
    bent[48] = 2;
    let table = open(bent, bytes("types.adm"), &OpenOptions::new()).unwrap();
    let damage = table.verify().unwrap().damage;
    assert!(
        damage[0]
            .why
            .contains("expected 3 records, as many as are deleted, found 2"),
        "{damage:?}"
    );
    let mut bent = adt;
    bent[header] = b' ';
    let table = open(bent, bytes("types.adm"), &OpenOptions::new()).unwrap();
    let damage = table.verify().unwrap().damage;
    assert!(
        damage[0]
            .why
            .contains("deletion flag: expected 00, 04, 01, 05 or 07, found 20"),
        "{damage:?}"
    );
}
