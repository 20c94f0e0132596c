//! ROWNUM(): rows are numbered as they are taken into the answer ("ROWNUM" in ADS's help).
//!
//! In a condition it says how many rows there are: a row that is not taken has a number that the next one gets too, so that `ROWNUM() <= 5`
//! takes the first five rows and `ROWNUM() > 1` none.

use super::plan::{Item, Top};
use crate::sql::error::{Error, Kind, Result};
use crate::sql::expression::{Comparison, Expr};
use crate::sql::value::Value;

/// Refuses ROWNUM() within other expressions of a list, in HAVING and in ORDER BY, where rows have no numbers yet.
///
/// # Errors
/// [`Kind::Unsupported`].
pub(super) fn refuse<'e>(items: &'e [Item], others: impl Iterator<Item = &'e Expr>) -> Result<()> {
    let within = items.iter().map(|item| &item.expr);
    let mut within = within.filter(|expr| **expr != Expr::RowNumber).chain(others);
    match within.any(has_number) {
        true => Err(Error::new(
            Kind::Unsupported,
            "ROWNUM() stands alone in the list of a SELECT; TOP limits the rows",
        )),
        false => Ok(()),
    }
}

/// A condition without the parts that limit the rows by their numbers, and how many rows these leave; `None` where there are none.
///
/// # Errors
/// [`Kind::Unsupported`] for a part that is more than a comparison of ROWNUM() with a whole number.
pub(super) fn taken(selection: Option<Expr>) -> Result<(Option<Expr>, Option<Top>)> {
    let Some(selection) = selection else {
        return Ok((None, None));
    };
    if !has_number(&selection) {
        return Ok((Some(selection), None));
    }
    let mut most = u64::MAX;
    let mut rest = None;
    let mut parts = vec![selection];
    while let Some(part) = parts.pop() {
        match part {
            Expr::And(left, right) => parts.extend([*right, *left]),
            part if has_number(&part) => match rows_of(&part) {
                Some(rows) => most = most.min(rows),
                None => {
                    let why = "in a condition ROWNUM() is compared with a whole number, alone or joined by AND; TOP limits the rows";
                    return Err(Error::new(Kind::Unsupported, why));
                }
            },
            part => {
                rest = Some(match rest {
                    Some(before) => Expr::And(Box::new(before), Box::new(part)),
                    None => part,
                });
            }
        }
    }
    // More rows than that are in no table.
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    Ok((rest, Some(Top::Rows(Expr::Value(Value::Integer(most))))))
}

/// How many rows a comparison takes before it holds for none any more; `None` for what is no comparison with a whole number.
fn rows_of(part: &Expr) -> Option<u64> {
    let (comparison, number) = match part {
        Expr::Compare(comparison, left, right) if **left == Expr::RowNumber => (*comparison, whole(right)?),
        Expr::Compare(comparison, left, right) if **right == Expr::RowNumber => (flipped(*comparison), whole(left)?),
        Expr::Between(parts) => {
            let [value, low, high] = parts.as_ref();
            let (low, high) = (whole(low)?, whole(high)?);
            return match *value == Expr::RowNumber {
                true if low <= 1 => Some(u64::try_from(high).unwrap_or(0)),
                true => Some(0),
                false => None,
            };
        }
        _ => return None,
    };
    let below = |number: i64| u64::try_from(number).unwrap_or(0);
    Some(match comparison {
        Comparison::Less => below(number.saturating_sub(1)),
        Comparison::LessOrEqual => below(number),
        Comparison::Equal => u64::from(number == 1),
        Comparison::NotEqual if number < 1 => u64::MAX,
        Comparison::NotEqual => below(number.saturating_sub(1)),
        Comparison::Greater if number < 1 => u64::MAX,
        Comparison::GreaterOrEqual if number <= 1 => u64::MAX,
        Comparison::Greater | Comparison::GreaterOrEqual => 0,
    })
}

fn flipped(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        other => other,
    }
}

fn whole(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Value(Value::Integer(number)) => Some(*number),
        Expr::Negate(within) => whole(within)?.checked_neg(),
        _ => None,
    }
}

fn has_number(expr: &Expr) -> bool {
    let mut is_met = false;
    expr.visit(&mut |part| is_met |= *part == Expr::RowNumber);
    is_met
}
