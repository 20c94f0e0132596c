//! What the operators mean: one definition, which the row form uses and the column kernels must agree with.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::environment::Environment;
use super::syntax::BinaryOperator;
use super::value::{DAY_MS, Value, integer};

/// The result of an operation on two values whose types were checked. [`BinaryOperator::And`] and `Or` have the three
/// values of SQL's logic.
pub(super) fn binary<'a>(
    operator: BinaryOperator,
    left: Value<'a>,
    right: Value<'a>,
    environment: &Environment,
) -> Value<'a> {
    use BinaryOperator as B;
    match operator {
        B::And => return and(&left, &right),
        B::Or => return or(&left, &right),
        _ if left.is_null() || right.is_null() => return Value::Null,
        B::Plus => return plus(left, right),
        B::Minus => return minus(left, right),
        B::Contains => return Value::Logical(find(left.bytes(), right.bytes()).is_some()),
        _ => {}
    }
    match operator {
        B::Times | B::Divide | B::Modulo | B::Power => {
            Value::Number(arithmetic(operator, left.number(), right.number()))
        }
        _ => Value::Logical(compare(operator, &left, &right, environment)),
    }
}

/// `+ - * / % ^` of numbers.
#[inline]
pub(super) fn arithmetic(operator: BinaryOperator, left: f64, right: f64) -> f64 {
    match operator {
        BinaryOperator::Plus => left + right,
        BinaryOperator::Minus => left - right,
        BinaryOperator::Times => left * right,
        BinaryOperator::Divide if right == 0.0 => 0.0,
        BinaryOperator::Divide => left / right,
        BinaryOperator::Modulo if right == 0.0 => 0.0,
        BinaryOperator::Modulo => left % right,
        BinaryOperator::Power => left.powf(right),
        _ => 0.0,
    }
}

/// Whether two values of one type (or a date and a timestamp, which compare by their days) stand in the relation.
pub(super) fn compare(
    operator: BinaryOperator,
    left: &Value<'_>,
    right: &Value<'_>,
    environment: &Environment,
) -> bool {
    match (left, right) {
        (Value::Character(left), Value::Character(right)) => texts_relate(operator, left, right, environment),
        (Value::Number(left), Value::Number(right)) => numbers_relate(operator, *left, *right),
        (Value::Logical(left), Value::Logical(right)) => relates(operator, left.cmp(right)),
        (Value::Timestamp(left), Value::Timestamp(right)) => relates(operator, left.cmp(right)),
        _ => relates(operator, left.day().cmp(&right.day())),
    }
}

/// Whether two texts stand in the relation.
pub(crate) fn texts_relate(operator: BinaryOperator, left: &[u8], right: &[u8], environment: &Environment) -> bool {
    if operator == BinaryOperator::ExactlyEqual {
        return left == right;
    }
    relates(operator, order_of_texts(left, right, environment))
}

/// Whether two numbers stand in the relation; what is no number differs from everything.
#[inline]
pub(super) fn numbers_relate(operator: BinaryOperator, left: f64, right: f64) -> bool {
    match operator {
        BinaryOperator::Equal | BinaryOperator::ExactlyEqual => left == right,
        BinaryOperator::NotEqual => left != right,
        BinaryOperator::Less => left < right,
        BinaryOperator::LessOrEqual => left <= right,
        BinaryOperator::Greater => left > right,
        BinaryOperator::GreaterOrEqual => left >= right,
        _ => false,
    }
}

/// Whether an order is what an operator asks for.
#[inline]
pub(crate) fn relates(operator: BinaryOperator, order: Ordering) -> bool {
    match operator {
        BinaryOperator::Equal | BinaryOperator::ExactlyEqual => order.is_eq(),
        BinaryOperator::NotEqual => order.is_ne(),
        BinaryOperator::Less => order.is_lt(),
        BinaryOperator::LessOrEqual => order.is_le(),
        BinaryOperator::Greater => order.is_gt(),
        BinaryOperator::GreaterOrEqual => order.is_ge(),
        _ => false,
    }
}

/// The order of two texts under SET EXACT, after Harbour's `hb_itemStrCmp`: off, a right text that the left one begins
/// with is equal to it; on, blanks at the end of the longer one do not count.
pub(super) fn order_of_texts(left: &[u8], right: &[u8], environment: &Environment) -> Ordering {
    let (mut left, mut right) = (left, right);
    if environment.exact {
        left = without_blanks_beyond(left, right.len());
        right = without_blanks_beyond(right, left.len());
    } else {
        left = left.get(..right.len()).unwrap_or(left);
    }
    order_of_bytes(left, right, environment.weights.as_deref())
}

