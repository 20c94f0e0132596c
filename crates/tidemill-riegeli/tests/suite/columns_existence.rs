//! Columns that only say whether a field is there, and fields whose existence tells what others are.

use arrow_array::{Array, BooleanArray, RecordBatch, cast::AsArray, types::Int32Type};
use arrow_schema::DataType;
use prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet, OneofDescriptorProto,
    field_descriptor_proto::{Label, Type},
};
use tidemill_riegeli::{
    FieldProjection, MessageSchema, RecordReader, RecordWriter, WriterOptions, columns::ColumnReader,
};

fn field(name: &str, number: i32, label: Label, field_type: Type) -> FieldDescriptorProto {
    FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        label: Some(label.into()),
        r#type: Some(field_type.into()),
        type_name: match field_type {
            Type::Message => Some(".N".to_owned()),
            Type::Group => Some(".G".to_owned()),
            _ => None,
        },
        ..Default::default()
    }
}

fn schema(syntax: &str) -> MessageSchema {
    use Label::{Optional, Repeated};
    let message = |name: &str, field: Vec<FieldDescriptorProto>| DescriptorProto {
        name: Some(name.to_owned()),
        field,
        oneof_decl: vec![OneofDescriptorProto {
            name: Some("choice".to_owned()),
            ..Default::default()
        }],
        ..Default::default()
    };
    let in_oneof = |field| FieldDescriptorProto {
        oneof_index: Some(0),
        ..field
    };
    let fields = vec![
        field("number", 1, Optional, Type::Int64),
        field("text", 2, Optional, Type::String),
        field("four", 3, Optional, Type::Float),
        field("eight", 4, Optional, Type::Fixed64),
        field("message", 5, Optional, Type::Message),
        field("group", 6, Optional, Type::Group),
        field("numbers", 7, Repeated, Type::Uint32),
        field("messages", 8, Repeated, Type::Message),
        in_oneof(field("one", 9, Optional, Type::Int32)),
        in_oneof(field("other", 10, Optional, Type::String)),
        // Contains itself, so that it never has a column.
        in_oneof(FieldDescriptorProto {
            type_name: Some(".M".to_owned()),
            ..field("itself", 11, Optional, Type::Message)
        }),
    ];
    let set = FileDescriptorSet {
        file: vec![FileDescriptorProto {
            syntax: Some(syntax.to_owned()),
            message_type: vec![
                message("M", fields),
                message("N", vec![field("inner", 1, Optional, Type::String)]),
                message("G", vec![field("inner", 1, Optional, Type::String)]),
            ],
            ..Default::default()
        }],
    };
    MessageSchema::new(&set, "M").expect("a schema")
}

fn batches(records: &[&[u8]], options: &str, schema: &MessageSchema) -> Vec<RecordBatch> {
    let options: WriterOptions = options.parse().expect(options);
    let mut writer = RecordWriter::new(Vec::new(), options).expect("memory");
    records
        .iter()
        .for_each(|record| writer.write_record(record).expect("memory"));
    let reader = RecordReader::from_bytes(writer.close().expect("memory")).expect("memory");
    ColumnReader::new(reader, schema)
        .collect::<Result<_, _>>()
        .expect("rows")
}

