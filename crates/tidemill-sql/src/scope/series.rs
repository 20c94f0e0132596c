//! `generate_series(1, 3) AS n` has a column `n`, as in PostgreSQL. Without an alias, or if the statement
//! uses that name, the column is `value`.

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, Ident, Statement, TableAliasColumnDef, TableFactor, VisitorMut};
use tidemill_ads::sql::walk;

/// The engine's table functions with one column.
const SERIES: [&str; 2] = ["generate_series", "range"];

/// The engine's name for that column.
pub(super) const VALUE: &str = "value";

/// Names the column of a series after its table.
pub(super) fn name_columns(statement: &mut Statement) {
    let says_value = walk::expressions(statement, &mut |expr| {
        let name = match expr {
            Expr::Identifier(name) => Some(name),
            Expr::CompoundIdentifier(names) => names.last(),
            _ => None,
        };
        match name.is_some_and(|name| name.value.eq_ignore_ascii_case(VALUE)) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    if says_value.is_continue() {
        let _ = walk::change(statement, &mut Naming);
    }
}

struct Naming;

impl VisitorMut for Naming {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table {
            name,
            alias: Some(alias),
            args: Some(_),
            ..
        } = factor
            && alias.columns.is_empty()
            && SERIES
                .iter()
                .any(|series| super::text(name).eq_ignore_ascii_case(series))
        {
            let name = Ident::clone(&alias.name);
            alias.columns.push(TableAliasColumnDef { name, data_type: None });
        }
        ControlFlow::Continue(())
    }
}
