//! What C passes: texts, fields, buffers and places for answers.
//!
//! Each type here is a pointer that came from C, under the contract that the crate's documentation states; only here is one
//! followed.

use std::borrow::Cow;
use std::ffi::CStr;

use tidemill_ads::{ErrorCode, Result, WorkArea};

use crate::call::refuse;
use crate::statement::Parameter;

/// A text that ends with a NUL, or null.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct Name(*const u8);

impl Name {
    /// No text.
    pub(crate) fn none() -> Self {
        Self(std::ptr::null())
    }

    /// The same place, as a text in UTF-16.
    pub(crate) fn wide(self) -> WideName {
        WideName(self.0.cast())
    }

    /// The bytes before the NUL; `None` for null.
    pub(crate) fn bytes<'a>(self) -> Option<&'a [u8]> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: by the contract of the crate it points at a text that ends with a NUL, and nobody changes it meanwhile.
        Some(unsafe { CStr::from_ptr(self.0.cast()) }.to_bytes())
    }

    /// The text in UTF-8, or as cp1252 where it is none; `None` for null.
    pub(crate) fn text(self) -> Result<Option<String>> {
        Ok(self.bytes().map(text_of))
    }

    /// The text where it lies, or as cp1252 where it is no UTF-8; empty for null.
    pub(crate) fn in_place<'a>(self) -> Cow<'a, str> {
        let bytes = self.bytes().unwrap_or_default();
        match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(text_of(bytes)),
        }
    }

    /// The text.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidPointer`] for null.
    pub(crate) fn needed(self) -> Result<String> {
        match self.text()? {
            Some(text) => Ok(text),
            None => refuse(
                ErrorCode::InvalidPointer,
                "a text must be given, and the pointer is null",
            ),
        }
    }
}

/// Text in UTF-8, or in cp1252 where the bytes are none.
pub(crate) fn text_of(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => tidemill_xbase::CodePage::Cp1252.decode(bytes),
    }
}

/// A field by its name, or by its number from 1 in the place of the pointer (`ADSFIELD`).
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct Field(*const u8);

impl Field {
    /// The parameter of a statement that is meant.
    pub(crate) fn parameter(self) -> Result<Parameter> {
        match self.0.addr() {
            0 => refuse(
                ErrorCode::InvalidParameterName,
                "a parameter must be named, and the pointer is null",
            ),
            number @ 1..FIRST_ADDRESS => Ok(Parameter::Number(number)),
            _ => Ok(Parameter::Name(Name(self.0).needed()?)),
        }
    }
}

/// No address is below it, and no table has so many fields.
const FIRST_ADDRESS: usize = 1 << 16;

impl Field {
    /// The field's place in a table, from 0.
    pub(crate) fn of(self, area: &WorkArea) -> Result<usize> {
        match self.0.addr() {
            0 => refuse(
                ErrorCode::InvalidFieldName,
                "a field must be named, and the pointer is null",
            ),
            number @ 1..FIRST_ADDRESS => area.column(number - 1),
            _ => area.column_named(&Name(self.0).in_place()),
        }
    }

    /// The place of the column that it is among those that are shown, from 0.
    pub(crate) fn column_of(self, area: &WorkArea) -> Result<usize> {
        match self.0.addr() {
            number @ 1..FIRST_ADDRESS => area.column(number - 1).map(|_| number - 1),
            _ => {
                let field = self.of(area)?;
                let mut columns = 0..area.column_count();
                Ok(columns
                    .find(|column| area.column(*column).is_ok_and(|known| known == field))
                    .unwrap_or(field))
            }
        }
    }
}

/// A text of UTF-16 units that ends with a zero, or null.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct WideName(*const u16);

impl WideName {
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The text.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidPointer`] for null; [`ErrorCode::InvalidValue`] for units that are no text.
    pub(crate) fn needed(self) -> Result<String> {
        let mut len = 0;
        // SAFETY: by the contract of the crate units are there up to a zero; they need not be aligned.
        while !self.0.is_null() && unsafe { self.0.add(len as usize).read_unaligned() } != 0 {
            len += 1;
        }
        match String::from_utf16(&self.units(len)?) {
            Ok(_) if self.0.is_null() => refuse(
                ErrorCode::InvalidPointer,
                "a text must be given, and the pointer is null",
            ),
            Ok(text) => Ok(text),
            Err(_) => refuse(ErrorCode::InvalidValue, "the text is no UTF-16"),
        }
    }

    /// `len` units.
    pub(crate) fn units(self, len: u32) -> Result<Vec<u16>> {
        if self.0.is_null() {
            return match len {
                0 => Ok(Vec::new()),
                _ => refuse(
                    ErrorCode::InvalidPointer,
                    "a text must be given, and the pointer is null",
                ),
            };
        }
        // SAFETY: by the contract of the crate so many units are there; they need not be aligned.
        Ok((0..len as usize)
            .map(|at| unsafe { self.0.add(at).read_unaligned() })
            .collect())
    }
}

/// Where an answer goes, or null.
#[repr(transparent)]
#[derive(Debug)]
pub struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T: Copy> Out<T> {
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The place of the nth answer of an array.
    pub(crate) fn at(self, at: usize) -> Self {
        Self(self.0.wrapping_add(at))
    }

    /// Writes the answer.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidPointer`] for null.
    pub(crate) fn set(self, value: T) -> Result<()> {
        self.set_at(0, value)
    }

    /// Writes the nth answer of an array.
    pub(crate) fn set_at(self, at: usize, value: T) -> Result<()> {
        if self.0.is_null() {
            return refuse(
                ErrorCode::InvalidPointer,
                "there is no place for the answer: the pointer is null",
            );
        }
        // SAFETY: by the contract of the crate the place is there, an array as long as was said; it need not be aligned.
        unsafe { self.0.add(at).write_unaligned(value) };
        Ok(())
    }

    /// What stands at the place.
    pub(crate) fn get(self) -> Result<T> {
        self.get_at(0)
    }

    pub(crate) fn get_at(self, at: usize) -> Result<T> {
        if self.0.is_null() {
            return refuse(
                ErrorCode::InvalidPointer,
                "a length must be given, and the pointer is null",
            );
        }
        // SAFETY: by the contract of the crate something is there, an array as long as was said; it need not be aligned.
        Ok(unsafe { self.0.add(at).read_unaligned() })
    }
}

