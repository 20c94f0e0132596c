//! Reports are what was measured: after a round trip, after a kill, beside a baseline, by Latte.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use serde_json::{Value, json};
use tempfile::TempDir;
use tidemill_bench::{
    Error,
    commands::{
        list::{ListArgs, list},
        show::{ShowArgs, show},
    },
    output::Format,
    report::{Report, ReportWriter, Run, RunConfig, WeightedFunction, compared, write_text},
    stats::{ClientLoad, Distribution, Estimate, Latencies, PERCENTS, Percentile, Results, Summary},
};

use crate::simulation::{exponential, queue};

fn config() -> RunConfig {
    RunConfig {
        client: "tidemill-bench".into(),
        started_ms: 1_764_000_000_000,
        command: "run".into(),
        workload: "workloads/read.rn".into(),
        functions: vec![WeightedFunction {
            name: "read".into(),
            weight: 1.0,
        }],
        target: "cql://ann:s3cret@127.0.0.1:9042".into(),
        tags: vec!["nightly".into()],
        params: [("rows".into(), "1000".into())].into(),
        threads: 1,
        concurrency: 128,
        ..RunConfig::default()
    }
}

/// Writes a report of runs whose services take `mean_us` on average, one for each, and gives their summaries.
fn write(path: &Path, mean_us: &[u64]) -> Vec<Summary> {
    let mut writer = ReportWriter::create(path, &config()).expect("a report that can be made");
    let mut summaries = Vec::new();
    for (run, &mean) in mean_us.iter().enumerate() {
        let mut summary = Summary::default();
        queue(
            run as u64 + mean,
            5,
            200,
            |_, random| exponential(random, Duration::from_micros(mean)),
            |sample| {
                writer.sample(&sample).expect("a sample that can be written");
                summary.add(&sample);
            },
        );
        writer.finish(summary.clone()).expect("results that can be written");
        summaries.push(summary);
    }
    summaries
}

fn shown(args: &ShowArgs) -> String {
    let mut out = Vec::new();
    show(args, &mut out).expect("a report that can be shown");
    String::from_utf8(out).expect("text")
}

fn args(report: &Path) -> ShowArgs {
    ShowArgs {
        report: report.to_owned(),
        baseline: None,
        log: false,
        format: None,
        layout: None,
    }
}

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("report.json");
    (folder, path)
}

#[test]
fn a_report_says_what_was_measured() {
    let (_folder, path) = place();
    let summaries = write(&path, &[300, 400]);
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("s3cret"));
    // A line each for the configuration, the samples and the results.
    assert_eq!(text.lines().count(), 1 + 2 * (5 + 1));
    let report = Report::load(&path).unwrap();
    assert_eq!(report.config, config().without_secrets());
    let results: Vec<_> = summaries.iter().cloned().map(Summary::results).collect();
    assert_eq!(
        report.runs.iter().map(|run| run.results.clone()).collect::<Vec<_>>(),
        results
    );
    assert!(report.runs.iter().all(|run| run.complete));
    let mut samples = vec![Summary::default(); 2];
    Report::read(&path, &mut |run, sample| {
        samples[run].add(&sample);
        Ok(())
    })
    .unwrap();
    for (sample, results) in samples.iter().zip(&results) {
        let again = sample.clone().results();
        assert_eq!(
            (again.cycles, &again.cycle_errors),
            (results.cycles, &results.cycle_errors)
        );
        let histogram =
            |results: &tidemill_bench::stats::Results| results.cycle_latency_ms.clone().map(|one| one.histogram);
        assert_eq!(histogram(&again), histogram(results));
        let error =
            |results: &tidemill_bench::stats::Results| results.cycle_latency_ms.as_ref().unwrap().mean.std_err.unwrap();
        assert!((error(&again) / error(results) - 1.0).abs() < 1e-6);
    }
}

