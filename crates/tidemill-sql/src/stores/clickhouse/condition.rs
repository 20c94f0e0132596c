//! Unparses conditions for the server, if they have the same meaning there.
//!
//! A condition is pushed down if the server keeps every row that it keeps here; it is *exact* if the server keeps no others. Exceptions:
//!
//! - Floating-point numbers have a total order here, with NaN at its ends and -0 below 0, but the server compares by IEEE 754. It gets a
//!   wider condition, and the rows are checked again.
//! - Not every server parses a literal with a fraction exactly, so that a floating-point column is compared with slightly wider bounds.
//! - LIKE patterns with `_` are not pushed down: it stands for a character here, and for a byte on old servers.
//! - Dates and times outside the range of the column's type are not pushed down: the server would clip them.
//!
//! Conditions with expressions over columns, casts and functions are evaluated here.

use std::collections::HashMap;

use arrow_array::types::{Decimal128Type, DecimalType};
use chrono::NaiveDate;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr;
use tidemill_clickhouse::{Block, DataType, sql_text};

use crate::stores::server::condition::{Comparing, Comparison, Condition, Pattern, exactly, text, whole_number};

/// The types of a table's columns, by name.
pub(super) struct Columns(HashMap<String, DataType>);

impl Columns {
    pub(super) fn new(header: &Block) -> Self {
        let schema = header.batch.schema();
        let names = schema.fields().iter().map(|field| field.name().clone());
        Self(names.zip(header.types.iter().cloned()).collect())
    }

    /// Whether the column's type satisfies `asked`.
    pub(super) fn is(&self, name: &str, asked: impl Fn(&DataType) -> bool) -> bool {
        self.0.get(name).is_some_and(asked)
    }

    /// The text for a column's values, and their type without wrappers.
    fn column(&self, expr: &Expr) -> Option<(String, &DataType)> {
        let (column, is_cast) = match expr {
            Expr::Column(column) => (column, false),
            // A dictionary compared with text.
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
            // Old servers look up the enum name of the value that represents NULL.
            DataType::Enum8(_) | DataType::Enum16(_) if matches!(whole, DataType::Nullable(_)) => None,
            DataType::Enum8(_) | DataType::Enum16(_) => Some((format!("toString({name})"), data_type)),
            _ if is_cast && !is_text(data_type) => None,
            _ => Some((name, data_type)),
        }
    }
}

impl Comparing for Columns {
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

    fn is_null(&self, column: &str, wanted: bool) -> Option<Condition> {
        let function = if wanted { "isNull" } else { "isNotNull" };
        match bare(self.0.get(column)?) {
            DataType::Variant(_) | DataType::Dynamic { .. } | DataType::Json(_) | DataType::Geometry => None,
            _ => Some(exactly(format!("{function}({})", sql_text::name(column)))),
        }
    }

    fn is(&self, column: &str, wanted: bool) -> Option<Condition> {
        let is_logical = *bare(self.0.get(column)?) == DataType::Bool;
        is_logical.then(|| exactly(format!("{} = {wanted}", sql_text::name(column))))
    }

    fn like(&self, column: &Expr, pattern: Pattern<'_>, wanted: bool) -> Option<Condition> {
        let (name, data_type) = self.column(column)?;
        if !is_text(data_type) {
            return None;
        }
        let fits = match pattern {
            Pattern::Is(text) => format!("{name} = {}", sql_text::string(text)),
            Pattern::StartsWith(text) => format!("startsWith({name}, {})", sql_text::string(text)),
            Pattern::EndsWith(text) => format!("endsWith({name}, {})", sql_text::string(text)),
            Pattern::Contains(text) => format!("position({name}, {}) > 0", sql_text::string(text)),
        };
        Some(exactly(match wanted {
            true => fits,
            false => format!("NOT ({fits})"),
        }))
    }
}

/// A condition that keeps all rows of the total order, whatever the sign of zero, and always NaN.
fn compare_float(name: &str, comparison: Comparison, value: &ScalarValue) -> Option<Condition> {
    /// Whole numbers are exact up to here.
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    /// More than the relative error of any server's literals.
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
    // Turns negative zero into zero.
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

/// A value as a literal for the server, to be compared with a column of this type.
pub(super) fn literal(value: &ScalarValue, data_type: &DataType) -> Option<String> {
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

/// A type without `Nullable` and `LowCardinality`.
pub(super) fn bare(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Nullable(inner) | DataType::LowCardinality(inner) => bare(inner),
        other => other,
    }
}

/// The range of `Date` on every server: 1970-01-01 to 2105-12-31, in days.
const DATES: std::ops::RangeInclusive<i32> = 0..=49_672;
/// The range of `Date32`: 1900-01-01 to 2299-12-31, in days.
const DATES_32: std::ops::RangeInclusive<i32> = -25_567..=120_529;
/// The range of `DateTime64` in every precision: 1900-01-01 to 2261-12-31, in seconds.
const SECONDS_64: std::ops::RangeInclusive<i64> = -2_208_988_800..=9_214_646_399;
const U32_MAX: i64 = u32::MAX as i64;
