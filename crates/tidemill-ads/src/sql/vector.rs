//! The values of an expression over the rows of a frame: one Arrow array, or one value for all rows.
//!
//! Text of a character field is stored without the blanks at its end and remembers how wide the field is, so that functions that count
//! them can have them back. Blank dates are values ([`EMPTY_DATE`]), as they are in a DBF, and become null only in an answer.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float64Type, Int32Type, Int64Type, Time32MillisecondType, TimestampMillisecondType,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int32Array, Int64Array,
    StringArray, Time32MillisecondArray, TimestampMillisecondArray, new_null_array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, TimeUnit};
use arrow_select::concat::concat;
use arrow_select::filter::filter;
use arrow_select::take::take;
use arrow_select::zip::zip;

use super::error::{Error, Kind, Result};
use super::expression::Blank;
use super::value::{EMPTY_DATE, EMPTY_TIMESTAMP, Type, Value, has_room, midnight, rescale, trimmed};

/// The digits of decimals in answers.
pub(super) const DIGITS: u8 = 38;

/// Values of one type.
#[derive(Debug, Clone)]
pub(super) enum Vector {
    Constant(Value),
    /// Text, and the width to which blanks fill it up; 0 where it is stored whole.
    Text(StringArray, usize),
    Integer(Int64Array),
    Decimal(Decimal128Array, u8),
    Double(Float64Array),
    Logical(BooleanArray),
    Date(Date32Array),
    Time(Time32MillisecondArray),
    Timestamp(TimestampMillisecondArray),
    Bytes(BinaryArray),
}

