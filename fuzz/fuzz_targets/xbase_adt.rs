//! An ADT and its memo file.

#![no_main]

mod table;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| table::run(input));
