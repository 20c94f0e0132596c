//! Columns of one name in the correlated condition of a subquery over several tables.
//!
//! When DataFusion makes a join of a subquery, it moves the conditions on the outer row to the join, and gives all their columns the subquery's
//! own name instead of their tables'. In `EXISTS (SELECT … FROM a JOIN b ON … WHERE a.i = outer.g AND b.i = outer.y)` it then takes `a.i` and
//! `b.i` for one column. So such columns get names of their own below the condition.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::utils::{conjunction, split_conjunction, split_conjunction_owned};
use datafusion::logical_expr::{BinaryExpr, Expr, Filter, LogicalPlan, Operator, Projection};

use super::below::unsupported;

/// Names the columns apart in all subqueries of a plan.
pub(crate) fn put(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut count = 0;
    plan.transform_up_with_subqueries(|node| match node {
        LogicalPlan::Subquery(lateral) if !is_distinct_by_row(&lateral.subquery)? => Err(unsupported(
            "DISTINCT in a LATERAL subquery that depends on its outer row by other than =",
            "leave out LATERAL and DISTINCT, join the tables, and select DISTINCT columns of both",
        )),
        LogicalPlan::Filter(filter) if filter.predicate.contains_outer() => name_apart(filter, &mut count),
        node => Ok(Transformed::no(node)),
    })
    .data()
}

/// Whether DISTINCT gives the same rows when the conditions on the outer row have moved out of the subquery. Beside an equal column it does.
fn is_distinct_by_row(subquery: &LogicalPlan) -> Result<bool> {
    let has_distinct = subquery.exists(|node| Ok(matches!(node, LogicalPlan::Distinct(_))))?;
    let has_other = subquery.exists(|node| {
        let LogicalPlan::Filter(filter) = node else {
            return Ok(false);
        };
        let parts = split_conjunction(&filter.predicate).into_iter();
        let mut parts = parts.filter(|part| part.contains_outer());
        Ok(parts.any(|part| !matches!(part, Expr::BinaryExpr(BinaryExpr { op: Operator::Eq, .. }))))
    })?;
    Ok(!has_distinct || !has_other)
}

fn name_apart(filter: Filter, count: &mut usize) -> Result<Transformed<LogicalPlan>> {
    let schema = Arc::clone(filter.input.schema());
    let is_shared = |column: &Column| schema.iter().filter(|(_, field)| *field.name() == column.name).count() > 1;
    let mut named: Vec<(Column, String)> = Vec::new();
    let mut parts = Vec::new();
    for part in split_conjunction_owned(filter.predicate.clone()) {
        if !part.contains_outer() {
            parts.push(part);
            continue;
        }
        let part = part.transform_up(|part| match part {
            Expr::Column(column) if is_shared(&column) => {
                let known = named.iter().find(|(known, _)| *known == column);
                let name = match known {
                    Some((_, name)) => name.clone(),
                    None => {
                        *count += 1;
                        // A name that no statement uses.
                        let name = format!("correlated column {count}");
                        named.push((column, name.clone()));
                        name
                    }
                };
                Ok(Transformed::yes(Expr::Column(Column::new_unqualified(name))))
            }
            part => Ok(Transformed::no(part)),
        });
        parts.push(part.data()?);
    }
    let (false, Some(predicate)) = (named.is_empty(), conjunction(parts)) else {
        return Ok(Transformed::no(LogicalPlan::Filter(filter)));
    };
    let columns = || schema.columns().into_iter().map(Expr::Column);
    let apart = named.into_iter().map(|(column, name)| Expr::Column(column).alias(name));
    let input = Projection::try_new(columns().chain(apart).collect(), filter.input)?;
    let filter = Filter::try_new(predicate, Arc::new(LogicalPlan::Projection(input)))?;
    let projection = Projection::try_new(columns().collect(), Arc::new(LogicalPlan::Filter(filter)))?;
    Ok(Transformed::yes(LogicalPlan::Projection(projection)))
}
