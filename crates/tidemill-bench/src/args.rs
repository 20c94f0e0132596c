//! The arguments of the command line, in one place. Names and defaults are Latte 0.29's; the other names are those of its forks.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use chrono::{DateTime, Utc};
use clap::{Args, Parser, Subcommand, ValueEnum};
use tidemill_trust::SecretUrl;

use crate::commands::export::ExportArgs;
use crate::commands::hdr::HdrArgs;
use crate::commands::list::ListArgs;
use crate::commands::plot::PlotArgs;
use crate::commands::show::ShowArgs;
use crate::context::{Policy, RetryDelay, Validation};
use crate::output::{Format, Layout};
use crate::script::Limits;

/// Load-test Cassandra, ClickHouse, PostgreSQL, SQLite or local tables with workloads written in Rune.
#[derive(Debug, Parser)]
#[command(name = "tidemill-bench", version, arg_required_else_help = true)]
pub struct Cli {
    /// Where it is logged.
    #[command(flatten)]
    pub log: LogArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Where a log goes, with each error of a run and what the drivers tell. Without any of these there is none.
#[derive(Debug, Clone, Default, Args)]
#[non_exhaustive]
pub struct LogArgs {
    /// Write a log to this file. A relative path is relative to --log-dir. Default: a name made from the time.
    #[arg(long, global = true, value_name = "LOG_FILE")]
    pub log_file: Option<PathBuf>,
    /// Write a log to a file in this folder. Default: the current folder.
    #[arg(long, global = true, value_name = "LOG_DIR", env = "LATTE_LOG_DIR")]
    pub log_dir: Option<PathBuf>,
    /// Write a log.
    #[arg(long, global = true)]
    pub enable_logging: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Open a workload in an editor: $LATTE_EDITOR, $EDITOR or vi.
    Edit(EditArgs),
    /// Call the workload's `schema` function, which recreates the tables.
    Schema(SchemaArgs),
    /// Call the workload's `prepare` and `erase` functions, then `load` once for each row.
    Load(LoadArgs),
    /// Run functions of the workload and measure them.
    Run(Box<RunArgs>),
    /// Print a report, or compare it with another report.
    Show(ShowArgs),
    /// List the reports in a folder, one per line.
    List(ListArgs),
    /// Plot reports as SVG or PNG.
    Plot(PlotArgs),
    /// Write the histograms of a report as an HdrHistogram log.
    Hdr(HdrArgs),
    /// Export a report as an HTML page or as rows, or merge several reports.
    Export(ExportArgs),
    /// Print the version.
    Version(VersionArgs),
}

/// Which workload.
#[derive(Debug, Clone, Args)]
#[non_exhaustive]
pub struct WorkloadArgs {
    /// The workload script. Also searched for in the folders of LATTE_WORKLOAD_PATH.
    #[arg(value_name = "WORKLOAD")]
    pub workload: PathBuf,
    /// Set a parameter that the script reads with `latte::param!`.
    #[arg(short = 'P', value_name = "NAME=VALUE", value_parser = parse_parameter, number_of_values = 1)]
    pub params: Vec<(String, String)>,
    /// Limit of instructions for one call of a function.
    #[arg(long, value_name = "COUNT", default_value_t = Limits::default().instructions, hide_short_help = true)]
    pub instruction_limit: usize,
    /// Limit of memory for the values of one call, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = Limits::default().memory >> 20, hide_short_help = true)]
    pub memory_limit: usize,
    /// Let the script read any file, not only those in its own folder and those named by -P.
    #[arg(long)]
    pub allow_files: bool,
}

impl RunArgs {
    /// How many calls are under way at once in each thread: at most, where there are steps.
    pub(crate) fn highest_concurrency(&self) -> usize {
        self.concurrency.iter().map(|step| step.get()).max().unwrap_or(1)
    }

