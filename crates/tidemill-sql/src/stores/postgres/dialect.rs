//! Operations that PostgreSQL executes with exactly the same results.
//!
//! - Text is compared and sorted by its bytes (`COLLATE "C"`), whatever the collation of its column. For equality with one text, the
//!   column's own comparison is added, so that an index is used. In databases whose encoding is not UTF-8, texts are not sorted there.
//! - Floating-point numbers are in a total order here, NaN at its ends and -0 below 0; there NaN is above all numbers, and zeros are
//!   equal. Conditions keep what either order keeps, and the rows are looked at again. They are not grouped, sorted or summed there.
//! - A sum of `bigint` that exceeds `bigint` is an error there.
//! - Types that are read as text are not compared there.

use std::collections::HashMap;

use arrow_array::temporal_conversions::timestamp_us_to_datetime;
use arrow_array::types::{Decimal128Type, DecimalType};
use arrow_schema::DataType;
use chrono::{Datelike, NaiveDate, NaiveDateTime};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr;
use tidemill_postgres::arrow_type::data_type;
use tidemill_postgres::sql_text::{literal, quoted};
use tidemill_postgres::{Column, Type};

use crate::numeric_text;
use crate::stores::server::computed::Computed;
use crate::stores::server::condition::{Comparing, Comparison, Condition, Pattern, exactly, text, whole_number};
use crate::stores::server::push_down::{Aggregate, Function};
use crate::stores::server::select::{Dialect, Expression, Output, Row, in_list};

/// The type of a column, and its encoding.
#[derive(Clone, Debug)]
pub(super) struct Typed {
    pub(super) typ: Type,
    pub(super) is_nullable: bool,
    /// Whether texts are sorted by the same bytes as here.
    pub(super) is_utf8: bool,
}

impl Typed {
    pub(super) fn of(column: &Column, is_utf8: bool) -> Self {
        Self {
            typ: column.typ.clone(),
            is_nullable: column.is_nullable,
            is_utf8,
        }
    }

    fn bigint() -> Self {
        Self {
            typ: Type::Int8,
            is_nullable: true,
            is_utf8: true,
        }
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(self.typ, Type::Text | Type::Varchar(_))
    }

    fn is_whole(&self) -> bool {
        matches!(self.typ, Type::Int2 | Type::Int4 | Type::Int8)
    }

    /// Precision and scale of decimals of 128 bits.
    fn decimal(&self) -> Option<(u8, i8)> {
        match (&self.typ, data_type(&self.typ)) {
            (Type::Numeric(_), DataType::Decimal128(precision, scale)) => Some((precision, scale)),
            _ => None,
        }
    }

    fn is_instant(&self) -> bool {
        matches!(self.typ, Type::Date | Type::Timestamp | Type::TimestampTz)
    }
}

/// A column in the SELECT list.
pub(super) fn selected(column: &Column, is_utf8: bool) -> Output<Typed> {
    let typed = Typed::of(column, is_utf8);
    let text = match typed.is_text() {
        true => bytewise(&column.name),
        // Columns are read by position, so that it needs no name.
        false => {
            let (expression, alias) = (column.expression(), format!(" AS {}", quoted(&column.name)));
            expression.strip_suffix(&alias).unwrap_or(&expression).to_owned()
        }
    };
    Output::column(text, typed)
}

/// A text that is compared by its bytes.
fn bytewise(column: &str) -> String {
    format!("{}{BYTEWISE}", quoted(column))
}

pub(super) const BYTEWISE: &str = " COLLATE \"C\"";

/// The SQL of PostgreSQL.
#[derive(Clone, Copy, Debug)]
pub(super) struct PostgresSql;

impl Dialect for PostgresSql {
    type Type = Typed;

    const INNER_JOIN: &'static str = "INNER JOIN";

    const LEFT_JOIN: &'static str = "LEFT JOIN";

    fn range(skipped: usize, rows: Option<usize>) -> String {
        match rows {
            Some(rows) => format!("LIMIT {rows} OFFSET {skipped}"),
            None => format!("OFFSET {skipped}"),
        }
    }

    fn has_null(typed: &Typed) -> bool {
        typed.is_nullable
    }

    fn with_null(typed: &Typed) -> Option<Typed> {
        Some(Typed {
            is_nullable: true,
            ..typed.clone()
        })
    }

    fn is_ordered(typed: &Typed) -> bool {
        match typed.typ {
            Type::Bool => true,
            _ if typed.is_text() => typed.is_utf8,
            _ => typed.is_whole() || typed.is_instant() || typed.decimal().is_some(),
        }
    }

    fn is_key(typed: &Typed) -> bool {
        Self::is_ordered(typed) || typed.is_text() || matches!(typed.typ, Type::Uuid | Type::Bytea)
    }

    fn is_same_key(one: &Typed, other: &Typed) -> bool {
        Self::is_key(one) && Self::is_key(other) && data_type(&one.typ) == data_type(&other.typ)
    }

