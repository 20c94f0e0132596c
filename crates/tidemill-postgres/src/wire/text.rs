//! The text of values, from their bytes: what `boolout`, `numeric_out` and the others give under the settings that servers have by
//! default (`DateStyle` ISO, `IntervalStyle` postgres, `bytea_output` hex, `extra_float_digits` 1, the time zone UTC).

use std::io::Write as _;

use crate::data_type::Type;
use crate::error::Misfit;
use crate::numeric::Numeric;

/// Whether the text of a value is its bytes.
pub(super) fn is_its_bytes(typ: &Type) -> bool {
    match typ {
        Type::Text
        | Type::Varchar(_)
        | Type::Bpchar(_)
        | Type::Name
        | Type::Xml
        | Type::Json
        | Type::Enum(_)
        | Type::Other(_)
        | Type::Void => true,
        Type::Array(_) => !typ.is_known(),
        _ => false,
    }
}

/// Appends the text of a value.
pub(super) fn push(typ: &Type, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Misfit> {
    if is_its_bytes(typ) {
        out.extend_from_slice(bytes);
        return Ok(());
    }
    match typ {
        Type::Bool => out.push(if bytes == [1] { b't' } else { b'f' }),
        Type::Int2 => show(out, i16::from_be_bytes(fixed(typ, bytes)?)),
        Type::Int4 => show(out, i32::from_be_bytes(fixed(typ, bytes)?)),
        Type::Int8 => show(out, i64::from_be_bytes(fixed(typ, bytes)?)),
        Type::Oid => show(out, u32::from_be_bytes(fixed(typ, bytes)?)),
        Type::Float4 => {
            let value = f32::from_be_bytes(fixed(typ, bytes)?);
            float(out, &format!("{value:e}"), f64::from(value), FLOAT4_DIGITS);
        }
        Type::Float8 => {
            let value = f64::from_be_bytes(fixed(typ, bytes)?);
            float(out, &format!("{value:e}"), value, FLOAT8_DIGITS);
        }
        Type::Numeric(_) => Numeric::parse(bytes)?.push_text(out),
        Type::Jsonb => out.extend_from_slice(bytes.get(1..).unwrap_or_default()),
        Type::Bytea => {
            out.extend_from_slice(b"\\x");
            bytes.iter().for_each(|byte| hex(out, *byte));
        }
        Type::Date => {
            let era = date(out, i64::from(i32::from_be_bytes(fixed(typ, bytes)?)));
            out.extend_from_slice(era);
        }
        Type::Time => time(out, i64::from_be_bytes(fixed(typ, bytes)?)),
        Type::Timestamp => timestamp(out, i64::from_be_bytes(fixed(typ, bytes)?), b""),
        Type::TimestampTz => timestamp(out, i64::from_be_bytes(fixed(typ, bytes)?), b"+00"),
        Type::Interval => interval(out, fixed(typ, bytes)?),
        Type::Uuid => {
            for (place, byte) in fixed::<16>(typ, bytes)?.iter().enumerate() {
                if matches!(place, 4 | 6 | 8 | 10) {
                    out.push(b'-');
                }
                hex(out, *byte);
            }
        }
        Type::Array(element) => array(out, element, bytes)?,
        _ => out.extend_from_slice(bytes),
    }
    Ok(())
}

fn fixed<const N: usize>(typ: &Type, bytes: &[u8]) -> Result<[u8; N], Misfit> {
    bytes
        .try_into()
        .map_err(|_| Misfit::new(format!("{N} bytes of a {typ}"), format!("{} bytes", bytes.len())))
}

fn show(out: &mut Vec<u8>, value: impl std::fmt::Display) {
    // A vector takes everything.
    let _ = write!(out, "{value}");
}

fn hex(out: &mut Vec<u8>, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for half in [byte >> 4, byte & 15] {
        out.extend(DIGITS.get(usize::from(half)));
    }
}

/// How many digits a number has before its point, at most, without an exponent (`FLT_DIG` and `DBL_DIG`).
const FLOAT4_DIGITS: i32 = 6;
const FLOAT8_DIGITS: i32 = 15;

/// The shortest digits that mean the number, as `float8out` sets them. `scientific` is like `-1.5e-7`.
fn float(out: &mut Vec<u8>, scientific: &str, value: f64, digits_before_point: i32) {
    if value.is_nan() {
        return out.extend_from_slice(b"NaN");
    }
    if value.is_infinite() {
        let text: &[u8] = if value > 0.0 { b"Infinity" } else { b"-Infinity" };
        return out.extend_from_slice(text);
    }
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits = mantissa.trim_start_matches('-').replace('.', "");
    if mantissa.starts_with('-') {
        out.push(b'-');
    }
    if value == 0.0 {
        return out.push(b'0');
    }
    if exponent < -4 || exponent >= digits_before_point {
        let (first, rest) = digits.split_at(1.min(digits.len()));
        out.extend_from_slice(first.as_bytes());
        if !rest.is_empty() {
            out.push(b'.');
            out.extend_from_slice(rest.as_bytes());
        }
        let sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(out, "e{sign}{:02}", exponent.unsigned_abs());
        return;
    }
    let Ok(before) = usize::try_from(exponent + 1) else {
        out.extend_from_slice(b"0.");
        out.resize(out.len() + usize::try_from(-exponent - 1).unwrap_or(0), b'0');
        return out.extend_from_slice(digits.as_bytes());
    };
    match digits.split_at_checked(before) {
        Some((whole, part)) => {
            out.extend_from_slice(if whole.is_empty() { b"0" } else { whole.as_bytes() });
            if !part.is_empty() {
                out.push(b'.');
                out.extend_from_slice(part.as_bytes());
            }
        }
        None => {
            out.extend_from_slice(digits.as_bytes());
            out.resize(out.len() + before - digits.len(), b'0');
        }
    }
}

/// A day since 2000-01-01. Returns what stands at the end, behind a time too.
fn date(out: &mut Vec<u8>, days: i64) -> &'static [u8] {
    let (year, month, day) = civil(days);
    // There is no year 0: before 1 comes 1 BC.
    let (year, era): (i64, &[u8]) = if year > 0 { (year, b"") } else { (1 - year, b" BC") };
    let _ = write!(out, "{year:04}-{month:02}-{day:02}");
    era
}

