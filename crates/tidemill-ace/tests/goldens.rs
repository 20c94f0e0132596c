//! Harbour's tables, orders and seeks through the functions of `libace.so`, called from Python.

mod built;

use std::fs;
use std::path::Path;
use std::process::Command;

use ace::constants::{ADS_DOUBLEKEY, ADS_HARDSEEK, ADS_SOFTSEEK, ADS_STRINGKEY};

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

/// The check that tables were made with, as it is run over other libraries of the name. It takes constants from the environment, because
/// headers differ in them.
#[test]
fn every_group_of_the_golden_check_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = folder.join("../../corpus/xbase");
    let tables = unpacked(&corpus);
    put_orders_into_their_tables(tables.path());
    let output = Command::new("python3")
        .arg(corpus.join("gen/ace_golden_check.py"))
        .arg(built::library())
        .arg(tables.path())
        .env("ADS_STRINGKEY", ADS_STRINGKEY.to_string())
        .env("ADS_DOUBLEKEY", ADS_DOUBLEKEY.to_string())
        .env("ADS_HARDSEEK", ADS_HARDSEEK.to_string())
        .env("ADS_SOFTSEEK", ADS_SOFTSEEK.to_string())
        .output()
        .expect("python3 runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}");
    let mut numbers = said
        .lines()
        .last()
        .unwrap_or_default()
        .split_whitespace()
        .filter_map(|word| word.parse::<u32>().ok());
    let counted = [(); 4].map(|()| numbers.next().unwrap_or_default());
    let [passed, groups, good, checks] = counted;
    assert!(passed == groups && good == checks, "{said}");
    assert!(groups >= GROUPS && checks > 33_000, "{said}");
}

/// How many groups there are; a table that is not found has none.
const GROUPS: u32 = 234;

/// The check looks for the orders of a table beside its records, where this corpus has a file of their own for them.
fn put_orders_into_their_tables(folder: &Path) {
    for entry in fs::read_dir(folder).expect("the copy is there") {
        let path = entry.expect("the folder can be read").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(table) = name.strip_suffix(".orders.json") else {
            continue;
        };
        let about = folder.join(format!("{table}.json"));
        let read = |path: &Path| fs::read_to_string(path).expect("the file can be read");
        let (known, orders) = (read(&about), read(&path));
        let known = known.trim_end().strip_suffix('}').expect("an object");
        fs::write(about, format!("{known},\"orders\":{orders}}}")).expect("the file is written");
        fs::remove_file(path).expect("the file goes");
    }
    // These are about no table.
    for name in ["cp.keys.json", "deleted_on.json"] {
        fs::remove_file(folder.join(name)).expect("the file goes");
    }
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
