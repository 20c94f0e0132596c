//! Reading by position: seeks, searches, recovery and streams, against what reading in order gives.

use std::{
    cell::Cell,
    cmp::Ordering,
    io::{self, Read},
    sync::{Arc, Mutex},
};

use proptest::prelude::*;
use tidemill_riegeli::{
    BytesSource, ChunkReader, ChunkType, Error, FlushType, ReaderOptions, RecordPosition, RecordReader, RecordWriter,
    RecordsMetadata, Source, WriterOptions,
};

/// Records that are their numbers, one chunk for some of them, block headers in between.
fn file(count: u32, size: usize, options: &str) -> Vec<u8> {
    let options: WriterOptions = options.parse().expect("options");
    let mut writer = RecordWriter::new(Vec::new(), options).expect("memory");
    for number in 0..count {
        writer.write_record(&record(number, size)).expect("memory");
    }
    writer.close().expect("memory")
}

fn record(number: u32, size: usize) -> Vec<u8> {
    let mut record = number.to_be_bytes().to_vec();
    while record.len() < size.max(4) {
        record.push((number.wrapping_mul(2_654_435_761).rotate_right(record.len() as u32) % 251) as u8);
    }
    record
}

fn number(record: &[u8]) -> u32 {
    u32::from_be_bytes(record[..4].try_into().expect("four bytes"))
}

const FILES: [(&str, u32, usize); 6] = [
    ("zstd:1,chunk_size:400000", 4_000, 300),
    ("transpose,zstd:1,chunk_size:400000", 4_000, 300),
    ("uncompressed", 1_500, 100),
    ("uncompressed,chunk_size:70000,padding:64K", 60, 9_000),
    ("zstd:1,chunk_size:2000", 900, 60),
    ("snappy,chunk_size:1", 70, 4),
];

fn positions(file: &[u8]) -> Vec<RecordPosition> {
    let mut reader = RecordReader::from_bytes(file).expect("memory");
    let mut positions = Vec::new();
    loop {
        let next = reader.pos();
        if reader.read_record().expect("sound").is_none() {
            return positions;
        }
        assert!(next <= reader.last_pos() && next.numeric() <= reader.last_pos().numeric());
        positions.push(reader.last_pos());
    }
}

#[test]
fn a_range_of_chunks_is_a_file_of_its_own() {
    for (options, count, size) in FILES {
        let file = file(count, size, options);
        let whole = RecordReader::from_bytes(&file[..]).expect("memory");
        assert_eq!(whole.end_of_chunks(u64::MAX).expect("sound"), file.len() as u64);
        // In steps of several chunks, and the numbers of each step.
        let (mut begin, mut next) = (0, 0);
        while begin < file.len() as u64 {
            let rest = ReaderOptions::default().chunks(begin..u64::MAX);
            let reader = RecordReader::new(BytesSource(&file[..]), &rest).expect("memory");
            let end = reader.end_of_chunks(100_000).expect("sound");
            assert!(end > begin, "{options}: {begin}");
            let step = ReaderOptions::default().chunks(begin..end);
            let mut reader = RecordReader::new(BytesSource(&file[..]), &step).expect("memory");
            let counted = reader.count_records().expect("sound");
            let first = next;
            while let Some(found) = reader.read_record().expect("sound") {
                assert_eq!(number(found), next);
                next += 1;
            }
            assert_eq!(u64::from(next - first), counted, "{options}");
            begin = end;
        }
        assert_eq!(next, count, "{options}");
        // What is not whole is left for later.
        let short = &file[..file.len() - 1];
        let reader = RecordReader::from_bytes(short).expect("memory");
        let end = reader.end_of_chunks(u64::MAX).expect("sound");
        assert!(end < file.len() as u64);
        let step = ReaderOptions::default().chunks(0..end);
        let mut reader = RecordReader::new(BytesSource(short), &step).expect("memory");
        while reader.read_record().expect("sound").is_some() {}
        assert!(reader.close().expect("a whole file").is_empty());
    }
}

