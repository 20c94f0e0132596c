//! The questions that kernels answer without a column being decoded.

use arrow_array::{Decimal128Array, Float64Array, Int64Array, StringArray};
use tidemill_xbase::aggregate::{Quantity, Selected, Summary, Top as Which};
use tidemill_xbase::{Blank, FieldKind};

use super::Plan;
use crate::sql::answer::Rows;
use crate::sql::bind::Grouping;
use crate::sql::error::Result;
use crate::sql::evaluate::{self, Session};
use crate::sql::expression::Expr;
use crate::sql::frames::Selection;
use crate::sql::group::{Aggregate, AggregateKind};
use crate::sql::tables::Snapshot;
use crate::sql::value::Value;
use crate::sql::vector::Vector;

/// The most rows that a top list has.
const TOP: usize = 1000;

/// `SELECT COUNT(*) FROM t`, from the count that is kept.
pub(super) fn count_all(
    plan: &Plan,
    snapshot: &Snapshot,
    session: &Session<'_>,
    shows_deleted: bool,
) -> Result<Option<Rows>> {
    let Some(grouping) = &plan.grouping else {
        return Ok(None);
    };
    let counts_rows = |aggregate: &Aggregate| aggregate.kind == AggregateKind::Count && aggregate.argument.is_none();
    if plan.selection.is_some() || !grouping.keys.is_empty() || !grouping.aggregates.iter().all(counts_rows) {
        return Ok(None);
    }
    let selected = if snapshot.shows_deleted(shows_deleted) {
        Selected::All
    } else {
        Selected::Undeleted
    };
    let count = i64::try_from(snapshot.columns().count(selected)?).unwrap_or(i64::MAX);
    let columns = grouping.columns(&plan.columns, session.parameters);
    let frame = evaluate::Rows {
        rows: 1,
        columns: &columns,
        vectors: vec![Vector::Integer(Int64Array::from(vec![count])); grouping.aggregates.len()],
    };
    plan.assemble(&frame, session, Some(snapshot)).map(Some)
}

/// Whether [`groups`] answers: groups by no column or by one text, with aggregates of bare numbers.
pub(super) fn knows_groups(grouping: &Grouping, snapshot: &Snapshot) -> bool {
    match grouping.keys.as_slice() {
        [] => grouping.aggregates.iter().all(|aggregate| match &aggregate.argument {
            Some(argument) => number_field(snapshot, aggregate, argument).is_some(),
            None => true,
        }),
        [Expr::Column(field)] => summed(grouping, snapshot, *field).is_some(),
        _ => false,
    }
}

/// The groups of [`knows_groups`]; `None` for others.
pub(super) fn groups(
    grouping: &Grouping,
    snapshot: &Snapshot,
    selection: &Selection,
) -> Result<Option<(usize, Vec<Vector>)>> {
    let selected = match selection {
        Selection::All => Selected::All,
        Selection::Set(set) => Selected::Of(set),
    };
    match grouping.keys.as_slice() {
        [] => whole(grouping, snapshot, selected),
        [Expr::Column(field)] => by_text(grouping, snapshot, *field, selected),
        _ => Ok(None),
    }
}

fn whole(grouping: &Grouping, snapshot: &Snapshot, selected: Selected<'_>) -> Result<Option<(usize, Vec<Vector>)>> {
    let mut known: Vec<(usize, Summary)> = Vec::new();
    let mut vectors = Vec::new();
    for aggregate in &grouping.aggregates {
        let Some(argument) = &aggregate.argument else {
            let count = snapshot.columns().count(selected)?;
            vectors.push(counts([count]));
            continue;
        };
        let Some(field) = number_field(snapshot, aggregate, argument) else {
            return Ok(None);
        };
        let summary = match known.iter().find(|(known, _)| *known == field) {
            Some((_, summary)) => *summary,
            None => {
                let summary = snapshot.columns().summary(field, selected)?;
                known.push((field, summary));
                summary
            }
        };
        vectors.push(of_summaries(aggregate.kind, &[Some(summary)]));
    }
    Ok(Some((1, vectors)))
}

fn by_text(
    grouping: &Grouping,
    snapshot: &Snapshot,
    key: usize,
    selected: Selected<'_>,
) -> Result<Option<(usize, Vec<Vector>)>> {
    let Some(summed) = summed(grouping, snapshot, key) else {
        return Ok(None);
    };
    let table = snapshot.table();
    let groups = snapshot.columns().groups(key, summed, selected)?;
    let texts = groups.iter().map(|group| {
        let text = group.text.as_deref();
        text.map(
            |text| match std::str::from_utf8(text).ok().filter(|text| text.is_ascii()) {
                Some(text) => text.to_owned(),
                None => table.codepage().decode(text),
            },
        )
    });
    let width = table.fields().get(key).map_or(0, |field| field.width);
    let mut vectors = vec![Vector::Text(texts.collect::<StringArray>(), width)];
    for aggregate in &grouping.aggregates {
        vectors.push(match aggregate.argument {
            None => counts(groups.iter().map(|group| group.count)),
            Some(_) => {
                let summaries: Vec<_> = groups.iter().map(|group| group.summary).collect();
                of_summaries(aggregate.kind, &summaries)
            }
        });
    }
    Ok(Some((groups.len(), vectors)))
}

