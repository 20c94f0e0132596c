//! Moves from record to record, seeks, and where a table is.
//!
//! A function that takes a table or an order goes in the order of the file, or in that one.

use std::borrow::Cow;

use tidemill_ads::{Counted, Error, ErrorCode, OrderId, Result, SeekKey, SeekKind, WorkArea};
use tidemill_xbase::index::KeyType;

use crate::call::{call, refuse};
use crate::constants::*;
use crate::handle::{Handle, is_statement, with_any, with_area, with_led_order};
use crate::pointers::{Bytes, Name, Out};
use crate::statement::with_statement;
use crate::unicode::encoded;

/// Goes to the first record.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGotoTop(object: Handle) -> u32 {
    call(|| {
        with_any(object, |session, area, order| {
            session.connection.go_top(area, order, session.settings.now())
        })
    })
}

/// Goes to the last record.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGotoBottom(object: Handle) -> u32 {
    call(|| {
        with_any(object, |session, area, order| {
            session.connection.go_bottom(area, order, session.settings.now())
        })
    })
}

/// Goes so many records on, or back.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSkip(object: Handle, records: i32) -> u32 {
    call(|| {
        with_any(object, |session, area, order| {
            let settings = session.settings.now();
            session.connection.skip(area, order, records.into(), settings)
        })
    })
}

/// Goes so many keys on, or back.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSkipUnique(index: Handle, keys: i32) -> u32 {
    call(|| {
        with_led_order(index, |session, area, order| {
            session
                .connection
                .skip_unique(area, order, keys, session.settings.now())
        })
    })
}

/// Goes to a record by its number. One that the table has not got leads behind the last one; 0 does so without an error.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGotoRecord(table: Handle, record: u32) -> u32 {
    call(|| {
        let is_there = with_any(table, |session, area, _| {
            session.connection.go_to(area, record, session.settings.now())
        })?;
        match is_there || record == 0 {
            true => Ok(()),
            false => refuse(
                ErrorCode::InvalidRecordNumber,
                format!("the table has no record {record}"),
            ),
        }
    })
}

/// Goes before the first record.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGotoBOF(object: Handle) -> u32 {
    call(|| {
        with_any(object, |session, area, order| {
            session.connection.go_top(area, order, session.settings.now())?;
            session.connection.skip(area, order, -1, session.settings.now())
        })
    })
}

/// Goes behind the last record.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGotoEOF(object: Handle) -> u32 {
    call(|| {
        with_any(object, |session, area, order| {
            session.connection.go_bottom(area, order, session.settings.now())?;
            session.connection.skip(area, order, 1, session.settings.now())
        })
    })
}

/// Whether the table is before the first record.
#[unsafe(no_mangle)]
pub extern "C" fn AdsAtBOF(table: Handle, answer: Out<u16>) -> u32 {
    call(|| with_area(table, |area| answer.set(area.is_bof().into())))
}

/// Whether the table is behind the last record.
#[unsafe(no_mangle)]
pub extern "C" fn AdsAtEOF(table: Handle, answer: Out<u16>) -> u32 {
    call(|| with_area(table, |area| answer.set(area.is_eof().into())))
}

/// Whether the last seek found its key.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsFound(object: Handle, answer: Out<u16>) -> u32 {
    call(|| with_area(object, |area| answer.set(area.is_found().into())))
}

/// Looks for a key: `kind` says whether a greater one will do. 0, which SAP's help does not name, is a hard seek.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSeek(index: Handle, key: Bytes, len: u16, key_type: u16, kind: u16, found: Out<u16>) -> u32 {
    call(|| {
        let kind = match kind {
            ADS_SOFTSEEK => SeekKind::Soft,
            ADS_HARDSEEK | ADS_DEFAULT => SeekKind::Hard,
            ADS_SEEKGT => SeekKind::Behind,
            other => return refuse(ErrorCode::InvalidOption, format!("{other} is no kind of seek")),
        };
        seek(index, key, (len, key_type), kind, found)
    })
}

