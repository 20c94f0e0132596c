//! Scans: projections, filters, limits and ranges give what a naive evaluation over all rows gives.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type};
use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_cast::display::array_value_to_string;
use arrow_schema::ArrowError;
use proptest::prelude::*;
use tidemill_xbase::{Access, Bitmap, Deleted, Error, OpenOptions, RowFilter, Scan, Table};

/// A scan as data, so that it can be evaluated twice.
#[derive(Debug, Clone)]
struct Wish {
    columns: Vec<usize>,
    deleted: Deleted,
    records: Range<u32>,
    within: Option<BTreeSet<u32>>,
    batch_rows: usize,
    limit: Option<usize>,
    /// Keep rows where this column's text is longer than that, nulls left out.
    filter: Option<(usize, usize)>,
}

fn wish(fields: usize) -> impl Strategy<Value = Wish> {
    let deleted = prop_oneof![Just(Deleted::Skip), Just(Deleted::Include), Just(Deleted::Only)];
    let columns = proptest::collection::vec(0..fields, 0..5);
    let filter = proptest::option::of((0..fields, 0usize..12));
    let within = proptest::option::of(proptest::collection::btree_set(1u32..70, 0..30));
    (
        columns,
        deleted,
        (0u32..70, 0u32..70),
        within,
        1usize..80,
        proptest::option::of(0usize..50),
        filter,
    )
        .prop_map(|(columns, deleted, (a, b), within, batch_rows, limit, filter)| Wish {
            columns,
            deleted,
            records: a.min(b)..a.max(b),
            within,
            batch_rows,
            limit,
            filter,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scans_equal_a_naive_evaluation(subject in 0..SUBJECTS.len(), mapped: bool, wish in wish(3)) {
        let access = if mapped { Access::Mapped } else { Access::Positional };
        let table = open(SUBJECTS[subject], access);
        let mut scan = Scan::new()
            .projection(wish.columns.clone())
            .deleted(wish.deleted)
            .records(wish.records.clone())
            .batch_rows(wish.batch_rows)
            .system_columns(true);
        if let Some(limit) = wish.limit {
            scan = scan.limit(limit);
        }
        if let Some(within) = &wish.within {
            let mut set = Bitmap::new(70);
            within.iter().for_each(|record| set.set(*record, true));
            scan = scan.within(Arc::new(set));
        }
        if let Some((column, longer)) = wish.filter {
            // The second column is only there to show that the predicate gets the columns in its own order.
            scan = scan.row_filter(RowFilter::new(vec![column, 0], move |batch| {
                assert_eq!(batch.num_columns(), 2);
                Ok(batch_texts(batch).map(|texts| texts[0].as_ref().map(|t| t.len() > longer)).collect())
            }));
        }
        let batches: Vec<RecordBatch> = table.scan(scan).unwrap().map(Result::unwrap).collect();
        prop_assert!(batches.iter().all(|b| (1..=wish.batch_rows).contains(&b.num_rows())));
        let rows: Vec<Vec<Option<String>>> = batches.iter().flat_map(|b| batch_texts(b).collect::<Vec<_>>()).collect();
        prop_assert_eq!(rows, naive(&table, &wish));
    }
}

fn naive(table: &Arc<Table>, wish: &Wish) -> Vec<Vec<Option<String>>> {
    let all: Vec<RecordBatch> = table
        .scan(Scan::new().deleted(Deleted::Include).system_columns(true))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let fields = table.fields().len();
    all.iter()
        .flat_map(|b| batch_texts(b).collect::<Vec<_>>())
        .enumerate()
        .filter(|(i, _)| wish.records.contains(&u32::try_from(*i).unwrap()))
        .filter(|(i, _)| {
            wish.within
                .as_ref()
                .is_none_or(|set| set.contains(&(u32::try_from(*i).unwrap() + 1)))
        })
        .map(|(_, row)| row)
        .filter(|row| match wish.deleted {
            Deleted::Skip => row[fields + 1].as_deref() == Some("false"),
            Deleted::Only => row[fields + 1].as_deref() == Some("true"),
            _ => true,
        })
        .filter(|row| {
            wish.filter
                .is_none_or(|(column, longer)| row[column].as_ref().is_some_and(|t| t.len() > longer))
        })
        .take(wish.limit.unwrap_or(usize::MAX))
        .map(|row| {
            wish.columns
                .iter()
                .copied()
                .chain([fields, fields + 1])
                .map(|c| row[c].clone())
                .collect()
        })
        .collect()
}

#[test]
fn without_columns_only_rows_are_counted() {
    let table = open("ord_cdx", Access::Positional);
    for (deleted, filtered) in [(Deleted::Include, false), (Deleted::Skip, false), (Deleted::Skip, true)] {
        let mut scan = Scan::new().projection(vec![]).deleted(deleted).limit(500);
        if filtered {
            scan = scan.row_filter(RowFilter::new(vec![0], |batch| {
                Ok(BooleanArray::from(vec![true; batch.num_rows()]))
            }));
        }
        let batches = table.scan(scan).unwrap();
        assert_eq!(batches.schema().fields().len(), 0);
        assert_eq!(batches.map(|b| b.unwrap().num_rows()).sum::<usize>(), 500);
    }
}

#[test]
fn records_of_a_set_are_read_alone() {
    let mut bytes =
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/xbase/big_cdx.dbf")).unwrap();
    let (header, stride) = (
        usize::from(bytes[8]) + 256 * usize::from(bytes[9]),
        usize::from(bytes[10]),
    );
    let wanted = [5, 6, 30_000, 69_999];
    // Whoever looks at another record meets what is no number.
    for (record, bytes) in (1u32..).zip(bytes[header..].chunks_exact_mut(stride)) {
        if !wanted.contains(&record) {
            bytes[1..].fill(b'?');
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.dbf");
    std::fs::write(&path, bytes).unwrap();
    let mut set = Bitmap::new(70_000);
    wanted.iter().for_each(|record| set.set(*record, true));
    let set = Arc::new(set);
    for access in [Access::Positional, Access::Mapped] {
        let table = Arc::new(Table::open(&path, &OpenOptions::new().access(access)).unwrap());
        for (records, expected) in [(0..70_000, &wanted[..]), (6..69_999, &wanted[2..]), (7..20_000, &[])] {
            let scan = Scan::new()
                .records(records)
                .within(Arc::clone(&set))
                .system_columns(true);
            let batches: Vec<RecordBatch> = table.scan(scan).unwrap().map(Result::unwrap).collect();
            let found = batches.iter().flat_map(|batch| {
                let records = batch.column(batch.num_columns() - 2);
                records.as_primitive::<UInt32Type>().values().to_vec()
            });
            assert_eq!(found.collect::<Vec<_>>(), expected);
        }
    }
}

#[test]
fn only_picked_rows_are_decoded() {
    // Record 2 is garbage; a filter that leaves it out never meets it.
    let mut bytes =
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/xbase/ord_cdx.dbf")).unwrap();
    bytes[226 + 47 + 28..226 + 47 + 38].copy_from_slice(b"not a num!");
    let table = Arc::new(Table::from_bytes(bytes, None, &OpenOptions::new()).unwrap());
    let filter = |keep: fn(i64) -> bool| {
        RowFilter::new(vec![0], move |batch| {
            Ok(batch
                .column(0)
                .as_primitive::<Int64Type>()
                .iter()
                .map(|id| id.map(keep))
                .collect())
        })
    };
    let scan = Scan::new().deleted(Deleted::Include).system_columns(true);
    let rows: usize = table
        .scan(scan.row_filter(filter(|id| id != 2)))
        .unwrap()
        .map(|b| b.unwrap().num_rows())
        .sum();
    assert_eq!(rows, 599);
    let scan = Scan::new()
        .deleted(Deleted::Include)
        .projection(vec![3])
        .row_filter(filter(|id| id < 3));
    assert!(
        table
            .scan(scan)
            .unwrap()
            .next()
            .unwrap()
            .unwrap_err()
            .to_string()
            .contains("record 2, field NUM")
    );
}

#[test]
fn tables_are_shared_and_batches_are_sent_between_threads() {
    fn shared<T: Send + Sync + 'static>() {}
    fn sent<T: Send + 'static>() {}
    shared::<Table>();
    sent::<tidemill_xbase::Batches>();
    let table = open("upd_cdx", Access::Positional);
    let counts = [0..800, 800..2000].map(|records| {
        let batches = table
            .scan(Scan::new().deleted(Deleted::Include).records(records))
            .unwrap();
        std::thread::spawn(move || batches.map(|b| b.unwrap().num_rows()).sum::<usize>())
    });
    let counts = counts.map(|thread| thread.join().unwrap());
    assert_eq!(counts, [800, 795]);
}

#[test]
fn a_failed_scan_ends() {
    let table = open("ord_cdx", Access::Positional);
    let refuse = RowFilter::new(vec![0], |_| Err(ArrowError::ComputeError("no".to_owned())));
    let mut batches = table.scan(Scan::new().row_filter(refuse)).unwrap();
    assert!(matches!(batches.next(), Some(Err(Error::Arrow(_)))));
    assert!(batches.next().is_none());
    for scan in [
        Scan::new().projection(vec![6]),
        Scan::new().batch_rows(0),
        Scan::new().row_filter(RowFilter::new(vec![9], |_| unreachable!())),
    ] {
        assert!(matches!(table.scan(scan), Err(Error::Misuse(_))));
    }
}

#[test]
fn large_memos_end_a_batch_early_and_lose_no_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.dbf");
    let day = tidemill_xbase::CivilDate {
        year: 2026,
        month: 11,
        day: 21,
    };
    let fields = [
        tidemill_xbase::FieldSpec::new("ID", 'N', 5, 0),
        tidemill_xbase::FieldSpec::new("NOTE", 'M', 10, 0),
    ];
    let mut writer =
        tidemill_xbase::TableWriter::create(&path, &fields, &tidemill_xbase::CreateOptions::new(day)).unwrap();
    let notes: Vec<String> = (0..10).map(|i| i.to_string().repeat(10 << 20)).collect();
    let ids = arrow_array::Int64Array::from_iter_values(0..10);
    let columns: [(&str, Arc<dyn Array>); 2] = [
        ("id", Arc::new(ids)),
        ("note", Arc::new(arrow_array::StringArray::from(notes))),
    ];
    writer
        .write(&RecordBatch::try_from_iter(columns).unwrap(), None)
        .unwrap();
    writer.finish().unwrap();
    let table = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
    for filtered in [false, true] {
        let mut scan = Scan::new().system_columns(true);
        if filtered {
            scan = scan.row_filter(RowFilter::new(vec![1], |batch| {
                Ok(BooleanArray::from(vec![true; batch.num_rows()]))
            }));
        }
        let (mut next, mut count) = (0, 0);
        for batch in table.scan(scan).unwrap() {
            let batch = batch.unwrap();
            count += 1;
            for row in 0..batch.num_rows() {
                assert_eq!(batch.column(0).as_primitive::<Int64Type>().value(row), next);
                let note = batch.column(1).as_string::<i32>().value(row);
                assert_eq!((note.len(), note.starts_with(&next.to_string())), (10 << 20, true));
                assert_eq!(
                    i64::from(batch.column(2).as_primitive::<UInt32Type>().value(row)),
                    next + 1
                );
                next += 1;
            }
        }
        assert_eq!(next, 10);
        assert!(count > 1);
    }
}

const SUBJECTS: [&str; 3] = ["memo_fpt32", "upd_cdx", "types_vfp"];

fn open(name: &str, access: Access) -> Arc<Table> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../corpus/xbase/{name}.dbf"));
    Arc::new(Table::open(path, &OpenOptions::new().access(access)).unwrap())
}

/// The rows of a batch as text, `None` for null.
fn batch_texts(batch: &RecordBatch) -> impl Iterator<Item = Vec<Option<String>>> + '_ {
    let text = |column: &Arc<dyn Array>, row| {
        column
            .is_valid(row)
            .then(|| array_value_to_string(column, row).unwrap())
    };
    (0..batch.num_rows()).map(move |row| batch.columns().iter().map(|c| text(c, row)).collect())
}
