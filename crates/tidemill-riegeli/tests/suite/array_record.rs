//! ArrayRecord files: those of the original, our own, and damaged ones.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use proptest::prelude::*;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tidemill_riegeli::{
    BytesSource, Compression, Error, FieldProjection, FlushType, ReaderOptions, RecordReader, RecordWriter,
    RecordsMetadata, Source, StreamSource, Verification, WriterOptions,
    array_record::{ArrayRecordReader, ArrayRecordWriter, ArrayRecordWriterOptions},
    verify, verify_source,
};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/riegeli")
}

/// The entries of stored ArrayRecord files.
fn entries() -> Vec<Value> {
    let text = fs::read_to_string(corpus().join("manifest.json")).expect("the manifest");
    let manifest: Value = serde_json::from_str(&text).expect("JSON");
    let entries = manifest["entries"].as_array().expect("a list of entries");
    let stored = |entry: &&Value| {
        entry["file"]
            .as_str()
            .is_some_and(|file| file.starts_with("array_record/"))
    };
    let entries: Vec<Value> = entries.iter().filter(stored).cloned().collect();
    assert_eq!(entries.len(), 5);
    entries
}

fn write(options: ArrayRecordWriterOptions, records: &[Vec<u8>]) -> Vec<u8> {
    let mut writer = ArrayRecordWriter::new(Vec::new(), options).expect("memory");
    for (number, record) in (0..).zip(records) {
        assert_eq!(writer.write_record(record).expect("memory"), number);
    }
    writer.close().expect("memory")
}

fn records(file: &[u8]) -> Vec<Vec<u8>> {
    let mut reader = ArrayRecordReader::from_bytes(file).expect("an ArrayRecord file");
    let mut records = Vec::new();
    while let Some(record) = reader.read_record().expect("sound") {
        records.push(record.to_vec());
    }
    assert_eq!(records.len() as u64, reader.len());
    records
}

