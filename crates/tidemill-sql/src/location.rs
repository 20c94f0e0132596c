//! The places of tables.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tidemill_csv::CsvOptions;
use tidemill_riegeli::{FileSource, SharedSource};
use tidemill_trust::SecretUrl;
use url::Url;

use crate::format::{FileName, Format, extensions_to_write};
use crate::stores;
use crate::stores::object::{self, Object};
use crate::stores::server::ServerUrl;
use crate::{Error, Result, names, shards};

/// Where a table's bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// A file.
    File(PathBuf),
    /// Files that form one table, in order.
    Shards {
        /// The pattern that stands for them.
        pattern: String,
        /// At least one.
        files: Vec<PathBuf>,
    },
    /// An object of a network store: `s3://`, `gs://`, `az://`, `http://`, `https://`.
    Object(ObjectUrl),
    /// Objects of such a store that form one table: those that match a pattern, or numbered shards.
    Objects(ObjectUrl),
    /// Standard input of the program: records that can be read once.
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

/// The URL of an object. It is displayed without its secrets: a password, or the signature of a shared link.
#[derive(Clone, PartialEq, Eq)]
pub struct ObjectUrl(Url);

impl ObjectUrl {
    /// The URL with its secrets.
    pub(crate) fn url(&self) -> &Url {
        &self.0
    }

    /// The URL for display, from which the secrets can still be obtained.
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

/// One of a table's places, with its bytes unless it is standard input.
pub type Part = (Location, Option<SharedSource>);

impl Location {
    /// An existing file, whose format is detected by its bytes, or else by its name.
    ///
    /// # Errors
    ///
    /// [`Error::NotATable`] if the format cannot be detected, [`Error::Io`] if the file cannot be read.
    pub fn existing(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io(path, "open"))?;
        Ok(Self {
            format: Format::detect(path, &FileSource::new(file), &path.display())?,
            place: Place::File(path.to_path_buf()),
        })
    }

    /// Files that form one table; all must have the same format.
    ///
    /// # Errors
    ///
    /// As [`Location::existing`]; [`Error::NotFound`] if there are no files.
    pub fn shards(pattern: &str, files: Vec<PathBuf>) -> Result<Self> {
        let mut format = None;
        for file in &files {
            let found = Self::existing(file)?.format;
            let expected = *format.get_or_insert(found);
            if found != expected {
                return Err(mixed(&pattern, &file.display(), expected, found));
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

    /// An object of a store, or those that match a pattern or a number of shards. The format is detected as for a file, from the first
    /// object. A pattern character that belongs to the name is percent-encoded: `%2A` for `*`, `%5B` for `[`.
    ///
    /// # Errors
    ///
    /// [`Error::NotATable`] if the format cannot be detected; [`Error::NotFound`]; [`Error::Io`].
    pub fn object(url: ObjectUrl) -> BoxFuture<'static, Result<Self>> {
        Self::find_object(url).boxed()
    }

    async fn find_object(url: ObjectUrl) -> Result<Self> {
        let path = Path::new(url.url().path());
        let is_pattern = url.url().path().contains(shards::PATTERN) || shards::is_family(path);
        let format = match is_pattern {
            true => match object::all_of(&url).await?.into_iter().next() {
                Some(first) => object::detect(first).await?,
                None => {
                    return Err(Error::NotFound {
                        name: url.to_string(),
                        hint: "no object fits the pattern".to_owned(),
                    });
                }
            },
            false => object::detect(Object::open(&url)?).await?,
        };
        let place = match is_pattern {
            true => Place::Objects(url),
            false => Place::Object(url),
        };
        Ok(Self { place, format })
    }

    /// A table of a server.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the URL does not name a table.
    pub fn server(url: ServerUrl) -> Result<Self> {
        if !url.names_table() {
            return Err(Error::Unsupported {
                what: format!("{url}: a server or a database as a table"),
                hint: format!(
                    "name the table behind the {}, as in {}",
                    url.kind().container(),
                    url.kind().example()
                ),
            });
        }
        Ok(Self {
            format: Format::Server(url.kind()),
            place: Place::Server(url),
        })
    }

    /// Records on standard input. [`standard_input`](crate::standard_input) detects their format when it reads them.
    pub fn standard_input() -> Self {
        Self {
            place: Place::StandardInput,
            format: Format::Riegeli,
        }
    }

    /// A table to create or fill: a table of a server, or a file or an object whose name selects the format.
    ///
    /// # Errors
    ///
    /// As [`Location::new_file`] and [`Location::server`].
    pub fn destination(text: &str) -> Result<Self> {
        match ServerUrl::new(text) {
            Some(url) => Self::server(url),
            None if names::is_object(text) => {
                let url = names::object_url(text)?;
                let format = format_to_write(Path::new(url.url().path()), &url)?;
                Ok(Self {
                    place: Place::Object(url),
                    format,
                })
            }
            None => {
                ServerUrl::refuse_without_slashes(text)?;
                Self::new_file(Path::new(text))
            }
        }
    }

    /// A file with this name in a folder, or an object below the URL of a bucket or prefix.
    ///
    /// # Errors
    ///
    /// As [`Location::new_file`].
    pub fn destination_in(folder: &str, name: &str) -> Result<Self> {
        ServerUrl::refuse_without_slashes(folder)?;
        if !names::is_object(folder) {
            return Self::new_file(&Path::new(folder).join(name));
        }
        let mut url = names::object_url(folder)?.url().clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push(name);
        }
        Self::destination(url.as_str())
    }

    /// A new file, whose name selects the format. Options may follow: `orders.csv?delim=;`. `orders@4.parquet` and `orders-*-of-4.parquet`
    /// are four files.
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a name without a known extension, and for shards of a format that has one file per table; [`Error::Csv`]
    /// for unknown options of CSV.
    pub fn new_file(path: &Path) -> Result<Self> {
        let said = path.to_str().and_then(file_options);
        let path = said.map_or(path, |(file, _)| Path::new(file));
        if path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().contains(['*', '?']))
            && !shards::is_family(path)
        {
            return Err(Error::Unsupported {
                what: format!("{}: writing to a pattern", path.display()),
                hint: "name a file, or several as orders@4.parquet".to_owned(),
            });
        }
        let location = match shards::all_of(path) {
            Some(files) => Self::new_shards(path, files)?,
            None => Self {
                format: format_to_write(path, &path.display())?,
                place: Place::File(path.to_path_buf()),
            },
        };
        match said {
            Some((_, options)) => location.with_options(options),
            None => Ok(location),
        }
    }

