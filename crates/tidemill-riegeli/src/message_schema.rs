//! The Arrow schema of a protobuf message, from its descriptor.
//!
//! | field | Arrow type |
//! |---|---|
//! | bool, string, bytes | Boolean, Utf8, Binary |
//! | int32, sint32, sfixed32; int64, sint64, sfixed64 | Int32; Int64 |
//! | uint32, fixed32; uint64, fixed64 | UInt32; UInt64 |
//! | float, double | Float32, Float64 |
//! | an enum | Int32, the number of the value: numbers that the descriptor does not know stay as they are |
//! | a message or a group | Struct |
//! | repeated | List, empty where there are no values; packed or not makes no difference |
//! | map | Map |
//!
//! A column is null where the field is not there, with two exceptions: lists and maps are never null, and a scalar without
//! presence (proto3 without `optional`) is zero or empty instead, since its writer leaves out exactly that value. The default
//! values of proto2 are not put in. Members of a oneof are columns of their own, of which one is not null.
//!
//! Sources: the protobuf documentation, "Language Guide (proto 2)", "Language Guide (proto 3)", "Application Note: Field
//! Presence", and `google/protobuf/descriptor.proto`.
//!
//! A field whose type contains itself has no Arrow type; it is left out, and [`MessageSchema::left_out`] names it. So are
//! extensions, and the features of editions: fields of `edition` files have presence.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet,
    field_descriptor_proto::{Label, Type},
};

use crate::{Error, Field as Projected, FieldProjection, FileName, Result};

/// More columns than anything has; types that contain others many times over soon have more.
const MAX_FIELDS: usize = 1 << 14;

/// Messages nested deeper are left out. Protobuf parsers refuse records that go deeper.
const MAX_DEPTH: usize = 100;

/// A message type as columns.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageSchema {
    name: String,
    fields: Vec<MessageField>,
    rivals: Vec<MessageField>,
    arrow_schema: SchemaRef,
    left_out: Vec<String>,
}

/// A field of a message that has an Arrow type.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MessageField {
    /// The field number.
    pub number: u32,
    /// The type of the field, or of its values if it is repeated.
    pub kind: FieldKind,
    /// Whether there can be any number of values. Maps are repeated messages of two fields.
    pub repeated: bool,
    /// Whether the values of a repeated field are written in one piece by default. Readers take both forms.
    pub packed: bool,
    /// Whether the absence of the field can be told from its default value.
    pub has_presence: bool,
    /// The oneof of the message that the field is in, as its index in the descriptor.
    pub oneof: Option<usize>,
    /// Whether the column only says whether the field is there.
    pub existence_only: bool,
    /// The name, the Arrow type and whether there can be nulls.
    pub arrow_field: Arc<Field>,
    /// The fields of a message, in the order of the descriptor.
    pub children: Vec<MessageField>,
    /// Fields of a message that have no column, of oneofs that `children` has members of: where one of them comes last, those
    /// are not there.
    pub(crate) rivals: Vec<MessageField>,
}

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FieldKind {
    /// `bool`.
    Bool,
    /// `int32`: a varint, of ten bytes if negative.
    Int32,
    /// `int64`.
    Int64,
    /// `uint32`.
    UInt32,
    /// `uint64`.
    UInt64,
    /// `sint32`: a zigzag varint.
    SInt32,
    /// `sint64`.
    SInt64,
    /// `fixed32`: four bytes.
    Fixed32,
    /// `fixed64`: eight bytes.
    Fixed64,
    /// `sfixed32`.
    SFixed32,
    /// `sfixed64`.
    SFixed64,
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// An enum: a varint.
    Enum,
    /// `string`.
    String,
    /// `bytes`.
    Bytes,
    /// A message with its length before it.
    Message,
    /// A message between a start and an end tag.
    Group,
}

