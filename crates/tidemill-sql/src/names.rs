//! Resolves the name in a statement to a file.
//!
//! Old applications name tables in many ways: `ORDERS`, `orders.dbf`, `C:\DATA\ORDERS.DBF`, in any case, on case-insensitive file systems.
//! [`Names`] tries, in this order: a name given by `--attach`; the path as it is (under `--dir` first, then under the current folder, each
//! component also in another case); and a file under `--dir` that has this name without its extension.
//!
//! A name with `*`, `?` or `[` that is not a file's is a pattern: the matching files form one table. `orders@3.riegeli` and
//! `orders-*-of-00003.riegeli` name the shards `orders-00000-of-00003.riegeli` and so on, all of which must exist. URLs of objects can be
//! patterns in the same way, without `?`. `-` is standard input. Reading options may follow the name of a CSV or Excel file:
//! `orders.csv?delim=;&encoding=cp1252`, `book.xlsx?sheet=Prices`.
//!
//! `clickhouse://host/database/table` and `cql://host/keyspace/table` are tables of servers. If `--dir` names a database, its tables are
//! known by their names; those of a database of `--attach` as `name.table`.

mod confined;
mod known;
mod locate;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use percent_encoding::percent_decode_str;
use tidemill_csv::CsvOptions;
use tidemill_trust::{SecretUrl, without_secrets};
use url::Url;

pub(crate) use self::known::KnownNames;
use crate::catalog;
use crate::folder::{self, Folder};
use crate::format::{FileName, Format};
use crate::location::{Location, ObjectUrl, Place, file_options};
use crate::stores::server::{ServerUrl, examples, missing_feature};
use crate::{Error, Result, shards};

/// The settings for resolving names.
#[derive(Clone, Debug, Default)]
pub struct Names {
    dir: Option<PathBuf>,
    database: Option<ServerUrl>,
    attached: Vec<(String, String)>,
    drives: Vec<(char, PathBuf)>,
    /// Whether names may only be names of tables, not paths.
    is_confined: bool,
    /// Folders whose files may be named by paths although names are confined.
    allowed: Vec<PathBuf>,
}

impl Names {
    /// Sets the folder whose tables may be named without path and extension, or the URL of a database whose tables may be named without it.
    /// Default: none; the current folder.
    pub fn set_dir(&mut self, dir: impl Into<PathBuf>) {
        let dir = dir.into();
        match dir.to_str().and_then(ServerUrl::new) {
            Some(url) => self.set_database(url),
            None => self.dir = Some(dir),
        }
    }

    /// Sets the database whose tables may be named without it. Default: none.
    pub fn set_database(&mut self, database: ServerUrl) {
        self.database = Some(database);
    }

    /// Gives the table at `place` (a path or a URL) a name; for a database, its tables are then `name.table`.
    pub fn attach(&mut self, name: impl Into<String>, place: impl Into<String>) {
        self.attached.push((name.into(), place.into()));
    }

    /// Maps a Windows drive letter to a folder. Without a mapping, a path with a drive letter is an error.
    pub fn map_drive(&mut self, letter: char, folder: impl Into<PathBuf>) {
        self.drives.push((letter.to_ascii_uppercase(), folder.into()));
    }

