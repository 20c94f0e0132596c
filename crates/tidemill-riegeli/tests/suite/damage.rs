//! Damage anywhere in a file is found or does no harm: what is returned are the records that were written, in their order, and
//! each of the others is in a region that was left out, or behind an error.

use std::ops::Range;

use tidemill_riegeli::{
    BLOCK_HEADER_SIZE, BLOCK_SIZE, BytesSource, CHUNK_HEADER_SIZE, ChunkHeader, ChunkType, FlushType, ReaderOptions,
    RecordReader, RecordWriter, SkippedRegion, StreamSource, WriterOptions, hash, verify_source,
};

/// A record as it was written.
struct Original {
    bytes: Vec<u8>,
    /// Where it stands, as `RecordPosition::numeric` says.
    pos: u64,
    chunk: Range<u64>,
}

/// Returns a file of about 300 KiB, and its records: their first eight bytes are their numbers.
fn file(options: &str, size: usize, first_size: usize) -> (Vec<u8>, Vec<Original>) {
    let options: WriterOptions = options.parse().expect("options");
    let mut writer = RecordWriter::new(Vec::new(), options).expect("memory");
    let mut written = 0_u64;
    let mut state = 1_u64;
    while writer.estimated_size() < 300 << 10 {
        let size = if written == 0 { first_size } else { size };
        let mut record = written.to_be_bytes().to_vec();
        while record.len() < size {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            record.extend_from_slice(&state.to_le_bytes());
        }
        record.truncate(size);
        writer.write_record(&record).expect("memory");
        if written == 0 {
            writer.flush(FlushType::FromProcess).expect("memory");
        }
        written += 1;
    }
    let file = writer.close().expect("memory");
    let originals = originals(&file);
    assert_eq!(originals.len() as u64, written);
    (file, originals)
}

fn originals(file: &[u8]) -> Vec<Original> {
    let mut reader = RecordReader::from_bytes(file).expect("memory");
    let chunks = reader.list_chunks().expect("sound");
    let mut originals = Vec::new();
    while let Some(record) = reader.read_record().expect("sound") {
        let bytes = record.to_vec();
        let pos = reader.last_pos();
        let chunk = chunks
            .iter()
            .find(|chunk| chunk.begin == pos.chunk_begin)
            .expect("its chunk");
        originals.push(Original {
            bytes,
            pos: pos.numeric(),
            chunk: chunk.begin..chunk.end,
        });
    }
    originals
}

/// Returns the places of the bytes of headers: of blocks, and of chunks, which block headers may interrupt.
fn headers(file: &[u8]) -> Vec<usize> {
    let chunks = RecordReader::from_bytes(file)
        .expect("memory")
        .list_chunks()
        .expect("sound");
    let is_in_block_header = |at: u64| at % BLOCK_SIZE < BLOCK_HEADER_SIZE as u64;
    let blocks = (0..file.len() as u64).filter(|&at| is_in_block_header(at));
    let chunk_headers = chunks.iter().flat_map(|chunk| {
        (chunk.begin..chunk.end)
            .filter(|&at| !is_in_block_header(at))
            .take(CHUNK_HEADER_SIZE)
    });
    let mut headers: Vec<usize> = blocks.chain(chunk_headers).map(|at| at as usize).collect();
    headers.sort_unstable();
    headers.dedup();
    headers
}

/// The part of a file that a flipped bit can change the reading of, or all of it.
#[derive(Clone, Copy)]
struct Part {
    from: u64,
    /// Reading stops with the first record of a chunk that begins behind this position.
    to: u64,
}

impl Part {
    const WHOLE: Self = Self { from: 0, to: u64::MAX };

    /// From the chunk before the flip to behind the next block header that the flip can disturb.
    fn around(at: usize) -> Self {
        Self {
            from: (at as u64).saturating_sub(5_000),
            to: at as u64 + 140_000,
        }
    }
}

