//! Reading records: which columns, which records, in which batches.
//!
//! A scan moves through the file window by window. Of each window the deletion flags pick the rows, then the row filter
//! (decoding only its own columns), and then the other columns are decoded for the rows that are left.
//!
//! A scan follows the order of the file; orders of indexes are not its business.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow_schema::{ArrowError, DataType, Field as ArrowField, Schema, SchemaRef};
use arrow_select::filter::filter;

use crate::bitmap::Bitmap;
use crate::column::{self, Context, Rows};
use crate::damage::{Damage, DamageLog};
use crate::error::{Error, Result};
use crate::field::Field;
use crate::memo::MemoReader;
use crate::table::Table;

/// The column of a scan that says which records carry the deletion flag (Boolean).
pub const DELETED_COLUMN: &str = "_deleted";

/// What to do with records that carry the deletion flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Deleted {
    /// Leave them out. Default.
    #[default]
    Skip,
    /// Give them with the others.
    Include,
    /// Give only them.
    Only,
}

/// A predicate over a batch: true for the rows to keep.
type Predicate = Box<dyn FnMut(&RecordBatch) -> std::result::Result<BooleanArray, ArrowError> + Send>;

/// Picks rows by some columns before the others are decoded.
pub struct RowFilter {
    columns: Vec<usize>,
    predicate: Predicate,
}

impl RowFilter {
    /// The predicate gets batches of the fields at `columns`, in that order, and answers with one boolean for each row:
    /// rows with true are kept, those with false or null are not. When a batch ends early because its memos are large,
    /// the predicate sees the remaining rows again.
    pub fn new<F>(columns: Vec<usize>, predicate: F) -> Self
    where
        F: FnMut(&RecordBatch) -> std::result::Result<BooleanArray, ArrowError> + Send + 'static,
    {
        Self {
            columns,
            predicate: Box::new(predicate),
        }
    }
}

impl fmt::Debug for RowFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowFilter")
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}

/// What to read.
#[derive(Debug)]
pub struct Scan {
    projection: Option<Vec<usize>>,
    deleted: Deleted,
    records: Option<Range<u32>>,
    within: Option<Arc<Bitmap>>,
    batch_rows: usize,
    limit: Option<usize>,
    system_columns: bool,
    row_filter: Option<RowFilter>,
}

impl Default for Scan {
    fn default() -> Self {
        Self {
            projection: None,
            deleted: Deleted::Skip,
            records: None,
            within: None,
            batch_rows: 8192,
            limit: None,
            system_columns: false,
            row_filter: None,
        }
    }
}

impl Scan {
    /// Every field of every record that is not deleted.
    pub fn new() -> Self {
        Self::default()
    }

    /// The fields to give, as indices into [`Table::fields`], in output order. With none of them batches have no
    /// columns, only a number of rows. Default: all fields.
    #[must_use]
    pub fn projection(mut self, fields: Vec<usize>) -> Self {
        self.projection = Some(fields);
        self
    }

    /// What to do with deleted records. Default: [`Deleted::Skip`].
    #[must_use]
    pub fn deleted(mut self, deleted: Deleted) -> Self {
        self.deleted = deleted;
        self
    }

    /// The records to look at, counted from 0; what lies behind the table's end is ignored. Default: all.
    #[must_use]
    pub fn records(mut self, records: Range<u32>) -> Self {
        self.records = Some(records);
        self
    }

    /// A set of the table's records, of which alone something is read: what lies between them is passed over. Default: all.
    #[must_use]
    pub fn within(mut self, set: Arc<Bitmap>) -> Self {
        self.within = Some(set);
        self
    }

    /// How many rows a batch has at most; it may have fewer. Default: 8192.
    #[must_use]
    pub fn batch_rows(mut self, rows: usize) -> Self {
        self.batch_rows = rows;
        self
    }

    /// How many rows to give in all, after every filter. Default: no limit.
    #[must_use]
    pub fn limit(mut self, rows: usize) -> Self {
        self.limit = Some(rows);
        self
    }

    /// Appends `_recno` (UInt32, counted from 1) and [`DELETED_COLUMN`], neither ever null. Default: false.
    #[must_use]
    pub fn system_columns(mut self, append: bool) -> Self {
        self.system_columns = append;
        self
    }

