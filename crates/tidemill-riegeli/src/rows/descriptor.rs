//! The descriptor of the message type, and the metadata that hold it.

use std::collections::HashSet;

use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use prost_types::{
    DescriptorProto, FieldDescriptorProto, FieldOptions, FileDescriptorProto,
    field_descriptor_proto::{Label, Type},
};

use super::mapping::{Child, ITEMS, List, Mapping, NULLS, field_number, stored_schema};
use crate::{Error, FileName, RecordsMetadata, Result};

const PACKAGE: &str = "tidemill";
const MESSAGE: &str = "Row";

/// Returns the metadata of a file whose rows have `schema`.
///
/// # Errors
/// [`Error::ColumnType`] for a column without a mapping.
pub(super) fn metadata(schema: &Schema) -> Result<RecordsMetadata> {
    let columns = Mapping::of_schema(schema)?;
    let schema = stored_schema(schema);
    let scope = format!(".{PACKAGE}.{MESSAGE}");
    let file = FileDescriptorProto {
        name: Some("tidemill/row.proto".to_owned()),
        package: Some(PACKAGE.to_owned()),
        message_type: vec![struct_descriptor(MESSAGE, &scope, schema.fields(), &columns)],
        syntax: Some("proto2".to_owned()),
        ..Default::default()
    };
    let arrow_schema = StreamWriter::try_new(Vec::new(), &schema).and_then(StreamWriter::into_inner)?;
    Ok(RecordsMetadata {
        record_type_name: Some(format!("{PACKAGE}.{MESSAGE}")),
        file_descriptor: vec![file],
        arrow_schema: Some(arrow_schema),
        ..Default::default()
    })
}

/// Returns the message type of a struct. `scope` is its full name. Recursion ends with the mapping.
fn struct_descriptor(name: &str, scope: &str, fields: &Fields, columns: &[Child]) -> DescriptorProto {
    let mut message = DescriptorProto {
        name: Some(name.to_owned()),
        ..Default::default()
    };
    let mut names = HashSet::new();
    let field_names: Vec<String> = fields
        .iter()
        .map(|field| field_name(field.name(), &mut names))
        .collect();
    for (index, (field, column)) in fields.iter().zip(columns).enumerate() {
        let descriptor = FieldDescriptorProto {
            name: Some(field_names[index].clone()),
            json_name: Some(field.name().clone()),
            // Field numbers are below 2^29 as long as columns fit memory.
            number: i32::try_from(field_number(index)).ok(),
            ..Default::default()
        };
        let type_name = type_name(&field_names[index], &mut names);
        let descriptor = column_field(
            descriptor,
            &type_name,
            scope,
            field.data_type(),
            &column.mapping,
            &mut message,
        );
        message.field.push(descriptor);
    }
    message
}

/// Completes the field of a column; a type that it needs is added to `message`, whose full name is `scope`, as `type_name`.
fn column_field(
    mut field: FieldDescriptorProto,
    type_name: &str,
    scope: &str,
    data_type: &DataType,
    mapping: &Mapping,
    message: &mut DescriptorProto,
) -> FieldDescriptorProto {
    let full_name = format!("{scope}.{type_name}");
    field.label = Some(Label::Optional.into());
    match (mapping, data_type) {
        (Mapping::Scalar(storage), _) => field.r#type = Some(storage.field_type().into()),
        (Mapping::Struct(children), DataType::Struct(fields)) => {
            let nested = struct_descriptor(type_name, &full_name, fields, children);
            message.nested_type.push(nested);
            field.r#type = Some(Type::Message.into());
            field.type_name = Some(full_name);
        }
        (
            Mapping::List(list),
            DataType::List(item)
            | DataType::LargeList(item)
            | DataType::FixedSizeList(item, _)
            | DataType::Map(item, _),
        ) => {
            if list.wrapped {
                message
                    .nested_type
                    .push(list_descriptor(type_name, &full_name, item, list));
                field.r#type = Some(Type::Message.into());
                field.type_name = Some(full_name);
            } else {
                field = column_field(field, type_name, scope, item.data_type(), &list.item, message);
                repeat(&mut field, &list.item);
            }
        }
        // The mapping was made from the type.
        _ => {}
    }
    field
}

