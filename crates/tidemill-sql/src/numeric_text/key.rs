//! Keys whose byte order is the order of the values.

use std::sync::{Arc, LazyLock};

use arrow_array::builder::BinaryBuilder;
use arrow_array::cast::AsArray as _;
use arrow_array::types::IntervalMonthDayNanoType;
use arrow_array::{Array as _, ArrayRef, Decimal128Array};
use arrow_schema::{DataType, IntervalUnit};
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};

/// The name of the function that makes the key of a number. The space keeps statements from calling it.
pub(crate) const NUMERIC_KEY: &str = "numeric key";

const INTERVAL_KEY: &str = "interval key";

/// Converts text by [`numeric`].
pub(super) fn numeric_key() -> Arc<ScalarUDF> {
    static FUNCTION: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| KeyFunction::of(NUMERIC_KEY, DataType::Utf8));
    Arc::clone(&FUNCTION)
}

/// Converts an interval to nanoseconds, with months of 30 days and days of 24 hours.
pub(super) fn interval_key() -> Arc<ScalarUDF> {
    static FUNCTION: LazyLock<Arc<ScalarUDF>> =
        LazyLock::new(|| KeyFunction::of(INTERVAL_KEY, DataType::Interval(IntervalUnit::MonthDayNano)));
    Arc::clone(&FUNCTION)
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct KeyFunction {
    name: &'static str,
    signature: Signature,
}

impl KeyFunction {
    fn of(name: &'static str, argument: DataType) -> Arc<ScalarUDF> {
        Arc::new(ScalarUDF::from(Self {
            name,
            signature: Signature::exact(vec![argument], Volatility::Immutable),
        }))
    }
}

impl ScalarUDFImpl for KeyFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match self.name {
            INTERVAL_KEY => DataType::Decimal128(38, 0),
            _ => DataType::Binary,
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let [values] = arrays.as_slice() else {
            return internal_err!("{} of {} values", self.name, arrays.len());
        };
        let keys: ArrayRef = match self.name {
            INTERVAL_KEY => {
                let values = values.as_primitive::<IntervalMonthDayNanoType>().iter();
                let keys = values.map(|value| {
                    let value = value?;
                    let days = i128::from(value.months) * DAYS_OF_A_MONTH + i128::from(value.days);
                    Some(days * NANOSECONDS_OF_A_DAY + i128::from(value.nanoseconds))
                });
                Arc::new(keys.collect::<Decimal128Array>().with_precision_and_scale(38, 0)?)
            }
            _ => {
                let values = values.as_string::<i32>();
                let mut keys = BinaryBuilder::with_capacity(values.len(), values.value_data().len());
                let mut key = Vec::new();
                for value in values {
                    match value {
                        None => keys.append_null(),
                        Some(value) if write_numeric(value, &mut key) => keys.append_value(&key),
                        Some(value) => return Err(DataFusionError::Execution(format!("{value:?} is no number"))),
                    }
                }
                Arc::new(keys.finish())
            }
        };
        Ok(ColumnarValue::Array(keys))
    }
}

const DAYS_OF_A_MONTH: i128 = 30;

const NANOSECONDS_OF_A_DAY: i128 = 24 * 60 * 60 * 1_000_000_000;

/// The first byte of a key.
mod class {
    pub(super) const NEGATIVE_INFINITY: u8 = 0;
    pub(super) const NEGATIVE: u8 = 1;
    pub(super) const ZERO: u8 = 2;
    pub(super) const POSITIVE: u8 = 3;
    pub(super) const INFINITY: u8 = 4;
    /// Above all others, as in PostgreSQL.
    pub(super) const NAN: u8 = 5;
}

/// The key of a number written with digits, a point and an exponent, or as `NaN` or `Infinity`; `None` for other text.
///
/// It consists of a class, the power of ten that the digits are a fraction of, and the digits, each plus one, ended by a zero byte. For a
/// negative number, all bytes after the class are inverted.
pub(crate) fn numeric(text: &str) -> Option<Vec<u8>> {
    let mut key = Vec::new();
    write_numeric(text, &mut key).then_some(key)
}

