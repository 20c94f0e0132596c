//! `x > ANY ( query )` and `x > ALL ( query )` where an engine has no plan for them: in the list of a SELECT, in ON, in ORDER BY, and in
//! what UPDATE and INSERT give columns.
//!
//! What the greatest or the least value of the query says decides such a comparison, but for NULL: without a row ANY is false and ALL is
//! true, and where the values do not decide, a NULL among them leaves it open. So it becomes a CASE over `MIN`, `MAX` and `COUNT` of the
//! query, which are scalar subqueries. `= ANY` becomes IN, `<> ALL` NOT IN.
//!
//! What stays as it is: conditions of WHERE and HAVING, queries of more than one SELECT, with groups or limits, and those in which such a
//! comparison stands again, which would be written out too often.

use std::ops::ControlFlow;

use sqlparser::ast::{
    self, BinaryOperator, Expr, Ident, JoinConstraint, ObjectName, OrderByKind, Query, SelectItem, SetExpr,
    Spanned as _, VisitorMut,
};

use super::error::{Error, Result};
use super::group::AggregateKind;
use super::join::join_constraint_mut;
use super::walk::{self, Tree};

/// Writes out the quantified comparisons of a query.
///
/// # Errors
/// None; what cannot be written out stays.
pub(super) fn write_out(query: &mut impl Tree) -> Result<()> {
    walk::change(query, &mut Queries)
}

/// As [`write_out`], of a value that a change gives a column: an engine computes it in the list of a SELECT.
///
/// # Errors
/// As [`write_out`].
pub(super) fn write_out_value(value: &mut Expr) -> Result<()> {
    walk::change(value, &mut Comparisons)
}

/// Finds the places.
struct Queries;

impl VisitorMut for Queries {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        if let Some(OrderByKind::Expressions(terms)) = query.order_by.as_mut().map(|order| &mut order.kind) {
            for term in terms {
                in_expression(&mut term.expr)?;
            }
        }
        in_body(&mut query.body)
    }
}

fn in_body(body: &mut SetExpr) -> ControlFlow<Error> {
    match body {
        SetExpr::Select(select) => {
            for item in &mut select.projection {
                if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
                    in_expression(expr)?;
                }
            }
            for join in select.from.iter_mut().flat_map(|table| &mut table.joins) {
                if let Some(JoinConstraint::On(on)) = join_constraint_mut(&mut join.join_operator) {
                    in_expression(on)?;
                }
            }
            ControlFlow::Continue(())
        }
        SetExpr::SetOperation { left, right, .. } => {
            in_body(left)?;
            in_body(right)
        }
        // A query within is visited as one.
        _ => ControlFlow::Continue(()),
    }
}

fn in_expression(expr: &mut Expr) -> ControlFlow<Error> {
    match write_out_value(expr) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(error),
    }
}

struct Comparisons;

impl VisitorMut for Comparisons {
    type Break = Error;

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        if let Some(written) = written_out(expr) {
            *expr = written;
        }
        ControlFlow::Continue(())
    }
}

