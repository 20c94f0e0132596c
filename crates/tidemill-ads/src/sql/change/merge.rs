//! MERGE: for each row of a source, the records that it matches are updated, or one is inserted.
//!
//! Rows are taken one after the other, and each sees what those before it have changed. Grammar: "MERGE" in the help of the
//! Advantage SQL engine, version 9.

use std::collections::HashSet;

use super::picked::Picking;
use super::{Change, ChangeKind, all_of, assignments, open, over_view, qualifiers, rows_of};
use crate::Rights;
use crate::sql::analytical::direct_or_engine;
use crate::sql::bind::{Parameters, Scope};
use crate::sql::error::{Error, Kind, Result};
use crate::sql::evaluate::Session;
use crate::sql::expression::{Blank, Column, Expr};
use crate::sql::select::{Compiled, Query};
use crate::sql::statement::{Insert, Merge, Update};
use crate::sql::tables::Tables;
use crate::sql::value::{EMPTY_DATE, EMPTY_TIMESTAMP, Type, Value};

/// A MERGE, whose source's columns are parameters.
#[derive(Debug)]
pub(super) struct Merging {
    source: Option<Query>,
    /// The parameters that are columns of the source: their places among all, and the columns.
    from_source: Vec<(usize, usize)>,
    matched: Matched,
    /// The INSERT of a row that matches no record.
    insert: Option<Change>,
    /// Whether a record is updated by the first row alone that matches it.
    pub(super) is_once: bool,
    /// How the deletion mark of updated records changes.
    pub(super) deletion: Option<bool>,
}

/// Which records a row matches, and what becomes of them.
#[derive(Debug)]
enum Matched {
    Direct {
        on: Expr,
        update: Option<(Vec<usize>, Vec<Expr>)>,
    },
    /// With subqueries.
    Picked { picking: Picking, updates: bool },
}

impl Change {
    /// # Errors
    /// As [`Change::insert`], and [`Kind::NeedsAnalytical`] for subqueries, where the connection has no engine for them.
    pub(in crate::sql) fn merge(merge: &Merge, tables: &mut dyn Tables, parameters: &mut Parameters) -> Result<Self> {
        over_view(&merge.table, tables, |tables| {
            direct_or_engine(
                tables,
                parameters,
                |tables, parameters| Self::direct_merge(merge, tables, parameters),
                |tables, parameters| {
                    Self::merge_by(merge, tables, parameters, |_, tables, parameters| {
                        Matched::picked(merge, tables, parameters)
                    })
                },
            )
        })
    }

    pub(super) fn direct_merge(merge: &Merge, tables: &mut dyn Tables, parameters: &mut Parameters) -> Result<Self> {
        Self::merge_by(merge, tables, parameters, |fields, _, parameters| {
            Matched::direct(merge, fields, parameters)
        })
    }

    fn merge_by(
        merge: &Merge,
        tables: &mut dyn Tables,
        parameters: &mut Parameters,
        matched: impl FnOnce(&[Column], &mut dyn Tables, &mut Parameters) -> Result<Matched>,
    ) -> Result<Self> {
        let (structure, fields) = open(&merge.table, tables)?;
        let source = merge.source.as_ref().map(|(name, _)| {
            let select = all_of(name)?;
            Query::bind(&select, tables, parameters)
        });
        let source = source.transpose()?;
        let sourced = sourced(merge, source.as_ref(), &fields);
        let mut known = parameters.variables.clone();
        known.extend(sourced.iter().map(|(name, _)| name.clone()));
        let outer = std::mem::replace(&mut parameters.variables, known);
        let bound = matched(&fields, tables, parameters).and_then(|matched| {
            let insert = merge.insert.as_ref().map(|(columns, source)| {
                let insert = Insert {
                    table: merge.table.clone(),
                    columns: columns.clone(),
                    source: source.clone(),
                    is_deleted: false,
                };
                let mut insert = Self::insert(&insert, tables, parameters)?;
                insert.is_in_merge = true;
                Ok::<_, Error>(insert)
            });
            Ok((matched, insert.transpose()?))
        });
        parameters.variables = outer;
        let (matched, insert) = bound?;
        let named = parameters.names.iter().enumerate();
        let from_source = named.filter_map(|(place, name)| {
            let name = name.strip_prefix("@@")?;
            let (_, column) = sourced.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
            Some((place, *column))
        });
        let from_source = from_source.collect();
        Ok(Self {
            table: merge.table.clone(),
            structure,
            fields,
            is_in_merge: false,
            kind: ChangeKind::Merge(Box::new(Merging {
                source,
                from_source,
                matched,
                insert,
                is_once: false,
                deletion: None,
            })),
        })
    }

