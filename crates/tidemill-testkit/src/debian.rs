//! Debian's packages in a folder, without root and without installing them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::run;

/// What was unpacked.
#[derive(Clone, Debug)]
pub struct Unpacked {
    /// Folders below the folder that hold shared libraries.
    pub libraries: Vec<PathBuf>,
    /// The packages, one `name=version` each.
    pub versions: Vec<String>,
}

/// Fetches packages and what they need that this machine lacks, and unpacks them in a folder; `None` where all are installed already.
/// apt works out which they are.
///
/// # Errors
///
/// What could not be fetched or written, in one line.
pub fn unpack(packages: &[&str], folder: &Path) -> Result<Option<Unpacked>, String> {
    answer(Command::new("dpkg").arg("--version"))?;
    answer(Command::new("apt-get").arg("--version"))?;
    let mut simulation = simulate(packages);
    if simulation.is_err() && answer(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0") {
        // A fresh image has empty lists.
        let _ = answer(Command::new("apt-get").args(["-qq", "update"]));
        simulation = simulate(packages);
    }
    let names = packages.join(" and ");
    let simulation = simulation.map_err(|why| {
        format!("apt-get finds no {names} (with empty package lists, run `apt-get update` as root): {why}")
    })?;
    let versions = missing(&simulation);
    if versions.is_empty() {
        return Ok(None);
    }
    let downloads = folder.join("packages");
    fs::create_dir(&downloads).map_err(|error| format!("{}: {error}", downloads.display()))?;
    // As root, apt would drop to a user of its own that may not write here.
    answer(
        Command::new("apt-get")
            .args(["-qq", "-o", "APT::Sandbox::User=root", "download"])
            .args(&versions)
            .current_dir(&downloads),
    )?;
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(&downloads).map_err(failed)? {
        let package = entry.map_err(failed)?.path();
        answer(Command::new("dpkg").arg("-x").arg(package).arg(folder))?;
    }
    fs::remove_dir_all(&downloads).map_err(failed)?;
    let mut libraries = Vec::new();
    shared_library_folders(folder, folder, &mut libraries).map_err(failed)?;
    libraries.sort();
    Ok(Some(Unpacked { libraries, versions }))
}

fn simulate(packages: &[&str]) -> Result<String, String> {
    let mut command = Command::new("apt-get");
    command.args([
        "-s",
        "-o",
        "Debug::NoLocking=true",
        "--no-install-recommends",
        "install",
    ]);
    answer(command.args(packages))
}

/// `name=version` of each package that a simulated installation would install: lines `Inst NAME [OLD] (VERSION …)`.
fn missing(simulation: &str) -> Vec<String> {
    let packages = simulation.lines().filter_map(|line| {
        let line = line.strip_prefix("Inst ")?;
        let name = line.split(' ').next()?;
        let version = line.split_once('(')?.1.split(' ').next()?;
        Some(format!("{name}={version}"))
    });
    packages.collect()
}

/// Folders below `folder` that hold `*.so*` files, relative to `root`; Debian puts all that matter below `usr/lib`.
fn shared_library_folders(root: &Path, folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut here = false;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            shared_library_folders(root, &entry.path(), found)?;
        } else {
            here |= entry.file_name().to_string_lossy().contains(".so");
        }
    }
    if here {
        found.extend(folder.strip_prefix(root).map(Path::to_owned));
    }
    Ok(())
}

/// What a program printed, in English.
fn answer(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    run(command.env("LC_ALL", "C"), &program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_a_simulation() {
        let text = "NOTE: This is only a simulation!
Inst libcctz2 (2.3+dfsg1-3 Debian:12.15/oldstable [amd64])
Inst libmariadb3 [1:10.0-1] (1:10.11.19-0+deb12u1 Debian-Security:12/oldstable-security [amd64])
Conf libcctz2 (2.3+dfsg1-3 Debian:12.15/oldstable [amd64])
";
        assert_eq!(
            missing(text),
            ["libcctz2=2.3+dfsg1-3", "libmariadb3=1:10.11.19-0+deb12u1"]
        );
    }

    #[test]
    fn libraries_are_found() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let lib = folder.path().join("usr/lib/x86_64-linux-gnu");
        fs::create_dir_all(&lib).expect("a folder");
        fs::create_dir_all(folder.path().join("usr/bin")).expect("a folder");
        fs::write(lib.join("libre2.so.9"), "").expect("a file");
        fs::write(folder.path().join("usr/bin/clickhouse"), "").expect("a file");
        let mut found = Vec::new();
        shared_library_folders(folder.path(), folder.path(), &mut found).expect("a walk");
        assert_eq!(found, [PathBuf::from("usr/lib/x86_64-linux-gnu")]);
    }
}
