//! The names and keys of a new table.
//!
//! Upper-case names, as those of xBase, become lower case: databases fold case in different ways, and users write lower case.

use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef};

use super::fitting::{column_of, unfit};
use super::{TableIndex, TableOptions};
use crate::Result;

/// The keys of a new table, in terms of its columns.
pub(crate) struct NewKeys {
    pub(crate) primary: Vec<String>,
    pub(crate) indexes: Vec<TableIndex>,
}

/// The requested keys, of columns of the rows.
pub(crate) fn keys(schema: &SchemaRef, making: &TableOptions, place: &str) -> Result<NewKeys> {
    let named = |name: &str, what: &str| {
        let found = column_of(schema, name);
        let found = found.ok_or_else(|| unfit(place, name, format!("the rows have no such column for {what}")))?;
        Ok(schema.field(found).name().clone())
    };
    let primary = making.primary_key.as_deref().unwrap_or_default().split(',');
    let primary = primary
        .map(|name| name.trim().trim_matches(['"', '`']))
        .filter(|name| !name.is_empty());
    let primary = primary.map(|name| named(name, "the primary key"));
    let indexes = making.indexes.iter().map(|index| {
        let columns = index.columns.iter().map(|name| named(name, "an index"));
        Ok(TableIndex {
            columns: columns.collect::<Result<_>>()?,
            is_unique: index.is_unique,
        })
    });
    Ok(NewKeys {
        primary: primary.collect::<Result<_>>()?,
        indexes: indexes.collect::<Result<_>>()?,
    })
}

/// A name in lower case, if it has no lower-case letters.
pub(crate) fn small(name: &str) -> String {
    match name.contains(char::is_lowercase) {
        true => name.to_owned(),
        false => name.to_lowercase(),
    }
}

/// The comment on a table or a column whose name was changed: the old name.
pub(crate) fn old_name(old: &str, name: &str) -> Option<String> {
    (old != name).then(|| old.to_owned())
}

/// Whether it is an AutoInc field of an xBase table.
pub(crate) fn counts(field: &Field) -> bool {
    field.metadata().contains_key("xbase.autoincrement")
}

/// The columns with lower-case names, except those that would collide.
pub(crate) fn small_names(schema: &SchemaRef) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| {
        let name = small(field.name());
        let mut others = schema.fields().iter().filter(|other| !Arc::ptr_eq(other, field));
        match others.any(|other| small(other.name()) == name) {
            true => Arc::clone(field),
            false => Arc::new(field.as_ref().clone().with_name(name)),
        }
    });
    Arc::new(Schema::new_with_metadata(
        fields.collect::<Vec<_>>(),
        schema.metadata().clone(),
    ))
}
