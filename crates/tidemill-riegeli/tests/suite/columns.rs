//! Columns of messages: the same from transposed chunks, from simple ones, and as another protobuf library sees the messages.

use std::{collections::BTreeMap, fs, path::Path};

use arrow_array::{
    Array, ArrayRef, RecordBatch, StructArray,
    cast::AsArray,
    types::{Float32Type, Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type},
};
use arrow_schema::DataType;
use proptest::prelude::*;
use prost_reflect::{
    DescriptorPool, DynamicMessage, FieldDescriptor, MapKey, MessageDescriptor, ReflectMessage, Value,
};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumValueDescriptorProto, FieldDescriptorProto, FieldOptions,
    FileDescriptorProto, FileDescriptorSet, MessageOptions, OneofDescriptorProto,
    field_descriptor_proto::{Label, Type},
};
use tidemill_riegeli::{
    CHUNK_HEADER_SIZE, ChunkHeader, Error, FieldProjection, MessageSchema, ReaderOptions, RecordReader, RecordWriter,
    RowProblem, WriterOptions, columns::ColumnReader, hash,
};

/// Numbers from a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 ^ (self.0 >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 16
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }
}

const TYPES: [Type; 18] = [
    Type::Bool,
    Type::Int32,
    Type::Int64,
    Type::Uint32,
    Type::Uint64,
    Type::Sint32,
    Type::Sint64,
    Type::Fixed32,
    Type::Fixed64,
    Type::Sfixed32,
    Type::Sfixed64,
    Type::Float,
    Type::Double,
    Type::Enum,
    Type::String,
    Type::Bytes,
    Type::Message,
    Type::Group,
];

/// A message type with fields of any kind, nested up to `depth` deeper.
fn message_type(random: &mut Random, name: &str, scope: &str, depth: u32, proto3: bool) -> DescriptorProto {
    let path = format!("{scope}.{name}");
    let mut message = DescriptorProto {
        name: Some(name.to_owned()),
        ..Default::default()
    };
    for index in 0..random.below(6) {
        let number = [index + 1, index + 14, index * 1_000 + 2_050][random.below(3) as usize];
        if message.field.iter().any(|field| field.number() == number as i32) {
            continue;
        }
        let mut field = FieldDescriptorProto {
            name: Some(format!("f{number}")),
            number: Some(number as i32),
            label: Some(Label::Optional.into()),
            ..Default::default()
        };
        let mut field_type = TYPES[random.below(TYPES.len() as u64) as usize];
        if random.one_in(4) {
            field_type = Type::Message;
        }
        if depth == 0 && matches!(field_type, Type::Message | Type::Group) || proto3 && field_type == Type::Group {
            field_type = Type::Int64;
        }
        if random.one_in(3) {
            field.label = Some(Label::Repeated.into());
            let packable = !matches!(field_type, Type::String | Type::Bytes | Type::Message | Type::Group);
            if packable && random.one_in(2) {
                field.options = Some(FieldOptions {
                    packed: Some(random.one_in(2)),
                    ..Default::default()
                });
            }
        } else if random.one_in(3) && field_type != Type::Group {
            if message.oneof_decl.is_empty() {
                message.oneof_decl.push(OneofDescriptorProto {
                    name: Some("choice".to_owned()),
                    ..Default::default()
                });
            }
            field.oneof_index = Some(0);
        }
        if matches!(field_type, Type::Message | Type::Group) {
            let nested = format!("M{number}");
            let mut content = message_type(random, &nested, &path, depth - 1, proto3);
            let repeated = field.label() == Label::Repeated;
            if repeated && field_type == Type::Message && random.one_in(2) {
                content = map_entry(random, &format!("F{number}Entry"));
            }
            field.type_name = Some(format!("{path}.{}", content.name()));
            message.nested_type.push(content);
        }
        if field_type == Type::Enum {
            field.type_name = Some(".test.E".to_owned());
        }
        field.r#type = Some(field_type.into());
        message.field.push(field);
    }
    message
}

