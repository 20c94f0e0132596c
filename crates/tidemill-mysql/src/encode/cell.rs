//! How the values of an array are written to a column of a type.

use std::borrow::Cow;
use std::fmt::Write as _;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type, RunEndIndexType};
use arrow_array::{Array, RunArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;

use super::{number, time};
use crate::data_type::Type;
use crate::error::Misfit;

/// Appends the value of a row that is not null.
pub(super) type Write<'a> = Box<dyn Fn(usize, &mut Vec<u8>) -> Result<(), Misfit> + 'a>;
type Texts<'a> = Box<dyn Fn(usize) -> Result<Cow<'a, str>, Misfit> + 'a>;
type Bytes<'a> = Box<dyn Fn(usize) -> Result<&'a [u8], Misfit> + 'a>;

/// The values of an array, as a column takes them. Of rows that are null there is none.
pub(super) enum Cell<'a> {
    /// Texts that stand without quotation marks.
    Number(Write<'a>),
    /// Texts of digits and signs that stand in quotation marks.
    Moment(Write<'a>),
    Text(Texts<'a>),
    Bytes(Bytes<'a>),
}

impl<'a> Cell<'a> {
    /// The cell of an array whose rows have the values at other places.
    fn at(self, place: impl Fn(usize) -> usize + 'a) -> Self {
        match self {
            Self::Number(write) => Self::Number(Box::new(move |row, out| write(place(row), out))),
            Self::Moment(write) => Self::Moment(Box::new(move |row, out| write(place(row), out))),
            Self::Text(text) => Self::Text(Box::new(move |row| text(place(row)))),
            Self::Bytes(bytes) => Self::Bytes(Box::new(move |row| bytes(place(row)))),
        }
    }
}

/// `None` where values of the array's type are none of the column's.
pub(super) fn cell<'a>(array: &'a dyn Array, typ: &Type) -> Option<Cell<'a>> {
    match array.data_type() {
        // No row has a value.
        DataType::Null => return Some(Cell::Number(Box::new(|_, _| Ok(())))),
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary_opt()?;
            let values = cell(dictionary.values().as_ref(), typ)?;
            let keys = match dictionary.values().is_empty() {
                true => Vec::new(),
                false => dictionary.normalized_keys(),
            };
            return Some(values.at(move |row| keys.get(row).copied().unwrap_or_default()));
        }
        DataType::RunEndEncoded(ends, _) => {
            return match ends.data_type() {
                DataType::Int16 => runs::<Int16Type>(array, typ),
                DataType::Int32 => runs::<Int32Type>(array, typ),
                _ => runs::<Int64Type>(array, typ),
            };
        }
        _ => {}
    }
    match typ {
        Type::Integer(..) | Type::Decimal(..) | Type::Float | Type::Double | Type::Bit(_) | Type::Year => {
            number::number(array, typ).map(Cell::Number)
        }
        Type::Date => time::date(array).map(Cell::Moment),
        Type::Time(digits) => time::time(array, *digits).map(Cell::Moment),
        Type::DateTime(digits) => time::timestamp(array, *digits, false).map(Cell::Moment),
        Type::Timestamp(digits) => time::timestamp(array, *digits, true).map(Cell::Moment),
        Type::Char(length) | Type::VarChar(length) => words(array, Some(*length)).map(Cell::Text),
        Type::Text(_) | Type::Json | Type::Other(_) => words(array, None).map(Cell::Text),
        Type::Enum(members) => member(array, members, false).map(Cell::Text),
        Type::Set(members) => member(array, members, true).map(Cell::Text),
        Type::Binary(length) => {
            let (bytes, length) = (bytes(array)?, usize::try_from(*length).ok()?);
            Some(Cell::Bytes(Box::new(move |row| match bytes(row) {
                value if value.len() == length => Ok(value),
                // The server would add zeros.
                value => Err(Misfit::new(format!("{length} bytes"), value.len())),
            })))
        }
        Type::VarBinary(_) | Type::Blob(_) | Type::Geometry(_) => {
            let bytes = bytes(array)?;
            Some(Cell::Bytes(Box::new(move |row| Ok(bytes(row)))))
        }
    }
}

fn runs<'a, E: RunEndIndexType>(array: &'a dyn Array, typ: &Type) -> Option<Cell<'a>> {
    let runs: &RunArray<E> = array.as_any().downcast_ref()?;
    let values = cell(runs.values().as_ref(), typ)?;
    Some(values.at(|row| runs.get_physical_index(row)))
}

