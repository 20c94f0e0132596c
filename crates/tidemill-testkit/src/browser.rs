//! Chromium, for the tests of pages.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::debian;
use crate::installation::{cache_folder, once};
use crate::need::not_run;

/// A browser that can be started.
#[derive(Clone, Debug)]
pub struct Browser {
    /// The program.
    pub program: PathBuf,
    /// Where its shared libraries are, beside those of the system.
    libraries: Vec<PathBuf>,
}

impl Browser {
    /// Chromium: the system's own, or Debian's package in the cache folder. `None` after noting that the calling test does not run and why.
    #[must_use]
    #[track_caller]
    pub fn need() -> Option<Self> {
        let installed = PathBuf::from("/usr/bin/chromium");
        if installed.exists() {
            return Some(Self {
                program: installed,
                libraries: Vec::new(),
            });
        }
        match Self::fetched(&cache_folder()) {
            Ok(browser) => Some(browser),
            Err(why) => {
                not_run(&why, Location::caller());
                None
            }
        }
    }

    fn fetched(cache: &Path) -> Result<Self, String> {
        let folder = cache.join("chromium");
        let list = folder.join("libraries");
        once(&folder, |unfinished| {
            let unpacked = debian::unpack(&["chromium"], unfinished)?;
            let unpacked = unpacked.ok_or("the package chromium is installed, but there is no /usr/bin/chromium")?;
            let libraries = unpacked.libraries.iter().map(|path| path.display().to_string());
            let libraries = libraries.collect::<Vec<_>>().join("\n");
            let written = fs::write(unfinished.join("libraries"), libraries);
            written.map_err(|error| format!("{}: {error}", unfinished.display()))?;
            Ok(unfinished.to_owned())
        })?;
        let libraries = fs::read_to_string(&list).map_err(|error| format!("{}: {error}", list.display()))?;
        Ok(Self {
            program: folder.join("usr/lib/chromium/chromium"),
            libraries: libraries.lines().map(|line| folder.join(line)).collect(),
        })
    }

    /// Lets a program start the browser.
    pub fn prepare(&self, command: &mut Command) {
        let system = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let all = self.libraries.iter().cloned().chain(env::split_paths(&system));
        if let Ok(paths) = env::join_paths(all.filter(|path| !path.as_os_str().is_empty())) {
            let paths: OsString = paths;
            command.env("LD_LIBRARY_PATH", paths);
        }
        command.env("CHROMIUM", &self.program);
    }
}
