//! Cycles of functions that need no machine: one after another in one place, without a future for each.
//!
//! One reading of the clock serves all answers that came together, and a batch of requests: a cycle counts from a moment before its request
//! is written to one after its answer was read. Requests that fail, have more pages, or cannot be begun continue in futures of their own.

use std::pin::Pin;
use std::task::{self, Poll};
use std::time::Instant;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use rune::alloc;
use tokio::sync::MutexGuard;

use super::worker::{RunningPhase, TURN, Worker};
use super::{Schedule, timer::Timer};
use crate::context::{Context, Failure, Statement};
use crate::error::Error;
use crate::script::{Called, Compiled};
use crate::target::{Begun, Ended};

/// A function, and the statement that it asks with.
pub(super) struct DirectFunction {
    pub(super) compiled: Compiled,
    pub(super) statement: Option<Statement>,
}

/// The cycles of a phase.
pub(super) struct Direct<'a> {
    worker: &'a Worker,
    running: &'a RunningPhase<'a>,
    context: &'a Context,
    functions: &'a mut [DirectFunction],
    schedule: Option<MutexGuard<'a, (Schedule, Timer)>>,
    /// When the next cycle is due that was drawn from the schedule.
    due: Option<Instant>,
    cycles: Vec<Cycle>,
    /// The places in `cycles` where none is under way.
    free: Vec<u32>,
    ended: Vec<(u32, Ended)>,
    rest: FuturesUnordered<Rest<'a>>,
    /// Whether there are no more cycles to begin.
    is_over: bool,
}

/// A cycle that continues in a future: its place, and what came of it.
type Rest<'a> = Pin<Box<dyn Future<Output = (u32, Result<(), Called>)> + 'a>>;

/// A cycle that is under way.
#[derive(Debug, Clone, Copy)]
struct Cycle {
    function: usize,
    number: i64,
    scheduled: Instant,
    started: Instant,
}

impl<'a> Direct<'a> {
    pub(super) fn new(
        worker: &'a Worker,
        running: &'a RunningPhase<'a>,
        context: &'a Context,
        functions: &'a mut [DirectFunction],
        schedule: Option<MutexGuard<'a, (Schedule, Timer)>>,
    ) -> Self {
        let start = running.phase.start;
        let none = Cycle {
            function: 0,
            number: 0,
            scheduled: start,
            started: start,
        };
        let places = u32::try_from(running.phase.concurrency).unwrap_or(u32::MAX);
        Self {
            worker,
            running,
            context,
            functions,
            schedule,
            due: None,
            cycles: vec![none; places as usize],
            free: (0..places).rev().collect(),
            ended: Vec::new(),
            rest: FuturesUnordered::new(),
            is_over: false,
        }
    }

