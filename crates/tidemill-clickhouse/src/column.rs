//! Columns of a block: bytes of the wire to Arrow arrays and back, one module for each serialization of ClickHouse.
//!
//! A column is written in two parts. Its *prefix* is what all values share (the version of a dictionary, the types in a
//! `Dynamic`), for the type and all types inside of it, outermost first. The values come behind all of that. So reading is
//! [`read_prefix`], then [`read_values`]; writing is [`write_prefix`], then [`write_values`].
//!
//! Source: `DataTypes/Serializations/ISerialization.h` of ClickHouse (`serializeBinaryBulkStatePrefix`,
//! `serializeBinaryBulkWithMultipleStreams`), with the streams of `Formats/NativeWriter.cpp`: all of them the same.
//!
//! Columns know nothing of blocks: names, row counts and revisions are given to them.

mod aggregate_function;
mod array;
mod boolean;
mod casting;
mod date_time;
mod decimal;
mod dynamic;
mod enumeration;
mod expand;
mod fixed_string;
mod form;
mod input;
mod json;
mod kind;
mod low_cardinality;
mod map;
mod nothing;
mod nullable;
mod number;
mod output;
mod qbit;
mod replicated;
mod sparse;
mod string;
mod text;
mod tuple;
mod uuid;
mod variant;

use std::{future::ready, pin::Pin};

use arrow_array::{Array, ArrayRef, new_empty_array, types};
use arrow_buffer::NullBuffer;

pub(crate) use self::{
    casting::as_type,
    expand::{to_dictionary, without_dictionaries},
    form::{Choice, Form},
    input::{Input, run},
    kind::{Kinds, read as kind_read},
    output::{ARROW_TYPE, Output},
    string::NO_TEXT,
    text::as_text,
};
pub use input::Limits;

use crate::{DataType, Error, Result, arrow_type::arrow_type};

#[cfg(target_endian = "big")]
compile_error!("columns are copied between the wire and memory, which both have to be little-endian");

/// What the prefix of a column said.
pub(crate) enum Prefix {
    /// Nothing that reading needs.
    None,
    /// The prefixes of the types inside.
    Children(Vec<Prefix>),
    Variant(variant::Discriminators, Vec<Prefix>),
    Dynamic(Box<dynamic::Structure>),
    Json(Box<json::Structure>),
}

impl Prefix {
    /// The prefix of the type at `index` inside.
    pub(crate) fn child(&self, index: usize) -> &Self {
        match self {
            Self::Children(children) | Self::Variant(_, children) => children.get(index).unwrap_or(&Self::None),
            _ => &Self::None,
        }
    }
}

/// A reader that calls readers of inner types, which may call it again.
pub(crate) type Reading<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// Reads the prefix of a column of `data_type`.
pub(crate) fn read_prefix<'a>(input: &'a mut Input<'_>, data_type: &'a DataType) -> Reading<'a, Prefix> {
    Box::pin(async move {
        if !has_prefix(data_type) {
            return Ok(Prefix::None);
        }
        input.depth += 1;
        let prefix = match data_type {
            DataType::LowCardinality(_) => {
                low_cardinality::read_prefix(input).await?;
                Prefix::None
            }
            DataType::Array(inner) | DataType::Nullable(inner) => {
                Prefix::Children(vec![read_prefix(input, inner).await?])
            }
            DataType::Map(key, value) => {
                Prefix::Children(vec![read_prefix(input, key).await?, read_prefix(input, value).await?])
            }
            DataType::Tuple(elements) => {
                let mut children = Vec::with_capacity(elements.len());
                for element in elements.iter() {
                    children.push(read_prefix(input, &element.data_type).await?);
                }
                Prefix::Children(children)
            }
            DataType::Variant(types) => {
                let discriminators = variant::read_prefix(input).await?;
                let mut children = Vec::with_capacity(types.len());
                for inner in types.iter() {
                    children.push(read_prefix(input, inner).await?);
                }
                Prefix::Variant(discriminators, children)
            }
            DataType::Dynamic { .. } => Prefix::Dynamic(Box::new(dynamic::read_prefix(input).await?)),
            DataType::Json(json) => Prefix::Json(Box::new(json::read_prefix(input, json).await?)),
            other => match other.underlying() {
                Some(inner) => read_prefix(input, &inner).await?,
                None => Prefix::None,
            },
        };
        input.depth -= 1;
        Ok(prefix)
    })
}

