//! Filters: by an expression that is evaluated record by record, and by bitmaps (AOF).

use std::sync::Arc;

use tidemill_xbase::aof::{Aof, Customize, Filter, FilterOrders, OptimizationLevel};
use tidemill_xbase::expression::{Program, RecordBytes, Type, Value, parse};
use tidemill_xbase::index::Order;
use tidemill_xbase::{Access, Changes, Columns, OpenMode, Place, Table, TableCursor};

use super::cursor::both;
use super::{AreaFilter, OrderId, WorkArea};
use crate::error::{ErrorCode, Result};
use crate::settings::Settings;

/// How many compiled conditions are kept.
const CONDITIONS: usize = 16;

/// A condition that was compiled before.
#[derive(Debug)]
pub(super) struct KnownCondition {
    text: String,
    settings: Settings,
    filter: Filter,
}

/// The orders that filters may be answered from, and what they were made of.
#[derive(Debug)]
pub(super) struct KnownOrders {
    table: Arc<Table>,
    made_of: Vec<Arc<Order>>,
    orders: FilterOrders,
}

impl KnownOrders {
    pub(super) fn none(table: &Arc<Table>) -> Self {
        Self {
            table: Arc::clone(table),
            made_of: Vec::new(),
            orders: FilterOrders::none(),
        }
    }
}

impl WorkArea {
    /// Whether an expression can be evaluated here.
    pub fn is_valid(&self, expression: &str, settings: &Settings) -> bool {
        Program::compile(expression, self.fields(), &self.environment(settings)).is_ok()
    }

    /// The type of the values of an expression.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidExpression`].
    pub fn type_of(&self, expression: &str, settings: &Settings) -> Result<Type> {
        Ok(Program::compile(expression, self.fields(), &self.environment(settings))?.type_of())
    }

    /// Shows only the records of a condition, which is evaluated as they are walked.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidExpression`], also for one that is not logical.
    pub fn set_filter(&mut self, condition: &str, settings: &Settings) -> Result<()> {
        self.write_record()?;
        self.filter = match condition.trim() {
            "" => None,
            text => Some((condition.to_owned(), self.condition(text, settings)?)),
        };
        Ok(())
    }

    /// The condition of [`WorkArea::set_filter`].
    pub fn filter(&self) -> Option<&str> {
        self.filter.as_ref().map(|(text, _)| text.as_str())
    }

    /// Shows all records again, but for those of [`WorkArea::set_aof`].
    pub fn clear_filter(&mut self) {
        self.filter = None;
    }

    /// Shows only the records of a condition, which are looked up at once: in the open orders as far as they fit, else in one
    /// pass over the table. It follows what this handle changes.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidExpression`], also for one that is not logical; the filter then is as it was.
    pub fn set_aof(&mut self, condition: &str, settings: &Settings) -> Result<()> {
        self.write_record()?;
        self.resting_aof = None;
        if condition.trim().is_empty() {
            return self.clear_aof(settings);
        }
        self.look_for_records()?;
        let filter = match self.statement_condition() {
            Some(own) => {
                let both = both(own, parse(condition)?);
                Filter::from_syntax(&both, &self.table, &self.environment(settings))?
            }
            None => self.condition(condition, settings)?,
        };
        self.evaluate(Some(condition.to_owned()), filter, None)
    }

    /// Shows the records of the statement's condition, where it has one. Columns are those of the table as it is now.
    pub(super) fn show_only(&mut self, condition: Option<Filter>, columns: Option<&Columns>) -> Result<()> {
        self.aof = None;
        self.look_for_records()?;
        match condition {
            Some(filter) => self.evaluate(None, filter, columns),
            None => Ok(()),
        }
    }

    /// Shows all records that the statement asked for.
    pub(super) fn show_all_of_statement(&mut self, settings: &Settings) -> Result<()> {
        let condition = self.statement_condition();
        let compile = |condition| Filter::from_syntax(condition, &self.table, &self.environment(settings));
        let filter = condition.map(compile).transpose()?;
        self.show_only(filter, None)
    }

    /// The condition of [`WorkArea::set_aof`].
    pub fn aof(&self) -> Option<&str> {
        self.aof.as_ref().and_then(|filter| filter.text.as_deref())
    }

    /// Whether a filter by bitmaps is set, if it rests too.
    pub fn has_aof(&self) -> bool {
        self.aof().is_some() || self.resting_aof.is_some()
    }

