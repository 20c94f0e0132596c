//! A column that grows by values of Rust.
//!
//! Values are kept as Arrow keeps them, in plain vectors, so that a row whose last value does not fit can be taken back from
//! all columns ([`Builder::truncate`]).

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, DictionaryArray, FixedSizeBinaryArray,
    FixedSizeListArray, ListArray, MapArray, NullArray, PrimitiveArray, StringArray, StructArray, UnionArray, types::*,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer, i256};
use arrow_schema::{DataType as ArrowType, FieldRef, Fields, TimeUnit, UnionMode};

use super::Failure;
use crate::{
    DataType, Result,
    arrow_type::{ITEM, KEY, StringType, VALUE, arrow_type, element_names, entries, field_of, precision, union},
    column::to_dictionary,
};

/// Values of a column or of a part of one.
pub(super) struct Builder {
    pub(super) data_type: DataType,
    /// Whether each row has a value, where the type has nulls.
    pub(super) validity: Option<Vec<bool>>,
    pub(super) data: Data,
}

/// The values, by how they are kept. What a null row has does not matter.
pub(super) enum Data {
    Bool(Vec<bool>),
    Int8(Vec<i8>),
    Int16(Vec<i16>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    UInt8(Vec<u8>),
    UInt16(Vec<u16>),
    UInt32(Vec<u32>),
    UInt64(Vec<u64>),
    /// `Int128` and `UInt128`.
    Int128(Vec<i256>),
    Float32(Vec<f32>),
    Float64(Vec<f64>),
    Decimal(Vec<i256>),
    /// `Date` and `Date32`.
    Days(Vec<i32>),
    /// ClickHouse's ticks of `DateTime`, `DateTime64`, `Time`, `Time64`.
    Ticks(Vec<i64>),
    /// Positions of the names.
    Enum(Vec<i32>),
    Bytes {
        ends: Vec<i32>,
        bytes: Vec<u8>,
    },
    /// Values of so many bytes.
    Fixed(usize, Vec<u8>),
    List {
        ends: Vec<i32>,
        items: Box<Builder>,
    },
    FixedList {
        length: usize,
        items: Box<Builder>,
        rows: usize,
    },
    /// The items are tuples of key and value.
    Map {
        ends: Vec<i32>,
        pairs: Box<Builder>,
    },
    Tuple {
        names: Vec<String>,
        elements: Vec<Builder>,
        rows: usize,
    },
    Union {
        ids: Vec<i8>,
        offsets: Vec<i32>,
        members: Vec<Builder>,
        nulls: usize,
        /// Whether types may be added.
        is_open: bool,
    },
    Nothing(usize),
}

/// The number of `NULL` in a union that grows.
pub(super) const NULL_ID: i8 = i8::MAX;

impl Builder {
    pub(super) fn new(data_type: &DataType) -> Result<Self, Failure> {
        if let Some(underlying) = data_type.underlying() {
            let mut builder = Self::new(&underlying)?;
            builder.data_type = data_type.clone();
            if let (DataType::Point, Data::Tuple { names, .. }) = (data_type, &mut builder.data) {
                *names = vec!["x".to_owned(), "y".to_owned()];
            }
            return Ok(builder);
        }
        let list = |inner: &DataType| Ok::<_, Failure>(Box::new(Self::new(inner)?));
        let data = match data_type {
            DataType::Nullable(inner) => {
                let mut builder = Self::new(inner)?;
                builder.data_type = data_type.clone();
                builder.validity = Some(Vec::new());
                return Ok(builder);
            }
            DataType::LowCardinality(inner) => {
                let mut builder = Self::new(inner)?;
                builder.data_type = data_type.clone();
                return Ok(builder);
            }
            DataType::Int8 => Data::Int8(Vec::new()),
            DataType::Int16 => Data::Int16(Vec::new()),
            DataType::Int32 => Data::Int32(Vec::new()),
            DataType::Int64 | DataType::Interval(_) => Data::Int64(Vec::new()),
            DataType::UInt8 => Data::UInt8(Vec::new()),
            DataType::UInt16 => Data::UInt16(Vec::new()),
            DataType::UInt32 | DataType::Ipv4 => Data::UInt32(Vec::new()),
            DataType::UInt64 => Data::UInt64(Vec::new()),
            DataType::Int128 | DataType::UInt128 => Data::Int128(Vec::new()),
            DataType::Int256 | DataType::UInt256 => Data::Fixed(32, Vec::new()),
            DataType::Float32 | DataType::BFloat16 => Data::Float32(Vec::new()),
            DataType::Float64 => Data::Float64(Vec::new()),
            DataType::Bool => Data::Bool(Vec::new()),
            DataType::String | DataType::Json(_) | DataType::AggregateFunction(_) => Data::Bytes {
                ends: Vec::new(),
                bytes: Vec::new(),
            },
            DataType::FixedString(length) => Data::Fixed(usize::try_from(*length).unwrap_or(usize::MAX), Vec::new()),
            DataType::Uuid | DataType::Ipv6 => Data::Fixed(16, Vec::new()),
            DataType::Date | DataType::Date32 => Data::Days(Vec::new()),
            DataType::DateTime(_) | DataType::DateTime64(..) | DataType::Time | DataType::Time64(_) => {
                Data::Ticks(Vec::new())
            }
            DataType::Enum8(_) | DataType::Enum16(_) => Data::Enum(Vec::new()),
            DataType::Decimal { .. } => Data::Decimal(Vec::new()),
            DataType::Array(inner) => Data::List {
                ends: Vec::new(),
                items: list(inner)?,
            },
            DataType::QBit(inner, length) => Data::FixedList {
                length: usize::try_from(*length).unwrap_or(usize::MAX),
                items: list(inner)?,
                rows: 0,
            },
            DataType::Map(key, value) => Data::Map {
                ends: Vec::new(),
                pairs: Box::new(Self {
                    data_type: DataType::Nothing,
                    validity: None,
                    data: Data::Tuple {
                        names: vec![KEY.to_owned(), VALUE.to_owned()],
                        elements: vec![Self::new(key)?, Self::new(value)?],
                        rows: 0,
                    },
                }),
            },
            DataType::Tuple(elements) => Data::Tuple {
                names: element_names(elements).collect(),
                elements: elements
                    .iter()
                    .map(|element| Self::new(&element.data_type))
                    .collect::<Result<_, _>>()?,
                rows: 0,
            },
            DataType::Variant(types) => Data::Union {
                ids: Vec::new(),
                offsets: Vec::new(),
                members: types.iter().map(Self::new).collect::<Result<_, _>>()?,
                nulls: 0,
                is_open: false,
            },
            DataType::Dynamic { .. } => Data::Union {
                ids: Vec::new(),
                offsets: Vec::new(),
                members: Vec::new(),
                nulls: 0,
                is_open: true,
            },
            DataType::Nothing => Data::Nothing(0),
            other => return Err(Failure::new(format!("values of type {other} cannot be written"))),
        };
        Ok(Self {
            data_type: data_type.clone(),
            validity: None,
            data,
        })
    }

