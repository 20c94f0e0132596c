//! Joins that the planner does not take.
//!
//! It does not plan a subquery in ON that depends on the joined rows, but it does in WHERE. The condition of an inner join means the same
//! there, unless a later join adds rows. `SEMI JOIN` means `LEFT SEMI JOIN`, and `ANTI JOIN` means `LEFT ANTI JOIN`.

use std::ops::ControlFlow;

use sqlparser::ast::{BinaryOperator, Expr, JoinConstraint, JoinOperator as J, Select, Value};
use tidemill_ads::sql::{join_constraint, joined_in_pairs, walk};

use super::{and, for_each_conjunct, names_one_of};
use crate::{Error, Result};

/// Gives the joins of a SELECT these forms. `tables` are the names of its tables.
///
/// # Errors
///
/// [`Error::Unsupported`] for a subquery in the ON of an outer join that depends on the joined rows.
pub(super) fn put(select: &mut Select, tables: &[String]) -> Result<()> {
    let mut moved = Vec::new();
    for table in &mut select.from {
        let mut rest = table.joins.as_mut_slice();
        while let [join, behind @ ..] = rest {
            let operator = &mut join.join_operator;
            *operator = match std::mem::replace(operator, J::CrossJoin(JoinConstraint::None)) {
                J::Semi(on) => J::LeftSemi(on),
                J::Anti(on) => J::LeftAnti(on),
                other => other,
            };
            let adds_rows = |operator: &J| matches!(operator, J::Right(_) | J::RightOuter(_) | J::FullOuter(_));
            let is_last = !behind.iter().any(|join| adds_rows(&join.join_operator));
            if let (J::Join(JoinConstraint::On(on)) | J::Inner(JoinConstraint::On(on)), true) =
                (&mut *operator, is_last)
            {
                let (mut with, mut without) = (Vec::new(), Vec::new());
                for_each_conjunct(on, &mut |part| match has_subquery(part) {
                    true => with.push(part.clone()),
                    false => without.push(part.clone()),
                });
                if !with.is_empty() {
                    moved.extend(with);
                    *on = all_of(without).unwrap_or_else(|| Expr::value(Value::Boolean(true)));
                }
            } else if depends(operator, tables) {
                return Err(Error::Unsupported {
                    what:
                        "a subquery in the ON of an outer, SEMI or ANTI join that names a column of the joined tables"
                            .to_owned(),
                    hint: "join a subquery that has the condition in its WHERE: LEFT JOIN (SELECT … WHERE …) AS t ON …"
                        .to_owned(),
                });
            }
            rest = behind;
        }
    }
    if !moved.is_empty() {
        select.selection = all_of(select.selection.take().into_iter().chain(moved).collect());
    }
    Ok(())
}

fn all_of(parts: Vec<Expr>) -> Option<Expr> {
    let nested = |part| match part {
        Expr::BinaryOp {
            op: BinaryOperator::Or, ..
        } => Expr::Nested(Box::new(part)),
        part => part,
    };
    joined_in_pairs(parts.into_iter().map(nested).collect(), and)
}

/// Whether a query is part of an expression.
fn has_subquery(expr: &Expr) -> bool {
    let is_query = |part: &Expr| {
        matches!(
            part,
            Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } | Expr::AnyOp { .. } | Expr::AllOp { .. }
        )
    };
    walk::expressions(expr, &mut |part| match is_query(part) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    })
    .is_break()
}

/// Whether the condition of a join has a subquery that names one of these tables.
fn depends(operator: &J, tables: &[String]) -> bool {
    let Some(JoinConstraint::On(on)) = join_constraint(operator) else {
        return false;
    };
    walk::expressions(on, &mut |part| match part {
        Expr::Subquery(query) | Expr::Exists { subquery: query, .. } | Expr::InSubquery { subquery: query, .. }
            if names_one_of(&**query, tables) =>
        {
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    })
    .is_break()
}