    /// The folder whose tables may be named without path and extension, if set.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.dir.as_deref()
    }

    /// The database whose tables may be named without it, if set.
    pub(crate) fn database(&self) -> Option<&ServerUrl> {
        self.database.as_ref()
    }

    /// The attached names and their places.
    pub(crate) fn attached(&self) -> impl Iterator<Item = (&str, &str)> {
        self.attached
            .iter()
            .map(|(name, place)| (name.as_str(), place.as_str()))
    }

    /// The attached names, each with the file of its xBase table, or with what it stands for instead.
    pub(crate) fn attached_tables(&self) -> impl Iterator<Item = (&str, std::result::Result<PathBuf, String>)> {
        self.attached.iter().map(|(name, place)| {
            let table = match self.path(place).ok().flatten() {
                Some(path) if !path.is_dir() => match Location::existing(&path) {
                    Ok(Location {
                        format: Format::Xbase, ..
                    }) => Ok(path),
                    _ => Err(format!("{name} is {}, which is no xBase table", path.display())),
                },
                _ => Err(format!("{name} is {}, which is no xBase table", without_secrets(place))),
            };
            (name.as_str(), table)
        })
    }

    /// The drives and their folders, as `C:=folder;D:=folder`.
    pub(crate) fn drives(&self) -> String {
        let drives = self.drives.iter();
        let parts: Vec<String> = drives
            .map(|(letter, folder)| format!("{letter}:={}", folder.display()))
            .collect();
        parts.join(";")
    }

    /// Resolves `name`, as far as possible without asking a store or a server.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] with the place that was searched and what exists there; [`Error::Ambiguous`] if files of different formats share
    /// the name and none of them is an xBase table.
    pub(crate) fn find(&self, name: &str) -> Result<Found> {
        if let Some((_, place)) = self
            .attached
            .iter()
            .find(|(attached, _)| attached.eq_ignore_ascii_case(name))
        {
            return self.place(place)?.ok_or_else(|| Error::NotFound {
                name: name.to_owned(),
                hint: format!(
                    "it was attached to {}, and there is no such file",
                    without_secrets(place)
                ),
            });
        }
        match self.within_attached(name)? {
            Some((Attached::Database(database), table)) => {
                return Location::server(database.with_table(table)).map(Found::table);
            }
            Some((Attached::Folder(folder), table)) => return self.of_folder(folder).find(table),
            None => {}
        }
        if self.is_confined {
            return self.by_name(name);
        }
        if name == "-" {
            return Ok(Found::table(Location::standard_input()));
        }
        if let Some(found) = self.place(name)? {
            return Ok(found);
        }
        ServerUrl::refuse_without_slashes(name)?;
        match &self.database {
            Some(database) => Location::server(database.with_table(name)).map(Found::table),
            None => self.by_stem(name),
        }
    }

    /// The same settings for the tables of another folder.
    fn of_folder(&self, folder: PathBuf) -> Self {
        Self {
            dir: Some(folder),
            is_confined: self.is_confined,
            ..Self::default()
        }
    }

    /// The attached database or folder that `name` begins with, and the name of the table in it.
    ///
    /// # Errors
    ///
    /// As [`Names::path`].
    pub(crate) fn within_attached<'n>(&self, name: &'n str) -> Result<Option<(Attached, &'n str)>> {
        let Some((schema, table)) = name.split_once('.') else {
            return Ok(None);
        };
        Ok(self.attached_schema(schema)?.map(|attached| (attached, table)))
    }

    /// The attached database or folder with this name.
    ///
    /// # Errors
    ///
    /// As [`Names::path`].
    pub(crate) fn attached_schema(&self, name: &str) -> Result<Option<Attached>> {
        let known = self.attached.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        let Some((_, place)) = known else { return Ok(None) };
        if let Some(url) = ServerUrl::new(place) {
            return Ok((!url.names_table()).then_some(Attached::Database(url)));
        }
        let folder = self.path(place)?.filter(|path| path.is_dir());
        Ok(folder.map(Attached::Folder))
    }

    /// Resolves a path, a pattern or a URL.
    fn place(&self, text: &str) -> Result<Option<Found>> {
        if let Some(url) = ServerUrl::new(text) {
            return Location::server(url).map(|location| Some(Found::table(location)));
        }
        if is_object(text) {
            return object_url(text).map(|url| Some(Found::Object(url)));
        }
        if let Some(path) = self.path(text)? {
            return match path.is_file() {
                true => Location::existing(&path).map(|location| Some(Found::table(location))),
                false => Ok(None),
            };
        }
        if let Some((file, options)) = file_options(text) {
            return self.with_options(file, options);
        }
        let path = self.translate(text)?;
        if let Some(shards) = shards::all_of(&path) {
            return self.all_of(text, &shards).map(|table| Some(Found::table(table)));
        }
        if !text.contains(shards::PATTERN) {
            return Ok(None);
        }
        let mut files = Vec::new();
        for folder in self.dir.iter().map(PathBuf::as_path).chain([Path::new("")]) {
            files = shards::matching(folder, &path).map_err(|problem| Error::NotFound {
                name: text.to_owned(),
                hint: problem,
            })?;
            if !files.is_empty() {
                break;
            }
        }
        // A name in brackets may also be a file name without its extension.
        if files.is_empty() {
            return Ok(None);
        }
        let table = match shards::siblings(files.iter().map(PathBuf::as_path)) {
            Some(expected) => self.all_of(text, &expected),
            None => Location::shards(text, files),
        };
        table.map(|table| Some(Found::table(table)))
    }

    /// The file, or the set of files that form one table, with the options after the name. With options, a file whose name indicates no
    /// format is read as CSV.
    fn with_options(&self, file: &str, options: &str) -> Result<Option<Found>> {
        let found = match self.path(file)?.filter(|path| path.is_file()) {
            Some(path) if Format::from_name(&path).is_none() => Some(Found::table(Location {
                format: Format::Csv(CsvOptions::NONE),
                place: Place::File(path),
            })),
            _ => self.place(file)?,
        };
        match found {
            Some(Found::Table { location, .. }) => {
                location.with_options(options).map(|table| Some(Found::table(table)))
            }
            other => Ok(other),
        }
    }

    /// The table of these shards; all must exist.
    fn all_of(&self, text: &str, shards: &[PathBuf]) -> Result<Location> {
        let mut files = Vec::new();
        for shard in shards {
            let there = self.path(&shard.to_string_lossy())?.filter(|path| path.is_file());
            files.push(there.ok_or_else(|| Error::NotFound {
                name: text.to_owned(),
                hint: format!("{} is missing", shard.display()),
            })?);
        }
        Location::shards(text, files)
    }

    /// The existing file or folder of a path from the command line or a statement; `None` if it does not exist, and for URLs of objects and
    /// servers.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a URL of an unknown store and for an unmapped drive letter.
    pub fn path(&self, text: &str) -> Result<Option<PathBuf>> {
        if ServerUrl::new(text).is_some() || is_object(text) {
            return Ok(None);
        }
        let path = self.translate(text)?;
        if path.is_absolute() {
            return Ok(existing_in_any_case(&path));
        }
        let under_dir = self.dir.as_ref().and_then(|dir| existing_in_any_case(&dir.join(&path)));
        Ok(under_dir.or_else(|| existing_in_any_case(&path)))
    }

    /// The path for `text`, whether or not it exists: drive letters and backslashes are translated.
    ///
    /// # Errors
    ///
    /// As [`Names::path`].
    pub fn translate(&self, text: &str) -> Result<PathBuf> {
        if let Some(path) = path_of_url(text) {
            return path;
        }
        if let Some(feature) = missing_feature(text) {
            return Err(Error::Unsupported {
                what: format!("{}: a table of {feature}", SecretUrl::new(text)),
                hint: format!("this build has no {feature}: build it with --features {feature}"),
            });
        }
        if let Some((scheme, _)) = text.split_once("://") {
            return Err(Error::Unsupported {
                what: format!("{}: a store of the kind {scheme}://", SecretUrl::new(text)),
                hint: format!(
                    "tables are read from files, from databases as {}, and from {}",
                    examples(),
                    OBJECT_STORES.map(|scheme| format!("{scheme}://")).join(", ")
                ),
            });
        }
        let mut chars = text.chars();
        if let (Some(letter), Some(':'), Some('\\' | '/')) = (chars.next(), chars.next(), chars.next())
            && letter.is_ascii_alphabetic()
        {
            let folder = self
                .drives
                .iter()
                .find(|(mapped, _)| mapped.eq_ignore_ascii_case(&letter));
            let Some((_, folder)) = folder else {
                return Err(Error::NotFound {
                    name: text.to_owned(),
                    hint: format!("map drive {letter}: to a folder with --drive {letter}=FOLDER"),
                });
            };
            return Ok(folder.join(chars.as_str().trim_start_matches(['\\', '/']).replace('\\', "/")));
        }
        // Where a backslash is an ordinary character, a file name may still contain one.
        if cfg!(not(windows)) && text.contains('\\') && !Path::new(text).exists() {
            return Ok(PathBuf::from(text.replace('\\', "/")));
        }
        Ok(PathBuf::from(text))
    }

    /// The hint for a name that is not found in `folder`; for a path, its own folder is searched.
    fn hint_for(&self, name: &str, folder: &Path) -> String {
        let own = match self.translate(name) {
            Ok(path) if !self.is_confined => {
                if let Some(hint) = hint_for_no_file(&folder.join(&path)).or_else(|| hint_for_no_file(&path)) {
                    return hint;
                }
                path.parent().map(Path::to_path_buf)
            }
            _ => None,
        };
        let Some(own) = own.filter(|own| !own.as_os_str().is_empty()) else {
            return not_found_hint(folder);
        };
        match self.path(&own.to_string_lossy()) {
            Ok(Some(own)) if own.is_dir() => not_found_hint(&own),
            _ => format!("there is no folder {}", own.display()),
        }
    }

    /// The file with this name, without its extension. Files with a known extension precede those whose format only their bytes show; among
    /// the remaining files, an xBase table is preferred, since that is what a name without extension means to old applications.
    fn by_stem(&self, name: &str) -> Result<Found> {
        let folder = self.dir.clone().unwrap_or_else(|| PathBuf::from("."));
        let entries = match folder::entries(&folder) {
            Ok(entries) => entries,
            Err(_) if self.dir.is_none() => Vec::new(),
            Err(error) => return Err(error),
        };
        let mut fitting = Vec::new();
        let mut fault = None;
        for path in entries {
            let stem = FileName::of(&path).map(|file| file.stem);
            if !stem.is_some_and(|stem| stem.eq_ignore_ascii_case(name)) || folder::is_companion(&path) {
                continue;
            }
            // Only regular files are opened: opening a pipe would wait for its writer.
            if !path.is_file() {
                continue;
            }
            match Location::existing(&path) {
                Ok(location) => fitting.push((Format::from_name(&path).is_some(), location)),
                Err(error) => fault = Some(error),
            }
        }
        if fitting.iter().any(|(is_named, _)| *is_named) {
            fitting.retain(|(is_named, _)| *is_named);
        }
        // xBase tables first.
        fitting.sort_by_key(|(_, location)| location.format != Format::Xbase);
        let mut fitting: Vec<Location> = fitting.into_iter().map(|(_, location)| location).collect();
        let tables = fitting.iter().filter(|table| table.format == Format::Xbase).count();
        match (fitting.len(), tables) {
            (0, _) => match fault {
                Some(fault) => Err(fault),
                None => Err(Error::NotFound {
                    name: name.to_owned(),
                    hint: self.hint_for(name, &folder),
                }),
            },
            (1, _) | (_, 1) => {
                let location = fitting.remove(0);
                Ok(Found::Table {
                    location,
                    namesakes: fitting,
                })
            }
            _ => Err(Error::Ambiguous {
                name: name.to_owned(),
                candidates: fitting.iter().map(Location::to_string).collect(),
            }),
        }
    }
}