impl MessageSchema {
    /// Returns the schema of `message`, a full name such as `package.Message`, by the descriptors in `set`.
    ///
    /// # Errors
    /// [`Error::Metadata`] when the message or a type that it needs is not in the set, a descriptor breaks the rules, or there
    /// are more than 16,384 columns with all that are nested.
    pub fn new(set: &FileDescriptorSet, message: &str) -> Result<Self> {
        let types = Types::new(set);
        let name = message.trim_start_matches('.');
        let root = types.message(name)?;
        let mut builder = Builder {
            types,
            open: vec![name.to_owned()],
            path: Vec::new(),
            count: 0,
            left_out: Vec::new(),
        };
        let (fields, rivals) = builder.fields(&root)?;
        let arrow: Fields = fields.iter().map(|field| field.arrow_field.clone()).collect();
        Ok(Self {
            name: name.to_owned(),
            fields,
            rivals,
            arrow_schema: Arc::new(Schema::new(arrow)),
            left_out: builder.left_out,
        })
    }

    /// Returns the schema with only the fields of `projection`, in the order that they have. Messages on the way to a field
    /// stay, with the fields that are wanted of them. A field of which only the existence is wanted is a Boolean, whatever its type:
    /// true where the field is there, or at least one value of a repeated one. Maps stay whole. A member of a oneof is null where
    /// another one comes later in the message, also when that one has no column.
    #[must_use]
    pub fn project(&self, projection: &FieldProjection) -> Self {
        if projection.includes_all() {
            return self.clone();
        }
        let paths: Vec<&[u32]> = projection.fields().iter().map(|field| field.path()).collect();
        let (fields, rivals) = project(&self.fields, &self.rivals, &paths);
        let arrow: Fields = fields.iter().map(|field| field.arrow_field.clone()).collect();
        Self {
            name: self.name.clone(),
            fields,
            rivals,
            arrow_schema: Arc::new(Schema::new(arrow)),
            left_out: self.left_out.clone(),
        }
    }

    /// Returns the schema with some members alone of the message that is in a column: those that the paths of names in `members` lead
    /// to, and the messages on the way. A column that has no such members stays whole.
    #[must_use]
    pub fn with_members(mut self, column: usize, members: &[Vec<String>]) -> Self {
        let narrowed = self.fields.get(column).and_then(|field| {
            let path = |names: &Vec<String>| Some([vec![field.number], numbers(&field.children, names)?].concat());
            let paths = members.iter().map(path).collect::<Option<Vec<_>>>()?;
            let paths: Vec<&[u32]> = paths.iter().map(Vec::as_slice).collect();
            project(std::slice::from_ref(field), &[], &paths).0.pop()
        });
        if let (Some(narrowed), Some(field)) = (narrowed, self.fields.get_mut(column)) {
            *field = narrowed;
        }
        self.keep(|_| true);
        self
    }

    /// Drops the columns that `keep`, which gets their numbers, is false for.
    pub(crate) fn keep(&mut self, keep: impl Fn(usize) -> bool) {
        let mut column = 0..;
        let (kept, dropped) = std::mem::take(&mut self.fields)
            .into_iter()
            .partition(|_| column.next().is_some_and(&keep));
        self.fields = kept;
        self.rivals = rivals_of(&self.fields, self.rivals.iter().chain(&dropped));
        let arrow: Fields = self.fields.iter().map(|field| field.arrow_field.clone()).collect();
        self.arrow_schema = Arc::new(Schema::new(arrow));
    }

    /// Returns the full name of the message type.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the fields that have no column, of oneofs that [`Self::fields`] has members of.
    pub(crate) fn rivals(&self) -> &[MessageField] {
        &self.rivals
    }

    /// Returns the fields in the order of the descriptor, which is that of the columns.
    pub fn fields(&self) -> &[MessageField] {
        &self.fields
    }

    /// Returns the Arrow schema: a column for each field.
    pub fn arrow_schema(&self) -> SchemaRef {
        self.arrow_schema.clone()
    }

    /// Returns the fields that have no column since their type contains itself, as names with points between.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }
}

impl MessageField {
    /// Returns the field as one of which only the existence is told.
    fn existence(&self) -> Self {
        Self {
            existence_only: true,
            arrow_field: Arc::new(Field::new(self.arrow_field.name(), DataType::Boolean, false)),
            children: Vec::new(),
            rivals: Vec::new(),
            ..self.clone()
        }
    }
}

