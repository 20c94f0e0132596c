//! A place among the records of a table: what a work area of Clipper and a table handle of ADS are.
//!
//! A cursor goes along the records in their order in the file or in that of an index, within a scope, over all records or a
//! set of them ([`Bitmap`]: a filter, the records that are not deleted). Changing the order keeps the record. A set is walked
//! by its bits, whatever the order is: no record and no page is read for those that are passed over.
//!
//! What it does not do: it shows table, order and set as they were when they were given to it; after a change the caller gives
//! it new ones ([`TableCursor::follow`], [`TableCursor::set_member`]). It takes no lock.

use std::sync::Arc;

use crate::aof::OrderedRecords;
use crate::bitmap::Bitmap;
use crate::error::{Error, Result};
use crate::expression::RecordBytes;
use crate::index::{Cursor, Direction, End, Key};
use crate::orders::TableOrder;
use crate::table::Table;

/// Where a cursor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// Before the first record that it shows: BOF.
    Before,
    /// At a record, counted from 1; it may be one that the cursor does not show, when it was told to go there.
    Record(u32),
    /// Behind the last record that it shows: EOF.
    Behind,
}

/// A cursor over a table.
///
/// ```
/// use std::sync::Arc;
/// use tidemill_xbase::aof::Filter;
/// use tidemill_xbase::expression::Environment;
/// use tidemill_xbase::index::{End, KeyValue};
/// use tidemill_xbase::{KeySettings, OpenOptions, Place, Table, TableCursor, TableIndex};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let orders = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/xbase/ord_cdx.dbf");
/// let table = Arc::new(Table::open(orders, &OpenOptions::new())?);
/// let index = TableIndex::production(&table, &KeySettings::new(table.codepage()))?.expect("an index beside it");
/// let by_name = index.order("T_NAME").expect("an order of this name");
///
/// let mut cursor = TableCursor::new(&table);
/// let there = Filter::new("!DELETED()", &table, &Environment::new(table.codepage()))?.bitmap(&table)?;
/// cursor.set_records(Some(there.into()))?;
/// cursor.set_order(Some(by_name))?;
/// assert!(cursor.seek(&by_name.order().key(&KeyValue::Character(b"ykyb"))?, End::First, false)?);
/// assert_eq!(cursor.place(), Place::Record(300));
/// cursor.set_order(None)?;
/// assert_eq!(cursor.skip(1)?, 1);
/// assert_eq!(cursor.place(), Place::Record(301));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct TableCursor {
    table: Arc<Table>,
    order: Option<TableOrder>,
    scope: (Option<Key>, Option<Key>),
    records: Option<Arc<Bitmap>>,
    way: Way,
    place: Place,
}

/// How records are walked: it follows from order, scope and set.
#[derive(Debug)]
enum Way {
    /// All of them in the order of the file.
    File,
    /// A set in the order of the file.
    Set,
    /// Those of an order within a scope.
    Order(Box<Cursor>),
    /// A set in an order; the cursor is for seeking.
    SetInOrder(Box<Cursor>, OrderedRecords),
    /// A set in an order, one of which has changed: entries are passed over one by one, which is counted.
    Passing(Box<Cursor>, u64),
}

impl TableCursor {
    /// A cursor over all records in the order of the file, at the first one.
    pub fn new(table: &Arc<Table>) -> Self {
        let mut cursor = Self {
            table: Arc::clone(table),
            order: None,
            scope: (None, None),
            records: None,
            way: Way::File,
            place: Place::Behind,
        };
        cursor.place = cursor.edge(cursor.shown(Some(1)), Place::Behind);
        cursor
    }

    /// The table that it goes along.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// Where it is.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The record that it is at.
    pub fn record(&self) -> Option<u32> {
        match self.place {
            Place::Record(recno) => Some(recno),
            Place::Before | Place::Behind => None,
        }
    }

    /// The order that it follows; `None`: that of the file.
    pub fn order(&self) -> Option<&TableOrder> {
        self.order.as_ref()
    }

    /// Follows another order, or that of the file, without a scope. It stays at its record.
    ///
    /// # Errors
    /// [`Error::Corrupt`] and [`Error::Io`] for an index that cannot be read; the cursor then is as it was.
    pub fn set_order(&mut self, order: Option<&TableOrder>) -> Result<()> {
        let way = self.way(order, &(None, None), self.records.as_deref())?;
        (self.order, self.scope, self.way) = (order.cloned(), (None, None), way);
        Ok(())
    }

