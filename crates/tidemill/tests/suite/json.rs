//! JSON as programs write it, through the program.

use std::process::Command;

use crate::csv::folder_with;

#[test]
fn values_may_stand_on_lines_or_in_an_array() {
    let folder = folder_with(&[
        ("lines.jsonl", b"{\"a\":1,\"b\":\"x\"}\n\n{\"a\":2}\n"),
        ("array.json", b" [{\"a\":1,\"b\":\"x\"},\r\n {\"a\":2}]\n"),
        ("pretty.json", b"{\n  \"a\": 1,\n  \"b\": \"x\"\n}\n{\n  \"a\": 2\n}\n"),
        ("mark.json", b"\xEF\xBB\xBF{\"a\":1,\"b\":\"x\"}\r\n{\"a\":2}"),
    ]);
    for name in ["lines.jsonl", "array.json", "pretty.json", "mark.json"] {
        let rows = folder.run(&["cat", name, "--format", "jsonl"]).done();
        assert_eq!(rows, "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":null}\n", "{name}");
        let sql = format!("SELECT COUNT(*) AS n, MAX(a) AS a FROM '{name}' WHERE b IS NULL");
        assert_eq!(folder.run(&["sql", &sql, "--format", "csv"]).done(), "n,a\n1,2\n");
        let sql = format!("SELECT COUNT(*) AS n FROM '{name}'");
        assert_eq!(folder.run(&["sql", &sql, "--format", "csv"]).done(), "n\n2\n", "{name}");
    }
}

#[test]
fn records_are_bounded_by_their_length_and_their_values() {
    let many = format!("{{\"a\":[{}1]}}\n", "1,".repeat(4_500_000));
    let pretty: String = (0..4_000)
        .map(|row| format!("{{\n  \"n\": {row},\n  \"t\": \"{}\"\n}}\n", "x".repeat(10_000)))
        .collect();
    let folder = folder_with(&[("many.json", many.as_bytes()), ("pretty.json", pretty.as_bytes())]);
    let sum = ["sql", "SELECT array_length(a) AS n FROM 'many.json'"];
    let refused = folder.run(&sum).failed();
    assert!(
        refused.contains("the record at byte 0 has more than 2000000 values; --max-memory"),
        "{refused}"
    );
    let lifted = folder.run(&[&sum[..], &["--max-memory", "2G"]].concat()).done();
    assert_eq!(lifted, "{\"n\":4500001}\n");
    // Those of several lines, longer in all than a record may be.
    let rows = folder.run(&[
        "sql",
        "SELECT COUNT(*) AS n, SUM(n) AS s FROM 'pretty.json'",
        "--format",
        "csv",
    ]);
    assert_eq!(rows.done(), "n,s\n4000,7998000\n");
}

#[test]
fn columns_hold_the_values_of_all_files() {
    let folder = folder_with(&[
        ("t-00000-of-00002.jsonl", b"{\"a\":1,\"b\":7}\n"),
        (
            "t-00001-of-00002.jsonl",
            b"{\"a\":2.5,\"c\":{\"d\":[true]}}\n{\"b\":\"x\"}\n",
        ),
    ]);
    assert_eq!(
        folder
            .run(&[
                "sql",
                "SELECT a, b, c FROM 't@2.jsonl' ORDER BY a NULLS LAST",
                "--format",
                "jsonl"
            ])
            .done(),
        "{\"a\":1.0,\"b\":\"7\",\"c\":null}\n{\"a\":2.5,\"b\":null,\"c\":{\"d\":[true]}}\n{\"a\":null,\"b\":\"x\",\"c\":null}\n"
    );
}

