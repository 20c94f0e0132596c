//! `version`: which program it is, for people and for programs.

use std::io::Write;

use crate::args::VersionArgs;
use crate::error::Result;

/// Writes the version, by `--json` as `{"tidemill-bench":{"version":…}}`.
///
/// # Errors
/// When `out` refuses.
pub(super) fn version(args: VersionArgs, out: &mut dyn Write) -> Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    match args.json {
        true => writeln!(
            out,
            "{}",
            serde_json::json!({ "tidemill-bench": { "version": version } })
        )?,
        false => writeln!(out, "tidemill-bench {version}")?,
    }
    Ok(())
}
