//! The messages, as they are in a record.

use std::ops::Range;

use super::{ExampleKind, ExampleProblem, FeatureKind};
use crate::{
    error::RowProblem,
    varint::read_varint64,
    wire_format::{FieldReader, WireValue},
};

/// Which map of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Section {
    /// The features of an `Example`, or the context of a `SequenceExample`.
    Features,
    FeatureLists,
}

/// A message inside of a record.
#[derive(Clone, Debug, Default)]
pub(super) enum Part {
    #[default]
    Absent,
    /// The bytes of the record in this range.
    Range(Range<usize>),
    /// Several, which are merged: messages one after another are one.
    Merged(Vec<u8>),
}

impl Part {
    pub(super) fn bytes<'a>(&'a self, record: &'a [u8]) -> Option<&'a [u8]> {
        match self {
            Self::Absent => None,
            Self::Range(range) => record.get(range.clone()),
            Self::Merged(bytes) => Some(bytes),
        }
    }

    fn add(&mut self, record: &[u8], range: Range<usize>) {
        *self = match self.bytes(record) {
            None => Self::Range(range),
            Some(before) => Self::Merged([before, record.get(range).unwrap_or_default()].concat()),
        };
    }
}

/// Calls `visit` with each entry of the maps of a record: its name, and its `Feature` or `FeatureList`. The last one of a name counts.
pub(super) fn visit_entries<'a>(
    kind: ExampleKind,
    record: &'a [u8],
    mut visit: impl FnMut(Section, &'a str, Part) -> Result<(), ExampleProblem>,
) -> Result<(), ExampleProblem> {
    let mut fields = FieldReader::new(record);
    while let Some((number, value)) = fields.next_field()? {
        let section = match (kind, number) {
            (_, 1) => Section::Features,
            (ExampleKind::SequenceExample, 2) => Section::FeatureLists,
            _ => {
                return Err(ExampleProblem::Field {
                    message: kind.message_name(),
                    number,
                });
            }
        };
        visit_map(record, message(number, value)?, |name, part| visit(section, name, part))?;
    }
    Ok(())
}

/// Visits the entries of a `Features` or a `FeatureLists`.
fn visit_map<'a>(
    record: &'a [u8],
    map: Range<usize>,
    mut visit: impl FnMut(&'a str, Part) -> Result<(), ExampleProblem>,
) -> Result<(), ExampleProblem> {
    let mut entries = FieldReader::new(record.get(map.clone()).unwrap_or_default());
    while let Some((number, value)) = entries.next_field()? {
        if number != 1 {
            continue;
        }
        let entry = inside(&map, message(number, value)?);
        let (mut name, mut part) = (&[][..], Part::Absent);
        let mut fields = FieldReader::new(record.get(entry.clone()).unwrap_or_default());
        while let Some((number, value)) = fields.next_field()? {
            match number {
                1 => name = record.get(inside(&entry, message(number, value)?)).unwrap_or_default(),
                2 => part.add(record, inside(&entry, message(number, value)?)),
                _ => {}
            }
        }
        if let Part::Absent = part {
            // An entry without a value has an empty one.
            part = Part::Range(entry.end..entry.end);
        }
        visit(std::str::from_utf8(name).map_err(|_| RowProblem::Utf8)?, part)?;
    }
    Ok(())
}

/// A `Feature`.
#[derive(Debug, Default)]
pub(super) struct Feature<'a> {
    /// `None` if no list is set.
    pub(super) kind: Option<FeatureKind>,
    /// The list; more than one where messages were merged.
    list: &'a [u8],
    more: Vec<&'a [u8]>,
}

impl<'a> Feature<'a> {
    pub(super) fn new(feature: &'a [u8]) -> Result<Self, RowProblem> {
        let mut read = Self::default();
        let mut fields = FieldReader::new(feature);
        while let Some((number, value)) = fields.next_field()? {
            let kind = match number {
                1 => FeatureKind::Bytes,
                2 => FeatureKind::Float,
                3 => FeatureKind::Int64,
                _ => continue,
            };
            let list = feature.get(message(number, value)?).unwrap_or_default();
            if read.kind == Some(kind) {
                read.more.push(list);
            } else {
                // The last one of a oneof counts.
                (read.kind, read.list) = (Some(kind), list);
                read.more.clear();
            }
        }
        Ok(read)
    }

