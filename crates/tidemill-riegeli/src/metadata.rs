//! File metadata: what the records are.
//!
//! Source: google/riegeli, `riegeli/records/records_metadata.proto`. Messages of other tools may hold fields that are not
//! named here; they are left alone by keeping the serialized form.

use prost::Message;
use prost_types::{DescriptorProto, FileDescriptorProto, FileDescriptorSet};

/// Information about a file, which helps to interpret its records.
#[derive(Clone, PartialEq, Message)]
pub struct RecordsMetadata {
    /// What the file holds, for people.
    #[prost(string, optional, tag = "1")]
    pub file_comment: Option<String>,
    /// If records are messages of one type, its full name.
    #[prost(string, optional, tag = "2")]
    pub record_type_name: Option<String>,
    /// Descriptors of that type and what it depends on, dependencies first.
    #[prost(message, repeated, tag = "3")]
    pub file_descriptor: Vec<FileDescriptorProto>,
    /// The options that the file was written with. Not needed to read it.
    #[prost(string, optional, tag = "4")]
    pub record_writer_options: Option<String>,
    /// Number of records, as a hint.
    #[prost(int64, optional, tag = "5")]
    pub num_records: Option<i64>,
    /// Extension of this library: the Arrow schema of typed rows, as an IPC stream without batches (Arrow columnar format,
    /// "IPC Streaming Format"). The range from 1000 is free for extensions; 29801 is `0x7469`, which spells `ti`.
    #[prost(bytes = "vec", optional, tag = "29801")]
    pub arrow_schema: Option<Vec<u8>>,
}

impl RecordsMetadata {
    /// Returns the protobuf type of the records and its descriptors, `None` when there is no type name or are no descriptors
    /// (google/riegeli, `riegeli/records/record_reader.cc`, `RecordsMetadataDescriptors`).
    pub fn record_type(&self) -> Option<RecordType> {
        let name = self.record_type_name.as_ref().filter(|name| !name.is_empty())?;
        if self.file_descriptor.is_empty() {
            return None;
        }
        Some(RecordType {
            name: name.clone(),
            descriptors: FileDescriptorSet {
                file: self.file_descriptor.clone(),
            },
        })
    }

    /// Says that records are messages of a type (google/riegeli, `riegeli/records/record_writer.cc`, `SetRecordType`).
    pub fn set_record_type(&mut self, record_type: RecordType) {
        self.record_type_name = Some(record_type.name);
        self.file_descriptor = record_type.descriptors.file;
    }
}

/// The protobuf type of records.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordType {
    /// Its full name, such as `package.Message.Nested`.
    pub name: String,
    /// The file that has it and those that it depends on, dependencies first.
    pub descriptors: FileDescriptorSet,
}

impl RecordType {
    /// Returns the descriptor of the type, `None` when the descriptors do not have it.
    pub fn message(&self) -> Option<&DescriptorProto> {
        self.message_of(&self.name)
    }

    /// Returns the names of the fields on a path of field numbers, joined by dots; `None` for the empty path and where the
    /// descriptors do not have a field.
    pub fn field_name(&self, path: &[u32]) -> Option<String> {
        let mut names: Vec<&str> = Vec::new();
        let mut type_name = self.name.as_str();
        for &number in path {
            let message = self.message_of(type_name)?;
            let mut fields = message.field.iter();
            let field = fields.find(|field| u32::try_from(field.number()) == Ok(number))?;
            names.push(field.name());
            // Full names of types begin with a dot (descriptor.proto, `FieldDescriptorProto.type_name`).
            type_name = field.type_name().trim_start_matches('.');
        }
        (!names.is_empty()).then(|| names.join("."))
    }

    fn message_of(&self, name: &str) -> Option<&DescriptorProto> {
        self.descriptors.file.iter().find_map(|file| {
            let in_package = match file.package() {
                "" => name,
                package => name.strip_prefix(package)?.strip_prefix('.')?,
            };
            let mut path = in_package.split('.');
            let first = path.next()?;
            let mut message = file.message_type.iter().find(|message| message.name() == first)?;
            for name in path {
                message = message.nested_type.iter().find(|message| message.name() == name)?;
            }
            Some(message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_named_by_their_path() {
        let field = |name: &str, number, type_name: Option<&str>| prost_types::FieldDescriptorProto {
            name: Some(name.to_owned()),
            number: Some(number),
            type_name: type_name.map(str::to_owned),
            ..Default::default()
        };
        let order = DescriptorProto {
            name: Some("Order".to_owned()),
            field: vec![field("id", 1, None), field("lines", 3, Some(".shop.Line"))],
            ..Default::default()
        };
        let line = DescriptorProto {
            name: Some("Line".to_owned()),
            field: vec![field("price", 2, None)],
            ..Default::default()
        };
        let record_type = RecordType {
            name: "shop.Order".to_owned(),
            descriptors: FileDescriptorSet {
                file: vec![FileDescriptorProto {
                    package: Some("shop".to_owned()),
                    message_type: vec![order, line],
                    ..Default::default()
                }],
            },
        };
        let name = |path: &[u32]| record_type.field_name(path);
        assert_eq!(name(&[1]).as_deref(), Some("id"));
        assert_eq!(name(&[3, 2]).as_deref(), Some("lines.price"));
        assert_eq!(
            (name(&[]), name(&[2]), name(&[3, 9]), name(&[1, 1])),
            (None, None, None, None)
        );
    }

    #[test]
    fn nested_types_are_found_by_their_full_name() {
        let message = |name: &str, nested_type| DescriptorProto {
            name: Some(name.to_owned()),
            nested_type,
            ..Default::default()
        };
        let file = |package: Option<&str>, message_type| FileDescriptorProto {
            package: package.map(str::to_owned),
            message_type,
            ..Default::default()
        };
        let nested = message("A", vec![message("B", vec![message("C", vec![])])]);
        let metadata = |name: &str| RecordsMetadata {
            record_type_name: Some(name.to_owned()),
            file_descriptor: vec![
                file(None, vec![message("A", vec![])]),
                file(Some("p.q"), vec![nested.clone()]),
            ],
            ..Default::default()
        };
        for (name, found) in [
            ("A", Some("A")),
            ("p.q.A", Some("A")),
            ("p.q.A.B.C", Some("C")),
            ("p.q.B", None),
            ("p.A", None),
            ("p.qA", None),
            ("A.B", None),
        ] {
            let record_type = metadata(name).record_type().expect("a type");
            assert_eq!(record_type.message().map(DescriptorProto::name), found, "{name}");
        }
        assert_eq!(metadata("").record_type(), None);
        assert_eq!(RecordsMetadata::default().record_type(), None);
    }
}
