//! Statements that mean what they say, or are refused.

use std::fs;
use std::process::Command;

use crate::run::Folder;

/// The same three rows as a DBF and as Parquet.
fn tables() -> Folder {
    let folder = Folder::with(&[]);
    fs::write(folder.file("s.csv"), "A,B\n1,abc\n2,abd\n3,xyz\n").expect("written");
    folder.run(&["copy", "s.csv", "t.dbf"]).done();
    folder.run(&["copy", "s.csv", "p.parquet"]).done();
    fs::remove_file(folder.file("s.csv")).expect("removed");
    folder
}

fn answer(folder: &Folder, sql: &str) -> String {
    folder.run(&["sql", sql, "--format", "csv"]).done()
}

#[test]
fn a_star_leaves_out_and_replaces_columns_in_any_case() {
    let folder = tables();
    for table in ["t", "p"] {
        let first = |columns: &str| answer(&folder, &format!("SELECT {columns} FROM {table} ORDER BY A LIMIT 1"));
        assert_eq!(first("* REPLACE (a * 100 AS a)"), "A,B\n100,abc\n");
        assert_eq!(first("* EXCLUDE (a)"), "B\nabc\n");
        assert_eq!(first("* EXCEPT (b)"), "A\n1\n");
        let error = folder
            .run(&["sql", &format!("SELECT * REPLACE (1 AS zz) FROM {table}")])
            .failed();
        assert!(error.contains("column zz of * not found"), "{error}");
    }
}

#[test]
fn columns_get_the_names_behind_the_name_of_their_table() {
    let folder = tables();
    for table in ["t", "p"] {
        for (sql, expected) in [
            (format!("SELECT n FROM {table} AS x (n, m) WHERE m = 'abd'"), "n\n2\n"),
            (format!("SELECT * FROM {table} x (n, m) WHERE x.n = 3"), "n,m\n3,xyz\n"),
            (
                format!("SELECT * FROM (SELECT A + 1 FROM {table}) AS x (n) WHERE n = 2"),
                "n\n2\n",
            ),
            (
                format!("SELECT m FROM (SELECT 1 AS k, B FROM {table}) AS x (n, m) WHERE m > 'b'"),
                "m\nxyz\n",
            ),
            (
                format!("SELECT x.n, {table}.B FROM {table} JOIN (SELECT 2) AS x (n) ON x.n = {table}.A"),
                "n,B\n2,abd\n",
            ),
        ] {
            assert_eq!(answer(&folder, &sql), expected, "{sql}");
        }
    }
    assert_eq!(answer(&folder, "SELECT n FROM (SELECT 7) AS x (n)"), "n\n7\n");
    assert_eq!(
        answer(&folder, "SELECT * FROM (SELECT NULL WHERE 1 = 0) AS x (n)"),
        "n\n"
    );
}

#[test]
fn limits_and_orders_hold_for_unions_and_in_parentheses() {
    let folder = tables();
    for table in ["t", "p"] {
        for (sql, expected) in [
            ("SELECT A FROM {t} UNION ALL SELECT 9 ORDER BY 1 LIMIT 2", "1 2"),
            (
                "SELECT A FROM {t} UNION ALL SELECT 9 ORDER BY 1 DESC FETCH FIRST 1 ROW ONLY",
                "9",
            ),
            ("SELECT A FROM {t} UNION ALL SELECT 9 ORDER BY 1 OFFSET 3", "9"),
            ("SELECT A FROM {t} UNION SELECT 3 ORDER BY 1 LIMIT 1, 2", "2 3"),
            ("(SELECT A FROM {t} ORDER BY A DESC LIMIT 1)", "3"),
            ("((SELECT A FROM {t} ORDER BY A DESC LIMIT 1))", "3"),
            ("(SELECT A FROM {t} ORDER BY A DESC LIMIT 2) ORDER BY 1 LIMIT 1", "2"),
            ("(SELECT A FROM {t} ORDER BY A DESC LIMIT 2) ORDER BY 1", "2 3"),
            (
                "(SELECT A FROM {t} ORDER BY A LIMIT 1) UNION ALL (SELECT 9) ORDER BY 1",
                "1 9",
            ),
            (
                "(SELECT A FROM {t} UNION ALL SELECT 9 ORDER BY 1 DESC LIMIT 1) UNION ALL SELECT 0 ORDER BY 1",
                "0 9",
            ),
            (
                "SELECT * FROM (SELECT A FROM {t} UNION ALL SELECT 9 ORDER BY 1 LIMIT 2) x ORDER BY 1",
                "1 2",
            ),
            (
                "SELECT A FROM {t} WHERE A IN (SELECT A FROM {t} UNION SELECT 9 ORDER BY 1 DESC LIMIT 2)",
                "3",
            ),
            (
                "SELECT A FROM {t} WHERE A > ALL ((SELECT A FROM {t} ORDER BY A LIMIT 1)) ORDER BY A",
                "2 3",
            ),
        ] {
            let sql = sql.replace("{t}", table);
            let rows = answer(&folder, &sql);
            let rows: Vec<&str> = rows.lines().skip(1).collect();
            assert_eq!(rows.join(" "), expected, "{sql}");
        }
        let by_name =
            format!("SELECT A AS x, B AS y FROM {table} WHERE A = 1 UNION BY NAME SELECT 'b' AS y, 0 AS x ORDER BY x");
        assert_eq!(answer(&folder, &by_name), "x,y\n0,b\n1,abc\n", "{table}");
    }
    answer(
        &folder,
        "SELECT * INTO u FROM (SELECT A FROM t UNION ALL SELECT 9 ORDER BY 1 DESC LIMIT 2) x",
    );
    assert_eq!(answer(&folder, "SELECT A FROM u ORDER BY A"), "A\n3\n9\n");
    let refused = folder
        .run(&["sql", "SELECT A INTO v FROM t UNION ALL SELECT 9"])
        .failed();
    assert!(refused.contains("INTO in a SELECT of a UNION"), "{refused}");
}

