//! Where the words of a query are.

use std::ops::ControlFlow;

use sqlparser::ast::{self, Query as SqlQuery, Spanned as _};
use sqlparser::tokenizer::Location;

use crate::sql::error::Error;
use crate::sql::walk;

/// Where the names, literals and calls of a query begin, in an order that does not depend on how it is laid out.
#[derive(Default)]
pub(super) struct Words(Vec<Location>);

impl Words {
    pub(super) fn of(query: &SqlQuery) -> Vec<Location> {
        let mut words = Self::default();
        let _ = walk::look_at(query, &mut words);
        words.0
    }
}

impl ast::Visitor for Words {
    type Break = Error;

    fn pre_visit_relation(&mut self, relation: &ast::ObjectName) -> ControlFlow<Error> {
        self.0.push(relation.span().start);
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &ast::Expr) -> ControlFlow<Error> {
        use ast::Expr as E;
        match expr {
            E::CompoundIdentifier(parts) => self.0.extend(parts.iter().map(|part| part.span.start)),
            E::Identifier(_) | E::Value(_) | E::TypedString(_) | E::Function(_) | E::Case { .. } => {
                self.0.push(expr.span().start);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}
