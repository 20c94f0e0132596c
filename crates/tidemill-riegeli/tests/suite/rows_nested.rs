//! Columns of structs, lists and maps: what goes in comes out, and any protobuf tool reads the same.

use std::{path::Path, sync::Arc};

use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, FixedSizeBinaryArray, FixedSizeListArray,
    Float64Array, Int8Array, Int64Array, LargeListArray, ListArray, MapArray, RecordBatch, StringArray, StructArray,
    UInt32Array, cast::AsArray, types::Int8Type,
};
use arrow_buffer::{BooleanBuffer, NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use proptest::prelude::*;
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor, ReflectMessage, Value};
use tidemill_riegeli::{
    BytesSource, Error, ReaderOptions, RecordReader, WriterOptions,
    rows::{RowDecoder, RowFile, RowScan, RowWriter},
};

fn scalar() -> impl Strategy<Value = DataType> {
    prop_oneof![
        Just(DataType::Boolean),
        Just(DataType::Int8),
        Just(DataType::Int64),
        Just(DataType::UInt32),
        Just(DataType::Float64),
        Just(DataType::Utf8),
        Just(DataType::FixedSizeBinary(3)),
        Just(DataType::Decimal128(30, 2)),
        Just(dictionary()),
    ]
}

fn dictionary() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8))
}

fn data_type() -> impl Strategy<Value = DataType> {
    scalar().prop_recursive(4, 16, 4, |inner| {
        let item = (inner.clone(), any::<bool>())
            .prop_map(|(data_type, nullable)| Arc::new(Field::new("item", data_type, nullable)));
        let fields = prop::collection::vec((inner, any::<bool>()), 0..4).prop_map(|children| {
            let fields = children.into_iter().enumerate();
            fields
                .map(|(index, (data_type, nullable))| Field::new(format!("f {index}"), data_type, nullable))
                .collect::<Fields>()
        });
        prop_oneof![
            fields.prop_map(DataType::Struct),
            (item.clone(), 0..4).prop_map(|(item, kind)| match kind {
                0 => DataType::LargeList(item),
                1 => DataType::FixedSizeList(item, 2),
                2 => {
                    let key = Field::new("keys", DataType::Utf8, false);
                    let value = Field::new("values", item.data_type().clone(), item.is_nullable());
                    let entries = DataType::Struct(vec![key, value].into());
                    DataType::Map(Arc::new(Field::new("entries", entries, false)), false)
                }
                _ => DataType::List(item),
            }),
        ]
    })
}

/// A generator that is repeatable.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 20
    }

    fn nulls(&mut self, rows: usize, nullable: bool) -> Option<NullBuffer> {
        let valid = BooleanBuffer::collect_bool(rows, |_| !self.next().is_multiple_of(4));
        nullable.then(|| NullBuffer::new(valid))
    }
}

