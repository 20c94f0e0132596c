//! Where the library is that Cargo built.

use std::fs;
use std::path::PathBuf;

/// The newest `libace.so` beside this test: in `target/PROFILE/deps`, or in the folder above.
pub(crate) fn library() -> PathBuf {
    let program = std::env::current_exe().expect("a test knows where it is");
    let folders = program.ancestors().skip(1).take(2);
    let built = folders
        .map(|folder| folder.join("libace.so"))
        .filter(|path| path.exists());
    let newest = built.max_by_key(|path| fs::metadata(path).and_then(|about| about.modified()).ok());
    newest.expect("Cargo made libace.so beside the test")
}
