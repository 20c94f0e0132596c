//! Operands: which types go together, and what a literal text is beside a value of another type.

use sqlparser::ast;

use super::cast::conversion;
use super::{Scope, literals};
use crate::sql::arithmetic::Operator;
use crate::sql::error::{Error, Kind, Result};
use crate::sql::expression::{Comparison, Expr};
use crate::sql::value::{Type, Value};

impl Scope<'_> {
    /// Two operands, of which a literal text may spell a value of the other's type.
    pub(super) fn beside_each_other(&self, left: Expr, right: Expr) -> (Expr, Expr) {
        let is_text = |operand: &Expr| matches!(operand, Expr::Value(Value::Text(_)));
        if is_text(&left) {
            let of = self.type_of(&right);
            (literals::beside(left, of), right)
        } else if is_text(&right) {
            let of = self.type_of(&left);
            (left, literals::beside(right, of))
        } else {
            (left, right)
        }
    }

    /// Whether two values are equal.
    pub(super) fn equal(&self, left: Expr, right: Expr) -> Result<Expr> {
        let (left, right) = self.beside_each_other(left, right);
        self.comparison(Comparison::Equal, left, right)
    }

    /// A comparison of two values, without regard to case where it does not count.
    pub(super) fn comparison(&self, comparison: Comparison, left: Expr, right: Expr) -> Result<Expr> {
        self.comparable(&left, &right)?;
        let [left, right] = self.in_one_case([left, right])?;
        Ok(Expr::Compare(comparison, Box::new(left), Box::new(right)))
    }

    /// An expression that is compared with a value.
    pub(super) fn compared(&mut self, expr: &ast::Expr, value: &Expr) -> Result<Expr> {
        let bound = literals::beside(self.bind(expr)?, self.type_of(value));
        self.comparable(value, &bound)?;
        Ok(bound)
    }

    pub(super) fn comparable(&self, left: &Expr, right: &Expr) -> Result<()> {
        let (a, b) = (self.type_of(left), self.type_of(right));
        let is_moment = |type_of: Type| matches!(type_of, Type::Date | Type::Time | Type::Timestamp);
        let fits = a.with(b).is_some() || (is_moment(a) && b.is_text()) || (a.is_text() && is_moment(b));
        match fits {
            true => Ok(()),
            false => {
                let why = format!("Invalid operands for a comparison: {} and {}", a.noun(), b.noun());
                Err(Error::new(Kind::Type, why))
            }
        }
    }

    /// A number as text, as in standard SQL where one is joined to a text.
    pub(super) fn as_text(&self, operand: Expr) -> Result<Expr> {
        match self.type_of(&operand).is_number() {
            true => Ok(Expr::Cast(
                Box::new(operand),
                Box::new(conversion(&ast::DataType::Varchar(None), false)?),
            )),
            false => Ok(operand),
        }
    }

    pub(super) fn computable(&self, operator: Operator, left: &Expr, right: &Expr) -> Result<()> {
        let (a, b) = (self.type_of(left), self.type_of(right));
        let is_day = |type_of: Type| matches!(type_of, Type::Date | Type::Timestamp);
        let fits = (a.is_number() && b.is_number())
            || (operator == Operator::Plus && a.is_text() && b.is_text())
            || (matches!(operator, Operator::Plus | Operator::Minus) && is_day(a) && b.is_number())
            || (operator == Operator::Plus && a.is_number() && is_day(b))
            || (operator == Operator::Minus && is_day(a) && is_day(b));
        match fits {
            true => Ok(()),
            false => {
                let why = format!("Invalid operands for an operator: {} and {}", a.noun(), b.noun());
                Err(Error::new(Kind::Type, why))
            }
        }
    }
}
