//! Packages of npm, for the shared libraries that they carry.

use std::panic::Location;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::installation::{cache_folder, once};
use crate::need::not_run;
use crate::process::run;

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
    let folder = cache.join("npm").join(name);
    once(&folder, |unfinished| {
        let mut npm = Command::new("npm");
        npm.args(["pack", "--silent", "--ignore-scripts", package]);
        let archive = run(npm.current_dir(unfinished), "npm pack")?;
        let mut tar = Command::new("tar");
        tar.arg("xzf").arg(archive.trim());
        run(tar.current_dir(unfinished), "tar")?;
        Ok(unfinished.join("package"))
    })?;
    match folder.is_dir() {
        true => Ok(folder),
        false => Err(format!("npm pack {package}: the archive has no folder package")),
    }
}
