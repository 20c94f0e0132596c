//! `cargo xtask fuzz`: the targets of `fuzz/`, seeded from the corpus, without cargo-fuzz.
//!
//! What cargo-fuzz does for a build is a few flags: coverage instrumentation by LLVM's own pass, and the address
//! sanitizer, whose hooks show libFuzzer what is compared with what (without them it does not find a four-byte signature).
//! A fresh machine needs a C++ compiler (for libFuzzer) and nothing else. The sanitizer is an unstable flag of a stable
//! compiler, and is switched on for this build alone.
//!
//! Only the project's own crates are instrumented. What they use is built once, for the command line and for the targets:
//! cargo runs this program in place of the compiler for the members of the workspace ([`compile`]), keeps apart what comes of
//! it, and adds nothing to the rest. Instrumented as a whole, it takes a quarter of an hour on two cores.
//!
//! The doors of `tidemill serve` are tried too, but only when they are asked for: they stand over DataFusion, and what is instrumented of
//! that takes minutes to build.
//!
//! Inputs that a run finds interesting are kept in the target folder and are the next run's start.

use std::{
    env,
    ffi::OsString,
    fs,
    num::NonZero,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread::{self, ScopedJoinHandle},
};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args as ClapArgs;

use crate::{
    cargo::{cargo, run as run_command},
    workspace::Workspace,
};

/// How long, and which targets.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// How long each target runs.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Only this target; may be given more than once.
    #[arg(long, value_name = "NAME")]
    target: Vec<String>,
    /// Only the targets over the doors of `tidemill serve`, which otherwise run when they are named: serve_flight, serve_http and
    /// serve_postgres.
    #[arg(long, conflicts_with = "target")]
    doors: bool,
}

/// A fuzz target and where its first inputs come from.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// The crate whose decoder it runs.
    pub(crate) engine: &'static str,
    /// Folder below `corpus/`.
    pub(crate) corpus: &'static str,
    pub(crate) seeds: Seeds,
}

impl Target {
    /// Whether it is one of `tidemill serve`, and built with the feature [`DOORS`].
    pub(crate) fn is_door(&self) -> bool {
        self.engine == "tidemill-server"
    }

    /// Whether it is asked for.
    fn is_wanted(&self, args: &Args) -> bool {
        match args.target.as_slice() {
            [] => self.is_door() == args.doors,
            names => names.iter().any(|name| name == self.name),
        }
    }
}

