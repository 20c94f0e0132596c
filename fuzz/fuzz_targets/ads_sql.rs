//! The text of ADS SQL: what parses is bound and run where there is no table.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tidemill_ads::sql::{Prepared, StatementOptions};
use tidemill_ads::{Connection, Settings};

/// A folder that goes away once the connection has it: statements reach expressions, scripts and `system.iota`, and no file is written.
static NOWHERE: LazyLock<std::path::PathBuf> =
    LazyLock::new(|| std::env::temp_dir().join(format!("tidemill-fuzz-nowhere-{}", std::process::id())));

fuzz_target!(|text: &str| {
    std::fs::create_dir(&*NOWHERE).expect("a folder");
    let mut connection = Connection::open(&*NOWHERE).expect("a connection");
    std::fs::remove_dir(&*NOWHERE).expect("an empty folder");
    let (settings, options) = (Settings::default(), StatementOptions::default());
    let mut tables = connection.tables(&settings, &options);
    // A loop that a script means to be long is not what is looked for.
    if text.to_ascii_uppercase().contains("WHILE") {
        let _ = tidemill_ads::sql::parse(text);
    } else if let Ok(prepared) = Prepared::new(text, &mut tables) {
        let _ = prepared.run(&mut tables, &[]);
    }
});