/// Reads `rows` values of `data_type`, which are null where `nulls` says so.
pub(crate) fn read_values<'a>(
    input: &'a mut Input<'_>,
    data_type: &'a DataType,
    prefix: &'a Prefix,
    kinds: &'a Kinds,
    rows: usize,
    nulls: Option<NullBuffer>,
) -> Reading<'a, ArrayRef> {
    if rows == 0 {
        let array = new_empty_array(&arrow_type(data_type, input.strings));
        return Box::pin(ready(Ok(array)));
    }
    match data_type {
        DataType::Int8 => Box::pin(number::read::<types::Int8Type>(input, rows, nulls)),
        DataType::Int16 => Box::pin(number::read::<types::Int16Type>(input, rows, nulls)),
        DataType::Int32 => Box::pin(number::read::<types::Int32Type>(input, rows, nulls)),
        DataType::Int64 => Box::pin(number::read::<types::Int64Type>(input, rows, nulls)),
        DataType::UInt8 => Box::pin(number::read::<types::UInt8Type>(input, rows, nulls)),
        DataType::UInt16 => Box::pin(number::read::<types::UInt16Type>(input, rows, nulls)),
        DataType::UInt32 | DataType::Ipv4 => Box::pin(number::read::<types::UInt32Type>(input, rows, nulls)),
        DataType::UInt64 => Box::pin(number::read::<types::UInt64Type>(input, rows, nulls)),
        DataType::Float32 => Box::pin(number::read::<types::Float32Type>(input, rows, nulls)),
        DataType::Float64 => Box::pin(number::read::<types::Float64Type>(input, rows, nulls)),
        DataType::BFloat16 => Box::pin(number::read_bfloat16(input, rows, nulls)),
        DataType::Int128 => Box::pin(number::read_int128(input, rows, nulls)),
        DataType::UInt128 => Box::pin(number::read_uint128(input, rows, nulls)),
        DataType::Int256 | DataType::UInt256 => Box::pin(fixed_string::read(input, 32, rows, nulls)),
        DataType::Bool => Box::pin(boolean::read(input, rows, nulls)),
        DataType::String => Box::pin(string::read(input, rows, nulls)),
        DataType::FixedString(length) => Box::pin(fixed_string::read(input, *length, rows, nulls)),
        DataType::Ipv6 => Box::pin(fixed_string::read(input, 16, rows, nulls)),
        DataType::Uuid => Box::pin(uuid::read(input, rows, nulls)),
        DataType::Date
        | DataType::Date32
        | DataType::DateTime(_)
        | DataType::DateTime64(..)
        | DataType::Time
        | DataType::Time64(_)
        | DataType::Interval(_) => Box::pin(date_time::read(input, data_type, rows, nulls)),
        DataType::Enum8(names) => Box::pin(enumeration::read_enum8(input, names, rows, nulls)),
        DataType::Enum16(names) => Box::pin(enumeration::read_enum16(input, names, rows, nulls)),
        DataType::Decimal { precision, scale } => Box::pin(decimal::read(input, *precision, *scale, rows, nulls)),
        DataType::Nothing => Box::pin(nothing::read(input, rows)),
        DataType::Nullable(inner) => Box::pin(nullable::read(input, inner, prefix.child(0), kinds, rows)),
        DataType::Array(item) => Box::pin(array::read(input, item, prefix.child(0), rows)),
        DataType::Tuple(elements) => Box::pin(tuple::read(input, elements, prefix, kinds, rows, nulls)),
        DataType::Point => Box::pin(tuple::read_point(input, kinds, rows, nulls)),
        DataType::Map(key, value) => Box::pin(map::read(input, key, value, prefix, rows)),
        DataType::LowCardinality(inner) => Box::pin(low_cardinality::read(input, inner, rows)),
        DataType::Variant(types) => Box::pin(variant::read(input, types, prefix, rows)),
        DataType::Dynamic { .. } => match prefix {
            Prefix::Dynamic(structure) => Box::pin(dynamic::read(input, structure, rows)),
            _ => failed(input.error("Dynamic", "its prefix", "none")),
        },
        DataType::Json(json) => match prefix {
            Prefix::Json(structure) => Box::pin(json::read(input, json, structure, rows, nulls)),
            _ => failed(input.error("JSON", "its prefix", "none")),
        },
        DataType::QBit(number, dimension) => Box::pin(qbit::read(input, number, *dimension, rows, nulls)),
        DataType::AggregateFunction(function) => Box::pin(aggregate_function::read(input, function, rows)),
        other => match other.underlying() {
            Some(inner) => Box::pin(async move { read_values(input, &inner, prefix, kinds, rows, nulls).await }),
            None => failed(unsupported(other)),
        },
    }
}