/// How files of the corpus become inputs.
#[derive(Clone, Copy)]
pub(crate) enum Seeds {
    /// Each `.dbf`, `.dbc` or `.adt` with the memo file beside it: length of the table (u32, little endian), the table, the memo file.
    DbfAndMemo,
    /// Each file as it is, but for JSON, which elsewhere tells what the others are.
    Files,
    /// Each JSON file as it is.
    Json,
    /// Each file with this extension, and 16 bytes behind it.
    Extension(&'static str),
}

/// The crate of the targets.
pub(crate) const CRATE: &str = "tidemill-fuzz";

/// The feature of that crate for the targets over the doors of `tidemill serve`.
pub(crate) const DOORS: &str = "doors";

/// Every target; `cargo xtask tidy` holds it against `fuzz/Cargo.toml`.
pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "bench_report",
        engine: "tidemill-bench",
        corpus: "bench/reports",
        seeds: Seeds::Json,
    },
    Target {
        name: "cql_answers",
        engine: "tidemill-cql",
        corpus: "cql/answers",
        seeds: Seeds::Files,
    },
    Target {
        name: "cql_cells",
        engine: "tidemill-cql",
        corpus: "cql/cells",
        seeds: Seeds::Files,
    },
    Target {
        name: "mysql_answer",
        engine: "tidemill-mysql",
        corpus: "mysql/answers",
        seeds: Seeds::Files,
    },
    Target {
        name: "postgres_copy",
        engine: "tidemill-postgres",
        corpus: "postgres/copies",
        seeds: Seeds::Files,
    },
    Target {
        name: "dbf",
        engine: "tidemill-xbase",
        corpus: "xbase",
        seeds: Seeds::DbfAndMemo,
    },
    Target {
        name: "ads_sql",
        engine: "tidemill-ads",
        corpus: "ads/sql",
        seeds: Seeds::Files,
    },
    Target {
        name: "xbase_expression",
        engine: "tidemill-xbase",
        corpus: "xbase/expressions",
        seeds: Seeds::Files,
    },
    Target {
        name: "xbase_dbc",
        engine: "tidemill-xbase",
        corpus: "xbase/containers",
        seeds: Seeds::DbfAndMemo,
    },
    Target {
        name: "xbase_imploded",
        engine: "tidemill-xbase",
        corpus: "xbase/imploded",
        seeds: Seeds::Files,
    },
    Target {
        name: "xbase_adt",
        engine: "tidemill-xbase",
        corpus: "adt",
        seeds: Seeds::DbfAndMemo,
    },
    Target {
        name: "xbase_adm",
        engine: "tidemill-xbase",
        corpus: "adt",
        seeds: Seeds::Extension("adm"),
    },
    Target {
        name: "xbase_adi",
        engine: "tidemill-xbase",
        corpus: "adt",
        seeds: Seeds::Extension("adi"),
    },
    Target {
        name: "xbase_cdx",
        engine: "tidemill-xbase",
        corpus: "xbase",
        seeds: Seeds::Extension("cdx"),
    },
    Target {
        name: "xbase_log",
        engine: "tidemill-xbase",
        corpus: "xbase/logs",
        seeds: Seeds::Files,
    },
    Target {
        name: "xbase_ntx",
        engine: "tidemill-xbase",
        corpus: "xbase",
        seeds: Seeds::Extension("ntx"),
    },
    Target {
        name: "xbase_nsx",
        engine: "tidemill-xbase",
        corpus: "xbase",
        seeds: Seeds::Extension("nsx"),
    },
    Target {
        name: "xbase_mdx",
        engine: "tidemill-xbase",
        corpus: "xbase",
        seeds: Seeds::Extension("mdx"),
    },
    Target {
        name: "xbase_ndx",
        engine: "tidemill-xbase",
        corpus: "xbase",
        seeds: Seeds::Extension("ndx"),
    },
    Target {
        name: "xbase_idx",
        engine: "tidemill-xbase",
        corpus: "xbase",
        seeds: Seeds::Extension("idx"),
    },
    Target {
        name: "riegeli",
        engine: "tidemill-riegeli",
        corpus: "riegeli",
        seeds: Seeds::Files,
    },
    Target {
        name: "riegeli_rows",
        engine: "tidemill-riegeli",
        corpus: "riegeli/datasets",
        seeds: Seeds::Files,
    },
    Target {
        name: "riegeli_example",
        engine: "tidemill-riegeli",
        corpus: "riegeli/examples",
        seeds: Seeds::Files,
    },
    Target {
        name: "riegeli_transposed",
        engine: "tidemill-riegeli",
        corpus: "riegeli/cpp",
        seeds: Seeds::Files,
    },
    Target {
        name: "riegeli_write",
        engine: "tidemill-riegeli",
        corpus: "riegeli/datasets",
        seeds: Seeds::Files,
    },
    Target {
        name: "riegeli_options",
        engine: "tidemill-riegeli",
        corpus: "riegeli/options",
        seeds: Seeds::Files,
    },
    Target {
        name: "array_record",
        engine: "tidemill-riegeli",
        corpus: "riegeli/datasets",
        seeds: Seeds::Files,
    },
    Target {
        name: "tfrecord",
        engine: "tidemill-riegeli",
        corpus: "riegeli/tfrecord",
        seeds: Seeds::Files,
    },
    Target {
        name: "csv",
        engine: "tidemill-csv",
        corpus: "csv",
        seeds: Seeds::Files,
    },
    Target {
        name: "clickhouse_block",
        engine: "tidemill-clickhouse",
        corpus: "clickhouse",
        seeds: Seeds::Files,
    },
    Target {
        name: "clickhouse_conversation",
        engine: "tidemill-clickhouse",
        corpus: "clickhouse/conversations",
        seeds: Seeds::Files,
    },
    Target {
        name: "clickhouse_packet",
        engine: "tidemill-clickhouse",
        corpus: "clickhouse/packets",
        seeds: Seeds::Files,
    },
    Target {
        name: "clickhouse_type",
        engine: "tidemill-clickhouse",
        corpus: "clickhouse/types",
        seeds: Seeds::Files,
    },
    Target {
        name: "riegeli_seek",
        engine: "tidemill-riegeli",
        corpus: "riegeli/cpp",
        seeds: Seeds::Files,
    },
    Target {
        name: "serve_flight",
        engine: "tidemill-server",
        corpus: "serve/flight",
        seeds: Seeds::Files,
    },
    Target {
        name: "serve_http",
        engine: "tidemill-server",
        corpus: "serve/http",
        seeds: Seeds::Files,
    },
    Target {
        name: "serve_postgres",
        engine: "tidemill-server",
        corpus: "serve/postgres",
        seeds: Seeds::Files,
    },
];

