//! Fields: described, read and written. A field is named, or numbered from 1 in the place of its name.

use tidemill_ads::sql::Value;
use tidemill_ads::{ErrorCode, FieldType, Result, Settings, WorkArea};
use tidemill_xbase::{CodePage, FieldKind};

use crate::call::{call, refuse};
use crate::constants::*;
use crate::handle::{Handle, is_statement, with_any, with_area};
use crate::pointers::{Bytes, Field, Name, Out, text_of};
use crate::settings::settings;
use crate::statement::with_statement;
use crate::unicode::set_units;

/// Does something with a field of a table.
pub(crate) fn with_field<T>(
    table: Handle,
    field: Field,
    work: impl FnOnce(&mut WorkArea, usize) -> Result<T>,
) -> Result<T> {
    with_shown(table, field, |area, field, _| work(area, field))
}

/// As [`with_field`], with the settings that say how values are shown.
pub(crate) fn with_shown<T>(
    table: Handle,
    field: Field,
    work: impl FnOnce(&mut WorkArea, usize, &Settings) -> Result<T>,
) -> Result<T> {
    with_any(table, |session, area, _| {
        let (area, settings) = (session.connection.area(area)?, session.settings.now());
        let field = field.of(area)?;
        work(area, field, settings)
    })
}

/// As [`with_shown`], with the way to trim: where none is asked for, that of the connection for texts of a fixed width.
pub(crate) fn with_text<T>(
    table: Handle,
    field: Field,
    option: u16,
    work: impl FnOnce(&mut WorkArea, usize, u16, &Settings) -> Result<T>,
) -> Result<T> {
    with_any(table, |session, area, _| {
        let trims = session.opening.trims && option == ADS_NONE;
        let (area, settings) = (session.connection.area(area)?, session.settings.now());
        let field = field.of(area)?;
        let is_text = |kind| matches!(kind, FieldType::String | FieldType::CaseInsensitiveString);
        let option = match trims && is_text(area.field_type(field)?) {
            true => ADS_RTRIM,
            false => option,
        };
        work(area, field, option, settings)
    })
}

/// Does something with a field that is to be changed: of the current record, or with the handle of an order of the key that is
/// put together for it ([`AdsInitRawKey`](crate::AdsInitRawKey)).
fn with_changed(
    object: Handle,
    field: Field,
    work: impl FnOnce(&mut WorkArea, usize, &Settings) -> Result<()>,
) -> Result<()> {
    with_any(object, |session, area, order| {
        let (area, settings) = (session.connection.area(area)?, session.settings.now());
        let field = field.of(area)?;
        match order.is_some_and(|order| area.builds_raw_key(order)) {
            true => area.in_raw_key(|area| work(area, field, settings)),
            false => work(area, field, settings),
        }
    })
}

/// Gives a field of a table, or a parameter of a statement, a value.
pub(crate) fn set_value(
    target: Handle,
    field: Field,
    value: impl FnOnce() -> Result<Value>,
    work: impl FnOnce(&mut WorkArea, usize, &Settings) -> Result<()>,
) -> Result<()> {
    match is_statement(target) {
        true => with_statement(target, |statement| {
            let value = statement.with_session(|_| value())?;
            statement.set(field, value)
        }),
        false => with_changed(target, field, work),
    }
}

/// The day of a Julian day number as statements have it.
fn day(julian: i64) -> Result<Value> {
    if julian == 0 {
        return Ok(Value::Null);
    }
    match i32::try_from(julian - UNIX_EPOCH) {
        Ok(day) => Ok(Value::Date(day)),
        Err(_) => refuse(ErrorCode::InvalidDate, format!("{julian} is no day of a calendar")),
    }
}

/// The Julian day number of 1970-01-01.
const UNIX_EPOCH: i64 = 2_440_588;

/// How many fields a table has.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetNumFields(table: Handle, answer: Out<u16>) -> u32 {
    call(|| {
        with_area(table, |area| {
            answer.set(u16::try_from(area.column_count()).unwrap_or(u16::MAX))
        })
    })
}

/// The name of a field.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetFieldName(table: Handle, field: u16, name: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        with_area(table, |area| {
            let Some(field) = usize::from(field).checked_sub(1) else {
                return refuse(ErrorCode::InvalidFieldNumber, "fields are counted from 1");
            };
            name.put(area.column_name(field)?.as_bytes(), len)
        })
    })
}

