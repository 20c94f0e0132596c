//! However the records of a file are counted, it is the same number, or each way says what is wrong.

use proptest::prelude::*;
use tidemill_riegeli::{
    BytesSource, ChunkReader, Damage, Error, FlushType, MessageSchema, ReaderOptions, RecordReader, RecordWriter,
    Source, StreamSource, Verification, WriterOptions,
    array_record::{ArrayRecordReader, ArrayRecordWriter},
    columns::ColumnReader,
    tensorflow_example::ExampleKind,
    verify_source,
};

fn records(count: usize, size: usize) -> Vec<Vec<u8>> {
    (0..count)
        .map(|number| format!("{number} {}", "x".repeat(number * 7 % size.max(1))).into_bytes())
        .collect()
}

fn array_record(options: &str, records: &[Vec<u8>]) -> Vec<u8> {
    let mut writer = ArrayRecordWriter::new(Vec::new(), options.parse().expect(options)).expect("memory");
    for record in records {
        writer.write_record(record).expect("memory");
    }
    writer.close().expect("memory")
}

fn riegeli(options: &str, records: &[Vec<u8>]) -> Vec<u8> {
    let options: WriterOptions = options.parse().expect(options);
    let mut writer = RecordWriter::new(Vec::new(), options).expect("memory");
    for (number, record) in records.iter().enumerate() {
        writer.write_record(record).expect("memory");
        if number % 5 == 4 {
            writer.flush(FlushType::FromProcess).expect("memory");
        }
    }
    writer.close().expect("memory")
}

fn options() -> ReaderOptions {
    ReaderOptions::new().stop_at_footer(true)
}

/// The number of records that are read in order, or why not all are.
fn scanned<S: Source>(source: S, options: &ReaderOptions) -> Result<u64, Error> {
    let mut reader = RecordReader::new(source, options)?;
    let mut count = 0;
    while reader.read_record()?.is_some() {
        count += 1;
    }
    reader.close()?;
    Ok(count)
}

fn verified(file: &[u8]) -> Verification {
    verify_source(BytesSource(file), "").expect("memory")
}

/// Compares the ways to count the records of a file, and returns the number if they can all be read.
#[track_caller]
fn counted(file: &[u8]) -> Result<u64, String> {
    let open = || RecordReader::new(BytesSource(file), &options()).expect("memory");
    let scan = scanned(BytesSource(file), &options()).map_err(|error| error.to_string());
    let ahead = scanned(BytesSource(file), &options().parallelism(2)).map_err(|error| error.to_string());
    assert_eq!(scan, ahead, "with threads");
    let headers = open().count_records().map_err(|error| error.to_string());
    let index = open().index_records().map(|index| index.len());
    assert_eq!(headers, index.map_err(|error| error.to_string()), "by the index");
    let verification = verified(file);
    let stream = scanned(StreamSource::new(file), &options());
    match &scan {
        Ok(count) => {
            assert_eq!(headers.as_ref(), Ok(count), "by the headers");
            // The postscript may have another footer than the one that is read, which is not damage that reading meets.
            if verification.damaged.is_empty()
                && let Ok(reader) = ArrayRecordReader::from_bytes(file)
            {
                assert_eq!(reader.len(), *count, "by the footer");
            }
            assert_eq!(verification.records, *count, "{verification:?}");
        }
        Err(why) => {
            assert!(!verification.damaged.is_empty(), "{why}");
            // The data of chunks are not looked at for their headers: these count what was written, and no more.
            if let Err(of_headers) = &headers {
                let are_several = of_headers.contains("followed by others");
                assert!(stream.is_err() || are_several, "{of_headers}");
            }
        }
    }
    // What recovery gives is what is verified.
    let recovered = scanned(BytesSource(file), &options().recover(true)).expect("recovers");
    assert_eq!(recovered, verification.records, "recovered; {verification:?}");
    scan
}

/// The file without its chunk of this number.
fn without_chunk(file: &[u8], number: usize) -> Vec<u8> {
    let mut chunks = ChunkReader::from_bytes(file).expect("memory");
    let mut begins = Vec::new();
    while let Some(chunk) = chunks.next_chunk().expect("sound") {
        begins.push(chunk.begin as usize..chunk.end as usize);
    }
    let gap = begins[number % begins.len()].clone();
    [&file[..gap.start], &file[gap.end..]].concat()
}

