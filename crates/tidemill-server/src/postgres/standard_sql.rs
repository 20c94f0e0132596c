//! Rewrites PostgreSQL's syntax to that of the session.

use std::borrow::Cow;

use sqlparser::ast::{
    BinaryOperator, CastKind, DataType, Expr, Ident, ObjectName, Query, SelectItem, SetExpr, Statement, Value,
};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;
use tidemill_ads::sql::walk;

use super::catalog::rewrite::call;
use super::command::PARAMETER;
use super::lists;

/// Rewrites a statement for the session: `CAST(x AS t)` for `x::t`, `ARRAY[…]` for an array written as text, `POWER(x, y)` for
/// `x ^ y`, `x ^ y` for `x # y`, plain strings for `E'…'` and `U&'…'`, `SELECT * FROM t` for `TABLE t`,
/// `UNNEST(generate_series(…))` for a series in the select list, and `:pg1` for `$1`; `None` if it cannot be parsed.
pub(super) fn in_standard_words(text: &str) -> Option<String> {
    let text = &*of_table(text);
    let mut statements = Parser::parse_sql(&PostgreSqlDialect {}, text).ok()?;
    let [statement] = statements.as_mut_slice() else {
        return None;
    };
    if let Statement::Query(query) = &mut *statement {
        put_query(query);
    }
    let _ = walk::expressions_mut(statement, &mut |expression| {
        // The session has no array type. The type of a parameter is known without the cast.
        if let Expr::Cast {
            expr,
            data_type: DataType::Array(of),
            ..
        } = expression
        {
            let inner = Expr::clone(expr);
            let array = match &inner {
                Expr::Value(value) => lists::written(&value.value, of),
                _ => None,
            };
            *expression = array.unwrap_or(inner);
        }
        match expression {
            Expr::BinaryOp { left, op, right } => match op {
                BinaryOperator::PGExp => {
                    let sides = vec![Expr::clone(left), Expr::clone(right)];
                    *expression = call("POWER", sides, Vec::new());
                }
                BinaryOperator::PGBitwiseXor => *op = BinaryOperator::BitwiseXor,
                _ => {}
            },
            Expr::Function(function) if function.name.to_string().eq_ignore_ascii_case("localtimestamp") => {
                function.name = ObjectName::from(vec![Ident::new("CURRENT_TIMESTAMP")]);
            }
            Expr::Cast { kind, data_type, .. } => {
                *kind = CastKind::Cast;
                if let Some(standard) = standard_type(data_type) {
                    *data_type = standard;
                }
            }
            Expr::Value(value) => match &mut value.value {
                Value::EscapedStringLiteral(text) | Value::UnicodeStringLiteral(text) => {
                    let text = std::mem::take(text);
                    value.value = Value::SingleQuotedString(text);
                }
                Value::Placeholder(name) => {
                    if let Some(number) = name.strip_prefix('$') {
                        *name = format!(":{PARAMETER}{number}");
                    }
                }
                _ => {}
            },
            _ => {}
        }
        std::ops::ControlFlow::<()>::Continue(())
    });
    Some(statement.to_string())
}

/// `SELECT * FROM t` for `TABLE t`; other texts unchanged.
fn of_table(text: &str) -> Cow<'_, str> {
    const WORD: &str = "TABLE";
    let text = text.trim_start();
    match text.split_at_checked(WORD.len()) {
        Some((word, name)) if word.eq_ignore_ascii_case(WORD) && name.starts_with(char::is_whitespace) => {
            format!("SELECT * FROM{name}").into()
        }
        _ => text.into(),
    }
}

/// Rewrites a query.
fn put_query(query: &mut Query) {
    if let SetExpr::Select(select) = query.body.as_mut() {
        select.projection.iter_mut().for_each(put_series);
    }
}

/// A series in the select list returns a row for each of its values.
fn put_series(item: &mut SelectItem) {
    let is_series = |expr: &Expr| match expr {
        Expr::Function(function) => function.name.to_string().eq_ignore_ascii_case("generate_series"),
        _ => false,
    };
    match item {
        SelectItem::UnnamedExpr(expr) if is_series(expr) => {
            *item = SelectItem::ExprWithAlias {
                expr: call("UNNEST", vec![expr.clone()], Vec::new()),
                alias: Ident::new("generate_series"),
            };
        }
        SelectItem::ExprWithAlias { expr, .. } if is_series(expr) => {
            *expr = call("UNNEST", vec![expr.clone()], Vec::new());
        }
        _ => {}
    }
}

/// The standard's name for a type of PostgreSQL.
pub(super) fn standard_type(data_type: &DataType) -> Option<DataType> {
    use sqlparser::ast::{ExactNumberInfo, TimezoneInfo};
    Some(match data_type {
        DataType::Int2(_) => DataType::SmallInt(None),
        DataType::Int4(_) => DataType::Integer(None),
        DataType::Int8(_) => DataType::BigInt(None),
        DataType::Float4 => DataType::Real,
        DataType::Float8 => DataType::DoublePrecision,
        DataType::Bool => DataType::Boolean,
        DataType::Text => DataType::Varchar(None),
        DataType::Timestamp(precision, TimezoneInfo::Tz) => DataType::Timestamp(*precision, TimezoneInfo::WithTimeZone),
        DataType::Numeric(ExactNumberInfo::None) => DataType::DoublePrecision,
        DataType::Custom(name, _) if name.to_string().eq_ignore_ascii_case("bpchar") => DataType::Varchar(None),
        _ => return None,
    })
}