#[test]
fn patterns_have_the_escape_character_that_they_name() {
    let folder = Folder::with(&[]);
    fs::write(folder.file("s.csv"), "B\na%b\naxb\na!b\n'a\\b'\n").expect("written");
    folder.run(&["copy", "s.csv", "t.dbf"]).done();
    folder.run(&["copy", "s.csv", "p.parquet"]).done();
    for table in ["t.dbf", "p.parquet", "s.csv"] {
        for (pattern, expected) in [
            ("LIKE 'a!%b' ESCAPE '!'", "a%b"),
            ("LIKE 'a!!b' ESCAPE '!'", "a!b"),
            ("LIKE 'a_b' ESCAPE '!' AND LENGTH(B) = 3", "a!b a%b axb"),
            ("NOT LIKE 'a!%%' ESCAPE '!' AND B LIKE 'ax%'", "axb"),
            ("ILIKE 'A#%B' ESCAPE '#'", "a%b"),
        ] {
            let rows = answer(&folder, &format!("SELECT B FROM {table} WHERE B {pattern} ORDER BY B"));
            let rows: Vec<&str> = rows.lines().skip(1).collect();
            assert_eq!(rows.join(" "), expected, "{table}: {pattern}");
        }
    }
}

#[test]
fn the_function_that_there_is_not_is_named() {
    let folder = tables();
    for table in ["t", "p"] {
        let why = |sql: String| {
            let error = folder.run(&["sql", &sql]).failed();
            error.lines().next().unwrap_or_default().to_owned()
        };
        let absent = why(format!("SELECT regexp_replace(B, 'a', 'x'), nosuch(A) FROM {table}"));
        assert_eq!(absent, "tidemill: Scalar function not found: nosuch");
        // The function is there, and takes no number.
        let wrong = why(format!("SELECT date_trunc('month', A) FROM {table}"));
        assert!(!wrong.contains("not found"), "{wrong}");
    }
}

#[test]
fn conversions_to_texts_of_a_length_cut_them() {
    let folder = tables();
    for table in ["t", "p"] {
        for (sql, expected) in [
            (
                "SELECT DISTINCT CAST(B AS VARCHAR(2)) AS c FROM $ ORDER BY 1",
                "c\nab\nxy\n",
            ),
            ("SELECT COUNT(*) AS n FROM $ WHERE CAST(B AS CHAR(1)) = 'a'", "n\n2\n"),
        ] {
            assert_eq!(answer(&folder, &sql.replace('$', table)), expected, "{table}: {sql}");
        }
    }
    let error = folder
        .run(&["sql", "SELECT CAST('2020-01-01 10:11:12.345' AS TIMESTAMP(0)) FROM p"])
        .failed();
    assert!(error.contains("The precision of a time"), "{error}");
    let error = folder
        .run(&["sql", "SELECT LENGTH(REPEAT('x', 2000000000)) FROM t"])
        .failed();
    assert!(error.contains("REPEAT() makes a text of more than"), "{error}");
}

