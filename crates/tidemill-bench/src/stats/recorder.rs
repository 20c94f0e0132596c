//! What a worker records, cycle by cycle, without locks and without allocating.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::{
    client::ThreadClock,
    histogram::Latencies,
    sample::{Counts, FunctionSample, MetricSample, StatementSample, Timings},
    series::Series,
};

/// Kinds of errors, statements and metrics beyond this number count as one, named [`OTHER`]: a script that makes up names
/// must not fill the memory.
const MOST_NAMES: usize = 256;
const OTHER: &str = "other";
/// Characters of the text of an error that are kept.
const LONGEST_TEXT: usize = 300;

/// A function of the workload: its index among the names that [`Recorder::new`] was given.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FunctionId(pub usize);

/// A statement that a recorder knows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StatementId(usize);

/// The measurements of one worker.
#[derive(Debug)]
pub struct Recorder {
    start: Instant,
    interval_start: Instant,
    functions: Vec<FunctionRecorder>,
    statements: Vec<StatementRecorder>,
    metrics: Vec<(String, MetricSample)>,
    error_texts: BTreeMap<String, String>,
    in_flight: InFlight,
    thread: ThreadClock,
}

/// The measurements of one worker in one interval.
#[derive(Debug)]
pub struct Chunk {
    /// When the interval began, since the start of the run.
    pub(crate) start: Duration,
    pub(crate) duration: Duration,
    pub(crate) functions: BTreeMap<String, FunctionSample>,
    pub(crate) statements: BTreeMap<String, StatementSample>,
    pub(crate) metrics: BTreeMap<String, MetricSample>,
    /// The first text of each kind of error.
    pub(crate) error_texts: BTreeMap<String, String>,
    /// The sum over all requests of the time that they were in flight in this interval.
    pub(crate) in_flight: Duration,
    /// The processor time of the worker's thread.
    pub(crate) thread: Option<Duration>,
}

#[derive(Debug)]
struct FunctionRecorder {
    name: String,
    cycles: u64,
    errors: Kinds,
    latency: Timer,
    /// None as long as all cycles began when they were due: the latencies are the service times then.
    service: Option<Timer>,
}

#[derive(Debug)]
struct StatementRecorder {
    name: String,
    requests: u64,
    rows: u64,
    retries: u64,
    errors: Kinds,
    latency: Timer,
}

/// Times of one kind. The series continues when an interval ends.
#[derive(Clone, Debug, Default)]
struct Timer {
    latencies: Latencies,
    series: Series,
}

#[derive(Debug, Default)]
struct Kinds(Vec<(String, u64)>);

/// Requests in flight, as an integral over time: of requests that ended the time that they took, of the others the time
/// since they were sent.
#[derive(Debug, Default)]
struct InFlight {
    requests: i128,
    /// The sum of the times at which they were sent, in nanoseconds since the start.
    sent: i128,
    /// Nanoseconds that ended requests took.
    ended: i128,
    /// What was counted in earlier intervals.
    counted: i128,
}

impl Recorder {
    /// A recorder for these functions of the workload. `start` is that of the run, the same for all workers.
    pub fn new(functions: &[String], start: Instant) -> Self {
        let functions = functions.iter().map(|name| FunctionRecorder {
            name: name.clone(),
            cycles: 0,
            errors: Kinds::default(),
            latency: Timer::default(),
            service: None,
        });
        Self {
            start,
            interval_start: start,
            functions: functions.collect(),
            statements: Vec::new(),
            metrics: Vec::new(),
            error_texts: BTreeMap::new(),
            in_flight: InFlight::default(),
            thread: ThreadClock::start(),
        }
    }

    /// The number of a statement, the same for the same name. Ask when a statement is prepared, not for each request.
    pub fn statement(&mut self, name: &str) -> StatementId {
        if let Some(index) = self.statements.iter().position(|statement| statement.name == name) {
            return StatementId(index);
        }
        if self.statements.len() >= MOST_NAMES {
            return StatementId(MOST_NAMES - 1);
        }
        let name = match self.statements.len() + 1 {
            MOST_NAMES => OTHER,
            _ => name,
        };
        self.statements.push(StatementRecorder {
            name: name.into(),
            requests: 0,
            rows: 0,
            retries: 0,
            errors: Kinds::default(),
            latency: Timer::default(),
        });
        StatementId(self.statements.len() - 1)
    }

    /// Records a cycle: its latency from the scheduled time, and its service time from the start. Without a schedule,
    /// `scheduled` is `started`. An error is given by its kind, and the cycle's times count like those of any other.
    #[inline]
    pub fn cycle(
        &mut self,
        function: FunctionId,
        scheduled: Instant,
        started: Instant,
        ended: Instant,
        outcome: Result<(), &str>,
    ) {
        let function = &mut self.functions[function.0];
        function.cycles += 1;
        let service = nanoseconds(ended.saturating_duration_since(started));
        let latency = nanoseconds(ended.saturating_duration_since(scheduled)).max(service);
        if scheduled != started && function.service.is_none() {
            function.service = Some(function.latency.clone());
        }
        function.latency.record(latency);
        if let Some(times) = &mut function.service {
            times.record(service);
        }
        if let Err(kind) = outcome {
            function.errors.count(kind);
        }
    }

