//! A table's columns through a cache.
//!
//! Scans read what they need once; whoever asks the same table again and again, a filter, an aggregate, a statement, goes
//! through [`Columns`]. Every call looks once whether the file is still what it was. A table that this handle's owner alone
//! can write to is not even looked at.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{Array, ArrayRef};
use arrow_select::concat::concat;

use crate::column_cache::{CHUNK, ColumnCache, Held, Key, TableKey, Voucher, What};
use crate::error::{Error, Result};
use crate::kernels::words::{WordCell, Words, WordsBuilder};
use crate::scan::{Deleted, Scan};
use crate::stamp::FileStamp;
use crate::table::Table;

/// Who can change the table while it is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sharing {
    /// Other programs too: the file's stamp says whether they did. Right after a change nothing is kept, since another one
    /// could show the same time.
    Shared,
    /// Only the owner of this handle, who tells by [`Columns::records_changed`].
    Exclusive,
}

/// A table and a cache of its columns. It is `Send` and `Sync`.
///
/// Its aggregates are in the module [`aggregate`](crate::aggregate).
#[derive(Debug, Clone)]
pub struct Columns {
    table: Arc<Table>,
    cache: Arc<ColumnCache>,
    key: Arc<TableKey>,
    sharing: Sharing,
}

impl Columns {
    /// The columns of a table. Tables of one path share what is kept, tables in memory do not.
    ///
    /// # Errors
    /// [`Error::Io`] when the file of a table that is open alone is no longer there.
    pub fn new(table: &Arc<Table>, cache: &Arc<ColumnCache>, sharing: Sharing) -> Result<Self> {
        static MEMORY: AtomicU64 = AtomicU64::new(0);
        let memory = (!table.source.has_stamp()).then(|| MEMORY.fetch_add(1, Ordering::Relaxed));
        let key = Arc::new(TableKey::new(table, memory));
        // Whatever is kept from now on is current, so what is kept already must be.
        if sharing == Sharing::Exclusive
            && let Some(now) = table.source.stamp_now()?
        {
            cache.forget_outdated(&key, &now);
        }
        Ok(Self {
            table: Arc::clone(table),
            cache: Arc::clone(cache),
            key,
            sharing,
        })
    }

    /// The table.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// The column of a field, deleted records included, in arrays of 65,536 rows (the last one has the rest), of the type that
    /// [`Table::schema`] says.
    ///
    /// # Errors
    /// As a scan; [`Error::Misuse`] for a field that the table has not got, and for one whose values are in the memo file.
    pub fn column(&self, field: usize) -> Result<Vec<ArrayRef>> {
        let voucher = self.voucher()?;
        self.chunks()
            .map(|(chunk, records)| self.chunk_column(field, chunk, records, &voucher))
            .collect()
    }

    /// The columns of some fields in the chunk of 65,536 records that begins at `chunk` times as many, with all that are missing read
    /// in one pass and kept; `None` when some are missing and `reads` says that these are not to be read.
    ///
    /// # Errors
    /// As [`Columns::column`].
    pub fn chunk(&self, chunk: u32, fields: &[usize], reads: bool) -> Result<Option<Vec<ArrayRef>>> {
        let Some((_, records)) = self.chunks().nth(chunk as usize) else {
            let (path, count) = (self.table.path().display(), self.table.record_count());
            return Err(Error::Misuse(format!("{path}: no chunk {chunk} of {count} records")));
        };
        for field in fields {
            self.kept_field(*field)?;
        }
        let voucher = self.voucher()?;
        let count = records.end - records.start;
        let mut columns: Vec<Option<ArrayRef>> = Vec::with_capacity(fields.len());
        for field in fields {
            let held = self
                .cache
                .find(&self.key_of(What::Column(*field), chunk), count, &voucher);
            columns.push(match held {
                Some(Held::Column(array)) => Some(array),
                _ => None,
            });
        }
        let missing = fields.iter().zip(&columns).filter(|(_, column)| column.is_none());
        let missing: Vec<usize> = missing.map(|(field, _)| *field).collect();
        if missing.is_empty() {
            return Ok(Some(columns.into_iter().flatten().collect()));
        }
        if !reads {
            return Ok(None);
        }
        // The stamp is older than what is read now: a change from here on is noticed.
        let stamp = self.stamp_of(&voucher)?;
        let mut read = self.decoded(missing, records)?.into_iter();
        for (field, column) in fields.iter().zip(&mut columns).filter(|(_, column)| column.is_none()) {
            *column = read.next();
            if let (Some(array), false) = (&*column, matches!(voucher, Voucher::Nothing)) {
                let key = self.key_of(What::Column(*field), chunk);
                self.cache
                    .hold(&key, count, stamp.clone(), Held::Column(Arc::clone(array)));
            }
        }
        Ok(Some(columns.into_iter().flatten().collect()))
    }