    /// Calls `take` with the bytes of each value of a `BytesList`.
    pub(super) fn visit_bytes(
        &self,
        mut take: impl FnMut(&'a [u8]) -> Result<(), ExampleProblem>,
    ) -> Result<(), ExampleProblem> {
        self.visit_values(|list, number, value| take(list.get(message(number, value)?).unwrap_or_default()))
    }

    /// Calls `take` with values of a `FloatList`: little-endian, four bytes each.
    pub(super) fn visit_floats(&self, mut take: impl FnMut(&[[u8; 4]])) -> Result<(), ExampleProblem> {
        self.visit_values(|list, number, value| match value {
            WireValue::Fixed32(value) => {
                take(&[value.to_le_bytes()]);
                Ok(())
            }
            WireValue::Bytes(range) => {
                let (values, rest) = list.get(range).unwrap_or_default().as_chunks();
                take(values);
                match rest {
                    [] => Ok(()),
                    _ => Err(RowProblem::Packed.into()),
                }
            }
            other => Err(wire_type(number, 5, &other).into()),
        })
    }

    /// Calls `take` with each value of an `Int64List`.
    pub(super) fn visit_int64s(&self, mut take: impl FnMut(i64)) -> Result<(), ExampleProblem> {
        self.visit_values(|list, number, value| match value {
            WireValue::Varint(value) => {
                take(value.cast_signed());
                Ok(())
            }
            WireValue::Bytes(range) => {
                let mut left = list.get(range).unwrap_or_default();
                while !left.is_empty() {
                    let (value, behind) = read_varint64(left).ok_or(RowProblem::Packed)?;
                    take(value.cast_signed());
                    left = behind;
                }
                Ok(())
            }
            other => Err(wire_type(number, 0, &other).into()),
        })
    }

    /// Returns the number of values.
    pub(super) fn count(&self) -> Result<usize, ExampleProblem> {
        let mut count = 0;
        match self.kind {
            None => {}
            Some(FeatureKind::Bytes) => self.visit_bytes(|_| {
                count += 1;
                Ok(())
            })?,
            Some(FeatureKind::Float) => self.visit_floats(|values| count += values.len())?,
            Some(FeatureKind::Int64) => self.visit_int64s(|_| count += 1)?,
        }
        Ok(count)
    }

    fn visit_values(
        &self,
        mut visit: impl FnMut(&'a [u8], u32, WireValue) -> Result<(), ExampleProblem>,
    ) -> Result<(), ExampleProblem> {
        for &list in std::iter::once(&self.list).chain(&self.more) {
            let mut fields = FieldReader::new(list);
            while let Some((number, value)) = fields.next_field()? {
                if number == 1 {
                    visit(list, number, value)?;
                }
            }
        }
        Ok(())
    }
}

/// Calls `visit` with each `Feature` of a `FeatureList`.
pub(super) fn visit_features<'a>(
    list: &'a [u8],
    mut visit: impl FnMut(Feature<'a>) -> Result<(), ExampleProblem>,
) -> Result<(), ExampleProblem> {
    let mut fields = FieldReader::new(list);
    while let Some((number, value)) = fields.next_field()? {
        if number == 1 {
            let feature = list.get(message(number, value)?).unwrap_or_default();
            visit(Feature::new(feature)?)?;
        }
    }
    Ok(())
}

/// Returns whether a `Feature`, or all those of a `FeatureList`, have no list of values.
pub(super) fn is_unset(section: Section, bytes: &[u8]) -> Result<bool, ExampleProblem> {
    let mut is_unset = true;
    let mut see = |feature: Feature<'_>| {
        is_unset &= feature.kind.is_none();
        Ok(())
    };
    match section {
        Section::Features => see(Feature::new(bytes)?)?,
        Section::FeatureLists => visit_features(bytes, see)?,
    }
    Ok(is_unset)
}

/// Returns where a message is whose field has this value.
fn message(number: u32, value: WireValue) -> Result<Range<usize>, RowProblem> {
    match value {
        WireValue::Bytes(range) => Ok(range),
        other => Err(wire_type(number, 2, &other)),
    }
}

fn wire_type(number: u32, expected: u8, found: &WireValue) -> RowProblem {
    RowProblem::WireType {
        number,
        expected,
        found: match found {
            WireValue::Varint(_) => 0,
            WireValue::Fixed64(_) => 1,
            WireValue::Bytes(_) => 2,
            WireValue::Group(_) => 3,
            WireValue::Fixed32(_) => 5,
        },
    }
}

/// Returns where a part of `outer` is in what `outer` is a part of.
fn inside(outer: &Range<usize>, part: Range<usize>) -> Range<usize> {
    outer.start + part.start..outer.start + part.end
}
