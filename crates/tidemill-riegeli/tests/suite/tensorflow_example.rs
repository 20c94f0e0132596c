//! `tensorflow.Example` records as columns, against prost-reflect by the built-in descriptors.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{Arc, LazyLock},
};

use arrow_array::{Array, ArrayRef, RecordBatch, cast::AsArray, types};
use arrow_schema::{DataType, Field};
use proptest::prelude::*;
use prost_reflect::{DescriptorPool, DynamicMessage, MapKey, ReflectMessage, Value, prost::Message};
use serde_json::Value as Json;
use tidemill_riegeli::{
    Error, MessageSchema,
    tensorflow_example::{
        ExampleDecoder, ExampleKind, ExampleProblem, ExampleSampler, ExampleSchema, MAX_FEATURES, descriptors,
    },
};

/// The values of a feature.
#[derive(Clone, Debug, PartialEq)]
enum Values {
    Unset,
    Bytes(Vec<Vec<u8>>),
    Float(Vec<f32>),
    Int64(Vec<i64>),
}

type Features = BTreeMap<String, Values>;
type FeatureLists = BTreeMap<String, Vec<Values>>;

static POOL: LazyLock<DescriptorPool> =
    LazyLock::new(|| DescriptorPool::from_file_descriptor_set(descriptors()).expect("descriptors that hold together"));

fn message(name: &str) -> DynamicMessage {
    DynamicMessage::new(POOL.get_message_by_name(&format!("tensorflow.{name}")).expect(name))
}

fn feature(values: &Values) -> Value {
    let mut feature = message("Feature");
    let (field, list, values) = match values {
        Values::Unset => return Value::Message(feature),
        Values::Bytes(values) => (
            "bytes_list",
            "BytesList",
            values.iter().map(|value| Value::Bytes(value.clone().into())).collect(),
        ),
        Values::Float(values) => (
            "float_list",
            "FloatList",
            values.iter().map(|&value| Value::F32(value)).collect(),
        ),
        Values::Int64(values) => (
            "int64_list",
            "Int64List",
            values.iter().map(|&value| Value::I64(value)).collect(),
        ),
    };
    let mut list = message(list);
    list.set_field_by_name("value", Value::List(values));
    feature.set_field_by_name(field, Value::Message(list));
    Value::Message(feature)
}

fn features(of: &Features) -> Value {
    let mut features = message("Features");
    let map = of
        .iter()
        .map(|(name, values)| (MapKey::String(name.clone()), feature(values)));
    features.set_field_by_name("feature", Value::Map(map.collect()));
    Value::Message(features)
}

fn example(of: &Features) -> Vec<u8> {
    let mut example = message("Example");
    example.set_field_by_name("features", features(of));
    example.encode_to_vec()
}

fn sequence_example(context: &Features, lists: &FeatureLists) -> Vec<u8> {
    let mut example = message("SequenceExample");
    let mut feature_lists = message("FeatureLists");
    let map = lists.iter().map(|(name, steps)| {
        let mut list = message("FeatureList");
        list.set_field_by_name("feature", Value::List(steps.iter().map(feature).collect()));
        (MapKey::String(name.clone()), Value::Message(list))
    });
    feature_lists.set_field_by_name("feature_list", Value::Map(map.collect()));
    example.set_field_by_name("context", features(context));
    example.set_field_by_name("feature_lists", Value::Message(feature_lists));
    example.encode_to_vec()
}

fn of(features: &[(&str, Values)]) -> Features {
    features
        .iter()
        .map(|(name, values)| ((*name).to_owned(), values.clone()))
        .collect()
}

fn ints(values: &[i64]) -> Values {
    Values::Int64(values.to_vec())
}

