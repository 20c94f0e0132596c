//! Filters.

use tidemill_ads::{Customize, ErrorCode, OptimizationLevel, Result, Settings, WorkArea};
use tidemill_xbase::expression::Type;

use crate::call::{call, refuse};
use crate::constants::*;
use crate::handle::{Handle, with_any, with_area};
use crate::pointers::{Bytes, Length, Name, Out, WideName};
use crate::settings::settings;
use crate::statement::of_cursor;

/// Does something with the filters of a table, which may have a setting of their own ([`AdsSetExact22`](crate::AdsSetExact22)).
fn with_filters<T>(table: Handle, work: impl FnOnce(&mut WorkArea, &Settings) -> Result<T>) -> Result<T> {
    with_any(table, |session, area, _| {
        let settings = session.settings.of_filters(area);
        work(session.connection.area(area)?, &settings)
    })
}

#[cold]
fn no_filter<T>() -> Result<T> {
    refuse(ErrorCode::NoFilter, "no filter is set")
}

/// Shows only records of a condition, which is evaluated record by record.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetFilter(table: Handle, condition: Name) -> u32 {
    call(|| with_filters(table, |area, settings| area.set_filter(&condition.needed()?, settings)))
}

/// The condition of [`AdsSetFilter`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetFilter(table: Handle, condition: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        with_area(table, |area| match area.filter() {
            Some(text) => condition.put(text.as_bytes(), len),
            None => no_filter(),
        })
    })
}

/// Takes the filter of [`AdsSetFilter`] away.
#[unsafe(no_mangle)]
pub extern "C" fn AdsClearFilter(table: Handle) -> u32 {
    call(|| {
        with_area(table, |area| match area.filter() {
            Some(_) => {
                area.clear_filter();
                Ok(())
            }
            None => no_filter(),
        })
    })
}

/// Shows only records of a condition, which are looked up at once.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetAOF(table: Handle, condition: Name, _resolve: u16) -> u32 {
    call(|| with_filters(table, |area, settings| area.set_aof(&condition.needed()?, settings)))
}

/// The condition of [`AdsSetAOF`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetAOF(table: Handle, condition: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        with_area(table, |area| match area.aof() {
            Some(text) => condition.put(text.as_bytes(), len),
            None => no_filter(),
        })
    })
}

/// Takes the filter of [`AdsSetAOF`] away.
#[unsafe(no_mangle)]
pub extern "C" fn AdsClearAOF(table: Handle) -> u32 {
    call(|| {
        with_area(table, |area| match area.has_aof() {
            true => area.clear_aof(&settings()),
            false => no_filter(),
        })
    })
}

/// Looks the records of the filter up again.
#[unsafe(no_mangle)]
pub extern "C" fn AdsRefreshAOF(table: Handle) -> u32 {
    call(|| with_area(table, |area| area.refresh_aof()))
}

/// How much of a condition the open orders would answer.
#[unsafe(no_mangle)]
pub extern "C" fn AdsEvalAOF(table: Handle, condition: Name, answer: Out<u16>) -> u32 {
    call(|| {
        with_filters(table, |area, settings| {
            answer.set(number(area.evaluate_aof(&condition.needed()?, settings)?))
        })
    })
}

/// How much of the filter the orders answered. The part that they did not answer is not told.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetAOFOptLevel(table: Handle, answer: Out<u16>, rest: Bytes, len: Out<u16>) -> u32 {
    call(|| optimization(table, answer, (rest, len), 0))
}

/// Tells the level, and the filter where orders did not answer it whole.
fn optimization<L: Length>(table: Handle, answer: Out<u16>, (rest, len): (Bytes, Out<L>), options: u32) -> Result<()> {
    with_area(table, |area| {
        let level = area.aof_level()?;
        if !answer.is_null() {
            answer.set(number(level))?;
        }
        match rest.is_null() || len.is_null() {
            true => Ok(()),
            false if level == OptimizationLevel::Full => rest.put_cut(b"", len),
            false => rest.put_cut(&encoded(area.aof().unwrap_or_default(), options), len),
        }
    })
}

fn number(level: OptimizationLevel) -> u16 {
    match level {
        OptimizationLevel::Full => ADS_OPTIMIZED_FULL,
        OptimizationLevel::Part => ADS_OPTIMIZED_PART,
        OptimizationLevel::None => ADS_OPTIMIZED_NONE,
    }
}

/// As [`AdsSetFilter`], for a condition in UTF-8 or UTF-16.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetFilter100(table: Handle, condition: Bytes, options: u32) -> u32 {
    call(|| {
        with_filters(table, |area, settings| {
            area.set_filter(&given(condition, options)?, settings)
        })
    })
}

/// As [`AdsSetAOF`], for a condition in UTF-8 or UTF-16.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetAOF100(table: Handle, condition: Bytes, options: u32) -> u32 {
    call(|| {
        with_filters(table, |area, settings| {
            area.set_aof(&given(condition, options)?, settings)
        })
    })
}

/// As [`AdsEvalAOF`], for a condition in UTF-8 or UTF-16.
#[unsafe(no_mangle)]
pub extern "C" fn AdsEvalAOF100(table: Handle, condition: Bytes, options: u32, answer: Out<u16>) -> u32 {
    call(|| {
        with_filters(table, |area, settings| {
            answer.set(number(area.evaluate_aof(&given(condition, options)?, settings)?))
        })
    })
}