fn map_entry(random: &mut Random, name: &str) -> DescriptorProto {
    let mut field = |name: &str, number, types: &[Type]| FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        label: Some(Label::Optional.into()),
        r#type: Some(types[random.below(types.len() as u64) as usize].into()),
        ..Default::default()
    };
    DescriptorProto {
        name: Some(name.to_owned()),
        field: vec![
            field("key", 1, &[Type::Int32, Type::Uint64, Type::String, Type::Bool]),
            field("value", 2, &[Type::Sint64, Type::Double, Type::String, Type::Bytes]),
        ],
        options: Some(MessageOptions {
            map_entry: Some(true),
            ..Default::default()
        }),
        ..Default::default()
    }
}

fn descriptors(random: &mut Random) -> FileDescriptorSet {
    let proto3 = random.one_in(2);
    let value = |name: &str, number| EnumValueDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        ..Default::default()
    };
    FileDescriptorSet {
        file: vec![FileDescriptorProto {
            name: Some("test.proto".to_owned()),
            package: Some("test".to_owned()),
            syntax: Some(if proto3 { "proto3" } else { "proto2" }.to_owned()),
            message_type: vec![message_type(random, "M", ".test", 3, proto3)],
            enum_type: vec![EnumDescriptorProto {
                name: Some("E".to_owned()),
                value: vec![value("ZERO", 0), value("ONE", 1)],
                ..Default::default()
            }],
            ..Default::default()
        }],
    }
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn tag(number: u32, wire_type: u64, out: &mut Vec<u8>) {
    varint(u64::from(number) << 3 | wire_type, out);
}

/// A value without its tag, and its wire type.
fn scalar(random: &mut Random, kind: &prost_reflect::Kind, out: &mut Vec<u8>) -> u64 {
    use prost_reflect::Kind;
    let number = random.next() << 16 ^ random.next();
    let number = number >> random.below(64);
    match kind {
        Kind::Bool => varint(number & 1, out),
        Kind::Enum(_) => varint(number & 1, out),
        Kind::Int32 | Kind::Uint32 | Kind::Sint32 if random.one_in(20) => varint(number, out),
        Kind::Int32 => varint(number as i32 as i64 as u64, out),
        Kind::Uint32 | Kind::Sint32 => varint(number & 0xffff_ffff, out),
        Kind::Int64 | Kind::Uint64 | Kind::Sint64 => varint(number, out),
        Kind::Fixed32 | Kind::Sfixed32 | Kind::Float => {
            out.extend((number as u32).to_le_bytes());
            return 5;
        }
        Kind::Fixed64 | Kind::Sfixed64 | Kind::Double => {
            out.extend(number.to_le_bytes());
            return 1;
        }
        Kind::String => {
            let text = [
                "",
                "plain",
                "æ",
                "\u{8}\u{1}",
                "\u{8}\u{1}\u{10}\u{2}",
                "a longer text, of more bytes than a word",
            ];
            let text = text[random.below(6) as usize];
            varint(text.len() as u64, out);
            out.extend(text.as_bytes());
            return 2;
        }
        Kind::Bytes => {
            let length = random.below(20);
            varint(length, out);
            out.extend((0..length).map(|at| (number >> at) as u8));
            return 2;
        }
        Kind::Message(_) => unreachable!("a scalar"),
    }
    0
}

/// A message of fields in any order, some more than once, and some that the type does not know.
fn message(random: &mut Random, descriptor: &MessageDescriptor, out: &mut Vec<u8>) {
    let fields: Vec<FieldDescriptor> = descriptor.fields().collect();
    let entry = descriptor.is_map_entry();
    for index in 0..random.below(8) {
        if random.one_in(15) {
            let unknown = 40 + random.below(3) as u32;
            match random.below(3) {
                0 => {
                    tag(unknown, 0, out);
                    varint(random.next(), out);
                }
                1 => {
                    tag(unknown, 2, out);
                    out.extend([3, 8, 1, 16]);
                }
                _ => {
                    tag(unknown, 3, out);
                    out.extend([8, 1]);
                    tag(unknown, 4, out);
                }
            }
        }
        // An entry whose fields come twice is read as the last of each by some and as an error by others.
        let Some(field) = (match entry {
            true => fields.get(index as usize).filter(|_| index == 0 || !random.one_in(3)),
            false => fields.get(random.below(fields.len().max(1) as u64) as usize),
        }) else {
            continue;
        };
        let number = field.number();
        match field.kind() {
            prost_reflect::Kind::Message(nested) if field.is_group() => {
                tag(number, 3, out);
                message(random, &nested, out);
                tag(number, 4, out);
            }
            prost_reflect::Kind::Message(nested) => {
                let mut content = Vec::new();
                message(random, &nested, &mut content);
                tag(number, 2, out);
                // A length that is longer than need be makes the message, or the record, one that is not taken apart.
                if random.one_in(20) && content.len() < 0x80 {
                    out.extend([content.len() as u8 | 0x80, 0]);
                } else {
                    varint(content.len() as u64, out);
                }
                out.extend(content);
            }
            kind => {
                let mut value = Vec::new();
                let wire_type = scalar(random, &kind, &mut value);
                if field.is_list() && wire_type != 2 && random.one_in(2) {
                    for _ in 0..random.below(5) {
                        scalar(random, &kind, &mut value);
                    }
                    tag(number, 2, out);
                    varint(value.len() as u64, out);
                } else {
                    tag(number, wire_type, out);
                }
                out.extend(value);
            }
        }
    }
}

