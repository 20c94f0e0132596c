//! Joins, subqueries and windows: the engine in `libtidemill_adbc.so`, which is loaded when a program first asks for one.
//!
//! The library is the file that [`LIBRARY_ENV`] names, or is looked for beside this one, as it is called and as it is without links, and
//! then where the loader looks. A forked child has no threads of its parent's engine, and is refused.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tidemill_ads::sql::{Analytical, AnalyticalQuery, Error, Kind, Result, Rows};
use tidemill_analytical::Engine;

use crate::process_exit::forks;

/// The environment variable that names the library of the engine. Default: `libtidemill_adbc.so` beside this library, or where the loader
/// finds it.
const LIBRARY_ENV: &str = "TIDEMILL_ANALYTICAL_LIBRARY";
const FILE: &str = "libtidemill_adbc.so";

/// The engine of the process, once it is loaded.
static ENGINE: Mutex<Option<Arc<Engine>>> = Mutex::new(None);
/// The process that has asked for the engine, by its forks and one more; 0 is none.
static ASKED: AtomicU32 = AtomicU32::new(0);

/// The engine of a connection: the process's.
#[derive(Debug)]
pub(crate) struct SharedEngine;

impl Analytical for SharedEngine {
    fn run(&self, query: Arc<AnalyticalQuery>) -> Result<Rows> {
        engine()?.run(query)
    }
}

fn engine() -> Result<Arc<Engine>> {
    let here = forks().saturating_add(1);
    let asked = ASKED.compare_exchange(0, here, Ordering::Relaxed, Ordering::Relaxed);
    // The lock may be one that a thread of the parent held, which is not here.
    if asked.is_err_and(|asked| asked != here) {
        let why = "Joins, subqueries and windows are not answered in a process that was forked after the first of them: the threads \
                   that would do it are not here. Fork before, or start the process by exec";
        return Err(Error::new(Kind::NeedsAnalytical, why));
    }
    let mut known = ENGINE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(engine) = &*known {
        return Ok(Arc::clone(engine));
    }
    let places = match std::env::var_os(LIBRARY_ENV) {
        Some(path) => vec![PathBuf::from(path)],
        None => places(&own_file()),
    };
    let mut faults = Vec::new();
    for place in places {
        match Engine::load(&place) {
            Ok(engine) => return Ok(Arc::clone(known.insert(Arc::new(engine)))),
            // What is not there now may be put there.
            Err(error) => faults.push(error.to_string()),
        }
    }
    let why = format!(
        "Joins, subqueries and windows need {FILE} next to this library, on the loader's path, or where {LIBRARY_ENV} says: {}",
        faults.join("; ")
    );
    Err(Error::new(Kind::NeedsAnalytical, why))
}

/// Where the library of the engine is looked for, when this one is the file at a path.
fn places(own: &Path) -> Vec<PathBuf> {
    let whole = own.canonicalize().ok();
    let beside = [Some(own.to_owned()), whole].into_iter().flatten();
    let mut places: Vec<PathBuf> = beside.map(|own| own.with_file_name(FILE)).collect();
    places.push(PathBuf::from(FILE));
    places.dedup();
    places
}

/// The file of this library.
#[cfg(unix)]
fn own_file() -> PathBuf {
    use std::ffi::{CStr, OsStr, c_void};
    use std::os::unix::ffi::OsStrExt;

    let here = own_file as fn() -> PathBuf as *const c_void;
    // SAFETY: a structure of pointers and numbers may be all zeros.
    let mut about: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the address is that of a function, and there is a place for the answer.
    let is_known = unsafe { libc::dladdr(here, &raw mut about) } != 0;
    if !is_known || about.dli_fname.is_null() {
        return PathBuf::new();
    }
    // SAFETY: the name ends with a NUL and stays as long as this library.
    let name = unsafe { CStr::from_ptr(about.dli_fname) };
    PathBuf::from(OsStr::from_bytes(name.to_bytes()))
}

/// The file of this library is not known here: the loader looks for the other one by its own rules.
#[cfg(not(unix))]
fn own_file() -> PathBuf {
    PathBuf::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn the_engine_is_looked_for_behind_a_link_and_by_the_loader() {
        let folder = tempfile::tempdir().unwrap();
        let (real, links) = (folder.path().join("lib"), folder.path().join("links"));
        std::fs::create_dir(&real).unwrap();
        std::fs::create_dir(&links).unwrap();
        std::fs::write(real.join("libace.so"), b"").unwrap();
        std::os::unix::fs::symlink("../lib/libace.so", links.join("libace.so")).unwrap();
        let real = real.canonicalize().unwrap();
        let loader = PathBuf::from(FILE);
        assert_eq!(
            places(&links.join("libace.so")),
            [links.join(FILE), real.join(FILE), loader.clone()]
        );
        assert_eq!(places(&real.join("libace.so")), [real.join(FILE), loader.clone()]);
        assert_eq!(places(Path::new("")), [loader]);
    }
}
