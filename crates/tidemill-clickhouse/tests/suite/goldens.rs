//! Answers of ClickHouse itself, in `corpus/clickhouse/native`: decoded, shown, encoded again, cut off and damaged.

use std::fmt::Write;

use arrow_array::{Array, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use tidemill_clickhouse::{
    Block, BlockDecoder, BlockEncoder, DataType, Error, NativeReader, NativeWriter, Revision,
    arrow_type::{self, StringType},
    source::{BlockSource, BufferSource, SliceSource},
};
use tidemill_testkit::{corpus, corpus_bytes};

/// The names of all answers.
fn names() -> Vec<String> {
    let queries = String::from_utf8(corpus_bytes("clickhouse/native/queries.tsv")).expect("text");
    queries
        .lines()
        .filter_map(|line| line.split('\t').next())
        .map(str::to_owned)
        .collect()
}

fn decoder(name: &str) -> BlockDecoder {
    let mut decoder = BlockDecoder::default();
    if name == "string_bytes" {
        decoder.strings = StringType::Binary;
    }
    decoder
}

fn blocks(name: &str, bytes: &[u8]) -> Vec<Block> {
    let reader = NativeReader::new(bytes).with_decoder(decoder(name));
    reader
        .map(|block| block.unwrap_or_else(|error| panic!("{name}: {error}")))
        .collect()
}

/// Types and values, as Arrow shows them.
fn shown(batch: &RecordBatch) -> String {
    let mut text = String::new();
    let options = FormatOptions::default().with_null("NULL").with_display_error(true);
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        writeln!(text, "{}: {}", field.name(), field.data_type()).expect("text");
        let formatter = ArrayFormatter::try_new(column, &options).expect("an array that can be shown");
        for row in 0..column.len() {
            writeln!(text, "  {}", formatter.value(row)).expect("text");
        }
    }
    text
}

