//! A condition compiled for a table.

use std::sync::Arc;

use crate::bitmap::Bitmap;
use crate::columns::Columns;
use crate::error::{Error, Result};
use crate::expression::{Environment, Program, Syntax, Type, parse};
use crate::kernels::Block;
use crate::table::Table;

use super::evaluate::{evaluate, uses_memo};
use super::kept::from_words;
use super::ranges::FilterOrders;
use super::steps::{OptimizationLevel, Plan, Step};

/// A condition compiled for the fields of a table. It is `Send` and `Sync`, good for every handle of that table, and cheap to
/// clone.
#[derive(Debug, Clone)]
pub struct Filter {
    plan: Arc<Plan>,
}

impl Filter {
    /// Compiles a text.
    ///
    /// # Errors
    /// [`Error::Expression`] with the column of the fault: what does not parse, names no field or function, has operands of
    /// a type that does not fit, or is no condition.
    pub fn new(text: &str, table: &Table, environment: &Environment) -> Result<Self> {
        Self::from_syntax(&parse(text)?, table, environment)
    }

    /// Compiles a tree.
    ///
    /// # Errors
    /// As [`Filter::new`].
    pub fn from_syntax(syntax: &Syntax, table: &Table, environment: &Environment) -> Result<Self> {
        let plan = Plan::new(syntax, table, environment)?;
        if !plan.is_condition() {
            // Compiled as a whole it says where the fault is.
            let program = Program::from_syntax(syntax, table.fields(), environment)?;
            let found = format!("a value of type {}", program.type_of().letter());
            return Err(Error::expression(1, "a condition", found));
        }
        Ok(Self { plan: Arc::new(plan) })
    }

    /// Whether it depends on the clock of the [`Environment`].
    pub fn is_volatile(&self) -> bool {
        self.plan.any(&|leaf| leaf.program.is_volatile())
    }

    /// Whether it is `.NULL.` whatever the record is.
    pub fn is_null(&self) -> bool {
        matches!(&*self.plan, Plan::Leaf(leaf) if leaf.program.type_of() == Type::Null)
    }

    /// The records that fulfil the condition, deleted ones too, by one pass over the table.
    ///
    /// # Errors
    /// When the table cannot be read, and for a field whose bytes are none of its values.
    pub fn bitmap(&self, table: &Arc<Table>) -> Result<Bitmap> {
        self.bitmap_by(table, &FilterOrders::none())
    }

    /// As [`Filter::bitmap`], with the leaves that an order can answer from that order. The table is read only when there are
    /// others.
    ///
    /// # Errors
    /// As [`Filter::bitmap`], and [`Error::Corrupt`] for an index that cannot be read.
    pub fn bitmap_by(&self, table: &Arc<Table>, orders: &FilterOrders) -> Result<Bitmap> {
        Ok(self.answer(table, None, orders)?.0)
    }

    /// As [`Filter::bitmap_by`], with comparisons of numbers, days and short texts from what is kept of the columns, so that a
    /// table that is asked again is not read.
    ///
    /// # Errors
    /// As [`Filter::bitmap_by`].
    pub fn bitmap_in(&self, columns: &Columns, orders: &FilterOrders) -> Result<Bitmap> {
        Ok(self.answer(columns.table(), Some(columns), orders)?.0)
    }

    /// As [`Filter::bitmap_by`], or with columns of the same records as [`Filter::bitmap_in`], and how far orders answered the condition.
    pub(super) fn answer(
        &self,
        table: &Arc<Table>,
        columns: Option<&Columns>,
        orders: &FilterOrders,
    ) -> Result<(Bitmap, OptimizationLevel)> {
        let step = match self.plan.step(table, orders)? {
            Step::Set(records) => return Ok((records, OptimizationLevel::Full)),
            step => step,
        };
        let has_as_many = |columns: &&Columns| columns.table().record_count() == table.record_count();
        let records = match columns.filter(has_as_many) {
            Some(columns) => bitmap_of(from_words(step, columns)?, table),
            None => bitmap_of(step, table),
        };
        Ok((records?, self.level(table, orders)))
    }

    /// How far orders answer the condition.
    pub fn level(&self, table: &Table, orders: &FilterOrders) -> OptimizationLevel {
        self.plan.level(table, orders)
    }

    /// Whether one record fulfils the condition, given its bytes, which begin with the deletion flag.
    ///
    /// # Errors
    /// As [`Filter::bitmap`], and [`Error::Misuse`] for bytes that are not as long as a record.
    pub fn matches(&self, table: &Arc<Table>, recno: u32, bytes: &[u8]) -> Result<bool> {
        if bytes.len() != table.stride() {
            let (expected, found) = (table.stride(), bytes.len());
            return Err(Error::Misuse(format!("a record has {expected} bytes, not {found}")));
        }
        if !table.options.passes_over() && !self.plan.any(&|leaf| uses_memo(&leaf.program, table)) {
            return Ok(self.plan.holds(table, recno, bytes)? == Some(true));
        }
        let block = Block {
            bytes,
            stride: table.stride(),
            first: recno.saturating_sub(1),
            len: 1,
            deletion: table.deletion(),
        };
        let step = self.plan.step(table, &FilterOrders::none())?;
        let bits = evaluate(&step, table, &block)?;
        Ok(bits.is_true.first().is_some_and(|word| word & 1 != 0))
    }
}

/// The records that a step leaves.
fn bitmap_of(step: Step<'_>, table: &Arc<Table>) -> Result<Bitmap> {
    let len = table.record_count();
    let step = match step {
        Step::Set(records) => return Ok(records),
        step => step,
    };
    if !step.reads_records() {
        let all = Block {
            bytes: &[],
            stride: table.stride(),
            first: 0,
            len,
            deletion: table.deletion(),
        };
        return Ok(Bitmap::from_words(evaluate(&step, table, &all)?.is_true, len));
    }
    let mut words = Vec::with_capacity((len as usize).div_ceil(64));
    table.visit_blocks(0..len, |block| {
        words.extend(evaluate(&step, table, &block)?.is_true);
        Ok(())
    })?;
    Ok(Bitmap::from_words(words, len))
}
