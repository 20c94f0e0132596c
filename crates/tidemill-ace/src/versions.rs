//! The symbol version `ADS_ACE`, which programs that were linked with SAP's library ask for.
//!
//! `build.rs` writes the assembly and says why it is needed. It is nothing but a jump for each function.

#![cfg_attr(
    versioned_symbols,
    expect(unsafe_code, reason = "only the assembler gives symbols a version")
)]

// SAFETY: each symbol jumps to the function of its name, with the arguments and the stack as they are.
#[cfg(versioned_symbols)]
core::arch::global_asm!(include_str!(concat!(env!("OUT_DIR"), "/versions.s")));

/// Whether the symbols have the version, so that a program that was linked with SAP's library loads this one.
pub const PRESENT: bool = cfg!(versioned_symbols);