#[test]
fn every_position_leads_to_its_record() {
    for (options, count, size) in FILES {
        let file = file(count, size, options);
        let positions = positions(&file);
        assert_eq!(positions.len(), count as usize);
        let mut reader = RecordReader::from_bytes(&file).expect("memory");
        // 7,919 is a prime number: every record, in no order.
        for step in 0..count {
            let wanted = step * 7_919 % count;
            let pos = positions[wanted as usize];
            assert!(reader.seek(pos).expect("a position"));
            assert!(!reader.last_record_is_valid());
            assert_eq!(reader.pos().numeric(), pos.numeric());
            let found = number(reader.read_record().expect("sound").expect("a record"));
            assert_eq!((found, reader.last_pos()), (wanted, pos), "{options}");
        }
        for (at, pos) in positions.iter().enumerate().step_by(3) {
            assert!(reader.seek_numeric(pos.numeric()).expect("a position"));
            let found = number(reader.read_record().expect("sound").expect("a record"));
            assert_eq!(found as usize, at, "{options}");
        }
    }
}

#[test]
fn a_number_between_records_leads_to_the_next_one() {
    for (options, count, size) in FILES {
        let file = file(count, size, options);
        let positions = positions(&file);
        let mut forwards = RecordReader::from_bytes(&file).expect("memory");
        for pos in (0..=file.len() as u64).step_by(file.len() / 700) {
            let expected = positions.iter().position(|record| record.numeric() >= pos);
            let mut elsewhere = RecordReader::from_bytes(&file).expect("memory");
            for reader in [&mut forwards, &mut elsewhere] {
                assert!(reader.seek_numeric(pos).expect("a position"));
                let found = reader.read_record().expect("sound").map(number);
                assert_eq!(found.map(|number| number as usize), expected, "{options} at {pos}");
            }
        }
    }
}

#[test]
fn seeking_back_walks_the_records_in_reverse() {
    for (options, count, size) in FILES {
        let file = file(count, size, options);
        let mut reader = RecordReader::from_bytes(&file).expect("memory");
        assert!(!reader.seek_back().expect("the beginning"));
        assert!(reader.seek_numeric(file.len() as u64).expect("the end"));
        for wanted in (0..count).rev() {
            assert!(reader.seek_back().expect("sound"));
            let pos = reader.pos();
            assert_eq!(number(reader.read_record().expect("sound").expect("a record")), wanted);
            assert_eq!(reader.last_pos(), pos);
            assert!(reader.seek_back().expect("sound"));
        }
        assert!(!reader.seek_back().expect("the beginning"));
        assert_eq!(number(reader.read_record().expect("sound").expect("a record")), 0);
    }
}

#[test]
fn a_seek_inside_the_current_chunk_reads_nothing() {
    let file = file(1_000, 100, "zstd,chunk_size:1M");
    let source = Counting::new(&file);
    let mut reader = RecordReader::new(&source, &ReaderOptions::new()).expect("memory");
    reader.read_record().expect("sound");
    let chunk_begin = reader.last_pos().chunk_begin;
    let calls = source.calls.get();
    for wanted in [999, 0, 500] {
        assert!(
            reader
                .seek(RecordPosition::new(chunk_begin, wanted))
                .expect("a position")
        );
        assert_eq!(
            u64::from(number(reader.read_record().expect("sound").expect("a record"))),
            wanted
        );
        assert!(reader.seek_numeric(chunk_begin + wanted).expect("a position"));
        assert_eq!(
            u64::from(number(reader.read_record().expect("sound").expect("a record"))),
            wanted
        );
    }
    assert_eq!(source.calls.get(), calls);
}

#[test]
fn positions_past_the_end_are_refused_and_do_no_harm() {
    let file = file(10, 20, "uncompressed");
    let end = file.len() as u64;
    let mut reader = RecordReader::from_bytes(&file).expect("memory");
    for pos in [end + 1, end + 65_536, u64::MAX] {
        let error = reader.seek_numeric(pos).expect_err("past the end");
        assert!(error.to_string().contains("past the end of the file"), "{error}");
        let error = reader.seek(RecordPosition::new(pos, 3)).expect_err("past the end");
        assert!(error.to_string().contains("past the end of the file"), "{error}");
        assert!(reader.seek_numeric(0).expect("a position"));
        assert_eq!(number(reader.read_record().expect("sound").expect("a record")), 0);
    }
    assert!(reader.seek(RecordPosition::new(end, 0)).expect("the end"));
    assert_eq!(reader.read_record().expect("the end"), None);
    let error = reader
        .seek(RecordPosition::new(10, 1))
        .expect_err("inside a block header");
    assert!(error.to_string().contains("no chunk can begin here"), "{error}");
}