    fn column_name(name: &str) -> Option<String> {
        Some(quoted(name))
    }

    fn constant(value: &ScalarValue) -> Option<String> {
        if let Some(text) = text(value) {
            return (!text.contains('\0')).then(|| literal(text));
        }
        let typ = match value {
            ScalarValue::Boolean(_) => Type::Bool,
            ScalarValue::Date32(_) => Type::Date,
            ScalarValue::TimestampMicrosecond(_, None) => Type::Timestamp,
            ScalarValue::TimestampMicrosecond(_, Some(_)) => Type::TimestampTz,
            ScalarValue::Decimal128(..) => Type::Numeric(None),
            ScalarValue::Float64(Some(number)) => return Some(format!("'{number}'::float8")),
            ScalarValue::Float32(Some(number)) => return Some(format!("'{number}'::float4")),
            _ => Type::Int8,
        };
        self::value(&typ, value)
    }

    fn compared(column: &Expression<Typed>, comparison: Comparison, value: &ScalarValue) -> Option<String> {
        let typed = &column.data_type;
        let is_equality = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        // Texts of groups and of expressions are compared by their bytes.
        let value = match typed.is_text() {
            true => text(value).filter(|text| !text.contains('\0')).map(literal),
            false => self::value(&typed.typ, value),
        };
        let value = value.filter(|_| Self::is_ordered(typed) || (is_equality && Self::is_key(typed)))?;
        Some(format!("{} {} {value}", column.text, comparison.sign()))
    }

    /// Compares texts by the column's own collation, so that its indexes are used. Texts with the same bytes are equal in every collation.
    fn among(column: &Expression<Typed>, values: &[ScalarValue]) -> Option<String> {
        let typed = &column.data_type;
        if !typed.is_text() {
            let values = values.iter().map(|value| self::value(&typed.typ, value));
            return Self::is_ordered(typed).then(|| in_list(&column.text, values)).flatten();
        }
        let name = column.text.strip_suffix(BYTEWISE).unwrap_or(&column.text);
        let values = values.iter().map(|value| text(value).map(literal));
        in_list(name, values)
    }

    fn computed(value: &Computed, row: &Row<'_, Self>) -> Option<Expression<Typed>> {
        super::computed::computed(value, row)
    }

    fn value_of_group(aggregate: &Aggregate, of: Option<&Expression<Typed>>, _: bool) -> Option<Output<Typed>> {
        let bigint = |text: String| Output::column(text, Typed::bigint());
        let Some(of) = of else {
            return Some(bigint("count(*)".to_owned()));
        };
        let (text, typed) = (&of.text, &of.data_type);
        let sum = |scale: i8| Expression {
            text: format!("sum({text})::numeric(38, {scale})"),
            data_type: Typed {
                typ: Type::Numeric(Some((38, i16::from(scale)))),
                ..Typed::bigint()
            },
        };
        Some(match aggregate.function {
            Function::Count if aggregate.distinct => {
                Self::is_key(typed).then(|| bigint(format!("count(DISTINCT {text})")))?
            }
            Function::Count => bigint(format!("count({text})")),
            Function::Min | Function::Max => {
                // There is no MIN of logicals or bytes.
                if !Self::is_ordered(typed) || typed.typ == Type::Bool {
                    return None;
                }
                let function = match aggregate.function {
                    Function::Min => "min",
                    _ => "max",
                };
                let (cast, nullable) = (format!("{function}({text})::{}", typed.typ), Typed::clone(typed));
                Output::column(
                    cast,
                    Typed {
                        is_nullable: true,
                        ..nullable
                    },
                )
            }
            Function::Sum if typed.is_whole() => bigint(format!("sum({text})::bigint")),
            Function::Sum => match typed.decimal()? {
                (precision, scale) if precision <= SUMMED_DIGITS => Output::Value(sum(scale)),
                _ => return None,
            },
            Function::Average => {
                let scale = match (typed.is_whole(), typed.decimal(), &aggregate.data_type) {
                    (true, _, DataType::Float64) => 0,
                    (_, Some((precision, scale)), DataType::Decimal128(..)) if precision <= SUMMED_DIGITS => scale,
                    _ => return None,
                };
                Output::Average {
                    sum: sum(scale),
                    count: Expression {
                        text: format!("count({text})"),
                        data_type: Typed::bigint(),
                    },
                }
            }
        })
    }
}

/// The most digits of decimals whose sum, with ten more, fits into 38.
const SUMMED_DIGITS: u8 = 28;

/// The types of a table's columns, by name.
#[derive(Debug)]
pub(super) struct Columns(HashMap<String, Typed>);

impl Columns {
    pub(super) fn new(columns: &[Column], is_utf8: bool) -> Self {
        let columns = columns.iter();
        Self(
            columns
                .map(|column| (column.name.clone(), Typed::of(column, is_utf8)))
                .collect(),
        )
    }
}

