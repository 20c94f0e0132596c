//! Functions of PostgreSQL as expressions of the engine's functions.
//!
//! | function | means |
//! |---|---|
//! | `div(a, b)` | the whole part of `a / b` |
//! | `width_bucket(a, low, high, n)` | the number of the bucket of `a`, of `n` equal buckets from `low` to `high`; 0 below, `n + 1` above |
//! | `percentile_disc(p) WITHIN GROUP (ORDER BY a)` | the first value that at least the share `p` of the values does not exceed |
//!
//! (PostgreSQL 15, 9.3. Mathematical Functions and Operators, and 9.21. Aggregate Functions.)

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments, Value};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;
use tidemill_ads::sql::walk;

use super::is_called;

const DIV: &str = "CAST(trunc(CAST($1 AS DOUBLE) / CAST($2 AS DOUBLE)) AS BIGINT)";

const WIDTH_BUCKET: &str = "CASE \
    WHEN $2 < $3 AND $1 < $2 OR $2 > $3 AND $1 > $2 THEN 0 \
    WHEN $2 < $3 AND $1 >= $3 OR $2 > $3 AND $1 <= $3 THEN $4 + 1 \
    ELSE CAST(floor(CAST($1 - $2 AS DOUBLE) * $4 / CAST($3 - $2 AS DOUBLE)) AS BIGINT) + 1 END";

/// The values in the order that the call has.
const PERCENTILE_DISC: &str = "array_element(array_agg($2) FILTER (WHERE $2 IS NOT NULL), \
    greatest(CAST(ceil($1 * count($2)) AS BIGINT), 1))";

/// The expression that means the same; `None` for other functions, and with other arguments.
pub(super) fn as_others(function: &Function) -> Option<Expr> {
    match arguments(function)?.as_slice() {
        given @ [_, _] if is_called(function, "DIV") => filled(DIV, given),
        given @ [_, _, _, _] if is_called(function, "WIDTH_BUCKET") => filled(WIDTH_BUCKET, given),
        [share] if is_called(function, "PERCENTILE_DISC") => {
            let [order] = function.within_group.as_slice() else {
                return None;
            };
            let mut same = filled(PERCENTILE_DISC, &[share, &order.expr])?;
            let _: ControlFlow<()> = walk::expressions_mut(&mut same, &mut |part| {
                if let Expr::Function(values) = part
                    && is_called(values, "array_agg")
                    && let FunctionArguments::List(list) = &mut values.args
                {
                    let order = vec![order.clone()];
                    list.clauses.push(FunctionArgumentClause::OrderBy(order));
                }
                ControlFlow::Continue(())
            });
            Some(same)
        }
        _ => None,
    }
}

/// A template with these expressions in the places of `$1` and so on.
fn filled(template: &str, given: &[&Expr]) -> Option<Expr> {
    let dialect = GenericDialect {};
    let mut filled = Parser::new(&dialect).try_with_sql(template).ok()?.parse_expr().ok()?;
    let _: ControlFlow<()> = walk::expressions_mut(&mut filled, &mut |part| {
        let Expr::Value(value) = &*part else {
            return ControlFlow::Continue(());
        };
        let number = match &value.value {
            Value::Placeholder(name) => name.strip_prefix('$').and_then(|number| number.parse::<usize>().ok()),
            _ => None,
        };
        if let Some(given) = number.and_then(|number| given.get(number.checked_sub(1)?)) {
            *part = Expr::Nested(Box::new(Expr::clone(given)));
        }
        ControlFlow::Continue(())
    });
    Some(filled)
}

/// The arguments of a function that has no others than values.
fn arguments(function: &Function) -> Option<Vec<&Expr>> {
    let FunctionArguments::List(list) = &function.args else {
        return None;
    };
    let values = list.args.iter().map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    });
    values.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_postgresql_are_expressions_of_the_engines() {
        for (call, expected) in [
            (
                "div(a, 2)",
                Some("CAST(trunc(CAST((a) AS DOUBLE) / CAST((2) AS DOUBLE)) AS BIGINT)"),
            ),
            (
                "percentile_disc(0.5) WITHIN GROUP (ORDER BY a DESC)",
                Some(
                    "array_element(array_agg((a) ORDER BY a DESC) FILTER (WHERE (a) IS NOT NULL), \
                     greatest(CAST(CEIL((0.5) * count((a))) AS BIGINT), 1))",
                ),
            ),
            ("div(a)", None),
            ("percentile_disc(0.5)", None),
            ("abs(a)", None),
        ] {
            let dialect = GenericDialect {};
            let parsed = Parser::new(&dialect)
                .try_with_sql(call)
                .and_then(|mut parser| parser.parse_expr());
            let Ok(Expr::Function(function)) = parsed else {
                panic!("{call}: {parsed:?}");
            };
            assert_eq!(
                as_others(&function).map(|same| same.to_string()).as_deref(),
                expected,
                "{call}"
            );
        }
    }
}
