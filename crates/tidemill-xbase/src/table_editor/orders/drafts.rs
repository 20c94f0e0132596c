//! Orders that are made anew in a draft, beside the table that takes the place of the old one with them.

use std::path::Path;
use std::sync::Arc;

use super::OrderFile;
use crate::draft::{Draft, DraftFile};
use crate::error::{Error, Result};
use crate::field::Field;
use crate::index::{IndexDialect, OrderSpec, Tag};
use crate::orders::{BuildOptions, KeySettings, OrderKeys, with_other_numbers};
use crate::own_name::folder_of;
use crate::table::Table;
use crate::table_editor::TableEditor;
use crate::table_editor::files::data_file;

/// The names of the fields that a table has, and what their numbers become, from 1; `None` for one that is dropped.
#[derive(Debug, Clone)]
pub(in crate::table_editor) struct Renumbered(pub(in crate::table_editor) Arc<[(String, Option<usize>)]>);

impl Renumbered {
    /// The keys of a tag over other fields.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a tag that names a field which is dropped; as [`OrderKeys::compile`].
    fn keys(&self, tag: &Tag, fields: &[Field], settings: &KeySettings) -> Result<OrderKeys> {
        let expression = self.renumber(&tag.expression)?;
        let condition = tag.condition.as_deref().map(|text| self.renumber(text)).transpose()?;
        if let Some(options) = &tag.full_text {
            return OrderKeys::of_words(&expression, options, IndexDialect::Adi, fields, settings);
        }
        OrderKeys::compile_numbered(expression, condition, fields, settings)
    }

    fn renumber(&self, text: &str) -> Result<String> {
        let mut dropped = None;
        let renumbered = with_other_numbers(text, |number| {
            let (name, new) = number.checked_sub(1).and_then(|at| self.0.get(at))?;
            if new.is_none() {
                dropped = Some(name);
            }
            *new
        });
        match dropped {
            None => Ok(renumbered),
            Some(name) => Err(Error::Misuse(format!(
                "its expression names field {name}, which is dropped; drop the index tag first"
            ))),
        }
    }
}

impl TableEditor {
    /// Makes the orders of all open index files anew in their files, after records got other numbers. Custom orders are
    /// empty then, as in Harbour.
    pub(in crate::table_editor) fn rebuild_orders(&mut self) -> Result<()> {
        self.rebuild_orders_but(None)
    }

    /// As [`TableEditor::rebuild_orders`], but for the index files of one folder.
    pub(in crate::table_editor) fn rebuild_orders_but(&mut self, folder: Option<&Path>) -> Result<()> {
        let is_meant = |file: &OrderFile| folder.is_none_or(|folder| !lies_in(file.index.path(), folder));
        let mut files = std::mem::take(&mut self.orders.files);
        let rebuilt = self.as_one(|editor| {
            let table = editor.table()?;
            // Records have other numbers already, so that it is too late to stop.
            let options = editor.options.build.without_stop();
            files.iter_mut().filter(|file| is_meant(file)).try_for_each(|file| {
                file.index.replace_by(&file.rebuilt(&file.keys, &table, &options)?)?;
                file.prepare()
            })
        });
        self.orders.files = files;
        rebuilt
    }

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

    /// Gives fields other numbers in the expressions of ADI files, or ends it.
    pub(in crate::table_editor) fn renumber_orders(&mut self, numbers: Option<&Renumbered>) {
        for file in &mut self.orders.files {
            file.renumbered = numbers.filter(|_| file.index.dialect() == IndexDialect::Adi).cloned();
        }
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
    /// The file anew, with these keys of the records of `table`. Custom orders are empty.
    fn rebuilt(&self, keys: &[OrderKeys], table: &Table, options: &BuildOptions) -> Result<Vec<u8>> {
        let codepage = self.settings.environment.codepage;
        let mut builder = self.index.builder(table.record_count(), codepage)?;
        for (tag, keys) in self.index.tags().iter().zip(keys) {
            let order = keys.of_order(&OrderSpec::from(tag), &self.settings);
            let sorter = builder
                .keys(&order)
                .map_err(|e| Error::order(self.index.path(), &tag.name, e))?;
            let mut sorter = options.apply(&tag.name, sorter);
            if !tag.is_custom {
                keys.sort(table, &mut sorter)?;
            }
            builder.add(&order, sorter)?;
        }
        builder.finish()
    }

    /// The keys of new orders with the expressions of the tags.
    ///
    /// # Errors
    /// [`Error::Order`] for an expression that does not compile over these fields.
    pub(super) fn keys_over(&self, fields: &[Field]) -> Result<Vec<OrderKeys>> {
        let dialect = self.index.dialect();
        let keys = self.index.tags().iter().map(|tag| {
            let keys = match &self.renumbered {
                Some(numbers) => numbers.keys(tag, fields, &self.settings),
                None if tag.full_text.is_some() => OrderKeys::of_tag(tag, dialect, fields, &self.settings),
                None if dialect == IndexDialect::Adi => {
                    let (expression, condition) = (tag.expression.clone(), tag.condition.clone());
                    OrderKeys::compile_numbered(expression, condition, fields, &self.settings)
                }
                None => {
                    let condition = tag.condition.as_deref();
                    let keys = OrderKeys::compile(&tag.expression, condition, dialect, fields, &self.settings);
                    keys.map(|keys| keys.made_by(&self.settings, tag.is_candidate, dialect, fields))
                }
            };
            keys.map_err(|e| Error::order(self.index.path(), &tag.name, e))
        });
        keys.collect()
    }

    /// The file anew in a draft, as of [`OrderFile::rebuilt`].
    fn drafted(&self, keys: &[OrderKeys], table: &Table, options: &BuildOptions, draft: &Draft) -> Result<DraftFile> {
        let bytes = self.rebuilt(keys, table, options)?;
        let new = draft.file(self.index.path())?;
        new.data().write(0, &bytes)?;
        new.data().sync()?;
        Ok(new)
    }
}

/// Whether a file is in a folder without links.
fn lies_in(file: &Path, folder: &Path) -> bool {
    std::fs::canonicalize(folder_of(file)).is_ok_and(|own| own == folder)
}
