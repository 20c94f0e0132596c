//! TFRecord files that Python's modules `gzip` and `zlib` compressed or decompress, in both directions.

use std::fs;

use tidemill_riegeli::tfrecord::{TfRecordCompression, TfRecordReader, TfRecordWriter};
use tidemill_testkit::Python;

/// Frames records as the format has it, with a CRC-32C of its own, and compresses the files; then decompresses ours.
const SCRIPT: &str = "
import gzip, pathlib, struct, sys, zlib
folder = pathlib.Path(sys.argv[1])

def crc(data):
    value = 0xffffffff
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82f63b78 if value & 1 else 0)
    value ^= 0xffffffff
    return (value >> 15 | value << 17) + 0xa282ead8 & 0xffffffff

framed = b''
for number in range(300):
    record = f'record {number} '.encode() * (number % 9)
    length = struct.pack('<Q', len(record))
    framed += length + struct.pack('<I', crc(length)) + record + struct.pack('<I', crc(record))

(folder / 'plain').write_bytes(framed)
for level in (0, 1, 6, 9):
    with gzip.open(folder / f'gzip-{level}', 'wb', compresslevel=level) as file:
        file.write(framed)
    (folder / f'zlib-{level}').write_bytes(zlib.compress(framed, level))
(folder / 'gzip-empty').write_bytes(gzip.compress(b''))
(folder / 'zlib-empty').write_bytes(zlib.compress(b''))
(folder / 'gzip-cut').write_bytes(gzip.compress(framed)[:-9])
(folder / 'zlib-cut').write_bytes(zlib.compress(framed)[:-5])

assert gzip.decompress((folder / 'ours-gzip').read_bytes()) == framed
assert zlib.decompress((folder / 'ours-zlib').read_bytes()) == framed
print('read')
";

#[test]
fn python_and_we_read_each_others_compressed_files() {
    // Only the standard library is used; the package is one that the other tests need.
    let Some(python) = Python::need(&["array-record==0.8.6"]) else {
        return;
    };
    let records: Vec<Vec<u8>> = (0..300)
        .map(|number| format!("record {number} ").repeat(number % 9).into_bytes())
        .collect();
    let folder = tempfile::tempdir().expect("a folder");
    let kinds = [
        ("plain", TfRecordCompression::None),
        ("gzip", TfRecordCompression::Gzip),
        ("zlib", TfRecordCompression::Zlib),
    ];
    for (name, compression) in kinds {
        let path = folder.path().join(format!("ours-{name}"));
        let mut writer = TfRecordWriter::create_compressed(path, compression).expect("a file");
        for record in &records {
            writer.write_record(record).expect("written");
        }
        writer.close().expect("closed");
    }
    assert_eq!(python.run(SCRIPT, &[folder.path()]).trim(), "read");

    let mut files = 0;
    for entry in fs::read_dir(folder.path()).expect("a folder") {
        let path = entry.expect("a file").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let expected = kinds.iter().find(|(kind, _)| name.contains(kind)).expect("a kind").1;
        let mut reader = TfRecordReader::open(&path).expect("opens");
        assert_eq!(reader.compression().expect("reads"), expected, "{name}");
        let mut found = Vec::new();
        let outcome = loop {
            match reader.read_record() {
                Ok(Some(record)) => found.push(record.to_vec()),
                Ok(None) => break None,
                Err(error) => break Some(error.to_string()),
            }
        };
        match outcome {
            None if name.ends_with("empty") => assert!(found.is_empty()),
            None => assert!(found == records, "{name}"),
            Some(text) => {
                assert!(name.ends_with("cut") && records.starts_with(&found), "{name}: {text}");
                let size = fs::metadata(&path).expect("a file").len();
                let end = format!("the file ends in them, at byte {size}");
                assert!(text.contains(&name) && text.ends_with(&end), "{text}");
            }
        }
        files += 1;
    }
    assert_eq!(files, 16);
}
