//! Joins that the planner does not take.
//!
//! A subquery in ON may depend on one side of the join alone, and in WHERE on both. The condition of an inner join means the same there,
//! unless a later join adds rows. `SEMI JOIN` means `LEFT SEMI JOIN`, and `ANTI JOIN` means `LEFT ANTI JOIN`.

use std::ops::ControlFlow;

use sqlparser::ast::{BinaryOperator, Expr, JoinConstraint, JoinOperator as J, Select, Value};
use tidemill_ads::sql::{joined_in_pairs, walk};

use super::{and, for_each_conjunct};

/// Gives the joins of a SELECT these forms.
pub(super) fn put(select: &mut Select) {
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
            }
            rest = behind;
        }
    }
    if !moved.is_empty() {
        select.selection = all_of(select.selection.take().into_iter().chain(moved).collect());
    }
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
