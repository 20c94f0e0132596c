//! IN and EXISTS in the SELECT list, as marks of joins.
//!
//! DataFusion creates such joins for conditions: [`DecorrelatePredicateSubquery`] replaces the subquery in a filter by the mark. So each
//! predicate is put into a filter, and the input and the condition of the result are used for the column.
//!
//! A condition on the outer row moves out of its subquery, and DataFusion then gives all marks of that condition the same name. So these
//! marks get unique names: `… WHERE EXISTS (SELECT 1 FROM b WHERE EXISTS (SELECT …) OR NOT EXISTS (SELECT …) OR b.y = a.y)`.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode as _};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::expr::InSubquery;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, Filter, LogicalPlan, LogicalPlanBuilder, Projection, Subquery};
use datafusion::optimizer::decorrelate_predicate_subquery::DecorrelatePredicateSubquery;
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::simplify_expressions::SimplifyExpressions;
use datafusion::optimizer::{Optimizer, OptimizerConfig, OptimizerRule};

use super::has_predicate;
use crate::null_safe_joins;
use crate::scan_conditions::SimplifySupported;
use crate::window_names::OneNamePerWindow;

/// DataFusion's rules, with [`SubqueriesAsMarks`] before those that turn subqueries into joins, and with [`SimplifySupported`],
/// [`OneNamePerWindow`] and those of [`null_safe_joins`].
pub(crate) fn rules() -> Vec<Arc<dyn OptimizerRule + Send + Sync>> {
    let mut rules = Optimizer::new().rules;
    let is_first =
        |rule: &Arc<dyn OptimizerRule + Send + Sync>| rule.name() == DecorrelatePredicateSubquery::new().name();
    let place = rules.iter().position(is_first).unwrap_or(0);
    rules.insert(place, Arc::new(SubqueriesAsMarks));
    null_safe_joins::place(&mut rules);
    rules.push(Arc::new(OneNamePerWindow));
    let simplify = SimplifyExpressions::default();
    for rule in rules.iter_mut().filter(|rule| rule.name() == simplify.name()) {
        *rule = Arc::new(SimplifySupported(SimplifyExpressions::default()));
    }
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
        let projection = match plan.data {
            LogicalPlan::Projection(projection) => projection,
            LogicalPlan::Filter(mut filter) if has_predicate(&filter.predicate)? => {
                filter.predicate = filter
                    .predicate
                    .transform_up(|part| with_table(part).map(Transformed::yes))?
                    .data;
                let filter = with_named_marks(filter, config)?;
                return Ok(Transformed::new_transformed(
                    filter.data,
                    filter.transformed || was_changed,
                ));
            }
            other => return Ok(Transformed::new_transformed(other, was_changed)),
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

/// Replaces each predicate in conditions on the outer row by a mark with a unique name.
fn with_named_marks(filter: Filter, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
    let columns = filter.input.schema().columns();
    let mut input = Arc::clone(&filter.input);
    let mut is_changed = false;
    let mut parts = Vec::new();
    for part in split_conjunction_owned(filter.predicate.clone()) {
        if !part.contains_outer() || !has_predicate(&part)? {
            parts.push(part);
            continue;
        }
        let marked = part.transform_up(|part| {
            if !matches!(part, Expr::InSubquery(_) | Expr::Exists(_)) {
                return Ok(Transformed::no(part));
            }
            let Some((joined, mark)) = mark(&input, part.clone(), config)? else {
                return Ok(Transformed::no(part));
            };
            let known = input.schema().columns().into_iter().map(Expr::Column);
            // No statement uses such a column name.
            let name = config.alias_generator().next("mark of subquery");
            let with_mark: Vec<Expr> = known.chain([mark.alias(&name)]).collect();
            input = Arc::new(LogicalPlan::Projection(Projection::try_new(with_mark, joined)?));
            Ok(Transformed::yes(Expr::Column(Column::new_unqualified(name))))
        })?;
        is_changed |= marked.transformed;
        parts.push(marked.data);
    }
    let (Some(predicate), true) = (conjunction(parts), is_changed) else {
        return Ok(Transformed::no(LogicalPlan::Filter(filter)));
    };
    let marked = LogicalPlan::Filter(Filter::try_new(predicate, input)?);
    let columns = columns.into_iter().map(Expr::Column).collect();
    let projection = Projection::try_new(columns, Arc::new(marked))?;
    Ok(Transformed::yes(LogicalPlan::Projection(projection)))
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
