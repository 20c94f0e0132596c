//! ArrayRecord files with any footer. The input: where the postscript says that the footer is (u16, little endian, behind the
//! signature), then the records of the file, the footer's among them, as u32 length (little endian) and bytes. Hashes and the
//! postscript are right, so that what they would catch comes through. And the input as a file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tidemill_riegeli::{RecordWriter, WriterOptions, array_record::ArrayRecordReader};

fuzz_target!(|input: &[u8]| {
    read(input.to_vec());
    let Some((offset, mut left)) = input.split_first_chunk() else {
        return;
    };
    let options = "uncompressed,final_padding:64K,chunk_size:1000";
    let options: WriterOptions = options.parse().expect("options");
    let mut writer = RecordWriter::new(Vec::new(), options).expect("memory");
    while let Some((length, behind)) = left.split_first_chunk() {
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let (record, behind) = behind.split_at(length.min(behind.len()));
        writer.write_record(record).expect("memory");
        left = behind;
    }
    writer.flush(tidemill_riegeli::FlushType::FromProcess).expect("memory");
    // footer_offset = 1, magic = 2 (google/array_record, cpp/layout.proto).
    let mut postscript = vec![0x08];
    varint(64 + u64::from(u16::from_le_bytes(*offset)), &mut postscript);
    postscript.push(0x10);
    varint(0x7193_0e70_4fda_e05e, &mut postscript);
    for _ in 0..3 {
        writer.write_record(&postscript).expect("memory");
    }
    read(writer.close().expect("memory"));
});

fn read(file: Vec<u8>) {
    let Ok(mut reader) = ArrayRecordReader::from_bytes(file) else {
        return;
    };
    for number in [0, reader.len() / 2, reader.len().wrapping_sub(1), u64::MAX] {
        let _ = reader.get(number);
    }
    let mut count = 0;
    reader.seek(0);
    while let Ok(Some(_)) = reader.read_record() {
        count += 1;
        assert!(count <= reader.len());
    }
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
