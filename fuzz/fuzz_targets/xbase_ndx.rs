//! An NDX file.

#![no_main]

mod index;

use libfuzzer_sys::fuzz_target;
use tidemill_xbase::index::IndexDialect;

fuzz_target!(|input: &[u8]| index::run(input, IndexDialect::Ndx));