#[test]
fn a_column_is_given_one_value() {
    let folder = tables();
    for sql in [
        "INSERT INTO t (a, a) VALUES (9, 8)",
        "UPDATE t SET a = 9, a = 8",
        "UPDATE t SET a = 9, b = 'x', A = 8",
    ] {
        let error = folder.run(&["sql", sql]).failed();
        assert!(error.contains("is given two values"), "{sql}: {error}");
    }
    assert_eq!(answer(&folder, "SELECT SUM(a) AS s FROM t"), "s\n6\n");
}

#[test]
fn long_unions_are_answered_or_refused() {
    let folder = tables();
    let union = |queries: usize| vec!["SELECT A FROM p"; queries].join(" UNION ALL ");
    assert_eq!(
        answer(&folder, &format!("SELECT COUNT(*) AS n FROM ({}) x", union(400))),
        "n\n1200\n"
    );
    let error = folder.run(&["sql", &union(3000)]).failed();
    assert!(error.contains("More than 500 queries joined by UNION"), "{error}");
}

#[test]
fn tables_of_the_system_are_joined() {
    let folder = tables();
    let sql = "SELECT COUNT(*) AS n FROM t, system.iota i";
    assert_eq!(answer(&folder, sql), "n\n3\n");
    for sql in [
        "SELECT COUNT(*) AS n FROM system.iota a, system.iota b",
        "SELECT COUNT(*) AS n FROM (SELECT * FROM system.iota) a, (SELECT * FROM system.iota) b",
    ] {
        assert_eq!(answer(&folder, sql), "n\n1\n", "{sql}");
    }
    assert_eq!(
        answer(
            &folder,
            "SELECT A FROM t WHERE EXISTS (SELECT * FROM system.iota) AND A = 2"
        ),
        "A\n2\n"
    );
}

#[test]
fn what_only_lies_beside_a_table_is_not_opened() {
    let folder = tables();
    for pipe in ["t.bak", "t.csv"] {
        let made = Command::new("mkfifo").arg(folder.file(pipe)).status().expect("mkfifo");
        assert!(made.success());
    }
    let run = folder.run(&[
        "sql",
        "SELECT COUNT(*) AS n FROM t",
        "--timeout",
        "20",
        "--format",
        "csv",
    ]);
    assert_eq!(run.done(), "n\n3\n");
}

#[test]
fn arrays_of_json_are_asked_whatever_their_size() {
    let folder = Folder::with(&[]);
    let rows: Vec<String> = (0..200_000).map(|row| format!("{{\"a\":{row}}}")).collect();
    fs::write(folder.file("large.json"), format!("[{}]", rows.join(","))).expect("written");
    for (sql, expected) in [
        ("SELECT COUNT(*) AS n FROM large", "n\n200000\n"),
        ("SELECT a FROM large WHERE a = 199999", "a\n199999\n"),
        ("SELECT a FROM large LIMIT 1", "a\n0\n"),
    ] {
        assert_eq!(answer(&folder, sql), expected);
    }
}

#[test]
fn a_table_is_known_by_its_bytes_under_names_of_other_formats() {
    let folder = tables();
    for name in ["x.csv", "x.parquet", "x.jsonl", "x.xlsx"] {
        fs::copy(folder.file("t.dbf"), folder.file(name)).expect("copied");
        let count = folder.run(&["sql", &format!("SELECT COUNT(*) AS n FROM '{name}'"), "--format", "csv"]);
        assert_eq!(count.done(), "n\n3\n", "{name}");
    }
}

#[test]
fn commands_that_read_run_nothing_that_changes() {
    let folder = tables();
    folder.run(&["sql", "CREATE TABLE d (a INTEGER)"]).done();
    folder.run(&["sql", "INSERT INTO d VALUES (1), (2), (3)"]).done();
    fs::write(folder.file("there.csv"), "x\n1\n").expect("written");
    for text in [
        "SELECT 1 AS a, 2 AS b; DELETE FROM d",
        "SELECT 1 AS a, 2 AS b; DROP TABLE d",
        "SELECT * INTO z9 FROM d",
        "SELECT 1 AS a; SELECT 2 AS a",
    ] {
        for args in [
            &["copy", text, "y.csv"][..],
            &["copy", "--dry-run", text, "y.csv"],
            &["copy", text, "there.csv"],
            &["chart", text],
            &["sample", text],
            &["summarize", text],
            &["diff", text, "d"],
        ] {
            let run = folder.run(args);
            assert_eq!(run.code, Some(2), "{args:?}");
            let error = run.failed();
            assert!(
                error.contains("anything but one query that changes nothing"),
                "{args:?}: {error}"
            );
        }
    }
    for text in [
        "SELECT 1 AS a; DELETE FROM d",
        "BEGIN; DELETE FROM d; ROLLBACK",
        "SELECT 1; SELECT 2",
    ] {
        let error = folder.run(&["sql", "--explain", text]).failed();
        assert!(error.contains("the plan of several statements"), "{error}");
    }
    assert_eq!(answer(&folder, "SELECT COUNT(*) AS n FROM d"), "n\n3\n");
    assert!(!folder.file("z9.dbf").exists() && !folder.file("y.csv").exists());
}

