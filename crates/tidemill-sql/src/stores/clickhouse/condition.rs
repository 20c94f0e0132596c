//! Conditions of a statement as text for the server, where they mean the same there.
//!
//! A condition goes to the server when every row it keeps here is kept there too; it is *exact* when none is kept besides. Not
//! all are:
//!
//! - Floating-point numbers are in a total order here, NaN at its ends and -0 below 0, and compare by IEEE 754 there. The server
//!   gets a wider condition, and the rows are looked at again.
//! - Not every server reads a literal with a fraction to the last bit, so a floating-point column is compared with bounds that lie a little
//!   further out.
//! - Patterns of LIKE with `_`, which stands for a letter here and for a byte on old servers, stay here.
//! - Dates and times outside the range of the column's type stay here: the server would clip them.
//!
//! Expressions over columns, casts and functions stay here.

use std::collections::HashMap;

use arrow_array::types::{Decimal128Type, DecimalType};
use chrono::NaiveDate;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::{Between, InList, Like};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use tidemill_clickhouse::{Block, DataType, sql_text};

/// A condition as the server reads it.
#[derive(Debug, PartialEq)]
pub(super) struct Condition {
    pub(super) text: String,
    /// Whether it keeps exactly the rows that the statement's own condition keeps.
    pub(super) exact: bool,
}

/// The types of a table's columns, by name.
pub(super) struct Columns(HashMap<String, DataType>);

impl Columns {
    pub(super) fn new(header: &Block) -> Self {
        let schema = header.batch.schema();
        let names = schema.fields().iter().map(|field| field.name().clone());
        Self(names.zip(header.types.iter().cloned()).collect())
    }

    /// Whether the column's type is as asked.
    pub(super) fn is(&self, name: &str, asked: impl Fn(&DataType) -> bool) -> bool {
        self.0.get(name).is_some_and(asked)
    }

    /// What the server is told of `expr`; `None` when it can be told nothing.
    pub(super) fn condition(&self, expr: &Expr) -> Option<Condition> {
        self.told(expr, true)
    }

