//! Values in states: their widths, and their bytes as in the rows of `FORMAT RowBinary`.

use super::{
    form::{Form, Known, Unknown},
    part::{Count, Part},
};
use crate::DataType;

impl Form {
    /// One value, or none: what `min`, `any` and others keep.
    ///
    /// Source: `SingleValueData.cpp` of ClickHouse.
    pub(super) fn single_value(self, value: &DataType) -> Known {
        Ok(vec![match value {
            DataType::String => Part::Text,
            value => Part::optional(self.value(value)?),
        }])
    }

    /// A value of any type.
    pub(super) fn value(self, value: &DataType) -> Known {
        Ok(match value {
            DataType::String => vec![Part::Bytes],
            DataType::LowCardinality(inner) => self.value(inner)?,
            DataType::Array(item) => vec![Part::repeat(Count::Varint, self.value(item)?)],
            DataType::Map(key, value) => {
                let pair = [self.value(key)?, self.value(value)?].concat();
                vec![Part::repeat(Count::Varint, pair)]
            }
            DataType::Tuple(elements) => {
                let parts = elements.iter().map(|element| self.value(&element.data_type));
                parts.collect::<Result<Vec<_>, _>>()?.concat()
            }
            // In 18.16 there is no byte that says which it is.
            DataType::Nullable(_) if self.is_old() => return Err(Unknown::Version),
            DataType::Nullable(inner) => vec![Part::Switch(vec![(0, self.value(inner)?), (1, Vec::new())])],
            DataType::Variant(types) => {
                let mut cases = vec![(u8::MAX, Vec::new())];
                for (number, member) in (0..u8::MAX).zip(types.iter()) {
                    cases.push((number, self.value(member)?));
                }
                vec![Part::Switch(cases)]
            }
            value => match (width(value), value.underlying()) {
                (Ok(0), _) => Vec::new(),
                (Ok(width), _) => vec![Part::Fixed(width)],
                (Err(_), Some(underlying)) => self.value(&underlying)?,
                (Err(unknown), None) => return Err(unknown),
            },
        })
    }
}

/// The width of a value in bytes, of a kind that is said beside.
type Width = Result<usize, Unknown>;

/// Of values that have one.
pub(super) fn width(value: &DataType) -> Width {
    match value {
        DataType::FixedString(length) => usize::try_from(*length).map_err(|_| Unknown::Length),
        DataType::Date => Ok(2),
        DataType::Date32 | DataType::DateTime(_) | DataType::Time | DataType::Ipv4 => Ok(4),
        DataType::DateTime64(..) | DataType::Time64(_) | DataType::Interval(_) => Ok(8),
        DataType::Uuid | DataType::Ipv6 => Ok(16),
        DataType::Decimal { precision, .. } => Ok(DataType::decimal_width(*precision)),
        value => number_or_enum(value),
    }
}

/// Of what functions over quantities keep: numbers, and instants and decimals as numbers.
pub(super) fn quantity(value: &DataType) -> Width {
    match value {
        DataType::Date | DataType::DateTime(_) | DataType::DateTime64(..) | DataType::Decimal { .. } => width(value),
        value => number(value),
    }
}

/// Of what most functions keep as it is that know other values by a hash or as bytes.
pub(super) fn plain(value: &DataType) -> Width {
    match value {
        DataType::Date | DataType::DateTime(_) | DataType::Ipv4 => width(value),
        value => number_or_enum(value),
    }
}

/// Of a number, or of that which stands for a name.
pub(super) fn number_or_enum(value: &DataType) -> Width {
    match value {
        DataType::Enum8(_) => Ok(1),
        DataType::Enum16(_) => Ok(2),
        value => number(value),
    }
}

pub(super) fn number(value: &DataType) -> Width {
    match value {
        DataType::BFloat16 => Ok(2),
        DataType::Float32 => Ok(4),
        DataType::Float64 => Ok(8),
        value => integer(value),
    }
}

pub(super) fn integer(value: &DataType) -> Width {
    match value {
        DataType::Int8 | DataType::UInt8 | DataType::Bool => Ok(1),
        DataType::Int16 | DataType::UInt16 => Ok(2),
        DataType::Int32 | DataType::UInt32 => Ok(4),
        DataType::Int64 | DataType::UInt64 => Ok(8),
        DataType::Int128 | DataType::UInt128 => Ok(16),
        DataType::Int256 | DataType::UInt256 => Ok(32),
        _ => Err(Unknown::Length),
    }
}

/// Of a number of 64 bits at most that is no [`DataType::BFloat16`].
pub(super) fn small_number(value: &DataType) -> Width {
    match number(value)? {
        width @ ..=8 if *value != DataType::BFloat16 => Ok(width),
        _ => Err(Unknown::Length),
    }
}

/// Of a sum: of the widest type of the same kind.
pub(super) fn sum(value: &DataType) -> Width {
    match value {
        DataType::Decimal { .. } => width(value).map(|width| width.max(16)),
        value => number(value).map(|width| width.max(8)),
    }
}

/// Of an average's sum.
pub(super) fn average(value: &DataType) -> Width {
    match value {
        DataType::Date | DataType::DateTime(_) => Ok(8),
        DataType::DateTime64(..) => Ok(16),
        value => sum(value),
    }
}

/// Of a sum of powers or products of these: that of the only type of floats that all are, or of a double.
pub(super) fn moment(values: &[DataType]) -> Width {
    for value in values {
        match value {
            DataType::Decimal { .. } if values.len() == 1 => {}
            value => drop(number(value)?),
        }
    }
    let are_single = values.iter().all(|value| *value == DataType::Float32);
    Ok(if are_single { 4 } else { 8 })
}
