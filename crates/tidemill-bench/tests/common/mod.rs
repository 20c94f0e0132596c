//! A workload in a folder of its own, and the program.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]
#![allow(dead_code, reason = "each test program uses a part")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

pub(crate) struct Bench {
    folder: TempDir,
    address: String,
}

impl Bench {
    pub(crate) fn new(address: impl Into<String>) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            address: address.into(),
        }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.file(name), text).unwrap();
    }

    /// `command`, its arguments up to a script in the folder, and the address behind them.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidemill-bench"));
        command
            .current_dir(self.folder.path())
            .env_remove("LATTE_WORKLOAD_PATH")
            .args(arguments)
            .arg(&self.address)
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.command(arguments).output().unwrap())
    }

    /// The results of the report that a run wrote to `name`.
    pub(crate) fn results(&self, name: &str) -> Vec<serde_json::Value> {
        let text = fs::read_to_string(self.file(name)).unwrap();
        text.lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .filter_map(|line| line.get("results").cloned())
            .collect()
    }
}

/// What a program left.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    #[track_caller]
    pub(crate) fn good(self) -> Self {
        assert_eq!(self.code, Some(0), "{}\n{}", self.out, self.err);
        self
    }

    #[track_caller]
    pub(crate) fn fails(self, code: i32, why: &str) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.out, self.err);
        assert!(self.err.contains(why), "expected {why:?} in\n{}", self.err);
        self
    }
}
