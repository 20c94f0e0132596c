//! `SCORE( n )` and `SCOREDISTINCT( n )`, which stand for those of the nth CONTAINS() of a query ("SCORE()" in ADS's help): they get its
//! arguments.

use std::ops::ControlFlow;

use sqlparser::ast::{self, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Spanned as _};
use sqlparser::tokenizer::Location;

use super::error::{Error, Kind, Result};
use super::walk::{self, Tree};

/// Gives each score of a query that names a CONTAINS() by its number the arguments of that.
///
/// # Errors
/// [`Kind::NoFunction`] for a number that no CONTAINS() has.
pub(super) fn write_out(query: &mut impl Tree) -> Result<()> {
    let (mut has_numbers, mut known): (bool, Vec<(Location, FunctionArguments)>) = (false, Vec::new());
    let _ = walk::expressions(query, &mut |expr| {
        has_numbers |= numbered(expr).is_some();
        if let Expr::Function(function) = expr
            && is_called(function, "CONTAINS")
        {
            known.push((function.name.span().start, function.args.clone()));
        }
        ControlFlow::<()>::Continue(())
    });
    if !has_numbers {
        return Ok(());
    }
    known.sort_by_key(|(place, _)| *place);
    let flow = walk::expressions_mut(query, &mut |expr| {
        let Some(number) = numbered(expr) else {
            return ControlFlow::Continue(());
        };
        let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        match (place.and_then(|place| known.get(place)), expr) {
            (Some((_, arguments)), Expr::Function(function)) => {
                function.args = arguments.clone();
                ControlFlow::Continue(())
            }
            (_, expr) => {
                let why = format!("{expr} stands for no CONTAINS(): the statement has {}", known.len());
                ControlFlow::Break(Error::new(Kind::NoFunction, why).at(expr.span().start))
            }
        }
    });
    match flow {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

/// The number that a score has instead of a text and a condition.
fn numbered(expr: &Expr) -> Option<String> {
    let Expr::Function(function) = expr else { return None };
    if !is_called(function, "SCORE") && !is_called(function, "SCOREDISTINCT") {
        return None;
    }
    let FunctionArguments::List(list) = &function.args else {
        return None;
    };
    match list.args.as_slice() {
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(value)))] => match &value.value {
            ast::Value::Number(number, _) => Some(number.clone()),
            _ => None,
        },
        _ => None,
    }
}

fn is_called(function: &ast::Function, name: &str) -> bool {
    match function.name.0.as_slice() {
        [part] => part
            .as_ident()
            .is_some_and(|ident| ident.value.eq_ignore_ascii_case(name)),
        _ => false,
    }
}
