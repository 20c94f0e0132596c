//! What the commands that need no target do.

pub mod export;
pub mod hdr;
pub mod list;
pub mod plot;
pub mod show;