    /// The type without `Nullable` and `LowCardinality`.
    pub(super) fn plain_type(&self) -> &DataType {
        let inner = match &self.data_type {
            DataType::LowCardinality(inner) => inner,
            other => other,
        };
        match inner {
            DataType::Nullable(inner) => inner,
            other => other,
        }
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        match &self.data {
            Data::Bool(values) => values.len(),
            Data::Int8(values) => values.len(),
            Data::Int16(values) => values.len(),
            Data::Int32(values) | Data::Days(values) | Data::Enum(values) => values.len(),
            Data::Int64(values) | Data::Ticks(values) => values.len(),
            Data::UInt8(values) => values.len(),
            Data::UInt16(values) => values.len(),
            Data::UInt32(values) => values.len(),
            Data::UInt64(values) => values.len(),
            Data::Int128(values) | Data::Decimal(values) => values.len(),
            Data::Float32(values) => values.len(),
            Data::Float64(values) => values.len(),
            Data::Bytes { ends, .. } | Data::List { ends, .. } | Data::Map { ends, .. } => ends.len(),
            Data::Fixed(width, bytes) => bytes.len() / (*width).max(1),
            Data::FixedList { rows, .. } | Data::Tuple { rows, .. } | Data::Nothing(rows) => *rows,
            Data::Union { ids, .. } => ids.len(),
        }
    }

