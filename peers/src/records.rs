//! Both libraries, driven alike: the payload goes through a writer into memory and through a reader out of it.

use std::{env, fs::File, io::Cursor, path::PathBuf};

use pprof::ProfilerGuardBuilder;
use riegeli::{CompressionType, Field, FieldProjection, ReaderOptions};
use tidemill_riegeli::{BytesSource, RecordReader, RecordWriter, WriterOptions};

use crate::payload::Payload;

/// The options of each column of the matrix, as the C++ library spells them. Uncompressed chunks are of 4 KiB by default
/// here and in C++, and always of 1 MiB in the crate, so they come with both sizes.
pub const OPTIONS: [&str; 10] = [
    "uncompressed",
    "uncompressed,chunk_size:1M",
    "brotli:6",
    "zstd:3",
    "snappy",
    "transpose,uncompressed",
    "transpose,uncompressed,chunk_size:1M",
    "transpose,brotli:6",
    "transpose,zstd:3",
    "transpose,snappy",
];

/// The cells that the command line asks for: all of them, or those that have each of its words in the name of their
/// payload or among their options.
pub fn cells(payloads: &[Payload]) -> Vec<(&Payload, &'static str)> {
    let words: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let all = payloads
        .iter()
        .flat_map(|payload| OPTIONS.map(|options| (payload, options)));
    let wanted = |(payload, options): &(&Payload, &str)| {
        let names: Vec<&str> = options.split(',').chain([payload.name]).collect();
        words.iter().all(|word| names.contains(&word.as_str()))
    };
    all.filter(wanted).collect()
}

/// Writes the payload with our library into `sink`.
pub fn ours_write(payload: &Payload, options: &str, sink: Vec<u8>) -> Vec<u8> {
    let options = options.parse::<WriterOptions>().expect("options");
    let mut writer = RecordWriter::new(sink, options).expect("a writer");
    for record in &payload.records {
        writer.write_record(record).expect("a record");
    }
    writer.close().expect("the end")
}

/// Reads every record of the file as our library lends it, and returns how long they are.
pub fn ours_lent(file: &[u8]) -> u64 {
    let mut reader = RecordReader::from_bytes(file).expect("a file");
    let mut bytes = 0;
    while let Some(record) = reader.read_record().expect("a record") {
        bytes += record.len() as u64;
    }
    bytes
}

/// Reads every record of the file into a vector of its own, and returns how long they are.
pub fn ours_owned(file: &[u8]) -> u64 {
    let mut reader = RecordReader::from_bytes(file).expect("a file");
    let mut bytes = 0;
    while let Some(record) = reader.read_record().expect("a record") {
        let record = std::hint::black_box(record.to_vec());
        bytes += record.len() as u64;
    }
    bytes
}

/// Writes the payload with the crate riegeli into `sink`. Chunks are of 1 MiB, whatever the options say.
pub fn rival_write(payload: &Payload, options: &str, mut sink: Vec<u8>) -> Vec<u8> {
    let mut wanted = riegeli::WriterOptions::new();
    for option in options.split(',') {
        wanted = match option {
            "transpose" => wanted.transpose(true),
            "uncompressed" => wanted.compression(CompressionType::None),
            "brotli:6" => wanted.compression(CompressionType::Brotli).compression_level(6),
            "zstd:3" => wanted.compression(CompressionType::Zstd).compression_level(3),
            "snappy" => wanted.compression(CompressionType::Snappy),
            "chunk_size:1M" => wanted.chunk_size(1 << 20),
            other => panic!("no column of the matrix has `{other}`"),
        };
    }
    let mut writer = riegeli::RecordWriter::new(Cursor::new(&mut sink), wanted).expect("a writer");
    for record in &payload.records {
        writer.write_record(record).expect("a record");
    }
    writer.close().expect("the end");
    sink
}

/// Reads every record of the file with the crate riegeli, which gives each as a vector, and returns how long they are.
pub fn rival_read(file: &[u8]) -> u64 {
    let mut reader = riegeli::RecordReader::new(Cursor::new(file), ReaderOptions::new()).expect("a file");
    let mut bytes = 0;
    while let Some(record) = reader.read_record().expect("a record") {
        bytes += record.len() as u64;
    }
    bytes
}

/// Reads what a projection leaves of every record, as our library lends it, and returns how long that is. `fields` are as the
/// command line writes them.
pub fn ours_projected(file: &[u8], fields: &str) -> u64 {
    let options = tidemill_riegeli::ReaderOptions::new().field_projection(fields.parse().expect("fields"));
    let mut reader = RecordReader::new(BytesSource(file), &options).expect("a file");
    let mut bytes = 0;
    while let Some(record) = reader.read_record().expect("a record") {
        bytes += record.len() as u64;
    }
    bytes
}

/// Reads what a projection leaves of every record with the crate riegeli.
pub fn rival_projected(file: &[u8], fields: &str) -> u64 {
    let mut projection = FieldProjection::new();
    for field in fields.split(',').filter(|field| !field.is_empty()) {
        let mut path: Vec<u32> = match field {
            "root" => Vec::new(),
            path => path
                .split('.')
                .map(|number| number.parse().expect("a number"))
                .collect(),
        };
        let existence_only = path.last() == Some(&0);
        path.retain(|&number| number != 0);
        let field = Field::new(path);
        projection = projection.add_field(if existence_only { field.existence_only() } else { field });
    }
    let options = ReaderOptions::new().field_projection(projection);
    let mut reader = riegeli::RecordReader::new(Cursor::new(file), options).expect("a file");
    let mut bytes = 0;
    while let Some(record) = reader.read_record().expect("a record") {
        bytes += record.len() as u64;
    }
    bytes
}

/// Runs `run`, and with `--flame` among the arguments writes a flame graph of it into the folder `flame`.
///
/// # Panics
///
/// When there can be no profile, or the graph cannot be written.
pub fn profiled<T>(name: &str, run: impl FnOnce() -> T) -> T {
    if !env::args().any(|argument| argument == "--flame") {
        return run();
    }
    let guard = ProfilerGuardBuilder::default()
        .frequency(997)
        .build()
        .expect("a profile");
    let answer = run();
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/flame"));
    std::fs::create_dir_all(&folder).expect("the folder of the graphs");
    let path = folder.join(name.replace([' ', ',', ':'], "-")).with_extension("svg");
    let graph = File::create(&path).expect("the file of the graph");
    let report = guard.report().build().expect("the samples");
    report.flamegraph(graph).expect("the graph");
    answer
}
