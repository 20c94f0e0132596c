//! The one way to open a file that lies in a folder which anybody may have filled: a table and what lies beside it.
//!
//! Only regular files are opened. A named pipe would keep the caller waiting for whoever writes into it, a device may have no
//! end, and a folder is no file: each is an error that names it. Reading follows a symbolic link to a table, since users have
//! tables elsewhere; what belongs to the table is read where the link is, or where the table is. Nothing is written through a link, but for the path of a table that the caller named himself:
//! whoever can put a link beside a table would else choose which of the caller's files is changed. What belongs to a table that is named by
//! a link lies beside the table, unless it lies beside the link.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::{Error, Result};
use crate::stamp::FileStamp;

/// Opens a file to read it.
///
/// # Errors
/// [`Error::Io`]; [`Error::NotRegular`] for a pipe, a device or a folder, without waiting for it.
pub(crate) fn open_to_read(path: &Path) -> Result<File> {
    open(path, File::options().read(true), FOLLOW)
}

/// Opens a table at the path that the caller named, to read and write it, also through a link.
///
/// # Errors
/// As [`open_to_read`].
pub(crate) fn open_named_to_write(path: &Path) -> Result<File> {
    open(path, File::options().read(true).write(true), FOLLOW)
}

/// Opens a file that was found beside a table, to read and write it.
///
/// # Errors
/// As [`open_to_read`]; [`Error::NotRegular`] for a symbolic link too.
pub(crate) fn open_to_write(path: &Path) -> Result<File> {
    open(path, File::options().read(true).write(true), NO_FOLLOW)
}

/// Opens a file that was found in a folder, to read it; none of ours is a link.
///
/// # Errors
/// As [`open_to_read`]; [`Error::NotRegular`] for a symbolic link too.
pub(crate) fn open_found_to_read(path: &Path) -> Result<File> {
    open(path, File::options().read(true), NO_FOLLOW)
}

/// Whether a path still leads to a file that was opened by it.
pub(crate) fn is_at(path: &Path, file: &File) -> bool {
    let (there, open) = (FileStamp::of(path), file.metadata());
    let open = open.map(|open| FileStamp::new(&open, SystemTime::now()));
    there.is_ok_and(|there| open.is_ok_and(|open| open.is_of_file(&there)))
}

/// Makes a file that is not there yet, to read and write it. A link at its name is there.
///
/// # Errors
/// [`Error::Exists`], [`Error::Io`].
pub(crate) fn create(path: &Path) -> Result<File> {
    let created = File::options().read(true).write(true).create_new(true).open(path);
    created.map_err(|e| match e.kind() {
        io::ErrorKind::AlreadyExists => Error::Exists { path: path.to_owned() },
        _ => Error::io(path, "create", e),
    })
}

/// Where the table is that the caller named, if that is a link.
///
/// # Errors
/// [`Error::Io`].
pub(crate) fn behind_link(path: &Path) -> Result<PathBuf> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => std::fs::canonicalize(path).map_err(|e| Error::io(path, "open", e)),
        _ => Ok(path.to_owned()),
    }
}

/// Refuses a link that leads out of the table's folder, in the place of a file that belongs to a table: the bytes of another file would
/// else be shown as the table's own.
///
/// # Errors
/// [`Error::NotRegular`].
pub(crate) fn stays_beside(path: &Path, table: &Path) -> Result<()> {
    if !std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        return Ok(());
    }
    let folder = |path: &Path| std::fs::canonicalize(path).ok()?.parent().map(Path::to_owned);
    // Opening a link to nothing is an error of its own.
    let Some(target) = folder(path) else { return Ok(()) };
    let own = match table.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    match std::fs::canonicalize(own).ok().as_ref() == Some(&target) || folder(table).as_ref() == Some(&target) {
        true => Ok(()),
        false => Err(not_regular(path, "a symbolic link out of the table's folder")),
    }
}

/// Refuses a folder in the place of a file that is to be replaced or removed.
///
/// # Errors
/// [`Error::NotRegular`].
pub(crate) fn is_no_folder(path: &Path) -> Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => Err(not_regular(path, kind_of(&found))),
        _ => Ok(()),
    }
}

/// Refuses a link in the place of a file that is to be made anew.
///
/// # Errors
/// [`Error::NotRegular`], for what is there and is no regular file.
pub(crate) fn is_none_or_regular(path: &Path) -> Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Err(not_regular(path, "a symbolic link")),
        Ok(found) if !found.is_file() => Err(not_regular(path, kind_of(&found))),
        _ => Ok(()),
    }
}

/// All bytes of a file that is short by its nature.
///
/// # Errors
/// As [`open_to_read`]; [`Error::Corrupt`] when it has more than `limit` bytes.
pub(crate) fn read_short(path: &Path, what: &str, limit: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = open_to_read(path)?.take(limit + 1).read_to_end(&mut bytes);
    read.map_err(|e| Error::io(path, "read", e))?;
    if bytes.len() as u64 > limit {
        let (expected, found) = (format!("at most {limit} bytes"), "more");
        return Err(Error::corrupt(path, what, 0, expected, found));
    }
    Ok(bytes)
}