/// A column to write, and the one that comes back: the same, but with the values of dictionaries in their place.
fn column(field: &Field, rows: usize, random: &mut Random) -> (ArrayRef, ArrayRef) {
    let nullable = field.is_nullable();
    let numbers = |random: &mut Random| -> Vec<Option<u64>> {
        let nulls = random.nulls(rows, nullable);
        (0..rows)
            .map(|row| {
                let number = random.next() >> (random.next() % 40);
                nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)).then_some(number)
            })
            .collect()
    };
    let same = |array: ArrayRef| (array.clone(), array);
    let text = |number: u64| format!("{}ü", number % 1_000);
    match field.data_type() {
        DataType::Boolean => same(Arc::new(
            numbers(random)
                .into_iter()
                .map(|n| n.map(|n| n % 2 == 0))
                .collect::<BooleanArray>(),
        )),
        DataType::Int8 => same(Arc::new(
            numbers(random)
                .into_iter()
                .map(|n| n.map(|n| n as i8))
                .collect::<Int8Array>(),
        )),
        DataType::Int64 => same(Arc::new(
            numbers(random)
                .into_iter()
                .map(|n| n.map(|n| 1_000 - n as i64))
                .collect::<Int64Array>(),
        )),
        DataType::UInt32 => same(Arc::new(
            numbers(random)
                .into_iter()
                .map(|n| n.map(|n| n as u32))
                .collect::<UInt32Array>(),
        )),
        DataType::Float64 => same(Arc::new(
            numbers(random)
                .into_iter()
                .map(|n| n.map(|n| n as f64 / 8.0))
                .collect::<Float64Array>(),
        )),
        DataType::Utf8 => same(Arc::new(
            numbers(random)
                .into_iter()
                .map(|n| n.map(text))
                .collect::<StringArray>(),
        )),
        DataType::FixedSizeBinary(size) => {
            let values = numbers(random)
                .into_iter()
                .map(|n| n.map(|n| n.to_le_bytes()[..3].to_vec()));
            let array = FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, *size);
            same(Arc::new(array.expect("values of one size")))
        }
        DataType::Decimal128(precision, scale) => {
            let values = numbers(random).into_iter().map(|n| n.map(|n| 5_000 - i128::from(n)));
            let array = values
                .collect::<Decimal128Array>()
                .with_precision_and_scale(*precision, *scale);
            same(Arc::new(array.expect("a decimal")))
        }
        DataType::Dictionary(_, _) => {
            // A null may be a key that is null or one of a value that is.
            let values = [Some("alpha"), Some(""), Some("ω"), None];
            let values = &values[..if nullable { 4 } else { 3 }];
            let keys: Vec<Option<i8>> = numbers(random)
                .into_iter()
                .map(|n| n.map(|n| (n % values.len() as u64) as i8))
                .collect();
            let plain: StringArray = keys
                .iter()
                .map(|key| key.and_then(|key| values[key as usize]))
                .collect();
            let values = Arc::new(StringArray::from_iter(values.iter().copied()));
            let array = DictionaryArray::<Int8Type>::try_new(Int8Array::from(keys), values);
            (Arc::new(array.expect("keys of values")), Arc::new(plain))
        }
        DataType::Struct(fields) => {
            let nulls = random.nulls(rows, nullable);
            let children = fields.iter().map(|field| column(field, rows, random));
            let (written, read): (Vec<_>, Vec<_>) = children.unzip();
            let array = |fields: &Fields, children: Vec<ArrayRef>| -> ArrayRef {
                let array = StructArray::try_new_with_length(fields.clone(), children, nulls.clone(), rows);
                Arc::new(array.expect("a struct"))
            };
            let DataType::Struct(plain) = plain(field.data_type()) else {
                unreachable!()
            };
            (array(fields, written), array(&plain, read))
        }
        DataType::FixedSizeList(item, size) => {
            let nulls = random.nulls(rows, nullable);
            let (written, read) = column(item, rows * 2, random);
            let array = |item: &Arc<Field>, items: ArrayRef| -> ArrayRef {
                let array = FixedSizeListArray::try_new(item.clone(), *size, items, nulls.clone());
                Arc::new(array.expect("a list"))
            };
            (array(item, written), array(&plain_field(item), read))
        }
        list => {
            let (DataType::List(item) | DataType::LargeList(item) | DataType::Map(item, _)) = list else {
                unreachable!("{list}")
            };
            let nulls = random.nulls(rows, nullable);
            let lengths: Vec<usize> = (0..rows).map(|_| (random.next() % 4) as usize).collect();
            let (written, read) = column(item, lengths.iter().sum(), random);
            let array = |item: Arc<Field>, items: ArrayRef| -> ArrayRef {
                let (lengths, nulls) = (lengths.iter().copied(), nulls.clone());
                match list {
                    DataType::List(_) => {
                        let offsets = OffsetBuffer::<i32>::from_lengths(lengths);
                        Arc::new(ListArray::try_new(item, offsets, items, nulls).expect("a list"))
                    }
                    DataType::LargeList(_) => {
                        let offsets = OffsetBuffer::<i64>::from_lengths(lengths);
                        Arc::new(LargeListArray::try_new(item, offsets, items, nulls).expect("a list"))
                    }
                    _ => {
                        let offsets = OffsetBuffer::<i32>::from_lengths(lengths);
                        let entries = items.as_struct().clone();
                        Arc::new(MapArray::try_new(item, offsets, entries, nulls, false).expect("a map"))
                    }
                }
            };
            (array(item.clone(), written), array(plain_field(item), read))
        }
    }
}