impl Vector {
    /// A column of a table; `width` of a character field, and what its blank is.
    pub(super) fn of_column(array: &ArrayRef, width: usize, blank: Blank) -> Result<Self> {
        let blank_is_value = blank != Blank::Apart;
        // No memo is an empty one, where there is no NULL.
        let is_filled = blank == Blank::Value && array.null_count() > 0;
        Ok(match array.data_type() {
            DataType::Utf8 if is_filled => {
                let texts = array.as_string::<i32>().iter();
                let texts = texts.map(Option::unwrap_or_default);
                Self::Text(StringArray::from_iter_values(texts), width)
            }
            DataType::Binary if is_filled => {
                let bytes = array.as_binary::<i32>().iter();
                let bytes = bytes.map(Option::unwrap_or_default);
                Self::Bytes(BinaryArray::from_iter_values(bytes))
            }
            DataType::Utf8 => Self::Text(array.as_string::<i32>().clone(), width),
            DataType::Int64 => Self::Integer(array.as_primitive::<Int64Type>().clone()),
            DataType::Int32 => {
                let numbers = array.as_primitive::<Int32Type>();
                let values = numbers.values().iter().map(|number| i64::from(*number)).collect();
                Self::Integer(Int64Array::new(values, numbers.nulls().cloned()))
            }
            DataType::Decimal128(_, scale) => Self::Decimal(
                array.as_primitive::<Decimal128Type>().clone(),
                u8::try_from(*scale).unwrap_or(0),
            ),
            DataType::Float64 => Self::Double(array.as_primitive::<Float64Type>().clone()),
            DataType::Boolean => Self::Logical(array.as_boolean().clone()),
            DataType::Date32 => {
                let days = array.as_primitive::<Date32Type>();
                Self::Date(match blank_is_value && days.null_count() > 0 {
                    true => days.iter().map(|day| Some(day.unwrap_or(EMPTY_DATE))).collect(),
                    false => days.clone(),
                })
            }
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                let moments = array.as_primitive::<TimestampMillisecondType>();
                Self::Timestamp(match blank_is_value && moments.null_count() > 0 {
                    true => moments.iter().map(|ms| Some(ms.unwrap_or(EMPTY_TIMESTAMP))).collect(),
                    false => moments.clone(),
                })
            }
            DataType::Time32(_) => Self::Time(array.as_primitive::<Time32MillisecondType>().clone()),
            DataType::Binary => Self::Bytes(array.as_binary::<i32>().clone()),
            other => {
                let why = format!("a column of the type {other} is none of a table");
                return Err(Error::new(Kind::Unsupported, why));
            }
        })
    }

    pub(super) fn type_of(&self) -> Type {
        match self {
            Self::Constant(value) => value.type_of(),
            Self::Text(_, width) => Type::Text(u32::try_from(*width).unwrap_or(0)),
            Self::Integer(_) => Type::Integer,
            Self::Decimal(_, scale) => Type::Decimal(*scale),
            Self::Double(_) => Type::Double,
            Self::Logical(_) => Type::Logical,
            Self::Date(_) => Type::Date,
            Self::Time(_) => Type::Time,
            Self::Timestamp(_) => Type::Timestamp,
            Self::Bytes(_) => Type::Bytes,
        }
    }

    pub(super) fn nulls(&self) -> Option<&NullBuffer> {
        match self {
            Self::Constant(_) => None,
            other => other.array().and_then(Array::nulls),
        }
    }

    /// Whether it is NULL for every row.
    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Constant(Value::Null))
    }

    fn array(&self) -> Option<&dyn Array> {
        Some(match self {
            Self::Constant(_) => return None,
            Self::Text(array, _) => array,
            Self::Integer(array) => array,
            Self::Decimal(array, _) => array,
            Self::Double(array) => array,
            Self::Logical(array) => array,
            Self::Date(array) => array,
            Self::Time(array) => array,
            Self::Timestamp(array) => array,
            Self::Bytes(array) => array,
        })
    }

    /// The value of a row.
    pub(super) fn value(&self, row: usize) -> Value {
        if self.nulls().is_some_and(|nulls| nulls.is_null(row)) {
            return Value::Null;
        }
        match self {
            Self::Constant(value) => value.clone(),
            Self::Text(array, _) => Value::Text(array.value(row).to_owned()),
            Self::Integer(array) => Value::Integer(array.value(row)),
            Self::Decimal(array, scale) => Value::Decimal {
                unscaled: array.value(row),
                scale: *scale,
            },
            Self::Double(array) => Value::Double(array.value(row)),
            Self::Logical(array) => Value::Logical(array.value(row)),
            Self::Date(array) => Value::Date(array.value(row)),
            Self::Time(array) => Value::Time(array.value(row)),
            Self::Timestamp(array) => Value::Timestamp(array.value(row)),
            Self::Bytes(array) => Value::Bytes(array.value(row).to_vec()),
        }
    }

    /// Text with its blanks; other values as text.
    pub(super) fn texts(&self, rows: usize) -> Texts<'_> {
        match self {
            Self::Constant(Value::Text(text)) => Texts::One(text.clone()),
            Self::Constant(value) => Texts::One(value.to_text().into_owned()),
            Self::Text(array, width) => Texts::Column(array, *width),
            other => Texts::Made((0..rows).map(|row| other.value(row).to_text().into_owned()).collect()),
        }
    }

    /// A vector of constants has this value in every row.
    fn constant(value: &Value, rows: usize) -> Self {
        match value {
            Value::Null => Self::Logical(BooleanArray::new_null(rows)),
            Value::Text(text) => Self::Text(StringArray::from_iter_values(std::iter::repeat_n(text, rows)), 0),
            Value::Integer(number) => Self::Integer(Int64Array::from_value(*number, rows)),
            Value::Decimal { unscaled, scale } => Self::decimals(vec![*unscaled; rows], None, *scale),
            Value::Double(number) => Self::Double(Float64Array::from_value(*number, rows)),
            Value::Logical(value) => Self::Logical(BooleanArray::from(vec![*value; rows])),
            Value::Date(days) => Self::Date(Date32Array::from_value(*days, rows)),
            Value::Time(ms) => Self::Time(Time32MillisecondArray::from_value(*ms, rows)),
            Value::Timestamp(ms) => Self::Timestamp(TimestampMillisecondArray::from_value(*ms, rows)),
            Value::Bytes(bytes) => Self::Bytes(BinaryArray::from_iter_values(std::iter::repeat_n(bytes, rows))),
        }
    }

    /// NULL in these rows too.
    ///
    /// # Errors
    /// [`Kind::Engine`] when there are not as many of them.
    pub(super) fn null_where(self, nulls: Option<NullBuffer>, rows: usize) -> Result<Self> {
        let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) else {
            return Ok(self);
        };
        let all = NullBuffer::union(self.nulls(), Some(&nulls));
        let count = |nulls: Option<&NullBuffer>| nulls.map_or(0, NullBuffer::null_count);
        if self.is_null() || count(all.as_ref()) == count(self.nulls()) {
            return Ok(self);
        }
        macro_rules! of {
            ($array:expr) => {
                $array.into_data().into_builder().nulls(all).build()?.into()
            };
        }
        Ok(match self.into_rows(rows) {
            Self::Constant(value) => Self::Constant(value),
            Self::Text(array, width) => Self::Text(of!(array), width),
            Self::Integer(array) => Self::Integer(of!(array)),
            Self::Decimal(array, scale) => Self::Decimal(of!(array), scale),
            Self::Double(array) => Self::Double(of!(array)),
            Self::Logical(array) => Self::Logical(of!(array)),
            Self::Date(array) => Self::Date(of!(array)),
            Self::Time(array) => Self::Time(of!(array)),
            Self::Timestamp(array) => Self::Timestamp(of!(array)),
            Self::Bytes(array) => Self::Bytes(of!(array)),
        })
    }

    pub(super) fn decimals(values: Vec<i128>, nulls: Option<NullBuffer>, scale: u8) -> Self {
        Self::Decimal(Decimal128Array::new(values.into(), nulls), scale)
    }

    /// An array of as many rows, even of a constant.
    pub(super) fn into_rows(self, rows: usize) -> Self {
        match self {
            Self::Constant(value) => Self::constant(&value, rows),
            other => other,
        }
    }

    /// As another type, value by value.
    ///
    /// # Errors
    /// [`Kind::Value`] for a value that is none of that type.
    pub(super) fn cast(self, wanted: Type, rows: usize) -> Result<Self> {
        let same = |a: Type, b: Type| match (a, b) {
            (Type::Text(_) | Type::Memo, Type::Text(_) | Type::Memo) => true,
            (a, b) => a == b,
        };
        if let Self::Constant(value) = &self {
            return value.cast(wanted).map(Self::Constant);
        }
        if wanted == Type::Unknown || same(self.type_of(), wanted) {
            return Ok(self);
        }
        let nulls = self.nulls().cloned();
        if let Type::Decimal(to) = wanted {
            let scaled = |value: i128, from: u8| rescale(value, from, to).filter(|made| has_room(*made));
            let made: Option<Vec<i128>> = match &self {
                Self::Integer(array) => array.values().iter().map(|value| scaled((*value).into(), 0)).collect(),
                Self::Decimal(array, from) => array.values().iter().map(|value| scaled(*value, *from)).collect(),
                _ => None,
            };
            if let Some(made) = made {
                return Ok(Self::decimals(made, nulls, to));
            }
        }
        Ok(match (&self, wanted) {
            (Self::Date(array), Type::Timestamp) => {
                let moments = array.values().iter().map(|day| midnight(*day));
                Self::Timestamp(TimestampMillisecondArray::new(moments.collect(), nulls))
            }
            (_, wanted) => {
                let values = (0..rows).map(|row| self.value(row).cast(wanted));
                Self::of_values(values.collect::<Result<Vec<_>>>()?, wanted)
            }
        })
    }

    /// Values of one type that came one by one: parameters, variables, the rows of `VALUES`.
    pub(super) fn of_values(values: Vec<Value>, type_of: Type) -> Self {
        macro_rules! collect {
            ($variant:ident) => {
                values
                    .into_iter()
                    .map(|value| match value {
                        Value::$variant(value) => Some(value),
                        _ => None,
                    })
                    .collect()
            };
        }
        match type_of {
            Type::Text(_) | Type::Memo => Self::Text(collect!(Text), 0),
            Type::Integer => Self::Integer(collect!(Integer)),
            Type::Double => Self::Double(collect!(Double)),
            Type::Logical | Type::Unknown => {
                let values: Vec<Option<bool>> = collect!(Logical);
                Self::Logical(values.into())
            }
            Type::Date => Self::Date(collect!(Date)),
            Type::Time => Self::Time(collect!(Time)),
            Type::Timestamp => Self::Timestamp(collect!(Timestamp)),
            Type::Bytes => {
                let values: Vec<Option<Vec<u8>>> = collect!(Bytes);
                Self::Bytes(values.iter().map(Option::as_deref).collect())
            }
            Type::Decimal(scale) => {
                let values = values.into_iter().map(|value| match value {
                    Value::Decimal { unscaled, scale: from } => rescale(unscaled, from, scale),
                    _ => None,
                });
                Self::Decimal(values.collect(), scale)
            }
        }
    }

    /// As the column of an answer: blank dates are null.
    ///
    /// # Errors
    /// As [`Vector::cast`].
    pub(super) fn into_answer(self, wanted: Type, rows: usize) -> Result<ArrayRef> {
        if self.is_null() {
            return Ok(new_null_array(&data_type(wanted), rows));
        }
        Ok(match self.cast(wanted, rows)?.into_rows(rows) {
            Self::Constant(_) => new_null_array(&data_type(wanted), rows),
            Self::Text(array, _) => Arc::new(array),
            Self::Integer(array) => Arc::new(array),
            Self::Decimal(array, scale) => {
                let digits = i8::try_from(scale).unwrap_or(0);
                Arc::new(array.with_precision_and_scale(DIGITS, digits)?)
            }
            Self::Double(array) => Arc::new(array),
            Self::Logical(array) => Arc::new(array),
            Self::Date(array) => match array.values().contains(&EMPTY_DATE) {
                true => Arc::new(
                    array
                        .iter()
                        .map(|day| day.filter(|day| *day != EMPTY_DATE))
                        .collect::<Date32Array>(),
                ),
                false => Arc::new(array),
            },
            Self::Time(array) => Arc::new(array),
            Self::Timestamp(array) => match array.values().contains(&EMPTY_TIMESTAMP) {
                true => {
                    let moments = array.iter().map(|ms| ms.filter(|ms| *ms != EMPTY_TIMESTAMP));
                    Arc::new(moments.collect::<TimestampMillisecondArray>())
                }
                false => Arc::new(array),
            },
            Self::Bytes(array) => Arc::new(array),
        })
    }

    /// The rows that a mask keeps.
    pub(super) fn keep(&self, mask: &BooleanArray) -> Result<Self> {
        self.map(|array| Ok(filter(array, mask)?))
    }

    /// The rows with these numbers.
    pub(super) fn take(&self, rows: &arrow_array::UInt32Array) -> Result<Self> {
        self.map(|array| Ok(take(array, rows, None)?))
    }

    fn map(&self, change: impl FnOnce(&dyn Array) -> Result<ArrayRef>) -> Result<Self> {
        let width = match self {
            Self::Text(_, width) => *width,
            _ => 0,
        };
        match (self, self.array()) {
            (_, None) => Ok(self.clone()),
            (Self::Decimal(_, scale), Some(array)) => Ok(Self::Decimal(change(array)?.as_primitive().clone(), *scale)),
            (_, Some(array)) => Self::of_column(&change(array)?, width, Blank::Apart),
        }
    }

    /// Frames of one expression, one after the other.
    ///
    /// # Errors
    /// [`Kind::Type`] when their types do not fit.
    pub(super) fn concatenated(parts: Vec<(Self, usize)>) -> Result<Self> {
        let mut type_of = Type::Unknown;
        let mut width = 0;
        for (part, _) in &parts {
            type_of = common(type_of, part.type_of())?;
            if let Self::Text(_, part) = part {
                width = width.max(*part);
            }
        }
        if type_of == Type::Unknown {
            return Ok(Self::Constant(Value::Null));
        }
        let mut arrays = Vec::with_capacity(parts.len());
        for (part, rows) in parts {
            arrays.push(match part.is_null() {
                true => new_null_array(&data_type(type_of), rows),
                false => part.cast(type_of, rows)?.into_plain(rows)?,
            });
        }
        let arrays: Vec<&dyn Array> = arrays.iter().map(|array| &**array).collect();
        match arrays.is_empty() {
            true => Ok(Self::Constant(Value::Null)),
            false => Self::of_column(&concat(&arrays)?, width, Blank::Apart),
        }
    }

    /// The rows of `then` where the mask is true, else those of `otherwise`.
    pub(super) fn chosen(mask: &BooleanArray, then: Self, otherwise: Self) -> Result<Self> {
        let rows = mask.len();
        if then.is_null() && otherwise.is_null() {
            return Ok(then);
        }
        let type_of = common(then.type_of(), otherwise.type_of())?;
        let width = |vector: &Self| match vector {
            Self::Text(_, width) => *width,
            _ => 0,
        };
        let width = width(&then).max(width(&otherwise));
        let part = |vector: Self| -> Result<ArrayRef> {
            if vector.is_null() {
                return Ok(new_null_array(&data_type(type_of), rows));
            }
            vector.cast(type_of, rows)?.into_rows(rows).into_plain(rows)
        };
        let (then, otherwise) = (part(then)?, part(otherwise)?);
        Self::of_column(&zip(mask, &then, &otherwise)?, width, Blank::Apart)
    }

    /// The array as it is.
    pub(super) fn into_plain(self, rows: usize) -> Result<ArrayRef> {
        Ok(match self.into_rows(rows) {
            Self::Constant(_) => new_null_array(&DataType::Boolean, rows),
            Self::Text(array, _) => Arc::new(array),
            Self::Integer(array) => Arc::new(array),
            Self::Decimal(array, scale) => {
                Arc::new(array.with_precision_and_scale(DIGITS, i8::try_from(scale).unwrap_or(0))?)
            }
            Self::Double(array) => Arc::new(array),
            Self::Logical(array) => Arc::new(array),
            Self::Date(array) => Arc::new(array),
            Self::Time(array) => Arc::new(array),
            Self::Timestamp(array) => Arc::new(array),
            Self::Bytes(array) => Arc::new(array),
        })
    }
}

