//! Numbers, compared and computed with, column by column: exact where both sides are.
//!
//! Whole numbers that outgrow 64 bits become decimals, and decimals of more than 38 digits are an error. Division gives a double, and
//! NULL by zero.

use std::borrow::Cow;
use std::cmp::Ordering;

use arrow_array::{BooleanArray, Decimal128Array, Float64Array, Int64Array};
use arrow_buffer::{BooleanBuffer, NullBuffer};

use super::error::{Error, Kind, Result};
use super::value::{Value, decimal_text, decimal_to_f64, has_room, power_of_ten};
use super::vector::Vector;

/// What two numbers become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Operator {
    Plus,
    Minus,
    Times,
    Divide,
    Modulo,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
}

/// Numbers in one of three forms.
pub(super) enum Numbers<'a> {
    Integer(Operand<'a, i64>),
    Decimal(Operand<'a, i128>, u8),
    Double(Operand<'a, f64>),
}

/// A column, or one number for all rows.
pub(super) enum Operand<'a, T: Copy> {
    One(T),
    Column(Cow<'a, [T]>),
}

impl<T: Copy> Operand<'_, T> {
    #[inline(always)]
    pub(super) fn get(&self, row: usize) -> T
    where
        T: Default,
    {
        match self {
            Self::One(value) => *value,
            Self::Column(values) => values.get(row).copied().unwrap_or_default(),
        }
    }

    fn map<U: Copy>(&self, change: impl Fn(T) -> U) -> Operand<'static, U> {
        match self {
            Self::One(value) => Operand::One(change(*value)),
            Self::Column(values) => Operand::Column(values.iter().map(|value| change(*value)).collect()),
        }
    }
}

/// Each pair becomes one value; the loops know which side is a column.
fn paired<T: Copy, R>(a: &Operand<'_, T>, b: &Operand<'_, T>, rows: usize, f: impl Fn(T, T) -> R) -> Vec<R>
where
    R: Clone,
{
    match (a, b) {
        (Operand::One(a), Operand::One(b)) => vec![f(*a, *b); rows],
        (Operand::Column(a), Operand::One(b)) => a.iter().map(|a| f(*a, *b)).collect(),
        (Operand::One(a), Operand::Column(b)) => b.iter().map(|b| f(*a, *b)).collect(),
        (Operand::Column(a), Operand::Column(b)) => a.iter().zip(b.iter()).map(|(a, b)| f(*a, *b)).collect(),
    }
}

fn collected<T: Copy>(a: &Operand<'_, T>, b: &Operand<'_, T>, rows: usize, f: impl Fn(T, T) -> bool) -> BooleanBuffer {
    match (a, b) {
        (Operand::One(a), Operand::One(b)) => match f(*a, *b) {
            true => BooleanBuffer::new_set(rows),
            false => BooleanBuffer::new_unset(rows),
        },
        (Operand::Column(a), Operand::One(b)) => BooleanBuffer::collect_bool(a.len(), |i| f(a[i], *b)),
        (Operand::One(a), Operand::Column(b)) => BooleanBuffer::collect_bool(b.len(), |i| f(*a, b[i])),
        (Operand::Column(a), Operand::Column(b)) => {
            BooleanBuffer::collect_bool(a.len().min(b.len()), |i| f(a[i], b[i]))
        }
    }
}

impl<'a> Numbers<'a> {
    /// `None` for what is no number.
    pub(super) fn of(vector: &'a Vector) -> Option<Self> {
        Some(match vector {
            Vector::Constant(Value::Integer(number)) => Self::Integer(Operand::One(*number)),
            Vector::Constant(Value::Decimal { unscaled, scale }) => Self::Decimal(Operand::One(*unscaled), *scale),
            Vector::Constant(Value::Double(number)) => Self::Double(Operand::One(*number)),
            Vector::Integer(array) => Self::Integer(Operand::Column(Cow::Borrowed(array.values()))),
            Vector::Decimal(array, scale) => Self::Decimal(Operand::Column(Cow::Borrowed(array.values())), *scale),
            Vector::Double(array) => Self::Double(Operand::Column(Cow::Borrowed(array.values()))),
            _ => return None,
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "the nearest double is asked for")]
    pub(super) fn doubles(self) -> Operand<'a, f64> {
        match self {
            Self::Double(operand) => operand,
            Self::Integer(operand) => operand.map(|number| number as f64),
            Self::Decimal(operand, scale) => operand.map(|number| decimal_to_f64(number, scale)),
        }
    }

    fn scale(&self) -> u8 {
        match self {
            Self::Decimal(_, scale) => *scale,
            _ => 0,
        }
    }

    /// In units of this many digits behind the point, not fewer than it has; what is too large becomes the largest.
    fn scaled(self, scale: u8) -> Operand<'a, i128> {
        match self {
            Self::Decimal(operand, from) if from == scale => operand,
            Self::Decimal(operand, from) => {
                let factor = power_of_ten(scale.saturating_sub(from));
                operand.map(|number| number.saturating_mul(factor))
            }
            Self::Integer(operand) => {
                let factor = power_of_ten(scale);
                operand.map(|number| i128::from(number).saturating_mul(factor))
            }
            Self::Double(operand) => operand.map(|_| 0),
        }
    }
}