#[test]
fn a_killed_run_leaves_what_was_measured() {
    let (_folder, path) = place();
    let summaries = write(&path, &[300]);
    let whole = fs::read(&path).unwrap();
    let ends: Vec<usize> = (0..whole.len())
        .filter(|&at| whole[at] == b'\n')
        .map(|at| at + 1)
        .collect();
    for (lines, &end) in ends.iter().enumerate() {
        // Cut behind a line, before its end, and in the next one.
        let next = ends.get(lines + 1).copied().unwrap_or(end);
        for cut in [end, end - 1, (end + next) / 2, (end + 1).min(next)] {
            fs::write(&path, &whole[..cut]).unwrap();
            let report = Report::load(&path).unwrap();
            match (lines, &report.runs[..]) {
                (0, []) => {
                    let error = show(&args(&path), &mut Vec::new()).unwrap_err().to_string();
                    assert!(error.contains("nothing was measured"), "{error}");
                }
                (kept @ 1..=5, [run]) => {
                    assert!(!run.complete);
                    assert_eq!(
                        (run.results.samples, run.results.cycles),
                        (kept as u64, kept as u64 * 200)
                    );
                    assert!(shown(&args(&path)).contains("the run was cut off"));
                }
                (6, [run]) => {
                    assert!(run.complete);
                    assert_eq!(run.results, summaries[0].clone().results());
                }
                (kept, runs) => panic!("{kept} lines, {} runs", runs.len()),
            }
        }
    }
    // In the first line nothing is left to read.
    for cut in [0, 1, ends[0] / 2] {
        fs::write(&path, &whole[..cut]).unwrap();
        assert!(matches!(Report::load(&path), Err(Error::Report { .. })), "cut at {cut}");
    }
}

#[test]
fn damaged_reports_are_errors_with_their_line() {
    let (_folder, path) = place();
    write(&path, &[300]);
    let whole = fs::read_to_string(&path).unwrap();
    let check = |from: &str, to: &str, line: usize, expected: &str| {
        assert!(whole.contains(from), "{from}");
        fs::write(&path, whole.replacen(from, to, 1)).unwrap();
        let error = Report::read(&path, &mut |_, _| Ok(())).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        if line > 0 {
            assert!(error.contains(&format!("report.json:{line}: ")), "{error}");
        }
    };
    check(
        "{\"tidemill_bench_report\":1",
        "{\"tidemill_bench_report\":2",
        0,
        "version 2 of reports is not supported",
    );
    check(
        "{\"tidemill_bench_report\":1",
        "{\"other\":1",
        1,
        "report by tidemill-bench or Latte 0.29",
    );
    check(
        "\"threads\":1",
        "\"threads\":-1",
        1,
        "expected the first line of a report",
    );
    check(
        "{\"sample\":",
        "{\"simple\":",
        2,
        "expected a sample or results, found {\"simple\":",
    );
    check(
        "\"histogram\":\"HIST",
        "\"histogram\":\"????",
        2,
        "histogram: not base64",
    );
    check("\"cycles\":200", "\"cycles\":-200", 2, "expected a sample");
    check(
        "{\"results\":{\"elapsed_s\":",
        "{\"results\":{\"elapsed\":",
        7,
        "missing field `elapsed_s`",
    );
    let missing = Report::load(Path::new("/nowhere/report.json")).unwrap_err().to_string();
    assert_eq!(missing, "cannot open /nowhere/report.json");
    fs::write(&path, "not a report").unwrap();
    assert!(
        Report::load(&path)
            .unwrap_err()
            .to_string()
            .contains("report.json:1: expected a report by")
    );
}

/// Whatever stands in a report, reading and showing it ends, with an answer or with an error.
#[test]
fn any_byte_may_be_wrong() {
    let (folder, path) = place();
    write(&path, &[300]);
    let whole = fs::read(&path).unwrap();
    let latte = serde_json::to_vec(&latte()).unwrap();
    let mut random = StdRng::seed_from_u64(1);
    let mut read = 0;
    for round in 0..160 {
        let mut bytes = if round % 4 == 0 { latte.clone() } else { whole.clone() };
        for _ in 0..random.random_range(1..4) {
            let at = random.random_range(0..bytes.len());
            // Digits and signs reach deeper than noise does.
            bytes[at] = match random.random_range(0..3) {
                0 => random.random(),
                1 => b"0123456789"[random.random_range(0..10)],
                _ => b"-.eE\"[]{},:\n"[random.random_range(0..12)],
            };
        }
        let damaged = folder.path().join("damaged.json");
        fs::write(&damaged, bytes).unwrap();
        if Report::read(&damaged, &mut |_, _| Ok(())).is_ok() {
            read += 1;
            let args = ShowArgs {
                baseline: Some(path.clone()),
                ..args(&damaged)
            };
            let _ = show(&args, &mut Vec::new());
            let _ = tidemill_bench::report::html(&damaged, Some(&path));
        }
    }
    // Most bytes are those of histograms, whose text notices.
    assert!((8..150).contains(&read), "{read}");
}