/// As [`AdsGetAOF`], in UTF-8 or UTF-16; the length is in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetAOF100(table: Handle, options: u32, condition: Bytes, len: Out<u32>) -> u32 {
    call(|| {
        with_area(table, |area| match area.aof() {
            Some(text) => condition.put(&encoded(text, options), len),
            None => no_filter(),
        })
    })
}

/// As [`AdsGetAOFOptLevel`], in UTF-8 or UTF-16; the length is in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetAOFOptLevel100(
    table: Handle,
    answer: Out<u16>,
    rest: Bytes,
    len: Out<u32>,
    options: u32,
) -> u32 {
    call(|| optimization(table, answer, (rest, len), options))
}

/// A condition in the encoding that the options name.
fn given(condition: Bytes, options: u32) -> Result<String> {
    match options & ADS_ENCODE_UTF16 {
        0 => condition.as_name().needed(),
        _ => condition.as_wide_name().needed(),
    }
}

/// A text in the encoding that the options name.
fn encoded(text: &str, options: u32) -> Vec<u8> {
    match options & ADS_ENCODE_UTF16 {
        0 => text.as_bytes().to_vec(),
        _ => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
    }
}

/// Adds records to the filter, or removes them.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCustomizeAOF(table: Handle, count: u32, records: Out<u32>, option: u16) -> u32 {
    call(|| {
        let change = match option {
            ADS_AOF_ADD_RECORD => Customize::Add,
            ADS_AOF_REMOVE_RECORD => Customize::Remove,
            ADS_AOF_TOGGLE_RECORD => Customize::Toggle,
            other => {
                return refuse(
                    ErrorCode::InvalidOption,
                    format!("{other} is no way to change a filter"),
                );
            }
        };
        let records = (0..count as usize)
            .map(|at| records.get_at(at))
            .collect::<Result<Vec<u32>>>()?;
        with_area(table, |area| area.customize_aof(change, &records))
    })
}

/// Whether a record belongs to the filter; 0 is the current one.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsRecordInAOF(table: Handle, record: u32, answer: Out<u16>) -> u32 {
    call(|| with_area(table, |area| answer.set(area.is_in_aof(record)?.into())))
}

/// As [`AdsSetAOF`], of a statement's cursor.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetCursorAOF(cursor: Handle, condition: Name, resolve: u16) -> u32 {
    match call(|| of_cursor(cursor).map(drop)) {
        AE_SUCCESS => AdsSetAOF(cursor, condition, resolve),
        code => code,
    }
}

/// As [`AdsGetAOF`], of a statement's cursor.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetCursorAOF(cursor: Handle, condition: Bytes, len: Out<u16>) -> u32 {
    match call(|| of_cursor(cursor).map(drop)) {
        AE_SUCCESS => AdsGetAOF(cursor, condition, len),
        code => code,
    }
}

/// As [`AdsClearAOF`], of a statement's cursor.
#[unsafe(no_mangle)]
pub extern "C" fn AdsClearCursorAOF(cursor: Handle) -> u32 {
    match call(|| of_cursor(cursor).map(drop)) {
        AE_SUCCESS => AdsClearAOF(cursor),
        code => code,
    }
}

/// The type of the values of an expression.
#[unsafe(no_mangle)]
pub extern "C" fn AdsEvalTestExpr(table: Handle, expression: Name, answer: Out<u16>) -> u32 {
    call(|| {
        let expression = expression.needed()?;
        with_area(table, |area| {
            answer.set(match area.type_of(&expression, &settings())? {
                Type::Character => ADS_STRING,
                Type::Number => ADS_NUMERIC,
                Type::Date => ADS_DATE,
                Type::Logical => ADS_LOGICAL,
                Type::Timestamp => ADS_TIMESTAMP,
                Type::Null => return refuse(ErrorCode::InvalidExpression, "the expression has no value"),
            })
        })
    })
}

/// Whether an expression can be evaluated here.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsExprValid(table: Handle, expression: Name, answer: Out<u16>) -> u32 {
    call(|| {
        with_area(table, |area| {
            let is_valid = area.is_valid(&expression.needed()?, &settings());
            answer.set(is_valid.into())
        })
    })
}

/// The value of a logical expression for the current record.
#[unsafe(no_mangle)]
pub extern "C" fn AdsEvalLogicalExpr(table: Handle, expression: Name, answer: Out<u16>) -> u32 {
    call(|| {
        with_area(table, |area| {
            let value = area.evaluate_logical(&expression.needed()?, &settings())?;
            answer.set(value.into())
        })
    })
}

/// As [`AdsEvalLogicalExpr`], in UTF-16.
#[unsafe(no_mangle)]
pub extern "C" fn AdsEvalLogicalExprW(table: Handle, expression: WideName, answer: Out<u16>) -> u32 {
    call(|| {
        with_area(table, |area| {
            let value = area.evaluate_logical(&expression.needed()?, &settings())?;
            answer.set(value.into())
        })
    })
}

/// The value of a numeric expression for the current record.
#[unsafe(no_mangle)]
pub extern "C" fn AdsEvalNumericExpr(table: Handle, expression: Name, answer: Out<f64>) -> u32 {
    call(|| {
        with_area(table, |area| {
            answer.set(area.evaluate_number(&expression.needed()?, &settings())?)
        })
    })
}

/// The value of a character expression for the current record.
#[unsafe(no_mangle)]
pub extern "C" fn AdsEvalStringExpr(table: Handle, expression: Name, text: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        with_area(table, |area| {
            text.put(&area.evaluate_text(&expression.needed()?, &settings())?, len)
        })
    })
}