/// The values of an array that is not a list.
fn flat(array: &dyn Array) -> Values {
    assert_eq!(array.null_count(), 0);
    match array.data_type() {
        DataType::Binary => Values::Bytes(array.as_binary::<i32>().iter().flatten().map(<[u8]>::to_vec).collect()),
        DataType::Float32 => Values::Float(array.as_primitive::<types::Float32Type>().values().to_vec()),
        DataType::Int64 => Values::Int64(array.as_primitive::<types::Int64Type>().values().to_vec()),
        other => panic!("{other}"),
    }
}

/// The values of a row: `None` for a null.
fn row(array: &ArrayRef, row: usize) -> Option<Values> {
    if array.is_null(row) {
        return None;
    }
    Some(match array.data_type() {
        DataType::List(_) => flat(&array.as_list::<i32>().value(row)),
        _ => flat(&array.slice(row, 1)),
    })
}

fn decoded(schema: &ExampleSchema, records: &[Vec<u8>]) -> Result<RecordBatch, Error> {
    let mut decoder = ExampleDecoder::new(schema);
    for (number, record) in records.iter().enumerate() {
        decoder.append(record, format_args!("record {number}"))?;
    }
    assert_eq!(decoder.len(), records.len());
    let batch = decoder.finish()?;
    assert!(decoder.is_empty() && decoder.finish().expect("no rows").num_rows() == 0);
    Ok(batch)
}

/// The values of an array as the golden files have them: bytes in hexadecimal.
fn json(array: &dyn Array) -> Json {
    match array.data_type() {
        DataType::List(_) => array
            .as_list::<i32>()
            .iter()
            .map(|list| list.map(|list| json(&list)))
            .collect(),
        _ => match flat(array) {
            Values::Bytes(values) => values
                .iter()
                .map(|value| value.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
                .collect(),
            Values::Float(values) => values.iter().map(|&value| f64::from(value)).collect(),
            Values::Int64(values) => values.into_iter().collect(),
            Values::Unset => Json::Null,
        },
    }
}

#[test]
fn records_that_protobuf_wrote_have_their_values() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/riegeli/examples");
    for (name, kind, columns) in [
        (
            "example",
            ExampleKind::Example,
            "boxes image/encoded image/label score tags",
        ),
        (
            "sequence_example",
            ExampleKind::SequenceExample,
            "name user clicks words",
        ),
    ] {
        let bytes = fs::read(folder.join(name).with_extension("recs")).expect("the records");
        let (mut records, mut left) = (Vec::new(), &bytes[..]);
        while let Some((length, behind)) = left.split_first_chunk() {
            let (record, behind) = behind.split_at(u32::from_le_bytes(*length) as usize);
            records.push(record.to_vec());
            left = behind;
        }
        let expected = fs::read_to_string(folder.join(name).with_extension("json")).expect("the values");
        let expected: Vec<Json> = serde_json::from_str(&expected).expect("JSON");
        assert_eq!((records.len(), expected.len()), (40, 40));
        let schema = ExampleSchema::from_records(kind, &records).expect("examples");
        let batch = decoded(&schema, &records).expect("fits");
        let names: Vec<&str> = columns.split(' ').collect();
        let found = batch.schema();
        assert_eq!(
            found.fields().iter().map(|field| &**field.name()).collect::<Vec<_>>(),
            names
        );
        for (number, expected) in expected.iter().enumerate() {
            for (name, column) in names.iter().zip(batch.columns()) {
                let expected = expected["features"]
                    .get(name)
                    .or_else(|| expected["feature_lists"].get(name));
                let found = match (column.is_null(number), column.data_type()) {
                    (true, _) => None,
                    (false, DataType::List(_)) => Some(json(&column.as_list::<i32>().value(number))),
                    (false, _) => Some(json(&column.slice(number, 1))),
                };
                // A list of lists of one value each is a list.
                let found = found.map(|found| match (*name, found) {
                    ("clicks", Json::Array(steps)) => steps.into_iter().map(|step| Json::Array(vec![step])).collect(),
                    (_, found) => found,
                });
                assert_eq!(found.as_ref(), expected, "{name} of record {number}");
            }
        }
    }
}

