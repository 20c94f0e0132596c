//! `cargo xtask test`: every test, each crate in the profile that costs least, and one honest count at the end.
//!
//! The leaf crates are tested in the dev profile and never build DataFusion; the crates over it are tested in the release
//! profile, so that it is built once for the tests and for `cargo run --release`. That build goes on while the leaf crates'
//! tests wait for servers and clocks, with what they leave of the processor. cargo-nextest is used where it is installed, and
//! cargo itself for the documentation tests, which nextest does not run.
//!
//! A test that could not run (no server on this machine) returned early and its runner counted it as passed: those are
//! taken off the count and listed with the reason. With `CI=true` they fail the run.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result};
use clap::{Args as ClapArgs, ValueEnum};
use tidemill_testkit::{NOT_RUN_ENV, Python};

use crate::{
    cargo::{cargo, has_subcommand, show},
    provision,
    wheel::{self, Wheel},
    workspace::Workspace,
};

/// Which tests.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Only some of the tests.
    #[arg(long, value_enum)]
    only: Option<Part>,
}

#[derive(Clone, Copy, Eq, PartialEq, ValueEnum)]
enum Part {
    /// The crates that do not build DataFusion.
    Leaf,
    /// tidemill-sql, tidemill-adbc and the command line.
    Sql,
    /// The Python wheel of tidemill-adbc, around the library that TIDEMILL_ADBC_LIBRARY names, or else a new one.
    Driver,
}

/// Runs the tests; true when all of them passed, and in CI also ran.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<bool> {
    provision::run_for_tests();
    let mut report = Report::new(workspace)?;
    let wanted = |part| args.only.is_none_or(|only| only == part);
    let heavy_build = match args.only {
        None => Some(build_behind(workspace)?),
        Some(_) => None,
    };
    if wanted(Part::Leaf) {
        report.test(workspace, "leaf crates, dev profile", &workspace.leaves(), &[])?;
        report.wheel(&wheel::RIEGELI, workspace)?;
    }
    if wanted(Part::Sql) {
        if let Some(mut build) = heavy_build {
            // What is wrong with it is shown by cargo when the tests begin.
            build.wait().context("cargo test --no-run")?;
        }
        report.test(workspace, OVER_DATAFUSION, &workspace.heavy(), RELEASE)?;
    }
    if wanted(Part::Sql) || wanted(Part::Driver) {
        report.wheel(&wheel::DRIVER, workspace)?;
    }
    report.finish()
}

const OVER_DATAFUSION: &str = "over DataFusion, release profile";
const RELEASE: &[&str] = &["--release"];

/// Begins to build the tests of the crates over DataFusion. Whatever else runs goes first.
fn build_behind(workspace: &Workspace) -> Result<Child> {
    let cargo = cargo(&workspace.root);
    let mut build = Command::new("nice");
    build
        .args(["-n", "19"])
        .arg(cargo.get_program())
        .current_dir(&workspace.root);
    for (key, value) in cargo.get_envs() {
        match value {
            Some(value) => build.env(key, value),
            None => build.env_remove(key),
        };
    }
    build.args(["test", "--no-run"]).args(RELEASE);
    build.args(workspace.heavy().iter().flat_map(|name| ["-p", name]));
    show(&build);
    build.stdout(Stdio::null()).stderr(Stdio::null());
    build.spawn().context("nice does not start")
}

/// Runs the tests of some packages; true when all of them passed, and in CI also ran.
pub(crate) fn packages(workspace: &Workspace, packages: &[&str], profile: &[&str]) -> Result<bool> {
    let mut report = Report::new(workspace)?;
    let (wheel, crates): (Vec<&str>, Vec<&str>) = packages.iter().partition(|name| **name == wheel::CRATE);
    report.test(workspace, &crates.join(", "), &crates, profile)?;
    if !wheel.is_empty() {
        report.wheel(&wheel::RIEGELI, workspace)?;
    }
    report.finish()
}

