//! What does it take to append a million values to a column of ClickHouse, to write it as a block, and to read it?
//!
//! Data: a million values: numbers, strings of 7 bytes, strings of a hundred different values. `append` fills Arrow's
//! builders; `save` writes a block of `FORMAT Native` into a new vector, and into one that has room; `load` reads it from a
//! slice, and from memory that Arrow may share. The last two columns compare with copying as many bytes: into new memory, and
//! into memory that was written before. The gates of strings and dictionaries are times of clickhouse-cpp, measured once on a machine of the
//! same kind.
//!
//! Run: `cargo bench --bench column_benchmarks`.

use std::{hint::black_box, sync::Arc, time::Duration};

use arrow_array::{
    ArrayRef, RecordBatch,
    builder::{
        FixedSizeBinaryBuilder, FixedSizeBinaryDictionaryBuilder, Float64Builder, ListBuilder, StringBuilder,
        StringDictionaryBuilder, UInt64Builder,
    },
    types::Int32Type,
};
use tidemill_clickhouse::{
    BlockDecoder, BlockEncoder, DataType, Revision,
    source::{BlockingSource, BufferSource, SliceSource},
};
use tidemill_peers::clock::Times;
use tidemill_peers::gates::{Bound, Gates};

const ROWS: usize = 1_000_000;

/// Milliseconds that clickhouse-cpp takes to append, save and load, and how many times as fast we are to be.
const CLICKHOUSE_CPP: [(&str, [f64; 3], f64); 4] = [
    ("String", [36.0, 45.0, 38.0], 3.0),
    ("FixedString(8)", [20.219, 0.796, 0.796], 1.0),
    ("LowCardinality(String)", [26.411, 0.563, 0.182], 1.0),
    ("LowCardinality(FixedString(8))", [22.723, 0.152, 0.169], 1.0),
];