    pub(super) fn merge_rows(&self, merging: &Merging, tables: &mut dyn Tables, session: &Session<'_>) -> Result<u64> {
        let source = merging
            .source
            .as_ref()
            .map(|source| source.rows(tables, session))
            .transpose()?;
        let rows = match &source {
            None => vec![Vec::new()],
            Some(rows) => rows_of(rows)?,
        };
        let blanks = merging.source.as_ref().map(blanks).unwrap_or_default();
        let (mut changed, mut updated) = (0, HashSet::new());
        for row in rows {
            let mut parameters = session.parameters.to_vec();
            for (place, column) in &merging.from_source {
                if parameters.len() <= *place {
                    parameters.resize(place + 1, Value::Null);
                }
                if let (Some(slot), Some(value)) = (parameters.get_mut(*place), row.get(*column)) {
                    let blank = blanks.get(*column).filter(|_| value.is_null());
                    *slot = blank.unwrap_or(value).clone();
                }
            }
            let session = Session {
                parameters: &parameters,
                ..*session
            };
            let found = self.update_matched(merging, &mut updated, tables, &session)?;
            changed += match (found, &merging.insert) {
                (Some(updated), _) => updated,
                (None, Some(insert)) => insert.run_within(tables, &session)?,
                (None, None) => 0,
            };
        }
        Ok(changed)
    }

    /// Updates what a row matches, and returns how many records that are; `None` where there are none.
    fn update_matched(
        &self,
        merging: &Merging,
        updated: &mut HashSet<u32>,
        tables: &mut dyn Tables,
        session: &Session<'_>,
    ) -> Result<Option<u64>> {
        match &merging.matched {
            Matched::Direct { on, update } => {
                let (snapshot, mut records) = self.locked(Some(on), &Compiled::default(), tables, session)?;
                if records.is_empty() {
                    return Ok(None);
                }
                let Some((columns, values)) = update else {
                    return Ok(Some(0));
                };
                if merging.is_once {
                    records.retain(|record| updated.insert(*record));
                }
                let changes = self.values(&snapshot, &records, values, columns, session)?;
                let count = self.replace(&records, columns, &changes, merging.deletion, tables)?;
                Ok(Some(count))
            }
            Matched::Picked { picking, updates } => {
                let picked = self.locked_picks(picking, tables, session)?;
                match (picked.is_empty(), updates) {
                    (true, _) => Ok(None),
                    (false, false) => Ok(Some(0)),
                    (false, true) => self.write(picked.into_iter(), None, tables).map(Some),
                }
            }
        }
    }
}

impl Merging {
    /// Whether an engine picks the records.
    pub(super) fn is_picked(&self) -> bool {
        matches!(self.matched, Matched::Picked { .. })
    }

    /// What who runs it has to be allowed.
    pub(super) fn rights(&self) -> Rights {
        let updates = match &self.matched {
            Matched::Direct { update, .. } => update.as_ref().is_some_and(|(columns, _)| !columns.is_empty()),
            Matched::Picked { updates, .. } => *updates,
        };
        let rights = [
            (updates, Rights::UPDATE),
            (self.deletion.is_some(), Rights::DELETE),
            (self.insert.is_some(), Rights::INSERT),
        ];
        Rights::all_of(rights)
    }
}

impl Matched {
    fn direct(merge: &Merge, fields: &[Column], parameters: &mut Parameters) -> Result<Self> {
        let mut scope = Scope::new(fields, qualifiers(&merge.table, merge.alias.as_ref()), parameters);
        let on = scope.bind(&merge.on)?;
        let update = merge.update.as_ref();
        Ok(Self::Direct {
            on: scope.condition(on)?,
            update: update
                .map(|update| assignments(update, fields, &mut scope))
                .transpose()?,
        })
    }

    /// The records as those that an UPDATE picks.
    fn picked(merge: &Merge, tables: &mut dyn Tables, parameters: &mut Parameters) -> Result<Self> {
        let update = Update {
            table: merge.table.clone(),
            alias: merge.alias.clone(),
            assignments: merge.update.clone().unwrap_or_default(),
            from: None,
            selection: Some(merge.on.clone()),
            deletion: None,
        };
        match Change::picked_update(&update, tables, parameters)?.kind {
            ChangeKind::Picked(picking) => Ok(Self::Picked {
                picking: *picking,
                updates: merge.update.is_some(),
            }),
            _ => Err(Error::new(Kind::Engine, "an update that an engine picks is none")),
        }
    }
}

/// What NULL in the rows of a source stands for, column by column: a blank date of a field is a value, and only leaves as NULL.
fn blanks(source: &Query) -> Vec<Value> {
    let columns = source.columns().into_iter();
    let blank = |column: Column| match (column.blank, column.type_of) {
        (Blank::Null | Blank::Value, Type::Date) => Value::Date(EMPTY_DATE),
        (Blank::Null | Blank::Value, Type::Timestamp) => Value::Timestamp(EMPTY_TIMESTAMP),
        _ => Value::Null,
    };
    columns.map(blank).collect()
}

/// The names that stand for the columns of the source: with its own name before them, and alone where the table has no such
/// column.
fn sourced(merge: &Merge, source: Option<&Query>, fields: &[Column]) -> Vec<(String, usize)> {
    let (Some((name, alias)), Some(source)) = (&merge.source, source) else {
        return Vec::new();
    };
    let qualifier = alias.as_ref().map_or_else(|| name.last(), |alias| &alias.value);
    let mut names = Vec::new();
    for (place, column) in source.columns().into_iter().enumerate() {
        names.push((format!("{qualifier}.{}", column.name), place));
        if !fields.iter().any(|own| own.name.eq_ignore_ascii_case(&column.name)) {
            names.push((column.name, place));
        }
    }
    names
}
