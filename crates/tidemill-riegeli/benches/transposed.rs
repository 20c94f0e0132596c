//! How fast are transposed chunks read: whole records, a projection of one field, and columns without records?
//!
//! Data: 20,000 messages of 25 fields of all wire types, about 227 bytes each. One thread, in memory. Prints the best of some
//! repetitions in MB/s (10^6 bytes of the whole records, whatever is read of them).
//!
//! Run: `cargo bench -p tidemill-riegeli --bench transposed`.

use std::{hint::black_box, time::Instant};

use prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet,
    field_descriptor_proto::{Label, Type},
};
use tidemill_riegeli::{
    BytesSource, FieldProjection, MessageSchema, ReaderOptions, RecordReader, RecordWriter, WriterOptions,
    columns::ColumnReader,
};

const FIELDS: u32 = 25;

const CODECS: [&str; 6] = [
    "transpose,uncompressed",
    "transpose,uncompressed,chunk_size:1M",
    "transpose,zstd:3",
    "transpose,zstd:3,bucket_fraction:0.0",
    "transpose,brotli:6",
    "transpose,snappy",
];

fn main() {
    let records: Vec<Vec<u8>> = (0..20_000).map(message).collect();
    let payload: usize = records.iter().map(Vec::len).sum();
    let schema = schema();
    println!("MB/s of whole records, best of the repetitions");
    println!(
        "{:<40}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}",
        "options", "records", "field 5", "4.0", "columns", "column 5", "column 4"
    );
    for codec in CODECS {
        let file = write(&records, codec);
        let read = |projection: &str| rate(payload, || read_records(&file, projection));
        let columns = |fields: &str| {
            let schema = schema.project(&fields.parse().expect("fields"));
            rate(payload, || read_columns(&file, &schema))
        };
        println!(
            "{codec:<40}{:>10.0}{:>10.0}{:>10.0}{:>10.0}{:>10.0}{:>10.0}",
            read("root"),
            read("5"),
            read("4.0"),
            columns("root"),
            columns("5"),
            columns("4"),
        );
    }
    for codec in ["uncompressed", "zstd:3"] {
        let file = write(&records, codec);
        let columns = |fields: &str| {
            let schema = schema.project(&fields.parse().expect("fields"));
            rate(payload, || read_columns(&file, &schema))
        };
        println!(
            "{codec:<40}{:>10.0}{:>10}{:>10}{:>10.0}{:>10.0}{:>10.0}",
            rate(payload, || read_records(&file, "root")),
            "",
            "",
            columns("root"),
            columns("5"),
            columns("4"),
        );
    }
}

fn write(records: &[Vec<u8>], options: &str) -> Vec<u8> {
    let mut writer = RecordWriter::new(Vec::new(), options.parse::<WriterOptions>().expect(options)).expect("memory");
    for record in records {
        writer.write_record(record).expect("memory");
    }
    writer.close().expect("memory")
}

fn read_records(file: &[u8], projection: &str) -> usize {
    let projection: FieldProjection = projection.parse().expect("fields");
    let options = ReaderOptions::new().field_projection(projection);
    let mut reader = RecordReader::new(BytesSource(file), &options).expect("memory");
    let mut total = 0;
    while let Some(record) = reader.read_record().expect("sound") {
        total += record.len();
    }
    total
}

fn read_columns(file: &[u8], schema: &MessageSchema) -> usize {
    let reader = RecordReader::from_bytes(file).expect("memory");
    let batches = ColumnReader::new(reader, schema);
    batches.map(|batch| black_box(batch.expect("rows")).num_rows()).sum()
}

/// The best rate of some repetitions.
fn rate(payload: usize, mut run: impl FnMut() -> usize) -> f64 {
    let seconds = (0..15)
        .map(|_| {
            let start = Instant::now();
            black_box(run());
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min);
    payload as f64 / 1e6 / seconds
}

fn message(record: u64) -> Vec<u8> {
    let mut message = Vec::new();
    for number in 1..=FIELDS {
        let wire_type = [2, 0, 5, 1][number as usize % 4];
        varint(u64::from(number << 3 | wire_type), &mut message);
        match wire_type {
            0 => varint(record * u64::from(number), &mut message),
            5 => message.extend((record as u32).wrapping_add(number).to_le_bytes()),
            1 => message.extend((record + u64::from(number) * 1_000).to_le_bytes()),
            _ => {
                let text = format!("field_{number}_seed_{record}");
                varint(text.len() as u64, &mut message);
                message.extend(text.as_bytes());
            }
        }
    }
    message
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn schema() -> MessageSchema {
    let field = |number: u32| FieldDescriptorProto {
        name: Some(format!("field_{number}")),
        number: i32::try_from(number).ok(),
        label: Some(Label::Optional.into()),
        r#type: Some([Type::String, Type::Uint64, Type::Fixed32, Type::Double][number as usize % 4].into()),
        ..Default::default()
    };
    let set = FileDescriptorSet {
        file: vec![FileDescriptorProto {
            message_type: vec![DescriptorProto {
                name: Some("Wide".to_owned()),
                field: (1..=FIELDS).map(field).collect(),
                ..Default::default()
            }],
            ..Default::default()
        }],
    };
    MessageSchema::new(&set, "Wide").expect("a schema")
}