    /// Shows the records that the filter by bitmaps left out.
    ///
    /// # Errors
    /// When the condition of the statement cannot be looked up again.
    pub fn clear_aof(&mut self, settings: &Settings) -> Result<()> {
        self.resting_aof = None;
        self.hide_no_more(settings)
    }

    /// Lets the filter by bitmaps rest: the records that it left out are shown until [`WorkArea::wake_aof`].
    ///
    /// # Errors
    /// [`ErrorCode::NoFilter`]; as [`WorkArea::clear_aof`].
    pub fn rest_aof(&mut self, settings: &Settings) -> Result<()> {
        self.write_record()?;
        if self.aof().is_none() {
            return self.refuse(ErrorCode::NoFilter, "no such filter is set");
        }
        let resting = self.aof.take();
        // It is as if the program had set none, but for the condition of the statement.
        if self.statement_condition().is_some() {
            self.show_all_of_statement(settings)?;
        }
        self.resting_aof = resting;
        Ok(())
    }

    /// Uses the filter that rests again, for the records as they are now. What was added or removed by hand is forgotten.
    ///
    /// # Errors
    /// [`ErrorCode::NoFilter`]; as [`WorkArea::set_aof`].
    pub fn wake_aof(&mut self) -> Result<()> {
        self.write_record()?;
        let Some(resting) = self.resting_aof.take() else {
            return self.refuse(ErrorCode::NoFilter, "no filter rests");
        };
        self.aof = Some(resting);
        self.refresh_aof()
    }

    fn hide_no_more(&mut self, settings: &Settings) -> Result<()> {
        match self.statement_condition() {
            Some(_) if self.aof().is_some() => self.show_all_of_statement(settings),
            Some(_) => Ok(()),
            None => {
                self.aof = None;
                Ok(())
            }
        }
    }

    /// How much of the filter the orders answered.
    ///
    /// # Errors
    /// [`ErrorCode::NoFilter`].
    pub fn aof_level(&self) -> Result<OptimizationLevel> {
        match &self.aof {
            Some(filter) => Ok(filter.aof.level()),
            None => self.refuse(ErrorCode::NoFilter, "no such filter is set"),
        }
    }

    /// How much of a condition the open orders would answer.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidExpression`].
    pub fn evaluate_aof(&mut self, condition: &str, settings: &Settings) -> Result<OptimizationLevel> {
        self.look_for_records()?;
        let filter = self.condition(condition, settings)?;
        self.hold_filter_orders()?;
        let level = filter.level(&self.table, &self.known_orders.orders);
        self.editor.release_orders()?;
        Ok(level)
    }

    /// Looks the records of the filter up again. What was added or removed by hand is forgotten.
    ///
    /// # Errors
    /// As [`WorkArea::set_aof`].
    pub fn refresh_aof(&mut self) -> Result<()> {
        self.write_record()?;
        self.look_for_records()?;
        self.evaluate_anew()
    }

    /// Adds records to the filter, or removes them, whatever its condition says.
    ///
    /// # Errors
    /// [`ErrorCode::NoFilter`]; [`ErrorCode::InvalidRecordNumber`].
    pub fn customize_aof(&mut self, change: Customize, records: &[u32]) -> Result<()> {
        self.look_for_records()?;
        let count = self.table.record_count();
        if let Some(wrong) = records.iter().find(|record| !(1..=count).contains(*record)) {
            return self.refuse(
                ErrorCode::InvalidRecordNumber,
                format!("there is no record {wrong} among {count}"),
            );
        }
        let Some(filter) = &mut self.aof else {
            return self.refuse(ErrorCode::NoFilter, "no such filter is set");
        };
        filter.aof.customize(change, records)?;
        filter.version += 1;
        Ok(())
    }

    /// Whether a record, or with 0 the current one, belongs to the filter; every record does where there is none.
    ///
    /// # Errors
    /// [`ErrorCode::NoCurrentRecord`].
    pub fn is_in_aof(&mut self, record: u32) -> Result<bool> {
        self.look_for_records()?;
        let record = if record == 0 { self.current()? } else { record };
        Ok(self
            .aof
            .as_ref()
            .is_none_or(|filter| filter.aof.records().contains(record)))
    }

    /// Whether filters, and the setting for deleted records, show the current record; with an order also its condition and scope.
    ///
    /// # Errors
    /// [`ErrorCode::NoCurrentRecord`]; that of the filter's expression.
    pub fn is_visible(&mut self, order: Option<OrderId>, settings: &Settings) -> Result<bool> {
        let record = self.current()?;
        if !self.is_in_aof(record)? || !self.is_shown(record, settings)? {
            return Ok(false);
        }
        let is_in = |_: &mut Self, cursor: &mut TableCursor, _| Ok(cursor.go_to(record) && cursor.is_in_order()?);
        match order {
            None => Ok(true),
            Some(_) => self.moving(order, is_in),
        }
    }

