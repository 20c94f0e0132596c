//! What do encoding and decoding threads cost and gain? 60,000 JSON-like records of 1 KiB, in memory, with no threads and with two, for
//! options whose chunks are dear and cheap to encode. Processor
//! time is what may not grow; the time on the wall says something only while nothing else runs.
//!
//! Run: `cargo bench --bench threads`.

use std::time::Duration;

use tidemill_peers::clock::Times;
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
    println!("milliseconds of processor time and on the wall: without threads, with two, ratio\n");
    for text in OPTIONS {
        let [none, two] = [0, 2].map(|threads| {
            let options: WriterOptions = text.parse().expect("options");
            let options = options.parallelism(threads);
            Times::of(|| Vec::with_capacity(70 << 20), |sink| write(&records, sink, &options))
        });
        print(&format!("write {text}"), none, two);
        let file = write(&records, Vec::new(), &text.parse().expect("options"));
        let [none, two] = [0, 2].map(|threads| Times::of(|| (), |()| read(&file, threads)));
        print(&format!("read {text}"), none, two);
    }
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
