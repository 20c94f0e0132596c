//! The format of a file, by its bytes, whatever it is called and whichever command asks.

use std::fs;
use std::process::Stdio;

use crate::run::{Folder, Run};

/// A folder with three records each in files of the names that the world gives them.
fn records() -> Folder {
    let folder = Folder::with(&[]);
    fs::write(folder.file("three.csv"), "record\none\ntwo\nthree\n").expect("written");
    let records = "SELECT arrow_cast(record, 'Binary') AS record FROM 'three.csv'";
    for name in ["three.tfrecord", "three.tfrecord.gz", "three.tfrecord.zz"] {
        folder.run(&["copy", records, name, "--verify", "full"]).done();
    }
    folder
}

fn count(folder: &Folder, name: &str) -> String {
    folder
        .run(&["sql", &format!("SELECT COUNT(*) n FROM '{name}'")])
        .done()
        .trim()
        .to_owned()
}

#[test]
fn tfrecord_files_are_read_under_their_usual_names() {
    let folder = records();
    let starts = |name: &str, magic: &[u8]| {
        let bytes = fs::read(folder.file(name)).expect("read");
        assert!(bytes.starts_with(magic), "{name}: {:x?}", &bytes[..4]);
    };
    starts("three.tfrecord.gz", &[0x1f, 0x8b]);
    starts("three.tfrecord.zz", &[0x78]);
    for name in [
        "train.tfrecord-00000-of-00002",
        "train.tfrecord-00001-of-00002",
        "events.out.tfevents.1700000000.host",
        "part-r-00000",
        "three.tfrec",
        "three.recordio",
    ] {
        fs::copy(folder.file("three.tfrecord"), folder.file(name)).expect("copied");
        assert_eq!(count(&folder, name), "{\"n\":3}", "{name}");
        let verified = folder.run(&["verify", name]).done();
        assert_eq!(verified, format!("{name}: 3 records, no damage\n"));
        let inspected = folder.run(&["inspect", name, "--format", "json"]).done();
        assert!(inspected.contains("\"format\":\"tfrecord\""), "{inspected}");
    }
    for (name, n) in [
        ("three.tfrecord.gz", 3),
        ("three.tfrecord.zz", 3),
        ("train.tfrecord@2", 6),
        ("train.tfrecord-*", 6),
        ("train.tfrecord-*-of-00002", 6),
    ] {
        assert_eq!(count(&folder, name), format!("{{\"n\":{n}}}"), "{name}");
        folder.run(&["copy", name, "out.riegeli", "--overwrite"]).done();
        assert_eq!(count(&folder, "out.riegeli"), format!("{{\"n\":{n}}}"), "{name}");
    }
}

#[test]
fn an_array_record_file_is_one_under_any_name() {
    let folder = Folder::with(&["riegeli/array_record/ar_text_g1_zstd3.array_record"]);
    let given = "ar_text_g1_zstd3.array_record";
    let expected = count(&folder, given);
    for name in ["x.array_record-00000-of-00001", "x", "x.riegeli", "x.dbf"] {
        fs::copy(folder.file(given), folder.file(name)).expect("copied");
        assert_eq!(count(&folder, name), expected, "{name}");
        folder.run(&["copy", name, "out.tfrecord", "--overwrite"]).done();
        assert_eq!(count(&folder, "out.tfrecord"), expected, "{name}");
    }
    assert_eq!(count(&folder, "x.array_record@1"), expected);
}

