//! Functions over numbers, and between numbers and texts.

use super::super::format;
use super::super::program::{Call, MAX_MADE, TooLong};
use super::super::value::{Type, Value};
use super::{Answer, Function, Gives, function};

const TEXT: Gives = Gives::Is(Type::Character);
const NUMBER: Gives = Gives::Is(Type::Number);

pub(super) const FUNCTIONS: &[Function] = &[
    function("ABS", "N", Gives::Argument(0), |_, a| number(a[0].number().abs())),
    function("BIN2I", "C", NUMBER, |_, a| {
        number(f64::from(i16::from_le_bytes(bytes(&a[0]))))
    }),
    function("BIN2L", "C", NUMBER, |_, a| {
        number(f64::from(i32::from_le_bytes(bytes(&a[0]))))
    }),
    function("BINTOC", "N[N", TEXT, |_, a| Ok(Value::text(binary(a)))),
    function("CEILING", "N", Gives::Cut, |_, a| number(a[0].number().ceil())),
    function("EXP", "N", Gives::Fraction, |_, a| number(a[0].number().exp())),
    // dBASE has two kinds of numbers, decimal and binary; here all are doubles.
    function("FIXED", "N", Gives::Argument(0), |_, a| number(a[0].number())),
    function("FLOAT", "N", Gives::Argument(0), |_, a| number(a[0].number())),
    function("FLOOR", "N", Gives::Cut, |_, a| number(a[0].number().floor())),
    function("I2BIN", "N", TEXT, |_, a| {
        let [low, high, ..] = a[0].integer().to_le_bytes();
        Ok(Value::text(vec![low, high]))
    }),
    function("INT", "N", Gives::Cut, |_, a| number(a[0].number().trunc())),
    function("L2BIN", "N", TEXT, |_, a| {
        let [a, b, c, d, ..] = a[0].integer().to_le_bytes();
        Ok(Value::text(vec![a, b, c, d]))
    }),
    function("LOG", "N", Gives::Fraction, |_, a| number(a[0].number().ln())),
    function("MOD", "NN", Gives::Fraction, |_, a| {
        number(modulo(a[0].number(), a[1].number()))
    }),
    function("ROUND", "NN", Gives::Rounded, |_, a| {
        let decimals = i32::try_from(a[1].integer().clamp(-300, 300)).unwrap_or_default();
        number(format::round(a[0].number(), decimals))
    }),
    function("SIGN", "N", Gives::Whole(10), |_, a| {
        let n = a[0].number();
        number(if n > 0.0 {
            1.0
        } else if n < 0.0 {
            -1.0
        } else {
            0.0
        })
    }),
    function("SQRT", "N", Gives::Fraction, |_, a| {
        number(a[0].number().max(0.0).sqrt())
    }),
    function("STR", "N[NN", TEXT, |call, a| text(call, a).map(Value::text)),
    function("STRZERO", "N[NN", TEXT, |call, a| {
        let mut text = text(call, a)?;
        let sign = text.iter().position(|b| *b == b'-');
        if let Some(sign) = sign.and_then(|at| text.get_mut(at)) {
            *sign = b' ';
        }
        text.iter_mut().take_while(|b| **b == b' ').for_each(|b| *b = b'0');
        if let (Some(_), Some(first)) = (sign, text.first_mut()) {
            *first = b'-';
        }
        Ok(Value::text(text))
    }),
    function("VAL", "C", Gives::Fraction, |_, a| number(format::value(a[0].bytes()))),
];

fn number<'a>(n: f64) -> Answer<'a> {
    Ok(Value::Number(n))
}

/// The first bytes of a text, filled up with zeros.
fn bytes<const N: usize>(text: &Value<'_>) -> [u8; N] {
    let mut out = [0; N];
    out.iter_mut().zip(text.bytes()).for_each(|(slot, b)| *slot = *b);
    out
}

/// Whole numbers of 1, 2 or 4 bytes that sort: big-endian, the sign bit turned around. A number that does not fit is the nearest that does.
fn binary(a: &[Value<'_>]) -> Vec<u8> {
    let bits: u32 = match a.get(1).map(Value::integer) {
        Some(1) => 8,
        Some(2) => 16,
        _ => 32,
    };
    let half = 1_i64 << (bits - 1);
    let shifted = a.first().map_or(0, Value::integer).clamp(-half, half - 1) + half;
    let bytes = shifted.to_be_bytes();
    bytes.iter().skip(bytes.len() - bits as usize / 8).copied().collect()
}

/// With the sign of the divisor; a divisor of 0 gives the number itself.
fn modulo(n: f64, base: f64) -> f64 {
    if base == 0.0 {
        return n;
    }
    let rest = n % base;
    let is_other_side = rest != 0.0 && (rest > 0.0) != (base > 0.0);
    if is_other_side { rest + base } else { rest }
}

/// `STR(number, width, decimals)`; with a width and nothing more there are no decimals.
fn text(call: &Call<'_>, a: &[Value<'_>]) -> Result<Vec<u8>, TooLong> {
    let n = a[0].number();
    let is_foxpro = call.environment.is_foxpro;
    let Some(width) = a.get(1) else {
        return Ok(match is_foxpro {
            true => format::number(n, 10, 0),
            false => format::shaped(n, call.shape(0)),
        });
    };
    let decimals = u8::try_from(a.get(2).map_or(0, Value::integer).clamp(0, 200)).unwrap_or_default();
    let width = usize::try_from(width.integer().max(0)).unwrap_or(usize::MAX);
    let width = if width == 0 { 10 } else { width };
    if width > MAX_MADE {
        return Err(TooLong(width));
    }
    let mut text = format::number(n, width, decimals);
    let mut decimals = if is_foxpro { decimals } else { 0 };
    while decimals > 0 && text.first() == Some(&b'*') {
        decimals -= 1;
        text = format::number(n, width, decimals);
    }
    Ok(text)
}
