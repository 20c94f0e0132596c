//! The values of a column on their way into an array.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, Float32Array, Int64Array, ListArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field};

use super::{
    ExampleProblem, FeatureKind,
    message::{Feature, visit_features},
};

/// How deep the values of a column lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Value,
    List,
    ListOfLists,
}

/// Returns the type of a column.
pub(super) fn data_type(kind: FeatureKind, shape: Shape) -> DataType {
    let value = match kind {
        FeatureKind::Bytes => DataType::Binary,
        FeatureKind::Float => DataType::Float32,
        FeatureKind::Int64 => DataType::Int64,
    };
    let list = |value: DataType| DataType::List(Arc::new(Field::new_list_field(value, true)));
    match shape {
        Shape::Value => value,
        Shape::List => list(value),
        Shape::ListOfLists => list(list(value)),
    }
}

/// The values of some records.
#[derive(Debug)]
pub(super) struct Column {
    kind: FeatureKind,
    shape: Shape,
    values: Values,
    /// Where each list of a list of lists ends in the values.
    inner_ends: Ends,
    /// Where each record of lists ends in the values, or in the inner lists.
    ends: Ends,
    valid: Vec<bool>,
}

#[derive(Debug)]
enum Values {
    Bytes { ends: Ends, data: Vec<u8> },
    Float(Vec<f32>),
    Int64(Vec<i64>),
}

/// Offsets of Arrow: a zero, and the end of each.
#[derive(Debug)]
struct Ends(Vec<i32>);

/// How much a column has, to go back to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    values: usize,
    data: usize,
    inner: usize,
    records: usize,
}

impl Column {
    pub(super) fn new(kind: FeatureKind, shape: Shape) -> Self {
        Self {
            kind,
            shape,
            values: match kind {
                FeatureKind::Bytes => Values::Bytes {
                    ends: Ends::new(),
                    data: Vec::new(),
                },
                FeatureKind::Float => Values::Float(Vec::new()),
                FeatureKind::Int64 => Values::Int64(Vec::new()),
            },
            inner_ends: Ends::new(),
            ends: Ends::new(),
            valid: Vec::new(),
        }
    }

    /// Adds a record without the feature.
    pub(super) fn append_null(&mut self) -> Result<(), ExampleProblem> {
        if self.shape == Shape::Value {
            self.values.push_default()?;
        }
        self.end_record(false)
    }

    /// Adds a record that has this feature.
    pub(super) fn append_feature(&mut self, feature: &[u8]) -> Result<(), ExampleProblem> {
        let feature = Feature::new(feature)?;
        if feature.kind.is_none() {
            return self.append_null();
        }
        let found = self.append_values(&feature)?;
        match (self.shape, found) {
            (Shape::Value, 1) | (Shape::List | Shape::ListOfLists, _) => self.end_record(true),
            (Shape::Value, found) => Err(ExampleProblem::Count { found }),
        }
    }

    /// Adds a record that has this list of features.
    pub(super) fn append_feature_list(&mut self, list: &[u8]) -> Result<(), ExampleProblem> {
        visit_features(list, |feature| {
            let found = self.append_values(&feature)?;
            match (self.shape, found) {
                (Shape::ListOfLists, _) => self.inner_ends.push(self.values.len()),
                (Shape::Value | Shape::List, 1) => Ok(()),
                (Shape::Value | Shape::List, found) => Err(ExampleProblem::Count { found }),
            }
        })?;
        self.end_record(true)
    }