    /// Takes note that records were written, counted from 0. Appended ones are a change of the last chunk, too. An editor tells
    /// which they are, counted from 1: [`TableEditor::changes_since`](crate::TableEditor::changes_since).
    pub fn records_changed(&self, records: Range<u32>) {
        if let Some(last) = records.end.checked_sub(1).filter(|last| *last >= records.start) {
            self.cache.forget(&self.key, records.start / CHUNK..=last / CHUNK);
        }
    }

    /// Each chunk and its records.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = (u32, Range<u32>)> + use<> {
        let count = self.table.record_count();
        (0..count.div_ceil(CHUNK))
            .map(move |chunk| (chunk, chunk * CHUNK..(chunk + 1).saturating_mul(CHUNK).min(count)))
    }

    /// What vouches for entries during one call.
    pub(crate) fn voucher(&self) -> Result<Voucher> {
        if self.table.source.is_edited() {
            return Ok(Voucher::Nothing);
        }
        match self.sharing {
            Sharing::Exclusive => Ok(Voucher::Exclusive),
            Sharing::Shared => Ok(self
                .table
                .source
                .stamp_now()?
                .map_or(Voucher::Exclusive, Voucher::Stamp)),
        }
    }

    /// What is kept of a chunk, or is made now and kept.
    pub(crate) fn held(
        &self,
        what: What,
        chunk: u32,
        records: &Range<u32>,
        voucher: &Voucher,
        make: impl FnOnce() -> Result<Held>,
    ) -> Result<Held> {
        let key = self.key_of(what, chunk);
        let count = records.end - records.start;
        if let Some(held) = self.cache.find(&key, count, voucher) {
            return Ok(held);
        }
        if matches!(voucher, Voucher::Nothing) {
            return make();
        }
        // The stamp is older than what is read now: a change from here on is noticed.
        let stamp = self.stamp_of(voucher)?;
        let held = make()?;
        self.cache.hold(&key, count, stamp, held.clone());
        Ok(held)
    }

    /// What vouches for the words of a field, or for deletion marks, during one call; `None` where they are not to be made. They
    /// are for what is asked again: not when it is asked for the first time, not where they would not be found again, and not
    /// where they take too much of the cache.
    pub(crate) fn words_voucher(&self, field: Option<usize>) -> Result<Option<Voucher>> {
        let records = self.table.record_count();
        let bytes = u64::from(records) * size_of::<u64>() as u64;
        if self.table.options.passes_over() || !self.cache.has_room_for(usize::try_from(bytes).unwrap_or(usize::MAX)) {
            return Ok(None);
        }
        let voucher = match self.voucher()? {
            Voucher::Nothing => return Ok(None),
            Voucher::Stamp(stamp) if !stamp.is_at_rest() => return Ok(None),
            voucher => voucher,
        };
        let key = self.key_of(What::Asked(field), 0);
        if self.cache.find(&key, records, &voucher).is_some() {
            return Ok(Some(voucher));
        }
        let stamp = self.stamp_of(&voucher)?;
        self.cache.hold(&key, records, stamp, Held::Count(1));
        Ok(None)
    }

    /// The cells of a field in a chunk as words; `None` for a field or a cell that no word holds.
    pub(crate) fn words(
        &self,
        field: usize,
        chunk: u32,
        records: &Range<u32>,
        voucher: &Voucher,
    ) -> Result<Option<Arc<Words>>> {
        let described = self.field(field)?;
        let make = || {
            let Some(cell) = WordCell::new(described, &self.table) else {
                return Ok(Held::Words(None));
            };
            let mut words = WordsBuilder::new(cell, records.len());
            self.table.visit_blocks(records.clone(), |block| {
                words.add(&block);
                Ok(())
            })?;
            Ok(Held::Words(words.finish().map(Arc::new)))
        };
        match self.held(What::Words(field), chunk, records, voucher, make)? {
            Held::Words(words) => Ok(words),
            other => Err(Error::Misuse(format!("words were asked for, and {other:?} is kept"))),
        }
    }

    /// Which records of a chunk are marked as deleted.
    pub(crate) fn deleted(&self, chunk: u32, records: &Range<u32>, voucher: &Voucher) -> Result<Arc<[u64]>> {
        let make = || {
            let mut words = Vec::with_capacity(records.len().div_ceil(64));
            self.table.visit_blocks(records.clone(), |block| {
                let begin = words.len();
                words.resize(begin + (block.len as usize).div_ceil(64), 0);
                block.deleted(words.get_mut(begin..).unwrap_or_default());
                Ok(())
            })?;
            Ok(Held::Deleted(words.into()))
        };
        match self.held(What::Deleted, chunk, records, voucher, make)? {
            Held::Deleted(words) => Ok(words),
            other => Err(Error::Misuse(format!(
                "deletion marks were asked for, and {other:?} is kept"
            ))),
        }
    }

    pub(crate) fn chunk_column(
        &self,
        field: usize,
        chunk: u32,
        records: Range<u32>,
        voucher: &Voucher,
    ) -> Result<ArrayRef> {
        self.kept_field(field)?;
        let decode = || {
            let column = self.decoded(vec![field], records.clone())?.pop();
            let missing = || Error::Misuse(format!("a scan gave no column of the field {field}"));
            column.map(Held::Column).ok_or_else(missing)
        };
        match self.held(What::Column(field), chunk, &records, voucher, decode)? {
            Held::Column(array) => Ok(array),
            other => Err(Error::Misuse(format!("a column was asked for, and {other:?} is kept"))),
        }
    }

    /// Fields of some records.
    fn decoded(&self, fields: Vec<usize>, records: Range<u32>) -> Result<Vec<ArrayRef>> {
        let count = fields.len();
        let scan = Scan::new()
            .projection(fields)
            .deleted(Deleted::Include)
            .records(records)
            .batch_rows(CHUNK as usize);
        let batches = self.table.scan(scan)?.collect::<Result<Vec<_>>>()?;
        let column = |place: usize| {
            let arrays = batches.iter().filter_map(|batch| batch.columns().get(place));
            let arrays: Vec<&dyn Array> = arrays.map(|array: &ArrayRef| &**array).collect();
            Ok(match arrays.as_slice() {
                [only] => only.slice(0, only.len()),
                arrays => concat(arrays)?,
            })
        };
        (0..count).map(column).collect()
    }

    fn key_of(&self, what: What, chunk: u32) -> Key {
        Key {
            table: Arc::clone(&self.key),
            chunk,
            what,
        }
    }

    /// The stamp of what is read from now on.
    fn stamp_of(&self, voucher: &Voucher) -> Result<Option<FileStamp>> {
        match voucher {
            Voucher::Stamp(stamp) => Ok(Some(stamp.clone())),
            Voucher::Exclusive => self.table.source.stamp_now(),
            Voucher::Nothing => Ok(None),
        }
    }

    /// A field whose column can be kept.
    fn kept_field(&self, field: usize) -> Result<()> {
        let described = self.field(field)?;
        match described.kind.uses_memo() {
            true => Err(Error::Misuse(format!(
                "field {}: columns of memos are not kept; scan them",
                described.name
            ))),
            false => Ok(()),
        }
    }

    pub(crate) fn field(&self, field: usize) -> Result<&crate::field::Field> {
        self.table.fields().get(field).ok_or_else(|| {
            let (path, count) = (self.table.path().display(), self.table.fields().len());
            Error::Misuse(format!("{path}: no field {field}, there are {count}"))
        })
    }
}