/// Writes [`numeric`] into the buffer, whose contents are replaced. Returns whether there is a key.
fn write_numeric(text: &str, key: &mut Vec<u8>) -> bool {
    key.clear();
    let text = text.trim();
    let (is_negative, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => (true, unsigned),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let is = |word: &str| unsigned.eq_ignore_ascii_case(word);
    if is("nan") {
        key.push(class::NAN);
        return true;
    }
    if is("infinity") || is("inf") {
        key.push(if is_negative {
            class::NEGATIVE_INFINITY
        } else {
            class::INFINITY
        });
        return true;
    }
    let Some((whole, fraction, exponent)) = parts(unsigned) else {
        return false;
    };
    let digits = || whole.bytes().chain(fraction.bytes());
    let zeros = digits().take_while(|digit| *digit == b'0').count();
    let zeros_behind = digits().rev().take_while(|digit| *digit == b'0').count();
    let Some(significant) = (whole.len() + fraction.len())
        .checked_sub(zeros + zeros_behind)
        .filter(|count| *count > 0)
    else {
        key.push(class::ZERO);
        return true;
    };
    let power = i64::try_from(whole.len()).ok().zip(i64::try_from(zeros).ok());
    let power = power.map(|(whole, zeros)| whole - zeros + i64::from(exponent));
    let Some(power) = power.and_then(|power| i32::try_from(power).ok()) else {
        return false;
    };
    key.push(if is_negative { class::NEGATIVE } else { class::POSITIVE });
    key.extend((power.cast_unsigned() ^ SIGN).to_be_bytes());
    key.extend(digits().skip(zeros).take(significant).map(|digit| digit - b'0' + 1));
    key.push(0);
    if is_negative {
        key.iter_mut().skip(1).for_each(|byte| *byte = !*byte);
    }
    true
}

/// The digits before and after the point, and the exponent.
fn parts(unsigned: &str) -> Option<(&str, &str, i32)> {
    let (digits, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse().ok()?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut all = whole.bytes().chain(fraction.bytes());
    let is_number = all.all(|byte| byte.is_ascii_digit()) && !(whole.is_empty() && fraction.is_empty());
    is_number.then_some((whole, fraction, exponent))
}

/// The number of a key, as text for PostgreSQL.
#[cfg(any(test, feature = "postgres"))]
pub(super) fn number(key: &[u8]) -> Option<String> {
    let (class, behind) = key.split_first()?;
    let is_negative = match *class {
        class::NEGATIVE_INFINITY => return Some("-Infinity".to_owned()),
        class::INFINITY => return Some("Infinity".to_owned()),
        class::NAN => return Some("NaN".to_owned()),
        class::ZERO => return Some("0".to_owned()),
        class => class == class::NEGATIVE,
    };
    let behind: Vec<u8> = behind
        .iter()
        .map(|byte| if is_negative { !byte } else { *byte })
        .collect();
    let (power, digits) = behind.split_first_chunk()?;
    let power = (u32::from_be_bytes(*power) ^ SIGN).cast_signed();
    let digits: String = digits
        .iter()
        .take_while(|byte| **byte != 0)
        .map(|byte| char::from(byte - 1 + b'0'))
        .collect();
    let sign = if is_negative { "-" } else { "" };
    Some(match usize::try_from(power) {
        Ok(places) if places <= digits.len() => {
            let (whole, fraction) = digits.split_at(places);
            let whole = if whole.is_empty() { "0" } else { whole };
            let point = if fraction.is_empty() { "" } else { "." };
            format!("{sign}{whole}{point}{fraction}")
        }
        _ => format!("{sign}0.{digits}e{power}"),
    })
}

/// Flipping this bit gives the bytes of a signed number its order.
const SIGN: u32 = 1 << 31;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_order_of_the_numbers() {
        let ascending = [
            "-Infinity",
            "-1e400",
            "-100",
            "-10.5",
            "-10.05",
            "-10",
            "-9",
            "-1",
            "-0.9",
            "-0.10",
            "-0.09",
            "-1e-30",
            "0",
            "1e-400",
            "0.001",
            "0.09",
            "0.1",
            "0.11",
            "0.9",
            "1",
            "1.000000000000000000000000000000000000000000001",
            "9",
            "10",
            "10.05",
            "10.5",
            "11",
            "99.99",
            "100",
            "1234567890123456789012345678901234567890",
            "1e400",
            "Infinity",
            "NaN",
        ];
        for pair in ascending.windows(2) {
            let [less, more] = pair else { continue };
            assert!(numeric(less).unwrap() < numeric(more).unwrap(), "{less} {more}");
        }
    }

    #[test]
    fn one_number_has_one_key() {
        for (one, other) in [
            ("1", "1.000"),
            ("-0", "0.00"),
            ("007", "7"),
            ("1.5e1", "15"),
            (".5", "0.50"),
            ("5.", "5"),
            ("1E+2", "100"),
            (" 3 ", "3"),
            ("12300e-2", "123.0"),
        ] {
            assert_eq!(numeric(one).unwrap(), numeric(other).unwrap(), "{one} {other}");
        }
    }

    #[test]
    fn what_is_no_number_has_no_key() {
        for text in [
            "",
            " ",
            "-",
            ".",
            "1,5",
            "0x10",
            "1e",
            "e5",
            "1e99999999999",
            "abc",
            "1 2",
            "--1",
        ] {
            assert_eq!(numeric(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_key_tells_its_number() {
        for (text, expected) in [
            ("12.50", "12.5"),
            ("-12.50", "-12.5"),
            ("0.05", "0.5e-1"),
            ("0.5", "0.5"),
            ("1500", "0.15e4"),
            ("15", "15"),
            ("0.000", "0"),
            ("nan", "NaN"),
            ("-inf", "-Infinity"),
        ] {
            let key = numeric(text).unwrap();
            let told = number(&key).unwrap();
            assert_eq!(told, expected);
            assert_eq!(numeric(&told).unwrap(), key, "{text}");
        }
    }
}