fn list_of(value: DataType) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(value, true)))
}

#[test]
fn the_descriptors_are_those_of_the_messages() {
    let record = example(&of(&[("label", ints(&[7]))]));
    // As protobuf serializes it, written by hand: features, an entry, its key, its value, an Int64List, packed.
    assert_eq!(record, b"\n\x10\n\x0e\n\x05label\x12\x05\x1a\x03\n\x01\x07");
    for kind in [ExampleKind::Example, ExampleKind::SequenceExample] {
        let record_type = kind.record_type();
        assert!(record_type.message().is_some());
        let schema = MessageSchema::new(&record_type.descriptors, &record_type.name).expect("a schema");
        assert_eq!(schema.fields().len(), if kind == ExampleKind::Example { 1 } else { 2 });
        assert_eq!(ExampleKind::from_message_name(&record_type.name), Some(kind));
    }
    assert_eq!(ExampleKind::from_message_name("Example"), None);
    // proto3: an enum of kinds is one of, and numbers are packed.
    let feature = message("Feature").descriptor();
    assert_eq!(feature.oneofs().next().expect("a oneof").fields().count(), 3);
    let list = message("Int64List").descriptor();
    assert!(list.get_field_by_name("value").expect("a field").is_packed());
}

#[test]
fn features_are_columns() {
    let records = [
        of(&[
            ("image", Values::Bytes(vec![b"\xff\0".to_vec()])),
            ("label", ints(&[-1])),
            ("boxes", Values::Float(vec![0.5, 1.5])),
            ("tags", Values::Bytes(vec![])),
            ("never", Values::Unset),
        ]),
        of(&[
            ("label", ints(&[i64::MAX])),
            ("boxes", Values::Float(vec![2.5])),
            ("tags", Values::Bytes(vec![b"a".to_vec(), b"".to_vec()])),
            ("image", Values::Unset),
        ]),
        of(&[]),
    ];
    let encoded: Vec<_> = records.iter().map(example).collect();
    let schema = ExampleSchema::from_records(ExampleKind::Example, &encoded).expect("examples");
    let arrow = schema.arrow_schema();
    let columns: Vec<_> = arrow
        .fields()
        .iter()
        .map(|field| (&**field.name(), field.data_type().clone()))
        .collect();
    assert_eq!(
        columns,
        [
            ("boxes", list_of(DataType::Float32)),
            ("image", DataType::Binary),
            ("label", DataType::Int64),
            ("tags", list_of(DataType::Binary)),
        ]
    );
    let batch = decoded(&schema, &encoded).expect("fits");
    let rows = |name: &str| {
        let column = batch.column_by_name(name).expect(name);
        (0..3).map(|number| row(column, number)).collect::<Vec<_>>()
    };
    assert_eq!(
        rows("image"),
        [Some(Values::Bytes(vec![b"\xff\0".to_vec()])), None, None]
    );
    assert_eq!(rows("label"), [Some(ints(&[-1])), Some(ints(&[i64::MAX])), None]);
    assert_eq!(
        rows("boxes"),
        [
            Some(Values::Float(vec![0.5, 1.5])),
            Some(Values::Float(vec![2.5])),
            None
        ]
    );
    assert_eq!(
        rows("tags"),
        [
            Some(Values::Bytes(vec![])),
            Some(Values::Bytes(vec![b"a".to_vec(), b"".to_vec()])),
            None
        ]
    );

    // Some of the columns, in another order, and none.
    let mut decoder = ExampleDecoder::with_projection(&schema, &[2, 0]).expect("columns");
    encoded
        .iter()
        .for_each(|record| decoder.append(record, "").expect("fits"));
    let projected = decoder.finish().expect("rows");
    assert_eq!(projected, batch.project(&[2, 0]).expect("columns"));
    let mut decoder = ExampleDecoder::with_projection(&schema, &[]).expect("no columns");
    encoded
        .iter()
        .for_each(|record| decoder.append(record, "").expect("fits"));
    assert_eq!(decoder.finish().expect("rows").num_rows(), 3);
    assert!(ExampleDecoder::with_projection(&schema, &[4]).is_err());
}