impl FieldKind {
    /// Returns the wire type of a value that is not packed.
    pub fn wire_type(self) -> u8 {
        match self {
            Self::Bool
            | Self::Int32
            | Self::Int64
            | Self::UInt32
            | Self::UInt64
            | Self::SInt32
            | Self::SInt64
            | Self::Enum => 0,
            Self::Fixed64 | Self::SFixed64 | Self::Double => 1,
            Self::String | Self::Bytes | Self::Message => 2,
            Self::Group => 3,
            Self::Fixed32 | Self::SFixed32 | Self::Float => 5,
        }
    }

    fn of(field_type: Type) -> Self {
        match field_type {
            Type::Bool => Self::Bool,
            Type::Int32 => Self::Int32,
            Type::Int64 => Self::Int64,
            Type::Uint32 => Self::UInt32,
            Type::Uint64 => Self::UInt64,
            Type::Sint32 => Self::SInt32,
            Type::Sint64 => Self::SInt64,
            Type::Fixed32 => Self::Fixed32,
            Type::Fixed64 => Self::Fixed64,
            Type::Sfixed32 => Self::SFixed32,
            Type::Sfixed64 => Self::SFixed64,
            Type::Float => Self::Float,
            Type::Double => Self::Double,
            Type::Enum => Self::Enum,
            Type::String => Self::String,
            Type::Bytes => Self::Bytes,
            Type::Message => Self::Message,
            Type::Group => Self::Group,
        }
    }

    fn is_message(self) -> bool {
        matches!(self, Self::Message | Self::Group)
    }

    fn data_type(self, children: &[MessageField]) -> DataType {
        match self {
            Self::Bool => DataType::Boolean,
            Self::Int32 | Self::SInt32 | Self::SFixed32 | Self::Enum => DataType::Int32,
            Self::Int64 | Self::SInt64 | Self::SFixed64 => DataType::Int64,
            Self::UInt32 | Self::Fixed32 => DataType::UInt32,
            Self::UInt64 | Self::Fixed64 => DataType::UInt64,
            Self::Float => DataType::Float32,
            Self::Double => DataType::Float64,
            Self::String => DataType::Utf8,
            Self::Bytes => DataType::Binary,
            Self::Message | Self::Group => {
                DataType::Struct(children.iter().map(|child| child.arrow_field.clone()).collect())
            }
        }
    }
}

/// Returns the fields of a message that the paths lead to, and the rivals of these. A schema is at most a hundred messages deep.
fn project(
    fields: &[MessageField],
    rivals: &[MessageField],
    paths: &[&[u32]],
) -> (Vec<MessageField>, Vec<MessageField>) {
    let mut projected = Vec::new();
    let mut dropped = Vec::new();
    for field in fields {
        let below: Vec<&[u32]> = paths
            .iter()
            .filter_map(|path| path.split_first())
            .filter(|(number, _)| **number == field.number)
            .map(|(_, below)| below)
            .collect();
        if below.is_empty() {
            dropped.push(field);
            continue;
        }
        if below.iter().all(|path| *path == [Projected::EXISTENCE_ONLY]) {
            projected.push(field.existence());
            continue;
        }
        let whole = below.iter().any(|path| path.is_empty());
        if whole || !field.kind.is_message() || matches!(field.arrow_field.data_type(), DataType::Map(..)) {
            projected.push(field.clone());
            continue;
        }
        let (children, rivals) = project(&field.children, &field.rivals, &below);
        let message = field.kind.data_type(&children);
        let data_type = match field.repeated {
            false => message,
            true => DataType::List(Arc::new(Field::new_list_field(message, false))),
        };
        projected.push(MessageField {
            arrow_field: Arc::new(Field::clone(&field.arrow_field).with_data_type(data_type)),
            children,
            rivals,
            ..field.clone()
        });
    }
    let rivals = rivals_of(&projected, rivals.iter().chain(dropped));
    (projected, rivals)
}

