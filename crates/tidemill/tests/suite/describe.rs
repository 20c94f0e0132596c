//! `inspect`.

use insta::assert_snapshot;

use crate::run::Folder;

#[test]
fn a_table_is_described() {
    let folder = Folder::with(&["xbase/types_vfp.dbf", "xbase/types_vfp.fpt"]);
    assert_snapshot!(folder.run(&["inspect", "types_vfp.dbf"]).done());
}

#[test]
fn a_riegeli_file_is_described() {
    let folder = Folder::with(&["riegeli/cpp/text.meta_zstd.riegeli"]);
    assert_snapshot!(
        folder
            .run(&["inspect", "text.meta_zstd.riegeli", "--format", "json"])
            .done()
    );
}

#[test]
fn a_folder_is_a_line_a_table() {
    let folder = Folder::with(&["xbase/ord_cdx.dbf", "riegeli/cpp/text.simple_zstd.riegeli"]);
    assert_snapshot!(folder.run(&["inspect", "."]).done());
}

#[test]
fn orders_are_described_with_their_table_and_alone() {
    let folder = Folder::with(&["xbase/upd_cdx.dbf", "xbase/upd_cdx.cdx"]);
    assert_snapshot!(folder.run(&["inspect", "upd_cdx.dbf"]).done());
    assert_snapshot!(folder.run(&["inspect", "upd_cdx.cdx", "--format", "json"]).done());
}

#[test]
fn a_log_shows_what_it_would_bring_into_the_tables() {
    let folder = Folder::with(&["xbase/logs/version1.tmlog"]);
    assert_snapshot!(folder.run(&["inspect", "version1.tmlog"]).done());
    assert_snapshot!(folder.run(&["verify", "version1.tmlog", "--format", "json"]).done());
    let bytes = std::fs::read(folder.file("version1.tmlog")).expect("read");
    std::fs::write(folder.file("version1.tmlog"), &bytes[..bytes.len() - 1]).expect("written");
    assert_snapshot!(folder.run(&["verify", "version1.tmlog"]).done());
    std::fs::write(folder.file("version1.tmlog"), b"no log").expect("written");
    assert_eq!(folder.run(&["verify", "version1.tmlog"]).code, Some(1));
}
