//! Laws of reading and writing: what goes in comes out, and damage is found.

use proptest::prelude::*;
use tidemill_riegeli::{
    Compression, Error, FlushType, ReaderOptions, RecordReader, RecordWriter, RecordsMetadata, WriterOptions,
};

fn compression() -> impl Strategy<Value = Compression> {
    prop_oneof![
        Just(Compression::None),
        (0_u32..10).prop_map(Compression::brotli),
        (-3_i32..10).prop_map(Compression::zstd),
        Just(Compression::Snappy),
    ]
}

fn write(records: &[Vec<u8>], options: WriterOptions, flush_every: usize) -> Vec<u8> {
    let mut writer = RecordWriter::new(Vec::new(), options).expect("memory");
    for (index, record) in records.iter().enumerate() {
        match index % 2 {
            0 => writer.write_record(record),
            _ => writer.write_record_with(|out| out.extend_from_slice(record)),
        }
        .expect("memory");
        if (index + 1) % flush_every == 0 {
            writer.flush(FlushType::FromProcess).expect("memory");
        }
    }
    writer.close().expect("memory")
}

/// Returns the records before an error or the end, and whether reading and closing went well.
fn read(file: &[u8], recover: bool) -> (Vec<Vec<u8>>, Result<usize, Error>) {
    let options = ReaderOptions::new().recover(recover);
    let source = tidemill_riegeli::BytesSource(file);
    let mut reader = RecordReader::new(source, &options).expect("memory");
    let mut records = Vec::new();
    loop {
        match reader.read_record() {
            Ok(Some(record)) => records.push(record.to_vec()),
            Ok(None) => break,
            Err(error) => return (records, Err(error)),
        }
    }
    let closed = reader.close().map(|skipped| skipped.len());
    (records, closed)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn records_come_back(
        lengths in prop::collection::vec(prop_oneof![0_usize..40, 0_usize..2_000, 60_000_usize..70_000], 0..40),
        compression in compression(),
        chunk_size in prop_oneof![1_u64..200, 1_u64..200_000],
        padding in prop_oneof![Just(1_u64), 2_u64..3_000, Just(65_536)],
        flush_every in 1_usize..50,
        comment in prop::option::of(".*"),
        seed in any::<u8>(),
    ) {
        let records: Vec<Vec<u8>> = lengths
            .iter()
            .map(|&length| (0..length).map(|i| (i as u8).wrapping_mul(seed) ^ (i >> 7) as u8).collect())
            .collect();
        let mut options =
            WriterOptions::new().compression(compression).chunk_size(chunk_size).padding(padding);
        if let Some(comment) = &comment {
            let metadata = RecordsMetadata { file_comment: Some(comment.clone()), ..Default::default() };
            options = options.metadata(&metadata);
        }
        let file = write(&records, options, flush_every);
        prop_assert_eq!(file.len() as u64 % padding, 0);
        let (found, closed) = read(&file, false);
        prop_assert!(found == records);
        prop_assert_eq!(closed.expect("closes"), 0);
        let mut reader = RecordReader::from_bytes(&file).expect("memory");
        prop_assert_eq!(reader.count_records().expect("counts"), records.len() as u64);
        prop_assert_eq!(reader.records_metadata().expect("metadata").file_comment, comment);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300), signed in any::<bool>()) {
        let mut file = if signed { write(&[], WriterOptions::new(), 1) } else { Vec::new() };
        file.extend_from_slice(&bytes);
        let (_, closed) = read(&file, true);
        prop_assert!(closed.is_ok());
    }
}

const ALL: [Compression; 4] = [
    Compression::None,
    Compression::Brotli {
        quality: 6,
        window_log: None,
    },
    Compression::Zstd {
        level: 3,
        window_log: None,
    },
    Compression::Snappy,
];

fn small_file(compression: Compression) -> (Vec<Vec<u8>>, Vec<u8>) {
    let records: Vec<Vec<u8>> = (0..12)
        .map(|i| format!("record number {i}, and number {i}").into())
        .collect();
    let metadata = RecordsMetadata {
        file_comment: Some("small".to_owned()),
        ..Default::default()
    };
    let options = WriterOptions::new()
        .compression(compression)
        .chunk_size(120)
        .metadata(&metadata);
    let file = write(&records, options, usize::MAX);
    (records, file)
}

