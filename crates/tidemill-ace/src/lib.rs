//! `libace.so`: the functions of the Advantage Client Engine, for programs that were written for it.

pub mod constants;
pub mod unavailable;
mod versions;

/// Whether the library's symbols exist with the version `ADS_ACE` too, so that a program that was linked with SAP's library
/// loads this one.
pub const HAS_SYMBOL_VERSIONS: bool = cfg!(versioned_symbols);
