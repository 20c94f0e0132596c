//! `bench`: the load tests of `tidemill-bench`.

use crate::run::Folder;

#[test]
fn a_bundled_workload_fills_a_table_and_is_measured() {
    let folder = Folder::with(&[]);
    folder.run(&["bench", "schema", "key_value.rn", "xbase:."]).done();
    folder
        .run(&["bench", "load", "key_value.rn", "-P", "rows=200", "xbase:."])
        .done();
    let counted = folder.run(&["sql", "SELECT COUNT(*) AS n FROM key_value", "--format", "csv"]);
    assert_eq!(counted.done(), "n\n200\n");
    let measured = folder
        .run(&[
            "bench",
            "run",
            "key_value.rn",
            "-P",
            "rows=200",
            "-d",
            "300",
            "-f",
            "read",
            "-o",
            "report.json",
            "xbase:.",
        ])
        .done();
    assert!(measured.contains("300"), "{measured}");
    let listed = folder.run(&["bench", "list", "--format", "csv"]).done();
    assert!(listed.contains("key_value"), "{listed}");
    assert!(folder.run(&["bench", "show", "report.json"]).done().contains("read"));
}

#[test]
fn a_workload_that_is_not_there_is_an_error() {
    let folder = Folder::with(&[]);
    let run = folder.run(&["bench", "run", "none.rn", "mem:"]);
    assert_eq!(run.code, Some(2));
}
