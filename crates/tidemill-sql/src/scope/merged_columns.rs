//! Columns merged by NATURAL and USING (ISO/IEC 9075-2, 7.10).
//!
//! The planner uses the left column for both, which is NULL in some rows of a RIGHT or FULL JOIN; it calls the unqualified name ambiguous, and
//! merges columns of the same spelling only. So the join gets an ON condition. The name becomes the left column, the right column for a RIGHT
//! JOIN, or `COALESCE(left, right)` for a FULL JOIN, and `*` becomes a list of columns.
//!
//! A join of a table whose columns are unknown here is left to the planner.

use std::collections::HashMap;
use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, Ident, JoinConstraint, JoinOperator as J, Query, Select, SelectItem, SetExpr, Statement,
    TableFactor, TableWithJoins, Value, Visitor, VisitorMut,
};
use tidemill_ads::sql::{join_constraint, join_constraint_mut, joined_in_pairs, walk};

use super::{Binder, Bound, Scope, WithQueries, WithQuery, names_of_wildcard, quoted, same_but_for_case, text};
use crate::planner_forms::{and, call};

/// Replaces NATURAL and USING by ON, and the names of merged columns by their expressions.
///
/// # Errors
///
/// A name that `* EXCLUDE` or `* REPLACE` lists and no table has.
pub(super) fn put(statement: &mut Statement, tables: &HashMap<String, Bound>) -> Result<(), String> {
    let binder = Binder {
        tables,
        with_queries: WithQueries::default(),
        scopes: Vec::new(),
    };
    if walk::look_at(statement, &mut FindMerged).is_ok() {
        return Ok(());
    }
    let levels = Vec::new();
    walk::change(statement, &mut Merger { binder, levels })
}

/// Breaks at a SELECT whose joins merge columns.
struct FindMerged;

impl Visitor for FindMerged {
    type Break = ();

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        match select.from.iter().any(merges) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// A column of a FROM clause.
#[derive(Clone)]
struct Visible {
    name: String,
    expr: Expr,
    is_merged: bool,
}

/// A query or a SELECT that is being visited.
#[derive(Default)]
struct Level {
    scope: Scope,
    merged: Vec<Visible>,
}

impl Level {
    /// Keeps the merged columns whose names no other column has.
    fn of_merged(mut self) -> Self {
        let columns = self.merged.clone();
        self.merged
            .retain(|column| column.is_merged && find(&columns, &column.name).is_some());
        self
    }
}

struct Merger<'a> {
    binder: Binder<'a>,
    levels: Vec<Level>,
}

impl Merger<'_> {
    fn scope_of(&self, select: &Select, visible: &[WithQuery], outputs_first: bool) -> Scope {
        let mut scope = Scope {
            relations: self.binder.relations_of(&select.from, visible),
            outputs: Vec::new(),
            outputs_first,
        };
        let items = select.projection.iter();
        scope.outputs = items.flat_map(|item| scope.outputs_of_item(item)).collect();
        scope
    }

    /// The merged column that an unqualified name resolves to.
    fn merged(&self, name: &str) -> Option<&Visible> {
        for level in self.levels.iter().rev() {
            let is_output = same_but_for_case(&level.scope.outputs, name).is_some();
            if level.scope.outputs_first && is_output {
                return None;
            }
            if let Some(merged) = find(&level.merged, name) {
                return Some(merged);
            }
            let mut relations = level.scope.relations.iter();
            if is_output || relations.any(|relation| same_but_for_case(&relation.columns, name).is_some()) {
                return None;
            }
        }
        None
    }

    /// Rewrites the joins of a FROM and returns its columns; `None` if no join merges columns, or if some columns are unknown.
    fn merge(&self, from: &mut Vec<TableWithJoins>, visible: &[WithQuery]) -> Option<Vec<Visible>> {
        if !from.iter().any(merges) {
            return None;
        }
        let mut changed = from.clone();
        let mut columns = Vec::new();
        for table in &mut changed {
            columns.extend(self.of_table(table, visible)?);
        }
        *from = changed;
        Some(columns)
    }

    fn of_table(&self, table: &mut TableWithJoins, visible: &[WithQuery]) -> Option<Vec<Visible>> {
        let mut left = self.of_factor(&mut table.relation, visible)?;
        for join in &mut table.joins {
            let right = self.of_factor(&mut join.relation, visible)?;
            left = joined(left, right, &mut join.join_operator)?;
        }
        Some(left)
    }

    fn of_factor(&self, factor: &mut TableFactor, visible: &[WithQuery]) -> Option<Vec<Visible>> {
        if let TableFactor::NestedJoin {
            table_with_joins,
            alias: None,
        } = factor
        {
            return self.of_table(table_with_joins, visible);
        }
        let has_names = match &*factor {
            TableFactor::Derived { subquery, alias, .. } => {
                alias.as_ref().is_some_and(|alias| !alias.columns.is_empty()) || has_names(&subquery.body)
            }
            TableFactor::Table { .. } => true,
            _ => false,
        };
        let alone = TableWithJoins {
            relation: factor.clone(),
            joins: Vec::new(),
        };
        let relations = self.binder.relations_of(&[alone], visible);
        let [relation] = relations.as_slice() else { return None };
        if !has_names || relation.columns.is_empty() {
            return None;
        }
        let columns = relation.columns.iter().map(|name| Visible {
            name: name.clone(),
            expr: Expr::CompoundIdentifier(vec![quoted(&relation.given), quoted(name)]),
            is_merged: false,
        });
        Some(columns.collect())
    }
}

