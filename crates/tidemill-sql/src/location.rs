//! Where a table is, and the format that its name or its first bytes tell.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidemill_riegeli::{FileSource, SharedSource};
use tidemill_trust::SecretUrl;
use url::Url;

use crate::server_url::{ServerKind, ServerUrl};
use crate::stores::object::{self, Object};
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
    /// TFRecord (`.tfrecord`, `.tfrecords`).
    TfRecord,
    /// ClickHouse's FORMAT Native (`.native`).
    Native,
    /// Apache Parquet (`.parquet`).
    Parquet,
    /// Arrow IPC files (`.arrow`, `.feather`, `.ipc`).
    Arrow,
    /// Comma-separated values with a header line (`.csv`), or tab-separated ones (`.tsv`).
    Csv,
    /// One JSON object a line (`.jsonl`, `.ndjson`, `.json`).
    JsonLines,
    /// A table of a ClickHouse server (`clickhouse://`).
    ClickHouse,
    /// A table of a Cassandra cluster (`cql://`).
    Cassandra,
}

impl Format {
    /// Whether a file of this format is made of records, which can be copied as they are.
    pub fn has_records(self) -> bool {
        matches!(self, Self::Riegeli | Self::ArrayRecord | Self::TfRecord)
    }

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

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Xbase => "xbase",
            Self::Riegeli => "riegeli",
            Self::ArrayRecord => "array_record",
            Self::TfRecord => "tfrecord",
            Self::Native => "native",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Csv => "csv",
            Self::JsonLines => "jsonl",
            Self::ClickHouse => "clickhouse",
            Self::Cassandra => "cassandra",
        })
    }
}

/// Where a table's bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// A file.
    File(PathBuf),
    /// Files that make up one table together, in order.
    Shards {
        /// The pattern that stands for them.
        pattern: String,
        /// At least one.
        files: Vec<PathBuf>,
    },
    /// An object of a store that is read over the network: `s3://`, `gs://`, `az://`, `http://`, `https://`.
    Object(ObjectUrl),
    /// Objects of such a store that make up one table together: those whose names fit a pattern, or numbered shards.
    Objects(ObjectUrl),
    /// What the program is given by a pipe: records that can be read once.
    StandardInput,
    /// A table of a server.
    Server(ServerUrl),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Shards { pattern, .. } => f.write_str(pattern),
            Self::Object(url) | Self::Objects(url) => url.fmt(f),
            Self::StandardInput => f.write_str("standard input"),
            Self::Server(url) => url.fmt(f),
        }
    }
}

/// The URL of an object, which is shown without its secrets: a password, or the signature of a link that somebody shared.
#[derive(Clone, PartialEq, Eq)]
pub struct ObjectUrl(Url);

impl ObjectUrl {
    /// The URL with its secrets.
    pub(crate) fn url(&self) -> &Url {
        &self.0
    }

    /// As it is shown, to be kept by whoever hides nothing.
    pub(crate) fn secret(&self) -> SecretUrl {
        SecretUrl::new(self.0.as_str())
    }
}

impl From<Url> for ObjectUrl {
    fn from(url: Url) -> Self {
        Self(url)
    }
}

impl fmt::Display for ObjectUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.secret().fmt(f)
    }
}

impl fmt::Debug for ObjectUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectUrl({self})")
    }
}

