//! Command lines as they are written elsewhere: every one of the pages is taken by the program's own parser, and run where no server is
//! needed; the forms that options have in Latte, its fork and their automation are taken too.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command as Process, Stdio};
use std::time::Duration;

use crate::common::{Bench, Ran};
use clap::{CommandFactory as _, Parser as _};
use tidemill_bench::args::{Cli, Command, Extent, RunArgs};
use tidemill_bench::report::Report;
use tidemill_testkit::corpus;

const PAGES: [(&str, &str); 3] = [
    ("bench.md", include_str!("../../../../docs/bench.md")),
    ("bench-report.md", include_str!("../../../../docs/bench-report.md")),
    ("statistics.md", include_str!("../../../../docs/statistics.md")),
];

/// The command lines of fenced blocks, and of code within a text, as words.
fn documented() -> Vec<(&'static str, Vec<String>)> {
    let mut lines = Vec::new();
    for (page, text) in PAGES {
        for (index, part) in text.split("```").enumerate() {
            let code: Vec<&str> = match index % 2 {
                // The first line of a block is its language. A command without arguments is only named.
                1 => part.lines().skip(1).collect(),
                _ => part.split('`').skip(1).step_by(2).collect(),
            };
            for line in code {
                let words: Vec<String> = line
                    .split_whitespace()
                    .take_while(|word| *word != "#")
                    .map(str::to_owned)
                    .collect();
                match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                    ["tidemill-bench", _, _, ..] => lines.push((page, words[1..].to_vec())),
                    ["tidemill", "bench", _, _, ..] => lines.push((page, words[2..].to_vec())),
                    _ => {}
                }
            }
        }
    }
    lines
}

fn parsed(words: &[String]) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(std::iter::once("tidemill-bench").chain(words.iter().map(String::as_str)))
}