/// The number of a field.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetFieldNum(table: Handle, field: Field, answer: Out<u16>) -> u32 {
    call(|| {
        with_area(table, |area| {
            let column = field.column_of(area)?;
            answer.set(u16::try_from(column + 1).unwrap_or(u16::MAX))
        })
    })
}

/// The type of a field.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetFieldType(table: Handle, field: Field, answer: Out<u16>) -> u32 {
    call(|| with_field(table, field, |area, field| answer.set(area.field_type(field)? as u16)))
}

/// The width of a field in the record; of Unicode text of a fixed width how many units it has.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetFieldLength(table: Handle, field: Field, answer: Out<u32>) -> u32 {
    call(|| {
        with_field(table, field, |area, field| {
            let known = area.field(field)?;
            let width = match known.kind {
                FieldKind::CharacterWide => known.width / 2,
                _ => known.width,
            };
            answer.set(u32::try_from(width).unwrap_or(u32::MAX))
        })
    })
}

/// As [`AdsGetFieldLength`]: fields are as long in bytes as in letters.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetFieldLength100(table: Handle, field: Field, options: u32, answer: Out<u32>) -> u32 {
    match call(|| is_length(options)) {
        AE_SUCCESS => AdsGetFieldLength(table, field, answer),
        code => code,
    }
}

/// How long the text of a field is, as [`AdsGetField`] gives it; letters are of one byte.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetDataLength(table: Handle, field: Field, options: u32, answer: Out<u32>) -> u32 {
    call(|| {
        is_length(options)?;
        with_shown(table, field, |area, field, settings| {
            let text = area.text(field, settings)?;
            answer.set(u32::try_from(text.len()).unwrap_or(u32::MAX))
        })
    })
}

fn is_length(options: u32) -> Result<()> {
    match options {
        ADS_CODEUNIT_LENGTH | ADS_BYTE_LENGTH | ADS_BYTE_LENGTH_IN_BUFFER => Ok(()),
        other => refuse(ErrorCode::InvalidOption, format!("{other} is no kind of length")),
    }
}

/// The decimals of a field.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetFieldDecimals(table: Handle, field: Field, answer: Out<u16>) -> u32 {
    call(|| {
        with_field(table, field, |area, field| {
            answer.set(area.field(field)?.decimals.into())
        })
    })
}

/// Where a field lies in the record.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetFieldOffset(table: Handle, field: Field, answer: Out<u32>) -> u32 {
    call(|| {
        with_field(table, field, |area, field| {
            answer.set(u32::try_from(area.field(field)?.offset).unwrap_or(u32::MAX))
        })
    })
}

/// Whether a field holds bytes that are no text.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsFieldBinary(table: Handle, field: Field, answer: Out<u16>) -> u32 {
    call(|| {
        with_field(table, field, |area, field| {
            let known = area.field(field)?;
            let is_binary = known.binary || known.kind == FieldKind::MemoBinary;
            answer.set(is_binary.into())
        })
    })
}

/// Whether a field can be NULL.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsNullable(table: Handle, field: Field, answer: Out<u16>) -> u32 {
    call(|| {
        with_field(table, field, |area, field| {
            answer.set(area.field(field)?.nullable.into())
        })
    })
}

/// Whether a field is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsNull(table: Handle, field: Field, answer: Out<u16>) -> u32 {
    call(|| with_field(table, field, |area, field| answer.set(area.is_null(field)?.into())))
}

/// Whether a field is blank.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsEmpty(table: Handle, field: Field, answer: Out<u16>) -> u32 {
    call(|| with_field(table, field, |area, field| answer.set(area.is_empty(field)?.into())))
}

/// The text of a field.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetField(table: Handle, field: Field, text: Bytes, len: Out<u32>, option: u16) -> u32 {
    call(|| {
        with_text(table, field, option, |area, field, option, settings| {
            let value = area.text(field, settings)?;
            text.put(trimmed(&value, option)?, len)
        })
    })
}

/// As [`AdsGetField`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetString(table: Handle, field: Field, text: Bytes, len: Out<u32>, option: u16) -> u32 {
    AdsGetField(table, field, text, len, option)
}

