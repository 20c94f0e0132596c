//! A database container and its memo file from bytes: u32 length of the container (little endian), the container, the memo file.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use tidemill_xbase::Container;

fuzz_target!(|input: &[u8]| {
    let Some((length, rest)) = input.split_first_chunk() else {
        return;
    };
    let length = usize::try_from(u32::from_le_bytes(*length))
        .unwrap_or(usize::MAX)
        .min(rest.len());
    let (container, memo) = rest.split_at(length);
    let memo = (!memo.is_empty()).then(|| memo.to_vec());
    if let Ok(container) = Container::from_bytes(container.to_vec(), memo) {
        for table in container.tables() {
            let file = table.file.as_deref().unwrap_or(&table.name);
            let _ = container.table_at(Path::new(file));
        }
    }
});