/// What was read of a damaged file.
struct Found {
    /// Numbers of the records that were returned, in the order that they came in.
    records: Vec<usize>,
    skipped: Vec<SkippedRegion>,
    /// Whether an error ended reading.
    failed: bool,
    /// Where reading was stopped: before the first record of this chunk that was not compared. `None` at the end.
    stopped: Option<u64>,
}

/// Reads a part and checks that each record is one that was written, behind the one before it.
fn read(file: &[u8], originals: &[Original], recover: bool, part: Part, flip: &str) -> Found {
    let mut found = Found {
        records: Vec::new(),
        skipped: Vec::new(),
        failed: false,
        stopped: None,
    };
    let options = ReaderOptions::new().recover(recover);
    let mut reader = RecordReader::new(BytesSource(file), &options).expect("memory");
    if part.from > 0 {
        found.failed = reader.seek_numeric(part.from).is_err();
    }
    while !found.failed {
        let number = match reader.read_record() {
            Err(_) => {
                found.failed = true;
                break;
            }
            Ok(None) => break,
            Ok(Some(record)) => {
                let key = record.first_chunk().expect("eight bytes");
                let number = usize::try_from(u64::from_be_bytes(*key)).expect("a number");
                let original = originals.get(number).expect("a number of a record");
                assert!(original.bytes == record, "{flip}: record {number} is another one");
                let is_behind = found.records.last().is_none_or(|&last| last < number);
                assert!(
                    is_behind,
                    "{flip}: record {number} comes behind {:?}",
                    found.records.last()
                );
                number
            }
        };
        let chunk = reader.last_pos().chunk_begin;
        if chunk > part.to {
            found.stopped = Some(chunk);
            break;
        }
        found.records.push(number);
    }
    found.skipped = reader.skipped().to_vec();
    if found.stopped.is_none() && !found.failed {
        match reader.close() {
            Ok(skipped) => found.skipped = skipped,
            Err(_) => found.failed = true,
        }
    }
    found
}

/// Checks that what is missing has a reason.
fn check_found(found: &Found, originals: &[Original], part: Part, flip: &str) {
    let last = found.records.last().copied();
    let mut records = found.records.iter().copied().peekable();
    for (number, original) in originals.iter().enumerate() {
        if records.next_if_eq(&number).is_some() || original.pos < part.from {
            continue;
        }
        let is_stopped_before = found.stopped.is_some_and(|chunk| original.chunk.start >= chunk);
        let is_behind_error = found.failed && last.is_none_or(|last| last < number);
        let is_skipped = found
            .skipped
            .iter()
            .any(|region| region.begin < original.chunk.end && original.chunk.start < region.end);
        assert!(
            is_stopped_before || is_behind_error || is_skipped,
            "{flip}: record {number} of the chunk at {:?} is missing, left out is {:?}",
            original.chunk,
            found.skipped
        );
    }
}

/// Flips a bit and reads the part of the file that it is in, and all of it for some flips, recovering and not.
fn check(file: &mut [u8], originals: &[Original], at: usize, bit: u32, whole: bool) {
    file[at] ^= 1 << bit;
    let flip = format!("bit {bit} of byte {at}");
    let part = if whole { Part::WHOLE } else { Part::around(at) };
    let recovered = read(file, originals, true, part, &flip);
    assert!(!recovered.failed, "{flip}: recovery does not go on");
    check_found(&recovered, originals, part, &flip);
    let strict = read(file, originals, false, part, &flip);
    assert!(strict.skipped.is_empty(), "{flip}: {:?}", strict.skipped);
    check_found(&strict, originals, part, &flip);
    if whole {
        assert!(
            strict.failed || recovered.skipped.is_empty() && recovered.records.len() == originals.len(),
            "{flip} is an error for those alone who recover"
        );
    }
    file[at] ^= 1 << bit;
}

