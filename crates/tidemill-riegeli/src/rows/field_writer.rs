//! Columns to fields: each column of a batch appends the field of a row to a message.

use std::ops::Range;

use arrow_array::{
    Array, ArrowPrimitiveType, BooleanArray,
    cast::AsArray,
    types::{
        Date32Type, Date64Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
        UInt8Type, UInt16Type, UInt32Type, UInt64Type,
    },
};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

use super::mapping::{ITEMS, LENGTH_DELIMITED, List, Mapping, NULLS, Storage, field_number};
use crate::varint::{MAX_VARINT64, varint64_bytes, write_varint64};

/// Writes the field of a column, or the items of a list.
pub(super) struct FieldWriter<'a> {
    tag: Tag,
    nulls: Option<NullBuffer>,
    values: Values<'a>,
}

/// The encoded tag of a field, or nothing for packed values.
#[derive(Clone, Copy, Default)]
struct Tag {
    bytes: [u8; 5],
    length: usize,
}

enum Values<'a> {
    Cells(Storage, Cells<'a>),
    Struct(Vec<FieldWriter<'a>>),
    List(Box<ListWriter<'a>>),
    /// Which of the values each row has.
    Dictionary(Vec<usize>, Box<Values<'a>>),
}

struct ListWriter<'a> {
    offsets: Offsets<'a>,
    /// The items. Their tag is empty when they are packed.
    items: FieldWriter<'a>,
    /// The tag of all items together, when they are packed.
    packed: Option<Tag>,
    /// The tag of the positions of nulls, where there can be some.
    null_positions: Option<Tag>,
    wrapped: bool,
}

enum Offsets<'a> {
    I32(&'a [i32]),
    I64(&'a [i64]),
    Fixed(usize),
}

impl<'a> FieldWriter<'a> {
    /// Writes the values of `array`, a column of the type of `mapping`, in field `number`.
    pub(super) fn new(number: u32, mapping: &Mapping, array: &'a dyn Array) -> Self {
        Self::with_tag(Tag::new(number, mapping.wire_type()), number, mapping, array)
    }

    fn with_tag(tag: Tag, number: u32, mapping: &Mapping, array: &'a dyn Array) -> Self {
        Self {
            tag,
            nulls: array.logical_nulls().filter(|nulls| nulls.null_count() > 0),
            values: Values::new(number, mapping, array),
        }
    }

    /// Appends the field of a row, or nothing for a null.
    #[inline]
    pub(super) fn append(&self, row: usize, out: &mut Vec<u8>) {
        if self.is_null(row) {
            return;
        }
        match &self.values {
            Values::Cells(_, cells) => cells.append(self.tag.as_slice(), row, out),
            nested => nested.append(self.tag.as_slice(), row, out),
        }
    }

    /// Appends an item of a list. A null is written as zero, an empty value or an empty message.
    fn append_item(&self, row: usize, out: &mut Vec<u8>) {
        match self.is_null(row) {
            false => self.values.append(self.tag.as_slice(), row, out),
            true => self.values.append_zero(self.tag.as_slice(), out),
        }
    }

    #[inline]
    fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }
}

impl<'a> Values<'a> {
    fn new(number: u32, mapping: &Mapping, array: &'a dyn Array) -> Self {
        if let Some(dictionary) = array.as_any_dictionary_opt() {
            let values = Self::new(number, mapping, dictionary.values().as_ref());
            // Without values every key is null, and there is nothing that it could mean.
            let keys = match dictionary.values().is_empty() {
                true => Vec::new(),
                false => dictionary.normalized_keys(),
            };
            return Self::Dictionary(keys, Box::new(values));
        }
        match mapping {
            Mapping::Scalar(storage) => Self::Cells(*storage, Cells::new(array)),
            Mapping::Struct(children) => {
                let columns = array.as_struct().columns();
                let fields = (0..).zip(children).zip(columns);
                Self::Struct(
                    fields
                        .map(|((index, child), column)| FieldWriter::new(field_number(index), &child.mapping, column))
                        .collect(),
                )
            }
            Mapping::List(list) => Self::List(Box::new(ListWriter::new(number, list, array))),
        }
    }

    fn append(&self, tag: &[u8], row: usize, out: &mut Vec<u8>) {
        match self {
            Self::Cells(_, cells) => cells.append(tag, row, out),
            Self::Struct(fields) => append_message(tag, out, |out| {
                for field in fields {
                    field.append(row, out);
                }
            }),
            Self::List(list) if list.wrapped => append_message(tag, out, |out| list.append(row, out)),
            Self::List(list) => list.append(row, out),
            Self::Dictionary(keys, values) => values.append(tag, keys[row], out),
        }
    }

    fn append_zero(&self, tag: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Cells(storage, _) => match storage {
                Storage::Fixed32 => append_fixed(tag, &[0; 4], out),
                Storage::Fixed64 => append_fixed(tag, &[0; 8], out),
                // A varint of 0, or a length of 0.
                _ => append_fixed(tag, &[0], out),
            },
            Self::Struct(_) | Self::List(_) => append_fixed(tag, &[0], out),
            Self::Dictionary(_, values) => values.append_zero(tag, out),
        }
    }
}

impl<'a> ListWriter<'a> {
    /// `number` is that of the list's own field, which a list that is not wrapped repeats.
    fn new(number: u32, list: &List, array: &'a dyn Array) -> Self {
        let (offsets, items) = match array.data_type() {
            DataType::LargeList(_) => {
                let list = array.as_list::<i64>();
                (Offsets::I64(list.value_offsets()), list.values().as_ref())
            }
            DataType::FixedSizeList(_, _) => {
                let list = array.as_fixed_size_list();
                (
                    Offsets::Fixed(list.value_length().unsigned_abs() as usize),
                    list.values().as_ref(),
                )
            }
            DataType::Map(_, _) => {
                let map = array.as_map();
                (Offsets::I32(map.value_offsets()), map.entries() as &dyn Array)
            }
            _ => {
                let list = array.as_list::<i32>();
                (Offsets::I32(list.value_offsets()), list.values().as_ref())
            }
        };
        let number = if list.wrapped { ITEMS } else { number };
        let is_packed = list.item.is_packed();
        let tag = match is_packed {
            true => Tag::default(),
            false => Tag::new(number, list.item.wire_type()),
        };
        Self {
            offsets,
            items: FieldWriter::with_tag(tag, number, &list.item, items),
            packed: is_packed.then(|| Tag::new(number, LENGTH_DELIMITED)),
            null_positions: list.items_nullable.then(|| Tag::new(NULLS, LENGTH_DELIMITED)),
            wrapped: list.wrapped,
        }
    }

    fn append(&self, row: usize, out: &mut Vec<u8>) {
        let range = self.offsets.range(row);
        if range.is_empty() {
            return;
        }
        let append_items = |out: &mut Vec<u8>| {
            for row in range.clone() {
                self.items.append_item(row, out);
            }
        };
        match &self.packed {
            Some(tag) => append_message(tag.as_slice(), out, append_items),
            None => append_items(out),
        }
        let is_null = |row: &usize| self.items.is_null(*row);
        if let Some(tag) = &self.null_positions
            && range.clone().any(|row| is_null(&row))
        {
            append_message(tag.as_slice(), out, |out| {
                for row in range.clone().filter(is_null) {
                    write_varint64((row - range.start) as u64, out);
                }
            });
        }
    }
}

impl Offsets<'_> {
    #[inline]
    fn range(&self, row: usize) -> Range<usize> {
        match self {
            // Offsets of an array are not negative.
            Self::I32(offsets) => offsets[row] as usize..offsets[row + 1] as usize,
            Self::I64(offsets) => offsets[row] as usize..offsets[row + 1] as usize,
            Self::Fixed(size) => row * size..(row + 1) * size,
        }
    }
}