/// The texts of an array of texts.
pub(super) fn texts<'a>(array: &'a dyn Array) -> Option<Box<dyn Fn(usize) -> &'a str + 'a>> {
    Some(match array.data_type() {
        DataType::Utf8 => {
            let array = array.as_string::<i32>();
            Box::new(|row| array.value(row))
        }
        DataType::LargeUtf8 => {
            let array = array.as_string::<i64>();
            Box::new(|row| array.value(row))
        }
        DataType::Utf8View => {
            let array = array.as_string_view();
            Box::new(|row| array.value(row))
        }
        _ => return None,
    })
}

fn bytes<'a>(array: &'a dyn Array) -> Option<Box<dyn Fn(usize) -> &'a [u8] + 'a>> {
    Some(match array.data_type() {
        DataType::Binary => {
            let array = array.as_binary::<i32>();
            Box::new(|row| array.value(row))
        }
        DataType::LargeBinary => {
            let array = array.as_binary::<i64>();
            Box::new(|row| array.value(row))
        }
        DataType::BinaryView => {
            let array = array.as_binary_view();
            Box::new(|row| array.value(row))
        }
        DataType::FixedSizeBinary(_) => {
            let array = array.as_fixed_size_binary();
            Box::new(|row| array.value(row))
        }
        _ => return None,
    })
}

/// Texts, and the texts of other values, as Arrow shows them; of so many letters at most.
fn words(array: &dyn Array, length: Option<u32>) -> Option<Texts<'_>> {
    let longest = length.map_or(Some(usize::MAX), |length| usize::try_from(length).ok())?;
    let check = move |text: &str| match text.len() > longest && text.chars().count() > longest {
        true => Err(Misfit::new(
            format!("a text of at most {longest} letters"),
            format!("{} of {} letters", shown(text), text.chars().count()),
        )),
        false => Ok(()),
    };
    if let Some(texts) = texts(array) {
        return Some(Box::new(move |row| {
            let text = texts(row);
            check(text)?;
            Ok(Cow::Borrowed(text))
        }));
    }
    if array.data_type().is_nested() || bytes(array).is_some() {
        return None;
    }
    // Fails here, before the first value, for a time zone that this build does not know.
    let formatter = ArrayFormatter::try_new(array, &FormatOptions::default()).ok()?;
    Some(Box::new(move |row| {
        let mut text = String::new();
        write!(text, "{}", formatter.value(row))
            .map_err(|_| Misfit::new("a value that has a text", "one that has none"))?;
        check(&text)?;
        Ok(Cow::Owned(text))
    }))
}

/// The server takes a number for the place of a member, and letters of either case for each other.
fn member<'a>(array: &'a dyn Array, members: &[String], is_set: bool) -> Option<Texts<'a>> {
    let (texts, members) = (texts(array)?, members.to_vec());
    Some(Box::new(move |row| {
        let text = texts(row);
        let is_member = |text: &str| members.iter().any(|member| member == text);
        let is_taken = match is_set {
            true => text.is_empty() || text.split(',').all(is_member),
            false => is_member(text),
        };
        match is_taken {
            true => Ok(Cow::Borrowed(text)),
            false => {
                let kind = if is_set { "some of" } else { "one of" };
                Err(Misfit::new(format!("{kind} {}", members.join(", ")), shown(text)))
            }
        }
    }))
}

/// A text as an error quotes it, shortened.
pub(super) fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut letters = text.chars();
    let mut shown: String = letters.by_ref().take(LONGEST).collect();
    if letters.next().is_some() {
        shown.push('…');
    }
    format!("{shown:?}")
}