#[test]
fn a_file_of_one_answer_is_not_written_for_several() {
    let folder = tables();
    for format in ["json", "arrow", "parquet"] {
        let run = folder.run(&["sql", "SELECT 1 AS a; SELECT 'x' AS b", "--format", format]);
        assert!(run.stdout.is_empty());
        let error = run.failed();
        assert!(
            error.contains(&format!("--format {format}: it holds the answer of one statement")),
            "{error}"
        );
    }
    let lines = folder.run(&["sql", "SELECT 1 AS a; SELECT 'x' AS b", "--format", "jsonl"]);
    assert_eq!(lines.done(), "{\"a\":1}\n{\"b\":\"x\"}\n");
}

#[test]
fn dates_beyond_the_calendar_are_no_texts() {
    let folder = tables();
    let sql = "SELECT DATE '9999-12-31' + 100000000 AS d";
    for format in ["json", "jsonl", "csv"] {
        let run = folder.run(&["sql", sql, "--format", format]);
        assert!(!String::from_utf8_lossy(&run.stdout).contains("ERROR"), "{format}");
        assert_eq!(run.code, Some(2), "{format}");
        let error = run.stderr;
        assert!(
            error.contains("the value 102932896 of column d, a Date32 beyond"),
            "{error}"
        );
    }
    for file in ["d.jsonl", "d.csv", "d.xlsx"] {
        let error = folder.run(&["copy", sql, file]).failed();
        assert!(error.contains("102932896"), "{error}");
        assert!(!folder.file(file).exists());
    }
}

/// What others could not read they cannot read after it was replaced.
#[cfg(unix)]
#[test]
fn a_replaced_file_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tables();
    fs::write(folder.file("m.csv"), "A,NOTE\n1,\"first\nsecond\"\n").expect("written");
    for (name, files) in [
        ("c.csv", &["c.csv"][..]),
        ("m.dbf", &["m.dbf", "m.fpt"]),
        ("p2.parquet", &["p2.parquet"]),
    ] {
        let mut copy = vec!["copy", "m.csv", name];
        if name == "m.dbf" {
            copy.extend(["--to-dialect", "visual-foxpro"]);
        }
        folder.run(&copy).done();
        for file in files {
            fs::set_permissions(folder.file(file), fs::Permissions::from_mode(0o640)).expect("set");
        }
        folder.run(&[&copy[..], &["--overwrite"]].concat()).done();
        for file in files {
            let mode = fs::metadata(folder.file(file))
                .expect("it is there")
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o640, "{file}");
        }
    }
}

/// DataFusion would take the number for days since 1970.
#[test]
fn a_date_beside_a_number_is_refused_in_every_place() {
    let folder = tables();
    folder
        .run(&[
            "copy",
            "SELECT A AS n, DATE '2024-01-15' + A AS d FROM t",
            "days.parquet",
        ])
        .done();
    for condition in [
        "d > 20240115",
        "d BETWEEN 1 AND 5",
        "d IN (1, 2)",
        "d IN (SELECT n FROM days)",
        "d NOT IN (SELECT n FROM days)",
        "d = ANY (SELECT n FROM days)",
        "d > (SELECT MAX(n) FROM days)",
        "CASE d WHEN 5 THEN 1 END = 1",
        "EXISTS (SELECT 1 FROM days x WHERE x.n = days.d)",
    ] {
        let error = folder
            .run(&["sql", &format!("SELECT n FROM days WHERE {condition}")])
            .failed();
        assert!(error.contains("beside a number"), "{condition}: {error}");
    }
    for query in [
        "SELECT n FROM days UNION SELECT d FROM days",
        "SELECT n FROM days EXCEPT SELECT d FROM days",
        "SELECT n FROM days INTERSECT ALL SELECT d FROM days",
        "SELECT 1 FROM (SELECT n AS k FROM days) x JOIN (SELECT d AS k FROM days) y USING (k)",
        "SELECT 1 FROM days x JOIN days y ON x.n = y.d",
    ] {
        let error = folder.run(&["sql", query]).failed();
        assert!(error.contains("beside a number"), "{query}: {error}");
    }
    assert_eq!(
        answer(&folder, "SELECT COUNT(*) AS n FROM days WHERE d > DATE '2024-01-16'"),
        "n\n2\n"
    );
}
