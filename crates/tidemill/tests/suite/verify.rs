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
    let folder = Folder::with(&["xbase/ord_cdx.dbf"]);
    let whole = folder.run(&["verify", "ord_cdx.dbf"]).done();
    assert_snapshot!(whole);
    let bytes = std::fs::read(folder.file("ord_cdx.dbf")).expect("read");
    std::fs::write(folder.file("ord_cdx.dbf"), &bytes[..bytes.len() - 1_000]).expect("written");
    let run = folder.run(&["verify", "ord_cdx.dbf", "--format", "json"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert_snapshot!(String::from_utf8(run.stdout).expect("UTF-8"));
}