    /// Does what can be done without waiting. Ready when no more cycles begin and none is under way.
    pub(super) fn poll(&mut self, task: &mut task::Context<'_>) -> Poll<()> {
        loop {
            let mut ended = std::mem::take(&mut self.ended);
            self.context.poll(task, &mut ended);
            let mut now = Instant::now();
            let mut has_moved = !ended.is_empty();
            for (place, ended) in ended.drain(..) {
                self.end_request(place, now, ended);
            }
            self.ended = ended;
            has_moved |= self.end_rest(task);
            for begun in 1..=BATCH {
                match self.begin(task, now) {
                    Some(after) => now = after,
                    None => break,
                }
                has_moved = true;
                if begun % CLOCK == 0 {
                    now = Instant::now();
                }
            }
            if self.is_over && self.free.len() == self.cycles.len() {
                return Poll::Ready(());
            }
            if !has_moved {
                return Poll::Pending;
            }
            if now.saturating_duration_since(self.running.turn.get()) >= TURN {
                self.running.turn.set(now);
                task.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
    }

    /// Begins a cycle. Gives the time then, or `None` when no cycle can begin now.
    #[inline]
    fn begin(&mut self, task: &mut task::Context<'_>, now: Instant) -> Option<Instant> {
        let place = *self.free.last()?;
        let (number, scheduled, started) = self.next(task, now)?;
        self.free.pop();
        self.running.in_flight.set(self.running.in_flight.get() + 1);
        let function = self.worker.chooser.choose(number);
        let cycle = Cycle {
            function,
            number,
            scheduled,
            started,
        };
        self.cycles[place as usize] = cycle;
        let DirectFunction { compiled, statement } = &mut self.functions[function];
        let Some(parameters) = compiled.evaluate(number) else {
            self.leave_to_machine(place, cycle);
            // What is wrong ends the run before the next cycle begins.
            self.end_rest(task);
            return Some(started);
        };
        let Some(statement) = *statement else {
            return Some(self.end_now(place, Ok(())));
        };
        match self.context.begin(statement, parameters, place, started) {
            Begun::Sent => Some(started),
            Begun::Ended(rows) => {
                let now = Instant::now();
                self.end_request(place, now, Ended::Over(rows));
                Some(now)
            }
            Begun::Not => {
                let parameters = parameters.to_value();
                self.ask(place, parameters);
                Some(started)
            }
        }
    }

    /// The next cycle's number, when it was due, and when it begins.
    fn next(&mut self, task: &mut task::Context<'_>, now: Instant) -> Option<(i64, Instant, Instant)> {
        if self.is_over || self.running.is_stopping.get() {
            self.is_over = true;
            return None;
        }
        let phase = self.running.phase;
        let is_late = |moment: Instant| self.running.end.is_some_and(|end| moment >= end);
        let Some(schedule) = &mut self.schedule else {
            let number = if is_late(now) { None } else { phase.cycles.next() };
            self.is_over = number.is_none();
            return Some((number?, now, now));
        };
        let (schedule, timer) = &mut **schedule;
        let due = match self.due {
            Some(due) => Some(due),
            None => self.running.next_due(schedule, now),
        };
        let is_outside = |due: Instant| self.running.due_before.is_some_and(|end| due >= end);
        let Some(due) = due.filter(|due| !is_outside(*due)) else {
            self.is_over = true;
            return None;
        };
        if now < due {
            self.due = Some(due);
            match timer.poll_until(task, due) {
                Poll::Pending => return None,
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => {
                    self.running.fail(Error::Output(error));
                    return None;
                }
            }
        } else if is_late(now) {
            let more = self.running.unstarted(schedule);
            self.running.ending.borrow_mut().unstarted += 1 + more;
            self.is_over = true;
            return None;
        }
        self.due = None;
        let number = phase.cycles.next();
        self.is_over = number.is_none();
        let started = if now < due { Instant::now() } else { now };
        Some((number?, due, started))
    }

    #[inline]
    fn end_request(&mut self, place: u32, now: Instant, ended: Ended) {
        let Cycle {
            function,
            number,
            started,
            ..
        } = self.cycles[place as usize];
        let DirectFunction { compiled, statement } = &mut self.functions[function];
        let (Some(statement), Some(key)) = (*statement, compiled.key()) else {
            return;
        };
        match self.context.over(key, statement, started, now, ended) {
            Ok(result) => {
                let is_heeded = compiled.is_heeded();
                self.end(place, now, heeded(result, is_heeded));
            }
            Err(ended) => {
                // The same cycle has the same parameters.
                let parameters = compiled.evaluate(number).map(|parameters| parameters.to_value());
                let (key, is_heeded) = (compiled.key().unwrap_or_default().to_owned(), compiled.is_heeded());
                let context = self.context;
                self.rest.push(Box::pin(async move {
                    let result = match parameters.unwrap_or(Err(alloc::Error::CapacityOverflow)) {
                        Ok(parameters) => context.go_on(&key, statement, &parameters, started, ended).await,
                        Err(error) => Err(Failure::memory(error)),
                    };
                    (place, heeded(result, is_heeded))
                }));
            }
        }
    }

    /// Ends what has ended of the rest. Says whether something has.
    fn end_rest(&mut self, task: &mut task::Context<'_>) -> bool {
        let mut has_ended = false;
        while let Poll::Ready(Some((place, called))) = self.rest.poll_next_unpin(task) {
            self.end(place, Instant::now(), called);
            has_ended = true;
        }
        has_ended
    }

    /// Makes a request that cannot be begun.
    fn ask(&mut self, place: u32, parameters: alloc::Result<rune::Value>) {
        let compiled = &self.functions[self.cycles[place as usize].function].compiled;
        let (key, is_heeded) = (compiled.key().unwrap_or_default().to_owned(), compiled.is_heeded());
        let context = self.context;
        self.rest.push(Box::pin(async move {
            let result = match parameters {
                Ok(parameters) => context.ask(&key, &parameters).await,
                Err(error) => Err(Failure::memory(error)),
            };
            (place, heeded(result, is_heeded))
        }));
    }

    #[cold]
    fn leave_to_machine(&mut self, place: u32, cycle: Cycle) {
        let worker = self.worker;
        self.rest.push(Box::pin(async move {
            let mut machine = worker.program.machine();
            let called = match worker.chooser.function(cycle.function) {
                Some(function) => worker.cycle(&mut machine, function, cycle.number).await,
                None => Ok(()),
            };
            (place, called)
        }));
    }

    fn end_now(&mut self, place: u32, called: Result<(), Called>) -> Instant {
        let now = Instant::now();
        self.end(place, now, called);
        now
    }

    #[inline]
    fn end(&mut self, place: u32, now: Instant, called: Result<(), Called>) {
        let Cycle {
            function,
            scheduled,
            started,
            ..
        } = self.cycles[place as usize];
        self.free.push(place);
        self.worker
            .end(self.running, function, (scheduled, started, now), called);
    }
}

fn heeded(result: Result<(), Failure>, is_heeded: bool) -> Result<(), Called> {
    match result {
        Err(failure) if is_heeded => Err(Called::Failed(failure)),
        _ => Ok(()),
    }
}

/// Cycles that begin before answers are looked for.
const BATCH: u32 = 1024;
/// Cycles that begin by one reading of the clock.
const CLOCK: u32 = 32;
