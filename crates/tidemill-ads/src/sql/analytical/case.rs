//! Columns that ignore case, written out for an engine that compares with regard to it: both sides of a comparison in small letters.
//!
//! Names are looked for among all tables of the query; one that a query in parentheses or in WITH gives a column is not followed. Groups,
//! DISTINCT rows, MIN and MAX, and joins by USING stay as they are.

use std::ops::ControlFlow;

use sqlparser::ast::{self, BinaryOperator as B, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, SetExpr};

use super::TableName;
use super::table_name;
use crate::sql::collate::lower;
use crate::sql::error::Error;
use crate::sql::expression::Column;
use crate::sql::walk;

/// Functions that give a text of texts.
const OF_TEXTS: [&str; 17] = [
    "ALLTRIM",
    "COALESCE",
    "CONCAT",
    "IFNULL",
    "ISNULL",
    "LCASE",
    "LEFT",
    "LOWER",
    "LTRIM",
    "MAX",
    "MIN",
    "RIGHT",
    "RTRIM",
    "SUBSTR",
    "SUBSTRING",
    "UCASE",
    "UPPER",
];

/// Writes out the comparisons and orders of a query over tables of which some have columns that ignore case.
pub(super) fn write_out<'c>(query: &mut ast::Query, tables: impl Iterator<Item = (&'c TableName, Vec<Column>)>) {
    let tables: Vec<(String, Vec<Column>)> = tables.map(|(name, columns)| (name.to_string(), columns)).collect();
    let mut names = Qualifiers::default();
    let _ = walk::look_at(query, &mut names);
    let mut writing = Writing {
        tables,
        qualifiers: names.0,
    };
    let _ = walk::change(query, &mut writing);
}

/// What may stand before the point of a column, and the table that it means.
#[derive(Default)]
struct Qualifiers(Vec<(String, String)>);

impl ast::Visitor for Qualifiers {
    type Break = Error;

    fn pre_visit_table_factor(&mut self, factor: &ast::TableFactor) -> ControlFlow<Error> {
        if let ast::TableFactor::Table { name, alias, .. } = factor {
            let table = table_name(name);
            let qualifier = match alias {
                Some(alias) => alias.name.value.clone(),
                None => table.last().to_owned(),
            };
            self.0.push((qualifier, table.to_string()));
        }
        ControlFlow::Continue(())
    }
}

/// Whether a text ignores case; `None`: as what it is compared with.
type IgnoresCase = Option<bool>;

struct Writing {
    tables: Vec<(String, Vec<Column>)>,
    qualifiers: Vec<(String, String)>,
}

impl Writing {
    fn column(&self, qualifier: Option<&str>, name: &str) -> IgnoresCase {
        let mut known = self.tables.iter().filter(|(table, _)| {
            let is_of = |(known, of): &(String, String)| {
                of == table && qualifier.is_none_or(|qualifier| known.eq_ignore_ascii_case(qualifier))
            };
            self.qualifiers.iter().any(is_of)
        });
        known.find_map(|(_, columns)| {
            let column = columns.get(Column::find(columns, name)?)?;
            (column.ignores_case || column.type_of.is_text()).then_some(column.ignores_case)
        })
    }

