//! Conditions that choose values, and tests of a condition.

use sqlparser::ast;

use super::Scope;
use crate::sql::error::Result;
use crate::sql::expression::{Comparison, Expr};
use crate::sql::value::Value;

impl Scope<'_> {
    /// Binds CASE, with an operand that its conditions are compared with or without.
    pub(super) fn case(
        &mut self,
        operand: Option<&ast::Expr>,
        conditions: &[ast::CaseWhen],
        otherwise: Option<&ast::Expr>,
    ) -> Result<Expr> {
        let operand = operand.map(|operand| self.bind(operand)).transpose()?;
        let mut branches = Vec::new();
        for branch in conditions {
            let condition = self.bind(&branch.condition)?;
            let condition = match &operand {
                None => self.condition(condition)?,
                Some(operand) => self.equal(operand.clone(), condition)?,
            };
            branches.push((condition, self.bind(&branch.result)?));
        }
        let otherwise = match otherwise {
            Some(otherwise) => self.bind(otherwise)?,
            None => Expr::Value(Value::Null),
        };
        Ok(Expr::Case(branches, Box::new(otherwise)))
    }

    /// Binds `IS TRUE` and `IS FALSE`, which are never NULL.
    pub(super) fn is_truth(&mut self, operand: &ast::Expr, wanted: bool) -> Result<Expr> {
        let operand = self.bind(operand)?;
        let operand = self.condition(operand)?;
        let wanted = Box::new(Expr::Value(Value::Logical(wanted)));
        let equal = Expr::Compare(Comparison::Equal, Box::new(operand), wanted);
        Ok(Expr::Coalesce(vec![equal, Expr::Value(Value::Logical(false))]))
    }
}
