//! From the name in a statement to the file that it means.
//!
//! Old applications name tables in many ways: `ORDERS`, `orders.dbf`, `C:\DATA\ORDERS.DBF`, in whatever case, on file
//! systems that did not tell cases apart. [`Names`] tries, in this order: a name given by `--attach`, the path as it
//! stands (under `--dir` first, then under the current folder, each part also in another case), and a file under
//! `--dir` whose name without its extension is the one that was asked for.
//!
//! A name with `*`, `?` or `[` in it that is no file's is a pattern: the files that fit it are one table. `orders@3.riegeli`
//! and `orders-*-of-00003.riegeli` name the shards `orders-00000-of-00003.riegeli` and so on, all of which must be there. URLs
//! of objects are patterns in the same way, without `?`.
//! `-` is standard input.
//!
//! `clickhouse://host/database/table` and `cql://host/keyspace/table` are tables of servers. Where `--dir` or `--attach` names a database, its tables are known
//! by their names alone, and as `name.table`.

use std::path::{Component, Path, PathBuf};

use tidemill_trust::{SecretUrl, without_secrets};
use url::Url;

use crate::location::{Format, Location, Place};
use crate::server_url::ServerUrl;
use crate::{Error, Result, shards};

/// The settings that lead from a name to a file.
#[derive(Clone, Debug, Default)]
pub struct Names {
    dir: Option<PathBuf>,
    database: Option<ServerUrl>,
    attached: Vec<(String, String)>,
    drives: Vec<(char, PathBuf)>,
}

impl Names {
    /// Sets the folder whose files may be named without path and extension, or the URL of a database whose tables may be named
    /// without it. Default: none; the current folder.
    pub fn set_dir(&mut self, dir: impl Into<PathBuf>) {
        let dir = dir.into();
        match dir.to_str().and_then(ServerUrl::new) {
            Some(url) => self.set_database(url),
            None => self.dir = Some(dir),
        }
    }

    /// Sets the database of a server whose tables may be named by their names alone. Default: none.
    pub fn set_database(&mut self, database: ServerUrl) {
        self.database = Some(database);
    }

    /// Gives the table at `place` (a path or a URL) a name of its own; of a database, the tables are then `name.table`.
    pub fn attach(&mut self, name: impl Into<String>, place: impl Into<String>) {
        self.attached.push((name.into(), place.into()));
    }

    /// Maps a Windows drive letter to a folder. Without a mapping, a path with a drive letter is an error.
    pub fn map_drive(&mut self, letter: char, folder: impl Into<PathBuf>) {
        self.drives.push((letter.to_ascii_uppercase(), folder.into()));
    }