/// The type that comes back.
fn plain(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Dictionary(_, values) => values.as_ref().clone(),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(plain_field).collect()),
        DataType::List(item) => DataType::List(plain_field(item)),
        DataType::LargeList(item) => DataType::LargeList(plain_field(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(plain_field(item), *size),
        DataType::Map(entries, ordered) => DataType::Map(plain_field(entries), *ordered),
        other => other.clone(),
    }
}

fn plain_field(field: &Arc<Field>) -> Arc<Field> {
    Arc::new(Field::clone(field).with_data_type(plain(field.data_type())))
}

/// A batch to write and the one that comes back.
fn batches(columns: &[(DataType, bool)], rows: usize, seed: u64) -> (RecordBatch, RecordBatch) {
    let mut random = Random(seed);
    let fields: Fields = columns
        .iter()
        .enumerate()
        .map(|(index, (data_type, nullable))| Field::new(format!("c {index}"), data_type.clone(), *nullable))
        .collect();
    let arrays = fields.iter().map(|field| column(field, rows, &mut random));
    let (written, read): (Vec<_>, Vec<_>) = arrays.unzip();
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(rows));
    let batch = |fields: Fields, arrays| {
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options).expect("a batch")
    };
    let plain = fields.iter().map(plain_field).collect();
    (batch(fields, written), batch(plain, read))
}

fn write(batch: &RecordBatch, options: WriterOptions) -> Vec<u8> {
    let mut writer = RowWriter::new(Vec::new(), batch.schema(), options).expect("a writer");
    // Slices, whose arrays do not begin at the beginning of their buffers.
    let middle = batch.num_rows() / 3;
    writer.write(&batch.slice(0, middle)).expect("writes");
    writer
        .write(&batch.slice(middle, batch.num_rows() - middle))
        .expect("writes");
    writer.into_dest().expect("memory")
}

fn open(file: &[u8]) -> Arc<RowFile> {
    let source = Arc::new(BytesSource(file.to_vec()));
    Arc::new(RowFile::from_source(source, "memory", &ReaderOptions::new()).expect("opens"))
}

/// The message type of the rows, and the records.
fn messages(file: &[u8]) -> (MessageDescriptor, Vec<Vec<u8>>) {
    let mut reader = RecordReader::new(BytesSource(file), &ReaderOptions::new()).expect("opens");
    let metadata = reader.records_metadata().expect("metadata");
    let mut pool = DescriptorPool::new();
    let files = metadata.file_descriptor.iter().map(|file| {
        prost_reflect::prost_types::FileDescriptorProto::decode(&file.encode_to_vec()[..]).expect("a descriptor")
    });
    pool.add_file_descriptor_protos(files).expect("a sound descriptor");
    let name = metadata.record_type_name.expect("a type");
    let message = pool.get_message_by_name(&name).expect("the type of the records");
    let mut records = Vec::new();
    while let Some(record) = reader.read_record().expect("sound") {
        records.push(record.to_vec());
    }
    (message, records)
}

/// Checks that the fields of a message are the row of the columns.
fn check_message(message: &DynamicMessage, fields: &Fields, columns: &[ArrayRef], row: usize) {
    assert_eq!(message.unknown_fields().count(), 0);
    for (number, (field, column)) in (1..).zip(fields.iter().zip(columns)) {
        let descriptor = message.descriptor().get_field(number).expect("a field");
        if column.is_null(row) {
            assert!(!message.has_field(&descriptor));
            continue;
        }
        // A list that is not wrapped is there or not, by whether it is empty.
        assert!(
            message.has_field(&descriptor) || descriptor.is_list(),
            "{}",
            field.name()
        );
        check_value(&message.get_field(&descriptor), field, column, row, false);
    }
}

