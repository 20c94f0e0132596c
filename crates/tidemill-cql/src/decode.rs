//! Values from the bytes of a page, straight into the buffers of Arrow arrays.
//!
//! A page comes row by row, and a [`Column`] takes one cell after another. There is no value in between: a number is its bytes in
//! reverse order, a text is copied once. Every length is checked before it is used.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, BooleanBuilder, PrimitiveBuilder, StringBuilder};
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, DecimalType, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, IntervalMonthDayNanoType, Time64NanosecondType, TimestampMillisecondType,
};
use arrow_array::{ArrayRef, FixedSizeListArray, ListArray, MapArray, StructArray};
use arrow_buffer::{IntervalMonthDayNano, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, FieldRef, Fields};
use scylla::frame::response::result::{CollectionType, ColumnType, NativeType};
use uuid::Uuid;

use crate::decimal;
use crate::error::{Misfit, Result};
use crate::{arrow_type, cql_text, vint};

/// The array of a column's cells: the bytes of a value each, without their length; `None` is NULL.
///
/// # Errors
///
/// [`Error::Corrupt`](crate::Error::Corrupt) for bytes that are no value of the type.
///
/// ```
/// use arrow_array::cast::AsArray;
/// use arrow_array::types::Int32Type;
/// use tidemill_cql::{ColumnType, NativeType, array_of_cells};
///
/// let array = array_of_cells(&ColumnType::Native(NativeType::Int), [Some(&[0, 0, 1, 0][..]), None])?;
/// assert_eq!(array.as_primitive::<Int32Type>().iter().collect::<Vec<_>>(), [Some(256), None]);
/// # Ok::<(), tidemill_cql::Error>(())
/// ```
pub fn array_of_cells<'a>(typ: &ColumnType<'_>, cells: impl IntoIterator<Item = Option<&'a [u8]>>) -> Result<ArrayRef> {
    let mut column = Column::new(typ, 0);
    for (row, cell) in cells.into_iter().enumerate() {
        let appended = column.append(cell);
        appended.map_err(|misfit| misfit.read(&format!("cell {row}"), &cql_text::type_name(typ)))?;
    }
    column.finish()
}

/// Takes the cells of a column and makes an array of them.
///
/// An empty cell of a type whose values all have bytes is what Cassandra calls *empty*, and is null.
pub(crate) enum Column {
    Boolean(BooleanBuilder),
    TinyInt(PrimitiveBuilder<Int8Type>),
    SmallInt(PrimitiveBuilder<Int16Type>),
    Int(PrimitiveBuilder<Int32Type>),
    BigInt(PrimitiveBuilder<Int64Type>),
    Float(PrimitiveBuilder<Float32Type>),
    Double(PrimitiveBuilder<Float64Type>),
    Date(PrimitiveBuilder<Date32Type>),
    Time(PrimitiveBuilder<Time64NanosecondType>),
    Timestamp(PrimitiveBuilder<TimestampMillisecondType>),
    Duration(PrimitiveBuilder<IntervalMonthDayNanoType>),
    Text(StringBuilder),
    Ascii(StringBuilder),
    Uuid(StringBuilder),
    Inet(StringBuilder),
    Varint(StringBuilder),
    Decimal(StringBuilder),
    /// A `decimal` whose values are known to have one scale.
    ScaledDecimal(PrimitiveBuilder<Decimal128Type>, u8, i8),
    Blob(BinaryBuilder),
    List(Elements),
    Map {
        keys: Elements,
        values: Box<Column>,
        entries: FieldRef,
    },
    Vector {
        items: Box<Column>,
        item: FieldRef,
        dimensions: u16,
        /// The bytes of an element, where all have the same number.
        width: Option<usize>,
        nulls: NullBufferBuilder,
    },
    /// Tuples and user-defined types.
    Struct {
        columns: Vec<Column>,
        fields: Fields,
        nulls: NullBufferBuilder,
    },
}

/// The elements of lists and sets, or the keys of maps, and where each one's begin.
pub(crate) struct Elements {
    items: Box<Column>,
    field: FieldRef,
    ends: Vec<i32>,
    nulls: NullBufferBuilder,
}

