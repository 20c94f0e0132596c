//! A transaction log from bytes. The checksum of the first group is put right, or nothing behind it would be reached.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tidemill_xbase::LogContents;

fuzz_target!(|input: &[u8]| {
    let mut log = input.to_vec();
    if let Some(rest) = log.get_mut(1024..)
        && let Some(length) = rest.get(16..24).and_then(|bytes| bytes.first_chunk())
        && let Ok(length) = usize::try_from(u64::from_le_bytes(*length))
        && let Some(sum) = rest.get(8..length.saturating_add(24)).map(crc32c::crc32c)
    {
        rest[4..8].copy_from_slice(&sum.to_le_bytes());
    }
    let len = log.len() as u64;
    if let Ok(contents) = LogContents::from_bytes(log) {
        assert!(contents.used_bytes + contents.torn_bytes <= len);
    }
});
