//! CSV as the world writes it, through the program.

use std::fs;

use crate::run::Folder;

pub(crate) fn folder_with(files: &[(&str, &[u8])]) -> Folder {
    let folder = Folder::with(&[]);
    for (name, bytes) in files {
        fs::write(folder.file(name), bytes).expect("written");
    }
    folder
}

#[test]
fn dialects_are_found_by_looking() {
    let utf16 = "a;b\nä;1\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect::<Vec<u8>>();
    let folder = folder_with(&[
        ("semicolon.csv", b"a;b\n1;2,5\n"),
        ("tab.csv", b"a\tb\n1\t2.5\n"),
        ("twice.csv", b"a,a\n1,2\n"),
        ("windows.csv", b"name,city\nM\xFCller,K\xF6ln\nJ\xE4ger,L\xFCbeck\n"),
        ("mark.csv", b"\xEF\xBB\xBFa,b\n1,2\n"),
        ("utf16.csv", &[b"\xFF\xFE".to_vec(), utf16].concat()),
        ("headless.csv", b"1,2026-01-31\n2,2026-02-28\n"),
        ("zip.csv", b"zip,n\n00123,1\n"),
        ("null.csv", b"a,b\n1,\"\"\n2,\n"),
        ("long.csv", b"n\n12345678901234567890\n"),
        ("old.csv", b"a,b\r1,2\r3,4\r"),
    ]);
    for (name, expected) in [
        ("semicolon.csv", "{\"a\":1,\"b\":2.5}\n"),
        ("tab.csv", "{\"a\":1,\"b\":2.5}\n"),
        ("twice.csv", "{\"a\":1,\"a_2\":2}\n"),
        (
            "windows.csv",
            "{\"name\":\"Müller\",\"city\":\"Köln\"}\n{\"name\":\"Jäger\",\"city\":\"Lübeck\"}\n",
        ),
        ("mark.csv", "{\"a\":1,\"b\":2}\n"),
        ("utf16.csv", "{\"a\":\"ä\",\"b\":1}\n"),
        (
            "headless.csv",
            "{\"column1\":1,\"column2\":\"2026-01-31\"}\n{\"column1\":2,\"column2\":\"2026-02-28\"}\n",
        ),
        ("zip.csv", "{\"zip\":\"00123\",\"n\":1}\n"),
        ("null.csv", "{\"a\":1,\"b\":\"\"}\n{\"a\":2,\"b\":null}\n"),
        ("long.csv", "{\"n\":12345678901234567890}\n"),
        ("old.csv", "{\"a\":1,\"b\":2}\n{\"a\":3,\"b\":4}\n"),
    ] {
        assert_eq!(
            folder.run(&["cat", name, "--format", "jsonl"]).done(),
            expected,
            "{name}"
        );
    }
    let told = folder.run(&["inspect", "windows.csv"]).done();
    assert!(told.contains("dialect       delimiter ,, header, cp1252\n"), "{told}");
}

