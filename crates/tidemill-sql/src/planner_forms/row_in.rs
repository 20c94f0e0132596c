//! `(a, b) IN (SELECT c, d …)`, as EXISTS over the rows of the subquery.
//!
//! It is unknown where no row is equal and one may be (ISO/IEC 9075-2, 8.2 and 8.4): where `a = c AND b = d` is NULL.

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, JoinConstraint, Query, Select, SelectItem, SetExpr, VisitorMut};
use tidemill_ads::sql::{join_constraint_mut, walk};

use super::{for_each_conjunct, is_ungrouped, names_one_of, parser, within_subquery};
use crate::{Error, Result};

/// Gives the conditions and columns of a SELECT this form. `outer` are the names of its tables.
///
/// # Errors
///
/// [`Error::Unsupported`] for a subquery that has another number of columns, and for one that depends on the row around it and is grouped
/// or limited.
pub(super) fn put(select: &mut Select, outer: &[String]) -> Result<()> {
    let mut rows = RowIn { outer, depth: 0 };
    let mut done = Ok(());
    let mut conjunct = |part: &mut Expr| {
        if done.is_ok() {
            done = rows.conjunct(part);
        }
    };
    for condition in [&mut select.selection, &mut select.having].into_iter().flatten() {
        for_each_conjunct(condition, &mut conjunct);
    }
    for join in select.from.iter_mut().flat_map(|table| &mut table.joins) {
        if let Some(JoinConstraint::On(on)) = join_constraint_mut(&mut join.join_operator) {
            for_each_conjunct(on, &mut conjunct);
        }
    }
    for item in &mut select.projection {
        if done.is_ok() {
            done = walk::change(item, &mut rows);
        }
    }
    done
}

struct RowIn<'o> {
    outer: &'o [String],
    /// How many queries of the expression are around.
    depth: usize,
}

impl RowIn<'_> {
    /// Of a condition that is only asked whether it is true.
    fn conjunct(&mut self, expr: &mut Expr) -> Result<()> {
        if let Expr::InSubquery {
            expr: value,
            subquery,
            negated: false,
        } = &*expr
            && let Expr::Tuple(values) = &**value
        {
            *expr = exists(values, subquery, "", self.outer).and_then(|text| parsed(&text))?;
            return Ok(());
        }
        walk::change(expr, self)
    }
}

impl VisitorMut for RowIn<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        if let Expr::InSubquery {
            expr: value,
            subquery,
            negated,
        } = &*expr
            && let (Expr::Tuple(values), 0) = (&**value, self.depth)
        {
            let (yes, no) = if *negated { ("FALSE", "TRUE") } else { ("TRUE", "FALSE") };
            let equal = or_break(exists(values, subquery, "", self.outer))?;
            let unknown = or_break(exists(values, subquery, "IS NULL", self.outer))?;
            let text = format!("CASE WHEN {equal} THEN {yes} WHEN {unknown} THEN NULL ELSE {no} END");
            *expr = or_break(parsed(&text))?;
        }
        ControlFlow::Continue(())
    }
}

fn or_break<T>(result: Result<T>) -> ControlFlow<Error, T> {
    match result {
        Ok(value) => ControlFlow::Continue(value),
        Err(error) => ControlFlow::Break(error),
    }
}

/// EXISTS of the rows that are equal to the values, or for which that has another property.
fn exists(values: &[Expr], subquery: &Query, is: &str, outer: &[String]) -> Result<String> {
    let equal = |pairs: Vec<(String, String)>| {
        let pairs: Vec<String> = pairs
            .iter()
            .map(|(value, column)| format!("({value}) = ({column})"))
            .collect();
        format!("({}) {is}", pairs.join(" AND "))
    };
    if !names_one_of(subquery, outer) {
        let columns: Vec<String> = (1..=values.len()).map(|number| format!("\"value {number}\"")).collect();
        let pairs = values.iter().map(ToString::to_string).zip(columns.iter().cloned());
        let condition = equal(pairs.collect());
        let columns = columns.join(", ");
        return Ok(format!(
            "EXISTS (SELECT 1 FROM ({subquery}) AS \"rows\" ({columns}) WHERE {condition})"
        ));
    }
    // A table in FROM knows nothing of those around it.
    let dependent = || Error::Unsupported {
        what: "IN of several columns over a subquery that depends on its outer row".to_owned(),
        hint: "write EXISTS (SELECT 1 FROM … WHERE c = a AND d = b)".to_owned(),
    };
    let select = match &*subquery.body {
        SetExpr::Select(select) if is_ungrouped(select) && subquery.limit_clause.is_none() => select,
        _ => return Err(dependent()),
    };
    let columns = select.projection.iter().map(|item| match item {
        SelectItem::UnnamedExpr(column) | SelectItem::ExprWithAlias { expr: column, .. } => Some(column.to_string()),
        _ => None,
    });
    let columns = columns.collect::<Option<Vec<_>>>().ok_or_else(dependent)?;
    if columns.len() != values.len() {
        return Err(Error::Unsupported {
            what: format!(
                "IN of {} values over a subquery of {} columns",
                values.len(),
                columns.len()
            ),
            hint: "give both the same number".to_owned(),
        });
    }
    let values = values
        .iter()
        .map(|value| within_subquery(value, outer).map(|value| value.to_string()));
    let values = values.collect::<Option<Vec<_>>>().ok_or_else(dependent)?;
    let condition = equal(values.into_iter().zip(columns).collect());
    let whole = super::where_also(subquery, parsed(&condition)?);
    Ok(format!("EXISTS ({whole})"))
}

fn parsed(text: &str) -> Result<Expr> {
    let parsed = parser(text).and_then(|mut parser| parser.parse_expr().ok());
    parsed.ok_or_else(|| Error::Parse {
        message: format!("cannot be parsed: {text}"),
    })
}