/// A text without the blanks that an option names.
pub(crate) fn trimmed(text: &[u8], option: u16) -> Result<&[u8]> {
    let is_text = |byte: &u8| *byte != b' ';
    let begin = || text.iter().position(is_text).unwrap_or(text.len());
    let end = || text.iter().rposition(is_text).map_or(0, |last| last + 1);
    let part = match option {
        ADS_NONE => Some(text),
        ADS_LTRIM => text.get(begin()..),
        ADS_RTRIM => text.get(..end()),
        ADS_TRIM => text.get(begin()..end().max(begin())),
        other => return refuse(ErrorCode::InvalidOption, format!("{other} is no way to trim")),
    };
    Ok(part.unwrap_or_default())
}

/// The bytes of a field as the record has them.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetFieldRaw(table: Handle, field: Field, bytes: Bytes, len: Out<u32>) -> u32 {
    call(|| with_field(table, field, |area, field| bytes.put(area.raw_bytes(field)?, len)))
}

/// The number of a field.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetDouble(table: Handle, field: Field, answer: Out<f64>) -> u32 {
    call(|| with_field(table, field, |area, field| answer.set(area.number_in(field)?)))
}

/// The whole number of a field.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetLong(table: Handle, field: Field, answer: Out<i32>) -> u32 {
    call(|| with_field(table, field, |area, field| answer.set(narrow(area.integer_in(field)?)?)))
}

/// The whole number of a field.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetShort(table: Handle, field: Field, answer: Out<i16>) -> u32 {
    call(|| with_field(table, field, |area, field| answer.set(narrow(area.integer_in(field)?)?)))
}

/// The whole number of a field.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetLongLong(table: Handle, field: Field, answer: Out<i64>) -> u32 {
    call(|| with_field(table, field, |area, field| answer.set(area.integer_in(field)?)))
}

/// The amount of a field in ten-thousandths.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetMoney(table: Handle, field: Field, answer: Out<i64>) -> u32 {
    call(|| {
        with_field(table, field, |area, field| {
            if area.field_type(field)? == FieldType::Money
                && !area.is_null(field)?
                && let Some(bytes) = area.raw_bytes(field)?.first_chunk()
            {
                return answer.set(i64::from_le_bytes(*bytes));
            }
            let scaled = (area.number_in(field)? * 10_000.0).round();
            if scaled.abs() >= 9.2e18 {
                return refuse(
                    ErrorCode::ValueOverflow,
                    format!("{scaled} ten-thousandths do not fit 64 bits"),
                );
            }
            #[expect(clippy::cast_possible_truncation, reason = "it was compared with the bounds")]
            answer.set(scaled as i64)
        })
    })
}

/// Whether a logical field is true.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetLogical(table: Handle, field: Field, answer: Out<u16>) -> u32 {
    call(|| with_field(table, field, |area, field| answer.set(area.logical_in(field)?.into())))
}

/// The Julian day number of a date.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetJulian(table: Handle, field: Field, answer: Out<i32>) -> u32 {
    call(|| with_field(table, field, |area, field| answer.set(narrow(area.julian_in(field)?)?)))
}

/// The milliseconds since midnight of a time.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetMilliseconds(table: Handle, field: Field, answer: Out<i32>) -> u32 {
    call(|| {
        with_field(table, field, |area, field| {
            answer.set(narrow(area.milliseconds_in(field)?)?)
        })
    })
}

/// A date as text.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetDate(table: Handle, field: Field, text: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        with_field(table, field, |area, field| {
            let day = area.julian_in(field)?;
            text.put(settings().date_format.format(day).as_bytes(), len)
        })
    })
}

/// A time as text.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetTime(table: Handle, field: Field, text: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        with_field(table, field, |area, field| {
            let ms = area.milliseconds_in(field)?;
            text.put(tidemill_ads::clock(ms).as_bytes(), len)
        })
    })
}

fn narrow<T: TryFrom<i64>>(number: i64) -> Result<T> {
    match T::try_from(number) {
        Ok(number) => Ok(number),
        Err(_) => refuse(ErrorCode::ValueOverflow, format!("{number} does not fit the answer")),
    }
}