#[test]
fn feature_lists_are_lists() {
    let lists = |steps: &[Values]| FeatureLists::from([("steps".to_owned(), steps.to_vec())]);
    let records = [
        sequence_example(&of(&[("steps", ints(&[1]))]), &lists(&[ints(&[1]), ints(&[2])])),
        sequence_example(&of(&[]), &lists(&[])),
        sequence_example(&of(&[("steps", ints(&[2]))]), &FeatureLists::new()),
    ];
    let schema = ExampleSchema::from_records(ExampleKind::SequenceExample, &records).expect("examples");
    let batch = decoded(&schema, &records).expect("fits");
    let column = batch
        .column_by_name("feature_lists.steps")
        .expect("a list with the name of a feature");
    assert_eq!(column.data_type(), &list_of(DataType::Int64));
    let rows: Vec<_> = (0..3).map(|number| row(column, number)).collect();
    assert_eq!(rows, [Some(ints(&[1, 2])), Some(ints(&[])), None]);
    let context = batch.column_by_name("steps").expect("a feature");
    assert_eq!(row(context, 2), Some(ints(&[2])));

    // A step without exactly one value makes lists of lists.
    let more = [
        &records[..],
        &[sequence_example(
            &of(&[]),
            &lists(&[ints(&[]), ints(&[3, 4]), Values::Unset]),
        )],
    ]
    .concat();
    let schema = ExampleSchema::from_records(ExampleKind::SequenceExample, &more).expect("examples");
    let batch = decoded(&schema, &more).expect("fits");
    let column = batch.column_by_name("feature_lists.steps").expect("a column");
    assert_eq!(column.data_type(), &list_of(list_of(DataType::Int64)));
    let steps = |row: usize| {
        let steps = column.as_list::<i32>().value(row);
        let steps = steps.as_list::<i32>();
        steps
            .iter()
            .map(|step| flat(&step.expect("no null inside")))
            .collect::<Vec<_>>()
    };
    assert_eq!(steps(0), [ints(&[1]), ints(&[2])]);
    assert_eq!(steps(1), []);
    assert!(column.is_null(2));
    assert_eq!(steps(3), [ints(&[]), ints(&[3, 4]), ints(&[])]);
}

#[test]
fn a_record_that_does_not_fit_is_an_error_that_names_it() {
    let sample = [example(&of(&[("label", ints(&[1])), ("x", Values::Float(vec![1.0]))]))];
    let schema = ExampleSchema::from_records(ExampleKind::Example, &sample).expect("examples");
    for (record, expected) in [
        (
            example(&of(&[("label", Values::Bytes(vec![b"cat".to_vec()]))])),
            "record 1, feature `label`: expected int64 values, as in records before, found bytes values",
        ),
        (
            example(&of(&[("label", ints(&[1, 2]))])),
            "record 1, feature `label`: expected one value, as in the records that the columns were found by, found 2; find the \
             columns by more records",
        ),
        (
            example(&of(&[("x", Values::Float(vec![]))])),
            "record 1, feature `x`: expected one value, as in the records that the columns were found by, found 0; find the \
             columns by more records",
        ),
        (
            example(&of(&[("y", ints(&[1]))])),
            "record 1, feature `y`: no record that the columns were found by has this feature; find the columns by more records",
        ),
        (
            b"a line of text".to_vec(),
            "record 1: not a tensorflow.Example message: it has a field 12",
        ),
        (
            vec![0x08, 1],
            "record 1: not an example: field 1 has wire type 0, expected 2",
        ),
        (
            vec![0x12, 0],
            "record 1: not a tensorflow.Example message: it has a field 2",
        ),
        (
            vec![0x0a, 9],
            "record 1: not an example: the message ends inside the field at byte 0",
        ),
    ] {
        let error = decoded(&schema, &[sample[0].clone(), record.clone()]).expect_err(expected);
        assert_eq!(error.to_string(), expected);
        // The rows before stay, and others can follow.
        let mut decoder = ExampleDecoder::new(&schema);
        decoder.append(&sample[0], "").expect("fits");
        decoder.append(&record, "").expect_err(expected);
        decoder.append(&sample[0], "").expect("fits");
        let batch = decoder.finish().expect("rows");
        assert_eq!(
            batch,
            decoded(&schema, &[sample[0].clone(), sample[0].clone()]).expect("fits")
        );
    }
    // In the sample: two types. An empty list has none.
    let mut sampler = ExampleSampler::new(ExampleKind::Example);
    let record = |values: Values| example(&of(&[("label", values)]));
    sampler
        .add(&record(Values::Bytes(vec![])), "first")
        .expect("an example");
    sampler.add(&record(ints(&[1])), "second").expect("an example");
    sampler
        .add(&record(Values::Float(vec![])), "third")
        .expect("an example");
    let error = sampler
        .add(&record(Values::Float(vec![1.0])), "fourth")
        .expect_err("two types");
    assert_eq!(
        error.to_string(),
        "fourth, feature `label`: expected int64 values, as in records before, found float values"
    );
    assert_eq!((sampler.len(), sampler.is_empty()), (4, false));
    assert_eq!(
        sampler.finish().arrow_schema().field(0).data_type(),
        &list_of(DataType::Int64)
    );
}

