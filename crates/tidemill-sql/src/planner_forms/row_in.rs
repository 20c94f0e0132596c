//! `(a, b) IN (SELECT c, d …)`, as EXISTS over the rows of the subquery.
//!
//! It is unknown where no row is equal and one may be (ISO/IEC 9075-2, 8.2 and 8.4): where `a = c AND b = d` is NULL.

use sqlparser::ast::{Expr, JoinConstraint, Query, Select, SelectItem, SetExpr};
use tidemill_ads::sql::join_constraint_mut;

use super::{
    check_length, is_ungrouped, names_one_of, outside_queries, parsed_expr, try_for_each_conjunct, where_also,
    within_subquery,
};
use crate::{Error, Result};

/// Gives the conditions and columns of a SELECT this form. `outer` are the names of its tables.
///
/// # Errors
///
/// [`Error::Unsupported`] for a subquery that has another number of columns, and for one that depends on the row around it and is grouped
/// or limited.
pub(super) fn put(select: &mut Select, outer: &[String]) -> Result<()> {
    for condition in [&mut select.selection, &mut select.having].into_iter().flatten() {
        try_for_each_conjunct(condition, &mut |part| conjunct(part, outer))?;
    }
    for join in select.from.iter_mut().flat_map(|table| &mut table.joins) {
        if let Some(JoinConstraint::On(on)) = join_constraint_mut(&mut join.join_operator) {
            try_for_each_conjunct(on, &mut |part| conjunct(part, outer))?;
        }
    }
    for item in &mut select.projection {
        outside_queries(item, &mut |part| three_valued(part, outer))?;
    }
    Ok(())
}

/// Of a condition that is only asked whether it is true.
fn conjunct(expr: &mut Expr, outer: &[String]) -> Result<()> {
    if let Expr::InSubquery {
        expr: value,
        subquery,
        negated: false,
    } = &*expr
        && let Expr::Tuple(values) = &**value
    {
        *expr = parsed(&exists(values, subquery, "", outer)?)?;
        return Ok(());
    }
    outside_queries(expr, &mut |part| three_valued(part, outer))
}

fn three_valued(expr: &mut Expr, outer: &[String]) -> Result<()> {
    if let Expr::InSubquery {
        expr: value,
        subquery,
        negated,
    } = &*expr
        && let Expr::Tuple(values) = &**value
    {
        check_length(subquery)?;
        let (yes, no) = if *negated { ("FALSE", "TRUE") } else { ("TRUE", "FALSE") };
        let equal = exists(values, subquery, "", outer)?;
        let unknown = exists(values, subquery, "IS NULL", outer)?;
        *expr = parsed(&format!(
            "CASE WHEN {equal} THEN {yes} WHEN {unknown} THEN NULL ELSE {no} END"
        ))?;
    }
    Ok(())
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
    let whole = where_also(subquery, parsed(&condition)?);
    Ok(format!("EXISTS ({whole})"))
}

fn parsed(text: &str) -> Result<Expr> {
    let parsed = parsed_expr(text);
    parsed.ok_or_else(|| Error::Parse {
        message: format!("cannot be parsed: {text}"),
    })
}
