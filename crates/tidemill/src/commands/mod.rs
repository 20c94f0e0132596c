//! One module per command.

pub(crate) mod cat;
pub(crate) mod changing;
#[cfg(feature = "chart")]
pub(crate) mod chart;
pub(crate) mod copy;
pub(crate) mod diff;
pub(crate) mod head;
pub(crate) mod inspect;
pub(crate) mod manual;
pub(crate) mod recover;
pub(crate) mod reindex;
pub(crate) mod salvage;
pub(crate) mod sample;
pub(crate) mod self_check;
#[cfg(feature = "serve")]
pub(crate) mod serve;
#[cfg(feature = "shell")]
pub(crate) mod shell;
pub(crate) mod sql;
pub(crate) mod summarize;
#[cfg(feature = "serve")]
pub(crate) mod user;
pub(crate) mod verify;
#[cfg(feature = "workers")]
pub(crate) mod worker;

use std::path::Path;

use tidemill_sql::{Folder, Location};

use crate::terminal::tell;

/// A number with its unit: `1 record`, `7 records`.
pub(crate) fn counted(number: u64, unit: &str) -> String {
    match number {
        1 => format!("1 {unit}"),
        _ => format!("{number} {unit}s"),
    }
}

/// The tables of a folder. Reports the files that are left out, so that they are not assumed to be included.
pub(crate) fn tables_in(folder: &Path) -> tidemill_sql::Result<Vec<Location>> {
    const TOLD: usize = 20;
    let listed = Folder::list(folder)?;
    for left in listed.left_out.iter().take(TOLD) {
        tell!("{}: left out: {}", left.path.display(), left.why);
    }
    if let more @ 1.. = listed.left_out.len().saturating_sub(TOLD) {
        tell!("{}: left out: {more} more", folder.display());
    }
    Ok(listed.tables)
}