    /// About how many bytes the values take.
    pub(super) fn size(&self) -> usize {
        let rows = self.len();
        let data = match &self.data {
            Data::Bool(_) | Data::Int8(_) | Data::UInt8(_) => rows,
            Data::Int16(_) | Data::UInt16(_) => 2 * rows,
            Data::Int32(_) | Data::UInt32(_) | Data::Float32(_) | Data::Days(_) | Data::Enum(_) => 4 * rows,
            Data::Int64(_) | Data::UInt64(_) | Data::Float64(_) | Data::Ticks(_) => 8 * rows,
            Data::Int128(_) | Data::Decimal(_) => 32 * rows,
            Data::Bytes { bytes, .. } => bytes.len() + 4 * rows,
            Data::Fixed(_, bytes) => bytes.len(),
            Data::List { items, .. } | Data::FixedList { items, .. } => items.size() + 4 * rows,
            Data::Map { pairs, .. } => pairs.size() + 4 * rows,
            Data::Tuple { elements, .. } => elements.iter().map(Self::size).sum(),
            Data::Union { members, .. } => members.iter().map(Self::size).sum::<usize>() + 5 * rows,
            Data::Nothing(_) => 0,
        };
        data + self.validity.as_ref().map_or(0, Vec::len)
    }

    /// Takes back all rows from this one on, and what was begun after them.
    pub(super) fn truncate(&mut self, rows: usize) {
        if let Some(validity) = &mut self.validity {
            validity.truncate(rows);
        }
        match &mut self.data {
            Data::Bool(values) => values.truncate(rows),
            Data::Int8(values) => values.truncate(rows),
            Data::Int16(values) => values.truncate(rows),
            Data::Int32(values) | Data::Days(values) | Data::Enum(values) => values.truncate(rows),
            Data::Int64(values) | Data::Ticks(values) => values.truncate(rows),
            Data::UInt8(values) => values.truncate(rows),
            Data::UInt16(values) => values.truncate(rows),
            Data::UInt32(values) => values.truncate(rows),
            Data::UInt64(values) => values.truncate(rows),
            Data::Int128(values) | Data::Decimal(values) => values.truncate(rows),
            Data::Float32(values) => values.truncate(rows),
            Data::Float64(values) => values.truncate(rows),
            Data::Bytes { ends, bytes } => {
                ends.truncate(rows);
                bytes.truncate(last(ends));
            }
            Data::Fixed(width, bytes) => bytes.truncate(rows * *width),
            Data::List { ends, items } => {
                ends.truncate(rows);
                items.truncate(last(ends));
            }
            Data::Map { ends, pairs } => {
                ends.truncate(rows);
                pairs.truncate(last(ends));
            }
            Data::FixedList {
                length,
                items,
                rows: all,
            } => {
                *all = rows.min(*all);
                items.truncate(*all * *length);
            }
            Data::Tuple {
                elements, rows: all, ..
            } => {
                *all = rows.min(*all);
                elements.iter_mut().for_each(|element| element.truncate(rows));
            }
            Data::Union {
                ids,
                offsets,
                members,
                nulls,
                ..
            } => {
                for (id, offset) in ids.iter().zip(offsets.iter()).skip(rows).rev() {
                    let offset = usize::try_from(*offset).unwrap_or_default();
                    match usize::try_from(*id).ok().and_then(|id| members.get_mut(id)) {
                        Some(member) => member.truncate(offset),
                        None => *nulls = offset,
                    }
                }
                ids.truncate(rows);
                offsets.truncate(rows);
            }
            Data::Nothing(all) => *all = rows.min(*all),
        }
    }