/// The texts of a column, with the blanks that belong to them.
pub(super) enum Texts<'a> {
    One(String),
    Column(&'a StringArray, usize),
    Made(Vec<String>),
}

impl Texts<'_> {
    /// Without blanks at the end.
    pub(super) fn trimmed(&self, row: usize) -> &str {
        match self {
            Self::One(text) => trimmed(text),
            Self::Column(array, _) => trimmed(array.value(row)),
            Self::Made(texts) => texts.get(row).map_or("", |text| trimmed(text)),
        }
    }

    /// As stored: without the blanks that fill the field up.
    pub(super) fn stored(&self, row: usize) -> &str {
        match self {
            Self::One(text) => text,
            Self::Column(array, _) => array.value(row),
            Self::Made(texts) => texts.get(row).map_or("", String::as_str),
        }
    }

    /// Appends the whole text.
    pub(super) fn push_padded(&self, row: usize, to: &mut String) {
        let stored = self.stored(row);
        to.push_str(stored);
        if let Self::Column(_, width) = self {
            let missing = width.saturating_sub(stored.chars().count());
            to.extend(std::iter::repeat_n(' ', missing));
        }
    }

    /// The width that every text has at least.
    pub(super) fn width(&self) -> usize {
        match self {
            Self::Column(_, width) => *width,
            _ => 0,
        }
    }
}