/// Returns those of `others`, which have no column, that are in a oneof with one of `fields`.
fn rivals_of<'a>(fields: &[MessageField], others: impl Iterator<Item = &'a MessageField>) -> Vec<MessageField> {
    let oneofs: HashSet<usize> = fields.iter().filter_map(|field| field.oneof).collect();
    others
        .filter(|other| other.oneof.is_some_and(|oneof| oneofs.contains(&oneof)))
        .map(MessageField::existence)
        .collect()
}

/// The numbers of the fields that a path of names leads through, if there are such.
fn numbers(fields: &[MessageField], names: &[String]) -> Option<Vec<u32>> {
    let Some((name, below)) = names.split_first() else {
        return Some(Vec::new());
    };
    let field = fields.iter().find(|field| field.arrow_field.name() == name)?;
    let mut path = vec![field.number];
    path.extend(numbers(&field.children, below)?);
    Some(path)
}

/// The message types of a set, by full name.
struct Types<'a> {
    messages: HashMap<String, MessageType<'a>>,
}

#[derive(Clone, Copy)]
struct MessageType<'a> {
    descriptor: &'a DescriptorProto,
    /// Whether scalars of the file have no presence unless they ask for it.
    proto3: bool,
}

impl<'a> Types<'a> {
    fn new(set: &'a FileDescriptorSet) -> Self {
        let mut messages = HashMap::new();
        for file in &set.file {
            Self::add_file(file, &mut messages);
        }
        Self { messages }
    }

    fn add_file(file: &'a FileDescriptorProto, messages: &mut HashMap<String, MessageType<'a>>) {
        let proto3 = file.syntax() == "proto3";
        let mut left: Vec<(String, &DescriptorProto)> = file
            .message_type
            .iter()
            .map(|message| (full_name(file.package(), message.name()), message))
            .collect();
        while let Some((name, descriptor)) = left.pop() {
            for nested in &descriptor.nested_type {
                left.push((full_name(&name, nested.name()), nested));
            }
            messages.insert(name, MessageType { descriptor, proto3 });
        }
    }

    fn message(&self, name: &str) -> Result<MessageType<'a>> {
        self.messages
            .get(name)
            .copied()
            .ok_or_else(|| invalid(format!("there is no message type `{name}` in the descriptors")))
    }
}

fn full_name(scope: &str, name: &str) -> String {
    match scope {
        "" => name.to_owned(),
        scope => format!("{scope}.{name}"),
    }
}

struct Builder<'a> {
    types: Types<'a>,
    /// The types that contain the one being built.
    open: Vec<String>,
    /// The names of the fields that lead to it.
    path: Vec<String>,
    count: usize,
    left_out: Vec<String>,
}

