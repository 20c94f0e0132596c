//! How fast are records written and read, and rows encoded and decoded, beside the limits of the hash and of the codecs?
//!
//! Data: `small` is 10,000 JSON-like records of 100 B, `large` is 10,000 of 10 KiB, rows are 200,000 of six columns. One
//! thread, in memory, a fresh sink for each repetition. Prints the best of some repetitions in MB/s (10^6 bytes of payload).
//!
//! Run: `cargo bench -p tidemill-riegeli --bench records`.

use std::{hint::black_box, sync::Arc, time::Instant};

use arrow_array::{
    ArrayRef, Date32Array, Decimal128Array, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use arrow_schema::{Field, Schema};
use tidemill_riegeli::{
    RecordReader, RecordWriter, WriterOptions, hash,
    rows::{RowDecoder, RowWriter},
};

const CODECS: [&str; 5] = [
    "uncompressed",
    "uncompressed,chunk_size:1M",
    "zstd:3",
    "brotli:6",
    "snappy",
];

fn main() {
    println!("MB/s of payload, best of the repetitions");
    for (name, size, repetitions) in [("small", 100, 15), ("large", 10_240, 4)] {
        let records: Vec<Vec<u8>> = (0..10_000).map(|number| json(number, size)).collect();
        let payload: usize = records.iter().map(Vec::len).sum();
        let joined = records.concat();
        let rate = |seconds: f64| payload as f64 / 1e6 / seconds;
        println!(
            "{name}: HighwayHash of 4 KiB pieces {:.0}",
            rate(best(repetitions, || {
                joined.chunks(4_096).fold(0, |sum, piece| sum ^ hash(piece))
            }))
        );
        for codec in CODECS {
            let options: WriterOptions = codec.parse().expect("options");
            let write = |capacity: usize| {
                let mut writer = RecordWriter::new(Vec::with_capacity(capacity), options.clone()).expect("memory");
                for record in &records {
                    writer.write_record(record).expect("memory");
                }
                writer.close().expect("memory")
            };
            let repetitions = if codec.starts_with("brotli") {
                repetitions.min(4)
            } else {
                repetitions
            };
            let written = best(repetitions, || write(payload * 2));
            let file = write(0);
            let read = best(repetitions, || {
                let mut reader = RecordReader::from_bytes(&file).expect("memory");
                let mut total = 0;
                while let Some(record) = reader.read_record().expect("sound") {
                    total += record.len();
                }
                assert_eq!(total, payload);
            });
            println!(
                "{name} {codec}: write {:.0}, read {:.0}, file {:.5} of the payload",
                rate(written),
                rate(read),
                file.len() as f64 / payload as f64
            );
        }
        codec_limits(name, &joined, repetitions.min(4));
    }
    rows();
}

/// The codecs alone over 1 MiB pieces, contexts kept.
fn codec_limits(name: &str, joined: &[u8], repetitions: usize) {
    let pieces: Vec<&[u8]> = joined.chunks(1 << 20).collect();
    let rate = |seconds: f64| joined.len() as f64 / 1e6 / seconds;
    let mut encoder = zstd_safe::CCtx::create();
    encoder
        .set_parameter(zstd_safe::CParameter::CompressionLevel(3))
        .expect("a level");
    let mut out = Vec::with_capacity(zstd_safe::compress_bound(1 << 20));
    let compress = best(repetitions, || {
        for piece in &pieces {
            encoder.compress2(&mut out, piece).expect("compresses");
        }
    });
    let compressed: Vec<Vec<u8>> = pieces
        .iter()
        .map(|piece| {
            encoder.compress2(&mut out, piece).expect("compresses");
            out.clone()
        })
        .collect();
    let mut decoder = zstd_safe::DCtx::create();
    let mut plain = Vec::with_capacity(1 << 20);
    let decompress = best(repetitions, || {
        for piece in &compressed {
            decoder.decompress(&mut plain, piece).expect("decompresses");
        }
    });
    println!(
        "{name} zstd:3 alone: compress {:.0}, decompress {:.0}",
        rate(compress),
        rate(decompress)
    );
    let mut encoder = snap::raw::Encoder::new();
    let mut out = vec![0; snap::raw::max_compress_len(1 << 20)];
    let compress = best(repetitions, || {
        for piece in &pieces {
            encoder.compress(piece, &mut out).expect("compresses");
        }
    });
    let compressed: Vec<Vec<u8>> = pieces
        .iter()
        .map(|piece| encoder.compress_vec(piece).expect("compresses"))
        .collect();
    let mut plain = vec![0; 1 << 20];
    let decompress = best(repetitions, || {
        for piece in &compressed {
            snap::raw::Decoder::new()
                .decompress(piece, &mut plain)
                .expect("decompresses");
        }
    });
    println!(
        "{name} snappy alone: compress {:.0}, decompress {:.0}",
        rate(compress),
        rate(decompress)
    );
}

fn rows() {
    let n = 200_000_i32;
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from_iter_values((0..n).map(i64::from)))),
        (
            "quantity",
            Arc::new(Int32Array::from_iter(
                (0..n).map(|i| (i % 10 != 0).then_some(i % 100 - 5)),
            )),
        ),
        (
            "amount",
            Arc::new(
                Decimal128Array::from_iter_values((0..n).map(|i| i128::from(i) * 17))
                    .with_precision_and_scale(12, 2)
                    .expect("a decimal"),
            ),
        ),
        (
            "day",
            Arc::new(Date32Array::from_iter_values((0..n).map(|i| 19_000 + i % 700))),
        ),
        (
            "ratio",
            Arc::new(Float64Array::from_iter_values((0..n).map(|i| f64::from(i) / 7.0))),
        ),
        (
            "name",
            Arc::new(StringArray::from_iter_values(
                (0..n).map(|i| format!("customer number {:05}", i % 5_000)),
            )),
        ),
    ];
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), true))
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let batch =
        RecordBatch::try_new(schema.clone(), columns.into_iter().map(|(_, array)| array).collect()).expect("a batch");
    // Bytes of the values: 8 + 4 + 16 + 4 + 8 + 4 (offset) + 21 (text).
    let payload = f64::from(n) * 65.0 / 1e6;
    let options: WriterOptions = "uncompressed,chunk_size:1M".parse().expect("options");
    let write = || {
        let sink = Vec::with_capacity(32 << 20);
        let mut writer = RowWriter::new(sink, schema.clone(), options.clone()).expect("memory");
        writer.write(&batch).expect("memory");
        writer.into_dest().expect("memory")
    };
    let encode = best(8, write);
    let file = write();
    let all: Vec<usize> = (0..6).collect();
    for (name, projection) in [("all columns", &all[..]), ("one column", &[2][..])] {
        let decode = best(8, || {
            let mut reader = RecordReader::from_bytes(&file).expect("memory");
            let mut decoder = RowDecoder::new(&schema, projection).expect("columns");
            let mut rows = 0;
            while let Some(record) = reader.read_record().expect("sound") {
                decoder.push(record).expect("a row");
                if decoder.rows() == 8_192 {
                    rows += black_box(decoder.finish().expect("a batch")).num_rows();
                }
            }
            assert_eq!(rows + decoder.finish().expect("a batch").num_rows(), 200_000);
        });
        println!(
            "rows, {name}: decode {:.0} MB/s of Arrow data, {:.1} M rows/s",
            payload / decode,
            0.2 / decode
        );
    }
    println!(
        "rows: encode {:.0} MB/s of Arrow data, {:.1} M rows/s",
        payload / encode,
        0.2 / encode
    );
}

/// Returns the seconds of the fastest repetition, after one to warm up.
fn best<T>(repetitions: usize, mut run: impl FnMut() -> T) -> f64 {
    black_box(run());
    (0..repetitions)
        .map(|_| {
            let start = Instant::now();
            black_box(run());
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

/// A record like a line of JSON, of `size` bytes.
fn json(number: u64, size: usize) -> Vec<u8> {
    let mixed = number.wrapping_mul(2_654_435_761);
    let mut record = format!(
        "{{\"id\":{number},\"user\":\"user_{}\",\"score\":{}.{},\"active\":{},\"tags\":\"",
        mixed % 5_000,
        mixed % 97,
        mixed % 1_000,
        mixed.is_multiple_of(2)
    )
    .into_bytes();
    while record.len() + 2 < size {
        record.push(b"abcdefghijklmnop"[record.len() % 16]);
    }
    record.truncate(size - 2);
    record.extend_from_slice(b"\"}");
    record
}
