//! The driver in Go: by its driver manager and by `database/sql`.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod built;

use std::path::Path;

use built::built;
use tidemill_testkit::GoModule;

#[test]
fn go_reads_and_writes_by_the_driver_manager_and_by_database_sql() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("go");
    let Some(module) = GoModule::need(&folder) else { return };
    let library = built("libtidemill_adbc.so");
    let output = module.tests().env("TIDEMILL_DRIVER", library).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
}