    /// Shows only the entries of the order from one key to another, both included; without a key to the end on that side. It
    /// stays at its record.
    ///
    /// # Errors
    /// [`Error::Misuse`] without an order; as [`TableCursor::set_order`].
    pub fn set_scope(&mut self, top: Option<Key>, bottom: Option<Key>) -> Result<()> {
        if self.order.is_none() {
            let why = "a scope bounds the keys of an order, and none is followed";
            return Err(Error::Misuse(format!("{}: {why}", self.table.path().display())));
        }
        let scope = (top, bottom);
        let way = self.way(self.order.as_ref(), &scope, self.records.as_deref())?;
        (self.scope, self.way) = (scope, way);
        Ok(())
    }

    /// Goes on with what table and order are now, at the same record, within the same scope, with the same set. Records that
    /// are new do not belong to the set.
    ///
    /// # Errors
    /// As [`TableCursor::set_order`].
    pub fn follow(&mut self, table: &Arc<Table>, order: Option<&TableOrder>) -> Result<()> {
        self.table = Arc::clone(table);
        if let Some(set) = &mut self.records {
            Arc::make_mut(set).resize(table.record_count());
        }
        match order {
            Some(order) => {
                self.order = Some(order.clone());
                let mut cursor = order.order().cursor();
                cursor.set_scope(self.scope.0.clone(), self.scope.1.clone());
                self.way = match &self.records {
                    Some(_) => Way::Passing(Box::new(cursor), 0),
                    None => Way::Order(Box::new(cursor)),
                };
            }
            None => self.way = self.way(None, &(None, None), self.records.as_deref())?,
        }
        Ok(())
    }

    /// The set of records that it shows, if not all.
    pub fn records(&self) -> Option<&Bitmap> {
        self.records.as_deref()
    }

    /// Puts a record into the set that it shows, or takes it out. Without a set nothing happens.
    pub fn set_member(&mut self, record: u32, is_member: bool) {
        let Some(set) = self.records.as_mut().filter(|set| set.contains(record) != is_member) else {
            return;
        };
        Arc::make_mut(set).set(record, is_member);
        if let Way::SetInOrder(cursor, _) = &mut self.way {
            let cursor = cursor.clone();
            self.way = Way::Passing(cursor, 0);
        }
    }

    /// The bounds of the scope.
    pub fn scope(&self) -> (Option<&Key>, Option<&Key>) {
        (self.scope.0.as_ref(), self.scope.1.as_ref())
    }

    /// Shows only the records of a set; `None`: all of them. It stays at its record.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a set of another number of records; as [`TableCursor::set_order`].
    pub fn set_records(&mut self, records: Option<Arc<Bitmap>>) -> Result<()> {
        let count = self.table.record_count();
        if let Some(set) = records.as_ref().filter(|set| set.len() != count) {
            let why = format!("a set among {} records, of a table of {count}", set.len());
            return Err(Error::Misuse(format!("{}: {why}", self.table.path().display())));
        }
        let way = self.way(self.order.as_ref(), &self.scope, records.as_deref())?;
        (self.records, self.way) = (records, way);
        Ok(())
    }

    /// Goes to the first record that it shows; `false` when it shows none, and it is behind the last one then.
    ///
    /// # Errors
    /// [`Error::Corrupt`] and [`Error::Io`] for an index that cannot be read.
    pub fn go_first(&mut self) -> Result<bool> {
        self.go_end(End::First)
    }

    /// Goes to the last record that it shows; `false` when it shows none, and it is behind it then.
    ///
    /// # Errors
    /// As [`TableCursor::go_first`].
    pub fn go_last(&mut self) -> Result<bool> {
        self.go_end(End::Last)
    }

