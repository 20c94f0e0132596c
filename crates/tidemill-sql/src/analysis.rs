//! The analyzer rules for logical plans, and the functions that they insert.

use std::sync::{Arc, LazyLock};

use datafusion::execution::FunctionRegistry as _;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::ScalarUDF;
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::optimizer::{Analyzer, AnalyzerRule};

use crate::binary_forms::{BinaryForms, LiteralTexts};
use crate::binary_functions;
use crate::blanks::BlanksToFunctions;
use crate::checked_arithmetic::{CheckedConstants, WindowArguments};
use crate::dates_with_numbers::{ColumnsOfDatesAndNumbers, DatesWithNumbers};
use crate::exact_sum::exact_sum;
use crate::floats_with_decimals::{ColumnsWithDecimals, FloatsWithDecimals};
use crate::in_lists::ListsOfLiterals;
use crate::many_to_one::{self, KeptWhole};
use crate::moments_as_text::MomentsAsText;
use crate::numeric_forms::NumericForms;
use crate::numeric_text::{self, ByKeys, SortedByKeys};
use crate::planner_forms::named_casts;
use crate::repeated_rows::RepeatedRows;
use crate::subqueries::below::SubqueriesBelow;
use crate::subqueries::limited::LimitsByRow;
use crate::subqueries::scalar::{ScalarSubqueries, only_value, perhaps_value};

/// Shared by all statements.
static BINARY_FUNCTIONS: LazyLock<Vec<Arc<ScalarUDF>>> = LazyLock::new(binary_functions::all);

/// The rules in order: DataFusion's, with those of this crate before and after.
pub(crate) fn rules() -> Vec<Arc<dyn AnalyzerRule + Send + Sync>> {
    let mut rules: Vec<Arc<dyn AnalyzerRule + Send + Sync>> = vec![
        Arc::new(ColumnsOfDatesAndNumbers),
        Arc::new(RepeatedRows),
        Arc::new(SortedByKeys),
        Arc::new(ColumnsWithDecimals),
        Arc::new(SubqueriesBelow),
        // After the rules for keys of sorts.
        Arc::new(ScalarSubqueries),
        Arc::new(LimitsByRow),
    ];
    rules.extend(Analyzer::new().rules);
    rules.push(Arc::new(MomentsAsText));
    rules.push(Arc::new(WindowArguments));
    rules
}

/// Registers the functions, and the rewrites of expressions that precede the rules; `has_blanks` says whether blanks of xBase tables are
/// values.
pub(crate) fn register(state: &mut SessionState, has_blanks: bool) {
    let of_plans = [
        many_to_one::function(),
        only_value(),
        perhaps_value(),
        named_casts::function(),
    ];
    let of_plans = numeric_text::functions().into_iter().chain(of_plans);
    // Only an immutable registry refuses.
    for function in BINARY_FUNCTIONS.iter().cloned().chain(of_plans) {
        let _ = state.register_udf(function);
    }
    let _ = state.register_udaf(exact_sum());
    let _ = state.register_expr_planner(Arc::new(BinaryForms));
    let rewrites: [Arc<dyn FunctionRewrite + Send + Sync>; 8] = [
        Arc::new(ListsOfLiterals),
        Arc::new(NumericForms),
        Arc::new(DatesWithNumbers),
        Arc::new(CheckedConstants),
        Arc::new(ByKeys),
        Arc::new(LiteralTexts),
        Arc::new(KeptWhole),
        Arc::new(FloatsWithDecimals),
    ];
    for rewrite in rewrites {
        let _ = state.register_function_rewrite(rewrite);
    }
    if has_blanks {
        let _ = state.register_function_rewrite(Arc::new(BlanksToFunctions));
    }
}