#[test]
fn two_reports_are_compared_by_their_runs() {
    let (folder, path) = place();
    let baseline = folder.path().join("baseline.json");
    write(&path, &[300, 301, 302, 303, 304]);
    write(&baseline, &[800, 801, 802, 803, 804]);
    let args = ShowArgs {
        baseline: Some(baseline.clone()),
        ..args(&path)
    };
    let text = shown(&args);
    let p50 = text.lines().find(|line| line.trim_start().starts_with("p50")).unwrap();
    assert!(p50.ends_with("*** better"), "{text}");
    assert!(!text.contains("one run each"));
    // One run each gives no verdict, though they differ by far.
    write(&path, &[300]);
    write(&baseline, &[800]);
    let text = shown(&args);
    let is_judged = text.contains("* better") || text.contains("* worse");
    assert!(text.contains("one run each") && !is_judged, "{text}");
    // The same as rows.
    let rows: Vec<Value> = shown(&ShowArgs {
        format: Some(Format::Jsonl),
        ..args
    })
    .lines()
    .map(|line| serde_json::from_str(line).unwrap())
    .collect();
    let row = rows
        .iter()
        .find(|row| row["scope"] == "run" && row["quantity"] == "service_time" && row["statistic"] == "p50")
        .unwrap();
    assert_eq!((&row["unit"], &row["basis"]), (&json!("ms"), &json!("within_runs")));
    assert!(row["change_percent"].as_f64().unwrap() < -50.0 && row["low"].as_f64() < row["value"].as_f64());
    assert_eq!(row.get("significant"), None);
}