#[test]
fn every_type_is_decoded() {
    let mut found = String::new();
    for name in names() {
        writeln!(found, "== {name}").expect("text");
        for block in blocks(&name, &corpus_bytes(format!("clickhouse/native/{name}.native"))) {
            found.push_str(&shown(&block.batch));
        }
    }
    let expected = corpus("clickhouse/native/decoded.txt");
    if std::env::var_os("TIDEMILL_BLESS").is_some() {
        std::fs::write(&expected, &found).expect("the file of expected texts");
    }
    let expected = std::fs::read_to_string(expected).expect("the file of expected texts");
    for (number, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, expected, "line {} of decoded.txt", number + 1);
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn types_are_those_that_clickhouse_names() {
    let answers = String::from_utf8_lossy(&corpus_bytes("clickhouse/native/answers.txt")).into_owned();
    for name in names() {
        let mut answer = answers.lines().skip_while(|line| *line != format!("== {name}"));
        let types = answer.nth(2).expect("an answer").replace("\\'", "'");
        for block in blocks(&name, &corpus_bytes(format!("clickhouse/native/{name}.native"))) {
            // Files have no time zone in DateTime, and one more level of escapes in this text.
            if !matches!(name.as_str(), "date_time" | "enum") {
                let found: Vec<String> = block.types.iter().map(DataType::to_string).collect();
                assert_eq!(found.join("\t"), types, "{name}");
            }
        }
    }
}

#[test]
fn fields_lead_back_to_types() {
    for name in names() {
        for block in blocks(&name, &corpus_bytes(format!("clickhouse/native/{name}.native"))) {
            for (field, data_type) in block.batch.schema_ref().fields().iter().zip(&block.types) {
                assert_eq!(arrow_type::data_type(field).expect("a type"), *data_type, "{name}");
            }
        }
    }
}

#[test]
fn encoding_again_gives_the_same_bytes() {
    for name in names() {
        let bytes = corpus_bytes(format!("clickhouse/native/{name}.native"));
        let mut writer = NativeWriter::new(Vec::new());
        for block in blocks(&name, &bytes) {
            writer.write(&block).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        assert_eq!(hex(&writer.into_inner()), hex(&bytes), "{name}");
    }
}

#[test]
fn blocks_of_every_revision_come_back() {
    for name in names() {
        for block in blocks(&name, &corpus_bytes(format!("clickhouse/native/{name}.native"))) {
            for revision in [54337, 54405, 54454, 54473, 54480, 54491, 54492].map(Revision) {
                let mut bytes = Vec::new();
                let encoder = BlockEncoder::default();
                encoder
                    .encode(&block, revision, &mut bytes)
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
                let mut source = SliceSource::new(&bytes);
                let back = decoder(&name).decode_blocking(&mut source, revision);
                let back = back.unwrap_or_else(|error| panic!("{name} at {revision}: {error}"));
                // Older revisions have neither dictionaries nor the flattened form.
                if revision >= Revision::DYNAMIC_V2
                    || revision >= Revision::LOW_CARDINALITY && !name.contains("flattened")
                {
                    assert_eq!(back, block, "{name} at {revision}");
                }
            }
        }
    }
}

#[test]
fn sources_agree() {
    for name in names() {
        let bytes = corpus_bytes(format!("clickhouse/native/{name}.native"));
        let expected = blocks(&name, &bytes);
        let shared = NativeReader::from_source(BufferSource::new(bytes.clone())).with_decoder(decoder(&name));
        let shared: Vec<Block> = shared.map(|block| block.expect("a block")).collect();
        assert_eq!(shared, expected, "{name}");
        let slow = NativeReader::new(Slow(&bytes)).with_decoder(decoder(&name));
        let slow: Vec<Block> = slow.map(|block| block.expect("a block")).collect();
        assert_eq!(slow, expected, "{name}");
    }
}

#[test]
fn a_block_that_is_cut_off_is_an_error() {
    for name in names() {
        let bytes = corpus_bytes(format!("clickhouse/native/{name}.native"));
        // One block is enough, and long ones are like short ones.
        for length in (1..bytes.len()).take(1500) {
            let whole = NativeReader::new(&bytes[..length])
                .with_decoder(decoder(&name))
                .collect::<Result<Vec<_>, _>>();
            match whole {
                Err(Error::Truncated { .. }) => {}
                other => panic!("{name} cut off at byte {length}: {other:?}"),
            }
        }
    }
}

#[test]
fn damage_is_an_error_or_another_block() {
    for name in names() {
        let bytes = corpus_bytes(format!("clickhouse/native/{name}.native"));
        let mut decoder = decoder(&name);
        decoder.limits.memory = 1 << 20;
        for at in 0..bytes.len().min(1500) {
            for flip in [0x01, 0x80, 0xFF] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                let mut source = SliceSource::new(&damaged);
                if let Ok(block) = decoder.decode_blocking(&mut source, Revision::FILE) {
                    for column in block.batch.columns() {
                        column.to_data().validate_full().expect("a sound array");
                    }
                    // Sound arrays may still be of types that do not go together.
                    let _ = BlockEncoder::default().encode(&block, Revision::FILE, &mut Vec::new());
                }
            }
        }
    }
}

#[test]
fn the_bytes_to_look_at_are_those_of_the_goldens() {
    let answers = names().into_iter().map(|name| format!("native/{name}.native"));
    let blocks = wire_blocks()
        .into_iter()
        .map(|(name, _)| format!("wire-54492/{name}.block"));
    let packets = PACKETS.map(|name| format!("packets/{name}.bin"));
    for path in answers.chain(blocks).chain(packets) {
        let path = format!("clickhouse/{path}");
        let expected = dump(&corpus_bytes(&path));
        let (stem, _) = path.rsplit_once('.').expect("an extension");
        let shown = corpus("clickhouse").with_file_name(format!("{stem}.hex"));
        if std::env::var_os("TIDEMILL_BLESS").is_some() {
            std::fs::write(&shown, &expected).expect("the file of bytes to look at");
        }
        let shown = std::fs::read_to_string(&shown).unwrap_or_else(|error| panic!("{}: {error}", shown.display()));
        for (shown, expected) in shown.lines().zip(expected.lines()) {
            assert_eq!(shown, expected, "{path}");
        }
        assert_eq!(shown.len(), expected.len(), "{path}");
    }
}

#[test]
fn no_golden_is_forgotten() {
    let blocks = wire_blocks().into_iter().map(|(name, _)| name).collect();
    let packets = PACKETS.map(str::to_owned).into();
    for (folder, extension, mut known) in [
        ("native", "native", names()),
        ("wire-54492", "block", blocks),
        ("packets", "bin", packets),
    ] {
        let files = std::fs::read_dir(corpus(format!("clickhouse/{folder}"))).expect("a folder");
        let files = files.map(|file| file.expect("a file").path());
        let mut found: Vec<String> = files
            .filter(|file| file.extension().is_some_and(|found| found == extension))
            .filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned()))
            .collect();
        found.sort_unstable();
        known.sort_unstable();
        assert_eq!(found, known, "{folder}");
    }
}

/// Packets, by the names of their files.
const PACKETS: [&str; 3] = ["client-54492", "server-54412", "server-54492"];