/// A value of a column or of a message, in words.
fn cell(array: &dyn Array, row: usize) -> String {
    if array.is_null(row) {
        return "null".to_owned();
    }
    let list = |values: &dyn Array| {
        (0..values.len())
            .map(|at| cell(values, at))
            .collect::<Vec<_>>()
            .join(",")
    };
    match array.data_type() {
        DataType::Boolean => array.as_boolean().value(row).to_string(),
        DataType::Int32 => array.as_primitive::<Int32Type>().value(row).to_string(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::UInt32 => array.as_primitive::<UInt32Type>().value(row).to_string(),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::Float32 => format!("{:x}", array.as_primitive::<Float32Type>().value(row).to_bits()),
        DataType::Float64 => format!("{:x}", array.as_primitive::<Float64Type>().value(row).to_bits()),
        DataType::Utf8 => format!("{:?}", array.as_string::<i32>().value(row)),
        DataType::Binary => format!("{:?}", array.as_binary::<i32>().value(row)),
        DataType::List(_) => format!("[{}]", list(&array.as_list::<i32>().value(row))),
        DataType::Map(..) => {
            let entries: StructArray = array.as_map().value(row);
            // The last of a key counts.
            let entries: BTreeMap<String, String> = (0..entries.len())
                .map(|at| (cell(entries.column(0), at), cell(entries.column(1), at)))
                .collect();
            format!("{entries:?}")
        }
        DataType::Struct(_) => fields(array.as_struct().columns().iter().map(|column| cell(column, row))),
        other => panic!("{other}"),
    }
}

fn fields(values: impl Iterator<Item = String>) -> String {
    format!("({})", values.collect::<Vec<_>>().join(";"))
}

fn value(value: &Value) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::I32(value) | Value::EnumNumber(value) => value.to_string(),
        Value::I64(value) => value.to_string(),
        Value::U32(value) => value.to_string(),
        Value::U64(value) => value.to_string(),
        Value::F32(value) => format!("{:x}", value.to_bits()),
        Value::F64(value) => format!("{:x}", value.to_bits()),
        Value::String(value) => format!("{value:?}"),
        Value::Bytes(value) => format!("{:?}", &value[..]),
        Value::Message(message) => dynamic(message),
        Value::List(values) => {
            let values: Vec<String> = values.iter().map(self::value).collect();
            format!("[{}]", values.join(","))
        }
        Value::Map(map) => {
            let entries: BTreeMap<String, String> =
                map.iter().map(|(key, entry)| (map_key(key), value_of(entry))).collect();
            format!("{entries:?}")
        }
    }
}

fn value_of(entry: &Value) -> String {
    value(entry)
}

fn map_key(key: &MapKey) -> String {
    match key {
        MapKey::Bool(key) => key.to_string(),
        MapKey::I32(key) => key.to_string(),
        MapKey::I64(key) => key.to_string(),
        MapKey::U32(key) => key.to_string(),
        MapKey::U64(key) => key.to_string(),
        MapKey::String(key) => format!("{key:?}"),
    }
}

fn dynamic(message: &DynamicMessage) -> String {
    let descriptor = message.descriptor();
    // In the order of the descriptor, not of the numbers.
    let names: Vec<String> = descriptor
        .descriptor_proto()
        .field
        .iter()
        .map(|field| field.name().to_owned())
        .collect();
    fields(names.iter().map(|name| {
        let field = descriptor.get_field_by_name(name).expect("a field");
        match field.supports_presence() && !message.has_field(&field) {
            true => "null".to_owned(),
            false => value(&message.get_field(&field)),
        }
    }))
}

