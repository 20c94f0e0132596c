//! The log of a command: each error of a run as it came, and what the drivers tell of their connections.

use std::{fs::File, path::PathBuf, sync::Mutex};

use chrono::Local;
use tracing::Level;

use crate::{
    args::LogArgs,
    error::{Error, Result},
};

/// Begins the log of this process, if one is asked for.
///
/// # Errors
/// [`Error::Io`] when its file cannot be made.
pub(crate) fn begin(args: &LogArgs) -> Result<()> {
    let Some(path) = path(args) else { return Ok(()) };
    let file = File::create(&path).map_err(Error::io("create", &path))?;
    let log = tracing_subscriber::fmt()
        .with_writer(Mutex::new(file))
        .with_ansi(false)
        .with_max_level(Level::INFO)
        .finish();
    // A process that has a log of its own, as a program that uses this one as a library, keeps it.
    let _ = tracing::subscriber::set_global_default(log);
    Ok(())
}

fn path(args: &LogArgs) -> Option<PathBuf> {
    if args.log_file.is_none() && args.log_dir.is_none() && !args.enable_logging {
        return None;
    }
    let by_time = || PathBuf::from(Local::now().format("tidemill-bench-%Y%m%d-%H%M%S.log").to_string());
    let name = args.log_file.clone().unwrap_or_else(by_time);
    Some(args.log_dir.clone().unwrap_or_default().join(name))
}
