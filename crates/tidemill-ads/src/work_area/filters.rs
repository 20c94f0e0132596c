//! Filters: by an expression that is evaluated record by record, and by bitmaps (AOF).

use tidemill_xbase::aof::{Aof, Customize, Filter, FilterOrders, OptimizationLevel};
use tidemill_xbase::expression::{Program, RecordBytes, Type, Value};
use tidemill_xbase::{Changes, Place, TableOrder};

use super::{AreaFilter, OrderId, WorkArea};
use crate::error::{ErrorCode, Result};
use crate::settings::Settings;

impl WorkArea {
    /// Whether an expression can be evaluated here.
    pub fn is_valid(&self, expression: &str, settings: &Settings) -> bool {
        Program::compile(expression, self.fields(), &self.environment(settings)).is_ok()
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
        if condition.trim().is_empty() {
            self.clear_aof();
            return Ok(());
        }
        self.look_for_records()?;
        let filter = self.condition(condition, settings)?;
        self.evaluate(condition.to_owned(), filter)
    }

    /// The condition of [`WorkArea::set_aof`].
    pub fn aof(&self) -> Option<&str> {
        self.aof.as_ref().map(|filter| filter.text.as_str())
    }

    /// Shows the records that the filter by bitmaps left out.
    pub fn clear_aof(&mut self) {
        self.aof = None;
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
        let orders = self.filter_orders()?;
        let level = filter.level(&self.table, &orders);
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

    /// Whether filters, and the setting for deleted records, show the current record.
    ///
    /// # Errors
    /// [`ErrorCode::NoCurrentRecord`]; that of the filter's expression.
    pub fn is_visible(&mut self, settings: &Settings) -> Result<bool> {
        let record = self.current()?;
        Ok(self.is_in_aof(record)? && self.is_shown(record, settings)?)
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
            Value::Character(text) => Ok(self.to_program(text.into_owned())),
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
        let text = self.aof.as_ref().map(|filter| filter.text.clone()).unwrap_or_default();
        self.evaluate(text, filter)
    }

    /// Looks the records of a filter up, and shows them alone.
    fn evaluate(&mut self, text: String, filter: Filter) -> Result<()> {
        let seen = self.editor.change_number();
        let orders = self.filter_orders()?;
        let aof = Aof::new(&self.table, filter, &orders);
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

    pub(super) fn condition(&self, text: &str, settings: &Settings) -> Result<Filter> {
        let filter = Filter::new(text, &self.table, &self.environment(settings))?;
        match filter.program().type_of() {
            Type::Logical => Ok(filter),
            other => self.refuse(
                ErrorCode::InvalidExpression,
                format!("{text:?} is of type {}, no condition", other.letter()),
            ),
        }
    }

    /// The orders that filters may be answered from; they are held until they are released.
    fn filter_orders(&mut self) -> Result<FilterOrders> {
        let ids: Vec<OrderId> = self.orders().collect();
        for id in ids {
            let Ok(place) = self.order_mut(id) else { continue };
            let Some(mut way) = place.way.take() else { continue };
            let held = match &mut way.order {
                Some(order) => self
                    .editor
                    .hold_order(order)
                    .map(|is_new| is_new.then(|| order.clone())),
                None => Ok(None),
            };
            if let Ok(Some(order)) = &held {
                way.cursor.follow(&self.table, Some(order))?;
            }
            if let Ok(place) = self.order_mut(id) {
                place.way = Some(way);
            }
            held?;
        }
        let orders = self.ways.iter().filter_map(|order| order.way.as_ref()?.order.as_ref());
        let orders: Vec<&TableOrder> = orders.collect();
        match FilterOrders::new(&self.table, orders) {
            Ok(orders) => Ok(orders),
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