#[test]
fn messages_mean_what_protobuf_says() {
    let schema = ExampleSchema::from_records(ExampleKind::Example, [example(&of(&[("a", ints(&[1, 2]))]))]);
    let schema = schema.expect("an example");
    let length = |bytes: &[u8]| u8::try_from(bytes.len()).expect("short");
    let field = |number: u8, bytes: &[u8]| [&[number << 3 | 2, length(bytes)], bytes].concat();
    let entry = |value: &[u8]| field(1, &field(1, &[field(1, b"a"), value.to_vec()].concat()));
    let list = |values: &[u8]| field(3, &field(1, values));
    let unpacked = field(3, &[0x08, 5, 0x08, 6]);
    let rows = [
        // Another number of the field, packed and unpacked, mixed.
        (entry(&field(2, &unpacked)), vec![5, 6]),
        (entry(&field(2, &field(3, &[0x08, 5, 0x0a, 1, 7]))), vec![5, 7]),
        // Messages that are there twice are merged; of a oneof the last one counts.
        (entry(&field(2, &[list(&[1]), list(&[2])].concat())), vec![1, 2]),
        (
            entry(&[field(2, &list(&[1])), field(2, &list(&[2]))].concat()),
            vec![1, 2],
        ),
        (
            entry(&field(2, &[list(&[1]), field(2, b""), list(&[2])].concat())),
            vec![2],
        ),
        // The last entry of a name counts, in one map or in two that are merged.
        (
            [entry(&field(2, &list(&[1]))), entry(&field(2, &list(&[2])))].concat(),
            vec![2],
        ),
        // Fields that are not known.
        (entry(&[field(9, b"x"), field(2, &list(&[3]))].concat()), vec![3]),
    ];
    let example = POOL.get_message_by_name("tensorflow.Example").expect("a message");
    for (record, expected) in rows {
        let batch = decoded(&schema, std::slice::from_ref(&record)).expect("fits");
        assert_eq!(
            row(batch.column(0), 0),
            Some(Values::Int64(expected.clone())),
            "{record:?}"
        );
        // prost reads the same.
        let message = DynamicMessage::decode(example.clone(), &record[..]).expect("a message");
        let expected = features(&of(&[("a", Values::Int64(expected))]));
        let mut found = message.get_field_by_name("features").expect("features").into_owned();
        if let Value::Message(message) = &mut found {
            message.clear_field_by_name("unknown");
        }
        if !record.contains(&b'x') {
            assert_eq!(found, expected, "{record:?}");
        }
    }
}