    /// Adds a row without a value, or with any.
    pub(super) fn push_default(&mut self) {
        if let Some(validity) = &mut self.validity {
            validity.push(false);
        }
        match &mut self.data {
            Data::Bool(values) => values.push(false),
            Data::Int8(values) => values.push(0),
            Data::Int16(values) => values.push(0),
            Data::Int32(values) | Data::Days(values) | Data::Enum(values) => values.push(0),
            Data::Int64(values) | Data::Ticks(values) => values.push(0),
            Data::UInt8(values) => values.push(0),
            Data::UInt16(values) => values.push(0),
            Data::UInt32(values) => values.push(0),
            Data::UInt64(values) => values.push(0),
            Data::Int128(values) | Data::Decimal(values) => values.push(i256::ZERO),
            Data::Float32(values) => values.push(0.0),
            Data::Float64(values) => values.push(0.0),
            Data::Bytes { ends, .. } | Data::List { ends, .. } | Data::Map { ends, .. } => {
                ends.push(ends.last().copied().unwrap_or_default());
            }
            Data::Fixed(width, bytes) => bytes.resize(bytes.len() + *width, 0),
            Data::FixedList { length, items, rows } => {
                (0..*length).for_each(|_| items.push_default());
                *rows += 1;
            }
            Data::Tuple { elements, rows, .. } => {
                elements.iter_mut().for_each(Self::push_default);
                *rows += 1;
            }
            Data::Union {
                ids, offsets, nulls, ..
            } => {
                ids.push(NULL_ID);
                offsets.push(i32::try_from(*nulls).unwrap_or(i32::MAX));
                *nulls += 1;
            }
            Data::Nothing(rows) => *rows += 1,
        }
    }

    /// The values as an array of the type's Arrow type. The builder is empty then.
    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
        let plain = self.finish_plain()?;
        Ok(match self.data_type {
            DataType::LowCardinality(_) => Arc::new(to_dictionary(&*plain)?),
            _ => plain,
        })
    }

