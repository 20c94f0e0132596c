//! A compressed table of DATASUS from bytes.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use tidemill_xbase::{OpenOptions, Scan, Table};

fuzz_target!(|input: &[u8]| {
    if let Ok(table) = Table::from_bytes(input.to_vec(), None, &OpenOptions::new())
        && let Ok(batches) = Arc::new(table).scan(Scan::new())
    {
        batches.take_while(Result::is_ok).take(64).for_each(drop);
    }
});