/// The field that is added up beside a text, if there is one; `None` where the kernel does not know the groups.
fn summed(grouping: &Grouping, snapshot: &Snapshot, key: usize) -> Option<Option<usize>> {
    let kind = |field: usize| snapshot.table().fields().get(field).map(|field| field.kind);
    let mut summed = None;
    for aggregate in &grouping.aggregates {
        let Some(argument) = &aggregate.argument else { continue };
        match number_field(snapshot, aggregate, argument) {
            Some(field) if summed.is_none_or(|summed| summed == field) => summed = Some(field),
            _ => return None,
        }
    }
    let is_double = summed.and_then(kind).is_some_and(|kind| {
        matches!(
            kind,
            FieldKind::Double | FieldKind::DoubleDbase7 | FieldKind::NumericDouble
        )
    });
    (kind(key) == Some(FieldKind::Character) && !is_double).then_some(summed)
}

/// The numeric field that an aggregate is of, where a kernel knows it.
fn number_field(snapshot: &Snapshot, aggregate: &Aggregate, argument: &Expr) -> Option<usize> {
    let Expr::Column(index) = argument else {
        return None;
    };
    let field = snapshot.table().fields().get(*index)?;
    let is_plain = !aggregate.is_distinct && aggregate.kind != AggregateKind::Concat;
    (field.kind.is_number() && is_plain).then_some(*index)
}

fn counts(counts: impl IntoIterator<Item = u64>) -> Vector {
    let counts = counts.into_iter().map(|count| i64::try_from(count).unwrap_or(i64::MAX));
    Vector::Integer(Int64Array::from_iter_values(counts))
}

fn of_summaries(kind: AggregateKind, summaries: &[Option<Summary>]) -> Vector {
    let quantity = |summary: &Summary| match kind {
        AggregateKind::Least => summary.min,
        AggregateKind::Greatest => summary.max,
        _ => Some(summary.sum).filter(|_| summary.count > 0),
    };
    match kind {
        AggregateKind::Count => counts(
            summaries
                .iter()
                .map(|summary| summary.map_or(0, |summary| summary.count)),
        ),
        AggregateKind::Average => {
            let averages = summaries
                .iter()
                .map(|summary| summary.and_then(|summary| summary.average()));
            Vector::Double(averages.collect::<Float64Array>())
        }
        _ => {
            let quantities: Vec<_> = summaries
                .iter()
                .map(|summary| summary.as_ref().and_then(quantity))
                .collect();
            let scale = quantities.iter().flatten().find_map(|quantity| match quantity {
                Quantity::Decimal { scale, .. } => Some(*scale),
                Quantity::Double(_) => None,
            });
            let unscaled = |quantity: &Option<Quantity>| match quantity {
                Some(Quantity::Decimal { unscaled, .. }) => Some(*unscaled),
                _ => None,
            };
            match scale {
                Some(0)
                    if quantities
                        .iter()
                        .filter_map(unscaled)
                        .all(|sum| i64::try_from(sum).is_ok()) =>
                {
                    let values = quantities
                        .iter()
                        .map(|quantity| i64::try_from(unscaled(quantity)?).ok());
                    Vector::Integer(values.collect::<Int64Array>())
                }
                Some(scale) => Vector::Decimal(quantities.iter().map(unscaled).collect::<Decimal128Array>(), scale),
                None if quantities.iter().all(Option::is_none) => Vector::Constant(Value::Null),
                None => {
                    let values = quantities.iter().map(|quantity| quantity.map(Quantity::to_f64));
                    Vector::Double(values.collect::<Float64Array>())
                }
            }
        }
    }
}

/// The field and the direction of `ORDER BY number LIMIT n`, which [`top`] mostly answers.
pub(super) fn top_field(plan: &Plan, snapshot: &Snapshot, wanted: Option<usize>) -> Option<(usize, bool)> {
    let ([(Expr::Column(index), descending)], Some(wanted)) = (plan.order.as_slice(), wanted) else {
        return None;
    };
    let field = snapshot.table().fields().get(*index);
    let is_number = field.is_some_and(|field| {
        let kind = matches!(field.kind, FieldKind::Numeric | FieldKind::Float | FieldKind::Integer);
        kind && !field.nullable
    });
    // NULL comes before every number, and the kernel leaves it out.
    let has_null_first = snapshot.table().blank() == Blank::Null && !descending;
    (is_number && !has_null_first && wanted <= TOP).then_some((*index, *descending))
}

/// The records of `ORDER BY number LIMIT n`, best first.
pub(super) fn top(
    plan: &Plan,
    snapshot: &Snapshot,
    selection: &Selection,
    wanted: Option<usize>,
) -> Result<Option<Vec<u32>>> {
    let (Some((index, descending)), Some(wanted)) = (top_field(plan, snapshot, wanted), wanted) else {
        return Ok(None);
    };
    let which = if descending { Which::Greatest } else { Which::Least };
    let selected = match selection {
        Selection::All => Selected::All,
        Selection::Set(set) => Selected::Of(set),
    };
    let records = snapshot.columns().top(index, wanted, which, selected)?;
    // NULL is left out there, and sorts here.
    Ok((records.len() == wanted.min(selection.count(snapshot))).then_some(records))
}