fn main() {
    println!("milliseconds of processor time for a million values");
    println!(
        "{:<34}{:>9}{:>9}{:>9}{:>9}{:>9}{:>11}{:>9}{:>9}",
        "", "append", "save", "reused", "load", "shared", "bytes", "copy", "reused"
    );
    let texts: Vec<String> = (0..ROWS).map(|number| format!("{number:07}")).collect();
    let few: Vec<String> = (0..ROWS)
        .map(|number| format!("few{:05}", number * 7919 % 100))
        .collect();
    let mut gates = Gates::default();
    let mut measure = |name: &str, append: &dyn Fn() -> ArrayRef| measure(name, append, &mut gates);
    measure("UInt64", &|| {
        let mut builder = UInt64Builder::with_capacity(ROWS);
        (0..ROWS as u64).for_each(|number| builder.append_value(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        Arc::new(builder.finish())
    });
    measure("String", &|| {
        let mut builder = StringBuilder::with_capacity(ROWS, 7 * ROWS);
        texts.iter().for_each(|text| builder.append_value(text));
        Arc::new(builder.finish())
    });
    measure("FixedString(8)", &|| {
        let mut builder = FixedSizeBinaryBuilder::with_capacity(ROWS, 8);
        few.iter()
            .for_each(|text| builder.append_value(text).expect("eight bytes"));
        Arc::new(builder.finish())
    });
    measure("LowCardinality(String)", &|| {
        let mut builder = StringDictionaryBuilder::<Int32Type>::with_capacity(ROWS, 100, 800);
        few.iter().for_each(|text| builder.append_value(text));
        Arc::new(builder.finish())
    });
    measure("LowCardinality(FixedString(8))", &|| {
        let mut builder = FixedSizeBinaryDictionaryBuilder::<Int32Type>::with_capacity(ROWS, 100, 8);
        few.iter().for_each(|text| {
            builder.append(text).expect("eight bytes");
        });
        Arc::new(builder.finish())
    });
    measure("Array(UInt64)", &|| {
        let mut builder = ListBuilder::with_capacity(UInt64Builder::with_capacity(ROWS), ROWS / 4);
        for number in 0..ROWS as u64 {
            builder.values().append_value(number);
            if number % 4 == 3 {
                builder.append(true);
            }
        }
        Arc::new(builder.finish())
    });
    measure("Nullable(Float64)", &|| {
        let mut builder = Float64Builder::with_capacity(ROWS);
        (0..ROWS).for_each(|number| builder.append_option((number % 3 > 0).then_some(number as f64)));
        Arc::new(builder.finish())
    });
    small();
    gates.print();
}

/// A block of ten columns and a hundred rows, as small queries have it.
fn small() {
    let types = [
        "UInt8",
        "UInt64",
        "Float64",
        "String",
        "Nullable(String)",
        "Date",
        "DateTime('UTC')",
        "LowCardinality(String)",
        "Decimal(18, 2)",
        "Bool",
    ];
    let header = |name: &str| format!("c{name}");
    let mut bytes = vec![types.len() as u8, 100];
    for data_type in types {
        for text in [&header(data_type)[..], data_type] {
            bytes.push(text.len() as u8);
            bytes.extend(text.as_bytes());
        }
        match data_type {
            "LowCardinality(String)" => {
                [1, 0x600, 1]
                    .iter()
                    .for_each(|number: &u64| bytes.extend(number.to_le_bytes()));
                bytes.push(0);
                bytes.extend(100_u64.to_le_bytes());
                bytes.extend([0; 100]);
            }
            "Nullable(String)" => bytes.extend([0; 200]),
            "UInt8" | "String" | "Bool" => bytes.extend([0; 100]),
            "Date" => bytes.extend([0; 200]),
            "DateTime('UTC')" => bytes.extend([0; 400]),
            _ => bytes.extend([0; 800]),
        }
    }
    let block = BlockDecoder::default()
        .decode_blocking(&mut SliceSource::new(&bytes), Revision::FILE)
        .expect("a block");
    let decode = Times::of(
        || (),
        |()| {
            (0..1000)
                .map(|_| load(&mut SliceSource::new(&bytes)).num_rows())
                .sum::<usize>()
        },
    );
    let mut written = Vec::new();
    let encode = Times::of(
        || (),
        |()| {
            for _ in 0..1000 {
                written.clear();
                BlockEncoder::default()
                    .encode(&block, Revision::FILE, &mut written)
                    .expect("a block");
            }
        },
    );
    let us = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "\nmicroseconds for a block of 10 columns and 100 rows: load {:.2}, save {:.2}",
        us(decode.cpu),
        us(encode.cpu)
    );
}

fn measure(name: &str, append: &dyn Fn() -> ArrayRef, gates: &mut Gates) {
    let data_type: DataType = name.parse().expect("a type");
    let batch = RecordBatch::try_from_iter([("c", append())]).expect("a batch");
    let types = [data_type];
    let encoder = BlockEncoder::default();
    let save = |mut bytes: Vec<u8>| {
        encoder
            .encode_batch(&batch, &types, Revision::FILE, &mut bytes)
            .expect("a block");
        bytes
    };
    let saved = save(Vec::new());
    let room = std::cell::RefCell::new(save(Vec::new()));
    let append = Times::of(|| (), |()| append());
    let fresh = Times::of(Vec::new, save);
    let reused = Times::of(
        || {
            let mut bytes = std::mem::take(&mut *room.borrow_mut());
            bytes.clear();
            bytes
        },
        |bytes| *room.borrow_mut() = save(bytes),
    );
    let load = Times::of(|| SliceSource::new(&saved), |mut source| load(&mut source));
    // The values begin at a multiple of eight, as they do in one block of eight.
    let header = saved.len() - payload(&saved, &types[0]);
    let align = (8 - header % 8) % 8;
    let mut shifted = vec![0; align + saved.len()];
    shifted[align..align + saved.len()].copy_from_slice(&saved);
    let buffer = arrow_buffer::Buffer::from_vec(shifted).slice_with_length(align, saved.len());
    let shared = Times::of(
        || BufferSource::new(buffer.clone()),
        |mut source| self::load(&mut source),
    );
    let copy = Times::of(|| (), |()| saved.clone());
    let target = std::cell::RefCell::new(saved.clone());
    let copy_reused = Times::of(|| (), |()| target.borrow_mut().copy_from_slice(black_box(&saved)));
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "{name:<34}{:>9.3}{:>9.3}{:>9.3}{:>9.3}{:>9.3}{:>11}{:>9.3}{:>9.3}",
        ms(append.cpu),
        ms(fresh.cpu),
        ms(reused.cpu),
        ms(load.cpu),
        ms(shared.cpu),
        saved.len(),
        ms(copy.cpu),
        ms(copy_reused.cpu),
    );
    let ratio = |of: &Times, to: &Times| of.cpu.as_secs_f64() / to.cpu.as_secs_f64();
    if name == "UInt64" {
        let nearly = Bound::Least(0.9);
        gates.add(
            "UInt64: copying over saving into a reused buffer",
            nearly,
            ratio(&copy_reused, &reused),
        );
        gates.add("UInt64: copying over loading", nearly, ratio(&copy, &load));
        gates.add(
            "UInt64: loading from shared memory over copying",
            Bound::Most(0.01),
            ratio(&shared, &copy),
        );
    }
    if let Some((_, times, faster)) = CLICKHOUSE_CPP.iter().find(|(known, ..)| *known == name) {
        for ((what, theirs), ours) in ["append", "save", "load"]
            .into_iter()
            .zip(times)
            .zip([&append, &reused, &load])
        {
            let found = theirs / ms(ours.cpu);
            gates.add(
                format!("{name}: clickhouse-cpp over {what}"),
                Bound::Least(*faster),
                found,
            );
        }
    }
}

/// The bytes behind the header of a block of one column.
fn payload(saved: &[u8], data_type: &DataType) -> usize {
    let name = data_type.to_string();
    let header = saved
        .windows(name.len())
        .position(|window| window == name.as_bytes())
        .expect("the type");
    saved.len() - header - name.len()
}

fn load(source: &mut impl BlockingSource) -> RecordBatch {
    BlockDecoder::default()
        .decode_blocking(source, Revision::FILE)
        .expect("a block")
        .batch
}
