//! Cancellation of statements and connections.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use adbc_core::CancelHandle;
use adbc_core::error::Result;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::error;
use crate::process_bound::ProcessBound;

/// Cancels the work in flight; later work is not affected.
#[derive(Clone, Debug)]
pub(crate) struct Canceller(Arc<watch::Sender<u64>>);

impl Canceller {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}

impl CancelHandle for Canceller {
    fn try_cancel(&self) -> Result<()> {
        self.0.send_modify(|count| *count = count.wrapping_add(1));
        Ok(())
    }
}

/// Detects whether the work in flight was cancelled.
#[derive(Clone, Debug)]
pub(crate) struct Watch([watch::Receiver<u64>; 2]);

impl Watch {
    /// # Errors
    ///
    /// [`Status::Cancelled`](adbc_core::error::Status::Cancelled).
    pub(crate) fn check(&self) -> Result<()> {
        match self.0.iter().any(|canceller| canceller.has_changed().unwrap_or(false)) {
            true => Err(error::cancelled()),
            false => Ok(()),
        }
    }
}

/// Work of a statement, which the statement or its connection can cancel.
#[derive(Debug)]
pub(crate) struct Work {
    runtime: Arc<ProcessBound<Runtime>>,
    watch: Watch,
}

impl Work {
    pub(crate) fn begin(runtime: &Arc<ProcessBound<Runtime>>, cancellers: [&Canceller; 2]) -> Self {
        Self {
            runtime: Arc::clone(runtime),
            watch: Watch(cancellers.map(|canceller| canceller.0.subscribe())),
        }
    }

    /// Detects cancellation on a thread of the runtime, which must not own the runtime.
    pub(crate) fn watch(&self) -> &Watch {
        &self.watch
    }

    /// Waits for a future, and drops it if the work is cancelled.
    ///
    /// # Errors
    ///
    /// [`Status::Cancelled`](adbc_core::error::Status::Cancelled); errors of the future.
    pub(crate) fn run<T>(&mut self, work: impl Future<Output = tidemill_sql::Result<T>>) -> Result<T> {
        let Watch([own, connection]) = &mut self.watch;
        let runtime = self.runtime.get()?;
        let work = async {
            tokio::select! {
                biased;
                // If the senders are gone, nothing can be cancelled.
                Ok(()) = own.changed() => Err(error::cancelled()),
                Ok(()) = connection.changed() => Err(error::cancelled()),
                done = work => done.map_err(error::of_session),
            }
        };
        unwound(|| runtime.block_on(work))
    }

    /// Waits for a change. A cancelled change rolls itself back.
    ///
    /// # Errors
    ///
    /// [`Status::Cancelled`](adbc_core::error::Status::Cancelled); errors of the future.
    pub(crate) fn change<T>(&self, work: impl Future<Output = tidemill_sql::Result<T>>) -> Result<T> {
        let watch = self.watch.clone();
        let work = tidemill_sql::stoppable(move || watch.check().is_err(), work);
        let runtime = self.runtime.get()?;
        let done = unwound(|| runtime.block_on(work).map_err(error::of_session));
        // It may have finished before it was stopped.
        done.map_err(|error| self.watch.check().err().unwrap_or(error))
    }

    /// Waits for a future that must not be dropped before its end.
    ///
    /// # Errors
    ///
    /// Errors of the future.
    pub(crate) fn finish<T>(&self, work: impl Future<Output = tidemill_sql::Result<T>>) -> Result<T> {
        let runtime = self.runtime.get()?;
        unwound(|| runtime.block_on(work).map_err(error::of_session))
    }
}

/// Converts a panic, which is a defect of this library, to an error. If a panic reaches `adbc_ffi`, it frees nothing from then on.
fn unwound<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|cause| {
        let told = cause.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let told = told.or_else(|| cause.downcast_ref::<String>().cloned());
        Err(error::panicked(&told.unwrap_or_else(|| "without a word".to_owned())))
    })
}
