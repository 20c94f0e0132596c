//! Libraries that Cargo makes for the tests.

use std::fs;
use std::path::PathBuf;

/// The newest library of this name that Cargo made: in `target/PROFILE/deps`, or in the folder above.
pub(crate) fn built(name: &str) -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let places = program.ancestors().skip(1).take(2).map(|folder| folder.join(name));
    let there = places.filter(|path| path.exists());
    let newest = there.max_by_key(|path| fs::metadata(path).and_then(|about| about.modified()).ok());
    newest.unwrap_or_else(|| panic!("Cargo made {name} beside the test"))
}
