//! A Python with packages from PyPI, in a virtual environment of its own.
//!
//! The environment is made when a test first asks for it, in the cache folder, and kept. Tests that run at the same time make
//! one each, and the first one to be done is everybody's.

use std::{
    env,
    panic::Location,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    installation::{cache_folder, once},
    need::not_run,
    process::run,
};

/// How pip is asked for packages.
const PIP: [&str; 5] = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];

/// A Python that has the packages that a test asked for.
#[derive(Clone, Debug)]
pub struct Python {
    program: PathBuf,
}

impl Python {
    /// A Python with `packages`, each with its version as pip takes it (`array-record==0.8.6`), or `None` after noting that
    /// the calling test does not run and why: no Python 3 with venv and pip, or no package.
    #[must_use]
    #[track_caller]
    pub fn need(packages: &[&str]) -> Option<Self> {
        match Self::find(packages) {
            Ok(python) => Some(python),
            Err(why) => {
                not_run(&why, Location::caller());
                None
            }
        }
    }

    /// A Python with `packages`.
    ///
    /// # Errors
    ///
    /// Why it cannot be had, in one line.
    pub fn find(packages: &[&str]) -> Result<Self, String> {
        Self::find_in(packages, &cache_folder())
    }

    /// Where the interpreter is; the programs of its packages are beside it.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The interpreter, to be given a script.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        // What the user has elsewhere is not what was asked for.
        command
            .env_remove("PYTHONPATH")
            .env_remove("PYTHONHOME")
            .stdin(Stdio::null());
        command
    }

    /// Runs a script and returns what it printed.
    ///
    /// # Panics
    ///
    /// When the script fails, with what it said.
    #[must_use]
    pub fn run(&self, script: &str, arguments: &[&Path]) -> String {
        let output = self.command().arg("-c").arg(script).args(arguments).output();
        let output = output.unwrap_or_else(|error| panic!("{}: {error}", self.program.display()));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{}: {}", output.status, text(&output.stderr));
        text(&output.stdout)
    }

    fn find_in(packages: &[&str], cache: &Path) -> Result<Self, String> {
        let folder = cache.join("python").join(folder_name(packages));
        once(&folder, |unfinished| {
            Self::make(packages, unfinished)?;
            Ok(unfinished.to_owned())
        })?;
        Self::in_folder(&folder).ok_or_else(|| format!("{} has no python", folder.display()))
    }

    fn make(packages: &[&str], folder: &Path) -> Result<(), String> {
        let python = env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
        run(Command::new(python).args(["-m", "venv"]).arg(folder), "python3 -m venv")?;
        if packages.is_empty() {
            return Ok(());
        }
        let python = folder.join(PROGRAM);
        run(Command::new(python).args(PIP).args(packages), "pip install").map(drop)
    }

    fn in_folder(folder: &Path) -> Option<Self> {
        let program = folder.join(PROGRAM);
        program.exists().then_some(Self { program })
    }
}

const PROGRAM: &str = if cfg!(windows) {
    "Scripts/python.exe"
} else {
    "bin/python"
};

fn folder_name(packages: &[&str]) -> String {
    if packages.is_empty() {
        return "without-packages".to_owned();
    }
    let packages = packages.join("+");
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "+-_".contains(letter);
    packages
        .chars()
        .map(|letter| if plain(letter) { letter } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_package_that_cannot_be_had_is_named_with_the_reason() {
        let cache = tempfile::tempdir().expect("a folder");
        let error = Python::find_in(&["./no-such-package"], cache.path()).expect_err("there is no such package");
        assert!(
            error.starts_with("pip install: ") || error.starts_with("python3 -m venv: "),
            "{error}"
        );
        let left = fs::read_dir(cache.path().join("python")).map_or(0, Iterator::count);
        assert_eq!(left, 0, "an unfinished environment was left");
    }

    #[test]
    fn each_list_of_packages_has_a_folder() {
        assert_eq!(
            folder_name(&["array-record==0.8.6", "numpy"]),
            "array-record__0_8_6+numpy"
        );
    }
}
