//! The formats of tables, and the rule that detects a file's format. It is the same for files, shards, files of a folder, objects and
//! standard input, in every command.
//!
//! 1. The first bytes and, if necessary, the last: Parquet and Arrow by their magic numbers, Riegeli/records by its signature,
//!    ArrayRecord by its postscript, TFRecord by the checksum of the first length, also in data compressed by gzip or zlib.
//! 2. The file name's extension. A shard number and the extension of a compression (`.gz`, `.zst`, `.zz`) may precede or follow it.
//! 3. The header of an xBase table, or the brace of a JSON object.
//!
//! So a damaged file is read in the format of its name, and the reader reports the damage. Files that are known not to be tables (a Git LFS
//! pointer, an HTML page, an archive) are refused with what they are.

use std::fmt;
use std::io::{self, Read};
use std::path::Path;

use tidemill_clickhouse::arrow_type::StringType;
use tidemill_csv::{CsvOptions, Packing};
use tidemill_riegeli::tfrecord::TfRecordCompression;
use tidemill_riegeli::{RecordFormat, Source, foreign_file};
use tidemill_xbase::{Dialect, Header};

use crate::stores::server::ServerKind;
use crate::{Error, Result, shards};

/// The file formats that a table can be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// dBASE, FoxPro, Clipper, Harbour and ADS tables (`.dbf`).
    Xbase,
    /// Riegeli/records (`.riegeli`).
    Riegeli,
    /// ArrayRecord (`.array_record`, `.arrayrecord`): Riegeli/records with an index.
    ArrayRecord,
    /// TFRecord (`.tfrecord`, `.tfrecords`, `.tfrec`), perhaps compressed as a whole (`.tfrecord.gz`, `.tfrecord.zz`).
    TfRecord,
    /// ClickHouse's FORMAT Native (`.native`), with the type that its strings are read as.
    Native(StringType),
    /// Apache Parquet (`.parquet`).
    Parquet,
    /// Arrow IPC files (`.arrow`, `.feather`, `.ipc`).
    Arrow,
    /// Values separated by commas (`.csv`), tabs (`.tsv`) or other characters, perhaps compressed (`.csv.gz`, `.csv.zst`). Options that are
    /// not set are detected from the file.
    Csv(CsvOptions),
    /// A sheet of a workbook of Excel (`.xlsx`, `.xlsm`, `.xls`).
    Excel(ExcelSheet),
    /// One JSON object per line (`.jsonl`, `.ndjson`, `.json`), perhaps compressed (`.jsonl.gz`, `.jsonl.zst`).
    JsonLines,
    /// A table of a server (`clickhouse://`, `cql://`).
    Server(ServerKind),
}

/// A sheet of a workbook, and how it is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExcelSheet {
    /// Its number, from 0.
    pub number: usize,
    /// Whether its first row has the names of the columns. Default: if all of its cells are text.
    pub header: Option<bool>,
    /// How many rows to skip at the start.
    pub skip: u32,
}

impl ExcelSheet {
    /// The first sheet, without options.
    pub const FIRST: Self = Self {
        number: 0,
        header: None,
        skip: 0,
    };
}

impl Format {
    /// Whether a file of this format consists of records, which can be copied as bytes.
    pub fn has_records(self) -> bool {
        matches!(self, Self::Riegeli | Self::ArrayRecord | Self::TfRecord)
    }

    /// Whether the values of a file have the types of their columns. Those of CSV, JSON and Excel are inferred.
    pub fn has_types(self) -> bool {
        !matches!(self, Self::Csv(_) | Self::Excel(_) | Self::JsonLines)
    }

    /// The format of a file name's extension; `None` if there is none.
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// use tidemill_sql::Format;
    ///
    /// for (name, format) in [
    ///     ("ORDERS.DBF", Some(Format::Xbase)),
    ///     ("train.tfrecord-00000-of-00010", Some(Format::TfRecord)),
    ///     ("train-00000-of-00010.tfrecord.gz", Some(Format::TfRecord)),
    ///     ("notes.doc", None),
    /// ] {
    ///     assert_eq!(Format::from_name(Path::new(name)), format, "{name}");
    /// }
    /// ```
    pub fn from_name(path: &Path) -> Option<Self> {
        FileName::of(path)?.format
    }

