//! Memory is taken for data that are there, not for sizes that a file declares, and kept from chunk to chunk.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    cmp::Ordering,
    io::Write,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use tidemill_riegeli::{
    BlockHeader, BytesSource, ChunkDecoder, ChunkHeader, ChunkReader, ChunkType, Error, ReaderOptions, RecordIndex,
    RecordReader, RecordWriter, Source, WriterOptions,
    array_record::{ArrayRecordReader, ArrayRecordWriter, ArrayRecordWriterOptions},
    hash,
    tfrecord::{TfRecordCompression, TfRecordReader, TfRecordWriter},
};

/// Counts the bytes that are taken and not given back, their peak, and how often some are taken.
struct Counting;

/// Tests count one after the other.
static ALONE: Mutex<()> = Mutex::new(());
static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Of each thread, since the one that runs the tests says now and then how they are doing.
    static TIMES: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator as it is; counting does not touch the memory.
#[expect(unsafe_code, reason = "the trait of allocators is unsafe")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        TIMES.with(|times| times.set(times.get() + 1));
        // SAFETY: the caller keeps the rules of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the rules of `dealloc`, and the memory came from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn chunk(chunk_type: ChunkType, data: &[u8], data_size: u64, num_records: u64, decoded_data_size: u64) -> Vec<u8> {
    let mut header = ChunkHeader {
        header_hash: 0,
        data_size,
        data_hash: hash(data),
        chunk_type,
        num_records,
        decoded_data_size,
    };
    header.header_hash = header.computed_hash();
    [&header.to_bytes()[..], data].concat()
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

/// Reads in every way, and returns how much memory that took at its peak.
fn peak(file: &[u8]) -> usize {
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    for recover in [false, true] {
        let options = ReaderOptions::new().recover(recover);
        let mut reader = RecordReader::new(BytesSource(file), &options).expect("memory");
        let _metadata = reader.metadata().is_ok();
        while matches!(reader.read_record(), Ok(Some(_))) {}
        let mut stream = RecordReader::from_stream(file, &options).expect("a stream");
        let _metadata = stream.metadata().is_ok();
        while matches!(stream.read_record(), Ok(Some(_))) {}
        let _count = reader.count_records().is_ok();
        let _chunks = reader.list_chunks().map(|chunks| chunks.len());
    }
    PEAK.load(Relaxed) - before
}

#[test]
fn a_small_file_cannot_take_much_memory() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let writer = RecordWriter::new(Vec::new(), WriterOptions::new()).expect("memory");
    let signature = writer.close().expect("memory");
    let huge = [1 << 29, (1 << 30) - 1, 1 << 33, 1 << 50, (1 << 56) - 1];
    let mut files = 0;
    for size in huge {
        let sections = [
            vec![],
            varint(size),
            [varint(2), varint(size)].concat(),
            [varint(10), varint(size), vec![0xff; 5], varint(size), vec![0xff; 9]].concat(),
            // The beginning of a Zstandard frame of a declared size.
            [
                varint(17),
                varint(size),
                vec![0x28, 0xb5, 0x2f, 0xfd, 0xe0],
                size.to_le_bytes().to_vec(),
                vec![1, 0, 0],
            ]
            .concat(),
        ];
        for (chunk_type, codec, section) in [ChunkType::Simple, ChunkType::Transposed, ChunkType::FileMetadata]
            .into_iter()
            .flat_map(|chunk_type| b"\0bzs".iter().map(move |&codec| (chunk_type, codec)))
            .flat_map(|(chunk_type, codec)| sections.iter().map(move |section| (chunk_type, codec, section)))
        {
            let data = [&[codec][..], section].concat();
            let length = data.len() as u64;
            for (data_size, num_records, decoded) in [
                (length, 1, size),
                (length, size, size),
                (length, size, 0),
                (size, 1, 1),
                (size, size, size),
            ] {
                let records = match chunk_type {
                    ChunkType::FileMetadata => 0,
                    _ => num_records.min((1 << 56) - 1),
                };
                let chunk = chunk(chunk_type, &data, data_size, records, decoded);
                let file = [&signature[..], &chunk].concat();
                let peak = peak(&file);
                assert!(
                    peak < 8 << 20,
                    "{peak} bytes for {chunk_type} {codec} {data_size} {num_records} {decoded}"
                );
                files += 1;
            }
        }
    }
    assert_eq!(files, 5 * 12 * 5 * 5);
    assert!(peak(&signature) > 0);
}

