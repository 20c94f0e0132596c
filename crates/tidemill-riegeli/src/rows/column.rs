//! The mapping of a column: its field type, its wire type and how values are stored.

use arrow_schema::{DataType, Field};
use prost_types::field_descriptor_proto::Type;

use crate::{Error, Result};

/// Digits that always fit 64 bits.
const MAX_DIGITS_64: u8 = 18;

/// How the values of a column are stored in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    Bool,
    /// Zigzag varint of a signed integer of so many bytes.
    Signed(u8),
    /// Varint of an unsigned integer of so many bytes.
    Unsigned(u8),
    Fixed32,
    Fixed64,
    Utf8,
    Bytes,
    /// Bytes that are all of this length.
    FixedBytes(i32),
    /// A decimal of up to 18 digits, zigzag.
    SmallDecimal,
    /// A decimal of more digits, 16 bytes.
    LargeDecimal,
}

impl Storage {
    pub(super) fn of(field: &Field) -> Result<Self> {
        Ok(match field.data_type() {
            DataType::Boolean => Self::Bool,
            DataType::Int8 => Self::Signed(1),
            DataType::Int16 => Self::Signed(2),
            DataType::Int32 | DataType::Date32 | DataType::Time32(_) => Self::Signed(4),
            DataType::Int64
            | DataType::Date64
            | DataType::Time64(_)
            | DataType::Timestamp(_, _)
            | DataType::Duration(_) => Self::Signed(8),
            DataType::UInt8 => Self::Unsigned(1),
            DataType::UInt16 => Self::Unsigned(2),
            DataType::UInt32 => Self::Unsigned(4),
            DataType::UInt64 => Self::Unsigned(8),
            DataType::Float32 => Self::Fixed32,
            DataType::Float64 => Self::Fixed64,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Self::Utf8,
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Self::Bytes,
            DataType::FixedSizeBinary(width) if *width >= 0 => Self::FixedBytes(*width),
            DataType::Decimal128(precision, _) if *precision <= MAX_DIGITS_64 => Self::SmallDecimal,
            DataType::Decimal128(_, _) => Self::LargeDecimal,
            other => {
                let hint = match other {
                    DataType::Dictionary(_, _) => "cast it to the type of its values",
                    DataType::Float16 => "cast it to Float32",
                    DataType::Decimal256(_, _) => "cast it to Decimal128 or Utf8",
                    DataType::List(_) | DataType::LargeList(_) | DataType::Struct(_) | DataType::Map(_, _) => {
                        "nested columns are not mapped yet: select its parts, or cast it to Utf8"
                    }
                    _ => "leave it out, or cast it to Utf8",
                };
                return Err(Error::ColumnType {
                    column: field.name().clone(),
                    data_type: other.clone(),
                    hint,
                });
            }
        })
    }

    pub(super) fn wire_type(self) -> u8 {
        match self {
            Self::Bool | Self::Signed(_) | Self::Unsigned(_) | Self::SmallDecimal => 0,
            Self::Fixed64 => 1,
            Self::Utf8 | Self::Bytes | Self::FixedBytes(_) | Self::LargeDecimal => 2,
            Self::Fixed32 => 5,
        }
    }

    pub(super) fn field_type(self) -> Type {
        match self {
            Self::Bool => Type::Bool,
            Self::Signed(8) | Self::SmallDecimal => Type::Sint64,
            Self::Signed(_) => Type::Sint32,
            Self::Unsigned(8) => Type::Uint64,
            Self::Unsigned(_) => Type::Uint32,
            Self::Fixed32 => Type::Float,
            Self::Fixed64 => Type::Double,
            Self::Utf8 => Type::String,
            Self::Bytes | Self::FixedBytes(_) | Self::LargeDecimal => Type::Bytes,
        }
    }
}

/// Returns the field number of column `index`. Numbers from 19000 to 19999 are reserved by protobuf.
pub(super) fn field_number(index: usize) -> u32 {
    let number = u32::try_from(index).unwrap_or(u32::MAX >> 4) + 1;
    if number < 19_000 { number } else { number + 1_000 }
}

/// Returns the column of a field number, if there could be one.
pub(super) fn column_index(number: u32) -> Option<usize> {
    match number {
        0 | 19_000..=19_999 => None,
        1..19_000 => Some(number as usize - 1),
        _ => Some(number as usize - 1_001),
    }
}
