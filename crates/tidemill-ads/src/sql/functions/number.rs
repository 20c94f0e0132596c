//! Functions of numbers: exact where the argument is and the result can be.

use arrow_array::{Float64Array, Int64Array};

use super::{Body, Call, Function, Gives, argument, columns, kernel, nulls};
use crate::sql::arithmetic::{Numbers, Operator, compute, whole_numbers};
use crate::sql::error::{Error, Kind, Result};
use crate::sql::value::{Type, Value, f64_to_i64, power_of_ten, rescale};
use crate::sql::vector::Vector;

const DOUBLE: Gives = Gives::Is(Type::Double);

#[rustfmt::skip]
pub(super) const FUNCTIONS: &[Function] = &[
    columns("ABS", "N", Gives::Argument(0), |call, a| exact(call, a, i128::abs, |n, _| n.saturating_abs(), f64::abs)),
    columns("ACOS", "N", DOUBLE, |call, a| double(call, a, f64::acos)),
    columns("ASIN", "N", DOUBLE, |call, a| double(call, a, f64::asin)),
    columns("ATAN", "N", DOUBLE, |call, a| double(call, a, f64::atan)),
    columns("ATAN2", "NN", DOUBLE, |call, a| doubles(call, a, f64::atan2)),
    columns("CEIL", "N", Gives::Argument(0), |call, a| exact(call, a, |n| n, ceiling, f64::ceil)),
    columns("CEILING", "N", Gives::Argument(0), |call, a| exact(call, a, |n| n, ceiling, f64::ceil)),
    columns("COS", "N", DOUBLE, |call, a| double(call, a, f64::cos)),
    columns("COT", "N", DOUBLE, |call, a| double(call, a, |n| 1.0 / n.tan())),
    columns("DEGREES", "N", DOUBLE, |call, a| double(call, a, f64::to_degrees)),
    columns("EXP", "N", DOUBLE, |call, a| double(call, a, f64::exp)),
    columns("FLOOR", "N", Gives::Argument(0), |call, a| exact(call, a, |n| n, floor, f64::floor)),
    kernel("INT", "N", Gives::Is(Type::Double), &["INT(N1)"]),
    columns("LOG", "N", DOUBLE, |call, a| double(call, a, f64::ln)),
    columns("LOG10", "N", DOUBLE, |call, a| double(call, a, f64::log10)),
    columns("MOD", "NN", Gives::Computed(Operator::Modulo), |call, a| {
        compute(Operator::Modulo, argument(a, 0), argument(a, 1), call.rows)
    }),
    columns("PI", "", DOUBLE, |_, _| Ok(Vector::Constant(Value::Double(std::f64::consts::PI)))),
    columns("POWER", "NN", DOUBLE, |call, a| doubles(call, a, f64::powf)),
    columns("RADIANS", "N", DOUBLE, |call, a| double(call, a, f64::to_radians)),
    Function { name: "RAND", takes: "[N", gives: DOUBLE, body: Body::Volatile(random) },
    columns("ROUND", "N[N", Gives::Argument(0), |call, a| cut(call, a, true)),
    columns("SIGN", "N", Gives::Is(Type::Integer), |call, a| {
        let numbers = operand(call, a, 0)?;
        let values = (0..call.rows).map(|row| {
            let number = numbers.get(row);
            i64::from(number > 0.0) - i64::from(number < 0.0)
        });
        Ok(Vector::Integer(Int64Array::new(values.collect(), nulls(a))))
    }),
    columns("SIN", "N", DOUBLE, |call, a| double(call, a, f64::sin)),
    columns("SQRT", "N", DOUBLE, |call, a| double(call, a, f64::sqrt)),
    columns("TAN", "N", DOUBLE, |call, a| double(call, a, f64::tan)),
    columns("TRUNCATE", "NN", Gives::Argument(0), |call, a| cut(call, a, false)),
];

fn operand<'a>(
    call: &Call<'_>,
    arguments: &'a [Vector],
    place: usize,
) -> Result<crate::sql::arithmetic::Operand<'a, f64>> {
    Numbers::of(argument(arguments, place))
        .map(Numbers::doubles)
        .ok_or_else(|| {
            Error::new(
                Kind::Type,
                format!("Argument {} of {}() is a number", place + 1, call.name),
            )
        })
}

/// NULL where there is no such number.
fn double(call: &Call<'_>, arguments: &[Vector], f: impl Fn(f64) -> f64) -> Result<Vector> {
    let numbers = operand(call, arguments, 0)?;
    finite(call, arguments, |row| f(numbers.get(row)))
}