fn write(records: &[Vec<u8>], options: &str) -> Vec<u8> {
    let mut writer = RecordWriter::new(Vec::new(), options.parse::<WriterOptions>().expect(options)).expect("memory");
    for record in records {
        writer.write_record(record).expect("memory");
    }
    writer.close().expect("memory")
}

fn read(file: &[u8], schema: &MessageSchema) -> Result<Vec<RecordBatch>, Error> {
    ColumnReader::new(RecordReader::from_bytes(file)?, schema).collect()
}

fn rows(batches: &[RecordBatch]) -> Vec<String> {
    let rows = |batch: &RecordBatch| -> Vec<String> {
        (0..batch.num_rows())
            .map(|row| fields(batch.columns().iter().map(|column| cell(column, row))))
            .collect()
    };
    batches.iter().flat_map(rows).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn columns_are_what_is_in_the_messages(
        seed in any::<u64>(),
        count in 0_usize..40,
        options in prop::sample::select(vec![
            "uncompressed", "zstd:1,chunk_size:400", "transpose,uncompressed", "transpose,zstd:1",
            "transpose,snappy,bucket_fraction:0.0", "transpose,brotli:1,chunk_size:300",
        ]),
    ) {
        let mut random = Random(seed);
        let set = descriptors(&mut random);
        let schema = MessageSchema::new(&set, "test.M").expect("a schema");
        let pool = DescriptorPool::from_file_descriptor_set(set).expect("descriptors");
        let descriptor = pool.get_message_by_name("test.M").expect("the message");
        let records: Vec<Vec<u8>> = (0..count)
            .map(|_| {
                let mut record = Vec::new();
                message(&mut random, &descriptor, &mut record);
                record
            })
            .collect();
        let expected: Vec<String> = records
            .iter()
            .map(|record| dynamic(&DynamicMessage::decode(descriptor.clone(), &record[..]).expect("a message")))
            .collect();
        let file = write(&records, options);
        let batches = read(&file, &schema).expect("rows");
        prop_assert_eq!(rows(&batches), expected);
        for column in batches.iter().flat_map(RecordBatch::columns) {
            column.to_data().validate_full().expect("an array");
        }
        // A column read alone is the same: another member of its oneof is looked at, though it has no column.
        for field in schema.fields() {
            let alone = schema.project(&FieldProjection::new().add_field([field.number]));
            let name = field.arrow_field.name();
            let found: Vec<String> = rows(&read(&file, &alone).expect("rows"));
            let expected: Vec<String> = batches
                .iter()
                .flat_map(|batch| {
                    let column = batch.column_by_name(name).expect("the column");
                    (0..batch.num_rows()).map(|row| format!("({})", cell(column, row))).collect::<Vec<_>>()
                })
                .collect();
            prop_assert_eq!(found, expected);
        }
        // And so is a member of a message.
        for (column, field) in schema.fields().iter().enumerate() {
            let DataType::Struct(members) = field.arrow_field.data_type() else { continue };
            for (index, member) in members.iter().enumerate() {
                let alone = schema.clone().with_members(column, &[vec![member.name().clone()]]);
                let found = read(&file, &alone).expect("rows");
                let found = found.iter().map(|batch| batch.column(column).as_struct().column(0).clone());
                let expected = batches.iter().map(|batch| batch.column(column).as_struct().column(index).clone());
                prop_assert_eq!(cells(found), cells(expected), "{}", member.name());
            }
        }
    }
}

fn cells(columns: impl Iterator<Item = ArrayRef>) -> Vec<String> {
    columns
        .flat_map(|column| (0..column.len()).map(|row| cell(&column, row)).collect::<Vec<_>>())
        .collect()
}

fn field(name: &str, number: i32, label: Label, field_type: Type, type_name: Option<&str>) -> FieldDescriptorProto {
    FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        label: Some(label.into()),
        r#type: Some(field_type.into()),
        type_name: type_name.map(str::to_owned),
        ..Default::default()
    }
}

