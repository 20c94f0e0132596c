//! A statement of HTTP or Flight SQL: its cancellation, its time limit, and its line in the log.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tidemill_sql::{is_query, stoppable};
use tokio::sync::watch;

use crate::failure::Failure;
use crate::server::Shared;
use crate::users::Rights;

/// Cancels the statements that watch it.
#[derive(Clone, Debug)]
pub(crate) struct Canceller(Arc<watch::Sender<u64>>);

impl Canceller {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }

    pub(crate) fn cancel(&self) {
        self.0.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Watches for cancellations from now on.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}

/// A user, and a name that the user gave to statements.
type Key = (String, Vec<u8>);

/// Statements that can be cancelled. Several may have one name.
#[derive(Debug, Default)]
pub(crate) struct Cancels(Mutex<HashMap<Key, Vec<Canceller>>>);

impl Cancels {
    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Vec<Canceller>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, key: Key, canceller: Canceller) {
        self.known().entry(key).or_default().push(canceller);
    }

    /// Cancels the statements of this name. Returns whether there was one.
    pub(crate) fn cancel(&self, user: &str, name: &[u8]) -> bool {
        let known = self.known();
        let found = known.get(&(user.to_owned(), name.to_vec()));
        found.into_iter().flatten().for_each(Canceller::cancel);
        found.is_some()
    }

    /// Forgets a statement that has ended. Others of its name can still be cancelled.
    fn remove(&self, key: &Key, ended: &Canceller) {
        let mut known = self.known();
        if let Some(cancellers) = known.get_mut(key) {
            cancellers.retain(|canceller| !Arc::ptr_eq(&canceller.0, &ended.0));
            if cancellers.is_empty() {
                known.remove(key);
            }
        }
    }
}

/// A statement in flight. If it is dropped before its end, it is logged as cancelled.
pub(crate) struct Statement {
    shared: Arc<Shared>,
    door: &'static str,
    user: String,
    may_write: bool,
    pub(crate) text: Arc<str>,
    /// The key to cancel it, and what that cancels.
    key: Option<(Key, Canceller)>,
    begun: Instant,
    ends: Ends,
    /// How many rows were returned or changed so far.
    rows: u64,
    /// The most rows it may return.
    most: Option<u64>,
    is_logged: bool,
}

/// What can stop a statement.
struct Ends {
    cancelled: watch::Receiver<u64>,
    deadline: Option<tokio::time::Instant>,
}

impl Ends {
    /// Waits until the statement has to stop, and returns why.
    async fn wait(&mut self) -> Failure {
        let deadline = async {
            match self.deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            Ok(()) = self.cancelled.changed() => Failure::cancelled(),
            () = deadline => Failure::out_of_time(),
        }
    }
}

impl Statement {
    /// Begins a statement. Its user can cancel it by its name, if it has one.
    pub(crate) fn begin(
        shared: &Arc<Shared>,
        door: &'static str,
        (user, rights): (&str, &Rights),
        text: impl Into<Arc<str>>,
        name: Option<&[u8]>,
    ) -> Self {
        let canceller = Canceller::new();
        let cancelled = canceller.watch();
        let key = name.map(|name| ((user.to_owned(), name.to_vec()), canceller));
        if let Some((key, canceller)) = &key {
            shared.cancels.add(key.clone(), canceller.clone());
        }
        let deadline = rights
            .statement_time
            .and_then(|time| tokio::time::Instant::now().checked_add(time));
        Self {
            shared: Arc::clone(shared),
            door,
            user: user.to_owned(),
            may_write: rights.may_write,
            text: text.into(),
            key,
            begun: Instant::now(),
            ends: Ends { cancelled, deadline },
            rows: 0,
            most: rights.rows,
            is_logged: false,
        }
    }