/// Compares numbers; `None` where one side is none.
pub(super) fn compare(
    left: &Vector,
    right: &Vector,
    rows: usize,
    holds: impl Fn(Ordering) -> bool + Copy,
) -> Option<BooleanBuffer> {
    let (left, right) = (Numbers::of(left)?, Numbers::of(right)?);
    Some(match (left, right) {
        (Numbers::Integer(a), Numbers::Integer(b)) => collected(&a, &b, rows, |a, b| holds(a.cmp(&b))),
        (a @ Numbers::Double(_), b) | (a, b @ Numbers::Double(_)) => {
            let (a, b) = (a.doubles(), b.doubles());
            collected(&a, &b, rows, |a, b| a.partial_cmp(&b).is_some_and(holds))
        }
        (a, b) => {
            let scale = a.scale().max(b.scale());
            let (a, b) = (a.scaled(scale), b.scaled(scale));
            collected(&a, &b, rows, |a, b| holds(a.cmp(&b)))
        }
    })
}

/// Computes; the operands are numbers.
///
/// # Errors
/// [`Kind::Type`] for operands that are none, [`Kind::Value`] for decimals of more than 38 digits.
pub(super) fn compute(operator: Operator, left: &Vector, right: &Vector, rows: usize) -> Result<Vector> {
    if left.is_null() || right.is_null() {
        return Ok(Vector::Constant(Value::Null));
    }
    let (Some(a), Some(b)) = (Numbers::of(left), Numbers::of(right)) else {
        let (a, b) = (left.type_of().noun(), right.type_of().noun());
        return Err(Error::new(
            Kind::Type,
            format!("Invalid operands for an operator: {a} and {b}"),
        ));
    };
    let nulls = NullBuffer::union(left.nulls(), right.nulls());
    let is_constant = matches!((left, right), (Vector::Constant(_), Vector::Constant(_)));
    let computed = computed(operator, a, b, nulls, if is_constant { 1 } else { rows })?;
    Ok(match is_constant {
        true => Vector::Constant(computed.value(0)),
        false => computed,
    })
}

fn computed(
    operator: Operator,
    a: Numbers<'_>,
    b: Numbers<'_>,
    nulls: Option<NullBuffer>,
    rows: usize,
) -> Result<Vector> {
    use Operator as O;
    if matches!(operator, O::And | O::Or | O::Xor | O::ShiftLeft | O::ShiftRight) {
        let (Numbers::Integer(a), Numbers::Integer(b)) = (a, b) else {
            return Err(Error::new(Kind::Type, "Operators of bits take whole numbers"));
        };
        let shift = |n: i64| u32::try_from(n).ok().filter(|n| *n < 64);
        let bits = paired(&a, &b, rows, |a, b| match operator {
            O::And => a & b,
            O::Or => a | b,
            O::Xor => a ^ b,
            O::ShiftLeft => shift(b).map_or(0, |n| a << n),
            _ => shift(b).map_or(0, |n| a >> n),
        });
        return Ok(Vector::Integer(Int64Array::new(bits.into(), nulls)));
    }
    if operator == O::Divide {
        return Ok(divided(&a.doubles(), &b.doubles(), nulls.as_ref(), rows, |a, b| a / b));
    }
    match (a, b) {
        (Numbers::Integer(a), Numbers::Integer(b)) => {
            let exact = |a: i64, b: i64| match operator {
                O::Plus => a.checked_add(b),
                O::Minus => a.checked_sub(b),
                O::Times => a.checked_mul(b),
                // Of the least number by -1 it is 0, too.
                _ => (b != 0).then(|| a.wrapping_rem(b)),
            };
            if operator == O::Modulo {
                let values = (0..rows).map(|row| exact(a.get(row), b.get(row)));
                let known = nulls.as_ref();
                let values = values.enumerate();
                let values = values.map(|(row, value)| value.filter(|_| known.is_none_or(|nulls| nulls.is_valid(row))));
                return Ok(Vector::Integer(values.collect()));
            }
            let values = paired(&a, &b, rows, |a, b| exact(a, b).unwrap_or(i64::MIN));
            // The least number is what a sum that does not fit becomes here; it is looked at again only then.
            if values.contains(&i64::MIN) {
                let wide = paired(&a, &b, rows, |a, b| {
                    let (a, b) = (i128::from(a), i128::from(b));
                    match operator {
                        O::Plus => a + b,
                        O::Minus => a - b,
                        _ => a * b,
                    }
                });
                return Ok(whole_numbers(wide, nulls));
            }
            Ok(Vector::Integer(Int64Array::new(values.into(), nulls)))
        }
        (a @ Numbers::Double(_), b) | (a, b @ Numbers::Double(_)) => {
            Ok(doubles(operator, &a.doubles(), &b.doubles(), nulls, rows))
        }
        (a, b) => {
            let (from, to) = (a.scale(), b.scale());
            let scale = match operator {
                O::Times => from.saturating_add(to),
                _ => from.max(to),
            };
            if scale > 30 {
                return Ok(doubles(operator, &a.doubles(), &b.doubles(), nulls, rows));
            }
            decimals(operator, (a, from), (b, to), scale, nulls, rows)
        }
    }
}

