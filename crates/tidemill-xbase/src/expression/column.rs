//! The values of an expression over the rows of a batch, column by column.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Float64Array, NullArray, StringArray, TimestampMillisecondArray,
    new_null_array,
};
use arrow_buffer::{
    BooleanBuffer, BooleanBufferBuilder, Buffer, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer,
};
use arrow_schema::{DataType, TimeUnit};

use super::program::TooLong;
use super::value::{Type, Value, unix_days, unix_ms};
use crate::codepage::{CodePage, Decoder};
use crate::error::Result;

/// The most bytes that the texts of one column of a batch may have together.
pub(super) const MAX_COLUMN: usize = 256 << 20;

/// A column of values, or one value for all rows.
#[derive(Debug, Clone)]
pub(super) enum Vector {
    Constant(Value<'static>, Type),
    Column(Data, Option<NullBuffer>),
}

#[derive(Debug, Clone)]
pub(super) enum Data {
    Character(Strings),
    Number(ScalarBuffer<f64>),
    Logical(BooleanBuffer),
    /// Julian day numbers, 0 for none.
    Date(ScalarBuffer<i64>),
    /// Milliseconds since Julian day 0, 0 for none.
    Timestamp(ScalarBuffer<i64>),
}

/// Texts one behind the other.
#[derive(Debug, Clone)]
pub(super) struct Strings {
    pub(super) offsets: OffsetBuffer<i32>,
    pub(super) bytes: Buffer,
    /// The length that every text has at least: blanks that are not stored. 0 where texts are stored whole.
    pub(super) width: usize,
}

impl Strings {
    /// Texts of one length, stored whole.
    pub(super) fn fixed(bytes: Vec<u8>, len: usize, rows: usize) -> Result<Self, TooLong> {
        let ends = i32::try_from(len)
            .ok()
            .filter(|_| bytes.len() <= MAX_COLUMN)
            .zip(i32::try_from(rows).ok());
        let Some((len, rows)) = ends else {
            return Err(TooLong(bytes.len()));
        };
        Ok(Self {
            offsets: OffsetBuffer::new((0..=rows).map(|row| row * len).collect()),
            bytes: Buffer::from_vec(bytes),
            width: 0,
        })
    }

    /// The length that every text has, where they all have one.
    pub(super) fn common_len(&self) -> Option<usize> {
        if self.width == 0 {
            return self.stored_len().map(|(_, len)| len);
        }
        let width = i32::try_from(self.width).ok()?;
        // Without a branch a step, the compiler takes many at once.
        let is_within = self.lens().fold(true, |all, len| all & (len <= width));
        is_within.then_some(self.width)
    }

    /// Where the first text begins and how long every one is stored, where they are stored in one length.
    pub(super) fn stored_len(&self) -> Option<(usize, usize)> {
        let first = self.lens().next()?;
        let is_same = self.lens().fold(true, |all, len| all & (len == first));
        let start = usize::try_from(*self.offsets.first()?).ok()?;
        is_same.then_some((start, usize::try_from(first).ok()?))
    }

    fn lens(&self) -> impl Iterator<Item = i32> {
        let ends = self.offsets.get(1..).unwrap_or_default();
        self.offsets
            .iter()
            .zip(ends)
            .map(|(start, end)| end.wrapping_sub(*start))
    }

    /// The stored bytes of a row, without the blanks that `width` adds.
    #[inline]
    pub(super) fn stored(&self, row: usize) -> &[u8] {
        let at = |i: usize| self.offsets.get(i).and_then(|o| usize::try_from(*o).ok()).unwrap_or(0);
        self.bytes.get(at(row)..at(row + 1)).unwrap_or_default()
    }

    /// The text of a row.
    pub(super) fn text(&self, row: usize) -> Cow<'_, [u8]> {
        let stored = self.stored(row);
        if stored.len() >= self.width {
            return Cow::Borrowed(stored);
        }
        let mut text = Vec::with_capacity(self.width);
        text.extend_from_slice(stored);
        text.resize(self.width, b' ');
        Cow::Owned(text)
    }

    pub(super) fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }
}

