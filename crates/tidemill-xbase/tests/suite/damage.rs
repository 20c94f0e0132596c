//! Broken files: an error that names file, place, expected and found; while recovering, what can be read and a list of
//! the rest; never a panic.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_schema::DataType;
use tidemill_xbase::{
    Access, CivilDate, CreateOptions, Deleted, Dialect, Error, FieldSpec, OpenOptions, Scan, Table, TableWriter,
};

/// The tables that are cut and bent, with their memos.
const SUBJECTS: [(&str, &str); 7] = [
    ("memo_dbt", "dbt"),
    ("memo_fpt32", "fpt"),
    ("memo_fptsix", "fpt"),
    ("memo_fptflex", "fpt"),
    ("memo_smt", "smt"),
    ("types_vfp", "fpt"),
    ("types_cdx", "fpt"),
];

#[test]
fn a_table_cut_at_every_byte_gives_an_error_or_fewer_rows() {
    for (name, extension) in SUBJECTS {
        let (dbf, memo) = (bytes(name, "dbf"), bytes(name, extension));
        let whole = Table::from_bytes(dbf.clone(), Some(memo.clone()), &OpenOptions::new()).unwrap();
        let (header, stride) = (whole.header().header_len as usize, whole.header().record_len as usize);
        let step = if dbf.len() > 6_000 { 37 } else { 1 };
        for cut in (0..dbf.len()).filter(|cut| *cut <= header + stride || cut % step == 0) {
            let place = format!("{name} cut at {cut}");
            let cut_dbf = dbf.get(..cut).unwrap().to_vec();
            let complete = cut >= header + stride * whole.record_count() as usize;
            let strict = Table::from_bytes(cut_dbf.clone(), Some(memo.clone()), &OpenOptions::new());
            assert_eq!(strict.is_ok(), complete, "{place}");
            if let Ok(table) = Table::from_bytes(cut_dbf, Some(memo.clone()), &OpenOptions::new().recover(true)) {
                let rows = count(&Arc::new(table), &place);
                assert!(rows.1 || complete, "{place}: no damage reported");
                assert!(rows.0 <= cut.saturating_sub(header) / stride, "{place}");
            } else {
                assert!(cut < 32, "{place}: even recovering, the table cannot be opened");
            }
        }
    }
}

#[test]
fn a_memo_file_that_is_cut_gives_an_error_or_null() {
    for (name, extension) in SUBJECTS {
        let (dbf, memo) = (bytes(name, "dbf"), bytes(name, extension));
        let step = if memo.len() > 10_000 { 211 } else { 7 };
        let whole = rows(&dbf, Some(memo.clone()), &OpenOptions::new()).unwrap();
        for cut in (0..600).chain((600..memo.len()).step_by(step)) {
            let place = format!("{name} with its memo cut at {cut}");
            let cut_memo = memo.get(..cut).unwrap().to_vec();
            let strict = rows(&dbf, Some(cut_memo.clone()), &OpenOptions::new());
            if let Ok(strict) = &strict {
                assert!(strict == &whole, "{place}: other values without an error");
            }
            let recovered = rows(&dbf, Some(cut_memo), &OpenOptions::new().recover(true)).unwrap();
            let all = |batches: &[RecordBatch]| batches.iter().map(RecordBatch::num_rows).sum::<usize>();
            assert_eq!(all(&recovered), all(&whole), "{place}");
            for (before, after) in whole.iter().zip(&recovered) {
                for (before, after) in before.columns().iter().zip(after.columns()) {
                    // Where no memo can be read, nothing tells whether they are text.
                    let before = match (before.data_type(), after.data_type()) {
                        (DataType::Utf8, DataType::Binary) => &arrow_cast::cast(before, &DataType::Binary).unwrap(),
                        _ => before,
                    };
                    for row in (0..before.len()).filter(|row| after.is_valid(*row)) {
                        assert_eq!(before.slice(row, 1).as_ref(), after.slice(row, 1).as_ref(), "{place}");
                    }
                }
            }
        }
    }
}

