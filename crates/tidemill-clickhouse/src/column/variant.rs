//! `Variant`: which type each row has, then the values of each type.
//!
//! The prefix says how the discriminators are written: 0, a byte for each row; 1, in granules that may be one byte for all
//! of their rows. A discriminator is the position of the type among those of the `Variant`; 255 is `NULL`. In Arrow it is a
//! dense union, with one more member for `NULL`.
//!
//! Source: `DataTypes/Serializations/SerializationVariant.cpp` of ClickHouse.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, NullArray, UnionArray};
use arrow_buffer::ScalarBuffer;
use arrow_schema::{DataType as ArrowType, UnionMode};

use super::{Input, Kinds, Output, Prefix, read_values, write_values};
use crate::{
    DataType, Error, Result,
    arrow_type::{field_of, union},
};

/// How discriminators are written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Discriminators {
    Basic,
    Compact,
}

/// The discriminator of `NULL`.
pub(super) const NULL_DISCRIMINATOR: u8 = 255;
/// Arrow numbers the members of a union from 0 to 127, and one is for `NULL`.
pub(super) const MAX_MEMBERS: usize = 127;

pub(super) async fn read_prefix(input: &mut Input<'_>) -> Result<Discriminators> {
    match input.u64("the mode of discriminators").await? {
        0 => Ok(Discriminators::Basic),
        1 => Ok(Discriminators::Compact),
        other => Err(input.error("the mode of discriminators", "0 or 1", other.to_string())),
    }
}

pub(super) async fn read(input: &mut Input<'_>, types: &[DataType], prefix: &Prefix, rows: usize) -> Result<ArrayRef> {
    let compact = matches!(prefix, Prefix::Variant(Discriminators::Compact, _));
    let discriminators = read_discriminators(input, compact, rows).await?;
    let (ids, offsets, counts) = members(input, &discriminators, types.len(), NULL_DISCRIMINATOR.into())?;
    let mut columns = Vec::with_capacity(types.len() + 1);
    for (index, (data_type, count)) in types.iter().zip(&counts).enumerate() {
        columns.push(read_values(input, data_type, prefix.child(index), &Kinds::DEFAULT, *count, None).await?);
    }
    let names = types.iter().map(DataType::to_string);
    let fields = names
        .zip(types)
        .zip(&columns)
        .map(|((name, data_type), column)| field_of(name, data_type, column.data_type().clone()));
    let union = union(fields.collect::<Vec<_>>());
    dense(
        &union,
        ids,
        offsets,
        columns,
        counts.last().copied().unwrap_or_default(),
    )
}

/// The array of a union made by [`union`].
pub(super) fn dense(
    arrow_type: &ArrowType,
    ids: Vec<i8>,
    offsets: Vec<i32>,
    mut columns: Vec<ArrayRef>,
    nulls: usize,
) -> Result<ArrayRef> {
    columns.push(Arc::new(NullArray::new(nulls)));
    let ArrowType::Union(fields, UnionMode::Dense) = arrow_type else {
        return Err(Error::Closed {
            why: "a union is not one",
        });
    };
    let ids = ScalarBuffer::from(ids);
    let offsets = ScalarBuffer::from(offsets);
    Ok(Arc::new(UnionArray::try_new(
        fields.clone(),
        ids,
        Some(offsets),
        columns,
    )?))
}

/// For each row the number of its member and the position there, and how many rows each member and `NULL` have.
pub(super) fn members<D: Copy + Into<u64>>(
    input: &mut Input<'_>,
    discriminators: &[D],
    types: usize,
    null: u64,
) -> Result<(Vec<i8>, Vec<i32>, Vec<usize>)> {
    if types > MAX_MEMBERS {
        return Err(too_many(types));
    }
    input.charge(5 * discriminators.len() as u64)?;
    let mut counts = vec![0; types + 1];
    let mut ids = Vec::with_capacity(discriminators.len());
    let mut offsets = Vec::with_capacity(discriminators.len());
    for (row, discriminator) in discriminators.iter().enumerate() {
        let discriminator: u64 = (*discriminator).into();
        let member = match usize::try_from(discriminator) {
            _ if discriminator == null => types,
            Ok(member) if member < types => member,
            _ => {
                let found = format!("{discriminator} in row {row}");
                return Err(input.error("a discriminator", format!("less than {types}, or {null}"), found));
            }
        };
        // At most 127, and at most the rows of a block.
        ids.push(i8::try_from(member).unwrap_or(i8::MAX));
        if let Some(count) = counts.get_mut(member) {
            offsets.push(i32::try_from(*count).unwrap_or(i32::MAX));
            *count += 1;
        }
    }
    Ok((ids, offsets, counts))
}

pub(super) async fn read_discriminators(input: &mut Input<'_>, compact: bool, rows: usize) -> Result<Vec<u8>> {
    if !compact {
        return Ok(input.bytes(rows, 1, "discriminators").await?.as_slice().to_vec());
    }
    let mut discriminators = Vec::new();
    while discriminators.len() < rows {
        let missing = rows - discriminators.len();
        let granule = input.count("the rows of a granule", missing as u64).await?;
        if granule == 0 {
            return Err(input.error("the rows of a granule", "some", "none"));
        }
        match input.u8("the form of a granule").await? {
            0 => discriminators.extend_from_slice(input.bytes(granule, 1, "discriminators").await?.as_slice()),
            1 => {
                input.charge(granule as u64)?;
                let discriminator = input.u8("a discriminator").await?;
                discriminators.resize(discriminators.len() + granule, discriminator);
            }
            other => return Err(input.error("the form of a granule", "0 or 1", other.to_string())),
        }
    }
    Ok(discriminators)
}