/// Gives a field a text.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetString(table: Handle, field: Field, text: Bytes, len: u32) -> u32 {
    call(|| {
        let text = text.read(len as usize)?;
        set_value(
            table,
            field,
            || Ok(Value::Text(text_of(text))),
            |area, field, settings| area.set_text_cut(field, text, settings),
        )
    })
}

/// As [`AdsSetString`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetField(table: Handle, field: Field, text: Bytes, len: u32) -> u32 {
    AdsSetString(table, field, text, len)
}

/// Gives a field bytes as the record has them.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetFieldRaw(table: Handle, field: Field, bytes: Bytes, len: u32) -> u32 {
    call(|| {
        let bytes = bytes.read(len as usize)?;
        set_value(
            table,
            field,
            || Ok(Value::Bytes(bytes.to_vec())),
            |area, field, _| area.set_raw(field, bytes),
        )
    })
}

/// Gives a field a number.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetDouble(table: Handle, field: Field, number: f64) -> u32 {
    call(|| {
        set_value(
            table,
            field,
            || Ok(Value::Double(number)),
            |area, field, _| area.set_number(field, number),
        )
    })
}

/// Gives a field a whole number.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetLong(table: Handle, field: Field, number: i32) -> u32 {
    call(|| set_whole(table, field, number.into()))
}

/// Gives a field a whole number.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetShort(table: Handle, field: Field, number: i16) -> u32 {
    call(|| set_whole(table, field, number.into()))
}

/// Gives a field a whole number.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetLongLong(table: Handle, field: Field, number: i64) -> u32 {
    call(|| set_whole(table, field, number))
}

fn set_whole(target: Handle, field: Field, number: i64) -> Result<()> {
    set_value(
        target,
        field,
        || Ok(Value::Integer(number)),
        |area, field, _| area.set_integer(field, number),
    )
}

/// Gives a field an amount in ten-thousandths.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetMoney(table: Handle, field: Field, amount: i64) -> u32 {
    call(|| {
        set_value(
            table,
            field,
            || {
                Ok(Value::Decimal {
                    unscaled: amount.into(),
                    scale: 4,
                })
            },
            |area, field, _| area.set_decimal(field, amount.into(), 4),
        )
    })
}

/// Makes a logical field true or false.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetLogical(table: Handle, field: Field, value: u16) -> u32 {
    call(|| {
        set_value(
            table,
            field,
            || Ok(Value::Logical(value != 0)),
            |area, field, _| area.set_logical(field, value != 0),
        )
    })
}

/// Gives a date field a Julian day number.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetJulian(table: Handle, field: Field, day: i32) -> u32 {
    call(|| {
        set_value(
            table,
            field,
            || self::day(day.into()),
            |area, field, _| area.set_julian(field, day.into()),
        )
    })
}

/// Gives a time field the milliseconds since midnight.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetMilliseconds(table: Handle, field: Field, ms: i32) -> u32 {
    call(|| {
        set_value(
            table,
            field,
            || Ok(Value::Time(ms)),
            |area, field, _| area.set_milliseconds(field, ms.into()),
        )
    })
}

/// Gives a date field a date as text.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetDate(table: Handle, field: Field, text: Bytes, len: u16) -> u32 {
    call(|| {
        let text = text_of(text.read(len.into())?);
        let julian = |settings: &Settings| settings.date_format.parse(&text, settings.epoch);
        set_value(
            table,
            field,
            || day(julian(&settings())?),
            |area, field, settings| area.set_julian(field, julian(settings)?),
        )
    })
}

/// Gives a time field a time as text.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetTime(table: Handle, field: Field, text: Bytes, len: u16) -> u32 {
    call(|| {
        let ms = tidemill_ads::time_of(&text_of(text.read(len.into())?))?;
        set_value(
            table,
            field,
            || Ok(Value::Time(i32::try_from(ms).unwrap_or(i32::MAX))),
            |area, field, _| area.set_milliseconds(field, ms),
        )
    })
}

