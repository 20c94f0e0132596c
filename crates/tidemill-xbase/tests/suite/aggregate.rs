//! Aggregates say what adding up the columns of a scan says, from the records and from the cache.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch};
use arrow_schema::DataType;
use arrow_select::concat::concat;
use proptest::prelude::*;
use tidemill_xbase::aggregate::{Quantity, Selected, Summary, Top};
use tidemill_xbase::aof::{Filter, FilterOrders};
use tidemill_xbase::expression::Environment;
use tidemill_xbase::{
    Access, Bitmap, Blank, CivilDate, CodePage, ColumnCache, Columns, CreateOptions, Deleted, FieldSpec, OpenOptions,
    Scan, Sharing, Table, TableWriter,
};

use crate::tables::{Random, RandomTable};

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn aggregates_are_those_of_the_columns(seed: u64) {
        let mut random = Random::new(seed);
        let random = &mut random;
        let is_damaged = random.below(4) == 0;
        let source = RandomTable::new(random, 300, is_damaged);
        let blank = *random.pick(&[Blank::Null, Blank::Zero]);
        let recovers = random.below(2) == 0;
        let options = OpenOptions::new().codepage(CodePage::Cp437).blank(blank).recover(recovers);
        let table = Arc::new(Table::from_bytes(source.bytes.clone(), None, &options).unwrap());
        let columns = Columns::new(&table, &ColumnCache::new(1 << 20), Sharing::Shared).unwrap();
        let mut set = Bitmap::new(source.rows);
        for recno in 1..=source.rows {
            set.set(recno, random.below(3) > 0);
        }
        let mut undeleted = Bitmap::new(source.rows);
        for (recno, bytes) in source.records() {
            undeleted.set(recno, bytes[0] != b'*');
        }
        let all = Bitmap::full(source.rows);
        for (selected, members) in [
            (Selected::All, &all),
            (Selected::Undeleted, &undeleted),
            (Selected::Of(&set), &set),
            // Once more, from the cache.
            (Selected::Undeleted, &undeleted),
        ] {
            prop_assert_eq!(columns.count(selected).unwrap(), u64::from(members.count()));
            for (field, column) in source.columns.iter().enumerate() {
                match column.letter {
                    b'N' | b'F' | b'I' | b'B' | b'Y' => check_numbers(&columns, field, selected, members)?,
                    b'C' => check_texts(&columns, &source, field, selected, members)?,
                    _ => prop_assert!(columns.summary(field, selected).is_err()),
                }
            }
        }
    }
}

/// Sum, least, greatest and the top of a numeric field.
fn check_numbers(columns: &Columns, field: usize, selected: Selected<'_>, set: &Bitmap) -> Result<(), TestCaseError> {
    let table = columns.table();
    let summary = columns.summary(field, selected);
    let Ok(values) = values(table, field) else {
        // A record that is not selected does not matter.
        if matches!(selected, Selected::All) {
            prop_assert!(summary.is_err());
        }
        return Ok(());
    };
    let mut numbers: Vec<(u32, Quantity)> = (1..).zip(values).filter_map(|(recno, n)| Some((recno, n?))).collect();
    numbers.retain(|(recno, _)| set.contains(*recno));
    let summary = summary.unwrap();
    prop_assert_eq!(summary.count, numbers.len() as u64);
    let compare = |a: &Quantity, b: &Quantity| match (a, b) {
        (Quantity::Decimal { unscaled: a, .. }, Quantity::Decimal { unscaled: b, .. }) => a.cmp(b),
        (a, b) => a.to_f64().total_cmp(&b.to_f64()),
    };
    let is_exact = numbers.iter().all(|(_, n)| matches!(n, Quantity::Decimal { .. }));
    if is_exact && !numbers.is_empty() {
        prop_assert_eq!(summary.sum, total(&numbers));
        prop_assert_eq!(summary.min, numbers.iter().map(|(_, n)| *n).min_by(compare));
        prop_assert_eq!(summary.max, numbers.iter().map(|(_, n)| *n).max_by(compare));
    }
    let top: Vec<u32> = columns.top(field, 5, Top::Greatest, selected).unwrap();
    numbers.sort_by(|(_, a), (_, b)| compare(b, a));
    prop_assert_eq!(top, numbers.iter().take(5).map(|(recno, _)| *recno).collect::<Vec<_>>());
    numbers.sort_by(|(r, a), (s, b)| compare(a, b).then(r.cmp(s)));
    let least = columns.top(field, 3, Top::Least, selected).unwrap();
    prop_assert_eq!(
        least,
        numbers.iter().take(3).map(|(recno, _)| *recno).collect::<Vec<_>>()
    );
    Ok(())
}

