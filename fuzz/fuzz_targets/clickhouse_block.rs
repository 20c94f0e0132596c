//! Blocks of ClickHouse, as files and as packets have them: what is decoded makes sound arrays, and is encoded so that it is
//! decoded again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tidemill_clickhouse::{BlockDecoder, BlockEncoder, Revision, arrow_type::StringType, source::SliceSource};

fuzz_target!(|input: &[u8]| {
    for revision in [
        Revision::FILE,
        Revision::LOW_CARDINALITY,
        Revision::DYNAMIC_V2,
        Revision::NEWEST,
    ] {
        let mut decoder = BlockDecoder::default();
        decoder.limits.memory = 1 << 22;
        if input.len() % 2 == 1 {
            decoder.strings = StringType::Binary;
        }
        let mut source = SliceSource::new(input);
        while let Ok(Some(block)) = decoder.decode_next_blocking(&mut source, revision) {
            for column in block.batch.columns() {
                column.to_data().validate_full().expect("a sound array");
            }
            // As the types are, and sparse wherever a reader knows it.
            for sparse_from in [None, Some(0.0)] {
                let encoder = BlockEncoder {
                    sparse_from,
                    ..BlockEncoder::default()
                };
                let mut written = Vec::new();
                encoder
                    .encode(&block, revision, &mut written)
                    .expect("what was decoded");
                let mut limitless = decoder;
                limitless.limits.memory = u64::MAX;
                let again = limitless
                    .decode_blocking(&mut SliceSource::new(&written), revision)
                    .expect("what was written");
                let mut twice = Vec::new();
                encoder.encode(&again, revision, &mut twice).expect("what was decoded");
                assert_eq!(written, twice);
            }
        }
    }
});
