//! Dates and times as numbers and texts.

use tidemill_ads::{ErrorCode, Result};

use crate::call::{call, refuse};
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
    call(|| {
        let settings = settings();
        let day = settings
            .date_format
            .parse(&text_of(text.read(len.into())?), settings.epoch)?;
        #[expect(clippy::cast_precision_loss, reason = "days are few")]
        answer.set(day as f64)
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
