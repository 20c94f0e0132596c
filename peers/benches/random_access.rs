//! How long does it take to go to a record and read it: by its position, by a number inside the file, and by a search for its
//! key? 200,000 records of 100 bytes with sorted keys, in memory; the crate riegeli reads the same file.
//!
//! `cargo bench --bench random_access -- search` runs what has the word in its name, or in its options.

use std::{env, io::Cursor};

use tidemill_peers::clock::Times;
use tidemill_riegeli::{RecordPosition, RecordReader, RecordWriter, WriterOptions};

const RECORDS: u32 = 200_000;
const SEEKS: u32 = 200;
const SEARCHES: u32 = 20;

fn main() {
    let words: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    println!("microseconds of processor time for each operation\n");
    println!(
        "{:<28}{:<30}{:>10}{:>10}{:>8}",
        "operation", "options", "ours", "rival", "ratio"
    );
    for options in ["zstd:3", "uncompressed,chunk_size:4K", "transpose,zstd:3"] {
        let (file, positions) = file(options);
        let mut ours = RecordReader::from_bytes(&file).expect("a file");
        let rival = riegeli::RecordReader::new(Cursor::new(&file), riegeli::ReaderOptions::new());
        let mut rival = rival.expect("a file");
        let wanted = |count: u32| (0..count).map(|number| number.wrapping_mul(2_654_435_761) % RECORDS);

        let row = |name: &str, count: u32, ours: Times, rival: Times| {
            let micros = |times: Times| times.cpu.as_secs_f64() * 1e6 / f64::from(count);
            let (ours, rival) = (micros(ours), micros(rival));
            println!("{name:<28}{options:<30}{ours:>10.2}{rival:>10.2}{:>8.2}", rival / ours);
        };
        let asked = |name: &str| {
            words
                .iter()
                .all(|word| name.contains(&**word) || options.contains(&**word))
        };
        if asked("seek and read") {
            let a = Times::of(
                || (),
                |()| {
                    for number in wanted(SEEKS) {
                        ours.seek(positions[number as usize]).expect("a position");
                        let record = ours.read_record().expect("sound").expect("a record");
                        assert_eq!(record[..8], key(number));
                    }
                },
            );
            let b = Times::of(
                || (),
                |()| {
                    for number in wanted(SEEKS) {
                        let pos = positions[number as usize];
                        let pos = riegeli::RecordPosition::new(pos.chunk_begin, pos.record_index);
                        rival.seek(pos).expect("a position");
                        let record = rival.read_record().expect("sound").expect("a record");
                        assert_eq!(record[..8], key(number));
                    }
                },
            );
            row("seek and read", SEEKS, a, b);
        }
        if asked("numeric seek and read") {
            let a = Times::of(
                || (),
                |()| {
                    for number in wanted(SEEKS) {
                        ours.seek_numeric(positions[number as usize].numeric())
                            .expect("a position");
                        let record = ours.read_record().expect("sound").expect("a record");
                        assert_eq!(record[..8], key(number));
                    }
                },
            );
            let b = Times::of(
                || (),
                |()| {
                    for number in wanted(SEEKS) {
                        rival
                            .seek_numeric(positions[number as usize].numeric())
                            .expect("a position");
                        let record = rival.read_record().expect("sound").expect("a record");
                        assert_eq!(record[..8], key(number));
                    }
                },
            );
            row("numeric seek and read", SEEKS, a, b);
        }
        if asked("search and read") {
            let a = Times::of(
                || (),
                |()| {
                    for number in wanted(SEARCHES) {
                        let key = key(number);
                        ours.search(|record| Ok(Some(record[..8].cmp(&key)))).expect("sound");
                        let record = ours.read_record().expect("sound").expect("a record");
                        assert_eq!(record[..8], key);
                    }
                },
            );
            let b = Times::of(
                || (),
                |()| {
                    for number in wanted(SEARCHES) {
                        let key = key(number);
                        rival.search(|record| record[..8].cmp(&key)).expect("sound");
                        let record = rival.read_record().expect("sound").expect("a record");
                        assert_eq!(record[..8], key);
                    }
                },
            );
            row("search and read", SEARCHES, a, b);
        }
    }
}

fn key(number: u32) -> [u8; 8] {
    u64::from(number).to_be_bytes()
}

/// A file of records that begin with their keys, and where each is.
fn file(options: &str) -> (Vec<u8>, Vec<RecordPosition>) {
    let options: WriterOptions = options.parse().expect("options");
    let mut writer = RecordWriter::new(Vec::new(), options).expect("a writer");
    let mut positions = Vec::new();
    for number in 0..RECORDS {
        let mut record = key(number).to_vec();
        let text = format!(
            "{{\"customer\":{:05},\"city\":\"town {:03}\",\"amount\":{}.{:02},\"paid\":{}}}",
            number.wrapping_mul(7_919) % 100_000,
            number % 311,
            number.wrapping_mul(31) % 10_000,
            number % 100,
            number % 3 == 0,
        );
        record.extend_from_slice(text.as_bytes());
        record.resize(100, b'.');
        writer.write_record(&record).expect("a record");
        positions.push(writer.last_pos().expect("a position"));
    }
    (writer.close().expect("the end"), positions)
}