fn check_value(value: &Value, field: &Field, column: &ArrayRef, row: usize, is_item: bool) {
    let is = |expected: Value| assert_eq!(*value, expected, "{field}");
    let items = match field.data_type() {
        DataType::Boolean => return is(Value::Bool(column.as_boolean().value(row))),
        DataType::Int8 => return is(Value::I32(column.as_primitive::<Int8Type>().value(row).into())),
        DataType::Int64 => {
            let column = column.as_primitive::<arrow_array::types::Int64Type>();
            return is(Value::I64(column.value(row)));
        }
        DataType::UInt32 => {
            let column = column.as_primitive::<arrow_array::types::UInt32Type>();
            return is(Value::U32(column.value(row)));
        }
        DataType::Float64 => {
            let column = column.as_primitive::<arrow_array::types::Float64Type>();
            return is(Value::F64(column.value(row)));
        }
        DataType::Utf8 => return is(Value::String(column.as_string::<i32>().value(row).to_owned())),
        DataType::FixedSizeBinary(_) => {
            let bytes = column.as_fixed_size_binary().value(row).to_vec();
            return is(Value::Bytes(bytes.into()));
        }
        DataType::Decimal128(_, _) => {
            let column = column.as_primitive::<arrow_array::types::Decimal128Type>();
            return is(Value::Bytes(column.value(row).to_be_bytes().to_vec().into()));
        }
        DataType::Struct(fields) => {
            let message = value.as_message().expect("a message");
            return check_message(message, fields, column.as_struct().columns(), row);
        }
        DataType::List(_) => column.as_list::<i32>().value(row),
        DataType::LargeList(_) => column.as_list::<i64>().value(row),
        DataType::FixedSizeList(_, _) => column.as_fixed_size_list().value(row),
        DataType::Map(_, _) => Arc::new(column.as_map().value(row)),
        other => unreachable!("{other}"),
    };
    let (DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) | DataType::Map(item, _)) =
        field.data_type()
    else {
        unreachable!()
    };
    let wrapped = field.is_nullable() || item.is_nullable() || is_item;
    let (found, nulls) = match wrapped {
        false => (value.clone(), Vec::new()),
        true => {
            let message = value.as_message().expect("a message");
            let found = message.get_field_by_name("items").expect("a field").into_owned();
            let nulls = message.get_field_by_name("nulls").map_or(Vec::new(), |nulls| {
                let nulls = nulls.as_list().expect("a list").iter();
                nulls.map(|null| null.as_u32().expect("a position") as usize).collect()
            });
            (found, nulls)
        }
    };
    let found = found.as_list().expect("a list");
    assert_eq!(found.len(), items.len());
    let expected: Vec<usize> = (0..items.len()).filter(|&index| items.is_null(index)).collect();
    assert_eq!(nulls, expected);
    for (index, value) in found.iter().enumerate().filter(|(index, _)| items.is_valid(*index)) {
        check_value(value, item, &items, index, true);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn nested_rows_come_back_and_protobuf_tools_read_the_same(
        columns in prop::collection::vec((data_type(), any::<bool>()), 1..4),
        rows in 0_usize..40,
        seed in any::<u64>(),
        transpose in any::<bool>(),
    ) {
        let (written, expected) = batches(&columns, rows, seed);
        let options = WriterOptions::new().transpose(transpose).chunk_size(1_000);
        let file = write(&written, options);
        let rows_file = open(&file);
        prop_assert_eq!(rows_file.schema(), expected.schema());

        // All columns, and then the last one alone.
        for projection in [None, Some(vec![columns.len() - 1])] {
            let mut at = 0;
            let wanted = projection.clone().unwrap_or_else(|| (0..columns.len()).collect());
            let scan = RowScan { projection, batch_rows: 17, ..RowScan::default() };
            for found in rows_file.scan(scan).expect("scans") {
                let found = found.expect("a batch");
                let slice = expected.slice(at, found.num_rows()).project(&wanted).expect("columns");
                prop_assert_eq!(&found, &slice);
                at += found.num_rows();
            }
            prop_assert_eq!(at, rows);
        }

        let (message_type, records) = messages(&file);
        let all: Vec<usize> = (0..columns.len()).collect();
        let mut decoder = RowDecoder::new(&expected.schema(), &all).expect("a decoder");
        for (row, record) in records.iter().enumerate() {
            let message = DynamicMessage::decode(message_type.clone(), &record[..]).expect("a message");
            check_message(&message, expected.schema().fields(), expected.columns(), row);
            // What the tool writes is a row too.
            decoder.push(&message.encode_to_vec()).expect("a row");
        }
        prop_assert_eq!(decoder.finish().expect("a batch"), expected);
    }

    #[test]
    fn damaged_rows_are_rows_or_errors(
        columns in prop::collection::vec((data_type(), any::<bool>()), 1..4),
        seed in any::<u64>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let (written, expected) = batches(&columns, 3, seed);
        let (_, records) = messages(&write(&written, WriterOptions::new()));
        let all: Vec<usize> = (0..columns.len()).collect();
        let mut decoder = RowDecoder::new(&expected.schema(), &all).expect("a decoder");
        for record in &records {
            let mut taken = 0;
            for cut in 0..record.len() {
                taken += usize::from(decoder.push(&record[..cut]).is_ok());
            }
            for (index, byte) in changes.iter().filter(|_| !record.is_empty()) {
                let mut changed = record.clone();
                changed[index.index(record.len())] = *byte;
                taken += usize::from(decoder.push(&changed).is_ok());
            }
            // A row that fails leaves nothing behind: the next one is whole.
            decoder.push(record).expect("the row itself");
            let found = decoder.finish().expect("a batch");
            prop_assert_eq!(found.num_rows(), taken + 1);
        }
    }
}

