//! What an editor tells of its changes: enough to keep a copy of the records and a filter current, and no more.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use proptest::prelude::*;
use tempfile::TempDir;
use tidemill_xbase::aggregate::Selected;
use tidemill_xbase::aof::{Aof, Filter, FilterOrders};
use tidemill_xbase::expression::Environment;
use tidemill_xbase::{
    ChangeNumber, Changes, CivilDate, ColumnCache, Columns, CreateOptions, EditOptions, Error, FieldSpec, LogOptions,
    OpenMode, OpenOptions, Savepoint, Sharing, Table, TableEditor, TableWriter, Transaction, TransactionLog, Value,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 21,
};

#[derive(Debug, Clone)]
enum Step {
    Append(i64),
    Batch(u8, i64),
    Replace(u32, i64),
    Refused(u32),
    Delete(u32),
    Recall(u32),
    Pack,
    Zap,
    Begin,
    Savepoint,
    BackToSavepoint,
    Rollback,
    Commit,
    Look,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..40i64).prop_map(Step::Append),
        1 => (0..5u8, 0..40i64).prop_map(|(rows, number)| Step::Batch(rows, number)),
        4 => (1..20u32, 0..40i64).prop_map(|(record, number)| Step::Replace(record, number)),
        1 => (1..20u32).prop_map(Step::Refused),
        2 => (1..20u32).prop_map(Step::Delete),
        1 => (1..20u32).prop_map(Step::Recall),
        1 => Just(Step::Pack),
        1 => Just(Step::Zap),
        2 => Just(Step::Begin),
        1 => Just(Step::Savepoint),
        1 => Just(Step::BackToSavepoint),
        1 => Just(Step::Rollback),
        1 => Just(Step::Commit),
        4 => Just(Step::Look),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_copy_and_a_filter_that_follow_what_is_told_are_current(
        steps in prop::collection::vec(step(), 1..80),
        has_log: bool,
        is_shared: bool,
    ) {
        let folder = Folder::new();
        let log = has_log.then(|| TransactionLog::open(folder.path("t.tmlog"), &LogOptions::new()).unwrap());
        let mode = if is_shared { OpenMode::Shared } else { OpenMode::Exclusive };
        let mut table = folder.edit(mode, log.as_ref());
        let mut follower = Follower::new(&mut table);
        let (mut touched, mut may_be_all) = (BTreeSet::new(), false);
        let (mut transaction, mut savepoint): (Option<Transaction>, Option<Savepoint>) = (None, None);
        for step in steps {
            if is_shared {
                table.lock_records(1..=table.record_count().max(20)).unwrap();
            }
            let has = |table: &TableEditor, record: u32| record <= table.record_count();
            match step {
                Step::Append(number) => {
                    touched.insert(table.append_values(&[(1, Value::Integer(number))]).unwrap());
                }
                Step::Batch(rows, number) => touched.extend(table.append_batch(&batch(rows, number)).unwrap()),
                Step::Replace(record, number) if has(&table, record) => {
                    table.replace(record, &[(1, Value::Integer(number))]).unwrap();
                    touched.insert(record);
                }
                Step::Refused(record) if has(&table, record) => {
                    let refused = table.replace(record, &[(1, Value::Integer(1_000_000))]);
                    prop_assert!(matches!(refused, Err(Error::Value(_))));
                }
                Step::Delete(record) if has(&table, record) => {
                    table.delete(record).unwrap();
                    touched.insert(record);
                }
                Step::Recall(record) if has(&table, record) => {
                    table.recall(record).unwrap();
                    touched.insert(record);
                }
                Step::Pack if !is_shared && transaction.is_none() => {
                    table.pack().unwrap();
                    may_be_all = true;
                }
                Step::Zap if !is_shared => {
                    table.zap().unwrap();
                    may_be_all = true;
                }
                Step::Begin if transaction.is_none() => transaction = log.as_ref().map(|log| log.begin().unwrap()),
                Step::Savepoint => savepoint = transaction.as_mut().map(|t| t.savepoint().unwrap()),
                Step::BackToSavepoint => {
                    if let (Some(transaction), Some(savepoint)) = (&mut transaction, savepoint) {
                        transaction.rollback_to(savepoint).unwrap();
                        may_be_all = true;
                    }
                }
                Step::Rollback => {
                    savepoint = None;
                    if let Some(transaction) = transaction.take() {
                        transaction.rollback().unwrap();
                        may_be_all = true;
                    }
                }
                Step::Commit => {
                    savepoint = None;
                    if let Some(transaction) = transaction.take() {
                        transaction.commit().unwrap();
                    }
                }
                Step::Look => {
                    let changes = follower.follow(&mut table);
                    match changes {
                        Changes::All => prop_assert!(may_be_all),
                        Changes::Records(ranges) => {
                            prop_assert!(ranges.windows(2).all(|pair| *pair[0].end() + 1 < *pair[1].start()));
                            let told: BTreeSet<u32> = ranges.into_iter().flatten().collect();
                            prop_assert!(told.is_subset(&touched), "{told:?} of {touched:?}");
                        }
                    }
                    touched.clear();
                    may_be_all = false;
                    follower.check(&table)?;
                }
                _ => {}
            }
        }
        follower.follow(&mut table);
        follower.check(&table)?;
    }
}

