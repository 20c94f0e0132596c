//! The files of one table, which belong together: the table, its memo file, its production index, its code page, and a database
//! container that holds nothing but its names.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::beside::beside;
use crate::container::Container;
use crate::error::{Error, Result};
use crate::lock::{Sharing, open_shared_or_exclusive};
use crate::own_name::{self, folder_of};
use crate::regular_file;
use crate::transaction::{self, Disk, Replacement, Step, TheDisk};

/// What lies beside a table under its name and belongs to it. Index files that the program names itself, such as those of
/// Clipper, do not: nobody knows whose they are.
const COMPANIONS: [&str; 6] = ["fpt", "dbt", "smt", "cdx", "mdx", "cpg"];
/// What lies beside an ADT, and beside no other table.
const OF_ADT: [&str; 3] = ["adm", "adi", "cpg"];
/// What lies beside a data dictionary of Advantage.
const OF_DICTIONARY: [&str; 2] = ["am", "ai"];
/// Those of a database container, which may be those of other tables too.
const CONTAINER: [&str; 3] = ["dbc", "dct", "dcx"];
/// What lies beside a container, when that is the table that is meant.
const OF_CONTAINER: [&str; 3] = ["dct", "dcx", "cpg"];

/// The files of a table. It need not be there yet.
///
/// ```
/// use tidemill_xbase::{CivilDate, CreateOptions, Existing, FieldSpec, TableSet, TableWriter};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let today = CivilDate { year: 2026, month: 11, day: 26 };
/// let fields = [FieldSpec::new("NAME", 'C', 10, 0), FieldSpec::new("NOTE", 'M', 10, 0)];
/// let people = TableSet::of(folder.join("people.dbf"));
///
/// // The new files are made in a folder beside the old ones, under the names that they are to have.
/// let draft = tempfile::Builder::new().prefix(TableSet::DRAFT).tempdir_in(folder)?;
/// TableWriter::create(draft.path().join("people.dbf"), &fields, &CreateOptions::new(today))?.finish()?;
/// people.publish(draft.path(), Existing::Refuse)?;
///
/// assert_eq!(people.files()?, [folder.join("people.dbf"), folder.join("people.fpt")]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct TableSet {
    table: PathBuf,
}

/// What becomes of files of the table that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// They are an error, and stay.
    Refuse,
    /// The new ones take their places, and those that the new table has none of are removed.
    Replace,
}

impl TableSet {
    /// What the name of a folder begins with that new files are made in.
    pub const DRAFT: &'static str = own_name::DRAFT;

    /// Those of the table at this path.
    pub fn of(table: impl AsRef<Path>) -> Self {
        Self {
            table: table.as_ref().to_owned(),
        }
    }

    /// The table's path.
    pub fn table(&self) -> &Path {
        &self.table
    }

    /// The path of the table itself, where `table` is a symbolic link to one: its log, its index and its memos lie there. A link keeps its
    /// own path where such files lie beside it and none beside the table, as in stores that name files by their content.
    ///
    /// # Errors
    /// [`Error::Io`] for a link that leads nowhere.
    pub fn home(table: &Path) -> Result<PathBuf> {
        let real = regular_file::behind_link(table)?;
        let companions = if is_adt(table) { &OF_ADT[..] } else { &COMPANIONS };
        if real != table && beside(&real, companions).is_err() && beside(table, companions).is_ok() {
            return Ok(table.to_owned());
        }
        Ok(real)
    }

