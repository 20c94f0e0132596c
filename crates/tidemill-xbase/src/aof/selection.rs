//! A filter that is set on a table: its records, by the condition and by hand, kept current.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::bitmap::Bitmap;
use crate::columns::Columns;
use crate::error::{Error, Result};
use crate::index::Order;
use crate::table::Table;

use super::filter::Filter;
use super::ordered::OrderedRecords;
use super::ranges::FilterOrders;
use super::steps::OptimizationLevel;

/// A filter on an open table, as `AdsSetAOF` sets one.
///
/// In the order of the table its records are walked by [`Aof::records`] (`next`, `previous`, `skip`, `rank`, `select`), in
/// another by [`Aof::in_order`]; neither reads a record.
#[derive(Debug, Clone)]
pub struct Aof {
    table: Arc<Table>,
    filter: Filter,
    records: Arc<Bitmap>,
    level: OptimizationLevel,
    /// Records that were added or removed by hand: the condition says nothing about them any more.
    by_hand: BTreeSet<u32>,
}

/// What is done by hand with the records of a filter (`AdsCustomizeAOF`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Customize {
    /// They belong to it.
    Add,
    /// They do not.
    Remove,
    /// Those that belonged to it do not, and the others do.
    Toggle,
}

impl Aof {
    /// Evaluates a filter for all records.
    ///
    /// # Errors
    /// As [`Filter::bitmap_by`].
    pub fn new(table: &Arc<Table>, filter: Filter, orders: &FilterOrders) -> Result<Self> {
        Self::read_from(table, (table, None), filter, orders)
    }

    /// As [`Aof::new`], with the bytes of the records from another handle of the table, which is read once and not kept, and with
    /// what is kept of its columns where there are any: both as the table is now.
    ///
    /// # Errors
    /// As [`Aof::new`].
    pub fn read_from(
        table: &Arc<Table>,
        (source, columns): (&Arc<Table>, Option<&Columns>),
        filter: Filter,
        orders: &FilterOrders,
    ) -> Result<Self> {
        let (records, level) = filter.answer(source, columns, orders)?;
        Ok(Self {
            records: Arc::new(records),
            level,
            table: Arc::clone(table),
            filter,
            by_hand: BTreeSet::new(),
        })
    }

    /// The condition.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// How far orders answered the condition when it was evaluated.
    pub fn level(&self) -> OptimizationLevel {
        self.level
    }

    /// The records of the filter.
    pub fn records(&self) -> &Bitmap {
        &self.records
    }

    /// The same, for who keeps them: what is changed afterwards does not show there.
    pub fn shared_records(&self) -> Arc<Bitmap> {
        Arc::clone(&self.records)
    }

    /// The records of the filter in an order, as they are now.
    ///
    /// # Errors
    /// As [`OrderedRecords::new`].
    pub fn in_order(&self, order: &Order) -> Result<OrderedRecords> {
        OrderedRecords::new(&self.records, order)
    }

    /// Evaluates the condition anew for all records (`AdsRefreshAOF`). What was done by hand is forgotten.
    ///
    /// # Errors
    /// As [`Aof::new`]; the filter then is as it was.
    pub fn refresh(&mut self, orders: &FilterOrders) -> Result<()> {
        *self = Self::new(&self.table, self.filter.clone(), orders)?;
        Ok(())
    }

    /// Adds or removes records by hand. They stay so, whatever is written to them, until the filter is evaluated anew.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a record that the table has not got; nothing was changed then.
    pub fn customize(&mut self, change: Customize, recnos: &[u32]) -> Result<()> {
        let len = self.records.len();
        if let Some(recno) = recnos.iter().find(|recno| !(1..=len).contains(*recno)) {
            let path = self.table.path().display();
            return Err(Error::Misuse(format!("{path}: no record {recno}, there are {len}")));
        }
        for recno in recnos {
            let is_member = match change {
                Customize::Add => true,
                Customize::Remove => false,
                Customize::Toggle => !self.records.contains(*recno),
            };
            Arc::make_mut(&mut self.records).set(*recno, is_member);
            self.by_hand.insert(*recno);
        }
        Ok(())
    }

    /// Takes note of a record that was written or appended, and returns whether it belongs to the filter now. `bytes` are the
    /// record as it stands in the table, with the deletion flag. Sets along an order are made anew afterwards. An editor tells
    /// which records there are to look at: [`TableEditor::changes_since`](crate::TableEditor::changes_since).
    ///
    /// # Errors
    /// As [`Filter::matches`], and [`Error::Misuse`] for a record behind the next one; the filter then is as it was.
    pub fn record_changed(&mut self, recno: u32, bytes: &[u8]) -> Result<bool> {
        let next = self.records.len().saturating_add(1);
        if !(1..=next).contains(&recno) {
            return Err(Error::Misuse(format!(
                "record {recno} was written, and the next one is {next}"
            )));
        }
        if !self.by_hand.contains(&recno) {
            let is_member = self.filter.matches(&self.table, recno, bytes)?;
            if recno > self.records.len() {
                Arc::make_mut(&mut self.records).resize(recno);
            }
            Arc::make_mut(&mut self.records).set(recno, is_member);
        }
        Ok(self.records.contains(recno))
    }
}
