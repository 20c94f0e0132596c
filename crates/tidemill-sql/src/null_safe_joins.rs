//! Joins with `IS NOT DISTINCT FROM`, where NULL equals NULL.
//!
//! DataFusion turns it into a hash join in which NULL equals NULL for all keys ([`NullEquality::NullEqualsNull`]), also for keys of `=` that later
//! rules add from WHERE or from adjacent joins. So `IS NOT DISTINCT FROM` stays a join condition during each optimizer pass, and becomes a
//! key at its end, when no rule adds another key.

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{JoinType, NullEquality, Result};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator};
use datafusion::optimizer::extract_equijoin_predicate::ExtractEquijoinPredicate;
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

type Rules = Vec<Arc<dyn OptimizerRule + Send + Sync>>;

/// Adds the rules that keep the two kinds of keys apart.
pub(crate) fn place(rules: &mut Rules) {
    let extract = ExtractEquijoinPredicate::new();
    for rule in rules.iter_mut() {
        if rule.name() == extract.name() {
            *rule = Arc::new(ExtractEqual(ExtractEquijoinPredicate::new()));
        }
    }
    rules.insert(0, Arc::new(NullSafeKeysAsConditions));
    rules.push(Arc::new(extract));
}

/// Turns the keys of inner joins in which NULL equals NULL back into conditions.
#[derive(Debug)]
struct NullSafeKeysAsConditions;

impl OptimizerRule for NullSafeKeysAsConditions {
    fn name(&self) -> &'static str {
        "null_safe_keys_as_conditions"
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Join(mut join) = plan else {
            return Ok(Transformed::no(plan));
        };
        let is_null_safe = join.null_equality == NullEquality::NullEqualsNull;
        if join.join_type != JoinType::Inner || !is_null_safe || join.on.is_empty() {
            return Ok(Transformed::no(LogicalPlan::Join(join)));
        }
        let keys = std::mem::take(&mut join.on).into_iter();
        let keys = keys.map(|(left, right)| {
            Expr::BinaryExpr(BinaryExpr::new(
                Box::new(left),
                Operator::IsNotDistinctFrom,
                Box::new(right),
            ))
        });
        join.filter = conjunction(keys.chain(join.filter.take()));
        join.null_equality = NullEquality::NullEqualsNothing;
        Ok(Transformed::yes(LogicalPlan::Join(join)))
    }
}

/// DataFusion's rule, for `=` only.
#[derive(Debug)]
struct ExtractEqual(ExtractEquijoinPredicate);

impl OptimizerRule for ExtractEqual {
    fn name(&self) -> &'static str {
        "extract_equal"
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Join(mut join) = plan else {
            return Ok(Transformed::no(plan));
        };
        let parts = join.filter.take().map_or_else(Vec::new, split_conjunction_owned);
        let (null_safe, others): (Vec<Expr>, Vec<Expr>) = parts.into_iter().partition(|part| {
            let Expr::BinaryExpr(of) = part else { return false };
            of.op == Operator::IsNotDistinctFrom
        });
        join.filter = conjunction(others);
        let mut rewritten = self.0.rewrite(LogicalPlan::Join(join), config)?;
        if let LogicalPlan::Join(join) = &mut rewritten.data {
            join.filter = conjunction(join.filter.take().into_iter().chain(null_safe));
        }
        Ok(rewritten)
    }
}