const WORKLOAD: &str = "pub async fn run(ctx, i) { ctx.execute(\"SELECT id FROM t\").await }
    pub async fn schema(ctx) { ctx.execute(\"CREATE TABLE t (id Integer)\").await }
    pub async fn load(ctx, i) {}";

/// The same line for tables in memory, for a moment, at a rate that any machine keeps.
fn here(words: &[String]) -> Vec<String> {
    let mut words = words.to_vec();
    if words[0] != "run" && words[0] != "load" && words[0] != "schema" {
        return words;
    }
    for at in 0..words.len() {
        match words[at].as_str() {
            "-d" => words[at + 1] = "300ms".to_owned(),
            "-r" => words[at + 1] = "100".to_owned(),
            "--start-at" => words[at + 1] = "2020-01-31T12:00:00Z".to_owned(),
            address if address.contains("127.0.0.1") || address.contains("10.0.0.") => words[at] = "mem:".to_owned(),
            _ => {}
        }
    }
    words
}

/// The reports that a line reads are made before it.
#[test]
fn documented_command_lines_are_parsed_and_run() {
    let bench = Bench::new("mem:");
    for name in ["w.rn", "write.rn"] {
        bench.write(name, WORKLOAD);
    }
    let lines = documented();
    assert!(lines.len() >= 10, "{lines:?}");
    let mut run = BTreeSet::new();
    for (page, words) in lines {
        let line = format!("{page}: {}", words.join(" "));
        let cli = parsed(&words).unwrap_or_else(|error| panic!("{line}: {error}"));
        let folder = bench.file("w.rn").parent().unwrap().to_owned();
        let read: Vec<_> = match &cli.command {
            Command::Show(args) => std::iter::once(&args.report).chain(&args.baseline).cloned().collect(),
            Command::Hdr(args) => vec![args.report.clone()],
            Command::Plot(args) => args.reports.clone(),
            Command::Export(args) => args.reports.iter().chain(&args.baseline).cloned().collect(),
            _ => Vec::new(),
        };
        for report in read {
            let report = folder.join(report);
            if !report.exists() {
                let name = report.to_str().unwrap();
                let line = ["run", "w.rn", "-d", "300ms", "-r", "100", "-q", "-o", name];
                bench.run(&line).good();
            }
        }
        if let Command::Edit(_) = cli.command {
            continue;
        }
        let mut process = Process::new(env!("CARGO_BIN_EXE_tidemill-bench"));
        process.current_dir(&folder).args(here(&words)).stdin(Stdio::null());
        let ran = Ran::from(process.output().unwrap());
        assert_eq!(ran.code, Some(0), "{line}\n{}\n{}", ran.out, ran.err);
        run.insert(words[0].clone());
        match &cli.command {
            Command::Run(args) => assert!(ran.out.contains("cycles [1/s]") || args.format.is_some(), "{line}"),
            Command::Show(_) => assert!(ran.out.contains("SUMMARY"), "{line}"),
            Command::Export(args) => written(
                &line,
                &ran.out,
                args.output.as_deref().map(|path| folder.join(path)),
                args,
            ),
            _ => {}
        }
    }
    // The pages show what each is for.
    let commands = ["schema", "load", "run", "show", "plot", "hdr", "list", "export"];
    let missing: Vec<_> = commands.iter().filter(|command| !run.contains(**command)).collect();
    assert!(missing.is_empty(), "no page shows {missing:?}");
}

fn written(
    line: &str,
    out: &str,
    path: Option<std::path::PathBuf>,
    args: &tidemill_bench::commands::export::ExportArgs,
) {
    let text = path.as_deref().map_or_else(
        || out.to_owned(),
        |path| fs::read_to_string(path).expect("a file that was written"),
    );
    if args.html {
        assert!(
            text.starts_with("<!DOCTYPE html>") && text.contains("<svg"),
            "{line}: {text}"
        );
    } else if args.merge {
        let report = Report::load(path.as_deref().expect("an output")).expect("a report");
        assert_eq!(
            report.config.settings["clients"],
            args.reports.len().to_string(),
            "{line}"
        );
        assert!(report.runs[0].results.cycles > 0, "{line}");
    } else {
        assert!(text.contains("cycle_latency"), "{line}: {text}");
    }
}

/// Those of the front page need what its tour makes.
#[test]
fn command_lines_of_the_front_page_are_parsed() {
    let page = include_str!("../../../../README.md");
    let lines = page
        .lines()
        .filter_map(|line| line.trim_start_matches("$ ").strip_prefix("tidemill bench "));
    let mut count = 0;
    for line in lines {
        let words: Vec<String> = line
            .split_whitespace()
            .take_while(|word| *word != "#")
            .map(str::to_owned)
            .collect();
        parsed(&words).unwrap_or_else(|error| panic!("{line}: {error}"));
        count += 1;
    }
    assert!(count > 0);
}

/// Every option that a page or a help text names is one.
#[test]
fn options_that_are_named_exist() {
    let mut cli = Cli::command();
    cli.build();
    let mut known = BTreeSet::new();
    let mut help = Vec::new();
    for command in std::iter::once(&cli).chain(cli.get_subcommands()) {
        for argument in command.get_arguments() {
            let aliases = argument.get_all_aliases().unwrap_or_default();
            known.extend(argument.get_long().into_iter().chain(aliases).map(str::to_owned));
            let texts = [argument.get_help(), argument.get_long_help()];
            help.extend(texts.into_iter().flatten().map(|text| ("help", text.to_string())));
        }
        help.extend(command.get_about().map(|text| ("help", text.to_string())));
    }
    // Of cargo.
    let foreign = ["release"];
    let texts = PAGES.iter().map(|(page, text)| (*page, (*text).to_owned())).chain(help);
    for (place, text) in texts {
        for piece in text.split("--").skip(1) {
            let name: String = piece
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '-')
                .collect();
            let name = name.trim_end_matches('-');
            let starts = name.starts_with(|c: char| c.is_ascii_lowercase()) && !name.is_empty();
            assert!(
                !starts || known.contains(name) || foreign.contains(&name),
                "{place}: there is no option --{name}"
            );
        }
    }
}

fn run_args(line: &str) -> RunArgs {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    match parsed(&words).unwrap_or_else(|error| panic!("{line}: {error}")).command {
        Command::Run(args) => *args,
        other => panic!("{line}: {other:?}"),
    }
}

/// The options of `run` in the forms that they have in the READMEs of Latte 0.29 and its fork, and in scylla-cluster-tests (569 lines of
/// test cases and what its code adds to them).
#[test]
fn forms_of_options_that_others_write_are_taken() {
    let second = Duration::from_secs(1);
    type Check = fn(&RunArgs) -> bool;
    let forms: &[(&str, Check)] = &[
        // Numbers without a unit are seconds where a time is meant, and calls where both may be.
        ("--request-timeout 30", |args| {
            args.connection.request_timeout.as_secs() == 30
        }),
        ("--request-timeout 60", |args| {
            args.connection.request_timeout.as_secs() == 60
        }),
        ("--request-timeout 2.5", |args| {
            args.connection.request_timeout.as_millis() == 2_500
        }),
        ("--request-timeout=300s", |args| {
            args.connection.request_timeout.as_secs() == 300
        }),
        ("--retry-interval 500ms,5s", |args| {
            args.connection.retry_delay == "500ms,5s".parse().unwrap()
        }),
        ("--retry-interval 2s,10s", |args| {
            args.connection.retry_delay == "2s,10s".parse().unwrap()
        }),
        ("--retry-interval 2,10", |args| {
            args.connection.retry_delay == "2s,10s".parse().unwrap()
        }),
        ("--retry-interval 1", |args| {
            args.connection.retry_delay == "1s".parse().unwrap()
        }),
        ("--retry-delay 100ms,5s", |args| {
            args.connection.retry_delay == "100ms,5s".parse().unwrap()
        }),
        ("--retry-number 20", |args| args.connection.retries == 20),
        ("--retries 0", |args| args.connection.retries == 0),
        ("--rate-sine-period 90 -r 10", |args| {
            args.pace.rate_sine_period.as_secs() == 90
        }),
        ("--sine-period 2m -r 10", |args| {
            args.pace.rate_sine_period.as_secs() == 120
        }),
        ("--rate-amplitude 0.5 -r 10", |args| {
            args.pace.rate_sine_amplitude == Some(0.5)
        }),
        ("--rate-sine-variation 0.5 -r 10", |args| {
            args.pace.rate_sine_amplitude == Some(0.5)
        }),
        ("--rate-variation 0.5 -r 10", |args| {
            args.pace.rate_sine_amplitude == Some(0.5)
        }),
        ("--duration 82286400", |args| args.duration == Extent::Count(82_286_400)),
        ("--duration=125000000", |args| {
            args.duration == Extent::Count(125_000_000)
        }),
        ("--duration 30m", |args| {
            args.duration == Extent::Time(Duration::from_secs(1_800))
        }),
        ("--duration=90m", |args| {
            args.duration == Extent::Time(Duration::from_secs(5_400))
        }),
        ("-d 10s", |args| args.duration == Extent::Time(Duration::from_secs(10))),
        ("-d 1.5", |args| {
            args.duration == Extent::Time(Duration::from_millis(1_500))
        }),
        ("-w 0", |args| args.warmup == Extent::Count(0)),
        ("--warmup 5s", |args| {
            args.warmup == Extent::Time(Duration::from_secs(5))
        }),
        ("--sampling 5s", |args| {
            args.sampling == Extent::Time(Duration::from_secs(5))
        }),
        ("-s 1000", |args| args.sampling == Extent::Count(1_000)),
        // Functions.
        ("-f write", |args| {
            args.functions.len() == 1 && args.functions[0].name == "write"
        }),
        ("--function=read", |args| args.functions[0].name == "read"),
        ("--functions read", |args| args.functions[0].name == "read"),
        ("--function=write,read", |args| {
            args.functions.len() == 2 && args.functions[1].weight == 1.0
        }),
        ("--function hotspot_write:30,hotspot_read:70", |args| {
            args.functions[1].weight == 70.0
        }),
        ("-f read:0.2 -f write:0.8", |args| {
            args.functions.len() == 2 && args.functions[0].weight == 0.2
        }),
        // Parameters; quotes that a shell left are those of Rune.
        ("-P row_count=200", |args| {
            args.workload.params == [("row_count".to_owned(), "200".to_owned())]
        }),
        ("-P keyspace=\"ks\" -P offset=2_200", |args| {
            args.workload.params[0].1 == "\"ks\""
        }),
        ("-P codes=\"a=b,c\"", |args| args.workload.params[0].1 == "\"a=b,c\""),
        // Consistency in any case, and its short names.
        ("--consistency=QUORUM", |args| args.connection.consistency == "QUORUM"),
        ("--consistency LOCAL_SERIAL", |args| {
            args.connection.consistency == "LOCAL_SERIAL"
        }),
        ("--serial-consistency=LOCAL_SERIAL", |args| {
            args.connection.serial_consistency == "LOCAL_SERIAL"
        }),
        // Labels, reports, logs.
        ("--tag latte-prepare-01", |args| args.tags == ["latte-prepare-01"]),
        ("--tag=read,write-1", |args| args.tags == ["read", "write-1"]),
        ("--generate-report", |args| args.generate_report),
        ("--hdrfile=hdrh-latte-read-l0-c0.hdr", |args| args.hdrfile.is_some()),
        ("--hdr-file x.hdr", |args| args.hdrfile.is_some()),
        ("--hdr-histogram x.hdr", |args| args.hdrfile.is_some()),
        ("--hdr-histogram-file x.hdr", |args| args.hdrfile.is_some()),
        ("--drop-sampling-log -q", |args| args.drop_sampling_log && args.quiet),
        ("-o out -b old.json", |args| {
            args.output.is_some() && args.baseline.is_some()
        }),
        ("--timestamp 1700000000", |args| args.timestamp == Some(1_700_000_000)),
        // How much at once, and where it starts.
        ("--rate=40664", |args| args.pace.rate == Some(40_664.0)),
        ("--rate 500 --threads 4 --concurrency 64", |args| {
            args.threads.get() == 4
        }),
        ("-r 17500.5 -t 2 -p 32 -c 3", |args| args.pace.rate == Some(17_500.5)),
        ("--connections 4", |args| args.connection.connections.get() == 4),
        ("--start-cycle 500000000", |args| args.start_cycle == 500_000_000),
        ("--start-cycle=1000 --end-cycle=2000", |args| args.end_cycle == 2_000),
        // Who asks, and which nodes.
        ("--user cassandra --password cassandra", |args| {
            args.connection.user == "cassandra"
        }),
        (
            "--ssl --ssl-ca /etc/ca.pem --ssl-cert /etc/c.crt --ssl-key /etc/c.key --ssl-peer-verification",
            |args| args.connection.ssl && args.connection.ssl_peer_verification && args.connection.ssl_key.is_some(),
        ),
        ("--datacenter eu-west --rack RACK1", |args| {
            args.connection.rack.as_deref() == Some("RACK1")
        }),
        ("--validation-strategy=retry", |args| {
            format!("{:?}", args.connection.validation_strategy) == "Retry"
        }),
        ("--validation-strategy fail-fast", |args| {
            format!("{:?}", args.connection.validation_strategy) == "FailFast"
        }),
        ("--page-size 501", |args| args.connection.page_size.get() == 501),
        ("--retry-on-all-errors", |args| args.connection.retry_on_all_errors),
        ("--log-file run.log --log-dir logs --enable-logging", |_| true),
    ];
    for (form, check) in forms {
        let alone = run_args(&format!("run {form} w.rn"));
        assert!(check(&alone), "{form}: {alone:?}");
        // Behind the workload, and in front of addresses, as automation writes them.
        let behind = run_args(&format!("run w.rn {form} -- 10.0.0.1 10.0.0.2"));
        assert!(check(&behind), "{form}: {behind:?}");
        assert_eq!(behind.connection.addresses, ["10.0.0.1", "10.0.0.2"], "{form}");
    }
    let url = run_args("run w.rn cql://user:password@host:9042");
    assert_eq!(url.connection.shown_addresses(), "cql://user:***@host:9042");
    assert!(run_args("run w.rn").connection.request_timeout == 5 * second);
}

#[test]
fn other_commands_take_the_forms_of_others() {
    for line in [
        "schema w.rn --ssl --user a --password b -P keyspace=\"ks\" -- 10.0.0.1 10.0.0.2",
        "schema w.rn",
        "load w.rn 127.0.0.1 -r 1000 -t 2 --concurrency 64 -q",
        "show old.json -b older.json",
        "hdr r.json --tag node1 -o r.hdr",
        "hdr r.json",
        "plot -p 99 -p 99.9 -t r.json -o r.svg",
        "list",
        "list write.rn -f read --tag a,b -r -o one -o two",
        "edit w.rn",
        "version",
        "version -j",
        "version --json",
        "--log-dir logs run w.rn",
    ] {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        parsed(&words).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
    let version = Process::new(env!("CARGO_BIN_EXE_tidemill-bench"))
        .args(["version", "-j"])
        .output()
        .unwrap();
    let version: serde_json::Value = serde_json::from_str(&Ran::from(version).good().out).unwrap();
    assert_eq!(version["tidemill-bench"]["version"], env!("CARGO_PKG_VERSION"));
}

/// `tidemill-bench show one.json | head` ends as it would alone.
#[test]
fn nobody_needs_to_read_all_that_is_printed() {
    let report = corpus("bench/reports/latte_full.json");
    let report = report.to_str().unwrap();
    for arguments in [
        &["show", report][..],
        &["show", "--layout", "latte", report],
        &["list", report],
        &["version"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut process = Process::new(env!("CARGO_BIN_EXE_tidemill-bench"));
        let output = process.args(arguments).stdout(writer).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*said), (Some(0), ""), "{arguments:?}");
    }
}

/// Where the wrong form is refused, and says what it expected.
#[test]
fn exports_say_what_they_take() {
    for (line, why) in [
        ("export one.json", "required"),
        ("export --html --merge one.json -o x", "cannot be used with"),
        ("export --html --format csv one.json", "cannot be used with"),
        ("export --merge --format csv one.json -o x", "cannot be used with"),
        ("export --merge one.json two.json", "--output"),
        ("export --html", "PATH"),
        ("run w.rn --request-timeout soon", "soon"),
        ("run w.rn --request-timeout -5", "5"),
        ("run w.rn --retry-interval 1s,2s,3s", "1s,2s,3s"),
    ] {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let error = parsed(&words).err().unwrap_or_else(|| panic!("{line}")).to_string();
        assert!(error.contains(why), "{line}: {error}");
    }
}