    fn go_end(&mut self, end: End) -> Result<bool> {
        self.rank(false)?;
        let found = match &mut self.way {
            Way::File => {
                let at = if end == End::First {
                    1
                } else {
                    self.table.record_count()
                };
                self.shown(Some(at))
            }
            Way::Set => self.records.as_deref().and_then(|set| match end {
                End::First => set.first(),
                End::Last => set.last(),
            }),
            Way::Order(cursor) => {
                match end {
                    End::First => cursor.go_first()?,
                    End::Last => cursor.go_last()?,
                };
                cursor.recno()
            }
            Way::SetInOrder(_, set) => match end {
                End::First => set.first(),
                End::Last => set.last(),
            },
            Way::Passing(cursor, passed) => {
                match end {
                    End::First => cursor.go_first()?,
                    End::Last => cursor.go_last()?,
                };
                pass(cursor, self.records.as_deref(), end == End::First, passed)?
            }
        };
        self.place = self.edge(found, Place::Behind);
        Ok(found.is_some())
    }

    /// Goes to a record, whether it is shown or not; `false`, and behind the last one, when the table has not got it.
    pub fn go_to(&mut self, record: u32) -> bool {
        let found = self.shown(Some(record));
        self.place = self.edge(found, Place::Behind);
        found.is_some()
    }

    /// Goes to a place that was that of another cursor over this table, or outside.
    pub fn go_place(&mut self, place: Place) {
        match place {
            Place::Record(record) => {
                self.go_to(record);
            }
            Place::Before | Place::Behind => self.place = place,
        }
    }

    /// Whether its record is in the order, within the scope; `false` without an order or a record.
    ///
    /// # Errors
    /// As [`TableCursor::go_first`].
    pub fn is_in_order(&mut self) -> Result<bool> {
        match (self.place, &self.way) {
            (Place::Record(record), Way::SetInOrder(_, set)) if set.key_no(record).is_some() => Ok(true),
            (Place::Record(record), Way::SetInOrder(..)) => {
                let key = self.key_of(record)?;
                match (key, &mut self.way) {
                    (Some(key), Way::SetInOrder(cursor, _)) => cursor.seek_record(&key, record),
                    _ => Ok(false),
                }
            }
            (Place::Record(record), _) => self.find(record),
            (Place::Before | Place::Behind, _) => Ok(false),
        }
    }

    /// Whether the key of its record in the order begins with this one; `false` without an order, and for a record that is
    /// not in it.
    ///
    /// # Errors
    /// As [`TableCursor::go_first`].
    pub fn is_at(&mut self, key: &Key) -> Result<bool> {
        let Place::Record(record) = self.place else {
            return Ok(false);
        };
        if let Way::SetInOrder(cursor, _) = &mut self.way
            && cursor.recno() != Some(record)
        {
            let Some(whole) = self.key_of(record)? else {
                return Ok(false);
            };
            if let Way::SetInOrder(cursor, _) = &mut self.way {
                cursor.seek_record(&whole, record)?;
            }
        } else {
            self.find(record)?;
        }
        Ok(match &self.way {
            Way::Order(cursor) | Way::SetInOrder(cursor, _) | Way::Passing(cursor, _) => cursor.is_at(key),
            Way::File | Way::Set => false,
        })
    }

    /// Goes so many records on, or back when that is negative, and returns how many it went. Where there are fewer it ends behind
    /// the last record, or before the first.
    ///
    /// From a record that is not shown it goes to the next one that is. From behind the last record one step back leads to the
    /// last.
    ///
    /// # Errors
    /// As [`TableCursor::go_first`].
    pub fn skip(&mut self, count: i64) -> Result<i64> {
        self.rank(false)?;
        let (mut went, mut left) = (0, count);
        // From outside the first step is that to the edge.
        match (self.place, count) {
            (_, 0) | (Place::Behind, 1..) | (Place::Before, ..0) => return Ok(0),
            (Place::Behind, _) | (Place::Before, _) => {
                let (end, outside) = match self.place {
                    Place::Behind => (End::Last, Place::Before),
                    _ => (End::First, Place::Behind),
                };
                if !self.go_end(end)? {
                    self.place = outside;
                    return Ok(0);
                }
                went = count.signum();
                left -= went;
            }
            (Place::Record(_), _) => {}
        }
        let Place::Record(from) = self.place else {
            return Ok(went);
        };
        if left == 0 {
            return Ok(went);
        }
        let (to, steps) = match &self.way {
            Way::File => {
                let to = i64::from(from).saturating_add(left);
                let to = u32::try_from(to.clamp(0, i64::from(self.table.record_count()) + 1)).unwrap_or(0);
                (self.shown(Some(to)), i64::from(to) - i64::from(from))
            }
            Way::Set => match &self.records {
                Some(set) => (set.skip(from, left), left),
                None => (None, 0),
            },
            Way::SetInOrder(_, set) => (set.skip(from, left), left),
            Way::Order(_) => self.skip_in_order(from, left)?,
            Way::Passing(..) => self.skip_passing(from, left)?,
        };
        let outside = if count > 0 { Place::Behind } else { Place::Before };
        self.place = self.edge(to, outside);
        if to.is_none() && !matches!(self.way, Way::Order(_) | Way::Passing(..)) {
            return Ok(went + self.left_to_end(from, left));
        }
        Ok(went + steps)
    }

