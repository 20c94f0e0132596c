//! The crate riegeli reads what we write, and we read what it writes: every data set of the corpus, with every codec, in simple
//! and in transposed chunks.

use std::io::Cursor;

use riegeli::CompressionType;
use tidemill_riegeli::{RecordReader, RecordWriter, WriterOptions};
use tidemill_testkit::{corpus, corpus_bytes};

const CODECS: [(&str, CompressionType); 4] = [
    ("uncompressed", CompressionType::None),
    ("brotli:3", CompressionType::Brotli),
    ("zstd:3", CompressionType::Zstd),
    ("snappy", CompressionType::Snappy),
];

/// The records of each data set, which are in files as u32 length (little endian) and bytes.
fn data_sets() -> Vec<(String, Vec<Vec<u8>>)> {
    let mut sets = Vec::new();
    for entry in std::fs::read_dir(corpus("riegeli/datasets")).expect("a folder") {
        let name = entry.expect("an entry").file_name().into_string().expect("UTF-8");
        if !name.ends_with(".recs") {
            continue;
        }
        let bytes = corpus_bytes(format!("riegeli/datasets/{name}"));
        let mut left = bytes.as_slice();
        let mut records = Vec::new();
        while let Some((length, behind)) = left.split_first_chunk() {
            let (record, behind) = behind.split_at(u32::from_le_bytes(*length) as usize);
            records.push(record.to_vec());
            left = behind;
        }
        sets.push((name, records));
    }
    assert!(sets.len() >= 10, "only {} data sets", sets.len());
    sets
}

#[test]
fn the_crate_riegeli_reads_what_we_write() {
    for (name, records) in data_sets() {
        for (codec, _) in CODECS {
            for layout in [
                "transpose:false",
                "transpose",
                "transpose,bucket_fraction:0.1,chunk_size:5k",
            ] {
                let options: WriterOptions = format!("{layout},{codec}").parse().expect("options");
                let mut writer = RecordWriter::new(Vec::new(), options).expect("memory");
                for record in &records {
                    writer.write_record(record).expect("memory");
                }
                let file = writer.close().expect("memory");
                let mut reader = riegeli::RecordReader::new(Cursor::new(file), riegeli::ReaderOptions::new())
                    .unwrap_or_else(|error| panic!("{name} {layout},{codec}: {error}"));
                for (number, expected) in records.iter().enumerate() {
                    let found = reader.read_record();
                    let found = found.unwrap_or_else(|error| panic!("{name} {layout},{codec}: {error}"));
                    assert_eq!(
                        found.as_ref(),
                        Some(expected),
                        "{name} {layout},{codec}: record {number}"
                    );
                }
                assert!(
                    reader.read_record().expect("the end").is_none(),
                    "{name} {layout},{codec}"
                );
            }
        }
    }
}

#[test]
fn we_read_what_the_crate_riegeli_writes() {
    for (name, records) in data_sets() {
        for (codec, compression) in CODECS {
            for transpose in [false, true] {
                let options = riegeli::WriterOptions::new()
                    .compression(compression)
                    .transpose(transpose)
                    .chunk_size(20_000);
                let mut file = Vec::new();
                let mut writer = riegeli::RecordWriter::new(Cursor::new(&mut file), options).expect("memory");
                for record in &records {
                    writer.write_record(record).expect("memory");
                }
                writer.close().expect("memory");
                let mut reader = RecordReader::from_bytes(file).expect("memory");
                for (number, expected) in records.iter().enumerate() {
                    let found = reader.read_record().expect("sound");
                    assert_eq!(
                        found,
                        Some(&expected[..]),
                        "{name} {codec} {transpose}: record {number}"
                    );
                }
                assert_eq!(reader.read_record().expect("sound"), None, "{name} {codec} {transpose}");
                reader.close().expect("whole");
            }
        }
    }
}