impl Column {
    /// A column of values of type `typ`, whose arrays are of [`arrow_type::data_type`].
    pub(crate) fn new(typ: &ColumnType<'_>, rows: usize) -> Self {
        match typ {
            ColumnType::Native(native) => Self::native(native, rows),
            ColumnType::Collection {
                typ: CollectionType::List(element) | CollectionType::Set(element),
                ..
            } => Self::List(Elements::new(element, rows)),
            ColumnType::Collection {
                typ: CollectionType::Map(key, value),
                ..
            } => match arrow_type::data_type(typ) {
                DataType::Map(entries, _) => Self::Map {
                    keys: Elements::new(key, rows),
                    values: Box::new(Self::new(value, rows)),
                    entries,
                },
                _ => Self::Blob(BinaryBuilder::new()),
            },
            ColumnType::Vector {
                typ: element,
                dimensions,
            } => Self::Vector {
                // A null has no elements, and vectors of vectors multiply.
                items: Box::new(Self::new(
                    element,
                    rows.saturating_mul(usize::from(*dimensions)).min(MOST_RESERVED),
                )),
                item: Arc::new(arrow_type::field("item", element)),
                dimensions: *dimensions,
                width: element.type_size_for_vector(),
                nulls: NullBufferBuilder::new(rows),
            },
            ColumnType::Tuple(types) => Self::fields(types.iter(), typ, rows),
            ColumnType::UserDefinedType { definition, .. } => {
                Self::fields(definition.field_types.iter().map(|(_, typ)| typ), typ, rows)
            }
            _ => Self::Blob(BinaryBuilder::new()),
        }
    }

    /// [`Column::new`], with arrays of type `wanted` where that is told from the bytes at once.
    pub(crate) fn wanted(typ: &ColumnType<'_>, wanted: &DataType, rows: usize) -> Self {
        match (typ, wanted) {
            (ColumnType::Native(NativeType::Decimal), DataType::Decimal128(precision, scale)) => {
                Self::ScaledDecimal(PrimitiveBuilder::with_capacity(rows), *precision, *scale)
            }
            _ => Self::new(typ, rows),
        }
    }

    fn native(native: &NativeType, rows: usize) -> Self {
        const TEXT: usize = 16;
        let text = || StringBuilder::with_capacity(rows, rows * TEXT);
        match native {
            NativeType::Boolean => Self::Boolean(BooleanBuilder::with_capacity(rows)),
            NativeType::TinyInt => Self::TinyInt(PrimitiveBuilder::with_capacity(rows)),
            NativeType::SmallInt => Self::SmallInt(PrimitiveBuilder::with_capacity(rows)),
            NativeType::Int => Self::Int(PrimitiveBuilder::with_capacity(rows)),
            NativeType::BigInt | NativeType::Counter => Self::BigInt(PrimitiveBuilder::with_capacity(rows)),
            NativeType::Float => Self::Float(PrimitiveBuilder::with_capacity(rows)),
            NativeType::Double => Self::Double(PrimitiveBuilder::with_capacity(rows)),
            NativeType::Date => Self::Date(PrimitiveBuilder::with_capacity(rows)),
            NativeType::Time => Self::Time(PrimitiveBuilder::with_capacity(rows)),
            NativeType::Timestamp => Self::Timestamp(PrimitiveBuilder::with_capacity(rows)),
            NativeType::Duration => Self::Duration(PrimitiveBuilder::with_capacity(rows)),
            NativeType::Text => Self::Text(text()),
            NativeType::Ascii => Self::Ascii(text()),
            NativeType::Uuid | NativeType::Timeuuid => Self::Uuid(text()),
            NativeType::Inet => Self::Inet(text()),
            NativeType::Varint => Self::Varint(text()),
            NativeType::Decimal => Self::Decimal(text()),
            _ => Self::Blob(BinaryBuilder::with_capacity(rows, rows * TEXT)),
        }
    }

