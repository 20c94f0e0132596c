//! Moves from record to record, and counts.

use std::sync::Arc;

use tidemill_xbase::aof::Filter;
use tidemill_xbase::index::{End, Key};
use tidemill_xbase::{Bitmap, Place, TableCursor};

use super::orders::{OrderId, SeekKind};
use super::{Way, WorkArea};
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Settings;

/// Which records are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Counted {
    /// Those that are shown: within the scope, by the filters, and whether deleted ones are. Default.
    #[default]
    Shown,
    /// All of the order, or of the table.
    All,
    /// Those within the scope.
    InScope,
}

impl WorkArea {
    pub(crate) fn go_top(&mut self, order: Option<OrderId>, settings: &Settings) -> Result<()> {
        self.go_end(order, End::First, settings)
    }

    pub(crate) fn go_bottom(&mut self, order: Option<OrderId>, settings: &Settings) -> Result<()> {
        self.go_end(order, End::Last, settings)
    }

    fn go_end(&mut self, order: Option<OrderId>, end: End, settings: &Settings) -> Result<()> {
        self.leave_record()?;
        self.look_for_records()?;
        self.go_known_end(order, end, settings)
    }

    /// Goes to the first record of those that were there when it was looked for records last.
    pub(super) fn go_known_top(&mut self, settings: &Settings) -> Result<()> {
        self.leave_record()?;
        self.go_known_end(None, End::First, settings)
    }

    fn go_known_end(&mut self, order: Option<OrderId>, end: End, settings: &Settings) -> Result<()> {
        let place = self.moving_among_known(order, |area, cursor, is_reversed| {
            let is_first = (end == End::First) != is_reversed;
            match is_first {
                true => cursor.go_first()?,
                false => cursor.go_last()?,
            };
            area.go_to_shown(cursor, is_first, settings)?;
            Ok(cursor.place())
        })?;
        self.arrive(match place {
            Place::Record(record) => Place::Record(record),
            Place::Before | Place::Behind => Place::Behind,
        });
        // Where there is nothing to show, it is at both ends.
        self.is_bof = self.is_eof;
        Ok(())
    }

    /// Goes so many records on or back. Nothing moves for 0, but the record is read anew.
    pub(crate) fn skip(&mut self, order: Option<OrderId>, count: i64, settings: &Settings) -> Result<()> {
        if count == 0 {
            self.write_record()?;
            self.record.number = 0;
            return Ok(());
        }
        if self.is_nowhere && count < 0 {
            self.leave_record()?;
            self.arrive(Place::Before);
            return Ok(());
        }
        self.step_from_here(order, |area, cursor, is_reversed| {
            let mut count = if is_reversed { count.saturating_neg() } else { count };
            if count < 0
                && !is_reversed
                && cursor.order().is_some()
                && cursor.record().is_some()
                && !cursor.is_in_order()?
            {
                step_back_in(cursor)?;
                area.go_to_shown(cursor, false, settings)?;
                count += 1;
                if count == 0 || cursor.record().is_none() {
                    return Ok(());
                }
            }
            if area.shows_all(settings) {
                cursor.skip(count)?;
                return Ok(());
            }
            for _ in 0..count.unsigned_abs() {
                cursor.skip(count.signum())?;
                area.go_to_shown(cursor, count > 0, settings)?;
                if cursor.record().is_none() {
                    break;
                }
            }
            Ok(())
        })?;
        if count > 0 {
            // A table without records is at both ends wherever it goes, but for a skip.
            self.is_bof = false;
        }
        Ok(())
    }

    /// Leaves the record and moves from it with the cursor of an order, which stands at it. `step` is told whether the order is
    /// walked backwards.
    fn step_from_here(
        &mut self,
        order: Option<OrderId>,
        step: impl FnOnce(&mut Self, &mut TableCursor, bool) -> Result<()>,
    ) -> Result<()> {
        let from = self.place;
        self.leave_record()?;
        let place = self.moving(order, |area, cursor, is_reversed| {
            let turned = |place| if is_reversed { opposite(place) } else { place };
            cursor.go_place(turned(from));
            step(area, cursor, is_reversed)?;
            Ok(turned(cursor.place()))
        })?;
        self.arrive(place);
        Ok(())
    }