impl Comparing for Columns {
    fn compare(&self, column: &Expr, comparison: Comparison, value: &ScalarValue) -> Option<Condition> {
        if let Some((column, number)) = numeric_text::compared(column, value) {
            let Type::Numeric(_) = self.0.get(&column.name)?.typ else {
                return None;
            };
            let (name, sign) = (quoted(&column.name), comparison.sign());
            return Some(exactly(format!("{name} {sign} '{number}'::numeric")));
        }
        let Expr::Column(column) = column else { return None };
        let typed = self.0.get(&column.name)?;
        let name = quoted(&column.name);
        let sign = comparison.sign();
        if matches!(typed.typ, Type::Float4 | Type::Float8) {
            return compare_float(&name, &typed.typ, comparison, value);
        }
        if typed.is_text() {
            let value = literal(text(value).filter(|text| !text.contains('\0'))?);
            let bytes = bytewise(&column.name);
            return match comparison {
                Comparison::Equal => Some(exactly(format!("({name} = {value} AND {bytes} = {value})"))),
                Comparison::NotEqual => Some(exactly(format!("{bytes} <> {value}"))),
                _ => typed.is_utf8.then(|| exactly(format!("{bytes} {sign} {value}"))),
            };
        }
        let value = self::value(&typed.typ, value)?;
        Some(exactly(format!("{name} {sign} {value}")))
    }

    fn is_null(&self, column: &str, wanted: bool) -> Option<Condition> {
        self.0.get(column)?;
        let not = if wanted { "" } else { "NOT " };
        Some(exactly(format!("{} IS {not}NULL", quoted(column))))
    }

    fn is(&self, column: &str, wanted: bool) -> Option<Condition> {
        let typed = self.0.get(column)?;
        (typed.typ == Type::Bool).then(|| exactly(format!("{} = {wanted}", quoted(column))))
    }

    fn like(&self, column: &Expr, pattern: Pattern<'_>, wanted: bool) -> Option<Condition> {
        let Expr::Column(column) = column else { return None };
        let text_of = match pattern {
            Pattern::Is(text) => text.to_owned(),
            Pattern::StartsWith(text) => format!("{text}%"),
            Pattern::EndsWith(text) => format!("%{text}"),
            Pattern::Contains(text) => format!("%{text}%"),
        };
        if !self.0.get(&column.name)?.is_text() || text_of.contains('\0') {
            return None;
        }
        let not = if wanted { "" } else { "NOT " };
        Some(exactly(format!(
            "{} {not}LIKE {}",
            bytewise(&column.name),
            literal(&text_of)
        )))
    }
}

/// A condition that keeps the rows of both the total order and PostgreSQL's.
fn compare_float(name: &str, typ: &Type, comparison: Comparison, value: &ScalarValue) -> Option<Condition> {
    // The shortest digits that parse to the same number.
    let (digits, is_finite) = match value {
        ScalarValue::Float32(Some(value)) => (format!("{value:e}"), value.is_finite()),
        ScalarValue::Float64(Some(value)) => (format!("{value:e}"), value.is_finite()),
        _ => return None,
    };
    if !is_finite {
        return None;
    }
    let value = format!("'{digits}'::{typ}");
    let text = match comparison {
        Comparison::Equal => format!("{name} = {value}"),
        Comparison::NotEqual => return None,
        Comparison::Less | Comparison::LessOrEqual => format!("({name} <= {value} OR {name} = 'NaN')"),
        Comparison::Greater | Comparison::GreaterOrEqual => format!("{name} >= {value}"),
    };
    Some(Condition { text, exact: false })
}

/// A literal to be compared with a column of this type.
pub(super) fn value(typ: &Type, value: &ScalarValue) -> Option<String> {
    Some(match (typ, value) {
        (Type::Int2 | Type::Int4 | Type::Int8, value) => whole_number(value)?,
        (Type::Bool, ScalarValue::Boolean(Some(value))) => value.to_string(),
        (Type::Date, ScalarValue::Date32(Some(days))) => {
            let date = NaiveDate::from_epoch_days(*days).filter(|date| YEARS.contains(&date.year()))?;
            format!("'{date}'::date")
        }
        (Type::Timestamp, ScalarValue::TimestampMicrosecond(Some(micros), None)) => {
            format!("'{}'::timestamp", time(*micros)?)
        }
        (Type::TimestampTz, ScalarValue::TimestampMicrosecond(Some(micros), Some(_))) => {
            format!("'{}+00'::timestamptz", time(*micros)?)
        }
        (Type::Numeric(_), ScalarValue::Decimal128(Some(digits), _, scale)) => {
            format!("'{}'::numeric", Decimal128Type::format_decimal(*digits, 38, *scale))
        }
        _ => return None,
    })
}

/// Years that are written without BC.
const YEARS: std::ops::RangeInclusive<i32> = 1..=9999;

fn time(micros: i64) -> Option<NaiveDateTime> {
    timestamp_us_to_datetime(micros).filter(|time| YEARS.contains(&time.year()))
}
