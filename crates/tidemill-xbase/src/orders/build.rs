//! Index files made from a table's records.

use std::path::Path;

use crate::error::{Error, Result};
use crate::index::{CdxBuilder, IndexDialect, OrderSpec};
use crate::sibling::Sibling;
use crate::table::Table;

use super::{KeySettings, OrderKeys};

/// Makes the index file at `path` with these orders of a table's records, in place of the one that is there.
///
/// The types and lengths of keys are those of the orders' expressions, whatever the specifications say, and text is sorted in
/// the order of the settings. The file is written beside the old one, brought to the disk and renamed over it: an error leaves
/// the old one as it was. The caller sees to it that nobody changes the table meanwhile, and that no program has the old file
/// open: it would go on with that.
///
/// # Errors
/// [`Error::Order`] for an order whose expression does not compile, that its file cannot hold or that is there twice, and for
/// a value that no key can hold; [`Error::Misuse`] for an extension that names no format; as for reading the table; and
/// [`Error::Io`].
pub fn build_index(path: impl AsRef<Path>, table: &Table, orders: &[OrderSpec], settings: &KeySettings) -> Result<()> {
    let path = path.as_ref();
    let bytes = match IndexDialect::from_path(path) {
        Some(IndexDialect::Cdx) => cdx(path, table, orders, settings)?,
        Some(IndexDialect::Ntx | IndexDialect::Nsx) | None => {
            let why = format!("{}: an index that is made is called .cdx", path.display());
            return Err(Error::Misuse(why));
        }
    };
    let sibling = Sibling::create(path, table.path())?;
    let file = sibling.data_file();
    file.write(0, &bytes)?;
    file.sync()?;
    sibling.replace(path)?;
    Ok(())
}

fn cdx(path: &Path, table: &Table, orders: &[OrderSpec], settings: &KeySettings) -> Result<Vec<u8>> {
    let mut builder = CdxBuilder::new(table.record_count(), settings.environment.codepage);
    for order in orders {
        let mut add = || {
            let fields = table.fields();
            let (expression, condition) = (order.expression(), order.for_expression());
            let keys = OrderKeys::compile(expression, condition, IndexDialect::Cdx, fields, settings)?;
            let order = order
                .clone()
                .keys(keys.key_type(), keys.key_len())
                .collation(settings.collation.clone());
            builder.add(&order, keys.entries(table)?.iter())
        };
        add().map_err(|e| Error::order(path, order.name(), e))?;
    }
    builder.finish()
}
