//! `cat`.

use insta::assert_snapshot;

use crate::run::Folder;

#[test]
fn rows_are_objects_by_field_name() {
    let folder = Folder::with(&["xbase/ord_cdx.dbf"]);
    let rows = folder
        .run(&["cat", "ord_cdx.dbf", "--format", "jsonl", "--limit", "3"])
        .done();
    assert_snapshot!(rows);
    let numbered = folder
        .run(&[
            "cat",
            "ord_cdx.dbf",
            "--format",
            "jsonl",
            "--deleted",
            "only",
            "--limit",
            "2",
        ])
        .done();
    assert_snapshot!(numbered);
}

#[test]
fn every_type_has_its_form() {
    let folder = Folder::with(&["xbase/types_vfp.dbf", "xbase/types_vfp.fpt"]);
    let rows = folder
        .run(&[
            "cat",
            "types_vfp.dbf",
            "--format",
            "jsonl",
            "--deleted",
            "include",
            "--limit",
            "4",
        ])
        .done();
    assert_snapshot!(rows);
    let zeros = folder
        .run(&[
            "cat",
            "types_vfp.dbf",
            "--format",
            "jsonl",
            "--blank",
            "zero",
            "--limit",
            "1",
        ])
        .done();
    assert_snapshot!(zeros);
}

#[test]
fn framed_records_are_the_bytes_of_the_file() {
    let folder = Folder::with(&["riegeli/cpp/text.simple_zstd.riegeli"]);
    let run = folder.run(&["cat", "text.simple_zstd.riegeli", "--format", "framed"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let expected = std::fs::read(tidemill_testkit::corpus("riegeli/datasets/text.recs")).expect("the data set");
    assert!(run.stdout == expected);
}

#[test]
fn recovery_goes_on_behind_damage_and_says_what_it_left_out() {
    let folder = Folder::with(&["riegeli/cpp/bad.chunk_data_first.riegeli"]);
    let plain = folder.run(&["cat", "bad.chunk_data_first.riegeli", "--format", "framed"]);
    assert_eq!(plain.code, Some(2));
    assert!(
        plain.stderr.contains("bad.chunk_data_first.riegeli"),
        "{}",
        plain.stderr
    );
    let recovering = folder.run(&["cat", "bad.chunk_data_first.riegeli", "--format", "framed", "--recover"]);
    assert_eq!(recovering.code, Some(0));
    assert!(recovering.stderr.contains("skipped region ["), "{}", recovering.stderr);
    assert!(!recovering.stdout.is_empty());
}