    /// Goes to a record, whether it is shown or not; behind the last one when the table has not got it.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidRecordNumber`] for one that was deleted from an ADT, where it stays (SAP's help, `AdsGotoRecord`).
    pub(crate) fn go_to(&mut self, record: u32) -> Result<bool> {
        self.leave_record()?;
        if record > self.editor.record_count() {
            self.editor.refresh()?;
        }
        let is_there = (1..=self.editor.record_count()).contains(&record);
        if is_there && self.is_adt() {
            self.record.number = 0;
            self.read(record)?;
            if self.table.header().dialect.is_deleted(&self.record.bytes) {
                self.record.number = 0;
                let why = format!("record {record} was deleted");
                return self.refuse(ErrorCode::InvalidRecordNumber, why);
            }
        }
        match is_there {
            true => self.arrive(Place::Record(record)),
            false => self.go_nowhere(),
        }
        // Reading it again is what going to the current record is for.
        self.record.number = 0;
        Ok(is_there)
    }

    /// Goes to a record where it was before; it stays where it is when that was deleted from an ADT meanwhile.
    pub(crate) fn go_back(&mut self, record: u32) -> Result<()> {
        match self.go_to(record) {
            Err(error) if error.code() == ErrorCode::InvalidRecordNumber => Ok(()),
            went => went.map(drop),
        }
    }

    /// Is before the first record and behind the last one at once.
    fn go_nowhere(&mut self) {
        self.arrive(Place::Behind);
        (self.is_bof, self.is_nowhere) = (true, true);
    }

    /// Goes to the first record of the next key, or to the last of the one before.
    pub(crate) fn skip_unique(&mut self, order: OrderId, is_forward: bool, settings: &Settings) -> Result<()> {
        self.step_from_here(Some(order), |area, cursor, is_reversed| {
            let is_on = is_forward != is_reversed;
            let key = match cursor.record() {
                Some(record) => area.key_in(cursor, record)?,
                None => None,
            };
            loop {
                cursor.skip(if is_on { 1 } else { -1 })?;
                area.go_to_shown(cursor, is_on, settings)?;
                let Some(record) = cursor.record() else { break };
                if key.is_none() || area.key_in(cursor, record)? != key {
                    break;
                }
            }
            Ok(())
        })
    }

    /// Looks for a key, and goes to its first or last record that is shown.
    pub(crate) fn seek_in(&mut self, order: OrderId, key: &Key, kind: SeekKind, settings: &Settings) -> Result<bool> {
        self.leave_record()?;
        let (is_found, place) = self.moving(Some(order), |area, cursor, is_reversed| {
            let is_first = (kind != SeekKind::Last) != is_reversed;
            let end = if is_first { End::First } else { End::Last };
            let is_soft = matches!(kind, SeekKind::Soft | SeekKind::Behind);
            if kind == SeekKind::Behind {
                // From the last record of the key, or the one before where it would be, one on.
                let other = if is_first { End::Last } else { End::First };
                cursor.seek(key, other, true)?;
                match cursor.record() {
                    Some(_) => drop(cursor.skip(if is_first { 1 } else { -1 })?),
                    None if is_first => drop(cursor.go_first()?),
                    None => drop(cursor.go_last()?),
                }
                area.go_to_shown(cursor, is_first, settings)?;
                return Ok((cursor.record().is_some(), cursor.place()));
            }
            let mut is_found = match is_reversed {
                true => seek_back(cursor, key, kind)?,
                false => cursor.seek(key, end, is_soft)?,
            };
            if !area.shows_all(settings) && cursor.record().is_some() {
                area.go_to_shown(cursor, is_first, settings)?;
                is_found = is_found && cursor.is_at(key)?;
                if !is_found && !is_soft {
                    cursor.go_place(Place::Behind);
                }
            }
            Ok((is_found, cursor.place()))
        })?;
        self.arrive(match place {
            Place::Record(record) => Place::Record(record),
            Place::Before | Place::Behind => Place::Behind,
        });
        if self.is_eof && self.has_scope(order)? {
            // What lies behind the scope is nowhere.
            self.go_nowhere();
        }
        self.is_found = is_found;
        Ok(is_found)
    }

    /// How many records there are in an order.
    pub(crate) fn count(&mut self, order: Option<OrderId>, counted: Counted, settings: &Settings) -> Result<u64> {
        self.write_record()?;
        self.with_counted(order, counted, settings, |_, cursor, _| Ok(cursor.count()?))
    }