/// A source that is no slice, and counts what is read of it.
struct Counting<'a> {
    bytes: &'a [u8],
    calls: Cell<usize>,
    read: Cell<usize>,
}

impl<'a> Counting<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            calls: Cell::new(0),
            read: Cell::new(0),
        }
    }
}

impl Source for &Counting<'_> {
    fn size(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_at(&self, pos: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let length = BytesSource(self.bytes).read_at(pos, buffer)?;
        self.calls.set(self.calls.get() + 1);
        self.read.set(self.read.get() + length);
        Ok(length)
    }
}

#[test]
fn a_search_reads_a_logarithm_of_the_chunks() {
    let file = file(40_000, 100, "uncompressed");
    let chunks = RecordReader::from_bytes(&file)
        .expect("memory")
        .list_chunks()
        .expect("chunks")
        .len();
    assert!(chunks > 1_000, "{chunks}");
    for wanted in [0, 1, 17, 20_000, 31_415, 39_999] {
        let source = Counting::new(&file);
        let mut reader = RecordReader::new(&source, &ReaderOptions::new()).expect("memory");
        let mut tests = 0;
        let found = reader.search(|record| {
            tests += 1;
            Ok(Some(number(record).cmp(&wanted)))
        });
        assert_eq!(found.expect("sound"), Some(Ordering::Equal));
        assert_eq!(number(reader.read_record().expect("sound").expect("a record")), wanted);
        // 11 chunks of 4 KiB, each behind a block header and some chunk headers.
        assert!(tests <= 30, "{tests} tests for {wanted}");
        assert!(source.calls.get() <= 80, "{} reads for {wanted}", source.calls.get());
        assert!(
            source.read.get() <= 1 << 20,
            "{} of {} bytes",
            source.read.get(),
            file.len()
        );
    }
}

/// Looks for `wanted` in records of even numbers, of which those with a remainder of 3 by 7 cannot be judged.
fn check_search<S: Source>(reader: &mut RecordReader<S>, count: u32, wanted: u32, first_equal: bool) {
    let judge = |number: u32| (number / 2 % 7 != 3).then(|| number.cmp(&wanted));
    let found = reader
        .search(|record| {
            Ok(judge(number(record)).map(|ordering| match first_equal {
                true => ordering.then(Ordering::Greater),
                false => ordering,
            }))
        })
        .expect("sound");
    let judged = (0..count)
        .map(|number| number * 2)
        .filter(|&number| judge(number).is_some());
    let (equal, behind) = (
        judged.clone().find(|&n| n == wanted),
        judged.clone().find(|&n| n > wanted),
    );
    let (expected, at) = match (equal, behind) {
        (Some(at), _) if !first_equal => (Some(Ordering::Equal), Some(at)),
        (Some(at), _) => (Some(Ordering::Greater), Some(at)),
        (None, Some(at)) => (Some(Ordering::Greater), Some(at)),
        (None, None) if judged.count() > 0 => (Some(Ordering::Less), None),
        (None, None) => (None, None),
    };
    assert_eq!(found, expected, "{wanted}");
    assert_eq!(reader.read_record().expect("sound").map(number), at, "{wanted}");
}

#[test]
fn searches_end_where_looking_at_all_records_would() {
    for options in [
        "uncompressed,chunk_size:300",
        "zstd,chunk_size:100K,padding:2000",
        "transpose,zstd,chunk_size:4K",
        "brotli:1,chunk_size:1",
    ] {
        for count in [0, 1, 2, 9, 400] {
            let mut writer =
                RecordWriter::new(Vec::new(), options.parse::<WriterOptions>().expect("options")).expect("memory");
            for number in 0..count {
                writer.write_record(&record(number * 2, 30)).expect("memory");
                if number % 50 == 49 {
                    writer.flush(FlushType::FromProcess).expect("memory");
                }
            }
            let file = writer.close().expect("memory");
            let mut reader = RecordReader::from_bytes(&file).expect("memory");
            for wanted in (0..=2 * count + 1).step_by(1 + count as usize / 40) {
                check_search(&mut reader, count, wanted, false);
                check_search(&mut reader, count, wanted, true);
            }
        }
    }
}

