//! Expressions that ClickHouse computes with exactly the same results.
//!
//! - Dates and times are computed in UTC, which is passed to each function: servers and columns have their own time zones.
//! - `toStartOfMonth` and the like wrap around before 1970. The first day of a period is computed as a difference of days instead, in
//!   32 bits, and the first second as one of seconds.
//! - Whole numbers of 64 bits wrap around there. Arithmetic is pushed down only if no result can overflow.
//! - All branches of a CASE are converted to its type, which is nullable.
//! - UPPER and LOWER are not pushed down: `ß` and `İ` convert differently.

use arrow_schema::{DataType as ArrowType, Field};
use tidemill_clickhouse::{DataType, arrow_type};

use super::condition::{bare, literal};
use super::select::{ClickHouseSql, has_null};
use crate::stores::server::computed::{Arithmetic, Computed, Part, Period, Test, Value};
use crate::stores::server::select::{Expression, Row};

type Columns<'r> = Row<'r, ClickHouseSql>;

pub(super) fn computed(value: &Computed, row: &Columns<'_>) -> Option<Expression<DataType>> {
    match &value.value {
        Value::Column(_) => row.value(value),
        Value::Literal(constant) => {
            let data_type = type_of(&value.data_type)?;
            Some(Expression {
                text: literal(constant, &data_type)?,
                data_type,
            })
        }
        Value::Begin(period, of) => begin(*period, &row.value(of)?),
        Value::Part(part, of) => self::part(*part, &row.value(of)?),
        Value::Day(of) => day(&row.value(of)?),
        Value::Arithmetic(operator, left, right) => arithmetic(*operator, (left, right), &value.data_type, row),
        Value::Characters(of) => {
            let of = row.value(of)?;
            (*bare(&of.data_type) == DataType::String)
                .then(|| as_null(format!("toInt32(lengthUTF8({}))", of.text), DataType::Int32, &of))
        }
        Value::Choice(branches, otherwise) => chosen(branches, otherwise.as_deref(), &value.data_type, row),
    }
}

/// A value that is NULL where another value is NULL.
fn as_null(text: String, data_type: DataType, of: &Expression<DataType>) -> Expression<DataType> {
    Expression {
        text,
        data_type: match has_null(&of.data_type) {
            true => DataType::Nullable(data_type.into()),
            false => data_type,
        },
    }
}

/// A date unchanged, and a timestamp as its date in UTC, in a date type that covers its range.
fn day(of: &Expression<DataType>) -> Option<Expression<DataType>> {
    let text = &of.text;
    Some(match bare(&of.data_type) {
        DataType::Date | DataType::Date32 => of.clone(),
        DataType::DateTime(_) => as_null(format!("toDate({text}, 'UTC')"), DataType::Date, of),
        DataType::DateTime64(..) => as_null(format!("toDate32({text}, 'UTC')"), DataType::Date32, of),
        _ => return None,
    })
}

fn begin(period: Period, of: &Expression<DataType>) -> Option<Expression<DataType>> {
    let is_date = matches!(bare(&of.data_type), DataType::Date | DataType::Date32);
    let Some(seconds) = period.seconds() else {
        let day = day(of)?;
        return Some(as_null(first_day(period, &day.text), DataType::Int32, of));
    };
    if is_date {
        return Some(of.clone());
    }
    let (ticks, per_second) = match bare(&of.data_type) {
        DataType::DateTime(_) => (format!("toInt64({})", of.text), 1),
        DataType::DateTime64(1..=3, _) => (format!("toUnixTimestamp64Milli({})", of.text), 1_000),
        DataType::DateTime64(4..=6, _) => (format!("toUnixTimestamp64Micro({})", of.text), 1_000_000),
        DataType::DateTime64(7..=9, _) => (format!("toUnixTimestamp64Nano({})", of.text), 1_000_000_000),
        _ => return None,
    };
    let length = seconds * per_second;
    // The remainder of a division has the sign of the dividend.
    let text = format!("{ticks} - ({ticks} % {length} + {length}) % {length}");
    Some(as_null(format!("toInt64({text})"), DataType::Int64, of))
}

