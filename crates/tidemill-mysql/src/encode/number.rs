//! Numbers of any type in a column of another: exactly, or not at all.

use std::io::Write as _;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_schema::DataType;

use super::cell::{Write, shown, texts};
use crate::data_type::{Integer, Type};
use crate::error::Misfit;

/// A number of an array.
enum Number<'a> {
    Whole(i128),
    Float(f64),
    /// Digits with a sign, and how many of them stand behind the point.
    Decimal(String, i8),
    Text(&'a str),
}

type Numbers<'a> = Box<dyn Fn(usize) -> Number<'a> + 'a>;

pub(super) fn number<'a>(array: &'a dyn Array, typ: &Type) -> Option<Write<'a>> {
    let numbers = numbers(array)?;
    let typ = typ.clone();
    Some(Box::new(move |row, out| {
        let number = numbers(row);
        number
            .write(&typ, out)
            .ok_or_else(|| Misfit::new(range(&typ), number.shown()))
    }))
}

fn numbers<'a>(array: &'a dyn Array) -> Option<Numbers<'a>> {
    fn whole<'a, T: ArrowPrimitiveType<Native: Into<i128>>>(array: &'a dyn Array) -> Numbers<'a> {
        let array = array.as_primitive::<T>();
        Box::new(|row| Number::Whole(array.value(row).into()))
    }
    fn decimal<'a, T: ArrowPrimitiveType<Native: std::fmt::Display>>(array: &'a dyn Array, scale: i8) -> Numbers<'a> {
        let array = array.as_primitive::<T>();
        Box::new(move |row| Number::Decimal(array.value(row).to_string(), scale))
    }
    Some(match array.data_type() {
        DataType::Boolean => {
            let array = array.as_boolean();
            Box::new(|row| Number::Whole(array.value(row).into()))
        }
        DataType::Int8 => whole::<Int8Type>(array),
        DataType::Int16 => whole::<Int16Type>(array),
        DataType::Int32 => whole::<Int32Type>(array),
        DataType::Int64 => whole::<Int64Type>(array),
        DataType::UInt8 => whole::<UInt8Type>(array),
        DataType::UInt16 => whole::<UInt16Type>(array),
        DataType::UInt32 => whole::<UInt32Type>(array),
        DataType::UInt64 => whole::<UInt64Type>(array),
        DataType::Float16 => {
            let array = array.as_primitive::<Float16Type>();
            Box::new(|row| Number::Float(array.value(row).to_f64()))
        }
        DataType::Float32 => {
            let array = array.as_primitive::<Float32Type>();
            Box::new(|row| Number::Float(f64::from(array.value(row))))
        }
        DataType::Float64 => {
            let array = array.as_primitive::<Float64Type>();
            Box::new(|row| Number::Float(array.value(row)))
        }
        DataType::Decimal32(_, scale) => decimal::<Decimal32Type>(array, *scale),
        DataType::Decimal64(_, scale) => decimal::<Decimal64Type>(array, *scale),
        DataType::Decimal128(_, scale) => decimal::<Decimal128Type>(array, *scale),
        DataType::Decimal256(_, scale) => decimal::<Decimal256Type>(array, *scale),
        _ => {
            let texts = texts(array)?;
            Box::new(move |row| Number::Text(texts(row).trim()))
        }
    })
}

