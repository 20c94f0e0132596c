//! How long does it take to read every record of a Riegeli file? 100,000 records of about 100 bytes, in memory, in simple
//! chunks without compression and with zstd. The file is written by the rival, so that neither reads its own dialect.

use std::io::Cursor;

use riegeli::CompressionType;
use tidemill_peers::Comparison;
use tidemill_riegeli::RecordReader;

const RECORDS: u64 = 100_000;

fn main() {
    for (name, compression) in [("none", CompressionType::None), ("zstd", CompressionType::Zstd)] {
        let (file, bytes) = file(compression);
        let question = format!("every record of a file, codec {name}");
        let mut comparison = Comparison::new(&question, RECORDS, bytes);
        comparison.contender("tidemill-riegeli, lent slices", &bytes, || file.clone(), ours);
        comparison.contender("riegeli 0.2, owned records", &bytes, || file.clone(), theirs);
    }
}

/// The length of all records.
fn ours(file: Vec<u8>) -> u64 {
    let mut reader = RecordReader::from_bytes(file).expect("a file");
    let mut bytes = 0;
    while let Some(record) = reader.read_record().expect("a record") {
        bytes += record.len() as u64;
    }
    bytes
}

fn theirs(file: Vec<u8>) -> u64 {
    let mut reader = riegeli::RecordReader::new(Cursor::new(file), riegeli::ReaderOptions::new()).expect("a file");
    let mut bytes = 0;
    while let Some(record) = reader.read_record().expect("a record") {
        bytes += record.len() as u64;
    }
    bytes
}

/// The file, and the length of its records.
fn file(compression: CompressionType) -> (Vec<u8>, u64) {
    let mut file = Vec::new();
    let options = riegeli::WriterOptions::new().compression(compression);
    let mut writer = riegeli::RecordWriter::new(Cursor::new(&mut file), options).expect("a writer");
    let mut bytes = 0;
    for record in 0..RECORDS {
        let text = format!(
            "{{\"id\":{record},\"name\":\"customer {:05}\",\"city\":\"town {:03}\",\"amount\":{}.{:02},\"paid\":{}}}",
            record * 7919 % 100_000,
            record % 311,
            record * 31 % 10_000,
            record % 100,
            record % 3 == 0,
        );
        writer.write_record(text.as_bytes()).expect("a record");
        bytes += text.len() as u64;
    }
    writer.close().expect("the end");
    (file, bytes)
}