/// [`read_values`] of numbers where that takes no waiting, as for most columns of small answers. `None` leaves them to it.
pub(crate) fn read_received(input: &mut Input<'_>, data_type: &DataType, rows: usize) -> Option<Result<ArrayRef>> {
    match data_type {
        DataType::Int8 => number::received::<types::Int8Type>(input, rows),
        DataType::Int16 => number::received::<types::Int16Type>(input, rows),
        DataType::Int32 => number::received::<types::Int32Type>(input, rows),
        DataType::Int64 => number::received::<types::Int64Type>(input, rows),
        DataType::UInt8 => number::received::<types::UInt8Type>(input, rows),
        DataType::UInt16 => number::received::<types::UInt16Type>(input, rows),
        DataType::UInt32 => number::received::<types::UInt32Type>(input, rows),
        DataType::UInt64 => number::received::<types::UInt64Type>(input, rows),
        DataType::Float32 => number::received::<types::Float32Type>(input, rows),
        DataType::Float64 => number::received::<types::Float64Type>(input, rows),
        _ => None,
    }
}

fn failed<'a>(error: Error) -> Reading<'a, ArrayRef> {
    Box::pin(ready(Err(error)))
}

/// Writes the prefix of a column of `data_type`.
pub(crate) fn write_prefix(output: &mut Output<'_>, data_type: &DataType, array: &dyn Array) -> Result<()> {
    if !has_prefix(data_type) {
        return Ok(());
    }
    match data_type {
        DataType::LowCardinality(_) => {
            low_cardinality::write_prefix(output);
            Ok(())
        }
        DataType::Nullable(inner) => write_prefix(output, inner, array),
        DataType::Array(item) => array::write_prefix(output, item, array),
        DataType::Map(key, value) => map::write_prefix(output, key, value, array),
        DataType::Tuple(elements) => tuple::write_prefix(output, elements, array),
        DataType::Variant(types) => variant::write_prefix(output, types, array),
        DataType::Dynamic { .. } => dynamic::write_prefix(output, array),
        DataType::Json(json) => json::write_prefix(output, json, array),
        other => match other.underlying() {
            Some(inner) => write_prefix(output, &inner, array),
            None => Ok(()),
        },
    }
}

/// Writes the values of `array` as a column of `data_type`. Null values are an error, except those of types that are
/// nullable by themselves.
pub(crate) fn write_values(output: &mut Output<'_>, data_type: &DataType, array: &dyn Array) -> Result<()> {
    let nullable = matches!(
        data_type,
        DataType::Nullable(_)
            | DataType::LowCardinality(_)
            | DataType::Variant(_)
            | DataType::Dynamic { .. }
            | DataType::Geometry
            | DataType::Nothing
            | DataType::SimpleAggregateFunction(_)
    );
    if !nullable
        && let Some(nulls) = array.nulls()
        && nulls.null_count() > 0
    {
        let row = (0..nulls.len()).find(|row| nulls.is_null(*row)).unwrap_or_default();
        return Err(output.value_error(row, "a value", format!("no NULL in a column of {data_type}"), "NULL"));
    }
    write_valid_values(output, data_type, array)
}