/// Year, month and day of the Gregorian calendar, of a day since 2000-01-01. The year 0 is 1 BC.
fn civil(days: i64) -> (i64, i64, i64) {
    // Years that begin with March, in cycles of 400 years, so that leap days are last.
    let days = days + 730_425;
    let (cycle, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (cycle * 400 + year + later, month, day)
}

fn time(out: &mut Vec<u8>, microseconds: i64) {
    let seconds = microseconds / 1_000_000;
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let _ = write!(out, "{hours:02}:{minutes:02}:{rest:02}");
    fraction(out, microseconds % 1_000_000);
}

/// Millionths behind the point, without zeros at the end.
fn fraction(out: &mut Vec<u8>, millionths: i64) {
    if millionths != 0 {
        let digits = format!("{:06}", millionths.unsigned_abs());
        out.push(b'.');
        out.extend_from_slice(digits.trim_end_matches('0').as_bytes());
    }
}

fn timestamp(out: &mut Vec<u8>, microseconds: i64, zone: &[u8]) {
    let era = date(out, microseconds.div_euclid(DAY));
    out.push(b' ');
    time(out, microseconds.rem_euclid(DAY));
    out.extend_from_slice(zone);
    out.extend_from_slice(era);
}

/// As `IntervalStyle` postgres shows it: `1 year 2 mons -3 days +04:05:06`.
fn interval(out: &mut Vec<u8>, bytes: [u8; 16]) {
    let [m0, m1, m2, m3, m4, m5, m6, m7, d0, d1, d2, d3, y0, y1, y2, y3] = bytes;
    let microseconds = i64::from_be_bytes([m0, m1, m2, m3, m4, m5, m6, m7]);
    let days = i32::from_be_bytes([d0, d1, d2, d3]);
    let months = i32::from_be_bytes([y0, y1, y2, y3]);
    let (begin, mut was_negative) = (out.len(), false);
    for (count, unit) in [(months / 12, "year"), (months % 12, "mon"), (days, "day")] {
        if count != 0 {
            let gap = if out.len() > begin { " " } else { "" };
            let sign = if was_negative && count > 0 { "+" } else { "" };
            let plural = if count == 1 { "" } else { "s" };
            let _ = write!(out, "{gap}{sign}{count} {unit}{plural}");
            was_negative = count < 0;
        }
    }
    if microseconds == 0 && out.len() > begin {
        return;
    }
    if out.len() > begin {
        out.push(b' ');
    }
    match microseconds {
        ..0 => out.push(b'-'),
        _ if was_negative => out.push(b'+'),
        _ => {}
    }
    let size = microseconds.unsigned_abs();
    let seconds = size / 1_000_000;
    let _ = write!(
        out,
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    );
    fraction(out, i64::try_from(size % 1_000_000).unwrap_or(0));
}

/// `array_out`: `{1,NULL,"a b"}`. The bytes are those of one dimension, which `encode` writes.
fn array(out: &mut Vec<u8>, element: &Type, bytes: &[u8]) -> Result<(), Misfit> {
    out.push(b'{');
    // Dimensions, whether there are NULLs, the type; of the dimension its length and its first number.
    let mut rest = bytes.get(20..).unwrap_or_default();
    let mut is_first = true;
    while let Some((length, behind)) = rest.split_first_chunk::<4>() {
        if !std::mem::take(&mut is_first) {
            out.push(b',');
        }
        let length = i32::from_be_bytes(*length);
        let Ok(length) = usize::try_from(length) else {
            out.extend_from_slice(b"NULL");
            rest = behind;
            continue;
        };
        let Some((value, behind)) = behind.split_at_checked(length) else {
            return Err(Misfit::new(
                format!("{length} bytes of an item"),
                format!("{} bytes", behind.len()),
            ));
        };
        let mut text = Vec::new();
        push(element, value, &mut text)?;
        push_item(out, &text);
        rest = behind;
    }
    out.push(b'}');
    Ok(())
}

/// An item of an array, quoted where its text could mean something else.
fn push_item(out: &mut Vec<u8>, text: &[u8]) {
    let is_special =
        |byte: &u8| matches!(byte, b'"' | b'\\' | b'{' | b'}' | b',') || byte.is_ascii_whitespace() || *byte == 0x0b;
    if !text.is_empty() && !text.eq_ignore_ascii_case(b"null") && !text.iter().any(is_special) {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    for byte in text {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out.push(b'"');
}

/// Appends the bytes of a `bytea` whose text is `\x00ff`, or has `\\` and `\377` in it.
pub(super) fn push_bytea(text: &str, out: &mut Vec<u8>) -> Result<(), Misfit> {
    let wrong = || Misfit::new("a bytea, such as \\x00ff", crate::encode::shown(text));
    if let Some(digits) = text.strip_prefix("\\x") {
        return crate::encode::push_hex(digits, out).ok_or_else(wrong);
    }
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        rest = match (first, behind) {
            (b'\\', [b'\\', behind @ ..]) => {
                out.push(b'\\');
                behind
            }
            (b'\\', [high @ b'0'..=b'3', middle @ b'0'..=b'7', low @ b'0'..=b'7', behind @ ..]) => {
                out.push((high - b'0') << 6 | (middle - b'0') << 3 | (low - b'0'));
                behind
            }
            (b'\\', _) => return Err(wrong()),
            (byte, behind) => {
                out.push(*byte);
                behind
            }
        };
    }
    Ok(())
}

/// In microseconds.
const DAY: i64 = 86_400_000_000;