impl Tag {
    fn new(number: u32, wire_type: u8) -> Self {
        let (encoded, length) = varint64_bytes(u64::from(number << 3 | u32::from(wire_type)));
        let mut bytes = [0; 5];
        bytes[..length].copy_from_slice(&encoded[..length]);
        Self { bytes, length }
    }

    #[inline]
    fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// The values of a scalar column.
enum Cells<'a> {
    Bool(&'a BooleanArray),
    I8(&'a [i8]),
    I16(&'a [i16]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    U8(&'a [u8]),
    U16(&'a [u16]),
    U32(&'a [u32]),
    U64(&'a [u64]),
    F32(&'a [f32]),
    F64(&'a [f64]),
    SmallDecimal(&'a [i128]),
    LargeDecimal(&'a [i128]),
    Offsets32(&'a [i32], &'a [u8]),
    Offsets64(&'a [i64], &'a [u8]),
    Other(&'a dyn Array),
}

impl<'a> Cells<'a> {
    fn new(array: &'a dyn Array) -> Self {
        fn values<T: ArrowPrimitiveType>(array: &dyn Array) -> &[T::Native] {
            array.as_primitive::<T>().values()
        }
        use arrow_array::types::{
            DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType,
            Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
            TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
        };
        use arrow_schema::TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
        match array.data_type() {
            DataType::Boolean => Self::Bool(array.as_boolean()),
            DataType::Int8 => Self::I8(values::<Int8Type>(array)),
            DataType::Int16 => Self::I16(values::<Int16Type>(array)),
            DataType::Int32 => Self::I32(values::<Int32Type>(array)),
            DataType::Date32 => Self::I32(values::<Date32Type>(array)),
            DataType::Time32(Second) => Self::I32(values::<Time32SecondType>(array)),
            DataType::Time32(_) => Self::I32(values::<Time32MillisecondType>(array)),
            DataType::Int64 => Self::I64(values::<Int64Type>(array)),
            DataType::Date64 => Self::I64(values::<Date64Type>(array)),
            DataType::Time64(Microsecond) => Self::I64(values::<Time64MicrosecondType>(array)),
            DataType::Time64(_) => Self::I64(values::<Time64NanosecondType>(array)),
            DataType::Timestamp(Second, _) => Self::I64(values::<TimestampSecondType>(array)),
            DataType::Timestamp(Millisecond, _) => Self::I64(values::<TimestampMillisecondType>(array)),
            DataType::Timestamp(Microsecond, _) => Self::I64(values::<TimestampMicrosecondType>(array)),
            DataType::Timestamp(Nanosecond, _) => Self::I64(values::<TimestampNanosecondType>(array)),
            DataType::Duration(Second) => Self::I64(values::<DurationSecondType>(array)),
            DataType::Duration(Millisecond) => Self::I64(values::<DurationMillisecondType>(array)),
            DataType::Duration(Microsecond) => Self::I64(values::<DurationMicrosecondType>(array)),
            DataType::Duration(Nanosecond) => Self::I64(values::<DurationNanosecondType>(array)),
            DataType::UInt8 => Self::U8(values::<UInt8Type>(array)),
            DataType::UInt16 => Self::U16(values::<UInt16Type>(array)),
            DataType::UInt32 => Self::U32(values::<UInt32Type>(array)),
            DataType::UInt64 => Self::U64(values::<UInt64Type>(array)),
            DataType::Float32 => Self::F32(values::<Float32Type>(array)),
            DataType::Float64 => Self::F64(values::<Float64Type>(array)),
            DataType::Decimal128(precision, _) => {
                let values = values::<Decimal128Type>(array);
                if *precision <= 18 {
                    Self::SmallDecimal(values)
                } else {
                    Self::LargeDecimal(values)
                }
            }
            DataType::Utf8 => {
                let array = array.as_string::<i32>();
                Self::Offsets32(array.value_offsets(), array.value_data())
            }
            DataType::Binary => {
                let array = array.as_binary::<i32>();
                Self::Offsets32(array.value_offsets(), array.value_data())
            }
            DataType::LargeUtf8 => {
                let array = array.as_string::<i64>();
                Self::Offsets64(array.value_offsets(), array.value_data())
            }
            DataType::LargeBinary => {
                let array = array.as_binary::<i64>();
                Self::Offsets64(array.value_offsets(), array.value_data())
            }
            _ => Self::Other(array),
        }
    }

    #[inline(always)]
    fn append(&self, tag: &[u8], row: usize, out: &mut Vec<u8>) {
        let varint = |value: u64, out: &mut Vec<u8>| append_varint(tag, value, out);
        match self {
            Self::Bool(cells) => varint(u64::from(cells.value(row)), out),
            Self::I8(cells) => varint(zigzag(cells[row].into()), out),
            Self::I16(cells) => varint(zigzag(cells[row].into()), out),
            Self::I32(cells) => varint(zigzag(cells[row].into()), out),
            Self::I64(cells) => varint(zigzag(cells[row]), out),
            Self::U8(cells) => varint(cells[row].into(), out),
            Self::U16(cells) => varint(cells[row].into(), out),
            Self::U32(cells) => varint(cells[row].into(), out),
            Self::U64(cells) => varint(cells[row], out),
            Self::F32(cells) => append_fixed(tag, &cells[row].to_le_bytes(), out),
            Self::F64(cells) => append_fixed(tag, &cells[row].to_le_bytes(), out),
            // A decimal of 18 digits fits 64 bits; digits beyond the precision are cut off like those of any overflow.
            Self::SmallDecimal(cells) => varint(zigzag(cells[row] as i64), out),
            Self::LargeDecimal(cells) => append_bytes(tag, &cells[row].to_be_bytes(), out),
            Self::Offsets32(offsets, values) => {
                append_bytes(tag, &values[offsets[row] as usize..offsets[row + 1] as usize], out);
            }
            Self::Offsets64(offsets, values) => {
                append_bytes(tag, &values[offsets[row] as usize..offsets[row + 1] as usize], out);
            }
            Self::Other(array) => append_bytes(tag, other_value(*array, row), out),
        }
    }
}

fn other_value(array: &dyn Array, row: usize) -> &[u8] {
    match array.data_type() {
        DataType::Utf8View => array.as_string_view().value(row).as_bytes(),
        DataType::BinaryView => array.as_binary_view().value(row),
        _ => array.as_fixed_size_binary().value(row),
    }
}

#[inline]
fn append_varint(tag: &[u8], mut value: u64, out: &mut Vec<u8>) {
    let mut field = [0_u8; 5 + MAX_VARINT64];
    field[..tag.len()].copy_from_slice(tag);
    let mut length = tag.len();
    while value >= 0x80 {
        field[length] = (value & 0x7f) as u8 | 0x80;
        value >>= 7;
        length += 1;
    }
    field[length] = (value & 0x7f) as u8;
    out.extend_from_slice(&field[..=length]);
}

#[inline]
fn append_fixed(tag: &[u8], value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(tag);
    out.extend_from_slice(value);
}

#[inline]
fn append_bytes(tag: &[u8], value: &[u8], out: &mut Vec<u8>) {
    append_varint(tag, value.len() as u64, out);
    out.extend_from_slice(value);
}

/// Appends a message or packed values. The length, which is known last, is mostly one byte.
fn append_message(tag: &[u8], out: &mut Vec<u8>, content: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(tag);
    out.push(0);
    let start = out.len();
    content(out);
    let (length, size) = varint64_bytes((out.len() - start) as u64);
    if size == 1 {
        out[start - 1] = length[0];
    } else {
        out.splice(start - 1..start, length.into_iter().take(size));
    }
}

/// Folds the sign into the lowest bit.
#[inline]
fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}