/// Types for the datasets `kitchen` and `nested` of the golden files.
fn golden_descriptors() -> FileDescriptorSet {
    use Label::{Optional, Repeated};
    let message = |name: &str, field: Vec<FieldDescriptorProto>| DescriptorProto {
        name: Some(name.to_owned()),
        field,
        ..Default::default()
    };
    let kitchen = message(
        "Kitchen",
        vec![
            field("id", 1, Optional, Type::Uint32, None),
            field("negative", 2, Optional, Type::Int64, None),
            field("random", 3, Optional, Type::Uint64, None),
            field("four", 4, Optional, Type::Sfixed32, None),
            field("eight", 5, Optional, Type::Double, None),
            field("text", 6, Optional, Type::String, None),
            field("group", 7, Optional, Type::Group, Some("g.Group")),
            field("packed", 8, Repeated, Type::Uint32, None),
            field("doubles", 9, Repeated, Type::Double, None),
            field("messages", 10, Repeated, Type::Message, Some(".g.Item")),
            field("repeated", 11, Repeated, Type::Sint32, None),
            field("opaque", 12, Optional, Type::Bytes, None),
            field("flag", 15, Optional, Type::Bool, None),
            field("rare", 1_005, Optional, Type::Uint64, None),
            field("far", 2_048, Optional, Type::Uint64, None),
            field("farthest", 536_870_911, Optional, Type::String, None),
        ],
    );
    let group = message(
        "Group",
        vec![
            field("id", 1, Optional, Type::Uint64, None),
            field("text", 2, Optional, Type::String, None),
            field("inner", 3, Optional, Type::Group, Some(".g.Inner")),
        ],
    );
    let inner = message("Inner", vec![field("four", 1, Optional, Type::Fixed32, None)]);
    let item = message(
        "Item",
        vec![
            field("k", 1, Optional, Type::Uint64, None),
            field("text", 2, Optional, Type::String, None),
            field("deep", 3, Optional, Type::Message, Some(".g.Deep")),
        ],
    );
    let deep = message(
        "Deep",
        vec![
            field("square", 1, Optional, Type::Uint64, None),
            // Stored as a message, which it could be.
            field("bytes", 4, Optional, Type::Bytes, None),
        ],
    );
    let nested = message(
        "Nested",
        vec![
            field("id", 1, Optional, Type::Uint64, None),
            field("first", 2, Optional, Type::Message, Some(".g.First")),
            field("numbers", 10, Repeated, Type::Uint64, None),
            field("text", 11, Optional, Type::String, None),
        ],
    );
    let first = message(
        "First",
        vec![
            field("double", 1, Optional, Type::Uint64, None),
            field("second", 3, Optional, Type::Message, Some(".g.Second")),
            field("four", 2, Optional, Type::Fixed32, None),
        ],
    );
    let second = message(
        "Second",
        vec![
            field("triple", 1, Optional, Type::Uint64, None),
            field("third", 5, Optional, Type::Bytes, None),
        ],
    );
    FileDescriptorSet {
        file: vec![FileDescriptorProto {
            name: Some("golden.proto".to_owned()),
            package: Some("g".to_owned()),
            syntax: Some("proto2".to_owned()),
            message_type: vec![kitchen, group, inner, item, deep, nested, first, second],
            ..Default::default()
        }],
    }
}

#[test]
fn files_of_the_cpp_library_have_the_columns_of_their_messages() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/riegeli/cpp");
    let set = golden_descriptors();
    let pool = DescriptorPool::from_file_descriptor_set(set.clone()).expect("descriptors");
    let mut seen = 0;
    for (dataset, name) in [("kitchen.", "g.Kitchen"), ("nested.", "g.Nested")] {
        let schema = MessageSchema::new(&set, name).expect("a schema");
        let descriptor = pool.get_message_by_name(name).expect("the message");
        for entry in fs::read_dir(&corpus).expect("the corpus") {
            let path = entry.expect("an entry").path();
            let file_name = path.file_name().expect("a name").to_string_lossy().into_owned();
            if !file_name.starts_with(dataset) {
                continue;
            }
            let mut reader = RecordReader::open(&path, &ReaderOptions::new()).expect("opens");
            let mut expected = Vec::new();
            while let Some(record) = reader.read_record().expect("sound") {
                expected.push(dynamic(
                    &DynamicMessage::decode(descriptor.clone(), record).expect("a message"),
                ));
            }
            let file = fs::read(&path).expect("reads");
            assert_eq!(rows(&read(&file, &schema).expect("rows")), expected, "{file_name}");
            let fields: FieldProjection = "2.3.5,7.3,10.2,10.3.0,1".parse().expect("fields");
            let some = schema.project(&fields);
            assert_eq!(
                rows(&read(&file, &some).expect("rows")),
                rows(&read(&write(&records(&file), "uncompressed"), &some).expect("rows")),
                "{file_name}"
            );
            seen += 1;
        }
    }
    assert!(seen >= 20, "only {seen} files");
}