/// The comparison without ANY and ALL; `None` for other expressions, and for queries that are left as they are.
fn written_out(expr: &Expr) -> Option<Expr> {
    use BinaryOperator as B;
    let (left, operator, right, is_all) = match expr {
        Expr::AnyOp {
            left,
            compare_op,
            right,
            ..
        } => (left, compare_op, right, false),
        Expr::AllOp {
            left,
            compare_op,
            right,
        } => (left, compare_op, right, true),
        _ => return None,
    };
    let Expr::Subquery(query) = bare(right) else {
        return None;
    };
    if is_quantified(&**left) || is_quantified(&**query) {
        return None;
    }
    if matches!((operator, is_all), (B::Eq, false) | (B::NotEq, true)) {
        return Some(Expr::InSubquery {
            expr: left.clone(),
            subquery: query.clone(),
            negated: is_all,
        });
    }
    let of = |name: &str| aggregate(query, name).map(|query| Expr::Subquery(Box::new(query)));
    let compared = |name: &str| Some(binary((**left).clone(), operator.clone(), of(name)?));
    // By which values it is decided: all of them are less where the least is, any of them where the greatest is.
    let decided = match (operator, is_all) {
        (B::Lt | B::LtEq, false) | (B::Gt | B::GtEq, true) => compared("MAX")?,
        (B::Gt | B::GtEq, false) | (B::Lt | B::LtEq, true) => compared("MIN")?,
        (B::Eq, true) => binary(compared("MIN")?, B::And, compared("MAX")?),
        (B::NotEq, false) => binary(compared("MIN")?, B::Or, compared("MAX")?),
        _ => return None,
    };
    let truth = |value: bool| Expr::value(ast::Value::Boolean(value));
    let none = Expr::value(ast::Value::Number("0".to_owned(), false));
    let when = |condition, result| ast::CaseWhen { condition, result };
    let first = match is_all {
        true => Expr::UnaryOp {
            op: ast::UnaryOperator::Not,
            expr: Box::new(Expr::Nested(Box::new(decided.clone()))),
        },
        false => decided.clone(),
    };
    Some(Expr::Case {
        case_token: ast::helpers::attached_token::AttachedToken::empty(),
        end_token: ast::helpers::attached_token::AttachedToken::empty(),
        operand: None,
        conditions: vec![
            when(binary(of("COUNT(*)")?, B::Eq, none), truth(is_all)),
            when(first, truth(!is_all)),
            when(
                binary(of("COUNT")?, B::Lt, of("COUNT(*)")?),
                Expr::value(ast::Value::Null),
            ),
        ],
        else_result: Some(Box::new(decided)),
    })
}

fn bare(mut expr: &Expr) -> &Expr {
    while let Expr::Nested(inner) = expr {
        expr = inner;
    }
    expr
}

fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp {
        left: Box::new(left),
        op,
        right: Box::new(right),
    }
}

/// The query whose one row is an aggregate of the one column of another.
fn aggregate(query: &Query, name: &str) -> Option<Query> {
    let mut query = query.clone();
    if query.limit_clause.is_some() || query.fetch.is_some() {
        return None;
    }
    query.order_by = None;
    let SetExpr::Select(select) = &mut *query.body else {
        return None;
    };
    let has_groups = match &select.group_by {
        ast::GroupByExpr::Expressions(keys, _) => !keys.is_empty(),
        ast::GroupByExpr::All(_) => true,
    };
    if has_groups || select.having.is_some() || select.top.is_some() {
        return None;
    }
    // Neither the ends nor whether there is a NULL depend on it.
    select.distinct = None;
    let value = match select.projection.as_slice() {
        [SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }] if !has_aggregate(expr) => {
            expr.clone()
        }
        _ => return None,
    };
    let (name, argument) = match name {
        "COUNT(*)" => ("COUNT", ast::FunctionArgExpr::Wildcard),
        name => (name, ast::FunctionArgExpr::Expr(value.clone())),
    };
    select.projection = vec![SelectItem::UnnamedExpr(Expr::Function(ast::Function {
        name: ObjectName::from(vec![Ident::with_span(value.span(), name)]),
        uses_odbc_syntax: false,
        parameters: ast::FunctionArguments::None,
        args: ast::FunctionArguments::List(ast::FunctionArgumentList {
            duplicate_treatment: None,
            args: vec![ast::FunctionArg::Unnamed(argument)],
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    }))];
    Some(query)
}

/// Looks for expressions of a kind.
struct Finder {
    is_it: fn(&Expr) -> bool,
    is_found: bool,
}

impl ast::Visitor for Finder {
    type Break = Error;

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Error> {
        self.is_found |= (self.is_it)(expr);
        ControlFlow::Continue(())
    }
}

fn has(tree: &impl Tree, is_it: fn(&Expr) -> bool) -> bool {
    let mut finder = Finder { is_it, is_found: false };
    let _ = walk::look_at(tree, &mut finder);
    finder.is_found
}

fn is_quantified(tree: &impl Tree) -> bool {
    has(tree, |expr| matches!(expr, Expr::AnyOp { .. } | Expr::AllOp { .. }))
}

fn has_aggregate(expr: &Expr) -> bool {
    has(expr, |expr| match expr {
        Expr::Function(function) => {
            let name = function.name.0.last().and_then(|part| part.as_ident());
            let is_one = |name: &Ident| AggregateKind::of(&name.value.to_ascii_uppercase()).is_some();
            function.over.is_some() || name.is_some_and(is_one)
        }
        _ => false,
    })
}
