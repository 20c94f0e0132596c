//! Writing: positions, flush levels, encoding threads, and appending to what a crash left.

use std::{
    cell::{Cell, RefCell},
    fs,
    io::{self, Write},
    rc::Rc,
};

use proptest::prelude::*;
use prost::Message as _;
use tidemill_riegeli::{
    Chunk, ChunkDecoder, ChunkEncoder, ChunkReader, ChunkWriter, Compression, Durable, Error, FlushType, ReaderOptions,
    RecordPosition, RecordReader, RecordWriter, RecordsMetadata, WriterOptions,
};

fn options(text: &str) -> WriterOptions {
    text.parse().expect("options")
}

fn record(number: usize) -> Vec<u8> {
    let mut record = format!("record {number}, ").into_bytes();
    record.resize(20 + number * 37 % 300, (number % 7) as u8);
    record
}

/// Returns the records of a file with their positions.
fn read(file: &[u8]) -> Vec<(RecordPosition, Vec<u8>)> {
    let mut reader = RecordReader::from_bytes(file).expect("memory");
    let mut records = Vec::new();
    while let Some(record) = reader.read_record().expect("sound") {
        let record = record.to_vec();
        records.push((reader.last_pos(), record));
    }
    reader.close().expect("complete");
    records
}

const OPTIONS: [&str; 9] = [
    "uncompressed",
    "uncompressed,chunk_size:200",
    "uncompressed,padding:3000",
    "zstd:1,chunk_size:700",
    "zstd:1,chunk_size:30000,initial_padding:64K",
    "snappy,chunk_size:1",
    "brotli:1,chunk_size:9000,final_padding:500",
    "transpose,uncompressed",
    "transpose,zstd:1,chunk_size:20000,bucket_fraction:0.1",
];

#[test]
fn records_are_where_the_writer_said() {
    for text in OPTIONS {
        let mut writer = RecordWriter::new(Vec::new(), options(text)).expect("memory");
        assert_eq!(writer.last_pos(), None);
        let (mut positions, mut next) = (Vec::new(), Vec::new());
        for number in 0..800 {
            next.push(writer.pos().expect("known").numeric());
            writer.write_record(&record(number)).expect("memory");
            positions.push(writer.last_pos().expect("known"));
            assert_eq!(writer.future_last_pos().expect("a record").get(), writer.last_pos());
            if number % 300 == 299 {
                writer.flush(FlushType::FromObject).expect("memory");
                assert_eq!(writer.last_pos(), positions.last().copied());
                let end = RecordPosition::new(writer.dest().len() as u64, 0);
                assert_eq!(writer.pos(), Some(end));
                assert_eq!(writer.estimated_size(), end.chunk_begin);
            }
        }
        let file = writer.close().expect("memory");
        let found: Vec<RecordPosition> = read(&file).iter().map(|record| record.0).collect();
        assert!(found == positions, "{text}");
        let mut reader = RecordReader::from_bytes(&file).expect("memory");
        for (number, pos) in next.into_iter().enumerate() {
            // Not always the record's own position, but one that leads to it.
            assert!(pos <= positions[number].numeric());
            reader.seek_numeric(pos).expect("a position");
            assert_eq!(
                reader.read_record().expect("sound"),
                Some(&record(number)[..]),
                "{text}"
            );
        }
    }
}

#[test]
fn records_that_are_chunks_alone_make_the_same_files_in_parts() {
    for size in [20, 28, 36, 100, 200, 400] {
        let write = |in_parts: bool| {
            let options = options(&format!("uncompressed,chunk_size:{size}"));
            let mut writer = RecordWriter::new(Vec::new(), options).expect("memory");
            let mut positions = Vec::new();
            for number in 0..400 {
                let record = record(number);
                match in_parts {
                    true => writer.write_record_parts(&[&record[..9], &record[9..]]),
                    false => writer.write_record(&record),
                }
                .expect("memory");
                positions.push((writer.last_pos(), writer.pos(), writer.estimated_size()));
            }
            (positions, writer.close().expect("memory"))
        };
        assert!(write(true) == write(false), "chunks of {size}");
    }
}