    fn fields<'a>(types: impl Iterator<Item = &'a ColumnType<'a>>, typ: &ColumnType<'_>, rows: usize) -> Self {
        let fields = match arrow_type::data_type(typ) {
            DataType::Struct(fields) => fields,
            _ => Fields::empty(),
        };
        Self::Struct {
            columns: types.map(|typ| Self::new(typ, rows)).collect(),
            fields,
            nulls: NullBufferBuilder::new(rows),
        }
    }

    /// Takes the next cell.
    pub(crate) fn append(&mut self, cell: Option<&[u8]>) -> Result<(), Misfit> {
        let Some(bytes) = cell else {
            self.append_null();
            return Ok(());
        };
        match self {
            Self::Text(builder) => {
                let text = std::str::from_utf8(bytes).map_err(|error| Misfit::new("UTF-8", error))?;
                builder.append_value(text);
            }
            Self::Ascii(builder) => match std::str::from_utf8(bytes) {
                Ok(text) if text.is_ascii() => builder.append_value(text),
                _ => return Err(Misfit::new("ASCII", shown(bytes))),
            },
            Self::Blob(builder) => builder.append_value(bytes),
            Self::Struct { .. } => self.append_struct(bytes)?,
            _ if bytes.is_empty() => self.append_null(),
            Self::Boolean(builder) => builder.append_value(fixed::<1>(bytes, "boolean")? != [0]),
            Self::TinyInt(builder) => number(builder, bytes, "tinyint", i8::from_be_bytes)?,
            Self::SmallInt(builder) => number(builder, bytes, "smallint", i16::from_be_bytes)?,
            Self::Int(builder) => number(builder, bytes, "int", i32::from_be_bytes)?,
            Self::BigInt(builder) => number(builder, bytes, "bigint", i64::from_be_bytes)?,
            Self::Float(builder) => number(builder, bytes, "float", f32::from_be_bytes)?,
            Self::Double(builder) => number(builder, bytes, "double", f64::from_be_bytes)?,
            Self::Timestamp(builder) => number(builder, bytes, "timestamp", i64::from_be_bytes)?,
            // Days since 1970 with 2^31 in the middle: both ends of the range are the same as Arrow's.
            Self::Date(builder) => number(builder, bytes, "date", |bytes| {
                (u32::from_be_bytes(bytes) ^ 1 << 31).cast_signed()
            })?,
            Self::Time(builder) => {
                let nanos = i64::from_be_bytes(fixed(bytes, "time")?);
                if !(0..NANOSECONDS_OF_DAY).contains(&nanos) {
                    return Err(Misfit::new("a time below 24 h", format!("{nanos} ns")));
                }
                builder.append_value(nanos);
            }
            Self::Duration(builder) => builder.append_value(duration(bytes)?),
            Self::Uuid(builder) => {
                let uuid = Uuid::from_bytes(fixed(bytes, "uuid")?);
                builder.append_value(uuid.hyphenated().encode_lower(&mut Uuid::encode_buffer()));
            }
            Self::Inet(builder) => {
                // Writing into a builder does not fail.
                let _ = match (<[u8; 4]>::try_from(bytes), <[u8; 16]>::try_from(bytes)) {
                    (Ok(octets), _) => write!(builder, "{}", Ipv4Addr::from(octets)),
                    (_, Ok(octets)) => write!(builder, "{}", Ipv6Addr::from(octets)),
                    _ => return Err(Misfit::new("an inet of 4 or 16 bytes", shown(bytes))),
                };
                builder.append_value("");
            }
            Self::Varint(builder) => {
                let text = decimal::varint_to_text(bytes);
                builder.append_value(text.ok_or_else(|| Misfit::new("a varint of at most 65536 bytes", shown(bytes)))?);
            }
            Self::Decimal(builder) => {
                let text = decimal::decimal_to_text(bytes);
                builder.append_value(text.ok_or_else(|| Misfit::new("a scale and at most 65536 bytes", shown(bytes)))?);
            }
            Self::ScaledDecimal(builder, precision, scale) => {
                let number = scaled(bytes, *precision, *scale).ok_or_else(|| {
                    let found = decimal::decimal_to_text(bytes).unwrap_or_else(|| shown(bytes));
                    Misfit::new(
                        format!("a decimal of {precision} digits, {scale} of them decimals"),
                        found,
                    )
                })?;
                builder.append_value(number);
            }
            Self::List(elements) => {
                let mut rest = Cells::counted(bytes, 1)?;
                while rest.count > 0 {
                    let cell = rest.next("list")?;
                    elements.items.append(cell)?;
                }
                rest.end("list")?;
                elements.close(true)?;
            }
            Self::Map { keys, values, .. } => {
                let mut rest = Cells::counted(bytes, 2)?;
                while rest.count > 0 {
                    match rest.next("map")? {
                        None => return Err(Misfit::new("a key of a map", "NULL")),
                        key => keys.items.append(key)?,
                    }
                    values.append(rest.next("map")?)?;
                }
                rest.end("map")?;
                keys.close(true)?;
            }
            Self::Vector {
                items,
                dimensions,
                width,
                nulls,
                ..
            } => {
                let mut rest = bytes;
                for at in 0..*dimensions {
                    let length = match width {
                        Some(width) => Some(*width),
                        None => vint::take_unsigned(&mut rest).and_then(|length| usize::try_from(length).ok()),
                    };
                    let element = length.and_then(|length| rest.split_at_checked(length));
                    let Some((element, behind)) = element else {
                        return Err(Misfit::new(
                            format!("a vector of {dimensions}"),
                            format!("{at} elements"),
                        ));
                    };
                    items.append(Some(element))?;
                    rest = behind;
                }
                if !rest.is_empty() {
                    let found = format!("{} bytes more", rest.len());
                    return Err(Misfit::new(format!("a vector of {dimensions}"), found));
                }
                nulls.append_non_null();
            }
        }
        Ok(())
    }

    /// Fields that a value ends before were added to its type later, and are null.
    fn append_struct(&mut self, bytes: &[u8]) -> Result<(), Misfit> {
        let Self::Struct { columns, nulls, .. } = self else {
            return Ok(());
        };
        let mut rest = Cells {
            rest: bytes,
            count: columns.len(),
        };
        for column in columns {
            match rest.rest.is_empty() {
                true => column.append_null(),
                false => column.append(rest.next("tuple or user-defined type")?)?,
            }
        }
        rest.end("tuple or user-defined type")?;
        nulls.append_non_null();
        Ok(())
    }

    fn append_null(&mut self) {
        match self {
            Self::Boolean(builder) => builder.append_null(),
            Self::TinyInt(builder) => builder.append_null(),
            Self::SmallInt(builder) => builder.append_null(),
            Self::Int(builder) => builder.append_null(),
            Self::BigInt(builder) => builder.append_null(),
            Self::Float(builder) => builder.append_null(),
            Self::Double(builder) => builder.append_null(),
            Self::Date(builder) => builder.append_null(),
            Self::Time(builder) => builder.append_null(),
            Self::Timestamp(builder) => builder.append_null(),
            Self::Duration(builder) => builder.append_null(),
            Self::ScaledDecimal(builder, ..) => builder.append_null(),
            Self::Text(builder)
            | Self::Ascii(builder)
            | Self::Uuid(builder)
            | Self::Inet(builder)
            | Self::Varint(builder)
            | Self::Decimal(builder) => builder.append_null(),
            Self::Blob(builder) => builder.append_null(),
            Self::List(elements) => elements.append_null(),
            Self::Map { keys, .. } => keys.append_null(),
            Self::Vector {
                items,
                dimensions,
                nulls,
                ..
            } => {
                for _ in 0..*dimensions {
                    items.append_null();
                }
                nulls.append_null();
            }
            Self::Struct { columns, nulls, .. } => {
                columns.iter_mut().for_each(Self::append_null);
                nulls.append_null();
            }
        }
    }

    /// The array of all cells.
    pub(crate) fn finish(self) -> Result<ArrayRef> {
        Ok(match self {
            Self::Boolean(mut builder) => Arc::new(builder.finish()),
            Self::TinyInt(mut builder) => Arc::new(builder.finish()),
            Self::SmallInt(mut builder) => Arc::new(builder.finish()),
            Self::Int(mut builder) => Arc::new(builder.finish()),
            Self::BigInt(mut builder) => Arc::new(builder.finish()),
            Self::Float(mut builder) => Arc::new(builder.finish()),
            Self::Double(mut builder) => Arc::new(builder.finish()),
            Self::Date(mut builder) => Arc::new(builder.finish()),
            Self::Time(mut builder) => Arc::new(builder.finish()),
            Self::Timestamp(mut builder) => Arc::new(builder.finish().with_timezone("UTC")),
            Self::Duration(mut builder) => Arc::new(builder.finish()),
            Self::ScaledDecimal(mut builder, precision, scale) => {
                Arc::new(builder.finish().with_precision_and_scale(precision, scale)?)
            }
            Self::Text(mut builder)
            | Self::Ascii(mut builder)
            | Self::Uuid(mut builder)
            | Self::Inet(mut builder)
            | Self::Varint(mut builder)
            | Self::Decimal(mut builder) => Arc::new(builder.finish()),
            Self::Blob(mut builder) => Arc::new(builder.finish()),
            Self::List(elements) => {
                let (offsets, items, field, nulls) = elements.finish()?;
                Arc::new(ListArray::try_new(field, offsets, items, nulls)?)
            }
            Self::Map { keys, values, entries } => {
                let (offsets, keys, _, nulls) = keys.finish()?;
                let fields = match entries.data_type() {
                    DataType::Struct(fields) => fields.clone(),
                    _ => Fields::empty(),
                };
                let pairs = StructArray::try_new(fields, vec![keys, values.finish()?], None)?;
                Arc::new(MapArray::try_new(entries, offsets, pairs, nulls, false)?)
            }
            Self::Vector {
                items,
                item,
                dimensions,
                mut nulls,
                ..
            } => Arc::new(FixedSizeListArray::try_new(
                item,
                i32::from(dimensions),
                items.finish()?,
                nulls.finish(),
            )?),
            Self::Struct {
                columns,
                fields,
                mut nulls,
            } => {
                let columns = columns.into_iter().map(Self::finish).collect::<Result<_>>()?;
                Arc::new(StructArray::try_new(fields, columns, nulls.finish())?)
            }
        })
    }

    fn len(&self) -> usize {
        use arrow_array::builder::ArrayBuilder as _;
        match self {
            Self::Boolean(builder) => builder.len(),
            Self::TinyInt(builder) => builder.len(),
            Self::SmallInt(builder) => builder.len(),
            Self::Int(builder) => builder.len(),
            Self::BigInt(builder) => builder.len(),
            Self::Float(builder) => builder.len(),
            Self::Double(builder) => builder.len(),
            Self::Date(builder) => builder.len(),
            Self::Time(builder) => builder.len(),
            Self::Timestamp(builder) => builder.len(),
            Self::Duration(builder) => builder.len(),
            Self::ScaledDecimal(builder, ..) => builder.len(),
            Self::Text(builder)
            | Self::Ascii(builder)
            | Self::Uuid(builder)
            | Self::Inet(builder)
            | Self::Varint(builder)
            | Self::Decimal(builder) => builder.len(),
            Self::Blob(builder) => builder.len(),
            Self::List(elements) => elements.ends.len() - 1,
            Self::Map { keys, .. } => keys.ends.len() - 1,
            Self::Vector { nulls, .. } | Self::Struct { nulls, .. } => nulls.len(),
        }
    }
}