/// The groups of a character field, with the sum of each numeric one.
fn check_texts(
    columns: &Columns,
    source: &RandomTable,
    field: usize,
    selected: Selected<'_>,
    set: &Bitmap,
) -> Result<(), TestCaseError> {
    let table = columns.table();
    let texts = column(table, field).unwrap();
    let mut expected: BTreeMap<Option<String>, Vec<u32>> = BTreeMap::new();
    for (recno, text) in (1..)
        .zip(texts.as_string::<i32>())
        .filter(|(recno, _)| set.contains(*recno))
    {
        expected.entry(text.map(str::to_owned)).or_default().push(recno);
    }
    let decode = |text: Option<Vec<u8>>| text.map(|text| CodePage::Cp437.decode(&text));
    let groups = columns.groups(field, None, selected).unwrap();
    let counts: BTreeMap<_, _> = groups
        .into_iter()
        .map(|group| (decode(group.text), group.count))
        .collect();
    let expected_counts = expected
        .iter()
        .map(|(text, recnos)| (text.clone(), recnos.len() as u64));
    prop_assert_eq!(counts, expected_counts.collect::<BTreeMap<_, _>>());
    for (index, summed) in source
        .columns
        .iter()
        .enumerate()
        .filter(|(_, c)| matches!(c.letter, b'N' | b'I'))
    {
        let Ok(values) = values(table, index) else { continue };
        // Doubles are not added up by groups.
        if values.iter().any(|value| matches!(value, Some(Quantity::Double(_)))) {
            continue;
        }
        for group in columns.groups(field, Some(index), selected).unwrap() {
            let recnos = &expected[&decode(group.text)];
            let numbers = recnos
                .iter()
                .filter_map(|recno| Some((*recno, values[*recno as usize - 1]?)));
            let numbers: Vec<_> = numbers.collect();
            let summary = group.summary.unwrap();
            prop_assert_eq!(summary.count, numbers.len() as u64, "{}", &summed.name);
            if !numbers.is_empty() {
                prop_assert_eq!(summary.sum, total(&numbers));
            }
        }
    }
    Ok(())
}

fn total(numbers: &[(u32, Quantity)]) -> Quantity {
    let mut sum = (0, 0);
    for (_, number) in numbers {
        let Quantity::Decimal { unscaled, scale } = number else {
            panic!("{number:?}")
        };
        sum = (sum.0 + unscaled, *scale);
    }
    Quantity::Decimal {
        unscaled: sum.0,
        scale: sum.1,
    }
}

fn column(table: &Arc<Table>, field: usize) -> tidemill_xbase::Result<ArrayRef> {
    let scan = Scan::new().projection(vec![field]).deleted(Deleted::Include);
    let batches: Vec<_> = table.scan(scan)?.collect::<tidemill_xbase::Result<_>>()?;
    let empty = arrow_array::new_empty_array(table.schema().field(field).data_type());
    let arrays = batches
        .iter()
        .map(|batch| Arc::clone(batch.column(0)))
        .chain([empty])
        .collect::<Vec<_>>();
    let arrays: Vec<&dyn Array> = arrays.iter().map(|array| &**array).collect();
    Ok(concat(&arrays)?)
}

fn values(table: &Arc<Table>, field: usize) -> tidemill_xbase::Result<Vec<Option<Quantity>>> {
    let array = column(table, field)?;
    let scale = |scale: i8| u8::try_from(scale).unwrap();
    let value = |row| match array.data_type() {
        DataType::Int64 => (i128::from(array.as_primitive::<Int64Type>().value(row)), 0).into(),
        DataType::Int32 => (i128::from(array.as_primitive::<Int32Type>().value(row)), 0).into(),
        DataType::Decimal128(_, s) => (array.as_primitive::<Decimal128Type>().value(row), scale(*s)).into(),
        _ => Number(Quantity::Double(array.as_primitive::<Float64Type>().value(row))),
    };
    Ok((0..array.len())
        .map(|row| array.is_valid(row).then(|| value(row).0))
        .collect())
}

struct Number(Quantity);

impl From<(i128, u8)> for Number {
    fn from((unscaled, scale): (i128, u8)) -> Self {
        Self(Quantity::Decimal { unscaled, scale })
    }
}