/// Looks for the last record of a key.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSeekLast(index: Handle, key: Bytes, len: u16, key_type: u16, found: Out<u16>) -> u32 {
    call(|| seek(index, key, (len, key_type), SeekKind::Last, found))
}

/// Whether a key is in an order; the table stays where it is.
#[unsafe(no_mangle)]
pub extern "C" fn AdsLookupKey(index: Handle, key: Bytes, len: u16, key_type: u16, found: Out<u16>) -> u32 {
    call(|| {
        with_led_order(index, |session, area, order| {
            let known = session.connection.area(area)?;
            let record = known.record_number()?;
            let given = given_key(key, len, key_type, (known, order))?;
            let is_found = session
                .connection
                .seek(area, order, given.as_key(), SeekKind::Hard, session.settings.now());
            session.connection.go_to(area, record, session.settings.now())?;
            found.set(is_found?.into())
        })
    })
}

fn seek(index: Handle, key: Bytes, (len, key_type): (u16, u16), kind: SeekKind, found: Out<u16>) -> Result<()> {
    let is_found = with_led_order(index, |session, area, order| {
        let known = session.connection.area(area)?;
        let given = given_key(key, len, key_type, (known, order))?;
        let settings = session.settings.now();
        session.connection.seek(area, order, given.as_key(), kind, settings)
    })?;
    match found.is_null() {
        true => Ok(()),
        false => found.set(is_found.into()),
    }
}

/// A key as C gave it.
pub(crate) enum GivenKey<'a> {
    Text(Cow<'a, [u8]>),
    Number(f64),
    Raw(&'a [u8]),
}

impl GivenKey<'_> {
    pub(crate) fn as_key(&self) -> SeekKey<'_> {
        match self {
            Self::Text(text) => SeekKey::Text(text),
            Self::Number(number) => SeekKey::Number(*number),
            Self::Raw(bytes) => SeekKey::Raw(bytes),
        }
    }
}

/// Reads a key for an order. Without a type it is text, or a double if the order has numbers and the key 8 bytes.
pub(crate) fn given_key<'a>(
    key: Bytes,
    len: u16,
    key_type: u16,
    (area, order): (&WorkArea, OrderId),
) -> Result<GivenKey<'a>> {
    let key_type = match key_type {
        ADS_DEFAULT if len == 8 && area.key_type(order)? == KeyType::Number => ADS_DOUBLEKEY,
        ADS_DEFAULT => ADS_STRINGKEY,
        given => given,
    };
    Ok(match key_type {
        ADS_DOUBLEKEY => match key.read(len.into())?.first_chunk() {
            Some(bytes) => GivenKey::Number(f64::from_ne_bytes(*bytes)),
            None => {
                let what = format!("a double has 8 bytes, and {len} are given");
                return refuse(ErrorCode::InvalidKeyLength, what);
            }
        },
        ADS_WSTRINGKEY => {
            let units = key.read(usize::from(len) & !1)?.chunks_exact(2);
            let units: Vec<u16> = units
                .filter_map(|unit| unit.first_chunk().copied().map(u16::from_ne_bytes))
                .collect();
            GivenKey::Text(encoded(&units, area.program_codepage())?.into())
        }
        ADS_STRINGKEY => GivenKey::Text(key.read(len.into())?.into()),
        ADS_RAWKEY => GivenKey::Raw(key.read(len.into())?),
        other => return refuse(ErrorCode::InvalidDataType, format!("{other} is no type of a key")),
    })
}

/// Looks record by record for a condition, from the first one or from the last one on.
#[unsafe(no_mangle)]
pub extern "C" fn AdsLocate(object: Handle, condition: Name, is_forward: u16, found: Out<u16>) -> u32 {
    call(|| {
        with_any(object, |session, area, order| {
            let condition = condition.needed()?;
            let is_found =
                session
                    .connection
                    .locate(area, order, &condition, is_forward != 0, session.settings.now())?;
            found.set(is_found.into())
        })
    })
}