impl Elements {
    fn new(element: &ColumnType<'_>, rows: usize) -> Self {
        let mut ends = Vec::with_capacity(rows + 1);
        ends.push(0);
        Self {
            items: Box::new(Column::new(element, rows)),
            field: Arc::new(arrow_type::field("item", element)),
            ends,
            nulls: NullBufferBuilder::new(rows),
        }
    }

    /// Ends a list after the elements that were appended.
    fn close(&mut self, is_valid: bool) -> Result<(), Misfit> {
        let end = i32::try_from(self.items.len());
        self.ends
            .push(end.map_err(|_| Misfit::new("less than 2^31 elements in a page", self.items.len()))?);
        self.nulls.append(is_valid);
        Ok(())
    }

    fn append_null(&mut self) {
        self.ends.push(self.ends.last().copied().unwrap_or_default());
        self.nulls.append_null();
    }

    fn finish(mut self) -> Result<(OffsetBuffer<i32>, ArrayRef, FieldRef, Option<NullBuffer>)> {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.ends));
        Ok((offsets, self.items.finish()?, self.field, self.nulls.finish()))
    }
}

/// Cells in sequence, each after its length; -1 is the length of NULL.
struct Cells<'a> {
    rest: &'a [u8],
    /// How many are left.
    count: usize,
}

