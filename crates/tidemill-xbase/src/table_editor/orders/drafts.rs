//! Orders that are made anew in a draft, beside the table that takes the place of the old one with them.

use std::path::Path;
use std::sync::Arc;

use super::{OrderFile, lies_in};
use crate::draft::{Draft, DraftFile};
use crate::error::Result;
use crate::field::Field;
use crate::orders::{BuildOptions, OrderKeys};
use crate::table::Table;
use crate::table_editor::TableEditor;
use crate::table_editor::files::data_file;

impl TableEditor {
    /// Writes the orders of the open index files of a folder anew into a draft, with the keys of the records of `table`.
    pub(in crate::table_editor) fn draft_orders(
        &self,
        table: &Table,
        folder: &Path,
        draft: &Draft,
    ) -> Result<Vec<DraftFile>> {
        let drafted = self
            .index_files_in(folder)
            .map(|file| file.drafted(&file.keys, table, &self.options.build, draft));
        drafted.collect()
    }

    /// As [`TableEditor::draft_orders`], for a table of other fields, with the keys over these.
    pub(in crate::table_editor) fn draft_orders_over(
        &self,
        fields: &[Field],
        table: &Table,
        folder: &Path,
        draft: &Draft,
    ) -> Result<Vec<DraftFile>> {
        let drafted = self
            .index_files_in(folder)
            .map(|file| file.drafted(&file.keys_over(fields)?, table, &self.options.build, draft));
        drafted.collect()
    }

    fn index_files_in(&self, folder: &Path) -> impl Iterator<Item = &OrderFile> {
        let files = self.orders.files.iter();
        files.filter(move |file| lies_in(file.index.path(), folder))
    }

    /// Goes on with the index files that [`TableEditor::draft_orders`] has made, which have taken the places of the old ones.
    pub(in crate::table_editor) fn move_orders(&mut self, folder: &Path, new: &[DraftFile]) -> Result<()> {
        let (options, table) = (&self.options, Arc::clone(&self.orders.table));
        let files = self
            .orders
            .files
            .iter_mut()
            .filter(|file| lies_in(file.index.path(), folder));
        for (file, new) in files.zip(new) {
            let data = data_file(file.index.path(), new.handle(), options)?;
            file.index.move_to(Arc::new(data))?;
            file.table = Arc::clone(&table);
            file.prepare()?;
        }
        Ok(())
    }

    /// Goes on with a table whose fields have the names of its container.
    pub(in crate::table_editor) fn know_container(&mut self, table: Table) {
        self.orders.table = Arc::new(table);
        for file in &mut self.orders.files {
            file.table = Arc::clone(&self.orders.table);
        }
    }

    /// Goes on over the fields that the table has now, with the index files of a folder that [`TableEditor::draft_orders_over`] has
    /// made, and makes the others anew.
    pub(in crate::table_editor) fn remake_orders(&mut self, folder: &Path, new: &[DraftFile]) -> Result<()> {
        self.orders.table = Arc::new(self.table()?);
        for file in &mut self.orders.files {
            file.keys = file.keys_over(&self.fields.visible)?;
            file.table = Arc::clone(&self.orders.table);
        }
        self.move_orders(folder, new)?;
        self.rebuild_orders_but(Some(folder))
    }
}

impl OrderFile {
    /// The file anew in a draft, as of [`OrderFile::rebuilt`].
    fn drafted(&self, keys: &[OrderKeys], table: &Table, options: &BuildOptions, draft: &Draft) -> Result<DraftFile> {
        let bytes = self.rebuilt(keys, table, options)?;
        let new = draft.file(self.index.path())?;
        new.data().write(0, &bytes)?;
        new.data().sync()?;
        Ok(new)
    }
}
