//! Files that are something else than their name promises, by their first bytes.
//!
//! What a checksum would say of them is of no use: a Git LFS pointer is fetched, a page of a web server is what came instead of the
//! file.

/// Returns what a file is that begins with these bytes, of which twelve are enough, and what to do about it; `None` for what is not
/// known.
pub(crate) fn foreign_file(bytes: &[u8]) -> Option<&'static str> {
    let begins = |with: &[u8]| {
        let found = bytes.get(..with.len().min(MOST_BYTES));
        found.is_some_and(|found| found.eq_ignore_ascii_case(with.get(..found.len()).unwrap_or_default()))
    };
    KNOWN
        .iter()
        .find(|(beginning, _)| begins(beginning))
        .map(|(_, what)| *what)
}

/// As many bytes as a reader of TFRecord reads first.
const MOST_BYTES: usize = 12;

const HTML: &str =
    "an HTML page, as a server sends it in place of the file: download it again, by the address of the file itself";

/// Sources: git-lfs/git-lfs, `docs/spec.md`; the first bytes of the formats, by their specifications. Letters in any case.
const KNOWN: [(&[u8], &str); 10] = [
    (
        b"version https://git-lfs.github.com/spec/v1",
        "a pointer of Git LFS, not the file itself: `git lfs pull` fetches that",
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
                Some("a pointer of Git LFS"),
            ),
            (b"version http", Some("a pointer of Git LFS")),
            (b"version 1.0.0", None),
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
