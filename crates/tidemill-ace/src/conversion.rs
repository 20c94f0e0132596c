//! Dates and times as numbers and texts.

use tidemill_ads::{DateFormat, ErrorCode, Result};

use crate::call::{call, refuse};
use crate::handle::{Handle, with_connection};
use crate::pointers::{Bytes, Out, text_of};
use crate::settings::settings;

/// A Julian day number as text.
#[unsafe(no_mangle)]
pub extern "C" fn AdsConvertJulianToString(day: f64, text: Bytes, len: Out<u16>) -> u32 {
    call(|| text.put(settings().date_format.format(whole(day)?).as_bytes(), len))
}

/// The Julian day number of a text.
#[unsafe(no_mangle)]
pub extern "C" fn AdsConvertStringToJulian(text: Bytes, len: u16, answer: Out<f64>) -> u32 {
    call(|| julian_of(text, len, answer))
}

/// As [`AdsConvertStringToJulian`], in the date format of a connection; with 0 in that of all.
#[unsafe(no_mangle)]
pub extern "C" fn AdsConvertDateToJulian(connection: Handle, text: Bytes, len: u16, answer: Out<f64>) -> u32 {
    call(|| with_connection(connection, |_| julian_of(text, len, answer)))
}

fn julian_of(text: Bytes, len: u16, answer: Out<f64>) -> Result<()> {
    let settings = settings();
    let day = settings
        .date_format
        .parse(&text_of(text.read(len.into())?), settings.epoch)?;
    #[expect(clippy::cast_precision_loss, reason = "days are few")]
    answer.set(day as f64)
}

/// The date of a record's bytes, `CCYYMMDD` or blanks, in the date format that is set, with a NUL behind it.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDBFDateToString(date: Bytes, text: Bytes) -> u32 {
    call(|| {
        let settings = settings();
        let stored = text_of(date.read(8)?);
        let day = match stored.trim().is_empty() {
            true => 0,
            false => DateFormat::new("CCYYMMDD")?.parse(&stored, settings.epoch)?,
        };
        let formatted = settings.date_format.format(day);
        text.write(formatted.as_bytes(), formatted.len() + 1)
    })
}

/// The number of a numeric key of a CDX order: eight bytes that sort as the numbers do.
#[unsafe(no_mangle)]
pub extern "C" fn AdsConvertKeyToDouble(key: Bytes, answer: Out<f64>) -> u32 {
    call(|| match key.read(8)?.first_chunk() {
        Some(bytes) => {
            let bits = u64::from_be_bytes(*bytes);
            answer.set(f64::from_bits(match bits >> 63 {
                1 => bits ^ 1 << 63,
                _ => !bits,
            }))
        }
        None => refuse(ErrorCode::InvalidKeyLength, "a numeric key has 8 bytes"),
    })
}

/// Milliseconds since midnight as text.
#[unsafe(no_mangle)]
pub extern "C" fn AdsConvertMillisecondsToString(ms: u32, text: Bytes, len: Out<u16>) -> u32 {
    call(|| match ms {
        0..86_400_000 => text.put(tidemill_ads::clock(ms.into()).as_bytes(), len),
        _ => refuse(ErrorCode::InvalidValue, format!("{ms} ms are more than a day")),
    })
}

/// The milliseconds since midnight of a text.
#[unsafe(no_mangle)]
pub extern "C" fn AdsConvertStringToMilliseconds(text: Bytes, len: u16, answer: Out<u32>) -> u32 {
    call(|| {
        let ms = tidemill_ads::time_of(&text_of(text.read(len.into())?))?;
        answer.set(u32::try_from(ms).unwrap_or_default())
    })
}

fn whole(day: f64) -> Result<i64> {
    if !(0.0..1e7).contains(&day) {
        return refuse(ErrorCode::InvalidDate, format!("{day} is no day of a calendar"));
    }
    #[expect(clippy::cast_possible_truncation, reason = "it was compared with the bounds")]
    Ok(day as i64)
}
