//! Numbers of any type in a column of another: exactly, or not at all.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_schema::DataType;

use super::cell::{Cell, shown, texts};
use crate::data_type::Type;
use crate::error::Misfit;
use crate::numeric::{Decimal, INFINITY_BYTES, NAN_BYTES};

/// A number of an array.
enum Number<'a> {
    Whole(i128),
    Float(f64),
    /// Digits with a sign, and how many of them stand behind the point.
    Decimal(String, i8),
    Text(&'a str),
}

type Numbers<'a> = Box<dyn Fn(usize) -> Number<'a> + 'a>;

pub(super) fn number<'a>(array: &'a dyn Array, typ: &Type) -> Option<Cell<'a>> {
    if let Some(cell) = same(array, typ) {
        return Some(cell);
    }
    let numbers = numbers(array)?;
    let typ = typ.clone();
    Some(Box::new(move |row, out| {
        let number = numbers(row);
        number
            .write(&typ, out)
            .ok_or_else(|| Misfit::new(range(&typ), number.shown()))
    }))
}

/// Numbers that are sent as they are.
fn same<'a>(array: &'a dyn Array, typ: &Type) -> Option<Cell<'a>> {
    macro_rules! sent {
        ($arrow:ty) => {{
            let array = array.as_primitive::<$arrow>();
            Some(Box::new(|row, out| {
                out.extend_from_slice(&array.value(row).to_be_bytes());
                Ok(())
            }))
        }};
    }
    match (typ, array.data_type()) {
        (Type::Int2, DataType::Int16) => sent!(Int16Type),
        (Type::Int4, DataType::Int32) => sent!(Int32Type),
        (Type::Int8, DataType::Int64) => sent!(Int64Type),
        (Type::Oid, DataType::UInt32) => sent!(UInt32Type),
        (Type::Float4, DataType::Float32) => sent!(Float32Type),
        (Type::Float8, DataType::Float64) => sent!(Float64Type),
        _ => None,
    }
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
            Box::new(move |row| Number::Text(texts(row)))
        }
    })
}