    /// How many records there are, but for those that are deleted from an ADT. What waits in the current one stays.
    ///
    /// # Errors
    /// When the table cannot be read.
    pub fn live_count(&mut self, settings: &Settings) -> Result<u64> {
        if !self.is_adt() {
            return Ok(self.record_count()?.into());
        }
        self.look_for_records()?;
        let all = Bitmap::full(self.table.record_count());
        Ok(self.not_deleted(all, settings)?.count().into())
    }

    /// The number of the current record among those that are counted, from 1; 0 when it is none of them.
    pub(crate) fn number(&mut self, order: Option<OrderId>, counted: Counted, settings: &Settings) -> Result<u64> {
        self.write_record()?;
        let place = self.place;
        self.with_counted(order, counted, settings, |_, cursor, is_reversed| {
            cursor.go_place(place);
            let Some(number) = cursor.number()? else { return Ok(0) };
            Ok(if is_reversed {
                cursor.count()? + 1 - number
            } else {
                number
            })
        })
    }

    /// Goes to the record of a number among those that are shown.
    pub(crate) fn go_number(&mut self, order: Option<OrderId>, number: u64, settings: &Settings) -> Result<()> {
        self.leave_record()?;
        let place = self.with_counted(order, Counted::Shown, settings, |_, cursor, is_reversed| {
            let number = if is_reversed {
                (cursor.count()? + 1).saturating_sub(number)
            } else {
                number
            };
            cursor.go_number(number)?;
            Ok(cursor.place())
        })?;
        self.arrive(place);
        Ok(())
    }

    /// Does something with a cursor over the records that are counted, which may be others than the cursor shows that moves.
    pub(super) fn with_counted<T>(
        &mut self,
        order: Option<OrderId>,
        counted: Counted,
        settings: &Settings,
        work: impl FnOnce(&mut Self, &mut TableCursor, bool) -> Result<T>,
    ) -> Result<T> {
        if counted == Counted::Shown && self.shows_all(settings) {
            return self.moving(order, work);
        }
        self.look_for_records()?;
        let set = match counted {
            Counted::Shown => Some(Arc::new(self.shown(settings)?)),
            // A cursor has the rows of its statement, whatever filters a program sets.
            Counted::All | Counted::InScope if order.is_none() && self.is_cursor() => {
                Some(Arc::new(self.of_statement(settings)?))
            }
            // What is deleted from an ADT counts nowhere.
            Counted::All | Counted::InScope if order.is_none() && self.is_adt() => {
                let all = Bitmap::full(self.table.record_count());
                Some(Arc::new(self.not_deleted(all, settings)?))
            }
            Counted::All | Counted::InScope => None,
        };
        self.moving_among_known(order, |area, cursor, is_reversed| {
            let mut other = TableCursor::new(&area.table);
            other.set_order(cursor.order())?;
            if counted != Counted::All && cursor.order().is_some() {
                let (top, bottom) = cursor.scope();
                other.set_scope(top.cloned(), bottom.cloned())?;
            }
            other.set_records(set)?;
            work(area, &mut other, is_reversed)
        })
    }

    /// The records that filters let through.
    fn shown(&mut self, settings: &Settings) -> Result<Bitmap> {
        let set = match &self.aof {
            Some(filter) => filter.aof.records().clone(),
            None => Bitmap::full(self.table.record_count()),
        };
        let mut set = self.not_deleted(set, settings)?;
        let records = self.records();
        if let Some((_, filter)) = &self.filter {
            set.intersect(&filter.bitmap(&records)?);
        }
        Ok(set)
    }

    /// The records that the statement asked for.
    fn of_statement(&mut self, settings: &Settings) -> Result<Bitmap> {
        let records = self.records();
        let set = match (&self.aof, self.statement_condition()) {
            (Some(filter), Some(_)) if filter.text.is_none() => filter.aof.records().clone(),
            (_, Some(condition)) => {
                let condition = Filter::from_syntax(condition, &self.table, &self.environment(settings))?;
                condition.bitmap(&records)?
            }
            (_, None) => Bitmap::full(self.table.record_count()),
        };
        self.not_deleted(set, settings)
    }

    fn not_deleted(&mut self, mut set: Bitmap, settings: &Settings) -> Result<Bitmap> {
        set.resize(self.table.record_count());
        if !self.shows_deleted(settings) {
            let environment = self.environment(settings);
            let there = Filter::new("!DELETED()", &self.table, &environment)?;
            let records = self.records();
            set.intersect(&there.bitmap(&records)?);
        }
        Ok(set)
    }

