//! `Dynamic`: a `Variant` that brings its types along.
//!
//! The prefix is a version and the types. Versions 1 and 2 are a `Variant` of these types and of one more, `SharedVariant`,
//! for values of other types, each in a binary form after its type; version 1 has the number of types twice. Version 3 has
//! no shared values: the types are all there are, and each row has the position of its type, in as many bytes as that
//! takes, or their number for `NULL`. Versions 4 and above are for parts of tables only.
//!
//! In Arrow it is a dense union with a member for each type; the shared values are a member of bytes, named
//! `SharedVariant` as in ClickHouse. So blocks of one column may have different members.
//!
//! Source: `DataTypes/Serializations/SerializationDynamic.cpp` and `SerializationDynamicHelpers.cpp` of ClickHouse.

use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType as ArrowType, Field};

use super::{
    Input, Kinds, Output, Prefix, Reading,
    number::read_scalars,
    read_values, string,
    variant::{self, Discriminators, Split},
    write_values,
};
use crate::{
    DataType, Error, Result,
    arrow_type::{StringType, field_of, union},
    revision::Revision,
};

/// The types of a column, as its prefix lists them.
pub(crate) struct Structure {
    flattened: bool,
    compact: bool,
    /// The types in the order of their discriminators, `None` for the shared values, and their prefixes.
    types: Vec<(Option<DataType>, Prefix)>,
}

/// The name of the member for values of types without a member of their own.
const SHARED: &str = "SharedVariant";

pub(super) fn read_prefix<'a>(input: &'a mut Input<'_>) -> Reading<'a, Structure> {
    Box::pin(async move {
        let version = input.u64("the version of Dynamic").await?;
        match version {
            1 => {
                input.varint("the number of types").await?;
            }
            2 | 3 => {}
            _ => return Err(input.error("the version of Dynamic", "1, 2 or 3", version.to_string())),
        }
        let flattened = version == 3;
        let count = input.count("the number of types", MAX_TYPES).await?;
        let mut types = Vec::with_capacity(count + 1);
        for _ in 0..count {
            let data_type: DataType = input.text("a type", MAX_TYPE_TEXT).await?.parse()?;
            let depth = input.depth + data_type.depth();
            if depth > DataType::MAX_DEPTH {
                return Err(Error::Limit {
                    what: "depth of types",
                    limit: DataType::MAX_DEPTH as u64,
                    found: depth as u64,
                });
            }
            types.push(Some(data_type));
        }
        if !flattened {
            types.push(None);
            types.sort_by_cached_key(|data_type| match data_type {
                Some(data_type) => data_type.to_string(),
                None => SHARED.to_owned(),
            });
        }
        let compact = !flattened && variant::read_prefix(input).await? == Discriminators::Compact;
        let mut with_prefixes = Vec::with_capacity(types.len());
        for data_type in types {
            let prefix = match &data_type {
                Some(data_type) => super::read_prefix(input, data_type).await?,
                None => Prefix::None,
            };
            with_prefixes.push((data_type, prefix));
        }
        Ok(Structure {
            flattened,
            compact,
            types: with_prefixes,
        })
    })
}

pub(super) async fn read(input: &mut Input<'_>, structure: &Structure, rows: usize) -> Result<ArrayRef> {
    let types = structure.types.len();
    let (ids, offsets, counts) = if structure.flattened {
        let null = types as u64;
        match index_width(types) {
            1 => {
                let indexes = read_scalars::<u8>(input, rows).await?;
                variant::members(input, &indexes, types, null)?
            }
            _ => {
                let indexes = read_scalars::<u16>(input, rows).await?;
                variant::members(input, &indexes, types, null)?
            }
        }
    } else {
        let discriminators = variant::read_discriminators(input, structure.compact, rows).await?;
        variant::members(input, &discriminators, types, variant::NULL_DISCRIMINATOR.into())?
    };
    let mut fields = Vec::with_capacity(types);
    let mut columns = Vec::with_capacity(types);
    for ((data_type, prefix), count) in structure.types.iter().zip(&counts) {
        let (column, field) = match data_type {
            Some(data_type) => {
                let column = read_values(input, data_type, prefix, &Kinds::DEFAULT, *count, None).await?;
                let field = field_of(data_type.to_string(), data_type, column.data_type().clone());
                (column, field)
            }
            None => {
                let column = string::read_as(input, *count, None, StringType::Binary).await?;
                (column, Field::new(SHARED, ArrowType::Binary, false))
            }
        };
        columns.push(column);
        fields.push(field);
    }
    variant::dense(
        &union(fields),
        ids,
        offsets,
        columns,
        counts.last().copied().unwrap_or_default(),
    )
}