/// Runs as many targets at once as there are processors; true when none found anything.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<bool> {
    if let Some(unknown) = args
        .target
        .iter()
        .find(|name| !TARGETS.iter().any(|target| target.name == *name))
    {
        bail!(
            "no fuzz target {unknown}; there are {}",
            TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", ")
        );
    }
    let wanted: Vec<&Target> = TARGETS.iter().filter(|target| target.is_wanted(args)).collect();
    let folder = workspace.target.join("fuzz");
    let programs = build(workspace, &wanted)?;
    let next = AtomicUsize::new(0);
    let work = || -> Result<bool> {
        let mut good = true;
        while let Some(target) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
            good &= fuzz(workspace, target, &folder, &programs.join(target.name), args.seconds)?;
        }
        Ok(good)
    };
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let outcomes = thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        running.into_iter().map(ScopedJoinHandle::join).collect::<Vec<_>>()
    });
    outcomes.into_iter().try_fold(true, |good, outcome| {
        let outcome = outcome.map_err(|_| anyhow!("a worker panicked"))?;
        Ok(good & outcome?)
    })
}

/// Builds the targets and returns the folder of the programs.
fn build(workspace: &Workspace, targets: &[&Target]) -> Result<PathBuf> {
    let features = match targets.iter().any(|target| target.is_door()) {
        true => vec!["--features".to_owned(), format!("{CRATE}/{DOORS}")],
        false => Vec::new(),
    };
    // With all crates over DataFusion, so that no dependency is built with other features than for them.
    let good = run_command(
        cargo(&workspace.root)
            .args(["build", "--release", "--locked", "-p", CRATE])
            .args(workspace.heavy().iter().flat_map(|name| ["-p", name]))
            .args(features)
            .args(targets.iter().flat_map(|target| ["--bin", target.name]))
            .env("RUSTC_WORKSPACE_WRAPPER", env::current_exe()?)
            .env(COMPILES, "1"),
    )?;
    if !good {
        bail!("the fuzz targets do not build");
    }
    Ok(workspace.target.join("release"))
}

/// Tells this program that cargo runs it in place of the compiler.
const COMPILES: &str = "TIDEMILL_FUZZ_COMPILES";

/// Where cargo runs this program in place of the compiler: runs the compiler, with [`FLAGS`] for what becomes part of a target.
pub(crate) fn compile() -> Option<Result<ExitCode>> {
    env::var_os(COMPILES)?;
    let mut words = env::args_os().skip(1);
    let compiler = words.next()?;
    let words: Vec<OsString> = words.collect();
    let mut command = Command::new(&compiler);
    command.args(&words);
    if is_part_of_a_target(&words) {
        // Here and not for cargo: build scripts of what the members use ask for it, and would run again.
        command.args(FLAGS).env("RUSTC_BOOTSTRAP", "1");
    }
    let status = command
        .status()
        .with_context(|| format!("{} does not start", compiler.display()));
    Some(status.map(|status| match status.success() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }))
}

/// Whether the compiler is asked for a crate that is neither a build script nor a macro, and not only for what it knows.
fn is_part_of_a_target(words: &[OsString]) -> bool {
    let behind = |option: &str| {
        let place = words.iter().position(|word| word == option)?;
        words.get(place + 1)?.to_str()
    };
    let name = behind("--crate-name");
    name.is_some_and(|name| name != "___" && !name.starts_with("build_script_"))
        && behind("--crate-type") != Some("proc-macro")
}

