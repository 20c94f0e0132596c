//! Typed rows of a Riegeli file from bytes, strictly and with recovery.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use tidemill_riegeli::{
    ReaderOptions,
    rows::{RowFile, RowScan},
};

fuzz_target!(|input: &[u8]| {
    for recover in [false, true] {
        let options = ReaderOptions::default().recover(recover);
        let Ok(file) = RowFile::from_bytes(input.to_vec(), &options) else {
            continue;
        };
        // What is read does not matter, that it ends does: a batch that fails ends the scan.
        if let Ok(batches) = Arc::new(file).scan(RowScan::default()) {
            let _ = batches.take_while(Result::is_ok).count();
        }
    }
});