    /// Whether the cursors' own sets tell all that is shown.
    fn shows_all(&self, settings: &Settings) -> bool {
        self.shows_deleted(settings) && self.filter.is_none()
    }

    /// Whether deleted records are shown: those of an ADT never are.
    pub(super) fn shows_deleted(&self, settings: &Settings) -> bool {
        settings.show_deleted && !self.is_adt()
    }

    /// Goes on from record to record until one is shown.
    fn go_to_shown(&mut self, cursor: &mut TableCursor, is_forward: bool, settings: &Settings) -> Result<()> {
        if self.shows_all(settings) {
            return Ok(());
        }
        while let Some(record) = cursor.record() {
            if self.is_shown(record, settings)? {
                break;
            }
            cursor.skip(if is_forward { 1 } else { -1 })?;
        }
        Ok(())
    }

    pub(super) fn is_shown(&mut self, record: u32, settings: &Settings) -> Result<bool> {
        self.read(record)?;
        if !self.shows_deleted(settings) && self.table.header().dialect.is_deleted(&self.record.bytes) {
            return Ok(false);
        }
        match &self.filter {
            Some((_, filter)) => Ok(filter.matches(&self.table, record, &self.record.bytes)?),
            None => Ok(true),
        }
    }

    /// Does something with the cursor of an order as it is now, while no other program changes its index file. `work` is told
    /// whether the order is walked backwards.
    pub(super) fn moving<T>(
        &mut self,
        order: Option<OrderId>,
        work: impl FnOnce(&mut Self, &mut TableCursor, bool) -> Result<T>,
    ) -> Result<T> {
        self.look_for_records()?;
        self.moving_among_known(order, work)
    }

    /// As [`WorkArea::moving`], among the records that were there when it was looked for them last.
    fn moving_among_known<T>(
        &mut self,
        order: Option<OrderId>,
        work: impl FnOnce(&mut Self, &mut TableCursor, bool) -> Result<T>,
    ) -> Result<T> {
        let order = self.order_or_own(order);
        let (mut way, is_reversed) = self.take_way(order)?;
        let done = match self.bring_up_to_date(&mut way) {
            Ok(()) => work(self, &mut way.cursor, is_reversed),
            Err(e) => Err(e),
        };
        let released = self.editor.release_orders();
        self.put_way(order, way);
        let done = done?;
        released?;
        Ok(done)
    }

    fn bring_up_to_date(&mut self, way: &mut Way) -> Result<()> {
        let is_new = match &mut way.order {
            Some(order) => self.editor.hold_order(order)?,
            None => false,
        };
        if is_new && self.editor.refresh()? != self.table.record_count() {
            // Others have appended records since they were looked for, and the order has them already.
            self.read_table()?;
        }
        if is_new || !Arc::ptr_eq(way.cursor.table(), &self.table) {
            way.cursor.follow(&self.table, way.order.as_ref())?;
        }
        let version = self.aof.as_ref().map_or(0, |filter| filter.version);
        if way.filter != version {
            let set = self.aof.as_ref().map(|filter| {
                let mut set = filter.aof.shared_records();
                if set.len() != self.table.record_count() {
                    Arc::make_mut(&mut set).resize(self.table.record_count());
                }
                set
            });
            way.cursor.set_records(set)?;
            way.filter = version;
        }
        Ok(())
    }

    fn take_way(&mut self, order: Option<OrderId>) -> Result<(Box<Way>, bool)> {
        let (way, is_reversed) = match order {
            None => (self.natural.take(), false),
            Some(id) => {
                let order = self.order_mut(id)?;
                (order.way.take(), order.is_reversed)
            }
        };
        match way {
            Some(way) => Ok((way, is_reversed)),
            None => self.refuse(crate::ErrorCode::InternalError, "the order is being walked"),
        }
    }

    fn put_way(&mut self, order: Option<OrderId>, way: Box<Way>) {
        match order {
            None => self.natural = Some(way),
            Some(id) => {
                if let Ok(order) = self.order_mut(id) {
                    order.way = Some(way);
                }
            }
        }
    }

    /// Writes what was changed before the area goes elsewhere.
    pub(super) fn leave_record(&mut self) -> Result<()> {
        self.is_found = false;
        self.write_record()
    }

    /// Is at a place now.
    pub(super) fn arrive(&mut self, place: Place) {
        self.place = place;
        self.is_nowhere = false;
        self.is_bof = place == Place::Before;
        self.is_eof = place == Place::Behind;
        if self.is_eof && self.table.record_count() == 0 {
            self.is_bof = true;
        }
    }