    /// Records that a request was sent; once for a request, not for its retries or pages.
    #[inline]
    pub fn request_started(&mut self, sent: Instant) {
        self.in_flight.requests += 1;
        self.in_flight.sent += i128::from(nanoseconds(sent.saturating_duration_since(self.start)));
    }

    /// Records the end of a request that was passed to [`Self::request_started`] with the same `sent`.
    #[inline]
    pub fn request(
        &mut self,
        statement: StatementId,
        sent: Instant,
        ended: Instant,
        rows: u64,
        retries: u32,
        outcome: Result<(), &str>,
    ) {
        let latency = nanoseconds(ended.saturating_duration_since(sent));
        self.in_flight.requests -= 1;
        self.in_flight.sent -= i128::from(nanoseconds(sent.saturating_duration_since(self.start)));
        self.in_flight.ended += i128::from(latency);
        let statement = &mut self.statements[statement.0];
        statement.requests += 1;
        statement.rows = statement.rows.saturating_add(rows);
        statement.retries += u64::from(retries);
        statement.latency.record(latency);
        if let Err(kind) = outcome {
            statement.errors.count(kind);
        }
    }

    /// Keeps the text of an error, which is counted by its kind, when it is the first of the interval.
    #[cold]
    pub fn error_text(&mut self, kind: &str, text: impl FnOnce() -> String) {
        if self.error_texts.len() < MOST_NAMES && !self.error_texts.contains_key(kind) {
            let mut text = text();
            if let Some((end, _)) = text.char_indices().nth(LONGEST_TEXT) {
                text.truncate(end);
                text.push('…');
            }
            self.error_texts.insert(kind.to_owned(), text);
        }
    }

    /// Records a value of a metric that the script defines.
    pub fn metric(&mut self, name: &str, value: f64) {
        if let Some((_, metric)) = self.metrics.iter_mut().find(|(known, _)| known == name) {
            return metric.record(value);
        }
        let name = match self.metrics.len() + 1 {
            ..MOST_NAMES => name,
            MOST_NAMES => OTHER,
            _ => return self.metrics[MOST_NAMES - 1].1.record(value),
        };
        let mut metric = MetricSample::default();
        metric.record(value);
        self.metrics.push((name.into(), metric));
    }

    /// The measurements since the last call, and the beginning of the next interval. To be called on the worker's own
    /// thread, whose processor time it reads.
    pub fn take(&mut self, now: Instant) -> Chunk {
        let start = self.interval_start.saturating_duration_since(self.start);
        let duration = now.saturating_duration_since(self.interval_start);
        self.interval_start = now;
        let functions = self.functions.iter_mut().map(|function| {
            let sample = FunctionSample {
                cycles: std::mem::take(&mut function.cycles),
                errors: function.errors.take(),
                latency: Some(function.latency.take()),
                service: function.service.as_mut().map(Timer::take),
            };
            (function.name.clone(), sample)
        });
        let statements = self.statements.iter_mut().filter(|statement| statement.requests > 0);
        let statements = statements.map(|statement| {
            let sample = StatementSample {
                requests: std::mem::take(&mut statement.requests),
                rows: std::mem::take(&mut statement.rows),
                retries: std::mem::take(&mut statement.retries),
                errors: statement.errors.take(),
                latency: statement.latency.take(),
            };
            (statement.name.clone(), sample)
        });
        Chunk {
            start,
            duration,
            functions: functions.collect(),
            statements: statements.collect(),
            metrics: std::mem::take(&mut self.metrics).into_iter().collect(),
            error_texts: std::mem::take(&mut self.error_texts),
            in_flight: self.in_flight.take(now.saturating_duration_since(self.start)),
            thread: self.thread.lap(),
        }
    }
}

impl Timer {
    #[inline]
    fn record(&mut self, nanoseconds: u64) {
        self.latencies.record(nanoseconds);
        self.series.record(nanoseconds);
    }

    fn take(&mut self) -> Timings {
        let emptied = self.latencies.emptied();
        Timings {
            histogram: std::mem::replace(&mut self.latencies, emptied),
            series: self.series.take(),
        }
    }
}

impl Kinds {
    #[cold]
    fn count(&mut self, kind: &str) {
        if let Some((_, count)) = self.0.iter_mut().find(|(known, _)| known == kind) {
            *count += 1;
            return;
        }
        match self.0.len() + 1 {
            ..MOST_NAMES => self.0.push((kind.into(), 1)),
            MOST_NAMES => self.0.push((OTHER.into(), 1)),
            _ => self.0[MOST_NAMES - 1].1 += 1,
        }
    }

