//! What GROUP_CONCAT says beside its argument.

use sqlparser::ast::{self, FunctionArg, FunctionArgExpr, FunctionArguments};

use super::Scope;
use crate::sql::error::{Error, Kind, Result};
use crate::sql::expression::Expr;
use crate::sql::group::{Concat, DEFAULT_LENGTH, MAX_LENGTH};
use crate::sql::sort::descends;
use crate::sql::value::Value;

impl Scope<'_> {
    /// How GROUP_CONCAT joins: what the token pass has made of SEPARATOR and MAX_LENGTH stands behind the argument.
    pub(super) fn concat(&mut self, list: &[FunctionArg], order: &[ast::OrderByExpr]) -> Result<Concat> {
        let mut literals = list.iter().skip(1).map(|argument| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(ast::Expr::Value(value))) => self.value(&value.value),
            _ => Err(Error::new(Kind::NoFunction, "GROUP_CONCAT() takes one argument")),
        });
        let (separator, max_length) = (literals.next().transpose()?, literals.next().transpose()?);
        let max_length = match max_length {
            None => DEFAULT_LENGTH,
            Some(Expr::Value(Value::Integer(length))) => usize::try_from(length)
                .ok()
                .filter(|length| *length <= MAX_LENGTH)
                .ok_or_else(|| Error::new(Kind::Value, format!("MAX_LENGTH is at most {MAX_LENGTH}, not {length}")))?,
            Some(_) => return Err(Error::new(Kind::Syntax, "Expected a number after MAX_LENGTH")),
        };
        let separator = match separator {
            None => ",".to_owned(),
            Some(Expr::Value(Value::Text(text))) => text,
            Some(_) => return Err(Error::new(Kind::Syntax, "Expected a text after SEPARATOR")),
        };
        let order = order.iter().map(|term| {
            let key = self.bind(&term.expr)?;
            Ok((self.sort_key(key), descends(term)?))
        });
        Ok(Concat {
            order: order.collect::<Result<Vec<_>>>()?,
            separator,
            max_length,
        })
    }
}

/// What the rows of an aggregate are ordered by.
pub(super) fn orders_of(arguments: &FunctionArguments) -> &[ast::OrderByExpr] {
    let FunctionArguments::List(list) = arguments else {
        return &[];
    };
    let order = list.clauses.iter().find_map(|clause| match clause {
        ast::FunctionArgumentClause::OrderBy(order) => Some(order.as_slice()),
        _ => None,
    });
    order.unwrap_or_default()
}