impl VisitorMut for Merger<'_> {
    type Break = String;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<String> {
        let mut visible = self.binder.with_queries.queries.clone();
        self.binder.add_with_queries(query, &mut visible);
        // For ORDER BY, where output names precede columns.
        let level = match &*query.body {
            SetExpr::Select(select) => Level {
                scope: self.scope_of(select, &visible, true),
                merged: self.merge(&mut select.from.clone(), &visible).unwrap_or_default(),
            },
            _ => Level::default(),
        };
        let own = visible.split_off(self.binder.with_queries.queries.len());
        self.binder.with_queries.enter(query, own);
        self.levels.push(level.of_merged());
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<String> {
        self.levels.pop();
        self.binder.with_queries.leave();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<String> {
        let visible = &self.binder.with_queries.queries;
        let scope = self.scope_of(select, visible, false);
        let columns = self.merge(&mut select.from, visible);
        if let Some(columns) = &columns
            && let Err(message) = expand(&mut select.projection, columns)
        {
            return ControlFlow::Break(message);
        }
        let merged = columns.unwrap_or_default();
        let level = Level { scope, merged }.of_merged();
        for item in &mut select.projection {
            if let SelectItem::UnnamedExpr(Expr::Identifier(name)) = item
                && let Some(column) = find(&level.merged, &name.value)
            {
                *item = column.as_item();
            }
        }
        self.levels.push(level);
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &mut Select) -> ControlFlow<String> {
        self.levels.pop();
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<String> {
        if let Expr::Identifier(name) = expr
            && let Some(column) = self.merged(&name.value)
        {
            *expr = column.expr.clone();
        }
        ControlFlow::Continue(())
    }
}

impl Visible {
    /// The column as an item of a SELECT list, with its name.
    fn as_item(&self) -> SelectItem {
        match &self.expr {
            Expr::CompoundIdentifier(parts) if parts.last().is_some_and(|part| part.value == self.name) => {
                SelectItem::UnnamedExpr(self.expr.clone())
            }
            expr => SelectItem::ExprWithAlias {
                expr: expr.clone(),
                alias: quoted(&self.name),
            },
        }
    }
}

/// Whether one of the joins merges columns.
fn merges(table: &TableWithJoins) -> bool {
    let nested = |factor: &TableFactor| match factor {
        TableFactor::NestedJoin { table_with_joins, .. } => merges(table_with_joins),
        _ => false,
    };
    let is_merged = |operator: &J| {
        matches!(
            join_constraint(operator),
            Some(JoinConstraint::Using(_) | JoinConstraint::Natural)
        )
    };
    nested(&table.relation)
        || table
            .joins
            .iter()
            .any(|join| is_merged(&join.join_operator) || nested(&join.relation))
}

/// Whether all columns of a query have names.
fn has_names(body: &SetExpr) -> bool {
    match body {
        SetExpr::Select(select) => !select.projection.iter().any(|item| {
            matches!(item, SelectItem::UnnamedExpr(expr) if !matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_)))
        }),
        SetExpr::SetOperation { left, .. } => has_names(left),
        SetExpr::Query(query) => has_names(&query.body),
        _ => false,
    }
}

