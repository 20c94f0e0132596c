//! Expressions and conditions of a plan that a server may evaluate.
//!
//! Only operations with an unambiguous meaning are represented. A [`Dialect`](super::select::Dialect) unparses those that its servers
//! evaluate exactly as DataFusion does. All others stay in the plan.

use std::sync::Arc;

use arrow_schema::{DataType, Schema};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{
    BinaryExpr, CaseExpr, CastExpr, Column, InListExpr, IsNotNullExpr, IsNullExpr, Literal, NotExpr,
};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};

use super::condition::{Comparison, text};

/// A value computed from a row, and its type here.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Computed {
    pub(crate) value: Value,
    pub(crate) data_type: DataType,
}

/// How a value is computed. If an operand is NULL, it is NULL, except for CASE.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// A column by its position.
    Column(usize),
    /// Never NULL.
    Literal(ScalarValue),
    /// The start of the period that contains a date or a timestamp, in the calendar of its local time or of UTC.
    Begin(Period, Box<Computed>),
    /// A part of a date or a timestamp as a whole number, in the same calendars.
    Part(Part, Box<Computed>),
    /// The date of a timestamp, in the same calendars.
    Day(Box<Computed>),
    /// On whole numbers or decimals. The type holds every result.
    Arithmetic(Arithmetic, Box<Computed>, Box<Computed>),
    /// The length of a text in characters.
    Characters(Box<Computed>),
    /// CASE: the value of the first condition that is true, else the last one, or NULL without it.
    Choice(Vec<(Test, Computed)>, Option<Box<Computed>>),
}

/// Periods of a calendar. A week begins on Monday.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Period {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

impl Period {
    fn of(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "second" => Self::Second,
            "minute" => Self::Minute,
            "hour" => Self::Hour,
            "day" => Self::Day,
            "week" => Self::Week,
            "month" => Self::Month,
            "quarter" => Self::Quarter,
            "year" => Self::Year,
            _ => return None,
        })
    }

    /// The name in `date_trunc`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Second => "second",
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Quarter => "quarter",
            Self::Year => "year",
        }
    }

    /// Its length in seconds, if that is constant and periods are aligned with 1970-01-01.
    pub(crate) fn seconds(self) -> Option<i64> {
        match self {
            Self::Second => Some(1),
            Self::Minute => Some(60),
            Self::Hour => Some(3600),
            Self::Day => Some(86_400),
            _ => None,
        }
    }
}

/// Parts of a date or a timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Year,
    Quarter,
    Month,
    /// By ISO 8601.
    Week,
    Day,
    /// From 0, which is Sunday.
    DayOfWeek,
    /// From 1.
    DayOfYear,
    Hour,
    Minute,
}

impl Part {
    fn of(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "year" => Self::Year,
            "quarter" => Self::Quarter,
            "month" => Self::Month,
            "week" => Self::Week,
            "day" => Self::Day,
            "dow" => Self::DayOfWeek,
            "doy" => Self::DayOfYear,
            "hour" => Self::Hour,
            "minute" => Self::Minute,
            _ => return None,
        })
    }

    /// The name in EXTRACT.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Year => "year",
            Self::Quarter => "quarter",
            Self::Month => "month",
            Self::Week => "week",
            Self::Day => "day",
            Self::DayOfWeek => "dow",
            Self::DayOfYear => "doy",
            Self::Hour => "hour",
            Self::Minute => "minute",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Plus,
    Minus,
    Times,
}

impl Arithmetic {
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Times => "*",
        }
    }
}

/// A condition on a row. NULL counts as false.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test {
    /// A value compared with a constant that is not NULL.
    Compared {
        value: Computed,
        comparison: Comparison,
        constant: ScalarValue,
    },
    IsNull(Computed),
    IsNotNull(Computed),
    All(Vec<Test>),
    Any(Vec<Test>),
}

impl Computed {
    /// Its position, if it is a bare column.
    pub(crate) fn as_column(&self) -> Option<usize> {
        match self.value {
            Value::Column(place) => Some(place),
            _ => None,
        }
    }