    /// Whether there is a run for each of several.
    pub(crate) fn has_steps(&self) -> bool {
        self.concurrency.len() > 1
    }
}

impl WorkloadArgs {
    /// The limits of a call.
    pub fn limits(&self) -> Limits {
        Limits {
            instructions: self.instruction_limit,
            memory: self.memory_limit.saturating_mul(1 << 20),
            any_file: self.allow_files,
        }
    }
}

/// `edit`
#[derive(Debug, Args)]
#[non_exhaustive]
pub struct EditArgs {
    /// The workload script. Also searched for in the folders of LATTE_WORKLOAD_PATH.
    #[arg(value_name = "WORKLOAD")]
    pub workload: PathBuf,
}

/// `schema`
#[derive(Debug, Args)]
#[non_exhaustive]
pub struct SchemaArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub workload: WorkloadArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub connection: ConnectionArgs,
}

/// How the store is reached, and what is done when it does not answer.
#[derive(Debug, Clone, Args)]
#[non_exhaustive]
pub struct ConnectionArgs {
    /// Where the store is.
    #[arg(
        value_name = "ADDRESS",
        default_value = "localhost",
        help = "Cassandra: host[:port] or cql://[user:password@]host[:port], several if needed. ClickHouse: \
                clickhouse://[user@]host[:port][/database]. PostgreSQL: postgres://[user@]host[:port][/database]. \
                In this process: sqlite:FILE, xbase:DIR or mem:"
    )]
    pub addresses: Vec<String>,
    /// Connections per thread to each node or shard.
    #[arg(short = 'c', long = "connections", value_name = "COUNT", default_value = "1")]
    pub connections: NonZeroUsize,
    /// User name.
    #[arg(long, env = "CASSANDRA_USER", default_value = "")]
    pub user: String,
    /// Password. Prefer CASSANDRA_PASSWORD: other users of the machine can see command lines.
    #[arg(long, env = "CASSANDRA_PASSWORD", default_value = "", hide_env_values = true)]
    pub password: String,
    /// Encrypt connections with TLS. The other options of --ssl imply it.
    #[arg(long)]
    pub ssl: bool,
    /// Certificate authority that signed the server's certificate, in PEM. Default: those of the system.
    #[arg(long = "ssl-ca", value_name = "PATH")]
    pub ssl_ca: Option<PathBuf>,
    /// Client certificate, in PEM.
    #[arg(long = "ssl-cert", value_name = "PATH")]
    pub ssl_cert: Option<PathBuf>,
    /// Private key of the client, in PEM.
    #[arg(long = "ssl-key", value_name = "PATH")]
    pub ssl_key: Option<PathBuf>,
    /// Check that the server's certificate matches its host name. Without this option, Cassandra may have any certificate, as in
    /// Latte; that of ClickHouse is checked unless its address says verify=false.
    #[arg(long = "ssl-peer-verification")]
    pub ssl_peer_verification: bool,
    /// Prefer nodes of this data centre.
    #[arg(long, value_name = "NAME")]
    pub datacenter: Option<String>,
    /// Prefer nodes of this rack in that data centre.
    #[arg(long, value_name = "NAME", requires = "datacenter")]
    pub rack: Option<String>,
    /// Consistency level: any, one, two, three, quorum, all, local_one, local_quorum, each_quorum, serial, local_serial.
    #[arg(long, value_name = "LEVEL", default_value = "LOCAL_QUORUM")]
    pub consistency: String,
    /// Serial consistency level for conditional updates: serial, local_serial.
    #[arg(long, value_name = "LEVEL", default_value = "LOCAL_SERIAL")]
    pub serial_consistency: String,
    /// Rows per page. All pages of a result are read.
    #[arg(long, value_name = "COUNT", default_value = "5000")]
    pub page_size: NonZeroUsize,
    /// Compress frames.
    #[arg(long, value_enum)]
    pub compression: Option<Compression>,
    /// Speculative execution: send an idempotent request to another node too if there is no answer after this time.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub speculate_after: Option<Duration>,
    /// Timeout of one attempt.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse_duration_or_seconds)]
    pub request_timeout: Duration,
    /// Timeout of connecting to a node and of preparing a statement. Default: --request-timeout, but at least 5s.
    #[arg(long, value_name = "TIME", value_parser = parse_duration_or_seconds)]
    pub connect_timeout: Option<Duration>,
    /// How often to retry a request after a timeout or when the server is overloaded. 0: no retries, also none by the driver.
    #[arg(long, visible_alias = "retry-number", value_name = "COUNT", default_value = "3")]
    pub retries: u32,
    /// Wait before the first retry, and the longest wait. The wait doubles each time.
    #[arg(
        long,
        visible_alias = "retry-interval",
        value_name = "MIN[,MAX]",
        default_value = "100ms,5s"
    )]
    pub retry_delay: RetryDelay,
    /// Retry after every kind of error.
    #[arg(long)]
    pub retry_on_all_errors: bool,
    /// What to do if the rows are not those that the script expects.
    #[arg(long, value_enum, default_value_t)]
    pub validation_strategy: Validation,
    /// Whether files that the store consists of are made where there are none: by `schema` only.
    #[arg(skip)]
    pub creates: bool,
}