/// The columns of a join; a join that merges columns gets an ON condition.
fn joined(left: Vec<Visible>, right: Vec<Visible>, operator: &mut J) -> Option<Vec<Visible>> {
    let names: Vec<String> = match join_constraint(operator) {
        Some(JoinConstraint::Using(names)) => names.iter().map(text).collect(),
        Some(JoinConstraint::Natural) => {
            let names = right.iter().map(|column| column.name.clone());
            names.filter(|name| has(&left, name)).collect()
        }
        _ => Vec::new(),
    };
    let is_natural = matches!(join_constraint(operator), Some(JoinConstraint::Natural));
    let mut equal = Vec::new();
    let mut columns = left.clone();
    let mut others = right.clone();
    for name in &names {
        let (of_left, of_right) = (find(&left, name)?, find(&right, name)?);
        equal.push(Expr::BinaryOp {
            left: Box::new(of_left.expr.clone()),
            op: BinaryOperator::Eq,
            right: Box::new(of_right.expr.clone()),
        });
        let merged = match operator {
            J::Right(_) | J::RightOuter(_) | J::RightSemi(_) | J::RightAnti(_) => of_right.expr.clone(),
            J::FullOuter(_) => call(
                "coalesce",
                [of_left, of_right].map(|column| column.expr.clone()).into_iter(),
            ),
            _ => of_left.expr.clone(),
        };
        for column in columns.iter_mut().filter(|column| column.name == of_left.name) {
            (column.expr, column.is_merged) = (merged.clone(), true);
        }
        others.retain(|column| column.name != of_right.name);
    }
    if is_natural || !equal.is_empty() {
        let all = joined_in_pairs(equal, and);
        *join_constraint_mut(operator)? = JoinConstraint::On(all.unwrap_or_else(|| Expr::value(Value::Boolean(true))));
    }
    Some(match operator {
        J::Semi(_) | J::LeftSemi(_) | J::Anti(_) | J::LeftAnti(_) => left,
        J::RightSemi(_) | J::RightAnti(_) => right,
        _ => columns.into_iter().chain(others).collect(),
    })
}

/// The only column with a name.
fn find<'c>(columns: &'c [Visible], name: &str) -> Option<&'c Visible> {
    let named = |is_same: &dyn Fn(&str) -> bool| {
        let mut found = columns.iter().filter(|column| is_same(&column.name));
        found.next().filter(|_| found.next().is_none())
    };
    named(&|of| of == name).or_else(|| named(&|of| of.to_lowercase() == name.to_lowercase()))
}

fn has(columns: &[Visible], name: &str) -> bool {
    columns
        .iter()
        .any(|column| column.name.to_lowercase() == name.to_lowercase())
}

/// Replaces `*` by its columns.
fn expand(projection: &mut Vec<SelectItem>, columns: &[Visible]) -> Result<(), String> {
    let mut items = Vec::new();
    for item in std::mem::take(projection) {
        let SelectItem::Wildcard(mut options) = item else {
            items.push(item);
            continue;
        };
        for name in names_of_wildcard(&mut options) {
            if !has(columns, &name.value) {
                return Err(format!("column {} of * not found", name.value));
            }
        }
        let replaced = options
            .opt_replace
            .take()
            .map_or_else(Vec::new, |replace| replace.items);
        let excluded: Vec<Ident> = names_of_wildcard(&mut options)
            .into_iter()
            .map(|name| name.clone())
            .collect();
        let is_same = |name: &Ident, column: &Visible| name.value.to_lowercase() == column.name.to_lowercase();
        for column in columns {
            if excluded.iter().any(|name| is_same(name, column)) {
                continue;
            }
            items.push(match replaced.iter().find(|item| is_same(&item.column_name, column)) {
                Some(item) => SelectItem::ExprWithAlias {
                    expr: item.expr.clone(),
                    alias: quoted(&column.name),
                },
                None => column.as_item(),
            });
        }
    }
    *projection = items;
    Ok(())
}