    /// How many records lie between one and the end, where there are fewer than were to be skipped.
    fn left_to_end(&self, from: u32, count: i64) -> i64 {
        let (before, behind) = match (&self.way, &self.records) {
            (Way::File, _) => (from - 1, self.table.record_count() - from),
            // Who went one step and got nowhere was at the end: the set need not be counted.
            (Way::Set | Way::SetInOrder(..), _) if count.abs() == 1 => (0, 0),
            (Way::Set, Some(set)) => {
                let up_to = set.rank(from);
                (up_to - u32::from(set.contains(from)), set.count() - up_to)
            }
            (Way::SetInOrder(_, set), _) => {
                let before = |record: Option<u32>| record.and_then(|record| set.key_no(record));
                let behind = before(set.skip(from, 1)).map_or(0, |next| set.count() + 1 - next);
                (before(set.skip(from, -1)).unwrap_or(0), behind)
            }
            _ => (0, 0),
        };
        if count > 0 {
            i64::from(behind)
        } else {
            -i64::from(before)
        }
    }

    fn skip_in_order(&mut self, from: u32, count: i64) -> Result<(Option<u32>, i64)> {
        let mut left = count;
        if !self.find(from)? {
            // It is not in the order: the step to its neighbour is the first.
            left -= self.go_beside(from, count)?;
        }
        let Way::Order(cursor) = &mut self.way else {
            return Ok((None, 0));
        };
        if cursor.recno().is_none() {
            return Ok((None, 0));
        }
        let went = i64::try_from(cursor.skip(left)?).unwrap_or(i64::MAX);
        Ok((cursor.recno(), count - left + went * count.signum()))
    }

    /// As `skip_in_order`, over entries of records that are not shown.
    fn skip_passing(&mut self, from: u32, count: i64) -> Result<(Option<u32>, i64)> {
        let is_forward = count > 0;
        let mut gone = 0;
        let mut is_at = if self.find(from)? {
            self.step_passing(is_forward)?
        } else {
            self.go_beside(from, count)?;
            self.passed(is_forward)?
        };
        while let Some(recno) = is_at {
            gone += count.signum();
            if gone == count {
                return Ok((Some(recno), gone));
            }
            is_at = self.step_passing(is_forward)?;
        }
        Ok((None, gone))
    }

    fn step_passing(&mut self, is_forward: bool) -> Result<Option<u32>> {
        if let Way::Passing(cursor, _) = &mut self.way {
            match is_forward {
                true => cursor.go_next()?,
                false => cursor.go_previous()?,
            };
        }
        self.passed(is_forward)
    }

    fn passed(&mut self, is_forward: bool) -> Result<Option<u32>> {
        match &mut self.way {
            Way::Passing(cursor, passed) => pass(cursor, self.records.as_deref(), is_forward, passed),
            _ => Ok(None),
        }
    }

    /// Lets the order's cursor go to a record's entry; `false` when it has none in the scope.
    fn find(&mut self, record: u32) -> Result<bool> {
        let (Way::Order(cursor) | Way::Passing(cursor, _)) = &self.way else {
            return Ok(false);
        };
        if cursor.recno() == Some(record) {
            return Ok(true);
        }
        let Some(key) = self.key_of(record)? else {
            return Ok(false);
        };
        match &mut self.way {
            Way::Order(cursor) | Way::Passing(cursor, _) => cursor.seek_record(&key, record),
            _ => Ok(false),
        }
    }

