//! One thread of a run.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::{self, Poll};
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use rune::Value;
use tokio::sync::Mutex;
use tokio::task::{unconstrained, yield_now};
use tokio::time::{sleep, sleep_until};

use super::direct::{Direct, DirectFunction};
use super::setup::{function_error, memory};
use super::timer::Timer;
use super::{Chooser, Cycles, Interrupt, Pace, Prepared, Schedule};
use crate::args::Extent;
use crate::context::{Context, Failure, FailureKind, Validation};
use crate::error::{Error, Result};
use crate::script::{Called, Function, Program};
use crate::stats::{Chunk, Counts, FunctionId, Recorder};
use crate::target::{AnySession, Session as _};

/// What all workers do for a while.
#[derive(Debug, Clone)]
pub(crate) struct Phase {
    /// The numbers of the cycles.
    pub cycles: Cycles,
    /// How long it takes, unless the cycles end it.
    pub duration: Option<Duration>,
    /// When cycles are due. Default: whenever there is room.
    pub pace: Option<Pace>,
    /// How much a sample is.
    pub sampling: Option<Extent>,
    /// How many cycles are under way at once in a worker.
    pub concurrency: usize,
    /// When it starts. All times are counted from here.
    pub start: Instant,
}

/// A thread's own part: its session, its context, its recorder.
pub(super) struct Worker {
    number: usize,
    workers: usize,
    pub(super) program: Program,
    pub(super) chooser: Chooser,
    policy: crate::context::Policy,
    recorder: Rc<RefCell<Recorder>>,
    session: Rc<AnySession>,
    context: Value,
    /// The functions, when all of them can do without a machine.
    direct: Cell<Option<Vec<DirectFunction>>>,
}

/// How a phase ended for a worker.
#[derive(Debug, Default)]
pub(super) struct Ending {
    /// What ended the run.
    pub(super) error: Option<Error>,
    /// How many cycles were due and could not begin.
    pub(super) unstarted: u64,
    /// Calls that were not awaited.
    pub(super) unawaited: Counts,
}

/// The state that the slots of a worker share while a phase runs.
pub(super) struct RunningPhase<'a> {
    pub(super) phase: &'a Phase,
    /// No cycle begins from here on.
    pub(super) end: Option<Instant>,
    /// No cycle that is due from here on belongs to the phase.
    pub(super) due_before: Option<Instant>,
    next_sample: Cell<Option<Instant>>,
    schedule: Option<Mutex<(Schedule, Timer)>>,
    pub(super) is_stopping: Cell<bool>,
    /// Cycles that have begun and not ended.
    pub(super) in_flight: Cell<usize>,
    in_sample: Cell<u64>,
    pub(super) turn: Cell<Instant>,
    pub(super) ending: RefCell<Ending>,
    send: &'a dyn Fn(Chunk),
}

/// How long slots run on when nothing makes them wait. Then samples, Ctrl-C and connections have a turn.
pub(super) const TURN: Duration = Duration::from_millis(1);

impl Worker {
    /// Connects and prepares what the setup prepared.
    pub(super) async fn new(number: usize, workers: usize, prepared: &Prepared, chooser: Chooser) -> Result<Self> {
        let session = Rc::new(prepared.target.connect().await?);
        let recorder = Rc::new(RefCell::new(Recorder::new(&chooser.names(), Instant::now())));
        let context = Context::for_worker(Rc::clone(&session), Rc::clone(&recorder), &prepared.setup)
            .await
            .map_err(|failure| Error::Function {
                function: "prepare".to_owned(),
                what: failure.to_string(),
            })?;
        // One worker shares with nobody: the main thread waits.
        let program = match workers {
            1 => prepared.program.clone(),
            _ => prepared.program.unshare()?,
        };
        let context = Value::new(context).map_err(memory)?;
        // Its requests are made by the driver: requests that bypass it are answered only while the session is polled.
        prepare_worker(&program, &context).await?;
        session.attend().await;
        let direct = match context.borrow_ref::<Context>() {
            Ok(context) => {
                context.begin_measuring();
                direct_functions(&program, &chooser, &context)
            }
            Err(_) => None,
        };
        Ok(Self {
            number,
            workers,
            direct: Cell::new(direct),
            program,
            chooser,
            policy: prepared.setup.policy(),
            recorder,
            session,
            context,
        })
    }