pub(super) fn write_prefix(output: &mut Output<'_>, types: &[DataType], array: &dyn Array) -> Result<()> {
    output.u64(0);
    let split = Split::of(output, array)?;
    for data_type in types {
        match split.member(data_type) {
            Some(member) => super::write_prefix(output, data_type, &*member.values)?,
            None => super::write_prefix(output, data_type, &*empty(data_type))?,
        }
    }
    Ok(())
}

pub(super) fn write(output: &mut Output<'_>, types: &[DataType], array: &dyn Array) -> Result<()> {
    let split = Split::of(output, array)?;
    let positions: Vec<Option<u8>> = split
        .members
        .iter()
        .map(|member| types.iter().position(|data_type| *data_type == member.data_type))
        .map(|position| position.and_then(|position| u8::try_from(position).ok()))
        .collect();
    for (row, member) in split.rows.iter().enumerate() {
        let discriminator = match member {
            None => NULL_DISCRIMINATOR,
            Some(member) => match positions.get(*member).copied().flatten() {
                Some(position) => position,
                None => {
                    let found = split
                        .members
                        .get(*member)
                        .map_or(String::new(), |member| member.data_type.to_string());
                    return Err(output.value_error(row, "a value", "a type of the Variant", found));
                }
            },
        };
        output.bytes.push(discriminator);
    }
    for data_type in types {
        if let Some(position) = split.members.iter().position(|member| member.data_type == *data_type)
            && let Some(member) = split.members.get(position)
        {
            let mut rows = split.rows.iter().enumerate().filter(|(_, of)| **of == Some(position));
            write_values(output, data_type, &*member.values)
                .map_err(|error| error.map_row(|at| rows.nth(at).map(|(row, _)| row)))?;
        }
    }
    Ok(())
}

/// A union taken apart.
pub(super) struct Split {
    pub(super) members: Vec<Member>,
    /// The position of each row's member, `None` for `NULL`.
    pub(super) rows: Vec<Option<usize>>,
}

/// The values of one member of a union, in the order of their rows.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) data_type: DataType,
    pub(super) values: ArrayRef,
}

impl Split {
    pub(super) fn of(output: &Output<'_>, array: &dyn Array) -> Result<Self> {
        let (Some(unions), ArrowType::Union(fields, _)) =
            (array.as_any().downcast_ref::<UnionArray>(), array.data_type())
        else {
            return Err(output.array_type("Union", array.data_type()));
        };
        let mut positions = [None; 128];
        let mut picked: Vec<Vec<u32>> = Vec::new();
        let mut members = Vec::new();
        for (id, field) in fields.iter() {
            if *field.data_type() == ArrowType::Null {
                continue;
            }
            if let Some(slot) = usize::try_from(id).ok().and_then(|id| positions.get_mut(id)) {
                *slot = Some(members.len());
            }
            members.push(Member {
                name: field.name().clone(),
                data_type: without_nullable(crate::arrow_type::data_type(field)?),
                values: Arc::clone(unions.child(id)),
            });
            picked.push(Vec::new());
        }
        let mut rows = Vec::with_capacity(array.len());
        for row in 0..array.len() {
            let position = usize::try_from(unions.type_id(row))
                .ok()
                .and_then(|id| positions.get(id).copied().flatten());
            let offset = unions.value_offset(row);
            // Values of a member may be null themselves.
            let position = position.filter(|position| {
                members
                    .get(*position)
                    .is_some_and(|member: &Member| member.values.is_valid(offset))
            });
            if let Some(picked) = position.and_then(|position| picked.get_mut(position)) {
                picked.push(u32::try_from(offset).unwrap_or(u32::MAX));
            }
            rows.push(position);
        }
        for (member, picked) in members.iter_mut().zip(picked) {
            let all = member.values.len() == picked.len() && (0..).zip(&picked).all(|(row, picked)| row == *picked);
            if !all {
                member.values =
                    arrow_select::take::take(&*member.values, &arrow_array::UInt32Array::from(picked), None)?;
            }
        }
        Ok(Self { members, rows })
    }

    fn member(&self, data_type: &DataType) -> Option<&Member> {
        self.members.iter().find(|member| member.data_type == *data_type)
    }
}

fn without_nullable(data_type: DataType) -> DataType {
    match data_type {
        DataType::Nullable(inner) => (*inner).clone(),
        other => other,
    }
}

fn empty(data_type: &DataType) -> ArrayRef {
    arrow_array::new_empty_array(&crate::arrow_type::arrow_type(
        data_type,
        crate::arrow_type::StringType::Utf8,
    ))
}

pub(super) fn too_many(types: usize) -> Error {
    Error::Unsupported {
        what: format!("a column of {types} types"),
        hint: "Arrow's unions have up to 127; cast it to String",
    }
}
