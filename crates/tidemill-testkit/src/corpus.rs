//! Files of the project's corpus, by their path below `corpus/`.

use std::path::{Path, PathBuf};

/// The path of a file or folder of the corpus, for example `xbase/clients.dbf`.
///
/// # Panics
///
/// When there is no such file: a golden that is missing is a failed test, not a skipped one.
#[must_use]
pub fn corpus(path: impl AsRef<Path>) -> PathBuf {
    let root = root();
    let file = root.join(path.as_ref());
    assert!(
        file.exists(),
        "the corpus has no {} (looked in {})",
        path.as_ref().display(),
        root.display()
    );
    file
}

/// The corpus of the clone whose tests run. Two clones may share a target folder, and with it this crate as one of them has built it.
fn root() -> PathBuf {
    let running = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let folders = [running, std::env::current_dir().ok()].into_iter().flatten();
    let corpora = folders.flat_map(|folder| {
        let above = folder.ancestors().map(|folder| folder.join("corpus"));
        above.collect::<Vec<_>>()
    });
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    corpora.into_iter().find(|corpus| corpus.is_dir()).unwrap_or(built)
}

/// The bytes of a file of the corpus.
///
/// # Panics
///
/// As [`corpus`], and when the file cannot be read.
#[must_use]
pub fn corpus_bytes(path: impl AsRef<Path>) -> Vec<u8> {
    let file = corpus(path);
    std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "the corpus has no xbase/no-such-table.dbf")]
    fn a_missing_golden_is_a_failure() {
        let _ = corpus("xbase/no-such-table.dbf");
    }
}
