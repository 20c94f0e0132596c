//! The kind of serialization of a column: that of its type, or another one over it.
//!
//! From revision 54454 on each column says by a byte whether it has another. If so, its kind follows, and if it is a tuple,
//! the kinds of its elements.
//!
//! Source: `DataTypes/Serializations/SerializationInfo.cpp` and `SerializationInfoTuple.cpp` of ClickHouse.

use arrow_array::ArrayRef;

use super::{Input, Prefix, Reading, read_values, replicated, sparse};
use crate::{DataType, Error, Result};

/// The kinds of a column and, of a tuple, of its elements.
pub(crate) struct Kinds {
    /// From the innermost to the outermost.
    stack: Vec<Kind>,
    elements: Vec<Self>,
}

/// A serialization over another one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    /// Only values other than the default are written.
    Sparse,
    /// Values are written once, and an index for each row.
    Replicated,
}

impl Kinds {
    /// The serialization of the type itself.
    pub(crate) const DEFAULT: Self = Self {
        stack: Vec::new(),
        elements: Vec::new(),
    };

    /// Whether a column is written as its type is.
    pub(crate) fn is_default(&self) -> bool {
        self.stack.is_empty()
    }

    /// Reads the kinds of a column of `data_type`.
    pub(crate) fn read<'a>(input: &'a mut Input<'_>, data_type: &'a DataType) -> Reading<'a, Self> {
        Box::pin(async move {
            let stack = read_stack(input).await?;
            let mut elements = Vec::new();
            for element in &element_types(data_type) {
                elements.push(Self::read(input, element).await?);
            }
            Ok(Self { stack, elements })
        })
    }

    /// The kinds of an element of a tuple.
    pub(super) fn child(&self, index: usize) -> &Self {
        self.elements.get(index).unwrap_or(&NO_KINDS)
    }
}

impl Kind {
    /// The number of the kind alone over the type's own.
    pub(super) fn number(self) -> u8 {
        match self {
            Self::Sparse => 1,
            Self::Replicated => 4,
        }
    }
}

/// The types of the elements that have kinds of their own.
pub(super) fn element_types(data_type: &DataType) -> Vec<DataType> {
    match data_type {
        DataType::Tuple(elements) => elements.iter().map(|element| element.data_type.clone()).collect(),
        DataType::Point => vec![DataType::Float64; 2],
        _ => Vec::new(),
    }
}

async fn read_stack(input: &mut Input<'_>) -> Result<Vec<Kind>> {
    Ok(match input.u8("the kind of a serialization").await? {
        0 => Vec::new(),
        1 => vec![Kind::Sparse],
        2 | 3 => return Err(detached()),
        4 => vec![Kind::Replicated],
        5 => {
            let count = input.count("the number of kinds", MAX_KINDS).await?;
            let mut stack = Vec::with_capacity(count);
            for _ in 0..count {
                match input.u8("the kind of a serialization").await? {
                    0 => {}
                    1 => stack.push(Kind::Sparse),
                    2 => return Err(detached()),
                    3 => stack.push(Kind::Replicated),
                    other => return Err(input.error("the kind of a serialization", "0 to 3", other.to_string())),
                }
            }
            stack
        }
        other => return Err(input.error("the kind of a serialization", "0 to 5", other.to_string())),
    })
}

/// Reads values whose kinds may be others than that of their type.
pub(crate) fn read<'a>(
    input: &'a mut Input<'_>,
    data_type: &'a DataType,
    prefix: &'a Prefix,
    kinds: &'a Kinds,
    rows: usize,
) -> Reading<'a, ArrayRef> {
    read_stacked(input, data_type, prefix, kinds, &kinds.stack, rows)
}

pub(super) fn read_stacked<'a>(
    input: &'a mut Input<'_>,
    data_type: &'a DataType,
    prefix: &'a Prefix,
    kinds: &'a Kinds,
    stack: &'a [Kind],
    rows: usize,
) -> Reading<'a, ArrayRef> {
    match stack.split_last() {
        None => read_values(input, data_type, prefix, kinds, rows, None),
        Some((kind, below)) => match kind {
            Kind::Sparse => Box::pin(sparse::read(input, data_type, prefix, kinds, below, rows)),
            Kind::Replicated => Box::pin(replicated::read(input, data_type, prefix, kinds, below, rows)),
        },
    }
}

fn detached() -> Error {
    Error::Unsupported {
        what: "a column that is compressed apart from its block".to_owned(),
        hint: "set enable_parallel_blocks_marshalling to 0",
    }
}

static NO_KINDS: Kinds = Kinds::DEFAULT;
const MAX_KINDS: u64 = 16;
