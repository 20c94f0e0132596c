//! Operations that MySQL and MariaDB execute with exactly the same results.
//!
//! - Collations ignore case and trailing blanks, `utf8mb4_bin` only the blanks. So texts are compared as the bytes that they have here
//!   (`CAST(… AS BINARY)`). For equality with one text, the column's own comparison is added, so that an index is used. Servers sort by
//!   the first 1024 bytes (`max_sort_length`): longer texts are neither sorted nor grouped there.
//! - NULL sorts below all values there; for another position, `… IS NULL` is sorted first.
//! - `IS NULL` finds the date `0000-00-00` in a NOT NULL column: it is pushed down for nullable columns only.
//! - Floating-point numbers are in a total order here, -0 below 0; there both are equal. Conditions keep what either order keeps, and the
//!   rows are looked at again. They are not grouped, sorted or summed there.
//! - Sums are decimals of 38 digits there; a sum beyond its type here is an error here.
//! - Years are not compared there, where 99 is 1999; nor are times, bits, sets, JSON and types that are read as text.

use std::collections::HashMap;

use arrow_array::temporal_conversions::timestamp_us_to_datetime;
use arrow_array::types::{Decimal128Type, DecimalType};
use arrow_schema::{DataType, SortOptions};
use chrono::{Datelike, NaiveDate, NaiveDateTime};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr;
use tidemill_mysql::arrow_type::data_type;
use tidemill_mysql::sql_text::{literal, quoted};
use tidemill_mysql::{Column, Integer, Type};

use crate::stores::server::computed::{Computed, Value};
use crate::stores::server::condition::{Comparing, Comparison, Condition, Pattern, exactly, text, whole_number};
use crate::stores::server::push_down::{Aggregate, Function};
use crate::stores::server::select::{Dialect, Expression, Output, Row, in_list};

/// The type of a column, and its character set.
#[derive(Clone, Debug)]
pub(super) struct Typed {
    typ: Type,
    is_nullable: bool,
    /// Whether the bytes of its texts are the same as here.
    is_utf8: bool,
    /// Whether its character set has every character.
    is_whole_utf8: bool,
}

impl Typed {
    fn of(column: &Column) -> Self {
        let character_set = column.character_set.as_deref().unwrap_or_default();
        Self {
            typ: column.typ.clone(),
            is_nullable: column.is_nullable,
            is_utf8: ["utf8mb4", "utf8mb3", "utf8", "ascii"].contains(&character_set),
            is_whole_utf8: character_set == "utf8mb4",
        }
    }

    fn of_value(typ: Type) -> Self {
        Self {
            typ,
            is_nullable: true,
            is_utf8: true,
            is_whole_utf8: true,
        }
    }

    fn bigint() -> Self {
        Self::of_value(Type::Integer(Integer::Big, false))
    }

    fn is_text(&self) -> bool {
        matches!(
            self.typ,
            Type::Char(_) | Type::VarChar(_) | Type::Text(_) | Type::Enum(_)
        )
    }

    /// Whether the server sorts by all bytes of the values.
    fn is_short(&self) -> bool {
        match &self.typ {
            Type::Char(letters) | Type::VarChar(letters) => *letters <= SORTED_BYTES / 4,
            Type::Binary(bytes) | Type::VarBinary(bytes) => *bytes <= SORTED_BYTES,
            Type::Enum(members) => members.iter().all(|member| member.len() <= SORTED_BYTES as usize),
            _ => false,
        }
    }

    fn is_whole(&self) -> bool {
        matches!(self.typ, Type::Integer(..))
    }

    /// Precision and scale of decimals of 128 bits.
    fn decimal(&self) -> Option<(u8, i8)> {
        match (&self.typ, data_type(&self.typ)) {
            (Type::Decimal(..), DataType::Decimal128(precision, scale)) => Some((precision, scale)),
            _ => None,
        }
    }

    fn is_instant(&self) -> bool {
        matches!(self.typ, Type::Date | Type::DateTime(_) | Type::Timestamp(_))
    }
}

