//! The mapping of a column: its field type, its wire type and how values are stored.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Schema};
use prost_types::field_descriptor_proto::Type;

use crate::{Error, Result};

/// Digits that always fit 64 bits.
const MAX_DIGITS_64: u8 = 18;
/// Columns nested deeper are refused, as protobuf parsers refuse such messages.
const MAX_DEPTH: usize = 50;

/// The fields of the message that a list is wrapped in.
pub(super) const ITEMS: u32 = 1;
pub(super) const NULLS: u32 = 2;

/// How a column is stored in a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mapping {
    Scalar(Storage),
    /// A message with a field for each child.
    Struct(Vec<Child>),
    /// A repeated field, or a message with one.
    List(Box<List>),
}

/// A column in a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Child {
    pub(super) nullable: bool,
    pub(super) mapping: Mapping,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct List {
    pub(super) item: Mapping,
    pub(super) items_nullable: bool,
    /// Whether the items are in a message of their own, which tells a null from an empty list and knows which items are null.
    pub(super) wrapped: bool,
    /// The number of items where it is the same for all lists.
    pub(super) size: Option<usize>,
}

/// How the values of a scalar column are stored in a field.
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

impl Mapping {
    /// Returns the mapping of a column.
    pub(super) fn of(field: &Field) -> Result<Self> {
        Self::nested(field.data_type(), field.is_nullable(), false, MAX_DEPTH).map_err(|(data_type, hint)| {
            Error::ColumnType {
                column: field.name().clone(),
                data_type,
                hint,
            }
        })
    }

    /// Returns the mappings of the columns of a schema, as if they were in a struct.
    pub(super) fn of_schema(schema: &Schema) -> Result<Vec<Child>> {
        schema
            .fields()
            .iter()
            .map(|field| {
                Ok(Child {
                    nullable: field.is_nullable(),
                    mapping: Self::of(field)?,
                })
            })
            .collect()
    }

    /// The error is the type that has no mapping, and what to do instead.
    fn nested(
        data_type: &DataType,
        nullable: bool,
        is_item: bool,
        depth: usize,
    ) -> Result<Self, (DataType, &'static str)> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err((data_type.clone(), "it is nested deeper than 50 levels"));
        };
        let list = |item: &Field, size| -> Result<Self, (DataType, &'static str)> {
            Ok(Self::List(Box::new(List {
                item: Self::nested(item.data_type(), item.is_nullable(), true, depth)?,
                items_nullable: item.is_nullable(),
                // A repeated field cannot repeat again.
                wrapped: nullable || item.is_nullable() || is_item,
                size,
            })))
        };
        match data_type {
            DataType::Struct(fields) => fields
                .iter()
                .map(|field| {
                    Ok(Child {
                        nullable: field.is_nullable(),
                        mapping: Self::nested(field.data_type(), field.is_nullable(), false, depth)?,
                    })
                })
                .collect::<Result<_, _>>()
                .map(Self::Struct),
            DataType::List(item) | DataType::LargeList(item) | DataType::Map(item, _) => list(item, None),
            DataType::FixedSizeList(item, size) => {
                let size = usize::try_from(*size).map_err(|_| (data_type.clone(), "its size is negative"))?;
                list(item, Some(size))
            }
            DataType::Dictionary(_, values) => Self::nested(values, nullable, is_item, depth),
            scalar => Storage::of(scalar)
                .map(Self::Scalar)
                .map_err(|hint| (scalar.clone(), hint)),
        }
    }

    /// Returns the wire type of the field, or of each value if it is repeated and not packed.
    pub(super) fn wire_type(&self) -> u8 {
        match self {
            Self::Scalar(storage) => storage.wire_type(),
            Self::Struct(_) => LENGTH_DELIMITED,
            Self::List(list) if list.wrapped => LENGTH_DELIMITED,
            Self::List(list) => list.item.wire_type(),
        }
    }

    /// Returns whether values may be packed when they are repeated.
    pub(super) fn is_packed(&self) -> bool {
        matches!(self, Self::Scalar(storage) if storage.wire_type() != LENGTH_DELIMITED)
    }
}

/// Wire types of protobuf.
pub(super) const VARINT: u8 = 0;
pub(super) const LENGTH_DELIMITED: u8 = 2;

impl Storage {
    /// The error is what to do instead.
    fn of(data_type: &DataType) -> Result<Self, &'static str> {
        Ok(match data_type {
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
            DataType::Float16 => return Err("cast it to Float32"),
            DataType::Decimal256(_, _) => return Err("cast it to Decimal128 or Utf8"),
            DataType::ListView(_) | DataType::LargeListView(_) => return Err("cast it to List"),
            DataType::RunEndEncoded(_, _) => return Err("cast it to the type of its values"),
            _ => return Err("leave it out, or cast it to Utf8"),
        })
    }

    pub(super) fn wire_type(self) -> u8 {
        match self {
            Self::Bool | Self::Signed(_) | Self::Unsigned(_) | Self::SmallDecimal => VARINT,
            Self::Fixed64 => 1,
            Self::Utf8 | Self::Bytes | Self::FixedBytes(_) | Self::LargeDecimal => LENGTH_DELIMITED,
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

/// Returns the schema that rows come back with: dictionaries are stored as their values.
pub(super) fn stored_schema(schema: &Schema) -> Schema {
    let fields: Vec<FieldRef> = schema.fields().iter().map(stored_field).collect();
    Schema::new_with_metadata(fields, schema.metadata().clone())
}

/// Recursion ends with the type, which [`Mapping::of`] has seen to be of bounded depth.
fn stored_field(field: &FieldRef) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Dictionary(_, values) => {
            let values = Field::new("values", values.as_ref().clone(), true);
            stored_field(&Arc::new(values)).data_type().clone()
        }
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(stored_field).collect()),
        DataType::List(item) => DataType::List(stored_field(item)),
        DataType::LargeList(item) => DataType::LargeList(stored_field(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(stored_field(item), *size),
        DataType::Map(entries, ordered) => DataType::Map(stored_field(entries), *ordered),
        _ => return field.clone(),
    };
    Arc::new(Field::new(field.name(), data_type, field.is_nullable()).with_metadata(field.metadata().clone()))
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
