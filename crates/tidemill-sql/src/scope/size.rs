//! Limits how much WITH queries multiply the tables of a statement.

use std::ops::ControlFlow;

use sqlparser::ast::{Query, Statement, TableFactor, Visitor};
use tidemill_ads::sql::{Error as SqlError, Kind, walk};

use super::{WithQueries, text};
use crate::Result;

/// The most table reads of a statement, with each WITH query counted once per mention.
const MAX_TABLES: usize = 2000;

/// The planner inlines each mention of a WITH query. A chain of them, each mentioning the previous one twice, grows exponentially.
///
/// # Errors
///
/// [`Kind::Limit`] for more than [`MAX_TABLES`].
pub(super) fn limit(statement: &Statement) -> Result<()> {
    let mut counter = Counter {
        with_queries: WithQueries::default(),
        tables: vec![0],
    };
    let _ = walk::look_at(statement, &mut counter);
    if counter.tables.first().is_none_or(|tables| *tables <= MAX_TABLES) {
        return Ok(());
    }
    let why = format!(
        "The statement reads more than {MAX_TABLES} tables, those of a WITH query counted wherever it is named: copy what is named often into a table first"
    );
    Err(SqlError::new(Kind::Limit, why).into())
}

struct Counter {
    /// Each with its number of tables.
    with_queries: WithQueries<(String, usize)>,
    /// The numbers of tables of the queries being visited, the innermost last.
    tables: Vec<usize>,
}

impl Counter {
    fn add(&mut self, tables: usize) {
        if let Some(own) = self.tables.last_mut() {
            *own = own.saturating_add(tables);
        }
    }
}

impl Visitor for Counter {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let own = query.with.iter().flat_map(|with| &with.cte_tables);
        let own = own.map(|cte| (cte.alias.name.value.to_lowercase(), 1));
        self.with_queries.enter(query, own.collect());
        self.tables.push(0);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &Query) -> ControlFlow<()> {
        let tables = self.tables.pop().unwrap_or_default();
        match self.with_queries.leave() {
            Some((_, size)) => *size = tables,
            None => self.add(tables),
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, args: None, .. } = factor {
            let name = text(name).to_lowercase();
            let mut known = self.with_queries.queries.iter().rev();
            let size = known.find(|(known, _)| *known == name).map_or(1, |(_, size)| *size);
            self.add(size);
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::limit;
    use crate::dialect::parse;

    #[test]
    fn with_queries_that_multiply_are_refused() {
        let doubled = |levels: usize, of_last: &str| {
            let queries: Vec<_> = (1..=levels)
                .map(|level| {
                    format!(
                        "t{level} AS (SELECT a FROM t{0} UNION ALL SELECT a FROM T{0})",
                        level - 1
                    )
                })
                .collect();
            format!(
                "WITH t0 AS (SELECT a FROM p), {} SELECT a FROM {of_last}",
                queries.join(", ")
            )
        };
        for (sql, is_taken) in [
            (doubled(10, "t10"), true),
            (doubled(40, "t2"), true),
            (doubled(11, "t11"), false),
            (doubled(70, "t70"), false),
            (doubled(10, "t10 x, t10 y"), false),
            (
                format!("SELECT (SELECT max(a) FROM q) FROM ({}) q", doubled(12, "t12")),
                false,
            ),
            (
                "WITH RECURSIVE r AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r WHERE a < 9) SELECT a FROM r, r s"
                    .to_owned(),
                true,
            ),
        ] {
            let limited = limit(&parse(&sql).expect("parsed"));
            assert_eq!(limited.is_ok(), is_taken, "{sql}: {limited:?}");
        }
    }
}