/// How a column of values of any type is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Form {
    /// Version 1 or 2, by the revision.
    Shared,
    /// Version 3.
    Flattened,
}

pub(super) fn write_prefix(output: &mut Output<'_>, array: &dyn Array) -> Result<()> {
    write_prefix_as(output, array, form(output, array))
}

pub(super) fn write(output: &mut Output<'_>, array: &dyn Array) -> Result<()> {
    write_as(output, array, form(output, array))
}

/// Values that have no shared ones among them need none of the older forms, unless the server does.
fn form(output: &Output<'_>, array: &dyn Array) -> Form {
    if has_shared(array) || !understands_flattened(output.revision) {
        Form::Shared
    } else {
        Form::Flattened
    }
}

/// Whether the flattened form can be sent.
pub(super) fn understands_flattened(revision: Revision) -> bool {
    revision == Revision::FILE || revision >= Revision::DYNAMIC_V2
}

/// Whether some values are of types without a member of their own.
pub(super) fn has_shared(array: &dyn Array) -> bool {
    match array.data_type() {
        ArrowType::Union(fields, _) => fields.iter().any(|(_, field)| field.name() == SHARED),
        _ => false,
    }
}

pub(super) fn write_prefix_as(output: &mut Output<'_>, array: &dyn Array, form: Form) -> Result<()> {
    let split = Split::of(output, array)?;
    let types = split.members.iter().filter(|member| member.name != SHARED);
    let count = types.clone().count() as u64;
    match form {
        Form::Flattened => output.u64(3),
        Form::Shared if output.revision >= Revision::DYNAMIC_V2 => output.u64(2),
        Form::Shared => {
            output.u64(1);
            output.varint(count);
        }
    }
    output.varint(count);
    for member in types {
        output.string(member.data_type.to_string());
    }
    if form == Form::Shared {
        output.u64(0);
    }
    for (_, member) in order(&split, form) {
        if let Some(member) = member.filter(|member| member.name != SHARED) {
            super::write_prefix(output, &member.data_type, &*member.values)?;
        }
    }
    Ok(())
}

pub(super) fn write_as(output: &mut Output<'_>, array: &dyn Array, form: Form) -> Result<()> {
    let split = Split::of(output, array)?;
    let order = order(&split, form);
    if order.len() > usize::from(variant::NULL_DISCRIMINATOR) {
        return Err(variant::too_many(order.len()));
    }
    // The discriminator of each member of the union.
    let mut discriminators = vec![0_u8; split.members.len()];
    for (discriminator, (position, _)) in (0..).zip(&order) {
        if let Some(slot) = position.and_then(|position| discriminators.get_mut(position)) {
            *slot = discriminator;
        }
    }
    let null = match form {
        Form::Shared => variant::NULL_DISCRIMINATOR,
        Form::Flattened => u8::try_from(order.len()).unwrap_or(variant::NULL_DISCRIMINATOR),
    };
    let rows = split.rows.iter().map(|member| {
        member
            .and_then(|member| discriminators.get(member).copied())
            .unwrap_or(null)
    });
    output.bytes.extend(rows);
    for (_, member) in order {
        match member {
            Some(member) if member.name == SHARED => {
                if form == Form::Flattened {
                    return Err(shared_in_flattened(output));
                }
                string::write(output, &*member.values)?;
            }
            Some(member) => write_values(output, &member.data_type, &*member.values)?,
            None => {}
        }
    }
    Ok(())
}

/// The members of a union in the order of their discriminators, with their positions there; `None` for shared values that
/// there are none of.
fn order(split: &Split, form: Form) -> Vec<(Option<usize>, Option<&variant::Member>)> {
    let mut order: Vec<_> = split
        .members
        .iter()
        .enumerate()
        .map(|(position, member)| (Some(position), Some(member)))
        .collect();
    if form == Form::Shared {
        if !split.members.iter().any(|member| member.name == SHARED) {
            order.push((None, None));
        }
        order.sort_by_cached_key(|(_, member)| match member {
            Some(member) if member.name != SHARED => member.data_type.to_string(),
            _ => SHARED.to_owned(),
        });
    }
    order
}

fn shared_in_flattened(output: &Output<'_>) -> Error {
    output.error("a value", "a type with a member of its own", "a shared value")
}

/// The bytes of a type's position among so many and one for `NULL`.
fn index_width(types: usize) -> usize {
    if types < 0x100 { 1 } else { 2 }
}

const MAX_TYPES: u64 = 1 << 12;
const MAX_TYPE_TEXT: u64 = 1 << 20;
