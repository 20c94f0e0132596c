//! Events: what connections of a program tell each other about a database ("Events (Notifications)" in ADS's help).
//!
//! A connection that has created an event receives every signal, even while it does not wait. The local server of ADS shares signals between
//! programs through a table that it polls; here the connections of one program share them.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// The most signals with data that an event keeps; older ones go.
const MOST_SIGNALS: usize = 10_000;

/// The inboxes of all connections, each with the database whose signals it takes.
static INBOXES: Mutex<Vec<(PathBuf, Weak<Inbox>)>> = Mutex::new(Vec::new());

/// The events of a connection.
#[derive(Debug, Default)]
pub(crate) struct Events {
    inbox: Option<Arc<Inbox>>,
    /// Signals that go out when the transaction is committed.
    held: Vec<(PathBuf, Signal)>,
}

/// One signal of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Signal {
    pub(crate) name: String,
    pub(crate) data: Option<String>,
}

/// The answer to a connection that waits for an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) name: String,
    /// How often it was signalled; of one with data the number of the signal. 0: the time is over.
    pub(crate) count: u32,
    pub(crate) data: Option<String>,
}

#[derive(Debug, Default)]
struct Inbox {
    /// By their names in small letters.
    events: Mutex<BTreeMap<String, Event>>,
    arrived: Condvar,
}

#[derive(Debug)]
struct Event {
    name: String,
    has_data: bool,
    /// Since it was waited for; of one with data since it was created.
    count: u32,
    signals: VecDeque<(u32, Option<String>)>,
}

impl Event {
    fn take(&mut self, signal: &Signal) {
        self.count = self.count.saturating_add(1);
        if self.has_data {
            if self.signals.len() >= MOST_SIGNALS {
                self.signals.pop_front();
            }
            self.signals.push_back((self.count, signal.data.clone()));
        }
    }

    /// What there is to tell; nothing where it was not signalled.
    fn told(&mut self) -> Vec<Told> {
        let name = || self.name.clone();
        if self.has_data {
            let signals = self.signals.drain(..);
            return signals
                .map(|(count, data)| Told {
                    name: self.name.clone(),
                    count,
                    data,
                })
                .collect();
        }
        match self.count {
            0 => Vec::new(),
            count => {
                let told = Told {
                    name: name(),
                    count,
                    data: None,
                };
                self.count = 0;
                vec![told]
            }
        }
    }
}

impl Inbox {
    fn locked(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Event>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Events {
    /// Takes part in an event of a database. One that is there already stays as it is.
    pub(crate) fn create(&mut self, database: &Path, name: &str, has_data: bool) {
        let inbox = self.inbox.get_or_insert_with(|| {
            let inbox = Arc::<Inbox>::default();
            let mut inboxes = INBOXES.lock().unwrap_or_else(PoisonError::into_inner);
            inboxes.retain(|(_, inbox)| inbox.strong_count() > 0);
            inboxes.push((database.to_owned(), Arc::downgrade(&inbox)));
            inbox
        });
        let mut events = inbox.locked();
        events.entry(name.to_lowercase()).or_insert_with(|| Event {
            name: name.to_owned(),
            has_data,
            count: 0,
            signals: VecDeque::new(),
        });
    }

    /// Takes no part in an event any more; `false` where it took none.
    pub(crate) fn leave(&mut self, name: &str) -> bool {
        let inbox = self.inbox.as_ref();
        inbox.is_some_and(|inbox| inbox.locked().remove(&name.to_lowercase()).is_some())
    }

    /// Takes part in no event.
    pub(crate) fn leave_all(&mut self) {
        self.inbox = None;
    }

    /// Signals an event when the transaction is committed.
    pub(crate) fn hold(&mut self, database: &Path, signal: Signal) {
        self.held.push((database.to_owned(), signal));
    }

    /// Signals what was held.
    pub(crate) fn let_out(&mut self) {
        for (database, signal) in std::mem::take(&mut self.held) {
            signal.send(&database);
        }
    }

    /// Forgets what was held.
    pub(crate) fn forget(&mut self) {
        self.held.clear();
    }

    /// Waits until an event is signalled, one of a name or any, or the time is over: then there is nothing. `None`: it takes no part in the
    /// event.
    ///
    /// # Errors
    /// What `check` says, which is asked again and again.
    pub(crate) fn wait<E>(
        &self,
        name: Option<&str>,
        time: Option<Duration>,
        check: impl Fn() -> Result<(), E>,
    ) -> Result<Option<Vec<Told>>, E> {
        /// So often it is asked whether the program still waits.
        const STEP: Duration = Duration::from_millis(50);
        let Some(inbox) = &self.inbox else { return Ok(None) };
        let end = time.and_then(|time| Instant::now().checked_add(time));
        let mut events = inbox.locked();
        loop {
            let told = match name {
                Some(name) => match events.get_mut(&name.to_lowercase()) {
                    Some(event) => event.told(),
                    None => return Ok(None),
                },
                None if events.is_empty() => return Ok(None),
                None => events
                    .values_mut()
                    .map(Event::told)
                    .find(|told| !told.is_empty())
                    .unwrap_or_default(),
            };
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if !told.is_empty() || left == Some(Duration::ZERO) {
                return Ok(Some(told));
            }
            check()?;
            let step = left.map_or(STEP, |left| left.min(STEP));
            let waited = inbox.arrived.wait_timeout(events, step);
            (events, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Signal {
    /// Tells all connections to a database that take part in the event.
    pub(crate) fn send(&self, database: &Path) {
        let inboxes = INBOXES.lock().unwrap_or_else(PoisonError::into_inner);
        let of_database = inboxes.iter().filter(|(known, _)| known == database);
        for inbox in of_database.filter_map(|(_, inbox)| inbox.upgrade()) {
            if let Some(event) = inbox.locked().get_mut(&self.name.to_lowercase()) {
                event.take(self);
            }
            inbox.arrived.notify_all();
        }
    }
}
