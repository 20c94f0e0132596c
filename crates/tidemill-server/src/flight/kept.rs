//! State between the requests of a client: results not yet fetched, prepared statements, and transactions.
//!
//! Handles are random and valid only for their user. A transaction that has changed something is rolled back when its connection ends, so
//! that its locks do not outlive the client. A read-only one outlives the connection, since clients close idle connections.

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

/// A result must be fetched within this time.
const UNFETCHED: Duration = Duration::from_secs(60);
/// Prepared statements and transactions expire when unused for this time.
const UNUSED: Duration = Duration::from_secs(3600);
/// The most entries of each kind.
const MOST: usize = 10_000;

type Handle = [u8; 16];

/// The state of all clients.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) answers: Handles<Waiting>,
    pub(super) prepared: Handles<Arc<Prepared>>,
    pub(super) transactions: Handles<Arc<Transaction>>,
}

/// A result that is not fetched yet.
pub(super) enum Waiting {
    /// The rows of a running query.
    Rows(Box<Rows>),
    /// A statement that is not a query. It runs when its result is fetched, since clients may ask only for a result's schema.
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
    /// The columns of its rows; `None` if it returns no rows, or if they are not known yet.
    pub(super) schema: Option<SchemaRef>,
    pub(super) parameters: SchemaRef,
    pub(super) transaction: Option<Bytes>,
    /// The parameter values of its next run.
    pub(super) bound: Mutex<Vec<RecordBatch>>,
}

/// A transaction; it has its own session.
pub(super) struct Transaction {
    pub(super) session: Arc<Session>,
    pub(super) has_changed: AtomicBool,
    /// How many savepoints it has set.
    pub(super) savepoints: std::sync::atomic::AtomicU64,
}

/// Entries of one kind, by their handles.
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

    /// Stores a value for a caller, and returns its handle.
    ///
    /// # Errors
    ///
    /// `RESOURCE_EXHAUSTED` when there are too many entries.
    pub(super) fn put(&self, caller: &Caller, value: T) -> Result<Bytes, Status> {
        self.put_as(random(), caller, value)
    }

    /// As [`Handles::put`], under a given handle.
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

    /// Removes and returns the value of a handle.
    pub(super) fn take(&self, caller: &Caller, handle: &[u8]) -> Option<T> {
        let handle = Handle::try_from(handle).ok()?;
        let mut known = self.known();
        known.get(&handle).filter(|item| item.user == caller.user)?;
        known.remove(&handle).map(|item| item.value)
    }

    /// The value of a handle.
    pub(super) fn get(&self, caller: &Caller, handle: &[u8]) -> Option<T>
    where
        T: Clone,
    {
        let handle = Handle::try_from(handle).ok()?;
        let mut known = self.known();
        let item = known.get_mut(&handle).filter(|item| item.user == caller.user)?;
        // From now on it belongs to this connection.
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
        // Dropped after the lock is released: rolling a transaction back takes time.
        drop(gone);
    }
}

impl Kept {
    /// Removes what has expired.
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

    /// Removes what a caller has created over this connection.
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
