//! How triggers run: in a connection of their own to the data dictionary, within the transaction of the change that fires them.
//!
//! A change of a record fires the BEFORE triggers of its table, is made, or replaced by the INSTEAD OF trigger, and fires the AFTER
//! triggers. Scripts see the record in the tables `__old` and `__new`, and refuse the change by a row of `__error` or by an exception.
//! [`Guard`] sees to it that no change is made past them.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidemill_xbase::{BrokenRule, Follower, RecordChange, RuleKind, TableEditor, TransactionLog};

use crate::connection::Connection;
use crate::dictionary::{TableTriggers, Trigger, TriggerContainer, TriggerEvent, TriggerMoment};
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Settings;
use crate::sql::{Analytical, GivenTables, StatementOptions, run_trigger};
use crate::transactions::Transactions;

/// How deep triggers may fire one another.
const MAX_DEPTH: usize = 64;

/// What runs the triggers of a connection.
#[derive(Debug, Default)]
pub(crate) struct Runner {
    /// The connection that scripts run in, once there was one to run.
    inner: Mutex<Option<Box<Connection>>>,
    /// The numbers of the triggers that run around the connection, the outermost first.
    running: Mutex<Vec<u32>>,
    /// Whether the connection fires none.
    is_off: AtomicBool,
    /// Whether the connection keeps no relations.
    relations_off: AtomicBool,
    /// How many changes are being made whose triggers have been seen to.
    permits: AtomicUsize,
}

/// What is fired.
#[derive(Debug)]
pub(crate) struct Firing<'f> {
    pub(crate) triggers: &'f TableTriggers,
    pub(crate) event: TriggerEvent,
    /// The file of the dictionary.
    pub(crate) dictionary: PathBuf,
    /// The user of the connection.
    pub(crate) user: &'f str,
    pub(crate) settings: &'f Settings,
    pub(crate) options: &'f StatementOptions,
    pub(crate) analytical: Option<Arc<dyn Analytical>>,
    pub(crate) log: &'f TransactionLog,
}