    /// Whether it only reads.
    ///
    /// # Errors
    ///
    /// Errors of a text that is not a statement; SQLSTATE 42501 for a change by a user with read-only rights.
    pub(crate) fn reads(&self) -> Result<bool, Failure> {
        let blank = |letter: char| letter == ';' || letter.is_whitespace();
        if self.text.trim_matches(blank).is_empty() {
            return Err(Failure::new("42601", "there is no statement"));
        }
        let of_session = |error: tidemill_sql::Error| self.failure(&error);
        let reads = is_query(&self.text).map_err(of_session)?;
        if !reads && !self.may_write {
            // Each statement of the text must read.
            for part in crate::postgres::split(&self.text)? {
                if !is_query(&part).map_err(of_session)? {
                    return Err(Failure::only_reads());
                }
            }
        }
        Ok(reads)
    }

    /// When it began.
    pub(crate) fn begun(&self) -> Instant {
        self.begun
    }

    /// Converts an error of the session.
    pub(crate) fn failure(&self, error: &tidemill_sql::Error) -> Failure {
        Failure::of(error, &self.text)
    }

    /// Waits for work that can be dropped at any point.
    ///
    /// # Errors
    ///
    /// The error of the work, or why the statement was stopped.
    pub(crate) async fn within<T, E: Into<Failure>>(
        &mut self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Failure> {
        tokio::select! {
            biased;
            done = work => done.map_err(Into::into),
            why = self.ends.wait() => Err(why),
        }
    }

    /// Waits for work that only reads.
    ///
    /// # Errors
    ///
    /// As [`Statement::within`].
    pub(crate) async fn read<T>(&mut self, work: impl Future<Output = tidemill_sql::Result<T>>) -> Result<T, Failure> {
        tokio::select! {
            biased;
            done = work => done.map_err(|error| Failure::of(&error, &self.text)),
            why = self.ends.wait() => Err(why),
        }
    }

    /// Waits for a change. A change that has to stop rolls itself back.
    ///
    /// # Errors
    ///
    /// As [`Statement::within`].
    pub(crate) async fn change<T>(
        &mut self,
        work: impl Future<Output = tidemill_sql::Result<T>>,
    ) -> Result<T, Failure> {
        let is_stopped = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&is_stopped);
        let mut work = std::pin::pin!(stoppable(move || asked.load(Ordering::Relaxed), work));
        tokio::select! {
            biased;
            done = &mut work => done.map_err(|error| Failure::of(&error, &self.text)),
            why = self.ends.wait() => {
                is_stopped.store(true, Ordering::Relaxed);
                // It may have finished before it was stopped.
                work.await.map_err(|_| why)
            }
        }
    }

    /// Counts rows of the result.
    ///
    /// # Errors
    ///
    /// SQLSTATE 54000 for more rows than the user may read.
    pub(crate) fn count(&mut self, rows: u64) -> Result<(), Failure> {
        self.rows += rows;
        match self.most.is_some_and(|most| self.rows > most) {
            true => Err(Failure::too_many_rows()),
            false => Ok(()),
        }
    }

    /// Counts changed rows.
    pub(crate) fn changed(&mut self, rows: Option<u64>) {
        self.rows += rows.unwrap_or(0);
    }

    /// Logs the statement, and returns its outcome.
    pub(crate) fn end<T>(&mut self, done: Result<T, Failure>) -> Result<T, Failure> {
        self.log(done.as_ref().err().map(Failure::line));
        done
    }

    /// Logs the statement, and returns its error.
    pub(crate) fn failed(&mut self, failure: Failure) -> Failure {
        self.log(Some(failure.line()));
        failure
    }

    /// Drops the statement without a line in the log, since it does not run now.
    pub(crate) fn forget(mut self) {
        self.is_logged = true;
    }

    fn log(&mut self, error: Option<String>) {
        if !std::mem::replace(&mut self.is_logged, true) {
            self.shared
                .log(self.door, &self.user, &self.text, self.begun, self.rows, error);
        }
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        if let Some((key, canceller)) = &self.key {
            self.shared.cancels.remove(key, canceller);
        }
        self.log(Some(Failure::cancelled().line()));
    }
}