#[test]
fn records_that_others_append_are_told_once_they_are_noticed() {
    let folder = Folder::new();
    let (mut own, mut other) = (folder.edit(OpenMode::Shared, None), folder.edit(OpenMode::Shared, None));
    let mut seen = own.change_number();
    for _ in 0..3 {
        let record = other.append().unwrap();
        other.unlock_record(record).unwrap();
    }
    assert_eq!(own.changes_since(&mut seen), Changes::Records(vec![]));
    assert_eq!(own.refresh().unwrap(), 3);
    assert_eq!(own.changes_since(&mut seen), Changes::Records(vec![1..=3]));
    let record = other.append().unwrap();
    other.unlock_record(record).unwrap();
    assert_eq!(own.append().unwrap(), 5);
    assert_eq!(own.changes_since(&mut seen), Changes::Records(vec![4..=5]));
}

#[test]
fn a_moment_of_another_editor_says_nothing() {
    let folder = Folder::new();
    let first = folder.edit(OpenMode::Exclusive, None);
    let mut seen = first.change_number();
    drop(first);
    let second = folder.edit(OpenMode::Exclusive, None);
    assert_eq!(second.changes_since(&mut seen), Changes::All);
    assert_eq!(second.changes_since(&mut seen), Changes::Records(vec![]));
}

#[test]
fn a_rollback_that_took_nothing_of_a_table_back_changes_nothing_in_it() {
    let folder = Folder::new();
    let log = TransactionLog::open(folder.path("t.tmlog"), &LogOptions::new()).unwrap();
    let mut table = folder.edit(OpenMode::Exclusive, Some(&log));
    let mut seen = table.change_number();
    log.begin().unwrap().rollback().unwrap();
    assert!(table.replace(1, &[]).is_err());
    assert_eq!(table.changes_since(&mut seen), Changes::Records(vec![]));
    let transaction = log.begin().unwrap();
    table.append().unwrap();
    assert_eq!(table.changes_since(&mut seen), Changes::Records(vec![1..=1]));
    transaction.rollback().unwrap();
    assert_eq!(table.changes_since(&mut seen), Changes::All);
}

