//! Pictures, pages, logs and merged reports of made-up runs.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use tidemill_bench::{
    commands::{
        export::{ExportArgs, export},
        hdr::{HdrArgs, hdr},
        plot::{PlotArgs, plot},
    },
    report::{Report, ReportWriter, RunConfig},
    stats::{Latencies, Sample, Summary},
};

use crate::simulation::{exponential, queue};

/// A report of one run with a cycle each five milliseconds.
fn write(path: &Path, seed: u64, started_ms: i64, workload: &str) -> Vec<Sample> {
    let config = RunConfig {
        started_ms,
        workload: workload.into(),
        threads: 2,
        concurrency: 8,
        cores: Some(2),
        rate: Some(200.0),
        ..RunConfig::default()
    };
    let mut writer = ReportWriter::create(path, &config).expect("a report that can be made");
    let mut summary = Summary::default();
    let mut samples = Vec::new();
    let service = |_, random: &mut rand::rngs::StdRng| exponential(random, Duration::from_micros(500 + 100 * seed));
    let mut warm_up = Sample {
        warm_up: true,
        // As long as it took on this machine.
        duration_s: 0.002 * seed as f64,
        ..Sample::default()
    };
    warm_up.functions.insert("read".into(), Default::default());
    writer.sample(&warm_up).expect("a sample that can be written");
    queue(seed, 6, 200, service, |sample| {
        writer.sample(&sample).expect("a sample that can be written");
        summary.add(&sample);
        samples.push(sample);
    });
    writer.finish(summary).expect("results that can be written");
    samples
}

fn plotted(reports: &[PathBuf], output: &Path) -> Result<String, String> {
    let args = PlotArgs {
        reports: reports.to_vec(),
        percentiles: Vec::new(),
        throughput: false,
        output: Some(output.to_owned()),
    };
    let mut out = Vec::new();
    plot(&args, &mut out).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(out).expect("text"))
}

fn exported(reports: &[&Path], change: impl FnOnce(&mut ExportArgs)) -> Result<String, String> {
    let mut args = ExportArgs {
        reports: reports.iter().map(|path| path.to_path_buf()).collect(),
        baseline: None,
        html: false,
        merge: false,
        format: None,
        output: None,
    };
    change(&mut args);
    let mut out = Vec::new();
    export(&args, &mut out).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(out).expect("text"))
}

#[test]
fn plots_have_axes_lines_and_names() {
    let folder = tempfile::tempdir().unwrap();
    let reports = ["one", "two"].map(|name| folder.path().join(format!("{name}.json")));
    write(&reports[0], 1, 1_000, "read.rn");
    write(&reports[1], 2, 2_000, "read.rn");
    let picture = folder.path().join("plot.svg");
    assert_eq!(
        plotted(&reports, &picture).unwrap().trim(),
        picture.display().to_string()
    );
    let svg = fs::read_to_string(&picture).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    for text in [
        "Throughput",
        "Latency of cycles",
        "time [s]",
        "latency [ms]",
        "p99 one",
        "p50 two",
    ] {
        assert!(svg.contains(text), "{text}");
    }
    // Two lines of throughput, four of latency; each has six points.
    assert!(svg.matches("<polyline").count() >= 6);

    let picture = folder.path().join("plot.png");
    plotted(&reports[..1], &picture).unwrap();
    let png = fs::read(&picture).unwrap();
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(
        &png[16..24],
        [1_600_u32.to_be_bytes(), 1_600_u32.to_be_bytes()].concat()
    );

    let error = plotted(&reports, &folder.path().join("plot.gif")).unwrap_err();
    assert!(
        error.ends_with("plot.gif: pictures are written as .svg or .png"),
        "{error}"
    );
}

#[test]
fn pages_need_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let (own, baseline) = (folder.path().join("own.json"), folder.path().join("baseline.json"));
    write(&own, 1, 1_000, "<script>alert(1)</script>");
    write(&baseline, 2, 2_000, "read.rn");
    let page = exported(&[&own], |args| args.html = true).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    // Three pictures, each for a wide window and for a narrow one.
    assert_eq!(page.matches("<svg role=\"img\" aria-label=").count(), 6);
    assert_eq!(page.matches("<figure class=\"narrow\"").count(), 3);
    assert!(page.contains("prefers-color-scheme:dark") && !page.contains("#FFFFFF") && !page.contains("\"#000000\""));
    let heads = page.matches("<th").count() - page.matches("<thead").count();
    assert_eq!(heads, page.matches("<th scope=").count());
    assert_eq!(
        (page.contains("<script"), page.contains("&lt;script&gt;")),
        (false, true)
    );
    // Nothing is fetched: the only address is the name space of SVG.
    let addresses = page.matches("://").count();
    assert_eq!(addresses, page.matches("http://www.w3.org/2000/svg").count());
    assert_eq!(page.matches("<table>").count(), page.matches("</table>").count());
    assert_eq!(page.matches("<tr>").count(), page.matches("</tr>").count());
    assert!(page.contains("from the schedule") && page.contains("p99.9"));
    let compared = exported(&[&own], |args| {
        args.html = true;
        args.baseline = Some(baseline.clone());
    })
    .unwrap();
    assert!(
        compared.contains("B (baseline)") && compared.contains("one run each"),
        "{compared}"
    );
    let rows = exported(&[&own], |args| args.format = Some(tidemill_bench::output::Format::Csv)).unwrap();
    assert!(
        rows.starts_with("scope,scope_name,quantity,statistic,unit,value,std_err,low,high\n"),
        "{rows}"
    );
    assert!(
        exported(&[&own, &baseline], |args| args.html = true)
            .unwrap_err()
            .contains("one report")
    );
}

