//! The tests of the Python packages: their wheels are built with pip, installed beside the build's output, and tested by Python's
//! own unittest.
//!
//! Tools come from an environment in the cache folder, made once. The wheel is not installed there, since several clones
//! share the cache. A Python that is missing is one test that did not run; what is missing for a single test it says itself
//! by skipping.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context, Result, bail};
use tidemill_testkit::{Cassandra, ClickHouse, Installation, Python, Server, ServerError};

use crate::{
    cargo::{cargo, run, show},
    provision::answer,
    workspace::Workspace,
};

/// A Python package of this project.
#[derive(Debug)]
pub(crate) struct Wheel {
    /// The crate that it is made of.
    pub(crate) name: &'static str,
    /// Make the wheel, and are what the tests compare it with. The versions are those that are known to work.
    pub(crate) packages: &'static [&'static str],
    /// Where its project is, below the crate; the tests are in its folder `tests`.
    project: &'static str,
    /// Whether the library is built before the wheel, together with all crates over DataFusion, and tested with servers.
    is_heavy: bool,
}

/// The crate whose tests are those of its wheel alone.
pub(crate) const CRATE: &str = "tidemill-riegeli-py";

/// Riegeli/records files, in the profile of the other leaf crates.
pub(crate) const RIEGELI: Wheel = Wheel {
    name: CRATE,
    packages: &["maturin==1.16.0", "protobuf==7.36.2", "pyarrow==26.0.1"],
    project: "",
    is_heavy: false,
};

/// The ADBC driver with its DB-API and its dialect of SQLAlchemy, in the release profile.
pub(crate) const DRIVER: Wheel = Wheel {
    name: "tidemill-adbc",
    packages: &[
        "adbc-driver-manager==1.13.0",
        "dbapi-compliance==1.15.0",
        "duckdb==2.0.0",
        "mypy==2.4.1",
        "pandas==3.1.1",
        "polars==2.1.0",
        "pyarrow==26.0.1",
        "setuptools==80.9.0",
        "sqlalchemy==2.1.9",
    ],
    project: "python",
    is_heavy: true,
};

/// What unittest said.
#[derive(Debug, Default, Eq, PartialEq)]
pub(crate) struct Outcome {
    /// Tests that ran, or said that they could not.
    pub(crate) tests: u64,
    /// Tests that failed, one for all of its parts.
    pub(crate) failed: u64,
    /// What the failed tests are called.
    names: BTreeSet<String>,
    /// Tests that could not run, and why.
    pub(crate) skipped: Vec<(String, String)>,
    pub(crate) good: bool,
}

/// Names a library of the ADBC driver that is built already. The build of the wheel reads it too.
const LIBRARY_ENV: &str = "TIDEMILL_ADBC_LIBRARY";

/// Builds a wheel and runs its tests, whose output goes to ours.
pub(crate) fn test(wheel: &Wheel, workspace: &Workspace, python: &Python) -> Result<Outcome> {
    let root = workspace.root.join("crates").join(wheel.name).join(wheel.project);
    let wheels = workspace.target.join("wheel").join(wheel.name);
    let installed = wheels.join("installed");
    let _ = fs::remove_dir_all(&wheels);
    let tools = python.program().parent().context("the interpreter is in no folder")?;
    let pip = |arguments: &[&str]| {
        let mut command = python.command();
        command
            .args(["-m", "pip", "--disable-pip-version-check", "--quiet"])
            .args(arguments);
        command
            .env("PATH", with_folder(tools))
            .env("CARGO_TARGET_DIR", &workspace.target);
        command
    };
    let mut build = pip(&["wheel", "--no-deps", "--no-build-isolation"]);
    match wheel.is_heavy {
        true => build.env(LIBRARY_ENV, library(workspace)?),
        // The profile of the other leaf crates, with overflow checks on.
        false => build.arg("--config-settings=build-args=--profile=dev --locked"),
    };
    build.arg("--wheel-dir").arg(&wheels).arg(&root);
    let mut install = pip(&["install", "--no-deps", "--no-index"]);
    show(&build);
    if !build.status().context("pip does not start")?.success() {
        bail!("the wheel does not build");
    }
    install.arg("--target").arg(&installed).arg(wheel_in(&wheels)?);
    answer(&mut install)?;

    let servers = if wheel.is_heavy {
        Servers::start()?
    } else {
        Servers::default()
    };
    let mut tests = python.command();
    tests
        .envs(servers.variables())
        .arg(root.join("tests"))
        .env("PYTHONPATH", &installed)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    show(&tests);
    let mut child = tests.stderr(Stdio::piped()).spawn().context("python does not start")?;
    let mut outcome = Outcome::default();
    for line in BufReader::new(child.stderr.take().context("no output of unittest")?).split(b'\n') {
        let line = line.context("reading the output of unittest")?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        outcome.read(&line);
    }
    outcome.good = child.wait()?.success();
    Ok(outcome)
}

