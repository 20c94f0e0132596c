//! How fast is an expression over a batch, beside a loop that is written for it alone?
//!
//! Data: 100,000 rows in memory, in batches of 8192: TAG C(4), one of AAAA to ZZZZ; NAME C(15), 5 to 15 letters, its trailing blanks gone as a
//! scan leaves them; DAT D. Questions: `TAG = 'AAAA'` as bits; `UPPER(NAME) + DTOS(DAT)` as bytes. The loops do the same
//! to the same arrays. Median of 31 runs; the ratio is what counts.
//!
//! `cargo bench -p tidemill-xbase --bench expression`

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, RecordBatch, StringArray};
use arrow_buffer::{BooleanBuffer, Buffer, OffsetBuffer};
use tidemill_xbase::expression::{Environment, Program};
use tidemill_xbase::{CodePage, OpenOptions, Table};

const ROWS: usize = 100_000;
/// The rows of a batch, as scans give them.
const BATCH: usize = 8192;
const RUNS: usize = 31;

fn main() {
    let table = table();
    let whole = batch();
    let batches: Vec<RecordBatch> = (0..ROWS)
        .step_by(BATCH)
        .map(|start| whole.slice(start, BATCH.min(ROWS - start)))
        .collect();
    let environment = Environment::new(CodePage::Cp437);
    fn column<'a>(batch: &'a RecordBatch, name: &str) -> &'a ArrayRef {
        batch.column_by_name(name).expect("a column")
    }

    let filter = Program::compile("TAG = 'AAAA'", table.fields(), &environment).expect("a filter");
    let limit = median(|| {
        for batch in &batches {
            black_box(tag_by_hand(column(batch, "TAG")));
        }
    });
    let time = median(|| {
        for batch in &batches {
            black_box(filter.evaluate(batch).expect("bits"));
        }
    });
    report("TAG = 'AAAA'", time, limit);

    let key = Program::compile_key("UPPER(NAME) + DTOS(DAT)", table.fields(), &environment).expect("a key");
    let by_hand = key_by_hand(column(&whole, "NAME"), column(&whole, "DAT"));
    let evaluated = key.evaluate_bytes(&whole).expect("keys");
    assert_eq!(&by_hand as &dyn Array, &*evaluated);
    let limit = median(|| {
        for batch in &batches {
            black_box(key_by_hand(column(batch, "NAME"), column(batch, "DAT")));
        }
    });
    let time = median(|| {
        for batch in &batches {
            black_box(key.evaluate_bytes(batch).expect("keys"));
        }
    });
    report("UPPER(NAME) + DTOS(DAT)", time, limit);
}

fn tag_by_hand(tag: &ArrayRef) -> BooleanArray {
    let tag = tag.as_any().downcast_ref::<StringArray>().expect("texts");
    BooleanBuffer::collect_bool(tag.len(), |row| tag.value(row) == "AAAA").into()
}

fn key_by_hand(name: &ArrayRef, day: &ArrayRef) -> BinaryArray {
    let name = name.as_any().downcast_ref::<StringArray>().expect("texts");
    let day = day.as_any().downcast_ref::<Date32Array>().expect("days");
    let mut bytes = Vec::with_capacity(name.len() * 23);
    for row in 0..name.len() {
        let start = bytes.len();
        bytes.extend_from_slice(name.value(row).as_bytes());
        bytes.resize(start + 15, b' ');
        bytes[start..].make_ascii_uppercase();
        let (year, month, day) = civil(day.value(row));
        for (unit, number) in [(1000, year), (10, month), (10, day)] {
            let mut unit = unit;
            while unit > 0 {
                bytes.push(b'0' + u8::try_from(number / unit % 10).expect("a digit"));
                unit /= 10;
            }
        }
    }
    let offsets = OffsetBuffer::from_lengths(std::iter::repeat_n(23, name.len()));
    BinaryArray::new(offsets, Buffer::from_vec(bytes), None)
}

/// Year, month and day of days since 1970-01-01.
fn civil(days: i32) -> (i32, i32, i32) {
    let shifted = days + 719_468;
    let (era, day) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let of_era = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * of_era + of_era / 4 - of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (of_era + era * 400 + i32::from(month <= 2), month, day)
}

fn batch() -> RecordBatch {
    let mut seed = 1u32;
    let mut random = |below: u32| {
        seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        (seed >> 16) % below
    };
    let letter = |n: u32| char::from(b'a' + u8::try_from(n).expect("a letter"));
    let tags: StringArray = (0..ROWS)
        .map(|_| Some(letter(random(26)).to_ascii_uppercase().to_string().repeat(4)))
        .collect();
    let names: StringArray = (0..ROWS)
        .map(|_| {
            let len = 5 + random(11);
            Some((0..len).map(|_| letter(random(26))).collect::<String>())
        })
        .collect();
    let days: Date32Array = (0..ROWS).map(|_| Some(random(20_000).cast_signed())).collect();
    RecordBatch::try_from_iter([
        ("TAG", Arc::new(tags) as ArrayRef),
        ("NAME", Arc::new(names)),
        ("DAT", Arc::new(days)),
    ])
    .expect("columns of one length")
}

/// A table without records that has the fields.
fn table() -> Table {
    let mut bytes = vec![3, 124, 1, 31, 0, 0, 0, 0, 129, 0, 28, 0];
    bytes.resize(32, 0);
    for (name, letter, width) in [(b"TAG\0", b'C', 4), (b"NAME", b'C', 15), (b"DAT\0", b'D', 8)] {
        let mut descriptor = [0; 32];
        descriptor[..4].copy_from_slice(name);
        (descriptor[11], descriptor[16]) = (letter, width);
        bytes.extend(descriptor);
    }
    bytes.push(0x0D);
    Table::from_bytes(bytes, None, &OpenOptions::new()).expect("a sound table")
}

fn median(mut run: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[RUNS / 2]
}

fn report(what: &str, seconds: f64, limit: f64) {
    let (ms, limit_ms, ratio) = (seconds * 1e3, limit * 1e3, seconds / limit);
    println!("{what:26} {ms:8.3} ms  by hand {limit_ms:8.3} ms  ratio {ratio:5.2}");
}
