//! The orders of a table: index files joined with the expressions that their headers name.
//!
//! [`Index`] knows keys as bytes. Here the key and FOR expressions of its tags are compiled over a table's fields, so that
//! values are sought, each record's key is known, an index is checked against its records ([`TableIndex::verify`]) and made
//! anew from them ([`build_index`]).
//!
//! ```
//! use std::sync::Arc;
//! use tidemill_xbase::index::{Direction, End, KeyValue};
//! use tidemill_xbase::{KeySettings, OpenOptions, Table, TableIndex};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let orders = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/xbase/ord_cdx.dbf");
//! let table = Arc::new(Table::open(orders, &OpenOptions::new())?);
//! let index = TableIndex::production(&table, &KeySettings::new(table.codepage()))?.expect("an index beside it");
//! let by_number = index.order("T_ID").expect("an order of this name");
//! let mut cursor = by_number.order().cursor();
//! assert!(cursor.seek(&by_number.order().key(&KeyValue::Integer(250))?, End::First, false)?);
//! assert_eq!(cursor.recno(), Some(250));
//! assert_eq!(index.verify(&table)?, []);
//! # Ok(())
//! # }
//! ```
//!
//! What this module does not do: it changes no index in place, and takes no lock.

mod adi_keys;
mod build;
mod build_options;
mod check;
mod key_settings;
mod keys;
mod windows_order;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::beside::belonging;
use crate::error::{Error, Result};
use crate::header::Dialect;
use crate::index::{Index, IndexDialect, IndexOptions, Order, OrderSpec, Tag};
use crate::regular_file::stays_beside;
use crate::table::Table;

pub use adi_keys::{named_expression, numbered_expression};
pub(crate) use adi_keys::{numbered, numbered_fields, with_other_numbers};
pub(crate) use build::rebuild_index;
pub use build::{build_index, build_index_with};
pub use build_options::BuildOptions;
pub use key_settings::KeySettings;
pub(crate) use keys::MadeKey;
pub use keys::OrderKeys;

/// An index file with the keys of its orders.
#[derive(Debug)]
pub struct TableIndex {
    index: Index,
    orders: Vec<TableOrder>,
    words: Vec<TableOrder>,
}

/// An order of a table's records.
#[derive(Debug, Clone)]
pub struct TableOrder {
    order: Arc<Order>,
    keys: OrderKeys,
    pub(crate) seen: Seen,
}

/// Which state of an index file that is open for changes an order shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Seen {
    /// The number of the open file; 0 for one that is open for reading.
    pub(crate) file: u64,
    pub(crate) version: u64,
}

impl TableIndex {
    /// Opens the index file at `path` and compiles the expressions of its tags for the fields of `table`. A tag whose expressions do not
    /// compile is an order whose keys are not [known](OrderKeys::are_known): it is walked as it is stored, and keeps no other from being
    /// used.
    ///
    /// # Errors
    /// As [`Index::open`]; [`Error::Order`] for a tag whose header contradicts itself.
    pub fn open(path: impl AsRef<Path>, table: &Table, settings: &KeySettings) -> Result<Self> {
        let options = IndexOptions::new()
            .codepage(settings.environment.codepage)
            .access(table.options.access)
            .table_dialect(table.header().dialect);
        Self::of(Index::open(path, &options)?, table, settings)
    }

    /// Opens the production index of a table: the CDX of its name, or the MDX. `None` when there is none.
    ///
    /// # Errors
    /// As [`TableIndex::open`], and [`Error::Unsupported`] when the header says that there is one and no file is found.
    pub fn production(table: &Table, settings: &KeySettings) -> Result<Option<Self>> {
        match production_path(table)? {
            Some(path) => Self::open(path, table, settings).map(Some),
            None => Ok(None),
        }
    }

    /// Opens the index file at `path` with the orders whose keys are known, and says of each of the others why they are not: one
    /// expression that does not compile keeps no other order from being checked.
    ///
    /// # Errors
    /// As [`Index::open`].
    pub fn open_known(path: impl AsRef<Path>, table: &Table, settings: &KeySettings) -> Result<(Self, Vec<Error>)> {
        let options = IndexOptions::new()
            .codepage(settings.environment.codepage)
            .access(table.options.access)
            .table_dialect(table.header().dialect);
        let index = Index::open(path, &options)?;
        let (mut orders, mut unknown) = (Vec::new(), Vec::new());
        for tag in index.tags() {
            match Self::order_of(&index, tag, table, settings) {
                Ok(order) => orders.push(order),
                Err(e) => unknown.push(e),
            }
        }
        Ok((Self::parted(index, orders), unknown))
    }