/// Exact, in units of this many digits behind the point.
///
/// # Errors
/// [`Kind::Value`] for what has more than 38 digits.
fn decimals(
    operator: Operator,
    (a, from): (Numbers<'_>, u8),
    (b, to): (Numbers<'_>, u8),
    scale: u8,
    nulls: Option<NullBuffer>,
    rows: usize,
) -> Result<Vector> {
    let unit = |own: u8| match operator {
        Operator::Times => 1,
        _ => power_of_ten(scale.saturating_sub(own)),
    };
    let units = (unit(from), unit(to));
    let exact = |a: i128, b: i128| {
        let (a, b) = (a.checked_mul(units.0)?, b.checked_mul(units.1)?);
        let made = match operator {
            Operator::Plus => a.checked_add(b),
            Operator::Minus => a.checked_sub(b),
            Operator::Times => a.checked_mul(b),
            _ => a.checked_rem(b),
        };
        made.filter(|made| has_room(*made))
    };
    let (a, b) = (a.scaled(from), b.scaled(to));
    let is_valid = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
    let beyond = |row: usize| {
        let (a, b) = (decimal_text(a.get(row), from), decimal_text(b.get(row), to));
        let sign = match operator {
            Operator::Plus => "+",
            Operator::Minus => "-",
            Operator::Times => "*",
            _ => "modulo",
        };
        let why = format!("{a} {sign} {b} has more than 38 digits: CAST one of them to DOUBLE first");
        Error::new(Kind::Value, why)
    };
    if operator == Operator::Modulo {
        let values = (0..rows).map(|row| match is_valid(row) && b.get(row) != 0 {
            true => exact(a.get(row), b.get(row)).map(Some).ok_or_else(|| beyond(row)),
            false => Ok(None),
        });
        return Ok(Vector::Decimal(values.collect::<Result<Decimal128Array>>()?, scale));
    }
    // The least number, which no decimal is, marks what does not fit; that is looked at again only then.
    let values = paired(&a, &b, rows, |a, b| exact(a, b).unwrap_or(i128::MIN));
    if values.contains(&i128::MIN)
        && let Some(row) = (0..rows).find(|row| is_valid(*row) && values.get(*row) == Some(&i128::MIN))
    {
        return Err(beyond(row));
    }
    Ok(Vector::decimals(values, nulls, scale))
}

/// Whole numbers, as decimals where 64 bits are too few for one of them.
pub(super) fn whole_numbers(wide: Vec<i128>, nulls: Option<NullBuffer>) -> Vector {
    let is_null = |row: usize| nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
    let narrow = wide
        .iter()
        .enumerate()
        .map(|(row, number)| match i64::try_from(*number) {
            Err(_) if is_null(row) => Some(0),
            narrow => narrow.ok(),
        });
    match narrow.collect::<Option<Vec<i64>>>() {
        Some(narrow) => Vector::Integer(Int64Array::new(narrow.into(), nulls)),
        None => Vector::decimals(wide, nulls, 0),
    }
}

fn doubles(
    operator: Operator,
    a: &Operand<'_, f64>,
    b: &Operand<'_, f64>,
    nulls: Option<NullBuffer>,
    rows: usize,
) -> Vector {
    let values = match operator {
        Operator::Plus => paired(a, b, rows, |a, b| a + b),
        Operator::Minus => paired(a, b, rows, |a, b| a - b),
        Operator::Times => paired(a, b, rows, |a, b| a * b),
        _ => return divided(a, b, nulls.as_ref(), rows, |a, b| a % b),
    };
    Vector::Double(Float64Array::new(values.into(), nulls))
}

/// NULL by zero.
fn divided(
    a: &Operand<'_, f64>,
    b: &Operand<'_, f64>,
    nulls: Option<&NullBuffer>,
    rows: usize,
    f: impl Fn(f64, f64) -> f64,
) -> Vector {
    let values = paired(a, b, rows, |a, b| (b != 0.0).then(|| f(a, b)));
    let is_valid = |row: usize| nulls.is_none_or(|nulls| nulls.is_valid(row));
    let values = values.into_iter().enumerate();
    Vector::Double(values.map(|(row, value)| value.filter(|_| is_valid(row))).collect())
}

/// The number with the other sign.
///
/// # Errors
/// [`Kind::Type`] for what is no number.
pub(super) fn negated(operand: &Vector, rows: usize) -> Result<Vector> {
    compute(Operator::Minus, &Vector::Constant(Value::Integer(0)), operand, rows)
}

/// Truth values: where a comparison is NULL, and where it holds.
pub(super) fn truth(values: BooleanBuffer, nulls: Option<NullBuffer>) -> Vector {
    Vector::Logical(BooleanArray::new(values, nulls))
}
