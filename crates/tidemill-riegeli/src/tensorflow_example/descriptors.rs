//! The descriptors of the messages, by the field numbers of the public files.

use prost_types::{
    DescriptorProto, FieldDescriptorProto, FieldOptions, FileDescriptorProto, FileDescriptorSet, MessageOptions,
    OneofDescriptorProto,
    field_descriptor_proto::{Label, Type},
};

/// Returns the descriptors of `tensorflow.Example`, `tensorflow.SequenceExample` and the messages in them: `Features`, `Feature`,
/// `BytesList`, `FloatList`, `Int64List`, `FeatureLists` and `FeatureList`.
///
/// Source: tensorflow/tensorflow, `tensorflow/core/example/example.proto` and `feature.proto`.
///
/// ```
/// use tidemill_riegeli::{MessageSchema, tensorflow_example::descriptors};
///
/// let schema = MessageSchema::new(&descriptors(), "tensorflow.Example")?;
/// assert_eq!(schema.arrow_schema().field(0).name(), "features");
/// # Ok::<(), tidemill_riegeli::Error>(())
/// ```
#[must_use]
pub fn descriptors() -> FileDescriptorSet {
    FileDescriptorSet {
        file: vec![
            file("feature", &[], features()),
            file(
                "example",
                &["feature"],
                vec![
                    message("Example", vec![field("features", 1, "Features")]),
                    message(
                        "SequenceExample",
                        vec![
                            field("context", 1, "Features"),
                            field("feature_lists", 2, "FeatureLists"),
                        ],
                    ),
                ],
            ),
        ],
    }
}

fn features() -> Vec<DescriptorProto> {
    let mut feature = message(
        "Feature",
        vec![
            field("bytes_list", 1, "BytesList"),
            field("float_list", 2, "FloatList"),
            field("int64_list", 3, "Int64List"),
        ],
    );
    feature.oneof_decl = vec![OneofDescriptorProto {
        name: Some("kind".to_owned()),
        options: None,
    }];
    for field in &mut feature.field {
        field.oneof_index = Some(0);
    }
    vec![
        message("BytesList", vec![values(Type::Bytes)]),
        message("FloatList", vec![values(Type::Float)]),
        message("Int64List", vec![values(Type::Int64)]),
        feature,
        map("Features", "feature", "Feature"),
        message("FeatureList", vec![repeated(field("feature", 1, "Feature"))]),
        map("FeatureLists", "feature_list", "FeatureList"),
    ]
}

fn file(name: &str, dependencies: &[&str], message_type: Vec<DescriptorProto>) -> FileDescriptorProto {
    let path = |name: &str| format!("tensorflow/core/example/{name}.proto");
    FileDescriptorProto {
        name: Some(path(name)),
        package: Some("tensorflow".to_owned()),
        dependency: dependencies.iter().map(|name| path(name)).collect(),
        message_type,
        syntax: Some("proto3".to_owned()),
        ..Default::default()
    }
}

fn message(name: &str, field: Vec<FieldDescriptorProto>) -> DescriptorProto {
    DescriptorProto {
        name: Some(name.to_owned()),
        field,
        ..Default::default()
    }
}

/// A message of one map from strings to a message.
fn map(name: &str, field_name: &str, value: &str) -> DescriptorProto {
    let entry = match field_name {
        "feature" => "FeatureEntry",
        _ => "FeatureListEntry",
    };
    let mut key = field("key", 1, "");
    (key.r#type, key.type_name) = (Some(Type::String.into()), None);
    let mut entry_type = message(entry, vec![key, field("value", 2, value)]);
    entry_type.options = Some(MessageOptions {
        map_entry: Some(true),
        ..Default::default()
    });
    let mut map = message(name, vec![repeated(field(field_name, 1, &format!("{name}.{entry}")))]);
    map.nested_type = vec![entry_type];
    map
}

/// A field that is a message.
fn field(name: &str, number: i32, message: &str) -> FieldDescriptorProto {
    FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        label: Some(Label::Optional.into()),
        r#type: Some(Type::Message.into()),
        type_name: Some(format!(".tensorflow.{message}")),
        ..Default::default()
    }
}

fn repeated(field: FieldDescriptorProto) -> FieldDescriptorProto {
    FieldDescriptorProto {
        label: Some(Label::Repeated.into()),
        ..field
    }
}

fn values(value: Type) -> FieldDescriptorProto {
    FieldDescriptorProto {
        r#type: Some(value.into()),
        type_name: None,
        options: (value != Type::Bytes).then(|| FieldOptions {
            packed: Some(true),
            ..Default::default()
        }),
        ..repeated(field("value", 1, ""))
    }
}
