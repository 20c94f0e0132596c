//! Harbour's tables, orders and seeks through the functions of `libace.so`, called from Python.

mod built;

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn tables_that_harbour_wrote_show_what_harbour_saw() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = unpacked(&folder.join("../../corpus/xbase"));
    let output = Command::new("python3")
        .arg(folder.join("tests/python/goldens.py"))
        .arg(built::library())
        .arg(corpus.path())
        .output()
        .expect("python3 runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}");
    let checks: u32 = said
        .lines()
        .last()
        .and_then(|line| line.split_once(" checks, 0 failures"))
        .and_then(|(checks, _)| checks.parse().ok())
        .unwrap_or_default();
    assert!(checks > 34_000, "{said}");
}

/// A copy of the corpus in which files are as programs have them: the large ones are compressed there, and the large table of
/// an NTX index is that of the CDX.
fn unpacked(corpus: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().expect("a temporary folder");
    for entry in fs::read_dir(corpus).expect("the corpus is there") {
        let path = entry.expect("the folder can be read").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !path.is_file() {
            continue;
        }
        let bytes = fs::read(&path).expect("the file can be read");
        let (name, bytes) = match name.strip_suffix(".zst") {
            Some(name) => (name.to_owned(), zstd::decode_all(&bytes[..]).expect("zstd")),
            None => (name, bytes),
        };
        fs::write(copy.path().join(name), bytes).expect("the file is written");
    }
    let [cdx, ntx] = ["big_cdx.dbf", "big_ntx.dbf"].map(|name| copy.path().join(name));
    let mut table = fs::read(cdx).expect("the large table is there");
    // It has no production index.
    table[28] = 0;
    fs::write(ntx, table).expect("the large table is copied");
    copy
}