    /// Adds the values of a feature, and returns how many there are. A list that is empty may have any type.
    fn append_values(&mut self, feature: &Feature<'_>) -> Result<usize, ExampleProblem> {
        if let Some(found) = feature.kind.filter(|&found| found != self.kind) {
            return match feature.count()? {
                0 => Ok(0),
                _ => Err(ExampleProblem::Kind {
                    expected: self.kind,
                    found,
                }),
            };
        }
        let before = self.values.len();
        match &mut self.values {
            Values::Bytes { ends, data } => feature.visit_bytes(|value| {
                data.extend_from_slice(value);
                ends.push(data.len())
            })?,
            Values::Float(values) => feature.visit_floats(|found| {
                values.extend(found.iter().map(|value| f32::from_le_bytes(*value)));
            })?,
            Values::Int64(values) => feature.visit_int64s(|value| values.push(value))?,
        }
        Ok(self.values.len() - before)
    }

    fn end_record(&mut self, valid: bool) -> Result<(), ExampleProblem> {
        self.valid.push(valid);
        match self.shape {
            Shape::Value => Ok(()),
            Shape::List => self.ends.push(self.values.len()),
            Shape::ListOfLists => self.ends.push(self.inner_ends.len()),
        }
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            values: self.values.len(),
            data: match &self.values {
                Values::Bytes { data, .. } => data.len(),
                Values::Float(_) | Values::Int64(_) => 0,
            },
            inner: self.inner_ends.len(),
            records: self.valid.len(),
        }
    }

    /// Forgets what was added since.
    pub(super) fn go_back(&mut self, mark: Mark) {
        match &mut self.values {
            Values::Bytes { ends, data } => {
                ends.truncate(mark.values);
                data.truncate(mark.data);
            }
            Values::Float(values) => values.truncate(mark.values),
            Values::Int64(values) => values.truncate(mark.values),
        }
        self.inner_ends.truncate(mark.inner);
        self.ends.truncate(mark.records);
        self.valid.truncate(mark.records);
    }

    /// Returns the array of what was added, and starts again.
    pub(super) fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let column = std::mem::replace(self, Self::new(self.kind, self.shape));
        let nulls = column.valid.contains(&false).then(|| NullBuffer::from(column.valid));
        let (of_values, of_lists) = match column.shape {
            Shape::Value => (nulls, None),
            Shape::List | Shape::ListOfLists => (None, nulls),
        };
        let values: ArrayRef = match column.values {
            Values::Bytes { ends, data } => {
                Arc::new(BinaryArray::try_new(ends.finish(), Buffer::from_vec(data), of_values)?)
            }
            Values::Float(values) => Arc::new(Float32Array::try_new(values.into(), of_values)?),
            Values::Int64(values) => Arc::new(Int64Array::try_new(values.into(), of_values)?),
        };
        match column.shape {
            Shape::Value => Ok(values),
            Shape::List => list(column.ends, values, of_lists),
            Shape::ListOfLists => list(column.ends, list(column.inner_ends, values, None)?, of_lists),
        }
    }
}

fn list(ends: Ends, values: ArrayRef, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
    let field = Arc::new(Field::new_list_field(values.data_type().clone(), true));
    Ok(Arc::new(ListArray::try_new(field, ends.finish(), values, nulls)?))
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::Bytes { ends, .. } => ends.len(),
            Self::Float(values) => values.len(),
            Self::Int64(values) => values.len(),
        }
    }

    fn push_default(&mut self) -> Result<(), ExampleProblem> {
        match self {
            Self::Bytes { ends, data } => ends.push(data.len())?,
            Self::Float(values) => values.push(0.0),
            Self::Int64(values) => values.push(0),
        }
        Ok(())
    }
}

impl Ends {
    fn new() -> Self {
        Self(vec![0])
    }

    fn len(&self) -> usize {
        self.0.len() - 1
    }

    fn push(&mut self, end: usize) -> Result<(), ExampleProblem> {
        self.0.push(i32::try_from(end).map_err(|_| ExampleProblem::Full)?);
        Ok(())
    }

    fn truncate(&mut self, len: usize) {
        self.0.truncate(len + 1);
    }

    fn finish(self) -> OffsetBuffer<i32> {
        OffsetBuffer::new(ScalarBuffer::from(self.0))
    }
}