#[test]
fn a_folder_leaves_out_nothing_without_telling() {
    let folder = records();
    fs::create_dir(folder.file("d")).expect("made");
    for name in ["a.tfrecord-00000-of-00002", "a.tfrecord-00001-of-00002", "b.tfrecord"] {
        fs::copy(folder.file("three.tfrecord"), folder.file("d").join(name)).expect("copied");
    }
    fs::copy(folder.file("three.tfrecord.gz"), folder.file("d/c.tfrecord.gz")).expect("copied");
    fs::write(folder.file("d/README.txt"), "Read me.\n").expect("written");
    fs::write(
        folder.file("d/e.tfrecord"),
        "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
    )
    .expect("written");
    let left_out = |said: &str| {
        assert!(
            said.contains("d/README.txt: left out: a file of a format that is not known\n")
                && said.contains("d/e.tfrecord: left out: a Git LFS pointer"),
            "{said}"
        );
    };
    let verify = folder.run(&["verify", "d"]);
    left_out(&verify.stderr);
    assert_eq!(
        verify.done(),
        "d/a.tfrecord-00000-of-00002: 3 records, no damage\nd/a.tfrecord-00001-of-00002: 3 records, no damage\n\
         d/b.tfrecord: 3 records, no damage\nd/c.tfrecord.gz: 3 records, no damage\n"
    );
    let copy = folder.run(&["copy", "d", "out", "--to", "parquet"]);
    left_out(&copy.stderr);
    copy.done();
    for name in ["a-00000-of-00002", "a-00001-of-00002", "b", "c"] {
        assert_eq!(count(&folder, &format!("out/{name}.parquet")), "{\"n\":3}", "{name}");
    }
    assert_eq!(count(&folder, "out/a@2.parquet"), "{\"n\":6}");
}

