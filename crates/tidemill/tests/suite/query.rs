//! `sql` and `copy`.

use std::fs;
use std::process::Stdio;

use insta::assert_snapshot;

use crate::run::{Folder, Run};

const PEOPLE: &str = "id,Name,born\n1,Ada,1815-12-10\n2,Béla,\n3,Çiğdem,1999-01-01\n";

fn people() -> Folder {
    let folder = Folder::with(&[]);
    fs::write(folder.file("people.csv"), PEOPLE).expect("written");
    folder
}

#[test]
fn an_answer_comes_in_every_format() {
    let folder = people();
    let answer = |format| folder.run(&["sql", "SELECT NAME, born FROM people WHERE id < 3", "--format", format]);
    assert_snapshot!(answer("table").done(), @r"
    ┌──────┬────────────┐
    │ Name ┆ born       │
    ╞══════╪════════════╡
    │ Ada  ┆ 1815-12-10 │
    │ Béla ┆ NULL       │
    └──────┴────────────┘
    ");
    assert_snapshot!(answer("markdown").done(), @r"
    | Name | born       |
    |------|------------|
    | Ada  | 1815-12-10 |
    | Béla |            |
    ");
    assert_snapshot!(answer("csv").done(), @r"
    Name,born
    Ada,1815-12-10
    Béla,
    ");
    assert_snapshot!(answer("jsonl").done(), @r#"
    {"Name":"Ada","born":"1815-12-10"}
    {"Name":"Béla","born":null}
    "#);
    assert_snapshot!(answer("json").done(), @r#"[{"Name":"Ada","born":"1815-12-10"},{"Name":"Béla","born":null}]"#);
    for (format, magic) in [("parquet", &b"PAR1"[..]), ("arrow", b"\xFF\xFF\xFF\xFF")] {
        let run = answer(format);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert!(run.stdout.starts_with(magic), "{format}");
    }
    // A pipe gets a line a row.
    let run = folder.run(&["sql", "SELECT COUNT(*) AS n FROM people"]);
    assert_eq!(run.done(), "{\"n\":3}\n");
}

#[test]
fn a_statement_may_come_from_standard_input() {
    let folder = people();
    let run = folder.fed(
        &["sql", "-", "--format", "csv"],
        "SELECT MAX(id) AS last\nFROM people;\n",
    );
    assert_eq!(run.done(), "last\n3\n");
}

#[test]
fn errors_are_for_the_person_at_the_terminal() {
    let folder = people();
    let error = |args: &[&str]| folder.run(args).failed();
    for (sql, expected) in [
        (
            "SELECT * FROM poeple",
            "tidemill: table poeple not found; this folder has people\n  SELECT * FROM poeple\n                ^\n",
        ),
        (
            "SELEC 1",
            "tidemill: expected a statement, found SELEC (line 1, column 1)\n",
        ),
        (
            "SELECT id\n, nam FROM people",
            "tidemill: column nam not found; did you mean Name?\nline 2:\n  , nam FROM people\n    ^\n",
        ),
        (
            r"SELECT * FROM 'D:\DATA\X.DBF'",
            "tidemill: table D:\\DATA\\X.DBF not found; map drive D: to a folder with --drive D=FOLDER\n  SELECT * FROM 'D:\\DATA\\X.DBF'\n                ^\n",
        ),
    ] {
        assert_eq!(error(&["sql", sql]), expected);
    }
    assert_snapshot!(
        error(&["copy", "people", "people.csv"]),
        @"tidemill: people.csv: already exists; --overwrite replaces it"
    );
    assert_snapshot!(
        error(&["copy", "people", "people.doc"]),
        @"tidemill: people.doc: writing a file of this name is not supported; the extension tells the format: .dbf .adt .riegeli .array_record .arrayrecord .tfrecord .tfrecords .tfrec .native .parquet .arrow .feather .ipc .csv .tsv .xlsx .jsonl .ndjson .json"
    );
    assert_snapshot!(
        error(&["cat", "people", "--format", "framed"]),
        @"tidemill: people.csv: --format framed and raw are for record files"
    );
    assert_eq!(folder.run(&["sql"]).code, Some(2));
}

#[test]
fn tables_are_found_by_name_path_drive_and_attachment() {
    let folder = people();
    fs::create_dir(folder.file("DATA")).expect("made");
    fs::rename(folder.file("people.csv"), folder.file("DATA/PEOPLE.CSV")).expect("moved");
    for args in [
        &["sql", "SELECT COUNT(*) AS n FROM people", "--dir", "DATA"][..],
        &["sql", "SELECT COUNT(*) AS n FROM 'data/people.csv'"],
        &[
            "sql",
            r"SELECT COUNT(*) AS n FROM [C:\data\people.csv]",
            "--drive",
            "C=.",
        ],
        &[
            "sql",
            "SELECT COUNT(*) AS n FROM folk",
            "--attach",
            "FOLK=DATA/PEOPLE.CSV",
        ],
    ] {
        assert_eq!(folder.run(args).done(), "{\"n\":3}\n", "{args:?}");
    }
}

#[test]
fn a_table_a_folder_and_an_answer_are_copied() {
    let folder = people();
    let run = folder.run(&["copy", "people.csv", "people.riegeli"]);
    let (columns, done) = run
        .stderr
        .trim_end()
        .rsplit_once('\n')
        .expect("columns, then what was done");
    let columns: Vec<Vec<&str>> = columns.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(columns[0], ["column", "type", "becomes", "loses"]);
    assert_eq!(columns[1], ["id", "Int64", "Int64"]);
    assert!(done.starts_with("people.csv → people.riegeli: 3 rows, "), "{done}");
    assert_eq!(run.done(), "");
    fs::remove_file(folder.file("people.csv")).expect("removed");
    folder
        .run(&["copy", ".", "copies", "--to", "dbf", "--to-codepage", "cp857"])
        .done();
    folder
        .run(&[
            "copy",
            "SELECT name FROM 'copies/people.dbf' WHERE born IS NULL",
            "one.csv",
        ])
        .done();
    assert_eq!(
        fs::read_to_string(folder.file("one.csv")).expect("a copy"),
        "NAME\nBéla\n"
    );
}

#[test]
fn explain_shows_what_is_pushed_into_the_scan() {
    let folder = people();
    folder.run(&["copy", "people.csv", "people.riegeli"]).done();
    let plan = folder
        .run(&[
            "sql",
            "SELECT name FROM 'people.riegeli' WHERE id > 1 LIMIT 1",
            "--explain",
            "--format",
            "csv",
        ])
        .done();
    assert!(
        plan.contains("RiegeliScan: file=people.riegeli, columns=[Name], filter=id@0 > 1, limit=1"),
        "{plan}"
    );
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let folder = Folder::with(&[]);
    let rows: String = (0..200_000)
        .map(|row| format!("{row},some text to fill the pipe\n"))
        .collect();
    fs::write(folder.file("long.csv"), format!("n,text\n{rows}")).expect("written");
    let mut child = folder
        .command(&["cat", "long.csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    drop(child.stdout.take());
    let run = Run::of(child.wait_with_output().expect("ended"));
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
}

/// A damaged index keeps nobody from the table's rows; who changes them hears how to get a sound one.
#[test]
fn a_damaged_index_is_told_with_what_to_do() {
    let folder = Folder::with(&[]);
    for sql in [
        "CREATE TABLE t (id Integer)",
        "INSERT INTO t VALUES (1), (2)",
        "CREATE INDEX id ON t (id)",
    ] {
        drop(folder.run(&["sql", sql]).done());
    }
    let index = folder.file("t.cdx");
    let mut bytes = fs::read(&index).expect("read");
    bytes[..512].fill(0);
    fs::write(&index, &bytes).expect("written");
    assert_eq!(
        folder
            .run(&["sql", "SELECT COUNT(*) AS n FROM t", "--format", "csv"])
            .done(),
        "n\n2\n"
    );
    for args in [&["sql", "UPDATE t SET id = 3 WHERE id = 2"][..], &["reindex", "t.dbf"]] {
        let said = folder.run(args).failed();
        assert!(
            said.contains("move the file away, and make the tags with CREATE INDEX"),
            "{args:?}: {said}"
        );
    }
    fs::rename(&index, folder.file("old")).expect("moved");
    drop(folder.run(&["sql", "CREATE INDEX id ON t (id)"]).done());
    drop(folder.run(&["sql", "UPDATE t SET id = 3 WHERE id = 2"]).done());
    drop(folder.run(&["verify", "t.dbf"]).done());
}

#[test]
fn a_file_that_ends_early_is_an_error_whatever_is_asked_of_it() {
    let folder = people();
    folder
        .run(&[
            "copy",
            "SELECT value AS n FROM generate_series(1, 5000)",
            "n.riegeli",
            "--riegeli",
            "zstd,chunk_size:1k",
        ])
        .done();
    let bytes = fs::read(folder.file("n.riegeli")).expect("read");
    fs::write(folder.file("n.riegeli"), &bytes[..bytes.len() - 100]).expect("written");
    for sql in [
        "SELECT COUNT(*) FROM n",
        "SELECT COUNT(n) AS c FROM n WHERE n > 0",
        "SELECT * FROM n",
    ] {
        let error = folder.run(&["sql", sql]);
        assert_eq!(error.code, Some(2), "{sql}");
        let says = "tidemill: n.riegeli: truncated: ";
        let hint = "; verify lists all damage, --recover skips it\n";
        assert!(
            error.stderr.starts_with(says) && error.stderr.ends_with(hint),
            "{sql}: {}",
            error.stderr
        );
    }
    let recovered = folder.run(&["sql", "SELECT COUNT(n) AS c FROM n", "--recover"]);
    assert!(
        recovered.stderr.starts_with("n.riegeli: skipped region ["),
        "{}",
        recovered.stderr
    );
    assert!(recovered.done().starts_with("{\"c\":4"));
}

/// A table and its copy count alike, and ADS's rule is there for the asking.
#[test]
fn blanks_are_null_unless_zero_is_asked_for() {
    let folder = Folder::with(&[]);
    let sql = |arguments: &[&str]| folder.run(&[&["sql"], arguments].concat()).done();
    sql(&["CREATE TABLE t (id Integer, n Numeric(6,2), l Logical, d Date)"]);
    sql(&["INSERT INTO t VALUES (1, 2.5, TRUE, '2024-02-29')"]);
    sql(&["INSERT INTO t (id) VALUES (2)"]);
    folder.run(&["copy", "t.dbf", "c.parquet"]).done();
    let count = "SELECT COUNT(n) AS n, COUNT(l) AS l, COUNT(d) AS d, AVG(n) AS a FROM ";
    assert_eq!(sql(&[&format!("{count} t")]), "{\"n\":1,\"l\":1,\"d\":1,\"a\":2.5}\n");
    assert_eq!(
        sql(&[&format!("{count} c")]),
        "{\"n\":1,\"l\":1,\"d\":1,\"a\":2.500000}\n"
    );
    assert_eq!(
        sql(&["--blank", "zero", &format!("{count} t")]),
        "{\"n\":2,\"l\":2,\"d\":2,\"a\":1.25}\n"
    );
    // Changes go by the same rule, and so do joins, which the engine answers.
    assert_eq!(sql(&["SELECT t.id FROM t JOIN c ON c.id = t.id WHERE t.n = 0"]), "");
    sql(&["DELETE FROM t WHERE n = 0"]);
    assert_eq!(sql(&["SELECT COUNT(*) AS n FROM t"]), "{\"n\":2}\n");
    sql(&["--blank", "zero", "DELETE FROM t WHERE n = 0"]);
    assert_eq!(sql(&["SELECT COUNT(*) AS n FROM t"]), "{\"n\":1}\n");
}

#[test]
fn a_text_of_statements_over_several_stores_runs_in_order() {
    let folder = Folder::with(&[]);
    fs::write(folder.file("more.csv"), "id,n\n1,10\n2,20\n3,30\n").expect("written");
    let text = "SELECT id, n INTO t FROM more WHERE id < 3; INSERT INTO t SELECT id, n FROM more WHERE id = 3; \
                WITH t AS (SELECT id FROM t WHERE n > 10) SELECT COUNT(*) AS n FROM t; SELECT id FROM more LIMIT 1 OFFSET 2";
    let done = folder.run(&["sql", text]).done();
    assert!(done.ends_with("{\"n\":2}\n{\"id\":3}\n"), "{done}");
}

#[test]
fn a_blank_date_breaks_no_function() {
    let folder = Folder::with(&[]);
    let sql = |arguments: &[&str]| folder.run(&[&["sql"], arguments].concat()).done();
    sql(&["CREATE TABLE t (d Date, m Timestamp)"]);
    sql(&["INSERT INTO t VALUES (NULL, NULL)"]);
    for blank in ["null", "zero"] {
        for (call, expected) in [
            ("date_trunc('month', d)", "null"),
            ("date_trunc('hour', m)", "null"),
            ("date_bin(INTERVAL '1' day, d)", "null"),
            ("to_char(d, '%Y')", "null"),
            ("to_unixtime(d)", "null"),
            ("date_part('year', d)", "null"),
            ("array_agg(d)", "[null]"),
            ("arrow_cast(d, 'Date64')", "null"),
            ("make_array(m)", "[null]"),
            ("greatest(d, DATE '2020-01-01')", "\"2020-01-01\""),
            ("MAX(d)", "null"),
        ] {
            let answer = sql(&["--blank", blank, &format!("SELECT {call} AS x FROM t")]);
            assert_eq!(answer, format!("{{\"x\":{expected}}}\n"), "{blank}: {call}");
        }
    }
}

#[test]
fn a_wrong_path_is_answered_by_its_own_folder() {
    let folder = Folder::with(&[]);
    std::fs::create_dir(folder.file("sub")).expect("made");
    std::fs::write(folder.file("here.csv"), "a\n1\n").expect("written");
    std::fs::write(folder.file("sub/there.csv"), "a\n1\n").expect("written");
    for (arguments, expected) in [
        (
            &["cat", "sub/thre.csv"][..],
            "tidemill: sub/thre.csv: no such table; sub has there\n",
        ),
        (
            &["cat", "thre.csv"],
            "tidemill: thre.csv: no such table; this folder has here\n",
        ),
        (
            &["cat", "nodir/x.dbf"],
            "tidemill: nodir/x.dbf: no such table; there is no folder nodir\n",
        ),
        (
            &["copy", "--quiet", "here.csv", "nodir/x.parquet"],
            "tidemill: nodir/x.parquet: there is no folder nodir; make it first, or name another destination\n",
        ),
    ] {
        let run = folder.run(arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}");
        assert!(run.stderr.ends_with(expected), "{arguments:?}: {}", run.stderr);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_named() {
    let folder = Folder::with(&[]);
    std::fs::write(folder.file("here.csv"), "a\n1\n").expect("written");
    let full = || std::fs::File::options().write(true).open("/dev/full").expect("opened");
    for arguments in [
        &["sql", "SELECT * FROM here", "--format", "jsonl"][..],
        &["sql", "SELECT * FROM here", "--format", "csv"],
        &["sql", "SELECT * FROM here", "--format", "table"],
        &["cat", "here.csv", "--format", "parquet"],
        &["inspect", "here.csv"],
    ] {
        let ended = folder.command(arguments).stdout(full()).output().expect("started");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}");
        assert!(
            said.contains("tidemill: cannot write to standard output: No space left on device"),
            "{arguments:?}: {said}"
        );
    }
}

#[test]
fn the_program_checks_itself() {
    let folder = Folder::with(&[]);
    let said = folder.run(&["self-check"]).done();
    assert!(said.contains("ok      keep other programs away by a lock"), "{said}");
    assert!(said.ends_with("all 14 checks passed\n"), "{said}");
    assert_eq!(std::fs::read_dir(folder.file(".")).expect("listed").count(), 0);
    let run = folder.run(&["self-check", "nodir"]);
    assert_eq!(run.code, Some(2));
    assert!(
        run.stderr.contains("nodir: cannot make a folder in it"),
        "{}",
        run.stderr
    );
}

#[test]
fn nulls_come_where_the_order_says() {
    let folder = Folder::with(&[]);
    std::fs::write(folder.file("s.csv"), "id,v,g\n1,10,a\n2,,\n3,5,b\n").expect("written");
    for name in ["t.dbf", "t.adt", "t.parquet"] {
        folder.run(&["copy", "-q", "s.csv", name]).done();
        for (order, expected) in [
            ("v NULLS LAST", "3,1,2"),
            ("v NULLS FIRST", "2,3,1"),
            ("v DESC NULLS FIRST", "2,1,3"),
            ("v DESC NULLS LAST", "1,3,2"),
            ("v", "2,3,1"),
            ("v NULLS LAST LIMIT 2", "3,1"),
        ] {
            let sql = format!("SELECT id FROM '{name}' ORDER BY {order}");
            let rows = folder.run(&["sql", &sql, "--format", "csv"]).done();
            let ids: Vec<&str> = rows.lines().skip(1).collect();
            assert_eq!(ids.join(","), expected, "{sql}");
        }
        for (condition, expected) in [("DISTINCT FROM 'a'", "2,3"), ("NOT DISTINCT FROM 'a'", "1")] {
            let sql =
                format!("WITH w AS (SELECT id, g FROM '{name}') SELECT id FROM w WHERE g IS {condition} ORDER BY id");
            let rows = folder.run(&["sql", &sql, "--format", "csv"]).done();
            let ids: Vec<&str> = rows.lines().skip(1).collect();
            assert_eq!(ids.join(","), expected, "{sql}");
        }
    }
}

#[test]
fn names_that_are_numbers_are_copied_to_csv() {
    let folder = Folder::with(&[]);
    std::fs::write(folder.file("p.csv"), "name;a\nx;1\n").expect("written");
    folder
        .run(&[
            "copy",
            "-q",
            "SELECT name AS \"2019\", a AS \"2020\" FROM 'p.csv'",
            "q.csv",
        ])
        .done();
    let written = std::fs::read_to_string(folder.file("q.csv")).expect("read");
    assert_eq!(written, "2019,2020\nx,1\n");
}

#[test]
fn a_sum_that_has_no_room_is_an_error() {
    let folder = Folder::with(&[]);
    fs::write(folder.file("n.csv"), "n\n9223372036854775807\n1\n").expect("written");
    let error = folder
        .run(&["sql", "SELECT SUM(n) FROM n", "--format", "jsonl"])
        .failed();
    assert!(error.contains("CAST(… AS DECIMAL(38, 0))"), "{error}");
    let wide = "SELECT SUM(CAST(n AS DECIMAL(38, 0))) AS s FROM n";
    let wide = folder.run(&["sql", wide, "--format", "csv"]);
    assert_eq!(wide.done(), "s\n9223372036854775808\n");
}

#[test]
fn forms_of_the_standard_are_answered_over_every_kind_of_table() {
    let folder = people();
    drop(
        folder
            .run(&["copy", "people.csv", "people.dbf", "--to-codepage", "cp1254"])
            .done(),
    );
    drop(folder.run(&["copy", "people.csv", "people.parquet"]).done());
    for table in ["people.csv", "people.dbf", "people.parquet"] {
        for (sql, expected) in [
            ("SELECT id FROM 'T' ORDER BY id FETCH FIRST 2 ROWS ONLY", "1 2"),
            (
                "SELECT id FROM 'T' ORDER BY id OFFSET 1 ROWS FETCH NEXT 1 ROW ONLY",
                "2",
            ),
            ("SELECT VARIANCE(id) AS v FROM 'T'", "1.0"),
            ("SELECT EVERY(id > 1) AS v FROM 'T'", "false"),
            (
                "SELECT LENGTH(CAST(GEN_RANDOM_UUID() AS VARCHAR)) AS v FROM 'T' WHERE id = 1",
                "36",
            ),
        ] {
            let sql = sql.replace("'T'", &format!("'{table}'"));
            let answer = folder.run(&["sql", &sql, "--format", "csv"]).done();
            let rows: Vec<&str> = answer.lines().skip(1).collect();
            assert_eq!(rows.join(" "), expected, "{sql}");
        }
    }
    let described = folder
        .run(&["sql", "DESCRIBE people.parquet", "--format", "csv"])
        .done();
    assert!(described.contains("born,"), "{described}");
    let refused = folder.run(&["sql", "DESCRIBE nobody"]).failed();
    assert!(refused.contains("nobody: no such table"), "{refused}");
}

#[test]
fn a_table_is_followed_into_a_file_of_this_folder() {
    let folder = people();
    drop(
        folder
            .run(&["copy", "people.csv", "people.dbf", "--to-codepage", "cp1254"])
            .done(),
    );
    let mut following = folder.command(&["copy", "people.dbf", "copy.dbf", "--follow", "--to-codepage", "cp1254"]);
    let mut following = following.stderr(Stdio::null()).spawn().expect("started");
    let count = || {
        let run = folder.run(&["sql", "SELECT COUNT(*) AS n FROM 'copy.dbf'", "--format", "csv"]);
        run.code == Some(0) && run.stdout == b"n\n3\n"
    };
    let copied = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        count()
    });
    let _ = following.kill();
    let _ = following.wait();
    assert!(copied);
}

#[test]
fn a_table_under_a_name_that_is_nobodys_is_not_that_of_the_folder() {
    let folder = Folder::with(&[]);
    fs::create_dir(folder.file("elsewhere")).expect("made");
    folder.run(&["sql", "CREATE TABLE t (n Integer)"]).done();
    folder.run(&["sql", "INSERT INTO t VALUES (1)"]).done();
    // The folder's own name, given to another folder, is one of these.
    let own = folder
        .path()
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    for (schema, attached) in [("other", false), ("other", true), (&own, false), (&own, true)] {
        let place = format!("{schema}=elsewhere");
        let run = |statement: &str| {
            let statement = statement.replace("SCHEMA", &format!("\"{schema}\""));
            let mut args = vec!["sql", &statement];
            if attached {
                args.extend(["--attach", &place]);
            }
            folder.run(&args)
        };
        for statement in [
            "INSERT INTO SCHEMA.t VALUES (2)",
            "UPDATE SCHEMA.t SET n = 2",
            "DELETE FROM SCHEMA.t",
            "CREATE INDEX n ON SCHEMA.t (n)",
            "ALTER TABLE SCHEMA.t ADD COLUMN m Integer",
            "DROP TABLE SCHEMA.t",
            "BEGIN TRANSACTION; DELETE FROM SCHEMA.t; COMMIT WORK",
        ] {
            run(statement).failed();
        }
        run("DROP TABLE IF EXISTS SCHEMA.t").done();
        assert_eq!(folder.run(&["sql", "SELECT * FROM t"]).done(), "{\"N\":1}\n");
    }
    let files = fs::read_dir(folder.path()).expect("a folder");
    let mut names: Vec<_> = files.map(|file| file.expect("a file").file_name()).collect();
    names.sort();
    assert_eq!(names, ["elsewhere", "t.dbf"]);
}

#[test]
fn the_name_of_a_file_makes_an_adt() {
    let folder = Folder::with(&[]);
    folder
        .run(&["sql", "CREATE TABLE 't.adt' (id AutoInc PRIMARY KEY, name Char(5))"])
        .done();
    folder.run(&["sql", "INSERT INTO 't.adt' (name) VALUES ('a')"]).done();
    assert!(folder.run(&["inspect", "t.adt"]).done().contains("format        ADT"));
    // Its key goes along.
    folder
        .run(&["copy", "t.adt", "sqlite:shop.db/t", "--create", "--keys"])
        .done();
    let made = [
        "sql",
        "--server",
        "sqlite:shop.db",
        "SELECT sql FROM sqlite_master WHERE name = 't'",
    ];
    assert!(folder.run(&made).done().contains("PRIMARY KEY"));
}

#[test]
fn a_table_is_made_in_an_attached_folder() {
    let folder = Folder::with(&[]);
    fs::create_dir(folder.file("shop")).expect("made");
    let attached = |statement: &str| folder.run(&["sql", "--attach", "shop=shop", statement]);
    attached("CREATE TABLE shop.t (n Integer)").done();
    attached("INSERT INTO shop.t VALUES (1)").done();
    attached("SELECT n + 1 AS m INTO shop.u FROM shop.t").done();
    assert_eq!(attached("SELECT * FROM shop.u").done(), "{\"M\":2}\n");
    for statement in [
        "CREATE TABLE shop.t (n Integer)",
        "CREATE TABLE shop.T (n Integer)",
        "CREATE TABLE \"shop\".\"../v\" (n Integer)",
    ] {
        attached(statement).failed();
    }
    attached("CREATE TABLE IF NOT EXISTS shop.t (n Integer)").done();
    let files = |place: &str| {
        let files = fs::read_dir(folder.file(place)).expect("a folder");
        let mut names: Vec<_> = files.map(|file| file.expect("a file").file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(files("shop"), ["t.dbf", "u.dbf"]);
    assert_eq!(files("."), ["shop"]);
}

#[test]
fn a_row_may_have_the_key_of_a_deleted_one() {
    let folder = Folder::with(&[]);
    for (sql, rows) in [
        ("CREATE TABLE t (id Integer PRIMARY KEY, name Char(5))", ""),
        ("INSERT INTO t VALUES (1, 'a')", "{\"rows\":1}\n"),
        ("DELETE FROM t WHERE id = 1", "{\"rows\":1}\n"),
        ("INSERT INTO t VALUES (1, 'b')", "{\"rows\":1}\n"),
        ("SELECT * FROM t WHERE id = 1", "{\"ID\":1,\"NAME\":\"b\"}\n"),
    ] {
        assert_eq!(folder.run(&["sql", sql]).done(), rows, "{sql}");
    }
    let refused = folder.run(&["sql", "INSERT INTO t VALUES (1, 'c')"]).failed();
    assert!(refused.contains("the same key as record 1"), "{refused}");
    folder.run(&["verify", "t.dbf"]).done();
}

#[test]
fn rules_of_a_database_container_hold() {
    let names = ["dbf", "dbc", "dct", "dcx"].map(|extension| format!("xbase/containers/ruled.{extension}"));
    let folder = Folder::with(&names.each_ref().map(String::as_str));
    folder
        .run(&["sql", "INSERT INTO ruled (customerName) VALUES ('Anna')"])
        .done();
    let refused = folder.run(&["sql", "UPDATE ruled SET creditLimit = -1"]).failed();
    for part in ["ruled.dbf", "record 1, field creditLimit", "creditLimit >= 0"] {
        assert!(refused.contains(part), "{refused}");
    }
    let all = "SELECT customerName AS name, creditLimit AS credit, active FROM ruled";
    let kept = "{\"name\":\"Anna\",\"credit\":100.00,\"active\":true}\n";
    assert_eq!(folder.run(&["sql", all]).done(), kept);
    // Rows of another file get the default values too.
    fs::write(folder.file("new.csv"), "customerName\nBerta\n").expect("written");
    folder
        .run(&[
            "sql",
            "INSERT INTO ruled (customerName) SELECT customerName FROM 'new.csv'",
        ])
        .done();
    assert_eq!(
        folder.run(&["sql", all]).done(),
        format!("{kept}{}", kept.replace("Anna", "Berta"))
    );
}
