//! TFRecord files, compressed or not: as they are, and with the input as their compressed form whatever its first bytes say. What is
//! read is written again, and is the same. Recovery finds the records that come before damage, and others behind it, outside of what it
//! has left out.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tidemill_riegeli::tfrecord::{TfRecordCompression, TfRecordReader, TfRecordWriter};

fuzz_target!(|input: &[u8]| {
    let sound = read(TfRecordReader::new(input));
    recover(input, &sound);
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

fn recover(input: &[u8], sound: &[Vec<u8>]) {
    let mut reader = TfRecordReader::new(input).max_record_size(1 << 20).recover(true);
    if reader.compression().expect("memory") != TfRecordCompression::None {
        return;
    }
    let (mut found, mut taken) = (0, 0);
    while let Some(record) = reader.read_record().expect("nothing stops recovery") {
        assert!(sound.get(found).is_none_or(|sound| sound == record));
        found += 1;
        taken += record.len() as u64 + 16;
    }
    assert!(found >= sound.len());
    let (mut end, mut skipped) = (0, 0);
    for region in reader.skipped() {
        assert!(end <= region.begin && region.begin < region.end);
        end = region.end;
        skipped += region.end - region.begin;
    }
    assert_eq!(taken + skipped, input.len() as u64);
}

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