fn list_schema(item: DataType, items_nullable: bool, nullable: bool) -> SchemaRef {
    let list = DataType::List(Arc::new(Field::new("item", item, items_nullable)));
    Arc::new(Schema::new(vec![Field::new("tags", list, nullable)]))
}

#[test]
fn lists_tell_null_from_empty_and_know_their_nulls() {
    let lists = [None, Some(vec![]), Some(vec![Some(1), None, Some(-2)])];
    let array = ListArray::from_iter_primitive::<Int8Type, _, _>(lists);
    let schema = list_schema(DataType::Int8, true, true);
    let batch = RecordBatch::try_new(schema, vec![Arc::new(array)]).expect("a batch");
    let (_, records) = messages(&write(&batch, WriterOptions::new()));
    assert_eq!(
        records,
        [
            &b""[..],
            b"\x0a\x00",
            // items [1, 0, -2] packed, nulls [1]
            b"\x0a\x08\x0a\x03\x02\x00\x03\x12\x01\x01",
        ]
    );
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats/riegeli-rows.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let dump = page
        .split("```hexdump\n")
        .nth(1)
        .and_then(|rest| rest.split("\n```").next());
    let dumped: Vec<Vec<u8>> = dump
        .expect("a hexdump")
        .lines()
        .map(|line| {
            line.split_whitespace()
                .map(|byte| u8::from_str_radix(byte, 16).expect("two digits"))
                .collect()
        })
        .collect();
    assert_eq!(records, dumped, "the examples of the format page");
    // Without nulls it is a plain repeated field, and an empty list is no field.
    let lists = [Some(vec![]), Some(vec![Some(1), Some(-2)])];
    let array = ListArray::from_iter_primitive::<Int8Type, _, _>(lists);
    let (_, offsets, items, _) = array.into_parts();
    let schema = list_schema(DataType::Int8, false, false);
    let DataType::List(item) = schema.field(0).data_type() else {
        unreachable!()
    };
    let array = ListArray::try_new(item.clone(), offsets, items, None).expect("a list");
    let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(array)]).expect("a batch");
    let (_, records) = messages(&write(&batch, WriterOptions::new()));
    assert_eq!(records, [&b""[..], b"\x0a\x02\x02\x03"]);
    // Readers take values that are not packed, and both forms mixed.
    let mut decoder = RowDecoder::new(&schema, &[0]).expect("a decoder");
    decoder.push(b"\x08\x02\x0a\x02\x03\x04\x08\x05").expect("a row");
    let found = decoder.finish().expect("a batch");
    let found = found.column(0).as_list::<i32>().value(0);
    assert_eq!(found.as_primitive::<Int8Type>().values(), &[1, -2, 2, -3][..]);
}