impl Vector {
    pub(super) fn nulls(&self) -> Option<&NullBuffer> {
        match self {
            Self::Constant(..) => None,
            Self::Column(_, nulls) => nulls.as_ref(),
        }
    }

    /// The value of a row.
    pub(super) fn value(&self, row: usize) -> Value<'_> {
        match self {
            Self::Constant(value, _) => super::program::borrowed(value),
            Self::Column(_, Some(nulls)) if nulls.is_null(row) => Value::Null,
            Self::Column(data, _) => match data {
                Data::Character(texts) => Value::Character(texts.text(row)),
                Data::Number(numbers) => Value::Number(numbers.get(row).copied().unwrap_or(0.0)),
                Data::Logical(bits) => Value::Logical(row < bits.len() && bits.value(row)),
                Data::Date(days) => Value::Date(days.get(row).copied().unwrap_or(0)),
                Data::Timestamp(ms) => Value::Timestamp(ms.get(row).copied().unwrap_or(0)),
            },
        }
    }

    /// As an Arrow array; texts as Utf8 decoded with a code page, or as Binary without one.
    pub(super) fn into_array(self, rows: usize, codepage: Option<CodePage>) -> Result<ArrayRef> {
        let (data, nulls) = match self {
            Self::Constant(Value::Null, type_of) => {
                let data_type = match (type_of, codepage) {
                    (Type::Character, None) => DataType::Binary,
                    (Type::Character, Some(_)) => DataType::Utf8,
                    (Type::Number, _) => DataType::Float64,
                    (Type::Logical, _) => DataType::Boolean,
                    (Type::Date, _) => DataType::Date32,
                    (Type::Timestamp, _) => DataType::Timestamp(TimeUnit::Millisecond, None),
                    (Type::Null, _) => return Ok(Arc::new(NullArray::new(rows))),
                };
                return Ok(new_null_array(&data_type, rows));
            }
            Self::Constant(value, type_of) => {
                let mut builder = Builder::new(type_of, rows);
                for _ in 0..rows {
                    builder.push(super::program::borrowed(&value)).map_err(|e| e.at(1))?;
                }
                return builder.finish().into_array(rows, codepage);
            }
            Self::Column(data, nulls) => (data, nulls),
        };
        Ok(match data {
            Data::Character(texts) => texts.into_array(nulls, codepage)?,
            Data::Number(numbers) => Arc::new(Float64Array::new(numbers, nulls)),
            Data::Logical(bits) => Arc::new(BooleanArray::new(bits, nulls)),
            Data::Date(days) => {
                let days = days.iter().enumerate();
                let is_valid = |row: usize| nulls.as_ref().is_none_or(|n| n.is_valid(row));
                let array: Date32Array = days
                    .map(|(row, day)| unix_days(*day).filter(|_| is_valid(row)))
                    .collect();
                Arc::new(array)
            }
            Data::Timestamp(ms) => {
                let ms = ms.iter().enumerate();
                let is_valid = |row: usize| nulls.as_ref().is_none_or(|n| n.is_valid(row));
                let array: TimestampMillisecondArray = ms
                    .map(|(row, ms)| Some(unix_ms(*ms)).filter(|_| *ms != 0 && is_valid(row)))
                    .collect();
                Arc::new(array)
            }
        })
    }
}

impl Strings {
    /// With every text stored whole.
    fn padded(self) -> Result<Self> {
        if self.width == 0 || (0..self.len()).all(|row| self.stored(row).len() >= self.width) {
            return Ok(self);
        }
        let mut builder = TextBuilder::new(self.len(), self.len() * self.width);
        for row in 0..self.len() {
            let stored = self.stored(row);
            builder.bytes.extend_from_slice(stored);
            builder.blanks(self.width.saturating_sub(stored.len()));
            builder.end().map_err(|e| e.at(1))?;
        }
        Ok(builder.finish())
    }

