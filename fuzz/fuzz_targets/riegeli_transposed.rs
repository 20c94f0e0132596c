//! A transposed chunk of any bytes, as records, through projections and as columns. The input is a Riegeli file, of which the
//! first chunk of records is read: its hashes are made right, so that what they would catch comes through.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet,
    field_descriptor_proto::{Label, Type},
};
use tidemill_riegeli::{
    BytesSource, CHUNK_HEADER_SIZE, ChunkHeader, ChunkType, FieldProjection, MessageSchema, ReaderOptions,
    RecordReader, RecordWriter, WriterOptions, columns::ColumnReader, hash,
};

/// Where the first chunk of records begins.
const CHUNK: usize = 64;

/// Chunks end before the second block header.
const LONGEST_DATA: usize = (1 << 16) - CHUNK - CHUNK_HEADER_SIZE;

static SIGNATURE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let writer = RecordWriter::new(Vec::new(), WriterOptions::new()).expect("memory");
    writer.close().expect("memory")
});

static PROJECTIONS: LazyLock<[FieldProjection; 4]> =
    LazyLock::new(|| ["root", "", "1,2.3,7.3,10", "4.0,6.0,10.0,2.0"].map(|text| text.parse().expect("fields")));

/// Messages with fields of every type, in each other and repeated.
static SCHEMA: LazyLock<MessageSchema> = LazyLock::new(|| {
    let field = |number: i32, label: Label, field_type: Type, type_name: &str| FieldDescriptorProto {
        name: Some(format!("f{number}")),
        number: Some(number),
        label: Some(label.into()),
        r#type: Some(field_type.into()),
        type_name: Some(type_name.to_owned()),
        ..Default::default()
    };
    let message = |name: &str, below: &str| DescriptorProto {
        name: Some(name.to_owned()),
        field: vec![
            field(1, Label::Optional, Type::Int32, ""),
            field(2, Label::Optional, Type::Message, below),
            field(3, Label::Repeated, Type::Uint64, ""),
            field(4, Label::Optional, Type::Fixed32, ""),
            field(5, Label::Optional, Type::Double, ""),
            field(6, Label::Optional, Type::String, ""),
            field(7, Label::Repeated, Type::Group, below),
            field(8, Label::Repeated, Type::Sint32, ""),
            field(9, Label::Repeated, Type::Float, ""),
            field(10, Label::Repeated, Type::Message, below),
            field(12, Label::Repeated, Type::Bytes, ""),
        ],
        ..Default::default()
    };
    let set = FileDescriptorSet {
        file: vec![FileDescriptorProto {
            message_type: vec![message("A", ".B"), message("B", ".C"), message("C", ".A")],
            ..Default::default()
        }],
    };
    MessageSchema::new(&set, "A").expect("a schema")
});

fuzz_target!(|input: &[u8]| {
    let Some((header, data)) = input.get(CHUNK..).and_then(<[u8]>::split_first_chunk) else {
        return;
    };
    let data = &data[..data.len().min(LONGEST_DATA)];
    let given = ChunkHeader::from_bytes(header);
    let mut header = ChunkHeader {
        data_size: data.len() as u64,
        data_hash: hash(data),
        chunk_type: ChunkType::Transposed,
        num_records: given.num_records % 4_096,
        decoded_data_size: given.decoded_data_size % (1 << 22),
        ..given
    };
    header.header_hash = header.computed_hash();
    let mut file = [&SIGNATURE[..], &header.to_bytes(), data].concat();
    // A chunk takes at least a byte for each record.
    file.resize(
        file.len().max(CHUNK + CHUNK_HEADER_SIZE + header.num_records as usize),
        0,
    );
    for projection in &*PROJECTIONS {
        let whole = projection.includes_all();
        let options = ReaderOptions::default().field_projection(projection.clone());
        let Ok(mut reader) = RecordReader::new(BytesSource(&file[..]), &options) else {
            return;
        };
        let (mut records, mut size) = (0, 0);
        while let Ok(Some(record)) = reader.read_record() {
            records += 1;
            size += record.len() as u64;
        }
        // All of the chunk is read, or nothing.
        assert!(records == 0 || records == header.num_records);
        assert!(records == 0 || size == header.decoded_data_size || !whole && size < header.decoded_data_size);
    }
    let Ok(reader) = RecordReader::from_bytes(&file[..]) else {
        return;
    };
    let mut rows = 0;
    for batch in ColumnReader::new(reader, &SCHEMA) {
        rows += batch.map_or(0, |batch| batch.num_rows() as u64);
    }
    assert!(rows == 0 || rows == header.num_records);
});
