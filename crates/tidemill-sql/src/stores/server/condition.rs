//! Unparses conditions of a statement for a server, if they have the same meaning there.
//!
//! A condition is pushed down if the server keeps every row that it keeps here; it is *exact* if the server keeps no others. NOT is pushed
//! inwards, and AND, OR, BETWEEN and IN are taken apart here; a [`Comparing`] for each kind of server unparses comparisons of a column with
//! a value.

use datafusion::common::{Result as EngineResult, ScalarValue, internal_err};
use datafusion::logical_expr::expr::{Between, InList, Like};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, TableProviderFilterPushDown};

/// A condition in the server's language.
#[derive(Debug, PartialEq)]
pub(crate) struct Condition {
    pub(crate) text: String,
    /// Whether it keeps exactly the rows of the statement's condition.
    pub(crate) exact: bool,
}

/// How a kind of server compares a column with a value. Methods return `None` if the comparison cannot be pushed down.
pub(crate) trait Comparing {
    fn compare(&self, column: &Expr, comparison: Comparison, value: &ScalarValue) -> Option<Condition>;

    /// Whether a column is NULL, or is not NULL.
    fn is_null(&self, column: &str, wanted: bool) -> Option<Condition>;

    /// Whether a Boolean column is true, or false.
    fn is(&self, column: &str, wanted: bool) -> Option<Condition>;

    /// LIKE, or NOT LIKE.
    fn like(&self, column: &Expr, pattern: Pattern<'_>, wanted: bool) -> Option<Condition>;
}

/// The condition for `expr`; `None` if nothing can be pushed down.
pub(crate) fn condition(server: &impl Comparing, expr: &Expr) -> Option<Condition> {
    condition_when(server, expr, true)
}

/// The condition for rows for which `expr` is `wanted`. NOT is pushed inwards: some servers turn a chain of `=` into IN, whose negation
/// they take for true if the column is NULL.
fn condition_when(server: &impl Comparing, expr: &Expr, wanted: bool) -> Option<Condition> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => match op {
            Operator::And => Some(join(
                condition_when(server, left, wanted)?,
                wanted,
                condition_when(server, right, wanted)?,
            )),
            Operator::Or => Some(join(
                condition_when(server, left, wanted)?,
                !wanted,
                condition_when(server, right, wanted)?,
            )),
            _ => match (Comparison::of(*op)?, left.as_ref(), right.as_ref()) {
                (comparison, Expr::Literal(value, _), column) => {
                    server.compare(column, comparison.mirrored().when(wanted), value)
                }
                (comparison, column, Expr::Literal(value, _)) => server.compare(column, comparison.when(wanted), value),
                _ => None,
            },
        },
        Expr::Not(inner) => condition_when(server, inner, !wanted),
        Expr::IsNull(inner) => is_null(server, inner, wanted),
        Expr::IsNotNull(inner) => is_null(server, inner, !wanted),
        Expr::Between(Between {
            expr,
            negated,
            low,
            high,
        }) => {
            let (Expr::Literal(low, _), Expr::Literal(high, _)) = (low.as_ref(), high.as_ref()) else {
                return None;
            };
            let inside = wanted != *negated;
            let above = server.compare(expr, Comparison::GreaterOrEqual.when(inside), low)?;
            let below = server.compare(expr, Comparison::LessOrEqual.when(inside), high)?;
            Some(join(above, inside, below))
        }
        Expr::InList(InList { expr, list, negated }) => {
            let inside = wanted != *negated;
            let values = list.iter().map(|value| match value {
                Expr::Literal(value, _) => server.compare(expr, Comparison::Equal.when(inside), value),
                _ => None,
            });
            values.reduce(|all, next| Some(join(all?, !inside, next?)))?
        }
        Expr::Like(like) => server.like(&like.expr, Pattern::of(like)?, wanted != like.negated),
        Expr::Column(column) => server.is(&column.name, wanted),
        _ => None,
    }
}