#[test]
fn columns_come_in_the_order_that_is_asked_for_and_rows_up_to_a_limit() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/riegeli/cpp");
    let schema = MessageSchema::new(&golden_descriptors(), "g.Kitchen").expect("a schema");
    for name in ["kitchen.simple_brotli", "kitchen.transpose_zstd3_bucket_fraction0p0"] {
        let file = fs::read(corpus.join(format!("{name}.riegeli"))).expect(name);
        let whole = read(&file, &schema).expect("rows");
        for (columns, limit) in [(&[5, 0, 5][..], 25), (&[9], 1_000_000), (&[3, 2], 0), (&[], 10)] {
            let reader = RecordReader::from_bytes(&file[..]).expect("memory");
            let reader = ColumnReader::of_columns(reader, &schema, columns).expect("columns");
            let reader = reader.with_batch_rows(10).with_limit(limit);
            let expected: Vec<RecordBatch> = whole
                .iter()
                .map(|batch| batch.project(columns).expect("columns"))
                .collect();
            assert_eq!(*reader.schema(), expected[0].schema());
            let batches: Vec<RecordBatch> = reader.collect::<Result<_, _>>().expect("rows");
            assert!(
                batches
                    .iter()
                    .all(|batch| batch.num_rows() <= 10 && batch.num_rows() > 0)
            );
            let mut expected = rows(&expected);
            expected.truncate(limit);
            assert_eq!(rows(&batches), expected, "{name} {columns:?}");
        }
        let reader = RecordReader::from_bytes(&file[..]).expect("memory");
        assert!(matches!(
            ColumnReader::of_columns(reader, &schema, &[99]),
            Err(Error::Arrow { .. })
        ));
    }
}

fn records(file: &[u8]) -> Vec<Vec<u8>> {
    let mut reader = RecordReader::from_bytes(file).expect("memory");
    let mut records = Vec::new();
    while let Some(record) = reader.read_record().expect("sound") {
        records.push(record.to_vec());
    }
    records
}

/// A message with a text in a list of messages: `M { repeated N f1 = 1; } N { string text = 2; }`.
fn text_schema() -> MessageSchema {
    let message = |name: &str, fields: Vec<FieldDescriptorProto>| DescriptorProto {
        name: Some(name.to_owned()),
        field: fields,
        ..Default::default()
    };
    let set = FileDescriptorSet {
        file: vec![FileDescriptorProto {
            message_type: vec![
                message("M", vec![field("list", 1, Label::Repeated, Type::Message, Some(".N"))]),
                message("N", vec![field("text", 2, Label::Optional, Type::String, None)]),
            ],
            ..Default::default()
        }],
    };
    MessageSchema::new(&set, "M").expect("a schema")
}

#[test]
fn a_record_that_is_not_a_row_is_named() {
    let good: &[u8] = &[0x0a, 4, 0x12, 2, b'o', b'k'];
    let check = |bad: &[u8], expected: RowProblem, column: Option<&str>| {
        for options in ["uncompressed", "transpose,uncompressed", "transpose,zstd"] {
            let records: Vec<Vec<u8>> = [good, good, bad, good].map(<[u8]>::to_vec).to_vec();
            let Err(Error::Row(error)) = read(&write(&records, options), &text_schema()) else {
                panic!("{options} {bad:?}")
            };
            assert_eq!(error.position.record_index, 2, "{options} {bad:?}");
            assert_eq!(error.problem, expected, "{options} {bad:?}");
            assert_eq!(error.column.as_deref(), column, "{options} {bad:?}");
        }
    };
    check(&[0x0a, 3, 0x12, 1, 0xff], RowProblem::Utf8, Some("list.text"));
    check(&[0x0a, 3, 0x12, 5, 0xff], RowProblem::Truncated { offset: 0 }, None);
    check(&[0x0a, 30], RowProblem::Truncated { offset: 0 }, None);
    check(&[0x0f], RowProblem::Tag { offset: 0 }, None);
}

