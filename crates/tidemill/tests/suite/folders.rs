//! Folders of tables, copied one by one.

use std::fs;

use crate::run::Folder;

fn names(folder: &Folder, below: &str) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder.file(below))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn folder_of(files: &[(&str, &str)]) -> Folder {
    let folder = Folder::with(&[]);
    fs::create_dir(folder.file("f")).expect("made");
    for (name, text) in files {
        fs::write(folder.file("f").join(name), text).expect("written");
    }
    folder
}

#[test]
fn names_keep_all_of_their_stem() {
    let folder = folder_of(&[("sales.2023.csv", "a\n1\n"), ("sales.2024.csv", "a\n2\n")]);
    folder.run(&["copy", "f", "g", "--to", "jsonl"]).done();
    assert_eq!(names(&folder, "g"), ["sales.2023.jsonl", "sales.2024.jsonl"]);
    assert_eq!(
        fs::read_to_string(folder.file("g/sales.2023.jsonl")).expect("read"),
        "{\"a\":1}\n"
    );
}

#[test]
fn destinations_are_compared_before_anything_is_written() {
    let folder = folder_of(&[
        ("orders.csv", "a\n1\n"),
        ("orders.jsonl", "{\"a\":2}\n"),
        ("x.csv", "a\n3\n"),
    ]);
    let said = folder
        .run(&["copy", "f", "g", "--to", "parquet", "--overwrite"])
        .failed();
    assert!(
        said.contains("nothing was copied") && said.contains("would both become g/orders.parquet"),
        "{said}"
    );
    assert!(!folder.file("g").exists());

    let said = folder.run(&["copy", "f", "f", "--to", "csv", "--overwrite"]).failed();
    assert!(
        said.contains("nothing was copied") && said.contains("copied too"),
        "{said}"
    );
    assert_eq!(fs::read_to_string(folder.file("f/orders.csv")).expect("read"), "a\n1\n");

    fs::remove_file(folder.file("f/orders.jsonl")).expect("removed");
    fs::create_dir(folder.file("g")).expect("made");
    fs::write(folder.file("g/x.parquet"), "somebody's").expect("written");
    let said = folder.run(&["copy", "f", "g", "--to", "parquet"]).failed();
    assert!(said.contains("g/x.parquet already exists"), "{said}");
    assert_eq!(names(&folder, "g"), ["x.parquet"]);
}

#[test]
fn one_table_goes_into_a_folder_under_its_name() {
    let folder = folder_of(&[("a.csv", "n\n1\n")]);
    drop(folder.run(&["copy", "f/a.csv", "g", "--to", "jsonl"]).done());
    assert_eq!(names(&folder, "g"), ["a.jsonl"]);
    let said = folder.run(&["copy", "f/a.csv", "g/b.csv", "--to", "jsonl"]).failed();
    assert!(
        said.contains("g/b.csv: a file, where --to jsonl needs a folder"),
        "{said}"
    );
    let said = folder
        .run(&["copy", "SELECT n FROM 'f/a.csv'", "h", "--to", "jsonl"])
        .failed();
    assert!(said.contains("--to is for tables"), "{said}");
    let said = folder.run(&["copy", "f", "sqlite:shop.db", "--to", "jsonl"]).failed();
    assert!(said.contains("leave out --to"), "{said}");
}

#[test]
fn one_bad_table_does_not_end_the_others() {
    let folder = folder_of(&[("a.csv", "a\n1\n"), ("b.dbf", "no table"), ("c.csv", "a\n3\n")]);
    let run = folder.run(&["copy", "f", "g", "--to", "jsonl", "--keep-going"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(
        run.stderr.contains("2 of 3 tables copied; not copied: f/b.dbf"),
        "{}",
        run.stderr
    );
    assert_eq!(names(&folder, "g"), ["a.jsonl", "c.jsonl"]);

    let said = folder.run(&["copy", "f", "h", "--to", "jsonl"]).failed();
    assert!(
        said.contains("f/b.dbf and 1 more table were not copied (--keep-going"),
        "{said}"
    );

    let run = folder.run(&["inspect", "f"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stderr.contains("b.dbf"), "{}", run.stderr);
    assert_eq!(String::from_utf8_lossy(&run.stdout).lines().count(), 2);
}

#[test]
fn an_empty_folder_leaves_nothing_behind() {
    let folder = folder_of(&[]);
    let said = folder.run(&["copy", "f", "g", "--to", "jsonl"]).failed();
    assert!(said.contains("f: no tables there"), "{said}");
    assert!(!folder.file("g").exists());
}

#[test]
fn a_plan_is_shown_and_nothing_is_copied() {
    let folder = Folder::with(&["xbase/ord_cdx.dbf", "xbase/ord_cdx.cdx"]);
    fs::write(folder.file("notes.csv"), "id,note\n1,a\n").expect("written");
    let plan = folder
        .run(&["copy", ".", "sqlite:shop.db", "--create", "--keys", "--dry-run"])
        .done();
    for part in [
        "ord_cdx.dbf → sqlite:shop.db/ord_cdx",
        "column",
        "INTEGER",
        " index (",
        "notes.csv → sqlite:shop.db/notes",
    ] {
        assert!(plan.contains(part), "{part}: {plan}");
    }
    let plan = folder.run(&["copy", ".", "out", "--to", "parquet", "--dry-run"]).done();
    assert!(plan.contains("→ out/notes.parquet"), "{plan}");
    let plan = folder
        .run(&["copy", "SELECT id FROM notes", "n.parquet", "--dry-run"])
        .done();
    assert!(plan.starts_with("answer → n.parquet"), "{plan}");
    for made in ["shop.db", "out", "n.parquet"] {
        assert!(!folder.file(made).exists(), "{made}");
    }
}

#[test]
fn tables_are_copied_side_by_side() {
    let folder = Folder::with(&[]);
    fs::create_dir(folder.file("in")).expect("a folder");
    for table in 0..7 {
        let rows: String = (0..500).map(|row| format!("{row},{}\n", row * table)).collect();
        fs::write(folder.file(&format!("in/t{table}.csv")), format!("a,b\n{rows}")).expect("written");
    }
    let copied = folder.run(&["copy", "in", "out", "--to", "parquet", "--jobs", "3"]);
    assert_eq!(copied.code, Some(0), "{}", copied.stderr);
    for table in 0..7 {
        let (before, after) = (format!("in/t{table}.csv"), format!("out/t{table}.parquet"));
        folder.run(&["diff", &before, &after]).done();
    }
    // One that fails ends those that have not begun; what was begun leaves nothing behind.
    fs::write(folder.file("in/t3.csv"), "a,b\n1\n2,3,4\n").expect("written");
    let failed = folder.run(&["copy", "in", "again", "--to", "parquet", "--jobs", "2"]);
    assert_eq!(failed.code, Some(2), "{}", failed.stderr);
    assert!(failed.stderr.contains("t3.csv"), "{}", failed.stderr);
    let left = fs::read_dir(folder.file("again")).expect("listed");
    let left: Vec<_> = left.map(|entry| entry.expect("an entry").file_name()).collect();
    let is_whole = |name: &std::ffi::OsString| name.to_string_lossy().ends_with(".parquet");
    assert!(left.iter().all(is_whole), "{left:?}");
    let rest = folder.run(&["copy", "in", "rest", "--to", "parquet", "--jobs", "4", "--keep-going"]);
    assert_eq!(rest.code, Some(1), "{}", rest.stderr);
    assert!(
        rest.stderr.contains("6 of 7 tables copied; not copied:"),
        "{}",
        rest.stderr
    );
}