/// The first day of a date's period, in days from 1970-01-01.
fn first_day(period: Period, day: &str) -> String {
    let month = |day: &str| format!("toInt32(toInt32({day}) - (toDayOfMonth({day}) - 1))");
    match period {
        Period::Week => format!("toInt32(toInt32({day}) - (toDayOfWeek({day}) - 1))"),
        Period::Quarter => month(&format!("subtractMonths({day}, (toMonth({day}) - 1) % 3)")),
        Period::Year => format!("toInt32(toInt32({day}) - (toDayOfYear({day}) - 1))"),
        _ => month(day),
    }
}

fn part(part: Part, of: &Expression<DataType>) -> Option<Expression<DataType>> {
    let of_day = |function: &str| Some(format!("{function}({})", day(of)?.text));
    let of_moment = |function: &str| {
        let is_moment = matches!(bare(&of.data_type), DataType::DateTime(_) | DataType::DateTime64(..));
        is_moment.then(|| format!("{function}({}, 'UTC')", of.text))
    };
    let text = match part {
        Part::Year => of_day("toYear"),
        Part::Quarter => of_day("toQuarter"),
        Part::Month => of_day("toMonth"),
        Part::Week => of_day("toISOWeek"),
        Part::Day => of_day("toDayOfMonth"),
        Part::DayOfWeek => of_day("toDayOfWeek").map(|day| format!("{day} % 7")),
        Part::DayOfYear => of_day("toDayOfYear"),
        Part::Hour => of_moment("toHour"),
        Part::Minute => of_moment("toMinute"),
    };
    Some(as_null(format!("toInt32({})", text?), DataType::Int32, of))
}

fn arithmetic(
    operator: Arithmetic,
    (left, right): (&Computed, &Computed),
    data_type: &ArrowType,
    row: &Columns<'_>,
) -> Option<Expression<DataType>> {
    let to = type_of(data_type)?;
    let operand = |value: &Computed| {
        let of = row.value(value)?;
        let wide = match type_of(&value.data_type)? {
            DataType::Decimal { scale, .. } => DataType::Decimal { precision: 38, scale },
            _ => DataType::Int64,
        };
        Some(converted(&of, &wide))
    };
    let (left, right) = (operand(left)?, operand(right)?);
    let result = Expression {
        text: format!("{} {} {}", left.text, operator.sign(), right.text),
        data_type: match has_null(&left.data_type) || has_null(&right.data_type) {
            true => DataType::Nullable(to.clone().into()),
            false => to.clone(),
        },
    };
    Some(converted(&result, &to))
}

/// A value converted to a type that holds it, nullable if the value is.
fn converted(of: &Expression<DataType>, to: &DataType) -> Expression<DataType> {
    let result = as_null(String::new(), to.clone(), of);
    Expression {
        text: format!("CAST({}, '{}')", of.text, result.data_type),
        ..result
    }
}

fn chosen(
    branches: &[(Test, Computed)],
    otherwise: Option<&Computed>,
    data_type: &ArrowType,
    row: &Columns<'_>,
) -> Option<Expression<DataType>> {
    let to = DataType::Nullable(type_of(data_type)?.into());
    let value = |value: &Computed| {
        // Dates may be represented as whole numbers there.
        type_of(&value.data_type)?;
        Some(format!("CAST({}, '{to}')", row.value(value)?.text))
    };
    let branches = branches
        .iter()
        .map(|(test, then)| Some(format!("WHEN {} THEN {}", row.test(test)?, value(then)?)));
    let branches = branches.collect::<Option<Vec<_>>>()?.join(" ");
    let otherwise = match otherwise {
        Some(otherwise) => value(otherwise)?,
        None => format!("CAST(NULL, '{to}')"),
    };
    Some(Expression {
        text: format!("CASE {branches} ELSE {otherwise} END"),
        data_type: to,
    })
}

/// The type for whole numbers, decimals and texts; `None` for others.
fn type_of(data_type: &ArrowType) -> Option<DataType> {
    let is_taken = data_type.is_integer() || data_type.is_string() || matches!(data_type, ArrowType::Decimal128(..));
    let field = Field::new("", data_type.clone(), false);
    is_taken.then(|| arrow_type::data_type(&field).ok()).flatten()
}
