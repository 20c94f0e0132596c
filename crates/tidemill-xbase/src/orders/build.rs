//! Index files made from a table's records.

use std::path::Path;

use crate::error::{Error, Result};
use crate::index::{Direction, Index, IndexBuilder, IndexDialect, OrderSpec, Tag};
use crate::regular_file;
use crate::sibling::Sibling;
use crate::table::Table;

use super::{BuildOptions, KeySettings, OrderKeys, allow_candidate, mdx_of};

/// Makes the index file at `path` with these orders of a table's records, in place of the one that is there. Custom orders are
/// empty: their entries are the program's to add.
///
/// The types and lengths of keys are those of the orders' expressions, whatever the specifications say, and text is sorted in
/// the order of the settings. The file is written beside the old one, brought to the disk and renamed over it: an error leaves
/// the old one as it was. The caller sees to it that nobody changes the table meanwhile, and that no program has the old file
/// open: it would go on with that.
///
/// # Errors
/// [`Error::Order`] for an order whose expression does not compile, that its file cannot hold or that is there twice, and for
/// a value that no key can hold; [`Error::Misuse`] for an extension that names no format; as for reading the table;
/// [`Error::NotRegular`] for a symbolic link in the place of the file; [`Error::Io`].
pub fn build_index(path: impl AsRef<Path>, table: &Table, orders: &[OrderSpec], settings: &KeySettings) -> Result<()> {
    build_index_with(path, table, orders, settings, &BuildOptions::new())
}

/// [`build_index`] with a limit to its memory, and telling how far it is.
///
/// # Errors
/// As [`build_index`], and [`Error::Cancelled`].
pub fn build_index_with(
    path: impl AsRef<Path>,
    table: &Table,
    orders: &[OrderSpec],
    settings: &KeySettings,
    options: &BuildOptions,
) -> Result<()> {
    let path = path.as_ref();
    let dialect = IndexDialect::from_path(path).ok_or_else(|| {
        let why = "an index is called .cdx, .ntx, .nsx, .mdx, .ndx, .idx or .adi";
        Error::Misuse(format!("{}: {why}", path.display()))
    })?;
    Build {
        path,
        dialect,
        table,
        settings,
        options,
        old: None,
    }
    .run(orders)
}

/// Makes an index file anew from what its headers say.
pub(crate) fn rebuild_index(old: &Index, table: &Table, settings: &KeySettings, options: &BuildOptions) -> Result<()> {
    if let Some(distinct) = old.tags().iter().find(|tag| tag.is_distinct) {
        return Err(Error::Unsupported {
            path: old.path().to_owned(),
            what: format!("tag {} refuses repeated keys; rebuild it with dBASE 7", distinct.name),
        });
    }
    let orders: Vec<_> = old.tags().iter().map(OrderSpec::from).collect();
    Build {
        path: old.path(),
        dialect: old.dialect(),
        table,
        settings,
        options,
        old: Some(old),
    }
    .run(&orders)
}

struct Build<'a> {
    path: &'a Path,
    dialect: IndexDialect,
    table: &'a Table,
    settings: &'a KeySettings,
    options: &'a BuildOptions,
    /// The file that is made anew: it alone knows the entries of its custom orders.
    old: Option<&'a Index>,
}

impl Build<'_> {
    fn run(&self, orders: &[OrderSpec]) -> Result<()> {
        regular_file::is_none_or_regular(self.path)?;
        self.leaves_mdx()?;
        let bytes = self.bytes(orders)?;
        let sibling = Sibling::create(self.path, self.table.path())?;
        let file = sibling.data_file();
        file.write(0, &bytes)?;
        file.sync()?;
        sibling.replace()?;
        Ok(())
    }

    /// Refuses a CDX of the name of a table whose production index is an MDX: it would take its place, and the MDX would not follow
    /// changes any more.
    fn leaves_mdx(&self) -> Result<()> {
        match mdx_of(self.table) {
            Some(mdx) if self.dialect == IndexDialect::Cdx && self.path.file_stem() == mdx.file_stem() => {
                Err(Error::Unsupported {
                    path: self.table.path().to_owned(),
                    what: format!(
                        "{} would take the place of its production index {}; give the file another name",
                        self.path.display(),
                        mdx.display()
                    ),
                })
            }
            _ => Ok(()),
        }
    }

    fn bytes(&self, orders: &[OrderSpec]) -> Result<Vec<u8>> {
        let codepage = self.settings.environment.codepage;
        let record_count = self.table.record_count();
        let mut builder = match self.old {
            Some(old) => IndexBuilder::like(old, record_count, codepage)?,
            None => IndexBuilder::new(self.dialect, record_count, codepage),
        };
        for order in orders {
            self.add(&mut builder, order)
                .map_err(|e| Error::order(self.path, order.name(), e))?;
        }
        builder.finish()
    }

    fn add(&self, builder: &mut IndexBuilder, order: &OrderSpec) -> Result<()> {
        let (table, settings) = (self.table, &self.settings.over(self.table));
        allow_candidate(order, table)?;
        let tag = |old: &Index| old.tags().iter().find(|tag| tag.name == order.name()).cloned();
        let old: Option<(&Index, Tag)> = self.old.and_then(|old| Some((old, tag(old)?)));
        let keys = match &old {
            Some((_, tag)) => OrderKeys::of_tag(tag, self.dialect, table.fields(), settings)?,
            None => OrderKeys::of_spec(order, self.dialect, table.fields(), settings)?,
        };
        keys.check_digits()?;
        let order = keys.of_order(order, settings);
        let mut sorter = self.options.apply(order.name(), builder.keys(&order)?);
        match old {
            _ if !order.is_custom() => keys.sort(table, &mut sorter)?,
            None => {}
            Some((old, tag)) => {
                let order = old.order(&tag.name, keys.key_type(), &settings.collation)?;
                for entry in order.walk(Direction::Forward) {
                    let entry = entry?;
                    if (1..=table.record_count()).contains(&entry.recno()) {
                        sorter.push(entry.key(), entry.recno())?;
                    }
                }
            }
        }
        builder.add(&order, sorter)
    }
}
