//! The other tables of an UPDATE or a DELETE.

use sqlparser::ast::{self, Ident, JoinConstraint, JoinOperator, TableFactor, TableWithJoins};

use crate::sql::error::{Error, Kind, Result};
use crate::sql::select::table_name;
use crate::sql::statement::{Merge, TableName};

/// The records of a table that rows of another one match, as the MERGE that it is.
pub(super) fn joined(
    (table, alias): (&TableName, Option<&Ident>),
    from: &[TableWithJoins],
    selection: Option<&ast::Expr>,
) -> Result<Merge> {
    refuse_ambiguous(table, alias, &named(from))?;
    let mut conditions = Vec::new();
    for join in from.iter().flat_map(|table| &table.joins) {
        match &join.join_operator {
            JoinOperator::Join(JoinConstraint::On(on)) | JoinOperator::Inner(JoinConstraint::On(on)) => {
                conditions.push(on.clone());
            }
            JoinOperator::CrossJoin(JoinConstraint::None) => {}
            _ => return Err(Error::needs_analytical("A change from an outer join")),
        }
    }
    let mut named = named(from);
    if named.len() < from.iter().map(|table| 1 + table.joins.len()).sum() {
        return Err(Error::needs_analytical("A change from a query"));
    }
    let own = own_place(table, alias, &named);
    let alias = own.and_then(|own| named.remove(own).1).or_else(|| alias.cloned());
    let Ok([source]) = <[_; 1]>::try_from(named) else {
        return Err(Error::needs_analytical("A change from more than one other table"));
    };
    conditions.extend(selection.cloned());
    let all = conditions.into_iter().reduce(|left, right| ast::Expr::BinaryOp {
        left: Box::new(left),
        op: ast::BinaryOperator::And,
        right: Box::new(right),
    });
    Ok(Merge {
        table: table.clone(),
        alias,
        source: Some(source),
        on: all.unwrap_or_else(|| ast::Expr::value(ast::Value::Boolean(true))),
        update: None,
        insert: None,
    })
}

/// The table for whose alias in FROM the table of a change stands, and the alias.
pub(super) fn by_alias(table: &TableName, from: Option<&[TableWithJoins]>) -> Option<(TableName, Ident)> {
    let [name] = table.parts.as_slice() else { return None };
    let found = named(from?)
        .into_iter()
        .find_map(|(table, alias)| Some((table, alias.filter(|alias| alias.value.eq_ignore_ascii_case(name))?)));
    found.map(|(mut found, alias)| {
        found.location = table.location;
        (found, alias)
    })
}

/// The tables of FROM with their aliases, but for those that are queries.
pub(super) fn named(from: &[TableWithJoins]) -> Vec<(TableName, Option<Ident>)> {
    let factors = from.iter().flat_map(|table| {
        let joined = table.joins.iter().map(|join| &join.relation);
        std::iter::once(&table.relation).chain(joined)
    });
    let named = factors.filter_map(|factor| match factor {
        TableFactor::Table {
            name,
            alias,
            args: None,
            ..
        } => Some((table_name(name), alias.as_ref().map(|alias| alias.name.clone()))),
        _ => None,
    });
    named.collect()
}

/// A table that stands several times in FROM, each time under another name, is not told from the others by its own.
///
/// # Errors
/// [`Kind::Ambiguous`].
fn refuse_ambiguous(table: &TableName, alias: Option<&Ident>, named: &[(TableName, Option<Ident>)]) -> Result<()> {
    let is_it = |name: &TableName| name.to_string().eq_ignore_ascii_case(&table.to_string());
    let many = named.iter().filter(|(name, _)| is_it(name)).count() > 1;
    match many && own_place(table, alias, named).is_none() {
        true => {
            let why =
                format!("Ambiguous reference: {table} stands in FROM several times; name the alias that is meant");
            Err(Error::new(Kind::Ambiguous, why).at(table.location.0))
        }
        false => Ok(()),
    }
}

/// Where among tables with their aliases the table itself is: the one of its name and its alias, the only one of its name, or the
/// one of them without an alias.
pub(super) fn own_place(
    table: &TableName,
    alias: Option<&Ident>,
    named: &[(TableName, Option<Ident>)],
) -> Option<usize> {
    let is_it = |name: &TableName| name.to_string().eq_ignore_ascii_case(&table.to_string());
    let is_called = |known: &Ident| alias.is_some_and(|alias| alias.value.eq_ignore_ascii_case(&known.value));
    let called = |(name, known): &(TableName, Option<Ident>)| is_it(name) && known.as_ref().is_some_and(is_called);
    let by_alias = named.iter().position(called);
    by_alias.or_else(|| match named.iter().filter(|(name, _)| is_it(name)).count() {
        0 => None,
        1 => named.iter().position(|(name, _)| is_it(name)),
        _ => named.iter().position(|(name, alias)| is_it(name) && alias.is_none()),
    })
}