#[test]
fn encoding_threads_write_the_same_files() {
    for text in OPTIONS {
        let write = |parallelism: usize| {
            let metadata = RecordsMetadata {
                file_comment: Some("threads".to_owned()),
                ..Default::default()
            };
            let options = options(text).metadata(&metadata).parallelism(parallelism);
            let mut writer = RecordWriter::new(Vec::new(), options).expect("memory");
            let mut positions = Vec::new();
            for number in 0..6_000 {
                writer.write_record(&record(number)).expect("memory");
                positions.push(writer.future_last_pos().expect("a record"));
                if number % 2_500 == 2_499 {
                    writer.flush(FlushType::FromProcess).expect("memory");
                    assert!(positions.iter().all(|pos| pos.get().is_some()));
                    assert_eq!(writer.last_pos(), positions.last().and_then(|pos| pos.get()));
                    assert_eq!(writer.estimated_size(), writer.dest().len() as u64);
                }
            }
            let file = writer.close().expect("memory");
            let positions: Vec<_> = positions.iter().map(|pos| pos.get().expect("known")).collect();
            (file, positions)
        };
        let (file, positions) = write(0);
        for parallelism in [1, 2, 7] {
            let (found, found_positions) = write(parallelism);
            assert!(found == file, "{text}, parallelism {parallelism}");
            assert!(found_positions == positions, "{text}, parallelism {parallelism}");
        }
    }
}

#[test]
fn threads_and_the_writer_take_turns_as_messages_become_dear_and_cheap() {
    // Fields of one byte, and strings of 200.
    let dear: Vec<u8> = (0..100).flat_map(|value| [8 * (value % 12 + 1), value % 100]).collect();
    let cheap = [&[0x0a, 0xc8, 0x01][..], &[b'x'; 200]].concat();
    for text in [
        "transpose,uncompressed",
        "transpose,uncompressed,chunk_size:50000",
        "snappy,chunk_size:50000",
    ] {
        let write = |parallelism: usize| {
            let mut writer = RecordWriter::new(Vec::new(), options(text).parallelism(parallelism)).expect("memory");
            let mut positions = Vec::new();
            for number in 0..20_000 {
                let record = match number / 2_500 % 2 {
                    0 => &dear,
                    _ => &cheap,
                };
                writer.write_record(record).expect("memory");
                positions.push(writer.future_last_pos().expect("a record"));
                match number {
                    1_000 | 4_000 => writer.write_chunks_in_work().expect("memory"),
                    7_000 | 11_000 => writer.flush(FlushType::FromObject).expect("memory"),
                    _ => {}
                }
            }
            let file = writer.close().expect("memory");
            let positions: Vec<_> = positions.iter().map(|pos| pos.get().expect("known")).collect();
            (file, positions)
        };
        let (file, positions) = write(0);
        let found: Vec<RecordPosition> = read(&file).iter().map(|record| record.0).collect();
        assert!(found == positions, "{text}");
        for parallelism in [1, 3] {
            assert!(
                write(parallelism) == (file.clone(), positions.clone()),
                "{text}, parallelism {parallelism}"
            );
        }
    }
}

#[test]
fn a_position_in_a_chunk_that_was_never_written_is_right_or_not_known() {
    let write = |parallelism: &str| {
        let options = options(&format!("zstd:1,chunk_size:300000{parallelism}"));
        let mut writer = RecordWriter::new(Vec::new(), options).expect("memory");
        for number in 0..3_000 {
            writer.write_record(&record(number)).expect("memory");
        }
        (writer.future_last_pos().expect("a record"), writer.future_pos())
    };
    let (last, next) = write("");
    assert!(last.get().is_some() && next.get().is_some());
    let (last_in_parallel, next_in_parallel) = write(",parallelism:1");
    // Where the open chunk would have begun was known if the ones before it were written when the writer was dropped.
    assert!(last_in_parallel.get().is_none_or(|pos| Some(pos) == last.get()));
    assert!(next_in_parallel.get().is_none_or(|pos| Some(pos) == next.get()));
}

/// A destination that fails the nth call, writes less than it is given, and knows what would be left after a crash.
#[derive(Clone, Default)]
struct Disk(Rc<DiskState>);

#[derive(Default)]
struct DiskState {
    written: RefCell<Vec<u8>>,
    synced: Cell<usize>,
    flushes: Cell<usize>,
    calls: Cell<usize>,
    fail_at: Cell<Option<usize>>,
    short: Cell<bool>,
    /// How much was written and synced after each call.
    history: RefCell<Vec<(usize, usize)>>,
}