    /// Numbered files to create.
    fn new_shards(pattern: &Path, files: Vec<PathBuf>) -> Result<Self> {
        /// The most files, which are all open at once.
        const MOST: usize = 100;
        let refused = |what: String, hint: &str| Error::Unsupported {
            what: format!("{}: writing {what}", pattern.display()),
            hint: hint.to_owned(),
        };
        if files.len() > MOST {
            return Err(refused(format!("{} files at once", files.len()), "write at most 100"));
        }
        let first = files.first().map(PathBuf::as_path).unwrap_or(pattern);
        let format = format_to_write(first, &pattern.display())?;
        if matches!(format, Format::Xbase | Format::Excel(_)) {
            return Err(refused(
                format!("{format} in several files"),
                "name one file, or another format, such as Parquet or Riegeli",
            ));
        }
        Ok(Self {
            format,
            place: Place::Shards {
                pattern: pattern.display().to_string(),
                files,
            },
        })
    }

    /// The same file with the options after its name.
    ///
    /// # Errors
    ///
    /// [`Error::Csv`] and [`Error::Excel`] for unknown options of these formats, [`Error::Unsupported`] for a format without options.
    pub(crate) fn with_options(self, options: &str) -> Result<Self> {
        let place = self.place.to_string();
        let format = match self.format {
            Format::Csv(_) => Format::Csv(CsvOptions::parse(options).map_err(Error::csv(place))?),
            #[cfg(feature = "excel")]
            Format::Excel(_) => Format::Excel(stores::excel::options(&self, options)?),
            Format::Native(_) => Format::Native(stores::native::strings(&place, options)?),
            other => {
                return Err(Error::Unsupported {
                    what: format!("{place}?{options}: options for a file of {other}"),
                    hint: "leave them out; files of CSV, Excel and FORMAT Native have options".to_owned(),
                });
            }
        };
        Ok(Self {
            format,
            place: self.place,
        })
    }

