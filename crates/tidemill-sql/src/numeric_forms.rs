//! Numeric expressions that DataFusion compares wrongly, rewritten.
//!
//! The type of `ROUND(d, 1)` for a decimal depends on its second argument being a literal. While the planner casts that argument, it is none, and
//! a comparison gets operands of two types. So the argument is a literal of the function's own type from the start.
//!
//! DataFusion orders floating-point numbers by their bits, so that -0.0 is less than 0.0; in IEEE 754 and in SQL they are equal. Negation of
//! 0 gives -0.0, so `-x` becomes `0 - x`.

use arrow_schema::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable as _, Operator, lit};

/// Rewrites numeric expressions.
#[derive(Debug)]
pub(crate) struct NumericForms;

impl FunctionRewrite for NumericForms {
    fn name(&self) -> &'static str {
        "numeric_forms"
    }

    fn rewrite(&self, mut expr: Expr, schema: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        match &mut expr {
            Expr::ScalarFunction(call) if matches!(call.name(), "round" | "trunc") => {
                if let [_, digits @ Expr::Literal(ScalarValue::Int64(Some(_)), _)] = call.args.as_mut_slice()
                    && let Expr::Literal(ScalarValue::Int64(Some(number)), _) = digits
                    && let Ok(number) = i32::try_from(*number)
                {
                    *digits = lit(number);
                    return Ok(Transformed::yes(expr));
                }
            }
            Expr::Negative(inner) if matches!(inner.get_type(schema), Ok(DataType::Float64 | DataType::Float32)) => {
                let zero = match inner.get_type(schema)? {
                    DataType::Float32 => lit(0.0_f32),
                    _ => lit(0.0_f64),
                };
                let right = std::mem::replace(inner, Box::new(lit(0)));
                let (left, op) = (Box::new(zero), Operator::Minus);
                return Ok(Transformed::yes(Expr::BinaryExpr(BinaryExpr { left, op, right })));
            }
            _ => {}
        }
        Ok(Transformed::no(expr))
    }
}
