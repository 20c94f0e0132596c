//! Where a table is.

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

/// One of the places of a table, and its bytes where they are not those of standard input.
pub type Part = (Location, Option<SharedSource>);

impl Location {
    /// An existing file, whose bytes tell its format, or its name where they say nothing.
    ///
    /// # Errors
    ///
    /// [`Error::NotATable`] when neither tells a format, [`Error::Io`] when the file can't be read.
    pub fn existing(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io(path, "open"))?;
        Ok(Self {
            format: Format::detect(path, &FileSource::new(file), &path.display())?,
            place: Place::File(path.to_path_buf()),
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

    /// An object of a store, or those that a pattern or a count of shards stands for. Its bytes tell the format as those of a file
    /// do; of several objects, the first. A letter of a pattern that is one of an object's name has its number: `%2A` for `*`, `%5B` for `[`.
    ///
    /// # Errors
    ///
    /// [`Error::NotATable`] when neither bytes nor name tell a format; [`Error::NotFound`]; [`Error::Io`].
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
    /// [`Error::Unsupported`] when the URL names no table.
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

    /// Records on standard input: [`standard_input`](crate::standard_input) tells their format, which is not known before they are
    /// read.
    pub fn standard_input() -> Self {
        Self {
            place: Place::StandardInput,
            format: Format::Riegeli,
        }
    }

    /// A table to be made or filled: a table of a server, or a file or an object, whose name decides its format.
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

    /// A file of this name to be made in a folder, or an object behind the URL of a bucket or a prefix.
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

    /// A new file. Its name decides the format. Options may follow: `orders.csv?delim=;`. `orders@4.parquet` and
    /// `orders-*-of-4.parquet` mean four files.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a name that no format claims, and for several files of a format that has one for a table; [`Error::Csv`]
    /// for options that CSV has not.
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

    /// Numbered files to be made.
    fn new_shards(pattern: &Path, files: Vec<PathBuf>) -> Result<Self> {
        /// All of them are open at once.
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

    /// The same file, read or written as the options behind its name say.
    ///
    /// # Errors
    ///
    /// [`Error::Csv`] and [`Error::Excel`] for options that the format has not, [`Error::Unsupported`] for a format without options.
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

    /// The places of the table one by one: more than one only of shards. A store is asked which of its objects fit a pattern.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when no object fits, or a shard is missing; [`Error::Io`] for a store that cannot be asked.
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
                hint: match place {
                    Place::Object(_) => "download it, and name the file".to_owned(),
                    _ => "name one file".to_owned(),
                },
            }),
        }
    }

    /// The places of the table one by one, as by [`Location::parts`], each with its bytes as [`Location::source`] has them.
    ///
    /// # Errors
    ///
    /// Those of the two.
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

    /// Checks that all objects are of this format: the first of them has told it.
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

    /// The bytes of the table's one file or object, to be read at any position; `None` for standard input. Objects are read
    /// through the runtime that this is called in, by threads that may wait.
    ///
    /// # Errors
    ///
    /// [`Error::Io`]; [`Error::Unsupported`] for several files.
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

/// The name of a file and the options that stand behind it, as in `orders.csv?delim=;&header=no`.
pub(crate) fn file_options(text: &str) -> Option<(&str, &str)> {
    text.rsplit_once('?')
        .filter(|(file, options)| !file.is_empty() && options.contains('=') && !options.contains('/'))
}

/// The bytes of a source from a place on.
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
