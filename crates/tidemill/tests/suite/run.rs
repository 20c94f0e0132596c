//! Runs the command line and shows what came of it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A folder to work in, with the files of the corpus that a test names.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn with(files: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for file in files {
            let from = tidemill_testkit::corpus(file);
            let name = from.file_name().expect("a file").to_owned();
            fs::copy(&from, folder.path().join(name)).expect("copied");
        }
        Self(folder)
    }

    /// Copies a folder of the corpus.
    pub(crate) fn add(&self, from: &str, to: &str) {
        let to = self.file(to);
        fs::create_dir(&to).expect("made");
        for file in fs::read_dir(tidemill_testkit::corpus(from)).expect("read") {
            let file = file.expect("a file");
            fs::copy(file.path(), to.join(file.file_name())).expect("copied");
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs `tidemill` in this folder.
    pub(crate) fn run(&self, args: &[&str]) -> Run {
        let output = self.command(args).output().expect("started");
        Run::of(output)
    }

    /// Runs the program with this text on standard input.
    pub(crate) fn fed(&self, args: &[&str], input: &str) -> Run {
        self.fed_bytes(args, input.as_bytes())
    }

    pub(crate) fn fed_bytes(&self, args: &[&str], input: &[u8]) -> Run {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("started");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(input).expect("written");
        drop(stdin);
        Run::of(child.wait_with_output().expect("ended"))
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidemill"));
        command.current_dir(self.path()).args(args).stdin(Stdio::null());
        command
    }
}

/// What a run printed and how it ended.
pub(crate) struct Run {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
}

impl Run {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
            code: output.status.code(),
        }
    }

    /// Standard output of a run that must have gone well.
    #[track_caller]
    pub(crate) fn done(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        String::from_utf8(self.stdout).expect("UTF-8")
    }

    /// Standard error of a run that must have failed.
    #[track_caller]
    pub(crate) fn failed(self) -> String {
        assert_eq!(self.code, Some(2), "{}", self.stderr);
        assert!(self.stdout.is_empty(), "data before an error");
        self.stderr
    }
}
