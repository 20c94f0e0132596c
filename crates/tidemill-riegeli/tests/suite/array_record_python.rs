//! ArrayRecord files between this library and the package `array-record` of PyPI, in both directions and with all options.

use std::{fs, path::Path};

use tidemill_riegeli::{
    Compression,
    array_record::{ArrayRecordReader, ArrayRecordWriter, ArrayRecordWriterOptions},
};
use tidemill_testkit::Python;

const PACKAGE: &str = "array-record==0.8.6";

const OPTIONS: [&str; 14] = [
    "group_size:1",
    "group_size:1,uncompressed",
    "group_size:64,uncompressed",
    "group_size:64,uncompressed,pad_to_block_boundary:true",
    "group_size:64,brotli:6",
    "group_size:64,brotli:1,window_log:12",
    "group_size:64,zstd:3",
    "group_size:64,zstd:-3,window_log:15",
    "group_size:64,snappy",
    "group_size:64,transpose,uncompressed,transpose_bucket_size:1k",
    "group_size:64,transpose,zstd:1,transpose_bucket_size:auto",
    "group_size:64,transpose:true,brotli:3,pad_to_block_boundary:true",
    "default,group_size:1000,max_parallelism:1,saturation_delay_ms:20",
    "group_size:64,pad_to_block_boundary",
];

/// Writes the records of a folder's `records.bin` (length in four bytes, then the bytes) with each of its `options.txt`.
const WRITE: &str = "
import pathlib, sys
from array_record.python.array_record_module import ArrayRecordWriter
folder = pathlib.Path(sys.argv[1])
data = (folder / 'records.bin').read_bytes()
records = []
while data:
    length = int.from_bytes(data[:4], 'little')
    records.append(data[4:4 + length])
    data = data[4 + length:]
for number, options in enumerate((folder / 'options.txt').read_text().splitlines()):
    writer = ArrayRecordWriter(str(folder / f'theirs-{number}.array_record'), options)
    for record in records:
        writer.write(record)
    writer.close()
";

/// Reads files with all records in order and then backwards one by one, and prints how many are as they should be.
const READ: &str = "
import pathlib, sys
from array_record.python.array_record_module import ArrayRecordReader
folder = pathlib.Path(sys.argv[1])
data = (folder / 'records.bin').read_bytes()
records = []
while data:
    length = int.from_bytes(data[:4], 'little')
    records.append(data[4:4 + length])
    data = data[4 + length:]
for path in sorted(folder.glob('ours-*.array_record')):
    reader = ArrayRecordReader(str(path))
    assert reader.num_records() == len(records), path
    assert reader.read_all() == records, path
    for number in range(len(records) - 1, -1, -7):
        assert reader.read([number]) == [records[number]], (path, number)
    print(path.name, reader.writer_options_string())
    reader.close()
";

fn records() -> Vec<Vec<u8>> {
    (0..500_u32)
        .map(|number| {
            // A message of two fields, now and then something else.
            let text = format!("record {number}").repeat(number as usize % 9);
            let mut record = vec![8, (number % 128) as u8, 18, u8::try_from(text.len()).expect("short")];
            record.extend_from_slice(text.as_bytes());
            if number % 50 == 49 {
                record = vec![number as u8; 3_000];
            }
            record
        })
        .collect()
}

fn write_folder(folder: &Path, records: &[Vec<u8>]) {
    let mut data = Vec::new();
    for record in records {
        data.extend_from_slice(&u32::try_from(record.len()).expect("short").to_le_bytes());
        data.extend_from_slice(record);
    }
    fs::write(folder.join("records.bin"), data).expect("writes");
    fs::write(folder.join("options.txt"), OPTIONS.join("\n")).expect("writes");
}

#[test]
fn what_the_package_writes_is_read_and_written_alike() {
    let Some(python) = Python::need(&[PACKAGE]) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let records = records();
    write_folder(folder.path(), &records);
    let _printed = python.run(WRITE, &[folder.path()]);
    let mut uncompressed = 0;
    for (number, text) in OPTIONS.iter().enumerate() {
        let theirs = fs::read(folder.path().join(format!("theirs-{number}.array_record"))).expect("a file");
        let mut reader = ArrayRecordReader::from_bytes(&theirs).expect(text);
        for (number, record) in records.iter().enumerate().rev() {
            assert!(
                reader.get(number as u64).expect(text) == Some(&record[..]),
                "record {number} with {text}"
            );
        }
        let options: ArrayRecordWriterOptions = text.parse().expect(text);
        assert_eq!(reader.writer_options(), Some(&*options.to_string()), "{text}");
        let mut writer = ArrayRecordWriter::new(Vec::new(), options).expect("memory");
        for record in &records {
            writer.write_record(record).expect("memory");
        }
        let ours = writer.close().expect("memory");
        println!("{text}: {}", if ours == theirs { "identical" } else { "other bytes" });
        if text.contains("uncompressed") {
            assert!(ours == theirs, "{text}");
            uncompressed += 1;
        }
        assert_eq!(ours.len(), theirs.len(), "{text}");
    }
    assert_eq!(uncompressed, 4);
}

#[test]
fn the_package_reads_what_we_write() {
    let Some(python) = Python::need(&[PACKAGE]) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let records = records();
    write_folder(folder.path(), &records);
    let more = [
        "group_size:64,zstd:3,max_parallelism:3",
        "group_size:7,transpose,snappy,max_parallelism:2",
    ];
    let mut expected = Vec::new();
    for (number, text) in OPTIONS.iter().chain(&more).enumerate() {
        let options: ArrayRecordWriterOptions = text.parse().expect(text);
        let name = format!("ours-{number:02}.array_record");
        expected.push(format!("{name} {options}"));
        let mut writer = ArrayRecordWriter::create(folder.path().join(name), options).expect("creates");
        for record in &records {
            writer.write_record(record).expect("writes");
        }
        writer.close().expect("writes");
    }
    let printed = python.run(READ, &[folder.path()]);
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);

    // No records at all.
    let empty = tempfile::tempdir().expect("a folder");
    write_folder(empty.path(), &[]);
    let options = ArrayRecordWriterOptions::new().compression(Compression::Snappy);
    let writer = ArrayRecordWriter::create(empty.path().join("ours-empty.array_record"), options).expect("creates");
    writer.close().expect("writes");
    assert!(
        python
            .run(READ, &[empty.path()])
            .starts_with("ours-empty.array_record group_size:1")
    );
}
