//! How fast do records become Arrow arrays?
//!
//! Data: tables built in memory, so that no disk is measured. `narrow`: 100,000 records of (N(8,0), C(4), N(8,2)), 21
//! bytes each, the table of the gate (at most 4 ms on one core). `wide`: 100,000 records of twelve C fields of 8 to 60
//! bytes in cp850, one character in sixteen beyond ASCII. Question: decoding every column of every record, against copying the same
//! bytes. Median of 31 runs.
//!
//! `cargo bench -p tidemill-xbase --bench decode`

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use tidemill_xbase::{CodePage, Deleted, OpenOptions, Scan, Table};

const RECORDS: u32 = 100_000;
const RUNS: usize = 31;

fn main() {
    let wide: Vec<(u8, u8, u8)> = [8, 60, 30, 12, 40, 20, 10, 50, 25, 15, 35, 45]
        .map(|w| (b'C', w, 0))
        .to_vec();
    for (name, fields) in [
        ("narrow", vec![(b'N', 8, 0), (b'C', 4, 0), (b'N', 8, 2)]),
        ("wide", wide),
    ] {
        let bytes = table(&fields, name == "wide");
        let len = bytes.len();
        let mut copy = vec![0u8; len];
        let limit = median(|| {
            copy.copy_from_slice(black_box(&bytes));
            black_box(&copy);
        });
        report(name, "memcpy", len, limit);
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), &bytes).expect("a written table");
        let options = OpenOptions::new().codepage(CodePage::Cp850);
        let memory = Arc::new(Table::from_bytes(bytes, None, &options).expect("a table in memory"));
        let positional = Arc::new(Table::open(file.path(), &options).expect("a table"));
        for (source, table) in [("memory", &memory), ("positional reads", &positional)] {
            for (what, deleted) in [("all records", Deleted::Include), ("without deleted", Deleted::Skip)] {
                let time = median(|| {
                    for batch in table.scan(Scan::new().deleted(deleted)).expect("a scan") {
                        black_box(batch.expect("a batch"));
                    }
                });
                report(name, &format!("{source}, {what}"), len, time);
            }
        }
        for index in 0..fields.len().min(3) {
            let time = median(|| {
                for batch in memory.scan(Scan::new().projection(vec![index])).expect("a scan") {
                    black_box(batch.expect("a batch"));
                }
            });
            report(name, &format!("memory, only field {index}"), len, time);
        }
    }
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

fn report(name: &str, what: &str, bytes: usize, seconds: f64) {
    let (rate, rows) = (bytes as f64 / seconds / 1e6, f64::from(RECORDS) / seconds / 1e6);
    println!(
        "{name:8} {what:34} {:8.3} ms {rate:9.0} MB/s {rows:8.1} Mrows/s",
        seconds * 1e3
    );
}

/// A dBASE III table of `fields` (letter, width, decimals); one record in 50 is deleted.
fn table(fields: &[(u8, u8, u8)], umlauts: bool) -> Vec<u8> {
    let record = 1 + fields.iter().map(|f| u16::from(f.1)).sum::<u16>();
    let header = 32 + 32 * u16::try_from(fields.len()).expect("few fields") + 1;
    let mut out = vec![0x03, 126, 1, 1];
    out.extend(RECORDS.to_le_bytes());
    out.extend(header.to_le_bytes());
    out.extend(record.to_le_bytes());
    out.resize(32, 0);
    for (i, (letter, width, decimals)) in fields.iter().enumerate() {
        let mut descriptor = [0u8; 32];
        descriptor[..2].copy_from_slice(&[b'A', b'A' + u8::try_from(i).expect("few fields")]);
        (descriptor[11], descriptor[16], descriptor[17]) = (*letter, *width, *decimals);
        out.extend(descriptor);
    }
    out.push(0x0D);
    let mut seed = 1u32;
    let mut random = move |n: u32| {
        seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12_345) & 0x7FFF_FFFF;
        (seed >> 16) % n
    };
    for i in 0..RECORDS {
        out.push(if i % 50 == 49 { b'*' } else { b' ' });
        for (letter, width, decimals) in fields {
            let width = usize::from(*width);
            let text: Vec<u8> = match (letter, decimals) {
                (b'N', 0) => format!("{:>width$}", i + 1).into_bytes(),
                (b'N', _) => format!("{:>width$.2}", f64::from(random(2_000_000)) / 100.0 - 9_999.0).into_bytes(),
                _ => {
                    let len = 1 + random(u32::try_from(width).expect("a small width")) as usize;
                    let mut text: Vec<u8> = (0..len)
                        .map(|_| {
                            if umlauts && random(16) == 0 {
                                0x81
                            } else {
                                b'a' + u8::try_from(random(26)).expect("a letter")
                            }
                        })
                        .collect();
                    text.resize(width, b' ');
                    text
                }
            };
            out.extend(text);
        }
    }
    out.push(0x1A);
    out
}
