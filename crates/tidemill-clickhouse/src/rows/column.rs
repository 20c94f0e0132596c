//! A column, taken apart: which type it has is found once, so that a value is a look into a buffer.

use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, FixedSizeBinaryArray, StringArray, UnionArray,
    cast::AsArray, types::*,
};
use arrow_buffer::{ArrowNativeType, NullBuffer, OffsetBuffer, ScalarBuffer, i256};
use arrow_schema::{DataType as ArrowType, TimeUnit};

use crate::{
    DataType, Error, Result,
    arrow_type::{data_type as type_of, precision},
};

/// A column or a part of one.
pub(crate) struct Column {
    pub(super) name: Box<str>,
    pub(super) data_type: DataType,
    nulls: Option<NullBuffer>,
    pub(super) values: Values,
}

/// The values of a column, by how they are read.
pub(super) enum Values {
    Null,
    Bool(BooleanArray),
    Int8(ScalarBuffer<i8>),
    Int16(ScalarBuffer<i16>),
    Int32(ScalarBuffer<i32>),
    Int64(ScalarBuffer<i64>),
    UInt8(ScalarBuffer<u8>),
    UInt16(ScalarBuffer<u16>),
    UInt32(ScalarBuffer<u32>),
    UInt64(ScalarBuffer<u64>),
    /// `Int128` and `UInt128`.
    Int128(ScalarBuffer<i256>),
    /// `Int256` and `UInt256`, little-endian.
    Int256(FixedSizeBinaryArray, Sign),
    Float32(ScalarBuffer<f32>),
    Float64(ScalarBuffer<f64>),
    Decimal(Units, u8),
    Text(StringArray),
    Bytes(BinaryArray),
    Fixed(FixedSizeBinaryArray),
    Uuid(FixedSizeBinaryArray),
    Ipv4(ScalarBuffer<u32>),
    Ipv6(FixedSizeBinaryArray),
    Date(ScalarBuffer<i32>),
    Instant(Ticks),
    Duration(Ticks),
    Enum {
        keys: Vec<usize>,
        names: StringArray,
        /// The number of each name.
        numbers: Vec<i16>,
    },
    Dictionary(Vec<usize>, Box<Column>),
    List(OffsetBuffer<i32>, Box<Column>),
    FixedList(usize, Box<Column>),
    Map(OffsetBuffer<i32>, Box<[Column; 2]>),
    Tuple {
        elements: Vec<Column>,
        /// Whether the elements' names are more than their numbers.
        is_named: bool,
        /// Whether an element that is null is not there.
        is_json: bool,
    },
    Union {
        ids: ScalarBuffer<i8>,
        offsets: Option<ScalarBuffer<i32>>,
        /// Members by their numbers.
        members: Vec<Option<Column>>,
    },
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Sign {
    Signed,
    Unsigned,
}

/// Whole units of decimals.
pub(super) enum Units {
    Bits32(ScalarBuffer<i32>),
    Bits64(ScalarBuffer<i64>),
    Bits128(ScalarBuffer<i128>),
    Bits256(ScalarBuffer<i256>),
}

impl Units {
    pub(super) fn unit(&self, row: usize) -> i256 {
        match self {
            Self::Bits32(units) => i256::from_i128(at(units, row).into()),
            Self::Bits64(units) => i256::from_i128(at(units, row).into()),
            Self::Bits128(units) => i256::from_i128(at(units, row)),
            Self::Bits256(units) => at(units, row),
        }
    }
}

/// Counts of a part of a second.
pub(super) struct Ticks {
    ticks: ScalarBuffer<i64>,
    /// How many of Arrow's ticks are one of ClickHouse's.
    scale: i64,
    /// Digits of a second's part in ClickHouse.
    pub(super) digits: u8,
}

impl Ticks {
    /// ClickHouse's ticks.
    pub(super) fn tick(&self, row: usize) -> i64 {
        at(&self.ticks, row) / self.scale
    }
}

impl Column {
    pub(super) fn new(name: &str, data_type: &DataType, array: &ArrayRef) -> Result<Self> {
        let values = Values::new(data_type, array)?;
        let Some(values) = values else {
            return Err(Error::Unsupported {
                what: format!(
                    "column `{name}` of Arrow type {} and type {data_type}",
                    array.data_type()
                ),
                hint: "rows are read from the Arrow type that the ClickHouse type has; cast the column",
            });
        };
        Ok(Self {
            name: name.into(),
            data_type: data_type.clone(),
            nulls: array.nulls().cloned(),
            values,
        })
    }

