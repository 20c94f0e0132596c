//! Records that are read one by one, as look-ups do.
//!
//! A scan is made for many records: it has a schema, a window of a mebibyte and a plan for the fields. Here a record is found in a
//! block of the file that is read once and kept, and only its fields are decoded.
//!
//! What this module does not do: it does not look whether the file has changed. It shows records as they were when their blocks
//! were read; after a change the table is opened again.

use std::sync::Arc;

use arrow_array::{ArrayRef, new_empty_array};
use arrow_select::concat::concat;

use crate::column::{self, Context, Rows};
use crate::error::{Error, Result};
use crate::memo::MemoReader;
use crate::scan::Deleted;
use crate::table::Table;

/// Single records of a table, and the blocks of its file in which they are.
#[derive(Debug)]
pub struct SingleRecords {
    table: Arc<Table>,
    blocks: Vec<Option<Box<[u8]>>>,
    kept_bytes: usize,
    window: Vec<u8>,
}

impl SingleRecords {
    /// Nothing is read yet.
    pub fn new(table: &Arc<Table>) -> Self {
        Self {
            table: Arc::clone(table),
            blocks: Vec::new(),
            kept_bytes: 0,
            window: Vec::new(),
        }
    }

    /// A column for each of these fields, with a row for each of these records, counted from 1, that `deleted` lets through. The
    /// fields are indices into [`Table::fields`], none of which has its values in the memo file.
    ///
    /// # Errors
    /// As a scan; [`Error::Misuse`] for a record or a field that the table does not have, and for a field of memos.
    pub fn columns(&mut self, records: &[u32], fields: &[usize], deleted: Deleted) -> Result<Vec<ArrayRef>> {
        let table = Arc::clone(&self.table);
        let mut columns: Vec<Vec<ArrayRef>> = vec![Vec::with_capacity(records.len()); fields.len()];
        for record in records {
            let bytes = self.record(&table, *record)?;
            let is_deleted = table.deletion().is_deleted(bytes);
            if deleted != Deleted::Include && is_deleted != (deleted == Deleted::Only) {
                continue;
            }
            let rows = Rows {
                bytes,
                stride: bytes.len(),
                first: record.saturating_sub(1),
                picked: None,
                len: 1,
            };
            for (column, index) in columns.iter_mut().zip(fields) {
                column.push(decode(&table, &rows, *index)?);
            }
        }
        let columns = columns.into_iter().zip(fields).map(|(mut rows, index)| {
            if rows.len() > 1 {
                let rows: Vec<&dyn arrow_array::Array> = rows.iter().map(|row| &**row).collect();
                return Ok(concat(&rows)?);
            }
            let field = table.fields().get(*index).ok_or_else(|| no_field(&table, *index))?;
            Ok(rows.pop().unwrap_or_else(|| new_empty_array(&field.data_type())))
        });
        columns.collect()
    }

    /// The bytes of a record, counted from 1.
    fn record<'a>(&'a mut self, table: &'a Table, record: u32) -> Result<&'a [u8]> {
        let count = table.record_count();
        let Some(place) = record.checked_sub(1).filter(|place| *place < count) else {
            let path = table.path().display();
            return Err(Error::Misuse(format!("{path}: no record {record}, there are {count}")));
        };
        let stride = table.stride();
        let in_block = u32::try_from(BLOCK_BYTES / stride).unwrap_or(1).max(1);
        if table.source.lends() || stride > BLOCK_BYTES {
            return table.read_records(place, 1, &mut self.window);
        }
        let (block, first) = ((place / in_block) as usize, place / in_block * in_block);
        if self.blocks.len() <= block {
            self.blocks.resize_with(count.div_ceil(in_block) as usize, || None);
        }
        if self.blocks.get(block).is_none_or(Option::is_none) {
            if self.kept_bytes >= KEPT_BYTES_MAX {
                self.blocks.fill_with(|| None);
                self.kept_bytes = 0;
            }
            let read = table.read_records(first, in_block.min(count - first), &mut self.window)?;
            self.kept_bytes += read.len();
            if let Some(kept) = self.blocks.get_mut(block) {
                *kept = Some(read.into());
            }
        }
        let start = (place - first) as usize * stride;
        let kept = self.blocks.get(block).and_then(Option::as_deref);
        kept.and_then(|kept| kept.get(start..start + stride))
            .ok_or_else(|| Error::Misuse(format!("{}: record {record} was not read", table.path().display())))
    }
}

/// About a page of the system.
const BLOCK_BYTES: usize = 4096;
/// When more is kept, everything is let go.
const KEPT_BYTES_MAX: usize = 16 << 20;

fn decode(table: &Table, rows: &Rows<'_>, index: usize) -> Result<ArrayRef> {
    let field = table.fields().get(index).ok_or_else(|| no_field(table, index))?;
    if field.kind.uses_memo() {
        let name = &field.name;
        return Err(Error::Misuse(format!("field {name}: memos are read by a scan")));
    }
    let mut context = Context {
        table,
        memos: &mut MemoReader::default(),
        log: table.options.recover.then_some(&*table.damage),
    };
    column::decode(&mut context, rows, field)
}

#[cold]
fn no_field(table: &Table, index: usize) -> Error {
    let (path, count) = (table.path().display(), table.fields().len());
    Error::Misuse(format!("{path}: no field {index}, there are {count}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Scan;
    use crate::table::OpenOptions;

    #[test]
    fn records_have_the_values_that_a_scan_gives() {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/xbase/");
        for name in ["ord_cdx.dbf", "types_cdx.dbf", "types_vfp.dbf", "memo_dbt.dbf"] {
            let table = Arc::new(Table::open(format!("{corpus}{name}"), &OpenOptions::new()).unwrap());
            let kept = |index: &usize| !table.fields()[*index].kind.uses_memo();
            let fields: Vec<usize> = (0..table.fields().len()).filter(kept).collect();
            let mut singles = SingleRecords::new(&table);
            for deleted in [Deleted::Include, Deleted::Skip, Deleted::Only] {
                for record in 1..=table.record_count() {
                    let scan = Scan::new()
                        .projection(fields.clone())
                        .deleted(deleted)
                        .records(record - 1..record);
                    let scanned: Vec<_> = table.scan(scan).unwrap().map(Result::unwrap).collect();
                    let single = singles.columns(&[record], &fields, deleted).unwrap();
                    match scanned.as_slice() {
                        [] => assert!(single.iter().all(|column| column.is_empty()), "{name} {record}"),
                        [batch] => assert_eq!(batch.columns(), single, "{name} {record}"),
                        _ => panic!("one record makes one batch"),
                    }
                }
            }
            let last = table.record_count();
            let several = singles.columns(&[last, 1, 2], &fields, Deleted::Include).unwrap();
            assert!(several.iter().all(|column| column.len() == 3));
            for record in [0, last + 1] {
                assert!(matches!(
                    singles.columns(&[record], &fields, Deleted::Include),
                    Err(Error::Misuse(_))
                ));
            }
            assert!(singles.columns(&[1], &[fields.len() + 10], Deleted::Include).is_err());
        }
    }
}
