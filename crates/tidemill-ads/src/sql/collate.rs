//! `COLLATE`: whether a comparison is case-sensitive.
//!
//! `ads_default_ci` compares both sides in upper case: ADS's help calls the clause equivalent to `UPPER( field ) = value` ("Comparison
//! Operators and Coercion"), and it is rewritten as that. It works in comparisons, BETWEEN, IN, LIKE and ORDER BY. Elsewhere it is left in
//! place and refused by name. `ads_default_cs` stays: binding makes it count before what columns say.

use std::ops::ControlFlow;

use sqlparser::ast::{self, BinaryOperator, Expr, Ident, ObjectName, OrderByKind, Query, Spanned as _, VisitorMut};

use super::error::{Error, Kind, Result};
use super::walk::{self, Tree};

/// Writes comparisons and orders that ignore case by their collation without it.
///
/// # Errors
/// [`Kind::Unsupported`] for a collation that ADS has not, [`Kind::Type`] for two of them in one comparison.
pub(super) fn without_collations(tree: &mut impl Tree) -> Result<()> {
    walk::change(tree, &mut Coercing)
}

/// How a comparison takes the case of letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Collation {
    Sensitive,
    Insensitive,
}

struct Coercing;

impl VisitorMut for Coercing {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        if let Some(OrderByKind::Expressions(terms)) = query.order_by.as_mut().map(|order| &mut order.kind) {
            for term in terms {
                if let Err(error) = coerce(&mut [&mut term.expr]) {
                    return ControlFlow::Break(error);
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        use BinaryOperator as B;
        let coerced = match expr {
            Expr::BinaryOp {
                left,
                op: B::Eq | B::NotEq | B::Lt | B::LtEq | B::Gt | B::GtEq,
                right,
            } => coerce(&mut [left, right]).map(|_| ()),
            Expr::Between { expr, low, high, .. } => coerce(&mut [expr, low, high]).map(|_| ()),
            Expr::InList { expr, list, .. } => {
                let mut sides: Vec<&mut Expr> = std::iter::once(&mut **expr).chain(list).collect();
                coerce(&mut sides).map(|_| ())
            }
            Expr::Like {
                expr,
                pattern,
                escape_char,
                any: false,
                ..
            } => coerce(&mut [expr, pattern]).map(|collation| {
                if let (Some(Collation::Insensitive), Some(escape)) = (collation, escape_char)
                    && let ast::Value::SingleQuotedString(character) = &mut escape.value
                {
                    // It stands in the pattern, which is in capitals now.
                    *character = character.to_uppercase();
                }
            }),
            _ => Ok(()),
        };
        match coerced {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }
}

/// Takes the collation from whichever side has one, and compares all of them by it.
fn coerce(sides: &mut [&mut Expr]) -> Result<Option<Collation>> {
    let mut common = None;
    for side in sides.iter() {
        let Some(collation) = collation_of(side)? else { continue };
        if common.is_some_and(|common| common != collation) {
            let why = "Collations do not match: one side of the comparison is ads_default_ci, the other ads_default_cs";
            return Err(Error::new(Kind::Type, why).at(side.span().start));
        }
        common = Some(collation);
    }
    // Whether case counts without it is known when there are columns.
    let Some(Collation::Insensitive) = common else {
        return Ok(common);
    };
    for side in sides {
        let inner = match bare(side) {
            Expr::Collate { expr, .. } => std::mem::replace(&mut **expr, nothing()),
            other => std::mem::replace(other, nothing()),
        };
        **side = upper(inner);
    }
    Ok(common)
}

/// Without parentheses around it.
fn bare(mut expr: &mut Expr) -> &mut Expr {
    while let Expr::Nested(inner) = expr {
        expr = inner;
    }
    expr
}

/// Whether a collation is the one in which case counts.
pub(super) fn is_sensitive(collation: &ObjectName) -> bool {
    match collation.0.as_slice() {
        [part] => part
            .as_ident()
            .is_some_and(|name| name.value.eq_ignore_ascii_case("ads_default_cs")),
        _ => false,
    }
}

fn collation_of(mut expr: &Expr) -> Result<Option<Collation>> {
    while let Expr::Nested(inner) = expr {
        expr = inner;
    }
    let Expr::Collate { expr, collation } = expr else {
        return Ok(None);
    };
    let name = match collation.0.as_slice() {
        [part] => part.as_ident().map(|ident| ident.value.to_ascii_lowercase()),
        _ => None,
    };
    match name.as_deref() {
        Some("ads_default_cs") => Ok(Some(Collation::Sensitive)),
        Some("ads_default_ci") => Ok(Some(Collation::Insensitive)),
        _ => {
            let why =
                format!("COLLATE {collation} is not supported: the collations are ads_default_cs and ads_default_ci");
            Err(Error::new(Kind::Unsupported, why).at(expr.span().start))
        }
    }
}

fn nothing() -> Expr {
    Expr::value(ast::Value::Null)
}

/// `UPPER(…)` of an expression.
pub(super) fn upper(expr: Expr) -> Expr {
    in_letters("UPPER", expr)
}

/// `LOWER(…)` of an expression.
pub(super) fn lower(expr: Expr) -> Expr {
    in_letters("LOWER", expr)
}

fn in_letters(name: &str, expr: Expr) -> Expr {
    let name = Ident::with_span(expr.span(), name);
    let argument = ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr));
    Expr::Function(ast::Function {
        name: ObjectName::from(vec![name]),
        uses_odbc_syntax: false,
        parameters: ast::FunctionArguments::None,
        args: ast::FunctionArguments::List(ast::FunctionArgumentList {
            duplicate_treatment: None,
            args: vec![argument],
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}