    /// Detects the format of `place` by its bytes and its name. Reads the source in the calling thread.
    ///
    /// # Errors
    ///
    /// [`Error::NotATable`] if the format cannot be detected, or the file is known not to be a table; [`Error::Io`].
    pub(crate) fn detect(name: &Path, source: &impl Source, place: &dyn fmt::Display) -> Result<Self> {
        let beginning = beginning_of(source).map_err(Error::io(place.to_string(), "read"))?;
        match Self::of_beginning(&beginning) {
            Beginning::Riegeli => match RecordFormat::of(source)? {
                Some(RecordFormat::ArrayRecord) => Ok(Self::ArrayRecord),
                // An ArrayRecord file that is truncated at its end.
                _ if Self::from_name(name) == Some(Self::ArrayRecord) => Ok(Self::ArrayRecord),
                _ => Ok(Self::Riegeli),
            },
            Beginning::Certain(format) => Ok(format),
            // A compressed file without records.
            Beginning::Packed { .. }
                if Self::from_name(name) == Some(Self::TfRecord) && is_packed_nothing(&beginning) =>
            {
                Ok(Self::TfRecord)
            }
            Beginning::Packed { what, holds } => match Self::from_name(name).filter(holds) {
                Some(format) => Ok(format),
                None => Err(no_table(place, what)),
            },
            Beginning::NoTable { what } => Err(no_table(place, what)),
            // A text cannot begin like an xBase table, and Parquet, Arrow and Excel are detected by their magic numbers.
            Beginning::Likely(Self::Xbase) => Ok(match Self::from_name(name) {
                Some(named) if named.has_records() || matches!(named, Self::Native(_)) => named,
                _ => Self::Xbase,
            }),
            Beginning::Likely(format) => Ok(Self::from_name(name).unwrap_or(format)),
            Beginning::Unknown => Self::from_name(name).ok_or_else(|| unknown(place, &beginning)),
        }
    }

    /// The format of the records in a stream, as far as it can be detected without the end: an ArrayRecord file begins like
    /// Riegeli/records. An unknown beginning is taken for Riegeli, whose reader reports the error.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a format without records, and [`Error::NotATable`].
    pub(crate) fn of_stream(beginning: &[u8], place: &dyn fmt::Display) -> Result<Self> {
        match Self::of_beginning(beginning) {
            Beginning::Certain(Self::TfRecord) => Ok(Self::TfRecord),
            Beginning::Riegeli | Beginning::Unknown => Ok(Self::Riegeli),
            Beginning::Certain(format) | Beginning::Likely(format) => Err(Error::Unsupported {
                what: format!("{place}: {format} from a pipe"),
                hint: "records of Riegeli, ArrayRecord and TFRecord can be piped; write others to a file and name it"
                    .to_owned(),
            }),
            Beginning::Packed { what, .. } | Beginning::NoTable { what } => Err(no_table(place, what)),
        }
    }