    /// Those of its files that are there, the table first: `people.dbf`, and `people.fpt`, `.dbt`, `.smt`, `.cdx`, `.mdx`, `.cpg` in any
    /// case, but not those of another table whose name differs by case alone. Links, folders and the like count too. So do `people.dbc`,
    /// `.dct` and `.dcx` when that database container knows this table alone, and has no view or stored procedure.
    ///
    /// # Errors
    /// [`Error::Io`] when the folder cannot be read.
    pub fn files(&self) -> Result<Vec<PathBuf>> {
        let folder = folder_of(&self.table);
        let io = |e| Error::io(folder, "read", e);
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(io(e)),
        };
        let names = entries
            .map(|entry| Ok(entry?.file_name()))
            .collect::<io::Result<Vec<_>>>();
        let names = names.map_err(io)?;
        let own = self.table.file_name().unwrap_or_default();
        let extensions = match self.is_container() {
            true => OF_CONTAINER.to_vec(),
            false if is_adt(&self.table) => OF_ADT.to_vec(),
            false if has_extension(&self.table, "add") => OF_DICTIONARY.to_vec(),
            false if self.has_own_container(&names) => [&COMPANIONS[..], &CONTAINER[..]].concat(),
            false => COMPANIONS.to_vec(),
        };
        let is_companion = |name: &OsStr| self.has_companion(name, &extensions, &names);
        let mut files: Vec<&OsString> = names.iter().filter(|name| is_companion(name)).collect();
        files.sort();
        let table = names.iter().filter(|name| *name == own);
        Ok(table.chain(files).map(|name| self.table.with_file_name(name)).collect())
    }

    /// Refuses to make a table where one of its files is there, be it a stranger's: a new table would write over it, or take it
    /// for its own.
    ///
    /// # Errors
    /// [`Error::Exists`] with the first that is there; [`Error::Io`].
    pub(crate) fn refuse_existing(&self) -> Result<()> {
        self.replaced(Existing::Refuse).map(drop)
    }

    /// Returns the files that a new table replaces.
    ///
    /// # Errors
    /// [`Error::Exists`] for a file that may not be replaced: any of them under [`Existing::Refuse`], and a memo file, an index or
    /// the like without its table, which belongs to somebody else; [`Error::Io`].
    pub fn replaced(&self, existing: Existing) -> Result<Vec<PathBuf>> {
        let files = self.files()?;
        let is_table = |file: &PathBuf| file.file_name() == self.table.file_name();
        match files.first() {
            Some(first) if existing == Existing::Refuse || !is_table(first) => {
                Err(Error::Exists { path: first.clone() })
            }
            _ => Ok(files),
        }
    }

    /// Lets the files in the folder `draft`, which lies beside the table, take their places under the names that they have there:
    /// all of them or none, whatever happens to the process or the machine. Old files of the table that the draft has none of, as an
    /// index or a memo file, go with them. The folder is removed. Returns how many bytes the new files have.
    ///
    /// What a crash cuts off is gone on with by [`crate::recover`], or when the table is opened for writing; readers are told
    /// of it until then. A link in the place of the table is replaced, and what it leads to stays.
    ///
    /// # Errors
    /// [`Error::Exists`] for a file that is there and may not be replaced, [`Error::Locked`] when somebody has the table open,
    /// [`Error::Misuse`] when the draft has not the table, or lies elsewhere, [`Error::NotRegular`] for a folder in the place of a
    /// file, as [`crate::recover_table`], [`Error::Io`]: nothing is changed then, and the draft is where it was.
    /// [`Error::Unknown`] when the disk failed in the middle: recover the folder once it works again.
    pub fn publish(&self, draft: impl AsRef<Path>, existing: Existing) -> Result<u64> {
        let disk: Arc<dyn Disk> = Arc::new(TheDisk);
        self.publish_on(draft.as_ref(), existing, &disk)
    }

    pub(crate) fn publish_on(&self, draft: &Path, existing: Existing, disk: &Arc<dyn Disk>) -> Result<u64> {
        let _alone = alone_in(folder_of(&self.table));
        // What is not finished would be gone on with over the new files.
        transaction::recover_table(&self.table, None)?;
        let old = self.replaced(existing)?;
        self.refuse_strange_containers(draft, &old)?;
        let _held = match regular_file::open_to_write(&self.table) {
            Ok(table) => {
                open_shared_or_exclusive(&table, &self.table, Sharing::Exclusive, Duration::ZERO)?;
                Some(table)
            }
            // A new table, or a link that is replaced.
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => None,
            Err(Error::NotRegular { .. }) => None,
            Err(e) => return Err(e),
        };
        replace(&self.table, draft, &old, disk)
    }

    /// Refuses to put a new container in the place of one that other tables have too.
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::Io`].
    fn refuse_strange_containers(&self, draft: &Path, old: &[PathBuf]) -> Result<()> {
        for extension in CONTAINER {
            let is_new = beside(&draft.join(self.table.file_name().unwrap_or_default()), &[extension]).is_ok();
            if let (true, Ok(path)) = (is_new, beside(&self.table, &[extension]))
                && !old.contains(&path)
            {
                return Err(Error::Exists { path });
            }
        }
        Ok(())
    }

    fn is_container(&self) -> bool {
        self.table
            .extension()
            .is_some_and(|own| own.eq_ignore_ascii_case("dbc"))
    }

    /// Whether a container of the table's name has its names and nothing else.
    fn has_own_container(&self, names: &[OsString]) -> bool {
        let is_own = |name: &&OsString| {
            let container = Container::open(self.table.with_file_name(name));
            container.is_ok_and(|container| container.is_only_of(&self.table))
        };
        let is_one = |name: &&OsString| self.has_companion(name, &CONTAINER[..1], names);
        let mut containers = names.iter().filter(is_one).peekable();
        containers.peek().is_some() && containers.all(|name| is_own(&name))
    }

    fn has_companion(&self, name: &OsStr, extensions: &[&str], all: &[OsString]) -> bool {
        let path = Path::new(name);
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let (stem, own) = (
            path.file_stem().unwrap_or_default(),
            self.table.file_stem().unwrap_or_default(),
        );
        if !extensions.contains(&extension.as_str()) {
            return false;
        }
        stem == own || (lower(stem) == lower(own) && !all.iter().any(|other| is_table_of(Path::new(other), stem)))
    }
}

/// Keeps other programs of ours from putting tables into a folder until the file is closed, so that each sees what the others have put
/// there. Where folders have no locks, or somebody takes very long, nobody waits.
fn alone_in(folder: &Path) -> Option<File> {
    const PATIENCE: Duration = Duration::from_secs(10);
    let opened = File::open(folder).ok()?;
    open_shared_or_exclusive(&opened, folder, Sharing::Exclusive, PATIENCE).ok()?;
    Some(opened)
}

/// Lets the files of a draft take their places beside a table, and removes those of the old ones that it has none of.
///
/// # Errors
/// As [`TableSet::publish`].
pub(crate) fn replace(table: &Path, draft: &Path, old: &[PathBuf], disk: &Arc<dyn Disk>) -> Result<u64> {
    let folder = folder_of(table);
    let name = draft.file_name().unwrap_or_default();
    let is_beside = std::fs::canonicalize(folder_of(draft)).ok() == std::fs::canonicalize(folder).ok();
    let misuse = |why: &str| Err(Error::Misuse(format!("{}: {why}", draft.display())));
    if !is_beside || !name.to_string_lossy().starts_with(own_name::DRAFT) {
        return misuse("a draft is a folder beside its table, and its name begins with .tidemill-");
    }
    let (mut steps, mut bytes) = (Vec::new(), 0);
    for entry in std::fs::read_dir(draft).map_err(|e| Error::io(draft, "read", e))? {
        let name = PathBuf::from(entry.map_err(|e| Error::io(draft, "read", e))?.file_name());
        let path = draft.join(&name);
        let file = regular_file::open_to_write(&path)?;
        let len = file.metadata().map_err(|e| Error::io(&path, "open", e))?.len();
        let file = disk.storage(&path, Arc::new(file));
        file.sync().map_err(|e| Error::io(&path, "sync", e))?;
        steps.push(Step::Put(name, len));
        bytes += len;
    }
    let is_table = |step: &Step| Some(step.name().as_os_str()) == table.file_name();
    if !steps.iter().any(is_table) {
        return misuse("the draft has no table");
    }
    for step in &steps {
        regular_file::is_no_folder(&folder.join(step.name()))?;
    }
    let is_new = |path: &Path| {
        steps
            .iter()
            .any(|step| Some(step.name().as_os_str()) == path.file_name())
    };
    let mut gone = Vec::new();
    for path in old.iter().filter(|path| !is_new(path)) {
        regular_file::is_no_folder(path)?;
        gone.push(Step::Remove(path.file_name().unwrap_or_default().into()));
    }
    // Who sees the table finds what belongs to it.
    steps.sort_by_key(is_table);
    gone.extend(steps);
    // Whoever made the draft removes it, whatever happens; what a crash leaves of it is still needed.
    let (own, ()) = own_name::make(folder, own_name::DRAFT, "", |path| match path.exists() {
        true => Err(Error::Exists { path: path.to_owned() }),
        false => disk.rename(draft, path),
    })?;
    let replacement = Replacement {
        draft: own.file_name().unwrap_or_default().into(),
        steps: gone,
    };
    match transaction::replace(folder, &replacement, disk) {
        Ok(()) => Ok(bytes),
        Err(Error::Unknown(e)) => Err(Error::Unknown(e)),
        Err(e) => {
            // The first error is returned.
            let _ = disk.rename(&own, draft);
            Err(e)
        }
    }
}

fn is_table_of(path: &Path, stem: &OsStr) -> bool {
    path.file_stem() == Some(stem)
        && path
            .extension()
            .is_some_and(|extension| ["dbf", "adt"].iter().any(|own| extension.eq_ignore_ascii_case(own)))
}

fn is_adt(table: &Path) -> bool {
    has_extension(table, "adt")
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|own| own.eq_ignore_ascii_case(extension))
}

fn lower(name: &OsStr) -> String {
    name.to_string_lossy().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_table_are_those_of_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let check = |there: &[&str], table: &str, expected: &[&str]| {
            for name in there {
                std::fs::write(folder.path().join(name), b"").unwrap();
            }
            let set = TableSet::of(folder.path().join(table));
            let found: Vec<_> = set.files().unwrap();
            let expected: Vec<_> = expected.iter().map(|name| folder.path().join(name)).collect();
            assert_eq!(found, expected, "{table}");
            assert_eq!(set.refuse_existing().is_err(), !expected.is_empty());
        };
        check(&["other.dbf", "people.txt", "people.ntx"], "people.dbf", &[]);
        check(&["people.FPT"], "people.dbf", &["people.FPT"]);
        check(&["PEOPLE.CDX"], "people.dbf", &["PEOPLE.CDX", "people.FPT"]);
        check(
            &["people.dbf", "people.cdx"],
            "people.dbf",
            &["people.dbf", "PEOPLE.CDX", "people.FPT", "people.cdx"],
        );
        // Two tables.
        check(
            &["PEOPLE.DBF"],
            "people.dbf",
            &["people.dbf", "people.FPT", "people.cdx"],
        );
        check(&[], "PEOPLE.DBF", &["PEOPLE.DBF", "PEOPLE.CDX"]);
        assert_eq!(
            TableSet::of(folder.path().join("none/x.dbf")).files().unwrap(),
            [] as [PathBuf; 0]
        );
    }
}