/// Gives a timestamp field a date and a time as text: in the date format that is set, or as CCYY-MM-DD HH:MM:SS.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetTimeStamp(table: Handle, field: Field, text: Bytes, len: u32) -> u32 {
    call(|| {
        let text = text.read(len as usize)?;
        let moment = || {
            let settings = settings();
            let (julian, ms) = settings.date_format.parse_moment(&text_of(text), settings.epoch)?;
            Ok(Value::Timestamp((julian - UNIX_EPOCH) * 86_400_000 + ms))
        };
        set_value(table, field, moment, |area, field, settings| {
            match area.field_type(field)? {
                FieldType::Timestamp => area.set_text(field, text, settings),
                _ => refuse(ErrorCode::InvalidFieldType, "the field has no timestamps"),
            }
        })
    })
}

/// Gives a timestamp eight bytes: the day as a Julian day number, and the milliseconds since midnight, of four bytes each.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetTimeStampRaw(table: Handle, field: Field, moment: Out<[i32; 2]>, len: u32) -> u32 {
    call(|| {
        if len != RAW_TIMESTAMP {
            let what = format!("a timestamp has {RAW_TIMESTAMP} bytes, and {len} are given");
            return refuse(ErrorCode::InvalidValue, what);
        }
        let [julian, ms] = moment.get()?.map(i64::from);
        if !(0..86_400_000).contains(&ms) {
            return refuse(ErrorCode::InvalidValue, format!("{ms} ms are no time of a day"));
        }
        let value = || match day(julian)? {
            Value::Date(days) => Ok(Value::Timestamp(i64::from(days) * 86_400_000 + ms)),
            other => Ok(other),
        };
        set_value(table, field, value, |area, field, _| match area.field_type(field)? {
            FieldType::Timestamp => {
                area.set_julian(field, julian)?;
                if julian == 0 {
                    return Ok(());
                }
                area.set_milliseconds(field, ms)
            }
            _ => refuse(ErrorCode::InvalidFieldType, "the field has no timestamps"),
        })
    })
}

/// The length of a timestamp in bytes.
const RAW_TIMESTAMP: u32 = 8;

/// Gives a field a text in a code page, by its number; letters that the table's has not got are an error.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetStringFromCodePage(table: Handle, page: u32, field: Field, text: Bytes, len: u32) -> u32 {
    call(|| {
        let name = format!("cp{page}");
        let Some(page) = CodePage::all().find(|known| known.name() == name) else {
            return refuse(ErrorCode::InvalidOption, format!("code page {page} is not known"));
        };
        let units: Vec<u16> = page.decode(text.read(len as usize)?).encode_utf16().collect();
        set_units(table, field, &units)
    })
}

/// Makes a field blank.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetEmpty(table: Handle, field: Field) -> u32 {
    call(|| set_value(table, field, || Ok(Value::Null), |area, field, _| area.set_empty(field)))
}

/// Makes a field NULL; of tables without NULL, blank.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetNull(table: Handle, field: Field) -> u32 {
    call(|| set_value(table, field, || Ok(Value::Null), |area, field, _| area.set_null(field)))
}

/// The name in its table of a column of a cursor, by the column's number.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetBaseFieldName(cursor: Handle, column: u16, name: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        with_area(cursor, |area| {
            is_over_a_table(area)?;
            let Some(column) = usize::from(column).checked_sub(1) else {
                return refuse(ErrorCode::InvalidFieldNumber, "columns are counted from 1");
            };
            let field = area.column(column)?;
            name.put(area.field(field)?.name.as_bytes(), len)
        })
    })
}

/// The number in its table of a column of a cursor, by the column's name.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetBaseFieldNum(cursor: Handle, column: Name, answer: Out<u16>) -> u32 {
    call(|| {
        let column = column.needed()?;
        with_area(cursor, |area| {
            is_over_a_table(area)?;
            let field = area.column_named(&column)?;
            answer.set(u16::try_from(field + 1).unwrap_or(u16::MAX))
        })
    })
}

/// Lets functions for fields see those of a cursor's table for now, by their numbers and names there, or the columns of the cursor again.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetBaseTableAccess(cursor: Handle, sees_base: u16) -> u32 {
    call(|| {
        with_area(cursor, |area| {
            is_over_a_table(area)?;
            area.show_base(sees_base != 0);
            Ok(())
        })
    })
}

fn is_over_a_table(area: &WorkArea) -> Result<()> {
    match area.is_in_memory() {
        true => refuse(ErrorCode::InvalidHandle, "rows in memory are no records of a table"),
        false => Ok(()),
    }
}