#[test]
fn what_is_kept_of_columns_is_current_once_it_is_told() {
    let folder = Folder::new();
    let mut table = folder.edit(OpenMode::Exclusive, None);
    for number in 1..=4 {
        table.append_values(&[(1, Value::Integer(number))]).unwrap();
    }
    table.flush().unwrap();
    let reader = Arc::new(Table::open(table.path(), &OpenOptions::new()).unwrap());
    let columns = Columns::new(&reader, &ColumnCache::new(1 << 20), Sharing::Exclusive).unwrap();
    let mut seen = table.change_number();
    assert_eq!(columns.count(Selected::Undeleted).unwrap(), 4);
    table.delete(2).unwrap();
    table.flush().unwrap();
    assert_eq!(columns.count(Selected::Undeleted).unwrap(), 4, "nobody has told");
    let Changes::Records(changed) = table.changes_since(&mut seen) else {
        panic!("one record was changed");
    };
    for records in changed {
        columns.records_changed(records.start() - 1..*records.end());
    }
    assert_eq!(columns.count(Selected::Undeleted).unwrap(), 3);
}

/// Keeps what was made of the records of a table.
struct Follower {
    seen: ChangeNumber,
    records: Vec<Vec<u8>>,
    filter: Filter,
    aof: Aof,
}

impl Follower {
    fn new(table: &mut TableEditor) -> Self {
        let (seen, opened) = (table.change_number(), Arc::new(table.table().unwrap()));
        let filter = Filter::new("NUM > 20", &opened, &Environment::new(opened.codepage())).unwrap();
        let aof = Aof::new(&opened, filter.clone(), &FilterOrders::none()).unwrap();
        let records = records(table);
        Self {
            seen,
            records,
            filter,
            aof,
        }
    }

    fn follow(&mut self, table: &mut TableEditor) -> Changes {
        let changes = table.changes_since(&mut self.seen);
        match &changes {
            Changes::All => {
                let opened = Arc::new(table.table().unwrap());
                self.aof = Aof::new(&opened, self.filter.clone(), &FilterOrders::none()).unwrap();
                self.records = records(table);
            }
            Changes::Records(ranges) => {
                for record in ranges.iter().cloned().flatten() {
                    let bytes = table.record_bytes(record).unwrap();
                    self.aof.record_changed(record, &bytes).unwrap();
                    let at = record as usize - 1;
                    self.records.resize(self.records.len().max(at + 1), Vec::new());
                    self.records[at] = bytes;
                }
            }
        }
        changes
    }

    fn check(&self, table: &TableEditor) -> Result<(), TestCaseError> {
        let records = records(table);
        prop_assert_eq!(&self.records, &records);
        let number = |bytes: &[u8]| std::str::from_utf8(&bytes[6..11]).unwrap().trim().parse().unwrap_or(0);
        let members = (1..).zip(&records).filter(|(_, bytes)| number(bytes) > 20);
        let members: Vec<u32> = members.map(|(record, _)| record).collect();
        prop_assert_eq!(self.aof.records().iter().collect::<Vec<_>>(), members);
        prop_assert_eq!(self.aof.records().len(), table.record_count());
        Ok(())
    }
}

fn records(table: &TableEditor) -> Vec<Vec<u8>> {
    let records = (1..=table.record_count()).map(|record| table.record_bytes(record).unwrap());
    records.collect()
}

fn batch(rows: u8, number: i64) -> RecordBatch {
    let rows = usize::from(rows);
    let names: ArrayRef = Arc::new(StringArray::from(vec!["batch"; rows]));
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![number; rows]));
    RecordBatch::try_from_iter([("NAME", names), ("NUM", numbers)]).unwrap()
}

/// A folder with an empty table.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(TempDir::new().unwrap());
        let fields = [FieldSpec::new("NAME", 'C', 5, 0), FieldSpec::new("NUM", 'N', 5, 0)];
        let table = TableWriter::create(folder.path("t.dbf"), &fields, &CreateOptions::new(TODAY));
        table.unwrap().finish().unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn edit(&self, mode: OpenMode, log: Option<&TransactionLog>) -> TableEditor {
        let options = EditOptions::new(TODAY)
            .mode(mode)
            .lock_timeout(Duration::from_millis(20));
        let options = log.map_or(options.clone(), |log| options.log(log));
        TableEditor::open(self.path("t.dbf"), &options).unwrap()
    }
}
