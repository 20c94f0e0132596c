//! `JSON`: objects taken apart into columns, one for each path.
//!
//! The prefix is a version and the paths. In versions 0 and 2 there are columns for the paths of the type, a `Dynamic` for
//! each path of the prefix, and a list of paths and values for all others; version 0 has the number of paths twice. Version
//! 3 has a column for every path and nothing else. Version 1 has text. Versions above are for parts of tables only.
//!
//! In Arrow the versions with columns are a struct: fields for the type's paths, unions (`dynamic`) for the others, and a
//! map of the rest, [`SHARED_DATA`]; so blocks of one column may have different fields. Version 1 is text. Written are text
//! and such structs.
//!
//! Source: `DataTypes/Serializations/SerializationObject.cpp` of ClickHouse.

use std::{collections::HashMap, sync::Arc};

use arrow_array::{Array, ArrayRef, BinaryArray, MapArray, StringArray, StructArray, cast::AsArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType as ArrowType, Field, FieldRef, Fields};

use super::{
    Input, Kinds, Output, Prefix, Reading,
    array::read_offsets,
    dynamic::{self, Form},
    map, read_values, string, write_values,
};
use crate::{
    DataType, Result,
    arrow_type::{KEY, VALUE, entries, field_of},
    data_type::Json,
    revision::Revision,
};

/// Metadata of the field that holds the paths without a field of their own.
pub(crate) const SHARED_DATA: (&str, &str) = ("tidemill.clickhouse.json", "shared data");

/// What the prefix of a column said.
pub(crate) enum Structure {
    Text,
    Columns {
        typed: Vec<Prefix>,
        paths: Vec<(String, dynamic::Structure)>,
        /// Whether paths without a column follow.
        shared: bool,
    },
}

pub(super) fn read_prefix<'a>(input: &'a mut Input<'_>, json: &'a Json) -> Reading<'a, Structure> {
    Box::pin(async move {
        let version = input.u64("the version of JSON").await?;
        match version {
            0 => {
                input.varint("the number of paths").await?;
            }
            1 => return Ok(Structure::Text),
            2 | 3 => {}
            _ => return Err(input.error("the version of JSON", "0 to 3", version.to_string())),
        }
        let count = input.count("the number of paths", MAX_PATHS).await?;
        let mut names = Vec::new();
        for _ in 0..count {
            names.push(input.text("a path", MAX_PATH).await?);
        }
        let mut typed = Vec::with_capacity(json.typed_paths.len());
        for (_, data_type) in &json.typed_paths {
            typed.push(super::read_prefix(input, data_type).await?);
        }
        let mut paths = Vec::with_capacity(names.len());
        for name in names {
            paths.push((name, dynamic::read_prefix(input).await?));
        }
        Ok(Structure::Columns {
            typed,
            paths,
            shared: version != 3,
        })
    })
}

pub(super) async fn read(
    input: &mut Input<'_>,
    json: &Json,
    structure: &Structure,
    rows: usize,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let Structure::Columns { typed, paths, shared } = structure else {
        let (offsets, values) = string::read_inline(input, rows).await?;
        return match StringArray::try_new(offsets, values, nulls) {
            Ok(array) => Ok(Arc::new(array)),
            Err(error) => Err(input.error("JSON", "UTF-8", error.to_string())),
        };
    };
    let mut fields = Vec::with_capacity(typed.len() + paths.len() + 1);
    let mut columns = Vec::with_capacity(fields.capacity());
    for ((path, data_type), prefix) in json.typed_paths.iter().zip(typed) {
        let column = read_values(input, data_type, prefix, &Kinds::DEFAULT, rows, None).await?;
        fields.push(field_of(&**path, data_type, column.data_type().clone()));
        columns.push(column);
    }
    let dynamic = DataType::Dynamic {
        max_types: json.max_dynamic_types,
    };
    for (path, structure) in paths {
        let column = dynamic::read(input, structure, rows).await?;
        fields.push(field_of(path, &dynamic, column.data_type().clone()));
        columns.push(column);
    }
    if *shared {
        let column = read_shared(input, rows).await?;
        let metadata = HashMap::from([(SHARED_DATA.0.to_owned(), SHARED_DATA.1.to_owned())]);
        fields.push(Field::new("SharedData", column.data_type().clone(), false).with_metadata(metadata));
        columns.push(column);
    }
    Ok(Arc::new(StructArray::try_new_with_length(
        Fields::from(fields),
        columns,
        nulls,
        rows,
    )?))
}

