//! The ODBC driver of PostgreSQL, psqlODBC, from Debian's package.

use std::ffi::OsString;
use std::fs;
use std::panic::Location;
use std::path::{Path, PathBuf};

use crate::debian::unpack;
use crate::installation::{cache_folder, once};
use crate::need::not_run;

/// The driver, and where the libraries are that it needs.
#[derive(Clone, Debug)]
pub struct PsqlOdbc {
    root: PathBuf,
}

/// Where the package has the driver for Unicode.
const DRIVER: &str = "usr/lib/x86_64-linux-gnu/odbc/psqlodbcw.so";

impl PsqlOdbc {
    /// The driver, or `None` after noting that the calling test does not run and why: no apt, or no package.
    #[must_use]
    #[track_caller]
    pub fn need() -> Option<Self> {
        match Self::find(&cache_folder()) {
            Ok(driver) => Some(driver),
            Err(why) => {
                not_run(&why, Location::caller());
                None
            }
        }
    }

    fn find(cache: &Path) -> Result<Self, String> {
        let installed = Path::new("/").join(DRIVER);
        if installed.is_file() {
            return Ok(Self { root: "/".into() });
        }
        let root = cache.join("odbc");
        once(&root, |unfinished| {
            let made = unfinished.join("root");
            fs::create_dir(&made).map_err(|error| format!("{}: {error}", made.display()))?;
            unpack(&["odbc-postgresql", "libodbc2"], &made)?;
            Ok(made)
        })?;
        match root.join(DRIVER).is_file() {
            true => Ok(Self { root }),
            false => Err(format!("odbc-postgresql: there is no {DRIVER}")),
        }
    }

    /// The library, which a connection string names as its driver.
    #[must_use]
    pub fn library(&self) -> PathBuf {
        self.root.join(DRIVER)
    }

    /// `LD_LIBRARY_PATH` for a program that loads it.
    #[must_use]
    pub fn library_path(&self) -> OsString {
        self.root.join("usr/lib/x86_64-linux-gnu").into()
    }
}