    pub(super) fn is_null(&self, row: usize) -> bool {
        match &self.values {
            Values::Null => true,
            _ => self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)),
        }
    }
}

/// The value of a row that there is.
#[inline]
pub(super) fn at<N: Copy + Default>(values: &[N], row: usize) -> N {
    values.get(row).copied().unwrap_or_default()
}

impl Values {
    /// `None` when the array is not of the type's Arrow type.
    fn new(data_type: &DataType, array: &ArrayRef) -> Result<Option<Self>> {
        if *array.data_type() == ArrowType::Null {
            return Ok(Some(Self::Null));
        }
        if let Some(underlying) = data_type.underlying() {
            return Self::new(&underlying, array);
        }
        let child = |name: &str, inner: &DataType, array: &ArrayRef| Column::new(name, inner, array);
        Ok(Some(match data_type {
            DataType::Nullable(inner) => return Self::new(inner, array),
            DataType::LowCardinality(inner) => match array.as_any_dictionary_opt() {
                None => return Self::new(inner, array),
                Some(dictionary) => {
                    let values = child("", inner, dictionary.values())?;
                    Self::Dictionary(keys(array), Box::new(values))
                }
            },
            DataType::Enum8(names) => {
                let numbers = names.pairs().iter().map(|(name, number)| (&**name, i16::from(*number)));
                return Ok(Self::enumeration(numbers.collect(), array));
            }
            DataType::Enum16(names) => {
                let numbers = names.pairs().iter().map(|(name, number)| (&**name, *number));
                return Ok(Self::enumeration(numbers.collect(), array));
            }
            DataType::Array(inner) => {
                let Some(lists) = array.as_list_opt::<i32>() else {
                    return Ok(None);
                };
                Self::List(lists.offsets().clone(), Box::new(child("", inner, lists.values())?))
            }
            DataType::QBit(inner, _) => {
                let Some(lists) = array.as_fixed_size_list_opt() else {
                    return Ok(None);
                };
                let length = usize::try_from(lists.value_length()).unwrap_or_default();
                Self::FixedList(length, Box::new(child("", inner, lists.values())?))
            }
            DataType::Map(key, value) => {
                let Some(maps) = array.as_map_opt() else {
                    return Ok(None);
                };
                let pair = [child("key", key, maps.keys())?, child("value", value, maps.values())?];
                Self::Map(maps.offsets().clone(), Box::new(pair))
            }
            DataType::Tuple(elements) => {
                let Some(tuples) = array.as_struct_opt() else {
                    return Ok(None);
                };
                if tuples.num_columns() != elements.len() {
                    return Ok(None);
                }
                let names = tuples.fields().iter().map(|field| field.name());
                let parts = names.zip(elements.iter()).zip(tuples.columns());
                Self::Tuple {
                    is_named: elements.iter().any(|element| element.name.is_some()),
                    is_json: false,
                    elements: parts
                        .map(|((name, element), array)| child(name, &element.data_type, array))
                        .collect::<Result<_>>()?,
                }
            }
            DataType::Json(_) if array.as_struct_opt().is_some() => {
                let paths = array.as_struct();
                let parts = paths.fields().iter().zip(paths.columns());
                Self::Tuple {
                    is_named: true,
                    is_json: true,
                    elements: parts
                        .map(|(field, array)| child(field.name(), &type_of(field)?, array))
                        .collect::<Result<_>>()?,
                }
            }
            DataType::Variant(_) | DataType::Dynamic { .. } => {
                let Some(union) = array.as_union_opt() else {
                    return Ok(None);
                };
                return Self::union(union).map(Some);
            }
            _ => return Ok(Self::plain(data_type, array)),
        }))
    }