    /// Picks rows before the other columns are decoded. Default: none.
    #[must_use]
    pub fn row_filter(mut self, filter: RowFilter) -> Self {
        self.row_filter = Some(filter);
        self
    }
}

/// The batches of a scan. After an error it ends.
#[derive(Debug)]
pub struct Batches {
    table: Arc<Table>,
    projection: Vec<usize>,
    schema: SchemaRef,
    deleted: Deleted,
    system_columns: bool,
    row_filter: Option<(RowFilter, SchemaRef)>,
    log: Arc<DamageLog>,
    recover: bool,
    within: Option<Arc<Bitmap>>,
    batch_rows: usize,
    next: u32,
    end: u32,
    left: usize,
    window: Vec<u8>,
    /// The records that `window` holds, when the source does not lend its bytes.
    held: Range<u32>,
    memos: MemoReader,
}

impl Batches {
    pub(crate) fn new(table: Arc<Table>, scan: Scan, log: Arc<DamageLog>, recover: bool) -> Result<Self> {
        let fields = table.fields();
        let projection = scan.projection.unwrap_or_else(|| (0..fields.len()).collect());
        let filtered = scan
            .row_filter
            .as_ref()
            .map(|f| f.columns.as_slice())
            .unwrap_or_default();
        for &index in projection.iter().chain(filtered) {
            let field = fields.get(index).ok_or_else(|| {
                Error::Misuse(format!(
                    "{}: no field {index}, there are {}",
                    table.path().display(),
                    fields.len()
                ))
            })?;
            check_memo(&table, field, recover.then_some(&*log))?;
        }
        if scan.batch_rows == 0 {
            return Err(Error::Misuse("batches of 0 rows".to_owned()));
        }
        let mut columns: Vec<ArrowField> = projection
            .iter()
            .filter_map(|i| fields.get(*i))
            .map(Field::arrow_field)
            .collect();
        if scan.system_columns {
            columns.push(ArrowField::new("_recno", DataType::UInt32, false));
            columns.push(ArrowField::new(DELETED_COLUMN, DataType::Boolean, false));
        }
        let row_filter = scan.row_filter.map(|f| {
            let columns: Vec<_> = f
                .columns
                .iter()
                .filter_map(|i| fields.get(*i))
                .map(Field::arrow_field)
                .collect();
            (f, Arc::new(Schema::new(columns)))
        });
        let records = scan.records.unwrap_or(0..table.record_count());
        Ok(Self {
            schema: Arc::new(Schema::new(columns)),
            deleted: scan.deleted,
            system_columns: scan.system_columns,
            row_filter,
            log,
            recover,
            within: scan.within,
            batch_rows: scan.batch_rows,
            next: records.start,
            end: records.end.min(table.record_count()),
            left: scan.limit.unwrap_or(usize::MAX),
            window: Vec::new(),
            held: 0..0,
            memos: MemoReader::default(),
            projection,
            table,
        })
    }

