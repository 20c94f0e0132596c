//! What the driver sends again, counted: a report has to know, for it is in the latencies.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use scylla::errors::{RequestAttemptError, RequestError};
use scylla::observability::history::{AttemptId, HistoryListener, RequestId, SpeculativeId};
use scylla::policies::retry::RetryDecision;

/// Counts the attempts of the driver after the first of each request. Speculative ones are none: they are asked for.
#[derive(Debug, Default)]
pub(super) struct Resent {
    count: AtomicU32,
    next: AtomicUsize,
    /// Requests that were sent.
    sent: Mutex<HashSet<usize>>,
}

impl Resent {
    /// Counts one that somebody else sent first.
    pub(super) fn add(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// How many since the last call.
    pub(super) fn take(&self) -> u32 {
        match self.count.load(Ordering::Relaxed) {
            0 => 0,
            _ => self.count.swap(0, Ordering::Relaxed),
        }
    }

    fn forget(&self, request: RequestId) {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.remove(&request.0);
    }
}

impl HistoryListener for Resent {
    fn log_request_start(&self) -> RequestId {
        RequestId(self.next.fetch_add(1, Ordering::Relaxed))
    }

    fn log_request_success(&self, request: RequestId) {
        self.forget(request);
    }

    fn log_request_error(&self, request: RequestId, _: &RequestError) {
        self.forget(request);
    }

    fn log_new_speculative_fiber(&self, _: RequestId) -> SpeculativeId {
        SpeculativeId(0)
    }

    fn log_attempt_start(&self, request: RequestId, speculative: Option<SpeculativeId>, _: SocketAddr) -> AttemptId {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        if speculative.is_none() && !sent.insert(request.0) {
            self.add();
        }
        AttemptId(0)
    }

    fn log_attempt_success(&self, _: AttemptId) {}

    fn log_attempt_error(&self, _: AttemptId, _: &RequestAttemptError, _: &RetryDecision) {}
}
