//! Options that would do nothing are refused by name, and numbers of rows hold in every format.

use crate::run::Folder;

#[test]
fn options_that_would_do_nothing_are_refused() {
    let folder = crate::csv::folder_with(&[("t.csv", b"a,b\n1,x\n2,y\n3,z\n")]);
    folder.run(&["copy", "t.csv", "t.dbf"]).done();
    folder.run(&["copy", "t.csv", "t.parquet"]).done();
    for (args, message) in [
        (
            &["copy", "t.dbf", "o.parquet", "--riegeli", "zstd:3"][..],
            "o.parquet: --riegeli is for Riegeli files; leave it out",
        ),
        (
            &["copy", "t.dbf", "o.riegeli", "--array-record", "zstd:3"],
            "o.riegeli: --array-record is for ArrayRecord files",
        ),
        (
            &["copy", "t.dbf", "o.csv", "--to-codepage", "cp850"],
            "o.csv: --to-codepage is for DBF tables",
        ),
        (
            &["copy", "t.dbf", "o.jsonl", "--to-dialect", "foxpro"],
            "o.jsonl: --to-dialect is for DBF tables",
        ),
        (
            &["copy", "SELECT 1 AS a", "o.parquet", "--to-dialect", "foxpro"],
            "o.parquet: --to-dialect is for DBF tables",
        ),
        (
            &["copy", ".", "copies", "--to", "parquet", "--to-dialect", "foxpro"],
            "--to-dialect is for DBF tables",
        ),
        (
            &["copy", "t.dbf", "o.parquet", "--create", "--primary-key", "a"],
            "o.parquet: --primary-key is for tables of Cassandra, MySQL, PostgreSQL and SQLite",
        ),
        (
            &["copy", "t.dbf", "sqlite:o.db/t", "--create", "--engine", "Log"],
            "--engine is for tables of ClickHouse",
        ),
        (
            &["copy", "t.dbf", "o.parquet", "--create", "--keys"],
            "o.parquet: --keys is for tables of MySQL, PostgreSQL and SQLite",
        ),
        (
            &["copy", "t.csv", "o.parquet", "--codepage", "cp850"],
            "t.csv: --codepage is for xBase tables",
        ),
        (
            &["cat", "t.parquet", "--deleted", "include"],
            "t.parquet: --deleted is for xBase tables",
        ),
        (
            &["head", "t.csv", "--blank", "zero"],
            "t.csv: --blank is for xBase tables",
        ),
        (&["sample", "t.csv", "--strict"], "t.csv: --strict is for xBase tables"),
        (
            &["summarize", "t.parquet", "--recover"],
            "t.parquet: --recover is for xBase tables and record files",
        ),
        (
            &["cat", "t.dbf", "--message", "none"],
            "t.dbf: --message is for record files",
        ),
        (
            &["sql", "--server", "sqlite:o.db", "SELECT 1", "--blank", "zero"],
            "cannot be used with",
        ),
        (
            &["sql", "--server", "sqlite:o.db", "SELECT 1", "--create"],
            "cannot be used with",
        ),
    ] {
        let said = folder.run(args).failed();
        assert!(said.contains(message), "{args:?}: {said}");
    }
    assert!(!folder.file("o.parquet").exists() && !folder.file("copies").exists());
}

#[test]
fn as_many_rows_are_shown_as_are_asked_for() {
    let folder: Folder = crate::csv::folder_with(&[("t.csv", b"a\n1\n2\n3\n")]);
    for (format, shown) in [
        ("csv", "a\n1\n2\n"),
        ("jsonl", "{\"a\":1}\n{\"a\":2}\n"),
        ("json", "[{\"a\":1},{\"a\":2}]"),
    ] {
        let rows = folder.run(&["sql", "SELECT a FROM t", "--rows", "2", "--format", format]);
        assert_eq!(rows.done().trim_end(), shown.trim_end(), "{format}");
    }
    let all = folder.run(&["sql", "SELECT a FROM t", "--rows", "all", "--format", "csv"]);
    assert_eq!(all.done(), "a\n1\n2\n3\n");
}