    /// Lets the order's cursor go to the entry next to where a record would be, and returns the step that this is.
    fn go_beside(&mut self, record: u32, count: i64) -> Result<i64> {
        let key = match (self.bytes_of(record)?, &self.order) {
            (Some(bytes), Some(order)) => {
                let bytes = RecordBytes::new(&self.table, record, &bytes);
                Some(order.keys().key_whatever_the_condition(&bytes)?)
            }
            _ => None,
        };
        let is_reversed = self.order.as_ref().is_some_and(|order| order.order().walks_back);
        let (Way::Order(cursor) | Way::Passing(cursor, _), Some(key)) = (&mut self.way, key) else {
            return Ok(0);
        };
        let key = Key::raw(key);
        cursor.seek(&key, End::First, true)?;
        // Entries of the same key stand in the order of their records.
        let is_before = |other: u32| if is_reversed { other > record } else { other < record };
        while cursor.recno().is_some_and(is_before) && cursor.is_at(&key) {
            cursor.go_next()?;
        }
        if count > 0 {
            return Ok(1);
        }
        match cursor.recno() {
            Some(_) => cursor.go_previous()?,
            None => cursor.go_last()?,
        };
        Ok(-1)
    }

    /// Goes to the first or the last record that it shows whose key begins with what is sought, and returns whether there is
    /// one. Otherwise it goes behind the last one, or when `is_soft` to the first one behind what was sought for the first, and
    /// to the last one before it for the last.
    ///
    /// # Errors
    /// [`Error::Misuse`] without an order; as [`TableCursor::go_first`].
    pub fn seek(&mut self, key: &Key, end: End, is_soft: bool) -> Result<bool> {
        let (found, recno) = match &mut self.way {
            Way::File | Way::Set => {
                let why = "a key is sought in an order, and none is followed";
                return Err(Error::Misuse(format!("{}: {why}", self.table.path().display())));
            }
            Way::Order(cursor) => {
                let found = cursor.seek(key, end, is_soft)?;
                (found, cursor.recno())
            }
            Way::SetInOrder(cursor, set) => seek_in_set(cursor, set, key, end, is_soft)?,
            Way::Passing(cursor, passed) => {
                cursor.seek(key, end, true)?;
                let recno = pass(cursor, self.records.as_deref(), end == End::First, passed)?;
                let found = recno.is_some() && cursor.is_at(key);
                (found, recno.filter(|_| found || is_soft))
            }
        };
        self.place = self.edge(recno, Place::Behind);
        Ok(found)
    }

    /// How many records it shows.
    ///
    /// # Errors
    /// As [`TableCursor::go_first`].
    pub fn count(&mut self) -> Result<u64> {
        self.rank(true)?;
        Ok(match (&self.way, &self.records) {
            (Way::Set, Some(set)) => set.count().into(),
            (Way::SetInOrder(_, set), _) => set.count().into(),
            (Way::Order(cursor), _) => cursor.key_count()?,
            _ => self.table.record_count().into(),
        })
    }

    /// The number of its record among those that it shows, from 1; `None` when it is at none of them.
    ///
    /// # Errors
    /// As [`TableCursor::go_first`].
    pub fn number(&mut self) -> Result<Option<u64>> {
        let Place::Record(recno) = self.place else {
            return Ok(None);
        };
        self.rank(true)?;
        if matches!(self.way, Way::Order(_)) && !self.find(recno)? {
            return Ok(None);
        }
        Ok(match (&self.way, &self.records) {
            (Way::Set, Some(set)) => set.contains(recno).then(|| set.rank(recno).into()),
            (Way::SetInOrder(_, set), _) => set.key_no(recno).map(u64::from),
            (Way::Order(cursor), _) => cursor.key_no()?,
            _ => Some(recno.into()),
        })
    }

    /// Goes to the record of a number, from 1; `false`, and behind the last one, when there are not so many.
    ///
    /// # Errors
    /// As [`TableCursor::go_first`].
    pub fn go_number(&mut self, number: u64) -> Result<bool> {
        self.rank(true)?;
        let narrow = u32::try_from(number).ok();
        let found = match (&mut self.way, &self.records) {
            (Way::Set, Some(set)) => narrow.and_then(|number| set.select(number)),
            (Way::SetInOrder(_, set), _) => narrow.and_then(|number| set.nth(number)),
            (Way::Order(cursor), _) => {
                cursor.go_key_no(number)?;
                cursor.recno()
            }
            _ => self.shown(narrow),
        };
        self.place = self.edge(found, Place::Behind);
        Ok(found.is_some())
    }