#[test]
fn merged_histograms_are_the_sums() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a.json", "b.json", "c.json"].map(|name| folder.path().join(name));
    // Three clients that started within a fifth of a second; the third a whole interval late.
    let parts = [
        write(&paths[0], 1, 10_000, "w"),
        write(&paths[1], 2, 10_200, "w"),
        write(&paths[2], 3, 11_000, "w"),
    ];
    let merged = folder.path().join("merged.json");
    let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    exported(&paths, |args| {
        args.merge = true;
        args.output = Some(merged.clone());
    })
    .unwrap();
    let mut samples = Vec::new();
    let report = Report::read(&merged, &mut |_, sample| {
        samples.push(sample);
        Ok(())
    })
    .unwrap();
    assert_eq!(
        (report.config.started_ms, report.config.threads, report.config.rate),
        (10_000, 6, Some(600.0))
    );
    assert_eq!(
        (&report.config.settings["clients"][..], report.config.cores),
        ("3", Some(6))
    );
    assert_eq!(
        samples.iter().map(Sample::cycles).collect::<Vec<_>>(),
        [400, 600, 600, 600, 600, 600, 200]
    );
    let mut sum = Latencies::default();
    parts
        .iter()
        .flatten()
        .for_each(|sample| sum.add(&sample.cycle_latencies()));
    let results = &report.runs[0].results;
    assert_eq!(results.cycle_latency_ms.as_ref().unwrap().histogram, sum);
    assert_eq!((results.cycles, results.requests), (3_600, 3_600));
    let mut second = parts[0][1].cycle_latencies().into_owned();
    second.add(&parts[1][1].cycle_latencies());
    second.add(&parts[2][0].cycle_latencies());
    assert_eq!(samples[1].cycle_latencies().into_owned(), second);
}

#[test]
fn what_does_not_fit_is_not_merged() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two, merged] = ["one.json", "two.json", "merged.json"].map(|name| folder.path().join(name));
    write(&one, 1, 1_000, "w");
    let failed = |paths: &[&Path], output: &Path| {
        let output = output.to_owned();
        exported(paths, |args| {
            args.merge = true;
            args.output = Some(output);
        })
        .unwrap_err()
    };
    assert!(failed(&[&one], &merged).contains("two reports at least"));
    write(&two, 2, 1_000, "w");
    assert!(failed(&[&one, &two], &two).contains("into itself"));
    // Two runs beside one.
    let lines = fs::read_to_string(&two).unwrap();
    let again: String = lines.split_inclusive('\n').skip(1).collect();
    fs::write(&two, format!("{lines}{again}")).unwrap();
    assert!(failed(&[&one, &two], &merged).contains("merge reports of the same runs"));
    // Samples of another length.
    fs::write(&two, lines.replace("\"duration_s\":1.0", "\"duration_s\":2.0")).unwrap();
    assert!(failed(&[&one, &two], &merged).contains("merge reports of the same sampling"));
    // Damage in a sample that only the merge reads.
    fs::write(&two, lines.replacen("\"histogram\":\"HIST", "\"histogram\":\"????", 1)).unwrap();
    assert!(failed(&[&one, &two], &merged).contains("two.json:3: expected a sample"));
}

#[test]
fn logs_hold_every_sample() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let samples = write(&path, 1, 1_764_000_000_000, "w");
    let args = HdrArgs {
        report: path,
        output: None,
        tag: None,
    };
    let mut log = Vec::new();
    hdr(&args, &mut log).unwrap();
    let entries: Vec<_> = IntervalLogIterator::new(&log).map(Result::unwrap).collect();
    let histograms = entries.iter().filter_map(|entry| match entry {
        LogEntry::Interval(histogram) => Some((histogram.tag().unwrap().as_str(), histogram.encoded_histogram())),
        _ => None,
    });
    let expected = samples.iter().flat_map(|sample| {
        [
            ("cycles", sample.cycle_latencies().to_text()),
            ("requests", sample.request_latencies().to_text()),
        ]
    });
    let histograms: Vec<_> = histograms.map(|(tag, text)| (tag, text.to_owned())).collect();
    assert_eq!(histograms, expected.collect::<Vec<_>>());
    let file = folder.path().join("log.hdr");
    hdr(
        &HdrArgs {
            output: Some(file.clone()),
            ..args
        },
        &mut Vec::new(),
    )
    .unwrap();
    assert_eq!(fs::read(&file).unwrap(), log);
}
