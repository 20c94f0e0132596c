//! Transposed chunks that are damaged behind the back of their hash, and how much of a chunk a projection reads.

use std::{fs, path::Path};

use proptest::prelude::*;
use tidemill_riegeli::{
    BytesSource, CHUNK_HEADER_SIZE, ChunkHeader, ChunkType, Error, Field, FieldProjection, ReaderOptions,
    RecordPosition, RecordReader, RecordWriter, WriterOptions, hash,
};

/// Where the first chunk of records begins in a file without metadata.
const CHUNK: usize = 64;

/// A file of one transposed chunk, written by the C++ library, that can be written again with other chunk data.
struct File {
    bytes: Vec<u8>,
    header: ChunkHeader,
}

impl File {
    fn open(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/riegeli/cpp");
        let bytes = fs::read(path.join(name)).expect(name);
        let header = *bytes[CHUNK..].first_chunk::<CHUNK_HEADER_SIZE>().expect("a chunk");
        let header = ChunkHeader::from_bytes(&header);
        assert_eq!(header.chunk_type, ChunkType::Transposed, "{name}");
        assert!(bytes.len() < 1 << 16, "{name} has a second block header");
        Self { bytes, header }
    }

    fn data(&self) -> &[u8] {
        let start = CHUNK + CHUNK_HEADER_SIZE;
        &self.bytes[start..][..usize::try_from(self.header.data_size).expect("a size")]
    }

    /// The file with only this chunk, whose hashes are right.
    fn with(&self, data: &[u8], decoded_data_size: u64) -> Vec<u8> {
        let mut header = ChunkHeader {
            data_size: data.len() as u64,
            data_hash: hash(data),
            decoded_data_size,
            ..self.header
        };
        header.header_hash = header.computed_hash();
        let mut file = [&self.bytes[..CHUNK], &header.to_bytes(), data].concat();
        // A chunk takes at least a byte for each record.
        let records = usize::try_from(header.num_records).expect("few records");
        file.resize(file.len().max(CHUNK + records), 0);
        file
    }
}

fn read(file: &[u8], projection: &str) -> Result<Vec<Vec<u8>>, Error> {
    let options = ReaderOptions::new().field_projection(projection.parse().expect(projection));
    let mut reader = RecordReader::new(BytesSource(file), &options)?;
    let mut records = Vec::new();
    while let Some(record) = reader.read_record()? {
        records.push(record.to_vec());
    }
    reader.close()?;
    Ok(records)
}

#[test]
fn damage_in_what_a_projection_leaves_out_is_not_seen() {
    // Each field in a bucket of its own; field 5 is a number of at most three bytes in messages of about 220.
    let check = |name: &str, projection: &str, unseen: std::ops::Range<usize>| {
        let file = File::open(name);
        let expected = read(&file.bytes, projection).expect(name);
        let (mut same, mut tried) = (0, 0);
        for at in (0..file.data().len()).step_by(11) {
            let mut data = file.data().to_vec();
            data[at] ^= 0x55;
            let damaged = file.with(&data, file.header.decoded_data_size);
            tried += 1;
            same += usize::from(read(&damaged, projection).is_ok_and(|records| records == expected));
        }
        let percent = same * 100 / tried;
        assert!(unseen.contains(&percent), "{name} {projection}: {percent} %");
    };
    check("wide.transpose_zstd3_bucket_fraction0p0.riegeli", "5", 70..96);
    check("wide.transpose_zstd3_bucket_fraction0p0.riegeli", "4.0", 75..97);
    check("wide.transpose_zstd3_bucket_fraction0p0.riegeli", "root", 0..1);
    check("nested.transpose_zstd3_bucket_fraction0p0.riegeli", "1", 40..97);
}

