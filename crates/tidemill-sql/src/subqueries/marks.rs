//! IN and EXISTS in the SELECT list, as marks of joins.
//!
//! DataFusion creates such joins for conditions: [`DecorrelatePredicateSubquery`] replaces the subquery in a filter by the mark. So each
//! predicate is put into a filter, and the input and the condition of the result are used for the column.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode as _};
use datafusion::logical_expr::expr::InSubquery;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, Filter, LogicalPlan, LogicalPlanBuilder, Projection, Subquery};
use datafusion::optimizer::decorrelate_predicate_subquery::DecorrelatePredicateSubquery;
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{Optimizer, OptimizerConfig, OptimizerRule};

use super::has_predicate;

/// DataFusion's rules, with [`SubqueriesAsMarks`] before those that turn subqueries into joins.
pub(crate) fn rules() -> Vec<Arc<dyn OptimizerRule + Send + Sync>> {
    let mut rules = Optimizer::new().rules;
    let is_first =
        |rule: &Arc<dyn OptimizerRule + Send + Sync>| rule.name() == DecorrelatePredicateSubquery::new().name();
    let place = rules.iter().position(is_first).unwrap_or(0);
    rules.insert(place, Arc::new(SubqueriesAsMarks));
    rules
}

/// Replaces such predicates by marks.
#[derive(Debug)]
struct SubqueriesAsMarks;

impl OptimizerRule for SubqueriesAsMarks {
    fn name(&self) -> &'static str {
        "subqueries_as_marks"
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let plan = plan.map_subqueries(|subquery| subquery.transform_down(|node| self.rewrite(node, config)))?;
        let was_changed = plan.transformed;
        let LogicalPlan::Projection(projection) = plan.data else {
            return Ok(plan);
        };
        let mut has_any = false;
        for expr in &projection.expr {
            has_any |= has_predicate(expr)?;
        }
        if !has_any {
            let projection = LogicalPlan::Projection(projection);
            return Ok(Transformed::new_transformed(projection, was_changed));
        }
        let node = LogicalPlan::Projection(projection.clone());
        let names = NamePreserver::new(&node);
        let mut input = Arc::clone(&projection.input);
        let mut columns = Vec::with_capacity(projection.expr.len());
        for expr in projection.expr {
            let name = names.save(&expr);
            let marked = expr.transform_up(|part| {
                if !matches!(part, Expr::InSubquery(_) | Expr::Exists(_)) {
                    return Ok(Transformed::no(part));
                }
                Ok(match mark(&input, part.clone(), config)? {
                    Some((joined, mark)) => {
                        input = joined;
                        Transformed::yes(mark)
                    }
                    None => Transformed::no(part),
                })
            })?;
            columns.push(name.restore(marked.data));
        }
        let projection = Projection::try_new(columns, input)?;
        Ok(Transformed::yes(LogicalPlan::Projection(projection)))
    }
}

/// A plan joined with a subquery, and the mark that replaces the predicate; `None` if there is no such join.
fn mark(
    input: &Arc<LogicalPlan>,
    predicate: Expr,
    config: &dyn OptimizerConfig,
) -> Result<Option<(Arc<LogicalPlan>, Expr)>> {
    // If the subquery were the whole condition, the rule would filter rows instead of adding a mark.
    let filter = Filter::try_new(with_table(predicate)?.is_true(), Arc::clone(input))?;
    let joined = DecorrelatePredicateSubquery::new().rewrite(LogicalPlan::Filter(filter), config)?;
    let filter = match joined.data {
        LogicalPlan::Projection(projection) => Arc::unwrap_or_clone(projection.input),
        other => other,
    };
    let LogicalPlan::Filter(filter) = filter else {
        return Ok(None);
    };
    match filter.predicate {
        Expr::IsTrue(mark) if !has_predicate(&mark)? => Ok(Some((filter.input, *mark))),
        _ => Ok(None),
    }
}

/// Qualifies the column of an IN subquery: the rule would take the column of an aggregate twice, qualified and not.
fn with_table(predicate: Expr) -> Result<Expr> {
    let Expr::InSubquery(InSubquery {
        expr,
        subquery,
        negated,
    }) = predicate
    else {
        return Ok(predicate);
    };
    let plan = match subquery.subquery.head_output_expr()? {
        Some(Expr::Column(column)) if column.relation.is_none() => {
            let plan = LogicalPlanBuilder::from(Arc::unwrap_or_clone(subquery.subquery));
            Arc::new(plan.alias("in")?.build()?)
        }
        _ => subquery.subquery,
    };
    Ok(Expr::InSubquery(InSubquery::new(
        expr,
        Subquery {
            subquery: plan,
            ..subquery
        },
        negated,
    )))
}