    /// The value of a logical expression for the current record.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidExpression`], [`ErrorCode::NoCurrentRecord`].
    pub fn evaluate_logical(&mut self, expression: &str, settings: &Settings) -> Result<bool> {
        match self.value_of(expression, settings)? {
            Value::Logical(value) => Ok(value),
            _ => self.refuse(ErrorCode::InvalidExpression, format!("{expression:?} is not logical")),
        }
    }

    /// The value of a numeric expression for the current record; of a date its Julian day number.
    ///
    /// # Errors
    /// As [`WorkArea::evaluate_logical`].
    pub fn evaluate_number(&mut self, expression: &str, settings: &Settings) -> Result<f64> {
        match self.value_of(expression, settings)? {
            Value::Number(number) => Ok(number),
            #[expect(clippy::cast_precision_loss, reason = "days are few")]
            Value::Date(day) => Ok(day as f64),
            _ => self.refuse(ErrorCode::InvalidExpression, format!("{expression:?} is not numeric")),
        }
    }

    /// The value of a character expression for the current record.
    ///
    /// # Errors
    /// As [`WorkArea::evaluate_logical`].
    pub fn evaluate_text(&mut self, expression: &str, settings: &Settings) -> Result<Vec<u8>> {
        match self.value_of(expression, settings)? {
            Value::Character(text) => Ok(self.to_program(text).into_owned()),
            _ => self.refuse(
                ErrorCode::InvalidExpression,
                format!("{expression:?} is not of characters"),
            ),
        }
    }