#[test]
fn cut_chunks_are_refused() {
    for name in [
        "nested.transpose_uncompressed_chunk_size1k.riegeli",
        "mixed_nonproto.transpose_snappy.riegeli",
        "groups_only.transpose_zstd.riegeli",
        "empties.transpose_brotli.riegeli",
        "one_empty.transpose_uncompressed.riegeli",
        "json100.transpose_uncompressed.riegeli",
        "text.transpose_zstd.riegeli",
    ] {
        let file = File::open(name);
        let size = file.header.decoded_data_size;
        for projection in ["root", "1", ""] {
            let whole = file.with(file.data(), size);
            assert!(read(&whole, projection).is_ok(), "{name} {projection}");
            for cut in 0..file.data().len() {
                let damaged = file.with(&file.data()[..cut], size);
                let found = read(&damaged, projection);
                assert!(
                    matches!(found, Err(Error::Corrupt(_))),
                    "{name} {projection} cut to {cut}: {found:?}"
                );
            }
        }
        for wrong in [size + 1, size.wrapping_sub(1), 1 << 29, u64::MAX] {
            let found = read(&file.with(file.data(), wrong), "root");
            assert!(
                matches!(found, Err(Error::Corrupt(_) | Error::Limit { .. })),
                "{name} of {wrong} bytes: {found:?}"
            );
        }
    }
}

#[test]
fn damaged_chunks_have_as_many_records_as_they_say_or_none() {
    for name in [
        "kitchen.transpose_uncompressed_chunk_size1k.riegeli",
        "nested.transpose_zstd.riegeli",
        "mixed_nonproto.transpose_uncompressed.riegeli",
        "groups_only.transpose_zstd.riegeli",
        "mixed_empty.transpose_snappy.riegeli",
        // Records that are no messages, which are lent where they lie.
        "json100.transpose_uncompressed.riegeli",
        "json100.transpose_snappy.riegeli",
        "text.transpose_zstd.riegeli",
    ] {
        let file = File::open(name);
        let size = file.header.decoded_data_size;
        // Not every bit: that would take a minute.
        let step = file.data().len() / 500 + 1;
        for at in (0..file.data().len()).step_by(step) {
            let bit = at / step % 8;
            let mut data = file.data().to_vec();
            data[at] ^= 1 << bit;
            let damaged = file.with(&data, size);
            for projection in ["root", "1,2.3,5.0"] {
                let Ok(records) = read(&damaged, projection) else {
                    continue;
                };
                assert_eq!(
                    records.len() as u64,
                    file.header.num_records,
                    "{name}: bit {bit} of byte {at}"
                );
                let total: usize = records.iter().map(Vec::len).sum();
                let whole = projection.parse::<FieldProjection>().expect("fields").includes_all();
                assert!(
                    total as u64 == size || !whole && total as u64 <= size,
                    "{name}: bit {bit} of byte {at}: {total} bytes of {size}"
                );
            }
            // From the end on, where not all of the chunk is decompressed at once.
            let mut reader = RecordReader::from_bytes(&damaged).expect("memory");
            for index in [file.header.num_records - 1, file.header.num_records / 2, 0] {
                let pos = RecordPosition::new(CHUNK as u64, index);
                let Ok(true) = reader.seek(pos) else { continue };
                if let Ok(Some(_)) = reader.read_record() {
                    assert_eq!(reader.last_pos(), pos, "{name}: bit {bit} of byte {at}");
                }
            }
        }
    }
}

/// A length-delimited field of a number up to 15.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).expect("a short field");
    let length = [(length & 0x7f) as u8 | 0x80, (length >> 7) as u8];
    match content.len() {
        0..0x80 => [&[number << 3 | 2, content.len() as u8], content].concat(),
        _ => [&[number << 3 | 2], &length[..], content].concat(),
    }
}

