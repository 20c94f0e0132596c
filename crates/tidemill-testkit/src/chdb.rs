//! ClickHouse of today as a library, in a Python process: the oracle for its formats.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use tempfile::TempDir;

use crate::{
    error::ServerError,
    installation::{Installation, Server},
    need::need,
    process::run_folder,
};

/// A session of chdb with an empty data folder. It ends when this is dropped.
///
/// It reads and writes files by their absolute paths, `file('/…', Native)`, and speaks to servers as a client does, by
/// `remote('127.0.0.1:PORT', …)`. It is no server itself.
#[derive(Debug)]
pub struct Chdb {
    child: Child,
    queries: ChildStdin,
    answers: BufReader<ChildStdout>,
    folder: TempDir,
}

impl Chdb {
    /// A session, or `None` after noting that the calling test does not run (see [`need`]).
    ///
    /// # Panics
    ///
    /// When chdb is installed and does not start.
    #[must_use]
    #[track_caller]
    pub fn need() -> Option<Self> {
        Self::need_with("<clickhouse/>")
    }

    /// A session with a configuration, such as one that names clusters. Otherwise as [`Chdb::need`].
    ///
    /// # Panics
    ///
    /// When chdb is installed and does not start.
    #[must_use]
    #[track_caller]
    pub fn need_with(configuration: &str) -> Option<Self> {
        let installation = need(Server::Chdb)?;
        Some(Self::start(&installation, configuration).unwrap_or_else(|error| error.fail()))
    }

    /// Starts a session with a configuration, which is XML.
    ///
    /// # Errors
    ///
    /// [`ServerError::Io`] when Python cannot be started, and those of [`Chdb::query`] when it does not answer.
    pub fn start(installation: &Installation, configuration: &str) -> Result<Self, ServerError> {
        let folder = run_folder("chdb")?;
        // It is looked for in the folder where the process starts.
        let path = folder.path().join("config.xml");
        fs::write(&path, configuration).map_err(ServerError::io(path.display().to_string()))?;
        let mut child = Command::new(installation.program())
            .args(["-c", include_str!("chdb.py")])
            .arg(folder.path().join("data"))
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(ServerError::io(format!(
                "starting {}",
                installation.program().display()
            )))?;
        let (Some(queries), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(ServerError::Answer {
                server: Server::Chdb.name(),
                expected: "pipes",
                found: "none".to_owned(),
            });
        };
        let mut session = Self {
            child,
            queries,
            answers: BufReader::new(answers),
            folder,
        };
        session.query("SELECT 1", "TabSeparated")?;
        Ok(session)
    }

    /// A folder of the session's own, for files that it reads and writes.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The answer to a query in `format`, such as `Native`.
    ///
    /// # Errors
    ///
    /// [`ServerError::Answer`] with ClickHouse's words when it refuses the query, [`ServerError::Io`] when the process has
    /// ended.
    pub fn query(&mut self, query: &str, format: &str) -> Result<Vec<u8>, ServerError> {
        let line = format!("{}\n", serde_json::json!([query, format]));
        self.queries
            .write_all(line.as_bytes())
            .map_err(ServerError::io("sending a query to chdb"))?;
        let mut head = String::new();
        self.answers
            .read_line(&mut head)
            .map_err(ServerError::io("reading chdb's answer"))?;
        let wrong = |found: String| ServerError::Answer {
            server: Server::Chdb.name(),
            expected: "an answer",
            found,
        };
        let (status, length) = head.trim_end().split_once(' ').ok_or_else(|| wrong(head.clone()))?;
        let length = length.parse().map_err(|_| wrong(head.clone()))?;
        let mut answer = Vec::new();
        let read = self.answers.by_ref().take(length).read_to_end(&mut answer);
        read.map_err(ServerError::io("reading chdb's answer"))?;
        if status == "ok" && answer.len() as u64 == length {
            Ok(answer)
        } else {
            Err(wrong(String::from_utf8_lossy(&answer).into_owned()))
        }
    }
}

impl Drop for Chdb {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_answers_and_refuses() {
        let Some(mut chdb) = Chdb::need() else { return };
        assert_eq!(
            chdb.query("SELECT 7", "Native").expect("an answer"),
            b"\x01\x01\x017\x05UInt8\x07"
        );
        let error = chdb.query("SELECT nothing", "Native").expect_err("no such column");
        assert!(error.to_string().contains("UNKNOWN_IDENTIFIER"), "{error}");
        assert_eq!(
            chdb.query("SELECT 'a\nb'", "TabSeparated").expect("an answer"),
            b"a\\nb\n"
        );
    }
}
