//! Constraints of the served tables: primary keys, and foreign keys, which are the relations of FoxPro containers.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{Int16Builder, ListBuilder};
use arrow_schema::SchemaRef;
use tidemill_sql::SourceRelation;

use super::super::super::functions::quote_name;
use super::super::ServedSchema;
use super::{IndexNumbers, Numbered, TO_CONSTRAINT, of_flags, of_lists, of_numbers, of_text, pairs, places, places_of};

/// A foreign key of a table: a relation of a FoxPro container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct ServedForeignKey {
    /// Its OID, which stays the same.
    oid: i32,
    name: String,
    /// Its columns, each with its position in the table, from 1.
    columns: Vec<(String, i16)>,
    /// The table that they refer to, compared without regard to case.
    parent: String,
    parent_columns: Vec<String>,
    cascades_updates: bool,
    cascades_deletes: bool,
}

impl ServedForeignKey {
    fn definition(&self, schema: &str) -> String {
        let names = |names: &mut dyn Iterator<Item = &String>| {
            let names: Vec<String> = names.map(|name| quote_name(name)).collect();
            names.join(", ")
        };
        // PostgreSQL omits a schema that is in the search path.
        let parent = match schema {
            "public" => quote_name(&self.parent),
            schema => format!("{}.{}", quote_name(schema), quote_name(&self.parent)),
        };
        let mut definition = format!(
            "FOREIGN KEY ({}) REFERENCES {parent}({})",
            names(&mut self.columns.iter().map(|(name, _)| name)),
            names(&mut self.parent_columns.iter())
        );
        for (does, what) in [(self.cascades_updates, "UPDATE"), (self.cascades_deletes, "DELETE")] {
            if does {
                definition += &format!(" ON {what} CASCADE");
            }
        }
        definition
    }
}

impl IndexNumbers {
    /// The foreign keys of a table.
    pub(in super::super) fn foreign_keys(
        &self,
        schema: &str,
        table: &str,
        columns: &SchemaRef,
        relations: &[SourceRelation],
    ) -> Vec<ServedForeignKey> {
        let mut found: Vec<ServedForeignKey> = Vec::new();
        for relation in relations {
            let Some(places) = places_of(&relation.columns, columns) else {
                continue;
            };
            let names: Vec<String> = places.iter().map(|(name, _)| name.to_lowercase()).collect();
            let stem = format!("{table}_{}_fkey", names.join("_"));
            let others = found.iter().filter(|key| key.name.starts_with(&stem)).count();
            let name = match others {
                0 => stem,
                others => format!("{stem}{others}"),
            };
            let parent = relation.parent.file_stem().unwrap_or_default();
            found.push(ServedForeignKey {
                oid: self.number(schema, &name),
                name,
                columns: places,
                parent: parent.to_string_lossy().into_owned(),
                parent_columns: relation.parent_columns.clone(),
                cascades_updates: relation.cascades_updates,
                cascades_deletes: relation.cascades_deletes,
            });
        }
        found
    }
}