#[test]
fn a_projection_of_all_fields_keeps_long_records_as_they_are() {
    // Far longer than the states and transitions of the chunk, so that room is found as buckets are decompressed. The last
    // records come first, without a field that the others have.
    let records: Vec<Vec<u8>> = (0..60_u8)
        .map(|number| {
            let text = |size: usize| vec![b'a' + number % 26; size];
            let inner = [field(3, &text(3_000)), field(4, &text(usize::from(number)))].concat();
            let rare = if number < 20 {
                field(7, &text(6_000))
            } else {
                Vec::new()
            };
            let fields = [field(1, &text(2_000)), field(2, &inner), rare, field(5, &text(1_500))];
            [&fields.concat()[..], &[0x30, number]].concat()
        })
        .collect();
    for options in [
        "transpose,uncompressed",
        "transpose,zstd,bucket_fraction:0.0",
        "transpose,snappy,bucket_fraction:0.0,chunk_size:50k",
    ] {
        let mut writer =
            RecordWriter::new(Vec::new(), options.parse::<WriterOptions>().expect(options)).expect("memory");
        for record in &records {
            writer.write_record(record).expect("memory");
        }
        let file = writer.close().expect("memory");
        for projection in ["root", "1,2,5,6,7", "7,6,5,2.4,2.3,1"] {
            assert!(
                read(&file, projection).expect("sound") == records,
                "{options} {projection}"
            );
        }
        let some = read(&file, "2.3,6").expect("sound");
        for (number, (found, record)) in (0..60_u8).zip(some.iter().zip(&records)) {
            let inner = field(3, &vec![record[10]; 3_000]);
            assert!(
                *found == [field(2, &inner), vec![0x30, number]].concat(),
                "{options} record {number}"
            );
        }
    }
}

