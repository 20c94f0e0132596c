//! How fast do `tensorflow.Example` records become columns?
//!
//! Data: `numbers` is 50,000 records of ten int64 and ten float features, `images` is 1,000 of 50 KB of bytes and a label, `lists` is
//! 10,000 of a list of 100 floats. One thread, in memory. Prints the best of some repetitions in MB/s (10^6 bytes of records) and in
//! rows/s, of all columns and of one.
//!
//! Run: `cargo bench -p tidemill-riegeli --bench tensorflow_example`.

use std::{hint::black_box, time::Instant};

use tidemill_riegeli::tensorflow_example::{ExampleDecoder, ExampleKind, ExampleSampler};

fn main() {
    let numbers = |record: usize| {
        let ints = (0..10).map(|k| (format!("int_{k}"), int64(&[(record * k) as u64])));
        let floats = (0..10).map(|k| (format!("float_{k}"), float(&[record as f32 / (k + 1) as f32])));
        example(ints.chain(floats))
    };
    let images = |record: usize| {
        let image = bytes(&vec![record as u8; 50_000]);
        example([("image".to_owned(), image), ("label".to_owned(), int64(&[7]))])
    };
    let lists = |record: usize| example([("list".to_owned(), float(&[record as f32; 100]))]);
    run("numbers", (0..50_000).map(numbers).collect());
    run("images", (0..1_000).map(images).collect());
    run("lists", (0..10_000).map(lists).collect());
}

fn run(name: &str, records: Vec<Vec<u8>>) {
    let size: usize = records.iter().map(Vec::len).sum();
    let print = |what: &str, seconds: f64| {
        println!(
            "{name}, {what}: {:.0} MB/s, {:.2} million rows/s",
            size as f64 / 1e6 / seconds,
            records.len() as f64 / 1e6 / seconds
        );
    };
    let sample = || {
        let mut sampler = ExampleSampler::new(ExampleKind::Example);
        for record in &records {
            sampler.add(record, "").expect("an example");
        }
        sampler.finish()
    };
    print("columns found by all records", best(|| drop(sample())));
    let schema = sample();
    let decode = |mut decoder: ExampleDecoder| {
        for record in &records {
            decoder.append(record, "").expect("fits");
            if decoder.is_full() {
                black_box(decoder.finish().expect("rows"));
            }
        }
        black_box(decoder.finish().expect("rows"));
    };
    print("all columns", best(|| decode(ExampleDecoder::new(&schema))));
    let one = || ExampleDecoder::with_projection(&schema, &[0]).expect("a column");
    print("one column", best(|| decode(one())));
}

/// The shortest time of some repetitions.
fn best(mut work: impl FnMut()) -> f64 {
    (0..7)
        .map(|_| {
            let begin = Instant::now();
            work();
            begin.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

fn example(features: impl IntoIterator<Item = (String, Vec<u8>)>) -> Vec<u8> {
    let entry = |(name, feature): (String, Vec<u8>)| {
        let entry = [field(1, name.as_bytes()), field(2, &feature)].concat();
        field(1, &entry)
    };
    field(1, &features.into_iter().flat_map(entry).collect::<Vec<u8>>())
}

fn bytes(value: &[u8]) -> Vec<u8> {
    field(1, &field(1, value))
}

fn float(values: &[f32]) -> Vec<u8> {
    let values: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    field(2, &field(1, &values))
}

fn int64(values: &[u64]) -> Vec<u8> {
    field(
        3,
        &field(1, &values.iter().flat_map(|&value| varint(value)).collect::<Vec<u8>>()),
    )
}

/// A field that is bytes.
fn field(number: u8, value: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2][..], &varint(value.len() as u64), value].concat()
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}
