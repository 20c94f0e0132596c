//! HdrHistogram's interval logs, as its version 1.3 and Latte write them.
//!
//! A line a histogram: tag, start and length of the interval in seconds, the longest latency in milliseconds, the histogram in
//! nanoseconds.

use std::io::{self, Write};

use crate::{
    Error, Result,
    stats::{Latencies, Sample},
};

/// A log that is being written.
#[derive(Debug)]
pub(crate) struct HdrLog<W> {
    out: W,
    prefix: String,
    of: Of,
}

/// Whose times a log holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Of {
    /// All cycles together, as `cycles`, and all requests, as `requests`: what Latte's `hdr` writes.
    All,
    /// The cycles of each function by itself, as `fn--NAME`: what the `--hdrfile` of Latte's fork writes, and its automation reads.
    Functions,
}

impl<W: Write> HdrLog<W> {
    /// Writes the head of a log. `started_ms` is the start of the run, in milliseconds since 1970; `tag` stands before the tags
    /// of all histograms, with a point. `of` says whose times they are.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a tag that the format can't hold, [`Error::Output`] when `out` refuses.
    pub(crate) fn create(mut out: W, started_ms: i64, tag: Option<&str>, of: Of) -> Result<Self> {
        if let Some(tag) = tag
            && (tag.is_empty() || tag.chars().any(|one| one == ',' || one.is_whitespace()))
        {
            return Err(Error::Misuse(format!(
                "a tag of a histogram is a word without commas and blanks, not `{tag}`"
            )));
        }
        let seconds = started_ms as f64 / 1_000.0;
        writeln!(out, "#[Logged with tidemill-bench {}]", env!("CARGO_PKG_VERSION"))?;
        writeln!(out, "#[Histogram log format version 1.3]")?;
        writeln!(out, "#[StartTime: {seconds:.3} (seconds since epoch)]")?;
        writeln!(out, "#[BaseTime: {seconds:.3} (seconds since epoch)]")?;
        writeln!(out, "#[MaxValueDivisor: 1000000.000]")?;
        Ok(Self {
            out,
            prefix: tag.map(|tag| format!("{tag}.")).unwrap_or_default(),
            of,
        })
    }

    /// Writes the histograms of an interval; those of the warm-up are left out, and functions that no cycle of it called.
    ///
    /// # Errors
    /// [`Error::Output`] when `out` refuses.
    pub(crate) fn sample(&mut self, sample: &Sample) -> Result<()> {
        if sample.warm_up {
            return Ok(());
        }
        match self.of {
            Of::All => {
                self.line(sample, "cycles", &sample.cycle_latencies())?;
                self.line(sample, "requests", &sample.request_latencies())?;
            }
            Of::Functions => {
                for (name, function) in &sample.functions {
                    if let Some(times) = function.latency.as_ref().filter(|times| times.histogram.count() > 0) {
                        self.line(sample, &format!("fn--{name}"), &times.histogram)?;
                    }
                }
            }
        }
        // A log may be followed while it grows.
        Ok(self.out.flush()?)
    }

    fn line(&mut self, sample: &Sample, kind: &str, latencies: &Latencies) -> io::Result<()> {
        let (start, length) = (sample.start_s, sample.duration_s);
        let longest_ms = latencies.max() as f64 / 1e6;
        let histogram = latencies.to_text();
        writeln!(
            self.out,
            "Tag={}{kind},{start:.3},{length:.3},{longest_ms:.3},{histogram}",
            self.prefix
        )
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    use super::*;
    use crate::stats::{FunctionId, Recorder};

    fn sample() -> Sample {
        let start = Instant::now();
        let mut recorder = Recorder::new(&["run".into()], start);
        let statement = recorder.statement("select");
        for micros in 1..=1_000 {
            let ended = start + Duration::from_micros(micros);
            recorder.cycle(FunctionId(0), start, start, ended, Ok(()));
            recorder.request_started(start);
            recorder.request(statement, start, ended, 0, 0, Ok(()));
        }
        Sample::merge([recorder.take(start + Duration::from_millis(1_500))], None)
    }

    /// Read by the library of HdrHistogram's format.
    #[test]
    fn logs_are_read_by_another_reader() {
        let mut out = Vec::new();
        let mut log = HdrLog::create(&mut out, 1_764_000_000_250, Some("node1"), Of::All).unwrap();
        log.sample(&sample()).unwrap();
        let mut warm_up = sample();
        warm_up.warm_up = true;
        log.sample(&warm_up).unwrap();
        let entries: Vec<_> = IntervalLogIterator::new(&out).map(Result::unwrap).collect();
        let mut times = Vec::new();
        let mut tags = Vec::new();
        for entry in &entries {
            match entry {
                LogEntry::StartTime(time) | LogEntry::BaseTime(time) => times.push(time.as_millis()),
                LogEntry::Interval(histogram) => {
                    tags.push(histogram.tag().unwrap().as_str());
                    assert_eq!(histogram.duration(), Duration::from_millis(1_500));
                    assert_eq!(histogram.max(), 1.0);
                    let latencies = Latencies::from_text(histogram.encoded_histogram()).unwrap();
                    assert_eq!((latencies.count(), latencies.quantile(0.5) / 1_000), (1_000, 500));
                }
            }
        }
        assert_eq!(times, [1_764_000_000_250; 2]);
        assert_eq!(tags, ["node1.cycles", "node1.requests"]);
    }

    #[test]
    fn functions_have_histograms_of_their_own() {
        let start = Instant::now();
        let mut recorder = Recorder::new(&["read".into(), "write".into(), "idle".into()], start);
        for (function, micros) in [(0, 100), (0, 200), (1, 5_000)] {
            recorder.cycle(
                FunctionId(function),
                start,
                start,
                start + Duration::from_micros(micros),
                Ok(()),
            );
        }
        let sample = Sample::merge([recorder.take(start + Duration::from_secs(1))], None);
        let mut out = Vec::new();
        HdrLog::create(&mut out, 0, None, Of::Functions)
            .unwrap()
            .sample(&sample)
            .unwrap();
        let found = IntervalLogIterator::new(&out).filter_map(|entry| match entry.unwrap() {
            LogEntry::Interval(histogram) => {
                let times = Latencies::from_text(histogram.encoded_histogram()).unwrap();
                Some((
                    histogram.tag().unwrap().as_str().to_owned(),
                    times.count(),
                    times.max() / 100_000,
                ))
            }
            _ => None,
        });
        let expected = [("fn--read".to_owned(), 2, 2), ("fn--write".to_owned(), 1, 50)];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn tags_that_break_the_format_are_refused() {
        for tag in ["", "a,b", "a b", "a\n"] {
            let error = HdrLog::create(Vec::new(), 0, Some(tag), Of::All)
                .unwrap_err()
                .to_string();
            assert!(error.contains("a tag of a histogram is a word"), "{error}");
        }
    }
}