impl Number<'_> {
    fn write(&self, typ: &Type, out: &mut Vec<u8>) -> Option<()> {
        match typ {
            Type::Int2 => out.extend_from_slice(&i16::try_from(self.whole()?).ok()?.to_be_bytes()),
            Type::Int4 => out.extend_from_slice(&i32::try_from(self.whole()?).ok()?.to_be_bytes()),
            Type::Int8 => out.extend_from_slice(&i64::try_from(self.whole()?).ok()?.to_be_bytes()),
            Type::Oid => out.extend_from_slice(&u32::try_from(self.whole()?).ok()?.to_be_bytes()),
            Type::Float4 => {
                let value = match self {
                    Self::Text(text) => text
                        .trim()
                        .parse()
                        .ok()
                        .filter(|found: &f32| found.is_finite() || is_special(text))?,
                    Self::Decimal(digits, scale) => pointed(digits, *scale).parse().ok()?,
                    _ => {
                        let value = self.float()?;
                        #[expect(clippy::cast_possible_truncation, reason = "what is lost is looked at")]
                        let narrow = value as f32;
                        Some(narrow).filter(|narrow| f64::from(*narrow) == value || value.is_nan())?
                    }
                };
                out.extend_from_slice(&value.to_be_bytes());
            }
            Type::Float8 => out.extend_from_slice(&self.float()?.to_be_bytes()),
            Type::Numeric(limits) => return self.write_numeric(*limits, out),
            _ => return None,
        }
        Some(())
    }

    fn whole(&self) -> Option<i128> {
        match self {
            Self::Whole(value) => Some(*value),
            // Beyond that there are no 64 bits, and a conversion is exact below it.
            #[expect(clippy::cast_possible_truncation, reason = "a whole number of less than 64 bits")]
            Self::Float(value) => (value.fract() == 0.0 && value.abs() < 9.3e18).then_some(*value as i128),
            Self::Decimal(digits, scale) => {
                let value = digits.parse::<i128>().ok()?;
                let power = 10_i128.checked_pow(u32::from(scale.unsigned_abs()))?;
                match *scale {
                    0.. => (value % power == 0).then_some(value / power),
                    _ => value.checked_mul(power),
                }
            }
            Self::Text(text) => text.trim().parse().ok(),
        }
    }

    fn float(&self) -> Option<f64> {
        match self {
            Self::Float(value) => Some(*value),
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                reason = "what is lost is looked at"
            )]
            Self::Whole(value) => Some(*value as f64).filter(|float| *float as i128 == *value),
            Self::Decimal(digits, scale) => pointed(digits, *scale).parse().ok(),
            // Too large a number would be parsed as infinity.
            Self::Text(text) => text
                .trim()
                .parse()
                .ok()
                .filter(|found: &f64| found.is_finite() || is_special(text)),
        }
    }

    fn write_numeric(&self, limits: Option<(u16, i16)>, out: &mut Vec<u8>) -> Option<()> {
        let text;
        let (is_negative, digits, scale) = match self {
            Self::Whole(value) => {
                text = value.unsigned_abs().to_string();
                (*value < 0, text.clone(), 0)
            }
            Self::Decimal(signed, scale) => match signed.strip_prefix('-') {
                Some(digits) => (true, digits.to_owned(), i32::from(*scale)),
                None => (false, signed.clone(), i32::from(*scale)),
            },
            Self::Float(value) if value.is_nan() => {
                out.extend_from_slice(&NAN_BYTES);
                return Some(());
            }
            Self::Float(value) if value.is_infinite() => return infinite(*value < 0.0, limits, out),
            // The shortest text that is read as the same number.
            Self::Float(value) => {
                text = value.to_string();
                parsed(&text)?
            }
            Self::Text(text) => match text.trim().to_ascii_lowercase().as_str() {
                "nan" => {
                    out.extend_from_slice(&NAN_BYTES);
                    return Some(());
                }
                "infinity" => return infinite(false, limits, out),
                "-infinity" => return infinite(true, limits, out),
                text => parsed(text)?,
            },
        };
        let decimal = Decimal {
            is_negative,
            digits: digits.as_bytes(),
            scale,
        };
        match limits {
            Some((precision, scale)) if !decimal.fits(precision, scale) => None,
            _ => decimal.write(out),
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

/// Only a `numeric` without limits has it.
fn infinite(is_negative: bool, limits: Option<(u16, i16)>, out: &mut Vec<u8>) -> Option<()> {
    let [positive, negative] = INFINITY_BYTES;
    out.extend_from_slice(if is_negative { &negative } else { &positive });
    limits.is_none().then_some(())
}

/// Whether a text says that the number is not finite.
fn is_special(text: &str) -> bool {
    text.bytes().all(|byte| !byte.is_ascii_digit())
}

/// `digits` divided by 10 to `scale`, in a form that is parsed.
fn pointed(digits: &str, scale: i8) -> String {
    match scale {
        0 => digits.to_owned(),
        _ => format!("{digits}e{}", -i16::from(scale)),
    }
}

/// The sign, the digits and how many of them stand behind the point, of a number as people write it: `-12.50`, `1.5e-3`.
fn parsed(text: &str) -> Option<(bool, String, i32)> {
    let (is_negative, rest) = match text.as_bytes() {
        [b'-', ..] => (true, text.get(1..)?),
        [b'+', ..] => (false, text.get(1..)?),
        _ => (false, text),
    };
    let (number, exponent) = match rest.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (rest, 0),
    };
    let (whole, behind) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{behind}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let scale = i32::try_from(behind.len()).ok()?.checked_sub(exponent)?;
    // Beyond that no number is, and sums of it do not overflow.
    const FARTHEST: i32 = 1 << 20;
    (scale.abs() <= FARTHEST).then_some((is_negative, digits, scale))
}

fn range(typ: &Type) -> String {
    match typ {
        Type::Int2 => "a whole number from -32768 to 32767".to_owned(),
        Type::Int4 => "a whole number from -2147483648 to 2147483647".to_owned(),
        Type::Int8 => "a whole number from -9223372036854775808 to 9223372036854775807".to_owned(),
        Type::Oid => "a whole number from 0 to 4294967295".to_owned(),
        Type::Float4 => "a number that a real holds exactly".to_owned(),
        Type::Float8 => "a number that a double precision holds exactly".to_owned(),
        typ => format!("a number that a {typ} holds exactly"),
    }
}
