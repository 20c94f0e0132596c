//! `AggregateFunction`: states of aggregate functions, one behind the other.
//!
//! A state says nothing of its length, so it can be read only by who knows its function. Known here are those whose states
//! are a few numbers, one value, or a list of numbers or texts ([`known_parts`]), and these with `If`, `Array`, `OrNull` and
//! `OrDefault`. In Arrow a state is its bytes.
//!
//! Sources: the headers of the functions in `AggregateFunctions` of ClickHouse (`AggregateFunctionCount.cpp`,
//! `AggregateFunctionSum.h`, `AggregateFunctionAvg.h`, `SingleValueData.cpp`, `Moments.h`, …), and the bytes that ClickHouse
//! 26.9 writes: `tests/states.rs` compares with them.
//!
//! States of all other functions (`uniq`, `quantile`, …) are refused, and those whose form differs between versions.

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
    /// A byte, and unless it is 0 so many of the parts that follow.
    If(usize),
    /// A byte, and if it is 0 so many of the parts that follow.
    Unless(usize),
    /// So many bytes as the 32 bits before them say, unless that is negative.
    Text,
    /// A varint, and so many values of so many bytes.
    List(usize),
    /// A varint, and so many texts, each behind a varint of its length.
    Texts,
}

pub(super) async fn read(input: &mut Input<'_>, function: &AggregateFunction, rows: usize) -> Result<ArrayRef> {
    let parts = parts(function)?;
    let mut states = States {
        input,
        bytes: MutableBuffer::new(0),
    };
    let mut offsets: Vec<i32> = vec![0];
    for _ in 0..rows {
        states.read(&parts).await?;
        states.input.charge(4)?;
        offsets.push(i32::try_from(states.bytes.len()).map_err(|_| Error::Limit {
            what: "states of one column of a block",
            limit: i32::MAX as u64,
            found: states.bytes.len() as u64,
        })?);
    }
    Ok(Arc::new(BinaryArray::try_new(
        OffsetBuffer::new(offsets.into()),
        states.bytes.into(),
        None,
    )?))
}

pub(super) fn write(output: &mut Output<'_>, function: &AggregateFunction, array: &dyn Array) -> Result<()> {
    parts(function)?;
    string::write_without_lengths(output, array)
}

/// The states that were read.
struct States<'a, 'b> {
    input: &'a mut Input<'b>,
    bytes: MutableBuffer,
}

impl States<'_, '_> {
    async fn read(&mut self, parts: &[Part]) -> Result<()> {
        let mut rest = parts.iter();
        while let Some(part) = rest.next() {
            match *part {
                Part::Fixed(length) => self.copy(length).await?,
                Part::Varint => drop(self.varint().await?),
                Part::If(count) => {
                    if self.byte().await? == 0 {
                        rest = rest.as_slice().get(count..).unwrap_or_default().iter();
                    }
                }
                Part::Unless(count) => {
                    if self.byte().await? != 0 {
                        rest = rest.as_slice().get(count..).unwrap_or_default().iter();
                    }
                }
                Part::Text => {
                    let begin = self.bytes.len();
                    self.copy(4).await?;
                    let length = self.bytes.get(begin..).and_then(|bytes| bytes.first_chunk());
                    let length = i32::from_le_bytes(*length.unwrap_or(&[0; 4]));
                    self.copy(usize::try_from(length).unwrap_or_default()).await?;
                }
                Part::List(width) => {
                    let count = self.varint().await?;
                    self.copy(count.saturating_mul(width)).await?;
                }
                Part::Texts => {
                    for _ in 0..self.varint().await? {
                        let length = self.varint().await?;
                        self.copy(length).await?;
                    }
                }
            }
        }
        Ok(())
    }

    async fn byte(&mut self) -> Result<u8> {
        self.copy(1).await?;
        Ok(self.bytes.last().copied().unwrap_or_default())
    }