impl Number<'_> {
    fn write(&self, typ: &Type, out: &mut Vec<u8>) -> Option<()> {
        match typ {
            Type::Integer(integer, is_unsigned) => {
                let value = self.whole()?;
                bounds(*integer, *is_unsigned).contains(&value).then_some(())?;
                push(value, out)
            }
            Type::Year => {
                let value = self.whole()?;
                (value == 0 || (1901..=2155).contains(&value)).then_some(())?;
                // The text 0 is the year 2000.
                write!(out, "{value:04}").ok()
            }
            Type::Bit(bits) => {
                let value = self.whole()?;
                (0..1_i128.checked_shl((*bits).into())?)
                    .contains(&value)
                    .then_some(())?;
                push(value, out)
            }
            Type::Float => {
                // As text the server would read it twice: as a double, and from that as a float.
                let value = match self {
                    Self::Text(_) | Self::Decimal(..) => f64::from(self.decimal_text()?.parse::<f32>().ok()?),
                    _ => self.float()?,
                };
                #[expect(clippy::cast_possible_truncation, reason = "what is lost is looked at")]
                let is_exact = value.is_finite() && f64::from(value as f32) == value;
                push_float(Some(value).filter(|_| is_exact)?, out)
            }
            Type::Double => push_float(self.float()?, out),
            Type::Decimal(precision, scale) => push_decimal(&self.decimal_text()?, *precision, *scale, out),
            _ => None,
        }
    }

    fn whole(&self) -> Option<i128> {
        match self {
            Self::Whole(value) => Some(*value),
            // Beyond that there are no 64 bits, and a conversion is exact below it.
            #[expect(clippy::cast_possible_truncation, reason = "a whole number of less than 66 bits")]
            Self::Float(value) => (value.fract() == 0.0 && value.abs() < 1.9e19).then_some(*value as i128),
            Self::Decimal(digits, scale) => {
                let value = digits.parse::<i128>().ok()?;
                let power = 10_i128.checked_pow(u32::from(scale.unsigned_abs()))?;
                match *scale {
                    0.. => (value % power == 0).then_some(value / power),
                    _ => value.checked_mul(power),
                }
            }
            Self::Text(text) => text.parse().ok(),
        }
    }

    fn float(&self) -> Option<f64> {
        let value = match self {
            Self::Float(value) => Some(*value),
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                reason = "what is lost is looked at"
            )]
            Self::Whole(value) => Some(*value as f64).filter(|float| *float as i128 == *value),
            Self::Decimal(digits, scale) => pointed(digits, *scale).parse().ok(),
            Self::Text(text) => text.parse().ok(),
        };
        // MySQL has no other, and too large a text is parsed as infinity.
        value.filter(|value| value.is_finite())
    }

    /// The number with a point, and without an exponent.
    fn decimal_text(&self) -> Option<String> {
        match self {
            Self::Whole(value) => Some(value.to_string()),
            // The shortest text that is read as the same number.
            Self::Float(value) => value.is_finite().then(|| value.to_string()),
            Self::Decimal(digits, scale) => Some(pointed(digits, *scale)),
            Self::Text(text) => {
                let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
                let is_number = unsigned.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
                    && unsigned.bytes().filter(|byte| *byte == b'.').count() < 2
                    && unsigned.bytes().any(|byte| byte.is_ascii_digit());
                is_number.then(|| text.trim_start_matches('+').to_owned())
            }
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Whole(value) => value.to_string(),
            Self::Float(value) => value.to_string(),
            Self::Decimal(digits, scale) => pointed(digits, *scale),
            Self::Text(text) => shown(text),
        }
    }
}

fn push(value: i128, out: &mut Vec<u8>) -> Option<()> {
    // Half as long as through 128 bits.
    match i64::try_from(value) {
        Ok(value) => write!(out, "{value}").ok(),
        Err(_) => write!(out, "{value}").ok(),
    }
}

/// With an exponent, without which the server would read a decimal.
fn push_float(value: f64, out: &mut Vec<u8>) -> Option<()> {
    write!(out, "{value:e}").ok()
}

/// Appends a decimal that has at most so many digits, of which so many stand behind the point.
fn push_decimal(text: &str, precision: u8, scale: u8, out: &mut Vec<u8>) -> Option<()> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", text),
    };
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    let fits = fraction.len() <= usize::from(scale) && whole.len() <= usize::from(precision.saturating_sub(scale));
    fits.then_some(())?;
    write!(out, "{sign}{}", if whole.is_empty() { "0" } else { whole }).ok()?;
    match fraction {
        "" => Some(()),
        fraction => write!(out, ".{fraction}").ok(),
    }
}

/// A number of digits, of which so many stand behind the point.
fn pointed(digits: &str, scale: i8) -> String {
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", digits),
    };
    let places = usize::from(scale.unsigned_abs());
    match scale {
        0 => format!("{sign}{digits}"),
        ..0 => format!("{sign}{digits}{}", "0".repeat(places)),
        _ => {
            let padded = format!("{digits:0>width$}", width = places + 1);
            let (whole, fraction) = padded.split_at(padded.len() - places);
            format!("{sign}{whole}.{fraction}")
        }
    }
}

fn bounds(integer: Integer, is_unsigned: bool) -> std::ops::RangeInclusive<i128> {
    let bits = match integer {
        Integer::Tiny => 8,
        Integer::Small => 16,
        Integer::Medium => 24,
        Integer::Int => 32,
        Integer::Big => 64,
    };
    match is_unsigned {
        true => 0..=(1 << bits) - 1,
        false => -(1 << (bits - 1))..=(1 << (bits - 1)) - 1,
    }
}

fn range(typ: &Type) -> String {
    match typ {
        Type::Integer(integer, is_unsigned) => {
            let bounds = bounds(*integer, *is_unsigned);
            format!("a whole number from {} to {}", bounds.start(), bounds.end())
        }
        Type::Year => "the year 0, or one from 1901 to 2155".to_owned(),
        Type::Bit(bits) => format!("a number of {bits} bits"),
        Type::Float => "a finite number that 4 bytes hold exactly".to_owned(),
        Type::Double => "a finite number that 8 bytes hold exactly".to_owned(),
        Type::Decimal(precision, scale) => {
            format!("a number with {precision} digits, {scale} of them behind the point")
        }
        typ => format!("a value of {typ}"),
    }
}
