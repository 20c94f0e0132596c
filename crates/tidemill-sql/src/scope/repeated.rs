//! Duplicate columns of a query: `SELECT a, a FROM t`, `SELECT *, b + 1 AS b FROM t`.
//!
//! The planner requires unique column names. So all but the first are planned under unique names, and the answer has the requested names.

use std::collections::HashSet;

use sqlparser::ast::{Expr, Ident, Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, Statement};

use super::{Binder, Scope, WithQuery, quoted, same_but_for_case, text, using_columns};

/// The identity of a column in the planner: its name and, without an alias, its table.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Column {
    table: Option<String>,
    name: String,
}

/// The name of a column in the plan, and its name in the statement.
pub(crate) type Renamed = (String, String);

/// Gives duplicate columns unique names.
pub(super) fn name_apart(statement: &mut Statement, binder: &Binder<'_>) -> Vec<Renamed> {
    let mut renamed = Vec::new();
    if let Statement::Query(query) = statement {
        of_query(query, binder, &[], &mut renamed);
    }
    renamed
}

fn of_query(query: &mut Query, binder: &Binder<'_>, around: &[WithQuery], renamed: &mut Vec<Renamed>) {
    let mut visible = around.to_vec();
    binder.add_with_queries(query, &mut visible);
    of_body(&mut query.body, binder, &visible, renamed);
}

fn of_body(body: &mut SetExpr, binder: &Binder<'_>, visible: &[WithQuery], renamed: &mut Vec<Renamed>) {
    match body {
        SetExpr::Select(select) => of_select(select, binder, visible, renamed),
        SetExpr::Query(query) => of_query(query, binder, visible, renamed),
        SetExpr::SetOperation { left, right, .. } => {
            of_body(left, binder, visible, renamed);
            // The names of a set operation are those of its first part.
            of_body(right, binder, visible, &mut Vec::new());
        }
        _ => {}
    }
}

fn of_select(select: &mut Select, binder: &Binder<'_>, visible: &[WithQuery], renamed: &mut Vec<Renamed>) {
    let scope = Scope {
        relations: binder.relations_of(&select.from, visible),
        outputs: Vec::new(),
        outputs_first: false,
    };
    let mut joins = select.from.iter_mut().flat_map(|table| &mut table.joins);
    let merges_columns = joins.any(|join| !using_columns(&mut join.join_operator).is_empty());
    let mut names = Names::default();
    let mut items = Vec::with_capacity(select.projection.len());
    for item in std::mem::take(&mut select.projection) {
        let columns = columns_of(&scope, &item);
        let is_new = columns.iter().all(|column| names.has_none_like(column));
        names.add(&columns);
        match item {
            item if is_new => items.push(item),
            SelectItem::UnnamedExpr(expr) if let [column] = &*columns => {
                items.push(names.rename(expr, &column.name, renamed));
            }
            SelectItem::ExprWithAlias { expr, alias } => items.push(names.rename(expr, &alias.value, renamed)),
            // Expands `*` into its columns, unless USING merges some: only the planner knows which.
            SelectItem::Wildcard(ref options) | SelectItem::QualifiedWildcard(_, ref options)
                if !merges_columns && options.to_string().is_empty() =>
            {
                for Column { table, name } in &columns {
                    let parts = table.iter().chain([name]).map(|part| quoted(part));
                    items.push(names.rename(Expr::CompoundIdentifier(parts.collect()), name, renamed));
                }
            }
            item => items.push(item),
        }
    }
    select.projection = items;
}

/// The columns of a query so far.
#[derive(Default)]
struct Names {
    columns: HashSet<Column>,
    /// The names alone.
    all: HashSet<String>,
    /// Names of columns without a table.
    own: HashSet<String>,
}

impl Names {
    fn add(&mut self, columns: &[Column]) {
        for column in columns {
            if column.table.is_none() {
                self.own.insert(column.name.clone());
            }
            self.all.insert(column.name.clone());
            self.columns.insert(column.clone());
        }
    }

    fn has_none_like(&self, column: &Column) -> bool {
        match column.table {
            None => !self.all.contains(&column.name),
            Some(_) => !self.own.contains(&column.name) && !self.columns.contains(column),
        }
    }

