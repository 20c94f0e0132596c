//! What this machine can do at most: loops for one question and one layout, which check nothing.

use super::{Answering, Line, Question, Reference, Spread, table::STRIDE};

/// What the lines of these loops are called.
pub const ENGINE: &str = "limit (by hand)";

/// The bytes of all records, read once.
#[must_use]
pub fn bandwidth(reference: &Reference, repeats: usize) -> Spread {
    let body = reference.records();
    let sum = |body: &[u8]| {
        let words = body.as_chunks::<8>().0.iter();
        words.fold(0, |sum: u64, word| sum.wrapping_add(u64::from_le_bytes(*word)))
    };
    Spread::measure(repeats, &sum(body), || body, sum)
}

/// Each question's own loop.
#[must_use]
pub fn lines(reference: &Reference, repeats: usize) -> Vec<Line> {
    let questions: [(Question, Answering<[u8]>); 5] = [
        (Question::Count, count),
        (Question::Filter, filter),
        (Question::Sum, sum),
        (Question::Group, group),
        (Question::Between, between),
    ];
    let body = reference.records();
    let lines = questions.into_iter().map(|(question, run)| Line {
        question,
        filter: None,
        engine: ENGINE.to_owned(),
        times: Spread::measure(repeats, &reference.answer(question), || body, run),
        units: reference.rows.len(),
        calls: 0,
        note: String::new(),
    });
    lines.collect()
}

fn count(body: &[u8]) -> Vec<i64> {
    vec![
        body.chunks_exact(STRIDE)
            .map(|record| i64::from(record[0] != b'*'))
            .sum(),
    ]
}

fn filter(body: &[u8]) -> Vec<i64> {
    let bits = body.chunks(64 * STRIDE).map(|records| {
        let records = records.chunks_exact(STRIDE).enumerate();
        records.fold(0_u64, |word, (i, record)| {
            word | u64::from(&record[9..13] == b"AAAA") << i
        })
    });
    let bits: Vec<u64> = bits.collect();
    vec![bits.iter().map(|word| i64::from(word.count_ones())).sum()]
}

/// The hundredths of `99999.99` with blanks in front: one word, three multiplications.
#[inline(always)]
fn cents(record: &[u8]) -> i64 {
    let word = record.last_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let digits = (word & 0xFFFF_0000_0000_0000) | ((word & 0x0000_00FF_FFFF_FFFF) << 8);
    let pairs = (digits & 0x0F0F_0F0F_0F0F_0F0F).wrapping_mul(2561) >> 8;
    let fours = (pairs & 0x00FF_00FF_00FF_00FF).wrapping_mul(6_553_601) >> 16;
    ((fours & 0x0000_FFFF_0000_FFFF).wrapping_mul(42_949_672_960_001) >> 32).cast_signed()
}

fn sum(body: &[u8]) -> Vec<i64> {
    let (mut sum, mut min, mut max, mut count) = (0, i64::MAX, i64::MIN, 0);
    for record in body.chunks_exact(STRIDE) {
        let cents = cents(record);
        (sum, min, max, count) = (sum + cents, min.min(cents), max.max(cents), count + 1);
    }
    vec![sum, count, min, max]
}

fn between(body: &[u8]) -> Vec<i64> {
    let records = body.chunks_exact(STRIDE);
    vec![
        records
            .map(|record| i64::from((10_000..=50_000).contains(&cents(record))))
            .sum(),
    ]
}

fn group(body: &[u8]) -> Vec<i64> {
    let (mut keys, mut counts) = ([0_u32; 1024], [0; 1024]);
    for record in body.chunks_exact(STRIDE) {
        let key = u32::from_le_bytes([record[9], record[10], record[11], record[12]]);
        let mut slot = (key.wrapping_mul(0x9E37_79B1) >> 22) as usize;
        while keys[slot] != key && keys[slot] != 0 {
            slot = (slot + 1) & 1023;
        }
        keys[slot] = key;
        counts[slot] += 1;
    }
    let mut found: Vec<_> = keys.into_iter().zip(counts).filter(|(key, _)| *key != 0).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, count)| count).collect()
}