    /// What the first bytes of a file indicate. [`BEGINNING`] bytes are enough.
    fn of_beginning(beginning: &[u8]) -> Beginning {
        match RecordFormat::of_beginning(beginning) {
            Some(RecordFormat::Riegeli | RecordFormat::ArrayRecord) => return Beginning::Riegeli,
            Some(RecordFormat::TfRecord(_)) => return Beginning::Certain(Self::TfRecord),
            _ => {}
        }
        let magic = |(start, _): &&(&[u8], Self)| beginning.starts_with(start);
        if let Some(&(_, format)) = MAGIC.iter().find(magic) {
            return Beginning::Certain(format);
        }
        if beginning.starts_with(SQLITE) {
            return Beginning::NoTable {
                what: "a SQLite database: name a table of it as sqlite:FILE/TABLE",
            };
        }
        let is_text: fn(&Self) -> bool = |format| matches!(format, Self::Csv(_) | Self::JsonLines);
        let is_workbook: fn(&Self) -> bool = |format| matches!(format, Self::Excel(_));
        let packed = match Packing::of_beginning(beginning) {
            Packing::Gzip => Some((GZIP, is_text)),
            Packing::Zstd => Some((ZSTD, is_text)),
            Packing::None if beginning.starts_with(b"PK\x03\x04") => Some((ZIP, is_workbook)),
            Packing::None if beginning.starts_with(COMPOUND) => Some((OLE, is_workbook)),
            Packing::None => None,
        };
        if let Some((what, holds)) = packed {
            return Beginning::Packed { what, holds };
        }
        if let Some(what) = foreign_file(beginning) {
            return Beginning::NoTable { what };
        }
        if beginning.starts_with(b"{") {
            return Beginning::Likely(Self::JsonLines);
        }
        match Header::of_beginning(beginning) {
            // Advantage's own tables have a textual signature.
            Some(header) if header.dialect == Dialect::Adt => Beginning::Certain(Self::Xbase),
            Some(_) => Beginning::Likely(Self::Xbase),
            None => Beginning::Unknown,
        }
    }
}

/// What the first bytes of a file indicate.
enum Beginning {
    /// Riegeli/records; only its end distinguishes it from ArrayRecord.
    Riegeli,
    /// This format, whatever the name is.
    Certain(Format),
    /// This format, unless the name indicates another.
    Likely(Format),
    /// Compressed as a whole. The name indicates the format within, if `holds` accepts it; otherwise as [`Beginning::NoTable`].
    Packed {
        what: &'static str,
        holds: fn(&Format) -> bool,
    },
    /// Not a table; `what` may end with a colon and a hint.
    NoTable { what: &'static str },
    /// Nothing.
    Unknown,
}

/// The parts of a file name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FileName {
    /// The name without the extensions of its format and its compression, with the number of a shard: `train-00000-of-00002` for
    /// `train.tfrecord-00000-of-00002.gz`.
    pub(crate) stem: String,
    /// The format of the extension.
    pub(crate) format: Option<Format>,
    /// The compression of `.gz`, `.zst` or `.zz`.
    pub(crate) compression: Compression,
}

/// The compression of a whole file, by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Compression {
    #[default]
    None,
    Gzip,
    Zlib,
    Zstd,
}

impl Compression {
    /// Whether files of this format can have this compression.
    fn holds(self, format: Format) -> bool {
        match format {
            _ if self == Self::None => true,
            Format::TfRecord => self != Self::Zstd,
            Format::Csv(_) | Format::JsonLines => self != Self::Zlib,
            _ => false,
        }
    }

    /// For a TFRecord file.
    pub(crate) fn of_records(self) -> TfRecordCompression {
        match self {
            Self::Gzip => TfRecordCompression::Gzip,
            Self::Zlib => TfRecordCompression::Zlib,
            Self::None | Self::Zstd => TfRecordCompression::None,
        }
    }

    /// For a text file.
    pub(crate) fn of_text(self) -> Packing {
        match self {
            Self::Gzip => Packing::Gzip,
            Self::Zstd => Packing::Zstd,
            Self::None | Self::Zlib => Packing::None,
        }
    }
}

impl FileName {
    /// Splits the last component of a path; `None` if there is none, or it is not valid text.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let whole = path.file_name()?.to_str()?;
        let (rest, compression) = compressed(whole);
        let (rest, number) = shards::without_number(rest);
        let (stem, extension) = rest.rsplit_once('.').filter(|(stem, _)| !stem.is_empty())?;
        let extension = extension.to_ascii_lowercase();
        let known = EXTENSIONS.iter().find(|(known, _)| *known == extension);
        let format = known.map(|&(_, format)| format);
        let format = format.filter(|&format| compression.holds(format));
        Some(match format {
            Some(_) => Self {
                stem: format!("{stem}{number}"),
                format,
                compression,
            },
            None => Self {
                stem: path.file_stem()?.to_str()?.to_owned(),
                format: None,
                compression,
            },
        })
    }
}

