//! Joins, subqueries and windows: the engine in `libtidemill_adbc.so`, which is loaded when a program first asks for one.
//!
//! The library is looked for beside this one, or is the file that [`LIBRARY_ENV`] names.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tidemill_ads::sql::{Analytical, AnalyticalQuery, Error, Kind, Result, Rows};
use tidemill_analytical::Engine;

/// The environment variable that names the library of the engine. Default: `libtidemill_adbc.so` in the folder of this library.
const LIBRARY_ENV: &str = "TIDEMILL_ANALYTICAL_LIBRARY";
const FILE: &str = "libtidemill_adbc.so";

/// The engine of the process, once it is loaded.
static ENGINE: Mutex<Option<Arc<Engine>>> = Mutex::new(None);

/// The engine of a connection: the process's.
#[derive(Debug)]
pub(crate) struct SharedEngine;

impl Analytical for SharedEngine {
    fn run(&self, query: Arc<AnalyticalQuery>) -> Result<Rows> {
        engine()?.run(query)
    }
}

fn engine() -> Result<Arc<Engine>> {
    let mut known = ENGINE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(engine) = &*known {
        return Ok(Arc::clone(engine));
    }
    let path = match std::env::var_os(LIBRARY_ENV) {
        Some(path) => PathBuf::from(path),
        None => own_file().with_file_name(FILE),
    };
    // What is not there now may be put there.
    let engine = Engine::load(&path).map_err(|error| {
        let why = format!(
            "Joins, subqueries and windows need {FILE} beside this library, or where {LIBRARY_ENV} says: {error}"
        );
        Error::new(Kind::NeedsAnalytical, why)
    })?;
    let engine = Arc::new(engine);
    *known = Some(Arc::clone(&engine));
    Ok(engine)
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