#[test]
fn the_number_of_features_is_bounded() {
    let many: Features = (0..=MAX_FEATURES)
        .map(|number| (number.to_string(), ints(&[1])))
        .collect();
    let error = ExampleSchema::from_records(ExampleKind::Example, [example(&many)]).expect_err("too many");
    let Error::Example(error) = error else {
        panic!("{error}")
    };
    assert_eq!(error.problem, ExampleProblem::TooMany { limit: MAX_FEATURES });
}

fn values() -> impl Strategy<Value = Values> {
    prop_oneof![
        1 => Just(Values::Unset),
        3 => prop::collection::vec(prop::collection::vec(any::<u8>(), 0..5), 0..3).prop_map(Values::Bytes),
        3 => prop::collection::vec(-1e30_f32..1e30, 0..3).prop_map(Values::Float),
        3 => prop::collection::vec(any::<i64>(), 0..3).prop_map(Values::Int64),
    ]
}

/// Features of records, the same type for the same name.
fn records() -> impl Strategy<Value = Vec<Features>> {
    let record = prop::collection::btree_map("[a-c]", values(), 0..4);
    prop::collection::vec(record, 1..8).prop_map(|mut records| {
        let mut kinds = BTreeMap::new();
        for record in &mut records {
            record.retain(|name, values| {
                let kind = std::mem::discriminant(values);
                *values == Values::Unset || *kinds.entry(name.clone()).or_insert(kind) == kind
            });
        }
        records
    })
}

proptest! {
    #[test]
    fn every_record_of_the_sample_comes_back(records in records()) {
        let encoded: Vec<_> = records.iter().map(example).collect();
        let schema = ExampleSchema::from_records(ExampleKind::Example, &encoded).expect("examples");
        let batch = decoded(&schema, &encoded).expect("fits");
        prop_assert_eq!(batch.num_rows(), records.len());
        for (number, record) in records.iter().enumerate() {
            for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
                let expected = record.get(field.name()).filter(|values| **values != Values::Unset);
                let found = row(column, number);
                prop_assert_eq!(found.as_ref(), expected);
            }
            for (name, values) in record {
                prop_assert!(*values == Values::Unset || batch.column_by_name(name).is_some());
            }
        }
    }

    #[test]
    fn damaged_records_are_rows_or_errors(
        records in records(),
        at in any::<prop::sample::Index>(),
        mask in 0..=255_u8,
        sequence: bool,
    ) {
        let (kind, mut encoded): (_, Vec<_>) = match sequence {
            false => (ExampleKind::Example, records.iter().map(example).collect()),
            true => {
                let lists = |record: &Features| {
                    FeatureLists::from_iter(record.iter().map(|(name, values)| (name.clone(), vec![values.clone()])))
                };
                let encoded = records.iter().map(|record| sequence_example(record, &lists(record)));
                (ExampleKind::SequenceExample, encoded.collect())
            }
        };
        let schema = ExampleSchema::from_records(kind, &encoded).expect("examples");
        let last = encoded.len() - 1;
        let sound = encoded.clone();
        let at = at.index(encoded[last].len() + 1);
        match (mask, encoded[last].get_mut(at)) {
            (1.., Some(byte)) => *byte ^= mask,
            _ => encoded[last].truncate(at),
        }
        let mut decoder = ExampleDecoder::new(&schema);
        for record in &encoded {
            let _result = decoder.append(record, "").is_ok();
        }
        let rows = decoder.len();
        prop_assert!(rows >= last);
        let batch = decoder.finish().expect("rows");
        prop_assert_eq!(batch.slice(0, last), decoded(&schema, &sound[..last]).expect("fits"));
        let mut sampler = ExampleSampler::new(kind);
        for record in &encoded {
            let _result = sampler.add(record, "").is_ok();
        }
        prop_assert!(sampler.finish().arrow_schema().fields().len() < 20);
    }
}
