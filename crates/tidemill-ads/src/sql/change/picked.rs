//! Records that an analytical engine picks: UPDATE and DELETE with subqueries, and from several other tables.
//!
//! The engine is asked for the numbers of the records, with what their columns become. Then they are locked, and it is asked again,
//! for others may have written in between.

use std::collections::HashMap;

use sqlparser::ast::{self, Ident, SelectItem, SetExpr, TableFactor, TableWithJoins};

use super::from::{named, own_place};
use super::{Change, ChangeKind, NewValues, all_of, open, places, rows_of};
use crate::Rights;
use crate::sql::analytical::{RECORD_NUMBER, Template};
use crate::sql::bind::Parameters;
use crate::sql::error::Result;
use crate::sql::evaluate::Session;
use crate::sql::row_id;
use crate::sql::statement::{Delete, Select, TableName, Update};
use crate::sql::tables::Tables;
use crate::sql::value::Value;

/// Which records, and what becomes of them.
#[derive(Debug)]
pub(super) struct Picking {
    /// Its first column are the numbers of the records, the others the values of `columns`.
    template: Template,
    columns: Vec<usize>,
    /// How the deletion mark changes.
    deletion: Option<bool>,
}

/// Values by the numbers of their records.
type Picked = HashMap<u32, Vec<Value>>;

impl Change {
    /// # Errors
    /// As [`Change::insert`].
    pub(super) fn picked_update(update: &Update, tables: &mut dyn Tables, parameters: &mut Parameters) -> Result<Self> {
        let (_, fields) = open(&update.table, tables)?;
        let names: Vec<Ident> = update.assignments.iter().map(|(column, _)| column.clone()).collect();
        let columns = places(&names, &fields)?;
        let values = update.assignments.iter().map(|(_, value)| value.clone());
        let choice = Choice {
            table: &update.table,
            alias: update.alias.as_ref(),
            from: update.from.as_deref(),
            selection: update.selection.as_ref(),
        };
        Self::picked(&choice, columns, values.collect(), update.deletion, tables, parameters)
    }

    /// # Errors
    /// As [`Change::insert`].
    pub(super) fn picked_delete(delete: &Delete, tables: &mut dyn Tables, parameters: &mut Parameters) -> Result<Self> {
        let choice = Choice {
            table: &delete.table,
            alias: delete.alias.as_ref(),
            from: delete.from.as_deref(),
            selection: delete.selection.as_ref(),
        };
        Self::picked(&choice, Vec::new(), Vec::new(), Some(true), tables, parameters)
    }

    fn picked(
        choice: &Choice<'_>,
        columns: Vec<usize>,
        values: Vec<ast::Expr>,
        deletion: Option<bool>,
        tables: &mut dyn Tables,
        parameters: &mut Parameters,
    ) -> Result<Self> {
        let (structure, fields) = open(choice.table, tables)?;
        let picking = Picking {
            template: Template::bind(&choice.select(values)?, tables, parameters)?,
            columns,
            deletion,
        };
        Ok(Self {
            table: choice.table.clone(),
            structure,
            fields,
            is_in_merge: false,
            kind: ChangeKind::Picked(Box::new(picking)),
        })
    }

    pub(super) fn change_picked(
        &self,
        picking: &Picking,
        tables: &mut dyn Tables,
        session: &Session<'_>,
    ) -> Result<u64> {
        let picked = self.locked_picks(picking, tables, session)?;
        self.write(picked.into_iter(), picking.deletion, tables)
    }

