//! `edit`: a workload in an editor.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use crate::args::EditArgs;
use crate::error::{Error, Result};
use crate::script::find_workload;

/// Opens the workload in the editor that LATTE_EDITOR or EDITOR names, or in vi, and waits for it.
///
/// # Errors
/// When there is no such workload, or the editor cannot be started.
pub(crate) fn edit(args: &EditArgs) -> Result<()> {
    let found = find_workload(&args.workload);
    let workload = fs::canonicalize(&found).map_err(Error::io("open", &found))?;
    let editor = env::var_os("LATTE_EDITOR")
        .or_else(|| env::var_os("EDITOR"))
        .unwrap_or_else(|| "vi".into());
    let status = Command::new(&editor)
        .current_dir(workload.parent().unwrap_or(Path::new(".")))
        .arg(&workload)
        .status()
        .map_err(Error::io("start the editor", Path::new(&editor)))?;
    if !status.success() {
        let editor = Path::new(&editor).display();
        return Err(Error::Misuse(format!("{editor} ended with {status}")));
    }
    Ok(())
}
