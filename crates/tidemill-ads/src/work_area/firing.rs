//! Changes of records, and the triggers that they fire.

use std::path::PathBuf;
use std::sync::Arc;

use tidemill_xbase::TransactionLog;

use super::WorkArea;
use crate::dictionary::{TableTriggers, TriggerEvent, TriggerMoment};
use crate::error::{ErrorCode, Result};
use crate::settings::Settings;
use crate::sql::{Analytical, GivenTables, StatementOptions, no_trigger};
use crate::triggers::{Firing, Runner};

/// The triggers of the table or the view of a work area, and what runs them.
#[derive(Debug, Clone)]
pub(crate) struct AreaTriggers {
    pub(crate) triggers: Arc<TableTriggers>,
    pub(crate) runner: Arc<Runner>,
    /// The file of the dictionary.
    pub(crate) dictionary: PathBuf,
    /// The user of the connection.
    pub(crate) user: String,
    pub(crate) settings: Settings,
    pub(crate) analytical: Option<Arc<dyn Analytical>>,
    /// For what a view shows: the log that changes go through now. `None` for a table, which has it.
    pub(crate) view: Option<Option<TransactionLog>>,
}

impl WorkArea {
    /// Has the changes of records fire triggers from now on, or none.
    pub(crate) fn set_triggers(&mut self, triggers: Option<AreaTriggers>) {
        self.triggers = triggers.map(Box::new);
    }

    /// Whether it is what a view shows, and is changed by the triggers of the view.
    pub(super) fn is_view(&self) -> bool {
        self.triggers.as_ref().is_some_and(|triggers| triggers.view.is_some())
    }

    /// Does what fires no trigger, whatever it looks like.
    pub(super) fn without_firing<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let runner = self.triggers.as_ref().map(|triggers| Arc::clone(&triggers.runner));
        let _permit = runner.as_ref().map(|runner| runner.permit());
        work(self)
    }

    /// Makes a change of a record, and fires the triggers of its table: all of it, or nothing.
    pub(super) fn firing(
        &mut self,
        event: TriggerEvent,
        record: u32,
        write: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let Some(fired) = self.triggers.clone() else {
            return write(self);
        };
        if fired.view.is_some() && !fired.runner.has(&fired.triggers, event, TriggerMoment::InsteadOf) {
            return Err(no_trigger(&fired.triggers.table, &fired.triggers, event));
        }
        if !fired.runner.fires(&fired.triggers, event) {
            return match fired.view {
                None => self.without_firing(write),
                Some(_) => {
                    let why = format!("triggers are off, by which view {} is changed", fired.triggers.table);
                    self.refuse(ErrorCode::TableReadOnly, why)
                }
            };
        }
        let log = match &fired.view {
            Some(log) => log.clone(),
            None => self.editor.log().cloned(),
        };
        let Some(log) = log else {
            return self.refuse(
                ErrorCode::InternalError,
                "a table with triggers is changed through a log",
            );
        };
        let own = match log.is_under_way() {
            true => None,
            false => Some(log.begin()?),
        };
        let mut transaction = log.join()?;
        let point = transaction.savepoint()?;
        let done = self.fired(&fired, (event, record), &log, write);
        let kept = match done.is_ok() {
            true => transaction.release(point),
            false => transaction.rollback_to(point),
        };
        let ended = match own {
            Some(own) if done.is_ok() => own.commit(),
            Some(own) => own.rollback(),
            None => Ok(()),
        };
        // The first error is returned.
        done?;
        kept?;
        ended?;
        Ok(())
    }

    fn fired(
        &mut self,
        fired: &AreaTriggers,
        (event, record): (TriggerEvent, u32),
        log: &TransactionLog,
        write: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let mut options = StatementOptions::default();
        options.table.table_type = self.options.table_type;
        let firing = Firing {
            triggers: &fired.triggers,
            event,
            dictionary: fired.dictionary.clone(),
            user: &fired.user,
            settings: &fired.settings,
            options: &options,
            analytical: fired.analytical.clone(),
            log,
        };
        let (wants_values, wants_memos) = fired.triggers.wants(event);
        let mut rows = GivenTables::default();
        if wants_values {
            let before = self.editor.record_bytes(record)?;
            if event != TriggerEvent::Insert {
                rows.give("__old", &self.editor, (record, &before), &[], wants_memos)?;
            }
            if event != TriggerEvent::Delete {
                let (bytes, memos) = match self.record.number == record {
                    true => (&self.record.bytes, self.record.memos.as_slice()),
                    false => (&before, &[][..]),
                };
                rows.give("__new", &self.editor, (record, bytes), memos, wants_memos)?;
                let replaces = fired.runner.has(&fired.triggers, event, TriggerMoment::InsteadOf);
                if event == TriggerEvent::Insert && replaces {
                    rows.empty_counters("__new", &self.editor)?;
                }
            }
        }
        fired.runner.fire(&firing, TriggerMoment::Before, &mut rows)?;
        if fired.runner.has(&fired.triggers, event, TriggerMoment::InsteadOf) {
            if fired.view.is_some() {
                fired.runner.fire(&firing, TriggerMoment::InsteadOf, &mut rows)?;
                // What the view shows follows, as far as this cursor goes (SAP's help, "Triggers on Static Views").
                return write(self);
            }
            if event == TriggerEvent::Insert {
                // The blank record that was appended is not wanted any more.
                self.without_firing(|area| Ok(area.editor.delete(record)?))?;
            }
            return fired.runner.fire(&firing, TriggerMoment::InsteadOf, &mut rows);
        }
        self.without_firing(write)?;
        if !fired.runner.has(&fired.triggers, event, TriggerMoment::After) {
            return Ok(());
        }
        self.editor.flush()?;
        if wants_values && event != TriggerEvent::Delete {
            let now = self.editor.record_bytes(record)?;
            rows.give("__new", &self.editor, (record, &now), &[], wants_memos)?;
        }
        fired.runner.fire(&firing, TriggerMoment::After, &mut rows)
    }
}