    fn finish_plain(&mut self) -> Result<ArrayRef> {
        let nulls = self
            .validity
            .as_mut()
            .map(|validity| NullBuffer::from(std::mem::take(validity)));
        let expected = arrow_type(self.plain_type(), StringType::Binary);
        let plain_type = self.plain_type().clone();
        let rows = self.len();
        Ok(match &mut self.data {
            Data::Bool(values) => Arc::new(BooleanArray::new(std::mem::take(values).into(), nulls)),
            Data::Int8(values) => primitive::<Int8Type>(values, nulls)?,
            Data::Int16(values) => primitive::<Int16Type>(values, nulls)?,
            Data::Int32(values) => primitive::<Int32Type>(values, nulls)?,
            Data::Int64(values) => match expected {
                ArrowType::Duration(_) => ticks(values, 1, &expected, nulls)?,
                _ => primitive::<Int64Type>(values, nulls)?,
            },
            Data::UInt8(values) => primitive::<UInt8Type>(values, nulls)?,
            Data::UInt16(values) => primitive::<UInt16Type>(values, nulls)?,
            Data::UInt32(values) => primitive::<UInt32Type>(values, nulls)?,
            Data::UInt64(values) => primitive::<UInt64Type>(values, nulls)?,
            Data::Float32(values) => primitive::<Float32Type>(values, nulls)?,
            Data::Float64(values) => primitive::<Float64Type>(values, nulls)?,
            Data::Days(values) => primitive::<Date32Type>(values, nulls)?,
            Data::Int128(values) => {
                let array = PrimitiveArray::<Decimal256Type>::try_new(std::mem::take(values).into(), nulls)?;
                Arc::new(array.with_precision_and_scale(39, 0)?)
            }
            Data::Decimal(units) => decimals(&std::mem::take(units), &expected, nulls)?,
            Data::Ticks(values) => {
                let digits = match plain_type {
                    DataType::DateTime64(digits, _) | DataType::Time64(digits) => digits,
                    _ => 0,
                };
                let finer = match &expected {
                    ArrowType::Timestamp(unit, _) | ArrowType::Duration(unit) => {
                        precision(*unit).saturating_sub(digits)
                    }
                    _ => 0,
                };
                ticks(values, 10_i64.pow(finer.into()), &expected, nulls)?
            }
            Data::Enum(keys) => {
                let names: StringArray = match &plain_type {
                    DataType::Enum8(names) => names.pairs().iter().map(|(name, _)| Some(&**name)).collect(),
                    DataType::Enum16(names) => names.pairs().iter().map(|(name, _)| Some(&**name)).collect(),
                    _ => StringArray::new_null(0),
                };
                let keys = PrimitiveArray::<Int32Type>::try_new(std::mem::take(keys).into(), nulls)?;
                Arc::new(DictionaryArray::try_new(keys, Arc::new(names))?)
            }
            Data::Bytes { ends, bytes } => {
                let values = Buffer::from(std::mem::take(bytes));
                Arc::new(BinaryArray::try_new(offsets(ends), values, nulls)?)
            }
            Data::Fixed(width, bytes) => {
                let width = i32::try_from(*width).unwrap_or(i32::MAX);
                let values = Buffer::from(std::mem::take(bytes));
                Arc::new(FixedSizeBinaryArray::try_new(width, values, nulls)?)
            }
            Data::List { ends, items } => {
                let field = items.field(ITEM);
                let items = items.finish()?;
                let field = with_type(&field, &items);
                Arc::new(ListArray::try_new(field, offsets(ends), items, nulls)?)
            }
            Data::FixedList { length, items, rows } => {
                *rows = 0;
                let length = i32::try_from(*length).unwrap_or(i32::MAX);
                let field = items.field(ITEM);
                let items = items.finish()?;
                Arc::new(FixedSizeListArray::try_new(
                    with_type(&field, &items),
                    length,
                    items,
                    nulls,
                )?)
            }
            Data::Map { ends, pairs } => {
                let Data::Tuple { elements, rows, .. } = &mut pairs.data else {
                    return Ok(Arc::new(NullArray::new(0)));
                };
                let count = std::mem::take(rows);
                let (fields, arrays) = children(elements, &[KEY.to_owned(), VALUE.to_owned()])?;
                let entry = match &fields[..] {
                    [key, value] => entries(Arc::clone(key), Arc::clone(value)),
                    _ => return Ok(Arc::new(NullArray::new(0))),
                };
                let pairs = StructArray::try_new_with_length(fields, arrays, None, count)?;
                Arc::new(MapArray::try_new(entry, offsets(ends), pairs, nulls, false)?)
            }
            Data::Tuple { names, elements, rows } => {
                let count = std::mem::take(rows);
                let (fields, arrays) = children(elements, names)?;
                Arc::new(StructArray::try_new_with_length(fields, arrays, nulls, count)?)
            }
            Data::Union {
                ids,
                offsets,
                members,
                nulls,
                ..
            } => {
                let mut fields = Vec::with_capacity(members.len());
                let mut columns = Vec::with_capacity(members.len() + 1);
                for member in members.iter_mut() {
                    let column = member.finish()?;
                    fields.push(field_of(
                        member.data_type.to_string(),
                        &member.data_type,
                        column.data_type().clone(),
                    ));
                    columns.push(column);
                }
                columns.push(Arc::new(NullArray::new(std::mem::take(nulls))));
                let null = i8::try_from(fields.len()).unwrap_or(NULL_ID);
                let ids = std::mem::take(ids)
                    .into_iter()
                    .map(|id| if id == NULL_ID { null } else { id });
                let ids: ScalarBuffer<i8> = ids.collect();
                let offsets = ScalarBuffer::from(std::mem::take(offsets));
                let ArrowType::Union(fields, UnionMode::Dense) = union(fields) else {
                    return Ok(Arc::new(NullArray::new(0)));
                };
                Arc::new(UnionArray::try_new(fields, ids, Some(offsets), columns)?)
            }
            Data::Nothing(all) => {
                *all = 0;
                Arc::new(NullArray::new(rows))
            }
        })
    }

    fn field(&self, name: &str) -> FieldRef {
        Arc::new(field_of(
            name,
            &self.data_type,
            arrow_type(&self.data_type, StringType::Binary),
        ))
    }
}

/// The field for an array whose type may have other parts than the type alone says.
fn with_type(field: &FieldRef, array: &ArrayRef) -> FieldRef {
    Arc::new(field.as_ref().clone().with_data_type(array.data_type().clone()))
}

