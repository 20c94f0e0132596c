//! Seeks and searches in a Riegeli file from bytes: the last two bytes say where, the others are the file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tidemill_riegeli::{BytesSource, ReaderOptions, RecordReader};

fuzz_target!(|input: &[u8]| {
    let Some((file, &[a, b])) = input.split_last_chunk::<2>() else {
        return;
    };
    let pos = u64::from(u16::from_le_bytes([a, b]));
    for recover in [false, true] {
        let options = ReaderOptions::default().recover(recover);
        let Ok(mut reader) = RecordReader::new(BytesSource(file), &options) else {
            continue;
        };
        let _ = reader.seek_numeric(pos);
        let _ = reader.read_record();
        while let Ok(true) = reader.seek_back() {}
        let _ = reader.search(|record| Ok(record.first().map(|byte| byte.cmp(&a))));
        let _ = reader.read_record();
    }
});
