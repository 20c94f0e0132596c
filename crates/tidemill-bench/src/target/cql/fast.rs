//! Requests that bypass the driver: they are written into the connection's buffer, and their ends are reported by number.
//!
//! What the driver would have sent again, and pages after the first, are left to it.

use std::cell::RefCell;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use scylla::cluster::ClusterState;
use scylla::errors::{DbError, WriteType};
use scylla::serialize::writers::RowWriter;
use tidemill_cql::connection::{Connections, ConnectionsOptions, Execute, Fault, Outcome, Page, Reply, Sent};
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::super::{Begun, Ended, Parameters, Rest};
use super::{bind, server_kind};
use crate::context::{Failure, FailureKind};

/// The connections of a worker, and who waits for what.
pub(super) struct FastLane(RefCell<Lane>);

struct Lane {
    connections: Connections<Tag>,
    ticks: Interval,
    outcomes: Vec<(Tag, Outcome)>,
    waiters: Vec<Waiter>,
    free: Vec<u32>,
    /// Whether a request may be sent again at all.
    sends_again: bool,
}

/// Who gets an outcome, and what he needs to know of the request.
#[derive(Debug, Clone, Copy)]
struct Tag {
    recipient: Recipient,
    is_idempotent: bool,
    is_serial: bool,
}

#[derive(Debug, Clone, Copy)]
enum Recipient {
    Cycle(u32),
    Waiter(u32),
}

/// One who waits in a future.
enum Waiter {
    Free,
    Waiting(Option<Waker>),
    Ended(Answered),
    /// The future was dropped.
    Gone,
}

/// What comes to one who waits.
pub(super) enum Answered {
    /// As to a cycle.
    Ended(Ended),
    /// Rows that were asked for.
    Page(Box<Page>),
}

/// The end of a request.
pub(super) struct Answering<'a> {
    lane: &'a FastLane,
    /// None when it has been given.
    waiter: Option<u32>,
}

impl FastLane {
    /// Connects, when such connections can serve the cluster.
    pub(super) async fn open(
        cluster: Arc<ClusterState>,
        options: ConnectionsOptions,
        sends_again: bool,
    ) -> Option<Self> {
        if !Connections::<Tag>::serves(&cluster) {
            return None;
        }
        let connections = Connections::new(cluster, options).await;
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Some(Self(RefCell::new(Lane {
            connections,
            ticks,
            outcomes: Vec::new(),
            waiters: Vec::new(),
            free: Vec::new(),
            sends_again,
        })))
    }

    /// Sends a request for one who waits; `values` writes what it has between head and tail. `None` when the driver has to do it.
    ///
    /// # Errors
    /// What `values` says.
    pub(super) fn ask(
        &self,
        execute: &Execute,
        now: Instant,
        values: impl FnOnce(&mut Vec<u8>) -> Result<(), Failure>,
    ) -> Result<Option<Answering<'_>>, Failure> {
        let mut lane = self.0.borrow_mut();
        let waiter = match lane.free.pop() {
            Some(waiter) => waiter,
            None => {
                lane.waiters.push(Waiter::Free);
                // There are fewer streams than that.
                u32::try_from(lane.waiters.len() - 1).unwrap_or_default()
            }
        };
        let sent = lane.send(execute, Recipient::Waiter(waiter), now, values);
        if let Ok(Sent::Sent) = sent {
            lane.waiters[waiter as usize] = Waiter::Waiting(None);
            return Ok(Some(Answering {
                lane: self,
                waiter: Some(waiter),
            }));
        }
        lane.free.push(waiter);
        sent.map(|_| None)
    }

    /// Sends a request for a cycle.
    #[inline]
    pub(super) fn begin(&self, execute: &Execute, parameters: Parameters<'_>, cycle: u32, now: Instant) -> Begun {
        let sent = self
            .0
            .borrow_mut()
            .send(execute, Recipient::Cycle(cycle), now, |buffer| {
                write_values(execute, parameters, buffer)
            });
        match sent {
            Ok(Sent::Sent) => Begun::Sent,
            Ok(Sent::Elsewhere) => Begun::Not,
            Err(failure) => Begun::Ended(Err(failure)),
        }
    }

    /// Writes what has gathered, reads what has come, and once a tick gives up what takes too long.
    pub(super) fn poll(
        &self,
        context: &mut Context<'_>,
        cluster: impl FnOnce() -> Arc<ClusterState>,
        ended: &mut Vec<(u32, Ended)>,
    ) {
        let lane = &mut *self.0.borrow_mut();
        if lane.ticks.poll_tick(context).is_ready() {
            lane.connections.tick(Instant::now(), cluster(), &mut lane.outcomes);
            // Says when the next one is.
            let _ = lane.ticks.poll_tick(context);
        }
        lane.connections.poll(context, &mut lane.outcomes);
        for (tag, outcome) in lane.outcomes.drain(..) {
            match tag.recipient {
                Recipient::Cycle(cycle) => ended.push((cycle, end(tag, outcome, lane.sends_again))),
                Recipient::Waiter(number) => match &mut lane.waiters[number as usize] {
                    waiter @ Waiter::Waiting(_) => {
                        let answered = match outcome {
                            Ok(Reply::Page(page)) => Answered::Page(page),
                            outcome => Answered::Ended(end(tag, outcome, lane.sends_again)),
                        };
                        if let Waiter::Waiting(Some(waker)) = std::mem::replace(waiter, Waiter::Ended(answered)) {
                            waker.wake();
                        }
                    }
                    waiter => {
                        *waiter = Waiter::Free;
                        lane.free.push(number);
                    }
                },
            }
        }
    }
}

