//! The library as it ships is small.

use std::fs;
use std::process::Command;

/// Bytes, without symbols.
const LIMIT: u64 = 12_000_000;

#[test]
fn the_library_that_ships_is_small() {
    let test = std::env::current_exe().expect("a test knows where it is");
    // `target/PROFILE/deps/size`.
    let target = test
        .ancestors()
        .nth(3)
        .expect("Cargo builds tests in a folder of their own");
    let build = Command::new(env!("CARGO"))
        .args([
            "build",
            "--profile",
            "libace",
            "--package",
            "tidemill-ace",
            "--target-dir",
        ])
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("Cargo runs");
    assert!(build.status.success(), "{}", String::from_utf8_lossy(&build.stderr));
    let library = target.join("libace/libace.so");
    let size = fs::metadata(&library).expect("Cargo made it").len();
    assert!(
        size <= LIMIT,
        "{}: {size} bytes, the limit is {LIMIT}",
        library.display()
    );
}