/// Looks on for the condition of [`AdsLocate`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsContinue(table: Handle, found: Out<u16>) -> u32 {
    call(|| {
        with_any(table, |session, area, _| {
            found.set(session.connection.locate_on(area, session.settings.now())?.into())
        })
    })
}

/// The number of the current record.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetRecordNum(table: Handle, option: u16, answer: Out<u32>) -> u32 {
    call(|| {
        with_any(table, |session, area, order| {
            let known = session.connection.area(area)?;
            let record = known.record_number()?;
            if option != ADS_RESPECTFILTERS || !known.has_current_record() {
                return answer.set(record);
            }
            let number = session
                .connection
                .number(area, order, Counted::Shown, session.settings.now())?;
            answer.set(u32::try_from(number).unwrap_or(u32::MAX))
        })
    })
}

/// How many records there are.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetRecordCount(object: Handle, option: u16, answer: Out<u32>) -> u32 {
    call(|| {
        if is_statement(object) {
            let changed = with_statement(object, |statement| Ok(statement.changed()))?;
            return answer.set(u32::try_from(changed).unwrap_or(u32::MAX));
        }
        with_any(object, |session, area, order| {
            let counted = counted(option)?;
            let known = session.connection.area(area)?;
            if order.is_none() && counted != Counted::Shown && !known.is_cursor() {
                let count = known.live_count(session.settings.now())?;
                return answer.set(u32::try_from(count).unwrap_or(u32::MAX));
            }
            let count = session.connection.count(area, order, counted, session.settings.now())?;
            answer.set(u32::try_from(count).unwrap_or(u32::MAX))
        })
    })
}

/// How many entries an order has.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetKeyCount(index: Handle, option: u16, answer: Out<u32>) -> u32 {
    AdsGetRecordCount(index, option, answer)
}

/// The number of the current record in an order, from 1; 0 when it is not in it.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetKeyNum(index: Handle, option: u16, answer: Out<u32>) -> u32 {
    call(|| {
        with_led_order(index, |session, area, order| {
            let number = session
                .connection
                .number(area, Some(order), counted(option)?, session.settings.now())?;
            answer.set(u32::try_from(number).unwrap_or(u32::MAX))
        })
    })
}

/// Where the current record is between the first, 0, and the last, 1.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetRelKeyPos(index: Handle, answer: Out<f64>) -> u32 {
    call(|| {
        with_any(index, |session, area, order| {
            let (settings, connection) = (session.settings.now(), &mut session.connection);
            let is_eof = connection.area(area)?.is_eof();
            let number = connection.number(area, order, Counted::Shown, settings)?;
            let count = connection.count(area, order, Counted::Shown, settings)?;
            #[expect(clippy::cast_precision_loss, reason = "records are fewer than 2^32")]
            answer.set(match number {
                0 if is_eof => 1.0,
                0 => 0.0,
                number => (number as f64 - 0.5) / count as f64,
            })
        })
    })
}

/// Goes to where a part of the records lies behind: 0 is the first, 1 the last.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetRelKeyPos(index: Handle, position: f64) -> u32 {
    call(|| {
        if !(0.0..=1.0).contains(&position) {
            return refuse(ErrorCode::InvalidValue, format!("{position} is not between 0 and 1"));
        }
        with_any(index, |session, area, order| {
            let (settings, connection) = (session.settings.now(), &mut session.connection);
            let count = connection.count(area, order, Counted::Shown, settings)?;
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "records are fewer than 2^32, and the position is between 0 and 1"
            )]
            let number = (position * count as f64).floor() as u64 + 1;
            connection.go_number(area, order, number.min(count), settings)
        })
    })
}

/// Which records an option of filters means.
pub(crate) fn counted(option: u16) -> Result<Counted, Error> {
    match option & !ADS_REFRESHCOUNT {
        ADS_RESPECTFILTERS => Ok(Counted::Shown),
        ADS_IGNOREFILTERS | ADS_DEFAULT => Ok(Counted::All),
        ADS_RESPECTSCOPES => Ok(Counted::InScope),
        other => refuse(
            ErrorCode::InvalidFilterOption,
            format!("{other} is no option of filters"),
        ),
    }
}
