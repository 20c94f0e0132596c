//! Files of a table take the place of others, all of them or none.
//!
//! The new files lie in a draft, a folder beside the old ones, and are on the disk. What is to be done then goes into a log of its
//! own, and is done once that is on the disk: a crash before leaves the old files, and one after is gone on from by whoever
//! recovers the folder. Old files that the new table has none of go first, the table itself comes last.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::Disk;
use super::admission::{self, Owner, is_plain, not_recovered, refused};
use super::folder_logs::new_log;
use super::log_file::AppendError;
use super::replacement::{Replacement, Step};
use crate::error::{Error, Result};
use crate::lock::{Sharing, open_shared_or_exclusive};
use crate::own_name;
use crate::regular_file;
use crate::under_way::publishing;

/// Does what a replacement says, once it is in a log.
///
/// # Errors
/// [`Error::Unknown`] when it is begun and could not be finished; after any other the old files are as they were.
pub(crate) fn replace(folder: &Path, replacement: &Replacement, disk: &Arc<dyn Disk>) -> Result<()> {
    let _publishing = publishing(folder)?;
    let log = new_log(folder, &**disk)?;
    let (path, mut file) = (log.path, log.file);
    let give_up = |e| {
        // What stays is an empty log, or one that was never whole.
        let _ = disk.remove(&path);
        e
    };
    disk.sync_folder(&folder.join(&replacement.draft)).map_err(give_up)?;
    match file.append(replacement, true) {
        Ok(()) => {}
        Err(AppendError::Undone(e)) => return Err(give_up(e)),
        Err(AppendError::Unknown(e)) => return Err(Error::unknown(&path, "a table is replaced", e)),
    }
    if let Err(e) = disk.sync_folder(folder) {
        return match file.take_back(0) {
            Ok(()) => Err(give_up(e)),
            Err(_) => Err(Error::unknown(&path, "a table is replaced", e)),
        };
    }
    let mut begun = false;
    let done = step_through(folder, replacement, &**disk, &mut begun);
    let done = match done {
        Err(e) if !begun => {
            return match file.take_back(0) {
                Ok(()) => Err(give_up(e)),
                Err(_) => Err(Error::unknown(&path, "a table is replaced", e)),
            };
        }
        // What failed once may go the second time; there is no way back.
        Err(_) => step_through(folder, replacement, &**disk, &mut begun),
        done => done,
    };
    done.map_err(|e| Error::unknown(&path, "a table is replaced", e))?;
    // It is done. Where the log cannot be removed it is emptied, and one that stays all the same is seen to be done.
    if disk.remove(&path).is_err() {
        let _ = file.forget();
    }
    let _ = disk.remove_folder(&folder.join(&replacement.draft));
    Ok(())
}

/// Goes on with a replacement that a crash cut off, and returns the files that it concerns.
///
/// # Errors
/// [`Error::RefusedLog`], [`Error::Recovery`], [`Error::Locked`], [`Error::Io`].
pub(super) fn finish(
    log: &Path,
    folder: &Path,
    owner: Owner,
    replacement: &Replacement,
    disk: &dyn Disk,
    timeout: Duration,
) -> Result<Vec<PathBuf>> {
    let files: Vec<_> = replacement.steps.iter().map(|step| folder.join(step.name())).collect();
    let draft = folder.join(&replacement.draft);
    let is_of = |path: &Path, found: &std::fs::Metadata| {
        let of = Owner::of(found);
        match of == owner || owner.is_of_user() {
            true => Ok(()),
            false => Err(refused(
                log,
                path,
                format!("a file of the log's owner ({owner})"),
                format!("one of {of}"),
            )),
        }
    };
    match std::fs::symlink_metadata(&draft) {
        // Its files are in their places, and it is gone: all is done.
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(files),
        Err(e) => return Err(Error::io(&draft, "open", e)),
        Ok(found) if !found.is_dir() => {
            return Err(refused(
                log,
                &draft,
                "a folder with the new files".to_owned(),
                "something else".to_owned(),
            ));
        }
        Ok(found) => is_of(&draft, &found)?,
    }
    let (mut held, mut is_done): (Vec<File>, _) = (Vec::new(), true);
    for step in &replacement.steps {
        let place = folder.join(step.name());
        if let Ok(found) = std::fs::symlink_metadata(&place) {
            if found.is_dir() {
                return Err(refused(log, &place, "a file".to_owned(), "a folder".to_owned()));
            }
            is_of(&place, &found)?;
        }
        let Step::Put(name, len) = step else { continue };
        let new = draft.join(name);
        match std::fs::symlink_metadata(&new) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => return Err(Error::io(&new, "open", e)),
            Ok(found) if !found.is_file() => {
                return Err(refused(
                    log,
                    &new,
                    "a regular file".to_owned(),
                    "something else".to_owned(),
                ));
            }
            Ok(found) if found.len() != *len => {
                let why = format!("has {} bytes, and {len} were to take a table's place", found.len());
                return Err(not_recovered(log, &new, why));
            }
            Ok(found) => is_of(&new, &found)?,
        }
        is_done = false;
        // Whoever has the old file open would go on with one that no name leads to.
        if let Ok(old) = regular_file::open_to_write(&place) {
            open_shared_or_exclusive(&old, &place, Sharing::Exclusive, timeout)?;
            held.push(old);
        }
    }
    // What goes went before the first new file came; whatever has its name now is newer.
    if !is_done {
        step_through(folder, replacement, disk, &mut false)?;
    }
    disk.remove_folder(&draft)?;
    Ok(files)
}

/// What a log of ours may say: names of files of one table, and a folder for drafts.
///
/// # Errors
/// [`Error::RefusedLog`].
pub(super) fn check(log: &Path, replacement: &Replacement) -> Result<()> {
    let draft = replacement.draft.to_string_lossy();
    if !is_plain(&replacement.draft) || !draft.starts_with(own_name::DRAFT) {
        let expected = format!("a folder beside the log whose name begins with {}", own_name::DRAFT);
        return Err(refused(log, &replacement.draft, expected, "another name".to_owned()));
    }
    replacement.steps.iter().try_for_each(|step| {
        let name = step.name();
        let is_cpg = name
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("cpg"));
        match is_cpg && is_plain(name) {
            true => Ok(()),
            false => admission::check_name(log, name),
        }
    })
}

/// Does every step that is not done yet, and brings the names to the disk.
fn step_through(folder: &Path, replacement: &Replacement, disk: &dyn Disk, begun: &mut bool) -> Result<()> {
    let draft = folder.join(&replacement.draft);
    for step in &replacement.steps {
        let place = folder.join(step.name());
        let is_there = |path: &Path| std::fs::symlink_metadata(path).is_ok();
        match step {
            Step::Remove(_) if is_there(&place) => disk.remove(&place)?,
            Step::Put(name, _) if is_there(&draft.join(name)) => disk.rename(&draft.join(name), &place)?,
            _ => continue,
        }
        *begun = true;
    }
    disk.sync_folder(folder)
}