    /// The single places of the table; only shards have more than one. A store is asked which of its objects match a pattern.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if no object matches, or a shard is missing; [`Error::Io`] if a store does not answer.
    pub fn parts(&self) -> BoxFuture<'_, Result<Vec<Self>>> {
        self.list_parts().boxed()
    }

    async fn list_parts(&self) -> Result<Vec<Self>> {
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

    /// The single file of the table.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for other tables.
    pub fn file(&self) -> Result<&Path> {
        match &self.place {
            Place::File(path) => Ok(path),
            place => Err(Error::Unsupported {
                what: format!("{place}: reading {} from there", self.format),
                hint: match place {
                    Place::Object(_) => "download it, and name the file".to_owned(),
                    _ => "name one file".to_owned(),
                },
            }),
        }
    }

    /// The single places of the table, as from [`Location::parts`], each with its bytes, as from [`Location::source`].
    ///
    /// # Errors
    ///
    /// As for the two.
    pub fn sources(&self) -> BoxFuture<'_, Result<Vec<Part>>> {
        self.open_sources().boxed()
    }

    async fn open_sources(&self) -> Result<Vec<Part>> {
        let mut sources = Vec::new();
        if let Place::Objects(pattern) = &self.place {
            for (url, source) in object::sources(object::all_of(pattern).await?).await? {
                let (place, format) = (Place::Object(url), self.format);
                sources.push((Self { place, format }, Some(source)));
            }
            self.is_of_all(&sources).await?;
        } else {
            for part in self.parts().await? {
                let source = part.source().await?;
                sources.push((part, source));
            }
        }
        Ok(sources)
    }

    /// Checks that all objects have this format, which was detected from the first.
    async fn is_of_all(&self, sources: &[(Self, Option<SharedSource>)]) -> Result<()> {
        if !self.format.has_records() {
            return Ok(());
        }
        for (part, source) in sources.iter().skip(1) {
            let Some(source) = source else { continue };
            let found = object::detect_source(part.to_string(), Arc::clone(source)).await?;
            if found != self.format {
                return Err(mixed(self, &part.place, self.format, found));
            }
        }
        Ok(())
    }

    /// The bytes of the table's single file or object, which can be read at any position; `None` for standard input. Objects are read
    /// through the current runtime, from threads that may block.
    ///
    /// # Errors
    ///
    /// [`Error::Io`]; [`Error::Unsupported`] for more than one file.
    pub fn source(&self) -> BoxFuture<'_, Result<Option<SharedSource>>> {
        self.open_source().boxed()
    }

    async fn open_source(&self) -> Result<Option<SharedSource>> {
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

    /// The size of the table's files in bytes; `None` for other tables.
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

    /// The name of the table in a statement without an alias: the file name without its extension.
    pub fn table_name(&self) -> String {
        let stem = |path: &Path| match FileName::of(path) {
            Some(name) => name.stem,
            None => path
                .file_stem()
                .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned()),
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

/// Splits a file name from its options, as in `orders.csv?delim=;&header=no`.
pub(crate) fn file_options(text: &str) -> Option<(&str, &str)> {
    text.rsplit_once('?')
        .filter(|(file, options)| !file.is_empty() && options.contains('=') && !options.contains('/'))
}

/// The bytes of a source from an offset on.
pub(crate) struct SourceReader {
    source: SharedSource,
    at: u64,
}

impl SourceReader {
    pub(crate) fn new(source: SharedSource) -> Self {
        Self::from(source, 0)
    }

    pub(crate) fn from(source: SharedSource, at: u64) -> Self {
        Self { source, at }
    }
}

impl Seek for SourceReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (from, by) = match to {
            SeekFrom::Start(at) => (at, 0),
            SeekFrom::End(by) => (self.source.size()?, by),
            SeekFrom::Current(by) => (self.at, by),
        };
        let at = from.checked_add_signed(by);
        self.at = at.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a place before the beginning"))?;
        Ok(self.at)
    }
}

impl Read for SourceReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read_at(self.at, buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

fn mixed(table: &dyn fmt::Display, part: &dyn fmt::Display, expected: Format, found: Format) -> Error {
    Error::Unsupported {
        what: format!("{table}: a table of {expected} files with {part} among them, which"),
        hint: format!("it is {found}; name files of one format"),
    }
}

fn format_to_write(path: &Path, place: &dyn fmt::Display) -> Result<Format> {
    if shards::is_family(path) {
        return Err(Error::Unsupported {
            what: format!("{place}: writing several objects at once"),
            hint: "name one object, such as orders-00000-of-00002.riegeli, or files".to_owned(),
        });
    }
    Format::from_name(path).ok_or_else(|| Error::Unsupported {
        what: format!("{place}: writing a file of this name"),
        hint: format!("the extension tells the format: {}", extensions_to_write()),
    })
}