/// A column in the SELECT list, as it is read.
pub(super) fn plain(column: &Column) -> Output<Typed> {
    Output::column(quoted(&column.name), Typed::of(column))
}

/// A column in the SELECT list, as it is compared.
pub(super) fn compared(column: &Column) -> Output<Typed> {
    let typed = Typed::of(column);
    let text = match typed.is_text() {
        true => bytewise(&column.name, &typed),
        false => quoted(&column.name),
    };
    Output::column(text, typed)
}

/// A text column as the bytes of its text here.
fn bytewise(column: &str, typed: &Typed) -> String {
    match typed.is_utf8 {
        true => format!("CAST({} AS BINARY)", quoted(column)),
        false => format!("CAST(CONVERT({} USING utf8mb4) AS BINARY)", quoted(column)),
    }
}

/// A text as its bytes.
fn bytes(text: &str) -> String {
    format!("_binary{}", literal(text))
}

/// The SQL of MySQL and MariaDB.
#[derive(Clone, Copy, Debug)]
pub(super) struct MysqlSql;

impl Dialect for MysqlSql {
    type Type = Typed;

    const INNER_JOIN: &'static str = "INNER JOIN";

    const LEFT_JOIN: &'static str = "LEFT JOIN";

    const ASSIGNS_IN_ORDER: bool = true;

    fn range(skipped: usize, rows: Option<usize>) -> String {
        // OFFSET requires a LIMIT.
        format!("LIMIT {} OFFSET {skipped}", rows.map_or(u64::MAX, |rows| rows as u64))
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
        match typed.is_text() {
            true => typed.is_short(),
            false => typed.is_whole() || typed.is_instant() || typed.decimal().is_some(),
        }
    }

    fn is_key(typed: &Typed) -> bool {
        Self::is_ordered(typed) || typed.is_short()
    }

    fn is_same_key(one: &Typed, other: &Typed) -> bool {
        Self::is_key(one) && Self::is_key(other) && data_type(&one.typ) == data_type(&other.typ)
    }

    fn sorted(key: &str, options: SortOptions) -> String {
        let direction = if options.descending { "DESC" } else { "ASC" };
        match (options.descending, options.nulls_first) {
            (false, true) | (true, false) => format!("{key} {direction}"),
            (false, false) => format!("{key} IS NULL, {key} {direction}"),
            (true, true) => format!("{key} IS NULL DESC, {key} {direction}"),
        }
    }

    fn compared(column: &Expression<Typed>, comparison: Comparison, value: &ScalarValue) -> Option<String> {
        let typed = &column.data_type;
        let value = self::value(&typed.typ, value).filter(|_| Self::is_ordered(typed) && !typed.is_text())?;
        Some(format!("{} {} {value}", column.text, comparison.sign()))
    }

    fn among(column: &Expression<Typed>, values: &[ScalarValue]) -> Option<String> {
        let typed = &column.data_type;
        let values = values.iter().map(|value| match typed.is_text() {
            true => text(value).map(bytes),
            false => self::value(&typed.typ, value),
        });
        Self::is_key(typed).then(|| in_list(&column.text, values)).flatten()
    }

    /// Sums, differences and products of whole numbers, whose type holds every result.
    fn computed(value: &Computed, row: &Row<'_, Self>) -> Option<Expression<Typed>> {
        let text = match &value.value {
            Value::Column(_) => return row.value(value),
            Value::Literal(constant) => whole_number(constant)?,
            Value::Arithmetic(operator, left, right) if value.data_type == DataType::Int64 => {
                // A difference of unsigned numbers would be unsigned too.
                let operand = |value: &Computed| {
                    let of = row.value(value)?;
                    of.data_type.is_whole().then(|| format!("CAST({} AS SIGNED)", of.text))
                };
                format!("({} {} {})", operand(left)?, operator.sign(), operand(right)?)
            }
            _ => return None,
        };
        Some(Expression {
            text,
            data_type: Typed::bigint(),
        })
    }