fn hash(records: &[Vec<u8>]) -> String {
    let mut hash = Sha256::new();
    for record in records {
        hash.update(u32::try_from(record.len()).expect("a short record").to_le_bytes());
        hash.update(record);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn files_of_the_original_are_read_and_written_again() {
    let mut identical = Vec::new();
    for entry in entries() {
        let name = entry["file"].as_str().expect("a file");
        let expected = &entry["array_record"];
        let file = fs::read(corpus().join(name)).expect("a file");
        let found = records(&file);
        assert_eq!(found.len() as u64, expected["records"], "{name}");
        if let Some(expected) = expected["sha256_lenprefixed"].as_str() {
            assert_eq!(hash(&found), expected, "{name}");
        }

        let options: ArrayRecordWriterOptions = expected["options"].as_str().expect("options").parse().expect(name);
        let mut reader = ArrayRecordReader::open(corpus().join(name), &ReaderOptions::new()).expect(name);
        assert_eq!(reader.writer_options(), Some(&*options.to_string()), "{name}");
        let noted: ArrayRecordWriterOptions = reader.writer_options().expect("options").parse().expect(name);
        assert_eq!(noted.to_string(), options.to_string());
        for number in (0..found.len()).rev() {
            let record = reader.get(number as u64).expect("sound").expect("a record");
            assert!(record == found[number], "record {number} of {name}");
        }
        assert_eq!(reader.get(reader.len()).expect("no record"), None);

        let written = write(options, &found);
        assert_eq!(written.len(), file.len(), "{name}");
        assert!(records(&written) == found, "{name}");
        if written == file {
            identical.push(name.to_owned());
        }
    }
    println!("identical: {identical:?}");
    let uncompressed = "array_record/ar_nested_g100_transpose_uncompressed_transpose_bucket_size1k.array_record";
    assert!(identical.iter().any(|name| name == uncompressed), "{identical:?}");
    assert!(identical.iter().any(|name| name.contains("brotli6")), "{identical:?}");
}

#[test]
fn a_record_reader_sees_the_index_unless_it_is_kept_out() {
    for entry in entries() {
        let path = corpus().join(entry["file"].as_str().expect("a file"));
        let count = |options: &ReaderOptions| {
            let mut reader = RecordReader::open(&path, options).expect("opens");
            let mut count = 0_u64;
            while reader.read_record().expect("sound").is_some() {
                count += 1;
            }
            assert_eq!(reader.count_records().expect("sound"), count);
            reader.close().expect("complete");
            count
        };
        assert_eq!(count(&ReaderOptions::new()), entry["cpp_plain"]["records"]);
        assert_eq!(
            count(&ReaderOptions::new().stop_at_footer(true)),
            entry["array_record"]["records"]
        );
    }
    // Other files are read to their end.
    let other = corpus().join("cpp/text.simple_zstd.riegeli");
    let mut reader = RecordReader::open(other, &ReaderOptions::new().stop_at_footer(true)).expect("opens");
    let mut count = 0;
    while reader.read_record().expect("sound").is_some() {
        count += 1;
    }
    assert_eq!(count, 300);
}

#[test]
fn every_option_makes_a_file_that_is_read_back() {
    let all: Vec<Vec<u8>> = (0..730_u32)
        .map(|number| format!("record {number}, {}", "x".repeat(number as usize % 97)).into_bytes())
        .collect();
    for text in [
        "",
        "uncompressed",
        "group_size:50",
        "group_size:50,uncompressed,pad_to_block_boundary:true",
        "group_size:7,brotli:2,window_log:16",
        "group_size:1000,snappy",
        "group_size:100,transpose,zstd:1,window_log:10",
        "group_size:100,transpose,transpose_bucket_size:32,uncompressed",
        "group_size:3,zstd:5,max_parallelism:3",
        "group_size:200,transpose,brotli:1,max_parallelism:2,pad_to_block_boundary:true",
    ] {
        let metadata = RecordsMetadata {
            file_comment: Some(text.to_owned()),
            ..Default::default()
        };
        let options: ArrayRecordWriterOptions = text.parse().expect(text);
        let file = write(options.clone().metadata(&metadata), &all);
        assert_eq!(file.len() % 65_536, 0);
        let mut reader = ArrayRecordReader::from_bytes(&file).expect(text);
        assert_eq!(reader.records_metadata().expect(text), metadata);
        assert_eq!(reader.writer_options(), Some(&*options.to_string()));
        // 7 and 730 have no common divisor.
        for number in (0..730).map(|step| step * 7 % 730) {
            assert_eq!(
                reader.get(number).expect(text),
                Some(&all[number as usize][..]),
                "{text}"
            );
        }
        let mut range = Vec::new();
        reader
            .read_range(700..10_000, |number, record| {
                range.push((number, record.to_vec()));
                Ok::<(), Error>(())
            })
            .expect(text);
        assert!(range.len() == 30 && range.iter().all(|(number, record)| *record == all[*number as usize]));
        if text.contains("pad") {
            for chunk in 1..reader.num_chunks() {
                assert_eq!(reader.chunk(chunk).expect("a chunk").0 % 65_536, 0);
            }
        }
        assert_eq!(records(&file), all, "{text}");
    }
}

#[test]
fn encoding_threads_write_the_same_chunks() {
    let all: Vec<Vec<u8>> = (0..5_000_u32)
        .map(|number| number.to_string().repeat(number as usize % 50).into())
        .collect();
    for text in ["group_size:3,zstd:1", "group_size:700,transpose,snappy"] {
        let options: ArrayRecordWriterOptions = text.parse().expect(text);
        let [one, many] = [1, 3].map(|threads| write(options.clone().max_parallelism(Some(threads)), &all));
        let mut reader = ArrayRecordReader::from_bytes(&many).expect(text);
        let end = usize::try_from(reader.footer_offset()).expect("small");
        // The footers differ in the number of threads.
        assert!(one[..end] == many[..end], "{text}");
        assert_eq!(reader.get(4_999).expect(text), Some(&all[4_999][..]));
    }
}

#[test]
fn only_the_chunk_of_a_record_is_read() {
    let all: Vec<Vec<u8>> = (0..1_000_u32).map(|number| vec![number as u8; 100]).collect();
    let mut file = write("group_size:10,uncompressed".parse().expect("options"), &all);
    let reader = ArrayRecordReader::from_bytes(&file).expect("sound");
    let (begin, range) = reader.chunk(50).expect("a chunk");
    assert_eq!((range, reader.group_size()), (500..510, Some(10)));
    file[begin as usize + 60] ^= 1;
    let mut reader = ArrayRecordReader::from_bytes(&file).expect("a sound index");
    for number in (0..1_000).rev() {
        match reader.get(number) {
            Ok(record) => assert!(record == Some(&all[number as usize][..])),
            Err(error) => assert!(
                (500..510).contains(&number) && matches!(error, Error::Corrupt(_)),
                "{error}"
            ),
        }
        assert_eq!(reader.get(number).is_err(), (500..510).contains(&number));
    }
}

/// Counts what is read of a file as an object store would be asked for it.
struct Counting<'a> {
    file: &'a [u8],
    reads: AtomicUsize,
    bytes: AtomicUsize,
}

impl Counting<'_> {
    /// Returns the number of reads and of bytes since the last call.
    fn taken(&self) -> (usize, usize) {
        (
            self.reads.swap(0, Ordering::Relaxed),
            self.bytes.swap(0, Ordering::Relaxed),
        )
    }
}