fn children(elements: &mut [Builder], names: &[String]) -> Result<(Fields, Vec<ArrayRef>)> {
    let mut fields = Vec::with_capacity(elements.len());
    let mut arrays = Vec::with_capacity(elements.len());
    for (element, name) in elements.iter_mut().zip(names) {
        let field = element.field(name);
        let array = element.finish()?;
        fields.push(with_type(&field, &array));
        arrays.push(array);
    }
    Ok((fields.into(), arrays))
}

fn primitive<T: ArrowPrimitiveType>(values: &mut Vec<T::Native>, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    Ok(Arc::new(PrimitiveArray::<T>::try_new(
        std::mem::take(values).into(),
        nulls,
    )?))
}

/// Decimals whose units were checked against the precision.
fn decimals(units: &[i256], expected: &ArrowType, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    fn of<T: DecimalType>(
        values: impl Iterator<Item = T::Native>,
        (precision, scale): (u8, i8),
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef> {
        let array = PrimitiveArray::<T>::try_new(values.collect::<Vec<_>>().into(), nulls)?;
        Ok(Arc::new(array.with_precision_and_scale(precision, scale)?))
    }
    let narrow = units.iter().map(|units| units.to_i128().unwrap_or_default());
    match expected {
        ArrowType::Decimal32(precision, scale) => {
            let narrow = narrow.map(|units| i32::try_from(units).unwrap_or_default());
            of::<Decimal32Type>(narrow, (*precision, *scale), nulls)
        }
        ArrowType::Decimal64(precision, scale) => {
            let narrow = narrow.map(|units| i64::try_from(units).unwrap_or_default());
            of::<Decimal64Type>(narrow, (*precision, *scale), nulls)
        }
        ArrowType::Decimal128(precision, scale) => of::<Decimal128Type>(narrow, (*precision, *scale), nulls),
        ArrowType::Decimal256(precision, scale) => {
            of::<Decimal256Type>(units.iter().copied(), (*precision, *scale), nulls)
        }
        _ => Ok(Arc::new(NullArray::new(units.len()))),
    }
}

/// Instants and durations whose ticks were checked to be countable by Arrow.
fn ticks(values: &mut Vec<i64>, scale: i64, expected: &ArrowType, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    fn of<T: ArrowPrimitiveType<Native = i64>>(
        ticks: Vec<i64>,
        expected: &ArrowType,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef> {
        let array = PrimitiveArray::<T>::try_new(ticks.into(), nulls)?;
        Ok(Arc::new(array.with_data_type(expected.clone())))
    }
    let mut ticks = std::mem::take(values);
    if scale != 1 {
        ticks.iter_mut().for_each(|ticks| *ticks = ticks.saturating_mul(scale));
    }
    match expected {
        ArrowType::Timestamp(TimeUnit::Second, _) => of::<TimestampSecondType>(ticks, expected, nulls),
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => of::<TimestampMillisecondType>(ticks, expected, nulls),
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => of::<TimestampMicrosecondType>(ticks, expected, nulls),
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => of::<TimestampNanosecondType>(ticks, expected, nulls),
        ArrowType::Duration(TimeUnit::Second) => of::<DurationSecondType>(ticks, expected, nulls),
        ArrowType::Duration(TimeUnit::Millisecond) => of::<DurationMillisecondType>(ticks, expected, nulls),
        ArrowType::Duration(TimeUnit::Microsecond) => of::<DurationMicrosecondType>(ticks, expected, nulls),
        ArrowType::Duration(TimeUnit::Nanosecond) => of::<DurationNanosecondType>(ticks, expected, nulls),
        _ => Ok(Arc::new(NullArray::new(ticks.len()))),
    }
}

fn offsets(ends: &mut Vec<i32>) -> OffsetBuffer<i32> {
    let ends = std::mem::take(ends);
    // Each end is at or after the one before it: they were counted.
    OffsetBuffer::new(std::iter::once(0).chain(ends).collect())
}

fn last(ends: &[i32]) -> usize {
    ends.last().map_or(0, |end| usize::try_from(*end).unwrap_or_default())
}
