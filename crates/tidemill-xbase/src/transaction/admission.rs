//! Which logs are obeyed, and in which files: a log is bytes in a folder that anybody may have put there.
//!
//! A log that is refused changes nothing, and stays for somebody to look at. What is refused here is not written either: a
//! transaction over such a file is refused when the file is opened with a log.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Component, Path};

use super::group::{FileChange, Group};
use super::log_file::Logged;
use super::replacing;
use crate::error::{Error, NotRecovered, RefusedLog, Result};
use crate::regular_file;

/// The extensions of the files that a log may change: tables, memos and indexes, also those of data dictionaries and of Visual FoxPro's
/// containers.
const EXTENSIONS: [&str; 31] = [
    "adt", "adm", "adi", "add", "am", "ai", "dbf", "dbt", "fpt", "smt", "cdx", "idx", "ntx", "nsx", "mdx", "ndx",
    "dbc", "dct", "dcx", "scx", "sct", "vcx", "vct", "frx", "frt", "lbx", "lbt", "mnx", "mnt", "pjx", "pjt",
];

/// Whether a file of this name may be one of a table.
pub(super) fn is_of_table(name: &Path) -> bool {
    let extension = name.extension().and_then(OsStr::to_str).unwrap_or_default();
    EXTENSIONS.iter().any(|known| known.eq_ignore_ascii_case(extension))
}

/// The extensions of files with records, which a reader opens first.
const TABLES: [&str; 10] = ["dbf", "adt", "add", "dbc", "scx", "vcx", "frx", "lbx", "mnx", "pjx"];

/// Whether a file of this name has the records of a table, and not its memos or an index.
pub(super) fn is_table(name: &Path) -> bool {
    let extension = name.extension().and_then(OsStr::to_str).unwrap_or_default();
    TABLES.iter().any(|known| known.eq_ignore_ascii_case(extension))
}

/// Whether this names a file in whatever folder it is looked for, and nothing else: no separator, no `..`, no NUL.
pub(super) fn is_plain(name: &Path) -> bool {
    let mut parts = name.components();
    let is_one = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    let bytes = name.as_os_str().as_encoded_bytes();
    is_one && !bytes.iter().any(|byte| matches!(byte, 0 | b'/' | b'\\'))
}

/// Refuses a log that belongs to neither the user nor the owner of its folder.
///
/// # Errors
/// [`Error::RefusedLog`], [`Error::Io`].
pub(super) fn check_log(log: &Path, folder: &Path, file: &File) -> Result<Owner> {
    let owner = Owner::of(&file.metadata().map_err(|e| Error::io(log, "open", e))?);
    let of_folder = Owner::of(&std::fs::metadata(folder).map_err(|e| Error::io(folder, "open", e))?);
    if owner.is_of_user() || owner == of_folder {
        return Ok(owner);
    }
    let expected = format!("a log of the user or of the folder's owner ({of_folder})");
    Err(refused(log, log, expected, owner.to_string()))
}

/// Refuses what a group says of its files before any of them is looked at.
///
/// # Errors
/// [`Error::RefusedLog`].
pub(super) fn check_group(log: &Path, group: &Group) -> Result<()> {
    group.files.iter().try_for_each(|change| {
        check_name(log, &change.path)?;
        check_sizes(log, change)
    })
}

/// # Errors
/// [`Error::RefusedLog`] for a name that is no plain one of a table's file.
pub(super) fn check_name(log: &Path, name: &Path) -> Result<()> {
    if !is_plain(name) {
        let expected = "the name of a file in the log's own folder".to_owned();
        return Err(refused(log, name, expected, "a path".to_owned()));
    }
    if !is_of_table(name) {
        let expected = "a table, a memo file or an index".to_owned();
        let extension = name.extension().unwrap_or_default().to_string_lossy();
        return Err(refused(log, name, expected, format!("the extension {extension:?}")));
    }
    Ok(())
}

/// A file grows by no more bytes than the log has for it, and none of them lies behind its end.
fn check_sizes(log: &Path, change: &FileChange) -> Result<()> {
    let (old_len, new_len) = (change.old_len, change.new_len);
    let mut written = 0u64;
    for piece in &change.pieces {
        written = written.saturating_add(piece.after.len() as u64);
        if piece.end() > new_len {
            let expected = format!("bytes within its {new_len}");
            return Err(refused(
                log,
                &change.path,
                expected,
                format!("some up to {}", piece.end()),
            ));
        }
        if piece.offset.saturating_add(piece.before.len() as u64) > old_len {
            let expected = format!("bytes that were within its {old_len}");
            return Err(refused(
                log,
                &change.path,
                expected,
                format!("some from {} on", piece.offset),
            ));
        }
    }
    if new_len.saturating_sub(old_len) > written {
        let expected = format!("at most {written} bytes more, those that the log has");
        return Err(refused(
            log,
            &change.path,
            expected,
            format!("{old_len} that become {new_len}"),
        ));
    }
    Ok(())
}

/// Opens a file that a log of this owner names.
///
/// # Errors
/// [`Error::Recovery`] when it is not there; [`Error::RefusedLog`] for a link, another name of a file elsewhere, and a file of
/// somebody else; [`Error::Io`].
pub(super) fn open_target(log: &Path, owner: Owner, path: &Path) -> Result<File> {
    let file = regular_file::open_to_write(path).map_err(|e| match e {
        Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            not_recovered(log, path, "is not there".to_owned())
        }
        Error::NotRegular { found, .. } => refused(log, path, "a regular file".to_owned(), found.to_owned()),
        e => e,
    })?;
    let found = file.metadata().map_err(|e| Error::io(path, "open", e))?;
    check_target(log, owner, path, &found).map(|()| file)
}

