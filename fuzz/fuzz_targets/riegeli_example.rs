//! `tensorflow.Example` records as columns: records as u32 length (little endian) and bytes. Those that a sample takes are rows of its
//! columns; others are rows or errors, and rows before an error stay.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tidemill_riegeli::tensorflow_example::{ExampleDecoder, ExampleKind, ExampleSampler};

fuzz_target!(|input: &[u8]| {
    let (mut records, mut left) = (Vec::new(), input);
    while let Some((length, behind)) = left.split_first_chunk() {
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let (record, behind) = behind.split_at(length.min(behind.len()));
        records.push(record);
        left = behind;
    }
    for kind in [ExampleKind::Example, ExampleKind::SequenceExample] {
        let mut sampler = ExampleSampler::new(kind);
        // All of them, as far as they agree, and the first half.
        let taken: Vec<&&[u8]> = records
            .iter()
            .filter(|record| sampler.clone().add(record, "").is_ok() && sampler.add(record, "").is_ok())
            .collect();
        let mut decoder = ExampleDecoder::new(&sampler.finish());
        for record in &taken {
            decoder.append(record, "").expect("a record of the sample");
        }
        assert_eq!(decoder.finish().expect("rows").num_rows(), taken.len());

        let mut sampler = ExampleSampler::new(kind);
        for record in records.iter().take(records.len() / 2) {
            let _ = sampler.add(record, "");
        }
        let mut decoder = ExampleDecoder::new(&sampler.finish());
        let rows = records
            .iter()
            .filter(|record| decoder.append(record, "").is_ok())
            .count();
        assert_eq!(decoder.finish().expect("rows").num_rows(), rows);
    }
});