/// Records, each with the numbers of the fields that are there.
const RECORDS: [(&[u8], &[u32]); 17] = [
    (b"", &[]),
    (b"\x08\x00", &[1]),
    (b"\x08\x96\x01\x08\x01", &[1]),
    (b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", &[1]),
    (b"\x12\x00", &[2]),
    (b"\x12\x03abc\x1d\x00\x00\x00\x00", &[2, 3]),
    (b"\x21\x00\x00\x00\x00\x00\x00\x00\x00", &[4]),
    (b"\x2a\x00", &[5]),
    // A message, and bytes for one that are none: only its place is looked at.
    (b"\x2a\x03\x0a\x01x\x33\x0a\x01y\x34", &[5, 6]),
    (b"\x2a\x02\xff\xff", &[5]),
    // Packed, one by one, and a list without values.
    (b"\x3a\x02\x01\x02", &[7]),
    (b"\x38\x01\x38\x02", &[7]),
    (b"\x3a\x00", &[7]),
    (b"\x42\x00\x42\x03\x0a\x01z", &[8]),
    // The last member of a oneof counts.
    (b"\x48\x00\x52\x01a", &[10]),
    (b"\x52\x01a\x48\x05", &[9]),
    // Another wire type than the field's, and a field that is not known.
    (b"\x0a\x01a\x10\x05\xa0\x06\x01", &[]),
];

#[test]
fn existence_is_a_boolean_and_no_value_is_told() {
    let records = RECORDS.map(|(record, _)| record);
    for syntax in ["proto2", "proto3"] {
        let all = schema(syntax);
        let fields: FieldProjection = "1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0,9.0,10.0".parse().expect("fields");
        let schema = all.project(&fields);
        assert_eq!(schema.arrow_schema().fields().len(), 10);
        for (field, whole) in schema.fields().iter().zip(all.fields()) {
            assert!(field.existence_only && field.number == whole.number);
            assert_eq!(*field.arrow_field.data_type(), DataType::Boolean);
            assert!(!field.arrow_field.is_nullable());
        }
        for options in [
            "uncompressed",
            "zstd",
            "transpose,uncompressed",
            "transpose,zstd,bucket_fraction:0",
        ] {
            let batches = batches(&records, options, &schema);
            let [batch] = &batches[..] else { panic!("{options}") };
            let columns: Vec<&BooleanArray> = batch.columns().iter().map(|column| column.as_boolean()).collect();
            for (row, (record, expected)) in RECORDS.iter().enumerate() {
                let found: Vec<u32> = schema
                    .fields()
                    .iter()
                    .zip(&columns)
                    .filter(|(_, column)| column.value(row))
                    .map(|(field, _)| field.number)
                    .collect();
                assert_eq!(found, *expected, "{syntax} {options} {record:02x?}");
            }
        }
    }
}

#[test]
fn existence_below_a_message_goes_with_values_beside_it() {
    let records: [&[u8]; 3] = [b"\x08\x07\x2a\x03\x0a\x01x", b"\x2a\x00", b"\x42\x03\x0a\x01x\x42\x00"];
    let fields: FieldProjection = "1,5.1.0,5.0,8.1.0".parse().expect("fields");
    let schema = schema("proto2").project(&fields);
    for options in ["uncompressed", "transpose,zstd"] {
        let batches = batches(&records, options, &schema);
        let [batch] = &batches[..] else { panic!("{options}") };
        let message = batch.column(1).as_struct();
        assert_eq!(message.nulls().expect("nulls").null_count(), 1);
        let inner = message.column(0).as_boolean();
        assert_eq!([inner.value(0), inner.value(1)], [true, false], "{options}");
        let messages = batch.column(2).as_list::<i32>().value(2);
        let inner = messages.as_struct().column(0).as_boolean();
        assert_eq!([inner.value(0), inner.value(1)], [true, false], "{options}");
    }
}

#[test]
fn members_of_a_oneof_without_a_column_take_the_place_of_others() {
    let schema = schema("proto3");
    assert_eq!(schema.left_out(), ["itself"]);
    // Each with what `one` and `other` are.
    let records: [(&[u8], Option<i32>, Option<&str>); 7] = [
        (b"\x48\x05\x08\x07", Some(5), None),
        (b"\x48\x05\x52\x01a\x08\x07", None, Some("a")),
        (b"\x48\x05\x5a\x02\x48\x01\x08\x07", None, None),
        (b"\x5a\x02\x48\x01\x48\x05", Some(5), None),
        (b"\x52\x01a\x5a\x00", None, None),
        (b"\x48\x05\x52\x01a\x48\x06", Some(6), None),
        // Of another wire type than the descriptor says, and so unknown.
        (b"\x48\x05\x50\x01", Some(5), None),
    ];
    let bytes = records.map(|(record, ..)| record);
    for options in [
        "uncompressed",
        "transpose,uncompressed",
        "transpose,zstd,bucket_fraction:0",
    ] {
        let alone = |field: &str| {
            let fields: FieldProjection = field.parse().expect("a field");
            batches(&bytes, options, &schema.project(&fields)).remove(0)
        };
        let (one, other, there) = (alone("9"), alone("10"), alone("9.0"));
        let one: Vec<Option<i32>> = one.column(0).as_primitive::<Int32Type>().iter().collect();
        assert_eq!(one, records.map(|(_, one, _)| one), "{options}");
        let other: Vec<Option<&str>> = other.column(0).as_string::<i32>().iter().collect();
        assert_eq!(other, records.map(|(.., other)| other), "{options}");
        let there: Vec<Option<bool>> = there.column(0).as_boolean().iter().collect();
        assert_eq!(there, records.map(|(_, one, _)| Some(one.is_some())), "{options}");
    }
}