    /// Reads the order once, when that costs less than going on to pass entries over, or when their numbers are wanted.
    fn rank(&mut self, is_wanted: bool) -> Result<()> {
        if let Way::Passing(_, passed) = &self.way
            && (is_wanted || *passed > u64::from(self.table.record_count() / 8))
        {
            self.way = self.way(self.order.as_ref(), &self.scope, self.records.as_deref())?;
        }
        Ok(())
    }

    fn way(
        &self,
        order: Option<&TableOrder>,
        (top, bottom): &(Option<Key>, Option<Key>),
        records: Option<&Bitmap>,
    ) -> Result<Way> {
        let Some(order) = order else {
            return Ok(if records.is_some() { Way::Set } else { Way::File });
        };
        let mut cursor = order.order().cursor();
        cursor.set_scope(top.clone(), bottom.clone());
        let cursor = Box::new(cursor);
        let Some(records) = records else {
            return Ok(Way::Order(cursor));
        };
        if top.is_none() && bottom.is_none() {
            let set = OrderedRecords::new(records, order.order())?;
            return Ok(Way::SetInOrder(cursor, set));
        }
        let mut within = Bitmap::from_words(vec![0; (records.len() as usize).div_ceil(64)], records.len());
        for entry in cursor.walk(Direction::Forward) {
            let recno = entry?.recno();
            if records.contains(recno) {
                within.set(recno, true);
            }
        }
        let set = OrderedRecords::new(&within, order.order())?;
        Ok(Way::SetInOrder(cursor, set))
    }

    /// A record if the table has it.
    fn shown(&self, recno: Option<u32>) -> Option<u32> {
        recno.filter(|recno| (1..=self.table.record_count()).contains(recno))
    }

    fn edge(&self, recno: Option<u32>, outside: Place) -> Place {
        recno.map_or(outside, Place::Record)
    }

    fn bytes_of(&self, record: u32) -> Result<Option<Vec<u8>>> {
        let Some(record) = self.shown(Some(record)) else {
            return Ok(None);
        };
        let mut window = Vec::new();
        let bytes = self.table.read_records(record - 1, 1, &mut window)?.to_vec();
        Ok(Some(bytes))
    }

    /// The key of a record in the order; `None` when it is not in it.
    fn key_of(&self, record: u32) -> Result<Option<Vec<u8>>> {
        match (self.bytes_of(record)?, &self.order) {
            // Entries whose keys nobody can make are found by their records.
            (Some(_), Some(order)) if !order.order().is_known() => Ok(Some(Vec::new())),
            (Some(bytes), Some(order)) => order.keys().key(&RecordBytes::new(&self.table, record, &bytes)),
            _ => Ok(None),
        }
    }
}

/// Goes on from the cursor's entry, or back, to the next one of a record in the set, and returns that record.
fn pass(cursor: &mut Cursor, set: Option<&Bitmap>, is_forward: bool, passed: &mut u64) -> Result<Option<u32>> {
    while let Some(recno) = cursor.recno() {
        if set.is_none_or(|set| set.contains(recno)) {
            return Ok(Some(recno));
        }
        *passed += 1;
        match is_forward {
            true => cursor.go_next()?,
            false => cursor.go_previous()?,
        };
    }
    Ok(None)
}

/// Seeks among the records of a set: whether one of the key was found, and where that leads.
fn seek_in_set(
    cursor: &mut Cursor,
    set: &OrderedRecords,
    key: &Key,
    end: End,
    is_soft: bool,
) -> Result<(bool, Option<u32>)> {
    let mut found = cursor.seek(key, end, true)?;
    while found && let Some(recno) = cursor.recno() {
        if set.key_no(recno).is_some() {
            return Ok((true, Some(recno)));
        }
        let is_there = match end {
            End::First => cursor.go_next()?,
            End::Last => cursor.go_previous()?,
        };
        found = is_there && cursor.is_at(key);
    }
    if !is_soft {
        return Ok((false, None));
    }
    cursor.seek(key, end, true)?;
    let step = if end == End::First { 1 } else { -1 };
    let next = cursor.recno().and_then(|recno| match set.key_no(recno) {
        Some(_) => Some(recno),
        None => set.skip(recno, step),
    });
    Ok((false, next))
}