impl Outcome {
    /// Reads a line of `unittest -v`: of a test that was skipped, or of the summary.
    fn read(&mut self, line: &str) {
        if let Some((test, reason)) = line.rsplit_once(" ... skipped ") {
            // `test_name (module.Class.test_name)`, and behind it the first line of its documentation.
            let name = test.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
            let name = name.map_or(test, |(name, _)| name);
            let reason = reason.trim_matches(['\'', '"']);
            self.skipped.push((name.to_owned(), reason.to_owned()));
        } else if let Some(test) = ["FAIL: ", "ERROR: "].iter().find_map(|word| line.strip_prefix(word)) {
            // `test_name (module.Class.test_name)`, and behind it the part that failed.
            self.names.extend(
                test.split_once('(')
                    .and_then(|(_, rest)| rest.split_once(')'))
                    .map(|(name, _)| name.to_owned()),
            );
        } else if let Some(rest) = line.strip_prefix("Ran ") {
            self.tests = rest
                .split(' ')
                .next()
                .and_then(|number| number.parse().ok())
                .unwrap_or(0);
        } else if let Some(counts) = line.strip_prefix("FAILED (").and_then(|rest| rest.strip_suffix(')')) {
            let number = |what: &str| -> u64 {
                let found = counts
                    .split(", ")
                    .find_map(|part| part.strip_prefix(what)?.strip_prefix('='));
                found.and_then(|number| number.parse().ok()).unwrap_or(0)
            };
            let failures = number("failures") + number("errors");
            let tests = self.names.len() as u64;
            self.failed = failures.min(if tests == 0 { failures } else { tests }) + number("unexpected successes");
        }
    }
}

/// Servers that tests of Python talk to. Those that are missing are named by the tests that miss them.
#[derive(Debug, Default)]
struct Servers {
    clickhouse: Option<ClickHouse>,
    cassandra: Option<Cassandra>,
}

impl Servers {
    fn start() -> Result<Self> {
        Ok(Self {
            clickhouse: start(Server::ClickHouse, ClickHouse::start)?,
            cassandra: start(Server::Cassandra, Cassandra::start)?,
        })
    }

    /// By what the tests find them.
    fn variables(&self) -> Vec<(&'static str, String)> {
        let clickhouse = self.clickhouse.iter();
        let clickhouse = clickhouse.map(|server| ("TIDEMILL_TEST_CLICKHOUSE", server.native().to_string()));
        let cassandra = self.cassandra.iter();
        let cassandra = cassandra.map(|node| ("TIDEMILL_TEST_CASSANDRA", node.native().to_string()));
        clickhouse.chain(cassandra).collect()
    }
}

/// A server, or none where it is not installed.
fn start<S>(server: Server, start: impl Fn(&Installation) -> Result<S, ServerError>) -> Result<Option<S>> {
    let Ok(installation) = Installation::find(server) else {
        return Ok(None);
    };
    let started = start(&installation).with_context(|| format!("{} does not start", server.name()))?;
    Ok(Some(started))
}

/// The driver's library: the one that is named, or one that is built with the crates whose tests share one build of DataFusion.
fn library(workspace: &Workspace) -> Result<PathBuf> {
    if let Some(named) = std::env::var_os(LIBRARY_ENV) {
        // The build of the wheel runs in another folder.
        return std::path::absolute(&named).with_context(|| named.display().to_string());
    }
    let mut build = cargo(&workspace.root);
    build.args(["build", "--release", "--locked"]);
    build.args(workspace.heavy().iter().flat_map(|name| ["-p", name]));
    if !run(&mut build)? {
        bail!("the library does not build");
    }
    Ok(workspace.target.join("release").join("libtidemill_adbc.so"))
}

/// The `PATH` of this program with one more folder before it.
fn with_folder(folder: &Path) -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [folder.to_owned()].into_iter().chain(std::env::split_paths(&path));
    std::env::join_paths(folders).unwrap_or(path)
}

fn wheel_in(folder: &Path) -> Result<PathBuf> {
    let files = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut wheels = files
        .filter_map(|file| Some(file.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "whl"));
    wheels.next().context("pip made no wheel")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Outcome {
        let mut outcome = Outcome::default();
        text.lines().for_each(|line| outcome.read(line));
        outcome
    }

    #[test]
    fn summaries_of_unittest_are_counted() {
        let good = read("test_a (test_x.A.test_a) ... ok\n\nRan 84 tests in 6.138s\n\nOK\n");
        assert_eq!((good.tests, good.failed), (84, 0));
        let one = read("Ran 1 test in 0.1s\nFAILED (errors=1)\n");
        assert_eq!((one.tests, one.failed), (1, 1));
        let bad = read("Ran 9 tests in 1s\nFAILED (failures=2, errors=1, skipped=1, unexpected successes=3)\n");
        assert_eq!((bad.tests, bad.failed), (9, 6));
    }

    #[test]
    fn a_test_of_many_parts_fails_once() {
        let outcome = read(
            "FAIL: test_a (test_x.A.test_a) [one]\nFAIL: test_a (test_x.A.test_a) [two]\nERROR: test_b (test_x.A.test_b)\nRan 5 tests in 1s\nFAILED (failures=2, errors=1, unexpected successes=1)",
        );
        assert_eq!((outcome.tests, outcome.failed), (5, 3));
    }

    #[test]
    fn skipped_tests_have_a_name_and_a_reason() {
        let outcome = read(
            "test_a (test_x.A.test_a) ... skipped 'pyarrow is not installed'\ntest_b (test_x.A.test_b)\nWhat it does. ... skipped \"it's late\"\nRan 2 tests in 0s\nOK (skipped=2)",
        );
        let expected = [
            ("test_x.A.test_a", "pyarrow is not installed"),
            ("What it does.", "it's late"),
        ];
        assert_eq!(
            outcome.skipped,
            expected.map(|(test, why)| (test.to_owned(), why.to_owned()))
        );
        assert_eq!(outcome.tests, 2);
    }
}