impl ConnectionArgs {
    /// The addresses, without the passwords in them.
    pub fn shown_addresses(&self) -> String {
        let shown = self.addresses.iter();
        let shown = shown.map(|address| SecretUrl::new(address.as_str()).to_string());
        shown.collect::<Vec<_>>().join(" ")
    }

    /// Whether connections are encrypted: nobody names a certificate for those that are not.
    pub fn is_encrypted(&self) -> bool {
        let files = [&self.ssl_ca, &self.ssl_cert, &self.ssl_key];
        self.ssl || self.ssl_peer_verification || files.iter().any(|file| file.is_some())
    }

    /// How long it may take to connect to a node.
    pub fn connect_timeout(&self) -> Duration {
        let least = Duration::from_secs(5);
        self.connect_timeout.unwrap_or(self.request_timeout.max(least))
    }

    /// What is done about requests that fail.
    pub fn policy(&self) -> Policy {
        Policy {
            retries: self.retries,
            delay: self.retry_delay,
            on_all_errors: self.retry_on_all_errors,
            validation: self.validation_strategy,
        }
    }
}

/// How frames are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Compression {
    /// LZ4.
    Lz4,
    /// Snappy.
    Snappy,
}

/// `load`
#[derive(Debug, Args)]
#[non_exhaustive]
pub struct LoadArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub workload: WorkloadArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub connection: ConnectionArgs,
    /// Calls per second. Default: as fast as possible.
    #[arg(short = 'r', long, value_name = "COUNT", value_parser = parse_rate)]
    pub rate: Option<f64>,
    /// Number of threads.
    #[arg(short = 't', long, value_name = "COUNT", default_value = "1")]
    pub threads: NonZeroUsize,
    /// Calls in flight per thread.
    #[arg(long, value_name = "COUNT", default_value = "512")]
    pub concurrency: NonZeroUsize,
    /// Do not show progress.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `run`
