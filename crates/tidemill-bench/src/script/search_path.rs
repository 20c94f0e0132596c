//! Where workloads are looked for.

use std::env;
use std::path::{Path, PathBuf};

/// The workloads that come with the program.
const BUNDLED: [(&str, &str); 4] = [
    ("empty.rn", include_str!("../../workloads/empty.rn")),
    ("key_value.rn", include_str!("../../workloads/key_value.rn")),
    ("ledger.rn", include_str!("../../workloads/ledger.rn")),
    ("time_series.rn", include_str!("../../workloads/time_series.rn")),
];

/// The text of a workload that comes with the program, for a name that is no file's.
pub(super) fn bundled(workload: &Path) -> Option<&'static str> {
    let name = workload.to_str().filter(|_| !workload.is_file())?;
    let (_, text) = BUNDLED.iter().find(|(known, _)| *known == name)?;
    Some(text)
}

/// The workload's file: as it is named when that is absolute, begins with a dot or exists; otherwise the first of that name in the folders of
/// `LATTE_WORKLOAD_PATH`, or without that variable in `.local/share/latte/workloads`, `/usr/share/latte/workloads` and the folder
/// `workloads` beside the program. A path that is nowhere comes back as it is: it may be the name of a workload that comes with the program.
pub(crate) fn find_workload(workload: &Path) -> PathBuf {
    if workload.is_absolute() || workload.starts_with(".") || workload.starts_with("..") || workload.is_file() {
        return workload.to_owned();
    }
    folders()
        .into_iter()
        .map(|folder| folder.join(workload))
        .find(|path| path.is_file())
        .unwrap_or_else(|| workload.to_owned())
}

fn folders() -> Vec<PathBuf> {
    if let Some(list) = env::var_os("LATTE_WORKLOAD_PATH") {
        return env::split_paths(&list).collect();
    }
    let next_to_program = env::current_exe()
        .ok()
        .and_then(|program| Some(program.parent()?.join("workloads")));
    [".local/share/latte/workloads", "/usr/share/latte/workloads"]
        .map(PathBuf::from)
        .into_iter()
        .chain(next_to_program)
        .collect()
}
