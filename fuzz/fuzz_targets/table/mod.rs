//! A table and its memo file from bytes: u32 length of the table (little endian), the table, the memo file.

use std::sync::Arc;

use tidemill_xbase::{OpenOptions, Scan, Table};

pub(crate) fn run(input: &[u8]) {
    let Some((length, rest)) = input.split_first_chunk() else {
        return;
    };
    let length = usize::try_from(u32::from_le_bytes(*length))
        .unwrap_or(usize::MAX)
        .min(rest.len());
    let (table, memo) = rest.split_at(length);
    let memo = (!memo.is_empty()).then(|| memo.to_vec());
    for recover in [false, true] {
        let options = OpenOptions::default().recover(recover);
        let Ok(table) = Table::from_bytes(table.to_vec(), memo.clone(), &options) else {
            continue;
        };
        let table = Arc::new(table);
        // What is read does not matter, that it ends does: a batch that fails ends the scan.
        if let Ok(batches) = table.scan(Scan::default()) {
            let _ = batches.take_while(Result::is_ok).count();
        }
        let _ = table.verify();
    }
}
