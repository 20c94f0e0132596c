//! Records and metadata of a Riegeli file from bytes, strictly and with recovery: as the bytes are, and with right hashes.

#![no_main]

mod riegeli_hashes;

use libfuzzer_sys::fuzz_target;
use tidemill_riegeli::{BytesSource, Error, RecordReader};

fuzz_target!(|input: &[u8]| {
    read(input);
    let file = riegeli_hashes::with_sound_hashes(input);
    let strict = read(&file);
    if let Some(error) = strict {
        riegeli_hashes::check(&error);
    }
});

/// Returns the error that a reader without recovery ended with.
fn read(file: &[u8]) -> Option<Error> {
    let mut strict = None;
    for recover in [true, false] {
        let options = riegeli_hashes::options().recover(recover);
        let Ok(mut reader) = RecordReader::new(BytesSource(file), &options) else {
            continue;
        };
        let _ = reader.records_metadata();
        strict = loop {
            match reader.read_record() {
                Ok(Some(_)) => {}
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
    }
    strict
}