/// The rows of `pg_constraint`.
pub(super) fn constraints(tables: &[Numbered]) -> Vec<(&'static str, ArrayRef)> {
    let primary = pairs(tables).filter(|(_, index)| index.is_primary);
    let primary = primary.map(|(table, index)| Constraint {
        oid: index.oid,
        name: &index.name,
        kind: "p",
        table,
        index: index.oid,
        columns: places(index),
        refers_to: None,
    });
    let all: Vec<Constraint<'_>> = primary.chain(foreign_keys(tables)).collect();
    let all = all.iter();
    let action = |does: fn(&ServedForeignKey) -> bool| {
        of_text(all.clone().map(|constraint| match &constraint.refers_to {
            None => " ",
            Some((_, _, key)) if does(key) => "c",
            Some(_) => "a",
        }))
    };
    vec![
        ("oid", of_numbers(all.clone().map(|one| one.oid + TO_CONSTRAINT))),
        ("conname", of_text(all.clone().map(|one| one.name))),
        ("connamespace", of_numbers(all.clone().map(|one| one.table.schema_oid))),
        ("contype", of_text(all.clone().map(|one| one.kind))),
        ("condeferrable", of_flags(all.clone().map(|_| false))),
        ("condeferred", of_flags(all.clone().map(|_| false))),
        ("convalidated", of_flags(all.clone().map(|_| true))),
        ("contypid", of_numbers(all.clone().map(|_| 0))),
        ("conparentid", of_numbers(all.clone().map(|_| 0))),
        ("conrelid", of_numbers(all.clone().map(|one| one.table.oid))),
        ("conindid", of_numbers(all.clone().map(|one| one.index))),
        (
            "confrelid",
            of_numbers(
                all.clone()
                    .map(|one| one.refers_to.as_ref().map_or(0, |(parent, ..)| *parent)),
            ),
        ),
        ("confupdtype", action(|key| key.cascades_updates)),
        ("confdeltype", action(|key| key.cascades_deletes)),
        (
            "confmatchtype",
            of_text(all.clone().map(|one| if one.refers_to.is_some() { "s" } else { " " })),
        ),
        ("conislocal", of_flags(all.clone().map(|_| true))),
        ("connoinherit", of_flags(all.clone().map(|_| true))),
        ("conkey", of_lists(all.clone().map(|one| one.columns.clone()))),
        (
            "confkey",
            of_optional_lists(all.map(|one| one.refers_to.as_ref().map(|(_, columns, _)| columns.clone()))),
        ),
    ]
}

/// A row of `pg_constraint`.
struct Constraint<'t> {
    oid: i32,
    name: &'t str,
    kind: &'static str,
    table: &'t Numbered,
    /// The index that enforces it; of a foreign key, the parent's index.
    index: i32,
    columns: Vec<i16>,
    /// The OID of the parent, and the positions of its columns.
    refers_to: Option<(i32, Vec<i16>, &'t ServedForeignKey)>,
}

/// The foreign keys between tables of one schema.
fn foreign_keys(tables: &[Numbered]) -> impl Iterator<Item = Constraint<'_>> {
    tables.iter().flat_map(move |table| {
        table.table.foreign_keys.iter().filter_map(move |key| {
            let mut others = tables.iter();
            let parent = others.find(|other| {
                other.schema_oid == table.schema_oid && other.table.name.eq_ignore_ascii_case(&key.parent)
            })?;
            let columns: Vec<i16> = places_of(&key.parent_columns, &parent.table.columns)?
                .into_iter()
                .map(|(_, place)| place)
                .collect();
            let mut indexes = parent.table.indexes.iter();
            let index = indexes.find(|index| index.is_unique && places(index) == columns)?;
            Some(Constraint {
                oid: key.oid,
                name: &key.name,
                kind: "f",
                table,
                index: index.oid,
                columns: key.columns.iter().map(|(_, place)| *place).collect(),
                refers_to: Some((parent.oid, columns, key)),
            })
        })
    })
}

/// The tables that have foreign keys, and the tables that these refer to.
pub(super) fn related(tables: &[Numbered]) -> HashSet<i32> {
    let keys = foreign_keys(tables);
    keys.flat_map(|key| [Some(key.table.oid), key.refers_to.map(|(parent, ..)| parent)])
        .flatten()
        .collect()
}

fn of_optional_lists(values: impl Iterator<Item = Option<Vec<i16>>>) -> ArrayRef {
    let mut lists = ListBuilder::new(Int16Builder::new());
    for list in values {
        lists.append_option(list.map(|list| list.into_iter().map(Some)));
    }
    Arc::new(lists.finish())
}

/// The definition of the foreign key with an OID.
pub(super) fn find_foreign_key(served: &[Arc<ServedSchema>], oid: Option<i32>) -> Option<String> {
    let oid = oid?.checked_sub(TO_CONSTRAINT)?;
    served.iter().find_map(|schema| {
        schema.all().iter().find_map(|table| {
            let key = table.foreign_keys.iter().find(|key| key.oid == oid)?;
            Some(key.definition(&schema.name))
        })
    })
}