    /// Converts an expression over rows of a schema; `None` if it cannot be represented.
    pub(crate) fn of(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<Self> {
        let data_type = expr.data_type(schema).ok()?;
        let value = if let Some(column) = expr.downcast_ref::<Column>() {
            Value::Column(column.index())
        } else if let Some(literal) = expr.downcast_ref::<Literal>() {
            Value::Literal(literal.value().clone()).not_null()?
        } else if let Some(cast) = expr.downcast_ref::<CastExpr>() {
            return Self::cast(Self::of(cast.expr(), schema)?, data_type);
        } else if let Some(function) = expr.downcast_ref::<ScalarFunctionExpr>() {
            called(function, schema)?
        } else if let Some(binary) = expr.downcast_ref::<BinaryExpr>() {
            arithmetic(binary, &data_type, schema)?
        } else {
            chosen(expr.downcast_ref::<CaseExpr>()?, schema)?
        };
        Some(Self { value, data_type })
    }

    /// As [`Computed::of`], but accepts whole numbers of 64 bits that may overflow, which is an error there as here.
    pub(crate) fn or_error(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<Self> {
        Self::of(expr, schema).or_else(|| {
            let binary = expr.downcast_ref::<BinaryExpr>()?;
            let data_type = expr.data_type(schema).ok().filter(|of| *of == DataType::Int64)?;
            let operand = |side| Self::or_error(side, schema).map(Box::new);
            let operator = Arithmetic::of(*binary.op())?;
            Some(Self {
                value: Value::Arithmetic(operator, operand(binary.left())?, operand(binary.right())?),
                data_type,
            })
        })
    }

    /// Whether a column of a type stores the value unchanged, or the server refuses it: an overflow, a text that is too long.
    pub(crate) fn is_assignable(&self, to: &DataType) -> bool {
        match (&self.data_type, to) {
            (from, to) if bits_of(from).is_some() => {
                bits_of(to).is_some() || matches!(to, DataType::Decimal128(_, 0..))
            }
            (DataType::Decimal128(_, scale), DataType::Decimal128(_, to_scale)) => to_scale >= scale,
            (from, to) => has_all(from, to),
        }
    }

    /// The same value cast to a type that holds all values of its own.
    fn cast(self, to: DataType) -> Option<Self> {
        let is_moment =
            |data_type: &DataType| matches!(data_type, DataType::Timestamp(_, zone) if is_utc(zone.as_deref()));
        if is_moment(&self.data_type) && to == DataType::Date32 {
            return Some(Self {
                value: Value::Day(Box::new(self)),
                data_type: to,
            });
        }
        has_all(&self.data_type, &to).then_some(Self {
            value: self.value,
            data_type: to,
        })
    }
}

impl Value {
    fn not_null(self) -> Option<Self> {
        match &self {
            Self::Literal(value) if value.is_null() => None,
            _ => Some(self),
        }
    }
}

impl Arithmetic {
    fn of(operator: Operator) -> Option<Self> {
        Some(match operator {
            Operator::Plus => Self::Plus,
            Operator::Minus => Self::Minus,
            Operator::Multiply => Self::Times,
            _ => return None,
        })
    }

    fn bits(self, left: u32, right: u32) -> u32 {
        match self {
            Self::Plus | Self::Minus => left.max(right) + 1,
            Self::Times => left + right,
        }
    }
}

/// The most bits of a whole number, including its sign.
fn bits(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<u32> {
    if let Some(literal) = expr.downcast_ref::<Literal>() {
        return match literal.value().cast_to(&DataType::Int64).ok()? {
            ScalarValue::Int64(Some(value)) => Some(65 - value.unsigned_abs().leading_zeros()),
            _ => None,
        };
    }
    if let Some(cast) = expr.downcast_ref::<CastExpr>() {
        return bits(cast.expr(), schema);
    }
    if let Some(binary) = expr.downcast_ref::<BinaryExpr>() {
        let operator = Arithmetic::of(*binary.op())?;
        return Some(operator.bits(bits(binary.left(), schema)?, bits(binary.right(), schema)?));
    }
    bits_of(&expr.data_type(schema).ok()?)
}

fn bits_of(data_type: &DataType) -> Option<u32> {
    Some(match data_type {
        DataType::Int8 => 8,
        DataType::UInt8 => 9,
        DataType::Int16 => 16,
        DataType::UInt16 => 17,
        DataType::Int32 => 32,
        DataType::UInt32 => 33,
        DataType::Int64 => 64,
        _ => return None,
    })
}

/// The decimal digits of the largest number of this many bits, including the sign.
fn decimal_digits(bits: u32) -> i16 {
    match bits {
        ..=9 => 3,
        10..=17 => 5,
        18..=33 => 10,
        _ => 19,
    }
}

/// Whether a type holds every value of another.
fn has_all(from: &DataType, to: &DataType) -> bool {
    let is_text = |data_type: &DataType| matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    match (from, to) {
        (from, to) if from == to => true,
        (from, to) if is_text(from) && is_text(to) => true,
        (DataType::Date32, DataType::Timestamp(_, None)) => true,
        (DataType::Decimal128(digits, scale), DataType::Decimal128(to_digits, to_scale)) => {
            to_scale >= scale && i16::from(*to_digits) - i16::from(*to_scale) >= i16::from(*digits) - i16::from(*scale)
        }
        (from, DataType::Decimal128(digits, scale)) => {
            let whole = i16::from(*digits) - i16::from(*scale);
            bits_of(from).is_some_and(|bits| whole >= decimal_digits(bits))
        }
        (from, DataType::Int64) => bits_of(from).is_some_and(|bits| bits < 64),
        (from, DataType::Int32) => bits_of(from).is_some_and(|bits| bits < 32),
        _ => false,
    }
}

/// Whether a time zone is UTC.
fn is_utc(zone: Option<&str>) -> bool {
    zone.is_none_or(|zone| matches!(zone, "UTC" | "+00:00"))
}

/// A date, or a timestamp with a known calendar.
fn on_a_calendar(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<Box<Computed>> {
    let of = Computed::of(expr, schema)?;
    let is_known = match &of.data_type {
        DataType::Date32 => true,
        DataType::Timestamp(_, zone) => is_utc(zone.as_deref()),
        _ => false,
    };
    is_known.then(|| Box::new(of))
}

fn called(function: &ScalarFunctionExpr, schema: &Schema) -> Option<Value> {
    let name_of = |expr: &Arc<dyn PhysicalExpr>| {
        let literal = expr.downcast_ref::<Literal>()?;
        text(literal.value()).map(str::to_owned)
    };
    match (function.name(), function.args()) {
        ("date_trunc", [period, of]) => {
            let period = Period::of(&name_of(period)?)?;
            Some(Value::Begin(period, on_a_calendar(of, schema)?))
        }
        ("date_part", [part, of]) => {
            let (part, of) = (Part::of(&name_of(part)?)?, on_a_calendar(of, schema)?);
            let is_of_day = matches!(part, Part::Hour | Part::Minute);
            (!is_of_day || of.data_type != DataType::Date32).then_some(Value::Part(part, of))
        }
        ("character_length", [of]) => {
            let of = Computed::of(of, schema)?;
            matches!(of.data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
                .then(|| Value::Characters(Box::new(of)))
        }
        _ => None,
    }
}

fn arithmetic(binary: &BinaryExpr, data_type: &DataType, schema: &Schema) -> Option<Value> {
    let operator = Arithmetic::of(*binary.op())?;
    let (left, right) = (
        Computed::of(binary.left(), schema)?,
        Computed::of(binary.right(), schema)?,
    );
    let has_room = match (data_type, &left.data_type, &right.data_type) {
        (DataType::Int64, ..) => operator.bits(bits(binary.left(), schema)?, bits(binary.right(), schema)?) <= 64,
        (DataType::Decimal128(digits, scale), DataType::Decimal128(p1, s1), DataType::Decimal128(p2, s2)) => {
            let (p1, s1, p2, s2) = (i16::from(*p1), i16::from(*s1), i16::from(*p2), i16::from(*s2));
            let (whole, fraction) = match operator {
                Arithmetic::Times => (p1 - s1 + p2 - s2, s1 + s2),
                _ => ((p1 - s1).max(p2 - s2) + 1, s1.max(s2)),
            };
            i16::from(*scale) == fraction && i16::from(*digits) - fraction >= whole && s1 >= 0 && s2 >= 0
        }
        _ => false,
    };
    has_room.then(|| Value::Arithmetic(operator, Box::new(left), Box::new(right)))
}

fn chosen(case: &CaseExpr, schema: &Schema) -> Option<Value> {
    let is_null = |expr: &Arc<dyn PhysicalExpr>| {
        let literal = expr.downcast_ref::<Literal>();
        literal.is_some_and(|literal| literal.value().is_null())
    };
    let branches = case.when_then_expr().iter().map(|(when, then)| {
        let test = match case.expr() {
            None => Test::of(when, schema)?,
            Some(value) => Test::Compared {
                value: Computed::of(value, schema)?,
                comparison: Comparison::Equal,
                constant: constant(when)?,
            },
        };
        Some((test, Computed::of(then, schema)?))
    });
    let branches = branches.collect::<Option<Vec<_>>>()?;
    let otherwise = match case.else_expr().filter(|otherwise| !is_null(otherwise)) {
        Some(otherwise) => Some(Box::new(Computed::of(otherwise, schema)?)),
        None => None,
    };
    Some(Value::Choice(branches, otherwise))
}

fn constant(expr: &Arc<dyn PhysicalExpr>) -> Option<ScalarValue> {
    let literal = expr.downcast_ref::<Literal>()?.value();
    (!literal.is_null()).then(|| literal.clone())
}

impl Test {
    /// Converts a condition over rows of a schema; `None` if it cannot be represented.
    pub(crate) fn of(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<Self> {
        Self::when(expr, true, schema)
    }

    /// The test that a condition is true, or that it is false. NOT is pushed inwards, so that NULL is neither.
    fn when(expr: &Arc<dyn PhysicalExpr>, wanted: bool, schema: &Schema) -> Option<Self> {
        if let Some(not) = expr.downcast_ref::<NotExpr>() {
            return Self::when(not.arg(), !wanted, schema);
        }
        if let Some(is_null) = expr.downcast_ref::<IsNullExpr>() {
            return Some(Self::null(Computed::of(is_null.arg(), schema)?, wanted));
        }
        if let Some(is_not_null) = expr.downcast_ref::<IsNotNullExpr>() {
            return Some(Self::null(Computed::of(is_not_null.arg(), schema)?, !wanted));
        }
        if let Some(list) = expr.downcast_ref::<InListExpr>() {
            let (value, inside) = (Computed::of(list.expr(), schema)?, wanted != list.negated());
            let tests = list.list().iter().map(|one| {
                Some(Self::Compared {
                    value: value.clone(),
                    comparison: Comparison::Equal.when(inside),
                    constant: constant(one)?,
                })
            });
            let tests = tests.collect::<Option<Vec<_>>>()?;
            return Some(if inside { Self::Any(tests) } else { Self::All(tests) });
        }
        let Some(binary) = expr.downcast_ref::<BinaryExpr>() else {
            let value = Computed::of(expr, schema).filter(|value| value.data_type == DataType::Boolean)?;
            return Some(Self::Compared {
                value,
                comparison: Comparison::Equal,
                constant: ScalarValue::Boolean(Some(wanted)),
            });
        };
        let both = || {
            let (left, right) = (binary.left(), binary.right());
            Some(vec![
                Self::when(left, wanted, schema)?,
                Self::when(right, wanted, schema)?,
            ])
        };
        match binary.op() {
            Operator::And if wanted => both().map(Self::All),
            Operator::And => both().map(Self::Any),
            Operator::Or if wanted => both().map(Self::Any),
            Operator::Or => both().map(Self::All),
            operator => {
                let comparison = Comparison::of(*operator)?;
                let (value, comparison, constant) = match (constant(binary.left()), constant(binary.right())) {
                    (None, Some(constant)) => (binary.left(), comparison, constant),
                    (Some(constant), None) => (binary.right(), comparison.mirrored(), constant),
                    _ => return None,
                };
                Some(Self::Compared {
                    value: Computed::of(value, schema)?,
                    comparison: comparison.when(wanted),
                    constant,
                })
            }
        }
    }

    fn null(value: Computed, wanted: bool) -> Self {
        match wanted {
            true => Self::IsNull(value),
            false => Self::IsNotNull(value),
        }
    }
}
