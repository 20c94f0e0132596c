//! Sparse columns as ClickHouse of today keeps them itself: the files of a table's columns, put behind one another as a
//! connection has them, are what is read and what is written here.

use std::{
    fs,
    path::{Path, PathBuf},
};

use arrow_cast::display::{ArrayFormatter, FormatOptions};
use tidemill_clickhouse::{
    Block, BlockDecoder, BlockEncoder, Revision,
    frame::{FrameDecoder, FrameHeader},
    source::SliceSource,
    wire::put_string,
};
use tidemill_testkit::Chdb;

/// A type, values of it by the `number` of a row, and the names of the files of the sparse parts of the column.
const COLUMNS: [(&str, &str, &[&str]); 11] = [
    ("UInt64", "if(number % 10 = 3, number, 0)", &["c"]),
    ("Int8", "if(number = 99, -1, 0)", &["c"]),
    ("Float64", "if(number = 0, 1.5, 0)", &["c"]),
    ("Bool", "number % 50 = 9", &["c"]),
    ("DateTime", "if(number = 11, 1700000000, 0)", &["c"]),
    ("Decimal(38, 2)", "if(number = 11, -1.25, 0)", &["c"]),
    ("FixedString(2)", "if(number % 9 = 2, 'ab', '')", &["c"]),
    ("String", "if(number % 7 = 2, toString(number), '')", &["c"]),
    ("Nullable(UInt64)", "if(number % 8 = 1, number % 3, NULL)", &["c"]),
    ("Nullable(String)", "if(number % 30 = 1, '', NULL)", &["c"]),
    (
        "Tuple(x UInt8, y String)",
        "(number = 8, if(number = 4, 'flow', ''))",
        &["c%2Ex", "c%2Ey"],
    ),
];
/// Before the offsets of strings are written apart from them, which tables do in another way.
const REVISION: Revision = Revision(Revision::STRING_OFFSETS.0 - 1);

#[test]
fn sparse_columns_are_those_that_clickhouse_stores() {
    let Some(mut chdb) = Chdb::need() else { return };
    let mut ask = |query: &str, format: &str| {
        chdb.query(query, format)
            .unwrap_or_else(|error| panic!("{query}: {error}"))
    };
    ask("CREATE DATABASE tides ENGINE = Atomic", "Native");
    for (number, (data_type, values, files)) in COLUMNS.into_iter().enumerate() {
        let table = format!("tides.t{number}");
        ask(
            &format!(
                "CREATE TABLE {table} (c {data_type}) ENGINE = MergeTree ORDER BY tuple() SETTINGS min_bytes_for_wide_part = 0, \
                 min_rows_for_wide_part = 0, ratio_of_defaults_for_sparse_serialization = 0.1, \
                 string_serialization_version = 'single_stream', nullable_serialization_version = 'allow_sparse'"
            ),
            "Native",
        );
        ask(
            &format!("INSERT INTO {table} SELECT {values} FROM numbers(100)"),
            "Native",
        );
        let path = ask(
            &format!("SELECT path FROM system.parts WHERE active AND table = 't{number}'"),
            "TabSeparatedRaw",
        );
        let part = PathBuf::from(String::from_utf8(path).expect("a path").trim());

        let stored = block_of_files(data_type, files, &part);
        let read = BlockDecoder::default().decode_blocking(&mut SliceSource::new(&stored), REVISION);
        let read = read.unwrap_or_else(|error| panic!("{data_type}: {error}"));
        let selected = ask(&format!("SELECT * FROM {table}"), "Native");
        let selected = BlockDecoder::default().decode_blocking(&mut SliceSource::new(&selected), Revision::FILE);
        assert_eq!(shown(&read), shown(&selected.expect("a block")), "{data_type}");

        let encoder = BlockEncoder {
            sparse_from: Some(0.1),
            ..BlockEncoder::default()
        };
        let mut written = Vec::new();
        encoder.encode(&read, REVISION, &mut written).expect("a block");
        // In front of it is information about the block.
        let (written, stored) = (written.escape_ascii().to_string(), stored.escape_ascii().to_string());
        assert!(written.ends_with(&stored), "{data_type}\n{written}\n{stored}");
    }
}

/// A block of 100 rows of one column that a connection would have for these files.
fn block_of_files(data_type: &str, files: &[&str], part: &Path) -> Vec<u8> {
    const DEFAULT: u8 = 0;
    const SPARSE: u8 = 1;
    // The end of the information about the block, a column, rows.
    let mut bytes = vec![0, 1, 100];
    put_string(&mut bytes, "c");
    put_string(&mut bytes, data_type);
    // That it has kinds, and which: of a tuple that of itself first.
    bytes.push(1);
    if files.len() > 1 {
        bytes.push(DEFAULT);
    }
    bytes.extend(files.iter().map(|_| SPARSE));
    for file in files {
        bytes.extend(stream(&part.join(format!("{file}.sparse.idx.bin"))));
        bytes.extend(stream(&part.join(format!("{file}.bin"))));
    }
    bytes
}

/// What is in the frames of a file.
fn stream(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (mut stream, mut rest) = (Vec::new(), &bytes[..]);
    while let Some(header) = rest.first_chunk() {
        let header = FrameHeader::decode(header, 0).expect("a header");
        let (frame, next) = rest.split_at(FrameHeader::SIZE + header.compressed());
        let mut data = vec![0; header.decompressed()];
        let decoded = FrameDecoder::default().decode(&header, frame, &mut data, 0);
        decoded.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        stream.extend(data);
        rest = next;
    }
    stream
}

fn shown(block: &Block) -> Vec<String> {
    let options = FormatOptions::default().with_null("NULL");
    let column = ArrayFormatter::try_new(block.batch.column(0), &options).expect("a formatter");
    (0..block.rows()).map(|row| column.value(row).to_string()).collect()
}