#[test]
fn files_cut_at_every_byte_keep_their_complete_chunks() {
    for compression in ALL {
        let (records, file) = small_file(compression);
        let mut before = 0;
        for cut in 0..=file.len() {
            let (found, closed) = read(&file[..cut], false);
            assert!(records.starts_with(&found), "{compression:?} cut to {cut}");
            assert!(found.len() >= before, "{compression:?} cut to {cut}");
            before = found.len();
            match closed {
                Ok(_) => {}
                Err(Error::Truncated { chunk_begin, found, .. }) => assert_eq!(chunk_begin + found, cut as u64),
                Err(error) => panic!("{compression:?} cut to {cut}: {error}"),
            }
            let (recovered, closed) = read(&file[..cut], true);
            assert_eq!(recovered, found);
            closed.expect("recovers");
        }
        assert_eq!(before, records.len());
    }
}

#[test]
fn flipped_bits_are_found() {
    for compression in ALL {
        let (records, file) = small_file(compression);
        for at in 0..file.len() {
            for bit in 0..8 {
                let mut flipped = file.clone();
                flipped[at] ^= 1 << bit;
                let (found, closed) = read(&flipped, false);
                assert!(closed.is_err(), "{compression:?}, bit {bit} of byte {at}");
                assert!(records.starts_with(&found), "{compression:?}, bit {bit} of byte {at}");
                let (found, closed) = read(&flipped, true);
                assert!(closed.expect("recovers") > 0, "{compression:?}, bit {bit} of byte {at}");
                assert!(found.iter().all(|record| records.contains(record)));
                assert!(
                    found.len() < records.len() || at < 200,
                    "{compression:?}, bit {bit} of byte {at}"
                );
            }
        }
    }
}

#[test]
fn declared_sizes_do_not_decide_how_much_memory_is_taken() {
    let (_, file) = small_file(Compression::Zstd {
        level: 3,
        window_log: None,
    });
    let options = ReaderOptions::new().max_chunk_size(50);
    let mut reader = RecordReader::new(tidemill_riegeli::BytesSource(&file), &options).expect("memory");
    let error = reader.read_record().expect_err("an error");
    assert!(matches!(error, Error::Limit { limit: 50, .. }), "{error}");
}

#[test]
fn appending_to_a_file_continues_it() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    for round in 0..3_u8 {
        let options = WriterOptions::new().initial_padding(if round == 2 { 1_000 } else { 1 });
        let mut writer = RecordWriter::append(file.path(), options).expect("a writer");
        writer.write_record(&[round]).expect("writes");
        writer.close().expect("closes");
    }
    let bytes = std::fs::read(file.path()).expect("reads");
    let (found, closed) = read(&bytes, false);
    assert_eq!(found, [[0], [1], [2]]);
    closed.expect("closes");
    assert!(bytes.len() > 1_000);
}

#[test]
fn the_bytes_of_each_field_are_counted() {
    // Field 1: a number of two bytes, field 2.3: a text of four bytes behind its length, field 2.4: a number that is part of
    // the state machine; and a record that is no message.
    let mut writer = RecordWriter::new(Vec::new(), "transpose,uncompressed".parse().expect("options")).expect("memory");
    for _ in 0..10 {
        writer
            .write_record(b"\x08\x96\x01\x12\x08\x1a\x04text\x20\x01")
            .expect("memory");
    }
    writer.write_record(b"no message").expect("memory");
    let file = writer.close().expect("memory");
    let mut reader = RecordReader::from_bytes(file).expect("memory");
    let sizes = reader.field_sizes().expect("sound");
    let decoded: Vec<(&[u32], u64)> = sizes.iter().map(|(path, size)| (&path[..], size.decoded)).collect();
    assert_eq!(decoded, [(&[][..], 11), (&[1], 20), (&[2, 3], 50), (&[2, 4], 0)]);
    assert!(sizes.values().all(|size| size.stored == size.decoded));
}