fn fuzz(workspace: &Workspace, target: &Target, folder: &Path, program: &Path, seconds: u32) -> Result<bool> {
    let seeds = folder.join("seeds").join(target.name);
    let found = folder.join("corpus").join(target.name);
    let artifacts = folder.join("artifacts").join(target.name);
    for folder in [&found, &artifacts] {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let count = plant(&workspace.root.join("corpus").join(target.corpus), target.seeds, &seeds)?;
    let scratch = folder.join("scratch").join(target.name);
    // Of a run that was ended.
    let _ = fs::remove_dir_all(&scratch);
    fs::create_dir_all(&scratch).with_context(|| scratch.display().to_string())?;
    let log = artifacts.with_extension("log");
    let status = Command::new(program)
        .env("TMPDIR", &scratch)
        .args([&found, &seeds])
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .arg(format!("-max_total_time={seconds}"))
        .args(["-print_final_stats=1", "-rss_limit_mb=2048"])
        .args(match target.is_door() {
            // A door has its own limit of time. Leaks are looked for behind each input at which more was allocated than freed, which is
            // nearly every one where threads go on.
            true => ["-timeout=20", "-max_len=4096", "-detect_leaks=0"]
                .map(str::to_owned)
                .to_vec(),
            false => vec!["-timeout=10".to_owned(), format!("-max_len={LONGEST_INPUT}")],
        })
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(&log).with_context(|| log.display().to_string())?)
        .status()
        .with_context(|| format!("{} does not start", program.display()))?;
    let _ = fs::remove_dir_all(&scratch);
    let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    let runs = executions(&text).unwrap_or(0);
    if status.success() && runs > 0 {
        println!(
            "fuzz {}: {seconds} s, {runs} runs, {count} seeds, {}",
            target.name,
            coverage(&text).unwrap_or_default()
        );
        return Ok(true);
    }
    let words: Vec<&str> = text.lines().rev().take(40).collect();
    println!("{}", words.into_iter().rev().collect::<Vec<_>>().join("\n"));
    println!(
        "fuzz {}: FAILED ({status}), input below {}, log {}",
        target.name,
        artifacts.display(),
        log.display()
    );
    Ok(false)
}

/// Fills `seeds` from the corpus and returns how many there are; what is longer than an input may be is left out.
fn plant(corpus: &Path, kind: Seeds, seeds: &Path) -> Result<usize> {
    let _ = fs::remove_dir_all(seeds);
    fs::create_dir_all(seeds).with_context(|| seeds.display().to_string())?;
    let mut files = Vec::new();
    walk(corpus, &mut files).with_context(|| corpus.display().to_string())?;
    let mut count = 0;
    for file in &files {
        let Some(input) = seed(kind, file)? else { continue };
        if input.len() <= LONGEST_INPUT {
            let name = file.strip_prefix(corpus)?.to_string_lossy().replace('/', "-");
            fs::write(seeds.join(name), input)?;
            count += 1;
        }
    }
    if count == 0 {
        bail!("{} has no seeds", corpus.display());
    }
    Ok(count)
}

/// The input that a file of the corpus becomes, if it becomes one.
fn seed(kind: Seeds, file: &Path) -> Result<Option<Vec<u8>>> {
    let extension = file
        .extension()
        .map(|extension| extension.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    match kind {
        Seeds::Files if matches!(extension.as_str(), "hex" | "json" | "md") => Ok(None),
        Seeds::Files => Ok(Some(fs::read(file)?)),
        Seeds::Json if extension != "json" => Ok(None),
        Seeds::Json => Ok(Some(fs::read(file)?)),
        Seeds::Extension(wanted) if extension != wanted => Ok(None),
        Seeds::Extension(_) => Ok(Some([fs::read(file)?, b"M               ".to_vec()].concat())),
        Seeds::DbfAndMemo if !matches!(extension.as_str(), "dbf" | "dbc" | "adt") => Ok(None),
        Seeds::DbfAndMemo => {
            let table = fs::read(file)?;
            let mut input = u32::try_from(table.len())
                .context("a table of 4 GB")?
                .to_le_bytes()
                .to_vec();
            input.extend(table);
            let memo = match extension.as_str() {
                "dbc" => &["dct"][..],
                "adt" => &["adm"],
                _ => &["dbt", "fpt", "smt"],
            };
            let mut memo = memo.iter().map(|extension| file.with_extension(extension));
            if let Some(memo) = memo.find(|path| path.exists()) {
                input.extend(fs::read(memo)?);
            }
            Ok(Some(input))
        }
    }
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            walk(&entry.path(), files)?;
        } else {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(())
}

/// From libFuzzer's closing statistics: `stat::number_of_executed_units: 123`.
fn executions(log: &str) -> Option<u64> {
    log.lines().find_map(|line| {
        line.strip_prefix("stat::number_of_executed_units:")?
            .trim()
            .parse()
            .ok()
    })
}

/// From libFuzzer's last progress line: `#123 DONE cov: 45 ft: 67 corp: 8/90b …`.
fn coverage(log: &str) -> Option<String> {
    let line = log
        .lines()
        .rev()
        .find(|line| line.starts_with('#') && line.contains(" cov: "))?;
    let (_, numbers) = line.split_once("cov: ")?;
    Some(format!("coverage {}", numbers.split_whitespace().next()?))
}

/// What libFuzzer needs from the compiler: an 8-bit counter per edge, the table of program counters, and the operands of
/// comparisons (clang's documentation, SanitizerCoverage). Branches are not folded into one, so that each is seen; `cfg(fuzzing)`
/// is the name that crates know.
const FLAGS: [&str; 10] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
    "-Zsanitizer=address",
    // What a release would silently wrap, a fuzzer should see.
    "-Cdebug-assertions=on",
    "-Coverflow-checks=on",
];