/// A value of a field whose type goes with its number.
#[derive(Clone, Debug)]
enum Value {
    /// Field 1.
    Varint(u64),
    /// Field 2.
    Fixed32(u32),
    /// Field 3.
    Fixed64(u64),
    /// Field 4: bytes that are no message.
    Text(Vec<u8>),
    /// Field 5.
    Message(Vec<Value>),
    /// Field 6.
    Group(Vec<Value>),
}

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        prop_oneof![0_u64..200, any::<u64>()].prop_map(Value::Varint),
        any::<u32>().prop_map(Value::Fixed32),
        any::<u64>().prop_map(Value::Fixed64),
        prop::collection::vec(any::<u8>(), 0..40).prop_map(|mut text| {
            if let Some(first) = text.first_mut() {
                *first = 7; // a wire type that does not exist
            }
            Value::Text(text)
        }),
    ];
    scalar.prop_recursive(4, 24, 5, |value| {
        let fields = prop::collection::vec(value, 0..5);
        prop_oneof![fields.clone().prop_map(Value::Message), fields.prop_map(Value::Group)]
    })
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Serializes what the paths lead to; a path that ends keeps all.
fn serialize(fields: &[Value], paths: &[&[u32]], out: &mut Vec<u8>) {
    for value in fields {
        let number: u32 = match value {
            Value::Varint(_) => 1,
            Value::Fixed32(_) => 2,
            Value::Fixed64(_) => 3,
            Value::Text(_) => 4,
            Value::Message(_) => 5,
            Value::Group(_) => 6,
        };
        let all = paths.contains(&&[][..]);
        let mut below: Vec<&[u32]> = match all {
            true => vec![&[]],
            false => paths
                .iter()
                .filter_map(|path| path.split_first())
                .filter(|(first, _)| **first == number)
                .map(|(_, rest)| rest)
                .collect(),
        };
        if below.is_empty() {
            continue;
        }
        let existence = below.iter().all(|path| *path == [0]);
        below.retain(|path| *path != [0]);
        let tag = |wire_type: u8| (number as u8) << 3 | wire_type;
        match value {
            Value::Varint(value) => {
                out.push(tag(0));
                varint(if existence { 0 } else { *value }, out);
            }
            Value::Fixed32(value) => {
                out.push(tag(5));
                out.extend(if existence { 0 } else { *value }.to_le_bytes());
            }
            Value::Fixed64(value) => {
                out.push(tag(1));
                out.extend(if existence { 0 } else { *value }.to_le_bytes());
            }
            Value::Text(text) => {
                let text = if existence { &[][..] } else { text };
                out.push(tag(2));
                varint(text.len() as u64, out);
                out.extend(text);
            }
            Value::Message(fields) => {
                let mut content = Vec::new();
                serialize(fields, &below, &mut content);
                out.push(tag(2));
                varint(content.len() as u64, out);
                out.extend(content);
            }
            Value::Group(fields) => {
                out.push(tag(3));
                serialize(fields, &below, out);
                out.push(tag(4));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn projections_keep_what_their_paths_lead_to(
        records in prop::collection::vec(prop::collection::vec(value(), 0..6), 0..30),
        paths in prop::collection::vec(
            (prop::collection::vec(1_u32..7, 0..4), any::<bool>()).prop_map(|(mut path, existence)| {
                if existence {
                    path.push(0);
                }
                path
            }),
            0..4,
        ),
        options in prop::sample::select(vec![
            "transpose,uncompressed", "transpose,zstd:1,bucket_fraction:0.0", "transpose,brotli:1,chunk_size:400",
            "transpose,snappy,bucket_fraction:0.3", "transpose,uncompressed,chunk_size:200",
        ]),
    ) {
        let mut writer = RecordWriter::new(Vec::new(), options.parse::<WriterOptions>().expect(options)).expect("memory");
        let projected = |paths: &[&[u32]]| -> Vec<Vec<u8>> {
            let serialize = |record: &Vec<Value>| {
                let mut out = Vec::new();
                serialize(record, paths, &mut out);
                out
            };
            records.iter().map(serialize).collect()
        };
        let whole = projected(&[&[]]);
        for record in &whole {
            writer.write_record(record).expect("memory");
        }
        let file = writer.close().expect("memory");
        prop_assert_eq!(read(&file, "root").expect("sound"), whole);
        let projection: FieldProjection = paths.iter().map(|path| Field::new(path.clone()).expect("a field")).collect();
        let paths: Vec<&[u32]> = paths.iter().map(Vec::as_slice).collect();
        let expected = projected(&paths);
        prop_assert_eq!(read(&file, &projection.to_string()).expect("sound"), expected, "{}", projection);
    }
}

#[test]
fn messages_are_reached_by_position_and_by_search() {
    let message = |number: u32| {
        let [a, b, c, d] = number.to_be_bytes();
        let mut message = vec![0x0a, 4, a, b, c, d, 0x10, (number % 100) as u8];
        message.extend([0x1a, 40]);
        message.extend([b'a' + (number % 26) as u8; 40]);
        message
    };
    const COUNT: u32 = 3_000;
    for options in [
        "transpose,zstd:1,chunk_size:30000",
        "transpose,uncompressed,chunk_size:30000",
    ] {
        let options: WriterOptions = options.parse().expect("options");
        let mut writer = RecordWriter::new(Vec::new(), options).expect("memory");
        let mut positions = Vec::new();
        for number in 0..COUNT {
            writer.write_record(&message(number)).expect("memory");
            positions.push(writer.last_pos().expect("a record"));
        }
        let file = writer.close().expect("memory");
        let mut reader = RecordReader::from_bytes(&file).expect("memory");
        // 1,999 is a prime number: every record, in no order.
        for wanted in (0..COUNT).map(|step| step * 1_999 % COUNT) {
            let pos = positions[wanted as usize];
            assert!(reader.seek(pos).expect("a position"));
            assert_eq!(reader.read_record().expect("sound"), Some(&message(wanted)[..]));
            assert_eq!(reader.last_pos(), pos);
            assert!(reader.seek_numeric(pos.numeric()).expect("a position"));
            for number in wanted..COUNT.min(wanted + 2) {
                assert_eq!(reader.read_record().expect("sound"), Some(&message(number)[..]));
            }
        }
        for wanted in (0..COUNT).step_by(7) {
            let key = wanted.to_be_bytes();
            let found = reader.search(|record| Ok(Some(record[2..6].cmp(&key)))).expect("sound");
            assert_eq!(found, Some(std::cmp::Ordering::Equal));
            assert_eq!(reader.read_record().expect("sound"), Some(&message(wanted)[..]));
        }
        reader.seek_numeric(file.len() as u64).expect("the end");
        for wanted in (0..COUNT).rev() {
            assert!(reader.seek_back().expect("sound"));
            assert_eq!(reader.read_record().expect("sound"), Some(&message(wanted)[..]));
            assert!(reader.seek_back().expect("sound"));
        }
    }
}
