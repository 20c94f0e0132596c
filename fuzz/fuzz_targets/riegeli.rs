//! Records and metadata of a Riegeli file from bytes, strictly and with recovery: as the bytes are, and with right hashes. Records that
//! are all read, up to the footer of an ArrayRecord file or with it, are counted by their headers too.

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
    for (recover, stop_at_footer) in [(true, false), (true, true), (false, true), (false, false)] {
        let options = riegeli_hashes::options()
            .recover(recover)
            .stop_at_footer(stop_at_footer);
        let Ok(mut reader) = RecordReader::new(BytesSource(file), &options) else {
            continue;
        };
        let _ = reader.records_metadata();
        let mut count = 0;
        strict = loop {
            match reader.read_record() {
                Ok(Some(_)) => count += 1,
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        let counted = reader.count_records();
        if strict.is_none() && !recover && reader.close().is_ok() {
            assert_eq!(counted.ok(), Some(count));
        }
    }
    strict
}