/// Returns a file whose footer is a chunk of any bytes behind the signature, with a sound postscript in the last block.
fn with_postscript(signature: &[u8], footer: &[u8]) -> Vec<u8> {
    let mut file = [signature, footer].concat();
    assert!(file.len() <= 65_536);
    file.resize(65_536, 0);
    // footer_offset = 1, magic = 2 (google/array_record, cpp/layout.proto).
    let postscript = [
        vec![8],
        varint(signature.len() as u64),
        vec![16],
        varint(0x7193_0e70_4fda_e05e),
    ]
    .concat();
    let size = postscript.len() as u64;
    let data = [vec![0], varint(1), varint(size), postscript].concat();
    let chunk = chunk(ChunkType::Simple, &data, data.len() as u64, 1, size);
    file.extend(BlockHeader::new(0, 24 + chunk.len() as u64).to_bytes());
    file.extend(chunk);
    file.resize(2 * 65_536, 0);
    file
}

/// Opens an ArrayRecord file and reads of it what it says to have, and returns how much memory that took at its peak, and how
/// many records the index has, if it is sound.
fn peak_of_array_record(file: &[u8]) -> (usize, Option<u64>) {
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let mut len = None;
    if let Ok(mut reader) = ArrayRecordReader::from_bytes(file) {
        len = Some(reader.len());
        for number in [0, reader.len() / 2, reader.len().saturating_sub(1), u64::MAX] {
            let _record = reader.get(number).is_ok();
        }
        let _index = RecordIndex::of_array_record(&reader);
        let _metadata = reader.records_metadata().is_ok();
    }
    let options = ReaderOptions::new().stop_at_footer(true);
    if let Ok(mut reader) = RecordReader::new(BytesSource(file), &options) {
        while matches!(reader.read_record(), Ok(Some(_))) {}
    }
    (PEAK.load(Relaxed) - before, len)
}

#[test]
fn a_small_footer_cannot_take_much_memory() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let writer = RecordWriter::new(Vec::new(), WriterOptions::new()).expect("memory");
    let signature = writer.close().expect("memory");
    let huge = [
        1 << 24,
        1 << 29,
        (1 << 30) - 1,
        1 << 33,
        1 << 50,
        (1 << 56) - 1,
        u64::MAX,
    ];
    let mut sound = 0;
    for size in huge {
        // Footer chunks that say to be huge.
        for (codec, section) in b"\0bzs".iter().flat_map(|codec| {
            [
                varint(size),
                [varint(2), varint(size)].concat(),
                [varint(10), varint(size), vec![0xff; 5], varint(size), vec![0xff; 9]].concat(),
            ]
            .map(|section| (codec, section))
        }) {
            let data = [&[*codec][..], &section].concat();
            for (num_records, decoded) in [(1, size), (60_000, size), (60_000, 0), (size.min((1 << 56) - 1), size)] {
                let footer = chunk(ChunkType::Simple, &data, data.len() as u64, num_records, decoded);
                let file = with_postscript(&signature, &footer);
                let (peak, len) = peak_of_array_record(&file);
                assert!(
                    peak < 8 << 20,
                    "{peak} bytes for {codec} {size} {num_records} {decoded}"
                );
                assert_eq!(len, None);
            }
        }
        // Sound chunks of records that say to be many, or large: chunk_offset = 1, decoded_data_size = 2, num_records = 3 of a
        // chunk; version = 1, num_chunks = 2, num_records = 3, writer_options = 4 of the file.
        for (chunks, by_chunk) in [(1, size), (1, 0), (60, size / 60), (size, size), (1, u64::MAX)] {
            let records = by_chunk.wrapping_mul(chunks.min(60));
            let of_file = [vec![8, 1, 16], varint(chunks), vec![24], varint(records)].concat();
            for of_file in [of_file.clone(), [of_file, vec![34], varint(size)].concat()] {
                let mut footer = vec![[vec![10], varint(of_file.len() as u64), of_file].concat()];
                footer.extend((0..chunks.min(60)).map(|number| {
                    let fields = [varint(number), vec![16], varint(size), vec![24], varint(by_chunk)];
                    [&[8], &fields.concat()[..]].concat()
                }));
                let sizes: Vec<u8> = footer.iter().flat_map(|record| varint(record.len() as u64)).collect();
                let records = footer.concat();
                let data = [vec![0], varint(sizes.len() as u64), sizes, records.clone()].concat();
                let (count, length) = (footer.len() as u64, data.len() as u64);
                let footer = chunk(ChunkType::Simple, &data, length, count, records.len() as u64);
                let (peak, len) = peak_of_array_record(&with_postscript(&signature, &footer));
                assert!(
                    peak < 8 << 20,
                    "{peak} bytes for {chunks} chunks of {by_chunk} records, {size}"
                );
                sound += usize::from(len.is_some());
            }
        }
    }
    assert!(sound > 0);
}

