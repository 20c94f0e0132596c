//! An index file made anew.

use std::path::Path;

use super::TableEditor;
use crate::error::Result;
use crate::index::{Index, IndexOptions};
use crate::orders::{KeySettings, rebuild_index};
use crate::table::Table;

impl TableEditor {
    /// Makes an index file of this table anew: the same orders, with the keys that the records have now. A custom order keeps
    /// those of its entries whose records are there.
    ///
    /// A file that is open stays open; one that has not followed the table can be made anew when the table is open without its
    /// production index ([`EditOptions::production_index`](super::EditOptions::production_index)).
    ///
    /// The new file takes the place of the old one when it is whole and on the disk; an error leaves that as it was. Deleted
    /// records that a candidate index has no entry of, as those whose appending was given up, have one afterwards, and more than
    /// one of them are an error, as in ADS; [`TableEditor::pack`] takes them away.
    ///
    /// # Errors
    /// [`Error::Misuse`](crate::Error::Misuse) unless the table is open exclusively; as [`Index::open`] when the headers of the
    /// old file cannot be read, since they alone know the expressions; and as [`build_index`](crate::build_index).
    pub fn reindex(&mut self, index: impl AsRef<Path>, settings: &KeySettings) -> Result<()> {
        self.alone("reindexing")?;
        self.committed("reindexing")?;
        let path = index.as_ref();
        let table = Table::open(self.path(), &self.options.open)?;
        let options = IndexOptions::new()
            .codepage(table.codepage())
            .table_dialect(table.header().dialect);
        let old = Index::open(path, &options)?;
        let was_open = self.close_index(path)?;
        let rebuilt = rebuild_index(&old, &table, settings, &self.options.build);
        if was_open {
            self.open_index(path)?;
        }
        rebuilt
    }
}
