//! Functions over values of any type.

use std::cmp::Ordering;

use super::super::operators::order_of_bytes;
use super::super::program::Call;
use super::super::value::{Type, Value};
use super::character::without_blanks_at_end;
use super::{Answer, Function, Gives, Nature, function};

const TRUTH: Gives = Gives::Is(Type::Logical);
/// The Julian day number that `DESCEND()` takes dates from.
const LAST_DAY: i64 = 5_231_808;

pub(super) const FUNCTIONS: &[Function] = &[
    function("BETWEEN", "*~~", TRUTH, |call, a| {
        let is_within = order(call, &a[0], &a[1]).is_ge() && order(call, &a[0], &a[2]).is_le();
        Ok(Value::Logical(is_within))
    }),
    function("DELETED", "", TRUTH, |_, _| Ok(Value::Null)),
    function("DESCEND", "K", Gives::Descended, |_, a| {
        Ok(descend(std::mem::take(&mut a[0])))
    }),
    function("EMPTY", "*", TRUTH, |_, a| Ok(Value::Logical(is_empty(&a[0])))).nature(Nature::TakesNull),
    function("IF", "L*~", Gives::Argument(1), |_, a| choose(a)).nature(Nature::TakesNull),
    function("IIF", "L*~", Gives::Argument(1), |_, a| choose(a)).nature(Nature::TakesNull),
    function("INLIST", "*~+", TRUTH, |call, a| {
        let is_any = a.iter().skip(1).any(|item| order(call, &a[0], item).is_eq());
        Ok(Value::Logical(is_any))
    }),
    function("ISNULL", "*", TRUTH, |_, a| Ok(Value::Logical(a[0].is_null()))).nature(Nature::TakesNull),
    function("MAX", "*~", Gives::Argument(0), |call, a| {
        Ok(pick(call, a, Ordering::is_ge))
    }),
    function("MIN", "*~", Gives::Argument(0), |call, a| {
        Ok(pick(call, a, Ordering::is_le))
    }),
    function("NVL", "*~", Gives::Argument(0), |_, a| {
        let at = usize::from(a[0].is_null());
        Ok(std::mem::take(&mut a[at]))
    })
    .nature(Nature::TakesNull),
    function("RECNO", "", Gives::Is(Type::Number), |_, _| Ok(Value::Null)),
];

/// The order of two values of one type; texts as if the shorter one were filled up with blanks.
fn order(call: &Call<'_>, left: &Value<'_>, right: &Value<'_>) -> Ordering {
    match (left, right) {
        (Value::Character(left), Value::Character(right)) => {
            let (left, right) = (without_blanks_at_end(left), without_blanks_at_end(right));
            order_of_bytes(left, right, call.environment.weights.as_deref())
        }
        (Value::Logical(left), Value::Logical(right)) => left.cmp(right),
        (Value::Number(left), Value::Number(right)) => left.partial_cmp(right).unwrap_or(Ordering::Equal),
        _ => (left.day(), left.ms_of_day()).cmp(&(right.day(), right.ms_of_day())),
    }
}

fn pick<'a>(call: &Call<'_>, a: &mut [Value<'a>], wanted: fn(Ordering) -> bool) -> Value<'a> {
    let at = usize::from(!wanted(order(call, &a[0], &a[1])));
    std::mem::take(&mut a[at])
}

/// The second when the first is true, else the third.
fn choose<'a>(a: &mut [Value<'a>]) -> Answer<'a> {
    let at = if a[0].logical() { 1 } else { 2 };
    Ok(std::mem::take(&mut a[at]))
}

/// What sorts the other way round. A text that is one NUL stays.
fn descend(value: Value<'_>) -> Value<'_> {
    match value {
        Value::Character(bytes) => {
            let mut bytes = bytes.into_owned();
            bytes.iter_mut().for_each(|b| *b = b.wrapping_neg());
            Value::text(bytes)
        }
        Value::Number(n) => Value::Number(-n),
        Value::Logical(l) => Value::Logical(!l),
        Value::Date(day) => Value::Number(f64::from(i32::try_from(LAST_DAY - day).unwrap_or_default())),
        other => other,
    }
}

/// Blank text, 0, false, no date. `.NULL.` is not empty: only Visual FoxPro has it, where the two are told apart.
fn is_empty(value: &Value<'_>) -> bool {
    match value {
        Value::Null => false,
        Value::Character(text) => text.iter().all(|b| matches!(b, b' ' | 9..=13)),
        Value::Number(n) => *n == 0.0,
        Value::Logical(l) => !l,
        Value::Date(day) => *day == 0,
        Value::Timestamp(ms) => *ms == 0,
    }
}