impl Disk {
    fn call(&self) -> io::Result<()> {
        let call = self.0.calls.get();
        self.0.calls.set(call + 1);
        self.0
            .history
            .borrow_mut()
            .push((self.0.written.borrow().len(), self.0.synced.get()));
        match self.0.fail_at.get() {
            Some(at) if call >= at => Err(io::Error::new(io::ErrorKind::StorageFull, "the disk is full")),
            _ => Ok(()),
        }
    }
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.call()?;
        let length = match self.0.short.get() {
            true => bytes.len().div_ceil(3),
            false => bytes.len(),
        };
        self.0.written.borrow_mut().extend_from_slice(&bytes[..length]);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flushes.set(self.0.flushes.get() + 1);
        self.call()
    }
}

impl Durable for Disk {
    fn sync(&mut self) -> io::Result<()> {
        self.call()?;
        self.0.synced.set(self.0.written.borrow().len());
        Ok(())
    }
}

#[test]
fn a_flush_goes_as_far_as_it_is_told() {
    let disk = Disk::default();
    let mut writer = RecordWriter::new_durable(disk.clone(), 0, options("zstd")).expect("a writer");
    let state = || (disk.0.written.borrow().len(), disk.0.flushes.get(), disk.0.synced.get());
    writer.write_record(b"one").expect("writes");
    let (before, ..) = state();
    writer.flush(FlushType::FromObject).expect("writes");
    let (written, flushes, synced) = state();
    assert!(written > before && flushes == 0 && synced == 0);
    writer.flush(FlushType::FromProcess).expect("writes");
    assert_eq!(state(), (written, 1, 0));
    writer.flush(FlushType::FromMachine).expect("writes");
    assert_eq!(state(), (written, 1, written));

    // What is no file cannot say that it is durable, and nothing happens.
    let mut writer = RecordWriter::new(Vec::new(), options("zstd")).expect("a writer");
    writer.write_record(b"one").expect("memory");
    let before = writer.dest().clone();
    let error = writer.flush(FlushType::FromMachine).expect_err("not durable");
    assert!(matches!(&error, Error::Io { source, .. } if source.kind() == io::ErrorKind::Unsupported));
    assert_eq!(*writer.dest(), before);
    assert_eq!(read(&writer.close().expect("memory")).len(), 1);
}

#[test]
fn files_are_durable() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("new.riegeli");
    for round in 0..2 {
        let writer = match round {
            0 => RecordWriter::create(&path, options("zstd")),
            _ => RecordWriter::append(&path, options("zstd")),
        };
        let mut writer = writer.expect("a writer");
        writer.write_record(&record(round)).expect("writes");
        writer.flush(FlushType::FromMachine).expect("a file");
        // Seen without closing.
        assert_eq!(readable(&fs::read(&path).expect("reads")), round + 1);
    }
}

#[test]
fn the_nth_failing_write_is_an_error_that_stays() {
    for text in [
        "uncompressed,chunk_size:500",
        "uncompressed,chunk_size:100",
        "zstd:1,chunk_size:500,parallelism:2",
        "transpose,snappy,chunk_size:9000",
    ] {
        for short in [false, true] {
            let write = |disk: &Disk| -> Result<(), Error> {
                let mut writer = RecordWriter::new_durable(disk.clone(), 0, options(text))?;
                for number in 0..300 {
                    if let Err(error) = writer.write_record(&record(number)) {
                        let again = writer.write_record(b"more").expect_err("an error that stays");
                        assert!(again.to_string().contains("cannot write"), "{again}");
                        assert!(writer.flush(FlushType::FromObject).is_err());
                        assert!(writer.close().is_err());
                        return Err(error);
                    }
                    if number % 60 == 59 {
                        writer.flush(FlushType::FromMachine)?;
                    }
                }
                writer.close().map(|_| ())
            };
            let sound = Disk::default();
            sound.0.short.set(short);
            write(&sound).expect("no failure");
            let records = read(&sound.0.written.borrow());
            assert_eq!(records.len(), 300);
            let calls = sound.0.calls.get();
            assert!(calls > 20);
            for fail_at in (0..calls).step_by(1 + calls / 150) {
                let disk = Disk::default();
                disk.0.short.set(short);
                disk.0.fail_at.set(Some(fail_at));
                let error = write(&disk).expect_err("a failure");
                let Error::Io { source, .. } = error else {
                    panic!("{error}")
                };
                assert_eq!(source.kind(), io::ErrorKind::StorageFull);
                // What was written is the beginning of the sound file.
                assert!(sound.0.written.borrow().starts_with(&disk.0.written.borrow()));
            }
        }
    }
}

