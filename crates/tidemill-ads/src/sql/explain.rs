//! EXPLAIN: which lane a statement takes, and what answers its condition.

use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray};
use tidemill_xbase::aof::{FilterOrders, OptimizationLevel};

use super::answer::{ColumnDescription, Rows};
use super::error::Result;
use super::evaluate::Session;
use super::expression::Expr;
use super::select::{Plan, Query, Source, batch_of};
use super::tables::{Snapshot, Tables};
use super::value::Type;
use super::work::Work;

/// Two columns: a property and its value.
///
/// # Errors
/// When a table cannot be opened.
pub(super) fn rows(work: &Work, tables: &mut dyn Tables, session: &Session<'_>) -> Result<Rows> {
    let mut lines = Vec::new();
    match work {
        Work::Select(query) => of_query(query, tables, session, &mut lines)?,
        Work::Explain(inner) => return rows(inner, tables, session),
        _ => lines.push(("lane", "direct".to_owned())),
    }
    let (names, values): (Vec<&str>, Vec<String>) = lines.into_iter().unzip();
    let count = names.len();
    let columns = vec![
        ColumnDescription::of_type("Property".to_owned(), Type::Text(20)),
        ColumnDescription::of_type("Value".to_owned(), Type::Memo),
    ];
    let arrays: Vec<ArrayRef> = vec![Arc::new(StringArray::from(names)), Arc::new(StringArray::from(values))];
    let batch = batch_of(&columns, arrays, count)?;
    Ok(Rows {
        columns,
        batches: vec![batch],
    })
}

fn of_query(
    query: &Query,
    tables: &mut dyn Tables,
    session: &Session<'_>,
    lines: &mut Vec<(&'static str, String)>,
) -> Result<()> {
    match query {
        Query::One(plan) => of_plan(plan, tables, session, lines),
        Query::Analytical(_) => {
            lines.push(("lane", "analytical".to_owned()));
            Ok(())
        }
        Query::Union { left, right, .. } => {
            lines.push(("lane", "direct, the rows of both parts in memory".to_owned()));
            of_query(left, tables, session, lines)?;
            of_query(right, tables, session, lines)
        }
    }
}

fn of_plan(
    plan: &Plan,
    tables: &mut dyn Tables,
    session: &Session<'_>,
    lines: &mut Vec<(&'static str, String)>,
) -> Result<()> {
    let Source::Table(name, structure) = &plan.source else {
        lines.push(("lane", "direct, over rows in memory".to_owned()));
        return Ok(());
    };
    let snapshot = tables.snapshot(name)?;
    structure.check(snapshot.structure(), name)?;
    plan.check_size(&snapshot, session, tables)?;
    let is_live = plan.live(&snapshot, session)?.is_some();
    lines.push(("lane", if is_live { "live cursor" } else { "direct" }.to_owned()));
    let file = snapshot.table().path().file_name();
    lines.push((
        "table",
        file.map_or_else(String::new, |file| file.to_string_lossy().into_owned()),
    ));
    let (level, condition) = plan.level(&snapshot, session)?;
    if let Some(syntax) = &condition.syntax {
        let level = match level {
            OptimizationLevel::None => "none",
            OptimizationLevel::Part => "part",
            OptimizationLevel::Full => "full",
        };
        lines.push(("filter", syntax.to_string()));
        lines.push(("optimization", level.to_owned()));
        let used = indexes(plan, &snapshot, level != "none")?;
        if !used.is_empty() {
            lines.push(("index", used.join(", ")));
        }
    }
    if !condition.rest.is_empty() {
        lines.push((
            "evaluated",
            format!("{} conditions over the columns", condition.rest.len()),
        ));
    }
    Ok(())
}

/// The orders whose keys begin with a column of the condition.
fn indexes(plan: &Plan, snapshot: &Snapshot, is_used: bool) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let orders = snapshot.orders()?;
    if let Some(selection) = plan.selection.as_ref().filter(|_| is_used) {
        let words = snapshot.word_orders()?;
        selection.visit(&mut |part| {
            if let Expr::Call(function, arguments) = part
                && let ("CONTAINS" | "SCORE" | "SCOREDISTINCT", Some(Expr::Column(index))) =
                    (function.name, arguments.first())
            {
                let answers = words.iter().find(|order| FilterOrders::answers_words(order, *index));
                let name = answers.map(|order| order.order().tag().name.clone());
                names.extend(name.filter(|name| !names.contains(name)));
            }
            let Expr::Column(index) = part else { return };
            let Some(field) = snapshot.table().fields().get(*index) else {
                return;
            };
            let begins = |expression: &str| {
                let words = expression.split(|c: char| !c.is_alphanumeric() && c != '_');
                words.into_iter().any(|word| word.eq_ignore_ascii_case(&field.name))
            };
            let fits = orders.iter().map(|order| order.order().tag());
            for tag in fits.filter(|tag| begins(&tag.expression)) {
                if !names.contains(&tag.name) {
                    names.push(tag.name.clone());
                }
            }
        });
    }
    Ok(names)
}