/// The length of a buffer: of 16 or of 32 bits.
pub(crate) trait Length: Copy {
    fn from_len(len: usize) -> Self;
    fn to_len(self) -> usize;
}

impl Length for u16 {
    fn from_len(len: usize) -> Self {
        Self::try_from(len).unwrap_or(Self::MAX)
    }

    fn to_len(self) -> usize {
        self.into()
    }
}

impl Length for u32 {
    fn from_len(len: usize) -> Self {
        Self::try_from(len).unwrap_or(Self::MAX)
    }

    fn to_len(self) -> usize {
        self as usize
    }
}

/// A buffer, or null.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct Bytes(*mut u8);

impl Bytes {
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The buffer from a byte on.
    pub(crate) fn at(self, at: usize) -> Self {
        Self(self.0.wrapping_add(at))
    }

    /// `len` bytes that are there.
    pub(crate) fn read<'a>(self, len: usize) -> Result<&'a [u8]> {
        if self.0.is_null() {
            return match len {
                0 => Ok(&[]),
                _ => refuse(
                    ErrorCode::InvalidPointer,
                    "bytes must be given, and the pointer is null",
                ),
            };
        }
        // SAFETY: by the contract of the crate so many bytes are there, and nobody changes them meanwhile.
        Ok(unsafe { std::slice::from_raw_parts(self.0, len) })
    }

    /// The same place as a text that ends with a NUL.
    pub(crate) fn as_name(self) -> Name {
        Name(self.0)
    }

    /// The same place as a text of UTF-16 units that ends with a zero.
    pub(crate) fn as_wide_name(self) -> WideName {
        WideName(self.0.cast())
    }

    /// The bytes before a NUL.
    pub(crate) fn read_text<'a>(self) -> Option<&'a [u8]> {
        Name(self.0).bytes()
    }

    /// Writes bytes into the buffer, with a NUL behind them where there is room, and says how many there are.
    ///
    /// # Errors
    /// [`ErrorCode::InsufficientBuffer`]; the length then is the one that is needed.
    pub(crate) fn put<L: Length>(self, bytes: &[u8], len: Out<L>) -> Result<()> {
        let room = len.get()?.to_len();
        len.set(L::from_len(bytes.len()))?;
        if bytes.len() > room {
            let what = format!("{} bytes do not fit into a buffer of {room}", bytes.len());
            return refuse(ErrorCode::InsufficientBuffer, what);
        }
        self.write(bytes, room)
    }

    /// As [`Bytes::put`], but what has no room is left out.
    pub(crate) fn put_cut<L: Length>(self, bytes: &[u8], len: Out<L>) -> Result<()> {
        let room = len.get()?.to_len();
        let fits = bytes.get(..room.saturating_sub(1)).unwrap_or(bytes);
        len.set(L::from_len(fits.len()))?;
        self.write(fits, room)
    }

    /// Writes no more bytes than `room`, and a NUL if there is room for it too.
    pub(crate) fn write(self, bytes: &[u8], room: usize) -> Result<()> {
        if bytes.is_empty() && room == 0 {
            return Ok(());
        }
        if self.0.is_null() {
            return refuse(ErrorCode::InvalidPointer, "there is no buffer: the pointer is null");
        }
        let len = bytes.len().min(room);
        // SAFETY: by the contract of the crate the buffer has `room` bytes, and `len` is at most that; the bytes are ours and
        // do not overlap it. The NUL is written only behind fewer than `room` bytes.
        unsafe {
            self.0.copy_from_nonoverlapping(bytes.as_ptr(), len);
            if len < room {
                self.0.add(len).write(0);
            }
        }
        Ok(())
    }

    /// As [`Bytes::put`] with UTF-16 units, of which the length is.
    pub(crate) fn put_wide(buffer: Out<u16>, units: &[u16], len: Out<u32>) -> Result<()> {
        let room = len.get()? as usize;
        len.set(u32::from_len(units.len()))?;
        if units.len() > room {
            let what = format!("{} units do not fit into a buffer of {room}", units.len());
            return refuse(ErrorCode::InsufficientBuffer, what);
        }
        for (at, unit) in units.iter().chain((units.len() < room).then_some(&0)).enumerate() {
            buffer.set_at(at, *unit)?;
        }
        Ok(())
    }
}
