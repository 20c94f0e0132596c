//! Expressions that differ in a CAST only: `MAX(at), MAX(CAST(at AS DATE))`, `GROUP BY paid, CAST(paid AS INTEGER)`.
//!
//! The planner knows an expression by its name, in which casts do not appear. If two names would be the same, each cast of the SELECT is
//! wrapped in a function whose second argument is the type. The optimizer removes the function.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use arrow_schema::{DataType, FieldRef};
use datafusion::common::{Result as EngineResult, internal_err};
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{
    ColumnarValue, Expr as Planned, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, GroupByExpr, Ident, ObjectName, OrderByKind, Query, Select, SetExpr, Value,
};

use tidemill_ads::sql::walk;

use super::outside_queries;
use crate::Result;

/// The name of the function. The space in it keeps statements from calling it.
const NAME: &str = "named cast";

/// Names the casts of a SELECT and of its ORDER BY apart.
pub(super) fn put(query: &mut Query) -> Result<()> {
    let SetExpr::Select(select) = &mut *query.body else {
        return Ok(());
    };
    if !collide(select)? {
        return Ok(());
    }
    outside_queries(&mut select.projection, &mut named)?;
    outside_queries(&mut select.having, &mut named)?;
    if let GroupByExpr::Expressions(keys, _) = &mut select.group_by {
        outside_queries(keys, &mut named)?;
    }
    if let Some(OrderByKind::Expressions(keys)) = query.order_by.as_mut().map(|order| &mut order.kind) {
        for key in keys {
            outside_queries(&mut key.expr, &mut named)?;
        }
    }
    Ok(())
}

/// Whether two keys or calls have the same name without being the same.
fn collide(select: &Select) -> Result<bool> {
    let is_cast = |part: &Expr| match part {
        Expr::Cast { .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    if walk::expressions(select, &mut |part| is_cast(part)).is_continue() {
        return Ok(false);
    }
    let (mut names, mut collide) = (HashMap::new(), false);
    let mut add = |expr: &Expr| -> Result<()> {
        let mut bare = expr.clone();
        outside_queries(&mut bare, &mut |part| {
            if let Expr::Cast { expr, .. } = part {
                *part = (**expr).clone();
            }
            Ok(())
        })?;
        let full = expr.to_string();
        collide |= *names.entry(bare.to_string()).or_insert_with(|| full.clone()) != full;
        Ok(())
    };
    if let GroupByExpr::Expressions(keys, _) = &select.group_by {
        keys.iter().try_for_each(&mut add)?;
    }
    let mut calls = (select.projection.clone(), select.having.clone());
    let mut add_call = |part: &mut Expr| match part {
        Expr::Function(_) => add(part),
        _ => Ok(()),
    };
    outside_queries(&mut calls.0, &mut add_call)?;
    outside_queries(&mut calls.1, &mut add_call)?;
    Ok(collide)
}

fn named(expr: &mut Expr) -> Result<()> {
    if let Expr::Cast { data_type, .. } = &*expr {
        let name = Value::SingleQuotedString(data_type.to_string()).with_empty_span();
        let args = [expr.clone(), Expr::Value(name)].map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg)));
        *expr = super::function(NAME, args.into());
        if let Expr::Function(function) = expr {
            function.name = ObjectName::from(vec![Ident::with_quote('"', NAME)]);
        }
    }
    Ok(())
}

/// The function.
pub(crate) fn function() -> Arc<ScalarUDF> {
    static FUNCTION: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| {
        Arc::new(ScalarUDF::from(NamedCast {
            signature: Signature::any(2, Volatility::Immutable),
        }))
    });
    Arc::clone(&FUNCTION)
}

/// Returns its first argument.
#[derive(Debug, PartialEq, Eq, Hash)]
struct NamedCast {
    signature: Signature,
}

impl ScalarUDFImpl for NamedCast {
    fn name(&self) -> &'static str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> EngineResult<DataType> {
        match types {
            [of, _] => Ok(of.clone()),
            _ => internal_err!("{NAME} of {} values", types.len()),
        }
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> EngineResult<FieldRef> {
        match args.arg_fields {
            [of, _] => Ok(Arc::clone(of)),
            fields => internal_err!("{NAME} of {} values", fields.len()),
        }
    }

    fn simplify(&self, args: Vec<Planned>, _: &SimplifyContext) -> EngineResult<ExprSimplifyResult> {
        match <[Planned; 2]>::try_from(args) {
            Ok([of, _]) => Ok(ExprSimplifyResult::Simplified(of)),
            Err(args) => Ok(ExprSimplifyResult::Original(args)),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> EngineResult<ColumnarValue> {
        match <[ColumnarValue; 2]>::try_from(args.args) {
            Ok([of, _]) => Ok(of),
            Err(args) => internal_err!("{NAME} of {} values", args.len()),
        }
    }
}
