//! Memory is taken for data that are there, not for sizes that a file declares, and kept from chunk to chunk.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use tidemill_riegeli::{
    BytesSource, ChunkHeader, ChunkType, ReaderOptions, RecordReader, RecordWriter, Source, WriterOptions,
    array_record::{ArrayRecordReader, ArrayRecordWriter, ArrayRecordWriterOptions},
    hash,
};

/// Counts the bytes that are taken and not given back, their peak, and how often some are taken.
struct Counting;

/// Tests count one after the other.
static ALONE: Mutex<()> = Mutex::new(());
static TIMES: AtomicUsize = AtomicUsize::new(0);
static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator as it is; counting does not touch the memory.
#[expect(unsafe_code, reason = "the trait of allocators is unsafe")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        TIMES.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the rules of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
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
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
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
    PEAK.load(Ordering::Relaxed) - before
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

/// Runs `run`, and returns how often it took memory for each of as many records as it says.
fn allocations(run: impl FnOnce() -> usize) -> f64 {
    let before = TIMES.load(Ordering::Relaxed);
    let records = run();
    (TIMES.load(Ordering::Relaxed) - before) as f64 / records as f64
}

fn read_all(mut reader: RecordReader<impl Source>) -> usize {
    let mut records = 0;
    while reader.read_record().expect("sound").is_some() {
        records += 1;
    }
    records
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
    let payloads: [(&str, Vec<Vec<u8>>); 3] = [
        ("records of 100 bytes", text(100).collect()),
        ("records of 1 KiB", text(1_024).collect()),
        ("messages", (0..10_000).map(message).collect()),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    for (name, records) in &payloads {
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
            let projected = allocations(|| {
                let fields = ReaderOptions::new().field_projection("1,3".parse().expect("fields"));
                read_all(RecordReader::new(BytesSource(&file[..]), &fields).expect("memory"))
            });
            for (what, found) in [
                ("written", write),
                ("lent", lent),
                ("streamed", streamed),
                ("from a file", from_file),
                ("projected", projected),
            ] {
                assert!(found < 0.1, "{name}, {options}, {what}: {found} allocations for each");
            }
        }
    }

    let mut writer = ArrayRecordWriter::new(Vec::new(), ArrayRecordWriterOptions::new()).expect("memory");
    let (_, records) = &payloads[1];
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