#[test]
fn damaged_chunks_give_all_rows_or_none() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/riegeli");
    let schema = MessageSchema::new(&golden_descriptors(), "g.Kitchen").expect("a schema");
    let file = fs::read(corpus.join("cpp/kitchen.transpose_uncompressed_chunk_size1k.riegeli")).expect("reads");
    const CHUNK: usize = 64;
    let header = ChunkHeader::from_bytes(file[CHUNK..].first_chunk().expect("a header"));
    let data = &file[CHUNK + CHUNK_HEADER_SIZE..][..usize::try_from(header.data_size).expect("a size")];
    let with = |data: &[u8]| {
        let mut header = ChunkHeader {
            data_size: data.len() as u64,
            data_hash: hash(data),
            ..header
        };
        header.header_hash = header.computed_hash();
        [&file[..CHUNK], &header.to_bytes(), data].concat()
    };
    let whole = rows(&read(&with(data), &schema).expect("rows"));
    assert_eq!(whole.len() as u64, header.num_records);
    for at in 0..data.len() {
        let cut = read(&with(&data[..at]), &schema);
        assert!(matches!(cut, Err(Error::Corrupt(_))), "cut to {at}: {cut:?}");
        let mut flipped = data.to_vec();
        flipped[at] ^= 1 << (at % 8);
        if let Ok(batches) = read(&with(&flipped), &schema) {
            assert_eq!(rows(&batches).len(), whole.len(), "byte {at}");
        }
    }
}

#[test]
fn batches_are_as_large_as_asked_and_end_before_damage() {
    let records: Vec<Vec<u8>> = (0..100_u8)
        .map(|number| vec![0x0a, 3, 0x12, 1, b'0' + number % 10])
        .collect();
    for options in ["transpose,uncompressed,chunk_size:150", "uncompressed,chunk_size:150"] {
        let mut file = write(&records, options);
        let sizes = |file: &[u8], rows: usize| -> Vec<Option<usize>> {
            let reader = RecordReader::from_bytes(file).expect("memory");
            let batches = ColumnReader::new(reader, &text_schema()).with_batch_rows(rows);
            batches.map(|batch| Some(batch.ok()?.num_rows())).collect()
        };
        let whole = sizes(&file, 1_000);
        assert_eq!(whole, [Some(100)], "{options}");
        let pieces = sizes(&file, 7);
        assert!(
            pieces.iter().all(|rows| rows.is_some_and(|rows| rows <= 7)),
            "{options}: {pieces:?}"
        );
        assert_eq!(pieces.iter().flatten().sum::<usize>(), 100, "{options}");
        // The last byte is of the data of the last chunk.
        let last = file.len() - 1;
        file[last] ^= 1;
        let damaged = sizes(&file, 1_000);
        assert!(matches!(damaged[..], [Some(50..100), None]), "{options}: {damaged:?}");
    }
}

#[test]
fn long_bytes_that_could_be_a_message_are_put_together() {
    let set = FileDescriptorSet {
        file: vec![FileDescriptorProto {
            message_type: vec![DescriptorProto {
                name: Some("M".to_owned()),
                field: vec![field("bytes", 1, Label::Optional, Type::Bytes, None)],
                ..Default::default()
            }],
            ..Default::default()
        }],
    };
    let schema = MessageSchema::new(&set, "M").expect("a schema");
    let mut values = Vec::new();
    let mut records = Vec::new();
    for number in 0..50_u64 {
        // Two texts and a number, far longer than the states and transitions of the chunk.
        let mut value = Vec::new();
        for text in [1, 2] {
            tag(text, 2, &mut value);
            varint(3_000 + number, &mut value);
            value.extend(std::iter::repeat_n(b'a' + number as u8 % 26, 3_000 + number as usize));
        }
        tag(3, 0, &mut value);
        varint(number, &mut value);
        let mut record = Vec::new();
        tag(1, 2, &mut record);
        varint(value.len() as u64, &mut record);
        record.extend(&value);
        values.push(format!("({value:?})"));
        records.push(record);
    }
    for options in [
        "transpose,uncompressed",
        "transpose,zstd,bucket_fraction:0.0",
        "uncompressed",
    ] {
        let batches = read(&write(&records, options), &schema).expect("rows");
        assert!(rows(&batches) == values, "{options}");
    }
}