/// A table's place and its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Where it is.
    pub place: Place,
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
            None => Format::sniff(path)?.ok_or_else(|| unknown_format(path.display()))?,
        };
        Ok(Self {
            place: Place::File(path.to_path_buf()),
            format,
        })
    }

    /// Files that make up one table, which must be of one format.
    ///
    /// # Errors
    ///
    /// As [`Location::existing`]; [`Error::NotFound`] without any files.
    pub fn shards(pattern: &str, files: Vec<PathBuf>) -> Result<Self> {
        let mut format = None;
        for file in &files {
            let found = Self::existing(file)?.format;
            let expected = *format.get_or_insert(found);
            if found != expected {
                return Err(Error::Unsupported {
                    what: format!(
                        "{pattern}: a table of {expected} files with {} among them, which",
                        file.display()
                    ),
                    hint: format!("it is {found}; name files of one format"),
                });
            }
        }
        match format {
            Some(format) => Ok(Self {
                place: Place::Shards {
                    pattern: pattern.to_owned(),
                    files,
                },
                format,
            }),
            None => Err(Error::NotFound {
                name: pattern.to_owned(),
                hint: "no file fits the pattern".to_owned(),
            }),
        }
    }

    /// An object of a store, or those that a pattern or a count of shards stands for. The name's extension decides. A letter of a
    /// pattern that is one of an object's name has its number: `%2A` for `*`, `%5B` for `[`.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for an extension that no format claims.
    pub fn object(url: ObjectUrl) -> Result<Self> {
        let path = Path::new(url.url().path());
        let format = Format::from_extension(path).ok_or_else(|| unknown_format(&url))?;
        let place = match url.url().path().contains(shards::PATTERN) || shards::is_family(path) {
            true => Place::Objects(url),
            false => Place::Object(url),
        };
        Ok(Self { place, format })
    }

    /// A table of a server.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] when the URL names no table.
    pub fn server(url: ServerUrl) -> Result<Self> {
        if !url.names_table() {
            return Err(Error::Unsupported {
                what: format!("{url}: a server or a database as a table"),
                hint: match url.kind() {
                    ServerKind::ClickHouse => {
                        "name the table behind the database, as in clickhouse://host/database/table"
                    }
                    ServerKind::Cassandra => "name the table behind the keyspace, as in cql://host/keyspace/table",
                }
                .to_owned(),
            });
        }
        Ok(Self {
            format: match url.kind() {
                ServerKind::ClickHouse => Format::ClickHouse,
                ServerKind::Cassandra => Format::Cassandra,
            },
            place: Place::Server(url),
        })
    }

    /// Records on standard input: [`standard_input`](crate::standard_input) tells their format, which is not known before they are
    /// read.
    pub fn standard_input() -> Self {
        Self {
            place: Place::StandardInput,
            format: Format::Riegeli,
        }
    }

    /// A table to be made or filled: a table of a server, or a file, whose extension decides.
    ///
    /// # Errors
    ///
    /// As [`Location::new_file`] and [`Location::server`].
    pub fn destination(text: &str) -> Result<Self> {
        match ServerUrl::new(text) {
            Some(url) => Self::server(url),
            None => Self::new_file(Path::new(text)),
        }
    }

    /// A file to be made: its extension decides.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for an extension that no format claims.
    pub fn new_file(path: &Path) -> Result<Self> {
        match Format::from_extension(path) {
            Some(format) => Ok(Self {
                place: Place::File(path.to_path_buf()),
                format,
            }),
            None => Err(Error::Unsupported {
                what: format!("{}: writing a file of this name", path.display()),
                hint: format!("the extension tells the format: {}", known_extensions()),
            }),
        }
    }

    /// The places of the table one by one: more than one only of shards. A store is asked which of its objects fit a pattern.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when no object fits, or a shard is missing; [`Error::Io`] for a store that cannot be asked.
    pub async fn parts(&self) -> Result<Vec<Self>> {
        let places = match &self.place {
            Place::Shards { files, .. } => files.iter().cloned().map(Place::File).collect(),
            Place::Objects(pattern) => {
                let objects = object::all_of(pattern).await?;
                objects.into_iter().map(|object| Place::Object(object.url)).collect()
            }
            one => vec![one.clone()],
        };
        let format = self.format;
        Ok(places.into_iter().map(|place| Self { place, format }).collect())
    }

    /// The table's one file.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for anything else.
    pub fn file(&self) -> Result<&Path> {
        match &self.place {
            Place::File(path) => Ok(path),
            place => Err(Error::Unsupported {
                what: format!("{place}: reading {} from there", self.format),
                hint: "name one file".to_owned(),
            }),
        }
    }

    /// The places of the table one by one, as by [`Location::parts`], each with its bytes as [`Location::source`] has them.
    ///
    /// # Errors
    ///
    /// Those of the two.
    pub async fn sources(&self) -> Result<Vec<(Self, Option<SharedSource>)>> {
        let mut sources = Vec::new();
        if let Place::Objects(pattern) = &self.place {
            for (url, source) in object::sources(object::all_of(pattern).await?).await? {
                let (place, format) = (Place::Object(url), self.format);
                sources.push((Self { place, format }, Some(source)));
            }
        } else {
            for part in self.parts().await? {
                let source = part.source().await?;
                sources.push((part, source));
            }
        }
        Ok(sources)
    }

    /// The bytes of the table's one file or object, to be read at any position; `None` for standard input. Objects are read
    /// through the runtime that this is called in, by threads that may wait.
    ///
    /// # Errors
    ///
    /// [`Error::Io`]; [`Error::Unsupported`] for several files.
    pub async fn source(&self) -> Result<Option<SharedSource>> {
        match &self.place {
            Place::StandardInput => Ok(None),
            Place::Object(url) => Ok(Some(Arc::new(Object::open(url)?.source().await?))),
            _ => {
                let path = self.file()?;
                let file = File::open(path).map_err(Error::io(path, "open"))?;
                Ok(Some(Arc::new(FileSource::new(file))))
            }
        }
    }

    /// How many bytes the table's files have; `None` for what is not files.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn bytes(&self) -> Result<Option<u64>> {
        let files = match &self.place {
            Place::File(path) => std::slice::from_ref(path),
            Place::Shards { files, .. } => files.as_slice(),
            Place::Object(_) | Place::Objects(_) | Place::StandardInput | Place::Server(_) => return Ok(None),
        };
        let size = |path: &PathBuf| Ok(std::fs::metadata(path).map_err(Error::io(path, "read"))?.len());
        files.iter().map(size).sum::<Result<u64>>().map(Some)
    }

    /// The name that a statement calls the table by when it gives no alias: the file's name without its extension.
    pub fn table_name(&self) -> String {
        let stem = |path: &Path| {
            path.file_stem()
                .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
        };
        match &self.place {
            Place::File(path) => stem(path),
            Place::Shards { pattern, .. } => stem(Path::new(pattern)),
            Place::Object(url) | Place::Objects(url) => stem(Path::new(url.url().path())),
            Place::StandardInput => "input".to_owned(),
            Place::Server(url) => url.last_part().to_owned(),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.fmt(f)
    }
}

fn unknown_format(place: impl fmt::Display) -> Error {
    Error::Unsupported {
        what: format!("{place}: the format of this file"),
        hint: format!("the extension tells it: {}", known_extensions()),
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
    ("array_record", Format::ArrayRecord),
    ("arrayrecord", Format::ArrayRecord),
    ("tfrecord", Format::TfRecord),
    ("tfrecords", Format::TfRecord),
    ("native", Format::Native),
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
pub(crate) const RIEGELI_SIGNATURE_AT_24: [u8; 8] = [0x91, 0xba, 0xc2, 0x3c, 0x92, 0x87, 0xe1, 0xa9];

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
