//! Reports of load tests, those of killed runs and of Latte too: what is read is shown in every form without a panic, and damage is an
//! error.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tidemill_bench::report::{Report, compared, rows, write_text};

fuzz_target!(|input: &[u8]| {
    let mut cycles = 0_u64;
    let read = Report::of_bytes(input, &mut |_, sample| {
        cycles = cycles.saturating_add(sample.cycles());
        Ok(())
    });
    let Ok(report) = read else { return };
    let compared = compared(&report, Some(&report));
    let mut text = Vec::new();
    write_text(&report, Some(&report), &compared, &mut text).expect("memory takes what is written");
    assert!(!text.is_empty());
    assert_eq!(rows(&compared, true).expect("rows").num_rows(), compared.len());
});
