//! What a run measures, for Prometheus to ask while it goes.
//!
//! Counters are totals since the start; latencies are those of the last interval, in seconds as Prometheus has them. The text
//! is of version 0.0.4 of its exposition format. One connection is answered at a time, each for a second at most.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs},
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::{
    Error, Result,
    stats::{Latencies, Sample},
};

const PATIENCE: Duration = Duration::from_secs(1);
/// No request for metrics is longer.
const REQUEST_LIMIT: u64 = 8_192;
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// An endpoint that answers until it is dropped.
#[derive(Debug)]
pub(crate) struct Endpoint {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Totals by name and kind, and the last interval.
#[derive(Debug, Default)]
struct State {
    cycles: BTreeMap<String, u64>,
    cycle_errors: BTreeMap<(String, String), u64>,
    requests: BTreeMap<String, u64>,
    request_errors: BTreeMap<(String, String), u64>,
    rows: BTreeMap<String, u64>,
    retries: BTreeMap<String, u64>,
    last: Sample,
}

impl Endpoint {
    /// Listens at an address such as `127.0.0.1:9464`, and answers `GET /metrics` on a thread of its own.
    ///
    /// # Errors
    /// [`Error::Io`] when the address can't be listened at.
    pub(crate) fn listen(address: impl ToSocketAddrs + AsRef<str>) -> Result<Self> {
        let name = Path::new(address.as_ref()).to_owned();
        let listener = TcpListener::bind(&address).map_err(Error::io("listen at", &name))?;
        let address = listener.local_addr().map_err(Error::io("listen at", &name))?;
        let state = Arc::new(Mutex::new(State::default()));
        let stopping = Arc::new(AtomicBool::new(false));
        let (answered, stopped) = (Arc::clone(&state), Arc::clone(&stopping));
        let thread = thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                if let Ok(stream) = stream {
                    // A client that goes away loses its answer and nothing else.
                    let _ = answer(stream, &answered);
                }
            }
        });
        Ok(Self {
            address,
            state,
            stopping,
            thread: Some(thread),
        })
    }

    /// Where it listens; the port that the system chose for port 0.
    #[cfg(test)]
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Adds a sample; those of the warm-up are left out.
    pub(crate) fn add(&self, sample: &Sample) {
        if !sample.warm_up {
            locked(&self.state).add(sample);
        }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::Relaxed);
        // Wakes the thread, which then sees that it should stop.
        let woken = TcpStream::connect_timeout(&self.address, PATIENCE).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| woken) {
            let _ = thread.join();
        }
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answer(mut stream: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut request = Vec::new();
    let mut part = [0; 1_024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let length = (&stream).take(REQUEST_LIMIT - request.len() as u64).read(&mut part)?;
        if length == 0 {
            break;
        }
        request.extend_from_slice(&part[..length]);
    }
    let (status, body) = match request.starts_with(b"GET /metrics ") || request.starts_with(b"GET / ") {
        true => ("200 OK", locked(state).text()),
        false => ("404 Not Found", "only GET /metrics is answered\n".to_owned()),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
}

impl State {
    fn add(&mut self, sample: &Sample) {
        for (name, function) in &sample.functions {
            add(&mut self.cycles, name.clone(), function.cycles);
            for (kind, count) in &function.errors {
                add(&mut self.cycle_errors, (name.clone(), kind.clone()), *count);
            }
        }
        for (name, statement) in &sample.statements {
            add(&mut self.requests, name.clone(), statement.requests);
            add(&mut self.rows, name.clone(), statement.rows);
            add(&mut self.retries, name.clone(), statement.retries);
            for (kind, count) in &statement.errors {
                add(&mut self.request_errors, (name.clone(), kind.clone()), *count);
            }
        }
        self.last = sample.clone();
    }

    fn text(&self) -> String {
        let mut text = String::new();
        counters(&mut text, "cycles_total", "Cycles that ended", "function", &self.cycles);
        errors(
            &mut text,
            "cycle_errors_total",
            "Cycles that ended with an error",
            "function",
            &self.cycle_errors,
        );
        counters(
            &mut text,
            "requests_total",
            "Requests that ended",
            "statement",
            &self.requests,
        );
        errors(
            &mut text,
            "request_errors_total",
            "Requests that ended with an error",
            "statement",
            &self.request_errors,
        );
        counters(&mut text, "rows_total", "Rows sent or got", "statement", &self.rows);
        counters(
            &mut text,
            "retries_total",
            "Requests sent again",
            "statement",
            &self.retries,
        );
        let functions = self.last.functions.iter();
        let from_schedule = functions
            .clone()
            .filter_map(|(name, one)| Some((name, &one.latency.as_ref()?.histogram)));
        let from_schedule: Vec<_> = from_schedule.collect();
        gauges(
            &mut text,
            "cycle_latency_seconds",
            "Cycles of the last interval, from their schedule",
            "function",
            &from_schedule,
        );
        let from_start = functions.filter_map(|(name, one)| Some((name, &one.service()?.histogram)));
        let from_start: Vec<_> = from_start.collect();
        gauges(
            &mut text,
            "service_time_seconds",
            "Cycles of the last interval, from their start",
            "function",
            &from_start,
        );
        let statements = self
            .last
            .statements
            .iter()
            .map(|(name, one)| (name, &one.latency.histogram));
        let statements: Vec<_> = statements.collect();
        gauges(
            &mut text,
            "request_latency_seconds",
            "Requests of the last interval",
            "statement",
            &statements,
        );
        if let Some(concurrency) = self.last.concurrency {
            head(
                &mut text,
                "concurrency",
                "Requests in flight in the last interval",
                "gauge",
            );
            let _ = writeln!(text, "tidemill_bench_concurrency {concurrency}");
        }
        text
    }
}

fn add<K: Ord>(totals: &mut BTreeMap<K, u64>, key: K, count: u64) {
    let total = totals.entry(key).or_default();
    *total = total.saturating_add(count);
}

fn head(text: &mut String, name: &str, help: &str, kind: &str) {
    let _ = writeln!(
        text,
        "# HELP tidemill_bench_{name} {help}.\n# TYPE tidemill_bench_{name} {kind}"
    );
}

fn counters(text: &mut String, name: &str, help: &str, label: &str, totals: &BTreeMap<String, u64>) {
    head(text, name, help, "counter");
    for (of, count) in totals {
        let _ = writeln!(text, "tidemill_bench_{name}{{{label}=\"{}\"}} {count}", escaped(of));
    }
}

fn errors(text: &mut String, name: &str, help: &str, label: &str, totals: &BTreeMap<(String, String), u64>) {
    head(text, name, help, "counter");
    for ((of, kind), count) in totals {
        let (of, kind) = (escaped(of), escaped(kind));
        let _ = writeln!(
            text,
            "tidemill_bench_{name}{{{label}=\"{of}\",kind=\"{kind}\"}} {count}"
        );
    }
}

fn gauges(text: &mut String, name: &str, help: &str, label: &str, latencies: &[(&String, &Latencies)]) {
    head(text, name, help, "gauge");
    for (of, latencies) in latencies.iter().filter(|(_, latencies)| latencies.count() > 0) {
        for quantile in QUANTILES {
            let seconds = latencies.quantile(quantile) as f64 / 1e9;
            let of = escaped(of);
            let _ = writeln!(
                text,
                "tidemill_bench_{name}{{{label}=\"{of}\",quantile=\"{quantile}\"}} {seconds}"
            );
        }
    }
}

fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::stats::{FunctionId, Recorder};

    fn asked(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn metrics_are_totals_and_the_last_interval() {
        let endpoint = Endpoint::listen("127.0.0.1:0").unwrap();
        let start = Instant::now();
        let mut recorder = Recorder::new(&["read".into()], start);
        let statement = recorder.statement("SELECT \"v\"");
        for interval in 1..=2 {
            for _ in 0..10 {
                let ended = start + Duration::from_millis(interval);
                recorder.cycle(FunctionId(0), start, start, ended, Err("time\\out"));
                recorder.request_started(start);
                recorder.request(statement, start, ended, 2, 1, Ok(()));
            }
            endpoint.add(&Sample::merge(
                [recorder.take(start + Duration::from_secs(interval))],
                None,
            ));
        }
        endpoint.add(&Sample {
            warm_up: true,
            ..Sample::default()
        });
        let text = asked(endpoint.address(), "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        for line in [
            "HTTP/1.1 200 OK\r",
            "# TYPE tidemill_bench_cycles_total counter",
            "tidemill_bench_cycles_total{function=\"read\"} 20",
            "tidemill_bench_cycle_errors_total{function=\"read\",kind=\"time\\\\out\"} 20",
            "tidemill_bench_requests_total{statement=\"SELECT \\\"v\\\"\"} 20",
            "tidemill_bench_rows_total{statement=\"SELECT \\\"v\\\"\"} 40",
            "tidemill_bench_retries_total{statement=\"SELECT \\\"v\\\"\"} 20",
        ] {
            assert!(
                text.lines().any(|found| found == line.trim_end() || found == line),
                "{line} in {text}"
            );
        }
        let p99 = text
            .lines()
            .find(|line| line.starts_with("tidemill_bench_cycle_latency_seconds{function=\"read\",quantile=\"0.99\"}"));
        let seconds: f64 = p99.unwrap().rsplit_once(' ').unwrap().1.parse().unwrap();
        assert!((seconds - 0.002).abs() < 2e-6, "{seconds}");
        let length: usize = text
            .lines()
            .find_map(|line| line.strip_prefix("Content-Length: "))
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        assert_eq!(text.split_once("\r\n\r\n").unwrap().1.len(), length);
        assert!(asked(endpoint.address(), "GET /other HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
    }

    #[test]
    fn an_endpoint_ends_and_its_port_is_free() {
        let endpoint = Endpoint::listen("127.0.0.1:0").unwrap();
        let address = endpoint.address();
        let taken = Endpoint::listen(address.to_string()).unwrap_err().to_string();
        assert_eq!(taken, format!("cannot listen at {address}"));
        drop(endpoint);
        Endpoint::listen(address.to_string()).unwrap();
    }

    #[test]
    fn a_long_request_is_cut() {
        let endpoint = Endpoint::listen("127.0.0.1:0").unwrap();
        let mut stream = TcpStream::connect(endpoint.address()).unwrap();
        // The endpoint may close before all of it is sent.
        let _ = stream.write_all(&vec![b'x'; 100_000]);
        assert!(asked(endpoint.address(), "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200"));
    }
}
