//! An ADM beside a table whose records point into it.

#![no_main]

mod table;

use libfuzzer_sys::fuzz_target;

const TABLE: &[u8] = include_bytes!("../../corpus/adt/types.adt");

fuzz_target!(|input: &[u8]| {
    if let (Some((memo, _)), Ok(length)) = (input.split_last_chunk::<16>(), u32::try_from(TABLE.len())) {
        table::run(&[&length.to_le_bytes(), TABLE, memo].concat());
    }
});