/// Small tables of our own, so that memo files too are cut at every single byte.
#[test]
fn small_tables_and_their_memos_are_cut_at_every_byte() {
    let day = CivilDate {
        year: 2026,
        month: 11,
        day: 21,
    };
    for (format, extension) in [
        (Dialect::Dbase3, "dbt"),
        (Dialect::Dbase4, "dbt"),
        (Dialect::FoxPro2, "fpt"),
        (Dialect::VisualFoxPro, "fpt"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.dbf");
        let specs = [
            FieldSpec::new("NAME", 'C', 9, 0),
            FieldSpec::new("NOTE", 'M', 10, 0).nullable(true),
            FieldSpec::new("QTY", 'N', 6, 1),
        ];
        let names: ArrayRef = Arc::new(StringArray::from(vec!["Anna", "Bob", "Cäsar"]));
        let notes: ArrayRef = Arc::new(StringArray::from(vec![Some("first note"), None, Some("third\r\nnote")]));
        let amounts: ArrayRef = Arc::new(StringArray::from(vec!["1.5", "-2", "1000"]));
        let batch = RecordBatch::try_from_iter([("name", names), ("note", notes), ("qty", amounts)]).unwrap();
        let options = CreateOptions {
            format,
            ..CreateOptions::new(day)
        };
        let mut writer = TableWriter::create(&path, &specs, &options).unwrap();
        writer.write(&batch, None).unwrap();
        writer.finish().unwrap();
        let (dbf, memo) = (
            std::fs::read(&path).unwrap(),
            std::fs::read(path.with_extension(extension)).unwrap(),
        );
        let whole = rows(&dbf, Some(memo.clone()), &OpenOptions::new()).unwrap();
        assert_eq!(whole[0].num_rows(), 3);
        for cut in 0..dbf.len() - 1 {
            let cut_dbf = dbf.get(..cut).unwrap();
            assert!(
                rows(cut_dbf, Some(memo.clone()), &OpenOptions::new()).is_err(),
                "{format} at {cut}"
            );
            if let Ok(recovered) = rows(cut_dbf, Some(memo.clone()), &OpenOptions::new().recover(true)) {
                assert!(
                    recovered.iter().map(RecordBatch::num_rows).sum::<usize>() < 3,
                    "{format} at {cut}"
                );
            }
        }
        for cut in 0..memo.len() {
            let place = format!("{format}, memo at {cut}");
            let cut_memo = Some(memo.get(..cut).unwrap().to_vec());
            // Behind the last memo there is only padding.
            match rows(&dbf, cut_memo.clone(), &OpenOptions::new()) {
                Ok(strict) => assert_eq!(strict, whole, "{place}"),
                Err(error) => assert!(error.to_string().contains("memory."), "{place}: {error}"),
            }
            let recovered = rows(&dbf, cut_memo, &OpenOptions::new().recover(true)).unwrap();
            assert_eq!(
                (recovered[0].column(0), recovered[0].column(2)),
                (whole[0].column(0), whole[0].column(2)),
                "{place}"
            );
        }
    }
}

#[test]
fn any_single_byte_may_be_wrong() {
    for (name, extension) in SUBJECTS {
        let (dbf, memo) = (bytes(name, "dbf"), bytes(name, extension));
        let mut seed = 1u64;
        for at in (0..1_200.min(dbf.len())).chain((1_200..dbf.len()).step_by(29)) {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let mut bent = dbf.clone();
            bent[at] = (seed >> 33) as u8;
            read_anyhow(bent, Some(memo.clone()));
        }
        for at in (0..600.min(memo.len())).chain((600..memo.len()).step_by(193)) {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let mut bent = memo.clone();
            bent[at] = (seed >> 33) as u8;
            read_anyhow(dbf.clone(), Some(bent));
        }
    }
}

#[test]
fn faults_are_named() {
    // What is done to ord_cdx.dbf (six fields, records of 47 bytes from 226 on, 600 of them), and what is said.
    let rows: [(&str, usize, &[u8], &str); 9] = [
        (
            "record count",
            4,
            &[0xFF, 0xFF, 0, 0],
            "record count at byte 4: expected at most 600, what a file of 28427 bytes has room for, found 65535",
        ),
        (
            "record length",
            10,
            &[48, 0],
            "record length at byte 10: expected 47, the flag byte and the widths of the fields, found 48",
        ),
        (
            "short record",
            10,
            &[46, 0],
            "end of field LOG at byte 192: expected at most the record length, 46, found 47",
        ),
        (
            "header length",
            8,
            &[0xFF, 0xFF],
            "header length at byte 8: expected 65535 bytes, found a file of 28427 bytes",
        ),
        (
            "tiny header",
            8,
            &[20, 0],
            "header length at byte 8: expected at least 32 bytes, found 20",
        ),
        (
            "field type",
            32 + 11,
            b"x",
            "type of a field at byte 32: expected one of C N F",
        ),
        (
            "field width",
            32 * 5 + 16,
            &[9],
            "end of field LOG at byte 192: expected at most the record length, 47, found 48",
        ),
        (
            "number",
            226 + 47 + 1,
            b"12a     ",
            "record 2, field ID: expected a number, found \"12a     \"",
        ),
        (
            "date",
            226 + 1 + 8 + 15 + 4 + 10,
            b"20230230",
            "record 1, field DAT: expected a day of the calendar, found \"20230230\"",
        ),
    ];
    let whole = bytes("ord_cdx", "dbf");
    for (what, at, patch, expected) in rows {
        let mut bent = whole.clone();
        bent[at..at + patch.len()].copy_from_slice(patch);
        let error = self::rows(&bent, None, &OpenOptions::new()).unwrap_err().to_string();
        assert!(
            error.starts_with("memory.dbf: ") && error.contains(expected),
            "{what}: {error}"
        );
        // Recovering reads on, and says what was left out.
        let table = Arc::new(Table::from_bytes(bent, None, &OpenOptions::new().recover(true)).unwrap());
        assert!(count(&table, what).1, "{what}");
        assert!(!table.verify().unwrap().damage.is_empty(), "{what}");
    }
}

#[test]
fn a_bad_value_becomes_null_and_a_range_and_its_neighbours_stay() {
    let mut bent = bytes("ord_cdx", "dbf");
    let begin = 226 + 2 * 47 + 1;
    bent[begin..begin + 8].copy_from_slice(b"garbage!");
    let table = Arc::new(Table::from_bytes(bent, None, &OpenOptions::new().recover(true)).unwrap());
    let batch = table
        .scan(Scan::new().deleted(Deleted::Include))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let ids = batch.column(0);
    assert_eq!((ids.null_count(), ids.is_null(2)), (1, true));
    let damage = table.damage();
    assert_eq!(damage.len(), 1);
    assert_eq!(
        (damage[0].begin, damage[0].end, damage[0].records.clone()),
        (321, 329, Some(2..3))
    );
    assert_eq!(damage[0].why, "field ID: expected a number, found \"garbage!\"");
    let verification = table.verify().unwrap();
    assert_eq!((verification.good_records, verification.damage), (599, damage));
}

#[test]
fn memo_pointers_and_lengths_beyond_the_file_are_named() {
    let (dbf, memo) = (bytes("memo_fpt32", "dbf"), bytes("memo_fpt32", "fpt"));
    let mut bent = dbf.clone();
    bent[130 + 6..130 + 16].copy_from_slice(b"    999999");
    let error = rows(&bent, Some(memo.clone()), &OpenOptions::new())
        .unwrap_err()
        .to_string();
    let expected = "memory.dbf: record 1, field NOTE: expected a memo within the file's 29393 bytes, found a pointer to block 999999 \
                    (byte 31999968 of memory.memo)";
    assert_eq!(error, expected);
    let mut long = memo.clone();
    let block = 748 * 32;
    long[block + 4..block + 8].copy_from_slice(&[0x7F, 0, 0, 0]);
    let error = rows(&dbf, Some(long), &OpenOptions::new()).unwrap_err().to_string();
    assert!(
        error.contains("record 1, field NOTE") && error.contains("a memo of 2130706432 bytes"),
        "{error}"
    );
    let mut letters = dbf;
    letters[130 + 6..130 + 16].copy_from_slice(b"  12x     ");
    let error = rows(&letters, Some(memo), &OpenOptions::new()).unwrap_err().to_string();
    assert!(
        error.contains("expected a block number, found \"  12x     \""),
        "{error}"
    );
}

#[test]
fn a_list_of_free_blocks_that_loops_is_found() {
    let mut memo = vec![0u8; 512 * 4];
    memo[..4].copy_from_slice(&2u32.to_le_bytes());
    memo[20..22].copy_from_slice(&512u16.to_le_bytes());
    memo[512..523].copy_from_slice(b"\xFF\xFF\x08\x00\x0B\x00\x00\x00abc");
    for (from, to) in [(2usize, 3u32), (3, 2)] {
        memo[512 * from..512 * from + 4].copy_from_slice(&to.to_le_bytes());
    }
    let mut dbf = vec![0x8B, 126, 1, 1, 1, 0, 0, 0, 65, 0, 11, 0];
    dbf.resize(32, 0);
    dbf.push(b'M');
    dbf.resize(32 + 11, 0);
    dbf.extend([b'M', 0, 0, 0, 0, 10]);
    dbf.resize(64, 0);
    dbf.extend(b"\x0D          1");
    let table = Arc::new(Table::from_bytes(dbf, Some(memo), &OpenOptions::new()).unwrap());
    let batch = table.scan(Scan::new()).unwrap().next().unwrap().unwrap();
    assert_eq!(batch.column(0).as_string::<i32>().value(0), "abc");
    let damage = table.verify().unwrap().damage;
    assert!(
        damage.iter().any(|d| d
            .why
            .contains("expected a list of free blocks with an end, found a loop")),
        "{damage:?}"
    );
}

#[test]
fn a_missing_memo_file_matters_only_to_memo_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.dbf");
    std::fs::write(&path, bytes("memo_dbt", "dbf")).unwrap();
    let table = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
    let rows = |batches: tidemill_xbase::Batches| batches.map(|b| b.unwrap().num_rows()).sum::<usize>();
    let live = (table.record_count() - table.deleted_count().unwrap()) as usize;
    assert_eq!(rows(table.scan(Scan::new().projection(vec![0])).unwrap()), live);
    let error = table.scan(Scan::new()).unwrap_err();
    assert!(matches!(error, Error::MissingMemo { .. }), "{error}");
    assert!(
        error.to_string().contains("field NOTE") && error.to_string().contains("notes.dbt"),
        "{error}"
    );
    let table = Arc::new(Table::open(&path, &OpenOptions::new().recover(true)).unwrap());
    let batch = table.scan(Scan::new()).unwrap().next().unwrap().unwrap();
    assert_eq!(batch.column(1).null_count(), live);
    assert_eq!(table.damage().len(), 2);
    // The name's case does not matter.
    std::fs::write(folder.path().join("NOTES.Dbt"), bytes("memo_dbt", "dbt")).unwrap();
    let table = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
    assert_eq!(rows(table.scan(Scan::new()).unwrap()), live);
}