    /// Works through a phase. `send` gets a chunk for each sample but the last, which is given with the end.
    pub(super) async fn work(&self, phase: &Phase, mut interrupt: Interrupt, send: &dyn Fn(Chunk)) -> (Ending, Chunk) {
        let seed = 0x7469_6465;
        let schedule = phase.pace.map(|pace| {
            let schedule = Schedule::new(pace, self.number, self.workers, seed);
            Ok((schedule, Timer::new()?))
        });
        let schedule = match schedule.transpose() {
            Ok(schedule) => schedule.map(Mutex::new),
            Err(error) => {
                let ending = Ending {
                    error: Some(Error::Output(error)),
                    ..Ending::default()
                };
                return (ending, self.recorder.borrow_mut().take(phase.start));
            }
        };
        let end = phase.duration.and_then(|duration| phase.start.checked_add(duration));
        let due_before = end.or_else(|| {
            let all = phase.pace?.time_of_all(phase.cycles.limit())?;
            phase.start.checked_add(all)
        });
        let running = RunningPhase {
            phase,
            end,
            due_before,
            next_sample: Cell::new(phase.sample_after(phase.start, end)),
            schedule,
            is_stopping: Cell::new(false),
            in_flight: Cell::new(0),
            in_sample: Cell::new(0),
            turn: Cell::new(phase.start),
            ending: RefCell::default(),
            send,
        };
        // What came before, the warm-up, is thrown away.
        drop(self.recorder.borrow_mut().take(phase.start));
        if let Ok(context) = self.context.borrow_ref::<Context>() {
            context.restart(phase.start);
            drop(context.take_unawaited());
        }
        unconstrained(self.drive(&running, &mut interrupt)).await;
        let mut ended = Instant::now();
        if let Some(until) = running.lasts_until() {
            let mut rest = pin!(sleep_until(until.into()));
            let rest = |task: &mut task::Context<'_>| rest.as_mut().poll(task).map(|()| false);
            self.watch(&running, &mut interrupt, rest).await;
            // The clock of the runtime is behind by up to a millisecond, which is none of the phase.
            ended = running
                .lasts_until()
                .map_or_else(Instant::now, |until| until.max(ended));
        }
        let rest = self.recorder.borrow_mut().take(ended);
        let mut ending = running.ending.into_inner();
        if let Ok(context) = self.context.borrow_ref::<Context>() {
            ending.unawaited = context.take_unawaited();
        }
        (ending, rest)
    }