#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub workload: WorkloadArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub connection: ConnectionArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub pace: PaceArgs,
    /// Function to call, and its weight relative to the other functions.
    #[arg(
        short = 'f',
        long = "function",
        alias = "functions",
        value_name = "NAME[:WEIGHT]",
        default_value = "run",
        value_delimiter = ','
    )]
    pub functions: Vec<WeightedFunction>,
    /// Warm-up before the measurement: a time or a number of calls.
    #[arg(short = 'w', long = "warmup", value_name = "TIME | COUNT", default_value = "1")]
    pub warmup: Extent,
    /// Length of the run: a time or a number of calls.
    #[arg(short = 'd', long, value_name = "TIME | COUNT", default_value = "60s")]
    pub duration: Extent,
    /// Number of the first cycle.
    #[arg(long, value_name = "NUMBER", default_value = "0", allow_negative_numbers = true)]
    pub start_cycle: i64,
    /// Number at which cycle numbers start over from --start-cycle.
    #[arg(long, value_name = "NUMBER", default_value_t = i64::MAX)]
    pub end_cycle: i64,
    /// Number of threads.
    #[arg(short = 't', long, value_name = "COUNT", default_value = "1")]
    pub threads: NonZeroUsize,
    /// Calls in flight per thread. Several numbers are steps: a run of --duration for each, in one report.
    #[arg(
        short = 'p',
        long,
        value_name = "COUNT[,COUNT…]",
        default_value = "128",
        value_delimiter = ','
    )]
    pub concurrency: Vec<NonZeroUsize>,
    /// Length of a sample: a time, or a number of calls of one thread.
    #[arg(short = 's', long = "sampling", value_name = "TIME | COUNT", default_value = "1s")]
    pub sampling: Extent,
    /// Omit samples from the report. It cannot be plotted or exported as a histogram log then.
    #[arg(long)]
    pub drop_sampling_log: bool,
    /// Write an HdrHistogram log to this file during the run.
    #[arg(long, value_name = "PATH", aliases = ["hdr-file", "hdr-histogram", "hdr-histogram-file"])]
    pub hdrfile: Option<PathBuf>,
    /// Serve metrics for Prometheus at this address during the run, e.g. 127.0.0.1:9464.
    #[arg(long, value_name = "ADDRESS")]
    pub prometheus: Option<String>,
    /// Start measuring at this time, e.g. 2030-01-31T12:00:00Z, so that several machines start together.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub start_at: Option<DateTime<Utc>>,
    /// Find the highest rate at which latency stays within --p99 or --p999. Each step of the search runs for --duration.
    #[arg(long, conflicts_with = "rate", requires = "goal")]
    pub find_max: bool,
    /// With --find-max: limit of the 99th percentile of cycle latency.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, group = "goal", requires = "find_max")]
    pub p99: Option<Duration>,
    /// With --find-max: limit of the 99.9th percentile of cycle latency.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, group = "goal", requires = "find_max")]
    pub p999: Option<Duration>,
    /// Stop the run, with exit code 1, if throughput falls below this number of calls per second.
    #[arg(long, value_name = "COUNT", value_parser = parse_rate)]
    pub abort_below: Option<f64>,
    /// Period over which --abort-below measures throughput.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    pub abort_after: Duration,
    /// A label for the report.
    #[arg(long = "tag", value_name = "TAG", value_delimiter = ',')]
    pub tags: Vec<String>,
    /// File or folder for the report.
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Report to compare with.
    #[arg(short, long, value_name = "PATH")]
    pub baseline: Option<PathBuf>,
    /// Print the results as rows in this format. Default: text for people.
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Layout of the text. Default: latte if the program is called by that name, else full.
    #[arg(long, value_enum, conflicts_with = "format")]
    pub layout: Option<Layout>,
    /// Accepted for its forks, which write a report only then. Here there always is one.
    #[arg(long, hide = true)]
    pub generate_report: bool,
    /// The time of the report, in seconds since 1970. Default: when it is started.
    #[arg(long, value_name = "SECONDS", hide = true)]
    pub timestamp: Option<i64>,
    /// Repeat the run this many times, so that a comparison knows how much runs vary.
    #[arg(long, value_name = "COUNT", default_value = "1")]
    pub repeat: NonZeroUsize,
    /// Do not show progress.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `version`
#[derive(Debug, Clone, Copy, Args)]
#[non_exhaustive]
pub struct VersionArgs {
    /// Print JSON.
    #[arg(short, long)]
    pub json: bool,
}

/// When calls are made.
#[derive(Debug, Clone, Copy, PartialEq, Args)]
#[non_exhaustive]
pub struct PaceArgs {
    /// Calls per second. Default: as fast as possible.
    #[arg(short = 'r', long, value_name = "COUNT", value_parser = parse_rate)]
    pub rate: Option<f64>,
    /// Intervals between calls.
    #[arg(long, value_enum, default_value_t, requires = "rate")]
    pub arrivals: Arrivals,
    /// Skip and count calls that would start too late, instead of catching up in a burst.
    #[arg(long, requires = "rate")]
    pub no_catch_up: bool,
    /// Ramp the rate from --rate to this rate.
    #[arg(long, value_name = "COUNT", value_parser = parse_rate, requires = "rate", conflicts_with = "rate_sine_amplitude")]
    pub ramp_to: Option<f64>,
    /// Length of the ramp. Default: the whole run.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, requires = "ramp_to")]
    pub ramp_time: Option<Duration>,
    /// Amplitude of a sine wave of the rate, as a share of --rate from 0 to 1.
    #[arg(
        long,
        value_name = "SHARE",
        value_parser = parse_share,
        requires = "rate",
        aliases = ["rate-amplitude", "rate-sine-variation", "rate-variation"]
    )]
    pub rate_sine_amplitude: Option<f64>,
    /// Period of the sine wave.
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = parse_duration_or_seconds, alias = "sine-period")]
    pub rate_sine_period: Duration,
}