    /// What the server is told of rows for which `expr` is `wanted`. NOT is carried inwards: the servers make IN of several `=`,
    /// and some take the opposite of that for true where the column is NULL.
    fn told(&self, expr: &Expr, wanted: bool) -> Option<Condition> {
        match expr {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => match op {
                Operator::And => Some(join(self.told(left, wanted)?, wanted, self.told(right, wanted)?)),
                Operator::Or => Some(join(self.told(left, wanted)?, !wanted, self.told(right, wanted)?)),
                _ => match (Comparison::of(*op)?, left.as_ref(), right.as_ref()) {
                    (comparison, Expr::Literal(value, _), column) => {
                        self.compare(column, comparison.mirrored().when(wanted), value)
                    }
                    (comparison, column, Expr::Literal(value, _)) => {
                        self.compare(column, comparison.when(wanted), value)
                    }
                    _ => None,
                },
            },
            Expr::Not(inner) => self.told(inner, !wanted),
            Expr::IsNull(inner) => self.is_null(inner, wanted),
            Expr::IsNotNull(inner) => self.is_null(inner, !wanted),
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
                let above = self.compare(expr, Comparison::GreaterOrEqual.when(inside), low)?;
                let below = self.compare(expr, Comparison::LessOrEqual.when(inside), high)?;
                Some(join(above, inside, below))
            }
            Expr::InList(InList { expr, list, negated }) => {
                let inside = wanted != *negated;
                let values = list.iter().map(|value| match value {
                    Expr::Literal(value, _) => self.compare(expr, Comparison::Equal.when(inside), value),
                    _ => None,
                });
                values.reduce(|all, next| Some(join(all?, !inside, next?)))?
            }
            Expr::Like(like) => self.like(like, wanted),
            Expr::Column(column) if *bare(self.0.get(&column.name)?) == DataType::Bool => {
                Some(exactly(format!("{} = {wanted}", sql_text::name(&column.name))))
            }
            _ => None,
        }
    }

    fn compare(&self, column: &Expr, comparison: Comparison, value: &ScalarValue) -> Option<Condition> {
        let (name, data_type) = self.column(column)?;
        let value = match value {
            ScalarValue::Dictionary(_, value) => value,
            value => value,
        };
        if matches!(data_type, DataType::Float32 | DataType::Float64 | DataType::BFloat16) {
            return compare_float(&name, comparison, value);
        }
        let value = literal(value, data_type)?;
        Some(exactly(format!("{name} {} {value}", comparison.sign())))
    }

    fn is_null(&self, column: &Expr, wanted: bool) -> Option<Condition> {
        let Expr::Column(column) = column else { return None };
        let function = if wanted { "isNull" } else { "isNotNull" };
        match bare(self.0.get(&column.name)?) {
            DataType::Variant(_) | DataType::Dynamic { .. } | DataType::Json(_) | DataType::Geometry => None,
            _ => Some(exactly(format!("{function}({})", sql_text::name(&column.name)))),
        }
    }

    fn like(&self, like: &Like, wanted: bool) -> Option<Condition> {
        let Expr::Literal(pattern, _) = like.pattern.as_ref() else {
            return None;
        };
        let pattern = text(pattern)?;
        let (name, data_type) = self.column(&like.expr)?;
        if like.case_insensitive || like.escape_char.is_some() || pattern.contains(['_', '\\']) || !is_text(data_type) {
            return None;
        }
        let inner = pattern.trim_start_matches('%').trim_end_matches('%');
        if inner.contains('%') || (inner.is_empty() && !pattern.is_empty()) {
            return None;
        }
        let open = (pattern.starts_with('%'), pattern.ends_with('%'));
        let inner = sql_text::string(inner);
        let fits = match open {
            (false, false) => format!("{name} = {inner}"),
            (false, true) => format!("startsWith({name}, {inner})"),
            (true, false) => format!("endsWith({name}, {inner})"),
            (true, true) => format!("position({name}, {inner}) > 0"),
        };
        Some(exactly(if wanted == like.negated {
            format!("NOT ({fits})")
        } else {
            fits
        }))
    }

    /// The text that stands for a column's values, and their type without what wraps it.
    fn column(&self, expr: &Expr) -> Option<(String, &DataType)> {
        let (column, is_cast) = match expr {
            Expr::Column(column) => (column, false),
            // How text in a dictionary is compared with text.
            Expr::Cast(cast) if cast.field.data_type().is_string() => match cast.expr.as_ref() {
                Expr::Column(column) => (column, true),
                _ => return None,
            },
            _ => return None,
        };
        let whole = self.0.get(&column.name)?;
        let data_type = bare(whole);
        let name = sql_text::name(&column.name);
        match data_type {
            // Old servers look for the name of what NULL is made of.
            DataType::Enum8(_) | DataType::Enum16(_) if matches!(whole, DataType::Nullable(_)) => None,
            DataType::Enum8(_) | DataType::Enum16(_) => Some((format!("toString({name})"), data_type)),
            _ if is_cast && !is_text(data_type) => None,
            _ => Some((name, data_type)),
        }
    }
}