    async fn drive(&self, running: &RunningPhase<'_>, interrupt: &mut Interrupt) {
        if let (Some(mut functions), Ok(context)) = (self.direct.take(), self.context.borrow_ref::<Context>()) {
            let schedule = match &running.schedule {
                Some(schedule) => Some(schedule.lock().await),
                None => None,
            };
            let mut direct = Direct::new(self, running, &context, &mut functions, schedule);
            self.watch(running, interrupt, |task| direct.poll(task).map(|()| false))
                .await;
            drop(direct);
            self.direct.set(Some(functions));
            return;
        }
        let mut slots: FuturesUnordered<_> = (0..running.phase.concurrency).map(|_| self.slot(running)).collect();
        let work = |task: &mut task::Context<'_>| {
            let slot = slots.poll_next_unpin(task);
            if slot.is_pending() {
                // What the slots asked is written, and those that are answered are woken. No cycle began a request by itself.
                self.session.poll(task, &mut Vec::new());
            }
            slot.map(|slot| slot.is_some())
        };
        self.watch(running, interrupt, work).await;
    }

    /// Polls `work`, and takes samples. `work` says whether there is more of it each time that something has come to its end.
    async fn watch(
        &self,
        running: &RunningPhase<'_>,
        interrupt: &mut Interrupt,
        mut work: impl FnMut(&mut task::Context<'_>) -> Poll<bool>,
    ) {
        loop {
            let sample = async {
                match running.next_sample.get() {
                    Some(at) => sleep_until(at.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = interrupt.wait(), if !running.is_stopping.get() => running.is_stopping.set(true),
                () = sample => {
                    running.sample(&self.recorder);
                    // A sample that took too long to come is followed by the next that is to come.
                    let now = Instant::now();
                    while let Some(at) = running.next_sample.get() && at <= now {
                        running.next_sample.set(running.phase.sample_after(at, running.end));
                    }
                }
                is_more = poll_fn(&mut work) => if !is_more { return },
            }
            if running.is_stopping.get() && running.in_flight.get() == 0 {
                return;
            }
        }
    }

    /// Takes one cycle after another.
    async fn slot(&self, running: &RunningPhase<'_>) {
        let mut machine = self.program.machine();
        while let Some((cycle, scheduled, started)) = running.next().await {
            let number = self.chooser.choose(cycle);
            let Some(function) = self.chooser.function(number) else {
                return;
            };
            running.in_flight.set(running.in_flight.get() + 1);
            let called = self.cycle(&mut machine, function, cycle).await;
            let ended = Instant::now();
            self.end(running, number, (scheduled, started, ended), called);
            if ended.duration_since(running.turn.get()) >= TURN {
                running.turn.set(ended);
                yield_now().await;
            }
        }
    }

    /// Records a cycle: when it was due, when it began, and when it ended.
    #[inline]
    pub(super) fn end(
        &self,
        running: &RunningPhase<'_>,
        function: usize,
        (scheduled, started, ended): (Instant, Instant, Instant),
        called: Result<(), Called>,
    ) {
        running.in_flight.set(running.in_flight.get() - 1);
        let outcome = called.as_ref().copied().map_err(outcome);
        let id = FunctionId(function);
        self.recorder.borrow_mut().cycle(id, scheduled, started, ended, outcome);
        if let Err(called) = called {
            self.recorder
                .borrow_mut()
                .error_text(self::outcome(&called), || called.to_string());
            let name = self.chooser.function(function).map_or("", |function| &function.name);
            tracing::warn!(function = name, error = %called, "a cycle ended with an error");
            if !self.may_continue(&called) {
                return running.fail(function_error(name, called));
            }
        }
        running.count(&self.recorder);
    }

    /// Calls the function; again, when it signals a failure and such cycles are to be tried again.
    pub(super) async fn cycle(&self, machine: &mut rune::Vm, function: &Function, cycle: i64) -> Result<(), Called> {
        let mut retries = 0;
        loop {
            let called = self
                .program
                .call(machine, function, (self.context.clone(), cycle))
                .await;
            match called {
                Ok(value) => {
                    if let Ok(context) = self.context.borrow_ref::<Context>() {
                        context.drop_returned(value);
                    }
                    return Ok(());
                }
                Err(Called::Failed(Failure {
                    kind: FailureKind::Signalled,
                    ..
                })) if self.policy.validation == Validation::Retry && retries < self.policy.retries => {
                    retries += 1;
                    sleep(self.policy.delay.before(retries, rand::random())).await;
                }
                Err(called) => return Err(called),
            }
        }
    }

    /// Whether the run continues after such an end of a cycle.
    fn may_continue(&self, called: &Called) -> bool {
        match called {
            Called::Failed(failure) => {
                failure.kind.is_passing()
                    || (self.policy.validation == Validation::Ignore
                        && matches!(failure.kind, FailureKind::Signalled | FailureKind::Validation))
            }
            Called::Returned(_) | Called::Stopped(_) => false,
        }
    }
}

/// Calls the script's function `prepare_worker`, when it has it, with the worker's own context: what cannot be copied from `prepare`, as files
/// that are open, is made there.
async fn prepare_worker(program: &Program, context: &Value) -> Result<()> {
    const NAME: &str = "prepare_worker";
    let Some(function) = program.function(NAME) else {
        return Ok(());
    };
    let mut machine = program.machine();
    let called = program.call(&mut machine, &function, (context.clone(),)).await;
    called.map(drop).map_err(|called| function_error(NAME, called))
}

/// The functions without a machine, when that is possible for all, and their statements were prepared.
fn direct_functions(program: &Program, chooser: &Chooser, context: &Context) -> Option<Vec<DirectFunction>> {
    let functions = (0..).map_while(|number| chooser.function(number)).map(|function| {
        let compiled = program.compile(function)?;
        let statement = match compiled.key() {
            Some(key) => Some(context.prepared(key)?),
            None => None,
        };
        Some(DirectFunction { compiled, statement })
    });
    functions.collect()
}

/// The kind of error that a report counts.
fn outcome(called: &Called) -> &str {
    match called {
        Called::Failed(failure) => failure.kind.name(),
        Called::Returned(_) => "returned",
        Called::Stopped(_) => "stopped",
    }
}

impl Phase {
    /// When the sample after the one at `at` is taken, in a phase that ends at `end`. What comes at the end is a part of the last one.
    fn sample_after(&self, at: Instant, end: Option<Instant>) -> Option<Instant> {
        match self.sampling {
            Some(Extent::Time(every)) if !every.is_zero() => {
                let next = at.checked_add(every)?;
                end.is_none_or(|end| next < end).then_some(next)
            }
            _ => None,
        }
    }
}

impl RunningPhase<'_> {
    /// Until when a phase that is measured continues, though its last cycle may have ended: by its schedule that cycle has its time too. A
    /// phase without a schedule ends with its cycles, and one that is stopped ends at once.
    fn lasts_until(&self) -> Option<Instant> {
        let is_measured = self.phase.sampling.is_some() && self.schedule.is_some();
        self.due_before.filter(|_| is_measured && !self.is_stopping.get())
    }

    /// The next cycle's number, when it was due, and now.
    async fn next(&self) -> Option<(i64, Instant, Instant)> {
        if self.is_stopping.get() {
            return None;
        }
        let Some(schedule) = &self.schedule else {
            let now = Instant::now();
            if self.end.is_some_and(|end| now >= end) {
                return None;
            }
            return Some((self.phase.cycles.next()?, now, now));
        };
        // Slots wait in line here, so that cycles begin in their order.
        let mut turn = schedule.lock().await;
        let (schedule, timer) = &mut *turn;
        if self.is_stopping.get() {
            return None;
        }
        let due = self.next_due(schedule, Instant::now())?;
        if self.due_before.is_some_and(|end| due >= end) {
            return None;
        }
        let now = Instant::now();
        if now < due {
            if let Err(error) = poll_fn(|task| timer.poll_until(task, due)).await {
                self.fail(Error::Output(error));
                return None;
            }
            return Some((self.phase.cycles.next()?, due, Instant::now()));
        }
        if self.end.is_some_and(|end| now >= end) {
            self.ending.borrow_mut().unstarted += 1 + self.unstarted(schedule);
            return None;
        }
        Some((self.phase.cycles.next()?, due, now))
    }

    /// When the next cycle is due. Those that are left out before it are counted.
    pub(super) fn next_due(&self, schedule: &mut Schedule, now: Instant) -> Option<Instant> {
        let now = self.end.map_or(now, |end| now.min(end));
        let (due, left_out) = schedule.next_in_time(now.saturating_duration_since(self.phase.start));
        self.ending.borrow_mut().unstarted += left_out;
        self.phase.start.checked_add(due)
    }

    /// How many cycles are still due in the phase. Whoever asks takes them out of the schedule.
    pub(super) fn unstarted(&self, schedule: &mut Schedule) -> u64 {
        self.phase.duration.map_or(0, |duration| schedule.skip_before(duration))
    }

    fn count(&self, recorder: &RefCell<Recorder>) {
        if let Some(Extent::Count(every @ 1..)) = self.phase.sampling {
            let count = self.in_sample.get() + 1;
            self.in_sample.set(count);
            if count >= every {
                self.sample(recorder);
            }
        }
    }

    fn sample(&self, recorder: &RefCell<Recorder>) {
        self.in_sample.set(0);
        (self.send)(recorder.borrow_mut().take(Instant::now()));
    }

    pub(super) fn fail(&self, error: Error) {
        self.is_stopping.set(true);
        self.ending.borrow_mut().error.get_or_insert(error);
    }
}