#[test]
fn searches_pass_damage_when_recovering() {
    let mut file = file(20_000, 100, "uncompressed");
    let positions = positions(&file);
    // The data of a chunk, and a block header.
    let damaged = positions[7_000];
    file[damaged.chunk_begin as usize + 200] ^= 1;
    file[10 * 65_536 + 3] ^= 1;
    let whole = |number: u32| {
        let chunk = positions[number as usize].chunk_begin;
        chunk != damaged.chunk_begin && !(9 * 65_536..11 * 65_536).contains(&chunk)
    };
    let mut found = 0;
    for wanted in (0..20_000).step_by(303).chain([7_000]) {
        let mut reader = RecordReader::new(BytesSource(&file), &ReaderOptions::new().recover(true)).expect("memory");
        let ordering = reader
            .search(|record| Ok(Some(number(record).cmp(&wanted))))
            .expect("recovers");
        let record = number(reader.read_record().expect("recovers").expect("a record"));
        if whole(wanted) {
            assert_eq!((ordering, record), (Some(Ordering::Equal), wanted));
            found += 1;
        } else {
            assert!(record >= wanted);
        }
    }
    assert!(found > 60);
    let mut reader = RecordReader::from_bytes(&file).expect("memory");
    let error = reader
        .search(|record| Ok(Some(number(record).cmp(&7_000))))
        .expect_err("damage");
    assert!(matches!(error, Error::Corrupt(_)), "{error}");
}

#[test]
fn every_way_to_seek_leaves_damage_behind() {
    let mut writer =
        RecordWriter::new(Vec::new(), "uncompressed,chunk_size:1000".parse().expect("options")).expect("memory");
    let mut positions = Vec::new();
    for number in 0..200_u8 {
        writer.write_record(&[number; 900]).expect("memory");
        positions.push(writer.last_pos().expect("a record"));
    }
    let file = writer.close().expect("memory");
    // In the data of a chunk, and in its header.
    for at in [50, 5] {
        let mut damaged = file.clone();
        damaged[usize::try_from(positions[3].chunk_begin).expect("memory") + at] ^= 1;
        for wanted in [1, 4, 150] {
            let mut reader = RecordReader::from_bytes(&damaged).expect("memory");
            reader.seek(positions[3]).expect("a position");
            reader.read_record().expect_err("damage");
            assert!(reader.seek(positions[wanted]).expect("leaves it"));
            assert_eq!(
                reader.read_record().expect("sound").expect("a record")[0] as usize,
                wanted
            );

            let mut reader = RecordReader::from_bytes(&damaged).expect("memory");
            reader.seek(positions[3]).expect("a position");
            reader.read_record().expect_err("damage");
            let found = reader.seek_numeric(positions[wanted].numeric());
            // A damaged header hides where the next chunk of its block begins.
            assert!(found.is_ok() || (at == 5 && wanted == 4), "{at} {wanted}: {found:?}");
            if found.is_ok() {
                assert_eq!(
                    reader.read_record().expect("sound").expect("a record")[0] as usize,
                    wanted
                );
            }
        }
    }
}

#[test]
fn a_search_tells_where_records_are() {
    let mut writer =
        RecordWriter::new(Vec::new(), "uncompressed,chunk_size:60".parse().expect("options")).expect("memory");
    let mut positions = Vec::new();
    for number in 0..100_u8 {
        writer.write_record(&[number; 10]).expect("memory");
        positions.push(writer.last_pos().expect("a record"));
    }
    let file = writer.close().expect("memory");
    positions.push(RecordPosition::new(file.len() as u64, 0));
    let mut reader = RecordReader::from_bytes(&file).expect("memory");
    for wanted in [0, 1, 50, 98, 99] {
        let found = reader.search_with_positions(|place, record| {
            let number = usize::from(record[0]);
            assert_eq!(place, positions[number]..positions[number + 1]);
            Ok(Some(record[0].cmp(&wanted)))
        });
        assert_eq!(found.expect("sound"), Some(Ordering::Equal));
        assert_eq!(reader.pos(), positions[usize::from(wanted)]);
    }
}