    /// The schema of every batch.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The next batch that has rows.
    fn advance(&mut self) -> Result<Option<RecordBatch>> {
        while self.next < self.end && self.left > 0 {
            let Some(mut count) = self.run() else {
                self.next = self.end;
                return Ok(None);
            };
            if self.within.is_none()
                && self.projection.is_empty()
                && !self.system_columns
                && self.row_filter.is_none()
                && self.deleted == Deleted::Include
            {
                // Nothing of the records is asked for, so they need not be read.
                let count = u32::try_from(self.left).unwrap_or(u32::MAX).min(count);
                self.next += count;
                self.left -= count as usize;
                return self.batch(Vec::new(), count as usize).map(Some);
            }
            let table = Arc::clone(&self.table);
            let stride = table.stride();
            let mut window = std::mem::take(&mut self.window);
            let (bytes, first) = match self.fill(&table, &mut window, count) {
                Ok(Some((bytes, first))) => (bytes, first),
                Ok(None) => return Ok(None),
                Err(e) => return Err(e),
            };
            count = count.min(self.held.end - self.next);
            let from = (first as usize) * stride;
            let bytes = bytes.get(from..from + count as usize * stride).unwrap_or_default();
            let batch = self.decode(&table, bytes, count);
            self.window = window;
            if let Some(batch) = batch? {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    /// How many records the next batch covers, from the next one that is wanted; `None` when none is.
    fn run(&mut self) -> Option<u32> {
        /// Bytes between two records of a set that are rather read than passed over.
        const GAP_BYTES: usize = 1 << 16;
        let most = u32::try_from(self.batch_rows).unwrap_or(u32::MAX);
        let Some(set) = &self.within else {
            return Some(most.min(self.end - self.next));
        };
        // Members are counted from 1: the member behind n records is record n or a later one.
        self.next = set.next(self.next)? - 1;
        let end = self.end.min(self.next.saturating_add(most));
        if self.next >= end {
            return None;
        }
        let gap = u32::try_from(GAP_BYTES / self.table.stride()).unwrap_or(u32::MAX);
        let mut last = self.next;
        while let Some(member) = set.next(last + 1)
            && member <= end
            && member - 1 - last <= gap.max(1)
        {
            last = member - 1;
        }
        Some(last + 1 - self.next)
    }

    /// The bytes that hold record `next`, and its place in them; `None` when the file was cut off while recovering.
    fn fill<'a>(&mut self, table: &'a Table, window: &'a mut Vec<u8>, count: u32) -> Result<Option<(&'a [u8], u32)>> {
        if self.held.contains(&self.next) && !table.source.lends() {
            return Ok(Some((window, self.next - self.held.start)));
        }
        let records = table
            .window_records(self.batch_rows)
            .max(count)
            .min(self.end - self.next);
        let records = if table.source.lends() || self.within.is_some() {
            count
        } else {
            records.min(table.window_records(self.batch_rows))
        };
        self.held = self.next..self.next + records;
        let now = if self.recover {
            table.source.len_now()?
        } else {
            u64::MAX
        };
        let needed = table.record_offset(self.held.end);
        if needed > now {
            // Another program shortened the file: what is left of it is still read.
            let room = now.saturating_sub(table.record_offset(self.next)) / table.stride() as u64;
            let room = u32::try_from(room).unwrap_or(u32::MAX).min(records);
            self.log.add(Damage {
                begin: table.record_offset(self.next + room),
                end: table.record_offset(self.end),
                records: Some(self.next + room..self.end),
                why: format!("the file was shortened to {now} bytes while it was read"),
            });
            self.end = self.next + room;
            self.held.end = self.end;
            if room == 0 {
                return Ok(None);
            }
        }
        let bytes = table.read_records(self.held.start, self.held.end - self.held.start, window)?;
        Ok(Some((bytes, 0)))
    }

    /// The batch of the `count` records in `bytes`; `None` when no row is left.
    fn decode(&mut self, table: &Table, bytes: &[u8], count: u32) -> Result<Option<RecordBatch>> {
        let stride = table.stride();
        let mut picked = self.pick(bytes, stride);
        let mut rows = Rows {
            bytes,
            stride,
            first: self.next,
            picked: None,
            len: count as usize,
        };
        let mut known: Vec<(usize, ArrayRef)> = Vec::new();
        let log = self.recover.then_some(&*self.log);
        let mut cx = Context {
            table,
            memos: &mut self.memos,
            log,
        };
        // How many records the batch covers: fewer than `count` when memos end it early.
        let mut covered = count;
        if let Some((row_filter, schema)) = &mut self.row_filter {
            rows = narrowed(rows, picked.as_deref());
            let (columns, len) = decode_all(&mut cx, &rows, &row_filter.columns)?;
            covered = covered_by(&rows, len, count);
            let options = RecordBatchOptions::new().with_row_count(Some(len));
            let batch = RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?;
            let mask = (row_filter.predicate)(&batch)?;
            if mask.len() != len {
                return Err(Error::Misuse(format!(
                    "a row filter gave {} booleans for {len} rows",
                    mask.len()
                )));
            }
            let kept: Vec<u32> = (0..len)
                .filter(|i| mask.is_valid(*i) && mask.value(*i))
                .map(|i| rows.record(i) - self.next)
                .collect();
            for (index, column) in row_filter.columns.iter().zip(batch.columns()) {
                if self.projection.contains(index) {
                    known.push((*index, filter(column, &mask)?));
                }
            }
            picked = Some(kept);
            rows = Rows {
                bytes,
                stride,
                first: self.next,
                picked: None,
                len: count as usize,
            };
        }
        let mut rows = narrowed(rows, picked.as_deref());
        rows.len = rows.len.min(self.left);
        if rows.len == 0 {
            self.next += covered;
            return Ok(None);
        }
        let mut columns = Vec::with_capacity(self.projection.len() + 2);
        let mut len = rows.len;
        for &index in &self.projection {
            let column = match known.iter().find(|k| k.0 == index) {
                Some((_, column)) => Arc::clone(column),
                None => match table.fields().get(index) {
                    Some(field) => column::decode(&mut cx, &Rows { len, ..rows }, field)?,
                    None => continue,
                },
            };
            len = len.min(column.len());
            columns.push(column);
        }
        if len < rows.len {
            covered = covered_by(&rows, len, count);
        }
        rows.len = len;
        for column in &mut columns {
            *column = column.slice(0, len);
        }
        if self.system_columns {
            columns.push(Arc::new(UInt32Array::from_iter_values(
                (0..len).map(|i| rows.record(i) + 1),
            )));
            let deletion = self.table.deletion();
            let flag = |i| {
                let record = bytes.get((rows.record(i) - self.next) as usize * stride..);
                record.is_some_and(|record| deletion.is_deleted(record))
            };
            columns.push(Arc::new(BooleanArray::from_iter((0..len).map(|i| Some(flag(i))))));
        }
        self.next += covered;
        self.left -= len;
        self.batch(columns, len).map(Some)
    }

    fn batch(&self, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(self.schema(), columns, &options)?)
    }

    /// The records that the set and the deletion flags let through; `None` for all.
    fn pick(&self, bytes: &[u8], stride: usize) -> Option<Vec<u32>> {
        let deletion = self.table.deletion();
        let is_deleted = |record: &[u8]| deletion.is_deleted(record);
        let wanted = match self.deleted {
            Deleted::Include => None,
            Deleted::Skip => Some(false).filter(|_| bytes.chunks_exact(stride).any(is_deleted)),
            Deleted::Only => Some(true),
        };
        if wanted.is_none() && self.within.is_none() {
            return None;
        }
        let is_member = |i: u32| self.within.as_ref().is_none_or(|set| set.contains(self.next + i + 1));
        let records = (0..u32::MAX).zip(bytes.chunks_exact(stride));
        let picked =
            records.filter(|(i, record)| wanted.is_none_or(|wanted| is_deleted(record) == wanted) && is_member(*i));
        Some(picked.map(|(i, _)| i).collect())
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.advance().transpose();
        if !matches!(batch, Some(Ok(_))) {
            self.end = self.next;
        }
        batch
    }
}

fn narrowed<'a>(rows: Rows<'a>, picked: Option<&'a [u32]>) -> Rows<'a> {
    let len = picked.map_or(rows.len, <[u32]>::len);
    Rows { picked, len, ..rows }
}

/// How many of `count` records lie before the first row that is not among the first `len`.
fn covered_by(rows: &Rows<'_>, len: usize, count: u32) -> u32 {
    if len < rows.len {
        rows.record(len) - rows.first
    } else {
        count
    }
}

fn decode_all(cx: &mut Context<'_>, rows: &Rows<'_>, columns: &[usize]) -> Result<(Vec<ArrayRef>, usize)> {
    let mut arrays = Vec::with_capacity(columns.len());
    let mut len = rows.len;
    for &index in columns {
        if let Some(field) = cx.table.fields().get(index) {
            let array = column::decode(cx, &Rows { len, ..*rows }, field)?;
            len = len.min(array.len());
            arrays.push(array);
        }
    }
    Ok((arrays.iter().map(|a| a.slice(0, len)).collect(), len))
}

/// A memo column without its file is an error, or damage for all its records.
fn check_memo(table: &Table, field: &Field, log: Option<&DamageLog>) -> Result<()> {
    if !field.kind.uses_memo() || field.kind == crate::field::FieldKind::Variant || table.memo().is_some() {
        return Ok(());
    }
    let looked_for = table.memo_looked_for().to_owned();
    let Some(log) = log else {
        return Err(Error::MissingMemo {
            path: table.path().to_owned(),
            field: field.name.clone(),
            looked_for,
        });
    };
    log.add(Damage {
        begin: table.record_offset(0) + field.offset as u64,
        end: table.record_offset(table.record_count()),
        records: Some(0..table.record_count()),
        why: format!("field {}: expected a memo file, found none of {looked_for}", field.name),
    });
    Ok(())
}