/// An attached place whose name precedes those of its tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Attached {
    /// A database of a server.
    Database(ServerUrl),
    /// A folder.
    Folder(PathBuf),
}

/// The path of a file URL: `file:///path`, `file://localhost/path` and `file:/path` (RFC 8089), and the same with `tidemill:` instead of
/// `file:`. Percent-encoding is decoded. `None` for other texts.
///
/// # Errors
///
/// [`Error::NotFound`] for a file of another host.
///
/// ```
/// use std::path::Path;
/// use tidemill_sql::path_of_url;
///
/// let path = path_of_url("file:///data/my%20books").expect("a URL of a file")?;
/// assert_eq!(path, Path::new("/data/my books"));
/// assert!(path_of_url("/data/my books").is_none());
/// # Ok::<(), tidemill_sql::Error>(())
/// ```
pub fn path_of_url(text: &str) -> Option<Result<PathBuf>> {
    let (scheme, rest) = text.split_once(':')?;
    let is_known = ["file", "tidemill"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known));
    if !is_known || !rest.starts_with('/') {
        return None;
    }
    let path = match rest.strip_prefix("//") {
        None => rest,
        Some(rest) => match rest.split_at(rest.find('/').unwrap_or(rest.len())) {
            ("", path) => path,
            (host, path) if host.eq_ignore_ascii_case("localhost") => path,
            (host, _) => {
                return Some(Err(Error::NotFound {
                    name: text.to_owned(),
                    hint: format!("{host} is read as the name of a host; a path stands behind {scheme}:///"),
                }));
            }
        },
    };
    let path = match path.trim_start_matches('/') {
        _ if path.is_empty() => PathBuf::from("."),
        // Four slashes mean the same as three.
        path => PathBuf::from("/").join(OsString::from_vec(percent_decode_str(path).collect())),
    };
    Some(Ok(path))
}

