//! One module a command.

pub(crate) mod cat;
pub(crate) mod copy;
pub(crate) mod inspect;
pub(crate) mod recover;
pub(crate) mod reindex;
pub(crate) mod salvage;
pub(crate) mod spooled;
pub(crate) mod sql;
pub(crate) mod verify;