/// Removes the extension of a compression from a name, and returns which it is.
fn compressed(name: &str) -> (&str, Compression) {
    let suffix = name.rsplit_once('.').map_or("", |(_, suffix)| suffix);
    let compression = match suffix.to_ascii_lowercase().as_str() {
        "gz" => Compression::Gzip,
        "zz" | "zlib" => Compression::Zlib,
        "zst" | "zstd" => Compression::Zstd,
        _ => return (name, Compression::None),
    };
    (&name[..name.len() - suffix.len() - 1], compression)
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Xbase => "xbase",
            Self::Riegeli => "riegeli",
            Self::ArrayRecord => "array_record",
            Self::TfRecord => "tfrecord",
            Self::Native(_) => "native",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Csv(_) => "csv",
            Self::Excel(_) => "excel",
            Self::JsonLines => "jsonl",
            Self::Server(kind) => return kind.fmt(f),
        })
    }
}

/// Reads the bytes that [`Format::of_stream`] needs.
pub(crate) fn read_beginning(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut beginning = Vec::new();
    stream.by_ref().take(SHORT_BEGINNING).read_to_end(&mut beginning)?;
    if TfRecordCompression::of_beginning(&beginning) != TfRecordCompression::None {
        stream.take(BEGINNING - SHORT_BEGINNING).read_to_end(&mut beginning)?;
    }
    Ok(beginning)
}

/// Whether these bytes are a compressed file without contents.
fn is_packed_nothing(beginning: &[u8]) -> bool {
    let unpacked = Packing::of_beginning(beginning).unpacked(io::Cursor::new(beginning.to_vec()));
    let read = unpacked.and_then(|mut unpacked| unpacked.read(&mut [0]));
    read.is_ok_and(|read| read == 0)
}