#[test]
fn faults_name_the_line_or_the_record() {
    let mut late = String::new();
    // More than are looked at, and enough to be read by several threads.
    (0..200_000).for_each(|row| late.push_str(&format!("{{\"a\":{row},\"b\":\"some text\"}}\n")));
    let in_array = format!("[{}{{\"a\":[1]}}]", late.replace('\n', ","));
    let cut = format!("{late}{{\"a\":1");
    late.push_str("\n{\"a\":\"n/a\"}\n");
    let folder = folder_with(&[
        ("syntax.jsonl", b"{\"a\":1}\n\n{\"a\":}\n"),
        ("syntax.json", b"[{\"a\":1},\n{\"a\":2},\n{\"a\":}]"),
        ("late.jsonl", late.as_bytes()),
        ("late.json", in_array.as_bytes()),
        ("cut.jsonl", cut.as_bytes()),
        ("open.json", b"[{\"a\":1}"),
        ("scalar.jsonl", b"{\"a\":1}\n17\n"),
    ]);
    folder.run(&["copy", "late.jsonl", "late.csv"]).failed();
    let packed = Command::new("gzip")
        .args(["-k", "late.jsonl"])
        .current_dir(folder.path())
        .status();
    assert!(packed.expect("gzip").success());
    for (name, part) in [
        ("syntax.jsonl", "syntax.jsonl: line 3: expected value"),
        ("syntax.json", "syntax.json: record 3: expected value"),
        ("late.jsonl", "late.jsonl: line 200002: whilst decoding field 'a'"),
        ("late.jsonl.gz", "late.jsonl.gz: line 200002: whilst decoding field 'a'"),
        ("late.json", "late.json: record 200001: whilst decoding field 'a'"),
        ("cut.jsonl", "cut.jsonl: line 200001: "),
        ("open.json", "open.json: cannot read: the array has no end"),
        ("scalar.jsonl", "scalar.jsonl"),
    ] {
        let error = folder.run(&["sql", &format!("SELECT MAX(a) FROM '{name}'")]).failed();
        assert!(error.contains(part), "{name}: {error}");
    }
}

#[test]
fn large_files_have_each_row_once() {
    const ROWS: u64 = 150_000;
    let lines: String = (0..ROWS)
        .map(|row| format!("{{\"n\":{row},\"t\":\"Gr\u{f6}\u{df}e\"}}\n"))
        .collect();
    let pretty = lines.replace("\",", "\",\n ").replace(",\"t", ",\n  \"t");
    let folder = folder_with(&[("lines.jsonl", lines.as_bytes()), ("pretty.json", pretty.as_bytes())]);
    let sum = ROWS * (ROWS - 1) / 2;
    for name in ["lines.jsonl", "pretty.json"] {
        let sql = format!(
            "SELECT COUNT(*) AS c, COUNT(DISTINCT n) AS d, SUM(n) AS s FROM '{name}' WHERE t = 'Gr\u{f6}\u{df}e'"
        );
        let found = folder.run(&["sql", &sql, "--format", "csv"]).done();
        assert_eq!(found, format!("c,d,s\n{ROWS},{ROWS},{sum}\n"), "{name}");
    }
    let plan = folder.run(&["sql", "EXPLAIN SELECT SUM(n) FROM 'lines.jsonl'"]).done();
    assert!(plan.contains("JsonScan"), "{plan}");
}

#[test]
fn arrays_of_json_are_compressed_whole() {
    let folder = folder_with(&[("t.csv", b"a\n1\n2\n")]);
    for name in ["t.json", "t.json.gz", "t.json.zst", "t.jsonl.gz"] {
        folder.run(&["copy", "t.csv", name]).done();
        assert_eq!(
            folder.run(&["cat", name, "--format", "csv"]).done(),
            "a\n1\n2\n",
            "{name}"
        );
    }
    let unpacked = Command::new("gzip")
        .args(["-dc", "t.json.gz"])
        .current_dir(folder.path())
        .output();
    assert_eq!(unpacked.expect("gzip").stdout, b"[{\"a\":1},{\"a\":2}]");
}

#[test]
fn columns_come_in_the_order_of_the_file() {
    let folder = folder_with(&[("o.jsonl", b"{\"b\":1,\"a\":\"x\"}\n{\"c\":2,\"b\":3}\n")]);
    let answer = folder
        .run(&["sql", "SELECT * FROM 'o.jsonl'", "--format", "csv"])
        .done();
    assert_eq!(answer, "b,a,c\n1,x,\n3,,2\n");
}