    /// A number that cannot be that of bytes or values is too large for the memory of a block.
    async fn varint(&mut self) -> Result<usize> {
        let mut value = 0_u64;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte().await?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(usize::try_from(value).unwrap_or(usize::MAX));
            }
        }
        Err(self.input.error(WHAT, "a number of 64 bits", "more bits"))
    }

    /// Copies bytes as they arrive.
    async fn copy(&mut self, length: usize) -> Result<()> {
        self.input.charge(length as u64)?;
        let mut missing = length;
        while missing > 0 {
            let some = self.input.some(WHAT).await?;
            let some = some.get(..missing).unwrap_or(some);
            let count = some.len();
            self.bytes.extend_from_slice(some);
            self.input.consume(count);
            missing -= count;
        }
        Ok(())
    }
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
    if let Some(parts) = nullable_parts(name, arguments) {
        return Some(parts);
    }
    if let Some(name) = name.strip_suffix("If") {
        let (condition, arguments) = arguments.split_last()?;
        return (*condition == DataType::UInt8 || *condition == DataType::Bool)
            .then(|| known_parts(name, arguments))
            .flatten();
    }
    // The functions' own names end otherwise, save those that collect arrays.
    if let Some(name) = name.strip_suffix("Array").filter(|name| !name.starts_with("group")) {
        let item = |argument: &DataType| match argument {
            DataType::Array(item) => Some((**item).clone()),
            _ => None,
        };
        let items = arguments.iter().map(item).collect::<Option<Vec<_>>>()?;
        return plain_parts(name, &items);
    }
    if let Some(name) = name.strip_suffix("OrNull").or_else(|| name.strip_suffix("OrDefault"))
        && !name.ends_with("Value")
        && !arguments
            .iter()
            .any(|argument| matches!(argument, DataType::Nullable(_)))
    {
        // Whether there was a row comes last.
        return Some([known_parts(name, arguments)?, vec![Part::Fixed(1)]].concat());
    }
    plain_parts(name, arguments)
}

/// The parts of a state of a function with arguments that may be `NULL`. Rows that are are left out, and where the result may
/// be `NULL` too, a byte in front says whether there was another.
fn nullable_parts(name: &str, arguments: &[DataType]) -> Option<Vec<Part>> {
    let is_nullable = |argument: &DataType| matches!(argument, DataType::Nullable(_));
    if !arguments.iter().any(is_nullable) {
        return None;
    }
    if name == "count" {
        return (arguments.len() == 1).then(|| vec![Part::Varint]);
    }
    let own_name = name.strip_suffix("If").unwrap_or(name);
    let condition = arguments.last().filter(|_| own_name != name);
    if !MAY_BE_NULL.contains(&own_name) || condition.is_some_and(is_nullable) {
        return None;
    }
    let arguments = arguments.iter().map(|argument| match argument {
        DataType::Nullable(inner) => (**inner).clone(),
        other => other.clone(),
    });
    let parts = known_parts(name, &arguments.collect::<Vec<_>>())?;
    Some([vec![Part::If(parts.len())], parts].concat())
}

fn plain_parts(name: &str, arguments: &[DataType]) -> Option<Vec<Part>> {
    use Part::{Fixed, List, Texts, Unless, Varint};
    Some(match (name, arguments) {
        ("count", [] | [_]) => vec![Varint],
        ("sum", [value]) => vec![Fixed(sum_width(value)?)],
        ("sumCount", [value]) => vec![Fixed(sum_width(value)?), Varint],
        ("sumKahan", [value]) => vec![Fixed(number_width(value).map(|_| 16)?)],
        ("avg", [value]) => vec![Fixed(average_width(value)?), Varint],
        // The sum of the weights is a varint when they are whole.
        ("avgWeighted", [value, weight]) if is_number(value) && is_number(weight) => match weight {
            DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => vec![Fixed(8), Varint],
            _ => vec![Fixed(16)],
        },
        ("min" | "max" | "any" | "anyLast" | "singleValueOrNull", [value]) => single_value(value)?,
        ("anyHeavy", [value]) => [single_value(value)?, vec![Fixed(8)]].concat(),
        ("argMin" | "argMax", [result, value]) => [single_value(result)?, single_value(value)?].concat(),
        ("groupBitAnd" | "groupBitOr" | "groupBitXor", [value]) => vec![Fixed(integer_width(value)?)],
        ("varPop" | "varSamp" | "stddevPop" | "stddevSamp", [_]) => vec![Fixed(3 * moment_width(arguments)?)],
        ("skewPop" | "skewSamp", [_]) | ("covarPop" | "covarSamp", [_, _]) => {
            vec![Fixed(4 * moment_width(arguments)?)]
        }
        ("kurtPop" | "kurtSamp", [_]) => vec![Fixed(5 * moment_width(arguments)?)],
        ("corr", [_, _]) => vec![Fixed(6 * moment_width(arguments)?)],
        // The number of rows, means, and sums of squares.
        ("varPopStable" | "varSampStable" | "stddevPopStable" | "stddevSampStable", [_]) => vec![Varint, Fixed(16)],
        ("covarPopStable" | "covarSampStable", [_, _]) => vec![Varint, Fixed(24)],
        ("corrStable", [_, _]) => vec![Varint, Fixed(40)],
        ("deltaSum", [value]) if is_number(value) => vec![Fixed(3 * number_width(value)? + 1)],
        ("deltaSumTimestamp", [value, time]) if is_number(value) => {
            vec![Fixed(3 * number_width(value)? + 2 * time_width(time)? + 1)]
        }
        ("boundingRatio", [_, _]) => vec![Unless(1), Fixed(32)],
        ("simpleLinearRegression", [_, _]) => vec![Fixed(40)],
        ("exponentialMovingAverage", [_, _]) => vec![Fixed(16)],
        ("studentTTest" | "welchTTest", [_, _]) => vec![Fixed(48)],
        ("meanZTest", [_, _]) => vec![Fixed(32)],
        ("retention", [_, ..]) => vec![Fixed(4)],
        ("groupArray" | "groupUniqArray", [DataType::String]) => vec![Texts],
        // Texts are known by their hash.
        ("uniqExact", [DataType::String]) => vec![List(16)],
        ("groupArray" | "groupUniqArray" | "uniqExact", [DataType::Date]) => vec![List(2)],
        ("groupArray" | "groupUniqArray" | "uniqExact" | "quantileExact" | "quantilesExact", [value])
            if is_number(value) && *value != DataType::Bool =>
        {
            vec![List(number_width(value)?)]
        }
        // Pairs of a mean and a count.
        ("quantileTDigest" | "quantilesTDigest", [value]) if is_number(value) => vec![List(8)],
        _ => return None,
    })
}

