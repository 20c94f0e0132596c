//! Orders made and dropped while the table is open.

use std::path::Path;

use super::OrderFile;
use crate::error::{Error, Result};
use crate::header::Dialect;
use crate::index::{IndexDialect, KeySorter, OrderSpec, Tag};
use crate::lock::LockKind;
use crate::orders::{OrderKeys, allow_candidate, build_index_with, production_extension, production_path};
use crate::regular_file;
use crate::table::Table;
use crate::table_editor::{OpenMode, TableEditor};

impl TableEditor {
    /// Adds an order to the production index, a CDX, MDX or ADI; where there is none, a CDX is made, or an ADI of an ADT. Type and length of the keys are those of its
    /// expression, and text is sorted as the settings of the other orders say.
    ///
    /// # Errors
    /// [`Error::Misuse`] when the table is open for reading only, or the production index is not open; [`Error::Locked`] when
    /// others hold records; [`Error::Order`] as for [`build_index`](crate::build_index); [`Error::Cancelled`]; [`Error::Io`].
    pub fn create_order(&mut self, order: &OrderSpec) -> Result<()> {
        self.with_all_records(|table| table.create_production_order(order))
    }

    fn create_production_order(&mut self, order: &OrderSpec) -> Result<()> {
        if let Ok(Some(path)) = production_path(&self.orders.table) {
            return self.create_order_in(path, order);
        }
        self.committed("making an order")?;
        // That of a link to a table belongs to the table.
        let real = regular_file::behind_link(self.path())?;
        let path = real.with_extension(production_extension(&real));
        let table = Table::open(self.path(), &self.options.open)?;
        let (orders, settings) = (std::slice::from_ref(order), &self.orders.settings);
        build_index_with(&path, &table, orders, settings, &self.options.build)?;
        self.set_production_flag(true)?;
        self.open_index(path)
    }

    /// Adds an order to an index file that is open: a CDX, MDX, NSX or ADI.
    ///
    /// # Errors
    /// As [`TableEditor::create_order`].
    pub fn create_order_in(&mut self, index: impl AsRef<Path>, order: &OrderSpec) -> Result<()> {
        let path = index.as_ref();
        self.with_all_records(|table| table.create_in_open(path, order, false))
    }

    /// As [`TableEditor::create_order_in`]; an order of the same name in the file gives way as soon as the keys of the new one
    /// are there, and until then it is left as it was.
    ///
    /// # Errors
    /// As [`TableEditor::create_order`].
    pub fn replace_order_in(&mut self, index: impl AsRef<Path>, order: &OrderSpec) -> Result<()> {
        let path = index.as_ref();
        self.with_all_records(|table| table.create_in_open(path, order, true))
    }

    fn create_in_open(&mut self, path: &Path, order: &OrderSpec, replaces: bool) -> Result<()> {
        self.committed("making an order")?;
        let Some(at) = self.orders.files.iter().position(|file| file.index.path() == path) else {
            return Err(self.misuse(&format!("{} is not open", path.display())));
        };
        let mut file = self.orders.files.remove(at);
        let locked = file.lock(LockKind::Exclusive, &self.options);
        let created = locked.and_then(|()| self.as_one(|table| table.create_in(&mut file, order, replaces)));
        let unlocked = file.unlock();
        self.orders.files.insert(at, file);
        created.and(unlocked).map_err(|e| Error::order(path, order.name(), e))
    }

    /// Does something while no other program changes a record. Locks of single records are given back for the time of it.
    fn with_all_records<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.writable()?;
        if self.options.mode == OpenMode::Exclusive || self.is_file_locked() {
            return work(self);
        }
        let records = self.locks.records();
        let locked = self.lock_file();
        let done = locked.and_then(|()| {
            self.refresh()?;
            work(self)
        });
        self.unlock_all()?;
        let again = self.lock_records(records);
        let done = done?;
        again.map(|()| done)
    }

    /// Takes an order out of its index file. The last order of a file takes the file with it.
    ///
    /// # Errors
    /// [`Error::Misuse`] when the table is open for reading only, and when no open file has the order; [`Error::Locked`] when
    /// others hold records; [`Error::Io`], [`Error::Corrupt`].
    pub fn drop_order(&mut self, name: &str) -> Result<()> {
        self.with_all_records(|table| table.drop_open(name))
    }

    fn drop_open(&mut self, name: &str) -> Result<()> {
        self.committed("dropping an order")?;
        let (at, _) = self.find_order(name)?;
        if at >= self.orders.files.len() {
            return Ok(());
        }
        let mut file = self.orders.files.remove(at);
        if file.index.tags().len() > 1 {
            let locked = file.lock(LockKind::Exclusive, &self.options);
            let dropped = locked.and_then(|()| {
                let order = file.place_of(name)?;
                self.as_one(|_| file.index.drop_order(order))?;
                file.keys.remove(order);
                Ok(())
            });
            let unlocked = file.unlock();
            self.orders.files.insert(at, file);
            return dropped.and(unlocked);
        }
        let path = file.index.path().to_owned();
        drop(file);
        std::fs::remove_file(&path).map_err(|e| Error::io(&path, "remove", e))?;
        let real = regular_file::behind_link(self.path())?;
        let is_of_table = [self.path(), &real]
            .iter()
            .any(|table| path.with_extension("") == table.with_extension(""));
        if self.mdx.as_ref() == Some(&path) {
            self.mdx = None;
            self.set_production_flag(false)?;
        } else if is_of_table && IndexDialect::from_path(&path) == Some(IndexDialect::Cdx) {
            self.set_production_flag(false)?;
        }
        Ok(())
    }

    fn create_in(&mut self, file: &mut OrderFile, order: &OrderSpec, replaces: bool) -> Result<()> {
        let table = self.table()?;
        allow_candidate(order, &table)?;
        let settings = &file.settings.clone();
        let dialect = file.index.dialect();
        let keys = OrderKeys::of_spec(order, dialect, &self.fields.visible, settings)?;
        keys.check_digits()?;
        let order = keys.of_order(order, settings);
        let sorter = KeySorter::new(&order, dialect, self.record_count())?;
        let mut sorter = self.options.build.apply(order.name(), sorter);
        if !order.is_custom() {
            keys.sort(&table, &mut sorter)?;
        }
        let is_old = |tag: &Tag| replaces && tag.name.eq_ignore_ascii_case(order.name());
        if let Some(old) = file.index.tags().iter().position(is_old) {
            file.index.check_new(&order, settings.environment.codepage, old)?;
            if order.is_candidate() {
                // Whether two records have one key is found out while the order is written, which is too late here.
                let mut other = KeySorter::new(&order, dialect, self.record_count())?;
                keys.sort(&table, &mut other)?;
                other.check()?;
            }
            file.index.drop_order(old)?;
            file.keys.remove(old);
            sorter = sorter.without_stop();
        }
        file.index
            .create_order(&order, sorter, self.record_count(), settings.environment.codepage)?;
        file.compile()?;
        file.prepare()
    }

    /// The header's word for a production index: bit 0 of byte 28 (FoxPro's table header, "table flags").
    fn set_production_flag(&mut self, is_there: bool) -> Result<()> {
        if matches!(self.header.dialect, Dialect::Dbase2 | Dialect::Adt) {
            return Ok(());
        }
        let mut flags = [0];
        self.file.read("table header", 28, &mut flags)?;
        flags[0] = if is_there { flags[0] | 1 } else { flags[0] & !1 };
        self.file.write(28, &flags)?;
        self.write_out()?;
        self.header.production_index = is_there;
        self.ranges = self.options.scheme.table(&self.header);
        Ok(())
    }
}
