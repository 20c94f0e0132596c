//! Protects expressions that map different values to one: `CAST(price AS INTEGER)`, and the quotient of whole numbers.
//!
//! DataFusion's optimiser assumes that such expressions are injective. It turns `CAST(price AS INTEGER) = 3` into `price = 3.00`, and with
//! `id / 7 = 1` it takes `id` for a constant, which need not be sorted. A function around the expression prevents this.

use std::sync::{Arc, LazyLock};

use arrow_schema::{DataType, FieldRef};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, internal_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{
    BinaryExpr, Cast, ColumnarValue, Expr, ExprSchemable as _, Operator, ReturnFieldArgs, ScalarFunctionArgs,
    ScalarUDF, ScalarUDFImpl, Signature, TryCast, Volatility,
};

/// Wraps such expressions in the function.
#[derive(Debug)]
pub(crate) struct KeptWhole;

impl FunctionRewrite for KeptWhole {
    fn name(&self) -> &'static str {
        "kept_whole"
    }

    fn rewrite(&self, expr: Expr, schema: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        let is_many_to_one = match &expr {
            Expr::Cast(Cast { expr: of, field }) | Expr::TryCast(TryCast { expr: of, field }) => {
                let from = of.get_type(schema);
                from.is_ok_and(|from| gives_many_one(&from, field.data_type()))
            }
            Expr::BinaryExpr(BinaryExpr {
                op: Operator::Divide, ..
            }) => expr.get_type(schema).is_ok_and(|quotient| quotient.is_integer()),
            _ => false,
        };
        Ok(match is_many_to_one {
            true => Transformed::yes(Expr::ScalarFunction(ScalarFunction::new_udf(function(), vec![expr]))),
            false => Transformed::no(expr),
        })
    }
}

/// The function, which a worker finds by its name.
pub(crate) fn function() -> Arc<ScalarUDF> {
    static FUNCTION: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| {
        Arc::new(ScalarUDF::from(Whole {
            signature: Signature::any(1, Volatility::Immutable),
        }))
    });
    Arc::clone(&FUNCTION)
}

/// Whether a cast rounds or truncates in a way that the optimiser ignores; it handles dates and times.
fn gives_many_one(from: &DataType, to: &DataType) -> bool {
    match (scale(from), scale(to)) {
        (Some(from), Some(to)) => to < from,
        (Some(from), None) => from > 0 && to.is_integer(),
        (None, Some(_)) => from.is_floating(),
        (None, None) if from.is_floating() => to.is_integer() || to.primitive_width() < from.primitive_width(),
        _ => false,
    }
}

fn scale(data_type: &DataType) -> Option<i8> {
    match data_type {
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => Some(*scale),
        _ => None,
    }
}

/// Returns its argument.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Whole {
    signature: Signature,
}

impl ScalarUDFImpl for Whole {
    /// The space in the name keeps statements from calling it.
    fn name(&self) -> &'static str {
        "kept whole"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types {
            [of] => Ok(of.clone()),
            _ => internal_err!("{} of {} values", self.name(), types.len()),
        }
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        match args.arg_fields {
            [of] => Ok(Arc::clone(of)),
            fields => internal_err!("{} of {} values", self.name(), fields.len()),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match <[ColumnarValue; 1]>::try_from(args.args) {
            Ok([of]) => Ok(of),
            Err(args) => internal_err!("{} of {} values", self.name(), args.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn casts_that_round_or_cut_are_told_from_those_that_do_not() {
        use DataType as T;
        for (from, to, expected) in [
            (T::Decimal128(10, 2), T::Int32, true),
            (T::Decimal128(10, 0), T::Int64, false),
            (T::Decimal128(10, 2), T::Decimal128(10, 1), true),
            (T::Decimal128(10, 2), T::Decimal128(12, 4), false),
            (T::Decimal128(10, 2), T::Float64, false),
            (T::Decimal128(10, 2), T::Utf8, false),
            (T::Float64, T::Int64, true),
            (T::Float64, T::Float32, true),
            (T::Float32, T::Float64, false),
            (T::Float64, T::Decimal128(10, 2), true),
            (T::Int32, T::Decimal128(20, 2), false),
            (T::Int64, T::Int32, false),
            (T::Utf8, T::Int32, false),
        ] {
            assert_eq!(gives_many_one(&from, &to), expected, "{from} {to}");
        }
    }
}