/// The width of a sum: the widest type of the same kind.
fn sum_width(value: &DataType) -> Option<usize> {
    match value {
        DataType::Decimal { precision, .. } => Some(DataType::decimal_width(*precision).max(16)),
        value => number_width(value).map(|width| width.max(8)),
    }
}

fn average_width(value: &DataType) -> Option<usize> {
    match value {
        DataType::Date | DataType::DateTime(_) => Some(8),
        DataType::DateTime64(..) => Some(16),
        value => sum_width(value),
    }
}

/// The width of a sum of powers or products of these: that of the only type of floats that all are, or of a double.
fn moment_width(values: &[DataType]) -> Option<usize> {
    let decimal = |value: &DataType| matches!(value, DataType::Decimal { .. });
    let known = |value: &DataType| number_width(value).is_some() || (values.len() == 1 && decimal(value));
    let is_single = |value: &DataType| *value == DataType::Float32;
    values
        .iter()
        .all(known)
        .then(|| if values.iter().all(is_single) { 4 } else { 8 })
}

fn is_number(value: &DataType) -> bool {
    number_width(value).is_some_and(|width| width <= 8) && *value != DataType::BFloat16
}

fn number_width(value: &DataType) -> Option<usize> {
    match value {
        DataType::BFloat16 => Some(2),
        DataType::Float32 => Some(4),
        DataType::Float64 => Some(8),
        value => integer_width(value),
    }
}

fn integer_width(value: &DataType) -> Option<usize> {
    match value {
        DataType::Int8 | DataType::UInt8 | DataType::Bool => Some(1),
        DataType::Int16 | DataType::UInt16 => Some(2),
        DataType::Int32 | DataType::UInt32 => Some(4),
        DataType::Int64 | DataType::UInt64 => Some(8),
        DataType::Int128 | DataType::UInt128 => Some(16),
        DataType::Int256 | DataType::UInt256 => Some(32),
        _ => None,
    }
}

fn time_width(value: &DataType) -> Option<usize> {
    match value {
        DataType::Date => Some(2),
        DataType::DateTime(_) => Some(4),
        value => number_width(value).filter(|_| is_number(value)),
    }
}

/// One value of a type, or none.
fn single_value(value: &DataType) -> Option<Vec<Part>> {
    let width = match value {
        DataType::String => return Some(vec![Part::Text]),
        DataType::FixedString(length) => usize::try_from(*length).ok()?,
        DataType::Enum8(_) => 1,
        DataType::Enum16(_) | DataType::Date => 2,
        DataType::Date32 | DataType::DateTime(_) | DataType::Time | DataType::Ipv4 => 4,
        DataType::DateTime64(..) | DataType::Time64(_) | DataType::Interval(_) => 8,
        DataType::Uuid | DataType::Ipv6 => 16,
        DataType::Decimal { precision, .. } => DataType::decimal_width(*precision),
        value => number_width(value)?,
    };
    Some(vec![Part::If(1), Part::Fixed(width)])
}

const WHAT: &str = "a state";

/// Functions whose states have a byte in front when an argument may be `NULL`, as far as ClickHouse's bytes showed. Those that
/// give tuples have none in some versions.
const MAY_BE_NULL: [&str; 33] = [
    "anyLast",
    "any",
    "argMax",
    "argMin",
    "avg",
    "boundingRatio",
    "corr",
    "corrStable",
    "covarPop",
    "covarPopStable",
    "covarSamp",
    "covarSampStable",
    "deltaSum",
    "groupBitAnd",
    "groupBitOr",
    "groupBitXor",
    "kurtPop",
    "kurtSamp",
    "max",
    "min",
    "skewPop",
    "skewSamp",
    "stddevPop",
    "stddevPopStable",
    "stddevSamp",
    "stddevSampStable",
    "sum",
    "sumKahan",
    "uniqExact",
    "varPop",
    "varPopStable",
    "varSamp",
    "varSampStable",
];