fn doubles(call: &Call<'_>, arguments: &[Vector], f: impl Fn(f64, f64) -> f64) -> Result<Vector> {
    let (a, b) = (operand(call, arguments, 0)?, operand(call, arguments, 1)?);
    finite(call, arguments, |row| f(a.get(row), b.get(row)))
}

fn finite(call: &Call<'_>, arguments: &[Vector], f: impl Fn(usize) -> f64) -> Result<Vector> {
    let nulls = nulls(arguments);
    let is_valid = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
    let values = (0..call.rows).map(|row| Some(f(row)).filter(|number| number.is_finite() && is_valid(row)));
    Ok(Vector::Double(values.collect::<Float64Array>()))
}

/// A function of each form of number.
fn exact(
    call: &Call<'_>,
    arguments: &[Vector],
    whole: impl Fn(i128) -> i128,
    decimal: impl Fn(i128, i128) -> i128,
    double: impl Fn(f64) -> f64,
) -> Result<Vector> {
    let nulls = nulls(arguments);
    match Numbers::of(argument(arguments, 0)) {
        Some(Numbers::Integer(numbers)) => {
            let values = (0..call.rows).map(|row| whole(numbers.get(row).into()));
            Ok(whole_numbers(values.collect(), nulls))
        }
        Some(Numbers::Decimal(numbers, scale)) => {
            let unit = power_of_ten(scale);
            let values = (0..call.rows).map(|row| decimal(numbers.get(row), unit));
            Ok(Vector::decimals(values.collect(), nulls, scale))
        }
        Some(Numbers::Double(numbers)) => {
            let values = (0..call.rows).map(|row| double(numbers.get(row)));
            Ok(Vector::Double(Float64Array::new(values.collect(), nulls)))
        }
        None => Err(Error::new(Kind::Type, format!("{}() takes a number", call.name))),
    }
}

fn floor(number: i128, unit: i128) -> i128 {
    number.div_euclid(unit).saturating_mul(unit)
}

fn ceiling(number: i128, unit: i128) -> i128 {
    floor(number.saturating_neg(), unit).saturating_neg()
}

/// ROUND and TRUNCATE; places may be before the point.
fn cut(call: &Call<'_>, arguments: &[Vector], rounds: bool) -> Result<Vector> {
    let places = match arguments.len() {
        1 => None,
        _ => Some(operand(call, arguments, 1)?),
    };
    let places = |row: usize| {
        let places = places.as_ref().map_or(0.0, |places| places.get(row));
        f64_to_i64(places).unwrap_or(0).clamp(-30, 30)
    };
    let at = |number: i128, scale: u8, places: i64| {
        let dropped = i64::from(scale) - places;
        let Some(dropped) = u8::try_from(dropped).ok().filter(|dropped| *dropped > 0) else {
            return number;
        };
        let unit = power_of_ten(dropped);
        let kept = match rounds {
            true => rescale(number, dropped, 0).unwrap_or(0),
            false => number / unit,
        };
        kept.saturating_mul(unit)
    };
    let nulls = nulls(arguments);
    match Numbers::of(argument(arguments, 0)) {
        Some(Numbers::Integer(numbers)) => {
            let values = (0..call.rows).map(|row| at(numbers.get(row).into(), 0, places(row)));
            Ok(whole_numbers(values.collect(), nulls))
        }
        Some(Numbers::Decimal(numbers, scale)) => {
            let values = (0..call.rows).map(|row| at(numbers.get(row), scale, places(row)));
            Ok(Vector::decimals(values.collect(), nulls, scale))
        }
        Some(Numbers::Double(numbers)) => {
            let values = (0..call.rows).map(|row| {
                let unit = 10_f64.powi(i32::try_from(places(row)).unwrap_or(0));
                let scaled = numbers.get(row) * unit;
                let kept = if rounds { scaled.round() } else { scaled.trunc() } / unit;
                // So many places that the number has none to lose.
                if kept.is_finite() { kept } else { numbers.get(row) }
            });
            Ok(Vector::Double(Float64Array::new(values.collect(), nulls)))
        }
        None => Err(Error::new(Kind::Type, format!("{}() takes a number", call.name))),
    }
}

/// Numbers from 0 to 1, not including it; a seed gives the same ones again.
fn random(call: &Call<'_>, arguments: &[Vector]) -> Result<Vector> {
    use std::hash::{BuildHasher, RandomState};
    let seed = match arguments.first().and_then(|seed| seed.value(0).to_i64()) {
        Some(seed) if seed != 0 => seed.cast_unsigned(),
        _ => RandomState::new().hash_one(call.session.now),
    };
    let mut state = seed;
    let mut next = || {
        // SplitMix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        let number = ((word ^ (word >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
        number
    };
    let values = (0..call.rows).map(|_| next());
    Ok(Vector::Double(Float64Array::from_iter_values(values)))
}
