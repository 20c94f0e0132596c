//! The names of collations that programs ask for.

use crate::error::{Error, ErrorCode, Result};

/// Takes the name of a collation that is asked for: none, or that of Visual FoxPro's order of bytes (`MACHINE`, and
/// `MACHINE_VFP_BIN_` with a code page).
///
/// # Errors
/// [`ErrorCode::UnsupportedCollation`] for every other.
pub fn by_bytes(name: Option<&str>) -> Result<()> {
    let name = name.unwrap_or_default().trim();
    let upper = name.to_ascii_uppercase();
    let is_machine = upper == "MACHINE" || upper.starts_with("MACHINE_VFP_BIN_");
    match name.is_empty() || is_machine {
        true => Ok(()),
        false => Err(Error::new(
            ErrorCode::UnsupportedCollation,
            format!("{name}: text is sorted by its bytes, or by the alphabet that an index already has"),
        )),
    }
}
