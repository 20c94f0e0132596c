//! Logs that nobody has any more and that still have something to write: who reads is told of them, who writes recovers first.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::admission;
use super::folder_logs::EXTENSION;
use super::log_file::{Found, GROUPS, Logged, MAGIC, Room};
use super::recovery::{HeldLog, Recovered, is_own, work_off};
use super::replacement::REPLACEMENT_MAGIC;
use super::{Disk, TheDisk};
use crate::error::{Error, Result};
use crate::lock::{Sharing, is_free_to_open};
use crate::own_name::folder_of;
use crate::regular_file;
use crate::stamp::{FileMemo, FileStamp};
use crate::storage::{DataFile, Storage};

/// How long a log is waited for that a reader may be looking at.
const BRIEFLY: Duration = Duration::from_millis(100);

/// A log in a folder that has something to write.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PendingLog {
    /// The log.
    pub path: PathBuf,
    /// The files that it would change, in its folder.
    pub files: Vec<PathBuf>,
    /// How many transactions, or replacements of tables, it has.
    pub groups: usize,
    /// How many bytes of the log they take.
    pub bytes: u64,
    /// The other folders of its transaction, which are recovered together with this one; none of most.
    pub other_folders: Vec<PathBuf>,
    /// Whether a living process has it: then that will write it, and nobody need do anything.
    pub in_use: bool,
    /// Why it is not obeyed; [`recover`] changes nothing then, and gives this error.
    pub refused: Option<String>,
}

/// The logs in a folder that have something to write, by their names; nothing is changed. A transaction of a process that died
/// lies there until [`recover`] is called, or a table that it changes is opened for writing.
///
/// # Errors
/// [`Error::Io`] when the folder cannot be read. What is wrong with a log is said in [`PendingLog::refused`].
pub fn pending_logs(folder: impl AsRef<Path>) -> Result<Vec<PendingLog>> {
    let folder = folder.as_ref();
    let logs = logs_in(folder)?;
    let pending = logs.iter().map(|path| pending_log(path));
    pending.filter_map(Result::transpose).collect()
}

/// Brings into the tables of a folder what processes that died had committed, and returns what was done, a log each. Logs
/// of living processes are left alone. As of [`recover_folders`] for one.
///
/// # Errors
/// As [`recover_folders`].
pub fn recover(folder: impl AsRef<Path>) -> Result<Vec<Recovered>> {
    recover_folders([folder])
}

/// [`recover`] for several folders at once, as a transaction over several needs it.
///
/// All logs that can be worked off are, also when another one cannot be.
///
/// # Errors
/// The first: [`Error::RefusedLog`] for one that says what no log of ours says, [`Error::Recovery`] for a table that was changed
/// since or is not there, [`Error::Incomplete`] for a transaction over further folders, [`Error::Locked`] when somebody has a
/// table open, [`Error::Corrupt`], [`Error::Io`]. The log, and the tables that it names, are as they were then.
pub fn recover_folders<P: AsRef<Path>>(folders: impl IntoIterator<Item = P>) -> Result<Vec<Recovered>> {
    let folders = folders.into_iter().map(|folder| {
        let folder = folder.as_ref();
        std::fs::canonicalize(folder).map_err(|e| Error::io(folder, "open", e))
    });
    let folders = folders.collect::<Result<Vec<_>>>()?;
    recover_on(&TheDisk, &folders, Duration::from_secs(1), |_| true)
}

/// [`recover_folders`] of the logs that are wanted; folders are without links.
pub(super) fn recover_on(
    disk: &dyn Disk,
    folders: &[PathBuf],
    timeout: Duration,
    wants: impl Fn(&Path) -> bool,
) -> Result<Vec<Recovered>> {
    let (mut held, mut in_use, mut refused) = (Vec::new(), None, None);
    for folder in folders {
        for path in logs_in(folder)?.iter().filter(|path| wants(path)) {
            if !is_own(path) && !is_log(path) {
                // Somebody else's file that is called so.
                continue;
            }
            match HeldLog::take(path, disk, BRIEFLY) {
                Ok(Some(log)) if !log.groups.is_empty() || is_own(path) => held.push(log),
                Ok(_) => {}
                // A living process will write it; but where it may be a part of something, nobody knows.
                Err(Error::Locked(e)) => in_use = in_use.or(Some(Error::Locked(e))),
                Err(e) => refused = refused.or(Some(e)),
            }
        }
    }
    let recovered = work_off(held, folders, (in_use, refused), disk, timeout)?;
    Ok(recovered
        .into_iter()
        .filter(|log| log.transactions + log.discarded > 0)
        .collect())
}

