//! Operations that SQLite executes with exactly the same results.
//!
//! - Text is compared by its bytes, whatever collation its column declares.
//! - A column may have values of another type than its own, which are an error here. SUM, MIN and MAX report that error too; conditions
//!   and groups do not, if the server skips the row.
//! - Floating-point numbers are compared with bounds, and the rows are looked at again: -0 is below 0 here, and the same there. They are
//!   not summed, grouped or sorted there, nor are decimals, which SQLite stores as such numbers.
//! - Times are not compared there: the same time may be written in more than one way.

use std::collections::HashMap;

use arrow_array::types::{Decimal128Type, DecimalType};
use arrow_schema::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr;

use super::kind::{Kind, Type, write_date};
use crate::stores::server::condition::{Comparing, Comparison, Condition, Pattern, exactly, text, whole_number};
use crate::stores::server::push_down::{Aggregate, Function};
use crate::stores::server::select::{Dialect, Expression, Output};

impl Type {
    /// The storage class of the values, as `typeof` names it, for types whose values compare there as here.
    fn storage_class(self) -> Option<&'static str> {
        match self.kind {
            _ if self.is_converted => None,
            Kind::Integer | Kind::Boolean => Some("integer"),
            Kind::Text | Kind::Date => Some("text"),
            Kind::Real | Kind::Decimal(..) | Kind::Blob | Kind::Timestamp { .. } | Kind::Time => None,
        }
    }
}

/// A quoted name.
pub(super) fn name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn string(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A column in the SELECT list.
pub(super) fn selected(column: &str, data_type: Type) -> Output<Type> {
    Output::column(value(column, data_type), data_type)
}

/// A column that is compared by its bytes.
fn value(column: &str, data_type: Type) -> String {
    match data_type.kind {
        Kind::Text | Kind::Date => format!("{} COLLATE BINARY", name(column)),
        _ => name(column),
    }
}

/// The SQL of SQLite.
#[derive(Clone, Copy, Debug)]
pub(super) struct SqliteSql;

impl Dialect for SqliteSql {
    type Type = Type;

    const INNER_JOIN: &'static str = "INNER JOIN";

    const LEFT_JOIN: &'static str = "LEFT JOIN";

    /// Otherwise a constraint may declare that a conflicting row is skipped, changed, or replaces others.
    const UPDATE: &'static str = "UPDATE OR ABORT";

    fn range(skipped: usize, rows: Option<usize>) -> String {
        match rows {
            Some(rows) => format!("LIMIT {rows} OFFSET {skipped}"),
            None => format!("LIMIT -1 OFFSET {skipped}"),
        }
    }

    fn has_null(_: &Type) -> bool {
        true
    }

    fn with_null(data_type: &Type) -> Option<Type> {
        Some(*data_type)
    }

    fn is_ordered(data_type: &Type) -> bool {
        data_type.storage_class().is_some()
    }

    fn is_key(data_type: &Type) -> bool {
        data_type.storage_class().is_some()
    }

    fn is_same_key(one: &Type, other: &Type) -> bool {
        Self::is_key(one) && one == other
    }

    fn compared(column: &Expression<Type>, comparison: Comparison, value: &ScalarValue) -> Option<String> {
        let is_whole = column.data_type == Type::of(Kind::Integer);
        let value = whole_number(value).filter(|_| is_whole)?;
        Some(format!("{} {} {value}", column.text, comparison.sign()))
    }

    fn column_name(column: &str) -> Option<String> {
        Some(name(column))
    }

    fn constant(value: &ScalarValue) -> Option<String> {
        Some(match value {
            ScalarValue::Boolean(Some(value)) => u8::from(*value).to_string(),
            ScalarValue::Date32(Some(days)) => {
                let mut text = String::new();
                write_date(*days, &mut text)?;
                string(&text)
            }
            // A floating-point number represents it exactly.
            ScalarValue::Decimal128(Some(digits), precision, scale) if *precision <= 15 => {
                Decimal128Type::format_decimal(*digits, 38, *scale)
            }
            ScalarValue::Float64(Some(number)) if number.is_finite() => format!("{number:e}"),
            value => match text(value) {
                // SQLite's own functions end a string at NUL.
                Some(text) => (!text.contains('\0')).then(|| string(text))?,
                None => whole_number(value)?,
            },
        })
    }

    fn value_of_group(aggregate: &Aggregate, of: Option<&Expression<Type>>, _: bool) -> Option<Output<Type>> {
        let integer = |text: String| Output::column(text, Type::of(Kind::Integer));
        let Some(of) = of else {
            return Some(integer("count(*)".to_owned()));
        };
        let (text, data_type) = (&of.text, of.data_type);
        // If the column has values of another type, the result is an invalid value.
        let checked = |function: &str| {
            let class = data_type.storage_class()?;
            let others = format!("sum(typeof({text}) NOT IN ('{class}', 'null'))");
            // A BLOB, which no compared column type accepts.
            Some(format!(
                "CASE WHEN {others} > 0 THEN CAST({others} || ' values of another type' AS BLOB) ELSE {function}({text}) END"
            ))
        };
        Some(match aggregate.function {
            Function::Count if aggregate.distinct => {
                Self::is_key(&data_type).then(|| integer(format!("count(DISTINCT {text})")))?
            }
            Function::Count => integer(format!("count({text})")),
            Function::Min | Function::Max if data_type.kind != Kind::Boolean => {
                let function = match aggregate.function {
                    Function::Min => "min",
                    _ => "max",
                };
                Output::column(checked(function)?, data_type)
            }
            Function::Sum if data_type.kind == Kind::Integer => Output::column(checked("sum")?, data_type),
            Function::Average if data_type.kind == Kind::Integer && aggregate.data_type == DataType::Float64 => {
                Output::Average {
                    sum: Expression {
                        text: checked("sum")?,
                        data_type,
                    },
                    count: Expression {
                        text: format!("count({text})"),
                        data_type,
                    },
                }
            }
            _ => return None,
        })
    }
}

/// The types of a table's columns, by name.
#[derive(Debug)]
pub(super) struct Columns(HashMap<String, Type>);

impl Columns {
    pub(super) fn new<'a>(columns: impl IntoIterator<Item = (&'a str, Type)>) -> Self {
        let columns = columns
            .into_iter()
            .map(|(name, data_type)| (name.to_owned(), data_type));
        Self(columns.collect())
    }

    fn column(&self, expr: &Expr) -> Option<(String, Kind)> {
        let Expr::Column(column) = expr else { return None };
        let data_type = *self.0.get(&column.name)?;
        (!data_type.is_converted).then(|| (value(&column.name, data_type), data_type.kind))
    }
}

