//! `verify`.

use insta::assert_snapshot;

use crate::run::Folder;

#[test]
fn damage_is_told_as_ranges_of_bytes_and_ends_with_1() {
    let folder = Folder::with(&[
        "riegeli/cpp/bad.chunk_data_first.riegeli",
        "riegeli/cpp/text.simple_zstd.riegeli",
    ]);
    let good = folder.run(&["verify", "text.simple_zstd.riegeli", "--format", "json"]);
    assert_snapshot!(good.done());
    let bad = folder.run(&["verify", "bad.chunk_data_first.riegeli", "--format", "json"]);
    assert_eq!(bad.code, Some(1), "{}", bad.stderr);
    assert_snapshot!(String::from_utf8(bad.stdout).expect("UTF-8"));
}

#[test]
fn a_short_table_is_damaged_where_its_records_end() {
    let folder = Folder::with(&["xbase/ord_ntx.dbf"]);
    let whole = folder.run(&["verify", "ord_ntx.dbf"]).done();
    assert_snapshot!(whole);
    let bytes = std::fs::read(folder.file("ord_ntx.dbf")).expect("read");
    std::fs::write(folder.file("ord_ntx.dbf"), &bytes[..bytes.len() - 1_000]).expect("written");
    let run = folder.run(&["verify", "ord_ntx.dbf", "--format", "json"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert_snapshot!(String::from_utf8(run.stdout).expect("UTF-8"));
}

#[test]
fn an_index_is_compared_with_the_records_and_made_anew() {
    let folder = Folder::with(&["xbase/ord_cdx.dbf", "xbase/ord_cdx.cdx", "xbase/ord_ntx_NAME.ntx"]);
    assert_snapshot!(folder.run(&["verify", "ord_cdx.cdx"]).done(), @"ord_cdx.cdx: 22 index tags, no damage");
    let both = folder.run(&[
        "verify",
        "ord_cdx.dbf",
        "--index",
        "ord_ntx_NAME.ntx",
        "--format",
        "json",
    ]);
    assert_snapshot!(both.done(), @r#"
    {"file": "ord_cdx.dbf", "records": 600, "damaged": []}
    {"index": "ord_cdx.cdx", "orders": 22, "damaged": []}
    {"index": "ord_ntx_NAME.ntx", "orders": 1, "damaged": []}
    "#);

    // A program that knows nothing of the index changes a name.
    let mut bytes = std::fs::read(folder.file("ord_cdx.dbf")).expect("read");
    // The header has 226 bytes, a record 47: its flag, ID of 8 bytes, NAME.
    bytes[226 + 299 * 47 + 9] = b'~';
    std::fs::write(folder.file("ord_cdx.dbf"), &bytes).expect("written");
    let run = folder.run(&["verify", "."]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert_snapshot!(String::from_utf8(run.stdout).expect("UTF-8"));

    let made = folder.run(&["reindex", "ord_cdx.dbf"]);
    assert!(
        made.stderr.contains("ord_cdx.cdx: 22 index tags rebuilt (T_NAME, "),
        "{}",
        made.stderr
    );
    made.done();
    assert_eq!(folder.run(&["verify", "ord_cdx.dbf"]).code, Some(0));
}

#[test]
fn the_alphabet_of_an_index_is_found_or_named_with_its_language() {
    let folder = Folder::with(&["xbase/cp850de.dbf", "xbase/cp850de.cdx"]);
    let verify = ["verify", "cp850de.dbf", "--codepage", "cp850"];
    folder.run(&verify).done();
    folder.run(&[&verify[..], &["--language", "de"]].concat()).done();
    folder.run(&[&verify[..], &["--language", "DE850"]].concat()).done();
    let other = folder.run(&[&verify[..], &["--language", "cs"]].concat());
    assert_eq!(other.code, Some(1));
    let found = String::from_utf8(other.stdout).expect("UTF-8");
    assert!(found.contains("index tag T_TXT: key"), "{found}");
    let unknown = folder.run(&[&verify[..], &["--language", "tlh"]].concat());
    assert!(unknown.stderr.contains("cs, de, el, es"), "{}", unknown.stderr);
}

#[test]
fn what_cannot_be_indexed_anew_says_why() {
    let folder = Folder::with(&[
        "xbase/types_vfp.dbf",
        "xbase/types_vfp.fpt",
        "xbase/ord_ntx.dbf",
        "riegeli/cpp/text.simple_zstd.riegeli",
    ]);
    for (table, why) in [
        ("types_vfp.dbf", "there is no types_vfp.cdx"),
        ("ord_ntx.dbf", "name the index files"),
        ("text.simple_zstd.riegeli", "only xBase tables"),
    ] {
        let error = folder.run(&["reindex", table]).failed();
        assert!(error.contains(why), "{error}");
    }
    // A table that was sent without its index is sound.
    let verified = folder.run(&["verify", "types_vfp.dbf"]).done();
    assert!(verified.contains("no damage"), "{verified}");
    assert!(
        verified.contains("note: bytes 28 to 29: ") && verified.contains("there is no types_vfp.cdx"),
        "{verified}"
    );
}

/// Files that are cut are damaged, and not unreadable; each in a line of its own.
#[test]
fn files_that_are_cut_are_damaged_in_every_format() {
    let folder = Folder::with(&[]);
    let rows: String = (0..500).map(|row| format!("{row},name {row}\n")).collect();
    std::fs::write(folder.file("t.csv"), format!("id,name\n{rows}")).expect("written");
    for file in [
        "t.parquet",
        "t.arrow",
        "t.csv.gz",
        "t.jsonl.gz",
        "t.xlsx",
        "t.native",
        "t.riegeli",
    ] {
        folder.run(&["copy", "t.csv", file, "-q"]).done();
        let whole = std::fs::read(folder.file(file)).expect("read");
        let cut = format!("cut-{file}");
        std::fs::write(folder.file(&cut), &whole[..whole.len() * 2 / 3]).expect("written");
        let sound = folder.run(&["verify", file]);
        assert_eq!(sound.code, Some(0), "{file}: {}", sound.stderr);
        let run = folder.run(&["verify", &cut]);
        let said = String::from_utf8_lossy(&run.stdout).into_owned();
        assert_eq!(run.code, Some(1), "{file}: {said}{}", run.stderr);
        assert!(said.contains(&cut) && said.contains("damaged in"), "{said}");
        assert!(
            !said.contains("DataFusion") && !said.contains("Internal error"),
            "{said}"
        );
    }
    let missing = folder.run(&["verify", "none.parquet"]);
    assert_eq!(missing.code, Some(2), "{}", missing.stderr);
}