    /// Types without others in them.
    fn plain(data_type: &DataType, array: &ArrayRef) -> Option<Self> {
        let fixed = |length: i32| {
            let array = array.as_fixed_size_binary_opt()?;
            (array.value_length() == length).then(|| array.clone())
        };
        Some(match data_type {
            DataType::Bool => Self::Bool(array.as_boolean_opt()?.clone()),
            DataType::Int8 => Self::Int8(numbers::<Int8Type>(array)?),
            DataType::Int16 => Self::Int16(numbers::<Int16Type>(array)?),
            DataType::Int32 => Self::Int32(numbers::<Int32Type>(array)?),
            DataType::Int64 => Self::Int64(numbers::<Int64Type>(array)?),
            DataType::UInt8 => Self::UInt8(numbers::<UInt8Type>(array)?),
            DataType::UInt16 => Self::UInt16(numbers::<UInt16Type>(array)?),
            DataType::UInt32 => Self::UInt32(numbers::<UInt32Type>(array)?),
            DataType::UInt64 => Self::UInt64(numbers::<UInt64Type>(array)?),
            DataType::Float32 | DataType::BFloat16 => Self::Float32(numbers::<Float32Type>(array)?),
            DataType::Float64 => Self::Float64(numbers::<Float64Type>(array)?),
            DataType::Int128 | DataType::UInt128 => match array.data_type() {
                ArrowType::Decimal256(_, 0) => Self::Int128(numbers::<Decimal256Type>(array)?),
                _ => return None,
            },
            DataType::Int256 => Self::Int256(fixed(32)?, Sign::Signed),
            DataType::UInt256 => Self::Int256(fixed(32)?, Sign::Unsigned),
            DataType::Decimal { .. } => {
                let (units, scale) = match array.data_type() {
                    ArrowType::Decimal32(_, scale) => (Units::Bits32(numbers::<Decimal32Type>(array)?), *scale),
                    ArrowType::Decimal64(_, scale) => (Units::Bits64(numbers::<Decimal64Type>(array)?), *scale),
                    ArrowType::Decimal128(_, scale) => (Units::Bits128(numbers::<Decimal128Type>(array)?), *scale),
                    ArrowType::Decimal256(_, scale) => (Units::Bits256(numbers::<Decimal256Type>(array)?), *scale),
                    _ => return None,
                };
                Self::Decimal(units, u8::try_from(scale).ok()?)
            }
            DataType::String | DataType::AggregateFunction(_) | DataType::Json(_) => {
                match (array.as_string_opt::<i32>(), array.as_binary_opt::<i32>()) {
                    (Some(texts), _) => Self::Text(texts.clone()),
                    (_, Some(bytes)) => Self::Bytes(bytes.clone()),
                    _ => return None,
                }
            }
            DataType::FixedString(length) => Self::Fixed(fixed(i32::try_from(*length).ok()?)?),
            DataType::Uuid => Self::Uuid(fixed(16)?),
            DataType::Ipv6 => Self::Ipv6(fixed(16)?),
            DataType::Ipv4 => Self::Ipv4(numbers::<UInt32Type>(array)?),
            DataType::Date | DataType::Date32 => Self::Date(numbers::<Date32Type>(array)?),
            DataType::DateTime(_) => Self::Instant(ticks(array, 0)?),
            DataType::DateTime64(digits, _) => Self::Instant(ticks(array, *digits)?),
            DataType::Time => Self::Duration(ticks(array, 0)?),
            DataType::Time64(digits) => Self::Duration(ticks(array, *digits)?),
            DataType::Interval(_) => match array.data_type() {
                ArrowType::Duration(unit) => Self::Int64(ticks(array, precision(*unit))?.ticks),
                _ => Self::Int64(numbers::<Int64Type>(array)?),
            },
            _ => return None,
        })
    }

