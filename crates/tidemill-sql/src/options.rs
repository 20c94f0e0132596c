//! The settings of a session.

use std::path::PathBuf;

use tidemill_xbase::{Blank, CodePage, Deleted};

use crate::names::Names;

/// The settings of a [`Session`](crate::Session).
#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    pub(crate) names: Names,
    xbase: tidemill_xbase::OpenOptions,
    deleted: Deleted,
    recover: bool,
    pub(crate) threads: Option<usize>,
}

impl SessionOptions {
    /// The folder whose tables may be named without path and extension. Default: the current folder.
    #[must_use]
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.names.set_dir(dir);
        self
    }

    /// Gives the table at `place` a name of its own.
    #[must_use]
    pub fn attach(mut self, name: impl Into<String>, place: impl Into<String>) -> Self {
        self.names.attach(name, place);
        self
    }

    /// Maps a Windows drive letter to a folder.
    #[must_use]
    pub fn drive(mut self, letter: char, folder: impl Into<PathBuf>) -> Self {
        self.names.map_drive(letter, folder);
        self
    }

    /// The code page of xBase tables, over what they say themselves. Default: what they say.
    #[must_use]
    pub fn codepage(mut self, codepage: CodePage) -> Self {
        self.xbase = self.xbase.codepage(codepage);
        self
    }

    /// What a blank number or logical of an xBase table is. Default: null.
    #[must_use]
    pub fn blank(mut self, blank: Blank) -> Self {
        self.xbase = self.xbase.blank(blank);
        self
    }

    /// Which records of xBase tables are rows. Default: those that are not marked as deleted.
    #[must_use]
    pub fn deleted(mut self, deleted: Deleted) -> Self {
        self.deleted = deleted;
        self
    }

    /// Whether to go on behind damage, leaving out what can't be read. Default: no, damage is an error.
    #[must_use]
    pub fn recover(mut self, recover: bool) -> Self {
        self.recover = recover;
        self.xbase = self.xbase.recover(recover);
        self
    }

    /// How many threads a statement may use. Default: as many as there are processors.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    pub(crate) fn xbase_options(&self) -> &tidemill_xbase::OpenOptions {
        &self.xbase
    }

    pub(crate) fn deleted_records(&self) -> Deleted {
        self.deleted
    }

    pub(crate) fn recovers(&self) -> bool {
        self.recover
    }
}
