//! Go modules whose tests belong to ours.

use std::{
    panic::Location,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{need::not_run, process::run};

/// A Go module with everything that it requires, from the module cache or the proxy that `go env` names.
#[derive(Clone, Debug)]
pub struct GoModule {
    folder: PathBuf,
}

impl GoModule {
    /// The module in `folder`, or `None` after noting that the calling test does not run and why: no Go, or a module that cannot
    /// be had.
    #[must_use]
    #[track_caller]
    pub fn need(folder: &Path) -> Option<Self> {
        match Self::find(folder) {
            Ok(module) => Some(module),
            Err(why) => {
                not_run(&why, Location::caller());
                None
            }
        }
    }

    fn find(folder: &Path) -> Result<Self, String> {
        let module = Self {
            folder: folder.to_owned(),
        };
        run(module.go().args(["mod", "download"]), "go mod download").map(|_| module)
    }

    /// `go test` of all its packages.
    #[must_use]
    pub fn tests(&self) -> Command {
        let mut command = self.go();
        // Versions are those of go.mod and go.sum, and what another library answered says nothing.
        command.args(["test", "-mod=readonly", "-count=1", "./..."]);
        command
    }

    fn go(&self) -> Command {
        let mut command = Command::new("go");
        command.arg("-C").arg(&self.folder).stdin(Stdio::null());
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_that_is_not_there_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let why = GoModule::find(folder.path()).expect_err("there is no go.mod");
        assert!(why.starts_with("go mod download: "), "{why}");
    }
}