const LONGEST_INPUT: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_scripts_and_macros_are_not_instrumented() {
        let part = |line: &str| is_part_of_a_target(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert!(part(
            "--crate-name tidemill_xbase --edition=2024 src/lib.rs --crate-type lib"
        ));
        assert!(part("--crate-name dbf fuzz_targets/dbf.rs --crate-type bin"));
        assert!(!part("--crate-name build_script_build build.rs --crate-type bin"));
        assert!(!part("--crate-name macros src/lib.rs --crate-type proc-macro"));
        assert!(!part("- --crate-name ___ --print=file-names --crate-type bin"));
        assert!(!part("-vV"));
    }

    #[test]
    fn a_table_is_packed_with_its_memo() {
        let corpus = tempfile::tempdir().expect("a temporary folder");
        let (folder, seeds) = (corpus.path().join("xbase"), corpus.path().join("seeds"));
        fs::create_dir_all(folder.join("deep")).expect("a folder");
        for (name, content) in [
            ("a.dbf", "DBF"),
            ("a.fpt", "memo"),
            ("a.json", "{}"),
            ("deep/b.DBF", "x"),
            ("README.md", ""),
        ] {
            fs::write(folder.join(name), content).expect("a file");
        }
        fs::write(folder.join("long.dbf"), vec![0; LONGEST_INPUT]).expect("a file");
        assert_eq!(plant(&folder, Seeds::DbfAndMemo, &seeds).expect("seeds"), 2);
        assert_eq!(fs::read(seeds.join("a.dbf")).expect("a seed"), b"\x03\0\0\0DBFmemo");
        assert_eq!(fs::read(seeds.join("deep-b.DBF")).expect("a seed"), b"\x01\0\0\0x");
        assert_eq!(plant(&folder, Seeds::Extension("fpt"), &seeds).expect("seeds"), 1);
        let seed = fs::read(seeds.join("a.fpt")).expect("a seed");
        assert_eq!((seed.get(..5), seed.len()), (Some(&b"memoM"[..]), 20));
        // Another plan leaves nothing of the one before.
        assert_eq!(plant(&folder, Seeds::Files, &seeds).expect("seeds"), 4);
        assert!(plant(&seeds.join("none"), Seeds::Files, &folder.join("s")).is_err());
    }

    #[test]
    fn doors_run_only_when_they_are_asked_for() {
        let wanted = |target: &[&str], doors: bool| {
            let target = target.iter().map(|name| (*name).to_owned()).collect();
            let args = Args {
                seconds: 1,
                target,
                doors,
            };
            let wanted = TARGETS.iter().filter(|target| target.is_wanted(&args));
            wanted.map(|target| target.name).collect::<Vec<_>>()
        };
        let doors = ["serve_flight", "serve_http", "serve_postgres"];
        assert_eq!(wanted(&[], true), doors);
        let others = wanted(&[], false);
        assert!(others.contains(&"dbf") && !others.iter().any(|name| doors.contains(name)));
        assert_eq!(others.len() + doors.len(), TARGETS.len());
        assert_eq!(wanted(&["serve_http", "dbf"], false), ["dbf", "serve_http"]);
    }

    #[test]
    fn libfuzzer_is_understood() {
        let log = "#2\tINITED cov: 10 ft: 11\n#1000\tDONE   cov: 45 ft: 67 corp: 8/90b\nstat::number_of_executed_units: 1000\n";
        assert_eq!(executions(log), Some(1000));
        assert_eq!(coverage(log).as_deref(), Some("coverage 45"));
        assert_eq!(executions("==1== ERROR: libFuzzer: deadly signal"), None);
    }
}