    /// Joins an index that is open.
    ///
    /// # Errors
    /// As [`TableIndex::open`].
    pub fn of(index: Index, table: &Table, settings: &KeySettings) -> Result<Self> {
        let tags = index.tags().iter();
        let orders = tags.map(|tag| Self::any_order_of(&index, tag, table, settings));
        let orders = orders.collect::<Result<_>>()?;
        Ok(Self::parted(index, orders))
    }

    fn parted(index: Index, orders: Vec<TableOrder>) -> Self {
        let (words, orders) = orders.into_iter().partition(|order| order.keys.words().is_some());
        Self { index, orders, words }
    }

    fn order_of(index: &Index, tag: &Tag, table: &Table, settings: &KeySettings) -> Result<TableOrder> {
        let named = |e| Error::order(index.path(), &tag.name, e);
        let settings = settings.over(table);
        let keys = OrderKeys::of_tag(tag, index.dialect(), table.fields(), &settings).map_err(named)?;
        let order = keys.order(index, &tag.name, &settings).map_err(named)?;
        Ok(TableOrder::new(order, keys, Seen::default()))
    }

    fn any_order_of(index: &Index, tag: &Tag, table: &Table, settings: &KeySettings) -> Result<TableOrder> {
        let named = |e| Error::order(index.path(), &tag.name, e);
        let settings = settings.over(table);
        let keys = match index.dialect() {
            IndexDialect::Adi => OrderKeys::of_tag(tag, index.dialect(), table.fields(), &settings),
            dialect => OrderKeys::of_any_tag(tag, dialect, table, &settings, OrderKeys::of_tag),
        };
        let keys = keys.map_err(named)?;
        let order = keys.order(index, &tag.name, &settings).map_err(named)?;
        Ok(TableOrder::new(order, keys, Seen::default()))
    }

    /// The file.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// The orders of records, in that of [`Index::tags`].
    pub fn orders(&self) -> &[TableOrder] {
        &self.orders
    }

    /// The indexes of words, in the order of [`Index::tags`]: entries of a record are as many as it has words.
    pub fn word_orders(&self) -> &[TableOrder] {
        &self.words
    }

    /// The order of this name, in any case.
    pub fn order(&self, name: &str) -> Option<&TableOrder> {
        let has_name = |order: &&TableOrder| order.order.tag().name.eq_ignore_ascii_case(name);
        self.orders.iter().find(has_name)
    }
}

impl TableOrder {
    pub(crate) fn new(order: Arc<Order>, keys: OrderKeys, seen: Seen) -> Self {
        Self { order, keys, seen }
    }

    /// The order in the file.
    pub fn order(&self) -> &Arc<Order> {
        &self.order
    }

    /// What its keys are made of.
    pub fn keys(&self) -> &OrderKeys {
        &self.keys
    }
}

/// Refuses a candidate index of a table that has none.
///
/// # Errors
/// [`Error::Misuse`].
pub(crate) fn allow_candidate(order: &OrderSpec, table: &Table) -> Result<()> {
    let dialect = table.header().dialect;
    if order.is_candidate() && !dialect.has_candidate_indexes() && dialect != Dialect::Adt {
        let name = order.name();
        return Err(Error::Misuse(format!(
            "index tag {name}: {dialect} tables have no candidate indexes"
        )));
    }
    Ok(())
}

/// What the name of a table's production index ends in: `dcx` for a database container, `adi` for an ADT.
pub(crate) fn production_extension(table: &Path) -> &'static str {
    let is = |extension: &str| table.extension().is_some_and(|own| own.eq_ignore_ascii_case(extension));
    match (is("dbc"), is("adt")) {
        (true, _) => "dcx",
        (_, true) => "adi",
        _ => "cdx",
    }
}

/// The MDX beside a table of dBASE whose header says that it has a production index, where there is no CDX.
pub(crate) fn mdx_of(table: &Table) -> Option<PathBuf> {
    let has_other = || belonging(table.path(), &[production_extension(table.path())]).is_ok();
    if !table.header().production_index || has_other() {
        return None;
    }
    belonging(table.path(), &["mdx"]).ok()
}

/// Where the production index of a table is: the CDX of its name, in any case, or where there is none the MDX that the header of a
/// dBASE table tells of. `None` when there is none.
///
/// # Errors
/// [`Error::Unsupported`] when the header says that there is one and no file is found.
pub fn production_path(table: &Table) -> Result<Option<PathBuf>> {
    if let Some(mdx) = mdx_of(table) {
        stays_beside(&mdx, table.path())?;
        return Ok(Some(mdx));
    }
    match belonging(table.path(), &[production_extension(table.path())]) {
        Ok(path) => stays_beside(&path, table.path()).map(|()| Some(path)),
        Err(names) if table.header().production_index => Err(Error::Unsupported {
            path: table.path().to_owned(),
            what: format!(
                "the header names a production index, but there is no {names}; put it next to the table or rebuild it"
            ),
        }),
        Err(_) => Ok(None),
    }
}