#[test]
fn every_flipped_bit_of_a_header_is_found_or_harmless() {
    const OPTIONS: &str = "uncompressed,chunk_size:40000";
    // The second chunk begins where the header of a block interrupts its own, at each quarter of it.
    for bytes_before in [39, 30, 20, 10, 1] {
        let first_size = (65_000..65_536)
            .find(|&size| chunk_behind_a_record(OPTIONS, size) == BLOCK_SIZE - bytes_before)
            .expect("a size");
        let (mut file, originals) = file(OPTIONS, 700, first_size);
        let headers = headers(&file);
        let begin = (BLOCK_SIZE - bytes_before) as usize;
        assert_eq!(
            headers.iter().filter(|&&at| (begin..begin + 64).contains(&at)).count(),
            64
        );
        // The other headers are the same each time but for their places.
        let all = bytes_before == 20;
        let headers = headers.into_iter().filter(|&at| all || at.abs_diff(begin) < 100);
        for (number, at) in headers.enumerate() {
            for bit in 0..8 {
                check(
                    &mut file,
                    &originals,
                    at,
                    bit,
                    (number + bit as usize).is_multiple_of(16),
                );
            }
        }
    }
}

/// Returns where the chunk begins behind that of one record of `size` bytes.
fn chunk_behind_a_record(options: &str, size: usize) -> u64 {
    let mut writer = RecordWriter::new(Vec::new(), options.parse().expect("options")).expect("memory");
    writer.write_record(&vec![0; size]).expect("memory");
    writer.close().expect("memory").len() as u64
}

#[test]
fn flipped_bits_of_data_are_found_or_harmless() {
    for (options, size) in [
        ("uncompressed", 100),
        ("zstd:1,chunk_size:30000", 100),
        ("transpose,snappy", 300),
        ("transpose,zstd:1,chunk_size:30000", 300),
    ] {
        let (mut file, originals) = file(options, size, size);
        // 1,009 is a prime number: any place in chunks and blocks.
        for (number, at) in (64..file.len()).step_by(1_009).enumerate() {
            check(&mut file, &originals, at, (number % 8) as u32, number % 10 == 0);
        }
    }
}

/// Hashes are sound, what they are of is not: verifying tells it, as reading the metadata does.
#[test]
fn metadata_that_cannot_be_read_are_damage_for_verification() {
    let chunk = |chunk_type, data: &[u8], num_records, size| {
        let mut header = ChunkHeader {
            header_hash: 0,
            data_size: data.len() as u64,
            data_hash: hash(data),
            chunk_type,
            num_records,
            decoded_data_size: size,
        };
        header.header_hash = header.computed_hash();
        [&header.to_bytes()[..], data].concat()
    };
    let signature = RecordWriter::new(Vec::new(), WriterOptions::new())
        .expect("memory")
        .close()
        .expect("memory");
    let mut writer =
        RecordWriter::new(Vec::new(), "uncompressed".parse::<WriterOptions>().expect("options")).expect("memory");
    writer.write_record(b"record").expect("memory");
    let records = writer.close().expect("memory")[64..].to_vec();
    // Metadata of a chunk that is transposed, as a writer makes them.
    let metadata = |message: &[u8]| {
        let options = WriterOptions::new().serialized_metadata(message.to_vec());
        RecordWriter::new(Vec::new(), options)
            .expect("memory")
            .close()
            .expect("memory")[64..]
            .to_vec()
    };
    for (name, metadata, is_sound) in [
        ("none", Vec::new(), true),
        ("sound", metadata(b""), true),
        ("no chunk", chunk(ChunkType::FileMetadata, b"\0garbage", 0, 7), false),
        ("no message", metadata(b"\x0a\xff\xff"), false),
    ] {
        let file = [&signature[..], &metadata, &records].concat();
        for damaged in [
            verify_source(BytesSource(&file), "").expect(name).damaged,
            verify_source(StreamSource::new(&file[..]), "").expect(name).damaged,
        ] {
            assert_eq!(damaged.is_empty(), is_sound, "{name}: {damaged:?}");
            assert!(
                damaged.iter().all(|region| region.begin == 64 && region.end > 64),
                "{name}: {damaged:?}"
            );
        }
        assert_eq!(verify_source(BytesSource(&file), "").expect(name).records, 1, "{name}");
    }
}