impl Builder<'_> {
    /// Returns the fields of a message and their rivals. Recursion is bounded by [`MAX_DEPTH`].
    fn fields(&mut self, message: &MessageType<'_>) -> Result<(Vec<MessageField>, Vec<MessageField>)> {
        let mut fields: Vec<MessageField> = Vec::with_capacity(message.descriptor.field.len());
        let mut left_out: Vec<MessageField> = Vec::new();
        for descriptor in &message.descriptor.field {
            self.path.push(descriptor.name().to_owned());
            let (field, has_column) = self.field(descriptor, message)?;
            if fields.iter().chain(&left_out).any(|other| other.number == field.number) {
                return Err(self.invalid_field(&format!("field number {} is taken", field.number)));
            }
            match has_column {
                true => fields.push(field),
                false => left_out.push(field),
            }
            self.path.pop();
        }
        let rivals = rivals_of(&fields, left_out.iter());
        Ok((fields, rivals))
    }

    /// Returns the field and whether it has a column: it has none, and no children, if its type contains itself.
    fn field(&mut self, descriptor: &FieldDescriptorProto, message: &MessageType<'_>) -> Result<(MessageField, bool)> {
        self.count += 1;
        if self.count > MAX_FIELDS {
            return Err(self.invalid_field("there are more than 16384 columns"));
        }
        let number = u32::try_from(descriptor.number())
            .ok()
            .filter(|number| (1..1 << 29).contains(number))
            .ok_or_else(|| self.invalid_field("the field number is not from 1 to 2^29 - 1"))?;
        // Without a type in the descriptor the name would have to tell whether it is a message or an enum.
        let field_type = descriptor
            .r#type
            .and_then(|number| Type::try_from(number).ok())
            .ok_or_else(|| self.invalid_field("the field has no type"))?;
        let kind = FieldKind::of(field_type);
        let oneof = oneof(descriptor);
        if oneof.is_some_and(|oneof| oneof >= message.descriptor.oneof_decl.len()) {
            return Err(self.invalid_field("the message does not have the oneof that it is in"));
        }
        let repeated = descriptor.label() == Label::Repeated;
        let (mut children, mut rivals) = (Vec::new(), Vec::new());
        let mut is_map = false;
        let mut has_column = true;
        if kind.is_message() {
            let name = descriptor.type_name().trim_start_matches('.').to_owned();
            let content = self.types.message(&name)?;
            if self.open.contains(&name) || self.open.len() >= MAX_DEPTH {
                self.left_out.push(self.path.join("."));
                has_column = false;
            } else {
                self.open.push(name);
                (children, rivals) = self.fields(&content)?;
                self.open.pop();
            }
            is_map = repeated
                && content
                    .descriptor
                    .options
                    .as_ref()
                    .is_some_and(|options| options.map_entry())
                && matches!(&children[..], [key, value]
                    if key.number == 1 && value.number == 2 && !key.repeated && !value.repeated && !key.kind.is_message());
        }
        if is_map && let [key, value] = &mut children[..] {
            // An entry without one of them has the default value.
            for entry in [key, value] {
                entry.has_presence = entry.kind.is_message();
                let nullable = entry.has_presence;
                entry.arrow_field = Arc::new(Field::clone(&entry.arrow_field).with_nullable(nullable));
            }
        }
        let has_presence = !repeated
            && (!message.proto3
                || kind.is_message()
                || descriptor.oneof_index.is_some()
                || descriptor.proto3_optional());
        let value_type = kind.data_type(&children);
        let data_type = match (repeated, is_map) {
            (false, _) => value_type,
            (true, false) => DataType::List(Arc::new(Field::new_list_field(value_type, false))),
            (true, true) => DataType::Map(Arc::new(Field::new("entries", value_type, false)), false),
        };
        let packed = repeated
            && !matches!(kind, FieldKind::String | FieldKind::Bytes)
            && !kind.is_message()
            && descriptor
                .options
                .as_ref()
                .and_then(|options| options.packed)
                .unwrap_or(message.proto3);
        let field = MessageField {
            number,
            kind,
            repeated,
            packed,
            has_presence,
            oneof,
            existence_only: false,
            arrow_field: Arc::new(Field::new(descriptor.name(), data_type, has_presence)),
            children,
            rivals,
        };
        Ok((field, has_column))
    }

    fn invalid_field(&self, problem: &str) -> Error {
        invalid(format!("the descriptor of `{}`: {problem}", self.path.join(".")))
    }
}

/// The oneof that excludes other fields: that of a proto3 `optional` field has no others.
fn oneof(descriptor: &FieldDescriptorProto) -> Option<usize> {
    match descriptor.proto3_optional() {
        true => None,
        false => descriptor.oneof_index.and_then(|index| usize::try_from(index).ok()),
    }
}

fn invalid(problem: String) -> Error {
    Error::Metadata {
        file: FileName::default(),
        problem,
    }
}

#[cfg(test)]
mod tests {
    use prost_types::{FieldOptions, MessageOptions, OneofDescriptorProto};

    use super::*;

    fn field(name: &str, number: i32, field_type: Type) -> FieldDescriptorProto {
        FieldDescriptorProto {
            name: Some(name.to_owned()),
            number: Some(number),
            label: Some(Label::Optional.into()),
            r#type: Some(field_type.into()),
            ..Default::default()
        }
    }

    fn repeated(field: FieldDescriptorProto) -> FieldDescriptorProto {
        FieldDescriptorProto {
            label: Some(Label::Repeated.into()),
            ..field
        }
    }

    fn typed(field: FieldDescriptorProto, type_name: &str) -> FieldDescriptorProto {
        FieldDescriptorProto {
            type_name: Some(type_name.to_owned()),
            ..field
        }
    }