impl Comparing for Columns {
    fn compare(&self, column: &Expr, comparison: Comparison, value: &ScalarValue) -> Option<Condition> {
        let (name, kind) = self.column(column)?;
        let literal = match kind {
            Kind::Integer => whole_number(value)?,
            Kind::Boolean => match value {
                ScalarValue::Boolean(Some(value)) => u8::from(*value).to_string(),
                _ => return None,
            },
            Kind::Real => return compare_real(&name, comparison, value),
            Kind::Text => string(text(value).filter(|text| !text.contains('\0'))?),
            Kind::Date => match value {
                ScalarValue::Date32(Some(days)) => {
                    let mut text = String::new();
                    write_date(*days, &mut text)?;
                    string(&text)
                }
                _ => return None,
            },
            _ => return None,
        };
        Some(exactly(format!("{name} {} {literal}", comparison.sign())))
    }

    fn is_null(&self, column: &str, wanted: bool) -> Option<Condition> {
        self.0.get(column)?;
        let not = if wanted { "" } else { "NOT " };
        Some(exactly(format!("{} IS {not}NULL", name(column))))
    }

    fn is(&self, column: &str, wanted: bool) -> Option<Condition> {
        let data_type = self.0.get(column)?;
        let is_logical = *data_type == Type::of(Kind::Boolean);
        is_logical.then(|| exactly(format!("{} = {}", name(column), u8::from(wanted))))
    }

    /// SQLite's own LIKE ignores case.
    fn like(&self, column: &Expr, pattern: Pattern<'_>, wanted: bool) -> Option<Condition> {
        let (name, kind) = self.column(column)?;
        let (Pattern::Is(text) | Pattern::StartsWith(text) | Pattern::EndsWith(text) | Pattern::Contains(text)) =
            pattern;
        if kind != Kind::Text || text.contains('\0') {
            return None;
        }
        let (literal, letters) = (string(text), text.chars().count());
        let fits = match pattern {
            Pattern::Is(_) => format!("{name} = {literal}"),
            Pattern::StartsWith(_) => format!("substr({name}, 1, {letters}) = {literal}"),
            // For shorter values, `substr` from the end would return what there is.
            Pattern::EndsWith(_) => format!("(length({name}) >= {letters} AND substr({name}, -{letters}) = {literal})"),
            Pattern::Contains(_) => format!("instr({name}, {literal}) > 0"),
        };
        Some(exactly(match wanted {
            true => fits,
            false => format!("NOT ({fits})"),
        }))
    }
}

/// A condition that keeps all rows of the total order, whatever the sign of zero. There is no NaN in SQLite.
fn compare_real(name: &str, comparison: Comparison, value: &ScalarValue) -> Option<Condition> {
    let value = match value {
        ScalarValue::Float32(Some(value)) => f64::from(*value),
        ScalarValue::Float64(Some(value)) => *value,
        _ => return None,
    };
    // More than the relative error of a parsed literal.
    const MARGIN: f64 = 1e-12;
    if !value.is_finite() || value.abs() > f64::MAX / 2.0 {
        return None;
    }
    let margin = value.abs() * MARGIN + f64::MIN_POSITIVE;
    let (low, high) = (value - margin, value + margin);
    let text = match comparison {
        Comparison::Equal => format!("{name} BETWEEN {low:e} AND {high:e}"),
        Comparison::NotEqual => return None,
        Comparison::Less | Comparison::LessOrEqual => format!("{name} <= {high:e}"),
        Comparison::Greater | Comparison::GreaterOrEqual => format!("{name} >= {low:e}"),
    };
    Some(Condition { text, exact: false })
}