#[test]
fn the_error_of_a_test_ends_the_search() {
    let file = file(100, 100, "uncompressed");
    let mut reader = RecordReader::from_bytes(&file).expect("memory");
    let error = reader
        .search(|_| "no position".parse::<RecordPosition>().map(|_| None))
        .expect_err("an error");
    assert!(matches!(error, Error::Position { .. }));
    assert!(reader.seek_numeric(0).expect("a position"));
    assert_eq!(number(reader.read_record().expect("sound").expect("a record")), 0);
}

#[test]
fn a_callback_decides_whether_to_go_on() {
    let mut file = file(1_000, 100, "uncompressed");
    let positions = positions(&file);
    let chunks: Vec<u64> = [100, 500, 900].map(|number| positions[number].chunk_begin).to_vec();
    for &chunk in &chunks {
        file[chunk as usize + 60] ^= 1;
    }
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (regions, stop_at) = (Arc::clone(&seen), chunks[1]);
    let options = ReaderOptions::new().on_recovery(move |region| {
        regions.lock().expect("no panic").push(region.begin);
        region.begin != stop_at
    });
    let mut reader = RecordReader::new(BytesSource(&file), &options).expect("memory");
    let mut ends = Vec::new();
    let mut records = 0;
    while ends.len() < 2 {
        match reader.read_record().expect("recovers") {
            Some(_) => records += 1,
            None => ends.push(reader.pos().chunk_begin),
        }
    }
    assert_eq!(*seen.lock().expect("no panic"), chunks);
    assert_eq!(
        reader.skipped().iter().map(|region| region.begin).collect::<Vec<_>>(),
        chunks
    );
    assert_eq!(ends, [reader.skipped()[1].end, file.len() as u64]);
    assert_eq!(
        records,
        positions
            .iter()
            .filter(|pos| !chunks.contains(&pos.chunk_begin))
            .count()
    );
    reader.clear_recovery();
    assert!(reader.seek_numeric(chunks[0] + 1).is_err());
    reader.set_recovery(|_| true);
    assert!(reader.seek_numeric(chunks[0] + 1).expect("recovers"));
    assert!(reader.last_pos().chunk_begin > chunks[0]);
}

#[test]
fn the_format_is_checked_before_anything_is_read() {
    let sound = file(3, 10, "uncompressed");
    let mut reader = RecordReader::from_bytes(&sound).expect("memory");
    assert!(reader.check_file_format().expect("sound"));
    assert_eq!(number(reader.read_record().expect("sound").expect("a record")), 0);
    assert!(reader.check_file_format().expect("sound"));
    for empty in [&[][..], &sound[..60]] {
        let mut reader = RecordReader::from_bytes(empty).expect("memory");
        assert!(!reader.check_file_format().expect("too short to tell"));
    }
    let other = b"{\"id\": 1}\n".repeat(10);
    let mut reader = RecordReader::new(BytesSource(&other), &ReaderOptions::new().recover(true)).expect("memory");
    assert!(matches!(reader.check_file_format(), Err(Error::Corrupt(_))));
}

/// Gives a few bytes at a time.
struct Trickle<'a> {
    bytes: &'a [u8],
    step: usize,
}

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let step = self.step.min(buffer.len());
        self.step = self.step * 7 % 5_003 + 1;
        self.bytes.read(&mut buffer[..step])
    }
}

#[test]
fn streams_give_all_records_and_their_metadata() {
    for (options, count, size) in FILES {
        let metadata = RecordsMetadata {
            file_comment: Some("a stream".to_owned()),
            ..Default::default()
        };
        let options: WriterOptions = options.parse().expect("options");
        let mut writer = RecordWriter::new(Vec::new(), options.metadata(&metadata)).expect("memory");
        for number in 0..count {
            writer.write_record(&record(number, size)).expect("memory");
        }
        let file = writer.close().expect("memory");
        let stream = Trickle { bytes: &file, step: 3 };
        let mut reader = RecordReader::from_stream(stream, &ReaderOptions::new()).expect("a reader");
        assert!(!reader.supports_random_access());
        assert_eq!(reader.size(), None);
        assert!(reader.check_file_format().expect("sound"));
        assert_eq!(reader.records_metadata().expect("metadata"), metadata);
        for wanted in 0..count {
            let found = reader.read_record().expect("sound").expect("a record");
            assert!(found == record(wanted, size));
        }
        assert_eq!(reader.read_record().expect("the end"), None);
        assert_eq!(reader.size(), Some(file.len() as u64));
        assert_eq!(reader.records_metadata().expect("metadata"), metadata);
        reader.close().expect("complete");
    }
}

