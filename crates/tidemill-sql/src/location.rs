//! Where a table is: a path and the format that its name or its first bytes tell.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// The file formats that a table can be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// dBASE, FoxPro, Clipper, Harbour and ADS tables (`.dbf`).
    Xbase,
    /// Riegeli/records (`.riegeli`).
    Riegeli,
    /// Apache Parquet (`.parquet`).
    Parquet,
    /// Arrow IPC files (`.arrow`, `.feather`, `.ipc`).
    Arrow,
    /// Comma-separated values with a header line (`.csv`), or tab-separated ones (`.tsv`).
    Csv,
    /// One JSON object a line (`.jsonl`, `.ndjson`, `.json`).
    JsonLines,
}

impl Format {
    /// The format that a file name's extension tells, in any case; `None` for an extension that no format claims.
    pub fn from_extension(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        EXTENSIONS
            .iter()
            .find(|(known, _)| *known == extension)
            .map(|(_, format)| *format)
    }

    /// The format that a file's first bytes tell. An empty file, or one that starts like no known format, is `None`.
    fn sniff(path: &Path) -> Result<Option<Self>> {
        let mut start = Vec::with_capacity(64);
        File::open(path)
            .map_err(Error::io(path, "open"))?
            .take(64)
            .read_to_end(&mut start)
            .map_err(Error::io(path, "read"))?;
        Ok(match start.as_slice() {
            [b'P', b'A', b'R', b'1', ..] => Some(Self::Parquet),
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Some(Self::Arrow),
            start if start.get(24..32).is_some_and(|magic| magic == RIEGELI_SIGNATURE_AT_24) => Some(Self::Riegeli),
            [b'{', ..] => Some(Self::JsonLines),
            // Version byte, then the last update as year, month, day.
            [
                0x02..=0x05 | 0x30..=0x32 | 0x83 | 0x8B | 0x8E | 0xCB | 0xF5 | 0xE5 | 0xFB,
                _,
                0..=12,
                0..=31,
                ..,
            ] if start.len() >= 32 => Some(Self::Xbase),
            _ => None,
        })
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Xbase => "xbase",
            Self::Riegeli => "riegeli",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Csv => "csv",
            Self::JsonLines => "jsonl",
        })
    }
}

/// A table's file and its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub path: PathBuf,
    /// What is in it.
    pub format: Format,
}

impl Location {
    /// An existing file: its extension decides, and where that says nothing its first bytes do.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] when neither tells a format, [`Error::Io`] when the file can't be read.
    pub fn existing(path: &Path) -> Result<Self> {
        let format = match Format::from_extension(path) {
            Some(format) => format,
            None => Format::sniff(path)?.ok_or_else(|| Error::Unsupported {
                what: format!("{}: the format of this file", path.display()),
                hint: format!("the extension tells it: {}", known_extensions()),
            })?,
        };
        Ok(Self {
            path: path.to_path_buf(),
            format,
        })
    }

    /// A file to be made: its extension decides.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for an extension that no format claims.
    pub fn new_file(path: &Path) -> Result<Self> {
        match Format::from_extension(path) {
            Some(format) => Ok(Self {
                path: path.to_path_buf(),
                format,
            }),
            None => Err(Error::Unsupported {
                what: format!("{}: writing a file of this name", path.display()),
                hint: format!("the extension tells the format: {}", known_extensions()),
            }),
        }
    }

    /// The name that a statement calls the table by when it gives no alias: the file's name without its extension.
    pub fn table_name(&self) -> String {
        self.path
            .file_stem()
            .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
    }
}

fn known_extensions() -> String {
    EXTENSIONS
        .iter()
        .map(|(extension, _)| format!(".{extension}"))
        .collect::<Vec<_>>()
        .join(" ")
}

const EXTENSIONS: &[(&str, Format)] = &[
    ("dbf", Format::Xbase),
    ("riegeli", Format::Riegeli),
    ("parquet", Format::Parquet),
    ("arrow", Format::Arrow),
    ("feather", Format::Arrow),
    ("ipc", Format::Arrow),
    ("csv", Format::Csv),
    ("tsv", Format::Csv),
    ("jsonl", Format::JsonLines),
    ("ndjson", Format::JsonLines),
    ("json", Format::JsonLines),
];

/// Riegeli/records file format, "File signature": a file opens with a block header of 24 bytes and the signature
/// chunk's header, whose first 8 bytes are the hash of the 32 that follow, always the same.
const RIEGELI_SIGNATURE_AT_24: [u8; 8] = [0x91, 0xba, 0xc2, 0x3c, 0x92, 0x87, 0xe1, 0xa9];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_tells_the_format_in_any_case() {
        for (name, format) in [
            ("ORDERS.DBF", Some(Format::Xbase)),
            ("a/b.Riegeli", Some(Format::Riegeli)),
            ("x.tsv", Some(Format::Csv)),
            ("x.json", Some(Format::JsonLines)),
            ("x.doc", None),
            ("dbf", None),
        ] {
            assert_eq!(Format::from_extension(Path::new(name)), format, "{name}");
        }
    }

    #[test]
    fn a_file_without_an_extension_is_told_by_its_first_bytes() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut dbf = vec![0_u8; 33];
        dbf[..4].copy_from_slice(&[0x03, 124, 2, 29]);
        for (bytes, format) in [
            (b"PAR1".to_vec(), Format::Parquet),
            (b"ARROW1\0\0".to_vec(), Format::Arrow),
            (dbf, Format::Xbase),
        ] {
            let path = folder.path().join("table");
            std::fs::write(&path, bytes).expect("written");
            assert_eq!(Location::existing(&path).expect("a format").format, format);
        }
        let path = folder.path().join("letter");
        std::fs::write(&path, "Dear Sir").expect("written");
        assert!(matches!(Location::existing(&path), Err(Error::Unsupported { .. })));
    }
}