/// A field whose numbers have more digits than it declares holds doubles, and they follow other ways.
#[test]
fn the_top_of_doubles_leaves_out_what_cannot_be_read() {
    let cells = [b"1.5", b"*\0*", b"2.5", b"   "];
    let mut bytes = vec![0; 65];
    bytes[..12].copy_from_slice(&[3, 125, 1, 1, 4, 0, 0, 0, 65, 0, 4, 0]);
    bytes[32..34].copy_from_slice(b"F4");
    bytes[43] = b'N';
    bytes[48] = 3;
    bytes[64] = 13;
    for cell in cells {
        bytes.push(b' ');
        bytes.extend_from_slice(cell);
    }
    bytes.push(0x1A);
    for (recovers, blank, expected) in [
        (true, Blank::Null, Some(vec![3, 1])),
        (true, Blank::Zero, Some(vec![3, 1, 4])),
        (false, Blank::Null, None),
    ] {
        let options = OpenOptions::new()
            .codepage(CodePage::Cp437)
            .blank(blank)
            .recover(recovers);
        let table = Arc::new(Table::from_bytes(bytes.clone(), None, &options).unwrap());
        assert_eq!(table.schema().field(0).data_type(), &DataType::Float64);
        let columns = Columns::new(&table, &ColumnCache::new(1 << 20), Sharing::Shared).unwrap();
        assert_eq!(columns.top(0, 5, Top::Greatest, Selected::All).ok(), expected);
        let count = columns.summary(0, Selected::All).ok().map(|summary| summary.count);
        assert_eq!(count, expected.map(|records| records.len() as u64));
    }
}

#[test]
fn a_change_by_another_program_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.dbf");
    copy_at_rest("big_cdx.dbf", &path);
    let cache = ColumnCache::new(16 << 20);
    let (id, columns) = open(&path, &cache, Sharing::Shared);
    let before = columns.summary(id, Selected::All).unwrap();
    assert_eq!(before.sum, decimal(70_000 * 70_001 / 2));
    let kept = cache.bytes();
    assert!(kept > 0);
    // Another handle finds what the first one kept.
    let (_, other) = open(&path, &cache, Sharing::Shared);
    assert_eq!(other.summary(id, Selected::All).unwrap(), before);
    assert_eq!(cache.bytes(), kept);

    let environment = Environment::new(CodePage::Cp437);
    let is_two = Filter::new("ID = 2", columns.table(), &environment).unwrap();
    let twos = |columns: &Columns| {
        is_two
            .bitmap_in(columns, &FilterOrders::none())
            .unwrap()
            .iter()
            .collect::<Vec<_>>()
    };
    assert_eq!([twos(&columns), twos(&columns)], [[2], [2]]);
    assert!(cache.bytes() > kept + 4 * 70_000, "no words are kept");
    assert_eq!(
        columns.top(id, 2, Top::Greatest, Selected::All).unwrap(),
        [70_000, 69_999]
    );

    overwrite_first_id(&path, columns.table(), 2);
    std::thread::sleep(Duration::from_millis(40));
    for columns in [&columns, &other] {
        assert_eq!(twos(columns), [1, 2]);
        let after = columns.summary(id, Selected::All).unwrap();
        assert_eq!(after.sum, decimal(70_000 * 70_001 / 2 + 1));
    }
}

#[test]
fn a_change_of_our_own_costs_only_the_chunk_that_it_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.dbf");
    copy_at_rest("big_cdx.dbf", &path);
    let cache = ColumnCache::new(16 << 20);
    let (id, columns) = open(&path, &cache, Sharing::Exclusive);
    let arrays = columns.column(id).unwrap();
    assert_eq!(
        arrays.iter().map(|array| array.len()).collect::<Vec<_>>(),
        [65_536, 70_000 - 65_536]
    );
    let environment = Environment::new(CodePage::Cp437);
    let is_nine = Filter::new("ID = 9", columns.table(), &environment).unwrap();
    let nines = || {
        is_nine
            .bitmap_in(&columns, &FilterOrders::none())
            .unwrap()
            .iter()
            .collect::<Vec<_>>()
    };
    // What is asked twice is kept.
    assert_eq!([nines(), nines()], [[9], [9]]);
    overwrite_first_id(&path, columns.table(), 9);
    // Nobody said so yet.
    assert_eq!(nines(), [9]);
    assert!(Arc::ptr_eq(&columns.column(id).unwrap()[0], &arrays[0]));
    columns.records_changed(0..1);
    assert_eq!([nines(), nines()], [[1, 9], [1, 9]]);
    let after = columns.column(id).unwrap();
    assert_eq!(after[0].as_primitive::<Int64Type>().value(0), 9);
    assert!(Arc::ptr_eq(&after[1], &arrays[1]), "the other chunk was made anew");
    columns.records_changed(70_000..70_000);
    assert!(Arc::ptr_eq(&columns.column(id).unwrap()[0], &after[0]));
    columns.records_changed(65_535..65_537);
    let last = columns.column(id).unwrap();
    assert!(!Arc::ptr_eq(&last[0], &after[0]) && !Arc::ptr_eq(&last[1], &after[1]));

    // What is kept when the table is opened alone is only what is still so.
    overwrite_first_id(&path, columns.table(), 3);
    std::thread::sleep(Duration::from_millis(40));
    let (_, again) = open(&path, &cache, Sharing::Exclusive);
    assert_eq!(again.column(id).unwrap()[0].as_primitive::<Int64Type>().value(0), 3);
}