/// Sixteen bytes a line: where, in hexadecimal, and as ASCII. `goldens.py` writes the same.
fn dump(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (line, bytes) in (0..).zip(bytes.chunks(16)) {
        let ascii = bytes.iter().map(|byte| match byte {
            0x20..0x7F => char::from(*byte),
            _ => '.',
        });
        let ascii: String = ascii.collect();
        writeln!(text, "{:08x}: {:47}  {ascii}", 16 * line, hex(bytes).trim_end()).expect("text");
    }
    text
}

/// A reader that gives a byte at a time.
struct Slow<'a>(&'a [u8]);

impl std::io::Read for Slow<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        match (self.0.split_first(), out.first_mut()) {
            (Some((first, rest)), Some(out)) => {
                *out = *first;
                self.0 = rest;
                Ok(1)
            }
            _ => Ok(0),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x} ")).collect()
}

#[test]
fn blocks_of_the_newest_wire_are_those_of_files() {
    for (name, bytes) in wire_blocks() {
        let mut source = SliceSource::new(&bytes);
        let block = decoder(&name).decode_blocking(&mut source, Revision(54492));
        let block = block.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(source.buffered().len(), 0, "{name}");
        let mut again = Vec::new();
        BlockEncoder::default()
            .encode(&block, Revision(54492), &mut again)
            .expect("a block");
        assert_eq!(hex(&again), hex(&bytes), "{name}");
        let file = blocks(&name, &corpus_bytes(format!("clickhouse/native/{name}.native")));
        let file = file.first().expect("a block");
        // Files leave out the time zone of DateTime.
        let shown = |block: &Block| {
            shown(&block.batch)
                .replace("Asia/Tokyo", "UTC")
                .replace("T09:00:00+09:00", "T00:00:00Z")
                .replace("T09:00:01+09:00", "T00:00:01Z")
        };
        assert_eq!(shown(&block), shown(file), "{name}");
    }
}

/// Of no answer but these there is no block that ClickHouse sent: forms that only files have, an answer without rows, and a long
/// one.
const NOT_SENT: [&str; 5] = [
    "dynamic_flattened",
    "json_flattened",
    "json_string",
    "no_rows",
    "two_columns_of_many_rows",
];

/// The names and bytes of all blocks of the newest wire.
fn wire_blocks() -> Vec<(String, Vec<u8>)> {
    let mut names = names();
    names.retain(|name| !NOT_SENT.contains(&name.as_str()));
    let blocks = names.into_iter().map(|name| {
        let bytes = corpus_bytes(format!("clickhouse/wire-54492/{name}.block"));
        (name, bytes)
    });
    blocks.collect()
}

#[test]
fn a_block_of_the_wire_that_is_cut_off_is_an_error() {
    let check = |name: &str, bytes: &[u8], revision: Revision| {
        for length in 0..bytes.len() {
            let cut = decoder(name).decode_blocking(&mut SliceSource::new(&bytes[..length]), revision);
            let is_told = matches!(cut, Err(Error::Truncated { .. }));
            assert!(is_told, "{name} at {revision}, cut off at byte {length}: {cut:?}");
        }
    };
    let revisions = [54337, 54405, 54454, 54465, 54473, 54480, 54482, 54491].map(Revision);
    let sparse = BlockEncoder {
        sparse_from: Some(0.0),
        replicated: true,
        ..BlockEncoder::default()
    };
    for (name, bytes) in wire_blocks() {
        check(&name, &bytes, Revision::NEWEST);
        let block = decoder(&name).decode_blocking(&mut SliceSource::new(&bytes), Revision::NEWEST);
        let block = block.expect("a block");
        for (encoder, revision) in revisions
            .map(|revision| (BlockEncoder::default(), revision))
            .into_iter()
            .chain([(sparse, Revision::NEWEST)])
        {
            let mut bytes = Vec::new();
            encoder.encode(&block, revision, &mut bytes).expect("a block");
            check(&name, &bytes, revision);
        }
    }
}

#[test]
fn damage_to_a_block_of_the_wire_is_an_error_or_another_block() {
    for (name, bytes) in wire_blocks() {
        let mut decoder = decoder(&name);
        decoder.limits.memory = 1 << 20;
        for at in 0..bytes.len() {
            for flip in [0x01, 0x80, 0xFF] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                if let Ok(block) = decoder.decode_blocking(&mut SliceSource::new(&damaged), Revision::NEWEST) {
                    for column in block.batch.columns() {
                        column.to_data().validate_full().expect("a sound array");
                    }
                    let _ = BlockEncoder::default().encode(&block, Revision::NEWEST, &mut Vec::new());
                }
            }
        }
    }
}
