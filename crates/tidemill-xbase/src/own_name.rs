//! Names of files that are ours alone, whoever else makes some in the same folder: other processes, containers in which every
//! process has the same number, and other libraries of this process. A name is random, and what has it is made exclusively.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::{Error, Result};

/// What the names of all our files begin with.
pub const PREFIX: &str = "tidemill-";

/// What the names of our folders of new files begin with.
pub(crate) const DRAFT: &str = ".tidemill-";

/// How often a name is made up until one is free.
const ATTEMPTS: usize = 16;

/// Bits that differ from call to call, and from process to process, also where two have the same number.
pub(crate) fn random_bits() -> u64 {
    // The system's randomness once a thread, then a count; the hash mixes them. A forked child has its parent's, and in a
    // container perhaps the number of another child.
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    hasher.write_u128(now.unwrap_or_default().as_nanos());
    hasher.finish()
}

/// Makes something in `folder` under a name of ours that begins and ends so, by `make`, which refuses a name that is there with
/// [`Error::Exists`]. Returns its path and what `make` returned.
///
/// # Errors
/// As `make`; [`Error::Exists`] when sixteen names in a row are taken.
pub fn make<T>(folder: &Path, begin: &str, end: &str, make: impl Fn(&Path) -> Result<T>) -> Result<(PathBuf, T)> {
    let mut left = ATTEMPTS;
    loop {
        let path = folder.join(format!("{begin}{:016x}{end}", random_bits()));
        match make(&path) {
            Ok(made) => return Ok((path, made)),
            Err(Error::Exists { .. }) if left > 1 => left -= 1,
            Err(e) => return Err(e),
        }
    }
}

/// The folder that a file is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn names_differ_and_one_that_is_there_is_not_taken() {
        assert_ne!(random_bits(), random_bits());
        let tried = Cell::new(0);
        let taken = |path: &Path| {
            tried.set(tried.get() + 1);
            match tried.get() {
                1 | 2 => Err(Error::Exists { path: path.to_owned() }),
                n => Ok(n),
            }
        };
        let (path, made) = make(Path::new("x"), PREFIX, ".new", taken).unwrap();
        assert_eq!((path.parent(), made), (Some(Path::new("x")), 3));
        let always = make(Path::new("x"), PREFIX, ".new", |path| {
            Err::<(), _>(Error::Exists { path: path.to_owned() })
        });
        assert!(matches!(always, Err(Error::Exists { .. })));
    }
}
