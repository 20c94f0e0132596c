//! `AggregateFunction`: states of aggregate functions, one behind the other.
//!
//! A state says nothing of its length, so it can be read only by who knows its function. Known here are those whose states
//! are a few numbers or one value: `count`, `sum`, `avg`, `min`, `max`, `any`, `anyLast`, `argMin` and `argMax`, and these
//! with `If`. In Arrow a state is its bytes.
//!
//! Sources: `AggregateFunctions/AggregateFunctionCount.cpp`, `AggregateFunctionSum.h`, `AggregateFunctionAvg.h`,
//! `SingleValueData.cpp` of ClickHouse, and the bytes that ClickHouse 26.9 writes.
//!
//! States of all other functions (`uniq`, `quantile`, …) are refused.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BinaryArray};
use arrow_buffer::{MutableBuffer, OffsetBuffer};

use super::{Input, Output, string};
use crate::{DataType, Error, Result, data_type::AggregateFunction};

/// A part of a state.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Part {
    /// So many bytes.
    Fixed(usize),
    /// A number in groups of seven bits.
    Varint,
    /// A byte, and so many more unless it is 0.
    Optional(usize),
    /// So many bytes as the 32 bits before them say, unless that is negative.
    Text,
}

pub(super) async fn read(input: &mut Input<'_>, function: &AggregateFunction, rows: usize) -> Result<ArrayRef> {
    let parts = parts(function)?;
    let mut values = MutableBuffer::new(0);
    let mut offsets: Vec<i32> = vec![0];
    for _ in 0..rows {
        for part in &parts {
            match part {
                Part::Fixed(length) => copy(input, *length, &mut values).await?,
                Part::Varint => loop {
                    let byte = input.u8("a state").await?;
                    values.push(byte);
                    if byte < 0x80 {
                        break;
                    }
                },
                Part::Optional(length) => {
                    let byte = input.u8("a state").await?;
                    values.push(byte);
                    if byte != 0 {
                        copy(input, *length, &mut values).await?;
                    }
                }
                Part::Text => {
                    let length = input.array::<4>("a state").await?;
                    values.extend_from_slice(&length);
                    if let Ok(length) = usize::try_from(i32::from_le_bytes(length)) {
                        copy(input, length, &mut values).await?;
                    }
                }
            }
        }
        input.charge(4)?;
        offsets.push(i32::try_from(values.len()).map_err(|_| Error::Limit {
            what: "states of one column of a block",
            limit: i32::MAX as u64,
            found: values.len() as u64,
        })?);
    }
    Ok(Arc::new(BinaryArray::try_new(
        OffsetBuffer::new(offsets.into()),
        values.into(),
        None,
    )?))
}

async fn copy(input: &mut Input<'_>, length: usize, values: &mut MutableBuffer) -> Result<()> {
    let bytes = input.bytes(length, 1, "a state").await?;
    values.extend_from_slice(bytes.as_slice());
    Ok(())
}

pub(super) fn write(output: &mut Output<'_>, function: &AggregateFunction, array: &dyn Array) -> Result<()> {
    parts(function)?;
    string::write_without_lengths(output, array)
}

/// The parts of a state of `function`.
fn parts(function: &AggregateFunction) -> Result<Vec<Part>> {
    let known = known_parts(&function.name, &function.arguments);
    known.ok_or_else(|| Error::Unsupported {
        what: format!("a state of {function}, whose length only ClickHouse knows,"),
        hint: "select finalizeAggregation() of it, or its hex() as text",
    })
}

fn known_parts(name: &str, arguments: &[DataType]) -> Option<Vec<Part>> {
    if let Some(name) = name.strip_suffix("If") {
        let (condition, arguments) = arguments.split_last()?;
        return (*condition == DataType::UInt8 || *condition == DataType::Bool)
            .then(|| known_parts(name, arguments))
            .flatten();
    }
    Some(match (name, arguments) {
        ("count", [] | [_]) => vec![Part::Varint],
        ("sum", [value]) => vec![Part::Fixed(sum_width(value)?)],
        ("avg", [value]) => vec![Part::Fixed(average_width(value)?), Part::Varint],
        ("min" | "max" | "any" | "anyLast", [value]) => vec![single_value(value)?],
        ("argMin" | "argMax", [result, value]) => vec![single_value(result)?, single_value(value)?],
        _ => return None,
    })
}

/// The width of a sum: the widest type of the same kind.
fn sum_width(value: &DataType) -> Option<usize> {
    match value {
        DataType::Int128 | DataType::UInt128 => Some(16),
        DataType::Int256 | DataType::UInt256 => Some(32),
        DataType::Decimal { precision, .. } => Some(DataType::decimal_width(*precision).max(16)),
        DataType::Interval(_) => Some(8),
        value if is_number(value) => Some(8),
        _ => None,
    }
}

fn average_width(value: &DataType) -> Option<usize> {
    match value {
        DataType::Decimal { precision, .. } => Some(DataType::decimal_width(*precision).max(16)),
        value if is_number(value) => Some(8),
        _ => None,
    }
}

fn is_number(value: &DataType) -> bool {
    matches!(
        value,
        DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::UInt8
            | DataType::UInt16
            | DataType::UInt32
            | DataType::UInt64
            | DataType::Float32
            | DataType::Float64
            | DataType::Bool
    )
}

/// One value of a type, or none.
fn single_value(value: &DataType) -> Option<Part> {
    let width = match value {
        DataType::String => return Some(Part::Text),
        DataType::Int8 | DataType::UInt8 | DataType::Bool | DataType::Enum8(_) => 1,
        DataType::Int16 | DataType::UInt16 | DataType::Date | DataType::Enum16(_) => 2,
        DataType::Int32
        | DataType::UInt32
        | DataType::Float32
        | DataType::Date32
        | DataType::DateTime(_)
        | DataType::Ipv4 => 4,
        DataType::Int64 | DataType::UInt64 | DataType::Float64 | DataType::DateTime64(..) | DataType::Interval(_) => 8,
        DataType::Int128 | DataType::UInt128 | DataType::Uuid | DataType::Ipv6 => 16,
        DataType::Int256 | DataType::UInt256 => 32,
        DataType::Decimal { precision, .. } => DataType::decimal_width(*precision),
        _ => return None,
    };
    Some(Part::Optional(width))
}
