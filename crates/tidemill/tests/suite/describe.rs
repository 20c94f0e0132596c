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