    fn into_array(self, nulls: Option<NullBuffer>, codepage: Option<CodePage>) -> Result<ArrayRef> {
        let texts = self.padded()?;
        let Some(codepage) = codepage else {
            return Ok(Arc::new(BinaryArray::try_new(texts.offsets, texts.bytes, nulls)?));
        };
        let is_plain = texts.bytes.is_ascii() || matches!(codepage.decoder(), Decoder::Utf8);
        if is_plain && let Ok(array) = StringArray::try_new(texts.offsets.clone(), texts.bytes.clone(), nulls.clone()) {
            return Ok(Arc::new(array));
        }
        let decoder = codepage.decoder();
        let mut builder = TextBuilder::new(texts.len(), texts.bytes.len());
        for row in 0..texts.len() {
            let stored = texts.stored(row);
            if stored.is_ascii() {
                builder.bytes.extend_from_slice(stored);
            } else {
                decoder.decode_into(stored, &mut builder.bytes);
            }
            builder.end().map_err(|e| e.at(1))?;
        }
        let texts = builder.finish();
        Ok(Arc::new(StringArray::try_new(texts.offsets, texts.bytes, nulls)?))
    }
}

/// Collects texts.
pub(super) struct TextBuilder {
    offsets: Vec<i32>,
    pub(super) bytes: Vec<u8>,
}

impl TextBuilder {
    pub(super) fn new(rows: usize, bytes: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self {
            offsets,
            bytes: Vec::with_capacity(bytes.min(MAX_COLUMN)),
        }
    }

    pub(super) fn blanks(&mut self, count: usize) {
        self.bytes.resize(self.bytes.len() + count, b' ');
    }

    /// Ends the text of a row.
    #[inline]
    pub(super) fn end(&mut self) -> Result<(), TooLong> {
        match i32::try_from(self.bytes.len()) {
            Ok(end) if self.bytes.len() <= MAX_COLUMN => {
                self.offsets.push(end);
                Ok(())
            }
            _ => Err(TooLong(self.bytes.len())),
        }
    }

    pub(super) fn finish(self) -> Strings {
        Strings {
            offsets: OffsetBuffer::new(self.offsets.into()),
            bytes: Buffer::from_vec(self.bytes),
            width: 0,
        }
    }
}

/// Collects values of one type, row by row.
pub(super) struct Builder {
    data: BuilderData,
    nulls: NullBufferBuilder,
}

enum BuilderData {
    Character(TextBuilder),
    Number(Vec<f64>),
    Logical(BooleanBufferBuilder),
    Date(Vec<i64>),
    Timestamp(Vec<i64>),
}

impl Builder {
    pub(super) fn new(type_of: Type, rows: usize) -> Self {
        let data = match type_of {
            Type::Character => BuilderData::Character(TextBuilder::new(rows, 0)),
            Type::Number => BuilderData::Number(Vec::with_capacity(rows)),
            Type::Logical | Type::Null => BuilderData::Logical(BooleanBufferBuilder::new(rows)),
            Type::Date => BuilderData::Date(Vec::with_capacity(rows)),
            Type::Timestamp => BuilderData::Timestamp(Vec::with_capacity(rows)),
        };
        Self {
            data,
            nulls: NullBufferBuilder::new(rows),
        }
    }

    /// Appends a value of the builder's type or `.NULL.`.
    pub(super) fn push(&mut self, value: Value<'_>) -> Result<(), TooLong> {
        self.nulls.append(!value.is_null());
        match &mut self.data {
            BuilderData::Character(builder) => {
                builder.bytes.extend_from_slice(value.bytes());
                builder.end()?;
            }
            BuilderData::Number(numbers) => numbers.push(value.number()),
            BuilderData::Logical(bits) => bits.append(value.logical()),
            BuilderData::Date(days) => days.push(value.day()),
            BuilderData::Timestamp(moments) => moments.push(match value {
                Value::Timestamp(ms) => ms,
                _ => 0,
            }),
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Vector {
        let data = match self.data {
            BuilderData::Character(builder) => Data::Character(builder.finish()),
            BuilderData::Number(numbers) => Data::Number(numbers.into()),
            BuilderData::Logical(mut bits) => Data::Logical(bits.finish()),
            BuilderData::Date(days) => Data::Date(days.into()),
            BuilderData::Timestamp(ms) => Data::Timestamp(ms.into()),
        };
        Vector::Column(data, self.nulls.finish())
    }
}