/// What the runners said so far.
struct Report {
    count: Count,
    broken: Vec<String>,
    not_run: PathBuf,
    nextest: bool,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Count {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Report {
    fn new(workspace: &Workspace) -> Result<Self> {
        fs::create_dir_all(&workspace.target)?;
        let not_run = tempfile::Builder::new()
            .prefix("tests-not-run.")
            .tempfile_in(&workspace.target);
        let (_, not_run) = not_run
            .with_context(|| workspace.target.display().to_string())?
            .keep()?;
        let nextest = has_subcommand(&workspace.root, "nextest");
        Ok(Self {
            count: Count::default(),
            broken: Vec::new(),
            not_run,
            nextest,
        })
    }

    fn test(&mut self, workspace: &Workspace, what: &str, packages: &[&str], profile: &[&str]) -> Result<()> {
        if packages.is_empty() {
            return Ok(());
        }
        eprintln!("\n== {what}");
        let not_run = self.not_run.clone();
        let select = |command: &mut Command| {
            command
                .args(profile)
                .env(NOT_RUN_ENV, &not_run)
                .args(packages.iter().flat_map(|name| ["-p", name]));
        };
        let mut command = cargo(&workspace.root);
        if !self.nextest {
            command.args(["test", "--no-fail-fast"]);
            select(&mut command);
            return self.libtest(what, &mut command);
        }
        command.args(["nextest", "run", "--no-fail-fast", "--no-tests", "pass"]);
        select(&mut command);
        self.nextest(workspace, what, &mut command)?;
        let documented = |name: &&str| {
            let mut members = workspace.members.iter();
            members.any(|member| member.has_library && member.name == *name)
        };
        if packages.iter().any(documented) {
            // All of the packages, also those without a library: fewer would have other features, and build DataFusion again.
            let mut command = cargo(&workspace.root);
            command.args(["test", "--doc", "--no-fail-fast"]);
            select(&mut command);
            self.libtest(&format!("{what}, documentation"), &mut command)?;
        }
        Ok(())
    }

    /// Builds a wheel and runs its tests.
    fn wheel(&mut self, wheel: &Wheel, workspace: &Workspace) -> Result<()> {
        let what = format!("the Python wheel of {}", wheel.name);
        eprintln!("\n== {what}");
        let python = match Python::find(wheel.packages) {
            Ok(python) => python,
            Err(why) => {
                // As a test that returned early, which its runner took for passing.
                self.count.passed += 1;
                return self.note_not_run(wheel, "tests", &why);
            }
        };
        let outcome = match wheel::test(wheel, workspace, &python) {
            Ok(outcome) => outcome,
            Err(why) => {
                eprintln!("{why:#}");
                wheel::Outcome::default()
            }
        };
        self.count.add(Count {
            passed: outcome.tests.saturating_sub(outcome.failed),
            failed: outcome.failed,
            ignored: 0,
        });
        self.note_end(&what, outcome.good, outcome.failed);
        outcome
            .skipped
            .iter()
            .try_for_each(|(test, why)| self.note_not_run(wheel, test, why))
    }

    /// Adds a test to those that could not run.
    fn note_not_run(&self, wheel: &Wheel, test: &str, why: &str) -> Result<()> {
        let flat = |text: &str| text.replace(['\t', '\n'], " ");
        let line = format!("{} {}\t\t{}\n", wheel.name, flat(test), flat(why));
        let mut notes = fs::OpenOptions::new().append(true).open(&self.not_run)?;
        Ok(notes.write_all(line.as_bytes())?)
    }

    /// Runs cargo test, passes its output on, and counts from the line that each test program ends with.
    fn libtest(&mut self, what: &str, command: &mut Command) -> Result<()> {
        show(command);
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .context("cargo test does not start")?;
        let mut failed = 0;
        for line in BufReader::new(child.stdout.take().context("no output of cargo test")?).split(b'\n') {
            let line = line.context("reading the output of cargo test")?;
            let mut stdout = io::stdout().lock();
            stdout
                .write_all(&line)
                .and_then(|()| stdout.write_all(b"\n"))
                .context("stdout")?;
            if let Some(count) = Count::of_libtest(&String::from_utf8_lossy(&line)) {
                self.count.add(count);
                failed += count.failed;
            }
        }
        let good = child.wait()?.success();
        self.note_end(what, good, failed);
        Ok(())
    }

    /// Runs nextest and counts from the report that `.config/nextest.toml` tells it to write.
    fn nextest(&mut self, workspace: &Workspace, what: &str, command: &mut Command) -> Result<()> {
        let report = workspace.root.join("target/nextest/default/junit.xml");
        let _ = fs::remove_file(&report);
        show(command);
        let good = command.status().context("cargo nextest does not start")?.success();
        let count = fs::read_to_string(&report)
            .ok()
            .and_then(|xml| Count::of_junit(&xml))
            .unwrap_or_default();
        self.count.add(count);
        self.note_end(what, good, count.failed);
        Ok(())
    }

    /// A runner that ends badly without a failed test did not build, or lost a test program.
    fn note_end(&mut self, what: &str, good: bool, failed: u64) {
        if !good && failed == 0 {
            self.count.failed += 1;
            self.broken.push(format!(
                "{what}: did not build, or a test program ended before it could tell"
            ));
        }
    }

    /// Prints the summary, and the count alone on the last line.
    fn finish(self) -> Result<bool> {
        let notes = fs::read_to_string(&self.not_run).with_context(|| self.not_run.display().to_string())?;
        let _ = fs::remove_file(&self.not_run);
        let not_run = not_run(&notes);
        let count = self.count.without(not_run.len());
        let strict = std::env::var("CI").is_ok_and(|value| value == "true");
        println!();
        for line in &self.broken {
            println!("counted as one failed test: {line}");
        }
        for (test, why) in &not_run {
            println!("not run: {test}: {why}");
        }
        if count.ignored > 0 {
            println!("not run: {} tests marked as ignored", count.ignored);
        }
        let complete = not_run.is_empty() && count.ignored == 0;
        if !complete && strict {
            println!("CI=true: tests that do not run are a failure");
        }
        println!("{count}");
        Ok(count.failed == 0 && (complete || !strict))
    }
}

impl Count {
    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }

    /// Tests that could not run returned early, which their runner took for passing.
    fn without(self, not_run: usize) -> Self {
        Self {
            passed: self.passed.saturating_sub(not_run as u64),
            ..self
        }
    }

    /// The closing line of a test program: `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
    fn of_libtest(line: &str) -> Option<Self> {
        let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
        let number = |what: &str| -> Option<u64> {
            counts
                .split("; ")
                .find_map(|part| part.strip_suffix(what))?
                .trim()
                .parse()
                .ok()
        };
        Some(Self {
            passed: number(" passed")?,
            failed: number(" failed")?,
            ignored: number(" ignored")?,
        })
    }

    /// The root element of a JUnit report: `<testsuites name=… tests="3" failures="1" errors="0" …>`.
    fn of_junit(xml: &str) -> Option<Self> {
        let root = xml.split_once("<testsuites ")?.1.split_once('>')?.0;
        let number = |name: &str| -> Option<u64> {
            root.split_once(&format!(" {name}=\""))?
                .1
                .split_once('"')?
                .0
                .parse()
                .ok()
        };
        let failed = number("failures")? + number("errors")?;
        Some(Self {
            passed: number("tests")?.checked_sub(failed)?,
            failed,
            ignored: 0,
        })
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

/// Test to reason. A test that asks for two servers notes itself twice.
fn not_run(notes: &str) -> BTreeMap<String, String> {
    let mut tests: BTreeMap<String, String> = BTreeMap::new();
    for line in notes.lines() {
        let mut parts = line.split('\t');
        let (Some(test), Some(place), Some(why)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        // In the main thread a test has no name, and its place tells it from others.
        let test = if test.ends_with(" main") {
            format!("{test} ({place})")
        } else {
            test.to_owned()
        };
        tests
            .entry(test)
            .and_modify(|all| *all = format!("{all}; {why}"))
            .or_insert_with(|| why.to_owned());
    }
    tests
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn libtest_lines() {
        let count = |line| Count::of_libtest(line);
        let some = |passed, failed, ignored| {
            Some(Count {
                passed,
                failed,
                ignored,
            })
        };
        assert_eq!(
            count("test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.00s"),
            some(3, 0, 1)
        );
        assert_eq!(
            count("test result: FAILED. 12 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out"),
            some(12, 2, 0)
        );
        assert_eq!(count("test result: unclear"), None);
        assert_eq!(count("test a::b ... ok"), None);
    }

    #[test]
    fn junit_root() {
        let xml = "<?xml version=\"1.0\"?>\n<testsuites name=\"nextest-run\" tests=\"7\" failures=\"1\" errors=\"1\" uuid=\"u\">\n<testsuite tests=\"9\">";
        assert_eq!(
            Count::of_junit(xml),
            Some(Count {
                passed: 5,
                failed: 2,
                ignored: 0
            })
        );
        assert_eq!(Count::of_junit("<testsuites name=\"x\">"), None);
    }

    #[test]
    fn tests_that_did_not_run_are_not_counted_as_passed() {
        let notes =
            "kit a\tx.rs:1\tno java\nkit a\tx.rs:2\tno server\nkit main\tx.rs:3\tno java\nkit main\tx.rs:9\tno java\n";
        let tests = not_run(notes);
        assert_eq!(tests.len(), 3);
        assert_eq!(tests["kit a"], "no java; no server");
        let count = Count {
            passed: 10,
            failed: 1,
            ignored: 0,
        }
        .without(tests.len());
        assert_eq!(count.to_string(), "7 passed, 1 failed");
    }

    #[test]
    fn nextest_is_told_to_write_the_report() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the root");
        let config = fs::read_to_string(root.join(".config/nextest.toml")).expect("the configuration");
        assert!(
            config.contains("[profile.default.junit]\npath = \"junit.xml\"\n"),
            "{config}"
        );
    }
}