/// Reads paths and values, which have the form of a map whose strings are after their lengths at any revision.
async fn read_shared(input: &mut Input<'_>, rows: usize) -> Result<ArrayRef> {
    let (offsets, length) = read_offsets(input, rows).await?;
    let (offsets_of_paths, paths) = string::read_inline(input, length).await?;
    let paths = StringArray::try_new(offsets_of_paths, paths, None)
        .map_err(|error| input.error("paths of JSON", "UTF-8", error.to_string()))?;
    let (offsets_of_values, values) = string::read_inline(input, length).await?;
    let values = BinaryArray::try_new(offsets_of_values, values, None)?;
    let (key, value) = shared_fields();
    let pairs = StructArray::try_new(
        Fields::from(vec![Arc::clone(&key), Arc::clone(&value)]),
        vec![Arc::new(paths), Arc::new(values)],
        None,
    )?;
    Ok(Arc::new(MapArray::try_new(
        entries(key, value),
        offsets,
        pairs,
        None,
        false,
    )?))
}

fn shared_fields() -> (FieldRef, FieldRef) {
    (
        Arc::new(Field::new(KEY, ArrowType::Utf8, false)),
        Arc::new(Field::new(VALUE, ArrowType::Binary, false)),
    )
}

pub(super) fn write_prefix(output: &mut Output<'_>, json: &Json, array: &dyn Array) -> Result<()> {
    let Some(objects) = array.as_struct_opt() else {
        output.u64(1);
        return Ok(());
    };
    let parts = Parts::of(output, json, objects)?;
    match parts.form {
        Form::Flattened => output.u64(3),
        Form::Shared if output.revision >= Revision::DYNAMIC_V2 => output.u64(2),
        Form::Shared => {
            output.u64(0);
            output.varint(parts.paths.len() as u64);
        }
    }
    output.varint(parts.paths.len() as u64);
    for (path, _) in &parts.paths {
        output.string(path);
    }
    for (data_type, column) in &parts.typed {
        super::write_prefix(output, data_type, &***column)?;
    }
    for (_, column) in &parts.paths {
        dynamic::write_prefix_as(output, &***column, parts.form)?;
    }
    Ok(())
}

pub(super) fn write(output: &mut Output<'_>, json: &Json, array: &dyn Array) -> Result<()> {
    let Some(objects) = array.as_struct_opt() else {
        return string::write_inline(output, array);
    };
    let parts = Parts::of(output, json, objects)?;
    for (data_type, column) in &parts.typed {
        write_values(output, data_type, &***column)?;
    }
    for (_, column) in &parts.paths {
        dynamic::write_as(output, &***column, parts.form)?;
    }
    match (parts.form, parts.shared) {
        (Form::Flattened, _) => {}
        (Form::Shared, Some(shared)) => {
            map::write_with(output, &**shared, |output, paths, values| {
                string::write_inline(output, paths)?;
                string::write_inline(output, values)
            })?;
        }
        (Form::Shared, None) => output.bytes.resize(output.bytes.len() + 8 * array.len(), 0),
    }
    Ok(())
}

/// The columns of a struct by what they are in `JSON`.
struct Parts<'a> {
    form: Form,
    typed: Vec<(&'a DataType, &'a ArrayRef)>,
    paths: Vec<(&'a str, &'a ArrayRef)>,
    shared: Option<&'a ArrayRef>,
}

impl<'a> Parts<'a> {
    fn of(output: &Output<'_>, json: &'a Json, objects: &'a StructArray) -> Result<Self> {
        let mut typed = Vec::with_capacity(json.typed_paths.len());
        for (path, data_type) in &json.typed_paths {
            match objects.column_by_name(path) {
                Some(column) => typed.push((data_type, column)),
                None => return Err(output.error("JSON", format!("a field for the path {path}"), "none")),
            }
        }
        let mut paths = Vec::new();
        let mut shared = None;
        for (field, column) in objects.fields().iter().zip(objects.columns()) {
            if field
                .metadata()
                .get(SHARED_DATA.0)
                .is_some_and(|value| value == SHARED_DATA.1)
            {
                shared = Some(column);
            } else if !json.typed_paths.iter().any(|(path, _)| **path == **field.name()) {
                paths.push((field.name().as_str(), column));
            }
        }
        paths.sort_by_key(|(path, _)| *path);
        let older = shared.is_some() || paths.iter().any(|(_, column)| dynamic::has_shared(&**column));
        let form = if older || !dynamic::understands_flattened(output.revision) {
            Form::Shared
        } else {
            Form::Flattened
        };
        Ok(Self {
            form,
            typed,
            paths,
            shared,
        })
    }
}

const MAX_PATHS: u64 = 1 << 16;
const MAX_PATH: u64 = 1 << 16;
