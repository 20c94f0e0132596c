//! Packages of npm, for the shared libraries that they carry.

use std::fs;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::installation::cache_folder;
use crate::need::not_run;

/// The folder of a package with its version as npm takes it (`@duckdb/node-bindings-linux-x64@1.5.6-r.1`), or `None` after noting that the
/// calling test does not run and why: no npm, no tar, or no package. What a package depends on is not fetched, and nothing of it runs.
#[must_use]
#[track_caller]
pub fn npm_package(package: &str) -> Option<PathBuf> {
    match find(package, &cache_folder()) {
        Ok(folder) => Some(folder),
        Err(why) => {
            not_run(&why, Location::caller());
            None
        }
    }
}

fn find(package: &str, cache: &Path) -> Result<PathBuf, String> {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let name: String = package.chars().map(plain).collect();
    let parent = cache.join("npm");
    let folder = parent.join(name);
    if folder.is_dir() {
        return Ok(folder);
    }
    // A folder for this try alone; moving the package makes it everybody's.
    let unfinished = fs::create_dir_all(&parent)
        .and_then(|()| tempfile::Builder::new().prefix("unfinished-").tempdir_in(&parent))
        .map_err(|error| format!("{}: {error}", parent.display()))?;
    let mut npm = Command::new("npm");
    npm.args(["pack", "--silent", "--ignore-scripts", package]);
    let archive = run(npm.current_dir(unfinished.path()), "npm pack")?;
    let mut tar = Command::new("tar");
    tar.arg("xzf").arg(archive.trim());
    run(tar.current_dir(unfinished.path()), "tar")?;
    // Another test may have been first.
    let _ = fs::rename(unfinished.path().join("package"), &folder);
    match folder.is_dir() {
        true => Ok(folder),
        false => Err(format!("npm pack {package}: the archive has no folder package")),
    }
}

/// Standard output.
fn run(command: &mut Command, what: &str) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{what}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!(
            "{what}: {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}