/// Runs `run`, and returns how often it took memory for each of as many records as it says.
fn allocations(run: impl FnOnce() -> usize) -> f64 {
    let before = TIMES.get();
    let records = run();
    (TIMES.get() - before) as f64 / records as f64
}

fn read_all(mut reader: RecordReader<impl Source>) -> usize {
    let mut records = 0;
    while reader.read_record().expect("sound").is_some() {
        records += 1;
    }
    records
}

/// What records are, the records, and which number one has.
type Payload = (&'static str, Vec<Vec<u8>>, fn(&[u8]) -> u64);

fn number_in_text(record: &[u8]) -> u64 {
    let digits = record.iter().take(5);
    digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

/// Goes to records here and there by `go` and reads them, and returns how often that took memory for each, once the reader has
/// the buffers that it keeps.
fn moves(file: &[u8], records: &[Vec<u8>], mut go: impl FnMut(&mut RecordReader<BytesSource<&[u8]>>, usize)) -> f64 {
    let mut reader = RecordReader::from_bytes(file).expect("memory");
    let mut go_and_read = |turns: std::ops::Range<usize>| {
        let count = turns.len();
        for turn in turns {
            // A prime number: records of all chunks.
            let number = turn * 7_919 % records.len();
            go(&mut reader, number);
            assert!(reader.read_record().expect("sound") == Some(&records[number]));
        }
        count
    };
    // The buffers are as large as they get after some chunks, which are small or take long.
    let (before, turns) = match records[0].len() {
        0..100 => (40, 40),
        _ => (8, 12),
    };
    go_and_read(0..before);
    allocations(|| go_and_read(before..before + turns))
}

/// A message of 25 fields of all kinds, which begins with its number.
fn wide_message(number: u64) -> Vec<u8> {
    let mut message = [vec![0x09], number.to_be_bytes().to_vec()].concat();
    for field in 2..=25_u64 {
        match field % 4 {
            0 => message.extend([varint(field << 3), varint(number * field)].concat()),
            1 => {
                let text = format!("text {} of {field}", number % 97);
                message.extend([varint(field << 3 | 2), varint(text.len() as u64), text.into_bytes()].concat());
            }
            2 => message.extend([varint(field << 3 | 5), (number as u32).to_le_bytes().to_vec()].concat()),
            _ => message.extend([varint(field << 3 | 2), vec![4, 8], vec![1, 16, (number % 100) as u8]].concat()),
        }
    }
    message
}

#[test]
fn records_that_are_lent_take_no_memory_each() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let text = |size: usize| (0..10_000).map(move |number| format!("{number:05} ").repeat(size / 6).into_bytes());
    let message = |number: u64| {
        let field = |tag: u8| [vec![tag], varint(number * u64::from(tag))].concat();
        [
            field(8),
            field(16),
            vec![26, 3, b'a', b'b', (number % 7) as u8],
            field(32),
        ]
        .concat()
    };
    let payloads: [Payload; 5] = [
        ("records of 100 bytes", text(100).collect(), number_in_text),
        ("records of 1 KiB", text(1_024).collect(), number_in_text),
        ("messages", (0..10_000).map(message).collect(), |record| {
            // The first field has eight times the number.
            let bytes = record.iter().skip(1).zip(0..);
            let last = bytes.clone().position(|(&byte, _)| byte < 0x80).expect("a varint");
            bytes
                .take(last + 1)
                .map(|(&byte, at)| u64::from(byte & 0x7f) << (7 * at))
                .sum::<u64>()
                / 8
        }),
        ("records of 10 KiB", text(10_240).take(2_000).collect(), number_in_text),
        ("wide messages", (0..4_000).map(wide_message).collect(), |record| {
            u64::from_be_bytes(*record[1..].first_chunk().expect("eight bytes"))
        }),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    for (name, records, key) in &payloads {
        for options in [
            "uncompressed",
            "uncompressed,chunk_size:1M",
            "brotli:1",
            "zstd:1",
            "snappy",
            "transpose,uncompressed",
            "transpose,brotli:1",
            "transpose,zstd:1",
            "transpose,snappy",
        ] {
            let mut file = Vec::with_capacity(32 << 20);
            let write = allocations(|| {
                let options: WriterOptions = options.parse().expect("options");
                let mut writer = RecordWriter::new(std::mem::take(&mut file), options).expect("memory");
                records
                    .iter()
                    .for_each(|record| writer.write_record(record).expect("memory"));
                file = writer.close().expect("memory");
                records.len()
            });
            let lent = allocations(|| read_all(RecordReader::from_bytes(&file).expect("memory")));
            let streamed = allocations(|| {
                read_all(RecordReader::from_stream(&file[..], &ReaderOptions::new()).expect("a stream"))
            });
            let path = folder.path().join("a.riegeli");
            std::fs::write(&path, &file).expect("a file");
            let from_file = allocations(|| read_all(RecordReader::open(&path, &ReaderOptions::new()).expect("a file")));
            let index = RecordReader::from_bytes(&file)
                .and_then(|mut reader| reader.index_records())
                .expect("sound");
            let position = |number: usize| index.position(number as u64).expect("a record");
            let sought = moves(&file, records, |reader, number| {
                assert!(reader.seek(position(number)).expect("sound"));
            });
            let numeric = moves(&file, records, |reader, number| {
                assert!(reader.seek_numeric(position(number).numeric()).expect("sound"));
            });
            let searched = moves(&file, records, |reader, number| {
                let found = reader.search(|record| Ok(Some(key(record).cmp(&(number as u64)))));
                assert_eq!(found.expect("sound"), Some(Ordering::Equal));
            });
            let projected = allocations(|| {
                let fields = ReaderOptions::new().field_projection("1,3".parse().expect("fields"));
                read_all(RecordReader::new(BytesSource(&file[..]), &fields).expect("memory"))
            });
            for (what, found) in [
                ("written", write),
                ("lent", lent),
                ("streamed", streamed),
                ("from a file", from_file),
                ("sought", sought),
                ("sought by number", numeric),
                ("searched for", searched),
                ("projected", projected),
            ] {
                assert!(found < 0.1, "{name}, {options}, {what}: {found} allocations for each");
            }
        }
    }

    let mut writer = ArrayRecordWriter::new(Vec::new(), ArrayRecordWriterOptions::new()).expect("memory");
    let (_, records, _) = &payloads[1];
    for record in records {
        writer.write_record(record).expect("memory");
    }
    let mut items = ArrayRecordReader::from_bytes(writer.close().expect("memory")).expect("a file");
    items.get(0).expect("sound");
    let found = allocations(|| {
        for number in 0..10_000_u64 {
            let number = number * 7_919 % 10_000;
            assert!(items.get(number).expect("sound").is_some());
        }
        10_000
    });
    assert!(found < 0.1, "items by index: {found} allocations for each");
}

/// A file of one chunk, which is much larger than it.
fn bomb(options: &str, length: usize) -> Vec<u8> {
    let options = format!("{options},chunk_size:4G");
    let options: WriterOptions = options.parse().expect("options");
    let mut writer = RecordWriter::new(Vec::new(), options).expect("memory");
    writer.write_record(&vec![0; length]).expect("memory");
    writer.close().expect("memory")
}

/// What is sound and compresses well is refused by what its header says, before anything is decoded; or read, if one wants.
#[test]
fn a_small_file_of_large_records_is_refused_unless_wanted() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for (options, length) in [
        ("zstd", 200 << 20),
        ("brotli:1", 120 << 20),
        ("zstd,transpose", 60 << 20),
    ] {
        let file = bomb(options, length);
        assert!(file.len() < 1 << 20, "{} bytes", file.len());
        let peak = peak(&file);
        assert!(peak < 4 << 20, "{options}: {peak} bytes");
        let mut reader = RecordReader::from_bytes(&file).expect("memory");
        let error = reader.read_record().expect_err(options);
        assert!(matches!(error, Error::Limit { offset: 64, .. }), "{error:?}");
        let text = error.to_string();
        assert!(
            text.contains("`max_expansion`") && text.contains("the chunk at byte 64"),
            "{text}"
        );
        let mut chunks = ChunkReader::from_bytes(&file).expect("memory");
        let mut decoder = ChunkDecoder::new(&ReaderOptions::new());
        chunks.next_chunk().expect("memory");
        let chunk = chunks.next_chunk().expect("memory").expect("a chunk");
        assert!(decoder.decode_chunk(&chunk).is_err(), "{options}");

        let wanted = ReaderOptions::new().max_expansion(1 << 30);
        let mut reader = RecordReader::new(BytesSource(&file), &wanted).expect("memory");
        assert_eq!(reader.read_record().expect(options).map(<[u8]>::len), Some(length));
    }
    // Less than the default is nothing special.
    let file = bomb("zstd", 90 << 20);
    let mut reader = RecordReader::from_bytes(&file).expect("memory");
    assert_eq!(reader.read_record().expect("a record").map(<[u8]>::len), Some(90 << 20));
}

#[test]
fn a_small_array_record_file_of_large_records_is_refused_unless_wanted() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let options: ArrayRecordWriterOptions = "zstd,group_size:1".parse().expect("options");
    let mut writer = ArrayRecordWriter::new(Vec::new(), options).expect("memory");
    writer.write_record(b"small").expect("memory");
    writer.write_record(&vec![0; 110 << 20]).expect("memory");
    let file = writer.close().expect("memory");
    let mut reader = ArrayRecordReader::from_bytes(&file).expect("an index");
    assert_eq!(reader.get(0).expect("a record"), Some(&b"small"[..]));
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let error = reader.get(1).expect_err("large");
    assert!(matches!(error, Error::Limit { .. }), "{error:?}");
    assert!(PEAK.load(Relaxed) - before < 4 << 20);
    let wanted = ReaderOptions::new().max_expansion(1 << 30);
    let mut reader = ArrayRecordReader::new(BytesSource(&file), &wanted).expect("an index");
    assert_eq!(reader.get(1).expect("a record").map(<[u8]>::len), Some(110 << 20));
}