impl Lane {
    #[inline]
    fn send(
        &mut self,
        execute: &Execute,
        recipient: Recipient,
        now: Instant,
        values: impl FnOnce(&mut Vec<u8>) -> Result<(), Failure>,
    ) -> Result<Sent, Failure> {
        let tag = Tag {
            recipient,
            is_idempotent: execute.is_idempotent(),
            is_serial: execute.consistency().is_serial(),
        };
        self.connections.send(execute, tag, now, values)
    }
}

/// Writes the values of a statement, each after its length.
///
/// # Errors
/// Parameters that do not fit.
#[inline]
pub(super) fn write_values(execute: &Execute, parameters: Parameters<'_>, buffer: &mut Vec<u8>) -> Result<(), Failure> {
    bind::write_row(parameters, execute.columns(), &mut RowWriter::new(buffer))
}

impl Future for Answering<'_> {
    type Output = Answered;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answered> {
        let Some(number) = self.waiter else {
            return Poll::Pending;
        };
        let mut lane = self.lane.0.borrow_mut();
        let waiter = &mut lane.waiters[number as usize];
        if let Waiter::Waiting(waker) = waiter {
            match waker {
                Some(waker) => waker.clone_from(context.waker()),
                None => *waker = Some(context.waker().clone()),
            }
            return Poll::Pending;
        }
        let Waiter::Ended(answered) = std::mem::replace(waiter, Waiter::Free) else {
            return Poll::Pending;
        };
        lane.free.push(number);
        drop(lane);
        self.waiter = None;
        Poll::Ready(answered)
    }
}

impl Drop for Answering<'_> {
    fn drop(&mut self) {
        let Some(number) = self.waiter else { return };
        let lane = &mut *self.lane.0.borrow_mut();
        let waiter = &mut lane.waiters[number as usize];
        if let Waiter::Ended(_) = waiter {
            *waiter = Waiter::Free;
            lane.free.push(number);
        } else {
            *waiter = Waiter::Gone;
        }
    }
}

#[inline]
fn end(tag: Tag, outcome: Outcome, sends_again: bool) -> Ended {
    match outcome {
        // Pages are for those who wait.
        Ok(Reply::Void | Reply::Page(_)) => Ended::Over(Ok(0)),
        Ok(Reply::Rows { count, paging_state }) => {
            let rows = u64::from(count);
            match paging_state {
                None => Ended::Over(Ok(rows)),
                paging_state => Ended::Unfinished(Rest {
                    rows,
                    paging_state,
                    is_sent_again: false,
                }),
            }
        }
        // Not an attempt: the statement has to be prepared on the node first.
        Err(fault) if matches!(*fault, Fault::Server(DbError::Unprepared { .. }, _)) => {
            Ended::Unfinished(Rest::default())
        }
        Err(fault) if sends_again && is_sent_again(&fault, tag) => Ended::Unfinished(Rest {
            is_sent_again: true,
            ..Rest::default()
        }),
        Err(fault) => Ended::Over(Err(failure(&fault))),
    }
}

/// Whether the driver's default policy sends a request again after its first attempt.
fn is_sent_again(fault: &Fault, tag: Tag) -> bool {
    match fault {
        _ if tag.is_serial => false,
        Fault::Broken(_) => tag.is_idempotent,
        Fault::Server(error, _) => match error {
            DbError::Overloaded | DbError::ServerError | DbError::TruncateError => tag.is_idempotent,
            DbError::Unavailable { .. } | DbError::IsBootstrapping => true,
            DbError::ReadTimeout {
                received,
                required,
                data_present,
                ..
            } => received >= required && !data_present,
            DbError::WriteTimeout { write_type, .. } => tag.is_idempotent && *write_type == WriteType::BatchLog,
            _ => false,
        },
        _ => false,
    }
}

fn failure(fault: &Fault) -> Failure {
    let kind = match fault {
        Fault::Server(error, _) => server_kind(error),
        Fault::Timeout(_) => FailureKind::Timeout,
        Fault::Broken(_) => FailureKind::Connection,
        _ => FailureKind::Refused,
    };
    Failure::new(kind, fault.to_string())
}

/// How exact timeouts are.
const TICK: Duration = Duration::from_millis(10);