/// The type of values that may be of either.
///
/// # Errors
/// [`Kind::Type`] when there is none.
pub(super) fn common(a: Type, b: Type) -> Result<Type> {
    a.with(b).ok_or_else(|| {
        let (a, b) = (a.noun(), b.noun());
        Error::new(
            Kind::Type,
            format!("Values of the types {a} and {b} do not fit together"),
        )
    })
}

/// A column of an answer in the type that its field has in the table: fewer digits, shorter numbers.
///
/// # Errors
/// [`Kind::Type`] for types that do not go together.
pub(super) fn into_type(array: ArrayRef, wanted: &DataType) -> Result<ArrayRef> {
    Ok(match (array.data_type(), wanted) {
        (made, wanted) if made == wanted => array,
        (DataType::Decimal128(_, _), DataType::Decimal128(digits, scale)) => {
            let numbers = array.as_primitive::<Decimal128Type>().clone();
            Arc::new(numbers.with_precision_and_scale(*digits, *scale)?)
        }
        (DataType::Int64, DataType::Int32) => {
            let numbers = array.as_primitive::<Int64Type>();
            let short = numbers
                .iter()
                .map(|number| number.and_then(|number| i32::try_from(number).ok()));
            Arc::new(short.collect::<Int32Array>())
        }
        (made, wanted) => {
            let why = format!("A column of the type {made} is not of the type {wanted}");
            return Err(Error::new(Kind::Type, why));
        }
    })
}

/// The Arrow type of a column of an answer.
pub(super) fn data_type(type_of: Type) -> DataType {
    match type_of {
        Type::Unknown | Type::Logical => DataType::Boolean,
        Type::Text(_) | Type::Memo => DataType::Utf8,
        Type::Integer => DataType::Int64,
        Type::Decimal(scale) => DataType::Decimal128(DIGITS, i8::try_from(scale).unwrap_or(0)),
        Type::Double => DataType::Float64,
        Type::Date => DataType::Date32,
        Type::Time => DataType::Time32(TimeUnit::Millisecond),
        Type::Timestamp => DataType::Timestamp(TimeUnit::Millisecond, None),
        Type::Bytes => DataType::Binary,
    }
}