    fn enumeration(numbers: Vec<(&str, i16)>, array: &ArrayRef) -> Option<Self> {
        let dictionary = array.as_any_dictionary_opt()?;
        let names = dictionary.values().as_string_opt::<i32>()?.clone();
        let numbers = names.iter().map(|name| {
            let found = numbers.iter().find(|(other, _)| Some(*other) == name);
            found.map_or(0, |(_, number)| *number)
        });
        Some(Self::Enum {
            keys: keys(array),
            numbers: numbers.collect(),
            names,
        })
    }

    fn union(union: &UnionArray) -> Result<Self> {
        let ArrowType::Union(fields, _) = union.data_type() else {
            return Ok(Self::Null);
        };
        let mut members: Vec<Option<Column>> = (0..=i8::MAX).map(|_| None).collect();
        for (id, field) in fields.iter() {
            let slot = usize::try_from(id).ok().and_then(|id| members.get_mut(id));
            if let Some(slot) = slot {
                let data_type = match type_of(field)? {
                    DataType::Nullable(inner) => (*inner).clone(),
                    other => other,
                };
                *slot = Some(Column::new(field.name(), &data_type, union.child(id))?);
            }
        }
        Ok(Self::Union {
            ids: union.type_ids().clone(),
            offsets: union.offsets().cloned(),
            members,
        })
    }
}

fn numbers<T: ArrowPrimitiveType>(array: &ArrayRef) -> Option<ScalarBuffer<T::Native>> {
    Some(array.as_primitive_opt::<T>()?.values().clone())
}

/// The position in the dictionary of each row's value; any where the row is null.
fn keys(array: &ArrayRef) -> Vec<usize> {
    match array.as_any_dictionary_opt() {
        Some(dictionary) if !dictionary.values().is_empty() => dictionary.normalized_keys(),
        _ => vec![0; array.len()],
    }
}

fn ticks(array: &ArrayRef, digits: u8) -> Option<Ticks> {
    let (unit, ticks) = match array.data_type() {
        ArrowType::Timestamp(unit @ TimeUnit::Second, _) => (unit, numbers::<TimestampSecondType>(array)?),
        ArrowType::Timestamp(unit @ TimeUnit::Millisecond, _) => (unit, numbers::<TimestampMillisecondType>(array)?),
        ArrowType::Timestamp(unit @ TimeUnit::Microsecond, _) => (unit, numbers::<TimestampMicrosecondType>(array)?),
        ArrowType::Timestamp(unit @ TimeUnit::Nanosecond, _) => (unit, numbers::<TimestampNanosecondType>(array)?),
        ArrowType::Duration(unit @ TimeUnit::Second) => (unit, numbers::<DurationSecondType>(array)?),
        ArrowType::Duration(unit @ TimeUnit::Millisecond) => (unit, numbers::<DurationMillisecondType>(array)?),
        ArrowType::Duration(unit @ TimeUnit::Microsecond) => (unit, numbers::<DurationMicrosecondType>(array)?),
        ArrowType::Duration(unit @ TimeUnit::Nanosecond) => (unit, numbers::<DurationNanosecondType>(array)?),
        _ => return None,
    };
    let finer = precision(*unit).checked_sub(digits)?;
    Some(Ticks {
        ticks,
        scale: 10_i64.pow(finer.into()),
        digits,
    })
}

/// The rows from one offset to the next.
pub(super) fn range(offsets: &OffsetBuffer<i32>, row: usize) -> std::ops::Range<usize> {
    let offset = |row: usize| offsets.get(row).map_or(0, |offset| offset.as_usize());
    offset(row)..offset(row + 1)
}

impl Column {
    /// The member of a union that this row has, and where in it.
    pub(super) fn member(&self, row: usize) -> Option<(&Self, usize)> {
        let Values::Union { ids, offsets, members } = &self.values else {
            return None;
        };
        let id = usize::try_from(at(ids, row)).ok()?;
        let row = match offsets {
            Some(offsets) => usize::try_from(at(offsets, row)).ok()?,
            None => row,
        };
        Some((members.get(id)?.as_ref()?, row))
    }
}
