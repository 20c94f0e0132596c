//! What the commands that need no target do.

pub mod list;
pub mod show;