fn check_target(log: &Path, owner: Owner, path: &Path, found: &Metadata) -> Result<()> {
    if !found.is_file() {
        return Err(refused(
            log,
            path,
            "a regular file".to_owned(),
            "something else".to_owned(),
        ));
    }
    let names = names_of(found);
    if names > 1 {
        let expected = "a file of one name".to_owned();
        return Err(refused(
            log,
            path,
            expected,
            format!("one of {names} names (hard links)"),
        ));
    }
    let of_file = Owner::of(found);
    // A log of the user was made by him, or unpacked by him; he may share the folder with others.
    if of_file != owner && !owner.is_of_user() {
        let expected = format!("a file of the log's owner ({owner})");
        return Err(refused(log, path, expected, format!("one of {of_file}")));
    }
    Ok(())
}

/// Refuses a log by all that can be seen without opening what it names.
///
/// # Errors
/// [`Error::RefusedLog`], [`Error::Recovery`], [`Error::Io`].
pub(super) fn check(log: &Path, folder: &Path, groups: &[Logged]) -> Result<()> {
    let owner = check_log(log, folder, &regular_file::open_found_to_read(log)?)?;
    for group in groups {
        match group {
            Logged::Replacement(replacement) => replacing::check(log, replacement)?,
            Logged::Changes(group) => {
                check_group(log, group)?;
                for change in &group.files {
                    let path = folder.join(&change.path);
                    match std::fs::symlink_metadata(&path) {
                        Ok(found) => check_target(log, owner, &path, &found)?,
                        Err(_) => return Err(not_recovered(log, &path, "is not there".to_owned())),
                    }
                }
            }
        }
    }
    Ok(())
}

/// Refuses a transaction over a file that no log may name.
///
/// # Errors
/// [`Error::Misuse`].
pub(super) fn check_attached(path: &Path, file: &File) -> Result<()> {
    let misuse = |why: &str| {
        let path = path.display();
        Err(Error::Misuse(format!(
            "{path}: no transaction can change it, since {why}"
        )))
    };
    let name = Path::new(path.file_name().unwrap_or_default());
    if !is_plain(name) || !is_of_table(name) {
        return misuse("its name is not that of a table, a memo file or an index");
    }
    let found = file.metadata().map_err(|e| Error::io(path, "open", e))?;
    match names_of(&found) {
        0 | 1 => Ok(()),
        names => misuse(&format!(
            "it has {names} names (hard links), and a crash could not be recovered from; copy it"
        )),
    }
}

pub(super) fn refused(log: &Path, file: &Path, expected: String, found: String) -> Error {
    Error::RefusedLog(Box::new(RefusedLog {
        log: log.to_owned(),
        file: file.to_owned(),
        expected,
        found,
    }))
}

pub(super) fn not_recovered(log: &Path, path: &Path, why: String) -> Error {
    Error::Recovery(Box::new(NotRecovered {
        log: log.to_owned(),
        path: path.to_owned(),
        why,
    }))
}

/// Whose a file is, where the system says so; elsewhere all are of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner(u32);

impl Owner {
    #[cfg(unix)]
    pub(super) fn of(found: &Metadata) -> Self {
        Self(std::os::unix::fs::MetadataExt::uid(found))
    }

    #[cfg(not(unix))]
    pub(super) fn of(_found: &Metadata) -> Self {
        Self(0)
    }

    #[cfg(unix)]
    pub(super) fn is_of_user(self) -> bool {
        self.0 == nix::unistd::geteuid().as_raw()
    }

    #[cfg(not(unix))]
    pub(super) fn is_of_user(self) -> bool {
        true
    }
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "user {}", self.0)
    }
}

/// How many names lead to a file.
#[cfg(unix)]
fn names_of(found: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(found)
}

#[cfg(not(unix))]
fn names_of(_found: &Metadata) -> u64 {
    1
}

#[cfg(test)]
mod tests {
    use super::super::group::Piece;
    use super::*;

    #[test]
    fn only_plain_names_of_tables_pass() {
        let passes = |name: &str| check_name(Path::new("x.tmlog"), Path::new(name)).is_ok();
        for name in ["t.dbf", "T.DBF", "t.fpt", "t.ndx", "a b.cdx", "..dbf", "t.x.ntx"] {
            assert!(passes(name), "{name}");
        }
        for name in [
            "",
            ".",
            "..",
            "/t.dbf",
            "../t.dbf",
            "a/t.dbf",
            "./t.dbf",
            "t.dbf/",
            "a\\t.dbf",
            "t\0.dbf",
            "t.conf",
            "dbf",
            ".dbf",
            "t.cpg",
            "t.tmlog",
            "t.dbf.new",
        ] {
            assert!(!passes(name), "{name}");
        }
    }

    #[test]
    fn a_change_beyond_what_the_log_has_bytes_for_is_refused() {
        let check = |old_len, new_len, offset, before: usize, after: usize| {
            let change = FileChange {
                path: "t.dbf".into(),
                shared: false,
                old_len,
                new_len,
                locks: Vec::new(),
                pieces: vec![Piece {
                    offset,
                    before: vec![0; before],
                    after: vec![0; after],
                }],
            };
            check_sizes(Path::new("x.tmlog"), &change).is_ok()
        };
        assert!(check(10, 10, 2, 3, 3) && check(10, 13, 9, 1, 4) && check(10, 0, 0, 0, 0));
        assert!(!check(10, 10, 9, 1, 2), "behind the end");
        assert!(!check(10, 20, 9, 1, 4), "grows by more than is there");
        assert!(!check(10, 1 << 40, (1 << 40) - 4, 0, 4), "as a sparse file");
        assert!(!check(10, 20, 9, 2, 11), "bytes that were not there");
        assert!(!check(0, u64::MAX, u64::MAX, 0, 2));
    }
}
