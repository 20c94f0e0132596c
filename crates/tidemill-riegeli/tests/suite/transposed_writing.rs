//! Messages of any shape, and what is no message, come back from transposed chunks.

use proptest::prelude::*;
use tidemill_riegeli::{BytesSource, Compression, ReaderOptions, RecordReader, RecordWriter, WriterOptions};

/// A field by its wire type, as protobuf has them.
#[derive(Clone, Debug)]
enum Value {
    Varint(u64),
    Fixed32(u32),
    Fixed64(u64),
    Bytes(Vec<u8>),
    Message(Vec<(u32, Value)>),
    Group(Vec<(u32, Value)>),
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn encode(fields: &[(u32, Value)], out: &mut Vec<u8>) {
    for (number, value) in fields {
        let tag = |wire_type: u32, out: &mut Vec<u8>| varint(u64::from(number << 3 | wire_type), out);
        match value {
            Value::Varint(value) => {
                tag(0, out);
                varint(*value, out);
            }
            Value::Fixed64(value) => {
                tag(1, out);
                out.extend_from_slice(&value.to_le_bytes());
            }
            Value::Bytes(bytes) => {
                tag(2, out);
                varint(bytes.len() as u64, out);
                out.extend_from_slice(bytes);
            }
            Value::Message(fields) => {
                let mut message = Vec::new();
                encode(fields, &mut message);
                tag(2, out);
                varint(message.len() as u64, out);
                out.extend_from_slice(&message);
            }
            Value::Group(fields) => {
                tag(3, out);
                encode(fields, out);
                tag(4, out);
            }
            Value::Fixed32(value) => {
                tag(5, out);
                out.extend_from_slice(&value.to_le_bytes());
            }
        }
    }
}

fn number() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 1_u32..6, 1 => 15_u32..18, 1 => 2_000_u32..2_400, 1 => Just((1 << 29) - 1)]
}

fn fields() -> impl Strategy<Value = Vec<(u32, Value)>> {
    let leaf = prop_oneof![
        prop_oneof![0_u64..6, any::<u64>(), any::<u64>().prop_map(|n| n >> (n % 64))].prop_map(Value::Varint),
        any::<u32>().prop_map(Value::Fixed32),
        any::<u64>().prop_map(Value::Fixed64),
        prop::collection::vec(any::<u8>(), 0..30).prop_map(Value::Bytes),
        "[a-z ]{0,200}".prop_map(|text| Value::Bytes(text.into_bytes())),
    ];
    let value = leaf.prop_recursive(6, 40, 6, |inner| {
        let fields = prop::collection::vec((number(), inner), 0..6);
        (fields, any::<bool>()).prop_map(|(fields, is_group)| match is_group {
            false => Value::Message(fields),
            true => Value::Group(fields),
        })
    });
    prop::collection::vec((number(), value), 0..12)
}

/// A message, or one with a byte changed or an end cut off, which is often none.
fn record() -> impl Strategy<Value = Vec<u8>> {
    (
        fields(),
        prop::option::weighted(0.3, (any::<prop::sample::Index>(), any::<u8>())),
    )
        .prop_map(|(fields, change)| {
            let mut record = Vec::new();
            encode(&fields, &mut record);
            if let Some((index, byte)) = change.filter(|_| !record.is_empty()) {
                let at = index.index(record.len());
                match byte {
                    0..64 => record.truncate(at),
                    _ => record[at] = byte,
                }
            }
            record
        })
}

fn check(records: &[Vec<u8>], options: WriterOptions) {
    let mut writer = RecordWriter::new(Vec::new(), options.transpose(true)).expect("memory");
    for (index, record) in records.iter().enumerate() {
        match index % 3 {
            0 => writer.write_record(record),
            1 => writer.write_record_with(|out| out.extend_from_slice(record)),
            _ => writer.write_record_parts(&[&record[..record.len() / 3], &[], &record[record.len() / 3..]]),
        }
        .expect("memory");
    }
    let file = writer.close().expect("memory");
    let mut reader = RecordReader::new(BytesSource(&file), &ReaderOptions::new()).expect("memory");
    for (index, record) in records.iter().enumerate() {
        let found = reader.read_record().expect("sound");
        assert_eq!(found, Some(&record[..]), "record {index}");
    }
    assert_eq!(reader.read_record().expect("sound"), None);
    reader.close().expect("sound");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn messages_come_back(
        // A few shapes, many times over: tags get states of their own from ten transitions on.
        shapes in prop::collection::vec(record(), 1..12),
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..150),
        compression in prop_oneof![
            Just(Compression::None),
            Just(Compression::brotli(1)),
            Just(Compression::zstd(1)),
            Just(Compression::Snappy),
        ],
        chunk_size in prop_oneof![1_u64..500, 500_u64..100_000],
        bucket_fraction in prop_oneof![Just(1.0), Just(0.0), 0.0..1.0],
    ) {
        let records: Vec<Vec<u8>> = order.iter().map(|index| index.get(&shapes).clone()).collect();
        let options = WriterOptions::new().compression(compression).chunk_size(chunk_size);
        check(&records, options.bucket_fraction(bucket_fraction));
    }
}

#[test]
fn more_tags_than_a_byte_can_reach() {
    // Lists of states are trees of up to three levels: 64, 64 times 63, and more.
    for fields in [63_u64, 64, 65, 127, 128, 4_000, 4_100, 9_000] {
        let mut state = fields;
        let records: Vec<Vec<u8>> = (0..3)
            .map(|_| {
                let mut record = Vec::new();
                for _ in 0..fields {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    varint((state >> 33) % fields * 8 + 8, &mut record);
                    varint(state >> 60, &mut record);
                }
                record
            })
            .collect();
        check(&records, WriterOptions::new().compression(Compression::zstd(1)));
    }
}

#[test]
fn nesting_beyond_the_hundredth_level_is_kept_as_bytes() {
    for depth in [99, 100, 101, 1_000] {
        for group in [false, true] {
            let mut value = Value::Varint(300);
            for _ in 0..depth {
                value = match group {
                    false => Value::Message(vec![(1, value)]),
                    true => Value::Group(vec![(1, value)]),
                };
            }
            let mut record = Vec::new();
            encode(
                &[(2, value), (3, Value::Message(vec![(1, Value::Varint(7))]))],
                &mut record,
            );
            check(&vec![record; 20], WriterOptions::new().compression(Compression::None));
        }
    }
}