    fn column_name(name: &str) -> Option<String> {
        Some(quoted(name))
    }

    fn constant(value: &ScalarValue) -> Option<String> {
        if let Some(text) = text(value) {
            return Some(literal(text));
        }
        let typ = match value {
            ScalarValue::Boolean(_) => Type::Bit(1),
            ScalarValue::Date32(_) => Type::Date,
            ScalarValue::TimestampMicrosecond(_, None) => Type::DateTime(6),
            ScalarValue::TimestampMicrosecond(_, Some(_)) => Type::Timestamp(6),
            ScalarValue::Decimal128(_, precision, scale) => Type::Decimal(*precision, scale.unsigned_abs()),
            ScalarValue::Float64(Some(number)) if number.is_finite() => return Some(format!("{number:e}")),
            value => return whole_number(value),
        };
        self::value(&typ, value)
    }

    fn value_of_group(aggregate: &Aggregate, of: Option<&Expression<Typed>>, _: bool) -> Option<Output<Typed>> {
        let bigint = |text: String| Output::column(text, Typed::bigint());
        let Some(of) = of else {
            return Some(bigint("count(*)".to_owned()));
        };
        let (text, typed) = (&of.text, &of.data_type);
        let sum = |scale: i8| Expression {
            text: format!("CAST(sum({text}) AS DECIMAL(38, {scale}))"),
            data_type: Typed::of_value(Type::Decimal(38, scale.unsigned_abs())),
        };
        // The result has the scale of the column.
        let scale = match (typed.is_whole(), typed.decimal()) {
            (true, _) => Some(0),
            (false, Some((precision, scale))) => (precision <= SUMMED_DIGITS).then_some(scale),
            (false, None) => None,
        };
        Some(match aggregate.function {
            Function::Count if aggregate.distinct => {
                Self::is_key(typed).then(|| bigint(format!("count(DISTINCT {text})")))?
            }
            Function::Count => bigint(format!("count({text})")),
            Function::Min | Function::Max => {
                let function = match aggregate.function {
                    Function::Min => "min",
                    _ => "max",
                };
                let value = Typed {
                    is_nullable: true,
                    ..typed.clone()
                };
                Self::is_ordered(typed).then(|| Output::column(format!("{function}({text})"), value))?
            }
            Function::Sum => Output::Value(sum(scale?)),
            Function::Average => {
                match (typed.is_whole(), &aggregate.data_type) {
                    (true, DataType::Float64) | (false, DataType::Decimal128(..)) => {}
                    _ => return None,
                }
                Output::Average {
                    sum: sum(scale?),
                    count: Expression {
                        text: format!("count({text})"),
                        data_type: Typed::bigint(),
                    },
                }
            }
        })
    }
}

/// `max_sort_length` of this client's connections.
const SORTED_BYTES: u32 = 1024;
/// The most digits of decimals whose sum, with ten more, fits into 38.
const SUMMED_DIGITS: u8 = 28;

/// The types of a table's columns, by name.
#[derive(Debug)]
pub(super) struct Columns(HashMap<String, Typed>);

impl Columns {
    pub(super) fn new(columns: &[Column]) -> Self {
        let columns = columns.iter();
        Self(columns.map(|column| (column.name.clone(), Typed::of(column))).collect())
    }
}

impl Comparing for Columns {
    fn compare(&self, column: &Expr, comparison: Comparison, value: &ScalarValue) -> Option<Condition> {
        let Expr::Column(column) = column else { return None };
        let typed = self.0.get(&column.name)?;
        let name = quoted(&column.name);
        let sign = comparison.sign();
        if matches!(typed.typ, Type::Float | Type::Double) {
            return compare_float(&name, comparison, value);
        }
        if typed.is_text() {
            let text = text(value).filter(|text| !text.contains('\0'))?;
            let same_bytes = format!("{} {sign} {}", bytewise(&column.name, typed), bytes(text));
            // A column cannot be compared with characters that its character set lacks.
            let is_known = typed.is_whole_utf8 || (typed.is_utf8 && text.is_ascii());
            let has_index = comparison == Comparison::Equal && is_known && !matches!(typed.typ, Type::Enum(_));
            return Some(exactly(match has_index {
                true => format!("({name} = {} AND {same_bytes})", literal(text)),
                false => same_bytes,
            }));
        }
        let value = self::value(&typed.typ, value)?;
        Some(exactly(format!("{name} {sign} {value}")))
    }

