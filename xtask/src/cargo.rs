//! Starting cargo and other programs: what is run is shown, and a program that is missing is a fact, not a failure.

use std::{
    ffi::OsStr,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result};

/// The cargo that started this program, in `folder`.
pub(crate) fn cargo(folder: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder);
    // Cargo sets these for this program; a nested cargo that builds another workspace must not inherit them.
    for (key, _) in std::env::vars_os() {
        let name = key.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&key);
        }
    }
    command
}

/// Shows the command, runs it with our own stdout and stderr; true when it ends well.
pub(crate) fn run(command: &mut Command) -> Result<bool> {
    show(command);
    let status = command
        .status()
        .with_context(|| format!("{} does not start", command.get_program().to_string_lossy()))?;
    Ok(status.success())
}

/// Prints the command as a person would type it.
pub(crate) fn show(command: &Command) {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words: Vec<_> = std::iter::once(program)
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .collect();
    eprintln!("$ {}", words.join(" "));
}

/// Whether cargo knows a subcommand that is installed apart from it (`nextest`, `deny`).
pub(crate) fn has_subcommand(folder: &Path, name: &str) -> bool {
    cargo(folder)
        .args([name, "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The machine's own target triple.
pub(crate) fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .arg("-vV")
        .output()
        .context("rustc does not start")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .context("rustc does not tell its host")
}
