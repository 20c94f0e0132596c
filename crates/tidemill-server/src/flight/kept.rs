//! What is kept between requests of a client: answers that it has not fetched yet, prepared statements, and transactions.
//!
//! Handles are random and hold for their user alone. A transaction that has changed something ends with its connection, so that nobody
//! waits for the locks of a client that has gone. One that has only read outlives it, since clients close connections that are idle.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use tidemill_sql::Session;
use tonic::Status;

use super::caller::{Caller, Connection};
use super::rows::Rows;
use super::statements::Place;
use crate::users::random;

/// An answer is fetched within this time.
const UNFETCHED: Duration = Duration::from_secs(60);
/// Prepared statements and transactions that are not used for so long are forgotten.
const UNUSED: Duration = Duration::from_secs(3600);
/// How many of each kind there are.
const MOST: usize = 10_000;

type Handle = [u8; 16];

/// What all clients have left here.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) answers: Handles<Waiting>,
    pub(super) prepared: Handles<Arc<Prepared>>,
    pub(super) transactions: Handles<Arc<Transaction>>,
}

/// An answer that waits for its client.
pub(super) enum Waiting {
    /// Rows of a query that has begun.
    Rows(Box<Rows>),
    /// A statement that is no query is run when its answer is fetched, since clients may ask for an answer's shape and leave it there.
    Change(Box<Change>),
}

/// A statement that changes something, or a script.
pub(super) struct Change {
    pub(super) text: Arc<str>,
    pub(super) place: Place,
    pub(super) values: Vec<RecordBatch>,
}

/// A prepared statement.
pub(super) struct Prepared {
    pub(super) text: Arc<str>,
    /// The columns of its rows; `None` where it gives none, or where they are not known yet.
    pub(super) schema: Option<SchemaRef>,
    pub(super) parameters: SchemaRef,
    pub(super) transaction: Option<Bytes>,
    /// The values of its next run.
    pub(super) bound: Mutex<Vec<RecordBatch>>,
}

/// A transaction, in a session of its own.
pub(super) struct Transaction {
    pub(super) session: Arc<Session>,
    pub(super) has_changed: AtomicBool,
    /// How many savepoints it has had.
    pub(super) savepoints: std::sync::atomic::AtomicU64,
}

/// Things of one kind, by their handles.
pub(super) struct Handles<T>(Mutex<HashMap<Handle, Item<T>>>);

struct Item<T> {
    user: String,
    used: Instant,
    connection: Weak<Connection>,
    value: T,
}

impl<T> Default for Handles<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Handles<T> {
    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<Handle, Item<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps something for a caller, and returns its handle.
    ///
    /// # Errors
    ///
    /// `RESOURCE_EXHAUSTED` when too much is kept.
    pub(super) fn put(&self, caller: &Caller, value: T) -> Result<Bytes, Status> {
        self.put_as(random(), caller, value)
    }

    /// As [`Handles::put`], with a handle.
    pub(super) fn put_as(&self, handle: Handle, caller: &Caller, value: T) -> Result<Bytes, Status> {
        let mut known = self.known();
        if known.len() >= MOST {
            let all = format!("{MOST} of these are open already; close some");
            return Err(Status::resource_exhausted(all));
        }
        let item = Item {
            user: caller.user.clone(),
            used: Instant::now(),
            connection: Arc::downgrade(&caller.connection),
            value,
        };
        known.insert(handle, item);
        Ok(Bytes::copy_from_slice(&handle))
    }

    /// Takes what a handle stands for.
    pub(super) fn take(&self, caller: &Caller, handle: &[u8]) -> Option<T> {
        let handle = Handle::try_from(handle).ok()?;
        let mut known = self.known();
        known.get(&handle).filter(|item| item.user == caller.user)?;
        known.remove(&handle).map(|item| item.value)
    }

    /// What a handle stands for.
    pub(super) fn get(&self, caller: &Caller, handle: &[u8]) -> Option<T>
    where
        T: Clone,
    {
        let handle = Handle::try_from(handle).ok()?;
        let mut known = self.known();
        let item = known.get_mut(&handle).filter(|item| item.user == caller.user)?;
        // It goes on over this connection.
        (item.used, item.connection) = (Instant::now(), Arc::downgrade(&caller.connection));
        Some(item.value.clone())
    }

    fn retain(&self, keeps: impl Fn(&Item<T>) -> bool) {
        let gone: Vec<Item<T>> = {
            let mut known = self.known();
            let over: Vec<Handle> = known
                .iter()
                .filter(|(_, item)| !keeps(item))
                .map(|(handle, _)| *handle)
                .collect();
            over.iter().filter_map(|handle| known.remove(handle)).collect()
        };
        // Taking a transaction back takes its time, and others wait for the lock.
        drop(gone);
    }
}

impl Kept {
    /// Forgets what nobody comes back for.
    pub(super) fn tidy(&self) {
        let is_there = |connection: &Weak<Connection>| connection.strong_count() > 0;
        self.answers
            .retain(|item| item.used.elapsed() < UNFETCHED && is_there(&item.connection));
        self.prepared.retain(|item| item.used.elapsed() < UNUSED);
        self.transactions.retain(|item| {
            let has_changed = item.value.has_changed.load(Ordering::Relaxed);
            item.used.elapsed() < UNUSED && (!has_changed || is_there(&item.connection))
        });
    }

    /// Ends what a caller has begun over this connection.
    pub(super) fn close(&self, caller: &Caller) {
        let here = Arc::as_ptr(&caller.connection);
        let is_other = |connection: &Weak<Connection>| connection.as_ptr() != here;
        self.answers
            .retain(|item| item.user != caller.user || is_other(&item.connection));
        self.prepared
            .retain(|item| item.user != caller.user || is_other(&item.connection));
        self.transactions
            .retain(|item| item.user != caller.user || is_other(&item.connection));
    }
}