#[test]
fn streams_go_forwards_only() {
    let file = file(1_500, 100, "uncompressed");
    let positions = positions(&file);
    let mut reader = RecordReader::from_stream(&file[..], &ReaderOptions::new()).expect("a reader");
    for wanted in [10, 11, 700, 1_400] {
        assert!(reader.seek(positions[wanted]).expect("forwards"));
        assert_eq!(
            number(reader.read_record().expect("sound").expect("a record")) as usize,
            wanted
        );
    }
    let unsupported = |result: Result<bool, Error>| match result {
        Err(Error::Io { source, .. }) => source.kind() == io::ErrorKind::Unsupported,
        _ => false,
    };
    assert!(unsupported(reader.search(|_| Ok(None)).map(|_| true)));
    assert!(unsupported(reader.metadata().map(|_| true)));
    assert!(unsupported(reader.count_records().map(|_| true)));
    let seek = reader
        .seek(positions[3])
        .and_then(|_| reader.read_record().map(|_| true));
    assert!(unsupported(seek));
}

#[test]
fn chunks_are_found_from_any_position() {
    let file = file(1_500, 100, "uncompressed");
    let mut chunks = ChunkReader::from_bytes(&file).expect("memory");
    let mut begins = Vec::new();
    let mut records = Vec::new();
    while let Some(chunk) = chunks.next_chunk().expect("sound") {
        begins.push(chunk.begin);
        records.push(chunk.header.num_records);
        assert_eq!(chunk.data.len() as u64, chunk.header.data_size);
        assert_eq!(chunk.begin == 0, chunk.header.chunk_type == ChunkType::FileSignature);
    }
    let end = file.len() as u64;
    assert_eq!(chunks.pos(), end);
    let mut chunks = ChunkReader::from_bytes(&file).expect("memory");
    for pos in (0..=end).step_by(97).chain((0..=end).rev().step_by(89)) {
        let after = begins.iter().copied().find(|&begin| begin >= pos).unwrap_or(end);
        let before = begins.iter().copied().rfind(|&begin| begin <= pos).expect("the first");
        chunks.seek_to_chunk_after(pos).expect("a position");
        assert_eq!(chunks.pos(), after, "{pos}");
        chunks.seek_to_chunk_before(pos).expect("a position");
        assert_eq!(chunks.pos(), if pos == end { end } else { before }, "{pos}");
        chunks.seek_to_chunk_containing(pos).expect("a position");
        let at = begins.iter().position(|&begin| begin == before).expect("a chunk");
        let inside = pos == before || before + records[at] > pos;
        assert_eq!(chunks.pos(), if inside && pos < end { before } else { after }, "{pos}");
    }
}

#[test]
fn reading_ahead_gives_the_same_records_and_errors_in_the_same_order() {
    for (options, size) in [
        ("zstd:1,chunk_size:90000", 260),
        ("transpose,snappy,chunk_size:70000", 200),
        ("brotli:1", 900),
    ] {
        let sound = file(4_000, size, options);
        let mut damaged = sound.clone();
        let middle = positions(&sound)[2_000].chunk_begin as usize;
        damaged[middle + 60] ^= 1;
        for (file, recover) in [(&sound, false), (&damaged, false), (&damaged, true)] {
            let read = |parallelism: usize| {
                let options = ReaderOptions::new().recover(recover).parallelism(parallelism);
                let mut reader = RecordReader::new(BytesSource(file), &options).expect("memory");
                let mut seen = Vec::new();
                let end = loop {
                    match reader.read_record() {
                        Ok(Some(record)) => {
                            let number = number(record);
                            seen.push((number, reader.last_pos(), reader.pos(), reader.skipped().len()));
                        }
                        Ok(None) => break "the end".to_owned(),
                        Err(error) => break error.to_string(),
                    }
                };
                (seen, end, reader.recover().expect("reads"), reader.pos())
            };
            let expected = read(0);
            for parallelism in [1, 2, 5] {
                assert!(
                    read(parallelism) == expected,
                    "{options}, recover: {recover}, parallelism {parallelism}"
                );
            }
        }
    }
}

