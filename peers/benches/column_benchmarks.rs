//! What does it take to append a million values to a column of ClickHouse, to write it as a block, and to read it?
//!
//! Data: a million values: numbers, strings of 7 bytes, strings of a hundred different values. `append` fills Arrow's
//! builders; `save` writes a block of `FORMAT Native` into a new vector, and into one that has room; `load` reads it from a
//! slice, and from memory that Arrow may share. The last two columns compare with copying as many bytes: into new memory, and
//! into memory that was written before.
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

const ROWS: usize = 1_000_000;

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
    measure("UInt64", || {
        let mut builder = UInt64Builder::with_capacity(ROWS);
        (0..ROWS as u64).for_each(|number| builder.append_value(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        Arc::new(builder.finish())
    });
    measure("String", || {
        let mut builder = StringBuilder::with_capacity(ROWS, 7 * ROWS);
        texts.iter().for_each(|text| builder.append_value(text));
        Arc::new(builder.finish())
    });
    measure("FixedString(8)", || {
        let mut builder = FixedSizeBinaryBuilder::with_capacity(ROWS, 8);
        few.iter()
            .for_each(|text| builder.append_value(text).expect("eight bytes"));
        Arc::new(builder.finish())
    });
    measure("LowCardinality(String)", || {
        let mut builder = StringDictionaryBuilder::<Int32Type>::with_capacity(ROWS, 100, 800);
        few.iter().for_each(|text| builder.append_value(text));
        Arc::new(builder.finish())
    });
    measure("LowCardinality(FixedString(8))", || {
        let mut builder = FixedSizeBinaryDictionaryBuilder::<Int32Type>::with_capacity(ROWS, 100, 8);
        few.iter().for_each(|text| {
            builder.append(text).expect("eight bytes");
        });
        Arc::new(builder.finish())
    });
    measure("Array(UInt64)", || {
        let mut builder = ListBuilder::with_capacity(UInt64Builder::with_capacity(ROWS), ROWS / 4);
        for number in 0..ROWS as u64 {
            builder.values().append_value(number);
            if number % 4 == 3 {
                builder.append(true);
            }
        }
        Arc::new(builder.finish())
    });
    measure("Nullable(Float64)", || {
        let mut builder = Float64Builder::with_capacity(ROWS);
        (0..ROWS).for_each(|number| builder.append_option((number % 3 > 0).then_some(number as f64)));
        Arc::new(builder.finish())
    });
}

fn measure(name: &str, append: impl Fn() -> ArrayRef) {
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