/// [`recover`] of the logs that name one table, for who is about to change it; [`TableEditor::open`](crate::TableEditor::open)
/// does so itself. The other parts of a transaction over several folders are looked for in those below `data`, the folder that
/// the program works in, and nowhere else. Returns what was done.
///
/// # Errors
/// As [`recover_folders`]; [`Error::Pending`] when a log in the table's folder cannot be read, so that nobody knows what it names.
pub fn recover_table(table: impl AsRef<Path>, data: Option<&Path>) -> Result<Vec<Recovered>> {
    let table = table.as_ref();
    let Some((folder, name)) = place_of(table) else {
        return Ok(Vec::new());
    };
    let mut wanted = Vec::new();
    for path in logs_in(&folder)?.iter() {
        if names_table(path, table, &name)? != Names::Nothing {
            wanted.push(path.clone());
        }
    }
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let folders = std::slice::from_ref(&folder);
    match recover_on(&TheDisk, folders, BRIEFLY, |path| {
        wanted.iter().any(|wanted| wanted == path)
    }) {
        Err(Error::Incomplete(parts)) => {
            let data = data.map(std::fs::canonicalize).transpose();
            let data = data
                .ok()
                .flatten()
                .filter(|data| parts.missing.iter().all(|other| lies_below(other, data)));
            match data {
                Some(_) => recover_folders(std::iter::once(&folder).chain(&parts.missing)),
                None => Err(Error::Incomplete(parts)),
            }
        }
        done => done,
    }
}

/// Whether a folder lies below another one, without any way out of it.
fn lies_below(folder: &Path, data: &Path) -> bool {
    folder.starts_with(data) && folder.components().all(|part| part != Component::ParentDir)
}

/// Whether a table that was opened may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readable {
    Yes,
    /// A living process is replacing it.
    Soon,
}

/// Refuses to read a table whose files a crash may have left half written.
///
/// # Errors
/// [`Error::Pending`], [`Error::Io`].
pub(crate) fn readable(table: &Path) -> Result<Readable> {
    let Some((folder, name)) = place_of(table) else {
        return Ok(Readable::Yes);
    };
    for path in logs_in(&folder)?.iter() {
        match names_table(path, table, &name)? {
            Names::Nothing => {}
            Names::Replaced if is_held(path)? => return Ok(Readable::Soon),
            // Whoever held it may have come to its end since it was read.
            Names::Changes | Names::Replaced if names_table(path, table, &name)? == Names::Nothing => {
                return Ok(Readable::Soon);
            }
            Names::Changes | Names::Replaced => return Err(Error::pending(table, path, None)),
        }
    }
    Ok(Readable::Yes)
}

/// Removes logs of ours in a folder that dead processes left and that have nothing to write.
pub(super) fn sweep(folder: &Path, disk: &dyn Disk) {
    // What cannot be removed is in the way of nobody, and told by `recover`.
    let logs = logs_in(folder).unwrap_or_default();
    for path in logs.iter().filter(|path| is_own(path)) {
        let is_short = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() <= 1024);
        if is_short
            && is_held(path).is_ok_and(|is_held| !is_held)
            && let Ok(Some(log)) = HeldLog::take(path, disk, Duration::ZERO)
            && log.groups.is_empty()
        {
            let _ = disk.remove(path);
        }
    }
}

/// What a log says of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Names {
    Nothing,
    Changes,
    Replaced,
}

/// The folder of a table, without links, and its name there. `None` where there is none.
fn place_of(table: &Path) -> Option<(PathBuf, PathBuf)> {
    let real = std::fs::canonicalize(table);
    let real = real.or_else(|_| {
        Ok::<_, io::Error>(std::fs::canonicalize(folder_of(table))?.join(table.file_name().unwrap_or_default()))
    });
    let real = real.ok()?;
    Some((real.parent()?.to_owned(), PathBuf::from(real.file_name()?)))
}

/// What a log says of a table of its folder.
///
/// # Errors
/// [`Error::Pending`] when the log cannot be read, so that nobody knows.
fn names_table(log: &Path, table: &Path, name: &Path) -> Result<Names> {
    let unknown = |e: Error| Error::pending(table, log, Some(e));
    let Some(file) = opened(log).map_err(unknown)? else {
        return Ok(Names::Nothing);
    };
    // What a living process has committed is in the tables, or is being written there, unless it replaces a whole table.
    if is_in_use(log, &file).map_err(unknown)? && !begins_with_replacement(&file) {
        return Ok(Names::Nothing);
    }
    let Some(found) = read(log, file).map_err(unknown)? else {
        return Ok(Names::Nothing);
    };
    let is_of_table = |file: &Path| {
        let stem = |path: &Path| path.file_stem().unwrap_or_default().to_ascii_lowercase();
        // Another folder's file is not this one, whatever a log says.
        admission::is_plain(file) && stem(file) == stem(name)
    };
    let names = found.groups.iter().map(|group| match group {
        Logged::Changes(group) if group.files.iter().any(|change| is_of_table(&change.path)) => Names::Changes,
        Logged::Replacement(entry) if entry.steps.iter().any(|step| is_of_table(step.name())) => Names::Replaced,
        _ => Names::Nothing,
    });
    Ok(names.max().unwrap_or(Names::Nothing))
}

/// An error with its cause.
fn told(error: &Error) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