#[test]
fn a_file_that_is_shortened_while_it_is_read_gives_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for recover in [false, true] {
        let path = folder.path().join("big.dbf");
        std::fs::write(&path, bytes("big_cdx", "dbf")).unwrap();
        let options = OpenOptions::new().access(Access::Positional).recover(recover);
        let table = Arc::new(Table::open(&path, &options).unwrap());
        let mut batches = table.scan(Scan::new()).unwrap();
        let first = batches.next().unwrap().unwrap().num_rows();
        std::fs::OpenOptions::new()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(1_200_000)
            .unwrap();
        let rest: Result<Vec<RecordBatch>, Error> = batches.collect();
        if recover {
            let rows = first + rest.unwrap().iter().map(RecordBatch::num_rows).sum::<usize>();
            assert!((52_000..70_000).contains(&rows), "{rows}");
            assert!(
                table.damage()[0].why.contains("shortened to 1200000 bytes"),
                "{:?}",
                table.damage()
            );
        } else {
            let error = rest.unwrap_err().to_string();
            assert!(
                error.contains("big.dbf: record ") && error.contains("then the end of the file"),
                "{error}"
            );
        }
    }
}

fn rows(dbf: &[u8], memo: Option<Vec<u8>>, options: &OpenOptions) -> Result<Vec<RecordBatch>, Error> {
    let table = Arc::new(Table::from_bytes(dbf.to_vec(), memo, options)?);
    table.scan(Scan::new().deleted(Deleted::Include))?.collect()
}

/// Reads everything in every mode; only that it ends matters.
fn read_anyhow(dbf: Vec<u8>, memo: Option<Vec<u8>>) {
    for recover in [false, true] {
        let options = OpenOptions::new().recover(recover);
        let Ok(table) = Table::from_bytes(dbf.clone(), memo.clone(), &options) else {
            continue;
        };
        let table = Arc::new(table);
        for batch in table
            .scan(Scan::new().deleted(Deleted::Include).system_columns(true))
            .into_iter()
            .flatten()
        {
            if let Err(error) = batch {
                assert!(!recover, "an error while recovering: {error}");
            }
        }
        table.verify().unwrap();
    }
}

/// The rows that can be read while recovering, and whether damage was reported.
fn count(table: &Arc<Table>, place: &str) -> (usize, bool) {
    let scan = Scan::new().deleted(Deleted::Include);
    let rows = table
        .scan(scan)
        .unwrap()
        .map(|b| b.unwrap_or_else(|e| panic!("{place}: {e}")).num_rows())
        .sum();
    (rows, !table.damage().is_empty())
}

fn bytes(name: &str, extension: &str) -> Vec<u8> {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../corpus/xbase")
        .join(format!("{name}.{extension}"));
    std::fs::read(path).unwrap()
}
