//! The relations of an xBase table to others, as foreign keys of its copy in a database.
//!
//! They are the persistent relationships of a Visual FoxPro container. Each connects two index tags. If the keys of both are columns, and
//! those of the parent are unique, a foreign key of these columns is equivalent. Visual FoxPro enforces a relation by triggers, and only on
//! request; a foreign key is always enforced.

use std::path::PathBuf;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tidemill_xbase::index::{Index, IndexOptions};
use tidemill_xbase::{Container, ContainerLink, ContainerRelation, IntegrityRule, OpenOptions, Table, production_path};

use super::keys::columns_of;
use crate::format::Format;
use crate::stores::server::{ForeignKey, Relating, ServerUrl};
use crate::{Location, Place, Result, Session};

/// A relation of a table to its parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRelation {
    /// The columns of the table itself.
    pub columns: Vec<String>,
    /// The file of the parent.
    pub parent: PathBuf,
    /// The columns of the parent, which form a unique key.
    pub parent_columns: Vec<String>,
    /// Whether a change of the parent's key is applied here too.
    pub cascades_updates: bool,
    /// Whether records are deleted with their parent.
    pub cascades_deletes: bool,
}

impl SourceRelation {
    /// The foreign key in a database, in which the parent has this name.
    pub fn foreign_key(self, parent: String) -> ForeignKey {
        ForeignKey {
            columns: self.columns,
            parent,
            parent_columns: self.parent_columns,
            cascades_updates: self.cascades_updates,
            cascades_deletes: self.cascades_deletes,
        }
    }
}

/// The relations of a table to others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceRelations {
    /// Those that can be foreign keys.
    pub relations: Vec<SourceRelation>,
    /// Those that cannot: each with the parent and the reason.
    pub left_out: Vec<String>,
}

fn relation_of(
    relation: &ContainerRelation,
    table: &Table,
    index: &Index,
    container: &Container,
    options: &OpenOptions,
) -> std::result::Result<SourceRelation, String> {
    let columns = columns_of_tag(table, index, &relation.tag, false)?;
    let parent = container
        .file_of(&relation.parent)
        .ok_or("its table is not in the folder of the container")?;
    let parent_columns = || -> Result<_> {
        let table = Table::open(&parent, options)?;
        let Some(index) = production_path(&table)? else {
            return Ok(Err("its table has no index file".to_owned()));
        };
        let index = open_index(&table, index)?;
        Ok(columns_of_tag(&table, &index, &relation.parent_tag, true))
    };
    let parent_columns = parent_columns().map_err(|error| error.to_string())??;
    if columns.len() != parent_columns.len() {
        return Err(format!(
            "{} of its columns for {} here",
            parent_columns.len(),
            columns.len()
        ));
    }
    Ok(SourceRelation {
        columns,
        parent,
        parent_columns,
        cascades_updates: relation.on_update == Some(IntegrityRule::Cascade),
        cascades_deletes: relation.on_delete == Some(IntegrityRule::Cascade),
    })
}

fn columns_of_tag(
    table: &Table,
    index: &Index,
    name: &str,
    is_parent: bool,
) -> std::result::Result<Vec<String>, String> {
    let mut tags = index.tags().iter();
    let tag = tags
        .find(|tag| tag.name.eq_ignore_ascii_case(name))
        .ok_or_else(|| format!("there is no index tag {name}"))?;
    if is_parent && !tag.is_candidate {
        return Err(format!("the keys of its index tag {name} are not unique"));
    }
    columns_of(tag, table).ok_or_else(|| format!("the keys of index tag {name} are not columns"))
}

/// The production index of a table.
pub(super) fn open_index(table: &Table, path: PathBuf) -> Result<Index> {
    let options = IndexOptions::new()
        .codepage(table.codepage())
        .table_dialect(table.header().dialect);
    Ok(Index::open(path, &options)?)
}

impl Session {
    /// The relations of a table in its Visual FoxPro container. Other tables have none.
    ///
    /// # Errors
    ///
    /// As opening the table and its index.
    pub fn relations_of(&self, source: &Location) -> Result<SourceRelations> {
        let mut found = SourceRelations::default();
        let Some(path) = source.file().ok().filter(|_| source.format == Format::Xbase) else {
            return Ok(found);
        };
        let options = self.options.xbase_options();
        let table = Table::open(path, options)?;
        let ContainerLink::Used { container, .. } = table.container() else {
            return Ok(found);
        };
        let known = table.container().table().map_or(&[][..], |known| &known.relations);
        let Some(index) = production_path(&table)?.filter(|_| !known.is_empty()) else {
            return Ok(found);
        };
        let index = open_index(&table, index)?;
        for relation in known {
            match relation_of(relation, &table, &index, container, options) {
                Ok(relation) if found.relations.contains(&relation) => {}
                Ok(relation) => found.relations.push(relation),
                Err(why) => found.left_out.push(format!("{} ({why})", relation.parent)),
            }
        }
        Ok(found)
    }

    /// Adds a foreign key to a filled table of a database. Returns how many rows have no parent, if the database creates the key in spite
    /// of them.
    ///
    /// # Errors
    ///
    /// Errors of the database: rows without a parent, columns of different types.
    pub fn make_foreign_key<'a>(&'a self, table: &'a Location, key: &'a ForeignKey) -> BoxFuture<'a, Result<u64>> {
        async move {
            match self.relating(table)? {
                Some((url, relating)) => relating.make_foreign_key(url, &url.beside(&key.parent), key).await,
                None => Ok(0),
            }
        }
        .boxed()
    }

    /// Drops the foreign keys between tables of one database that are about to be replaced: a referenced table cannot be replaced.
    ///
    /// # Errors
    ///
    /// Errors of the database.
    pub fn drop_foreign_keys<'a>(&'a self, tables: &'a [Location]) -> BoxFuture<'a, Result<()>> {
        async move {
            let first = tables.first().map(|table| self.relating(table));
            let Some((_, relating)) = first.transpose()?.flatten() else {
                return Ok(());
            };
            let urls = tables.iter().filter_map(|table| match &table.place {
                Place::Server(url) => Some(url.clone()),
                _ => None,
            });
            relating.drop_foreign_keys(&urls.collect::<Vec<_>>()).await
        }
        .boxed()
    }

    /// Whether the database of a table supports foreign keys.
    ///
    /// # Errors
    ///
    /// A kind of server that this build does not have.
    pub fn has_foreign_keys(&self, table: &Location) -> Result<bool> {
        Ok(self.relating(table)?.is_some())
    }

    fn relating<'a>(&'a self, table: &'a Location) -> Result<Option<(&'a ServerUrl, &'a dyn Relating)>> {
        match &table.place {
            Place::Server(url) => Ok(self.servers.of(url)?.relating().map(|relating| (url, relating))),
            _ => Ok(None),
        }
    }
}
