//! LIMIT in a correlated subquery: `LATERAL (SELECT … WHERE c.id = o.customer ORDER BY day DESC LIMIT 3)`.
//!
//! DataFusion moves the correlated condition into a join, so that a limit below would apply to the rows of all outer rows together. So the
//! rows are numbered per value of the columns compared with the outer row, in the subquery's order, and the limit becomes a condition on
//! the number.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult as _};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    BinaryExpr, Expr, FetchType, Filter, Limit, LogicalPlan, LogicalPlanBuilder, Operator, Projection, SkipType,
    SortExpr, lit,
};
use datafusion::optimizer::AnalyzerRule;

use crate::row_numbers::with_row_number;

/// Replaces such limits by conditions.
#[derive(Debug)]
pub(crate) struct LimitsByRow;

impl AnalyzerRule for LimitsByRow {
    fn name(&self) -> &'static str {
        "limits_by_row"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(|node| match node {
            LogicalPlan::Limit(limit) => Ok(match Limited::of(&limit)? {
                Some(limited) => Transformed::yes(limited.numbered()?),
                None => Transformed::no(LogicalPlan::Limit(limit)),
            }),
            node => Ok(Transformed::no(node)),
        })
        .data()
    }
}

/// A limit over a correlated condition.
struct Limited {
    skip: usize,
    fetch: usize,
    /// The projections above the sort, the topmost first.
    above: Vec<Projection>,
    order: Vec<SortExpr>,
    /// The projections below the sort, the topmost first.
    below: Vec<Projection>,
    /// Comparisons of columns with the outer row.
    comparisons: Vec<Expr>,
    /// The compared columns.
    keys: Vec<Column>,
    /// The rows without the correlated conditions.
    rows: LogicalPlan,
}

impl Limited {
    /// `None` if the limit is not correlated, or not only by equality of columns.
    fn of(limit: &Limit) -> Result<Option<Self>> {
        let (SkipType::Literal(skip), FetchType::Literal(Some(fetch))) =
            (limit.get_skip_type()?, limit.get_fetch_type()?)
        else {
            return Ok(None);
        };
        let (above, mut node) = projections(&limit.input);
        let mut order = Vec::new();
        if let LogicalPlan::Sort(sort) = &**node {
            order.clone_from(&sort.expr);
            node = &sort.input;
        }
        let (below, node) = projections(node);
        let LogicalPlan::Filter(filter) = &**node else {
            return Ok(None);
        };
        let (comparisons, others): (Vec<Expr>, Vec<Expr>) = split_conjunction_owned(filter.predicate.clone())
            .into_iter()
            .partition(Expr::contains_outer);
        let keys: Option<Vec<Column>> = comparisons.iter().map(column_compared).collect();
        let Some(keys) = keys.filter(|keys| !keys.is_empty()) else {
            return Ok(None);
        };
        let rows = match conjunction(others) {
            Some(others) => LogicalPlan::Filter(Filter::try_new(others, Arc::clone(&filter.input))?),
            None => LogicalPlan::clone(&filter.input),
        };
        Ok(Some(Self {
            skip,
            fetch,
            above,
            order,
            below,
            comparisons,
            keys,
            rows,
        }))
    }

    fn numbered(self) -> Result<LogicalPlan> {
        let mut rows = LogicalPlanBuilder::from(self.rows);
        for projection in self.below.into_iter().rev() {
            let known: HashSet<Column> = projection.schema.columns().into_iter().collect();
            let keys = self.keys.iter().filter(|key| !known.contains(key));
            let keys = keys.cloned().map(Expr::Column);
            rows = rows.project(projection.expr.into_iter().chain(keys))?;
        }
        let columns = rows.schema().columns();
        let keys = self.keys.iter().cloned().map(Expr::Column).collect();
        let (mut rows, number) = with_row_number(rows, keys, self.order)?;
        let (skip, last) = (self.skip as u64, self.skip.saturating_add(self.fetch) as u64);
        let is_within = number.clone().gt(lit(skip)).and(number.lt_eq(lit(last)));
        let condition = conjunction(self.comparisons.into_iter().chain([is_within]));
        if let Some(condition) = condition {
            rows = rows.filter(condition)?;
        }
        if self.above.is_empty() {
            return rows.project(columns.into_iter().map(Expr::Column))?.build();
        }
        for projection in self.above.into_iter().rev() {
            rows = rows.project(projection.expr)?;
        }
        rows.build()
    }
}

/// The projections at the top of a plan, and the plan below them.
fn projections(plan: &Arc<LogicalPlan>) -> (Vec<Projection>, &Arc<LogicalPlan>) {
    let (mut found, mut node) = (Vec::new(), plan);
    while let LogicalPlan::Projection(projection) = &**node {
        found.push(projection.clone());
        node = &projection.input;
    }
    (found, node)
}

/// The column that a condition compares with the outer row by `=`.
fn column_compared(condition: &Expr) -> Option<Column> {
    let Expr::BinaryExpr(BinaryExpr {
        left,
        op: Operator::Eq,
        right,
    }) = condition
    else {
        return None;
    };
    match (&**left, &**right) {
        (Expr::Column(column), outer) | (outer, Expr::Column(column))
            if outer.column_refs().is_empty() && outer.contains_outer() =>
        {
            Some(column.clone())
        }
        _ => None,
    }
}