impl<'a> Cells<'a> {
    /// The cells of a collection, after the number of its elements, each of which is so many cells.
    fn counted(bytes: &'a [u8], cells: usize) -> Result<Self, Misfit> {
        let counted = bytes.split_first_chunk();
        let counted = counted.and_then(|(count, rest)| Some((usize::try_from(i32::from_be_bytes(*count)).ok()?, rest)));
        match counted {
            Some((count, rest)) => Ok(Self {
                rest,
                count: count.saturating_mul(cells),
            }),
            None => Err(Misfit::new("a collection after its length", shown(bytes))),
        }
    }

    fn next(&mut self, what: &str) -> Result<Option<&'a [u8]>, Misfit> {
        let torn = |rest: &[u8]| Misfit::new(format!("a {what} after its length"), shown(rest));
        let (length, rest) = self.rest.split_first_chunk().ok_or_else(|| torn(self.rest))?;
        self.count -= 1;
        let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) else {
            self.rest = rest;
            return Ok(None);
        };
        let (cell, rest) = rest.split_at_checked(length).ok_or_else(|| torn(self.rest))?;
        self.rest = rest;
        Ok(Some(cell))
    }

    fn end(&self, what: &str) -> Result<(), Misfit> {
        match self.rest.is_empty() {
            true => Ok(()),
            false => Err(Misfit::new(format!("the end of a {what}"), shown(self.rest))),
        }
    }
}

