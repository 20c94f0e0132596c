//! Files that are something else than their name promises, by their first bytes.
//!
//! What a checksum would say of them is of no use: a Git LFS pointer is fetched, a page of a web server is what came instead of the
//! file.

/// Returns what a file is that begins with these bytes, of which twelve are enough to guess, and sixty-four to be sure; after a
/// colon it says what to do about it. `None` for what is not known.
///
/// ```
/// use tidemill_riegeli::foreign_file;
///
/// let what = foreign_file(b"version https://git-lfs.github.com/spec/v1\noid sha256:0");
/// assert_eq!(what, Some("a Git LFS pointer, not the file itself: `git lfs pull` fetches that"));
/// assert_eq!(foreign_file(b"version 1.0"), None);
/// ```
#[must_use]
pub fn foreign_file(bytes: &[u8]) -> Option<&'static str> {
    // Texts may begin with a byte order mark and blanks.
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let begins = |with: &[u8]| {
        [bytes, text].iter().any(|bytes| {
            let found = bytes.get(..with.len()).unwrap_or(bytes);
            let is_enough = found.len() >= with.len().min(LEAST_BYTES);
            is_enough && found.eq_ignore_ascii_case(with.get(..found.len()).unwrap_or_default())
        })
    };
    KNOWN
        .iter()
        .find(|(beginning, _)| begins(beginning))
        .map(|(_, what)| *what)
}

/// As many bytes as a reader of TFRecord reads first.
const LEAST_BYTES: usize = 12;

const HTML: &str =
    "an HTML page, as a server sends it in place of the file: download it again, by the address of the file itself";

/// Sources: git-lfs/git-lfs, `docs/spec.md`; the first bytes of the formats, by their specifications. Letters in any case.
const KNOWN: [(&[u8], &str); 12] = [
    (
        b"version https://git-lfs.github.com/spec/v1",
        "a Git LFS pointer, not the file itself: `git lfs pull` fetches that",
    ),
    (b"<!doctype html", HTML),
    (b"<html", HTML),
    (
        b"<?xml",
        "an XML document, as object stores send it for an error: look into it, and download the file again",
    ),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1\0\0", "an Arrow file"),
    (b"PK\x03\x04", "a ZIP archive: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "compressed by Zstandard: decompress it first"),
    (b"\xfd7zXZ\0", "compressed by xz: decompress it first"),
    (b"SQLite format 3\0", "a SQLite database: export its tables as CSV"),
    (b"BZh", "compressed by bzip2: decompress it first"),
    (b"\x1f\x8b\x08", "compressed by gzip: decompress it first"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_twelve_bytes_in_any_case_of_letters() {
        for (bytes, expected) in [
            (
                &b"version https://git-lfs.github.com/spec/v1\noid"[..],
                Some("a Git LFS pointer"),
            ),
            (b"version http", Some("a Git LFS pointer")),
            (b"version 1.0.0", None),
            (b"version http, status\n1, 200\n", None),
            (b"\xef\xbb\xbf\n <html>", Some("an HTML page")),
            (b"<!DOCTYPE ht", Some("an HTML page")),
            (b"<HTML>", Some("an HTML page")),
            (b"PK\x03\x04", Some("a ZIP archive")),
            (b"PK", None),
            (b"", None),
        ] {
            let found = foreign_file(bytes);
            let same = match (found, expected) {
                (Some(found), Some(expected)) => found.starts_with(expected),
                (found, expected) => found == expected,
            };
            assert!(same, "{bytes:?}: {found:?}");
        }
    }
}
