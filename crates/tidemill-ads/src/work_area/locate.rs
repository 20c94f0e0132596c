//! Records that are looked for one by one, by a condition.

use tidemill_xbase::aof::Filter;

use super::{OrderId, WorkArea};
use crate::error::{ErrorCode, Result};
use crate::settings::Settings;

/// What is looked for, and where to.
#[derive(Debug, Clone)]
pub(super) struct Search {
    condition: Filter,
    order: Option<OrderId>,
    step: i64,
}

impl WorkArea {
    /// Goes to the first record of a condition among those that are shown, or to the last one, in an order. Where there is none
    /// it is behind the last record, or before the first.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidExpression`], also for one that is not logical; as [`WorkArea::go_top`].
    pub(crate) fn locate(
        &mut self,
        order: Option<OrderId>,
        condition: &str,
        is_forward: bool,
        settings: &Settings,
    ) -> Result<bool> {
        let condition = self.condition(condition, settings)?;
        let step = if is_forward { 1 } else { -1 };
        match is_forward {
            true => self.go_top(order, settings)?,
            false => self.go_bottom(order, settings)?,
        }
        let search = Search { condition, order, step };
        self.search = Some(search.clone());
        self.look(&search, settings)
    }

    /// Goes to the next record of the condition that was located last.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidContinue`] when there is none.
    pub(crate) fn locate_on(&mut self, settings: &Settings) -> Result<bool> {
        let Some(search) = self.search.clone() else {
            return self.refuse(ErrorCode::InvalidContinue, "nothing was located");
        };
        self.skip(search.order, search.step, settings)?;
        self.look(&search, settings)
    }

    fn look(&mut self, search: &Search, settings: &Settings) -> Result<bool> {
        while self.has_current_record() {
            let record = self.current()?;
            if search.condition.matches(&self.table, record, &self.record.bytes)? {
                self.is_found = true;
                return Ok(true);
            }
            self.skip(search.order, search.step, settings)?;
        }
        if search.step < 0 && self.is_eof && !self.is_bof {
            self.arrive(tidemill_xbase::Place::Before);
        }
        Ok(false)
    }
}
