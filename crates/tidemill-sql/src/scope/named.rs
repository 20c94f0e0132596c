//! Finds the names in a query before they are bound.

use std::ops::ControlFlow;

use sqlparser::ast::{Query, Spanned as _, TableFactor, Visitor};
use sqlparser::tokenizer::Location as SqlLocation;
use tidemill_ads::sql::walk::{self, Tree};

use super::{WithQueries, text};

/// The tables that a statement names, each once, in its spelling, with the position of the first mention. Names of WITH queries are not
/// included.
pub(crate) fn relations(statement: &impl Tree) -> Vec<(String, SqlLocation)> {
    let mut collector = Collector::default();
    let _ = walk::look_at(statement, &mut collector);
    collector.relations
}

/// Whether a query names more than one table, or a table more than once.
pub(crate) fn names_several(query: &Query) -> bool {
    let mut named = 0;
    let _ = walk::relations(query, &mut |_| {
        named += 1;
        ControlFlow::<()>::Continue(())
    });
    named > 1
}

/// The first procedure that a query uses as a table: `FROM (EXECUTE PROCEDURE sp_GetTables( … ))`.
pub(crate) fn procedure(query: &Query) -> Option<String> {
    let mut found = Procedure(None);
    let _ = walk::look_at(query, &mut found);
    found.0
}

struct Procedure(Option<String>);

impl Visitor for Procedure {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table {
            name, args: Some(_), ..
        } = factor
        {
            let written = text(name);
            let is_procedure = written.get(..3).is_some_and(|begin| begin.eq_ignore_ascii_case("sp_"));
            self.0 = Some(written).filter(|_| is_procedure);
        }
        match self.0 {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }
}

#[derive(Default)]
struct Collector {
    relations: Vec<(String, SqlLocation)>,
    with_queries: WithQueries<String>,
}

impl Visitor for Collector {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let own = query.with.iter().flat_map(|with| &with.cte_tables);
        let own = own.map(|cte| cte.alias.name.value.to_lowercase());
        self.with_queries.enter(query, own.collect());
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &Query) -> ControlFlow<()> {
        self.with_queries.leave();
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, args: None, .. } = factor {
            let written = text(name);
            let is_known = self.relations.iter().any(|(known, _)| *known == written);
            if !self.with_queries.queries.contains(&written.to_lowercase()) && !is_known {
                self.relations.push((written, name.span().start));
            }
        }
        ControlFlow::Continue(())
    }
}