#[derive(Clone, Copy)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    fn of(operator: Operator) -> Option<Self> {
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

    /// For the same comparison with its sides changed.
    fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            Self::Equal | Self::NotEqual => self,
        }
    }

    /// Itself, or the comparison that holds where this one does not.
    fn when(self, wanted: bool) -> Self {
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

    fn sign(self) -> &'static str {
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

fn exactly(text: String) -> Condition {
    Condition { text, exact: true }
}

/// Both, or at least one of two conditions.
fn join(left: Condition, both: bool, right: Condition) -> Condition {
    let word = if both { "AND" } else { "OR" };
    Condition {
        text: format!("({} {word} {})", left.text, right.text),
        exact: left.exact && right.exact,
    }
}

/// A condition that keeps what the total order keeps, whatever the sign of zero, and NaN always.
fn compare_float(name: &str, comparison: Comparison, value: &ScalarValue) -> Option<Condition> {
    /// Up to here whole numbers are exact.
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    /// More than any server misreads a literal by, of its value.
    const MARGIN: f64 = 1e-9;
    let value = match value {
        ScalarValue::Float32(Some(value)) => f64::from(*value),
        ScalarValue::Float64(Some(value)) => *value,
        _ => return None,
    };
    if !value.is_finite() || value.abs() > WHOLE {
        return None;
    }
    let margin = match value.fract() == 0.0 {
        true => 0.0,
        false => value.abs() * MARGIN + f64::MIN_POSITIVE,
    };
    // Negative zero is written as zero.
    let (low, high) = (value - margin + 0.0, value + margin + 0.0);
    let text = match comparison {
        Comparison::Equal if margin == 0.0 => format!("{name} = {low}"),
        Comparison::Equal => format!("({name} >= {low:e} AND {name} <= {high:e})"),
        Comparison::NotEqual => return None,
        Comparison::Less | Comparison::LessOrEqual if margin == 0.0 => format!("({name} <= {high} OR isNaN({name}))"),
        Comparison::Less | Comparison::LessOrEqual => format!("({name} <= {high:e} OR isNaN({name}))"),
        Comparison::Greater | Comparison::GreaterOrEqual if margin == 0.0 => {
            format!("({name} >= {low} OR isNaN({name}))")
        }
        Comparison::Greater | Comparison::GreaterOrEqual => format!("({name} >= {low:e} OR isNaN({name}))"),
    };
    Some(Condition { text, exact: false })
}

/// A value as the server reads it, to be compared with a column of this type.
fn literal(value: &ScalarValue, data_type: &DataType) -> Option<String> {
    match data_type {
        DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32
        | DataType::UInt64 => whole_number(value),
        DataType::Bool => match value {
            ScalarValue::Boolean(Some(value)) => Some(value.to_string()),
            _ => None,
        },
        DataType::Date => date(value, *DATES.start(), *DATES.end()).map(|date| format!("toDate('{date}')")),
        DataType::Date32 => date(value, *DATES_32.start(), *DATES_32.end()).map(|date| format!("toDate32('{date}')")),
        DataType::DateTime(_) => match value {
            ScalarValue::TimestampSecond(Some(seconds @ 0..=U32_MAX), _) => Some(format!("toDateTime({seconds})")),
            _ => None,
        },
        DataType::DateTime64(..) => {
            let (ticks, per_second, unit) = match value {
                ScalarValue::TimestampMillisecond(Some(ticks), _) => (*ticks, 1_000, "Milli"),
                ScalarValue::TimestampMicrosecond(Some(ticks), _) => (*ticks, 1_000_000, "Micro"),
                ScalarValue::TimestampNanosecond(Some(ticks), _) => (*ticks, 1_000_000_000, "Nano"),
                _ => return None,
            };
            SECONDS_64
                .contains(&(ticks / per_second))
                .then(|| format!("fromUnixTimestamp64{unit}(toInt64({ticks}))"))
        }
        DataType::Decimal { precision, scale } => {
            let (digits, scale_here) = match value {
                ScalarValue::Decimal32(Some(digits), _, scale) => (i128::from(*digits), *scale),
                ScalarValue::Decimal64(Some(digits), _, scale) => (i128::from(*digits), *scale),
                ScalarValue::Decimal128(Some(digits), _, scale) => (*digits, *scale),
                _ => return None,
            };
            let fits = u8::try_from(scale_here) == Ok(*scale)
                && digits.unsigned_abs() < 10_u128.checked_pow(u32::from(*precision)).unwrap_or(u128::MAX);
            let text = Decimal128Type::format_decimal(digits, 38, scale_here);
            fits.then(|| format!("CAST('{text}', 'Decimal({precision}, {scale})')"))
        }
        data_type if is_text(data_type) => text(value).map(sql_text::string),
        _ => None,
    }
}

fn whole_number(value: &ScalarValue) -> Option<String> {
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

fn text(value: &ScalarValue) -> Option<&str> {
    match value {
        ScalarValue::Utf8(Some(text)) | ScalarValue::LargeUtf8(Some(text)) | ScalarValue::Utf8View(Some(text)) => {
            Some(text)
        }
        _ => None,
    }
}

fn date(value: &ScalarValue, first: i32, last: i32) -> Option<NaiveDate> {
    match value {
        ScalarValue::Date32(Some(days)) if (first..=last).contains(days) => {
            NaiveDate::from_num_days_from_ce_opt(*days + 719_163)
        }
        _ => None,
    }
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::String | DataType::Enum8(_) | DataType::Enum16(_))
}

/// A type without `Nullable` and `LowCardinality` around it.
pub(super) fn bare(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Nullable(inner) | DataType::LowCardinality(inner) => bare(inner),
        other => other,
    }
}

/// Days that `Date` has on every server: 1970-01-01 to 2105-12-31.
const DATES: std::ops::RangeInclusive<i32> = 0..=49_672;
/// Days that `Date32` has: 1900-01-01 to 2299-12-31.
const DATES_32: std::ops::RangeInclusive<i32> = -25_567..=120_529;
/// Seconds that `DateTime64` has in every precision: 1900-01-01 to 2261-12-31.
const SECONDS_64: std::ops::RangeInclusive<i64> = -2_208_988_800..=9_214_646_399;
const U32_MAX: i64 = u32::MAX as i64;