/// The intervals between calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
#[non_exhaustive]
pub enum Arrivals {
    /// Equal intervals.
    #[default]
    Even,
    /// Random intervals, as of many independent clients (a Poisson process).
    Poisson,
}

/// A function and its weight.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedFunction {
    /// Its name.
    pub name: String,
    /// How often it is called in proportion to the others.
    pub weight: f64,
}

impl FromStr for WeightedFunction {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, weight) = text.split_once(':').unwrap_or((text, "1"));
        let weight = weight
            .parse()
            .ok()
            .filter(|weight: &f64| weight.is_finite() && *weight >= 0.0);
        match weight {
            Some(weight) if !name.is_empty() => Ok(Self {
                name: name.to_owned(),
                weight,
            }),
            _ => Err(format!(
                "expected NAME[:WEIGHT] with a weight of 0 or more, found {text:?}"
            )),
        }
    }
}

/// How much: a time or a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Extent {
    /// So many calls.
    Count(u64),
    /// So long.
    Time(Duration),
}

impl FromStr for Extent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse()
            .map(Self::Count)
            .or_else(|_| parse_duration_or_seconds(text).map(Self::Time))
            .map_err(|_| format!("expected a count, or a time with a unit such as 60s, found {text:?}"))
    }
}

/// Reads `1m 30s`, `500ms`, `1.5h`: numbers with units from `ns` to `d`, added up.
///
/// # Errors
/// What is no time.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("expected a time such as 10s, 1m30s or 500ms, found {text:?}");
    let mut rest = text.trim();
    let mut seconds = 0.0;
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
        let (number, behind) = rest.split_at(digits);
        let behind = behind.trim_start();
        let unit = behind.find(|c: char| !c.is_alphabetic()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(unit);
        let number: f64 = number.parse().map_err(|_| wrong())?;
        seconds += number * unit_seconds(unit).ok_or_else(wrong)?;
        rest = behind.trim_start();
    }
    seconds_within_reason(seconds).ok_or_else(wrong)
}

/// A time of a hundred years at most, so that it can be added to another.
fn seconds_within_reason(seconds: f64) -> Option<Duration> {
    let longest = Duration::from_secs(36_500 * 86_400);
    let time = Duration::try_from_secs_f64(seconds).ok()?;
    (time <= longest).then_some(time)
}

/// As [`parse_duration`], and a number without a unit is one of seconds, as it is to Latte and its fork.
///
/// # Errors
/// What is no time.
pub(crate) fn parse_duration_or_seconds(text: &str) -> Result<Duration, String> {
    // Words that are numbers to a float, such as "inf", are none here.
    let is_number = text.starts_with(|c: char| c.is_ascii_digit()) && text.ends_with(|c: char| c.is_ascii_digit());
    match text.parse().ok().filter(|_| is_number) {
        Some(seconds) => {
            seconds_within_reason(seconds).ok_or_else(|| format!("expected a time such as 10s, found {text:?}"))
        }
        None => parse_duration(text),
    }
}

fn unit_seconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3_600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    })
}

fn parse_time(text: &str) -> Result<DateTime<Utc>, String> {
    let time = DateTime::parse_from_rfc3339(text).map(|time| time.to_utc());
    time.map_err(|e| format!("expected a time such as 2030-01-31T12:00:00Z: {e}"))
}

fn parse_parameter(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!("expected NAME=VALUE, found {text:?}")),
    }
}

fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0);
    rate.ok_or_else(|| format!("expected a rate above 0, found {text:?}"))
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| format!("expected a number from 0 to 1, found {text:?}"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_arguments_hold_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn reads_times() {
        for (text, millis) in [
            ("10s", 10_000),
            ("1m30s", 90_000),
            ("1m 30s", 90_000),
            ("500ms", 500),
            ("1.5 hours", 5_400_000),
            ("2 min", 120_000),
        ] {
            assert_eq!(parse_duration(text).unwrap().as_millis(), millis, "{text}");
        }
        for text in [
            "",
            "s",
            "10",
            "-1s",
            "1parsec",
            "1e9s",
            "99999999999999999999d",
            "36501d",
            "1..5s",
        ] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_number_alone_is_one_of_seconds_where_latte_takes_it() {
        for (text, millis) in [
            ("30", 30_000),
            ("2.5", 2_500),
            ("1e2", 100_000),
            ("30s", 30_000),
            ("0", 0),
        ] {
            assert_eq!(parse_duration_or_seconds(text).unwrap().as_millis(), millis, "{text}");
        }
        for text in ["", "-5", "inf", "nan", "1e300", "1e19", "5.", "1e9s", "soon"] {
            assert!(parse_duration_or_seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_extent_without_a_unit_is_a_count() {
        assert_eq!("100".parse(), Ok(Extent::Count(100)));
        assert_eq!("100s".parse(), Ok(Extent::Time(Duration::from_secs(100))));
        assert!("much".parse::<Extent>().is_err());
    }

    #[test]
    fn takes_the_command_line_of_latte() {
        let line = "tidemill-bench run write.rn -p 256 -d 10000000 127.0.0.1";
        let Command::Run(run) = Cli::parse_from(line.split(' ')).command else {
            panic!("run");
        };
        assert_eq!(run.concurrency, [NonZeroUsize::new(256).unwrap()]);
        assert_eq!(run.duration, Extent::Count(10_000_000));
        assert_eq!(run.connection.addresses, ["127.0.0.1"]);
        assert_eq!(run.functions, ["run".parse().unwrap()]);
        let line = "tidemill-bench run a.rn -f read:0.2 -f write:0.8 -r 1000 --retry-number 7 -P rows=10 --retries 2";
        assert!(
            Cli::try_parse_from(line.split(' ')).is_err(),
            "one option with two names"
        );
        let line = "tidemill-bench run a.rn -f read:0.2,write:0.8 -r 1000 --retry-number 7 -P rows=10 -q";
        let Command::Run(run) = Cli::parse_from(line.split(' ')).command else {
            panic!("run");
        };
        assert_eq!(run.connection.retries, 7);
        assert_eq!(run.functions[1].weight, 0.8);
        assert_eq!(run.workload.params, [("rows".to_owned(), "10".to_owned())]);
    }

    #[test]
    fn refuses_what_makes_no_sense() {
        for line in [
            "run a.rn -f read:x",
            "run a.rn -f :1",
            "run a.rn -r 0",
            "run a.rn -r -1",
            "run a.rn -P rows",
            "run a.rn --rate-sine-amplitude 2 -r 1",
            "run a.rn --ramp-to 5",
            "run a.rn --no-catch-up",
            "run a.rn --abort-below 0",
            "run a.rn -p 1,0",
            "run a.rn -p 1,",
            "run a.rn --rack r1",
            "run a.rn -t 0",
            "run",
        ] {
            let line = std::iter::once("tidemill-bench").chain(line.split(' '));
            assert!(
                Cli::try_parse_from(line.clone()).is_err(),
                "{:?}",
                line.collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn addresses_are_shown_without_passwords() {
        for (address, shown) in [
            ("cql://u:geheim@h:9042", "cql://u:***@h:9042"),
            ("u:geheim@h", "u:***@h"),
            ("h:9042", "h:9042"),
            (
                "clickhouse://u:ge@heim@h/db?max_threads=2&Password=geheim",
                "clickhouse://u:***@h/db?max_threads=2&Password=***",
            ),
            ("clickhouse://h/db?password=geheim", "clickhouse://h/db?password=***"),
            ("clickhouse://u:ge?heim@h/db", "clickhouse://u:***@h/db"),
            ("xbase:dir?durability=none", "xbase:dir?durability=none"),
            ("mem:", "mem:"),
        ] {
            let cli = Cli::try_parse_from(["tidemill-bench", "schema", "none.rn", address]).unwrap();
            let Command::Schema(args) = cli.command else {
                panic!("{cli:?}")
            };
            assert_eq!(args.connection.shown_addresses(), shown);
        }
    }
}