/// Writes the values of `array`, and anything where they are null.
pub(crate) fn write_valid_values(output: &mut Output<'_>, data_type: &DataType, array: &dyn Array) -> Result<()> {
    if array.is_empty() {
        return Ok(());
    }
    match data_type {
        DataType::Int8 => number::write::<types::Int8Type>(output, array),
        DataType::Int16 => number::write::<types::Int16Type>(output, array),
        DataType::Int32 => number::write::<types::Int32Type>(output, array),
        DataType::Int64 => number::write::<types::Int64Type>(output, array),
        DataType::UInt8 => number::write::<types::UInt8Type>(output, array),
        DataType::UInt16 => number::write::<types::UInt16Type>(output, array),
        DataType::UInt32 | DataType::Ipv4 => number::write::<types::UInt32Type>(output, array),
        DataType::UInt64 => number::write::<types::UInt64Type>(output, array),
        DataType::Float32 => number::write::<types::Float32Type>(output, array),
        DataType::Float64 => number::write::<types::Float64Type>(output, array),
        DataType::BFloat16 => number::write_bfloat16(output, array),
        DataType::Int128 => number::write_int128(output, array),
        DataType::UInt128 => number::write_uint128(output, array),
        DataType::Int256 | DataType::UInt256 => fixed_string::write(output, 32, array),
        DataType::Bool => boolean::write(output, array),
        DataType::String => string::write(output, array),
        DataType::FixedString(length) => fixed_string::write(output, *length, array),
        DataType::Ipv6 => fixed_string::write(output, 16, array),
        DataType::Uuid => uuid::write(output, array),
        DataType::Date
        | DataType::Date32
        | DataType::DateTime(_)
        | DataType::DateTime64(..)
        | DataType::Time
        | DataType::Time64(_)
        | DataType::Interval(_) => date_time::write(output, data_type, array),
        DataType::Enum8(names) => enumeration::write_enum8(output, names, array),
        DataType::Enum16(names) => enumeration::write_enum16(output, names, array),
        DataType::Decimal { precision, scale } => decimal::write(output, *precision, *scale, array),
        DataType::Nothing => {
            nothing::write(output, array.len());
            Ok(())
        }
        DataType::Nullable(inner) => nullable::write(output, inner, array),
        DataType::Array(item) => array::write(output, item, array),
        DataType::Tuple(elements) => tuple::write(output, elements, array),
        DataType::Point => tuple::write_point(output, array),
        DataType::Map(key, value) => map::write(output, key, value, array),
        DataType::LowCardinality(inner) => low_cardinality::write(output, inner, array),
        DataType::Variant(types) => variant::write(output, types, array),
        DataType::Dynamic { .. } => dynamic::write(output, array),
        DataType::Json(json) => json::write(output, json, array),
        DataType::QBit(number, dimension) => qbit::write(output, number, *dimension, array),
        DataType::AggregateFunction(function) => aggregate_function::write(output, function, array),
        other => match other.underlying() {
            Some(inner) => write_values(output, &inner, array),
            None => Err(unsupported(other)),
        },
    }
}

fn unsupported(data_type: &DataType) -> Error {
    Error::Unsupported {
        what: format!("a column of {data_type}"),
        hint: "select another expression of it",
    }
}

/// Whether a column of `data_type` has a prefix.
fn has_prefix(data_type: &DataType) -> bool {
    match data_type {
        DataType::LowCardinality(_)
        | DataType::Variant(_)
        | DataType::Dynamic { .. }
        | DataType::Json(_)
        | DataType::Geometry => true,
        DataType::Array(inner) | DataType::Nullable(inner) => has_prefix(inner),
        DataType::Map(key, value) => has_prefix(key) || has_prefix(value),
        DataType::Tuple(elements) | DataType::Nested(elements) => {
            elements.iter().any(|element| has_prefix(&element.data_type))
        }
        DataType::SimpleAggregateFunction(function) => function.arguments.first().is_some_and(has_prefix),
        _ => false,
    }
}