/// Which filters of a scan are pushed down, for the planner.
pub(crate) fn pushed(
    filters: &[&Expr],
    condition: impl Fn(&Expr) -> Option<Condition>,
) -> Vec<TableProviderFilterPushDown> {
    let pushed = filters.iter().map(|filter| match condition(filter) {
        Some(Condition { exact: true, .. }) => TableProviderFilterPushDown::Exact,
        Some(Condition { exact: false, .. }) => TableProviderFilterPushDown::Inexact,
        None => TableProviderFilterPushDown::Unsupported,
    });
    pushed.collect()
}

/// The conditions of a scan, which the server has taken by [`pushed`].
///
/// # Errors
///
/// [`DataFusionError::Internal`](datafusion::common::DataFusionError::Internal) for one that it does not take, and that nobody else would look at.
pub(crate) fn texts_of(filters: &[Expr], condition: impl Fn(&Expr) -> Option<Condition>) -> EngineResult<Vec<String>> {
    let texts = filters.iter().map(|filter| match condition(filter) {
        Some(condition) => Ok(condition.text),
        None => internal_err!("a server was promised {filter}, which it does not take"),
    });
    texts.collect()
}

fn is_null(server: &impl Comparing, column: &Expr, wanted: bool) -> Option<Condition> {
    match column {
        Expr::Column(column) => server.is_null(&column.name, wanted),
        _ => None,
    }
}

/// A LIKE pattern that is a literal text with `%` at its start, its end, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern<'a> {
    Is(&'a str),
    StartsWith(&'a str),
    EndsWith(&'a str),
    Contains(&'a str),
}

impl<'a> Pattern<'a> {
    fn of(like: &'a Like) -> Option<Self> {
        let Expr::Literal(pattern, _) = like.pattern.as_ref() else {
            return None;
        };
        let pattern = text(pattern)?;
        if like.case_insensitive || like.escape_char.is_some() || pattern.contains(['_', '\\']) {
            return None;
        }
        let inner = pattern.trim_start_matches('%').trim_end_matches('%');
        if inner.contains('%') || (inner.is_empty() && !pattern.is_empty()) {
            return None;
        }
        Some(match (pattern.starts_with('%'), pattern.ends_with('%')) {
            (false, false) => Self::Is(inner),
            (false, true) => Self::StartsWith(inner),
            (true, false) => Self::EndsWith(inner),
            (true, true) => Self::Contains(inner),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    pub(crate) fn of(operator: Operator) -> Option<Self> {
        Some(match operator {
            Operator::Eq => Self::Equal,
            Operator::NotEq => Self::NotEqual,
            Operator::Lt => Self::Less,
            Operator::LtEq => Self::LessOrEqual,
            Operator::Gt => Self::Greater,
            Operator::GtEq => Self::GreaterOrEqual,
            _ => return None,
        })
    }

    /// The operator with its operands exchanged.
    pub(crate) fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            Self::Equal | Self::NotEqual => self,
        }
    }

    /// The operator itself, or its negation.
    pub(crate) fn when(self, wanted: bool) -> Self {
        match self {
            _ if wanted => self,
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
        }
    }

    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }
}

pub(crate) fn exactly(text: String) -> Condition {
    Condition { text, exact: true }
}

/// AND or OR of two conditions.
fn join(left: Condition, both: bool, right: Condition) -> Condition {
    let word = if both { "AND" } else { "OR" };
    Condition {
        text: format!("({} {word} {})", left.text, right.text),
        exact: left.exact && right.exact,
    }
}

pub(crate) fn whole_number(value: &ScalarValue) -> Option<String> {
    Some(match value {
        ScalarValue::Int8(Some(value)) => value.to_string(),
        ScalarValue::Int16(Some(value)) => value.to_string(),
        ScalarValue::Int32(Some(value)) => value.to_string(),
        ScalarValue::Int64(Some(value)) => value.to_string(),
        ScalarValue::UInt8(Some(value)) => value.to_string(),
        ScalarValue::UInt16(Some(value)) => value.to_string(),
        ScalarValue::UInt32(Some(value)) => value.to_string(),
        ScalarValue::UInt64(Some(value)) => value.to_string(),
        _ => return None,
    })
}

pub(crate) fn text(value: &ScalarValue) -> Option<&str> {
    match value {
        ScalarValue::Utf8(Some(text)) | ScalarValue::LargeUtf8(Some(text)) | ScalarValue::Utf8View(Some(text)) => {
            Some(text)
        }
        _ => None,
    }
}