fn fixed<const N: usize>(bytes: &[u8], what: &str) -> Result<[u8; N], Misfit> {
    bytes
        .try_into()
        .map_err(|_| Misfit::new(format!("a {what} of {N} bytes"), shown(bytes)))
}

fn number<T: ArrowPrimitiveType, const N: usize>(
    builder: &mut PrimitiveBuilder<T>,
    bytes: &[u8],
    what: &str,
    read: impl Fn([u8; N]) -> T::Native,
) -> Result<(), Misfit> {
    builder.append_value(read(fixed(bytes, what)?));
    Ok(())
}

fn duration(bytes: &[u8]) -> Result<IntervalMonthDayNano, Misfit> {
    let mut rest = bytes;
    let mut part = || vint::take_signed(&mut rest);
    let parts = (|| {
        let (months, days, nanoseconds) = (part()?, part()?, part()?);
        Some(IntervalMonthDayNano {
            months: months.try_into().ok()?,
            days: days.try_into().ok()?,
            nanoseconds,
        })
    })();
    match parts {
        Some(parts) if rest.is_empty() => Ok(parts),
        _ => Err(Misfit::new("months, days and nanoseconds", shown(bytes))),
    }
}

/// A `decimal` as so many of the last digit of a scale, where it is a whole number of them.
fn scaled(bytes: &[u8], precision: u8, scale: i8) -> Option<i128> {
    let (found, digits) = bytes.split_first_chunk()?;
    let number = decimal::small(digits)?;
    let shift = i64::from(scale) - i64::from(i32::from_be_bytes(*found));
    let factor = 10_i128.checked_pow(u32::try_from(shift.unsigned_abs()).ok()?);
    let number = match (shift >= 0, factor) {
        _ if number == 0 => 0,
        (true, Some(factor)) => number.checked_mul(factor)?,
        (false, Some(factor)) if number % factor == 0 => number / factor,
        _ => return None,
    };
    Decimal128Type::is_valid_decimal_precision(number, precision).then_some(number)
}

/// The first bytes of a value, for an error.
fn shown(bytes: &[u8]) -> String {
    const BYTES: usize = 16;
    let hex: String = bytes.iter().take(BYTES).map(|byte| format!("{byte:02x}")).collect();
    let more = if bytes.len() > BYTES { "…" } else { "" };
    format!("{} bytes 0x{hex}{more}", bytes.len())
}

const NANOSECONDS_OF_DAY: i64 = 86_400_000_000_000;
/// Elements of vectors that memory is taken for before they come.
const MOST_RESERVED: usize = 1 << 16;
