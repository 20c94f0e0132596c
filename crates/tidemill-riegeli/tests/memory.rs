//! Memory is taken for data that are there, not for sizes that a file declares.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering},
};

use tidemill_riegeli::{
    BytesSource, ChunkHeader, ChunkType, ReaderOptions, RecordReader, RecordWriter, WriterOptions, hash,
};

/// Counts the bytes that are taken and not given back, and their peak.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator as it is; counting does not touch the memory.
#[expect(unsafe_code, reason = "the trait of allocators is unsafe")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
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
    // One test in this process, so nothing else takes memory meanwhile.
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