#[test]
fn rows_that_are_not_lists_say_why() {
    let check = |schema: &SchemaRef, record: &[u8], expected: &str| {
        let mut decoder = RowDecoder::new(schema, &[0]).expect("a decoder");
        let (column, problem) = decoder.push(record).expect_err("an error");
        assert_eq!(format!("{column:?} {problem}"), expected, "{record:?}");
        decoder.push(b"\x0a\x00").expect("an empty list");
        assert_eq!(decoder.finish().expect("a batch").num_rows(), 1);
    };
    let wrapped = list_schema(DataType::Int8, true, true);
    check(&wrapped, b"\x08\x01", "Some(0) field 1 has wire type 0, expected 2");
    check(
        &wrapped,
        b"\x0a\x02\x0d\x00",
        "Some(0) the message ends inside the field at byte 2",
    );
    check(
        &wrapped,
        b"\x0a\x05\x0d\x00\x00\x00\x00",
        "Some(0) field 1 has wire type 5, expected 0",
    );
    check(
        &wrapped,
        b"\x0a\x03\x0a\x01\x80",
        "Some(0) the message ends inside the field at byte 4",
    );
    check(
        &wrapped,
        b"\x0a\x03\x08\x80\x02",
        "Some(0) the value does not fit the type of the column",
    );
    // A null where there is no item, nulls out of order.
    check(
        &wrapped,
        b"\x0a\x05\x08\x02\x12\x01\x01",
        "Some(0) the value does not fit the type of the column",
    );
    check(
        &wrapped,
        b"\x0a\x08\x0a\x02\x02\x02\x12\x02\x01\x00",
        "Some(0) the value does not fit the type of the column",
    );
    let schema = Arc::new(Schema::new(vec![Field::new(
        "pair",
        DataType::FixedSizeList(Arc::new(Field::new("item", DataType::Int8, false)), 2),
        true,
    )]));
    let mut decoder = RowDecoder::new(&schema, &[0]).expect("a decoder");
    let (_, problem) = decoder.push(b"\x0a\x03\x0a\x01\x02").expect_err("one item of two");
    assert_eq!(problem.to_string(), "the value does not fit the type of the column");
}

#[test]
fn nulls_of_long_lists_do_not_take_all_memory() {
    let mut data_type = DataType::Int8;
    for _ in 0..3 {
        data_type = DataType::FixedSizeList(Arc::new(Field::new("item", data_type, true)), i32::MAX);
    }
    let schema: SchemaRef = Arc::new(Schema::new(vec![Field::new("deep", data_type, true)]));
    let mut decoder = RowDecoder::new(&schema, &[0]).expect("a decoder");
    assert!(decoder.push(&[]).is_err());
    assert_eq!(decoder.finish().expect("a batch").num_rows(), 0);
}

#[test]
fn columns_nested_without_end_are_refused() {
    let mut data_type = DataType::Int8;
    for _ in 0..60 {
        data_type = DataType::List(Arc::new(Field::new("item", data_type, true)));
    }
    let schema = Arc::new(Schema::new(vec![Field::new("deep", data_type, true)]));
    let error = RowWriter::new(Vec::new(), schema, WriterOptions::new())
        .err()
        .expect("an error");
    assert!(
        matches!(&error, Error::ColumnType { column, .. } if column == "deep"),
        "{error}"
    );
}