const ARRAY_RECORD: [&str; 5] = [
    "group_size:1,uncompressed",
    "group_size:1,zstd:3",
    "group_size:7,brotli:1",
    "group_size:100,transpose,zstd:1",
    "group_size:3,uncompressed,pad_to_block_boundary:true",
];
const RIEGELI: [&str; 3] = ["uncompressed", "zstd:3,chunk_size:500", "transpose,brotli:1"];

#[test]
fn an_array_record_file_without_its_postscript_is_damaged() {
    for options in ARRAY_RECORD {
        // The last footer reaches over several blocks.
        for count in [0, 1, 2, 3, 50, 5_000] {
            let records = records(count, 20);
            if options.contains("pad_to") && count > 100 {
                continue;
            }
            let file = array_record(options, &records);
            assert_eq!(counted(&file), Ok(count as u64), "{options}");
            let footer = ArrayRecordReader::from_bytes(&file[..]).expect("sound").footer_offset();
            let postscript = file.len() - 65_536;
            let mut chunks = ChunkReader::from_bytes(&file[..]).expect("memory");
            chunks.seek(footer).expect("in the file");
            let footer_end = chunks.next_chunk().expect("sound").expect("a footer").end as usize;

            // Where the records end is the same, and the damage is named.
            for cut in [
                footer_end,
                footer_end + 1,
                postscript,
                postscript + 30,
                postscript + 70,
                file.len() - 1,
            ] {
                let cut = &file[..cut];
                let why = counted(cut).expect_err(options);
                let expected = format!(
                    "without a valid postscript after it: the file was probably truncated at byte {}",
                    cut.len()
                );
                assert!(
                    why.contains(&expected) && why.contains(&format!("footer at byte {footer},")),
                    "{options}: {why}"
                );
                let verification = verified(cut);
                assert_eq!(verification.records, count as u64, "{options}");
                let [region] = &verification.damaged[..] else {
                    panic!("{options}: {:?}", verification.damaged)
                };
                assert_eq!(
                    (region.begin, region.end),
                    (footer_end as u64, cut.len() as u64),
                    "{options}"
                );
                // A stream meets the footer when it is there.
                let error = scanned(StreamSource::new(cut), &self::options()).expect_err("no postscript");
                match error {
                    Error::Corrupt(corrupt) => {
                        let size = cut.len() as u64;
                        assert_eq!(corrupt.damage, Damage::NoPostscript { footer, size });
                    }
                    // It meets a postscript that is whole, and the end of the file in the padding behind.
                    Error::Truncated { .. } => assert_eq!(cut.len(), file.len() - 1),
                    other => panic!("{other}"),
                }
                let reader = RecordReader::new(BytesSource(cut), &self::options()).expect("memory");
                assert_eq!(reader.footer_offset(), Some(footer));
                assert!(ArrayRecordReader::from_bytes(cut).is_err());
            }
            // A part of the records is no promise of the rest.
            let mut reader = RecordReader::new(BytesSource(&file[..postscript]), &self::options()).expect("memory");
            if count > 1 {
                reader.read_record().expect("sound").expect("a record");
                assert!(reader.close().is_ok(), "{options} {count}");
            }
        }
    }
}

/// The number of rows of messages, or why not all are read.
fn rows<S: Source>(source: S, schema: &MessageSchema) -> Result<usize, Error> {
    let mut reader = ColumnReader::new(RecordReader::new(source, &options())?, schema);
    let mut rows = 0;
    while let Some(batch) = reader.next_batch()? {
        rows += batch.num_rows();
    }
    Ok(rows)
}