/// Only a length, and its checksum: what it says would come out of a few bytes.
#[test]
fn a_small_compressed_tfrecord_file_of_large_records_is_refused_unless_wanted() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let length = 110 << 20;
    let mut plain = TfRecordWriter::new(Vec::new());
    plain.write_record(&vec![0; length]).expect("memory");
    let plain = plain.close().expect("memory");
    for compression in [TfRecordCompression::Gzip, TfRecordCompression::Zlib] {
        let beginning = &plain[..12 + (1 << 20)];
        let mut file = Vec::new();
        match compression {
            TfRecordCompression::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(&mut file, flate2::Compression::fast());
                encoder.write_all(beginning).expect("memory");
                encoder.finish().expect("memory");
            }
            _ => {
                let mut encoder = flate2::write::ZlibEncoder::new(&mut file, flate2::Compression::fast());
                encoder.write_all(beginning).expect("memory");
                encoder.finish().expect("memory");
            }
        }
        let before = NOW.load(Relaxed);
        PEAK.store(before, Relaxed);
        let error = TfRecordReader::new(&file[..])
            .read_record()
            .expect_err("large")
            .to_string();
        assert!(
            error.contains("`max_expansion`") && error.contains(&length.to_string()),
            "{error}"
        );
        assert!(PEAK.load(Relaxed) - before < 2 << 20);
        let error = TfRecordReader::new(&file[..])
            .max_expansion(1 << 30)
            .read_record()
            .expect_err("cut off")
            .to_string();
        assert!(!error.contains("`max_expansion`"), "{error}");
    }
    // What is not compressed is as large as it is.
    let mut reader = TfRecordReader::new(&plain[..]);
    assert_eq!(reader.read_record().expect("a record").map(<[u8]>::len), Some(length));
}
