//! Stopping a query that runs.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::Waker,
};

use futures::task::AtomicWaker;

/// Stops the query that it was taken from or given to, from any thread.
///
/// The query then ends with [`Error::Cancelled`](crate::Error::Cancelled), and its connection is free for others as soon as
/// the server has stopped. It does nothing to a query that has ended. A handle is for one query.
#[derive(Clone, Debug, Default)]
pub struct CancelHandle(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    is_requested: AtomicBool,
    waker: AtomicWaker,
}

impl CancelHandle {
    /// A handle for a query that is yet to be sent.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the query to stop.
    pub fn cancel(&self) {
        self.0.is_requested.store(true, Ordering::Release);
        self.0.waker.wake();
    }

    /// Whether someone asked.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_requested.load(Ordering::Acquire)
    }

    /// Whether someone asked; if not, `waker` is told when someone does.
    pub(crate) fn watch(&self, waker: &Waker) -> bool {
        self.0.waker.register(waker);
        self.is_cancelled()
    }
}