fn pending_log(path: &Path) -> Result<Option<PendingLog>> {
    let mut pending = PendingLog {
        path: path.to_owned(),
        files: Vec::new(),
        groups: 0,
        bytes: 0,
        other_folders: Vec::new(),
        in_use: false,
        refused: None,
    };
    let found = match opened(path).and_then(|file| Ok(file.map(|file| read(path, file)).transpose()?.flatten())) {
        Ok(Some(found)) if found.groups.is_empty() => return Ok(None),
        Ok(Some(found)) => found,
        Ok(None) if !is_own(path) => return Ok(None),
        // It is gone, or its program died before it had written a header.
        Ok(None) if std::fs::symlink_metadata(path).map_or(true, |found| found.is_file() && found.len() <= GROUPS) => {
            return Ok(None);
        }
        Ok(None) => {
            let what = "it has the name of a Tidemill log and is none; remove it, and its tables can be read again";
            pending.refused = Some(format!("{}: {what}", path.display()));
            return Ok(Some(pending));
        }
        Err(e) => {
            pending.refused = Some(told(&e));
            return Ok(Some(pending));
        }
    };
    let folder = folder_of(path);
    (pending.groups, pending.bytes) = (found.groups.len(), found.byte_len());
    for group in &found.groups {
        let (files, others): (Vec<&PathBuf>, &[PathBuf]) = match group {
            Logged::Changes(group) => {
                let others = group.part.as_ref().map_or(&[][..], |part| &part.others);
                (group.files.iter().map(|change| &change.path).collect(), others)
            }
            Logged::Replacement(entry) => (entry.steps.iter().map(|step| step.name()).collect(), &[]),
        };
        pending.files.extend(files.into_iter().map(|file| folder.join(file)));
        pending
            .other_folders
            .extend(others.iter().map(|other| folder.join(other)));
    }
    pending.files.sort();
    pending.files.dedup();
    pending.in_use = is_held(path)?;
    if !pending.in_use {
        pending.refused = admission::check(path, folder, &found.groups).err().map(|e| told(&e));
    }
    Ok(Some(pending))
}

/// The log's file, to read it; `None` where it is gone, or no file.
fn opened(log: &Path) -> Result<Option<Arc<File>>> {
    match regular_file::open_found_to_read(log) {
        Ok(file) => Ok(Some(Arc::new(file))),
        // No log of ours is a link or a pipe.
        Err(Error::NotRegular { .. }) => Ok(None),
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// What a log has; `None` for a file that is none.
fn read(path: &Path, file: Arc<File>) -> Result<Option<Found>> {
    let room = Room::of(path, &file)?;
    let file = DataFile::new(path, Box::new(file));
    let mut magic = [0; MAGIC.len()];
    if file.len()? < magic.len() as u64 {
        return Ok(None);
    }
    file.read("log header", 0, &mut magic)?;
    match magic == MAGIC {
        true => Found::read(&file, room).map(Some),
        false => Ok(None),
    }
}

/// Whether a file begins as a log.
fn is_log(path: &Path) -> bool {
    let mut magic = [0; MAGIC.len()];
    let file = opened(path).ok().flatten();
    file.is_some_and(|file| Storage::read_exact_at(&file, &mut magic, 0).is_ok() && magic == MAGIC)
}

/// Whether a living process has a log that is open here; if not, none gets it while it is.
fn is_in_use(log: &Path, file: &File) -> Result<bool> {
    Ok(!is_free_to_open(file, log, Sharing::Shared)?)
}

/// Whether a living process has the log at a path, or it is gone.
fn is_held(log: &Path) -> Result<bool> {
    opened(log)?.map_or(Ok(true), |file| is_in_use(log, &file))
}

/// Whether the first entry of a log, which may be about to be written, is the replacement of a table.
fn begins_with_replacement(file: &Arc<File>) -> bool {
    let mut magic = [0; REPLACEMENT_MAGIC.len()];
    Storage::read_exact_at(file, &mut magic, GROUPS).is_ok() && magic == REPLACEMENT_MAGIC
}

/// What lies in folders, remembered for as long as they look as they did.
static LOGS: FileMemo<(), Arc<[PathBuf]>> = FileMemo::new(64);

/// The paths of the logs in a folder, by their names.
fn logs_in(folder: &Path) -> Result<Arc<[PathBuf]>> {
    let io = |e| Error::io(folder, "read", e);
    let stamp = FileStamp::of(folder).map_err(io)?;
    if let Some(known) = LOGS.get(folder, &stamp, &()) {
        return Ok(known);
    }
    let mut logs = Vec::new();
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        // Whoever may only pass through a folder finds the files that he knows by name.
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => return Ok(logs.into()),
        Err(e) => return Err(io(e)),
    };
    for entry in entries {
        let path = folder.join(entry.map_err(io)?.file_name());
        let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        if extension.eq_ignore_ascii_case(EXTENSION) {
            logs.push(path);
        }
    }
    logs.sort();
    let logs: Arc<[PathBuf]> = logs.into();
    LOGS.put(folder, &stamp, (), Arc::clone(&logs));
    Ok(logs)
}