    fn of(&self, expr: &Expr) -> IgnoresCase {
        let all = |parts: &mut dyn Iterator<Item = IgnoresCase>| {
            parts.flatten().reduce(|all, ignores_case| all || ignores_case)
        };
        match expr {
            Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => self.of(inner),
            Expr::Identifier(name) => self.column(None, &name.value),
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [.., qualifier, name] => self.column(Some(&qualifier.value), &name.value),
                _ => None,
            },
            Expr::Trim { expr, .. } | Expr::Substring { expr, .. } => self.of(expr),
            Expr::BinaryOp {
                left,
                op: B::Plus | B::StringConcat,
                right,
            } => all(&mut [self.of(left), self.of(right)].into_iter()),
            Expr::Function(function) => {
                let name = match function.name.0.as_slice() {
                    [part] => part.as_ident().map(|ident| ident.value.to_ascii_uppercase()),
                    _ => None,
                };
                let is_text = name.is_some_and(|name| OF_TEXTS.contains(&name.as_str()));
                let (FunctionArguments::List(list), true) = (&function.args, is_text) else {
                    return None;
                };
                let arguments = list.args.iter().map(|argument| match argument {
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => self.of(expr),
                    _ => None,
                });
                all(&mut { arguments })
            }
            Expr::Subquery(query) => shown(query).and_then(|expr| self.of(expr)),
            _ => None,
        }
    }

    /// `COUNT( DISTINCT … )`.
    fn write_count(&self, function: &mut ast::Function) {
        let is_count = match function.name.0.as_slice() {
            [part] => part
                .as_ident()
                .is_some_and(|name| name.value.eq_ignore_ascii_case("COUNT")),
            _ => false,
        };
        if let FunctionArguments::List(list) = &mut function.args
            && list.duplicate_treatment == Some(ast::DuplicateTreatment::Distinct)
            && is_count
            && let [FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))] = list.args.as_mut_slice()
        {
            self.write(&mut [argument]);
        }
    }

    /// Sides of a comparison, in small letters where one of them ignores case; whether they are now.
    fn write(&self, sides: &mut [&mut Expr]) -> bool {
        let has_collation = sides.iter().any(|side| matches!(bare(side), Expr::Collate { .. }));
        let is_ignored = sides.iter().any(|side| self.of(side) == Some(true));
        if has_collation || !is_ignored {
            return false;
        }
        for side in sides {
            let inner = std::mem::replace(*side, Expr::value(ast::Value::Null));
            **side = in_small_letters(inner);
        }
        true
    }

    fn write_order(&self, query: &mut ast::Query) {
        let SetExpr::Select(select) = &*query.body else { return };
        let is_grouped = !matches!(&select.group_by, ast::GroupByExpr::Expressions(keys, _) if keys.is_empty());
        let named: Vec<String> = select
            .projection
            .iter()
            .filter_map(|item| match item {
                ast::SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.to_ascii_uppercase()),
                _ => None,
            })
            .collect();
        if select.distinct.is_some() || is_grouped {
            return;
        }
        if let Some(ast::OrderByKind::Expressions(terms)) = query.order_by.as_mut().map(|order| &mut order.kind) {
            for term in terms {
                // A name of the list is that of what stands there.
                let is_name =
                    matches!(&term.expr, Expr::Identifier(name) if named.contains(&name.value.to_ascii_uppercase()));
                if !is_name {
                    self.write(&mut [&mut term.expr]);
                }
            }
        }
    }
}

impl ast::VisitorMut for Writing {
    type Break = Error;

    fn post_visit_query(&mut self, query: &mut ast::Query) -> ControlFlow<Error> {
        self.write_order(query);
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        match expr {
            Expr::BinaryOp {
                left,
                op: B::Eq | B::NotEq | B::Lt | B::LtEq | B::Gt | B::GtEq,
                right,
            }
            | Expr::IsDistinctFrom(left, right)
            | Expr::IsNotDistinctFrom(left, right) => {
                self.write(&mut [left, right]);
            }
            Expr::Between { expr, low, high, .. } => {
                self.write(&mut [expr, low, high]);
            }
            Expr::InList { expr, list, .. } => {
                let mut sides: Vec<&mut Expr> = std::iter::once(&mut **expr).chain(list).collect();
                self.write(&mut sides);
            }
            Expr::Like {
                expr,
                pattern,
                escape_char,
                ..
            } => {
                if self.write(&mut [expr, pattern])
                    && let Some(escape) = escape_char
                    && let ast::Value::SingleQuotedString(character) = &mut escape.value
                {
                    // It stands in the pattern.
                    *character = small(character);
                }
            }
            Expr::Function(function) => self.write_count(function),
            Expr::InSubquery { expr, subquery, .. } => {
                if let Some(item) = shown_mut(subquery) {
                    self.write(&mut [expr, item]);
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// An expression in small letters; a literal is written so.
fn in_small_letters(mut expr: Expr) -> Expr {
    match &mut expr {
        Expr::Value(value) => match &mut value.value {
            ast::Value::SingleQuotedString(text) => {
                *text = small(text);
                expr
            }
            _ => lower(expr),
        },
        _ => lower(expr),
    }
}

fn small(text: &str) -> String {
    let one = |letter: char| {
        let mut small = letter.to_lowercase();
        match (small.next(), small.next()) {
            (Some(small), None) => small,
            _ => letter,
        }
    };
    text.chars().map(one).collect()
}

fn bare(mut expr: &Expr) -> &Expr {
    while let Expr::Nested(inner) = expr {
        expr = inner;
    }
    expr
}

/// The one column of a query in parentheses.
fn shown(query: &ast::Query) -> Option<&Expr> {
    match &*query.body {
        SetExpr::Select(select) => match select.projection.as_slice() {
            [ast::SelectItem::UnnamedExpr(expr) | ast::SelectItem::ExprWithAlias { expr, .. }] => Some(expr),
            _ => None,
        },
        _ => None,
    }
}

fn shown_mut(query: &mut ast::Query) -> Option<&mut Expr> {
    match &mut *query.body {
        SetExpr::Select(select) => match select.projection.as_mut_slice() {
            [ast::SelectItem::UnnamedExpr(expr) | ast::SelectItem::ExprWithAlias { expr, .. }] => Some(expr),
            _ => None,
        },
        _ => None,
    }
}