    fn message(name: &str, field: Vec<FieldDescriptorProto>) -> DescriptorProto {
        DescriptorProto {
            name: Some(name.to_owned()),
            field,
            ..Default::default()
        }
    }

    fn set(syntax: &str, message_type: Vec<DescriptorProto>) -> FileDescriptorSet {
        FileDescriptorSet {
            file: vec![FileDescriptorProto {
                package: Some("p".to_owned()),
                syntax: Some(syntax.to_owned()),
                message_type,
                ..Default::default()
            }],
        }
    }

    fn columns(set: &FileDescriptorSet) -> Vec<String> {
        let schema = MessageSchema::new(set, "p.M").expect("a schema").arrow_schema();
        let describe = |field: &Arc<Field>| {
            let null = if field.is_nullable() { "?" } else { "" };
            format!("{}: {}{null}", field.name(), field.data_type())
        };
        schema.fields().iter().map(describe).collect()
    }

    #[test]
    fn presence_makes_columns_nullable() {
        let mut member = field("d", 4, Type::Bytes);
        member.oneof_index = Some(0);
        let mut optional = field("e", 5, Type::Enum);
        (optional.oneof_index, optional.proto3_optional) = (Some(1), Some(true));
        let fields = vec![
            field("a", 1, Type::Sint32),
            repeated(field("b", 2, Type::Fixed64)),
            typed(field("c", 3, Type::Message), ".p.N"),
            member,
            optional,
        ];
        let mut root = message("M", fields);
        root.oneof_decl = vec![OneofDescriptorProto::default(); 2];
        let types = vec![root, message("N", vec![field("x", 1, Type::Bool)])];
        let proto3 = set("proto3", types.clone());
        let expected = [
            "a: Int32",
            "b: List(non-null UInt64)",
            "c: Struct(\"x\": non-null Boolean)?",
            "d: Binary?",
            "e: Int32?",
        ];
        assert_eq!(columns(&proto3), expected);
        let schema = MessageSchema::new(&proto3, ".p.M").expect("a schema");
        let oneofs: Vec<Option<usize>> = schema.fields().iter().map(|field| field.oneof).collect();
        assert_eq!(oneofs, [None, None, None, Some(0), None]);
        assert!(schema.fields()[1].packed);

        let proto2 = set("proto2", types);
        let expected = [
            "a: Int32?",
            "b: List(non-null UInt64)",
            "c: Struct(\"x\": Boolean)?",
            "d: Binary?",
            "e: Int32?",
        ];
        assert_eq!(columns(&proto2), expected);
        let schema = MessageSchema::new(&proto2, "p.M").expect("a schema");
        assert!(!schema.fields()[1].packed);
    }

