//! `libace.so`: the functions of the Advantage Client Engine, for programs that were written for it.

pub mod constants;
pub mod unavailable;
pub mod versions;
