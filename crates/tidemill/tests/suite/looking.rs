//! Looking at tables: their first rows, some of them, what their columns are like, what two have not in common.

use std::fs;

use crate::run::Folder;

/// A table of people, and a later state of it in other formats.
fn people() -> Folder {
    let folder = Folder::with(&[]);
    let rows = "id,name,city,phone,born,pay\n\
                1,Ada,London,020,1815-12-10,10.5\n\
                2,Béla,Malmö,96,1881-03-25,20\n\
                3,GarcÃ\u{ad}a,London,981,1899-12-30,\n\
                4,Di,London,0171,2961-07-01,20\n";
    fs::write(folder.file("people.csv"), rows).expect("written");
    folder
        .run(&["copy", "people.csv", "old.dbf", "--to-dialect", "visual-foxpro"])
        .done();
    let changed = "SELECT id, name, city, pay FROM people WHERE id <> 4";
    folder.run(&["copy", changed, "new.parquet"]).done();
    folder
}

#[test]
fn first_rows_and_some_rows() {
    let folder = people();
    let csv = |args: &[&str]| folder.run(&[args, &["--format", "csv"]].concat()).done();
    assert_eq!(
        csv(&["head", "new.parquet", "-n", "1"]),
        "id,name,city,pay\n1,Ada,London,10.5\n"
    );
    let all = csv(&["cat", "people.csv"]);
    assert_eq!(csv(&["head", "people.csv"]), all);
    assert_eq!(csv(&["sample", "people.csv"]), all);
    let numbers: String = (1..=1_000).map(|number| format!("{number}\n")).collect();
    fs::write(folder.file("numbers.csv"), format!("n\n{numbers}")).expect("written");
    let sample = |seed: &str| csv(&["sample", "numbers", "-n", "100", "--seed", seed]);
    let some = sample("1");
    let rows: Vec<u32> = some.lines().skip(1).map(|row| row.parse().expect("a number")).collect();
    assert_eq!(rows.len(), 100);
    assert!(rows.is_sorted_by(|a, b| a < b), "{rows:?}");
    // Each half of the table has its share.
    let low = rows.iter().filter(|row| **row <= 500).count();
    assert!((30..=70).contains(&low), "{low}");
    assert_eq!(sample("1"), some);
    assert_ne!(sample("2"), some);
    let piped = folder
        .fed(&["head", "-", "-n", "1", "--format", "csv"], "a,b\r\n1,2\r\n3,4\r\n")
        .done();
    assert_eq!(piped, "a,b\n1,2\n");
    for json in ["{\"a\": 1}\n{\"a\": 2}\n", "[{\"a\": 1}, {\"a\": 2}]"] {
        let shown = folder.fed(&["cat", "-", "--format", "csv"], json).done();
        assert_eq!(shown, "a\n1\n2\n", "{json}");
    }
    let utf16: Vec<u8> = [0xFF, 0xFE]
        .into_iter()
        .chain("{\"a\": 1}\n".encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    let utf16 = folder.fed_bytes(&["cat", "-"], &utf16).failed();
    assert!(utf16.contains("line 1"), "{utf16}");
    let (rows, back) = ("a,b\n1,2\n3,4\n", folder.file("back.csv"));
    let verified = folder.fed(&["verify", "-"], rows).done();
    assert!(verified.contains("standard input: 2 records, no damage"), "{verified}");
    let nothing = folder.fed(&["verify", "-"], "").failed();
    assert!(nothing.contains("standard input"), "{nothing}");
    drop(folder.fed(&["copy", "-", "back.csv"], rows).done());
    assert_eq!(std::fs::read_to_string(&back).expect("read"), rows);
    drop(folder.fed(&["diff", "-", "back.csv"], rows).done());
    let both = "SELECT COUNT(*) AS n FROM '-' JOIN back ON \"-\".a = back.a";
    assert_eq!(folder.fed(&["sql", both, "--format", "csv"], rows).done(), "n\n2\n");
}

#[test]
fn the_mean_is_the_sum_by_the_number_of_values() {
    let folder = Folder::with(&[]);
    let numbers: String = (0..10_000).map(|number| format!("{}\n", number % 10)).collect();
    std::fs::write(folder.file("digits.csv"), format!("digit\n{numbers}")).expect("written");
    let json = folder.run(&["summarize", "digits.csv", "--format", "jsonl"]).done();
    let column: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(column["mean"], 4.5);
}

#[test]
fn columns_are_summarized() {
    let folder = people();
    let json = folder.run(&["summarize", "people.csv", "--format", "jsonl"]).done();
    let columns: Vec<serde_json::Value> = json
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let names: Vec<_> = columns.iter().filter_map(|column| column["column"].as_str()).collect();
    assert_eq!(names, ["id", "name", "city", "phone", "born", "pay"]);
    let of = |name: &str| columns.iter().find(|column| column["column"] == name).expect(name);
    let id = of("id");
    assert_eq!(
        (&id["rows"], &id["nulls"], &id["distinct"]),
        (&4.into(), &0.into(), &4.into())
    );
    assert_eq!(
        (&id["least"], &id["median"], &id["greatest"]),
        (&"1".into(), &"2".into(), &"4".into())
    );
    assert_eq!((&id["q25"], &id["q75"]), (&"1".into(), &"3".into()));
    assert_eq!(id["mean"], 2.5);
    assert_eq!(id["histogram"], "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1");
    assert_eq!(of("pay")["nulls"], 1);
    assert_eq!(of("city")["frequent"], "London (3)");
    assert_eq!(of("born")["least"], "1815-12-10");
    assert_eq!(
        of("born")["notes"],
        "3 of 4 dates are before 1900; 1 of 4 dates are after 2099"
    );
    assert!(
        of("name")["notes"]
            .as_str()
            .is_some_and(|note| note.starts_with("1 of 4 texts look like UTF-8"))
    );
    assert_eq!(
        of("phone")["notes"],
        "every text is a number; as numbers, some would lose leading zeros"
    );

    let text = folder
        .run(&["summarize", "SELECT city, pay FROM people", "--format", "table"])
        .done();
    for part in [
        "│ pay    ┆ Float64 ┆     1 ┆ 2",
        "city: most often London (3)",
        "▄",
        "4 rows",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let nothing = folder
        .run(&["summarize", "SELECT id FROM people WHERE id > 9", "--format", "table"])
        .done();
    assert!(nothing.contains("0 rows"), "{nothing}");
    let dbf = folder.run(&["summarize", "old.dbf", "--format", "csv"]).done();
    assert_eq!(dbf.lines().count(), 7, "{dbf}");
}

#[test]
fn what_two_tables_have_not_in_common_is_listed() {
    let folder = people();
    let same = folder.run(&["diff", "people.csv", "SELECT * FROM people ORDER BY pay"]);
    assert_eq!((same.code, same.stdout.len()), (Some(0), 0), "{}", same.stderr);
    assert!(
        same.stderr.contains("4 rows the same, 0 only left, 0 only right"),
        "{}",
        same.stderr
    );

    // The copy has other columns, and lacks a row.
    let run = folder.run(&["diff", "old.dbf", "new.parquet", "--format", "csv"]);
    assert_eq!(run.code, Some(1));
    for part in [
        "columns that only the left has, not compared: PHONE, BORN",
        "3 rows the same, 1 only left, 0 only right",
    ] {
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
    assert_eq!(
        String::from_utf8_lossy(&run.stdout),
        "diff,rows,ID,NAME,CITY,PAY\nonly left,1,4,Di,London,20.0\n"
    );

    folder
        .run(&["sql", "UPDATE old SET pay = 11, city = 'Paris' WHERE id = 1"])
        .done();
    let run = folder.run(&["diff", "old.dbf", "new.parquet", "--key", "id", "--format", "csv"]);
    assert_eq!(run.code, Some(1));
    assert!(
        run.stderr
            .contains("2 rows the same, 1 changed, 1 only left, 0 only right"),
        "{}",
        run.stderr
    );
    assert_eq!(
        String::from_utf8_lossy(&run.stdout),
        "diff,ID,column,left,right\nchanged,1,CITY,Paris,London\nchanged,1,PAY,11.0,10.5\nonly left,4,,,\n"
    );
    let quiet = folder.run(&["diff", "new.parquet", "new.parquet", "-q"]);
    assert_eq!((quiet.code, quiet.stderr.as_str()), (Some(0), ""));
    let error = folder.run(&["diff", "old.dbf", "new.parquet", "--key", "idd"]).failed();
    assert!(error.contains("column idd as a key"), "{error}");
    let error = folder.run(&["diff", "old.dbf", "gone.parquet"]).failed();
    assert!(error.contains("gone.parquet"), "{error}");
}

#[test]
fn tables_are_made_elsewhere_by_the_statement_that_is_printed() {
    let folder = people();
    let ddl = |database: &str| folder.run(&["inspect", "old.dbf", "--ddl", database]).done();
    assert!(
        ddl("postgres").starts_with("CREATE TABLE \"old\" (\n    \"id\" "),
        "{}",
        ddl("postgres")
    );
    assert!(ddl("mysql").contains("`born` date"), "{}", ddl("mysql"));
    assert!(ddl("sqlite").contains("\"BORN\" DATE"), "{}", ddl("sqlite"));
    assert!(
        ddl("clickhouse").contains("ENGINE = MergeTree ORDER BY tuple();"),
        "{}",
        ddl("clickhouse")
    );
    assert!(ddl("duckdb").contains("\"PAY\" DOUBLE"), "{}", ddl("duckdb"));
    let error = folder.run(&["inspect", "old.dbf", "--ddl", "oracle"]).failed();
    assert!(error.contains("oracle") && error.contains("postgres"), "{error}");
}

#[test]
fn answers_are_drawn() {
    let folder = people();
    let bars = folder
        .run(&[
            "chart",
            "SELECT city, COUNT(*) AS n FROM people GROUP BY city ORDER BY n DESC",
        ])
        .done();
    let lines: Vec<&str> = bars.lines().collect();
    assert_eq!(lines[0], "n by city");
    assert!(lines[1].starts_with("London █") && lines[1].ends_with(" 3"), "{bars}");
    assert!(lines[2].starts_with("Malmö  █") && lines[2].ends_with(" 1"), "{bars}");
    let line = folder.run(&["chart", "people.csv", "--x", "born", "--y", "id"]).done();
    assert!(line.contains("1815-12-10") && line.contains("2961-07-01"), "{line}");
    let drawn = folder.run(&["chart", "people.csv", "--kind", "scatter", "--out", "p.svg"]);
    assert_eq!(drawn.code, Some(0), "{}", drawn.stderr);
    // The row without a value is told.
    assert!(
        drawn.stderr.contains("not drawn: 1 row") && drawn.stderr.contains("p.svg: 3 points"),
        "{}",
        drawn.stderr
    );
    let picture = fs::read_to_string(folder.file("p.svg")).expect("read");
    assert!(
        picture.starts_with("<svg ") && picture.contains("<circle "),
        "{picture}"
    );
    folder
        .run(&["chart", "people.csv", "--kind", "bar", "--out", "p.png"])
        .done();
    let picture = fs::read(folder.file("p.png")).expect("read");
    // The size stands in the first chunk (PNG, section 11.2.1).
    assert!(picture.starts_with(b"\x89PNG\r\n") && picture[16..24] == [0, 0, 3, 132, 0, 0, 2, 28]);
    for (args, says) in [
        (&["chart", "people.csv", "--out", "p.svg"][..], "cannot create p.svg"),
        (
            &["chart", "people.csv", "--out", "p.pdf"],
            "a chart is written as .svg or .png",
        ),
        (&["chart", "people.csv", "--y", "city"], "column city: expected numbers"),
        (
            &["chart", "people.csv", "--x", "town"],
            "column town not found; the columns are id, name",
        ),
        (
            &["chart", "people.csv", "--x", "city", "--kind", "line"],
            "--kind bar takes texts",
        ),
    ] {
        let error = folder.run(args).failed();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn statistics_tell_what_scans_read() {
    let folder = people();
    let run = folder.run(&["sql", "SELECT city FROM 'people.csv' WHERE id > 1", "--stats"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let line = run.stderr.lines().nth(1).expect("a scan");
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words[..3], ["3", "-", "CsvScan:"], "{}", run.stderr);
    folder.run(&["copy", "people.csv", "p.parquet"]).done();
    let run = folder.run(&["sql", "SELECT SUM(id) AS s FROM 'p.parquet'", "--stats"]);
    let line = run.stderr.lines().nth(1).expect("a scan");
    let bytes = line.split_whitespace().nth(1).expect("bytes").replace(',', "");
    assert!(bytes.parse::<u64>().is_ok_and(|bytes| bytes > 0), "{}", run.stderr);
}