/// The results of a run of a machine on which runs differ by `noise`: two hundred latencies, whose tail differs by more.
fn noisy_run(random: &mut StdRng, level: f64, noise: f64) -> Results {
    let mut normal = || ((0..4).map(|_| random.random::<f64>()).sum::<f64>() - 2.0) * 3.0_f64.sqrt();
    let own = level * (noise * normal()).exp();
    let mut times: Vec<f64> = (0..200)
        .map(|nth| {
            // On a quiet machine the latencies of all runs are the same, but for a little.
            let even = (f64::from(nth) / 100.0 - 1.0) * 1.7;
            let drawn = if noise < 0.05 {
                even + 5.0 * noise * normal()
            } else {
                normal()
            };
            own * (0.6 * drawn).exp()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let distribution = |times: &[f64]| {
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let at = |percent: f64| times[((times.len() - 1) as f64 * percent / 100.0) as usize];
        Some(Distribution {
            count: times.len() as u64,
            effective_count: times.len() as f64,
            mean: Estimate::mean(mean, mean * 0.01, 200.0),
            deviation: mean,
            percentiles: PERCENTS
                .iter()
                .map(|&percent| Percentile {
                    percent,
                    estimate: Estimate::bare(at(percent)),
                })
                .collect(),
            histogram: Latencies::default(),
        })
    };
    let latency = distribution(&times);
    // Requests are a little shorter than cycles, by what varies as well.
    let requests = distribution(&times.iter().map(|time| time * 0.95).collect::<Vec<_>>());
    let rate = Estimate::mean(1e3 / own, 1.0, 200.0);
    Results {
        elapsed_s: 10.0,
        samples: 10,
        cycles: 300,
        requests: 300,
        rows: 300,
        cycles_per_s: rate,
        requests_per_s: rate,
        rows_per_s: rate,
        client: ClientLoad {
            cpu_s: Some(0.1 * (0.3 * normal()).exp()),
            ..ClientLoad::default()
        },
        cycle_latency_ms: latency.clone(),
        service_time_ms: latency,
        request_latency_ms: requests,
        ..Results::default()
    }
}

/// The runs of one process, which has a hundredth that is its own.
fn noisy_report(random: &mut StdRng, runs: usize, level: f64, noise: f64) -> Report {
    let process = (0..4).map(|_| random.random::<f64>()).sum::<f64>() - 2.0;
    let level = level * (0.01 * process * 3.0_f64.sqrt()).exp();
    let runs = (0..runs).map(|_| Run {
        results: noisy_run(random, level, noise),
        complete: true,
    });
    Report {
        path: "made-up.json".into(),
        config: config(),
        runs: runs.collect(),
    }
}

/// Nothing differs, and of a hundred pairs of reports one at most says that something does, whichever of its numbers that is.
#[test]
fn pairs_of_the_same_thing_do_not_differ() {
    const PAIRS: usize = 500;
    let mut random = StdRng::seed_from_u64(17);
    let (mut significant, mut unadjusted, mut found) = (0, 0, 0);
    for pair in 0..PAIRS {
        let (before, after) = [(5, 5), (3, 3), (5, 1), (10, 10)][pair / 2 % 4];
        // Machines on which runs differ by a tenth, and by a five-hundredth.
        let noise = if pair % 2 == 0 { 0.1 } else { 0.002 };
        let baseline = noisy_report(&mut random, before, 1.0, noise);
        let numbers = compared(&noisy_report(&mut random, after, 1.0, noise), Some(&baseline));
        let comparisons = numbers.iter().filter_map(|one| one.comparison);
        significant += usize::from(comparisons.clone().any(|one| one.is_significant()));
        unadjusted += usize::from(comparisons.clone().any(|one| one.p_value.is_some_and(|p| p < 0.01)));
        // What does differ is found all the same.
        if pair % 5 == 0 {
            let slower = noisy_report(&mut random, before, 2.0, noise);
            let numbers = compared(&slower, Some(&baseline));
            found += usize::from(numbers.iter().any(|one| one.verdict() == "worse"));
        }
    }
    println!(
        "{significant} of {PAIRS} with an adjusted verdict, {unadjusted} with one that is not; {found} true differences"
    );
    assert!(significant <= PAIRS / 100, "{significant} of {PAIRS} pairs differ");
    assert!(
        unadjusted > PAIRS * 3 / 100,
        "{unadjusted}: too few for the correction to matter"
    );
    assert!(found > PAIRS / 5 * 3 / 5, "{found} of {}", PAIRS / 5);
}

/// A warning that most runs have is told once, with how many had it, whatever its numbers.
#[test]
fn warnings_of_runs_are_told_once() {
    let mut report = noisy_report(&mut StdRng::seed_from_u64(7), 3, 1.0, 0.1);
    for (run, unstarted) in report.runs.iter_mut().zip([0, 17, 4]) {
        run.results.unstarted_cycles = unstarted;
    }
    report.runs[2].complete = false;
    let mut text = Vec::new();
    write_text(&report, None, &compared(&report, None), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let warnings: Vec<&str> = text.lines().filter(|line| line.starts_with("warning: ")).collect();
    let [unstarted, cut] = warnings[..] else {
        panic!("{text}");
    };
    assert!(
        unstarted.contains("17 cycles were due") && unstarted.ends_with("(in 2 of 3 runs)"),
        "{unstarted}"
    );
    assert!(
        cut.contains("the run was cut off") && cut.ends_with("(in 1 of 3 runs)"),
        "{cut}"
    );
}

/// Numbers that are the same under several names are one number, and are printed once.
#[test]
fn equal_numbers_are_compared_once() {
    let mut random = StdRng::seed_from_u64(5);
    let (own, baseline) = (
        noisy_report(&mut random, 5, 1.3, 0.1),
        noisy_report(&mut random, 5, 1.0, 0.1),
    );
    let numbers = compared(&own, Some(&baseline));
    let p = |name: &str, statistic: &str| {
        let found = numbers
            .iter()
            .find(|one| one.quantity.name == name && one.quantity.statistic == statistic);
        found.unwrap().comparison.unwrap().p_adjusted
    };
    assert!(p("cycle_latency", "p50").is_some_and(|p| p < 1.0));
    assert_eq!(p("cycle_latency", "p50"), p("service_time", "p50"));
    let mut text = Vec::new();
    write_text(&own, Some(&baseline), &numbers, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.contains("\nSERVICE TIME [ms] is the same as CYCLE LATENCY [ms]\n"),
        "{text}"
    );
    assert!(
        text.contains("\nREQUEST LATENCY [ms] ══") && text.contains("(Holm)"),
        "{text}"
    );
}

#[test]
fn samples_are_rows() {
    let (_folder, path) = place();
    write(&path, &[300]);
    let csv = shown(&ShowArgs {
        log: true,
        format: Some(Format::Csv),
        ..args(&path)
    });
    let lines: Vec<&str> = csv.lines().collect();
    assert!(
        lines[0].starts_with("run,cycles,cycle_errors,requests,start_s,duration_s,cycles_per_s"),
        "{csv}"
    );
    assert_eq!(lines.len(), 6);
    assert!(
        lines[1].starts_with("1,200,") && lines[1].contains(",0.0,1.0,200.0,200.0,"),
        "{csv}"
    );
}

#[test]
fn reports_are_listed() {
    let (folder, path) = place();
    write(&path, &[300]);
    fs::create_dir(folder.path().join("deeper")).unwrap();
    fs::copy(&path, folder.path().join("deeper/other.json")).unwrap();
    fs::write(folder.path().join("notes.json"), "{}").unwrap();
    let listed = |recursive: bool, tags: &[&str]| {
        let args = ListArgs {
            workload: Some("read.rn".into()),
            function: Some("read".into()),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            output: vec![folder.path().to_owned()],
            recursive,
            format: Some(Format::Jsonl),
        };
        let mut out = Vec::new();
        list(&args, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    assert_eq!(listed(false, &["nightly"]).lines().count(), 1);
    assert_eq!(listed(true, &[]).lines().count(), 2);
    assert_eq!(listed(true, &["weekly"]), "");
    let row: Value = serde_json::from_str(listed(false, &[]).trim()).unwrap();
    assert_eq!(
        (&row["params"], &row["tags"], &row["cycles_per_s"]),
        (&json!("rows=1000"), &json!("nightly"), &json!(200.0))
    );
}

#[test]
fn the_documented_report_is_read() {
    let page = include_str!("../../../../docs/bench-report.md");
    let example = page.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    let (_folder, path) = place();
    // The block's last line has an end that the file has not.
    fs::write(&path, example.trim_end()).unwrap();
    let mut seen = 0;
    let report = Report::read(&path, &mut |_, sample| {
        seen += sample.cycles();
        Ok(())
    })
    .unwrap();
    let run = &report.runs[0];
    assert_eq!(
        (seen, run.complete, run.results.cycles, run.results.elapsed_s),
        (4, false, 4, 1.0)
    );
    let median = run.results.cycle_latency_ms.as_ref().unwrap().percentile(50.0).unwrap();
    assert!((median.value - 2.0).abs() < 0.002);
    assert_eq!(run.results.request_errors["timeout"], 1);
    let written = serde_json::to_value(&report.config).unwrap();
    for field in written.as_object().unwrap().keys() {
        assert!(page.contains(&format!("`config.{field}`")), "{field}");
    }
}

/// A report as Latte 0.29 writes them, of made-up numbers.
fn latte() -> Value {
    let mut latencies = Latencies::default();
    (1..=1_000).for_each(|value| latencies.record(value * 1_000));
    let mean = |value: f64| json!({"n": 300, "value": value, "std_err": 0.01});
    let times = json!({
        "mean": mean(0.5),
        "percentiles": (0..15).map(|index| mean(f64::from(index))).collect::<Vec<_>>(),
        "histogram": latencies.to_text(),
    });
    let interval = |start: f64| {
        json!({
            "time_s": start, "duration_s": 1.0, "cycle_count": 1000, "cycle_error_count": 2, "request_count": 1000,
            "req_retry_count": 0, "req_errors": [], "req_error_count": 0, "row_count": 1000, "mean_queue_len": 12.5,
            "cycle_throughput": 1000.0, "req_throughput": 1000.0, "row_throughput": 1000.0, "cycle_latency": times,
            "cycle_latency_by_fn": {"read": times}, "request_latency": times,
        })
    };
    json!({
        "conf": {
            "rate": null, "warmup_duration": {"Count": 1}, "run_duration": {"Time": {"secs": 2, "nanos": 0}},
            "start_cycle": 0, "end_cycle": i64::MAX, "threads": 1, "concurrency": 128,
            "sampling_interval": {"Time": {"secs": 1, "nanos": 500_000_000}}, "drop_sampling_log": false, "tags": ["old"],
            "baseline": null, "workload": "read.rn", "functions": [{"name": "read", "weight": 1.0}],
            "params": [["rows", "7"]], "quiet": false,
            "connection": {
                "count": 1, "addresses": ["127.0.0.1"], "user": "ann", "password": "s3cret", "ssl": false,
                "datacenter": null, "consistency": "LocalQuorum", "request_timeout": {"secs": 5, "nanos": 0},
                "retry_strategy": {"retries": 3},
            },
            "timestamp": 1_700_000_000, "cluster_name": "Test Cluster", "cass_version": "5.0.9", "id": "x",
        },
        "percentiles": [0.0, 1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 98.0, 99.0, 99.9, 99.99, 100.0],
        "result": {
            "start_time": "2023-11-14T22:13:20.5+00:00", "end_time": "2023-11-14T22:13:22.5+00:00",
            "elapsed_time_s": 2.0, "cpu_time_s": 1.0, "cpu_util": 25.0, "cycle_count": 2000, "request_count": 2000,
            "requests_per_cycle": 1.0, "request_retry_count": 0, "request_retry_per_request": 0.0, "errors": ["timeout"],
            "error_count": 4, "errors_ratio": 0.2, "row_count": 2000, "row_count_per_req": 1.0,
            "cycle_throughput": mean(1000.0), "cycle_throughput_ratio": null, "req_throughput": mean(1000.0),
            "row_throughput": {"n": 2, "value": null, "std_err": null}, "cycle_latency": times,
            "cycle_latency_by_fn": {"read": times}, "request_latency": times, "concurrency": mean(12.5),
            "concurrency_ratio": 9.8, "log": [interval(0.0), interval(1.0)],
        },
    })
}

#[test]
fn reports_by_latte_are_read() {
    let (folder, path) = place();
    fs::write(&path, serde_json::to_string_pretty(&latte()).unwrap()).unwrap();
    let mut samples = Vec::new();
    let report = Report::read(&path, &mut |_, sample| {
        samples.push(sample);
        Ok(())
    })
    .unwrap();
    assert_eq!(
        (report.config.started_ms, &report.config.duration[..]),
        (1_700_000_000_500, "2s")
    );
    assert_eq!(
        (&report.config.warm_up[..], &report.config.sampling[..]),
        ("1", "1500ms")
    );
    assert_eq!(report.config.settings["consistency"], "LocalQuorum");
    let results = &report.runs[0].results;
    assert_eq!(
        (results.cycles, results.cycle_errors["error"], results.samples),
        (2_000, 4, 2)
    );
    // It measures from the send.
    assert_eq!(results.cycle_latency_ms, None);
    let service = results.service_time_ms.as_ref().unwrap();
    assert_eq!(
        (service.percentile(50.0).unwrap().value, service.mean.std_err),
        (6.0, Some(0.01))
    );
    assert_eq!(
        (samples.len(), samples[1].start_s, samples[1].cycles()),
        (2, 1.0, 1_000)
    );
    assert_eq!(samples[0].cycle_latencies().max() / 1_000_000, 1);
    let baseline = folder.path().join("own.json");
    write(&baseline, &[300]);
    let text = shown(&ShowArgs {
        baseline: Some(baseline),
        ..args(&path)
    });
    assert!(
        text.contains("Test Cluster") && text.contains("SERVICE TIME") && !text.contains("s3cret"),
        "{text}"
    );
    // What Latte doesn't have is empty, not zero.
    let latency = text.lines().skip_while(|line| !line.starts_with("CYCLE LATENCY"));
    let p50 = latency
        .clone()
        .find(|line| line.trim_start().starts_with("p50 "))
        .unwrap();
    assert!(p50[29..62].trim().is_empty() && !p50[62..].trim().is_empty(), "{p50}");
}

#[test]
fn hostile_reports_in_latte_s_form_are_errors() {
    let (_folder, path) = place();
    let check = |pointer: &str, value: Value, expected: &str| {
        let mut report = latte();
        *report.pointer_mut(pointer).unwrap() = value;
        fs::write(&path, serde_json::to_string_pretty(&report).unwrap()).unwrap();
        let error = Report::load(&path).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check("/result/cycle_latency/histogram", json!("HISTFAAA"), "histogram");
    check(
        "/result/cycle_count",
        json!(-1),
        "expected a report by tidemill-bench or Latte 0.29",
    );
    check("/result/log/0/request_latency", json!(null), "report.json:");
    check("/conf", json!({}), "missing field `workload`");
    let whole = serde_json::to_string_pretty(&latte()).unwrap();
    for cut in (0..whole.len()).step_by(97) {
        fs::write(&path, &whole[..cut]).unwrap();
        assert!(Report::load(&path).is_err(), "cut at {cut}");
    }
}
