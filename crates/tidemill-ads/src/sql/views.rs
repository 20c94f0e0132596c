//! Views: the queries that a data dictionary keeps under names, and how one asks another.

use std::cell::RefCell;

use super::error::{Error, Kind, Result};
use super::parser::Parsed;
use super::select::only_select;
use super::statement::{Select, StatementKind, TableName};

/// How deep views may ask one another.
const MAX_DEPTH: usize = 32;

/// The query of a view's text.
///
/// # Errors
/// [`Kind::Syntax`] for a text that is not one SELECT, [`Kind::Unsupported`] for one with parameters, with ORDER BY or with INTO.
pub(crate) fn select_of(text: &str) -> Result<Select> {
    let parsed = Parsed::of(text)?;
    let [only] = parsed.statements.as_slice() else {
        return Err(Error::new(Kind::Syntax, "A view is one SELECT"));
    };
    let StatementKind::Select(select) = &only.kind else {
        return Err(Error::new(Kind::Syntax, "A view is a SELECT")
            .at(only.location)
            .within(text));
    };
    check(select, &parsed.parameters)?;
    Ok(select.as_ref().clone())
}

/// Refuses what the query of a view has not.
///
/// # Errors
/// As [`select_of`].
pub(super) fn check(select: &Select, parameters: &[String]) -> Result<()> {
    let has_target = only_select(&select.query.body).is_some_and(|only| only.into.is_some());
    let what = match () {
        () if !parameters.is_empty() => "parameters",
        () if select.query.order_by.is_some() => {
            "ORDER BY, for its rows have no order; sort those of the query that asks it"
        }
        () if has_target => "INTO",
        () => return Ok(()),
    };
    Err(Error::new(Kind::Unsupported, format!("A view has no {what}")))
}

/// Does something with what a view shows. Views that ask themselves, and those that ask one another too deep, are refused.
///
/// # Errors
/// [`Kind::Limit`]; as `work`.
pub(super) fn within<T>(view: &TableName, work: impl FnOnce() -> Result<T>) -> Result<T> {
    thread_local! {
        static OPEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }
    let name = view.to_string();
    OPEN.with_borrow(|open| {
        let asks_itself = open.iter().any(|known| known.eq_ignore_ascii_case(&name));
        if !asks_itself && open.len() < MAX_DEPTH {
            return Ok(());
        }
        let way = open.join(", ");
        let why = match asks_itself {
            true => format!("The view {name} asks itself, by way of {way}"),
            false => format!("Views ask one another more than {MAX_DEPTH} deep: {way}"),
        };
        Err(Error::new(Kind::Limit, why))
    })?;
    OPEN.with_borrow_mut(|open| open.push(name));
    let done = work();
    OPEN.with_borrow_mut(Vec::pop);
    done
}