/// Returns the message type that a list is wrapped in.
fn list_descriptor(name: &str, scope: &str, item: &Field, list: &List) -> DescriptorProto {
    let mut message = DescriptorProto {
        name: Some(name.to_owned()),
        ..Default::default()
    };
    let field = |name: &str, number: u32| FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: i32::try_from(number).ok(),
        ..Default::default()
    };
    let mut items = column_field(
        field("items", ITEMS),
        "Item",
        scope,
        item.data_type(),
        &list.item,
        &mut message,
    );
    repeat(&mut items, &list.item);
    message.field.push(items);
    if list.items_nullable {
        let mut nulls = field("nulls", NULLS);
        nulls.r#type = Some(Type::Uint32.into());
        nulls.label = Some(Label::Repeated.into());
        nulls.options = Some(packed());
        message.field.push(nulls);
    }
    message
}

fn repeat(field: &mut FieldDescriptorProto, item: &Mapping) {
    field.label = Some(Label::Repeated.into());
    field.options = item.is_packed().then(packed);
}

fn packed() -> FieldOptions {
    FieldOptions {
        packed: Some(true),
        ..Default::default()
    }
}

/// Returns the Arrow schema in the metadata, `None` if there is none.
pub(super) fn arrow_schema(metadata: &RecordsMetadata, file: &FileName) -> Result<Option<SchemaRef>> {
    let Some(bytes) = &metadata.arrow_schema else {
        return Ok(None);
    };
    let damaged = |problem: String| Error::Metadata {
        file: file.clone(),
        problem: format!("the Arrow schema does not decode: {problem}"),
    };
    // arrow-ipc 59.3 verifies the flatbuffer, but panics where an optional part of it is missing that a schema needs
    // (`convert.rs`, `fb_to_schema`).
    let schema = std::panic::catch_unwind(|| arrow_ipc::convert::try_schema_from_ipc_buffer(bytes))
        .map_err(|_| damaged("a part of it is missing".to_owned()))?
        .map_err(|error| damaged(error.to_string()))?;
    Mapping::of_schema(&schema)?;
    Ok(Some(stored_schema(&schema).into()))
}

/// Returns a protobuf identifier for a column name: other characters become `_`, and a name that is taken, in any case, gets
/// a number.
fn field_name(column: &str, taken: &mut HashSet<String>) -> String {
    let mut name: String = column
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' })
        .collect();
    if !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        name.insert(0, '_');
    }
    let unique = (1..)
        .map(|count| {
            if count == 1 {
                name.clone()
            } else {
                format!("{name}_{count}")
            }
        })
        .find(|candidate| !taken.contains(&candidate.to_ascii_lowercase()));
    let name = unique.unwrap_or(name);
    taken.insert(name.to_ascii_lowercase());
    name
}

/// Returns the name of a type for the values of `field`: the same in capitals' style, as long as it is not taken.
fn type_name(field: &str, taken: &mut HashSet<String>) -> String {
    let name: String = field
        .split('_')
        .flat_map(|word| {
            let mut chars = word.chars();
            chars
                .next()
                .map(|first| first.to_ascii_uppercase())
                .into_iter()
                .chain(chars)
        })
        .collect();
    field_name(&format!("{name}Value"), taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_column_names_become_identifiers() {
        let mut taken = HashSet::new();
        let mut check = |column: &str, expected: &str| {
            assert_eq!(field_name(column, &mut taken), expected, "{column:?}");
        };
        check("amount", "amount");
        check("AMOUNT", "AMOUNT_2");
        check("Straße", "Stra_e");
        check("2024 total", "_2024_total");
        check("", "_");
        check("-", "__2");
        check("amount_2", "amount_2_2");
    }

    #[test]
    fn a_damaged_schema_is_an_error_or_another_schema() {
        use arrow_schema::TimeUnit;
        let schema = Schema::new(vec![
            Field::new("a", DataType::Decimal128(10, 2), true),
            Field::new("b", DataType::Timestamp(TimeUnit::Second, Some("UTC".into())), false),
            Field::new("c", DataType::FixedSizeBinary(4), true),
        ]);
        let sound = metadata(&schema).expect("metadata");
        let bytes = sound.arrow_schema.clone().expect("a schema");
        let file = FileName::default();
        let found = arrow_schema(&sound, &file).expect("decodes");
        assert_eq!(found.as_deref(), Some(&schema));
        for at in 0..bytes.len() {
            for mask in [1, 4, 0x80, 0xff] {
                let mut flipped = bytes.clone();
                flipped[at] ^= mask;
                let damaged = RecordsMetadata {
                    arrow_schema: Some(flipped),
                    ..Default::default()
                };
                drop(arrow_schema(&damaged, &file));
            }
            let cut = RecordsMetadata {
                arrow_schema: Some(bytes[..at].to_vec()),
                ..Default::default()
            };
            assert!(
                arrow_schema(&cut, &file).is_err() || at + 8 >= bytes.len(),
                "cut to {at}"
            );
        }
    }
}
