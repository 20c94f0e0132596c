//! Queries within the expressions of a script: `IF EXISTS ( SELECT … )`, `WHILE n < ( SELECT … )`. No column is around them, so that each is
//! answered on its own, before the expression.

use std::ops::ControlFlow;

use sqlparser::ast::{self, Expr, LimitClause, SetExpr};

use super::Interpreter;
use crate::sql::change::rows_of;
use crate::sql::error::Result;
use crate::sql::prepared::Facts;
use crate::sql::select::Query;
use crate::sql::statement::Select;
use crate::sql::tables::{Tables, reading};
use crate::sql::value::Value;
use crate::sql::walk;

impl Interpreter<'_, '_> {
    /// An expression with the answers of its queries in their places; `None` where it has none.
    ///
    /// # Errors
    /// What the queries find.
    pub(super) fn with_answers(&mut self, expr: &Expr, tables: &mut dyn Tables) -> Result<Option<Expr>> {
        let has_query = walk::expressions(expr, &mut |part| match part {
            Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        if has_query.is_continue() {
            return Ok(None);
        }
        let mut answered = expr.clone();
        let mut visitor = Answering {
            interpreter: self,
            tables,
            depth: 0,
        };
        walk::change(&mut answered, &mut visitor)?;
        Ok(Some(answered))
    }

    /// The rows of a query in the places of a script where it is.
    ///
    /// # Errors
    /// What it finds.
    pub(super) fn rows_of_query(&mut self, query: &ast::Query, tables: &mut dyn Tables) -> Result<Vec<Vec<Value>>> {
        let select = Select {
            query: Box::new(query.clone()),
            is_static: true,
            start_at: None,
        };
        let mut parameters = self.parameters();
        let query = Query::bind_any(&select, tables, &mut parameters)?;
        let values = self.values(&parameters.names)?;
        let facts = Facts::of(tables);
        rows_of(&reading(tables, |tables| query.rows(tables, &facts.session(&values)))?)
    }
}

/// Puts answers in the places of queries, and leaves those alone that are within others.
struct Answering<'a, 'p, 't> {
    interpreter: &'a mut Interpreter<'p, 't>,
    tables: &'a mut dyn Tables,
    depth: usize,
}

impl Answering<'_, '_, '_> {
    fn answer(&mut self, expr: &Expr) -> Result<Option<Expr>> {
        let first = |row: Vec<Value>| row.into_iter().next().unwrap_or_default();
        Ok(Some(match expr {
            Expr::Subquery(query) => {
                let rows = self.interpreter.rows_of_query(query, self.tables)?;
                let value = rows.into_iter().next().map(first);
                Expr::Nested(Box::new(value.unwrap_or_default().to_literal()?))
            }
            Expr::Exists { subquery, negated } => {
                let rows = self.interpreter.rows_of_query(&with_one_row(subquery), self.tables)?;
                Value::Logical(rows.is_empty() == *negated).to_literal()?
            }
            Expr::InSubquery {
                expr,
                subquery,
                negated,
            } => {
                let rows = self.interpreter.rows_of_query(subquery, self.tables)?;
                if rows.is_empty() {
                    return Ok(Some(Value::Logical(*negated).to_literal()?));
                }
                let list = rows.into_iter().map(|row| first(row).to_literal());
                Expr::InList {
                    expr: expr.clone(),
                    list: list.collect::<Result<_>>()?,
                    negated: *negated,
                }
            }
            _ => return Ok(None),
        }))
    }
}

impl ast::VisitorMut for Answering<'_, '_, '_> {
    type Break = crate::sql::Error;

    fn pre_visit_query(&mut self, _: &mut ast::Query) -> ControlFlow<Self::Break> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut ast::Query) -> ControlFlow<Self::Break> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Self::Break> {
        if self.depth > 0 {
            return ControlFlow::Continue(());
        }
        match self.answer(expr) {
            Ok(None) => ControlFlow::Continue(()),
            Ok(Some(answer)) => {
                *expr = answer;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }
}

/// A query of which the first row is enough.
fn with_one_row(query: &ast::Query) -> ast::Query {
    let mut query = query.clone();
    let is_cut = match &*query.body {
        SetExpr::Select(select) => select.top.is_some(),
        _ => true,
    };
    if !is_cut && query.limit_clause.is_none() && query.fetch.is_none() {
        query.limit_clause = Some(LimitClause::LimitOffset {
            limit: Some(Expr::value(ast::Value::Number("1".to_owned(), false))),
            offset: None,
            limit_by: Vec::new(),
        });
    }
    query
}
