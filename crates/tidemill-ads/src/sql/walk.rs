//! Walks over syntax trees, which are much code: sqlparser writes one for each visitor. Here is one for all visitors that look, and one for
//! all that change, which `libace.so` has room for.

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, ObjectName, Query, Select, TableFactor, Visit, VisitMut, Visitor, VisitorMut};

use super::error::{Error, Result};

/// Has a visitor look at a tree.
///
/// # Errors
/// What the visitor breaks off with.
pub(super) fn look_at(tree: &impl Visit, visitor: &mut dyn Visitor<Break = Error>) -> Result<()> {
    match tree.visit(&mut Looking(visitor)) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

/// Has a visitor change a tree.
///
/// # Errors
/// What the visitor breaks off with.
pub(super) fn change(tree: &mut impl VisitMut, visitor: &mut dyn VisitorMut<Break = Error>) -> Result<()> {
    match tree.visit(&mut Changing(visitor)) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

struct Looking<'v>(&'v mut dyn Visitor<Break = Error>);

impl Visitor for Looking<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Error> {
        self.0.pre_visit_query(query)
    }

    fn post_visit_query(&mut self, query: &Query) -> ControlFlow<Error> {
        self.0.post_visit_query(query)
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Error> {
        self.0.pre_visit_select(select)
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<Error> {
        self.0.pre_visit_relation(relation)
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Error> {
        self.0.pre_visit_table_factor(factor)
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Error> {
        self.0.pre_visit_expr(expr)
    }
}

struct Changing<'v>(&'v mut dyn VisitorMut<Break = Error>);

impl VisitorMut for Changing<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        self.0.pre_visit_query(query)
    }

    fn pre_visit_relation(&mut self, relation: &mut ObjectName) -> ControlFlow<Error> {
        self.0.pre_visit_relation(relation)
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        self.0.pre_visit_expr(expr)
    }
}
