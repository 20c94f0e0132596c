//! The descriptor of the message type, and the metadata that hold it.

use std::collections::HashSet;

use arrow_ipc::writer::StreamWriter;
use arrow_schema::{Schema, SchemaRef};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto, field_descriptor_proto::Label};

use super::column::{Storage, field_number};
use crate::{Error, FileName, RecordsMetadata, Result};

const PACKAGE: &str = "tidemill";
const MESSAGE: &str = "Row";

/// Returns the metadata of a file whose rows have `schema`.
///
/// # Errors
/// [`Error::ColumnType`] for a column without a mapping.
pub(super) fn metadata(schema: &Schema) -> Result<RecordsMetadata> {
    let mut names = HashSet::new();
    let mut fields = Vec::with_capacity(schema.fields().len());
    for (index, field) in schema.fields().iter().enumerate() {
        let storage = Storage::of(field)?;
        fields.push(FieldDescriptorProto {
            name: Some(field_name(field.name(), &mut names)),
            // Field numbers are below 2^29 as long as columns fit memory.
            number: i32::try_from(field_number(index)).ok(),
            label: Some(Label::Optional.into()),
            r#type: Some(storage.field_type().into()),
            json_name: Some(field.name().clone()),
            ..Default::default()
        });
    }
    let file = FileDescriptorProto {
        name: Some("tidemill/row.proto".to_owned()),
        package: Some(PACKAGE.to_owned()),
        message_type: vec![DescriptorProto {
            name: Some(MESSAGE.to_owned()),
            field: fields,
            ..Default::default()
        }],
        syntax: Some("proto2".to_owned()),
        ..Default::default()
    };
    let arrow_schema = StreamWriter::try_new(Vec::new(), schema).and_then(StreamWriter::into_inner)?;
    Ok(RecordsMetadata {
        record_type_name: Some(format!("{PACKAGE}.{MESSAGE}")),
        file_descriptor: vec![file],
        arrow_schema: Some(arrow_schema),
        ..Default::default()
    })
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
    for field in schema.fields() {
        Storage::of(field)?;
    }
    Ok(Some(schema.into()))
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
        use arrow_schema::{DataType, Field, TimeUnit};
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
