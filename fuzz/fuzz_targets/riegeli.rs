//! Records of a Riegeli file from bytes, strictly and with recovery.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tidemill_riegeli::{BytesSource, ReaderOptions, RecordReader};

fuzz_target!(|input: &[u8]| {
    for recover in [false, true] {
        let options = ReaderOptions::default().recover(recover);
        let Ok(mut reader) = RecordReader::new(BytesSource(input), &options) else {
            continue;
        };
        while let Ok(Some(_)) = reader.read_record() {}
    }
});