impl Source for Counting<'_> {
    fn size(&self) -> io::Result<u64> {
        Ok(self.file.len() as u64)
    }

    fn read_at(&self, pos: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let read = BytesSource(self.file).read_at(pos, buffer)?;
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(read, Ordering::Relaxed);
        Ok(read)
    }
}

#[test]
fn a_count_and_a_place_take_the_index_and_nothing_else() {
    let all: Vec<Vec<u8>> = (0..40_000_u32).map(|number| vec![number as u8; 99]).collect();
    for (options, most_of_index, most_of_record) in [
        ("group_size:1,uncompressed", 600_000, 8_192),
        ("group_size:100,zstd", 12_000, 8_192),
    ] {
        let file = write(options.parse().expect("options"), &all);
        let source = Arc::new(Counting {
            file: &file,
            reads: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
        });
        let name = "numbers.array_record";
        let index = ArrayRecordReader::from_source(Arc::clone(&source), name, &ReaderOptions::new());
        let mut index = index.expect("sound");
        assert_eq!(index.len(), 40_000);
        let taken = source.taken();
        println!("{options}: {taken:?} reads and bytes of {}", file.len());
        let most = (3 + most_of_index / 50_000, most_of_index);
        assert!(taken.0 <= most.0 && taken.1 <= most.1, "{options}: {taken:?}");

        // Any record is as near for either reader.
        assert_eq!(index.get(30_000).expect("sound"), Some(&all[30_000][..]));
        let taken = source.taken();
        assert!(taken.0 <= 2 && taken.1 <= most_of_record, "{options}: {taken:?}");
        let mut reader = RecordReader::new(Arc::clone(&source), &ReaderOptions::new()).expect("a reader");
        for number in [0, 30_000, 39_999] {
            let position = index.position(number).expect("a record");
            assert!(reader.seek(position).expect("sound"));
            let record = reader.read_record().expect("sound");
            assert!(record == Some(&all[number as usize][..]), "{options}: {number}");
        }
        assert_eq!(index.position(40_000), None);
        let taken = source.taken();
        assert!(taken.1 <= 6 * most_of_record, "{options}: {taken:?}");
    }
}

#[test]
fn shared_readers_read_on_threads_of_their_own() {
    let all: Vec<Vec<u8>> = (0..3_000_u32).map(|number| number.to_string().into_bytes()).collect();
    let path = tempfile::NamedTempFile::new().expect("a file");
    fs::write(path.path(), write("group_size:20".parse().expect("options"), &all)).expect("writes");
    let reader = ArrayRecordReader::open(path.path(), &ReaderOptions::new()).expect("sound");
    std::thread::scope(|scope| {
        for part in 0..4 {
            let mut reader = reader.share().expect("a reader");
            let all = &all;
            scope.spawn(move || {
                for number in (part..3_000).step_by(4) {
                    assert_eq!(reader.get(number).expect("sound"), Some(&all[number as usize][..]));
                }
            });
        }
    });
}

#[test]
fn projections_apply() {
    let path = corpus().join("array_record/ar_nested_g100_transpose_uncompressed_transpose_bucket_size1k.array_record");
    let options = ReaderOptions::new().field_projection(FieldProjection::new());
    let mut reader = ArrayRecordReader::open(&path, &options).expect("sound");
    assert_eq!(reader.get(7).expect("sound"), Some(&b""[..]));
    let mut reader = ArrayRecordReader::open(&path, &ReaderOptions::new()).expect("sound");
    assert!(reader.get(7).expect("sound").is_some_and(|record| !record.is_empty()));
}

