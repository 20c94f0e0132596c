//! Records that are written and read back, with options that the input chooses. The input: a byte for the options, then
//! records as u32 length (little endian) and bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tidemill_riegeli::{RecordReader, RecordWriter, WriterOptions};

const OPTIONS: [&str; 8] = [
    "uncompressed",
    "uncompressed,chunk_size:50,padding:1000",
    "zstd:1",
    "brotli:1,chunk_size:200",
    "snappy",
    "transpose,uncompressed",
    "transpose,zstd:1,chunk_size:300,bucket_fraction:0",
    "transpose,brotli:1,bucket_fraction:0.3",
];

fuzz_target!(|input: &[u8]| {
    let Some((choice, mut left)) = input.split_first() else {
        return;
    };
    let options = OPTIONS[usize::from(*choice) % OPTIONS.len()];
    let options: WriterOptions = options.parse().expect("options");
    let mut records = Vec::new();
    while let Some((length, behind)) = left.split_first_chunk() {
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let (record, behind) = behind.split_at(length.min(behind.len()));
        records.push(record);
        left = behind;
    }
    let mut writer = RecordWriter::new(Vec::new(), options).expect("memory");
    let mut positions = Vec::new();
    for record in &records {
        writer.write_record(record).expect("memory");
        positions.push(writer.last_pos().expect("a record"));
    }
    let file = writer.close().expect("memory");

    let mut reader = RecordReader::from_bytes(file).expect("memory");
    for (record, pos) in records.iter().zip(&positions) {
        assert_eq!(reader.read_record().expect("sound"), Some(*record));
        assert_eq!(reader.last_pos(), *pos);
    }
    assert_eq!(reader.read_record().expect("sound"), None);
    // And any of them again.
    if let Some(at) = positions
        .len()
        .checked_sub(1)
        .map(|last| usize::from(*choice) % (last + 1))
    {
        assert!(reader.seek(positions[at]).expect("sound"));
        assert_eq!(reader.read_record().expect("sound"), Some(records[at]));
    }
    reader.close().expect("whole");
});
