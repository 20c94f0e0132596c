//! Options, positions and projections as text, a line each: what is understood once is understood when it is written again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tidemill_riegeli::{
    FieldProjection, RecordPosition, RecordWriter, WriterOptions, array_record::ArrayRecordWriterOptions,
};

fuzz_target!(|input: &str| {
    for line in input.lines() {
        if let Ok(options) = line.parse::<WriterOptions>() {
            assert!(options.effective_chunk_size() > 0);
            // What parses also goes together.
            RecordWriter::new(std::io::sink(), options).expect("a writer");
        }
        if let Ok(options) = line.parse::<ArrayRecordWriterOptions>() {
            let text = options.to_string();
            let again: ArrayRecordWriterOptions = text.parse().expect("options that were written");
            assert_eq!(again.to_string(), text);
        }
        if let Ok(pos) = line.parse::<RecordPosition>() {
            let again: RecordPosition = pos.to_string().parse().expect("a position that was written");
            assert_eq!(again, pos);
            assert_eq!(
                RecordPosition::from_bytes(&pos.to_bytes()).expect("bytes of a position"),
                pos
            );
        }
        if let Ok(projection) = line.parse::<FieldProjection>() {
            let again: FieldProjection = projection.to_string().parse().expect("a projection that was written");
            assert_eq!(again, projection);
        }
    }
});