    /// The records, locked, with what their columns become.
    pub(super) fn locked_picks(
        &self,
        picking: &Picking,
        tables: &mut dyn Tables,
        session: &Session<'_>,
    ) -> Result<Vec<(u32, NewValues)>> {
        // From here on the table is seen as it is written.
        tables.editor(&self.table)?;
        let before = picking.records(tables, session)?;
        tables
            .editor(&self.table)?
            .lock_records_or_file(before.keys().copied())?;
        tables.changed(&self.table);
        let snapshot = tables.snapshot(&self.table)?;
        self.structure.check(snapshot.structure(), &self.table)?;
        let mut picked: Vec<(u32, Vec<Value>)> = picking.records(tables, session)?.into_iter().collect();
        picked.retain(|(record, _)| before.contains_key(record));
        picked.sort_unstable_by_key(|(record, _)| *record);
        let fitted = picked.into_iter().map(|(record, values)| {
            let values = picking.columns.iter().zip(values);
            let values = values.map(|(column, value)| Ok((*column, self.fitted(*column, value)?)));
            Ok((record, values.collect::<Result<Vec<_>>>()?))
        });
        fitted.collect()
    }
}

impl Picking {
    /// What who runs it has to be allowed.
    pub(super) fn rights(&self) -> Rights {
        Rights::all_of([
            (!self.columns.is_empty(), Rights::UPDATE),
            (self.deletion.is_some(), Rights::DELETE),
        ])
    }

    /// The records, each with the values of the first row in which it is.
    fn records(&self, tables: &mut dyn Tables, session: &Session<'_>) -> Result<Picked> {
        let mut picked = Picked::new();
        for row in rows_of(&self.template.rows(tables, session)?)? {
            // A table on the outer side of a join has no record in some rows.
            let mut values = row.into_iter();
            let record = values.next().and_then(|row_id| match row_id {
                Value::Text(row_id) => row_id::parted(&row_id).map(|(_, record)| record),
                number => u32::try_from(number.to_i64()?).ok(),
            });
            if let Some(record) = record {
                picked.entry(record).or_insert_with(|| values.collect());
            }
        }
        Ok(picked)
    }
}

/// Columns of a query, each with a name of its own.
pub(super) fn named_items(values: impl IntoIterator<Item = ast::Expr>) -> Vec<SelectItem> {
    let named = |(place, expr)| SelectItem::ExprWithAlias {
        expr,
        alias: Ident::new(format!("V{place}")),
    };
    values.into_iter().enumerate().map(named).collect()
}

/// The clauses that choose records.
struct Choice<'c> {
    table: &'c TableName,
    alias: Option<&'c Ident>,
    from: Option<&'c [TableWithJoins]>,
    selection: Option<&'c ast::Expr>,
}

impl Choice<'_> {
    /// The query for the records' numbers, and for values behind them.
    fn select(&self, values: Vec<ast::Expr>) -> Result<Select> {
        let mut select = all_of(self.table)?;
        if let SetExpr::Select(only) = &mut *select.query.body {
            let own = self.own();
            let name = own.clone().or_else(|| self.alias.cloned()).unwrap_or_else(|| {
                let quote = '"';
                Ident::with_quote(quote, self.table.last())
            });
            let mut tables = self.from.map_or_else(Vec::new, <[_]>::to_vec);
            if own.is_none() {
                // The table itself stands first, under the name that the statement has for it.
                if let Some(TableFactor::Table { alias, .. }) = only.from.first_mut().map(|table| &mut table.relation) {
                    *alias = Some(ast::TableAlias {
                        explicit: true,
                        name: name.clone(),
                        columns: Vec::new(),
                        at: None,
                    });
                }
                tables.splice(0..0, only.from.drain(..));
            }
            let number = ast::Expr::CompoundIdentifier(vec![name, Ident::new(RECORD_NUMBER)]);
            only.projection = named_items(std::iter::once(number).chain(values));
            only.from = tables;
            only.selection = self.selection.cloned();
        }
        Ok(select)
    }

    /// The name that the table has among the others, where it is one of them.
    fn own(&self) -> Option<Ident> {
        let named = named(self.from?);
        let (name, alias) = named.get(own_place(self.table, self.alias, &named)?)?;
        Some(alias.clone().unwrap_or_else(|| Ident::with_quote('"', name.last())))
    }
}
