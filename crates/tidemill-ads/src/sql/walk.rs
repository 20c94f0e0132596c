//! Walks over syntax trees. sqlparser makes the code of a walk once for every visitor, which is much code: half a megabyte each. Here it
//! is made once for all visitors that look, and once for all that change.

use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, ObjectName, Query, Select, SelectItem, Statement, TableFactor, TableWithJoins, ValueWithSpan, Visit,
    VisitMut, Visitor, VisitorMut,
};

/// A tree, or a part of one, that visitors walk over.
pub trait Tree {
    /// Has a visitor look at it: [`look_at`] keeps what the visitor breaks off with.
    fn look(&self, visitor: &mut dyn Visitor<Break = ()>) -> ControlFlow<()>;

    /// Has a visitor change it: [`change`] keeps what the visitor breaks off with.
    fn change(&mut self, visitor: &mut dyn VisitorMut<Break = ()>) -> ControlFlow<()>;
}

macro_rules! tree {
    ($($kind:ty),*) => {$(
        impl Tree for $kind {
            fn look(&self, visitor: &mut dyn Visitor<Break = ()>) -> ControlFlow<()> {
                Visit::visit(self, &mut Looking(visitor))
            }

            fn change(&mut self, visitor: &mut dyn VisitorMut<Break = ()>) -> ControlFlow<()> {
                VisitMut::visit(self, &mut Changing(visitor))
            }
        }
    )*};
}

tree!(Statement, Query, Select, SelectItem, TableWithJoins, Expr);

impl<T: Tree> Tree for Box<T> {
    fn look(&self, visitor: &mut dyn Visitor<Break = ()>) -> ControlFlow<()> {
        (**self).look(visitor)
    }

    fn change(&mut self, visitor: &mut dyn VisitorMut<Break = ()>) -> ControlFlow<()> {
        (**self).change(visitor)
    }
}

impl<T: Tree> Tree for Option<T> {
    fn look(&self, visitor: &mut dyn Visitor<Break = ()>) -> ControlFlow<()> {
        self.iter().try_for_each(|part| part.look(visitor))
    }

    fn change(&mut self, visitor: &mut dyn VisitorMut<Break = ()>) -> ControlFlow<()> {
        self.iter_mut().try_for_each(|part| part.change(visitor))
    }
}

impl<T: Tree> Tree for Vec<T> {
    fn look(&self, visitor: &mut dyn Visitor<Break = ()>) -> ControlFlow<()> {
        self.iter().try_for_each(|part| part.look(visitor))
    }

    fn change(&mut self, visitor: &mut dyn VisitorMut<Break = ()>) -> ControlFlow<()> {
        self.iter_mut().try_for_each(|part| part.change(visitor))
    }
}

/// Has a visitor look at a tree.
///
/// # Errors
/// What the visitor breaks off with.
pub fn look_at<B>(tree: &impl Tree, visitor: &mut dyn Visitor<Break = B>) -> Result<(), B> {
    let mut kept = Kept { visitor, broke: None };
    let _ = tree.look(&mut kept);
    kept.broke.map_or(Ok(()), Err)
}

/// Has a visitor change a tree.
///
/// # Errors
/// What the visitor breaks off with.
pub fn change<B>(tree: &mut impl Tree, visitor: &mut dyn VisitorMut<Break = B>) -> Result<(), B> {
    let mut kept = KeptMut { visitor, broke: None };
    let _ = tree.change(&mut kept);
    kept.broke.map_or(Ok(()), Err)
}

/// Looks at each expression, those around before their parts, until one breaks off.
pub fn expressions<B>(tree: &impl Tree, look: &mut dyn FnMut(&Expr) -> ControlFlow<B>) -> ControlFlow<B> {
    flow(look_at(tree, &mut Expressions(look)))
}

/// Changes each expression, the parts before those around, until one breaks off.
pub fn expressions_mut<B>(tree: &mut impl Tree, alter: &mut dyn FnMut(&mut Expr) -> ControlFlow<B>) -> ControlFlow<B> {
    flow(change(tree, &mut ExpressionsMut(alter)))
}

/// Looks at the name of each table, until one breaks off.
pub fn relations<B>(tree: &impl Tree, look: &mut dyn FnMut(&ObjectName) -> ControlFlow<B>) -> ControlFlow<B> {
    flow(look_at(tree, &mut Relations(look)))
}

fn flow<B>(walked: Result<(), B>) -> ControlFlow<B> {
    match walked {
        Ok(()) => ControlFlow::Continue(()),
        Err(broke) => ControlFlow::Break(broke),
    }
}

struct Expressions<'f, B>(&'f mut dyn FnMut(&Expr) -> ControlFlow<B>);

impl<B> Visitor for Expressions<'_, B> {
    type Break = B;

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<B> {
        (self.0)(expr)
    }
}

struct ExpressionsMut<'f, B>(&'f mut dyn FnMut(&mut Expr) -> ControlFlow<B>);

impl<B> VisitorMut for ExpressionsMut<'_, B> {
    type Break = B;

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<B> {
        (self.0)(expr)
    }
}

struct Relations<'f, B>(&'f mut dyn FnMut(&ObjectName) -> ControlFlow<B>);

impl<B> Visitor for Relations<'_, B> {
    type Break = B;

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<B> {
        (self.0)(relation)
    }
}

/// Keeps what a visitor breaks off with.
struct Kept<'v, B> {
    visitor: &'v mut dyn Visitor<Break = B>,
    broke: Option<B>,
}

/// As [`Kept`], of a visitor that changes.
struct KeptMut<'v, B> {
    visitor: &'v mut dyn VisitorMut<Break = B>,
    broke: Option<B>,
}

fn keep<B>(flow: ControlFlow<B>, broke: &mut Option<B>) -> ControlFlow<()> {
    flow.map_break(|with| *broke = Some(with))
}

macro_rules! visits {
    ($($visit:ident: $node:ty),*) => {
        impl<B> Visitor for Kept<'_, B> {
            type Break = ();

            $(fn $visit(&mut self, node: &$node) -> ControlFlow<()> {
                keep(self.visitor.$visit(node), &mut self.broke)
            })*
        }

        impl<B> VisitorMut for KeptMut<'_, B> {
            type Break = ();

            $(fn $visit(&mut self, node: &mut $node) -> ControlFlow<()> {
                keep(self.visitor.$visit(node), &mut self.broke)
            })*
        }

        impl Visitor for Looking<'_> {
            type Break = ();

            $(fn $visit(&mut self, node: &$node) -> ControlFlow<()> {
                self.0.$visit(node)
            })*
        }

        impl VisitorMut for Changing<'_> {
            type Break = ();

            $(fn $visit(&mut self, node: &mut $node) -> ControlFlow<()> {
                self.0.$visit(node)
            })*
        }
    };
}

/// What sqlparser makes its code for.
struct Looking<'v>(&'v mut dyn Visitor<Break = ()>);

/// As [`Looking`], for what changes.
struct Changing<'v>(&'v mut dyn VisitorMut<Break = ()>);

visits!(
    pre_visit_query: Query,
    post_visit_query: Query,
    pre_visit_select: Select,
    post_visit_select: Select,
    pre_visit_relation: ObjectName,
    post_visit_relation: ObjectName,
    pre_visit_table_factor: TableFactor,
    post_visit_table_factor: TableFactor,
    pre_visit_expr: Expr,
    post_visit_expr: Expr,
    pre_visit_statement: Statement,
    post_visit_statement: Statement,
    pre_visit_value: ValueWithSpan,
    post_visit_value: ValueWithSpan
);
