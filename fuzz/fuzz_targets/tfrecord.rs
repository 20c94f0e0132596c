//! TFRecord files, compressed or not: as they are, and with the input as their compressed form whatever its first bytes say. What is
//! read is written again, and is the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tidemill_riegeli::tfrecord::{TfRecordCompression, TfRecordReader, TfRecordWriter};

fuzz_target!(|input: &[u8]| {
    read(TfRecordReader::new(input));
    for compression in [
        TfRecordCompression::None,
        TfRecordCompression::Gzip,
        TfRecordCompression::Zlib,
    ] {
        let records = read(TfRecordReader::new(input).with_compression(compression));
        let mut writer = TfRecordWriter::compressed(Vec::new(), compression);
        for record in &records {
            writer.write_record(record).expect("memory");
        }
        let file = writer.close().expect("memory");
        assert!(read(TfRecordReader::new(&file[..])) == records);
    }
});

fn read(reader: TfRecordReader<&[u8]>) -> Vec<Vec<u8>> {
    const MOST: usize = 1 << 24;
    let mut reader = reader.max_record_size(1 << 20);
    let (mut records, mut bytes) = (Vec::new(), 0);
    while let Ok(Some(record)) = reader.read_record() {
        records.push(record.to_vec());
        // A thousand times as much may be compressed.
        bytes += record.len() + 64;
        if bytes > MOST {
            break;
        }
    }
    records
}