    /// The folder whose tables may be named without path and extension, where one is set.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.dir.as_deref()
    }

    /// The database whose tables may be named without it, where one is set.
    pub(crate) fn database(&self) -> Option<&ServerUrl> {
        self.database.as_ref()
    }

    /// The names that were given, and the places that they stand for.
    pub(crate) fn attached(&self) -> impl Iterator<Item = (&str, &str)> {
        self.attached
            .iter()
            .map(|(name, place)| (name.as_str(), place.as_str()))
    }

    /// The names that were given to files of tables.
    pub(crate) fn attached_files(&self) -> impl Iterator<Item = (String, PathBuf)> {
        let attached = self.attached.iter();
        attached.filter_map(|(name, place)| {
            let file = self.path(place).ok().flatten()?;
            Some((name.clone(), file))
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

    /// The table that `name` means.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] with what was looked for and what is there instead; [`Error::Ambiguous`] when files of
    /// several formats share the name.
    pub fn table(&self, name: &str) -> Result<Location> {
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
        if let Some((database, table)) = name.split_once('.')
            && let Some((_, place)) = self
                .attached
                .iter()
                .find(|(attached, _)| attached.eq_ignore_ascii_case(database))
            && let Some(url) = ServerUrl::new(place)
            && !url.names_table()
        {
            return Location::server(url.with_table(table));
        }
        if name == "-" {
            return Ok(Location::standard_input());
        }
        if let Some(location) = self.place(name)? {
            return Ok(location);
        }
        match &self.database {
            Some(database) => Location::server(database.with_table(name)),
            None => self.by_stem(name),
        }
    }

    /// The table at a place that is told by a path, a pattern or a URL.
    fn place(&self, text: &str) -> Result<Option<Location>> {
        if let Some(url) = ServerUrl::new(text) {
            return Location::server(url).map(Some);
        }
        if is_object(text) {
            let url = Url::parse(text).map_err(|error| Error::NotFound {
                name: SecretUrl::new(text).to_string(),
                hint: format!("not a URL: {error}"),
            })?;
            return Location::object(url.into()).map(Some);
        }
        if let Some(path) = self.path(text)? {
            return match path.is_file() {
                true => Location::existing(&path).map(Some),
                false => Ok(None),
            };
        }
        let path = self.translate(text)?;
        if let Some(shards) = shards::all_of(&path) {
            return self.all_of(text, &shards).map(Some);
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
        // A name in brackets may still be the stem of a file.
        if files.is_empty() {
            return Ok(None);
        }
        if let Some(expected) = shards::siblings(files.iter().map(PathBuf::as_path)) {
            return self.all_of(text, &expected).map(Some);
        }
        Location::shards(text, files).map(Some)
    }

    /// The table of these shards, none of which may be missing.
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

    /// The existing file or folder that a path from the command line or a statement means; `None` when there is none, and for URLs
    /// of objects and servers.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a URL of a store that this version does not know and for an unmapped drive letter.
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

    /// The path that `text` means, whether or not anything is there: drive letters and backslashes are translated.
    ///
    /// # Errors
    ///
    /// As [`Names::path`].
    pub fn translate(&self, text: &str) -> Result<PathBuf> {
        if let Some((scheme, rest)) = text.split_once("://") {
            if scheme.eq_ignore_ascii_case("file") {
                return Ok(PathBuf::from(rest));
            }
            return Err(Error::Unsupported {
                what: format!("{}: a store of the kind {scheme}://", SecretUrl::new(text)),
                hint: format!(
                    "tables are read from files, from clickhouse and cql, and from {}",
                    OBJECT_STORES.join(", ")
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
                    hint: format!("say what drive {letter}: is with --drive {letter}=FOLDER"),
                });
            };
            return Ok(folder.join(chars.as_str().trim_start_matches(['\\', '/']).replace('\\', "/")));
        }
        // On systems where a backslash is an ordinary letter a file may still have one in its name.
        if cfg!(not(windows)) && text.contains('\\') && !Path::new(text).exists() {
            return Ok(PathBuf::from(text.replace('\\', "/")));
        }
        Ok(PathBuf::from(text))
    }

    /// The tables of a folder, by name: every file whose extension tells a format.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the folder can't be read.
    pub fn tables_in(folder: &Path) -> Result<Vec<Location>> {
        let mut tables = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(Error::io(folder, "list"))? {
            let path = entry.map_err(Error::io(folder, "list"))?.path();
            let path = path.strip_prefix("./").map_or_else(|_| path.clone(), Path::to_path_buf);
            if let Some(format) = Format::from_extension(&path)
                && path.is_file()
            {
                tables.push((path, format));
            }
        }
        tables.sort_by(|(a, _), (b, _)| a.cmp(b));
        let tables = tables.into_iter().map(|(path, format)| Location {
            place: Place::File(path),
            format,
        });
        let tables = tables.collect();
        Ok(tables)
    }

    fn by_stem(&self, name: &str) -> Result<Location> {
        let folder = self.dir.clone().unwrap_or_else(|| PathBuf::from("."));
        let tables = match Self::tables_in(&folder) {
            Ok(tables) => tables,
            Err(_) if self.dir.is_none() => Vec::new(),
            Err(error) => return Err(error),
        };
        let mut fitting: Vec<Location> = tables
            .iter()
            .filter(|table| table.table_name().eq_ignore_ascii_case(name))
            .cloned()
            .collect();
        match fitting.len() {
            0 => Err(Error::NotFound {
                name: name.to_owned(),
                hint: not_found_hint(&folder, &tables),
            }),
            1 => Ok(fitting.remove(0)),
            _ => Err(Error::Ambiguous {
                name: name.to_owned(),
                candidates: fitting.iter().map(Location::to_string).collect(),
            }),
        }
    }
}

/// The schemes of URLs whose objects can be read.
const OBJECT_STORES: [&str; 6] = ["s3", "gs", "az", "abfss", "http", "https"];

/// Whether the text is the URL of an object that can be read.
fn is_object(text: &str) -> bool {
    text.split_once("://")
        .is_some_and(|(scheme, _)| OBJECT_STORES.iter().any(|known| known.eq_ignore_ascii_case(scheme)))
}

/// The path itself, or the one that differs from it only in case. A part that fits several entries is not guessed at.
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

fn not_found_hint(folder: &Path, tables: &[Location]) -> String {
    const NAMED: usize = 12;
    let place = match folder.to_str() {
        Some(".") => "this folder".to_owned(),
        _ => folder.display().to_string(),
    };
    if tables.is_empty() {
        return format!("{place} holds no tables; --dir names the folder of your tables");
    }
    let mut names: Vec<String> = tables.iter().take(NAMED).map(Location::table_name).collect();
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

    #[test]
    fn names_lead_to_files() {
        let folder = folder_with(&["ORDERS.DBF", "Data/2024/CUST.dbf", "notes.csv"]);
        let mut names = Names::default();
        names.set_dir(folder.path());
        names.attach("People", "data/2024/cust.dbf");
        names.map_drive('c', folder.path());
        for (name, file) in [
            ("orders.dbf", "ORDERS.DBF"),
            ("Orders", "ORDERS.DBF"),
            ("PEOPLE", "Data/2024/CUST.dbf"),
            (r"C:\DATA\2024\CUST.DBF", "Data/2024/CUST.dbf"),
            (r"c:/orders.dbf", "ORDERS.DBF"),
            (r"DATA\2024\cust.dbf", "Data/2024/CUST.dbf"),
            ("NOTES", "notes.csv"),
        ] {
            assert_eq!(
                names.table(name).expect(name).file().expect(name),
                folder.path().join(file),
                "{name}"
            );
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
            assert_eq!(names.table(name).expect(name).place, Place::Server(url));
        }
    }

    #[test]
    fn a_name_that_leads_nowhere_says_what_is_there() {
        let folder = folder_with(&["ORDERS.DBF", "orders.parquet", "notes.csv"]);
        let mut names = Names::default();
        names.set_dir(folder.path());
        let error = |name: &str| names.table(name).expect_err(name).to_string();
        assert!(
            error("nots").ends_with("has ORDERS, notes, orders"),
            "{}",
            error("nots")
        );
        assert!(error("orders").contains("ORDERS.DBF") && error("orders").contains("orders.parquet"));
        assert!(error(r"D:\X.DBF").contains("--drive D=FOLDER"));
        assert!(error("clickhouse://u:secret@localhost/x").contains("clickhouse://u:***@localhost/x"));
        assert!(error("postgres://u:secret@localhost/x").contains("postgres://u:***@localhost/x"));
    }
}