/// The result of resolving a name.
#[derive(Debug)]
pub(crate) enum Found {
    Table {
        location: Location,
        /// Files of the same name that are not used.
        namesakes: Vec<Location>,
    },
    /// An object, or a pattern that the store must resolve.
    Object(ObjectUrl),
}

impl Found {
    fn table(location: Location) -> Self {
        Self::Table {
            location,
            namesakes: Vec::new(),
        }
    }
}

/// The schemes of URLs of readable objects.
const OBJECT_STORES: [&str; 6] = ["s3", "gs", "az", "abfss", "http", "https"];

/// The URL of an object.
pub(crate) fn object_url(text: &str) -> Result<ObjectUrl> {
    let url = Url::parse(text).map_err(|error| Error::NotFound {
        name: SecretUrl::new(text).to_string(),
        hint: format!("not a URL: {error}"),
    })?;
    Ok(url.into())
}

/// Whether the text is the URL of a readable object.
pub(crate) fn is_object(text: &str) -> bool {
    text.split_once("://")
        .is_some_and(|(scheme, _)| OBJECT_STORES.iter().any(|known| known.eq_ignore_ascii_case(scheme)))
}

/// The path itself, or the one that differs only in case. Ambiguous components are not resolved.
fn existing_in_any_case(path: &Path) -> Option<PathBuf> {
    if path.exists() {
        return Some(path.to_path_buf());
    }
    let mut found = PathBuf::new();
    for component in path.components() {
        let Component::Normal(part) = component else {
            found.push(component);
            continue;
        };
        let exact = found.join(part);
        if exact.exists() {
            found = exact;
            continue;
        }
        let wanted = part.to_str()?;
        let folder = if found.as_os_str().is_empty() {
            Path::new(".")
        } else {
            &found
        };
        let mut fitting = std::fs::read_dir(folder)
            .ok()?
            .filter_map(|entry| entry.ok().map(|entry| entry.file_name()))
            .filter(|entry| {
                entry
                    .to_str()
                    .is_some_and(|entry| entry.to_lowercase() == wanted.to_lowercase())
            });
        let (Some(only), None) = (fitting.next(), fitting.next()) else {
            return None;
        };
        found.push(only);
    }
    Some(found)
}