fn open(path: &Path, options: &mut OpenOptions, links: i32) -> Result<File> {
    let opened = match with_flags(options, links | NO_WAIT).open(path) {
        // Where somebody else has a lease on the file, as Samba may, not waiting is refused; a regular file is waited for.
        Err(e) if e.kind() == io::ErrorKind::WouldBlock && is_file(path, links) => {
            with_flags(options, links).open(path)
        }
        opened => opened,
    };
    let file = opened.map_err(|e| match std::fs::symlink_metadata(path) {
        Ok(found) if links == NO_FOLLOW && found.is_symlink() => not_regular(path, "a symbolic link"),
        // Such as a pipe that nobody reads, or a socket.
        Ok(found) if !found.is_file() && !found.is_symlink() => not_regular(path, kind_of(&found)),
        _ => Error::io(path, "open", e),
    })?;
    let found = file.metadata().map_err(|e| Error::io(path, "open", e))?;
    match found.is_file() {
        true => Ok(file),
        false => Err(not_regular(path, kind_of(&found))),
    }
}

fn is_file(path: &Path, links: i32) -> bool {
    let found = match links {
        FOLLOW => std::fs::metadata(path),
        _ => std::fs::symlink_metadata(path),
    };
    found.is_ok_and(|found| found.is_file())
}

fn not_regular(path: &Path, found: &'static str) -> Error {
    Error::NotRegular {
        path: path.to_owned(),
        found,
    }
}

/// What a file that is none is called.
fn kind_of(found: &std::fs::Metadata) -> &'static str {
    if found.is_dir() {
        return "a folder";
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = found.file_type();
        if kind.is_fifo() {
            return "a named pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
    }
    "a device"
}

const FOLLOW: i32 = 0;
#[cfg(unix)]
const NO_FOLLOW: i32 = nix::libc::O_NOFOLLOW;
#[cfg(unix)]
const NO_WAIT: i32 = nix::libc::O_NONBLOCK;
// Nothing is opened by these numbers elsewhere: a link is looked for by its name.
#[cfg(not(unix))]
const NO_FOLLOW: i32 = 1;
#[cfg(not(unix))]
const NO_WAIT: i32 = 0;

#[cfg(unix)]
fn with_flags(options: &mut OpenOptions, flags: i32) -> &mut OpenOptions {
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags)
}

#[cfg(not(unix))]
fn with_flags(options: &mut OpenOptions, _flags: i32) -> &mut OpenOptions {
    options
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    /// A name in a folder with one of each kind of file.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("file"), b"bytes").unwrap();
        std::fs::create_dir(path("folder")).unwrap();
        nix::unistd::mkfifo(&path("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        drop(UnixListener::bind(path("socket")).unwrap());
        symlink(path("file"), path("link")).unwrap();
        symlink("/dev/zero", path("zero")).unwrap();
        symlink(path("none"), path("astray")).unwrap();
        folder
    }

    #[test]
    fn only_regular_files_are_opened_and_no_link_is_written_through() {
        let folder = folder();
        type Open = fn(&Path) -> Result<File>;
        let ways: [(Open, [bool; 3]); 3] = [
            (open_to_read, [true, true, false]),
            (open_named_to_write, [true, true, false]),
            (open_to_write, [true, false, false]),
        ];
        for (open, [file, link, others]) in ways {
            let expected = [
                ("file", file, ""),
                ("link", link, "a symbolic link"),
                ("folder", others, "a folder"),
                ("pipe", others, "a named pipe"),
                ("socket", others, "a socket"),
            ];
            for (name, opens, kind) in expected {
                let path = folder.path().join(name);
                match open(&path) {
                    Ok(_) => assert!(opens, "{name}"),
                    Err(e) => {
                        assert!(!opens, "{e}");
                        let said = format!("{}: expected a regular file, found {kind}", path.display());
                        assert_eq!(e.to_string(), said);
                    }
                }
            }
        }
        let zero = open_to_read(&folder.path().join("zero")).unwrap_err();
        assert!(zero.to_string().ends_with("found a device"), "{zero}");
        let astray = open_to_read(&folder.path().join("astray")).unwrap_err();
        assert!(matches!(astray, Error::Io { .. }), "{astray}");
    }

    #[test]
    fn what_is_there_is_not_made_again_be_it_a_link_to_nothing() {
        let folder = folder();
        for name in ["file", "folder", "pipe", "link", "astray"] {
            let refused = create(&folder.path().join(name)).unwrap_err();
            assert!(
                refused.to_string().ends_with(&format!("{name} already exists")),
                "{refused}"
            );
        }
        assert_eq!(std::fs::read(folder.path().join("file")).unwrap(), b"bytes");
        create(&folder.path().join("new")).unwrap();
    }

    #[test]
    fn what_belongs_to_a_table_lies_in_its_folder() {
        let (books, elsewhere) = (folder(), folder());
        let at = |name: &str| books.path().join(name);
        symlink(elsewhere.path().join("file"), at("memo")).unwrap();
        symlink(elsewhere.path().join("folder"), at("table")).unwrap();
        for name in ["file", "link", "astray", "none"] {
            stays_beside(&at(name), &at("people.dbf")).unwrap();
        }
        let refused = stays_beside(&at("memo"), &at("file")).unwrap_err();
        assert!(
            refused
                .to_string()
                .ends_with("a symbolic link out of the table's folder"),
            "{refused}"
        );
        // Of a table that is a link itself.
        stays_beside(&at("memo"), &at("table")).unwrap();
    }

    #[test]
    fn a_short_file_has_a_limit() {
        let folder = folder();
        let path = folder.path().join("file");
        assert_eq!(read_short(&path, "text", 5).unwrap(), b"bytes");
        assert!(matches!(read_short(&path, "text", 4), Err(Error::Corrupt(_))));
    }
}
