//! The MDX of a dBASE table, which follows its changes or keeps it from being changed.

use std::path::Path;

use super::{OpenMode, SettingsOf, TableEditor};
use crate::error::{Error, Result};

impl TableEditor {
    /// Opens the MDX of a table. One that cannot be read is no obstacle to reading the table, and one to changing it.
    pub(super) fn open_mdx(&mut self, path: &Path, settings: &SettingsOf<'_>) -> Result<()> {
        match self.open_index_by(path, settings) {
            Err(_) if self.options.mode == OpenMode::ReadOnly => Ok(()),
            Err(e @ (Error::Corrupt(_) | Error::Order { .. } | Error::Unsupported { .. })) => {
                let cause = std::error::Error::source(&e).map(|cause| format!(": {cause}"));
                Err(self.left_behind(path, &format!(" ({e}{})", cause.unwrap_or_default())))
            }
            opened => opened,
        }
    }

    /// Refuses to change records while the MDX that the header tells of is not open, which would leave dBASE with orders of other
    /// records.
    ///
    /// # Errors
    /// [`Error::Unsupported`].
    pub(in crate::table_editor) fn followed_by_mdx(&self) -> Result<()> {
        match &self.mdx {
            Some(mdx) if !self.orders.files.iter().any(|file| file.index.path() == mdx) => {
                Err(self.left_behind(mdx, ""))
            }
            _ => Ok(()),
        }
    }

    fn left_behind(&self, mdx: &Path, why: &str) -> Error {
        let what = format!(
            "its orders are in {}, which would not follow changes{why}; move that file away to change the table without it, and make \
             its tags again in dBASE",
            mdx.display()
        );
        let path = self.path().to_owned();
        Error::Unsupported { path, what }
    }
}