    /// The stored key of a record in the order that a cursor follows.
    fn key_in(&mut self, cursor: &TableCursor, record: u32) -> Result<Option<Vec<u8>>, Error> {
        self.read(record)?;
        let Some(order) = cursor.order() else { return Ok(None) };
        let bytes = tidemill_xbase::expression::RecordBytes::new(&self.table, record, &self.record.bytes);
        Ok(Some(order.keys().key_whatever_the_condition(&bytes)?))
    }
}

/// Seeks in an order that is walked backwards: its first entry is the last one of the cursor.
fn seek_back(cursor: &mut TableCursor, key: &Key, kind: SeekKind) -> Result<bool> {
    if kind == SeekKind::Last {
        return Ok(!key.as_bytes().is_empty() && cursor.seek(key, End::First, false)?);
    }
    if key.as_bytes().is_empty() {
        return Ok(cursor.go_last()?);
    }
    let is_soft = kind == SeekKind::Soft;
    if cursor.seek(key, End::Last, is_soft)? || !is_soft {
        return Ok(cursor.record().is_some());
    }
    let before = cursor.place();
    cursor.seek(key, End::First, true)?;
    match (before, cursor.place()) {
        // The key is above all that is shown.
        (Place::Behind, Place::Behind) => drop(cursor.go_last()?),
        // It is below: the one before it was taken to be the first.
        (Place::Record(before), Place::Record(behind)) if before == behind => cursor.go_place(Place::Behind),
        _ => cursor.go_place(before),
    }
    Ok(false)
}

/// Goes one back from a record that is not in the order or its scope: a step in the whole order, as Clipper takes it. What is
/// behind the last key of the order, and a step that does not lead into the scope, end before the first record.
fn step_back_in(cursor: &mut TableCursor) -> Result<()> {
    let Some(record) = cursor.record() else { return Ok(()) };
    let mut whole = TableCursor::new(cursor.table());
    whole.set_order(cursor.order())?;
    whole.go_to(record);
    if !whole.is_in_order()? {
        whole.skip(1)?;
        if whole.record().is_none() {
            cursor.go_place(Place::Before);
            return Ok(());
        }
        whole.go_to(record);
    }
    whole.skip(-1)?;
    cursor.go_place(whole.place());
    if cursor.record().is_some() && !cursor.is_in_order()? {
        cursor.go_place(Place::Before);
    }
    Ok(())
}

/// The place at the other end, for who walks the other way.
fn opposite(place: Place) -> Place {
    match place {
        Place::Before => Place::Behind,
        Place::Behind => Place::Before,
        Place::Record(record) => Place::Record(record),
    }
}

#[cfg(test)]
mod tests {
    use super::super::IndexOptions;
    use super::*;
    use crate::connection::Connection;
    use crate::work_area::TableOptions;

    /// Between the look for others' records and the moment when the order is held, so that nobody changes it, others may append one
    /// more: the order then names a record that was not there a moment ago.
    #[test]
    fn records_that_others_append_before_an_order_is_held_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let (settings, shared) = (Settings::default(), TableOptions::default());
        let [mut one, mut two] = [(); 2].map(|()| Connection::open(folder.path()).unwrap());
        let made = one.create_table("t", "ID,Numeric,6,0", &shared, &settings).unwrap();
        let options = IndexOptions::default();
        let made_area = one.area(made).unwrap();
        made_area
            .create_index(None, "ID", "ID", None, &options, &settings)
            .unwrap();
        one.close_table(made).unwrap();
        let [first, second] =
            [&mut one, &mut two].map(|connection| connection.open_table("t", &shared, &settings).unwrap());
        let mut append = |id: u32| {
            two.append(second, &settings).unwrap();
            let area = two.area(second).unwrap();
            area.set_number(0, id.into()).unwrap();
            area.write_record().unwrap();
        };
        let area = one.area(first).unwrap();
        let order = area.order_named("ID").unwrap();
        for id in 1..=3 {
            area.look_for_records().unwrap();
            append(id);
            let last = area.moving_among_known(Some(order), |area, cursor, _| {
                cursor.go_last()?;
                Ok((cursor.record(), area.table.record_count()))
            });
            assert_eq!(last.unwrap(), (Some(id), id));
        }
        // By its number.
        append(4);
        assert!(area.go_to(4).unwrap() && area.record_number().unwrap() == 4);
    }
}