#[test]
fn readers_that_are_ahead_go_back() {
    let file = file(3_000, 400, "zstd:1,chunk_size:70000");
    let positions = positions(&file);
    let options = ReaderOptions::new().parallelism(3);
    let mut reader = RecordReader::new(BytesSource(&file), &options).expect("memory");
    for start in [0, 1_500, 400, 2_800] {
        reader.seek(positions[start]).expect("a position");
        for at in start..(start + 190).min(3_000) {
            assert_eq!(
                number(reader.read_record().expect("sound").expect("a record")) as usize,
                at
            );
        }
    }
    for at in (2_000..2_990).rev() {
        assert!(reader.seek_back().expect("sound"));
        if at % 7 == 0 {
            assert_eq!(
                number(reader.read_record().expect("sound").expect("a record")) as usize,
                at
            );
            assert!(reader.seek_back().expect("sound"));
        }
    }
    let found = reader
        .search(|record| Ok(Some(number(record).cmp(&77))))
        .expect("sound");
    assert_eq!(found, Some(Ordering::Equal));
    for at in 77..500 {
        assert_eq!(number(reader.read_record().expect("sound").expect("a record")), at);
    }
    let chunk = reader.pos().chunk_begin;
    assert_eq!(
        reader.next_chunk().expect("sound").expect("a chunk").begin,
        positions
            .iter()
            .map(|pos| pos.chunk_begin)
            .find(|&begin| begin > chunk)
            .expect("a chunk")
    );
    let mut stream = RecordReader::from_stream(&file[..], &options).expect("a stream");
    for _ in 0..500 {
        stream.read_record().expect("sound");
    }
    assert!(stream.seek(positions[700]).is_err());
    assert_eq!(number(stream.read_record().expect("sound").expect("a record")), 500);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn walking_about_is_like_walking_about_in_a_list(
        codec in prop::sample::select(&["uncompressed,chunk_size:1500", "snappy,chunk_size:1500", "snappy,chunk_size:68000"][..]),
        parallelism in 0_usize..3,
        steps in prop::collection::vec((0_u8..5, any::<u32>()), 1..60),
        flips in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let mut file = file(300, 700, codec);
        let sound = positions(&file);
        for flip in flips {
            let at = flip.index(file.len());
            file[at] ^= 4;
        }
        let options = ReaderOptions::new().recover(true).parallelism(parallelism);
        let new = || RecordReader::new(BytesSource(&file), &options).expect("memory");
        let mut all = new();
        let mut list = Vec::new();
        while let Some(record) = all.read_record().expect("recovers") {
            let record = record.to_vec();
            list.push((all.last_pos(), record));
        }
        let mut reader = new();
        let mut at = Some(0);
        for (step, number) in steps {
            match step {
                0 if !list.is_empty() => {
                    let index = number as usize % list.len();
                    reader.seek(list[index].0).expect("recovers");
                    at = Some(index);
                }
                1 => {
                    // Damage may end a seek elsewhere: only what follows is compared.
                    reader.seek_numeric(u64::from(number) % file.len() as u64).expect("recovers");
                    at = None;
                }
                2 => {
                    let moved = reader.seek_back().expect("recovers");
                    at = at.and_then(|at| at.checked_sub(1)).filter(|_| moved && list.len() == sound.len());
                }
                _ => {
                    let found = reader.read_record().expect("recovers").map(<[u8]>::to_vec);
                    match found {
                        Some(found) => {
                            // A seek may find chunks that reading in order leaves out with a damaged one before them.
                            let wanted = sound.binary_search(&reader.last_pos()).expect("a record");
                            prop_assert!(found == record(wanted as u32, 700));
                            let index = list.iter().position(|listed| listed.0 == reader.last_pos());
                            if at.is_some() {
                                prop_assert_eq!(index, at);
                            }
                            at = index.map(|index| index + 1);
                        }
                        None => {
                            prop_assert_eq!(at.unwrap_or(list.len()), list.len());
                            at = Some(list.len());
                        }
                    }
                }
            }
        }
    }
}
