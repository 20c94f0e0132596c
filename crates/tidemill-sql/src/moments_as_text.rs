//! Dates with times as text, `CAST(at AS VARCHAR)`: with a blank between the two, as ADS, PostgreSQL and the SQL standard write them.
//! Arrow's own cast has a `T` there.

use std::sync::{Arc, LazyLock};

use arrow_cast::display::FormatOptions;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, internal_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{
    Cast, ColumnarValue, Expr, ExprSchemable as _, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TryCast,
    Volatility,
};

/// Has a function make such text.
#[derive(Debug)]
pub(crate) struct MomentsAsText;

impl FunctionRewrite for MomentsAsText {
    fn name(&self) -> &'static str {
        "moments_as_text"
    }

    fn rewrite(&self, expr: Expr, schema: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        let (of, to) = match expr {
            Expr::Cast(Cast { ref expr, ref field }) | Expr::TryCast(TryCast { ref expr, ref field }) => {
                (expr, field.data_type())
            }
            _ => return Ok(Transformed::no(expr)),
        };
        let is_moment = of
            .get_type(schema)
            .is_ok_and(|of| matches!(of, DataType::Timestamp(..)));
        if !is_moment || !to.is_string() {
            return Ok(Transformed::no(expr));
        }
        let text = ScalarFunction::new_udf(function(), vec![(**of).clone()]);
        let text = Expr::ScalarFunction(text);
        Ok(Transformed::yes(match to {
            DataType::Utf8 => text,
            to => Expr::Cast(Cast::new(Box::new(text), to.clone())),
        }))
    }
}

/// The function, which a worker finds by its name.
pub(crate) fn function() -> Arc<ScalarUDF> {
    static FUNCTION: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| {
        Arc::new(ScalarUDF::from(MomentAsText {
            signature: Signature::any(1, Volatility::Immutable),
        }))
    });
    Arc::clone(&FUNCTION)
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct MomentAsText {
    signature: Signature,
}

impl ScalarUDFImpl for MomentAsText {
    /// No statement calls a function by a name with a space.
    fn name(&self) -> &'static str {
        "moment as text"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let options = CastOptions {
            safe: false,
            format_options: FormatOptions::default()
                .with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.f"))
                .with_timestamp_tz_format(Some("%Y-%m-%d %H:%M:%S%.f%:z")),
        };
        let moments = ColumnarValue::values_to_arrays(&args.args)?;
        let [moments] = moments.as_slice() else {
            return internal_err!("{} of {} values", self.name(), moments.len());
        };
        let texts = cast_with_options(moments, &DataType::Utf8, &options)?;
        Ok(ColumnarValue::Array(texts))
    }
}
