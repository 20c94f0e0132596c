//! How long a connection waits: for its peer, for the end of a query, for the end of one that was cancelled.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::time::{Instant, Sleep, sleep_until};

use super::{Options, cancel::CancelHandle};
use crate::Error;

/// The waiting of one connection.
pub(super) struct Clocks {
    read_timeout: Duration,
    write_timeout: Duration,
    cancel_timeout: Duration,
    /// Rings at `until` or before it. Moving a timer costs more than looking at the time when it rings.
    sleep: Pin<Box<Sleep>>,
    /// When the nearest clock rings, as long as the waiting continues that it was wound up for.
    until: Option<Instant>,
    /// The bytes that were received since then.
    received: usize,
    handle: Option<CancelHandle>,
    deadline: Option<Deadline>,
    /// Why the query was cancelled, and until when its end is waited for.
    cancelled: Option<(Cancelled, Instant)>,
}

/// When a query has to have ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    pub(crate) until: Instant,
    /// How long the query has in all.
    pub(crate) limit: Duration,
}

impl Deadline {
    /// So long from now. `None` too when that is longer than clocks go.
    pub(crate) fn in_time(limit: Option<Duration>) -> Option<Self> {
        let limit = limit?;
        let until = Instant::now().checked_add(limit)?;
        Some(Self { until, limit })
    }

    pub(crate) fn error(self) -> Error {
        Cancelled::Deadline(self.limit).error()
    }
}

/// Why a query was cancelled.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cancelled {
    /// By its handle.
    Handle,
    /// By its deadline, which was so long.
    Deadline(Duration),
    /// Nobody reads it any more.
    Drop,
}

impl Cancelled {
    pub(crate) fn error(self) -> Error {
        match self {
            Self::Handle | Self::Drop => Error::Cancelled,
            Self::Deadline(limit) => Error::Timeout {
                action: "the query",
                limit,
            },
        }
    }
}

impl Clocks {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            read_timeout: options.read_timeout,
            write_timeout: options.write_timeout,
            cancel_timeout: options.cancel_timeout,
            sleep: Box::pin(sleep_until(Instant::now())),
            until: None,
            received: 0,
            handle: None,
            deadline: None,
            cancelled: None,
        }
    }

    /// How long silence may be.
    pub(super) fn read_timeout(&self) -> Duration {
        self.read_timeout
    }

    /// Begins to watch for what ends a query early.
    pub(super) fn watch(&mut self, handle: CancelHandle, deadline: Option<Deadline>) {
        self.forget_query();
        (self.handle, self.deadline) = (Some(handle), deadline);
    }

    /// Stops to watch for what ended the last query early, or would have.
    pub(super) fn forget_query(&mut self) {
        (self.handle, self.deadline, self.cancelled, self.until) = (None, None, None, None);
    }

    /// Why the query is to end, if it is.
    pub(super) fn due(&self) -> Option<Cancelled> {
        if self.handle.as_ref().is_some_and(CancelHandle::is_cancelled) {
            return Some(Cancelled::Handle);
        }
        let passed = self.deadline.filter(|deadline| deadline.until <= Instant::now());
        passed.map(|deadline| Cancelled::Deadline(deadline.limit))
    }

    /// Whether the handle was used and the query not yet cancelled for it; if not, the task is woken when it is.
    pub(super) fn is_handle_used(&self, context: &Context<'_>) -> bool {
        let handle = self.handle.as_ref().filter(|_| self.cancelled.is_none());
        handle.is_some_and(|handle| handle.watch(context.waker()))
    }

    /// Begins to wait for the end of a query that was cancelled.
    pub(super) fn begin_to_cancel(&mut self, why: Cancelled) {
        let patience = match why {
            // Who has a deadline does not want to wait for many times as long.
            Cancelled::Deadline(limit) => self.cancel_timeout.min(limit.max(LEAST_PATIENCE)),
            Cancelled::Handle | Cancelled::Drop => self.cancel_timeout,
        };
        self.cancelled = Some((why, Instant::now() + patience.min(LONGEST)));
        self.rewind();
    }

    /// Why the query was cancelled, if it was.
    pub(super) fn cancelled(&self) -> Option<Cancelled> {
        self.cancelled.map(|(why, _)| why)
    }

    /// Whether a cancelled query was waited for long enough.
    pub(super) fn is_patience_over(&self) -> bool {
        self.cancelled.is_some_and(|(_, until)| until <= Instant::now())
    }

    /// Something went on: the silence starts again.
    pub(super) fn rewind(&mut self) {
        self.until = None;
    }

    /// Takes note of bytes that were received. A few are not the end of the silence: a server that sends one at a time would
    /// never be left. The end of a packet or block is.
    pub(super) fn hear(&mut self, count: usize) {
        self.received = self.received.saturating_add(count);
        if self.received as f64 >= self.read_timeout.as_secs_f64() * LEAST_BYTES_A_SECOND {
            self.rewind();
        }
    }

    /// Waits for what ends the waiting to read: its error.
    pub(super) fn poll_read_timeout(&mut self, context: &mut Context<'_>) -> Poll<Error> {
        self.poll_action(context, "read from the server", self.read_timeout)
    }

    /// Waits for what ends the waiting to write: its error.
    pub(super) fn poll_write_timeout(&mut self, context: &mut Context<'_>) -> Poll<Error> {
        self.poll_action(context, "write to the server", self.write_timeout)
    }

    fn poll_action(&mut self, context: &mut Context<'_>, action: &'static str, limit: Duration) -> Poll<Error> {
        match self.cancelled {
            // Why it was cancelled is the error, whether or not the server stopped it.
            Some((why, _)) => self
                .poll_timeout(context, action, self.cancel_timeout)
                .map(|_| why.error()),
            None => self.poll_timeout(context, action, limit),
        }
    }

    /// Waits until the nearest of the clocks rings: the silence's after `limit`.
    fn poll_timeout(&mut self, context: &mut Context<'_>, action: &'static str, limit: Duration) -> Poll<Error> {
        let until = match self.until {
            Some(until) => until,
            None => {
                self.received = 0;
                let silence = Instant::now().checked_add(limit);
                let until = match (self.cancelled, self.deadline) {
                    (Some((_, until)), _) => Some(until),
                    (None, Some(deadline)) => {
                        Some(silence.map_or(deadline.until, |silence| silence.min(deadline.until)))
                    }
                    (None, None) => silence,
                };
                // Otherwise it is longer than clocks go.
                let Some(until) = until else { return Poll::Pending };
                *self.until.insert(until)
            }
        };
        if self.sleep.is_elapsed() || self.sleep.deadline() > until {
            self.sleep.as_mut().reset(until);
        }
        loop {
            ready!(self.sleep.as_mut().poll(context));
            if self.sleep.deadline() >= until {
                self.until = None;
                return Poll::Ready(Error::Timeout { action, limit });
            }
            self.sleep.as_mut().reset(until);
        }
    }
}

/// How long the end of a query is waited for in any case when its deadline has passed: a round trip, and a server that looks
/// whether it is to stop a few times a second.
const LEAST_PATIENCE: Duration = Duration::from_millis(500);
/// A hundred years: clocks count so far.
pub(super) const LONGEST: Duration = Duration::from_secs(36_500 * 86_400);

/// A line that carries less is as good as dead. The slowest modems of old carried 30.
const LEAST_BYTES_A_SECOND: f64 = 16.0;