/// That a change is made whose triggers have been seen to, until this is dropped.
#[derive(Debug)]
pub(crate) struct Permit<'r>(&'r Runner);

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.0.permits.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Runner {
    /// Lets a change pass.
    pub(crate) fn permit(&self) -> Permit<'_> {
        self.permits.fetch_add(1, Ordering::Relaxed);
        Permit(self)
    }

    /// Switches the triggers of the connection off, or on again.
    pub(crate) fn switch(&self, is_on: bool) {
        self.is_off.store(!is_on, Ordering::Relaxed);
    }

    /// Whether the connection fires triggers.
    pub(crate) fn is_on(&self) -> bool {
        !self.is_off.load(Ordering::Relaxed)
    }

    /// Lets the connection keep relations, or not.
    pub(crate) fn keep_relations(&self, keeps: bool) {
        self.relations_off.store(!keeps, Ordering::Relaxed);
    }

    /// Whether the connection keeps relations.
    pub(crate) fn keeps_relations(&self) -> bool {
        !self.relations_off.load(Ordering::Relaxed)
    }

    /// Closes what the scripts of triggers have open.
    pub(crate) fn lay_down(&self) {
        *locked(&self.inner) = None;
    }

    /// Whether an event fires a trigger now: those that run already, and are no BEFORE triggers, do not fire again.
    pub(crate) fn fires(&self, triggers: &TableTriggers, event: TriggerEvent) -> bool {
        let moments = [TriggerMoment::Before, TriggerMoment::InsteadOf, TriggerMoment::After];
        self.is_on() && moments.into_iter().any(|moment| self.has(triggers, event, moment))
    }

    /// Whether the triggers of a moment fire.
    pub(crate) fn has(&self, triggers: &TableTriggers, event: TriggerEvent, moment: TriggerMoment) -> bool {
        // An INSTEAD OF trigger that writes to its own table writes, and nothing follows.
        let replaces = triggers.of(event, TriggerMoment::InsteadOf).next().is_some();
        if moment == TriggerMoment::After && replaces {
            return false;
        }
        let running = locked(&self.running);
        triggers
            .of(event, moment)
            .any(|trigger| moment == TriggerMoment::Before || !running.contains(&trigger.number))
    }

    /// Runs the triggers of a moment. An error is that of the first that fails.
    ///
    /// # Errors
    /// [`ErrorCode::TriggerFailed`].
    pub(crate) fn fire(&self, firing: &Firing<'_>, moment: TriggerMoment, rows: &mut GivenTables) -> Result<()> {
        if !self.has(firing.triggers, firing.event, moment) {
            return Ok(());
        }
        let running = locked(&self.running).clone();
        for trigger in firing.triggers.of(firing.event, moment) {
            if moment != TriggerMoment::Before && running.contains(&trigger.number) {
                continue;
            }
            let (parent, table) = (firing.triggers.parent(), &firing.triggers.table);
            let failed = |why: String| {
                let (name, event, moment) = (&trigger.name, trigger.event.name(), trigger.moment.name());
                let what = format!("trigger {name} of {parent} {table} ({moment} {event}): {why}");
                Error::new(ErrorCode::TriggerFailed, what)
            };
            if trigger.kind != TriggerContainer::Script {
                return Err(failed(format!(
                    "it is the function {} of {}, and libraries are not loaded",
                    trigger.function, trigger.container
                )));
            }
            if running.len() >= MAX_DEPTH {
                return Err(failed(format!("triggers fire one another more than {MAX_DEPTH} deep")));
            }
            let inner_running = running.iter().copied().chain([trigger.number]).collect();
            self.run(trigger, firing, inner_running, rows)
                .map_err(|error| failed(error.to_string()))?;
        }
        Ok(())
    }

    fn run(&self, trigger: &Trigger, firing: &Firing<'_>, running: Vec<u32>, rows: &mut GivenTables) -> Result<()> {
        let mut inner = locked(&self.inner);
        let connection = match &mut *inner {
            Some(known) => known,
            none => {
                let opened = Connection::open_dictionary(&firing.dictionary, true, firing.settings)?;
                none.insert(Box::new(opened))
            }
        };
        connection.acts_for = Some(firing.user.to_owned());
        connection.set_analytical(firing.analytical.clone());
        *locked(&connection.runner.running) = running;
        connection.runner.keep_relations(self.keeps_relations());
        connection.transactions = Transactions::joined(firing.log)?;
        std::mem::swap(&mut connection.statements.given, rows);
        let done = run_trigger(&trigger.container, connection, firing.settings, firing.options);
        std::mem::swap(&mut connection.statements.given, rows);
        let laid_down = connection.statements.lay_down();
        connection.transactions = Transactions::default();
        done.and(laid_down)
    }
}

/// Who lets no change of a table pass that would have to fire triggers, and keeps its relations.
#[derive(Debug)]
pub(crate) struct Guard {
    triggers: Arc<TableTriggers>,
    runner: Arc<Runner>,
    keeper: Option<Box<dyn Follower>>,
}

impl Guard {
    pub(crate) fn new(triggers: Arc<TableTriggers>, runner: &Arc<Runner>, keeper: Option<Box<dyn Follower>>) -> Self {
        Self {
            triggers,
            runner: Arc::clone(runner),
            keeper,
        }
    }
}

impl Follower for Guard {
    fn follow(&mut self, table: &mut TableEditor, change: RecordChange<'_>) -> tidemill_xbase::Result<()> {
        let event = match (change.before, change.after) {
            (None, _) => TriggerEvent::Insert,
            (Some(_), Some(_)) => TriggerEvent::Update,
            (Some(_), None) => TriggerEvent::Delete,
        };
        let is_seen_to = self.runner.permits.load(Ordering::Relaxed) > 0;
        if !is_seen_to
            && self.runner.fires(&self.triggers, event)
            && let Some(trigger) = self.triggers.first(event)
        {
            return Err(tidemill_xbase::Error::Rule(Box::new(BrokenRule {
                path: table.path().to_owned(),
                record: change.record,
                field: None,
                rule: RuleKind::Trigger(trigger.name.clone()),
                message: None,
            })));
        }
        match &mut self.keeper {
            Some(keeper) => keeper.follow(table, change),
            None => Ok(()),
        }
    }

    fn let_go(&mut self) {
        if let Some(keeper) = &mut self.keeper {
            keeper.let_go();
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