#[test]
fn files_without_an_index_are_told_apart() {
    let message = |file: &[u8]| match ArrayRecordReader::from_bytes(file) {
        Ok(_) => "read".to_owned(),
        Err(error) => error.to_string(),
    };
    let file = write(ArrayRecordWriterOptions::new(), &[b"one".to_vec(), b"two".to_vec()]);
    assert_eq!(message(&file), "read");
    assert_eq!(
        message(b""),
        "not an ArrayRecord file: its size of 0 bytes is no multiple of 65536"
    );
    let plain = fs::read(corpus().join("cpp/text.simple_zstd.riegeli")).expect("a file");
    assert_eq!(
        message(&plain),
        format!(
            "not an ArrayRecord file: its size of {} bytes is no multiple of 65536",
            plain.len()
        )
    );
    // The footer alone, as when the writer died before its last chunk; zeros; the wrong block at the end.
    for other in [
        &file[..65_536],
        &vec![0; 131_072],
        &[&file[..], &file[..65_536]].concat(),
    ] {
        let offset = other.len() - 65_536;
        assert_eq!(
            message(other),
            format!(
                "not an ArrayRecord file: there is no postscript in its last 64 KiB, at byte {offset}: it is cut off, or was not closed after writing"
            )
        );
    }
}

#[test]
fn a_file_cut_or_damaged_anywhere_is_refused_or_gives_its_records() {
    let all: Vec<Vec<u8>> = (0..40_u8).map(|number| vec![number; 30]).collect();
    let file = write("group_size:9,uncompressed".parse().expect("options"), &all);
    let footer = ArrayRecordReader::from_bytes(&file).expect("sound").footer_offset() as usize;
    for cut in (0..file.len()).step_by(997).chain(file.len() - 70..file.len()) {
        assert!(ArrayRecordReader::from_bytes(&file[..cut]).is_err(), "cut to {cut}");
    }
    let places = (0..footer + 300).chain(65_536..65_536 + 200);
    for (at, bit) in places.flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut flipped = file.clone();
        flipped[at] ^= 1 << bit;
        let Ok(mut reader) = ArrayRecordReader::from_bytes(&flipped) else {
            continue;
        };
        for number in 0..reader.len() {
            if let Ok(record) = reader.get(number) {
                assert!(record == Some(&all[number as usize][..]), "bit {bit} of byte {at}");
            }
        }
    }
}

#[test]
fn the_hexdump_of_the_format_page_is_the_end_of_an_empty_file() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats/array-record.md");
    let page = fs::read_to_string(page).expect("the page");
    let dump = page
        .split("```hexdump")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("a hexdump");
    let bytes: Vec<u8> = dump
        .split_whitespace()
        .map(|byte| u8::from_str_radix(byte, 16).expect("two digits"))
        .collect();
    assert!(bytes.len() > 100);
    for codec in ["", "uncompressed", "transpose,brotli"] {
        let file = write(codec.parse().expect("options"), &[]);
        assert_eq!(file.len(), 131_072);
        assert_eq!(file[65_536..65_536 + bytes.len()], bytes, "{codec}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn records_come_back_by_their_numbers(
        lengths in prop::collection::vec(prop_oneof![0_usize..50, 0_usize..70_000], 0..60),
        group_size in 1_u32..70,
        codec in 0_usize..4,
        transpose in any::<bool>(),
        pad in prop::bool::weighted(0.2),
        wanted in prop::collection::vec(any::<prop::sample::Index>(), 30),
    ) {
        let all: Vec<Vec<u8>> = lengths.iter().map(|&length| (0..length).map(|i| ((i * length) >> 5) as u8).collect()).collect();
        let codecs = [Compression::None, Compression::brotli(1), Compression::zstd(1), Compression::Snappy];
        let options = ArrayRecordWriterOptions::new()
            .group_size(group_size)
            .compression(codecs[codec])
            .transpose(transpose)
            .pad_to_block_boundary(pad);
        let file = write(options, &all);
        prop_assert!(records(&file) == all);
        let mut reader = ArrayRecordReader::from_bytes(&file).expect("sound");
        prop_assert_eq!(reader.num_chunks(), all.len().div_ceil(group_size as usize));
        for number in wanted.iter().filter(|_| !all.is_empty()).map(|index| index.index(all.len())) {
            prop_assert!(reader.get(number as u64).expect("sound") == Some(&all[number][..]));
        }
    }
}