#[test]
fn a_binary_column_is_written_as_records_and_measured_by_bytes() {
    let folder = records();
    let some = "SELECT record FROM 'three.tfrecord' WHERE LENGTH(record) > 3";
    folder
        .run(&["copy", some, "long.array_record", "--verify", "full"])
        .done();
    let measured = folder.run(&[
        "sql",
        "SELECT LENGTH(record) l, OCTET_LENGTH(record) o, BIT_LENGTH(record) b, ENCODE(SUBSTR(record, 2, 3), 'hex') s, \
         ENCODE(LEFT(record, 1), 'hex') f, ENCODE(RIGHT(record, 1), 'hex') e \
         FROM 'long.array_record'",
    ]);
    assert_eq!(
        measured.done(),
        "{\"l\":5,\"o\":5,\"b\":40,\"s\":\"687265\",\"f\":\"74\",\"e\":\"65\"}\n"
    );
    for (rows, why) in [
        (
            "SELECT 1 AS a, 2 AS b",
            "writing rows of columns as tfrecord is not supported",
        ),
        (
            "SELECT arrow_cast(NULL, 'Binary') AS record",
            "NULL as a record, in row 1, is not supported; leave such rows out with a SELECT … WHERE record IS NOT NULL",
        ),
    ] {
        let said = folder.run(&["copy", rows, "x.tfrecord"]).failed();
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn what_is_no_table_is_told_by_its_name() {
    let folder = Folder::with(&[]);
    fs::write(folder.file("x.tfrecord"), "<!doctype html>\n<title>Sign in</title>").expect("written");
    fs::write(folder.file("empty"), "").expect("written");
    for (name, what) in [
        ("x.tfrecord", "x.tfrecord: an HTML page"),
        ("empty", "empty: an empty file"),
    ] {
        for command in ["verify", "inspect", "cat"] {
            let said = folder.run(&[command, name]).failed();
            assert!(said.contains(what), "{command}: {said}");
        }
    }
}

#[test]
fn files_whose_bytes_tell_their_format_come_by_a_pipe() {
    let folder = Folder::with(&[]);
    let rows = "id,name\n1,Ada\n2,Bob\n";
    fs::write(folder.file("t.csv"), rows).expect("written");
    let utf16: Vec<u8> = format!("\u{feff}{rows}")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    fs::write(folder.file("wide.csv"), utf16).expect("written");
    let mut files = vec!["t.csv", "wide.csv"];
    for file in [
        "t.csv.gz",
        "t.csv.zst",
        "t.jsonl",
        "t.jsonl.gz",
        "t.parquet",
        "t.arrow",
        "t.riegeli",
        "t.xlsx",
    ] {
        folder.run(&["copy", "t.csv", file, "-q"]).done();
        files.push(file);
    }
    for sql in [
        "CREATE TABLE u (id Integer, name Char(3))",
        "INSERT INTO u VALUES (1, 'Ada'), (2, 'Bob')",
    ] {
        folder.run(&["sql", sql]).done();
    }
    files.push("u.dbf");
    for file in files {
        let input = fs::File::open(folder.file(file)).expect("opened");
        let output = folder
            .command(&["cat", "-", "--format", "csv"])
            .stdin(Stdio::from(input))
            .output();
        assert_eq!(
            Run::of(output.expect("ended")).done().to_lowercase(),
            rows.to_lowercase(),
            "{file}"
        );
    }
}

/// Where the number of rows is known, shards have them in their order.
#[test]
fn a_copy_goes_into_several_files() {
    let folder = Folder::with(&[]);
    let rows: String = (0..5_000).map(|row| format!("{row}\n")).collect();
    fs::write(folder.file("n.csv"), format!("n\n{rows}")).expect("written");
    drop(folder.run(&["copy", "n.csv", "n.riegeli"]).done());
    let ask = |sql: &str| folder.run(&["sql", sql, "--format", "csv"]).done();
    for name in ["s@3.parquet", "s-*-of-3.jsonl", "s@3.riegeli", "s@3.csv"] {
        for more in [&["--verify", "counts"][..], &["--overwrite"]] {
            drop(folder.run(&[&["copy", "n.riegeli", name], more].concat()).done());
        }
        assert_eq!(
            ask(&format!("SELECT COUNT(*) AS n, SUM(n) AS s FROM '{name}'")),
            "n,s\n5000,12497500\n"
        );
    }
    for (shard, first) in [(0, 0), (1, 1_667), (2, 3_334)] {
        let name = format!("s-0000{shard}-of-00003.parquet");
        assert_eq!(
            ask(&format!("SELECT MIN(n) AS n FROM '{name}'")),
            format!("n\n{first}\n")
        );
    }
    // Records, and rows of which nobody knows how many come.
    drop(
        folder
            .run(&["copy", "s@3.riegeli", "r@2.tfrecord.gz", "--verify", "full"])
            .done(),
    );
    assert_eq!(ask("SELECT COUNT(*) AS n FROM 'r@2.tfrecord.gz'"), "n\n5000\n");
    drop(
        folder
            .run(&[
                "copy",
                "SELECT n FROM 'n.riegeli' WHERE n < 10",
                "q@2.arrow",
                "--verify",
                "full",
            ])
            .done(),
    );
    assert_eq!(ask("SELECT COUNT(*) AS n FROM 'q@2.arrow'"), "n\n10\n");
    // Files without rows do not decide types, and a packed one is read.
    drop(
        folder
            .run(&["copy", "SELECT n FROM 'n.riegeli' WHERE n IN (9, 1000)", "few@4.csv"])
            .done(),
    );
    assert_eq!(ask("SELECT MAX(n) AS n FROM 'few@4.csv'"), "n\n1000\n");
    drop(
        folder
            .run(&["copy", "r@2.tfrecord.gz", "few@4.tfrecord.gz", "--verify", "full"])
            .done(),
    );
    fs::write(folder.file("one.tfrecord"), b"").expect("written");
    drop(folder.run(&["copy", "one.tfrecord", "none.tfrecord.gz"]).done());
    assert_eq!(ask("SELECT COUNT(*) AS n FROM 'none.tfrecord.gz'"), "n\n0\n");
    // A set that cannot be replaced stays as it was.
    fs::remove_file(folder.file("s-00002-of-00003.csv")).expect("removed");
    fs::create_dir(folder.file("s-00002-of-00003.csv")).expect("made");
    let said = folder.run(&["copy", "n.csv", "s@3.csv", "--overwrite"]).failed();
    assert!(said.contains("s-00002-of-00003.csv: cannot replace"), "{said}");
    for shard in ["s-00000-of-00003.csv", "s-00001-of-00003.csv"] {
        assert_eq!(ask(&format!("SELECT COUNT(*) AS n FROM '{shard}'")), "n\n1667\n");
    }
    for (name, why) in [
        ("s-*.csv", "writing to a pattern is not supported"),
        ("s@3.parquet", "s-00000-of-00003.parquet: already exists"),
        ("s@3.dbf", "in several files is not supported"),
        ("s@101.csv", "writing 101 files at once is not supported"),
    ] {
        let said = folder.run(&["copy", "n.csv", name]).failed();
        assert!(said.contains(why), "{said}");
    }
}

/// The DBF is what its name without an extension means, in queries as in changes.
#[test]
fn one_rule_tells_which_file_a_name_means() {
    let folder = Folder::with(&[]);
    folder
        .run(&["sql", "CREATE TABLE orders (id Integer, total Integer)"])
        .done();
    folder
        .run(&["sql", "INSERT INTO orders VALUES (1, 10), (2, 20)"])
        .done();
    folder.run(&["copy", "orders.dbf", "orders.parquet"]).done();
    let told =
        "orders is orders.dbf; orders.parquet has the same name (write the extension, or --attach orders=FILE)\n";
    let total = |args: &[&str]| {
        let mut all = vec!["sql", "SELECT SUM(total) AS total FROM orders"];
        all.extend(args);
        let run = folder.run(&all);
        (run.stderr.clone(), run.done())
    };
    assert_eq!(total(&[]), (told.to_owned(), "{\"total\":30}\n".to_owned()));
    folder.run(&["sql", "UPDATE orders SET total = total + 1"]).done();
    assert_eq!(total(&[]).1, "{\"total\":32}\n");
    // What is attached is the one that is read, and no other is changed in its place.
    let attach = ["--attach", "orders=orders.parquet"];
    assert_eq!(total(&attach), (String::new(), "{\"total\":30}\n".to_owned()));
    for change in [
        "UPDATE orders SET total = 0",
        "DELETE FROM orders",
        "DROP TABLE orders",
        "BEGIN TRANSACTION; DELETE FROM orders; COMMIT WORK",
        "EXECUTE IMMEDIATE 'DROP TABLE orders'",
    ] {
        let mut args = vec!["sql", change];
        args.extend(attach);
        folder.run(&args).failed();
        assert_eq!(total(&[]).1, "{\"total\":32}\n", "{change}");
        assert_eq!(total(&attach).1, "{\"total\":30}\n", "{change}");
    }
    folder.run(&["sql", "DROP TABLE orders"]).done();
    assert_eq!(total(&[]), (String::new(), "{\"total\":30}\n".to_owned()));
    folder.run(&["sql", "DROP TABLE orders"]).failed();
    assert!(folder.file("orders.parquet").exists());
}

#[test]
fn a_uuid_is_printed_as_one() {
    let Some(server) = tidemill_testkit::ClickHouse::need() else {
        return;
    };
    let folder = Folder::with(&[]);
    server
        .query("CREATE TABLE ids ENGINE = Memory AS SELECT toUUID('67e55044-10b1-426f-9247-bb680e5fe0c8') AS id")
        .expect("made");
    let url = format!("clickhouse://default@{}/default/ids", server.native());
    folder.run(&["copy", &url, "ids.arrow"]).done();
    for table in [url.as_str(), "ids.arrow"] {
        for format in ["jsonl", "csv", "table"] {
            let printed = folder.run(&["cat", table, "--format", format]).done();
            assert!(
                printed.contains("67e55044-10b1-426f-9247-bb680e5fe0c8"),
                "{table}: {printed}"
            );
        }
    }
}

/// Values that a table in the making cannot hold are told by the name of the copy, with what to do.
#[test]
fn values_that_do_not_fit_are_told_with_what_to_do() {
    let folder = Folder::with(&[]);
    fs::write(folder.file("t.csv"), "n,x,city\n1,1.5,Rye\n2,,Győr\n").expect("written");
    let wrong = |sql: &str, options: &[&str]| {
        let error = folder.run(&[&["copy", sql, "t.dbf"], options].concat()).failed();
        assert!(!error.contains(".tidemill-") && !error.contains("--recover"), "{error}");
        error
    };
    let city = wrong("SELECT city FROM t", &[]);
    assert!(
        city.contains("t.dbf: row 2, column CITY: ") && city.contains("--to-codepage NAME"),
        "{city}"
    );
    let null = wrong("SELECT x FROM t", &[]);
    assert!(
        null.contains("row 2, column X: ") && null.contains("--to-dialect visual-foxpro"),
        "{null}"
    );
    folder
        .run(&[
            "copy",
            "t.csv",
            "t.dbf",
            "--to-dialect",
            "visual-foxpro",
            "--to-codepage",
            "cp1250",
        ])
        .done();
}

#[test]
fn errors_about_a_file_name_it_and_the_way_on() {
    let folder = Folder::with(&[]);
    std::fs::write(folder.file("p.parquet"), "PAR1 and no more PAR1").expect("written");
    let said = folder.run(&["cat", "p.parquet"]).failed();
    assert!(said.contains("p.parquet: cannot read: "), "{said}");
    std::fs::write(folder.file("a.csv"), "a\n1\n").expect("written");
    std::fs::write(folder.file("out.fpt"), "somebody's own").expect("written");
    let said = folder.run(&["copy", "a.csv", "out.dbf", "--overwrite"]).failed();
    assert!(
        said.contains("out.fpt: a file that belongs to no table of the destination; move it away"),
        "{said}"
    );
    assert_eq!(std::fs::read(folder.file("out.fpt")).expect("read"), b"somebody's own");
}

#[test]
fn a_bar_in_markdown_begins_no_cell() {
    let folder = Folder::with(&[]);
    fs::write(folder.file("m.csv"), "a|b,c\nx|y,1\n").expect("written");
    let table = folder.run(&["cat", "m.csv", "--format", "markdown"]).done();
    assert!(table.contains("a\\|b") && table.contains("| x\\|y "), "{table}");
}

/// A row without a value would be passed over by whoever reads the sheet.
#[test]
fn a_row_without_a_value_is_refused_by_a_sheet() {
    let folder = Folder::with(&[]);
    fs::write(folder.file("e.csv"), "a,b\n1,x\n,\n3,y\n").expect("written");
    let said = folder.run(&["copy", "e.csv", "e.xlsx"]).failed();
    assert!(
        said.contains("e.xlsx: row 2 has no value") && said.contains("WHERE"),
        "{said}"
    );
    assert!(!folder.file("e.xlsx").exists());
    folder
        .run(&["copy", "SELECT * FROM e WHERE a IS NOT NULL", "e.xlsx", "-q"])
        .done();
}

#[test]
fn faults_of_statements_are_told_without_the_engines_words() {
    let folder = Folder::with(&[]);
    fs::write(folder.file("l.csv"), "id,x\n1,a\n").expect("written");
    folder.run(&["sql", "CREATE TABLE u (ID Integer, Y Char(3))"]).done();
    for (sql, says) in [
        (
            "SELECT SUM(x) FROM l",
            "there is no function sum(Utf8), there is sum(Decimal)",
        ),
        ("SELECT x, zz FROM l NATURAL JOIN u", "column zz not found"),
    ] {
        let said = folder.run(&["sql", sql]).failed();
        assert!(said.contains(says) && !said.contains("DataFusion"), "{sql}: {said}");
    }
    // Columns that are spelled differently are merged.
    folder.run(&["sql", "INSERT INTO u VALUES (1, 'y')"]).done();
    for join in ["NATURAL JOIN u", "JOIN u USING (id)"] {
        let rows = folder.run(&["sql", &format!("SELECT * FROM l {join}")]);
        assert_eq!(rows.done(), "{\"id\":1,\"x\":\"a\",\"Y\":\"y\"}\n", "{join}");
    }
}

/// Strings of a FORMAT Native file are bytes where they are no text.
#[test]
fn bytes_go_through_files_of_clickhouse() {
    let folder = Folder::with(&[]);
    let made = folder.run(&[
        "copy",
        "SELECT 1 AS id, X'fffe00' AS b UNION ALL SELECT 2, X'' UNION ALL SELECT 3, NULL ORDER BY id",
        "b.native",
    ]);
    made.done();
    let rows = folder.run(&["sql", "SELECT id, encode(b, 'hex') AS b FROM 'b.native' ORDER BY id"]);
    assert_eq!(
        rows.done(),
        "{\"id\":1,\"b\":\"fffe00\"}\n{\"id\":2,\"b\":\"\"}\n{\"id\":3,\"b\":null}\n"
    );
}

/// The first block says what a column is; other columns of a file are read whatever its strings are.
#[test]
fn bytes_behind_texts_are_read_where_they_are_asked_for() {
    let folder = Folder::with(&[]);
    // More rows than a block has.
    let rows = "SELECT value AS id, arrow_cast('text', 'Binary') AS b FROM generate_series(1, 199999) \
                UNION ALL SELECT 200000, X'fffe'";
    folder.run(&["copy", rows, "late.native"]).done();
    assert_eq!(count(&folder, "late.native"), "{\"n\":200000}");
    let last = folder.run(&["sql", "SELECT id FROM 'late.native' WHERE id > 199999"]);
    assert_eq!(last.done(), "{\"id\":200000}\n");
    let error = folder.run(&["sql", "SELECT MAX(b) FROM 'late.native'"]).failed();
    assert!(error.contains("column b: bytes that are no text"), "{error}");
    let bytes = "SELECT encode(b, 'hex') AS b FROM 'late.native?binary_strings=true' WHERE id > 199999";
    assert_eq!(folder.run(&["sql", bytes]).done(), "{\"b\":\"fffe\"}\n");
    let error = folder.run(&["sql", "SELECT 1 FROM 'late.native?strings=any'"]).failed();
    assert!(
        error.contains("files of FORMAT Native have the option binary_strings=true"),
        "{error}"
    );
}

#[test]
fn bytes_that_a_format_has_not_are_told() {
    let folder = Folder::with(&[]);
    let rows = "SELECT 1 AS id, X'ff' AS b UNION ALL SELECT 2, X'' UNION ALL SELECT 3, NULL";
    for (file, told) in [
        ("b.dbf", "column b: NULL became empty bytes in 1 row"),
        ("b.adt", "column b: empty bytes became NULL in 1 row"),
    ] {
        let run = folder.run(&["copy", rows, file]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert!(run.stderr.contains(told), "{file}: {}", run.stderr);
    }
}

/// Tables hold times of one day.
#[test]
fn a_time_of_24_hours_is_refused_where_it_could_not_be_read() {
    let folder = Folder::with(&[]);
    let times = "SELECT arrow_cast(CAST(86400 AS INTEGER), 'Time32(Second)') AS t";
    for file in ["t.dbf", "t.adt"] {
        let error = folder
            .run(&["copy", times, file, "--to-dialect", "visual-foxpro"])
            .failed();
        assert!(error.contains("a time of day before 24:00"), "{file}: {error}");
        assert!(!folder.file(file).exists());
    }
}

/// Whichever command reads it, a file that is none of its format is named, with what is wrong.
#[test]
fn files_that_cannot_be_read_are_named_with_the_cause() {
    let folder = Folder::with(&[]);
    for (name, bytes, why) in [
        ("empty.parquet", &b""[..], "no bytes"),
        ("empty.arrow", b"", "no bytes"),
        ("cut.parquet", b"PAR1 and no more", "Corrupt footer"),
        (
            "noise.arrow",
            b"neither a file nor a stream of Arrow, however it is read",
            "Failed to parse Arrow file",
        ),
    ] {
        fs::write(folder.file(name), bytes).expect("written");
        let query = format!("SELECT * FROM '{name}'");
        for args in [&["sql", query.as_str()][..], &["cat", name], &["copy", name, "x.csv"]] {
            let error = folder.run(args).failed();
            assert!(error.contains(name) && error.contains(why), "{args:?}: {error}");
        }
        let run = folder.run(&["verify", name]);
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(said.contains(name) && said.contains(why), "{said}");
    }
}