/// Reads as much as there is, and returns how many records that are, in order from the first.
fn readable(file: &[u8]) -> usize {
    let mut reader = RecordReader::from_bytes(file).expect("memory");
    let mut count = 0;
    while let Ok(Some(found)) = reader.read_record() {
        assert_eq!(found, record(count));
        count += 1;
    }
    count
}

#[test]
fn whatever_a_crash_leaves_has_all_acknowledged_records_and_can_be_continued() {
    for text in [
        "uncompressed,chunk_size:2000",
        "zstd:1,chunk_size:40000,parallelism:2",
        "snappy,padding:3000",
    ] {
        let disk = Disk::default();
        let mut writer = RecordWriter::new_durable(disk.clone(), 0, options(text)).expect("a writer");
        // Records that a machine flush acknowledged, by what was synced then.
        let mut acknowledged = vec![(0, 0)];
        for number in 0..900 {
            writer.write_record(&record(number)).expect("writes");
            if number % 170 == 169 {
                writer.flush(FlushType::FromMachine).expect("writes");
                acknowledged.push((disk.0.synced.get(), number + 1));
            }
        }
        writer.close().expect("writes");
        let written = disk.0.written.borrow().clone();
        let history = disk.0.history.borrow().clone();
        assert!(acknowledged.len() == 6 && history.len() > 10);
        for &(length, synced) in history.iter().step_by(1 + history.len() / 60) {
            let (_, promised) = acknowledged[acknowledged.partition_point(|&(at, _)| at <= synced) - 1];
            // Nothing, some or all of what was not synced is lost; or its place is there, full of zeros.
            for left in [synced, synced + (length - synced) / 3, length] {
                let mut zeros = written[..left].to_vec();
                zeros.resize(length.max(left), 0);
                for crashed in [&written[..left], &zeros] {
                    let found = readable(crashed);
                    assert!(
                        found >= promised,
                        "{text}: {found} of {promised} records in {left} bytes"
                    );
                    check_append(crashed, found);
                }
            }
        }
    }
}

/// Appends to a file of which the first `count` records can be read, and reads all of it.
fn check_append(crashed: &[u8], count: usize) {
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), crashed).expect("writes");
    for round in 0..2 {
        let mut writer = RecordWriter::append(file.path(), options("zstd:1")).expect("a writer");
        writer.write_record(format!("more {round}").as_bytes()).expect("writes");
        writer.close().expect("writes");
    }
    let mut reader = RecordReader::open(file.path(), &ReaderOptions::new().recover(true)).expect("opens");
    for number in 0..count {
        assert_eq!(reader.read_record().expect("recovers"), Some(&record(number)[..]));
    }
    for round in 0..2 {
        let found = reader.read_record().expect("recovers").map(<[u8]>::to_vec);
        assert_eq!(
            found,
            Some(format!("more {round}").into_bytes()),
            "behind {} bytes",
            crashed.len()
        );
    }
    assert_eq!(reader.read_record().expect("the end"), None);
    reader.close().expect("complete");
}

#[test]
fn files_cut_at_every_byte_are_continued() {
    let mut writer = RecordWriter::new(Vec::new(), options("uncompressed,chunk_size:400")).expect("memory");
    let mut ends = vec![(64, 0)];
    for number in 0..6 {
        writer.write_record(&record(number)).expect("memory");
        writer.flush(FlushType::FromObject).expect("memory");
        ends.push((writer.dest().len(), number + 1));
    }
    let file = writer.close().expect("memory");
    for cut in 0..=file.len() {
        let complete = ends.iter().rfind(|end| end.0 <= cut).map_or(0, |end| end.1);
        assert_eq!(readable(&file[..cut]), complete);
        check_append(&file[..cut], complete);
    }
}

