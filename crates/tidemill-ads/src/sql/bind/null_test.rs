//! Tests for NULL: `IS NULL`, and comparisons in which NULL is equal to NULL.

use sqlparser::ast;

use super::{Scope, unknown};
use crate::sql::error::Result;
use crate::sql::expression::Expr;

impl Scope<'_> {
    /// Binds `IS [NOT] NULL` and `IS [NOT] DISTINCT FROM`; anything else is unknown to ADS SQL.
    pub(super) fn null_test(&mut self, expr: &ast::Expr) -> Result<Expr> {
        match expr {
            ast::Expr::IsNull(operand) => Ok(Expr::IsNull(Box::new(self.bind(operand)?))),
            ast::Expr::IsNotNull(operand) => Ok(not(Expr::IsNull(Box::new(self.bind(operand)?)))),
            ast::Expr::IsNotDistinctFrom(left, right) => self.bind(&same(left, right)),
            ast::Expr::IsDistinctFrom(left, right) => Ok(not(self.bind(&same(left, right))?)),
            other => Err(unknown(other)),
        }
    }
}

fn not(expr: Expr) -> Expr {
    Expr::Not(Box::new(expr))
}

/// `left = right AND left IS NOT NULL AND right IS NOT NULL OR left IS NULL AND right IS NULL`, which is never NULL.
fn same(left: &ast::Expr, right: &ast::Expr) -> ast::Expr {
    let (left, right) = (nested(left.clone()), nested(right.clone()));
    let is_null = |expr: &ast::Expr| ast::Expr::IsNull(Box::new(expr.clone()));
    let is_there = |expr: &ast::Expr| ast::Expr::IsNotNull(Box::new(expr.clone()));
    let is_equal = both(left.clone(), ast::BinaryOperator::Eq, right.clone());
    let are_there = both(is_there(&left), ast::BinaryOperator::And, is_there(&right));
    let are_null = both(is_null(&left), ast::BinaryOperator::And, is_null(&right));
    both(
        both(are_there, ast::BinaryOperator::And, is_equal),
        ast::BinaryOperator::Or,
        are_null,
    )
}

fn nested(expr: ast::Expr) -> ast::Expr {
    ast::Expr::Nested(Box::new(expr))
}

fn both(left: ast::Expr, op: ast::BinaryOperator, right: ast::Expr) -> ast::Expr {
    let (left, right) = (Box::new(left), Box::new(right));
    ast::Expr::Nested(Box::new(ast::Expr::BinaryOp { left, op, right }))
}
