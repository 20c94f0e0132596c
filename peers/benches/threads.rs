//! What do encoding and decoding threads cost and gain? 60,000 JSON-like records of 1 KiB, in memory, with no threads and with two, for
//! options whose chunks are dear and cheap to encode. Processor
//! time is what may not grow; the time on the wall says something only while nothing else runs.
//!
//! At the end come the gates of the project, met or missed.
//!
//! `cargo bench --bench threads -- zstd:3` runs the options that have the word.

use std::{env, time::Duration};

use tidemill_peers::{
    clock::Times,
    gates::{Bound, Gates},
};
use tidemill_riegeli::{BytesSource, ReaderOptions, RecordReader, RecordWriter, WriterOptions};

const OPTIONS: [&str; 9] = [
    "uncompressed",
    "snappy",
    "zstd:3",
    "brotli:6",
    "zstd:3,chunk_size:4K",
    "transpose,uncompressed",
    "transpose,uncompressed,chunk_size:1M",
    "transpose,zstd:3",
    "transpose,brotli:6",
];

fn main() {
    let records: Vec<Vec<u8>> = (0..60_000).map(record).collect();
    let words: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let asked = |options: &&str| words.iter().all(|word| options.split(',').any(|option| option == word));
    let mut gates = Gates::default();
    println!("milliseconds of processor time and on the wall: without threads, with two, ratio\n");
    for text in OPTIONS.into_iter().filter(asked) {
        let [none, two] = [0, 2].map(|threads| {
            let options: WriterOptions = text.parse().expect("options");
            let options = options.parallelism(threads);
            Times::of(|| Vec::with_capacity(70 << 20), |sink| write(&records, sink, &options))
        });
        print(&format!("write {text}"), none, two);
        add_gates(&mut gates, "write", text, none, two);
        let file = write(&records, Vec::new(), &text.parse().expect("options"));
        let [none, two] = [0, 2].map(|threads| Times::of(|| (), |()| read(&file, threads)));
        print(&format!("read {text}"), none, two);
        add_gates(&mut gates, "read", text, none, two);
    }
    gates.print();
    println!("the time on the wall counts only where two processors were free");
}

/// Two threads may cost 15 % more, gain 1.7 times where a codec is dear, and never make slower, but for what two runs differ by.
fn add_gates(gates: &mut Gates, work: &str, options: &str, none: Times, two: Times) {
    let ratio = |a: Duration, b: Duration| a.as_secs_f64() / b.as_secs_f64();
    let what = format!("{work} {options}: processor time, two threads to none");
    gates.add(what, Bound::Most(1.15), ratio(two.cpu, none.cpu));
    let least = match options {
        "brotli:6" | "zstd:3" => 1.7,
        _ => 0.97,
    };
    let what = format!("{work} {options}: speed on the wall, two threads to none");
    gates.add(what, Bound::Least(least), ratio(none.wall, two.wall));
}

fn print(what: &str, none: Times, two: Times) {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "{what:<44}{:>8.1}{:>8.1}{:>6.2}   {:>8.1}{:>8.1}{:>6.2}",
        ms(none.cpu),
        ms(two.cpu),
        ms(two.cpu) / ms(none.cpu),
        ms(none.wall),
        ms(two.wall),
        ms(none.wall) / ms(two.wall)
    );
}

fn read(file: &[u8], threads: usize) -> usize {
    let options = ReaderOptions::new().parallelism(threads);
    let mut reader = RecordReader::new(BytesSource(file), &options).expect("memory");
    let mut bytes = 0;
    while let Some(record) = reader.read_record().expect("sound") {
        bytes += record.len();
    }
    bytes
}

fn write(records: &[Vec<u8>], sink: Vec<u8>, options: &WriterOptions) -> Vec<u8> {
    let mut writer = RecordWriter::new(sink, options.clone()).expect("memory");
    for record in records {
        writer.write_record(record).expect("memory");
    }
    writer.close().expect("memory")
}

fn record(number: u32) -> Vec<u8> {
    let mut record = Vec::with_capacity(1_024);
    let mut state = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    while record.len() < 1_000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        record
            .extend_from_slice(format!("{{\"id\":{number},\"value\":{},\"flag\":true}},", state % 100_000).as_bytes());
    }
    record
}
