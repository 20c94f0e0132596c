//! Memos and binary values.

use tidemill_ads::sql::Value;
use tidemill_ads::{ErrorCode, FieldType, Result};

use crate::call::{call, refuse};
use crate::constants::*;
use crate::field::with_field;
use crate::handle::{Handle, is_statement};
use crate::pointers::{Bytes, Field, Name, Out, WideName};
use crate::statement::with_statement;

/// The length of a memo in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetMemoLength(table: Handle, field: Field, answer: Out<u32>) -> u32 {
    call(|| with_field(table, field, |area, field| answer.set(len_of(&area.memo(field)?))))
}

/// What kind of memo a field holds.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetMemoDataType(table: Handle, field: Field, answer: Out<u16>) -> u32 {
    call(|| {
        with_field(table, field, |area, field| match area.field_type(field)? {
            FieldType::Memo => answer.set(ADS_MEMO),
            FieldType::Binary => answer.set(ADS_BINARY),
            FieldType::Image => answer.set(ADS_IMAGE),
            FieldType::NMemo => answer.set(ADS_NMEMO),
            _ => refuse(ErrorCode::InvalidFieldType, "the field has no memos"),
        })
    })
}

/// The length of a binary value.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetBinaryLength(table: Handle, field: Field, answer: Out<u32>) -> u32 {
    AdsGetMemoLength(table, field, answer)
}

/// A part of a binary value, from an offset on.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetBinary(table: Handle, field: Field, offset: u32, bytes: Bytes, len: Out<u32>) -> u32 {
    call(|| {
        with_field(table, field, |area, field| {
            let value = area.memo(field)?;
            let Some(rest) = value.get(offset as usize..) else {
                let what = format!("offset {offset} of a value of {} bytes", value.len());
                return refuse(ErrorCode::InvalidBinaryOffset, what);
            };
            let room = len.get()? as usize;
            let part = rest.get(..room).unwrap_or(rest);
            len.set(len_of(part))?;
            bytes.write(part, room)
        })
    })
}

/// Gives a field a part of a binary value of `total` bytes; the parts come in the order of their offsets.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetBinary(
    table: Handle,
    field: Field,
    _binary_type: u16,
    total: u32,
    offset: u32,
    bytes: Bytes,
    len: u32,
) -> u32 {
    call(|| {
        if is_statement(table) {
            let part = bytes.read(len as usize)?;
            return with_statement(table, |statement| statement.set_part(field, offset, part));
        }
        with_field(table, field, |area, field| {
            let mut value = if offset == 0 { Vec::new() } else { area.memo(field)? };
            let end = u64::from(offset) + u64::from(len);
            if value.len() as u64 != u64::from(offset) || end > u64::from(total) {
                let what = format!("bytes {offset} to {end} after {} of {total}", value.len());
                return refuse(ErrorCode::InvalidBinaryOffset, what);
            }
            value.extend_from_slice(bytes.read(len as usize)?);
            area.put_memo(field, Some(value))
        })
    })
}

/// Writes a binary value into a file.
#[unsafe(no_mangle)]
pub extern "C" fn AdsBinaryToFile(table: Handle, field: Field, file: Name) -> u32 {
    call(|| to_file(table, field, &file.needed()?))
}

/// Gives a field the contents of a file.
#[unsafe(no_mangle)]
pub extern "C" fn AdsFileToBinary(table: Handle, field: Field, _binary_type: u16, file: Name) -> u32 {
    call(|| from_file(table, field, &file.needed()?))
}

/// As [`AdsBinaryToFile`], with a name in UTF-16.
#[unsafe(no_mangle)]
pub extern "C" fn AdsBinaryToFileW(table: Handle, field: Field, file: WideName) -> u32 {
    call(|| to_file(table, field, &file.needed()?))
}

/// As [`AdsFileToBinary`], with a name in UTF-16.
#[unsafe(no_mangle)]
pub extern "C" fn AdsFileToBinaryW(table: Handle, field: Field, _binary_type: u16, file: WideName) -> u32 {
    call(|| from_file(table, field, &file.needed()?))
}

fn to_file(table: Handle, field: Field, file: &str) -> Result<()> {
    with_field(table, field, |area, field| {
        on_disk(file, std::fs::write(file, area.memo(field)?))
    })
}

fn from_file(table: Handle, field: Field, file: &str) -> Result<()> {
    let value = on_disk(file, std::fs::read(file))?;
    if is_statement(table) {
        return with_statement(table, |statement| statement.set(field, Value::Bytes(value)));
    }
    with_field(table, field, |area, field| area.put_memo(field, Some(value)))
}

fn on_disk<T>(file: &str, done: std::io::Result<T>) -> Result<T> {
    match done {
        Ok(done) => Ok(done),
        Err(error) => refuse(ErrorCode::BinaryFileError, format!("{file}: {error}")),
    }
}

fn len_of(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}