#[test]
fn files_cut_around_block_headers_are_continued() {
    let mut writer = RecordWriter::new(Vec::new(), options("uncompressed,chunk_size:50000")).expect("memory");
    for number in 0..1_500 {
        writer.write_record(&record(number)).expect("memory");
    }
    let file = writer.close().expect("memory");
    let mut aligned = RecordWriter::new(Vec::new(), options("uncompressed,padding:64K")).expect("memory");
    for number in 0..400 {
        aligned.write_record(&record(number)).expect("memory");
    }
    let aligned = aligned.close().expect("memory");
    for file in [file, aligned] {
        for block in [65_536, 131_072] {
            for cut in (block - 3..=block + 70).filter(|&cut| cut <= file.len()) {
                let cut = &file[..cut];
                check_append(cut, readable(cut));
            }
        }
    }
}

#[test]
fn padding_that_no_memory_holds_is_an_error() {
    for size in ["16E", "7.5E"] {
        let mut writer = RecordWriter::new(Vec::new(), options(&format!("padding:{size}"))).expect("memory");
        writer.write_record(b"a record").expect("memory");
        let error = writer.close().expect_err(size);
        let source = std::error::Error::source(&error).expect("the cause").to_string();
        assert!(source.ends_with("does not fit memory"), "{source}");
    }
}

#[test]
fn what_is_no_such_file_is_not_appended_to() {
    let zeros_then_one = [vec![0; 300_000], vec![1]].concat();
    for other in [
        &b"{\"id\": 1}\n"[..],
        &b"key,value\n".repeat(50),
        b"\n",
        &zeros_then_one,
    ] {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), other).expect("writes");
        let error = RecordWriter::append(file.path(), options("zstd"))
            .err()
            .expect("refused");
        assert!(matches!(error, Error::Corrupt(_)), "{error}");
        assert_eq!(fs::read(file.path()).expect("reads"), other);
    }
}