/// Returns the records of `file` with another footer, whose hashes are right.
fn with_footer(file: &[u8], footer: &[Vec<u8>]) -> Vec<u8> {
    let begin = ArrayRecordReader::from_bytes(file).expect("sound").footer_offset();
    let options = "uncompressed,chunk_size:1M,final_padding:64K";
    let options: WriterOptions = options.parse().expect("options");
    let records = file[..begin as usize].to_vec();
    let mut behind = RecordWriter::new_at(records, begin, options).expect("memory");
    for record in footer {
        behind.write_record(record).expect("memory");
    }
    behind.flush(FlushType::FromProcess).expect("memory");
    // footer_offset = 1, magic = 2 (google/array_record, cpp/layout.proto).
    let postscript = [vec![8], varint(begin), vec![16], varint(0x7193_0e70_4fda_e05e)].concat();
    for _ in 0..3 {
        behind.write_record(&postscript).expect("memory");
    }
    behind.close().expect("memory")
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// A record of the footer: chunk_offset = 1, decoded_data_size = 2, num_records = 3.
fn entry(offset: u64, size: u64, records: u64) -> Vec<u8> {
    [
        vec![8],
        varint(offset),
        vec![16],
        varint(size),
        vec![24],
        varint(records),
    ]
    .concat()
}

/// The first record of the footer: version = 1, num_chunks = 2, num_records = 3.
fn of_file(chunks: u64, records: u64) -> Vec<u8> {
    let message = [vec![8, 1, 16], varint(chunks), vec![24], varint(records)].concat();
    [vec![10], varint(message.len() as u64), message].concat()
}

#[test]
fn the_footer_is_verified_and_no_record() {
    for entry in entries() {
        let path = corpus().join(entry["file"].as_str().expect("a file"));
        let Verification { records, damaged, .. } = verify(&path).expect("a file");
        assert_eq!(Some(records), entry["array_record"]["records"].as_u64(), "{path:?}");
        assert_eq!(damaged, [], "{path:?}");
        let options = ReaderOptions::new().stop_at_footer(true);
        let reader = RecordReader::open(&path, &options).expect("a file");
        let index = ArrayRecordReader::open(&path, &options).expect("a file");
        assert_eq!(reader.footer_offset(), Some(index.footer_offset()), "{path:?}");
    }

    // Records 0 to 9 in chunks of four.
    let options: ArrayRecordWriterOptions = "group_size:4,uncompressed".parse().expect("options");
    let file = write(options, &(0..10).map(|number| vec![number; 10]).collect::<Vec<_>>());
    let reader = ArrayRecordReader::from_bytes(&file).expect("sound");
    let [a, b, c] = [0, 1, 2].map(|chunk| reader.chunk(chunk).expect("a chunk").0);
    let footer = reader.footer_offset();
    let postscript = file.len() as u64 - 65_536;
    let verified = |file: Vec<u8>| verify_source(BytesSource(file), "").expect("memory");
    let check = |entries: &[Vec<u8>], expected: &[(u64, u64, String)]| {
        let verification = verified(with_footer(&file, entries));
        assert_eq!(verification.records, 10);
        let found: Vec<(u64, u64, String)> = verification
            .damaged
            .into_iter()
            .map(|region| (region.begin, region.end, region.why))
            .collect();
        assert_eq!(found, expected);
    };
    let [of_a, of_b, of_c] =
        [(a, 40, 4), (b, 40, 4), (c, 20, 2)].map(|(offset, size, records)| entry(offset, size, records));
    let sound = [of_file(3, 10), of_a.clone(), of_b.clone(), of_c.clone()];
    check(&sound, &[]);
    // Of another number of records, or of bytes.
    check(
        &[of_file(3, 11), of_a.clone(), entry(b, 40, 5), entry(c, 21, 2)],
        &[
            (b, c, "there are 4 records of a chunk, by its footer 5".to_owned()),
            (
                c,
                footer,
                "there are 20 bytes of records of a chunk, by its footer 21".to_owned(),
            ),
        ],
    );
    // Without a chunk, and with one where none begins.
    check(
        &[of_file(2, 6), of_a.clone(), of_c.clone()],
        &[(b, c, "its footer does not have this chunk of records".to_owned())],
    );
    check(
        &[of_file(2, 8), of_a.clone(), of_b.clone()],
        &[(c, footer, "its footer does not have this chunk of records".to_owned())],
    );
    check(
        &[of_file(3, 10), of_a.clone(), of_b.clone(), entry(c + 1, 20, 2)],
        &[
            (c, footer, "its footer does not have this chunk of records".to_owned()),
            (
                footer,
                postscript,
                format!("its footer has a chunk of records at byte {}, where none begins", c + 1),
            ),
        ],
    );
    // What keeps the index from being read.
    check(
        &[of_file(3, 9), of_a.clone(), of_b.clone(), of_c.clone()],
        &[(footer, postscript, "there are 10 records, by its footer 9".to_owned())],
    );
    check(
        &[of_file(3, 10), of_b, of_a, of_c],
        &[(footer, postscript, "record 2 of its footer is invalid".to_owned())],
    );
    check(
        &[],
        &[(footer, postscript, "record 0 of its footer is invalid".to_owned())],
    );

    // A damaged chunk is not counted, and told of once.
    let mut damaged = file.clone();
    damaged[b as usize + 50] ^= 1;
    let verification = verified(damaged);
    assert_eq!(verification.records, 6);
    assert_eq!(verification.damaged.len(), 1, "{:?}", verification.damaged);
    assert_eq!((verification.damaged[0].begin, verification.damaged[0].end), (b, c));
    // So is a damaged footer.
    let mut damaged = file.clone();
    damaged[footer as usize + 50] ^= 1;
    let verification = verified(damaged);
    assert_eq!(verification.records, 10);
    assert_eq!(verification.damaged.len(), 1, "{:?}", verification.damaged);
    assert_eq!(verification.damaged[0].begin, footer);
}

/// The records of a source that does not tell where its footer is, with what was left out.
fn passing<S: tidemill_riegeli::Source>(source: S, options: &ReaderOptions) -> (Vec<Vec<u8>>, usize) {
    let options = options.clone().stop_at_footer(true).recover(true);
    let mut reader = RecordReader::new(source, &options).expect("memory");
    let mut records = Vec::new();
    while let Some(record) = reader.read_record().expect("recovers") {
        records.push(record.to_vec());
    }
    (records, reader.close().expect("recovers").len())
}

#[test]
fn without_a_postscript_the_footer_is_known_by_what_is_in_it() {
    let options = ReaderOptions::new();
    for entry in entries() {
        let name = entry["file"].as_str().expect("a file");
        let file = fs::read(corpus().join(name)).expect("a file");
        let expected = records(&file);
        let footer = ArrayRecordReader::from_bytes(&file[..]).expect("sound").footer_offset();
        let footer = usize::try_from(footer).expect("memory");
        let postscript = file.len() - 65_536;
        for options in [options.clone(), options.clone().parallelism(2)] {
            let stream = StreamSource::new(&file[..]);
            assert!(passing(stream, &options) == (expected.clone(), 0), "{name}");
        }
        let verification = verify_source(StreamSource::new(&file[..]), name).expect("memory");
        assert_eq!(verification.records, expected.len() as u64, "{name}");
        let twice = [&file[..], &file[..]].concat();
        let all = [&expected[..], &expected[..]].concat();
        assert!(passing(StreamSource::new(&twice[..]), &options) == (all, 0), "{name}");

        // Cut off in front of the postscript, in it, in the footer and in front of that.
        for (cut, damaged) in [(postscript, 1), (postscript + 70, 1), (footer + 50, 1), (footer, 0)] {
            let found = passing(BytesSource(&file[..cut]), &options);
            assert!(
                found == (expected.clone(), damaged),
                "{name} cut to {cut}: {} {}",
                found.0.len(),
                found.1
            );
        }
        // Damaged in the header of the postscript, in its data, and in both.
        for (at, more) in [
            (postscript + 30, 0),
            (postscript + 70, 0),
            (footer + 5, 1),
            (footer + 45, 1),
        ] {
            let mut damaged = file.clone();
            damaged[at] ^= 1;
            damaged[postscript + 70] ^= more;
            let (found, regions) = passing(BytesSource(&damaged[..]), &options);
            assert!(found == expected, "{name} damaged at {at}: {}", found.len());
            assert!(regions > 0, "{name} damaged at {at}");
        }
    }
}

#[test]
fn records_like_an_index_stay() {
    let postscript = |offset: u64| [&[8][..], &varint(offset), &[16], &varint(0x7193_0e70_4fda_e05e)].concat();
    for records in [
        vec![postscript(64), postscript(64)],
        vec![postscript(64), postscript(64), postscript(65)],
        // Chunks behind this one.
        vec![postscript(64), postscript(64), postscript(64)],
        vec![of_file(1, 4), entry(1 << 20, 40, 4)],
        // Other counts than those of the chunk.
        vec![of_file(2, 4), entry(0, 40, 4)],
        vec![of_file(1, 5), entry(0, 40, 4)],
    ] {
        let mut writer = RecordWriter::new(Vec::new(), WriterOptions::new()).expect("memory");
        records
            .iter()
            .for_each(|record| writer.write_record(record).expect("memory"));
        let file = writer.close().expect("memory");
        let found = passing(StreamSource::new(&file[..]), &ReaderOptions::new());
        assert_eq!(found, (records, 0));
    }
}
