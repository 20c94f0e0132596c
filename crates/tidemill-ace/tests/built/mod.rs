//! Where the library is that Cargo built, and the one that ships.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

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

/// The library, built as it ships.
pub(crate) fn shipped() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let test = std::env::current_exe().expect("a test knows where it is");
        // `target/PROFILE/deps/shipped`.
        let target = test
            .ancestors()
            .nth(3)
            .expect("Cargo builds tests in a folder of their own");
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--profile", "libace", "--package", "tidemill-ace"]);
        build
            .arg("--target-dir")
            .arg(target)
            .current_dir(env!("CARGO_MANIFEST_DIR"));
        let output = build.output().expect("cargo runs");
        assert!(
            output.status.success(),
            "{build:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        target.join("libace/libace.so")
    })
}