#[test]
fn columns_of_messages_end_where_the_records_do() {
    let of_example = ExampleKind::Example.record_type();
    let schema = MessageSchema::new(&of_example.descriptors, &of_example.name).expect("a schema");
    // Empty messages, and one with a feature.
    let records = [
        vec![],
        b"\n\x10\n\x0e\n\x05label\x12\x05\x1a\x03\n\x01\x07".to_vec(),
        vec![],
    ];
    for options in ARRAY_RECORD {
        let file = array_record(options, &records);
        assert_eq!(rows(BytesSource(&file), &schema).expect(options), 3);
        assert_eq!(rows(StreamSource::new(&file[..]), &schema).expect(options), 3);
        let cut = &file[..file.len() - 65_536];
        for found in [rows(BytesSource(cut), &schema), rows(StreamSource::new(cut), &schema)] {
            let why = found.expect_err(options).to_string();
            assert!(why.contains("without a valid postscript"), "{options}: {why}");
        }
    }
}

#[test]
fn files_behind_one_another_are_not_taken_for_the_first() {
    for options in ARRAY_RECORD {
        let file = array_record(options, &records(20, 90));
        let twice = [&file[..], &file[..]].concat();
        let reader = ArrayRecordReader::from_bytes(&file[..]).expect("sound");
        let why = counted(&twice).expect_err(options);
        let expected = format!("with its footer at byte {}, followed by others", reader.footer_offset());
        assert!(why.contains(&expected), "{options}: {why}");
        let why = ArrayRecordReader::from_bytes(&twice).err().expect(options).to_string();
        assert!(
            why.contains("concatenated ArrayRecord files are not one file"),
            "{options}: {why}"
        );
        let verification = verified(&twice);
        assert_eq!(
            (verification.records, verification.damaged.len()),
            (20, 1),
            "{options}: {verification:?}"
        );
        // A stream has them all.
        assert_eq!(
            scanned(StreamSource::new(&twice[..]), &self::options()).expect(options),
            40
        );
    }
}

#[test]
fn a_damaged_postscript_is_told_of() {
    let file = array_record("group_size:4,zstd", &records(50, 90));
    for at in (file.len() - 65_536..file.len())
        .step_by(2_003)
        .chain((file.len() - 65_536..file.len() - 65_400).step_by(3))
    {
        let mut damaged = file.clone();
        damaged[at] ^= 4;
        // The end of the file is not read for its records, as long as the postscript is sound.
        let counted = counted(&damaged);
        assert!(matches!(counted, Ok(50) | Err(_)), "{at}: {counted:?}");
        let verification = verified(&damaged);
        assert_eq!(
            (verification.records, verification.damaged.len()),
            (50, 1),
            "{at}: {verification:?}"
        );
    }
}

#[test]
fn files_that_only_begin_as_array_record_are_read_as_riegeli() {
    let records = records(50, 90);
    let file = array_record("group_size:4,zstd", &records);
    let footer = ArrayRecordReader::from_bytes(&file[..]).expect("sound").footer_offset();
    // Nothing is left that tells.
    let cut = &file[..usize::try_from(footer).expect("memory")];
    assert_eq!(counted(cut), Ok(50));
    assert_eq!(
        RecordReader::new(BytesSource(cut), &options())
            .expect("memory")
            .footer_offset(),
        None
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn all_ways_to_count_agree(
        format in 0..ARRAY_RECORD.len() + RIEGELI.len(),
        count in prop::sample::select(vec![0_usize, 1, 3, 4, 30, 200]),
        size in prop::sample::select(vec![1_usize, 90, 3_000]),
        changes in prop::collection::vec((0..6_u8, any::<prop::sample::Index>(), 1..=255_u8), 0..3),
    ) {
        let records = records(count, size);
        let mut file = match ARRAY_RECORD.get(format) {
            Some(options) if options.contains("pad_to") => array_record(options, &records[..count.min(30)]),
            Some(options) => array_record(options, &records),
            None => riegeli(RIEGELI[format - ARRAY_RECORD.len()], &records),
        };
        let sound = file.clone();
        for (kind, at, mask) in changes {
            if file.is_empty() {
                break;
            }
            let at = at.index(file.len());
            match kind {
                0 => file.truncate(at),
                1 => file.truncate(at / 65_536 * 65_536),
                2 => file.truncate(file.len().saturating_sub(usize::from(mask))),
                3 if file == sound => file = without_chunk(&sound, at),
                // Near the end, where the index is.
                4 => {
                    let at = file.len() - 1 - at % file.len().min(66_000);
                    file[at] ^= mask;
                }
                _ => file[at] ^= mask,
            }
        }
        let _count = counted(&file);
    }
}