    fn is_null(&self, column: &str, wanted: bool) -> Option<Condition> {
        if !self.0.get(column)?.is_nullable {
            return None;
        }
        let not = if wanted { "" } else { "NOT " };
        Some(exactly(format!("{} IS {not}NULL", quoted(column))))
    }

    fn is(&self, column: &str, wanted: bool) -> Option<Condition> {
        let typed = self.0.get(column)?;
        (typed.typ == Type::Bit(1)).then(|| exactly(format!("{} = {}", quoted(column), u8::from(wanted))))
    }

    fn like(&self, column: &Expr, pattern: Pattern<'_>, wanted: bool) -> Option<Condition> {
        let Expr::Column(column) = column else { return None };
        let pattern = match pattern {
            Pattern::Is(text) => text.to_owned(),
            Pattern::StartsWith(text) => format!("{text}%"),
            Pattern::EndsWith(text) => format!("%{text}"),
            Pattern::Contains(text) => format!("%{text}%"),
        };
        let typed = self.0.get(&column.name)?;
        if !typed.is_text() || pattern.contains('\0') {
            return None;
        }
        let not = if wanted { "" } else { "NOT " };
        Some(exactly(format!(
            "{} {not}LIKE {}",
            bytewise(&column.name, typed),
            bytes(&pattern)
        )))
    }
}

/// A condition that keeps the rows of both the total order and the server's.
fn compare_float(name: &str, comparison: Comparison, value: &ScalarValue) -> Option<Condition> {
    let value = match value {
        ScalarValue::Float32(Some(value)) => f64::from(*value),
        ScalarValue::Float64(Some(value)) => *value,
        _ => return None,
    };
    let sign = match comparison {
        _ if !value.is_finite() => return None,
        Comparison::Equal => "=",
        Comparison::NotEqual => return None,
        Comparison::Less | Comparison::LessOrEqual => "<=",
        Comparison::Greater | Comparison::GreaterOrEqual => ">=",
    };
    // The shortest digits that parse to the same number.
    Some(Condition {
        text: format!("{name} {sign} {value:e}"),
        exact: false,
    })
}

/// A literal to be compared with a column of this type.
fn value(typ: &Type, value: &ScalarValue) -> Option<String> {
    Some(match (typ, value) {
        (Type::Integer(..), value) => whole_number(value)?,
        (Type::Bit(1), ScalarValue::Boolean(Some(value))) => u8::from(*value).to_string(),
        (Type::Date, ScalarValue::Date32(Some(days))) => {
            let date = NaiveDate::from_epoch_days(*days).filter(|date| YEARS.contains(&date.year()))?;
            format!("DATE'{date}'")
        }
        (Type::DateTime(_), ScalarValue::TimestampMicrosecond(Some(micros), None))
        | (Type::Timestamp(_), ScalarValue::TimestampMicrosecond(Some(micros), Some(_))) => {
            format!("TIMESTAMP'{}'", time(*micros)?)
        }
        (Type::Decimal(..), ScalarValue::Decimal128(Some(digits), _, scale)) if SCALES.contains(scale) => {
            Decimal128Type::format_decimal(*digits, 38, *scale)
        }
        _ => return None,
    })
}

/// Years of four digits.
const YEARS: std::ops::RangeInclusive<i32> = 1..=9999;
/// The scales of decimal literals.
const SCALES: std::ops::RangeInclusive<i8> = 0..=30;

fn time(micros: i64) -> Option<NaiveDateTime> {
    timestamp_us_to_datetime(micros).filter(|time| YEARS.contains(&time.year()))
}