/// Describes what exists at a path that is not a file: a broken link, a folder, a pipe.
fn hint_for_no_file(path: &Path) -> Option<String> {
    let found = path.symlink_metadata().ok()?;
    Some(match path.metadata() {
        Err(_) if found.is_symlink() => {
            let to = path.read_link().unwrap_or_default();
            format!("it is a symbolic link to {}, which is not there", to.display())
        }
        Ok(found) if found.is_dir() => format!("it is a folder; {}", not_found_hint(path)),
        Ok(found) if !found.is_file() => {
            "it is a pipe or a device; tables are regular files, and `-` is standard input".to_owned()
        }
        _ => return None,
    })
}

fn not_found_hint(folder: &Path) -> String {
    const NAMED: usize = 12;
    let place = match folder.to_str() {
        Some(".") => "this folder".to_owned(),
        _ => folder.display().to_string(),
    };
    let tables = Folder::list(folder).map(|folder| folder.tables).unwrap_or_default();
    if tables.is_empty() {
        return format!("{place} holds no tables; --dir names the folder of your tables");
    }
    let tables = catalog::named(tables);
    let mut names: Vec<String> = tables.iter().take(NAMED).map(|(name, _)| name.clone()).collect();
    if tables.len() > NAMED {
        names.push(format!("and {} more", tables.len() - NAMED));
    }
    format!("{place} has {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, [0_u8; 64]).expect("written");
        }
        folder
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_called_what_it_is() {
        let folder = folder_with(&["books/orders.dbf"]);
        let mut names = Names::default();
        names.set_dir(folder.path());
        std::os::unix::fs::symlink("gone.dbf", folder.path().join("link.dbf")).expect("a link");
        std::os::unix::net::UnixListener::bind(folder.path().join("socket")).expect("a socket");
        for (name, hint) in [
            ("books", "it is a folder; "),
            ("link.dbf", "it is a symbolic link to gone.dbf, which is not there"),
            ("socket", "it is a pipe or a device"),
        ] {
            let error = names.find(name).expect_err(name).to_string();
            assert!(error.contains(hint), "{error}");
        }
    }

    fn table(names: &Names, name: &str) -> Location {
        match names.find(name).expect(name) {
            Found::Table { location, .. } => location,
            Found::Object(url) => panic!("{url} is an object"),
        }
    }

    #[test]
    fn an_xbase_table_comes_before_its_namesakes() {
        let folder = folder_with(&["orders.csv", "ORDERS.DBF", "orders.jsonl", "orders.txt", "orders.fpt"]);
        let mut names = Names::default();
        names.set_dir(folder.path());
        match names.find("orders").expect("a table") {
            Found::Table { location, namesakes } => {
                assert_eq!(location.file().expect("a file"), folder.path().join("ORDERS.DBF"));
                assert_eq!(namesakes.len(), 2, "{namesakes:?}");
            }
            Found::Object(url) => panic!("{url}"),
        }
    }

    #[test]
    fn names_lead_to_files() {
        let folder = folder_with(&["ORDERS.DBF", "Data/2024/CUST.dbf", "notes.csv"]);
        let mut names = Names::default();
        names.set_dir(folder.path());
        names.attach("People", "data/2024/cust.dbf");
        names.map_drive('c', folder.path());
        names.attach("old", "data");
        names.attach("year", folder.path().join("Data/2024").to_string_lossy());
        for (name, file) in [
            ("orders.dbf", "ORDERS.DBF"),
            ("Orders", "ORDERS.DBF"),
            ("PEOPLE", "Data/2024/CUST.dbf"),
            ("Year.Cust", "Data/2024/CUST.dbf"),
            ("year.cust.dbf", "Data/2024/CUST.dbf"),
            ("old.2024/cust.dbf", "Data/2024/CUST.dbf"),
            (r"C:\DATA\2024\CUST.DBF", "Data/2024/CUST.dbf"),
            (r"c:/orders.dbf", "ORDERS.DBF"),
            (r"DATA\2024\cust.dbf", "Data/2024/CUST.dbf"),
            ("NOTES", "notes.csv"),
        ] {
            let found = table(&names, name);
            assert_eq!(found.file().expect(name), folder.path().join(file), "{name}");
        }
    }

    #[test]
    fn tables_of_a_database_go_by_their_names() {
        let mut names = Names::default();
        names.set_dir("clickhouse://h/books?secure=1");
        names.attach("Shop", "clickhouse://u:p@other/shop");
        for (name, url) in [
            ("orders", "clickhouse://h/books/orders?secure=1"),
            ("shop.orders", "clickhouse://u:p@other/shop/orders"),
            ("clickhouse://h/x/y", "clickhouse://h/x/y"),
        ] {
            let url = ServerUrl::new(url).expect(url);
            assert_eq!(table(&names, name).place, Place::Server(url));
        }
    }

    #[test]
    fn urls_of_files_are_paths() {
        for (url, path) in [
            ("file:///tmp/my%20books", Some("/tmp/my books")),
            ("FILE://localhost/tmp/100%25", Some("/tmp/100%")),
            ("file:/tmp/x", Some("/tmp/x")),
            ("tidemill:///tmp/my books", Some("/tmp/my books")),
            ("tidemill:////tmp/x", Some("/tmp/x")),
            ("tidemill://", Some(".")),
            ("file:x", None),
            ("/tmp/x", None),
            ("s3://bucket/x", None),
        ] {
            let found = path_of_url(url).map(|path| path.expect(url));
            assert_eq!(found.as_deref(), path.map(Path::new), "{url}");
        }
        let error = path_of_url("file://books/x").expect("a URL").expect_err("another host");
        assert!(
            error.to_string().contains("books is read as the name of a host"),
            "{error}"
        );
    }

    #[test]
    fn a_name_that_leads_nowhere_says_what_is_there() {
        let folder = folder_with(&["orders.csv", "orders.jsonl", "notes.csv"]);
        let mut names = Names::default();
        names.set_dir(folder.path());
        let error = |name: &str| names.find(name).expect_err(name).to_string();
        assert!(
            error("nots").ends_with("has notes, orders.csv, orders.jsonl"),
            "{}",
            error("nots")
        );
        assert!(error("orders").contains("orders.csv") && error("orders").contains("orders.jsonl"));
        assert!(error(r"D:\X.DBF").contains("--drive D=FOLDER"));
        assert!(error("clickhouse://u:secret@localhost/x").contains("clickhouse://u:***@localhost/x"));
        assert!(error("postgres://u:secret@localhost/x").contains("postgres://u:***@localhost/x"));
    }
}