fn beginning_of(source: &impl Source) -> io::Result<Vec<u8>> {
    let size = source.size()?.min(BEGINNING);
    let mut beginning = vec![0; usize::try_from(size).unwrap_or_default()];
    let mut filled = 0;
    while let Some(room) = beginning.get_mut(filled..).filter(|room| !room.is_empty()) {
        match source.read_at(filled as u64, room) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    beginning.truncate(filled);
    Ok(beginning)
}

fn no_table(place: &dyn fmt::Display, what: &str) -> Error {
    let (what, hint) = what.split_once(": ").unwrap_or((what, ""));
    Error::NotATable {
        place: place.to_string(),
        what: what.to_owned(),
        hint: hint.to_owned(),
    }
}

fn unknown(place: &dyn fmt::Display, beginning: &[u8]) -> Error {
    let what = match beginning.is_empty() {
        true => "an empty file, whose name tells no format",
        false => "a file of a format that is not known",
    };
    no_table(
        place,
        &format!("{what}: the extension tells it, one of {}", known_extensions()),
    )
}

/// The extensions of all formats, for messages.
fn known_extensions() -> String {
    let extensions = EXTENSIONS.iter().map(|(extension, _)| format!(".{extension}"));
    extensions.collect::<Vec<_>>().join(" ")
}

/// The extensions of writable formats: all but the workbooks that can only be read.
pub(crate) fn extensions_to_write() -> String {
    let known = known_extensions();
    let written = known.split(' ').filter(|extension| !READ_ONLY.contains(extension));
    written.collect::<Vec<_>>().join(" ")
}

const READ_ONLY: [&str; 2] = [".xls", ".xlsm"];

const EXTENSIONS: &[(&str, Format)] = &[
    ("dbf", Format::Xbase),
    ("adt", Format::Xbase),
    ("riegeli", Format::Riegeli),
    ("array_record", Format::ArrayRecord),
    ("arrayrecord", Format::ArrayRecord),
    ("tfrecord", Format::TfRecord),
    ("tfrecords", Format::TfRecord),
    ("tfrec", Format::TfRecord),
    ("native", Format::Native(StringType::ByContent)),
    ("parquet", Format::Parquet),
    ("arrow", Format::Arrow),
    ("feather", Format::Arrow),
    ("ipc", Format::Arrow),
    ("csv", Format::Csv(CsvOptions::NONE)),
    ("tsv", Format::Csv(CsvOptions::NONE)),
    ("xlsx", Format::Excel(ExcelSheet::FIRST)),
    ("xlsm", Format::Excel(ExcelSheet::FIRST)),
    ("xls", Format::Excel(ExcelSheet::FIRST)),
    ("jsonl", Format::JsonLines),
    ("ndjson", Format::JsonLines),
    ("json", Format::JsonLines),
];

/// Sources: the specifications of Apache Parquet and of the Arrow IPC file format.
const MAGIC: &[(&[u8], Format)] = &[(b"PAR1", Format::Parquet), (b"ARROW1\0\0", Format::Arrow)];

const GZIP: &str = "compressed by gzip, which is read of CSV, JSON lines and TFRecord: name it as .csv.gz or .jsonl.gz, or decompress it first";
const ZSTD: &str = "compressed by zstd, which is read of CSV and JSON lines: name it as .csv.zst or .jsonl.zst, or decompress it first";
const ZIP: &str = "a ZIP archive: unpack it first; workbooks are read as .xlsx and .xlsm";
const OLE: &str = "a compound file of Microsoft Office: workbooks are read as .xls";

/// Source: \[MS-CFB\], section 2.2.
const COMPOUND: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";

/// Source: *Database File Format*, sqlite.org/fileformat2.html, "The Database Header".
const SQLITE: &[u8] = b"SQLite format 3\0";

/// How many first bytes identify a format, also in a compressed file.
const BEGINNING: u64 = 4096;
/// How many first bytes show whether a stream is compressed, and identify the format if it is not.
const SHORT_BEGINNING: u64 = 64;

#[cfg(test)]
mod tests {
    use tidemill_riegeli::BytesSource;
    use tidemill_riegeli::array_record::{ArrayRecordWriter, ArrayRecordWriterOptions};
    use tidemill_riegeli::tfrecord::TfRecordWriter;
    use tidemill_riegeli::{RecordWriter, WriterOptions};

    use super::*;

    fn detect(name: &str, bytes: &[u8]) -> Result<Format> {
        Format::detect(Path::new(name), &BytesSource(bytes), &name)
    }

    fn tfrecord(compression: TfRecordCompression, first: usize) -> Vec<u8> {
        let mut writer = TfRecordWriter::compressed(Vec::new(), compression);
        writer.write_record(&vec![7; first]).expect("a record");
        writer.close().expect("a file")
    }

    fn dbf() -> Vec<u8> {
        let mut table = vec![0; 66];
        table[..12].copy_from_slice(&[0x03, 124, 2, 29, 0, 0, 0, 0, 65, 0, 11, 0]);
        table
    }

    #[test]
    fn bytes_decide_whatever_the_name() {
        let mut riegeli = RecordWriter::new(Vec::new(), WriterOptions::default()).expect("a writer");
        riegeli.write_record(b"one").expect("a record");
        let riegeli = riegeli.close().expect("a file");
        let options = ArrayRecordWriterOptions::default();
        let mut array_record = ArrayRecordWriter::new(Vec::new(), options).expect("a writer");
        array_record.write_record(b"one").expect("a record");
        let array_record = array_record.close().expect("a file");
        for name in [
            "x",
            "x.dbf",
            "x.array_record-00000-of-00002",
            "x.riegeli",
            "x.csv",
            "x.gz",
        ] {
            assert_eq!(detect(name, &array_record).expect(name), Format::ArrayRecord, "{name}");
            assert_eq!(detect(name, b"PAR1....").expect(name), Format::Parquet, "{name}");
            assert_eq!(detect(name, b"ARROW1\0\0").expect(name), Format::Arrow, "{name}");
            for compression in [
                TfRecordCompression::None,
                TfRecordCompression::Gzip,
                TfRecordCompression::Zlib,
            ] {
                // Lengths whose low byte is an xBase version byte.
                for first in [0, 2, 3, 5, 0x30, 0x31, 0x83, 0x8b, 0xf5, 0x1330] {
                    let bytes = tfrecord(compression, first);
                    assert_eq!(detect(name, &bytes).expect(name), Format::TfRecord, "{name} {first}");
                }
            }
        }
        assert_eq!(detect("x", &riegeli).expect("a format"), Format::Riegeli);
        assert_eq!(detect("x.tfrecord", &riegeli).expect("a format"), Format::Riegeli);
        // A truncated file; its reader reports that.
        assert_eq!(
            detect("x.array_record", &riegeli).expect("a format"),
            Format::ArrayRecord
        );
    }

    #[test]
    fn the_name_decides_where_bytes_say_nothing() {
        for (name, format) in [
            ("x.tfrecord", Format::TfRecord),
            ("x.TFRecord-00003-of-00010", Format::TfRecord),
            ("x.tfrecord@10", Format::TfRecord),
            ("x.tfrecord-*-of-10", Format::TfRecord),
            ("x-00003-of-00010.tfrecord.gz", Format::TfRecord),
            ("x.tfrecord-00003-of-00010.zz", Format::TfRecord),
            ("x.array_record-00000-of-00001", Format::ArrayRecord),
            ("x.dbf", Format::Xbase),
            ("x.tsv", Format::Csv(CsvOptions::NONE)),
            ("x.csv.gz", Format::Csv(CsvOptions::NONE)),
            ("x-00003-of-00010.csv.zst", Format::Csv(CsvOptions::NONE)),
            ("x.jsonl.gz", Format::JsonLines),
            ("x.json", Format::JsonLines),
        ] {
            assert_eq!(detect(name, b"").expect(name), format, "{name}");
            assert_eq!(detect(name, b"name,age\n").expect(name), format, "{name}");
        }
        assert_eq!(detect("letter", &dbf()).expect("a format"), Format::Xbase);
        assert_eq!(detect("letter.csv", &dbf()).expect("a format"), Format::Xbase);
        assert_eq!(detect("letter", b"{\"a\": 1}").expect("a format"), Format::JsonLines);
        for name in [
            "letter",
            "dbf",
            ".dbf",
            "x.doc",
            "x.csv.zz",
            "x.parquet.gz",
            "x-00000-of-00002",
        ] {
            assert!(
                matches!(detect(name, b"Dear Sir"), Err(Error::NotATable { .. })),
                "{name}"
            );
        }
    }

    #[test]
    fn what_is_no_table_is_told() {
        for (bytes, what) in [
            (
                &b"version https://git-lfs.github.com/spec/v1\noid sha256:00"[..],
                "Git LFS",
            ),
            (b"\n<!DOCTYPE HTML><html>", "HTML page"),
            (b"<?xml version=\"1.0\"?><Error>", "XML document"),
            (b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x4b", "compressed by gzip"),
            (b"PK\x03\x04....", "ZIP archive"),
            (b"SQLite format 3\0", "SQLite"),
        ] {
            let error = detect("x.tfrecord", bytes).expect_err(what).to_string();
            assert!(error.starts_with("x.tfrecord: ") && error.contains(what), "{error}");
        }
    }

    #[test]
    fn streams_are_of_records() {
        let of_stream = |bytes: &[u8]| Format::of_stream(bytes, &"standard input");
        assert_eq!(
            of_stream(&tfrecord(TfRecordCompression::Gzip, 3)).expect("records"),
            Format::TfRecord
        );
        let error = of_stream(&dbf()).expect_err("a table").to_string();
        assert!(error.starts_with("standard input: xbase from a pipe"), "{error}");
    }

    #[test]
    fn stems_keep_what_tells_files_apart() {
        for (name, stem) in [
            ("sales.2023.dbf", "sales.2023"),
            ("x.tfrecord-00000-of-00002", "x-00000-of-00002"),
            ("x.tfrecord-00001-of-00002.gz", "x-00001-of-00002"),
            ("x.tfrecord.gz", "x"),
            ("x@3.riegeli", "x@3"),
            ("x.bak", "x"),
        ] {
            assert_eq!(FileName::of(Path::new(name)).expect(name).stem, stem, "{name}");
        }
    }
}