/// The order of two byte strings in a collation.
pub(super) fn order_of_bytes(left: &[u8], right: &[u8], weights: Option<&[u8; 256]>) -> Ordering {
    let Some(weights) = weights else {
        return left.cmp(right);
    };
    let weight = |b: &u8| weights[usize::from(*b)];
    left.iter()
        .map(weight)
        .cmp(right.iter().map(weight))
        .then_with(|| left.cmp(right))
}

/// The text without blanks at its end, but not shorter than `len`.
fn without_blanks_beyond(text: &[u8], len: usize) -> &[u8] {
    let blanks = text.iter().skip(len).rev().take_while(|b| **b == b' ').count();
    text.get(..text.len() - blanks).unwrap_or(text)
}

/// Where `needle` begins in `text`; an empty one is nowhere.
pub(crate) fn find(needle: &[u8], text: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let last = text.len().checked_sub(needle.len())?;
    let starts = text.get(..=last)?;
    let mut from = 0;
    while let Some(at) = starts.get(from..)?.iter().position(|b| *b == first) {
        let start = from + at;
        if text.get(start..start + needle.len()) == Some(needle) {
            return Some(start);
        }
        from = start + 1;
    }
    None
}

fn and<'a>(left: &Value<'_>, right: &Value<'_>) -> Value<'a> {
    match (left, right) {
        (Value::Logical(false), _) | (_, Value::Logical(false)) => Value::Logical(false),
        (Value::Logical(true), Value::Logical(true)) => Value::Logical(true),
        _ => Value::Null,
    }
}

fn or<'a>(left: &Value<'_>, right: &Value<'_>) -> Value<'a> {
    match (left, right) {
        (Value::Logical(true), _) | (_, Value::Logical(true)) => Value::Logical(true),
        (Value::Logical(false), Value::Logical(false)) => Value::Logical(false),
        _ => Value::Null,
    }
}

fn plus<'a>(left: Value<'a>, right: Value<'a>) -> Value<'a> {
    match (left, right) {
        (Value::Character(left), Value::Character(right)) => Value::Character(match (left.len(), right.len()) {
            (0, _) => right,
            (_, 0) => left,
            _ => {
                let mut out = left.into_owned();
                out.extend_from_slice(&right);
                Cow::Owned(out)
            }
        }),
        (Value::Date(day), Value::Number(n)) | (Value::Number(n), Value::Date(day)) => later_day(day, n),
        (Value::Timestamp(ms), Value::Number(n)) | (Value::Number(n), Value::Timestamp(ms)) => later_moment(ms, n),
        (left, right) => Value::Number(left.number() + right.number()),
    }
}

fn minus<'a>(left: Value<'a>, right: Value<'a>) -> Value<'a> {
    match (left, right) {
        (Value::Character(left), Value::Character(right)) => {
            let len = left.len() + right.len();
            let mut out = left.into_owned();
            out.truncate(out.len() - out.iter().rev().take_while(|b| **b == b' ').count());
            out.extend_from_slice(&right);
            out.resize(len, b' ');
            Value::Character(Cow::Owned(out))
        }
        (Value::Date(day), Value::Number(n)) => later_day(day, -n),
        (Value::Timestamp(ms), Value::Number(n)) => later_moment(ms, -n),
        (Value::Number(left), Value::Number(right)) => Value::Number(left - right),
        (left, right) => {
            let days = left.day().saturating_sub(right.day());
            #[expect(
                clippy::cast_precision_loss,
                reason = "days of some thousand years, and milliseconds of a day"
            )]
            let days = days as f64 + (left.ms_of_day() - right.ms_of_day()) as f64 / DAY_MS as f64;
            Value::Number(days)
        }
    }
}

/// A date so many whole days later.
pub(super) fn later_day<'a>(day: i64, n: f64) -> Value<'a> {
    // Far beyond every calendar, and far from where sums of days overflow.
    const LIMIT: i64 = 1 << 32;
    Value::Date(day.saturating_add(integer(n)).clamp(-LIMIT, LIMIT))
}

/// A timestamp so many days later, fractions counting.
#[expect(clippy::cast_precision_loss, reason = "the milliseconds of a day")]
fn later_moment<'a>(ms: i64, n: f64) -> Value<'a> {
    const LIMIT: i64 = 1 << 60;
    let part = integer((n.fract() * DAY_MS as f64).round());
    let whole = integer(n).saturating_mul(DAY_MS);
    let ms = ms.saturating_add(whole).saturating_add(part);
    Value::Timestamp(ms.clamp(-LIMIT, LIMIT))
}
