//! Files of a table take the place of others, all of them or none.
//!
//! The new files lie in a draft, a folder beside the old ones, and are on the disk. What is to be done then goes into a log of its
//! own, and is done once that is on the disk: a crash before leaves the old files, and one after is gone on from by whoever
//! recovers the folder. Old files that the new table has none of go first, the table itself comes last.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Disk;
use super::admission::{self, Owner, is_plain, not_recovered, refused};
use super::replacement::{Replacement, Step};
use crate::error::{Error, Result};
use crate::lock::{Sharing, open_shared_or_exclusive};
use crate::own_name;
use crate::regular_file;

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
    let mut held: Vec<File> = Vec::new();
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
        // Whoever has the old file open would go on with one that no name leads to.
        if let Ok(old) = regular_file::open_to_write(&place) {
            open_shared_or_exclusive(&old, &place, Sharing::Exclusive, timeout)?;
            held.push(old);
        }
    }
    step_through(folder, replacement, disk)?;
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
fn step_through(folder: &Path, replacement: &Replacement, disk: &dyn Disk) -> Result<()> {
    let draft = folder.join(&replacement.draft);
    for step in &replacement.steps {
        let place = folder.join(step.name());
        let is_there = |path: &Path| std::fs::symlink_metadata(path).is_ok();
        match step {
            Step::Remove(_) if is_there(&place) => disk.remove(&place)?,
            Step::Put(name, _) if is_there(&draft.join(name)) => disk.rename(&draft.join(name), &place)?,
            _ => {}
        }
    }
    disk.sync_folder(folder)
}