    #[test]
    fn some_members_of_a_message_are_a_smaller_column() {
        let nested = |name: &str, number, of: &str| typed(field(name, number, Type::Message), of);
        let types = vec![
            message(
                "M",
                vec![
                    field("a", 1, Type::Int32),
                    nested("b", 2, ".p.N"),
                    repeated(nested("c", 3, ".p.O")),
                ],
            ),
            message(
                "N",
                vec![
                    field("x", 1, Type::Bool),
                    field("y", 2, Type::Bool),
                    nested("z", 3, ".p.O"),
                ],
            ),
            message("O", vec![field("u", 1, Type::Bool), field("v", 2, Type::Bool)]),
        ];
        let schema = MessageSchema::new(&set("proto2", types), "p.M").expect("a schema");
        let column = |members: &[&[&str]]| {
            let members: Vec<Vec<String>> = members
                .iter()
                .map(|path| path.iter().map(|&name| name.to_owned()).collect())
                .collect();
            let narrowed = schema.clone().with_members(1, &members).arrow_schema();
            assert_eq!(narrowed.fields().len(), 3);
            narrowed.field(1).data_type().to_string()
        };
        assert_eq!(column(&[&["y"]]), r#"Struct("y": Boolean)"#);
        let expected = r#"Struct("x": Boolean, "z": Struct("v": Boolean))"#;
        assert_eq!(column(&[&["z", "v"], &["x"]]), expected);
        assert_eq!(
            column(&[&["z"], &["z", "v"]]),
            r#"Struct("z": Struct("u": Boolean, "v": Boolean))"#
        );
        // One that is not there leaves the column whole.
        assert_eq!(
            column(&[&["x"], &["w"]]),
            schema.arrow_schema().field(1).data_type().to_string()
        );
    }

    #[test]
    fn maps_and_options_are_understood() {
        let entry = DescriptorProto {
            options: Some(MessageOptions {
                map_entry: Some(true),
                ..Default::default()
            }),
            ..message(
                "AEntry",
                vec![field("key", 1, Type::String), field("value", 2, Type::Double)],
            )
        };
        let mut packed = repeated(field("b", 2, Type::Uint32));
        packed.options = Some(FieldOptions {
            packed: Some(true),
            ..Default::default()
        });
        let mut root = message(
            "M",
            vec![repeated(typed(field("a", 1, Type::Message), ".p.M.AEntry")), packed],
        );
        root.nested_type = vec![entry];
        let set = set("proto2", vec![root]);
        let schema = MessageSchema::new(&set, "p.M").expect("a schema");
        assert!(schema.fields()[1].packed);
        let DataType::Map(entries, false) = schema.arrow_schema().field(0).data_type().clone() else {
            panic!("{:?}", schema.arrow_schema());
        };
        let DataType::Struct(entry) = entries.data_type() else {
            panic!("{entries:?}");
        };
        let [key, value] = &entry[..] else {
            panic!("{entry:?}");
        };
        assert!(!key.is_nullable() && !value.is_nullable());
    }

    #[test]
    fn a_type_that_contains_itself_is_left_out() {
        let child = typed(field("child", 2, Type::Message), ".p.N");
        let set = set(
            "proto3",
            vec![
                message("M", vec![field("a", 1, Type::Int64), child.clone()]),
                message("N", vec![repeated(typed(child, ".p.M")), field("b", 1, Type::Int64)]),
            ],
        );
        assert_eq!(columns(&set), ["a: Int64", "child: Struct(\"b\": non-null Int64)?"]);
        let schema = MessageSchema::new(&set, "p.M").expect("a schema");
        assert_eq!(schema.left_out(), ["child.child"]);
    }

    #[test]
    fn descriptors_that_break_the_rules_are_refused() {
        let check = |fields: Vec<FieldDescriptorProto>, problem: &str| {
            let error = MessageSchema::new(&set("proto3", vec![message("M", fields)]), "p.M").expect_err(problem);
            assert!(error.to_string().contains(problem), "{error}");
        };
        check(vec![field("a", 0, Type::Int32)], "field number is not from");
        check(vec![field("a", -1, Type::Int32)], "field number is not from");
        check(
            vec![field("a", 1, Type::Int32), field("b", 1, Type::Int32)],
            "descriptor of `b`: field number 1 is taken",
        );
        check(
            vec![typed(field("a", 1, Type::Message), ".p.X")],
            "no message type `p.X`",
        );
        let mut stray = field("a", 1, Type::Int32);
        stray.oneof_index = Some(0);
        check(vec![stray], "does not have the oneof");
        let mut untyped = field("a", 1, Type::Int32);
        untyped.r#type = None;
        check(vec![untyped], "has no type");
        assert!(MessageSchema::new(&set("proto3", vec![]), "p.M").is_err());

        // Twenty fields of a type that has twenty fields of another, and so on: too many to write down.
        let types = (0..20)
            .map(|depth| {
                let name = if depth == 0 {
                    "M".to_owned()
                } else {
                    format!("M{depth}")
                };
                let fields = (1..=20)
                    .map(|number| match depth {
                        19 => field("x", number, Type::Bool),
                        _ => typed(field("x", number, Type::Message), &format!(".p.M{}", depth + 1)),
                    })
                    .collect();
                message(&name, fields)
            })
            .collect();
        let error = MessageSchema::new(&set("proto3", types), "p.M").expect_err("too many");
        assert!(error.to_string().contains("more than 16384 columns"), "{error}");
    }
}