    fn take(&mut self) -> Counts {
        std::mem::take(&mut self.0).into_iter().collect()
    }
}

impl InFlight {
    fn take(&mut self, now: Duration) -> Duration {
        let integral = self.ended + self.requests * i128::from(nanoseconds(now)) - self.sent;
        let fresh = integral - self.counted;
        self.counted = integral;
        Duration::from_nanos(u64::try_from(fresh).unwrap_or(0))
    }
}

#[inline]
fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: Duration = Duration::from_millis(1);

    #[test]
    fn a_cycle_counts_from_its_schedule_and_from_its_start() {
        let start = Instant::now();
        let mut recorder = Recorder::new(&["run".into()], start);
        recorder.cycle(
            FunctionId(0),
            start,
            start + 10 * MILLISECOND,
            start + 13 * MILLISECOND,
            Err("timeout"),
        );
        let chunk = recorder.take(start + 20 * MILLISECOND);
        let function = &chunk.functions["run"];
        assert_eq!((function.cycles, function.errors["timeout"]), (1, 1));
        let longest = |timings: &Option<Timings>| timings.as_ref().unwrap().histogram.quantile(1.0) / 100_000;
        assert_eq!((longest(&function.latency), longest(&function.service)), (130, 30));
        assert_eq!(chunk.duration, 20 * MILLISECOND);
        let next = recorder.take(start + 50 * MILLISECOND);
        assert_eq!((next.start, next.functions["run"].cycles), (20 * MILLISECOND, 0));
    }

    #[test]
    fn service_times_are_kept_from_the_first_cycle_on_that_was_late() {
        let start = Instant::now();
        let mut recorder = Recorder::new(&["run".into()], start);
        for millis in 1..=3 {
            recorder.cycle(FunctionId(0), start, start, start + millis * MILLISECOND, Ok(()));
        }
        let chunk = recorder.take(start);
        assert_eq!(chunk.functions["run"].service, None);
        for late in [0, 0, 50] {
            let started = start + late * MILLISECOND;
            recorder.cycle(FunctionId(0), start, started, started + 4 * MILLISECOND, Ok(()));
        }
        let function = &recorder.take(start).functions["run"];
        let counted = |timings: &Option<Timings>, millis: u64| {
            let histogram = &timings.as_ref().unwrap().histogram;
            (histogram.count(), histogram.counts_up_to(&[millis * 1_000_000])[0])
        };
        assert_eq!(counted(&function.latency, 5), (3, 2));
        assert_eq!(counted(&function.service, 5), (3, 3));
    }

    #[test]
    fn requests_in_flight_are_an_integral() {
        let start = Instant::now();
        let mut recorder = Recorder::new(&[], start);
        let insert = recorder.statement("insert");
        assert_eq!(recorder.statement("insert"), insert);
        // One from 2 to 12 ms, one from 4 to 6 ms.
        recorder.request_started(start + 2 * MILLISECOND);
        recorder.request_started(start + 4 * MILLISECOND);
        recorder.request(insert, start + 4 * MILLISECOND, start + 6 * MILLISECOND, 3, 1, Ok(()));
        let chunk = recorder.take(start + 10 * MILLISECOND);
        assert_eq!(chunk.in_flight, 10 * MILLISECOND);
        let statement = &chunk.statements["insert"];
        assert_eq!((statement.requests, statement.rows, statement.retries), (1, 3, 1));
        recorder.request(insert, start + 2 * MILLISECOND, start + 12 * MILLISECOND, 0, 0, Ok(()));
        assert_eq!(recorder.take(start + 20 * MILLISECOND).in_flight, 2 * MILLISECOND);
        assert_eq!(recorder.take(start + 30 * MILLISECOND).in_flight, Duration::ZERO);
    }

    #[test]
    fn names_without_end_are_bounded() {
        let start = Instant::now();
        let mut recorder = Recorder::new(&["run".into()], start);
        for index in 0..1_000 {
            let statement = recorder.statement(&format!("select {index}"));
            recorder.request_started(start);
            recorder.request(statement, start, start, 0, 0, Ok(()));
            recorder.metric(&format!("metric {index}"), 1.0);
            recorder.cycle(FunctionId(0), start, start, start, Err(&format!("error {index}")));
        }
        let chunk = recorder.take(start);
        assert_eq!(chunk.statements.len(), MOST_NAMES);
        assert_eq!(chunk.statements[OTHER].requests, 745);
        assert_eq!(chunk.metrics[OTHER].count, 745);
        assert_eq!(chunk.functions["run"].errors[OTHER], 745);
        assert_eq!(chunk.functions["run"].errors.values().sum::<u64>(), 1_000);
    }
}
