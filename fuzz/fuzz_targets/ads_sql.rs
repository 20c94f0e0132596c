//! The text of ADS SQL: what parses is bound and run where there is no table.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tidemill_ads::sql::{FolderTables, Prepared};

/// A folder that is not there: statements reach expressions, scripts and `system.iota`, and no file is written.
static NOWHERE: LazyLock<std::path::PathBuf> = LazyLock::new(|| std::env::temp_dir().join("tidemill-fuzz-nowhere"));

fuzz_target!(|text: &str| {
    let mut tables = FolderTables::new(&*NOWHERE);
    // A loop that a script means to be long is not what is looked for.
    if text.to_ascii_uppercase().contains("WHILE") {
        let _ = tidemill_ads::sql::parse(text);
    } else if let Ok(prepared) = Prepared::new(text, &mut tables) {
        let _ = prepared.run(&mut tables, &[]);
    }
});