    /// The expression under a new unique name.
    fn rename(&mut self, expr: Expr, name: &str, renamed: &mut Vec<Renamed>) -> SelectItem {
        let mut number = 2;
        let apart = loop {
            let apart = format!("{name}:{number}");
            if self.all.insert(apart.clone()) {
                break apart;
            }
            number += 1;
        };
        renamed.push((apart.clone(), name.to_owned()));
        SelectItem::ExprWithAlias {
            expr,
            alias: Ident::with_quote('"', apart),
        }
    }
}

/// The columns of a SELECT item, if their names are known.
fn columns_of(scope: &Scope, item: &SelectItem) -> Vec<Column> {
    let of_relation = |relation: &super::Relation| {
        let columns = relation.columns.iter().map(|name| Column {
            table: Some(relation.alias.clone()),
            name: name.clone(),
        });
        columns.collect::<Vec<_>>()
    };
    let of_table = |qualifier: Option<&str>, name: &str| {
        let mut relations = scope.relations.iter();
        let relation = match qualifier {
            Some(qualifier) => scope.relation(qualifier),
            None => relations.find(|relation| same_but_for_case(&relation.columns, name).is_some()),
        };
        let spelled = relation.and_then(|relation| same_but_for_case(&relation.columns, name));
        Column {
            table: relation.map(|relation| relation.alias.clone()),
            name: spelled.unwrap_or(name).to_owned(),
        }
    };
    match item {
        SelectItem::ExprWithAlias { alias, .. } => vec![Column {
            table: None,
            name: alias.value.clone(),
        }],
        SelectItem::UnnamedExpr(Expr::Identifier(name)) => vec![of_table(None, &name.value)],
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => {
            let Some((last, qualifier)) = parts.split_last() else {
                return Vec::new();
            };
            let qualifier: Vec<_> = qualifier.iter().map(|part| part.value.as_str()).collect();
            vec![of_table(Some(&qualifier.join(".")), &last.value)]
        }
        SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) => {
            scope.relation(&text(name)).map_or_else(Vec::new, of_relation)
        }
        SelectItem::Wildcard(_) => scope.relations.iter().flat_map(of_relation).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::bound_and_renamed;

    #[test]
    fn columns_that_come_twice_have_names_of_their_own() {
        for (sql, projection, names) in [
            (
                "SELECT id, Id, amount FROM orders",
                r#""ID", "ID" AS "ID:2", "AMOUNT""#,
                "ID:2=ID",
            ),
            (
                "SELECT id AS x, cust AS x, id AS x FROM orders",
                r#""ID" AS x, "CUST" AS "x:2", "ID" AS "x:3""#,
                "x:2=x x:3=x",
            ),
            (
                "SELECT *, amount + 1 AS AMOUNT FROM orders",
                r#"*, "AMOUNT" + 1 AS "AMOUNT:2""#,
                "AMOUNT:2=AMOUNT",
            ),
            (
                "SELECT *, o.* FROM orders o",
                r#"*, "o"."ID" AS "ID:2", "o"."CUST" AS "CUST:2", "o"."AMOUNT" AS "AMOUNT:2""#,
                "ID:2=ID CUST:2=CUST AMOUNT:2=AMOUNT",
            ),
            // The planner distinguishes these by their tables.
            ("SELECT a.id, b.id FROM orders a, orders b", r#""a"."ID", "b"."ID""#, ""),
            ("SELECT * FROM orders a, orders b", "*", ""),
            ("SELECT id FROM orders UNION ALL SELECT id FROM orders", r#""ID""#, ""),
        ] {
            let (bound, renamed) = bound_and_renamed(sql).expect(sql);
            let list = bound
                .split(" FROM ")
                .next()
                .unwrap_or_default()
                .trim_start_matches("SELECT ");
            let renamed: Vec<_> = renamed.iter().map(|(apart, name)| format!("{apart}={name}")).collect();
            assert_eq!((list, renamed.join(" ").as_str()), (projection, names), "{sql}");
        }
    }
}
