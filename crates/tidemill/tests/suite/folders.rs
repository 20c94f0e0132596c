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