#[test]
fn the_least_recently_used_columns_go_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.dbf");
    copy_at_rest("big_cdx.dbf", &path);
    let both = ColumnCache::new(1 << 30);
    let (id, columns) = open(&path, &both, Sharing::Exclusive);
    let code = columns
        .table()
        .fields()
        .iter()
        .position(|field| field.name == "CODE")
        .unwrap();
    let columns_of = |columns: &Columns, field| columns.column(field).unwrap();
    assert_eq!(columns_of(&columns, id).len(), columns_of(&columns, code).len());

    // Both columns do not fit: the first chunk of the numbers goes for the texts, and so on in turn.
    let limit = both.bytes() - 1;
    let cache = ColumnCache::new(limit);
    let (_, columns) = open(&path, &cache, Sharing::Exclusive);
    let (numbers, texts) = (columns_of(&columns, id), columns_of(&columns, code));
    assert!(cache.bytes() <= limit, "{}", cache.bytes());
    let again = columns_of(&columns, code);
    assert!(texts.iter().zip(&again).all(|(a, b)| Arc::ptr_eq(a, b)));
    assert!(!Arc::ptr_eq(&columns_of(&columns, id)[0], &numbers[0]));
    assert!(cache.bytes() <= limit, "{}", cache.bytes());
    cache.clear();
    assert_eq!(cache.bytes(), 0);
}

fn decimal(unscaled: i128) -> Quantity {
    Quantity::Decimal { unscaled, scale: 0 }
}

fn open(path: &Path, cache: &Arc<ColumnCache>, sharing: Sharing) -> (usize, Columns) {
    let table = Arc::new(Table::open(path, &OpenOptions::new().access(Access::Positional)).unwrap());
    let id = table.fields().iter().position(|field| field.name == "ID").unwrap();
    (id, Columns::new(&table, cache, sharing).unwrap())
}

/// A copy of a file of the corpus that nobody has written to for a while.
fn copy_at_rest(name: &str, to: &Path) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../corpus/xbase")
        .join(name);
    std::fs::copy(from, to).unwrap();
    std::thread::sleep(Duration::from_millis(40));
}

fn overwrite_first_id(path: &Path, table: &Table, id: u32) {
    let field = table.fields().iter().find(|field| field.name == "ID").unwrap();
    let mut bytes = std::fs::read(path).unwrap();
    let at = table.header().header_len as usize + field.offset;
    bytes[at..at + field.width].copy_from_slice(format!("{id:>width$}", width = field.width).as_bytes());
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_summary_of_nothing_has_no_mean() {
    let source = RandomTable::new(&mut Random::new(7), 0, false);
    let table = Arc::new(Table::from_bytes(source.bytes.clone(), None, &OpenOptions::new()).unwrap());
    let columns = Columns::new(&table, &ColumnCache::new(0), Sharing::Exclusive).unwrap();
    for field in 0..source.columns.len() {
        if let Ok(Summary { count, min, .. }) = columns.summary(field, Selected::All) {
            assert_eq!((count, min), (0, None));
            assert_eq!(columns.summary(field, Selected::All).unwrap().average(), None);
        }
    }
    assert!(columns.summary(99, Selected::All).is_err());
}

#[test]
fn a_number_that_the_column_does_not_hold_is_no_part_of_a_sum() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.dbf");
    let day = CivilDate {
        year: 2026,
        month: 1,
        day: 1,
    };
    let fields = [FieldSpec::new("N", 'N', 6, 1)];
    let mut writer = TableWriter::create(&path, &fields, &CreateOptions::new(day)).unwrap();
    // It stands behind the records that tell the type of the column.
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![2; 130]));
    let batch = RecordBatch::try_from_iter([("N", numbers)]).unwrap();
    writer.write(&batch, None).unwrap();
    writer.finish().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.len() - 7 - 1;
    bytes[last + 1..last + 7].copy_from_slice(b"   1e9");
    let sum = |recovers| {
        let options = OpenOptions::new().recover(recovers);
        let table = Arc::new(Table::from_bytes(bytes.clone(), None, &options).unwrap());
        let columns = Columns::new(&table, &ColumnCache::new(0), Sharing::Exclusive).unwrap();
        columns.summary(0, Selected::All)
    };
    let refused = sum(false).unwrap_err().to_string();
    assert!(
        refused.contains("record 130, field N") && refused.contains("1e9"),
        "{refused}"
    );
    let Summary { count, sum, .. } = sum(true).unwrap();
    let expected = Quantity::Decimal {
        unscaled: 2580,
        scale: 1,
    };
    assert_eq!((count, sum), (129, expected));
}