    fn value_of(&mut self, expression: &str, settings: &Settings) -> Result<Value<'static>> {
        let record = self.current()?;
        let program = Program::compile(expression, self.fields(), &self.environment(settings))?;
        let bytes = RecordBytes::new(&self.table, record, &self.record.bytes);
        Ok(program.evaluate_record(&bytes)?.into_owned())
    }

    /// Lets the filter follow what was written and appended since it was looked at last, also what others appended.
    pub(super) fn follow_changes(&mut self) -> Result<()> {
        let Some(filter) = &mut self.aof else { return Ok(()) };
        let changed = match self.editor.changes_since(&mut filter.seen) {
            Changes::Records(changed) if changed.is_empty() => return Ok(()),
            Changes::Records(changed) => changed,
            Changes::All => return self.evaluate_anew(),
        };
        let count = self.table.record_count();
        let many = changed
            .iter()
            .map(|records| u64::from(records.end() - records.start()) + 1)
            .sum::<u64>();
        if many > u64::from(count / 16).max(64) {
            // One pass over the table costs less.
            return self.evaluate_anew();
        }
        let (version, grows) = (filter.version, count > filter.aof.records().len());
        let mut bytes = vec![0; self.record.bytes.len()];
        for record in changed.into_iter().flatten().filter(|record| *record <= count) {
            self.editor.read_record(record, &mut bytes)?;
            let is_member = filter.aof.record_changed(record, &bytes)?;
            let ways = self.ways.iter_mut().filter_map(|order| order.way.as_mut());
            for way in ways
                .chain(&mut self.natural)
                .filter(|way| way.filter == version && !grows)
            {
                way.cursor.set_member(record, is_member);
            }
        }
        filter.version += u64::from(grows);
        Ok(())
    }

    /// Looks the records of the filter up again. What was added or removed by hand is forgotten.
    fn evaluate_anew(&mut self) -> Result<()> {
        let Some(filter) = self.aof.as_ref().map(|filter| filter.aof.filter().clone()) else {
            return Ok(());
        };
        let text = self.aof.as_ref().and_then(|filter| filter.text.clone());
        self.evaluate(text, filter, None)
    }

    /// Looks the records of a filter up, and shows them alone.
    fn evaluate(&mut self, text: Option<String>, filter: Filter, columns: Option<&Columns>) -> Result<()> {
        let seen = self.editor.change_number();
        let records = self.records();
        self.hold_filter_orders()?;
        let aof = Aof::read_from(&self.table, (&records, columns), filter, &self.known_orders.orders);
        let released = self.editor.release_orders();
        let aof = aof?;
        released?;
        let version = self.next_filter();
        self.aof = Some(AreaFilter {
            text,
            aof,
            version,
            seen,
        });
        Ok(())
    }

    /// A number that no cursor's set has.
    fn next_filter(&self) -> u64 {
        let ways = self
            .ways
            .iter()
            .filter_map(|order| order.way.as_ref())
            .chain(&self.natural);
        let known = ways.map(|way| way.filter).max().unwrap_or(0);
        known.max(self.aof.as_ref().map_or(0, |filter| filter.version)) + 1
    }

    /// A condition compiled, or the one that was compiled of the same text before.
    pub(super) fn condition(&mut self, text: &str, settings: &Settings) -> Result<Filter> {
        let is_known = |known: &KnownCondition| known.text == text && known.settings.compile_alike(settings);
        if let Some(at) = self.known_conditions.iter().position(is_known) {
            let known = self.known_conditions.remove(at);
            let filter = known.filter.clone();
            self.known_conditions.push(known);
            return Ok(filter);
        }
        let filter = Filter::new(text, &self.table, &self.environment(settings))?;
        if filter.is_null() {
            return self.refuse(
                ErrorCode::InvalidExpression,
                format!("{text:?} is .NULL., no condition"),
            );
        }
        if !filter.is_volatile() {
            if self.known_conditions.len() == CONDITIONS {
                self.known_conditions.remove(0);
            }
            self.known_conditions.push(KnownCondition {
                text: text.to_owned(),
                settings: settings.clone(),
                filter: filter.clone(),
            });
        }
        Ok(filter)
    }

    /// The table to read many records from at once: alone its file as it is mapped, for which what waits is written first.
    ///
    /// What is mapped must not be cut, and is given up by whatever cuts the file.
    pub(super) fn records(&mut self) -> Arc<Table> {
        if self.options.mode != OpenMode::Exclusive || self.has_log || self.editor.flush().is_err() {
            // What cannot be written is read where it waits.
            return Arc::clone(&self.table);
        }
        let count = self.table.record_count();
        match &self.mapped {
            Some(mapped) if mapped.record_count() == count => Arc::clone(mapped),
            _ => {
                self.mapped = None;
                let options = self
                    .open_options()
                    .codepage(self.table.codepage())
                    .access(Access::Mapped);
                match Table::open(self.path(), &options) {
                    Ok(mapped) if mapped.record_count() == count => Arc::clone(self.mapped.insert(Arc::new(mapped))),
                    _ => Arc::clone(&self.table),
                }
            }
        }
    }

    /// Sees to it that the orders are known that filters may be answered from; they are held until they are released.
    fn hold_filter_orders(&mut self) -> Result<()> {
        if let Err(e) = self.hold_words() {
            self.words.iter_mut().for_each(|words| words.order = None);
            self.editor.release_orders()?;
            return Err(e);
        }
        for at in 0..self.ways.len() {
            let Some(mut way) = self.ways.get_mut(at).and_then(|place| place.way.take()) else {
                continue;
            };
            let held = match &mut way.order {
                Some(order) => self
                    .editor
                    .hold_order(order)
                    .map(|is_new| is_new.then(|| order.clone())),
                None => Ok(None),
            };
            let followed = match &held {
                Ok(Some(order)) => way.cursor.follow(&self.table, Some(order)),
                _ => Ok(()),
            };
            if let Some(place) = self.ways.get_mut(at) {
                place.way = Some(way);
            }
            followed?;
            held?;
        }
        let orders = || self.ways.iter().filter_map(|order| order.way.as_ref()?.order.as_ref());
        let words = || self.words.iter().filter_map(|words| words.order.as_ref());
        let known = self.known_orders.made_of.iter();
        if Arc::ptr_eq(&self.known_orders.table, &self.table)
            && known
                .map(Arc::as_ptr)
                .eq(orders().chain(words()).map(|order| Arc::as_ptr(order.order())))
        {
            return Ok(());
        }
        match FilterOrders::new(&self.table, orders()) {
            Ok(made) => {
                self.known_orders = KnownOrders {
                    table: Arc::clone(&self.table),
                    made_of: orders().chain(words()).map(|order| Arc::clone(order.order())).collect(),
                    orders: made.with_words(words()),
                };
                Ok(())
            }
            Err(e) => {
                self.editor.release_orders()?;
                Err(e.into())
            }
        }
    }

    /// Whether the area is at a record that is in the table.
    pub fn has_current_record(&self) -> bool {
        matches!(self.place, Place::Record(_))
    }
}