#[test]
fn options_behind_the_name_overrule_the_look() {
    let folder = folder_with(&[
        ("t.csv", b"a;b\n1;2,5\n"),
        ("export.txt", b"x|y\n1|2\n"),
        ("dos.csv", b"n\nM\x81ller\n"),
    ]);
    let first = |name: &str| {
        folder
            .run(&["sql", &format!("SELECT * FROM '{name}'"), "--format", "jsonl"])
            .done()
    };
    assert_eq!(first("t.csv?decimal=point"), "{\"a\":1,\"b\":\"2,5\"}\n");
    assert_eq!(
        first("t.csv?types=text&header=no"),
        "{\"column1\":\"a\",\"column2\":\"b\"}\n{\"column1\":\"1\",\"column2\":\"2,5\"}\n"
    );
    assert_eq!(first("export.txt?delim=|"), "{\"x\":1,\"y\":2}\n");
    assert_eq!(first("dos.csv?encoding=cp850"), "{\"n\":\"Müller\"}\n");
    let attached = folder.run(&[
        "sql",
        "--attach",
        "t=t.csv?delim=;",
        "SELECT b FROM t",
        "--format",
        "jsonl",
    ]);
    assert_eq!(attached.done(), "{\"b\":2.5}\n");
    for (name, part) in [
        (
            "t.csv?colour=red",
            "t.csv: colour: an option that CSV files do not have; they have delim",
        ),
        (
            "t.csv?delim=ab",
            "t.csv: delim=ab: a value that this option of CSV does not take",
        ),
    ] {
        let error = folder.run(&["cat", name]).failed();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn copies_are_written_in_the_dialect_that_is_asked_for() {
    let folder = folder_with(&[("t.csv", "name,price,note\nStuhl,12.5,\"\"\nTüre,,\"a;b\"\n".as_bytes())]);
    for name in [
        "semicolon.csv?delim=;&decimal=comma&encoding=cp1252",
        "packed.csv.gz",
        "packed.tsv.zst",
        "wide.csv?encoding=utf-16",
        "lines.jsonl.gz",
        "lines.jsonl.zst",
    ] {
        folder.run(&["copy", "t.csv", name]).done();
        let file = name.split('?').next().expect("a name");
        let rows = |file: &str| {
            let sql = format!("SELECT name, price, note FROM '{file}'");
            folder.run(&["sql", &sql, "--format", "jsonl"]).done()
        };
        assert_eq!(rows(file), rows("t.csv"), "{name}");
    }
    let bytes = fs::read(folder.file("semicolon.csv")).expect("read");
    assert_eq!(bytes, b"name;price;note\nStuhl;12,5;\"\"\nT\xFCre;;\"a;b\"\n");
    assert!(
        fs::read(folder.file("packed.csv.gz"))
            .expect("read")
            .starts_with(&[0x1F, 0x8B])
    );
    let error = folder.run(&["copy", "t.csv", "greek.csv?encoding=cp737"]).failed();
    assert!(error.contains("the letter 'ü' in cp737"), "{error}");
    assert!(!folder.file("greek.csv").exists());
    let error = folder.run(&["copy", "t.csv", "t.dbf?delim=;"]).failed();
    assert!(error.contains("options for a file of xbase"), "{error}");
}

#[test]
fn faults_name_the_line() {
    let mut late = "a,b\n".to_owned();
    // More than are looked at, and enough to be read by several threads.
    (0..200_000).for_each(|row| late.push_str(&format!("{row},some text\n")));
    late.push_str("n/a,x\n");
    let folder = folder_with(&[
        ("uneven.csv", b"a,b\n1,2\n\n3\n"),
        ("open.csv", b"a,b\n1,\"2\n3,4\n"),
        ("late.csv", late.as_bytes()),
        ("endless.csv", &[b"a\n".to_vec(), vec![b'x'; 40 << 20]].concat()),
    ]);
    for (name, part) in [
        ("uneven.csv", "uneven.csv: line 4: 1 field, and the header has 2"),
        ("open.csv", "open.csv: line 2: a quote is opened and never closed"),
        (
            "late.csv",
            "late.csv: line 200002: column a: 'n/a' is not a whole number",
        ),
        ("endless.csv", "endless.csv: line 2: a record of more than 32 MiB"),
    ] {
        let error = folder.run(&["sql", &format!("SELECT MAX(a) FROM '{name}'")]).failed();
        assert!(error.contains(part), "{name}: {error}");
    }
}

/// Files that are large enough to be read by several threads.
#[test]
fn large_files_have_each_row_once() {
    const ROWS: usize = 150_000;
    let rows = |line: &dyn Fn(usize) -> Vec<u8>| (0..ROWS).flat_map(line).collect::<Vec<u8>>();
    let begun = |head: &[u8], rows: Vec<u8>| [head, &rows].concat();
    let folder = folder_with(&[
        (
            "plain.csv",
            &begun(b"n,t\n", rows(&|row| format!("{row},Größe\n").into_bytes())),
        ),
        (
            "mark.csv",
            &begun(b"\xEF\xBB\xBFn,t\n", rows(&|row| format!("{row},Größe\n").into_bytes())),
        ),
        (
            "windows.csv",
            &begun(
                b"n,t\n",
                rows(&|row| [format!("{row},").as_bytes(), b"Gr\xF6\xDFe\n"].concat()),
            ),
        ),
        (
            "blank.csv",
            &begun(b"\n\nn,t\n", rows(&|row| format!("\n{row},Größe\n\n").into_bytes())),
        ),
        (
            "quoted.csv",
            &begun(
                b"n,t\n",
                rows(&|row| format!("{row},\"Größe, \"\"a\"\"\"\r\n").into_bytes()),
            ),
        ),
        (
            "broken.csv",
            &begun(b"n,t\n", rows(&|row| format!("{row},\"Grö\nße\"\n").into_bytes())),
        ),
    ]);
    for name in ["plain", "mark", "windows", "blank", "quoted", "broken"] {
        let sql = format!("SELECT COUNT(*) AS c, COUNT(DISTINCT n) AS d, SUM(n) AS s, MIN(t) AS t FROM {name}");
        let answer = folder.run(&["sql", &sql, "--format", "jsonl"]).done();
        let sum = ROWS * (ROWS - 1) / 2;
        let expected = format!("{{\"c\":{ROWS},\"d\":{ROWS},\"s\":{sum},\"t\":\"Gr");
        assert!(answer.starts_with(&expected), "{name}: {answer}");
    }
}
