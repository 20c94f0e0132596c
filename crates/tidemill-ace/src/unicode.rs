//! Texts in UTF-16.

use tidemill_ads::sql::Value;
use tidemill_ads::{ErrorCode, Result};
use tidemill_xbase::{CodePage, FieldKind};

use crate::call::{call, refuse};
use crate::field::{set_value, trimmed, with_text};
use crate::handle::Handle;
use crate::pointers::{Bytes, Field, Out, WideName};

/// The text of a field.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetFieldW(table: Handle, field: Field, text: Out<u16>, len: Out<u32>, option: u16) -> u32 {
    call(|| {
        with_text(table, field, option, |area, field, option, settings| {
            let (kind, codepage) = (area.field(field)?.kind, area.program_codepage());
            let bytes = area.text(field, settings)?;
            let bytes = trimmed(&bytes, option)?;
            let decoded = match kind {
                FieldKind::Character
                | FieldKind::CharacterWide
                | FieldKind::Varchar
                | FieldKind::Memo
                | FieldKind::MemoWide => codepage.decode(bytes),
                FieldKind::CharacterBinary | FieldKind::Varbinary | FieldKind::MemoBinary => {
                    return refuse(ErrorCode::InvalidFieldType, "the field holds bytes that are no text");
                }
                _ => String::from_utf8_lossy(bytes).into_owned(),
            };
            let units: Vec<u16> = decoded.encode_utf16().collect();
            Bytes::put_wide(text, &units, len)
        })
    })
}

/// As [`AdsGetFieldW`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetStringW(table: Handle, field: Field, text: Out<u16>, len: Out<u32>, option: u16) -> u32 {
    AdsGetFieldW(table, field, text, len, option)
}

/// Gives a field a text; letters that its code page has not got are an error.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetStringW(table: Handle, field: Field, text: WideName, len: u32) -> u32 {
    call(|| {
        let units = text.units(len)?;
        set_units(table, field, &units)
    })
}

/// Gives a field of a table, or a parameter of a statement, a text of UTF-16 units.
pub(crate) fn set_units(target: Handle, field: Field, units: &[u16]) -> Result<()> {
    set_value(
        target,
        field,
        || Ok(Value::Text(String::from_utf16_lossy(units))),
        |area, field, settings| {
            let bytes = encoded(units, area.program_codepage())?;
            area.set_text_cut(field, &bytes, settings)
        },
    )
}

/// As [`AdsSetStringW`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetFieldW(table: Handle, field: Field, text: WideName, len: u32) -> u32 {
    AdsSetStringW(table, field, text, len)
}

/// Text of UTF-16 units in a code page.
///
/// # Errors
/// [`ErrorCode::UnicodeConversion`] for a letter that the code page has not got.
pub(crate) fn encoded(units: &[u16], codepage: CodePage) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match codepage.encode(&String::from_utf16_lossy(units), &mut bytes) {
        Ok(()) => Ok(bytes),
        Err(letter) => refuse(
            ErrorCode::UnicodeConversion,
            format!("{} has no {letter:?}", codepage.name()),
        ),
    }
}
