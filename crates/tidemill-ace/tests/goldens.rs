//! Harbour's tables, orders and seeks through the functions of `libace.so`, called from Python.

mod built;

use std::path::Path;
use std::process::Command;

#[test]
fn tables_that_harbour_wrote_show_what_harbour_saw() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("python3")
        .arg(folder.join("tests/python/goldens.py"))
        .arg(built::library())
        .arg(folder.join("../../corpus/xbase"))
        .output()
        .expect("python3 runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}");
    let checks: u32 = said
        .lines()
        .last()
        .and_then(|line| line.split_once(" checks, 0 failures"))
        .and_then(|(checks, _)| checks.parse().ok())
        .unwrap_or_default();
    assert!(checks > 20_000, "{said}");
}
