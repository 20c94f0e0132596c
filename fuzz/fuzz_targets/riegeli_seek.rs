//! Seeks and searches in a Riegeli file from bytes: the last two bytes say where, the others are the file, as they are and with
//! right hashes.

#![no_main]

mod riegeli_hashes;

use libfuzzer_sys::fuzz_target;
use tidemill_riegeli::{BytesSource, Error, RecordReader};

fuzz_target!(|input: &[u8]| {
    let Some((file, &[a, b])) = input.split_last_chunk::<2>() else {
        return;
    };
    let pos = u64::from(u16::from_le_bytes([a, b]));
    let _ = seek(file, pos, a);
    let file = riegeli_hashes::with_sound_hashes(file);
    for error in seek(&file, pos % (file.len() as u64 + 1), a) {
        riegeli_hashes::check(&error);
    }
});

/// Returns the errors of a reader without recovery.
fn seek(file: &[u8], pos: u64, key: u8) -> Vec<Error> {
    let mut errors = Vec::new();
    for recover in [false, true] {
        let options = riegeli_hashes::options().recover(recover);
        let Ok(mut reader) = RecordReader::new(BytesSource(file), &options) else {
            continue;
        };
        let mut note = |error: Error| {
            if !recover {
                errors.push(error);
            }
        };
        let _ = reader.seek_numeric(pos).map_err(&mut note);
        let _ = reader.read_record().map(drop).map_err(&mut note);
        while let Ok(true) = reader.seek_back().map_err(&mut note) {}
        let found = reader.search(|record| Ok(record.first().map(|byte| byte.cmp(&key))));
        let _ = found.map(drop).map_err(&mut note);
        let _ = reader.read_record().map(drop).map_err(&mut note);
    }
    errors
}