#[test]
fn nothing_of_a_damaged_end_is_cut_off() {
    let mut writer = RecordWriter::new(Vec::new(), options("uncompressed")).expect("memory");
    for number in 0..500 {
        writer.write_record(&record(number)).expect("memory");
    }
    let mut file = writer.close().expect("memory");
    let last = read(&file).last().expect("records").0;
    let damaged_header = last.chunk_begin as usize + 9;
    file[damaged_header] ^= 1;
    let path = tempfile::NamedTempFile::new().expect("a file");
    fs::write(path.path(), &file).expect("writes");
    let mut writer = RecordWriter::append(path.path(), options("uncompressed")).expect("a writer");
    writer.write_record(b"more").expect("writes");
    let pos = writer.last_pos().expect("known");
    writer.close().expect("writes");
    assert_eq!(pos.chunk_begin, file.len().next_multiple_of(65_536) as u64);
    let appended = fs::read(path.path()).expect("reads");
    assert!(appended.starts_with(&file));
    let mut reader = RecordReader::open(path.path(), &ReaderOptions::new().recover(true)).expect("opens");
    for number in 0..readable(&file) {
        assert_eq!(reader.read_record().expect("recovers"), Some(&record(number)[..]));
    }
    assert_eq!(reader.read_record().expect("recovers"), Some(&b"more"[..]));
    assert_eq!(reader.last_pos(), pos);
    assert_eq!(reader.read_record().expect("the end"), None);
    assert_eq!(reader.skipped().len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn files_written_in_any_number_of_sessions_read_as_one(
        sessions in prop::collection::vec((0_usize..OPTIONS.len(), 0_usize..60, 0_usize..3), 1..6),
    ) {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let mut count = 0;
        for (choice, records, parallelism) in sessions {
            let mut writer =
                RecordWriter::append(file.path(), options(OPTIONS[choice]).parallelism(parallelism)).expect("a writer");
            for _ in 0..records {
                writer.write_record(&record(count)).expect("writes");
                count += 1;
            }
            writer.close().expect("writes");
        }
        let bytes = fs::read(file.path()).expect("reads");
        prop_assert_eq!(readable(&bytes), count);
        prop_assert_eq!(read(&bytes).len(), count);
    }
}

#[test]
fn chunks_that_are_made_by_hand_are_those_of_the_writer() {
    let records: Vec<Vec<u8>> = (0..40_u8).map(|number| vec![8, number, 18, 2, number, 7]).collect();
    for options in [
        "uncompressed",
        "zstd",
        "transpose,brotli:2",
        "transpose,snappy,bucket_fraction:0",
    ] {
        let options: WriterOptions = options.parse().expect("options");
        let mut writer = RecordWriter::new(Vec::new(), options.clone()).expect("memory");
        let mut chunks = ChunkWriter::new(Vec::new(), 0).expect("memory");
        chunks.write_signature().expect("memory");
        let mut encoder = ChunkEncoder::new(&options);
        for group in records.chunks(7) {
            // What is dropped is in no chunk.
            encoder.add_record(b"dropped");
            encoder.clear();
            assert_eq!((encoder.num_records(), encoder.decoded_data_size()), (0, 0));
            for (index, record) in group.iter().enumerate() {
                writer.write_record(record).expect("memory");
                match index % 2 {
                    0 => encoder.add_record(record),
                    _ => encoder.add_record_parts(&[&record[..2], &[], &record[2..]]),
                }
            }
            writer.flush(FlushType::FromObject).expect("memory");
            let size = group.len() as u64 * 6;
            assert_eq!(
                (encoder.num_records(), encoder.decoded_data_size()),
                (group.len() as u64, size)
            );
            let chunk = encoder.encode().expect("encodes");
            assert_eq!(
                (chunk.num_records(), chunk.decoded_data_size()),
                (group.len() as u64, size)
            );
            chunks.write_chunk(&chunk).expect("memory");
            assert_eq!(encoder.num_records(), 0);
        }
        assert!(chunks.into_dest() == writer.close().expect("memory"), "{options:?}");
    }
}

#[test]
fn metadata_are_a_chunk_that_can_be_made_and_read_by_hand() {
    let metadata = RecordsMetadata {
        file_comment: Some("made by hand".repeat(100)),
        record_type_name: Some("shop.Order".to_owned()),
        ..Default::default()
    };
    for metadata in [metadata, RecordsMetadata::default()] {
        for compression in [
            Compression::None,
            Compression::brotli(6),
            Compression::zstd(3),
            Compression::Snappy,
        ] {
            let options = WriterOptions::new().compression(compression);
            let mut chunks = ChunkWriter::new(Vec::new(), 0).expect("memory");
            chunks.write_signature().expect("memory");
            let serialized = metadata.encode_to_vec();
            chunks.write_metadata(&serialized, compression).expect("memory");
            let file = chunks.into_dest();
            let writer = RecordWriter::new(Vec::new(), options.metadata(&metadata)).expect("memory");
            assert!(file == writer.close().expect("memory"), "{compression:?}");

            let mut reader = ChunkReader::from_bytes(&file).expect("memory");
            let decoder = ChunkDecoder::new(&ReaderOptions::new());
            let mut found = Vec::new();
            while let Some(chunk) = reader.next_chunk().expect("sound") {
                found.push(decoder.decode_metadata(&chunk).expect("sound"));
            }
            assert_eq!(found, [None, Some(serialized)], "{compression:?}");
        }
    }
}

#[test]
fn damaged_metadata_are_an_error() {
    let mut chunks = ChunkWriter::new(Vec::new(), 0).expect("memory");
    chunks.write_signature().expect("memory");
    chunks
        .write_metadata(b"\x0a\x04text", Compression::None)
        .expect("memory");
    let file = chunks.into_dest();
    let mut reader = ChunkReader::from_bytes(&file).expect("memory");
    reader.next_chunk().expect("sound").expect("a signature");
    let sound = reader.next_chunk().expect("sound").expect("a chunk");
    let decoder = ChunkDecoder::new(&ReaderOptions::new());
    for length in 0..sound.data.len() {
        let cut = Chunk {
            data: &sound.data[..length],
            ..sound
        };
        assert!(
            matches!(decoder.decode_metadata(&cut), Err(Error::Corrupt(_))),
            "cut to {length}"
        );
    }
    let small = ChunkDecoder::new(&ReaderOptions::new().max_chunk_size(3));
    assert!(matches!(small.decode_metadata(&sound), Err(Error::Limit { .. })));
    let mut counted = sound;
    counted.header.num_records = 1;
    assert!(matches!(decoder.decode_metadata(&counted), Err(Error::Corrupt(_))));
}
